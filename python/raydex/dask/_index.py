# SPDX-License-Identifier: Apache-2.0
"""Indexes whose shards live on the workers of a Dask cluster."""

from __future__ import annotations

import operator
import threading
import uuid
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from raydex._arguments import check_words
from raydex._errors import InvalidArgument, InvalidType, Unsupported
from raydex._index import check_has_values
from raydex._infos import bytes_as_text
from raydex._keys import Key
from raydex.dask import _shards
from raydex.dask._graphs import Engine, Graph, Partitions, Persisted, check_column, is_lazy, merged, take_apart
from raydex.dask._libraries import DataNode, HighLevelGraph, List, Task, TaskRef, arrays, frames, pd, tokenize
from raydex.sharded._cells import of_all
from raydex.sharded._routing import Routes, splitters_from
from raydex.sharded._shard import Summary, ordered_query, row_id_bits
from raydex.typing import KeyOptions, Side, StructureName, Unpack


@dataclass(frozen=True)
class IndexInfo:
    """What a sharded index is, and where."""

    __module__ = "raydex.dask"

    structures: tuple[str, ...]
    """Of each shard."""
    key: str
    """The type of its keys."""
    row_id_bits: int
    """32 or 64."""
    n: int
    """Rows of the column that it was built over."""
    entries: int
    """Rows that are not missing, and what edits have added."""
    shards: int
    """How many it has."""
    entries_per_shard: tuple[int, ...]
    """In the order of their keys."""
    imbalance: float
    """Entries of the largest shard, in those of a shard on average; 1 is even. A key of many rows is on one
    shard."""
    resident_bytes: int
    """Of all shards."""
    workers: tuple[tuple[str, ...], ...]
    """The workers that have each shard: none while it is lost, and was not asked since. Empty without a
    cluster."""


@dataclass(frozen=True)
class _State:
    """All that an edit replaces."""

    shards: Persisted
    summaries: tuple[Summary, ...]
    around: list[tuple[Summary, Summary]]
    structures: tuple[str, ...]
    ordered: bool
    token: str


