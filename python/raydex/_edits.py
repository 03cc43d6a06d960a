# SPDX-License-Identifier: Apache-2.0
"""Edits: what `insert`, `append` and `erase` of an `Index`, `index` here, do, and how its rows are numbered on."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from raydex import _raydex
from raydex._array_libraries import HOST, ArrayLibrary
from raydex._arrow import Bitmap, HostCells
from raydex._columns import Column, byte_strings, column_of, host_cells, row_ids_in, short_texts, string_cells
from raydex._dictionaries import Dictionary, joined_strings
from raydex._errors import InvalidArgument, Unsupported
from raydex._infos import options_of
from raydex._keys import Key
from raydex._sources import Source, look, same_device

if TYPE_CHECKING:
    from raydex._batches import Points


def edit(index: Any, insert: Any, insert_rows: Any, erase: Any, erase_rows: Any, stream: Any) -> range:
    """The rows that were inserted, if they are numbered on: if keys are, and no rows are given."""
    index._check_open()
    refuse_void(index._key)
    with index._changes:
        index._check_open()
        keys = index._points("keys", erase if insert is None else insert, insert is not None)
        source = keys.source
        index._check_device(source.argument, source.library)
        number, kept = source.library.stream_for(stream)
        edit_rows = erase_rows if insert is None else insert_rows
        rows = None
        if edit_rows is not None:
            row_source = look("rows", edit_rows)
            same_device(source, row_source)
            rows = index._device.run(row_ids_in, row_source, number, index._bits)
        numbered = range(0)
        if insert is not None and not keys.fit(number):
            return _insert_new(index, keys, rows, source.library, number, kept)
        native = keys.native(number)
        if insert is not None and rows is None:
            numbered, rows = _rows_behind(index, native.size, source.library, number)
        nothing = _raydex.Column(_raydex.Format(str(index._native.info()[2])), 0, 0)
        no_rows = _raydex.Column(_raydex.Format(f"uint{index._bits}"), 0, 0)
        if insert is not None:
            assert rows is not None
            changes: tuple[Any, ...] = (native, rows.native, nothing, None)
        else:
            changes = (nothing, no_rows, native, rows and rows.native)
        index._edits += 1
        copies = (index._session, index._stream)
        try:
            index._device.run(index._native.edit, *copies, number, *changes, index._before(number))
        except Unsupported:
            # Strings that a hash finds may have numbers far from those that are left of the others.
            if insert is None or not index._is_hashed:
                raise
            return _insert_new(index, keys, None if edit_rows is None else rows, source.library, number, kept)
        _note_stream(index, number, kept)
        if insert is not None:
            number_on(index, numbered, rows)
    return numbered


def _insert_new(index: Any, keys: Points, rows: Column | None, library: ArrayLibrary, stream: int, kept: Any) -> range:
    """Inserts keys that the index has no place for; the rows that they were numbered by, if none are given."""
    numbered = range(0)
    if rows is None:
        numbered, rows = _rows_behind(index, keys.column.size, library, stream)
    before = index._version
    index._insert_new(keys, rows, stream)
    index._edits += 1
    _note_stream(index, stream, kept)
    index._synchronise()
    del before  # whose memory goes once nobody reads it
    number_on(index, numbered, rows)
    return numbered


def _note_stream(index: Any, number: int, kept: Any) -> None:
    """Says on which stream it was changed last."""
    index._stream = number
    index._streams[number] = kept
    if index._edited_on is not None:
        index._edited_on[number] = kept  # what snapshots have may not go before that


def refuse_void(key: Key) -> None:
    """Refuses keys among those that nobody said the type of."""
    if key.is_void:
        raise InvalidArgument(
            "keys: the index was built of no keys that say what they are of; build it over numpy.array([], dtype)"
        )


def numbers_of(first: int, size: int, bits: int) -> range:
    """So many rows from one on, if row ids of so many bits can number them."""
    numbers = range(first, first + size)
    if numbers.stop >= 2**bits:
        raise InvalidArgument(
            f"keys: their rows go up to {numbers.stop - 1}, but this index has row ids of {bits} bits; build "
            "one over all of the column"
        )
    return numbers


def _rows_behind(index: Any, size: int, library: ArrayLibrary, stream: int) -> tuple[range, Column]:
    """So many rows behind the last one that the index had."""
    first = index._next_row
    numbers = numbers_of(first, size, index._bits)
    with library.on(stream):
        # As the index has them, but that PyTorch knows little of unsigned numbers.
        dtype = np.dtype("i8" if library.name == "torch" else f"u{index._bits // 8}")
        rows = library.from_host(np.arange(size, dtype=dtype) + dtype.type(first))
    return (numbers, index._device.run(row_ids_in, look("rows", rows), stream, index._bits))


def number_on(index: Any, numbered: range, rows: Column | None) -> None:
    """Has the next row come behind those that the index has, that were numbered, or given."""
    index._next_row = max(index._next_row, numbered.stop, end_of_rows(index._native))
    if rows is not None and rows.size and index._device.number is None:
        # The library does not count those of missing keys if all of a batch are.
        index._next_row = max(index._next_row, int(host_cells(rows)[0].max()) + 1)


def end_of_rows(native: Any) -> int:
    """The row behind the last one that the library knows of."""
    (_, _, _, _, n, _, most, *_) = native.info()
    return int(most) + 1 if most or n else 0


def with_texts(index: Any, keys: Points, rows: Column, stream: int) -> tuple[_raydex.Index, Dictionary | None, Key]:
    """An index in the place of one that has no place for some texts, with these; its dictionary, and its key."""
    if rows.size != keys.column.size:
        raise InvalidArgument(f"rows: {rows.size} of them for {keys.column.size} keys")
    if index._words is not None:
        return (*index._words.grown(index._native, keys.column, rows, stream), index._key)
    # Texts of up to 8 bytes, which are in host memory.
    codes, held = _entries(index)
    short = index._key.dtype
    cells = HostCells(byte_strings(codes if short.itemsize > 4 else codes << np.uint64(32), short))
    own_strings = string_cells(Source("keys", None, HOST, cells), 0)
    source = Source("keys", None, HOST, joined_strings(own_strings, string_cells(keys.source, stream)))
    column = short_texts(source, 0) or column_of(source, 0)
    words, key = None, column.key
    if key.dtype is None:
        words, column = Dictionary.of(column, 0, index._device)
    array, all_there = host_cells(column)
    there = np.ones(len(array), bool) if all_there is None else all_there
    row_ids = np.concatenate([held, host_cells(rows)[0]])
    (structure, _, _, _, n, entries, most, options, *_) = index._native.info()
    # Rows without a key count, too, and so does the largest row that there ever was.
    has_largest = (n == 0 and most == 0) or most in held
    if missing := max(n - entries, 0 if has_largest else 1):
        array, there = (np.concatenate([one, np.zeros(missing, one.dtype)]) for one in (array, there))
        row_ids = np.append(row_ids, np.full(missing, most, "u8"))
    bits = None if there.all() else Bitmap.of(there)
    made = [HostCells(array, bits), HostCells(row_ids.astype(f"u{index._bits // 8}"))]
    columns = [column_of(Source("keys", None, HOST, cells), 0) for cells in made]
    # Of rows that are the places of their keys, structures take no list; those of 64 bits stay so.
    are_places = index._bits == 32 and np.array_equal(row_ids, np.arange(len(row_ids)))
    native = index._device.run(
        _raydex.Index, structure, index._device.backend, index._session, 0, columns[0].native,
        None if are_places else columns[1].native, options_of(options),
    )  # fmt: skip
    return (native, words, key)


def _entries(index: Any) -> tuple[npt.NDArray[np.uint64], npt.NDArray[np.uint64]]:
    """The codes of all keys, and their rows, in host memory."""
    size = len(index)
    codes, rows = np.empty(size, "u8"), np.empty(size, "u8")
    index._device.run(index._native.entries, index._session, 0, HOST.address(codes), HOST.address(rows), size)
    return (codes, rows)
