# SPDX-License-Identifier: Apache-2.0
"""Runs: files beside that of an index, with rows that were appended to it.

The runs of `PATH` are `PATH.run-1`, `PATH.run-2` and so on. Each names the file that it is beside by the header of that
file, in which there are checksums of all the rest. A file that takes the place of another one with its runs says in its
note which one that was: so nobody takes runs for those of another file, and runs that a process left when it was ended
are known as such."""

from __future__ import annotations

import contextlib
import errno
import fcntl
import hashlib
import json
import operator
import os
import re
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from raydex import _raydex
from raydex._array_libraries import HOST
from raydex._arrow import Bitmap, HostCells, StringCells, letters_of, strings_in
from raydex._columns import Column, host_cells
from raydex._devices import Device
from raydex._errors import Error, InvalidArgument, Unsupported
from raydex._kept import facts_of
from raydex._keys import Key, facts_of_key, key_of_facts
from raydex._sources import Source

_MAGIC = b"\x89rdx-run"
_VERSION = 1
_HEAD = struct.Struct("<8sII16s")  # the magic, the version, the bytes of the facts, the checksum of all that and these
_HEADER_OF_INDEX = 64
_MOST_FACTS = 1 << 20
_HOST = Device("cpu", None)


@dataclass(slots=True)
class Cells:
    """Those of a column in a run."""

    key: Key
    array: npt.NDArray[Any]  # the cells; the letters of strings
    offsets: npt.NDArray[np.int64] | None  # where strings begin, and where the last one ends
    there: npt.NDArray[np.bool_] | None  # None: all

    def __len__(self) -> int:
        return len(self.array) if self.offsets is None else len(self.offsets) - 1

    @classmethod
    def of(cls, column: Column) -> Cells:
        cells = column.kept[0]
        if not isinstance(cells, StringCells):
            array, there = host_cells(column)
            return cls(column.key, array, None, there)
        letters, begins, sizes = letters_of(cells)
        offsets = np.append(begins, begins[-1:] + sizes[-1:]) if len(begins) else np.zeros(1, "i8")
        there = None if cells.bits is None else cells.bits.there(cells.size)
        return cls(column.key, letters[offsets[0] : offsets[-1]], offsets - offsets[0], there)

    @classmethod
    def joined(cls, parts: list[Cells]) -> Cells:
        """Several of one key, one behind the other."""
        if len(parts) == 1:
            return parts[0]
        array, offsets, there = np.concatenate([one.array for one in parts]), None, None
        if parts[0].offsets is not None:
            begins = np.cumsum([0] + [len(one.array) for one in parts])
            pieces = [one.offsets[:-1] + begin for one, begin in zip(parts, begins) if one.offsets is not None]
            offsets = np.concatenate([*pieces, begins[-1:]])
        if any(one.there is not None for one in parts):
            there = np.concatenate([np.ones(len(one), bool) if one.there is None else one.there for one in parts])
        return cls(parts[0].key, array, offsets, there)

    def source(self, argument: str) -> Source:
        """The same as a column that calls take."""
        bits = None if self.there is None else Bitmap.of(self.there)
        if self.offsets is not None:
            letters = self.array if len(self.array) else np.zeros(1, "u1")
            return Source(argument, None, HOST, strings_in(letters, self.offsets, bits, self.key.unit))
        cells = HostCells(self.array, bits, self.key.unit, is_void=self.key.is_void, is_whole=self.key.is_whole)
        return Source(argument, None, HOST, cells, shape=self.array.shape)

    def pieces(self) -> list[npt.NDArray[Any]]:
        """What a file has of them."""
        own = [self.array] if self.offsets is None else [self.offsets, self.array]
        return own if self.there is None else [*own, np.packbits(self.there, bitorder="little")]

    def facts(self) -> dict[str, Any]:
        letters = None if self.offsets is None else len(self.array)
        return {"key": facts_of_key(self.key), "letters": letters, "missing": self.there is not None}


@dataclass(slots=True)
class Run:
    """What a run says of itself, and its cells if they were read."""

    path: bytes
    base: str
    first_row: int
    rows: int
    keys: list[Key]
    columns: list[dict[str, Any]]
    bytes_of_cells: int
    cells: list[Cells]

    @property
    def end(self) -> int:
        """The row behind its last one."""
        return self.first_row + self.rows

    def with_cells(self) -> Run:
        """The same with its cells, of a file that nobody changes meanwhile."""
        found = _read_run(self.path, True)
        assert found is not None
        return found


def refusal(path: bytes, why: str) -> InvalidArgument:
    return InvalidArgument(f"{os.fsdecode(path)}: {why}")


