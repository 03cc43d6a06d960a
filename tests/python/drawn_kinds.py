# SPDX-License-Identifier: Apache-2.0
"""Columns of each kind, type and form that people have, drawn from a seed, with their cells as Python's own."""

import datetime
import decimal
import math
import uuid

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa

BIG = [2**64, 2**70, -(2**70), 10**400, -(10**400), -(2**63) - 1]
WHOLE = [0, 1, -1, 2, 3, 127, -128, 128, 255, 256, 2**11 + 1, 2**15, 65504, 2**24, 2**24 + 1, 2**31 - 1, 2**31,
         -(2**31), -(2**31) - 1, 2**32 - 1, 2**32, 2**53, 2**53 + 1, -(2**53) - 1, 2**63 - 1, 2**63, 2**63 + 1,
         -(2**63), 2**64 - 1]
FLOATING = [*map(float, WHOLE), 0.1, 0.5, -0.5, 1.5, 2.5, -0.0, 5e-324, -5e-324, 1e300, -1e300, 3.4e38, 2.0**64,
            2.0**128, math.inf, -math.inf, math.nan]
NUMBERS = ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "bool", "float16", "float32",
           "float64"]
DAY = 86400 * 10**9
MOMENTS = [0, 1, 999, 1000, 10**9, 10**9 + 1, DAY, DAY - 1, -1, -DAY, -DAY - 1, 20000 * DAY, 20000 * DAY + 10**6]
UNITS = {"D": DAY, "h": 3600 * 10**9, "m": 60 * 10**9, "s": 10**9, "ms": 10**6, "us": 10**3, "ns": 1}
LONG = b"https://a.example.org/" + b"x" * 42  # 64 bytes
WORDS = [b"", b"a", b"ab", b"a\0", b"a\0b", b"\0", b"\0\0", b"abcdefgh", b"abcdefghi", b"abcdefg\0", b"\xff",
         b"\xff" * 8, b"\xff" * 9, *map(str.encode, ["é", "😀", "😀😀😀"]), LONG, LONG + b"1", LONG + b"2",
         LONG + b"\0", LONG[:-1]]


class NotMade(Exception):
    """A form has no such cells."""


def unaligned(array):
    """A field of packed records."""
    records = np.zeros(len(array), np.dtype([("before", "i1"), ("cells", array.dtype)], align=False))
    records["cells"] = array
    return records["cells"]


def frozen(array):
    array = array.copy()
    array.flags.writeable = False
    return array


def swapped(array):
    return array.astype(array.dtype.newbyteorder("S"))


def chunked(array):
    return pa.chunked_array([array[:1], array[1:1], array[1:]])


def cut(array):
    return pa.concat_arrays([array[:1], array, array[:1]]).slice(1, len(array)) if len(array) else array


LAYOUTS = {
    "plain": lambda array: array,
    "swapped": swapped,
    "backwards": lambda array: array[::-1].copy()[::-1],
    "in steps": lambda array: np.repeat(array, 3)[::3],
    "unaligned": unaligned,
    "unaligned and swapped": lambda array: unaligned(swapped(array)),
    "a column of rows": lambda array: np.stack([array, array], 1)[:, 1],
    "a column of Fortran": lambda array: np.asfortranarray(np.stack([array, array], 1))[:, 1],
    "read-only": frozen,
}
COPIED = ["swapped", "backwards", "unaligned", "unaligned and swapped"]  # which the library reads by a copy alone


def _arrow(values, dtype):
    there = [value is not None for value in values]
    return pa.array(_array(values, dtype), mask=~np.array(there, bool))


def _array(values, dtype):
    return np.array([0 if value is None else value for value in values], dtype)


def _masked(array, values):
    return np.ma.array(array, mask=[value is None for value in values])


def _of_pandas(values, dtype):
    if dtype == "float16":  # which pandas has no missing cells of
        raise NotMade
    kinds = {"b": pd.arrays.BooleanArray, "f": pd.arrays.FloatingArray}
    made = kinds.get(np.dtype(dtype).kind, pd.arrays.IntegerArray)
    return pd.Series(made(_array(values, dtype), np.array([value is None for value in values])))


