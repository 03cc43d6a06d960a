# SPDX-License-Identifier: Apache-2.0
"""Opens files of indexes."""

from __future__ import annotations

import os
from typing import Any

from raydex import _raydex
from raydex._aggregates import Aggregate
from raydex._arguments import flag
from raydex._asof_index import AsofIndex
from raydex._composite import index_of_note
from raydex._devices import stream_number
from raydex._errors import InvalidArgument
from raydex._kept import device_of, path_of
from raydex._minima import Rmq
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
        be changed in place.
    device
        Where the index is to be: `cpu`, `cuda`, `cuda:0`, or `optix` for `rx`, `cgrx` and `rmq_rx`. It need not be
        where it was.
    stream
        Of a GPU: the stream of the copies, on which the index frees its memory.
    verify
        Whether all of the file is read and verified before anything is used: checksums, by which a damaged file is
        refused, and the entries, from which all but sorted arrays are built again, as minima are over their array. So
        a file that somebody made to do harm ends no process. Without it only what the file says of itself is verified:
        take it for your own files. What is in host memory is then open at once, whatever its size, if it has no scene
        and no dictionary, is no `rmq_lca`, and of minima of `extremes="both"`.

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
    an `AsofIndex` puts its rows in order if they are not.
    """
    flag("verify", verify)
    name, target = path_of(path), device_of(device)
    if stream is not None and target.number is None:
        raise InvalidArgument(f"stream: {stream!r}, but an index in host memory has none; leave it out")
    number = 0 if stream is None else stream_number(stream)
    native, note, *rest = target.run(_raydex.load, target.backend, target.session(), number, name, bool(verify))
    if isinstance(native, _raydex.AsofJoin):
        return AsofIndex._of_note(native, note, target, number, stream)
    if isinstance(native, _raydex.Rmq):
        return Rmq._of_note(native, note, target, number, stream)
    index = index_of_note(native, note, target, number, stream)
    return Aggregate._of_note(rest[0], index, note, stream, number) if rest else index
