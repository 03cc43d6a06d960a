# SPDX-License-Identifier: Apache-2.0
"""Appends rows to files of indexes, without a look at those that they have."""

from __future__ import annotations

import math
import os
from typing import Any

import numpy as np

from raydex import _raydex
from raydex._columns import Column, column_of, read_as, role_of
from raydex._composite import CompositePoints, Packing, Probe
from raydex._devices import Device
from raydex._edits import end_of_rows, numbers_of, refuse_void
from raydex._errors import InvalidArgument, InvalidType
from raydex._infos import options_of
from raydex._kept import facts_of, key_in, key_of_format, path_of
from raydex._keys import TEXTS, Key
from raydex._loading import check_runs, columns_in, key_in_runs, opened
from raydex._prefixes import NO_PREFIXES
from raydex._runs import Cells, Run, Said, base_of, locked, remove, remove_of, runs_of, target_of, write_run
from raydex._sources import Source, look
from raydex.typing import ColumnLike

_SMALL = 1 << 20  # bytes of a run that the next rows are put into
_HOST = Device("cpu", None)
_TAKE_ALL = ("sorted_array", "pivot_tree", "btree", "hash_open", "hash_bucket")
"""Structures that take any keys of their type, unless they have options of these values."""
_UNLESS = {"layout": "keys", "repeats": "refused"}


def append_file(path: str | os.PathLike[str], keys: ColumnLike, *, share: float | None = 0.125) -> range:
    """Appends keys to the file of an index as the rows that follow, and returns the numbers of these rows.

        >>> import raydex, tempfile, os
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = os.path.join(folder, "prices.index")
        ...     raydex.build([50, 20, 40]).save(path)
        ...     raydex.append_file(path, [20, None, 30])
        ...     with raydex.load(path) as index:
        ...         index.rows([20]).rows
        range(3, 6)
        array([1, 3])

    The file is not loaded, and stays as it is: the rows go to a file of their own beside it, a *run*, `PATH.run-1` and
    so on, which `raydex.load` opens with it. Once there are many such rows, the file is written anew with all of them,
    and the runs are removed: a *merge*.

    Rows are there once this returns, whatever happens then; if the process ends before, all of them are there or none
    is. Several processes may append to a file: each waits for the others. Move or copy a file with its runs.

    Parameters
    ----------
    path
        The file of `Index.save` or `raydex.build_file`, or one of a program.
    keys
        As for `Index.append`: a column in host memory, of keys over several columns a tuple of these. Missing keys have
        rows, too.
    share
        The rows are merged when those of all runs are more than this share of the file's rows. None: never by itself.

    Returns
    -------
    range
        As of `Index.append`. `raydex.load` has the keys at these rows.

    Raises
    ------
    InvalidArgument, InvalidType
        As of `Index.append`, and for a file or a run that `raydex.load` refuses.
    Unsupported
        For a file system that has no locks of files.
    Error
        If a disk is full, or a call of the system fails; the message names the file.

    Cost
    ----
    A write of the keys and of up to 1 MiB of the last run, for which the disk is waited, and a read of the names in the
    folder. If the file has a dictionary, of texts of more than 8 bytes or of columns, that is read, and if its row ids
    have 64 bits, all of it. `direct`, `rx`, `cgrx`, `layout=keys` and `repeats=refused` do not take any keys: the index
    of such a file is opened each time, with its runs. `raydex.load` of a file with runs takes longer, by the time of an
    `Index.append` of all their rows.

    A merge costs what `raydex.load`, `Index.append` and `Index.save` do. With the default, merges write nine rows for
    each one that is appended, whatever batches they come in."""
    most = _most(share)
    name = path_of(path)
    target = target_of(name)
    with locked(target, True):
        file = _File(name, target)
        columns = file.read(keys)
        size = len(columns[0])
        before = sum(one.rows for one in file.runs)
        numbered = numbers_of(file.next_row, size, file.bits)
        if size == 0:
            return numbered
        merges = before + size > most * file.rows
        if merges:
            file.merge(columns)
        else:
            if not file.takes_all():
                with opened(name, _HOST, 0, None, False, True) as index:
                    index.append(columns_in(columns, file.packing is not None))
            file.write(columns)
    if merges:
        remove_of(target, file.base)
    return numbered


def merge_file(path: str | os.PathLike[str]) -> None:
    """Writes the file of an index anew, with all rows that `append_file` has added to it, and removes its runs.

        >>> import raydex, tempfile, os
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = os.path.join(folder, "prices.index")
        ...     raydex.build([50, 20, 40]).save(path)
        ...     raydex.append_file(path, [20], share=None)
        ...     before = sorted(os.listdir(folder))
        ...     raydex.merge_file(path)
        ...     (before, os.listdir(folder))
        range(3, 4)
        (['prices.index', 'prices.index.run-1'], ['prices.index'])

    The file is written whole or not at all, as by `Index.save`; the structure and its options stay. Do so before a
    program in C++ opens it, which knows nothing of runs, or the command line, which refuses them. A file without runs
    stays as it is.

    *Errors*: as of `raydex.load` and `Index.save`. Cost: that of `raydex.load`, `Index.append` and `Index.save`."""
    name = path_of(path)
    target = target_of(name)
    with locked(target, True):
        file = _File(name, target)
        if file.runs:
            file.merge([])
    remove_of(target, file.base)


