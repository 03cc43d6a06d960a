# SPDX-License-Identifier: Apache-2.0
"""Decimals: whole numbers of their last digit, and a scale that says how many digits follow the point. Cells are int64
where these suffice, else byte strings in the order of 128 bits. What is compared is the value, whatever the scales."""

from __future__ import annotations

import decimal
import math
from collections.abc import Iterable
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from raydex import _among
from raydex._arrow import Bitmap, Cells, HostCells, StringCells, letters_of, strings_of, strings_of_words
from raydex._errors import InvalidArgument
from raydex._keys import Key, unit_of_scale

_LEAST, _MOST = -(2**63), 2**63 - 1
_END = 2**127
_BEHIND = b"\xff" * 17
_FAR = 400  # digits: more than a double or 128 bits have


def cells_of_list(cells: list[Any]) -> HostCells | StringCells:
    """Numbers of a list, among them decimals that are no floating numbers, or integers beyond 64 bits: as decimals with
    as many digits behind the point as one of them has. If there are floating numbers, or 128 bits do not suffice, they
    are numbers of Python, whose place among keys `_among` knows."""
    exact = [_exactly(one) for one in cells]
    scale = max([0, *(_digits_behind(one) for one in cells if isinstance(one, decimal.Decimal) and one.is_finite())])
    if scale <= 38 and not any(isinstance(one, float) for one in exact):
        counts = [int(one * 10**scale) for one in exact]
        if _have_128_bits(counts):
            if _LEAST <= min(counts) and max(counts) <= _MOST:
                return HostCells(np.array(counts, "i8"), unit=unit_of_scale(scale))
            return strings_of([_encoded(one) for one in counts], unit_of_scale(scale))
    array = np.empty(len(exact), object)
    array[:] = exact
    return HostCells(array)


def _exactly(x: Any) -> Any:
    """A number as one of Python's that counts exactly. What is farther from 0, or closer to it, than all keys is
    another number that is: digits by the billion are soon written."""
    if not isinstance(x, decimal.Decimal):
        return x.item() if isinstance(x, np.generic) else x
    if not x.is_finite():
        return math.nan if x.is_nan() else float(x)
    if not x or abs(x.adjusted()) <= _FAR:
        whole = Fraction(x)
        return int(whole) if whole.denominator == 1 else whole
    far = 10**_FAR if x.adjusted() > 0 else Fraction(1, 10**_FAR)
    return far if x > 0 else -far


def _digits_behind(x: decimal.Decimal) -> int:
    _, digits, exponent = x.as_tuple()
    assert isinstance(exponent, int)
    written = "".join(map(str, digits))
    return -exponent - (len(written) - len(written.rstrip("0"))) if any(digits) else 0


def check_floating(argument: str, cells: npt.NDArray[Any], found: _among.Among, there: npt.NDArray[np.bool_]) -> None:
    """Refuses decimals of a list, among floating keys, that are no floating numbers."""
    for at in np.flatnonzero(there & ~found.exact):
        if isinstance(cells[at], Fraction):
            raise InvalidArgument(
                f"{argument}: the decimal {shown(cells[at])} is no floating number, as the keys are; give float(x), "
                "which rounds it"
            )


def shown(x: Any) -> Any:
    """A number of Python as a person writes it."""
    return float(x) if isinstance(x, Fraction) and abs(x) < 2**1000 else x


def _have_128_bits(counts: list[int]) -> bool:
    """Whether a signed integer of 128 bits holds each."""
    return -_END <= min(counts) and max(counts) < _END


def read(argument: str, texts: list[bytes], validity: Bitmap | None) -> Cells:
    """Texts as the decimals that they are written for."""
    there = [True] * len(texts) if validity is None else validity.there(len(texts)).tolist()
    cells = [decimal.Decimal(0)] * len(texts)
    for at, text in enumerate(texts):
        if not there[at]:
            continue
        try:
            cells[at] = decimal.Decimal(text.decode())
        except (decimal.InvalidOperation, UnicodeError):
            raise InvalidArgument(f"{argument}: {text!r} is no decimal, and the keys are") from None
    found = cells_of_list(cells)
    if isinstance(found, StringCells):
        assert found.texts is not None
        return strings_of(found.texts, found.unit, validity)
    found.validity = validity
    return found


def _is_float(x: decimal.Decimal) -> bool:
    return decimal.Decimal(float(x)) == x


def is_exact(x: decimal.Decimal) -> bool:
    """Whether it is an integer of 64 bits or so, or a floating number."""
    return not x.is_finite() or (x.adjusted() < 20 and x == x.to_integral_value()) or _is_float(x)


