# SPDX-License-Identifier: Apache-2.0
"""Columns of what users have: NumPy, DLPack, `__cuda_array_interface__`, Arrow.

Cells stay where they are. There are three copies, all on the same device: of types that the library has
no keys for (int8, int16, float16, bool), of probes that are narrower than the keys, and of Arrow's chunks.
"""

from __future__ import annotations

import functools
import sys
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from raydex import _cuda, _raydex
from raydex._arrow import HostCells, StringCells, Table, is_arrow, take_arrow
from raydex._errors import InvalidArgument, InvalidType
from raydex._places import stream_for
from raydex._worlds import HOST, BareWorld, World, is_of, world_of

_DLPACK_KINDS = {0: "i", 1: "u", 2: "f", 6: "b"}
_WIDENED = {
    "b1": "u4", "i1": "i4", "i2": "i4", "u1": "u4", "u2": "u4", "f2": "f4",
}  # fmt: skip
_FORMATS = {
    "u4": "uint32", "u8": "uint64", "i4": "int32", "i8": "int64", "f4": "float", "f8": "double",
}  # fmt: skip


@dataclass(frozen=True)
class Key:
    """What cells are: a dtype, and for some of Arrow's times what their integers count."""

    dtype: np.dtype[Any] | None  # None: strings of any length
    unit: str = ""

    def __str__(self) -> str:
        if self.dtype is None:
            return "strings"
        return self.unit or (f"S{self.dtype.itemsize}" if self.dtype.kind == "S" else str(self.dtype))


@dataclass(slots=True)
class DeviceCells:
    """Cells in the memory of a GPU."""

    array: Any
    address: int
    size: int
    stride: int
    dtype: np.dtype[Any]
    kept: Any


@dataclass(slots=True)
class Source:
    """An argument, looked at: where it is, and what its cells are before any conversion."""

    argument: str
    given: Any
    world: World
    cells: HostCells | StringCells | DeviceCells | None = None  # None: a DLPack object, still to be asked
    scalar: bool = False
    loose: bool = False  # Python's own numbers, which take the type that is asked for
    shape: tuple[int, ...] | None = None


@dataclass(slots=True)
class Column:
    """Cells that the library reads, and what keeps them."""

    native: Any  # of _raydex: Column or Strings
    size: int
    key: Key
    source: Source
    kept: Any = field(repr=False, default=None)

    @property
    def format(self) -> str:
        return format_of(self.key)


def code_of(dtype: np.dtype[Any]) -> str:
    return f"{dtype.kind}{dtype.itemsize}"


def format_of(key: Key) -> str:
    """The library's name of the format."""
    assert key.dtype is not None
    if key.dtype.kind == "S":
        return f"bytes{key.dtype.itemsize}"
    return "int64" if key.dtype.kind in "mM" else _FORMATS[code_of(key.dtype)]


@functools.lru_cache(maxsize=256)
def native_format(dtype: np.dtype[Any]) -> _raydex.Format:
    return _raydex.Format(format_of(Key(dtype)))


def _shape_error(argument: str, shape: tuple[int, ...]) -> InvalidArgument:
    return InvalidArgument(
        f"{argument}: it has {len(shape)} dimensions, {shape}; a column has one: "
        "give one column, as x[:, 0], or all cells, as x.ravel()"
    )


@functools.lru_cache(maxsize=256)
def _natural(dtype: np.dtype[Any]) -> np.dtype[Any] | None:
    code = code_of(dtype)
    if code in _WIDENED:
        return np.dtype(_WIDENED[code])
    if code in _FORMATS or dtype.kind in "mM":
        return dtype.newbyteorder("=")
    return dtype if dtype.kind == "S" and 1 <= dtype.itemsize <= 8 else None


