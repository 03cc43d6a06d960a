# SPDX-License-Identifier: Apache-2.0
"""Users' columns as dense arrays of NumPy or PyTorch, beside which of their cells are there."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from raydex._array_libraries import HOST
from raydex._arrow import HostCells, strings_of
from raydex._columns import column_of, host_cells, key_of
from raydex._errors import InvalidArgument, InvalidType, Unsupported
from raydex._keys import Key
from raydex._sources import Source, look
from raydex.sharded._arrays import arrays_of
from raydex.sharded._exchange import Exchange


@dataclass(frozen=True)
class Dense:
    """A column without gaps in memory."""

    array: Any
    there: Any  # an array of bool; None: no cell is missing
    key: Key
    source: Source
    before: Any = None  # which are before all keys, see `column_of`

    def __len__(self) -> int:
        return len(self.array)

    def in_library(self, answers: Any) -> Any:
        """Answers in the library of the column; of a single number a single one."""
        library = arrays_of(answers)
        if library.name == "torch" and self.source.library.name == "numpy":
            answers = library.to_host(answers)
        return answers[0] if self.source.scalar else answers


def dense(source: Source, engine: Exchange, want: Key | None = None, role: str = "") -> Dense:
    """The cells of an argument where the engine takes them, as keys of a type; a copy only of what is not
    dense. `role` is as of `column_of`."""
    stream, _ = source.library.stream_for(None)
    if key_of(source, stream).dtype is None:
        raise Unsupported(
            f"{source.argument}: strings of any length have no order, by which shards are made; give a list of "
            "ones of up to 8 bytes, or codes of them"
        )
    column = column_of(source, stream, want, copies=True, role=role)
    there = None
    if source.library.device is None:
        array, there = host_cells(column)
        if source.library.name == "torch":
            array = sys.modules["torch"].from_numpy(array)
    elif source.library.name == "torch":
        array = column.kept[0].reshape(-1).contiguous()
    else:
        raise Unsupported(
            f"{source.argument}: of the libraries for GPUs PyTorch's tensors are taken; give "
            "torch.from_dlpack(x)"
        )
    return Dense(engine.accept(source.argument, array), there, column.key, source, column.before)


def row_ids(x: Any, engine: Exchange, like: Dense, end: int) -> Any:
    """Explicit rows as int64, as many as there are keys."""
    cells = dense(look("rows", x), engine)
    if cells.key.unit:
        raise InvalidType(f"rows: row ids are integers, and these are {cells.key}")
    if len(cells) != len(like):
        raise InvalidArgument(f"rows: {len(cells)} of them, but {len(like)} keys")
    return checked_row_ids(cells.array, cells.there, end)


def checked_row_ids(array: Any, there: Any, end: int = 2**63 - 1) -> Any:
    """Row ids of NumPy or PyTorch as int64; refuses those that are none. `there`: which are not missing; None: all."""
    library = arrays_of(array)
    if len(array) == 0:
        return library.empty(0, "int64")
    dtype = library.dtype(array)
    if dtype.kind not in "iu":
        raise InvalidType(f"rows: row ids are integers, and these are {dtype}")
    if there is not None:
        raise InvalidArgument("rows: some are missing; give all of them")
    rows = library.view(array, "int64") if dtype == "uint64" else library.cast(array, "int64")
    low, high = int(rows.min()), int(rows.max())
    if low < 0 or high >= end:
        raise InvalidArgument(f"rows: they go from {low} to {high}; row ids are 0 to {end - 1}")
    return rows


def of_all(name: str, keys: Sequence[Key], sizes: Sequence[int], holders: str = "on process") -> Key:
    """The type of a column that is divided among processes. Slices without cells do not count. `holders`:
    what has the slices, in messages."""
    typed = [at for at, size in enumerate(sizes) if size and not keys[at].is_void] or [0]
    first = typed[0]
    for at in typed:
        if keys[at] != keys[first]:
            raise InvalidType(
                f"{name}: of {keys[first]} {holders} {first}, but of {keys[at]} {holders} {at}; convert one"
            )
    return keys[first]


def empty_source(argument: str, key: Key, library: Any = HOST) -> Source:
    """A column of a type without cells, of a library in host memory; of one on a GPU, of NumPy."""
    if key.dtype is None:
        return Source(argument, None, HOST, strings_of([], key.unit), shape=(0,))
    array = np.empty(0, key.dtype)
    of = library if library.device is None else HOST
    return Source(argument, array, of, HostCells(array, unit=key.unit, is_void=key.is_void), shape=array.shape)
