# SPDX-License-Identifier: Apache-2.0
"""What sharded calls ask of an engine, and how processes agree before they exchange anything."""

from __future__ import annotations

import contextlib
import functools
import traceback
import weakref
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple, Protocol, TypeVar, cast

import numpy as np
import numpy.typing as npt

from raydex._array_libraries import is_of
from raydex._errors import ExchangeError, InvalidArgument, InvalidType, OutOfMemory, ShardError
from raydex.sharded._arrays import arrays_of
from raydex.sharded._devices import to_device
from raydex.sharded._routing import Routes

_Result = TypeVar("_Result")
_Method = TypeVar("_Method", bound=Callable[..., Any])


class Landing(NamedTuple):
    """An array that each process has, of a size of its own, to receive in."""

    cells: Any
    """That of this process."""
    begins: Sequence[int]
    """The byte of each process's room that its array begins at, where others write to rooms; else empty."""


class Transfer(NamedTuple):
    """An exchange that is begun and waited for later."""

    parts: Sequence[Any]
    """An array to send to each process; of no cells to the process itself, but where others write to rooms."""
    landing: Landing
    """Where they go, and where what comes goes."""
    begins: Sequence[int]
    """The cell of each process's array that the slice for it begins at."""
    room: Sequence[Any]
    """The slices of this process's array for what comes from each; none where others write to rooms."""
    after: Any
    """A mark: the work before it is waited for, and nothing later. None: all that was asked for until now, and that
    the transfer may be a part of it."""


class Exchange(Protocol):
    """What moves arrays between processes. All processes make the same calls in the same order."""

    process: int
    """The number of this process, from 0."""
    processes: int
    places: Sequence[Any]
    """Where the shards of this process are: a `torch.device` each, or None for where their cells come from.
    Several, of one process alone; else one."""
    unit: int
    """Parts that are a multiple of so many cells are sent faster."""

    def accept(self, argument: str, cells: Any) -> Any:
        """An array as `exchange` takes it; raises `raydex.InvalidArgument` for one in other memory."""

    def gather(self, value: object) -> list[Any]:
        """A small object of each process, for each process."""

    def exchange(self, cells: Any, sent: Sequence[int], received: Sequence[int]) -> Any:
        """Sends a slice of an array to each process: the first `sent[0]` cells to process 0, the next
        `sent[1]` to process 1, and so on. What `received` says comes from each, in that order, as one
        array of the same library and dtype."""

    def mark(self) -> Any:
        """A point in the work that was asked for; a `Transfer` waits for what comes before it."""

    def leave_room(self) -> None:
        """Before rooms change, and when all processes are through with theirs."""

    def make_room(self, size: int) -> Any:
        """Sees that there is room for `size` bytes to receive in with `Transfer`s: memory, or the promise of
        it. Returns what `enter_room` of the others is to know. Raises as `reserve`."""

    def enter_room(self, made: Sequence[Any]) -> None:
        """`made`: what `make_room` returned on each process."""

    def landings(self, like: Sequence[Any], sizes: npt.NDArray[np.int64]) -> list[Landing]:
        """Arrays in the room, in place of those that were there before.

        `like`: arrays with their libraries and dtypes. `sizes`: a row for each, with the cells that each
        process's array has."""

    def begin(self, transfers: Sequence[Transfer]) -> list[Callable[[], None]]:
        """Begins transfers, one after the other. Returns what waits for each; until then their arrays must be
        left alone."""

    def spread(self, cells: Any, sizes: Sequence[int]) -> Any:
        """The arrays of all processes, which have `sizes`, one behind the other, for each process."""

    def reserve(self, cells: Any, count: int) -> None:
        """Raises `raydex.OutOfMemory`, `MemoryError` or that of PyTorch if there is no room for `count`
        more cells like these."""

    def settle(self) -> None:
        """Returns when nothing of this process reads what came any more, if others could write over it."""

    def close(self) -> None:
        """Frees what it holds."""

    def abandon(self) -> None:
        """Frees what it can after an exchange failed, and waits for no other process. Those that wait for
        this one get an error, as far as the engine can tell them."""


