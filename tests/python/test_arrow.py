# SPDX-License-Identifier: Apache-2.0
"""Arrow's columns of other kinds than plain host arrays, and results as Arrow has them."""

import datetime
import sys
import types

import numpy as np
import pytest
import raydex
from arrow_device import OnDevice
from raydex import _columns, _cuda, _keys
from raydex._sources import look

pa = pytest.importorskip("pyarrow")


def address(array):
    return array.buffers()[1].address


def test_matches():
    found = raydex.build([5, 6, 5, 7]).rows([5, 9, 7])
    lists = found.to_arrow()
    assert lists.type == pa.large_list(pa.int64())
    assert lists.to_pylist() == [[0, 2], [], [3]]
    assert address(lists.values) == found.rows.__array_interface__["data"][0]
    assert raydex.build([5]).rows([]).to_arrow().to_pylist() == []
    torch = pytest.importorskip("torch")
    of_torch = raydex.build(torch.tensor([5, 6, 5])).rows(torch.tensor([5, 9]))
    assert isinstance(of_torch.rows, torch.Tensor) and of_torch.to_arrow().to_pylist() == [[0, 2], []]


@pytest.mark.parametrize("how,rows", [
    ("inner", {"probe": [0, 2, 2], "build": [1, 0, 2]}),
    ("left", {"probe": [0, 1, 2, 2], "build": [1, None, 0, 2]}),
    ("right", {"probe": [0, 2, 2, None], "build": [1, 0, 2, 3]}),
    ("full", {"probe": [0, 1, 2, 2, None], "build": [1, None, 0, 2, 3]}),
    ("semi", {"probe": [0, 2]}),
    ("anti", {"probe": [1]}),
])
def test_rows_of_joins(how, rows):
    found = raydex.join([5, 6, 5, 8] if how in ("right", "full") else [5, 6, 5], [6, 7, 5], how)
    table = found.to_arrow()
    assert table.to_pydict() == rows
    assert all(column.type == pa.int64() for column in table.columns)
    for name in rows:
        assert address(table[name].chunk(0)) == getattr(found, name).__array_interface__["data"][0]
    # What is null takes a null.
    names = pa.array(["a", "b", "c"])
    if how == "left":
        assert names.take(table["build"].chunk(0)).to_pylist() == ["b", None, "a", "c"]


def test_results_outlive_what_they_are_of():
    lists = raydex.build(np.zeros(10_000, "int32")).rows(np.zeros(2, "int32")).to_arrow()
    np.testing.assert_array_equal(lists.values, np.tile(np.arange(10_000), 2))


def test_without_pyarrow(monkeypatch):
    found = raydex.build([5]).rows([5])
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(ImportError, match="pyarrow"):
        found.to_arrow()


DAYS = [datetime.date(2020, 1, 2), None, datetime.date(1960, 1, 1), datetime.date(2020, 1, 2)]
NOON = datetime.datetime(2020, 1, 2, 12)
VALUES = {
    pa.int8(): [3, None, -3, 3], pa.int64(): [1 << 40, None, -3, 1 << 40],
    pa.float32(): [0.5, None, -1.0, 0.5],
    pa.bool_(): [True, None, False, True], pa.date32(): DAYS,
    pa.timestamp("ms"): [NOON, None, datetime.datetime(1960, 1, 1), NOON],
    pa.binary(3): [b"abc", None, b"abd", b"abc"],
}


@pytest.mark.parametrize("places", ["int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64"])
@pytest.mark.parametrize("kind", VALUES, ids=str)
def test_dictionaries(kind, places):
    plain = pa.array(VALUES[kind], kind)
    encoded = plain.dictionary_encode().cast(pa.dictionary(getattr(pa, places)(), kind))
    for whole in (encoded, pa.chunked_array([encoded.slice(0, 1), encoded.slice(1)]), encoded.slice(1)):
        of = plain.slice(1) if len(whole) == 3 else plain
        index, expected = raydex.build(whole), raydex.build(of)
        assert len(index) == len(expected) == len(of) - 1 and index.info.key == expected.info.key
        np.testing.assert_array_equal(index.first(of), expected.first(of))
        np.testing.assert_array_equal(expected.first(whole), expected.first(of))