def in_form_of(cells: Cells, want: Key) -> Cells:
    """Cells in a form that is compared with keys, if one side is of decimals: see `among` for numbers."""
    own = Key(None, cells.unit).scale
    if own is None and want.scale is None:
        return cells
    if want.dtype is not None:
        if isinstance(cells, StringCells) and own is not None and (want.scale is not None or want.is_number):
            return HostCells(_objects(cells), cells.bits, cells.unit)
        return cells
    if want.scale is None or (isinstance(cells, StringCells) and own in (None, want.scale)):
        return cells
    if isinstance(cells, HostCells) and own is None and cells.array.dtype.kind not in "biufO":
        return cells
    validity: Bitmap | None
    if isinstance(cells, StringCells):
        values, validity = _objects(cells), cells.bits
    else:
        assert isinstance(cells, HostCells)
        validity = cells.validity
        if np.ma.is_masked(cells.array):
            there = ~np.ma.getmaskarray(cells.array).reshape(-1)
            validity = Bitmap.of(there if validity is None else there & validity.there(len(there)))
        values = np.ma.getdata(cells.array).reshape(-1)
    if own == want.scale and values.dtype.kind != "O":
        return strings_of_words(values >> 63, values, want.unit, validity)
    return strings_of([_between(one) for one in _scaled(values, want.scale - (own or 0))], want.unit, validity)


def value(count: Any, own: Key) -> Any:
    """A number, or the decimal that a number of last digits is, to be shown."""
    if own.scale is None:
        return count
    return decimal.Decimal((int(count < 0), tuple(map(int, str(abs(int(count))))), -own.scale))


def _objects(cells: StringCells) -> npt.NDArray[Any]:
    """The counts of strings of 128 bits as integers of Python; of missing ones 0."""
    letters, begins, sizes = letters_of(cells)
    data = letters.tobytes()
    found = [
        int.from_bytes(data[begin : begin + size], "big") - _END if size else 0
        for begin, size in zip(begins.tolist(), sizes.tolist())
    ]
    return np.array(found, object)


def _encoded(count: int) -> bytes:
    return (count + _END).to_bytes(16, "big")


def _between(x: Any) -> bytes:
    """The key that a number of last digits is, or a string between two of them."""
    if isinstance(x, float):  # infinite, or NaN, which comes last
        return b"" if x < 0 else _BEHIND
    count = math.floor(x)
    if not -_END <= count < _END:
        return b"" if count < 0 else _BEHIND
    return _encoded(count) if count == x else _encoded(count) + b"\0"


def _scaled(values: Iterable[Any], by: int) -> list[Any]:
    """Numbers times a power of ten; those that are not finite as they are."""
    power = 10**by if by >= 0 else Fraction(1, 10**-by)
    return [
        float(one) if isinstance(one, (float, np.floating)) and not math.isfinite(one) else _exact(one) * power
        for one in values
    ]


def _exact(x: Any) -> Any:
    if isinstance(x, (float, np.floating)):
        return Fraction(float(x))
    return int(x) if isinstance(x, (np.generic, bool)) else x


def among(argument: str, cells: npt.NDArray[Any], own: Key, want: Key, there: npt.NDArray[np.bool_]) -> _among.Among:
    """Numbers or decimals among keys that are such. If keys are floating numbers, decimals that are none are refused:
    nothing equals 0.1, though it looks so."""
    assert want.dtype is not None
    by = (want.scale or 0) - (own.scale or 0)
    if cells.dtype.kind in "biu" and by == 0:
        return _among.numbers(cells, want.dtype)
    if cells.dtype.kind in "iu" and want.dtype.kind != "f" and abs(by) <= 18:
        return _of_integers(cells, by, want.dtype)
    found = _among.numbers(np.array([*_scaled(cells, by), None], object)[:-1], want.dtype)
    if want.dtype.kind == "f" and by != 0 and (there & ~found.exact).any():
        inexact = value(cells[int(np.argmax(there & ~found.exact))], own)
        raise InvalidArgument(
            f"{argument}: the decimal {inexact} is no {want.dtype}, as the keys are; give x.cast({str(want.dtype)!r}), "
            "which rounds"
        )
    return found


def _of_integers(cells: npt.NDArray[Any], by: int, to: np.dtype[Any]) -> _among.Among:
    """Integers times a power of ten among those of a type."""
    power = 10 ** abs(by)
    cells = cells.astype("u8" if cells.dtype.kind == "u" else "i8", copy=False)
    if by < 0:
        floor, rest = np.divmod(cells, cells.dtype.type(power))
        found = _among.numbers(floor, to)
        return _among.Among(found.floor, found.exact & (rest == 0), found.beyond)
    ends = np.iinfo(to)
    least, most = -(-int(ends.min) // power), int(ends.max) // power
    found = _among.numbers(cells, np.dtype("i8") if to.kind == "i" else np.dtype("u8"))
    beyond = np.where(found.beyond != 0, found.beyond, (found.floor > most).astype(np.int8) - (found.floor < least))
    held = np.where(beyond == 0, found.floor, 0) * power
    floor = np.where(beyond > 0, ends.max, np.where(beyond < 0, ends.min, held)).astype(to)
    return _among.Among(floor, beyond == 0, beyond.astype(np.int8))
