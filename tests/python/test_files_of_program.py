# SPDX-License-Identifier: Apache-2.0
"""Files of indexes that go between the program and the package, in both directions."""

import datetime
import decimal
import json
import pathlib
import subprocess
import uuid

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
import raydex
from raydex import _kept

UTC = datetime.timezone.utc
PROGRAM = pathlib.Path(raydex.__file__).with_name("bin") / "raydex"


def run(folder, *words, text=None):
    done = subprocess.run([PROGRAM, *words], cwd=folder, input=text, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout, done.stderr


def answer(folder, *words, **settings):
    """The cells that a query of a file prints."""
    status, text, error = run(folder, "query", "--index", "an.index", *words, "--out", "-", **settings)
    assert (status, error) == (0, "")
    return text.split("\n")[1:-1]


def refused(folder, *words):
    status, text, error = run(folder, *words)
    assert (status, text) == (2, "") and error.startswith("raydex: ") and error.count("\n") == 1
    return error


def saved(folder, column, **options):
    with raydex.build(column, **options) as index:
        index.save(folder / "an.index")


def table(folder, name, **columns):
    pd.DataFrame(columns).to_csv(folder / name, index=False)


def count(index, *probes):
    return index.count(*probes).tolist()


# From the program to Python

@pytest.mark.parametrize(
    ("cells", "key", "points", "counts"),
    [
        (["5", "3", "", "5"], "int64", [5, 3, 4, 5.5], [2, 1, 0, 0]),
        (["0.5", "NA", "2", "0.5"], "double", [0.5, 2, 3], [2, 1, 0]),
        (["ann", "bob", "", "ann"], "bytes3", ["ann", "bob", "bobby"], [2, 1, 0]),
        (["somebody else", "x", "", "x"], "strings", ["x", "somebody else", "somebody"], [2, 1, 0]),
        (["2024-01-31", "2024-02-01", "", "2024-01-31"], "int64",
         np.array(["2024-01-31", "2024-02-01", "2024-02-02"], "M8[D]"), [2, 1, 0]),
        (["2024-01-31T01:00+01:00", "2024-02-01T00:00Z"], "datetime64[ns, tz]",
         [datetime.datetime(2024, 1, 31, tzinfo=UTC), datetime.datetime(2024, 2, 2, tzinfo=UTC)], [1, 0]),
    ],
)
def test_the_program_writes(tmp_path, cells, key, points, counts):
    (tmp_path / "t.csv").write_text("key,row\n" + "".join(f'"{cell}",{i}\n' for i, cell in enumerate(cells)))
    assert run(tmp_path, "query", "--keys", "t.csv:key", "--save-index", "an.index") == (0, "", "")
    with raydex.load(tmp_path / "an.index") as index:
        assert index.info.key == key and index.info.n == len(cells)
        assert count(index, points) == counts
        index.save(tmp_path / "an.index")
    # And back, to a query as if nothing had happened.
    asked = answer(tmp_path, "--points", "t.csv:key", "--result", "count")
    assert asked == [str(cells.count(cell) if cell not in ("", "NA") else 0) for cell in cells]


def test_the_program_writes_times_that_are_times(tmp_path):
    table(tmp_path, "t.csv", key=["2024-01-31T09:30:00.000000001"])
    assert run(tmp_path, "query", "--keys", "t.csv:key", "--save-index", "an.index")[0] == 0
    with raydex.load(tmp_path / "an.index") as index:
        assert count(index, np.array(["2024-01-31T09:30:00.000000001", "2024-01-31T09:30:00"], "M8[ns]")) == [1, 0]
        assert count(index, "2024-01-31T09:00", "2024-01-31T10:00") == 1
        with pytest.raises(raydex.InvalidType):
            index.count([5])


@pytest.mark.parametrize("dtype", ["u4", "u8", "i4", "i8", "f4", "f8", "S1", "S5", "S8"])
def test_the_program_writes_arrays(tmp_path, random, dtype):
    keys = random.integers(0, 9, 100).astype(dtype)
    np.save(tmp_path / "k.npy", keys)
    assert run(tmp_path, "query", "--keys", "k.npy", "--save-index", "an.index")[0] == 0
    with raydex.load(tmp_path / "an.index") as index:
        different, counts = np.unique(keys, return_counts=True)
        assert count(index, different) == counts.tolist()


def test_the_program_writes_several_columns(tmp_path):
    table(tmp_path, "t.csv", store=["a", "bb", "a"], day=["2024-01-01", "2024-01-02", "2024-01-03"])
    assert run(tmp_path, "query", "--keys", "t.csv:store,day", "--save-index", "an.index")[0] == 0
    with raydex.load(tmp_path / "an.index") as index:
        assert isinstance(index, raydex.CompositeIndex)
        asked = pd.DataFrame({"day": pd.to_datetime(["2024-01-03", "2024-01-02"]), "store": ["a", "a"]})
        assert count(index, asked) == [1, 0]  # by names
        assert count(index, (["a", "bb", "c"],)) == [2, 1, 0]
    np.save(tmp_path / "k.npy", np.arange(3))
    assert run(tmp_path, "query", "--keys", "k.npy,k.npy", "--save-index", "an.index")[0] == 0
    with raydex.load(tmp_path / "an.index") as index:
        assert count(index, ([0, 1], [0, 2])) == [1, 0]


# From Python to the program

KEYS = {
    "ints": (np.array([5, 3, 9, 3, -2]), "int64"),
    "missing": (pd.array([5, None, 3, 5], "Int64"), "int64"),
    "floats": (np.array([0.5, np.nan, -1, 0.5]), "double"),
    "short texts": (["ann", "bob", "ann"], "bytes3"),
    "long texts": (["somebody else", "nobody in sight", "x", "somebody else"], "strings"),
    "days": (np.array(["2024-01-31", "NaT", "2023-05-01"], "M8[D]"), "datetime64[D]"),
    "seconds": (np.array(["1960-01-31T09:30:01", "2024-02-01"], "M8[s]"), "datetime64[s]"),
    "steps": (np.array(["1960-01-31T09:30:25", "2024-02-01"], "M8[25s]"), "datetime64[25s]"),
    "times": (np.array(["1960-01-31T09:30:00.5", "2024-02-01"], "M8[us]"), "datetime64[us]"),
    "Arrow's days": (pd.array([datetime.date(1960, 1, 31), datetime.date(2024, 1, 1)], "date32[pyarrow]"), "date32"),
    "zoned": ([datetime.datetime(2024, 1, 31, tzinfo=UTC)], "datetime64[us, tz]"),
}


@pytest.mark.parametrize("kind", KEYS)
def test_python_writes(tmp_path, kind):
    keys, name = KEYS[kind]
    saved(tmp_path, keys)
    facts = json.loads(run(tmp_path, "info", "an.index", "--json")[1])
    assert facts["key"] == name and facts["rows"] == len(keys)
    cells = pd.Series(np.datetime_as_string(keys) if kind == "steps" else keys)
    cells = cells.map(lambda one: one.isoformat() if hasattr(one, "isoformat") and not pd.isna(one) else one)
    cells.to_csv(tmp_path / "p.csv", index=False, header=["point"])
    with raydex.load(tmp_path / "an.index") as index:
        expected = [str(one) for one in count(index, keys)]
    if kind == "floats":  # a missing field is none
        expected[1] = "0"
    assert answer(tmp_path, "--points", "p.csv:point", "--result", "count") == expected


@pytest.mark.parametrize(
    ("unit", "zoned"),
    [(unit, False) for unit in ("W", "D", "h", "m", "s", "ms", "us", "ns", "7s")]
    + [(unit, True) for unit in ("s", "ms", "us", "ns")],
)
def test_times_of_other_units(tmp_path, random, unit, zoned):
    """Beside pandas, whose times are in nanoseconds."""
    wide = random.integers(-3 * 10**17, 3 * 10**17, 200).astype("M8[ns]")
    keys = wide.astype(f"M8[{unit}]")
    exact = np.sort(keys.astype("M8[ns]"))
    saved(tmp_path, pd.Series(keys).dt.tz_localize("UTC") if zoned else keys)
    points = np.concatenate([wide, exact, exact + 1, exact - 1])
    lower, upper = random.permutation(points), random.permutation(points)
    zone = "Z" if zoned else ""
    table(tmp_path, "p.csv", **{name: [f"{one}{zone}" for one in np.datetime_as_string(cells)]
                                for name, cells in [("p", points), ("low", lower), ("high", upper)]})
    left, right = np.searchsorted(exact, points, "left"), np.searchsorted(exact, points, "right")
    asked = ["--points", "p.csv:p", "--result"]

    def of(cells):
        return [str(one) for one in cells]

    assert answer(tmp_path, *asked, "count") == of(right - left)
    assert answer(tmp_path, *asked, "rank") == of(left)
    assert answer(tmp_path, *asked, "rank_right") == of(right)
    ordered = keys.astype("M8[ns]")
    first = {one: int(np.flatnonzero(ordered == one)[0]) for one in exact}

    def rows(places):
        return [str(first[exact[at]]) if 0 <= at < len(exact) else "" for at in places]

    assert answer(tmp_path, *asked, "predecessor") == rows(right - 1)
    assert answer(tmp_path, *asked, "successor") == rows(left)
    assert answer(tmp_path, "--strict", *asked, "predecessor") == rows(left - 1)
    assert answer(tmp_path, "--strict", *asked, "successor") == rows(right)
    within = np.searchsorted(exact, upper, "right") - np.searchsorted(exact, lower, "left")
    assert answer(tmp_path, "--ranges", "p.csv:low,high", "--result", "count") == of(np.maximum(within, 0))
    text = (tmp_path / "p.csv").read_text()
    assert answer(tmp_path, "--points", "-:p", "--result", "count", text=text) == of(right - left)


def test_python_writes_several_columns(tmp_path):
    frame = pd.DataFrame({"store": ["a", "bb", "a"], "day": pd.to_datetime(["2024-01-01", "2024-01-02", "2024-01-03"])})
    saved(tmp_path, frame)
    assert json.loads(run(tmp_path, "info", "an.index", "--json")[1])["key"] == "bytes2,datetime64[us]"
    times = ["2024-01-01", "2024-01-02", "2024-01-02T00:00:00.0000001", "2024-01-02", "2024-01-01"]
    table(tmp_path, "p.csv", s=["a", "a", "bb", "bbb", ""], t=times)
    assert answer(tmp_path, "--points", "p.csv:s,t", "--result", "count") == ["1", "0", "0", "0", "0"]
    assert answer(tmp_path, "--points", "p.csv:s", "--result", "count") == ["2", "2", "1", "0", "0"]
    assert answer(tmp_path, "--prefixes", "p.csv:s", "--result", "count") == ["2", "2", "1", "0", "0"]
    table(tmp_path, "r.csv", s=["a", "bb"], low=["2024-01-01T00:00:00.0000001", "2024-01-01"],
          high=["2024-01-03T00:00:00.0000001", "2024-01-01T23:59:59.9999999"])
    assert answer(tmp_path, "--ranges", "r.csv:s,low,high", "--result", "count") == ["1", "0"]


def test_edits_of_what_python_wrote(tmp_path):
    saved(tmp_path, pd.to_datetime(["2024-01-01", "2024-01-02"]).astype("M8[us]"))
    table(tmp_path, "n.csv", t=["2024-01-01", "2024-01-05"], row=[7, 8])
    words = ["--insert", "n.csv:t", "--insert-rows", "n.csv:row:u4", "--save-index", "an.index"]
    assert run(tmp_path, "query", "--index", "an.index", *words) == (0, "", "")
    with raydex.load(tmp_path / "an.index") as index:
        assert count(index, np.array(["2024-01-01", "2024-01-02", "2024-01-05"], "M8[s]")) == [2, 1, 1]
    table(tmp_path, "n.csv", t=["2024-01-01T00:00:00.000000001"], row=[9])
    assert "lies between two values" in refused(tmp_path, "query", "--index", "an.index", *words)


@pytest.mark.parametrize("structure", ["btree", "hash_open"])
def test_values_beyond_those_of_several_columns(tmp_path, structure):
    """They have the columns packed anew; what is erased goes first."""
    days = np.array(["2024-01-01", "2024-01-02", "2024-01-03"], "M8[D]")
    saved(tmp_path, {"store": [5, 6, 5], "day": days}, structure=structure)
    table(tmp_path, "n.csv", store=[7, 6], day=["2024-02-01", "2024-01-02"], row=[3, 4])
    table(tmp_path, "e.csv", store=[6], day=["2024-01-02"])
    words = ["--insert", "n.csv:store,day", "--insert-rows", "n.csv:row:u4", "--erase", "e.csv:store,day"]
    asked = ["--points", "n.csv:store,day", "--result", "first", "--out", "-"]
    assert run(tmp_path, "query", "--index", "an.index", *words, "--save-index", "an.index", *asked)[:2] == (
        0, "first\n3\n4\n")  # fmt: skip
    with raydex.load(tmp_path / "an.index") as index:
        assert (index.info.structure, len(index)) == (structure, 4)
        all_days = [*days, np.datetime64("2024-02-01")]
        assert index.first({"store": [5, 6, 5, 7], "day": all_days}).tolist() == [0, 4, 2, 3]
        assert index.append({"store": [1], "day": days[:1]}) == range(5, 6)


def test_what_does_not_go_with_values_beyond(tmp_path):
    saved(tmp_path, (np.array([0, 2**32 - 1], "u4"), np.array([0, 2**32 - 2], "u4")))
    table(tmp_path, "n.csv", a=[0], b=[2**32 - 1], row=[2])
    words = ["query", "--index", "an.index", "--insert", "n.csv:a:u4,b:u4", "--insert-rows", "n.csv:row:u4"]
    asked = ["--points", "n.csv:a:u4,b:u4", "--out", "-", "--result"]
    line = refused(tmp_path, *words, *asked, "first", "--erase", "n.csv:a:u4,b:u4", "--erase-rows", "n.csv:row:u4")
    assert line.startswith("raydex: --erase-rows: ") and "a call of its own" in line
    assert run(tmp_path, *words, *asked, "first")[:2] == (0, "first\n2\n")
    line = refused(tmp_path, *words, *asked, "rank_right")
    assert line.startswith("raydex: --result rank_right: ") and "each number of their bits" in line


def test_columns_that_a_dictionary_numbers_from_then_on(tmp_path):
    """The file stays as it was, since none keeps them."""
    saved(tmp_path, ([0, 1], [0, 1]))
    before = (tmp_path / "an.index").read_bytes()
    table(tmp_path, "n.csv", a=[2**62 + 1, -(2**61)], b=[-(2**62), 2**61 + 1], row=[2, 3])
    words = ["--insert", "n.csv:a,b", "--insert-rows", "n.csv:row:u4"]
    assert answer(tmp_path, *words, "--points", "n.csv:a,b", "--result", "first") == ["2", "3"]
    line = refused(tmp_path, "query", "--index", "an.index", *words, "--save-index", "an.index")
    assert "a dictionary numbers columns of the key" in line
    assert (tmp_path / "an.index").read_bytes() == before


STRANGE = {
    "durations": (np.array([5, 7], "m8[ms]"), "timedelta64[ms]"),
    "months": (np.array(["2024-01"], "M8[M]"), "datetime64[M]"),
    "picoseconds": (np.array([5], "M8[ps]"), "datetime64[ps]"),
    "decimals": (pa.array([decimal.Decimal("1.50")]), "decimal(2)"),
    "long decimals": (pa.array([decimal.Decimal("123456789012345678901.5")]), "decimal(1)"),
    "bytes": (pa.array([b"ab"], pa.binary(2)), "bytes2"),
    "uuids": ([uuid.UUID(int=7)], "uuid"),
    "times of day": ([datetime.time(9, 30)], "time64[us]"),
}


@pytest.mark.parametrize("kind", STRANGE)
def test_what_only_python_asks(tmp_path, kind):
    column, name = STRANGE[kind]
    saved(tmp_path, column)
    np.save(tmp_path / "p.npy", np.arange(3))
    line = refused(tmp_path, "query", "--index", "an.index", "--points", "p.npy", "--result", "count", "--out", "-")
    assert line.startswith("raydex: an.index has keys that are ") and "raydex.load" in line
    assert name in json.loads(run(tmp_path, "info", "an.index", "--json")[1])["key"]


@pytest.mark.parametrize("options", [{"descending": True}, {"missing": "first"}])
def test_orders_that_only_python_asks(tmp_path, options):
    saved(tmp_path, ([1, 2], [3, 4]), **options)
    line = refused(tmp_path, "query", "--index", "an.index", "--save-index", "b")
    assert line.startswith("raydex: an.index has columns ") and "raydex.load" in line


def test_new_strings_that_the_program_inserts(tmp_path):
    saved(tmp_path, ["somebody else", "nobody in sight", "somebody else"])
    (tmp_path / "n.csv").write_text("key,row\nanother one,3\nsomebody else,4\nx,7\n")
    words = ["query", "--index", "an.index", "--insert", "n.csv:key", "--insert-rows", "n.csv:row:u4"]
    assert run(tmp_path, *words, "--save-index", "b.index")[0] == 0
    index = raydex.load(tmp_path / "b.index")
    assert index.rows("somebody else").rows.tolist() == [0, 2, 4]
    assert index.first(["another one", "x", "nobody in sight", "y"]).tolist() == [3, 7, 1, -1]
    assert index.count(raydex.starts_with(["some", ""])).tolist() == [3, 6]
    assert index.append(["y", "x"]) == range(8, 10)


def test_columns_of_dictionaries_that_only_python_asks(tmp_path):
    saved(tmp_path, ([2**60, -5], ["somebody else", "b"]))
    line = refused(tmp_path, "query", "--index", "an.index", "--save-index", "b")
    assert line.startswith("raydex: an.index has columns that a dictionary numbers") and "raydex.load" in line
    assert json.loads(run(tmp_path, "info", "an.index", "--json")[1])["key"] == "int64,strings"


def whole(**changes):
    return {"dtype": "<i8", "unit": "", "void": False, "whole": False, **changes}


COMPOSITE = {"names": ["a", "b"], "descending": [False] * 2, "missing": ["unmatched"] * 2, "keys": [whole(), whole()],
             "spans": [[9223372036854775808, 9223372036854775809, 1, 1]] * 2}


@pytest.mark.parametrize(
    "facts",
    [
        {}, {"key": None}, {"key": {}}, {"key": whole(dtype="<i4")}, {"key": whole(dtype="<q8")},
        {"key": whole(dtype=5)}, {"key": whole(dtype=None)}, {"key": whole(dtype=None), "strings": [1, 1]},
        {"key": whole(dtype=None), "strings": [2**63, 2**61]}, {"key": whole(dtype=None), "strings": "no"},
        {"composite": {}}, {"composite": {**COMPOSITE, "spans": []}}, {"composite": {**COMPOSITE, "names": ["a"]}},
        {"composite": {**COMPOSITE, "keys": [whole(), whole(dtype=None)]}},
        {"composite": {**COMPOSITE, "spans": [[0, 1, 1, 65]] * 2}},
        {"composite": {**COMPOSITE, "spans": [[0, 1, 0, 1]] * 2}},
        {"composite": {**COMPOSITE, "spans": [[-1, 1, 1, 1]] * 2}}, {"composite": COMPOSITE}, [], 5, "text",
        {"composite": {key: COMPOSITE[key] for key in ("names", "descending", "missing", "keys")}},
        {"composite": {"keys": [], "bytes": 0}}, {"composite": {"keys": [whole()], "bytes": 8}},
    ],
)  # fmt: skip
def test_notes_of_no_index(tmp_path, monkeypatch, facts):
    with raydex.build([1, 2]) as index, monkeypatch.context() as changed:
        note = _kept.note_of(facts)
        changed.setattr(index, "_note", lambda *_: note)
        index.save(tmp_path / "an.index")
    line = refused(tmp_path, "query", "--index", "an.index", "--save-index", "b")
    assert "an.index: section 'note': it is none of an index: " in line
    with pytest.raises(raydex.InvalidArgument):
        raydex.load(tmp_path / "an.index")


@pytest.mark.parametrize("size", [0, 16, 23, 24, 30])
def test_notes_that_are_cut_off(tmp_path, monkeypatch, size):
    with raydex.build([1, 2]) as index, monkeypatch.context() as changed:
        note = index._note()[:size]
        changed.setattr(index, "_note", lambda *_: note)
        index.save(tmp_path / "an.index")
    table(tmp_path, "p.csv", p=[1, 3])
    words = ["query", "--index", "an.index", "--points", "p.csv:p", "--result", "count", "--out", "-"]
    if size == 0:  # of a program in C++ that has no note
        assert run(tmp_path, *words) == (0, "count\n1\n0\n", "")
    else:
        assert "section 'note'" in refused(tmp_path, *words)


def test_files_with_runs(tmp_path):
    """The program refuses a file with runs, and what it writes beside some does not take them."""
    path = tmp_path / "an.index"
    saved(tmp_path, [5, 3])
    raydex.append_file(path, [5], share=None)
    table(tmp_path, "p.csv", p=[5, 7])
    asked = ["query", "--index", "an.index", "--points", "p.csv:p", "--result", "count", "--out", "-"]
    assert "an.index.run-1 that the program does not read" in refused(tmp_path, *asked)
    (tmp_path / "link").symlink_to(path)
    asked[2] = "link"
    assert "raydex.merge_file" in refused(tmp_path, *asked)
    raydex.merge_file(path)
    assert answer(tmp_path, "--points", "p.csv:p", "--result", "count") == ["2", "0"]
    # The note of a merge stays in what the program writes, and says nothing of the runs of another file.
    raydex.append_file(path, [5], share=None)
    (tmp_path / "an.index.run-1").rename(tmp_path / "kept.run-1")
    table(tmp_path, "n.csv", key=[7], row=[9])
    words = ["query", "--index", "an.index", "--insert", "n.csv:key", "--insert-rows", "n.csv:row:u4"]
    assert run(tmp_path, *words, "--save-index", "an.index")[0] == 0
    (tmp_path / "kept.run-1").rename(tmp_path / "an.index.run-1")
    with pytest.raises(raydex.InvalidArgument, match="an.index.run-1: facts: .*another file.*put that one back"):
        raydex.load(path)
    (tmp_path / "an.index.run-1").unlink()
    assert raydex.append_file(path, [5], share=None) == range(10, 11)


def test_no_keys(tmp_path):
    saved(tmp_path, [])
    table(tmp_path, "p.csv", p=[0.5, 1.5])
    assert answer(tmp_path, "--points", "p.csv:p", "--result", "count") == ["0", "0"]


# What the program does not ask

def test_it_says_what_other_files_have(tmp_path):
    keys = np.arange(50) % 7
    raydex.aggregate(raydex.build(keys, "sorted_array"), np.arange(50.0)).save(tmp_path / "a.sums")
    raydex.AsofIndex(keys, by=["a word"] * 50).save(tmp_path / "quotes")
    for name, known in (
        ("a.sums", {"structure": "sorted_array", "key": "int64", "rows": 50, "aggregate": True}),
        ("quotes", {"structure": "asof_join", "times": "int64", "rows": 50}),
    ):
        for more in ([], ["--no-verify"]):
            status, text, error = run(tmp_path, "info", name, "--json", *more)
            assert (status, error) == (0, "")
            assert known.items() <= json.loads(text).items()
        asked = ["--points", "-", "--result", "count", "--out", "-"]
        assert "raydex.load" in refused(tmp_path, "query", "--index", name, *asked)
        whole = (tmp_path / name).read_bytes()
        (tmp_path / name).write_bytes(whole[:300] + bytes([whole[300] ^ 1]) + whole[301:])
        assert "its checksum is another one" in refused(tmp_path, "info", name)
