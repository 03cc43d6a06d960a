# SPDX-License-Identifier: Apache-2.0
"""Exchanges by `torch.distributed`: gloo in host memory, NCCL between GPUs."""

from __future__ import annotations

import contextlib
import datetime
import functools
import importlib
import os
import pickle
import time
import weakref
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from raydex._array_libraries import is_of
from raydex._errors import InvalidArgument
from raydex.sharded._arrays import HOST_ARRAYS, Arrays, arrays_of
from raydex.sharded._devices import ordinal_of
from raydex.sharded._exchange import Landing, Transfer
from raydex.sharded._peers import CurrentStream, PeerRoom, places
from raydex.sharded._sockets import HostSockets, host_of_process

_MESSAGE = 2048  # bytes that are gathered at once
_KEPT = 64
_SPINNING = 1e-3  # seconds
_LOOKING = 0.05  # seconds between looks at whether all processes are there
_GRACE = 0.5  # seconds in which what processes sent that have gone may still come
_UNKNOWN = 1.0  # seconds


class _Begun:
    """Waits for what was begun; a second time there is nothing to wait for."""

    def __init__(self, works: list[Any]) -> None:
        self.works = works

    def __call__(self) -> None:
        while self.works:
            self.works.pop().wait()


class _ByNccl:
    """Waits for what NCCL sends: on the host, since what a GPU waits for may never come, and it then does nothing
    else until NCCL ends the process.

    `check` raises if another process has gone or given up. `known`: whether it knows of all that have gone; if not,
    the host waits for a while only, since gloo will tell when processes agree next."""

    def __init__(self, work: Any, check: Callable[[], None], known: bool, timeout: float) -> None:
        self._work, self._check, self._known = work, check, known
        self._begin = time.monotonic()
        self._limit = timeout - min(1.0, timeout / 10) if known else _UNKNOWN  # before NCCL's

    def wait(self) -> None:
        lost: float | None = None
        end = time.monotonic() + _SPINNING
        look = end + _LOOKING
        while not self._work.is_completed():
            now = time.monotonic()
            if now < end:
                continue
            time.sleep(_SPINNING / 10)
            if now - self._begin > self._limit:
                if self._known:
                    raise TimeoutError(f"another process has sent nothing for {self._limit:g} seconds")
                break
            if now < look:
                continue
            look = now + _LOOKING
            try:
                self._check()
            except Exception:
                lost = lost or now
                if now - lost > _GRACE:
                    raise
        self._work.wait()


@functools.lru_cache(maxsize=None)
def _stream_beside(device: Any) -> Any:
    """One for all engines, since PyTorch keeps freed memory for each stream."""
    return importlib.import_module("torch").cuda.Stream(device)


def _shut_down(group: Any) -> None:
    """Ends a group that all processes are through with. Before PyTorch 2.6 that of gloo ends with the last
    reference alone."""
    end = getattr(group, "shutdown", None) or getattr(group, "_shutdown", None)
    if end is not None:
        end()


def _prefixed(dist: Any, store: Any, name: str, purpose: str) -> Any:
    """A part of a store that nobody else writes to."""
    return dist.PrefixStore(f"{name}, {purpose}", store)


def _attempt(call: Callable[..., Any], *arguments: Any) -> Any:
    """What a call returns, or None if it raises anything: then processes do without it."""
    try:
        return call(*arguments)
    except Exception:
        return None


