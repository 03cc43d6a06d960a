# SPDX-License-Identifier: Apache-2.0
"""Batches of few probes: all go to all shards, since to divide them would take longer than to look them up."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from raydex.sharded._arrays import arrays_of
from raydex.sharded._exchange import Company, Exchange, Landing, Transfer
from raydex.sharded._overlap import cut
from raydex.sharded._receive_buffers import landings

SMALL = 1 << 13
SMALL_ON_GPUS = 1 << 23
"""Of all processes together; measured with two, see docs/site/sharded.md."""


def most_for(engine: Exchange) -> int:
    """How many probes of all processes together are few; none where there is one process."""
    if engine.processes == 1:
        return -1
    return SMALL if engine.places[0] is None else SMALL_ON_GPUS


class _Layout(NamedTuple):
    """Where the slices of few probes are, and of their answers."""

    cells: npt.NDArray[np.int64]
    """How many probes each process has to look up, in a row for each column: those of all, one slice behind the other.
    In the last row how many answers it gets: of each other process's shard to all own probes, one behind the other."""
    begins: list[int]
    """Where the probes of each process are."""
    of_others: list[int]
    """The probes of each other process, none of this one."""
    answers_at: list[int]
    """Where the answers of this process's shard are among those that each other process gets."""


@functools.lru_cache(maxsize=64)
def _layout(process: int, sizes: tuple[int, ...], columns: int) -> _Layout:
    """Batches of the same sizes come again and again."""
    processes = len(sizes)
    answers = [(processes - 1) * size for size in sizes]
    return _Layout(
        np.array([[sum(sizes)] * processes] * columns + [answers], "int64"),
        [0, *itertools.accumulate(sizes[:-1])],
        [0 if at == process else size for at, size in enumerate(sizes)],
        [(process if process < at else process - 1) * size for at, size in enumerate(sizes)],
    )


@dataclass(frozen=True)
class Few:
    """The probes of a process that are to be asked everywhere."""

    columns: list[Any]
    """Points, or the ends of ranges."""
    there: Any


@dataclass(frozen=True)
class Answers:
    """What the shards answer to the probes of a process, all to all."""

    process: int
    own: Any
    """Of its own shard."""
    others: Any
    """A row for each other shard, in their order."""

    def by_shard(self) -> list[Any]:
        found = list(self.others)
        found.insert(self.process, self.own)
        return found


def ask_all(
    company: Company,
    step: tuple[Any, ...],
    columns: list[Any],
    sizes: tuple[int, ...],
    like: Any,
    local: Callable[[list[Any]], Any],
) -> Answers:
    """What the shards answer to this process's probes. A collective call.

    `columns`: the probes. `sizes`: how many each process has. `like`: an array of the answers' dtype. `local`: what
    this process's shard answers. Transfers are a part of the current stream's work, which has nothing else to do."""
    me, processes = company.process, company.processes
    layout = _layout(me, sizes, len(columns))
    at, own = layout.begins[me], sizes[me]
    to_others = [0 if other == me else own for other in range(processes)]
    *come, answers = landings(company, [*columns, like], layout.cells)
    coming = company.begin([
        Transfer(
            [column] * processes if landing.begins else [column[:count] for count in to_others],
            landing, [at] * processes, _room(landing, layout.begins, layout.of_others), None,
        )
        for column, landing in zip(columns, come)
    ])  # fmt: skip
    for column, landing in zip(columns, come):
        if not landing.begins:
            landing.cells[at : at + own] = column
    for wait in coming:
        company.wait(wait)
    found, _ = company.agree(step, lambda report: local([landing.cells for landing in come]), retry=True)
    answer_begins = [own * (other if other < me else other - 1) for other in range(processes)]
    (wait,) = company.begin([
        Transfer(
            cut(found, layout.begins, layout.of_others), answers, layout.answers_at,
            _room(answers, answer_begins, to_others), None,
        )
    ])  # fmt: skip
    company.wait(wait)
    return Answers(me, found[at : at + own], answers.cells.reshape(processes - 1, own))


def _room(landing: Landing, begins: list[int], counts: list[int]) -> list[Any]:
    """Its slices for what comes, which nobody asks for where others write to rooms."""
    return [] if landing.begins else cut(landing.cells, begins, counts)


def in_one(operation: str, answers: Answers, are_points: bool) -> Any:
    """The answer of each probe, of those of the shards in ascending order, which know of themselves alone."""
    own, others = answers.own, answers.others
    library = arrays_of(own)
    if operation == "contains":
        return others.any(0) | own
    if operation in ("count", "rank"):
        return others.sum(0) + own
    if operation == "first" and are_points:  # one shard has all rows of a key
        return library.larger(others[0] if len(others) == 1 else library.largest(others), own)
    found, *rest = answers.by_shard()
    for more in rest:
        if operation == "first":
            found = library.where((more >= 0) & ((found < 0) | (more < found)), more, found)
        elif operation == "predecessor":
            found = library.where(more < 0, found, more)
        else:  # successor
            found = library.where(found < 0, more, found)
    return found