class Index:
    """An index over a column of Dask, made by `raydex.dask.build`: answers batches of points and ranges.

    *Shards* hold ranges of keys, each on a worker, as results of Dask that this object keeps. A task that
    asks one runs where it is. Dask sends one elsewhere where a worker retires, and writes one to a disk where
    a worker lacks memory; both are correct and slow, and workers log them (as `raydex.dask`). Where a worker
    dies, its shards are made again from the source of the column when they are next asked.

    *Probes* are a Series, an Index or an Array of Dask, with any partitions, of the keys' dtype or one that
    converts to it. Where one column is given, its cells are points; where there is an upper one, too, of
    the same partitions, or a single number, they are ranges, both ends included. The answer is lazy: a
    Series with the labels of the probes, for an Array an Array with its chunks. What is in host memory, of
    NumPy, pandas or Arrow, a list or a single number, is answered at once, with arrays of NumPy.

    *Rows* are numbered over all partitions of the column in their order, int64, -1 where there is none.
    *Missing* probes match nothing. NaN equals NaN.

    *Errors* of `raydex` are raised where Dask computes. A cluster that does not answer is a
    `raydex.ExchangeError`; in lazy answers it is Dask's own error.
    """

    __module__ = "raydex.dask"

    def __init__(
        self,
        engine: Engine,
        key: Key,
        splitters: npt.NDArray[Any],
        begins: npt.NDArray[np.int64] | None,
        n: int,
        bits: int,
        state: _State,
    ) -> None:
        self._engine = engine
        self._key = key
        self._splitters = splitters
        self._begins = begins  # the first row of each partition; None where rows were given
        self._n = n
        self._bits = bits
        self._state: _State | None = state
        self._changes = threading.Lock()

    # What it is

    @property
    def info(self) -> IndexInfo:
        """Structures, entries of each shard, their imbalance, bytes, and workers as of now."""
        state = self._open()
        entries = tuple(one.entries for one in state.summaries)
        even = sum(entries) / len(entries)
        return IndexInfo(
            state.structures, str(self._key), self._bits, self._n, sum(entries), len(entries), entries,
            max(entries) / even if even else 1.0, sum(one.resident_bytes for one in state.summaries),
            tuple(self._engine.workers_of(state.shards)),
        )  # fmt: skip

    def __len__(self) -> int:
        """Entries: rows that are not missing, and what edits have added."""
        return sum(one.entries for one in self._open().summaries)

    def __repr__(self) -> str:
        if self._state is None:
            return "raydex.dask.Index(closed)"
        state = self._state
        size = bytes_as_text(sum(one.resident_bytes for one in state.summaries))
        return f"raydex.dask.Index({len(state.summaries)} shards: {len(self)} rows of {self._key}, {size})"

    def close(self) -> None:
        """Lets go of the shards; Dask frees them once no lazy answer needs them."""
        self._state = None

    def __enter__(self) -> Index:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _open(self) -> _State:
        if self._state is None:
            raise InvalidArgument("index: it is closed; build another one")
        return self._state

    # Queries

    def first(self, lower: Any, upper: Any = None) -> Any:
        """The smallest matching row of each probe, -1 where none matches; int64."""
        return self._ask("first", lower, upper)

    def count(self, lower: Any, upper: Any = None) -> Any:
        """How many rows match each probe; int64."""
        return self._ask("count", lower, upper)

    def sum(self, lower: Any, upper: Any = None, *, values: Any = None) -> Any:
        """The sum of `values[row]` over the matching rows of each probe.

        `values`: it has to be given, another column of the table that the index was built over, with the same
        partitions. The sum is int64, uint64 or float64, as that of `raydex.Index.sum`. Cost: as `rows`, and each
        partition of the values is asked for those that each partition of the probes needs."""
        check_has_values(values)
        begins = self._begins_of(values)
        if is_lazy(lower) or is_lazy(upper):
            return self._lazy_sums(lower, upper, values, begins)
        return self._sums(lower, upper, values, begins)

    def rows(self, lower: Any, upper: Any = None) -> Any:
        """All matching rows of each probe.

        Of probes of Dask: a lazy DataFrame with a line for each match, the label of the probe as its index
        (of an Array the number of the probe) and the column `row`, int64; those of a probe are ordered by
        key, then by row, on ordered structures. Of probes in host memory `raydex.Matches`."""
        return self._ask("rows", lower, upper)

    def contains(self, points: Any) -> Any:
        """Whether any row has each point's key; bool. NaN is found where the column has NaN."""
        return self._ask("contains", points)

    def isin(self, points: Any, invert: bool = False) -> Any:
        """As `contains`, but NaN is in nothing; with `invert` the opposite."""
        return self._ask("contains", points, invert=invert)

    def rank(self, points: Any, side: Side = "left") -> Any:
        """How many keys are less than each point, or with `side="right"` not greater; int64, -1 for missing
        points. Of ordered structures only."""
        if side not in ("left", "right"):
            raise InvalidArgument(f"side: {side!r} is neither 'left' nor 'right'")
        return self._ordered("rank", points, side=side)

    def predecessor(self, points: Any, strict: bool = False) -> Any:
        """The smallest row of the largest key that is not greater than each point, or with `strict` less
        than it; -1 where there is none. Of ordered structures only."""
        return self._ordered("predecessor", points, strict=strict)

    def successor(self, points: Any, strict: bool = False) -> Any:
        """The same for the smallest key that is not less than the point, or greater than it."""
        return self._ordered("successor", points, strict=strict)

    def _ordered(self, operation: str, points: Any, **arguments: Any) -> Any:
        role, arguments = ordered_query(operation, self._key, **arguments)
        return self._ask(operation, points, role=role, **arguments)

    def _ask(
        self,
        operation: str,
        lower: Any,
        upper: Any = None,
        *,
        invert: bool | None = None,
        role: str = "",
        **arguments: Any,
    ) -> Any:
        """`role` is of points, see `column_of`."""
        state = self._open()
        if not state.ordered and (upper is not None or operation in ("rank", "predecessor", "successor")):
            raise Unsupported(
                f"{operation}: {', '.join(sorted(set(state.structures)))} answers points only; build with an "
                "ordered structure, as raydex.structures() names them"
            )
        if not is_lazy(lower) and not is_lazy(upper):
            routes, before = _shards.routes_of(lower, upper, self._splitters, self._key, role)
            answers = self._answers(state, routes, operation, arguments)
            found = _shards.together(routes, answers, operation)
            found = _shards.with_first_ranks(found, operation, before)
            if invert is not None:
                found = _shards.without_nan(routes, found, invert)
            return found[0] if operation != "rows" and _are_single(lower, upper) else found
        question = _Question(self, state, operation, lower, upper, arguments, role, invert)
        if operation == "rows":
            return question.lines()
        dtype = "bool" if operation == "contains" else "int64"
        last = [
            Task(key, _shards.answered, TaskRef(probes), List(*answers), operation, invert)
            for key, probes, answers in question.each(f"raydex-{operation}")
        ]
        return question.like_probes(last, dtype)

    def _answers(self, state: _State, routes: Routes, operation: str, arguments: dict[str, Any]) -> list[Any]:
        """What shards say of pieces that are here."""
        queries = {
            key: (ends, operation, arguments, around)
            for key, ends, around in zip(state.shards.keys, _shards.slices_of(routes), state.around)
            if ends is not None
        }
        if not queries:
            return []
        size = sum(one.nbytes for ends, *_ in queries.values() for one in ends if one is not None)
        found = self._engine.call(_shards.answer, state.shards, queries, size)
        if found is not None:
            return found
        graph = state.shards.graph()
        token = uuid.uuid4().hex
        sent = self._engine.send([ends for ends, *_ in queries.values()])
        keys: list[Any] = []
        for (shard, (_, *others)), ends in zip(queries.items(), sent):
            keys.append((f"raydex-now-{operation}-{token}", len(keys)))
            graph[keys[-1]] = Task(keys[-1], _shards.answer, TaskRef(shard), ends, *others)
        return self._engine.get(graph, keys)

    # Sums of values

    def _begins_of(self, values: Any) -> npt.NDArray[np.int64]:
        """The first row of each partition of values."""
        if self._begins is None:
            raise Unsupported(
                "values: the index has rows of its own, which do not say where values are; ask rows, and "
                "join them with the table"
            )
        check_column("values", values)
        partitions = len(values.chunks[0]) if isinstance(values, arrays.Array) else values.npartitions
        if partitions != len(self._begins):
            raise InvalidArgument(
                f"values: {partitions} partitions, but the column of the index has {len(self._begins)}; give a "
                "column of the same table"
            )
        return self._begins

    def _fetching(self, key: Any, partition: Any, ends: Any, number: int) -> Any:
        """The task that takes values of some rows from a partition of this number."""
        assert self._begins is not None
        begin = int(self._begins[number])
        end = int(self._begins[number + 1]) if number + 1 < len(self._begins) else self._n
        return Task(key, _shards.fetched, TaskRef(partition), ends, begin, end - begin)

    def _sums(self, lower: Any, upper: Any, values: Any, begins: npt.NDArray[np.int64]) -> Any:
        found = self._ask("rows", lower, upper)
        routes = _shards.rows_routed(found, begins[1:])
        partitions, token, keys = take_apart(values), uuid.uuid4().hex, []
        for i, (partition, ends) in enumerate(zip(partitions.keys, self._engine.send(_shards.slices_of(routes)))):
            keys.append((f"raydex-fetch-{token}", i))
            partitions.graph[keys[-1]] = self._fetching(keys[-1], partition, ends, i)
        sums = _shards.sums(found, routes, self._engine.get(partitions.graph, keys))
        return sums[0] if _are_single(lower, upper) else sums

    def _lazy_sums(self, lower: Any, upper: Any, values: Any, begins: npt.NDArray[np.int64]) -> Any:
        question = _Question(self, self._open(), "rows", lower, upper, {}, "", values)
        each = question.each("raydex-sum")
        partitions, graph, token = take_apart(values), question.graph, question.token
        graph |= partitions.graph
        last = []
        for i, (key, probes, answers) in enumerate(each):
            matches, rows = (f"raydex-matches-{token}", i), (f"raydex-rows-{token}", i)
            graph[matches] = Task(matches, _shards.matches, TaskRef(probes), List(*answers))
            graph[rows] = Task(rows, _shards.rows_routed, TaskRef(matches), begins[1:])
            fetched = []
            for j, of_values in enumerate(partitions.keys):
                ends, fetch = (f"raydex-needed-{token}", i, j), (f"raydex-fetch-{token}", i, j)
                graph[ends] = Task(ends, _shards.slice_for, TaskRef(rows), j)
                graph[fetch] = self._fetching(fetch, of_values, TaskRef(ends), j)
                fetched.append(TaskRef(fetch))
            last.append(
                Task(
                    key, _shards.labelled_sums, TaskRef(probes), TaskRef(matches), TaskRef(rows),
                    List(*fetched),
                )
            )  # fmt: skip
        kind = getattr(values.dtype, "kind", "f")
        return question.like_probes(last, {"i": "int64", "f": "float64"}.get(kind, "uint64"))

    # Edits

    def insert(self, keys: Any, rows: Any) -> None:
        """Inserts entries: keys and their rows, integers that the index's row ids have room for.

        Both in host memory, or columns of Dask with the same partitions. Missing keys are passed over.
        Shards that get entries are made anew on their workers from the old ones, since results of Dask do
        not change: lazy answers that were asked before are of the old ones, and a shard that is lost is made
        from its source and the edits again. Cost: a sort of these shards' entries, for a while in twice the
        memory. Waits for Dask."""
        self._edit(keys, rows, _shards.inserted)

    def erase(self, keys: Any, rows: Any = None) -> None:
        """Erases all entries of these keys, or with `rows` those of each pair of a key and a row. What is
        erased need not be there. Costs as `insert`."""
        self._edit(keys, rows, _shards.erased, rows is not None)

    def _edit(self, keys: Any, rows: Any, call: Callable[..., Any], *arguments: Any) -> None:
        with self._changes:
            state = self._open()
            token = uuid.uuid4().hex
            graph = state.shards.graph()
            role = "kept" if call is _shards.inserted else ""
            entries = _entries_of(token, graph, "keys", keys, rows, self._key, role)
            slices = _split(token, graph, entries, [0] * len(entries), self._splitters)
            made = []
            for j, shard in enumerate(state.shards.keys):
                made.append((f"raydex-shard-{token}", j))
                graph[made[-1]] = Task(made[-1], call, TaskRef(shard), List(*slices[j]), *arguments)
            self._state = _living(self._engine, token, graph, made, {})


