# SPDX-License-Identifier: Apache-2.0
"""Times of several units. NumPy converts them to a finer unit modulo 2^64; here a value that a unit cannot hold
is beyond all that it can."""

from __future__ import annotations

import datetime
import functools
import math
import operator
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

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
    """The coarsest unit of which all are multiples."""
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


@dataclass
class Scaled:
    """Times in another unit."""

    floor: Integers
    """The greatest counts that are not greater; beyond all that can be held, the closest one of these."""
    exact: npt.NDArray[np.bool_]
    """Whether they are equal."""
    beyond: npt.NDArray[np.int8]
    """-1 for less than all counts that there are, 1 for greater ones."""


def _times_ratio(cells: Integers, up: int, down: int, low: int, high: int) -> Scaled:
    """Cells times `up`, divided by `down`, of which those within the ends can be held."""
    shared = math.gcd(up, down)
    up, down = up // shared, down // shared
    least = max(-(-low * down // up), -_MOST - 1)
    most = min(((high + 1) * down - 1) // up, _MOST)
    beyond = (cells > most).astype(np.int8) - (cells < least)
    held = np.clip(cells, least, most)
    if down == 1:
        return Scaled(held * min(up, _MOST), beyond == 0, beyond)  # of longer units all but 0 are beyond
    if down > _MOST:
        quotient, rest = (held < 0) * np.int64(-1), held.astype(object) % down
    else:
        quotient, rest = np.divmod(held, np.int64(down))
    column = (rest.astype(object) if up * down > _MOST else rest) * up
    floor = (quotient.astype(object) if up > _MOST else quotient) * up + column // down
    return Scaled(floor.astype(np.int64), (column % down == 0).astype(bool) & (beyond == 0), beyond)


def scale(cells: Integers, own: Time, to: Time, low: int, high: int) -> Scaled:
    """Counts of one unit in those of another, of which those within the ends can be held."""
    found = _scale(cells, own, to, low, high)
    if found.beyond.any():
        found.floor[found.beyond < 0] = low
        found.floor[found.beyond > 0] = high
    return found


def _scale(cells: Integers, own: Time, to: Time, low: int, high: int) -> Scaled:
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


@dataclass
class Order:
    """Distinct values of columns, of which 64 bits do not hold all: what is numbered in their order."""

    columns: Sequence[tuple[Integers, Time]]
    unit: Time
    low: int
    """The least count that 64 bits hold."""
    below: npt.NDArray[Any]
    inside: Integers
    above: npt.NDArray[Any]

    def counts(self, column: int) -> npt.NDArray[Any]:
        """The cells of a column as counts of the unit, in integers of Python."""
        cells, time = self.columns[column]
        return as_objects(cells, time, self.unit)

    def positions(self, counts: npt.NDArray[Any], side: Any) -> Integers:
        """The numbers that counts have among the values, as `numpy.searchsorted` says."""
        found = np.empty(len(counts), np.int64)
        few, many = counts < self.low, counts > _MOST
        held = ~(few | many)
        before = len(self.below)
        found[few] = self.below.searchsorted(counts[few], side)
        found[held] = self.inside.searchsorted(counts[held].astype(np.int64), side) + before
        found[many] = self.above.searchsorted(counts[many], side) + before + len(self.inside)
        return found


def in_one_unit(
    columns: Sequence[tuple[Integers, Time]], missing: Sequence[npt.NDArray[np.bool_] | None]
) -> tuple[list[Integers], Time, Order | None]:
    """Columns of times in the coarsest unit that has all their values, as integers that compare as they do.

    These are counts of the unit, and the third is None; or, where some are more than 64 bits hold, numbers in
    the order of the values."""
    unit = common([time for _, time in columns])
    there = [
        cells if gone is None else np.where(gone, 0, cells) for (cells, _), gone in zip(columns, missing)
    ]
    low = -_MOST - all(gone is None for gone in missing)  # NumPy's least one is NaT
    scaled = [
        None if time == unit else scale(cells, time, unit, low, _MOST) for cells, (_, time) in zip(there, columns)
    ]
    counts = [cells if one is None else one.floor for cells, one in zip(there, scaled)]
    if all(one is None or not one.beyond.any() for one in scaled):
        return (counts, unit, None)
    known = [(cells, time) for cells, (_, time) in zip(there, columns)]
    far = np.concatenate(
        [np.zeros(len(cells), np.int8) if one is None else one.beyond for cells, one in zip(there, scaled)]
    )
    exact = [
        as_objects(cells[one.beyond != 0], time, unit)
        for (cells, time), one in zip(known, scaled)
        if one is not None
    ]
    outside, sides = np.concatenate(exact), far[far != 0]
    inside, of_inside = np.unique(np.concatenate(counts)[far == 0], return_inverse=True)
    below, of_below = np.unique(outside[sides < 0], return_inverse=True)
    above, of_above = np.unique(outside[sides > 0], return_inverse=True)
    numbers = np.empty(len(far), np.int64)
    numbers[far < 0] = of_below.reshape(-1)
    numbers[far == 0] = of_inside.reshape(-1) + len(below)
    numbers[far > 0] = of_above.reshape(-1) + (len(below) + len(inside))
    ends = np.cumsum([len(cells) for cells in there])[:-1]
    return (np.split(numbers, ends), unit, Order(known, unit, low, below, inside, above))


def distance_in(distance: Any, unit: Time) -> Any:
    """A span of time, or a number of the unit, in whole counts of the unit, rounded down.

    Raises TypeError or ValueError for what is none."""
    distance = getattr(distance, "to_timedelta64", lambda: distance)()  # of pandas, which has nanoseconds
    if isinstance(distance, np.ndarray) and distance.ndim == 0:
        distance = distance[()]
    if isinstance(distance, datetime.timedelta):
        micros = (distance.days * 86400 + distance.seconds) * 10**6 + distance.microseconds
        return _counts(micros, Time("m", "us"), unit)
    if isinstance(distance, np.timedelta64):
        own = time_of(distance.dtype)
        if own is None or np.isnat(distance):
            raise ValueError("NaT")
        return _counts(int(distance.astype(np.int64)), own, unit)
    return whole(distance)


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
