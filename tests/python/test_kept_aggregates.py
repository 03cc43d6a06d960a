# SPDX-License-Identifier: Apache-2.0
"""Aggregates in files and pickles, with their indexes."""

import copy
import datetime
import pickle
import subprocess
import sys
import threading

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
import raydex
from raydex import _kept
from test_kept import expect_damage_refused, ways

N = 300
RANDOM = np.random.default_rng(4)
NUMBERS = RANDOM.integers(-50, 50, N)
DAYS = np.datetime64("2024-01-01") + RANDOM.integers(0, 40, N)

VALUES = {
    "ints": NUMBERS,
    "bytes": (NUMBERS + 50).astype("u1"),
    "extremes": RANDOM.choice([np.iinfo("i8").min, np.iinfo("i8").max, 0, -1], N),
    "unsigned": RANDOM.choice(np.array([0, 2**64 - 1, 2**63], "u8"), N),
    "floats": RANDOM.choice([0.5, np.nan, -np.inf, np.inf, -0.0, 3.25], N),
    "finite": NUMBERS / 4,
    "singles": (NUMBERS / 4).astype("f4"),
    "masked": np.ma.masked_array(NUMBERS, NUMBERS > 30),
    "nullable": pd.Series(np.where(NUMBERS > 0, NUMBERS, 0), dtype="Int64").where(NUMBERS % 3 != 0),
    "days": DAYS,
    "durations": NUMBERS.astype("m8[ms]"),
    "zoned": pa.array([datetime.datetime(2024, 1, 31)] * (N - 1) + [None], pa.timestamp("us", "Europe/Paris")),
    "none": None,
}
KEYS = {
    "ints": NUMBERS.astype("i4"),
    "days": DAYS,
    "words": [f"word number {number % 40}" for number in NUMBERS],
    "short words": [str(number) for number in NUMBERS],
    "two columns": (DAYS, NUMBERS),
    "missing": np.ma.masked_array(NUMBERS, NUMBERS > 20),
}


def answers(of, lower, upper=None):
    names = ["count", "first"]
    if of.info.value is not None:
        names += ["count_values", "min", "max"]
        if of._value.time is None:
            names += ["sum", "mean"]
    return {name: getattr(of, name)(lower, upper) for name in names}


def same(one, other, lower, upper=None):
    a, b = one.info, other.info
    assert a.__dict__ | {"build_peak_bytes": 0} == b.__dict__ | {"build_peak_bytes": 0}
    assert type(other) is raydex.Aggregate
    assert type(other.index) is type(one.index)
    expected, found = answers(one, lower, upper), answers(other, lower, upper)
    assert expected.keys() == found.keys()
    for name, of_one in expected.items():
        assert of_one.dtype == found[name].dtype
        np.testing.assert_array_equal(of_one, found[name], name)
    np.testing.assert_array_equal(one.index.count(lower, upper), other.index.count(lower, upper))


@pytest.mark.parametrize("kind", VALUES)
def test_all_kinds_of_values(kind, tmp_path):
    with raydex.build(KEYS["ints"]) as index, raydex.aggregate(index, VALUES[kind]) as sums:
        for other in ways(sums, tmp_path):
            same(sums, other, [-60, 3, 0], [60, 9, -1])
            other.close()


@pytest.mark.parametrize("kind", KEYS)
def test_all_kinds_of_keys(kind, tmp_path):
    keys = KEYS[kind]
    index = raydex.build(keys)
    sums = raydex.aggregate(index, VALUES["masked"])
    probes = tuple(column[:40] for column in keys) if isinstance(keys, tuple) else keys[:40]
    for other in ways(sums, tmp_path):
        same(sums, other, probes)


@pytest.mark.parametrize("structure", ["sorted_array", "pivot_tree", "btree", "eytzinger", "rx", "cgrx"])
def test_structures_beside_pandas(structure, tmp_path):
    frame = pd.DataFrame({"key": NUMBERS, "value": VALUES["finite"]})
    expected = frame.groupby("key")["value"].agg(["sum", "mean", "min", "max", "count"])
    sums = raydex.aggregate(raydex.build(NUMBERS, structure), VALUES["finite"])
    for other in ways(sums, tmp_path):
        groups = expected.index.to_numpy()
        for name, call in (("sum", other.sum), ("mean", other.mean), ("min", other.min), ("max", other.max),
                           ("count", other.count_values)):  # fmt: skip
            np.testing.assert_allclose(call(groups), expected[name])


