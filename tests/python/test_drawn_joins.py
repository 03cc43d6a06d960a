# SPDX-License-Identifier: Apache-2.0
"""Joins by order of drawn columns: times of all units and zones, integers, lists, keys of all types under drawn names,
against Python's own integers row by row."""

import datetime
import operator
import uuid

import numpy as np
import pytest
import raydex
from drawn_times import ATTOSECONDS, MOST, cells, closest, has_no_days, pairs_of
from hypothesis import assume, given
from hypothesis import strategies as st

pa = pytest.importorskip("pyarrow")
pd = pytest.importorskip("pandas")
pl = pytest.importorskip("polars")

SIGNS = {"<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge}
CLOSED = ("both", "left", "right", "neither")
HOWS = ("inner", "left", "right", "full", "semi", "anti")
FAR = 10**60  # beyond all times


class Values:
    """A column that is made of cells of Python in one of some ways."""

    def __init__(self, values, way):
        self.values, self.way = values, way

    def make(self):
        return self.way(self.values)

    def __repr__(self):
        return f"{self.way.__name__} {self.values}"


def as_list(values):
    return list(values)


def arrow_of(of):
    def as_arrow(values):
        return pa.array(values, of)

    as_arrow.__name__ = str(of)
    return as_arrow


def as_chunks(values):
    whole = pa.array(values, pa.int64())
    return pa.chunked_array([whole[:1], whole[1:]])


def as_dictionary(values):
    return pa.array(values, pa.string()).dictionary_encode()


def as_polars(values):
    return pl.Series(values, dtype=pl.Int64)


def as_uuids(values):
    return pa.array([None if one is None else one.bytes for one in values], pa.uuid())


INTEGERS = (as_list, as_chunks, as_polars, *map(arrow_of, (pa.int8(), pa.int16(), pa.int32(), pa.int64())))
TEXTS = (as_list, as_dictionary, *map(arrow_of, (pa.string(), pa.large_string(), pa.string_view())))
KEYS = {
    "integers": ([0, 1, -1, 100], INTEGERS),
    "texts": (["", "a", "abcdefghij", "abcdefghijk"], TEXTS),
    "bytes": ([b"", b"\0", b"a\0", b"a", b"nine bytes\0"],
              (as_list, arrow_of(pa.binary()), arrow_of(pa.large_binary()))),
    "uuids": ([uuid.UUID(int=5), uuid.UUID(int=5 << 100), uuid.UUID(int=6)], (as_uuids,)),
    "bools": ([False, True], (arrow_of(pa.bool_()),)),
}


@st.composite
def sides(draw, kind, sizes):
    """Columns of both sides, that can be compared."""
    if kind in ("M", "tz", "time", "m"):
        return tuple(draw(cells(kind, rows=rows)) for rows in sizes)
    values, ways = KEYS[kind]
    cell = st.one_of(*[st.sampled_from(values)] * 4, st.none())
    return tuple(
        Values(draw(st.lists(cell, min_size=rows, max_size=rows)), draw(st.sampled_from(ways))) for rows in sizes)


@st.composite
def keyed(draw, sizes):
    """The arguments of a key of up to two columns, and which rows have equal ones."""
    kinds = draw(st.lists(st.sampled_from([*KEYS, "M", "tz"]), max_size=2))
    if not kinds:
        return {}, lambda b, p: True
    columns = [draw(sides(kind, sizes)) for kind in kinds]
    assume(not any(hasattr(one, "unit") and one.unit in "YM" for both in columns for one in both))

    def are_equal(b, p):
        return all(one.values[b] is not None and one.values[b] == other.values[p] for one, other in columns)

    made = [[one.make() for one in side] for side in zip(*columns)]
    named = draw(st.sampled_from(["places", "dicts", "columns", "table"]))
    if named == "columns" and len(kinds) == 1:
        made = [one for one, in made]
    elif named == "dicts":  # in any order of the probe side
        names = ["", "n"][: len(kinds)]
        made = [dict(zip(names, made[0])), dict(list(zip(names, made[1]))[::-1])]
    elif named == "table" and all(isinstance(one, pa.Array) for side in made for one in side):
        names = ["x", "X"][: len(kinds)]
        made = [pa.table(dict(zip(names, made[0]))), pa.table(dict(list(zip(names, made[1]))[::-1]))]
    by = draw(st.booleans())
    return {"by": tuple(made)} if by else {"build_by": made[0], "probe_by": made[1]}, are_equal


class Drawn:
    """Tables of some ordered columns on both sides, and a key or none."""

    def __init__(self, draw, most):
        self.sizes = draw(st.integers(0, 7)), draw(st.integers(0, 7))
        self.kind = draw(st.sampled_from(["M", "M", "tz", "time", "m", "integers"]))
        both = [draw(sides(self.kind, self.sizes)) for _ in range(most)]
        self.build, self.probe = zip(*both)
        self.by, self.are_equal = draw(keyed(self.sizes))

    def are_counted(self, *columns):
        """Whether distances are counted; months alone are of no length."""
        return self.kind == "integers" or not has_no_days(*columns)

    def __repr__(self):
        return f"build {self.build}, probe {self.probe}, {self.by}"


@st.composite
def tables(draw, most=1):
    return Drawn(draw, most)


@st.composite
def spans(draw, kind, negative=False):
    """A distance as it is given, and in attoseconds or as a number."""
    sign = draw(st.sampled_from([1, -1] if negative else [1]))
    if kind == "integers":
        number = sign * draw(st.sampled_from([0, 1, 2, 101, 2**64, 2**70]))
        return number, number
    if draw(st.booleans()):
        span = sign * datetime.timedelta(milliseconds=draw(st.sampled_from([0, 1, 1500, 86400_000, 10**15])))
        return span, (span // datetime.timedelta(microseconds=1)) * 10**12
    count = sign * draw(st.sampled_from([0, 1, 2, 60, 2**53 + 1, MOST]))
    unit = draw(st.sampled_from(["D", "h", "s", "ms", "us", "ns"]))
    return np.timedelta64(count, unit), count * ATTOSECONDS[unit]


def check(found, asked, how, condition):
    """`condition` of the number of a build row and that of a probe row."""
    expected, lone = [], set(range(asked.sizes[0]))
    for p in range(asked.sizes[1]):
        rows = [b for b in range(asked.sizes[0]) if asked.are_equal(b, p) and condition(b, p)]
        lone -= {*rows}
        if how in ("semi", "anti"):
            expected += [(p, None)] * (bool(rows) == (how == "semi"))
        else:
            expected += [(p, b) for b in rows] or [(p, -1)] * (how in ("left", "full"))
    if how in ("right", "full"):
        expected += [(-1, b) for b in lone]
    assert pairs_of(found) == sorted(expected, key=str)


def are_there(*values):
    return None not in values


@given(tables(2), st.sampled_from(HOWS), st.data())
def test_ranges(asked, how, data):
    build, probe = asked.build[0], asked.probe[0]
    columns = build.make(), probe.make()
    sign = data.draw(st.sampled_from(sorted(SIGNS)))
    check(raydex.join_range(*columns, how, compare=sign, **asked.by), asked, how,
          lambda b, p: are_there(build.values[b], probe.values[p]) and SIGNS[sign](build.values[b], probe.values[p]))
    upper = asked.probe[1]
    check(raydex.join_range(*columns, how, probe_upper=upper.make(), **asked.by), asked, how,
          lambda b, p: are_there(build.values[b], probe.values[p], upper.values[p])
          and probe.values[p] <= build.values[b] <= upper.values[p])
    if asked.are_counted(build, probe):
        span, distance = data.draw(spans(asked.kind))
        before, after = (data.draw(spans(asked.kind, True)) for _ in range(2))
        check(raydex.join_range(*columns, how, distance=span, **asked.by), asked, how,
              lambda b, p: are_there(build.values[b], probe.values[p])
              and abs(build.values[b] - probe.values[p]) <= distance)
        check(raydex.join_range(*columns, how, distance=(before[0], after[0]), **asked.by), asked, how,
              lambda b, p: are_there(build.values[b], probe.values[p])
              and -before[1] <= build.values[b] - probe.values[p] <= after[1])


def within(lower, point, upper, closed):
    return (lower <= point if closed in ("both", "left") else lower < point) and (
        point <= upper if closed in ("both", "right") else point < upper)


def lies(one, other, relation, closed):
    """How an interval of the build side lies to one of the probe side."""
    if relation == "within":
        return other[0] <= one[0] and one[1] <= other[1]
    if relation != "overlaps":
        return one[0] <= other[0] and other[1] <= one[1]
    before = operator.le if closed == "both" else operator.lt
    return before(one[0], other[1]) and before(other[0], one[1])


@given(tables(2), st.sampled_from(HOWS), st.sampled_from(["overlaps", "within", "encloses", "contains"]),
       st.sampled_from(CLOSED), st.sampled_from(["unmatched", "unbounded"]))
def test_intervals(asked, how, relation, closed, missing):
    is_open = missing == "unbounded"
    if is_open:  # the ends of the type are what stands for no end
        assume(asked.kind != "integers")
        for one in (*asked.build, *asked.probe):
            width = 32 if one.arrow is not None and one.arrow.bit_width == 32 else 64
            assume(all(count is None or abs(count) < 2 ** (width - 2) for count in one.counts))

    def ends(columns, row):
        found = [one.values[row] for one in columns]
        return [end if end is not None or not is_open else far for end, far in zip(found, (-FAR, FAR))]

    def condition(b, p):
        one, other = ends(asked.build, b), ends(asked.probe, p)
        return are_there(*one, *other) and one[0] <= one[1] and other[0] <= other[1] and lies(
            one, other, relation, closed)

    build, probe = (tuple(one.make() for one in side) for side in (asked.build, asked.probe))
    found = raydex.join_intervals(build, probe, how, relation=relation, closed=closed, missing=missing, **asked.by)
    check(found, asked, how, condition)

    def contains(b, p):
        one, point = ends(asked.build, b), asked.probe[0].values[p]
        return are_there(*one, point) and within(one[0], point, one[1], closed)

    found = raydex.join_intervals(build, probe[0], how, closed=closed, missing=missing, **asked.by)
    check(found, asked, how, contains)
    if not is_open:
        check(raydex.join_range(build[0], probe[0], how, build_upper=build[1], closed=closed, **asked.by), asked, how,
              contains)


@given(tables(), tables(), st.sampled_from(HOWS), st.sampled_from(sorted(SIGNS)), st.sampled_from(sorted(SIGNS)))
def test_two_inequalities(asked, more, how, first, second):
    sizes = [min(both) for both in zip(asked.sizes, more.sizes)]
    assume(asked.by == {})
    columns = [(asked.build[0], more.build[0]), (asked.probe[0], more.probe[0])]
    asked.sizes = sizes
    found = raydex.join_where(
        *(tuple(one.make()[:rows] for one in side) for side, rows in zip(columns, sizes)), (first, second), how)

    def condition(b, p):
        pairs = [(one.values[b], other.values[p]) for one, other in zip(*columns)]
        return all(are_there(*both) and SIGNS[sign](*both) for both, sign in zip(pairs, (first, second)))

    check(found, asked, how, condition)


@given(tables(2), st.sampled_from(HOWS), st.sampled_from(sorted(SIGNS)), st.sampled_from(sorted(SIGNS)))
def test_two_inequalities_by_keys(asked, how, first, second):
    found = raydex.join_where(
        *(tuple(one.make() for one in side) for side in (asked.build, asked.probe)), (first, second), how, **asked.by)

    def condition(b, p):
        pairs = [(one.values[b], other.values[p]) for one, other in zip(asked.build, asked.probe)]
        return all(are_there(*both) and SIGNS[sign](*both) for both, sign in zip(pairs, (first, second)))

    check(found, asked, how, condition)


@given(tables(), st.sampled_from(["backward", "forward", "nearest"]), st.booleans(), st.data())
def test_as_of_by_keys(asked, direction, exact, data):
    build, probe = asked.build[0], asked.probe[0]
    span, distance = data.draw(st.one_of(st.just((None, None)), spans(asked.kind)))
    assume(span is None or asked.are_counted(build, probe))
    found = raydex.join_asof(build.make(), probe.make(), direction=direction, allow_exact_matches=exact,
                             tolerance=span, **asked.by)
    expected = []
    for p, value in enumerate(probe.values):
        rows = [value if asked.are_equal(b, p) else None for b, value in enumerate(build.values)]
        expected.append(-1 if value is None else closest(rows, value, direction, exact, distance))
    assert found.tolist() == expected


@given(tables(), st.sampled_from(["backward", "forward", "nearest"]), st.data())
def test_tolerances_a_row(asked, direction, data):
    build, probe = asked.build[0], asked.probe[0]
    assume(asked.are_counted(build, probe))
    counts = data.draw(st.lists(st.sampled_from([0, 1, 2, 60, 2**53 + 1, MOST, None]), min_size=asked.sizes[1],
                                max_size=asked.sizes[1]))
    unit, kind = data.draw(st.sampled_from(["s", "ms", "ns"])), pa.int64()
    if asked.kind != "integers":
        kind = pa.duration(unit)
    found = raydex.join_asof(build.make(), probe.make(), direction=direction, tolerance=pa.array(counts, kind),
                             **asked.by)
    expected = []
    for p, value in enumerate(probe.values):
        rows = [value if asked.are_equal(b, p) else None for b, value in enumerate(build.values)]
        if None in (value, counts[p]):
            expected.append(-1)
            continue
        distance = counts[p] * (1 if asked.kind == "integers" else ATTOSECONDS[unit])
        expected.append(closest(rows, value, direction, True, distance))
    assert found.tolist() == expected


NAMES = ("count", "sum", "min", "max", "first", "last", "argmin", "argmax")
NOTHING = {"count": 0, "sum": 0, "max": -MOST - 1, "argmin": -1, "argmax": -1}


def aggregates(rows, times, values, of_series):
    """Of rows whose values are there."""
    rows = sorted(rows, key=lambda b: (times[b], b))
    if not rows:
        return {name: None if of_series and name not in ("count", "sum") else NOTHING.get(name, MOST) for name in NAMES}
    least, most = min(rows, key=lambda b: values[b]), max(rows, key=lambda b: values[b])
    return {
        "count": len(rows), "sum": sum(values[b] for b in rows), "min": values[least], "max": values[most],
        "first": values[rows[0]], "last": values[rows[-1]], "argmin": least, "argmax": most,
    }  # fmt: skip


@given(tables(), st.sampled_from(CLOSED), st.booleans(), st.data())
def test_windows(asked, closed, has_no_end, data):
    build, probe = asked.build[0], asked.probe[0]
    assume(asked.are_counted(build, probe))
    before, after = data.draw(spans(asked.kind)), data.draw(spans(asked.kind))
    if has_no_end:
        after = (np.inf, 10 * FAR)
    values = data.draw(st.lists(st.one_of(st.integers(-9, 9), st.integers(-9, 9), st.none()),
                                min_size=asked.sizes[0], max_size=asked.sizes[0]))
    found = raydex.join_window(build.make(), probe.make(), pa.array(values, pa.int64()), before=before[0],
                               after=after[0], closed=closed, aggregate=NAMES, **asked.by)
    of_series = not isinstance(found["count"], np.ndarray)
    if of_series:
        found = {name: [None if pd.isna(cell) else cell for cell in column] for name, column in found.items()}
    for p, at in enumerate(probe.values):
        rows = [] if at is None else [
            b for b, time in enumerate(build.values)
            if are_there(time, values[b]) and asked.are_equal(b, p)
            and within(at - before[1], time, at + after[1], closed)]
        expected = aggregates(rows, build.values, values, of_series)
        assert {name: found[name][p] for name in NAMES} == expected


@given(tables(), st.sampled_from(CLOSED), st.data())
def test_rolling(asked, closed, data):
    times = asked.build[0]
    assume(asked.are_counted(times))
    span, distance = data.draw(spans(asked.kind))
    key = data.draw(sides("texts", (asked.sizes[0],)))[0]
    found = raydex.rolling(times.make(), window=span, aggregate="count", closed=closed, by=key.make())
    assert list(found) == [
        0 if None in (at, key.values[p]) else sum(
            time is not None and key.values[b] == key.values[p] and within(at - distance, time, at, closed)
            for b, time in enumerate(times.values))
        for p, at in enumerate(times.values)]


def frame_of(library, table):
    return table.to_pandas() if library == "pandas" else pl.from_arrow(table)


ZONES = ("UTC", "Asia/Tokyo", "Europe/Berlin")


@given(st.sampled_from(["pandas", "polars"]), st.booleans(), st.sampled_from(["backward", "forward", "nearest"]),
       st.booleans(), st.data())
def test_merge_asof(library, has_zone, direction, exact, data):
    """Frames whose times have two units and zones, beside a key under one name or two."""
    sizes = data.draw(st.integers(1, 7)), data.draw(st.integers(1, 7))
    units = [data.draw(st.sampled_from(["ms", "us", "ns"])) for _ in sizes]
    zones = [data.draw(st.sampled_from(ZONES)) if has_zone else None for _ in sizes]
    seconds = [data.draw(st.lists(st.one_of(st.none(), st.integers(-3, 3), st.integers(10**9, 10**9 + 2)),
                                  min_size=rows, max_size=rows)) for rows in sizes]
    keys = [data.draw(st.lists(st.sampled_from(["a", "b", "a long text"]), min_size=rows, max_size=rows))
            for rows in sizes]
    on, by = (data.draw(st.sampled_from([("t", "t"), ("x", "y")])) for _ in range(2))
    by = tuple(f"{name} by" for name in by)
    frames = []
    for at, rows in enumerate(sizes):
        scale = {"ms": 10**3, "us": 10**6, "ns": 10**9}[units[at]]
        cells = [None if one is None else one * scale for one in seconds[at]]
        frames.append(frame_of(library, pa.table({
            on[at]: pa.array(cells, pa.timestamp(units[at], zones[at])), by[at]: keys[at],
            "row": pa.array(range(rows), pa.int64())})))
    tolerance = data.draw(st.sampled_from([None, datetime.timedelta(seconds=2), datetime.timedelta(days=10**5)]))
    found = raydex.merge_asof(
        *frames, left_on=on[0], right_on=on[1], left_by=by[0], right_by=[by[1]], direction=direction,
        allow_exact_matches=exact, tolerance=tolerance)
    distance = None if tolerance is None else tolerance.total_seconds()
    expected = []
    for at, key in zip(seconds[0], keys[0]):
        rows = [one if other == key else None for one, other in zip(seconds[1], keys[1])]
        expected.append(-1 if at is None else closest(rows, at, direction, exact, distance))
    taken = found["row_y"].fillna(-1) if library == "pandas" else found["row_y"].fill_null(-1)
    assert taken.astype(int).tolist() == expected if library == "pandas" else taken.to_list() == expected
    assert found["row_x"].to_list() == list(range(sizes[0]))
    assert list(found.columns)[:2] == [on[0], by[0]]
