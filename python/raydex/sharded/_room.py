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


class Room:
    """What a process receives in: pieces of others, and the answers of its own.

    Made anew, and agreed upon, where more is needed than ever before, so that no process begins an exchange
    that another one has no memory for."""

    def __init__(self, company: Company) -> None:
        self._company = company
        self._had = 0  # bytes, of the process that needed most

    def landings(self, like: Sequence[Any], sizes: Sequence[npt.NDArray[np.int64]]) -> list[Landing]:
        """Arrays to receive in, until the next are made. A collective call.

        `like`: arrays with their libraries and dtypes. `sizes`: for each, the cells of each process's array."""
        company, cells = self._company, np.stack(sizes)
        widths = [arrays_of(one).dtype(one).itemsize for one in like]
        needed = (-(-cells * np.array(widths)[:, np.newaxis] // ALIGN) * ALIGN).sum(axis=0)
        if needed.max() > self._had:
            self._make(needed)
        return company.landings(like, cells)

    def _make(self, needed: npt.NDArray[np.int64]) -> None:
        company = self._company
        engine, own = company.engine, int(needed[company.process])
        self._had = 0
        company.agree(("leave", "room"), lambda told: engine.leave_room())

        def make(told: dict[str, Any]) -> None:
            told["room"] = engine.make_room(own)

        _, told = company.agree(("make", "room"), make, retry=True)
        company.enter_room([one["room"] for one in told])
        self._had = int(needed.max())
