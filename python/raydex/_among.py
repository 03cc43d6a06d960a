# SPDX-License-Identifier: Apache-2.0
"""Values of another type or unit among keys: each is one, or lies between two, or beyond all. As an equal key it then
matches nothing; as a bound it counts exactly, by the closest key on one side."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

Bools = npt.NDArray[np.bool_]


@dataclass
class Among:
    """Where values are among keys."""

    floor: npt.NDArray[Any]
    """The greatest keys that are not greater; beyond all keys, the closest one."""
    exact: Bools
    """Whether they are equal."""
    beyond: npt.NDArray[np.int8]
    """-1 for less than all keys that there are, 1 for greater ones."""


def numbers(cells: npt.NDArray[Any], to: np.dtype[Any], rounds: bool = False) -> Among:
    """Numbers of NumPy's types, or of Python's own, among those of a type.

    `rounds`: floating ones take the precision of floating keys, but for those that are too large for them."""
    if cells.dtype.kind == "O":
        return _numbers_of_python(cells, to, rounds)
    if cells.dtype.kind == "b":
        cells = cells.view("u1")
    if to.kind == "f":
        return _among_floats(cells, to, rounds)
    low, high = int(np.iinfo(to).min), int(np.iinfo(to).max)
    if cells.dtype.kind == "f":
        cells = cells.astype("f8")  # float16 has no 2^31
        whole = np.floor(cells)
        # NaN comes last.
        beyond = (~(cells < float(high + 1))).astype(np.int8) - (whole < float(low))
    else:
        whole = cells
        own = np.iinfo(cells.dtype)
        beyond = (cells > min(high, int(own.max))).astype(np.int8) - (cells < max(low, int(own.min)))
    held = np.where(beyond == 0, whole, whole.dtype.type(0)).astype(to)
    ends = np.array([high, low], to)
    floor = np.where(beyond == 0, held, ends[(beyond < 0).astype(int)])
    return Among(floor, (beyond == 0) & (whole == cells), beyond)


@np.errstate(all="ignore")
def _among_floats(cells: npt.NDArray[Any], to: np.dtype[Any], rounds: bool) -> Among:
    near = cells.astype(to)
    beyond = np.zeros(cells.shape, np.int8)
    if cells.dtype.kind == "f":
        exact, above = (near == cells) | np.isnan(near), near > cells
        if rounds:
            within = np.isfinite(near)
            exact, above = exact | within, above & ~within
    else:
        # Compared as integers: as floating numbers all would be rounded alike.
        high = int(np.iinfo(cells.dtype).max)
        above = near >= float(high + 1)
        back = np.where(above, to.type(0), near).astype(cells.dtype)
        exact, above = ~above & (back == cells), above | (back > cells)
    return Among(np.where(above, np.nextafter(near, to.type(-np.inf)), near), exact, beyond)


def _numbers_of_python(cells: npt.NDArray[Any], to: np.dtype[Any], rounds: bool) -> Among:
    found = [_number_of_python(one, to, rounds) for one in cells.reshape(-1).tolist()]
    floor = np.array([one for one, _, _ in found], to).reshape(cells.shape)
    exact = np.array([one for _, one, _ in found], bool).reshape(cells.shape)
    return Among(floor, exact, np.array([one for _, _, one in found], np.int8).reshape(cells.shape))


@np.errstate(all="ignore")
def _number_of_python(x: int | float, to: np.dtype[Any], rounds: bool) -> tuple[Any, bool, int]:
    if to.kind != "f":
        low, high = int(np.iinfo(to).min), int(np.iinfo(to).max)
        if not x <= high:
            return (high, False, 1) if not x < high + 1 else (high, False, 0)
        return (low, False, -1) if x < low else (math.floor(x), math.floor(x) == x, 0)
    try:
        near = to.type(x)
    except OverflowError:
        near = to.type(np.inf if x > 0 else -np.inf)
    if isinstance(x, float) and (x != x or (rounds and np.isfinite(near))):
        return (near, True, 0)
    return (np.nextafter(near, to.type(-np.inf)) if float(near) > x else near, float(near) == x, 0)


def texts(
    letters: npt.NDArray[np.uint8],
    begins: npt.NDArray[np.int64],
    sizes: npt.NDArray[np.int64],
    width: int,
    is_whole: bool = False,
) -> Among:
    """Bytes of any length, one after the other, among byte strings of one width of up to 8, as codes: numbers in their
    order. `is_whole`: whether these may end in NUL."""
    first = np.minimum(sizes, width)
    table = np.zeros((len(sizes), 8), np.uint8)
    if len(sizes) and int(sizes.max()) <= width:
        table[np.arange(8) < sizes[:, None]] = letters[begins[0] :][: sizes.sum()]
    else:
        for at in range(width):
            there = first > at
            table[there, at] = letters[begins[there] + at]
    codes, beyond = table.view(">u8").reshape(-1).astype("u8"), np.zeros(len(sizes), np.int8)
    if is_whole:  # a shorter one is before all that begin with it
        shorter = sizes < width
        beyond[shorter & (codes == 0)] = -1
        codes[shorter & (codes != 0)] -= np.uint64(1 << 8 * (8 - width))
        return Among(codes, sizes == width, beyond)
    # One that ends in NUL is no key: the others are padded with it.
    last = np.ones(len(sizes), np.uint8)
    padded = (sizes > 0) & (sizes <= width)
    last[padded] = letters[(begins + sizes)[padded] - 1]
    return Among(codes, (sizes <= width) & (last != 0), beyond)


@np.errstate(all="ignore")
def stand_ins(found: Among, role: str, there: Bools, ends: tuple[Any, Any], step: int = 1) -> tuple[Any, Bools, Any]:
    """The keys that stand for values in a role, see `column_of`, which of them are there, and which values are before
    all keys, for `below` and `at_most`, or without a role are no key; None: none of them.

    `there`: which values are not missing. `ends`: the least and the greatest key. `step`: from an integer
    key to the next one."""
    keys, exact = found.floor, found.exact
    before, after = found.beyond < 0, found.beyond > 0
    if role == "below":
        # What is not exact is between two keys; the one before it is the last one below.
        before |= exact & (keys == ends[0])
        keys = np.where(exact & ~before, _previous(keys, step), keys)
    elif role == "at_least":
        up = ~exact & ~before & ~after
        after |= up & _are_last(keys, ends[1])
        keys = np.where(up & ~after, _next(keys, step), keys)
    elif role == "above":
        after |= ~before & _are_last(keys, ends[1])
        keys = np.where(~before & ~after, _next(keys, step), keys)
    if role in ("below", "at_most"):
        before &= there
        return (keys, there & ~before, before)
    if role in ("at_least", "above"):
        return (keys, there & ~after, None)
    no_key = there & ~exact
    return (keys, there & exact, no_key if no_key.any() else None)


def _are_last(keys: Any, last: Any) -> Any:
    return np.isnan(keys) if keys.dtype.kind == "f" else keys == last


def _previous(keys: Any, step: int) -> Any:
    if keys.dtype.kind != "f":
        return keys - keys.dtype.type(step)
    found = np.nextafter(keys, keys.dtype.type(-np.inf))
    return np.where(np.isnan(keys), keys.dtype.type(np.inf), found)  # NaN comes last


def _next(keys: Any, step: int) -> Any:
    if keys.dtype.kind != "f":
        return keys + keys.dtype.type(step)
    found = np.nextafter(keys, keys.dtype.type(np.inf))
    return np.where(keys == np.inf, keys.dtype.type(np.nan), found)


def ends_of(dtype: np.dtype[Any]) -> tuple[Any, Any]:
    """The least and the greatest number of a type."""
    if dtype.kind == "f":
        return (-np.inf, np.nan)
    return (np.iinfo(dtype).min, np.iinfo(dtype).max)
