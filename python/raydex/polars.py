# SPDX-License-Identifier: Apache-2.0
"""raydex on frames of Polars, with Polars' words: `import raydex.polars` gives frames the namespace `raydex`.

    >>> import polars, raydex.polars
    >>> quotes = polars.DataFrame({"time": [31, 30], "bid": [10.1, 10.0]})
    >>> trades = polars.DataFrame({"time": [30, 35], "shares": [100, 50]})
    >>> trades.raydex.join_asof(quotes, on="time")["bid"].to_list()
    [10.0, 10.1]

Lazy frames have it, too: both sides are collected by the call, and the result is a lazy frame over what was found.
Needs Polars 1.35 or later. Nothing is sorted beforehand, missing values match nothing, and NaN equals NaN and comes
after all other numbers, as in Polars."""

from __future__ import annotations

import itertools
import operator
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, Generic, Literal, TypeVar, Union, cast, get_args

import polars

from raydex._asof_joins import join_asof
from raydex._errors import InvalidArgument, InvalidType
from raydex._joins import join
from raydex._merged import Sides, list_of, names_of
from raydex._order_joins import join_range, join_where
from raydex._range_merging import merge_intervals, merge_range
from raydex.typing import Closed, Comparison, Direction, Distance, How, MissingEnd, Relation

__all__ = ["Raydex"]

PolarsFrame = TypeVar("PolarsFrame", bound=Union[polars.DataFrame, polars.LazyFrame])
Columns = Union[str, polars.Expr, Sequence[Union[str, polars.Expr]], None]
"""A column by name or as `polars.col`, or a list of them."""


