#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Times raydex.dask on a cluster of worker processes of this machine.

Two parts. `batches`: how long a batch of a few probes takes, as a user asks it, beside the least that Dask needs
for a task: probes in host memory, which are answered at once, and a Series and an Array of one partition, which are
computed. `join`: an inner join of two tables of --rows rows each, of a key of int64 and a value, whose keys are two
permutations of the same numbers, beside `dask.dataframe.merge` of the same tables with each of Dask's shuffles. The
tables are held by the workers; a join is done when its rows are, and their number and the sums of their values are
checked. Cells are made by the workers.

Each figure is the median of --repeats. Prints CSV: what, rows, workers, seconds. Run it on a quiet machine.
"""

import argparse
import csv
import statistics
import sys
import time

import dask
import dask.array as da
import dask.dataframe as dd
import distributed
import numpy as np
import pandas as pd
import raydex.dask

MULTIPLIER = 0x9E3779B1  # odd: i -> i * MULTIPLIER mod 2^k permutes 2^k numbers


def table(part, rows, parts, factor, name):
    """A partition of a table whose keys are 0 to rows - 1 in an order of their own; with factor 1 in this one."""
    i = np.arange(rows * part // parts, rows * (part + 1) // parts)
    bits = max(1, int(rows - 1).bit_length())
    keys = i
    if factor != 1:
        # Numbers that leave the range are permuted on, until they are in it.
        mask = (1 << bits) - 1
        keys = (i * factor) & mask
        outside = keys >= rows
        while outside.any():
            keys[outside] = (keys[outside] * factor) & mask
            outside = keys >= rows
    return pd.DataFrame({"key": keys, name: i})


def tables(rows, parts):
    left = dd.from_map(table, range(parts), rows=rows, parts=parts, factor=MULTIPLIER, name="a")
    right = dd.from_map(table, range(parts), rows=rows, parts=parts, factor=MULTIPLIER ** 2 & 0xFFFFFFFF, name="b")
    left, right = left.persist(), right.persist()
    distributed.wait([left, right])
    return left, right


def seconds(call, repeats):
    times = []
    for _ in range(repeats):
        begin = time.perf_counter()
        call()
        times.append(time.perf_counter() - begin)
    return statistics.median(times)


def time_batches(client, rows, repeats):
    """Seconds of small batches, by name."""
    keys = dd.from_map(table, range(8), rows=rows, parts=8, factor=MULTIPLIER, name="a")["key"]
    index = raydex.dask.build(keys)
    probes = np.arange(100) * (rows // 100)  # some for each shard
    lazy = dd.from_pandas(pd.Series(probes), npartitions=1).persist()
    array = da.from_array(probes).persist()
    number = iter(range(1 << 60))  # so that no answer is one that Dask has already
    calls = {
        "task": lambda: client.submit(int, next(number)).result(),
        "series add": lambda: (lazy + next(number)).compute(),
        "batch of numpy": lambda: index.count(probes + next(number)),
        "batch of numpy rows": lambda: index.rows(probes + next(number)),
        "batch of a series": lambda: index.count(lazy + next(number)).compute(),
        "batch of an array": lambda: index.count(array + next(number)).compute(),
    }
    for call in calls.values():
        seconds(call, 10)
    return {name: seconds(call, repeats) for name, call in calls.items()}


def time_joins(rows, parts, repeats, shuffles):
    """Seconds of joins of two tables, by name."""
    left, right = tables(rows, parts)
    whole = rows * (rows - 1) // 2

    def check(joined):
        sums = joined.map_partitions(
            lambda part: pd.DataFrame({"n": [len(part)], "a": [part["a"].sum()], "b": [part["b"].sum()]}),
            meta={"n": "int64", "a": "int64", "b": "int64"},
        ).compute().sum()
        if (sums["n"], sums["a"], sums["b"]) != (rows, whole, whole):
            sys.exit(f"wrong: {dict(sums)}, but there are {rows} rows of sum {whole}")

    calls = {"raydex.dask.join": lambda: check(raydex.dask.join(left, right, on="key"))}
    for shuffle in shuffles:
        calls[f"dask merge {shuffle}"] = lambda shuffle=shuffle: check(
            left.merge(right, on="key", shuffle_method=shuffle))
    return {name: seconds(call, repeats) for name, call in calls.items()}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=10_000_000, help="of each table (%(default)s)")
    parser.add_argument("--partitions", type=int, default=8, help="of each table (%(default)s)")
    parser.add_argument("--workers", type=int, default=4)
    parser.add_argument("--threads", type=int, default=1, help="of a worker (%(default)s)")
    parser.add_argument("--repeats", type=int, default=3, help="of joins; batches have ten times as many")
    parser.add_argument("--parts", default="batches,join", help="some of %(default)s")
    parser.add_argument("--shuffles", default="p2p,tasks", help="of Dask's merge (%(default)s); may be empty")
    arguments = parser.parse_args()
    dask.config.set({"distributed.comm.timeouts.connect": "120s"})
    with distributed.LocalCluster(
        n_workers=arguments.workers, threads_per_worker=arguments.threads, dashboard_address=":0",
        silence_logs=50) as cluster, distributed.Client(cluster) as client:
        found = []
        if "batches" in arguments.parts:
            rows = min(arguments.rows, 1_000_000)
            for name, took in time_batches(client, rows, 10 * arguments.repeats).items():
                found.append((name, rows, took))
        if "join" in arguments.parts:
            joins = time_joins(
                arguments.rows, arguments.partitions, arguments.repeats,
                [shuffle for shuffle in arguments.shuffles.split(",") if shuffle])
            found += [(name, arguments.rows, took) for name, took in joins.items()]
    out = csv.writer(sys.stdout, lineterminator="\n")
    out.writerow(["what", "rows", "workers", "seconds"])
    for name, rows, took in found:
        out.writerow([name, rows, arguments.workers, f"{took:.4f}"])


if __name__ == "__main__":
    main()
