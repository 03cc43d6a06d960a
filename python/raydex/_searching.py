# SPDX-License-Identifier: Apache-2.0
"""NumPy's `searchsorted`, in the column as it lies or by a tree made for the call, and `isin`, by a table."""

from __future__ import annotations

from typing import Any, Literal, overload

import numpy as np
import numpy.typing as npt

from raydex import _lists, _raydex
from raydex._array_libraries import HOST, ArrayLibrary, BareLibrary
from raydex._arrow import HostCells
from raydex._columns import Column, column_of, dtype_of, natural_of, no_strings
from raydex._devices import Device, gpu
from raydex._errors import InvalidArgument, InvalidType
from raydex._keys import Key, converts, natural, plain_key
from raydex._plain import OWN, PlainColumns, plain_columns
from raydex._sources import Source, computable, look, same_device
from raydex._times import Time, are_compared, in_one_unit, time_of
from raydex.typing import ColumnLike, HostColumn, Scalar, Side, StreamLike, Tensor

# Where no call of the library pays, measured on two cores of an AMD EPYC: to search for fewer values, in a column that
# the caches hold; and to look up so many cells in all, of integers in a span of so many times as many.
_least_values = 1 << 8
_largest_cached = 1 << 14
_least_cells = 1 << 8
_span_of_a_table = 6  # where `numpy.isin` makes a table of them

_HERE = Device("cpu", None)


def _host_array(source: Source) -> npt.NDArray[Any] | None:
    """The array of an argument in host memory without missing cells; None of a device's."""
    if source.library.device is not None:
        return None
    dtype_of(source)  # asks DLPack
    if not isinstance(source.cells, HostCells):
        raise InvalidType(f"{source.argument}: strings of any length have no place here")
    if source.cells.validity is not None or np.ma.is_masked(source.cells.array):
        raise InvalidArgument(f"{source.argument}: some cells are missing; drop or fill them first")
    if source.loose:
        natural_of(source, source.cells.array)
    array = np.asarray(source.cells.array)
    if source.cells.unit:
        time = time_of(None, source.cells.unit)
        if time is None:
            raise no_strings(source.argument, source.cells.unit)
        return array.astype("i8").view(time.dtype)
    return array


def _check_times(first: Source, second: Source) -> None:
    """Refuses times of two kinds of Arrow's, which NumPy does not tell apart."""
    kinds = []
    for one in (first, second):
        unit = one.cells.unit if isinstance(one.cells, HostCells) else ""
        time = time_of(dtype_of(one), unit)
        kinds.append((time.kind if time else "", unit or dtype_of(one)))
    if "" not in (kinds[0][0], kinds[1][0]) and kinds[0][0] != kinds[1][0]:
        raise InvalidType(f"{first.argument}: times of {kinds[0][1]} and of {kinds[1][1]} are not compared")


