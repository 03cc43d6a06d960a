# SPDX-License-Identifier: Apache-2.0
"""Strings of a column by numbers in their order, which take few bits in a composite key."""

from __future__ import annotations

import bisect
from typing import Any

import numpy as np
import numpy.typing as npt

from raydex import _lists, _raydex
from raydex._array_libraries import HOST
from raydex._arrow import Bitmap, HostCells, letters_of
from raydex._columns import Column, column_of, is_none, string_cells
from raydex._devices import Device
from raydex._errors import InvalidArgument
from raydex._keys import Key
from raydex._sources import Source, ready


class Dictionary:
    """The different strings of a column in host memory, in their order."""

    def __init__(self, words: list[bytes], key: Key, session: _raydex.Session) -> None:
        """Of words in their order."""
        self.key = key
        self._words = words
        self._session = session
        self._strings = _lists.strings_of(words, key.unit)  # which the index reads
        self._index = _index_over(column_of(Source("column", None, HOST, self._strings), 0, key), session)

    @classmethod
    def of(cls, source: Source, key: Key, device: Device) -> tuple[Dictionary, Column]:
        """That of a column, and its numbers."""
        session = device.session()
        cells, strings = string_cells(source, 0), column_of(source, 0, key)
        first = _first(_index_over(strings, session), strings, session)
        letters, begins, sizes = letters_of(cells)
        rows = np.flatnonzero(first == np.arange(cells.size))
        words = [letters[begins[row] :][: sizes[row]].tobytes() for row in rows.tolist()]
        order = sorted(range(len(words)), key=words.__getitem__)
        ranks = np.zeros(cells.size + 1, np.uint32)  # the last one is that of a missing cell
        ranks[rows[order]] = np.arange(len(words), dtype=np.uint32)
        return (cls([words[at] for at in order], key, session), _numbers(source, ranks[first], first >= 0))

    def numbers(self, source: Source, role: str) -> Column:
        """Those of probes. `role`: as of `column_of`."""
        cells = ready(source, 0)
        if isinstance(cells, HostCells) and (cells.is_void or is_none(source, cells)):
            size = cells.array.size
            return _numbers(source, np.zeros(size, np.uint32), np.zeros(size, bool))
        strings = column_of(source, 0, self.key)
        texts = string_cells(source, 0)
        there = np.ones(texts.size, bool) if texts.bits is None else texts.bits.there(texts.size)
        if role in ("at_least", "at_most"):
            letters, begins, sizes = letters_of(texts)
            is_least = role == "at_least"
            search = bisect.bisect_left if is_least else bisect.bisect_right
            found = np.array(
                [search(self._words, letters[begin:][:size].tobytes()) for begin, size in zip(begins, sizes)], np.int64
            )
            found -= 0 if is_least else 1
            return _numbers(source, found, there & (found >= 0) & (found < len(self._words)))
        found = _first(self._index, strings, self._session)
        unknown = there & (found < 0)
        if role == "kept" and unknown.any():
            raise InvalidArgument(
                f"{source.argument}: some are none of the strings that the index was built over; ranks and insertions "
                "are of those alone"
            )
        column = _numbers(source, found, found >= 0)
        column.no_key = unknown if unknown.any() else None
        return column


def _index_over(strings: Column, session: _raydex.Session) -> _raydex.StringIndex:
    return _raydex.StringIndex(session, 0, strings.native, "auto", {})


def _first(index: _raydex.StringIndex, strings: Column, session: _raydex.Session) -> npt.NDArray[np.int64]:
    """The first row of each string, -1 for none."""
    found = np.empty(strings.size, np.int64)
    index.first(session, 0, strings.native, None, HOST.address(found), strings.size)
    return found


def _numbers(source: Source, numbers: npt.NDArray[Any], there: npt.NDArray[np.bool_]) -> Column:
    cells = HostCells(numbers.astype(np.uint32), None if there.all() else Bitmap.of(there))
    return column_of(Source(source.argument, None, HOST, cells), 0)
