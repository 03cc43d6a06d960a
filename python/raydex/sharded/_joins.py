# SPDX-License-Identifier: Apache-2.0
"""Joins of tables that are divided among processes, a slice each."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from raydex._arguments import check_words
from raydex._columns import key_of
from raydex._errors import InvalidArgument, InvalidType
from raydex._joined import Joined
from raydex._joins import OF_BUILD_ROWS, check_how, check_seed, common_key, match_columns, pair_columns
from raydex._keys import Key
from raydex._sources import Source, look
from raydex.sharded._arrays import arrays_of, in_both
from raydex.sharded._build import engine_for
from raydex.sharded._call import Probes
from raydex.sharded._cells import Dense, dense, empty_source, of_all
from raydex.sharded._devices import beside, to_device
from raydex.sharded._exchange import Company, Exchange, by_process, distribute
from raydex.sharded._hot_keys import Sampled, apart, hot_keys, without
from raydex.sharded._index import ShardedIndex
from raydex.sharded._routing import Routes, route, sample, slices_by_rows, splitters_from
from raydex.typing import ExchangeName, How, KeyColumns, ShardJoinOptions, StructureName, Unpack

_SAMPLE = 1536  # of both sides' keys of 64 bits 24 KiB, which processes of a host tell each other by sockets
SLICE = 1 << 22
"""So many pairs are in memory a second time while they are written, or one in `ONE_IN` if that is more. Fewer at a time
take longer on a GPU, whose kernels are through before the next ones are there."""
ONE_IN = 128
ROUND = 1 << 24
"""So many rows of an index are under way together at a time, or likewise."""
EXCHANGES = ("shuffle", "broadcast")


class JoinPairs(NamedTuple):
    """The rows of a join that this process has, numbered over all slices; int64, in any order."""

    left: Any
    """A row of the left table for each row of the join, -1 where a right or full join has none."""
    right: Any
    """Its row of the right table, -1 where a left or full join has none; None for semi and anti joins."""


class _Side(NamedTuple):
    """The rows of this process with a whole key, which can match."""

    columns: list[Any]
    rows: Any
    unmatched: Any
    """The rows without."""


def join(
    left: KeyColumns,
    right: KeyColumns,
    how: How = "inner",
    *,
    exchange: ExchangeName | None = None,
    structure: StructureName = "auto",
    seed: int | None = None,
    group: Any = None,
    devices: Sequence[Any] | None = None,
    engine: Exchange | None = None,
    timeout: float = 300.0,
    **options: Unpack[ShardJoinOptions],
) -> JoinPairs:
    """Joins two tables by equal keys. A collective call.

    Parameters
    ----------
    left, right
        This process's slices of two tables: a column each, or up to 16 as a tuple, a list, a dict or a data
        frame, as of `raydex.join`; a slice may be empty. `right` may be a `ShardedIndex` over one column,
        which is used as it is, where it is.
    how
        `inner`: each pair of rows that match. `left`: the same, and left rows without a match, with -1. `right`: as
        inner, and right rows without a match, with -1 in place of a left one; `full`, or `outer`: as left, and then
        these; not if `right` is an index. `semi`: left rows with a match, once each. `anti`: left rows without one. A
        missing value matches nothing.
    exchange
        `shuffle`: rows of both tables go to the process that owns their key, which is a range of the first
        column. `broadcast`: the right table goes to all processes, or, of an inner join, the smaller one.
        By default what sends fewer rows.
    structure, options
        Of the index over the right rows, as of `raydex.build`.
    seed
        Of hashes, as of `raydex.join`.
    group, devices, engine, timeout
        As of `raydex.sharded.build`. For many joins make one engine, `TorchExchange(group)`.

    Returns
    -------
    JoinPairs
        Of each process other pairs: with `shuffle` those of the keys that it owns, left rows with a missing
        value and rows with a hot key where they came from; with `broadcast` and with an index those of its
        own rows.

    Raises
    ------
    OutOfMemory, ShardError
        On a process that has no memory, and on the others.
    ExchangeError
        If another process does not answer; and what `raydex.join` raises.

    Cost
    ----
    Keys and rows are sent once, or one side as many times as there are processes; a local join. With `shuffle` left
    rows stay where they are if their key, of several columns the first one, is hot, that is in more than one of 64 left
    rows, and the fewer right rows are sent to all processes instead; of an inner join also the other way round.

    Memory: 16 bytes a pair, which are returned; up to a twentieth of that, or some 150 MB, while they are written; and
    what there is of each row, the index over the right ones among it. With an index rows come in rounds, which take up
    to a twentieth, or some 400 MB.
    """
    if isinstance(right, ShardedIndex):
        arguments: dict[str, Any] = {
            "exchange": exchange, "structure": None if structure == "auto" else structure, "seed": seed, "group": group,
            "devices": devices, "engine": engine, "timeout": None if timeout == 300.0 else timeout, **options,
        }  # fmt: skip
        for name, value in arguments.items():
            if value is not None:
                raise InvalidArgument(f"{name}: {value!r}, but right is an index, which has all of that already")
        with right._company.together():
            return _join_index(left, right, how)
    moves = engine_for(group, devices, engine, timeout, None)
    company = Company(moves)
    try:
        with company.together():
            return _of_any_kind(company, left, right, how, exchange, structure, seed, options)
    finally:
        if engine is None:
            company.close()


def _of_any_kind(
    company: Company, left: Any, right: Any, how: str, exchange: str | None, structure: str, seed: int | None,
    options: Mapping[str, object],
) -> JoinPairs:  # fmt: skip
    """A right join is a left one the other way round."""
    if how not in OF_BUILD_ROWS:
        return _join(company, left, right, how, exchange, structure, seed, options)
    if how == "right":
        return JoinPairs(*_join(company, right, left, "left", exchange, structure, seed, options)[::-1])
    pairs = _join(company, left, right, "left", exchange, structure, seed, options)
    lone = beside(_join(company, right, left, "anti", exchange, structure, seed, options).left, pairs.left)

    def join(report: dict[str, Any]) -> JoinPairs:
        library = arrays_of(lone)
        none = library.full(len(lone), -1, "int64")
        return JoinPairs(library.concatenate([pairs.left, none]), library.concatenate([pairs.right, lone]))

    return company.agree(("join", "in one"), join)[0]


def _join(
    company: Company,
    left: Any,
    right: Any,
    how: str,
    exchange: str | None,
    structure: str,
    seed: int | None,
    options: Mapping[str, object],
) -> JoinPairs:
    moves = company.engine

    def look_at(report: dict[str, Any]) -> tuple[list[Source], list[Source]]:
        check_how(how)
        check_words(options, structure, join)
        check_seed(seed)
        if exchange not in (None, *EXCHANGES):
            raise InvalidArgument(f"exchange: {exchange!r} is none of {', '.join(EXCHANGES)}")
        built, probed = pair_columns(right, left)
        for name, side in (("right", built), ("left", probed)):
            report[name] = [key_of(one, one.library.stream_for(None)[0]) for one in side]
            report[f"{name} size"] = _size(side[0])
        return (built, probed)

    (built, probed), reports = company.agree(("join", how, exchange, structure, seed, *options.items()), look_at)
    if any(len(one["right"]) != len(reports[0]["right"]) for one in reports):
        raise InvalidArgument("right: processes differ in the number of columns")
    sizes = {name: [one[f"{name} size"] for one in reports] for name in ("left", "right")}
    keys = []
    for at in range(len(built)):
        both = [of_all(name, [one[name][at] for one in reports], sizes[name]) for name in ("right", "left")]
        keys.append(common_key(empty_source("right", both[0]), empty_source("left", both[1]), 0))

    def prepare(report: dict[str, Any]) -> tuple[_Side, _Side]:
        sides = []
        for name, sources in (("left", probed), ("right", built)):
            side = _side(name, sources, keys, sizes[name], moves)
            report[name] = (sample(side.columns[0], None, _SAMPLE), len(side.rows))
            sides.append(side)
        return (sides[0], sides[1])

    (own, other), reports = company.agree(("join", "prepared"), prepare)
    lefts, rights = (sum(one[name][1] for one in reports) for name in ("left", "right"))
    shards = moves.processes * len(moves.places)
    small_left = how == "inner" and lefts < rights
    small, entries = ("left", lefts) if small_left else ("right", rights)
    if exchange is None:
        exchange = "broadcast" if entries * shards <= lefts + rights else "shuffle"
    if exchange == "broadcast":
        to_join = _to_all(company, own, other, small_left, [one[small][1] for one in reports])
    else:
        of_left, of_right = ([one[name] for one in reports] for name in ("left", "right"))
        hot = _hot(of_left, of_right, shards, how, len(keys))
        samples = [*of_left, *of_right]
        for one, _ in hot:
            samples = without(samples, one)
        splitters = splitters_from([one for one, _ in samples], shards, [float(size) for _, size in samples])
        to_join = _to_owners(company, own, other, splitters, hot)

    unmatched = own.unmatched
    del own, other  # whose memory pairs may need

    def match(report: dict[str, Any]) -> JoinPairs:
        return _joined(to_join, unmatched, how, structure, seed, options)

    pairs, _ = company.agree(("join", "matched"), match)
    return pairs


def _size(source: Source) -> int:
    cells: Any = source.cells
    return int(cells.size if hasattr(cells, "size") else np.size(cells.array))


def _side(name: str, sources: list[Source], keys: list[Key], sizes: list[int], engine: Exchange) -> _Side:
    """`sizes`: how many rows each process has. Rows are sent in 32 bits if these number them."""
    empty = _size(sources[0]) == 0
    columns = [
        dense(empty_source(name, key, one.library) if empty else one, engine, key) for one, key in zip(sources, keys)
    ]
    if any(len(one) != len(columns[0]) for one in columns):
        raise InvalidArgument(f"{name}: its columns have {', '.join(str(len(one)) for one in columns)} cells")
    library = arrays_of(columns[0].array)
    bits = 32 if sum(sizes) < 2**31 else 64
    rows = library.arange(len(columns[0]), sum(sizes[: engine.process]), f"int{bits}")
    there = None
    for one in columns:
        there = in_both(there, one.there)
    arrays = [one.array for one in columns]
    if there is None:
        return _Side(arrays, rows, library.empty(0, library.dtype(rows)))
    positions = library.nonzero(there)
    unmatched = library.take(rows, library.nonzero(~there))
    return _Side([library.take(one, positions) for one in arrays], library.take(rows, positions), unmatched)


_ToJoin = list[tuple[list[Any], list[Any]]]  # columns of both sides, and rows behind them, to join at a shard
_Hot = list[tuple[Any, bool]]  # keys, and whether it is their left rows that go to all shards


def _hot(of_left: Sampled, of_right: Sampled, shards: int, how: str, columns: int) -> _Hot:
    makes_pairs = how in ("inner", "left") and columns == 1
    lefts = hot_keys(of_left, of_right, shards, makes_pairs)
    found = [(lefts, False)]
    if how == "inner":
        rights = hot_keys(of_right, of_left, shards, makes_pairs)
        if len(lefts):  # a key of as many rows on both sides is in both
            rights = rights[apart(rights, lefts)[0]]
        found.append((rights, True))
    return [one for one in found if len(one[0])]


def _to_owners(company: Company, own: _Side, other: _Side, splitters: Any, hot: _Hot) -> _ToJoin:
    """Rows at the owners of their keys; those with a hot key as with `_to_all`."""

    def divide(report: dict[str, Any]) -> tuple[list[tuple[Routes, list[Any]]], list[list[_Side]]]:
        sides, stay = [own, other], []
        for keys, _ in hot:
            divided = [_apart(side, keys) for side in sides]
            sides = [cold for cold, _ in divided]
            stay.append([with_hot for _, with_hot in divided])
        found = []
        for side in sides:
            library = arrays_of(side.rows)
            routes = route(side.columns[0], None, splitters)
            rest = [library.take(one, routes.sources) for one in [*side.columns[1:], side.rows]]
            found.append((routes, [routes.lower, *rest]))
        report["counts"] = [routes.counts for routes, _ in found]
        report["hot"] = [[len(side.rows) for side in both] for both in stay]
        return (found, stay)

    (sides, stay), reports = company.agree(("join", "routes"), divide)
    between = [by_process(np.stack([one["counts"][at] for one in reports])) for at in range(len(sides))]
    come = sum(int(one[:, company.process].sum()) for one in between) if company.processes > 1 else 0
    _agree_on_room(company, own, come)
    moved = [
        distribute(company, [routes], [columns], np.stack([one["counts"][at] for one in reports]))
        for at, (routes, columns) in enumerate(sides)
    ]
    to_join = list(zip(*moved))
    for at, (lefts, rights) in enumerate(stay):
        small_left = hot[at][1]
        sizes = [one["hot"][at][0 if small_left else 1] for one in reports]
        to_join += _to_all(company, lefts, rights, small_left, sizes)
    return to_join


def _agree_on_room(company: Company, side: _Side, rows: int) -> None:
    """Agrees that each process has memory for so many rows with their keys, as a side has them."""
    engine = company.engine
    columns = [*side.columns, side.rows]

    def reserve(report: dict[str, Any]) -> None:
        widest = max(columns, key=lambda one: arrays_of(one).dtype(one).itemsize)
        engine.reserve(widest, len(columns) * rows)

    company.agree(("join", "room"), reserve)


def _apart(side: _Side, hot: Any) -> list[_Side]:
    """The rows without a hot key, and those with one."""
    library = arrays_of(side.rows)
    return [
        side._replace(columns=[library.take(one, some) for one in side.columns], rows=library.take(side.rows, some))
        for some in apart(side.columns[0], hot)
    ]


def _to_all(company: Company, own: _Side, other: _Side, small_left: bool, sizes: list[int]) -> _ToJoin:
    """The small side on all shards; the rows of the other one stay with their process."""
    small, large = (own, other) if small_left else (other, own)
    # Padded to the most of a process, then without that.
    _agree_on_room(company, small, max(sizes) * len(sizes) + sum(sizes) if company.processes > 1 else 0)
    spread = [company.spread(one, sizes) for one in [*small.columns, small.rows]]
    devices = company.engine.places
    to_join = []
    for at, device in enumerate(devices):
        begin, end = (len(large.rows) * i // len(devices) for i in (at, at + 1))
        whole = [to_device(one, device) for one in spread]
        rest = [to_device(one[begin:end], device) for one in [*large.columns, large.rows]]
        to_join.append((whole, rest) if small_left else (rest, whole))
    return to_join


def _joined(
    to_join: _ToJoin, unmatched: Any, how: str, structure: str, seed: int | None, options: Mapping[str, object]
) -> JoinPairs:
    """Joins what the shards of this process have; the last column of both sides are their rows.

    All are matched before pairs are written, so that what is returned is all that is as large."""
    matched = [
        match_columns(tuple(right[:-1]), tuple(left[:-1]), how, structure, False, seed, None, None, options)
        for left, right in to_join
    ]
    lone = unmatched if how in ("left", "anti") else unmatched[:0]
    rows = [(found, left[-1], right[-1]) for found, (left, right) in zip(matched, to_join)]
    return write_pairs(rows, lone, how)


def write_pairs(matched: list[tuple[Joined, Any, Any]], lone: Any, how: str) -> JoinPairs:
    """The pairs of joins, each with the rows of both sides, and left rows without a match, whose library it is of."""
    pairs = _room_for(sum(found.size for found, _, _ in matched) + len(lone), how, lone)
    end = 0
    for found, left, right in matched:
        begin, end = end, end + found.size
        _write_rows(found, left, right, _part(pairs, begin, end))
    _write_lone(_part(pairs, end, end + len(lone)), lone)
    return pairs


def _room_for(size: int, how: str, like: Any) -> JoinPairs:
    library = arrays_of(like)
    return JoinPairs(library.empty(size, "int64"), library.empty(size, "int64") if how in ("inner", "left") else None)


def _part(pairs: JoinPairs, begin: int, end: int) -> JoinPairs:
    return JoinPairs(*(None if one is None else one[begin:end] for one in pairs))


def _write_rows(found: Joined, left_rows: Any, right_rows: Any, pairs: JoinPairs) -> None:
    """Writes all pairs, first as positions in both sides, then as rows, some at a time."""
    here = found._is_of(arrays_of(pairs.left))  # where positions can be written in place
    if here:
        found._write(0, 64, *pairs)
    step = max(SLICE, found.size // ONE_IN)
    for begin in range(0, found.size, step):
        some = _part(pairs, begin, min(begin + step, found.size))
        left, right = some if here else found.rows(begin, step)
        some.left[:] = beside(arrays_of(left_rows).take(left_rows, left), some.left)
        if some.right is not None:
            rows = rows_or_none(right_rows, right) if found.how == "left" else arrays_of(right).take(right_rows, right)
            some.right[:] = beside(rows, some.right)


def _write_lone(pairs: JoinPairs, rows: Any) -> None:
    """Writes left rows without a match."""
    pairs.left[:] = rows
    if pairs.right is not None:
        pairs.right[:] = -1


def rows_or_none(rows: Any, positions: Any) -> Any:
    """The rows at some positions, -1 where a position is -1."""
    library = arrays_of(rows)
    if len(rows) == 0:
        return positions
    lone = positions < 0
    found = library.take(rows, library.where(lone, library.full(1, 0, "int64"), positions))
    found[lone] = -1
    return found


def _join_index(left: Any, index: ShardedIndex, how: str) -> JoinPairs:
    company = index._company
    index._check_open()

    def prepare(report: dict[str, Any]) -> Dense:
        check_how(how)
        source = look("left", left)
        if source.scalar:
            raise InvalidType(f"left: {left!r} is a single number; give a column, as [x]")
        cells = dense(source, company.engine, index._key)
        report["size"] = len(cells)
        return cells

    cells, reports = company.agree(("join", how, "with an index"), prepare)
    begin = sum(one["size"] for one in reports[: company.process])
    if how in ("semi", "anti"):
        found = _asked(index, "contains", cells, 0, len(cells))

        def choose(report: dict[str, Any]) -> JoinPairs:
            return JoinPairs(arrays_of(found).nonzero(found if how == "semi" else ~found) + begin, None)

        return company.agree(("join", "chosen"), choose)[0]
    return _rows_of_index(index, cells, begin, how)


def _rows_of_index(index: ShardedIndex, cells: Dense, begin: int, how: str) -> JoinPairs:
    """Inner and left joins. Rows are counted first and then come some at a time: those that are under way, also from
    the owner of a key that all rows have, are few beside what is returned."""
    company = index._company
    counts = _asked(index, "count", cells, 0, len(cells))
    library = arrays_of(counts)

    def divide(report: dict[str, Any]) -> tuple[JoinPairs, list[list[int]]]:
        ends = library.running(counts)
        matches = int(ends[-1])
        lone = library.nonzero(counts == 0) if how == "left" else counts[:0]
        pairs = _room_for(matches + len(lone), how, counts)
        _write_lone(_part(pairs, matches, matches + len(lone)), lone + begin)
        most = max(1, ROUND // company.processes, matches // ONE_IN)
        slices = np.array(slices_by_rows(library, ends, matches, most))
        places = library.to_host(library.take(ends, library.from_host(slices.reshape(-1))))
        report["rounds"] = len(slices)
        return (pairs, np.hstack([slices, places.reshape(-1, 2)]).tolist())

    (pairs, slices), reports = company.agree(("join", "counted"), divide)
    rounds = max(one["rounds"] for one in reports)
    for first, last, at, end in slices + [[0, 0, 0, 0]] * (rounds - len(slices)):
        _, rows = _asked(index, "rows", cells, first, last)
        write = functools.partial(_write_matches, _part(pairs, at, end), begin + first, counts[first:last], rows)
        company.agree(("join", "written"), write)
        del rows, write  # whose memory is for the next ones
    return pairs


def _asked(index: ShardedIndex, operation: str, cells: Dense, begin: int, end: int) -> Any:
    """What an index answers to some of the points."""
    return index._ask(operation, Probes(cells, None, cells.there).part(begin, end), None, {})[0]


def _write_matches(pairs: JoinPairs, begin: int, counts: Any, rows: Any, report: dict[str, Any]) -> None:
    """Writes so many rows of each left row, which are numbered from `begin` on."""
    library = arrays_of(rows)
    pairs.left[:] = library.repeat(library.arange(len(counts), begin), counts)
    pairs.right[:] = rows
