# SPDX-License-Identifier: Apache-2.0
"""Builds an index over a column."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from raydex import _raydex
from raydex._arguments import option_texts, renamed
from raydex._arrow import HostCells
from raydex._columns import Column, column_of, dtype_of, row_ids_in, short_texts
from raydex._composite import CompositeIndex, Packing, check_columns, columns_of_build
from raydex._devices import Device
from raydex._dictionaries import Dictionary
from raydex._errors import InvalidArgument
from raydex._index import Index
from raydex._progress import shown
from raydex._sources import Source, look, same_device
from raydex.typing import (
    ColumnLike,
    DeviceLike,
    KeyColumns,
    KeyOptions,
    MissingKeys,
    StreamLike,
    StructureName,
    Unpack,
)


@renamed(column_of="column")
def build(
    column: KeyColumns,
    structure: StructureName = "auto",
    device: DeviceLike = None,
    stream: StreamLike = None,
    *,
    rows: ColumnLike = None,
    descending: bool | Sequence[bool] = False,
    missing: MissingKeys | Sequence[MissingKeys] = "unmatched",
    progress: bool = False,
    **options: Unpack[KeyOptions],
) -> Index:
    """Builds an index over a column.

        >>> import raydex
        >>> index = raydex.build([50, 20, 40, 20, 30])
        >>> index.first([20, 60])
        array([ 1, -1])

    Parameters
    ----------
    column
        An array of NumPy, PyTorch or CuPy, a column of pandas, Polars, pyarrow, DuckDB or cuDF, or a list; of one
        dimension. Cells are integers, floating numbers, bool, datetime64, timedelta64, Arrow's dates, times (with
        a zone or without) and durations, decimals, UUIDs, texts, or bytes. They are read where they are.

        NumPy's arrays may be strided or masked. What has `__dlpack__` (JAX, too), `__cuda_array_interface__`
        (Numba), or Arrow's `__arrow_c_array__`, `__arrow_c_stream__` or `__arrow_c_device_array__` is taken. Cells of
        int8, int16, uint8, uint16, float16 and bool are widened to 32 bits by a copy on the same device;
        Arrow's chunks are joined by a copy, and its dictionaries are decoded by one, in host memory.

        Texts, bytes and UUIDs, of a list or any library, are in the order of their bytes. In host memory, strings of
        up to 8 bytes that do not end in NUL are keys by themselves. Others are numbered by a dictionary of them, so
        that probes take a search more, and `insert` of a string that is new builds the index anew. With `hash_open`,
        if no option of it is given, the dictionary finds them by a hash in its place, and answers points alone; mostly
        it is built in less time, and points are about twice as fast. `raydex.starts_with` makes probes of prefixes.
        Categories are in the order of their texts.

        Decimals in host memory (Arrow's of any width, Polars', DuckDB's) are integers of their last digit: of 64 bits
        if all of them fit, else of 128, which are numbered as UUIDs are. Values are compared, whatever the scales, and
        with integers and floating numbers, too, about a microsecond each; among floating keys decimals
        that are none are refused. A list of decimals that all are floating numbers is one of these.

        Lists, and columns of objects of pandas and Polars, are of one kind: numbers, also as `Decimal`, texts,
        bytes, dates, times with or without a zone, durations, times of day, UUIDs, or addresses of `ipaddress` (IPv4
        ones are integers); None is a missing cell. Integers may have up to 128 bits. Each cell is exactly the key that
        it becomes, or the list is refused; as a probe it is compared exactly. NUL bytes at the end of NumPy's byte
        strings are padding.

        Of Arrow's extension types UUIDs and JSON, as text, are taken; others are refused, since nobody
        says when two of their values are equal. An empty column without a type, and one of nothing but
        missing cells, matches nothing. Its old name as a keyword, `column_of`, works as well.

        Up to 16 columns make an index over all of them, a `CompositeIndex`: a tuple or list of columns, a list of
        tuples, a dict, a data frame, a table of Arrow, an array of NumPy with fields, a MultiIndex of pandas. They are
        packed into 32 or 64 bits, in their order: each takes what its span needs, from its smallest value to its
        largest one. Where that is more, columns are counted in steps, the largest ones that all their values are apart
        by: days that are given in nanoseconds, whole numbers among floating ones. Strings of any length are numbered by
        a dictionary. So are columns whose values are far apart if the bits do not suffice, and at last the different
        keys of the first columns together.
    structure
        A name of `raydex.structures()`, or `auto`: the one that was measured to be the fastest for
        points and ranges.
    device
        Where the index is. By default where the column is, on which nothing else is possible: nothing
        is copied between devices. `"optix"` has rays traced on a GPU; else a GPU's backend is `cuda`
        for all structures that have it.
    stream
        Of a GPU: the stream of the build, a handle or a stream of PyTorch, CuPy or Numba; by default
        the current one of the column's library. The index frees its memory there.
    rows
        Explicit row ids, as many as cells; by default the positions of cells.
    descending
        Of several columns: whether larger values come first, for all or for each of them.
    missing
        Of several columns: what missing cells are, for all or for each of them. `unmatched` ones match nothing, and
        their rows are not in the index; `first` and `last` ones equal each other, before or behind all values.
    progress
        Whether a build of more than half a second shows how far it is, where stderr is a terminal or a
        notebook's.
    options
        Of the structure, by name; `raydex.structures()` has them.

    Returns
    -------
    Index, or CompositeIndex of several columns
        The column may be freed or changed afterwards.

    Raises
    ------
    InvalidArgument, InvalidType
        For a column that is none, and for words and options that are not legal.
    Unsupported, Unavailable
        For what the structure cannot do, and a backend that this machine lacks.
    OutOfMemory, CudaError
        If the device has too little memory, or fails. On `cpu` a build that takes more than the system has left is
        refused before it begins, with what would fit; `raydex.estimate` says what it takes.

    Cost
    ----
    A radix sort of the column, and what the structure lays out; see the structure's own header. Of strings, sorts by
    up to 8 bytes at a time, until they differ, and 25 bytes a row and a copy of them, which UUIDs do without.

    Notes
    -----
    Missing cells are never matched, but where `missing` gives them a place. Ctrl-C ends a build, as it ends queries and
    joins.
    """
    names, sources, are_several = columns_of_build(column)
    if are_several:
        return _build_composite(
            names, sources, structure, device, stream, rows, descending, missing, progress, options
        )  # fmt: skip
    for argument, value, usual in (("descending", descending, False), ("missing", missing, "unmatched")):
        if value != usual:
            raise InvalidArgument(f"{argument}: {value!r}, but there is one column; give a tuple, (column,)")
    [source] = sources
    if source.scalar:
        kind = "text" if isinstance(column, str) else "number"
        of_file = "; of a file, one that pandas or Polars read" if isinstance(column, str) else ""
        raise InvalidArgument(f"column: {column!r} is a single {kind}; give a column, as [x]{of_file}")
    target = source.library.device_for(device, structure)
    number, kept = source.library.stream_for(stream)
    keys = column_of(source, number)
    if keys.key.dtype is None:
        keys = short_texts(source, number) or keys
    with shown("build", keys.size, progress):
        row_ids = _row_ids(rows, source, keys.size, target, number)
        words, column, ids = None, keys.native, row_ids and row_ids.native
        if keys.key.dtype is None:
            by_row = structure == "hash_open" and not options
            ordered = not by_row and rows is None and options.get("layout") != "keys"  # which takes no rows
            words, numbers, in_order = Dictionary.with_entries(keys, number, target, ordered, by_row)
            if by_row and (row_ids is None or row_ids.key.dtype != np.dtype("u8")):
                structure = "direct"  # which, with row ids of 64 bits, has no place for what is left of erased keys
            column, ids = numbers.column, in_order.column if in_order else ids
        native = _native(structure, target, number, column, ids, options)
    return Index(native, target, keys.key, kept, number, words=words)


def _row_ids(rows: Any, source: Source, size: int, target: Device, stream: int) -> Column | None:
    """Explicit ones of so many keys, which are where the source is."""
    if rows is None:
        return None
    row_source = look("rows", rows)
    same_device(source, row_source)
    bits = 32 if size < 2**32 - 1 and _fit_32_bits(row_source, stream) else 64
    made: Column = target.run(row_ids_in, row_source, stream, bits)
    return made


def _native(
    structure: str, target: Device, stream: int, keys: Any, row_ids: Any, options: Mapping[str, object]
) -> _raydex.Index:
    return target.run(
        _raydex.Index, structure, target.backend, target.session(), stream, keys, row_ids,
        option_texts(options, structure, build),
    )  # fmt: skip


def _build_composite(
    names: list[str] | None,
    sources: list[Source],
    structure: str,
    device: Any,
    stream: Any,
    rows: Any,
    descending: Any,
    missing: Any,
    progress: bool,
    options: Mapping[str, object],
) -> CompositeIndex:
    check_columns(sources)
    target = sources[0].library.device_for(device, structure)
    number, kept = sources[0].library.stream_for(stream)
    packing = Packing(names, sources, number, target, descending, missing)
    assert packing.rows is not None
    with shown("build", packing.size, progress):
        row_ids = _row_ids(rows, sources[0], packing.size, target, number)
        native = _native(structure, target, number, packing.rows.column, row_ids and row_ids.native, options)
    packing.rows = None
    return CompositeIndex(native, packing, kept, number)


def _fit_32_bits(rows: Source, stream: int) -> bool:
    dtype = dtype_of(rows, stream)
    if dtype.kind not in "iu" or dtype.itemsize <= 4:  # others are refused
        return True
    if isinstance(rows.cells, HostCells):
        array = np.asarray(rows.cells.array)
        return array.size == 0 or bool(array.max() < 2**32 - 1)
    return False
