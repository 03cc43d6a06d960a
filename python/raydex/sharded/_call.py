# SPDX-License-Identifier: Apache-2.0
"""A call of a sharded index: its rounds, and what becomes of their probes."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from raydex._errors import InvalidArgument
from raydex._frames import check_labels
from raydex._sources import broadcast_ends, look, same_device
from raydex.sharded._arrays import Arrays, arrays_of, in_both
from raydex.sharded._cells import Dense, dense
from raydex.sharded._devices import beside
from raydex.sharded._exchange import Full
from raydex.sharded._hot_keys import Merged, merge
from raydex.sharded._overlap import Own, ask_in_slices
from raydex.sharded._routing import Routes, restore, route, undo_rows
from raydex.sharded._shard_set import ShardSet, Values, values_of
from raydex.sharded._small_batches import Few, ask_all, in_one, most_for

LEAST_PROBES = 1024
"""Batches of so few probes are not split again for want of memory."""


@dataclass
class Probes:
    """The probes of a call of this process."""

    lower: Dense
    upper: Any
    there: Any

    def slice(self, begin: int, size: int) -> tuple[Any, Any, Any]:
        end = begin + size
        return (
            self.lower.array[begin:end],
            None if self.upper is None else self.upper[begin:end],
            None if self.there is None else self.there[begin:end],
        )

    def part(self, begin: int, end: int) -> Probes:
        """Some of them, as a call takes them."""
        lower, upper, there = self.slice(begin, end - begin)
        return Probes(replace(self.lower, array=lower, there=there), upper, there)


def probes_of(lower: Any, upper: Any, shards: ShardSet, role: str) -> Probes:
    """The probes of a call, checked. `role`: of points, see `column_of`."""
    engine, key = shards.company.engine, shards.key
    if upper is None:
        source = lower() if callable(lower) else look("points", lower)
        points = dense(source, engine, key, role)
        return Probes(points, None, points.there)
    check_labels(lower, upper)
    sources = broadcast_ends(look("lower", lower), look("upper", upper))
    same_device(*sources)
    begins, ends = dense(sources[0], engine, key, "at_least"), dense(sources[1], engine, key, "at_most")
    if len(begins) != len(ends):
        raise InvalidArgument(f"upper: {len(ends)} cells, but lower has {len(begins)}; they must agree")
    return Probes(begins, beside(ends.array, begins.array), in_both(begins.there, ends.there))


@dataclass
class Round:
    """A slice of a call's probes, on its way."""

    routes: Routes
    merged: Merged | None
    own: Own | None  # of results with a number for each probe
    answers: Any = None


