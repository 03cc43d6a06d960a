# SPDX-License-Identifier: Apache-2.0
"""`pandas.merge_asof` by as-of joins."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from raydex._arguments import flag
from raydex._asof_joins import join_asof
from raydex._errors import InvalidArgument
from raydex._frames import Frames, check_columns, frames_of, with_suffixes
from raydex.typing import Direction, Distance


def _names(said: str, both: Any, left: Any, right: Any) -> tuple[list[Any], list[Any]]:
    """The columns of both sides, however they are named."""
    if both is not None:
        if left is not None or right is not None:
            raise InvalidArgument(f"{said}: give it alone, or left_{said} and right_{said}")
        left = right = both
    lists = [[] if one is None else list(one) if isinstance(one, (list, tuple)) else [one] for one in (left, right)]
    if len(lists[0]) != len(lists[1]):
        raise InvalidArgument(f"left_{said}: {len(lists[0])} columns, but right_{said} has {len(lists[1])}")
    return (lists[0], lists[1])


def _indexes_of(of: Frames, left_index: bool, right_index: bool, left_on: Any) -> None:
    if of.module != "pandas":
        raise InvalidArgument("left_index: frames of Polars have no index; name columns")
    if left_index and not right_index:
        raise InvalidArgument("left_index: give right_index, too, or the column that left.reset_index() makes")
    if left_index == (left_on is not None):
        raise InvalidArgument("right_index: give left_index or left_on with it, and no more")


def merge_asof(
    left: Any,
    right: Any,
    on: Any = None,
    left_on: Any = None,
    right_on: Any = None,
    left_index: bool = False,
    right_index: bool = False,
    by: Any = None,
    left_by: Any = None,
    right_by: Any = None,
    suffixes: Sequence[str | None] = ("_x", "_y"),
    tolerance: Distance | None = None,
    allow_exact_matches: bool = True,
    direction: Direction = "backward",
) -> Any:
    """`pandas.merge_asof`, on frames of pandas or of Polars: each row of `left` beside the row of `right` with the
    closest time.

    Parameters
    ----------
    left, right
        Two `pandas.DataFrame` or two `polars.DataFrame`. Neither need be sorted.
    on, left_on, right_on
        The column of times, or of other numbers, by one name or by two.
    left_index, right_index
        Whether the index of a frame of pandas has the times: of both, or of `right` beside `left_on`.
    by, left_by, right_by
        Columns that have to be equal: a name each, or a list. Any that `join` takes.
    suffixes
        Of names that both frames have, but for columns of `on` and `by` of one name, which are there once.
    tolerance, allow_exact_matches, direction
        As of `join_asof`.

    Returns
    -------
    data frame
        The columns of `left` and `right`, in the order of `left`, with missing cells where there is no row of
        `right`. Types change as in `pandas.merge_asof`, where missing cells make floating numbers of integers;
        in Polars they do not change.

    Cost
    ----
    As of `join_asof`, and a copy of the rows.

    Notes
    -----
    As in pandas, of rows of equal times `backward` takes the last one, `forward` the first one. Other than in pandas, a
    time that is missing matches nothing, and is no error.
    """
    of = frames_of(left=left, right=right)
    left_index, right_index = flag("left_index", left_index), flag("right_index", right_index)
    if left_index or right_index:
        if on is not None or right_on is not None:
            raise InvalidArgument("on: the times are in an index")
        _indexes_of(of, left_index, right_index, left_on)
        keys: tuple[list[Any], list[Any]] = ([] if left_on is None else [left_on], [])
    else:
        keys = _names("on", on, left_on, right_on)
        if len(keys[0]) != 1:
            raise InvalidArgument(f"on: {len(keys[0])} columns are named; times are in one")
    groups = _names("by", by, left_by, right_by)
    for argument, frame, at in (("left", left, 0), ("right", right, 1)):
        check_columns(argument, frame, [*keys[at], *groups[at]])
    times = [
        frame.index if is_index else frame[name[0]]
        for frame, is_index, name in ((left, left_index, keys[0]), (right, right_index, keys[1]))
    ]
    equal = None
    if groups[0]:
        equal = ([right[name] for name in groups[1]], [left[name] for name in groups[0]])
    rows = join_asof(
        times[1], times[0], by=equal, tolerance=tolerance, allow_exact_matches=allow_exact_matches,
        direction=direction,
    )  # fmt: skip
    once = {name for sides in (keys, groups) for name, other in zip(*sides) if name == other}
    others = of.select(right, [name for name in right.columns if name not in once])
    named, others = with_suffixes(of, left, others, suffixes)
    found = of.take(others, rows)
    if right_index:
        return of.beside([named, found.set_axis(left.index)])
    return of.beside([named.reset_index(drop=True) if of.module == "pandas" else named, found])
