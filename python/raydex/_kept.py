# SPDX-License-Identifier: Apache-2.0
"""What a file or a pickle of an index has beside the library's own part: a note of what its keys stand for."""

from __future__ import annotations

import json
import operator
import os
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import numpy as np
import numpy.typing as npt

from raydex._arrow import strings_in
from raydex._devices import Device, check_available, parse_device
from raydex._dictionaries import Dictionary
from raydex._errors import InvalidType
from raydex._keys import Key, format_of, key_of_facts

NO_FACTS: Mapping[str, Any] = MappingProxyType({})
MAGIC = b"raydex python 1\n"
"""What notes begin with; others are of programs in C++."""


def path_of(path: Any) -> bytes:
    try:
        return os.fsencode(path)
    except TypeError:
        raise InvalidType(f"path: {type(path).__name__} is none; give the name of a file") from None


def device_of(device: Any) -> Device:
    """Where a user wants an index that no column says a place for."""
    backend, number = parse_device(device)
    check_available(backend)
    return Device(backend, None if backend == "cpu" else number or 0)


def note_of(facts: dict[str, Any], arrays: tuple[npt.NDArray[Any], ...] = ()) -> bytes:
    text = json.dumps(facts).encode()
    text += b" " * (-(len(MAGIC) + 8 + len(text)) % 8)  # arrays are aligned
    return b"".join([MAGIC, len(text).to_bytes(8, "little"), text, *(one.tobytes() for one in arrays)])


def facts_of(note: bytes) -> tuple[dict[str, Any], int] | None:
    """What a note says, and where its arrays begin; None of other notes. Raises ValueError for what is cut off."""
    if not note.startswith(MAGIC):
        return None
    begin = len(MAGIC) + 8
    end = begin + int.from_bytes(note[len(MAGIC) : begin], "little")
    return (dict(json.loads(note[begin:end])), end)


def key_in(facts: dict[str, Any], name: str) -> Key:
    """The key of a note, whose index has codes of the format of that name."""
    key = key_of_facts(facts["key"])
    if name not in (("uint32", "uint64") if key.dtype is None else (format_of(key),)):
        raise ValueError("a key of another type")
    return key


def key_of_format(name: str) -> Key:
    if name.startswith("bytes"):
        return Key(np.dtype(f"S{name[5:]}"), is_whole=True)
    return Key(np.dtype({"float": "float32", "double": "float64"}.get(name, name)))


def dictionary_of(
    note: bytes, begin: int, sizes: Any, key: Key, by_row: bool, device: Device, stream: int
) -> Dictionary:
    """That of the strings behind a note."""
    letters_size, count = (operator.index(one) for one in sizes)
    if letters_size < 0 or count < 1 or begin + 8 * count + letters_size != len(note):
        raise ValueError("strings that are not all there")
    letters = np.frombuffer(note, "u1", letters_size, begin + 8 * count)
    offsets = np.frombuffer(note, "i8", count, begin)
    if offsets[0] != 0 or offsets[-1] != letters_size or bool((offsets[1:] < offsets[:-1]).any()):
        raise ValueError("strings that lie nowhere")
    cells = strings_in(letters, offsets, None, key.unit)
    words = Dictionary.of_host(cells, device, stream, by_row)
    if words.size != count - 1:
        raise ValueError("strings that are not different")
    return words
