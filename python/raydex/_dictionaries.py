# SPDX-License-Identifier: Apache-2.0
"""Strings of any length as numbers, which structures take as keys. Also what begins with strings, as ranges of keys or
numbers. Columns of composite keys are numbered by the library."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from raydex import _raydex
from raydex._array_libraries import HOST
from raydex._arrow import Bitmap, HostCells, StringCells, letters_of, strings_in, view
from raydex._columns import Column, column_of, strings_asked
from raydex._devices import Device
from raydex._errors import InvalidType
from raydex._keys import Key
from raydex._sources import Source


class Dictionary:
    """The different cells of a column: in their order, or `by_row`, as the rows follow that they are in first, found
    by a hash."""

    def __init__(self, native: _raydex.KeyDictionary, device: Device) -> None:
        self._native = native
        self._device = device

    @classmethod
    def of(cls, column: Column, stream: int, device: Device) -> tuple[Dictionary, Column]:
        """That of a column, and its numbers."""
        made, numbers, _ = cls.with_entries(column, stream, device)
        return (made, made._column(numbers, column))

    @classmethod
    def with_entries(
        cls, column: Column, stream: int, device: Device, in_order: bool = False, by_row: bool = False
    ) -> tuple[Dictionary, _raydex.PackedKeys, _raydex.PackedKeys | None]:
        """That of a column, and its numbers: if they are to be in order, and no cell is missing, ascending ones and
        their rows; else by row, and None."""
        native, numbers, rows = device.run(
            _raydex.KeyDictionary.of, device.backend, device.session(), stream, column.native, in_order, by_row
        )
        return (cls(native, device), numbers, rows)

    @classmethod
    def of_host(cls, cells: StringCells, device: Device, stream: int, by_row: bool) -> Dictionary:
        """That of different strings in host memory, as their numbers follow."""
        column = column_of(Source("keys", None, HOST, cells), 0)
        made = device.run(
            _raydex.KeyDictionary.of_host, device.backend, device.session(), stream, column.native, by_row
        )
        return cls(made, device)

    def numbers(self, column: Column, stream: int) -> Column:
        """Those of probes, be they the dictionary's or not."""
        return self._column(
            self._device.run(self._native.numbers, self._device.session(), stream, column.native), column
        )

    def prefixes(self, column: Column, stream: int) -> tuple[Column, Column]:
        """Those of all strings that begin with others: the smallest and the largest ones."""
        found = self._device.run(
            self._native.ranges_of_prefixes, self._device.session(), stream, column.native
        )
        begins, ends = (self._column(numbers, column) for numbers in found)
        return (begins, ends)

    def holds(self, column: Column, stream: int) -> bool:
        """Whether all keys of a column are the dictionary's."""
        return bool(self._device.run(self._native.holds, self._device.session(), stream, column.native))

    @property
    def by_row(self) -> bool:
        return self._native.by_row

    @property
    def size(self) -> int:
        return self._native.size

    def strings(self) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.uint8]]:
        """Where its keys begin as their numbers follow, and where the last one ends, and their letters, in host
        memory."""
        own = self._device.run(self._native.keys, self._device.session())
        offsets = view(own.offsets, self.size + 1, "i8", own)
        return (offsets, view(own.bytes, int(offsets[-1]), "u1", own))

    def grown(self, over: _raydex.Index, column: Column, rows: Column, stream: int) -> tuple[_raydex.Index, Dictionary]:
        """An index in the place of one over its numbers, with rows of a column, and its dictionary."""
        native, made = self._device.run(
            self._native.grown, self._device.session(), stream, over, column.native, rows.native
        )
        return (made, Dictionary(native, self._device))

    @property
    def resident_bytes(self) -> int:
        return self._native.resident_bytes

    def _column(self, numbers: _raydex.PackedKeys, like: Column) -> Column:
        bits = 32 if self._native.size < 2**31 else 64
        dtype = np.dtype(f"u{bits // 8}")
        kept: Any = numbers
        if self._device.number is None:
            cells = view(numbers.data, like.size, dtype, numbers)
            valid = view(numbers.validity, (like.size + 7) // 8, "u1", numbers) if numbers.validity else None
            kept = (cells, None if valid is None else Bitmap(valid), numbers)
        return Column(numbers.column, like.size, Key(dtype), like.source, kept, like.before, like.no_key)


def joined_strings(first: StringCells, behind: StringCells) -> StringCells:
    """Strings that are all there, and begin where their letters do, and others behind them."""
    letters, begins, _ = letters_of(first)
    more, more_begins, _ = letters_of(behind)
    skipped = int(more_begins[:1].sum())
    offsets = np.concatenate([begins, len(letters) - skipped + more_begins, [len(letters) + len(more) - skipped]])
    there = np.ones(first.size + behind.size, bool)
    if behind.bits is not None:
        there[first.size :] = behind.bits.there(behind.size)
    return strings_in(np.concatenate([letters, more[skipped:]]), offsets, Bitmap.of(there), behind.unit)


def ends_of_prefixes(source: Source, key: Key, words: Dictionary | None, stream: int) -> tuple[Column, Column]:
    """The smallest and the largest keys that may begin with strings, or their numbers."""
    if key.is_void:
        nothing = column_of(source, stream, key, True)
        return (nothing, nothing)
    if key.unit or (key.dtype is not None and key.dtype.kind != "S"):
        raise InvalidType(f"{source.argument}: starts_with is of texts and bytes, and the keys are {key}")
    if key.dtype is None:
        assert words is not None
        return words.prefixes(column_of(source, stream, key, True), stream)
    cells = strings_asked(source, stream)
    letters, begins, sizes = letters_of(cells)
    width = key.dtype.itemsize
    # Keys are padded with NUL, which none ends in, unless they are whole.
    ends_in_nul = (sizes > 0) & (not key.is_whole)
    ends_in_nul[ends_in_nul] = letters[(begins + sizes)[ends_in_nul] - 1] == 0
    has_no_keys = sizes + ends_in_nul > width
    ends = []
    for padding in (0, 255):
        table = np.full((cells.size, width), padding, np.uint8)
        for at in range(width):
            has_letter = sizes > at
            table[has_letter, at] = letters[begins[has_letter] + at]
        if padding == 0:
            table[ends_in_nul, width - 1] = 1
        table[has_no_keys] = 255 - padding
        words_of = HostCells(table.view(key.dtype).reshape(-1), cells.bits)
        ends.append(column_of(Source(source.argument, None, HOST, words_of), stream, key))
    return (ends[0], ends[1])
