#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Times files of indexes from Python: a build, `Index.save`, `raydex.load` with and without verification, and the first
1000 lookups of an index that was just opened, beside those of one that was built.

    lab/index_files.py [--keys 10**7] [--structures pivot_tree,btree] [--folder /var/tmp]

Keys are random int64, of `direct` even numbers in no order. The file is in the page cache when it is opened. Answers are
compared. Prints CSV; times are milliseconds: of opening the median of five, of others one.
"""

import argparse
import csv
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


def measure(structure, count, folder):
    random = np.random.default_rng(1)
    keys = random.permutation(count) * 2 if structure == "direct" else random.integers(0, 2**62, count)
    points = random.permutation(keys)[:1000]
    path = os.path.join(folder, structure)
    build_ms, index = timed(lambda: raydex.build(keys, structure))
    save_ms, _ = timed(lambda: index.save(path))
    with raydex.load(path, verify=False) as again:
        first_ms, found = timed(lambda: again.first(points))
        again_ms, _ = timed(lambda: again.first(points))
    np.testing.assert_array_equal(found, index.first(points))
    return [build_ms, os.path.getsize(path), save_ms, opened(path, False), opened(path, True), first_ms, again_ms]


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
            found = measure(structure, arguments.keys, folder)
            write.writerow([structure, arguments.keys, *(f"{one:.4g}" if isinstance(one, float) else one for one in found)])
            sys.stdout.flush()


if __name__ == "__main__":
    main()
