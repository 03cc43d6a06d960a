# SPDX-License-Identifier: Apache-2.0
"""Aggregates of ranges and points in a time that does not depend on how many rows match."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Callable, cast, overload

import numpy as np
import numpy.typing as npt

from raydex import _raydex
from raydex._arguments import SUMS_BY, flag, without
from raydex._array_libraries import as_times, bare_library
from raydex._batches import Batch
from raydex._columns import Column, column_of, refuse_strings
from raydex._composite import index_of_note
from raydex._errors import InvalidArgument, InvalidType, Unsupported
from raydex._held import ORDER_STATISTICS, Held
from raydex._html import facts
from raydex._index import Index
from raydex._infos import bytes_as_text
from raydex._kept import NO_FACTS, device_of, facts_of, key_in, key_of_format, path_of
from raydex._keys import Key, facts_of_key, format_of
from raydex._progress import shown
from raydex._runs import replacing
from raydex._sources import Source, look_at_values
from raydex.typing import ColumnLike, DeviceName, HostColumn, Scalar, Series, StreamLike, StructureName, Tensor


@dataclass(frozen=True)
class AggregateInfo:
    """What an aggregate is and what it holds beside its index."""

    structure: StructureName
    """The structure of its index."""
    backend: str
    """`cpu`, `cuda` or `optix`."""
    device: DeviceName
    """The same with the number of a GPU: `cuda:0`."""
    key: str
    """The type of the keys."""
    value: str | None
    """The type of the values; None without any."""
    entries: int
    """Entries of the index."""
    resident_bytes: int
    """Bytes held beside the index, measured."""
    build_peak_bytes: int
    """The most bytes allocated at once during the build, measured."""
    probe_bytes: dict[str, int] | None
    """Bytes that calls allocate for each of up to 2^23 probes at a time, at most, as `AggregateEstimate.probe_bytes`
    has them; None where nobody says so of the index."""


class Aggregate(Held):
    """Answers aggregates of the values of matching rows, made by `raydex.aggregate`.

    *Probes*, *results*, *streams* and *threads* are as of `raydex.Index`: points where one column is given,
    ranges where there is an upper one, both ends included. No call waits for the stream.

    *Missing* values belong to nothing. *Order*: NaN comes after everything, so that a maximum is NaN where
    one matches, a minimum only where nothing else does; a zero is 0.0. *Of no value at all* a sum is 0; a
    mean, and a minimum or maximum of floating values, NaN, of times NaT; a minimum of integers is the largest
    number of their type, a maximum the smallest. `count_values` tells. Where the probes are a Series all of
    these are missing cells but the sum; integers of pandas become nullable ones for that.

    It keeps its index, which must not be edited or closed: later calls raise `raydex.InvalidArgument`.

    *Copies*: `copy.copy`, `copy.deepcopy` and `pickle` copy its memory and that of its index.
    """

    __module__ = "raydex"
    _called = "aggregate"
    _instead = dict.fromkeys(
        ORDER_STATISTICS,
        "of each probe it has the smallest or largest value alone, min and max; all of its rows are Index.rows",
    )

    def __init__(self, native: _raydex.Aggregate, index: Index, value: Key | None, kept: Any, stream: int) -> None:
        super().__init__(native, index._device, kept, stream)
        of_index = index.info
        self._of_index = (of_index.row_id_bits, of_index.probe_bytes)
        self._index = index
        self._over = index._native
        self._value = value

    @property
    def index(self) -> Index:
        """The index that it is over."""
        return self._index

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the aggregate and its index to one file, which `raydex.load` opens.

            >>> import raydex, tempfile, os
            >>> with tempfile.TemporaryDirectory() as folder:
            ...     path = os.path.join(folder, "prices.sums")
            ...     raydex.aggregate(raydex.build([50, 20, 40, 20]), [1, 2, 4, 8]).save(path)
            ...     with raydex.load(path) as sums:
            ...         sums.sum([20, 30], [20, 50]), sums.index.first([40])
            (array([10,  5]), array([2]))

        The file is written whole or not at all, as `Index.save` does it.

        Cost: a read of both and a write of as many bytes, for which the disk is waited."""
        name = path_of(path)
        with replacing(name) as to:
            self._keep(self._native.save, name, beside=to.beside)

    def _keep(self, call: Callable[..., Any], *more: Any, beside: Mapping[str, Any] = NO_FACTS) -> Any:
        """Has the native aggregate write what both are."""
        with self._index._changes, self._changes:
            self._check_open()
            value = None if self._value is None else facts_of_key(self._value)
            note = self._index._note({"values": value, **beside})
            return self._device.run(call, self._over, self._device.session(), self._stream, *more, note)

    def __reduce_ex__(self, protocol: Any) -> Any:
        return (Aggregate._of_bytes, (self._keep(self._native.to_bytes), self._device.name))

    @classmethod
    def _of_bytes(cls, kept: bytes, device: str) -> Aggregate:
        """What a pickle calls."""
        target = device_of(device)
        over, note, native = target.run(_raydex.Aggregate.from_bytes, target.backend, target.session(), 0, kept)
        return cls._of_note(native, index_of_note(over, note, target, 0, None), note, None, 0)

    @classmethod
    def _of_note(cls, native: Any, index: Index, note: bytes, kept: Any, stream: int) -> Aggregate:
        """What was loaded with a note, be it one of Python or not."""
        name = native.value_format()
        try:
            found = facts_of(note)
            value = None if name is None else key_of_format(name)
            if found is not None and value is not None:
                value = key_in({"key": found[0]["values"]}, name)
                if value.dtype is None or value.dtype.kind == "S":
                    raise ValueError(f"values that are {value}")
        except (ValueError, TypeError, KeyError, RecursionError) as problem:
            raise InvalidArgument(f"path: section 'note': it is none of an aggregate: {problem}") from None
        return Aggregate(native, index, value, kept, stream)

    @property
    def info(self) -> AggregateInfo:
        """Structure, backend, types, and bytes as measured."""
        structure, backend, key, entries, resident, peak, *parts = self._native.info()
        value = None if self._value is None else format_of(self._value)
        named = cast(StructureName, structure)
        bits, of_index = self._of_index
        choices = dict(zip(("sums", "minima", "maxima", "first_rows"), parts))
        *_, calls = estimated(backend, entries, bits, self._value, True, False, choices, of_index)
        return AggregateInfo(named, backend, self._device.name, key, value, entries, resident, peak, calls)

    def __len__(self) -> int:
        """Entries of the index when it was built."""
        return int(self.info.entries)

    def __repr__(self) -> str:
        if self._closed:
            return "raydex.Aggregate(closed)"
        info = self.info
        values = "no values" if self._value is None else f"values of {self._value}"
        return (
            f"raydex.Aggregate({values} over {info.structure} on {info.device}: {info.entries} rows of "
            f"{self._index._key}, {bytes_as_text(info.resident_bytes)} beside it)"
        )

    def _repr_html_(self) -> str:
        if self._closed:
            return facts("raydex.Aggregate, closed", {})
        info = self.info
        return facts("raydex.Aggregate", {
            "structure": info.structure, "device": info.device, "keys": self._index._key,
            "values": "none" if self._value is None else self._value, "rows": info.entries,
            "memory beside the index": bytes_as_text(info.resident_bytes),
        })  # fmt: skip

    def _batch(self, lower: Any, upper: Any, stream: Any) -> Batch:
        batch = self._index._batch(lower, upper, stream)
        if batch.native is not self._over:
            raise InvalidArgument("aggregate: its index was edited after it was built; build another one")
        # None if the index was closed since, which the call then says.
        self._streams[batch.stream] = self._index._streams.get(batch.stream)
        return batch

    def _numbers(self) -> np.dtype[Any]:
        """The dtype of the values, which are numbers."""
        value = self._any_values()
        if value.time is not None:
            raise InvalidType(f"values: they are {value}; sums and means are of numbers")
        assert value.dtype is not None
        return value.dtype

    def _any_values(self) -> Key:
        if self._value is None:
            raise Unsupported("aggregate: it was built without values")
        return self._value

    @overload
    def count(self, lower: Tensor, upper: ColumnLike = ..., *, stream: StreamLike = ...) -> Tensor: ...
    @overload
    def count(self, lower: Series, upper: ColumnLike = ..., *, stream: StreamLike = ...) -> Series: ...
    @overload
    def count(self, lower: Scalar, upper: Scalar | None = ..., *, stream: StreamLike = ...) -> np.int64: ...
    @overload
    def count(
        self, lower: HostColumn, upper: ColumnLike = ..., *, stream: StreamLike = ...
    ) -> npt.NDArray[np.int64]: ...
    @overload
    def count(self, lower: ColumnLike, upper: ColumnLike = ..., *, stream: StreamLike = ...) -> Any: ...
    def count(self, lower: ColumnLike, upper: ColumnLike = None, *, stream: StreamLike = None) -> Any:
        """How many rows match each probe, int64. Cost: a search or two a probe."""
        return self._count(lower, upper, False, stream)

    @overload
    def count_values(self, lower: Tensor, upper: ColumnLike = ..., *, stream: StreamLike = ...) -> Tensor: ...
    @overload
    def count_values(self, lower: Series, upper: ColumnLike = ..., *, stream: StreamLike = ...) -> Series: ...
    @overload
    def count_values(self, lower: Scalar, upper: Scalar | None = ..., *, stream: StreamLike = ...) -> np.int64: ...
    @overload
    def count_values(
        self, lower: HostColumn, upper: ColumnLike = ..., *, stream: StreamLike = ...
    ) -> npt.NDArray[np.int64]: ...
    @overload
    def count_values(self, lower: ColumnLike, upper: ColumnLike = ..., *, stream: StreamLike = ...) -> Any: ...
    def count_values(self, lower: ColumnLike, upper: ColumnLike = None, *, stream: StreamLike = None) -> Any:
        """How many of the rows that match each probe have a value, int64. Cost: as `sum`."""
        return self._count(lower, upper, True, stream)

    def _count(self, lower: Any, upper: Any, values: bool, stream: Any) -> Any:
        batch = self._batch(lower, upper, stream)
        return batch.answer("int64", self._native.count, self._over, *batch.arguments, values)

    @overload
    def sum(self, lower: Tensor, upper: ColumnLike = ..., *, stream: StreamLike = ...) -> Tensor: ...
    @overload
    def sum(self, lower: Series, upper: ColumnLike = ..., *, stream: StreamLike = ...) -> Series: ...
    @overload
    def sum(self, lower: Scalar, upper: Scalar | None = ..., *, stream: StreamLike = ...) -> Any: ...
    @overload
    def sum(self, lower: HostColumn, upper: ColumnLike = ..., *, stream: StreamLike = ...) -> npt.NDArray[Any]: ...
    @overload
    def sum(self, lower: ColumnLike, upper: ColumnLike = ..., *, stream: StreamLike = ...) -> Any: ...
    @without(by=SUMS_BY)
    def sum(self, lower: ColumnLike, upper: ColumnLike = None, *, stream: StreamLike = None) -> Any:
        """The sum of the values of each probe: int64 of signed ones, uint64 of unsigned ones, both modulo
        2^64, float64 of floating ones. These are off by less than 2^-90 of the sum of the absolute values
        that match, whatever the others are, and rounded once; one that exceeds float64 on the way is
        infinite, or NaN if it does so in both directions. Cost: a search or two a probe, and two reads, of
        floating values up to 14 for each factor of 8 among the rows that match. Raises
        `raydex.Unsupported` if it was built without values or with `sums=False`."""
        dtype = {"u": "uint64", "i": "int64", "f": "float64"}[self._numbers().kind]
        batch = self._batch(lower, upper, stream)
        return batch.answer(dtype, self._native.sum, self._over, *batch.arguments)

    @overload
    def mean(self, lower: Tensor, upper: ColumnLike = ..., *, stream: StreamLike = ...) -> Tensor: ...
    @overload
    def mean(self, lower: Series, upper: ColumnLike = ..., *, stream: StreamLike = ...) -> Series: ...
    @overload
    def mean(self, lower: Scalar, upper: Scalar | None = ..., *, stream: StreamLike = ...) -> np.float64: ...
    @overload
    def mean(
        self, lower: HostColumn, upper: ColumnLike = ..., *, stream: StreamLike = ...
    ) -> npt.NDArray[np.float64]: ...
    @overload
    def mean(self, lower: ColumnLike, upper: ColumnLike = ..., *, stream: StreamLike = ...) -> Any: ...
    def mean(self, lower: ColumnLike, upper: ColumnLike = None, *, stream: StreamLike = None) -> Any:
        """The mean of the values of each probe, float64. That of integers is of their exact sum, not modulo
        2^64, rounded once before the division. Cost and errors: as `sum`."""
        self._numbers()
        batch = self._batch(lower, upper, stream)
        found = batch.numbers("float64", self._native.mean, self._over, *batch.arguments)
        none = None
        if batch.is_series and np.isnan(found).any():
            none = batch.numbers("int64", self._native.count, self._over, *batch.arguments, True) == 0
        return batch.like_probes(found, none)

    @overload
    def min(self, lower: Tensor, upper: ColumnLike = ..., *, stream: StreamLike = ...) -> Tensor: ...
    @overload
    def min(self, lower: Series, upper: ColumnLike = ..., *, stream: StreamLike = ...) -> Series: ...
    @overload
    def min(self, lower: Scalar, upper: Scalar | None = ..., *, stream: StreamLike = ...) -> Any: ...
    @overload
    def min(self, lower: HostColumn, upper: ColumnLike = ..., *, stream: StreamLike = ...) -> npt.NDArray[Any]: ...
    @overload
    def min(self, lower: ColumnLike, upper: ColumnLike = ..., *, stream: StreamLike = ...) -> Any: ...
    def min(self, lower: ColumnLike, upper: ColumnLike = None, *, stream: StreamLike = None) -> Any:
        """The smallest value of each probe, in the dtype of the values; for int8, int16, uint8, uint16,
        float16 and bool in the one that they were widened to, for Arrow's times in NumPy's: datetime64, of
        times with a zone in UTC, and timedelta64 of times of day. Cost: a search or two a probe, and a few
        reads. Raises `raydex.Unsupported` if it was built without values or with `minima=False`."""
        return self._extreme(lower, upper, False, stream)

    @overload
    def max(self, lower: Tensor, upper: ColumnLike = ..., *, stream: StreamLike = ...) -> Tensor: ...
    @overload
    def max(self, lower: Series, upper: ColumnLike = ..., *, stream: StreamLike = ...) -> Series: ...
    @overload
    def max(self, lower: Scalar, upper: Scalar | None = ..., *, stream: StreamLike = ...) -> Any: ...
    @overload
    def max(self, lower: HostColumn, upper: ColumnLike = ..., *, stream: StreamLike = ...) -> npt.NDArray[Any]: ...
    @overload
    def max(self, lower: ColumnLike, upper: ColumnLike = ..., *, stream: StreamLike = ...) -> Any: ...
    def max(self, lower: ColumnLike, upper: ColumnLike = None, *, stream: StreamLike = None) -> Any:
        """The largest value of each probe, as `min` gives the smallest one; for which `maxima` is asked."""
        return self._extreme(lower, upper, True, stream)

    def _extreme(self, lower: Any, upper: Any, largest: bool, stream: Any) -> Any:
        value = self._any_values()
        assert value.dtype is not None
        batch = self._batch(lower, upper, stream)
        native = _raydex.Format(format_of(value))
        plain = "int64" if value.dtype.kind in "mM" else value.dtype.name
        arguments = (self._over, *batch.arguments, largest, native)
        if value.time is None and not batch.is_series:
            return batch.answer(plain, self._native.extreme, *arguments, 0)
        counts = batch.library.empty(batch.size, "int64", batch.stream)
        found = batch.numbers(plain, self._native.extreme, *arguments, batch.library.address(counts))
        if value.time is None:
            return batch.like_probes(found, counts == 0)
        dtype = value.time.dtype
        times = as_times(found, dtype)
        return batch.like_probes(np.where((counts != 0).reshape(times.shape), times, np.array("NaT", dtype))[()])

    @overload
    def first(self, lower: Tensor, upper: ColumnLike = ..., *, stream: StreamLike = ...) -> Tensor: ...
    @overload
    def first(self, lower: Series, upper: ColumnLike = ..., *, stream: StreamLike = ...) -> Series: ...
    @overload
    def first(self, lower: Scalar, upper: Scalar | None = ..., *, stream: StreamLike = ...) -> np.int64: ...
    @overload
    def first(
        self, lower: HostColumn, upper: ColumnLike = ..., *, stream: StreamLike = ...
    ) -> npt.NDArray[np.int64]: ...
    @overload
    def first(self, lower: ColumnLike, upper: ColumnLike = ..., *, stream: StreamLike = ...) -> Any: ...
    def first(self, lower: ColumnLike, upper: ColumnLike = None, *, stream: StreamLike = None) -> Any:
        """The smallest matching row of each probe, int64, -1 where none matches, see `raydex.take`. Cost: a
        search or two a probe, and a few reads, where `Index.first` looks at all rows of a range. Raises
        `raydex.Unsupported` if it was built with `first_rows=False`."""
        batch = self._batch(lower, upper, stream)
        return batch.answer("int64", self._native.first, self._over, *batch.arguments)


