# SPDX-License-Identifier: Apache-2.0
"""Times of several units. NumPy converts them to a finer unit modulo 2^64; here a value that a unit cannot hold
is beyond all that it can."""

from __future__ import annotations

import datetime
import functools
import math
import operator
import re
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from raydex._among import Among

_MOST = 2**63 - 1
# How many attoseconds; of years and months, how many months.
_SIZES = {
    "W": 604800 * 10**18, "D": 86400 * 10**18, "h": 3600 * 10**18, "m": 60 * 10**18, "s": 10**18,
    "ms": 10**15, "us": 10**12, "ns": 10**9, "ps": 10**6, "fs": 1000, "as": 1,
}  # fmt: skip
_CALENDAR = {"Y": 12, "M": 1}
# Of the Gregorian calendar, after which it repeats.
_MONTHS, _DAYS = 4800, 146097

Integers = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Time:
    """What the integers of times count."""

    kind: str
    """`M`: points in time without a zone; `tz`: with one; `time`: of a day; `m`: durations."""
    unit: str
    """One of NumPy's."""
    step: int = 1
    """How many of the unit."""

    @property
    def is_calendar(self) -> bool:
        return self.unit in _CALENDAR

    @property
    def size(self) -> int:
        """In attoseconds, or in months."""
        return self.step * (_CALENDAR.get(self.unit) or _SIZES.get(self.unit, 0))

    @property
    def dtype(self) -> np.dtype[Any]:
        """NumPy's for it: of times with a zone that of UTC, of times of day that of the time since midnight."""
        letter = "M" if self.kind in ("M", "tz") else "m"
        step = "" if self.step == 1 else self.step
        return np.dtype(f"{letter}8" + ("" if self.unit == "generic" else f"[{step}{self.unit}]"))

    def __str__(self) -> str:
        return {"tz": f"datetime64[{self.unit}, tz]", "time": f"time64[{self.unit}]"}.get(
            self.kind, str(self.dtype)
        )


@functools.lru_cache(maxsize=256)
def time_of(dtype: np.dtype[Any] | None, name: str = "") -> Time | None:
    """What cells count, of a dtype or, where that does not say it, of a name of an Arrow type."""
    if name == "date32":
        return Time("M", "D")
    if name:
        kind, _, unit = name.rstrip("]").partition("[")
        found = {"datetime64": "tz", "time32": "time", "time64": "time"}.get(kind)
        return None if found is None else Time(found, unit.removesuffix(", tz"))
    if dtype is None or dtype.kind not in "mM":
        return None
    unit, step = np.datetime_data(dtype)
    return Time(dtype.kind, unit, step)


def are_compared(one: Time, other: Time) -> bool:
    """Whether times of two kinds have an order: months and years have no length in days."""
    if one.kind != other.kind:
        return False
    is_of_generic = "generic" in (one.unit, other.unit)
    return one.kind != "m" or is_of_generic or one.is_calendar == other.is_calendar


