#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Times joins by order of the Python package beside those of other libraries, which run on the CPU.

    lab/peers/order_joins.py intervals      # bioframe, pyranges1, polars-bio, DuckDB, Polars
    lab/peers/order_joins.py inequalities   # DuckDB, Polars
    lab/peers/order_joins.py band           # the same
    lab/peers/order_joins.py window         # Polars, pandas, DuckDB

`intervals`: half-open intervals of exons and reads on the chromosomes of a human; `overlap` asks for all pairs, as
row numbers, `count_overlaps` for how many each read has. `--sizes` are exons, which are the build side, reads, and
about how many pairs overlap. Both lie in genes, one for each 60 exons, whose popularity is lognormal with sigma 1.
Lengths are lognormal, too: of exons with median 130 and sigma 0.8, of reads with 100 and 0.5. Chromosomes are
strings. DuckDB and Polars would hash them, with a bucket a chromosome; so there one chromosome lies behind the other.

`inequalities`: `build.a < probe.x and build.b >= probe.y`; each holds for half of all pairs. `band`:
`abs(build - probe) <= distance` of uniform keys. `--sizes` are rows of the build and the probe side, and about how
many pairs match.

`window`: for each row the sum over its group from so long before it to itself. `--sizes` are rows, groups, and about
how many rows a window has. No two times are equal. `duckdb` has a window function; `duckdb asof` subtracts running
sums that it finds by as-of joins.

Rows are in random order or, with `--order ascending`, sorted: by chromosome and lower end, by time, or by the first
column. What needs them sorted sorts them in the call. All have the same threads, see `python_package.py`. Tables of
each peer's own kind are made before. All answers are compared with NumPy's: for each probe row how many pairs it has,
for each row its sum. Prints CSV as `python_package.py` does, with the rows of all pairs or windows as `pairs`; without
raydex there is no `ratio`. Who cannot be imported is named and left out; `--peers` says who runs. polars-bio needs an
older Polars, so that it has an environment of its own; pyranges1 needs Python 3.12:

    scripts/with-package peers lab/peers/order_joins.py intervals
    scripts/with-package polars-bio lab/peers/order_joins.py intervals --peers raydex,polars_bio
