# SPDX-License-Identifier: Apache-2.0
"""What has memory on a device until it is closed."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Callable, ClassVar, TypeVar

from raydex import _cuda
from raydex._array_libraries import ArrayLibrary
from raydex._devices import Device
from raydex._errors import Error, InvalidArgument, InvalidType

_Held = TypeVar("_Held", bound="Held")

# The streams that each has worked on. Were an index alone to keep them, garbage that both are in might end a
# stream before the index waits for it.
_streams_in_use: dict[int, dict[int, Any]] = {}


ORDER_STATISTICS = ("smallest", "largest", "nsmallest", "nlargest", "topk", "head", "tail", "kth", "median", "quantile")
"""What people ask for that none of these has."""


class Held:
    """What has memory on a device: an index and the like. `close`, the end of a `with` and the last
    reference free it, after all streams that worked with it."""

    _called: ClassVar[str]  # in messages
    _instead: ClassVar[Mapping[str, str]] = {}  # of what it is asked for and has not

    def __init__(self, native: Any, device: Device, kept: Any, stream: int) -> None:
        self._native = native
        self._device = device
        self._stream = stream  # of its memory
        self._streams = _streams_in_use[id(self)] = {stream: kept}  # all that worked with it, and what keeps them
        self._closed = False
        self._changes = threading.RLock()  # joins over an index must not meet an edit, or its end

    if not TYPE_CHECKING:  # which would take any name for one that is there

        def __getattr__(self, name: str) -> Any:
            said = f"{type(self).__name__!r} object has no attribute {name!r}"
            if name in self._instead:
                raise AttributeError(f"{said}; {self._instead[name]}")
            if name in ("save", "dump", "to_file"):
                kept = hasattr(type(self), "save")
                raise AttributeError(f"{said}; " + ("save(path) writes it to a file" if kept else "it has no file"))
            raise AttributeError(said, name=name, obj=self)

    def close(self) -> None:
        """Frees its memory now. Later calls raise `raydex.InvalidArgument`."""
        with self._changes:
            if self._closed:
                return
            self._closed = True
            self._device.run(self._free)

    def _free(self) -> None:
        # It is freed in the order of its own stream, after what other streams still read.
        try:
            self._native.close(self._before(self._stream))
        finally:
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
        number = self._device.number
        if number is None:
            return None

        def wait() -> None:
            for other in self._asked_on():
                _cuda.wait(stream, other, number)

        return wait

    def _synchronise(self) -> None:
        """Waits for all that was queued on it."""
        number = self._device.number
        if number is not None:
            for stream in self._asked_on():
                _cuda.synchronise(stream, number)

    def _asked_on(self) -> list[int]:
        """All streams that worked with it."""
        return list(self._streams)

    def __reduce_ex__(self, protocol: Any) -> Any:
        raise InvalidType(
            f"{self._called}: it has memory of its own, and is neither copied nor pickled; share it, or build "
            "another one"
        )

    def _check_open(self) -> None:
        if self._closed:
            raise InvalidArgument(f"{self._called}: it is closed; build another one")

    def _check_device(self, argument: str, library: ArrayLibrary) -> None:
        if library.device != self._device.number:
            raise InvalidArgument(
                f"{argument}: in {library.memory}, but the {self._called} is on {self._device}; "
                f"{library.copy_hint(self._device.number)}"
            )
