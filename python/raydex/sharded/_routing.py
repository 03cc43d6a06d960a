# SPDX-License-Identifier: Apache-2.0
"""Where probes go, and how their answers come back.

A *shard* holds the keys of a range. *Splitters*, one less than shards and ascending, say which: the owner of
a key is the number of splitters that are not greater than it, so that equal keys have one owner, and between
equal splitters are shards without any key. A *piece* is a probe as it goes to one shard: a point has one, a
range one for each shard that it touches, a missing probe and a range without any key none.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from raydex import _raydex
from raydex._columns import column_of
from raydex._sources import look
from raydex.sharded._arrays import Arrays, arrays_of

SLICE = 1 << 22
"""How many rows it is in memory where each goes."""


@dataclass(frozen=True)
class Routes:
    """The pieces of a batch, grouped by shard; within a shard in the order of the probes."""

    counts: npt.NDArray[np.int64]
    """Pieces of each shard; of NumPy in any case."""
    sources: Any
    """The probe of each piece, int32 where that counts them, else int64, in the library and memory of the
    probes."""
    lower: Any
    """The point, or the lower end, of each piece: an array of the keys' dtype."""
    upper: Any
    """The upper end of each piece; None for points."""
    size: int
    """Probes."""
    all_there: bool
    """Whether each probe has a piece for sure."""
    divided: Any = None
    """What the library divided them by; None where that was done in several steps."""

    def __reduce__(self) -> tuple[Any, ...]:
        """In another process the answers are put together without what divided the probes."""
        return (
            Routes, (self.counts, self.sources, self.lower, self.upper, self.size, self.all_there),
        )  # fmt: skip

    def split(self, x: Any) -> list[Any]:
        """The slice of each shard of an array that has a cell for each piece; no copy."""
        ends = np.cumsum(self.counts)
        return [x[end - count : end] for count, end in zip(self.counts.tolist(), ends.tolist())]


def route(lower: Any, upper: Any, splitters: npt.NDArray[Any], there: Any = None, multiple: int = 1) -> Routes:
    """The pieces of a batch of probes.

    Parameters
    ----------
    lower, upper
        Arrays of NumPy or PyTorch, of the keys' dtype; `upper` is None for points.
    splitters
        Of NumPy, of the keys' dtype, ascending, with NaN as the greatest key.
    there
        Which probes are not missing, an array of bool; None: all.
    multiple
        What the pieces of a shard are a multiple of: the last one of a batch of points is repeated up to it.

    What is promised: pieces are grouped by shard, ascending by probe within a shard; a piece has the ends of
    its range as they were given; `counts` are on the host, all else is where the probes are. Cost: the library
    searches in the splitters and copies, in two passes, and again for more than 1024 shards; waits for the first.
    """
    library = arrays_of(lower)
    if there is not None:
        some = library.nonzero(there)
        ends = None if upper is None else library.take(upper, some)
        routes = route(library.take(lower, some), ends, splitters, None, multiple)
        return Routes(
            routes.counts, library.take(some, routes.sources), routes.lower, routes.upper, len(lower), False
        )
    if len(splitters) >= _raydex.most_shards:
        return _route_twice(lower, upper, splitters, multiple)
    source = look("probes", _numbers(lower))
    target = source.library.device_for(None, "")
    stream, _ = source.library.stream_for(None)

    # A copy of what lies anywhere in a message.
    begins, divisions, ends = (
        None if x is None else column_of(look("probes", _numbers(x)), stream, copies=True)
        for x in (lower, library.from_host(splitters), upper)
    )
    assert begins is not None and divisions is not None
    batch = (target.session(), stream, begins.native, ends and ends.native)
    division = target.run(_raydex.divide, target.backend, *batch, divisions.native, multiple)
    size = division.size()
    bits = 32 if len(lower) < 2**31 else 64
    sources = library.empty(size, f"int{bits}")
    points = library.empty(size, library.dtype(lower))
    lasts = None if upper is None else library.empty(size, library.dtype(upper))
    address = source.library.address
    target.run(
        division.write, *batch, address(sources), bits, address(points),
        0 if lasts is None else address(lasts),
    )  # fmt: skip
    counts = np.array(division.counts(), "int64")
    return Routes(counts, sources, points, lasts, len(lower), upper is None, division)


