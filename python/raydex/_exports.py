# SPDX-License-Identifier: Apache-2.0
"""Rows in which none is missing, not -1, and the cells of columns at them. pyarrow is imported only where it is
asked for."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from raydex import _cuda, _raydex
from raydex._array_libraries import is_of
from raydex._arrow import Bitmap, HostCells, is_arrow, placed
from raydex._errors import InvalidArgument, InvalidType
from raydex._frames import CUDF, PANDAS, POLARS, Frames, in_unit_of, is_labelled, taken_from, without_views
from raydex._sources import look, not_a_text


def _pyarrow() -> Any:
    return importlib.import_module("pyarrow")


def rows_on_host(name: str, rows: Any, results: str) -> npt.NDArray[np.int64]:
    """Rows in host memory."""
    return _rows_of(name, rows, results)[0]


def _rows_of(name: str, rows: Any, results: str) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.bool_]]:
    """Rows in host memory, and which are none: those that are -1, or missing."""
    source = look(name, rows)
    if source.library.device is not None or not isinstance(source.cells, HostCells):
        raise InvalidArgument(
            f"{name}: in {source.library.memory}, and {results} are in host memory; "
            f"{source.library.copy_hint(None)}"
        )
    cells = source.cells
    array = np.atleast_1d(np.ma.getdata(cells.array))
    if (cells.unit or array.dtype.kind not in "iu") and array.size and not cells.is_void:
        raise InvalidType(f"{name}: rows are integers, and these are {cells.unit or array.dtype}")
    array = array.astype("int64", copy=False)
    none = array < 0
    if np.ma.is_masked(cells.array):
        none |= np.atleast_1d(np.ma.getmaskarray(cells.array))
    if cells.validity is not None:
        none |= ~cells.validity.there(array.size)
    return (array, none)


def masked(rows: Any) -> Any:
    """Rows as a masked array of NumPy, int64, in which those that are none (-1) are masked.

    `rows`: of any call that gives rows, in host memory. NumPy passes over the mask where such an array is an
    index; what is masked is the largest int64 then, which is in no array and raises `IndexError`. Filled, it is
    -1 again. See `take`."""
    array, none = _rows_of("rows", rows, "masked arrays")
    hidden = np.where(none, np.iinfo(np.int64).max, array)
    return np.ma.MaskedArray(hidden, mask=none, fill_value=-1)


def to_arrow(rows: Any) -> Any:
    """Rows as an array of Arrow, int64, with null where there is none (-1); of the same memory.

    `rows`: of any call that gives rows, in host memory. Arrow's `take`, and those of what is built on it, give
    null for null. Needs pyarrow."""
    return rows_to_arrow("rows", rows)


def rows_to_arrow(name: str, rows: Any) -> Any:
    array, none = _rows_of(name, rows, "Arrow's arrays")
    return _pyarrow().array(array, mask=none)


class _Unsigned:
    """Rows of a GPU as unsigned integers of the same memory, so that -1 is beyond every table."""

    def __init__(self, rows: Any) -> None:
        self.rows = rows
        self.__cuda_array_interface__ = dict(rows.__cuda_array_interface__)
        self.__cuda_array_interface__["typestr"] = self.__cuda_array_interface__["typestr"].replace("i", "u")


def to_pylibcudf(rows: Any) -> Any:
    """Rows as a gather map of libcudf, a `pylibcudf.Column` of the same memory.

    `rows`: of any call that gives rows, on a GPU, int64 or int32. The map is unsigned, so that
    `pylibcudf.copying.gather` with `OutOfBoundsPolicy.NULLIFY` gives null for -1, which a signed map would take for the
    last row. Work on libcudf's default stream finds them written. Needs pylibcudf."""
    return rows_to_gather_map("rows", rows)


def rows_to_gather_map(name: str, rows: Any) -> Any:
    source = look(name, rows)
    if source.library.device is None:
        raise InvalidArgument(f"{name}: in host memory, and pylibcudf's columns are on a GPU; join columns of a GPU")
    interface = getattr(rows, "__cuda_array_interface__", None)
    if interface is None:
        raise InvalidType(f"{name}: of a {type(rows).__name__}; give an array of CuPy or PyTorch")
    if interface["typestr"] not in ("<i4", "<i8"):
        raise InvalidType(f"{name}: they are {interface['typestr']}, and rows are int64 or int32")
    stream = interface.get("stream", source.library.current_stream()[0])
    _cuda.wait(0, 0 if stream in (None, 1) else stream, source.library.device)
    return importlib.import_module("pylibcudf").Column.from_cuda_array_interface(_Unsigned(rows))


