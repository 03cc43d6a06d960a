# SPDX-License-Identifier: Apache-2.0
"""Rows that were looked up and are yet to be written: any part of them, in chunks, or as a stream of Arrow."""

from __future__ import annotations

import operator
from collections.abc import Iterator
from typing import Any, ClassVar

from raydex import _raydex
from raydex._array_libraries import ArrayLibrary
from raydex._devices import Device
from raydex._errors import InvalidArgument, InvalidType
from raydex._exports import reader_of, stream_of
from raydex._held import Held

BITS = {"int64": 64, "int32": 32}
ROWS_OF_A_BATCH = 1 << 17
"""Of a stream of Arrow, if nobody says how many: two columns of 1 MiB."""


class Call:
    """Where a join runs, and on which stream."""

    def __init__(self, library: ArrayLibrary, device: Any, stream: Any, structure: str = "auto") -> None:
        self.library = library
        self.device: Device = library.device_for(device, structure)
        self.stream, self.kept = library.stream_for(stream)

    @property
    def context(self) -> tuple[Any, int]:
        return (self.device.session(), self.stream)


class Lazy(Held):
    """What was found of probes, whose size is known. Of an index it refuses to answer once that is edited or closed."""

    _names: ClassVar[tuple[str, str]]  # of the columns
    _again: ClassVar[str]  # what to do after an edit, or a close

    def __init__(
        self, native: _raydex.Joined, call: Call, kept: Any, over: Any, build_rows: int
    ) -> None:
        """`over`: the `Index` that it reads, or None; `build_rows`: so many row numbers there may be."""
        super().__init__(native, call.device, call.kept, call.stream)
        self._call = call
        self._kept = kept  # columns that the build side reads
        self._over = over
        self._edits = 0 if over is None else over._edits
        self.size: int = native.size
        self.probes: int = native.probes
        self._rows = max(self.probes, build_rows if self._has_second else 0)

    @property
    def _has_second(self) -> bool:
        """Whether there is a column beside the probe rows."""
        return True

    def __len__(self) -> int:
        return self.size

    def __bool__(self) -> bool:
        return True

    def _free(self) -> None:
        super()._free()
        # With these goes the build side, in the order of the same stream.
        self._native = self._kept = self._over = None

    def _check_open(self) -> None:
        if self._closed:
            raise InvalidArgument(f"{self._called}: it is closed; {self._again}")

    def _bits_of(self, dtype: str) -> int:
        bits = BITS[dtype]
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
                raise InvalidArgument(f"{self._called}: its index was edited since; {self._again}")
            index._streams[call.stream] = call.kept
            call.device.run(getattr(native, question), *call.context, *arguments)

    def counts(self) -> Any:
        call = self._call
        out = call.library.empty(self.probes, "int64", call.stream)
        self._ask("counts", call.library.address(out), self.probes)
        return out

    def _part(self, first: int, size: int | None, dtype: str) -> tuple[Any, Any]:
        """The columns from row `first` on; None in place of the second one of semi and anti joins."""
        begin = _number("first", first)
        if begin > self.size:
            raise InvalidArgument(f"first: {first}, but the {self._called} has {self.size} rows")
        count = self.size - begin if size is None else min(_number("size", size), self.size - begin)
        bits = self._bits_of(dtype)
        call = self._call
        probe = call.library.empty(count, dtype, call.stream)
        second = call.library.empty(count, dtype, call.stream) if self._has_second else None
        self._write(begin, bits, probe, second)
        return (probe, second)

    def _is_of(self, library: ArrayLibrary) -> bool:
        """Whether its rows are in arrays of a library, in the same memory."""
        own = self._call.library
        return own.name == library.name and own.device == library.device

    def _write(self, first: int, bits: int, probe: Any, second: Any) -> None:
        """Writes the rows from number `first` on into arrays of so many bits, as many as they have cells. `second`:
        None for semi and anti joins."""
        library = self._call.library
        at = 0 if second is None else library.address(second)
        self._ask("rows", first, bits, library.address(probe), at, len(probe))

    def _chunks(self, rows: int, dtype: str) -> Iterator[tuple[Any, Any]]:
        step = _number("rows", rows)
        if step == 0:
            raise InvalidArgument("rows: a chunk has 1 or more")
        return (self._part(first, step, dtype) for first in range(0, self.size, step))

    def _arrow_stream(self, rows: int) -> Any:
        self._check_open()
        parts = self._chunks(rows, "int64")
        library = self._call.library
        if library.device is not None:
            raise InvalidArgument(
                f"{self._called}: in {library.memory}, and streams of Arrow are in host memory; take its chunks, and "
                "copy each"
            )
        names = self._names if self._has_second else self._names[:1]
        return stream_of(names, parts)

    def to_reader(self, rows: int = ROWS_OF_A_BATCH) -> Any:
        """All rows as a `pyarrow.RecordBatchReader` of batches of so many, each written when it is read; columns of
        int64, with null for -1. Needs pyarrow, 16 or later. What is on a GPU is refused: take `chunks`, and copy each.

        An error between two batches, of an index that was edited or closed, is pyarrow's `ArrowInvalid`. Memory: as
        of `chunks`."""
        return reader_of(self._arrow_stream(rows))

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        return self._arrow_stream(ROWS_OF_A_BATCH)


def _number(argument: str, value: Any) -> int:
    try:
        number = operator.index(value)
    except TypeError:
        raise InvalidType(f"{argument}: {value!r} is no whole number") from None
    if number < 0:
        raise InvalidArgument(f"{argument}: {value}; it must be 0 or more")
    return number