def _there(values):
    if None in values:
        raise NotMade
    return values


NUMBER_FORMS = {
    **{name: lambda values, dtype, lay=lay: lay(_array(_there(values), dtype)) for name, lay in LAYOUTS.items()},
    "masked": lambda values, dtype: _masked(_array(values, dtype), values),
    "pandas": _of_pandas,
    "pandas of Arrow": lambda values, dtype: pd.Series(
        _arrow(values, dtype), dtype=pd.ArrowDtype(_arrow([], dtype).type)),
    "Polars": lambda values, dtype: pl.Series(_arrow(values, dtype)),
    "Arrow": _arrow,
    "chunks": lambda values, dtype: chunked(_arrow(values, dtype)),
    "cut": lambda values, dtype: cut(_arrow(values, dtype)),
    "dictionary": lambda values, dtype: _arrow(values, dtype).dictionary_encode(),
    "list": lambda values, dtype: list(values),
    "decimals": lambda values, dtype: [None if value is None else decimal.Decimal(value) for value in values],
}
LOOSE = ["list", "decimals"]  # whose floating numbers take the precision of the keys


def numbers(rng, size, dtype=None, form=None, large=False):
    dtype, form = dtype or rng.choice(NUMBERS), form or rng.choice(list(NUMBER_FORMS))
    if dtype == "bool":
        pool = [0, 1]
    elif np.dtype(dtype).kind == "f":
        with np.errstate(all="ignore"):
            pool = np.array(FLOATING).astype(dtype).astype("f8").tolist()
    else:
        pool = [one for one in WHOLE if np.iinfo(dtype).min <= one <= np.iinfo(dtype).max]
    if form == "decimals":  # of whole ones that some key type has together
        pool = [one for one in pool if abs(one) < 2**63 or not math.isfinite(one)]
    values = _with_gaps(rng, pool + BIG * (large and form == "list"), size, form not in LAYOUTS)
    return NUMBER_FORMS[form](values, dtype), values, (form, dtype)


def _with_gaps(rng, pool, size, gaps=True):
    """At least one cell is there, so that they have a type."""
    values = [None if gaps and rng.random() < 0.12 else rng.choice(pool) for _ in range(size)]
    values[rng.randrange(size)] = rng.choice(pool)
    return values


EPOCH = datetime.datetime(1970, 1, 1)
NAT = -(2**63)


