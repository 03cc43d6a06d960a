# SPDX-License-Identifier: Apache-2.0
"""Opens files of indexes."""

from __future__ import annotations

import os
from typing import Any

from raydex import _raydex
from raydex._aggregates import Aggregate
from raydex._arguments import flag
from raydex._asof_index import AsofIndex
from raydex._composite import CompositeIndex, index_of_note
from raydex._devices import Device, stream_number
from raydex._errors import InvalidArgument, Unsupported
from raydex._index import Index
from raydex._kept import device_of, path_of
from raydex._keys import TEXTS, Key
from raydex._minima import Rmq
from raydex._runs import Cells, Origin, Run, Said, base_of, locked, refusal, runs_of, target_of
from raydex.typing import DeviceLike, StreamLike


def load(
    path: str | os.PathLike[str], device: DeviceLike = "cpu", stream: StreamLike = None, *, verify: bool = True
) -> Any:
    """Opens a file of an index, of minima, of an aggregate, or of an as-of index, which its `save` wrote.

        >>> import raydex, tempfile, os
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = os.path.join(folder, "prices.index")
        ...     raydex.build([50, 20, 40, 20, 30]).save(path)
        ...     with raydex.load(path) as index:
        ...         index.count([20, 35], [20, 50])
        array([2, 2])

    Parameters
    ----------
    path
        The file. An index in host memory maps it: it may be replaced or removed while the index is open, but must not
        be changed in place. What `raydex.append_file` has added to it is read, too.
    device
        Where the index is to be: `cpu`, `cuda`, `cuda:0`, or `optix` for `rx`, `cgrx` and `rmq_rx`. It need not be
        where it was.
    stream
        Of a GPU: the stream of the copies, on which the index frees its memory.
    verify
        Whether all of the file is read and verified before anything is used: checksums, by which a damaged file is
        refused, and the entries, from which all but sorted arrays are built again, as minima are over their array. So
        a file that somebody made to do harm ends no process. Without it only what the file says of itself is verified:
        take it for your own files. What is in host memory is then open at once, whatever its size, if it has no runs,
        no scene and no dictionary, is no `rmq_lca`, and of minima of `extremes="both"`. Runs are verified in any case.

    Returns
    -------
    Index, CompositeIndex, Rmq, Aggregate or AsofIndex
        As it was saved; an `Aggregate` with its `index`. On the CPU edits copy what they change; the file stays as it
        is. An `Rmq` has the array of the file, and takes no `refresh`.

    Raises
    ------
    InvalidArgument
        For a file that is none, of another version, cut off or changed; the message names the part.
    Unsupported
        Where the structure is not on the device: `rx`, `cgrx` and `rmq_rx` are on `cpu` and `optix`, others on `cpu`
        and `cuda`.

    Cost
    ----
    With `verify` a read of the file, and a build, which sorts entries of hash tables alone; without it none. In any
    case `rx` and `cgrx` build their scene, and texts of more than 8 bytes and columns that are numbered their
    dictionaries. Minima of `extremes="both"` build the structure of the maxima, `rmq_lca` and `rmq_rx` all of theirs;
    an `AsofIndex` puts its rows in order if they are not. Runs are read, and their rows appended as by `Index.append`;
    for a GPU in host memory, from where the index is copied.
    """
    flag("verify", verify)
    name, target = path_of(path), device_of(device)
    if stream is not None and target.number is None:
        raise InvalidArgument(f"stream: {stream!r}, but an index in host memory has none; leave it out")
    number = 0 if stream is None else stream_number(stream)
    return opened(name, target, number, stream, bool(verify))


def opened(name: bytes, target: Device, number: int, stream: Any, verify: bool, is_locked: bool = False) -> Any:
    """What a file has, with its runs. `is_locked`: nobody appends or merges meanwhile."""
    file = target_of(name)
    base = base_of(file)
    native, note, *rest = target.run(_raydex.load, target.backend, target.session(), number, name, verify)
    said = Said.of(note)
    try:
        runs, _ = runs_of(file, base, said, True)
        if base_of(file) != base:
            raise InvalidArgument(f"{os.fsdecode(name)}: it was replaced while it was read; load it again")
    except InvalidArgument:
        if is_locked:
            raise
        with locked(file, False):  # others may have merged or appended while they were read
            return opened(name, target, number, stream, verify, True)
    if runs and (rest or not isinstance(native, _raydex.Index)):
        raise refusal(runs[0].path, "it is beside a file that takes no rows")
    if isinstance(native, _raydex.AsofJoin):
        return AsofIndex._of_note(native, note, target, number, stream)
    if isinstance(native, _raydex.Rmq):
        return Rmq._of_note(native, note, target, number, stream)
    origin = Origin(file, base, said.appended + sum(one.rows for one in runs))
    if runs and target.number is not None:  # keys of host memory go to an index that is there
        with opened(name, Device("cpu", None), 0, None, verify, is_locked) as grown:
            kept, origin = grown._bytes(), grown._origin
        native, note = target.run(_raydex.Index.from_bytes, target.backend, target.session(), number, kept, False)
        runs = []
    index = index_of_note(native, note, target, number, stream)
    if rest:
        return Aggregate._of_note(rest[0], index, note, stream, number)
    index._origin = origin
    _add(index, runs)
    return index


def _add(index: Index, runs: list[Run]) -> None:
    """Appends the rows of runs to the index of their file."""
    if not runs:
        return
    check_runs(runs, index._next_row, index._packing.keys if isinstance(index, CompositeIndex) else [index._key])
    columns = [Cells.joined(list(parts)) for parts in zip(*(one.cells for one in runs))]
    try:
        index.append(columns_in(columns, isinstance(index, CompositeIndex)))
    except (InvalidArgument, Unsupported) as problem:
        raise refusal(runs[0].path, f"cells: the file does not take them: {problem}") from None


def check_runs(runs: list[Run], next_row: int, keys: list[Key]) -> None:
    """Refuses runs that are not of an index of these keys, whose next row is that."""
    for one in runs[:1]:
        if one.first_row != next_row:
            raise refusal(
                one.path, f"facts: its rows begin at {one.first_row}, but those of the file end before {next_row}"
            )
        if one.keys != list(map(key_in_runs, keys)):
            own, of_file = (", ".join(map(str, some)) for some in (one.keys, keys))
            raise refusal(one.path, f"facts: its keys are {own}, but those of the file {of_file}")


def key_in_runs(key: Key) -> Key:
    """The key of a column as runs have it: texts may be longer than those of the file."""
    return TEXTS if key.dtype is not None and key.dtype.kind == "S" and not key.is_whole else key


def columns_in(columns: list[Cells], are_several: bool) -> Any:
    """The cells of runs as keys of `Index.append`."""
    if not are_several:
        return columns[0].source("keys")
    return tuple(one.source(f"keys[{p}]") for p, one in enumerate(columns))
