# SPDX-License-Identifier: Apache-2.0
"""Range minima and maxima of arrays."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Callable, cast, overload

import numpy as np
import numpy.typing as npt

from raydex import _raydex
from raydex._arguments import option_texts
from raydex._array_libraries import as_times
from raydex._arrow import HostCells
from raydex._columns import Column, column_of, dtype_of
from raydex._devices import Device
from raydex._errors import InvalidArgument, InvalidType, Unsupported
from raydex._frames import check_labels, is_series, series_like
from raydex._held import ORDER_STATISTICS, Held
from raydex._html import facts
from raydex._infos import bytes_as_text, options_of
from raydex._kept import NO_FACTS, device_of, facts_of, key_in, key_of_format, note_of, path_of
from raydex._keys import Key, facts_of_key, format_of
from raydex._plain import plain_columns
from raydex._progress import shown
from raydex._runs import replacing
from raydex._sources import Source, look, not_a_text, same_device
from raydex.typing import (
    ColumnLike,
    DeviceLike,
    DeviceName,
    Extremes,
    HostColumn,
    MinimaOptions,
    Scalar,
    Series,
    StreamLike,
    StructureName,
    Tensor,
    Unpack,
)


@dataclass(frozen=True)
class RmqInfo:
    """What a structure for minima or maxima is, and what it holds beside the array: with both, two
    structures of the same options."""

    structure: StructureName
    """The name of the structure."""
    backend: str
    """`cpu`, `cuda` or `optix`."""
    device: DeviceName
    """The same with the number of a GPU: `cuda:0`."""
    value: str
    """The type of the values."""
    n: int
    """Values of the array."""
    extremes: str
    """`min`, `max` or `both`."""
    options: dict[str, str]
    """The options in force."""
    resident_bytes: int
    """Bytes held, measured."""
    build_peak_bytes: int
    """The most bytes allocated at once during the build, measured."""
    probe_bytes: dict[str, int] | None
    """Bytes that calls allocate for each range, as `Estimate.probe_bytes` has them; None on `optix`."""


class Rmq(Held):
    """Answers range-minimum queries over an array, range-maximum ones, or both; made by `raydex.rmq`.

    *Ranges* are two columns of positions, both ends included, integers counted from 0. A range is cut to
    the array on both sides; if nothing is left it has no minimum or maximum, nor has one whose lower end is
    above its upper one. *Results*, *streams* and *threads* are as of `raydex.Index`.

    The array stays where it is and is kept; after a change of its values `refresh` is called.

    *Copies*: `copy.copy`, `copy.deepcopy` and `pickle` copy the array as well, through host memory, and so does `save`.
    A copy has that array alone, and takes no `refresh`. An unpickled one is on a device of the same name. Pickles run
    code: unpickle what you trust alone.
    """

    __module__ = "raydex"
    _called = "rmq"
    _instead = {
        **dict.fromkeys(
            ORDER_STATISTICS,
            "of each range it has the smallest or largest value alone: min, argmin, max, argmax",
        ),
    }

    def __init__(
        self,
        native: _raydex.Rmq,
        extremes: tuple[str, ...],
        device: Device,
        key: Key,
        kept: Any,
        stream: int,
        values: Column | None = None,
    ) -> None:
        """`values`: the array, where it is the caller's."""
        super().__init__(native, device, kept, stream)
        self._extremes = extremes  # "min" and "max", or one of them
        self._values = values
        self._key = key
        self._is_copy = values is None or dtype_of(values.source, stream) != key.dtype

    @property
    def info(self) -> RmqInfo:
        """Structure, backend, options, and bytes as measured."""
        all_infos = self._native.info()
        structure, backend, value, n, options, *_ = all_infos[0]
        named = options_of(options)
        del named["extreme"]
        resident, peak = all_infos[0][5:]
        for info in all_infos[1:]:
            peak = max(peak, resident + info[6])
            resident += info[5]
        extremes = "both" if len(all_infos) == 2 else self._extremes[0]
        try:
            *_, calls = estimated(structure, backend, _raydex.Format(value), n, self._extremes, named)
        except Unsupported:
            calls = None
        return RmqInfo(
            cast(StructureName, structure), backend, self._device.name, value, n, extremes, named, resident, peak, calls
        )

    def __len__(self) -> int:
        """Values of the array."""
        return int(self.info.n)

    def __repr__(self) -> str:
        if self._closed:
            return "raydex.Rmq(closed)"
        info = self.info
        return (
            f"raydex.Rmq({info.structure} on {info.device}: {info.n} values of {self._key}, "
            f"{bytes_as_text(info.resident_bytes)} beside them)"
        )

    def _repr_html_(self) -> str:
        if self._closed:
            return facts("raydex.Rmq, closed", {})
        info = self.info
        return facts("raydex.Rmq", {
            "structure": info.structure, "device": info.device, "values": f"{info.n} of {self._key}",
            "extremes": info.extremes, "memory beside them": bytes_as_text(info.resident_bytes),
        })  # fmt: skip

    def _free(self) -> None:
        super()._free()
        self._values = None

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the structure and its array to a file, which `raydex.load` opens.

            >>> import raydex, tempfile, os
            >>> with tempfile.TemporaryDirectory() as folder:
            ...     path = os.path.join(folder, "prices.lows")
            ...     raydex.rmq([5, 2, 8, 1, 9]).save(path)
            ...     with raydex.load(path) as lows:
            ...         lows.min([0, 2], [2, 4])
            array([2, 1])

        The file is written whole or not at all, as `Index.save` does it. Times come back with their units. Values that
        have changed are to be taken in by `refresh` before.

        Cost: a read of the array and of what is beside it, and a write of as many bytes, for which the disk is waited.
        Of `extremes="both"` the structure of the maxima is not written, nor is that of `rmq_lca` and `rmq_rx`."""
        name = path_of(path)
        with self._changes:
            self._check_open()
            with replacing(name) as to:
                self._keep(self._native.save, name, beside=to.beside)

    def _keep(self, call: Callable[..., Any], *more: Any, beside: Mapping[str, Any] = NO_FACTS) -> Any:
        """Has the native structure write what it is, within `_changes`."""
        self._check_open()
        note = note_of({"key": facts_of_key(self._key), "extremes": list(self._extremes), **beside})
        wait = self._before(self._stream)
        if wait is not None:
            wait()
        return self._device.run(call, self._device.session(), self._stream, *more, note)

    def __reduce_ex__(self, protocol: Any) -> Any:
        with self._changes:
            return (Rmq._of_bytes, (self._keep(self._native.to_bytes), self._device.name))

    @classmethod
    def _of_bytes(cls, kept: bytes, device: str) -> Rmq:
        """What a pickle calls."""
        target = device_of(device)
        native, note = target.run(_raydex.Rmq.from_bytes, target.backend, target.session(), 0, kept, True)
        return cls._of_note(native, note, target, 0, None)

    @classmethod
    def _of_note(cls, native: Any, note: bytes, device: Device, stream: int, kept: Any) -> Rmq:
        """What was loaded with a note, be it one of Python or not."""
        [(_, _, value, _, options, *_)] = native.info()
        named = options_of(options)
        extremes: tuple[str, ...] = (named.pop("extreme")[:3],)
        try:
            found = facts_of(note)
            key = key_of_format(value) if found is None else key_in(found[0], value)
            if not has_order_of_numbers(key):
                raise ValueError(f"values that are {key}")
            if found is not None and found[0].get("extremes") == ["min", "max"] and extremes == ("min",):
                device.run(native.add_maxima, device.session(), stream, named)
                extremes = ("min", "max")
        except (ValueError, TypeError, KeyError, RecursionError) as problem:
            raise InvalidArgument(f"path: section 'note': it is none of minima: {problem}") from None
        return Rmq(native, extremes, device, key, kept, stream)

    def _ask(self, lower: Any, upper: Any, stream: Any, dtype: str, call: Callable[..., None], *more: Any) -> Any:
        plain = plain_columns(lower, upper, stream, self._device.number)
        if plain is not None and plain[1].is_integer:
            self._check_open()
            library, _, (begin, size, number, kept), (end, *_) = plain
            self._streams[number] = kept
            out = library.empty(size, dtype)
            call(self._device.session(), number, begin, end, *more, library.address(out), size)
            return out
        check_labels(lower, upper)
        sources = [look("lower", lower), look("upper", upper)]
        self._check_open()
        for one in sources:
            self._check_device(one.argument, one.library)
        number, kept = sources[0].library.stream_for(stream)
        self._streams[number] = kept
        ends = _positions(sources, number)
        library, size = sources[0].library, ends[0].size
        out = library.empty(size, dtype, number)
        self._device.run(
            call, self._device.session(), number, ends[0].native, ends[1].native, *more, library.address(out),
            size,
        )  # fmt: skip
        return out[0] if sources[0].scalar and sources[1].scalar else out

    def _largest(self, extreme: str) -> bool:
        """Whether the largest values are asked for; refuses what it was not built for."""
        if extreme not in self._extremes:
            [other] = self._extremes
            raise Unsupported(f"rmq: it was built for {other}; build it with extremes='both' or {extreme!r}")
        return extreme == "max"

    def _extreme(self, extreme: str, lower: Any, upper: Any, stream: Any) -> Any:
        largest = self._largest(extreme)
        assert self._key.dtype is not None
        time = self._key.time
        plain = np.dtype("int64") if self._key.dtype.kind in "mM" else self._key.dtype
        found = self._ask(
            lower, upper, stream, plain.name, self._native.value, largest, _raydex.Format(format_of(self._key))
        )
        if time is None:
            none = None
            if isinstance(found, np.ndarray) and is_series(lower) and np.any(_may_be_none(found, largest)):
                none = self._are_none(largest, lower, upper, stream)
            return series_like(lower, found, none)
        times = as_times(found, time.dtype)
        # The largest time stands for none, which is NaT; the smallest number is NaT anyway.
        if not largest and isinstance(found, (np.ndarray, np.integer)) and np.any(_may_be_none(found, largest)):
            none = self._are_none(largest, lower, upper, stream)
            times = np.where(none, np.array("NaT", time.dtype), times)[()]
        return series_like(lower, times)

    def _are_none(self, largest: bool, lower: Any, upper: Any, stream: Any) -> Any:
        """Which ranges have no value."""
        return self._ask(lower, upper, stream, "int64", self._native.position, largest) < 0

    @overload
    def min(self, lower: Tensor, upper: ColumnLike, *, stream: StreamLike = ...) -> Tensor: ...
    @overload
    def min(self, lower: Series, upper: ColumnLike, *, stream: StreamLike = ...) -> Series: ...
    @overload
    def min(self, lower: Scalar, upper: Scalar, *, stream: StreamLike = ...) -> Any: ...
    @overload
    def min(self, lower: HostColumn, upper: ColumnLike, *, stream: StreamLike = ...) -> npt.NDArray[Any]: ...
    @overload
    def min(self, lower: ColumnLike, upper: ColumnLike, *, stream: StreamLike = ...) -> Any: ...
    def min(self, lower: ColumnLike, upper: ColumnLike, *, stream: StreamLike = None) -> Any:
        """The smallest value of each range, in the array's dtype; for int8, int16, uint8, uint16, float16
        and bool in the one that they were widened to, for Arrow's times in NumPy's: datetime64, of times
        with a zone in UTC, and timedelta64 of times of day. NaN comes after everything; a zero is 0.0. Of an
        empty range, NaN, NaT or the largest number of the type; in a Series, of probes that are one, a
        missing cell, for which integers of pandas become nullable."""
        return self._extreme("min", lower, upper, stream)

    @overload
    def max(self, lower: Tensor, upper: ColumnLike, *, stream: StreamLike = ...) -> Tensor: ...
    @overload
    def max(self, lower: Series, upper: ColumnLike, *, stream: StreamLike = ...) -> Series: ...
    @overload
    def max(self, lower: Scalar, upper: Scalar, *, stream: StreamLike = ...) -> Any: ...
    @overload
    def max(self, lower: HostColumn, upper: ColumnLike, *, stream: StreamLike = ...) -> npt.NDArray[Any]: ...
    @overload
    def max(self, lower: ColumnLike, upper: ColumnLike, *, stream: StreamLike = ...) -> Any: ...
    def max(self, lower: ColumnLike, upper: ColumnLike, *, stream: StreamLike = None) -> Any:
        """The largest value of each range, as `min`: NaN, where there is one. Of an empty range, NaN, NaT or
        the smallest number of the type, in a Series a missing cell. Needs `extremes="max"` or `"both"` at the build."""
        return self._extreme("max", lower, upper, stream)

    @overload
    def argmin(self, lower: Tensor, upper: ColumnLike, *, stream: StreamLike = ...) -> Tensor: ...
    @overload
    def argmin(self, lower: Series, upper: ColumnLike, *, stream: StreamLike = ...) -> Series: ...
    @overload
    def argmin(self, lower: Scalar, upper: Scalar, *, stream: StreamLike = ...) -> np.int64: ...
    @overload
    def argmin(self, lower: HostColumn, upper: ColumnLike, *, stream: StreamLike = ...) -> npt.NDArray[np.int64]: ...
    @overload
    def argmin(self, lower: ColumnLike, upper: ColumnLike, *, stream: StreamLike = ...) -> Any: ...
    def argmin(self, lower: ColumnLike, upper: ColumnLike, *, stream: StreamLike = None) -> Any:
        """Where each range has its smallest value, int64; of equal ones the leftmost, or with
        `ties="rightmost"` at the build the rightmost. -1 for empty ranges, see `raydex.take`."""
        found = self._ask(lower, upper, stream, "int64", self._native.position, self._largest("min"))
        return series_like(lower, found)

    @overload
    def argmax(self, lower: Tensor, upper: ColumnLike, *, stream: StreamLike = ...) -> Tensor: ...
    @overload
    def argmax(self, lower: Series, upper: ColumnLike, *, stream: StreamLike = ...) -> Series: ...
    @overload
    def argmax(self, lower: Scalar, upper: Scalar, *, stream: StreamLike = ...) -> np.int64: ...
    @overload
    def argmax(self, lower: HostColumn, upper: ColumnLike, *, stream: StreamLike = ...) -> npt.NDArray[np.int64]: ...
    @overload
    def argmax(self, lower: ColumnLike, upper: ColumnLike, *, stream: StreamLike = ...) -> Any: ...
    def argmax(self, lower: ColumnLike, upper: ColumnLike, *, stream: StreamLike = None) -> Any:
        """Where each range has its largest value, as `argmin`. Needs `extremes="max"` or `"both"`."""
        found = self._ask(lower, upper, stream, "int64", self._native.position, self._largest("max"))
        return series_like(lower, found)

    def refresh(self, positions: ColumnLike, *, stream: StreamLike = None) -> None:
        """Takes in values of the array that have changed, at these positions. Only of structures with
        `updates`, and of an array that was not widened. Waits for queries of other threads; on a GPU those of
        other streams that follow are to wait for its stream."""
        source = look("positions", positions)
        self._check_open()
        if self._is_copy:
            raise InvalidArgument(
                "rmq: it is over a widened copy of the array, or over that of a file; build another one"
            )
        number, kept = source.library.stream_for(stream)
        [cells] = _positions([source], number)
        self._streams[number] = kept
        self._device.run(self._native.refresh, number, cells.native, self._before(number))


def has_order_of_numbers(key: Key) -> bool:
    return key.dtype is not None and key.dtype.kind != "S" and key.scale is None


def _may_be_none(found: Any, largest: bool) -> Any:
    """Which cells may be those of empty ranges."""
    if found.dtype.kind == "f":
        return np.isnan(found)
    ends = np.iinfo(found.dtype)
    return found == (ends.min if largest else ends.max)


def _positions(sources: list[Source], stream: int) -> list[Column]:
    same_device(*sources)
    columns = [_column_of_positions(one, stream) for one in sources]
    for one in columns:
        if not one.key.is_integer:
            raise InvalidType(f"{one.source.argument}: positions are integers, and these are {one.key}")
    if len(columns) == 2 and columns[0].key != columns[1].key:
        columns = [_as_int64(one, stream) for one in columns]
    return columns


def _column_of_positions(source: Source, stream: int) -> Column:
    if source.loose and isinstance(source.cells, HostCells) and source.cells.array.size == 0:
        return column_of(source, stream, Key(np.dtype("int64")))  # of a list without elements
    return column_of(source, stream)


def _as_int64(column: Column, stream: int) -> Column:
    return column_of(column.source, stream, Key(np.dtype("int64")))


def wanted_extremes(extremes: object, options: Mapping[str, object]) -> tuple[str, ...]:
    """What the argument of that name says, which the option is not given for."""
    wanted = {"min": ("min",), "max": ("max",), "both": ("min", "max")}.get(str(extremes))
    if wanted is None:
        raise InvalidArgument(f"extremes: {extremes!r} is none of 'min', 'max' and 'both'")
    if "extreme" in options:
        raise InvalidArgument("extreme: say extremes='min', 'max' or 'both'")
    return wanted


def estimated(
    structure: str, backend: str, value: _raydex.Format, n: int, extremes: tuple[str, ...], options: dict[str, str]
) -> tuple[str, int, int, dict[str, int]]:
    """The name of the structure, bytes held and at the peak of a build, and what calls take for each range."""
    name, resident, peak, extreme, position = _raydex.estimate_rmq(structure, backend, value, n, options)
    calls = {}
    for one in extremes:
        calls.update({one: extreme, f"arg{one}": position})
    before = (len(extremes) - 1) * resident  # while the second of both is built
    return name, before + resident, before + peak, calls


def rmq(
    array: ColumnLike,
    structure: StructureName = "auto",
    device: DeviceLike = None,
    stream: StreamLike = None,
    *,
    extremes: Extremes = "min",
    progress: bool = False,
    **options: Unpack[MinimaOptions],
) -> Rmq:
    """Builds what answers range-minimum queries over an array, or range-maximum ones.

        >>> import raydex
        >>> lows = raydex.rmq([5, 2, 8, 1, 9])
        >>> lows.min([0, 2], [2, 4]), lows.argmin([0, 2], [2, 4])
        (array([2, 1]), array([1, 3]))

    Parameters
    ----------
    array
        As the column of `raydex.build`: numbers or times, adjacent and none missing.
    structure
        A name of `raydex.structures()` with `minima`, or `auto`, which is `rmq_cover`.
    device, stream, progress, options
        As of `raydex.build`; `ties="rightmost"` has `argmin` name the rightmost of equal values.
    extremes
        `"min"`, `"max"`, or `"both"`, which builds two structures, one for each.

    Returns
    -------
    Rmq
        It keeps the array, which queries read.

    Raises
    ------
    InvalidArgument, InvalidType, Unsupported, Unavailable, OutOfMemory, CudaError
        As of `raydex.build`.

    Cost
    ----
    A pass over the array; at most a quarter of its bytes; twice that with both extremes.
    """
    wanted = wanted_extremes(extremes, options)
    source = look("array", not_a_text("array", array))
    target = source.library.device_for(device, structure)
    number, kept = source.library.stream_for(stream)
    values = column_of(source, number)
    if not has_order_of_numbers(values.key):
        raise InvalidType(f"array: it is of {values.key}; minima are of numbers and times")
    if isinstance(source.cells, HostCells):
        cells, there = values.kept[0], values.kept[1]
        if len(cells) > 1 and cells.strides[0] != cells.itemsize:
            raise InvalidArgument(
                f"array: its cells are {cells.strides[0]} bytes apart; give numpy.ascontiguousarray(x), a copy"
            )
        if there is not None and not there.there(len(cells)).all():
            raise InvalidArgument("array: some cells are missing; fill them, as with the largest value, or drop them")
    with shown("rmq", values.size, progress):
        native = target.run(
            _raydex.Rmq, structure, target.backend, target.session(), number, values.native,
            option_texts(options, structure, rmq), "min" in wanted, "max" in wanted,
        )  # fmt: skip
    return Rmq(native, wanted, target, values.key, kept, number, values)
