# SPDX-License-Identifier: Apache-2.0
"""What routes and answers are computed with: NumPy in host memory, PyTorch for its tensors, also on GPUs."""

from __future__ import annotations

import functools
import sys
from typing import Any

import numpy as np
import numpy.typing as npt

from raydex._worlds import is_of


class Arrays:
    """NumPy, and what both libraries are asked."""

    name = "numpy"
    device: Any = None  # None: host memory

    def arange(self, size: int) -> Any:
        return np.arange(size, dtype="int64")

    def full(self, size: int, value: Any, dtype: npt.DTypeLike) -> Any:
        return np.full(size, value, dtype)

    def empty(self, size: int, dtype: npt.DTypeLike) -> Any:
        return np.empty(size, dtype)

    def dtype(self, x: Any) -> np.dtype[Any]:
        of: np.dtype[Any] = x.dtype
        return of

    def cast(self, x: Any, dtype: npt.DTypeLike) -> Any:
        """In another type; no copy where it is of it."""
        return x.astype(dtype, copy=False)

    def view(self, x: Any, dtype: npt.DTypeLike) -> Any:
        """The same bits as cells of another type."""
        return x.view(dtype)

    def take(self, x: Any, places: Any) -> Any:
        return x[places]

    def put(self, x: Any, places: Any, cells: Any) -> None:
        x[places] = cells

    def repeat(self, x: Any, counts: Any) -> Any:
        return np.repeat(x, counts)

    def running(self, counts: Any) -> Any:
        """0, and the sums of the first 1, 2, ... counts; int64."""
        sums = np.zeros(len(counts) + 1, "int64")
        np.cumsum(counts, out=sums[1:])
        return sums

    def concatenate(self, parts: list[Any]) -> Any:
        return np.concatenate(parts)

    def where(self, which: Any, yes: Any, no: Any) -> Any:
        return np.where(which, yes, no)

    def nonzero(self, which: Any) -> Any:
        return np.flatnonzero(which)

    def unique(self, x: Any) -> Any:
        """The distinct keys of an array, in any order."""
        return np.unique(x)

    def owners(self, splitters: npt.NDArray[Any], x: Any) -> Any:
        """How many of the ascending splitters are not greater than each key; NaN is the greatest one."""
        return np.searchsorted(splitters, x, side="right")

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

    def host(self, x: Any) -> npt.NDArray[Any]:
        return np.asarray(x)

    def here(self, x: npt.NDArray[Any]) -> Any:
        """An array of NumPy as one of this library, in its memory."""
        return x


@functools.lru_cache(maxsize=None)
def _torch_dtype(dtype: np.dtype[Any]) -> Any:
    return getattr(sys.modules["torch"], dtype.name)


@functools.lru_cache(maxsize=None)
def _numpy_dtype(dtype: Any) -> np.dtype[Any]:
    return np.dtype(str(dtype).rpartition(".")[2])


class TorchArrays(Arrays):
    """PyTorch, on the host or on a GPU, where work goes to its current stream."""

    name = "torch"

    def __init__(self, device: Any) -> None:
        self._torch: Any = sys.modules["torch"]
        self._on = device
        self.device = None if device.type == "cpu" else device

    def _type(self, dtype: npt.DTypeLike) -> Any:
        return _torch_dtype(np.dtype(dtype))

    def arange(self, size: int) -> Any:
        return self._torch.arange(size, device=self._on)

    def full(self, size: int, value: Any, dtype: npt.DTypeLike) -> Any:
        return self._torch.full((size,), value, dtype=self._type(dtype), device=self._on)

    def empty(self, size: int, dtype: npt.DTypeLike) -> Any:
        return self._torch.empty(size, dtype=self._type(dtype), device=self._on)

    def dtype(self, x: Any) -> np.dtype[Any]:
        return _numpy_dtype(x.dtype)

    def cast(self, x: Any, dtype: npt.DTypeLike) -> Any:
        return x.to(self._type(dtype))

    def view(self, x: Any, dtype: npt.DTypeLike) -> Any:
        return x.view(self._type(dtype))

    def _signed(self, x: Any) -> Any:
        """PyTorch has few operations on unsigned integers."""
        of = self.dtype(x)
        return x.view(self._type(f"int{8 * of.itemsize}")) if of.kind == "u" else x

    def _order(self, x: Any) -> Any:
        """Signed integers that have the order of keys."""
        of = self.dtype(x)
        if of.kind == "u":
            signed = self._signed(x)
            return signed ^ self._torch.iinfo(signed.dtype).min
        if of.kind != "f":
            return x
        plain = self._torch.where(x != x, float("nan"), x + 0.0)  # one NaN, one zero
        bits = plain.view(self._type(f"int{8 * of.itemsize}"))
        return bits ^ ((bits >> (8 * of.itemsize - 1)) & self._torch.iinfo(bits.dtype).max)

    def take(self, x: Any, places: Any) -> Any:
        return self._signed(x)[places].view(x.dtype)

    def put(self, x: Any, places: Any, cells: Any) -> None:
        self._signed(x)[places] = self._signed(cells)

    def repeat(self, x: Any, counts: Any) -> Any:
        return self._torch.repeat_interleave(self._signed(x), counts).view(x.dtype)

    def running(self, counts: Any) -> Any:
        sums = self.full(len(counts) + 1, 0, "int64")
        self._torch.cumsum(self._signed(counts), 0, out=sums[1:])
        return sums

    def concatenate(self, parts: list[Any]) -> Any:
        return self._torch.cat([self._signed(part) for part in parts]).view(parts[0].dtype)

    def where(self, which: Any, yes: Any, no: Any) -> Any:
        return self._torch.where(which, yes, no)

    def nonzero(self, which: Any) -> Any:
        return self._torch.nonzero(which).reshape(-1)

    def unique(self, x: Any) -> Any:
        if self.dtype(x).kind == "f":
            x = self._torch.where(x != x, float("nan"), x + 0.0)
            return self._torch.unique(x.view(self._type(f"int{8 * self.dtype(x).itemsize}"))).view(x.dtype)
        return self._torch.unique(self._signed(x)).view(x.dtype)

    def owners(self, splitters: npt.NDArray[Any], x: Any) -> Any:
        ends = self._order(self.here(splitters))
        return self._torch.searchsorted(ends, self._order(x), right=True)

    def same(self, x: Any, y: Any) -> Any:
        return self._order(x) == self._order(y)

    def segment_sums(self, x: Any, offsets: Any) -> Any:
        if self.dtype(x).kind != "f":
            sums = self.running(x)[offsets]
            return sums[1:] - sums[:-1]
        return self._torch.segment_reduce(x, "sum", offsets=offsets, axis=0, initial=0)

    def host(self, x: Any) -> npt.NDArray[Any]:
        found: npt.NDArray[Any] = x.cpu().numpy()
        return found

    def here(self, x: npt.NDArray[Any]) -> Any:
        return self._torch.as_tensor(np.array(x), device=self._on)


HOST_ARRAYS = Arrays()
_torch_arrays = functools.lru_cache(maxsize=None)(TorchArrays)


def arrays_of(x: Any) -> Arrays:
    """The library of an array, and where that computes."""
    return _torch_arrays(x.device) if is_of("torch", x, "Tensor") else HOST_ARRAYS
