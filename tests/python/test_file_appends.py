# SPDX-License-Identifier: Apache-2.0
"""Files of indexes that grow: with its runs one answers as an index that was built over the whole column."""

import datetime
import decimal
import errno
import fcntl
import math
import os
import tempfile
import uuid

import numpy as np
import pyarrow as pa
import pytest
import raydex
from growing_files import content, rows_of, runs_in
from hypothesis import given
from hypothesis import strategies as st
from raydex import _appending

STRUCTURES = sorted({one.name for one in raydex.structures() if one.backend == "cpu" and "rmq" not in one.name})
UTC = datetime.timezone.utc


def matching(cells, points):
    """The rows of each point, by a look at all cells."""
    return [[row for row, cell in enumerate(cells) if cell == point] for point in points]


KINDS = {
    "integers": ([5, 3], [3, None, -2], [9, 5]),
    "narrow": (pa.array([5, 3], pa.uint32()), pa.array([3, None], pa.uint32())),
    "floats": ([0.5, -1.0], [None, 0.5], [math.inf]),
    "bools": (pa.array([True, False]), pa.array([True, None])),
    "short texts": (["ann", "bob"], ["ann", None, ""], ["somebody"]),
    "texts that become long": (["ann", "bob"], ["ann", "nobody in sight", None], ["x"]),
    "long texts": (["somebody else", "nobody in sight"], ["x", "", "somebody else"], [None, "a third one, and é"]),
    "bytes": (pa.array([b"ab", b"c\0"], pa.binary(2)), pa.array([b"c\0", None], pa.binary(2))),
    "days": ([datetime.date(2026, 1, 2), None], [datetime.date(2026, 1, 2), datetime.date(1969, 1, 1)]),
    "times": (pa.array([5, 7], pa.timestamp("ms")), pa.array([7, None], pa.timestamp("ms"))),
    "durations": (pa.array([5, 7], pa.duration("us")), pa.array([7, None], pa.duration("us"))),
    "zoned": ([datetime.datetime(2024, 1, 31, tzinfo=UTC)], [None, datetime.datetime(2024, 1, 31, tzinfo=UTC)]),
    "decimals": ([decimal.Decimal("1.50"), decimal.Decimal("2.25")], [None, decimal.Decimal("1.50")]),
    "long decimals": ([decimal.Decimal("123456789012345678901.5")], [decimal.Decimal("2.5"), None]),
    "uuids": ([uuid.UUID(int=7), uuid.UUID(int=2**100)], [uuid.UUID(int=7), None], [uuid.UUID(int=8)]),
    "no rows at first": (pa.array([], pa.int64()), [7, 8], [7]),
    "missing at last": ([5], [None, None], [5, None]),
}


def as_cells(batch):
    return batch.to_pylist() if isinstance(batch, pa.Array) else list(batch)


@pytest.mark.parametrize("kind", KINDS)
def test_all_kinds_of_keys(kind, path, own_runs):
    batches = KINDS[kind]
    raydex.build(batches[0]).save(path)
    cells = as_cells(batches[0])
    for number, batch in enumerate(batches[1:], 1):
        assert raydex.append_file(path, batch, share=None) == range(len(cells), len(cells) + len(batch))
        cells += as_cells(batch)
        assert runs_in(path.parent) == [f"an.index.run-{i}" for i in range(1, number + 1)]
    points = [cell for cell in cells if cell is not None]
    expected = matching(cells, points)
    if isinstance(batches[0], pa.Array):
        points = pa.array(points, batches[0].type)
    for verify in (True, False):
        with raydex.load(path, verify=verify) as index:
            assert rows_of(index, points) == expected
            assert index.append(points) == range(len(cells), len(cells) + len(points))
    raydex.merge_file(path)
    assert runs_in(path.parent) == []
    with raydex.load(path) as index:
        assert rows_of(index, points) == expected
    assert raydex.append_file(path, points, share=0) == range(len(cells), len(cells) + len(points))


