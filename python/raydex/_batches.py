# SPDX-License-Identifier: Apache-2.0
"""The probes of one call of an index, and the keys of one edit."""

from __future__ import annotations

from typing import Any, Callable

import numpy as np

from raydex import _raydex
from raydex._array_libraries import HOST, ArrayLibrary
from raydex._arrow import HostCells, StringCells
from raydex._columns import Column, column_of, longer_texts, read_as, role_of
from raydex._dictionaries import Dictionary, ends_of_prefixes
from raydex._errors import InvalidArgument
from raydex._frames import check_labels, is_series, series_like
from raydex._keys import Key
from raydex._prefixes import NO_PREFIXES, Prefixes
from raydex._sources import Source, broadcast_ends, computable, look


class Points:
    """Keys that are joined, inserted or erased, before they are read."""

    def __init__(self, source: Source, key: Key, inserts: bool, words: Dictionary | None = None) -> None:
        """`words`: the dictionary whose numbers are the keys."""
        self.source = source
        self.kept: Any = None
        self.column: Any = None
        self._key = key
        self._inserts = inserts
        self._words = words

    def fit(self, stream: int) -> bool:
        """Whether the index takes all of them as its keys are. If not, `column` has them by themselves."""
        self.column = longer_texts(self.source, self._key, stream)
        if self._words is not None:
            self.column = column_of(self.source, stream, self._key)
            return self._words.holds(self.column, stream)
        return self.column is None

    def native(self, stream: int) -> Any:
        """What the library reads, as long as this lives."""
        role = role_of(self.source, self._key, "kept", stream) if self._inserts else ""
        column = column_of(self.source, stream, self._key, role=role)
        if self._words is not None:
            column = self._words.numbers(column, stream)
        self.kept = column
        return column.native


Arguments = tuple[_raydex.Session, int, Any, Any]
"""What calls take first: the session, the stream, and the lower and upper ends."""


class Batch:
    """The probes of one call, and where its answers go. What is called takes, after the arguments that are
    given, the address and the number of what it writes."""

    __slots__ = ("_probes", "arguments", "library", "native", "size", "stream")
    is_aside = False  # whether points are the keys beside what was given, see `column_of`
    before: Any = None  # which are before all keys
    shape: tuple[int, ...] | None = None  # of points; None: they have one dimension

    def __init__(
        self, library: ArrayLibrary, size: int, stream: int, arguments: Arguments, probes: Any, native: Any
    ) -> None:
        """`native`: the structure that is asked."""
        self.native = native
        self.library = library
        self.size = size
        self.stream = stream
        self.arguments = arguments
        self._probes = probes

    @property
    def points(self) -> tuple[_raydex.Session, int, Any]:
        return self.arguments[:3]

    def cells(self) -> Any:
        """Points as an array of one dimension, which their library computes with."""
        return self._probes

    def numbers(self, dtype: str, call: Callable[..., None], *arguments: Any) -> Any:
        library = self.library
        out = library.empty(self.size, dtype)
        call(*arguments, library.address(out), self.size)
        return out

    answer = numbers
    """The same in the form that the caller gets."""

    @property
    def is_series(self) -> bool:
        """Whether the probes are a Series of pandas or Polars."""
        return False

    def like_probes(self, found: Any, none: Any = None) -> Any:
        """Answers as a Series if the probes are one, in which those that are `none` are missing."""
        return found


class AnyBatch(Batch):
    """One whose probes may be anything."""

    __slots__ = ("_columns", "_index", "_like", "_scalar", "_source", "before", "is_aside", "shape")

    def __init__(self, index: Any, lower: Any, upper: Any, stream: Any, role: str, flat: bool) -> None:
        """Of an `Index`, which makes them."""
        self.native, words, key = index._version
        name = "points" if upper is None else "lower"
        prefixes = lower if isinstance(lower, Prefixes) else None
        if prefixes is not None:
            if upper is not None or role:
                raise InvalidArgument(NO_PREFIXES.format("points"))
            index._check_open()
            index._check_ordered("starts_with")
            lower = prefixes.strings
        source = lower if isinstance(lower, Source) else look(name, lower)
        index._check_device(source.argument, source.library)
        if upper is not None:
            index._check_ordered("upper")
            check_labels(lower, upper)
        self.shape = source.shape
        self._probes = computable(source)
        if flat and isinstance(source.cells, HostCells) and source.cells.array.ndim != 1:
            source.cells.array = source.cells.array.reshape(-1)
            source.scalar = False
        self._like = upper if upper is not None and source.scalar else lower
        self._index = index
        self._source = source
        self._scalar = source.scalar
        number, kept = source.library.stream_for(stream)
        index._streams[number] = kept
        end: Column | None = None
        if upper is not None:
            other = look("upper", upper)
            index._check_device(other.argument, other.library)
            source, other = broadcast_ends(read_as(source, key), read_as(other, key))
            self._scalar = source.scalar
            end = column_of(other, number, key, True, role_of(other, key, "at_most", number))
            end = index._numbered(end, key, words, number)
            role = "at_least"
        role = role and role_of(source, key, role, number)
        if prefixes is not None:
            begin, end = ends_of_prefixes(source, key, words, number)
        else:
            begin = index._numbered(column_of(source, number, key, True, role), key, words, number)
        self._columns = (begin, end)  # keep what is read
        if end is not None and end.size != begin.size:
            raise InvalidArgument(f"upper: {end.size} ends, but lower has {begin.size}")
        self.library = source.library
        self.size = begin.size
        self.stream = number
        self.arguments = (index._session, number, begin.native, end and end.native)
        self.is_aside, self.before = role != "", begin.before

    def cells(self) -> Any:
        if self.library is HOST and isinstance(self._source.cells, HostCells):
            return np.asarray(self._source.cells.array)  # of a masked one, too
        if isinstance(self._source.cells, StringCells):  # of decimals, with which nothing computes
            return None
        return self._probes if self.shape is None or len(self.shape) == 1 else self._probes.reshape(-1)

    def numbers(self, dtype: str, call: Callable[..., None], *arguments: Any) -> Any:
        library = self.library
        out = library.empty(self.size, dtype, self.stream)
        self._index._device.run(call, *arguments, library.address(out), self.size)
        return out[0] if self._scalar else out

    def answer(self, dtype: str, call: Callable[..., None], *arguments: Any) -> Any:
        return self.like_probes(self.numbers(dtype, call, *arguments))

    @property
    def is_series(self) -> bool:
        return self.library is HOST and is_series(self._like)

    def like_probes(self, found: Any, none: Any = None) -> Any:
        return found if self.library is not HOST else series_like(self._like, found, none)
