# SPDX-License-Identifier: Apache-2.0
"""Rows of joins: all of them, or those that were looked up and are written when they are asked for."""

from __future__ import annotations

import operator
from collections.abc import Iterator
from typing import Any

import numpy as np

from raydex import _raydex
from raydex._array_libraries import ArrayLibrary
from raydex._devices import Device
from raydex._errors import InvalidArgument, InvalidType
from raydex._exports import pairs_to_arrow, pairs_to_frame, rows_on_host, rows_to_gather_map, take_anew
from raydex._frames import PANDAS, POLARS
from raydex._held import Held
from raydex._html import columns, facts
from raydex._index import Index
from raydex._results import TwoArrays

_BITS = {"int64": 64, "int32": 32}


class JoinRows(TwoArrays):
    """The rows of a join, which gather the rows of the two tables; int64, or int32 if asked.

        >>> import polars, raydex
        >>> found = raydex.join([5, 7, 5], [7, 5])
        >>> probe, build = found
        >>> build
        array([1, 0, 2])
        >>> polars.DataFrame(found).columns
        ['probe', 'build']

    It is a table to what takes Arrow's streams (`polars.DataFrame`, `pyarrow.table`, `pandas.DataFrame.from_arrow`,
    DuckDB), with null for -1, and to NumPy an array with a line a row. `pandas.DataFrame` takes it as such an array,
    without names; `to_pandas` has them."""

    __slots__ = ("probe", "build")
    __match_args__ = ("probe", "build")
    __module__ = "raydex"

    probe: Any
    """A probe row for each row of the join, -1 where a right or full join has none."""
    build: Any
    """Its build row, -1 where a left or full join has none; None for semi and anti joins. As an index -1 is the
    last row: `take` gives missing cells there."""

    def __init__(self, probe: Any, build: Any) -> None:
        self.probe, self.build = probe, build

    def _lines(self) -> list[Any]:
        return [rows_on_host("rows", one, "arrays of NumPy") for one in self if one is not None]

    def _table(self) -> Any:
        return self.to_arrow()

    def _repr_html_(self) -> str:
        sides = {"probe": self.probe} if self.build is None else {"probe": self.probe, "build": self.build}
        return columns("Rows of a join", sides)

    def take(self, *, build: Any = None, probe: Any = None) -> Any:
        """The cells of a column, or the rows of a table, of one side of the join, as `raydex.take` has them:
        with missing ones where a row of the join has none of that side. Rows of pandas are called 0 and on, so that
        those of both sides are beside each other.

        `build`: a column or table of the build side; or `probe`: of the probe side. In host memory."""
        if (build is None) == (probe is None):
            raise InvalidArgument("take: give build or probe, the columns of that side")
        if build is None:
            return take_anew(probe, self.probe)
        if self.build is None:
            raise InvalidArgument("build: semi and anti joins have no build rows")
        return take_anew(build, self.build)

    def to_arrow(self) -> Any:
        """A `pyarrow.Table` of the columns `probe` and `build`, or of `probe` alone for semi and anti joins;
        of the same memory, with null for -1. What is on a GPU is refused with what copies it."""
        return pairs_to_arrow(self.probe, self.build)

    def to_pandas(self) -> Any:
        """A `pandas.DataFrame` of the same columns, of nullable integers (`Int64`), with `NA` for -1."""
        return pairs_to_frame(PANDAS, self.probe, self.build)

    def to_polars(self) -> Any:
        """A `polars.DataFrame` of the same columns, with null for -1."""
        return pairs_to_frame(POLARS, self.probe, self.build)

    def to_pylibcudf(self) -> tuple[Any, ...]:
        """Gather maps of libcudf, two `pylibcudf.Column` of the same memory, or that of probe rows alone for semi and
        anti joins; see `raydex.to_pylibcudf`."""
        sides = {"probe": self.probe} if self.build is None else {"probe": self.probe, "build": self.build}
        return tuple(rows_to_gather_map(name, one) for name, one in sides.items())


class Call:
    """Where a join runs, and on which stream."""

    def __init__(self, library: ArrayLibrary, device: Any, stream: Any, structure: str = "auto") -> None:
        self.library = library
        self.device: Device = library.device_for(device, structure)
        self.stream, self.kept = library.stream_for(stream)

    @property
    def context(self) -> tuple[Any, int]:
        return (self.device.session(), self.stream)