def test_it_is_as_it_was_built(tmp_path):
    index = raydex.build(NUMBERS)
    for parts in ({"sums": False}, {"minima": False}, {"maxima": False}, {"first_rows": False}):
        sums = raydex.aggregate(index, NUMBERS, **parts)
        for other in ways(sums, tmp_path):
            with pytest.raises(raydex.Unsupported, match=f"built without {next(iter(parts))}"):
                {"sums": other.sum, "minima": other.min, "maxima": other.max, "first_rows": other.first}[
                    next(iter(parts))
                ](3)


def test_an_index_of_few_rows(tmp_path):
    for size in (0, 1, 2):
        sums = raydex.aggregate(raydex.build(np.arange(size)), np.arange(size) * 2.5)
        for other in ways(sums, tmp_path):
            same(sums, other, [0, 1, 5], [1, 1, 9])


def test_an_edited_or_closed_one_is_not_saved(tmp_path):
    index = raydex.build([5, 2, 5])
    sums = raydex.aggregate(index, [1, 2, 4])
    index.append([7])
    for write in (lambda: sums.save(tmp_path / "x"), lambda: pickle.dumps(sums), lambda: copy.copy(sums)):
        with pytest.raises(raydex.InvalidArgument, match="its index was edited"):
            write()
    with raydex.aggregate(index, [1, 2, 4, 8]) as other:
        pass
    with pytest.raises(raydex.InvalidArgument, match="aggregate: it is closed"):
        other.save(tmp_path / "x")
    again = raydex.aggregate(index, [1, 2, 4, 8])
    index.close()
    with pytest.raises(raydex.InvalidArgument, match="index: it is closed"):
        again.save(tmp_path / "x")
    assert not list(tmp_path.iterdir())


def test_a_copy_has_an_index_of_its_own(tmp_path):
    sums = raydex.aggregate(raydex.build([5, 2, 5]), [1, 2, 4])
    other = copy.deepcopy(sums)
    sums.index.close()
    assert other.sum(5) == 5
    other.index.append([5])
    with pytest.raises(raydex.InvalidArgument, match="its index was edited"):
        other.sum(5)


def test_rows_that_were_appended_before(tmp_path):
    index = raydex.build([5, 2])
    index.append([None, 5])
    sums = raydex.aggregate(index, [1, 2, 4, 8])
    for other in ways(sums, tmp_path):
        assert other.sum([5, 2]).tolist() == [9, 2]
        assert other.index.append([5]) == range(4, 5)


def test_another_process_opens_it(tmp_path):
    path = tmp_path / "prices.sums"
    raydex.aggregate(raydex.build(["ann", "bob", "ann", "a long name"]), [1, 2, 4, 8]).save(path)
    for verify in ("True", "False"):
        said = subprocess.run(
            [sys.executable, "-c",
             f"import raydex; print(raydex.load({str(path)!r}, verify={verify}).sum(['ann', 'a long name']).tolist())"],
            capture_output=True, text=True, check=True,
        )  # fmt: skip
        assert said.stdout == "[5, 8]\n"


def test_damaged_and_strange_files(tmp_path):
    path = tmp_path / "a.sums"
    sums = raydex.aggregate(raydex.build(NUMBERS), NUMBERS)
    sums.save(path)
    expect_damage_refused(path, 97, lambda other: same(sums, other, [-60, 3, 0], [60, 9, -1]))
    index, native = sums.index, sums._native
    for facts in ({}, {"values": 7}, {"values": {}}, {"values": None}):
        note = index._note(facts)
        path.write_bytes(native.to_bytes(index._native, index._session, 0, note))
        with pytest.raises(raydex.InvalidArgument, match="section 'note': it is none of an aggregate"):
            raydex.load(path)
    path.write_bytes(native.to_bytes(index._native, index._session, 0, b"of a program in C++"))
    other = raydex.load(path)
    assert other.sum(3) == sums.sum(3)
    assert _kept.facts_of(b"of a program in C++") is None


def test_it_is_saved_while_others_ask(tmp_path):
    sums = raydex.aggregate(raydex.build(NUMBERS), NUMBERS)
    expected = sums.sum([-50], [50])
    wrong = []

    def ask():
        for _ in range(200):
            if not np.array_equal(sums.sum([-50], [50]), expected):
                wrong.append(1)

    threads = [threading.Thread(target=ask) for _ in range(3)]
    for one in threads:
        one.start()
    for i in range(5):
        sums.save(tmp_path / str(i))
    for one in threads:
        one.join()
    assert not wrong
    assert all(np.array_equal(raydex.load(tmp_path / str(i)).sum([-50], [50]), expected) for i in range(5))
