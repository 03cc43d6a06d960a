# SPDX-License-Identifier: Apache-2.0
"""Snapshots: an index as it was, whatever edits come."""

import copy
import subprocess
import sys
import threading

import numpy as np
import pytest
import raydex
from in_threads import while_changing

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


ONE_MEMORY = """
import os, numpy, raydex

def bytes_in_use():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")

index = raydex.build(numpy.arange(4_000_000), "sorted_array")  # of 48 MB
begin = bytes_in_use()
snapshots = [index.snapshot() for _ in range(5)]
assert bytes_in_use() - begin < 10 << 20
index.erase([5])
grown = bytes_in_use() - begin
assert grown > 40 << 20, grown
for one in snapshots:
    assert one.count(5) == 1
    one.close()
assert bytes_in_use() - begin < grown - (30 << 20)
"""


def test_one_memory_until_an_edit():
    """In a process of its own, whose memory nothing else has."""
    subprocess.run([sys.executable, "-c", ONE_MEMORY], check=True)


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


def test_copies_of_columns_that_are_numbered():
    index = raydex.build((["a long name of one", "b"], [1, 2]))
    for made in (copy.copy(index), copy.deepcopy(index)):
        made.append((["b"], [2]))
        assert made.count((["b"], [2])).tolist() == [2]
        made.close()
    assert index.count((["b"], [2])).tolist() == [1]


def test_a_query_that_began_before_an_edit():
    """Its index is asked as it is by then, whatever becomes of a snapshot."""
    index = raydex.build(np.arange(10))
    snapshot = index.snapshot()
    batch = index._batch([1, 2], None, None)
    index.append([1])
    snapshot.close()
    assert batch.answer("int64", batch.native.count, *batch.arguments).tolist() == [2, 1]


def test_an_edit_that_fails():
    index = raydex.build([5, 7, 5])
    before = index.snapshot()
    sums = raydex.aggregate(index, [1, 2, 4])
    with pytest.raises(raydex.InvalidArgument, match="rows"):
        index.insert([5, 6], [1])
    assert sums.sum([5]).tolist() == [5]
    assert [one.count([5]).tolist() for one in (before, index)] == [[2], [2]]


def test_aggregates_while_another_thread_edits():
    keys = np.arange(200)
    index = raydex.build(keys, "btree")

    def change():
        with index.snapshot():
            index.append(keys)
            index.erase(keys)
            index.append(keys)

    def ask():
        try:
            with raydex.aggregate(index) as over:
                counts = over.count(keys)
            assert len(set(counts.tolist())) == 1
        except raydex.InvalidArgument as problem:
            assert "edited" in str(problem)  # since

    while_changing(change, ask)


def test_what_jax_compiled():
    jax = pytest.importorskip("jax")
    import raydex.jax

    index = raydex.build(np.array([50, 20, 40], "i4"))
    lookup = jax.jit(lambda points: raydex.jax.lookup(index, points))
    points = jax.numpy.array([20, 7, 99], "int32")
    assert lookup(points).tolist() == [1, -1, -1]
    with index.snapshot():
        index.append(np.array([7], "i4"))
        assert lookup(points).tolist() == [1, 3, -1]
    assert lookup(points).tolist() == [1, 3, -1]


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
