# SPDX-License-Identifier: Apache-2.0
"""Joins by order: the closest time, ranges, intervals, two inequalities, among rows of equal keys."""

from __future__ import annotations

import math
import operator
from fractions import Fraction
from typing import Any, Literal, NamedTuple, overload

import numpy as np
import numpy.typing as npt

from raydex import _lists, _raydex
from raydex._arguments import flag, option_texts
from raydex._array_libraries import HOST
from raydex._arrow import DeviceCells, HostCells
from raydex._columns import Column, Source, and_validity, column_of, host_cells, look, same_device
from raydex._errors import InvalidArgument, InvalidType
from raydex._joined import Call, Joined, JoinRows, row_dtype, rows_of
from raydex._joins import Together, both_keys, check_how, natives, pair_columns, together
from raydex._keys import Key
from raydex._times import Order, distance_in, is_span, shifted, whole

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
        if key.is_void and is_span(distance):
            return 0.0  # of no cells, which are near nothing
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


def _span(distance: Any, key: Key) -> int | float:
    """One of a pair of distances."""
    if distance is None or not (key.is_number or key.time):
        raise InvalidType(f"distance: {distance!r} is no distance of {key}")
    reach = _reach("distance", distance, key)
    assert reach is not None
    if isinstance(reach, float) and key.dtype is not None and key.dtype.kind != "f":
        if not np.isinf(reach):
            raise InvalidArgument(f"distance: {reach}; of integers it must be a whole number")
        return 2**64 if reach > 0 else -(2**64)
    if reach != reach:
        raise InvalidArgument("distance: NaN is none")
    return reach


def _around(pair: Together, spans: list[Any], call: Call) -> list[Column]:
    """The ends of what is from one span before each probe to another one after it."""
    if call.library.device is not None:
        raise InvalidArgument("distance: a pair, on a GPU; give the ends of ranges as probe and probe_upper")
    before, after = spans
    key, order = pair.key, pair.order
    array, validity, _ = pair.columns[1].kept
    if order is not None:
        ends = [order.bounds(1, -before, "left"), order.bounds(1, after, "right")]
    elif array.dtype.kind == "f":
        with np.errstate(all="ignore"):
            before, after = array.dtype.type(before), array.dtype.type(after)
            ends = [array - before, array + after]
        for end, span, all_there in ((ends[0], before, -np.inf), (ends[1], after, np.inf)):
            if np.isinf(span):
                end[...] = all_there if span > 0 else -all_there
        there = ~np.isnan(array)  # which is near nothing
        validity = and_validity(there, validity)
    else:
        cells = array if key.is_number else array.view(f"i{array.itemsize}")
        (lower, low), (upper, high) = shifted(cells, -before), shifted(cells, after)
        nothing = (low > 0) | (high < 0)
        lower[nothing], upper[nothing] = np.iinfo(cells.dtype).max, np.iinfo(cells.dtype).min
        ends = [lower, upper]
    return [column_of(Source("probe", end, HOST, HostCells(end, validity)), call.stream) for end in ends]


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


def _ordered(sources: list[Source], stream: int) -> Together:
    """Columns in one type, which has an order."""
    found = together(sources, stream)
    if found.key.dtype is None:
        raise InvalidType(
            f"{sources[0].argument}: strings of any length have no order here; give ones of up to 8 bytes"
        )
    return found


