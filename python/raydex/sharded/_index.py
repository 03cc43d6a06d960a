# SPDX-License-Identifier: Apache-2.0
"""Indexes over several devices and processes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from raydex._arrow import HostCells
from raydex._columns import Key, Source, look, same_place
from raydex._errors import InvalidArgument, InvalidType
from raydex._index import Matches, _as_long, bytes_as_text, with_zeros
from raydex.sharded._arrays import arrays_of
from raydex.sharded._call import Call, Probes, Values
from raydex.sharded._cells import dense, of_all, row_ids
from raydex.sharded._devices import at_place, beside
from raydex.sharded._exchange import Company, by_process, collective, distribute, in_one
from raydex.sharded._info import Balance, ShardedInfo
from raydex.sharded._routing import Routes, route, sample, splitters_from, undo
from raydex.sharded._shard import Shard, Summary, complete
from raydex.sharded._turns import stretches_for

SAMPLE = 4096  # keys of a part, from which splitters are made


class ShardedIndex:
    """An index over a column of which each process has a part, made by `raydex.sharded.build`.

    Each shard holds the keys of a range, with all their rows. Each process has one shard, or the only
    process several on several devices. Answers are those of one `raydex.Index` over the whole column: the
    parts of all processes, one behind the other.

    *Collective*: every method is called by all processes, in the same order, but for `info`, `balance`,
    `len`, `repr` and `close`. Each passes probes of its own, any number of them, none, too, and gets their
    answers. Not by several threads at a time.

    *Probes* and *results* are as of `raydex.Index`; on GPUs they are PyTorch's tensors, whose current
    stream is the one that is used. Calls wait for their probes to be counted, and not for their answers, but
    where GPUs write to each other's memory (see `TorchExchange`).

    *Cost*: as of the local index, and beside it a probe is partitioned and sent, and its answer is sent
    back: a key of 32 bits and a row below 2^31 are 8 bytes. A key that many points of a batch have is sent
    once.

    *Errors*: what one process raises the others hear of as `raydex.ShardError`, and the index can be used
    again; but in the last step, which puts answers in order, it raises alone. Where processes no longer reach
    each other, or one was interrupted in a call (Ctrl-C), all raise `raydex.ExchangeError`, and the index is
    lost. A process that is alone can ask again after that, unless it was in an edit. Batches for which a shard has no
    memory are split and tried again.
    """

    __module__ = "raydex.sharded"

    def __init__(
        self,
        company: Company,
        key: Key,
        splitters: npt.NDArray[Any],
        shards: list[Shard],
        summaries: list[Summary],
        bits: int,
        made: tuple[str, Any, dict[str, Any]],
        most_probes: int,
        owned: bool,
    ) -> None:
        self._company = company
        self._key = key
        self._shards = shards
        self._summaries = summaries
        self._divide(splitters)
        self._bits = bits
        self._made = made
        self._most_probes = most_probes
        self._owned = owned
        self._closed = False
        self._room_of_rows = 0  # cells that a process was to receive before
        self._last = np.zeros(len(summaries), "int64")
        self._total = np.zeros(len(summaries), "int64")
        self._merged = 0

    def _divide(self, splitters: npt.NDArray[Any]) -> None:
        """`splitters`: of the stretches of all shards, which have as many each."""
        stretches = (len(splitters) + 1) // len(self._summaries)
        self._stretch_splitters = splitters
        self._splitters = splitters[stretches - 1 :: stretches]

    # What it is

    @property
    def info(self) -> ShardedInfo:
        """Structure, entries, bytes, and how even shards are. Known without asking other processes."""
        self._check_open()
        of = self._shards[0].index.info
        return ShardedInfo(
            of.structure, of.backend, of.device, of.key if not self._key.unit else self._key.unit,
            len(self._summaries), self._company.processes, self._bits, len(self),
            self._max_row(), of.options, sum(one.resident_bytes for one in self._summaries), self.balance,
        )  # fmt: skip

    @property
    def balance(self) -> Balance:
        """How even shards are. Known without asking other processes."""
        return Balance(
            tuple(one.entries for one in self._summaries),
            tuple(self._last.tolist()),
            tuple(self._total.tolist()),
            self._merged,
        )

    def _max_row(self) -> int:
        return max(one.max_row for one in self._summaries)

    def __len__(self) -> int:
        """Entries of all shards."""
        return sum(one.entries for one in self._summaries)

    def __repr__(self) -> str:
        if self._closed:
            return "raydex.sharded.ShardedIndex(closed)"
        of = self._shards[0].index.info
        processes = self._company.processes
        where = f"process {self._company.process} of {processes}" if processes > 1 else "one process"
        held = sum(one.resident_bytes for one in self._summaries)
        return (
            f"raydex.sharded.ShardedIndex({of.structure} on {of.device}, {where}: {len(self)} rows of "
            f"{self._key} on {len(self._summaries)} shards, {bytes_as_text(held)})"
        )

    def close(self) -> None:
        """Frees the shards of this process now, and the process groups that the build made. Later calls
        raise `raydex.InvalidArgument`; those of other processes fail."""
        if self._closed:
            return
        self._closed = True
        for shard in self._shards:
            shard.close()
        if self._owned:
            self._company.close()

    def __enter__(self) -> ShardedIndex:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __reduce_ex__(self, protocol: Any) -> Any:
        raise InvalidType(
            "index: it has memory of its own, and is neither copied nor pickled; share it, or build another one"
        )

    def _check_open(self) -> None:
        if self._closed:
            raise InvalidArgument("index: it is closed; build another one")
        self._company.check()

    # Queries

    def first(self, lower: Any, upper: Any = None) -> Any:
        """The smallest matching row of each probe, int64, -1 where none matches."""
        return self._numbers("first", lower, upper)

    def count(self, lower: Any, upper: Any = None) -> Any:
        """How many rows match each probe, int64."""
        return self._numbers("count", lower, upper)

    def sum(self, lower: Any, upper: Any = None, *, values: Any = None) -> Any:
        """The sum of `values[row]` over the matching rows of each probe, or of the rows themselves.

        `values`: of each process a part of a column with a cell for each row; parts follow each other as
        those of the build did. Where rows were numbered by the build, these are the values of the process's
        own rows. Types and missing values are as of `Index.sum`. Sums of floating values are added up for
        each shard in double, then over shards; they may differ in their last digits from those of one
        index.

        Cost with values: each matching row is asked for at the process that has its value, 8 bytes there
        and a value back."""
        found, probes = self._ask("sum", lower, upper, {}, values)
        return probes.lower.given(found)

    def rows(self, lower: Any, upper: Any = None) -> Matches:
        """All matching rows of each probe, as offsets and rows; those of a probe by key, then by row, where
        the structure is ordered."""
        (offsets, found), probes = self._ask("rows", lower, upper, {})
        on = arrays_of(offsets)
        if on.name == "torch" and probes.lower.source.world.name == "numpy":
            offsets, found = on.host(offsets), on.host(found)
        return Matches(offsets, found)

    def contains(self, points: Any) -> Any:
        """Whether any row has each point's key; bool. NaN is found where the column has NaN."""
        return self._numbers("contains", points, None)

    def isin(self, points: Any, invert: bool = False) -> Any:
        """`numpy.isin(points, column, invert=invert)`: as `contains`, but NaN is in nothing, and with
        `invert` the opposite. Points may have any number of dimensions."""

        def flat() -> Source:
            source = look("points", points)
            if isinstance(source.cells, HostCells) and source.cells.array.ndim != 1:
                source.cells.array = source.cells.array.reshape(-1)
                source.scalar = False
            return source

        found, probes = self._ask("contains", flat, None, {})
        of = probes.lower
        if arrays_of(found).dtype(of.array).kind == "f":
            found = found & (of.array == of.array)
        answers = of.given(~found if invert else found)
        return answers if of.source.shape is None else answers.reshape(of.source.shape)

    def rank(self, points: Any, side: str = "left") -> Any:
        """How many keys are less than each point, or with `side="right"` not greater; int64. -1 for missing
        points."""
        if self._key.time is None or side not in ("left", "right"):
            return self._numbers("rank", points, None, side=side)
        # Times of another unit may be between keys, or beyond all.
        found, probes = self._ask(
            "rank", points, None, {"side": "right"}, role="at_most" if side == "right" else "below"
        )
        return probes.lower.given(found if probes.lower.before is None else with_zeros(found, probes.lower.before))

    def predecessor(self, points: Any, strict: bool = False) -> Any:
        """The smallest row of the largest key that is not greater than each point, or with `strict` less
        than it; -1 where there is none."""
        return self._closest("predecessor", points, strict, "below" if strict else "at_most")

    def successor(self, points: Any, strict: bool = False) -> Any:
        """The same for the smallest key that is not less than the point, or greater than it."""
        return self._closest("successor", points, strict, "above" if strict else "at_least")

    def _closest(self, operation: str, points: Any, strict: bool, role: str) -> Any:
        if self._key.time is None:
            return self._numbers(operation, points, None, strict=strict)
        found, probes = self._ask(operation, points, None, {"strict": False}, role=role)
        return probes.lower.given(found)

    def _numbers(self, operation: str, lower: Any, upper: Any, **arguments: Any) -> Any:
        found, probes = self._ask(operation, lower, upper, arguments)
        return probes.lower.given(found)

    def _probes(self, lower: Any, upper: Any, role: str = "") -> Probes:
        engine = self._company.engine
        if upper is None:
            source = lower() if callable(lower) else look("points", lower)
            of = dense(source, engine, self._key, role)
            return Probes(of, None, of.there)
        begin, end = _as_long(look("lower", lower), look("upper", upper))
        same_place(begin, end)
        of, to = dense(begin, engine, self._key, "at_least"), dense(end, engine, self._key, "at_most")
        if len(of) != len(to):
            raise InvalidArgument(f"upper: {len(to)} cells, but lower has {len(of)}; they must agree")
        there = of.there if to.there is None else to.there if of.there is None else of.there & to.there
        return Probes(of, beside(to.array, of.array), there)

    @collective(changes=False)
    def _ask(
        self,
        operation: str,
        lower: Any,
        upper: Any,
        arguments: dict[str, Any],
        values: Any = None,
        role: str = "",
    ) -> tuple[Any, Probes]:
        """The answers of this process's probes. `role`: of points, see `column`."""
        self._check_open()
        call = Call(self, operation, lower, upper, arguments, values, role)
        try:
            found = call.answers()
        except Exception:
            self._company.settle()
            raise
        self._last = call.pieces
        self._total = self._total + call.pieces
        self._merged += call.merged
        summed = call.summed
        if operation == "sum" and (summed is None or cast(Any, summed.key.dtype).kind == "u"):
            found = arrays_of(found).view(found, "uint64")
        return (found, cast(Probes, call.probes))

    def _make_room(self, like: Any, between: npt.NDArray[np.int64], columns: int) -> None:
        """Agrees that there is memory for what comes, where more comes than ever before."""
        most = int(between.sum(axis=0).max())
        if self._company.processes > 1 and most > self._room_of_rows:
            mine = int(between[:, self._company.process].sum())
            engine = self._company.engine
            self._company.agree(
                ("make", "room"), lambda told: engine.reserve(like, columns * mine), retry=True
            )
            self._room_of_rows = most

    def _rows(
        self, operation: str, columns: list[Any], table: npt.NDArray[np.int64], summed: Values | None
    ) -> Any:
        """The rows of a batch's pieces, or the sums of their values."""
        company = self._company
        between = by_process(table)
        self._make_room(columns[0], between, 1 + len(columns))
        sent, received = between[company.process].tolist(), between[:, company.process].tolist()
        ends = [company.exchange(one, sent, received) for one in columns]
        pieces = table[company.process] if company.processes == 1 else np.array([len(ends[0])])
        (counts, rows, sizes), _ = company.agree(
            (operation, "answers"), lambda told: self._matches(ends, pieces, received), retry=True
        )
        if summed is None:
            return self._rows_back(counts, rows, sizes, sent, received)
        return company.exchange(self._sums(counts, rows, summed), received, sent)

    def _on_shards(self, ends: list[Any], pieces: npt.NDArray[np.int64]) -> list[tuple[Any, Any]]:
        """The pieces of each shard of this process, where it is: points, or the lower and upper ends of
        ranges."""
        lower, upper = (*ends, None)[:2]
        parts = []
        end = 0
        for place, count in zip(self._company.engine.places, pieces.tolist()):
            begin, end = end, end + count
            above = None if upper is None else at_place(upper[begin:end], place)
            parts.append((at_place(lower[begin:end], place), above))
        return parts

    def _local(
        self, operation: str, ends: list[Any], pieces: npt.NDArray[np.int64], arguments: dict[str, Any]
    ) -> Any:
        """What the shards of this process answer."""
        number = self._company.process * len(self._shards)
        answers = []
        for shard, (begin, end) in zip(self._shards, self._on_shards(ends, pieces)):
            columns = [begin] if end is None else [begin, end]
            own = self._answered(shard, operation, columns, arguments)
            answers.append(beside(complete(operation, own, number, self._summaries), ends[0]))
            number += 1
        return arrays_of(ends[0]).concatenate(answers) if len(answers) > 1 else answers[0]

    def _answered(
        self, shard: Shard, operation: str, columns: list[Any], arguments: dict[str, Any]
    ) -> Any:
        """What a shard answers by itself, in the type that answers are sent in."""
        narrow = self._narrow(operation)
        fits = narrow == "int32" and self._bits == 32
        own = shard.answer(operation, *columns, narrow=fits, **arguments)
        return own if operation in ("contains", "sum") else arrays_of(own).cast(own, narrow)

    def _narrow(self, operation: str) -> str:
        """The type that answers are sent in."""
        most = len(self) if operation in ("count", "rank") else self._max_row()
        return "int32" if most < 2**31 else "int64"

    def _matches(
        self, ends: list[Any], pieces: npt.NDArray[np.int64], received: list[int]
    ) -> tuple[Any, Any, list[int]]:
        """The rows of pieces: how many each has, all of them, and how many are of each process's pieces."""
        on = arrays_of(ends[0])
        each = [
            shard.answer("rows", begin, end)
            for shard, (begin, end) in zip(self._shards, self._on_shards(ends, pieces))
        ]
        counts = on.cast(in_one([beside(one[0], ends[0]) for one in each]), self._narrow("count"))
        rows = in_one([beside(one[1], ends[0]) for one in each])
        del each
        rows = on.cast(rows, self._narrow("rows"))
        return (counts, rows, _sizes(counts, received))

    def _rows_back(
        self, counts: Any, rows: Any, sizes: list[int], sent: list[int], received: list[int]
    ) -> tuple[Any, Any]:
        company = self._company
        counts = company.exchange(counts, received, sent)

        def room(told: dict[str, Any]) -> list[int]:
            come = _sizes(counts, sent)
            company.engine.reserve(rows, sum(come))
            return come

        come, _ = company.agree(("rows", "room"), room, retry=True)
        return (counts, company.exchange(rows, sizes, come))

    def _values(self, values: Any) -> Values:
        of = dense(look("values", values), self._company.engine)
        dtype = of.key.dtype
        if of.key.unit or dtype is None or dtype.kind not in "iuf":
            raise InvalidType(f"values: they are {of.key}; sums are of numbers")
        part = of.array
        if of.there is not None:
            part = arrays_of(part).where(of.there, part, np.zeros(1, dtype))
        return Values(part, of.key)

    def _place_values(self, values: Values, told: list[dict[str, Any]]) -> None:
        """Learns which rows have their values where, and of which type all are."""
        sizes = [one["values"][1] for one in told]
        values.key = of_all("values", [one["values"][0] for one in told], sizes)
        if len(self) and sum(sizes) <= self._max_row():
            raise InvalidArgument(
                f"values: {sum(sizes)} cells in all, but the largest row id is {self._max_row()}"
            )
        if len(values.part) == 0:
            values.part = arrays_of(values.part).empty(0, cast(Any, values.key.dtype))
        values.begins = np.cumsum(sizes[:-1], dtype="int64")

    def _sums(self, counts: Any, rows: Any, values: Values) -> Any:
        """The sum of the values of each piece's rows, which are asked for where they are."""
        company = self._company
        on = arrays_of(rows)
        begins, kind = cast(Any, values.begins), cast(Any, values.key.dtype)

        def ask(told: dict[str, Any]) -> Routes:
            routes = route(on.cast(rows, "int64"), None, begins)
            told["counts"] = routes.counts
            return routes

        routes, told_all = company.agree(("values", "rows"), ask, retry=True)
        table = np.stack([one["counts"] for one in told_all])
        sent, received = table[company.process].tolist(), table[:, company.process].tolist()
        self._make_room(routes.lower, table, 2)
        asked = company.exchange(routes.lower, sent, received)
        own = int(begins[company.process - 1]) if company.process else 0
        found, _ = company.agree(
            ("values", "found"), lambda told: on.take(beside(values.part, rows), asked - own), retry=True
        )
        back = company.exchange(found, received, sent)

        def add(told: dict[str, Any]) -> Any:
            cells = undo(routes, back, "place", fill=0)
            if kind == "uint64":
                cells = on.view(cells, "int64")
            wide = on.cast(cells, "float64" if kind.kind == "f" else "int64")
            return on.segment_sums(wide, on.running(counts))

        return company.agree(("values", "added"), add, retry=True)[0]

    # Edits

    def insert(self, keys: Any, rows: Any) -> None:
        """Inserts entries of this process: keys and their rows, integers that the index's row ids have room
        for. They go to the shards of their keys, those of missing keys nowhere.

        After an error in the midst of it some shards may have it, some not; `erase` of the same keys and
        rows takes it back."""
        self._edit("insert", keys, rows)

    def erase(self, keys: Any, rows: Any = None) -> None:
        """Erases all entries of these keys, on all shards, or with `rows` those of each pair of a key and a
        row. What is erased need not be there. After an error it can be called again."""
        self._edit("erase", keys, rows)

    @collective(changes=True)
    def _edit(self, operation: str, keys: Any, rows: Any) -> None:
        self._check_open()
        company = self._company

        def prepare(told: dict[str, Any]) -> tuple[Routes, Any]:
            cells = dense(look("keys", keys), company.engine, self._key, "kept" if operation == "insert" else "")
            ids = None if rows is None else row_ids(rows, company.engine, cells, 2**self._bits - 1)
            routes = route(cells.array, None, self._splitters, cells.there)
            told["counts"] = routes.counts
            return (routes, None if ids is None else packed(ids, routes.sources, self._bits))

        call = (operation, "of", "keys", *(() if rows is None else ("with rows",)))
        (routes, ids), told_all = company.agree(call, prepare)
        table = np.stack([one["counts"] for one in told_all])
        columns = [routes.lower] if ids is None else [routes.lower, ids]
        parts = distribute(company, [routes], [columns], table)

        def apply(told: dict[str, Any]) -> None:
            for shard, cells in zip(self._shards, parts):
                getattr(shard, operation)(*cells)
            told["summaries"] = [shard.summary() for shard in self._shards]

        _, told_all = company.agree((operation, "applied"), apply)
        self._summaries = [one for told in told_all for one in told["summaries"]]

    @collective(changes=True)
    def rebalance(self, most: float = 1.2) -> bool:
        """Draws new splitters and moves entries, if the largest shard has more than `most` times the mean
        number of rows. Whether it did so.

        Cost: nothing where shards are even. Else as a build; both the old and the new shards are in memory
        for a while. A key is on one shard in any case, and one with very many rows leaves shards uneven."""
        self._check_open()
        company = self._company

        def take(told: dict[str, Any]) -> list[tuple[Any, Any]]:
            if not most >= 1:
                raise InvalidArgument(f"most: {most!r} is less than 1")
            if self.balance.imbalance <= most:
                return []
            parts = [shard.take() for shard in self._shards]
            told["samples"] = [sample(keys, None, SAMPLE) for keys, _ in parts]
            return parts

        parts, told_all = company.agree(("rebalance", most), take)
        if self.balance.imbalance <= most:
            return False
        samples = [one for told in told_all for one in told["samples"]]
        weights = [float(one.entries) for one in self._summaries]
        stretches = stretches_for(company.engine, sum(weights), self._key, self._bits)
        finer = splitters_from(samples, len(self._summaries) * stretches, weights)
        splitters = finer[stretches - 1 :: stretches]

        def divide(told: dict[str, Any]) -> tuple[list[Routes], list[list[Any]]]:
            routes = [route(keys, None, splitters) for keys, _ in parts]
            told["counts"] = sum(one.counts for one in routes)
            columns = [
                [one.lower, packed(rows, one.sources, self._bits)] for one, (_, rows) in zip(routes, parts)
            ]
            return (routes, columns)

        (routes, columns), told_all = company.agree(("rebalance", "routes"), divide)
        table = np.stack([one["counts"] for one in told_all])
        shards, summaries = build_shards(company, routes, columns, table, self._bits, self._made)
        for shard in self._shards:
            shard.close()
        self._shards, self._summaries = shards, summaries
        self._divide(finer)
        return True


