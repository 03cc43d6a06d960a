# SPDX-License-Identifier: Apache-2.0
"""Window joins: aggregates of the rows whose time is near."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, get_args, overload

import numpy as np

from raydex import _raydex
from raydex._array_libraries import HOST, as_times
from raydex._arrow import HostCells
from raydex._columns import Column, column_of, refuse_strings
from raydex._errors import InvalidArgument, InvalidType
from raydex._frames import is_series, series_like
from raydex._joins import natives
from raydex._keys import Key, format_of
from raydex._lazy import Call
from raydex._ordered_columns import by_columns, check_reach, in_one_order, keys_of, reach_of, within_64_bits
from raydex._sources import Source, look, look_at_values, same_device
from raydex._times import Order, is_between_counts
from raydex.typing import AggregateName, Closed, ColumnLike, DeviceLike, Distance, KeyColumns, StreamLike

# What each aggregate is built of.
_PARTS = {
    "sum": "sums", "mean": "sums", "count": None, "min": "minima", "max": "maxima", "first": "minima",
    "last": "minima", "argmin": "minima", "argmax": "maxima",
}  # fmt: skip
_CLOSED = get_args(Closed)


@overload
def join_window(
    build: ColumnLike, probe: ColumnLike, values: ColumnLike = ..., *, before: Distance, after: Distance = ...,
    aggregate: AggregateName = ..., by: tuple[KeyColumns, KeyColumns] | None = ..., build_by: KeyColumns = ...,
    probe_by: KeyColumns = ..., closed: Closed = ..., device: DeviceLike = ..., stream: StreamLike = ...,
) -> Any: ...
@overload
def join_window(
    build: ColumnLike, probe: ColumnLike, values: ColumnLike = ..., *, before: Distance, after: Distance = ...,
    aggregate: Sequence[AggregateName], by: tuple[KeyColumns, KeyColumns] | None = ..., build_by: KeyColumns = ...,
    probe_by: KeyColumns = ..., closed: Closed = ..., device: DeviceLike = ..., stream: StreamLike = ...,
) -> dict[str, Any]: ...
@overload
def join_window(
    build: ColumnLike, probe: ColumnLike, values: ColumnLike = ..., *, before: Distance, after: Distance = ...,
    aggregate: AggregateName | Sequence[AggregateName], by: tuple[KeyColumns, KeyColumns] | None = ...,
    build_by: KeyColumns = ..., probe_by: KeyColumns = ..., closed: Closed = ..., device: DeviceLike = ...,
    stream: StreamLike = ...,
) -> Any: ...  # fmt: skip
def join_window(
    build: ColumnLike,
    probe: ColumnLike,
    values: ColumnLike = None,
    *,
    before: Distance,
    after: Distance = 0,
    aggregate: AggregateName | Sequence[AggregateName] = "sum",
    by: tuple[KeyColumns, KeyColumns] | None = None,
    build_by: KeyColumns = None,
    probe_by: KeyColumns = None,
    closed: Closed = "both",
    device: DeviceLike = None,
    stream: StreamLike = None,
) -> Any:
    """For each probe row an aggregate of the build rows whose time lies in a window about its own, in a time that
    does not depend on how many these are.

        >>> import raydex
        >>> raydex.join_window([1, 2, 4, 7], [2, 7], [10, 20, 30, 40], before=1, after=2)
        array([60, 40])

    Parameters
    ----------
    build, probe
        Columns of times, or of other numbers, as of `join_asof`; neither need be sorted.
    values
        A column beside `build` of what is aggregated: numbers, or times for all but `sum` and `mean`. Without it
        only `count` is answered.
    before, after
        The window: the times from `probe - before` to `probe + after`. Numbers, or for times a `timedelta` or a
        text as `"90s"` or `"1h30min"`, as the `tolerance` of `join_asof`; `numpy.inf` for no end.
    aggregate
        One or several of `sum`, `mean`, `count`, `min`, `max`; `first` and `last`, by time, of equal ones by row;
        `argmin` and `argmax`, the build row of the smallest or largest value, of equal ones the first by time, then
        by row.
    build_by, probe_by, by
        Columns of a key that has to be equal, as of `join_asof`.
    closed
        Which ends belong to a window: `both`, `left`, `right`, `neither`.

    Returns
    -------
    array, or dict of arrays by name
        One result a probe row; a Series with its labels where `probe` is one, named as that of `values`. `count`,
        `argmin` and `argmax` are int64; `sum` as of `Aggregate.sum`, `mean` float64, others in the dtype of the values,
        as `Aggregate.min` gives them. Of no row a count and a sum are 0, a row -1, and a mean, or a floating value,
        NaN, a time NaT; of integers `min`, `first` and `last` are the largest number of their type, `max` the
        smallest: `count` tells. In a Series all of these are missing cells but counts and sums; integers of pandas
        become nullable ones for that.

    Raises
    ------
    InvalidArgument, InvalidType, Unsupported, OutOfMemory, CudaError
        As of `join_asof`.

    Cost
    ----
    A sort of the build rows, passes over the values in that order, two searches and a few reads a probe row; less where
    `probe` and its key are the very objects given as `build`.

    Notes
    -----
    A missing value belongs to no window, nor does a row with a missing time or key, whose own window is empty. NaN is
    missing in a Series of pandas; else it is a value, which comes after all others, and
    `numpy.ma.masked_invalid(values)` has it missing. Sums are as exact as those of `Aggregate`.
    """
    names = [aggregate] if isinstance(aggregate, str) else list(aggregate)
    _check_columns(by)
    build_by, probe_by = keys_of(by, build_by, probe_by)
    columns = (build, probe, values, build_by, probe_by)
    if not is_series(probe):
        found = window_arrays(*columns, names, before, after, closed, device, stream)
    else:
        found = window_arrays(*columns, list(dict.fromkeys([*names, "count"])), before, after, closed, device, stream)
        none, named = found["count"] == 0, values if is_series(values) else probe
        found = {
            name: series_like(probe, found[name], None if name in ("count", "sum") else none, named.name)
            for name in names
        }
    return found[names[0]] if isinstance(aggregate, str) else found


def window_arrays(
    build: Any, probe: Any, values: Any, build_by: Any, probe_by: Any, names: Sequence[AggregateName], before: Any,
    after: Any, closed: Closed, device: DeviceLike = None, stream: StreamLike = None,
) -> dict[str, Any]:  # fmt: skip
    """What `join_window` answers, of any columns in arrays."""
    for name in names:
        if name not in list(_PARTS):
            raise InvalidArgument(f"aggregate: {name!r} is none of {', '.join(_PARTS)}")
    if closed not in list(_CLOSED):
        raise InvalidArgument(f"closed: {closed!r} is none of {', '.join(_CLOSED)}")
    times, probe_times = look("build", build), look("probe", probe)
    same_device(times, probe_times)
    call = Call(times.library, device, stream)
    cells = None if values is None else _values(values, times, names, call.stream)
    if cells is None and not set(names) <= {"count"}:
        raise InvalidArgument("values: none are given; without them there is only count")
    pair = in_one_order([times, probe_times], call.stream)
    own = probe is build and probe_by is build_by
    build_key, probe_key = by_columns(times, build_by, probe_by, call.stream)
    reaches = [reach_of(name, one, pair.key) for name, one in (("before", before), ("after", after))]
    if None in reaches:
        raise InvalidType(f"before: {before!r}, and after: {after!r}; give a distance of {pair.key} each")
    closed = closed_at_counts(closed, pair.key, before, after)
    parts = {_PARTS[name] for name in names}
    side = call.device.run(
        _raydex.WindowJoin, call.device.backend, *call.context, pair.columns[0].native, natives(build_key),
        None if cells is None else cells.native, "sums" in parts, "minima" in parts, "maxima" in parts,
    )  # fmt: skip
    if pair.order is None:
        found = call.device.run(
            side.match, *call.context, pair.columns[1].native, natives(probe_key),
            *map(within_64_bits, reaches), closed, own,
        )  # fmt: skip
    else:
        ends = _ends(pair.columns[1], pair.order, reaches, closed, call.stream)
        found = call.device.run(side.match_ranges, *call.context, *natives(ends), natives(probe_key))
    size = pair.columns[1].size
    key = None if cells is None else cells.key
    return {name: _ask(call, found, name, key, size) for name in names}


def _check_columns(by: object) -> None:
    """Refuses the name of a column in place of it."""
    if isinstance(by, str):
        raise InvalidType(f"by: {by!r} is a text; give columns, as frame[{by!r}]")


def _values(values: Any, times: Source, names: Sequence[str], stream: int) -> Column:
    source = look_at_values(values)
    same_device(times, source)
    column = refuse_strings(column_of(source, stream))
    if column.key.dtype is None or column.key.dtype.kind == "S":
        raise InvalidType(f"values: they are {column.key}; aggregates are of numbers and times")
    if column.key.time is not None and not {"sum", "mean"}.isdisjoint(names):
        raise InvalidType(f"values: they are {column.key}; sums and means are of numbers")
    if column.key.time is not None and times.library.device is not None:
        raise InvalidType(f"values: they are {column.key}, on a GPU; give them as integers")
    return column


def closed_at_counts(closed: Closed, key: Key, before: Any, after: Any) -> Closed:
    """Which ends belong to windows once these are rounded down to counts of a unit: if a window ends between two
    counts, the one within it does."""
    ends = [closed in ("both", "left"), closed in ("both", "right")]
    if key.time is not None:
        for at, one in enumerate((before, after)):
            ends[at] |= is_between_counts(one, key.time)
    if ends[0]:
        return "both" if ends[1] else "left"
    return "right" if ends[1] else "neither"


def _ends(column: Column, order: Order, reaches: list[Any], closed: str, stream: int) -> list[Column]:
    """The ends of the numbers that are in the window of each probe."""
    for name, reach in zip(("before", "after"), reaches):
        check_reach(name, reach)
    before, after = reaches
    begin = order.bounds(1, -before + (closed in ("right", "neither")), "left")
    end = order.bounds(1, after - (closed in ("left", "neither")), "right")
    sources = [Source("probe", one, HOST, HostCells(one, column.kept[1])) for one in (begin, end)]
    return [column_of(one, stream) for one in sources]


def _ask(call: Call, found: _raydex.Windowed, name: str, key: Key | None, size: int) -> Any:
    def answer(name: str, dtype: str, *format_: Any) -> Any:
        out = call.library.empty(size, dtype, call.stream)
        call.device.run(getattr(found, name), *call.context, *format_, call.library.address(out))
        return out

    if name in ("count", "argmin", "argmax"):
        return answer(name, "int64")
    if name == "mean":
        return answer(name, "float64")
    assert key is not None and key.dtype is not None
    native = _raydex.Format(format_of(key))
    if name == "sum":
        return answer(name, {"u": "uint64", "i": "int64", "f": "float64"}[key.dtype.kind], native)
    if key.time is None:
        return answer(name, key.dtype.name, native)
    times = as_times(answer(name, "int64" if key.dtype.kind in "mM" else key.dtype.name, native), key.time.dtype)
    return np.where(answer("count", "int64") != 0, times, np.array("NaT", times.dtype))


@overload
def rolling(
    times: ColumnLike, values: ColumnLike = ..., *, window: Distance, aggregate: AggregateName = ...,
    by: KeyColumns = ..., closed: Closed = ..., device: DeviceLike = ..., stream: StreamLike = ...,
) -> Any: ...
@overload
def rolling(
    times: ColumnLike, values: ColumnLike = ..., *, window: Distance, aggregate: Sequence[AggregateName],
    by: KeyColumns = ..., closed: Closed = ..., device: DeviceLike = ..., stream: StreamLike = ...,
) -> dict[str, Any]: ...
@overload
def rolling(
    times: ColumnLike, values: ColumnLike = ..., *, window: Distance,
    aggregate: AggregateName | Sequence[AggregateName], by: KeyColumns = ..., closed: Closed = ...,
    device: DeviceLike = ..., stream: StreamLike = ...,
) -> Any: ...  # fmt: skip
def rolling(
    times: ColumnLike,
    values: ColumnLike = None,
    *,
    window: Distance,
    aggregate: AggregateName | Sequence[AggregateName] = "sum",
    by: KeyColumns = None,
    closed: Closed = "right",
    device: DeviceLike = None,
    stream: StreamLike = None,
) -> Any:
    """For each row an aggregate of the rows of its key in the window up to its time: `join_window` of a table with
    itself, with `before=window`. As in pandas and Polars the default leaves out rows exactly `window` before, so that a
    window of 0 has none. Rows need not be sorted; later rows of the same time belong to the window, as in
    `rolling_sum_by` of Polars; in pandas they do not. Columns are given, not a frame and names.
    """
    _check_columns(by)
    return join_window(
        times, times, values, before=window, aggregate=aggregate, closed=closed, device=device, stream=stream,
        by=None if by is None else (by, by),
    )  # fmt: skip
