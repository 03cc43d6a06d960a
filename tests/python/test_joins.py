# SPDX-License-Identifier: Apache-2.0
"""Joins against pandas and DuckDB."""

import datetime

import array_libraries
import numpy as np
import pytest
import raydex
from join_oracle import KINDS, by_duckdb, pairs

pa = pytest.importorskip("pyarrow")
pd = pytest.importorskip("pandas")
pytest.importorskip("duckdb")
pl = pytest.importorskip("polars")

EQUAL_KINDS = ("inner", "left", "right", "full", "semi", "anti")

with_arrow = pytest.mark.parametrize("library", array_libraries.WITH_ARROW, indirect=True, ids=lambda one: one.name)


@pytest.fixture
def tables(random):
    def table(rows):
        holes = random.random(rows) < 0.1
        return pa.table({
            "i": pa.array(random.integers(0, 60, rows), pa.int64(), mask=holes),
            "n": pa.array(random.integers(0, 8, rows).astype("int32")),
            "f": pa.array(random.integers(0, 20, rows) / 2.0),
            "d": pa.array(random.integers(0, 30, rows).astype("int32")).cast(pa.date32()),
            "s": pa.array([f"{i:05d} of many" if i % 3 else "x" * (i % 5) for i in random.integers(0, 40, rows)],
                          mask=holes),
        })

    return table(300), table(400)


columns_of_tables = pytest.mark.parametrize("names", ["i", "f", "d", "s", "i,n", "n,f", "s,n", "n,s,i", "d,n,f"])


@pytest.mark.parametrize("how", EQUAL_KINDS)
@columns_of_tables
@with_arrow
def test_equal_keys(library, tables, how, names):
    build, probe = tables
    names = names.split(",")
    expected = by_duckdb(build, probe, how, " and ".join(f"b.{name} = p.{name}" for name in names))
    if len(names) == 1:
        assert pairs(library.join(build[names[0]], probe[names[0]], how)) == expected
    assert pairs(library.join([build[name] for name in names], tuple(probe[name] for name in names), how)) == expected
    backwards = {name: probe[name] for name in reversed(names)}
    assert pairs(library.join({name: build[name] for name in names}, backwards, how)) == expected


@pytest.mark.parametrize("how", EQUAL_KINDS)
@columns_of_tables
def test_tables(tables, how, names):
    pl = pytest.importorskip("polars")
    names = names.split(",")
    expected = by_duckdb(*tables, how, " and ".join(f"b.{name} = p.{name}" for name in names))
    chosen = [table.select(names) for table in tables]
    assert pairs(raydex.join(*chosen, how)) == expected
    assert pairs(raydex.join(*map(pl.from_arrow, chosen), how)) == expected


@pytest.mark.parametrize("how", EQUAL_KINDS)
@pytest.mark.parametrize("names", ["k", "k,n", "n,f", "f,n,k"])
def test_equal_keys_of_arrays(library, random, how, names):
    names = names.split(",")
    build, probe = (
        {"k": random.integers(0, 60, rows), "n": random.integers(0, 8, rows).astype("int32"),
         "f": random.integers(0, 20, rows).astype("float32")} for rows in (300, 400))
    frames = pd.DataFrame(build), pd.DataFrame(probe)
    expected = by_duckdb(*frames, how, " and ".join(f"b.{name} = p.{name}" for name in names))
    assert pairs(library.join([build[name] for name in names], [probe[name] for name in names], how)) == expected


@pytest.mark.parametrize("how", EQUAL_KINDS)
@with_arrow
def test_missing_values_that_are_equal(library, tables, how):
    build, probe = tables
    expected = by_duckdb(build, probe, how, "b.i is not distinct from p.i and b.s is not distinct from p.s")
    found = library.join([build["i"], build["s"]], [probe["i"], probe["s"]], how, missing_equal=True)
    assert pairs(found) == expected


