# SPDX-License-Identifier: Apache-2.0
"""Sockets between the processes of a host, for what they tell each other before each exchange."""

from __future__ import annotations

import contextlib
import os
import pathlib
import shutil
import socket
import struct
import tempfile
import time
import weakref
from collections.abc import Sequence

_HEAD = struct.Struct("<q")
_CONNECTING = 10.0  # seconds, after which gloo is used
_SPINNING = 2e-4  # seconds
_CHUNK = 1 << 16
MOST = 1 << 15
"""Longer messages are not sent: with all processes sending first, they could be too many for the system to hold."""


def host_of_process() -> tuple[str, int]:
    """The same for processes that can see each other: of the start of a host, and of a PID namespace."""
    boot = pathlib.Path("/proc/sys/kernel/random/boot_id").read_text()
    return (boot, os.stat("/proc/self/ns/pid").st_ino)


class HostSockets:
    """Gathers messages between processes of this host, in a tenth of the time that gloo takes.

    First `address` is told to the others, then all `connect`. One that `spins` looks again and again for a while
    before it sleeps, since to be woken takes as long as a message."""

    def __init__(self, process: int, processes: int, timeout: float, spins: bool = False) -> None:
        self._spins = spins
        self._process = process
        self._processes = processes
        self._timeout = timeout
        self._folder = tempfile.mkdtemp(prefix="raydex-")  # which no other user can enter
        weakref.finalize(self, shutil.rmtree, self._folder, True)
        self.address = os.path.join(self._folder, "messages")
        self._listener = socket.socket(socket.AF_UNIX)
        self._listener.bind(self.address)
        self._listener.listen(processes)
        self._others: dict[int, socket.socket] = {}
        self._came = [bytearray() for _ in range(processes)]

    def connect(self, addresses: Sequence[str]) -> None:
        """`addresses`: of all processes. Each connects to those before it."""
        self._listener.settimeout(min(self._timeout, _CONNECTING))
        for other in range(self._process):
            one = socket.socket(socket.AF_UNIX)
            one.settimeout(self._timeout)
            self._others[other] = one
            one.connect(addresses[other])
            _wait_at_most(one, self._timeout)
            one.sendall(_HEAD.pack(self._process))
        for _ in range(self._process + 1, self._processes):
            one, _ = self._listener.accept()
            _wait_at_most(one, self._timeout)
            came = bytearray()  # and what it has sent since
            (other,) = _HEAD.unpack(self._read(one, came, _HEAD.size))
            self._others[other], self._came[other] = one, came
        self._forget_address()

    def gather(self, message: bytes) -> list[bytes] | None:
        """The message of each process, or None on all if one is too long. A collective call."""
        framed = _HEAD.pack(len(message)) + (message if len(message) <= MOST else b"")
        for one in self._others.values():
            one.sendall(framed)
        found = {self._process: message}
        fits = len(message) <= MOST
        for other, one in self._others.items():
            came = self._came[other]
            (size,) = _HEAD.unpack(self._read(one, came, _HEAD.size))
            fits = fits and size <= MOST
            found[other] = self._read(one, came, size) if size <= MOST else b""
        return [found[at] for at in range(self._processes)] if fits else None

    def check(self) -> None:
        """Raises if another process has closed its connection, or has ended."""
        for one in self._others.values():
            with contextlib.suppress(BlockingIOError):
                if not one.recv(1, socket.MSG_PEEK | socket.MSG_DONTWAIT):
                    raise ConnectionError("another process has closed its connection")

    def _forget_address(self) -> None:
        self._listener.close()
        shutil.rmtree(self._folder, ignore_errors=True)

    def close(self) -> None:
        """Others that wait for this process, or will, get an error."""
        self._forget_address()
        for one in self._others.values():
            with contextlib.suppress(OSError):  # the other one has closed it
                one.shutdown(socket.SHUT_RDWR)  # also of what forked processes have
            one.close()
        self._others.clear()

    def _read(self, one: socket.socket, came: bytearray, size: int) -> bytes:
        """So many bytes of what has come; what comes beyond is left there."""
        while len(came) < size:
            some = self._received(one)
            if not some:
                raise ConnectionError("another process has closed its connection")
            came += some
        found = bytes(came[:size])
        del came[:size]
        return found

    def _received(self, one: socket.socket) -> bytes:
        end = time.perf_counter() + _SPINNING if self._spins else 0
        while self._spins and time.perf_counter() < end:
            with contextlib.suppress(BlockingIOError):
                return one.recv(_CHUNK, socket.MSG_DONTWAIT)
            os.sched_yield()
        try:
            return one.recv(_CHUNK)
        except BlockingIOError:
            raise TimeoutError(f"another process has said nothing for {self._timeout} seconds") from None


def _wait_at_most(one: socket.socket, seconds: float) -> None:
    """Has the system end a wait. With a timeout of Python's, each call would ask first whether it is to wait."""
    one.setblocking(True)
    limit = struct.pack("ll", int(seconds), int(seconds % 1 * 1e6))
    for option in (socket.SO_RCVTIMEO, socket.SO_SNDTIMEO):
        one.setsockopt(socket.SOL_SOCKET, option, limit)
