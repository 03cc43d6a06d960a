# SPDX-License-Identifier: Apache-2.0
"""What routes and answers are computed with: NumPy in host memory, PyTorch for its tensors, also on GPUs, where work
goes to its current stream."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
import numpy.typing as npt

from raydex._array_libraries import ArrayLibrary, Dtype, TorchLibrary, is_of, torch_dtype


class HostArrays(ArrayLibrary):
    """NumPy, and what both libraries are asked."""

    def arange(self, size: int, begin: int = 0, dtype: Dtype = "int64") -> Any:
        return np.arange(begin, begin + size, dtype=dtype)

    def full(self, size: int, value: Any, dtype: Dtype) -> Any:
        return np.full(size, value, dtype)

    def view(self, x: Any, dtype: Dtype) -> Any:
        """The same bits as cells of another type."""
        return x.view(dtype)

    def put(self, x: Any, positions: Any, cells: Any) -> None:
        x[positions] = cells

    def repeat(self, x: Any, counts: Any) -> Any:
        return np.repeat(x, counts)

    def running(self, counts: Any) -> Any:
        """0, and the sums of the first 1, 2, ... counts; int64."""
        sums = np.zeros(len(counts) + 1, "int64")
        np.cumsum(counts, out=sums[1:])
        return sums

    def concatenate(self, arrays: list[Any]) -> Any:
        return np.concatenate(arrays)

    def where(self, which: Any, yes: Any, no: Any) -> Any:
        return np.where(which, yes, no)

    def largest(self, x: Any) -> Any:
        """Of each column of a matrix."""
        return x.max(axis=0)

    def larger(self, x: Any, y: Any) -> Any:
        return np.maximum(x, y)

    def nonzero(self, which: Any) -> Any:
        return np.flatnonzero(which)

    def unique(self, x: Any) -> Any:
        """The distinct keys of an array, in any order."""
        return np.unique(x)

    def owners(self, splitters: npt.NDArray[Any], x: Any) -> Any:
        """How many of the ascending splitters are not greater than each key; NaN is the greatest one."""
        return np.searchsorted(splitters, x, side="right")

    def order(self, x: Any) -> Any:
        """Signed integers that have the order of keys."""
        kind = x.dtype.kind
        if kind == "S":
            x, kind = x.astype("S8").view(">u8").astype("u8"), "u"
        if kind in "mM":
            return x.view("int64")
        if kind == "u":
            signed = x.view(f"i{x.itemsize}")
            return signed ^ np.iinfo(signed.dtype).min
        if kind != "f":
            return x
        plain = np.where(x != x, x.dtype.type(np.nan), x + x.dtype.type(0))  # of one NaN and one zero
        bits = plain.view(f"i{x.itemsize}")
        return bits ^ ((bits >> (8 * x.itemsize - 1)) & np.iinfo(bits.dtype).max)

    def same(self, x: Any, y: Any) -> Any:
        """Whether keys are equal; NaN equals NaN."""
        equal = x == y
        if x.dtype.kind == "f":
            equal |= (x != x) & (y != y)
        return equal

    def segment_sums(self, x: Any, offsets: Any) -> Any:
        """The sum of `x[offsets[i]:offsets[i + 1]]` for each i, 0 where there is nothing; of integers modulo
        2^64."""
        if x.dtype.kind != "f":
            return np.diff(self.running(x)[offsets])
        sums = np.zeros(len(offsets) - 1, x.dtype)
        filled = np.flatnonzero(offsets[1:] > offsets[:-1])
        if len(filled):
            sums[filled] = np.add.reduceat(x, offsets[filled])
        return sums

    def to_host(self, x: Any) -> npt.NDArray[Any]:
        return np.asarray(x)


class TorchArrays(TorchLibrary):
    """PyTorch, asked the same."""

    def arange(self, size: int, begin: int = 0, dtype: Dtype = "int64") -> Any:
        return self.module.arange(begin, begin + size, dtype=torch_dtype(dtype), device=self.torch_device)

    def full(self, size: int, value: Any, dtype: Dtype) -> Any:
        return self.module.full((size,), value, dtype=torch_dtype(dtype), device=self.torch_device)

    def view(self, x: Any, dtype: Dtype) -> Any:
        return x.view(torch_dtype(dtype))

    def _bits(self, x: Any) -> Any:
        """Floating keys as integers that are equal where they are: of one NaN and one zero."""
        plain = self.module.where(x != x, float("nan"), x + 0.0)
        return plain.view(torch_dtype(f"int{8 * x.element_size()}"))

    def order(self, x: Any) -> Any:
        kind = self.dtype(x).kind
        if kind == "u":
            signed = self.signed(x)
            return signed ^ self.module.iinfo(signed.dtype).min
        if kind != "f":
            return x
        bits = self._bits(x)
        return bits ^ ((bits >> (8 * x.element_size() - 1)) & self.module.iinfo(bits.dtype).max)

    def put(self, x: Any, positions: Any, cells: Any) -> None:
        self.signed(x)[positions] = self.signed(cells)

    def repeat(self, x: Any, counts: Any) -> Any:
        return self.module.repeat_interleave(self.signed(x), counts).view(x.dtype)

    def running(self, counts: Any) -> Any:
        sums = self.full(len(counts) + 1, 0, "int64")
        self.module.cumsum(self.signed(counts), 0, out=sums[1:])
        return sums

    def concatenate(self, arrays: list[Any]) -> Any:
        return self.module.cat([self.signed(one) for one in arrays]).view(arrays[0].dtype)

    def where(self, which: Any, yes: Any, no: Any) -> Any:
        return self.module.where(which, yes, no)

    def largest(self, x: Any) -> Any:
        return x.amax(0)

    def larger(self, x: Any, y: Any) -> Any:
        return self.module.maximum(x, y)

    def nonzero(self, which: Any) -> Any:
        return self.module.nonzero(which).reshape(-1)

    def unique(self, x: Any) -> Any:
        bits = self._bits(x) if self.dtype(x).kind == "f" else self.signed(x)
        return self.module.unique(bits).view(x.dtype)

    def owners(self, splitters: npt.NDArray[Any], x: Any) -> Any:
        return self.module.searchsorted(self.order(self.from_host(splitters)), self.order(x), right=True)

    def same(self, x: Any, y: Any) -> Any:
        return self.order(x) == self.order(y)

    def segment_sums(self, x: Any, offsets: Any) -> Any:
        if self.dtype(x).kind != "f":
            sums = self.running(x)[offsets]
            return sums[1:] - sums[:-1]
        return self.module.segment_reduce(x, "sum", offsets=offsets, axis=0, initial=0)

    def to_host(self, x: Any) -> npt.NDArray[Any]:
        found: npt.NDArray[Any] = x.cpu().numpy()
        return found


def in_both(one: Any, other: Any) -> Any:
    """Of two masks which cells are there in both; None: all."""
    return other if one is None else one if other is None else one & other


Arrays = HostArrays | TorchArrays
HOST_ARRAYS = HostArrays()
_torch_arrays = functools.lru_cache(maxsize=None)(TorchArrays)


def arrays_of(x: Any) -> Arrays:
    """The library of an array, and where that computes."""
    if is_of("torch", x, "Tensor"):
        return _torch_arrays(x.get_device() if x.is_cuda else None)
    return HOST_ARRAYS
