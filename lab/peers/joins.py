#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Times equality joins of the Python package beside those of other libraries, over the shapes that people meet.

    lab/peers/joins.py --device cpu     # Polars (both engines), DuckDB, pandas
    lab/peers/joins.py --device cuda    # cuDF (pylibcudf), and raydex with maintain_order=False, too

A shape is `BUILDxPROBE` rows, `2^20x2^20`, with what is particular to it behind a colon: `copies=16` of each build
key, `hits=50` percent of the probes that have a match, `zipf` probes (coefficient 1), `heavy`: half of the probes ask
for one key. A key is int32, int64, `pair` (two int64 columns; neither is unique) or `text` (of 8 to 40 bytes; the last
eight differ; on a GPU columns of pylibcudf for all). Kinds are inner, left, semi and anti, on a GPU right and full,
too. `--shapes`, `--keys` and `--kinds` take several, with commas; `--set sizes|shapes` is one of two lists: 2^10 to
2^26 rows a side, and shapes of 2^22 build rows.

Both tables are where the peer wants them before the clock starts, in memory, with a column of row numbers. All
return row numbers: raydex pairs of rows, the others the joined tables with these columns, cuDF its gather maps. The
count, the sums and a mix of all pairs are compared. All have the same threads (`POLARS_MAX_THREADS` and DuckDB's
`threads` are the CPUs of this process). cuDF allocates from a pool of rmm, raydex from the pool of CUDA.

Prints CSV: the median of `--repeats` calls in milliseconds after one that is not counted, with the least and the most;
`ratio` is the peer's median over that of raydex in the same run.
"""

import argparse
import csv
import os
import statistics
import sys
import time

THREADS = len(os.sched_getaffinity(0))
os.environ.setdefault("POLARS_MAX_THREADS", str(THREADS))

import numpy as np  # noqa: E402 - what follows reads the environment
import raydex  # noqa: E402

FIELDS = [
    "device", "key", "build_rows", "probe_rows", "shape", "kind", "rows", "peer", "version", "median_ms", "least_ms",
    "most_ms", "ratio",
]  # fmt: skip
SETS = {
    "sizes": [f"2^{bits}x2^{bits}" for bits in (10, 14, 17, 20, 22, 24, 26)] + ["2^10x2^26", "2^20x2^26", "2^24x2^26"],
    "shapes": [
        "2^22x2^24", *(f"2^22x2^24:copies={copies}" for copies in (16, 1000)),
        *(f"2^22x2^24:hits={hits}" for hits in (50, 1)), "2^22x2^24:zipf", "2^22x2^24:heavy",
    ],
}  # fmt: skip


def number(text):
    base, _, exponent = text.partition("^")
    return int(base) ** int(exponent) if exponent else int(text)


class Shape:
    """Two columns of the numbers of distinct keys, `build` and `probe`, made by NumPy or CuPy."""

    def __init__(self, text, np):
        sizes, _, self.words = text.partition(":")
        self.build_rows, self.probe_rows = map(number, sizes.split("x"))
        words = dict(word.partition("=")[::2] for word in self.words.split(",") if word)
        copies, hits = int(words.pop("copies", 1)), float(words.pop("hits", 100))
        zipf, heavy = words.pop("zipf", None) is not None, words.pop("heavy", None) is not None
        if words:
            raise ValueError(f"unknown words in shape {text}: {', '.join(words)}")
        random = np.random.default_rng(7)
        distinct = max(1, self.build_rows // copies)
        np.random.seed(7)
        self.build = np.random.permutation(np.arange(self.build_rows)) % distinct
        if zipf:
            probe = (np.exp(random.random(self.probe_rows) * np.log(np.float64(distinct + 1))) - 1).astype("int64")
            probe = np.minimum(probe, distinct - 1)
        else:
            # As many probes a pair, so that copies do not make more of them.
            probe = random.integers(0, distinct, max(1, self.probe_rows // copies))
        if heavy:
            probe[random.random(len(probe)) < 0.5] = distinct // 2
        misses = random.random(len(probe)) >= hits / 100
        probe[misses] += distinct
        self.probe, self.probe_rows = probe, len(probe)


def scattered(numbers, dtype):
    """Other numbers, one to one, all over the type (the finalisers of MurmurHash3)."""
    if dtype == "int32":
        x, steps, last = numbers.astype("uint32"), ((16, 0x85EBCA6B), (13, 0xC2B2AE35)), 16
    else:
        x, steps, last = numbers.astype("uint64"), ((33, 0xFF51AFD7ED558CCD), (33, 0xC4CEB9FE1A85EC53)), 33
    for shift, factor in steps:
        x = (x ^ (x >> x.dtype.type(shift))) * x.dtype.type(factor)
    return (x ^ (x >> x.dtype.type(last))).view(dtype)


def columns(numbers, key):
    """The columns of a key, by name: arrays, or Arrow's of text."""
    if key in ("int32", "int64"):
        return {"k": scattered(numbers, key)}
    if key == "pair":
        return {"k": scattered(numbers >> 8, "int64"), "l": scattered(numbers & 255, "int64")}
    if not isinstance(numbers, np.ndarray):
        return {"k": on_gpu(columns(numbers.get(), key)["k"])}
    import pyarrow

    ends = np.cumsum(8 + numbers % 33)
    hexadecimal = np.frombuffer(b"0123456789abcdef", "u1")
    content = np.full(ends[-1] if len(ends) else 0, ord("x"), "u1")
    code = scattered(numbers, "int32").view("uint32")
    for at in range(8):
        content[ends - 1 - at] = hexadecimal[code >> np.uint32(4 * at) & 15]
    buffers = [None, pyarrow.py_buffer(np.concatenate([[0], ends])), pyarrow.py_buffer(content)]
    return {"k": pyarrow.Array.from_buffers(pyarrow.large_string(), len(numbers), buffers)}


