# SPDX-License-Identifier: Apache-2.0
"""Memory of GPUs of one host that other processes write to directly.

Copies between GPUs are made by their copy engines, and streams wait for numbers in memory, so that nothing of this
needs a multiprocessor: kernels of NCCL wait until lookups leave one free.

These numbers are in memory of the host. A process that gives up writes them itself, and asks the driver for nothing:
another thread may be in a call that ends, with a lock of the driver held, when all streams are through with their
work, such as to free memory, or to load a kernel that is launched for the first time."""

from __future__ import annotations

import contextlib
import ctypes
import functools
import mmap
import os
import select
import threading
import time
import weakref
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from raydex._cuda import current, driver
from raydex._errors import CudaError, OutOfMemory

# Of cuda.h, which never change.
_OUT_OF_MEMORY = 2
_LAZY_PEER_ACCESS = 1
_NON_BLOCKING = 1
_CAN_FLUSH = 98
_WAIT_GEQ = 0
_WAIT_FLUSH = 1 << 30
_FOR_ALL_CONTEXTS = 1
_FOR_STREAMS = 2

_COUNTERS = 1 << 13  # bytes: 4 for each of up to 2048 processes
_BEYOND = 1 << 30  # messages that no process is ahead of another one by
_BLOCK = 1 << 21
"""Memory is asked for in multiples of these bytes, so that CUDA does not share a block among what it gives."""
ALIGN = 256
"""Arrays of the room begin at multiples of so many bytes."""


def places(
    sizes: npt.NDArray[np.int64], widths: Sequence[int]
) -> tuple[list[list[int]], npt.NDArray[np.int64]]:
    """The byte that each array begins at in the room of each process, and how many bytes of a room all take.

    `sizes`: a row for each array, with its cells on each process. `widths`: the bytes of a cell of each."""
    return _places(sizes.tobytes(), sizes.shape[1], tuple(widths))