def common(times: Sequence[Time]) -> Time:
    """The coarsest unit that divides all."""
    known = [one for one in times if one.unit != "generic"] or list(times[:1])
    exact = [Time(one.kind, "D") if one.is_calendar else one for one in known]
    if all(one.is_calendar for one in known):
        exact = known
    size = math.gcd(*(one.size for one in exact))
    finest = min(exact, key=lambda one: one.size // one.step)
    return Time(finest.kind, finest.unit, max(1, size * finest.step // max(1, finest.size)))


def _days_of(months: Integers) -> Integers:
    """The first days of months that are few enough."""
    cycles, rest = np.divmod(months, _MONTHS)
    days: Integers = rest.view("M8[M]").astype("M8[D]").view("int64") + cycles * _DAYS
    return days


def _months_of(days: Integers) -> tuple[Integers, npt.NDArray[np.bool_]]:
    """The months that days are in, and whether they are the first ones."""
    cycles, rest = np.divmod(days, _DAYS)
    months: Integers = rest.view("M8[D]").astype("M8[M]").view("int64")
    return (months + cycles * _MONTHS, months.view("M8[M]").astype("M8[D]").view("int64") == rest)


def _times_ratio(cells: Integers, up: int, down: int, low: int, high: int) -> Among:
    """Cells times `up`, divided by `down`; what is within the ends can be held."""
    shared = math.gcd(up, down)
    up, down = up // shared, down // shared
    least = max(-(-low * down // up), -_MOST - 1)
    most = min(((high + 1) * down - 1) // up, _MOST)
    beyond = (cells > most).astype(np.int8) - (cells < least)
    held = np.clip(cells, least, most)
    if down == 1:
        return Among(held * min(up, _MOST), beyond == 0, beyond)  # of longer units all but 0 are beyond
    if down > _MOST:
        quotient, rest = (held < 0) * np.int64(-1), held.astype(object) % down
    else:
        quotient, rest = np.divmod(held, np.int64(down))
    column = (rest.astype(object) if up * down > _MOST else rest) * up
    floor = (quotient.astype(object) if up > _MOST else quotient) * up + column // down
    return Among(floor.astype(np.int64), (column % down == 0).astype(bool) & (beyond == 0), beyond)


def scale(cells: Integers, own: Time, to: Time, low: int, high: int) -> Among:
    """Counts of one unit in those of another; what is within the ends can be held."""
    found = _scale(cells, own, to, low, high)
    if found.beyond.any():
        found.floor[found.beyond < 0] = low
        found.floor[found.beyond > 0] = high
    return found


def _scale(cells: Integers, own: Time, to: Time, low: int, high: int) -> Among:
    if "generic" in (own.unit, to.unit):
        return _times_ratio(cells, 1, 1, low, high)
    if own.is_calendar == to.is_calendar:
        return _times_ratio(cells, own.size, to.size, low, high)
    if own.is_calendar:
        most = _MOST // _DAYS * _MONTHS - _MONTHS
        first = _times_ratio(cells, own.size, 1, -most, most)
        then = _times_ratio(_days_of(first.floor), _SIZES["D"], to.size, low, high)
    else:
        first = _times_ratio(cells, own.size, _SIZES["D"], -_MOST - 1, _MOST)
        months, are_first = _months_of(first.floor)
        first.exact &= are_first
        then = _times_ratio(months, 1, to.size, low, high)
    then.exact &= first.exact
    then.beyond = np.where(first.beyond != 0, first.beyond, then.beyond)
    return then


def as_objects(cells: Integers, own: Time, to: Time) -> npt.NDArray[Any]:
    """Counts in a unit that divides their own, as integers of Python, which have no end."""
    objects = cells.astype(object)
    if "generic" in (own.unit, to.unit):
        return objects
    if own.is_calendar == to.is_calendar:
        return objects * (own.size // to.size)
    months = objects * own.size
    rest = _days_of((months % _MONTHS).astype(np.int64)).astype(object)  # NumPy's integers have an end
    counts: npt.NDArray[Any] = (months // _MONTHS * _DAYS + rest) * (_SIZES["D"] // to.size)
    return counts


def shifted(cells: npt.NDArray[Any], by: int) -> tuple[npt.NDArray[Any], npt.NDArray[np.int8]]:
    """Integers plus a number; if the type does not hold that, its closest one, and -1 or 1 for below or above."""
    ends = np.iinfo(cells.dtype)
    low, high = int(ends.min), int(ends.max)
    beyond = np.zeros(len(cells), np.int8)
    if by > 0:
        beyond[...] = 1 if high - by < low else (cells > high - by)
    elif by < 0:
        beyond[...] = -1 if low - by > high else -1 * (cells < low - by)
    bits = np.dtype(f"u{cells.itemsize}")
    moved = (cells.view(bits) + bits.type(by % 2 ** (8 * cells.itemsize))).view(cells.dtype)
    return (np.where(beyond == 0, moved, np.where(beyond < 0, ends.min, ends.max).astype(cells.dtype)), beyond)


class Order:
    """Columns of times that 64 bits in one unit do not hold, as numbers that compare as they do: counts of the unit
    are their own numbers, and those that are out of reach are numbered from where these end."""

    def __init__(
        self, columns: Sequence[tuple[Integers, Time]], missing: Sequence[npt.NDArray[np.bool_] | None], unit: Time
    ) -> None:
        self.unit = unit
        self.columns = columns
        # So that there is a number for each cell at either end, and one more.
        self.high = _MOST - 1 - sum(len(cells) for cells, _ in columns)
        self.low = -self.high
        scaled = [scale(cells, time, unit, self.low, self.high) for cells, time in columns]
        self.far = [
            one.beyond if gone is None else np.where(gone, np.int8(0), one.beyond)
            for one, gone in zip(scaled, missing)
        ]
        held = [
            one.floor[(far == 0) if gone is None else (far == 0) & ~gone]
            for one, far, gone in zip(scaled, self.far, missing)
        ]
        self.first = min((int(one.min()) for one in held if len(one)), default=0)
        self.last = max((int(one.max()) for one in held if len(one)), default=self.first - 1)
        distinct = [
            [self._distinct(column, np.flatnonzero(far == side)) for column, far in enumerate(self.far)]
            for side in (-1, 1)
        ]
        self.below, self.above = (_union([counts for counts, _ in one]) for one in distinct)
        self.numbers: list[Integers] = []
        for column, (one, far) in enumerate(zip(scaled, self.far)):
            for side, of_side in zip((-1, 1), distinct):
                counts, places = of_side[column]
                one.floor[far == side] = self._positions(counts, "left")[places]
            self.numbers.append(one.floor)

    def counts(self, column: int, rows: Any) -> npt.NDArray[Any]:
        """Some cells of a column as counts of the unit, in integers of Python."""
        cells, time = self.columns[column]
        return as_objects(cells[rows], time, self.unit)

    def nearest(self, column: int) -> Integers:
        """Numbers of the cells of a column that are no farther apart than their counts: those out of reach follow the
        last one that 64 bits hold."""
        # Modulo 2^64, which the sums do not leave.
        steps = [np.uint64(step % 2**64) for step in (0, self.high - self.last, self.low - self.first)]
        return (self.numbers[column].view(np.uint64) + np.array(steps)[self.far[column]]).view(np.int64)

    def bounds(self, column: int, by: int | float, side: Literal["left", "right"]) -> Integers:
        """Of the cells of a column plus a number of the unit, for `left` the least numbers of values that are not
        less, for `right` the greatest of those that are not greater."""
        if isinstance(by, float):  # infinite, or whole
            by = int(by) if math.isfinite(by) else 2**200 if by > 0 else -(2**200)
        cells, far = self.numbers[column], self.far[column]
        moved, beyond = shifted(cells, by)
        found: Integers = np.clip(moved, self.first - (side == "right"), self.last + (side == "left"))
        rows = np.flatnonzero((far != 0) | (beyond != 0) | (moved < self.low) | (moved > self.high))
        counts, places = self._distinct(column, rows)
        found[rows] = self._positions(counts + by, side)[places]
        return found

    def _distinct(self, column: int, rows: Integers) -> tuple[npt.NDArray[Any], Integers]:
        """The different values of some rows, ascending, and which of them each row has."""
        cells, time = self.columns[column]
        values, places = np.unique(cells[rows], return_inverse=True)
        return (as_objects(values, time, self.unit), places.reshape(-1))

    def _positions(self, counts: npt.NDArray[Any], side: Literal["left", "right"]) -> Integers:
        """As `bounds`, of counts."""
        is_right = side == "right"
        few, many = counts < self.low, counts > self.high
        found = np.clip(counts, self.first - is_right, self.last + (not is_right))
        found[few] = self.below.searchsorted(counts[few], side) + (self.first - len(self.below) - is_right)
        found[many] = self.above.searchsorted(counts[many], side) + (self.last + 1 - is_right)
        numbers: Integers = found.astype(np.int64)
        return numbers


def _union(sorted_values: Sequence[npt.NDArray[Any]]) -> npt.NDArray[Any]:
    """The different values of arrays of Python's integers that ascend."""
    values = np.concatenate(sorted_values)
    values.sort(kind="stable")  # which merges what ascends
    differ = np.ones(len(values), bool)
    differ[1:] = values[1:] != values[:-1]
    return values[differ]


def in_one_unit(
    columns: Sequence[tuple[Integers, Time]], missing: Sequence[npt.NDArray[np.bool_] | None]
) -> tuple[list[Integers], Time, Order | None]:
    """Columns of times in the coarsest unit that has all their values, as integers that compare as they do.

    These are counts of the unit, and the third is None; or, where some are more than 64 bits hold, the numbers of
    an `Order`."""
    unit = common([time for _, time in columns])
    there = [
        (cells if gone is None else np.where(gone, 0, cells), time) for (cells, time), gone in zip(columns, missing)
    ]
    low = -_MOST - (unit.kind not in "mM")  # NumPy's least one is NaT
    scaled = [None if time == unit else scale(cells, time, unit, low, _MOST) for cells, time in there]
    if any(one is not None and one.beyond.any() for one in scaled):
        order = Order(there, missing, unit)
        return (order.numbers, unit, order)
    return ([cells if one is None else one.floor for (cells, _), one in zip(there, scaled)], unit, None)


def distance_in(distance: Any, unit: Time) -> Any:
    """A span of time, or a number of the unit, in whole counts of the unit, rounded down.

    Raises TypeError or ValueError for what is none."""
    distance = _plain_distance(distance)
    if isinstance(distance, datetime.timedelta):
        micros = (distance.days * 86400 + distance.seconds) * 10**6 + distance.microseconds
        return _counts(micros, Time("m", "us"), unit)
    if isinstance(distance, np.timedelta64):
        own = time_of(distance.dtype)
        if own is None or np.isnat(distance):
            raise ValueError("NaT")
        return _counts(int(distance.astype(np.int64)), own, unit)
    return whole(distance)


def is_between_counts(distance: Any, unit: Time) -> bool:
    """Whether a span of time is no whole number of counts of the unit."""
    distance = _plain_distance(distance)
    return is_span(distance) and bool(distance_in(-distance, unit) != -distance_in(distance, unit))


def is_span(distance: Any) -> bool:
    """Whether a distance is of times."""
    return isinstance(_plain_distance(distance), (datetime.timedelta, np.timedelta64))


OF_TIMES = "make times by pandas.to_datetime(x), or x.str.to_datetime() of Polars,"
"""What helps if texts are times."""

_SPAN = re.compile(r"(\d+(?:\.\d*)?|\.\d+)\s*([A-Za-zµμ]+)\s*")
_UNITS = {
    word: unit
    for unit, words in (
        ("ns", "ns"), ("us", "us µs μs"), ("ms", "ms"), ("s", "s sec second seconds"), ("m", "m min minute minutes"),
        ("h", "h H hr hour hours"), ("D", "d D day days"), ("W", "w W week weeks"),
    )
    for word in words.split()
}  # fmt: skip


def span_of_text(text: str) -> np.timedelta64:
    """A span as pandas and Polars write it: 90s, 1.5h, 1h30min, -2 days. Raises ValueError for what is none."""
    left = text.strip()
    sign = -1 if left.startswith("-") else 1
    left = left.removeprefix("-").strip()
    size, any_unit = Fraction(0), False  # in attoseconds
    while left or not any_unit:
        found = _SPAN.match(left)
        if found is None or found[2] not in _UNITS:
            raise ValueError(f"{text!r} is no numbers with units")
        size += Fraction(found[1]) * _SIZES[_UNITS[found[2]]]
        left, any_unit = left[found.end() :], True
    for unit in ("s", "ms", "us", "ns"):
        if size % _SIZES[unit] == 0 and size // _SIZES[unit] <= _MOST:
            return np.timedelta64(sign * int(size // _SIZES[unit]), unit)
    raise ValueError(f"{text!r} is no whole number of nanoseconds, or too long")


def _plain_distance(distance: Any) -> Any:
    if isinstance(distance, str):
        return span_of_text(distance)
    distance = getattr(distance, "to_timedelta64", lambda: distance)()  # of pandas, which has nanoseconds
    return distance[()] if isinstance(distance, np.ndarray) and distance.ndim == 0 else distance


def _counts(count: int, own: Time, unit: Time) -> int:
    if "generic" in (own.unit, unit.unit):
        return count
    if own.is_calendar != unit.is_calendar:
        raise TypeError("months have no length in days")
    return count * own.size // unit.size


def whole(number: Any) -> Any:
    """A number of Python or NumPy as an integer, which has no end; what is not whole as a float."""
    if isinstance(number, (str, bytes)):
        raise TypeError("a text")
    try:
        return operator.index(number)
    except TypeError:
        real = float(number)
        return int(number) if math.isfinite(real) and number == int(number) else real
