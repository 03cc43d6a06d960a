# SPDX-License-Identifier: Apache-2.0
"""Columns of pyarrow as those of libraries on a GPU are given: through Arrow's interface of devices."""

import ctypes

CUDA = 2


class ArrowArray(ctypes.Structure):
    _fields_ = [
        ("length", ctypes.c_int64), ("null_count", ctypes.c_int64), ("offset", ctypes.c_int64),
        ("n_buffers", ctypes.c_int64), ("n_children", ctypes.c_int64),
        ("buffers", ctypes.POINTER(ctypes.c_void_p)), ("children", ctypes.c_void_p),
        ("dictionary", ctypes.c_void_p), ("release", ctypes.c_void_p), ("private_data", ctypes.c_void_p),
    ]


class ArrowDeviceArray(ctypes.Structure):
    _fields_ = [
        ("array", ArrowArray), ("device_id", ctypes.c_int64), ("device_type", ctypes.c_int32),
        ("sync_event", ctypes.c_void_p), ("reserved", ctypes.c_int64 * 3),
    ]


def _pointer(capsule, name):
    get = ctypes.pythonapi.PyCapsule_GetPointer
    get.restype, get.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    return get(capsule, name)


class OnDevice:
    """A column or table that says that it is on a device, and is there if `put` brings it: a function that
    takes the bytes of a buffer and returns what has them there, and their address."""

    def __init__(self, array, kind=CUDA, number=3, event=None, put=None):
        self.array = array
        self.kind = kind
        self.number = number
        self.event = None if event is None else ctypes.c_void_p(event)
        self.put = put
        self.kept = []

    def __arrow_c_device_array__(self, requested_schema=None, **kwargs):
        schema, capsule = self.array.__arrow_c_device_array__()
        of = ArrowDeviceArray.from_address(_pointer(capsule, b"arrow_device_array"))
        of.device_type, of.device_id = self.kind, self.number
        of.sync_event = None if self.event is None else ctypes.addressof(self.event)
        if self.put is not None:
            for i, buffer in enumerate(self.array.buffers()):
                if buffer is not None:
                    kept, of.array.buffers[i] = self.put(memoryview(buffer))
                    self.kept.append(kept)
        return schema, capsule

    def __arrow_c_array__(self, requested_schema=None):
        raise AssertionError("that would be a copy to the host")
