# SPDX-License-Identifier: Apache-2.0
"""`raydex query` against the oracle."""

import itertools
import json
import os
import resource
import subprocess

import numpy as np
import pytest
from conftest import BACKEND, BINARY, limit, query_arguments
from oracle import (
    KEY_TYPES,
    Oracle,
    assert_equal,
    extremes,
    random_bits,
    random_keys,
    random_points,
)

SMALL = os.environ.get("RAYDEX_TEST_SCALE") == "small"


def check_all_results(program, oracle, values=None, **options):
    """Asks for every result; for the sum of values if there are any."""
    assert_equal(program.query(result="first", **options), oracle.first())
    assert_equal(program.query(result="count", **options), oracle.count())
    assert_equal(program.query(result="rows", **options), oracle.rows())
    if values is not None:
        name = program.file("V.npy", values)
        assert_equal(program.query(result="sum", values=name, **options), oracle.sum(values))


def random_values(rng, n):
    """Values of only one of the types that sums take, since each result starts a program."""
    dtype = rng.choice(["<u4", "<u8", "<i4", "<i8", "<f4", "<f8"])
    if dtype == "<f4":
        return rng.normal(0, 1e6, n).astype(dtype)
    if dtype == "<f8":
        return rng.normal(0, 1e6, n) * 10.0 ** rng.integers(-10, 10, n)
    return random_bits(rng, dtype, n)


@pytest.mark.parametrize("row_id_type", [None, "<u4", "<u8"])
@pytest.mark.parametrize("kind", ["points", "ranges"])
@pytest.mark.parametrize("dtype", KEY_TYPES)
def test_every_key_type(program, rng, dtype, kind, row_id_type):
    n, probes = int(rng.integers(100, 400)), int(rng.integers(50, 200))
    keys = random_keys(rng, dtype, n)
    options = {"keys": program.file("K.npy", keys)}
    row_ids = None
    if row_id_type:
        row_ids = rng.permutation(2 * n)[:n].astype(row_id_type)
        options["row_ids"] = program.file("I.npy", row_ids)
    lower = upper = random_points(rng, keys, probes)
    if kind == "points":
        options["points"] = program.file("P.npy", lower)
    else:
        upper = random_points(rng, keys, probes)
        options["ranges"] = program.file("R.npy", np.stack([lower, upper], axis=1))
    oracle = Oracle(keys, lower, upper, row_ids)
    check_all_results(program, oracle, random_values(rng, 2 * n), **options)


@pytest.mark.parametrize("kind", ["points", "ranges"])
@pytest.mark.parametrize(("n", "probes"), [(0, 0), (0, 5), (5, 0), (1, 1)])
@pytest.mark.parametrize("dtype", ["<i8", "<f4", "|S5"])
def test_few_keys_and_probes(program, rng, dtype, n, probes, kind):
    keys = random_keys(rng, dtype, n)
    ends = random_bits(rng, dtype, 2 * probes).reshape(probes, 2)
    if kind == "points":
        ends = ends[:, :1].repeat(2, axis=1)
        options = {"points": program.file("P.npy", ends[:, 0].copy())}
    else:
        options = {"ranges": program.file("R.npy", ends)}
    options["keys"] = program.file("K.npy", keys)
    oracle = Oracle(keys, ends[:, 0], ends[:, 1])
    check_all_results(program, oracle, rng.normal(0, 1, n), **options)


@pytest.mark.parametrize("dtype", KEY_TYPES)
def test_all_pairs_of_extremes_as_ranges(program, rng, dtype):
    special = extremes(dtype)
    keys = rng.permutation(np.concatenate([special, special]))
    ends = np.array([(a, b) for a in special for b in special], dtype)
    oracle = Oracle(keys, ends[:, 0], ends[:, 1])
    ranges = program.file("R.npy", ends)
    check_all_results(program, oracle, keys=program.file("K.npy", keys), ranges=ranges)


