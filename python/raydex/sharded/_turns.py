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
from raydex.sharded._exchange import Company, Exchange

STRETCH = 1 << 30  # bytes of an index
TURNS = 4  # two processes take two
LEAST = 1 << 23
"""Batches of so few pieces of each process are sent at once: a turn takes half a millisecond of the host."""

Local = Callable[[list[Any], npt.NDArray[np.int64]], Any]
"""What the shards of a process answer to some pieces, an array: of columns, which are points or the ends of
ranges, and how many pieces are for each shard."""


def stretches_for(engine: Exchange, entries: float, key: Key, bits: int) -> int:
    """How many stretches the keys of a shard are divided in, the same on all processes.

    On GPUs probes of one stretch are looked up after those of another one, so that more of a large index is
    read from the L2: on an H200 2^27 lookups in 2^28 keys take 6.5 ms, 4.6 with four stretches, and hardly
    less with more. Between processes a stretch or some are a turn of the exchange."""
    if all(place is None for place in engine.places):
        return 1
    shards = engine.processes * len(engine.places)
    width = 8 if key.dtype is None else max(4, key.dtype.itemsize)
    each = entries / shards * (width + bits // 8)
    stretches = 1 if engine.processes == 1 else TURNS
    while each > stretches * STRETCH and stretches < 16:
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
        self.begin = self._end = 0
        if engine.processes == 1:
            self._left = [by_shard.sum(axis=1)]
        else:
            own = by_shard[engine.process]
            self.begin = self._end = int(by_shard[: engine.process].sum())
            self._left = np.array_split(own, 3) if len(own) > 2 and own.sum() > LEAST else [own]
            self._left = [part.sum(keepdims=True) for part in self._left]
        self.answers: list[Any] = []
        self.look()

    def look(self) -> None:
        """Looks up the next part, of one to three, if there is another one."""
        if self._left:
            counts = self._left.pop(0)
            begin, self._end = self._end, self._end + int(counts.sum())
            self.answers.append(self._local([one[begin : self._end] for one in self._columns], counts))


def ask_in_turns(
    company: Company,
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
    turns = 1 if moved.sum() < LEAST * company.processes else min(TURNS, company.processes)
    if moved.shape[2] % turns == 0:
        moved = moved.reshape(company.processes, company.processes, turns, -1).sum(axis=3)
    # Of each turn, how much goes to each process, where that ends, and how much comes from each other one.
    sent, received = moved[me].T.copy(), moved[:, me].T.copy()
    ends = np.cumsum(moved[me]).reshape(moved[me].shape).T
    sent[:, me] = received[:, me] = 0

    def of_turn(x: Any, turn: int) -> list[Any]:
        """The parts of an array of all pieces that are of each process, none of this one."""
        return [x[end - count : end] for end, count in zip(ends[turn].tolist(), sent[turn].tolist())]

    rooms = [company.empty(int(received.sum()), like) for like in columns]
    come = [_parted(room, received.sum(axis=1)) for room in rooms]  # of each column and turn
    begun = company.begin([
        (of_turn(like, turn), _parted(cells, counts), own.before)
        for turn, counts in enumerate(received)
        for like, cells in zip(columns, (of[turn] for of in come))
    ])

    def look(told: dict[str, Any]) -> list[tuple[Any, Any]]:
        try:
            found = []
            own.look()
            for turn in range(len(received)):
                for one in begun[len(columns) * turn : len(columns) * (turn + 1)]:
                    company.wait(one)
                cells = [of[turn] for of in come]
                there = local(cells, np.array([len(cells[0])]))
                found.append((there, company.engine.mark()))
            own.look()
            return found
        finally:  # nothing is on its way any more
            for one in begun:
                company.wait(one)

    found, _ = company.agree(step, look, retry=True)
    answers = company.empty(int(ends[-1, -1]), own.answers[0])
    back = company.begin([
        (_parted(there, counts), of_turn(answers, turn), mark)
        for turn, ((there, mark), counts) in enumerate(zip(found, received))
    ])
    begin = own.begin
    for here in own.answers:
        answers[begin : begin + len(here)] = here
        begin += len(here)
    for one in back:
        company.wait(one)
    return answers


def _parted(x: Any, counts: npt.NDArray[np.int64]) -> list[Any]:
    """The first `counts[0]` cells, the next `counts[1]`, and so on; no copy."""
    return [x[end - count : end] for end, count in zip(np.cumsum(counts).tolist(), counts.tolist())]
