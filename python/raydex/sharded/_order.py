# SPDX-License-Identifier: Apache-2.0
"""Joins by order over shards: which rows go where, and what a shard does with them.

The order is that of the key columns, then of the time; a shard has a range of it, also of the rows of one key. A left
row that is a point of the order goes to the shard of that, and a right row to all shards whose left rows it may match:
those that a range of the order meets, or, of closest rows, its own one and those beside it. A left row that is a range
goes to all shards that it meets. Each pair is made by one shard.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from raydex import _lists
from raydex._asof_joins import join_asof
from raydex._errors import Unsupported
from raydex._joined import Joined
from raydex._joins import _key_of_all, common_key
from raydex._keys import Key
from raydex._order_joins import join_intervals, join_range, join_where
from raydex._ordered_columns import reach_of, span_of
from raydex._windows import closed_at_counts, window_arrays
from raydex.sharded._arrays import Arrays, arrays_of
from raydex.sharded._cells import empty_source
from raydex.sharded._routing import Routes, route, sample
from raydex.typing import AggregateName, Closed, Comparison, Direction, MissingEnd, OrderedHow, Relation

_LEAST, _MOST = -(2**63), 2**63 - 1
Bounds = tuple[Any, Any]
"""The least and the greatest time of each row, as `ordered`; the second one is None for points."""
_Columns = list[Any]
SIDES = ("left", "right")
SAMPLE = 4096
"""Rows of a slice or a partition that splitters are drawn by."""


def ordered(cells: Any) -> Any:
    """Keys as int64 that have their order."""
    library = arrays_of(cells)
    return library.cast(library.order(cells), "int64")


def plain(cells: Any) -> Any:
    """Times as the integers that they are."""
    library = arrays_of(cells)
    return library.view(cells, "int64") if library.dtype(cells).kind in "mM" else cells


def moved(numbers: Any, by: int) -> Any:
    """int64 plus a number; the least or the greatest one where the sum is beyond that."""
    library = arrays_of(numbers)
    left = max(min(by, 2**64), -(2**64))
    while left:
        step = max(min(left, 2**62), -(2**62))
        left -= step
        sums = numbers + step
        beyond = sums < numbers if step > 0 else sums > numbers
        numbers = library.where(beyond, library.full(len(sums), _MOST if step > 0 else _LEAST, "int64"), sums)
    return numbers


def _everything(like: Any) -> Bounds:
    library = arrays_of(like)
    return (library.full(len(like), _LEAST, "int64"), library.full(len(like), _MOST, "int64"))


def _around(times: Any, before: int | float, after: int | float) -> Bounds:
    """From so much before each time to so much after it; of floating numbers some more, since differences are
    rounded."""
    library = arrays_of(times)
    if library.dtype(times).kind != "f":
        numbers = ordered(times)
        steps = [int(max(min(one, 2**64), -(2**64))) for one in (before, after)]  # of infinity, too
        return (moved(numbers, -steps[0]), moved(numbers, steps[1]))
    dtype = library.dtype(times)
    own = library.cast(times, "float64")
    ends = []
    with np.errstate(all="ignore"):
        for sign, by, beyond in ((-1, float(before), _LEAST), (1, float(after), _MOST)):
            room = (abs(own) + abs(by)) * (8 * float(np.finfo(dtype).eps))
            end = own + sign * by + sign * room
            found = ordered(library.cast(end, dtype))
            ends.append(library.where(end - end == 0, found, library.full(len(found), beyond, "int64")))
    return (ends[0], ends[1])


def filled(cells: Any, there: Any, is_upper: bool) -> Any:
    """An end of intervals that has no bound if it is missing: the extreme of its type."""
    library = arrays_of(cells)
    dtype = library.dtype(cells)
    if dtype.kind == "S":
        extreme: Any = b"\xff" * dtype.itemsize if is_upper else b""
    elif dtype.kind == "f":
        extreme = np.inf if is_upper else -np.inf
    else:
        extreme = np.iinfo(dtype).max if is_upper else np.iinfo(dtype).min
    return library.where(there, cells, np.array(extreme, dtype))


def _by(left: _Columns, right: _Columns) -> dict[str, Any]:
    return {"build_by": right, "probe_by": left} if left else {}


@dataclass(frozen=True)
class Asof:
    """A right row for each left row."""

    direction: Direction
    allow_exact_matches: bool
    tolerance: Any

    @property
    def neighbours(self) -> tuple[str, ...]:
        """Of which sides a shard needs the closest right row: there the answer is where it has none itself."""
        found = {"backward": ("before",), "forward": ("after",)}
        return found.get(self.direction, ("before", "after"))

    def of(self, key: Key) -> Asof:
        """With the tolerance as a number of what is compared."""
        if self.tolerance is not None and not _lists.is_value(self.tolerance):
            raise Unsupported("tolerance: a column of them; over shards it is one number, or one timedelta")
        return replace(self, tolerance=reach_of("tolerance", self.tolerance, key))

    def bounds(self, side: str, times: _Columns) -> Bounds:
        return (ordered(times[0]), None)

    def match(self, left: _Columns, right: _Columns, left_by: _Columns, right_by: _Columns) -> Any:
        """The position of a right row for each left one, -1 for none."""
        return join_asof(
            right[0], left[0], direction=self.direction, allow_exact_matches=self.allow_exact_matches,
            tolerance=self.tolerance, **_by(left_by, right_by),
        )  # fmt: skip


@dataclass(frozen=True)
class Range:
    """By a distance, a comparison, or ranges of one side."""

    distance: Any = None
    compare: Comparison | None = None
    closed: Closed = "both"
    is_pair: tuple[bool, bool] = (False, False)  # whether left and right rows are ranges

    neighbours = ()

    def of(self, key: Key) -> Range:
        if isinstance(self.distance, tuple) and len(self.distance) == 2:
            return replace(self, distance=tuple(span_of(one, key) for one in self.distance))
        return replace(self, distance=reach_of("distance", self.distance, key))

    def bounds(self, side: str, times: _Columns) -> Bounds:
        if self.is_pair[SIDES.index(side)]:
            return (ordered(times[0]), ordered(times[1]))
        if side == "right" and self.compare is not None:
            return _compared(self.compare, times[0])
        if side == "right" and self.distance is not None:
            before, after = self.distance if isinstance(self.distance, tuple) else (self.distance, self.distance)
            return _around(times[0], after, before)
        return (ordered(times[0]), None)

    def match(
        self, left: _Columns, right: _Columns, left_by: _Columns, right_by: _Columns, how: OrderedHow = "inner"
    ) -> Joined:
        lie: dict[str, Any] = {"distance": self.distance, "compare": self.compare, "closed": self.closed}
        for name, side, is_pair in zip(("probe", "build"), (left, right), self.is_pair):
            if is_pair:
                lie[f"{name}_upper"] = side[1]
        found: Joined = join_range(right[0], left[0], how, lazy=True, **lie, **_by(left_by, right_by))
        return found


def _compared(compare: str, times: Any) -> Bounds:
    """The left times that a right one may compare with so; with equal ones in any case."""
    least, most = _everything(times)
    found = ordered(times)
    return (found, most) if compare in ("<", "<=", "less", "less_equal") else (least, found)


@dataclass(frozen=True)
class Intervals:
    """Right intervals with left intervals, or with points."""

    relation: Relation | None
    closed: Closed
    of_points: bool
    missing: MissingEnd = "unmatched"

    neighbours = ()

    def of(self, key: Key) -> Intervals:
        return self

    def bounds(self, side: str, times: _Columns) -> Bounds:
        upper = None if side == "left" and self.of_points else ordered(times[1])
        return (ordered(times[0]), upper)

    def match(
        self, left: _Columns, right: _Columns, left_by: _Columns, right_by: _Columns, how: OrderedHow = "inner"
    ) -> Joined:
        probe = left[0] if self.of_points else (left[0], left[1])
        found: Joined = join_intervals(
            (right[0], right[1]), probe, how, relation=self.relation, closed=self.closed,
            missing=self.missing, lazy=True,
            **_by(left_by, right_by),
        )  # fmt: skip
        return found


@dataclass(frozen=True)
class Where:
    """By two inequalities; the first one says where rows go."""

    compare: Any

    neighbours = ()

    def of(self, key: Key) -> Where:
        return self

    def bounds(self, side: str, times: _Columns) -> Bounds:
        return (ordered(times[0]), None) if side == "left" else _compared(self.compare[0], times[0])

    def match(
        self, left: _Columns, right: _Columns, left_by: _Columns, right_by: _Columns, how: OrderedHow = "inner"
    ) -> Joined:
        found: Joined = join_where(
            (right[0], right[1]), (left[0], left[1]), self.compare, how, lazy=True, **_by(left_by, right_by)
        )
        return found


@dataclass(frozen=True)
class Window:
    """Aggregates of the right rows about each left one; the values, if there are any, are beside the right times."""

    before: Any
    after: Any
    aggregates: tuple[AggregateName, ...]
    closed: Closed

    neighbours = ()

    def of(self, key: Key) -> Window:
        before, after = (reach_of(name, one, key) for name, one in (("before", self.before), ("after", self.after)))
        closed = closed_at_counts(self.closed, key, self.before, self.after)
        return replace(self, before=before, after=after, closed=closed)

    def bounds(self, side: str, times: _Columns) -> Bounds:
        return (ordered(times[0]), None) if side == "left" else _around(times[0], self.after, self.before)

    def match(self, left: _Columns, right: _Columns, left_by: _Columns, right_by: _Columns) -> dict[str, Any]:
        """Each aggregate of each left row."""
        values = right[1] if len(right) > 1 else None
        keys = _by(left_by, right_by)
        return window_arrays(
            right[0], left[0], values, keys.get("build_by"), keys.get("probe_by"), self.aggregates, self.before,
            self.after, self.closed,
        )  # fmt: skip


Kind = Asof | Range | Intervals | Where | Window


def types_of(kind: Kind, keys: dict[str, list[Key]]) -> dict[str, list[Key]]:
    """The types that columns are compared in: all in one, or of two inequalities each pair."""
    sources = {side: [empty_source(side, one) for one in keys[side]] for side in ("right", "left")}
    if isinstance(kind, Where):
        each = [common_key(right, left, 0) for right, left in zip(sources["right"], sources["left"])]
        found = {"left": each, "right": each}
    elif isinstance(kind, Window):
        key = common_key(sources["right"][0], sources["left"][0], 0)
        found = {"left": [key], "right": [key, *keys["right"][1:]]}
        if any(not one.is_number for one in found["right"][1:]):
            raise Unsupported(f"values: they are {found['right'][1]}; over shards they are numbers")
    else:
        key = _key_of_all([*sources["right"], *sources["left"]], 0)
        found = {side: [key] * len(keys[side]) for side in SIDES}
    for side in SIDES:
        if any(one.dtype is None for one in found[side]):
            raise Unsupported(f"{side}: strings of any length have no order here; give ones of up to 8 bytes, or codes")
    return found


def equal_types(keys: dict[str, list[Key]]) -> list[Key]:
    """The types in which the key columns of both sides are equal."""
    return [
        common_key(empty_source("right", right), empty_source("left", left), 0)
        for left, right in zip(keys["left"], keys["right"])
    ]


def tuples(columns: Sequence[npt.NDArray[np.int64]]) -> npt.NDArray[Any]:
    """Columns of int64 as one of tuples, which NumPy sorts by the first one, then by the second one."""
    found = np.empty(len(columns[0]), [(str(at), "i8") for at in range(len(columns))])
    for at, column in enumerate(columns):
        found[str(at)] = column
    return found


def sampled(by: _Columns, times: Any, there: Any, size: int) -> npt.NDArray[Any]:
    """Places in the order, drawn as `sample` does, which draws the same rows of columns of one length."""
    return tuples([sample(one, there, size) for one in [*map(ordered, by), times]])


def owners(splitters: npt.NDArray[Any], by: _Columns, times: Any) -> Any:
    """How many of the ascending splitters, which are tuples, are not greater than each row. Cost: a comparison of
    each column for each doubling of the splitters."""
    library = arrays_of(times)
    columns = [*map(ordered, by), times]
    cuts = [library.from_host(np.ascontiguousarray(splitters[name])) for name in splitters.dtype.names or ()]
    low = library.full(len(times), 0, "int64")
    high = library.full(len(times), len(splitters), "int64")
    for _ in range(len(splitters).bit_length()):
        middle = (low + high) >> 1
        at = library.where(middle < len(splitters), middle, middle - 1)
        not_greater: Any = True
        for cells, cut in zip(reversed(columns), reversed(cuts)):
            other = library.take(cut, at)
            not_greater = (other < cells) | ((other == cells) & not_greater)
        searched = low < high
        low = library.where(searched & not_greater, middle + 1, low)
        high = library.where(searched & ~not_greater, middle, high)
    return library.cast(low, "int32")


def pieces_of(
    splitters: npt.NDArray[Any], by: _Columns, bounds: Bounds, there: Any, neighbours: Sequence[str] = ()
) -> Routes:
    """The shards that each row goes to, as of `route`; `lower` is the first one of a row.

    `neighbours`: for which shards beside a row's own it may be the closest row, `before` them or `after` them."""
    lower, upper = bounds
    first = owners(splitters, by, lower)
    last = None if upper is None else owners(splitters, by, upper)
    numbers = np.arange(1, len(splitters) + 1, dtype="int32")
    routes = route(first, last, numbers, there)
    if not neighbours or len(splitters) == 0:
        return routes
    library = arrays_of(lower)
    columns = [*map(ordered, by), lower]
    groups = routes.split(routes.sources)
    added: list[list[Any]] = [[] for _ in groups]
    for name in neighbours:
        nearest: Any = None  # of the groups so far, the last row in the order, or the first one
        places = range(len(groups)) if name == "before" else range(len(groups))[::-1]
        for at in places:
            if nearest is not None:
                added[at].append(nearest)
            if len(groups[at]):
                nearest = _end_of(library, columns, groups[at], name == "before")
    return replace(
        routes,
        counts=np.array([len(one) + len(more) for one, more in zip(groups, added)], "int64"),
        sources=library.concatenate([some for one, more in zip(groups, added) for some in (one, *more)]),
        all_there=False, divided=None,
    )  # fmt: skip


def _end_of(library: Arrays, columns: _Columns, rows: Any, is_last: bool) -> Any:
    """Of some ascending rows the last one in the order, of equal ones the last row; or the first one; an array."""
    for column in columns:
        cells = library.take(column, rows)
        rows = library.take(rows, library.nonzero(cells == (cells.max() if is_last else cells.min())))
    return rows[-1:] if is_last else rows[:1]
