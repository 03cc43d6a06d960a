# SPDX-License-Identifier: Apache-2.0
"""Data frames of pandas, Polars and cuDF and tables of pyarrow, and what is done with each. None of the libraries is
imported unless its frames come."""

from __future__ import annotations

import functools
import importlib
import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from raydex._array_libraries import is_of
from raydex._errors import InvalidArgument, InvalidType

Rows = npt.NDArray[np.int64]


class Frames:
    """Of pandas. Frames that are returned have an index of their own, from 0 on."""

    module = name = "pandas"
    missing_equal = True
    """Whether a missing key equals another one in the library's own merges."""

    @property
    def library(self) -> Any:
        return importlib.import_module(self.module)

    def names(self, frame: Any) -> list[Any]:
        """What its columns are called."""
        return list(frame.columns)

    def select(self, frame: Any, names: Sequence[Any]) -> Any:
        return frame[list(names)]

    def without(self, frame: Any, names: Sequence[Any]) -> Any:
        """The other columns."""
        return frame.drop(columns=list(names))

    def rename(self, frame: Any, names: Mapping[Any, Any]) -> Any:
        return frame.rename(columns=names)

    def positions(self, frame: Any) -> Rows:
        """The numbers of all its rows, in an array as those of joins are in."""
        return np.arange(len(frame))

    def take(self, frame: Any, rows: Rows) -> Any:
        """The rows of a frame, with missing cells for -1."""
        if len(rows) == 0 or rows.min() >= 0:
            return frame.take(rows).reset_index(drop=True)
        return frame.reset_index(drop=True).reindex(rows).reset_index(drop=True)

    def chosen(self, frame: Any, rows: Rows) -> Any:
        """Some rows of a frame, with their index."""
        return frame.take(rows)

    def with_columns(self, frame: Any, columns: Mapping[Any, Any]) -> Any:
        """The frame with others in place of some of its columns."""
        frame = frame.copy(deep=False)
        for name, column in columns.items():
            frame[name] = column
        return frame

    def with_words(self, frame: Any, name: str, codes: npt.NDArray[np.int8], words: Sequence[str]) -> Any:
        """The frame with a column more, last, of a few words, each by its number."""
        return frame.assign(**{name: self.library.Categorical.from_codes(codes, words)})

    def merge_error(self, message: str) -> InvalidArgument:
        """The error of keys that a merge should not have."""
        return _merge_error_of_pandas()(message)

    def joined(self, column: Any, other: Any) -> Any:
        """The cells of both, one after the other, in a type for those of both; of times in the zone of the first."""
        zones = [getattr(one.dtype, "tz", None) for one in (column, other)]
        if None not in zones and zones[0] != zones[1]:
            other = other.dt.tz_convert(zones[0])
        if len(column) == 0 and column.dtype == np.float64 and getattr(other.dtype, "kind", "O") not in "biuf":
            return other  # of no type of its own, see `_columns.is_none`
        return self.library.concat([column, other], ignore_index=True)

    def cells_at(self, column: Any, rows: Rows) -> Any:
        """As `take`, of a column."""
        return self.take(column, rows)

    def ordered(self, column: Any) -> Any:
        """A column as the library compares it: NaN is a missing value."""
        if getattr(column.dtype, "kind", "O") != "f":
            return column
        if isinstance(column.dtype, np.dtype):
            return _nan_as_missing(column.to_numpy())
        return _nan_as_missing(column.to_numpy(dtype=f"f{column.dtype.itemsize}", na_value=np.nan))

    def keys(self, column: Any, other: Any) -> tuple[Any, Any]:
        """Columns that have to be equal. Integers are floating numbers in columns that lack some: these are taken for
        what they were if the other column is of integers."""
        cells = self.ordered(column), self.ordered(other)
        return (_as_integers(cells[0], other), _as_integers(cells[1], column))

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

    def nullable(self, values: Any) -> Any:
        """A frame or Series whose integers and booleans may be missing, and do not become floats then."""
        if values.ndim == 1:
            return values.astype(self.library.array(values.to_numpy()[:0]).dtype) if _lacks_missing(values) else values
        frame = values.copy(deep=False)
        for at in range(frame.shape[1]):
            if _lacks_missing(values.iloc[:, at]):
                frame.isetitem(at, self.nullable(values.iloc[:, at]))
        return frame

    def labels(self, frame: Any, rows: Rows) -> Any:
        """What the index calls rows; -1 are none."""
        if frame.index.dtype.kind in "iu":
            return self.integers(np.append(frame.index.to_numpy(np.int64), -1)[rows], rows < 0)
        return self.take(frame.index.to_frame(index=False), rows).iloc[:, 0]

    def index_at(self, index: Any, rows: Rows) -> Any:
        """An index at rows, with a missing label for -1: integers become nullable ones, not floating numbers."""
        if len(rows) == 0 or rows.min() >= 0:
            return index.take(rows)
        if index.nlevels > 1:
            levels = [self.index_at(index.get_level_values(level), rows) for level in range(index.nlevels)]
            return self.library.MultiIndex.from_arrays(levels, names=index.names)
        if _lacks_missing(index):
            index = self.library.Index(self.library.array(index.to_numpy()), name=index.name)
        return index.take(rows, allow_fill=True, fill_value=self.library.NA)

    def order(self, columns: Sequence[Any]) -> Rows:
        """The positions of cells in the order of columns, of the first one first; missing ones last. Stable."""
        frame = self.from_columns({str(at): column for at, column in enumerate(columns)})
        return np.asarray(frame.sort_values(list(frame.columns), kind="stable").index, np.int64)

    def codes(self, columns: Sequence[Any]) -> tuple[list[Rows], int]:
        """For cells of columns the number of their value in the order of all values, -1 for missing ones; and how
        many values there are."""
        codes, values = self.library.factorize(self.library.concat(list(columns), ignore_index=True), sort=True)
        return (_divided(codes, columns), len(values))


