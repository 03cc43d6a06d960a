# SPDX-License-Identifier: Apache-2.0
"""Probes of any type of numbers on keys of any other, and texts of any length on short ones, against Python's own
comparisons, which are exact."""

import math
import operator

import numpy as np
import pytest
import raydex
from hypothesis import given
from hypothesis import strategies as st

pa = pytest.importorskip("pyarrow")
pd = pytest.importorskip("pandas")
pl = pytest.importorskip("polars")
duckdb = pytest.importorskip("duckdb")

TYPES = ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float32", "float64"]
WHOLE = [0, 1, -1, 2, 127, -128, 255, 2**15, 2**24, 2**24 + 1, 2**31 - 1, 2**31, -(2**31), -(2**31) - 1, 2**32 - 1,
         2**32, 2**53, 2**53 + 1, -(2**53) - 1, 2**63 - 1, 2**63, 2**63 + 1, -(2**63), 2**64 - 1]
FLOATING = [*map(float, WHOLE), 0.5, -0.5, 1.5, 2.5, -0.0, 5e-324, -5e-324, 1e300, -1e300, 3.4e38, 2.0**64, math.inf,
            -math.inf, math.nan]
PYTHON = [*WHOLE, 2**64, 2**70, -(2**70), 10**400, 0.5, 2.5, 1e300, math.inf, -math.inf, math.nan]
HOWS = ["inner", "left", "right", "full", "semi", "anti"]


def place(x):
    """NaN comes last, and equals itself."""
    return (True, 0) if x != x else (False, x)


def cells(dtype):
    if np.dtype(dtype).kind == "f":
        with np.errstate(all="ignore"):
            return st.sampled_from(np.array(FLOATING).astype(dtype).tolist())
    ends = np.iinfo(dtype)
    return st.sampled_from([x for x in WHOLE if ends.min <= x <= ends.max])


class Drawn:
    """A column in a form, and its cells as Python's own; None is missing."""

    def __init__(self, dtype, values, form):
        self.dtype, self.values, self.form = dtype, values, form

    def make(self, size=None):
        values = self.values[:size]
        if self.form == "list":
            return values
        there = np.array([one is not None for one in values], bool)
        array = np.array([0 if one is None else one for one in values], self.dtype)
        if self.form == "numpy":
            return array if there.all() else np.ma.array(array, mask=~there)
        arrow = pa.array(array, mask=~there)
        if self.form == "polars":
            return pl.Series(arrow)
        return pd.Series(arrow, dtype=pd.ArrowDtype(arrow.type)) if self.form == "pandas" else arrow

    def __repr__(self):
        return f"{self.form} of {self.dtype}: {self.values}"


@st.composite
def columns(draw, forms=("numpy", "pandas", "polars", "arrow"), types=TYPES, missing=True):
    dtype, form = draw(st.sampled_from(types)), draw(st.sampled_from(forms))
    one = cells(dtype)
    if missing:
        one = st.one_of(one, one, one, one, st.none())
    return Drawn(dtype, draw(st.lists(one, max_size=8)), form)


@st.composite
def lists(draw):
    """Python's own numbers. Floating ones take the precision of floating keys, so that there are none which have no
    float32."""
    values = draw(st.lists(st.one_of(*3 * [st.sampled_from(PYTHON)], st.none()), max_size=8))
    return Drawn("float64", values, "list")


probes = st.one_of(columns(), columns(), lists())


def rows_where(build, condition, probe):
    return [row for row, one in enumerate(build.values)
            if one is not None and probe is not None and condition(place(one), place(probe))]


def fits(dtype, x):
    if np.dtype(dtype).kind != "f":
        return math.isfinite(x) and x == math.floor(x) and np.iinfo(dtype).min <= x <= np.iinfo(dtype).max
    try:
        with np.errstate(all="ignore"):
            return x != x or float(np.dtype(dtype).type(x)) == x
    except OverflowError:
        return False


def as_keys_of(build, probe):
    """Floating numbers of lists take the precision of floating keys, unless they are too large."""
    if probe.form != "list" or build.dtype != "float32":
        return probe

    def near(x):
        with np.errstate(all="ignore"):
            return float(np.float32(x)) if isinstance(x, float) and np.isfinite(np.float32(x)) else x
    return Drawn(probe.dtype, list(map(near, probe.values)), "list")


