# SPDX-License-Identifier: Apache-2.0
"""Columns of times of any unit and zone, drawn, and rows that join them, by Python's own integers."""

import datetime

import numpy as np
import pytest
from hypothesis import strategies as st

pa = pytest.importorskip("pyarrow")

MOST = 2**63 - 1
ATTOSECONDS = {
    "W": 604800 * 10**18, "D": 86400 * 10**18, "h": 3600 * 10**18, "m": 60 * 10**18, "s": 10**18,
    "ms": 10**15, "us": 10**12, "ns": 10**9, "ps": 10**6, "fs": 1000, "as": 1,
}  # fmt: skip
EPOCH = datetime.date(1970, 1, 1).toordinal()
EXTREME = [0, 1, -1, MOST, -MOST, MOST - 1, 2**53 + 1]


class Cells:
    """A column, its values in attoseconds, and None for what is missing."""

    def __init__(self, kind, counts, unit, step=1, arrow=None):
        self.kind, self.counts, self.unit, self.step, self.arrow = kind, counts, unit, step, arrow
        self.values = [None if count is None else self.value(count * step) for count in counts]

    def value(self, count):
        if self.unit not in "YM":
            return count * ATTOSECONDS[self.unit]
        month = count * (12 if self.unit == "Y" else 1)
        if self.kind == "m":
            return month
        return (datetime.date(1970 + month // 12, month % 12 + 1, 1).toordinal() - EPOCH) * ATTOSECONDS["D"]

    def make(self):
        if self.arrow is not None:
            width = f"int{self.arrow.bit_width}"
            # What lies beneath a missing value says nothing.
            cells = np.array([np.iinfo(width).min if one is None else one for one in self.counts], width)
            return pa.array(cells, mask=np.array([one is None for one in self.counts], bool)).view(self.arrow)
        letter = "m" if self.kind == "m" else "M"
        cells = np.array([-MOST - 1 if count is None else count for count in self.counts], "int64")
        return cells.view(f"{letter}8[{self.step}{self.unit}]")

    def __repr__(self):
        return f"{self.arrow or f'{self.kind}8[{self.step}{self.unit}]'} {self.counts}"


ARROW = {
    "M": [pa.date32(), pa.date64(), *map(pa.timestamp, ["s", "ms", "us", "ns"])],
    "tz": [pa.timestamp(unit, zone) for unit in ["s", "ms", "us", "ns"] for zone in ["UTC", "Asia/Tokyo"]],
    "time": [pa.time32("s"), pa.time32("ms"), pa.time64("us"), pa.time64("ns")],
    "m": list(map(pa.duration, ["s", "ms", "us", "ns"])),
}


@st.composite
def cells(draw, kind, calendar=False, size=8, rows=None):
    """A column of a kind: of up to `size` rows, or of just so many."""
    arrow = None
    if kind in ("tz", "time") or draw(st.booleans()):
        arrow = draw(st.sampled_from(ARROW[kind]))
        unit, step = "D" if arrow == pa.date32() else getattr(arrow, "unit", "ms"), 1
    else:
        units = [*ATTOSECONDS, "Y", "M"] if kind == "M" else list(ATTOSECONDS)
        unit, step = draw(st.sampled_from(["Y", "M"] if calendar else units)), draw(st.sampled_from([1, 1, 10, 15]))
        if calendar:
            unit, step = draw(st.sampled_from("YM")), 1
    if unit in "YM" and kind == "M":
        ends = {"Y": (-100, 120), "M": (-1200, 1440)}[unit]
        count = st.integers(*ends)
    else:
        most = 2**31 - 1 if arrow is not None and arrow.bit_width == 32 else MOST
        # About the ends of nanoseconds, seconds of a minute, and the ends of the type.
        about = [0, *(sign * MOST * 10**9 // ATTOSECONDS[unit] // step for sign in (-1, 1))]
        near = st.builds(lambda at, more: max(-most, min(most, at + more)), st.sampled_from(about),
                         st.integers(-3, 3))
        count = st.one_of(near, st.sampled_from([one for one in EXTREME if abs(one) <= most]))
        seconds = 10**18 // (ATTOSECONDS[unit] * step)
        if seconds and 5 * seconds <= most:
            count = st.one_of(count, st.integers(-5, 5).map(lambda n: n * seconds))
    counts = draw(st.lists(st.one_of(count, count, count, count, st.none()),
                           min_size=rows or 0, max_size=size if rows is None else rows))
    return Cells(kind, counts, unit, step, arrow)


@st.composite
def two(draw):
    kind = draw(st.sampled_from(["M", "M", "tz", "time", "m"]))
    return draw(cells(kind)), draw(cells(kind))


def rows_where(build, condition, *more):
    return [row for row, value in enumerate(build.values) if value is not None and condition(value, *more)]


def expected_pairs(build, probe, how, condition):
    pairs, matched = [], set()
    for row, value in enumerate(probe.values):
        rows = [] if value is None else rows_where(build, condition, value)
        if how in ("semi", "anti"):
            pairs += [(row, None)] * (bool(rows) == (how == "semi"))
        else:
            matched.update(rows)
            pairs += [(row, b) for b in rows] or [(row, -1)] * (how in ("left", "full"))
    if how in ("right", "full"):
        pairs += [(-1, b) for b in range(len(build.values)) if b not in matched]
    return pairs


def pairs_of(found):
    build = [None] * len(found.probe) if found.build is None else found.build.tolist()
    return sorted(zip(found.probe.tolist(), build), key=str)


def check_pairs(found, build, probe, how, condition):
    assert pairs_of(found) == sorted(expected_pairs(build, probe, how, condition), key=str)


def has_no_days(*both):
    return all(one.unit in "YM" for one in both)


def within(build, probe, tolerance):
    return tolerance is None or abs(build - probe) <= tolerance


def closest(build, probe, direction, exact, tolerance):
    """The row that an as-of join takes."""
    def row(rows, last):
        at = [row for row in rows if build[row] == (max if last else min)(build[r] for r in rows)]
        return None if not at else at[-1] if last else at[0]
    there = [row for row, value in enumerate(build) if value is not None]
    before = row([r for r in there if build[r] < probe or (exact and build[r] == probe)], True)
    after = row([r for r in there if build[r] > probe or (exact and build[r] == probe)], False)
    sides = {"backward": [before], "forward": [after], "nearest": [before, after]}[direction]
    near = [r for r in sides if r is not None and within(build[r], probe, tolerance)]
    return min(near, key=lambda r: abs(build[r] - probe), default=-1)


SPANS = st.one_of(
    st.none(),
    st.builds(lambda count, unit: (count, unit), st.sampled_from([0, 1, 2, 60, 2**53 + 1, MOST - 1, MOST]),
              st.sampled_from(["D", "h", "m", "s", "ms", "us", "ns"])),
)