def natural(argument: str, dtype: np.dtype[Any]) -> np.dtype[Any]:
    """The dtype that cells are keys in: their own, or a wider one."""
    found = _natural(dtype)
    if found is not None:
        return found
    hints = {
        "S": "byte strings of up to 8 bytes are keys; give longer ones to raydex.join as pyarrow.array(x)",
        "U": "give short ones as x.astype('S8'), or any to raydex.join as pyarrow.array(x)",
        "O": "give numbers as x.astype(...), strings to raydex.join as pyarrow.array(x)",
        "T": "give short ones as x.astype('S8'), or any to raydex.join as pyarrow.array(x)",
        "c": "complex numbers have no order; give x.real or x.imag",
        "f": "convert them, with x.astype('float64')",
        "V": "give one field of it, as x['name']",
    }
    raise InvalidType(f"{argument}: cells of {dtype} are no keys; {hints.get(dtype.kind, 'convert them')}")


def converts(of: np.dtype[Any], to: np.dtype[Any]) -> bool:
    """Whether each value of one dtype is one of the other, too."""
    if of.kind in "iu" and of.itemsize == 8 and to.kind == "f":
        return False
    if "m" in (of.kind, to.kind) and of.kind != to.kind:
        return False
    return bool(np.can_cast(of, to, "safe")) and not (of.kind in "biuf" and to.kind not in "biuf")


def _is_plain(x: Any) -> bool:
    """Numbers and texts of Python, and lists of them."""
    return isinstance(x, (bool, int, float, bytes, str, list, tuple, range)) or type(x).__module__ in (
        "datetime",
        "decimal",
    )


def _pandas_array(argument: str, x: Any) -> Any:
    """The array of a pandas Series or Index; what has no NumPy dtype goes through Arrow."""
    if isinstance(x.dtype, np.dtype) and x.dtype.kind != "O":
        return x.to_numpy(copy=False)
    if is_arrow(x):
        return x
    arrays = sys.modules.get("pyarrow")
    if arrays is None:
        raise InvalidType(f"{argument}: a pandas {type(x).__name__} of {x.dtype} needs pyarrow; import it")
    return arrays.array(x)


def look(argument: str, x: Any) -> Source:
    """What an argument is, without a copy, and which world it belongs to."""
    if isinstance(x, (np.ndarray, np.generic)):
        array = np.asanyarray(x)
        return Source(argument, x, HOST, HostCells(array), scalar=array.ndim == 0, shape=array.shape)
    if _is_plain(x):
        try:
            array = np.asarray(x)
        except (ValueError, OverflowError) as error:
            raise InvalidArgument(f"{argument}: NumPy makes no array of it: {error}") from None
        if array.dtype.kind == "U":
            array = np.char.encode(array, "utf-8")
        return Source(
            argument, x, HOST, HostCells(array), scalar=array.ndim == 0, loose=True, shape=array.shape
        )
    if is_of("torch", x, "Tensor") or is_of("cupy", x, "ndarray"):
        return Source(argument, x, world_of(x, _dlpack_device(argument, x)))
    if is_of("pandas", x, "Series") or is_of("pandas", x, "Index"):
        x = _pandas_array(argument, x)
        if isinstance(x, np.ndarray):
            return Source(argument, x, HOST, HostCells(x), shape=x.shape)
    # Arrow's arrays have DLPack, too, which knows no missing values.
    if is_arrow(x) and not hasattr(x, "__cuda_array_interface__"):
        taken = take_arrow(argument, x)
        if isinstance(taken, Table):
            if len(taken.columns) != 1:
                raise InvalidType(
                    f"{argument}: a table of {len(taken.columns)} columns, {', '.join(taken.names)}; "
                    "give one of them"
                )
            taken = taken.columns[0]
        return Source(argument, x, HOST, taken)
    if hasattr(x, "__dlpack__") and hasattr(x, "__dlpack_device__"):
        return Source(argument, x, world_of(x, _dlpack_device(argument, x)))
    if hasattr(x, "__cuda_array_interface__"):
        return _look_at_cuda_array(argument, x)
    if hasattr(x, "__array_interface__"):
        array = np.asarray(x)
        return Source(argument, x, HOST, HostCells(array), shape=array.shape)
    try:
        array = np.asarray(memoryview(x))
    except TypeError:
        raise InvalidType(
            f"{argument}: a {type(x).__module__}.{type(x).__qualname__} is no column; give a NumPy array, "
            "an Arrow column, a list, or what has __dlpack__, __cuda_array_interface__ or "
            "__arrow_c_stream__: numpy.asarray(x) may make one"
        ) from None
    return Source(argument, x, HOST, HostCells(array), shape=array.shape)


