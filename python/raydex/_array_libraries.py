# SPDX-License-Identifier: Apache-2.0
"""The libraries that users' arrays are of: results are made there, on the same device."""

from __future__ import annotations

import contextlib
import functools
import sys
from typing import Any

import numpy as np
import numpy.typing as npt

from raydex import _cuda, _raydex
from raydex._devices import Device, check_available, gpu, parse_device, stream_number, usual_backend
from raydex._errors import InvalidArgument, InvalidType, Unsupported
from raydex._keys import Key

_as_it_is = contextlib.nullcontext()

Plain = tuple[_raydex.Column, int, int, Any]
"""A column, its size, the library's current stream, and what keeps that."""
Dtype = str | np.dtype[Any]


class ArrayLibrary:
    """NumPy, and what all libraries are asked. Where a call takes a `stream`, work is queued there; by default on
    the library's current one."""

    name = "numpy"
    device: int | None = None  # of its arrays: None for host memory

    @property
    def memory(self) -> str:
        """Where its arrays are, in messages."""
        return "host memory" if self.device is None else f"cuda:{self.device}"

    def copy_hint(self, device: int | None) -> str:
        """How to bring an array of this library to another device."""
        if device is None:
            return "copy it to the host first"
        return f"copy it there first, with torch.as_tensor(x, device='cuda:{device}') or cupy.asarray(x)"

    def device_for(self, device: Any, structure: str) -> Device:
        """Where an index over an array is: beside the array. `device` may only say the same, or choose
        optix; the structures that are on optix alone do that, too."""
        own = self.device
        if not isinstance(structure, str):
            raise InvalidType(f"structure: {structure!r} is none; give a name of raydex.structures(), or 'auto'")
        if device is None:
            return Device("cpu" if own is None else usual_backend(structure), own)
        backend, number = parse_device(device)
        if (backend == "cpu") != (own is None) or number not in (None, own):
            check_available(backend)
            to = None if backend == "cpu" else (number or 0)
            raise InvalidArgument(f"device: {str(device)!r}, but the column is in {self.memory}; {self.copy_hint(to)}")
        return Device(backend, own)

    def stream_for(self, stream: Any) -> tuple[int, Any]:
        """The number of the stream for a call, and what keeps it: the given one, or by default the current one."""
        if self.device is None:
            if stream is not None:
                raise InvalidArgument(f"stream: {stream!r}, but columns in host memory have none; leave it out")
            return (0, None)
        return self.current_stream() if stream is None else (stream_number(stream), stream)

    def current_stream(self) -> tuple[int, Any]:
        """The stream that the library's own work goes to now, and what keeps it."""
        return (0, None)

    def on(self, stream: int | None) -> Any:
        """Has the library compute on a stream, and allocate for it, within a `with`."""
        return _as_it_is

    def empty(self, size: int, dtype: Dtype, stream: int | None = None) -> Any:
        return np.empty(size, dtype)

    def address(self, array: Any) -> int:
        return _raydex.data_of(array.__array_struct__)

    def plain(self, x: Any, key: Key) -> Plain | None:
        """An array as nearly all are: of the library's own class and on this library's device, which is the current
        one, with one dimension, and cells of just that type, of numbers, that are read as they lie. None of any
        other, and of one that is to be refused: `look` and `column_of` have the rules."""
        return _raydex.read_array(x, key.native) if type(x) is np.ndarray else None

    def dtype(self, array: Any) -> np.dtype[Any]:
        found: np.dtype[Any] = array.dtype
        return found

    def cast(self, array: Any, dtype: Dtype, stream: int | None = None) -> Any:
        """In another type, on the same device; no copy where it is of it."""
        with self.on(stream):
            return array.astype(dtype, copy=False)

    def take(self, array: Any, positions: Any, stream: int | None = None) -> Any:
        """The cells at some positions, a copy."""
        with self.on(stream):
            return array[positions]

    def from_host(self, x: npt.NDArray[Any]) -> Any:
        """An array of NumPy as one of this library, in its memory."""
        return x

    def membership(self, found: Any, array: Any, invert: bool, stream: int) -> Any:
        """Which points were found, where `array` has floating ones: NaN is not. Or which were not."""
        with self.on(stream):
            if array is not None:
                found = found & (array == array)
            return ~found if invert else found

    def any_outside(self, array: Any, end: int, stream: int) -> bool:
        """Whether a number is less than 0, or not less than `end`. Synchronises."""
        with self.on(stream):
            outside = array < 0
            # PyTorch compares with a number that the type does not have as with another one.
            if int(np.iinfo(self.dtype(array)).max) >= end:
                outside = outside | (array >= end)
            return bool(outside.any())