@given(columns(), probes)
def test_points(build, probe):
    index, points = raydex.build(build.make()), probe.make()
    probe = as_keys_of(build, probe)
    equal = [rows_where(build, operator.eq, one) for one in probe.values]
    np.testing.assert_array_equal(index.count(points), [len(rows) for rows in equal])
    np.testing.assert_array_equal(index.contains(points), [bool(rows) for rows in equal])
    np.testing.assert_array_equal(index.first(points), [min(rows, default=-1) for rows in equal])
    assert index.rows(points).rows.tolist() == [row for rows in equal for row in rows]
    found = raydex.join(index, points, "left")
    assert sorted(zip(found.probe.tolist(), found.build.tolist())) == [
        (p, b) for p, rows in enumerate(equal) for b in rows or [-1]]


@given(columns(), probes)
def test_order(build, probe):
    index, points = raydex.build(build.make()), probe.make()
    probe = as_keys_of(build, probe)

    def expected(answer):
        return [-1 if one is None or not build.values else answer(one) for one in probe.values]

    def closest(condition, take):
        def row(point):
            rows = rows_where(build, condition, point)
            keys = [place(build.values[one]) for one in rows]
            return min((one for one, key in zip(rows, keys) if key == take(keys)), default=-1)
        return row
    if all(one is None for one in build.values) or all(one is None for one in probe.values):
        return  # of no type
    np.testing.assert_array_equal(
        index.rank(points), expected(lambda one: len(rows_where(build, operator.lt, one))))
    np.testing.assert_array_equal(
        index.rank(points, "right"), expected(lambda one: len(rows_where(build, operator.le, one))))
    for strict, less, greater in ((False, operator.le, operator.ge), (True, operator.lt, operator.gt)):
        np.testing.assert_array_equal(index.predecessor(points, strict), expected(closest(less, max)))
        np.testing.assert_array_equal(index.successor(points, strict), expected(closest(greater, min)))


@given(columns(), probes, st.data())
def test_ranges(build, lower, data):
    upper = data.draw(columns(forms=[lower.form])) if lower.form != "list" else data.draw(lists())
    size = min(len(lower.values), len(upper.values))
    index = raydex.build(build.make())
    ends = lower.make(size), upper.make(size)
    low, high = as_keys_of(build, lower), as_keys_of(build, upper)
    rows = [[row for row in rows_where(build, operator.ge, one) if other is not None and
             place(build.values[row]) <= place(other)]
            for one, other in zip(low.values[:size], high.values[:size])]
    np.testing.assert_array_equal(index.count(*ends), list(map(len, rows)))
    np.testing.assert_array_equal(index.first(*ends), [min(one, default=-1) for one in rows])


@given(columns(), columns())
def test_edits(build, more):
    column, keys = build.make(), more.make()
    with raydex.build(column, "btree") as index:
        index.erase(keys)
        left = [one for one in build.values if one is not None and
                not rows_where(more, operator.eq, one)]
        assert len(index) == len(left)
        key = {"float": "float32", "double": "float64"}.get(index.info.key, index.info.key)
        rows = np.arange(len(more.values)) + 100
        if all(one is None or fits(key, one) for one in more.values):
            index.insert(keys, rows)
            assert len(index) == len(left) + sum(one is not None for one in more.values)
        elif any(one is not None for one in build.values):
            with pytest.raises(raydex.InvalidArgument, match="as the keys are"):
                index.insert(keys, rows)


@given(columns(), columns(), st.sampled_from(HOWS), st.booleans(), st.data())
def test_joins(build, probe, how, missing_equal, data):
    def check(found, match):
        pairs, matched = [], set()
        for row in range(len(probe.values)):
            rows = [b for b in range(len(build.values)) if match(b, row)]
            matched.update(rows)
            if how in ("semi", "anti"):
                pairs += [(row, None)] * (bool(rows) == (how == "semi"))
            else:
                pairs += [(row, b) for b in rows] or [(row, -1)] * (how in ("left", "full"))
        if how in ("right", "full"):
            pairs += [(-1, b) for b in range(len(build.values)) if b not in matched]
        own = [None] * len(found.probe) if found.build is None else found.build.tolist()
        assert sorted(zip(found.probe.tolist(), own), key=str) == sorted(pairs, key=str)

    def are_equal(b, p):
        one, other = build.values[b], probe.values[p]
        if one is None or other is None:
            return missing_equal and one is other
        return place(one) == place(other)
    check(raydex.join(build.make(), probe.make(), how, missing_equal=missing_equal), are_equal)
    others = [data.draw(st.lists(st.integers(0, 1), min_size=len(one.values), max_size=len(one.values)))
              for one in (build, probe)]
    columns = [[one.make(), np.array(other, "int64")] for one, other in zip((build, probe), others)]
    check(raydex.join(*columns, how, missing_equal=missing_equal),
          lambda b, p: are_equal(b, p) and others[0][b] == others[1][p])
    found = raydex.join_asof(
        np.array(others[0], "int32"), np.array(others[1], "int32"), by=(build.make(), probe.make()),
        missing_equal=missing_equal)
    rows = [[b for b in range(len(build.values)) if are_equal(b, p) and others[0][b] <= others[1][p]]
            for p in range(len(probe.values))]
    assert found.tolist() == [max(one, key=lambda b: (others[0][b], b), default=-1) for one in rows]


