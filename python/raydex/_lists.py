# SPDX-License-Identifier: Apache-2.0
"""Python's own values, and lists of them, as columns. They are taken cell by cell, each exactly. None and what pandas
has for it are missing."""

from __future__ import annotations

import datetime
import decimal
import functools
import ipaddress
import itertools
import math
import re
import uuid
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
import numpy.typing as npt

from raydex import _among, _decimals
from raydex._arrow import Bitmap, Cells, HostCells, StringCells, nothing, strings_of
from raydex._errors import InvalidArgument, InvalidType
from raydex._keys import Key
from raydex._times import Time, span_of_text

_WIDEST = 8
"""Bytes of the longest text that is a key by itself, and has an order."""

# What a cell may be: the first that it is an instance of. A date and time is a date, too, and NumPy's timedelta64
# an integer.
_KINDS: tuple[tuple[type, str], ...] = (
    (np.timedelta64, "numpy durations"), (np.datetime64, "numpy times"), (bool, "number"), (np.bool_, "number"),
    (int, "number"), (np.integer, "number"), (float, "number"), (np.floating, "number"),
    (decimal.Decimal, "number"), (bytes, "bytes"), (str, "str"), (datetime.datetime, "datetime"),
    (datetime.date, "date"), (datetime.timedelta, "timedelta"), (datetime.time, "time"), (uuid.UUID, "uuid"),
    (ipaddress.IPv4Address, "ipv4"), (ipaddress.IPv6Address, "ipv6"),
)  # fmt: skip


def _is_missing_of_pandas(cls: type) -> bool:
    return cls.__name__ in ("NAType", "NaTType") and cls.__module__.startswith("pandas.")


@functools.lru_cache(maxsize=64)
def _kind_of_type(cls: type) -> str:
    if _is_missing_of_pandas(cls):  # NaT is a date
        return ""
    return next((kind for one, kind in _KINDS if issubclass(cls, one)), "")


def _is_missing(x: Any) -> bool:
    return x is None or x is np.ma.masked or _is_missing_of_pandas(type(x))


def is_known(x: Any) -> bool:
    """Whether it is a value of Python or NumPy that lists are of, or what pandas has for a missing one."""
    cls: Any = type(x)
    return _kind_of_type(cls) != "" or _is_missing_of_pandas(cls)


def is_value(x: Any) -> bool:
    """Whether it is a cell, not a column: a value of Python or NumPy, a missing one, an array of no dimension."""
    return x is None or x is np.ma.masked or is_known(x) or bool(getattr(x, "shape", None) == ())


def _refused(argument: str, x: Any) -> InvalidType:
    if isinstance(x, (complex, np.complexfloating)):
        return InvalidType(f"{argument}: complex numbers have no order; {x} is one")
    kind = f"{type(x).__module__}.{type(x).__qualname__}"
    if hasattr(x, "__array__") and hasattr(x, "__len__"):
        return InvalidType(f"{argument}: a list of columns, each a {kind}; give one of them")
    return InvalidType(
        f"{argument}: a {kind} is no key; lists are of numbers, texts, bytes, dates, times, UUIDs and addresses, all "
        "of one kind"
    )


def _flat(argument: str, x: Any) -> tuple[list[Any], tuple[int, ...]]:
    """The cells of lists within each other, and their shape."""
    cells, shape = list(x), [len(x)]

    def is_list(one: Any) -> bool:
        return isinstance(one, (list, tuple, range)) or (isinstance(one, np.ndarray) and one.ndim > 0)

    while any(issubclass(one, (list, tuple, range, np.ndarray)) for one in set(map(type, cells))):
        if not any(map(is_list, cells)):
            break  # arrays without dimensions
        sizes = {len(one) if is_list(one) else -1 for one in cells}
        if len(sizes) != 1:
            raise InvalidArgument(f"{argument}: its lists have no common length")
        shape.append(sizes.pop())
        cells = list(itertools.chain.from_iterable(cells))
    return (cells, tuple(shape))


def _scalar(x: Any) -> Any:
    """A cell without an array around it."""
    if _is_missing(x):
        return x
    if isinstance(x, np.ndarray):
        return x[()]
    return x.item() if not isinstance(x, np.generic) and getattr(x, "shape", None) == () else x


def cells_of(argument: str, x: Any) -> tuple[Cells, tuple[int, ...]]:
    """The cells of a value or a list, and its shape."""
    if isinstance(x, (list, tuple, range)):
        cells, shape = _flat(argument, x)
    else:
        cells, shape = [x], ()
    found = _of_one_kind(argument, cells)
    if isinstance(found, HostCells):
        found.array = found.array.reshape(shape)
    elif len(shape) > 1:
        raise InvalidArgument(f"{argument}: texts in {len(shape)} dimensions, {shape}; a column has one")
    return (found, shape)