@pytest.mark.parametrize("dtype", ["<u4", "<i8", "<f4", "<f8"])
def test_places_among_the_keys(program, rng, dtype):
    n = int(rng.integers(1, 300))
    keys = random_keys(rng, dtype, n)
    points = random_points(rng, keys, 200)
    row_ids = rng.permutation(2 * n)[:n].astype("<u4")
    # By key, then by row; NaN is the last one, and all NaN are equal.
    order = np.lexsort((row_ids, keys + keys.dtype.type(0)))
    ascending, rows = keys[order], row_ids[order]
    left = np.searchsorted(ascending, points, side="left")
    right = np.searchsorted(ascending, points, side="right")
    none = np.uint32(2**32 - 1)

    def at(place, there):
        first = np.searchsorted(ascending, ascending[np.clip(place, 0, n - 1)], side="left")
        return np.where(there, rows[first], none)

    files = {
        "keys": program.file("K.npy", keys), "points": program.file("P.npy", points),
        "row_ids": program.file("I.npy", row_ids),
    }
    for structure in ["auto", "cgrx" if BACKEND == "optix" else "eytzinger"]:
        ask = {"structure": structure, **files}
        assert_equal(program.query(result="rank", **ask), left.astype("<u8"))
        assert_equal(program.query(result="rank_right", **ask), right.astype("<u8"))
        assert_equal(program.query(result="predecessor", **ask), at(right - 1, right > 0))
        assert_equal(program.query(result="successor", **ask), at(left, left < n))
    strictly = query_arguments(result="predecessor", **files) + ["--strict"]
    assert_equal(program.load("out.npy", *strictly), at(left - 1, left > 0))
    strictly = query_arguments(result="successor", **files) + ["--strict"]
    assert_equal(program.load("out.npy", *strictly), at(right, right < n))


def test_places_of_missing_points(program):
    program.file("t.csv", "key,point\n5,7\n3,\n9,4\n")
    ask = ["query", "--keys", "t.csv:key", "--points", "t.csv:point", "--backend", BACKEND]
    assert program.run(*ask, "--result", "rank", "--out", "-").stdout == "rank\n2\n\n1\n"
    done = program.run(*ask, "--result", "predecessor", "--out", "-")
    assert done.stdout == "predecessor\n0\n\n1\n"


def test_places_that_cannot_be_asked(program):
    keys = program.file("K.npy", np.arange(4, dtype="<u4"))
    ranges = program.file("R.npy", np.zeros((2, 2), "<u4"))
    line = program.refuse_query(keys=keys, ranges=ranges, result="rank")
    assert "--result rank is of --points" in line
    line = program.refuse(*query_arguments(keys=keys, points=keys, result="first"), "--strict")
    assert "--strict goes with --result predecessor or successor, not first" in line
    line = program.refuse(*query_arguments(keys=keys, points=keys, result="rank"), "--aggregate")
    assert "--aggregate has no rank" in line
    if BACKEND == "optix":
        return
    line = program.refuse_query(keys=keys, points=keys, result="rank", structure="hash_open")
    assert "hash_open" in line and "pivot_tree" in line
    line = program.refuse_query(keys=keys, ranges=ranges, result="count", structure="hash_open")
    assert "answers points, not ranges" in line


def test_nan_and_negative_zero(program):
    keys = np.array([np.nan, -0.0, 0.0, 1.0, -np.nan, np.inf], "<f8")
    points = np.array([np.nan, 0.0, -0.0, np.inf, -np.inf], "<f8")
    options = {"keys": program.file("K.npy", keys), "points": program.file("P.npy", points)}
    count = program.query(result="count", **options)
    assert count.tolist() == [2, 2, 2, 1, 0]
    assert program.query(result="first", **options).tolist() == [0, 1, 1, 5, 2**32 - 1]


@pytest.mark.parametrize("dtype", ["<u4", "<u8"])
def test_extreme_row_ids(program, dtype):
    largest = np.iinfo(dtype).max - 1
    row_ids = np.array([largest, 0, largest - 1], dtype)
    keys = np.array([7, 7, 8], "<u4")
    points = np.array([7, 8, 9], "<u4")
    oracle = Oracle(keys, points, points, row_ids)
    check_all_results(
        program, oracle, keys=program.file("K.npy", keys), points=program.file("P.npy", points),
        row_ids=program.file("I.npy", row_ids),
    )


def test_missing_values(program, rng):
    n = 100
    keys = rng.integers(0, 20, n)
    present = rng.random(n) < 0.7
    lower, upper = rng.integers(0, 20, n), rng.integers(0, 20, n)
    lower_present, upper_present = rng.random(n) < 0.7, rng.random(n) < 0.7
    words = ["", "NA", "N/A", "null", "NULL", '""']

    def texts(column, mask):
        return [str(x) if there else rng.choice(words) for x, there in zip(column, mask)]

    columns = [texts(keys, present), texts(lower, lower_present), texts(upper, upper_present)]
    rows = [",".join(["x", *row]) for row in zip(*columns)]
    program.file("t.csv", "\n".join(["name,key,low,high", *rows]) + "\n")
    values = rng.integers(-1000, 1000, n)

    points = Oracle(keys, lower, lower, present=present, asked=lower_present)
    check_all_results(program, points, values, keys="t.csv:key", points="t.csv:low")
    ranges = Oracle(keys, lower, upper, present=present, asked=lower_present & upper_present)
    check_all_results(program, ranges, values, keys="t.csv:key", ranges="t.csv:low,high")


