# SPDX-License-Identifier: Apache-2.0
"""Joins of two Dask DataFrames by equal keys."""

from __future__ import annotations

import math
import operator
from typing import Any

import numpy as np
import numpy.typing as npt

import raydex
from raydex._arguments import check_words, flag
from raydex._errors import InvalidArgument, InvalidType
from raydex._frames import PANDAS
from raydex._joins import OF_BUILD_ROWS, check_kind, check_seed
from raydex.dask._cells import Cells, key_column, order_of
from raydex.dask._graphs import Graph, Partitions, take_apart
from raydex.dask._libraries import List, Task, TaskRef, frames, pd, tokenize
from raydex.sharded._routing import route, sample, splitters_from
from raydex.typing import DaskJoinOptions, How, Unpack


class Plan:
    """What a join is, as its tasks have to know it."""

    def __init__(
        self,
        left_on: list[Any],
        right_on: list[Any],
        how: How,
        suffixes: tuple[str, str],
        missing_equal: bool,
        options: DaskJoinOptions,
    ) -> None:
        self.left_on = left_on
        self.right_on = right_on
        self.how = how
        self.suffixes = suffixes
        self.missing_equal = missing_equal
        self.options = options
        self.dtypes: dict[Any, Any] = {}  # of the columns of a side that rows may lack

    @property
    def shared(self) -> set[Any]:
        """Columns of one name that are there once."""
        return {a for a, b in zip(self.left_on, self.right_on) if a == b}

    def named(self, left: Any, right: Any) -> tuple[Any, Any]:
        """Both sides with the names of the result; of keys of one name that of the left."""
        right = right.drop(columns=list(self.shared))
        both = set(left.columns) & set(right.columns)
        if both:
            left = left.rename(columns={name: f"{name}{self.suffixes[0]}" for name in both})
            right = right.rename(columns={name: f"{name}{self.suffixes[1]}" for name in both})
        return (left, right)

    def match(self, left: Any, right: Any) -> raydex.JoinRows:
        """The rows of the join of two data frames of pandas."""
        found: raydex.JoinRows = raydex.join(
            [key_column(right, name) for name in self.right_on],
            [key_column(left, name) for name in self.left_on],
            self.how,
            missing_equal=self.missing_equal,
            **self.options,
        )
        return found

    def join(self, left: Any, right: Any) -> Any:
        """The join of two data frames of pandas."""
        found = self.match(left, right)
        return self.gathered(left, right, found.probe, found.build)

    def gathered(self, left: Any, right: Any, lefts: Any, rights: Any) -> Any:
        """The rows of a join, of their positions on both sides."""
        if self.how in ("semi", "anti"):
            return left.take(lefts)
        sides = [PANDAS.take(frame, rows) for frame, rows in zip(self.named(left, right), (lefts, rights))]
        found = pd.concat(sides, axis=1)
        if self.how in OF_BUILD_ROWS:  # keys of one name are of the side that has the row
            rows = np.where(lefts < 0, len(left) + rights, lefts)
            for name in self.shared:
                found[name] = pd.concat([left[name], right[name]]).take(rows).array
        return found.astype(self.dtypes)

    def _key(self, side: str, frame: Any) -> Cells:
        """What rows are sent by: the first column of the key."""
        name = (self.left_on if side == "left" else self.right_on)[0]
        return order_of(f"{side}[{name!r}]", frame[name])

    def sample(self, side: str, frame: Any) -> tuple[npt.NDArray[Any], int]:
        """Some of the keys of a partition, and how many there are."""
        cells = self._key(side, frame)
        rows = len(cells.array) if cells.there is None else int(cells.there.sum())
        return (sample(cells.array, cells.there), rows)

    def split(self, side: str, frame: Any, splitters: npt.NDArray[Any] | None, shards: int) -> list[Any]:
        """The rows of a partition by shard. Those without a key match nothing and are dealt out in turn."""
        cells = self._key(side, frame)
        rows: list[npt.NDArray[np.int64]] = [np.empty(0, np.int64)] * shards
        if splitters is not None and len(frame):
            routes = route(cells.array.astype(splitters.dtype, copy=False), None, splitters, cells.there)
            rows = routes.split(routes.sources)
        if cells.there is not None:
            missing = np.flatnonzero(~cells.there)
            if self.missing_equal:
                rows[0] = np.concatenate([rows[0], missing])
            else:
                rows = dealt(rows, missing)
        return slices_of(frame, rows)


