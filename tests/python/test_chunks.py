# SPDX-License-Identifier: Apache-2.0
"""Matches in chunks, and as streams of Arrow: the same as all of them at once, in the memory of a chunk."""

import gc
import signal
import subprocess
import sys
import textwrap
import tracemalloc

import numpy as np
import pytest
import raydex
from in_threads import run

STRUCTURES = [one.name for one in raydex.structures() if one.backend == "cpu" and one.available and not one.minima]
NUMBERS = np.array([7, 3, 3, 9, 3, 7, -5, 0], "i8")


def texts(numbers):
    return [f"a text of more than 8 bytes, {one % 7}" for one in numbers]


def masked(array):
    return np.ma.MaskedArray(array, mask=np.arange(len(array)) % 5 == 0)


def indexes(random):
    """Indexes, and what they are asked for."""
    keys, points = random.integers(0, 40, 300), random.integers(-3, 45, 120)
    upper = points + random.integers(-2, 12, 120)
    times = np.datetime64("2024-01-31", "s") + keys
    named = raydex.build(texts(keys))
    return {
        "points": (raydex.build(keys), points),
        "ranges": (raydex.build(keys), points, upper),
        "one range": (raydex.build(keys), 3, 30),
        "all": (raydex.build(keys), [0], [50]),
        "row ids": (raydex.build(keys, rows=random.permutation(300) + 2**31), points, upper),
        "missing": (raydex.build(masked(keys)), masked(points), masked(upper)),
        "other types": (raydex.build(keys), points - 0.5, upper + 0.5),
        "differing": (raydex.build(np.unique(keys)), points),
        "differing, ranges": (raydex.build(np.unique(keys)), points, upper),
        "times": (raydex.build(times), times[:50], times[:50] + 7),
        "texts": (named, texts(points)),
        "prefixes": (named, raydex.starts_with(["a text", "b", "a text of more than 8 bytes, 3"])),
        "hashed": (raydex.build(texts(keys), "hash_open"), texts(points)),
        "columns": (raydex.build((keys, keys % 5)), (points, points % 5)),
        "first column": (raydex.build((keys, keys % 5)), (points,)),
        "columns, range": (raydex.build((keys, keys % 5)), (points, 1), (points, 3)),
        "nothing": (raydex.build(keys), [90, 91]),
        "no probes": (raydex.build(keys), keys[:0]),
        "no keys": (raydex.build(keys[:0]), points, upper),
    }


