# SPDX-License-Identifier: Apache-2.0
"""Merges of data frames by order: near each other, points in intervals, intervals that overlap."""

from __future__ import annotations

from typing import Any, cast

import numpy as np

from raydex._errors import InvalidArgument
from raydex._joined import JoinRows
from raydex._merged import Sides, check_kind, list_of, names_of
from raydex._order_joins import join_intervals, join_range, join_where
from raydex.typing import Closed, ColumnNames, Comparison, Distance, Frame, How, MissingEnd, Relation, Suffixes

# Of the left side to the right one, as of the right side to the left one.
_COMPARISONS: dict[str, Comparison] = {
    "<": ">", "<=": ">=", ">": "<", ">=": "<=",
    "less": "greater", "less_equal": "greater_equal", "greater": "less", "greater_equal": "less_equal",
}  # fmt: skip
_RELATIONS: dict[str, Relation] = {
    "overlaps": "overlaps", "within": "encloses", "encloses": "within", "contains": "within",
}  # fmt: skip
# How a point lies to the ends of an interval.
_ENDS: dict[str, tuple[Comparison, Comparison]] = {"left": (">=", "<"), "right": (">", "<="), "neither": (">", "<")}


class _Ordered(Sides):
    """Two frames and their columns that are compared by order, beside columns that have to be equal."""

    def __init__(
        self, left: Any, right: Any, names: tuple[list[Any], list[Any]], groups: tuple[list[Any], list[Any]]
    ) -> None:
        super().__init__(left, right)
        self.check([*names[0], *groups[0]], [*names[1], *groups[1]])
        self.lefts, self.rights = self.ordered(*names)
        self.groups = groups
        self.by = self.keys(*groups)[::-1] if groups[0] else None

    def merged(self, how: str, rows: JoinRows, suffixes: Suffixes) -> Any:
        if how == "right":  # in the order of right rows
            order = np.argsort(rows.build, kind="stable")
            rows = JoinRows(rows.probe[order], rows.build[order])
        once = [name for name, other in zip(*self.groups) if name == other]
        return self.together(rows, once, suffixes)


def _names(on: ColumnNames, left_on: ColumnNames, right_on: ColumnNames) -> tuple[list[Any], list[Any]]:
    """The columns of both sides, one or two of each."""
    if on is not None:
        if left_on is not None or right_on is not None:
            raise InvalidArgument("on: give it alone, or left_on and right_on")
        left_on = right_on = on
    names = list_of(left_on), list_of(right_on)
    for side, one in zip(("left", "right"), names):
        if not one:
            raise InvalidArgument(
                f"{side}_on: which columns? give on=[\"begin\", \"end\"], or left_on and right_on; a single column is "
                "one of points, two are the ends of intervals"
            )
        if len(one) > 2:
            raise InvalidArgument(
                f"{side}_on: {len(one)} columns are named; give one of points, or two, the ends of intervals"
            )
    return names


