# SPDX-License-Identifier: Apache-2.0
"""Joins whose rows are written when they are asked for: any part of them, in either type, while all that they need is
there."""

import gc
import pickle
import tracemalloc
import weakref

import numpy as np
import pytest
import raydex
from in_threads import run

KINDS = ("inner", "left", "semi", "anti")


def strings(numbers):
    return [f"a name of many letters, {one}" for one in numbers]


def joins(random):
    """Ways to join two tables, as functions of what is said beyond the tables."""
    build, probe = random.integers(0, 60, 200), random.integers(0, 70, 300)
    upper = build + random.integers(0, 9, 200)
    index = raydex.build(build)
    of_strings = raydex.build(strings(build))
    return {
        "keys": lambda **said: raydex.join(build, probe, **said),
        "two keys": lambda **said: raydex.join([build, -build], [probe, -probe], **said),
        "strings": lambda **said: raydex.join(strings(build), strings(probe), **said),
        "index": lambda **said: raydex.join(index, probe, **said),
        "index of strings": lambda **said: raydex.join(of_strings, strings(probe), **said),
        "distance": lambda **said: raydex.join_range(build, probe, distance=2, **said),
        "compare": lambda **said: raydex.join_range(build, probe, compare="<", **said),
        "build_upper": lambda **said: raydex.join_range(build, probe, build_upper=upper, **said),
    }


