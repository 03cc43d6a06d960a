# SPDX-License-Identifier: Apache-2.0
"""What type checkers refuse: each line from the first call on."""

import numpy as np
import raydex
import raydex.genomics
import raydex.sharded

numbers = np.arange(10)
raydex.join(numbers, numbers, how="outr")
raydex.join(numbers, numbers, hwo="left")
raydex.build(numbers).rows(numbers, lazy=1)
raydex.join(numbers, numbers, dtype="float64")
raydex.join_range(numbers, numbers, distance=b"5")
raydex.join_range(numbers, numbers, distance=[5])
raydex.join_range(numbers, numbers, distances=5)
raydex.join_range(numbers, numbers, how="rights", distance=5)
raydex.join_nearest((numbers, numbers), (numbers, numbers), ties="all", how="right")
raydex.join_range(numbers, numbers, compare="=<")
raydex.join_intervals((numbers, numbers), numbers, matches="second")
raydex.join_intervals((numbers, numbers), numbers, closed="open")
raydex.join_where((numbers, numbers), (numbers, numbers), ("<", "=>"))
raydex.join_asof(numbers, numbers, direction="before")
raydex.join_nearest((numbers, numbers), (numbers, numbers), ties="any")
raydex.join_window(numbers, numbers, before=1, aggregate="median")
raydex.rolling(numbers, numbers, window=[3])
raydex.merge_asof(numbers, numbers, direction="back")
raydex.merge(numbers, numbers, how="outr")
raydex.merge(numbers, numbers, validate="1:2")
raydex.merge(numbers, numbers, indicator=3)
raydex.merge_range(numbers, numbers, compare="=<")
raydex.merge_intervals(numbers, numbers, relation="overlap")
raydex.build(numbers, "b_tree")
raydex.build(numbers, device="gpu")
raydex.build(numbers, fil=50)
raydex.build(numbers, placement="lines")
raydex.build(numbers).rank(5, side="middle")
raydex.build(numbers).sum(5)
raydex.build(numbers).first(5).shape.bit_count()
raydex.searchsorted(numbers, 5, side="rightmost")
raydex.rmq(numbers, extremes="maximum")
raydex.rmq(numbers, ties="last")
raydex.genomics.overlap(numbers, numbers, how="semi")
raydex.sharded.join(numbers, numbers, exchange="shuffled")