def _dlpack_device(argument: str, x: Any) -> int | None:
    """The number of the GPU that an object is on; None for host memory."""
    try:
        kind, number = map(int, x.__dlpack_device__())
    except (BufferError, RuntimeError, ValueError, TypeError) as error:
        _cuda.refuse_fork()
        raise InvalidType(f"{argument}: it is on no device that DLPack knows: {error}") from error
    if kind in (1, 3):  # of the CPU, and what CUDA has pinned for it
        return None
    if kind in (2, 13):  # of CUDA, managed memory included
        return int(number)
    raise InvalidType(f"{argument}: it is on a device of DLPack's kind {kind}; copy it to the CPU or to CUDA")


@functools.lru_cache(maxsize=32)
def _dlpack_dtype(code: int, bits: int) -> np.dtype[Any]:
    return np.dtype(f"{_DLPACK_KINDS[code]}{bits // 8}")


def _ask_dlpack(source: Source, stream: int) -> HostCells | DeviceCells:
    """The cells of an object with DLPack, ready for work on the stream."""
    x, argument, device = source.given, source.argument, source.world.device
    # 1 is DLPack's number of the legacy default stream; on the CPU there are none.
    ready_for = None if device is None else (stream or 1)
    if getattr(x, "requires_grad", False):
        raise InvalidArgument(f"{argument}: a tensor that needs gradients; give x.detach()")
    try:
        try:
            capsule = x.__dlpack__(stream=ready_for, max_version=(1, 0))
        except TypeError:  # made before DLPack 1.0
            capsule = x.__dlpack__(stream=ready_for)
    except (BufferError, RuntimeError, ValueError, TypeError) as error:
        raise InvalidArgument(f"{argument}: {type(x).__qualname__} does not give its memory: {error}") from error
    tensor = _raydex.Tensor(capsule)
    code, bits, lanes = tensor.type
    if code not in _DLPACK_KINDS or lanes != 1 or bits % 8 != 0:
        raise InvalidType(
            f"{argument}: cells of {getattr(x, 'dtype', f'DLPack code {code}')} are no keys; convert them to "
            "float32, as x.to(torch.float32) does in PyTorch"
        )
    dtype = _dlpack_dtype(code, bits)
    shape = tuple(tensor.shape)
    source.shape = shape
    if len(shape) > 1:
        raise _shape_error(argument, shape)
    source.scalar = len(shape) == 0
    size = 1 if source.scalar else shape[0]
    stride = dtype.itemsize if size <= 1 else tensor.strides[0] * dtype.itemsize
    if device is not None:
        return DeviceCells(x, tensor.data, size, stride, dtype, (x, tensor))
    # DLPack on the CPU is what NumPy's array interface says as well.
    return HostCells(_array_at(tensor.data, size, stride, dtype, tensor))


class _Interface:
    def __init__(self, description: dict[str, Any], owner: Any) -> None:
        self.__array_interface__ = description
        self.owner = owner


def _array_at(address: int, size: int, stride: int, dtype: np.dtype[Any], owner: Any) -> npt.NDArray[Any]:
    if size == 0:
        return np.empty(0, dtype)
    description = {
        "data": (address, True), "shape": (size,), "strides": (stride,), "typestr": dtype.str, "version": 3,
    }  # fmt: skip
    return np.asarray(_Interface(description, owner))