def check_parts(found, whole, how):
    assert found.size == len(found) == len(whole.probe)
    assert found.how == how and found.probes == 300 and found
    np.testing.assert_array_equal(found.counts(), np.bincount(whole.probe[whole.probe >= 0], minlength=300))
    assert found.counts().dtype == np.int64
    for first, size in ((0, None), (found.size // 2, 7), (3, 10**9), (found.size, None), (0, 0)):
        rows = found.rows(first, size)
        end = None if size is None else first + size
        np.testing.assert_array_equal(rows.probe, whole.probe[first:end])
        assert (rows.build is None) == (how in ("semi", "anti"))
        if rows.build is not None:
            np.testing.assert_array_equal(rows.build, whole.build[first:end])
    for dtype in ("int32", np.int64):
        chunks = list(found.chunks(found.size // 3 + 1, dtype))
        assert [len(one.probe) for one in chunks[:-1]] == [found.size // 3 + 1] * (len(chunks) - 1)
        for side in range(2 if whole.build is not None else 1):
            cells = np.concatenate([one[side] for one in chunks])
            assert cells.dtype == dtype
            np.testing.assert_array_equal(cells, whole[side])


@pytest.mark.parametrize("how", [*KINDS, "right", "full"])
@pytest.mark.parametrize("join", joins(np.random.default_rng(0)))
def test_any_part_is_of_the_whole(random, join, how):
    call = joins(random)[join]
    if how in ("right", "full") and join.startswith("index"):
        with pytest.raises(raydex.Error, match="how: "):
            call(how=how, lazy=True)
        return
    whole = call(how=how)
    with call(how=how, lazy=True) as found:
        gc.collect()
        check_parts(found, whole, how)
    narrow = call(how=how, dtype="int32")
    assert narrow.probe.dtype == np.int32
    np.testing.assert_array_equal(narrow.probe, whole.probe)
    assert call(how=how, dtype="int32", lazy=True).rows(0, 1).probe.dtype == np.int32


def test_in_any_array_library(library, random):
    build, probe = random.integers(0, 60, 200), random.integers(0, 70, 300)
    whole = raydex.join(build, probe, "left")
    found = raydex.join(library.put(build), library.put(probe), "left", lazy=True) if library.name != "numpy" else (
        raydex.join(build, probe, "left", lazy=True))
    get = getattr(library, "get", np.asarray)
    for dtype in ("int32", "int64"):
        rows = found.rows(dtype=dtype)
        assert get(rows.build).dtype == dtype
        np.testing.assert_array_equal(get(rows.probe), whole.probe)
        np.testing.assert_array_equal(get(rows.build), whole.build)
    np.testing.assert_array_equal(get(found.counts()), np.bincount(whole.probe, minlength=300))


def test_a_join_of_no_rows():
    found = raydex.join([1], [2], lazy=True)
    assert found and len(found) == 0 and list(found.chunks(5)) == [] and found.rows().probe.tolist() == []
    assert found.counts().tolist() == [0]


def test_refusals():
    found = raydex.join([1, 2], [2, 2], lazy=True)
    for call, text in (
        (lambda: found.rows(3), "first: 3, but the join has 2 rows"),
        (lambda: found.rows(-1), "first: -1; it must be 0 or more"),
        (lambda: found.rows(0, -1), "size: -1"),
        (lambda: found.rows(dtype="uint32"), "dtype: 'uint32' is none of int64, int32"),
        (lambda: found.rows(dtype="a name"), "dtype: 'a name' is none of int64, int32"),
        (lambda: found.chunks(0), "rows: a chunk has 1 or more"),
        (lambda: raydex.join([1], [1], dtype="float64"), "dtype: 'float64'"),
        (lambda: raydex.join_range([1], [1], distance=1, dtype="i2"), "dtype: 'i2'"),
    ):
        with pytest.raises(ValueError, match=text):
            call()
    for call in (lambda: found.rows(1.5), lambda: found.chunks("many")):
        with pytest.raises(TypeError, match="is no whole number"):
            call()
    with pytest.raises(TypeError, match="lazy: 1 is neither True nor False"):
        raydex.join([1], [1], lazy=1)


def test_rows_that_32_bits_cannot_number():
    for most, fits in ((2**31 - 1, True), (2**31, False)):
        index = raydex.build([5, 6], rows=[most, 7])
        with raydex.join(index, [5, 6], lazy=True) as found:
            assert found.rows().build.tolist() == [most, 7]
            if fits:
                assert found.rows(dtype="int32").build.tolist() == [most, 7]
                continue
            with pytest.raises(ValueError, match="dtype: int32 has no row 2147483648; give 'int64'"):
                found.rows(0, 1, "int32")
        with pytest.raises(ValueError, match="dtype: int32 has no row"):
            raydex.join(index, [5], dtype="int32")
        assert raydex.join(index, [5], "semi", dtype="int32").probe.tolist() == [0]


class Counted(np.ndarray):
    """An array that tells when it goes."""


def test_what_is_kept_and_what_is_let_go(random):
    build, probe = random.random(1000).view(Counted), random.random(1000).view(Counted)
    gone = [weakref.ref(one) for one in (build, probe)]
    plain = raydex.join(np.array(build), np.array(probe), "left")
    keys = [build, np.array(build)]
    found = raydex.join(keys, [probe, np.array(probe)], "left", lazy=True)
    del build, probe, keys
    gc.collect()
    assert gone[1]() is None, "probe columns are let go"
    assert gone[0]() is not None, "keys of more than 64 bits are compared with the columns"
    np.testing.assert_array_equal(found.rows().build, plain.build)
    found.close()
    gc.collect()
    assert gone[0]() is None, "of what is closed nothing is kept"


def test_it_outlives_its_index_object():
    index = raydex.build(np.arange(1000))
    found = raydex.join(index, np.arange(2000), lazy=True)
    del index
    gc.collect()
    assert found.rows(999).probe.tolist() == [999]


def test_what_is_closed_or_edited():
    index = raydex.build(np.arange(10))
    found = raydex.join(index, [3], lazy=True)
    assert "inner on cpu: 1 rows of 1 probe rows" in repr(found)
    index.insert([3], [10])
    for ask in (found.rows, found.counts, lambda: list(found.chunks(1))):
        with pytest.raises(ValueError, match="join: its index was edited since; join again"):
            ask()
    found = raydex.join(index, [3], lazy=True)
    assert found.rows().build.tolist() == [3, 10]
    index.close()
    with pytest.raises(ValueError, match="index: it is closed"):
        found.rows()
    for of in (raydex.join([1], [1], lazy=True), found):
        of.close()
        of.close()
        for ask in (of.rows, of.counts, lambda of=of: list(of.chunks(1))):
            with pytest.raises(ValueError, match="join: it is closed"):
                ask()
        assert repr(of) == "raydex.Joined(closed)"


def test_chunks_take_the_memory_of_two():
    """NumPy tells tracemalloc of its arrays."""
    found = raydex.join(np.zeros(1000, "int64"), np.zeros(2000, "int64"), lazy=True)
    rows = 50_000
    for dtype, width in (("int64", 8), ("int32", 4)):
        tracemalloc.start()
        try:
            for _chunk in found.chunks(rows, dtype):
                pass
            peak = tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()
        chunk = 2 * width * rows
        assert chunk <= peak < 2 * chunk + 50_000


def test_threads_ask_while_one_closes(random):
    build, probe = random.integers(0, 500, 5_000), random.integers(0, 500, 5_000)
    whole = raydex.join(build, probe)
    for _ in range(10):
        found = raydex.join(build, probe, lazy=True)

        def ask(found=found):
            try:
                for first in range(0, 40_000, 1_000):
                    np.testing.assert_array_equal(found.rows(first, 1_000).build, whole.build[first : first + 1_000])
            except raydex.InvalidArgument as error:
                assert "join: it is closed" in str(error)

        run([ask, ask, found.close])


@pytest.mark.parametrize("how", ["inner", "full", "semi"])
def test_rows_as_a_table(how):
    """What takes tables takes the rows of a join: a line a row, and not a line a side."""
    found = raydex.join([5, 7, 8, 5], [7, 5, 9], how)
    probe, build = found
    assert probe is found.probe is found[0] and build is found.build is found[1] and len(found) == 2
    sides = [one.tolist() for one in found if one is not None]
    names = ["probe", "build"][: len(sides)]
    lines = [tuple(line) for line in zip(*sides)]
    assert np.array(found).tolist() == [list(line) for line in lines] and np.array(found).dtype == np.int64
    assert np.asarray(found, "int32").dtype == np.int32
    with pytest.raises(ValueError, match="copy: the columns lie apart"):
        found.__array__(copy=False)
    pd = pytest.importorskip("pandas")
    assert list(pd.DataFrame(found).itertuples(index=False, name=None)) == lines
    assert pd.DataFrame(found, columns=names).columns.tolist() == names
    assert pickle.loads(pickle.dumps(found)).probe.tolist() == sides[0]
    pl, pa = pytest.importorskip("polars"), pytest.importorskip("pyarrow")
    missing = [tuple(None if row < 0 else row for row in line) for line in lines]
    assert pl.DataFrame(found).columns == names and pl.DataFrame(found).rows() == missing
    table = pa.table(found)
    assert table.column_names == names and list(zip(*table.to_pydict().values())) == missing
    assert repr(found).startswith("JoinRows(probe=array([")
    if hasattr(pd.DataFrame, "from_arrow"):
        assert pd.DataFrame.from_arrow(found).columns.tolist() == names


def test_rows_of_a_join_in_duckdb():
    duckdb = pytest.importorskip("duckdb")
    pytest.importorskip("pyarrow")
    pairs = raydex.join([5, 7], [7, 5, 9], "left")
    assert len(pairs) == 2
    assert duckdb.sql("select probe, build from pairs order by probe").fetchall() == [(0, 1), (1, 0), (2, None)]