def _route_twice(lower: Any, upper: Any, splitters: npt.NDArray[Any], multiple: int) -> Routes:
    """The same for more shards than the library divides among: first among groups of so many."""
    library, most = arrays_of(lower), _raydex.most_shards
    groups = route(lower, upper, splitters[most - 1 :: most])
    ends = [None] * len(groups.counts) if upper is None else groups.split(groups.upper)
    each = [
        route(begin, end, splitters[most * at : most * at + most - 1], None, multiple)
        for at, (begin, end) in enumerate(zip(groups.split(groups.lower), ends))
    ]
    sources = [library.take(some, one.sources) for some, one in zip(groups.split(groups.sources), each)]
    return Routes(
        np.concatenate([one.counts for one in each]),
        library.concatenate(sources),
        library.concatenate([one.lower for one in each]),
        None if upper is None else library.concatenate([one.upper for one in each]),
        len(lower),
        upper is None,
    )


def _numbers(cells: Any) -> Any:
    """Times as the integers that they are."""
    library = arrays_of(cells)
    return library.view(cells, "int64") if library.dtype(cells).kind in "mM" else cells


def sample(keys: Any, there: Any = None, size: int = 4096, seed: int = 0) -> npt.NDArray[Any]:
    """Keys drawn at random, with equal chances and again and again, as an array of NumPy; all keys where
    there are no more than `size`.

    `keys`, `there`: as `lower` and `there` of `route`. Missing cells are drawn, too, and left out: there are
    fewer keys then. One seed draws the same keys each time."""
    library = arrays_of(keys)
    if len(keys) > size:
        positions = _drawn(library, len(keys), size, seed)
        keys = library.take(keys, positions)
        there = None if there is None else library.take(there, positions)
    return library.to_host(keys if there is None else library.take(keys, library.nonzero(there)))


@functools.lru_cache(maxsize=64)
def _drawn(library: Arrays, keys: int, size: int, seed: int) -> Any:
    """Places at random, which batches of one size after the other have in common."""
    return library.from_host(np.random.default_rng(seed).integers(0, keys, size))


def splitters_from(
    samples: Sequence[npt.NDArray[Any]], shards: int, weights: Sequence[float] | None = None
) -> npt.NDArray[Any]:
    """The splitters that give each of `shards` shards about as many keys.

    Parameters
    ----------
    samples
        Of each slice of a column, of one dtype; at least one array, of any size.
    weights
        How many keys each sample stands for; by default as many as it has.

    Returns
    -------
    array of NumPy
        `shards - 1` keys, ascending; equal ones where a key is more frequent than a shard is large. Of no
        keys at all, zeros.
    """
    keys = np.concatenate(list(samples))
    if len(keys) == 0:
        return np.zeros(shards - 1, keys.dtype)
    if weights is None:
        weights = [float(len(one)) for one in samples]
    sizes = [len(one) for one in samples]
    each = np.repeat([weight / max(size, 1) for weight, size in zip(weights, sizes)], sizes)
    order = np.argsort(keys)  # the order of equal ones makes no difference
    sums = np.cumsum(each[order])
    at = np.searchsorted(sums, sums[-1] * np.arange(1, shards) / shards, side="right")
    found: npt.NDArray[Any] = keys[order[np.minimum(at, len(keys) - 1)]]
    return found


