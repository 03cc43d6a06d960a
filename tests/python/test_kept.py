# SPDX-License-Identifier: Apache-2.0
"""Indexes in files and pickles."""

import copy
import datetime
import decimal
import os
import pickle
import subprocess
import sys
import uuid

import numpy as np
import pytest
import raydex
from raydex import _kept

KEYS = {
    "ints": np.array([5, 3, 9, 3, -2]),
    "narrow": np.array([5, 3, 9, 3, 2], "u4"),
    "floats": np.array([0.5, np.nan, -1, 0.5]),
    "halves": np.array([0.5, 2, 1.5], "f2"),
    "bools": np.array([True, False, True]),
    "short texts": ["ann", "bob", "ann"],
    "long texts": ["somebody else", "nobody in sight", "x", "", "somebody else"],
    "one text": ["of more than eight bytes"],
    "bytes": np.array([b"ab", b"cd"], "S5"),
    "days": np.array(["2024-01-31", "NaT", "2023-05-01"], "M8[D]"),
    "times": np.array(["2024-01-31T09:30", "2024-02-01T00:00"], "M8[ns]"),
    "durations": np.array([5, 7, 5], "m8[ms]"),
    "zoned": [datetime.datetime(2024, 1, 31, tzinfo=datetime.timezone.utc)],
    "decimals": [decimal.Decimal("1.50"), decimal.Decimal("2.25"), None],
    "long decimals": [decimal.Decimal("123456789012345678901.5"), decimal.Decimal("2.25")],
    "uuids": [uuid.UUID(int=7), uuid.UUID(int=2**100), uuid.UUID(int=7)],
    "missing": [None, 5, None, 5],
    "nothing": [],
}

STRUCTURES = sorted({one.name for one in raydex.structures() if one.backend == "cpu" and "rmq" not in one.name})


def ways(index, tmp_path):
    """The index, kept in each way."""
    path = tmp_path / "an.index"
    index.save(path)
    yield raydex.load(path)
    yield raydex.load(os.fspath(path), "cpu", verify=False)
    yield pickle.loads(pickle.dumps(index))
    yield copy.deepcopy([index])[0]
    yield copy.copy(index)


def expect_damage_refused(path, step, same):
    """Flips a bit of each `step`-th byte of a file; a byte between its parts may change, and then it is the `same`."""
    whole = path.read_bytes()
    for at in range(0, len(whole), step):
        path.write_bytes(whole[:at] + bytes([whole[at] ^ 4]) + whole[at + 1 :])
        try:
            other = raydex.load(path)
        except raydex.InvalidArgument as problem:
            assert any(part in str(problem) for part in ("section '", "header: ", "directory: "))
        else:
            same(other)


def same(index, other, column):
    one, two = index.info, other.info
    for name in ("structure", "device", "key", "row_id_bits", "n", "entries", "max_row_id", "options"):
        assert getattr(one, name) == getattr(two, name)
    assert type(index) is type(other)
    if len(column):
        np.testing.assert_array_equal(index.first(column), other.first(column))
        np.testing.assert_array_equal(index.rows(column).rows, other.rows(column).rows)


@pytest.mark.parametrize("kind", KEYS)
def test_all_kinds_of_keys(kind, tmp_path):
    column = KEYS[kind]
    with raydex.build(column) as index:
        for other in ways(index, tmp_path):
            same(index, other, column)
            other.close()
        assert os.listdir(tmp_path) == ["an.index"]


@pytest.mark.parametrize("structure", STRUCTURES)
@pytest.mark.parametrize("dtype", ["i4", "i8"])
def test_all_structures_beside_numpy(structure, dtype, tmp_path):
    random = np.random.default_rng(46)
    keys = random.integers(0, 3000, 5000).astype(dtype)
    points = np.arange(-5, 3005).astype(dtype)
    counts = np.array([np.count_nonzero(keys == point) for point in points])
    index = raydex.build(keys, structure)
    for other in ways(index, tmp_path):
        np.testing.assert_array_equal(other.count(points), counts)
        rows = other.rows(points[:50])
        for i, point in enumerate(points[:50]):
            begin, end = rows.offsets[i : i + 2]
            np.testing.assert_array_equal(np.sort(rows.rows[begin:end]), np.flatnonzero(keys == point))
        other.insert(np.array([4000], dtype), [5000])
        other.erase(points[10:20])
        assert other.first(np.array([4000], dtype)) == 5000
        assert other.count(points[8:22]).tolist() == [*counts[8:10], *[0] * 10, *counts[20:22]]
        again = copy.deepcopy(other)
        np.testing.assert_array_equal(again.count(points), other.count(points))
    np.testing.assert_array_equal(index.count(points), counts)


