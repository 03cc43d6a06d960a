# SPDX-License-Identifier: Apache-2.0
"""Columns from Arrow's PyCapsules: pyarrow, Polars, pandas, DuckDB, cuDF. Buffers are used where they lie, on
a GPU as well; chunks are joined by a copy, and so is what has another layout than a column: dictionaries,
views of strings, bits."""

from __future__ import annotations

import ctypes
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from raydex import _raydex
from raydex._array_libraries import is_of
from raydex._errors import Error, InvalidArgument, InvalidType
from raydex._keys import unit_of_scale

_NUMBERS = {
    "c": "int8", "C": "uint8", "s": "int16", "S": "uint16", "i": "int32", "I": "uint32",
    "l": "int64", "L": "uint64", "e": "float16", "f": "float32", "g": "float64",
}  # fmt: skip
# NumPy has no days in 32 bits and no times of day.
_TIMES = {
    "tdD": ("int32", "date32"),
    "tdm": ("datetime64[ms]", ""),
    "tts": ("int32", "time32[s]"),
    "ttm": ("int32", "time32[ms]"),
    "ttu": ("int64", "time64[us]"),
    "ttn": ("int64", "time64[ns]"),
}
_UNITS = {"s": "s", "m": "ms", "u": "us", "n": "ns"}
_HINTS = {
    "+r": "; decode it, as pyarrow.compute.run_end_decode(x)",
    **dict.fromkeys(("_pli128", "_plu128"), "; cast it, as x.cast(polars.Decimal(38, 0))"),
}
_WIDEST = 8  # bytes of fixed_size_binary that are a key by themselves; longer ones are strings
_PLAIN_STRINGS = ("u", "U", "z", "Z")
_STRINGS = (*_PLAIN_STRINGS, "vu", "vz")
# Extension types whose cells are equal where those of their storage are: what they are, "" for that itself.
_EXTENSIONS = {"": "", "arrow.json": "", "arrow.uuid": "uuid"}
# Types of devices.
_CPU = 1
_CUDA = (2, 13)  # managed memory, too


@dataclass(slots=True, frozen=True)
class Bitmap:
    """Which cells are there, in host memory: a bit each, the first one `first_bit` of the first byte."""

    bytes: npt.NDArray[np.uint8]
    first_bit: int = 0

    @classmethod
    def of(cls, there: npt.NDArray[np.bool_]) -> Bitmap:
        return cls(np.packbits(there, bitorder="little"))

    @property
    def address(self) -> int:
        return _raydex.data_of(self.bytes.__array_struct__)

    def there(self, size: int) -> npt.NDArray[np.bool_]:
        """The same, as an array of so many cells."""
        end = self.first_bit + size
        return np.unpackbits(self.bytes, count=end, bitorder="little").view(np.bool_)[self.first_bit :]


def placed(bitmap: Bitmap | None) -> tuple[int, int]:
    """Where the library finds it: an address, 0 for none, and a bit."""
    return (0, 0) if bitmap is None else (bitmap.address, bitmap.first_bit)


@dataclass(slots=True)
class HostCells:
    """Cells in host memory: an array of one dimension, and a bitmap of those that are there.

    `unit` is what integers of Arrow count, where the array's dtype does not say it; `is_void`: no cell is there,
    nor said what it would be of; `is_whole`: NUL bytes at the end of byte strings are of them, as in Arrow, and no
    padding, as in NumPy."""

    array: npt.NDArray[Any]
    validity: Bitmap | None = None
    unit: str = ""
    kept: Any = None
    is_void: bool = False
    is_whole: bool = False


@dataclass(slots=True)
class DeviceCells:
    """Cells in the memory of a GPU. `written_on`: the stream that what writes them is queued on, `event`: one
    of CUDA's that follows that; None and 0 where the call's own stream waits for it already. `validity`: where
    the bitmap of those that are there is, whose first bit is `first_bit`."""

    array: Any
    address: int
    size: int
    stride: int
    dtype: np.dtype[Any]
    kept: Any
    written_on: int | None = None
    event: int = 0
    validity: int = 0
    first_bit: int = 0
    unit: str = ""


