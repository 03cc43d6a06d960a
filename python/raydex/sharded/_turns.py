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

STRETCH = 1 << 29  # bytes of an index
LEAST = 1 << 20
"""Batches of so few pieces of each process are sent at once."""


def stretches_for(engine: Exchange, entries: float, key: Key, bits: int) -> int:
    """How many stretches the keys of a shard are divided in, the same on all processes.

    On GPUs probes of one stretch are looked up after those of another one, so that more of a large index is
    read from the L2: on an H200 2^27 lookups in 2^28 keys take 6.5 ms, 4.6 with four stretches, and hardly
    less with more. Between processes each stretch is a turn of the exchange."""
    if all(place is None for place in engine.places):
        return 1
    shards = engine.processes * len(engine.places)
    width = 8 if key.dtype is None else max(4, key.dtype.itemsize)
    each = entries / shards * (width + bits // 8)
    stretches = 1 if engine.processes == 1 else 4
    while each > stretches * STRETCH and stretches < 16:
        stretches *= 2
    while stretches > 1 and shards * stretches > _raydex.most_shards:
        stretches //= 2
    return stretches


def ask_in_turns(
    company: Company,
    step: tuple[Any, ...],
    columns: list[Any],
    table: npt.NDArray[np.int64],
    shards: int,
    local: Callable[[list[Any], npt.NDArray[np.int64]], Any],
) -> Any:
    """A number for each piece of a batch, in an array.

    `columns`: the pieces, points or the ends of ranges. `table`: how many go from each process to each
    shard, or to each stretch of each shard. `local(columns, counts)` is what the shards of this process
    answer to so many pieces for each of them.

    First a process looks up what stays with it, while the others' pieces come. Those of one turn are looked
    up while the answers of the one before go back."""
    me = company.process
    pieces = table[me].reshape(shards, -1).sum(axis=1)
    if company.processes == 1:
        return company.agree(step, lambda told: local(columns, pieces), retry=True)[0]
    moved = table.reshape(company.processes, company.processes, -1)
    if moved.sum() < LEAST * company.processes:
        moved = moved.sum(axis=2, keepdims=True)
    # Of each turn, how much goes to each process, where that ends, and how much comes from each other one.
    sent, received = moved[me].T, moved[:, me].T.copy()
    ends = np.cumsum(moved[me]).reshape(moved[me].shape).T
    received[:, me] = 0
    own = slice(int(ends[0, me] - sent[0, me]), int(ends[-1, me]))

    def of_turn(x: Any, turn: int) -> list[Any]:
        """The parts of an array of all pieces that are of each process, none of this one."""
        each = enumerate(zip(ends[turn].tolist(), sent[turn].tolist()))
        return [x[end - (0 if at == me else count) : end] for at, (end, count) in each]

    come = []
    for turn, counts in enumerate(received):
        cells = [company.empty(int(counts.sum()), like) for like in columns]
        begun = [
            company.begin(of_turn(like, turn), _parted(one, counts)) for like, one in zip(columns, cells)
        ]
        come.append((cells, begun))

    def arrive(begun: list[Callable[[], None]]) -> None:
        for one in begun:
            company.wait(one)

    def look(told: dict[str, Any]) -> tuple[Any, list[tuple[Any, Any]]]:
        try:
            here = local([one[own] for one in columns], pieces[me : me + 1])
            found = []
            for cells, begun in come:
                arrive(begun)
                there = local(cells, np.array([len(cells[0])]))
                found.append((there, company.engine.mark()))
            return (here, found)
        finally:  # nothing is on its way any more
            for _, begun in come:
                arrive(begun)

    here, found = company.agree(step, look, retry=True)[0]
    answers = company.empty(int(ends[-1, -1]), here)
    back = [
        company.begin(_parted(there, counts), of_turn(answers, turn), mark)
        for turn, ((there, mark), counts) in enumerate(zip(found, received))
    ]
    answers[own] = here
    arrive(back)
    return answers


def _parted(x: Any, counts: npt.NDArray[np.int64]) -> list[Any]:
    """The first `counts[0]` cells, the next `counts[1]`, and so on; no copy."""
    return [x[end - count : end] for end, count in zip(np.cumsum(counts).tolist(), counts.tolist())]
