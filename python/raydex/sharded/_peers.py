# SPDX-License-Identifier: Apache-2.0
"""Memory of GPUs of one host that other processes write to directly.

Copies between GPUs are made by their copy engines, and streams wait for numbers in memory, so that nothing of this
needs a multiprocessor: kernels of NCCL wait until lookups leave one free."""

from __future__ import annotations

import ctypes
import os
import select
import threading
import time
import weakref
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from raydex._cuda import current, driver
from raydex._errors import CudaError, OutOfMemory

# Of cuda.h, which never change.
_OUT_OF_MEMORY = 2
_LAZY_PEER_ACCESS = 1
_WAIT_GEQ = 0

_COUNTERS = 1 << 13  # bytes before the room: 4 for each of up to 2048 processes
_BLOCK = 1 << 21
"""Memory is asked for in multiples of these bytes, so that CUDA does not share a block among what it gives."""
ALIGN = 256
"""Arrays of the room begin at multiples of so many bytes."""


class _Handle(ctypes.Structure):
    _fields_ = [("bytes", ctypes.c_char * 64)]


class _Bytes:
    """What PyTorch makes a tensor of, which shares the memory."""

    def __init__(self, address: int, size: int) -> None:
        self.__cuda_array_interface__ = {
            "shape": (size,), "typestr": "|u1", "data": (address, False), "strides": None, "version": 3,
        }  # fmt: skip


class Message:
    """Something that each process sends to each other one at the same time."""

    def __init__(self, room: PeerRoom, number: int, sent: Any) -> None:
        self._room, self._number, self._sent = room, number, sent

    def wait(self) -> None:
        """Makes the current stream wait until all of it has been sent and has come."""
        self._room.wait_for(self._number)
        self._room.stream().wait_event(self._sent)


class _Watch:
    """Calls something when a wait takes too long, or is for a process that has ended."""

    def __init__(self, seconds: float, vain: Callable[[], None]) -> None:
        self.reason = ""
        """Why waiting is in vain."""
        self._seconds = seconds
        self._vain = weakref.WeakMethod(vain)
        self._since: float | None = None
        self._ended = select.poll()
        self._files: list[int] = []
        threading.Thread(target=_keep, args=(weakref.ref(self), min(0.5, seconds / 8)), daemon=True).start()

    def over(self, processes: Sequence[int]) -> None:
        for one in processes:
            self._files.append(os.pidfd_open(one))
            self._ended.register(self._files[-1], select.POLLIN)

    def begin(self) -> None:
        if self._since is None:
            self._since = time.monotonic()

    def end(self) -> None:
        self._since = None

    def close(self) -> None:
        self.end()
        while self._files:
            self._ended.unregister(self._files[-1])
            os.close(self._files.pop())

    def look(self) -> None:
        since = self._since
        if since is None:
            return
        if self._ended.poll(0):
            self.reason = "another process has ended"
        elif time.monotonic() > since + self._seconds:
            self.reason = f"another process has sent nothing for {self._seconds} seconds"
        vain = self._vain()
        if self.reason and vain is not None:
            self.end()
            vain()


def _keep(weak: weakref.ref[_Watch], pause: float) -> None:
    while (watch := weak()) is not None:
        watch.look()
        del watch
        time.sleep(pause)