class Joined(Held):
    """A join that was looked up, from `lazy=True`: its size is known, and its rows are written when they are asked
    for, all of them or some, any number of times. So a join may be larger than memory:

        >>> import raydex
        >>> with raydex.join([1, 2, 2], [2, 3, 2], lazy=True) as found:
        ...     for rows in found.chunks(3):
        ...         print(rows.probe, rows.build)
        [0 0 2] [1 2 1]
        [2] [2]

    Rows have the order of those that the join gives at once. It holds the columns of the build side, its index if one
    was made (see `join`), else 4 or 8 bytes a build row where build keys repeat; and 4 to 16 bytes a probe row, of
    right and full joins also 4 a build row, and if rows are in no order up to 12 of either, until it is closed, a
    `with` ends, or the last reference goes; not the probe columns. Of an `Index` it holds that, and refuses to answer
    once it is edited or closed. On a GPU work goes to the stream of the join. Several threads may ask it."""

    __module__ = "raydex"
    _called = "join"

    def __init__(
        self,
        native: _raydex.Joined,
        call: Call,
        how: str,
        dtype: str,
        build_rows: int,
        kept: Any,
        over: Index | None = None,
    ) -> None:
        super().__init__(native, call.device, call.kept, call.stream)
        self._call = call
        self._kept = kept  # columns that the build side reads
        self._over = over
        self._edits = 0 if over is None else over._edits
        self._dtype = dtype
        self.how: str = how
        """The kind of the join."""
        self.size: int = native.size
        """How many rows it has, which `len` says, too."""
        self.probes: int = native.probes
        """How many probe rows there were."""
        self._rows = max(self.probes, build_rows if self._has_build_rows else 0)
        self._bits_of(dtype)

    @property
    def _has_build_rows(self) -> bool:
        return self.how not in ("semi", "anti")

    def __len__(self) -> int:
        return self.size

    def __bool__(self) -> bool:
        return True

    def __repr__(self) -> str:
        if self._closed:
            return "raydex.Joined(closed)"
        return f"raydex.Joined({self.how} on {self._device}: {self.size} rows of {self.probes} probe rows)"

    def _repr_html_(self) -> str:
        if self._closed:
            return facts("raydex.Joined, closed", {})
        return facts("raydex.Joined", {
            "how": self.how, "device": self._device, "rows": self.size, "probe rows": self.probes,
        })  # fmt: skip

    def _free(self) -> None:
        super()._free()
        # With these goes the build side, in the order of the same stream.
        self._native = self._kept = self._over = None

    def _bits_of(self, dtype: str) -> int:
        bits = _BITS[dtype]
        if self._rows > 2 ** (bits - 1):
            raise InvalidArgument(f"dtype: {dtype} has no row {self._rows - 1}; give 'int64'")
        return bits

    def _ask(self, question: str, *arguments: Any) -> None:
        """Calls what the native join has by a name; nobody edits the index meanwhile."""
        native, index, call = self._native, self._over, self._call
        if native is None:
            self._check_open()
        if index is None:
            call.device.run(getattr(native, question), *call.context, *arguments)
            return
        with index._changes:
            index._check_open()
            if index._edits != self._edits:
                raise InvalidArgument("join: its index was edited since; join again")
            index._streams[call.stream] = call.kept
            call.device.run(getattr(native, question), *call.context, *arguments)

    def counts(self) -> Any:
        """How many rows of the join each probe row has, which build rows without a match are none of; int64.

        Cost: a read and a write a probe row; if rows are in no order up to what the rows take."""
        call = self._call
        out = call.library.empty(self.probes, "int64", call.stream)
        self._ask("counts", call.library.address(out), self.probes)
        return out

    def rows(self, first: int = 0, size: int | None = None, dtype: Any = None) -> JoinRows:
        """The rows from number `first` on: `size` of them or, if there are fewer, what is left; by default all.

        `dtype`: `int64` or `int32`, which is refused if a table has rows that it cannot number; by default what
        the join was asked for. Cost: a write a row. Memory: the arrays that it returns."""
        begin = _number("first", first)
        if begin > self.size:
            raise InvalidArgument(f"first: {first}, but the join has {self.size} rows")
        count = self.size - begin if size is None else min(_number("size", size), self.size - begin)
        name = self._dtype if dtype is None else row_dtype(dtype)
        bits = self._bits_of(name)
        call = self._call
        probe = call.library.empty(count, name, call.stream)
        build = call.library.empty(count, name, call.stream) if self._has_build_rows else None
        self._write(begin, bits, probe, build)
        return JoinRows(probe, build)

    def _is_of(self, library: ArrayLibrary) -> bool:
        """Whether its rows are in arrays of a library, in the same memory."""
        own = self._call.library
        return own.name == library.name and own.device == library.device

    def _write(self, first: int, bits: int, probe: Any, build: Any) -> None:
        """Writes the rows from number `first` on into arrays of so many bits, as many as they have cells. `build`:
        None for semi and anti joins."""
        library = self._call.library
        at = 0 if build is None else library.address(build)
        self._ask("rows", first, bits, library.address(probe), at, len(probe))

    def chunks(self, rows: int, dtype: Any = None) -> Iterator[JoinRows]:
        """All rows, `rows` of them at a time, in their order; the last chunk has what is left.

        A chunk is written when it is its turn. Memory: the arrays of a chunk, twice 8 bytes a row or twice 4; in a
        `for` those of two, since a loop lets go of a chunk when it has the next one."""
        step = _number("rows", rows)
        if step == 0:
            raise InvalidArgument("rows: a chunk has 1 or more")
        return (self.rows(first, step, dtype) for first in range(0, self.size, step))


def _number(argument: str, value: Any) -> int:
    try:
        number = operator.index(value)
    except TypeError:
        raise InvalidType(f"{argument}: {value!r} is no whole number") from None
    if number < 0:
        raise InvalidArgument(f"{argument}: {value}; it must be 0 or more")
    return number


def row_dtype(dtype: Any) -> str:
    """The name of a type of row numbers."""
    if isinstance(dtype, str) and dtype in _BITS:
        return dtype
    try:
        name = str(np.dtype(dtype).name)
    except TypeError:
        name = ""
    if name not in _BITS:
        raise InvalidArgument(f"dtype: {dtype!r} is none of {', '.join(_BITS)}")
    return name


def rows_of(found: Joined, lazy: bool) -> JoinRows | Joined:
    """What a join returns."""
    if lazy:
        return found
    with found:
        return found.rows()