@functools.lru_cache(maxsize=64)
def torch_dtype(dtype: Dtype) -> Any:
    return getattr(sys.modules["torch"], np.dtype(dtype).name)


@functools.lru_cache(maxsize=64)
def numpy_dtype(dtype: Any) -> np.dtype[Any] | None:
    """The dtype of NumPy with the name of PyTorch's, if there is one of numbers."""
    try:
        found = np.dtype(str(dtype).rpartition(".")[2])
    except TypeError:
        return None
    return found if found.kind in "biuf" else None


class TorchLibrary(ArrayLibrary):
    name = "torch"

    def __init__(self, device: int | None) -> None:
        self.device = device
        self.module: Any = sys.modules["torch"]
        self.torch_device = self.module.device("cpu" if device is None else f"cuda:{device}")

    def copy_hint(self, device: int | None) -> str:
        return f"copy it there first, with x.to({'cpu' if device is None else f'cuda:{device}'!r})"

    def current_stream(self) -> tuple[int, Any]:
        if self.device is None:
            return (0, None)
        # What Triton calls: it makes no object. PyTorch keeps its streams.
        return (self.module._C._cuda_getCurrentRawStream(self.device), None)

    def on(self, stream: int | None) -> Any:
        if stream is None or self.current_stream()[0] == stream:
            return _as_it_is
        cuda = self.module.cuda
        return cuda.stream(cuda.ExternalStream(stream, device=self.device))

    def empty(self, size: int, dtype: Dtype, stream: int | None = None) -> Any:
        if stream is not None and self.current_stream()[0] != stream:
            with self.on(stream):
                return self.empty(size, dtype)
        return self.module.empty(size, dtype=torch_dtype(dtype), device=self.torch_device)

    def address(self, array: Any) -> int:
        return int(array.data_ptr())

    @functools.cached_property
    def _reader(self) -> _raydex.TensorReader:
        check = None if self.device is None else _cuda.check_of(self.device)
        return _raydex.TensorReader(self.module.Tensor, check, self.device or 0)

    def plain(self, x: Any, key: Key) -> Plain | None:
        return self._reader.read(x, key.native)

    def dtype(self, array: Any) -> np.dtype[Any]:
        found = numpy_dtype(array.dtype)
        assert found is not None
        return found

    def cast(self, array: Any, dtype: Dtype, stream: int | None = None) -> Any:
        with self.on(stream):
            return array.to(torch_dtype(dtype))

    def signed(self, array: Any) -> Any:
        """The same bits as signed integers where they are unsigned ones, with which PyTorch does little."""
        dtype = self.dtype(array)
        return array.view(torch_dtype(f"int{8 * dtype.itemsize}")) if dtype.kind == "u" else array

    def take(self, array: Any, positions: Any, stream: int | None = None) -> Any:
        with self.on(stream):
            return self.signed(array)[positions].view(array.dtype)

    def from_host(self, x: npt.NDArray[Any]) -> Any:
        return self.module.as_tensor(x if x.flags.writeable else x.copy(), device=self.torch_device)


