# SPDX-License-Identifier: Apache-2.0
"""What processes receive in."""

from __future__ import annotations

import weakref
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from raydex.sharded._arrays import arrays_of
from raydex.sharded._exchange import Company, Exchange, Landing
from raydex.sharded._peers import places

_rooms: weakref.WeakKeyDictionary[Exchange, npt.NDArray[np.int64]] = weakref.WeakKeyDictionary()
"""The bytes of the rooms of all processes, by engine: several indexes may use one."""


def landings(
    company: Company, like: Sequence[Any], sizes: Sequence[npt.NDArray[np.int64]] | npt.NDArray[np.int64]
) -> list[Landing]:
    """Arrays to receive in, until the next are made: pieces of others, and the answers of its own. A collective
    call.

    The engine's room is made anew, and agreed upon, where any process needs more than ever before, so that none
    begins an exchange that another one has no memory for.

    `like`: arrays with their libraries and dtypes. `sizes`: for each, the cells of each process's array."""
    cells = sizes if isinstance(sizes, np.ndarray) else np.stack(sizes)
    _, needed = places(cells, [arrays_of(one).dtype(one).itemsize for one in like])
    had = _rooms.get(company.engine)
    if had is None or (needed > had).any():
        _make(company, needed if had is None else np.maximum(needed, had))
    return company.landings(like, cells)


def _make(company: Company, needed: npt.NDArray[np.int64]) -> None:
    engine, own = company.engine, int(needed[company.process])

    def leave(report: dict[str, Any]) -> None:
        _rooms.pop(engine, None)
        engine.leave_room()

    def make(report: dict[str, Any]) -> None:
        report["room"] = engine.make_room(own)

    company.agree(("leave", "room"), leave)
    _, report = company.agree(("make", "room"), make, retry=True)
    company.enter_room([one["room"] for one in report])
    _rooms[engine] = needed
