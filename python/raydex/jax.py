# SPDX-License-Identifier: Apache-2.0
"""Searches and lookups within functions that JAX compiles, on the CPU and on GPUs.

    >>> import jax, jax.numpy as jnp, raydex, raydex.jax
    >>> index = raydex.build(jnp.array([50, 20, 40, 20, 30]))
    >>> rows = jax.jit(lambda points: raydex.jax.lookup(index, points) + 1)
    >>> rows(jnp.array([20, 60]))
    Array([2, 0], dtype=int32)

They take and give arrays of JAX where these are, under `jit`, `vmap` and `grad`, through XLA's interface of foreign
functions, so that nothing calls Python when what was compiled runs. On a GPU they work on XLA's stream.

Needs JAX 0.5 or later.
"""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np

from raydex import _raydex
from raydex._errors import InvalidArgument, InvalidType, Unsupported
from raydex._index import Index
from raydex._keys import converts, natural_or_none
from raydex.typing import Side

__all__ = ["isin", "lookup", "searchsorted"]

jax: Any = importlib.import_module("jax")
jnp: Any = importlib.import_module("jax.numpy")

for _platform, _handlers in _raydex.jax_handlers().items():
    for _name, _handler in _handlers.items():
        jax.ffi.register_ffi_target(_name, _handler, platform=_platform)

# An index may be an argument of a compiled function: another one has it compiled anew.
jax.tree_util.register_pytree_node(Index, lambda index: ((), index), lambda index, _: index)

_MOST = 2**31


class _Number(np.int64):
    """The number of an index, which keeps it: compiled functions have it among their parameters."""

    index: Index


def _call(name: str, shape: tuple[int, ...], dtype: Any, *arrays: Any, **attributes: Any) -> Any:
    of = jax.ShapeDtypeStruct(shape, dtype)
    return jax.ffi.ffi_call(name, of, vmap_method="expand_dims")(*arrays, **attributes)


def _array(argument: str, x: Any) -> Any:
    """An array of JAX, which nothing is to be differentiated by."""
    if isinstance(x, jax.Array) and not isinstance(x, jax.core.Tracer):
        platforms = {device.platform for device in x.devices()} - {"cpu", "gpu", "cuda"}
        if platforms:
            raise Unsupported(f"{argument}: on {', '.join(platforms)}, and raydex.jax is of the CPU and of CUDA")
    return jax.lax.stop_gradient(jnp.asarray(x))


def _natural(argument: str, dtype: Any) -> Any:
    """The dtype that cells are keys in."""
    if jnp.issubdtype(dtype, jnp.floating) and dtype.itemsize < 4:
        return np.dtype("float32")  # of bfloat16, too
    found = natural_or_none(np.dtype(dtype))
    if found is None or found.kind not in "iuf":
        raise InvalidType(f"{argument}: cells of {dtype} are no keys; numbers are")
    return found


def _alike(**arrays: Any) -> tuple[Any, ...]:
    """Arrays in the type that JAX promotes them to, as keys."""
    both = _natural(" and ".join(arrays), jnp.result_type(*arrays.values()))
    return tuple(x.astype(both) for x in arrays.values())


def _rows(size: int) -> Any:
    """The dtype of positions among so many, as `jax.numpy` has it."""
    return jax.dtypes.canonicalize_dtype("int64") if size >= _MOST else np.dtype("int32")


def searchsorted(a: Any, v: Any, side: Side = "left", sorter: Any = None) -> Any:
    """Where to insert the elements of `v` into the sorted `a`, as `jax.numpy.searchsorted`.

    Parameters
    ----------
    a
        A sorted array of one dimension.
    v
        Values, of any shape.
    side
        `left`: before equal elements of `a`; `right`: behind them.
    sorter
        Positions that sort `a`, as of `jax.numpy.argsort`.

    Returns
    -------
    array of int32, of the shape of `v`
        Of int64, if `a` has 2^31 elements or more. Both are compared in the type that JAX promotes them to; NaN come
        last.

    Raises
    ------
    InvalidArgument, InvalidType, Unsupported
        For a side or a shape that is none, and for complex numbers.

    Cost
    ----
    As of `raydex.searchsorted`: few values are searched for in `a` as it lies, many by a tree that is made for the
    call. Under `vmap` one search, if `a` is the same for all; else one an element of the batch.
    """
    if side not in ("left", "right"):
        raise InvalidArgument(f"side: {side!r} is neither 'left' nor 'right'")
    rows, values = _alike(a=_array("a", a), v=_array("v", v))
    if rows.ndim != 1:
        raise InvalidArgument(f"a: it has {rows.ndim} dimensions, {rows.shape}; it must have one")
    if sorter is not None:
        rows = rows[_array("sorter", sorter)]
    # Numbers of 64 bits as two words: without jax_enable_x64 JAX has no others.
    words = _call(
        "raydex_searchsorted", (*values.shape, 2), np.dtype("uint32"), rows, values, right=np.int64(side == "right")
    )
    dtype = _rows(rows.size)
    return words[..., 0].astype(dtype) if dtype.itemsize == 4 else jax.lax.bitcast_convert_type(words, dtype)


