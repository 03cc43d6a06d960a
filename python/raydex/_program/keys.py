# SPDX-License-Identifier: Apache-2.0
"""Columns of files as keys, values and positions: what they are of, and how those that meet become of one
type."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from raydex._program.messages import Refused, arrow, printable, quoted
from raydex._program.tables import TYPES, VERBATIM, Name, arrow_type, read

WIDEST = 8
"""Bytes of the longest text that an index is built over."""

_EXTENSIONS = ("arrow.uuid", "arrow.json")  # types of Arrow that are equal where their storage is
_EXACT = 2**53  # doubles hold all integers up to here
_WORDS = {"float32": "float", "float64": "double"}  # as names of columns say it
# A text that reads as a number.
_NUMBER = (
    r"^\s*[-+]?(?:(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)?"
    r"|[nN][aA][nN]|[iI][nN][fF](?:[iI][nN][iI][tT][yY])?)\s*$"
)


@dataclasses.dataclass
class Column:
    """The cells of a column."""

    label: str  # what it is for: keys, points
    name: Name
    values: Any  # a NumPy array, or texts of any length as Arrow has them
    missing: npt.NDArray[np.bool_] | None = None  # which cells of an array
    is_void: bool = False  # without any value, and of no type that somebody has named
    is_zoned: bool = False  # times of the world, not of a clock on a wall
    written_as: Any = None  # the type of Arrow, where the array's does not say it

    def __len__(self) -> int:
        return len(self.values)

    def __str__(self) -> str:
        return f"{self.label} {self.name.text}"

    @property
    def are_texts(self) -> bool:
        """Whether they are texts as Arrow has them."""
        return not isinstance(self.values, np.ndarray)

    @property
    def kind(self) -> str:
        """The kind of the array's dtype, as NumPy says it."""
        return "" if self.are_texts else str(self.values.dtype.kind)

    @property
    def type(self) -> str:
        """What they are, in the words of the command line where it has some."""
        if self.are_texts:
            return "strings"
        dtype = self.values.dtype
        if dtype.kind == "S":
            return f"bytes{dtype.itemsize}"
        return "times with a zone" if self.is_zoned else _WORDS.get(dtype.name, dtype.name)

    @property
    def cells(self) -> Any:
        """What the functions of the package take."""
        return self.values if self.missing is None else np.ma.MaskedArray(self.values, self.missing)

    def check_complete(self) -> None:
        """Refuses missing values."""
        if self.missing is not None or (self.are_texts and self.values.null_count):
            raise Refused(f"{self}: some are missing; give all of them")


def column(label: str, name: Name, raw: Any) -> Column:
    """The column that was read as `raw`."""
    if not isinstance(raw, np.ndarray):
        return _of_arrow(label, name, raw)
    if raw.ndim != 1:
        raise Refused(f"{name.text}: its shape is {raw.shape}; one dimension is needed")
    return _of_array(label, name, raw)


def ranges(names: Sequence[Name], raw: dict[Name, Any]) -> list[Column]:
    """Lower and upper ends, of one array or of two columns."""
    if len(names) == 2:
        return [column("ranges", name, raw[name]) for name in names]
    both = raw[names[0]]
    if both.ndim != 2 or both.shape[1] != 2:
        raise Refused(f"{names[0].text}: its shape is {both.shape}; n x 2, lower and upper ends, is needed")
    return [_of_array("ranges", names[0], both[:, i]) for i in (0, 1)]


def _of_array(label: str, name: Name, array: npt.NDArray[Any]) -> Column:
    dtype = array.dtype
    if dtype.names is not None:
        raise Refused(f"{name.path}: its dtype is a structure; save one field: numpy.save(file, a['field'])")
    if dtype.kind not in "biufmMS" or (dtype.kind == "f" and dtype.itemsize > 8):
        how = {"U": "numpy.char.encode(a)"}.get(dtype.kind)
        raise Refused(
            f"{name.path}: its dtype is {quoted(dtype.str)}; numbers, booleans, times and byte strings are "
            f"read{f'; in NumPy: {how}' if how else ''}"
        )
    if not dtype.isnative:
        array = array.astype(dtype.newbyteorder("="))
    return Column(label, name, array)