def test_inner_joins_as_in_pandas(library, random):
    build = pd.DataFrame({"k": random.integers(0, 50, 200), "v": random.integers(0, 3, 200).astype("float64")})
    probe = pd.DataFrame({"k": random.integers(0, 50, 300), "v": random.integers(0, 3, 300).astype("float64")})
    build.loc[3, "v"] = probe.loc[5, "v"] = np.nan  # which pandas joins
    found = library.join(build, probe)
    merged = probe.reset_index().merge(build.reset_index(), on=["k", "v"], suffixes=("_probe", "_build"))
    assert pairs(found) == sorted(zip(merged["index_probe"], merged["index_build"]))
    assert list(found.probe) == sorted(found.probe)


ROWS_OF_KEYS = {
    "int64": lambda numbers: numbers,
    "int32": lambda numbers: numbers.astype("int32"),
    "float64": lambda numbers: np.where(numbers % 7 == 3, np.nan, numbers / 2),
    "strings": lambda numbers: np.array([f"{i} " * (i % 9) for i in numbers.tolist()], object),
}


@pytest.mark.parametrize("dtypes", [["int64"], ["int32"], ["float64"], ["strings"], ["int32", "int32"],
                                    ["int64", "float64"], ["strings", "int32"]], ids="-".join)
def test_right_and_full_joins_at_random(random, dtypes):
    for sizes in [(0, 0), (0, 20), (20, 0), (1, 1), (1, 1100), (1100, 1), (300, 900), (900, 300)]:
        different = int(random.choice([9, 100, 2000]))
        tables = [
            {f"c{i}": pa.array(ROWS_OF_KEYS[dtype](random.integers(0, different, size)),
                               pa.string() if dtype == "strings" else None, mask=random.random(size) < share)
             for i, dtype in enumerate(dtypes)}
            for size, share in zip(sizes, random.choice([0, 0.1, 0.9], 2))]
        build, probe = (pl.DataFrame(table, schema=list(table)).with_row_index("row") for table in tables)
        for how, missing_equal in [("right", False), ("right", True), ("full", False), ("full", True)]:
            found = raydex.join(*tables, how, missing_equal=missing_equal)
            merged = probe.join(build, on=list(tables[0]), how=how, nulls_equal=missing_equal, coalesce=False)
            rows = merged.select(pl.col("row", "row_right").cast(pl.Int64).fill_null(-1)).rows()
            assert pairs(found) == sorted(rows)
            # First in the order of probe rows, then in that of build rows.
            matched = found.probe >= 0
            assert (np.diff(found.probe[matched]) >= 0).all() and not (np.diff(matched.astype(int)) > 0).any()
            assert (np.diff(found.build[~matched]) > 0).all()


@pytest.mark.parametrize("how", ["right", "outer"])
def test_rows_of_right_and_full_joins_as_in_pandas(random, how):
    # NaN equals NaN, in pandas, too.
    build, probe = (
        pd.DataFrame({"k": random.choice([np.nan, *range(40)], rows), "v": random.random(rows)}) for rows in (60, 90))
    found = raydex.join(build["k"].to_numpy(), probe["k"].to_numpy(), how)
    merged = probe.merge(build, on="k", how=how)
    sides = [found.take(probe=probe), found.take(build=build)]
    keys = [side["k"] for side in sides]
    joined = pd.DataFrame({"k": keys[0].where(found.probe >= 0, keys[1]), "v_x": sides[0]["v"], "v_y": sides[1]["v"]})
    in_order = [one.sort_values(["v_x", "v_y"], ignore_index=True) for one in (joined, merged)]
    pd.testing.assert_frame_equal(*in_order)


def check_two_dtypes(library, values, types):
    build, probe = np.array(values, types[0]), np.array(values, types[0]).astype(types[1])
    expected = sorted((p, b) for p in range(3) for b in range(3) if values[p] == values[b])
    assert pairs(library.join(build, probe)) == expected
    assert pairs(library.join(probe, build)) == expected