def dealt(rows: list[Any], missing: Any) -> list[Any]:
    """Rows of shards, and others, in turn, that match nothing wherever they are."""
    return [np.concatenate([some, missing[j :: len(rows)]]) for j, some in enumerate(rows)]


def slices_of(frame: Any, rows: list[Any]) -> list[Any]:
    """The rows of a partition that each shard gets."""
    frame = frame.take(np.concatenate(rows))
    ends = np.cumsum([len(some) for some in rows])
    return [frame.iloc[begin:end] for begin, end in zip([0, *ends[:-1]], ends)]


def _sample(plan: Plan, side: str, frame: Any) -> tuple[npt.NDArray[Any], int]:
    return plan.sample(side, frame)


def _splitters(samples: list[tuple[npt.NDArray[Any], int]], shards: int) -> npt.NDArray[Any] | None:
    """Keys that cut the rows of all partitions into equal parts; None where there are no keys."""
    samples = [one for one in samples if len(one[0])]
    if not samples:
        return None
    return splitters_from([keys for keys, _ in samples], shards, [rows for _, rows in samples])


def _split(plan: Plan, side: str, frame: Any, splitters: npt.NDArray[Any] | None, shards: int) -> list[Any]:
    return plan.split(side, frame, splitters, shards)


def concatenated(slices: list[Any]) -> Any:
    full = [one for one in slices if len(one)] or slices[:1]
    return full[0] if len(full) == 1 else pd.concat(full)


def _join(plan: Plan, left: list[Any], right: list[Any]) -> Any:
    return plan.join(concatenated(left), concatenated(right))


def names_of(columns: Any) -> list[Any]:
    return list(columns) if isinstance(columns, (list, tuple)) else [columns]


def check_sides(left: Any, right: Any, lefts: list[Any], rights: list[Any]) -> None:
    """Refuses what are no data frames with these columns."""
    for argument, frame in (("left", left), ("right", right)):
        if not isinstance(frame, frames.DataFrame):
            raise InvalidType(
                f"{argument}: a {type(frame).__module__}.{type(frame).__qualname__} is no Dask DataFrame; "
                "dask.dataframe.from_pandas(x, npartitions=1) makes one of pandas"
            )
    for argument, frame, names in (("left", left, lefts), ("right", right, rights)):
        for name in names:
            if list(frame.columns).count(name) > 1:
                raise InvalidArgument(f"{argument}: two columns are called {name!r}; give columns of different names")
            if name not in frame.columns:
                raise InvalidArgument(
                    f"{argument}: it has no column {name!r}; it has {', '.join(map(str, frame.columns))}"
                )


def both_names(on: Any, left_on: Any, right_on: Any, said: str = "on") -> tuple[list[Any], list[Any]]:
    """The columns of both sides, however they are named."""
    if (on is None) == (left_on is None) or (left_on is None) != (right_on is None):
        raise InvalidArgument(f"{said}: give {said}, or left_{said} and right_{said}")
    return (names_of(on if left_on is None else left_on), names_of(on if right_on is None else right_on))


def _checked_names(left: Any, right: Any, on: Any, left_on: Any, right_on: Any) -> tuple[list[Any], list[Any]]:
    """The columns of the key on both sides."""
    check_sides(left, right, [], [])
    lefts, rights = both_names(on, left_on, right_on)
    if not lefts or len(lefts) != len(rights):
        raise InvalidArgument(
            f"right_on: {len(rights)} columns, but left_on has {len(lefts)}; a key has 1 to 16 on each side"
        )
    check_sides(left, right, lefts, rights)
    return (lefts, rights)