class Status(NamedTuple):
    """What a process tells the others before an exchange."""

    number: tuple[int, int]
    """Of its company, and of the step: where these differ, a process has left a call that others are in."""
    call: tuple[Any, ...]
    report: dict[str, Any]
    failure: str | None
    full: bool  # it failed for want of memory


class Full(Exception):
    """Some processes had no memory for a batch, and all others no error."""

    def __init__(self, own: Exception | None, others: ShardError, reports: list[dict[str, Any]]) -> None:
        super().__init__()
        self.error: Exception = own or others
        self.reports = reports


_companies: weakref.WeakKeyDictionary[Exchange, int] = weakref.WeakKeyDictionary()
"""How many companies each engine has had."""


class Company:
    """A process among those that make sharded calls together: an error of one is known to all."""

    def __init__(self, engine: Exchange) -> None:
        self.engine = engine
        self._lost = ""
        self._number = _companies[engine] = _companies.get(engine, 0) + 1
        self._steps = 0

    @property
    def process(self) -> int:
        return self.engine.process

    @property
    def processes(self) -> int:
        return self.engine.processes

    @contextlib.contextmanager
    def together(self, changes: bool = False) -> Iterator[None]:
        """A collective call, within a `with`; `changes`: what it ends in the midst of is half done.

        What interrupts it and is no error, such as Ctrl-C, ends the company: the others are in the midst of that
        call, and would take the next one's answers for those of this one."""
        try:
            yield
        except Exception:
            raise
        except BaseException as error:
            if changes or self.processes > 1:
                self._lose(error)
            raise

    def _lose(self, error: BaseException) -> None:
        if not self._lost:
            self._lost = f"{type(error).__name__}: {error}"
            traceback.clear_frames(error.__traceback__)  # which refer to what the engine is to give up
            self.engine.abandon()

    def _reach(self, call: Callable[..., _Result], *arguments: Any) -> _Result:
        """Calls the engine; whatever it raises ends the company."""
        self.check()
        try:
            return call(*arguments)
        except BaseException as error:
            self._lose(error)
            if not isinstance(error, Exception):
                raise
            raise ExchangeError(
                f"the exchange failed on process {self.process}, {self._lost}; what it was for is lost, "
                "build it again when all processes are there"
            ) from error

    def check(self) -> None:
        if self._lost:
            raise ExchangeError(f"it was lost when an exchange failed, {self._lost}; build it again")

    def agree(
        self, call: tuple[Any, ...], work: Callable[[dict[str, Any]], _Result], *, retry: bool = False
    ) -> tuple[_Result, list[dict[str, Any]]]:
        """Does this process's part of a step, and learns whether the others did theirs.

        `call` is what is done, which must be the same everywhere; `work` gets a dict to write in what the
        others are to know. Where one process failed it raises its own error there, on the others
        `ShardError`, or with `retry` `Full` on all if memory was all that lacked. Where a process was
        interrupted the company ends."""
        report: dict[str, Any] = {}
        own: Exception | None = None
        result: Any = None
        words: tuple[Any, ...] = ()
        self.check()
        self._steps += 1
        try:
            words = tuple(map(_word, call))
            result = work(report)
        except Exception as error:
            own = own_error(error)
        failure = None if own is None else f"{type(own).__name__}: {own}"
        own_status = ((self._number, self._steps), words, report, failure, _is_full(own))
        statuses = [Status(*one) for one in self._reach(self.engine.gather, own_status)]
        for at, one in enumerate(statuses):
            if one.number != statuses[0].number:
                self._reach(_out_of_step, at, one, statuses[0])
        failed = [at for at, one in enumerate(statuses) if one.failure is not None]
        if failed:
            first = failed[0]
            other = ShardError(first, str(statuses[first].failure))
            if retry and all(statuses[at].full for at in failed):
                if own is not None:  # what it refers to is the memory that the next try needs
                    traceback.clear_frames(own.__traceback__)
                    own = own.with_traceback(None)
                raise Full(own, other, [one.report for one in statuses])
            raise own or other
        for at, one in enumerate(statuses):
            if one.call != statuses[0].call:
                raise InvalidArgument(
                    f"processes differ in what they call: process 0 {_as_text(statuses[0].call)}, process {at} "
                    f"{_as_text(one.call)}; all must make the same calls in the same order"
                )
        return (result, [one.report for one in statuses])

    def exchange(self, cells: Any, sent: Sequence[int], received: Sequence[int]) -> Any:
        return self._reach(self.engine.exchange, cells, sent, received)

    def begin(self, transfers: Sequence[Transfer]) -> list[Callable[[], None]]:
        return self._reach(self.engine.begin, transfers)

    def wait(self, begun: Callable[[], None]) -> None:
        self._reach(begun)

    def enter_room(self, made: Sequence[Any]) -> None:
        self._reach(self.engine.enter_room, made)

    def landings(self, like: Sequence[Any], sizes: npt.NDArray[np.int64]) -> list[Landing]:
        """As of the engine. That there is memory for them has been agreed, see `_room`."""
        return self._reach(self.engine.landings, like, sizes)

    def settle(self) -> None:
        """After the answers of a call have been put in order, and when it failed; before the next call."""
        if not self._lost:
            self._reach(self.engine.settle)

    def spread(self, cells: Any, sizes: Sequence[int]) -> Any:
        return self._reach(self.engine.spread, cells, sizes)

    def close(self) -> None:
        self.engine.close()