class _Question:
    """A lazy question: its graph as it grows, and the probes that it is asked of."""

    def __init__(
        self,
        index: Index,
        state: _State,
        operation: str,
        lower: Any,
        upper: Any,
        arguments: dict[str, Any],
        role: str,
        *others: Any,
    ) -> None:
        lazy = {name: x for name, x in (("lower", lower), ("upper", upper)) if is_lazy(x)}
        for name, x in lazy.items():
            check_column("points" if upper is None else name, x)
        if len(lazy) == 2:
            _check_alike(lower, upper)
        for name, x in (("lower", lower), ("upper", upper)):
            if x is not None and name not in lazy and not _shards.is_single(x):
                raise InvalidArgument(
                    f"{name}: it is in host memory, but the other end is of Dask; give two columns of Dask "
                    "with the same partitions, or a single number"
                )
        self._index = index
        self._state = state
        self._operation = operation
        self._arguments = arguments
        self._role = role
        self._probes = lower if "lower" in lazy else upper
        # Of one batch that several questions are asked of the parts that do not differ are done once.
        self._batch = tokenize(state.token, lower, upper, role)
        self.token = tokenize(self._batch, operation, arguments, *others)
        partitions: dict[str, Partitions] = {name: take_apart(x) for name, x in lazy.items()}
        self.graph: Graph = {}
        for one in partitions.values():
            self.graph |= one.graph
        self._partitions = len(next(iter(partitions.values())).keys)
        self._ends = [
            [TaskRef(key) for key in partitions[name].keys] if name in partitions else [x] * self._partitions
            for name, x in (("lower", lower), ("upper", upper))
        ]

    def each(self, name: str) -> list[tuple[Any, Any, list[Any]]]:
        """For each partition of the probes: the key of its answer, that of where its probes go, and what the
        shards answer. Makes the tasks of these, without the answer's."""
        state, token, found = self._state, self.token, []
        batch = [(f"raydex-routes-{self._batch}", i) for i in range(self._partitions)]
        for probes, lower, upper in zip(batch, *self._ends):
            self.graph[probes] = Task(
                probes, _shards.routed, lower, upper, self._index._splitters, self._index._key, self._role
            )
        self.graph = merged(self.graph, batch) | state.shards.graph()
        for i, probes in enumerate(batch):
            answers = []
            for j, shard in enumerate(state.shards.keys):
                ends, answer = (f"raydex-ends-{self._batch}", i, j), (f"raydex-answer-{token}", i, j)
                self.graph[ends] = Task(ends, _shards.slice_for, TaskRef(probes), j)
                self.graph[answer] = Task(
                    answer, _shards.answer, TaskRef(shard), TaskRef(ends), self._operation, self._arguments,
                    state.around[j],
                )  # fmt: skip
                answers.append(TaskRef(answer))
            found.append(((f"{name}-{token}", i), probes, answers))
        return found

    def like_probes(self, last: list[Any], dtype: str) -> Any:
        """The collection of the answers, whose tasks are given."""
        self.graph |= {task.key: task for task in last}
        keys, probes = [task.key for task in last], self._probes
        name = keys[0][0]
        if isinstance(probes, arrays.Array):
            graph = HighLevelGraph.from_collections(name, self.graph)
            return arrays.Array(graph, name, chunks=probes.chunks, dtype=np.dtype(dtype))
        meta = pd.Series([], _labels(probes), dtype, probes.name)
        return frames.from_graph(self.graph, meta, probes.divisions, keys, name)

    def lines(self) -> Any:
        """The data frame of all matches."""
        of_array = isinstance(self._probes, arrays.Array)
        token = self.token
        keys: list[Any] = []
        sizes: list[Any] = []
        for i, (key, probes, answers) in enumerate(self.each("raydex-rows")):
            first: Any = 0
            if of_array:  # whose probes are numbered
                number, size = (f"raydex-first-{token}", i), (f"raydex-size-{token}", i)
                self.graph[number] = Task(number, _shards.total, List(*map(TaskRef, sizes)))
                self.graph[size] = Task(size, _shards.size_of, TaskRef(probes))
                sizes.append(size)
                first = TaskRef(number)
            matches = (f"raydex-matches-{token}", i)
            self.graph[matches] = Task(matches, _shards.matches, TaskRef(probes), List(*answers))
            self.graph[key] = Task(key, _shards.row_lines, TaskRef(probes), first, TaskRef(matches))
            keys.append(key)
        labels = pd.Index([], dtype="int64") if of_array else _labels(self._probes)
        divisions = (None,) * (len(keys) + 1) if of_array else self._probes.divisions
        meta = pd.DataFrame({"row": pd.Series([], labels, "int64")})
        return frames.from_graph(self.graph, meta, divisions, keys, keys[0][0])


