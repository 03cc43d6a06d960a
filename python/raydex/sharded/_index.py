# SPDX-License-Identifier: Apache-2.0
"""Indexes over several devices and processes."""

from __future__ import annotations

from typing import Any, cast

import numpy as np

from raydex._arrow import HostCells
from raydex._errors import InvalidArgument, InvalidType
from raydex._index import with_zeros
from raydex._infos import bytes_as_text
from raydex._matches import Matches
from raydex._sources import Source, look
from raydex.sharded._arrays import arrays_of
from raydex.sharded._call import Call, Probes
from raydex.sharded._cells import dense, row_ids
from raydex.sharded._exchange import collective, distribute, own_error
from raydex.sharded._info import Balance, ShardedInfo
from raydex.sharded._routing import Routes, route, sample
from raydex.sharded._shard import ordered_query
from raydex.sharded._shard_set import ShardSet, build_shards, packed, shard_splitters, subrange_splitters
from raydex.typing import ColumnLike, DeviceLike, Side, StructureName

SAMPLE = 4096  # keys of a slice, from which splitters are made


class ShardedIndex:
    """An index over a column that is divided among processes, a slice each, made by `raydex.sharded.build`.

    Each shard holds the keys of a range, with all their rows. Each process has one shard, or the only
    process several on several devices. Answers are those of one `raydex.Index` over the whole column: the
    slices of all processes, one behind the other.

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
    again; but in the last step, which puts answers in order, it raises alone, `rows` excepted. Where processes no
    longer reach each other, or one was interrupted in a call (Ctrl-C), all raise `raydex.ExchangeError`, and the
    index is lost. A process that is alone can ask again after that, unless it was in an edit. Batches for which a
    shard has no memory are split and tried again.
    """

    __module__ = "raydex.sharded"

    def __init__(
        self,
        shards: ShardSet,
        made: tuple[StructureName, DeviceLike, dict[str, Any]],
        most_probes: int,
        owned: bool,
    ) -> None:
        self._shards = shards
        self._company = shards.company
        self._key = shards.key
        self._made = made
        self._most_probes = most_probes
        self._owned = owned
        self._closed = False
        self._last = np.zeros(len(shards.summaries), "int64")
        self._total = np.zeros(len(shards.summaries), "int64")
        self._merged = 0

    # What it is

    @property
    def info(self) -> ShardedInfo:
        """Structure, entries, bytes, and how even shards are. Known without asking other processes."""
        self._check_open()
        shards, first = self._shards, self._shards.own[0].index.info
        return ShardedInfo(
            first.structure, first.backend, first.device, self._key.unit or first.key,
            len(shards.summaries), self._company.processes, shards.bits, shards.entries,
            shards.max_row, first.options, shards.resident_bytes, self.balance,
        )  # fmt: skip

    @property
    def balance(self) -> Balance:
        """How even shards are. Known without asking other processes."""
        return Balance(
            tuple(one.entries for one in self._shards.summaries),
            tuple(self._last.tolist()),
            tuple(self._total.tolist()),
            self._merged,
        )

    def __len__(self) -> int:
        """Entries of all shards."""
        return self._shards.entries

    def __repr__(self) -> str:
        if self._closed:
            return "raydex.sharded.ShardedIndex(closed)"
        shards, first = self._shards, self._shards.own[0].index.info
        processes = self._company.processes
        own = f"process {self._company.process} of {processes}" if processes > 1 else "one process"
        return (
            f"raydex.sharded.ShardedIndex({first.structure} on {first.device}, {own}: {len(self)} rows of "
            f"{self._key} on {len(shards.summaries)} shards, {bytes_as_text(shards.resident_bytes)})"
        )

    def close(self) -> None:
        """Frees the shards of this process now, and the process groups that the build made. Later calls
        raise `raydex.InvalidArgument`; those of other processes fail."""
        if self._closed:
            return
        self._closed = True
        self._shards.close()
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

    def first(self, lower: ColumnLike, upper: ColumnLike = None) -> Any:
        """The smallest matching row of each probe, int64, -1 where none matches."""
        return self._numbers("first", lower, upper)

    def count(self, lower: ColumnLike, upper: ColumnLike = None) -> Any:
        """How many rows match each probe, int64."""
        return self._numbers("count", lower, upper)

    def sum(self, lower: ColumnLike, upper: ColumnLike = None, *, values: ColumnLike = None) -> Any:
        """The sum of `values[row]` over the matching rows of each probe.

        `values`: it has to be given, of each process a slice of a column with a cell for each row; slices follow
        each other as those of the build did. Where rows were numbered by the build, these are the values of the
        process's own rows. Types and missing values are as of `Index.sum`. Sums of floating values are added up for
        each shard in double, then over shards; they may differ in their last digits from those of one
        index.

        Cost: each matching row is asked for at the process that has its value, 8 bytes there
        and a value back."""
        found, probes = self._ask("sum", lower, upper, {}, values)
        return probes.lower.in_library(found)

    def rows(self, lower: ColumnLike, upper: ColumnLike = None) -> Matches:
        """All matching rows of each probe, as offsets and rows; those of a probe by key, then by row, where
        the structure is ordered."""
        (offsets, found), probes = self._ask("rows", lower, upper, {})
        library = arrays_of(offsets)
        if library.name == "torch" and probes.lower.source.library.name == "numpy":
            offsets, found = library.to_host(offsets), library.to_host(found)
        return Matches(offsets, found)

    def contains(self, points: ColumnLike) -> Any:
        """Whether any row has each point's key; bool. NaN is found where the column has NaN."""
        return self._numbers("contains", points, None)

    def isin(self, points: ColumnLike, invert: bool = False) -> Any:
        """`numpy.isin(points, column, invert=invert)`: as `contains`, but NaN is in nothing, and with
        `invert` the opposite. Points may have any number of dimensions."""

        def flat() -> Source:
            source = look("points", points)
            if isinstance(source.cells, HostCells) and source.cells.array.ndim != 1:
                source.cells.array = source.cells.array.reshape(-1)
                source.scalar = False
            return source

        found, probes = self._ask("contains", flat, None, {})
        cells = probes.lower
        if arrays_of(found).dtype(cells.array).kind == "f":
            found = found & (cells.array == cells.array)
        answers = cells.in_library(~found if invert else found)
        return answers if cells.source.shape is None else answers.reshape(cells.source.shape)

    def rank(self, points: ColumnLike, side: Side = "left") -> Any:
        """How many keys are less than each point, or with `side="right"` not greater; int64. -1 for missing
        points."""
        return self._ordered("rank", points, side=side)

    def predecessor(self, points: ColumnLike, strict: bool = False) -> Any:
        """The smallest row of the largest key that is not greater than each point, or with `strict` less
        than it; -1 where there is none."""
        return self._ordered("predecessor", points, strict=strict)

    def successor(self, points: ColumnLike, strict: bool = False) -> Any:
        """The same for the smallest key that is not less than the point, or greater than it."""
        return self._ordered("successor", points, strict=strict)

    def _ordered(self, operation: str, points: Any, **arguments: Any) -> Any:
        role, arguments = ordered_query(operation, self._key, **arguments)
        found, probes = self._ask(operation, points, None, arguments, role=role)
        before = probes.lower.before if operation == "rank" else None
        return probes.lower.in_library(found if before is None else with_zeros(found, before))

    def _numbers(self, operation: str, lower: Any, upper: Any, **arguments: Any) -> Any:
        found, probes = self._ask(operation, lower, upper, arguments)
        return probes.lower.in_library(found)

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
        """The answers of this process's probes. `role`: of points, see `column_of`."""
        self._check_open()
        call = Call(self._shards, self._most_probes, operation, lower, upper, arguments, values, role)
        try:
            found = call.answers()
        except Exception as error:
            self._company.settle()
            own = own_error(error)
            if own is error:
                raise
            raise own from None
        self._last = call.pieces
        self._total = self._total + call.pieces
        self._merged += call.merged
        summed = call.summed
        if summed is not None and cast(Any, summed.key.dtype).kind == "u":
            found = arrays_of(found).view(found, "uint64")
        return (found, cast(Probes, call.probes))

    # Edits

    def insert(self, keys: ColumnLike, rows: ColumnLike) -> None:
        """Inserts entries of this process: keys and their rows, integers that the index's row ids have room
        for. They go to the shards of their keys, those of missing keys nowhere.

        After an error in the midst of it some shards may have it, some not; `erase` of the same keys and
        rows takes it back."""
        self._edit("insert", keys, rows)

    def erase(self, keys: ColumnLike, rows: ColumnLike = None) -> None:
        """Erases all entries of these keys, on all shards, or with `rows` those of each pair of a key and a
        row. What is erased need not be there. After an error it can be called again."""
        self._edit("erase", keys, rows)

    @collective(changes=True)
    def _edit(self, operation: str, keys: Any, rows: Any) -> None:
        self._check_open()
        company = self._company

        def prepare(report: dict[str, Any]) -> tuple[Routes, Any]:
            cells = dense(look("keys", keys), company.engine, self._key, "kept" if operation == "insert" else "")
            ids = None if rows is None else row_ids(rows, company.engine, cells, 2**self._shards.bits - 1)
            routes = route(cells.array, None, self._shards.splitters, cells.there)
            report["counts"] = routes.counts
            return (routes, None if ids is None else packed(ids, routes.sources, self._shards.bits))

        call = (operation, "of", "keys", *(() if rows is None else ("with rows",)))
        (routes, ids), reports = company.agree(call, prepare)
        table = np.stack([one["counts"] for one in reports])
        columns = [routes.lower] if ids is None else [routes.lower, ids]
        slices = distribute(company, [routes], [columns], table)

        def apply(report: dict[str, Any]) -> None:
            for shard, cells in zip(self._shards.own, slices):
                getattr(shard, operation)(*cells)
            report["summaries"] = [shard.summary() for shard in self._shards.own]

        _, reports = company.agree((operation, "applied"), apply)
        self._shards.summaries = [one for report in reports for one in report["summaries"]]

    @collective(changes=True)
    def rebalance(self, most: float = 1.2) -> bool:
        """Draws new splitters and moves entries, if the largest shard has more than `most` times the mean
        number of rows. Whether it did so.

        Cost: nothing where shards are even. Else as a build; both the old and the new shards are in memory
        for a while. A key is on one shard in any case, and one with very many rows leaves shards uneven."""
        self._check_open()
        company = self._company

        def take(report: dict[str, Any]) -> list[tuple[Any, Any]]:
            if not most >= 1:
                raise InvalidArgument(f"most: {most!r} is less than 1")
            if self.balance.imbalance <= most:
                return []
            entries = [shard.take() for shard in self._shards.own]
            report["samples"] = [sample(keys, None, SAMPLE) for keys, _ in entries]
            return entries

        entries, reports = company.agree(("rebalance", most), take)
        if self.balance.imbalance <= most:
            return False
        samples = [one for report in reports for one in report["samples"]]
        bits, weights = self._shards.bits, [float(one.entries) for one in self._shards.summaries]
        finer = subrange_splitters(company.engine, samples, weights, self._key, bits)
        splitters = shard_splitters(finer, len(weights))

        def divide(report: dict[str, Any]) -> tuple[list[Routes], list[list[Any]]]:
            routes = [route(keys, None, splitters) for keys, _ in entries]
            report["counts"] = sum(one.counts for one in routes)
            columns = [
                [one.lower, packed(rows, one.sources, bits)] for one, (_, rows) in zip(routes, entries)
            ]
            return (routes, columns)

        (routes, columns), reports = company.agree(("rebalance", "routes"), divide)
        table = np.stack([one["counts"] for one in reports])
        own, summaries = build_shards(company, routes, columns, table, bits, self._made)
        self._shards.close()
        self._shards.replace(finer, own, summaries)
        return True
