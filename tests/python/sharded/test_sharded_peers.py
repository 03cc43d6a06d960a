# SPDX-License-Identifier: Apache-2.0
"""Memory that GPUs of a host write to, with a stand-in of the CUDA driver: a thread for each stream, and two devices of
one process. What waits for a stream holds the lock of the driver, as a launch does that loads its kernel first."""

import contextlib
import ctypes
import os
import queue
import subprocess
import sys
import threading
import time
import types
import weakref

import numpy as np
import pytest
from raydex.sharded import TorchExchange, _peers

SOON = 10.0  # seconds; rooms wait for longer, unless a test says so


class Stream:
    def __init__(self, driver):
        self.cuda_stream = driver.numbered(self)
        self._work = queue.SimpleQueue()
        threading.Thread(target=self._run, daemon=True).start()

    def _run(self):
        while True:
            self._work.get()()

    def queue(self, work):
        self._work.put(work)

    def record_event(self):
        through = threading.Event()
        self.queue(through.set)
        return types.SimpleNamespace(synchronize=through.wait, through=through)

    def synchronize(self):
        self.record_event().synchronize()

    def wait_event(self, event):
        self.queue(event.through.wait)


def number_at(address):
    return ctypes.c_uint32.from_address(address.value)


class Driver:
    """What rooms ask of the driver. Addresses are those of this process."""

    def __init__(self):
        self.locks = [threading.Lock(), threading.Lock()]
        self._current = threading.local()
        self._objects = {}
        self._pinned, self._pinning = {}, threading.Lock()  # sizes by address
        self.streams = [[Stream(self)], [Stream(self)]]  # of each device, the current one first

    def numbered(self, something):
        self._objects[len(self._objects) + 1] = something
        return len(self._objects)

    @contextlib.contextmanager
    def current(self, device):
        self._current.device = device
        yield

    def device(self, ordinal):
        return types.SimpleNamespace(handle=ordinal)

    def call(self, name, *arguments):
        with self.locks[self._current.device]:
            wait = getattr(self, name)(*arguments)
        if wait is not None:
            wait()

    def _stream(self, number):
        return self._objects[number.value]

    def cuDeviceGetAttribute(self, out, attribute, device):
        out._obj.value = 1

    def cuStreamCreateWithPriority(self, out, flags, priority):
        self.streams[self._current.device].append(Stream(self))
        out._obj.value = self.streams[self._current.device][-1].cuda_stream

    def cuStreamDestroy_v2(self, stream):
        self.streams[self._current.device].remove(self._stream(stream))

    def cuStreamSynchronize(self, stream):
        return self._stream(stream).record_event().synchronize

    def cuMemHostRegister_v2(self, address, size, flags):
        assert size.value % 4096 == 0
        with self._pinning:
            self._pinned[address.value] = size.value

    def cuMemHostGetDevicePointer_v2(self, out, address, flags):
        out._obj.value = address.value

    def cuMemHostUnregister(self, address):
        with self._pinning:
            del self._pinned[address.value]

    @contextlib.contextmanager
    def _number(self, address):
        """The number at an address; None if its memory has gone, as it may have for a stream that is behind."""
        with self._pinning:
            there = any(begin <= address.value < begin + size for begin, size in self._pinned.items())
            yield number_at(address) if there else None

    def cuMemAlloc_v2(self, out, size):
        cells = np.zeros(size.value, "uint8")
        self._objects[cells.ctypes.data] = cells
        out._obj.value = cells.ctypes.data

    def cuMemFree_v2(self, address):
        del self._objects[address.value]

    def cuIpcGetMemHandle(self, out, address):
        out._obj.bytes = str(address.value).encode()

    def cuIpcOpenMemHandle_v2(self, out, handle, flags):
        out._obj.value = int(handle.bytes)

    def cuIpcCloseMemHandle(self, address):
        pass

    def cuMemcpyAsync(self, target, source, size, stream):
        self._stream(stream).queue(lambda: ctypes.memmove(target.value, source.value, size.value))

    def cuStreamWriteValue32_v2(self, stream, address, value, flags):
        def write():
            with self._number(address) as number:
                if number is not None:
                    number.value = value.value

        self._stream(stream).queue(write)

    def cuStreamWaitValue32_v2(self, stream, address, value, flags):
        def is_before():
            with self._number(address) as number:
                return number is not None and ctypes.c_int32(number.value - value.value).value < 0

        def wait():
            while is_before():
                time.sleep(0.001)

        self._stream(stream).queue(wait)

    # What of PyTorch rooms use.

    @property
    def _C(self):
        return types.SimpleNamespace(_cuda_getCurrentRawStream=lambda index: self.streams[index][0].cuda_stream)

    @property
    def cuda(self):
        return types.SimpleNamespace(
            current_stream=lambda device: self.streams[device.index][0], synchronize=self._synchronize)

    def _synchronize(self, device):
        for stream in list(self.streams[device.index]):
            stream.record_event().synchronize()

    def as_tensor(self, x, device):
        seen = x.__cuda_array_interface__
        return np.ctypeslib.as_array((ctypes.c_uint8 * seen["shape"][0]).from_address(seen["data"][0]))


class Cells(np.ndarray):
    def data_ptr(self):
        return self.ctypes.data


def cells_of(text):
    return np.frombuffer(bytearray(text), "uint8").view(Cells)


