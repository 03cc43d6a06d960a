# SPDX-License-Identifier: Apache-2.0
"""Indexes in files and pickles: what the library's file does not know of an index goes into its note."""

from __future__ import annotations

import json
import os
from typing import Any

import numpy as np
import numpy.typing as npt

from raydex import _raydex
from raydex._arguments import flag
from raydex._array_libraries import HOST
from raydex._arrow import strings_in
from raydex._columns import column_of
from raydex._composite import CompositeIndex, Packing
from raydex._devices import Device, check_available, parse_device, stream_number
from raydex._dictionaries import Dictionary
from raydex._errors import InvalidArgument, InvalidType, Unsupported
from raydex._index import Index
from raydex._keys import Key, facts_of_key, format_of, key_of_facts
from raydex._sources import Source
from raydex.typing import DeviceLike, StreamLike

_MAGIC = b"raydex python 1\n"  # of notes; what else a file has there is of others


def load(
    path: str | os.PathLike[str], device: DeviceLike = "cpu", stream: StreamLike = None, *, verify: bool = True
) -> Index:
    """Opens the file of an index, which `Index.save` wrote.

        >>> import raydex, tempfile, os
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = os.path.join(folder, "prices.index")
        ...     raydex.build([50, 20, 40, 20, 30]).save(path)
        ...     with raydex.load(path) as index:
        ...         index.count([20, 35], [20, 50])
        array([2, 2])

    Parameters
    ----------
    path
        The file. An index in host memory maps it: it may be replaced or removed while the index is open, but must not
        be changed in place.
    device
        Where the index is to be: `cpu`, `cuda`, `cuda:0`, or `optix` for `rx` and `cgrx`. It need not be where it was.
    stream
        Of a GPU: the stream of the copies, on which the index frees its memory.
    verify
        Whether all of the file is read and verified before anything is used: checksums, and that no row, node or
        place leads out of its memory. So no file, be it damaged or made by somebody to do harm, gives a wrong answer
        in silence by a changed bit, or ends the process. Without it only what the file says of itself is verified,
        and the file has to be from who is trusted; an index in host memory is then open at once, whatever its size.

    Returns
    -------
    Index, or CompositeIndex
        As it was saved. On the CPU edits copy what they change; the file stays as it is.

    Raises
    ------
    InvalidArgument
        For a file that is none, of another version, cut off or changed; the message names the part.
    Unsupported
        Where the structure is not on the device: `rx` and `cgrx` are on `cpu` and `optix`, others on `cpu` and `cuda`.

    Cost
    ----
    With `verify` a read of the file, and two of its entries; without it none. `rx` and `cgrx` build their scene, and an
    index of texts of more than 8 bytes the dictionary of them, in any case.
    """
    flag("verify", verify)
    try:
        name = os.fsencode(path)
    except TypeError:
        raise InvalidType(f"path: {type(path).__name__} is none; give the name of a file") from None
    target = _device_of(device)
    number, kept = _stream_of(stream, target)
    native, note = target.run(_raydex.Index.load, target.backend, target.session(), number, name, bool(verify))
    return _index_of(native, note, target, number, kept)


def save(index: Index, path: str | os.PathLike[str]) -> None:
    """See `Index.save`."""
    try:
        name = os.fsencode(path)
    except TypeError:
        raise InvalidType(f"path: {type(path).__name__} is none; give the name of a file") from None
    with index._changes:
        note = _note_of(index)
        index._device.run(index._native.save, index._session, index._stream, name, note)


def to_bytes(index: Index) -> bytes:
    """What `save` would write."""
    with index._changes:
        note = _note_of(index)
        kept: bytes = index._device.run(index._native.to_bytes, index._session, index._stream, note)
    return kept


def from_bytes(kept: bytes, device: str, verify: bool = True) -> Index:
    """An index of them; what a pickle calls."""
    target = _device_of(device)
    native, note = target.run(_raydex.Index.from_bytes, target.backend, target.session(), 0, kept, verify)
    return _index_of(native, note, target, 0, None)


