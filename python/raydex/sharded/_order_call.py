# SPDX-License-Identifier: Apache-2.0
"""A call of a join by order: both sides go to the shards in which they may match, and what is found comes back."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from raydex._columns import key_of, role_of
from raydex._errors import InvalidArgument
from raydex._keys import Key
from raydex._sources import Source, same_device
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
    Kind,
    Window,
    equal_types,
    filled,
    pieces_of,
    plain,
    sampled,
    types_of,
)
from raydex.sharded._routing import Routes, route, splitters_from, undo


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


class Sides(NamedTuple):
    """The columns of both tables, by side."""

    times: dict[str, list[Source]]
    by: dict[str, list[Source]]


class OrderCall:
    """A join by order, and who takes part."""

    def __init__(self, company: Company, words: tuple[Any, ...], kind: Kind, exchange: str | None) -> None:
        self.company = company
        self.words = (*words, exchange)
        self.kind = kind
        self._exchange = exchange

    def run(self, sides: Any, missing: str = "unmatched") -> Tables:
        """Rows where they match. `sides`: what looks at the columns of this process."""
        company = self.company

        def look_at(report: dict[str, Any]) -> Sides:
            if self._exchange not in (None, *EXCHANGES):
                raise InvalidArgument(f"exchange: {self._exchange!r} is none of {', '.join(EXCHANGES)}")
            found: Sides = sides()
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

    def _sent(self, tables: dict[str, _Table], splitters: npt.NDArray[Any] | None) -> Tables:
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
        return Tables(tables["left"], sides[0][0], between[0], list(zip(*parts)))

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

    def back(self, tables: Tables, answers: list[Any], how: str, fill: Any = -1) -> Any:
        """The answers of all shards to the pieces of the left rows of this process, put together. A collective call."""
        company = self.company
        cells = [beside(one, tables.left.times[0]) for one in answers]
        if company.processes > 1:
            between, me = tables.between, company.process
            cells = [company.exchange(cells[0], between[:, me].tolist(), between[me].tolist())]

        def put(report: dict[str, Any]) -> Any:
            return undo(tables.routes, concatenated(cells), how, fill)

        return company.agree((*self.words, "back"), put)[0]


class Tables(NamedTuple):
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


def pairs(call: OrderCall, tables: Tables, how: str) -> JoinPairs:
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


def windows(call: OrderCall, tables: Tables) -> dict[str, Any]:
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


def together(
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