def on_gpu(strings):
    """A column of pylibcudf."""
    import cupy
    import pylibcudf

    def part(kind, size, cells, children=()):
        memory = pylibcudf.gpumemoryview(cupy.asarray(cells))
        return pylibcudf.Column(pylibcudf.DataType(kind), size, memory, None, 0, 0, list(children))

    kinds = pylibcudf.TypeId
    _, ends, content = strings.buffers()
    offsets = np.frombuffer(ends, "int64")[: len(strings) + 1].astype("int32")
    size = len(strings)
    return part(kinds.STRING, size, np.frombuffer(content, "u1"), [part(kinds.INT32, size + 1, offsets)])


class Raydex:
    module = "raydex"

    def __init__(self, build, probe):
        self.sides = [tuple(side.values()) for side in (build, probe)]

    def call(self, kind):
        return raydex.join(*self.sides, kind)

    def rows(self, found, kind):
        def of(rows):
            return rows if hasattr(rows, "astype") else library("cuda").asarray(rows)  # without a library of its own

        return (None if kind in ("semi", "anti") else of(found.build)), of(found.probe)


class RaydexAnyOrder(Raydex):
    def call(self, kind):
        return raydex.join(*self.sides, kind, maintain_order=False)


class Polars:
    module = "polars"
    engine = "in-memory"

    def __init__(self, build, probe):
        import polars

        self.build, self.probe = (
            polars.DataFrame({**{name: polars.from_arrow(column) if hasattr(column, "buffers") else column
                                 for name, column in side.items()}, row: np.arange(len(side["k"]))})
            for side, row in ((build, "b"), (probe, "p"))
        )  # fmt: skip
        self.on = list(build)

    def call(self, kind):
        found = self.probe.lazy().join(self.build.lazy(), on=self.on, how=kind, coalesce=True)
        chosen = found.select("p") if kind in ("semi", "anti") else found.select("p", "b")
        return chosen.collect(engine=self.engine)

    def rows(self, found, kind):
        one_side = kind in ("semi", "anti")
        return (None if one_side else found["b"].fill_null(-1).to_numpy()), found["p"].to_numpy()


class PolarsStreaming(Polars):
    engine = "streaming"


class DuckDB:
    module = "duckdb"

    def __init__(self, build, probe):
        import duckdb
        import pyarrow

        self.database = duckdb.connect()
        self.database.execute(f"set threads = {THREADS}")
        for table, side, row in (("build", build, "b"), ("probe", probe, "p")):
            arrow = pyarrow.table({**side, row: np.arange(len(side["k"]))})
            self.database.execute(f"create table {table} as select * from arrow")
            del arrow
        self.on = ", ".join(build)

    def call(self, kind):
        what = "p" if kind in ("semi", "anti") else "p, b"
        return self.database.sql(f"select {what} from probe {kind} join build using ({self.on})").to_arrow_table()

    def rows(self, found, kind):
        def column(name):
            return found[name].fill_null(-1).to_numpy()

        return (None if kind in ("semi", "anti") else column("b")), column("p")


class Pandas:
    module = "pandas"

    def __init__(self, build, probe):
        import pandas

        self.build, self.probe = (
            pandas.DataFrame({**{name: pandas.Series(column.to_numpy(zero_copy_only=False), dtype="str")
                                 if hasattr(column, "buffers") else column for name, column in side.items()},
                              row: np.arange(len(side["k"]))})
            for side, row in ((build, "b"), (probe, "p"))
        )  # fmt: skip
        self.on = list(build)

    def call(self, kind):
        if kind not in ("semi", "anti"):
            return self.probe.merge(self.build, on=self.on, how=kind)
        keys = self.build[self.on[0]] if len(self.on) == 1 else None
        if keys is None:
            raise NotImplementedError
        inside = self.probe[self.on[0]].isin(keys)
        return self.probe[inside if kind == "semi" else ~inside]

    def rows(self, found, kind):
        one_side = kind in ("semi", "anti")
        return (None if one_side else found["b"].fillna(-1).to_numpy()), found["p"].to_numpy()


