# SPDX-License-Identifier: Apache-2.0
"""`python -m raydex rmq` against NumPy."""

import numpy as np
import pytest

pa = pytest.importorskip("pyarrow")


@pytest.mark.parametrize("ending", ["csv", "parquet", "arrow", "npy"])
def test_minima(program, random, ending):
    values, lower = random.integers(-50, 50, 500), random.integers(0, 500, 300)
    upper = np.minimum(lower + random.integers(0, 100, 300), 499)
    expected = [values[a : b + 1].min() for a, b in zip(lower, upper)]
    places = [a + values[a : b + 1].argmin() for a, b in zip(lower, upper)]
    if ending == "npy":
        files = {
            "values": program.file("v.npy", values),
            "ranges": program.file("r.npy", np.stack([lower, upper], 1)),
        }
    else:
        files = {
            "values": program.file(f"v.{ending}", pa.table({"low": values})) + ":low",
            "ranges": program.file(f"r.{ending}", pa.table({"from": lower, "to": upper})) + ":from,to",
        }
    assert program.load("rmq", "--check", **files, result="min").tolist() == expected
    assert program.load("rmq", **files, result="argmin").tolist() == places
    assert program.load("rmq", **files, result="argmin", out="o.parquet")["argmin"].to_pylist() == places
    largest = [values[a : b + 1].max() for a, b in zip(lower, upper)]
    assert program.load("rmq", **files, result="max").tolist() == largest
    places = [a + values[a : b + 1].argmax() for a, b in zip(lower, upper)]
    assert program.load("rmq", **files, result="argmax").tolist() == places
    assert program.text("rmq", **files, result="min") == "min\n" + "".join(f"{one}\n" for one in expected)
    # Changed values, of equal positions the last.
    positions, new = random.integers(0, 500, 100), random.integers(-99, 0, 100)
    values[positions] = new
    files["set"] = program.file("set.parquet", pa.table({"at": positions})) + ":at"
    files["set_values"] = program.file("new.csv", pa.table({"value": new})) + ":value"
    expected = [values[a : b + 1].min() for a, b in zip(lower, upper)]
    assert program.load("rmq", **files, result="min").tolist() == expected


def test_minima_of_other_types(program):
    ranges = program.file("r.csv", "a,b\n0,2\n1,1\n2,1\n1,\n")
    days = pa.array([9, 3, 5], pa.int32()).cast(pa.date32())
    times = pa.array([9, 3, 5]).cast(pa.time64("us"))
    zoned = pa.array([9, 3, 5]).cast(pa.timestamp("ms", "UTC"))
    table = pa.table({"day": days, "time": times, "zoned": zoned, "small": pa.array([9, 3, 5], pa.int8())})
    program.file("v.parquet", table)
    for name in ["day", "time", "zoned"]:
        found = program.load(
            "rmq", values=f"v.parquet:{name}", ranges=f"{ranges}:a,b", result="min", out="o.parquet"
        )
        assert found["min"].type == table[name].type
        assert found["min"][:2].to_pylist() == [table[name][1].as_py()] * 2
    found = program.load(
        "rmq", values="v.parquet:small", ranges="r.csv:a,b", result="argmin", out="o.feather"
    )
    assert found["argmin"].to_pylist() == [1, 1, None, None]
    new = program.file("n.npy", np.array([1], np.int8))
    found = program.load(
        "rmq",
        values="v.parquet:small",
        ranges="r.csv:a,b",
        set=program.file("s.npy", np.array([2])),
        set_values=new,
        result="min",
    )
    assert found.tolist() == [1, 3, 2**31 - 1, 2**31 - 1]


def test_checked_ranges(program):
    program.file("v.npy", np.arange(5))
    program.file("r.csv", "a,b\n0,4\n,9\n3,2\n")
    error = program.refuse("rmq", "--check", values="v.npy", ranges="r.csv:a,b", result="min", out="o.npy")
    assert error == "raydex: ranges: range 2 is [3, 2]; legal: 0 <= lower <= upper <= 4\n"
    for bad in [(-1, 2), (4, 5), (0, -1)]:
        program.file("r.npy", np.array([bad]))
        assert f"range 0 is {list(bad)}" in program.refuse(
            "rmq", "--check", values="v.npy", ranges="r.npy", result="argmin", out="o.npy"
        )
    none = program.file("none.npy", np.empty(0))
    assert "the array is empty" in program.refuse(
        "rmq", "--check", values=none, ranges="r.npy", result="min", out="o.npy"
    )