def _look_at_cuda_array(argument: str, x: Any) -> Source:
    """An object with `__cuda_array_interface__`, such as an array of Numba."""
    of = x.__cuda_array_interface__
    if of.get("mask") is not None:
        raise InvalidType(f"{argument}: a device array with a mask; fill or drop what is missing first")
    shape = tuple(of["shape"])
    if len(shape) > 1:
        raise _shape_error(argument, shape)
    dtype = np.dtype(of["typestr"])
    if dtype.kind not in "biuf":
        raise InvalidType(f"{argument}: cells of {dtype} on a device are no keys; convert them to int64")
    size = 1 if not shape else shape[0]
    strides = of.get("strides")
    stride = dtype.itemsize if strides is None or size <= 1 else strides[0]
    address = of["data"][0] or 0
    device = _cuda.device_of(address) if address else 0
    cells = DeviceCells(x, address, size, stride, dtype, x)
    return Source(argument, x, BareWorld(device), cells, scalar=not shape, shape=shape)


def _ready(source: Source, stream: int) -> HostCells | StringCells | DeviceCells:
    """The cells, which work on the stream may read."""
    if source.cells is None:
        source.cells = _ask_dlpack(source, stream)
    elif isinstance(source.cells, DeviceCells):
        written_on = source.given.__cuda_array_interface__.get("stream")
        if written_on is not None:
            device = source.world.device or 0
            _cuda.wait(stream, 0 if written_on == 1 else int(written_on), device)
    return source.cells


def _refuse(argument: str, own: str, want: Key) -> InvalidType:
    other = "" if want.dtype is None or want.unit else f"; convert them, with x.astype({str(want)!r})"
    return InvalidType(f"{argument}: they are {own}, but {want} are asked for{other}")


def _converted(source: Source, array: npt.NDArray[Any], own: Key, want: Key) -> npt.NDArray[Any]:
    """Host cells in the type that is asked for; a copy unless they are of it."""
    assert own.dtype is not None and want.dtype is not None
    if own == want:
        return array
    if own.unit == want.unit and converts(own.dtype, want.dtype):
        return array.astype(want.dtype)
    kinds = own.dtype.kind + want.dtype.kind
    if source.loose and want.unit == "" and (kinds in ("SS", "MM", "mm") or set(kinds) <= set("biuf")):
        with np.errstate(all="ignore"):
            cast = array.astype(want.dtype)
        # As in NumPy, Python's floats take the precision that they meet.
        if want.dtype.kind == "f" or array.size == 0 or not (cast != array).any():
            return cast
        value = array.reshape(-1)[np.argmax(cast != array)]
        raise InvalidArgument(f"{source.argument}: {value!s} is no {want}, of which the keys are")
    raise _refuse(source.argument, str(own), want)


def _and_validity(
    there: npt.NDArray[np.bool_], validity: npt.NDArray[np.uint8] | None
) -> npt.NDArray[np.uint8]:
    bits = np.packbits(there, bitorder="little")
    return bits if validity is None else bits & validity[: len(bits)]


def _host_column(source: Source, cells: HostCells, want: Key | None, copies: bool) -> Column:
    argument, array = source.argument, cells.array
    if array.ndim == 0:
        array = array.reshape(1)
    if array.ndim != 1:
        raise _shape_error(argument, array.shape)
    validity = cells.validity
    if isinstance(array, np.ma.MaskedArray):
        if np.ma.is_masked(array):
            validity = _and_validity(~np.ma.getmaskarray(array), validity)
        array = array.data
    own = Key(array.dtype, cells.unit)
    usual = natural(argument, array.dtype)
    key = want or Key(usual, cells.unit)
    if key.dtype is None:
        raise _refuse(argument, str(own), key)
    if not array.dtype.isnative:
        if not copies:
            raise InvalidArgument(
                f"{argument}: its bytes are swapped; give x.astype({usual.newbyteorder('=').str!r})"
            )
        array = array.astype(usual)
        own = Key(array.dtype, cells.unit)
    array = _converted(source, array, own, key)
    if array.dtype.kind in "mM":
        missing = np.isnat(array)
        if missing.any():
            validity = _and_validity(~missing, validity)
    step = array.strides[0] if len(array) > 1 else array.itemsize
    if step <= 0 or not array.flags.aligned or (array.dtype.kind != "S" and step % array.itemsize != 0):
        if not copies:
            why = "run backwards" if step < 0 else "are one cell, repeated" if step == 0 else "are not aligned"
            raise InvalidArgument(f"{argument}: its cells {why}; give numpy.array(x), a copy")
        array = np.array(array)
        step = array.itemsize
    native = _raydex.Column(
        native_format(array.dtype),
        array.__array_interface__["data"][0],
        len(array),
        step,
        0 if validity is None else validity.__array_interface__["data"][0],
    )
    return Column(native, len(array), key, source, (array, validity, cells.kept))