@pytest.mark.parametrize("keys", [["somebody else", None, "nobody in sight"], [uuid.UUID(int=i) for i in (5, 7)]])
def test_strings_that_are_found_by_a_hash(keys, path, own_runs, monkeypatch):
    raydex.build(keys, "hash_open").save(path)
    more = [keys[0], None, uuid.UUID(int=8) if len(keys) == 2 else "x"]
    monkeypatch.setattr(_appending, "opened", lambda *_: pytest.fail("the index was opened"))
    for begin in (len(keys), len(keys) + 3):
        assert raydex.append_file(path, more, share=None) == range(begin, begin + 3)
    cells = [*keys, *more, *more]
    points = [one for one in cells if one is not None]
    with raydex.load(path) as index:
        assert index.info.structure == "hash_open" and rows_of(index, points) == matching(cells, points)


@pytest.mark.parametrize("structure", STRUCTURES)
def test_all_structures(structure, path, own_runs, random):
    keys = random.integers(0, 100, 600)
    raydex.build(keys[:200], structure).save(path)
    for begin, end in ((200, 300), (300, 301), (301, 301), (301, 500), (500, 600)):
        assert raydex.append_file(path, keys[begin:end], share=None) == range(begin, end)
    expected = [np.flatnonzero(keys == point).tolist() for point in range(100)]
    assert len(runs_in(path.parent)) == 4 and content(path) == content(path, verify=False) == expected
    raydex.merge_file(path)
    with raydex.load(path) as index:
        assert index.info.structure == structure and rows_of(index, np.arange(100)) == expected


VALUES = {
    "int": st.one_of(st.integers(-3, 3), st.integers(-(2**63), 2**63 - 1)),
    "day": st.dates(datetime.date(2026, 1, 1), datetime.date(2027, 1, 1)),
    "float": st.sampled_from([0.0, 1.0, 2.0, -7.5, 1e300, math.inf]),
    "text": st.sampled_from(["", "a", "abcdefgh", "abcdefghi", "a long one of a shop", "é" * 9]),
    "zoned": st.datetimes(datetime.datetime(2026, 1, 1), datetime.datetime(2027, 1, 1), timezones=st.just(UTC)),
    "decimal": st.sampled_from([decimal.Decimal(one) for one in ("0.00", "1.50", "-2.25", "1234.00")]),
}
ARROW = {
    "int": pa.int64(), "day": pa.date32(), "float": pa.float64(), "text": pa.string(),
    "zoned": pa.timestamp("us", "UTC"), "decimal": pa.decimal128(9, 2),
}  # fmt: skip


@st.composite
def growths(draw):
    """The kinds of columns, and batches of keys, each with what is done: a share, or a merge behind it, or an append in
    memory."""
    kinds = draw(st.lists(st.sampled_from(list(VALUES)), min_size=1, max_size=3))
    cells = st.tuples(*(st.one_of(st.none(), VALUES[kind]) for kind in kinds))
    steps = st.tuples(st.lists(cells, max_size=5), st.sampled_from([None, 0.5, 0, "merge", "save"]))
    keys, steps = draw(st.lists(cells, max_size=5)), draw(st.lists(steps, min_size=1, max_size=4))
    return (kinds, keys, steps, draw(st.booleans()))


