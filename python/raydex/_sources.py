# SPDX-License-Identifier: Apache-2.0
"""Arguments, looked at: what they are, where they lie, which library they belong to; without a copy. NumPy, pandas,
DLPack, `__cuda_array_interface__`, Arrow."""

from __future__ import annotations

import functools
import sys
from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass
from os import PathLike
from typing import Any

import numpy as np
import numpy.typing as npt

from raydex import _cuda, _lists, _raydex
from raydex._array_libraries import (
    HOST,
    ArrayLibrary,
    BareLibrary,
    bare_library,
    cupy_library,
    is_of,
    library_of,
    numpy_dtype,
    torch_library,
)
from raydex._arrow import (
    Bitmap,
    Cells,
    DeviceCells,
    HostCells,
    StringCells,
    Table,
    is_arrow,
    is_arrow_alone,
    repeated_string,
    take_arrow,
)
from raydex._errors import InvalidArgument, InvalidType
from raydex._prefixes import NO_PREFIXES, Prefixes

_DLPACK_KINDS = {0: "i", 1: "u", 2: "f", 6: "b"}
_BFLOAT16 = 4
_MADE_OF_OTHERS = {  # types of pandas, and what to give
    "PeriodDtype": "their begins, x.to_timestamp() of an index, x.dt.to_timestamp() of a Series",
    "IntervalDtype": "x.array.left or x.array.right; raydex.join_intervals takes both, (x.array.left, x.array.right)",
    "SparseDtype": "all of them, x.sparse.to_dense()",
}


@dataclass(slots=True)
class Source:
    """An argument, looked at: where it is, and what its cells are before any conversion."""

    argument: str
    value: Any
    library: ArrayLibrary
    cells: Cells | None = None  # None: a DLPack object, still to be asked
    scalar: bool = False
    loose: bool = False  # Python's own numbers, which take the type that is asked for
    shape: tuple[int, ...] | None = None


def shape_error(argument: str, shape: tuple[int, ...]) -> InvalidArgument:
    several = "; an index over several takes a tuple of them" if argument == "column" else ""
    return InvalidArgument(
        f"{argument}: it has {len(shape)} dimensions, {shape}; a column has one: "
        f"give one column, as x[:, 0], or all cells, as x.ravel(){several}"
    )


def _is_plain(x: Any) -> bool:
    """Values of Python, and lists of them."""
    return isinstance(x, (list, tuple, range)) or _lists.is_known(x)


def _look_at_pandas(argument: str, x: Any) -> Source | Any:
    """A Series or Index of pandas, or what Arrow has of it: there goes what is of a type that NumPy has not."""
    kind = type(x.dtype).__name__
    if kind in _MADE_OF_OTHERS:
        raise InvalidType(f"{argument}: they are {x.dtype}; give {_MADE_OF_OTHERS[kind]}")
    if isinstance(x.dtype, np.dtype):
        if x.dtype.kind == "O":
            return Source(argument, x, HOST, _lists.cells_of_objects(argument, x), loose=True, shape=x.shape)
        array = x.to_numpy(copy=False)
        return Source(argument, array, HOST, HostCells(array), shape=array.shape)
    arrays = sys.modules.get("pyarrow")
    if arrays is None:  # pandas imports it if it is there, and gives no Arrow without it
        return Source(argument, x, HOST, _lists.cells_of_objects(argument, x), loose=True, shape=x.shape)
    if is_arrow(x):
        return x
    try:
        return arrays.array(x)
    except (arrays.ArrowException, ValueError, TypeError) as error:
        raise InvalidType(f"{argument}: Arrow has no column of {x.dtype}: {error}") from error


def not_a_text(argument: str, x: Any) -> Any:
    """Refuses a name where a column is asked for."""
    if isinstance(x, str):
        raise InvalidType(f"{argument}: {x!r} is a text, not a column; give the column itself, as frame[{x!r}]")
    return x


def look_at_values(x: Any) -> Source:
    """What is aggregated: in floating columns of pandas NaN is a missing value, as it is there."""
    source = look("values", not_a_text("values", x))
    if is_of("pandas", x, "Series") and isinstance(source.cells, HostCells):
        array = source.cells.array
        if type(array) is np.ndarray and array.dtype.kind == "f" and np.isnan(array).any():
            return look("values", np.ma.MaskedArray(array, np.isnan(array)))
    return source