def test_missing_values_add_nothing(program):
    program.file("t.csv", "key,value\n1,10\n1,\n1,5\n2,NA\n")
    points = program.file("P.npy", np.array([1, 2, 3], "<i8"))
    total = program.query(
        keys="t.csv:key", points=points, result="sum", values="t.csv:value"
    )
    assert_equal(total, np.array([15, 0, 0], "<i8"))


def test_csv_columns_of_text_and_numbers(program):
    program.file("t.csv", "tail,delay,n\nN10,1.5,1\nN2,nan,2\nN10,-3,3\n")
    points = program.file("P.npy", np.array([b"N10", b"N2", b"N3"], "|S8"))
    first = program.query(keys="t.csv:tail:S8", points=points, result="first")
    assert first.tolist() == [0, 1, 2**32 - 1]
    delays = program.file("P.npy", np.array([np.nan, -3, 0], "<f8"))
    assert program.query(keys="t.csv:delay", points=delays, result="count").tolist() == [1, 1, 0]
    assert program.query(keys="t.csv:n:u4", points="t.csv:n:u4", result="first").tolist() == [0, 1, 2]


@pytest.mark.parametrize("layout", ["column", "row"])
def test_report(program, layout):
    keys = program.file("K.npy", np.arange(1000, dtype="<i4"))
    points = program.file("P.npy", np.arange(10, dtype="<i4"))
    program.query(
        keys=keys, points=points, result="count", report="report.json",
        structure="sorted_array", option=f"layout={layout}",
    )
    report = json.loads((program.folder / "report.json").read_text())
    assert list(report) == [
        "structure", "options", "backend", "device", "rt_core_version", "key", "n", "probes",
        "result", "build_ms", "lookup_ms", "resident_bytes", "build_peak_bytes", "lookup_peak_bytes",
        "repairs",
    ]
    assert report["structure"] == "sorted_array"
    assert report["options"] == {"layout": layout}
    assert report["backend"] == BACKEND
    assert report["device"]
    assert report["rt_core_version"] == 0 or BACKEND == "optix"
    assert (report["key"], report["n"], report["probes"]) == ("int32", 1000, 10)
    assert report["build_ms"] > 0 and report["lookup_ms"] > 0
    assert report["resident_bytes"] == 8000
    assert report["build_peak_bytes"] >= report["resident_bytes"]
    assert report["lookup_peak_bytes"] >= 0
    assert report["repairs"] == 0
    assert report["result"] == "count"


@pytest.mark.parametrize(("row_ids", "none"), [(None, 2**32 - 1), ("<u8", 2**64 - 1)])
def test_first_is_the_smallest_row_id(program, row_ids, none):
    """Whatever the keys; the report says what stands for no row."""
    keys = program.file("K.npy", np.array([9.0, np.nan, 3.0, 9.0]))
    ranges = program.file("R.npy", np.array([[0.0, 10.0], [9.0, np.nan], [np.nan, np.nan], [4, 5]]))
    asked = {"keys": keys, "ranges": ranges, "result": "first", "report": "r.json"}
    if row_ids:
        asked["row_ids"] = program.file("I.npy", np.array([7, 5, 6, 4], row_ids))
    expected = [4, 4, 5, none] if row_ids else [0, 0, 1, none]
    assert program.query(**asked).tolist() == expected
    report = json.loads((program.folder / "r.json").read_text())
    assert (report["result"], report["no_match"]) == ("first", none)


@pytest.mark.skipif(SMALL, reason="a large batch")
def test_more_probes_than_a_batch(program, rng):
    n, probes = 1 << 10, (1 << 24) + 9
    keys = rng.permutation(2 * n)[:n].astype("<u4")
    points = rng.integers(0, 2 * n, probes, dtype="<u4")
    options = {"keys": program.file("K.npy", keys), "points": program.file("P.npy", points)}
    row_of = np.full(2 * n, 2**32 - 1, "<u4")
    row_of[keys] = np.arange(n, dtype="<u4")
    expected = row_of[points]
    assert_equal(program.query(result="first", **options), expected)
    hits = expected != 2**32 - 1
    offsets, rows = program.query(result="rows", **options)
    assert_equal(rows, expected[hits])
    assert_equal(offsets, np.concatenate([[0], np.cumsum(hits)]).astype("<u8"))