def _are_single(lower: Any, upper: Any) -> bool:
    return _shards.is_single(lower) and (upper is None or _shards.is_single(upper))


def _labels(probes: Any) -> Any:
    """The labels of no probes."""
    meta = probes._meta
    return meta[:0] if isinstance(meta, pd.Index) else meta.index[:0]


def _check_alike(lower: Any, upper: Any) -> None:
    """Refuses ends of ranges whose partitions differ, as far as that is known before they are computed."""
    of_arrays = [isinstance(x, arrays.Array) for x in (lower, upper)]
    if of_arrays[0] != of_arrays[1]:
        raise InvalidType("upper: one end is an Array, the other one a Series; give two of one kind")
    if lower.npartitions != upper.npartitions:
        raise InvalidArgument(
            f"upper: {upper.npartitions} partitions, but lower has {lower.npartitions}; give two columns of "
            "one table, or repartition one of them"
        )
    if of_arrays[0] or not (lower.known_divisions and upper.known_divisions):
        return
    if lower.divisions != upper.divisions:
        raise InvalidArgument(
            "upper: its divisions are not those of lower; give upper.repartition(divisions=lower.divisions)"
        )


# Builds


def _entries_of(
    token: str, graph: Graph, argument: str, keys: Any, rows: Any, want: Key | None, role: str = ""
) -> list[Any]:
    """Tasks of the entries of each partition; what is in host memory is one partition."""
    columns: list[list[Any]] = []
    for name, x in ((argument, keys), ("rows", rows)):
        if is_lazy(x):
            check_column(name, x)
            partitions = take_apart(x)
            graph |= partitions.graph
            columns.append(partitions.keys)
        elif x is not None:
            name_of_data = f"raydex-{name}-{token}"
            graph[name_of_data] = DataNode(name_of_data, np.atleast_1d(x) if _shards.is_single(x) else x)
            columns.append([name_of_data])
    if len(columns) == 2 and len(columns[0]) != len(columns[1]):
        raise InvalidArgument(
            f"rows: {len(columns[1])} partitions, but {argument} has {len(columns[0])}; give two columns "
            "with the same ones"
        )
    found = []
    for i, key in enumerate(columns[0]):
        row_ids = TaskRef(columns[1][i]) if len(columns) == 2 else None
        found.append((f"raydex-entries-{token}", i))
        graph[found[-1]] = Task(found[-1], _shards.entries_of, argument, TaskRef(key), row_ids, want, role)
    return found


