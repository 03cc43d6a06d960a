# SPDX-License-Identifier: Apache-2.0
"""What the CUDA driver is asked beside the library: which device is current, and how streams wait.

Libraries such as PyTorch and CuPy share the primary context of a device, so that what the driver
holds to be current is so for all of them.
"""

from __future__ import annotations

import ctypes
import os
import threading
from types import TracebackType
from typing import Any, NamedTuple

from raydex import _raydex
from raydex._errors import CudaError, Unavailable

# Of cuda.h, which never change.
_DEVICE_ORDINAL = 9
_DISABLE_TIMING = 2


class _Device(NamedTuple):
    handle: int
    context: ctypes.c_void_p  # the primary one
    check: _raydex.DeviceCheck


class _Driver:
    def __init__(self) -> None:
        try:
            self._library = ctypes.CDLL("libcuda.so.1")
        except OSError as error:
            raise Unavailable(f"CUDA: there is no NVIDIA driver on this machine ({error})") from None
        self.call("cuInit", 0)
        self.devices: dict[int, _Device] = {}
        self._lock = threading.Lock()

    def call(self, name: str, *arguments: Any) -> None:
        code = getattr(self._library, name)(*arguments)
        if code != 0:
            text = ctypes.c_char_p()
            self._library.cuGetErrorString(code, ctypes.byref(text))
            why = (text.value or b"unknown error").decode()
            raise CudaError(f"{name} failed with {code}: {why}", code)

    def device(self, ordinal: int) -> _Device:
        """A device, whose primary context is kept from then on."""
        known = self.devices.get(ordinal)
        if known is not None:
            return known
        with self._lock:
            if ordinal not in self.devices:
                device = ctypes.c_int()
                self.call("cuDeviceGet", ctypes.byref(device), ordinal)
                context = ctypes.c_void_p()
                self.call("cuDevicePrimaryCtxRetain", ctypes.byref(context), device)
                ask = ctypes.cast(self._library.cuCtxGetDevice, ctypes.c_void_p).value or 0
                check = _raydex.DeviceCheck(ask, device.value)
                self.devices[ordinal] = _Device(device.value, context, check)
            return self.devices[ordinal]


_driver: _Driver | None = None
_forked = False


def _after_fork() -> None:
    global _forked
    if _driver is not None:
        _forked = True
        for device in _driver.devices.values():
            device.check.forget()


os.register_at_fork(after_in_child=_after_fork)


def refuse_fork() -> None:
    """Throws where CUDA was in use before a fork."""
    if _forked:
        raise Unavailable(
            "CUDA: this process was forked from one that had used CUDA, which does not survive that; "
            "start processes with multiprocessing's 'spawn' or 'forkserver'"
        )


def driver() -> _Driver:
    global _driver
    refuse_fork()
    if _driver is None:
        _driver = _Driver()
    return _driver


def is_current(ordinal: int) -> bool:
    """Whether a device is the current one."""
    return driver().device(ordinal).check.is_current()


def check_of(ordinal: int) -> _raydex.DeviceCheck:
    """What asks the same again and again."""
    return driver().device(ordinal).check


class current:
    """Makes a device the current one for what stands in a `with`."""

    __slots__ = ("_ordinal", "_pushed")

    def __init__(self, ordinal: int) -> None:
        self._ordinal = ordinal
        self._pushed = False

    def __enter__(self) -> None:
        cuda = driver()
        device = cuda.device(self._ordinal)
        if not device.check.is_current():
            cuda.call("cuCtxPushCurrent_v2", device.context)
            self._pushed = True

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._pushed:
            driver().call("cuCtxPopCurrent_v2", ctypes.byref(ctypes.c_void_p()))


def device_of(address: int) -> int:
    """The number of the device that an address is on."""
    cuda = driver()
    ordinal = ctypes.c_int()
    with current(0):
        cuda.call(
            "cuPointerGetAttribute", ctypes.byref(ordinal), _DEVICE_ORDINAL, ctypes.c_uint64(address)
        )
    return ordinal.value


def wait(waiting: int, working: int, device: int) -> None:
    """Makes one stream wait for what is queued on another one."""
    if waiting == working:
        return
    cuda = driver()
    event = ctypes.c_void_p()
    with current(device):
        cuda.call("cuEventCreate", ctypes.byref(event), _DISABLE_TIMING)
        try:
            cuda.call("cuEventRecord", event, ctypes.c_void_p(working))
            cuda.call("cuStreamWaitEvent", ctypes.c_void_p(waiting), event, 0)
        finally:
            cuda.call("cuEventDestroy_v2", event)


def synchronise(stream: int, device: int) -> None:
    """Waits for what is queued on a stream."""
    with current(device):
        driver().call("cuStreamSynchronize", ctypes.c_void_p(stream))


def wait_for(stream: int, event: int, device: int) -> None:
    """Makes a stream wait for an event."""
    with current(device):
        driver().call("cuStreamWaitEvent", ctypes.c_void_p(stream), ctypes.c_void_p(event), 0)


def read_number(address: int, stream: int, device: int) -> int:
    """A number of 64 bits in device memory, once the stream is done."""
    cuda = driver()
    number = ctypes.c_uint64()
    with current(device):
        cuda.call(
            "cuMemcpyDtoHAsync_v2",
            ctypes.byref(number),
            ctypes.c_uint64(address),
            ctypes.c_size_t(8),
            ctypes.c_void_p(stream),
        )
        cuda.call("cuStreamSynchronize", ctypes.c_void_p(stream))
    return number.value
