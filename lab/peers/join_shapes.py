#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Times one-shot joins by equal keys of the Python package beside Polars and DuckDB, on the CPU.

    lab/peers/join_shapes.py                                   # 2^20, 2^22 and 2^24 rows, all shapes
    lab/peers/join_shapes.py --sizes 2^26x2^26 --hows inner --dtypes int32,int64 --copies 1 --hits 100

`--sizes` are build and probe rows. A build key has `--copies` rows, probe rows are fewer by as much, so that there are
as many pairs, and `--hits` of a hundred probe rows have one of these keys. Both sides are in random order. Strings have
8 to 40 bytes; raydex takes them as Arrow lays them out, and as `raydex (polars)` from Polars, which has them as views.
A probe row is asked for its build rows, as pairs of row numbers (`inner`, `left`), or whether it has one (`semi`,
`anti`).

All have the same threads (`POLARS_MAX_THREADS` and DuckDB's `threads` are set to the CPUs of this process). Answers are
compared by their number and a sum over all pairs that does not depend on their order. Calls of all take turns, so that
what else the machine does meets each alike. Prints CSV: the median of `--repeats` calls in milliseconds after one that
is not counted, with the least and the most, and the same of the time on all CPUs; `ratio` is the peer's median over
that of raydex in the same run.
"""

import argparse
import csv
import os
import statistics
import sys
import time

THREADS = len(os.sched_getaffinity(0))
os.environ.setdefault("POLARS_MAX_THREADS", str(THREADS))

import duckdb  # noqa: E402 - what follows reads the environment
import numpy as np  # noqa: E402
import polars  # noqa: E402
import raydex  # noqa: E402

FIELDS = [
    "how", "dtype", "build", "probe", "copies", "hits", "peer", "version", "median_ms", "least_ms", "most_ms",
    "cpu_ms", "ratio",
]  # fmt: skip


def number(text):
    base, _, exponent = text.partition("^")
    return int(base) ** int(exponent) if exponent else int(text)


def keys_of(numbers, dtype):
    """Different keys for different numbers below 2^31."""
    if dtype == "string":
        cells = duckdb.from_arrow(polars.DataFrame({"k": numbers}).to_arrow())
        texts = cells.project("printf('%08x', k) || substr(md5(k::varchar), 1, k % 33) as key")
        return polars.from_arrow(texts.to_arrow_table()).get_column("key").rechunk()
    factor = {"int32": 0x61C88647, "int64": 0x61C8864680B583EB}[dtype]
    bits = {"int32": 31, "int64": 63}[dtype]
    with np.errstate(over="ignore"):
        spread = numbers.astype("uint64") * np.uint64(factor) & np.uint64(2**bits - 1)
    return polars.Series("key", spread.astype(dtype))


def tables_of(dtype, build, probe, copies, hits):
    random = np.random.default_rng(7)
    different = build // copies
    builds = random.permutation(np.arange(build) % different)
    probes = random.integers(0, different, probe)
    probes[random.random(probe) >= hits / 100] += different
    return keys_of(builds, dtype), keys_of(probes, dtype)


def facts(probe, build):
    """What does not depend on the order of pairs."""
    probe, build = (None if one is None else np.asarray(one).astype("int64").view("uint64") for one in (probe, build))
    with np.errstate(over="ignore"):
        mixed = probe * np.uint64(0x9E3779B97F4A7C15)
        if build is not None:
            mixed ^= (build + np.uint64(1)) * np.uint64(0xC4CEB9FE1A85EC53)
        mixed ^= mixed >> np.uint64(29)
        return len(probe), int((mixed * np.uint64(0xFF51AFD7ED558CCD)).sum())


def calls_of(how, dtype, build, probe):
    """By name: the version, the call, and what gives its probe and build rows."""
    of_build, of_probe = (
        polars.DataFrame({"key": keys, name: np.arange(len(keys))}) for keys, name in ((build, "b"), (probe, "p"))
    )
    database = duckdb.connect()
    database.execute(f"set threads = {THREADS}")
    for name, frame in (("of_build", of_build), ("of_probe", of_probe)):
        database.register("frame", frame.to_arrow())
        database.execute(f"create table {name} as select * from frame")
        database.unregister("frame")
    pairs = how in ("inner", "left")
    query = f"select p{', b' if pairs else ''} from of_probe {how} join of_build using (key)"

    def columns(found):
        build_rows = found["b"] if pairs else None
        if isinstance(build_rows, polars.Series):
            build_rows = build_rows.fill_null(-1)
        if isinstance(build_rows, np.ma.MaskedArray):
            build_rows = build_rows.filled(-1)
        return found["p"], build_rows

    if dtype == "string":
        own = [one.to_arrow(compat_level=polars.CompatLevel.oldest()) for one in (build, probe)]
    else:
        own = [one.to_numpy() for one in (build, probe)]
    calls = {"raydex": (raydex.__version__, lambda: raydex.join(own[0], own[1], how), tuple)}
    if dtype == "string":
        calls["raydex (polars)"] = (raydex.__version__, lambda: raydex.join(build, probe, how), tuple)
    calls["polars"] = (polars.__version__, lambda: of_probe.join(of_build, on="key", how=how), columns)
    calls["duckdb"] = (duckdb.__version__, lambda: database.sql(query).fetchnumpy(), columns)
    return calls


def measure(calls, repeats, what):
    times, cpu, answers = ({name: [] for name in calls} for _ in range(3))
    for turn in range(1 + repeats):
        for name, (_, call, rows) in calls.items():
            begin, cpu_begin = time.perf_counter(), time.process_time()
            found = call()
            times[name].append(1000 * (time.perf_counter() - begin))
            cpu[name].append(1000 * (time.process_time() - cpu_begin))
            if turn == 0:
                answers[name] = facts(*rows(found))
                if answers[name] != answers["raydex"]:
                    raise AssertionError(f"{name} and raydex differ: {what}")
            del found
    own = statistics.median(times["raydex"][1:])
    for name, (version, _, _) in calls.items():
        taken = times[name][1:]
        median = statistics.median(taken)
        yield {
            **what, "peer": name, "version": version, "median_ms": f"{median:.4g}", "least_ms": f"{min(taken):.4g}",
            "most_ms": f"{max(taken):.4g}", "cpu_ms": f"{statistics.median(cpu[name][1:]):.4g}",
            "ratio": f"{median / own:.3g}",
        }  # fmt: skip


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--hows", default="inner,left,semi,anti")
    parser.add_argument("--dtypes", default="int32,int64,string")
    parser.add_argument("--sizes", default="2^20x2^20,2^22x2^22,2^24x2^24", help="build rows x probe rows")
    parser.add_argument("--copies", default="1,16", help="build rows of a key")
    parser.add_argument("--hits", default="100,50,1", help="probe rows of a hundred that have a match")
    parser.add_argument("--repeats", type=int, default=3)
    arguments = parser.parse_args()
    writer = csv.DictWriter(sys.stdout, FIELDS)
    writer.writeheader()
    for dtype in arguments.dtypes.split(","):
        for size in arguments.sizes.split(","):
            rows = [number(one) for one in size.split("x")]
            for copies in map(int, arguments.copies.split(",")):
                for hits in map(int, arguments.hits.split(",")):
                    sides = tables_of(dtype, rows[0], max(rows[1] // copies, 1), copies, hits)
                    for how in arguments.hows.split(","):
                        what = {
                            "how": how, "dtype": dtype, "build": rows[0], "probe": len(sides[1]), "copies": copies,
                            "hits": hits,
                        }  # fmt: skip
                        writer.writerows(measure(calls_of(how, dtype, *sides), arguments.repeats, what))
                        sys.stdout.flush()


if __name__ == "__main__":
    main()
