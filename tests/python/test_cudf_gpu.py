# SPDX-License-Identifier: Apache-2.0
"""Merges of cuDF's frames with CuPy's rows, on what stands in for cuDF, and pylibcudf itself. test_cudf.py has the
API alone, on the CPU.

Skipped without a GPU."""

import importlib

import numpy as np
import pytest
import raydex
from array_libraries import HAS_GPU, Cupy
from arrow_device import OnDevice

if not HAS_GPU:
    pytest.skip("no GPU, or a raydex without CUDA", allow_module_level=True)


def test_frames_of_cudf(monkeypatch, random):
    """On what stands in for cuDF, with columns of a GPU, and with rows of CuPy that never come to the host."""
    pd, gpu = pytest.importorskip("pandas"), Cupy()
    pytest.importorskip("pyarrow")
    cudf_stand_in = importlib.import_module("cudf_stand_in")

    def put(buffer):
        there = gpu.module.asarray(np.frombuffer(buffer, "u1"))
        return there, there.data.ptr

    def exported(column):
        copies.append(column)
        return OnDevice(column, number=0, put=put)

    copies = []
    cudf = cudf_stand_in.install(monkeypatch, exported)
    left, right = (
        pd.DataFrame({"key": pd.Series(random.integers(0, 90, rows), dtype="Int16").mask(random.random(rows) < 0.2),
                      "text": pd.Series(np.array(["x", "a longer text", "y"])[random.integers(0, 3, rows)]),
                      "time": pd.Series(random.integers(0, 500, rows)).astype("M8[s]"),
                      name: np.arange(rows)})
        for name, rows in (("a", 400), ("b", 300))
    )
    of = cudf.DataFrame(left), cudf.DataFrame(right.astype({"key": "Int32"}))
    for how in ("inner", "left", "right", "outer", "semi", "anti"):
        for words in ({"on": "key"}, {"on": ["text", "key"], "indicator": how != "inner"}, {"on": "key", "sort": True}):
            found, expected = raydex.merge(*of, how, **words), raydex.merge(left, right, how, **words)
            names = [name for name in expected if name != "_merge"]
            pd.testing.assert_frame_equal(found.of[names].convert_dtypes(), expected[names].convert_dtypes(),
                                          check_dtype=False)
            assert "_merge" not in expected or found.of["_merge"].tolist() == expected["_merge"].tolist(), how
        words = {"on": "time", "by": "text", "distance": "1s", "how": how}
        found, expected = raydex.merge_range(*of, **words), raydex.merge_range(left, right, **words)
        pd.testing.assert_frame_equal(found.of.convert_dtypes(), expected.convert_dtypes(), check_dtype=False)
    found, expected = (raydex.merge_asof(*sides, on="time", by="text") for sides in (of, (left, right)))
    pd.testing.assert_frame_equal(found.of.convert_dtypes(), expected.convert_dtypes(), check_dtype=False)
    rows = raydex.join(of[0]["key"], of[1]["key"], "left")
    assert isinstance(rows.build, gpu.module.ndarray) and len(copies) > 0
    assert rows.take(build=of[0]).of["a"].isna().sum() == int((rows.build < 0).sum())
    floats = cudf.Series(pd.Series([1.5, np.nan, 2.5], dtype="float64"))
    np.testing.assert_array_equal(gpu.module.asnumpy(raydex.build(floats).isin(floats)), [True, False, True])


def test_pylibcudf(random):
    """Its columns and tables are joined where they lie, and gather maps are its columns of the same memory."""
    plc, gpu = pytest.importorskip("pylibcudf"), Cupy()

    def column(array):
        return plc.Column.from_cuda_array_interface(gpu.put(array))

    def cells(column):
        """With -1 for nulls; the cells themselves are 0 or more."""
        found = gpu.module.asnumpy(gpu.module.asarray(_Cells(column)))
        mask = column.null_mask()
        if mask is None or column.null_count() == 0:
            return found
        words = gpu.module.asarray(_Cells(column, mask, (column.size() + 7) // 8, "|u1"))
        there = np.unpackbits(gpu.module.asnumpy(words), bitorder="little")[:column.size()]
        return np.where(there == 1, found, -1)

    class _Cells:
        def __init__(self, column, memory=None, size=None, typestr="<i8"):
            memory = column.data() if memory is None else memory
            self.kept = column
            self.__cuda_array_interface__ = {
                "shape": (column.size() if size is None else size,), "typestr": typestr, "strides": None, "version": 3,
                "data": (memory.ptr, False)}

    left, right = random.integers(0, 400, 3000), random.integers(0, 500, 1000)
    values = np.arange(1000) * 3
    for dtype in ("int64", "int32"):
        for how in ("inner", "left", "full"):
            expected = raydex.join(right, left, how)
            found = raydex.join(column(right), column(left), how, dtype=dtype)
            probe_map, build_map = found.to_pylibcudf()
            assert build_map.data().ptr == found.build.__cuda_array_interface__["data"][0]
            for rows, gather_map, of in ((expected.build, build_map, values), (expected.probe, probe_map, left)):
                got = plc.copying.gather(plc.Table([column(of)]), gather_map, plc.copying.OutOfBoundsPolicy.NULLIFY)
                np.testing.assert_array_equal(cells(got.columns()[0]), np.where(rows >= 0, of[rows], -1))
    tables = [plc.Table([column(one), column(one % 7)]) for one in (right, left)]
    found, expected = raydex.join(*tables), raydex.join(right, left)
    np.testing.assert_array_equal(gpu.module.asnumpy(gpu.module.asarray(found.build)), expected.build)
    [semi] = raydex.join(*tables, "semi").to_pylibcudf()
    assert semi.size() == len(raydex.join(right, left, "semi").probe)
    theirs = plc.join.inner_join(tables[1], tables[0], plc.types.NullEquality.EQUAL)
    assert theirs[0].size() == len(expected.probe)
    rows = raydex.join_asof(column(right), column(left))
    got = plc.copying.gather(plc.Table([column(values)]), raydex.to_pylibcudf(rows),
                             plc.copying.OutOfBoundsPolicy.NULLIFY)
    at = raydex.join_asof(right, left)
    np.testing.assert_array_equal(cells(got.columns()[0]), np.where(at >= 0, values[at], -1))