def column_of_values(source: Source, stream: int) -> Column:
    """What is aggregated, as the library reads it; refuses what is neither numbers nor times."""
    column = refuse_strings(column_of(source, stream))
    if column.key.dtype is None or column.key.dtype.kind == "S":
        raise InvalidType(f"{source.argument}: they are {column.key}; aggregates are of numbers and times")
    return column


def estimated(
    backend: str,
    n: int,
    row_id_bits: int,
    value: Key | None,
    missing: bool,
    finite: bool,
    choices: dict[str, bool],
    of_index: dict[str, int] | None,
) -> tuple[int, int, dict[str, int] | None]:
    """Bytes held, at the peak of a build, and what calls take for each probe with what those of the index do."""
    resident, peak, counting, summing, extreme, first = _raydex.estimate_aggregate(
        backend, n, row_id_bits == 64, None if value is None else value.native, missing, finite,
        *map(bool, choices.values()),
    )  # fmt: skip
    if of_index is None:
        return resident, peak, None
    locating = max(of_index["first"], of_index["count"])
    calls = {"count": of_index["count"]}
    if value is not None:
        calls["count_values"] = counting + locating if counting else of_index["count"]
        if choices["sums"]:
            calls["sum"] = calls["mean"] = summing + locating
        if choices["minima"]:
            calls["min"] = extreme + locating
        if choices["maxima"]:
            calls["max"] = extreme + locating
    if choices["first_rows"]:
        calls["first"] = first + locating + (4 if row_id_bits == 32 else 0)  # for the int64 of Python
    return resident, peak, calls


