# SPDX-License-Identifier: Apache-2.0
"""Devices and streams: what a user calls them, and the library's own memory there."""

from __future__ import annotations

import ctypes
import functools
import os
import threading
from dataclasses import dataclass
from typing import Any, Callable, TypeVar, cast

from raydex import _cuda, _raydex
from raydex._errors import InvalidArgument, InvalidType, Unavailable
from raydex._structures import known
from raydex.typing import DeviceName

_Result = TypeVar("_Result")

# One for the host and one for each device, for the life of the process: indexes come and go, and
# their memory is used again.
_sessions: dict[int | None, _raydex.Session] = {}
_lock = threading.Lock()


def _after_fork() -> None:
    """CUDA is gone in a forked process: what has memory of a GPU is never freed there."""
    for device, session in _sessions.items():
        if device is not None:
            ctypes.pythonapi.Py_IncRef(ctypes.py_object(session))


os.register_at_fork(after_in_child=_after_fork)


@dataclass(frozen=True)
class Device:
    """A backend, and the number of its GPU; None for the host."""

    backend: str
    number: int | None

    def __str__(self) -> str:
        return self.backend if self.number is None else f"{self.backend}:{self.number}"

    @property
    def name(self) -> DeviceName:
        """The same, as users give it."""
        return cast(DeviceName, str(self))

    def run(self, call: Callable[..., _Result], *arguments: Any) -> _Result:
        """Calls with the device as the current one."""
        if self.number is None or _cuda.is_current(self.number):
            return call(*arguments)
        with _cuda.current(self.number):
            return call(*arguments)

    def session(self) -> _raydex.Session:
        session = _sessions.get(self.number)
        if session is None:
            with _lock:
                session = _sessions.get(self.number)
                if session is None:
                    backend = "cpu" if self.number is None else "cuda"
                    session = self.run(_raydex.Session, backend)
                    _sessions[self.number] = session
        return session


@functools.lru_cache(maxsize=None)
def gpu(number: int | None) -> Device:
    return Device("cuda", number)


def parse_device(device: Any) -> tuple[str, int | None]:
    """The backend and the number that a user's `device` names; no number where it names none."""
    if isinstance(device, bool):
        raise InvalidType(f"device: {device} is none; give 'cpu', 'cuda', 'cuda:0' or 'optix'")
    if isinstance(device, int):
        return ("cuda", device)
    number = getattr(device, "id", None)  # of CuPy
    if isinstance(number, int):
        return ("cuda", number)
    name, colon, ordinal = str(device).partition(":")
    if name not in ("cpu", "cuda", "optix") or (colon and not ordinal.isdecimal()):
        meant = "; a GPU is 'cuda' here" if name.lower() == "gpu" else ""
        raise InvalidArgument(
            f"device: {device!r} is none; give 'cpu', 'cuda', 'cuda:0', 'optix' or 'optix:0'{meant}"
        )
    return (name, int(ordinal) if ordinal and name != "cpu" else None)


@functools.lru_cache(maxsize=64)
def check_available(backend: str) -> None:
    """Refuses a backend that is not usable here, and says why."""
    there = [one for one in known() if one.backend == backend]
    if there and not any(one.available for one in there):
        raise Unavailable(f"device: {backend}: {there[0].reason}")


@functools.lru_cache(maxsize=64)
def usual_backend(structure: str) -> str:
    """The one of a structure on a GPU."""
    names = {one.backend for one in known() if one.name == structure}
    return "optix" if "optix" in names and "cuda" not in names else "cuda"


def stream_number(stream: Any) -> int:
    """The number of a user's stream: of an int, or of a stream of PyTorch, CuPy, Numba or whoever has
    `__cuda_stream__`."""
    if isinstance(stream, int) and not isinstance(stream, bool):
        if stream < 0:
            raise InvalidArgument(f"stream: {stream} is none; give a handle, or 0 for the default stream")
        if stream >= 2**64:
            raise InvalidArgument(f"stream: {stream} is none; it has more than 64 bits")
        return 0 if stream == 1 else stream  # 1 is what some call the legacy default stream
    if hasattr(stream, "__cuda_stream__"):
        protocol = stream.__cuda_stream__
        return stream_number(int((protocol() if callable(protocol) else protocol)[1]))
    for name in ("cuda_stream", "ptr", "handle"):
        number = getattr(stream, name, None)
        number = getattr(number, "value", number)
        if isinstance(number, int):
            return stream_number(number)
    raise InvalidType(
        f"stream: {stream!r} is none; give its handle as an int, or a stream of PyTorch, CuPy or Numba"
    )
