# SPDX-License-Identifier: Apache-2.0
"""Columns of what users have: NumPy, DLPack, `__cuda_array_interface__`, Arrow.

Cells stay where they are. There are three copies, all on the same device: of types that the library has
no keys for (int8, int16, float16, bool), of probes of another type than the keys, and of Arrow's chunks.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from raydex import _among, _cuda, _lists, _raydex, _times
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
    letters_of,
    placed,
    take_arrow,
)
from raydex._device_times import in_unit
from raydex._errors import InvalidArgument, InvalidType, one_of_several
from raydex._keys import VOID, Key, converts, native_format, natural, plain_key

_DLPACK_KINDS = {0: "i", 1: "u", 2: "f", 6: "b"}
_BFLOAT16 = 4
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


@dataclass(slots=True)
class Column:
    """Cells that the library reads, and what keeps them."""

    native: Any  # of _raydex: Column or Strings
    size: int
    key: Key
    source: Source
    kept: Any = field(repr=False, default=None)
    before: npt.NDArray[np.bool_] | None = None  # which cells are before all keys, see `column_of`
    no_key: npt.NDArray[np.bool_] | None = None  # which are there, and are no keys; None: none of them


def _shape_error(argument: str, shape: tuple[int, ...]) -> InvalidArgument:
    return InvalidArgument(
        f"{argument}: it has {len(shape)} dimensions, {shape}; a column has one: "
        f"give one column, as x[:, 0], or all cells, as x.ravel(){one_of_several(argument)}"
    )


def _is_plain(x: Any) -> bool:
    """Values of Python, and lists of them."""
    return isinstance(x, (list, tuple, range)) or _lists.is_known(x)


def _look_at_pandas(argument: str, x: Any) -> Source | Any:
    """A Series or Index of pandas, or what Arrow has of it: there goes what is of a type that NumPy has not."""
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


def look_at_values(x: Any) -> Source:
    """What is aggregated: in floating columns of pandas NaN is a missing value, as it is there."""
    source = look("values", x)
    if is_of("pandas", x, "Series") and isinstance(source.cells, HostCells):
        array = source.cells.array
        if type(array) is np.ndarray and array.dtype.kind == "f" and np.isnan(array).any():
            return look("values", np.ma.MaskedArray(array, np.isnan(array)))
    return source


def on_gpu(x: Any) -> Any:
    """What has Arrow's interface of devices in place of a column or table of cuDF, which has that of host
    memory alone, by a copy."""
    if any(is_of("cudf", x, name) for name in ("Series", "Index", "DataFrame")):
        return x.to_pylibcudf()[0]
    return x


def look(argument: str, x: Any) -> Source:
    """What an argument is, without a copy, and which library it belongs to. What was looked at stays as it is."""
    if type(x) is np.ndarray:
        return Source(argument, x, HOST, HostCells(x), x.ndim == 0, False, x.shape)
    if type(x) is Source:
        return x
    torch = sys.modules.get("torch")
    if torch is not None and type(x) is torch.Tensor:
        return _look_at_tensor(argument, x, torch)
    cupy = sys.modules.get("cupy")
    if cupy is not None and type(x) is cupy.ndarray:
        return _look_at_cupy(argument, x)
    if isinstance(x, (np.ndarray, np.generic)):
        array = np.asanyarray(x)
        return Source(argument, x, HOST, HostCells(array), scalar=array.ndim == 0, shape=array.shape)
    if _is_plain(x):
        cells, shape = _lists.cells_of(argument, x)
        return Source(argument, x, HOST, cells, scalar=shape == (), loose=True, shape=shape)
    if is_of("pandas", x, "Series") or is_of("pandas", x, "Index"):
        x = _look_at_pandas(argument, x)
        if isinstance(x, Source):
            return x
    if is_of("polars", x, "DataFrame") and x.width == 1:
        x = x.to_series()
    if is_of("polars", x, "Series") and str(x.dtype) == "Object":  # Arrow has their addresses
        return Source(argument, x, HOST, _lists.cells_of_objects(argument, x.to_list()), loose=True, shape=x.shape)
    if isinstance(x, dict):
        raise InvalidType(f"{argument}: a dict is no column; give one of its values{one_of_several(argument)}")
    x = on_gpu(x)
    # Arrow's arrays have DLPack, too, which knows no missing values.
    if is_arrow(x):
        taken, device = take_arrow(argument, x)
        if isinstance(taken, Table):
            if len(taken.columns) != 1:
                raise InvalidType(
                    f"{argument}: a table of {len(taken.columns)} columns, {', '.join(taken.names)}; "
                    f"give one of them{one_of_several(argument)}"
                )
            taken = taken.columns[0]
        return Source(argument, x, bare_library(device), taken)
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
        raise InvalidType(
            f"{argument}: a {type(x).__module__}.{type(x).__qualname__} is no column; give a NumPy array, "
            "an Arrow column, a list, or what has __dlpack__, __cuda_array_interface__ or "
            "__arrow_c_stream__: numpy.asarray(x) may make one"
        ) from None
    return Source(argument, x, HOST, HostCells(array), shape=array.shape)


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
        raise _shape_error(argument, shape)
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
    interface = x.__cuda_array_interface__
    shape = tuple(interface["shape"])
    if len(shape) > 1:
        raise _shape_error(argument, shape)
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


def _ready(source: Source, stream: int) -> Cells:
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


def _refuse(argument: str, own: str, want: Key) -> InvalidType:
    hint = "a list of values is taken if each of them is one"
    if want.time is not None and own.startswith(("datetime64", "date32")) and want.time.kind in ("M", "tz"):
        hint = "times with a zone and ones without are not compared; give both a zone, or neither"
    elif want.time is not None and own.startswith("strings"):
        hint = "make times of them first, as pandas.to_datetime(x) does; a list of ISO texts is taken"
    elif own == "uuid":
        hint = "give texts, str(x), or bytes, x.bytes"
    return InvalidType(f"{argument}: they are {own}, but {want} are asked for; {hint}")


def _converted(source: Source, array: npt.NDArray[Any], own: Key, want: Key) -> npt.NDArray[Any]:
    """Host cells in the type that is asked for; a copy unless they are of it."""
    assert own.dtype is not None and want.dtype is not None
    if own == want:
        return array
    if own.unit == want.unit and converts(own.dtype, want.dtype):
        return array.astype(want.dtype)
    raise _refuse(source.argument, str(own), want)


def and_validity(there: npt.NDArray[np.bool_], validity: Bitmap | None) -> Bitmap:
    return Bitmap.of(there if validity is None else there & validity.there(len(there)))


def _host_column(source: Source, cells: HostCells, want: Key | None, copies: bool, role: str = "") -> Column:
    array, validity = cells.array, cells.validity
    aside = None
    if _are_strings(array.dtype, want):
        return _string_column(source, _as_strings(source.argument, cells), want, role)
    if array.ndim != 1:
        if array.ndim != 0:
            raise _shape_error(source.argument, array.shape)
        array = array.reshape(1)
    key = None
    if type(array) is np.ndarray and array.dtype.kind not in "mM":
        if want is None:
            key = None if cells.unit else plain_key(array.dtype)
        elif want.dtype is not None and array.dtype == want.dtype and cells.unit == want.unit:
            key = None if role and want.time else want  # as nearly all probes are
    if key is None:
        array, validity, key, aside = _as_keys(source, array, cells, want, copies, role)
    step = array.strides[0] if len(array) > 1 else array.itemsize
    if step <= 0 or not array.flags.aligned or (array.dtype.kind != "S" and step % array.itemsize != 0):
        if not copies:
            why = "are not aligned" if step > 0 else "run backwards" if step < 0 else "are one cell, repeated"
            raise InvalidArgument(f"{source.argument}: its cells {why}; give numpy.array(x), a copy")
        array = np.array(array)
        step = array.itemsize
    native = _raydex.Column(
        native_format(array.dtype),
        _raydex.data_of(array.__array_struct__),
        len(array),
        step,
        *placed(validity),
    )
    return Column(native, len(array), key, source, (array, validity, cells.kept), *_aside(aside, role))


def _aside(which: npt.NDArray[np.bool_] | None, role: str) -> tuple[Any, Any]:
    """What `stand_ins` says at last, as a column has it: which cells are before all keys, and which are no keys."""
    return (which, None) if role else (None, which)


def _as_strings(argument: str, cells: HostCells) -> StringCells:
    """A copy of strings of one length as strings of any length; as in NumPy, NUL bytes at their end are none of
    them, unless they are whole."""
    array = np.atleast_1d(np.ma.getdata(cells.array))
    if array.ndim != 1:
        raise _shape_error(argument, array.shape)
    sizes = np.full(len(array), array.itemsize) if cells.is_whole else np.char.str_len(array)
    offsets = np.concatenate([[0], np.cumsum(sizes, dtype="int64")])
    table = np.ascontiguousarray(array).view("u1").reshape(len(array), array.dtype.itemsize)
    letters = table[np.arange(array.dtype.itemsize) < sizes[:, np.newaxis]]
    validity = cells.validity
    if np.ma.is_masked(cells.array):
        validity = and_validity(~np.ma.getmaskarray(cells.array), validity)
    begins, first = (_raydex.data_of(one.__array_struct__) for one in (offsets, letters))
    return StringCells(first, begins, True, len(array), placed(validity), (letters, offsets, validity), bits=validity)


def _are_long(dtype: np.dtype[Any]) -> bool:
    """Whether byte strings have no place in a key, and are strings of any length."""
    return dtype.kind == "S" and dtype.itemsize > 8


def _are_strings(dtype: np.dtype[Any], want: Key | None) -> bool:
    """The same, where a key is asked for."""
    if want is None or dtype.kind != "S":
        return _are_long(dtype)
    if want.dtype is None:
        return not want.unit
    return want.dtype.kind == "S" and dtype.itemsize > want.dtype.itemsize


def natural_of(source: Source, array: npt.NDArray[Any]) -> np.dtype[Any]:
    """As `natural`, also of a list of numbers."""
    if source.loose and array.dtype.kind == "O":
        raise _lists.refuse_mixed(source.argument, array)
    return natural(source.argument, array.dtype)


def _void_column(source: Source, cells: HostCells, want: Key | None) -> Column:
    """Missing cells as ones of the type that is asked for."""
    size, validity = cells.array.size, cells.validity
    if len(source.shape or ()) > 1:
        raise _shape_error(source.argument, source.shape or ())
    if want is not None and want.dtype is None:
        return _string_column(source, _lists.strings_of([b""] * size, want.unit, validity), want)
    key = want or VOID
    return _host_column(source, HostCells(np.zeros(size, key.dtype), validity, key.unit), key, True)


def _column_of_nothing(source: Source, cells: Cells, stream: int) -> Column:
    """Cells that are asked of keys of no type, which equal none of them: any values, as many of them missing."""
    own = column_of(source, stream, copies=True)
    if isinstance(cells, HostCells) and own.key.dtype is None:
        cells = _as_strings(source.argument, cells)
    validity = cells.bits if isinstance(cells, StringCells) else own.kept[1]
    return _void_column(source, HostCells(np.zeros(own.size), validity), VOID)


def _as_keys(
    source: Source,
    array: npt.NDArray[Any],
    cells: HostCells,
    want: Key | None,
    copies: bool,
    role: str,
) -> tuple[npt.NDArray[Any], Bitmap | None, Key, npt.NDArray[np.bool_] | None]:
    """Host cells in the type that is asked for, which of them are there, that type, and what `stand_ins` says at
    last."""
    argument, validity = source.argument, cells.validity
    if isinstance(array, np.ma.MaskedArray):
        if np.ma.is_masked(array):
            validity = and_validity(~np.ma.getmaskarray(array), validity)
        array = array.data
    own = Key(array.dtype, cells.unit)
    if want is not None and want.dtype is None:
        raise _refuse(argument, str(own), want)
    if array.dtype.kind == "O" and source.loose and want is not None:
        usual = array.dtype
    else:
        usual = natural_of(source, array)
    key = want or Key(usual, cells.unit)
    assert key.dtype is not None
    if not array.dtype.isnative:
        if not copies:
            raise InvalidArgument(
                f"{argument}: its bytes are swapped; give x.astype({usual.newbyteorder('=').str!r})"
            )
        array = array.astype(usual)
        own = Key(array.dtype, cells.unit)
    missing = np.isnat(array) if array.dtype.kind in "mM" else None
    aside = None
    if _are_among(own, key, role):
        array, there, aside = _among_keys(source, array, missing, validity, own, key, role)
        missing = ~there
    else:
        array = _converted(source, array, own, key)
    if missing is not None and missing.any():
        validity = and_validity(~missing, validity)
    return (array, validity, key, aside)


def _are_among(own: Key, want: Key, role: str = "") -> bool:
    """Whether cells are of another type or unit than the keys, so that some may be no key."""
    if own.time is not None and want.time is not None:
        return own != want or role != ""
    if own.unit or want.unit or own.dtype is None or want.dtype is None:
        return False
    return own.dtype.kind in "biufO" and want.dtype.kind in "iuf" and not converts(own.dtype, want.dtype)


def _among_keys(
    source: Source,
    array: npt.NDArray[Any],
    missing: npt.NDArray[np.bool_] | None,
    validity: Bitmap | None,
    own: Key,
    want: Key,
    role: str,
) -> tuple[npt.NDArray[Any], npt.NDArray[np.bool_], npt.NDArray[np.bool_] | None]:
    """Times or numbers as `stand_ins` has them."""
    assert want.dtype is not None
    there = np.ones(len(array), bool) if validity is None else validity.there(len(array))
    if missing is not None:
        there &= ~missing
    if own.time is None or want.time is None:
        found, ends = _among.numbers(array, want.dtype, source.loose), _among.ends_of(want.dtype)
    elif not _times.are_compared(own.time, want.time):
        raise _refuse(source.argument, str(own), want)
    else:
        counts = array.view("i8") if array.dtype.itemsize == 8 else array.astype("i8")
        least, most = _among.ends_of(np.dtype(f"i{want.dtype.itemsize}"))
        ends = (int(least) + (want.dtype.kind in "mM"), int(most))
        found = _times.scale(np.where(there, counts, 0), own.time, want.time, *ends)
    _check_kept(source, lambda at: array[at], found, there, want, role)
    keys, there, aside = _among.stand_ins(found, role, there, ends)
    if want.time is not None:
        keys = keys.astype(f"i{want.dtype.itemsize}").view(want.dtype)
    return (keys, there, aside)


def _check_kept(
    source: Source,
    cell: Callable[[int], Any],
    found: _among.Among,
    there: npt.NDArray[np.bool_],
    want: Key,
    role: str,
) -> None:
    """Refuses values that are no keys where they are to become some."""
    if role == "kept" and (there & ~found.exact).any():
        value = cell(int(np.argmax(there & ~found.exact)))
        raise InvalidArgument(f"{source.argument}: {value!s} is no {want}, as the keys are")


def _device_column(source: Source, cells: DeviceCells, want: Key | None, stream: int, role: str) -> Column:
    argument, library = source.argument, source.library
    own = Key(cells.dtype, cells.unit)
    key = want or Key(natural(argument, cells.dtype), cells.unit)
    if own != key and own.time is not None and key.time is not None and _times.are_compared(own.time, key.time):
        assert library.device is not None
        cells = in_unit(argument, cells, own.time, key.time, key, library.device, stream, role)
        own = key
    fits = key.dtype is not None and (cells.dtype == key.dtype or converts(cells.dtype, key.dtype))
    if key.dtype is None or key.unit != cells.unit or not fits:
        raise _refuse(argument, str(own), key)
    address, stride, kept = cells.address, cells.stride, cells.kept
    if cells.dtype != key.dtype:
        copy = library.cast(cells.array, key.dtype, stream)
        if copy.ndim == 0:
            copy = copy.reshape(1)
        address, kept = library.address(copy), copy
        steps = copy.stride() if library.name == "torch" else copy.strides
        stride = steps[0] * (key.dtype.itemsize if library.name == "torch" else 1)
    if cells.size > 1 and stride <= 0:
        how = "run backwards" if stride < 0 else "are one cell, repeated"
        raise InvalidArgument(f"{argument}: its cells {how}; give a copy, as x.contiguous() or x.copy()")
    if cells.size <= 1:
        stride = key.dtype.itemsize
    native = _raydex.Column(native_format(key.dtype), address, cells.size, stride, cells.validity, cells.first_bit)
    return Column(native, cells.size, key, source, (kept, cells.kept))


def _string_column(source: Source, cells: StringCells, want: Key | None, role: str = "") -> Column:
    own = Key(None, cells.unit)
    if want is not None and want.dtype is not None and want.dtype.kind == "S" and own == Key(None):
        if source.library.device is None:
            return _short_column(source, cells, want, role)
    if want not in (None, own):
        raise _refuse(source.argument, cells.unit or "strings of any length", want or own)
    native = _raydex.Strings(cells.bytes, cells.offsets, cells.wide, cells.size, *cells.validity)
    return Column(native, cells.size, own, source, cells.kept)


def _short_column(source: Source, cells: StringCells, want: Key, role: str) -> Column:
    """Strings of any length among byte strings of one width, by a copy."""
    assert want.dtype is not None
    width = want.dtype.itemsize
    letters, begins, sizes = letters_of(cells)
    there = np.ones(cells.size, bool) if cells.bits is None else cells.bits.there(cells.size)
    found = _among.texts(letters, begins, sizes, width)
    _check_kept(source, lambda at: letters[begins[at] :][: sizes[at]].tobytes(), found, there, want, role)
    step = 1 << 8 * (8 - width)
    codes, there, aside = _among.stand_ins(found, role, there, (0, 2**64 - step), step)
    table = codes.astype(">u8").view("u1").reshape(-1, 8)[:, :width]
    array = np.ascontiguousarray(table).view(want.dtype).reshape(-1)
    validity = None if there.all() else Bitmap.of(there)
    column = _host_column(source, HostCells(array, validity), want, True)
    column.before, column.no_key = _aside(aside, role)
    return column


def key_of(source: Source, stream: int = 0) -> Key:
    """What the cells are as keys."""
    cells = _ready(source, stream)
    if isinstance(cells, StringCells):
        return Key(None, cells.unit)
    if isinstance(cells, DeviceCells):
        return Key(natural(source.argument, cells.dtype), cells.unit)
    if cells.is_void:
        return VOID
    if _are_long(cells.array.dtype):
        return Key(None)
    return Key(natural_of(source, cells.array), cells.unit)


def _no_strings(argument: str) -> InvalidType:
    return InvalidType(
        f"{argument}: strings of any length are keys of raydex.build and raydex.join only; here a list of ones of "
        "up to 8 bytes is taken"
    )


def dtype_of(source: Source, stream: int = 0) -> np.dtype[Any]:
    """The dtype of the cells as they are given."""
    cells = _ready(source, stream)
    if isinstance(cells, StringCells):
        raise _no_strings(source.argument)
    return cells.dtype if isinstance(cells, DeviceCells) else cells.array.dtype


def column_of(source: Source, stream: int, want: Key | None = None, copies: bool = False, role: str = "") -> Column:
    """The column of a source, of the key type that is asked for.

    `copies` allows copies of cells that the library cannot read where they lie; without it they are
    refused. `role` says what values of another type or unit stand for, which may lie between two keys, or beyond all:
    for the key that they are, or for none; to be `kept`, those that are none are refused. `at_most` and
    `below`, `at_least` and `above`: for the closest key on that side; those without one are missing, and
    those before all keys in `before`. Cells of the keys' own type stand for themselves, but times where there is a
    role: see `role_of`."""
    cells = _ready(source, stream)
    if source.loose and want is not None:
        cells = _lists.read(source.argument, cells, want)
    if want == VOID:
        return _column_of_nothing(source, cells, stream)
    if isinstance(cells, StringCells):
        return _string_column(source, cells, want, role)
    if isinstance(cells, HostCells) and cells.is_void:
        return _void_column(source, cells, want)
    if isinstance(cells, DeviceCells):
        return _device_column(source, cells, want, stream, role)
    return _host_column(source, cells, want, copies, role)


def host_cells(column: Column) -> tuple[npt.NDArray[Any], npt.NDArray[np.bool_] | None]:
    """The cells of a column in host memory, without gaps, and which of them are there; None: all."""
    array, validity, _ = column.kept
    there = None if validity is None else validity.there(len(array))
    return (np.ascontiguousarray(array), None if there is None or there.all() else there)


def role_of(source: Source, key: Key, role: str, stream: int = 0) -> str:
    """The role, where cells are of another type or unit than the keys."""
    cells = _ready(source, stream)
    if key.time is not None:
        return role if key_of(source, stream) != key else ""
    if key.dtype is None or key.is_void or source.library.device is not None or isinstance(cells, DeviceCells):
        return ""
    if isinstance(cells, StringCells):
        is_among = True
    elif cells.array.dtype.kind == "S":
        is_among = _are_strings(cells.array.dtype, key)
    else:
        is_among = not cells.is_void and _are_among(Key(cells.array.dtype, cells.unit), key)
    return role if is_among else ""


def read_as(source: Source, key: Key) -> Source:
    """A list of texts as the times or UUIDs that keys are, if they are such; any other column as it is."""
    if not source.loose or source.cells is None:
        return source
    cells = _lists.read(source.argument, source.cells, key)
    if cells is source.cells:
        return source
    return Source(source.argument, source.value, source.library, cells, source.scalar, True, source.shape)


def takes(source: Source, key: Key) -> bool:
    """Whether each cell of a list of numbers is one of another type."""
    try:
        column_of(source, 0, key, role="kept")
    except InvalidArgument:
        return False
    return True


def refuse_strings(column: Column) -> Column:
    """A column of numbers, times or strings of up to 8 bytes."""
    if column.key.dtype is None:
        raise _no_strings(column.source.argument)
    return column


def same_device(first: Source, *others: Source) -> None:
    """Refuses arguments of one call on different devices."""
    for other in others:
        if other.library.device != first.library.device:
            raise InvalidArgument(
                f"{other.argument}: it is in {other.library.memory}, but {first.argument} in "
                f"{first.library.memory}; {other.library.copy_hint(first.library.device)}"
            )
