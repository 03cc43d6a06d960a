#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Times files of indexes from Python: a build, `Index.save`, `raydex.load` with and without verification, and the first
1000 lookups of an index that was just opened, beside those of one that was built.

    lab/index_files.py [--keys 10**7] [--structures pivot_tree,btree] [--folder /var/tmp]

Keys are random int64, of `direct` even numbers in no order. The file is in the page cache when it is opened. Answers are
compared. Prints CSV; times are milliseconds: of opening the median of five, of others one. Of structures for minima, as
rmq_cover, keys are the values of the array, and lookups the positions of the minima of random ranges; of `aggregate`,
which is one over a sorted_array and is built with it, sums of floating values in random ranges; of `asof_index` the rows
of ascending times by one of 1000 numbers.

The structure `duckdb` is the ART index of a DuckDB table of keys and rows: what it adds to the file, `CREATE INDEX`,
`CHECKPOINT`, `connect`, and 1000 lookups as a query `WHERE key = ?` each.
"""

import argparse
import csv
import functools
import os
import statistics
import sys
import tempfile
import time

import numpy as np
import raydex

STRUCTURES = "pivot_tree,btree,sorted_array,hash_open,hash_bucket,direct,cgrx"
FIELDS = ["structure", "keys", "build_ms", "bytes", "save_ms", "open_ms", "verified_ms", "first_ms", "again_ms"]


def timed(call):
    begin = time.perf_counter()
    found = call()
    return (time.perf_counter() - begin) * 1e3, found


def opened(path, verify):
    times = []
    for _ in range(5):
        took, index = timed(lambda: raydex.load(path, verify=verify))
        times.append(took)
        index.close()
    return statistics.median(times)


def subject(structure, count):
    """What builds it, and what asks it for 1000 lookups."""
    random = np.random.default_rng(1)
    keys = random.permutation(count) * 2 if structure == "direct" else random.integers(0, 2**62, count)
    ranges = np.sort(random.integers(0, count, (2, 1000)), axis=0)
    points = random.permutation(keys)[:1000]
    if structure.startswith("rmq_"):
        return lambda: raydex.rmq(keys, structure), lambda lows: lows.argmin(*ranges)
    if structure == "aggregate":
        values = random.random(count)
        ends = np.sort(keys)[ranges]
        return lambda: raydex.aggregate(raydex.build(keys, "sorted_array"), values), lambda sums: sums.sum(*ends)
    if structure == "asof_index":
        times, symbols = np.sort(keys), random.integers(0, 1000, count)
        return lambda: raydex.AsofIndex(times, by=symbols), lambda quotes: quotes.join(points, by=symbols[:1000])
    return lambda: raydex.build(keys, structure), lambda index: index.first(points)


def measure(structure, count, folder):
    build, ask = subject(structure, count)
    path = os.path.join(folder, structure)
    build_ms, index = timed(build)
    save_ms, _ = timed(lambda: index.save(path))
    with raydex.load(path, verify=False) as again:
        first_ms, found = timed(lambda: ask(again))
        again_ms, _ = timed(lambda: ask(again))
    np.testing.assert_array_equal(found, ask(index))
    return [build_ms, os.path.getsize(path), save_ms, opened(path, False), opened(path, True), first_ms, again_ms]


def measure_duckdb(count, folder):
    import duckdb
    import pyarrow

    random = np.random.default_rng(1)
    keys = random.integers(0, 2**62, count)
    points = random.permutation(keys)[:1000]
    columns = pyarrow.table({"key": keys, "row": np.arange(count)})
    path = os.path.join(folder, "duckdb")
    with duckdb.connect(path) as database:
        database.register("columns", columns)
        database.execute("CREATE TABLE entries AS SELECT * FROM columns")
        database.execute("CHECKPOINT")
        size = os.path.getsize(path)
        build_ms, _ = timed(lambda: database.execute("CREATE INDEX by_key ON entries (key)"))
        save_ms, _ = timed(lambda: database.execute("CHECKPOINT"))
    times = []
    for _ in range(5):
        took, database = timed(lambda: duckdb.connect(path, read_only=True))
        times.append(took)
        database.close()
    with duckdb.connect(path, read_only=True) as database:

        def rows():
            ask = "SELECT row FROM entries WHERE key = ?"
            return [database.execute(ask, [point]).fetchone()[0] for point in points.tolist()]

        first_ms, found = timed(rows)
        again_ms, _ = timed(rows)
    np.testing.assert_array_equal(keys[found], points)
    return [build_ms, os.path.getsize(path) - size, save_ms, statistics.median(times), "", first_ms, again_ms]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--keys", type=int, default=10**7)
    parser.add_argument("--structures", default=STRUCTURES)
    parser.add_argument("--folder")
    arguments = parser.parse_args()
    write = csv.writer(sys.stdout, lineterminator="\n")
    write.writerow(FIELDS)
    with tempfile.TemporaryDirectory(dir=arguments.folder) as folder:
        for structure in arguments.structures.split(","):
            measured = measure_duckdb if structure == "duckdb" else functools.partial(measure, structure)
            found = measured(arguments.keys, folder)
            write.writerow([structure, arguments.keys, *(f"{one:.4g}" if isinstance(one, float) else one for one in found)])
            sys.stdout.flush()


if __name__ == "__main__":
    main()