def aggregate(
    index: Index,
    values: ColumnLike = None,
    *,
    sums: bool = True,
    minima: bool = True,
    maxima: bool = True,
    first_rows: bool = True,
    stream: StreamLike = None,
    progress: bool = False,
) -> Aggregate:
    """Builds sums, means, minima and maxima over an index, each answered in the same time however many rows match.

        >>> import raydex
        >>> index = raydex.build([50, 20, 40, 20, 30])
        >>> raydex.aggregate(index, [1.5, 2.0, 4.0, 8.0, 16.0]).sum([20, 30], [20, 50])
        array([10. , 21.5])

    Parameters
    ----------
    index
        Of `raydex.build`, on an ordered structure.
    values
        A column with a cell for each row (see `raydex.build`), of numbers or times. Without it only
        `count` and `first` are answered.
    sums, minima, maxima, first_rows
        What it is built for: `sum` and `mean`, `min`, `max`, `first`. Each takes memory: an entry of the
        index 8 bytes for sums, 16 for those of integers of 64 bits, 10.3 of floating values, a value and a
        little more for minima, the same for maxima, a row id and a little more for first rows; 8 bytes if
        values are missing, and 24 if some are infinite or NaN. `raydex.estimate_aggregate` says it before.
    stream, progress
        As of `raydex.build`.

    Returns
    -------
    Aggregate
        The column of values may be freed or changed afterwards.

    Raises
    ------
    Unsupported
        For an index without ranks; and what `raydex.build` raises.

    Cost
    ----
    A pass over the rows in the order of their keys, and the builds of what is asked for. Waits for the stream.
    """
    if not isinstance(index, Index):
        raise InvalidType(f"index: a {type(index).__qualname__} is none; give raydex.build(column)")
    choices = {"sums": sums, "minima": minima, "maxima": maxima, "first_rows": first_rows}
    for name, is_asked in choices.items():
        flag(name, is_asked)
    index._check_open()
    index._check_ordered("index")
    device = index._device
    cells, key = None, None
    if values is not None:
        source = look_at_values(values)
        index._check_device(source.argument, source.library)
        number, kept = source.library.stream_for(stream)
        column = column_of_values(source, number)
        cells, key = column.native, column.key
    elif stream is None:
        number = index._stream
        kept = index._streams[number]
    else:
        number, kept = bare_library(device.number).stream_for(stream)
    with shown("aggregate", len(index), progress):
        native = device.run(
            _raydex.Aggregate, index._native, device.session(), number, cells, *map(bool, choices.values())
        )
    index._streams[number] = kept
    return Aggregate(native, index, key, kept, number)
