# SPDX-License-Identifier: Apache-2.0
"""Indexes larger than one device: a shard on each of several, which processes or one process share.

    >>> import numpy as np, raydex.sharded
    >>> index = raydex.sharded.build(np.array([50, 20, 40, 20, 30]), devices=["cpu", "cpu"])
    >>> index.count([20, 35], [20, 50])
    array([2, 2])

With `torch.distributed` each process gives its slice of the column, and gets the answers of its own probes. Processes
send each other pickles: they, and the network between them, have to be trusted.
"""

from raydex.sharded._build import build
from raydex.sharded._devices import DeviceExchange
from raydex.sharded._exchange import Exchange
from raydex.sharded._index import ShardedIndex
from raydex.sharded._info import Balance, ShardedInfo
from raydex.sharded._joins import JoinPairs, join
from raydex.sharded._order_joins import join_asof, join_intervals, join_range, join_where, join_window
from raydex.sharded._torch import TorchExchange

__all__ = [
    "Balance",
    "DeviceExchange",
    "Exchange",
    "JoinPairs",
    "ShardedIndex",
    "ShardedInfo",
    "TorchExchange",
    "build",
    "join",
    "join_asof",
    "join_intervals",
    "join_range",
    "join_where",
    "join_window",
]
