# SPDX-License-Identifier: Apache-2.0
"""`raydex query` with an aggregate: the same answers, and means, minima and maxima."""

import json

import numpy as np
import pytest
from conftest import query_arguments
from oracle import Oracle, assert_equal, random_bits, random_keys, random_points

VALUE_TYPES = ["<u4", "<i8", "<f4", "<f8"]


def values_of(rng, dtype, n):
    """Values whose sums are all exact."""
    if dtype[1] == "f":
        return rng.integers(-(2**15), 2**15, n).astype(dtype)
    return random_bits(rng, dtype, n)


def of_matches(oracle, values, function, of_none):
    parts = [values[rows.astype(np.int64)] for rows in oracle.matches]
    return [function(part) if len(part) else of_none for part in parts]


@pytest.mark.parametrize("dtype", VALUE_TYPES)
def test_every_result(program, rng, dtype):
    n = 300
    keys = random_keys(rng, "<i4", n)
    lower, upper = random_points(rng, keys, 100), random_points(rng, keys, 100)
    values = values_of(rng, dtype, n)
    oracle = Oracle(keys, lower, upper)
    options = {
        "keys": program.file("K.npy", keys),
        "ranges": program.file("R.npy", np.stack([lower, upper], axis=1)),
    }
    for result, expected in [("first", oracle.first()), ("count", oracle.count())]:
        answer = program.load(
            "out.npy", *query_arguments(result=result, **options), "--aggregate"
        )
        assert_equal(answer, expected)
    options["values"] = program.file("V.npy", values)
    answer = program.load("out.npy", *query_arguments(result="sum", **options), "--aggregate")
    assert_equal(answer, oracle.sum(values))
    floating = values.dtype.kind == "f"
    last = np.nan if floating else np.iinfo(dtype).max
    first = np.nan if floating else np.iinfo(dtype).min
    assert_equal(program.query(result="min", **options),
                 np.array(of_matches(oracle, values, np.min, last), dtype))
    assert_equal(program.query(result="max", **options),
                 np.array(of_matches(oracle, values, np.max, first), dtype))
    means = of_matches(oracle, values, lambda part: sum(map(int, part)) / len(part), np.nan)
    answer = program.query(result="mean", **options)
    assert answer.dtype == np.float64
    np.testing.assert_allclose(answer, means, rtol=1e-14)


def test_a_csv_file(program):
    (program.folder / "sales.csv").write_text("day,price\n1,5\n1,\n2,7\n3,-1\n3,4\n4,\n")
    (program.folder / "asked.csv").write_text("from,to\n1,2\n3,3\n4,9\n")
    done = program.run(*query_arguments(
        keys="sales.csv:day", ranges="asked.csv:from,to", values="sales.csv:price:f8",
        result="mean", out="-", report="r.json"))
    assert done.returncode == 0, done.stderr
    assert done.stdout == "mean\n6\n1.5\n\n"
    report = json.loads((program.folder / "r.json").read_text())
    assert report["result"] == "mean"
    assert report["aggregate_ms"] > 0 and report["aggregate_bytes"] > 0
    for result, text in [("min", "5\n-1\n\n"), ("max", "7\n4\n\n"), ("sum", "12\n3\n0\n")]:
        done = program.run(*query_arguments(
            keys="sales.csv:day", ranges="asked.csv:from,to", values="sales.csv:price:i4", result=result, out="-"))
        assert (done.stderr, done.stdout) == ("", f"{result}\n{text}")


def test_a_largest_number_that_is_there(program):
    program.file("t.csv", f"k,v\n1,{2**31 - 1}\n2,{-2**31}\n")
    for result, text in [("min", f"{2**31 - 1}\n{-2**31}\n"), ("max", f"{2**31 - 1}\n{-2**31}\n")]:
        done = program.run(*query_arguments(
            keys="t.csv:k", points="t.csv:k", values="t.csv:v:i4", result=result, out="-"))
        assert (done.stderr, done.stdout) == ("", f"{result}\n{text}")


@pytest.mark.parametrize("options, words", [
    ({"result": "min"}, "--result min needs --values"),
    ({"result": "sum"}, "--result sum needs --values, the column of the rows"),
    ({"result": "count", "values": "K.npy"}, "--values goes with --result sum, mean, min or max"),
    ({"result": "meen", "values": "K.npy"}, "mean"),
])
def test_refusals(program, options, words):
    keys = program.file("K.npy", np.arange(5, dtype=np.uint32))
    assert words in program.refuse_query(keys=keys, points=keys, **options)


def test_what_an_aggregate_does_not_answer(program):
    keys = program.file("K.npy", np.arange(5, dtype=np.uint32))
    words = query_arguments(keys=keys, points=keys, result="rows", out="out.csv")
    assert "--aggregate goes with all results but rows" in program.refuse(*words, "--aggregate")
    words = query_arguments(keys=keys, points=keys, result="sum")
    assert "--result sum needs --values" in program.refuse(*words, "--aggregate")
