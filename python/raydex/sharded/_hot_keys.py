# SPDX-License-Identifier: Apache-2.0
"""Hot keys. One that many probes of a batch have is sent once. Rows of a join whose key many have stay where
they are."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from raydex.sharded._arrays import arrays_of
from raydex.sharded._routing import sample

SAMPLE = 1024
LEAST = 4096
"""Batches of fewer probes are sent as they are, and so are tables of fewer rows."""
ONE_IN = 64
"""A key is hot that more than one in so many of the sample have."""

Sampled = list[tuple[npt.NDArray[Any], float]]
"""Of each slice of a column the keys that `sample` drew, and how many they stand for."""


@dataclass(frozen=True)
class Merged:
    """A batch with one probe in place of all those of a hot key."""

    points: Any
    there: Any
    _cold: Any  # the positions of the other probes
    _hot: Any  # those of probes with a hot key
    _keys: Any  # where in the batch the key of each is

    @property
    def saved(self) -> int:
        """How many probes are not sent."""
        return len(self._cold) + len(self._hot) - len(self.points)

    def spread(self, answers: Any) -> Any:
        """The answers of all probes, of those that were sent."""
        library = arrays_of(answers)
        out = library.empty(len(self._cold) + len(self._hot), library.dtype(answers))
        library.put(out, self._cold, answers[: len(self._cold)])
        library.put(out, self._hot, library.take(answers, self._keys))
        return out


def merge(points: Any, there: Any) -> Merged | None:
    """The batch to send in place of another; None where a sample shows no hot key.

    Cost: a sample; with hot keys a search among them and a copy."""
    if len(points) < LEAST:
        return None
    library = arrays_of(points)
    keys, counts = np.unique(sample(points, there, SAMPLE), return_counts=True)
    hot = keys[counts * ONE_IN > SAMPLE]
    if len(hot) == 0:
        return None
    at, same = _among(hot, points)
    if there is not None:
        same = same & there
    cold, equal = library.nonzero(~same), library.nonzero(same)
    if there is not None:
        there = library.concatenate([library.take(there, cold), library.full(len(hot), True, "bool")])
    sent = library.concatenate([library.take(points, cold), library.from_host(hot)])
    return Merged(sent, there, cold, equal, library.take(at, equal) + len(cold))


def apart(keys: Any, hot: npt.NDArray[Any]) -> tuple[Any, Any]:
    """The positions of the keys that are none of the ascending hot ones, and those of the others."""
    library = arrays_of(keys)
    _, same = _among(hot, keys)
    return (library.nonzero(~same), library.nonzero(same))


def hot_keys(kept: Sampled, spread: Sampled, shards: int, pairs: bool) -> npt.NDArray[Any]:
    """Hot keys of a side of a join, ascending: those whose rows of the other side are to be sent to all
    shards. With `pairs` all rows with a hot key match each other, and pairs are made of them, far more than
    rows: then these are the keys that the other side has fewer rows of. Else those for which it is
    less to send the other side's rows to all than this side's to one.

    Cost: sorts the samples of this side."""
    cells, stands = _weighed(kept)
    size = stands.sum()
    keys: npt.NDArray[Any] = cells[:0]
    if shards == 1 or size < LEAST:
        return keys
    least = size / max(ONE_IN, shards)  # rows; a key with as many as a shard fills it alone
    if not _has_run(np.sort(cells), int(least / stands.max()) + 1):
        return keys
    keys, at = np.unique(cells, return_inverse=True)
    rows = np.bincount(at, stands)
    hot = rows > least
    keys, rows = keys[hot], rows[hot]
    if len(keys) == 0:
        return keys
    cells, stands = _weighed(spread)
    at, same = _among(keys, cells)
    # A key that no sample has may still have as many rows as a cell of one stands for.
    others = np.maximum(np.bincount(at[same], stands[same], len(keys)), stands.max(initial=0))
    keys = keys[others <= rows if pairs else others * (shards - 1) < rows]
    return keys


def _has_run(keys: npt.NDArray[Any], length: int) -> bool:
    """Whether one of some ascending keys is there so many times."""
    return bool(arrays_of(keys).same(keys[length - 1 :], keys[: len(keys) - length + 1]).any())


def without(samples: Sampled, hot: npt.NDArray[Any]) -> Sampled:
    """What is left of samples when rows with a hot key are taken out."""
    found = []
    for keys, stands_for in samples:
        cold, _ = apart(keys, hot)
        found.append((keys[cold], stands_for * len(cold) / max(len(keys), 1)))
    return found


def _weighed(samples: Sampled) -> tuple[npt.NDArray[Any], npt.NDArray[np.float64]]:
    """The cells of all samples, and how many keys each stands for."""
    each = [np.full(len(keys), stands_for / max(len(keys), 1)) for keys, stands_for in samples]
    return (np.concatenate([keys for keys, _ in samples]), np.concatenate(each))


def _among(hot: npt.NDArray[Any], keys: Any) -> tuple[Any, Any]:
    """Where each key would be among ascending hot ones, and whether it is there."""
    library = arrays_of(keys)
    at = library.owners(hot, keys) - 1
    at[at < 0] = 0
    return (at, library.same(library.take(library.from_host(hot), at), keys))