def _lacks_missing(cells: Any) -> bool:
    """Whether pandas' cells are integers or booleans that may not be missing."""
    return isinstance(cells.dtype, np.dtype) and cells.dtype.kind in "iub"


@functools.cache
def _merge_error_of_pandas() -> type[InvalidArgument]:
    """What `except raydex.Error` takes, and `except pandas.errors.MergeError`."""
    kinds = (InvalidArgument, PANDAS.library.errors.MergeError)
    return type("MergeError", kinds, {"__module__": "raydex"})


def _nan_as_missing(cells: npt.NDArray[Any]) -> npt.NDArray[Any]:
    missing = np.isnan(cells)
    return np.ma.MaskedArray(cells, missing) if missing.any() else cells


def _as_integers(cells: Any, beside: Any) -> Any:
    """Floating numbers as integers if the other column is of these and each that is there is one of 64 bits."""
    if not isinstance(cells, np.ndarray) or getattr(beside.dtype, "kind", "O") not in "iu":
        return cells
    numbers = np.ma.filled(cells, 0)
    if not ((np.floor(numbers) == numbers) & (numbers >= -(2.0**63)) & (numbers < 2.0**63)).all():
        return cells
    return np.ma.MaskedArray(numbers.astype(np.int64), np.ma.getmask(cells))


def _divided(codes: npt.NDArray[Any], columns: Sequence[Any]) -> list[Rows]:
    return np.split(codes.astype(np.int64), np.cumsum([len(one) for one in columns])[:-1])


class PolarsFrames(Frames):
    module, name = "polars", "Polars"
    missing_equal = False

    def select(self, frame: Any, names: Sequence[Any]) -> Any:
        return frame.select(list(names))

    def without(self, frame: Any, names: Sequence[Any]) -> Any:
        return frame.drop(list(names))

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

    def chosen(self, frame: Any, rows: Rows) -> Any:
        return self.take(frame, rows)

    def with_columns(self, frame: Any, columns: Mapping[Any, Any]) -> Any:
        return frame.with_columns(**columns)

    def with_words(self, frame: Any, name: str, codes: npt.NDArray[np.int8], words: Sequence[str]) -> Any:
        each = self.library.Series(name, words, self.library.Enum(words))
        return frame.with_columns(each.gather(codes))

    def merge_error(self, message: str) -> InvalidArgument:
        return InvalidArgument(message)

    def joined(self, column: Any, other: Any) -> Any:
        polars, columns = self.library, [column.alias(""), other.alias("")]
        if column.dtype != other.dtype:
            kinds = (polars.Categorical, polars.Enum)
            columns = [one.cast(polars.String) if isinstance(one.dtype, kinds) else one for one in columns]
            zones = [getattr(one.dtype, "time_zone", None) for one in columns]
            if None not in zones and zones[0] != zones[1]:
                columns[1] = columns[1].dt.convert_time_zone(zones[0])
        return polars.concat([one.to_frame() for one in columns], how="vertical_relaxed").to_series()

    def cells_at(self, column: Any, rows: Rows) -> Any:
        return self.take(column.to_frame(), rows).to_series()

    def ordered(self, column: Any) -> Any:
        return column

    def keys(self, column: Any, other: Any) -> tuple[Any, Any]:
        return (column, other)

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

    def order(self, columns: Sequence[Any]) -> Rows:
        frame = self.library.DataFrame([one.alias(str(at)) for at, one in enumerate(columns)])
        by = self.library.arg_sort_by(frame.columns, nulls_last=True, maintain_order=True)
        return np.asarray(frame.select(by).to_series().to_numpy(), np.int64)

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