"""

import argparse
import csv
import functools
import importlib
import importlib.metadata
import statistics
import sys
from typing import NamedTuple

from python_package import THREADS, Clock, number  # first: it sets how many threads others have

import numpy as np
import raydex

FIELDS = [
    "call", "device", "dtype", "size", "order", "pairs", "peer", "version", "median_ms", "least_ms", "most_ms",
    "ratio",
]
CHROMOSOMES = {  # in millions of base pairs
    "chr1": 248, "chr2": 242, "chr3": 198, "chr4": 190, "chr5": 181, "chr6": 171, "chr7": 159, "chr8": 145,
    "chr9": 138, "chr10": 133, "chr11": 135, "chr12": 133, "chr13": 114, "chr14": 107, "chr15": 102, "chr16": 90,
    "chr17": 83, "chr18": 80, "chr19": 58, "chr20": 64, "chr21": 46, "chr22": 50, "chrX": 156, "chrY": 57,
}  # fmt: skip
EXONS_OF_A_GENE = 60
UNIVERSE = {"int32": 1 << 29, "int64": 1 << 40}  # keys and times are less


# The calls of raydex; `device` is where it joins. Columns come from memory of the host and go back there.


def at(device, *columns):
    """Columns where they are joined."""
    if device == "cpu":
        return columns
    import cupy

    return tuple(map(cupy.asarray, columns))


def back(found):
    """An array in memory of the host."""
    return found if isinstance(found, np.ndarray) else found.get()


def rows_of(found):
    return raydex.JoinRows(*map(back, found))


def overlaps(build, probe, by, device, counted=False):
    found = raydex.join_intervals(
        at(device, *build), at(device, *probe), relation="overlaps", closed="left", by=at(device, *by), lazy=counted)
    return back(found.counts()) if counted else rows_of(found)


def inequalities(build, probe, device):
    return rows_of(raydex.join_where(at(device, *build), at(device, *probe), compare=("<", ">=")))


def band(build, probe, distance, device):
    return rows_of(raydex.join_range(*at(device, build, probe), distance=distance))


def window_sums(times, values, groups, before, device):
    times, values, groups = at(device, times, values, groups)
    return back(raydex.join_window(
        times, times, values, before=before, after=0, aggregate="sum", by=(groups, groups)))


class Case(NamedTuple):
    """A question, and who answers it."""

    call: str
    pairs: int
    expected: np.ndarray
    peers: dict
    """By name, a function of the library's module. It returns a call, which is timed, and what makes an array like
    `expected` of its result."""


def counts_of(rows, size):
    """How often each row is there."""
    return np.bincount(np.asarray(rows), minlength=size)


def between(some, lower, others, upper):
    """How many of the sorted `others` are less than each `upper`, beyond how many of `some` are less than `lower`."""
    order = np.argsort(lower)  # neighbours are found in the same place
    out = np.empty(len(lower), "int64")
    out[order] = np.searchsorted(others, upper[order]) - np.searchsorted(some, lower[order])
    return out


def with_rows(build, probe):
    """Tables as columns by their names, with the numbers of their rows."""
    rows = [np.arange(len(next(iter(one.values())))) for one in (build, probe)]
    return {**build, "row": rows[0]}, {**probe, "i": rows[1]}


def database_of(module, **tables):
    import pyarrow

    database = module.connect()
    database.execute(f"set threads = {THREADS}")
    for name, columns in tables.items():
        arrow = pyarrow.table(columns)
        database.register("arrow", arrow)
        database.execute(f"create table {name} as select * from arrow")
        database.unregister("arrow")
    return database


def pairs_by_raydex(call, size):
    return call, lambda found: counts_of(found.probe, size)


def pairs_by_duckdb(build, probe, condition, module):
    database, size = database_of(module, build=build, probe=probe), len(probe["i"])
    query = f"select row, i from probe join build on {condition}"
    return lambda: database.sql(query).fetchnumpy(), lambda found: counts_of(found["i"], size)


def pairs_by_polars(build, probe, predicates, module):
    build, probe, size = module.LazyFrame(build), module.LazyFrame(probe), len(probe["i"])
    joined = probe.join_where(build, *predicates(module.col)).select("row", "i")
    return joined.collect, lambda found: counts_of(found["i"], size)


# Intervals that overlap


class Intervals(NamedTuple):
    chromosome: np.ndarray
    """A number from 0."""
    lower: np.ndarray
    upper: np.ndarray

    def columns(self, names):
        return dict(zip(names, (np.array(list(CHROMOSOMES))[self.chromosome], self.lower, self.upper)))

    def placed(self):
        """The ends, with one chromosome behind the other."""
        begins = self.chromosome.astype("int64") << 32
        return begins + self.lower, begins + self.upper


def genes(random, builds, probes, pairs):
    """Exons and reads."""
    count = max(1, builds // EXONS_OF_A_GENE)
    popularity = random.lognormal(0, 1, count)
    popularity /= popularity.sum()
    lengths = [
        np.clip(random.lognormal(np.log(median), sigma, rows), 1, 10**6).astype("int64")
        for median, sigma, rows in ((130, 0.8, builds), (100, 0.5, probes))
    ]
    span = span_for(lengths, pairs / (builds * probes * np.square(popularity).sum()))
    sizes = np.array(list(CHROMOSOMES.values())) * 10**6
    chromosome = random.choice(len(sizes), count, p=sizes / sizes.sum()).astype("int32")
    begin = (random.random(count) * (sizes[chromosome] - span)).astype("int64")
    found = []
    for length in lengths:
        gene = random.choice(count, len(length), p=popularity)
        lower = begin[gene] + random.integers(0, span, len(length))
        found.append(Intervals(chromosome[gene], lower, lower + length))
    return found


def span_for(lengths, share):
    """How long genes are in which this share of all pairs overlaps."""

    def overlapping(span):  # one of uniform lower ends is before the other, by less than its length
        return sum((1 - np.square(1 - np.minimum(1, one[:100000] / span))).mean() / 2 for one in lengths)

    low, high = 1, 10**9
    if share > overlapping(low):
        sys.exit("--sizes: too many pairs of so few intervals")
    while high > low + 1:
        middle = (low + high) // 2
        low, high = (middle, high) if overlapping(middle) > share else (low, middle)
    return low


def cases_of_intervals(random, sizes, dtype, order, device):
    exons, reads = genes(random, *sizes)
    if order == "ascending":
        by_place = [np.lexsort((one.lower, one.chromosome)) for one in (exons, reads)]
        exons, reads = (Intervals(*(x[at] for x in one)) for one, at in zip((exons, reads), by_place))
    lower, upper = reads.placed()
    begun, ended = map(np.sort, exons.placed())
    expected = between(ended, lower + 1, begun, upper)
    exons, reads = (Intervals(x.chromosome, x.lower.astype(dtype), x.upper.astype(dtype)) for x in (exons, reads))
    for call in ("overlap", "count_overlaps"):
        peers = {
            name: functools.partial(one, call == "count_overlaps", exons, reads)
            for name, one in (
                ("raydex", functools.partial(intervals_by_raydex, device)), ("bioframe", intervals_by_bioframe),
                ("pyranges1", intervals_by_pyranges1), ("polars_bio", intervals_by_polars_bio),
                ("duckdb", intervals_by_duckdb), ("polars", intervals_by_polars),
            )
        }  # fmt: skip
        yield Case(call, expected.sum(), expected, peers)


def intervals_by_raydex(device, counted, exons, reads, _):
    # Strings are joined where they are; to a GPU go numbers.
    names = [one.chromosome for one in (exons, reads)]
    if device == "cpu":
        import polars

        names = [polars.Series(one.columns(["name"])["name"]) for one in (exons, reads)]
    ends = [(one.lower, one.upper) for one in (exons, reads)]
    if counted:
        return lambda: overlaps(*ends, tuple(names), device, counted), np.asarray
    return pairs_by_raydex(lambda: overlaps(*ends, tuple(names), device), len(reads.lower))


def frames_of(exons, reads, make, names=("chrom", "start", "end")):
    return [make(one) for one in with_rows(exons.columns(names), reads.columns(names))]


def intervals_by_bioframe(counted, exons, reads, module):
    import pandas

    build, probe = frames_of(exons, reads, pandas.DataFrame)
    if counted:
        return lambda: module.count_overlaps(probe, build, return_input=False), lambda found: found["count"]
    return (
        lambda: module.overlap(probe, build, how="inner", return_input=False, return_index=True),
        lambda found: counts_of(found["index"], len(probe)),
    )


def intervals_by_pyranges1(counted, exons, reads, module):
    import pandas

    names = ("Chromosome", "Start", "End")
    build, probe = frames_of(exons, reads, lambda columns: module.PyRanges(pandas.DataFrame(columns)), names)
    if counted:
        return lambda: probe.count_overlaps(build), lambda found: found.sort_values("i")["Count"]
    return (
        lambda: probe.join_overlaps(build, preserve_input_order=False),
        lambda found: counts_of(found["i"], len(probe)),
    )


def intervals_by_polars_bio(counted, exons, reads, module):
    import polars

    module.set_option("datafusion.execution.target_partitions", str(THREADS))
    build, probe = frames_of(exons, reads, polars.DataFrame)
    for one in (build, probe):
        one.config_meta.set(coordinate_system_zero_based=True)
    if counted:
        return (
            lambda: module.count_overlaps(probe, build, output_type="polars.DataFrame"),
            lambda found: found.sort("i")["count"],
        )
    return (
        lambda: module.overlap(probe, build).select("row_2", "i_1").collect(),
        lambda found: counts_of(found["i_1"], len(probe)),
    )


def placed_columns(exons, reads):
    return with_rows(*(dict(zip(names, one.placed())) for names, one in (("ab", exons), ("xy", reads))))


def intervals_by_duckdb(counted, exons, reads, module):
    build, probe = placed_columns(exons, reads)
    if not counted:
        return pairs_by_duckdb(build, probe, "a < y and x < b", module)
    database = database_of(module, build=build, probe=probe)
    query = "select i, count(row) as n from probe left join build on a < y and x < b group by i order by i"
    return lambda: database.sql(query).fetchnumpy(), lambda found: found["n"]


def intervals_by_polars(counted, exons, reads, module):
    def predicates(column):
        return column("x") < column("b"), column("y") > column("a")

    build, probe = placed_columns(exons, reads)
    if not counted:
        return pairs_by_polars(build, probe, predicates, module)
    rows = module.LazyFrame({"i": probe["i"]})
    joined = module.LazyFrame(probe).join_where(module.LazyFrame(build), *predicates(module.col))
    counts = rows.join(joined.group_by("i").len(), on="i", how="left", maintain_order="left")
    return counts.collect, lambda found: found["len"].fill_null(0)


# Two inequalities, and bands


def dominating(values, before, least):
    """How many of the first `before[i]` values are `least[i]` or more, by a wavelet matrix over their ranks."""
    order = np.argsort(values, kind="stable")
    ranks = np.empty(len(values), "int64")
    ranks[order] = np.arange(len(values))
    wanted = np.searchsorted(values[order], least)
    found = np.zeros(len(before), "int64")
    begin, end = np.zeros(len(before), "int64"), before.copy()
    for bit in reversed(range(len(values).bit_length())):
        ones = (ranks >> bit & 1).astype(bool)
        running = np.concatenate([[0], np.cumsum(ones)])
        begin_of_ones, ones_between = len(ones) - running[-1], running[end] - running[begin]
        is_one = (wanted >> bit & 1).astype(bool)
        found += np.where(is_one, 0, ones_between)
        begin = np.where(is_one, begin_of_ones + running[begin], begin - running[begin])
        end = np.where(is_one, begin_of_ones + running[end], end - running[end])
        ranks = np.concatenate([ranks[~ones], ranks[ones]])
    return found + end - begin


def cases_of_inequalities(random, sizes, dtype, order, device):
    builds, probes, pairs = sizes
    universe = UNIVERSE[dtype]
    noise = 6 * universe * pairs // (builds * probes)  # a sixth of it is what b is above y by, on average
    a, x = (random.integers(0, universe, rows).astype(dtype) for rows in (builds, probes))
    if order == "ascending":
        a.sort()
        x.sort()
    b, y = (one + random.integers(0, noise, len(one)).astype(dtype) for one in (a, x))
    by_a = np.argsort(a)
    expected = dominating(b[by_a], np.searchsorted(a[by_a], x), y)
    build, probe = with_rows({"a": a, "b": b}, {"x": x, "y": y})

    def predicates(column):
        return column("x") > column("a"), column("y") <= column("b")

    yield Case("join_where", expected.sum(), expected, {
        "raydex": lambda _: pairs_by_raydex(lambda: inequalities((a, b), (x, y), device), probes),
        "duckdb": functools.partial(pairs_by_duckdb, build, probe, "a < x and b >= y"),
        "polars": functools.partial(pairs_by_polars, build, probe, predicates),
    })  # fmt: skip


def cases_of_bands(random, sizes, dtype, order, device):
    builds, probes, pairs = sizes
    distance = UNIVERSE[dtype] * pairs // (builds * probes) // 2
    a, x = (random.integers(0, UNIVERSE[dtype], rows).astype(dtype) for rows in (builds, probes))
    if order == "ascending":
        a.sort()
        x.sort()
    lower, upper = x - distance, x + distance
    keys = np.sort(a)
    expected = between(keys, lower, keys, upper + 1)
    build, probe = with_rows({"a": a}, {"x": lower, "y": upper})

    def predicates(column):
        return column("x") <= column("a"), column("y") >= column("a")

    yield Case("join_range", expected.sum(), expected, {
        "raydex": lambda _: pairs_by_raydex(lambda: band(a, x, distance, device), probes),
        "duckdb": functools.partial(pairs_by_duckdb, build, probe, "a between x and y"),
        "polars": functools.partial(pairs_by_polars, build, probe, predicates),
    })  # fmt: skip


# Sums of windows


def cases_of_windows(random, sizes, dtype, order, device):
    rows, groups, in_window = sizes
    times = np.cumsum(random.integers(1, 2000, rows))  # 1000 apart, on average
    before = in_window * groups * 1000
    table = {
        "g": random.integers(0, groups, rows).astype("int32"), "t": times,
        "v": random.integers(0, 1000, rows).astype(dtype),
    }  # fmt: skip
    if order == "random":
        shuffled = random.permutation(rows)
        table = {name: column[shuffled] for name, column in table.items()}
    table["i"] = np.arange(rows)
    expected, in_all = sums_before(table, before)
    yield Case("join_window", in_all, expected, {
        "raydex": lambda _: (
            lambda: window_sums(table["t"], table["v"], table["g"], before, device), np.asarray),
        "polars": functools.partial(windows_by_polars, table, before),
        "pandas": functools.partial(windows_by_pandas, table, before, order),
        "duckdb": functools.partial(windows_by_duckdb, table, WINDOW.format(before=before)),
        "duckdb asof": functools.partial(windows_by_duckdb, table, ASOF.format(before=before)),
    })  # fmt: skip


def sums_before(table, before):
    """The sum of each row's window, and how many rows all windows have."""
    bits = int(table["t"].max() + before).bit_length()
    begins = table["g"].astype("int64") << bits
    at = begins + table["t"]
    order = np.argsort(at)
    at, begins = at[order], begins[order]
    running = np.concatenate([[0], np.cumsum(table["v"][order], dtype="int64")])
    low, high = np.searchsorted(at, np.maximum(at - before, begins)), np.arange(1, len(at) + 1)
    found = np.empty(len(at), "int64")
    found[order] = running[high] - running[low]
    return found, int((high - low).sum())


