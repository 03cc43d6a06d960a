# SPDX-License-Identifier: Apache-2.0
"""Indexes over columns."""

from __future__ import annotations

import itertools
import operator
import os
import weakref
from collections.abc import Mapping
from typing import Any, Callable, Literal, cast, overload

import numpy as np
import numpy.typing as npt

from raydex import _cuda, _raydex
from raydex._arguments import SUMS_BY, flag, without
from raydex._batches import AnyBatch, Batch, Points
from raydex._columns import Column, column_of, refuse_strings
from raydex._devices import Device
from raydex._dictionaries import Dictionary
from raydex._edits import edit, number_on, with_texts
from raydex._errors import InvalidArgument, InvalidType, Unsupported
from raydex._exports import take_alike
from raydex._held import ORDER_STATISTICS, Held
from raydex._html import facts
from raydex._infos import IndexInfo, bytes_as_text, options_of, probe_bytes_of
from raydex._kept import NO_FACTS, device_of, dictionary_of, facts_of, key_in, key_of_format, note_of, path_of
from raydex._keys import Key, facts_of_key
from raydex._lazy import Call
from raydex._matches import LazyMatches, Matches
from raydex._plain import NONE, NOWHERE, plain_columns
from raydex._runs import Origin, replacing
from raydex._sources import look, look_at_values, not_a_text
from raydex.typing import (
    ColumnLike,
    Frame,
    HostColumn,
    Scalar,
    Series,
    Side,
    StreamLike,
    StructureName,
    Tensor,
)

not_found = -1
"""What stands for no row in results, which are int64.

The library's own mark is the largest number of the row ids' type. In int64, -1 is what pandas'
`Index.get_indexer` and `factorize` say, what `pandas.api.extensions.take(array, rows, allow_fill=True)` understands,
and what is told from rows by `>= 0`, whatever the width of row ids was.

As an index -1 is the last row: `values[rows]` and the `take` of data frames answer with it. `raydex.take(values, rows)`
gives missing cells there, `raydex.masked(rows)` and `raydex.to_arrow(rows)` rows in which none is missing."""


# What compiled code of other libraries knows an index by, which does not keep it.
_numbers = itertools.count(1)
_by_number: weakref.WeakValueDictionary[int, Index] = weakref.WeakValueDictionary()


def check_has_values(values: Any, upper: Any = None) -> None:
    """Refuses a sum of nothing."""
    if values is None:
        if upper is not None:
            raise InvalidArgument(
                "values: which column? What comes second are the upper ends of ranges; if it is the values, give "
                "index.sum(points, values=column), else index.sum(lower, upper, values=column)"
            )
        raise InvalidArgument(
            "values: which column? give index.sum(points, values=column), with a cell for each row; "
            "index.count says how many rows match"
        )