@overload
def join_asof(
    build: Any, probe: Any, *, by: Any = ..., build_by: Any = ..., probe_by: Any = ..., direction: str = ...,
    allow_exact_matches: bool = ..., tolerance: Any = ..., relative_tolerance: float | None = ..., k: None = ...,
    missing_equal: bool = ..., device: Any = ..., stream: Any = ...,
) -> Any: ...
@overload
def join_asof(
    build: Any, probe: Any, *, by: Any = ..., build_by: Any = ..., probe_by: Any = ..., direction: str = ...,
    allow_exact_matches: bool = ..., tolerance: Any = ..., relative_tolerance: float | None = ..., k: int,
    missing_equal: bool = ..., device: Any = ..., stream: Any = ...,
) -> JoinRows: ...  # fmt: skip
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
    relative_tolerance: float | None = None,
    k: int | None = None,
    missing_equal: bool = False,
    device: Any = None,
    stream: Any = None,
) -> Any:
    """For each probe row the build row with the closest time, or the `k` closest ones.

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
        one of their units, as NumPy counts it. Of floating numbers as for the `distance` of `join_range`. Or a
        column of these, one a probe row; if it is missing, nothing is near enough. On a GPU its cells are integers
        for integers, and floating numbers for others.
    relative_tolerance
        The largest distance as a share of the probe: `abs(build - probe) <= relative_tolerance * abs(probe)`, as
        `20e-6` for 20 parts per million. Of integers and durations the product is exact, of floating numbers share
        and product are rounded to their type. Points in time have no such distance. Given without `tolerance`.
    k
        How many build rows are taken at most, the closest ones.
    missing_equal
        Whether a missing value of a key equals another one; else it matches nothing.

    Returns
    -------
    array of int64, or JoinRows if `k` is given
        A build row for each probe row; -1 where there is none, which is the last row if it is used as an
        index: `raydex.take(values, rows)` gives missing cells there. Of rows with that time `backward` takes
        the last one, `forward` the first one, as pandas and Polars do, and `nearest` the last one, or the
        first one if it is after the probe, as pandas does. With `k` a probe row and a build row for each that is
        taken, in the order of the probe rows, then by closeness: each further one is taken likewise among those
        that are left.

    Cost: the build of an index, one or two searches a probe row, for each further neighbour a few reads. A key costs
    little beside a time where both fit 64 bits by what they span, as days in nanoseconds and thousands of symbols do.
    Where `build` ascends, less is sorted. On a CPU nothing is where both ascend and no key of `build` is missing, if
    there are sixteen rows a key: the columns are read once, from end to end. `AsofIndex` is a build side that is kept.
    """
    build_by, probe_by = _keys_of(by, build_by, probe_by)
    asked = Asked(direction, allow_exact_matches, tolerance, relative_tolerance, k)
    missing_equal = flag("missing_equal", missing_equal)
    times, probe_times = look("build", build), look("probe", probe)
    same_device(times, probe_times)
    call = Call(times, device, stream)
    pair = _ordered([times, probe_times], call.stream)
    build_time, probe_time = pair.columns
    build_key, probe_key = _by(times, build_by, probe_by, call.stream)
    side = call.device.run(
        _raydex.AsofJoin, call.device.backend, *call.context, build_time.native, natives(build_key), missing_equal
    )
    near = asked.near(pair.key, probe_time, pair.order, call)
    size = build_time.size
    if pair.order is None:
        return asked.ask(side, call, probe_time, probe_key, near, size, [build_key, build_time])
    sides = ("backward", "forward") if direction == "nearest" else (direction,)
    candidates = [
        asked.matrix(side, call, probe_time, probe_key, size, one, asked.strict or at == 1)
        for at, one in enumerate(sides)
    ]
    rows = _nearest(candidates, pair.order, near.far)
    return rows[:, 0] if k is None else _pairs(rows)


class Near(NamedTuple):
    """The largest distance of a build row from a probe: one of these, or none of them for any distance."""

    reach: int | float | None = None
    """Of all probes."""
    share: float | None = None
    """A share of each."""
    each: Column | None = None
    """Of each."""
    far: Any = None
    """Of all or of each, in integers of Python, which have no end; -1 for none."""


