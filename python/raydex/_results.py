# SPDX-License-Identifier: Apache-2.0
"""What results of two arrays have in common: they unpack as a pair does, and are a table to what takes tables."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt


class TwoArrays:
    """Two arrays by name, in the order of `__match_args__`."""

    __slots__ = ()
    __match_args__: tuple[str, ...] = ()

    def _lines(self) -> list[npt.NDArray[Any]]:
        """The columns of its table in host memory."""
        raise NotImplementedError

    def _table(self) -> Any:
        """Its table, of pyarrow."""
        raise NotImplementedError

    def __iter__(self) -> Iterator[Any]:
        return (getattr(self, name) for name in self.__match_args__)

    def __getitem__(self, at: Any) -> Any:
        return tuple(self)[at]

    def __len__(self) -> int:
        return 2

    def __repr__(self) -> str:
        arrays = ", ".join(f"{name}={one!r}" for name, one in zip(self.__match_args__, self))
        return f"{type(self).__name__}({arrays})"

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> npt.NDArray[Any]:
        if copy is False:
            raise ValueError("copy: the columns lie apart")
        columns = self._lines()
        if any(one.dtype.kind == "m" for one in columns):  # beside which NumPy makes durations of rows
            columns = [np.array(list(one), object) for one in columns]
        return np.asarray(np.stack(columns, axis=1), dtype)

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        return self._table().__arrow_c_stream__(requested_schema)