def test_dictionaries_with_missing_values_and_none():
    numbers = pa.array([None, 8, None]).slice(1)
    anything = np.array([0, 100, 1, -100, 0, 1], "int8")  # where nothing is
    for places, expected in (
        (pa.array(anything, mask=np.array([0, 1, 0, 1, 0, 1], "?")), [0, -1, -1, -1, 0, -1]),
        (pa.array([1, 0, 0], pa.uint32()), [-1, 1, 1]),
        (pa.array([None, None], pa.int16()), [-1, -1]),
    ):
        encoded = pa.DictionaryArray.from_arrays(places, numbers)
        np.testing.assert_array_equal(raydex.build(encoded).first(encoded), expected)
    empty = pa.DictionaryArray.from_arrays(pa.array([None, None], pa.int8()), pa.array([], pa.float64()))
    assert len(raydex.build(empty)) == 0 and raydex.build(empty).info.key == "double"
    assert len(raydex.build(pa.chunked_array([], pa.dictionary(pa.int8(), pa.int32())))) == 0
    many = pa.array(np.arange(1000) % 300).dictionary_encode()
    chunks = pa.chunked_array([many.slice(3, 500), pa.array([5, None]).dictionary_encode(), many.slice(17)])
    whole = chunks.cast(pa.int64())
    np.testing.assert_array_equal(raydex.build(chunks).first(chunks), raydex.build(whole).first(whole))


@pytest.mark.parametrize("text", [pa.string(), pa.large_string(), pa.string_view(), pa.binary()], ids=str)
def test_dictionaries_of_strings(text, random):
    words = pa.array(["", "a", None, "a word longer than views hold", "b"]).cast(text)
    places = pa.array(random.integers(0, 4, 200), mask=random.random(200) < 0.2)
    encoded = pa.DictionaryArray.from_arrays(places.cast(pa.int16()), words.slice(1))
    plain = pa.array(encoded.to_pylist())
    chunks = pa.chunked_array([encoded, encoded.slice(3)])
    for build, probe in ((encoded, plain), (plain, encoded.slice(7)), (chunks, plain)):
        expected = raydex.join(pa.array(build.to_pylist()), pa.array(probe.to_pylist()))
        found = raydex.join(build, probe)
        np.testing.assert_array_equal(found.probe, expected.probe)
        np.testing.assert_array_equal(found.build, expected.build)


def test_categoricals():
    pd, pl = pytest.importorskip("pandas"), pytest.importorskip("polars")
    words = ["b", "a", None, "b"]
    for of in (pd.Series(words, dtype="category"), pl.Series(words, dtype=pl.Categorical),
               pl.Series(words, dtype=pl.Enum(["a", "b"]))):
        found = raydex.join(of, pa.array(["a", "b"]))
        assert found.to_arrow().to_pydict() == {"probe": [0, 1, 1], "build": [1, 0, 3]}
    numbers = pd.Series([30, 10, None, 30], dtype="category")
    np.testing.assert_array_equal(raydex.build(numbers).first([30.0, 10.0]), [0, 1])
    frame = pd.DataFrame({"a": pd.Series(words, dtype="category"), "b": [1, 2, 3, 4]})
    found = raydex.join(frame, pd.DataFrame({"b": [2, 4], "a": ["a", "a"]}))
    assert found.to_arrow().to_pydict() == {"probe": [0], "build": [1]}


def test_arrays_of_the_device_interface_on_the_cpu():
    keys = OnDevice(pa.array([3, None, 1]).slice(1), kind=1, number=-1)
    assert raydex.build(keys).first([1, 3]).tolist() == [1, -1]
    table = OnDevice(pa.record_batch({"a": [1, 2], "b": ["x", "y"]}), kind=1, number=-1)
    assert raydex.join(table, {"a": [2], "b": pa.array(["y"])}).build.tolist() == [1]
    with pytest.raises(TypeError, match="a device of Arrow's type 8; copy it to the CPU or to CUDA"):
        raydex.build(OnDevice(pa.array([1]), kind=8))
    taken = OnDevice(pa.array([1, 2]), kind=1).__arrow_c_device_array__()
    twice = types.SimpleNamespace(__arrow_c_device_array__=lambda: taken)
    assert len(raydex.build(twice)) == 2
    with pytest.raises(ValueError, match="was taken by somebody else"):
        raydex.build(twice)


@pytest.mark.parametrize("kind,dtype,unit", [
    (pa.int32(), "int32", ""), (pa.uint64(), "uint64", ""), (pa.float64(), "float64", ""),
    (pa.int8(), "int8", ""),
    (pa.timestamp("us"), "datetime64[us]", ""), (pa.date32(), "int32", "date32"),
    (pa.timestamp("ns", "UTC"), "int64", "datetime64[ns, tz]"),
])
def test_cells_on_a_gpu(kind, dtype, unit):
    array = pa.array([1, None, 3] * 8).cast(pa.int32() if kind == pa.date32() else pa.int64()).cast(kind)
    width = np.dtype(dtype).itemsize
    source = look("column", OnDevice(array.slice(8)))
    cells = source.cells
    assert source.library.device == 3 and source.library.name == "raydex"
    assert (cells.dtype, cells.unit, cells.size, cells.stride) == (dtype, unit, 16, width)
    assert cells.address == array.buffers()[1].address + 8 * width
    assert cells.validity == array.buffers()[0].address + 1
    assert look("column", OnDevice(array.drop_null())).cells.validity == 0
    cut = look("column", OnDevice(array.slice(11))).cells
    assert (cut.validity, cut.first_bit, cut.size) == (array.buffers()[0].address + 1, 3, 13)
    assert str(_columns.key_of(source)) == (unit or dtype if kind != pa.int8() else "int32")
    if unit:
        with pytest.raises(TypeError, match="but int32 are asked for|but int64 are asked for"):
            _columns.column_of(source, 0, _keys.Key(np.dtype(dtype)))