def cells_of_objects(argument: str, x: Iterable[Any]) -> Cells:
    """The cells of a column of objects. As pandas has it, NaN is a missing one unless there are other floating numbers.
    Texts are strings of any length, as in columns that are of texts."""
    cells = list(x)
    if not any(isinstance(one, (float, np.floating)) and not math.isnan(one) for one in cells):
        cells = [None if isinstance(one, (float, np.floating)) else one for one in cells]
    found = _of_one_kind(argument, cells)
    if isinstance(found, HostCells) and found.array.dtype.kind == "S":
        return strings_of(found.array.tolist(), validity=found.validity)
    return found


def _of_one_kind(argument: str, cells: list[Any]) -> Cells:
    kinds = {_kind_of_type(one) for one in set(map(type, cells))}
    validity = None
    if "" in kinds:
        cells = [_scalar(one) for one in cells]
        missing = [_is_missing(one) for one in cells]
        there = [one for one, gone in zip(cells, missing) if not gone]
        if any(missing):
            if not there:
                return nothing(len(cells))
            cells = [there[0] if gone else one for one, gone in zip(cells, missing)]
            validity = Bitmap.of(~np.array(missing))
        kinds = {_kind_of_type(one) for one in set(map(type, there))}
        if "" in kinds:
            raise _refused(argument, next(one for one in there if not is_known(one)))
    if not cells:
        return nothing(0)
    if len(kinds) > 1:
        names = sorted({type(one).__qualname__ for one in cells})
        raise InvalidType(f"{argument}: a list of {' and '.join(names)}, which are not compared; give one kind")
    [kind] = kinds
    try:
        found = _MAKERS[kind](argument, cells)
    except (OverflowError, UnicodeError) as error:
        raise InvalidArgument(f"{argument}: no column can be made of it: {error}") from None
    if isinstance(found, StringCells):
        assert found.texts is not None
        return found if validity is None else strings_of(found.texts, found.unit, validity)
    found.validity = validity
    return found


def _numbers(argument: str, cells: list[Any]) -> HostCells | StringCells:
    """Numbers in NumPy's type for them, where it has each one exactly; else as Python's own, whose place
    among numbers of a type `_among` knows."""
    given = cells
    if decimal.Decimal in map(type, cells):
        if not all(_decimals.is_exact(one) for one in cells if isinstance(one, decimal.Decimal)):
            return _decimals.cells_of_list(cells)
        cells = [_of_decimal(one) if isinstance(one, decimal.Decimal) else one for one in cells]
    types = set(map(type, cells))
    if len(types) == 1 or types == {int, bool}:
        try:
            array = np.asarray(cells)
        except OverflowError:
            array = np.asarray(cells, object)
        # NumPy has no integer type for some lists of integers, and takes a floating one.
        if array.dtype.kind != "O" and (array.dtype.kind != "f" or not types <= {int, bool}):
            return HostCells(array)
    own = [one.item() if isinstance(one, np.generic) else one for one in cells]
    if any(isinstance(one, np.generic) for one in own):  # longdouble
        return HostCells(np.asarray(cells))
    array = np.empty(len(own), object)
    array[:] = own
    if any(isinstance(one, float) for one in own) and all(_is_exact(one) for one in own):
        return HostCells(array.astype("f8"))
    if not any(isinstance(one, float) for one in own):
        for dtype in ("i8", "u8"):
            if np.iinfo(dtype).min <= min(own) and max(own) <= np.iinfo(dtype).max:
                return HostCells(array.astype(dtype))
    if all(isinstance(one, (int, np.integer)) or _is_whole(one) for one in given):
        return _decimals.cells_of_list(given)
    return HostCells(array)


def _is_whole(x: Any) -> bool:
    return isinstance(x, decimal.Decimal) and x.is_finite() and x == x.to_integral_value()


def _of_decimal(x: decimal.Decimal) -> int | float:
    """The integer or the floating number that a decimal is."""
    if x.is_finite() and x.adjusted() < 20 and x == x.to_integral_value():
        return int(x)
    return math.nan if x.is_nan() else float(x)


def _is_exact(x: Any) -> bool:
    try:
        return bool(isinstance(x, float) or float(x) == x)
    except OverflowError:
        return False


def exactly(argument: str, array: npt.NDArray[Any], dtype: np.dtype[Any]) -> npt.NDArray[Any]:
    """Numbers of a list in the type that is asked for; one that is no number of it is refused."""
    found = _among.numbers(array, dtype, rounds=True)
    if not found.exact.all():
        value = array.reshape(-1)[np.argmin(found.exact)]
        raise InvalidArgument(f"{argument}: {_decimals.shown(value)!s} is no {dtype}, as the keys are")
    return found.floor