@polars.api.register_dataframe_namespace("raydex")
@polars.api.register_lazyframe_namespace("raydex")
class Raydex(Generic[PolarsFrame]):
    """The namespace `raydex` of a `polars.DataFrame` or a `polars.LazyFrame`.

    In all calls `other` is a frame, lazy or not; columns are named by texts or by `polars.col`. `on` names columns of
    both sides, `left_on` and `right_on` those of each; `by`, `by_left` and `by_right` name columns that have to be
    equal, too. `suffix` is of names of `other` that the frame has as well. Results have the kind of the frame. Errors
    are those of `raydex.join_range`; messages call the frame `left` and the other one `right`."""

    def __init__(self, frame: PolarsFrame) -> None:
        self._frame = frame

    if not TYPE_CHECKING:  # which would take any name for one that is there

        def __getattr__(self, name: str) -> Any:
            said = f"{type(self).__name__!r} object has no attribute {name!r}"
            if name in ("join", "merge"):
                said += "; raydex.merge(left, right, how, on) joins frames by equal keys"
            if name == "rolling":
                said += "; raydex.rolling(times, values, window=) takes columns"
            raise AttributeError(said)

    def _sides(self, other: Any) -> tuple[polars.DataFrame, polars.DataFrame]:
        """Both frames, collected."""
        if not isinstance(other, (polars.DataFrame, polars.LazyFrame)):
            raise InvalidType(f"other: a {type(other).__module__}.{type(other).__qualname__} is no frame of Polars")
        left, right = polars.collect_all([self._frame.lazy(), other.lazy()])
        return (left, right)

    def _answer(self, found: polars.DataFrame) -> PolarsFrame:
        return cast(PolarsFrame, found.lazy() if isinstance(self._frame, polars.LazyFrame) else found)

    def join_asof(
        self,
        other: polars.DataFrame | polars.LazyFrame,
        *,
        left_on: str | polars.Expr | None = None,
        right_on: str | polars.Expr | None = None,
        on: str | polars.Expr | None = None,
        by_left: Columns = None,
        by_right: Columns = None,
        by: Columns = None,
        strategy: Direction = "backward",
        suffix: str = "_right",
        tolerance: Distance | None = None,
        coalesce: bool = True,
        allow_exact_matches: bool = True,
    ) -> PolarsFrame:
        """`polars.DataFrame.join_asof`: each row beside the row of `other` with the closest time. Neither side need be
        sorted, by the times or by `by`.

        Parameters
        ----------
        strategy
            `backward`, `forward` or `nearest`. Of equally close rows `nearest` takes the one before, as in pandas;
            Polars takes the one after.
        tolerance
            The largest distance: a number, or for times a `timedelta` or a text as `"90s"` or `"1h30m"`. Months and
            years, which have no one length, are refused.
        coalesce
            Whether the column of times of `other` is left out if it has the name of the frame's; its columns of `by`
            always are.
        allow_exact_matches
            Whether a row of the same time is taken.

        Returns
        -------
        frame
            All rows of the frame in their order, with missing cells where there is no row of `other`.

        Cost
        ----
        As of `raydex.join_asof`, and a copy of the rows of `other`; columns of the frame are not copied.
        """
        if strategy not in get_args(Direction):
            raise InvalidArgument(f"strategy: {strategy!r} is none of {', '.join(get_args(Direction))}")
        sides = Sides(*self._sides(other))
        keys = _names_of("on", on, left_on, right_on)
        if len(keys[0]) != 1:
            raise InvalidArgument(f"on: {len(keys[0])} columns are named; times are in one")
        groups = _names_of("by", by, by_left, by_right)
        sides.check([*keys[0], *groups[0]], [*keys[1], *groups[1]])
        lefts, rights = sides.ordered(*keys)
        rows = join_asof(
            rights[0], lefts[0], by=sides.keys(*groups)[::-1] if groups[0] else None, direction=strategy,
            tolerance=tolerance, allow_exact_matches=allow_exact_matches,
        )  # fmt: skip
        without = dict.fromkeys([*groups[1], *(keys[1] if coalesce and keys[0] == keys[1] else [])])
        return self._answer(sides.with_found(rows, list(without), ("", suffix)))

    def join_where(
        self,
        other: polars.DataFrame | polars.LazyFrame,
        *predicates: polars.Expr | Sequence[polars.Expr],
        how: Literal["inner", "left", "right", "full"] = "inner",
        suffix: str = "_right",
    ) -> PolarsFrame:
        """`polars.DataFrame.join_where`: all pairs of rows for which the predicates hold.

        Parameters
        ----------
        predicates
            Expressions of columns of both sides; a column of `other` that the frame has, too, is called by its name
            with `suffix`. At least one compares the sides by `<`, `<=`, `>`, `>=`, `==` or `is_between`, as
            `polars.col("a") + 5 < polars.col("b")`; `&` is taken apart.
        how
            `left`, `right` and `full` keep rows without a match, too. They go with comparisons that are looked up, see
            below, and with no further predicates.

        Returns
        -------
        frame
            The columns of both. In the order of the rows of the frame; rows of `other` alone come last.

        Cost
        ----
        One or two inequalities are looked up, as by `raydex.join_range` or `raydex.join_where`, among rows that are
        equal where `==` asks for it. Further predicates filter the pairs that are found, which are all in memory then.
        """
        left, right = self._sides(other)
        right = right.rename({name: f"{name}{suffix}" for name in right.columns if name in left.columns})
        equal: list[Any] = []
        ordered: list[Any] = []
        rest: list[polars.Expr] = []
        for part in (part for one in _flat(predicates) for part in _split(one)):
            word, *sides = _comparison(part, left, right) or ("",)
            if word == "==":
                equal.append(sides)
            elif word and len(ordered) < 2:
                ordered.append((_FLIPPED[word], *sides))
            else:
                rest.append(part)
        if not equal and not ordered:
            raise InvalidArgument(
                "predicates: none compares a column of the frame with one of other by <, <=, >, >=, == or is_between; "
                "Polars' own join_where takes any"
            )
        if rest and how != "inner":
            raise InvalidArgument(
                f"how: {how!r} goes with == and at most two other comparisons of both sides, but {rest[0]} is one more"
            )
        keys = [_cells(right, one) for _, one in equal], [_cells(left, one) for one, _ in equal]
        by: Any = keys if equal else None
        compared: Any = tuple(word for word, _, _ in ordered)
        lefts: Any = tuple(_cells(left, one) for _, one, _ in ordered)
        rights: Any = tuple(_cells(right, one) for _, _, one in ordered)
        if len(ordered) == 2:
            rows = join_where(rights, lefts, compared, how, by=by)
        elif ordered:
            rows = join_range(rights[0], lefts[0], how, compare=compared[0], by=by)
        else:
            rows = join(*keys, how)
        found = Sides(left, right).together(rows, [], ("", ""))
        return self._answer(found.filter(*rest) if rest else found)

    def overlap(
        self,
        other: polars.DataFrame | polars.LazyFrame,
        *,
        on: Columns = None,
        left_on: Columns = None,
        right_on: Columns = None,
        how: How = "inner",
        relation: Relation = "overlaps",
        closed: Closed = "both",
        missing: MissingEnd = "unmatched",
        by_left: Columns = None,
        by_right: Columns = None,
        by: Columns = None,
        suffix: str = "_right",
    ) -> PolarsFrame:
        """Pairs of rows whose intervals overlap, or lie within each other, as `raydex.merge_intervals` has them.

        Parameters
        ----------
        on, left_on, right_on
            Two columns: the lower and the upper ends.
        how, relation, closed, missing
            As of `raydex.merge_intervals`.

        Returns
        -------
        frame
            The columns of both; those of `by` of one name are there once. In the order of the rows of the frame.

        Cost
        ----
        As of `raydex.join_intervals`, and a copy of the rows.
        """
        left, right = self._sides(other)
        names, groups = _names_of("on", on, left_on, right_on), _names_of("by", by, by_left, by_right)
        return self._answer(merge_intervals(
            left, right, how, left_on=names[0], right_on=names[1], relation=relation, closed=closed, missing=missing,
            left_by=groups[0], right_by=groups[1], suffixes=("", suffix),
        ))  # fmt: skip

    def join_range(
        self,
        other: polars.DataFrame | polars.LazyFrame,
        *,
        on: Columns = None,
        left_on: Columns = None,
        right_on: Columns = None,
        how: How = "inner",
        distance: Distance | tuple[Distance, Distance] | None = None,
        compare: Comparison | tuple[Comparison, Comparison] | None = None,
        closed: Closed = "both",
        by_left: Columns = None,
        by_right: Columns = None,
        by: Columns = None,
        suffix: str = "_right",
    ) -> PolarsFrame:
        """Pairs of rows that are near each other, or points with the ranges that they lie in, as `raydex.merge_range`
        has them.

        Parameters
        ----------
        on, left_on, right_on
            A column of each side, or on one side two, the ends of a range.
        how, distance, compare, closed
            As of `raydex.merge_range`.

        Returns
        -------
        frame
            The columns of both; those of `by` of one name are there once. In the order of the rows of the frame.

        Cost
        ----
        As of `raydex.join_range`, and a copy of the rows.
        """
        left, right = self._sides(other)
        if on is not None and (left_on is not None or right_on is not None):
            raise InvalidArgument("on: give it alone, or left_on and right_on")
        names = _listed("left_on", left_on if on is None else on), _listed("right_on", right_on if on is None else on)
        groups = _names_of("by", by, by_left, by_right)
        return self._answer(merge_range(
            left, right, how, left_on=names[0], right_on=names[1], distance=distance, compare=compare, closed=closed,
            left_by=groups[0], right_by=groups[1], suffixes=("", suffix),
        ))  # fmt: skip

    def lookup(
        self,
        other: polars.DataFrame | polars.LazyFrame,
        on: str | polars.Expr | None = None,
        *,
        left_on: str | polars.Expr | None = None,
        right_on: str | polars.Expr | None = None,
        suffix: str = "_right",
    ) -> PolarsFrame:
        """Each row beside the first row of `other` with an equal key: a left join that never repeats a row.

        Parameters
        ----------
        on, left_on, right_on
            The column of the key.

        Returns
        -------
        frame
            All rows of the frame in their order, with missing cells where there is no row of `other`, whose column
            of the key is left out.

        Cost
        ----
        As of `raydex.build` over the key of `other` and of `first`, and a copy of the rows of `other`. An index that
        is kept has `raydex.Index.lookup`.
        """
        sides = Sides(*self._sides(other))
        return self._answer(sides.looked_up(_names_of("on", on, left_on, right_on), ("", suffix)))


