# SPDX-License-Identifier: Apache-2.0
"""Columns from Arrow's PyCapsules: pyarrow, Polars, pandas, DuckDB. Buffers are used where they lie;
chunks are joined by a copy, and so is what has another layout than a column."""

from __future__ import annotations

import ctypes
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from raydex import _raydex
from raydex._errors import InvalidType

_NUMBERS = {
    "c": "int8", "C": "uint8", "s": "int16", "S": "uint16", "i": "int32", "I": "uint32",
    "l": "int64", "L": "uint64", "e": "float16", "f": "float32", "g": "float64",
}  # fmt: skip
# Days and times of day have units of their own, which NumPy has not in 32 bits.
_TIMES = {
    "tdD": ("int32", "date32"),
    "tdm": ("int64", "datetime64[ms]"),
    "tts": ("int32", "time32[s]"),
    "ttm": ("int32", "time32[ms]"),
    "ttu": ("int64", "time64[us]"),
    "ttn": ("int64", "time64[ns]"),
}
_UNITS = {"s": "s", "m": "ms", "u": "us", "n": "ns"}
_STRINGS = ("u", "U", "z", "Z", "vu", "vz")


@dataclass(slots=True)
class HostCells:
    """Cells in host memory: an array of one dimension, or strings, and a bitmap of which are there.

    `unit` is what integers of Arrow count, where the array's dtype does not say it."""

    array: npt.NDArray[Any]
    validity: npt.NDArray[np.uint8] | None = None
    unit: str = ""
    kept: Any = None


@dataclass
class StringCells:
    """Strings of any length in host memory, as Arrow lays them out."""

    bytes: int
    offsets: int
    wide: bool
    size: int
    validity: npt.NDArray[np.uint8] | None
    kept: Any


@dataclass
class Table:
    """Several columns with their names."""

    names: list[str]
    columns: list[HostCells | StringCells]


def _view(address: int, size: int, dtype: npt.DTypeLike, owner: Any) -> npt.NDArray[Any]:
    """Memory that `owner` has, as an array that keeps it."""
    bytes_of = size * np.dtype(dtype).itemsize
    if bytes_of == 0:
        return np.empty(size, dtype)
    memory: Any = (ctypes.c_uint8 * bytes_of).from_address(address)
    memory._owner = owner
    array: npt.NDArray[Any] = np.frombuffer(memory, np.dtype(dtype))
    return array


def _validity(chunk: _raydex.ArrowChunk) -> npt.NDArray[np.uint8] | None:
    """The bitmap from the first cell on; a copy where that does not begin a byte."""
    if chunk.null_count == 0 or not chunk.buffers or chunk.buffers[0] == 0 or chunk.length == 0:
        return None
    begin, shift = divmod(chunk.offset, 8)
    wanted = (chunk.length + 7) // 8
    there = (shift + chunk.length + 7) // 8
    bits = _view(chunk.buffers[0] + begin, there, np.uint8, chunk)
    if shift == 0:
        return bits
    shifted: npt.NDArray[np.uint8] = bits[:wanted] >> np.uint8(shift)
    above = bits[1 : wanted + 1]
    shifted[: len(above)] |= above << np.uint8(8 - shift)
    return shifted


def _bits(address: int, offset: int, length: int, owner: Any) -> npt.NDArray[np.bool_]:
    begin, shift = divmod(offset, 8)
    packed = _view(address + begin, (shift + length + 7) // 8, np.uint8, owner)
    return np.unpackbits(packed, bitorder="little")[shift : shift + length].view(np.bool_)


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
    if format_of.startswith("w:") and 1 <= int(format_of[2:]) <= 8:
        return (f"S{int(format_of[2:])}", "")
    raise InvalidType(
        f"{argument}: Arrow's type '{format_of}' is no key; keys are integers, floating numbers, bool, "
        "dates, times, durations, and fixed_size_binary of 1 to 8 bytes: cast the column to one of these"
    )


def _strings(argument: str, format_of: str, chunks: list[_raydex.ArrowChunk]) -> StringCells:
    plain = format_of in ("u", "U", "z", "Z")
    size = sum(one.length for one in chunks)
    if plain and len(chunks) == 1 and size != 0:
        [one] = chunks
        wide = format_of in ("U", "Z")
        offsets = one.buffers[1] + one.offset * (8 if wide else 4)
        return StringCells(one.buffers[2], offsets, wide, size, _validity(one), chunks)
    flat = _raydex.arrow_flatten(format_of, chunks)
    return StringCells(
        flat.bytes, flat.offsets, True, size, _joined_validity(chunks), (flat, chunks)
    )


def _joined_validity(chunks: list[_raydex.ArrowChunk]) -> npt.NDArray[np.uint8] | None:
    each = [_validity(one) for one in chunks]
    if len(each) == 1:
        return each[0]
    if all(one is None for one in each):
        return None
    there = [
        np.ones(chunk.length, np.uint8)
        if bits is None
        else np.unpackbits(bits, count=chunk.length, bitorder="little")
        for chunk, bits in zip(chunks, each)
    ]
    return np.packbits(np.concatenate(there), bitorder="little")


def _cells(
    argument: str, field: _raydex.ArrowField, chunks: list[_raydex.ArrowChunk]
) -> HostCells | StringCells:
    if field.has_dictionary:
        raise InvalidType(
            f"{argument}: it is dictionary-encoded; decode it first, with pyarrow's "
            ".dictionary_decode(), Polars' .cast(pl.String) or pandas' .astype(str)"
        )
    if field.format in _STRINGS:
        return _strings(argument, field.format, chunks)
    if field.format == "b":
        parts: list[npt.NDArray[Any]] = [
            _bits(one.buffers[1], one.offset, one.length, one) for one in chunks
        ]
        dtype, unit = "bool", ""
    else:
        dtype, unit = _physical(argument, field.format)
        width = np.dtype(dtype).itemsize
        parts = [_view(one.buffers[1] + one.offset * width, one.length, dtype, one) for one in chunks]
    array = parts[0] if len(parts) == 1 else np.concatenate(parts) if parts else np.empty(0, dtype)
    return HostCells(array, _joined_validity(chunks) if chunks else None, unit)


def is_arrow(x: Any) -> bool:
    return hasattr(x, "__arrow_c_array__") or hasattr(x, "__arrow_c_stream__")


def take_arrow(argument: str, x: Any) -> HostCells | StringCells | Table:
    """The cells of an object with a PyCapsule interface; a table where it is of several columns."""
    if hasattr(x, "__arrow_c_array__"):
        field, chunks = _raydex.arrow_array(*x.__arrow_c_array__())
    else:
        field, chunks = _raydex.arrow_stream(x.__arrow_c_stream__())
    if field.format != "+s":
        return _cells(argument, field, chunks)
    if any(one.null_count > 0 or one.offset != 0 for one in chunks):
        raise InvalidType(f"{argument}: structs with missing or cut rows are no table; give its columns")
    columns = [[one.children[i] for one in chunks] for i in range(len(field.children))]
    return Table(
        [child.name for child in field.children],
        [
            _cells(f"{argument}[{child.name!r}]", child, column)
            for child, column in zip(field.children, columns)
        ],
    )
