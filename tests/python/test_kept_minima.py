# SPDX-License-Identifier: Apache-2.0
"""Minima in files and pickles."""

import copy
import datetime
import os
import pickle
import subprocess
import sys

import numpy as np
import pyarrow as pa
import pytest
import raydex
from raydex import _kept
from test_kept import ways

VALUES = {
    "ints": np.array([5, 3, 9, 3, -2]),
    "narrow": np.array([5, 3, 9, 3, 2], "u4"),
    "bytes": np.array([5, 3, 9, 3, 2], "u1"),
    "extremes": np.array([np.iinfo("i8").min, np.iinfo("i8").max, 0, -1]),
    "unsigned": np.array([0, 2**64 - 1, 2**63], "u8"),
    "floats": np.array([0.5, np.nan, -np.inf, np.inf, -0.0]),
    "singles": np.array([0.5, np.nan, -1, np.inf], "f4"),
    "halves": np.array([0.5, 2, 1.5], "f2"),
    "days": np.array(["2024-01-31", "1969-05-02", "2023-05-01"], "M8[D]"),
    "durations": np.array([5, 7, 5], "m8[ms]"),
    "zoned": pa.array([datetime.datetime(2024, 1, 31)] * 3, pa.timestamp("us", "Europe/Paris")),
    "one": np.array([7]),
    "equal": np.full(300, 1.5),
    "nothing": np.array([], "f8"),
}

STRUCTURES = sorted({one.name for one in raydex.structures() if one.backend == "cpu" and one.minima})


def all_ranges(n):
    """Lower and upper ends, some beyond the array."""
    ends = np.arange(-1, min(n, 40) + 2)
    return np.repeat(ends, len(ends)), np.tile(ends, len(ends))


def same(one, other, extremes):
    a, b = one.info, other.info
    names = ["structure", "device", "value", "n", "extremes", "options", "resident_bytes"]
    if a.structure == "rmq_rx":
        names.remove("resident_bytes")  # Embree lays a scene out by how its threads come to run
    for name in names:
        assert getattr(a, name) == getattr(b, name)
    assert type(other) is raydex.Rmq
    lower, upper = all_ranges(a.n)
    for extreme in extremes:
        for name in (extreme, f"arg{extreme}"):
            expected, found = getattr(one, name)(lower, upper), getattr(other, name)(lower, upper)
            assert expected.dtype == found.dtype
            np.testing.assert_array_equal(expected, found)


@pytest.mark.parametrize("extremes", ["min", "max", "both"])
@pytest.mark.parametrize("kind", VALUES)
def test_all_kinds_of_values(kind, extremes, tmp_path):
    with raydex.rmq(VALUES[kind], extremes=extremes) as lows:
        for other in ways(lows, tmp_path):
            same(lows, other, ("min", "max") if extremes == "both" else (extremes,))
            other.close()
        assert os.listdir(tmp_path) == ["an.index"]


@pytest.mark.parametrize("ties", ["leftmost", "rightmost"])
@pytest.mark.parametrize("structure", STRUCTURES)
@pytest.mark.parametrize("size", [1, 15, 16, 17, 511, 513, 5000])
def test_all_structures_beside_numpy(structure, ties, size, tmp_path):
    random = np.random.default_rng(size)
    values = random.integers(0, 100, size + 3).astype("f4")[size % 4 :][:size]  # not aligned
    lower = random.integers(0, size, 200)
    upper = np.minimum(lower + random.integers(0, size, 200), size - 1)
    expected = np.array([values[a : b + 1].min() for a, b in zip(lower, upper)])
    turn = (lambda part: part) if ties == "leftmost" else (lambda part: part[::-1])
    found_at = np.array([turn(np.arange(a, b + 1))[turn(values[a : b + 1]).argmin()] for a, b in zip(lower, upper)])
    lows = raydex.rmq(values, structure, ties=ties)
    copies = list(ways(lows, tmp_path))
    lows.close()
    values[:] = -1  # which copies do not read
    for other in copies:
        np.testing.assert_array_equal(other.min(lower, upper), expected)
        np.testing.assert_array_equal(other.argmin(lower, upper), found_at)
        same(other, copy.deepcopy(other), ("min",))


def test_changed_values_are_kept(tmp_path):
    values = np.arange(1000.0)
    lows = raydex.rmq(values, extremes="both")
    values[500] = -7
    lows.refresh([500])
    for other in ways(lows, tmp_path):
        assert other.min(0, 999) == -7
        assert other.argmin([0, 600], [999, 700]).tolist() == [500, 600]
        assert other.max(400, 500) == 499
        with pytest.raises(raydex.InvalidArgument, match="that of a file; build another one"):
            other.refresh([3])


