# SPDX-License-Identifier: Apache-2.0
"""Batches of few probes: all go to all shards, since to divide them would take longer than to look them up."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from raydex.sharded._arrays import arrays_of
from raydex.sharded._exchange import Company, Exchange, Transfer
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


def ask_all(
    company: Company,
    step: tuple[Any, ...],
    columns: list[Any],
    sizes: npt.NDArray[np.int64],
    like: Any,
    local: Callable[[list[Any]], Any],
) -> list[Any]:
    """What the shard of each process answers to this process's probes, an array each. A collective call.

    `columns`: the probes, points or the ends of ranges. `sizes`: how many each process has. `like`: an array of
    the answers' dtype. `local`: what this process's shard answers."""
    me, processes = company.process, company.processes
    begins = np.cumsum(sizes) - sizes
    own, at = int(sizes[me]), int(begins[me])
    answer_begins = np.arange(processes) * own  # where this process has the answers of each
    of_others = sizes * (np.arange(processes) != me)
    to_others = own * (np.arange(processes) != me)
    every = np.full(processes, sizes.sum())
    *come, answers = landings(company, [*columns, like], [every] * len(columns) + [processes * sizes])
    mark = company.engine.mark()
    coming = company.begin([
        Transfer(
            [column[:count] for count in to_others.tolist()], landing, [at] * processes,
            cut(landing.cells, begins, of_others), mark,
        )
        for column, landing in zip(columns, come)
    ])  # fmt: skip
    for column, landing in zip(columns, come):
        landing.cells[at : at + own] = column
    for wait in coming:
        company.wait(wait)

    def look(report: dict[str, Any]) -> tuple[Any, Any]:
        return (local([landing.cells for landing in come]), company.engine.mark())

    (found, mark), _ = company.agree(step, look, retry=True)
    (wait,) = company.begin([
        Transfer(
            cut(found, begins, of_others), answers, (me * sizes).tolist(),
            cut(answers.cells, answer_begins, to_others), mark,
        )
    ])  # fmt: skip
    answers.cells[me * own : me * own + own] = found[at : at + own]
    company.wait(wait)
    return cut(answers.cells, answer_begins, np.full(processes, own))


def in_one(operation: str, answers: list[Any]) -> Any:
    """The answer of each probe, of those of the shards in ascending order, which know of themselves alone."""
    library = arrays_of(answers[0])
    found = answers[0]
    for more in answers[1:]:
        if operation == "contains":
            found = found | more
        elif operation == "first":
            found = library.where((more >= 0) & ((found < 0) | (more < found)), more, found)
        elif operation == "predecessor":
            found = library.where(more < 0, found, more)
        elif operation == "successor":
            found = library.where(found < 0, more, found)
        else:  # count, rank, sum
            found = found + more
    return found
