# SPDX-License-Identifier: Apache-2.0
"""The shards of a process among those of all, and what they answer to the pieces of a batch."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from raydex._errors import InvalidArgument, InvalidType
from raydex._index import check_has_values
from raydex._keys import Key
from raydex._sources import look, not_a_text
from raydex.sharded._arrays import arrays_of
from raydex.sharded._cells import dense, of_all
from raydex.sharded._devices import beside, to_device
from raydex.sharded._exchange import Company, Exchange, by_process, concatenated, distribute
from raydex.sharded._overlap import subranges_for
from raydex.sharded._routing import Routes, route, splitters_from, undo
from raydex.sharded._shard import Shard, Summary, complete
from raydex.typing import DeviceLike, StructureName


@dataclass
class Values:
    """The values of a sum: `own`, those of this process."""

    own: Any
    key: Key
    begins: npt.NDArray[np.int64] | None = None  # the rows that those of all but process 0 begin at


def values_of(values: Any, engine: Exchange) -> Values:
    check_has_values(values)
    cells = dense(look("values", not_a_text("values", values)), engine)
    dtype, own = cells.key.dtype, cells.array
    if cells.key.unit or dtype is None or dtype.kind not in "iuf":
        raise InvalidType(f"values: they are {cells.key}; sums are of numbers")
    if cells.there is not None:
        own = arrays_of(own).where(cells.there, own, np.zeros(1, dtype))
    return Values(own, cells.key)


class ShardSet:
    """`own`: the shards of this process. `summaries`: what is known of all, in the order of their keys. `splitters`:
    of the subranges of all shards, which have as many each."""

    def __init__(
        self,
        company: Company,
        key: Key,
        splitters: npt.NDArray[Any],
        own: list[Shard],
        summaries: list[Summary],
        bits: int,
    ) -> None:
        self.company = company
        self.key = key
        self.bits = bits
        self._reserved = 0  # cells that a process was to receive before
        self.replace(splitters, own, summaries)

    def replace(self, splitters: npt.NDArray[Any], own: list[Shard], summaries: list[Summary]) -> None:
        self.subrange_splitters = splitters
        self.splitters = shard_splitters(splitters, len(summaries))
        self.own = own
        self.summaries = summaries

    @property
    def entries(self) -> int:
        return sum(one.entries for one in self.summaries)

    @property
    def max_row(self) -> int:
        return max(one.max_row for one in self.summaries)

    @property
    def resident_bytes(self) -> int:
        return sum(one.resident_bytes for one in self.summaries)

    def close(self) -> None:
        for shard in self.own:
            shard.close()

    def _make_room(self, like: Any, between: npt.NDArray[np.int64], columns: int) -> None:
        """Agrees that there is memory for what comes, where more comes than ever before."""
        most = int(between.sum(axis=0).max())
        if self.company.processes > 1 and most > self._reserved:
            mine = int(between[:, self.company.process].sum())
            engine = self.company.engine
            self.company.agree(
                ("make", "room"), lambda report: engine.reserve(like, columns * mine), retry=True
            )
            self._reserved = most

    def rows(self, operation: str, columns: list[Any], table: npt.NDArray[np.int64], summed: Values | None) -> Any:
        """The rows of a batch's pieces, or the sums of their values."""
        company = self.company
        between = by_process(table)
        self._make_room(columns[0], between, 1 + len(columns))
        sent, received = between[company.process].tolist(), between[:, company.process].tolist()
        ends = [company.exchange(one, sent, received) for one in columns]
        pieces = table[company.process] if company.processes == 1 else np.array([len(ends[0])])
        (counts, rows, sizes), _ = company.agree(
            (operation, "answers"), lambda report: self._matches(ends, pieces, received), retry=True
        )
        if summed is None:
            return self._rows_back(counts, rows, sizes, sent, received)
        return company.exchange(self._sums(counts, rows, summed), received, sent)

    def _on_shards(self, ends: list[Any], pieces: npt.NDArray[np.int64]) -> list[tuple[Any, Any]]:
        """The pieces of each shard of this process, where it is: points, or the lower and upper ends of
        ranges."""
        lower, upper = (*ends, None)[:2]
        ends_by_shard = []
        end = 0
        for device, count in zip(self.company.engine.places, pieces.tolist()):
            begin, end = end, end + count
            above = None if upper is None else to_device(upper[begin:end], device)
            ends_by_shard.append((to_device(lower[begin:end], device), above))
        return ends_by_shard

    def local(self, operation: str, ends: list[Any], pieces: npt.NDArray[np.int64], arguments: dict[str, Any]) -> Any:
        """What the shards of this process answer."""
        number = self.company.process * len(self.own)
        answers = []
        for shard, (begin, end) in zip(self.own, self._on_shards(ends, pieces)):
            columns = [begin] if end is None else [begin, end]
            own = self.answered(shard, operation, columns, arguments)
            answers.append(beside(complete(operation, own, number, self.summaries), ends[0]))
            number += 1
        return arrays_of(ends[0]).concatenate(answers) if len(answers) > 1 else answers[0]

    def answered(self, shard: Shard, operation: str, columns: list[Any], arguments: dict[str, Any]) -> Any:
        """What a shard answers by itself, in the type that answers are sent in."""
        narrow = self.narrow(operation)
        fits = narrow == "int32" and self.bits == 32
        own = shard.answer(operation, *columns, narrow=fits, **arguments)
        if operation == "contains" or (operation == "first" and fits):
            return own
        return arrays_of(own).cast(own, narrow)

    def narrow(self, operation: str) -> str:
        """The type that answers are sent in."""
        most = self.entries if operation in ("count", "rank") else self.max_row
        return "int32" if most < 2**31 else "int64"

    def _matches(
        self, ends: list[Any], pieces: npt.NDArray[np.int64], received: list[int]
    ) -> tuple[Any, Any, list[int]]:
        """The rows of pieces: how many each has, all of them, and how many are of each process's pieces."""
        library = arrays_of(ends[0])
        each = [
            shard.answer("rows", begin, end)
            for shard, (begin, end) in zip(self.own, self._on_shards(ends, pieces))
        ]
        counts = library.cast(concatenated([beside(one[0], ends[0]) for one in each]), self.narrow("count"))
        rows = concatenated([beside(one[1], ends[0]) for one in each])
        del each
        rows = library.cast(rows, self.narrow("rows"))
        return (counts, rows, _sizes(counts, received))

    def _rows_back(
        self, counts: Any, rows: Any, sizes: list[int], sent: list[int], received: list[int]
    ) -> tuple[Any, Any]:
        company = self.company
        counts = company.exchange(counts, received, sent)

        def room(report: dict[str, Any]) -> list[int]:
            come = _sizes(counts, sent)
            company.engine.reserve(rows, sum(come))
            return come

        come, _ = company.agree(("rows", "room"), room, retry=True)
        return (counts, company.exchange(rows, sizes, come))

    def place_values(self, values: Values, report: list[dict[str, Any]]) -> None:
        """Learns which rows have their values where, and the type of all."""
        sizes = [one["values"][1] for one in report]
        values.key = of_all("values", [one["values"][0] for one in report], sizes)
        if self.entries and sum(sizes) <= self.max_row:
            raise InvalidArgument(
                f"values: {sum(sizes)} cells in all, but the largest row id is {self.max_row}"
            )
        if len(values.own) == 0:
            values.own = arrays_of(values.own).empty(0, cast(Any, values.key.dtype))
        values.begins = np.cumsum(sizes[:-1], dtype="int64")

    def _sums(self, counts: Any, rows: Any, values: Values) -> Any:
        """The sum of the values of each piece's rows, which are asked for where they are."""
        company = self.company
        library = arrays_of(rows)
        begins, kind = cast(Any, values.begins), cast(Any, values.key.dtype)

        def ask(report: dict[str, Any]) -> Routes:
            routes = route(library.cast(rows, "int64"), None, begins)
            report["counts"] = routes.counts
            return routes

        routes, reports = company.agree(("values", "rows"), ask, retry=True)
        table = np.stack([one["counts"] for one in reports])
        sent, received = table[company.process].tolist(), table[:, company.process].tolist()
        self._make_room(routes.lower, table, 2)
        requested = company.exchange(routes.lower, sent, received)
        own = int(begins[company.process - 1]) if company.process else 0
        found, _ = company.agree(
            ("values", "found"), lambda report: library.take(beside(values.own, rows), requested - own), retry=True
        )
        back = company.exchange(found, received, sent)

        def add(report: dict[str, Any]) -> Any:
            cells = undo(routes, back, "single", fill=0)
            if kind == "uint64":
                cells = library.view(cells, "int64")
            wide = library.cast(cells, "float64" if kind.kind == "f" else "int64")
            return library.segment_sums(wide, library.running(counts))

        return company.agree(("values", "added"), add, retry=True)[0]


