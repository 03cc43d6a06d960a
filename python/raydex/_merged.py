# SPDX-License-Identifier: Apache-2.0
"""What merges of frames share: the columns that they name, and the frame of the rows that belong together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from raydex._build import build
from raydex._errors import InvalidArgument, InvalidType
from raydex._frames import ARROW, CUDF, PANDAS, POLARS, Frames, Rows, check_columns, frames_of, with_suffixes
from raydex._joined import JoinRows
from raydex._joins import join
from raydex._sources import Source, look

_KINDS = ("inner", "left", "right", "outer", "full", "semi", "anti")
_ADVICE = {
    "cross": "; all pairs of rows are left.merge(right, 'cross') in pandas and left.join(right, how='cross') in Polars",
    "left_semi": "; it is 'semi' here",
    "left_anti": "; it is 'anti' here",
    "right_semi": "; it is 'semi' here, with left and right exchanged",
    "right_anti": "; it is 'anti' here, with left and right exchanged",
    "left outer": "; it is 'left' here",
    "right outer": "; it is 'right' here",
    "full outer": "; it is 'full' here",
    "left semi": "; it is 'semi' here",
    "left anti": "; it is 'anti' here",
    "asof": "; that is raydex.merge_asof",
}


def check_kind(how: object) -> None:
    """Refuses what is no kind of a merge."""
    if how not in _KINDS:
        raise InvalidArgument(f"how: {how!r} is none of {', '.join(_KINDS)}{_ADVICE.get(str(how), '')}")


def list_of(names: Any) -> list[Any]:
    """A name or a list of names as a list; an array or an index of names is such a list, too."""
    if hasattr(names, "tolist"):
        names = names.tolist()
    return [] if names is None else list(names) if isinstance(names, (list, tuple)) else [names]


def names_of(said: str, both: Any, left: Any, right: Any) -> tuple[list[Any], list[Any]]:
    """The columns of both sides, however they are named."""
    if both is not None:
        if left is not None or right is not None:
            raise InvalidArgument(f"{said}: give it alone, or left_{said} and right_{said}")
        left = right = both
    lists = list_of(left), list_of(right)
    if (left is None) != (right is None):
        given, missing = ("left", "right") if right is None else ("right", "left")
        raise InvalidArgument(f"{given}_{said}: give {missing}_{said}, too")
    if len(lists[0]) != len(lists[1]):
        raise InvalidArgument(f"left_{said}: {len(lists[0])} columns, but right_{said} has {len(lists[1])}")
    return lists


class Sides:
    """Two frames that are merged."""

    def __init__(self, left: Any, right: Any) -> None:
        self.of: Frames = frames_of(PANDAS, POLARS, ARROW, CUDF, left=left, right=right)
        self.left, self.right = left, right

    def check(self, lefts: Sequence[Any], rights: Sequence[Any]) -> None:
        """Refuses names of columns that are not there."""
        check_columns(self.of, "left", self.left, lefts)
        check_columns(self.of, "right", self.right, rights)

    def ordered(self, lefts: Sequence[Any], rights: Sequence[Any]) -> tuple[list[Source], list[Source]]:
        """The columns of names that are compared by order, as they are called in messages."""
        return (
            [look(f"left[{name!r}]", self.of.ordered(self.left[name])) for name in lefts],
            [look(f"right[{name!r}]", self.of.ordered(self.right[name])) for name in rights],
        )

    def keys(self, lefts: Sequence[Any], rights: Sequence[Any]) -> tuple[list[Source], list[Source]]:
        """The columns that have to be equal."""
        named = [(f"left[{a!r}]", self.left[a], f"right[{b!r}]", self.right[b]) for a, b in zip(lefts, rights)]
        return self.looked_at(named)

    def looked_at(self, pairs: Sequence[tuple[str, Any, str, Any]]) -> tuple[list[Source], list[Source]]:
        """Columns that have to be equal: of each pair the names and columns of both sides."""
        found = []
        for name, column, other_name, other in pairs:
            cells = self.of.keys(column, other)
            found.append((look(name, cells[0]), look(other_name, cells[1])))
        return ([one for one, _ in found], [one for _, one in found])

    def together(
        self,
        rows: JoinRows,
        once: Sequence[Any],
        suffixes: Sequence[str | None],
        equal: Mapping[str, Mapping[Any, tuple[Any, Any]]] | None = None,
    ) -> Any:
        """The rows of a join, right rows as its build side, with the columns of both. `once`: columns of both that are
        equal, and are there once; those of a row without a left one are of the right one. `equal`: the same of a
        column of one side that is an index on the other one: by side and by name both."""
        of, left = self.of, self.left
        if rows.build is None:
            return of.chosen(left, rows.probe)
        others = of.without(self.right, once)
        halves = {"left": of.take(left, rows.probe), "right": of.take(others, rows.build)}
        pairs = equal or {"left": {name: (left[name], self.right[name]) for name in once}}
        for side, columns in pairs.items():
            mine = rows.probe if side == "left" else rows.build
            if len(mine) and mine.min() < 0:
                filled = {name: self.filled(*both, rows) for name, both in columns.items()}
                halves[side] = of.with_columns(halves[side], filled)
        return of.beside(with_suffixes(of, halves["left"], halves["right"], suffixes))

    def with_found(self, rows: Rows, without: Sequence[Any], suffixes: Sequence[str | None]) -> Any:
        """The left frame as it is, beside a row of the right one for each of its rows, -1 for none. `without`: columns
        of the right one that are left out."""
        found = self.of.take(self.of.without(self.right, without), rows)
        return self.of.beside(with_suffixes(self.of, self.left, found, suffixes))

    def looked_up(self, names: tuple[Sequence[Any], Sequence[Any]], suffixes: Sequence[str | None]) -> Any:
        """The left frame beside the first row of the right one whose key is equal; its key is left out."""
        self.check(*names)
        if len(names[0]) != 1:
            raise InvalidArgument(f"on: {len(names[0])} columns are named; a key to look up is one")
        (points,), (keys,) = self.keys(*names)
        index = build(keys)
        try:
            rows = np.asarray(index.first(points))
        except InvalidType:  # of another type, which a join compares with
            once = np.flatnonzero(index.first(keys) == np.arange(len(self.right)))
            cells = look(keys.argument, self.of.cells_at(self.right[names[1][0]], once))
            rows = np.append(once, -1)[join([cells], [points], "left").build]
        return self.with_found(rows, names[1], suffixes)

    def in_order_of(self, keys: Sequence[tuple[Any, Any]], rows: JoinRows) -> JoinRows:
        """The rows of a join in the order of the columns of their key, of each that of both sides."""
        has_all_left = len(rows.probe) == 0 or rows.probe.min() >= 0
        cells = [
            self.of.cells_at(column, rows.probe) if has_all_left else self.filled(column, other, rows)
            for column, other in keys
        ]
        order = self.of.order(cells)
        return JoinRows(rows.probe[order], None if rows.build is None else rows.build[order])

    def filled(self, column: Any, other: Any, rows: JoinRows) -> Any:
        """The cells of a column of the left side at the rows of a join, and of the right side if there is none."""
        at = np.where(rows.probe < 0, len(column) + rows.build, rows.probe)
        return self.of.cells_at(self.of.joined(column, other), at)