def _of_arrow(label: str, name: Name, raw: Any) -> Column:
    pa = arrow(name.path)
    types = pa.types
    cells = converted(name, plain(name, raw))
    kind = cells.type
    if types.is_null(kind):
        # Without a value, it is of the type that it is compared with.
        none = np.ones(len(cells), np.bool_) if len(cells) else None
        return Column(label, name, np.zeros(len(cells), np.int64), none, is_void=True)
    if _are_texts(kind):
        if name.is_csv and not name.type:
            _refuse_mixed(name, cells)
        texts = Column(label, name, cells)
        return shortened(texts, int(name.type[5:])) if name.type.startswith("bytes") else texts
    is_number = types.is_integer(kind) or types.is_floating(kind) or types.is_boolean(kind)
    if not is_number and (types.is_interval(kind) or not types.is_temporal(kind)):
        how = f"; name a type to convert it to: {name.typed('double')}" if types.is_decimal(kind) else ""
        raise Refused(
            f"{label} {name.text}: it is of {kind}; columns are of numbers, booleans, dates, times, "
            f"durations or texts{how}"
        )
    array, missing = _as_array(name, cells)
    if name.is_csv and not name.type and array.dtype.kind == "f":
        _refuse_large(name, array)
        _refuse_inexact(name, array)
    is_zoned = types.is_timestamp(kind) and kind.tz is not None
    special = kind if is_zoned or types.is_time(kind) else None
    return Column(label, name, array, missing, is_zoned=is_zoned, written_as=special)


def _are_texts(kind: Any) -> bool:
    types = arrow("").types
    return bool(
        types.is_string(kind)
        or types.is_large_string(kind)
        or types.is_binary(kind)
        or types.is_large_binary(kind)
    )


def plain(name: Name, cells: Any) -> Any:
    """Cells without dictionaries and extension types, and texts with lengths of their own."""
    pa = arrow(name.path)
    while True:
        kind = cells.type
        if pa.types.is_dictionary(kind):
            cells = cells.cast(kind.value_type)
        elif isinstance(kind, pa.BaseExtensionType):
            if kind.extension_name not in _EXTENSIONS:
                raise Refused(
                    f"{name.text}: its type is the extension {quoted(kind.extension_name)} of Arrow, and raydex does "
                    "not know when two of its values are equal"
                )
            cells = cells.cast(kind.storage_type)
        elif pa.types.is_fixed_size_binary(kind) or pa.types.is_binary_view(kind):
            cells = cells.cast(pa.large_binary())
        elif pa.types.is_string_view(kind):
            cells = cells.cast(pa.large_string())
        else:
            return cells


def converted(name: Name, cells: Any) -> Any:
    """Cells in the type that the name asks for."""
    pa = arrow(name.path)
    wanted = arrow_type(name.path, name.type) if name.type else cells.type
    if cells.type == wanted or (_are_texts(wanted) and _are_texts(cells.type)):
        return cells
    try:
        return cells.cast(pa.string() if _are_texts(wanted) else wanted)
    except pa.ArrowException as error:
        raise Refused(f"{name.text}: it is of {cells.type}: {error}") from None


def _as_array(name: Name, cells: Any) -> tuple[npt.NDArray[Any], npt.NDArray[np.bool_] | None]:
    """The cells in one array, and which of them are missing."""
    pa = arrow(name.path)
    missing = cells.is_null().to_numpy() if cells.null_count else None
    unit = None
    if pa.types.is_time(cells.type):
        unit = cells.type.unit
        cells = cells.cast(pa.int32() if cells.type.bit_width == 32 else pa.int64())
    if missing is not None:
        cells = cells.fill_null(False if pa.types.is_boolean(cells.type) else 0)
    array = cells.to_numpy()
    return (array.astype("int64").view(f"m8[{unit}]") if unit else array, missing)


def _refuse_mixed(name: Name, cells: Any) -> None:
    """Refuses a column of texts and numbers, which may be a mistake."""
    pc = arrow(name.path, "pyarrow.compute")
    is_number = pc.match_substring_regex(cells, _NUMBER)
    if not pc.any(is_number).as_py():
        return
    row = pc.index(is_number, True).as_py()
    other = pc.index(is_number, False).as_py()
    text, number = (quoted(_text(cells[i])) for i in (other, row))
    raise Refused(
        f"{name.path}: row {other}: {text} in column {printable(name.column)} is not a number, {number} in "
        f"row {row} is one; to read the column as text: {name.typed('string')}"
    )