@pytest.mark.parametrize("types", [("int8", "int64"), ("uint32", "int64"), ("int32", "uint32"), ("int32", "float64"),
                                   ("float32", "float64"), ("uint8", "int16"), ("bool", "int32")])
def test_columns_of_two_dtypes(library, types):
    check_two_dtypes(library, [1, 0, 1], types)


def test_columns_of_two_units_and_lengths():
    check_two_dtypes(raydex, np.array([5, 1, 9], "datetime64[s]"), ("datetime64[s]", "datetime64[ms]"))
    check_two_dtypes(raydex, [b"abc", b"x", b"ab"], ("S3", "S5"))


def test_columns_that_have_no_type_in_common():
    with pytest.raises(TypeError, match="it is of strings, but build of int64"):
        raydex.join(np.array([1]), pa.array(["a"]))
    with pytest.raises(ValueError, match="probe: 2 columns, but the key of the build side has 1"):
        raydex.join(np.array([1]), [np.array([1]), np.array([1])])
    with pytest.raises(ValueError, match="its columns are b, but those of the build side a"):
        raydex.join({"a": np.array([1])}, {"b": np.array([1])})
    with pytest.raises(ValueError, match="how: 'cross' is none of inner, left, right, full, outer, semi, anti"):
        raydex.join(np.array([1]), np.array([1]), "cross")
    with pytest.raises(ValueError, match="columns of"):
        raydex.join([np.array([1]), np.array([1, 2])], [np.array([1]), np.array([1])])


@pytest.mark.parametrize("how", KINDS)
@pytest.mark.parametrize("structure", ["auto", "pivot_tree", "hash_open", "rx"])
def test_structures_and_indexes(library, random, how, structure):
    library.needs(structure)
    build, probe = random.integers(0, 60, 200), random.integers(0, 80, 300)
    expected = by_duckdb(pd.DataFrame({"k": build}), pd.DataFrame({"k": probe}), how, "b.k = p.k")
    assert pairs(library.join(build, probe, how, structure=structure)) == expected
    index = library.build(build, structure)
    assert pairs(library.join(index, probe, how)) == expected
    for other in ("right", "full", "outer"):
        with pytest.raises(raydex.Unsupported, match=f"how: '{other}', but build is an index"):
            library.join(index, probe, other)
    index.erase(build)
    assert all(row < 0 for _, row in pairs(library.join(index, probe, "left")))
    index.close()
    with pytest.raises(ValueError, match="it is closed"):
        library.join(index, probe)


@pytest.mark.parametrize("structure", ["auto", "hash_open", "hash_bucket"])
def test_seeds_of_hashes(random, structure):
    words = np.array(["abcdefghijkl", "abcdefghijklm", "n", ""], object)
    tables = [(words[random.integers(0, 4, n)].tolist(), random.integers(0, 9, n)) for n in (200, 300)]
    expected = pairs(raydex.join(*tables))
    for seed in (0, np.uint32(7), 2**32 - 1):
        assert pairs(raydex.join(*tables, structure=structure, seed=seed)) == expected
        assert pairs(raydex.join(tables[0][1], tables[1][1], structure=structure, seed=seed)) == (
            pairs(raydex.join(tables[0][1], tables[1][1])))
    for seed in (-1, 2**32):
        with pytest.raises(ValueError, match=f"seed: {seed}; legal are 0 to 4294967295"):
            raydex.join(*tables, seed=seed)
    with pytest.raises(TypeError, match="seed: 1.5 is no whole number"):
        raydex.join(*tables, seed=1.5)


