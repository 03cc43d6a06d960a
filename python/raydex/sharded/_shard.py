# SPDX-License-Identifier: Apache-2.0
"""A shard: an index over the keys of a range, with the rows that these have in all."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from raydex import _raydex
from raydex._arguments import option_texts
from raydex._build import build
from raydex._columns import column_of, row_ids_in
from raydex._errors import InvalidArgument
from raydex._index import Index
from raydex._keys import Key
from raydex._sources import look
from raydex._structures import known
from raydex.sharded._arrays import arrays_of

OPERATIONS = ("contains", "count", "first", "predecessor", "rank", "rows", "successor")
ON_RANGES = ("count", "first", "rows")


def row_id_bits(largest: int) -> int:
    """The width of row ids among which this is the largest one."""
    return 32 if largest < 2**32 - 1 else 64


@dataclass(frozen=True)
class Summary:
    """What the others know of a shard."""

    entries: int
    smallest: int
    """The smallest row of the smallest key; -1 without entries, and where the structure has no order."""
    largest: int
    """The smallest row of the largest key; likewise."""
    max_row: int
    """The largest row that it has had."""
    resident_bytes: int


def ordered_query(operation: str, key: Key, **arguments: Any) -> tuple[str, dict[str, Any]]:
    """How shards are asked for a rank, with its `side`, or for a predecessor or successor, with its `strict`: the
    role of points, see `column_of`, and the arguments. Times of another unit may be between keys, or beyond all; of
    numbers and strings each has to be one of the keys' type."""
    if key.time is None:
        return ("kept", arguments)
    if arguments.get("side", "left") not in ("left", "right"):
        return ("", arguments)
    if operation == "rank":
        return ("at_most" if arguments["side"] == "right" else "below", {"side": "right"})
    names = ("below", "at_most") if operation == "predecessor" else ("above", "at_least")
    return (names[0] if arguments["strict"] else names[1], {"strict": False})


def ends_of(dtype: np.dtype[Any]) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
    """A key that no key is less than, and one that no key is greater than; arrays of one cell."""
    if dtype.kind == "f":
        return (np.array([-np.inf], dtype), np.array([np.nan], dtype))
    if dtype.kind == "S":
        return (np.array([b""], dtype), np.array([b"\xff" * dtype.itemsize], dtype))
    if dtype.kind in "mM":  # the smallest number is not a time
        whole = np.iinfo("int64")
        return (np.array([whole.min + 1]).view(dtype), np.array([whole.max]).view(dtype))
    return (np.array([np.iinfo(dtype).min], dtype), np.array([np.iinfo(dtype).max], dtype))


def distinct(keys: Any) -> Any:
    return arrays_of(keys).unique(keys)