def small_side(left: Any, right: Any, how: str, broadcast: bool | None) -> str | None:
    """The side that is sent to all partitions of the other one, if one is."""
    if broadcast and how in ("full", "outer"):
        raise InvalidArgument(f"broadcast: {broadcast}, but a {how} join has the rows of both sides; leave it out")
    if broadcast is False or how in ("full", "outer"):
        return None
    sides = {} if how == "right" else {"right": (right.npartitions, left.npartitions)}
    if how in ("inner", "right"):
        sides["left"] = (left.npartitions, right.npartitions)
    side = min(sides, key=lambda one: sides[one][0])
    small, large = sides[side]
    # The rule of Dask's own merge.
    if broadcast or small == 1 or small < math.log2(large) / 2:
        return side
    return None


def _broadcast(
    graph: Graph, token: str, name: str, plan: Plan, small: str, few: Partitions, many: Partitions
) -> list[Any]:
    """Tasks that join each partition of one side with all of the other one; their keys."""
    together = f"raydex-small-{token}"
    graph[together] = Task(together, concatenated, List(*map(TaskRef, few.keys)))
    keys = []
    for i, key in enumerate(many.keys):
        pair = [List(TaskRef(key)), List(TaskRef(together))]
        if small == "left":
            pair.reverse()
        keys.append((name, i))
        graph[keys[-1]] = Task(keys[-1], _join, plan, *pair)
    return keys


def split_sides(graph: Graph, token: str, plan: Plan, shards: int, sides: dict[str, Partitions]) -> None:
    """Tasks that send both sides to shards."""
    samples = []
    for side, partitions in sides.items():
        for i, key in enumerate(partitions.keys):
            drawn = (f"raydex-sample-{side}-{token}", i)
            graph[drawn] = Task(drawn, _sample, plan, side, TaskRef(key))
            samples.append(TaskRef(drawn))
    splitters = f"raydex-splitters-{token}"
    graph[splitters] = Task(splitters, _splitters, List(*samples), shards)
    for side, partitions in sides.items():
        for i, key in enumerate(partitions.keys):
            split = (f"raydex-split-{side}-{token}", i)
            graph[split] = Task(split, _split, plan, side, TaskRef(key), TaskRef(splitters), shards)
            for j in range(shards):
                slice_key = (f"raydex-slice-{side}-{token}", i, j)
                graph[slice_key] = Task(slice_key, operator.getitem, TaskRef(split), j)


def slices_at(token: str, side: str, partitions: Partitions, shard: int) -> Any:
    """What a shard gets of all partitions of a side."""
    return List(*(TaskRef((f"raydex-slice-{side}-{token}", i, shard)) for i in range(len(partitions.keys))))


def shuffled(graph: Graph, token: str, name: str, plan: Plan, shards: int, sides: dict[str, Partitions]) -> list[Any]:
    """Tasks that send both sides to shards and join these; their keys."""
    split_sides(graph, token, plan, shards, sides)
    keys = [(name, j) for j in range(shards)]
    for j, key in enumerate(keys):
        slices = [slices_at(token, side, partitions, j) for side, partitions in sides.items()]
        graph[key] = Task(key, _join, plan, *slices)
    return keys