class Asked:
    """What is asked of an as-of join."""

    def __init__(
        self, direction: str, allow_exact_matches: Any, tolerance: Any, relative_tolerance: Any, k: Any
    ) -> None:
        self.strict = not flag("allow_exact_matches", allow_exact_matches)
        if direction not in list(_DIRECTIONS):
            raise InvalidArgument(f"direction: {direction!r} is none of {', '.join(_DIRECTIONS)}")
        self.direction = direction
        self.tolerance = tolerance
        self.share = None if relative_tolerance is None else _share(relative_tolerance)
        if self.share is not None and tolerance is not None:
            raise InvalidArgument("relative_tolerance: it is given without tolerance")
        self.k: int | None = None
        if k is not None:
            try:
                self.k = operator.index(k)
            except TypeError:
                raise InvalidType(f"k: {k!r} is no whole number") from None
            if self.k < 1:
                raise InvalidArgument(f"k: {k}; it must be 1 or more")

    @property
    def has_distance(self) -> bool:
        """Whether distances matter."""
        return self.direction == "nearest" or self.tolerance is not None or self.share is not None

    def near(self, key: Key, probe: Column, order: Order | None, call: Call) -> Near:
        """How near build rows have to be, whose times are of a type."""
        if self.share is not None:
            if key.time is not None and key.time.kind != "m":
                raise InvalidType(f"relative_tolerance: {key} has no shares; give a tolerance")
            if order is None:
                return Near(share=self.share)
            if math.isinf(self.share):
                return Near()
            part = Fraction(self.share)
            return Near(far=np.array([math.floor(part * abs(count)) for count in order.counts(1, slice(None))], object))
        if self.tolerance is not None and not _lists.is_value(self.tolerance):
            return _reaches(self.tolerance, key, probe, order, call)
        reach = _reach("tolerance", self.tolerance, key)
        if order is None:
            return Near(reach=_within_64_bits(reach))
        _check_reach("tolerance", reach)
        return Near(far=reach)

    def _words(self, near: Near, direction: str, strict: bool, build_rows: int) -> tuple[Any, ...]:
        each = None if near.each is None else near.each.native
        return (direction, strict, near.reach, near.share, each, self._k(build_rows))

    def _k(self, build_rows: int) -> int:
        return max(1, min(self.k or 1, build_rows))

    def ask(
        self, side: _raydex.AsofJoin, call: Call, probe: Column, by: list[Column], near: Near, build_rows: int,
        kept: Any,
    ) -> Any:  # fmt: skip
        """What is returned."""
        if self.k is None:
            return self._rows(side, call, probe, by, near, build_rows, self.direction, self.strict)
        found = call.device.run(
            side.match_rows, *call.context, probe.native, natives(by),
            *self._words(near, self.direction, self.strict, build_rows), "inner",
        )  # fmt: skip
        return rows_of(Joined(found, call, "inner", "int64", build_rows, kept), False)

    def _rows(
        self, side: _raydex.AsofJoin, call: Call, probe: Column, by: list[Column], near: Near, build_rows: int,
        direction: str, strict: bool,
    ) -> Any:  # fmt: skip
        size = probe.size * self._k(build_rows)
        out = call.library.empty(size, "int64", call.stream)
        call.device.run(
            side.match, *call.context, probe.native, natives(by),
            *self._words(near, direction, strict, build_rows), call.library.address(out), size,
        )  # fmt: skip
        return out

    def matrix(
        self, side: _raydex.AsofJoin, call: Call, probe: Column, by: list[Column], build_rows: int, direction: str,
        strict: bool,
    ) -> npt.NDArray[np.int64]:  # fmt: skip
        """The rows of each probe on one side of it, however far, in host memory; -1 behind the last one."""
        rows: npt.NDArray[np.int64] = self._rows(side, call, probe, by, Near(), build_rows, direction, strict)
        return rows.reshape(-1, self._k(build_rows))


def _share(share: Any) -> float:
    try:
        part = float(share)
    except (TypeError, ValueError):
        raise InvalidType(f"relative_tolerance: {share!r} is no number") from None
    if not part >= 0:
        raise InvalidArgument(f"relative_tolerance: {share}; it must be 0 or more")
    return part