def _counts(values, unit, missing=NAT):
    return np.array([missing if value is None else value // UNITS[unit] for value in values], "i8")


def _of_numpy(letter):
    return lambda values, unit: _counts(values, unit).view(f"{letter}8[{unit}]")


def _of_arrow(kind):
    def make(values, unit):
        of = kind(unit)
        mask = np.array([value is None for value in values])
        return pa.array(_counts(values, unit, 0).astype(f"i{of.bit_width // 8}"), mask=mask).cast(of)
    return make


def _of_polars(kind, width=64):
    def make(values, unit):
        counts = [None if value is None else value // UNITS[unit] for value in values]
        return pl.Series(counts, dtype=pl.Int32 if width == 32 else pl.Int64).cast(kind(unit))
    return make


def _of_python(convert):
    return lambda values, unit: [None if value is None else convert(value) for value in values]


def _moment(value):
    return EPOCH + datetime.timedelta(microseconds=value // 1000)


def _zoned(value):
    return _moment(value).replace(tzinfo=datetime.timezone.utc)


def _time_of_day(value):
    return _moment(value).time()


def _span(value):
    return datetime.timedelta(microseconds=value // 1000)


FINE = ["s", "ms", "us", "ns"]
ZONE = datetime.timezone(datetime.timedelta(hours=5))
TIME_FORMS = {
    "M": {
        "NumPy": (_of_numpy("M"), list(UNITS)),
        "swapped": (lambda values, unit: swapped(_of_numpy("M")(values, unit)), list(UNITS)),
        "backwards": (lambda values, unit: _of_numpy("M")(values[::-1], unit)[::-1], ["D", "s", "ns"]),
        "masked": (lambda values, unit: _masked(_counts(values, unit, 0).view(f"M8[{unit}]"), values), FINE),
        "Arrow": (_of_arrow(pa.timestamp), FINE),
        "days of Arrow": (_of_arrow(lambda unit: pa.date32()), ["D"]),
        "dictionary": (lambda values, unit: _of_arrow(pa.timestamp)(values, unit).dictionary_encode(), FINE),
        "pandas": (lambda values, unit: pd.Series(_of_numpy("M")(values, unit)), FINE),
        "Polars": (_of_polars(pl.Datetime), FINE[1:]),
        "days of Polars": (_of_polars(lambda unit: pl.Date, 32), ["D"]),
        "datetime": (_of_python(_moment), ["us"]),
        "date": (_of_python(lambda value: _moment(value).date()), ["D"]),
        "Timestamp": (_of_python(pd.Timestamp), ["ns"]),
    },
    "tz": {
        "Arrow": (_of_arrow(lambda unit: pa.timestamp(unit, "UTC")), FINE),
        "Tokyo of Arrow": (_of_arrow(lambda unit: pa.timestamp(unit, "Asia/Tokyo")), FINE),
        "pandas": (lambda values, unit: pd.Series(_of_numpy("M")(values, unit)).dt.tz_localize("UTC").dt.tz_convert(
            "Europe/Berlin"), FINE),
        "Polars": (_of_polars(lambda unit: pl.Datetime(unit, "America/New_York")), FINE[1:]),
        "datetime": (_of_python(lambda value: _zoned(value).astimezone(ZONE)), ["us"]),
        "Timestamp": (_of_python(lambda value: pd.Timestamp(value, tz="UTC")), ["ns"]),
    },
    "m": {
        "NumPy": (_of_numpy("m"), list(UNITS)),
        "Arrow": (_of_arrow(pa.duration), FINE),
        "pandas": (lambda values, unit: pd.Series(_of_numpy("m")(values, unit)), FINE),
        "Polars": (_of_polars(pl.Duration), FINE[1:]),
        "timedelta": (_of_python(_span), ["us"]),
        "Timedelta": (_of_python(pd.Timedelta), ["ns"]),
    },
    "time": {
        "Arrow": (_of_arrow(lambda unit: pa.time32(unit) if unit in ("s", "ms") else pa.time64(unit)), FINE),
        "Polars": (_of_polars(lambda unit: pl.Time), ["ns"]),
        "time": (_of_python(_time_of_day), ["us"]),
        "objects": (lambda values, unit: pd.Series(_of_python(_time_of_day)(values, unit), dtype=object), ["us"]),
    },
}  # fmt: skip


def times(rng, kind, size):
    """Cells as their nanoseconds."""
    form = rng.choice(list(TIME_FORMS[kind]))
    make, units = TIME_FORMS[kind][form]
    unit = rng.choice(units)
    pool = [one // UNITS[unit] * UNITS[unit] for one in MOMENTS]
    if kind == "time":
        pool = [one % DAY for one in pool]
    values = _with_gaps(rng, pool, size)
    return make(values, unit), values, (form, unit)


def _texts(values):
    try:
        return [None if value is None else value.decode() for value in values]
    except UnicodeDecodeError:
        raise NotMade from None


def _strings(values, letter="S", more=0):
    """NumPy's, which have no NUL at their end."""
    values = _there(values if letter == "S" else _texts(values))
    if any(value[-1:] in ("\0", b"\0") for value in values):
        raise NotMade
    return np.array(values, f"{letter}{max(1, *map(len, values)) + more}")


def _fixed(values):
    sizes = {len(value) for value in values if value is not None}
    if len(sizes) != 1 or sizes == {0}:
        raise NotMade
    return pa.array(values, pa.binary(sizes.pop()))


def _categories(values):
    return sorted({value for value in _texts(values) if value is not None}, reverse=True)


TEXT_FORMS = {
    "list": lambda values: _texts(values),
    "bytes": lambda values: list(values),
    "S": _strings,
    "S in steps": lambda values: np.repeat(_strings(values), 2)[::2],
    "S, padded": lambda values: _strings(values, more=3),
    "S, masked": lambda values: _masked(_strings([value or b"" for value in values]), values),
    "U": lambda values: _strings(values, "U"),
    "U, swapped": lambda values: swapped(_strings(values, "U")),
    "U, backwards": lambda values: _strings(values[::-1], "U")[::-1],
    "U, unaligned": lambda values: unaligned(_strings(values, "U")),
    "chararray": lambda values: np.char.array(_strings(values)),
    **{kind: lambda values, kind=kind: pa.array(values, pa.binary()).cast(kind)
       for kind in ("binary", "large_binary", "binary_view")},
    **{kind: lambda values, kind=kind: pa.array(_texts(values), pa.string()).cast(kind)
       for kind in ("string", "large_string", "string_view")},
    "fixed": _fixed,
    "dictionary": lambda values: pa.array(values, pa.binary()).dictionary_encode(),
    "dictionary of fixed": lambda values: _fixed(values).dictionary_encode(),
    "chunks": lambda values: chunked(pa.array(values, pa.binary())),
    "cut": lambda values: cut(pa.array(values, pa.binary())),
    "pandas": lambda values: pd.Series(_texts(values), dtype="string"),
    "pandas of Arrow": lambda values: pd.Series(_texts(values), dtype="string[pyarrow]"),
    "objects": lambda values: pd.Series(values, dtype=object),
    "category": lambda values: pd.Series(pd.Categorical(_texts(values))),
    "category in its own order": lambda values: pd.Series(
        pd.Categorical(_texts(values), categories=_categories(values), ordered=True)),
    "Polars": lambda values: pl.Series(_texts(values), dtype=pl.String),
    "Binary": lambda values: pl.Series(values, dtype=pl.Binary),
    "Categorical": lambda values: pl.Series(_texts(values), dtype=pl.Categorical),
    "Enum": lambda values: pl.Series(_texts(values), dtype=pl.Enum(_categories(values))),
    "Object": lambda values: pl.Series(values, dtype=pl.Object),
}
if hasattr(np, "dtypes") and hasattr(np.dtypes, "StringDType"):
    TEXT_FORMS["StringDType"] = lambda values: np.array(_there(_texts(values)), np.dtypes.StringDType())


def texts(rng, size, like=None):
    """In a form that has the cells drawn. `like`: the keys, among and about which they lie."""
    while True:
        form = rng.choice(list(TEXT_FORMS))
        if like is not None and rng.random() < 0.8:
            there = [one for one in like if one is not None]
            own = [*there, *(one[:-1] for one in there), *(one + b"\0" for one in there), rng.choice(WORDS)]
            if form.endswith("fixed"):
                width = len(rng.choice(own))
                own = [one for one in own if len(one) == width]
        else:
            width = rng.choice([0, 0, 1, 2, 7, 8, 9, 15, 16, 17, 31, 40])
            own = rng.sample(WORDS, 6) if width == 0 else [
                bytes(rng.choice([0, 1, 97, 255]) for _ in range(width)) for _ in range(5)]
        values = _with_gaps(rng, own, size)
        try:
            return TEXT_FORMS[form](values), values, (form, "")
        except NotMade:
            continue


def drawn(rng, kind, size, large=False, like=None):
    """A column, its cells, and what it is. `large`: with integers of any size; `like`: see `texts`."""
    while True:
        try:
            if kind == "number":
                return numbers(rng, size, large=large)
            return texts(rng, size, like) if kind == "text" else times(rng, kind, size)
        except NotMade:
            continue


def place(cell):
    """Cells in their order: NaN last, and equal to itself."""
    if isinstance(cell, float):
        return (cell != cell, 0 if cell != cell else cell)
    if isinstance(cell, int):
        return (False, cell)
    return cell.encode() if isinstance(cell, str) else cell.bytes if isinstance(cell, uuid.UUID) else cell


def places(values, form="", key=""):
    """Of probes of keys of the type `key`."""
    if form in LOOSE and key == "float":
        with np.errstate(all="ignore"):
            values = [float(np.float32(one)) if isinstance(one, float) and np.isfinite(np.float32(one)) else one
                      for one in values]
    return [None if one is None else place(one) for one in values]