@pytest.mark.parametrize("said", [
    {"seed": 0}, {"missing_equal": True}, {"structure": "hash_open"}, {"device": "cuda"},
    {"device": "cpu:1", "search": "lines"}, {"search": "lines"}, {"stream": 3},
], ids=str)
def test_what_an_index_cannot_be_told_anew(said):
    index = raydex.build([1, 2])
    assert pairs(raydex.join(index, [2], device="cpu", structure=index.info.structure)) == [(0, 1)]
    with pytest.raises(ValueError, match=next(iter(said)) if "search" not in said else "search|device"):
        raydex.join(index, [2], **said)


@pytest.mark.parametrize("kind", ["string", "large_string", "binary", "string_view"])
def test_every_layout_of_strings(random, kind):
    letters = [None if random.random() < 0.2 else "abcdefghijklmnopqrst"[: random.integers(0, 20)] for _ in range(90)]
    build = pa.array(letters).cast(kind)
    for probe in (build.slice(3, 50), pa.chunked_array([build.slice(5, 9), build.slice(40)])):
        values = probe.to_pylist()
        expected = sorted(
            (p, b) for p, value in enumerate(values) for b, other in enumerate(build.to_pylist())
            if value is not None and value == other)
        assert pairs(raydex.join(build, probe)) == expected
    same = raydex.join(build, build.slice(7), "left", missing_equal=True)
    assert (same.build >= 0).all()


def test_empty_tables(library):
    nothing, some = np.empty(0, "int64"), np.array([1, 2])
    assert pairs(library.join(nothing, some)) == [] == pairs(library.join(some, nothing))
    assert pairs(library.join(nothing, some, "left")) == [(0, -1), (1, -1)]


def test_arrays_of_no_cells_have_no_type(random):
    """`np.array([])` has floats, whatever was meant; what was asked for is another type."""
    days = np.array(["2020-01-01", "2020-01-02"], "M8[D]")
    for some in (np.array([1, 2]), np.array([0.5, 1]), days, ["ab", "c"], ["ab", "longer than eight bytes"],
                 [b"\0" * 16, b"a" * 16]):
        nothing = np.array([])
        assert pairs(raydex.join(nothing, some, "left")) == [(0, -1), (1, -1)]
        assert pairs(raydex.join(some, nothing, "right")) == [(-1, 0), (-1, 1)]
        assert len(raydex.build(some).first(nothing)) == 0
        assert pairs(raydex.join([nothing, nothing], [some, [1, 2]], "anti")) == [(0, -2), (1, -2)]
    # The type of four columns, which is found column by column, is that of the floats, which have cells.
    floats, integers = (np.array([0.25, 0.5]), np.array([1.5, 2.5])), (np.array([2, 3], "i4"),) * 2
    assert pairs(raydex.join_intervals(floats, integers)) == [(0, 1)]
    assert raydex.join_asof(nothing, days).tolist() == [-1, -1]
    assert raydex.join_asof(days, nothing).tolist() == []
    # Floats beside integers are what they say, as in Polars and Arrow, where null is the type of no cells.
    integers = pa.array([1, 2], pa.int32())
    assert raydex.join_asof(integers, nothing, tolerance=0.5).tolist() == []
    assert raydex.join_asof(nothing, integers, tolerance=0.5).tolist() == [-1, -1]
    for typed in (np.array([], "int32"), pa.array([], pa.float64()), pl.Series([], dtype=pl.Float64)):
        with pytest.raises(raydex.InvalidType, match="int32|float64"):
            raydex.join(typed, ["ab"])


def test_a_column_of_no_strings():
    assert pairs(raydex.join(pa.array([], pa.string()), pa.array(["a"]), "anti")) == [(0, -2)]