def refuse_mixed(argument: str, array: npt.NDArray[Any]) -> InvalidArgument:
    """Numbers that no type has all of, where none is asked for."""
    whole = [one for one in array.reshape(-1).tolist() if not isinstance(one, float)]
    others = " beside floating numbers" if len(whole) < array.size else ""
    least, most = (str(_decimals.shown(one)) for one in (min(whole), max(whole)))
    if max(len(least), len(most)) > 60:
        return InvalidArgument(f"{argument}: some of its numbers take more than 128 bits, as no keys do{others}")
    return InvalidArgument(f"{argument}: no key type has all of its numbers, from {least} to {most}{others}")


def _texts(argument: str, cells: list[Any]) -> HostCells | StringCells:
    return _bytes(argument, [one.encode() for one in cells])


def _bytes(argument: str, cells: list[bytes]) -> HostCells | StringCells:
    """Bytes of one width if they are short and no NUL ends one, which NumPy takes for padding."""
    widest = max(map(len, cells))
    if widest <= _WIDEST and not any(one.endswith(b"\0") for one in cells):
        return HostCells(np.array(cells, f"S{max(widest, 1)}"))
    return strings_of(cells)


def _uuids(argument: str, cells: list[uuid.UUID]) -> StringCells:
    return strings_of([one.bytes for one in cells], "uuid")


def _ipv4(argument: str, cells: list[ipaddress.IPv4Address]) -> HostCells:
    return HostCells(np.array([int(one) for one in cells], "u4"))


def _ipv6(argument: str, cells: list[ipaddress.IPv6Address]) -> StringCells:
    return strings_of([_ipv6_bytes(argument, one) for one in cells], "ipv6")


def _ipv6_bytes(argument: str, x: ipaddress.IPv6Address) -> bytes:
    if x.scope_id is not None:
        raise InvalidArgument(f"{argument}: {x} has a scope, which has no place in 128 bits")
    return x.packed


def _dates(argument: str, cells: list[datetime.date]) -> HostCells:
    return HostCells(np.array(cells, "M8[D]"))


def _datetimes(argument: str, cells: list[datetime.datetime]) -> HostCells:
    zoned = {one.tzinfo is not None and one.utcoffset() is not None for one in cells}
    if len(zoned) != 1:
        raise InvalidType(f"{argument}: some times have a zone and some have not; they are not compared")
    array = _in_one_unit(argument, [_as_numpy(one) for one in cells])
    if not zoned.pop():
        return HostCells(array)
    return HostCells(array.view("i8"), unit=f"datetime64[{np.datetime_data(array.dtype)[0]}, tz]")