def test_an_output_is_replaced(program):
    column = program.file("K.npy", np.arange(3, dtype="<u4"))
    program.file("out.npy", "before")
    assert program.query(keys=column, points=column, result="first").tolist() == [0, 1, 2]
    assert sorted(p.name for p in program.folder.iterdir()) == ["K.npy", "out.npy"]


def test_times_of_csv(program):
    program.file("k.csv", "t,n\n2024-03-01,1\n2024-03-01 12:30:05.25,2\n,3\n2024-03-02T00:00,4\n")
    program.file("p.csv", "a,b,z\n2024-03-01T00:00,2024-03-01T12:30:05.25,2024-03-01T00:00Z\n2024-03-02,2024-03-03,2024-03-01T00:00Z\n")
    assert program.query(keys="k.csv:t", points="p.csv:a", result="first").tolist() == [0, 3]
    assert program.query(keys="k.csv:t", ranges="p.csv:a,b", result="sum", values="k.csv:n").tolist() == [3, 4]
    latest = program.query(keys="k.csv:n", ranges=program.file("r.npy", np.array([[1, 2]])), result="max", values="k.csv:t")
    assert latest.view("M8[ns]").tolist() == np.array(["2024-03-01T12:30:05.25"], "M8[ns]").tolist()
    for part, options in [
        ("points p.csv:z are times with a zone, but keys k.csv:t are times without a zone", {"points": "p.csv:z"}),
        ("points k.csv:n are int64, but keys k.csv:t are times without a zone", {"points": "k.csv:n"}),
        ("ranges p.csv:z are times with a zone, but keys k.csv:t are times without a zone", {"ranges": "p.csv:a,z"}),
        ("values k.csv:t are times; min and max are of times, sum is not",
         {"points": "p.csv:a", "result": "sum", "values": "k.csv:t"}),
        ("row ids k.csv:t are times without a zone; they must be", {"points": "p.csv:a", "row_ids": "k.csv:t"}),
    ]:
        assert part in program.refuse_query(**{"keys": "k.csv:t", "result": "count", **options})


def rows_in_csv(program, name):
    """The columns of a file with lines `probe,row`."""
    with open(program.folder / name) as file:
        assert file.readline() == "probe,row\n"
        lines = file.read()
    return np.fromstring(lines.replace("\n", ","), np.uint64, sep=",").reshape(-1, 2).T


def test_rows_in_parts(program, rng):
    """Lines of a file come some 2^22 rows at a time: more of all probes, of eight, and of one."""
    for n, distinct, probes in [(300_000, 2, 45), (4_400_000, 2, 3), (60_000, 30, 2500)]:
        keys = rng.integers(0, distinct, n, dtype=np.int32)
        points = rng.integers(-1, distinct + 1, probes, dtype=np.int32)
        missing = rng.integers(0, 5, probes) == 0
        text = ["" if none else str(point) for none, point in zip(missing, points)]
        program.file("P.csv", "\n".join(["of,point", *("x," + one for one in text)]) + "\n")
        files = {"keys": program.file("K.npy", keys), "points": "P.csv:point:int32"}
        done = program.run(*query_arguments(result="rows", out="rows.csv", **files))
        assert done.returncode == 0, done.stderr
        found = rows_in_csv(program, "rows.csv")
        rows_of = {key: np.flatnonzero(keys == key) for key in range(-1, distinct + 1)}
        rows = [rows_of[point][: 0 if none else None] for none, point in zip(missing, points.tolist())]
        assert_equal(found[0], np.repeat(np.arange(probes), [len(one) for one in rows]).astype(np.uint64))
        assert_equal(found[1], np.concatenate(rows).astype(np.uint64))


def test_more_rows_than_memory(program):
    """1.6 GB of matches within 1 GB of address space."""
    limits = limit(resource.RLIMIT_AS, 1 << 30)
    if SMALL or BACKEND != "cpu" or program.run("--version", **limits).returncode != 0:
        pytest.skip("the program needs address space for other things")
    program.file("K.npy", np.zeros(400_000, np.int32))
    program.file("P.npy", np.zeros(1000, np.int32))
    words = query_arguments(keys="K.npy", points="P.npy", result="rows", out="-")
    with subprocess.Popen([BINARY, *words], cwd=program.folder, stdout=subprocess.PIPE, **limits) as process:
        parts = iter(lambda: process.stdout.read(1 << 20), b"")
        assert sum(part.count(b"\n") for part in itertools.islice(parts, 300)) > 2e7
        process.kill()