@given(growths())
def test_a_model_of_any_growth(growth):
    kinds, keys, steps, are_small = growth

    def in_columns(some):
        columns = tuple(pa.array([key[p] for key in some], ARROW[kind]) for p, kind in enumerate(kinds))
        return columns if len(kinds) > 1 else columns[0]

    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        if not are_small:
            patch.setattr(_appending, "_SMALL", 0)
        path = os.path.join(folder, "an.index")
        raydex.build(in_columns(keys)).save(path)
        for batch, how in steps:
            expected = range(len(keys), len(keys) + len(batch))
            if how == "save":
                with raydex.load(path) as index:
                    assert index.append(in_columns(batch)) == expected
                    index.save(path)
            else:
                share = None if how == "merge" else how
                assert raydex.append_file(path, in_columns(batch), share=share) == expected
            if how == "merge":
                raydex.merge_file(path)
            if how in ("merge", "save"):
                assert os.listdir(folder) == ["an.index"]
            keys = [*keys, *batch]
        points = in_columns(keys)
        with raydex.load(path) as index, raydex.build(points) as whole:
            np.testing.assert_array_equal(index.rank(points), whole.rank(points))
            assert rows_of(index, points) == rows_of(whole, points)
            assert index.append(points) == range(len(keys), 2 * len(keys))


# Rows, runs and merges


def test_rows_go_on_behind_the_largest_one(path, own_runs):
    index = raydex.build([5, 6], rows=[100, 7])
    index.append([None])
    index.save(path)
    assert raydex.append_file(path, [5, None], share=None) == range(102, 104)
    assert raydex.append_file(path, [None], share=None) == range(104, 105)
    assert raydex.append_file(path, [5], share=None) == range(105, 106)
    with raydex.load(path) as again:
        assert rows_of(again, [5, 6]) == [[100, 102, 105], [7]]
        assert again.append([5]) == range(106, 107)


def test_row_ids_of_64_bits(path):
    raydex.build([5], rows=np.array([2**63], "u8")).save(path)
    assert raydex.append_file(path, [6], share=None) == range(2**63 + 1, 2**63 + 2)
    with raydex.load(path) as index:
        assert index._native.info()[6] == 2**63 + 1
    raydex.build([5], rows=np.array([2**64 - 4], "u8")).save(path)
    assert raydex.append_file(path, [6, 6], share=None) == range(2**64 - 3, 2**64 - 1)
    with pytest.raises(raydex.InvalidArgument, match="row ids of 64 bits"):
        raydex.append_file(path, [6])


def test_no_more_rows_than_row_ids(path):
    raydex.build([5], rows=[2**32 - 4]).save(path)
    for share in (None, 0):
        with pytest.raises(raydex.InvalidArgument, match="row ids of 32 bits; build one over all of the column"):
            raydex.append_file(path, [5, 5, 5], share=share)
    assert runs_in(path.parent) == []
    assert raydex.append_file(path, [5, 5], share=None) == range(2**32 - 3, 2**32 - 1)
    with pytest.raises(raydex.InvalidArgument, match="row ids of 32 bits"):
        raydex.append_file(path, [5])
    with raydex.load(path) as index:
        assert index.count(5) == 3


def test_small_batches_share_a_run(path):
    raydex.build([1]).save(path)
    for row in range(1, 40):
        assert raydex.append_file(path, [row if row % 3 else None], share=None) == range(row, row + 1)
    assert runs_in(path.parent) == ["an.index.run-1"]
    raydex.append_file(path, np.full(200_000, 7), share=None)
    raydex.append_file(path, [8], share=None)
    assert runs_in(path.parent) == ["an.index.run-1", "an.index.run-2", "an.index.run-3"]
    with raydex.load(path) as index:
        assert index.rows([38, 8]).rows.tolist() == [38, 8, 200_040] and index.count(7) == 200_001


def test_a_share_of_the_rows_is_merged(path, own_runs):
    raydex.build(np.arange(80)).save(path)
    states = []
    for row in range(80, 102):
        assert raydex.append_file(path, [5]) == range(row, row + 1)
        states.append(len(runs_in(path.parent)))
    assert states == [*range(1, 11), 0, *range(1, 12)]
    assert content(path)[5] == [5, *range(80, 102)]