class CuDF:
    module = "pylibcudf"

    def __init__(self, build, probe):
        import pylibcudf
        import rmm

        if not isinstance(rmm.mr.get_current_device_resource(), rmm.mr.PoolMemoryResource):
            pool = rmm.mr.PoolMemoryResource(rmm.mr.CudaMemoryResource(), initial_pool_size=24 << 30)
            rmm.mr.set_current_device_resource(pool)
        self.plc = pylibcudf
        self.sides = [
            pylibcudf.Table([column if isinstance(column, pylibcudf.Column)
                             else pylibcudf.Column.from_cuda_array_interface(column) for column in side.values()])
            for side in (build, probe)
        ]

    def call(self, kind):
        build, probe = self.sides
        unequal = self.plc.types.NullEquality.UNEQUAL
        if kind == "right":
            return self.plc.join.left_join(build, probe, unequal)[::-1]
        name = {"semi": "left_semi_join", "anti": "left_anti_join"}.get(kind, f"{kind}_join")
        return getattr(self.plc.join, name)(probe, build, unequal)

    def rows(self, found, kind):
        import cupy

        def of(column):
            memory = cupy.cuda.UnownedMemory(column.data().ptr, column.size() * 4, column)
            rows = cupy.ndarray(column.size(), "int32", cupy.cuda.MemoryPointer(memory, 0)).astype("int64")
            return cupy.where(rows < 0, -1, rows)  # of cuDF, a row without a match is the least number

        return (None, of(found)) if kind in ("semi", "anti") else (of(found[1]), of(found[0]))


PEERS = {
    "cpu": {"raydex": Raydex, "polars": Polars, "polars streaming": PolarsStreaming, "duckdb": DuckDB,
            "pandas": Pandas},
    "cuda": {"raydex": Raydex, "raydex any order": RaydexAnyOrder, "cudf": CuDF},
}  # fmt: skip


def library(device):
    """What makes columns there."""
    if device == "cpu":
        return np
    import cupy

    return cupy


def summary(build, probe):
    """What two equal sets of pairs have in common, in whatever order they come."""
    with np.errstate(over="ignore"):
        probe = probe.astype("uint64")
        pairs = probe if build is None else (probe << np.uint64(32)) + build.astype("uint64")
        return len(probe), int(pairs.sum(dtype="uint64")), int(scattered(pairs, "int64").view("uint64").sum())


def measure(device, shape, key, kind, names, repeats, limit_ms):
    wait = library(device).cuda.Device().synchronize if device == "cuda" else (lambda: None)
    build, probe = columns(shape.build, key), columns(shape.probe, key)
    own = expected = None
    for name in names:
        peer = PEERS[device][name](build, probe)
        times = []
        try:
            for turn in range(1 + repeats):
                wait()
                begin = time.perf_counter()
                found = peer.call(kind)
                wait()
                times.append(1000 * (time.perf_counter() - begin))
                if turn == 0:
                    answer = summary(*peer.rows(found, kind))
                if sum(times) > limit_ms and turn > 0:
                    break
                del found
        except NotImplementedError:
            continue
        times = times[1:]
        if expected is None:
            own, expected = statistics.median(times), answer
        elif answer != expected:
            raise AssertionError(f"{name} and raydex differ: {key} {kind} {answer} {expected}")
        yield {
            "device": device, "key": key, "build_rows": shape.build_rows, "probe_rows": shape.probe_rows,
            "shape": shape.words or "unique", "kind": kind, "rows": answer[0], "peer": name,
            "version": getattr(sys.modules[peer.module], "__version__", ""),
            "median_ms": f"{statistics.median(times):.4g}", "least_ms": f"{min(times):.4g}", "most_ms": f"{max(times):.4g}",
            "ratio": f"{statistics.median(times) / own:.3g}",
        }  # fmt: skip


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", choices=list(PEERS), default="cpu")
    parser.add_argument("--set", choices=list(SETS), default="sizes")
    parser.add_argument("--shapes", help="instead of a set")
    parser.add_argument("--keys", default="int32,int64")
    parser.add_argument("--kinds", default="inner")
    parser.add_argument("--peers", help="all of the device")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--limit-ms", type=float, default=20000, help="after which a peer is not called again")
    arguments = parser.parse_args()
    names = arguments.peers.split(",") if arguments.peers else list(PEERS[arguments.device])
    writer = csv.DictWriter(sys.stdout, FIELDS)
    writer.writeheader()
    # Words of a shape are divided by commas, too; a shape begins with a digit.
    shapes = SETS[arguments.set]
    if arguments.shapes:
        shapes = []
        for word in arguments.shapes.split(","):
            if word[0].isdigit():
                shapes.append(word)
            else:
                shapes[-1] += "," + word
    for text in shapes:
        shape = Shape(text, library(arguments.device))
        for key in arguments.keys.split(","):
            for kind in arguments.kinds.split(","):
                for row in measure(arguments.device, shape, key, kind, names, arguments.repeats, arguments.limit_ms):
                    writer.writerow(row)
                    sys.stdout.flush()


if __name__ == "__main__":
    main()