COMPARE = {"<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge}


@given(columns(), columns(), st.sampled_from(sorted(COMPARE)), st.sampled_from(sorted(COMPARE)), st.data())
def test_joins_by_order(build, probe, compare, other, data):
    def check(found, match):
        expected = [(p, b) for p in range(len(probe.values)) for b in range(len(build.values))
                    if None not in (build.values[b], probe.values[p]) and match(b, p)]
        assert sorted(zip(found.probe.tolist(), found.build.tolist())) == expected

    def compares(compare):
        return lambda b, p: COMPARE[compare](place(build.values[b]), place(probe.values[p]))
    columns_of = build.make(), probe.make()
    check(raydex.join_range(*columns_of, compare=compare), compares(compare))
    check(raydex.join_where((columns_of[0],) * 2, (columns_of[1],) * 2, (compare, other)),
          lambda b, p: compares(compare)(b, p) and compares(other)(b, p))
    size = len(probe.values)
    upper = data.draw(st.lists(cells(probe.dtype), min_size=size, max_size=size))
    check(raydex.join_range(*columns_of, probe_upper=Drawn(probe.dtype, upper, probe.form).make()),
          lambda b, p: place(probe.values[p]) <= place(build.values[b]) <= place(upper[p]))


@given(columns(), columns(), st.sampled_from(["backward", "forward"]), st.booleans())
def test_as_of(build, probe, direction, exact):
    def row(point):
        conditions = {"backward": (operator.lt, operator.le), "forward": (operator.gt, operator.ge)}[direction]
        rows = rows_where(build, conditions[exact], point)
        take = max if direction == "backward" else min
        keys = [place(build.values[one]) for one in rows]
        at = [one for one, key in zip(rows, keys) if key == take(keys)]
        return (max if direction == "backward" else min)(at, default=-1)
    expected = list(map(row, probe.values))
    arguments = {"direction": direction, "allow_exact_matches": exact}
    assert raydex.join_asof(build.make(), probe.make(), **arguments).tolist() == expected
    if any(one is not None for one in build.values):
        assert raydex.AsofIndex(build.make()).join(probe.make(), **arguments).tolist() == expected


@pytest.mark.parametrize("types", [("int64", "uint64"), ("int64", "float64"), ("int32", "float32")])
def test_what_needs_one_type_says_so(types):
    build, probe = (np.array([1, 2], dtype) for dtype in types)
    if types[0] == "int32":
        assert raydex.join_range(build, probe, distance=1).build.tolist() == [0, 1, 0, 1]  # as double
        return
    for call in (
        lambda: raydex.join_range(build, probe, distance=1),
        lambda: raydex.join_range(build, probe, build_upper=build),
        lambda: raydex.join_intervals((build, build), (probe, probe)),
        lambda: raydex.join_asof(build, probe, tolerance=1),
        lambda: raydex.join_asof(build, probe, direction="nearest"),
    ):
        with pytest.raises(raydex.InvalidType, match="no key type has the values of both; convert one"):
            call()
    half = raydex.AsofIndex(np.array([1, 2]))
    assert half.join(np.array([2.0]), direction="nearest").tolist() == [1]
    with pytest.raises(raydex.InvalidArgument, match="probe: 1.5 is no int64, as the keys are"):
        half.join(np.array([1.5]), direction="nearest")


def test_a_key_beside_times_is_kept_as_it_is():
    index = raydex.AsofIndex([1, 2], by=np.array([1, 2], "int32"))
    with pytest.raises(raydex.InvalidArgument, match="by: 0.5 is no int32, as the keys are"):
        index.append([3], by=[0.5])
    index.append([3], by=np.array([2]))
    assert index.join([9, 9], by=np.array([0.5, 2.0])).tolist() == [-1, 2]
    both = raydex.AsofIndex([1], by=pa.array([None], pa.int32()), missing_equal=True)
    assert both.join([9], by=pa.array([None], pa.int64())).tolist() == [0]
    with pytest.raises(raydex.InvalidArgument, match="by: 0.5 is no int32"):
        both.join([9], by=[0.5])


def test_frames_of_two_types():
    left = pd.DataFrame({"k": [1.0, np.nan, 2.5, 2.0**53], "a": range(4)})
    right = pd.DataFrame({"k": [2**53 + 1, 1, 2**53], "b": range(3)})
    assert raydex.merge(left, right, on="k").b.tolist() == [1, 2]
    found = raydex.merge(left, right, on="k", how="left")
    assert found.b.fillna(-1).tolist() == [1, -1, -1, 2]
    unsigned = pl.DataFrame({"k": pl.Series([2**63 + 1, 5], dtype=pl.UInt64), "b": [0, 1]})
    assert raydex.merge(pl.DataFrame({"k": [-1, 5]}), unsigned, on="k")["b"].to_list() == [1]


@pytest.mark.parametrize("compare", ["=", "<", "<=", ">", ">="])
def test_duckdb_says_the_same(random, compare):
    build = pd.DataFrame({"k": random.integers(-20, 20, 300)})
    probe = pd.DataFrame({"k": random.integers(-45, 45, 200) / 2})
    found = (raydex.join(build["k"], probe["k"]) if compare == "=" else
             raydex.join_range(build["k"], probe["k"], compare=compare))
    pairs = duckdb.sql(f"select count(*), sum(b.k * p.k) from build b join probe p on b.k {compare} p.k").fetchall()[0]
    assert pairs == (len(found.probe), (build["k"][found.build].to_numpy() * probe["k"][found.probe].to_numpy()).sum())


WORDS = [b"", b"a", b"ab", b"abc", b"abd", b"abcdefgh", b"abcdefghi", b"a" * 9, b"b\0c", b"b", b"\xff" * 3, b"\xff" * 9,
         b"abcdefgi", b"\0a", b"z" * 40]


@st.composite
def texts(draw, most=None):
    words = [one for one in WORDS if most is None or len(one) <= most]
    return draw(st.lists(st.sampled_from(words), min_size=1, max_size=8))


@given(texts(8), st.sampled_from([0, 3, 8]), texts(), texts(), st.sampled_from(["list", "numpy", "arrow", "polars"]))
def test_longer_texts(build, width, lower, upper, form):
    width = max(width, *map(len, build), 1)
    index = raydex.build(np.array(build, f"S{width}"))
    size = min(len(lower), len(upper))

    def make(words):
        if form == "numpy":
            return np.array(words, f"S{max(map(len, words)) or 1}")
        if form == "arrow":
            return pa.array(words, pa.binary())
        return words if form == "list" else pl.Series(words, dtype=pl.Binary)
    points = make(lower)
    ranks = [sum(one < word for one in build) for word in lower]
    np.testing.assert_array_equal(index.count(points), [build.count(word) for word in lower])
    np.testing.assert_array_equal(index.rank(points), ranks)
    np.testing.assert_array_equal(index.rank(points, "right"), [sum(one <= word for one in build) for word in lower])
    np.testing.assert_array_equal(
        index.count(make(lower[:size]), make(upper[:size])),
        [sum(low <= one <= high for one in build) for low, high in zip(lower, upper)])
    np.testing.assert_array_equal(
        index.predecessor(points, strict=True) < 0, [rank == 0 for rank in ranks])


def test_texts_that_are_no_keys():
    index = raydex.build(["bob", "eve"], "btree")
    assert index.count(["a" * 9, "bob", "bobby"]).tolist() == [0, 1, 0]
    assert index.count(["bo", "bobby"], ["bobby", "z" * 20]).tolist() == [1, 1]
    assert index.rank(["bobby"]).tolist() == [1]
    assert index.count(pd.Series(["bobby", "eve"])).tolist() == [0, 1]
    index.insert(["bobby"], [7])
    assert (index.info.key, index.first("bobby")) == ("bytes5", 7)


def test_the_first_things_that_one_tries():
    index = raydex.build(np.array([0, 1, 2, 3], "int32"))
    assert index.count([0.5], [2.5]).tolist() == [2]
    assert index.count(0.5, 1e300) == 3
    assert index.count(-math.inf, math.inf) == 4
    assert index.first(np.array([2, 2**40])).tolist() == [2, -1]
    assert index.rank(2.5) == 3 and index.rank(2**40) == 4 and index.rank(-(2**70)) == 0
    assert raydex.build(np.array([0.1], "float32")).count([0.1]).tolist() == [1]
    assert raydex.build(np.array([0.1], "float32")).count(np.array([0.1])).tolist() == [0]