def check(index, *probes):
    whole = index.rows(*probes)
    expected = (np.repeat(np.arange(len(whole.offsets) - 1), np.diff(whole.offsets)), whole.rows)
    with index.rows(*probes, lazy=True) as found:
        assert found.size == len(found) == len(whole.rows) and found and found.probes == len(whole.offsets) - 1
        np.testing.assert_array_equal(found.counts(), np.diff(whole.offsets))
        for step in (1, 7, max(found.size, 1), 10**12):
            chunks = list(found.chunks(step))
            assert all(len(one.row) == step for one in chunks[:-1]) and all(len(one.row) for one in chunks)
            for side, cells in enumerate(expected):
                np.testing.assert_array_equal(np.concatenate([cells[:0], *(one[side] for one in chunks)]), cells)
        part = found.rows(found.size // 2, 5)
        np.testing.assert_array_equal(part.row, whole.rows[found.size // 2 :][:5])
        assert part.row.dtype == part.probe.dtype == np.int64


@pytest.mark.parametrize("of", indexes(np.random.default_rng(0)))
def test_chunks_are_the_whole(random, of):
    check(*indexes(random)[of])


@pytest.mark.parametrize("structure", STRUCTURES)
def test_chunks_of_every_structure(random, structure):
    keys, points = random.integers(0, 40, 2000), random.integers(-3, 45, 120)
    index = raydex.build(keys, structure)
    check(index, points)
    check(raydex.build(np.full(70, 3), structure), [3, 4])
    if not structure.startswith("hash"):
        check(index, points, points + 9)
        return
    with pytest.raises(raydex.Unsupported, match="not ranges"):
        index.rows(points, points, lazy=True)


def test_chunks_beside_numpy_and_duckdb(random):
    duckdb = pytest.importorskip("duckdb")
    pa = pytest.importorskip("pyarrow")
    keys, lower = random.normal(size=3000), random.normal(size=200)
    upper = lower + random.random(200)
    found = raydex.build(keys).rows(lower, upper, lazy=True)
    order = np.argsort(keys, kind="stable")
    begins, ends = np.searchsorted(keys[order], lower), np.searchsorted(keys[order], upper, "right")
    rows = np.concatenate([order[begin:end] for begin, end in zip(begins, ends)])
    np.testing.assert_array_equal(np.concatenate([one.row for one in found.chunks(999)]), rows)
    con = duckdb.connect()
    con.register("k", pa.table({"key": keys, "r": np.arange(3000)}))
    con.register("p", pa.table({"b": lower, "e": upper, "i": np.arange(200)}))
    joined = "select i as probe, r as row from k, p where key between b and e"
    con.register("found", found)
    for one, other in (("from found", joined), (joined, "from found")):
        assert con.sql(f"({one}) except all ({other})").fetchall() == []
    con.register("read", found.to_reader(1000))
    assert con.sql("select count(*) from read").fetchall() == [(len(rows),)]


def test_in_any_array_library(library, random):
    keys, lower = random.integers(0, 60, 200), random.integers(0, 70, 300)
    whole = raydex.build(keys).rows(lower, lower + 3)
    if library.name == "numpy":
        put = get = np.asarray
    else:
        put, get = library.put, library.get
    index = raydex.build(put(keys))
    for probes in ((put(lower), put(lower + 3)), (put(lower),)):
        whole = raydex.build(keys).rows(*map(get, probes))
        found = index.rows(*probes, lazy=True)
        np.testing.assert_array_equal(np.concatenate([get(one.row) for one in found.chunks(100)]), whole.rows)
        np.testing.assert_array_equal(get(found.counts()), np.diff(whole.offsets))
        if library.backends == ("cpu",):
            np.testing.assert_array_equal(found.to_reader(100).read_all()["row"], whole.rows)
            continue
        for call in (found.to_reader, found.__arrow_c_stream__):
            with pytest.raises(raydex.InvalidArgument, match="streams of Arrow are in host memory; take its chunks"):
                call()


def test_a_long_range_in_little_memory():
    """10^7 matches of one probe, in chunks of 10^5, take no more than two chunks and what is held for the probe."""
    index = raydex.build(np.zeros(10**7, "u4"))
    chunk = 2 * 8 * 10**5
    gc.collect()
    tracemalloc.start()
    with index.rows([0], [0], lazy=True) as found:
        assert len(found) == 10**7
        seen = 0
        for probe, row in found.chunks(10**5):
            assert row[0] == seen and row[-1] == seen + 10**5 - 1 and probe[-1] == 0
            seen += len(row)
        peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert seen == 10**7 and peak < 2.5 * chunk


MEMORY = """
import gc, sys, threading, time, numpy, raydex

def resident():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * 4096

index = raydex.build(numpy.arange(10**7, dtype="u4")[::-1].copy(), sys.argv[1])

def ask(upper, rows, read):
    with index.rows([0], [upper], lazy=True) as found:
        return read(found.to_reader(rows) if rows else found)

def by_chunks(found):
    return sum(int(row.sum()) for _, row in (found.chunks(10**5)))

def by_duckdb(found):
    import duckdb
    return int(duckdb.sql("select sum(row) from found").fetchall()[0][0])

def grown(read, rows):
    ask(10**6, rows, read)  # with what is made once
    gc.collect()
    before, most, ends = resident(), 0, threading.Event()
    def look():
        nonlocal most
        while not ends.wait(0.001):
            most = max(most, resident())
    thread = threading.Thread(target=look)
    thread.start()
    assert ask(10**7, rows, read) == (10**7 - 1) * 10**7 // 2
    ends.set()
    thread.join()
    return most - before

print(grown(by_chunks, None), grown(by_duckdb, 10**5), grown(by_duckdb, None))
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")
@pytest.mark.parametrize("structure", ["sorted_array", "pivot_tree", "btree"])
def test_a_process_that_grows_little(structure):
    """The same of the whole process, what the library allocates among it, and of streams that DuckDB reads. All matches
    at once would take 160 MB, the list of the index's rows takes 40 MB."""
    pytest.importorskip("duckdb")
    pytest.importorskip("pyarrow")
    said = subprocess.run([sys.executable, "-c", MEMORY, structure], capture_output=True, text=True, check=True)
    assert all(int(one) < 70_000_000 for one in said.stdout.split()), said.stdout


def test_streams_of_arrow():
    pa = pytest.importorskip("pyarrow")
    pl = pytest.importorskip("polars")
    index = raydex.build(NUMBERS)
    found = index.rows([3, 8, 0], [7, 8, 0], lazy=True)
    expected = {"probe": [0, 0, 0, 0, 0, 2], "row": [1, 2, 4, 0, 5, 7]}
    table = pa.table(found)
    table.validate(full=True)
    assert table.to_pydict() == expected and table.schema.types == [pa.int64()] * 2
    assert pl.DataFrame(found).to_dict(as_series=False) == pa.table(found).to_pydict()  # any number of times
    assert pa.table(found.rows(1, 2)).to_pydict() == {name: cells[1:3] for name, cells in expected.items()}
    reader = found.to_reader(4)
    assert isinstance(reader, pa.RecordBatchReader) and [len(one) for one in reader] == [4, 2]
    none = index.rows([8], lazy=True)
    assert pa.table(none).to_pydict() == {"probe": [], "row": []} and list(none.to_reader()) == []
    batch = found.to_reader().read_next_batch()
    column = batch["row"]
    del batch, found, reader, none, table
    index.close()
    gc.collect()
    assert column.to_pylist() == expected["row"]  # it has its memory


@pytest.mark.parametrize("how", ["inner", "left", "semi", "anti", "right", "full"])
def test_streams_of_joins(random, how):
    pa = pytest.importorskip("pyarrow")
    build, probe = random.integers(0, 60, 200), random.integers(0, 70, 300)
    whole = raydex.join(build, probe, how)
    with raydex.join(build, probe, how, dtype="int32", lazy=True) as found:
        for one in (pa.table(found), found.to_reader(17).read_all()):
            one.validate(full=True)
            assert one.equals(whole.to_arrow())
            assert one["probe"].null_count == (whole.probe < 0).sum()
    ranges = raydex.join_range(build, probe, distance=2, how="left", lazy=True)
    assert pa.table(ranges).equals(ranges.rows().to_arrow())


def test_streams_without_pyarrow():
    """Polars reads them by itself."""
    pytest.importorskip("polars")
    code = """
        import sys
        sys.modules["pyarrow"] = None
        import polars, raydex
        found = raydex.build([5, 7, 5]).rows([5, 9, 7], lazy=True)
        assert polars.DataFrame(found).rows() == [(0, 0), (0, 2), (2, 1)]
        joined = raydex.join([5], [5, 7], "left", lazy=True)
        assert polars.DataFrame(joined).rows() == [(0, 0), (1, None)]
    """
    subprocess.run([sys.executable, "-c", textwrap.dedent(code)], check=True)


def test_an_early_end():
    index = raydex.build(NUMBERS)
    found = index.rows(NUMBERS, lazy=True)
    chunks = found.chunks(2)
    assert len(next(chunks).row) == 2
    chunks.close()
    assert list(chunks) == [] and len(found.rows().row) == 16  # which may be asked further
    with found:
        chunks = found.chunks(3)
        next(chunks)
    with pytest.raises(ValueError, match="lookup: it is closed; ask for the rows again"):
        next(chunks)
    for call in (found.rows, found.counts, found.to_reader, found.__arrow_c_stream__, lambda: next(found.chunks(1))):
        with pytest.raises(ValueError, match="lookup: it is closed"):
            call()
    assert "closed" in repr(found)
    index.rows(NUMBERS, lazy=True).chunks(1).close()


def test_a_stream_that_nobody_takes():
    found = raydex.build(NUMBERS).rows(NUMBERS, lazy=True)
    for _ in range(3):
        found.__arrow_c_stream__()
    pa = pytest.importorskip("pyarrow")
    reader = found.to_reader(2)
    reader.read_next_batch()
    reader.close()
    with pytest.raises(pa.ArrowInvalid):
        reader.read_next_batch()


def test_what_changes_in_between():
    pa = pytest.importorskip("pyarrow")
    index = raydex.build(NUMBERS)
    found, other = (index.rows([3, 7], lazy=True) for _ in range(2))
    chunks, reader = found.chunks(2), other.to_reader(2)
    next(chunks), reader.read_next_batch()
    index.erase([3])
    text = "lookup: its index was edited since; ask for the rows again"
    with pytest.raises(raydex.InvalidArgument, match=text):
        next(chunks)
    with pytest.raises(pa.ArrowInvalid, match=text):
        reader.read_next_batch()
    found = index.rows([3, 7], lazy=True)
    assert found.rows().row.tolist() == [0, 5]
    index.close()
    for call in (found.rows, found.counts, lambda: index.rows([3], lazy=True)):
        with pytest.raises(raydex.InvalidArgument, match="index: it is closed"):
            call()
    with pytest.raises(pa.ArrowInvalid, match="index: it is closed"):
        pa.table(found)
    joined = raydex.join(raydex.build([1, 2]), [2], lazy=True)
    joined._over.close()
    with pytest.raises(raydex.InvalidArgument, match="index: it is closed"):
        next(joined.chunks(1))


def test_refusals():
    index = raydex.build(NUMBERS)
    found = index.rows([3, 7], lazy=True)
    for call, text in (
        (lambda: found.chunks(0), "rows: a chunk has 1 or more"),
        (lambda: found.to_reader(0), "rows: a chunk has 1 or more"),
        (lambda: found.chunks(-1), "rows: -1; it must be 0 or more"),
        (lambda: found.rows(6), "first: 6, but the lookup has 5 rows"),
    ):
        with pytest.raises(ValueError, match=text):
            call()
    for call in (lambda: found.chunks("many"), lambda: found.to_reader(1.5)):
        with pytest.raises(TypeError, match="is no whole number"):
            call()
    with pytest.raises(TypeError, match="lazy: 1 is neither True nor False"):
        index.rows([3], lazy=1)
    with pytest.raises(ValueError, match="upper: 2 ends"):
        index.rows([3, 4, 5], [6, 7], lazy=True)


def test_what_python_raises_in_a_stream():
    pa = pytest.importorskip("pyarrow")
    found = raydex.build(NUMBERS).rows(NUMBERS, lazy=True)

    def fails(error):
        def part(*_):
            raise error
        return part

    for error, kind in ((MemoryError("none is left"), MemoryError), (RuntimeError("lost"), OSError)):
        found._part = fails(error)
        with pytest.raises(kind, match=str(error)):
            found.to_reader().read_all()
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        found._part = fails(KeyboardInterrupt())
        with pytest.raises(KeyboardInterrupt):
            try:
                pa.table(found)
            finally:
                for _ in range(1000):  # the signal that follows
                    pass
    finally:
        signal.signal(signal.SIGINT, before)


def test_threads(random):
    keys, lower = random.integers(0, 1000, 20_000), random.integers(0, 1000, 500)
    index = raydex.build(keys)
    whole = index.rows(lower, lower + 20)
    found = index.rows(lower, lower + 20, lazy=True)

    def read():
        np.testing.assert_array_equal(np.concatenate([one.row for one in found.chunks(1234)]), whole.rows)

    def stream():
        pa = pytest.importorskip("pyarrow")
        np.testing.assert_array_equal(pa.table(found)["row"].to_numpy(), whole.rows)

    run([read, stream] * 3)


def test_as_a_table_and_shown():
    found = raydex.build(NUMBERS).rows([3], lazy=True)
    assert repr(found) == "raydex.LazyMatches(on cpu: 3 rows of 1 probes)"
    probe, row = chunk = found.rows()
    assert repr(chunk) == "MatchRows(probe=array([0, 0, 0]), row=array([1, 2, 4]))" and len(chunk) == 2
    np.testing.assert_array_equal(np.array(chunk), np.stack([probe, row], 1))
    assert "LazyMatches" in found._repr_html_() and "row" in chunk._repr_html_()
    found.close()
    assert "closed" in found._repr_html_()