@dataclass(slots=True)
class StringCells:
    """Strings of any length, as Arrow lays them out; `event`, and `validity` with its bit, are as of `DeviceCells`.
    `unit`: what they are where they are no texts or bytes; `texts`: the same of a list; `bits`: the bitmap of those
    that are there, in host memory."""

    bytes: int
    offsets: int
    wide: bool
    size: int
    validity: tuple[int, int]
    kept: Any
    event: int = 0
    unit: str = ""
    texts: list[Any] | None = None
    bits: Bitmap | None = None


Cells = HostCells | DeviceCells | StringCells


@dataclass
class Table:
    """Several columns with their names."""

    names: list[str]
    columns: list[Cells]


def view(address: int, size: int, dtype: npt.DTypeLike, owner: Any) -> npt.NDArray[Any]:
    """Memory that `owner` has, as an array that keeps it."""
    bytes_of = size * np.dtype(dtype).itemsize
    if bytes_of == 0:
        return np.empty(size, dtype)
    memory: Any = (ctypes.c_uint8 * bytes_of).from_address(address)
    memory._owner = owner
    array: npt.NDArray[Any] = np.frombuffer(memory, np.dtype(dtype))
    return array


def letters_of(cells: StringCells) -> tuple[npt.NDArray[np.uint8], npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """The bytes of strings in host memory, where each begins there, and how many bytes it has."""
    offsets = view(cells.offsets, cells.size + 1, "i8" if cells.wide else "i4", cells.kept).astype("i8")
    return (view(cells.bytes, int(offsets[-1]), "u1", cells.kept), offsets[:-1], np.diff(offsets))


def strings_in(
    letters: npt.NDArray[np.uint8],
    offsets: npt.NDArray[np.int64],
    validity: Bitmap | None,
    unit: str = "",
    texts: list[Any] | None = None,
    owner: Any = None,
) -> StringCells:
    """Strings of any length in arrays of host memory."""
    begins, first = (_raydex.data_of(one.__array_struct__) for one in (offsets, letters))
    kept = (letters, offsets, validity, owner)
    return StringCells(first, begins, True, len(offsets) - 1, placed(validity), kept, 0, unit, texts, validity)


def strings_of(cells: list[bytes], unit: str = "", validity: Bitmap | None = None) -> StringCells:
    """Bytes as strings of any length."""
    letters = np.frombuffer(b"".join(cells) or b"\0", np.uint8)
    return strings_in(letters, np.cumsum([0, *map(len, cells)], dtype="int64"), validity, unit, cells)


def strings_of_words(
    high: npt.NDArray[np.int64], low: npt.NDArray[Any], unit: str, validity: Bitmap | None
) -> StringCells:
    """Integers of 128 bits as strings of 16 bytes in their order."""
    table = np.empty((len(high), 2), ">u8")
    table[:, 0] = high.view("u8") ^ np.uint64(2**63)
    table[:, 1] = low.view("u8")
    return strings_in(table.view("u1").reshape(-1), np.arange(len(high) + 1) * 16, validity, unit)


def repeated_string(one: StringCells, size: int, validity: Bitmap | None) -> StringCells:
    """The first one of some strings in host memory so many times."""
    letters, begins, sizes = letters_of(one)
    word = letters[begins[0] :][: sizes[0]]
    return strings_in(np.tile(word, size), np.arange(size + 1) * len(word), validity, one.unit)


def _validity(chunk: _raydex.ArrowChunk) -> Bitmap | None:
    address, first_bit = chunk.validity
    if address == 0:
        return None
    return Bitmap(view(address, (first_bit + chunk.length + 7) // 8, np.uint8, chunk), first_bit)


def _bits(address: int, offset: int, length: int, owner: Any) -> npt.NDArray[np.bool_]:
    begin, shift = divmod(offset, 8)
    return Bitmap(view(address + begin, (shift + length + 7) // 8, np.uint8, owner), shift).there(length)


def _physical(argument: str, format_of: str) -> tuple[str, str]:
    """The dtype and the unit of a format of Arrow."""
    if format_of in _NUMBERS:
        return (_NUMBERS[format_of], "")
    if format_of in _TIMES:
        return _TIMES[format_of]
    if format_of.startswith("ts"):
        unit, zone = _UNITS[format_of[2]], format_of[4:]
        return ("int64", f"datetime64[{unit}, tz]") if zone else (f"datetime64[{unit}]", "")
    if format_of.startswith("tD"):
        return (f"timedelta64[{_UNITS[format_of[2]]}]", "")
    if 1 <= _width(format_of) <= _WIDEST:
        return (f"S{_width(format_of)}", "")
    raise InvalidType(
        f"{argument}: Arrow's type '{format_of}' is no key; keys are integers, floating numbers, decimals, bool, "
        f"dates, times, durations, texts and bytes{_HINTS.get(format_of, '')}"
    )


def _width(format_of: str) -> int:
    """Bytes of a cell of fixed_size_binary; 0 of other types."""
    return int(format_of[2:]) if format_of.startswith("w:") else 0


def _check_extension(argument: str, field: _raydex.ArrowField) -> None:
    """Refuses types that are made of others, unless it is known that they are equal where these are."""
    if field.extension not in _EXTENSIONS:
        raise InvalidType(
            f"{argument}: its type is the extension {field.extension!r} of Arrow, and raydex does not know when two "
            "of its values are equal; give a column of a type of Arrow's own"
        )


def _strings(field: _raydex.ArrowField, chunks: list[_raydex.ArrowChunk]) -> StringCells:
    if field.format in _PLAIN_STRINGS and len(chunks) == 1 and chunks[0].length != 0:
        [one] = chunks
        one.check_strings(field.format)
        validity = _validity(one)
        return StringCells(*one.strings(field.format), (one, validity), bits=validity)
    size = sum(one.length for one in chunks)
    validity = _joined_validity(field, chunks)
    flat = _raydex.arrow_flatten(field, chunks)
    return StringCells(flat.bytes, flat.offsets, True, size, placed(validity), (flat, validity), bits=validity)


def _fixed_strings(
    argument: str, field: _raydex.ArrowField, chunks: list[_raydex.ArrowChunk], unit: str
) -> StringCells:
    """Cells of fixed_size_binary as strings of any length, where they lie if they are in one chunk."""
    width = _width((field.dictionary or field).format)
    if field.dictionary is not None:
        arrays = [_decoded_bytes(field, one, width) for one in chunks]
    else:
        arrays = [_bytes_of(one, width) for one in chunks]
    letters = arrays[0] if len(arrays) == 1 else np.concatenate([*arrays, np.empty(0, "u1")])
    size = len(letters) // width
    offsets = np.arange(size + 1, dtype="i8") * width
    return strings_in(letters, offsets, _joined_validity(field, chunks) if chunks else None, unit, owner=chunks)


def _decimals(argument: str, field: _raydex.ArrowField, chunks: list[_raydex.ArrowChunk]) -> HostCells | StringCells:
    """Decimals as integers of their last digit, of 64 bits if these have all of them, else of 128."""
    of_values = field.dictionary or field
    _, scale, *bits = map(int, of_values.format[2:].split(","))
    words = (bits or [128])[0] // 64
    tables = []
    for chunk in chunks:
        own = chunk if field.dictionary is None else chunk.dictionary
        if words == 0:
            table = view(own.buffers[1] + own.offset * 4, own.length, "i4", own).astype("i8").reshape(-1, 1)
        else:
            begin = own.buffers[1] + own.offset * 8 * words
            table = view(begin, own.length * words, "i8", own).reshape(-1, words)
        if field.dictionary is not None:
            table = table[_indices(field, chunk)] if len(table) else np.zeros((chunk.length, table.shape[1]), "i8")
        tables.append(table)
    table = tables[0] if len(tables) == 1 else np.concatenate([*tables, np.empty((0, max(words, 1)), "i8")])
    validity, unit = _joined_validity(field, chunks) if chunks else None, unit_of_scale(scale)
    there = np.ones(len(table), bool) if validity is None else validity.there(len(table))
    if _are_signs(table, 1, there):
        return HostCells(table[:, 0], validity, unit)
    if not _are_signs(table, 2, there):
        raise InvalidType(f"{argument}: some of its decimals take more than 128 bits, as no keys do")
    return strings_of_words(np.ascontiguousarray(table[:, 1]), np.ascontiguousarray(table[:, 0]), unit, validity)


def _are_signs(words: npt.NDArray[np.int64], first: int, there: npt.NDArray[np.bool_]) -> bool:
    """Whether the words of integers from one on are nothing but the sign of the word before."""
    signs = words[:, first - 1 : first] >> 63
    return not ((words[:, first:] != signs).any(axis=1) & there).any()


def _bytes_of(chunk: _raydex.ArrowChunk, width: int) -> npt.NDArray[np.uint8]:
    return view(chunk.buffers[1] + chunk.offset * width, chunk.length * width, np.uint8, chunk)


def _decoded_bytes(field: _raydex.ArrowField, chunk: _raydex.ArrowChunk, width: int) -> npt.NDArray[np.uint8]:
    values, indices = _bytes_of(chunk.dictionary, width).reshape(-1, width), _indices(field, chunk)
    if len(values) == 0:  # all cells are missing
        return np.zeros(chunk.length * width, np.uint8)
    found: npt.NDArray[np.uint8] = values[indices].reshape(-1)
    return found


def _joined_validity(field: _raydex.ArrowField, chunks: list[_raydex.ArrowChunk]) -> Bitmap | None:
    if field.dictionary is not None:
        each = [_validity_by_dictionary(field, one) for one in chunks]
    else:
        each = [_validity(one) for one in chunks]
    if len(each) == 1:
        return each[0]
    if all(one is None for one in each):
        return None
    there = [
        np.ones(chunk.length, np.bool_) if bits is None else bits.there(chunk.length)
        for chunk, bits in zip(chunks, each)
    ]
    return Bitmap.of(np.concatenate(there))


def _indices(field: _raydex.ArrowField, chunk: _raydex.ArrowChunk) -> npt.NDArray[Any]:
    """Where cells are in the dictionary; 0 for missing ones."""
    dtype = np.dtype(_NUMBERS[field.format])
    indices = view(chunk.buffers[1] + chunk.offset * dtype.itemsize, chunk.length, dtype, chunk)
    validity = _validity(chunk)
    there = indices if validity is None else indices[validity.there(chunk.length)]
    if validity is not None:
        indices = indices * validity.there(chunk.length)
    if len(there) and (int(there.min()) < 0 or int(there.max()) >= chunk.dictionary.length):
        raise InvalidArgument(
            f"column: its Arrow dictionary has {chunk.dictionary.length} values, and some of its cells are of others; "
            "it is damaged"
        )
    return indices


def _validity_by_dictionary(field: _raydex.ArrowField, chunk: _raydex.ArrowChunk) -> Bitmap | None:
    """Missing are cells without an index, and those with that of a missing value."""
    validity, of_values = _validity(chunk), _validity(chunk.dictionary)
    if of_values is None:
        return validity
    if chunk.dictionary.length == 0:
        return Bitmap(np.zeros((chunk.length + 7) // 8, np.uint8))
    there = of_values.there(chunk.dictionary.length)[_indices(field, chunk)]
    if validity is not None:
        there &= validity.there(chunk.length)
    return Bitmap.of(there)


def _decoded(argument: str, field: _raydex.ArrowField, chunk: _raydex.ArrowChunk) -> npt.NDArray[Any]:
    """The cells of a dictionary of what is not strings."""
    assert field.dictionary is not None
    values = _cells(argument, field.dictionary, [chunk.dictionary])
    assert isinstance(values, HostCells)
    indices = _indices(field, chunk)
    if len(values.array) == 0:  # all cells are missing
        return np.zeros(chunk.length, values.array.dtype)
    found: npt.NDArray[Any] = values.array[indices]
    return found


def _cells(argument: str, field: _raydex.ArrowField, chunks: list[_raydex.ArrowChunk]) -> HostCells | StringCells:
    value_field = field.dictionary or field
    for one in (field, value_field):
        _check_extension(argument, one)
    format_of, meaning = value_field.format, _EXTENSIONS[value_field.extension] or _EXTENSIONS[field.extension]
    if format_of == "n":
        return nothing(sum(one.length for one in chunks))
    if format_of in _STRINGS:
        return _strings(field, chunks)
    if _width(format_of) > _WIDEST:
        return _fixed_strings(argument, field, chunks, meaning)
    if format_of.startswith("d:"):
        return _decimals(argument, field, chunks)
    dtype, unit = ("bool", "") if format_of == "b" else _physical(argument, format_of)
    arrays: list[npt.NDArray[Any]]
    if field.dictionary is not None:
        arrays = [_decoded(argument, field, one) for one in chunks]
    elif format_of == "b":
        arrays = [_bits(one.buffers[1], one.offset, one.length, one) for one in chunks]
    else:
        width = np.dtype(dtype).itemsize
        arrays = [view(one.buffers[1] + one.offset * width, one.length, dtype, one) for one in chunks]
    array = arrays[0] if len(arrays) == 1 else np.concatenate(arrays) if arrays else np.empty(0, dtype)
    validity = _joined_validity(field, chunks) if chunks else None
    return HostCells(array, validity, unit, is_whole=_width(format_of) > 0)


def nothing(size: int) -> HostCells:
    """Missing cells, of a type that nothing says."""
    return HostCells(np.zeros(size), Bitmap(np.zeros((size + 7) // 8, np.uint8)) if size else None, is_void=True)


def _device_cells(
    argument: str, field: _raydex.ArrowField, chunk: _raydex.ArrowChunk, event: int
) -> DeviceCells | StringCells:
    _check_extension(argument, field)
    if field.dictionary is not None or field.format in ("b", "vu", "vz"):
        layout = "dictionary-encoded" if field.dictionary is not None else f"of Arrow's type '{field.format}'"
        raise InvalidType(
            f"{argument}: it is {layout} in the memory of a GPU; convert it first, to "
            "the type of its values, bool to 'int8'"
        )
    if field.format in _PLAIN_STRINGS:
        return StringCells(*chunk.strings(field.format), chunk, event)
    name, unit = _physical(argument, field.format)
    dtype = np.dtype(name)
    address = chunk.buffers[1] + chunk.offset * dtype.itemsize
    return DeviceCells(
        None, address, chunk.length, dtype.itemsize, dtype, chunk, None, event, *chunk.validity, unit
    )


def is_arrow(x: Any) -> bool:
    """Whether an object has one of the interfaces. Some on a GPU have that of host memory as well, by a copy,
    which is not made behind a user's back."""
    if hasattr(x, "__arrow_c_device_array__"):
        return True
    on_host = hasattr(x, "__arrow_c_array__") or hasattr(x, "__arrow_c_stream__")
    return on_host and not hasattr(x, "__cuda_array_interface__")


def is_arrow_alone(x: Any) -> bool:
    """The same of columns of libraries whose columns are Arrow's alone, so that no other check is needed."""
    is_one = is_of("pyarrow", x, "Array") or is_of("pyarrow", x, "ChunkedArray") or is_of("pylibcudf", x, "Column")
    return is_one and is_arrow(x)


def take_arrow(argument: str, x: Any) -> tuple[Cells | Table, int | None]:
    """The cells of an object with a PyCapsule interface, or a table where it is of several columns, and the
    number of the GPU that they are on."""
    kind, device, event = _CPU, 0, 0
    try:
        if hasattr(x, "__arrow_c_device_array__"):
            field, chunks, kind, device, event = _raydex.arrow_device_array(*x.__arrow_c_device_array__())
        elif hasattr(x, "__arrow_c_array__"):
            field, chunks = _raydex.arrow_array(*x.__arrow_c_array__())
        else:
            field, chunks = _raydex.arrow_stream(x.__arrow_c_stream__())
    except (Error, MemoryError):
        raise
    except Exception as error:  # of any library
        class_name = f"{type(x).__module__.partition('.')[0]}.{type(x).__qualname__}"
        raise InvalidArgument(f"{argument}: Arrow has no column of this {class_name}: {error}") from error
    if kind != _CPU and kind not in _CUDA:
        raise InvalidType(
            f"{argument}: it is on a device of Arrow's type {kind}; copy it to the CPU or to CUDA"
        )
    number = None if kind == _CPU else device
    if field.format != "+s":
        return (_taken(argument, field, chunks, number, event), number)
    if field.extension:
        _check_extension(argument, field)
    if any(one.null_count > 0 or one.offset != 0 for one in chunks):
        raise InvalidType(f"{argument}: structs with missing or cut rows are no table; give its columns")
    table = Table([], [])
    for i, child in enumerate(field.children):
        table.names.append(child.name)
        own_chunks = [one.children[i] for one in chunks]
        table.columns.append(_taken(f"{argument}[{child.name!r}]", child, own_chunks, number, event))
    return (table, number)


def _taken(
    argument: str, field: _raydex.ArrowField, chunks: list[_raydex.ArrowChunk], device: int | None, event: int
) -> Cells:
    if device is None:
        return _cells(argument, field, chunks)
    [chunk] = chunks
    return _device_cells(argument, field, chunk, event)