class PeerRoom:
    """What a process receives in: memory of its GPU that the other processes can write to.

    All processes send the same messages in the same order. A sender writes a message's number behind what it
    sends, in a counter that the receiver has for it; streams wait for these counters.

    Before memory is freed the others `leave` it; they `enter` what is made in its place. Before it sends what
    follows, a process has heard from all others that they have settled what came before; else messages fail
    `timeout` seconds after the first of them was sent, or soon after another process ended."""

    def __init__(self, torch: Any, device: Any, process: int, processes: int, timeout: float) -> None:
        self._torch = torch
        self._device = device
        self._process = process
        # Each begins with another one, lest all write to the same one at a time.
        self._others = [(process + step) % processes for step in range(1, processes)]
        self._own = 0
        self._there: dict[int, int] = {}  # where the memory of others is for this process
        self._messages = 0
        self._watch = _Watch(timeout, self.release)
        self.cells: Any = None
        """The room, a tensor of bytes."""

    def stream(self) -> Any:
        return self._torch.cuda.current_stream(self._device)

    def make(self, size: int) -> bytes:
        """Memory for so many bytes, in place of what it had. Returns what others `enter` it with.

        Raises `raydex.OutOfMemory`."""
        self._free()
        size = -(-(_COUNTERS + size) // _BLOCK) * _BLOCK
        handle = _Handle()
        with current(self._device.index):
            self._own = self._allocated(size)
            driver().call("cuMemsetD8_v2", ctypes.c_uint64(self._own), ctypes.c_ubyte(0), ctypes.c_size_t(_COUNTERS))
            driver().call("cuIpcGetMemHandle", ctypes.byref(handle), ctypes.c_uint64(self._own))
        # The memset is through before another process learns of the memory.
        self._torch.cuda.synchronize(self._device)
        self._messages = 0
        room = _Bytes(self._own + _COUNTERS, size - _COUNTERS)
        self.cells = self._torch.as_tensor(room, device=self._device)
        return bytes(handle)

    def _allocated(self, size: int) -> int:
        address = ctypes.c_uint64()
        for last in (False, True):
            try:
                driver().call("cuMemAlloc_v2", ctypes.byref(address), ctypes.c_size_t(size))
                break
            except CudaError as error:
                if error.code != _OUT_OF_MEMORY:
                    raise
                if last:
                    free, _ = self._torch.cuda.mem_get_info(self._device)
                    message = f"no {size} bytes on {self._device} to receive in, {free} are free"
                    raise OutOfMemory(message, size, free) from None
                self._torch.cuda.empty_cache()  # what PyTorch keeps for later
        return address.value

    def watch(self, processes: Sequence[int]) -> None:
        """Learns the system's numbers of all processes, which are of this one's PID namespace."""
        self._watch.over([processes[other] for other in self._others])

    def enter(self, handles: Sequence[bytes]) -> None:
        """Learns where the others' rooms are; of each process what `make` returned there."""
        with current(self._device.index):
            for other in self._others:
                address = ctypes.c_uint64()
                handle = _Handle.from_buffer_copy(handles[other])
                driver().call("cuIpcOpenMemHandle_v2", ctypes.byref(address), handle, _LAZY_PEER_ACCESS)
                self._there[other] = address.value

    def leave(self) -> None:
        """Forgets the others' rooms."""
        with current(self._device.index):
            while self._there:
                driver().call("cuIpcCloseMemHandle", ctypes.c_uint64(self._there.popitem()[1]))

    def send(self, parts: Sequence[Any], begins: Sequence[int], stream: Any) -> Message:
        """Sends a message on a stream.

        `parts`: bytes for each process, none for this one. `begins`: where they go in its room."""
        self._watch.begin()
        self._messages += 1
        on = ctypes.c_void_p(stream.cuda_stream)
        with current(self._device.index):
            for other in self._others:
                there, part = self._there[other], parts[other]
                if len(part):
                    to = ctypes.c_uint64(there + _COUNTERS + begins[other])
                    driver().call(
                        "cuMemcpyAsync", to, ctypes.c_uint64(part.data_ptr()), ctypes.c_size_t(len(part)), on
                    )
                counter = ctypes.c_uint64(there + 4 * self._process)
                driver().call("cuStreamWriteValue32_v2", on, counter, ctypes.c_uint32(self._messages), 0)
        return Message(self, self._messages, stream.record_event())

    def wait_for(self, number: int) -> None:
        on = ctypes.c_void_p(self.stream().cuda_stream)
        with current(self._device.index):
            for other in self._others:
                counter = ctypes.c_uint64(self._own + 4 * other)
                driver().call("cuStreamWaitValue32_v2", on, counter, ctypes.c_uint32(number), _WAIT_GEQ)

    def settle(self) -> None:
        """Returns when the current stream is through with what has come. Raises `TimeoutError` if another
        process sends nothing."""
        self.stream().record_event().synchronize()
        self._watch.end()
        if self._watch.reason:
            raise TimeoutError(self._watch.reason)

    def release(self) -> None:
        """Lets streams go on that wait for messages; what they read then is not what was sent."""
        if not self._own:
            return
        most = np.full(_COUNTERS // 4, (self._messages + (1 << 30)) % (1 << 32), "uint32")
        stream = self._torch.cuda.Stream(self._device)
        with current(self._device.index):
            driver().call(
                "cuMemcpyHtoDAsync_v2", ctypes.c_uint64(self._own), ctypes.c_void_p(most.ctypes.data),
                ctypes.c_size_t(most.nbytes), ctypes.c_void_p(stream.cuda_stream),
            )  # fmt: skip
        stream.synchronize()

    def close(self) -> None:
        """Frees its memory, which another process may have entered."""
        self._watch.close()
        self.leave()
        self._free()

    def _free(self) -> None:
        self.cells = None
        if self._own:
            with current(self._device.index):
                driver().call("cuMemFree_v2", ctypes.c_uint64(self._own))
            self._own = 0