def _reaches(tolerance: Any, key: Key, probe: Column, order: Order | None, call: Call) -> Near:
    """The tolerances of probe rows, as integers without a sign or floating numbers; or of Python's, which have no
    end, with -1 for none."""
    source = look("tolerance", tolerance)
    if source.library.device != call.library.device:
        raise InvalidArgument(f"tolerance: it is not where the probe rows are, in {call.library.memory}")
    column = column_of(source, call.stream, copies=True)
    if column.size != probe.size:
        raise InvalidArgument(f"tolerance: {column.size} of them for {probe.size} probe rows")
    is_floating = key.is_number and not key.is_integer
    if key.is_void:
        return Near()
    fits = column.key.is_number if is_floating else column.key.is_integer or column.key.is_void
    if not isinstance(source.cells, HostCells):
        if not fits or column.key.is_integer == is_floating:
            raise InvalidType(f"tolerance: cells of {column.key}, on a GPU, are no distances of {key}")
        return Near(each=column)
    cells, there = host_cells(column)
    if key.time is not None and column.key.time is not None:
        own = column.key.time
        fits = own.kind == "m" and own.is_calendar == key.time.is_calendar
        counts = cells.view("i8").astype(object)
        if fits and "generic" not in (own.unit, key.time.unit):
            counts = counts * own.size // key.time.size
        cells = counts if order is not None else np.where(counts > 2**64 - 1, 2**64 - 1, counts)
    if not fits:
        raise InvalidType(f"tolerance: cells of {column.key} are no distances of {key}")
    if there is not None:
        cells = np.where(there, cells, 0)
    if (cells < 0).any() or (is_floating and np.isnan(cells).any()):
        raise InvalidArgument("tolerance: some are less than 0, or NaN; they must be 0 or more")
    if order is not None:
        return Near(far=cells.astype(object) if there is None else np.where(there, cells.astype(object), -1))
    cells = cells.astype(np.float64 if is_floating else np.uint64)
    validity = None if there is None else np.packbits(there, bitorder="little")
    return Near(each=column_of(Source("tolerance", cells, HOST, HostCells(cells, validity)), call.stream))


def _apart(one: npt.NDArray[Any], other: npt.NDArray[Any]) -> npt.NDArray[np.uint64]:
    """The differences of integers or times."""
    bits = f"u{one.itemsize}"
    difference: npt.NDArray[Any] = np.maximum(one, other).view(bits) - np.minimum(one, other).view(bits)
    return difference.astype(np.uint64)


def _nearest(candidates: list[npt.NDArray[np.int64]], order: Order, reach: Any) -> npt.NDArray[np.int64]:
    """For each probe the closest of its candidates that are near enough, as many as each side has, -1 behind the last
    one; by integers of Python if 64 bits do not hold one of them."""
    all_rows = np.concatenate(candidates, axis=1)
    taken: npt.NDArray[np.int64] = np.full(candidates[0].shape, -1, "int64")
    if not (all_rows >= 0).any():
        return taken
    most = None if reach is None else reach[:, np.newaxis] if isinstance(reach, np.ndarray) else reach
    if most is not None:  # most of what is out of reach is too far by any count
        least = _apart(order.nearest(0)[all_rows], order.nearest(1)[:, np.newaxis])
        all_rows = np.where((least <= most).astype(bool), all_rows, -1)
    is_far = ((all_rows >= 0) & ((order.far[1] != 0)[:, np.newaxis] | (order.far[0][all_rows] != 0))).any(axis=1)
    for in_python in (False, True):
        probes = np.flatnonzero(is_far == in_python)
        rows = all_rows[probes]
        there = rows >= 0
        apart: npt.NDArray[Any]
        if in_python:
            apart = abs(order.counts(0, rows) - order.counts(1, probes)[:, np.newaxis])
        else:
            apart = _apart(order.numbers[0][rows], order.numbers[1][probes][:, np.newaxis])
        if most is not None:
            there &= (apart <= (most[probes] if isinstance(most, np.ndarray) else most)).astype(bool)
        by_distance: npt.NDArray[Any] = np.argsort(apart, axis=1, kind="stable")
        far_last = np.argsort(~np.take_along_axis(there, by_distance, axis=1), axis=1, kind="stable")
        closest: npt.NDArray[Any] = np.take_along_axis(by_distance, far_last, axis=1)
        closest = closest[:, : taken.shape[1]]
        found: npt.NDArray[Any] = np.where(there, rows, -1)
        taken[probes] = np.take_along_axis(found, closest, axis=1)
    return taken


