# SPDX-License-Identifier: Apache-2.0
"""Rows of joins: all of them, or those that were looked up and are written when they are asked for."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from raydex import _raydex
from raydex._errors import InvalidArgument
from raydex._exports import pairs_to_arrow, pairs_to_frame, rows_on_host, rows_to_gather_map, take_anew
from raydex._frames import PANDAS, POLARS
from raydex._html import columns, facts
from raydex._index import Index
from raydex._lazy import BITS, Call, Lazy
from raydex._results import TwoArrays


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


class Joined(Lazy):
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
    _names = ("probe", "build")
    _again = "join again"

    size: int
    """How many rows it has, which `len` says, too."""
    probes: int
    """How many probe rows there were."""
    how: str
    """The kind of the join."""

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
        self.how = how
        self._dtype = dtype
        super().__init__(native, call, kept, over, build_rows)
        self._bits_of(dtype)

    @property
    def _has_second(self) -> bool:
        return self.how not in ("semi", "anti")

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

    def counts(self) -> Any:
        """How many rows of the join each probe row has, which build rows without a match are none of; int64.

        Cost: a read and a write a probe row; if rows are in no order up to what the rows take."""
        return super().counts()

    def rows(self, first: int = 0, size: int | None = None, dtype: Any = None) -> JoinRows:
        """The rows from number `first` on: `size` of them or, if there are fewer, what is left; by default all.

        `dtype`: `int64` or `int32`, which is refused if a table has rows that it cannot number; by default what
        the join was asked for. Cost: a write a row. Memory: the arrays that it returns."""
        return JoinRows(*self._part(first, size, self._type_of(dtype)))

    def chunks(self, rows: int, dtype: Any = None) -> Iterator[JoinRows]:
        """All rows, `rows` of them at a time, in their order; the last chunk has what is left.

        A chunk is written when it is its turn. Memory: the arrays of a chunk, twice 8 bytes a row or twice 4; in a
        `for` those of two, since a loop lets go of a chunk when it has the next one."""
        return (JoinRows(*one) for one in self._chunks(rows, self._type_of(dtype)))

    def _type_of(self, dtype: Any) -> str:
        return self._dtype if dtype is None else row_dtype(dtype)


def row_dtype(dtype: Any) -> str:
    """The name of a type of row numbers."""
    if isinstance(dtype, str) and dtype in BITS:
        return dtype
    try:
        name = str(np.dtype(dtype).name)
    except TypeError:
        name = ""
    if name not in BITS:
        raise InvalidArgument(f"dtype: {dtype!r} is none of {', '.join(BITS)}")
    return name


def rows_of(found: Joined, lazy: bool) -> JoinRows | Joined:
    """What a join returns."""
    if lazy:
        return found
    with found:
        return found.rows()