def _split(
    token: str, graph: Graph, entries: list[Any], begins: list[int], splitters: npt.NDArray[Any]
) -> list[list[Any]]:
    """Tasks that send entries to shards; the pieces of each shard."""
    slices: list[list[Any]] = [[] for _ in range(len(splitters) + 1)]
    for i, (key, begin) in enumerate(zip(entries, begins)):
        whole = (f"raydex-split-{token}", i)
        graph[whole] = Task(whole, _shards.split, TaskRef(key), splitters, begin)
        for j, of_shard in enumerate(slices):
            slice_key = (f"raydex-slice-{token}", i, j)
            graph[slice_key] = Task(slice_key, operator.getitem, TaskRef(whole), j)
            of_shard.append(TaskRef(slice_key))
    return slices


def _living(engine: Engine, token: str, graph: Graph, made: list[Any], workers_of_shards: dict[Any, str]) -> _State:
    """Has shards made, and waits for them."""
    shards = engine.hold(graph, made, workers_of_shards)
    graph = shards.graph()
    keys = []
    for j, shard in enumerate(made):
        keys.append((f"raydex-summary-{token}", j))
        graph[keys[-1]] = Task(keys[-1], _shards.summary_of, TaskRef(shard))
    summaries, structures, ordered = zip(*engine.get(graph, keys))
    return _State(shards, summaries, _shards.around(summaries), structures, all(ordered), token)


