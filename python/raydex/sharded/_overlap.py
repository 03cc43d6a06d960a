# SPDX-License-Identifier: Apache-2.0
"""A batch that goes to its owners and back in slices, so that what is sent and what is looked up overlap."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
import numpy.typing as npt

from raydex import _raydex
from raydex._keys import Key
from raydex.sharded._exchange import Company, Exchange, Transfer
from raydex.sharded._receive_buffers import landings

SUBRANGES = 4  # of a shard at least, between processes with a GPU each
SUBRANGE_BYTES = 1 << 30  # of an index
SLICES = 4  # two processes take two
LEAST_MOVED = 1 << 25
"""Batches of fewer pieces of each process are sent at once: a slice takes a fifth of a millisecond of the host."""
LEAST_OWN = 1 << 20
"""So few pieces that stay with a process are looked up at once."""

Local = Callable[[list[Any], npt.NDArray[np.int64]], Any]
"""What the shards of a process answer to some pieces, an array: of columns, which are points or the ends of
ranges, and how many pieces are for each shard."""


def subranges_for(engine: Exchange, entries: float, key: Key, bits: int) -> int:
    """How many subranges the keys of a shard are divided in, a power of two, the same on all processes.

    On GPUs probes of one subrange are looked up after those of another one, so that more of a large index is
    read from the L2: on an H200 2^27 lookups in 2^28 keys take 6.5 ms, 4.6 with four subranges, and hardly
    less with more. Between processes a subrange or some are a slice of the exchange."""
    if all(device is None for device in engine.places):
        return 1
    shards = engine.processes * len(engine.places)
    width = 8 if key.dtype is None else max(4, key.dtype.itemsize)
    each = entries / shards * (width + bits // 8)
    subranges = 1 if engine.processes == 1 else SUBRANGES
    while each > subranges * SUBRANGE_BYTES and subranges < 4 * SUBRANGES:
        subranges *= 2
    while subranges > 1 and shards * subranges > _raydex.most_shards:
        subranges //= 2
    return subranges


class Own:
    """The pieces that stay with a process, all of them where it is the only one. They are looked up while
    others are under way.

    `columns`: all pieces of a batch. `counts`: how many are for each of all shards, or for each of their
    subranges. Its first slice is looked up at once: what comes from others need not be known."""

    def __init__(
        self, engine: Exchange, columns: list[Any], counts: npt.NDArray[np.int64], shards: int, local: Local
    ) -> None:
        self.before = engine.mark()
        self._columns, self._local = columns, local
        by_shard = counts.reshape(shards, -1)
        self.first = self._end = 0  # pieces
        if engine.processes == 1:
            self._left = [by_shard.sum(axis=1)]
        else:
            own = by_shard[engine.process]
            self.first = self._end = int(by_shard[: engine.process].sum())
            slices = np.array_split(own, 3) if len(own) > 2 and own.sum() > LEAST_OWN else [own]
            self._left = [one.sum(keepdims=True) for one in slices]
        self.answers: list[Any] = []
        self.look()

    def look(self) -> None:
        """Looks up the next slice, of one to three, if there is another one."""
        if self._left:
            counts = self._left.pop(0)
            begin, self._end = self._end, self._end + int(counts.sum())
            self.answers.append(self._local([one[begin : self._end] for one in self._columns], counts))


def ask_in_slices(
    company: Company,
    step: tuple[Any, ...],
    columns: list[Any],
    table: npt.NDArray[np.int64],
    own: Own,
    local: Local,
) -> Any:
    """A number for each piece of a batch, in an array. Pieces of one slice are looked up while those of the
    next one come and answers of the one before go back; own ones while the first come and the last go back.

    `columns`: the pieces. `table`: how many go from each process to each shard, or to each subrange of each
    shard."""
    me, processes = company.process, company.processes
    if processes == 1:
        return own.answers[0]
    moved = table.reshape(processes, processes, -1)
    slices = 2 if processes == 2 else SLICES
    slices = 1 if moved.sum() < LEAST_MOVED * processes else min(slices, moved.shape[2])
    moved = moved.reshape(processes, processes, slices, -1).sum(axis=3)
    crossing = moved * ~np.eye(processes, dtype=bool)[:, :, np.newaxis]
    # In each process's answers: those of a process, slice by slice, behind those of the process before. In what
    # comes: those of a slice, process by process, behind those of the slice before.
    answer_begins = _begins(moved, (0, 1, 2))
    come_begins = _begins(crossing, (1, 2, 0))
    sizes = [crossing.sum(axis=(0, 2))] * len(columns) + [moved.sum(axis=(1, 2))]
    *come, answers = landings(company, [*columns, own.answers[0]], sizes)

    def outgoing(x: Any, at: int) -> list[Any]:
        """Of all pieces, or of their answers, those that are of each other process in a slice."""
        return cut(x, answer_begins[me, :, at].tolist(), crossing[me, :, at].tolist())

    def incoming(x: Any, at: int) -> list[Any]:
        """Of what comes that which is of each other process in a slice."""
        return cut(x, come_begins[:, me, at].tolist(), crossing[:, me, at].tolist())

    coming = company.begin([
        Transfer(
            outgoing(one, at), landing, come_begins[me, :, at].tolist(), incoming(landing.cells, at), own.before
        )
        for at in range(slices)
        for one, landing in zip(columns, come)
    ])  # fmt: skip

    def look(report: dict[str, Any]) -> list[tuple[Any, Any]]:
        try:
            found = []
            own.look()
            for at in range(slices):
                for wait in coming[len(columns) * at : len(columns) * (at + 1)]:
                    company.wait(wait)
                first, count = int(come_begins[0, me, at]), int(crossing[:, me, at].sum())
                pieces = [landing.cells[first : first + count] for landing in come]
                found.append((local(pieces, np.array([count])), company.engine.mark()))
            own.look()
            return found
        finally:  # nothing is on its way any more
            for wait in coming:
                company.wait(wait)

    found, _ = company.agree(step, look, retry=True)
    returning = company.begin([
        Transfer(
            cut(some, (come_begins[:, me, at] - come_begins[0, me, at]).tolist(), crossing[:, me, at].tolist()),
            answers, answer_begins[:, me, at].tolist(), outgoing(answers.cells, at), mark,
        )
        for at, (some, mark) in enumerate(found)
    ])  # fmt: skip
    first = own.first
    for one in own.answers:
        answers.cells[first : first + len(one)] = one
        first += len(one)
    for wait in returning:
        company.wait(wait)
    return answers.cells


def _begins(counts: npt.NDArray[np.int64], order: tuple[int, int, int]) -> npt.NDArray[np.int64]:
    """Where slices of arrays begin that are one behind the other: an array for each index of the first axis, its
    slices in the order of the second and third. `order` says which axes of `counts` these are."""
    by_array = counts.transpose(order)
    flat = by_array.reshape(len(by_array), -1)
    begins = (np.cumsum(flat, axis=1) - flat).reshape(by_array.shape)
    return begins.transpose(np.argsort(order))


def cut(x: Any, begins: Iterable[int], counts: Iterable[int]) -> list[Any]:
    """`counts[0]` cells from `begins[0]` on, and so on; no copy."""
    return [x[begin : begin + count] for begin, count in zip(begins, counts)]
