# SPDX-License-Identifier: Apache-2.0
"""The build side of as-of joins, kept and appended to."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any, Callable, overload

import numpy as np
import numpy.typing as npt

from raydex import _raydex
from raydex._arguments import flag
from raydex._asof_joins import Asked
from raydex._columns import Column, column_of, key_of, refuse_strings, role_of
from raydex._devices import Device
from raydex._errors import InvalidArgument, InvalidType
from raydex._held import Held
from raydex._html import facts
from raydex._infos import bytes_as_text
from raydex._joined import JoinRows
from raydex._joins import key_columns, natives
from raydex._kept import NO_FACTS, device_of, facts_of, note_of, path_of
from raydex._keys import TEXTS, facts_of_key, format_of, key_of_facts
from raydex._lazy import Call
from raydex._runs import replacing
from raydex._sources import Source, look, same_device
from raydex.typing import (
    ColumnLike,
    DeviceLike,
    Direction,
    Distance,
    HostColumn,
    KeyColumns,
    StreamLike,
    Tensor,
)


class AsofIndex(Held):
    """The build side of `join_asof`, kept: it is asked for the closest times as often as you like, and takes further
    rows.

        >>> import raydex
        >>> with raydex.AsofIndex([10, 20, 30]) as quotes:
        ...     quotes.append([40, 50])
        ...     quotes.join([5, 35, 45])
        array([-1,  2,  3])

    It holds 8 to 12 bytes a row, of rows that were appended also their columns, and the columns that it was given,
    until it is closed, a `with` ends, or the last reference goes. Several threads may ask it; an append waits for them.
    `save` and `raydex.load` keep it in files, `pickle` and `copy.copy` copy its columns.

    Parameters
    ----------
    times
        A column of times of any unit and zone, or of other numbers; it need not be sorted. Its type is that of the
        index.
    by
        A column of a key that has to be equal, or up to 16 as a tuple, a list, a dict or a data frame. Strings may
        have any length.
    missing_equal, device, stream
        As of `join_asof`.
    """

    __module__ = "raydex"
    _called = "index"

    def __init__(
        self, times: ColumnLike, *, by: KeyColumns = None, missing_equal: bool = False, device: DeviceLike = None,
        stream: StreamLike = None,
    ) -> None:  # fmt: skip
        missing_equal = flag("missing_equal", missing_equal)
        source = look("times", times)
        call = Call(source.library, device, stream)
        column = refuse_strings(column_of(source, call.stream))
        names, sources = (None, []) if by is None else key_columns("by", by)
        same_device(source, *sources)
        parts = [_part(one, call.stream) for one in sources]
        native = call.device.run(
            _raydex.AsofJoin, call.device.backend, *call.context, column.native, natives(parts), missing_equal
        )
        super().__init__(native, call.device, call.kept, call.stream)
        self._names = names
        self._key = column.key
        self._keys = [one.key for one in parts]
        self._missing_equal = missing_equal
        self._kept: list[Column] = [column, *parts]  # which it reads
        self._size = column.size

    @classmethod
    def _of_note(cls, native: Any, note: bytes, device: Device, stream: int, kept: Any) -> AsofIndex:
        """What was loaded with a note of `save`."""
        try:
            found = facts_of(note)
            if found is None:
                raise ValueError("it is not of Python, which alone says what the columns are")
            facts, _ = found
            names = facts["names"]
            index = object.__new__(cls)
            index._names = None if names is None else [str(name) for name in names]
            index._key = key_of_facts(facts["times"])
            index._keys = [key_of_facts(one) for one in facts["by"]]
            index._missing_equal = bool(facts["missing_equal"])
            time, parts, index._size = native.types
            if [time, *parts] != [None if one.dtype is None else format_of(one) for one in [index._key, *index._keys]]:
                raise ValueError("columns of other types")
        except (ValueError, TypeError, KeyError, RecursionError) as problem:
            raise InvalidArgument(f"path: section 'note': it is none of an as-of index: {problem}") from None
        index._kept = []
        Held.__init__(index, native, device, kept, stream)
        return index

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the index to a file, which `raydex.load` opens.

            >>> import raydex, tempfile, os
            >>> with tempfile.TemporaryDirectory() as folder:
            ...     path = os.path.join(folder, "quotes.index")
            ...     raydex.AsofIndex([10, 20, 30]).save(path)
            ...     with raydex.load(path) as quotes:
            ...         quotes.append([40])
            ...         quotes.join([5, 35, 45])
            array([-1,  2,  3])

        The file has the columns, with the rows that were appended, and is written whole or not at all, as `Index.save`
        does it. A loaded index reads them there, and is built again.

        Cost: a copy of the columns, and a write of as many bytes, for which the disk is waited."""
        name = path_of(path)
        with replacing(name) as to:
            self._keep(self._native.save, name, beside=to.beside)

    def _keep(self, call: Callable[..., Any], *more: Any, beside: Mapping[str, Any] = NO_FACTS) -> Any:
        """Has the native index write what it is."""
        with self._changes:
            self._check_open()
            note = note_of({
                "times": facts_of_key(self._key), "by": [facts_of_key(one) for one in self._keys],
                "names": self._names, "missing_equal": self._missing_equal,
                **beside,
            })  # fmt: skip
            wait = self._before(self._stream)
            if wait is not None:
                wait()
            return self._device.run(call, self._device.session(), self._stream, *more, note)

    def __reduce_ex__(self, protocol: Any) -> Any:
        return (AsofIndex._of_bytes, (self._keep(self._native.to_bytes), self._device.name))

    @classmethod
    def _of_bytes(cls, kept: bytes, device: str) -> AsofIndex:
        """What a pickle calls."""
        target = device_of(device)
        native, note = target.run(_raydex.AsofJoin.from_bytes, target.backend, target.session(), 0, kept)
        return cls._of_note(native, note, target, 0, None)

    def __len__(self) -> int:
        """How many rows it has. Those with a missing time or key are found by none."""
        return self._size

    @property
    def resident_bytes(self) -> int:
        """How many bytes it holds, besides the columns that it was given; measured."""
        self._check_open()
        held: int = self._native.info[1]
        return held

    def __repr__(self) -> str:
        if self._closed:
            return "raydex.AsofIndex(closed)"
        held = bytes_as_text(self.resident_bytes)
        return f"raydex.AsofIndex({self._key} on {self._device}: {self._size} rows, {held})"

    def _repr_html_(self) -> str:
        if self._closed:
            return facts("raydex.AsofIndex, closed", {})
        return facts("raydex.AsofIndex", {
            "device": self._device, "times": self._key, "by": ", ".join(map(str, self._keys)) or "nothing",
            "rows": self._size, "memory": bytes_as_text(self.resident_bytes),
        })  # fmt: skip

    def _free(self) -> None:
        super()._free()
        self._kept = []

    def _parts(self, beside: Source, by: Any, stream: int, role: str = "") -> list[Column]:
        """Columns of a key, as those of the index; `role` is as of `column_of`."""
        names, sources = (None, []) if by is None else key_columns("by", by)
        if len(sources) != len(self._keys):
            raise InvalidArgument(f"by: {len(sources)} columns, but the key of the index has {len(self._keys)}")
        if names is not None and self._names is not None:
            if set(names) != set(self._names):
                raise InvalidArgument(
                    f"by: its columns are {', '.join(names)}, but those of the index {', '.join(self._names)}"
                )
            sources = [sources[names.index(name)] for name in self._names]
        same_device(beside, *sources)
        return [column_of(one, stream, key, role=role) for one, key in zip(sources, self._keys)]

    @overload
    def join(
        self, probe: Tensor, *, by: KeyColumns = ..., direction: Direction = ..., allow_exact_matches: bool = ...,
        tolerance: Distance | ColumnLike = ..., relative_tolerance: float | None = ..., k: None = ...,
        stream: StreamLike = ...,
    ) -> Tensor: ...
    @overload
    def join(
        self, probe: HostColumn, *, by: KeyColumns = ..., direction: Direction = ..., allow_exact_matches: bool = ...,
        tolerance: Distance | ColumnLike = ..., relative_tolerance: float | None = ..., k: None = ...,
        stream: StreamLike = ...,
    ) -> npt.NDArray[np.int64]: ...
    @overload
    def join(
        self, probe: ColumnLike, *, by: KeyColumns = ..., direction: Direction = ..., allow_exact_matches: bool = ...,
        tolerance: Distance | ColumnLike = ..., relative_tolerance: float | None = ..., k: None = ...,
        stream: StreamLike = ...,
    ) -> Any: ...
    @overload
    def join(
        self, probe: ColumnLike, *, by: KeyColumns = ..., direction: Direction = ..., allow_exact_matches: bool = ...,
        tolerance: Distance | ColumnLike = ..., relative_tolerance: float | None = ..., k: int,
        stream: StreamLike = ...,
    ) -> JoinRows: ...
    @overload
    def join(
        self, probe: ColumnLike, *, by: KeyColumns = ..., direction: Direction = ..., allow_exact_matches: bool = ...,
        tolerance: Distance | ColumnLike = ..., relative_tolerance: float | None = ..., k: int | None,
        stream: StreamLike = ...,
    ) -> Any: ...  # fmt: skip
    def join(
        self,
        probe: ColumnLike,
        *,
        by: KeyColumns = None,
        direction: Direction = "backward",
        allow_exact_matches: bool = True,
        tolerance: Distance | ColumnLike = None,
        relative_tolerance: float | None = None,
        k: int | None = None,
        stream: StreamLike = None,
    ) -> Any:
        """For each probe row the row of the index with the closest time, or the `k` closest ones, as `join_asof` gives
        them.

        Times of another unit than the index's, and numbers of another type, are compared exactly, in host memory. Where
        distances matter, with a tolerance or `nearest`, they have to be times of the index's unit or numbers of its
        type.

        Cost: one or two searches a probe row for each part that `append` leaves, at most log n of them."""
        asked = Asked(direction, allow_exact_matches, tolerance, relative_tolerance, k)
        self._check_open()
        source = look("probe", probe)
        self._check_device(source.argument, source.library)
        call = Call(source.library, str(self._device), stream)
        role = role_of(source, self._key, asked.role, call.stream)
        times = column_of(source, call.stream, self._key, role=role)
        # What is no key would be missing, and equal to what is missing.
        parts = self._parts(source, by, call.stream, "kept" if self._missing_equal else "")
        asked.take(role)
        near = asked.near(self._key, times, None, call)
        with self._changes:
            self._check_open()
            self._streams[call.stream] = call.kept
            return asked.ask(self._native, call, times, parts, near, self._size, self)

    def append(self, times: ColumnLike, *, by: KeyColumns = None, stream: StreamLike = None) -> None:
        """Adds rows, whose numbers follow those that there are. They are copied.

        Waits for what other threads ask, and for the stream. Cost: a batch is put in order by itself, together with
        the rows before it that were put in order by as few or fewer; so of batches of one size, n rows in all, each
        row is at most log n times."""
        self._check_open()
        source = look("times", times)
        self._check_device(source.argument, source.library)
        number, kept = source.library.stream_for(stream)
        if self._key.is_void:
            raise InvalidArgument(
                "times: the index was built of no times that say what they are of; build it over numpy.array([], dtype)"
            )
        column = column_of(source, number, self._key, role=role_of(source, self._key, "kept", number))
        parts = self._parts(source, by, number, "kept")
        with self._changes:
            self._check_open()
            self._device.run(self._native.append, number, column.native, natives(parts), self._before(number))
            self._stream = number
            self._streams[number] = kept
            self._size += column.size


def _part(source: Source, stream: int) -> Column:
    """A column of a key, with room for what is appended: strings of any length."""
    key = key_of(source, stream)
    if key.is_void:
        raise InvalidType(f"{source.argument}: no cell says what they are of; give numpy.array([], dtype)")
    is_text = key.dtype is not None and key.dtype.kind == "S" and not key.unit
    return column_of(source, stream, TEXTS if is_text and source.library.device is None else key)