def undo(routes: Routes, answers: Any, how: str, fill: Any = -1, widen: bool = False) -> Any:
    """The answer of each probe, of those of its pieces.

    Parameters
    ----------
    answers
        A cell for each piece, in the order of `routes`, where its probes are.
    how
        `single`: the answer of the only piece; for points. `first`: the smallest of the answers that are not
        negative. `sum`: the sum of all, 0 where there is no piece; integers wrap around.
    fill
        The answer of `single` and `first` for a probe without a piece.

    Returns
    -------
    array of the dtype of `answers`, with `widen` of int64 for int32
    """
    library = arrays_of(answers)
    own_dtype = library.dtype(answers)
    dtype = np.dtype("int64") if widen and own_dtype == np.int32 else own_dtype
    if routes.all_there:
        out = library.empty(routes.size, dtype)
    else:
        out = library.full(routes.size, 0 if how == "sum" else fill, dtype)
    if routes.upper is None:
        if routes.divided is not None and own_dtype.itemsize in (4, 8):
            _put_together(routes, answers, out, dtype != own_dtype)
        else:
            library.put(out, routes.sources, library.cast(answers, dtype))
        return out
    answers = library.cast(answers, dtype)
    # A shard has one piece of a probe at most.
    for probes, found in zip(routes.split(routes.sources), routes.split(answers)):
        before = library.take(out, probes)
        if how == "sum":
            library.put(out, probes, before + found)
        else:
            better = (found >= 0) & ((before < 0) | (found < before))
            library.put(out, probes, library.where(better, found, before))
    return out


def restore(routes: Routes, answers: Any, operation: str, widen: bool = False) -> Any:
    """The answer of each probe to an operation that has a number for each, see `undo`."""
    how = {"first": "first", "count": "sum", "sum": "sum"}.get(operation, "single")
    return undo(routes, answers, how, False if operation == "contains" else -1, widen)


def _put_together(routes: Routes, answers: Any, out: Any, widen: bool) -> None:
    source = look("answers", answers)
    target = source.library.device_for(None, "")
    stream, _ = source.library.stream_for(None)
    bits = 8 * arrays_of(routes.sources).dtype(routes.sources).itemsize
    cells = column_of(source, stream, copies=True)
    address = source.library.address
    target.run(
        routes.divided.put_together, target.session(), stream, address(routes.sources), bits, cells.native,
        address(out), len(out), widen,
    )  # fmt: skip


def undo_rows(routes: Routes, counts: Any, rows: Any) -> tuple[Any, Any]:
    """The rows of each probe, of those of its pieces in the order of the shards, which is that of the keys.

    Parameters
    ----------
    counts
        The number of rows of each piece, in the order of `routes`.
    rows
        The rows of the first piece, of the second one, and so on.

    Returns
    -------
    offsets, rows
        Probe i has `rows[offsets[i]:offsets[i + 1]]`; offsets are int64, rows as they were.
    """
    library = arrays_of(counts)
    counts = library.cast(counts, "int64")
    offsets = library.running(undo(routes, counts, "sum"))
    begins = library.empty(len(counts), "int64")
    free = offsets[:-1] + 0
    for probes, begin, count in zip(*(routes.split(x) for x in (routes.sources, begins, counts))):
        at = library.take(free, probes)
        begin[:] = at
        library.put(free, probes, at + count)
    out = library.empty(len(rows), library.dtype(rows))
    ends = library.running(counts)
    # Some at a time: positions are as large as rows.
    for first, last in slices_by_rows(library, ends, len(rows), SLICE):
        begin, end = int(ends[first]), int(ends[last])
        if last == first + 1:  # one piece, however many rows it has
            at = int(begins[first])
            out[at : at + end - begin] = rows[begin:end]
            continue
        own = counts[first:last]
        positions = library.repeat(begins[first:last] - ends[first:last], own) + library.arange(end - begin, begin)
        library.put(out, positions, rows[begin:end])
    return (offsets, out)


def slices_by_rows(library: Arrays, ends: Any, rows: int, most: int) -> list[tuple[int, int]]:
    """Pieces, from one on and up to another, which have up to `most` rows together or are one. `ends`: how many
    rows the pieces before each have, and all."""
    if rows <= most:
        return [(0, len(ends) - 1)]
    at = library.owners(np.arange(most, rows, most), ends)
    begins, lasts = at[:-1], at[1:]
    others = (begins[1:] != begins[:-1]) | (lasts[1:] != lasts[:-1])
    cuts = [0, *(library.to_host(library.nonzero(others)) + 1).tolist(), len(ends) - 1]
    return list(zip(cuts, cuts[1:]))
