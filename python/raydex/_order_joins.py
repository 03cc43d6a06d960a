# SPDX-License-Identifier: Apache-2.0
"""Joins by order: the closest time, ranges, intervals, two inequalities, among rows of equal keys."""

from __future__ import annotations

from typing import Any, Literal, overload

import numpy as np

from raydex import _raydex
from raydex._arguments import flag, option_texts
from raydex._array_libraries import HOST
from raydex._arrow import HostCells, StringCells
from raydex._columns import Column, Source, column_of, look, refuse_strings, same_device
from raydex._errors import InvalidArgument, InvalidType
from raydex._joined import Call, Joined, JoinRows, row_dtype, rows_of
from raydex._joins import both_keys, check_how, natives, pair_columns, together
from raydex._keys import Key
from raydex._times import Order, distance_in, whole

_DIRECTIONS = ("backward", "forward", "nearest")
_COMPARISONS = {
    "<": "less", "<=": "less_equal", ">": "greater", ">=": "greater_equal",
    "less": "less", "less_equal": "less_equal", "greater": "greater", "greater_equal": "greater_equal",
}  # fmt: skip


def _reach(argument: str, distance: Any, key: Key) -> int | float | None:
    """A distance as the library takes it: a whole number of integers and times, exactly."""
    if distance is None:
        return None
    try:
        if key.time is not None:
            reach: int | float = distance_in(distance, key.time)
        else:
            reach = whole(distance) if key.is_integer else float(distance)
    except (TypeError, ValueError):
        raise InvalidType(f"{argument}: {distance!r} is no distance of {key}") from None
    return reach


def _within_64_bits(reach: int | float | None) -> int | float | None:
    """The same for the library, whose keys of 64 bits are no farther apart."""
    return min(reach, 2**64 - 1) if isinstance(reach, int) else reach


def _check_reach(argument: str, reach: int | float | None) -> None:
    """As the library does, for what is not asked of it."""
    if reach is not None and not reach >= 0:
        raise InvalidArgument(f"{argument}: {reach}; it must be 0 or more")
    if isinstance(reach, float) and reach < np.inf and not reach.is_integer():
        raise InvalidArgument(f"{argument}: {reach}; of integers it must be a whole number")


def _band(column: Column, order: Order, reach: int | float, stream: int) -> list[Column]:
    """The ends of the numbers that are near each probe."""
    _check_reach("distance", reach)
    probes = order.counts(1)
    ends = [order.positions(probes - reach, "left"), order.positions(probes + reach, "right") - 1]
    sources = [Source("probe", end, HOST, HostCells(end, column.kept[1])) for end in ends]
    return [column_of(one, stream) for one in sources]


def _keys_of(by: Any, build_by: Any, probe_by: Any) -> tuple[Any, Any]:
    """The keys of both sides, however they are given."""
    if by is not None:
        if build_by is not None or probe_by is not None or not isinstance(by, tuple) or len(by) != 2:
            raise InvalidArgument("by: give (build_by, probe_by), or these two by name")
        return by
    if (build_by is None) != (probe_by is None):
        raise InvalidArgument("build_by: it is given with probe_by, or neither is")
    return (build_by, probe_by)


def _by(beside: Source, build_by: Any, probe_by: Any, stream: int) -> tuple[list[Column], list[Column]]:
    """The columns of the keys of both sides; none if there is no key."""
    if build_by is None:
        return ([], [])
    built, probed = pair_columns(build_by, probe_by)
    same_device(beside, *built)
    return both_keys(built, probed, stream)


