# SPDX-License-Identifier: Apache-2.0
"""Columns that grow: an index with appended keys answers as one over the whole column."""

import copy
import datetime
import pickle
import uuid

import numpy as np
import pyarrow as pa
import pytest
import raydex

STRUCTURES = sorted({one.name for one in raydex.structures() if one.backend == "cpu" and "rmq" not in one.name})


def rows_of(index, points):
    found = index.rows(points)
    return [sorted(found.rows[a:b].tolist()) for a, b in zip(found.offsets[:-1], found.offsets[1:])]


@pytest.mark.parametrize("structure", STRUCTURES)
def test_parts_are_the_whole_column(random, structure):
    keys = random.integers(-50, 50, 3000)
    index = raydex.build(keys[:1000], structure=structure)
    assert index.append(keys[1000:1001]) == range(1000, 1001)
    assert index.append(keys[1001:1001]) == range(1001, 1001)
    assert index.append(keys[1001:]) == range(1001, 3000)
    points = np.arange(-60, 60)
    assert rows_of(index, points) == [np.flatnonzero(keys == point).tolist() for point in points]


KINDS = {
    "numbers": [3.5, None, -1.0, 3.5, None],
    "times": [datetime.datetime(2026, 1, day, tzinfo=datetime.timezone.utc) for day in (3, 1, 2, 1, 4)],
    "texts": ["b", "a", "", "b", None],
    "long texts": ["a long text " * 3, None, "another long text", "a long text " * 3, "one that was not there"],
    "uuids": [uuid.UUID(int=number) for number in (5, 2**100, 5, 7, 2**127)],
    "nothing there": [None, None, 1, None, 2],
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("first", [1, 3, 5])
def test_keys_of_all_kinds(kind, first):
    cells = KINDS[kind]
    column = pa.array(cells, pa.int32()) if kind == "nothing there" else cells
    parts = [column[:first], column[first : first + 1], column[first + 1 :]]
    index = raydex.build(parts[0])
    seen = len(parts[0])
    for part in parts[1:]:
        assert index.append(part) == range(seen, seen + len(part))
        seen += len(part)
    points = [cell for cell in cells if cell is not None]
    assert rows_of(index, points) == [[row for row, cell in enumerate(cells) if cell == point] for point in points]


def test_columns_in_one_key():
    index = raydex.build(([1, 1, 2, 9], ["a", "b", "a", "c"]))
    assert index.append(([2, 1], ["a", "b"])) == range(4, 6)
    assert rows_of(index, ([1, 2], ["b", "a"])) == [[1, 5], [2, 4]]


def test_an_index_that_had_no_rows():
    index = raydex.build(np.empty(0, "i8"))
    assert index.append([7, 8]) == range(2)
    assert index.append([7]) == range(2, 3)
    assert rows_of(index, [7, 8]) == [[0, 2], [1]]


def test_rows_of_missing_keys_are_kept(tmp_path):
    index = raydex.build(([1, 2], ["a", "b"]))
    assert index.append((np.ma.array([2, 0], mask=[False, True]), ["a", "b"])) == range(2, 4)
    assert index.append((np.ma.array([0], mask=True), ["b"])) == range(4, 5)
    assert copy.copy(index).append(([1], ["a"])) == range(5, 6)
    index = raydex.build([5])
    assert index.append([None, None]) == range(1, 3)
    for again in (copy.deepcopy(index), pickle.loads(pickle.dumps(index))):
        assert again.append([5]) == range(3, 4)
        assert rows_of(again, [5]) == [[0, 3]]


def test_rows_go_on_behind_the_largest_one(tmp_path):
    index = raydex.build([5, 6], rows=[100, 7])
    index.erase([5])
    assert index.append([5]) == range(101, 102)
    index.save(tmp_path / "an.index")
    with raydex.load(tmp_path / "an.index") as again:
        assert again.append([5, None]) == range(102, 104)
        assert again.append([5]) == range(104, 105)
        assert rows_of(again, [5]) == [[101, 102, 104]]


def test_no_row_is_given_twice():
    for index in (raydex.build([5]), raydex.build(["a long text of one"]), raydex.build([5], "btree")):
        index.erase([5] if index.info.key != "strings" else ["a long text of one"])
        made = copy.copy(index)
        for one in (index, made):
            assert one.append([None]) == range(1, 2)
    index = raydex.build([5, 6])
    index.insert([None], [10])
    assert index.append([5]) == range(11, 12)
    index = raydex.build([5], rows=np.array([2**63], "u8"))
    assert index.append([6]) == range(2**63 + 1, 2**63 + 2)


def test_no_more_rows_than_row_ids():
    index = raydex.build([5], rows=[2**32 - 4])
    assert index.append([5, 5]) == range(2**32 - 3, 2**32 - 1)
    with pytest.raises(raydex.InvalidArgument, match="row ids of 32 bits; build one over all of the column"):
        index.append([5])
    assert index.count([5])[0] == 3


def test_torch_and_keys_of_another_type():
    torch = pytest.importorskip("torch")
    index = raydex.build(torch.tensor([3, 1]))
    assert index.append(torch.tensor([1])) == range(2, 3)
    with pytest.raises(raydex.InvalidType, match="keys"):
        index.append(["a"])
    assert index.append([3]) == range(3, 4)