def merge_range(
    left: Frame,
    right: Frame,
    how: How = "inner",
    on: ColumnNames = None,
    left_on: ColumnNames = None,
    right_on: ColumnNames = None,
    *,
    distance: Distance | tuple[Distance, Distance] | None = None,
    compare: Comparison | tuple[Comparison, Comparison] | None = None,
    closed: Closed = "both",
    by: ColumnNames = None,
    left_by: ColumnNames = None,
    right_by: ColumnNames = None,
    suffixes: Suffixes = ("_x", "_y"),
) -> Frame:
    """Joins two data frames by order: rows that are near each other, or points with the ranges that they lie in.

        >>> import pandas, raydex
        >>> sales = pandas.DataFrame({"at": [9, 16, 17], "sum": [5, 7, 6]})
        >>> shifts = pandas.DataFrame({"begin": [8, 16], "end": [16, 24], "who": ["ann", "bob"]})
        >>> raydex.merge_range(sales, shifts, left_on="at", right_on=["begin", "end"], closed="left")
           at  sum  begin  end  who
        0   9    5      8   16  ann
        1  16    7     16   24  bob
        2  17    6     16   24  bob

    Parameters
    ----------
    left, right
        Two `pandas.DataFrame`, `polars.DataFrame`, `pyarrow.Table` or `cudf.DataFrame`.
    on, left_on, right_on
        A column of each side, by one name or by two, which `distance` or `compare` goes with. Or on one side the two
        columns of the ends of a range, as `right_on=["begin", "end"]`: it has to contain the other side's cell.
        Numbers, times of any unit and zone, strings of up to 8 bytes.
    distance
        Rows are near: `abs(left - right) <= distance`, a number, or for times a `timedelta` or a text as `"90s"`. Or a
        pair:
        `left - distance[0] <= right <= left + distance[1]`.
    compare
        `"<"`, `"<="`, `">"` or `">="`, as in `left < right`. Or a pair of these, with two columns on each side, which
        are compared one by one, as of `join_where`.
    closed
        Which ends belong to a range: `both`, `left`, `right` or `neither`.
    by, left_by, right_by
        Columns that have to be equal: a name each, or a list. Any that `join` takes.
    how, suffixes
        As of `merge`. Columns of `by` of one name are there once.

    Returns
    -------
    data frame
        As of `merge`, with an index of its own. Of a row of `left` those of `right` are by their column of points, or
        by the lower ends of their ranges, then as they are there; with two comparisons as of `join_where`.

    Cost
    ----
    As of `join_range`, and a copy of the rows, which may be far more than both frames have.

    Notes
    -----
    A missing cell matches nothing; of floating numbers in pandas NaN is one.
    """
    check_kind(how)
    names, groups = _names(on, left_on, right_on), names_of("by", by, left_by, right_by)
    sizes = (len(names[0]), len(names[1]))
    comparisons = list_of(compare)
    if sizes == (2, 2) and len(comparisons) != 2:
        raise InvalidArgument("left_on: ranges on both sides; raydex.merge_intervals joins these")
    if sizes == (1, 1) and (distance is None) == (compare is None):
        raise InvalidArgument("distance: give it or compare, or on one side two columns, the ends of a range")
    if sizes != (1, 1) and distance is not None:
        raise InvalidArgument("distance: it goes with one column on each side")
    if comparisons and sizes != (len(comparisons), len(comparisons)):
        raise InvalidArgument(f"compare: {compare!r} goes with as many columns on each side")
    if any(one not in list(_COMPARISONS) for one in comparisons):
        raise InvalidArgument(f"compare: {compare!r} is none of {', '.join(_COMPARISONS)}")
    if closed != "both" and sizes not in ((1, 2), (2, 1)):
        raise InvalidArgument("closed: it goes with two columns on one side, the ends of a range")
    if closed not in ("both", *_ENDS):
        raise InvalidArgument(f"closed: {closed!r} is none of both, {', '.join(_ENDS)}")
    sides = _Ordered(left, right, names, groups)
    lefts, rights, equal = sides.lefts, sides.rights, sides.by
    flipped = [_COMPARISONS[one] for one in comparisons]
    if sizes == (2, 2):
        both = (flipped[0], flipped[1])
        rows = join_where((rights[0], rights[1]), (lefts[0], lefts[1]), both, how, by=equal)
    elif sizes == (1, 2):
        rows = join_intervals((rights[0], rights[1]), lefts[0], how, closed=closed, by=equal)
    elif sizes == (2, 1) and closed == "both":
        rows = join_range(rights[0], lefts[0], how, probe_upper=lefts[1], by=equal)
    elif sizes == (2, 1):
        points = (rights[0], rights[0])
        rows = join_where(points, (lefts[0], lefts[1]), _ENDS[closed], how, by=equal)
    else:
        compared = flipped[0] if flipped else None
        rows = join_range(rights[0], lefts[0], how, distance=distance, compare=compared, by=equal)
    return cast(Frame, sides.merged(how, rows, suffixes))


def merge_intervals(
    left: Frame,
    right: Frame,
    how: How = "inner",
    on: ColumnNames = None,
    left_on: ColumnNames = None,
    right_on: ColumnNames = None,
    *,
    relation: Relation = "overlaps",
    closed: Closed = "both",
    missing: MissingEnd = "unmatched",
    by: ColumnNames = None,
    left_by: ColumnNames = None,
    right_by: ColumnNames = None,
    suffixes: Suffixes = ("_x", "_y"),
) -> Frame:
    """Joins two data frames by intervals that overlap, or lie within each other.

        >>> import pandas, raydex
        >>> stays = pandas.DataFrame({"begin": [1, 4], "end": [3, 9], "guest": ["ann", "bob"]})
        >>> raydex.merge_intervals(stays, stays, on=["begin", "end"], relation="within", suffixes=("", "_of"))
           begin  end guest  begin_of  end_of guest_of
        0      1    3   ann         1       3      ann
        1      4    9   bob         4       9      bob

    Parameters
    ----------
    left, right
        Two `pandas.DataFrame`, `polars.DataFrame`, `pyarrow.Table` or `cudf.DataFrame`.
    on, left_on, right_on
        The columns of the lower and the upper ends: two names for both sides, or for each.
    relation
        How an interval of `left` lies to one of `right`: `overlaps`, `within` it, or `encloses` or `contains` it.
    closed, missing
        As of `join_intervals`: which ends belong to the intervals, and what a missing end means.
    by, left_by, right_by
        Columns that have to be equal: a name each, or a list. Any that `join` takes.
    how, suffixes
        As of `merge`. Columns of `by` of one name are there once.

    Returns
    -------
    data frame
        As of `merge`, with an index of its own. Of a row of `left` those of `right` are by lower end, of
        `relation="encloses"` by upper end, then as they are there.

    Cost
    ----
    As of `join_intervals`, and a copy of the rows.

    Notes
    -----
    Points in intervals are joined by `merge_range`, genomic ones by `raydex.genomics.overlap`.
    """
    check_kind(how)
    names, groups = _names(on, left_on, right_on), names_of("by", by, left_by, right_by)
    if len(names[0]) != 2 or len(names[1]) != 2:
        raise InvalidArgument("left_on: intervals have two columns on each side; raydex.merge_range joins points")
    if relation not in list(_RELATIONS):
        raise InvalidArgument(f"relation: {relation!r} is none of {', '.join(_RELATIONS)}")
    sides = _Ordered(left, right, names, groups)
    built, probed = (sides.rights[0], sides.rights[1]), (sides.lefts[0], sides.lefts[1])
    rows = join_intervals(
        built, probed, how, relation=_RELATIONS[relation], closed=closed, missing=missing, by=sides.by
    )
    return cast(Frame, sides.merged(how, rows, suffixes))
