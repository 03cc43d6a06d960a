# SPDX-License-Identifier: Apache-2.0
"""One process with shards on several devices: copies between them, and no engine."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from raydex._errors import InvalidArgument, InvalidType
from raydex.sharded._arrays import arrays_of


class DeviceExchange:
    """One process, with a shard on each of some devices.

    `devices`: names such as `"cuda:1"`, `torch.device`s, or `"cpu"`, which may be given several times. Probes
    may be in the memory of any of them; what goes to a GPU is copied by PyTorch, between GPUs directly where
    they reach each other.
    """

    __module__ = "raydex.sharded"

    process = 0
    processes = 1
    unit = 1

    def __init__(self, devices: Sequence[Any]) -> None:
        if isinstance(devices, str) or len(devices) == 0:
            raise InvalidArgument(f"devices: {devices!r} is no list of devices; give ['cuda:0', 'cuda:1']")
        self.places: Sequence[Any] = [device_of(device) for device in devices]

    def accept(self, argument: str, cells: Any) -> Any:
        return cells

    def gather(self, value: object) -> list[Any]:
        return [value]

    def exchange(self, cells: Any, sent: Sequence[int], received: Sequence[int]) -> Any:
        return cells

    def mark(self) -> Any:
        return None

    def leave_room(self) -> None:
        pass

    def make_room(self, size: int) -> Any:
        return None  # nothing is received

    def enter_room(self, made: Sequence[Any]) -> None:
        pass

    def landings(self, like: Sequence[Any], sizes: npt.NDArray[np.int64]) -> list[Any]:
        return []

    def begin(self, transfers: Sequence[Any]) -> list[Callable[[], None]]:
        return [lambda: None for _ in transfers]  # there is no other process

    def spread(self, cells: Any, sizes: Sequence[int]) -> Any:
        return cells

    def reserve(self, cells: Any, count: int) -> None:
        pass  # nothing is received

    def settle(self) -> None:
        pass

    def close(self) -> None:
        pass

    def abandon(self) -> None:
        pass


def device_of(device: Any) -> Any:
    """A `torch.device`, or None for host memory, of what a user calls it."""
    if str(device) == "cpu":
        return None
    try:
        torch = importlib.import_module("torch")
    except ImportError:
        raise InvalidArgument(f"devices: {device!r} is for PyTorch, which is not installed") from None
    try:
        found = torch.device("cuda", device) if isinstance(device, int) else torch.device(str(device))
    except RuntimeError as error:
        raise InvalidArgument(f"devices: {device!r} is none, {error}") from None
    if found.type != "cuda":
        raise InvalidArgument(f"devices: {device!r} is neither 'cpu' nor one of CUDA")
    return torch.device("cuda", torch.cuda.current_device()) if found.index is None else found


def ordinal_of(device: Any) -> int | None:
    """The number of such a device's GPU."""
    return None if device is None else device.index


def to_device(cells: Any, device: Any) -> Any:
    """An array in the memory of such a device."""
    library = arrays_of(cells)
    if library.device == ordinal_of(device):
        return cells
    if device is None:
        return cells.cpu()
    if library.name == "numpy" and cells.dtype.kind in "SmM":
        raise InvalidType(f"column: PyTorch has no {cells.dtype}, and what is on {device} is copied by it")
    return importlib.import_module("torch").as_tensor(cells, device=device)


def beside(cells: Any, like: Any) -> Any:
    """An array in the library and memory of another one."""
    library, other = arrays_of(cells), arrays_of(like)
    if library is other:
        return cells
    if other.name == "torch":
        return cells.to(like.device) if library.name == "torch" else other.from_host(cells)
    return library.to_host(cells)