class Call:
    """A call of a sharded index, in rounds of so many probes as memory is for. The probes of a round are
    divided while those of the round before are answered."""

    def __init__(
        self,
        shards: ShardSet,
        most_probes: int,
        operation: str,
        lower: Any,
        upper: Any,
        arguments: dict[str, Any],
        values: Any,
        role: str,
    ) -> None:
        self._shards = shards
        self._company = shards.company
        self._operation = operation
        self._inputs = (lower, upper, values)
        self._role = role
        self._arguments = arguments
        kind = "points" if upper is None else "ranges"
        self._name = (operation, "of", kind, *arguments.items())
        self._is_a_number = operation not in ("rows", "sum")
        self._by_subrange = self._is_a_number and upper is None
        self._most = most_probes
        self._done = 0
        self._last: Callable[[], Any] | None = None
        """Puts the answers of the last round in order."""
        self._answers: list[Any] = []
        self.probes: Probes | None = None
        self.summed: Values | None = None
        self.pieces = np.zeros(len(shards.summaries), "int64")
        """Probes that each shard was asked."""
        self.merged = 0

    def answers(self) -> Any:
        reports: list[dict[str, Any]] = []
        while not reports or any(one["left"] for one in reports):
            sizes = [0]
            try:
                reports = self._round(sizes)
            except Full as full:  # here nothing refers to the round, whose memory is for the next try
                self._company.settle()
                size = max([*sizes, *(one.get("size", 0) for one in full.reports)])
                if size <= LEAST_PROBES:
                    raise full.error from None
                self._most = max(LEAST_PROBES, (size + 1) // 2)
        if self._operation == "rows":  # which may be many
            self._company.agree((self._operation, "in order"), lambda report: self._finish())
        else:
            self._finish()
        return self._answers[0] if len(self._answers) == 1 else _joined(self._answers)

    def _round(self, sizes: list[int]) -> list[dict[str, Any]]:
        """Asks for the next slice of the probes. Returns the reports of all, and adds to `sizes` the most that
        a process asks for."""
        shards, company, step = self._shards, self._company, (self._operation, "answers")
        now, reports = company.agree(self._name, self._begin, retry=True)
        batch_sizes = tuple(one["size"] for one in reports)
        sizes.append(max(batch_sizes))
        if self.summed is not None and self.summed.begins is None:
            shards.place_values(self.summed, reports)
        if isinstance(now, Few) and all(one["small"] for one in reports):
            self._last = self._of_all(step, now, batch_sizes)
            self.pieces += sum(batch_sizes)
        else:
            divided, own = reports, batch_sizes[company.process]
            if any(one["small"] for one in reports):  # for some, but not for all
                begun = None if isinstance(now, Few) else now
                now, divided = company.agree(
                    (self._operation, "routes"), lambda report: self._divided(begun, own, report), retry=True
                )
            assert isinstance(now, Round)
            table = np.stack([one["counts"] for one in divided])
            columns = _columns(now.routes)
            if now.own is None:
                now.answers = shards.rows(self._operation, columns, table, self.summed)
            else:
                now.answers = ask_in_slices(company, step, columns, table, now.own, self._local)
            self._last = functools.partial(self._in_order, now)
            self.pieces += table.sum(axis=0).reshape(len(self.pieces), -1).sum(axis=1)
            self.merged += sum(one["merged"] for one in divided)
        self._done += batch_sizes[company.process]
        return reports

    def _begin(self, report: dict[str, Any]) -> Round | Few:
        """A round's probes, divided if the batch is not small."""
        self._finish()  # here, so that the others hear of an error in it
        lower, upper, values = self._inputs
        if self.probes is None:
            probes = lower if isinstance(lower, Probes) else probes_of(lower, upper, self._shards, self._role)
            if self._operation == "sum":
                self.summed = values_of(values, self._company.engine)
            self.probes = probes
        if self.summed is not None:
            report["values"] = (self.summed.key, len(self.summed.own))
        left = len(self.probes.lower) - self._done
        report["size"] = size = min(self._most, left)
        report["left"] = left - size
        most = most_for(self._company.engine)
        report["small"] = self._is_a_number and size * self._company.processes <= most
        return self._few(size) if report["small"] else self._divided(None, size, report)

    def _divided(self, now: Round | None, size: int, report: dict[str, Any]) -> Round:
        """A round with its probes divided, if they are not."""
        now = now or self._divide(size)
        report["counts"] = now.routes.counts
        report["merged"] = 0 if now.merged is None else now.merged.saved
        return now

    def _divide(self, size: int) -> Round:
        assert self.probes is not None
        shards, by_subrange = self._shards, self._by_subrange
        points, ends, there = self.probes.slice(self._done, size)
        merged = merge(points, there) if ends is None and self._operation != "rows" else None
        if merged is not None:
            points, there = merged.points, merged.there
        multiple = self._company.engine.unit if by_subrange else 1
        splitters = shards.subrange_splitters if by_subrange else shards.splitters
        routes = route(points, ends, splitters, there, multiple)
        own = None
        if self._is_a_number:
            own = Own(self._company.engine, _columns(routes), routes.counts, len(shards.summaries), self._local)
        return Round(routes, merged, own)

    def _local(self, columns: list[Any], counts: npt.NDArray[np.int64]) -> Any:
        return self._shards.local(self._operation, columns, counts, self._arguments)

    def _few(self, size: int) -> Few:
        assert self.probes is not None
        lower, upper, there = self.probes.slice(self._done, size)
        return Few([lower] if upper is None else [lower, upper], there)

    def _own_shard(self, columns: list[Any]) -> Any:
        return self._shards.answered(self._shards.own[0], self._operation, columns, self._arguments)

    def _of_all(self, step: tuple[Any, ...], asked: Few, sizes: tuple[int, ...]) -> Callable[[], Any]:
        """Asks all shards for a small batch. Returns what puts their answers in order."""
        operation, there = self._operation, asked.there
        dtype = "bool" if operation == "contains" else self._shards.narrow(operation)
        like = _no_cells(arrays_of(asked.columns[0]), dtype)
        answers = ask_all(self._company, step, asked.columns, sizes, like, self._own_shard)

        def in_order() -> Any:
            found = in_one(operation, answers, len(asked.columns) == 1)
            library = arrays_of(found)
            if there is not None:
                nothing = {"contains": False, "count": 0}.get(operation, -1)
                found = library.where(there, found, library.full(1, nothing, library.dtype(found)))
            return found if operation == "contains" else library.cast(found, "int64")

        return in_order

    def _in_order(self, finished: Round) -> Any:
        """The answers of a round's probes, of those of its pieces."""
        if self._operation == "rows":
            counts, rows = finished.answers
            offsets, found = undo_rows(finished.routes, counts, rows)
            return (offsets, arrays_of(found).cast(found, "int64"))
        found = restore(finished.routes, finished.answers, self._operation, widen=True)
        return found if finished.merged is None else finished.merged.spread(found)

    def _finish(self) -> None:
        """Puts the answers of the last round in order, so that what comes can be written over."""
        if self._last is not None:
            self._answers.append(self._last())
            self._last = None
            self._company.settle()


@functools.lru_cache(maxsize=64)
def _no_cells(library: Arrays, dtype: str) -> Any:
    return library.empty(0, dtype)


def _columns(routes: Routes) -> list[Any]:
    """The pieces: points, or the lower and the upper ends of ranges."""
    return [routes.lower] if routes.upper is None else [routes.lower, routes.upper]


def _joined(answers: list[Any]) -> Any:
    """The answers of several rounds."""
    if not isinstance(answers[0], tuple):
        return arrays_of(answers[0]).concatenate(answers)
    library = arrays_of(answers[0][0])
    offsets, before = [answers[0][0][:1]], 0
    for begins, rows in answers:
        offsets.append(begins[1:] + before)
        before += len(rows)
    return (library.concatenate(offsets), library.concatenate([rows for _, rows in answers]))