class _Memory:
    """Some of a GPU's memory as CuPy takes it over."""

    def __init__(self, address: int, size: int, dtype: str, owner: Any) -> None:
        self.owner = owner
        self.__cuda_array_interface__ = {
            "data": (address, True), "shape": (size,), "strides": None, "typestr": dtype, "version": 3, "stream": None,
        }  # fmt: skip


class CupyLibrary(ArrayLibrary):
    name = "cupy"

    def __init__(self, device: int) -> None:
        self.device: int = device
        self._cupy: Any = sys.modules["cupy"]

    def copy_hint(self, device: int | None) -> str:
        if device is None:
            return "copy it there first, with cupy.asnumpy(x)"
        return f"copy it there first, within cupy.cuda.Device({device})"

    def current_stream(self) -> tuple[int, Any]:
        current = self._cupy.cuda.get_current_stream(self.device)
        return (current.ptr, current)

    def on(self, stream: int | None) -> Any:
        cuda = self._cupy.cuda
        if stream is not None and cuda.get_current_stream(self.device).ptr != stream:
            return self._on_another(stream)
        return _as_it_is if cuda.runtime.getDevice() == self.device else cuda.Device(self.device)

    @contextlib.contextmanager
    def _on_another(self, stream: int) -> Any:
        cuda = self._cupy.cuda
        with cuda.Device(self.device), cuda.ExternalStream(stream, device_id=self.device):
            yield

    def empty(self, size: int, dtype: Dtype, stream: int | None = None) -> Any:
        if stream is None:
            return self._cupy.empty(size, dtype)
        with self.on(stream):
            return self.empty(size, dtype)

    def address(self, array: Any) -> int:
        return int(array.data.ptr)

    def from_host(self, x: npt.NDArray[Any]) -> Any:
        with self.on(None):
            return self._cupy.asarray(x)

    def over(self, address: int, size: int, dtype: str, owner: Any) -> Any:
        """An array over memory that `owner` has, without a copy."""
        return self._cupy.asarray(_Memory(address, size, dtype, owner))

    @functools.cached_property
    def _check(self) -> _raydex.DeviceCheck:
        return _cuda.check_of(self.device)

    def plain(self, x: Any, key: Key) -> Plain | None:
        if type(x) is not self._cupy.ndarray or x.ndim != 1 or x.dtype != key.dtype:
            return None
        memory, size, stride = x.data, x.size, 0
        if size > 1:
            stride = x.strides[0]
            if stride <= 0:
                return None
        if memory.device_id != self.device or not self._check.is_current():
            return None
        stream, kept = self.current_stream()
        return (_raydex.Column(key.native, memory.ptr, size, stride), size, stream, kept)


class DeviceArray:
    """A one-dimensional array in the memory of a GPU, made by raydex where the input belongs to no
    library that it knows. Other libraries take it over without a copy: `cupy.asarray(x)`,
    `torch.from_dlpack(x)`, `numba.cuda.as_cuda_array(x)`.
    """

    __module__ = "raydex"

    def __init__(self, memory: _raydex.Bytes, size: int, dtype: npt.DTypeLike, device: int, stream: int) -> None:
        self._memory = memory
        self.dtype = np.dtype(dtype)
        self.shape = (size,)
        self.device = f"cuda:{device}"
        self._device = device
        self._stream = stream

    def __len__(self) -> int:
        return self.shape[0]

    def __repr__(self) -> str:
        return f"raydex.DeviceArray({len(self)} of {self.dtype} on {self.device})"

    def to_arrow(self) -> Any:
        """Raises `raydex.Unsupported`, which says how to copy it to the host first."""
        raise Unsupported(
            f"to_arrow: it is on {self.device}, and Arrow's arrays are in host memory; "
            "pass pyarrow.array(cupy.asnumpy(cupy.asarray(x)))"
        )

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        return {
            "shape": self.shape,
            "typestr": self.dtype.str,
            "data": (self._memory.data, False),
            "strides": None,
            "version": 3,
            "stream": self._stream or 1,  # 1: the legacy default stream
        }

    def __dlpack_device__(self) -> tuple[int, int]:
        return (2, self._device)

    def __dlpack__(
        self,
        *,
        stream: int | None = None,
        max_version: tuple[int, int] | None = None,
        dl_device: tuple[int, int] | None = None,
        copy: bool | None = None,
    ) -> Any:
        if dl_device not in (None, self.__dlpack_device__()) or copy:
            raise BufferError(f"it is on {self.device}, and is not copied")
        if stream != -1:  # the consumer asks for no order then
            _cuda.wait(0 if stream in (None, 1) else int(stream or 0), self._stream, self._device)
        array: Any = _raydex.exported(
            self._memory.data,
            len(self),
            self.dtype.kind,
            8 * self.dtype.itemsize,
            self._device,
            self._memory,
        )
        return array.__dlpack__(max_version=max_version)