def join_asof(
    build: Any,
    probe: Any,
    *,
    by: Any = None,
    build_by: Any = None,
    probe_by: Any = None,
    direction: str = "backward",
    allow_exact_matches: bool = True,
    tolerance: Any = None,
    device: Any = None,
    stream: Any = None,
) -> Any:
    """For each probe row the build row with the closest time.

    Parameters
    ----------
    build, probe
        Columns of times, or of other numbers; neither need be sorted.
    build_by, probe_by
        Columns of a key, as of `join`, which has to be equal; or `by`, a pair of both.
    direction
        `backward`: the last time that is not after the probe's. `forward`: the first that is not before
        it. `nearest`: the closer one of the two, of equally close ones that before.
    allow_exact_matches
        Whether a row of the same time is taken, as in `pandas.merge_asof`.
    tolerance
        The largest distance, taken exactly: a number, or for times a `timedelta`, or a number of the finer
        one of their units, as NumPy counts it. Of floating numbers as for the `distance` of `join_range`.

    Returns
    -------
    array of int64
        A build row for each probe row; -1 where there is none, which is the last row if it is used as an
        index: `raydex.take(values, rows)` gives missing cells there. Of rows with that time `backward` takes
        the last one, `forward` the first one, as pandas and Polars do, and `nearest` the last one, or the
        first one if it is after the probe, as pandas does.

    Cost: the build of an index, one or two searches a probe row. A key costs little beside a time where both
    fit 64 bits by what they span, as days in nanoseconds and thousands of symbols do. Where `build` ascends,
    less is sorted.
    """
    build_by, probe_by = _keys_of(by, build_by, probe_by)
    allow_exact_matches = flag("allow_exact_matches", allow_exact_matches)
    if direction not in list(_DIRECTIONS):
        raise InvalidArgument(f"direction: {direction!r} is none of {', '.join(_DIRECTIONS)}")
    times, probe_times = look("build", build), look("probe", probe)
    same_device(times, probe_times)
    call = Call(times, device, stream)
    pair = together([times, probe_times], call.stream)
    build_time, probe_time = pair.columns
    refuse_strings(build_time)
    build_key, probe_key = _by(times, build_by, probe_by, call.stream)
    reach = _reach("tolerance", tolerance, pair.key)
    side = call.device.run(
        _raydex.AsofJoin, call.device.backend, *call.context, build_time.native, natives(build_key)
    )
    size = probe_time.size

    def closest(towards: str, within: int | float | None) -> Any:
        out = call.library.empty(size, "int64", call.stream)
        call.device.run(
            side.match, *call.context, probe_time.native, natives(probe_key), towards, not allow_exact_matches,
            _within_64_bits(within), call.library.address(out), size,
        )  # fmt: skip
        return out

    if pair.order is None or (reach is None and direction != "nearest"):
        return closest(direction, reach)
    _check_reach("tolerance", reach)
    sides = ("backward", "forward") if direction == "nearest" else (direction,)
    return _nearest([closest(one, None) for one in sides], pair.order, reach)


def _nearest(candidates: list[Any], order: Order, reach: int | float | None) -> Any:
    """For each probe the closest of its candidates that is near enough, by integers of Python."""
    build, probe = order.counts(0), order.counts(1)
    taken, nearest = np.full(len(probe), -1, "int64"), np.zeros(len(probe), object)
    for rows in candidates:
        at = np.flatnonzero(rows >= 0)
        apart = abs(build[rows[at]] - probe[at])
        closer = (taken[at] < 0) | (apart < nearest[at])
        if reach is not None:
            closer &= apart <= reach
        at, apart = at[closer], apart[closer]
        taken[at], nearest[at] = rows[at], apart
    return taken