def windows_by_polars(table, before, module):
    frame = module.DataFrame(table)
    sums = module.col("v").rolling_sum_by("t", window_size=f"{before}i", closed="both").over("g")
    return lambda: frame.select(sums)["v"], np.asarray


def windows_by_pandas(table, before, order, module):
    frame = module.DataFrame({**table, "t": table["t"].view("M8[ns]")})

    def call():
        by_time = frame if order == "ascending" else frame.sort_values("t")
        windows = by_time.groupby("g").rolling(module.Timedelta(before, "ns"), on="t", closed="both")
        return windows["v"].sum().droplevel(0).reindex(frame["t"])

    return call, np.asarray


WINDOW = """
select i, (sum(v) over (partition by g order by t range between {before} preceding and current row))::bigint as s
from events order by i"""
ASOF = """
with running as (select g, t, (sum(v) over (partition by g order by t))::bigint as s from events)
select i, last.s - coalesce(earlier.s, 0) as s
from events
asof join running as last on events.g = last.g and events.t >= last.t
asof left join running as earlier on events.g = earlier.g and events.t - {before} > earlier.t
order by i"""


def windows_by_duckdb(table, query, module):
    database = database_of(module, events=table)
    return lambda: database.sql(query).fetchnumpy()["s"], np.asarray


