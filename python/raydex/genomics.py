# SPDX-License-Identifier: Apache-2.0
"""Sets of genomic intervals, with the words of bioframe: frames of pandas or Polars with a chromosome, a start and an
end, half-open, as in BED files.

    >>> import pandas, raydex.genomics
    >>> genes = pandas.DataFrame({"chrom": ["chr1", "chr2"], "start": [10, 5], "end": [20, 9]})
    >>> reads = pandas.DataFrame({"chrom": ["chr1", "chr1"], "start": [19, 20], "end": [30, 25]})
    >>> raydex.genomics.count_overlaps(genes, reads)
      chrom  start  end  count
    0  chr1     10   20      1
    1  chr2      5    9      0

Functions take frames of one library and return one of it. `cols`, `cols1` and `cols2` name the three columns if
they are not `chrom`, `start` and `end`; starts and ends are integers, also missing ones. `on`, if a function has it,
is a list of further columns that have to be equal, such as `["strand"]`.

An interval `[5, 5)` without a length is the base 5 where overlaps are asked for: it overlaps itself and `[5, 9)`, not
`[2, 5)`. Coverage, distances and unions take the ends as they are. A row whose three cells are missing overlaps
nothing; one that lacks only some of them, and one that starts behind its end, raise `raydex.InvalidArgument`.

Answers are those of bioframe 0.8. Other than there, the rows of all results have an order, no frame that is given is
changed, and `closest` lists no pair twice. In frames of pandas, integers that are missing in the result are of nullable
types (`Int64`) if they are starts and ends, and else become floating numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from raydex._errors import InvalidArgument, InvalidType
from raydex._frames import PANDAS, POLARS, Frames, Rows, check_columns, frames_of
from raydex._nearest import interval_coverage, join_nearest
from raydex._order_joins import join_intervals

__all__ = [
    "closest", "cluster", "complement", "count_overlaps", "coverage", "merge", "overlap", "setdiff", "subtract",
]  # fmt: skip

Columns = tuple[str, str, str]
_NAMES = ("chrom", "start", "end")
_END = np.iinfo(np.int64).max


class _Intervals:
    """The intervals of a frame that are there: their rows, ends, and the numbers of their groups."""

    def __init__(self, of: Frames, argument: str, frame: Any, cols: Sequence[str] | None, on: Sequence[str]) -> None:
        self.of, self.argument, self.frame = of, argument, frame
        self.cols: Columns = _NAMES if cols is None else tuple(cols)  # type: ignore[assignment]
        if len(self.cols) != 3:
            raise InvalidArgument(f"cols: {cols!r} are no three columns")
        check_columns(of, argument, frame, [*self.cols, *on])
        there = [of.are_there(frame[name]) for name in self.cols]
        self.there: npt.NDArray[np.bool_] = there[0] & there[1] & there[2]
        if (self.there != (there[0] | there[1] | there[2])).any():
            raise InvalidArgument(
                f"{argument}: of some rows not all of {', '.join(self.cols)} are missing; give all or none of them"
            )
        self.rows: Rows = np.flatnonzero(self.there)
        self.starts, self.ends = self._ends(self.cols[1]), self._ends(self.cols[2])
        wrong = self.starts > self.ends
        if wrong.any():
            raise InvalidArgument(f"{argument}: starts exceed ends, first in row {self.rows[np.argmax(wrong)]}")
        self.groups: Rows = np.empty(0, np.int64)

    def _ends(self, name: str) -> Rows:
        cells = self.of.cells(self.frame[name], self.there)
        try:
            numbers = cells.astype(np.int64)
        except (TypeError, ValueError):
            numbers = np.zeros(len(cells), np.int64)
        if cells.dtype.kind not in "iufO" or (numbers != cells).any():
            raise InvalidType(f"{self.argument}[{name!r}]: of {cells.dtype}, and some cells are no integers")
        return numbers

    @property
    def size(self) -> int:
        return len(self.frame)

    @property
    def with_bases(self) -> tuple[Rows, Rows]:
        """The ends, behind each start by a base at least."""
        return (self.starts, np.maximum(self.ends, self.starts + 1))


def _look(
    on: Sequence[str] | None, *sets: tuple[str, Any, Sequence[str] | None], view: Sequence[Any] = ()
) -> tuple[list[_Intervals], Rows, int]:
    """The intervals of frames, grouped by chromosome and further columns; the groups of a view's chromosomes; and
    how many groups there are."""
    if on is not None and (isinstance(on, str) or not isinstance(on, Sequence)):
        raise InvalidArgument(f"on: {on!r} is no list of columns")
    more = list(on or ())
    of = frames_of(PANDAS, POLARS, **{argument: frame for argument, frame, _ in sets})
    found = [_Intervals(of, argument, frame, cols, more) for argument, frame, cols in sets]
    if any(one.cols[0] in more for one in found):
        raise InvalidArgument("on: the chromosome is one of them")
    columns = [one.frame[one.cols[0]] for one in found]
    if len(view):
        columns.append(of.column(view))
    codes, count = of.codes(columns)
    groups = codes[: len(found)]
    for name in more:
        others, values = of.codes([one.frame[name] for one in found])
        # A missing one equals a missing one.
        groups = [
            group * (values + 1) + np.where(other < 0, values, other) for group, other in zip(groups, others)
        ]
        count *= values + 1
    for one, group in zip(found, groups):
        one.groups = group[one.there]
    return (found, codes[-1] if len(view) else np.empty(0, np.int64), count)


def _suffixes(suffixes: Sequence[str]) -> tuple[str, str]:
    if isinstance(suffixes, str) or len(suffixes) != 2:
        raise InvalidArgument(f"suffixes: {suffixes!r} are no two")
    return (suffixes[0], suffixes[1])


def _pairs(one: _Intervals, other: _Intervals) -> tuple[Rows, Rows]:
    """The places of intervals of both sets that overlap, in the order of these."""
    found = join_intervals(other.with_bases, one.with_bases, closed="left", by=(other.groups, one.groups))
    return _in_order(found.probe, found.build, len(other.starts))


def _in_order(first: Rows, second: Rows, most: int) -> tuple[Rows, Rows]:
    """Pairs by the first, then by the second number, which is -1 or more and less than `most`."""
    numbers = first * (most + 1) + (second + 1)
    if (numbers[1:] < numbers[:-1]).any():
        numbers.sort()
        first, second = np.divmod(numbers, most + 1)
        second -= 1
    return (first, second)


def _lone(size: int, paired: Rows) -> Rows:
    """The rows that are in no pair."""
    lone = np.ones(size, bool)
    lone[paired] = False
    return np.flatnonzero(lone)


def _side(
    one: _Intervals, rows: Rows, suffix: str, return_index: bool | str, return_input: bool, nullable: bool
) -> list[Any]:
    """What a result has of one frame: its index, and its columns, with a suffix."""
    of, frame, parts = one.of, one.frame, []
    if return_index:
        name = return_index if isinstance(return_index, str) else "index"
        parts.append(of.from_columns({name + suffix: of.labels(frame, rows)}))
    if return_input:
        if nullable:
            frame = of.are_nullable(frame, one.cols[1:])
        parts.append(of.rename(of.take(frame, rows), {name: f"{name}{suffix}" for name in frame.columns}))
    return parts


def _whole_ends(one: _Intervals) -> tuple[Rows, Rows]:
    """The ends of all rows, and of one more; 0 if they are missing."""
    starts, ends = np.zeros((2, one.size + 1), np.int64)
    starts[one.rows], ends[one.rows] = one.starts, one.ends
    return (starts, ends)


def overlap(
    df1: Any,
    df2: Any,
    how: Literal["left", "right", "outer", "inner"] = "left",
    return_input: bool = True,
    return_index: bool | str = False,
    return_overlap: bool | str = False,
    suffixes: Sequence[str] = ("", "_"),
    keep_order: bool | None = None,
    cols1: Columns | None = None,
    cols2: Columns | None = None,
    on: Sequence[str] | None = None,
    ensure_int: bool = True,
) -> Any:
    """Pairs of overlapping intervals, as `bioframe.overlap`.

    Parameters
    ----------
    how
        `inner`: pairs. `left`, `right`, `outer`: also rows of `df1`, of `df2`, or of both that overlap nothing,
        beside missing cells.
    return_input, return_index, return_overlap
        Whether the result has the columns of both frames; `index` of both, what their indexes call the rows, or of
        Polars their numbers; `overlap_start` and `overlap_end`. A text in place of True is another name for `index`
        or `overlap`.
    suffixes
        On the names of the columns of each frame.
    keep_order
        True is legal with `left` alone. Rows have an order in any case: that of `df1`, then of `df2`; with `right`
        that of `df2`, then of `df1`; those of `df2` alone in an `outer` join come last.
    ensure_int
        Whether starts and ends that may be missing are of nullable types, in pandas.

    Cost
    ----
    As of `raydex.join_intervals`.
    """
    if how not in ("left", "right", "outer", "inner"):
        raise InvalidArgument(f"how: {how!r} is none of left, right, outer, inner")
    if keep_order and how != "left":
        raise InvalidArgument("keep_order: True goes with how='left' alone")
    both = _suffixes(suffixes)
    (one, other), _, _ = _look(on, ("df1", df1, cols1), ("df2", df2, cols2))
    if how == "right":
        second, first = _with_lone(other, one, True)
    else:
        first, second = _with_lone(one, other, how != "inner")
        if how == "outer":
            lone = _lone(other.size, second[second >= 0])
            first, second = np.append(first, np.full(len(lone), -1)), np.append(second, lone)
    parts = []
    for side, rows, suffix in ((one, first, both[0]), (other, second, both[1])):
        parts += _side(side, rows, suffix, return_index, return_input, ensure_int and bool((rows < 0).any()))
    if return_overlap:
        name = return_overlap if isinstance(return_overlap, str) else "overlap"
        begins, ends = _shared(one, other, first, second)
        missing = (first < 0) | (second < 0)
        shown = missing if missing.any() else None
        names = [f"{name}_{end}" for end in one.cols[1:]]
        parts.append(one.of.from_columns({
            names[0]: one.of.integers(begins, shown), names[1]: one.of.integers(ends, shown),
        }))  # fmt: skip
    return one.of.beside(parts)


def _with_lone(one: _Intervals, other: _Intervals, lone: bool) -> tuple[Rows, Rows]:
    """Pairs of rows that overlap, and if asked rows of the first set that overlap none, beside -1."""
    first, second = _pairs(one, other)
    first, second = one.rows[first], other.rows[second]
    if not lone:
        return (first, second)
    alone = _lone(one.size, first)
    return _in_order(np.append(first, alone), np.append(second, np.full(len(alone), -1)), other.size)


def _shared(one: _Intervals, other: _Intervals, first: Rows, second: Rows) -> tuple[Rows, Rows]:
    """The ends of what pairs of rows share; without meaning if one is -1."""
    (starts, ends), (other_starts, other_ends) = _whole_ends(one), _whole_ends(other)
    return (np.maximum(starts[first], other_starts[second]), np.minimum(ends[first], other_ends[second]))


def _beside_input(one: _Intervals, return_input: bool, columns: Mapping[str, Any]) -> Any:
    found = one.of.from_columns(columns)
    if not return_input:
        return found
    return one.of.beside([one.of.take(one.frame, np.arange(one.size)), found])


def count_overlaps(
    df1: Any,
    df2: Any,
    suffixes: Sequence[str] = ("", "_"),
    return_input: bool = True,
    cols1: Columns | None = None,
    cols2: Columns | None = None,
    on: Sequence[str] | None = None,
) -> Any:
    """How many intervals of `df2` overlap each one of `df1`: its rows, and a column `count`; as
    `bioframe.count_overlaps`.

    Cost: two searches a row, however many overlap."""
    _suffixes(suffixes)
    (one, other), _, _ = _look(on, ("df1", df1, cols1), ("df2", df2, cols2))
    counts = np.zeros(one.size, np.int64)
    with join_intervals(
        other.with_bases, one.with_bases, closed="left", by=(other.groups, one.groups), lazy=True
    ) as found:
        counts[one.rows] = found.counts()
    return _beside_input(one, return_input, {"count": one.of.integers(counts)})


def setdiff(
    df1: Any, df2: Any, cols1: Columns | None = None, cols2: Columns | None = None, on: Sequence[str] | None = None
) -> Any:
    """The rows of `df1` that overlap none of `df2`, as `bioframe.setdiff`; with their index."""
    (one, other), _, _ = _look(on, ("df1", df1, cols1), ("df2", df2, cols2))
    found = join_intervals(
        other.with_bases, one.with_bases, "semi", closed="left", by=(other.groups, one.groups)
    )
    rows = _lone(one.size, one.rows[found.probe])
    return df1.iloc[rows] if one.of is PANDAS else one.of.take(df1, rows)


class _Union:
    """Intervals, united if they belong together; by group, then by start."""

    def __init__(self, groups: Rows, starts: Rows, ends: Rows, min_dist: float | None) -> None:
        order = np.lexsort((ends, starts, groups))
        self.order: Rows = order
        groups, starts, ends = groups[order], starts[order], ends[order]
        # The largest end so far, of a group: of numbers of ends, with the group above.
        values, numbers = np.unique(ends, return_inverse=True)
        above = groups * len(values)
        reach = values[np.maximum.accumulate(above + numbers.reshape(-1)) - above]
        new = np.ones(len(order), bool)
        same = groups[1:] == groups[:-1]
        if min_dist is None:
            new[1:] = ~same | (starts[1:] >= reach[:-1])
        else:
            new[1:] = ~same | (starts[1:] > reach[:-1] + min_dist)
        self.firsts: Rows = np.flatnonzero(new)
        """In the order."""
        self.of_sorted: Rows = np.cumsum(new) - 1
        self.groups, self.starts = groups[self.firsts], starts[self.firsts]
        self.ends: Rows = reach[np.append(self.firsts[1:], len(order)) - 1] if len(order) else reach


def _unite(
    df: Any, min_dist: float | None, cols: Columns | None, on: Sequence[str] | None
) -> tuple[_Intervals, _Union, Rows]:
    """The intervals of a frame, their union, and the rows of those that are in it."""
    if min_dist is not None and not min_dist >= 0:
        raise InvalidArgument(f"min_dist: {min_dist}; it must be 0 or more, or None")
    (one,), _, _ = _look(on, ("df", df, cols))
    whole = np.ones(len(one.rows), bool)
    for name in on or ():
        whole &= one.of.are_there(df[name])[one.rows]
    return (one, _Union(one.groups[whole], one.starts[whole], one.ends[whole], min_dist), one.rows[whole])


def cluster(
    df: Any,
    min_dist: float | None = 0,
    cols: Columns | None = None,
    on: Sequence[str] | None = None,
    return_input: bool = True,
    return_cluster_ids: bool = True,
    return_cluster_intervals: bool = True,
) -> Any:
    """The rows of a frame with the cluster of intervals that each belongs to, as `bioframe.cluster`.

    `min_dist`: the largest distance of intervals that belong together; 0 for adjacent ones, None for those alone
    that overlap. Adds `cluster`, numbered by chromosome and start, `cluster_start` and `cluster_end`. A row with a
    missing cell is a cluster of its own; these come last. Cost: a sort."""
    one, union, rows = _unite(df, min_dist, cols, on)
    clusters = np.full(one.size, -1)
    clusters[rows[union.order]] = union.of_sorted
    missing = clusters < 0
    clusters[missing] = len(union.starts) + np.arange(missing.sum())
    columns = {}
    if return_cluster_ids:
        columns["cluster"] = one.of.integers(clusters)
    if return_cluster_intervals:
        starts, ends = _whole_ends(one)
        for name, values, own in (("start", union.starts, starts), ("end", union.ends, ends)):
            column = own[:-1].copy()
            column[~missing] = values[clusters[~missing]]
            columns[f"cluster_{name}"] = one.of.integers(column, ~one.there if missing.any() else None)
    return _beside_input(one, return_input, columns)


def merge(
    df: Any, min_dist: float | None = 0, cols: Columns | None = None, on: Sequence[str] | None = None
) -> Any:
    """The unions of intervals that belong together, as `bioframe.merge`: chromosome, start, end, the columns of `on`,
    and `n_intervals`, how many there were.

    Rows are ordered by chromosome, by `on`, and by start; those with a missing cell come last, as they are. `min_dist`
    and cost as of `cluster`."""
    one, union, rows = _unite(df, min_dist, cols, on)
    lone = _lone(one.size, rows)
    starts, ends = _whole_ends(one)
    counts = np.diff(np.append(union.firsts, len(union.order)))
    missing = np.append(np.zeros(len(counts), bool), np.ones(len(lone), bool))
    shown = missing if len(lone) else None
    none = np.append(np.zeros(len(counts), bool), ~one.there[lone]) if len(lone) else None
    of, names = one.of, one.cols
    firsts = np.append(rows[union.order[union.firsts]], lone)
    keys = of.take(of.select(df, [names[0], *(on or ())]), firsts)
    found = of.from_columns({
        names[1]: of.integers(np.append(union.starts, starts[lone]), none),
        names[2]: of.integers(np.append(union.ends, ends[lone]), none),
    })  # fmt: skip
    counted = of.from_columns({"n_intervals": of.integers(np.append(counts, np.zeros(len(lone), np.int64)), shown)})
    return of.beside([of.select(keys, [names[0]]), found, of.select(keys, list(on or ())), counted])


def coverage(
    df1: Any,
    df2: Any,
    suffixes: Sequence[str] = ("", "_"),
    return_input: bool = True,
    cols1: Columns | None = None,
    cols2: Columns | None = None,
) -> Any:
    """How many bases of each interval of `df1` are in some interval of `df2`: its rows, and a column `coverage`; as
    `bioframe.coverage`, where a base counts once, however many intervals it is in.

    Cost: a sort of `df2`, that of `raydex.interval_coverage`, however many overlap."""
    _suffixes(suffixes)
    (one, other), _, _ = _look(None, ("df1", df1, cols1), ("df2", df2, cols2))
    union = _Union(other.groups, other.starts, other.ends, 0)
    bases = np.zeros(one.size, np.int64)
    bases[one.rows] = interval_coverage(
        (union.starts, union.ends), (one.starts, one.ends), by=(union.groups, one.groups)
    )
    return _beside_input(one, return_input, {"coverage": one.of.integers(bases)})


def _view_of(of: Frames, view_df: Any, name_col: str, cols: Columns | None) -> tuple[list[Any], Rows, Rows, list[Any]]:
    """The chromosomes, starts, ends and names of regions, in the order of their names."""
    if isinstance(view_df, Mapping) or hasattr(view_df, "items") and not hasattr(view_df, "columns"):
        sizes = dict(view_df.items())  # also of a Series of pandas
        chroms, names = list(sizes), list(sizes)
        starts, ends = np.zeros(len(sizes), np.int64), np.array(list(sizes.values()), np.int64)
    else:
        (one,), _, _ = _look(None, ("view_df", view_df, cols))
        if not one.there.all():
            raise InvalidArgument("view_df: some regions are missing")
        chroms = list(view_df[one.cols[0]])
        names = list(view_df[name_col]) if name_col in view_df.columns else chroms
        starts, ends = one.starts, one.ends
    if len(set(names)) != len(names):
        raise InvalidArgument("view_df: two regions have one name")
    order = np.array(sorted(range(len(names)), key=lambda at: str(names[at])), np.int64)
    return ([chroms[at] for at in order], starts[order], ends[order], [names[at] for at in order])


class _Gaps:
    """The pieces of regions that no interval of their groups is in, by region, then by start."""

    def __init__(self, one: _Intervals, groups: Rows, starts: Rows, ends: Rows) -> None:
        found = join_intervals(
            one.with_bases, (starts, np.maximum(ends, starts + 1)), closed="left", by=(one.groups, groups)
        )
        regions = found.probe
        union = _Union(
            regions, np.maximum(one.starts[found.build], starts[regions]),
            np.minimum(one.ends[found.build], ends[regions]), 0,
        )  # fmt: skip
        inside = union.ends > starts[union.groups]  # not where the region begins
        regions, firsts, lasts = union.groups[inside], union.starts[inside], union.ends[inside]
        counts = np.bincount(regions, minlength=len(starts)).astype(np.int64)
        done = np.cumsum(counts)
        self.starts: Rows = np.insert(lasts, done - counts, starts)
        self.ends: Rows = np.insert(firsts, done, ends)
        self.regions: Rows = np.repeat(np.arange(len(starts)), counts + 1)
        some = self.starts < self.ends
        self.starts, self.ends, self.regions = self.starts[some], self.ends[some], self.regions[some]


def complement(
    df: Any,
    view_df: Any = None,
    view_name_col: str = "name",
    cols: Columns | None = None,
    cols_view: Columns | None = None,
) -> Any:
    """The pieces of a view's regions that no interval is in, as `bioframe.complement`: chromosome, start, end, and
    `view_region`, the name of the region.

    `view_df`: a dict of chromosomes and their lengths, or a frame of regions with names in `view_name_col`, by default
    the chromosomes; without one, each chromosome of `df` from 0 to 2^63 - 1. Rows are ordered by the names of regions
    as texts, then by start. Cost: as of `overlap` with the view, and a sort."""
    of = frames_of(PANDAS, POLARS, df=df)
    names = _NAMES if cols is None else cols
    if view_df is None:
        check_columns(of, "df", df, names)
        there = df[names[0]].dropna() if of is PANDAS else df[names[0]].drop_nulls()
        view_df = dict.fromkeys(there.unique(), _END)
    chroms, starts, ends, regions = _view_of(of, view_df, view_name_col, cols_view)
    (one,), groups, _ = _look(None, ("df", df, cols), view=chroms)
    gaps = _Gaps(one, groups, starts, ends)
    found = of.from_columns({names[0]: of.column(chroms), "view_region": of.column(regions)})
    found = of.take(found, gaps.regions)
    pieces = of.from_columns({names[1]: of.integers(gaps.starts), names[2]: of.integers(gaps.ends)})
    return of.beside([of.select(found, [names[0]]), pieces, of.select(found, ["view_region"])])


def subtract(
    df1: Any,
    df2: Any,
    return_index: bool = False,
    suffixes: Sequence[str] = ("", "_"),
    cols1: Columns | None = None,
    cols2: Columns | None = None,
) -> Any:
    """The pieces of the intervals of `df1` that are in none of `df2`, in their order, with the other columns of `df1`;
    as `bioframe.subtract`.

    What is before 0 is left out. `return_index` adds `index`, what the index of `df1` calls the row, and `sub_index_`,
    the number of the piece. Cost: as of `complement` and `overlap`."""
    both = _suffixes(suffixes)
    (one, other), _, count = _look(None, ("df1", df1, cols1), ("df2", df2, cols2))
    if count == 0:
        raise InvalidArgument("df1: no chromosomes remain")
    whole = np.arange(count)
    gaps = _Gaps(other, whole, np.zeros(count, np.int64), np.full(count, _END))
    found = join_intervals(
        (gaps.starts, gaps.ends), one.with_bases, closed="left", by=(gaps.regions, one.groups)
    )
    rows = one.rows[found.probe]
    of, (chrom, start, end) = one.of, one.cols
    taken = of.take(df1, rows)
    none = np.zeros(len(rows), bool)
    starts = np.maximum(one.starts[found.probe], gaps.starts[found.build])
    ends = np.minimum(one.ends[found.probe], gaps.ends[found.build])
    pieces = of.from_columns({start: of.integers(starts, none), end: of.integers(ends, none)})
    others = [name for name in df1.columns if name not in one.cols]
    parts = [of.select(taken, [chrom]), pieces, of.select(taken, others)]
    if return_index:
        firsts = np.flatnonzero(np.diff(rows, prepend=-1))
        numbers = np.arange(len(rows)) - np.repeat(firsts, np.diff(np.append(firsts, len(rows))))
        parts.append(of.from_columns({
            "index" + both[0]: of.labels(df1, rows), "sub_index" + both[1]: of.integers(numbers, none),
        }))  # fmt: skip
    return of.beside(parts)


def _do_overlap(one: _Intervals, other: _Intervals, first: Rows, second: Rows) -> npt.NDArray[np.bool_]:
    """Whether pairs of places of a group overlap."""
    (starts, ends), (other_starts, other_ends) = one.with_bases, other.with_bases
    return (starts[first] < other_ends[second]) & (other_starts[second] < ends[first])


def _nearest(one: _Intervals, other: _Intervals, k: int, on_left: bool) -> tuple[Rows, Rows, Rows]:
    """For each interval the k nearest of another set that end where it starts or before, or start where it ends or
    behind: places, and distances."""
    ends = other.ends if on_left else other.starts
    points = one.starts if on_left else one.ends
    # What touches is near, too: of points a base away it is, and what overlaps is not.
    near = points + 1 if on_left else points - 1
    k = max(1, min(k, len(ends)))
    found = join_nearest(
        (ends, ends), (near, near), k=k, direction="backward" if on_left else "forward",
        overlaps=False, by=(other.groups, one.groups),
    )  # fmt: skip
    rows = found.build.reshape(len(points), k)
    there = rows >= 0
    return (np.nonzero(there)[0], rows[there], found.distance.reshape(rows.shape)[there] - 1)


def closest(
    df1: Any,
    df2: Any = None,
    k: int = 1,
    ignore_overlaps: bool = False,
    ignore_upstream: bool = False,
    ignore_downstream: bool = False,
    direction_col: str | None = None,
    return_input: bool = True,
    return_index: bool | str = False,
    return_distance: bool = True,
    return_overlap: bool = False,
    suffixes: Sequence[str] = ("", "_"),
    cols1: Columns | None = None,
    cols2: Columns | None = None,
) -> Any:
    """For each interval of `df1` the `k` closest ones of `df2`, as `bioframe.closest` without `tie_breaking_col`.

    Rows are in the order of `df1`, those of one by distance, overlaps before neighbours, then by row of `df2`. An
    interval that none is near to has one row, with missing cells; one whose cells are missing has no row.

    Parameters
    ----------
    df2
        None: the other intervals of `df1`.
    ignore_overlaps, ignore_upstream, ignore_downstream
        Which intervals of `df2` are none: those that overlap; those that end where the one of `df1` starts or before;
        those that start where it ends or behind.
    direction_col
        A column of strands of `df1`: up and down change sides where it is `-`.
    return_input, return_index, return_overlap, return_distance
        As of `overlap`; `have_overlap` besides, and `distance`, 0 for overlaps and neighbours.

    Cost
    ----
    As of `overlap`, even if few overlaps are asked for, and of `raydex.join_nearest` on both sides.
    """
    if not isinstance(k, (int, np.integer)) or k < 1:
        raise InvalidArgument(f"k: {k!r}; it must be a number of 1 or more")
    if df2 is df1:
        raise InvalidArgument("df2: it is df1; leave it out for the closest other intervals of one set")
    both = _suffixes(suffixes)
    is_own = df2 is None
    sets = [("df1", df1, cols1), ("df1" if is_own else "df2", df1 if is_own else df2, cols1 if is_own else cols2)]
    (one, *rest), _, _ = _look(None, *(sets[:1] if is_own else sets))
    other = rest[0] if rest else one
    of = one.of
    ahead = np.ones(len(one.rows), bool)
    if direction_col is not None:
        check_columns(of, "df1", df1, [direction_col])
        ahead = (np.asarray(df1[direction_col].to_numpy(), object) != "-")[one.rows]
    near = []
    if not ignore_overlaps:
        first, second = _pairs(one, other)
        near.append((first, second, np.full(len(first), -1)))
    asked = (np.where(ahead, not ignore_upstream, not ignore_downstream),
             np.where(ahead, not ignore_downstream, not ignore_upstream))  # fmt: skip
    for on_left, is_asked in zip((True, False), asked):
        first, second, apart = _nearest(one, other, k + is_own, on_left)  # one of them may be itself
        some = is_asked[first]
        # Without a length they may be on both sides, and overlap, too.
        if not ignore_overlaps:
            some &= ~_do_overlap(one, other, first, second)
        if not on_left:
            some &= ~(asked[0][first] & (other.ends[second] <= one.starts[first]))
        near.append((first[some], second[some], apart[some]))
    first, second, apart = (np.concatenate([part[at] for part in near]) for at in range(3))
    if is_own:
        others = first != second
        first, second, apart = first[others], second[others], apart[others]
    order = np.lexsort((second, apart, first))
    first, second, apart = first[order], second[order], apart[order]
    few = np.arange(len(first)) - first.searchsorted(first) < k
    first, second, apart = one.rows[first[few]], other.rows[second[few]], np.maximum(apart[few], 0)
    lone = np.setdiff1d(one.rows, first)
    first, second = np.append(first, lone), np.append(second, np.full(len(lone), -1))
    apart = np.append(apart, np.zeros(len(lone), np.int64))
    order = np.argsort(first, kind="stable")
    first, second, apart = first[order], second[order], apart[order]
    parts = []
    for side, rows, suffix in ((one, first, both[0]), (other, second, both[1])):
        parts += _side(side, rows, suffix, return_index, return_input, rows is second)
    missing = second < 0
    if return_overlap:
        begins, ends = _shared(one, other, first, second)
        have = begins < ends
        parts.append(of.from_columns({
            "have_overlap": of.booleans(have, missing),
            "overlap_start": of.integers(begins, missing | ~have), "overlap_end": of.integers(ends, missing | ~have),
        }))  # fmt: skip
    if return_distance:
        parts.append(of.from_columns({"distance": of.integers(apart, missing)}))
    return of.beside(parts)
