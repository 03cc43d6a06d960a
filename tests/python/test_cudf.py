# SPDX-License-Identifier: Apache-2.0
"""Merges of cuDF's frames, on what stands in for cuDF, against those of pandas' nullable types; columns of it, and
gather maps for pylibcudf. test_cudf_gpu.py has pylibcudf itself."""

import sys
import types

import cudf_stand_in
import numpy as np
import pages
import pytest
import raydex
from arrow_device import OnDevice
from raydex import _array_libraries, _cuda

pd = pytest.importorskip("pandas")
pa = pytest.importorskip("pyarrow")

TEXTS = ["ann", "a name of some length", "", "bob", "c", "d"]


@pytest.fixture
def cudf(monkeypatch):
    return cudf_stand_in.install(monkeypatch)


def frames_of(random, kind):
    """Two frames with a key, of few values, that may be missing."""
    made = []
    for name, rows in (("a", 40), ("b", 30)):
        at, gone = random.integers(0, 6, rows), random.random(rows) < 0.2
        keys = {
            "integers": pd.Series(at, dtype="Int32").mask(gone),
            "narrow": pd.Series(at - 3, dtype="Int16").mask(gone),
            "flags": pd.Series(at > 3, dtype="boolean").mask(gone),
            "texts": pd.Series(np.array(TEXTS)[at], dtype="string").mask(gone),
            "times": pd.Series(at.astype("M8[s]")).mask(gone),
            "categories": pd.Series(np.array(list("abcdef"))[at], dtype="category").mask(gone),
        }[kind]
        made.append(pd.DataFrame({"key": keys, "place": random.integers(0, 2, rows), "both": np.arange(rows),
                                  name: pd.Series(np.arange(rows), dtype="Int64")}).convert_dtypes())
    return made


def same(found, expected):
    """The cells and the types, missing ones included."""
    pd.testing.assert_frame_equal(found.of.convert_dtypes(), expected.convert_dtypes())


@pytest.mark.parametrize("how", ["inner", "left", "right", "outer", "semi", "anti"])
@pytest.mark.parametrize("kind", ["integers", "narrow", "flags", "texts", "times", "categories"])
def test_as_of_pandas(cudf, random, kind, how):
    left, right = frames_of(random, kind)
    for words in ({"on": "key"}, {"on": ["place", "key"], "suffixes": ("", "_of")}, {"on": "key", "sort": True}):
        found = raydex.merge(cudf.DataFrame(left), cudf.DataFrame(right), how, **words)
        assert isinstance(found, cudf.DataFrame)
        expected = raydex.merge(left, right, how, **words)
        assert found.of["key"].dtype == left["key"].dtype
        same(found, expected)


def test_what_is_beside_a_merge(cudf, random):
    left, right = frames_of(random, "integers")
    of = cudf.DataFrame(left), cudf.DataFrame(right)
    few = right[right["key"].isna() | (right["key"] == 2)]
    for how in ("outer", "semi", "anti"):
        found = raydex.merge(of[0], cudf.DataFrame(few), how, on="key", indicator=True).of
        expected = raydex.merge(left, few, how, on="key", indicator=True)
        assert 0 < len(found) != len(left)
        assert found["_merge"].tolist() == expected["_merge"].tolist()
        assert found["_merge"].cat.categories.tolist() == ["left_only", "right_only", "both"]
        assert found.index.tolist() == expected.index.tolist()
    with pytest.raises(raydex.InvalidArgument, match="keys are not unique in right, so this is no m:1 merge"):
        raydex.merge(*of, on="key", validate="m:1")
    assert len(raydex.merge(*of, on="key", missing_equal=False)) == len(
        raydex.merge(left, right, on="key", missing_equal=False))
    assert raydex.merge(*of, on="key").of["key"].isna().any()  # as in cuDF's own merges


@pytest.mark.parametrize("how", ["inner", "left", "right", "outer", "semi", "anti"])
def test_frames_of_no_rows(cudf, random, how):
    left, right = frames_of(random, "texts")
    for one, other in ((left, right[:0]), (left[:0], right), (left[:0], right[:0])):
        same(raydex.merge(cudf.DataFrame(one), cudf.DataFrame(other), how, on="key"),
             raydex.merge(one, other, how, on="key"))
    only_keys = raydex.merge(cudf.DataFrame(left), cudf.DataFrame(right[["key"]]), how, on="key")
    same(only_keys, raydex.merge(left, right[["key"]], how, on="key"))


def test_by_order(cudf, random):
    left, right = (
        pd.DataFrame({"time": pd.Series(random.integers(0, 60, rows)).astype("M8[s]"),
                      "by": pd.Series(random.integers(0, 3, rows), dtype="Int8"), name: np.arange(rows)})
        for name, rows in (("a", 30), ("b", 20))
    )
    of = cudf.DataFrame(left), cudf.DataFrame(right)
    for words in ({}, {"by": "by"}, {"direction": "nearest", "tolerance": "2s"}):
        same(raydex.merge_asof(*of, on="time", **words), raydex.merge_asof(left, right, on="time", **words))
    for how in ("inner", "left", "right", "outer", "semi", "anti"):
        words = {"on": "time", "by": "by", "distance": "1s", "how": how}
        same(raydex.merge_range(*of, **words), raydex.merge_range(left, right, **words))
    left, right = (one.assign(end=one["time"] + pd.Timedelta("5s")) for one in (left, right))
    words = {"on": ["time", "end"], "how": "left", "closed": "left"}
    same(raydex.merge_intervals(cudf.DataFrame(left), cudf.DataFrame(right), **words),
         raydex.merge_intervals(left, right, **words))