def collective(changes: bool) -> Callable[[_Method], _Method]:
    """Of a method of what has a `_company`, which all processes call; `changes`: as of `Company.together`."""

    def made(method: _Method) -> _Method:
        @functools.wraps(method)
        def called(self: Any, *arguments: Any, **named: Any) -> Any:
            with self._company.together(changes):
                return method(self, *arguments, **named)

        return cast(_Method, called)

    return made


def by_process(table: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """How many cells go from each process to each, of how many go from each process to each shard."""
    processes = len(table)
    between: npt.NDArray[np.int64] = table.reshape(processes, processes, -1).sum(axis=2)
    return between


def distribute(
    company: Company, routes: list[Routes], columns: list[list[Any]], table: npt.NDArray[np.int64]
) -> list[list[Any]]:
    """The columns of each shard of this process.

    `columns[i]` are grouped as `routes[i]` are: of the process's slice, or, where the only process moves
    what its own shards have, of each shard. `table`: how many cells go from each process to each shard."""
    engine = company.engine
    if engine.processes > 1:
        between = by_process(table)
        sent, received = between[engine.process].tolist(), between[:, engine.process].tolist()
        return [[company.exchange(cells, sent, received) for cells in columns[0]]]
    slices = [[one.split(cells) for cells in of] for one, of in zip(routes, columns)]
    return [
        [
            concatenated([to_device(one[column][shard], device) for one in slices])
            for column in range(len(columns[0]))
        ]
        for shard, device in enumerate(engine.places)
    ]


def concatenated(arrays: list[Any]) -> Any:
    return arrays[0] if len(arrays) == 1 else arrays_of(arrays[0]).concatenate(arrays)


def _word(word: Any) -> Any:
    """A word of a call, if it can be sent and compared."""
    if word is None or isinstance(word, (str, bytes, int, float, np.generic)):
        return word
    if is_of("torch", word, "device"):
        return str(word)
    if isinstance(word, tuple):
        return tuple(map(_word, word))
    raise InvalidType(
        f"{word!r}: a {type(word).__qualname__} cannot be sent to the other processes; give a number or a str"
    )


def _out_of_step(at: int, one: Status, first: Status) -> None:
    calls = f"process 0 {_as_text(first.call)}, process {at} {_as_text(one.call)}"
    raise RuntimeError(
        f"processes are not at the same step of their calls: {calls}; one was interrupted, or left a call out"
    )


def own_error(error: Exception) -> Exception:
    """An error as raydex says it. That of another library refers to frames and their memory; ours is new."""
    if is_of("torch.cuda", error, "OutOfMemoryError") or (
        isinstance(error, MemoryError) and not isinstance(error, OutOfMemory)
    ):
        return OutOfMemory(str(error) or "no memory in Python or NumPy")
    return error


def _is_full(error: Exception | None) -> bool:
    """Whether it says that memory could not be had."""
    return isinstance(error, MemoryError)


def _as_text(call: tuple[Any, ...]) -> str:
    return " ".join(str(word) for word in call)
