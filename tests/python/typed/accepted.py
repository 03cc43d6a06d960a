# SPDX-License-Identifier: Apache-2.0
"""What type checkers accept, and what runs."""

from __future__ import annotations

import datetime
from typing import Any

import duckdb
import numpy as np
import numpy.typing as npt
import pandas as pd  # type: ignore[import-untyped, unused-ignore]
import polars as pl
import pyarrow as pa  # type: ignore[import-untyped, unused-ignore]
import raydex
import raydex.duckdb
import raydex.genomics
import raydex.polars
import torch
from raydex.typing import Closed, How

numbers = np.arange(10)
with raydex.build(numbers, "pivot_tree", "cpu", search="groups", k=9, levels="all") as index:
    counts: npt.NDArray[np.int64] = index.count([1, 2], [3, 4])
    one: np.int64 = index.first(5)
    tensor: torch.Tensor = index.count(torch.arange(3))
    found: pl.DataFrame = index.lookup([1, 2], pl.DataFrame({"a": numbers}))
    cells: np.ma.MaskedArray[Any, Any] = index.lookup([1, 2], numbers)
    there: pl.Series = index.contains(pl.Series([1]))
    ranks = index.rank(pd.Series([1, 2]), side="right") + 1
    raydex.build(numbers, index.info.structure, index.info.device).close()
    total = index.sum([1], [5], values=numbers).astype(np.float64)
    rows: raydex.Matches = index.rows(pa.array([1, 2]))
    lazy: raydex.LazyMatches = index.rows(1, 5, lazy=True)
    chunks: list[raydex.MatchRows] = list(lazy.chunks(3))
    pl.DataFrame(lazy)


def pairs(how: How, closed: Closed, lazy: bool) -> raydex.JoinRows | raydex.Joined:
    raydex.join_intervals((numbers, numbers), [1, 2], closed=closed)
    return raydex.join(numbers, numbers, how, lazy=lazy, dtype=np.int32)


frame = pd.DataFrame({"a": [1, 2]})
polar = pl.DataFrame({"a": [1, 2]})
raydex.join(frame, polar, how="outer", dtype="int32", seed=5)
raydex.join(raydex.build(numbers), [1], lazy=True).counts()
raydex.join_range(polar["a"], frame["a"], distance=2)
raydex.join_range(numbers, numbers, distance=(np.int64(1), 2), how="left")
times = np.array(["2020-01-01"], "M8[s]")
raydex.join_range(times, times, distance=datetime.timedelta(1), device="cpu")
raydex.join_range(times, times, distance=np.timedelta64(1, "s"))
raydex.join_range(times, times, distance=pd.Timedelta("1s"))
raydex.join_range(times, times, distance="90s", how="right")
raydex.join_where((numbers, numbers), (numbers, numbers), ("<", ">="))
closest: npt.NDArray[np.int64] = raydex.join_asof(times, times, direction="nearest", tolerance=np.timedelta64(1, "s"))
nearest: raydex.JoinRows = raydex.join_asof(times, times, k=2)
distances = raydex.join_nearest(([1], [2]), ([1], [2]), k=2).distance
probes = raydex.join_nearest(([1], [2]), ([1], [2]), ties="all", how="left").probe
sums: dict[str, npt.NDArray[np.int64]] = raydex.join_window(
    times, times, numbers[:1], before=np.timedelta64(1, "s"), aggregate=["sum", "min"])
raydex.rolling(numbers, numbers, window=2, aggregate="mean", closed="both")
raydex.merge(frame, frame, on="a", sort=True, validate="1:1")
raydex.merge_asof(frame, frame, on="a", direction="forward")
merged: pl.DataFrame = raydex.merge(polar, polar, on="a", how="full", validate="1:1", indicator="from")
first, second = raydex.join(numbers, numbers)
polars_rows: pl.DataFrame = pl.DataFrame(raydex.join(numbers, numbers))
array_of_rows: npt.NDArray[Any] = np.asarray(raydex.join(numbers, numbers))
namespace: raydex.polars.Raydex[pl.LazyFrame] = polar.lazy().raydex  # type: ignore[attr-defined]
latest: pl.LazyFrame = namespace.join_asof(polar, on="a", strategy="forward")
relation = raydex.duckdb.join_asof(duckdb, "values (1), (2)", "values (1)", on="col0").filter("col0 > 1")
near: pl.DataFrame = raydex.merge_range(polar, polar, on=["a"], distance=1, suffixes=("", "_of"))
lowest: npt.NDArray[np.int64] = raydex.rmq(numbers, extremes="both", ties="rightmost").argmin([0], [1])
raydex.estimate(10, "rmq_cover", extremes="both", memory="small")
raydex.estimate(numbers, "btree", different=3, fill=50)
means: npt.NDArray[np.float64] = raydex.aggregate(raydex.build([1, 2]), [1.0, 2.0]).mean([1], [2])
raydex.searchsorted(numbers, [5], side="right").sum()
raydex.isin(numbers, [5]).any()
genes = pd.DataFrame({"chrom": ["a"], "start": [1], "end": [5]})
raydex.genomics.overlap(genes, genes, how="inner")
for each in raydex.structures():
    if each.available and not each.minima:
        raydex.build([1, 2, 3], structure=each.name).close()