class Shard:
    """An index over some keys of a column, with the rows that they have in the whole column.

    Beside the index it keeps the keys, so that its entries can be had again; a key of 8 bytes takes 8 more.

    Parameters
    ----------
    keys
        An array of NumPy or PyTorch of a dtype that has keys, without missing cells; it must not change.
    rows
        As many integers.
    bits
        The width of the row ids, 32 or 64. One of 32 has room for rows below 2^32 - 1.
    structure, device, options
        As of `raydex.build`.
    """

    def __init__(
        self,
        keys: Any,
        rows: Any,
        bits: int = 64,
        structure: str = "auto",
        device: Any = None,
        **options: Any,
    ) -> None:
        source, row_source = look("column", keys), look("rows", rows)
        target = source.library.device_for(device, structure)
        number, kept = source.library.stream_for(None)
        column = column_of(source, number)
        ids = target.run(row_ids_in, row_source, number, bits)
        native = target.run(
            _raydex.Index, structure, target.backend, target.session(), number, column.native, ids.native,
            option_texts(options, structure, build),
        )  # fmt: skip
        self._index = Index(native, target, column.key, kept, number)
        self._held = [keys]  # all keys that it ever held, or more
        self.ordered = any(one.ranges for one in known() if one.name == self._index.info.structure)

    @property
    def index(self) -> Index:
        """Its index, whose rows are those of the whole column."""
        return self._index

    @property
    def entries(self) -> int:
        return len(self._index)

    def summary(self) -> Summary:
        """What the others are to know of it now. Cost: two searches, and on a GPU waiting for them."""
        info = self._index.info
        smallest = largest = -1
        if self.ordered and info.entries:
            library = arrays_of(self._held[0])
            low, high = ends_of(library.dtype(self._held[0]))
            smallest = int(self._index.successor(library.from_host(low))[0])
            largest = int(self._index.predecessor(library.from_host(high))[0])
        kept = sum(len(one) * arrays_of(one).dtype(one).itemsize for one in self._held)
        return Summary(info.entries, smallest, largest, info.max_row_id, info.resident_bytes + kept)

    def answer(self, operation: str, lower: Any, upper: Any = None, *, narrow: bool = False, **arguments: Any) -> Any:
        """The answers of this shard alone to the pieces of a batch.

        Parameters
        ----------
        operation
            One of `OPERATIONS`; with an upper end one of `ON_RANGES`.
        lower, upper
            Arrays of the keys' dtype.
        narrow
            Of `first`: whether answers are int32, which all rows fit.
        arguments
            `side` of rank, `strict` of predecessor and successor.

        Returns
        -------
        array of int64
            A cell a piece; of `contains` bool, of `first` int32 where `narrow`.
        counts, rows
            Of `rows`: how many rows each piece has, and the rows; int64.

        Answers of rank, predecessor and successor are yet to be completed with `complete`. Raises what
        `Index` raises."""
        if operation not in OPERATIONS:
            raise InvalidArgument(f"operation: {operation!r} is none of {', '.join(OPERATIONS)}")
        if operation == "first" and narrow:
            return self._index._first32(lower, upper)
        call = getattr(self._index, operation)
        found = call(lower, upper, **arguments) if operation in ON_RANGES else call(lower, **arguments)
        if operation == "rows":
            return (found.offsets[1:] - found.offsets[:-1], found.rows)
        return found

    def insert(self, keys: Any, rows: Any) -> None:
        """Inserts entries of this shard's range; as `Index.insert`, of arrays without missing cells, which
        must not change."""
        self._index.insert(keys, rows)
        self._held.append(keys)
        self._trim()

    def erase(self, keys: Any, rows: Any = None) -> None:
        """Erases entries; as `Index.erase`."""
        self._index.erase(keys, rows)
        self._trim()

    def _trim(self) -> None:
        """Forgets keys without entries, where the keys that it keeps have become far more than entries."""
        if sum(map(len, self._held)) > 2 * self.entries + (1 << 16):
            self._held = [distinct(Shard.take(self)[0])]  # where the index is

    def take(self) -> tuple[Any, Any]:
        """Keys and rows of all entries, int64, those of a key together. Cost: a sort of the keys, two
        searches a distinct one, and a write an entry."""
        library = arrays_of(self._held[0])
        keys = distinct(library.concatenate(self._held))
        found = self._index.rows(keys)
        return (library.repeat(keys, found.offsets[1:] - found.offsets[:-1]), found.rows)

    def close(self) -> None:
        """Frees its memory now."""
        self._index.close()
        self._held = self._held[:0]


def complete(operation: str, answers: Any, shard: int, summaries: Sequence[Summary]) -> Any:
    """What `shard`, a number, answers, with what is known of the others: to ranks the entries of earlier
    shards are added; where it has no predecessor or successor, the closest shard with entries has it."""
    if operation == "rank":
        return answers + sum(one.entries for one in summaries[:shard])
    if operation == "predecessor":
        rows = [one.largest for one in summaries[:shard] if one.entries]
        nearest = rows[-1] if rows else -1
    elif operation == "successor":
        rows = [one.smallest for one in summaries[shard + 1 :] if one.entries]
        nearest = rows[0] if rows else -1
    else:
        return answers
    library = arrays_of(answers)
    return library.where(answers < 0, library.full(len(answers), nearest, library.dtype(answers)), answers)
