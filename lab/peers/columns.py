#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Times whole processes that look one column of a file up in another: raydex, NumPy, DuckDB and
Polars on the CPU.

Each process reads both columns from .npy files and writes its answer to one. Two tasks:

  first  for each probe the smallest row that holds it, or -1
  rows   all pairs of a probe and a row that holds it, as rows ordered by probe, then row

A figure is the median of some runs, from the start of the process to its end. Answers are compared.
Needs NumPy, DuckDB and Polars, and the program `raydex`. Prints a CSV table.
"""

import argparse
import os
import pathlib
import platform
import shutil
import statistics
import subprocess
import sys
import tempfile
import time


def numpy_first(keys, probes):
    import numpy as np

    order = np.argsort(keys, kind="stable")
    sorted_keys = keys[order]
    places = np.minimum(np.searchsorted(sorted_keys, probes), len(keys) - 1)
    return np.where(sorted_keys[places] == probes, order[places], -1)


def numpy_rows(keys, probes):
    import numpy as np

    order = np.argsort(keys, kind="stable")
    sorted_keys = keys[order]
    lower = np.searchsorted(sorted_keys, probes)
    counts = np.searchsorted(sorted_keys, probes, side="right") - lower
    begins = np.cumsum(counts) - counts
    return order[np.repeat(lower - begins, counts) + np.arange(counts.sum())]


def polars_tables(keys, probes):
    import numpy as np
    import polars as pl

    build = pl.DataFrame({"key": keys, "row": np.arange(len(keys))})
    probe = pl.DataFrame({"key": probes, "probe": np.arange(len(probes))})
    return pl, build.lazy(), probe.lazy()


def polars_first(keys, probes):
    pl, build, probe = polars_tables(keys, probes)
    least = build.group_by("key").agg(pl.col("row").min())
    joined = probe.join(least, on="key", how="left", maintain_order="left").collect()
    return joined["row"].fill_null(-1).to_numpy()


def polars_rows(keys, probes):
    _, build, probe = polars_tables(keys, probes)
    joined = probe.join(build, on="key", how="inner", maintain_order="left_right").collect()
    return joined["row"].to_numpy()


def duckdb_tables(keys, probes):
    import duckdb
    import numpy as np

    # DuckDB finds the tables by their names in the caller.
    database = duckdb.connect()
    database.register("build", {"key": keys, "row": np.arange(len(keys))})
    database.register("probes", {"key": probes, "probe": np.arange(len(probes))})
    return database


def duckdb_first(keys, probes):
    found = duckdb_tables(keys, probes).sql(
        "select coalesce(least, -1) as row from probes left join "
        "(select key, min(row) as least from build group by key) using (key) order by probe")
    return found.fetchnumpy()["row"]


def duckdb_rows(keys, probes):
    found = duckdb_tables(keys, probes).sql(
        "select row from probes join build using (key) order by probe, row")
    return found.fetchnumpy()["row"]


def run(peer, task, folder):
    import numpy as np

    answer = globals()[f"{peer}_{task}"](np.load(folder / "keys.npy"), np.load(folder / "probes.npy"))
    np.save(folder / f"{peer}.npy", answer)


def answer_of(peer, task, folder):
    import numpy as np

    if peer == "raydex" and task == "rows":
        return np.load(folder / "raydex.npz")["rows"].astype(np.int64)
    answer = np.load(folder / f"{peer}.npy")
    if peer == "raydex":
        return np.where(answer == np.iinfo(answer.dtype).max, -1, answer.astype(np.int64))
    return np.ma.filled(answer, -1).astype(np.int64)


def command(peer, task, folder, program):
    if peer != "raydex":
        return [sys.executable, __file__, "--run", peer, task, str(folder)]
    out = folder / ("raydex.npz" if task == "rows" else "raydex.npy")
    return [program, "query", "--backend", "cpu", "--keys", str(folder / "keys.npy"), "--points",
            str(folder / "probes.npy"), "--result", task, "--out", str(out)]


def measure(arguments, folder):
    import numpy as np

    draw = np.random.default_rng(1)
    keys = draw.integers(0, 2**62, arguments.keys, dtype=np.int64)
    np.save(folder / "keys.npy", keys)
    np.save(folder / "probes.npy", draw.choice(keys, arguments.probes))
    print("task,peer,keys,probes,seconds,processor,cores")
    for task in arguments.tasks:
        expected = None
        for peer in arguments.peers:
            times = []
            for _ in range(arguments.repetitions):
                begin = time.perf_counter()
                subprocess.run(command(peer, task, folder, arguments.raydex), check=True)
                times.append(time.perf_counter() - begin)
            answer = answer_of(peer, task, folder)
            if expected is None:
                expected = answer
            if not np.array_equal(expected, answer):
                sys.exit(f"{peer} answers {task} in another way than {arguments.peers[0]}")
            print(task, peer, arguments.keys, arguments.probes, f"{statistics.median(times):.3g}",
                  processor(), len(os.sched_getaffinity(0)), sep=",", flush=True)


def processor():
    for line in pathlib.Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.split(":", 1)[1].strip()
    return platform.machine()


def size(text):
    base, _, exponent = text.partition("^")
    return int(base) ** int(exponent or 1)


def main():
    if sys.argv[1:2] == ["--run"]:
        return run(sys.argv[2], sys.argv[3], pathlib.Path(sys.argv[4]))
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--raydex", default=shutil.which("raydex") or "build/release/bin/raydex",
                        help="the program")
    parser.add_argument("--keys", type=size, default=2**24, help="such as 2^24")
    parser.add_argument("--probes", type=size, default=2**24)
    parser.add_argument("--repetitions", type=int, default=3)
    parser.add_argument("--peers", type=lambda text: text.split(","),
                        default=["raydex", "numpy", "duckdb", "polars"])
    parser.add_argument("--tasks", type=lambda text: text.split(","), default=["first", "rows"])
    with tempfile.TemporaryDirectory() as folder:
        measure(parser.parse_args(), pathlib.Path(folder))


if __name__ == "__main__":
    main()
