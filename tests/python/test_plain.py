# SPDX-License-Identifier: Apache-2.0
"""The short way of plain arrays against the general one. On a GPU without one: PyTorch is made to say that its
tensors are on one, and an index in host memory takes itself for one there. `stream=0` asks for the general way."""

import ctypes
import sys
import types

import in_threads
import numpy as np
import pytest
import raydex
from raydex import _array_libraries, _columns, _cuda, _devices, _joins, _keys, _plain, _raydex, _searching, _sources

torch = pytest.importorskip("torch")

NUMBERS = ["int32", "int64", "uint32", "uint64", "float32", "float64"]
KEY = _keys.Key(np.dtype("int64"))


class Table(ctypes.Structure):
    _fields_ = [("major", ctypes.c_uint32), ("minor", ctypes.c_uint32), ("older", ctypes.c_void_p),
                ("functions", ctypes.c_void_p * 5)]


class Description(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("kind", ctypes.c_int32), ("device", ctypes.c_int32)]


def capsule_of(table):
    make = ctypes.pythonapi.PyCapsule_New
    make.restype, make.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
    return make(ctypes.addressof(table), b"dlpack_exchange_api", None)


@pytest.fixture
def device(monkeypatch):
    """A GPU that is none: `device.current` is the driver's handle of the current one, 5 its own."""
    capsule = getattr(torch.Tensor, "__dlpack_c_exchange_api__", None)
    if capsule is None:
        pytest.skip("a PyTorch without DLPack's C functions")
    found = ctypes.pythonapi.PyCapsule_GetPointer
    found.restype, found.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    own = Table.from_address(found(capsule, b"dlpack_exchange_api"))
    own_describe = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p)(own.functions[3])
    of = types.SimpleNamespace(current=5, number=0, stream=0)

    @ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p)
    def describe(tensor, out):
        try:
            code = own_describe(tensor, out)
        except Exception:  # noqa: BLE001, which C sees as a code
            return -1
        description = Description.from_address(out)
        description.kind, description.device = 2, of.number
        return code

    @ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_int32, ctypes.c_int32, ctypes.POINTER(ctypes.c_uint64))
    def current_stream(kind, number, out):
        out[0] = of.stream
        return 0

    @ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(ctypes.c_int))
    def ask(out):
        out[0] = of.current
        return 0

    functions = list(own.functions)
    functions[3:] = [ctypes.cast(one, ctypes.c_void_p).value for one in (describe, current_stream)]
    table = Table(own.major, own.minor, None, (ctypes.c_void_p * 5)(*functions))
    monkeypatch.setattr(torch.Tensor, "__dlpack_c_exchange_api__", capsule_of(table))
    of.kept = (describe, current_stream, ask, table)
    of.check = _raydex.DeviceCheck(ctypes.cast(ask, ctypes.c_void_p).value, 5)

    for name, value in (("is_cuda", True), ("is_cpu", False), ("get_device", lambda _: of.number)):
        monkeypatch.setattr(torch.Tensor, name, value, raising=False)
    monkeypatch.setattr(torch._C, "_cuda_getCurrentRawStream", lambda _: of.stream, raising=False)
    driver = types.SimpleNamespace(devices={}, device=lambda _: types.SimpleNamespace(check=of.check, handle=5))
    monkeypatch.setattr(_cuda, "_driver", driver)
    of.library = _array_libraries.TorchLibrary(0)
    of.library.torch_device = torch.device("cpu")
    for module in (_array_libraries, _plain, _sources):
        monkeypatch.setattr(module, "torch_library", lambda number: of.library)
    _plain._library.cache_clear()
    monkeypatch.setitem(_devices._sessions, 0, _raydex.Session("cpu"))
    search, build, mark = _raydex.search_sorted, _raydex.Index, _raydex.is_in
    monkeypatch.setattr(_raydex, "search_sorted", lambda where, *rest: search("cpu", *rest))
    monkeypatch.setattr(_raydex, "Index", lambda structure, where, *rest: build(structure, "cpu", *rest))
    monkeypatch.setattr(_raydex, "is_in", lambda where, *rest: mark("cpu", *rest))
    # Counts what goes the general way.
    of.looked = 0
    look = _sources.look

    def counted(*arguments):
        of.looked += 1
        return look(*arguments)

    for module in (*(sys.modules[f"raydex.{one}"] for one in ("_batches", "_index", "_minima")), _searching):
        monkeypatch.setattr(module, "look", counted)
    yield of
    _plain._library.cache_clear()