def _as_numpy(x: Any) -> Any:
    for name in ("to_datetime64", "to_timedelta64"):  # of pandas, in the unit of the value
        if hasattr(x, name):
            return getattr(x, name)()
    if isinstance(x, datetime.timedelta):
        return np.timedelta64(x // datetime.timedelta(microseconds=1), "us")  # NumPy's own conversion wraps
    if x.tzinfo is not None:
        x = x.astimezone(datetime.timezone.utc).replace(tzinfo=None)
    return np.datetime64(x, "us")


def _durations(argument: str, cells: list[datetime.timedelta]) -> HostCells:
    return HostCells(_in_one_unit(argument, [_as_numpy(one) for one in cells]))


def _in_units(argument: str, cells: list[Any]) -> HostCells:
    return HostCells(_in_one_unit(argument, cells))


def _in_one_unit(argument: str, cells: list[Any]) -> npt.NDArray[Any]:
    """Times of NumPy in a unit that has all of them."""
    dtypes = {one.dtype for one in cells}
    dtype = functools.reduce(np.promote_types, dtypes)
    array = np.array([one.astype(dtype) for one in cells], dtype)
    for one, cast in zip(cells, array):
        if len(dtypes) > 1 and not np.isnat(one) and cast.astype(one.dtype).view("i8") != one.view("i8"):
            raise InvalidArgument(f"{argument}: {one} and others are in no unit together; give one unit")
    return array


def _times_of_day(argument: str, cells: list[datetime.time]) -> HostCells:
    if any(one.tzinfo is not None for one in cells):
        raise InvalidType(f"{argument}: times of day with a zone are not compared; give ones without")
    counts = [((one.hour * 60 + one.minute) * 60 + one.second) * 10**6 + one.microsecond for one in cells]
    return HostCells(np.array(counts, "i8"), unit="time64[us]")


_MAKERS: dict[str, Callable[[str, list[Any]], HostCells | StringCells]] = {
    "number": _numbers, "bytes": _bytes, "str": _texts, "numpy times": _in_units, "numpy durations": _in_units,
    "datetime": _datetimes, "date": _dates, "timedelta": _durations, "time": _times_of_day, "uuid": _uuids,
    "ipv4": _ipv4, "ipv6": _ipv6,
}  # fmt: skip


_ISO = re.compile(
    r"(\d{4}-\d{2}-\d{2})(?:[T ](\d{2}:\d{2})(?::(\d{2})(?:\.(\d{1,9}))?)?(Z|[+-]\d{2}:?\d{2})?)?", re.ASCII
)
_YEARS_OF_NANOSECONDS = ("1678", "2261")


def read(argument: str, cells: Cells, key: Key) -> Cells:
    """Texts of a list as the times, UUIDs, addresses or decimals that they are written for, if keys are such; others
    as they are."""
    if not (key.time is not None or key.unit in _READERS or key.scale is not None):
        return cells
    if isinstance(cells, StringCells) and cells.texts is not None and not cells.unit:
        letters, validity = cells.texts, cells.bits
    elif isinstance(cells, HostCells) and cells.array.dtype.kind == "S" and not cells.is_whole:
        letters, validity = cells.array.reshape(-1).tolist(), cells.validity
    else:
        return cells
    if key.unit in _READERS:
        return strings_of([_READERS[key.unit](argument, one) for one in letters], key.unit, validity)
    if key.time is None:
        return _decimals.read(argument, letters, validity)
    found = _read_times(argument, [one.decode(errors="replace") for one in letters], key.time)
    if isinstance(cells, HostCells):
        found.array = found.array.reshape(cells.array.shape)
    found.validity = validity
    return found


def _read_uuid(argument: str, text: bytes) -> bytes:
    try:
        return uuid.UUID(text.decode()).bytes
    except ValueError:
        raise InvalidArgument(
            f"{argument}: {text!r} is no text of a UUID, and the keys are UUIDs; for bytes give uuid.UUID(bytes=x)"
        ) from None


def _read_ipv6(argument: str, text: bytes) -> bytes:
    try:
        address = ipaddress.IPv6Address(text.decode())
    except ValueError:
        raise InvalidArgument(
            f"{argument}: {text!r} is no IPv6 address, and the keys are such; for bytes give ipaddress.IPv6Address(x)"
        ) from None
    return _ipv6_bytes(argument, address)


_READERS: dict[str, Callable[[str, bytes], bytes]] = {"uuid": _read_uuid, "ipv6": _read_ipv6}


def _read_times(argument: str, texts: list[str], time: Time) -> HostCells:
    if time.kind == "m":
        try:
            return HostCells(_in_one_unit(argument, [span_of_text(one) for one in texts]))
        except ValueError as error:
            raise InvalidArgument(f"{argument}: {error}; write 90s or 1h30min") from None
    if time.kind == "time":
        try:
            return _times_of_day(argument, [datetime.time.fromisoformat(one) for one in texts])
        except ValueError:
            raise InvalidArgument(f"{argument}: {texts[0]!r} or another is no time of day, as 09:30:00") from None
    array = _in_one_unit(argument, [_read_time(argument, one, time.kind == "tz") for one in texts])
    if time.kind == "M":
        return HostCells(array)
    return HostCells(array.view("i8"), unit=f"datetime64[{np.datetime_data(array.dtype)[0]}, tz]")


def _read_time(argument: str, text: str, zoned: bool) -> Any:
    """A text of ISO 8601 as NumPy's time, of one with a zone that of UTC. A date is its midnight."""
    found = _ISO.fullmatch(text)
    try:
        if found is None:
            raise ValueError
        day, minute, second, fraction, zone = found.groups()
        fraction = (fraction or "").rstrip("0")
        at = np.datetime64(f"{day}T{minute or '00:00'}:{second or '00'}" + (f".{fraction}" if fraction else ""))
    except ValueError:
        raise InvalidArgument(
            f"{argument}: {text!r} is no time; write 2024-01-31, or 2024-01-31T09:30:00"
        ) from None
    if (zone is not None) != zoned:
        has = "has a zone, and the keys have none" if zone else "has no zone, and the keys have; write ...T09:30:00Z"
        raise InvalidType(f"{argument}: {text!r} {has}")
    if len(fraction) > 6 and not _YEARS_OF_NANOSECONDS[0] <= day[:4] <= _YEARS_OF_NANOSECONDS[1]:
        raise InvalidArgument(f"{argument}: {text!r} is beyond what 64 bits count in nanoseconds")
    if zone in (None, "Z"):
        return at
    minutes = int(zone[1:3]) * 60 + int(zone[-2:])
    return at - np.timedelta64(-minutes if zone[0] == "-" else minutes, "m")