def build(
    column: Any,
    shards: int | None = None,
    structure: StructureName = "auto",
    device: str | None = None,
    *,
    rows: Any = None,
    **options: Unpack[KeyOptions],
) -> Index:
    """Builds an index over a column of Dask, with shards on the workers of its cluster.

    Parameters
    ----------
    column
        A Series, an Index or an Array of one dimension of Dask, as `ddf["key"]`, with any partitions, of what
        `raydex.build` takes in host memory. Strings may have up to 8 bytes.
    shards
        How many; by default one a worker, without a cluster one.
    structure, options
        As of `raydex.build`, of each shard.
    device
        What each worker builds its shards on, of those that it sees: `"cuda"` or `"cuda:1"`, to which PyTorch
        copies keys that are numbers, probes and back answers. By default host memory.
    rows
        Explicit row ids: a column of integers with the same partitions. By default rows are numbered over
        the partitions in their order.

    Returns
    -------
    Index
        When all shards are there. It keeps them until it is closed or forgotten.

    Raises
    ------
    InvalidArgument, InvalidType, Unsupported, OutOfMemory, ExchangeError
        As of `raydex.build`; and what reading the column raises.

    Cost
    ----
    The column is read once and sampled, each partition is split by the splitters, and each shard is built where it
    stays: partitions x shards pieces. The keys are held twice until then.

    Notes
    -----
    The cluster is that of the client that Dask uses now: `dask.distributed.Client()` makes one. Without a client all is
    done in this process, with Dask's scheduler.
    """
    check_column("column", column)
    check_words(options, structure, build)
    engine = Engine()
    workers = engine.workers()
    if shards is None:
        shards = max(1, len(workers))
    if not 1 <= shards <= 2**16:
        raise InvalidArgument(f"shards: {shards}; legal are 1 to {2**16}")
    token = uuid.uuid4().hex
    graph: Graph = {}
    names = _entries_of(token, graph, "column", column, rows, None)
    entries = engine.hold(graph, names)
    facts = _facts_of(engine, token, entries)
    key = of_all("column", [one.key for one in facts], [one.size for one in facts], "in partition")
    filled = [one for one in facts if one.there] or facts[:1]
    splitters = splitters_from(
        [one.sample.astype(key.dtype, copy=False) for one in filled], shards,
        [float(one.there) for one in filled],
    )  # fmt: skip
    begins = np.cumsum([0] + [one.size for one in facts])
    n = int(begins[-1])
    most = n - 1 if rows is None else max(one.max_row for one in facts)
    bits = row_id_bits(most)
    graph = entries.graph()
    slices = _split(token, graph, names, [int(begin) for begin in begins[:-1]], splitters)
    made, workers_of_shards = [], {}
    for j in range(shards):
        made.append((f"raydex-shard-{token}", j))
        graph[made[-1]] = Task(made[-1], _shards.make, List(*slices[j]), bits, structure, device, options)
        if workers:
            workers_of_shards[made[-1]] = workers[j % len(workers)]
    state = _living(engine, token, graph, made, workers_of_shards)
    return Index(engine, key, splitters, begins[:-1] if rows is None else None, n, bits, state)


def _facts_of(engine: Engine, token: str, entries: Persisted) -> list[_shards.Facts]:
    graph = entries.graph()
    names = []
    for i, one in enumerate(entries.keys):
        names.append((f"raydex-facts-{token}", i))
        graph[names[-1]] = Task(names[-1], _shards.facts_of, TaskRef(one), i)
    return engine.get(graph, names)