def on_device(keys):
    """An index that says to be on the GPU."""
    key = _keys.Key(keys.dtype)
    source = _columns.column_of(_sources.look("keys", keys), 0)
    native = _raydex.Index("sorted_array", "cpu", _raydex.Session("cpu"), 0, source.native, None, {})
    index = raydex.Index(native, _devices.Device("cuda", 0), key, None, 0)
    index._closed = True  # it goes with the last reference, and asks no driver
    return index


def is_plain(index, first, second=_plain.NONE, stream=None):
    return _plain.plain_columns(first, second, stream, index._plain_device, index._key) is not None


def put(array):
    return torch.as_tensor(np.ascontiguousarray(array))


def same(found, expected):
    assert type(found) is torch.Tensor and found.dtype == expected.dtype
    np.testing.assert_array_equal(found.numpy(), expected.numpy())


@pytest.mark.parametrize("dtype", NUMBERS)
def test_both_ways_answer_the_same(device, dtype, random):
    keys = random.integers(0, 500, 2000).astype(dtype)
    lower = put(random.integers(0, 600, 300).astype(dtype))
    upper = put(lower.numpy() + np.asarray(9, dtype))
    index = on_device(keys)
    asked = [
        lambda **on: index.first(lower, **on), lambda **on: index.count(lower, **on),
        lambda **on: index.contains(lower, **on),
        lambda **on: index.rank(lower, **on), lambda **on: index.rank(lower, "right", **on),
        lambda **on: index.predecessor(lower, **on), lambda **on: index.successor(lower, True, **on),
        lambda **on: index.first(lower, upper, **on), lambda **on: index.count(lower, upper, **on),
    ]  # fmt: skip
    for one in asked:
        short = one()
        assert device.looked == 0
        same(short, one(stream=0))
        assert device.looked > 0
        device.looked = 0
    assert index.count(lower[:0]).shape == (0,) and device.looked == 0
    with pytest.raises(raydex.InvalidArgument, match="299"):
        index.count(lower, upper[1:])


def test_columns_that_are_not_contiguous(device, random):
    keys = random.integers(0, 500, 2000)
    index, table = on_device(keys), put(random.integers(0, 600, (300, 3)))
    for points in (table[:, 1], table[::2, 2], table[5:6, 0]):
        short = index.count(points)
        assert device.looked == 0
        same(short, index.count(points, stream=0))
        device.looked = 0
    same(index.count(table[:1, 0].expand(1)), index.count(table[:1, 0], stream=0))


def test_what_is_not_plain(device):
    """Each goes the general way, with its answer or its error."""
    index, points = on_device(np.arange(9)), put([3, 10])
    floats = on_device(np.arange(9.0))
    assert is_plain(index, points)
    assert not is_plain(index, points, stream=0)
    for other in (points.int(), points.double(), points[0], points.reshape(1, 2), points[:1].expand(2), [3, 10],
                  points.numpy(), torch.nn.Parameter(points, requires_grad=False), None, 3):  # fmt: skip
        assert not is_plain(index, other) and not is_plain(index, points, other)
    same(index.count(points.int()), put([1, 0]))
    assert index.count(points[0]).ndim == 0
    with pytest.raises(raydex.InvalidArgument, match="2 dimensions"):
        index.count(points.reshape(1, 2))
    with pytest.raises(raydex.InvalidArgument, match="one cell, repeated"):
        index.count(points[:1].expand(2))
    with pytest.raises(raydex.InvalidType, match="but int64 are asked for"):
        index.count(points.double())
    with pytest.raises(raydex.InvalidArgument, match="in host memory, but the index is on cuda:0"):
        index.count(points.numpy())

    assert is_plain(floats, torch.ones(2, dtype=torch.float64))
    gradient = torch.ones(2, dtype=torch.float64, requires_grad=True)
    negative = torch._neg_view(torch.ones(2, dtype=torch.float64))
    imaginary = torch.ones(2, dtype=torch.complex128).conj().imag
    for other in (gradient, negative, imaginary, torch.ones(2, dtype=torch.float64).to_sparse()):
        assert not is_plain(floats, other)
    for other in (negative, imaginary):
        with pytest.raises(raydex.InvalidArgument, match="give x.resolve_neg"):
            floats.count(other)
    seen = []
    torch.func.vmap(lambda x: (seen.append(is_plain(index, x)), x)[1])(points.reshape(1, 2))
    torch.func.functionalize(lambda x: (seen.append(is_plain(index, x)), x)[1])(points)
    assert seen == [False, False]


