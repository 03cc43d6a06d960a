# SPDX-License-Identifier: Apache-2.0
"""Joins by order among rows of equal keys, against DuckDB, which has NaN after all other numbers, too."""

import datetime

import array_libraries
import numpy as np
import pytest
import raydex
from join_oracle import KINDS, by_duckdb, pairs

pa = pytest.importorskip("pyarrow")
pd = pytest.importorskip("pandas")
pl = pytest.importorskip("polars")

SIGNS = ("<", "<=", ">", ">=")
CLOSED = ("both", "left", "right", "neither")
MOST = 2**63 - 1
with_arrow = pytest.mark.parametrize("library", array_libraries.WITH_ARROW, indirect=True, ids=lambda one: one.name)


def numbers(random, rows, kind):
    """Values; many are equal."""
    small = random.integers(0, 25, rows)
    if kind == "float64":
        return np.where(random.random(rows) < 0.15, random.choice([np.nan, np.inf, -np.inf, -0.0], rows), small / 4)
    if kind == "extreme":
        return np.where(small % 2 == 0, -MOST + small, MOST - small)
    if kind == "uint64":
        few = small.astype("uint64")
        return np.where(small % 2 == 0, few, np.uint64(2**64 - 1) - few)
    return (small - 9).astype(kind)


KEYS = {
    "none": None,
    "int": lambda group: {"g": group * 3 - 4},
    "sparse": lambda group: {"g": group * 10**18 - 10**18},
    "strings": lambda group: {"g": [f"chromosome {one}" for one in group]},
    "two": lambda group: {"g": (group // 2).astype("int16"), "h": [("a", "bcd")[one % 2] for one in group]},
}


def sides(random, kind, keys, holes=0.1, rows=(90, 120)):
    """Two tables with columns a and b, of 90 and 120 rows, with missing cells, and columns of a key. Of the second one
    some groups are not in the first one."""
    tables = []
    for many, groups in zip(rows, (4, 5)):
        group = random.integers(0, groups, many)
        key = {} if KEYS[keys] is None else KEYS[keys](group)
        columns = {"a": numbers(random, many, kind), "b": numbers(random, many, kind), **key}
        tables.append(pa.table(
            {name: pa.array(cells, mask=random.random(many) < holes) for name, cells in columns.items()}))
    return tables


def said(tables):
    """What a call is told of keys."""
    names = [name for name in tables[0].column_names if name not in "ab"]
    return {} if not names else {"by": tuple({name: one[name] for name in names} for one in tables)}


def equal_keys(tables):
    return "".join(f" and b.{name} = p.{name}" for name in tables[0].column_names if name not in "ab")


def drawn(random, *words):
    """One of the words: all of them in all tests together."""
    return words[random.integers(len(words))]


with_keys = pytest.mark.parametrize("keys", KEYS)
with_kinds = pytest.mark.parametrize("kind", ["int32", "int64", "float64", "extreme", "uint64"])


@with_keys
@with_kinds
def test_ranges(random, kind, keys):
    build, probe = sides(random, kind, keys)
    keyed, equal = said((build, probe)), equal_keys((build, probe))

    def check(condition, **how_they_lie):
        how = drawn(random, *KINDS)
        found = raydex.join_range(build["a"], probe["a"], how, **how_they_lie, **keyed)
        assert pairs(found) == by_duckdb(build, probe, how, condition + equal), (how, how_they_lie)

    for sign in SIGNS:
        check(f"b.a {sign} p.a", compare=sign)
    check("b.a between p.a and p.b", probe_upper=probe["b"])
    if kind.startswith("int"):
        check("abs(b.a - p.a) <= 3", distance=3)
        for before, after in ((2, 5), (-1, 4), (4, -2), (-3, -1)):
            check(f"b.a between p.a - {before} and p.a + {after}", distance=(before, after))
    for closed in CLOSED:
        lower, upper = ("<=" if closed in ("both", side) else "<" for side in ("left", "right"))
        check(f"b.a {lower} p.a and p.a {upper} b.b", build_upper=build["b"], closed=closed)


@with_keys
def test_distances_that_types_cannot_hold(random, keys):
    """Against integers of Python."""
    for kind in ("extreme", "uint64", "int32"):
        build, probe = sides(random, kind, keys, rows=(40, 50))
        names = [name for name in build.column_names if name not in "ab"]
        rows = [[[one[name][at].as_py() for name in ("a", *names)] for at in range(len(one))] for one in (build, probe)]
        for before, after in ((1, 2**64), (2**63 + 5, -3), (-(2**64), 2**65), (MOST, MOST), (2**66, 2**66), (7, 7),
                              (-(2**31), 2**32 - 12), (np.inf, 3), (-np.inf, np.inf)):
            expected = sorted(
                (p, b) for p, (there, *key) in enumerate(rows[1]) for b, (cell, *other) in enumerate(rows[0])
                if None not in (there, cell, *key, *other) and key == other and -before <= cell - there <= after)
            found = raydex.join_range(build["a"], probe["a"], distance=(before, after), **said((build, probe)))
            assert pairs(found) == expected
            if before == after:
                found = raydex.join_range(build["a"], probe["a"], distance=before, **said((build, probe)))
                assert pairs(found) == expected


def test_distances_of_floating_numbers(random):
    for dtype in ("float32", "float64"):
        build, probe = (numbers(random, rows, "float64").astype(dtype) for rows in (60, 70))
        for before, after in ((0.5, 1.25), (0, 0), (-0.25, 1), (np.inf, 1), (1, np.inf), (np.inf, np.inf), (1e300, 1)):
            with np.errstate(all="ignore"):
                spans = [np.dtype(dtype).type(span) for span in (before, after)]
                low = -np.inf if spans[0] == np.inf else probe - spans[0]
                high = np.inf if spans[1] == np.inf else probe + spans[1]
            hit = (build >= np.reshape(low, (-1, 1))) & (build <= np.reshape(high, (-1, 1)))
            hit = hit & ~np.isnan(probe)[:, np.newaxis]
            expected = sorted(zip(*(side.tolist() for side in np.nonzero(hit))))
            assert pairs(raydex.join_range(build, probe, distance=(before, after))) == expected


def intervals(lower, upper, other_lower, other_upper, relation, closed):
    """The condition of intervals."""
    if relation == "overlaps":
        sign = "<=" if closed == "both" else "<"
        lie = f"{lower} {sign} {other_upper} and {other_lower} {sign} {upper}"
    else:
        inner, outer = ((lower, upper), (other_lower, other_upper))
        if relation in ("encloses", "contains"):
            inner, outer = outer, inner
        lie = f"{outer[0]} <= {inner[0]} and {inner[1]} <= {outer[1]}"
    return f"{lie} and {lower} <= {upper} and {other_lower} <= {other_upper}"


RELATIONS = ("overlaps", "within", "encloses", "contains")


@with_keys
@with_kinds
def test_intervals(random, kind, keys):
    build, probe = sides(random, kind, keys)
    ends = (build["a"], build["b"]), (probe["a"], probe["b"])
    for relation in RELATIONS:
        for closed in CLOSED:
            condition = intervals("b.a", "b.b", "p.a", "p.b", relation, closed) + equal_keys((build, probe))
            how = drawn(random, *KINDS)
            found = raydex.join_intervals(*ends, how, relation=relation, closed=closed, **said((build, probe)))
            assert pairs(found) == by_duckdb(build, probe, how, condition), (relation, closed, how)


@pytest.mark.parametrize("closed", CLOSED)
def test_points_in_intervals(random, closed):
    build, probe = sides(random, "int64", "strings")
    lower, upper = ("<=" if closed in ("both", side) else "<" for side in ("left", "right"))
    for how in KINDS:
        expected = by_duckdb(build, probe, how, f"b.a {lower} p.a and p.a {upper} b.b and b.g = p.g")
        for relation in (None, "contains", "encloses"):
            found = raydex.join_intervals(
                (build["a"], build["b"]), probe["a"], how, relation=relation, closed=closed, build_by=build["g"],
                probe_by=probe["g"])
            assert pairs(found) == expected


@pytest.mark.parametrize("kind", ["int32", "int64", "float64", "uint64"])
def test_ends_that_are_unbounded(random, kind):
    build, probe = sides(random, kind, "int", holes=0.4)
    filled = []
    for one in (build, probe):
        columns = {name: one[name] for name in one.column_names}
        for name, upper in (("a", False), ("b", True)):
            if kind == "float64":
                extreme = np.inf if upper else -np.inf
            else:
                extreme = int(getattr(np.iinfo(kind), "max" if upper else "min"))
            columns[name] = one[name].fill_null(extreme)
        filled.append(pa.table(columns))
    for relation in RELATIONS:
        for closed in CLOSED:
            condition = intervals("b.a", "b.b", "p.a", "p.b", relation, closed) + " and b.g = p.g"
            expected = by_duckdb(*filled, "inner", condition)
            found = raydex.join_intervals(
                (build["a"], build["b"]), (probe["a"], probe["b"]), relation=relation, closed=closed,
                missing="unbounded", by=(build["g"], probe["g"]))
            assert pairs(found) == expected
    found = raydex.join_intervals((build["a"], build["b"]), probe["a"], missing="unbounded")
    assert pairs(found) == by_duckdb(filled[0], probe, "inner", "b.a <= p.a and p.a <= b.b")


def test_ends_of_which_all_are_missing():
    nothing = [None, None]
    assert pairs(raydex.join_intervals((nothing, [5, 7]), (nothing, [3, None]))) == []
    found = raydex.join_intervals((nothing, [5, 7]), ([6, 1], nothing), missing="unbounded")
    assert pairs(found) == [(0, 1), (1, 0), (1, 1)]
    found = raydex.join_intervals((nothing, nothing), ([6.0, np.nan], nothing), "left", missing="unbounded")
    assert pairs(found) == [(0, 0), (0, 1), (1, -1)]


@with_keys
@pytest.mark.parametrize("kinds", [("int64", "float64"), ("float64", "int32"), ("extreme", "uint64")])
def test_two_inequalities(random, keys, kinds):
    first, second = (sides(random, kind, keys) for kind in kinds)
    build, probe = (one.set_column(1, "b", other["b"]) for one, other in zip(first, second))
    columns = (build["a"], build["b"]), (probe["a"], probe["b"])
    for one in SIGNS:
        for other in SIGNS:
            condition = f"b.a {one} p.a and b.b {other} p.b" + equal_keys((build, probe))
            how = drawn(random, *KINDS)
            found = raydex.join_where(*columns, (one, other), how, **said((build, probe)))
            assert pairs(found) == by_duckdb(build, probe, how, condition), (one, other, how)


@pytest.mark.parametrize("how", KINDS)
def test_in_any_array_library(library, random, how):
    build = {"a": random.integers(0, 30, 80), "b": random.integers(5, 35, 80), "g": random.integers(0, 3, 80)}
    probe = {"a": random.integers(0, 30, 90), "b": random.integers(5, 35, 90), "g": random.integers(0, 4, 90)}
    frames = pd.DataFrame(build), pd.DataFrame(probe)
    by = {"build_by": build["g"], "probe_by": probe["g"], "how": how}

    def check(found, condition):
        assert pairs(found) == by_duckdb(*frames, how, condition + " and b.g = p.g")

    check(library.join_range(build["a"], probe["a"], distance=2, **by), "abs(b.a - p.a) <= 2")
    check(library.join_range(build["a"], probe["a"], compare=">", **by), "b.a > p.a")
    check(library.join_range(build["a"], probe["a"], build_upper=build["b"], closed="left", **by),
          "b.a <= p.a and p.a < b.b")
    ends = (build["a"], build["b"]), (probe["a"], probe["b"])
    for relation in RELATIONS:
        check(library.join_intervals(*ends, relation=relation, closed="left", **by),
              intervals("b.a", "b.b", "p.a", "p.b", relation, "left"))
    check(library.join_where(*ends, compare=("<", ">="), **by), "b.a < p.a and b.b >= p.b")


@with_arrow
def test_intervals_of_times_and_zones(library):
    def times(*texts, zone, unit):
        return pa.array(pd.to_datetime(list(texts)).tz_localize(zone).as_unit(unit))

    shifts = (times("2024-03-01 08:00", "2024-03-01 16:00", zone="Europe/Berlin", unit="us"),
              times("2024-03-01 16:00", "2024-03-02 00:00", zone="Europe/Berlin", unit="us"))
    calls = (times("2024-03-01 09:30", "2024-03-01 02:00", zone="America/New_York", unit="us"),
             times("2024-03-01 10:00", "2024-03-01 05:00", zone="America/New_York", unit="us"))
    assert pairs(library.join_intervals(shifts, calls, closed="left")) == [(0, 0), (1, 0)]
    assert pairs(library.join_intervals(shifts, calls, closed="both")) == [(0, 0), (0, 1), (1, 0)]
    assert pairs(library.join_intervals(shifts, calls[0], closed="right")) == [(0, 0)]


def test_times_of_units_that_64_bits_do_not_hold():
    """Numbers in their order stand for them."""
    lower = np.array(["0001-01-01", "2000-01-01", "9000-01-01"], "M8[D]")
    upper = np.array(["0002-01-01", "2000-01-02", "9999-01-01"], "M8[s]")
    begin = np.array(["2000-01-01T00:00:00.000000001", "2000-01-02T00:00:00.000000001"], "M8[ns]")
    found = raydex.join_intervals((lower, upper), (begin, begin + 5))
    assert pairs(found) == [(0, 1)]
    found = raydex.join_intervals((lower, np.array(["NaT"] * 3, "M8[s]")), (begin, begin), missing="unbounded")
    assert pairs(found) == [(0, 0), (0, 1), (1, 0), (1, 1)]
    day = np.timedelta64(1, "D")
    for distance in ((day * 400_000, -day), (datetime.timedelta(0), day)):
        found = raydex.join_range(lower, begin, distance=distance)
        exact = [
            (p, b) for p in range(2) for b in range(3)
            if -int(distance[0] / np.timedelta64(1, "h")) * 3600 * 10**9
            <= (int(lower[b].astype("i8")) * 86400 * 10**9 - int(begin[p].astype("i8")))
            <= int(distance[1] / np.timedelta64(1, "h")) * 3600 * 10**9]
        assert pairs(found) == exact


def test_distances_of_times(random):
    times = np.array(["2020-01-01", "2020-01-05", "NaT"], "M8[s]")
    found = raydex.join_range(times, times, distance=(datetime.timedelta(0), datetime.timedelta(days=4)))
    assert pairs(found) == [(0, 0), (0, 1), (1, 1)]
    found = raydex.join_range(times, times, distance=(np.timedelta64(4, "D"), -1), by=([1, 1, 1], [1, 1, 1]))
    assert pairs(found) == [(1, 0)]
    first = np.array([np.iinfo("i8").min + 1, np.iinfo("i8").max]).view("M8[ns]")  # beyond which is NaT
    found = raydex.join_range(first, first, distance=(np.timedelta64(1, "D"), 0))
    assert pairs(found) == [(0, 0), (1, 1)]


def test_frames_and_dictionaries_as_keys(random):
    build, probe = sides(random, "int64", "strings", holes=0)
    expected = by_duckdb(build, probe, "inner", intervals("b.a", "b.b", "p.a", "p.b", "overlaps", "left") +
                         " and b.g = p.g")

    def found(build_columns, probe_columns, by):
        return pairs(raydex.join_intervals(build_columns, probe_columns, closed="left", by=by))

    frames = build.to_pandas(), probe.to_pandas()
    ends = [(one["a"], one["b"]) for one in frames]
    assert found(*ends, tuple(one[["g"]] for one in frames)) == expected
    assert found(*ends, tuple(one["g"].astype("category") for one in frames)) == expected
    assert found(*ends, tuple(one["g"].dictionary_encode() for one in (build, probe))) == expected
    polars = [pl.from_arrow(one) for one in (build, probe)]
    assert found(*((one["a"], one["b"]) for one in polars), tuple(one.select("g") for one in polars)) == expected


def test_short_strings_are_values():
    found = raydex.join_intervals((["a", "mn"], ["f", None]), (["b", "zzz"], ["c", "zzzz"]), missing="unbounded")
    assert pairs(found) == [(0, 0), (1, 1)]
    assert pairs(raydex.join_where((["a", "b"], [1, 2]), (["b", "b"], [1, 3]), ("<", "<="))) == [(0, 0), (1, 0)]


def test_rows_are_ordered():
    build = [5, 1, 3, 3], [9, 9, 9, 4]
    assert raydex.join_intervals(build, ([0, 0], [9, 9])).build.tolist() == [1, 2, 3, 0] * 2
    assert raydex.join_intervals(build, ([0], [9]), relation="within").build.tolist() == [3, 0, 1, 2]
    assert raydex.join_where(build, ([9], [9]), ("<", "<=")).build.tolist() == [1, 2, 3, 0]
    assert raydex.join_where(build, ([1], [9]), (">", "<=")).build.tolist() == [0, 2, 3]
    by = [0, 0, 0, 0], [0]
    assert raydex.join_range(build[0], [9], compare="<", by=by).build.tolist() == [1, 2, 3, 0]


def test_lazy_ones(random):
    build, probe = sides(random, "int64", "strings")
    ends = (build["a"], build["b"]), (probe["a"], probe["b"])
    by = (build["g"], probe["g"])
    for call in (
        lambda **said: raydex.join_range(build["a"], probe["a"], compare="<", by=by, **said),
        lambda **said: raydex.join_intervals(*ends, by=by, **said),
        lambda **said: raydex.join_where(*ends, ("<", "<"), by=by, **said),
    ):
        whole = call()
        with call(lazy=True, dtype="int32") as found:
            assert len(found) == len(whole.probe) > 100
            np.testing.assert_array_equal(found.counts(), np.bincount(whole.probe, minlength=len(probe)))
            chunks = list(found.chunks(77))
            for side in range(2):
                cells = np.concatenate([one[side] for one in chunks])
                assert cells.dtype == np.int32
                np.testing.assert_array_equal(cells, whole[side])


@pytest.mark.parametrize("sizes", [(0, 3), (3, 0), (0, 0)])
def test_empty_tables(sizes):
    build, probe = (np.zeros(size) for size in sizes)
    by = build.astype("int64"), probe.astype("int64")
    for found in (
        raydex.join_range(build, probe, "left", compare="<=", by=by),
        raydex.join_intervals((build, build), (probe, probe), "left", by=by),
        raydex.join_where((build, build), (probe, probe), ("<=", ">="), "left", by=by),
    ):
        assert pairs(found) == [(row, -1) for row in range(sizes[1])]


def test_refusals():
    one = np.array([1])
    for call, text in (
        (lambda: raydex.join_range(one, one, distance=1, closed="left"), "closed: it goes with build_upper"),
        (lambda: raydex.join_range(one, one, build_upper=one, closed="open"), "closed: 'open' is none of both, left"),
        (lambda: raydex.join_range(one, one, distance=1, by=(one, one), structure="btree"), "structure: intervals"),
        (lambda: raydex.join_range(one, one, distance=1, by=one), r"by: give \(build_by, probe_by\)"),
        (lambda: raydex.join_range(one, one, distance=1, build_by=one), "build_by: it is given with probe_by"),
        (lambda: raydex.join_range(one, one, distance=-1, by=(one, one)), "distance: -1"),
        (lambda: raydex.join_range(one, one, distance=(1, 0.5)), "distance: 0.5; of integers it must be a whole"),
        (lambda: raydex.join_range(one / 1, one / 1, distance=(1, np.nan)), "distance: NaN is none"),
        (lambda: raydex.join_intervals((one, one), (one, one), relation="during"), "relation: 'during' is none of"),
        (lambda: raydex.join_intervals((one, one), one, relation="within"), "'within' is of intervals, and probe are"),
        (lambda: raydex.join_intervals((one, one), one, missing="all"), "missing: 'all' is none of unmatched"),
        (lambda: raydex.join_intervals(one, one), r"build: give a pair of columns, \(lower, upper\)"),
        (lambda: raydex.join_intervals((1, 2), one), "build: give a pair of columns"),
        (lambda: raydex.join_intervals((one, one), (one, one), closed="open"), "closed: 'open' is none of both, left"),
        (lambda: raydex.join_intervals((one, np.array([1, 2])), one), "1 lower ends of int64, but 2 upper"),
        (lambda: raydex.join_where((one, one), (one, one), "<"), "compare: '<' are no two comparisons"),
        (lambda: raydex.join_where((one, one), (one, one), ("<", "==")), "compare: '==' is none of"),
        (lambda: raydex.join_where((one, one), one, ("<", "<")), r"probe: give a pair of columns, \(x, y\)"),
        (lambda: raydex.join_where((one, one), (one, one), ("<", "<"), "each"), "how: 'each' is none of"),
    ):
        with pytest.raises(ValueError, match=text):
            call()
    for call, text in (
        (lambda: raydex.join_range(["a"], ["b"], distance=(1, 1)), "distance: 1 is no distance of"),
        (lambda: raydex.join_range(one, one, distance=(None, 1)), "distance: None is no distance of int64"),
        (lambda: raydex.join_intervals((["a" * 9], ["b"]), ["c"]), "strings of any length have no order here"),
        (lambda: raydex.join_where((one, ["long one here"]), (one, ["b"]), ("<", "<")), "no order here"),
        (lambda: raydex.join_intervals((one, one), (["a"], ["b"])), "no key type has the values of both"),
    ):
        with pytest.raises(TypeError, match=text):
            call()