def _path_of_run(target: bytes, number: int) -> bytes:
    return target + b".run-%d" % number


# ---- what is written


def _padding(size: int) -> bytes:
    return b"\0" * (-size % 8)


def write_run(target: bytes, number: int, base: str, first_row: int, cells: list[Cells]) -> None:
    """Writes a run whole or not at all, in the place of one of that number if there is one."""
    body: list[bytes | memoryview] = []
    for one in cells:
        for piece in one.pieces():
            own = np.ascontiguousarray(piece).reshape(-1).view("u1").data
            body += [own, _padding(len(own))]
    digest = hashlib.blake2b(digest_size=16)
    for part in body:
        digest.update(part)
    facts = {
        "base": base, "first_row": first_row, "rows": len(cells[0]), "columns": [one.facts() for one in cells],
        "bytes": sum(map(len, body)), "sum": digest.hexdigest(),
    }  # fmt: skip
    text = json.dumps(facts).encode()
    text += b" " * (-(_HEAD.size + len(text)) % 8)  # what is behind is aligned
    path, new = _path_of_run(target, number), target + b".run-new"
    name = os.fsdecode(path)
    try:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(new)  # of a process that was ended
        file = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o666)
    except OSError as problem:
        raise InvalidArgument(f"{name}: it cannot be written: {problem.strerror}") from None
    doing = "write"
    try:
        try:
            for part in (_HEAD.pack(_MAGIC, _VERSION, len(text), _sum_of_facts(text)), text, *body):
                _write(file, memoryview(part))
            doing = "fsync"
            os.fsync(file)
        finally:
            os.close(file)
        doing = "rename"
        os.rename(new, path)
    except BaseException as problem:
        with contextlib.suppress(OSError):
            os.unlink(new)
        if isinstance(problem, OSError):
            raise Error(f"{name}: {doing}: {problem.strerror}") from None
        raise
    try:
        folder = os.open(os.path.dirname(target) or b".", os.O_RDONLY | os.O_DIRECTORY)
    except OSError:  # it may not be read
        return
    try:
        os.fsync(folder)
    except OSError as problem:
        if problem.errno != errno.EINVAL:  # of file systems that have no such thing
            raise Error(f"{name}: fsync of the folder: {problem.strerror}") from None
    finally:
        os.close(folder)


def _sum_of_facts(text: bytes) -> bytes:
    begin = struct.pack("<8sII", _MAGIC, _VERSION, len(text))
    return hashlib.blake2b(begin + text, digest_size=16).digest()


def _write(file: int, left: memoryview) -> None:
    while len(left):
        left = left[os.write(file, left) :]


# ---- what is read


def _read_run(path: bytes, has_cells: bool) -> Run | None:
    """A run, with its cells if they are wanted; None if there is none of that name."""
    try:
        file = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)  # of a pipe, too
    except FileNotFoundError:
        return None
    except OSError as problem:
        if problem.errno == errno.ENAMETOOLONG:
            return None
        raise refusal(path, f"it cannot be read: {problem.strerror}") from None
    try:
        with open(file, "rb") as opened:
            head = opened.read(_HEAD.size)
            size = os.fstat(file).st_size
            if len(head) < _HEAD.size:
                raise refusal(path, "header: the file is too short for it")
            magic, version, count, checksum = _HEAD.unpack(head)
            if magic != _MAGIC:
                raise refusal(path, "header: it is no run of raydex")
            if version != _VERSION:
                raise refusal(path, f"header: the run is of version {version}, and this raydex reads {_VERSION}")
            if count > _MOST_FACTS:
                raise refusal(path, "header: it says of no run what it has")
            text = opened.read(count)
            if len(text) < count:
                raise refusal(path, "facts: the file is cut off")
            if _sum_of_facts(text) != checksum:
                raise refusal(path, "facts: their checksum is another one; the file was changed or damaged")
            try:
                run, digest = _run_of_facts(path, json.loads(text))
            except (ValueError, TypeError, KeyError, RecursionError) as problem:
                raise refusal(path, f"facts: they are of no run: {problem}") from None
            if size != _HEAD.size + count + run.bytes_of_cells:
                expected = _HEAD.size + count + run.bytes_of_cells
                raise refusal(path, f"cells: the file has {size} bytes, not {expected}; it was cut off or appended to")
            if has_cells:
                body = opened.read()
                if hashlib.blake2b(body, digest_size=16).hexdigest() != digest:
                    raise refusal(path, "cells: their checksum is another one; the file was changed or damaged")
                try:
                    run.cells = _cells_in(body, run)
                except ValueError as problem:
                    raise refusal(path, f"cells: {problem}") from None
            return run
    except OSError as problem:
        raise refusal(path, f"it cannot be read: {problem.strerror}") from None