@pytest.mark.parametrize("direction", ["backward", "forward", "nearest"])
@pytest.mark.parametrize("exact", [True, False])
@pytest.mark.parametrize("tolerance", [None, 7])
@pytest.mark.parametrize("keyed", [False, True])
def test_as_of(library, random, direction, exact, tolerance, keyed):
    # Without equal times: pandas takes their last row and raydex the first.
    build = pd.DataFrame({"t": np.sort(random.permutation(900)[:200]), "g": random.integers(0, 4, 200)})
    probe = pd.DataFrame({"t": np.sort(random.integers(0, 900, 300)), "g": random.integers(0, 4, 300)})
    merged = pd.merge_asof(
        probe, build.assign(row=np.arange(200)), on="t", by="g" if keyed else None, direction=direction,
        allow_exact_matches=exact, tolerance=tolerance)
    by = (build["g"], probe["g"]) if keyed else None
    found = library.join_asof(build["t"], probe["t"], by=by, direction=direction, allow_exact_matches=exact,
                            tolerance=tolerance)
    assert found.dtype == np.int64
    if direction == "nearest":  # equally close rows: the distance decides
        distance = np.where(found >= 0, abs(build["t"].to_numpy()[found] - probe["t"]), -1)
        rows = merged["row"].fillna(-1).astype("int64")
        expected = np.where(rows >= 0, abs(build["t"].to_numpy()[rows] - probe["t"]), -1)
        np.testing.assert_array_equal(distance, expected)
    else:
        np.testing.assert_array_equal(found, merged["row"].fillna(-1))


