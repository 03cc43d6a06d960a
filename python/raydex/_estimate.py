# SPDX-License-Identifier: Apache-2.0
"""How many bytes an index takes, or a structure for minima, before there is one."""

from __future__ import annotations

import operator
from dataclasses import dataclass
from typing import Any, Literal, cast, overload

import numpy as np
import numpy.typing as npt

from raydex import _aggregates, _raydex
from raydex._arguments import flag, option_texts
from raydex._columns import Column, column_of
from raydex._devices import parse_device
from raydex._errors import InvalidArgument, InvalidType, Unsupported
from raydex._index import Index
from raydex._infos import IndexInfo, bytes_as_text
from raydex._minima import estimated, has_order_of_numbers, wanted_extremes
from raydex._sources import Source, look, look_at_values
from raydex._structures import known
from raydex.typing import ColumnLike, DeviceLike, Extremes, KeyOptions, MinimaOptions, StructureName, Unpack


@dataclass(frozen=True, repr=False)
class Estimate:
    """Bytes that an index will take, or a structure for minima beside its array."""

    structure: StructureName
    """The name of the structure."""
    n: int
    """Rows of the column, or values of the array."""
    resident_bytes: int
    """Bytes that it will hold, as `Index.info` and `Rmq.info` measure them."""
    build_peak_bytes: int
    """The most bytes that its build will have allocated at once."""
    probe_bytes: dict[str, int]
    """Bytes that calls allocate for each probe at most, by their names. `closest` is of `predecessor` and `successor`;
    those of `rows` have its offsets among them, and `match` is for each match of it. They are of points; `first` of
    ranges may take what `sum` does. Where row ids have 32 bits, `first` and `closest` take 4 more for the int64
    that Python has. Of minima they are `min`, `argmin`, `max` and `argmax`, as far as `extremes` has
    them."""

    def __repr__(self) -> str:
        unit = "value" if self.structure.startswith("rmq_") else "row"
        each = f", {self.resident_bytes / self.n:.4g} a {unit}" if self.n else ""
        return (
            f"raydex.Estimate({self.structure} of {self.n} {unit}s: {bytes_as_text(self.resident_bytes)}{each}; "
            f"{bytes_as_text(self.build_peak_bytes)} at the peak of its build)"
        )


@overload
def estimate(
    column: int | ColumnLike,
    structure: StructureName = ...,
    device: DeviceLike = ...,
    *,
    dtype: npt.DTypeLike = ...,
    row_id_bits: Literal[32, 64] = ...,
    ascending: bool = ...,
    different: int = ...,
    span: int = ...,
    **options: Unpack[KeyOptions],
) -> Estimate: ...
@overload
def estimate(
    column: int | ColumnLike,
    structure: StructureName = ...,
    device: DeviceLike = ...,
    *,
    dtype: npt.DTypeLike = ...,
    extremes: Extremes = ...,
    **options: Unpack[MinimaOptions],
) -> Estimate: ...
def estimate(
    column: int | ColumnLike,
    structure: StructureName = "auto",
    device: DeviceLike = None,
    *,
    dtype: npt.DTypeLike = "int64",
    row_id_bits: Literal[32, 64] = 32,
    ascending: bool = False,
    different: int = 0,
    span: int = 0,
    extremes: Extremes | None = None,
    **options: Any,
) -> Estimate:
    """Says how many bytes an index, or a structure for minima, will take, by arithmetic, before anything is allocated.

        >>> import raydex
        >>> raydex.estimate(10**8, "sorted_array")
        raydex.Estimate(sorted_array of 100000000 rows: 1.118 GiB, 12 a row; 2.237 GiB at the peak of its build)
        >>> raydex.estimate(10**8, "rmq_cover", dtype="float32", extremes="both").resident_bytes
        174435424

    Parameters
    ----------
    column
        How many rows have a key, or values an array; or a column, whose length and type count.
    structure
        As for `raydex.build`, with `auto`, or for `raydex.rmq`.
    device
        `cpu` or `cuda`, which need not be on this machine; by default where the column is.
    dtype
        Of a number of rows: the type of their keys or values.
    row_id_bits
        Of row ids; 64 in any case from 2**32 - 1 rows on.
    ascending
        Whether the keys ascend.
    different
        How many keys differ, which `direct`, `rx` and hash tables need; 0: not known.
    span
        Of integers: the largest key less the smallest one, and 1, which `direct` needs; 0: not known.
    extremes
        Of a structure for minima, as for `raydex.rmq`; `"min"` if you give none. With it `auto` is `rmq_cover`.
    options
        Of the structure, by name.

    Returns
    -------
    Estimate
        The figures are right to 1 % or 1 MB where what they need is known. Otherwise an index takes them at most: a
        `pivot_tree` with `nodes="auto"` holds up to 9 % less, and the scene of `cgrx`, `rx` and `rmq_rx`, and of
        `rmq_hierarchy` with `top="rays"`, takes down to half.
        A few equal keys more than double a hash table, so that it pays to say how many differ.

    Raises
    ------
    InvalidArgument, InvalidType
        For facts that contradict each other, for what is no column, and for words and options that are not legal.
    Unsupported
        For strings of any length and keys of several columns, whose bytes depend on them; on `optix`, where the driver
        decides; and for `rx` with `primitives="rows"` or `inverse`.

    Cost
    ----
    Microseconds; of lists, and of columns that `raydex.build` copies, that copy.
    """
    if isinstance(column, tuple):
        raise Unsupported("column: what keys of several columns take depends on them; build the index and see its info")
    is_count = _is_count(column)
    source = look("dtype", _no_cells("dtype", dtype)) if is_count else _look("column", column)
    keys = column_of(source, source.library.stream_for(None)[0])
    n = _whole("column", column) if is_count else keys.size
    _check_bits(row_id_bits)
    if keys.key.dtype is None:
        raise Unsupported(
            f"{source.argument}: what strings of any length take depends on them; give 'S8' for those of up to 8 "
            "bytes, or build the index and see its info"
        )
    backend = _backend_of(source, device, structure)
    if extremes is not None or any(one.minima for one in known() if one.name == structure):
        given = {"row_id_bits": row_id_bits != 32, "ascending": ascending, "different": different, "span": span}
        for argument, is_given in given.items():
            if is_given:
                raise InvalidArgument(f"{argument}: it is of keys, and minima have none")
        return _of_minima(keys, n, structure, backend, extremes, options)
    name, resident, peak, calls = _raydex.estimate(
        structure, backend, keys.key.native, n, row_id_bits == 64, flag("ascending", ascending),
        _whole("different", different), _whole("span", span), option_texts(options, structure, estimate),
    )  # fmt: skip
    return Estimate(cast(StructureName, name), n, resident, peak, calls)


