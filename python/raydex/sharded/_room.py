# SPDX-License-Identifier: Apache-2.0
"""What processes receive in."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from raydex.sharded._arrays import arrays_of
from raydex.sharded._exchange import Company, Landing
from raydex.sharded._peers import ALIGN


def landings(company: Company, like: Sequence[Any], sizes: Sequence[npt.NDArray[np.int64]]) -> list[Landing]:
    """Arrays to receive in, until the next are made: pieces of others, and the answers of its own. A collective
    call.

    The engine's room is made anew, and agreed upon, where more is needed than ever before, so that no process
    begins an exchange that another one has no memory for.

    `like`: arrays with their libraries and dtypes. `sizes`: for each, the cells of each process's array."""
    cells = np.stack(sizes)
    widths = np.array([arrays_of(one).dtype(one).itemsize for one in like])
    needed = (-(-cells * widths[:, np.newaxis] // ALIGN) * ALIGN).sum(axis=0)
    if needed.max() > company.engine.room:
        _make(company, needed)
    return company.landings(like, cells)


def _make(company: Company, needed: npt.NDArray[np.int64]) -> None:
    engine, own = company.engine, int(needed[company.process])

    def leave(told: dict[str, Any]) -> None:
        engine.room = 0
        engine.leave_room()

    def make(told: dict[str, Any]) -> None:
        told["room"] = engine.make_room(own)

    company.agree(("leave", "room"), leave)
    _, told = company.agree(("make", "room"), make, retry=True)
    company.enter_room([one["room"] for one in told])
    engine.room = int(needed.max())