def _run_of_facts(path: bytes, facts: dict[str, Any]) -> tuple[Run, str]:
    first, rows, size = (operator.index(facts[name]) for name in ("first_row", "rows", "bytes"))
    columns = [dict(one) for one in facts["columns"]]
    if first < 0 or rows < 1 or first + rows >= 2**64 or size < 0 or not 1 <= len(columns) <= 16:
        raise ValueError("no run has so many rows, columns or bytes")
    keys = [key_of_facts(one["key"]) for one in columns]
    return (Run(path, str(facts["base"]), first, rows, keys, columns, size, []), str(facts["sum"]))


def _cells_in(body: bytes, run: Run) -> list[Cells]:
    at = 0

    def take(count: int, dtype: Any) -> npt.NDArray[Any]:
        nonlocal at
        size = count * np.dtype(dtype).itemsize
        if size > len(body) - at:
            raise ValueError("they are not all there")
        found = np.frombuffer(body, dtype, count, at)
        at += size + -size % 8
        return found

    all_columns = []
    for key, facts in zip(run.keys, run.columns):
        try:
            letters, are_missing = facts["letters"], bool(facts["missing"])
            size = 0 if letters is None else operator.index(letters)
        except (TypeError, KeyError) as problem:
            raise ValueError(f"a column that is none: {problem}") from None
        if (key.dtype is None) != (letters is not None) or size < 0:
            raise ValueError("a column without its letters")
        offsets = None
        if key.dtype is None:
            offsets = take(run.rows + 1, "i8")
            if offsets[0] != 0 or offsets[-1] != size or bool((offsets[1:] < offsets[:-1]).any()):
                raise ValueError("strings that lie nowhere")
            array = take(size, "u1")
        else:
            array = take(run.rows, key.dtype)
        there = None
        if are_missing:
            there = Bitmap(take((run.rows + 7) // 8, "u1")).there(run.rows)
        all_columns.append(Cells(key, array, offsets, there))
    if at != len(body):
        raise ValueError("they are more than the columns")
    return all_columns


# ---- a file and its runs


@dataclass(frozen=True)
class Origin:
    """The file that an index was loaded from, or saved to."""

    target: bytes
    base: str  # empty: not known
    appended: int  # rows that ever were by `append_file`, at that time


@dataclass(frozen=True)
class Said:
    """What the note of a file says of runs."""

    merged: str = ""  # the file whose runs it has, and that it took the place of
    appended: int = 0

    @classmethod
    def of(cls, note: bytes) -> Said:
        try:
            found = facts_of(note)
            facts = {} if found is None else found[0]
            return cls(str(facts.get("merged", "")), operator.index(facts.get("appended", 0)))
        except (ValueError, TypeError, RecursionError):
            return cls()  # who reads the note says what is wrong with it

    def beside(self) -> dict[str, Any]:
        """The same for a note."""
        facts = {"merged": self.merged, "appended": self.appended}
        return {name: one for name, one in facts.items() if one}


def target_of(path: bytes) -> bytes:
    """The file that links lead to, beside which its runs are."""
    try:
        return os.path.realpath(path)
    except ValueError:
        return path  # no name, as the library says


def base_of(target: bytes) -> str:
    """What tells a file from all others; empty without one."""
    try:
        file = os.open(target, os.O_RDONLY | os.O_NONBLOCK)
    except (OSError, ValueError):
        return ""
    try:
        return os.read(file, _HEADER_OF_INDEX).hex()
    except OSError:
        return ""
    finally:
        os.close(file)


@contextlib.contextmanager
def locked(target: bytes, is_needed: bool) -> Iterator[None]:
    """Has all others who append to a file, merge it or save to its path wait; without a file there is nobody."""
    file = _lock(target, is_needed)
    try:
        yield
    finally:
        if file >= 0:
            fcntl.flock(file, fcntl.LOCK_UN)  # a process that was forked meanwhile has it open, too
            os.close(file)


def _lock(target: bytes, is_needed: bool) -> int:
    """The file, open and locked; -1 if there is none, or none that can be locked."""
    while True:
        try:
            file = os.open(target, os.O_RDONLY | os.O_NONBLOCK)
        except (OSError, ValueError):
            return -1  # who reads it says so
        is_locked = False
        try:
            fcntl.flock(file, fcntl.LOCK_EX)
            own, found = os.fstat(file), os.stat(target)
            is_locked = (own.st_dev, own.st_ino) == (found.st_dev, found.st_ino)  # else it was replaced meanwhile
            if is_locked:
                return file
        except FileNotFoundError:
            pass
        except OSError as problem:
            if is_needed:
                raise Unsupported(f"{os.fsdecode(target)}: it cannot be locked: {problem.strerror}") from None
            return -1
        finally:
            if not is_locked:
                os.close(file)


def _numbers_of_runs(target: bytes) -> list[int]:
    """Those of all runs that there are, be they of this file or not, the largest one first."""
    folder, name = os.path.split(target)
    pattern = re.compile(re.escape(name) + rb"\.run-([1-9][0-9]{0,17})")
    try:
        found = map(pattern.fullmatch, os.listdir(folder or b"."))
    except OSError as problem:
        raise refusal(target, f"the folder with its runs cannot be read: {problem.strerror}") from None
    return sorted((int(one[1]) for one in found if one is not None), reverse=True)


def runs_of(
    target: bytes, base: str, said: Said, has_cells: bool, is_thorough: bool = False
) -> tuple[list[Run], list[Run]]:
    """The runs of a file, in their order, and those whose rows it has itself, the last one first. Refuses all others
    that are beside it. Unless `is_thorough`, the folder is not read if there is no first one."""
    found: list[Run] = []
    merged: list[Run] = []
    run: Run | None
    while True:
        path = _path_of_run(target, len(found) + 1)
        run = _read_run(path, has_cells)
        if run is None or _is_merged(run, said):
            break
        if run.base != base:
            raise refusal(
                path,
                f"facts: its rows were appended to another file than {os.fsdecode(target)} is now; put that one back, "
                "or remove the run if its rows are not wanted",
            )
        if found and (run.first_row != found[-1].end or run.keys != found[0].keys):
            raise refusal(path, f"facts: it does not follow {os.fsdecode(found[-1].path)}")
        found.append(run)
    if found or run is not None or is_thorough:
        for number in _numbers_of_runs(target):
            if number <= len(found):
                break
            run = _read_run(_path_of_run(target, number), False)
            if run is not None and not _is_merged(run, said):
                raise refusal(path, f"it is missing, and {os.fsdecode(run.path)} is there; put it back")
            merged += [] if run is None else [run]
    return (found, merged)


def _is_merged(run: Run, said: Said) -> bool:
    return said.merged != "" and run.base == said.merged


def remove(runs: list[Run]) -> None:
    """Removes runs whose rows their file has. The first one is to go last: it says that there are some."""
    with contextlib.suppress(OSError):  # whoever appends next does it
        for one in runs:
            os.unlink(one.path)


def remove_of(target: bytes, base: str) -> None:
    """Removes the runs of a file that another one with their rows has replaced. Those of this one stay, so that it is
    locked anew."""
    with locked(target, False), contextlib.suppress(InvalidArgument):  # whoever appends next says what is wrong
        if base_of(target) != base:
            found = [_read_run(_path_of_run(target, number), False) for number in _numbers_of_runs(target)]
            remove([one for one in found if one is not None and one.base == base])


def said_by(target: bytes) -> Said:
    """What the note of a file says."""
    _, note, *_ = _raydex.load("cpu", _HOST.session(), 0, target, False)
    return Said.of(note)


@dataclass
class Replacement:
    """A file that is written in the place of another one."""

    beside: dict[str, Any]  # what its note says beside all else
    origin: Origin | None = None  # of what was saved, once it is


@contextlib.contextmanager
def replacing(path: bytes, origin: Origin | None = None) -> Iterator[Replacement]:
    """Within this a file is written to a path; its runs go with what was there. `origin`: that of what is saved."""
    target = target_of(path)
    with locked(target, False):
        base, said = base_of(target), Said()
        runs: list[Run] = []
        own = origin if origin is not None and origin.target == target else None
        if os.path.lexists(_path_of_run(target, 1)) or (own is not None and own.base != base):
            said = said_by(target) if base else said
            runs, merged = runs_of(target, base, said, False)
            remove(merged)
        if own is not None:
            more = said.appended + sum(one.rows for one in runs) - own.appended
            if more > 0 or (runs and own.base != base):
                raise InvalidArgument(
                    f"{os.fsdecode(path)}: rows were appended to it since this index was loaded; load it again, or "
                    "save to another path"
                )
        to = Replacement(Said(base if runs else "", 0 if own is None else own.appended).beside())
        yield to
        # Others may have replaced it since.
        to.origin = Origin(target, "", 0 if own is None else own.appended)
    if runs:
        remove_of(target, base)
