# SPDX-License-Identifier: Apache-2.0
"""Probes for all strings that begin with others."""

from __future__ import annotations

from typing import Any

import numpy as np

from raydex._array_libraries import HOST
from raydex._arrow import HostCells, letters_of
from raydex._columns import Column, column_of, string_cells
from raydex._dictionaries import Dictionary
from raydex._errors import InvalidType
from raydex._keys import Key
from raydex._sources import Source
from raydex.typing import ColumnLike


class Prefixes:
    """What `raydex.starts_with` makes."""

    __slots__ = ("strings",)

    def __init__(self, strings: Any) -> None:
        self.strings = strings

    def __repr__(self) -> str:
        return f"raydex.starts_with({self.strings!r})"


def starts_with(strings: ColumnLike) -> Prefixes:
    """Probes for all keys that begin with a string each, in place of points or ranges.

        >>> import raydex
        >>> index = raydex.build(["https://a.org/x", "https://b.org", "ftp://a.org", "https://a.org"])
        >>> index.count(raydex.starts_with(["https://", "https://a", "gopher"]))
        array([3, 2, 0])

    An index over texts or bytes takes them: `first`, `count`, `contains`, `rows`, `sum`, and those of
    `raydex.aggregate`. One over several columns takes them at last, `(a, raydex.starts_with(b))`. All keys begin with
    the empty string; a missing one matches nothing. Bytes are compared, so that a prefix of text is one of whole
    characters. Cost: that of a range."""
    return Prefixes(strings)


NO_PREFIXES = "points: starts_with is a range of keys; give it alone, and where ranges are taken"


def strings_of(probes: Any) -> Any:
    """The strings of prefixes; other probes as they are."""
    return probes.strings if isinstance(probes, Prefixes) else probes


def ends_of(source: Source, key: Key, words: Dictionary | None, stream: int) -> tuple[Column, Column]:
    """The smallest and the largest keys that may begin with strings, or their numbers."""
    if key.unit or (key.dtype is not None and key.dtype.kind != "S"):
        raise InvalidType(f"{source.argument}: starts_with is of texts and bytes, and the keys are {key}")
    if key.dtype is None:
        assert words is not None
        return words.prefixes(column_of(source, stream, key, True), stream)
    cells = string_cells(source, stream)
    if cells.unit:
        raise InvalidType(f"{source.argument}: they are {cells.unit}, but strings are asked for")
    letters, begins, sizes = letters_of(cells)
    width = key.dtype.itemsize
    # Keys are padded with NUL, and none ends in it.
    ends_in_nul = sizes > 0
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
        words_of = HostCells(table.view(key.dtype).reshape(-1), cells.bits, is_whole=True)
        column = column_of(Source(source.argument, None, HOST, words_of), stream, key)
        ends.append(column if words is None else words.numbers(column, stream))
    return (ends[0], ends[1])