def without_views(pa: Any, values: Any) -> Any:
    """A column or a table of pyarrow without what it does not take rows of: views of texts and bytes, and runs."""
    if isinstance(values, (pa.Table, pa.RecordBatch)):
        columns = [without_views(pa, one) for one in values.columns]
        if all(one is own for one, own in zip(columns, values.columns)):
            return values
        return type(values).from_arrays(columns, names=values.schema.names)
    if pa.types.is_run_end_encoded(values.type):
        return importlib.import_module("pyarrow.compute").run_end_decode(values)
    plain = {pa.string_view(): pa.large_string(), pa.binary_view(): pa.large_binary()}.get(values.type)
    return values if plain is None else values.cast(plain)


class ArrowTables(Frames):
    """Of pyarrow."""

    module = name = "pyarrow"
    missing_equal = False

    @functools.cached_property
    def _compute(self) -> Any:
        return importlib.import_module("pyarrow.compute")

    def names(self, frame: Any) -> list[Any]:
        return list(frame.column_names)

    def without(self, frame: Any, names: Sequence[Any]) -> Any:
        return frame.drop_columns(list(names))

    def rename(self, frame: Any, names: Mapping[Any, Any]) -> Any:
        return frame.rename_columns([names.get(name, name) for name in frame.column_names])

    def take(self, frame: Any, rows: Rows) -> Any:
        frame = without_views(self.library, frame)
        return frame.take(self._compute.if_else(rows >= 0, rows, None)) if len(rows) else frame.slice(0, 0)

    def chosen(self, frame: Any, rows: Rows) -> Any:
        return self.take(frame, rows)

    def with_columns(self, frame: Any, columns: Mapping[Any, Any]) -> Any:
        for name, column in columns.items():
            frame = frame.set_column(frame.column_names.index(name), name, column)
        return frame

    def with_words(self, frame: Any, name: str, codes: npt.NDArray[np.int8], words: Sequence[str]) -> Any:
        return frame.append_column(name, self.library.DictionaryArray.from_arrays(codes, list(words)))

    def merge_error(self, message: str) -> InvalidArgument:
        return InvalidArgument(message)

    def joined(self, column: Any, other: Any) -> Any:
        arrow, columns = self.library, [column, other]
        if column.type != other.type:  # dictionaries and what is in them are not taken for one type, nor are zones
            columns = [one.cast(one.type.value_type) if arrow.types.is_dictionary(one.type) else one for one in columns]
            zones = [getattr(one.type, "tz", None) for one in columns]
            if None not in zones and zones[0] != zones[1]:
                columns[1] = columns[1].cast(arrow.timestamp(columns[1].type.unit, zones[0]))
        tables = [self.library.table({"": one}) for one in columns]
        return self.library.concat_tables(tables, promote_options="permissive").column(0)

    def cells_at(self, column: Any, rows: Rows) -> Any:
        return self.take(column, rows)

    def order(self, columns: Sequence[Any]) -> Rows:
        names = [str(at) for at in range(len(columns))]
        plain = [one.cast(one.type.value_type) if hasattr(one.type, "value_type") else one for one in columns]
        table = self.library.table(plain, names=names)
        return np.asarray(self._compute.sort_indices(table, [(name, "ascending") for name in names]), np.int64)

    def ordered(self, column: Any) -> Any:
        return column

    def keys(self, column: Any, other: Any) -> tuple[Any, Any]:
        return (column, other)

    def beside(self, frames: Iterable[Any]) -> Any:
        first, *others = frames
        for one in others:
            for field, column in zip(one.schema, one.columns):
                first = first.append_column(field, column)
        return first