def _text(cell: Any) -> str:
    value = cell.as_py()
    return value.decode(errors="backslashreplace") if isinstance(value, bytes) else str(value)


def _refuse_large(name: Name, array: npt.NDArray[Any]) -> None:
    """Refuses integers beyond int64, of which doubles would keep the first digits only."""
    finite = array[np.isfinite(array)]
    if len(finite) and np.abs(finite).max() >= 2.0**63 and not np.any(finite % 1):
        raise Refused(
            f"{name.path}: some numbers in column {printable(name.column)} are out of the range of int64; "
            f"to read it as another type: {name.typed('uint64')} or {name.typed('double')}"
        )


def _refuse_inexact(name: Name, array: npt.NDArray[Any]) -> None:
    """Refuses whole numbers that no double is, which others in their column have made doubles."""
    rows = np.flatnonzero(np.isfinite(array) & (np.abs(array) >= _EXACT))
    if not len(rows):
        return
    typed = dataclasses.replace(name, type=VERBATIM)
    texts = read([typed])[typed].take(arrow(name.path).array(rows))
    for row, text in zip(rows.tolist(), map(_text, texts)):
        found = re.fullmatch(r"\s*([-+]?[0-9]+)(?:\.0*)?\s*", text)
        if found and int(found[1]) != int(array[row]):
            raise Refused(
                f"{name.path}: row {row}: {quoted(text)} in column {printable(name.column)} is a whole number that "
                f"no double is, and others are no integers; to read it rounded: {name.typed('double')}"
            )


def shortened(of: Column, most: int = WIDEST) -> Column:
    """Texts as byte strings of one width, up to `most` bytes."""
    if not of.are_texts:
        return of
    pa, pc = arrow(of.name.path), arrow(of.name.path, "pyarrow.compute")
    lengths = pc.binary_length(of.values)
    width = pc.max(lengths).as_py() or 1
    if width > most:
        row = pc.index(lengths, pc.max(lengths)).as_py()
        told = of.name.type.startswith("bytes")
        raise Refused(
            f"{of.name.path}: row {row}: {quoted(_text(of.values[row])[:40])} in column "
            f"{printable(of.name.column)} has {width} bytes, more than {most}"
            f"{'' if told else '; longer texts are keys of joins by equal keys only'}"
        )
    missing = of.values.is_null().to_numpy() if of.values.null_count else None
    any_bytes = pc.CastOptions(pa.string(), allow_invalid_utf8=True)
    padded = pc.ascii_rpad(of.values.cast(options=any_bytes).fill_null(""), width=width, padding="\0")
    parts = [np.frombuffer(one.buffers()[2], f"S{width}", len(one)) for one in padded.chunks if len(one)]
    array = np.concatenate(parts) if parts else np.empty(0, f"S{width}")
    return dataclasses.replace(of, values=array, missing=missing)


def make_alike(columns: Sequence[Column], only_short: bool) -> None:
    """Brings columns that are compared to one type, which has all values of all of them. Messages say how
    the others may become like the first one.

    `only_short`: texts are of up to 8 bytes, and have an order; else they may be of any length."""
    typed = [one for one in columns if not one.is_void] or list(columns)
    texts = [one for one in typed if one.are_texts or one.kind == "S"]
    for one in typed:
        if texts and one not in texts:
            raise _unlike(one, texts[0])
    if texts:
        _make_texts_alike(typed, only_short)
    else:
        _make_numbers_alike(typed)
    first = typed[0]
    for one in columns:
        if one.is_void and not first.is_void:
            _adopt(one, first)


def _adopt(one: Column, other: Column) -> None:
    """Gives a column without values the type of another one."""
    if other.are_texts:
        pa = arrow(other.name.path)
        one.values, one.missing = pa.chunked_array([pa.nulls(len(one), other.values.type)]), None
    else:
        one.values = np.zeros(len(one), other.values.dtype)
    one.is_zoned = other.is_zoned