def test_edits_of_texts_go_on(tmp_path):
    names = ["somebody else", "nobody in sight", "somebody else"]
    index = raydex.build(names)
    for other in ways(index, tmp_path):
        other.insert(["new in the town"], [3])
        assert other.first(["new in the town", "nobody in sight"]).tolist() == [3, 1]
        assert other.count(raydex.starts_with(["some", "n"])).tolist() == [2, 2]
        again = copy.deepcopy(other)
        assert again.rows("new in the town").rows.tolist() == [3]


def test_several_columns(tmp_path):
    columns = {
        "customer": np.array([7, 7, 9, 7, 3], "i4"),
        "day": np.array(["2024-01-31", "2024-02-01", "2024-01-31", "2024-02-10", "NaT"], "M8[D]"),
    }
    index = raydex.build(columns, descending=(False, True), missing="last")
    for other in ways(index, tmp_path):
        assert isinstance(other, raydex.CompositeIndex)
        assert other.first(columns).tolist() == [0, 1, 2, 3, 4]
        assert other.count([7, 8]).tolist() == [3, 0]
        assert other.count((7, "2024-02-01"), (7, "2024-03-01")) == 2
        other.insert(([7], ["2024-02-01"]), [9])
        assert other.rows((7, "2024-02-01")).rows.tolist() == [1, 9]
        assert str(other.info.key) == str(index.info.key)


def test_columns_that_a_dictionary_numbers(tmp_path):
    """Strings, numbers that are far apart, and so many that the first ones are numbered together."""
    rng = np.random.default_rng(8)
    names = [f"customer number {i % 7}" if i % 5 else None for i in range(40)]
    far = rng.integers(-(2**62), 2**62, 40)
    few = rng.integers(0, 3, 40)
    for columns in ((names, far), (few, names), (far, far[::-1], names, far + 1, few, names)):
        index = raydex.build(columns, missing="last", descending=[p == 1 for p in range(len(columns))])
        points = tuple([one[i] for i in range(3, 40, 4)] for one in columns)
        expected, ranks = index.rows(points), index.rank(points)
        for other in ways(index, tmp_path):
            np.testing.assert_array_equal(other.rows(points).rows, expected.rows)
            np.testing.assert_array_equal(other.rank(points), ranks)
            np.testing.assert_array_equal(other.count(points[:1]), index.count(points[:1]))
            assert other.append(points) == range(40, 50)
            more = [list(zip(*points)).count(one) for one in zip(*points)]
            np.testing.assert_array_equal(other.count(points), index.count(points) + more)
            new = tuple(one[:1] for one in points[:-1]) + ([points[-1][0] + (1 if columns[-1] is not names else "!")],)
            assert other.append(new) == range(50, 51)
            assert other.first(new).tolist() == [50]


def test_notes_of_dictionaries_that_are_damaged():
    index = raydex.build((["a longer name", "b"], [2**60, -5]), descending=(True, False))
    note = index._note()
    facts, end = raydex._kept.facts_of(note)

    def loaded(note):
        return raydex.CompositeIndex._of_note(index._native, note, index._device, 0, None)

    assert loaded(note).first((["b"], [-5])).tolist() == [1]
    for behind in (b"", note[end:-1], note[end:] + b"x"):
        with pytest.raises(raydex.InvalidArgument, match="section 'note': .*dictionaries that are not all there"):
            loaded(note[:end] + behind)
    with pytest.raises(raydex.InvalidArgument, match="section 'note': .*bytes: they are none of a composite key"):
        loaded(note[:end] + bytes(len(note) - end))
    composite = facts["composite"]
    for changes, why in (
        ({"keys": composite["keys"][::-1]}, "other columns"),
        ({"keys": composite["keys"][:1]}, "without all that they are"),
        ({"descending": [False, False]}, "other columns"),
        ({"missing": ["first", "unmatched"]}, "other columns"),
    ):
        other = raydex._kept.note_of(facts | {"composite": composite | changes}) + note[end:]
        with pytest.raises(raydex.InvalidArgument, match=f"section 'note': .*{why}"):
            loaded(other)