_COMPARISONS = {"<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge, "==": operator.eq}
# What a comparison is with its sides exchanged.
_FLIPPED: dict[str, Any] = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "==": "=="}
_CLOSED: dict[Any, tuple[str, str]] = {
    "both": ("ge", "le"), "left": ("ge", "lt"), "right": ("gt", "le"), "none": ("gt", "lt"),
}  # fmt: skip


def _listed(argument: str, columns: Columns) -> list[str]:
    """The names of columns."""
    names: list[Any] = list_of(columns)
    for at, one in enumerate(names):
        if isinstance(one, polars.Expr):
            if not one.meta.is_column():
                raise InvalidArgument(f"{argument}: {one} is no column; name one, made by with_columns beforehand")
            names[at] = one.meta.output_name()
    return names


def _names_of(said: str, both: Columns, left: Columns, right: Columns) -> tuple[list[str], list[str]]:
    lists = [None if one is None else _listed(said, one) for one in (both, left, right)]
    return names_of(said, *lists)


def _flat(predicates: Sequence[Any]) -> Iterator[polars.Expr]:
    for one in predicates:
        if isinstance(one, polars.Expr):
            yield one
        elif isinstance(one, (list, tuple)):
            yield from _flat(one)
        else:
            raise InvalidType(f"predicates: {one!r} is no expression of Polars")


def _split(predicate: polars.Expr) -> Iterator[polars.Expr]:
    """What has to hold, one by one: the parts of `&` and of `is_between`."""
    inputs = predicate.meta.pop()
    for found in itertools.permutations(inputs):  # their order is Polars' own affair
        if len(found) == 2 and predicate.meta.eq(found[0] & found[1]):
            yield from _split(found[0])
            yield from _split(found[1])
            return
        if len(found) == 3:
            for closed, (above, below) in _CLOSED.items():
                if predicate.meta.eq(found[0].is_between(found[1], found[2], closed)):
                    yield getattr(found[0], above)(found[1])
                    yield getattr(found[0], below)(found[2])
                    return
    yield predicate


def _comparison(
    predicate: polars.Expr, left: polars.DataFrame, right: polars.DataFrame
) -> tuple[str, polars.Expr, polars.Expr] | None:
    """The comparison of an expression of left columns with one of right columns that a predicate is, if it is one."""
    for one, another in itertools.permutations(predicate.meta.pop(), 2):
        sides = [set(x.meta.root_names()) for x in (one, another)]
        if not (sides[0] and sides[1] and sides[0] <= set(left.columns) and sides[1] <= set(right.columns)):
            continue
        for word, made in _COMPARISONS.items():
            if predicate.meta.eq(made(one, another)):
                return (word, one, another)
            if predicate.meta.eq(made(another, one)):
                return (_FLIPPED[word], one, another)
    return None


def _cells(frame: polars.DataFrame, expression: polars.Expr) -> polars.Series:
    """The cells of an expression over a frame, one a row."""
    return frame.lazy().with_columns(expression.alias("")).select("").collect().to_series()
