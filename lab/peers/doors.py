#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Times raydex where people come from, beside the library's own way, on the CPU.

    lab/peers/doors.py polars     # df.raydex beside Polars' own calls
    lab/peers/doors.py duckdb     # raydex.duckdb beside DuckDB's SQL
    lab/peers/doors.py pipe       # raydex query --points - beside one process a batch

`polars` and `duckdb`: frames and tables in and out, as a user has them. `asof` joins trades with quotes of 3,000
symbols, in random order, which Polars has to sort; `where` asks for a band, `overlap` for half-open intervals, both for
about ten pairs a row; `lookup` for the row of a key, of the distinct keys of the right side. `--sizes` are rows of the
left and the right side. The call of DuckDB makes a table of Arrow, as that of raydex does.

`pipe`: `--sizes` are keys in an .npy file, batches, and points a batch, which come as CSV and are answered one after
the other. The other way is `raydex query` on a file, once for each batch; its figure is that of three batches, as
often as they are.

All have the same threads, see `python_package.py`. Answers are compared. Prints CSV; `ratio` is how many times as long
as raydex a peer takes.

    scripts/with-package peers lab/peers/doors.py polars
"""

import argparse
import csv
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

from python_package import THREADS, Clock, number, version_of  # first: it sets how many threads others have

import numpy as np
import raydex

FIELDS = ["door", "call", "size", "peer", "version", "median_ms", "least_ms", "most_ms", "ratio"]
SYMBOLS = 3000
BAND = 10**6  # how far begins of intervals are apart that `where` asks for


def tables(random, rows, other_rows):
    """Columns of both sides by name. No two times, nor two keys of the right side, are equal."""

    def side(size, own):
        begin = random.integers(0, BAND * (other_rows // 5), size)
        return {
            "time": random.permutation(50 * size)[:size], "symbol": random.integers(0, SYMBOLS, size), "begin": begin,
            "end": begin + random.integers(1, 2 * BAND, size), own: np.arange(size),
        }  # fmt: skip

    left, right = side(rows, "row"), side(other_rows, "place")
    left["key"], right["key"] = random.integers(0, 2 * other_rows, rows), random.permutation(2 * other_rows)[:other_rows]
    return left, right


def polars_calls(random, rows, other_rows):
    """By name of a question: the calls by name of who answers, and what makes a number of an answer."""
    import polars as pl
    import raydex.polars  # noqa: F401

    left, right = map(pl.DataFrame, tables(random, rows, other_rows))
    c = pl.col
    band = (c("begin_right") >= c("begin") - BAND, c("begin_right") <= c("begin") + BAND)
    overlap = (c("begin") < c("end_right"), c("end") > c("begin_right"))
    yield "asof", {
        "raydex": lambda: left.raydex.join_asof(right, on="time", by="symbol"),
        "polars": lambda: left.sort("time").join_asof(right.sort("time"), on="time", by="symbol"),
    }, lambda found: found["place"].sum()
    yield "where", {
        "raydex": lambda: left.raydex.join_where(right, *band), "polars": lambda: left.join_where(right, *band),
    }, lambda found: found["place"].sum()  # fmt: skip
    yield "overlap", {
        "raydex": lambda: left.raydex.overlap(right, on=["begin", "end"], closed="left"),
        "polars": lambda: left.join_where(right, *overlap),
    }, lambda found: found["place"].sum()
    yield "lookup", {
        "raydex": lambda: left.raydex.lookup(right, on="key"),
        "polars": lambda: left.join(right, on="key", how="left", maintain_order="left"),
    }, lambda found: found["place"].sum()


def duckdb_calls(random, rows, other_rows):
    import duckdb
    import pyarrow
    import pyarrow.compute
    import raydex.duckdb

    con = duckdb.connect()
    con.execute(f"set threads = {THREADS}")
    for name, columns in zip(("l", "r"), tables(random, rows, other_rows)):
        con.register("arrow", pyarrow.table(columns))
        con.execute(f"create table {name} as select * from arrow")
        con.unregister("arrow")

    def calls(ours, sql):
        return {"raydex": lambda: ours().to_arrow_table(), "duckdb": lambda: con.sql(sql).to_arrow_table()}

    def total(found):
        return pyarrow.compute.sum(found["place"]).as_py()

    yield "asof", calls(
        lambda: raydex.duckdb.join_asof(con, "l", "r", on="time", by="symbol"),
        "select l.*, r.* exclude (time, symbol) from l asof left join r on l.symbol = r.symbol and l.time >= r.time",
    ), total
    yield "overlap", calls(
        lambda: raydex.duckdb.overlap(con, "l", "r", on=["begin", "end"], closed="left"),
        'select * from l join r on l."begin" < r."end" and l."end" > r."begin"',
    ), total
    yield "lookup", calls(
        lambda: raydex.duckdb.lookup(con, "l", "r", on="key"),
        "select l.*, r.* exclude (key) from l left join r on l.key = r.key",
    ), total


def measured(door, calls, arguments, size):
    clock = Clock(arguments.repeats, lambda: None)
    random = np.random.default_rng(arguments.seed)
    for call, peers, total in calls(random, *map(number, size.split("x"))):
        answers, times = {}, {}
        for peer, function in peers.items():
            times[peer], found = clock(function)
            answers[peer] = total(found)
            del found
        if len(set(answers.values())) > 1:
            sys.exit(f"{door} {call}: the answers differ: {answers}")
        for peer, one in times.items():
            yield call, peer, version_of(peer), one, times["raydex"]


def pipe(arguments, size):
    keys, batches, points = map(number, size.split("x"))
    random = np.random.default_rng(arguments.seed)
    column = random.integers(0, 2 * keys, keys)
    asked = [random.integers(0, 2 * keys, points) for _ in range(batches)]
    expected = np.concatenate(asked)
    expected = np.searchsorted(np.sort(column), expected, "right") - np.searchsorted(np.sort(column), expected)
    texts = ["".join(f"{point}\n" for point in one).encode() for one in asked]
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder)
        np.save(path / "keys.npy", column)
        words = [arguments.raydex, "query", "--backend", "cpu", "--keys", str(path / "keys.npy"), "--result", "count"]

        def stream():
            found = []
            with subprocess.Popen(
                [*words, "--points", "-", "--out", "-"], stdin=subprocess.PIPE, stdout=subprocess.PIPE
            ) as process:
                process.stdin.write(b"point\n")
                for text in texts:  # each is answered before the next one is sent
                    process.stdin.write(text)
                    process.stdin.flush()
                    found += [process.stdout.readline() for _ in range(points + (not found))]
                process.stdin.close()
            return found[1:]

        def files():
            found = []
            for text in texts[:3]:
                (path / "p.csv").write_bytes(b"point\n" + text)
                done = subprocess.run(
                    [*words, "--points", f"{path}/p.csv:point", "--out", "-"], capture_output=True, check=True)
                found += done.stdout.splitlines()[1:]
            return found

        times = {"raydex": [], "a process a batch": []}
        for _ in range(arguments.repeats):
            for peer, call, share in (("raydex", stream, 1), ("a process a batch", files, batches / min(3, batches))):
                begin = time.perf_counter()
                found = call()
                times[peer].append(1000 * share * (time.perf_counter() - begin))
                if list(map(int, found)) != expected[:len(found)].tolist():
                    sys.exit(f"pipe: {peer} has other answers than NumPy")
        for peer, one in times.items():
            yield "count", peer, raydex.__version__, one, times["raydex"]


DOORS = {
    "polars": ("2000000x2000000", lambda arguments, size: measured("polars", polars_calls, arguments, size)),
    "duckdb": ("2000000x2000000", lambda arguments, size: measured("duckdb", duckdb_calls, arguments, size)),
    "pipe": ("2^24x100x1000", pipe),
}  # fmt: skip


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("door", choices=list(DOORS))
    parser.add_argument("--sizes", help="as 2000000x2000000,2^20x2^20; see above")
    parser.add_argument("--raydex", default=shutil.which("raydex") or "build/release/bin/raydex", help="the program")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--seed", type=int, default=7)
    arguments = parser.parse_args()
    usual, rows_of = DOORS[arguments.door]
    writer = csv.DictWriter(sys.stdout, FIELDS)
    writer.writeheader()
    for size in (arguments.sizes or usual).split(","):
        for call, peer, version, times, ours in rows_of(arguments, size):
            median = statistics.median(times)
            writer.writerow({
                "door": arguments.door, "call": call, "size": size, "peer": peer, "version": version,
                "median_ms": f"{median:.4g}", "least_ms": f"{min(times):.4g}", "most_ms": f"{max(times):.4g}",
                "ratio": f"{median / statistics.median(ours):.3g}",
            })  # fmt: skip
            sys.stdout.flush()


if __name__ == "__main__":
    main()
