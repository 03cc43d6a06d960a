# SPDX-License-Identifier: Apache-2.0
"""Merges of data frames by equal keys and by the closest time, as pandas has them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

import numpy as np

from raydex._arguments import flag
from raydex._asof_joins import join_asof
from raydex._columns import key_of
from raydex._errors import InvalidArgument, InvalidType
from raydex._frames import CUDF, PANDAS, Frames
from raydex._joined import JoinRows
from raydex._joins import join
from raydex._merged import Sides, check_kind, list_of, names_of
from raydex._sources import Source, look
from raydex.typing import ColumnNames, Direction, Distance, Frame, How, Suffixes, Validate

_SOURCES = ("left_only", "right_only", "both")
_LEFT_ONLY, _RIGHT_ONLY, _BOTH = range(3)
# Whether each key is there once in left, and in right.
_VALIDATED = {
    "one_to_one": (True, True), "one_to_many": (True, False),
    "many_to_one": (False, True), "many_to_many": (False, False),
    "1:1": (True, True), "1:m": (True, False), "m:1": (False, True), "m:m": (False, False),
}  # fmt: skip


def _check_indexes(of: Frames) -> None:
    if of is CUDF:
        raise InvalidArgument("left_index: keys are columns of frames of cuDF; give x.reset_index()")
    if of is not PANDAS:
        raise InvalidArgument(f"left_index: frames of {of.name} have no index; name columns")


def _indexes_of(of: Frames, left_index: bool, right_index: bool, left_on: Any) -> None:
    _check_indexes(of)
    if left_index and not right_index:
        raise InvalidArgument("left_index: give right_index, too, or the column that left.reset_index() makes")
    if left_index == (left_on is not None):
        raise InvalidArgument("right_index: give left_index or left_on with it, and no more")


def merge(
    left: Frame,
    right: Frame,
    how: How = "inner",
    on: ColumnNames = None,
    left_on: ColumnNames = None,
    right_on: ColumnNames = None,
    left_index: bool = False,
    right_index: bool = False,
    sort: bool = False,
    suffixes: Suffixes = ("_x", "_y"),
    *,
    indicator: bool | str = False,
    validate: Validate | None = None,
    missing_equal: bool | None = None,
) -> Frame:
    """Joins two data frames by equal keys, as `pandas.merge` does.

        >>> import pandas, raydex
        >>> orders = pandas.DataFrame({"id": [7, 8, 9], "sum": [10, 20, 30]})
        >>> names = pandas.DataFrame({"id": [9, 7], "name": ["ann", "bob"]})
        >>> raydex.merge(orders, names, on="id", how="left")
           id  sum name
        0   7   10  bob
        1   8   20  NaN
        2   9   30  ann

    Parameters
    ----------
    left, right
        Two `pandas.DataFrame`, `polars.DataFrame`, `pyarrow.Table` or `cudf.DataFrame`.
    how
        `inner`: pairs of rows that match. `left`, `right`, `outer` or its other name `full`: also rows of `left`, of
        `right`, or of both without a match, beside missing cells. `semi` and `anti`: rows of `left` with a match,
        once each, or without one.
    on, left_on, right_on
        The columns of the key: a name or a list of names, of both sides, or of each. By default all names that both
        have.
    left_index, right_index
        In place of `left_on` or `right_on`: the key is the index of a frame of pandas, all of its levels.
    sort
        Whether rows come in the order of their keys, of the first column of the key, then of the next one; missing ones
        last. Rows of one key keep their order.
    suffixes
        Of names that both frames have, but for keys of one name, which are there once.
    indicator
        `True` adds a column `_merge`, or one of the name that is given, last: `left_only`, `right_only` or `both`, the
        frames that have the row's key. Categories in pandas and cuDF, an `Enum` in Polars, a dictionary in Arrow.
    validate
        Refuses keys that are there more than once: in both frames with `one_to_one` or `1:1`, in `left` with
        `one_to_many` or `1:m`, in `right` with `many_to_one` or `m:1`. `many_to_many` or `m:m` refuses none.
    missing_equal
        Whether a missing key equals another one. By default as in the frames' own library: in pandas and cuDF it does,
        in Polars and Arrow it matches nothing. In columns of floating numbers of pandas NaN is missing; else it is a
        number that equals itself.

    Returns
    -------
    data frame
        Of the kind of `left`: its columns, then those of `right`. Rows are in the order of `left`, then of `right`; of
        a right join in that of `right`, then of `left`; rows of `right` alone come last in an outer one. A key that is
        there once has the cells of `right` in these. Missing cells change types as in `pandas.merge`, which makes
        floating numbers of integers; in Polars, Arrow and cuDF types do not change.

    Raises
    ------
    InvalidArgument
        For keys that `validate` refuses; of frames of pandas it is a `pandas.errors.MergeError`, too. For a column
        that is not there, or names that are there twice.

    Cost
    ----
    As of `join`, and a copy of the rows. `sort` sorts them in the frames' own library. `validate` joins each frame that
    it looks at with itself, without a row of output.

    Notes
    -----
    The index of a frame of pandas is new, from 0 on. `semi` and `anti` keep that of `left`; with `left_index` and
    `right_index` the keys are the index, with one of the two that of the other frame is kept.

    Keys are compared exactly, also of two types, such as times of two units or text and categories; `InvalidType` is
    raised for types that are not compared.
    """
    check_kind(how)
    sides = Sides(left, right)
    indexes = flag("left_index", left_index), flag("right_index", right_index)
    names = _key_names(sides, on, left_on, right_on, indexes)
    mark = _mark_of(sides, indicator)
    is_sorted = flag("sort", sort)
    if missing_equal is None:
        missing_equal = sides.of.missing_equal
    pairs = [
        (said, column, other_said, other)
        for (said, column), (other_said, other) in zip(*(
            _levels(side, frame) if is_index else [(f"{side}[{name!r}]", frame[name]) for name in named]
            for side, frame, is_index, named in zip(("left", "right"), (sides.left, sides.right), indexes, names)
        ))
    ]  # fmt: skip
    lefts, rights = sides.looked_at(pairs)
    _check_unique(sides, validate, (lefts, rights), missing_equal)
    if how == "right":
        found = join(lefts, rights, "left", missing_equal=missing_equal)
        rows = JoinRows(found.build, found.probe)
    else:
        rows = join(rights, lefts, how, missing_equal=missing_equal)
    if is_sorted:
        rows = sides.in_order_of([(column, other) for _, column, _, other in pairs], rows)
    if not any(indexes):
        once = [name for name, other in zip(*names) if name == other]
        return cast(Frame, _marked(sides.of, sides.together(rows, once, suffixes), how, rows, mark))
    equal: dict[str, dict[Any, tuple[Any, Any]]] = {
        side: {name: (column, other) for name, (_, column, _, other) in zip(named, pairs)}
        for side, named in zip(("left", "right"), names)
    }
    found = _with_index(sides, how, sides.together(rows, [], suffixes, equal), rows, indexes, pairs)
    return cast(Frame, _marked(sides.of, found, how, rows, mark))


def _mark_of(sides: Sides, indicator: Any) -> str | None:
    """What the column is called that says where a row is from; None without one."""
    if not isinstance(indicator, (str, bool, np.bool_)):
        raise InvalidType(f"indicator: {indicator!r} is neither True, False nor a name")
    if not isinstance(indicator, str) and not indicator:
        return None
    mark = indicator if isinstance(indicator, str) else "_merge"
    for side, frame in (("left", sides.left), ("right", sides.right)):
        if mark in sides.of.names(frame):
            raise InvalidArgument(f"indicator: {side} has a column {mark!r}; give another name")
    return mark


def _marked(of: Frames, found: Any, how: str, rows: JoinRows, mark: str | None) -> Any:
    """The frame with the column of that name, if there is one."""
    if mark is None:
        return found
    if rows.build is None:
        sources = np.full(len(rows.probe), _BOTH if how == "semi" else _LEFT_ONLY)
    else:
        sources = np.where(rows.build < 0, _LEFT_ONLY, np.where(rows.probe < 0, _RIGHT_ONLY, _BOTH))
    return of.with_words(found, mark, sources.astype(np.int8), _SOURCES)


def _check_unique(
    sides: Sides, validate: Any, keys: tuple[list[Source], list[Source]], missing_equal: bool
) -> None:  # fmt: skip
    """Refuses keys that are there more than once, if `validate` says so."""
    if validate is None:
        return
    if validate not in list(_VALIDATED):
        raise InvalidArgument(f"validate: {validate!r} is none of {', '.join(_VALIDATED)}")
    for side, is_one, columns in zip(("left", "right"), _VALIDATED[validate], keys):
        if not is_one:
            continue
        with join(columns, columns, "inner", missing_equal=missing_equal, lazy=True) as found:
            counts = found.counts()
        if (counts > 1).any():
            row, times = int(np.argmax(counts > 1)), int(counts[np.argmax(counts > 1)])
            raise sides.of.merge_error(
                f"validate: keys are not unique in {side}, so this is no {validate} merge; "
                f"that of row {row} is there {times} times"
            )


def _key_names(
    sides: Sides, on: ColumnNames, left_on: ColumnNames, right_on: ColumnNames, indexes: tuple[bool, bool]
) -> tuple[list[Any], list[Any]]:
    """The columns of the key on both sides; none if it is an index."""
    if any(indexes):
        _check_indexes(sides.of)
        if on is not None or (indexes[0] and left_on is not None) or (indexes[1] and right_on is not None):
            raise InvalidArgument("on: the key of a side is its index, or columns")
        names = list_of(left_on), list_of(right_on)
        sizes = [
            frame.index.nlevels if is_index else len(named)
            for frame, is_index, named in zip((sides.left, sides.right), indexes, names)
        ]
        if sizes[0] != sizes[1]:
            raise InvalidArgument(f"left_on: the key of left has {sizes[0]} columns, that of right {sizes[1]}")
    else:
        if on is None and left_on is None and right_on is None:
            there = sides.of.names(sides.right)
            on = [name for name in sides.of.names(sides.left) if name in there]
        names = names_of("on", on, left_on, right_on)
        if not names[0]:
            raise InvalidArgument("on: no name of a column is in both frames; give left_on and right_on")
    sides.check(*names)
    return names


def _levels(side: str, frame: Any) -> list[tuple[str, Any]]:
    """The columns of an index of pandas."""
    levels = frame.index.to_frame(index=False)
    return [(f"{side}.index", levels.iloc[:, at]) for at in range(levels.shape[1])]


def _with_index(
    sides: Sides, how: str, found: Any, rows: JoinRows, indexes: tuple[bool, bool],
    pairs: Sequence[tuple[str, Any, str, Any]],
) -> Any:  # fmt: skip
    """The frame of a join with the index that it has in pandas."""
    if rows.build is None:
        return found
    if all(indexes):
        index = (sides.right if how == "right" else sides.left).index
        levels = [sides.filled(one, other, rows) for _, one, _, other in pairs]
    else:
        index, at = (sides.left.index, rows.probe) if indexes[1] else (sides.right.index, rows.build)
        taken = PANDAS.take(index.to_frame(index=False), at)
        levels = [taken.iloc[:, level] for level in range(index.nlevels)]
    library = PANDAS.library
    labels = library.MultiIndex.from_arrays(levels) if len(levels) > 1 else library.Index(levels[0])
    return found.set_axis(labels.set_names(index.names))


def merge_asof(
    left: Frame,
    right: Frame,
    on: ColumnNames = None,
    left_on: ColumnNames = None,
    right_on: ColumnNames = None,
    left_index: bool = False,
    right_index: bool = False,
    by: ColumnNames = None,
    left_by: ColumnNames = None,
    right_by: ColumnNames = None,
    suffixes: Suffixes = ("_x", "_y"),
    tolerance: Distance | None = None,
    allow_exact_matches: bool = True,
    direction: Direction = "backward",
    *,
    missing_equal: bool | None = None,
) -> Frame:
    """`pandas.merge_asof`, on frames of pandas, Polars, pyarrow or cuDF: each row of `left` beside the row of `right`
    with the closest time.

    Parameters
    ----------
    left, right
        Two `pandas.DataFrame`, `polars.DataFrame`, `pyarrow.Table` or `cudf.DataFrame`. Neither need be sorted.
    on, left_on, right_on
        The column of times, or of other numbers, by one name or by two.
    left_index, right_index
        Whether the index of a frame of pandas has the times: of both, or of `right` beside `left_on`.
    by, left_by, right_by
        Columns that have to be equal: a name each, or a list. Any that `join` takes.
    suffixes
        Of names that both frames have, but for columns of `on` and `by` of one name, which are there once.
    tolerance, allow_exact_matches, direction
        As of `join_asof`; but of times a tolerance has a unit, and a plain number is refused, as in pandas.
    missing_equal
        Whether a missing cell of `by` equals another one; by default as of `merge`.

    Returns
    -------
    data frame
        The columns of `left` and `right`, in the order of `left`, with missing cells where there is no row of
        `right`. Types change as in `pandas.merge_asof`, where missing cells make floating numbers of integers;
        in Polars, Arrow and cuDF they do not change.

    Cost
    ----
    As of `join_asof`, and a copy of the rows.

    Notes
    -----
    As in pandas, of rows of equal times `backward` takes the last one, `forward` the first one. Other than in pandas, a
    time that is missing matches nothing, and is no error.
    """
    sides = Sides(left, right)
    of = sides.of
    left_index, right_index = flag("left_index", left_index), flag("right_index", right_index)
    if left_index or right_index:
        if on is not None or right_on is not None:
            raise InvalidArgument("on: the times are in an index")
        _indexes_of(of, left_index, right_index, left_on)
        keys: tuple[list[Any], list[Any]] = ([] if left_on is None else [left_on], [])
    else:
        keys = names_of("on", on, left_on, right_on)
        if len(keys[0]) != 1:
            raise InvalidArgument(f"on: {len(keys[0])} columns are named; times are in one")
    groups = names_of("by", by, left_by, right_by)
    sides.check([*keys[0], *groups[0]], [*keys[1], *groups[1]])
    times = [
        look(f"{side}.index", of.ordered(frame.index)) if is_index
        else look(f"{side}[{name[0]!r}]", of.ordered(frame[name[0]]))
        for side, frame, is_index, name in (
            ("left", sides.left, left_index, keys[0]), ("right", sides.right, right_index, keys[1]),
        )
    ]  # fmt: skip
    equal = None
    if groups[0]:
        lefts, rights = sides.keys(*groups)
        equal = (rights, lefts)
    if isinstance(tolerance, (int, float, np.number)) and not isinstance(tolerance, np.timedelta64):
        of_times = [one.argument for one in times if key_of(one).time is not None]
        if of_times:
            raise InvalidType(
                f"tolerance: {tolerance!r} is a number, but {of_times[0]} has times; give a timedelta, or a text, as "
                "'10s'"
            )
    rows = join_asof(
        times[1], times[0], by=equal, tolerance=tolerance, allow_exact_matches=allow_exact_matches,
        direction=direction, missing_equal=of.missing_equal if missing_equal is None else missing_equal,
    )  # fmt: skip
    once = [name for names in (keys, groups) for name, other in zip(*names) if name == other]
    found: Any = sides.together(JoinRows(of.positions(sides.left), rows), once, suffixes)
    return cast(Frame, found.set_axis(sides.left.index) if right_index else found)