@pytest.mark.parametrize(("share", "error"), [
    (-0.1, raydex.InvalidArgument), (math.nan, raydex.InvalidArgument), ("0.5", raydex.InvalidType),
    (True, raydex.InvalidType), ([1], raydex.InvalidType),
])  # fmt: skip
def test_shares_that_are_none(share, error, path):
    raydex.build([1]).save(path)
    with pytest.raises(error, match="share: "):
        raydex.append_file(path, [1], share=share)


def test_paths(tmp_path, monkeypatch):
    (tmp_path / "there").mkdir()
    raydex.build([1]).save(tmp_path / "there" / "an.index")
    os.symlink(tmp_path / "there" / "an.index", tmp_path / "link")
    assert raydex.append_file(tmp_path / "link", [2], share=None) == range(1, 2)
    assert os.listdir(tmp_path / "there") != ["an.index"] and sorted(os.listdir(tmp_path)) == ["link", "there"]
    monkeypatch.chdir(tmp_path / "there")
    assert raydex.append_file("an.index", [2], share=None) == range(2, 3)
    assert raydex.append_file(b"./an.index", [2], share=None) == range(3, 4)
    assert content(tmp_path / "link")[2] == content("an.index")[2] == [1, 2, 3]
    with raydex.load(tmp_path / "link") as index:
        index.save("an.index")
    assert os.listdir(".") == ["an.index"] and content("an.index")[2] == [1, 2, 3]
    for call in (lambda name: raydex.append_file(name, [1]), raydex.merge_file):
        with pytest.raises(raydex.InvalidArgument, match="No such file"):
            call("none")
        with pytest.raises(raydex.InvalidArgument, match="No such file"):
            call(tmp_path / "none" / "x")
        for name in ("", "an.index\0junk"):
            with pytest.raises(raydex.InvalidArgument):
                call(name)
        with pytest.raises(raydex.InvalidType, match="path: int"):
            call(5)
    raydex.build([1]).save("x" * 255)
    assert content("x" * 255)[1] == [0]
    with pytest.raises(raydex.InvalidArgument, match="it cannot be written: File name too long"):
        raydex.append_file("x" * 255, [1], share=None)


def test_a_file_without_runs_costs_no_look_at_the_folder(path, monkeypatch):
    raydex.build([1]).save(path)
    monkeypatch.setattr(os, "listdir", lambda *_: pytest.fail("the folder was read"))
    assert content(path)[1] == [0]


# What is refused


@pytest.mark.parametrize(("column", "keys"), [
    ([1, 2], ["a"]), ([1, 2], [0.5]), ([1, 2], 1.5), (np.array([1, 2], "i4"), [2**40]), (["ann"], [5]),
    (["somebody else"], [5]), (np.array(["2024-01-31"], "M8[D]"), np.array(["2024-01-31T09:30"], "M8[m]")),
    ([uuid.UUID(int=7)], ["junk"]), ([decimal.Decimal("1.5")], [decimal.Decimal("1.55")]),
    ([datetime.datetime(2024, 1, 31, tzinfo=UTC)], [datetime.datetime(2024, 1, 31)]), ([], [5]), ([None], [5]),
    (pa.array([b"ab"], pa.binary(2)), pa.array([b"abc"], pa.binary(3))), ([1, 2], np.zeros((2, 2))),
    ([1, 2], {"a": [1]}), ([1, 2], object()), ([1, 2], raydex.starts_with(["a"])), ([1, 2], np.arange(4)[::-1]),
    (([1], [2]), [1]), (([1], [2]), ([1], ["a"])), (([1], [2]), ([1], [2], [3])), (([1], [2]), ([1], [0.5])),
    (([1], ["a"]), ([1], raydex.starts_with(["a"]))), (([1], []), ([1], [5])),
])  # fmt: skip
def test_keys_of_another_type(column, keys, path):
    try:
        index = raydex.build(column)
    except raydex.Error:
        index = raydex.build((column[0], [None]))
    index.save(path)
    with pytest.raises(raydex.Error) as expected:
        index.append(keys)
    with pytest.raises(raydex.Error) as found:
        raydex.append_file(path, keys, share=None)
    assert type(found.value) is type(expected.value)
    assert str(found.value).partition(":")[0] == str(expected.value).partition(":")[0]
    assert runs_in(path.parent) == []