@overload
def join_range(
    build: Any, probe: Any, how: str = ..., *, distance: Any = ..., compare: str | None = ...,
    build_upper: Any = ..., probe_upper: Any = ..., structure: str = ..., lazy: Literal[False] = ..., dtype: Any = ...,
    device: Any = ..., stream: Any = ..., **options: Any,
) -> JoinRows: ...
@overload
def join_range(
    build: Any, probe: Any, how: str = ..., *, distance: Any = ..., compare: str | None = ...,
    build_upper: Any = ..., probe_upper: Any = ..., structure: str = ..., lazy: Literal[True], dtype: Any = ...,
    device: Any = ..., stream: Any = ..., **options: Any,
) -> Joined: ...  # fmt: skip
def join_range(
    build: Any,
    probe: Any,
    how: str = "inner",
    *,
    distance: Any = None,
    compare: str | None = None,
    build_upper: Any = None,
    probe_upper: Any = None,
    structure: str = "auto",
    lazy: bool = False,
    dtype: Any = "int64",
    device: Any = None,
    stream: Any = None,
    **options: Any,
) -> JoinRows | Joined:
    """Joins two tables by order: one of these says how.

    Parameters
    ----------
    distance
        Band: `abs(build - probe) <= distance`, a number, or for times a `timedelta`; exactly for integers
        and times, and with the difference as the type of floating numbers rounds it.
    compare
        `"<"`, `"<="`, `">"` or `">="`: how the build key compares with the probe, as in
        `build < probe`.
    build_upper
        Build rows are intervals `[build, build_upper]`, both ends included, that contain the probe.
    probe_upper
        Probe rows are intervals `[probe, probe_upper]` that contain the build key.
    build, probe, how, lazy, dtype, structure, device, stream, options
        As of `join`, of one column each.

    Returns
    -------
    JoinRows, or Joined if lazy
        In the order of the probe rows; those of one by build key, then by build row.

    Cost: the build of an index (two with `build_upper`), two searches a probe row, a write a row of the
    result, which may be far larger than both tables.
    """
    check_how(how)
    named = [
        name
        for name, value in (
            ("distance", distance), ("compare", compare), ("build_upper", build_upper),
            ("probe_upper", probe_upper),
        )
        if value is not None
    ]  # fmt: skip
    if len(named) != 1:
        raise InvalidArgument(
            f"join_range: {', '.join(named) or 'nothing'} is given; give one of distance, compare, "
            "build_upper and probe_upper"
        )
    if compare is not None and compare not in list(_COMPARISONS):
        raise InvalidArgument(f"compare: {compare!r} is none of {', '.join(_COMPARISONS)}")
    texts = option_texts(options, structure, join_range)
    lazy, dtype = flag("lazy", lazy), row_dtype(dtype)
    sources = [look("build", build), look("probe", probe)]
    if build_upper is not None:
        sources.append(look("build_upper", build_upper))
    if probe_upper is not None:
        sources.append(look("probe_upper", probe_upper))
    same_device(*sources)
    call = Call(sources[0], device, stream, structure)
    context, run = call.context, call.device.run
    if any(isinstance(one.cells, StringCells) for one in sources):
        raise InvalidType("build: strings of any length have no order here; give ones of up to 8 bytes")
    pair = together(sources, call.stream)
    columns = natives(pair.columns)
    if build_upper is not None:
        if structure != "auto" or options:
            raise InvalidArgument("structure: intervals have one of their own; leave it and options out")
        intervals = run(_raydex.IntervalJoin, call.device.backend, *context, columns[0], columns[2])
        found = run(intervals.match, *context, columns[1], how)
    else:
        side = run(_raydex.Join, call.device.backend, *context, columns[:1], structure, texts, False)
        if probe_upper is not None:
            found = run(side.match_ranges, *context, columns[1], columns[2], how)
        elif distance is not None:
            reach = _reach("distance", distance, pair.key)
            assert reach is not None
            if pair.order is None:
                found = run(side.match_band, *context, columns[1], _within_64_bits(reach), how)
            else:
                ends = _band(pair.columns[1], pair.order, reach, call.stream)  # which keep what is read
                found = run(side.match_ranges, *context, *natives(ends), how)
        else:
            assert compare is not None
            found = run(side.match_compared, *context, columns[1], _COMPARISONS[compare], how)
    return rows_of(Joined(found, call, how, dtype, pair.columns[0].size, None), lazy)
