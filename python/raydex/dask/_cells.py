# SPDX-License-Identifier: Apache-2.0
"""Partitions as keys: arrays of NumPy, and which of their cells are there."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from raydex._arrow import StringCells
from raydex._columns import column_of, host_cells
from raydex._errors import InvalidArgument, Unsupported
from raydex._keys import Key
from raydex._sources import Source, look
from raydex.dask._libraries import compute, pd, pyarrow
from raydex.sharded._arrays import in_both

most_bytes = 8
"""Of a string that is a key of an index."""


class Cells(NamedTuple):
    """The keys of a partition."""

    array: npt.NDArray[Any]
    there: npt.NDArray[np.bool_] | None  # None: all of them are
    key: Key
    before: npt.NDArray[np.bool_] | None = None  # which are before all keys, see `column_of`

    def present(self) -> npt.NDArray[Any]:
        """The keys that are not missing."""
        return self.array if self.there is None else self.array[self.there]


def aligned(cells: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """An array that the library can read. Those that Dask has sent lie anywhere in a message."""
    return cells if cells.flags.aligned else cells.copy()


def key_column(frame: Any, name: Any) -> Any:
    """A column of a data frame that the library can read, in memory of its own where that is not known."""
    column = frame[name]
    if isinstance(column.dtype, np.dtype) and column.dtype.kind != "O":
        return aligned(column.to_numpy(copy=False))
    return pd.Series(column.array.take(np.arange(len(column))))


def _letters(partition: Any) -> Any:
    """Strings as an Arrow array of bytes."""
    strings = pyarrow.array(partition)
    if isinstance(strings, pyarrow.ChunkedArray):
        strings = strings.combine_chunks()
    if pyarrow.types.is_dictionary(strings.type):
        strings = strings.dictionary_decode()
    return strings.cast(pyarrow.large_binary())


def _fixed(letters: Any) -> npt.NDArray[Any]:
    """Arrow's bytes of up to 8 a cell as NumPy's; empty where they are missing."""
    cells = compute.fill_null(letters, b"").to_numpy(zero_copy_only=False)
    return np.asarray(cells, dtype=f"S{most_bytes}")


def _looked_at(argument: str, partition: Any) -> Source:
    source = look(argument, partition)
    if source.library.device is not None:
        raise Unsupported(
            f"{argument}: a partition in the memory of a GPU; raydex.dask takes those in host memory, "
            "raydex.sharded those on GPUs"
        )
    return source


def _is_untyped(partition: Any) -> bool:
    """Whether a partition has no cell that could say what it is of, as one of `object` without any."""
    return bool(getattr(partition, "dtype", None) == np.dtype("O")) and np.size(partition) == 0


def cells_of(argument: str, partition: Any, want: Key | None = None, role: str = "") -> Cells:
    """The keys of a partition, in the type that is asked for, or in their own; `role` is as of `column_of`.

    Strings become bytes of up to 8 a cell, which have the order of the strings; longer ones are refused."""
    if _is_untyped(partition):
        key = want or Key(np.dtype(f"S{most_bytes}"))
        return Cells(np.empty(0, key.dtype), None, key)
    source = _looked_at(argument, partition)
    if not isinstance(source.cells, StringCells):
        column = column_of(source, 0, want, copies=True, role=role)
        return Cells(*host_cells(column), column.key, column.before)
    letters = _letters(partition)
    longest = compute.max(compute.binary_length(letters)).as_py() or 0
    if longest > most_bytes:
        raise Unsupported(
            f"{argument}: a string of {longest} bytes; strings of up to {most_bytes} bytes have an order to "
            "make shards by. raydex.dask.join joins longer ones, raydex.build indexes them in one process"
        )
    if compute.any(compute.ends_with(letters, b"\0")).as_py():
        raise InvalidArgument(f"{argument}: strings that end in a NUL byte are not told from shorter ones")
    fixed = column_of(look(argument, _fixed(letters)), 0, want, copies=True, role=role)
    there = None if letters.null_count == 0 else np.asarray(letters.is_valid())
    array, exact = host_cells(fixed)
    return Cells(array, in_both(there, exact), fixed.key, fixed.before)


def order_of(argument: str, partition: Any) -> Cells:
    """As `cells_of`, of the first 8 bytes of any strings: equal keys have equal ones."""
    if _is_untyped(partition):
        return cells_of(argument, partition)
    source = _looked_at(argument, partition)
    if not isinstance(source.cells, StringCells):
        cells = cells_of(argument, partition)
        if cells.key.time is None:
            return cells
        # Equal times of two units have to be of one dtype of NumPy's to be equal here.
        return cells._replace(array=cells.array.astype("i8").view(cells.key.time.dtype))
    letters = compute.binary_slice(_letters(partition), 0, most_bytes)
    there = None if letters.null_count == 0 else np.asarray(letters.is_valid())
    array = _fixed(letters)
    return Cells(array, there, Key(array.dtype))
