# SPDX-License-Identifier: Apache-2.0
"""Where the same cases run: on arrays of NumPy, on tensors, and on a GPU. A test calls raydex's functions, and
the methods of what they return, through an array library: its arrays of NumPy are taken there, and answers are brought
back."""

import functools

import numpy as np
import pytest
import raydex
from arrow_device import OnDevice

HAS_GPU = any(one.backend == "cuda" and one.available for one in raydex.structures())
NUMBERS = ["bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16", "float32",
           "float64"]


def plain(array):
    """A copy that PyTorch takes: contiguous, and of no second name for a type, such as longlong."""
    return array.copy().view(array.dtype.name)


class Library:
    """What is said of each. `name`; `backends` that it has structures of; `dimensions` that its columns of
    values may have."""

    def needs(self, structure):
        """Skips a test of a structure that cannot be built there."""
        found = [one for one in raydex.structures() if one.name == structure and one.backend in self.backends]
        if found and not any(one.available for one in found):
            pytest.skip(f"{structure} in the library {self.name}: {found[0].reason}")

    def shaped(self, array):
        """An array with no more dimensions than it may have."""
        return array if array.ndim <= self.dimensions else array.reshape(-1)


class Host(Library):
    """NumPy, whose arrays raydex is called with as they are."""

    name, backends, dimensions = "numpy", ("cpu",), 3

    def __getattr__(self, function):
        return getattr(raydex, function)

    def has_missing(self, dtype):
        return True


class Elsewhere(Library):
    """Any other one. It has `put` and `get`, which copy numbers there and back, and `arrow` for other columns."""

    def __getattr__(self, function):
        return functools.partial(self.call, getattr(raydex, function))

    def call(self, function, *arguments, **options):
        options = {name: self._there(one) for name, one in options.items()}
        return self._back(function(*map(self._there, arguments), **options))

    def _there(self, x):
        if isinstance(x, Remote):
            return x.of
        if isinstance(x, (list, tuple)):
            return type(x)(map(self._there, x))
        if type(x).__name__ == "DataFrame":
            return {name: self._there(x[name]) for name in x}
        if isinstance(x, dict):
            return {name: self._there(one) for name, one in x.items()}
        if type(x).__name__ == "Series":
            x = x.to_numpy()
        elif hasattr(x, "__arrow_c_stream__"):
            return self.arrow(x.combine_chunks())
        if not isinstance(x, np.ndarray):
            return x
        if not np.ma.is_masked(x) and x.dtype in NUMBERS:
            return self.put(np.ma.getdata(x))
        if x.dtype.kind == "S":  # as fixed-size binary; pyarrow would make strings of any length
            pa = pytest.importorskip("pyarrow")
            cells = pa.py_buffer(np.ascontiguousarray(x))
            return self.arrow(pa.FixedSizeBinaryArray.from_buffers(pa.binary(x.itemsize), len(x), [None, cells]))
        return self.arrow(pytest.importorskip("pyarrow").array(x))

    def _back(self, found):
        if isinstance(found, (raydex.Index, raydex.AsofIndex, raydex.Aggregate, raydex.Rmq)):
            return Remote(self, found)
        if isinstance(found, (tuple, raydex.JoinRows, raydex.Matches, raydex.NearestRows)):
            return type(found)(*map(self._back, found))
        if isinstance(found, dict):
            return {name: self._back(one) for name, one in found.items()}
        return None if found is None else self.get(found)[()]


class Remote:
    """An index and the like, whose calls are made in a library."""

    def __init__(self, library, of):
        self.library = library
        self.of = of

    def __getattr__(self, name):
        value = getattr(self.of, name)
        return functools.partial(self.library.call, value) if callable(value) else value

    def __len__(self):
        return len(self.of)

    def __repr__(self):
        return repr(self.of)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.of.close()


class TorchOnHost(Elsewhere):
    name, backends, dimensions = "torch-cpu", ("cpu",), 3

    def __init__(self):
        self.module = pytest.importorskip("torch")

    def put(self, array):
        return self.module.as_tensor(plain(array))

    def get(self, array):
        assert isinstance(array, self.module.Tensor) and array.is_cpu
        return array.numpy()

    def arrow(self, column):
        pytest.skip("a tensor has numbers alone, and none are missing")

    def has_missing(self, dtype):
        return False


class OnGpu(Elsewhere):
    """Numbers are in arrays of a library; times, strings, and columns with missing values are Arrow's, as
    cuDF has them there."""

    backends, dimensions = ("cuda", "optix"), 1

    def arrow(self, column):
        def put(buffer):
            cells = self.put(np.frombuffer(buffer, "u1"))
            return cells, self.address(cells)

        return OnDevice(column, number=0, put=put)

    def has_missing(self, dtype):
        return np.dtype(dtype).itemsize >= 4  # narrower ones would be widened, by no library


class Torch(OnGpu):
    name = "torch-cuda"

    def __init__(self):
        self.module = pytest.importorskip("torch")
        if not self.module.cuda.is_available():
            pytest.skip("PyTorch has no CUDA")

    def put(self, array, device=0):
        return self.module.as_tensor(plain(array), device=f"cuda:{device}")

    def get(self, array):
        if isinstance(array, raydex.DeviceArray):
            array = self.module.from_dlpack(array)
        assert isinstance(array, self.module.Tensor) and array.is_cuda
        return array.cpu().numpy()

    def address(self, array):
        return array.data_ptr()

    def synchronize(self):
        self.module.cuda.synchronize()

    def stream(self):
        return self.module.cuda.Stream()

    def on(self, stream):
        return self.module.cuda.stream(stream)


class Cupy(OnGpu):
    name = "cupy"

    def __init__(self):
        self.module = pytest.importorskip("cupy")

    def put(self, array, device=0):
        with self.module.cuda.Device(device):
            return self.module.asarray(array)

    def get(self, array):
        if isinstance(array, raydex.DeviceArray):
            array = self.module.asarray(array)
        assert isinstance(array, self.module.ndarray)
        return self.module.asnumpy(array)

    def address(self, array):
        return array.data.ptr

    def synchronize(self):
        self.module.cuda.Device().synchronize()

    def stream(self):
        return self.module.cuda.Stream(non_blocking=True)

    def on(self, stream):
        return stream


# Without a GPU there are no libraries on one; test_gpu.py alone says so, by a skip.
WITH_ARROW = [Host, *([Torch, Cupy] if HAS_GPU else [])]
LIBRARIES = [*WITH_ARROW, TorchOnHost]
