# SPDX-License-Identifier: Apache-2.0
"""Indexes and joins over collections of Dask, with the work and the memory of its cluster.

    >>> from dask.distributed import Client
    >>> import raydex.dask
    >>> client = Client()
    >>> index = raydex.dask.build(orders["customer"])
    >>> index.count(customers["id"])  # lazy, as all of Dask
    >>> raydex.dask.join(orders, customers, left_on="customer", right_on="id")

Needs `dask[dataframe]`, and `distributed` for a cluster. Workers send each other pickles: they, and the network between
them, have to be trusted.
"""

from raydex.dask._index import Index, IndexInfo, build
from raydex.dask._joins import join
from raydex.dask._order_joins import join_asof, join_intervals, join_range, join_where, join_window

__all__ = [
    "Index",
    "IndexInfo",
    "build",
    "join",
    "join_asof",
    "join_intervals",
    "join_range",
    "join_where",
    "join_window",
]