def test_columns_of_a_key(path):
    days = np.array(["2026-01-05", "2026-01-06"], "M8[D]")
    raydex.build({"customer": [7, 9], "day": days}).save(path)
    assert raydex.append_file(path, {"day": days, "customer": [8, 9]}, share=None) == range(2, 4)
    assert raydex.append_file(path, (7, days + 1000), share=None) == range(4, 6)
    assert raydex.append_file(path, (7, "2026-01-05"), share=None) == range(6, 7)
    with pytest.raises(raydex.InvalidArgument, match="keys: columns of 1 and of 2 cells"):
        raydex.append_file(path, ([7], days), share=None)
    with pytest.raises(raydex.InvalidArgument, match="keys: its columns are customer, hour"):
        raydex.append_file(path, {"customer": [8], "hour": [9]}, share=None)
    with raydex.load(path) as index:
        assert index.rows([7]).rows.tolist() == [0, 6, 4, 5] and index.rows([8, 9]).rows.tolist() == [2, 1, 3]


def test_structures_that_do_not_take_any_keys(path):
    for structure, options, first, good, bad in (
        ("direct", {}, [1, 2, 3], [4], [10**6]),
        ("hash_open", {"repeats": "refused"}, [1, 2, 3], [4], [2]),
        ("pivot_tree", {"layout": "keys"}, [1, 2, 3], [4], [2]),
        ("rx", {"bits": "4/4/4", "scale": "0/0"}, np.array([1, 2, 3], "u4"), np.array([4], "u4"),
         np.array([2**31], "u4")),
    ):  # fmt: skip
        index = raydex.build(first, structure, **options)
        index.save(path)
        assert raydex.append_file(path, good, share=None) == index.append(good)
        with pytest.raises(raydex.Error) as expected:
            index.append(bad)
        for share in (None, 0):
            with pytest.raises(type(expected.value)):
                raydex.append_file(path, bad, share=share)
        assert raydex.append_file(path, good + 1 if structure == "rx" else [5], share=None) == range(4, 5)
        assert content(path)[1:6] == [[0], [1], [2], [3], [4]] or structure == "rx"
        raydex.load(path).save(path)


def test_files_that_take_no_rows(path):
    for one, kind in (
        (raydex.rmq([1, 2]), "minima"), (raydex.aggregate(raydex.build([1, 2]), [1, 2]), "an aggregate"),
        (raydex.AsofIndex([1, 2]), "an as-of index"),
    ):  # fmt: skip
        one.save(path)
        for call in (lambda: raydex.append_file(path, [1]), lambda: raydex.merge_file(path)):
            with pytest.raises(raydex.InvalidArgument, match=f"an.index: it has {kind}"):
                call()
    path.write_bytes(b"hello")
    with pytest.raises(raydex.InvalidArgument, match="an.index: header: "):
        raydex.append_file(path, [1])
    index = raydex.build([5, 3])
    index._native.save(index._session, 0, os.fsencode(path), b"")  # of a program in C++, without a note
    assert raydex.append_file(path, [3], share=None) == range(2, 3)
    assert content(path)[3] == [1, 2]


def test_file_systems_without_locks(path, monkeypatch):
    raydex.build([5]).save(path)

    def no_lock(*_):
        raise OSError(errno.ENOLCK, os.strerror(errno.ENOLCK))

    with monkeypatch.context() as patch:
        patch.setattr(fcntl, "flock", no_lock)
        with pytest.raises(raydex.Unsupported, match="an.index: it cannot be locked: No locks available"):
            raydex.append_file(path, [1])
        raydex.build([6]).save(path)
    assert content(path)[6] == [0]
