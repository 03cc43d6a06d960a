# SPDX-License-Identifier: Apache-2.0
"""Joins by order of tables that are divided among processes, a slice each."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, overload

from raydex import _lists
from raydex._arguments import flag
from raydex._errors import InvalidArgument
from raydex._joins import check_how, pair_columns
from raydex._ordered_columns import DIRECTIONS, MISSING, RELATIONS, check_comparison, is_pair, pair_of
from raydex._sources import Source, look
from raydex.sharded._exchange import Company, Exchange
from raydex.sharded._joins import JoinPairs, rows_or_none
from raydex.sharded._order import (
    Asof,
    Intervals,
    Range,
    Where,
    Window,
)
from raydex.sharded._order_call import OrderCall, Sides, pairs, together, windows
from raydex.typing import (
    AggregateName,
    Closed,
    ColumnLike,
    Comparison,
    Direction,
    Distance,
    ExchangeName,
    KeyColumns,
    MissingEnd,
    OrderedHow,
    Pair,
    Relation,
)


def _keys(by: Any, left_by: Any, right_by: Any) -> dict[str, list[Source]]:
    """The key columns of both sides, however they are given."""
    if by is not None:
        if left_by is not None or right_by is not None or not isinstance(by, tuple) or len(by) != 2:
            raise InvalidArgument("by: give (left_by, right_by), or these two by name")
        left_by, right_by = by
    if (left_by is None) != (right_by is None):
        raise InvalidArgument("left_by: it is given with right_by, or neither is")
    if left_by is None:
        return {"left": [], "right": []}
    right, left = pair_columns(right_by, left_by)
    return {"left": left, "right": right}


def _said(distance: Any) -> str:
    """A distance as a word that all processes say; a column, which is refused, is another one on each."""
    is_one = distance is None or isinstance(distance, tuple) or _lists.is_value(distance)
    return repr(distance) if is_one else "a column"


def _column(argument: str, x: Any) -> Source:
    source = look(argument, x)
    if source.scalar:
        raise InvalidArgument(f"{argument}: {x!r} is a single number; give a column, as [x]")
    return source


def join_asof(
    left: ColumnLike,
    right: ColumnLike,
    *,
    by: tuple[KeyColumns, KeyColumns] | None = None,
    left_by: KeyColumns = None,
    right_by: KeyColumns = None,
    direction: Direction = "backward",
    allow_exact_matches: bool = True,
    tolerance: Distance | None = None,
    exchange: ExchangeName | None = None,
    group: Any = None,
    devices: Sequence[Any] | None = None,
    engine: Exchange | None = None,
    timeout: float = 300.0,
) -> Any:
    """For each row of this process's slice of the left table the right row with the closest time, wherever it is. A
    collective call.

        >>> import raydex.sharded
        >>> raydex.sharded.join_asof([4, 6, 0], [1, 5, 9], devices=["cpu", "cpu"])
        array([ 0,  1, -1])

    Parameters
    ----------
    left, right
        This process's slices of two columns of times, or of other numbers, in no order; a slice may be empty. `left`
        is what `raydex.join_asof` calls `probe`, `right` what it calls `build`.
    left_by, right_by
        Columns of a key, as of `raydex.sharded.join`, which has to be equal; or `by`, a pair of both.
    direction, allow_exact_matches
        As of `raydex.join_asof`.
    tolerance
        Likewise, one number or `timedelta`.
    exchange
        `shuffle`: rows of both tables go to shards, which are ranges of (keys, time). `broadcast`: the right table goes
        to all processes, and left rows stay where they are. By default what sends fewer rows.
    group, devices, engine, timeout
        As of `raydex.sharded.build`. For many joins make one engine, `TorchExchange(group)`.

    Returns
    -------
    array of int64
        A right row, numbered over all slices, for each left row of this process; -1 where there is none. Of rows of
        equal times the one that `raydex.join_asof` takes.

    Raises
    ------
    ShardError, ExchangeError
        If another process fails, or does not answer; and what `raydex.join_asof` raises.

    Cost
    ----
    Times, keys and rows are sent, and a row comes back; a local join. With `shuffle` rows of one key are on all shards
    if they are many, but those of one key and one time on one; a process also sends a shard up to two right rows from
    beside it, where the answer may be.

    Notes
    -----
    Times of several units are compared in the finest one, and refused if it does not hold them.
    """

    def work(company: Company, words: tuple[Any, ...]) -> Any:
        call = OrderCall(company, words, Asof(direction, allow_exact_matches, tolerance), exchange)

        def sides() -> Sides:
            flag("allow_exact_matches", allow_exact_matches)
            if direction not in list(DIRECTIONS):
                raise InvalidArgument(f"direction: {direction!r} is none of {', '.join(DIRECTIONS)}")
            keys = _keys(by, left_by, right_by)
            return Sides({"left": [_column("left", left)], "right": [_column("right", right)]}, keys)

        tables = call.run(sides)

        def match(report: dict[str, Any]) -> list[Any]:
            return [
                rows_or_none(two.rows, call.kind.match(one.times, two.times, one.by, two.by))
                for one, two in tables.shards
            ]

        rows, _ = company.agree((*words, "matched"), match)
        return call.back(tables, rows, "single")

    words = ("join_asof", direction, str(allow_exact_matches), _said(tolerance), exchange)
    return together(words, group, devices, engine, timeout, work)


def join_range(
    left: ColumnLike,
    right: ColumnLike,
    how: OrderedHow = "inner",
    *,
    distance: Distance | None = None,
    compare: Comparison | None = None,
    left_upper: ColumnLike = None,
    right_upper: ColumnLike = None,
    closed: Closed = "both",
    by: tuple[KeyColumns, KeyColumns] | None = None,
    left_by: KeyColumns = None,
    right_by: KeyColumns = None,
    exchange: ExchangeName | None = None,
    group: Any = None,
    devices: Sequence[Any] | None = None,
    engine: Exchange | None = None,
    timeout: float = 300.0,
) -> JoinPairs:
    """Joins two tables by order: by one of `distance`, `compare`, `right_upper` and `left_upper`. A collective call.

    Parameters
    ----------
    left, right
        This process's slices of two columns, as of `join_asof`.
    how
        As of `raydex.sharded.join`.
    distance, compare
        As of `raydex.join_range`: `right` is its `build`, so that `compare="<"` means `right < left`.
    right_upper, closed
        Right rows are intervals from `right` to `right_upper` that contain `left`, as with its `build_upper`.
    left_upper
        Left rows are intervals `[left, left_upper]` that contain `right`.
    left_by, right_by, by, exchange, group, devices, engine, timeout
        As of `join_asof`.

    Returns
    -------
    JoinPairs
        Of each process the pairs of its shard, a range of (keys, time); left rows without a match, and those of semi
        and anti joins, at the process that gave them.

    Raises
    ------
    ShardError, ExchangeError
        If another process fails, or does not answer; and what `raydex.join_range` raises.

    Cost
    ----
    With `shuffle` left rows are sent once, right rows to each shard in which they may match, or with `left_upper` the
    other way round: a distance or an interval that is short beside a shard meets one or two, a comparison all on one
    side. Of other joins than inner ones 4 bytes a left row come back.
    """
    named = {"distance": distance, "compare": compare, "right_upper": right_upper, "left_upper": left_upper}

    def sides() -> Sides:
        check_how(how)
        there = [name for name, value in named.items() if value is not None]
        if len(there) != 1:
            raise InvalidArgument(
                f"join_range: {', '.join(there) or 'nothing'} is given; give one of {', '.join(named)}"
            )
        check_comparison(compare)
        times = {"left": [_column("left", left)], "right": [_column("right", right)]}
        for side, upper in (("left", left_upper), ("right", right_upper)):
            if upper is not None:
                times[side].append(_column(f"{side}_upper", upper))
        return Sides(times, _keys(by, left_by, right_by))

    kind = Range(distance, compare, closed, (left_upper is not None, right_upper is not None))

    def work(company: Company, words: tuple[Any, ...]) -> JoinPairs:
        call = OrderCall(company, words, kind, exchange)
        return pairs(call, call.run(sides), how)

    words = ("join_range", how, _said(distance), compare, closed, *(name for name in named if named[name] is not None))
    found: JoinPairs = together(words, group, devices, engine, timeout, work)
    return found


def join_intervals(
    left: ColumnLike,
    right: Pair,
    how: OrderedHow = "inner",
    *,
    relation: Relation | None = None,
    closed: Closed = "both",
    missing: MissingEnd = "unmatched",
    by: tuple[KeyColumns, KeyColumns] | None = None,
    left_by: KeyColumns = None,
    right_by: KeyColumns = None,
    exchange: ExchangeName | None = None,
    group: Any = None,
    devices: Sequence[Any] | None = None,
    engine: Exchange | None = None,
    timeout: float = 300.0,
) -> JoinPairs:
    """Joins intervals with intervals, or with points. A collective call.

    Parameters
    ----------
    left, right
        This process's slices: pairs of columns `(lower, upper)`, or `left` is one column, of points.
    relation, closed, missing
        As of `raydex.join_intervals`: how an interval of the right side, its `build`, lies to one of the left side.
    how, left_by, right_by, by, exchange, group, devices, engine, timeout
        As of `join_range`.

    Returns
    -------
    JoinPairs
        As of `join_range`.

    Raises
    ------
    ShardError, ExchangeError
        If another process fails, or does not answer; and what `raydex.join_intervals` raises.

    Cost
    ----
    As of `join_range`. Intervals are sent to all shards that they meet, of both sides; a pair is made by the first one
    that both are on.
    """
    of_points = not is_pair(left)

    def sides() -> Sides:
        check_how(how)
        if relation is not None and relation not in list(RELATIONS):
            raise InvalidArgument(f"relation: {relation!r} is none of {', '.join(RELATIONS)}")
        if missing not in MISSING:
            raise InvalidArgument(f"missing: {missing!r} is none of {', '.join(MISSING)}")
        own = [_column("left", left)] if of_points else pair_of("left", left, ("lower", "upper"))
        times = {"left": own, "right": pair_of("right", right, ("lower", "upper"))}
        return Sides(times, _keys(by, left_by, right_by))

    def work(company: Company, words: tuple[Any, ...]) -> JoinPairs:
        call = OrderCall(company, words, Intervals(relation, closed, of_points), exchange)
        return pairs(call, call.run(sides, missing), how)

    words = ("join_intervals", how, relation, closed, missing, "points" if of_points else "intervals")
    found: JoinPairs = together(words, group, devices, engine, timeout, work)
    return found


def join_where(
    left: Pair,
    right: Pair,
    compare: tuple[Comparison, Comparison],
    how: OrderedHow = "inner",
    *,
    by: tuple[KeyColumns, KeyColumns] | None = None,
    left_by: KeyColumns = None,
    right_by: KeyColumns = None,
    exchange: ExchangeName | None = None,
    group: Any = None,
    devices: Sequence[Any] | None = None,
    engine: Exchange | None = None,
    timeout: float = 300.0,
) -> JoinPairs:
    """Joins two tables by two inequalities: with `compare=("<", ">=")` each left row with the right rows that have
    `right[0] < left[0]` and `right[1] >= left[1]`. A collective call.

    Parameters
    ----------
    left, right
        This process's slices: pairs of columns, as of `raydex.join_where`, whose `build` is `right`.
    compare, how, left_by, right_by, by, exchange, group, devices, engine, timeout
        As of `raydex.join_where` and `join_range`.

    Returns
    -------
    JoinPairs
        As of `join_range`.

    Raises
    ------
    ShardError, ExchangeError
        If another process fails, or does not answer; and what `raydex.join_where` raises.

    Cost
    ----
    As of a comparison by `join_range`: right rows are sent to all shards on one side of their own by the first column,
    half of them on average.
    """

    def sides() -> Sides:
        check_how(how)
        if not isinstance(compare, (tuple, list)) or len(compare) != 2:
            raise InvalidArgument(f'compare: {compare!r} are no two comparisons, as ("<", ">=")')
        for one in compare:
            check_comparison(one)
        times = {"left": pair_of("left", left, ("x", "y")), "right": pair_of("right", right, ("a", "b"))}
        return Sides(times, _keys(by, left_by, right_by))

    def work(company: Company, words: tuple[Any, ...]) -> JoinPairs:
        call = OrderCall(company, words, Where(compare), exchange)
        return pairs(call, call.run(sides), how)

    found: JoinPairs = together(("join_where", how, repr(compare)), group, devices, engine, timeout, work)
    return found


@overload
def join_window(
    left: ColumnLike, right: ColumnLike, values: ColumnLike = ..., *, before: Distance, after: Distance = ...,
    aggregate: AggregateName = ..., by: tuple[KeyColumns, KeyColumns] | None = ..., left_by: KeyColumns = ...,
    right_by: KeyColumns = ..., closed: Closed = ..., exchange: ExchangeName | None = ..., group: Any = ...,
    devices: Sequence[Any] | None = ..., engine: Exchange | None = ..., timeout: float = ...,
) -> Any: ...
@overload
def join_window(
    left: ColumnLike, right: ColumnLike, values: ColumnLike = ..., *, before: Distance, after: Distance = ...,
    aggregate: Sequence[AggregateName], by: tuple[KeyColumns, KeyColumns] | None = ..., left_by: KeyColumns = ...,
    right_by: KeyColumns = ..., closed: Closed = ..., exchange: ExchangeName | None = ..., group: Any = ...,
    devices: Sequence[Any] | None = ..., engine: Exchange | None = ..., timeout: float = ...,
) -> dict[str, Any]: ...
@overload
def join_window(
    left: ColumnLike, right: ColumnLike, values: ColumnLike = ..., *, before: Distance, after: Distance = ...,
    aggregate: AggregateName | Sequence[AggregateName], by: tuple[KeyColumns, KeyColumns] | None = ...,
    left_by: KeyColumns = ..., right_by: KeyColumns = ..., closed: Closed = ..., exchange: ExchangeName | None = ...,
    group: Any = ..., devices: Sequence[Any] | None = ..., engine: Exchange | None = ..., timeout: float = ...,
) -> Any: ...  # fmt: skip
def join_window(
    left: ColumnLike,
    right: ColumnLike,
    values: ColumnLike = None,
    *,
    before: Distance,
    after: Distance = 0,
    aggregate: AggregateName | Sequence[AggregateName] = "sum",
    by: tuple[KeyColumns, KeyColumns] | None = None,
    left_by: KeyColumns = None,
    right_by: KeyColumns = None,
    closed: Closed = "both",
    exchange: ExchangeName | None = None,
    group: Any = None,
    devices: Sequence[Any] | None = None,
    engine: Exchange | None = None,
    timeout: float = 300.0,
) -> Any:
    """For each left row of this process an aggregate of the right rows, wherever they are, whose time lies in a window
    about its own. A collective call.

    Parameters
    ----------
    left, right
        This process's slices of two columns, as of `join_asof`.
    values
        Its slice of a column beside `right`, of numbers.
    before, after, aggregate, closed
        As of `raydex.join_window`.
    left_by, right_by, by, exchange, group, devices, engine, timeout
        As of `join_asof`.

    Returns
    -------
    array, or dict of arrays by name
        One result a left row of this process, as of `raydex.join_window`; `argmin` and `argmax` are rows over all
        slices.

    Raises
    ------
    ShardError, ExchangeError
        If another process fails, or does not answer; and what `raydex.join_window` raises.

    Cost
    ----
    As of `join_range` with a distance: left rows go to one shard, right rows with their values to all that the window
    meets, and a number an aggregate comes back.
    """
    names = (aggregate,) if isinstance(aggregate, str) else tuple(dict.fromkeys(aggregate))

    def sides() -> Sides:
        times = {"left": [_column("left", left)], "right": [_column("right", right)]}
        if values is not None:
            times["right"].append(_column("values", values))
        return Sides(times, _keys(by, left_by, right_by))

    def work(company: Company, words: tuple[Any, ...]) -> Any:
        call = OrderCall(company, words, Window(before, after, names, closed), exchange)
        found = windows(call, call.run(sides))
        return found[names[0]] if isinstance(aggregate, str) else found

    words = ("join_window", _said(before), _said(after), *map(str, names), closed)
    return together(words, group, devices, engine, timeout, work)
