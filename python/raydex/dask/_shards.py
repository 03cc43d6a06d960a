# SPDX-License-Identifier: Apache-2.0
"""What tasks of an index do: entries of partitions, shards, and their answers."""

from __future__ import annotations

import asyncio
import importlib
import logging
import uuid
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from raydex._errors import InvalidArgument, InvalidType
from raydex._index import with_zeros
from raydex._keys import Key
from raydex._matches import Matches
from raydex.dask._cells import aligned, cells_of
from raydex.dask._libraries import pd, sizeof
from raydex.sharded._arrays import HOST_ARRAYS, arrays_of, in_both
from raydex.sharded._cells import checked_row_ids
from raydex.sharded._devices import device_of, to_device
from raydex.sharded._routing import Routes, restore, route, sample, undo, undo_rows
from raydex.sharded._shard import Shard, Summary, complete

_log = logging.getLogger("raydex.dask")
_unlimited = 1 << 40  # bytes


class TaskShard(Shard):
    """A shard as a result of Dask.

    It is pickled as its entries, so that Dask may send it elsewhere or write it to a disk; what reads it
    builds it anew. That it has not to be: see `_size_of`."""

    def __init__(
        self,
        keys: npt.NDArray[Any],
        rows: npt.NDArray[np.int64],
        bits: int,
        structure: str,
        device: str | None,
        options: dict[str, Any],
    ) -> None:
        self._device = None if device is None else device_of(device)
        there, rows_there = self._there(keys, rows)
        super().__init__(there, rows_there, bits, structure, **options)
        self._made_by = (bits, structure, device, options)
        self._token = uuid.uuid4().hex

    @property
    def on_gpu(self) -> bool:
        return self._device is not None

    def _there(self, *arrays: Any) -> list[Any]:
        """Arrays, or None, where the index is."""
        return [None if one is None else to_device(one, self._device) for one in arrays]

    def answer(self, operation: str, lower: Any, upper: Any = None, **arguments: Any) -> Any:
        found = super().answer(operation, *self._there(lower, upper), **arguments)
        return _on_host(found) if isinstance(found, tuple) else _on_host((found,))[0]

    def insert(self, keys: Any, rows: Any) -> None:
        super().insert(*self._there(keys, rows))

    def erase(self, keys: Any, rows: Any = None) -> None:
        super().erase(*self._there(keys, rows))

    def take(self) -> tuple[Any, Any]:
        return _on_host(super().take())

    def __reduce__(self) -> tuple[Any, ...]:
        return (_built_again, (*self.take(), *self._made_by))

    def __dask_tokenize__(self) -> str:
        return self._token

    def copy(self) -> TaskShard:
        """Another one with the same entries."""
        keys, rows = self.take()
        return TaskShard(keys, rows, *self._made_by)


def _on_host(arrays: tuple[Any, ...]) -> tuple[Any, ...]:
    return tuple(arrays_of(one).to_host(one) for one in arrays)


def _built_again(keys: npt.NDArray[Any], rows: npt.NDArray[np.int64], *made_by: Any) -> TaskShard:
    _log.warning("a shard of %d entries was moved, or written to a disk: it is built anew", len(keys))
    return TaskShard(aligned(keys), aligned(rows), *made_by)


def _size_of(shard: TaskShard) -> int:
    """The size of a shard, as Dask is told.

    The scheduler plans by the size that was measured by the task which made the shard. It is to send tasks
    to shards, not shards to tasks while workers are busy: it is told of half a worker's memory at least (of
    more than all it would refuse to run tasks). Workers measure again on their event loops, to know what of
    their memory is in use, and are told the truth: of a shard on a GPU nothing."""
    size = 0 if shard.on_gpu else shard.summary().resident_bytes
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return max(size, _half_of_memory())
    return size


def _half_of_memory() -> int:
    """Half of what the worker may use that runs this task; 0 where none does."""
    try:
        worker = importlib.import_module("distributed").get_worker()
    except (ImportError, ValueError):
        return 0
    return (worker.memory_manager.memory_limit or _unlimited) // 2


sizeof.register(TaskShard, _size_of)


# Builds


class Entries(NamedTuple):
    """The keys of a partition that are not missing, and their rows there, or in all where they are given."""

    keys: npt.NDArray[Any]
    rows: npt.NDArray[np.int64] | None  # None: their positions
    key: Key
    size: int  # of the partition
    explicit: bool  # whether rows were given


class Facts(NamedTuple):
    """What the client knows of a partition before it makes splitters."""

    key: Key
    size: int
    there: int
    sample: npt.NDArray[Any]
    max_row: int  # of those that were given; -1: none were


def entries_of(
    argument: str, partition: Any, row_ids: Any = None, want: Key | None = None, role: str = ""
) -> Entries:
    cells = cells_of(argument, partition, want, role)
    rows = None if cells.there is None else np.flatnonzero(cells.there)
    if row_ids is not None:
        numbers = _row_numbers(row_ids)
        if len(numbers) != len(cells.array):
            raise InvalidArgument(
                f"rows: a partition of {len(numbers)}, but that of {argument} has {len(cells.array)}"
            )
        rows = numbers if rows is None else numbers[rows]
    return Entries(cells.present(), rows, cells.key, len(cells.array), row_ids is not None)