def _make_texts_alike(columns: Sequence[Column], only_short: bool) -> None:
    widest = max(_longest(one) for one in columns)
    ends_in_nul = any(one.are_texts and _ends_in_nul(one) for one in columns)
    if ends_in_nul and only_short:
        raise Refused(f"{columns[0]}: some texts end in a NUL byte, which is not told from padding here")
    if only_short or (widest <= WIDEST and not ends_in_nul):
        for one in columns:
            short = shortened(one)
            if short.values.dtype.itemsize > WIDEST:
                raise Refused(f"{one} are {one.type}; byte strings have up to {WIDEST} bytes here")
            one.values, one.missing = short.values.astype(f"S{widest}", copy=False), short.missing
        return
    for one in columns:
        if not one.are_texts:
            pa = arrow(one.name.path)
            texts = pa.array(one.values, pa.binary(), mask=one.missing)
            one.values, one.missing = pa.chunked_array([texts]), None


def _ends_in_nul(of: Column) -> bool:
    pa, pc = arrow(of.name.path), arrow(of.name.path, "pyarrow.compute")
    return bool(pc.any(pc.ends_with(of.values.cast(pa.large_binary()), b"\0")).as_py())


def _longest(of: Column) -> int:
    if not of.are_texts:
        return int(of.values.dtype.itemsize)
    pc = arrow(of.name.path, "pyarrow.compute")
    return pc.max(pc.binary_length(of.values)).as_py() or 1


def _make_numbers_alike(columns: Sequence[Column]) -> None:
    first = columns[0]
    dtype = first.values.dtype
    for one in columns[1:]:
        if not _are_comparable(one, first):
            raise _unlike(one, first)
        if dtype.kind not in "mM":
            dtype = np.promote_types(dtype, one.values.dtype)
    if dtype.kind in "mM":  # raydex compares times of any units
        return
    for one in columns:
        if not _converts(one.values, dtype):
            other = next(other for other in columns if other.values.dtype != one.values.dtype)
            raise _unlike(*((other, one) if one is first else (one, first)))
    for one in columns:
        one.values = one.values.astype(dtype, copy=False)


def make_like(one: Column, other: Column) -> None:
    """Brings a column of numbers to the type of another one, which has all its values; times stay as they are."""
    dtype = other.values.dtype
    fits = not one.are_texts and _are_comparable(one, other)
    if fits and dtype.kind in "mM":
        return
    if not fits or np.promote_types(one.values.dtype, dtype) != dtype or not _converts(one.values, dtype):
        raise _unlike(one, other)
    one.values = one.values.astype(dtype, copy=False)


def _are_comparable(one: Column, other: Column) -> bool:
    """Whether these have an order between them: numbers, times, or durations."""
    kinds = {one.kind, other.kind}
    return one.is_zoned == other.is_zoned and (len(kinds) == 1 or kinds <= set("biuf"))


def _converts(array: npt.NDArray[Any], dtype: np.dtype[Any]) -> bool:
    """Whether all cells of an array are values of a type, too."""
    if array.dtype == dtype or not array.size:
        return True
    if array.dtype.kind in "iu" and array.dtype.itemsize == 8 and dtype.kind == "f":
        return int(array.max()) <= _EXACT and int(array.min()) >= -_EXACT
    return True


def _is_exact(dtype: np.dtype[Any], to: np.dtype[Any]) -> bool:
    """Whether each number of a dtype is one of another."""
    is_wide = dtype.kind in "iu" and dtype.itemsize == 8 and to.kind == "f"
    return dtype.kind in "biuf" and not is_wide and bool(np.can_cast(dtype, to, "safe"))


def _unlike(one: Column, other: Column) -> Refused:
    """That one is not like the other, and how it may become so."""
    how = ""
    word = "string" if other.are_texts or other.kind == "S" else other.type
    if one.name.column and word in TYPES:
        rounds = ", to which numbers are rounded" if word in ("float", "double") else ""
        how = f"; name the type{rounds}: {one.name.typed(word)}"
    elif not one.name.column and other.kind in ("i", "u", "f") and _is_exact(one.values.dtype, other.values.dtype):
        how = f"; in NumPy: a.astype('{other.values.dtype.str}')"
    return Refused(f"{one} are {one.type}, but {other} are {other.type}{how}")
