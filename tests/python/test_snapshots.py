# SPDX-License-Identifier: Apache-2.0
"""Snapshots: an index as it was, whatever edits come."""

import copy
import threading

import numpy as np
import pytest
import raydex

STRUCTURES = sorted({one.name for one in raydex.structures() if one.backend == "cpu" and one.updates and one.points})


@pytest.mark.parametrize("structure", STRUCTURES)
def test_edits_do_not_reach_snapshots(structure):
    index = raydex.build([5, 7, 5], structure=structure)
    first = index.snapshot()
    index.append([5])
    second = index.snapshot()
    index.erase([7])
    assert [one.count([5, 7]).tolist() for one in (first, second, index)] == [[2, 1], [3, 1], [3, 0]]
    assert [len(one) for one in (first, second, index)] == [3, 4, 3]
    assert first.append([7]) == range(3, 4)
    assert [one.count([5, 7]).tolist() for one in (first, second, index)] == [[2, 2], [3, 1], [3, 0]]
    assert first.info.options == index.info.options


def test_memory_is_shared_until_an_edit():
    index = raydex.build(np.arange(100_000), "btree")
    one, other = index.snapshot(), index.snapshot()
    assert index._native is one._native is other._native
    index.erase([5])
    assert index._native is not one._native is other._native
    edited = index._native
    index.erase([6])  # alone now
    assert index._native is edited
    other.close()
    kept = one._native
    one.erase([7])
    assert one._native is kept
    assert (one.count(7), index.count(7)) == (0, 1)


@pytest.mark.parametrize("closed", [0, 1, 2])
def test_each_is_closed_by_itself(closed):
    index = raydex.build([5, 7])
    all_three = [index, index.snapshot()]
    all_three.append(all_three[1].snapshot())
    all_three[closed].close()
    for i, one in enumerate(all_three):
        if i == closed:
            with pytest.raises(raydex.InvalidArgument, match="closed"):
                one.count([5])
            with pytest.raises(raydex.InvalidArgument, match="closed"):
                one.snapshot()
        else:
            assert one.count([5])[0] == 1
            one.append([5])
            assert one.count([5])[0] == 2


def test_texts_and_columns():
    texts = raydex.build(["one of many letters", "another of them", "one of many letters"])
    before = texts.snapshot()
    texts.append(["a new one, which has a dictionary made anew"])
    texts.erase(["another of them"])
    assert before.count(["one of many letters", "another of them"]).tolist() == [2, 1]
    assert before.count(["a new one, which has a dictionary made anew"]).tolist() == [0]
    assert before.append(["another of them"]) == range(3, 4)

    columns = raydex.build({"customer": [1, 2, 3], "name": ["a long name of one", "b", "a long name of one"]})
    before = columns.snapshot()
    columns.erase(([3], ["a long name of one"]))
    columns.close()
    assert before.count(([3, 2], ["a long name of one", "b"])).tolist() == [1, 1]
    assert before.count([3]).tolist() == [1]


def test_copies_of_what_has_no_file():
    columns = raydex.build((["a long name of one", "b"], [1, 2]))
    hashed = raydex.build(["a long name of one", "b"], "hash_open")
    for index, points in ((columns, (["b"], [2])), (hashed, ["b"])):
        for made in (copy.copy(index), copy.deepcopy(index)):
            assert (made._native is index._native) is index._is_hashed
            assert made.first(points).tolist() == [1]
            made.close()
        assert index.first(points).tolist() == [1]


def test_what_stands_over_an_index():
    index = raydex.build([5, 7])
    before = index.snapshot()
    sums, kept = raydex.aggregate(index, [10, 20]), raydex.aggregate(before, [10, 20])
    index.append([9])
    with pytest.raises(raydex.InvalidArgument, match="edited after it was built"):
        sums.sum([5])
    assert kept.sum([5]).tolist() == [10]


def test_an_index_that_cannot_be_copied():
    index = raydex.build([5, 7], "rx", primitives="rows")
    before = index.snapshot()
    with pytest.raises(raydex.Unsupported):
        index.append([9])
    assert before.count([5]).tolist() == [1] == index.count([5]).tolist()


def test_threads_see_one_version_each():
    """Each round appends one row of each key, and erases them every fourth one."""
    keys = np.arange(300)
    index = raydex.build(keys, "btree")
    stop, problems = threading.Event(), []

    def read():
        try:
            while not stop.is_set():
                with index.snapshot() as one:
                    expected = len(one) // len(keys)
                    for _ in range(3):
                        np.testing.assert_array_equal(one.count(keys), expected)
        except BaseException as problem:
            problems.append(problem)

    readers = [threading.Thread(target=read) for _ in range(3)]
    for one in readers:
        one.start()
    for step in range(60):
        if step % 4 == 3:
            index.erase(keys)
        index.append(keys)
    stop.set()
    for one in readers:
        one.join()
    assert not problems, problems
