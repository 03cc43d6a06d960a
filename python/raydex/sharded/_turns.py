# SPDX-License-Identifier: Apache-2.0
"""A batch that goes to its owners and back in several turns, so that what is sent and what is looked up
overlap."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from raydex import _raydex
from raydex._columns import Key
from raydex.sharded._arrays import arrays_of
from raydex.sharded._exchange import Company, Exchange, Transfer

STRETCHES = 4  # of a shard at least, between processes with a GPU each
STRETCH_BYTES = 1 << 30  # of an index
TURNS = 4  # two processes take two
LEAST_MOVED = 1 << 23
"""Batches of so few pieces of each process are sent at once: a turn takes half a millisecond of the host."""
LEAST_OWN = 1 << 20
"""So few pieces that stay with a process are looked up at once."""

Local = Callable[[list[Any], npt.NDArray[np.int64]], Any]
"""What the shards of a process answer to some pieces, an array: of columns, which are points or the ends of
ranges, and how many pieces are for each shard."""


def stretches_for(engine: Exchange, entries: float, key: Key, bits: int) -> int:
    """How many stretches the keys of a shard are divided in, a power of two, the same on all processes.

    On GPUs probes of one stretch are looked up after those of another one, so that more of a large index is
    read from the L2: on an H200 2^27 lookups in 2^28 keys take 6.5 ms, 4.6 with four stretches, and hardly
    less with more. Between processes a stretch or some are a turn of the exchange."""
    if all(place is None for place in engine.places):
        return 1
    shards = engine.processes * len(engine.places)
    width = 8 if key.dtype is None else max(4, key.dtype.itemsize)
    each = entries / shards * (width + bits // 8)
    stretches = 1 if engine.processes == 1 else STRETCHES
    while each > stretches * STRETCH_BYTES and stretches < 4 * STRETCHES:
        stretches *= 2
    while stretches > 1 and shards * stretches > _raydex.most_shards:
        stretches //= 2
    return stretches


class Own:
    """The pieces that stay with a process, all of them where it is the only one. They are looked up while
    others are under way.

    `columns`: all pieces of a batch. `counts`: how many are for each of all shards, or for each of their
    stretches. Its first part is looked up at once: what comes from others need not be known."""

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
            parts = np.array_split(own, 3) if len(own) > 2 and own.sum() > LEAST_OWN else [own]
            self._left = [part.sum(keepdims=True) for part in parts]
        self.answers: list[Any] = []
        self.look()

    def look(self) -> None:
        """Looks up the next part, of one to three, if there is another one."""
        if self._left:
            counts = self._left.pop(0)
            begin, self._end = self._end, self._end + int(counts.sum())
            self.answers.append(self._local([one[begin : self._end] for one in self._columns], counts))


class Room:
    """What a process receives in: pieces of others, and the answers of its own. Agreed upon where more is
    needed than ever before, so that no process begins an exchange that another one has no memory for."""

    def __init__(self, company: Company) -> None:
        self._company = company
        self._had = 0  # bytes, of the process that needed most

    def make(self, columns: list[Any], table: npt.NDArray[np.int64], answer: np.dtype[Any]) -> None:
        """`table`: how many pieces go from each process to each."""
        on, me = arrays_of(columns[0]), self._company.process
        width = sum(on.dtype(one).itemsize for one in columns)
        needed = width * table.sum(axis=0) + answer.itemsize * table.sum(axis=1)
        if needed.max() <= self._had:
            return
        engine, nothing = self._company.engine, on.empty(0, "uint8")
        self._company.agree(
            ("make", "room"), lambda told: engine.empty(int(needed[me]), nothing), retry=True
        )
        self._had = int(needed.max())


def ask_in_turns(
    company: Company,
    room: Room,
    step: tuple[Any, ...],
    columns: list[Any],
    table: npt.NDArray[np.int64],
    own: Own,
    local: Local,
) -> Any:
    """A number for each piece of a batch, in an array. Pieces of one turn are looked up while those of the
    next one come and answers of the one before go back; own ones while the first come and the last go back.

    `columns`: the pieces. `table`: how many go from each process to each shard, or to each stretch of each
    shard."""
    me = company.process
    if company.processes == 1:
        return own.answers[0]
    moved = table.reshape(company.processes, company.processes, -1)
    room.make(columns, moved.sum(axis=2), arrays_of(own.answers[0]).dtype(own.answers[0]))
    turns = 2 if company.processes == 2 else TURNS
    turns = 1 if moved.sum() < LEAST_MOVED * company.processes else min(turns, moved.shape[2])
    moved = moved.reshape(company.processes, company.processes, turns, -1).sum(axis=3)
    # Of each turn, how much goes to each other process, where that ends, and how much comes from each.
    sent, received = moved[me].T.copy(), moved[:, me].T.copy()
    ends = np.cumsum(moved[me]).reshape(moved[me].shape).T
    sent[:, me] = received[:, me] = 0

    def of_turn(x: Any, turn: int) -> list[Any]:
        """The parts of an array of all pieces that are of each process, none of this one."""
        return [x[end - count : end] for end, count in zip(ends[turn].tolist(), sent[turn].tolist())]

    # Of each column what comes in each turn.
    come = [_parted(company.empty(int(received.sum()), one), received.sum(axis=1)) for one in columns]
    coming = company.begin([
        Transfer(of_turn(one, turn), _parted(of[turn], counts), own.before)
        for turn, counts in enumerate(received)
        for one, of in zip(columns, come)
    ])

    def look(told: dict[str, Any]) -> list[tuple[Any, Any]]:
        try:
            found = []
            own.look()
            for turn in range(turns):
                for wait in coming[len(columns) * turn : len(columns) * (turn + 1)]:
                    company.wait(wait)
                pieces = [of[turn] for of in come]
                there = local(pieces, np.array([len(pieces[0])]))
                found.append((there, company.engine.mark()))
            own.look()
            return found
        finally:  # nothing is on its way any more
            for wait in coming:
                company.wait(wait)

    found, _ = company.agree(step, look, retry=True)
    answers = company.empty(int(ends[-1, -1]), own.answers[0])
    returning = company.begin([
        Transfer(_parted(there, counts), of_turn(answers, turn), mark)
        for turn, ((there, mark), counts) in enumerate(zip(found, received))
    ])
    first = own.first
    for here in own.answers:
        answers[first : first + len(here)] = here
        first += len(here)
    for wait in returning:
        company.wait(wait)
    return answers


def _parted(x: Any, counts: npt.NDArray[np.int64]) -> list[Any]:
    """The first `counts[0]` cells, the next `counts[1]`, and so on; no copy."""
    return [x[end - count : end] for end, count in zip(np.cumsum(counts).tolist(), counts.tolist())]