@functools.lru_cache(maxsize=64)
def _places(
    sizes: bytes, processes: int, widths: tuple[int, ...]
) -> tuple[list[list[int]], npt.NDArray[np.int64]]:
    """Batches of the same sizes come again and again."""
    cells = np.frombuffer(sizes, "int64").reshape(-1, processes)
    rooms = -(-cells * np.array(widths)[:, np.newaxis] // ALIGN) * ALIGN
    ends = rooms.cumsum(axis=0)
    return ((ends - rooms).tolist(), ends[-1])


class _Handle(ctypes.Structure):
    _fields_ = [("bytes", ctypes.c_char * 64)]


class _Bytes:
    """What PyTorch makes a tensor of, which shares the memory."""

    def __init__(self, address: int, size: int) -> None:
        self.__cuda_array_interface__ = {
            "shape": (size,), "typestr": "|u1", "data": (address, False), "strides": None, "version": 3,
        }  # fmt: skip


class CurrentStream:
    """PyTorch's current stream of a device. To ask PyTorch takes ten microseconds, most of them for an object that it
    had made before."""

    def __init__(self, torch: Any, device: Any) -> None:
        self._torch = torch
        self._device = device
        self._number: int | None = None
        self._stream: Any = None

    def __call__(self) -> Any:
        number = self._torch._C._cuda_getCurrentRawStream(self._device.index)
        if number != self._number:
            self._number, self._stream = number, self._torch.cuda.current_stream(self._device)
        return self._stream


class Message:
    """Something that each process sends to each other one at the same time."""

    def __init__(self, room: PeerRoom, number: int, sent: Any) -> None:
        self._room, self._number, self._sent = room, number, sent

    def wait(self) -> None:
        """Makes the current stream wait until all of it has been sent and has come."""
        self._room.wait_for(self._number)
        if self._sent is not None:
            self._room.stream().wait_event(self._sent)


class _Counters:
    """A number for each process, in a file in memory that several have open: of its last message to the owner."""

    def __init__(self, device: int, file: int) -> None:
        self.cells = np.frombuffer(mmap.mmap(file, _COUNTERS), "uint32")
        self._device = device
        self._host = ctypes.c_void_p(self.cells.ctypes.data)
        address = ctypes.c_uint64()
        flags = _FOR_ALL_CONTEXTS | _FOR_STREAMS
        with current(device):
            driver().call("cuMemHostRegister_v2", self._host, ctypes.c_size_t(_COUNTERS), ctypes.c_uint(flags))
            driver().call("cuMemHostGetDevicePointer_v2", ctypes.byref(address), self._host, 0)
        self._address = address.value

    def of(self, process: int) -> ctypes.c_uint64:
        """Where streams find the number of a process."""
        return ctypes.c_uint64(self._address + 4 * process)

    def close(self) -> None:
        with current(self._device):
            driver().call("cuMemHostUnregister", self._host)


class _Memory:
    """Memory of this process that others write to, and that of the others."""

    def __init__(self, device: int) -> None:
        self._device = device
        self.own = 0
        self.there: dict[int, int] = {}
        self.counters_there: dict[int, _Counters] = {}
        self.file = open(os.memfd_create("raydex-counters"), "wb")  # noqa: SIM115 - closed by `close`
        self.file.truncate(_COUNTERS)
        self.counters: _Counters | None = _Counters(device, self.file.fileno())
        # Its own, and of high priority: no other work is before what it is given.
        self.stream = ctypes.c_void_p()
        with current(device):
            driver().call("cuStreamCreateWithPriority", ctypes.byref(self.stream), _NON_BLOCKING, -5)

    def leave(self) -> None:
        with current(self._device):
            while self.there:
                driver().call("cuIpcCloseMemHandle", ctypes.c_uint64(self.there.popitem()[1]))

    def free(self) -> None:
        own, self.own = self.own, 0
        if own:
            with current(self._device):
                driver().call("cuMemFree_v2", ctypes.c_uint64(own))

    def close(self) -> None:
        self.leave()
        self.free()
        stream, self.stream = self.stream, ctypes.c_void_p()
        if stream:
            with current(self._device):
                driver().call("cuStreamDestroy_v2", stream)
        while self.counters_there:
            self.counters_there.popitem()[1].close()
        counters, self.counters = self.counters, None
        if counters is not None:
            self.file.close()
            counters.close()


class _Watch:
    """Calls something, again and again, when a wait takes too long or is for a process that has ended."""

    def __init__(self, seconds: float, late: Callable[[str], None]) -> None:
        self.lock = threading.Lock()
        """Held while it looks: what it uses must not be freed then."""
        self._seconds = seconds
        self._late = weakref.WeakMethod(late)
        self._since: float | None = None
        self._ended = select.poll()
        self._files: list[int] = []
        threading.Thread(target=_keep, args=(weakref.ref(self), min(0.5, seconds / 8)), daemon=True).start()

    def over(self, processes: Sequence[int]) -> None:
        weakref.finalize(self, _close, self._files)
        for one in processes:
            self._files.append(os.pidfd_open(one))
            self._ended.register(self._files[-1], select.POLLIN)

    def begin(self) -> None:
        if self._since is None:
            self._since = time.monotonic()

    def end(self) -> None:
        self._since = None

    def give_up(self) -> None:
        """Has every wait be too long from now on."""
        self._seconds = 0
        self.begin()

    def close(self) -> None:
        self.end()
        for one in self._files:
            self._ended.unregister(one)
        _close(self._files)

    def look(self) -> None:
        with self.lock:
            late, since = self._late(), self._since
            if late is None or since is None:
                return
            if self._ended.poll(0):
                late("another process has ended")
            elif time.monotonic() > since + self._seconds:
                late(f"another process has sent nothing for {self._seconds} seconds")


def _keep(weak: weakref.ref[_Watch], pause: float) -> None:
    while (watch := weak()) is not None:
        # It goes on, since nothing else would end a wait.
        with contextlib.suppress(Exception):
            watch.look()
        del watch
        time.sleep(pause)


def _close(files: list[int]) -> None:
    while files:
        os.close(files.pop())


class PeerRoom:
    """What a process receives in: memory of its GPU that the other processes can write to.

    All processes send the same messages in the same order. A sender writes a message's number behind what it
    sends, in a counter that the receiver has for it; streams wait for these counters.

    Before memory is freed the others `leave` it; they `enter` what is made in its place. Before it sends what
    follows, a process has heard from all others that they have settled what came before. Where something does not
    come, waiting is given up `timeout` seconds after the first message was sent, or soon after another process
    ended. A process that gives up writes a number in the others' counters that none of them waits for, and so they
    wait for it no more."""

    def __init__(self, torch: Any, device: Any, process: int, processes: int, timeout: float) -> None:
        self._torch = torch
        self._device = device
        self.stream = CurrentStream(torch, device)
        self._process = process
        # Each begins with another one, lest all write to the same one at a time.
        self._others = [(process + step) % processes for step in range(1, processes)]
        self._memory = _Memory(device.index)
        weakref.finalize(self, self._memory.close).atexit = False
        self._messages = 0
        self._vain = ""  # why waiting was given up
        self.file = self._memory.file.fileno()
        """The number of the file that others `meet` it with."""
        self._watch = _Watch(timeout, self._late)
        self._wait_flags = _WAIT_GEQ | (_WAIT_FLUSH if self._flushes() else 0)
        self.cells: Any = None
        """The room, a tensor of bytes."""

    def _flushes(self) -> bool:
        """Whether a wait can flush what others have written before. Where it cannot there is no need to, the
        writer's own barrier before each counter is enough."""
        found = ctypes.c_int()
        device = driver().device(self._device.index).handle
        driver().call("cuDeviceGetAttribute", ctypes.byref(found), _CAN_FLUSH, device)
        return bool(found.value)

    def make(self, size: int) -> bytes:
        """Memory for so many bytes, in place of what it had. Returns what others `enter` it with.

        Raises `raydex.OutOfMemory`."""
        self.cells = None
        self._memory.free()
        size = max(1, -(-size // _BLOCK)) * _BLOCK
        handle = _Handle()
        with current(self._device.index):
            self._memory.own = own = self._allocated(size)
            driver().call("cuIpcGetMemHandle", ctypes.byref(handle), ctypes.c_uint64(own))
        self.cells = self._torch.as_tensor(_Bytes(own, size), device=self._device)
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

    def meet(self, processes: Sequence[int], files: Sequence[int]) -> None:
        """Learns the system's numbers of all processes, which are of this one's PID namespace, and of their files."""
        for other in self._others:
            with open(f"/proc/{processes[other]}/fd/{files[other]}", "r+b", 0) as file:
                self._memory.counters_there[other] = _Counters(self._device.index, file.fileno())
        self._watch.over([processes[other] for other in self._others])

    def enter(self, handles: Sequence[bytes]) -> None:
        """Learns where the others' rooms are; of each process what `make` returned there. Raises what CUDA
        says if it cannot write there."""
        with current(self._device.index):
            for other in self._others:
                address = ctypes.c_uint64()
                handle = _Handle.from_buffer_copy(handles[other])
                driver().call("cuIpcOpenMemHandle_v2", ctypes.byref(address), handle, _LAZY_PEER_ACCESS)
                self._memory.there[other] = address.value
                self._write(other, self._memory.stream)
            self._wait(self._messages, self._memory.stream)
            driver().call("cuStreamSynchronize", self._memory.stream)

    def leave(self) -> None:
        """Forgets the others' rooms."""
        self._memory.leave()

    def _write(self, other: int, stream: ctypes.c_void_p) -> None:
        """Writes the number of the last message in another process's counter for this one."""
        counter = self._memory.counters_there[other].of(self._process)
        driver().call("cuStreamWriteValue32_v2", stream, counter, ctypes.c_uint32(self._messages), 0)

    def _wait(self, number: int, stream: ctypes.c_void_p) -> None:
        counters = self._memory.counters
        assert counters is not None
        for other in self._others:
            at, flags = counters.of(other), self._wait_flags
            driver().call("cuStreamWaitValue32_v2", stream, at, ctypes.c_uint32(number), flags)

    def send(self, slices: Sequence[Any], begins: Sequence[int], stream: Any) -> Message:
        """Sends a message on a stream.

        `slices`: arrays for each process, without gaps; what is for this one is copied to its own room. `begins`: the
        bytes of its room where they go."""
        self._watch.begin()
        self._messages += 1
        handle = ctypes.c_void_p(stream.cuda_stream)
        with current(self._device.index):
            for other in self._others:
                self._copy(self._memory.there[other] + begins[other], slices[other], handle)
                self._write(other, handle)
            self._copy(self._memory.own + begins[self._process], slices[self._process], handle)
        return Message(self, self._messages, None if stream is self.stream() else stream.record_event())

    def _copy(self, address: int, cells: Any, stream: ctypes.c_void_p) -> None:
        if len(cells):
            source, size = ctypes.c_uint64(cells.data_ptr()), ctypes.c_size_t(cells.nbytes)
            driver().call("cuMemcpyAsync", ctypes.c_uint64(address), source, size, stream)

    def wait_for(self, number: int) -> None:
        """Makes the current stream wait for a message of each other process."""
        with current(self._device.index):
            self._wait(number, ctypes.c_void_p(self.stream().cuda_stream))

    def settle(self) -> None:
        """Returns when the current stream is through with what has come. Raises `TimeoutError` if something
        did not come."""
        self.stream().synchronize()
        self._watch.end()
        if self._ahead().any():
            self._vain = self._vain or "another process gave it up"
        if self._vain:
            raise TimeoutError(self._vain)

    def _ahead(self) -> npt.NDArray[np.int32]:
        """By how many messages each other process is ahead of this one."""
        counters = self._memory.counters
        assert counters is not None
        return (counters.cells[self._others] - np.uint32(self._messages % (1 << 32))).view("int32")

    def _late(self, why: str) -> None:
        """Lets streams go on that wait for messages, if one is missing; what they read then is not what was sent.
        Called again and again, since another process may write its own number later."""
        if self._vain or (self._ahead() < 0).any():
            self._vain = self._vain or why
            self._end_waits(self._memory.counters, slice(None))

    def _end_waits(self, counters: _Counters | None, of: int | slice) -> None:
        """Ends all waits for these counters, of one process or of all."""
        assert counters is not None
        counters.cells[of] = (self._messages + _BEYOND) % (1 << 32)

    def _end_waits_for_own(self) -> None:
        for counters in self._memory.counters_there.values():
            self._end_waits(counters, self._process)

    def give_up(self) -> None:
        """Nobody waits for messages any more, neither this process nor others for those of it. Before calls that
        wait for streams."""
        self._vain = self._vain or "the exchange was given up"
        self._end_waits(self._memory.counters, slice(None))
        self._end_waits_for_own()
        self._watch.give_up()

    def abandon(self) -> None:
        """Frees its memory, whatever streams are waiting for."""
        self.give_up()
        self._torch.cuda.synchronize(self._device)
        self._end_waits_for_own()  # what was under way then has written its number since
        self.close()

    def close(self) -> None:
        """Frees its memory. Others may have entered it still, but do not write there any more."""
        self._torch.cuda.synchronize(self._device)
        with self._watch.lock:
            self._watch.close()
            self.cells = None
            self._memory.close()