def test_a_file_may_be_replaced_while_it_is_open(tmp_path):
    path = tmp_path / "an.index"
    raydex.rmq(np.arange(10.0)).save(path)
    with raydex.load(path, verify=False) as old:
        raydex.rmq(np.arange(10.0) - 5).save(path)
        assert (old.min(2, 5), raydex.load(path).min(2, 5)) == (2, -3)
        old.save(path)  # over itself
    assert raydex.load(path).min(2, 5) == 2


def test_what_is_loaded_has_the_class_that_was_saved(tmp_path):
    path = tmp_path / "an.index"
    for one in (raydex.build([5, 2]), raydex.build(([5, 2], [1, 7])), raydex.rmq([5, 2])):
        one.save(path)
        assert type(raydex.load(path)) is type(one)
        one.close()
        with pytest.raises(raydex.InvalidArgument, match="closed"):
            one.save(path)
        with pytest.raises(raydex.InvalidArgument, match="closed"):
            pickle.dumps(one)
    with pytest.raises(AttributeError, match=r"save\(path\) writes it to a file"):
        raydex.rmq([5]).dump("x")


def test_what_no_file_is(tmp_path):
    path = tmp_path / "an.index"
    raydex.rmq(np.arange(100.0)).save(path)
    whole = path.read_bytes()
    cases = {
        whole[:-1]: "header: .*cut off", whole + b"x": "header: .*appended",
        whole[:300] + bytes([whole[300] ^ 1]) + whole[301:]: "section 'values': its checksum",
        whole[:-1] + bytes([whole[-1] ^ 1]): "directory: its checksum",
    }
    for changed, said in cases.items():
        path.write_bytes(changed)
        with pytest.raises(raydex.InvalidArgument, match=f"an.index: {said}"):
            raydex.load(path)
    with pytest.raises(raydex.InvalidType, match="path: int"):
        raydex.rmq([5]).save(5)
    with pytest.raises(raydex.InvalidArgument, match="it cannot be written"):
        raydex.rmq([5]).save(tmp_path / "none" / "x")
    assert raydex.rmq([5, 3]).save(path) is None
    assert raydex.load(path).min(0, 1) == 3


@pytest.mark.parametrize("change", [
    lambda facts: facts.clear(),
    lambda facts: facts["key"].update(dtype="<i4"),
    lambda facts: facts["key"].update(dtype="O"),
    lambda facts: facts["key"].update(dtype=None),
    lambda facts: facts["key"].update(unit="decimal(2)"),
    lambda facts: facts["key"].update(unit=None),
    lambda facts: facts.update(key=[]),
])  # fmt: skip
def test_notes_that_are_none(change):
    lows = raydex.rmq(np.arange(4, dtype="i8"))
    note = lows._keep(lambda session, stream, note: note)
    facts, end = _kept.facts_of(note)
    change(facts)
    kept = lows._native.to_bytes(lows._device.session(), 0, _kept.note_of(facts) + note[end:])
    with pytest.raises(raydex.InvalidArgument, match="section 'note': it is none of minima"):
        raydex.Rmq._of_bytes(kept, "cpu")


def test_extremes_that_a_note_makes_up():
    """Those that the structure itself has are there, and no others."""
    lows = raydex.rmq([5, 3], extremes="max")
    note = lows._keep(lambda session, stream, note: note)
    facts, _ = _kept.facts_of(note)
    for extremes in (["min", "max"], ["min"], None, 7):
        facts["extremes"] = extremes
        kept = lows._native.to_bytes(lows._device.session(), 0, _kept.note_of(facts))
        with raydex.Rmq._of_bytes(kept, "cpu") as other:
            assert (other.info.extremes, other.max(0, 1)) == ("max", 5)


def test_a_pickle_is_for_another_process(tmp_path):
    path = tmp_path / "p"
    path.write_bytes(pickle.dumps(raydex.rmq([5, 2, 8], extremes="both")))
    code = "import pickle, sys; lows = pickle.load(open(sys.argv[1], 'rb')); print(lows.min(0, 2), lows.max(0, 2))"
    done = subprocess.run([sys.executable, "-c", code, path], capture_output=True, text=True, check=True)
    assert done.stdout == "2 8\n"