def subrange_splitters(
    engine: Exchange, samples: list[npt.NDArray[Any]], weights: list[float], key: Key, bits: int
) -> npt.NDArray[Any]:
    """The splitters of the subranges of all shards; `samples`, `weights`: as of `splitters_from`."""
    shards = engine.processes * len(engine.places)
    return splitters_from(samples, shards * subranges_for(engine, sum(weights), key, bits), weights)


def shard_splitters(splitters: npt.NDArray[Any], shards: int) -> npt.NDArray[Any]:
    """Of the splitters of their subranges those of the shards."""
    subranges = (len(splitters) + 1) // shards
    return splitters[subranges - 1 :: subranges]


def _sizes(counts: Any, lengths: Sequence[int]) -> list[int]:
    """The sums of the first `lengths[0]` counts, the next `lengths[1]`, and so on."""
    library = arrays_of(counts)
    ends = library.from_host(np.cumsum([0, *lengths]))
    sizes: list[int] = np.diff(library.to_host(library.take(library.running(counts), ends))).tolist()
    return sizes


def packed(rows: Any, positions: Any, bits: int) -> Any:
    """Some of the rows as row ids of an index."""
    library = arrays_of(rows)
    return library.view(library.cast(library.take(rows, positions), f"int{bits}"), f"uint{bits}")


def build_shards(
    company: Company,
    routes: list[Routes],
    columns: list[list[Any]],
    table: npt.NDArray[np.int64],
    bits: int,
    made: tuple[StructureName, DeviceLike, dict[str, Any]],
) -> tuple[list[Shard], list[Summary]]:
    """The shards of this process, of entries that are grouped by shard; and what is known of all."""
    structure, device, options = made
    entries = distribute(company, routes, columns, table)

    def construct(report: dict[str, Any]) -> list[Shard]:
        shards = [Shard(keys, rows, bits, structure, device, **options) for keys, rows in entries]
        report["summaries"] = [shard.summary() for shard in shards]
        return shards

    shards, reports = company.agree(("build", "of shards"), construct)
    return (shards, [one for report in reports for one in report["summaries"]])
