# SPDX-License-Identifier: Apache-2.0
"""Times of any two units, NumPy's and Arrow's, with and without zones, against Python's own integers."""

import datetime
import itertools
import operator
import time
from functools import partial

import numpy as np
import pytest
import raydex
from drawn_times import (
    ARROW,
    ATTOSECONDS,
    MOST,
    SPANS,
    Cells,
    cells,
    check_pairs,
    closest,
    has_no_days,
    pairs_of,
    rows_where,
    two,
)
from hypothesis import given
from hypothesis import strategies as st
from raydex._device_times import scaled

pa = pytest.importorskip("pyarrow")
pd = pytest.importorskip("pandas")
pl = pytest.importorskip("polars")
duckdb = pytest.importorskip("duckdb")

@given(two(), st.sampled_from(["inner", "left", "right", "full", "semi", "anti"]), st.booleans())
def test_equal_times(both, how, missing_equal):
    build, probe = both
    found = raydex.join(build.make(), probe.make(), how, missing_equal=missing_equal)
    if missing_equal:
        build.values = ["missing" if value is None else value for value in build.values]
        probe.values = ["missing" if value is None else value for value in probe.values]
    check_pairs(found, build, probe, how, lambda b, p: b == p)


@given(two(), two())
def test_keys_of_two_columns(first, second):
    (one, other), (more, also) = first, second
    size, probes = min(len(one.values), len(more.values)), min(len(other.values), len(also.values))
    found = raydex.join([one.make()[:size], more.make()[:size]], [other.make()[:probes], also.make()[:probes]])
    assert pairs_of(found) == [
        (p, b) for p, b in itertools.product(range(probes), range(size))
        if None not in (one.values[b], more.values[b])
        and (one.values[b], more.values[b]) == (other.values[p], also.values[p])
    ]


@given(two())
def test_an_index(both):
    build, probe = both
    index, points = raydex.build(build.make()), probe.make()
    def expected(answer, missing):
        return [missing if value is None else answer(value) for value in probe.values]
    equal = [[] if p is None else rows_where(build, operator.eq, p) for p in probe.values]
    assert index.count(points).tolist() == [len(rows) for rows in equal]
    assert index.contains(points).tolist() == [bool(rows) for rows in equal]
    assert index.first(points).tolist() == [min(rows, default=-1) for rows in equal]
    assert index.rows(points).rows.tolist() == [row for rows in equal for row in rows]
    assert pairs_of(raydex.join(index, points)) == [(p, b) for p, rows in enumerate(equal) for b in rows]
    assert index.rank(points).tolist() == expected(lambda p: len(rows_where(build, operator.lt, p)), -1)
    assert index.rank(points, "right").tolist() == expected(lambda p: len(rows_where(build, operator.le, p)), -1)

    def closest(condition, take, point):
        rows = rows_where(build, condition, point)
        return min((row for row in rows if build.values[row] == take(build.values[r] for r in rows)), default=-1)
    for strict, less, greater in ((False, operator.le, operator.ge), (True, operator.lt, operator.gt)):
        before = expected(partial(closest, less, max), -1)
        after = expected(partial(closest, greater, min), -1)
        assert index.predecessor(points, strict).tolist() == before
        assert index.successor(points, strict).tolist() == after


@given(two(), st.data())
def test_ranges(both, data):
    build, lower = both
    upper = data.draw(cells(build.kind))
    size = min(len(lower.values), len(upper.values))
    found = raydex.build(build.make()).count(lower.make()[:size], upper.make()[:size]).tolist()
    assert found == [
        0 if None in (low, high) else len(rows_where(build, lambda b, low, high: low <= b <= high, low, high))
        for low, high in zip(lower.values, upper.values)
    ]


