# SPDX-License-Identifier: Apache-2.0
"""As-of joins: the rows with the closest times."""

from __future__ import annotations

import math
import operator
from fractions import Fraction
from typing import Any, NamedTuple, overload

import numpy as np
import numpy.typing as npt

from raydex import _lists, _raydex
from raydex._arguments import flag
from raydex._array_libraries import HOST
from raydex._arrow import Bitmap, HostCells
from raydex._columns import Column, column_of, host_cells
from raydex._errors import InvalidArgument, InvalidType
from raydex._joined import Joined, JoinRows, rows_of
from raydex._joins import natives
from raydex._keys import Key
from raydex._lazy import Call
from raydex._ordered_columns import DIRECTIONS, by_columns, check_reach, in_one_order, keys_of, reach_of, within_64_bits
from raydex._sources import Source, look, same_device
from raydex._times import Order
from raydex.typing import (
    ColumnLike,
    DeviceLike,
    Direction,
    Distance,
    HostColumn,
    KeyColumns,
    StreamLike,
    Tensor,
)


@overload
def join_asof(
    build: Tensor, probe: ColumnLike, *, by: tuple[KeyColumns, KeyColumns] | None = ..., build_by: KeyColumns = ...,
    probe_by: KeyColumns = ..., direction: Direction = ..., allow_exact_matches: bool = ...,
    tolerance: Distance | ColumnLike = ..., relative_tolerance: float | None = ..., k: None = ...,
    missing_equal: bool = ..., device: DeviceLike = ..., stream: StreamLike = ...,
) -> Tensor: ...
@overload
def join_asof(
    build: HostColumn, probe: ColumnLike, *, by: tuple[KeyColumns, KeyColumns] | None = ...,
    build_by: KeyColumns = ..., probe_by: KeyColumns = ..., direction: Direction = ...,
    allow_exact_matches: bool = ..., tolerance: Distance | ColumnLike = ..., relative_tolerance: float | None = ...,
    k: None = ..., missing_equal: bool = ..., device: DeviceLike = ..., stream: StreamLike = ...,
) -> npt.NDArray[np.int64]: ...
@overload
def join_asof(
    build: ColumnLike, probe: ColumnLike, *, by: tuple[KeyColumns, KeyColumns] | None = ...,
    build_by: KeyColumns = ..., probe_by: KeyColumns = ..., direction: Direction = ...,
    allow_exact_matches: bool = ..., tolerance: Distance | ColumnLike = ..., relative_tolerance: float | None = ...,
    k: None = ..., missing_equal: bool = ..., device: DeviceLike = ..., stream: StreamLike = ...,
) -> Any: ...
@overload
def join_asof(
    build: ColumnLike, probe: ColumnLike, *, by: tuple[KeyColumns, KeyColumns] | None = ...,
    build_by: KeyColumns = ..., probe_by: KeyColumns = ..., direction: Direction = ...,
    allow_exact_matches: bool = ..., tolerance: Distance | ColumnLike = ..., relative_tolerance: float | None = ...,
    k: int, missing_equal: bool = ..., device: DeviceLike = ..., stream: StreamLike = ...,
) -> JoinRows: ...
@overload
def join_asof(
    build: ColumnLike, probe: ColumnLike, *, by: tuple[KeyColumns, KeyColumns] | None = ...,
    build_by: KeyColumns = ..., probe_by: KeyColumns = ..., direction: Direction = ...,
    allow_exact_matches: bool = ..., tolerance: Distance | ColumnLike = ..., relative_tolerance: float | None = ...,
    k: int | None, missing_equal: bool = ..., device: DeviceLike = ..., stream: StreamLike = ...,
) -> Any: ...  # fmt: skip
def join_asof(
    build: ColumnLike,
    probe: ColumnLike,
    *,
    by: tuple[KeyColumns, KeyColumns] | None = None,
    build_by: KeyColumns = None,
    probe_by: KeyColumns = None,
    direction: Direction = "backward",
    allow_exact_matches: bool = True,
    tolerance: Distance | ColumnLike = None,
    relative_tolerance: float | None = None,
    k: int | None = None,
    missing_equal: bool = False,
    device: DeviceLike = None,
    stream: StreamLike = None,
) -> Any:
    """For each probe row the build row with the closest time before it, or after it, or the `k` closest ones.

        >>> import raydex
        >>> raydex.join_asof([10, 20, 30], [25, 30, 5])
        array([ 1,  2, -1])

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
        The largest distance, taken exactly: a number, or for times a `timedelta`, a text as `"90s"` or
        `"1h30min"`, or a number of the finer one of their units, as NumPy counts it. Of floating numbers as for the
        `distance` of `join_range`. Or a column of numbers or spans, one a probe row; if it is missing, nothing is
        near enough. On a GPU its cells are integers for integers, and floating numbers for others.
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

    Raises
    ------
    InvalidArgument, InvalidType, Unsupported, OutOfMemory, CudaError
        As of `raydex.build`.

    Cost
    ----
    The build of an index, one or two searches a probe row, for each further neighbour a few reads. A key costs little
    beside a time where both fit 64 bits by what they span, as days in nanoseconds and thousands of symbols do. Where
    `build` ascends, less is sorted. On a CPU nothing is where both ascend and no key of `build` is missing, if there
    are sixteen rows a key: the columns are read once, from end to end. `AsofIndex` is a build side that is kept.
    """
    build_by, probe_by = keys_of(by, build_by, probe_by)
    asked = Asked(direction, allow_exact_matches, tolerance, relative_tolerance, k)
    missing_equal = flag("missing_equal", missing_equal)
    times, probe_times = look("build", build), look("probe", probe)
    same_device(times, probe_times)
    call = Call(times.library, device, stream)
    pair = in_one_order([times, probe_times], call.stream, None if asked.has_distance else [asked.role])
    if pair.key.dtype is not None and pair.key.dtype.kind == "S":
        raise InvalidType(f"build: they are texts, {pair.key}; as-of joins are by times or numbers")
    asked.take(pair.role)
    build_time, probe_time = pair.columns
    build_key, probe_key = by_columns(times, build_by, probe_by, call.stream, missing_equal)
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
        if direction not in list(DIRECTIONS):
            raise InvalidArgument(f"direction: {direction!r} is none of {', '.join(DIRECTIONS)}")
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

    @property
    def role(self) -> str:
        """What a probe time of another type or unit stands for, see `column_of`."""
        if self.has_distance:
            return "kept"
        if self.direction == "backward":
            return "below" if self.strict else "at_most"
        return "above" if self.strict else "at_least"

    def take(self, role: str) -> None:
        """Has probe times stand for others: the closest time is meant then, and a row of it."""
        if role in ("below", "above"):
            self.strict = False

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
        reach = reach_of("tolerance", self.tolerance, key)
        if order is None:
            return Near(reach=within_64_bits(reach))
        check_reach("tolerance", reach)
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
    if key.scale is not None:
        raise InvalidType(f"tolerance: {key} have none; give integers of the last digit, which have distances")
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
    validity = None if there is None else Bitmap.of(there)
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