def test_the_device(device):
    index, points = on_device(np.arange(9)), put([3, 10])
    device.current = 6
    assert not is_plain(index, points)
    device.current = 5
    device.number = 1
    assert not is_plain(index, points)
    device.number = 0
    assert is_plain(index, points)
    device.check.forget()  # as in a forked process
    assert not is_plain(index, points)


def test_the_stream(device):
    index, points = on_device(np.arange(9)), put([3, 10])
    device.stream = 96
    assert index._batch(points, None, None).stream == 96
    assert set(index._streams) == {0, 96}  # for whose work a close waits


def test_a_closed_index(device):
    index, points = on_device(np.arange(9)), put([3, 10])
    index._native.close()
    with pytest.raises(raydex.InvalidArgument, match="it is closed"):
        index.count(points)
    assert device.looked == 0


def test_threads(device, random):
    keys = random.integers(0, 500, 2000)
    index, points = on_device(keys), put(random.integers(0, 600, 300))
    expected = index.count(points)

    def ask():
        for _ in range(200):
            same(index.count(points), expected)

    in_threads.run([ask] * 4)


def test_a_library_without_the_functions(device, monkeypatch):
    newer = Table(2, 0, None)
    for table in (None, 7, capsule_of(newer)):
        monkeypatch.setattr(torch.Tensor, "__dlpack_c_exchange_api__", table)
        assert _array_libraries.TorchLibrary(0).plain(put([3]), KEY) is None


@pytest.mark.parametrize("dtype", NUMBERS)
def test_searchsorted(device, dtype, random):
    a, v = np.sort(random.integers(0, 900, 1000)).astype(dtype), random.integers(0, 1000, 300).astype(dtype)
    for values in (v, np.arange(0, dtype=dtype)):
        for side in ("left", "right"):
            found = raydex.searchsorted(put(a), put(values), side)
            assert device.looked == 0
            same(found, put(np.searchsorted(a, values, side)))
            same(found, raydex.searchsorted(put(a), put(values), side, stream=0))
            device.looked = 0
    with pytest.raises(raydex.InvalidArgument, match="side"):
        raydex.searchsorted(put(a), put(v), "middle")
    for nothing in (lambda: raydex.searchsorted(put(a), None), lambda: raydex.isin(None, put(a))):
        with pytest.raises(raydex.InvalidType):
            nothing()


@pytest.mark.parametrize("types_of", [("int32", "int64"), ("int64", "float64"), ("int8", "int8"), ("bool", "bool")])
def test_searchsorted_of_other_types(device, types_of, random):
    a, v = np.sort(random.integers(0, 2, 50)).astype(types_of[0]), random.integers(0, 2, 30).astype(types_of[1])
    same(raydex.searchsorted(put(a), put(v)), put(np.searchsorted(a, v)))
    assert device.looked > 0
    same(raydex.searchsorted(put(a), put(v)[0]), put(np.searchsorted(a, v))[0])
    order = np.arange(50)[::-1].copy()
    same(raydex.searchsorted(put(a[::-1]), put(v), sorter=put(order)), put(np.searchsorted(a, v)))


@pytest.mark.parametrize("dtype", ["int64", "float32"])
@pytest.mark.parametrize("invert", [False, True])
def test_isin(device, dtype, invert, random):
    keys, points = random.integers(0, 500, 2000).astype(dtype), random.integers(0, 1000, 300).astype(dtype)
    if dtype == "float32":
        keys[-9:] = points[-5:] = np.nan
    index, expected = on_device(keys), put(np.isin(points, keys, invert=invert))
    short = index.isin(put(points), invert), raydex.isin(put(points), put(keys), invert=invert)
    assert device.looked == 0
    for found in (*short, index.isin(put(points), invert, stream=0),
                  raydex.isin(put(points), put(keys), invert=invert, stream=0),
                  raydex.isin(put(points.astype("float64")), put(keys), invert=invert)):  # fmt: skip
        same(found, expected)
    assert device.looked > 0
    assert index.isin(put(points)[0], invert).shape == ()