def _device_column(source: Source, cells: DeviceCells, want: Key | None, stream: int) -> Column:
    argument, world = source.argument, source.world
    key = want or Key(natural(argument, cells.dtype))
    if key.dtype is None or key.unit or not (cells.dtype == key.dtype or converts(cells.dtype, key.dtype)):
        raise _refuse(argument, str(cells.dtype), key)
    address, stride, kept = cells.address, cells.stride, cells.kept
    if cells.dtype != key.dtype:
        copy = world.cast(cells.array, key.dtype, stream)
        if copy.ndim == 0:
            copy = copy.reshape(1)
        address, kept = world.address(copy), copy
        steps = copy.stride() if world.name == "torch" else copy.strides
        stride = steps[0] * (key.dtype.itemsize if world.name == "torch" else 1)
    if cells.size > 1 and stride <= 0:
        how = "run backwards" if stride < 0 else "are one cell, repeated"
        raise InvalidArgument(f"{argument}: its cells {how}; give a copy, as x.contiguous() or x.copy()")
    if cells.size <= 1:
        stride = key.dtype.itemsize
    native = _raydex.Column(native_format(key.dtype), address, cells.size, stride)
    return Column(native, cells.size, key, source, kept)


def _string_column(source: Source, cells: StringCells, want: Key | None) -> Column:
    if want is not None and want.dtype is not None:
        raise _refuse(source.argument, "strings of any length", want)
    validity = cells.validity
    native = _raydex.Strings(
        cells.bytes,
        cells.offsets,
        cells.wide,
        cells.size,
        0 if validity is None else validity.__array_interface__["data"][0],
    )
    return Column(native, cells.size, Key(None), source, (cells.kept, validity))


def key_of(source: Source, stream: int = 0) -> Key:
    """What the cells are as keys."""
    cells = _ready(source, stream)
    if isinstance(cells, StringCells):
        return Key(None)
    if isinstance(cells, DeviceCells):
        return Key(natural(source.argument, cells.dtype))
    return Key(natural(source.argument, cells.array.dtype), cells.unit)


def dtype_of(source: Source, stream: int = 0) -> np.dtype[Any]:
    """The dtype of the cells as they are given."""
    cells = _ready(source, stream)
    if isinstance(cells, StringCells):
        raise InvalidType(
            f"{source.argument}: strings of any length are keys of raydex.join only; give short ones as "
            "numpy.asarray(x, dtype='S8')"
        )
    return cells.dtype if isinstance(cells, DeviceCells) else cells.array.dtype


def column(source: Source, stream: int, want: Key | None = None, copies: bool = False) -> Column:
    """The column of a source, of the key type that is asked for.

    `copies` allows copies of cells that the library cannot read where they lie; without it they are
    refused."""
    cells = _ready(source, stream)
    if isinstance(cells, StringCells):
        return _string_column(source, cells, want)
    if isinstance(cells, DeviceCells):
        return _device_column(source, cells, want, stream)
    return _host_column(source, cells, want, copies)


def refuse_strings(of: Column) -> Column:
    """A column that an index can be built over."""
    if of.key.dtype is None:
        raise InvalidType(
            f"{of.source.argument}: strings of any length are keys of raydex.join only; give short ones as "
            "numpy.asarray(x, dtype='S8')"
        )
    return of


def same_place(first: Source, *others: Source) -> None:
    """Refuses arguments of one call on different devices."""
    for other in others:
        if other.world.device != first.world.device:
            raise InvalidArgument(
                f"{other.argument}: it is in {other.world.where()}, but {first.argument} in "
                f"{first.world.where()}; {other.world.copy_hint(first.world.device)}"
            )


def stream_of(source: Source, stream: Any) -> tuple[int, Any]:
    return stream_for(source.world, stream)
