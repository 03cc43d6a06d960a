# SPDX-License-Identifier: Apache-2.0
"""Where indexes are: a backend and a device, with memory of the library's own."""

from __future__ import annotations

import ctypes
import functools
import os
import threading
from dataclasses import dataclass
from typing import Any, Callable, ClassVar, TypeVar

from raydex import _cuda, _raydex
from raydex._errors import Error, InvalidArgument, InvalidType
from raydex._worlds import World

_Result = TypeVar("_Result")
_Held = TypeVar("_Held", bound="Held")

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
class Place:
    """A backend, and the number of its device; None for the host."""

    backend: str
    device: int | None

    def __str__(self) -> str:
        return self.backend if self.device is None else f"{self.backend}:{self.device}"

    def run(self, call: Callable[..., _Result], *arguments: Any) -> _Result:
        """Calls with the device as the current one."""
        if self.device is None or _cuda.is_current(self.device):
            return call(*arguments)
        with _cuda.current(self.device):
            return call(*arguments)

    def session(self) -> _raydex.Session:
        session = _sessions.get(self.device)
        if session is None:
            with _lock:
                session = _sessions.get(self.device)
                if session is None:
                    backend = "cpu" if self.device is None else "cuda"
                    session = self.run(_raydex.Session, backend)
                    _sessions[self.device] = session
        return session


@functools.lru_cache(maxsize=None)
def gpu(device: int | None) -> Place:
    return Place("cuda", device)


# The streams that each has worked on. Were an index alone to keep them, garbage that both are in might end a
# stream before the index waits for it.
_streams_in_use: dict[int, dict[int, Any]] = {}


class Held:
    """What has memory at a place: an index and the like. `close`, the end of a `with` and the last
    reference free it, after all streams that worked with it."""

    _called: ClassVar[str]  # in messages

    def __init__(self, native: Any, place: Place, kept: Any, stream: int) -> None:
        self._native = native
        self._place = place
        self._stream = stream  # of its memory
        self._streams = _streams_in_use[id(self)] = {stream: kept}  # all that worked with it, and what keeps them
        self._closed = False
        self._changes = threading.Lock()  # joins over an index must not meet an edit, or its end

    def close(self) -> None:
        """Frees its memory now. Later calls raise `raydex.InvalidArgument`."""
        with self._changes:
            if self._closed:
                return
            self._closed = True
            self._place.run(self._free)

    def _free(self) -> None:
        # It is freed in the order of its own stream, after what other streams still read.
        self._native.close(self._before(self._stream))
        _streams_in_use.pop(id(self), None)
        self._streams.clear()

    def __enter__(self: _Held) -> _Held:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __del__(self) -> None:
        try:
            self.close()
        except (Error, AttributeError, TypeError):
            pass  # of a device that is gone, an object half made, or an interpreter that ends

    def _before(self, stream: int) -> Callable[[], None] | None:
        """What a change, or the end, is to call first, when no other thread uses it: has the stream of the
        change wait for all that others have queued. None in host memory, where calls are through."""
        device = self._place.device
        if device is None:
            return None

        def wait() -> None:
            for other in list(self._streams):
                _cuda.wait(stream, other, device)

        return wait

    def __reduce_ex__(self, protocol: Any) -> Any:
        raise InvalidType(
            f"{self._called}: it has memory of its own, and is neither copied nor pickled; share it, or build "
            "another one"
        )

    def _check_open(self) -> None:
        if self._closed:
            raise InvalidArgument(f"{self._called}: it is closed; build another one")

    def _check_place(self, argument: str, world: World) -> None:
        if world.device != self._place.device:
            raise InvalidArgument(
                f"{argument}: in {world.where()}, but the {self._called} is on {self._place}; "
                f"{world.copy_hint(self._place.device)}"
            )


def _parse(device: Any) -> tuple[str, int | None]:
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
        raise InvalidArgument(
            f"device: {device!r} is none; give 'cpu', 'cuda', 'cuda:0', 'optix' or 'optix:0'"
        )
    return (name, int(ordinal) if ordinal and name != "cpu" else None)


@functools.lru_cache(maxsize=64)
def _usual_backend(structure: str, structures: Callable[[], Any]) -> str:
    """The one of a structure on a GPU."""
    names = {one.backend for one in structures() if one.name == structure}
    return "optix" if "optix" in names and "cuda" not in names else "cuda"


def place_for(world: World, device: Any, structure: str, structures: Callable[[], Any]) -> Place:
    """Where an index over an array is: beside the array. `device` may only say the same, or choose
    optix; the structures that are on optix alone do that, too."""
    own = world.device
    if not isinstance(structure, str):
        raise InvalidType(f"structure: {structure!r} is none; give a name of raydex.structures(), or 'auto'")
    if device is None:
        if own is None:
            return Place("cpu", None)
        return Place(_usual_backend(structure, structures), own)
    backend, number = _parse(device)
    if (backend == "cpu") != (own is None) or number not in (None, own):
        to = None if backend == "cpu" else (number or 0)
        raise InvalidArgument(
            f"device: {str(device)!r}, but the column is in {world.where()}; {world.copy_hint(to)}"
        )
    return Place(backend, own)


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


def stream_for(world: World, stream: Any) -> tuple[int, Any]:
    """The number of the stream for a call, and what keeps it: the given one, or by default the current
    one of the arrays' library."""
    if world.device is None:
        if stream is not None:
            raise InvalidArgument(f"stream: {stream!r}, but columns in host memory have none; leave it out")
        return (0, None)
    return world.current_stream() if stream is None else (stream_number(stream), stream)