def _pairs(rows: npt.NDArray[np.int64]) -> JoinRows:
    """The rows of each probe as pairs."""
    at = np.nonzero(rows >= 0)
    return JoinRows(at[0].astype("int64"), rows[at])


@overload
def join_range(
    build: Any, probe: Any, how: str = ..., *, distance: Any = ..., compare: str | None = ...,
    build_upper: Any = ..., probe_upper: Any = ..., closed: str = ..., by: Any = ..., build_by: Any = ...,
    probe_by: Any = ..., structure: str = ..., lazy: Literal[False] = ..., dtype: Any = ..., device: Any = ...,
    stream: Any = ..., **options: Any,
) -> JoinRows: ...
@overload
def join_range(
    build: Any, probe: Any, how: str = ..., *, distance: Any = ..., compare: str | None = ...,
    build_upper: Any = ..., probe_upper: Any = ..., closed: str = ..., by: Any = ..., build_by: Any = ...,
    probe_by: Any = ..., structure: str = ..., lazy: Literal[True], dtype: Any = ..., device: Any = ...,
    stream: Any = ..., **options: Any,
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
    closed: str = "both",
    by: Any = None,
    build_by: Any = None,
    probe_by: Any = None,
    structure: str = "auto",
    lazy: bool = False,
    dtype: Any = "int64",
    device: Any = None,
    stream: Any = None,
    **options: Any,
) -> JoinRows | Joined:
    """Joins two tables by order: `distance`, `compare`, `build_upper` or `probe_upper` says how.

    Parameters
    ----------
    distance
        Band: `abs(build - probe) <= distance`, a number, or for times a `timedelta`; exactly for integers
        and times, and with the difference as the type of floating numbers rounds it. Or a pair of both sides,
        in host memory: `probe - distance[0] <= build <= probe + distance[1]`; both may be negative.
        NaN is near nothing.
    compare
        `"<"`, `"<="`, `">"` or `">="`: how the build key compares with the probe, as in
        `build < probe`.
    build_upper
        Build rows are intervals from `build` to `build_upper` that contain the probe; `closed` says which ends
        belong to them, as in `join_intervals`.
    probe_upper
        Probe rows are intervals `[probe, probe_upper]` that contain the build key.
    build_by, probe_by
        Columns of a key, as of `join`, which has to be equal, too; or `by`, a pair of both.
    build, probe, how, lazy, dtype, structure, device, stream, options
        As of `join`, of one column each; `how` is `inner`, `left`, `semi` or `anti`. Structures and options are for
        joins without `build_upper` and `by`.

    Returns
    -------
    JoinRows, or Joined if lazy
        In the order of the probe rows; those of one by build key, then by build row.

    Cost: the build of an index, two searches a probe row, a write a row of the result, which may be far larger
    than both tables: `lazy=True` writes it in parts. A key costs little, as in `join_asof`.
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
    _check_comparison(compare)
    texts = option_texts(options, structure, join_range)
    lazy, dtype = flag("lazy", lazy), row_dtype(dtype)
    build_by, probe_by = _keys_of(by, build_by, probe_by)
    if (build_upper is not None or build_by is not None) and (structure != "auto" or options):
        raise InvalidArgument(
            "structure: intervals have one of their own, and so have joins by a key; leave it and options out"
        )
    if build_upper is not None:
        return _join_ends(
            [look("build", build), look("build_upper", build_upper)], [look("probe", probe)], how, None, closed,
            "unmatched", build_by, probe_by, lazy, dtype, device, stream,
        )  # fmt: skip
    if closed != "both":
        raise InvalidArgument("closed: it goes with build_upper, whose intervals it is of")
    sources = [look("build", build), look("probe", probe)]
    if probe_upper is not None:
        sources.append(look("probe_upper", probe_upper))
    same_device(*sources)
    call = Call(sources[0], device, stream, structure)
    context, run = call.context, call.device.run
    pair = _ordered(sources, call.stream)
    columns = natives(pair.columns)
    build_key, probe_key = _by(sources[0], build_by, probe_by, call.stream)
    side: Any
    if build_by is None:
        side = run(_raydex.Join, call.device.backend, *context, columns[:1], structure, texts, False)
        keyed: list[Any] = []
    else:
        side = run(_raydex.RangeJoin, call.device.backend, *context, columns[0], natives(build_key))
        keyed = [natives(probe_key)]
    ends = pair.columns[1:]
    if distance is not None:
        if isinstance(distance, tuple) and len(distance) == 2:
            ends = _around(pair, [_span(one, pair.key) for one in distance], call)
        else:
            reach = _reach("distance", distance, pair.key)
            if pair.order is None:
                found = run(side.match_band, *context, columns[1], _within_64_bits(reach), *keyed, how)
            else:
                _check_reach("distance", reach)
                ends = _around(pair, [reach, reach], call)
    if compare is not None:
        found = run(side.match_compared, *context, columns[1], _COMPARISONS[compare], *keyed, how)
    elif len(ends) == 2:
        found = run(side.match_ranges, *context, *natives(ends), *keyed, how)
    return rows_of(Joined(found, call, how, dtype, pair.columns[0].size, build_key), lazy)


def _check_comparison(compare: str | None) -> None:
    if compare is not None and compare not in list(_COMPARISONS):
        raise InvalidArgument(f"compare: {compare!r} is none of {', '.join(_COMPARISONS)}")


_RELATIONS = {"overlaps": "overlaps", "within": "within", "encloses": "encloses", "contains": "encloses"}
_MISSING = ("unmatched", "unbounded")


def _is_pair(x: Any) -> bool:
    """Whether it is two columns, not a column of two cells."""
    return isinstance(x, (tuple, list)) and len(x) == 2 and not any(map(_lists.is_value, x))


def _pair(argument: str, x: Any, words: tuple[str, str]) -> list[Source]:
    if not _is_pair(x):
        raise InvalidArgument(f"{argument}: give a pair of columns, ({', '.join(words)})")
    return [look(f"{argument}[{at}]", one) for at, one in enumerate(x)]


def _unbounded(column: Column, is_upper: bool, stream: int) -> Column:
    """An end of intervals, with the extreme of its type if it is missing."""
    source = column.source
    if isinstance(source.cells, DeviceCells):
        if source.cells.validity:
            raise InvalidArgument(f"{source.argument}: missing ends on a GPU; fill them in")
        return column
    array, there = host_cells(column)
    if there is None:
        return column
    if array.dtype.kind == "S":
        extreme: Any = b"\xff" * array.itemsize if is_upper else b""
    elif array.dtype.kind == "f":
        extreme = np.inf if is_upper else -np.inf
    else:
        array = array.view(f"{'u' if array.dtype.kind == 'u' else 'i'}{array.itemsize}")
        extreme = np.iinfo(array.dtype).max if is_upper else np.iinfo(array.dtype).min
    filled = np.where(there, array, np.array(extreme, array.dtype))
    return column_of(Source(source.argument, filled, HOST, HostCells(filled)), stream)


def _join_ends(
    built: list[Source], probed: list[Source], how: str, relation: str | None, closed: str, missing: str,
    build_by: Any, probe_by: Any, lazy: bool, dtype: str, device: Any, stream: Any, first: bool = False,
) -> JoinRows | Joined:  # fmt: skip
    """Intervals with intervals or, of one column of the probe side, with points."""
    same_device(*built, *probed)
    call = Call(built[0], device, stream)
    context, run = call.context, call.device.run
    columns = _ordered([*built, *probed], call.stream).columns
    ends, probes = columns[:2], columns[2:]
    if missing == "unbounded":
        ends = [_unbounded(one, at == 1, call.stream) for at, one in enumerate(ends)]
        if relation is not None:
            probes = [_unbounded(one, at == 1, call.stream) for at, one in enumerate(probes)]
    build_key, probe_key = _by(built[0], build_by, probe_by, call.stream)
    side = run(
        _raydex.IntervalJoin, call.device.backend, *context, *natives(ends), natives(build_key), closed
    )
    if relation is None:
        found = run(side.match_points, *context, *natives(probes), natives(probe_key), how, first)
    else:
        found = run(side.match, *context, *natives(probes), natives(probe_key), relation, how, first)
    return rows_of(Joined(found, call, how, dtype, ends[0].size, build_key), lazy)


@overload
def join_intervals(
    build: Any, probe: Any, how: str = ..., *, relation: str | None = ..., closed: str = ..., missing: str = ...,
    matches: str = ..., by: Any = ..., build_by: Any = ..., probe_by: Any = ..., lazy: Literal[False] = ...,
    dtype: Any = ..., device: Any = ..., stream: Any = ...,
) -> JoinRows: ...
@overload
def join_intervals(
    build: Any, probe: Any, how: str = ..., *, relation: str | None = ..., closed: str = ..., missing: str = ...,
    matches: str = ..., by: Any = ..., build_by: Any = ..., probe_by: Any = ..., lazy: Literal[True], dtype: Any = ...,
    device: Any = ..., stream: Any = ...,
) -> Joined: ...  # fmt: skip
def join_intervals(
    build: Any,
    probe: Any,
    how: str = "inner",
    *,
    relation: str | None = None,
    closed: str = "both",
    missing: str = "unmatched",
    matches: str = "all",
    by: Any = None,
    build_by: Any = None,
    probe_by: Any = None,
    lazy: bool = False,
    dtype: Any = "int64",
    device: Any = None,
    stream: Any = None,
) -> JoinRows | Joined:
    """Joins intervals with intervals, or with points.

    Parameters
    ----------
    build, probe
        Pairs of columns `(lower, upper)`, of numbers, times of any unit and zone, or strings of up to 8 bytes. Or
        `probe` is one column, of points.
    relation
        How an interval of the build side lies to one of the probe side. `overlaps`, which is the default: each
        begins before the other one ends or, if both ends are closed, where it ends. `within`: it begins where
        the other one does or later, and ends where it does or before. `encloses`, or `contains`: the other way
        round. Of points it is `contains`.
    closed
        Which ends belong to the intervals of both sides: `both`, `left`, `right` or `neither`. Ends are compared, not
        counted: with open ends `(1, 2)` overlaps itself, though no integer is in it.
    missing
        What an interval is that lacks an end: `unmatched`, or `unbounded` on that side, for which the extreme of the
        type stands: the least or the largest integer or time, an infinity, of strings the empty one or bytes of
        255. An open end leaves that out, too. In host memory.
    matches
        `all`; or `first`: of each probe row only the first one in the order of the result, at the cost of one. So
        `how="left"` gives each probe row once.
    build_by, probe_by
        Columns of a key, as of `join`, which has to be equal, too; or `by`, a pair of both.
    how, lazy, dtype, device, stream
        As of `join`; `how` is `inner`, `left`, `semi` or `anti`.

    Returns
    -------
    JoinRows, or Joined if lazy
        In the order of the probe rows; those of one by lower end, `within` by upper end, then by build row.

    An interval whose lower end is above the upper one matches nothing. One of equal ends contains its point if both
    ends are closed, and none if one is open; it overlaps what it lies strictly inside. NaN comes after all other
    numbers.

    Cost: two sorts of the build side, two searches a probe row, a few reads and a write a row of the result,
    in whatever way these are spread over the probe rows.
    """
    check_how(how)
    lazy, dtype = flag("lazy", lazy), row_dtype(dtype)
    build_by, probe_by = _keys_of(by, build_by, probe_by)
    if relation is not None and relation not in list(_RELATIONS):
        raise InvalidArgument(f"relation: {relation!r} is none of {', '.join(_RELATIONS)}")
    if missing not in _MISSING:
        raise InvalidArgument(f"missing: {missing!r} is none of {', '.join(_MISSING)}")
    if matches not in ("all", "first"):
        raise InvalidArgument(f"matches: {matches!r} is none of all, first")
    built = _pair("build", build, ("lower", "upper"))
    if _is_pair(probe):
        probed = _pair("probe", probe, ("lower", "upper"))
        lies: str | None = _RELATIONS[relation or "overlaps"]
    else:
        probed, lies = [look("probe", probe)], None
        if relation not in (None, "contains", "encloses"):
            raise InvalidArgument(f"relation: {relation!r} is of intervals, and probe are points")
    return _join_ends(
        built, probed, how, lies, closed, missing, build_by, probe_by, lazy, dtype, device, stream, matches == "first"
    )


@overload
def join_where(
    build: Any, probe: Any, compare: tuple[str, str], how: str = ..., *, by: Any = ..., build_by: Any = ...,
    probe_by: Any = ..., lazy: Literal[False] = ..., dtype: Any = ..., device: Any = ..., stream: Any = ...,
) -> JoinRows: ...
@overload
def join_where(
    build: Any, probe: Any, compare: tuple[str, str], how: str = ..., *, by: Any = ..., build_by: Any = ...,
    probe_by: Any = ..., lazy: Literal[True], dtype: Any = ..., device: Any = ..., stream: Any = ...,
) -> Joined: ...  # fmt: skip
def join_where(
    build: Any,
    probe: Any,
    compare: tuple[str, str],
    how: str = "inner",
    *,
    by: Any = None,
    build_by: Any = None,
    probe_by: Any = None,
    lazy: bool = False,
    dtype: Any = "int64",
    device: Any = None,
    stream: Any = None,
) -> JoinRows | Joined:
    """Joins two tables by two inequalities: with `compare=("<", ">=")` each probe row with the build rows that have
    `build[0] < probe[0]` and `build[1] >= probe[1]`.

    Parameters
    ----------
    build, probe
        Pairs of columns, of numbers, times of any unit and zone, or strings of up to 8 bytes. Those at one place are
        compared with each other, and need not be of the type of the others.
    compare
        Two of `"<"`, `"<="`, `">"` and `">="`: how the build columns compare with the probe columns.
    build_by, probe_by
        Columns of a key, as of `join`, which has to be equal, too; or `by`, a pair of both.
    how, lazy, dtype, device, stream
        As of `join`; `how` is `inner`, `left`, `semi` or `anti`.

    Returns
    -------
    JoinRows, or Joined if lazy
        In the order of the probe rows; those of one by the first build column, descending if that is compared by
        `>` or `>=`, then by build row.

    A missing value matches nothing, NaN comes after all other numbers. Cost: as of `join_intervals`. One inequality
    is `join_range(build, probe, compare="<")`.
    """
    check_how(how)
    lazy, dtype = flag("lazy", lazy), row_dtype(dtype)
    build_by, probe_by = _keys_of(by, build_by, probe_by)
    if not isinstance(compare, (tuple, list)) or len(compare) != 2:
        raise InvalidArgument(f"compare: {compare!r} are no two comparisons, as (\"<\", \">=\")")
    for one in compare:
        _check_comparison(one)
    built, probed = _pair("build", build, ("a", "b")), _pair("probe", probe, ("x", "y"))
    same_device(*built, *probed)
    call = Call(built[0], device, stream)
    context, run = call.context, call.device.run
    pairs = [_ordered([one, other], call.stream).columns for one, other in zip(built, probed)]
    build_key, probe_key = _by(built[0], build_by, probe_by, call.stream)
    compared = [word for (column, _), one in zip(pairs, compare) for word in (column.native, _COMPARISONS[one])]
    side = run(_raydex.InequalityJoin, call.device.backend, *context, *compared, natives(build_key))
    found = run(side.match, *context, *(probes.native for _, probes in pairs), natives(probe_key), how)
    return rows_of(Joined(found, call, how, dtype, pairs[0][0].size, build_key), lazy)
