# SPDX-License-Identifier: Apache-2.0
"""Data frames of pandas and Polars, and what is done with either. Neither is imported unless its frames come."""

from __future__ import annotations

import importlib
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from raydex._array_libraries import is_of
from raydex._errors import InvalidArgument, InvalidType

Rows = npt.NDArray[np.int64]


class Frames:
    """Of pandas. Frames that are returned have an index of their own, from 0 on."""

    module = "pandas"

    @property
    def library(self) -> Any:
        return importlib.import_module(self.module)

    def select(self, frame: Any, names: Sequence[Any]) -> Any:
        return frame[list(names)]

    def rename(self, frame: Any, names: Mapping[Any, Any]) -> Any:
        return frame.rename(columns=names)

    def take(self, frame: Any, rows: Rows) -> Any:
        """The rows of a frame, with missing cells for -1."""
        if len(rows) == 0 or rows.min() >= 0:
            return frame.take(rows).reset_index(drop=True)
        return frame.reset_index(drop=True).reindex(rows).reset_index(drop=True)

    def beside(self, frames: Iterable[Any]) -> Any:
        """The columns of all, of equal lengths."""
        return self.library.concat(list(frames), axis=1)

    def from_columns(self, columns: Mapping[Any, Any]) -> Any:
        return self.library.DataFrame(dict(columns))

    def column(self, values: Sequence[Any]) -> Any:
        return self.library.Series(list(values))

    def are_there(self, column: Any) -> npt.NDArray[np.bool_]:
        return np.asarray(column.notna(), bool)

    def cells(self, column: Any, there: npt.NDArray[np.bool_]) -> npt.NDArray[Any]:
        """Those of the cells that are there."""
        return np.asarray(column[there].to_numpy())

    def integers(self, numbers: Rows, missing: npt.NDArray[np.bool_] | None = None) -> Any:
        """A column of integers; nullable if it is said which are missing."""
        pandas = self.library
        return pandas.Series(numbers if missing is None else pandas.arrays.IntegerArray(numbers, missing))

    def booleans(self, flags: npt.NDArray[np.bool_], missing: npt.NDArray[np.bool_]) -> Any:
        """A nullable column."""
        return self.library.Series(self.library.arrays.BooleanArray(flags, missing))

    def are_nullable(self, frame: Any, names: Iterable[Any]) -> Any:
        """The frame with columns of integers that may be missing."""
        nullable = {
            name: frame.dtypes[name].name.replace("int", "Int").replace("u", "U")
            for name in names
            if isinstance(frame.dtypes[name], np.dtype) and frame.dtypes[name].kind in "iu"
        }
        return frame.astype(nullable)

    def labels(self, frame: Any, rows: Rows) -> Any:
        """What the index calls rows; -1 are none."""
        if frame.index.dtype.kind in "iu":
            return self.integers(np.append(frame.index.to_numpy(np.int64), -1)[rows], rows < 0)
        return self.take(frame.index.to_frame(index=False), rows).iloc[:, 0]

    def codes(self, columns: Sequence[Any]) -> tuple[list[Rows], int]:
        """For cells of columns the number of their value in the order of all values, -1 for missing ones; and how
        many values there are."""
        codes, values = self.library.factorize(self.library.concat(list(columns), ignore_index=True), sort=True)
        return (_divided(codes, columns), len(values))


def _divided(codes: npt.NDArray[Any], columns: Sequence[Any]) -> list[Rows]:
    return np.split(codes.astype(np.int64), np.cumsum([len(one) for one in columns])[:-1])


class PolarsFrames(Frames):
    module = "polars"

    def select(self, frame: Any, names: Sequence[Any]) -> Any:
        return frame.select(list(names))

    def rename(self, frame: Any, names: Mapping[Any, Any]) -> Any:
        return frame.rename(dict(names))

    def take(self, frame: Any, rows: Rows) -> Any:
        polars = self.library
        if frame.width == 0:
            return frame
        at = polars.Series(np.maximum(rows, 0)) if len(rows) else polars.Series([], dtype=polars.Int64)
        if len(rows) and rows.min() < 0:
            at = at.set(polars.Series(rows < 0), None)
        return frame.select(polars.all().gather(at))

    def beside(self, frames: Iterable[Any]) -> Any:
        return self.library.concat([one for one in frames if one.width], how="horizontal")

    def column(self, values: Sequence[Any]) -> Any:
        return self.library.Series(list(values))

    def are_there(self, column: Any) -> npt.NDArray[np.bool_]:
        return np.asarray(column.is_not_null().to_numpy())

    def cells(self, column: Any, there: npt.NDArray[np.bool_]) -> npt.NDArray[Any]:
        return np.asarray(column.drop_nulls().to_numpy())

    def integers(self, numbers: Rows, missing: npt.NDArray[np.bool_] | None = None) -> Any:
        column = self.library.Series(np.asarray(numbers))
        return column if missing is None else column.set(self.library.Series(missing), None)

    def booleans(self, flags: npt.NDArray[np.bool_], missing: npt.NDArray[np.bool_]) -> Any:
        return self.library.Series(flags).set(self.library.Series(missing), None)

    def are_nullable(self, frame: Any, names: Iterable[Any]) -> Any:
        return frame

    def labels(self, frame: Any, rows: Rows) -> Any:
        return self.integers(rows, rows < 0)

    def codes(self, columns: Sequence[Any]) -> tuple[list[Rows], int]:
        polars = self.library
        kinds = (polars.Categorical, polars.Enum)
        cells = polars.concat([
            one.cast(polars.String) if isinstance(one.dtype, kinds) else one.rename("") for one in columns
        ])  # fmt: skip
        values = cells.drop_nulls().unique().sort()
        numbers = polars.Series(np.arange(len(values)))
        codes = cells.replace_strict(values, numbers, default=None, return_dtype=polars.Int64).fill_null(-1)
        return (_divided(codes.to_numpy(), columns), len(values))


PANDAS, POLARS = Frames(), PolarsFrames()


def frames_of(**frames: Any) -> Frames:
    """What does with the frames of a call what is done with such; all are of one library."""
    found = {}
    for argument, frame in frames.items():
        if is_of("pandas", frame, "DataFrame"):
            found[argument] = PANDAS
        elif is_of("polars", frame, "DataFrame"):
            found[argument] = POLARS
        else:
            kind = f"{type(frame).__module__}.{type(frame).__qualname__}"
            raise InvalidType(f"{argument}: a {kind} is no data frame; give one of pandas or Polars")
    (first, library), *others = found.items()
    for argument, other in others:
        if other is not library:
            raise InvalidType(f"{argument}: a frame of {other.module}, but {first} is one of {library.module}")
    return library


def check_columns(argument: str, frame: Any, names: Iterable[Any]) -> None:
    for name in names:
        if name not in frame.columns:
            raise InvalidArgument(f"{argument}: it has no column {name!r}, only {', '.join(map(str, frame.columns))}")


def with_suffixes(of: Frames, left: Any, right: Any, suffixes: Sequence[str | None]) -> tuple[Any, Any]:
    """Both frames, with suffixes on the names that both have."""
    if len(suffixes) != 2:
        raise InvalidArgument(f"suffixes: {suffixes!r} are no two")
    both = [name for name in left.columns if name in right.columns]
    named = [{name: f"{name}{suffix or ''}" for name in both} for suffix in suffixes]
    left, right = of.rename(left, named[0]), of.rename(right, named[1])
    twice = [str(name) for name in left.columns if name in right.columns]
    if twice:
        raise InvalidArgument(f"suffixes: with {suffixes!r} both frames have a column {', '.join(twice)}")
    return (left, right)