@dataclass(frozen=True, repr=False)
class AggregateEstimate:
    """Bytes that an aggregate will take beside its index."""

    n: int
    """Entries of the index."""
    resident_bytes: int
    """Bytes that it will hold, as `Aggregate.info` measures them."""
    build_peak_bytes: int
    """The most bytes that its build will have allocated at once."""
    probe_bytes: dict[str, int] | None
    """Bytes that calls allocate for each of up to 2^23 probes at a time, at most, by the names of those that it is
    built for. Of a number of rows they are over any structure but `cgrx` and `rx`. None where nobody says so of the
    index."""

    def __repr__(self) -> str:
        each = f", {self.resident_bytes / self.n:.4g} a row" if self.n else ""
        return (
            f"raydex.AggregateEstimate({self.n} rows: {bytes_as_text(self.resident_bytes)}{each}; "
            f"{bytes_as_text(self.build_peak_bytes)} at the peak of its build)"
        )


def estimate_aggregate(
    index: Index | int | ColumnLike,
    values: npt.DTypeLike | ColumnLike = None,
    device: DeviceLike = None,
    *,
    sums: bool = True,
    minima: bool = True,
    maxima: bool = True,
    first_rows: bool = True,
    missing: bool | None = None,
    finite: bool = False,
    row_id_bits: Literal[32, 64] = 32,
) -> AggregateEstimate:
    """Says how many bytes an aggregate will take beside its index, by arithmetic, before anything is allocated.

        >>> import raydex
        >>> raydex.estimate_aggregate(10**8, "float64", minima=False, maxima=False, missing=False, finite=True)
        raydex.AggregateEstimate(100000000 rows: 1.412 GiB, 15.16 a row; 3.566 GiB at the peak of its build)

    Parameters
    ----------
    index
        An index, or how many rows have a key, or a column of keys, whose length counts.
    values
        Their dtype; or a column of them, whose type counts. None: there are none.
    device
        `cpu`, `cuda` or `optix`, which need not be on this machine; by default where the index or the column is.
    sums, minima, maxima, first_rows
        As of `raydex.aggregate`.
    missing
        Whether values may be missing. By default, a column says it; of a dtype they may.
    finite
        Of floating values: whether none is infinite or NaN, which takes 24 bytes a row less.
    row_id_bits
        Of row ids; 64 in any case from 2**32 - 1 rows on. An index knows it.

    Returns
    -------
    AggregateEstimate
        The figures are right to 1 % or 1 MB where what they need is known. Otherwise an aggregate takes them at most.

    Raises
    ------
    InvalidArgument, InvalidType
        For values that are neither numbers nor times, and for words that are not legal.
    Unsupported
        For an index without ranks, and for a dtype of texts.

    Cost
    ----
    Microseconds; of lists, and of columns that `raydex.build` copies, that copy.
    """
    choices = {"sums": sums, "minima": minima, "maxima": maxima, "first_rows": first_rows}
    for name, is_asked in choices.items():
        flag(name, is_asked)
    value = None
    if isinstance(values, (str, type, np.dtype)):
        source = look("values", _no_cells("values", values))
        value = _aggregates.column_of_values(source, 0).key
    elif values is not None:
        source = look_at_values(values)
        column = _aggregates.column_of_values(source, source.library.stream_for(None)[0])
        value = column.key
        missing = column.native.may_miss if missing is None else missing
    may_miss = missing is None or flag("missing", missing)
    flag("finite", finite)
    if isinstance(index, Index):
        index._check_open()
        index._check_ordered("index")
        info = index.info
        if not _knows_ranks(info):
            raise Unsupported(f"index: {info.structure} does not know the ranks of its keys; pivot_tree does")
        of_index, n, bits = info.probe_bytes, info.entries, info.row_id_bits
        backend = info.backend
        if device is not None and parse_device(device)[0] != backend:
            raise InvalidArgument(f"device: {device!r}, but the index is on {backend}")
    else:
        is_count = _is_count(index)
        source = look("index", _no_cells("dtype", "int64")) if is_count else _look("index", index)
        n = _whole("index", index) if is_count else column_of(source, source.library.stream_for(None)[0]).size
        _check_bits(row_id_bits)
        bits = row_id_bits
        backend = _backend_of(source, device, "auto")
        # Of an ordered structure, without rays.
        of_index = _raydex.estimate("sorted_array", "cpu", _raydex.Format("uint64"), n, bits == 64, True, 0, 0, {})[3]
    resident, peak, calls = _aggregates.estimated(backend, n, bits, value, may_miss, finite, choices, of_index)
    return AggregateEstimate(n, resident, peak, calls)


