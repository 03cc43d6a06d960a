# SPDX-License-Identifier: Apache-2.0
"""Columns that the library reads, of arguments that were looked at (`_sources`).

Cells stay where they are. There are three copies, all on the same device: of types that the library has
no keys for (int8, int16, float16, bool), of probes of another type than the keys, and of Arrow's chunks.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from raydex import _among, _decimals, _lists, _raydex, _times
from raydex._arrow import (
    Bitmap,
    Cells,
    DeviceCells,
    HostCells,
    StringCells,
    letters_of,
    placed,
    strings_in,
    strings_of,
)  # fmt: skip
from raydex._device_times import in_unit
from raydex._errors import InvalidArgument, InvalidType
from raydex._keys import TEXTS, VOID, Key, converts, native_format, natural, plain_key
from raydex._sources import Source, ready, shape_error


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


def _refuse(argument: str, own: str, want: Key) -> InvalidType:
    hint = "a list of values is taken if each of them is one"
    if want.time is not None and own.startswith(("datetime64", "date32")) and want.time.kind in ("M", "tz"):
        hint = "times with a zone and ones without are not compared; give both a zone, or neither"
    elif want.time is not None and own.startswith("strings"):
        hint = "make times of them first, as pandas.to_datetime(x) does; a list of ISO texts is taken"
    elif own in ("uuid", "ipv6"):
        hint = f"give texts, str(x), or bytes, x.{'bytes' if own == 'uuid' else 'packed'}"
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
    if _are_strings(array.dtype, want) or _differ_in_padding(source, cells, want):
        return _string_column(source, _as_strings(source.argument, cells), want, role)
    if array.ndim != 1:
        if array.ndim != 0:
            raise shape_error(source.argument, array.shape)
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
        raise shape_error(argument, array.shape)
    sizes = np.full(len(array), array.itemsize) if cells.is_whole else np.char.str_len(array)
    offsets = np.concatenate([[0], np.cumsum(sizes, dtype="int64")])
    table = np.ascontiguousarray(array).view("u1").reshape(len(array), array.dtype.itemsize)
    letters = table[np.arange(array.dtype.itemsize) < sizes[:, np.newaxis]]
    validity = cells.validity
    if np.ma.is_masked(cells.array):
        validity = and_validity(~np.ma.getmaskarray(cells.array), validity)
    return strings_in(letters, offsets, validity)


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


def _differ_in_padding(source: Source, cells: HostCells, want: Key | None) -> bool:
    """Whether NUL bytes at the end are of byte strings, but padding of the keys that they are compared with, or the
    other way round."""
    if want is None or want.dtype is None or want.dtype.kind != "S" or cells.array.dtype.kind != "S":
        return False
    if not want.is_whole:
        return cells.is_whole
    return cells.array.dtype.itemsize < want.dtype.itemsize if cells.is_whole else source.loose


def natural_of(source: Source, array: npt.NDArray[Any]) -> np.dtype[Any]:
    """As `natural`, also of a list of numbers."""
    if source.loose and array.dtype.kind == "O":
        raise _lists.refuse_mixed(source.argument, array)
    return natural(source.argument, array.dtype)


def _void_column(source: Source, cells: HostCells, want: Key | None) -> Column:
    """Missing cells as ones of the type that is asked for."""
    size, validity = cells.array.size, cells.validity
    if len(source.shape or ()) > 1:
        raise shape_error(source.argument, source.shape or ())
    if want is not None and want.dtype is None:
        return _string_column(source, strings_of([b""] * size, want.unit, validity), want)
    key = want or VOID
    return _host_column(source, HostCells(np.zeros(size, key.dtype), validity, key.unit), key, True)


def says_nothing(source: Source) -> bool:
    """Whether no cell says what a column is of."""
    return key_of(source).is_void or (isinstance(source.cells, HostCells) and is_none(source, source.cells))


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
    if array.dtype.kind == "O" and (source.loose or cells.unit) and want is not None:
        usual = array.dtype
    else:
        usual = natural_of(source, array)
    key = want or Key(usual, cells.unit, is_whole=cells.is_whole)
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
    if own.dtype is None or want.dtype is None:
        return False
    if own.scale is not None or want.scale is not None:
        are_numbers = all(one.scale is not None or not one.unit for one in (own, want))
        return are_numbers and own != want and own.dtype.kind in "biufO" and want.dtype.kind in "iuf"
    if own.unit or want.unit:
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
    if own.scale is not None or want.scale is not None:
        found = _decimals.among(source.argument, array, own, want, there)
        ends = _among.ends_of(want.dtype)
    elif own.time is None or want.time is None:
        found, ends = _among.numbers(array, want.dtype, source.loose), _among.ends_of(want.dtype)
        if array.dtype.kind == "O" and want.dtype.kind == "f":
            _decimals.check_floating(source.argument, array, found, there)
    elif not _times.are_compared(own.time, want.time):
        raise _refuse(source.argument, str(own), want)
    else:
        counts = array.view("i8") if array.dtype.itemsize == 8 else array.astype("i8")
        least, most = _among.ends_of(np.dtype(f"i{want.dtype.itemsize}"))
        ends = (int(least) + (want.dtype.kind in "mM"), int(most))
        found = _times.scale(np.where(there, counts, 0), own.time, want.time, *ends)
    _check_kept(source, lambda at: _decimals.value(array[at], own), found, there, want, role)
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


def _key_of_strings(cells: StringCells) -> Key:
    return Key(None, cells.unit) if cells.unit else TEXTS


def _string_column(source: Source, cells: StringCells, want: Key | None, role: str = "") -> Column:
    own = _key_of_strings(cells)
    if want is not None and want.dtype is not None and want.dtype.kind == "S" and own == TEXTS:
        if source.library.device is None:
            return _short_column(source, cells, want, role)
    if want not in (None, own):
        raise _refuse(source.argument, cells.unit or "strings of any length", want or own)
    native = _raydex.Strings(cells.bytes, cells.offsets, cells.wide, cells.size, *cells.validity)
    return Column(native, cells.size, own, source, (cells, cells.bits))


def byte_strings(codes: npt.NDArray[Any], dtype: np.dtype[Any]) -> npt.NDArray[Any]:
    """The byte strings that have codes, see `_among.texts`."""
    table = codes.astype(">u8").view("u1").reshape(-1, 8)[:, : dtype.itemsize]
    return np.ascontiguousarray(table).view(dtype).reshape(-1)


def _short_column(source: Source, cells: StringCells, want: Key, role: str) -> Column:
    """Strings of any length among byte strings of one width, by a copy."""
    assert want.dtype is not None
    width = want.dtype.itemsize
    letters, begins, sizes = letters_of(cells)
    there = np.ones(cells.size, bool) if cells.bits is None else cells.bits.there(cells.size)
    found = _among.texts(letters, begins, sizes, width, want.is_whole)
    if role == "" and cells.bits is None and found.exact.all():  # all are keys, as most are
        cells_of = HostCells(byte_strings(found.floor, want.dtype), is_whole=want.is_whole)
        return _host_column(source, cells_of, want, True)
    _check_kept(source, lambda at: letters[begins[at] :][: sizes[at]].tobytes(), found, there, want, role)
    step = 1 << 8 * (8 - width)
    codes, there, aside = _among.stand_ins(found, role, there, (0, 2**64 - step), step)
    validity = None if there.all() else Bitmap.of(there)
    cells_of = HostCells(byte_strings(codes, want.dtype), validity, is_whole=want.is_whole)
    column = _host_column(source, cells_of, want, True)
    column.before, column.no_key = _aside(aside, role)
    return column


def string_cells(source: Source, stream: int) -> StringCells:
    """Texts or bytes in host memory as strings of any length."""
    cells = ready(source, stream)
    assert not isinstance(cells, DeviceCells)
    return _as_strings(source.argument, cells) if isinstance(cells, HostCells) else cells


def strings_asked(source: Source, stream: int) -> StringCells:
    """The same of probes for strings; missing ones may be of no type."""
    cells = ready(source, stream)
    if isinstance(cells, HostCells) and (cells.is_void or is_none(source, cells)):
        return strings_of([b""] * cells.array.size, validity=cells.validity)
    own = key_of(source, stream)
    if own.unit or (own.dtype is not None and own.dtype.kind != "S"):
        raise _refuse(source.argument, str(own), TEXTS)
    return string_cells(source, stream)


def short_texts(source: Source, stream: int, width: int = 0) -> Column | None:
    """Texts in host memory as byte strings of one width, by default that of the longest one, by a copy; None if one has
    more than 8 bytes, or ends in NUL, which such strings are padded with."""
    if source.library.device is not None or isinstance(source.cells, DeviceCells):
        return None
    cells = string_cells(source, stream)
    widest = _widest(cells)
    return None if widest is None else _short_column(source, cells, Key(np.dtype(f"S{width or widest or 8}")), "")


def _widest(cells: StringCells) -> int | None:
    """Bytes of the longest text; None as of `short_texts`."""
    if cells.unit:
        return None
    letters, begins, sizes = letters_of(cells)
    if cells.bits is not None:
        sizes = np.where(cells.bits.there(cells.size), sizes, 0)
    widest = int(sizes.max(initial=0))
    return None if widest > 8 or (letters[(begins + sizes)[sizes > 0] - 1] == 0).any() else widest


def longer_texts(source: Source, key: Key, stream: int) -> Column | None:
    """Texts in host memory by themselves, if some have no place among byte strings of one width."""
    if key.dtype is None or key.dtype.kind != "S" or key.is_whole or source.library.device is not None:
        return None
    own = key_of(source, stream)
    if own != TEXTS and (own.dtype is None or own.dtype.kind != "S" or own.dtype.itemsize <= key.dtype.itemsize):
        return None
    cells = string_cells(source, stream)
    widest = _widest(cells)
    if widest is None:
        return _string_column(source, cells, None)
    if widest <= key.dtype.itemsize:
        return None
    return _short_column(source, cells, Key(np.dtype(f"S{widest}")), "")


def is_none(source: Source, cells: HostCells) -> bool:
    """Whether an array or Series has no cells and floats for a type, as NumPy and pandas give such ones, whatever was
    meant. In Polars and Arrow one says null."""
    return (
        cells.array.size == 0
        and cells.array.dtype == np.float64
        and type(source.value).__module__.partition(".")[0] in ("numpy", "pandas")
    )


def key_of(source: Source, stream: int = 0) -> Key:
    """What the cells are as keys."""
    cells = ready(source, stream)
    if isinstance(cells, StringCells):
        return _key_of_strings(cells)
    if isinstance(cells, DeviceCells):
        return Key(natural(source.argument, cells.dtype), cells.unit)
    if cells.is_void:
        return VOID
    if _are_long(cells.array.dtype):
        return TEXTS
    return Key(natural_of(source, cells.array), cells.unit, is_whole=cells.is_whole)


def no_strings(argument: str, unit: str) -> InvalidType:
    """Says that cells are keys, but nothing that this place takes."""
    if unit:
        return InvalidType(f"{argument}: {unit} are keys of raydex.build and of joins only; here give numbers or times")
    return InvalidType(
        f"{argument}: strings of any length are keys of raydex.build and raydex.join only; here a list of ones of "
        "up to 8 bytes is taken, x.tolist()"
    )


def dtype_of(source: Source, stream: int = 0) -> np.dtype[Any]:
    """The dtype of the cells as they are given."""
    cells = ready(source, stream)
    if isinstance(cells, StringCells):
        raise no_strings(source.argument, cells.unit)
    return cells.dtype if isinstance(cells, DeviceCells) else cells.array.dtype


def column_of(source: Source, stream: int, want: Key | None = None, copies: bool = False, role: str = "") -> Column:
    """The column of a source, of the key type that is asked for.

    `copies` allows copies of cells that the library cannot read where they lie; without it they are
    refused. `role` says what values of another type or unit stand for, which may lie between two keys, or beyond all:
    for the key that they are, or for none; to be `kept`, those that are none are refused. `at_most` and
    `below`, `at_least` and `above`: for the closest key on that side; those without one are missing, and
    those before all keys in `before`. Cells of the keys' own type stand for themselves, but times where there is a
    role: see `role_of`."""
    cells = ready(source, stream)
    if source.loose and want is not None:
        cells = _lists.read(source.argument, cells, want)
    if want == VOID:
        return _column_of_nothing(source, cells, stream)
    if want is not None:
        cells = _decimals.in_form_of(cells, want)
    if isinstance(cells, StringCells):
        return _string_column(source, cells, want, role)
    if isinstance(cells, HostCells) and (cells.is_void or (want and not want.is_number and is_none(source, cells))):
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
    cells = ready(source, stream)
    if key.time is not None:
        return role if key_of(source, stream) != key else ""
    if key.dtype is None or key.is_void or source.library.device is not None or isinstance(cells, DeviceCells):
        return ""
    if isinstance(cells, StringCells):
        is_among = True
    elif cells.array.dtype.kind == "S":
        is_among = _are_strings(cells.array.dtype, key) or _differ_in_padding(source, cells, key)
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
    if column.key.scale is not None:
        raise InvalidType(
            f"{column.source.argument}: they are {column.key}; decimals are keys alone, here give integers of the last "
            "digit, or float64, which rounds"
        )
    if column.key.dtype is None:
        raise no_strings(column.source.argument, column.key.unit)
    return column


def unit_of(cells: Cells | None) -> str:
    """What cells mean, if that is not what their dtype says."""
    return "" if cells is None else cells.unit


def row_ids_in(source: Source, stream: int, bits: int) -> Column:
    """Row ids as the library takes them: unsigned, of 32 or 64 bits; a copy unless they are so."""
    end = 2**bits - 1
    dtype = dtype_of(source, stream)
    want = Key(np.dtype(f"u{bits // 8}"))
    unit = unit_of(source.cells)
    if (unit or dtype.kind not in "iu") and not (source.loose and source.cells is not None and source.shape == (0,)):
        raise InvalidType(f"{source.argument}: row ids are integers, and these are {unit or dtype}")
    if dtype == want.dtype:
        return column_of(source, stream, copies=True)
    if isinstance(source.cells, HostCells):
        if source.cells.validity is not None or np.ma.is_masked(source.cells.array):
            raise InvalidArgument(f"{source.argument}: some are missing; give all of them")
        array = np.asarray(source.cells.array)
        if array.size and source.library.any_outside(array, end, stream):
            raise InvalidArgument(
                f"{source.argument}: they go from {array.min()} to {array.max()}; row ids are 0 to {end - 1}"
            )
        cast = HostCells(array.astype(want.dtype), source.cells.validity, kept=source.cells.kept)
        plain = Source(source.argument, source.value, source.library, cast, source.scalar)
        return column_of(plain, stream, copies=True)
    array = source.value
    if source.library.any_outside(array, end, stream):
        raise InvalidArgument(f"{source.argument}: some are not within 0 to {end - 1}")
    copy = source.library.cast(array, f"int{bits}", stream)
    address = source.library.address(copy)
    native = _raydex.Column(_raydex.Format(f"uint{bits}"), address, len(copy))
    return Column(native, len(copy), want, source, copy)