def test_columns_are_keys(cudf):
    frame = cudf.DataFrame(pd.DataFrame({"a": [3, 4, 5], "b": ["x", "y", "z"]}))
    other = cudf.DataFrame(pd.DataFrame({"b": ["z", "y"], "a": [5, 0]}))
    found = raydex.join(frame, other, "left")  # by names
    assert found.build.tolist() == [2, -1]
    assert raydex.join(frame["a"], other["a"]).build.tolist() == [2]
    assert raydex.build(frame[["a"]]).first(other["a"]).tolist() == [2, -1]
    assert raydex.build(frame).first(other).tolist() == [2, -1]
    assert found.take(build=frame).of["b"].tolist() == ["z", pd.NA]
    assert raydex.take(frame["a"], found.build).of.tolist() == [5, pd.NA]
    rows = np.array([2, 0, 1])
    for gone in (np.ma.MaskedArray(rows, mask=[0, 1, 0]), raydex.masked([2, -1, 1]), pa.array([2, None, 1]),
                 pd.Series([2, None, 1], dtype="Int64"), np.array([2, -1, 1], "int8"), [2, -1, 1]):  # fmt: skip
        assert raydex.take(frame["a"], gone).of.tolist() == [5, pd.NA, 4]
    for one in (np.uint64([2]), np.int64(2)):
        assert raydex.take(frame["a"], one).of.tolist() == [5]
    for wrong, error in ([3], ValueError), ([[0]], ValueError), ([0.5], TypeError), ([True], TypeError):
        with pytest.raises(error, match="rows: "):
            raydex.take(frame, np.array(wrong))


def test_tables_without_names():
    """Those of pylibcudf are matched by places."""
    table = pa.record_batch([pa.array([1, 2]), pa.array([1, 1])], names=["", ""])
    other = pa.record_batch([pa.array([2]), pa.array([1])], names=["", ""])
    found = raydex.join(OnDevice(table, kind=1), OnDevice(other, kind=1))
    assert found.build.tolist() == [1]
    named = OnDevice(pa.record_batch({"a": pa.array([1]), "b": pa.array([1])}), kind=1)
    assert raydex.join(named, OnDevice(other, kind=1)).build.tolist() == []


def test_refusals(cudf):
    frame = cudf.DataFrame(pd.DataFrame({"k": [1]}))
    with pytest.raises(ValueError, match=r"keys are columns of frames of cuDF; give x.reset_index\(\)"):
        raydex.merge(frame, frame, left_index=True, right_index=True)
    with pytest.raises(TypeError, match="right: a frame of pandas, but left is one of cudf"):
        raydex.merge(frame, pd.DataFrame({"k": [1]}), on="k")
    with pytest.raises(ValueError, match="rows: in host memory, and pylibcudf's columns are on a GPU"):
        raydex.to_pylibcudf(np.array([1]))


def test_the_example_of_the_page(cudf):
    block = (pages.SITE / "cudf.md").read_text(encoding="utf-8").split("```py\n")[1].split("```")[0]
    *lines, last = block.rstrip().split("\n")
    names = {}
    exec("\n".join(lines), names)
    assert eval(last, names).of["bid"].tolist() == [10.0, 10.1, pd.NA]


def test_gather_maps(monkeypatch):
    """They are rows of the same memory, unsigned, and libcudf's default stream waits for them."""
    taken, waits = [], []

    class Column:
        @staticmethod
        def from_cuda_array_interface(x):
            return taken.append(x) or len(taken)

    monkeypatch.setitem(sys.modules, "pylibcudf", types.SimpleNamespace(Column=Column))
    monkeypatch.setattr(_cuda, "device_of", lambda address: 3)
    monkeypatch.setattr(_cuda, "wait", lambda *what: waits.append(what))

    class Rows:
        def __init__(self, typestr, stream):
            self.__cuda_array_interface__ = {
                "shape": (2,), "typestr": typestr, "strides": None, "version": 3, "data": (64, False), "stream": stream}

    probe, build = Rows("<i8", 1), Rows("<i4", 77)
    assert raydex.JoinRows(probe, build).to_pylibcudf() == (1, 2)
    assert raydex.JoinRows(probe, None).to_pylibcudf() == (3,)
    assert [one.__cuda_array_interface__["typestr"] for one in taken] == ["<u8", "<u4", "<u8"]
    assert all(one.__cuda_array_interface__["data"] == (64, False) for one in taken)
    assert [one.rows for one in taken] == [probe, build, probe]
    assert waits == [(0, 0, 3), (0, 77, 3), (0, 0, 3)]
    with pytest.raises(TypeError, match="rows: they are <f8, and rows are int64 or int32"):
        raydex.to_pylibcudf(Rows("<f8", 1))
    current = Rows("<i8", 0)
    del current.__cuda_array_interface__["stream"]  # as of PyTorch: its current one
    monkeypatch.setattr(_array_libraries.ArrayLibrary, "current_stream", lambda self: (55, None))
    raydex.to_pylibcudf(current)
    assert waits[-1] == (0, 55, 3)