@given(two())
def test_edits(both):
    build, more = both
    column, keys = build.make(), more.make()
    with raydex.build(column, "btree") as index:
        index.erase(keys)
        left = [row for row, value in enumerate(build.values) if value is not None and value not in more.values]
        assert len(index) == len(left)
        assert [row for row in range(len(column)) if index.count(column)[row]] == left
        rows = np.arange(len(keys)) + 100
        size = build.step * ATTOSECONDS.get(build.unit, 0)
        most = 2**31 - 1 if build.arrow is not None and build.arrow.bit_width == 32 else MOST
        if size and all(value is None or (value % size == 0 and abs(value // size) <= most) for value in more.values):
            index.insert(keys, rows)
            assert len(index) == len(left) + sum(value is not None for value in more.values)
            assert index.contains(keys).tolist() == [value is not None for value in more.values]
        elif size:
            with pytest.raises(raydex.InvalidArgument, match="as the keys are"):
                index.insert(keys, rows)


@given(two(), SPANS, st.sampled_from(["backward", "forward", "nearest"]), st.booleans())
def test_as_of(both, span, direction, exact):
    build, probe = both
    tolerance = None if span is None else span[0] * ATTOSECONDS[span[1]]
    if span is not None and has_no_days(*both):
        with pytest.raises(raydex.InvalidType, match="is no distance of datetime64"):
            raydex.join_asof(build.make(), probe.make(), tolerance=np.timedelta64(*span))
        return
    found = raydex.join_asof(
        build.make(), probe.make(), direction=direction, allow_exact_matches=exact,
        tolerance=None if span is None else np.timedelta64(*span))
    assert found.tolist() == [
        -1 if value is None else closest(build.values, value, direction, exact, tolerance)
        for value in probe.values
    ]


@given(two(), SPANS, st.sampled_from(["inner", "left"]), st.data())
def test_joins_by_order(both, span, how, data):
    build, probe = both
    if span is not None and not has_no_days(*both):
        distance = span[0] * ATTOSECONDS[span[1]]
        found = raydex.join_range(build.make(), probe.make(), how, distance=np.timedelta64(*span))
        check_pairs(found, build, probe, how, lambda b, p: abs(b - p) <= distance)
    for text, compare in (("<", int.__lt__), ("<=", int.__le__), (">", int.__gt__), (">=", int.__ge__)):
        found = raydex.join_range(build.make(), probe.make(), how, compare=text)
        check_pairs(found, build, probe, how, compare)
    upper = data.draw(cells(build.kind))
    size = min(len(upper.values), len(build.values))
    ends = list(zip(build.values, upper.values))
    found = raydex.join_range(build.make()[:size], probe.make(), build_upper=upper.make()[:size])
    assert pairs_of(found) == sorted([
        (p, b) for p, value in enumerate(probe.values) for b, end in enumerate(ends)
        if value is not None and None not in end and end[0] <= value <= end[1]
    ], key=str)
    size = min(len(upper.values), len(probe.values))
    found = raydex.join_range(build.make(), probe.make()[:size], probe_upper=upper.make()[:size])
    assert pairs_of(found) == sorted([
        (p, b) for p, end in enumerate(zip(probe.values, upper.values)) for b, value in enumerate(build.values)
        if value is not None and None not in end and end[0] <= value <= end[1]
    ], key=str)


@given(two(), st.sampled_from(["left", "right"]))
@pytest.mark.parametrize("least", [0, None])
def test_searching(least, both, side):
    column, probe = both
    column.counts = sorted(count for count in column.counts if count is not None)
    probe.counts = [count for count in probe.counts if count is not None]
    column, probe = (Cells(one.kind, one.counts, one.unit, one.step, one.arrow) for one in both)
    with pytest.MonkeyPatch.context() as patch:
        if least is not None:
            patch.setattr("raydex._searching._least_values", least)
            patch.setattr("raydex._searching._least_cells", least)
        found = raydex.searchsorted(column.make(), probe.make(), side).tolist()
        assert found == [
            len(rows_where(column, operator.lt if side == "left" else operator.le, value)) for value in probe.values
        ]
        assert raydex.isin(probe.make(), column.make()).tolist() == [one in column.values for one in probe.values]


@given(cells("M", calendar=True), cells("M"))
def test_months_and_years(build, probe):
    index, points = raydex.build(build.make()), probe.make()
    assert index.count(points).tolist() == [
        0 if p is None else len(rows_where(build, operator.eq, p)) for p in probe.values]
    assert index.rank(points).tolist() == [
        -1 if p is None else len(rows_where(build, operator.lt, p)) for p in probe.values]
    found = raydex.join_asof(build.make(), points)
    assert found.tolist() == [
        -1 if p is None else closest(build.values, p, "backward", True, None) for p in probe.values]


@pytest.mark.parametrize("kind", list(ARROW))
@pytest.mark.parametrize("other", list(ARROW))
def test_kinds_do_not_mix(kind, other):
    for one, also in itertools.product(ARROW[kind], ARROW[other]):
        build, probe = (pa.array([5], pa.int32() if of.bit_width == 32 else pa.int64()).view(of) for of in (one, also))
        if kind == other:
            assert len(raydex.join(build, probe).probe) == (
                Cells(kind, [5], "D" if one == pa.date32() else getattr(one, "unit", "ms")).values
                == Cells(kind, [5], "D" if also == pa.date32() else getattr(also, "unit", "ms")).values)
            continue
        for ask in (raydex.join, raydex.join_asof, raydex.searchsorted, raydex.isin, raydex.build(build).first):
            with pytest.raises(raydex.InvalidType):
                ask(*([probe] if ask.__name__ == "first" else [build, probe]))


def test_a_far_time_is_not_wrapped():
    far = np.array(["9999-12-31"], "M8[s]")
    wrapped = far.astype("M8[ns]")  # 1816
    assert pairs_of(raydex.join(far, wrapped)) == []
    assert raydex.join_asof(far, wrapped + np.timedelta64(1, "D")).tolist() == [-1]
    assert raydex.build(wrapped).contains(far).tolist() == [False]
    found = raydex.join_range(np.array([0], "M8[ps]"), np.array([0, 1], "M8[Y]"), distance=np.timedelta64(0, "D"))
    assert found.probe.tolist() == [0]
    tables = [duckdb.connect().sql(f"select '{year}-01-01'::{of} as t").to_arrow_table() for year, of in (
        (9999, "timestamp_s"), (2000, "timestamp_ns"))]
    assert raydex.join_range(*tables, compare=">").probe.tolist() == [0]
    assert raydex.join_range(*reversed(tables), compare=">").probe.tolist() == []


def test_times_beyond_a_unit_are_near_its_ends():
    """Half a second beyond the last nanosecond, and before the first one, are within one of rows there."""
    last = 2**63 - 1
    build = np.array([-last + 10**6, 0, last - 10**6]).view("M8[ns]")
    probe = np.array([last // 10**9 + 1, -(last // 10**9) - 1, 10**11, 0]).view("M8[s]")
    for tolerance, expected in ((1, [2, 0, -1, 1]), (0, [-1, -1, -1, 1])):
        within = np.timedelta64(tolerance, "s")
        for direction in ("nearest", "backward", "forward"):
            found = raydex.join_asof(build, probe, direction=direction, tolerance=within)
            one_side = {"nearest": expected, "backward": [expected[0], -1, -1, 1], "forward": [-1, expected[1], -1, 1]}
            assert found.tolist() == one_side[direction], (tolerance, direction)


def test_times_that_a_unit_cannot_hold_cost_little():
    """Sentinels in half of the rows take little longer than none."""
    random = np.random.default_rng(5)
    build = (random.integers(0, 1 << 31, 1 << 18) * 10**9).view("M8[ns]")
    near = random.integers(0, 1 << 31, 1 << 18).view("M8[s]")
    far = near.copy()
    far[::2] = np.datetime64("9999-12-31")
    second = np.timedelta64(1, "s")
    calls = {
        "join": raydex.join, "as-of": raydex.join_asof, "band": partial(raydex.join_range, distance=second),
        "nearest": partial(raydex.join_asof, direction="nearest", tolerance=second),
        "window": partial(raydex.join_window, before=second, aggregate="count"),
    }  # fmt: skip

    def seconds(call, probe):
        found = []
        for _ in range(3):
            begin = time.process_time()
            call(build, probe)
            found.append(time.process_time() - begin)
        return min(found)

    for name, call in calls.items():
        assert seconds(call, far) < 5 * seconds(call, near) + 0.02, name


def test_columns_of_pandas_and_polars():
    texts = ["2020-01-01T00:00:00", "2020-01-01T00:00:01", "2020-01-03T00:00:00"]
    for zone in (None, "UTC", "Europe/Berlin"):
        series = [
            *(pd.Series(np.array(texts, "M8[s]")).dt.tz_localize(zone).dt.as_unit(unit) for unit in ("s", "us", "ns")),
            *(pl.Series(texts).str.to_datetime(time_unit=unit, time_zone=zone) for unit in ("ms", "us", "ns")),
        ]
        moments = [raydex.build(one) for one in series]
        for build, other in itertools.product(series[:3], series[:3]):
            assert raydex.join(build, other).build.tolist() == [0, 1, 2]
        for build, other in itertools.product(series[3:], series[3:]):
            found = raydex.join_asof(build, other, allow_exact_matches=False, tolerance=datetime.timedelta(seconds=1))
            assert found.tolist() == [-1, 0, -1]
            assert raydex.join_range(build, other, distance=np.timedelta64(1, "s")).probe.tolist() == [0, 0, 1, 1, 2]
        for index, points in itertools.product(moments[3:], series[3:]):
            assert list(index.rank(points)) == [0, 1, 2]


@pytest.mark.parametrize("unit", ["10s", "15m", "2D"])
def test_tolerances_count_seconds_not_steps(unit):
    times = np.array([0, 1, 2], f"M8[{unit}]")
    step = times[1] - times[0]
    assert raydex.join_asof(times[:1], times, tolerance=step).tolist() == [0, 0, -1]
    assert raydex.join_asof(times[:1], times, tolerance=step.item()).tolist() == [0, 0, -1]
    assert raydex.join_range(times[:1], times, distance=step).probe.tolist() == [0, 1]
    assert raydex.join_asof(times[:1], times, tolerance=1).tolist() == [0, 0, -1]  # as NumPy counts


@pytest.mark.parametrize("dtype", ["int64", "uint64", "M8[ns]", "m8[ns]"])
@pytest.mark.parametrize("distance", [1, 2**53 + 1, 400 * 86400 * 10**9 + 1, 2**63 - 1])
def test_distances_are_exact(dtype, distance):
    build, probe = np.array([1]).astype(dtype), np.array([distance, distance + 1], "uint64").astype(dtype)
    if dtype != "uint64":
        build, probe = build - 1, np.array([distance, distance]).astype(dtype)
        probe[1:] -= 1
    counts = [int(one) for one in probe.view("uint64")]
    far = [one - int(build.view("int64")[0]) for one in counts]
    for reach in (distance, distance - 1):
        expected = [0 if apart <= reach else -1 for apart in far]
        assert raydex.join_asof(build, probe, tolerance=reach).tolist() == expected
        found = raydex.join_range(build, probe, distance=reach).probe.tolist()
        assert found == [row for row, one in enumerate(expected) if one == 0]


def test_tolerances_of_pandas_have_nanoseconds():
    times = np.array([0, 1001, 1002], "M8[ns]")
    found = raydex.join_asof(times[:1], times, tolerance=pd.Timedelta(1001, "ns"))
    assert found.tolist() == [0, 0, -1]


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_a_band_is_what_is_within_the_difference(dtype, random):
    grid = (np.arange(65) / 10).astype(dtype)
    columns = [
        (grid, grid, np.array(0.1, dtype)[()]),
        *((random.normal(size=60).astype(dtype), (random.normal(size=60) * scale).astype(dtype),
           np.array(abs(random.normal()), dtype)[()]) for scale in (1, 1e3, 1e-9)),
        *((np.array(cells).astype(dtype),) * 2 + (np.array(distance, dtype)[()],) for cells, distance in (
            ([-1, -0.5, 0, 1e-30, 5e-324, np.inf, -np.inf, np.nan], 1),
            ([-1, 3e38, -3e38, np.inf, -np.inf, np.nan], np.inf),
        )),
    ]
    for build, probe, distance in columns:
        with np.errstate(all="ignore"):
            near = (abs(build - probe[:, None]) <= distance) | (build == probe[:, None])
        found = raydex.join_range(build, probe, distance=float(distance))
        assert pairs_of(found) == sorted(zip(*(x.tolist() for x in np.nonzero(near))), key=str)
        for row in range(0, len(build), 7):  # the as-of join has the same rule
            one = build[row : row + 1]
            taken = raydex.join_asof(one, probe, direction="nearest", tolerance=float(distance))
            if not np.isnan(one[0]):
                assert (taken == 0).tolist() == near[:, row].tolist()


@pytest.mark.parametrize("direction", ["backward", "forward"])
def test_of_equal_times(direction):
    build, probe = np.array([1, 3, 3, 3, 5, 5]), np.array([0, 1, 2, 3, 4, 5, 6])
    rows = np.arange(len(build))
    found = raydex.join_asof(build, probe, direction=direction)
    by_pandas = pd.merge_asof(pd.DataFrame({"t": probe}), pd.DataFrame({"t": build, "row": rows}), on="t",
                              direction=direction)["row"].fillna(-1)
    by_polars = pl.DataFrame({"t": probe}).join_asof(pl.DataFrame({"t": build, "row": rows}), on="t",
                                                     strategy=direction)["row"].fill_null(-1)
    assert found.tolist() == by_pandas.tolist() == by_polars.to_list()


def test_times_scaled_on_a_gpu():
    """What CuPy computes there, by NumPy."""
    most = MOST // 10**9
    for count, is_beyond in ((most, False), (-most, False), (most + 1, True), (-most - 1, True), (MOST, True)):
        counts = np.array([5, count, -7])
        found, beyond = scaled(counts, 10**9, None, "")
        assert beyond == is_beyond
        assert is_beyond or found.tolist() == [5 * 10**9, count * 10**9, -7 * 10**9]
        for there in ([True, True, False], [True, False, True]):  # what is missing is never beyond
            assert scaled(counts, 10**9, np.array(there), "")[1] == (is_beyond and there[1])
    assert scaled(np.array([2]), 60, None, "below")[0].tolist() == [119]
    assert scaled(np.array([2]), 60, None, "above")[0].tolist() == [121]
    assert scaled(np.array([MOST - 1]), 1, None, "above")[0].tolist() == [MOST]


@pytest.mark.parametrize("kind", list(ARROW))
def test_minima_and_aggregates(kind):
    for of in ARROW[kind]:
        counts = pa.array([50, 20, 70, 30], pa.int32() if of.bit_width == 32 else pa.int64())
        column = counts.view(of)
        with raydex.rmq(column, extremes="both") as both:
            least, most = both.min([0, 2], [3, 3]), both.max([0, 0], [3, 1])
            assert least.view("int64").tolist() == [20, 30] and most.view("int64").tolist() == [70, 50]
        letter = "m" if kind in ("time", "m") else "M"
        unit = "D" if of == pa.date32() else getattr(of, "unit", "ms")
        assert least.dtype == f"{letter}8[{unit}]"
        aggregate = raydex.aggregate(raydex.build(np.arange(4)), column, sums=False)
        found = aggregate.min([0, 2, 9], [3, 3, 9])
        assert found.dtype == least.dtype and found.view("int64").tolist()[:2] == [20, 30] and np.isnat(found[2])
        with pytest.raises(raydex.InvalidType, match="sums and means are of numbers"):
            aggregate.sum([0])


@pytest.mark.parametrize("text", ["90s", "1.5h", "1h30min", "15min", "2h", "250ms", "3us", "7ns", "1 h 5 m", "0s"])
def test_spans_as_texts(text):
    pandas = pytest.importorskip("pandas")
    times = np.array(["2024-01-01"], "datetime64[ns]")
    late = times + np.timedelta64(pandas.Timedelta(text).value, "ns")
    assert raydex.join_asof(times, late, tolerance=text).tolist() == [0]
    assert raydex.join_asof(times, late + 1, tolerance=text).tolist() == [-1]
    assert raydex.join_range(times, late, distance=text).build.tolist() == [0]
    assert raydex.join_window(times, late, [5], before=text, after="0s").tolist() == [5]


@pytest.mark.parametrize("text", ["", "1", "h", "1M", "1y", "-", "1h3", "1.5ns", "99999999999999w"])
def test_texts_that_are_no_spans(text):
    times = np.array(["2024-01-01"], "datetime64[ns]")
    with pytest.raises(raydex.InvalidType, match="is no distance of datetime64"):
        raydex.join_asof(times, times, tolerance=text)
    for numbers in ([1], [1.0]):
        with pytest.raises(raydex.InvalidType, match="is no distance of"):
            raydex.join_asof(numbers, numbers, tolerance="1s")
