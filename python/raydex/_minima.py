# SPDX-License-Identifier: Apache-2.0
"""Range minima of arrays."""

from __future__ import annotations

from dataclasses import dataclass
from types import TracebackType
from typing import Any, Callable

import numpy as np

from raydex import _cuda, _raydex
from raydex._arrow import HostCells
from raydex._columns import Column, Key, Source, column, dtype_of, format_of, look, same_place, stream_of
from raydex._errors import Error, InvalidArgument, InvalidType
from raydex._index import bytes_as_text, option_texts, options_of
from raydex._places import Place, place_for
from raydex._structures import known


@dataclass(frozen=True)
class RmqInfo:
    """What a structure for minima is and what it holds beside the array."""

    structure: str
    backend: str
    device: str
    value: str
    n: int
    options: dict[str, str]
    resident_bytes: int
    build_peak_bytes: int


class Rmq:
    """Answers range-minimum queries over an array, made by `raydex.rmq`.

    *Ranges* are two columns of positions, both ends included, integers counted from 0. A range is cut to
    the array on both sides; one of which nothing is left has no minimum, nor has one whose lower end is
    above its upper one. *Results*, *streams* and *threads* are as of `raydex.Index`.

    The array stays where it is and is kept; after a change of its values `refresh` is called.
    """

    __module__ = "raydex"

    def __init__(
        self, native: _raydex.Rmq, place: Place, values: Column, kept: Any, stream: int
    ) -> None:
        self._native = native
        self._place = place
        self._values: Column | None = values
        self._key = values.key
        self._stream = stream  # of its memory
        self._streams = {stream: kept}  # all that worked with it, and what keeps them

    @property
    def info(self) -> RmqInfo:
        """Structure, backend, options, and bytes as measured."""
        structure, backend, value, n, options, resident, peak = self._native.info()
        return RmqInfo(
            structure, backend, str(self._place), value, n, options_of(options), resident, peak
        )

    def __len__(self) -> int:
        """Values of the array."""
        return int(self.info.n)

    def __repr__(self) -> str:
        if self._values is None:
            return "raydex.Rmq(closed)"
        of = self.info
        return (
            f"raydex.Rmq({of.structure} on {of.device}: {of.n} values of {self._key}, "
            f"{bytes_as_text(of.resident_bytes)} beside them)"
        )

    def close(self) -> None:
        """Frees its memory now, and lets go of the array. Later calls raise
        `raydex.InvalidArgument`."""
        if self._values is None:
            return
        self._values = None
        self._place.run(self._free)

    def _free(self) -> None:
        if self._place.device is not None:
            for stream in self._streams:
                _cuda.wait(self._stream, stream, self._place.device)
        self._native.close()
        self._streams.clear()

    def __enter__(self) -> Rmq:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def __del__(self) -> None:
        try:
            self.close()
        except (Error, AttributeError, TypeError):
            pass  # of a device that is gone, a structure half made, or an interpreter that ends

    def _ask(
        self, lower: Any, upper: Any, stream: Any, dtype: str, call: Callable[..., None], *more: Any
    ) -> Any:
        sources = [look("lower", lower), look("upper", upper)]
        if self._values is None:
            raise InvalidArgument("rmq: it is closed; build another one")
        for one in sources:
            if one.world.device != self._place.device:
                raise InvalidArgument(
                    f"{one.argument}: in {one.world.where()}, but the array is on {self._place}; "
                    f"{one.world.copy_hint(self._place.device)}"
                )
        number, kept = stream_of(sources[0], stream)
        self._streams[number] = kept
        ends = _positions(sources, number)
        world, size = sources[0].world, ends[0].size
        out = world.empty(size, dtype, number)
        self._place.run(
            call, self._place.session(), number, ends[0].native, ends[1].native, *more, world.address(out),
            size,
        )  # fmt: skip
        return out[0] if sources[0].scalar and sources[1].scalar else out

    def min(self, lower: Any, upper: Any, *, stream: Any = None) -> Any:
        """The smallest value of each range, in the array's dtype; for int8, int16, uint8, uint16, float16
        and bool in the one that they were widened to. NaN comes after everything; a zero is 0.0. Of an
        empty range, NaN or the largest number of the type."""
        format_name = format_of(self._key)
        assert self._key.dtype is not None
        plain = self._key.dtype if self._key.dtype.kind not in "mM" else np.dtype("int64")
        found = self._ask(
            lower, upper, stream, plain.name, self._native.minimum, _raydex.Format(format_name)
        )
        return found if plain == self._key.dtype else found.view(self._key.dtype)

    def argmin(self, lower: Any, upper: Any, *, stream: Any = None) -> Any:
        """Where each range has its smallest value, int64; of equal ones the leftmost, or with
        `ties="rightmost"` at the build the rightmost. -1 for empty ranges."""
        return self._ask(lower, upper, stream, "int64", self._native.position)

    def refresh(self, positions: Any, *, stream: Any = None) -> None:
        """Takes in values of the array that have changed, at these positions. Only of structures with
        `updates`, and of an array that was not widened."""
        source = look("positions", positions)
        if self._values is None:
            raise InvalidArgument("rmq: it is closed; build another one")
        if dtype_of(self._values.source, self._stream) != self._key.dtype:
            raise InvalidArgument(
                "rmq: it is over a widened copy of the array; build another one"
            )
        number, _ = stream_of(source, stream)
        [cells] = _positions([source], number)
        self._place.run(self._native.refresh, number, cells.native)


def _positions(sources: list[Source], stream: int) -> list[Column]:
    same_place(*sources)
    columns = [_column_of_positions(one, stream) for one in sources]
    for one in columns:
        kind = None if one.key.dtype is None or one.key.unit else one.key.dtype.kind
        if kind not in ("i", "u"):
            raise InvalidType(f"{one.source.argument}: positions are integers, and these are {one.key}")
    if len(columns) == 2 and columns[0].key != columns[1].key:
        columns = [_as_int64(one, stream) for one in columns]
    return columns


def _column_of_positions(source: Source, stream: int) -> Column:
    if source.loose and isinstance(source.cells, HostCells) and source.cells.array.size == 0:
        return column(source, stream, Key(np.dtype("int64")))  # of a list without elements
    return column(source, stream)


def _as_int64(of: Column, stream: int) -> Column:
    return column(of.source, stream, Key(np.dtype("int64")))


def rmq(
    array: Any, structure: str = "auto", device: Any = None, stream: Any = None, **options: Any
) -> Rmq:
    """Builds a structure that answers range-minimum queries over an array.

    Parameters
    ----------
    array
        As the column of `raydex.build`: numbers or times, adjacent and none missing.
    structure
        A name of `raydex.structures()` with `minima`, or `auto`, which is `rmq_cover`.
    device, stream, options
        As of `raydex.build`; `ties="rightmost"` has `argmin` name the rightmost of equal values.

    Returns
    -------
    Rmq
        It keeps the array, which queries read.

    Cost: a pass over the array; at most a quarter of its bytes. Raises as `raydex.build`.
    """
    source = look("array", array)
    place = place_for(source.world, device, structure, known)
    number, kept = stream_of(source, stream)
    values = column(source, number)
    if values.key.dtype is None or values.key.dtype.kind == "S" or values.key.unit:
        raise InvalidType(f"array: it is of {values.key}; minima are of numbers")
    native = place.run(
        _raydex.Rmq, structure, place.backend, place.session(), number, values.native,
        option_texts(options),
    )  # fmt: skip
    return Rmq(native, place, values, kept, number)
