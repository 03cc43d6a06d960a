# SPDX-License-Identifier: Apache-2.0
"""Files of indexes that are built by chunks, beside NumPy and what `raydex.build` makes of the whole column."""

import datetime
import decimal
import os
import signal
import subprocess
import sys
import threading
import uuid

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.dataset
import pyarrow.parquet
import pytest
import raydex


def expect_column(index, column):
    """An index over the whole of a column, which is an array of NumPy."""
    assert index.info.n == len(column)
    order = np.argsort(column, kind="stable")
    points = np.unique(column)
    begins = np.searchsorted(column[order], points)
    np.testing.assert_array_equal(index.first(points), order[begins])
    np.testing.assert_array_equal(index.rows(points).rows, order)


def random_column(size, dtype="i8"):
    return (np.random.default_rng(size).integers(0, 2**31 - 1, size) // 3).astype(dtype)


@pytest.mark.parametrize("size", [0, 1, 2, 42_998, 43_000, 43_007, 43_008, 43_009, 500_000])
@pytest.mark.parametrize("dtype", ["i8", "u4", "f8", "i2", ">i4", "M8[ms]"])
def test_arrays_beside_numpy(size, dtype, tmp_path):
    column = random_column(size, dtype)
    chunks = (column[i : i + 9001] for i in range(0, size, 9001))
    with raydex.build_file(chunks, tmp_path / "an.index", memory="1MiB") as index:
        if size:
            expect_column(index, column)
        assert index.info.structure == "sorted_array"
    assert os.listdir(tmp_path) == ["an.index"]
    if size:
        with raydex.load(tmp_path / "an.index") as again:  # verified
            expect_column(again, column)


def forms(column, folder):
    """A column of int64 in all forms that have chunks."""
    parts = [column[:5], column[5:5], column[5:]]
    table = pa.table({"key": pa.chunked_array(parts)})
    yield "array", column
    yield "backwards", column[::-1][::-1]
    yield "list of arrays", parts
    yield "tuple of arrays", tuple(parts)
    yield "generator", iter(parts)
    yield "list", column.tolist()
    yield "lists", [part.tolist() for part in parts]
    yield "pandas", [pd.Series(part) for part in parts]
    yield "one Series", pd.Series(column)
    yield "polars", [pl.Series(part) for part in parts]
    yield "one column of polars", pl.Series(column)
    yield "frames of one column", [pl.DataFrame({"key": part}) for part in parts]
    yield "chunked array", table["key"]
    yield "batches", table.to_batches()
    yield "table", table
    yield "reader", table.to_reader()
    np.save(folder / "key.npy", column)
    yield "path of .npy", folder / "key.npy"
    yield "name of .npy", str(folder / "key.npy")
    yield "memmap", np.load(folder / "key.npy", mmap_mode="r")
    pa.parquet.write_table(table, folder / "key.parquet", row_group_size=7)
    yield "parquet", pa.parquet.ParquetFile(folder / "key.parquet").iter_batches(3)
    yield "file of parquet", pa.parquet.ParquetFile(folder / "key.parquet")
    dataset = pa.dataset.dataset(folder / "key.parquet")
    yield "dataset", dataset
    yield "scanner", dataset.scanner(columns=["key"])


def test_forms_of_chunks(tmp_path):
    column = random_column(1000)
    for name, chunks in forms(column, tmp_path):
        with raydex.build_file(chunks, tmp_path / "an.index") as index:
            assert index.info.n == 1000, name
            expect_column(index, column)


UTC = datetime.timezone.utc
KINDS = {
    "texts": [["ann", "bob"], ["cornelia"], [None, "x", ""]],
    "Arrow's texts": [pa.array(["ann", None]), pa.array(["cornelia"])],
    "bytes": [np.array([b"ab", b"c"]), np.array([b"de"])],
    "zoned": [pd.Series(pd.to_datetime(texts, utc=True)) for texts in (["2024-01-31", None], ["2023-01-31"])],
    "lists of times": [[datetime.datetime(2024, 1, 31, tzinfo=UTC)], [datetime.datetime(2023, 1, 31, tzinfo=UTC)]],
    "days": [pa.array([3, 1], pa.date32()), pa.array([2, None], pa.date32())],
    "durations": [np.array([5, 3], "m8[s]"), np.array([4], "m8[s]")],
    "decimals": [[decimal.Decimal("1.50")], [decimal.Decimal("0.25"), None]],
    "masked": [np.ma.masked_array([5, 3], [True, False]), np.array([7])],
    "missing first": [[None, None], pa.nulls(2), np.array([]), [5, 3]],
    "missing later": [[5, 3], [None], pa.nulls(2), []],
    "nothing": [],
    "no cell": [[None, None]],
    "bools": [np.array([True]), np.array([False, True])],
    "halves": [np.array([0.5, np.nan], "f2"), np.array([-1], "f2")],
}


@pytest.mark.parametrize("kind", KINDS)
def test_kinds_of_keys(kind, tmp_path):
    chunks = KINDS[kind]
    cells = [cell for chunk in chunks for cell in (chunk.to_pylist() if isinstance(chunk, pa.Array) else list(chunk))]
    whole = raydex.build(pd.Series(cells) if kind == "zoned" else pa.array(cells, chunks[0].type) if kind == "days"
                         else np.concatenate(chunks) if kind in ("bytes", "durations", "bools", "halves")
                         else [None if cell is np.ma.masked else cell for cell in cells])  # fmt: skip
    with raydex.build_file(chunks, tmp_path / "an.index") as index:
        assert (index.info.n, index.info.entries) == (whole.info.n, whole.info.entries)
        for chunk in chunks:
            np.testing.assert_array_equal(index.first(chunk), whole.first(chunk))
            np.testing.assert_array_equal(index.count(chunk), whole.count(chunk))
    with raydex.load(tmp_path / "an.index") as again:
        for chunk in chunks:
            np.testing.assert_array_equal(again.first(chunk), whole.first(chunk))


def gaps():
    raise RuntimeError("the reader failed")
    yield


@pytest.mark.parametrize(
    ("chunks", "error", "words"),
    [
        ([np.array([1]), np.array([1.5])], raydex.InvalidType, "they are float64, but those of the first chunk int64"),
        ([np.array([1], "M8[s]"), np.array([1], "M8[ms]")], raydex.InvalidType, "datetime64[ms]"),
        ([pa.array([1], pa.timestamp("s", zone)) for zone in ("UTC", None)], raydex.InvalidType, "datetime64[s, tz]"),
        ([["ann"], ["somebody else"]], raydex.Unsupported, "more than 8 bytes"),
        ([["ann"], [5]], raydex.InvalidType, "they are int64"),
        ([[uuid.UUID(int=7)]], raydex.Unsupported, "uuid"),
        ([pd.DataFrame({"a": [1], "b": [2]})], raydex.InvalidType, "a table of 2 columns"),
        ([np.zeros((2, 2))], raydex.InvalidArgument, "dimensions"),
        (iter([5, 6]), raydex.InvalidType, "single cell"),
        (5, raydex.InvalidType, "single cell"),
        (object(), raydex.InvalidType, "no column"),
        ("a.parquet", raydex.InvalidType, "iter_batches"),
        ("none.npy", raydex.InvalidArgument, "none.npy"),
        (gaps(), RuntimeError, "the reader failed"),
    ],
)
def test_chunks_that_are_none(chunks, error, words, tmp_path):
    path = tmp_path / "an.index"
    path.write_bytes(b"old")
    with pytest.raises(error) as caught:
        raydex.build_file(chunks, path)
    assert words in str(caught.value)
    assert path.read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["an.index"]


@pytest.mark.parametrize(
    "memory", ["1MiB", "1 mib", "1.5 MB", "2mb", 1 << 20, np.int64(1 << 20), "1048576", "4GiB", "1TB"]
)
def test_sizes_of_memory(memory, tmp_path):
    if memory in ("4GiB", "1TB"):
        raydex.build_file([], tmp_path / "an.index", memory=memory).close()
    else:
        column = random_column(200_000)
        with raydex.build_file(column, tmp_path / "an.index", memory=memory) as index:
            expect_column(index, column)


@pytest.mark.parametrize(
    ("memory", "error"),
    [
        (5, raydex.InvalidArgument), (-1, raydex.InvalidArgument), ("1000 kB", raydex.InvalidArgument),
        ("much", raydex.InvalidArgument), ("4 XB", raydex.InvalidArgument), (None, raydex.InvalidType),
        (1.5, raydex.InvalidType), (True, raydex.InvalidType),
    ],
)  # fmt: skip
def test_memory_that_is_none(memory, error, tmp_path):
    with pytest.raises(error, match="memory"):
        raydex.build_file([[1]], tmp_path / "an.index", memory=memory)
    assert not os.listdir(tmp_path)


def test_folders(tmp_path):
    column = random_column(300_000)
    (tmp_path / "spill").mkdir()
    with raydex.build_file(column, tmp_path / "an.index", memory="1MiB", spill=tmp_path / "spill") as index:
        expect_column(index, column)
    assert not os.listdir(tmp_path / "spill")
    for path, spill in (("an.index", "none"), ("none/an.index", None)):
        with pytest.raises(raydex.InvalidArgument, match="none"):
            raydex.build_file(column, tmp_path / path, spill=spill and tmp_path / spill)


def test_a_full_disk_names_the_folder(tmp_path):
    code = """if True:
        import resource, signal, sys
        import numpy as np, raydex
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (10**6, 10**6))
        try:
            raydex.build_file(np.arange(300_000)[::-1], sys.argv[1] + "/an.index", memory="1MiB", spill=sys.argv[1])
        except raydex.Error as problem:
            print(problem)"""
    ended = subprocess.run([sys.executable, "-c", code, tmp_path], capture_output=True, text=True, check=True)
    assert f"spill: {tmp_path}: write: File too large" in ended.stdout
    assert not os.listdir(tmp_path)


def test_an_interrupt_leaves_nothing(tmp_path):
    def chunks():
        for i in range(10**6):
            if i == 3:
                threading.Timer(0.05, os.kill, (os.getpid(), signal.SIGINT)).start()
            yield random_column(100_000)

    with pytest.raises(KeyboardInterrupt):
        raydex.build_file(chunks(), tmp_path / "an.index", memory="8MiB")
    assert not os.listdir(tmp_path)


def test_a_process_that_is_killed_leaves_nothing(tmp_path):
    code = """if True:
        import os, signal, sys
        import numpy as np, raydex
        def chunks():
            yield np.arange(300_000)[::-1]
            os.kill(os.getpid(), signal.SIGKILL)
        raydex.build_file(chunks(), sys.argv[1] + "/an.index", memory="1MiB")"""
    ended = subprocess.run([sys.executable, "-c", code, tmp_path], check=False)
    assert ended.returncode == -signal.SIGKILL
    assert not os.listdir(tmp_path)


def test_the_memory_is_kept(tmp_path):
    code = """if True:
        import resource, sys
        import numpy as np, raydex
        def chunks(count):
            for i in range(count):
                yield np.random.default_rng(i).integers(0, 2**62, 200_000)
        raydex.build_file(chunks(2), sys.argv[1] + "/first", memory="1MiB").close()
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        raydex.build_file(chunks(40), sys.argv[1] + "/an.index", memory="32MiB").close()
        print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)"""
    ended = subprocess.run([sys.executable, "-c", code, tmp_path], capture_output=True, text=True, check=True)
    assert 1024 * int(ended.stdout) < 40 << 20  # 8 MB beyond it, of the heap
    with raydex.load(tmp_path / "an.index") as index:
        assert index.info.n == 8_000_000