def test_strings_and_tables_on_a_gpu():
    for text in (pa.string(), pa.large_string()):
        words = pa.array(["ab", None, "c"] * 6).cast(text)
        source = look("column", OnDevice(words.slice(8)))
        cells = source.cells
        assert source.library.device == 3 and cells.size == 10 and cells.wide == (text == pa.large_string())
        bits, offsets, letters = words.buffers()
        assert cells.bytes == letters.address and cells.validity == (bits.address + 1, 0)
        assert cells.offsets == offsets.address + 8 * (8 if cells.wide else 4)
        assert look("column", OnDevice(words.slice(13))).cells.validity == (bits.address + 1, 5)
    batch = pa.record_batch({"a": [1, 2], "b": ["x", "y"]})
    with pytest.raises(TypeError, match="a table of 2 columns, a, b; give one of them"):
        raydex.build([1]).first(OnDevice(batch))
    with pytest.raises(ValueError, match=r"probe\['a'\]: it is in host memory, but build\['a'\] in cuda:3"):
        raydex.join(OnDevice(batch), {"a": [1], "b": pa.array(["x"])})
    words = pa.array(["a"])
    for column, of in ((pa.array([True]), "of Arrow's type 'b'"), (words.cast("string_view"), "type 'vu'"),
                       (words.dictionary_encode(), "dictionary-encoded")):
        with pytest.raises(TypeError, match=f"{of} in the memory of a GPU; convert it first"):
            raydex.build(OnDevice(column))


def test_events_are_waited_for(monkeypatch):
    waits = []
    monkeypatch.setattr(_cuda, "wait_for", lambda *what: waits.append(what))
    for column in (pa.array([1, 2]), pa.array(["a"])):
        source = look("column", OnDevice(column, event=77))
        assert source.cells.event == 77 and waits == []
        for _ in range(2):
            _columns.column_of(source, 5)
        assert waits == [(5, 77, 3)]  # once
        waits.clear()
    _columns.column_of(look("column", OnDevice(pa.array([1, 2]))), 5)
    assert waits == []


def test_columns_of_cudf(monkeypatch):
    """cuDF's own interface of host memory is a copy, and its columns have one of devices."""

    class Series:
        def __init__(self, column):
            self.column = column

        def __arrow_c_stream__(self, requested_schema=None):
            raise AssertionError("that would be a copy to the host")

        def to_pylibcudf(self):
            return OnDevice(self.column), {}

    class DataFrame:
        columns = ["a"]

        def __getitem__(self, name):
            return Series(pa.array([1]))

    cudf = types.SimpleNamespace(Series=Series, DataFrame=DataFrame, Index=Series)
    monkeypatch.setitem(sys.modules, "cudf", cudf)
    assert look("column", Series(pa.array([1, None]))).library.device == 3
    with pytest.raises(ValueError, match=r"build\['a'\] in cuda:3"):
        raydex.join(DataFrame(), {"a": [1]})


class CudaArray:
    def __init__(self, array, **more):
        self.array = array
        self.__cuda_array_interface__ = {
            "shape": array.shape, "typestr": array.dtype.str, "strides": None, "version": 3,
            "data": (array.__array_interface__["data"][0], False), **more}


def test_masks_of_cuda_arrays(monkeypatch):
    monkeypatch.setattr(_cuda, "device_of", lambda address: 3)
    bits, bools = np.array([5], "u1"), np.ones(3, "?")
    bitmap = CudaArray(bits)
    bitmap.__cuda_array_interface__.update(typestr="<t1", shape=(3,))
    source = look("column", CudaArray(np.arange(3), mask=bitmap))
    assert source.library.device == 3 and source.cells.validity == bits.__array_interface__["data"][0]
    short = CudaArray(bits)
    short.__cuda_array_interface__.update(typestr="<t1", shape=(2,))
    for mask in (CudaArray(bools), CudaArray(np.zeros(64, "u1")), short):
        with pytest.raises(TypeError, match="a mask of .*, and only bitmaps are read; fill or drop"):
            look("column", CudaArray(np.arange(3), mask=mask))