def _knows_ranks(info: IndexInfo) -> bool:
    in_nodes = info.options.get("node", "off") != "off" or info.options.get("primitives", "sorted") != "sorted"
    return not in_nodes and any(one.ranges for one in known() if one.name == info.structure)


def _of_minima(
    values: Column, n: int, structure: str, backend: str, extremes: Extremes | None, options: dict[str, Any]
) -> Estimate:
    if not has_order_of_numbers(values.key):
        raise InvalidType(f"{values.source.argument}: it is of {values.key}; minima are of numbers and times")
    wanted = wanted_extremes("min" if extremes is None else extremes, options)
    texts = option_texts(options, structure, estimate)
    name, resident, peak, calls = estimated(structure, backend, values.key.native, n, wanted, texts)
    return Estimate(cast(StructureName, name), n, resident, peak, calls)


def _whole(name: str, number: Any) -> int:
    """A number as the library takes it; 1e8 is one, too."""
    whole = int(number) if isinstance(number, float) and number.is_integer() else number
    try:
        whole = operator.index(whole)
    except TypeError:
        raise InvalidType(f"{name}: {number!r} is no whole number") from None
    if not 0 <= whole < 2**64:
        raise InvalidArgument(f"{name}: {number}; give a number from 0 to 2**64 - 1")
    return whole


def _is_count(column: object) -> bool:
    return isinstance(column, (int, float, np.integer)) and not isinstance(column, bool)


def _look(argument: str, column: ColumnLike) -> Source:
    source = look(argument, column)
    if source.scalar:
        raise InvalidType(f"{argument}: {column!r} is none; give a column, or how many rows it has")
    return source


def _check_bits(row_id_bits: object) -> None:
    if row_id_bits not in (32, 64):
        raise InvalidArgument(f"row_id_bits: {row_id_bits!r}; give 32 or 64")


def _backend_of(source: Source, device: DeviceLike, structure: str) -> str:
    if device is None:
        return source.library.device_for(None, structure).backend
    return parse_device(device)[0]


def _no_cells(argument: str, dtype: npt.DTypeLike) -> npt.NDArray[Any]:
    try:
        own = np.dtype(dtype)
    except TypeError as problem:
        raise InvalidType(f"{argument}: {dtype!r} is none of NumPy's; give 'int64' or its like") from problem
    if own.kind == "U" or own.itemsize == 0:
        raise Unsupported(f"{argument}: {dtype!r} is of texts, whose bytes depend on them; give 'S8' for up to 8 bytes")
    return np.empty(0, own)