def test_what_is_not_kept_says_so(tmp_path):
    index = raydex.build([1, 2], "rx", primitives="rows")
    for keep in (lambda one: one.save(tmp_path / "x"), pickle.dumps, copy.copy, copy.deepcopy):
        with pytest.raises(raydex.Unsupported, match="save: .*keep the column"):
            keep(index)
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("keys", [
    ["somebody else", None, "nobody in sight", "somebody else"], [uuid.UUID(int=i % 5) for i in range(9)],
])  # fmt: skip
def test_strings_that_are_found_by_a_hash(keys, tmp_path):
    index = raydex.build(keys, "hash_open", rows=np.arange(7, 7 + len(keys)))
    index.append([keys[0]])
    index.save(tmp_path / "x")
    for kept in (raydex.load(tmp_path / "x"), raydex.load(tmp_path / "x", verify=False),
                 pickle.loads(pickle.dumps(index)), copy.copy(index)):  # fmt: skip
        assert kept.info.structure == "hash_open" and kept.info.key == index.info.key
        assert kept.rows(keys).rows.tolist() == index.rows(keys).rows.tolist()
        assert kept.append(keys[-1:]).start == index._next_row
        with pytest.raises(raydex.Unsupported, match="rank: strings of any length are found by a hash"):
            kept.rank(keys[:1])


@pytest.mark.parametrize("begin", [0, 2**40])  # row ids of 32 and 64 bits
def test_nearly_all_strings_are_erased(begin, tmp_path):
    keys = [f"a text of many letters, {i}" for i in range(9000)]
    index = raydex.build(keys, "hash_open", rows=np.arange(begin, begin + 9000))
    index.erase(keys[1:-1])
    index.save(tmp_path / "x")
    for one in (index, raydex.load(tmp_path / "x"), raydex.load(tmp_path / "x", verify=False)):
        assert one.info.structure == "hash_open"
        assert one.first([keys[0], keys[1], keys[-1]]).tolist() == [begin, -1, begin + 8999]
        assert one.append(["new"]) == range(begin + 9000, begin + 9001) and one.count("new") == 1
        one.erase(keys[-1:])
        one.erase(["new"])
        assert one.append(keys[-2:]) == range(begin + 9001, begin + 9003)
        assert one.first([keys[0], keys[1], keys[-2], keys[-1]]).tolist() == [begin, -1, begin + 9001, begin + 9002]


def test_what_no_file_is(tmp_path):
    path = tmp_path / "an.index"
    raydex.build([1, 2, 3]).save(path)
    whole = path.read_bytes()
    for changed in (b"", b"hello", whole[:-1], whole + b"x", whole[:300] + bytes([whole[300] ^ 1]) + whole[301:]):
        path.write_bytes(changed)
        with pytest.raises(raydex.InvalidArgument, match="an.index: "):
            raydex.load(path).count([1])
            assert changed[:300] == whole[:300]  # a byte between sections
            raise raydex.InvalidArgument("an.index: ")
    with pytest.raises(raydex.InvalidArgument, match="No such file"):
        raydex.load(tmp_path / "none")
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(raydex.InvalidArgument, match="not a regular file"):
        raydex.load(tmp_path / "pipe")
    for name in ("", "an.index\0junk"):
        with pytest.raises(raydex.InvalidArgument, match="path: it is no name of a file"):
            raydex.load(name)
        with pytest.raises(raydex.InvalidArgument, match="path: it is no name of a file"):
            raydex.build([1]).save(name)
    os.symlink("around", tmp_path / "around")
    with pytest.raises(raydex.InvalidArgument, match="links lead in a circle"):
        raydex.build([1]).save(tmp_path / "around")
    raydex.build([1]).save(tmp_path / ("x" * 255))
    with pytest.raises(raydex.InvalidType, match="path: int"):
        raydex.load(5)
    with pytest.raises(raydex.InvalidType, match="path: list"):
        raydex.build([1]).save([])
    with pytest.raises(raydex.InvalidArgument, match="device"):
        raydex.load(path, "gpu")
    with pytest.raises(raydex.InvalidArgument, match="stream"):
        raydex.load(path, stream=7)
    with pytest.raises(raydex.InvalidType, match="verify"):
        raydex.load(path, verify="yes")
    index = raydex.build([1])
    index.close()
    with pytest.raises(raydex.InvalidArgument, match="closed"):
        index.save(path)


