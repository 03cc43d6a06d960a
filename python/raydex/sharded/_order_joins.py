# SPDX-License-Identifier: Apache-2.0
"""Joins by order of tables that are divided among processes, a slice each."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, overload

import numpy as np
import numpy.typing as npt

from raydex import _lists
from raydex._arguments import flag
from raydex._columns import key_of, role_of
from raydex._errors import InvalidArgument
from raydex._joins import check_how, pair_columns
from raydex._keys import Key
from raydex._ordered_columns import DIRECTIONS, MISSING, RELATIONS, check_comparison, is_pair, pair_of
from raydex._sources import Source, look, same_device
from raydex.sharded._arrays import arrays_of, in_both
from raydex.sharded._build import engine_for
from raydex.sharded._cells import dense, empty_source, of_all
from raydex.sharded._devices import beside
from raydex.sharded._exchange import Company, Exchange, by_process, concatenated, distribute
from raydex.sharded._joins import EXCHANGES, JoinPairs, _agree_on_room, _Side, _size, rows_or_none, write_pairs
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
from raydex.sharded._routing import Routes, route, splitters_from, undo
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


class _Table(NamedTuple):
    """What a process has of a side."""

    times: list[Any]
    by: list[Any]  # integers that are equal where the keys are
    there: Any
    begin: int  # the number of its first row
    bounds: Bounds

    @property
    def library(self) -> Any:
        return arrays_of(self.times[0])


class _Part(NamedTuple):
    """What a shard has of a side."""

    times: list[Any]
    by: list[Any]
    rows: Any
    is_first: Any
    """Whether it is the first shard that a row is on; None: as for all."""

    def take(self, some: Any) -> _Part:
        library = arrays_of(self.rows)
        times, by = ([library.take(one, some) for one in columns] for columns in (self.times, self.by))
        return _Part(times, by, library.take(self.rows, some), None)


class _Sides(NamedTuple):
    """The columns of both tables, by side."""

    times: dict[str, list[Source]]
    by: dict[str, list[Source]]


class _Call:
    """A join by order, and who takes part."""

    def __init__(self, company: Company, words: tuple[Any, ...], kind: Kind, exchange: str | None) -> None:
        self.company = company
        self.words = (*words, exchange)
        self.kind = kind
        self._exchange = exchange

    def run(self, sides: Any, missing: str = "unmatched") -> _Tables:
        """Rows where they match. `sides`: what looks at the columns of this process."""
        company = self.company

        def look_at(report: dict[str, Any]) -> _Sides:
            if self._exchange not in (None, *EXCHANGES):
                raise InvalidArgument(f"exchange: {self._exchange!r} is none of {', '.join(EXCHANGES)}")
            found: _Sides = sides()
            for side in SIDES:
                times, by = found.times[side], found.by[side]
                same_device(*times, *by)
                report[side] = [
                    [key_of(one, one.library.stream_for(None)[0]) for one in columns] for columns in (times, by)
                ]
                report[f"{side} size"] = _size(times[0])
            return found

        found, reports = company.agree(self.words, look_at)
        if any([len(one) for one in each["right"]] != [len(one) for one in reports[0]["right"]] for each in reports):
            raise InvalidArgument("right: processes differ in the number of columns")
        sizes = {side: [one[f"{side} size"] for one in reports] for side in SIDES}
        keys = [
            {
                side: [
                    of_all(side, [one[side][of][at] for one in reports], sizes[side])
                    for at in range(len(reports[0][side][of]))
                ]
                for side in SIDES
            }
            for of in (0, 1)
        ]  # of times and of keys, by side
        compared = types_of(self.kind, keys[0])
        equal = equal_types(keys[1])

        def prepare(report: dict[str, Any]) -> dict[str, _Table]:
            self.kind = kind = self.kind.of(compared["left"][0])
            none = [[plain(np.empty(0, one.dtype)) for one in compared[side]] for side in SIDES]
            kind.match(none[0], none[1], [], [])  # which refuses what is wrong
            tables = {}
            for side in SIDES:
                begin = sum(sizes[side][: company.process])
                table = tables[side] = _table(
                    kind, side, found.times[side], found.by[side], compared[side], equal, begin, missing,
                    company.engine,
                )  # fmt: skip
                there = table.there
                rows = len(table.times[0]) if there is None else int(there.sum())
                report[side] = (sampled(table.by, table.bounds[0], there, SAMPLE), float(rows))
            return tables

        tables, reports = company.agree((*self.words, "prepared"), prepare)
        samples = [one[side] for side in SIDES for one in reports]
        shards = self._shards
        rows = {side: sum(one[side][1] for one in reports) for side in SIDES}
        if self._exchange == "broadcast" or (
            self._exchange is None and rows["right"] * shards <= rows["left"] + rows["right"]
        ):
            return self._sent(tables, None)
        return self._sent(tables, splitters_from([one for one, _ in samples], shards, [many for _, many in samples]))

    def _sent(self, tables: dict[str, _Table], splitters: npt.NDArray[Any] | None) -> _Tables:
        """Without splitters left rows stay where they are, and right rows go to all shards."""
        company = self.company
        both = splitters is not None and all(tables[side].bounds[1] is not None for side in SIDES)  # are ranges

        def divide(report: dict[str, Any]) -> list[tuple[Routes, list[Any]]]:
            found = []
            for side in SIDES:
                table = tables[side]
                beside_own = self.kind.neighbours if side == "right" else ()
                library = table.library
                if splitters is None:
                    routes = self._to_all(table) if side == "right" else self._where_they_are(table)
                else:
                    routes = pieces_of(splitters, table.by, table.bounds, table.there, beside_own)
                rows = library.cast(routes.sources, "int64") + table.begin
                columns = [library.take(one, routes.sources) for one in (*table.times, *table.by)]
                found.append((routes, [*columns, rows, *([routes.lower] if both else [])]))
            report["counts"] = [routes.counts for routes, _ in found]
            return found

        sides, reports = company.agree((*self.words, "routes"), divide)
        counts = [np.stack([one["counts"][at] for one in reports]) for at in (0, 1)]
        between = [by_process(one) for one in counts]
        come = sum(int(one[:, company.process].sum()) for one in between) if company.processes > 1 else 0
        back = int(between[0][company.process].sum()) if company.processes > 1 else 0
        _agree_on_room(company, _Side(sides[1][1], sides[1][1][-1], None), come + back)
        moved = [distribute(company, [routes], [columns], table) for (routes, columns), table in zip(sides, counts)]
        parts = [
            [_part(one, len(tables[side].times), len(tables[side].by), shard, both) for shard, one in self._own(of)]
            for side, of in zip(SIDES, moved)
        ]
        return _Tables(tables["left"], sides[0][0], between[0], list(zip(*parts)))

    def _to_all(self, table: _Table) -> Routes:
        library, rows, shards = table.library, len(table.times[0]), self._shards
        lower, upper = (library.full(rows, shard, "int32") for shard in (0, shards - 1))
        return route(lower, upper, np.arange(1, shards, dtype="int32"), table.there)

    def _where_they_are(self, table: _Table) -> Routes:
        """The rows of a process, evenly on its devices."""
        library, rows, places = table.library, len(table.times[0]), len(self.company.engine.places)
        shards = library.arange(rows) * places // max(rows, 1) + self.company.process * places
        return route(library.cast(shards, "int32"), None, np.arange(1, self._shards, dtype="int32"), table.there)

    @property
    def _shards(self) -> int:
        return self.company.processes * len(self.company.engine.places)

    def _own(self, moved: list[list[Any]]) -> list[tuple[int, list[Any]]]:
        """The shards of this process, with their numbers."""
        first = self.company.process * len(moved)
        return list(zip(range(first, first + len(moved)), moved))

    def back(self, tables: _Tables, answers: list[Any], how: str, fill: Any = -1) -> Any:
        """The answers of all shards to the pieces of the left rows of this process, put together. A collective call."""
        company = self.company
        cells = [beside(one, tables.left.times[0]) for one in answers]
        if company.processes > 1:
            between, me = tables.between, company.process
            cells = [company.exchange(cells[0], between[:, me].tolist(), between[me].tolist())]

        def put(report: dict[str, Any]) -> Any:
            return undo(tables.routes, concatenated(cells), how, fill)

        return company.agree((*self.words, "back"), put)[0]


class _Tables(NamedTuple):
    """Both tables, where their rows match."""

    left: _Table
    routes: Routes
    """Where the left rows of this process are."""
    between: npt.NDArray[np.int64]
    """How many of them go from each process to each."""
    shards: list[tuple[_Part, _Part]]
    """Left and right rows of each shard of this process."""


def _part(columns: list[Any], times: int, keys: int, shard: int, both: bool) -> _Part:
    is_first = columns[-1] == shard if both else None
    return _Part(columns[:times], columns[times : times + keys], columns[times + keys], is_first)


def _table(
    kind: Kind, side: str, times: list[Source], by: list[Source], compared: list[Key], equal: list[Key], begin: int,
    missing: str, engine: Exchange,
) -> _Table:  # fmt: skip
    empty = _size(times[0]) == 0

    def cells_of(source: Source, key: Key, role: str) -> Any:
        return dense(empty_source(side, key, source.library) if empty else source, engine, key, role)

    there = None
    arrays = []
    for at, (one, key) in enumerate(zip(times, compared)):
        cells = cells_of(one, key, "" if empty else role_of(one, key, "kept"))
        array = plain(cells.array)
        if missing == "unbounded" and cells.there is not None and len(times) == 2:
            array = filled(array, cells.there, at == 1)
        else:
            there = in_both(there, cells.there)
        arrays.append(array)
    keys = []
    for one, key in zip(by, equal):
        cells = cells_of(one, key, "")
        there = in_both(there, cells.there)
        keys.append(arrays_of(cells.array).order(cells.array))
    if any(len(one) != len(arrays[0]) for one in (*arrays, *keys)):
        sizes = ", ".join(str(len(one)) for one in (*arrays, *keys))
        raise InvalidArgument(f"{side}: its columns have {sizes} cells")
    return _Table(arrays, keys, there, begin, kind.bounds(side, arrays))


def _pairs(call: _Call, tables: _Tables, how: str) -> JoinPairs:
    company, kind, library = call.company, call.kind, tables.left.library
    assert not isinstance(kind, (Asof, Window))

    def match(report: dict[str, Any]) -> tuple[list[tuple[Any, Any, Any]], list[Any], JoinPairs]:
        matched, counts = [], []
        for left, right in tables.shards:
            counted = arrays_of(left.rows).full(len(left.rows), 0, "int64")
            for one, other, places in _in_turn(left, right):
                found = kind.match(one.times, other.times, one.by, other.by)
                matched.append((found, one.rows, other.rows))
                if how != "inner":
                    counted[slice(None) if places is None else places] += beside(found.counts(), counted)
            counts.append(arrays_of(counted).cast(counted > 0, "int32"))
        if how in ("semi", "anti"):
            matched = []
        return (matched, counts, write_pairs(matched, library.empty(0, "int64"), how))

    (matched, counts, pairs), _ = company.agree((*call.words, "matched"), match)
    if how == "inner":
        return pairs
    found = call.back(tables, counts, "sum") > 0
    lone = library.nonzero(found if how == "semi" else ~found) + tables.left.begin
    if how != "left":
        return JoinPairs(lone, None)
    rights = library.full(len(lone), -1, "int64")
    return JoinPairs(library.concatenate([pairs.left, lone]), library.concatenate([pairs.right, rights]))


def _in_turn(left: _Part, right: _Part) -> list[tuple[_Part, _Part, Any]]:
    """What a shard joins, and where these left rows are: all, but no rows that both are on an earlier shard, too,
    whose pairs the first one has that both are on."""
    if left.is_first is None:
        return [(left, right, None)]
    begin, on = (arrays_of(left.rows).nonzero(one) for one in (left.is_first, ~left.is_first))
    found = [(left.take(begin), right, begin)]
    if len(on):
        found.append((left.take(on), right.take(arrays_of(right.rows).nonzero(right.is_first)), on))
    return found


def _windows(call: _Call, tables: _Tables) -> dict[str, Any]:
    kind = call.kind
    assert isinstance(kind, Window)

    def match(report: dict[str, Any]) -> list[dict[str, Any]]:
        shards = []
        for left, right in tables.shards:
            found = kind.match(left.times, right.times, left.by, right.by)
            for name in ("argmin", "argmax"):
                if name in found:
                    found[name] = rows_or_none(right.rows, found[name])
            shards.append(found)
        return shards

    shards, _ = call.company.agree((*call.words, "matched"), match)
    left = tables.left
    found: dict[str, Any] = {
        name: call.back(tables, [one[name] for one in shards], "single", 0) for name in kind.aggregates
    }
    lone = () if left.there is None else left.library.nonzero(~left.there)
    if len(lone):  # without a time or a key they have what there is of no row
        nothing = [one[:0] for one in tables.shards[0][1].times]
        for name, one in kind.match([left.times[0][:1]], nothing, [], []).items():
            left.library.put(found[name], lone, left.library.take(one, lone * 0))
    return found


def _together(
    words: tuple[Any, ...], group: Any, devices: Any, engine: Exchange | None, timeout: float, work: Any
) -> Any:
    """Does a call with the processes that take part."""
    company = Company(engine_for(group, devices, engine, timeout, None))
    try:
        with company.together():
            return work(company, words)
    finally:
        if engine is None:
            company.close()


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
        call = _Call(company, words, Asof(direction, allow_exact_matches, tolerance), exchange)

        def sides() -> _Sides:
            flag("allow_exact_matches", allow_exact_matches)
            if direction not in list(DIRECTIONS):
                raise InvalidArgument(f"direction: {direction!r} is none of {', '.join(DIRECTIONS)}")
            keys = _keys(by, left_by, right_by)
            return _Sides({"left": [_column("left", left)], "right": [_column("right", right)]}, keys)

        tables = call.run(sides)

        def match(report: dict[str, Any]) -> list[Any]:
            return [
                rows_or_none(two.rows, call.kind.match(one.times, two.times, one.by, two.by))
                for one, two in tables.shards
            ]

        rows, _ = company.agree((*words, "matched"), match)
        return call.back(tables, rows, "single")

    words = ("join_asof", direction, str(allow_exact_matches), _said(tolerance), exchange)
    return _together(words, group, devices, engine, timeout, work)


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

    def sides() -> _Sides:
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
        return _Sides(times, _keys(by, left_by, right_by))

    kind = Range(distance, compare, closed, (left_upper is not None, right_upper is not None))

    def work(company: Company, words: tuple[Any, ...]) -> JoinPairs:
        call = _Call(company, words, kind, exchange)
        return _pairs(call, call.run(sides), how)

    words = ("join_range", how, _said(distance), compare, closed, *(name for name in named if named[name] is not None))
    found: JoinPairs = _together(words, group, devices, engine, timeout, work)
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

    def sides() -> _Sides:
        check_how(how)
        if relation is not None and relation not in list(RELATIONS):
            raise InvalidArgument(f"relation: {relation!r} is none of {', '.join(RELATIONS)}")
        if missing not in MISSING:
            raise InvalidArgument(f"missing: {missing!r} is none of {', '.join(MISSING)}")
        own = [_column("left", left)] if of_points else pair_of("left", left, ("lower", "upper"))
        times = {"left": own, "right": pair_of("right", right, ("lower", "upper"))}
        return _Sides(times, _keys(by, left_by, right_by))

    def work(company: Company, words: tuple[Any, ...]) -> JoinPairs:
        call = _Call(company, words, Intervals(relation, closed, of_points), exchange)
        return _pairs(call, call.run(sides, missing), how)

    words = ("join_intervals", how, relation, closed, missing, "points" if of_points else "intervals")
    found: JoinPairs = _together(words, group, devices, engine, timeout, work)
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

    def sides() -> _Sides:
        check_how(how)
        if not isinstance(compare, (tuple, list)) or len(compare) != 2:
            raise InvalidArgument(f'compare: {compare!r} are no two comparisons, as ("<", ">=")')
        for one in compare:
            check_comparison(one)
        times = {"left": pair_of("left", left, ("x", "y")), "right": pair_of("right", right, ("a", "b"))}
        return _Sides(times, _keys(by, left_by, right_by))

    def work(company: Company, words: tuple[Any, ...]) -> JoinPairs:
        call = _Call(company, words, Where(compare), exchange)
        return _pairs(call, call.run(sides), how)

    found: JoinPairs = _together(("join_where", how, repr(compare)), group, devices, engine, timeout, work)
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

    def sides() -> _Sides:
        times = {"left": [_column("left", left)], "right": [_column("right", right)]}
        if values is not None:
            times["right"].append(_column("values", values))
        return _Sides(times, _keys(by, left_by, right_by))

    def work(company: Company, words: tuple[Any, ...]) -> Any:
        call = _Call(company, words, Window(before, after, names, closed), exchange)
        found = _windows(call, call.run(sides))
        return found[names[0]] if isinstance(aggregate, str) else found

    words = ("join_window", _said(before), _said(after), *map(str, names), closed)
    return _together(words, group, devices, engine, timeout, work)