def _look_at_cudf(argument: str, x: Any) -> Source:
    """A column of cuDF, which has Arrow's interface of host memory, by a copy; pylibcudf's has that of devices. Rows
    and other answers are arrays of CuPy, which cuDF takes."""
    column = x.to_pylibcudf()[0]
    taken, device = take_arrow(argument, column)
    assert not isinstance(taken, Table)
    taken.kept = (column, taken.kept)
    if device is None or "cupy" not in sys.modules:
        return Source(argument, x, bare_library(device), taken)
    library = cupy_library(device)
    if isinstance(taken, DeviceCells) and taken.dtype.kind in "iuf" and taken.size:
        taken.array = library.over(taken.address, taken.size, taken.dtype.str, taken.kept)
    return Source(argument, x, library, taken)


def computable(source: Source) -> Any:
    """What the library of a column computes with: CuPy with an array over the memory of a column of cuDF."""
    cells = source.cells
    if isinstance(cells, DeviceCells) and is_of("cudf", source.value, "Series") and cells.array is not None:
        return cells.array
    return source.value


def look(argument: str, x: Any) -> Source:
    """What an argument is, without a copy, and which library it belongs to. What was looked at stays as it is."""
    if type(x) is np.ndarray and x.dtype.kind not in "UT":
        return Source(argument, x, HOST, HostCells(x), x.ndim == 0, False, x.shape)
    if type(x) is Source:
        return x
    torch = sys.modules.get("torch")
    if torch is not None and type(x) is torch.Tensor:
        return _look_at_tensor(argument, x, torch)
    cupy = sys.modules.get("cupy")
    if cupy is not None and type(x) is cupy.ndarray:
        return _look_at_cupy(argument, x)
    if is_arrow_alone(x):
        return _look_at_arrow(argument, x)
    if isinstance(x, (np.ndarray, np.generic)):
        array = np.asanyarray(x)
        if array.dtype.kind in "UT":  # texts, which are taken as a list of them is
            texts = array.tolist()
            if array.dtype.kind == "T" and array.ndim == 1:  # NaN may stand for a missing one
                texts = [one if isinstance(one, str) else None for one in texts]
            cells, shape = _lists.cells_of(argument, texts)
            return Source(argument, x, HOST, cells, scalar=array.ndim == 0, loose=True, shape=array.shape)
        return Source(argument, x, HOST, HostCells(array), scalar=array.ndim == 0, shape=array.shape)
    if _is_plain(x):
        cells, shape = _lists.cells_of(argument, x)
        return Source(argument, x, HOST, cells, scalar=shape == (), loose=True, shape=shape)
    if type(x).__module__.partition(".")[0] == "pandas" and hasattr(x, "_from_sequence"):  # pandas.array, a Categorical
        x = sys.modules["pandas"].Series(x)
    if is_of("pandas", x, "Series") or is_of("pandas", x, "Index"):
        x = _look_at_pandas(argument, x)
        if isinstance(x, Source):
            return x
    if is_of("polars", x, "DataFrame") and x.width == 1:
        x = x.to_series()
    if is_of("cudf", x, "DataFrame"):
        if len(x.columns) != 1:
            raise InvalidType(
                f"{argument}: a table of {len(x.columns)} columns, {', '.join(map(str, x.columns))}; "
                f"give one of them"
            )
        x = x[x.columns[0]]
    if is_of("cudf", x, "Series") or is_of("cudf", x, "Index"):
        return _look_at_cudf(argument, x)
    if is_of("polars", x, "Series") and str(x.dtype) == "Object":  # Arrow has their addresses
        return Source(argument, x, HOST, _lists.cells_of_objects(argument, x.to_list()), loose=True, shape=x.shape)
    if isinstance(x, Prefixes):
        raise InvalidArgument(NO_PREFIXES.format(argument))
    if isinstance(x, dict):
        raise InvalidType(f"{argument}: a dict is no column; give one of its values")
    # Arrow's arrays have DLPack, too, which knows no missing values.
    if is_arrow(x):
        return _look_at_arrow(argument, x)
    if hasattr(x, "__dlpack__") and hasattr(x, "__dlpack_device__"):
        return Source(argument, x, library_of(x, _dlpack_device(argument, x)))
    if hasattr(x, "__cuda_array_interface__"):
        return _look_at_cuda_array(argument, x)
    if hasattr(x, "__array_interface__"):
        array = np.asarray(x)
        return Source(argument, x, HOST, HostCells(array), shape=array.shape)
    try:
        array = np.asarray(memoryview(x))
    except (TypeError, ValueError, NotImplementedError):
        if is_of("polars", x, "LazyFrame"):
            raise InvalidType(f"{argument}: a polars.LazyFrame is no column; give x.collect()") from None
        way = "list(x) makes one" if isinstance(x, (Set, Iterator)) else "numpy.asarray(x) may make one"
        if isinstance(x, PathLike):
            way = "read the file, as pandas.read_csv(x)['column']"
        raise InvalidType(
            f"{argument}: a {type(x).__module__}.{type(x).__qualname__} is no column; give a NumPy array, "
            "an Arrow column, a list, or what has __dlpack__, __cuda_array_interface__ or "
            f"__arrow_c_stream__: {way}"
        ) from None
    return Source(argument, x, HOST, HostCells(array), shape=array.shape)