def take(values: Any, rows: Any) -> Any:
    """The cells of a column, or the rows of a table, at rows that a call gave; missing where there is none.

    Parameters
    ----------
    values
        A data frame or Series of pandas, Polars or cuDF; a table or column of pyarrow; an array of NumPy, whose first
        dimension are rows; or what else has Arrow's interface of streams or arrays, as relations of DuckDB.
    rows
        Of any call that gives rows, such as `Index.first` or `join_asof`, in host memory, or for cuDF on the GPU: -1,
        masked or null where there is none.

    Returns
    -------
    The same kind of frame, Series, table or column
        With missing cells. Those of pandas keep the labels of their rows, as pandas' `take` does; for rows that are
        none labels are missing, too, and integers and booleans become pandas' nullable ones, not floats. Those of cuDF
        get labels from 0 on. Of an array a masked array of its dtype; of others what pyarrow has of a column or table,
        with nulls. A copy.

    Raises
    ------
    InvalidArgument
        For rows that are not there.

    Notes
    -----
    `values[rows]` takes the last cell for -1, as everything does that counts from the end.
    """
    return _taken(values, rows, True)


def take_anew(values: Any, rows: Any) -> Any:
    """As `take`, but that rows of pandas are called 0 and on."""
    return _taken(values, rows, False)


def _take_of_cudf(values: Any, rows: Any) -> Any:
    """Rows of a GPU stay there."""
    source, cupy = look("rows", rows), sys.modules.get("cupy", np)
    if source.library.device is None:
        array, none = _rows_of("rows", rows, "columns whose cells are taken")
        _check_rows(array, none, len(values))
        array = cupy.asarray(np.where(none, -1, array))
    else:
        array = cupy.asarray(rows)
        if array.dtype.kind not in "iu":
            raise InvalidType(f"rows: rows are integers, and these are {array.dtype}")
        array = array.astype("int64", copy=False)
        if array.size and not (-1 <= int(array.min()) and int(array.max()) < len(values)):
            raise InvalidArgument(f"rows: {array.min()} to {array.max()}, but there are {len(values)}, and -1 is none")
    if array.ndim != 1:
        raise InvalidArgument(f"rows: an array of {array.ndim} dimensions; of a frame or column one has rows to take")
    return CUDF.take(values, array) if values.ndim == 2 else CUDF.cells_at(values, array)


def _taken(values: Any, rows: Any, keeps_labels: bool) -> Any:
    if is_of("cudf", values, "DataFrame") or is_of("cudf", values, "Series"):
        return _take_of_cudf(values, rows)
    array, none = _rows_of("rows", rows, "columns whose cells are taken")
    if array.ndim != 1 and not isinstance(values, np.ndarray):
        raise InvalidArgument(f"rows: an array of {array.ndim} dimensions; of a frame or column one has rows to take")
    values = not_a_text("values", values)
    if is_of("torch", values, "Tensor") and values.is_cpu:
        values = values.detach().numpy()
    if isinstance(values, np.ndarray):
        if values.ndim == 0:
            raise InvalidArgument("values: an array without dimensions has no rows")
        _check_rows(array, none, len(values))
        return _take_of_numpy(values, array, none)
    if is_labelled(values) or is_of("polars", values, "DataFrame") or is_of("polars", values, "Series"):
        _check_rows(array, none, len(values))
        array = np.where(none, -1, array)
        if is_labelled(values) and none.any():
            values = PANDAS.nullable(values)
        labels = PANDAS.index_at(values.index, array) if keeps_labels and is_labelled(values) else None
        return taken_from(values, array, labels)
    if not is_arrow(values):
        kind = f"{type(values).__module__}.{type(values).__qualname__}"
        raise InvalidType(
            f"values: of a {kind} no rows are taken; give a data frame, a Series, an array of NumPy, or what has "
            "__arrow_c_stream__"
        )
    pa = _pyarrow()
    if hasattr(values, "__arrow_c_array__") and not hasattr(values, "__arrow_c_stream__"):
        values = pa.array(values)
    elif not isinstance(values, (pa.Array, pa.ChunkedArray, pa.Table, pa.RecordBatch)):
        is_table = hasattr(values, "columns")
        values = pa.table(values) if is_table else pa.chunked_array(values)
    values = without_views(pa, values)
    _check_rows(array, none, len(values))
    return values.take(pa.array(array, mask=none))


def take_alike(values: Any, rows: Any, points: Any) -> Any:
    """As `take`, but that pandas' frames and Series have the index of the points, if these are a Series, else one of
    their own."""
    if isinstance(values, np.ndarray) and isinstance(rows, np.ndarray):
        return take(values, rows)
    array, none = _rows_of("points", np.atleast_1d(rows) if np.isscalar(rows) else rows, "values that are looked up")
    index = points.index if is_of("pandas", points, "Series") else None
    found = taken_from(values, np.where(none, -1, array), index)
    return take(values, array) if found is None else found