class Two:
    """Two processes that have entered each other's rooms."""

    def __init__(self, driver, timeout, ends=None):
        self.driver = driver
        self.rooms = [
            _peers.PeerRoom(driver, types.SimpleNamespace(index=at), at, 2, timeout) for at in range(2)
        ]
        processes = [os.getpid()] * 2
        if ends is not None:
            processes[0] = ends(self.rooms[0].file)
        handles = [room.make(0) for room in self.rooms]
        for room in self.rooms:
            room.meet(processes, [one.file for one in self.rooms])
            room.enter(handles)

    def send(self, process, text=b"x" * 16):
        """Sends to the other process what is to come at 256 in its room, and to its own at 512, and waits for what
        comes."""
        room, stream = self.rooms[process], self.driver.streams[process][0]
        slices = [cells_of(text) for at in range(2)]
        room.send(slices, [512 if at == process else 256 for at in range(2)], stream).wait()
        return slices  # which must live until they are sent

    def load_a_kernel(self, process):
        """Begins what holds the driver's lock until a stream is through."""
        begun = threading.Event()

        def load():
            with self.driver.locks[process]:
                begun.set()
                self.driver.streams[process][0].record_event().synchronize()

        loading = threading.Thread(target=load, daemon=True)
        loading.start()
        begun.wait()
        return loading

    def settled(self, process):
        """Why settling fails, "" if it does not; in time."""
        found = []

        def settle():
            try:
                self.rooms[process].settle()
                found.append("")
            except TimeoutError as error:
                found.append(str(error))

        in_time(settle)
        return found[0]


def in_time(call):
    done = []
    thread = threading.Thread(target=lambda: done.append(call()), daemon=True)
    thread.start()
    thread.join(SOON)
    assert done  # or it still waits, or has raised


@pytest.fixture
def driver(monkeypatch):
    stand_in = Driver()
    monkeypatch.setattr(_peers, "driver", lambda: stand_in)
    monkeypatch.setattr(_peers, "current", stand_in.current)
    stand_in._current.device = 0
    return stand_in


def test_messages_come_also_in_rooms_made_anew(driver):
    two = Two(driver, 60.0)
    for round_ in range(3):
        sent = [two.send(at, bytes([65 + round_ + at]) * 16) for at in range(2)]
        assert [two.settled(at) for at in range(2)] == ["", ""] and len(sent) == 2
        for at in range(2):
            assert bytes(two.rooms[at].cells[256:272]) == bytes([65 + round_ + 1 - at]) * 16
            assert bytes(two.rooms[at].cells[512:528]) == bytes([65 + round_ + at]) * 16
        for room in two.rooms:
            room.leave()
        handles = [room.make(1 << 22) for room in two.rooms]
        for room in two.rooms:
            room.enter(handles)
    for room in two.rooms:
        in_time(room.close)


@pytest.mark.parametrize("sends", [False, True], ids=["before", "after"])
def test_a_process_that_gives_up_is_waited_for_no_more(driver, sends):
    """Before and after it has sent what the other one waits for."""
    two = Two(driver, 60.0)
    kept = [two.send(1), two.send(0) if sends else None]
    loading = two.load_a_kernel(1)
    in_time(two.rooms[0].abandon)
    loading.join(SOON)
    assert not loading.is_alive() and two.settled(1) == "another process gave it up" and len(kept) == 2


def test_what_is_under_way_when_a_process_gives_up(driver):
    """Its number is written behind that which says so."""
    two = Two(driver, 60.0)
    opened = threading.Event()
    driver.streams[0][0].queue(opened.wait)
    kept = [two.send(at) for at in range(2)]
    giving_up = threading.Thread(target=two.rooms[0].abandon, daemon=True)
    giving_up.start()
    driver.streams[1][0].record_event().synchronize()
    opened.set()
    giving_up.join(SOON)
    assert not giving_up.is_alive() and two.settled(1) == "another process gave it up" and len(kept) == 2


def test_a_process_that_sends_nothing_while_the_driver_waits(driver):
    two = Two(driver, 0.5)
    two.send(1)
    loading = two.load_a_kernel(1)
    assert two.settled(1) == "another process has sent nothing for 0.5 seconds"
    loading.join(SOON)


def test_a_process_that_ends_while_the_driver_waits(driver):
    def start(file):
        code = "import sys; sys.stdin.read()"
        started.append(subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE, pass_fds=[file]))
        return started[0].pid

    started = []
    two = Two(driver, 60.0, start)
    two.send(1)
    loading = two.load_a_kernel(1)
    started[0].communicate()
    assert two.settled(1) == "another process has ended"
    loading.join(SOON)


def test_groups_are_ended_when_nothing_waits_for_messages(driver):
    """The end of a group of NCCL frees memory, which waits for all streams."""
    two = Two(driver, 60.0)
    two.send(1)
    engine = TorchExchange.__new__(TorchExchange)
    stream = driver.streams[1][0]
    nccl = types.SimpleNamespace(abort=lambda: stream.record_event().synchronize())
    engine._groups, engine._begun = [types.SimpleNamespace(), nccl], weakref.WeakSet()
    engine._sockets, engine._peers = None, two.rooms[1]
    engine._given_up = types.SimpleNamespace(set=lambda *_: None)
    in_time(engine.abandon)