def _look_at_arrow(argument: str, x: Any) -> Source:
    taken, device = take_arrow(argument, x)
    if isinstance(taken, Table):
        if len(taken.columns) != 1:
            unnested = ", as x.struct.field(name)" if is_of("polars", x, "Series") else ""
            raise InvalidType(
                f"{argument}: a table of {len(taken.columns)} columns, {', '.join(taken.names)}; "
                f"give one of them{unnested}"
            )
        taken = taken.columns[0]
    return Source(argument, x, bare_library(device), taken)


def _look_at_tensor(argument: str, x: Any, torch: Any) -> Source:
    """A tensor, which PyTorch describes in less time than it makes a DLPack capsule. What is not plain
    memory is left to DLPack, and refused there."""
    dtype = numpy_dtype(x.dtype)
    if dtype is None or x.layout is not torch.strided or x.requires_grad or not (x.is_cpu or x.is_cuda):
        return Source(argument, x, library_of(x, _dlpack_device(argument, x)))
    if x.is_neg():
        raise InvalidArgument(f"{argument}: a tensor that is negated when it is read; give x.resolve_neg()")
    try:
        shape = tuple(x.shape)
        if x.is_cpu:
            return Source(argument, x, torch_library(None), HostCells(x.numpy()), not shape, False, shape)
        address = x.data_ptr()
    except RuntimeError as error:  # within torch.func.vmap and the like
        raise InvalidArgument(f"{argument}: a tensor does not give its memory: {error}") from error
    steps = [step * dtype.itemsize for step in x.stride()]
    return _on_device(argument, x, torch_library(x.get_device()), address, shape, steps, dtype)


def _look_at_cupy(argument: str, x: Any) -> Source:
    return _on_device(argument, x, cupy_library(x.data.device_id), x.data.ptr, x.shape, x.strides, x.dtype)


def _on_device(
    argument: str,
    x: Any,
    library: ArrayLibrary,
    address: int,
    shape: tuple[int, ...],
    strides: Sequence[int],
    dtype: np.dtype[Any],
) -> Source:
    """An array of a library whose current stream is where its cells are written."""
    _cuda.refuse_fork()  # before the library is asked, whose error says less
    if len(shape) > 1:
        raise shape_error(argument, shape)
    size = shape[0] if shape else 1
    stride = strides[0] if size > 1 else dtype.itemsize
    cells = DeviceCells(x, address, size, stride, dtype, x, library.current_stream()[0])
    return Source(argument, x, library, cells, not shape, False, shape)


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
    x, argument, device = source.value, source.argument, source.library.device
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
        name = type(x).__qualname__
        raise InvalidArgument(f"{argument}: {name} does not give its memory: {error}") from error
    tensor = _raydex.Tensor(capsule)
    code, bits, lanes = tensor.type
    if code not in _DLPACK_KINDS or lanes != 1 or bits % 8 != 0:
        hint = "floating numbers of 16, 32 and 64 bits, integers and bool are"
        if code == _BFLOAT16:
            hint = "float32 has each of them: x.to(torch.float32) in PyTorch"
        raise InvalidType(
            f"{argument}: cells of {getattr(x, 'dtype', f'DLPack code {code}')} are no keys; {hint}"
        )
    dtype = _dlpack_dtype(code, bits)
    shape = tuple(tensor.shape)
    source.shape = shape
    if len(shape) > 1:
        raise shape_error(argument, shape)
    source.scalar = len(shape) == 0
    size = 1 if source.scalar else shape[0]
    stride = dtype.itemsize if size <= 1 else tensor.strides[0] * dtype.itemsize
    if device is not None:
        return DeviceCells(x, tensor.data, size, stride, dtype, (x, tensor))
    # DLPack on the CPU is what NumPy's array interface says as well.
    return HostCells(array_at(tensor.data, size, stride, dtype, tensor))