def test_minima(device, random):
    values = random.integers(-100, 100, 1000)
    on_host = raydex.rmq(values)
    of = raydex.Rmq(on_host._native, ("min",), _devices.Device("cuda", 0), on_host._key, None, 0, on_host._values)
    lower = random.integers(0, 1000, 300)
    device.looked = 0
    for dtype in ("int64", "int32"):
        ends = put(lower.astype(dtype)), put((lower + 20).astype(dtype))
        for ask in (of.min, of.argmin):
            short = ask(*ends)
            assert device.looked == 0
            same(short, ask(*ends, stream=0))
            assert device.looked > 0
            device.looked = 0
    np.testing.assert_array_equal(of.min(*ends).numpy(), on_host.min(lower, lower + 20))
    with pytest.raises(raydex.InvalidType, match="positions are integers"):
        of.min(put(lower.astype("float64")), put(lower.astype("float64")))
    of.close()
    with pytest.raises(raydex.InvalidArgument, match="it is closed"):
        of.min(*ends)


class Array:
    """What is read of an array of CuPy."""

    def __init__(self, array, number=0):
        self.array = array
        self.ndim, self.dtype, self.size, self.strides = array.ndim, array.dtype, array.size, array.strides
        address = array.__array_interface__["data"][0]
        self.data = types.SimpleNamespace(ptr=address, device_id=number)


def test_cupy(device, monkeypatch, random):
    stream = types.SimpleNamespace(ptr=96)
    cuda = types.SimpleNamespace(get_current_stream=lambda _: stream)
    made = lambda size, dtype: Array(np.empty(size, dtype))  # noqa: E731
    monkeypatch.setitem(sys.modules, "cupy", types.SimpleNamespace(ndarray=Array, cuda=cuda, empty=made))
    monkeypatch.setattr(_plain, "cupy_library", _array_libraries.CupyLibrary)
    keys, points = random.integers(0, 500, 2000), random.integers(0, 600, 300)
    index = on_device(keys)
    for one in (points, points[::2], points[5:6], points[:0]):
        expected = [np.count_nonzero(keys == point) for point in one]
        np.testing.assert_array_equal(index.count(Array(one)).array, expected)
    assert device.looked == 0 and index._streams[96] is stream
    found = raydex.searchsorted(Array(np.sort(keys)), Array(points))
    np.testing.assert_array_equal(found.array, np.searchsorted(np.sort(keys), points))
    for other in (Array(points.astype("int32")), Array(points[::-1]), Array(points.reshape(3, 100)), Array(points[0]),
                  Array(np.broadcast_to(points[:1], 5)), Array(points, 1), points):  # fmt: skip
        assert not is_plain(index, other)
    device.current = 6
    assert not is_plain(index, Array(points))


def test_keys_of_several_libraries_are_not_plain(device, random):
    build, probe = random.integers(0, 500, (2, 20))
    for sides in (((put(build), put(build)), (put(probe), put(probe))), ((build, build), (probe, probe))):
        assert _joins.plain_keys(*sides, None) is not None
    assert _joins.plain_keys((put(build), build), (put(probe), probe), None) is None


def test_keys_of_several_plain_columns(random, monkeypatch):
    build, probe = ([random.integers(0, 20, size), random.integers(0, 20, size).astype("int32")] for size in (300, 400))
    given = [(build, probe), (tuple(build), probe), (build[:1], (probe[0],)), (build[0], probe[0])]
    for sides in given:
        assert _joins.plain_keys(*sides, None) is not None
    found = [raydex.join(*sides, "full") for sides in given]
    for other in ([], [probe[0]], [probe[0], probe[1].astype("int64")], [probe[0], list(probe[1])], probe[0]):
        assert _joins.plain_keys(build, other, None) is None
    assert _joins.plain_keys([1, 2], [1, 2], None) is None and _joins.plain_keys([], [], None) is None
    with pytest.raises(raydex.InvalidArgument, match="columns of 300 and of 7 rows"):
        raydex.join([build[0], build[1][:7]], probe)
    monkeypatch.setattr(_joins, "plain_keys", lambda *_: None)
    for sides, rows in zip(given, found):
        for one, other in zip(rows, raydex.join(*sides, "full")):
            np.testing.assert_array_equal(one, other)