def _sizes(counts: Any, parts: Sequence[int]) -> list[int]:
    """The sums of the first `parts[0]` counts, the next `parts[1]`, and so on."""
    on = arrays_of(counts)
    ends = on.here(np.cumsum([0, *parts]))
    sizes: list[int] = np.diff(on.host(on.take(on.running(counts), ends))).tolist()
    return sizes


def packed(rows: Any, places: Any, bits: int) -> Any:
    """Some of the rows as row ids of an index."""
    on = arrays_of(rows)
    return on.view(on.cast(on.take(rows, places), f"int{bits}"), f"uint{bits}")


def build_shards(
    company: Company,
    routes: list[Routes],
    columns: list[list[Any]],
    table: npt.NDArray[np.int64],
    bits: int,
    made: tuple[str, Any, dict[str, Any]],
) -> tuple[list[Shard], list[Summary]]:
    """The shards of this process, of entries that are grouped by shard; and what is known of all."""
    structure, device, options = made
    parts = distribute(company, routes, columns, table)

    def construct(told: dict[str, Any]) -> list[Shard]:
        shards = [Shard(keys, rows, bits, structure, device, **options) for keys, rows in parts]
        told["summaries"] = [shard.summary() for shard in shards]
        return shards

    shards, told_all = company.agree(("build", "of shards"), construct)
    return (shards, [one for told in told_all for one in told["summaries"]])
