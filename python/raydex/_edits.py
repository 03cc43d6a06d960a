# SPDX-License-Identifier: Apache-2.0
"""Edits: what `insert`, `append` and `erase` of an `Index`, `index` here, do, and how its rows are numbered on."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from raydex import _raydex
from raydex._array_libraries import HOST, ArrayLibrary
from raydex._arrow import Bitmap, HostCells
from raydex._columns import Column, column_of, host_cells, row_ids_in
from raydex._errors import InvalidArgument, Unsupported
from raydex._infos import options_of
from raydex._sources import Source, look, same_device


def edit(index: Any, insert: Any, insert_rows: Any, erase: Any, erase_rows: Any, stream: Any) -> range:
    """The rows that were inserted, if they are numbered on: if keys are, and no rows are given."""
    index._check_open()
    index._check_ordered("erase" if insert is None else "append" if insert_rows is None else "insert")
    if index._key.is_void:
        raise InvalidArgument(
            "keys: the index was built of no keys that say what they are of; build it over numpy.array([], dtype)"
        )
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
        if insert is not None and index._words is not None:
            column = column_of(source, number, index._key)
            if not index._words.holds(column, number):
                if rows is None:
                    numbered, rows = _rows_behind(index, column.size, source.library, number)
                _insert_new(index, column, rows)
                number_on(index, numbered, rows)
                return numbered
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
        index._device.run(index._native.edit, *copies, number, *changes, index._before(number))
        index._stream = number
        index._streams[number] = kept
        if index._edited_on is not None:
            index._edited_on[number] = kept  # what snapshots have may not go before that
        if insert is not None:
            number_on(index, numbered, rows)
    return numbered


def _rows_behind(index: Any, size: int, library: ArrayLibrary, stream: int) -> tuple[range, Column]:
    """So many rows behind the last one that the index had."""
    first = index._next_row
    numbers = range(first, first + size)
    if numbers.stop >= 2**index._bits:
        raise InvalidArgument(
            f"keys: their rows go up to {numbers.stop - 1}, but this index has row ids of {index._bits} bits; build "
            "one over all of the column"
        )
    with library.on(stream):
        # GPU libraries compute with signed numbers alone.
        dtype = np.dtype("u8" if library is HOST else "i8")
        rows = library.from_host(np.arange(size, dtype=dtype) + dtype.type(first))
    return (numbers, index._device.run(row_ids_in, look("rows", rows), stream, index._bits))


def number_on(index: Any, numbered: range, rows: Column | None) -> None:
    """Has the next row come behind those that the index has, that were numbered, or given."""
    (_, _, _, _, n, _, most, *_) = index._native.info()
    index._next_row = max(index._next_row, numbered.stop, most + 1 if most or n else 0)
    if rows is not None and rows.size and index._device.number is None:
        # The library does not count those of missing keys if all of a batch are.
        index._next_row = max(index._next_row, int(host_cells(rows)[0].max()) + 1)


def _insert_new(index: Any, column: Column, rows: Column | None) -> None:
    """Inserts strings that are not all the dictionary's, within `_changes`."""
    if index._device.number is not None:
        raise Unsupported(
            "keys: some are none of the strings that the index was built over, whose numbers on a GPU stay as they "
            "are; build it again"
        )
    assert index._words is not None and rows is not None
    if rows.size != column.size:
        raise InvalidArgument(f"rows: {rows.size} of them for {column.size} keys")
    words, own, new = index._words.extended(column)
    counts, own_rows = _rows_of_keys(index, own.size)
    numbers = [np.repeat(own.kept[0], counts), new.kept[0]]
    row_ids = [own_rows, host_cells(rows)[0]]
    there = [np.ones(len(own_rows), bool), new.kept[1].there(new.size)]
    (structure, _, _, _, _, _, most, options, *_) = index._native.info()
    if most > max((int(one.max()) for one in row_ids if len(one)), default=-1):  # a row without a key, or erased
        for parts, one in ((numbers, 0), (row_ids, most), (there, False)):
            parts.append(np.array([one], parts[0].dtype))
    keys = HostCells(np.concatenate(numbers), Bitmap.of(np.concatenate(there)))
    made = (keys, HostCells(np.concatenate(row_ids).astype(f"u{index._bits // 8}")))
    columns = [column_of(Source("keys", None, HOST, cells), 0) for cells in made]
    native = index._device.run(
        _raydex.Index, structure, index._device.backend, index._session, 0, columns[0].native, columns[1].native,
        options_of(options),
    )  # fmt: skip
    index._edits += 1
    index._native, index._words = index._version = (native, words)


def _rows_of_keys(index: Any, count: int) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """How many rows each key of the dictionary has, and the rows, in host memory."""
    numbers = 2 * np.arange(count, dtype=f"u{4 if count < 2**31 else 8}") + 1
    points = column_of(Source("keys", None, HOST, HostCells(numbers)), 0)
    offsets, found = np.zeros(count + 1, "i8"), np.empty(0, "i8")

    def room() -> tuple[int, int]:
        nonlocal found
        found = np.empty(int(offsets[-1]), "i8")
        return (HOST.address(found), len(found))

    index._device.run(
        index._native.rows, index._session, 0, points.native, None, HOST.address(offsets), count + 1, room
    )
    return (np.diff(offsets), found)