class CudfFrames(Frames):
    """Of cuDF, in the memory of a GPU. Rows are arrays of CuPy there, which cuDF imports."""

    module, name = "cudf", "cuDF"

    def positions(self, frame: Any) -> Rows:
        found: Rows = sys.modules.get("cupy", np).arange(len(frame))
        return found

    def take(self, frame: Any, rows: Rows) -> Any:
        if len(frame.columns) == 0:
            return frame
        if _are_all(rows):
            return frame.take(rows).reset_index(drop=True)
        return self.from_columns({name: self.cells_at(frame[name], rows) for name in frame.columns})

    def cells_at(self, column: Any, rows: Rows) -> Any:
        if _are_all(rows):
            return column.take(rows).reset_index(drop=True)
        if len(column) == 0:
            column = self.library.Series([None], dtype=column.dtype)
        return column.take(rows.clip(0, None)).reset_index(drop=True).where(rows >= 0)

    def with_words(self, frame: Any, name: str, codes: npt.NDArray[np.int8], words: Sequence[str]) -> Any:
        each = self.library.Series(list(words)).astype(self.library.CategoricalDtype(list(words)))
        column = self.cells_at(each, codes.astype(np.int64))
        column.index = frame.index  # by which cuDF puts both together
        return frame.assign(**{name: column})

    def merge_error(self, message: str) -> InvalidArgument:
        return InvalidArgument(message)

    def joined(self, column: Any, other: Any) -> Any:
        return self.library.concat([column, other], ignore_index=True)

    def ordered(self, column: Any) -> Any:
        return column

    def keys(self, column: Any, other: Any) -> tuple[Any, Any]:
        return (self._compared(column), self._compared(other))

    def _compared(self, column: Any) -> Any:
        """Categories as what they are, and bool as numbers: Arrow has both in another layout."""
        if isinstance(column.dtype, self.library.CategoricalDtype):
            return column.astype(column.dtype.categories.dtype)
        return column.astype("int8") if getattr(column.dtype, "kind", "O") == "b" else column

    def beside(self, frames: Iterable[Any]) -> Any:
        return self.library.concat([one for one in frames if len(one.columns)], axis=1)

    def order(self, columns: Sequence[Any]) -> Rows:
        # Equal ones stay in their order: cuDF promises no stable sort.
        made = {str(at): column for at, column in enumerate(columns)}
        frame = self.from_columns({**made, "row": self.positions(columns[0])})
        found: Rows = frame.sort_values(list(frame.columns)).index.values
        return found


def _are_all(rows: Rows) -> bool:
    """Whether each is a row."""
    return len(rows) == 0 or bool(rows.min() >= 0)


PANDAS, POLARS, ARROW, CUDF = Frames(), PolarsFrames(), ArrowTables(), CudfFrames()
_CLASSES = ((PANDAS, "DataFrame"), (POLARS, "DataFrame"), (ARROW, "Table"), (CUDF, "DataFrame"))
_ADVICE = {
    ("polars", "LazyFrame"): "; give x.collect()",
    ("duckdb", "DuckDBPyRelation"): "; give x.df(), x.pl() or x.to_arrow_table()",
    ("pyarrow", "RecordBatch"): "; give pyarrow.table(x)",
    ("cudf", "DataFrame"): "; give x.to_pandas()",
    ("dask", "DataFrame"): "; raydex.dask has joins of these",
}


def frames_of(*kinds: Frames, **frames: Any) -> Frames:
    """What does with the frames of a call what is done with such; all are of one library, one of some kinds."""
    found = {}
    for argument, frame in frames.items():
        kind = next((one for one, name in _CLASSES if one in kinds and is_of(one.module, frame, name)), None)
        if kind is None:
            module, name = type(frame).__module__, type(frame).__qualname__
            known = " or ".join(one.name for one in kinds)
            hint = _ADVICE.get((module.partition(".")[0].lstrip("_"), name), f"; give one of {known}")
            raise InvalidType(f"{argument}: a {module}.{name} is no data frame{hint}")
        found[argument] = kind
    (first, library), *others = found.items()
    for argument, other in others:
        if other is not library:
            raise InvalidType(f"{argument}: a frame of {other.module}, but {first} is one of {library.module}")
    return library


def is_series(probes: Any) -> bool:
    """Whether it is a Series of pandas or Polars."""
    return is_of("pandas", probes, "Series") or is_of("polars", probes, "Series")