# Keys and times by what they span: in 32 bits, in 64, and not at all.
AS_OF_KEYS = {
    "dense": lambda number: number,
    "negative": lambda number: -3 * number,
    "sparse": lambda number: number * 10**18 - 4 * 10**18,
    "extreme": lambda number: np.where(number % 2 == 0, -(2**63) + number, 2**63 - 1 - number),
    "strings": lambda number: [f"key {i}" * (1 + i % 3) for i in number],
    "two": lambda number: {"a": number // 3 - 1, "b": (number % 3).astype("int16")},
    "number and string": lambda number: {"a": number // 3 + 10**17, "b": [f"{i}" for i in number % 3]},
}
AS_OF_TIMES = {
    "days": lambda number: (number + 20000).astype("int32"),
    "nanoseconds": lambda number: number * 10**13 + 1_600_000_000 * 10**9,
    "extreme": lambda number: np.where(number % 2 == 0, -(2**63) + number, 2**63 - 1 - number),
    "floating": lambda number: number / 7 - 10,
}


@pytest.mark.parametrize("times", AS_OF_TIMES)
@pytest.mark.parametrize("keys", AS_OF_KEYS)
def test_as_of_by_what_columns_span(random, keys, times):
    build, probe = {}, {}
    for side, rows in ((build, 400), (probe, 500)):
        side["n"] = random.integers(0, 9 if side is build else 12, rows)
        side["t"] = AS_OF_TIMES[times](random.integers(0, 90, rows) + (0 if side is build else random.integers(-9, 9)))
    for order in ("as it is", "by time"):
        if order == "by time":
            for side in (build, probe):
                at = np.argsort(side["t"], kind="stable")
                side["n"], side["t"] = side["n"][at], side["t"][at]
        frames = [pd.DataFrame({"t": side["t"], "n": side["n"]}).sort_values("t", kind="stable")
                  for side in (build, probe)]
        by = tuple(AS_OF_KEYS[keys](side["n"]) for side in (build, probe))
        for direction in ("backward", "forward"):
            for exact in (True, False):
                merged = pd.merge_asof(
                    frames[1].reset_index(names="i"), frames[0].reset_index(names="row"), on="t", by="n",
                    direction=direction, allow_exact_matches=exact)
                expected = merged.sort_values("i")["row"].fillna(-1)
                found = raydex.join_asof(build["t"], probe["t"], by=by, direction=direction,
                                         allow_exact_matches=exact)
                np.testing.assert_array_equal(found, expected)
            merged = pl.from_pandas(frames[1].reset_index(names="i")).join_asof(
                pl.from_pandas(frames[0].reset_index(names="row")), on="t", by="n",
                strategy=direction, check_sortedness=False)
            found = raydex.join_asof(build["t"], probe["t"], by=by, direction=direction)
            np.testing.assert_array_equal(found, merged.sort("i")["row"].cast(pl.Int64).fill_null(-1))


def test_as_of_by_keys_with_missing_cells(random):
    # A row without its key or its time is as one that is not there.
    def side(rows):
        holes = [random.random(rows) < 0.2 for _ in "kt"]
        keys, times = random.integers(0, 5, rows), random.integers(0, 60, rows)
        return pa.array(keys, mask=holes[0]), pa.array(times, mask=holes[1]), ~(holes[0] | holes[1]), keys, times

    build, probe = side(300), side(300)
    for strings in (False, True):
        by = tuple(one[0].cast(pa.string()) if strings else one[0] for one in (build, probe))
        found = raydex.join_asof(build[1], probe[1], by=by)
        rows = [np.flatnonzero(one[2]) for one in (build, probe)]
        expected = np.full(300, -1)
        there = raydex.join_asof(build[4][rows[0]], probe[4][rows[1]], by=(build[3][rows[0]], probe[3][rows[1]]))
        expected[rows[1]] = np.where(there < 0, -1, rows[0][there])
        assert expected.max() >= 0
        np.testing.assert_array_equal(found, expected)


@with_arrow
def test_as_of_times_and_strings(library):
    quotes = pa.table({"t": pa.array([1, 5, 3], pa.timestamp("ms")), "s": ["ab", "ab", "long name of one"]})
    trades = pa.table({"t": pa.array([4, 4, 9], pa.timestamp("ms")), "s": ["ab", "long name of one", "none"]})
    by = (quotes["s"], trades["s"])
    assert library.join_asof(quotes["t"], trades["t"], by=by).tolist() == [0, 2, -1]
    found = library.join_asof(quotes["t"], trades["t"], build_by=by[0], probe_by=by[1],
                            tolerance=datetime.timedelta(milliseconds=2))
    assert found.tolist() == [-1, 2, -1]


def test_as_of_columns_that_are_not_sorted(library):
    unsorted = library.join_asof(np.array([5.0, 1.0]), np.array([2.0, 7.0]), direction="forward")
    assert unsorted.tolist() == [0, -1]


def test_refusals_of_as_of():
    with pytest.raises(ValueError, match="direction: 'back' is none of backward, forward, nearest"):
        raydex.join_asof([1], [1], direction="back")
    with pytest.raises(TypeError, match="tolerance: 'far' is no distance of int64"):
        raydex.join_asof([1], [1], tolerance="far")
    with pytest.raises(ValueError, match="build_by: it is given with probe_by"):
        raydex.join_asof([1], [1], build_by=[1])


@pytest.mark.parametrize("how", KINDS)
def test_ranges(library, random, how):
    low, point = random.integers(0, 90, 80), random.integers(0, 100, 90)
    build = pd.DataFrame({"k": low, "u": low + random.integers(-2, 6, 80)})
    probe = pd.DataFrame({"k": point, "u": point + random.integers(-2, 6, 90)})

    def check(found, condition):
        assert pairs(found) == by_duckdb(build, probe, how, condition)

    check(library.join_range(build["k"], probe["k"], how, distance=3), "abs(b.k - p.k) <= 3")
    halves = [table["k"].astype("float64") for table in (build, probe)]
    check(library.join_range(*halves, how, distance=2.5), "abs(b.k - p.k) <= 2.5")
    for sign in ("<", "<=", ">", ">="):
        check(library.join_range(build["k"], probe["k"], how, compare=sign), f"b.k {sign} p.k")
    check(library.join_range(build["k"], probe["k"], how, build_upper=build["u"]), "p.k between b.k and b.u")
    check(library.join_range(build["k"], probe["k"], how, probe_upper=probe["u"]), "b.k between p.k and p.u")


@with_arrow
def test_ranges_of_times(library):
    times = np.array(["2020-01-01", "2020-01-05"], "datetime64[s]")
    found = library.join_range(times, times[:1], distance=datetime.timedelta(days=4))
    assert pairs(found) == [(0, 0), (0, 1)]


def test_refusals_of_ranges():
    for how in ("right", "full", "outer"):
        with pytest.raises(ValueError, match="so have right and full joins"):
            raydex.join_range([1], [1], how, distance=1, structure="btree")
    with pytest.raises(ValueError, match="nothing is given; give one of distance"):
        raydex.join_range([1], [1])
    with pytest.raises(ValueError, match="distance, compare is given"):
        raydex.join_range([1], [1], distance=1, compare="<")
    with pytest.raises(ValueError, match="compare: '!=' is none of"):
        raydex.join_range([1], [1], compare="!=")
    with pytest.raises(ValueError, match="distance: -1"):
        raydex.join_range([1], [1], distance=-1)
    with pytest.raises(TypeError, match="strings of any length have no order here"):
        raydex.join_range(pa.array(["a"]), pa.array(["b"]), compare="<")


@with_arrow
def test_a_tolerance_that_units_cannot_hold(library):
    times = np.array(["1980-01-01", "2200-01-01"], "datetime64[ns]")
    far = np.timedelta64(10**12, "D")
    for span in (far, datetime.timedelta(days=200_000), datetime.timedelta(days=900_000_000)):
        assert library.join_asof(times[:1], times[1:], tolerance=span).tolist() == [0]
    assert library.join_asof(times[:1], times[1:], tolerance=np.timedelta64(300, "W")).tolist() == [-1]
    with pytest.raises(ValueError, match="tolerance"):
        library.join_asof(times[:1], times[1:], tolerance=-far)


def test_the_last_of_equal_times_before_and_the_first_after(library):
    times, points = np.array([1, 1, 2, 2, 2]), np.array([1, 2, 3, 0])
    assert library.join_asof(times, points).tolist() == [1, 4, 4, -1]
    assert library.join_asof(times, points, direction="forward").tolist() == [0, 2, -1, 0]
    assert library.join_asof(times, points, direction="nearest").tolist() == [1, 4, 4, 0]
    by = np.array([1, 1, 2, 1, 2]), np.array([1, 1, 2, 2])
    assert library.join_asof(times, points, by=by, allow_exact_matches=False).tolist() == [-1, 1, 4, -1]


@pytest.mark.parametrize("direction", ["backward", "forward", "nearest"])
@pytest.mark.parametrize("kind", ["int64", "uint64", "int32", "float64", "times", "units", "far"])
def test_a_tolerance_a_row(random, kind, direction):
    """As each of them would have it for its row alone."""
    def column(rows, first):
        numbers = random.integers(0, 60, rows)
        if kind == "float64":
            return np.where(numbers < 3, [np.inf, -np.inf, np.nan][first], numbers / 4)
        if kind in ("times", "units"):
            return numbers.astype("M8[s]") if first or kind == "times" else (numbers * 1000).astype("M8[ms]")
        if kind == "far":  # beyond what 64 bits hold in one unit
            days = np.where(numbers % 2 == 0, numbers * 10**5, -numbers * 10**5)
            return days.astype("M8[D]") if first else numbers.astype("M8[ns]")
        return (numbers * (10**17 if kind.endswith("64") else 1)).astype(kind)

    build, probe = column(80, 0), column(90, 1)
    tolerance = random.integers(0, 9, 90)
    if kind == "float64":
        tolerance = np.where(tolerance == 0, np.inf, tolerance / 8)
    elif kind in ("times", "units", "far"):
        tolerance = (tolerance * (1 if kind != "far" else 10**5)).astype("m8[s]" if kind != "far" else "m8[D]")
    elif kind.endswith("64"):
        tolerance = tolerance * 10**17 - (tolerance > 0)
    by = random.integers(0, 3, 80), random.integers(0, 3, 90)
    found = raydex.join_asof(build, probe, by=by, direction=direction, tolerance=tolerance)
    for row in range(90):
        one = slice(row, row + 1)
        alone = raydex.join_asof(build, probe[one], by=(by[0], by[1][one]), direction=direction,
                                 tolerance=tolerance[row])
        assert found[row] == alone[0]
    if tolerance.dtype.kind == "i":
        holes = random.random(90) < 0.3
        missing = raydex.join_asof(build, probe, by=by, direction=direction, tolerance=pa.array(tolerance, mask=holes))
        np.testing.assert_array_equal(missing, np.where(holes, -1, found))


def test_refusals_of_tolerances():
    for tolerance, error, text in (
        ([1, 2], ValueError, "tolerance: 2 of them for 1 probe rows"),
        ([-1], ValueError, "tolerance: some are less than 0, or NaN"),
        ([0.5], TypeError, "tolerance: cells of float64 are no distances of int64"),
        (np.array([1], "m8[s]"), TypeError, "are no distances of int64"),
    ):
        with pytest.raises(error, match=text):
            raydex.join_asof([1], [1], tolerance=tolerance)
    with pytest.raises(ValueError, match="or NaN"):
        raydex.join_asof([1.0], [1.0], tolerance=[np.nan])
    with pytest.raises(TypeError, match="no distances of"):
        raydex.join_asof(np.array([1], "M8[s]"), np.array([1], "M8[s]"), tolerance=np.array([1], "m8[Y]"))


def test_as_of_keys_in_lists():
    by = (["a", "a", "b", "a", "b"], ["a", "a", "b", "b"])
    found = raydex.join_asof([1, 1, 2, 2, 2], [1, 2, 3, 0], by=by, allow_exact_matches=False)
    assert found.tolist() == [-1, 1, 4, -1]


@pytest.mark.parametrize("copies", [1, 16, 1000])
@pytest.mark.parametrize("missing_equal", [False, True])
def test_few_probes_of_hashed_keys(random, copies, missing_equal):
    def frame(rows):
        number = random.integers(0, 3 * 40_000 // copies, rows)
        texts = [f"{n:x}" * (n % 9) for n in number]
        frame = pl.DataFrame({"i": number // 8, "j": number % 8 * 2**40, "s": texts})
        return frame.with_columns(
            pl.when(pl.Series(random.random(rows) < 0.95)).then(pl.col(name)).alias(name) for name in frame.columns)

    build, probe = frame(40_000), frame(10_000)
    for names in ("ij", "s", "ijs", "is"):
        for how in ("semi", "anti"):
            expected = probe.with_row_index().join(build, on=list(names), how=how, nulls_equal=missing_equal)
            for rows in (0, 1, 10_000):
                sides = [tuple(side[name] for name in names) for side in (build, probe[:rows])]
                found = raydex.join(*sides, how, missing_equal=missing_equal)
                assert found.probe.tolist() == sorted(i for i in expected["index"] if i < rows)


@pytest.mark.parametrize("how", ["inner", "left", "right", "full", "semi", "anti"])
def test_in_any_order(how, random):
    build, probe = random.integers(0, 40, 60), random.integers(0, 50, 80)
    found = raydex.join(build, probe, how, maintain_order=False)
    expected = raydex.join(build, probe, how, maintain_order=True)

    def rows(one):
        builds = np.zeros(len(one.probe)) if one.build is None else one.build
        return sorted(zip(one.probe.tolist(), builds.tolist()))

    assert rows(found) == rows(expected) == rows(raydex.join(build, probe, how))
    lazy = raydex.join(build, probe, how, maintain_order=False, lazy=True)
    np.testing.assert_array_equal(lazy.counts(), raydex.join(build, probe, how, lazy=True).counts())
    with pytest.raises(raydex.InvalidType, match="maintain_order: 'left' is neither True nor False"):
        raydex.join(build, probe, how, maintain_order="left")