def noted(index, change):
    """The bytes of an index whose note says something else."""
    note = index._note()
    facts, end = _kept.facts_of(note)
    change(facts)
    return index._native.to_bytes(index._session, 0, _kept.note_of(facts) + note[end:])


@pytest.mark.parametrize("change", [
    lambda facts: facts.clear(),
    lambda facts: facts["key"].update(dtype="<i4"),
    lambda facts: facts["key"].update(dtype="O"),
    lambda facts: facts["key"].update(dtype=5),
    lambda facts: facts["key"].update(dtype=">i8"),
    lambda facts: facts["key"].update(dtype=None),
    lambda facts: facts["key"].update(unit="decimal(x)"),
    lambda facts: facts["key"].update(unit=None),
    lambda facts: facts["key"].update(unit="decimal(999999999)"),
    lambda facts: facts["key"].update(dtype="i8,("),
    lambda facts: facts["key"].update(dtype="<f8"),
    lambda facts: facts.update(key=[]),
])  # fmt: skip
def test_notes_of_others_are_refused(change):
    with pytest.raises(raydex.InvalidArgument, match="section 'note'"):
        raydex.Index._of_bytes(noted(raydex.build([1, 2]), change), "cpu")


def test_offsets_that_wrap_are_refused():
    index = raydex.build(["somebody else", "nobody in sight", "a third of them", "and a fourth one"])
    facts, end = _kept.facts_of(index._note())
    offsets, letters = index._words.strings()
    offsets = np.array([0, 2**63 - 1, -(2**63) + 10, -10, len(letters)])
    note = _kept.note_of(facts, (offsets, letters))
    with pytest.raises(raydex.InvalidArgument, match="strings that lie nowhere"):
        index._of_bytes(index._native.to_bytes(index._session, 0, note), "cpu")


@pytest.mark.parametrize("column", [[1, 2], [0.5, 2], [b"ab", b"cd"]])
def test_texts_are_not_of_other_codes(column):
    index, texts = raydex.build(np.array(column)), raydex.build(["somebody else", "nobody in sight"])
    with pytest.raises(raydex.InvalidArgument, match="section 'note'"):
        texts._of_bytes(index._native.to_bytes(index._session, 0, texts._note()), "cpu")


@pytest.mark.parametrize("sizes", [[5, 3], [-1, 3], [27, 0], [27, "x"], [2**62, 2**62], [float("inf"), 1], None])
def test_texts_that_are_not_there_are_refused(sizes):
    index = raydex.build(["somebody else", "nobody in sight"])
    with pytest.raises(raydex.InvalidArgument, match="section 'note'"):
        index._of_bytes(noted(index, lambda facts: facts.update(strings=sizes)), "cpu")


@pytest.mark.parametrize(
    "span", [[1, 0, 1, 0], [5, 3, 1, 2], [0, 7, 1, 4], [0, 2**63, 1, 2], [0, 7, 0, 3], [0, -1, 1, 3], [0]]
)
def test_spans_of_others_are_refused(span):
    index = raydex.build(([1, 8], [3, 30]))

    with pytest.raises(raydex.InvalidArgument, match="section 'note'"):
        type(index)._of_bytes(noted(index, lambda facts: facts.update(composite={})), "cpu")

    def change(facts):
        facts["composite"]["spans"][0] = span

    try:
        other = type(index)._of_bytes(noted(index, change), "cpu")
    except raydex.InvalidArgument:
        return
    other.first(([1], [3]))  # one that is no longer these columns', and no harm


def test_a_file_without_a_note_is_of_the_keys_themselves(tmp_path):
    for column in (np.array([5, 3], "u4"), np.array([0.5, 1]), np.array([b"ab", b"cd"])):
        index = raydex.build(column)
        path = os.fsencode(tmp_path / "x")
        index._native.save(index._session, 0, path, b"")
        same(index, raydex.load(path), column)


def test_another_process_opens_it(tmp_path):
    path = tmp_path / "an.index"
    raydex.build([5, 3, 9]).save(path)
    code = f"import raydex; print(raydex.load({os.fspath(path)!r}).first([9, 4]).tolist())"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert (done.stdout, done.returncode) == ("[2, -1]\n", 0), done.stderr