def join(
    left: Any,
    right: Any,
    on: Any = None,
    *,
    left_on: Any = None,
    right_on: Any = None,
    how: How = "inner",
    suffixes: tuple[str, str] = ("_x", "_y"),
    shards: int | None = None,
    broadcast: bool | None = None,
    missing_equal: bool = False,
    **options: Unpack[DaskJoinOptions],
) -> Any:
    """Joins two Dask DataFrames by equal keys, as `dask.dataframe.merge` does.

    Parameters
    ----------
    left, right
        Dask DataFrames of pandas, with any partitions.
    on, left_on, right_on
        The columns of the key: a name, or a list of 1 to 16. Both sides' dtypes need not be equal if one
        type has the values of both; integers of 64 bits with floating numbers are refused. Strings may be
        of any length.
    how
        `inner`: each pair of rows that match. `left`: the same, and left rows without a match, with
        missing values: columns of integers of the right side become float64, as in pandas. `right`: as inner,
        and right rows without a match; `full`, or `outer`: as left, and then these. `semi`: left rows with a
        match, once each, with their labels. `anti`: left rows without one.
    suffixes
        Of columns that both sides have, besides keys of one name.
    shards
        Partitions of the result of a shuffled join; by default the larger of both sides' numbers.
    broadcast
        Whether the right side, of a right join the left one, or for `inner` the one with fewer partitions, is
        sent whole to each partition of the other one; not for `full`. By default where that has few
        partitions, by the rule of Dask's merge.
    missing_equal
        Whether a missing key equals another one. By default it matches nothing, unlike in pandas. NaN
        equals NaN.
    options
        `structure`, `seed` and options of `raydex.join`.

    Returns
    -------
    dask.dataframe.DataFrame
        Lazy. The rows of `dask.dataframe.merge`, in another order; labels are new, as there. Partitions of
        a shuffled join hold ranges of the first key column.

    Raises
    ------
    InvalidArgument, InvalidType
        At once; in tasks what `raydex.join` raises.

    Cost
    ----
    Both sides are sampled, split by splitters from the samples, and joined shard by shard: partitions x shards pieces a
    side. Rows of one key are on one shard, so that a hot key, or a first key column of few values, makes a large
    partition. All partitions of both sides are held until the splitters are known, in memory or where workers spill to.
    """
    lefts, rights = _checked_names(left, right, on, left_on, right_on)
    check_kind(how)
    missing_equal = flag("missing_equal", missing_equal)
    check_seed(options.get("seed"))
    words = [one for one in options if one not in ("structure", "seed")]
    check_words(words, str(options.get("structure", "auto")), join)
    plan = Plan(lefts, rights, how, suffixes, missing_equal, options)
    token = tokenize(left, right, lefts, rights, how, suffixes, shards, broadcast, missing_equal, options)
    return joined(plan, left, right, f"raydex-join-{token}", token, shards, small_side(left, right, how, broadcast))


def joined(
    plan: Plan, left: Any, right: Any, name: str, token: str, shards: int | None, small: str | None,
    shuffle: Any = shuffled,
) -> Any:  # fmt: skip
    """The collection of a join. `small`: the side that is sent to all partitions of the other one, if one is.
    `shuffle`: what makes the tasks where none is."""
    if shards is None:
        shards = max(left.npartitions, right.npartitions)
    if not 1 <= shards <= 2**16:
        raise InvalidArgument(f"shards: {shards}; legal are 1 to {2**16}")
    meta = _meta_of(plan, left, right)
    partitions, others = take_apart(left), take_apart(right)
    graph: Graph = {**partitions.graph, **others.graph}
    if small is None:
        keys = shuffle(graph, token, name, plan, shards, {"left": partitions, "right": others})
    else:
        few, many = (others, partitions) if small == "right" else (partitions, others)
        keys = _broadcast(graph, token, name, plan, small, few, many)
    return frames.from_graph(graph, meta, (None,) * (len(keys) + 1), keys, name)


def _meta_of(plan: Plan, left: Any, right: Any) -> Any:
    """What partitions of the result look like; refuses keys that cannot be joined."""
    one, other = left._meta_nonempty, right._meta_nonempty
    named = plan.named(one, other)
    lacking = {"left": named[1:], "right": named[:1], "full": named, "outer": named}.get(plan.how, ())
    for frame in lacking:
        types = PANDAS.take(frame, np.array([0, -1])).dtypes
        plan.dtypes.update({name: dtype for name, dtype in types.items() if name not in plan.shared})
    return plan.join(one, other).iloc[:0]
