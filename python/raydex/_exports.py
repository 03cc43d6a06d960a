# SPDX-License-Identifier: Apache-2.0
"""Rows as Arrow has them. pyarrow is imported only where it is asked for."""

from __future__ import annotations

import importlib
from typing import Any

from raydex._arrow import HostCells
from raydex._columns import look
from raydex._errors import InvalidArgument


def _pyarrow() -> Any:
    return importlib.import_module("pyarrow")


def _rows_to_arrow(name: str, rows: Any) -> Any:
    """Rows of host memory as an array of int64 that shares it, with null where there is no row, which is
    -1."""
    source = look(name, rows)
    if source.world.device is not None or not isinstance(source.cells, HostCells):
        raise InvalidArgument(
            f"{name}: in {source.world.where()}, and Arrow's arrays are in host memory; "
            f"{source.world.copy_hint(None)}"
        )
    array = source.cells.array
    return _pyarrow().array(array, mask=array < 0)


def lists_to_arrow(offsets: Any, rows: Any) -> Any:
    """A list of rows a probe."""
    lists = _pyarrow().LargeListArray
    return lists.from_arrays(_rows_to_arrow("offsets", offsets), _rows_to_arrow("rows", rows))


def pairs_to_arrow(probe: Any, build: Any) -> Any:
    """A table of the rows of a join."""
    columns = {"probe": _rows_to_arrow("probe", probe)}
    if build is not None:
        columns["build"] = _rows_to_arrow("build", build)
    return _pyarrow().table(columns)