def module_of(peer):
    return importlib.import_module(peer.split()[0])


def version_of(module):
    return getattr(module, "__version__", None) or importlib.metadata.version(module.__name__)


def compared(case, arguments, **what):
    clock, own = Clock(arguments.repeats, lambda: None), None
    unknown = set(arguments.peers or []) - set(case.peers)
    if unknown:
        sys.exit(f"--peers: {', '.join(unknown)}: none of {', '.join(case.peers)}")
    for name, prepare in case.peers.items():
        if arguments.peers and name not in arguments.peers:
            continue
        try:
            module = module_of(name)
        except Exception as error:  # whatever it raises
            print(f"{case.call}: without {name}: {type(error).__name__}: {error}", file=sys.stderr)
            continue
        call, answer = prepare(module)
        times, found = clock(call)
        if not np.array_equal(answer(found), case.expected):
            raise AssertionError(f"{name} and NumPy differ: {case.call} of {what}")
        del found, call, answer
        median = statistics.median(times)
        own = median if name == "raydex" else own
        yield {
            "call": case.call, **what, "device": arguments.device if name == "raydex" else "cpu",
            "pairs": case.pairs, "peer": name, "version": version_of(module), "median_ms": f"{median:.4g}",
            "least_ms": f"{min(times):.4g}", "most_ms": f"{max(times):.4g}",
            "ratio": f"{median / own:.3g}" if own else "",
        }  # fmt: skip


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("call", choices=list(CALLS))
    parser.add_argument("--device", choices=["cpu", "cuda"], default="cpu", help="of raydex")
    parser.add_argument("--dtypes", default="int64", help="of ends, keys, or values: int32, int64")
    parser.add_argument("--sizes", help="as 1200000x9900000x307000000,2^17x2^20x2^25; see above")
    parser.add_argument("--order", choices=["random", "ascending"], default="random")
    parser.add_argument("--peers", type=lambda text: text.split(","), help="who runs, as raydex,duckdb; by default all")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--seed", type=int, default=7)
    arguments = parser.parse_args()
    cases, usual = CALLS[arguments.call]
    writer = csv.DictWriter(sys.stdout, FIELDS)
    writer.writeheader()
    for dtype in arguments.dtypes.split(","):
        for size in (arguments.sizes or usual).split(","):
            random, sizes = np.random.default_rng(arguments.seed), [number(one) for one in size.split("x")]
            for case in cases(random, sizes, dtype, arguments.order, arguments.device):
                for row in compared(case, arguments, dtype=dtype, size=size, order=arguments.order):
                    writer.writerow(row)
                    sys.stdout.flush()


CALLS = {
    "intervals": (cases_of_intervals, "1200000x9900000x307000000"),
    "inequalities": (cases_of_inequalities, "1000000x1000000x10000000"),
    "band": (cases_of_bands, "10000000x10000000x100000000"),
    "window": (cases_of_windows, "2^20x8192x100,2^22x8192x100,2^24x8192x100,2^26x8192x100"),
}

if __name__ == "__main__":
    main()
