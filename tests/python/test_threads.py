# SPDX-License-Identifier: Apache-2.0
"""Threads that ask while another one edits: each answer is that of one moment."""

import copy
import pickle

import numpy as np
import pytest
import raydex
from hypothesis import given
from hypothesis import strategies as st
from in_threads import rows_by_probe, run, while_changing

pytest.importorskip("pyarrow")
from drawn_times import Cells, cells  # noqa: E402, which needs it

STRUCTURES = [one for one in raydex.structures() if one.backend == "cpu" and one.updates and one.points]


@pytest.mark.parametrize("structure", STRUCTURES, ids=lambda one: one.name)
def test_rows_while_another_thread_edits(structure):
    """With many more rows, or without them: nothing between."""
    n, more = 500, 8
    keys = np.arange(n)
    index = raydex.build(keys, structure.name)
    added, added_rows = np.tile(keys, more), np.arange(n, n * (more + 1))
    few = np.arange(n)
    many = np.concatenate([few[:, np.newaxis], added_rows.reshape(more, n).T], axis=1).reshape(-1)
    seen = set()

    def change():
        index.insert(added, added_rows)
        index.erase(added, added_rows)

    def ask():
        found = index.rows(keys)
        assert found.offsets[-1] in (len(few), len(many))
        np.testing.assert_array_equal(rows_by_probe(found), few if len(found.rows) == n else many)
        seen.add(len(found.rows))
        assert index.info.entries in (len(few), len(many))

    while_changing(change, ask)
    assert seen <= {len(few), len(many)}
    index.close()


EDITS = st.lists(st.tuples(st.booleans(), st.integers(0, 5), st.integers(0, 5)), min_size=1, max_size=6)


@given(st.sampled_from([one.name for one in STRUCTURES if one.name != "direct"]), cells("M", rows=6),
       cells("M", rows=6), EDITS)
def test_drawn_edits_of_times_while_threads_ask(structure, column, points, edits):
    """Answers in another unit, each that of one moment."""
    column = Cells(column.kind, [count or 0 for count in column.counts], column.unit, column.step, column.arrow)
    keys, probes = column.make(), points.make()

    def counts(entries):
        return [sum(column.values[row] == value for row, _ in entries) for value in points.values]

    entries = [(row, row) for row in range(6)]
    moments, calls = [counts(entries)], []
    for at, (is_insertion, begin, size) in enumerate(edits):
        some = keys[begin : begin + size + 1]
        if is_insertion:
            added = [(row, 6 * (at + 1) + row) for row in range(begin, min(6, begin + size + 1))]
            entries = entries + added
            calls.append((True, some, np.array([row for _, row in added], "uint32")))
        else:
            gone = set(column.values[begin : begin + size + 1])
            entries = [one for one in entries if column.values[one[0]] not in gone]
            calls.append((False, some, None))
        moments.append(counts(entries))
    with raydex.build(keys, structure) as index:
        seen = []

        def edit():
            for is_insertion, some, rows in calls:
                index.insert(some, rows) if is_insertion else index.erase(some)

        def ask():
            seen.extend(index.count(probes).tolist() for _ in range(4))

        run([edit, ask, ask])
        assert all(one in moments for one in seen)
        assert index.count(probes).tolist() == moments[-1]


def test_rows_of_an_array_that_cannot_be_made():
    """The index is free again."""
    index = raydex.build(np.arange(10))
    lower = np.zeros(3, "int64")

    class Short(type(raydex._array_libraries.HOST)):
        def empty(self, size, dtype, stream=None):
            if size > 4:
                raise MemoryError("none")
            return super().empty(size, dtype, stream)

    source = raydex._sources.look("lower", lower)
    source.library = Short()
    with pytest.raises(MemoryError, match="none"):
        index.rows(source, lower + 9)
    index.insert([3], [10])
    assert index.rows([3]).rows.tolist() == [3, 10]


def test_strings_while_another_thread_closes():
    pa = pytest.importorskip("pyarrow")
    keys = pa.array(["abcdefghijk", "b", "abcdefghijk"])
    for _ in range(20):
        index = raydex.build(keys)

        def ask(index=index):
            try:
                for _ in range(20):
                    assert index.rows(keys).offsets.tolist() == [0, 2, 3, 5]
                    assert index.info.entries == 3
            except raydex.InvalidArgument as error:
                assert "it is closed" in str(error)

        run([ask, ask, index.close])


@pytest.mark.parametrize("structure", ["rmq_cover", "rmq_hierarchy", "rmq_scan"])
def test_both_extremes_are_refreshed_at_once(structure):
    """What is asked during a refresh waits for both."""
    values = np.zeros(4096, "int64")
    of = raydex.rmq(values, structure, extremes="both")
    places = np.arange(len(values))
    info = of.info

    def change():
        of.refresh(places)

    def ask():
        assert of.min([0], [4095])[0] == of.max([0], [4095])[0] == 0
        assert of.info == info

    while_changing(change, ask, 0.2)
    values[7] = 5
    of.refresh([7])
    assert of.max(0, 4095) == 5 and of.min(7, 7) == 5


def test_extremes_of_times_are_one_call(monkeypatch):
    """No edit is between the values and which of them are none."""
    times = np.array(["2020-01-01", "NaT", "2019-01-01"], "M8[s]")
    index = raydex.build([1, 2, 1])
    of = raydex.aggregate(index, times)
    calls = []

    def noted(operation):
        calls.append(operation)
        index.insert([9], [0])  # as another thread might

    monkeypatch.setattr(type(of), "count_values", lambda *_, **__: noted("count"))
    np.testing.assert_array_equal(of.min([1, 2, 3]), np.array(["2019-01-01", "NaT", "NaT"], "M8[s]"))
    assert calls == []
    assert of.max(1) == np.datetime64("2020-01-01", "s")
    assert np.isnat(of.max(7))


def held():
    index = raydex.build([5, 6, 7])
    yield index, lambda: index.first([6])[0] == 1
    summed = raydex.aggregate(index, [1, 2, 3])
    yield summed, lambda: summed.sum([6])[0] == 2
    minima = raydex.rmq([5, 3, 4], extremes="both")
    yield minima, lambda: minima.argmin(0, 2) == 1
    sharded = pytest.importorskip("raydex.sharded").build(np.arange(3), devices=["cpu"])
    yield sharded, lambda: sharded.first([2])[0] == 2


@pytest.mark.parametrize("one", [copy.copy, copy.deepcopy, pickle.dumps], ids=lambda one: one.__name__)
def test_copies_of_what_has_no_file_are_refused_and_close_nothing(one):
    for of, works in held():
        if isinstance(of, (raydex.Index, raydex.Rmq, raydex.Aggregate)):
            continue
        with pytest.raises(raydex.InvalidType, match="neither copied nor pickled"):
            one(of)
        with pytest.raises(raydex.InvalidType, match="neither copied nor pickled"):
            copy.deepcopy([of])  # within something
        assert works()