def _device_of(device: Any) -> Device:
    backend, number = parse_device(device)
    check_available(backend)
    return Device(backend, None if backend == "cpu" else number or 0)


def _stream_of(stream: Any, target: Device) -> tuple[int, Any]:
    if stream is None:
        return (0, None)
    if target.number is None:
        raise InvalidArgument(f"stream: {stream!r}, but an index in host memory has none; leave it out")
    return (stream_number(stream), stream)


# ---- notes


def _note_of(index: Index) -> bytes:
    """What the library does not know: what its keys stand for."""
    index._check_open()
    if index._is_hashed:
        raise Unsupported(
            "save: strings that are found by a hash are read where the column has them; keep the column and build the "
            "index again, or build it with structure='auto'"
        )
    facts: dict[str, Any] = {}
    arrays: list[npt.NDArray[Any]] = []
    if isinstance(index, CompositeIndex):
        facts["composite"] = index._packing.kept()
    else:
        facts["key"] = facts_of_key(index._key)
        if index._words is not None:
            offsets, letters = index._words.strings()
            arrays = [offsets, letters]
            facts["strings"] = [len(letters), len(offsets)]
    text = json.dumps(facts).encode()
    text += b" " * (-(len(_MAGIC) + 8 + len(text)) % 8)  # arrays are aligned
    return b"".join([_MAGIC, len(text).to_bytes(8, "little"), text, *(one.tobytes() for one in arrays)])


def _index_of(native: Any, note: bytes, device: Device, stream: int, kept: Any) -> Index:
    info = native.info()
    if not note.startswith(_MAGIC):  # a program in C++ wrote it
        return Index(native, device, _key_of_format(info[2]), kept, stream)
    begin = len(_MAGIC) + 8
    size = int.from_bytes(note[len(_MAGIC) : begin], "little")
    try:
        facts = json.loads(note[begin : begin + size])
        if "composite" in facts:
            packing = Packing.of_kept(facts["composite"], device)
            if str(packing.native.format) != info[2]:
                raise ValueError("columns of other keys")
            return CompositeIndex(native, packing, kept, stream)
        key = key_of_facts(facts["key"])
        words = None
        if key.dtype is None:
            words = _dictionary_of(note, begin + size, facts["strings"], key, device)
        elif format_of(key) != info[2]:
            raise ValueError("a key of another type")
    except (ValueError, TypeError, KeyError, RecursionError) as problem:
        raise InvalidArgument(f"path: section 'note': it is none of an index: {problem}") from None
    return Index(native, device, key, kept, stream, words=words)


def _key_of_format(name: str) -> Key:
    if name.startswith("bytes"):
        return Key(np.dtype(f"S{name[5:]}"), is_whole=True)
    return Key(np.dtype({"float": "float32", "double": "float64"}.get(name, name)))


def _dictionary_of(note: bytes, begin: int, sizes: Any, key: Key, device: Device) -> Dictionary:
    if device.number is not None:
        raise Unsupported("device: strings of any length are keys of indexes in host memory alone; load it on the cpu")
    letters_size, count = (int(one) for one in sizes)
    if letters_size < 0 or count < 1 or begin + 8 * count + letters_size != len(note):
        raise ValueError("strings that are not all there")
    letters = np.frombuffer(note, "u1", letters_size, begin + 8 * count)
    offsets = np.frombuffer(note, "i8", count, begin)
    if offsets[0] != 0 or offsets[-1] != letters_size or bool((np.diff(offsets) < 0).any()):
        raise ValueError("strings that lie nowhere")
    cells = strings_in(letters, offsets, None, key.unit)
    words, _ = Dictionary.of(column_of(Source("keys", None, HOST, cells), 0), 0, device)
    if words.size != count - 1:
        raise ValueError("strings that are not different")
    return words
