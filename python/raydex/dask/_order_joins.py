# SPDX-License-Identifier: Apache-2.0
"""Joins of two Dask DataFrames by order."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

import raydex
from raydex._arguments import flag
from raydex._columns import key_of, role_of
from raydex._errors import InvalidArgument, Unsupported
from raydex._joins import check_how
from raydex._keys import Key
from raydex._ordered_columns import RELATIONS
from raydex._sources import look
from raydex.dask._cells import cells_of, key_column
from raydex.dask._graphs import Graph, Partitions
from raydex.dask._joins import (
    Plan,
    both_names,
    check_sides,
    concatenated,
    dealt,
    joined,
    shuffled,
    slices_at,
    slices_of,
    small_side,
    split_sides,
)
from raydex.dask._libraries import List, Task, TaskRef, pd, tokenize
from raydex.sharded._arrays import HOST_ARRAYS, in_both
from raydex.sharded._order import (
    SAMPLE,
    SIDES,
    Asof,
    Bounds,
    Intervals,
    Kind,
    Range,
    Where,
    Window,
    equal_types,
    filled,
    pieces_of,
    plain,
    sampled,
    types_of,
)
from raydex.typing import AggregateName, Closed, Comparison, Direction, Distance, MissingEnd, OrderedHow, Relation


class _Typed(NamedTuple):
    """A column, and the type that it is compared in."""

    name: Any
    key: Key  # of no dtype: strings of any length
    role: str  # see `column_of`


class _Slice(NamedTuple):
    """What a shard gets of a partition whose rows may go to several shards."""

    frame: Any
    rows: Any  # positions in the partition
    is_first: Any  # whether it is the first shard of a row

    def __len__(self) -> int:
        return len(self.rows)


def _hashed(argument: str, column: Any) -> tuple[Any, Any]:
    """Integers for strings, which are equal where they are, and within a partition nowhere else: the closest row of a
    key is looked for by them. Which are there; None: all."""
    codes, strings = pd.factorize(column)
    hashes = pd.util.hash_array(np.asarray(strings, object), categorize=False).view("int64")
    if len(np.unique(hashes)) < len(hashes):
        raise Unsupported(f"{argument}: two strings have the same hash of 64 bits; give numbers in their place")
    if len(codes) == 0 or codes.min() >= 0:
        return (hashes[codes], None)
    return (np.append(hashes, 0)[codes], codes >= 0)


class _OrderPlan(Plan):
    """A join by order, as its tasks have to know it."""

    how: OrderedHow

    def __init__(
        self,
        kind: Kind,
        times: dict[str, list[Any]],
        by: dict[str, list[Any]],
        how: OrderedHow,
        suffixes: tuple[str, str],
        metas: dict[str, Any],
    ) -> None:
        super().__init__(by["left"], by["right"], how, suffixes, False, {})
        self.kind = kind
        self._names = times
        sources = {
            side: [[look(f"{side}[{name!r}]", metas[side][name]) for name in columns[side]] for columns in (times, by)]
            for side in SIDES
        }
        keys = [{side: [key_of(one, 0) for one in sources[side][at]] for side in SIDES} for at in (0, 1)]
        compared, equal = types_of(kind, keys[0]), equal_types(keys[1])
        self._times = {
            side: [
                _Typed(name, key, role_of(one, key, "kept"))
                for name, key, one in zip(times[side], compared[side], sources[side][0])
            ]
            for side in SIDES
        }
        self._by = {side: [_Typed(name, key, "") for name, key in zip(by[side], equal)] for side in SIDES}
        self._bounds = kind.of(compared["left"][0])
        self.right = metas["right"].iloc[:0]

    @property
    def shared(self) -> set[Any]:
        found = super().shared
        if isinstance(self.kind, Asof) and self._names["left"] == self._names["right"]:
            found.update(self._names["left"])
        return found

    def _columns(self, left: Any, right: Any) -> tuple[list[Any], list[Any], list[Any], list[Any]]:
        """What the local join takes: times and keys of both sides."""
        times, other_times, keys, other_keys = (
            [key_column(frame, one.name) for one in columns[side]]
            for columns in (self._times, self._by)
            for side, frame in (("left", left), ("right", right))
        )
        return (times, other_times, keys, other_keys)

    def join(self, left: Any, right: Any) -> Any:
        if not isinstance(self.kind, Window):
            return super().join(left, right)
        found = self.kind.match(*self._columns(left, right))
        return left.assign(**{self.called(name): cells for name, cells in found.items()})

    def called(self, aggregate: str) -> str:
        """The name of a column of aggregates."""
        return aggregate if len(self._names["right"]) == 1 else f"{self._names['right'][1]}_{aggregate}"

    def match(self, left: Any, right: Any) -> raydex.JoinRows:
        assert not isinstance(self.kind, Window)
        columns = self._columns(left, right)
        if isinstance(self.kind, Asof):
            return raydex.JoinRows(np.arange(len(left)), self.kind.match(*columns))
        with self.kind.match(*columns, self.how) as found:
            return found.rows()

    def _places(self, side: str, frame: Any) -> tuple[list[Any], Bounds, Any]:
        """The keys of a partition, its times, and which rows have them."""
        there = None
        times, by = [], []
        unbounded = isinstance(self.kind, Intervals) and self.kind.missing == "unbounded"
        for at, one in enumerate(self._times[side]):
            cells = cells_of(f"{side}[{one.name!r}]", frame[one.name], one.key, one.role)
            array = plain(cells.array)
            if unbounded and cells.there is not None and len(self._times[side]) == 2:
                array = filled(array, cells.there, at == 1)
            else:
                there = in_both(there, cells.there)
            times.append(array)
        for one in self._by[side]:
            argument = f"{side}[{one.name!r}]"
            if one.key.dtype is None:
                key, key_there = _hashed(argument, frame[one.name])
            else:
                cells = cells_of(argument, frame[one.name], one.key)
                key, key_there = HOST_ARRAYS.order(cells.array), cells.there
            there = in_both(there, key_there)
            by.append(key)
        return (by, self._bounds.bounds(side, times), there)

    def sample(self, side: str, frame: Any) -> tuple[npt.NDArray[Any], int]:
        by, bounds, there = self._places(side, frame)
        return (sampled(by, bounds[0], there, SAMPLE), len(frame) if there is None else int(there.sum()))

    def split(self, side: str, frame: Any, splitters: npt.NDArray[Any] | None, shards: int) -> list[Any]:
        by, bounds, there = self._places(side, frame)
        rows: list[Any] = [np.empty(0, np.int64)] * shards
        first = None
        if splitters is not None and len(frame):
            beside_own = self.kind.neighbours if side == "right" else ()
            routes = pieces_of(splitters, by, bounds, there, beside_own)
            rows, first = routes.split(routes.sources), routes.split(routes.lower)
        if self.meets_several("left"):
            are_first = [np.full(len(some), True) if first is None else first[at] == at for at, some in enumerate(rows)]
            frames = slices_of(frame, rows)
            return [_Slice(*one) for one in zip(frames, rows, are_first)]
        if there is not None and side == "left":
            rows = dealt(rows, np.flatnonzero(~there))
        return slices_of(frame, rows)

    def meets_several(self, side: str) -> bool:
        """Whether a row of a side is a range, which may be on several shards."""
        if isinstance(self.kind, Range):
            return self.kind.is_pair[SIDES.index(side)]
        return isinstance(self.kind, Intervals) and not (side == "left" and self.kind.of_points)

    def pairs(self, left: Any, right: Any) -> tuple[Any, Any]:
        """The pairs that a shard makes of rows that may be on several ones, and which left rows are in one."""
        sides = [(left, right)]
        if self.meets_several("right"):  # those that begin before are joined with right rows that begin here
            on, begin = (np.flatnonzero(one) for one in (~left.is_first, right.is_first))
            sides = [(_some(left, np.flatnonzero(left.is_first)), right), (_some(left, on), _some(right, begin))]
        parts = []
        assert isinstance(self.kind, (Range, Intervals))
        for one, other in sides:
            with self.kind.match(*self._columns(one.frame, other.frame)) as found:
                rows = found.rows()
            parts.append((one.rows[rows.probe], other.rows[rows.build]))
        lefts, rights = (np.concatenate([part[at] for part in parts]) for at in (0, 1))
        return (lefts, rights)


def _some(of: _Slice, rows: Any) -> _Slice:
    return _Slice(of.frame.take(rows), rows, of.is_first[rows])


def _in_one(slices: list[_Slice]) -> _Slice:
    """The rows of all partitions; their numbers are positions among them."""
    frame = concatenated([one.frame for one in slices])
    return _Slice(frame, np.arange(len(frame)), np.concatenate([one.is_first for one in slices]))


def _ranges(plan: _OrderPlan, left: list[_Slice], right: list[_Slice]) -> tuple[Any, list[Any]]:
    """What a shard has of a join: its pairs, and of each left partition which of its rows are in one."""
    one, other = _in_one(left), _in_one(right)
    lefts, rights = plan.pairs(one, other)
    matched = np.zeros(len(one.rows), bool)
    matched[lefts] = True
    pairs = None if plan.how in ("semi", "anti") else plan.gathered(one.frame, other.frame, lefts, rights)
    return (pairs, np.split(matched, np.cumsum([len(some) for some in left])[:-1]))


def _lone(plan: _OrderPlan, left: Any, slices: list[_Slice], matched: list[Any], right: Any) -> Any:
    """The rows of a left partition that a join has without a right row."""
    there = np.zeros(len(left), bool)
    for some, are in zip(slices, matched):
        there[some.rows[are]] = True
    rows = np.flatnonzero(there if plan.how == "semi" else ~there)
    return plan.gathered(left, right, rows, np.full(len(rows), -1))


def _shuffled_ranges(
    graph: Graph, token: str, name: str, plan: _OrderPlan, shards: int, sides: dict[str, Partitions]
) -> list[Any]:
    """As `shuffled`, of left rows that may be on several shards: a partition of pairs for each shard, then one of each
    left partition, of rows without a pair, or with one."""
    split_sides(graph, token, plan, shards, sides)
    keys: list[Any] = []
    for j in range(shards):
        found = (f"raydex-found-{token}", j)
        graph[found] = Task(found, _ranges, plan, *(slices_at(token, side, of, j) for side, of in sides.items()))
        if plan.how in ("inner", "left"):
            keys.append((name, len(keys)))
            graph[keys[-1]] = Task(keys[-1], operator.getitem, TaskRef(found), 0)
    if plan.how == "inner":
        return keys
    for i, key in enumerate(sides["left"].keys):
        matched = []
        for j in range(shards):
            matched.append((f"raydex-matched-{token}", i, j))
            graph[matched[-1]] = Task(matched[-1], _matched, TaskRef((f"raydex-found-{token}", j)), i)
        keys.append((name, len(keys)))
        graph[keys[-1]] = Task(
            keys[-1], _lone, plan, TaskRef(key), TaskRef((f"raydex-split-left-{token}", i)),
            List(*map(TaskRef, matched)), plan.right,
        )  # fmt: skip
    return keys


def _matched(found: tuple[Any, list[Any]], partition: int) -> Any:
    return found[1][partition]


def _joined(
    word: str, kind: Kind, left: Any, right: Any, times: tuple[list[Any], list[Any]], by: Any, left_by: Any,
    right_by: Any, how: OrderedHow, suffixes: tuple[str, str], shards: int | None, broadcast: bool | None,
) -> Any:  # fmt: skip
    equal: tuple[list[Any], list[Any]] = ([], [])
    if by is not None or left_by is not None or right_by is not None:
        equal = both_names(by, left_by, right_by, "by")
        if len(equal[0]) != len(equal[1]):
            raise InvalidArgument(f"right_by: {len(equal[1])} columns, but left_by has {len(equal[0])}")
    check_sides(left, right, [*times[0], *equal[0]], [*times[1], *equal[1]])
    metas = dict(zip(SIDES, (left._meta_nonempty, right._meta_nonempty)))
    plan = _OrderPlan(kind, dict(zip(SIDES, times)), dict(zip(SIDES, equal)), how, suffixes, metas)
    token = tokenize(word, kind, left, right, times, equal, how, suffixes, shards, broadcast)
    small = small_side(left, right, how, broadcast)
    shuffle = _shuffled_ranges if plan.meets_several("left") else shuffled
    return joined(plan, left, right, f"raydex-{word}-{token}", token, shards, small, shuffle)


def _single(said: str, names: tuple[list[Any], list[Any]]) -> tuple[list[Any], list[Any]]:
    for argument, some in zip(SIDES, names):
        if len(some) != 1:
            raise InvalidArgument(f"{argument}_{said}: {len(some)} columns; give one")
    return names


def join_asof(
    left: Any,
    right: Any,
    on: Any = None,
    *,
    left_on: Any = None,
    right_on: Any = None,
    by: Any = None,
    left_by: Any = None,
    right_by: Any = None,
    direction: Direction = "backward",
    allow_exact_matches: bool = True,
    tolerance: Distance | None = None,
    suffixes: tuple[str, str] = ("_x", "_y"),
    shards: int | None = None,
    broadcast: bool | None = None,
) -> Any:
    """Each row of a Dask DataFrame beside the row of another one with the closest time, as in `raydex.merge_asof`.

    Parameters
    ----------
    left, right
        Dask DataFrames of pandas, with any partitions, in no order.
    on, left_on, right_on
        The column of times, or of other numbers, by one name or by two.
    by, left_by, right_by
        Columns that have to be equal: a name each, or a list. Strings may be of any length.
    direction, allow_exact_matches, tolerance
        As of `raydex.join_asof`; one tolerance.
    suffixes, shards, broadcast
        As of `raydex.dask.join`.

    Returns
    -------
    dask.dataframe.DataFrame
        Lazy. The rows of `raydex.merge_asof` in another order: all left rows, with missing cells where there is no
        right row; columns of integers of the right side become float64. Partitions hold ranges of (by, time), also of
        the rows of one key, unless a side was sent to all.

    Raises
    ------
    InvalidArgument, InvalidType, Unsupported
        At once; in tasks what `raydex.join_asof` raises.

    Cost
    ----
    As of `raydex.dask.join`, and up to two more rows a right partition and shard, since the closest row may be in the
    shard beside. Rows of one key and one time are on one shard.
    """
    kind = Asof(direction, flag("allow_exact_matches", allow_exact_matches), tolerance)
    times = _single("on", both_names(on, left_on, right_on))
    return _joined(
        "join-asof", kind, left, right, times, by, left_by, right_by, "left", suffixes, shards, broadcast
    )  # fmt: skip


def join_range(
    left: Any,
    right: Any,
    on: Any = None,
    *,
    left_on: Any = None,
    right_on: Any = None,
    how: OrderedHow = "inner",
    distance: Distance | None = None,
    compare: Comparison | None = None,
    left_upper: Any = None,
    right_upper: Any = None,
    closed: Closed = "both",
    by: Any = None,
    left_by: Any = None,
    right_by: Any = None,
    suffixes: tuple[str, str] = ("_x", "_y"),
    shards: int | None = None,
    broadcast: bool | None = None,
) -> Any:
    """Joins two Dask DataFrames by order: one of `distance`, `compare`, `left_upper` and `right_upper` says how.

    Parameters
    ----------
    left, right, on, left_on, right_on, by, left_by, right_by
        As of `join_asof`.
    how, suffixes, shards, broadcast
        As of `raydex.dask.join`.
    distance, compare, closed
        As of `raydex.join_range`, whose `build` is `right`: `compare="<"` means `right < left`.
    left_upper, right_upper
        The column of the upper ends of intervals, which begin at `left_on` or `right_on`.

    Returns
    -------
    dask.dataframe.DataFrame
        Lazy; all columns of both sides, those of `by` of one name once. With `left_upper` left rows without a right
        one, and the rows of semi and anti joins, are in partitions of their own, one a left partition.

    Raises
    ------
    InvalidArgument, InvalidType, Unsupported
        As of `join_asof`.

    Cost
    ----
    As of `raydex.dask.join`; a right row goes to each shard in which it may match, and with `left_upper` a left row.
    """
    check_how(how)
    named = {"distance": distance, "compare": compare, "right_upper": right_upper, "left_upper": left_upper}
    there = [name for name, value in named.items() if value is not None]
    if len(there) != 1:
        raise InvalidArgument(f"join_range: {', '.join(there) or 'nothing'} is given; give one of {', '.join(named)}")
    kind = Range(distance, compare, closed, (left_upper is not None, right_upper is not None))
    lefts, rights = _single("on", both_names(on, left_on, right_on))
    for names, upper in ((lefts, left_upper), (rights, right_upper)):
        if upper is not None:
            names.append(upper)
    return _joined(
        "join-range", kind, left, right, (lefts, rights), by, left_by, right_by, how, suffixes, shards, broadcast
    )


def join_intervals(
    left: Any,
    right: Any,
    on: Any = None,
    *,
    left_on: Any = None,
    right_on: Any = None,
    how: OrderedHow = "inner",
    relation: Relation | None = None,
    closed: Closed = "both",
    missing: MissingEnd = "unmatched",
    by: Any = None,
    left_by: Any = None,
    right_by: Any = None,
    suffixes: tuple[str, str] = ("_x", "_y"),
    shards: int | None = None,
    broadcast: bool | None = None,
) -> Any:
    """Joins the intervals of a Dask DataFrame with the intervals, or the points, of another one.

    Parameters
    ----------
    on, left_on, right_on
        Two columns, `(lower, upper)`; as `left_on` also one, of points.
    relation, closed, missing
        As of `raydex.join_intervals`: how an interval of the right side, its `build`, lies to one of the left side.
    left, right, how, by, left_by, right_by, suffixes, shards, broadcast
        As of `join_range`.

    Returns
    -------
    dask.dataframe.DataFrame
        As of `join_range`; left rows without a right one in partitions of their own, unless they are points.

    Raises
    ------
    InvalidArgument, InvalidType, Unsupported
        As of `join_asof`.

    Cost
    ----
    As of `join_range`; an interval goes to all shards that it meets.
    """
    check_how(how)
    if relation is not None and relation not in list(RELATIONS):
        raise InvalidArgument(f"relation: {relation!r} is none of {', '.join(RELATIONS)}")
    times = both_names(on, left_on, right_on)
    if len(times[0]) not in (1, 2) or len(times[1]) != 2:
        raise InvalidArgument(
            f"right_on: {len(times[1])} columns, and left_on {len(times[0])}; intervals are two columns, points one"
        )
    kind = Intervals(relation, closed, len(times[0]) == 1, missing)
    return _joined("join-intervals", kind, left, right, times, by, left_by, right_by, how, suffixes, shards, broadcast)


def join_where(
    left: Any,
    right: Any,
    compare: tuple[Comparison, Comparison],
    on: Any = None,
    *,
    left_on: Any = None,
    right_on: Any = None,
    how: OrderedHow = "inner",
    by: Any = None,
    left_by: Any = None,
    right_by: Any = None,
    suffixes: tuple[str, str] = ("_x", "_y"),
    shards: int | None = None,
    broadcast: bool | None = None,
) -> Any:
    """Joins two Dask DataFrames by two inequalities: with `compare=("<", ">=")` rows whose first right column is less
    than the first left one, and whose second is not less than the second.

    Parameters
    ----------
    compare
        As of `raydex.join_where`, whose `build` is `right`.
    on, left_on, right_on
        Two columns.
    left, right, how, by, left_by, right_by, suffixes, shards, broadcast
        As of `join_range`.

    Returns
    -------
    dask.dataframe.DataFrame
        As of `join_range`.

    Raises
    ------
    InvalidArgument, InvalidType, Unsupported
        As of `join_asof`.

    Cost
    ----
    As of a comparison by `join_range`: a right row goes to all shards on one side of its own, by the first column.
    """
    check_how(how)
    times = both_names(on, left_on, right_on)
    if [len(one) for one in times] != [2, 2]:
        raise InvalidArgument(f"on: {len(times[0])} and {len(times[1])} columns; two inequalities are of two each")
    kind = Where(compare)
    return _joined("join-where", kind, left, right, times, by, left_by, right_by, how, suffixes, shards, broadcast)


def join_window(
    left: Any,
    right: Any,
    values: Any = None,
    on: Any = None,
    *,
    left_on: Any = None,
    right_on: Any = None,
    before: Distance,
    after: Distance = 0,
    aggregate: AggregateName | Sequence[AggregateName] = "sum",
    by: Any = None,
    left_by: Any = None,
    right_by: Any = None,
    closed: Closed = "both",
    shards: int | None = None,
    broadcast: bool | None = None,
) -> Any:
    """The rows of a Dask DataFrame, each with aggregates of the rows of another one whose time lies in a window about
    its own.

    Parameters
    ----------
    values
        A column of the right side, of numbers.
    before, after, aggregate, closed
        As of `raydex.join_window`, but for `argmin` and `argmax`: rows of Dask have no numbers.
    left, right, on, left_on, right_on, by, left_by, right_by, shards, broadcast
        As of `join_asof`.

    Returns
    -------
    dask.dataframe.DataFrame
        Lazy; all left rows in another order, with their labels, and a column more for each aggregate, as `price_sum`;
        without `values` it is `count`.

    Raises
    ------
    InvalidArgument, InvalidType, Unsupported
        As of `join_asof`.

    Cost
    ----
    As of `join_range` with a distance.
    """
    names = (aggregate,) if isinstance(aggregate, str) else tuple(dict.fromkeys(aggregate))
    for name in names:
        if name in ("argmin", "argmax"):
            raise Unsupported(f"aggregate: {name!r} is a row, and rows of Dask have no numbers")
    lefts, rights = _single("on", both_names(on, left_on, right_on))
    if values is not None:
        rights.append(values)
    kind = Window(before, after, names, closed)
    suffixes, times = ("_x", "_y"), (lefts, rights)
    return _joined("join-window", kind, left, right, times, by, left_by, right_by, "left", suffixes, shards, broadcast)