def _order(times: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Times as numbers of their order in NumPy, where NaT comes last."""
    return times.view("u8") + np.uint64(2**63 - 1)


def _source(argument: str, array: npt.NDArray[Any]) -> Source:
    return Source(argument, array, HOST, HostCells(array), shape=array.shape)


def _promoted_dtype(one: np.dtype[Any], other: np.dtype[Any]) -> np.dtype[Any]:
    """The dtype that NumPy compares two in, if there are keys of it."""
    try:
        both: np.dtype[Any] = np.promote_types(one, other)
    except TypeError:
        raise InvalidType(f"{one} and {other} are not compared; convert one of them") from None
    natural(f"{one} and {other}", both)
    return both


def _in_one_type(
    first: Source, a: npt.NDArray[Any], second: Source, b: npt.NDArray[Any]
) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
    """Both in the dtype that NumPy compares them in, if there are keys of it; numbers of lists exactly, or refused;
    times of two units as numbers that compare as they do."""
    one, other = time_of(a.dtype), time_of(b.dtype)
    if one is not None and other is not None and one != other and are_compared(one, other):
        return _in_one_unit(a, one, b, other)
    both = _promoted_dtype(a.dtype, b.dtype)

    def cast(source: Source, array: npt.NDArray[Any]) -> npt.NDArray[Any]:
        if source.loose and array.dtype.kind in "biu" and both.kind == "f":
            return _lists.exactly(source.argument, array, both)
        return array.astype(both, copy=False)

    return (cast(first, a), cast(second, b))


def _in_one_unit(
    a: npt.NDArray[Any], one: Time, b: npt.NDArray[Any], other: Time
) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
    missing = [np.isnat(x).reshape(-1) for x in (a, b)]
    cells = [x.astype(x.dtype.newbyteorder("="), copy=False).reshape(-1).view("i8") for x in (a, b)]
    counts, unit, _ = in_one_unit(list(zip(cells, (one, other))), missing)
    times = [
        np.where(gone, np.iinfo("i8").min, x).view(unit.dtype).reshape(like.shape)
        for x, gone, like in zip(counts, missing, (a, b))
    ]
    return (times[0], times[1])


def _marked(library: ArrayLibrary, tests: Any, elements: Any, size: int, stream: int) -> Any:
    """Whether elements are keys among tests."""
    device = _HERE if library.device is None else library.device_for(None, "auto")
    found = library.empty(size, "bool", stream)
    device.run(
        _raydex.is_in, device.backend, device.session(), stream, tests, elements, library.address(found), size
    )
    return found


@overload
def searchsorted(
    a: ColumnLike, v: Tensor, side: Side = ..., sorter: ColumnLike = ..., *, stream: StreamLike = ...
) -> Tensor: ...
@overload
def searchsorted(
    a: ColumnLike, v: Scalar, side: Side = ..., sorter: ColumnLike = ..., *, stream: StreamLike = ...
) -> np.int64: ...
@overload
def searchsorted(
    a: ColumnLike, v: HostColumn, side: Side = ..., sorter: ColumnLike = ..., *, stream: StreamLike = ...
) -> npt.NDArray[np.int64]: ...
@overload
def searchsorted(
    a: ColumnLike, v: ColumnLike, side: Side = ..., sorter: ColumnLike = ..., *, stream: StreamLike = ...
) -> Any: ...
def searchsorted(
    a: ColumnLike, v: ColumnLike, side: Side = "left", sorter: ColumnLike = None, *, stream: StreamLike = None
) -> Any:
    """Where to insert the elements of `v` into the sorted `a`, as `numpy.searchsorted`.

    Parameters
    ----------
    a
        A sorted column, or with `sorter` one that it sorts. As of `raydex.build`, also on a GPU.
    v
        Values, of any shape in host memory, else of one dimension.
    side
        `left`: before equal elements of `a`; `right`: behind them.
    sorter
        Positions that sort `a`, as of `numpy.argsort`; `a[sorter]` is a copy. On a GPU the stream is waited
        for, to check them.

    Returns
    -------
    array of int64, of the shape of `v`
        In the library of `v`; a number for a number.

    Cost
    ----
    Few values are searched for in `a` as it lies, a few reads each, and some hundreds by NumPy; many by a tree that is
    made for the call. For many calls with one `a`, `raydex.build(a).rank(v)`. Nothing looks whether `a` is sorted.

    Notes
    -----
    Answers, dtypes and errors are NumPy's: values of two dtypes are compared in the one that NumPy promotes them to,
    NaN and NaT come last. Integers of lists and Python's own are compared exactly; beside floating keys one that is
    none of their values is refused. Times of two units are compared exactly, also if one unit does not hold the other's
    (NumPy's wrap). Values that are no keys of raydex (str, object, complex, longdouble, records) are refused. Of an
    array without elements the type does not matter.
    """
    if side not in ("left", "right"):
        raise InvalidArgument(f"side: {side!r} is neither 'left' nor 'right'")
    if sorter is None and stream is None and _is_left_to_numpy(a, v):
        return a.searchsorted(v, side)
    plain = plain_columns(a, v, stream, OWN) if sorter is None else None
    if plain is not None:
        return _search_plain(plain, side)
    first, probes = look("a", a), look("v", v)
    same_device(first, probes)
    rows, values = _host_array(first), _host_array(probes)
    _check_times(first, probes)
    if rows is None or values is None:
        return _search_on_device(first, probes, side, sorter, stream)
    if stream is not None:
        first.library.stream_for(stream)
    if rows.ndim != 1:
        raise InvalidArgument(f"a: it has {rows.ndim} dimensions, {rows.shape}; it must have one")
    if sorter is not None:
        rows = rows[_checked_sorter(sorter, len(rows))]
    rows, values = _of_one_type_if_empty(rows, values)
    if (first.loose or probes.loose) and _are_signed_and_uint64(rows.dtype, values.dtype):
        found = _search_signed_and_unsigned(rows, values, side)
    else:
        found = _search(*_in_one_type(first, rows, probes, values), side)
    return probes.library.from_host(found)


def _of_one_type_if_empty(
    rows: npt.NDArray[Any], values: npt.NDArray[Any]
) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
    """Two arrays. One without cells has the type of the other one: an empty list has none that could be compared."""
    if rows.size == 0:
        return (np.empty(rows.shape, values.dtype), values)
    return (rows, values if values.size else np.empty(values.shape, rows.dtype))


def _is_left_to_numpy(a: Any, v: Any) -> bool:
    """Whether they are numbers of one type, so few that a look at them costs more than NumPy's search."""
    return (
        type(v) is np.ndarray
        and type(a) is np.ndarray
        and _are_few(a, v)
        and a.dtype == v.dtype
        and a.ndim == 1
        and plain_key(a.dtype) is not None
    )


def _are_few(rows: npt.NDArray[Any], values: npt.NDArray[Any]) -> bool:
    return values.size < (_least_values if rows.size <= _largest_cached else _least_values // 4)


def _search(rows: npt.NDArray[Any], values: npt.NDArray[Any], side: str) -> Any:
    if _are_few(rows, values):
        return np.searchsorted(rows, values, side=side)  # type: ignore[call-overload]
    if rows.dtype.kind in "mM" and (np.isnat(rows).any() or np.isnat(values).any()):
        rows, values = _order(np.ascontiguousarray(rows)), _order(np.ascontiguousarray(values))
    points = np.require(values, requirements=["C", "A"]).reshape(-1)
    found = _search_sorted(_source("a", rows), _source("v", points), side, 0).reshape(values.shape)
    return found if values.shape else found[()]


def _search_signed_and_unsigned(rows: npt.NDArray[Any], values: npt.NDArray[Any], side: str) -> Any:
    """Neither type has the values of both; those that are not negative are the same in uint64, the others are
    before them."""
    negative = int(np.searchsorted(rows, 0))
    found = negative + _search(rows[negative:].astype("u8"), values.astype("u8"), side)
    return np.where(values < 0, 0, found)[()]


def _check_sorter(dtype: np.dtype[Any], shape: tuple[int, ...] | None, size: int) -> None:
    if dtype.kind not in "iu":
        raise InvalidType(f"sorter: it is of {dtype}; it must be of integers")
    if shape != (size,):
        raise InvalidArgument(f"sorter: it has the shape {shape}, but there are {size} elements")


def _checked_sorter(sorter: Any, size: int) -> npt.NDArray[Any]:
    order = np.asarray(sorter)
    _check_sorter(order.dtype, order.shape, size)
    if size and (int(order.min()) < 0 or int(order.max()) >= size):
        ends = f"{order.min()} to {order.max()}"
        raise InvalidArgument(f"sorter: it goes from {ends}, but there are {size} elements")
    return order


def _common(first: Source, second: Source, stream: int) -> Key:
    both = _promoted_dtype(dtype_of(first, stream), dtype_of(second, stream))
    return Key(natural(first.argument, both))


def _promoted(source: Source, stream: int, key: Key) -> Column:
    """As `column`, also where values change, as those of int64 do in float64."""
    assert key.dtype is not None
    own = dtype_of(source, stream)
    if own.kind in "iu" and not converts(own, key.dtype):
        changed = source.library.cast(source.value, key.dtype, stream)
        return column_of(look(source.argument, changed), stream, key)
    return column_of(source, stream, key, copies=True)


def _search_plain(plain: PlainColumns, side: str) -> Any:
    library, _, rows, (points, size, stream, _) = plain
    out = library.empty(size, "int64")
    backend = "cpu" if library.device is None else "cuda"
    _raydex.search_sorted(
        backend, gpu(library.device).session(), stream, rows[0], points, side == "right", library.address(out), size
    )
    return out


def _search_on_device(a: Source, v: Source, side: str, sorter: Any, stream: Any) -> Any:
    number, _ = v.library.stream_for(stream)
    if sorter is not None:
        a = _sorted_on_device(a, sorter, number)
    out = _search_sorted(a, v, side, number)
    return out[0] if v.scalar else out


def _sorted_on_device(a: Source, sorter: Any, stream: int) -> Source:
    order, library = look("sorter", sorter), a.library
    if a.shape is None or order.shape is None or order.library is not library or isinstance(library, BareLibrary):
        raise InvalidType(
            "sorter: on a GPU it and the elements must be arrays of PyTorch both, or of CuPy; or give elements "
            "in their order"
        )
    dtype_of(a, stream)  # waits for what writes it
    _check_sorter(dtype_of(order, stream), order.shape, a.shape[0])
    positions = library.cast(order.value, "int64", stream)
    if library.any_outside(positions, a.shape[0], stream):
        raise InvalidArgument(f"sorter: some are not within 0 to {a.shape[0] - 1}; there are {a.shape[0]} elements")
    return look("a", library.take(a.value, positions, stream))


def _search_sorted(a: Source, v: Source, side: str, stream: int) -> Any:
    key = _common(a, v, stream)
    rows, points = _promoted(a, stream, key), _promoted(v, stream, key)
    target = v.library.device_for(None, "auto")
    out = v.library.empty(points.size, "int64", stream)
    target.run(
        _raydex.search_sorted, target.backend, target.session(), stream, rows.native, points.native,
        side == "right", v.library.address(out), points.size,
    )  # fmt: skip
    return out


@overload
def isin(
    element: Tensor, test_elements: ColumnLike, assume_unique: bool = ..., invert: bool = ..., *,
    kind: Literal["sort", "table"] | None = ..., stream: StreamLike = ...,
) -> Tensor: ...
@overload
def isin(
    element: Scalar, test_elements: ColumnLike, assume_unique: bool = ..., invert: bool = ..., *,
    kind: Literal["sort", "table"] | None = ..., stream: StreamLike = ...,
) -> np.bool_: ...
@overload
def isin(
    element: HostColumn, test_elements: ColumnLike, assume_unique: bool = ..., invert: bool = ..., *,
    kind: Literal["sort", "table"] | None = ..., stream: StreamLike = ...,
) -> npt.NDArray[np.bool_]: ...
@overload
def isin(
    element: ColumnLike, test_elements: ColumnLike, assume_unique: bool = ..., invert: bool = ..., *,
    kind: Literal["sort", "table"] | None = ..., stream: StreamLike = ...,
) -> Any: ...  # fmt: skip
def isin(
    element: ColumnLike,
    test_elements: ColumnLike,
    assume_unique: bool = False,
    invert: bool = False,
    *,
    kind: Literal["sort", "table"] | None = None,
    stream: StreamLike = None,
) -> Any:
    """Whether each element is one of `test_elements`, as `numpy.isin`.

    Parameters
    ----------
    element
        Values, of any shape in host memory, else of one dimension.
    test_elements
        Values to look for, of any shape in host memory; on the device of `element`.
    invert
        Whether True is for elements that are none of `test_elements`.
    assume_unique, kind
        As of NumPy, for which they choose a way; here they change nothing.

    Returns
    -------
    array of bool, of the shape of `element`
        In its library.

    Cost
    ----
    As of a semi join: a table of `test_elements`, a lookup an element; of some hundred integers or more in a small span
    NumPy's own way.

    Notes
    -----
    Answers are NumPy's: two dtypes are compared in the one that NumPy promotes them to, int64 and uint64 exactly, NaN
    and NaT are in nothing. (Where integers of 64 bits meet floating numbers, `numpy.isin` finds some that are in
    nothing, since it takes two elements that round to one number for a pair; raydex does not.) Values that are no keys
    of raydex (str, object, complex, longdouble, records) are refused. Of an array without elements the type does not
    matter.
    """
    if kind not in (None, "sort", "table"):
        raise InvalidArgument(f"kind: {kind!r} is none of None, 'sort' and 'table'")
    plain = plain_columns(test_elements, element, stream, OWN)
    if plain is not None:
        if plain[0].device is None:
            both = (np.asarray(element), np.asarray(test_elements))
            if _are_found_by_numpy(*both):
                return plain[0].from_host(np.isin(*both, invert=invert))
        return _found_by_table(plain, element, invert)
    elements, tests = look("element", element), look("test_elements", test_elements)
    same_device(elements, tests)
    values, rows = _host_array(elements), _host_array(tests)
    _check_times(elements, tests)
    if values is None or rows is None:
        return _isin_on_device(elements, tests, invert, stream)
    if stream is not None:
        elements.library.stream_for(stream)
    shape = values.shape
    values, rows = values.reshape(-1), rows.reshape(-1)
    rows, values = _of_one_type_if_empty(rows, values)
    if _are_signed_and_uint64(values.dtype, rows.dtype):
        found = _isin_signed_and_unsigned(values, rows)
    else:
        values, rows = _in_one_type(elements, values, tests, rows)
        found = _found(values, rows)
    found = found.reshape(shape)
    return elements.library.from_host(~found if invert else found)


def _are_found_by_numpy(values: npt.NDArray[Any], rows: npt.NDArray[Any]) -> bool:
    """Whether `numpy.isin` takes less time than a table of hashes: for many integers side by side."""
    if len(rows) == 0:
        return True
    cells = len(rows) + len(values)
    if cells < _least_cells or rows.dtype.kind not in "iu":
        return False

    def are_near(some: npt.NDArray[Any]) -> bool:
        return int(some.max()) - int(some.min()) <= _span_of_a_table * cells

    return are_near(rows[:: len(rows) // 1000 + 1]) and are_near(rows)  # a few tell of most columns


def _found(values: npt.NDArray[Any], rows: npt.NDArray[Any]) -> npt.NDArray[np.bool_]:
    if _are_found_by_numpy(values, rows):
        return np.isin(values, rows)
    tests, elements = (column_of(_source(name, x), 0, copies=True)
                       for name, x in (("test_elements", rows), ("element", values)))  # fmt: skip
    found: npt.NDArray[np.bool_] = _marked(HOST, tests.native, elements.native, len(values), 0)
    if values.dtype.kind == "f" and np.isnan(rows).any():
        found &= ~np.isnan(values)
    return found


def _are_signed_and_uint64(one: np.dtype[Any], other: np.dtype[Any]) -> bool:
    return {one.kind, other.kind} == {"i", "u"} and "u8" in (one.str[1:], other.str[1:])


def _isin_signed_and_unsigned(values: npt.NDArray[Any], rows: npt.NDArray[Any]) -> npt.NDArray[np.bool_]:
    """Neither type has the values of both; those that are not negative are the same in uint64."""
    rows = rows[rows >= 0].astype("u8")
    return np.asarray((values >= 0) & _found(values.astype("u8"), rows), np.bool_)


def _isin_on_device(element: Source, tests: Source, invert: bool, stream: Any) -> Any:
    number, _ = element.library.stream_for(stream)
    own, other = dtype_of(element, number), dtype_of(tests, number)
    exact = _are_signed_and_uint64(own, other)
    if exact and other.kind == "i":
        tests = _not_negative(tests, number)
    key = Key(np.dtype("u8")) if exact else _common(tests, element, number)
    rows, points = _promoted(tests, number, key), _promoted(element, number, key)
    library = element.library
    columns = [(one.native, one.size, number, None) for one in (rows, points)]
    found = _found_by_table((library, key, columns[0], columns[1]), computable(element), invert)
    if exact and own.kind == "i":  # a negative one is in nothing
        with library.on(number):
            cells = computable(element)
            found = found | (cells < 0) if invert else found & (cells >= 0)
    return found[0] if element.scalar else found


def _not_negative(source: Source, stream: int) -> Source:
    """The cells of a column on a device that are not less than 0."""
    cells = source.library.cast(source.value, "int64", stream)
    with source.library.on(stream):
        return look(source.argument, cells[cells >= 0])


def _found_by_table(columns: PlainColumns, element: Any, invert: bool) -> Any:
    library, key, (tests, *_), (elements, size, stream, _) = columns
    found = _marked(library, tests, elements, size, stream)
    is_floating = key.dtype is not None and key.dtype.kind == "f"
    return library.membership(found, element if is_floating else None, invert, stream)
