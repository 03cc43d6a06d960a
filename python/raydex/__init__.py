# SPDX-License-Identifier: Apache-2.0
"""Indexes over columns on GPUs and CPUs: batches of point and range lookups, joins, range minima.

    >>> import numpy as np, raydex
    >>> index = raydex.build(np.array([50, 20, 40, 20, 30]))
    >>> index.count([20, 35], [20, 50])
    array([2, 2])
    >>> rows = index.first([20, 60])
    >>> rows
    array([ 1, -1])

There is no 60, and no row of it: -1. As an index that is the last row, so `names[rows]` would name one. `raydex.take`
does not:

    >>> raydex.take(np.array(["ann", "bob", "cyd", "dan", "eve"]), rows)
    masked_array(data=['bob', --],
                 mask=[False,  True],
           fill_value='N/A',
                dtype='<U3')

Columns stay where they are: NumPy arrays, PyTorch and CuPy tensors, Arrow columns of pyarrow, Polars, pandas
and DuckDB. Results are arrays of NumPy, PyTorch or CuPy, on the same device.
"""

import importlib
import sys
from types import ModuleType

from raydex import _raydex
from raydex._aggregates import Aggregate, AggregateInfo, aggregate
from raydex._appending import append_file, merge_file
from raydex._array_libraries import DeviceArray
from raydex._asof_index import AsofIndex
from raydex._asof_joins import join_asof
from raydex._build import build
from raydex._composite import CompositeIndex
from raydex._errors import (
    CudaError,
    Error,
    ExchangeError,
    InvalidArgument,
    InvalidType,
    OptixError,
    OutOfMemory,
    ShardError,
    Unavailable,
    Unsupported,
)
from raydex._estimate import AggregateEstimate, Estimate, estimate, estimate_aggregate
from raydex._exports import masked, take, to_arrow, to_pylibcudf
from raydex._files import build_file
from raydex._index import Index, not_found
from raydex._infos import IndexInfo
from raydex._joined import Joined, JoinRows
from raydex._joins import join
from raydex._loading import load
from raydex._matches import LazyMatches, Matches, MatchRows
from raydex._merging import merge, merge_asof
from raydex._minima import Rmq, RmqInfo, rmq
from raydex._nearest import NearestRows, interval_coverage, join_nearest
from raydex._order_joins import join_intervals, join_range, join_where
from raydex._prefixes import starts_with
from raydex._range_merging import merge_intervals, merge_range
from raydex._searching import isin, searchsorted
from raydex._structures import Option, Structure, structures
from raydex._windows import join_window, rolling

__version__: str = _raydex.version()


_INSTEAD = {
    "save": "an index has it, raydex.build(column).save(path)",
    **dict.fromkeys(
        ("count", "first", "rows", "contains", "rank", "predecessor", "successor", "insert", "erase"),
        "an index has it, raydex.build(column).{}(...)",
    ),
    **dict.fromkeys(
        ("prefix", "startswith"), "raydex.starts_with(strings) are probes, as of index.count(raydex.starts_with(x))"
    ),
    "lookup": "an index has it, raydex.build(keys).lookup(points, frame)",
    "sum": "an index has it, raydex.build(keys).sum(points, values=column)",
    **dict.fromkeys(
        ("mean", "min", "max"),
        "raydex.aggregate(index, values) has it of rows by their keys, raydex.rolling and raydex.join_window of those "
        "near in time; minima and maxima of ranges of positions are of raydex.rmq(array)",
    ),
    **dict.fromkeys(
        ("groupby", "group_by"),
        "an index has what groups have, by their keys: raydex.build(keys).sum(groups, values=column), and "
        "raydex.aggregate(index, column) means, minima and maxima",
    ),
    **dict.fromkeys(
        ("smallest", "largest", "nsmallest", "nlargest", "topk", "kth"),
        "numpy.partition has the smallest of a column, and its k-th one; the rows of a range of keys, in their order, "
        "are raydex.build(column).rows(lower, upper)",
    ),
    **dict.fromkeys(("head", "tail"), "column[:n] and column[-n:] are the first rows and the last ones"),
    **dict.fromkeys(("median", "quantile"), "numpy.median and numpy.quantile have those of a column"),
    **dict.fromkeys(
        ("overlap", "closest", "coverage", "cluster", "subtract", "complement"),
        "raydex.genomics has it of data frames; of columns, see raydex.join_intervals, join_nearest, interval_coverage",
    ),
}


def __getattr__(name: str) -> ModuleType:
    """Modules that are imported when they are first named."""
    if name in ("dask", "duckdb", "genomics", "jax", "polars", "sharded", "torch"):
        return importlib.import_module(f"raydex.{name}")
    said = f"module 'raydex' has no attribute {name!r}"
    hint = _INSTEAD.get(name)
    if hint is None:
        raise AttributeError(said, name=name, obj=sys.modules[__name__])
    raise AttributeError(f"{said}: {hint.format(name)}")


__all__ = [
    "Aggregate",
    "AggregateEstimate",
    "AggregateInfo",
    "AsofIndex",
    "CompositeIndex",
    "CudaError",
    "DeviceArray",
    "Error",
    "Estimate",
    "ExchangeError",
    "Index",
    "IndexInfo",
    "InvalidArgument",
    "InvalidType",
    "JoinRows",
    "Joined",
    "LazyMatches",
    "MatchRows",
    "Matches",
    "NearestRows",
    "OptixError",
    "Option",
    "OutOfMemory",
    "Rmq",
    "RmqInfo",
    "ShardError",
    "Structure",
    "Unavailable",
    "Unsupported",
    "aggregate",
    "append_file",
    "build",
    "build_file",
    "estimate",
    "estimate_aggregate",
    "interval_coverage",
    "isin",
    "join",
    "join_asof",
    "join_intervals",
    "join_nearest",
    "join_range",
    "join_where",
    "join_window",
    "load",
    "masked",
    "merge",
    "merge_asof",
    "merge_file",
    "merge_intervals",
    "merge_range",
    "not_found",
    "rmq",
    "rolling",
    "searchsorted",
    "starts_with",
    "structures",
    "take",
    "to_arrow",
    "to_pylibcudf",
]
