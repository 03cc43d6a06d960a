# SPDX-License-Identifier: Apache-2.0
"""What a sharded index is, and how even its shards are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Balance:
    """How even shards are; a number for each shard, in the order of their keys."""

    rows: tuple[int, ...]
    """Entries."""
    last: tuple[int, ...]
    """Pieces of the last call's probes, those of all processes: a point is one, a range one for each shard
    that it touches; of few probes each is one for every shard."""
    total: tuple[int, ...]
    """Pieces since the build."""
    merged: int
    """Probes since the build that were not sent, since another one of the same hot key was."""

    @property
    def imbalance(self) -> float:
        """The most rows of a shard, divided by their mean; 1 where there are none."""
        return _imbalance(self.rows)

    @property
    def probe_imbalance(self) -> float:
        """The same of pieces since the build."""
        return _imbalance(self.total)


def _imbalance(numbers: Sequence[int]) -> float:
    whole = sum(numbers)
    return max(numbers) * len(numbers) / whole if whole else 1.0


@dataclass(frozen=True)
class ShardedInfo:
    """What a sharded index is. `structure`, `backend`, `device` and `options` are of the first shard of
    this process, the rest is of all shards together."""

    structure: str
    """The name of the structure."""
    backend: str
    """`cpu`, `cuda` or `optix`."""
    device: str
    """The same with the number of a GPU: `cuda:0`."""
    key: str
    """The type of its keys."""
    shards: int
    """How many there are."""
    processes: int
    """How many take part."""
    row_id_bits: int
    """32 or 64."""
    entries: int
    """Rows that are not missing, and what edits have added."""
    max_row_id: int
    """The largest row that it was given."""
    options: dict[str, str]
    """The options in force."""
    resident_bytes: int
    """Of the indexes, and of the keys that shards keep beside them."""
    balance: Balance
    """How even shards are."""
