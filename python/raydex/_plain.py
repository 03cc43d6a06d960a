# SPDX-License-Identifier: Apache-2.0
"""The fast path: arrays that are read as they lie, of NumPy, PyTorch and CuPy. Here alone it is decided which these
are; `raydex._sources` and `_columns` take all others, with the same answers."""

from __future__ import annotations

import functools
import sys
from typing import Any

import numpy as np

from raydex._array_libraries import HOST, ArrayLibrary, Plain, cupy_library, is_of, numpy_dtype, torch_library
from raydex._keys import Key, plain_key

OWN = -1
"""In place of a device's number: the one that the first array is on."""
NOWHERE = -2
"""Likewise: on none are arrays plain."""
NONE = object()
"""In place of a second array: there is none."""

PlainColumns = tuple[ArrayLibrary, Key, Plain, Any]


def plain_columns(
    first: Any, second: Any, stream: Any, device: int | None, key: Key | None = None
) -> PlainColumns | None:
    """The columns of one array or two if they are plain, see `ArrayLibrary.plain`: of one library and one type of
    numbers, on the current device and for its current stream.

    `stream`: as a user gave it. `device`: the number of the GPU that they have to be on; None: in host memory. `key`:
    their type, of numbers, by default that of the first one."""
    if stream is not None:
        return None
    kind: Any = type(first)
    library = _library(kind, _device_of(first) if device == OWN else device)
    if library is None:
        return None
    if key is None:
        key = _plain_key(first.dtype)
    if key is None:
        return None
    column = library.plain(first, key)
    if column is None:
        return None
    if second is NONE:
        return (library, key, column, None)
    other = library.plain(second, key) if type(second) is kind else None
    return None if other is None else (library, key, column, other)


def _device_of(x: Any) -> int | None:
    """The number of the GPU that an array is on, of PyTorch or CuPy; None of others."""
    if type(x) is np.ndarray:
        return None
    if is_of("torch", x, "Tensor"):
        return x.get_device() if x.is_cuda else None
    return x.data.device_id if is_of("cupy", x, "ndarray") else None


@functools.lru_cache(maxsize=64)
def _library(kind: type, device: int | None) -> ArrayLibrary | None:
    """The library of a class of arrays that may be plain."""
    if device == NOWHERE:
        return None
    if kind is np.ndarray:
        return HOST if device is None else None
    if kind is getattr(sys.modules.get("torch"), "Tensor", None):
        return torch_library(device)
    of_cupy = device is not None and kind is getattr(sys.modules.get("cupy"), "ndarray", None)
    return cupy_library(device) if of_cupy else None


@functools.lru_cache(maxsize=64)
def _plain_key(dtype: Any) -> Key | None:
    """The key that cells of a dtype of PyTorch or CuPy are without a conversion."""
    own = dtype if isinstance(dtype, np.dtype) else numpy_dtype(dtype)
    return None if own is None else plain_key(own)