class _Interface:
    def __init__(self, description: dict[str, Any], owner: Any) -> None:
        self.__array_interface__ = description
        self.owner = owner


def array_at(address: int, size: int, stride: int, dtype: np.dtype[Any], owner: Any) -> npt.NDArray[Any]:
    if size == 0:
        return np.empty(0, dtype)
    description = {
        "data": (address, True), "shape": (size,), "strides": (stride,), "typestr": dtype.str, "version": 3,
    }  # fmt: skip
    return np.asarray(_Interface(description, owner))


def _look_at_cuda_array(argument: str, x: Any) -> Source:
    """An object with `__cuda_array_interface__`, such as an array of Numba."""
    interface = x.__cuda_array_interface__
    shape = tuple(interface["shape"])
    if len(shape) > 1:
        raise shape_error(argument, shape)
    mask, validity = interface.get("mask"), 0
    if mask is not None:
        of_mask = mask.__cuda_array_interface__
        if of_mask["typestr"][1] != "t" or tuple(of_mask["shape"]) != shape:
            raise InvalidType(
                f"{argument}: a device array with a mask of {of_mask['typestr']}, and only bitmaps are read; "
                "fill or drop what is missing first"
            )
        validity = of_mask["data"][0]
    dtype = np.dtype(interface["typestr"])
    if dtype.kind not in "biuf":
        raise InvalidType(
            f"{argument}: cells of {dtype} on a device are no keys; integers, floating numbers and bool are"
        )
    size = 1 if not shape else shape[0]
    strides = interface.get("strides")
    stride = dtype.itemsize if strides is None or size <= 1 else strides[0]
    address = interface["data"][0] or 0
    device = _cuda.device_of(address) if address else 0
    written_on = interface.get("stream")
    if written_on == 1:  # the legacy default stream
        written_on = 0
    cells = DeviceCells(x, address, size, stride, dtype, (x, mask), written_on, validity=validity)
    return Source(argument, x, BareLibrary(device), cells, scalar=not shape, shape=shape)


def ready(source: Source, stream: int) -> Cells:
    """The cells, which work on the stream may read."""
    cells = source.cells
    if cells is None:
        cells = source.cells = _ask_dlpack(source, stream)
    elif source.library.device is not None and not isinstance(cells, HostCells):
        if cells.event != 0:
            _cuda.wait_for(stream, cells.event, source.library.device)
            cells.event = 0
        if isinstance(cells, DeviceCells) and cells.written_on is not None:
            _cuda.wait(stream, cells.written_on, source.library.device)
            cells.written_on = None
    return cells


def same_device(first: Source, *others: Source) -> None:
    """Refuses arguments of one call on different devices."""
    for other in others:
        if other.library.device != first.library.device:
            raise InvalidArgument(
                f"{other.argument}: it is in {other.library.memory}, but {first.argument} in "
                f"{first.library.memory}; {other.library.copy_hint(first.library.device)}"
            )


def broadcast_ends(lower: Source, upper: Source) -> tuple[Source, Source]:
    """Ends of ranges: where one is a single number, it is the end of each range."""
    if lower.scalar == upper.scalar:
        return (lower, upper)
    hosts = (HostCells, StringCells)
    if not (isinstance(lower.cells, hosts) and isinstance(upper.cells, hosts)):
        raise InvalidArgument("upper: one end is a single value; give two columns of equal size")

    def repeated(one: Source, like: Source) -> Source:
        if not one.scalar:
            return one
        own, others = one.cells, like.cells
        assert isinstance(others, (HostCells, StringCells))
        shape = (others.size,) if isinstance(others, StringCells) else others.array.shape
        if isinstance(own, StringCells):
            gone = own.bits is not None and not own.bits.there(1)[0]
            validity = Bitmap.of(np.zeros(shape, np.bool_)) if gone else None
            texts = repeated_string(own, int(np.prod(shape)), validity)
            return Source(one.argument, one.value, one.library, texts, loose=one.loose, shape=shape)
        assert isinstance(own, HostCells)
        array = np.full(shape, np.ma.getdata(own.array))
        if own.validity is not None or np.ma.is_masked(own.array):
            cells = HostCells(array, Bitmap.of(np.zeros(array.size, np.bool_)), own.unit)
        else:
            cells = HostCells(array, None, own.unit)
        return Source(one.argument, one.value, one.library, cells, loose=one.loose, shape=shape)

    return (repeated(lower, upper), repeated(upper, lower))