def _row_numbers(row_ids: Any) -> npt.NDArray[np.int64]:
    cells = cells_of("rows", row_ids)
    if cells.key.unit:
        raise InvalidType(f"rows: row ids are integers, and these are {cells.key}")
    numbers: npt.NDArray[np.int64] = checked_row_ids(cells.array, cells.there)
    return numbers


def facts_of(entries: Entries, seed: int) -> Facts:
    most = int(entries.rows.max()) if entries.explicit and entries.rows is not None and len(entries.rows) else -1
    drawn = sample(entries.keys, seed=seed)
    return Facts(entries.key, entries.size, len(entries.keys), drawn, most)


def split(entries: Entries, splitters: npt.NDArray[Any], first_row: int) -> list[tuple[Any, Any]]:
    """Keys and global rows for each shard."""
    keys = entries.keys
    if len(keys) == 0:
        return [(keys.astype(splitters.dtype), np.empty(0, np.int64))] * (len(splitters) + 1)
    routes = route(keys, None, splitters)
    rows = routes.sources if entries.rows is None else entries.rows[routes.sources]
    if not entries.explicit:
        rows = rows + first_row
    return list(zip(routes.split(routes.lower), routes.split(rows)))


def _joined(slices: list[tuple[Any, Any]]) -> tuple[npt.NDArray[Any], npt.NDArray[np.int64]]:
    keys, rows = zip(*slices)
    return (np.concatenate(keys), np.concatenate(rows))


def make(
    slices: list[tuple[Any, Any]], bits: int, structure: str, device: str | None, options: dict[str, Any]
) -> TaskShard:
    return TaskShard(*_joined(slices), bits, structure, device, options)


def inserted(shard: TaskShard, slices: list[tuple[Any, Any]]) -> TaskShard:
    """A shard with more entries; the same one where there are none."""
    keys, rows = _joined(slices)
    if len(keys) == 0:
        return shard
    other = shard.copy()
    other.insert(keys, rows)
    return other


def erased(shard: TaskShard, slices: list[tuple[Any, Any]], pairs: bool) -> TaskShard:
    """A shard without the entries of keys, or of pairs of a key and a row."""
    keys, rows = _joined(slices)
    if len(keys) == 0:
        return shard
    other = shard.copy()
    other.erase(keys, rows if pairs else None)
    return other


def summary_of(shard: TaskShard) -> tuple[Summary, str, bool]:
    return (shard.summary(), shard.index.info.structure, shard.ordered)


def around(summaries: Sequence[Summary]) -> list[tuple[Summary, Summary]]:
    """What each shard has to know of the others: what is before it as if it were one shard, and what
    follows."""
    found = []
    before = Summary(0, -1, -1, -1, 0)
    after = [before]
    for one in reversed(summaries):
        last = after[-1]
        if one.entries:
            last = replace(last, entries=last.entries + one.entries, smallest=one.smallest)
        after.append(last)
    for one, following in zip(summaries, after[-2::-1]):
        found.append((before, following))
        if one.entries:
            before = replace(before, entries=before.entries + one.entries, largest=one.largest)
    return found


# Queries


def is_single(x: Any) -> bool:
    """Whether it is a single key, or an array without dimensions."""
    return isinstance(x, (bytes, str)) or getattr(x, "ndim", 1 if hasattr(x, "__len__") else 0) == 0


def routes_of(
    lower: Any, upper: Any, splitters: npt.NDArray[Any], key: Key, role: str = ""
) -> tuple[Routes, npt.NDArray[np.bool_] | None]:
    """The pieces of a partition of probes, and which of these are before all keys; see `column_of`."""
    if upper is None:
        begins, there, _, before = cells_of("points", lower, key, role)
        return (route(begins, None, splitters, there), before)
    begins, there, *_ = cells_of("lower", lower, key, "at_least")
    ends, others, *_ = cells_of("upper", upper, key, "at_most")
    if is_single(lower):
        begins, there = _repeated(begins, there, len(ends))
    elif is_single(upper):
        ends, others = _repeated(ends, others, len(begins))
    if len(begins) != len(ends):
        raise InvalidArgument(f"upper: {len(ends)} probes, but lower has {len(begins)}")
    return (route(begins, ends, splitters, in_both(there, others)), None)


def _repeated(array: Any, there: Any, size: int) -> tuple[Any, Any]:
    return (np.repeat(array, size), None if there is None else np.repeat(there, size))


def slices_of(routes: Routes) -> list[Any]:
    """The ends that go to each shard; None where nothing does."""
    lower = routes.split(routes.lower)
    upper = [None] * len(lower) if routes.upper is None else routes.split(routes.upper)
    return [(a, b) if len(a) else None for a, b in zip(lower, upper)]


class Routed(NamedTuple):
    """A partition of probes of Dask: where they go, and what their answers are to look like."""

    routes: Routes
    labels: Any  # of pandas, an index; None: the probes are an array
    name: Any
    before: Any  # which are before all keys