def series_like(probes: Any, found: Any, none: npt.NDArray[np.bool_] | None = None, name: object = ...) -> Any:
    """An array with a cell for each probe as a Series with their index, if they are a Series, and with their name, or
    another. `none`: cells that are missing there; integers of pandas become nullable ones then, for floating numbers
    lack some."""
    if not isinstance(found, np.ndarray):
        return found
    if is_of("pandas", probes, "Series"):
        if none is not None and none.any() and found.dtype.kind in "iu":
            found = PANDAS.library.arrays.IntegerArray(found, none)
        return PANDAS.library.Series(found, index=probes.index, name=probes.name if name is ... else name)
    if is_of("polars", probes, "Series"):
        name = probes.name if name is ... else name
        column = POLARS.library.Series(name, in_unit_of("Polars", ("ms", "us", "ns"), "upper", found))
        return column if none is None else column.set(POLARS.library.Series(none), None)
    return found


def check_labels(lower: Any, upper: Any) -> None:
    """Refuses two Series of pandas whose indexes differ: pandas would put them together by label."""
    if is_of("pandas", lower, "Series") and is_of("pandas", upper, "Series") and not lower.index.equals(upper.index):
        raise InvalidArgument(
            "upper: its index is not that of lower; give upper.reindex(lower.index), or upper.to_numpy() if rows "
            "belong together as they stand"
        )


def check_one_table(argument: str, columns: Iterable[Any]) -> None:
    """Refuses Series of pandas for the columns of one table whose indexes differ, for the same reason."""
    series = [one for one in columns if is_of("pandas", one, "Series")]
    if not all(one.index.equals(series[0].index) for one in series[1:]):
        raise InvalidArgument(
            f"{argument}: the indexes of its Series differ; give columns of one frame, or x.to_numpy() if rows belong "
            "together as they stand"
        )


def in_unit_of(
    library: str, units: tuple[str, ...], argument: str, cells: npt.NDArray[Any]
) -> npt.NDArray[Any]:
    """Times in a unit that a library has; `units`: those it has, the longest one first."""
    if cells.dtype.kind not in "mM" or np.datetime_data(cells.dtype)[0] in units:
        return cells
    found = cells.astype(f"{cells.dtype.kind}8[{units[0]}]")
    if ((found.astype(cells.dtype) != cells) & ~np.isnat(cells)).any():  # NumPy wraps what is beyond
        raise InvalidArgument(f"{argument}: {library} has no unit for some of the answers, which are {cells.dtype}")
    return found


def taken_from(values: Any, rows: Rows, index: Any = None) -> Any | None:
    """The rows of a frame or a Series, of pandas or Polars, with missing cells for -1; None of others. `index`: what
    pandas' rows are called; None: 0 and on."""
    if is_of("polars", values, "DataFrame"):
        return POLARS.take(values, rows)
    if is_of("polars", values, "Series"):
        return POLARS.cells_at(values, rows)
    if not is_labelled(values):
        return None
    found = PANDAS.take(values, rows)
    return found if index is None else found.set_axis(index)


def is_labelled(values: Any) -> bool:
    """Whether it is a frame or a Series of pandas."""
    return is_of("pandas", values, "DataFrame") or is_of("pandas", values, "Series")


def check_columns(of: Frames, argument: str, frame: Any, names: Iterable[Any]) -> None:
    there = of.names(frame)
    for name in names:
        if name not in there:
            has = f"only {', '.join(map(str, there))}" if there else "nor any other"
            if name in list(getattr(getattr(frame, "index", None), "names", ())):
                has = f"but an index of this name; give {argument}.reset_index()"
            raise InvalidArgument(f"{argument}: it has no column {name!r}, {has}")
        if there.count(name) > 1:
            raise InvalidArgument(f"{argument}: two columns are called {name!r}; rename one")


def with_suffixes(of: Frames, left: Any, right: Any, suffixes: Sequence[str | None]) -> tuple[Any, Any]:
    """Both frames, with suffixes on the names that both have."""
    if isinstance(suffixes, str) or len(suffixes) != 2:
        raise InvalidArgument(f"suffixes: {suffixes!r} are no two")
    both = [name for name in of.names(left) if name in of.names(right)]
    named = [{name: f"{name}{suffix or ''}" for name in both} for suffix in suffixes]
    left, right = of.rename(left, named[0]), of.rename(right, named[1])
    twice = [str(name) for name in of.names(left) if name in of.names(right)]
    if twice:
        raise InvalidArgument(f"suffixes: with {suffixes!r} both frames have a column {', '.join(twice)}")
    return (left, right)