def _check_rows(rows: npt.NDArray[np.int64], none: npt.NDArray[np.bool_], size: int) -> None:
    wrong = (rows >= size) & ~none
    wrong |= (rows < -1) & none
    if wrong.any():
        raise InvalidArgument(f"rows: {rows[np.argmax(wrong)]} is none of {size} rows, 0 to {size - 1}")


def _take_of_numpy(values: npt.NDArray[Any], rows: npt.NDArray[np.int64], none: npt.NDArray[np.bool_]) -> Any:
    if none.all():  # of no rows, too
        found = np.ma.zeros((len(rows), *values.shape[1:]), values.dtype)
    else:
        found = np.ma.MaskedArray(values[np.where(none, rows[np.argmin(none)], rows)])
    found[none] = np.ma.masked
    return found


def lists_to_arrow(offsets: Any, rows: Any) -> Any:
    """A list of rows a probe."""
    lists = _pyarrow().LargeListArray
    return lists.from_arrays(rows_to_arrow("offsets", offsets), rows_to_arrow("rows", rows))


def lists_to_rows(offsets: Any, rows: Any) -> list[npt.NDArray[np.int64]]:
    """A line a row: the number of its probe, and the row."""
    begins, found = (rows_on_host(name, one, "arrays of NumPy") for name, one in (("offsets", offsets), ("rows", rows)))
    return [np.repeat(np.arange(len(begins) - 1), np.diff(begins)), found]


def rows_to_table(rows: Mapping[str, Any]) -> Any:
    """A table of columns of rows, with null for -1."""
    return _pyarrow().table({name: rows_to_arrow(name, one) for name, one in rows.items()})


def nearest_to_table(probe: Any, build: Any, distance: npt.NDArray[Any]) -> Any:
    """A table of rows and how far apart they are, with null where there is no build row."""
    distance = in_unit_of("Arrow", ("s", "ms", "us", "ns"), "distance", distance)
    none = build < 0
    distance = np.where(none, np.zeros((), distance.dtype), distance)  # DuckDB reads NaT behind a null, and fails
    rows = rows_to_table({"probe": probe, "build": build})
    return rows.append_column("distance", _pyarrow().array(distance, mask=none))


def pairs_to_arrow(probe: Any, build: Any) -> Any:
    """A table of the rows of a join."""
    return rows_to_table({"probe": probe} if build is None else {"probe": probe, "build": build})


def stream_of(names: tuple[str, ...], parts: Iterator[tuple[Any, ...]]) -> Any:
    """A capsule with Arrow's stream of a table of columns of rows, a batch for each part, with null for -1. Of the same
    memory, without pyarrow."""
    return _raydex.arrow_stream_of([(name, "l") for name in names], map(_batch_of, parts))


def _batch_of(part: tuple[Any, ...]) -> tuple[int, list[tuple[int, int, int]], Any]:
    """How long a batch is, where its columns are and their bitmaps, how many cells are missing, and what has them."""
    columns = [rows_on_host("rows", one, "streams of Arrow") for one in part if one is not None]
    there = [one >= 0 for one in columns]
    missing = [len(one) - int(np.count_nonzero(one)) for one in there]
    bitmaps = [Bitmap.of(one) if count else None for one, count in zip(there, missing)]
    addresses = [_raydex.data_of(one.__array_struct__) for one in columns]
    places = [(at, placed(bitmap)[0], count) for at, bitmap, count in zip(addresses, bitmaps, missing)]
    return (len(columns[0]), places, (columns, bitmaps))


class _Stream:
    """What has Arrow's stream once."""

    def __init__(self, capsule: Any) -> None:
        self._capsule = capsule

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        return self._capsule


def reader_of(capsule: Any) -> Any:
    """A `pyarrow.RecordBatchReader` of it."""
    return _pyarrow().RecordBatchReader.from_stream(_Stream(capsule))


def lists_to_pandas(offsets: Any, rows: Any) -> Any:
    """An array of rows a probe."""
    begins, found = (_rows_of(name, one, "Series of pandas")[0] for name, one in (("offsets", offsets), ("rows", rows)))
    cells = np.empty(len(begins) - 1, object)
    cells[:] = np.split(found, begins[1:-1])[: len(cells)]
    return PANDAS.library.Series(cells, name="rows")


def lists_to_polars(offsets: Any, rows: Any) -> Any:
    """A list of rows a probe."""
    return POLARS.library.Series("rows", lists_to_arrow(offsets, rows))


def pairs_to_frame(of: Frames, probe: Any, build: Any) -> Any:
    """A frame of the rows of a join."""
    columns = {}
    for name, rows in (("probe", probe), ("build", build)):
        if rows is not None:
            array, none = _rows_of(name, rows, f"frames of {of.name}")
            columns[name] = of.integers(array, none)
    return of.from_columns(columns)