def routed(lower: Any, upper: Any, splitters: npt.NDArray[Any], key: Key, role: str) -> Routed:
    routes, before = routes_of(lower, upper, splitters, key, role)
    probes = upper if is_single(lower) else lower
    if isinstance(probes, np.ndarray):
        return Routed(routes, None, None, before)
    labels = probes if isinstance(probes, pd.Index) else probes.index
    return Routed(routes, labels, probes.name, before)


def slice_for(routed: Routes | Routed, shard: int) -> Any:
    """The ends that go to one shard; None where nothing does."""
    return slices_of(routed.routes if isinstance(routed, Routed) else routed)[shard]


def answer(
    shard: TaskShard,
    ends: Any,
    operation: str,
    arguments: dict[str, Any],
    around: tuple[Summary, Summary],
) -> Any:
    """What a shard says of its pieces; None where it has none.

    `around`: all shards before it as one, and all that follow it."""
    if ends is None:
        return None
    lower, upper = ends
    found = shard.answer(
        operation, aligned(lower), None if upper is None else aligned(upper), **arguments
    )
    if operation == "rows":
        return found
    before, after = around
    return complete(operation, found, 1, (before, before, after))


def together(routes: Routes, answers: list[Any], operation: str) -> Any:
    """The answers of all probes; of `rows` offsets and rows."""
    slices = [one for one in answers if one is not None]
    if operation == "rows":
        if not slices:
            return Matches(np.zeros(routes.size + 1, np.int64), np.empty(0, np.int64))
        counts, rows = zip(*slices)
        return Matches(*undo_rows(routes, np.concatenate(counts), np.concatenate(rows)))
    dtype = np.dtype(bool if operation == "contains" else np.int64)
    return restore(routes, np.concatenate([np.empty(0, dtype), *slices]), operation)


def with_first_ranks(found: Any, operation: str, before: npt.NDArray[np.bool_] | None) -> Any:
    """Answers; ranks before all keys are 0."""
    return found if before is None or operation != "rank" else with_zeros(found, before)


def without_nan(routes: Routes, found: npt.NDArray[np.bool_], invert: bool) -> npt.NDArray[np.bool_]:
    """Membership as NumPy has it: NaN is in nothing."""
    if routes.lower.dtype.kind == "f":
        found[routes.sources[np.isnan(routes.lower)]] = False
    return ~found if invert else found


def labelled(probes: Routed, found: Any) -> Any:
    """Answers as a partition like that of the probes."""
    return found if probes.labels is None else pd.Series(found, index=probes.labels, name=probes.name)


def answered(probes: Routed, answers: list[Any], operation: str, invert: bool | None) -> Any:
    """A partition of the answer. `invert`: of `isin`, which is asked as `contains`."""
    found = with_first_ranks(together(probes.routes, answers, operation), operation, probes.before)
    if invert is not None:
        found = without_nan(probes.routes, found, invert)
    return labelled(probes, found)


def matches(probes: Routed, answers: list[Any]) -> Matches:
    found: Matches = together(probes.routes, answers, "rows")
    return found


def row_lines(probes: Routed, first: int, found: Matches) -> Any:
    """A line for each match, with the probe's label, or its number where it has none."""
    labels = probes.labels
    if labels is None:
        labels = pd.RangeIndex(first, first + probes.routes.size)
    return pd.DataFrame({"row": found.rows}, index=labels.repeat(np.diff(found.offsets)))


def size_of(probes: Routed) -> int:
    return probes.routes.size


def total(sizes: list[int]) -> int:
    return sum(sizes)


# Sums of values


def rows_routed(found: Matches, begins: npt.NDArray[np.int64]) -> Routes:
    """Rows by the partition of values that has them; `begins`: the first row of each but the first one."""
    return route(found.rows, None, begins)


def fetched(partition: Any, ends: Any, first: int, size: int) -> npt.NDArray[Any]:
    """The values of rows of a partition; 0 where they are missing."""
    cells = cells_of("values", partition)
    if len(cells.array) != size:
        raise InvalidArgument(
            f"values: a partition of {len(cells.array)}, but that of the column has {size}; give a column of "
            "the same table"
        )
    kind = cells.array.dtype.kind
    if cells.key.unit or kind not in "iuf":
        raise InvalidType(f"values: they are {cells.key}; sums are of numbers")
    values = cells.array.astype(f"{kind}8")
    if cells.there is not None:
        values[~cells.there] = 0
    return values[:0] if ends is None else values[ends[0] - first]


def sums(found: Matches, routes: Routes, values: list[Any]) -> npt.NDArray[Any]:
    """The sum of the values of each probe's rows."""
    cells = undo(routes, np.concatenate(values), "single", 0)
    found_sums = np.asarray(HOST_ARRAYS.segment_sums(cells, found.offsets))
    return found_sums.view(cells.dtype)  # integers modulo 2^64


def labelled_sums(probes: Routed, found: Matches, rows: Routes, values: list[Any]) -> Any:
    return labelled(probes, sums(found, rows, values))