class _File:
    """The file of an index, and its runs, as long as they are locked."""

    def __init__(self, name: bytes, target: bytes) -> None:
        self.name, self.target = name, target
        self.base = base_of(target)
        found: tuple[Any, ...] = _raydex.load("cpu", _HOST.session(), 0, name, False)
        native, note, *more = found
        if more or not isinstance(native, _raydex.Index):
            kind = "an aggregate" if more else "minima" if isinstance(native, _raydex.Rmq) else "an as-of index"
            raise InvalidArgument(
                f"{os.fsdecode(name)}: it has {kind}, and rows are appended to files of raydex.Index alone; load it, "
                "or build it again, and save it"
            )
        (self._structure, _, format_of, self.bits, self.rows, _, _, options, *_) = native.info()
        self._options = options_of(options)
        self.next_row = end_of_rows(native)
        self.packing: Packing | None = None
        self._is_hashed = False  # strings, which take any others
        self._of_note(note, format_of)
        self.runs: list[Run]
        self.runs, merged = runs_of(target, self.base, Said.of(note), False, True)
        remove(merged)
        if self.runs:
            check_runs(self.runs, self.next_row, [self._key] if self.packing is None else self.packing.keys)
            self.next_row = self.runs[-1].end

    def _of_note(self, note: bytes, format_of: str) -> None:
        try:
            found = facts_of(note)
            if found is None:
                self._key = key_of_format(format_of)
                return
            facts, _ = found
            if "composite" in facts:
                self.packing = Packing.described(facts["composite"], _HOST)
            else:
                self._key = key_in(facts, format_of)
                self._is_hashed = self._key.dtype is None and facts.get("by_row") is True
            self.next_row = max(self.next_row, int(facts.get("next_row", 0)))
        except (ValueError, TypeError, KeyError, RecursionError) as problem:
            raise InvalidArgument(f"path: section 'note': it is none of an index: {problem}") from None

    def read(self, keys: Any) -> list[Cells]:
        """Keys as runs have them, if the index takes such."""
        packing = self.packing
        if packing is None:
            refuse_void(self._key)
            source = look("keys", keys)
            _refuse_gpu(source)
            return [Cells.of(_column(source, self._key))]
        probe = Probe("keys", keys, packing)
        if probe.is_prefix:
            raise InvalidArgument(NO_PREFIXES.format("keys"))
        points = CompositePoints(packing, probe, True)
        for one in probe.sources:
            _refuse_gpu(one)
        columns = points.read(lambda p, one: _column(read_as(one, packing.keys[p]), packing.keys[p], True))
        sizes = sorted({one.size for one in columns})
        if len(sizes) > 1:
            raise InvalidArgument(f"keys: columns of {sizes[0]} and of {sizes[-1]} cells; give columns of one size")
        return [Cells.of(one) for one in columns]

    def takes_all(self) -> bool:
        """Whether the index surely takes any keys of its type."""
        has_limits = any(self._options.get(name) == word for name, word in _UNLESS.items())
        return self._is_hashed or (self._structure in _TAKE_ALL and not has_limits)

    def write(self, columns: list[Cells]) -> None:
        """Has a run with more rows."""
        number, first = len(self.runs) + 1, self.next_row
        size = sum(piece.nbytes for one in columns for piece in one.pieces())
        if self.runs and self.runs[-1].bytes_of_cells + size <= _SMALL:
            number -= 1
            last = self.runs[-1].with_cells()
            first = last.first_row
            columns = [Cells.joined([one, more]) for one, more in zip(last.cells, columns)]
        write_run(self.target, number, self.base, first, columns)

    def merge(self, columns: list[Cells]) -> None:
        """Writes the file with the rows of its runs, and more."""
        with opened(self.name, _HOST, 0, None, True, True) as index:
            appended = index._origin.appended
            if columns:
                appended += len(index.append(columns_in(columns, self.packing is not None)))
            index._write(self.target, Said(self.base if self.runs else "", appended).beside())


def _column(source: Source, key: Key, copies: bool = False) -> Column:
    """Keys in the type that runs have them in."""
    if key_in_runs(key) == TEXTS:
        return column_of(source, 0, TEXTS)
    return column_of(source, 0, key, copies, role_of(source, key, "kept"))


def _refuse_gpu(source: Source) -> None:
    if source.library.device is not None:
        raise InvalidArgument(
            f"{source.argument}: in {source.library.memory}, but files take columns of host memory; copy it to the "
            "host first"
        )


def _most(share: Any) -> float:
    if share is None:
        return math.inf
    if isinstance(share, (bool, np.bool_)) or not isinstance(share, (int, float, np.integer, np.floating)):
        raise InvalidType(f"share: {share!r} is no share of the file's rows; give a number from 0 on, or None")
    if not share >= 0:
        raise InvalidArgument(f"share: {share!r} is no share of the file's rows; give a number from 0 on, or None")
    return float(share)
