# SPDX-License-Identifier: Apache-2.0
"""Arrow's arrays that are not what their types say, as pyarrow lets one make them, and as a producer in C may: they
are refused before a pointer is read that leads anywhere."""

import ctypes

import numpy as np
import pytest
import raydex

pa = pytest.importorskip("pyarrow")


def of(kind, size, *buffers, offset=0):
    memory = [None if one is None else pa.py_buffer(one) for one in buffers]
    return pa.Array.from_buffers(kind, size, memory, -1, offset)


def numbers(dtype, *cells):
    return np.array(cells, dtype)


def view(size, buffer=0, offset=0):
    return np.array([size, 0, buffer, offset], "i4")


TEXT = b"a text of some letters"
DAMAGED = {
    "offsets that descend": of(pa.string(), 2, None, numbers("i4", 0, 9, 3), TEXT),
    "large offsets that descend": of(pa.large_string(), 2, None, numbers("i8", 0, 2**40, 3), TEXT),
    "views of no buffer": of(pa.string_view(), 1, None, view(20, 7), TEXT),
    "views before the first buffer": of(pa.string_view(), 1, None, view(20, -3), TEXT),
    "views beyond a buffer": of(pa.string_view(), 1, None, view(20, 0, 10), TEXT),
    "views before a buffer": of(pa.string_view(), 1, None, view(20, 0, -8), TEXT),
    "views of a negative size": of(pa.string_view(), 1, None, view(-1), TEXT),
    "places beyond a dictionary": pa.DictionaryArray.from_arrays(
        numbers("i4", 0, 2), pa.array(["a", "b"]), safe=False),
    "places before a dictionary": pa.DictionaryArray.from_arrays(
        numbers("i1", 0, -1), pa.array(["a", "b"]), safe=False),
    "places beyond a dictionary of numbers": pa.DictionaryArray.from_arrays(
        numbers("i4", 0, 2), pa.array([5, 6]), safe=False),
    "places before a dictionary of numbers": pa.DictionaryArray.from_arrays(
        numbers("i4", -1, 0), pa.array([5, 6]), safe=False),
    "unsigned places beyond a dictionary": pa.DictionaryArray.from_arrays(
        numbers("u8", 2**63, 0), pa.array(["a"]), safe=False),
    "places in an empty dictionary": pa.DictionaryArray.from_arrays(
        numbers("i4", 3), pa.array([], pa.int64()), safe=False),
    "places in an empty dictionary of texts": pa.DictionaryArray.from_arrays(
        numbers("i4", 0), pa.array([], pa.string()), safe=False),
}


@pytest.mark.parametrize("what", DAMAGED)
def test_what_pyarrow_lets_one_make(what):
    column = DAMAGED[what]
    with pytest.raises((pa.ArrowInvalid, pa.lib.ArrowIndexError)):
        column.validate(full=True)
    for array in (column, pa.chunked_array([column, column])):
        with pytest.raises(raydex.InvalidArgument, match="damaged"):
            raydex.build(array)
        with pytest.raises(raydex.InvalidArgument, match="damaged"):
            raydex.join(array, array)


def test_places_of_what_is_missing_are_not_read():
    for values, probe in ((pa.array(["a", "b"]), ["b", "a"]), (pa.array([5, 6]), [6, 5])):
        places = pa.Array.from_buffers(pa.int32(), 3, [pa.py_buffer(b"\x05"), pa.py_buffer(numbers("i4", 1, 99, 0))])
        index = raydex.build(pa.DictionaryArray.from_arrays(places, values, safe=False))
        assert len(index) == 2 and index.first(probe).tolist() == [0, 2]


class Schema(ctypes.Structure):
    _fields_ = [("format", ctypes.c_char_p), ("name", ctypes.c_char_p), ("metadata", ctypes.c_void_p),
                ("flags", ctypes.c_int64), ("n_children", ctypes.c_int64), ("children", ctypes.c_void_p),
                ("dictionary", ctypes.c_void_p), ("release", ctypes.c_void_p), ("private", ctypes.c_void_p)]


class Array(ctypes.Structure):
    _fields_ = [("length", ctypes.c_int64), ("null_count", ctypes.c_int64), ("offset", ctypes.c_int64),
                ("n_buffers", ctypes.c_int64), ("n_children", ctypes.c_int64), ("buffers", ctypes.c_void_p),
                ("children", ctypes.c_void_p), ("dictionary", ctypes.c_void_p), ("release", ctypes.c_void_p),
                ("private", ctypes.c_void_p)]


class Producer:
    """An array of Arrow in C, as its members say."""

    def __init__(self, form, buffers, length=2, offset=0, n_buffers=None, n_children=0, has_list=True):
        self.kept = [np.arange(4)] * len(buffers)
        self.list = (ctypes.c_void_p * max(len(buffers), 1))(
            *(None if one is None else self.kept[i].ctypes.data for i, one in enumerate(buffers)))
        self.release = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(lambda _: None)
        released = ctypes.cast(self.release, ctypes.c_void_p)
        count = len(buffers) if n_buffers is None else n_buffers
        self.schema = Schema(form, b"", None, 2, n_children, None, None, released, None)
        listed = ctypes.addressof(self.list) if has_list else None
        self.array = Array(length, 0, offset, count, n_children, listed, None, None, released, None)

    def __arrow_c_array__(self, requested_schema=None):
        make = ctypes.pythonapi.PyCapsule_New
        make.restype, make.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
        return (make(ctypes.addressof(self.schema), b"arrow_schema", None),
                make(ctypes.addressof(self.array), b"arrow_array", None))


@pytest.mark.parametrize("settings,what", [
    ({"form": b"l", "buffers": [None, None]}, "has no cells"),
    ({"form": b"u", "buffers": [None, None, None]}, "has no cells"),
    ({"form": b"u", "buffers": [None, 1, None]}, "damaged"),
    ({"form": b"l", "buffers": [None]}, "too few buffers"),
    ({"form": b"l", "buffers": [None, 1], "has_list": False}, "too few buffers"),
    ({"form": b"b", "buffers": [None, None]}, "has no cells"),
    ({"form": b"l", "buffers": [None, 1], "length": -1}, "a length or an offset that is none"),
    ({"form": b"l", "buffers": [None, 1], "offset": -1}, "a length or an offset that is none"),
    ({"form": b"l", "buffers": [None, 1], "length": 2**60}, "a length or an offset that is none"),
], ids=str)
def test_what_producers_in_c_make(settings, what):
    producer = Producer(**settings)
    with pytest.raises(raydex.InvalidArgument, match=what):
        raydex.build(producer)


def test_a_producer_in_c():
    producer = Producer(b"l", [None, 1], length=3)
    assert raydex.build(producer).first(np.array([2, 0])).tolist() == [2, 0]
