# SPDX-License-Identifier: Apache-2.0
"""Keys that many probes of a batch have: each is sent once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from raydex.sharded._arrays import arrays_of
from raydex.sharded._routing import sample

SAMPLE = 1024
LEAST = 4096
"""Batches of fewer probes are sent as they are."""
SHARE = 64
"""A key is hot that more than this part of the sample has."""


@dataclass(frozen=True)
class Merged:
    """A batch with one probe in place of all those of a hot key."""

    points: Any
    there: Any
    _cold: Any  # the places of the other probes
    _hot: Any  # those of probes with a hot key
    _keys: Any  # where in the batch the key of each is

    @property
    def saved(self) -> int:
        """How many probes are not sent."""
        return len(self._cold) + len(self._hot) - len(self.points)

    def spread(self, answers: Any) -> Any:
        """The answers of all probes, of those that were sent."""
        on = arrays_of(answers)
        out = on.empty(len(self._cold) + len(self._hot), on.dtype(answers))
        on.put(out, self._cold, answers[: len(self._cold)])
        on.put(out, self._hot, on.take(answers, self._keys))
        return out


def merge(points: Any, there: Any) -> Merged | None:
    """The batch to send in place of another; None where a sample shows no hot key.

    Cost: a sample; with hot keys a search among them and a copy."""
    if len(points) < LEAST:
        return None
    on = arrays_of(points)
    keys, counts = np.unique(sample(points, there, SAMPLE), return_counts=True)
    hot = keys[counts * SHARE > SAMPLE]
    if len(hot) == 0:
        return None
    here = on.here(hot)
    at = on.owners(hot, points) - 1
    at[at < 0] = 0
    same = on.same(on.take(here, at), points)
    if there is not None:
        same = same & there
    cold, equal = on.nonzero(~same), on.nonzero(same)
    if there is not None:
        there = on.concatenate([on.take(there, cold), on.full(len(hot), True, "bool")])
    sent = on.concatenate([on.take(points, cold), here])
    return Merged(sent, there, cold, equal, on.take(at, equal) + len(cold))