def isin(element: Any, test_elements: Any, assume_unique: bool = False, invert: bool = False) -> Any:
    """Whether each element is one of `test_elements`, as `jax.numpy.isin`.

    Parameters
    ----------
    element
        Values, of any shape.
    test_elements
        Values to look for, of any shape.
    assume_unique
        As of `jax.numpy.isin`; here it changes nothing.
    invert
        Whether True is for elements that are none of `test_elements`.

    Returns
    -------
    array of bool, of the shape of `element`
        Both are compared in the type that JAX promotes them to; NaN is in nothing.

    Raises
    ------
    InvalidType, Unsupported
        For complex numbers.

    Cost
    ----
    As of `raydex.isin`: a hash table or the like over `test_elements`, a lookup an element. Under `vmap` one table, if
    `test_elements` are the same for all; else one an element of the batch.
    """
    values, tests = _alike(element=_array("element", element), test_elements=_array("test_elements", test_elements))
    found = _call("raydex_isin", values.shape, np.dtype("bool"), tests.reshape(-1), values)
    if values.dtype.kind == "f":
        found &= values == values  # which NaN is not
    return ~found if invert else found


def lookup(index: Index, points: Any, values: Any = None, fill_value: Any = 0) -> Any:
    """The first row of each point, or with `values` the cells of that row.

    Parameters
    ----------
    index
        Of `raydex.build`, over numbers in the memory that the points are in. A compiled function keeps those that it
        was compiled with, as long as JAX keeps the function; `close` frees one at once, and what then runs raises. An
        edit is seen by the next call, but not while one runs. It may be an argument of the function, too.
    points
        Keys of the dtype of the index or a narrower one, of any shape.
    values
        An array with a cell, or a row of more dimensions, for each row of the index. It may be differentiated by.
    fill_value
        What stands for a point that no row has; of the dtype of `values`.

    Returns
    -------
    array of int32, of the shape of `points`
        Rows, -1 where there is none; of int64, if the index has rows of 2^31 or more. With `values` an array of their
        dtype, and of the shape of `points` and then that of a cell.

    Raises
    ------
    InvalidArgument, InvalidType, Unsupported
        For points that are no keys of the index, for fewer values than rows, and for a closed index.

    Cost
    ----
    As of `raydex.Index.first`; with `values` a read a point. Points of 32 bits are widened by a copy, if keys
    have 64; on a GPU that takes `jax_enable_x64`.
    """
    rows = _first(index, _array("points", points))
    if values is None:
        return rows
    cells = jnp.asarray(values)
    index._check_values(cells.shape[0])
    return jnp.take(cells, jnp.where(rows < 0, cells.shape[0], rows), axis=0, mode="fill", fill_value=fill_value)


def _first(index: Index, points: Any) -> Any:
    index._check_open()
    key = index._key
    if not key.is_number or key.dtype is None:
        raise InvalidType(f"index: its keys are {key}; arrays of JAX have numbers")
    own = _natural("points", points.dtype)
    if not converts(own, key.dtype) and not converts(np.dtype(points.dtype), key.dtype):
        raise InvalidType(f"points: of {points.dtype}, but the keys of the index are {key}")
    wide = key.dtype.itemsize == 8 and not jax.config.jax_enable_x64
    points = points.astype(own if wide else key.dtype)
    dtype = _rows(index.info.max_row_id + 1)
    if not isinstance(points, jax.core.Tracer):  # which is no reason for JAX to keep the index
        found: Any = index.first(points.reshape(-1))
        found = jnp.asarray(found, dtype) if index._device.number is None else jax.dlpack.from_dlpack(found)
        return found.reshape(points.shape).astype(dtype)
    number = _Number(index._number)
    number.index = index
    device = -1
    if index._device.number is not None:
        device, index._clients = index._device.number, jax.devices("gpu")
    _raydex.name_index(index._number, index._native, device)
    return _call("raydex_first", points.shape, dtype, points, index=number)