class TorchExchange:
    """Exchanges between the processes of a `torch.distributed` process group.

    Parameters
    ----------
    group
        Whose processes take part; by default all. It is left alone: the same processes are connected anew,
        by the store of `torch.distributed`, and no other process need know.
    timeout
        After how many seconds without an answer of another process a call fails.
    device
        `"cpu"`: by gloo, although the group has NCCL as well.
    peers
        Whether processes that are all of one host reach each other without the group, where they can. What they
        agree upon goes by sockets then, not by gloo. GPUs write probes and answers to each other's memory, by
        their copy engines, and calls wait for their answers; otherwise, and for rows, joins and builds, NCCL
        sends them.

    Notes
    -----
    One with NCCL takes tensors on the current GPU (see `torch.cuda.set_device`), one with gloo what is in
    host memory. Making one is a collective call; keep it for many
    joins.
    """

    __module__ = "raydex.sharded"

    def __init__(self, group: Any = None, timeout: float = 300.0, device: Any = None, *, peers: bool = True) -> None:
        torch, dist = importlib.import_module("torch"), importlib.import_module("torch.distributed")
        if not dist.is_available() or not dist.is_initialized():
            raise InvalidArgument(
                "group: torch.distributed is not initialized; call torch.distributed.init_process_group "
                "first, or give devices, as ['cuda:0', 'cuda:1']"
            )
        self._torch: Any = torch
        self.process = int(dist.get_rank(group))
        ranks = dist.get_process_group_ranks(group)
        self.processes = len(ranks)
        limit = datetime.timedelta(seconds=timeout)
        # Groups of `new_group` take the name, and with it what the store has, of one that was closed, or with
        # some versions of PyTorch names that depend on groups that the others are not in.
        store = dist.distributed_c10d._get_default_store()
        name = f"raydex of {' '.join(map(str, ranks))}"
        count = store.add(f"{name}, {self.process}", 1)  # the same on all: making one is collective
        part_of_store = functools.partial(_prefixed, dist, store, f"{name}, {count}")
        self._given_up = part_of_store("given up")
        self._timeout = timeout
        self._begun: weakref.WeakSet[_Begun] = weakref.WeakSet()
        # And that of arrays, if it is another one.
        self._groups = [dist.ProcessGroupGloo(part_of_store("gloo"), self.process, self.processes, limit)]
        self.device: Any = None
        if str(device) != "cpu" and "nccl" in str(dist.get_backend_config(group)):
            self.device = torch.device("cuda", torch.cuda.current_device())
            options = dist.ProcessGroupNCCL.Options()
            options._timeout = limit
            options.is_high_priority_stream = True  # what is sent goes before the blocks of the next lookup
            options.group_name, options.global_ranks_in_group = f"{name}, {count}", list(ranks)  # for its logs
            self._groups.append(dist.ProcessGroupNCCL(part_of_store("nccl"), self.process, self.processes, options))
            self._beside = _stream_beside(self.device)
            self._current = CurrentStream(torch, self.device)
        self.places: Sequence[Any] = (self.device,)
        # NCCL sends what begins at a multiple of 16 bytes 2.4 times as fast as others.
        self.unit = 1 if self.device is None else 16
        self._sockets: HostSockets | None = None
        self._peers: PeerRoom | None = None
        self._landings: dict[tuple[Any, ...], list[Landing]] = {}
        """Arrays in the room, of batches that may come again."""
        if peers and self.processes > 1:
            self._meet(timeout)

    def _meet(self, timeout: float) -> None:
        """Connects processes that are all of this host. A collective call."""
        host = _attempt(host_of_process)
        sockets = _attempt(HostSockets, self.process, self.processes, timeout, self.device is not None)
        room = None
        if self.device is not None:
            room = _attempt(PeerRoom, self._torch, self.device, self.process, self.processes, timeout)
        handle = room and _attempt(room.make, 0)
        reports = self.gather((host, os.getpid(), sockets and sockets.address, room and room.file, handle))
        hosts, processes, addresses, files, handles = zip(*reports)

        def connect() -> bool:
            assert sockets is not None
            sockets.connect(addresses)
            return True

        def enter() -> bool:
            assert room is not None
            room.meet(processes, files)
            room.enter(handles)
            return True

        near = host is not None and len(set(hosts)) == 1
        connected = near and all(addresses) and _attempt(connect)
        entered = near and all(handles) and _attempt(enter)
        found = self.gather((connected, entered))
        if all(one for one, _ in found):
            self._sockets = sockets
        elif sockets is not None:
            sockets.close()
        if all(one for _, one in found):
            self._peers = room
        elif room is not None:
            _attempt(room.close)

    def accept(self, argument: str, cells: Any) -> Any:
        library = arrays_of(cells)
        if library.device == ordinal_of(self.device):
            return cells
        if len(cells) == 0 and self.device is not None:
            return self._torch.empty(0, dtype=getattr(self._torch, library.dtype(cells).name), device=self.device)
        if self.device is None:
            raise InvalidArgument(
                f"{argument}: on {library.memory}, but the processes exchange by gloo, in host memory; use a "
                "group with NCCL, or give x.cpu()"
            )
        raise InvalidArgument(
            f"{argument}: in {library.memory}, but this process exchanges on {self.device}; give "
            f"torch.as_tensor(x, device={str(self.device)!r})"
        )

    def gather(self, value: object) -> list[Any]:
        # all_gather_object gathers sizes first; nearly all that is small goes along with its size.
        message = pickle.dumps(value)
        near = None if self._sockets is None else self._sockets.gather(message)
        if near is not None:
            return [pickle.loads(one) for one in near]
        cells = np.frombuffer(message, "uint8")
        size = len(cells)
        padded = np.zeros(_MESSAGE, "uint8")
        padded[:8].view("int64")[0] = size
        padded[8 : 8 + size] = cells[: _MESSAGE - 8]
        found = self._gathered(padded)
        sizes = found[:, :8].copy().view("int64")[:, 0]
        most = int(sizes.max())
        if most > _MESSAGE - 8:
            found = self._gathered(np.concatenate([padded[:8], cells, np.zeros(most - size, "uint8")]))
        return [pickle.loads(one[8 : 8 + size].tobytes()) for one, size in zip(found, sizes.tolist())]

    def _gathered(self, cells: npt.NDArray[np.uint8]) -> npt.NDArray[np.uint8]:
        """The bytes of each process, as many of each; by gloo."""
        out = np.empty((self.processes, len(cells)), "uint8")
        into = self._torch.from_numpy(out.reshape(-1))
        self._group(False)._allgather_base(into, self._torch.from_numpy(cells)).wait()
        return out

    def _bytes(self, cells: Any) -> Any:
        """The cells as a tensor of bytes that shares them."""
        if is_of("torch", cells, "Tensor"):
            # What has no cell or one counts as contiguous whatever its stride, which a view of bytes does not take.
            return cells.contiguous().as_strided((len(cells),), (1,)).view(self._torch.uint8)
        return self._torch.from_numpy(np.ascontiguousarray(cells).view("uint8"))

    def exchange(self, cells: Any, sent: Sequence[int], received: Sequence[int]) -> Any:
        library = arrays_of(cells)
        size = library.dtype(cells).itemsize
        out = library.empty(sum(received), library.dtype(cells))
        came, goes = [size * count for count in received], [size * count for count in sent]
        self._over(self._group(True).alltoall_base(self._bytes(out), self._bytes(cells), came, goes)).wait()
        return out

    def mark(self) -> Any:
        return None if self.device is None else self._current().record_event()

    def leave_room(self) -> None:
        self._landings.clear()
        if self._peers is not None:
            self._peers.leave()

    def make_room(self, size: int) -> Any:
        if self._peers is not None:
            return self._peers.make(size)
        library = HOST_ARRAYS if self.device is None else arrays_of(self._torch.empty(0, device=self.device))
        self._empty(size, library, "uint8")
        return None

    def enter_room(self, made: Sequence[Any]) -> None:
        if self._peers is not None:
            self._peers.enter(made)

    def landings(self, like: Sequence[Any], sizes: npt.NDArray[np.int64]) -> list[Landing]:
        dtypes = [arrays_of(one).dtype(one) for one in like]
        counts = sizes[:, self.process].tolist()
        if self._peers is None:
            found = zip(counts, map(arrays_of, like), dtypes)
            return [Landing(self._empty(count, library, dtype), []) for count, library, dtype in found]
        known = (sizes.tobytes(), *dtypes)
        landings = self._landings.get(known)
        if landings is None:
            landings = []
            widths = [dtype.itemsize for dtype in dtypes]
            for one, dtype, count, begins in zip(like, dtypes, counts, places(sizes, widths)[0]):
                begin = begins[self.process]
                cells = self._peers.cells[begin : begin + count * dtype.itemsize]
                landings.append(Landing(arrays_of(one).view(cells, dtype), begins))
            if len(self._landings) == _KEPT:
                self._landings.clear()
            self._landings[known] = landings
        return landings

    def _empty(self, size: int, library: Arrays, dtype: np.dtype[Any] | str) -> Any:
        """An array to receive in with a `Transfer`."""
        if self.device is None:
            return library.empty(size, dtype)
        # Memory of the current stream may be what its queued work still uses: that has been freed by Python,
        # and what is received would not wait for it. Memory of the other stream comes back when the current
        # one is through with it.
        current = self._torch.cuda.current_stream(self.device)
        with self._torch.cuda.stream(self._beside):
            found = library.empty(size, dtype)
        current.wait_stream(self._beside)  # which may have filled it
        found.record_stream(current)
        return found

    def begin(self, transfers: Sequence[Transfer]) -> list[Callable[[], None]]:
        if self.device is None:
            begun = [_Begun(self._pairwise(one.parts, one.room)) for one in transfers]
        elif self._peers is not None:
            begun = [_Begun([self._written(one, self._peers)]) for one in transfers]
        else:
            now = self.mark()
            with self._torch.cuda.stream(self._beside):
                begun = [_Begun([self._sent(one, one.after or now)]) for one in transfers]
        self._begun.update(begun)
        return list(begun)

    def _written(self, one: Transfer, peers: PeerRoom) -> Any:
        """What waits for a transfer to the others' memory."""
        stream = peers.stream() if one.after is None else self._beside
        if one.after is not None:
            stream.wait_event(one.after)
        width = one.landing.cells.dtype.itemsize
        begins = [base + width * cell for base, cell in zip(one.landing.begins, one.begins)]
        return peers.send(one.parts, begins, stream)

    def _sent(self, one: Transfer, after: Any) -> Any:
        """What waits for a transfer by NCCL."""
        self._beside.wait_event(after)
        received, slices = (list(map(self._bytes, some)) for some in (one.room, one.parts))
        return self._over(self._group(True).alltoall(received, slices))

    def _over(self, work: Any) -> Any:
        """What waits for arrays that are under way."""
        if self.device is None:
            return work
        return _ByNccl(work, self._check_others, self._sockets is not None, self._timeout)

    def _check_others(self) -> None:
        """Raises if another process has gone, or has given up, as far as can be told."""
        if self._sockets is not None:
            self._sockets.check()
        if self._given_up.check(["by one"]):
            raise ConnectionError("another process has given up")

    def _pairwise(self, sent: Sequence[Any], received: Sequence[Any]) -> list[Any]:
        """As `all_to_all`, which gloo has of one array alone."""
        group = self._group(True)
        works = []
        for process, (cells, buffer) in enumerate(zip(sent, received)):
            if len(buffer):
                works.append(group.recv([self._bytes(buffer)], process, 0))
            if len(cells):
                works.append(group.send([self._bytes(cells)], process, 0))
        return works

    def spread(self, cells: Any, sizes: Sequence[int]) -> Any:
        library = arrays_of(cells)
        most = max(sizes)
        if most == 0:
            return cells
        padded = library.empty(most, library.dtype(cells))
        padded[: len(cells)] = cells
        out = library.empty(most * self.processes, library.dtype(cells))
        self._over(self._group(True)._allgather_base(self._bytes(out), self._bytes(padded))).wait()
        return library.concatenate([out[most * at : most * at + size] for at, size in enumerate(sizes)])

    def reserve(self, cells: Any, count: int) -> None:
        library = arrays_of(cells)
        library.empty(count, library.dtype(cells))

    def _group(self, of_arrays: bool) -> Any:
        if not self._groups:
            raise RuntimeError("the process groups are closed")
        return self._groups[-1 if of_arrays else 0]

    def settle(self) -> None:
        if self._peers is not None:
            self._peers.settle()

    def close(self) -> None:
        groups, self._groups = self._groups, []
        sockets, self._sockets = self._sockets, None
        peers, self._peers = self._peers, None
        with contextlib.ExitStack() as each:  # all of them, from the last one on, whichever raises
            for group in groups:
                each.callback(_shut_down, group)
            if peers is not None:
                each.callback(peers.close)
            if sockets is not None:
                each.callback(sockets.close)

    def abandon(self) -> None:
        # Others hear of it first: what is under way between GPUs may end with theirs alone.
        _attempt(self._given_up.set, "by one", b"1")
        sockets, self._sockets = self._sockets, None
        peers, self._peers = self._peers, None
        groups, self._groups = self._groups, []
        if sockets is not None:
            _attempt(sockets.close)
        if peers is not None:
            _attempt(peers.give_up)
        for group in groups[:1]:
            _attempt(_shut_down, group)
        # And it never ends when a process is gone.
        for group in groups[1:]:
            if hasattr(group, "abort"):  # since PyTorch 2.7
                _attempt(group.abort)
        for begun in self._begun:
            begun.works.clear()
        if peers is not None:
            _attempt(peers.abandon)