class Index(Held):
    """An index over a column, made by `raydex.build`: answers batches of points and ranges.

    *Probes* are a column in the memory of the index. Where one column is given, its cells are points; where there
    is an upper one, too, they are ranges, both ends included. Of a single number the answer is a single one, too.

    In host memory numbers may be of any type, times of any unit, and texts of any length, whatever those of the keys
    are: they are compared exactly, by a copy of the probes. One that is none of the keys' values equals no key, and
    lies between two keys, or beyond all, where order is asked for: `count([0.5], [2.5])` of integers counts 1 and 2.
    Cells that lie backwards, unaligned, with their bytes swapped, or are one cell repeated, are copied, too; as a
    column of `build` or `join` they are refused with what copies them. Floating numbers of lists take the precision of
    float32 keys. On a GPU probes are of the keys' dtype or a narrower
    one (int32 for keys of int64), which is converted by a copy. Times with a zone are compared with such, of any zone;
    with none without. A text, or a list of texts, is taken for the time that it is in ISO 8601, as `2024-01-31` (its
    midnight), `2024-01-31T09:30:00`, or with a zone `2024-01-31T09:30:00Z`; and for a UUID,
    an IPv6 address or a decimal if the keys are such.

    *Results* are arrays of the probes' library, of one dimension and a cell a probe, on the device of
    the probes: NumPy for what is in host memory and of no other library, PyTorch for tensors, CuPy for
    its arrays, else a `raydex.DeviceArray`. A Series of pandas or Polars gives a Series with its index and
    its name, but for `rows`. Rows are int64, -1 (`raydex.not_found`) where there is
    none, which as an index is the last row: `raydex.take(values, rows)` gives missing cells there. In a
    `DeviceArray` they have the width of the index's own row ids.

    *Missing* probes (of a NumPy mask, an Arrow bitmap, or NaT) match nothing. NaN equals NaN, -0.0
    equals 0.0.

    *Streams*: on a GPU, work goes to `stream` (a handle, or a stream of PyTorch, CuPy or Numba), by
    default the current one of the probes' library, and calls return before it is done; only `rows`,
    `insert` and `erase` wait for it. *Threads*: several may ask; `insert` and `erase` wait for them, and
    each answer is that of one moment, before an edit or after it. The lock of the interpreter is not held.

    *Ctrl-C* ends queries and builds, on the CPU within 0.2 s or so, on a GPU between launches; edits come to
    their end first, unless they still copy what a snapshot has, too.

    *Copies*: `copy.copy`, `copy.deepcopy` and `pickle` copy all of an index's memory, through host memory; where `save`
    refuses, so does `pickle`. An unpickled index is on a device of the same name. Pickles run code: unpickle what you
    trust alone. Files of `save` run none, and are verified by default.

    *Errors*: `raydex.InvalidArgument`, `InvalidType`, `Unsupported`, `OutOfMemory`, `CudaError`.
    """

    __module__ = "raydex"
    _called = "index"
    _instead = {
        **dict.fromkeys(("add", "extend", "update"), "append(keys) adds rows, insert(keys, rows) entries"),
        "groupby": "sum(groups, values=column) and raydex.aggregate(index, values) have what groups have",
        **dict.fromkeys(("get", "find", "loc", "map"), "first(points) has rows, lookup(points, values) cells"),
        **dict.fromkeys(("delete", "remove", "drop", "discard"), "erase(keys) takes entries out"),
        **dict.fromkeys(("mean", "min", "max"), "raydex.aggregate(index, values) has it"),
        **dict.fromkeys(
            ORDER_STATISTICS,
            "numpy.partition has the smallest keys of a column, rows(lower, upper) those of a range by key",
        ),
    }

    def __init__(
        self,
        native: Any,
        device: Device,
        key: Key,
        kept: Any,
        stream: int,
        words: Dictionary | None = None,
    ) -> None:
        """`words`: the dictionary whose numbers are the keys."""
        self._number = next(_numbers)
        super().__init__(native, device, kept, stream)
        self._key = key
        self._words = words
        self._is_hashed = words is not None and words.by_row  # strings, which only points find then
        self._version: Any = (native, words, key)  # which belong together, for whoever asks while an edit replaces them
        self._clients: Any = None  # of JAX: they keep streams that a close waits for
        self._session = device.session()
        self._plain_device = device.number if key.is_number else NOWHERE  # of probes on the fast path
        self._bits: int = native.info()[3]
        self._edits = 0  # so many, within `_changes`
        self._next_row = 0  # at least, of `append`; rows whose keys are missing count
        number_on(self, range(0), None)
        self._origin: Origin | None = None  # the file that it was loaded from
        self._edited_on: dict[int, Any] | None = None  # streams, of this index and its snapshots if it had some
        _by_number[self._number] = self

    # What it is

    @property
    def info(self) -> IndexInfo:
        """Structure, backend, options, rows, and bytes as measured."""
        (structure, backend, key, bits, n, entries, most, options, resident, peak) = self._native.info()
        own = self._own_bytes()
        named = options_of(options)
        calls = self._probe_bytes(structure, backend, key, entries, bits, named)
        if self._is_hashed:  # a table of strings, and places for their numbers
            structure, named = "hash_open", {}
        if self._key.unit or self._key.dtype is None:
            key = str(self._key)
        return IndexInfo(
            cast(StructureName, structure), backend, self._device.name, key,
            bits, n, entries, most, named, resident + own, peak and peak + own, calls,
        )  # fmt: skip

    def _probe_bytes(self, *native: Any) -> dict[str, int] | None:
        """What calls take, if probes are the numbers that the structure has."""
        return probe_bytes_of(*native) if self._words is None else None

    def _own_bytes(self) -> int:
        """Bytes beside those of the structure."""
        return 0 if self._words is None else self._words.resident_bytes

    def __len__(self) -> int:
        """Entries: rows that are not missing, and what edits have added."""
        return int(self.info.entries)

    def __repr__(self) -> str:
        if self._closed:
            return f"raydex.{type(self).__name__}(closed)"
        info = self.info
        return (
            f"raydex.{type(self).__name__}({info.structure} on {info.device}: {info.entries} rows of {self._key}, "
            f"{bytes_as_text(info.resident_bytes)})"
        )

    def _repr_html_(self) -> str:
        if self._closed:
            return facts(f"raydex.{type(self).__name__}, closed", {})
        info = self.info
        return facts(f"raydex.{type(self).__name__}", {
            "structure": info.structure, "device": info.device, "keys": self._key, "rows": info.entries,
            "memory": bytes_as_text(info.resident_bytes),
            "options": ", ".join(f"{name}={value}" for name, value in info.options.items()),
        })  # fmt: skip

    def _free(self) -> None:
        try:
            if self._words is not None:  # which goes on the stream that it was made on
                self._synchronise()
            super()._free()
        finally:
            _raydex.forget_index(self._number)
            self._words = self._clients = None
            self._version = (self._native, None, self._key)

    def _asked_on(self) -> list[int]:
        return super()._asked_on() + _raydex.streams_of_index(self._number) + list(self._edited_on or ())

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the index to a file, which `raydex.load` opens.

        The file is written whole or not at all: beside its path, and moved there once it is on the disk. What was
        there before stays until then, and those who have it open keep it. Texts, times with their units, and columns
        that were packed come back as they were. `rx` with `primitives="rows"` is `raydex.Unsupported`: keep the column,
        and build the index again.

        The index takes the place of the file and of its runs, see `raydex.append_file`. One that was loaded from there
        is refused with `raydex.InvalidArgument` if rows were appended since.

        Cost: a read of the index and a write of as many bytes, for which the disk is waited."""
        name = path_of(path)
        with self._changes:
            self._check_open()
            with replacing(name, self._origin) as to:
                self._write(name, to.beside)
            self._origin = to.origin

    def _write(self, name: bytes, beside: Mapping[str, Any]) -> None:
        note = self._note(beside)
        self._device.run(self._native.save, self._session, self._stream, name, note)

    def _note(self, beside: Mapping[str, Any] = NO_FACTS) -> bytes:
        """What the library does not know: what its keys stand for, and what is `beside` the index."""
        self._check_open()
        facts: dict[str, Any] = {"key": facts_of_key(self._key), "next_row": self._next_row, **beside}
        if self._words is None:
            return note_of(facts)
        offsets, letters = self._words.strings()
        facts |= {"strings": [len(letters), len(offsets)]} | ({"by_row": True} if self._is_hashed else {})
        return note_of(facts, (offsets, letters))

    @classmethod
    def _of_note(cls, native: Any, note: bytes, device: Device, stream: int, kept: Any) -> Index:
        """What was loaded with a note, be it one of Python or not."""
        try:
            found = facts_of(note)
            if found is None:
                return Index(native, device, key_of_format(native.info()[2]), kept, stream)
            facts, end = found
            index = cls._of_facts(native, facts, note, end, device, stream, kept)
            index._next_row = max(index._next_row, operator.index(facts.get("next_row", 0)))
            return index
        except (ValueError, TypeError, KeyError, RecursionError) as problem:
            raise InvalidArgument(f"path: section 'note': it is none of an index: {problem}") from None

    @classmethod
    def _of_facts(
        cls, native: Any, facts: dict[str, Any], note: bytes, end: int, device: Device, stream: int, kept: Any
    ) -> Index:
        """The same of what a note says, whose arrays begin at `end`."""
        key = key_in(facts, native.info()[2])
        words = None
        if key.dtype is None:
            words = dictionary_of(note, end, facts["strings"], key, facts.get("by_row") is True, device, stream)
        return Index(native, device, key, kept, stream, words=words)

    def _bytes(self) -> bytes:
        """What `save` would write."""
        with self._changes:
            note = self._note()
            kept: bytes = self._device.run(self._native.to_bytes, self._session, self._stream, note)
        return kept

    @classmethod
    def _of_bytes(cls, kept: bytes, device: str, verify: bool = True) -> Index:
        """An index of them; what a pickle calls."""
        target = device_of(device)
        native, note = target.run(_raydex.Index.from_bytes, target.backend, target.session(), 0, kept, verify)
        return cls._of_note(native, note, target, 0, None)

    def snapshot(self) -> Index:
        """The index as it is now, whatever edits come: an index of its own, which is closed by itself.

            >>> import raydex
            >>> with raydex.build([50, 20]) as index, index.snapshot() as before:
            ...     index.append([20])
            ...     (index.count(20), before.count(20))
            range(2, 3)
            (2, 1)

        Both have the same memory until one of them is edited; the edit copies the index first, through host memory.
        Whoever asks a snapshot never waits for edits of the index; `snapshot` itself waits for one that runs. Cost:
        none. The next edit of either costs a copy of the index: three times its memory while it copies, then twice,
        until one of the two is closed.

        *Errors*: of the edit `raydex.Unsupported`, if the index cannot be copied, and `OutOfMemory`."""
        with self._changes:
            return self._twin("snapshot", lambda: self._native.snapshot())

    def _twin(self, called: str, make: Callable[[], Any]) -> Index:
        """Another index with these entries, whose native one a call makes, within `_changes`."""
        self._check_open()
        if self._edited_on is None:
            self._edited_on = {}
        twin = self._over(self._device.run(make), self._streams[self._stream])
        twin._streams.update(self._streams)
        twin._edited_on, twin._edits, twin._next_row = self._edited_on, self._edits, self._next_row
        twin._origin = self._origin
        return twin

    def _over(self, native: Any, kept: Any) -> Index:
        """An index of these keys."""
        return Index(native, self._device, self._key, kept, self._stream, words=self._words)

    def __reduce_ex__(self, protocol: Any) -> Any:
        return (type(self)._of_bytes, (self._bytes(), self._device.name))

    def __copy__(self) -> Index:
        with self._changes:
            return self._twin("copy", lambda: self._native.copy(self._session, self._stream))

    def __deepcopy__(self, memo: Any) -> Index:
        return self.__copy__()

    # Probes

    @property
    def _is_floating(self) -> bool:
        return self._key.dtype is not None and self._key.dtype.kind == "f" and not self._key.is_void

    def _check_ordered(self, operation: str) -> None:
        """Refuses what an index that finds strings by a hash does not answer."""
        if self._is_hashed:
            raise Unsupported(
                f"{operation}: strings of any length are found by a hash here, which takes points alone; build with "
                "structure='auto' for more"
            )

    def _numbered(self, column: Column, key: Key, words: Dictionary | None, stream: int) -> Column:
        """A column of probes as the structure has its keys."""
        if key.dtype is not None:
            return column
        if words is None:
            self._check_open()
        assert words is not None
        return words.numbers(column, stream)

    def _batch(self, lower: Any, upper: Any, stream: Any, role: str = "", flat: bool = False) -> Batch:
        """The probes of a call, checked and where the index is."""
        second = NONE if upper is None else upper
        plain = plain_columns(lower, second, stream, self._plain_device, self._key)
        if plain is None:
            return AnyBatch(self, lower, upper, stream, role, flat)
        library, _, (native, size, number, kept), end = plain
        self._streams[number] = kept
        return Batch(library, size, number, (self._session, number, native, end and end[0]), lower, self._native)

    # Queries

    @overload
    def first(self, lower: Tensor, upper: ColumnLike = ..., *, stream: StreamLike = ...) -> Tensor: ...
    @overload
    def first(self, lower: Series, upper: ColumnLike = ..., *, stream: StreamLike = ...) -> Series: ...
    @overload
    def first(self, lower: Scalar, upper: Scalar | None = ..., *, stream: StreamLike = ...) -> np.int64: ...
    @overload
    def first(
        self, lower: HostColumn, upper: ColumnLike = ..., *, stream: StreamLike = ...
    ) -> npt.NDArray[np.int64]: ...
    @overload
    def first(self, lower: ColumnLike, upper: ColumnLike = ..., *, stream: StreamLike = ...) -> Any: ...
    def first(self, lower: ColumnLike, upper: ColumnLike = None, *, stream: StreamLike = None) -> Any:
        """The smallest matching row of each probe, -1 where none matches; see `raydex.take`.

        Cost: a search a probe, and for ranges a look at the rows in it."""
        batch = self._batch(lower, upper, stream)
        return batch.answer("int64", batch.native.first, *batch.arguments)

    def _first32(self, lower: Any, upper: Any) -> Any:
        """The same as int32, of an index of row ids of 32 bits that are less than 2^31."""
        batch = self._batch(lower, upper, None)
        return batch.numbers("int32", batch.native.first32, *batch.arguments)

    @overload
    def count(self, lower: Tensor, upper: ColumnLike = ..., *, stream: StreamLike = ...) -> Tensor: ...
    @overload
    def count(self, lower: Series, upper: ColumnLike = ..., *, stream: StreamLike = ...) -> Series: ...
    @overload
    def count(self, lower: Scalar, upper: Scalar | None = ..., *, stream: StreamLike = ...) -> np.int64: ...
    @overload
    def count(
        self, lower: HostColumn, upper: ColumnLike = ..., *, stream: StreamLike = ...
    ) -> npt.NDArray[np.int64]: ...
    @overload
    def count(self, lower: ColumnLike, upper: ColumnLike = ..., *, stream: StreamLike = ...) -> Any: ...
    def count(self, lower: ColumnLike, upper: ColumnLike = None, *, stream: StreamLike = None) -> Any:
        """How many rows match each probe, int64. Cost: a search or two a probe."""
        batch = self._batch(lower, upper, stream)
        return batch.answer("int64", batch.native.count, *batch.arguments)

    @overload
    def sum(
        self, lower: Tensor, upper: ColumnLike = ..., *, values: ColumnLike, stream: StreamLike = ...
    ) -> Tensor: ...
    @overload
    def sum(
        self, lower: Series, upper: ColumnLike = ..., *, values: ColumnLike, stream: StreamLike = ...
    ) -> Series: ...
    @overload
    def sum(
        self, lower: Scalar, upper: Scalar | None = ..., *, values: ColumnLike, stream: StreamLike = ...
    ) -> Any: ...
    @overload
    def sum(
        self, lower: HostColumn, upper: ColumnLike = ..., *, values: ColumnLike, stream: StreamLike = ...
    ) -> npt.NDArray[Any]: ...
    @overload
    def sum(
        self, lower: ColumnLike, upper: ColumnLike = ..., *, values: ColumnLike, stream: StreamLike = ...
    ) -> Any: ...
    @without(by=SUMS_BY)
    def sum(
        self, lower: ColumnLike, upper: ColumnLike = None, *, values: ColumnLike = None, stream: StreamLike = None
    ) -> Any:
        """The sum of `values[row]` over the matching rows of each probe.

        `values`: a column with a cell for each row; it has to be given. The sum is int64 for signed values, uint64
        for unsigned ones, both modulo 2^64, float64 for floating ones, and 0 where nothing matches. A missing value
        adds nothing. Cost: a search, and a read for each matching row."""
        check_has_values(values, upper)
        batch = self._batch(lower, upper, stream)
        source = look_at_values(values)
        self._check_device(source.argument, source.library)
        column = refuse_strings(column_of(source, batch.stream))
        if column.key.dtype is None or not column.key.is_number:
            raise InvalidType(f"values: they are {column.key}; sums are of numbers")
        kind = column.key.dtype.kind
        dtype = {"u": "uint64", "i": "int64", "f": "float64"}[kind]
        return batch.answer(dtype, batch.native.sum, *batch.arguments, column.native, kind)

    @overload
    def rows(
        self, lower: ColumnLike, upper: ColumnLike = ..., *, lazy: Literal[False] = ..., stream: StreamLike = ...
    ) -> Matches: ...
    @overload
    def rows(
        self, lower: ColumnLike, upper: ColumnLike = ..., *, lazy: Literal[True], stream: StreamLike = ...
    ) -> LazyMatches: ...
    @overload
    def rows(
        self, lower: ColumnLike, upper: ColumnLike = ..., *, lazy: bool, stream: StreamLike = ...
    ) -> Matches | LazyMatches: ...
    def rows(
        self, lower: ColumnLike, upper: ColumnLike = None, *, lazy: bool = False, stream: StreamLike = None
    ) -> Matches | LazyMatches:
        """All matching rows of each probe, as offsets and rows.

        Those of a probe are ordered by key, then by row, on ordered structures. Waits for the stream
        once, to learn how many there are. Cost: two searches, and a write for each matching row.

        `lazy`: whether rows are looked up now and written later, in chunks of a stated size or as a stream of Arrow,
        see `LazyMatches`. Cost: as `count`, and a pass over the keys of the index. `cgrx` with nodes
        refuses it with `raydex.Unsupported`."""
        if flag("lazy", lazy):
            return self._lazy_rows(lower, upper, stream)
        batch = self._batch(lower, upper, stream)
        library, number = batch.library, batch.stream
        offsets = library.empty(batch.size + 1, "int64", number)
        begins = library.address(offsets)
        found = None

        def room() -> tuple[int, int]:
            nonlocal found
            if library.device is None:
                total = int(offsets[-1])
            else:
                total = _cuda.read_number(begins + 8 * batch.size, number, library.device)
            found = library.empty(total, "int64", number)
            return (library.address(found), total)

        self._device.run(batch.native.rows, *batch.arguments, begins, batch.size + 1, room)
        return Matches(offsets, found)

    def _lazy_rows(self, lower: Any, upper: Any, stream: Any) -> LazyMatches:
        with self._changes:
            batch = self._batch(lower, upper, stream)
            self._check_open()
            call = Call(batch.library, str(self._device), stream)
            _, _, begin, end = batch.arguments
            side = self._device.run(_raydex.Join.over, *call.context, batch.native)
            if end is None:
                found = self._device.run(side.match, *call.context, [begin], "inner")
            else:
                found = self._device.run(side.match_ranges, *call.context, begin, end, "inner")
            info = self.info
            return LazyMatches(found, call, None, self, max(info.n, info.max_row_id + 1))

    def bitset(
        self, lower: ColumnLike, upper: ColumnLike = None, *, size: int | None = None, stream: StreamLike = None
    ) -> Any:
        """A bit for each row, which is 1 if the row matches any of the probes: what cuVS and FAISS take as a filter.

            >>> import raydex
            >>> index = raydex.build([50, 20, 40, 20, 30])
            >>> index.bitset(20, 35)
            array([26], dtype=uint32)

        Words of uint32, of the library and on the device of the probes; row r is bit r % 32 of word r // 32, counted
        from the lowest one. So it goes to `cuvs.neighbors.filters.from_bitset` from a GPU, and to FAISS, with the same
        bits, as `faiss.IDSelectorBitmap(words.view("uint8"))`. The bits behind the last row are 0.

        `size`: for so many rows, by default up to the largest row that the index was given, of missing keys, too. Waits
        for the stream to learn how many rows match, once for each part if probes share rows, and again unless `size` is
        beyond the largest row. Cost: as `rows`, a bit for each row, and a write to one for each match."""
        if size is not None and operator.index(size) < 0:
            raise InvalidArgument(f"size: {size}, but the index has rows up to {self.info.max_row_id}")
        batch = self._batch(lower, upper, stream)
        library, number = batch.library, batch.stream
        words = None

        def room(count: int) -> int:
            nonlocal words
            words = library.empty(count, "uint32", number)
            return library.address(words)

        self._device.run(batch.native.bitset, *batch.arguments, size, room)
        return words

    @overload
    def contains(self, points: Tensor, *, stream: StreamLike = ...) -> Tensor: ...
    @overload
    def contains(self, points: Series, *, stream: StreamLike = ...) -> Series: ...
    @overload
    def contains(self, points: Scalar, *, stream: StreamLike = ...) -> np.bool_: ...
    @overload
    def contains(self, points: HostColumn, *, stream: StreamLike = ...) -> npt.NDArray[np.bool_]: ...
    @overload
    def contains(self, points: ColumnLike, *, stream: StreamLike = ...) -> Any: ...
    def contains(self, points: ColumnLike, *, stream: StreamLike = None) -> Any:
        """Whether any row has each point's key; bool. NaN is found where the column has NaN."""
        batch = self._batch(points, None, stream)
        return batch.answer("bool", batch.native.contains, *batch.arguments)

    @overload
    def isin(self, points: Tensor, invert: bool = ..., *, stream: StreamLike = ...) -> Tensor: ...
    @overload
    def isin(self, points: Series, invert: bool = ..., *, stream: StreamLike = ...) -> Series: ...
    @overload
    def isin(self, points: Scalar, invert: bool = ..., *, stream: StreamLike = ...) -> np.bool_: ...
    @overload
    def isin(self, points: HostColumn, invert: bool = ..., *, stream: StreamLike = ...) -> npt.NDArray[np.bool_]: ...
    @overload
    def isin(self, points: ColumnLike, invert: bool = ..., *, stream: StreamLike = ...) -> Any: ...
    def isin(self, points: ColumnLike, invert: bool = False, *, stream: StreamLike = None) -> Any:
        """`numpy.isin(points, column, invert=invert)`, of the column of the index: as `contains`, but
        NaN is in nothing, and with `invert` the opposite. Numbers may have any number of dimensions."""
        batch = self._batch(points, None, stream, flat=True)
        found = batch.numbers("bool", batch.native.contains, *batch.arguments)
        found = batch.library.membership(found, batch.cells() if self._is_floating else None, invert, batch.stream)
        # A `DeviceArray` and strangers' arrays, which have one dimension, have no `reshape`.
        return batch.like_probes(found if batch.shape is None or len(batch.shape) == 1 else found.reshape(batch.shape))

    @overload
    def rank(self, points: Tensor, side: Side = ..., *, stream: StreamLike = ...) -> Tensor: ...
    @overload
    def rank(self, points: Series, side: Side = ..., *, stream: StreamLike = ...) -> Series: ...
    @overload
    def rank(self, points: Scalar, side: Side = ..., *, stream: StreamLike = ...) -> np.int64: ...
    @overload
    def rank(self, points: HostColumn, side: Side = ..., *, stream: StreamLike = ...) -> npt.NDArray[np.int64]: ...
    @overload
    def rank(self, points: ColumnLike, side: Side = ..., *, stream: StreamLike = ...) -> Any: ...
    def rank(self, points: ColumnLike, side: Side = "left", *, stream: StreamLike = None) -> Any:
        """How many keys are less than each point, or with `side="right"` not greater; int64.

        That is `numpy.searchsorted` of the sorted column. -1 for missing points. Of ordered structures
        only. Cost: a search a point."""
        if side not in ("left", "right"):
            raise InvalidArgument(f"side: {side!r} is neither 'left' nor 'right'")
        return self._rank(points, side == "right", stream)

    def _rank(self, points: Any, behind: bool, stream: Any) -> Any:
        self._check_ordered("rank")
        batch = self._batch(points, None, stream, "at_most" if behind else "below")
        found = batch.numbers("int64", batch.native.rank, *batch.points, behind or batch.before is not None)
        return batch.like_probes(found if batch.before is None else with_zeros(found, batch.before))

    @overload
    def predecessor(self, points: Tensor, strict: bool = ..., *, stream: StreamLike = ...) -> Tensor: ...
    @overload
    def predecessor(self, points: Series, strict: bool = ..., *, stream: StreamLike = ...) -> Series: ...
    @overload
    def predecessor(self, points: Scalar, strict: bool = ..., *, stream: StreamLike = ...) -> np.int64: ...
    @overload
    def predecessor(
        self, points: HostColumn, strict: bool = ..., *, stream: StreamLike = ...
    ) -> npt.NDArray[np.int64]: ...
    @overload
    def predecessor(self, points: ColumnLike, strict: bool = ..., *, stream: StreamLike = ...) -> Any: ...
    def predecessor(self, points: ColumnLike, strict: bool = False, *, stream: StreamLike = None) -> Any:
        """The smallest row of the largest key that is not greater than each point, or with `strict`
        less than it; -1 where there is none, see `raydex.take`. Of ordered structures only. Cost: a search or two."""
        return self._closest(points, True, strict, stream)

    @overload
    def successor(self, points: Tensor, strict: bool = ..., *, stream: StreamLike = ...) -> Tensor: ...
    @overload
    def successor(self, points: Series, strict: bool = ..., *, stream: StreamLike = ...) -> Series: ...
    @overload
    def successor(self, points: Scalar, strict: bool = ..., *, stream: StreamLike = ...) -> np.int64: ...
    @overload
    def successor(
        self, points: HostColumn, strict: bool = ..., *, stream: StreamLike = ...
    ) -> npt.NDArray[np.int64]: ...
    @overload
    def successor(self, points: ColumnLike, strict: bool = ..., *, stream: StreamLike = ...) -> Any: ...
    def successor(self, points: ColumnLike, strict: bool = False, *, stream: StreamLike = None) -> Any:
        """The same for the smallest key that is not less than the point, or greater than it."""
        return self._closest(points, False, strict, stream)

    def _closest(self, points: Any, before: bool, strict: bool, stream: Any) -> Any:
        self._check_ordered("predecessor" if before else "successor")
        flag("strict", strict)
        side = ("below" if strict else "at_most") if before else ("above" if strict else "at_least")
        batch = self._batch(points, None, stream, side)
        strict = bool(strict) and not batch.is_aside
        return batch.answer("int64", batch.native.closest, *batch.points, before, strict)

    @overload
    def lookup(
        self, points: ColumnLike, values: npt.NDArray[Any], *, stream: StreamLike = ...
    ) -> np.ma.MaskedArray[Any, Any]: ...
    @overload
    def lookup(self, points: ColumnLike, values: Frame, *, stream: StreamLike = ...) -> Frame: ...
    def lookup(self, points: ColumnLike, values: Any, *, stream: StreamLike = None) -> Any:
        """The cells of the first row of each point, missing where there is none.

            >>> import pandas, raydex
            >>> names = pandas.DataFrame({"id": [7, 9], "name": ["ann", "bob"]})
            >>> raydex.build(names["id"]).lookup([9, 8, 9], names)
                id name
            0  9.0  bob
            1  NaN  NaN
            2  9.0  bob

        `values`: a frame, a column or an array with a cell for each row; in host memory. The result is of its kind: a
        frame or a Series of pandas (with the index of `points` if they are a Series of pandas, else from 0 on) or of
        Polars, a table or column of pyarrow, and of an array of NumPy a masked one, as `raydex.take` gives it. As in
        pandas, integers become floating numbers if some are missing; those of nullable types do not. A single point
        counts as a list of it. Cost: as `first`, and a copy of the rows."""
        not_a_text("values", values)
        batch = self._batch(points, None, stream)
        rows = batch.numbers("int64", batch.native.first, *batch.arguments)
        if hasattr(values, "__len__") and getattr(values, "shape", None) != ():
            self._check_values(len(values))
        return take_alike(values, rows, self._labelled(points))

    def _labelled(self, points: Any) -> Any:
        """What has the labels of points, if these have any."""
        return points

    def _check_values(self, size: int) -> None:
        """Refuses fewer values than rows."""
        (_, _, _, _, n, _, most, *_) = self._native.info()
        if n > 0 and size <= most:
            raise InvalidArgument(f"values: {size} rows, but the index has rows up to {most}")

    def _points(self, argument: str, x: Any, inserts: bool = False) -> Points:
        """Keys that are joined, inserted or erased."""
        return Points(look(argument, x), self._key, inserts, self._words)

    # Edits

    def _insert_new(self, keys: Points, rows: Column, stream: int) -> None:
        """Inserts keys that do not `fit`, within `_changes`: has another structure in the place of its own."""
        self._native, self._words, self._key = self._version = with_texts(self, keys, rows, stream)

    def insert(self, keys: ColumnLike, rows: ColumnLike, *, stream: StreamLike = None) -> None:
        """Inserts entries: keys and their rows, integers that the index's row ids have room for.

        Missing keys are passed over. Waits for queries of other threads, and for the stream. Cost: see the structure;
        most sort the batch and merge. Keys that the index has no place for cost as much as building it, from its own
        entries, which go through host memory: strings of more than 8 bytes that it does not have, texts longer than all
        of its own if these have up to 8 bytes, and what `raydex.CompositeIndex` says of several columns."""
        edit(self, keys, rows, None, None, stream)

    def append(self, keys: ColumnLike, *, stream: StreamLike = None) -> range:
        """Inserts keys as the rows that follow those of the index, and returns the numbers of these rows.

            >>> import raydex
            >>> with raydex.build([50, 20, 40]) as index:
            ...     index.append([20, None, 30])
            ...     index.rows([20]).rows
            range(3, 6)
            array([1, 3])

        The first one is behind all that the index ever had; missing keys have rows, too, so that those of the index
        stay those of a column that grows. Waits and costs as `insert`.

        Keys are of the index's type; texts may be longer than those that it had. To append to a file, see
        `raydex.append_file`."""
        return edit(self, keys, None, None, None, stream)

    def erase(self, keys: ColumnLike, rows: ColumnLike = None, *, stream: StreamLike = None) -> None:
        """Erases all entries of these keys, or with `rows` those of each pair of a key and a row. What
        is erased need not be there. Waits and costs as `insert`."""
        edit(self, None, None, keys, rows, stream)


def index_of(number: int) -> Index:
    """The index of a number, if it is still there."""
    index = _by_number.get(number)
    if index is None:
        raise InvalidArgument("index: it is gone; keep it as long as what was compiled with it")
    return index


def with_zeros(ranks: Any, before: npt.NDArray[np.bool_]) -> Any:
    """Ranks; those before all keys are 0."""
    return np.where(before.reshape(np.shape(ranks)), 0, ranks)[()]
