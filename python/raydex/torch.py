# SPDX-License-Identifier: Apache-2.0
"""Searches, lookups and joins as operators of PyTorch, which `torch.compile` takes whole.

    >>> import torch, raydex, raydex.torch
    >>> index = raydex.build(torch.tensor([50, 20, 40, 20, 30]))
    >>> raydex.torch.lookup(index, torch.tensor([20, 60]))  # also within what torch.compile compiles
    tensor([ 1, -1])

The operators are `torch.ops.raydex.searchsorted`, `isin`, `lookup`, `join` and `join_index`, with kernels for shapes
alone; the functions here call them. Tensors are on the CPU or on a GPU, where work goes to the current stream. Outside
of compiled code `raydex.searchsorted` and its siblings answer the same, with less work a call.

Answers are numbers and have no gradient, so that tensors that require one are refused, but for the values of `lookup`.
Needs PyTorch 2.4 or later.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

from raydex import _joins, _searching
from raydex._errors import InvalidArgument, Unsupported
from raydex._index import Index, index_of
from raydex._joined import JoinRows
from raydex.typing import ColumnLike, How, KeyColumns, Side, Tensor

__all__ = ["isin", "join", "lookup", "searchsorted"]

torch: Any = importlib.import_module("torch")

# On a GPU these may wait for the stream, which a CUDA graph must not.
_WAITS: Any = [torch.Tag.cudagraph_unsafe] if hasattr(torch.Tag, "cudagraph_unsafe") else []


def _operator(
    schema: str, call: Callable[..., Any], shapes: Callable[..., Any], tags: Any = ()
) -> Callable[..., Any]:
    """Defines an operator of a schema, with what it calls, and what makes empty tensors of the same shapes."""
    name = f"raydex::{schema.partition('(')[0]}"
    torch.library.define(name, schema[schema.index("(") :], tags=[torch.Tag.pt2_compliant_tag, *tags])
    torch.library.impl(name, "default", call)
    torch.library.register_fake(name, shapes)
    found: Callable[..., Any] = getattr(torch.ops.raydex, name.partition("::")[2])
    return found


def _search(a: Any, v: Any, right: bool = False) -> Any:
    found: Any = _searching.searchsorted(a.detach(), v.detach().reshape(-1), "right" if right else "left")
    return found.reshape(v.shape)


def _find(elements: Any, test_elements: Any, invert: bool = False) -> Any:
    found: Any = _searching.isin(elements.detach().reshape(-1), test_elements.detach().reshape(-1), invert=invert)
    return found.reshape(elements.shape)


def _first(points: Any, index: int, values: int | None = None) -> Any:
    asked = index_of(index)
    if values is not None:
        asked._check_values(values)
    return asked.first(points.detach().reshape(-1)).reshape(points.shape)


def _rows_of(found: Any, like: Any) -> tuple[Any, Any]:
    return (found.probe, like.new_empty(0, dtype=torch.int64) if found.build is None else found.build)


def _match(build: list[Any], probe: list[Any], how: str = "inner") -> tuple[Any, Any]:
    left, right = [x.detach() for x in build], [x.detach() for x in probe]
    return _rows_of(_joins.join(left, right, how), right[0])  # type: ignore[call-overload]


def _match_index(index: int, probe: Any, how: str = "inner") -> tuple[Any, Any]:
    return _rows_of(_joins.join(index_of(index), probe.detach(), how), probe)  # type: ignore[call-overload]


def _as_numbers(like: Any, *_: Any) -> Any:
    return like.new_empty(like.shape, dtype=torch.int64)


def _any_rows(like: Any, how: str) -> tuple[Any, Any]:
    rows = like.new_empty(torch.library.get_ctx().new_dynamic_size(), dtype=torch.int64)
    return (rows, like.new_empty(0, dtype=torch.int64) if how in ("semi", "anti") else torch.empty_like(rows))


_searchsorted = _operator(
    "searchsorted(Tensor a, Tensor v, bool right=False) -> Tensor", _search, lambda a, v, right=False: _as_numbers(v),
    _WAITS,
)  # fmt: skip
_isin = _operator(
    "isin(Tensor elements, Tensor test_elements, bool invert=False) -> Tensor", _find,
    lambda elements, test_elements, invert=False: elements.new_empty(elements.shape, dtype=torch.bool), _WAITS,
)  # fmt: skip
_lookup = _operator("lookup(Tensor points, SymInt index, SymInt? values=None) -> Tensor", _first, _as_numbers)
_join = _operator(
    'join(Tensor[] build, Tensor[] probe, str how="inner") -> (Tensor, Tensor)', _match,
    lambda build, probe, how="inner": _any_rows(probe[0], how), _WAITS,
)  # fmt: skip
_join_index = _operator(
    'join_index(SymInt index, Tensor probe, str how="inner") -> (Tensor, Tensor)', _match_index,
    lambda index, probe, how="inner": _any_rows(probe, how), _WAITS,
)  # fmt: skip


def _refuse_gradients(**tensors: Any) -> None:
    if torch.is_grad_enabled():
        for name, x in tensors.items():
            if isinstance(x, torch.Tensor) and x.requires_grad:
                raise Unsupported(
                    f"{name}: it requires a gradient, and answers in numbers of rows have none; give {name}.detach()"
                )


def searchsorted(a: ColumnLike, v: Tensor, side: Side = "left", *, right: bool = False) -> Tensor:
    """Where to insert the elements of `v` into the sorted `a`, as `raydex.searchsorted`.

    Parameters
    ----------
    a
        A sorted tensor of one dimension, on any device.
    v
        Values, of any shape, on the same device.
    side
        `left`: before equal elements of `a`; `right`: behind them.
    right
        The same in PyTorch's word: True is `side="right"`.

    Returns
    -------
    tensor of int64, of the shape of `v`
        What `torch.searchsorted` answers for an `a` of one dimension, but that NaN come last, as `torch.sort` has them.

    Raises
    ------
    InvalidArgument, InvalidType, Unsupported, OutOfMemory, CudaError
        As `raydex.searchsorted`, and for a tensor that requires a gradient.

    Cost
    ----
    As of `raydex.searchsorted`. On a GPU it is left out of CUDA graphs, since a tree over 2^22 elements or more waits
    for the stream.
    """
    _refuse_gradients(a=a, v=v)
    if side not in ("left", "right"):
        raise InvalidArgument(f"side: {side!r} is neither 'left' nor 'right'")
    found: Tensor = _searchsorted(a, v, right or side == "right")
    return found


def isin(elements: Tensor, test_elements: ColumnLike, *, invert: bool = False) -> Tensor:
    """Whether each element is one of `test_elements`, as `raydex.isin` and `torch.isin`.

    Parameters
    ----------
    elements
        Values, of any shape, on any device.
    test_elements
        Values to look for, of any shape, on the same device.
    invert
        Whether True is for elements that are none of `test_elements`.

    Returns
    -------
    tensor of bool, of the shape of `elements`
        NaN is in nothing.

    Raises
    ------
    InvalidArgument, InvalidType, Unsupported, OutOfMemory, CudaError
        As `raydex.isin`, and for a tensor that requires a gradient.

    Cost
    ----
    As of `raydex.isin`: a hash table or the like is made for the call. On a GPU that may wait for the stream, and is
    left out of CUDA graphs.
    """
    _refuse_gradients(elements=elements, test_elements=test_elements)
    found: Tensor = _isin(elements, test_elements, invert)
    return found


def lookup(index: Index, points: Tensor, values: Tensor | None = None, fill_value: object = 0) -> Tensor:
    """The first row of each point, or with `values` the cells of that row.

    Parameters
    ----------
    index
        Of `raydex.build`. Keep it as long as what was compiled with it, which does not: when the last reference goes it
        is freed, and what was compiled raises. An edit is seen by the next call.
    points
        Keys of the dtype of the index, of any shape, on its device.
    values
        A tensor with a cell, or a row of more dimensions, for each row of the index. It may require a gradient.
    fill_value
        What stands for a point that no row has; of the dtype of `values`.

    Returns
    -------
    tensor of int64, of the shape of `points`
        Rows, -1 where there is none; with `values` a tensor of their dtype, and of the shape of `points` and then that
        of a cell.

    Raises
    ------
    InvalidArgument, InvalidType, Unsupported, OutOfMemory, CudaError
        As `raydex.Index.first`; for fewer values than rows; for an index that is gone; and for points that require a
        gradient.

    Cost
    ----
    As of `raydex.Index.first`; with `values` a read a point. On a GPU nothing waits, so that CUDA graphs may
    have it: what is captured reads the memory of the index, which must be neither edited nor closed then.
    """
    _refuse_gradients(points=points)
    cells: Any = values
    rows: Any = _lookup(points, index._number, None if cells is None else cells.shape[0])
    found: Tensor = rows if cells is None else _cells(cells, rows, fill_value)
    return found


def _cells(values: Any, rows: Any, fill_value: Any) -> Any:
    if values.shape[0] == 0:
        return values.new_full((*rows.shape, *values.shape[1:]), fill_value)
    there = (rows >= 0).reshape(*rows.shape, *(1 for _ in values.shape[1:]))
    return torch.where(there, values[rows.clamp(min=0)], fill_value)


def join(build: KeyColumns, probe: KeyColumns, how: How = "inner") -> JoinRows:
    """Joins two tables by equal keys, as `raydex.join`.

    Parameters
    ----------
    build, probe
        A tensor of one dimension each, or up to 16 of them as a list or a tuple. `build` is indexed; it may be an index
        of `raydex.build` over one column, which is to be kept as for `lookup`.
    how
        `inner`, `left`, `right`, `full` (or `outer`), `semi` or `anti`, as of `raydex.join`.

    Returns
    -------
    JoinRows
        `probe` and `build`, tensors of int64 in the order of the probe rows; -1 where a left, right or full join has no
        row, and `build` None for semi and anti joins. In compiled code their size is one that is not known before.

    Raises
    ------
    InvalidArgument, InvalidType, Unsupported, OutOfMemory, CudaError
        As `raydex.join`, and for a tensor that requires a gradient.

    Cost
    ----
    As of `raydex.join`. On a GPU it waits for the stream, to learn the size, and is left out of CUDA graphs.
    """
    probes = [probe] if isinstance(probe, torch.Tensor) else list(probe)
    builds = [] if isinstance(build, Index) else [build] if isinstance(build, torch.Tensor) else list(build)
    for side, columns in (("build", builds), ("probe", probes)):
        for x in columns:
            _refuse_gradients(**{side: x})
    if isinstance(build, Index):
        if len(probes) != 1:
            raise InvalidArgument(f"probe: {len(probes)} columns, but the index has keys of one")
        rows, build_rows = _join_index(build._number, probes[0], how)
    else:
        rows, build_rows = _join(builds, probes, how)
    return JoinRows(rows, None if how in ("semi", "anti") else build_rows)