class BareLibrary(ArrayLibrary):
    """Device memory of no library that raydex knows: arrays are allocated by raydex, and nothing
    computes with them."""

    name = "raydex"

    def __init__(self, device: int) -> None:
        self.device: int = device

    def empty(self, size: int, dtype: Dtype, stream: int | None = None) -> Any:
        assert stream is not None
        bytes_of, own = size * np.dtype(dtype).itemsize, gpu(self.device)
        memory = own.run(_raydex.Bytes, own.session(), stream, bytes_of)
        return DeviceArray(memory, size, dtype, self.device, stream)

    def address(self, array: Any) -> int:
        return int(array._memory.data)

    def cast(self, array: Any, dtype: Dtype, stream: int | None = None) -> Any:
        raise InvalidType(
            f"its cells are to be widened to {np.dtype(dtype)}, for which PyTorch or CuPy is needed: "
            "pass torch.as_tensor(x) or cupy.asarray(x)"
        )

    def from_host(self, x: npt.NDArray[Any]) -> Any:
        """An array of NumPy as one of this library, in its memory."""
        own, array = gpu(self.device), np.ascontiguousarray(x)
        memory = own.run(_raydex.Bytes.of_host, own.session(), HOST.address(array), array.nbytes)
        return DeviceArray(memory, len(array), array.dtype, self.device, 0)

    def membership(self, found: Any, array: Any, invert: bool, stream: int) -> Any:
        if array is None and not invert:
            return found
        raise Unsupported(
            "isin: of floating points, and with invert, it needs PyTorch or CuPy: pass torch.as_tensor(x) or "
            "cupy.asarray(x), or ask `contains`"
        )

    def any_outside(self, array: Any, end: int, stream: int) -> bool:
        raise InvalidArgument(
            "row ids on a device must be uint32 or uint64 as the index has them, or of PyTorch or CuPy"
        )


HOST = ArrayLibrary()


def as_times(numbers: Any, dtype: np.dtype[Any]) -> Any:
    """Answers in integers, or one of them, as the times that they are."""
    if not isinstance(numbers, (np.ndarray, np.generic)):
        raise InvalidType(f"lower: answers are {dtype}, which are of NumPy; give positions or probes of NumPy")
    return numbers.astype("int64", copy=False).view(dtype)


def is_of(library: str, x: Any, name: str) -> bool:
    """Whether `x` is an instance of a class of a library, which is not imported for that."""
    module = sys.modules.get(library)
    kind = getattr(module, name, None)
    return kind is not None and isinstance(x, kind)


torch_library = functools.lru_cache(maxsize=None)(TorchLibrary)
cupy_library = functools.lru_cache(maxsize=None)(CupyLibrary)


def library_of(x: Any, device: int | None) -> ArrayLibrary:
    """The library that results for an array are made in."""
    if is_of("torch", x, "Tensor"):
        return torch_library(device)
    if device is None:
        return HOST
    return cupy_library(device) if is_of("cupy", x, "ndarray") else BareLibrary(device)


def bare_library(device: int | None) -> ArrayLibrary:
    """The library of memory that is of none."""
    return HOST if device is None else BareLibrary(device)
