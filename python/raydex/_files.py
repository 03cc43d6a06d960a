# SPDX-License-Identifier: Apache-2.0
"""Builds files of indexes over columns that are larger than memory."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from raydex import _raydex
from raydex._columns import Column, column_of, key_of, says_nothing, short_texts
from raydex._composite import is_column
from raydex._devices import Device
from raydex._errors import InvalidArgument, InvalidType, Unsupported
from raydex._index import Index
from raydex._kept import note_of, path_of
from raydex._keys import VOID, Key, facts_of_key
from raydex._loading import load
from raydex._runs import replacing
from raydex._sources import Source, look

_TEXTS = Key(np.dtype("S8"))  # of all chunks, whatever their widest one
_PIECE = 1 << 22  # cells of an array that are looked at together
_POWERS = {"": 1, **{unit: 1000 ** (i + 1) for i, unit in enumerate("KMGT")}}
_POWERS |= {f"{unit}i": 1024 ** (i + 1) for i, unit in enumerate("KMGT")}


def build_file(
    chunks: Any,
    path: str | os.PathLike[str],
    *,
    memory: int | str = "1GiB",
    spill: str | os.PathLike[str] | None = None,
) -> Index:
    """Builds an index over a column that need not fit the memory, in a file, and opens that.

        >>> import numpy as np, raydex, tempfile, os
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = os.path.join(folder, "prices.index")
        ...     chunks = (np.arange(i, i + 1000) % 7 for i in range(0, 5000, 1000))
        ...     with raydex.build_file(chunks, path, memory="256MiB") as index:
        ...         index.count([3, 8])
        array([714,   0])

    Parameters
    ----------
    chunks
        The chunks of the column, one after the other: any iterable of what `raydex.build` takes as one column in host
        memory. Also what has its chunks in itself: a ChunkedArray, a RecordBatchReader, a scanner, a dataset or
        ParquetFile of pyarrow with one column; an array of NumPy, such as a `memmap`; the path of a `.npy` file. Rows
        are numbered on from chunk to chunk.

        All chunks are of one type. Texts have up to 8 bytes. Missing cells are as in `raydex.build`.
    path
        The file, which is written whole or not at all, as `Index.save` does it.
    memory
        The most memory that the build allocates, in bytes, or as "4GiB" or "512 MB"; 1 MiB at least. A chunk itself,
        and what the system caches of files, are not counted.
    spill
        A folder on a disk with room for what does not fit the memory, 12 bytes a row of 64-bit keys; by default that
        of the file. What is spilled has no name, so that nothing of it is left, however the process ends; of a process
        that is killed while it writes the file, a file `.raydex-*` is left beside that.

    Returns
    -------
    Index
        A `sorted_array` that maps the file, as `raydex.load(path, verify=False)` does; from 2^32 rows on it copies the
        entries to memory.

    Raises
    ------
    InvalidArgument, InvalidType
        For chunks of different types, and for what is no memory or folder.
    Unsupported
        For texts of more than 8 bytes, UUIDs, long decimals, columns on a GPU, and several columns.
    Error
        If a disk is full; it names the folder of what is spilled, or the file. What was at the path is still there.

    Cost
    ----
    A sort of runs of as many rows as half of the memory holds, and a merge of them. If there are several, each row is
    written to the disk twice and read once, besides the read of the chunks.

    Notes
    -----
    Ctrl-C ends a build. A lookup halves the mapped file until what is left is within a page, and so reads some twenty
    pages of 10^9 rows that are not in the page cache.
    """
    name = path_of(path)
    folder = b"" if spill is None else path_of(spill)
    room = _bytes_in(memory)
    builder, key = None, VOID
    typeless: list[Source] = []  # chunks before the first one that says what its cells are
    try:
        for source in _sources_of(chunks):
            if builder is None and says_nothing(source):
                typeless.append(source)
                continue
            if builder is None:
                key = _key_of(source)
                builder = _begin(name, key, room, folder)
                _append(builder, typeless, key)
                typeless = []
            _append(builder, [source], key)
        if builder is None:
            builder = _begin(name, key, room, folder)
            _append(builder, typeless, key)
        with replacing(name) as to:
            builder.finish(note_of({"key": facts_of_key(key), **to.beside}))
    finally:
        if builder is not None:
            builder.close()
    index: Index = load(path, verify=False)
    return index


def _begin(path: bytes, key: Key, memory: int, spill: bytes) -> Any:
    return _raydex.IndexFileBuilder(Device("cpu", None).session(), path, key.native, memory, spill)


def _append(builder: Any, sources: Iterable[Source], key: Key) -> None:
    for source in sources:
        column = _column(source, key)
        builder.append(column.native)  # whose memory the column keeps


def _bytes_in(memory: Any) -> int:
    if isinstance(memory, str):
        found = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*((?:[KMGT]i?)?)B?\s*", memory, re.IGNORECASE)
        if found is None:
            raise InvalidArgument(f"memory: {memory!r} says no size; give bytes, or a text such as '4GiB' or '512 MB'")
        unit = found[2][:1].upper() + found[2][1:].lower()
        return int(min(float(found[1]) * _POWERS[unit], 2.0**63))
    if isinstance(memory, (int, np.integer)) and not isinstance(memory, bool):
        return min(max(int(memory), 0), 2**64 - 1)
    raise InvalidType(f"memory: {memory!r} says no size; give bytes, or a text such as '4GiB' or '512 MB'")


def _sources_of(chunks: Any) -> Iterator[Source]:
    for chunk in _chunks_of(chunks):
        if type(chunk) in (np.ndarray, np.memmap) and chunk.ndim == 1:
            for begin in range(0, max(len(chunk), 1), _PIECE):
                yield _looked_at(np.asarray(chunk[begin : begin + _PIECE]))
        else:
            yield _looked_at(chunk)


def _chunks_of(x: Any) -> Iterable[Any]:
    """The chunks of a column, which some kinds of columns have in themselves."""
    if isinstance(x, (str, os.PathLike)):
        text = os.fspath(x)
        if not text.endswith(".npy"):
            raise InvalidType(
                f"chunks: {text!r} is no .npy file; give what reads it by chunks, as "
                "pyarrow.parquet.ParquetFile(path).iter_batches(columns=['key'])"
            )
        try:
            return [np.load(text, mmap_mode="r")]
        except (OSError, ValueError) as problem:
            raise InvalidArgument(f"chunks: {text}: it cannot be read: {problem}") from None
    for method in ("iter_batches", "to_batches", "iterchunks"):  # of pyarrow
        if hasattr(x, method):
            found: Iterable[Any] = getattr(x, method)()
            return found
    if isinstance(x, (list, tuple)):
        are_several = all(map(is_column, x))
    else:
        are_several = isinstance(x, Iterator) or hasattr(x, "read_next_batch") or not _is_one(x)
    all_of_them: Iterable[Any] = x if are_several else [x]
    return all_of_them


def _is_one(x: Any) -> bool:
    """Whether this is a column, rather than what has chunks."""
    try:
        look("chunk", x)
    except InvalidType:
        if isinstance(x, Iterable):
            return False
        raise
    return True


def _looked_at(chunk: Any) -> Source:
    source = look("chunk", chunk)
    if source.scalar:
        raise InvalidType(f"chunk: {chunk!r} is a single cell; chunks are columns, as [[1, 2], [3]]")
    if source.library.device is not None:
        raise Unsupported("chunk: it is in the memory of a GPU; files are built from host memory, so copy it there")
    return source


def _are_texts(source: Source, key: Key) -> bool:
    return (key.dtype is None and not key.unit) or (source.loose and key.dtype is not None and key.dtype.kind == "S")


def _key_of(source: Source) -> Key:
    own = key_of(source)
    if _are_texts(source, own):
        return _TEXTS
    if own.dtype is None:
        raise Unsupported(f"chunk: {own} are no keys of files by chunks; raydex.build(column).save(path)")
    return own


def _column(source: Source, key: Key) -> Column:
    if says_nothing(source):
        return column_of(source, 0, key, copies=True)
    own = _key_of(source)
    if own != key:
        raise InvalidType(f"chunk: they are {own}, but those of the first chunk {key}; give all of them one type")
    if not _are_texts(source, key_of(source)):
        return column_of(source, 0, copies=True)
    texts = short_texts(source, 0, 8)
    if texts is None:
        raise Unsupported(
            "chunk: texts of more than 8 bytes, or with NUL at the end, take a dictionary of all of them, which is in "
            "memory; raydex.build(column).save(path)"
        )
    return texts