@pytest.fixture
def looked(monkeypatch):
    """What goes the general way, in host memory; none without DLPack's C functions."""
    if getattr(torch.Tensor, "__dlpack_c_exchange_api__", None) is None:
        pytest.skip("a PyTorch without DLPack's C functions")
    seen, look = [], _sources.look
    for module in (sys.modules["raydex._index"], sys.modules["raydex._minima"], _searching, _joins):
        monkeypatch.setattr(module, "look", lambda *of: seen.append(of) or look(*of))
    return seen


@pytest.mark.parametrize("dtype", NUMBERS)
def test_tensors_in_host_memory(dtype, looked, random):
    keys = np.sort(random.integers(0, 500, 2000)).astype(dtype)
    index, a = raydex.build(keys), put(keys)
    looked.clear()
    for size in (0, 1, 100, 1000):
        points = random.integers(0, 600, size).astype(dtype)
        v = put(points)
        for side in ("left", "right"):
            same(raydex.searchsorted(a, v, side), put(np.searchsorted(keys, points, side)))
        for invert in (False, True):
            same(raydex.isin(v, a, invert=invert), put(np.isin(points, keys, invert=invert)))
        same(index.first(v), put(index.first(points)))
        same(index.count(v, v), put(index.count(points, points)))
        for one, other in zip(raydex.join(a, v), raydex.join(keys, points)):
            same(one, put(other))
    assert not looked


def test_isin_of_missing_tensors_in_host_memory(looked):
    cells, tests = np.array([1.0, np.nan, 2, -0.0]), np.array([np.nan, 0, 1])
    for invert in (False, True):
        same(raydex.isin(put(cells), put(tests), invert=invert), put(np.isin(cells, tests, invert=invert)))
    assert not looked


def test_tensors_in_host_memory_that_are_not_plain(looked):
    keys, cells = torch.arange(9), np.zeros(8 * 3 + 1, "u1")[1:].view("i8")
    cells[:] = [2, 3, 11]
    index = raydex.build(keys)
    assert raydex.searchsorted(keys, keys[::2]).tolist() == [0, 2, 4, 6, 8]
    assert raydex.join(keys[::2], keys).build.tolist() == [0, 1, 2, 3, 4]
    assert not looked
    askew = torch.from_numpy(cells)  # which may be at any address
    assert raydex.searchsorted(keys, askew).tolist() == [2, 3, 9]
    assert raydex.isin(askew, keys).tolist() == [True, True, False]
    assert index.first(askew).tolist() == [2, 3, -1]
    with pytest.raises(raydex.InvalidArgument, match="its cells are not aligned"):
        raydex.join(askew, askew)
    with pytest.raises(raydex.InvalidArgument, match="its cells are one cell, repeated"):
        raydex.join(keys[:1].expand(4), keys)
    assert raydex.searchsorted(keys, keys[:2].reshape(2, 1)).tolist() == [[0], [1]]
    assert raydex.searchsorted(keys, torch.tensor(3)).tolist() == 3
    assert raydex.searchsorted(keys, torch.tensor([2], dtype=torch.int16)).tolist() == [2]
    assert raydex.searchsorted(keys, np.array([3, 4])).tolist() == [3, 4]
    floats = torch.arange(3.0)
    with pytest.raises(raydex.InvalidArgument, match="a tensor that needs gradients"):
        raydex.searchsorted(floats, torch.zeros(3, requires_grad=True))
    with pytest.raises(raydex.InvalidArgument, match="a tensor that is negated when it is read"):
        raydex.searchsorted(floats, torch.tensor([1 + 2j]).conj().imag)
    with pytest.raises(raydex.InvalidArgument, match="stream: 5, but columns in host memory have none"):
        raydex.searchsorted(keys, keys, stream=5)
