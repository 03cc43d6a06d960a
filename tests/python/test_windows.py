# SPDX-License-Identifier: Apache-2.0
"""Window joins against DuckDB, pandas and Polars."""

import datetime

import array_libraries
import numpy as np
import pytest
import raydex

pa = pytest.importorskip("pyarrow")
pd = pytest.importorskip("pandas")
duckdb = pytest.importorskip("duckdb")
pl = pytest.importorskip("polars")

ALL = ("sum", "mean", "count", "min", "max", "first", "last", "argmin", "argmax")
CLOSED = {"both": (">=", "<="), "left": (">=", "<"), "right": (">", "<="), "neither": (">", "<")}

with_arrow = pytest.mark.parametrize("library", array_libraries.WITH_ARROW, indirect=True, ids=lambda one: one.name)


def by_duckdb(build, probe, names, before, after, closed):
    """All aggregates of each probe row, None where there is none."""
    con = duckdb.connect()
    con.register("build_table", build)
    con.register("probe_table", probe)
    con.execute("create table b as select *, row_number() over () - 1 as br from build_table")
    con.execute("delete from b where v is null")
    con.execute("create table p as select *, row_number() over () - 1 as pr from probe_table")
    lower, upper = CLOSED[closed]
    keys = "".join(f" and b.{name} = p.{name}" for name in names)
    order = "order by b.t, br"
    return con.execute(
        f"select sum(v)::double, avg(v)::double, count(br), min(v), max(v), first(v {order}), last(v {order}), "
        "first(br order by v, b.t, br), first(br order by v desc, b.t, br) "
        f"from p left join b on b.t {lower} p.t - {before} and b.t {upper} p.t + {after} {keys} "
        "group by pr order by pr").fetchall()


def check(found, expected, values):
    assert list(found) == list(ALL)
    floating = values.dtype.kind == "f"
    ends = (np.nan, np.nan) if floating else (np.iinfo(values.dtype).max, np.iinfo(values.dtype).min)
    nothing = {"sum": 0, "mean": np.nan, "max": ends[1], "argmin": -1, "argmax": -1}
    for at, name in enumerate(ALL):
        wanted = [nothing.get(name, ends[0]) if row[at] is None else row[at] for row in expected]
        got = np.asarray(found[name])
        assert len(got) == len(wanted)
        if name == "mean":
            np.testing.assert_allclose(got, wanted, rtol=1e-14)
        else:
            np.testing.assert_array_equal(got, np.array(wanted, got.dtype), name)
    kind = {"i": np.int64, "u": np.uint64, "f": np.float64}[values.dtype.kind]
    assert np.asarray(found["sum"]).dtype == kind
    assert np.asarray(found["count"]).dtype == np.asarray(found["argmin"]).dtype == np.int64
    assert np.asarray(found["min"]).dtype == values.dtype


@pytest.mark.parametrize("span", [
    datetime.timedelta(milliseconds=1500), np.timedelta64(1500, "ms"), pd.Timedelta("1500ms"), np.array(1500, "m8[ms]"),
])
def test_windows_that_end_between_two_counts(span):
    """Over seconds, a window of 1500 ms has what is one second before it, whichever ends are open."""
    times = np.arange(4).view("M8[s]")
    for closed in CLOSED:
        asked = {"aggregate": "count", "closed": closed}
        own = closed in ("both", "right")
        assert raydex.rolling(times, window=span, **asked).tolist() == [own, own + 1, own + 1, own + 1]
        assert raydex.join_window(times, times, before=span, after=span, **asked).tolist() == [2, 3, 3, 2]
    for whole in (1, np.uint64(1), np.timedelta64(1, "s")):
        assert raydex.rolling(times, window=whole, aggregate="count").tolist() == [1, 1, 1, 1]


@pytest.mark.parametrize("closed", CLOSED)
@pytest.mark.parametrize("names", [(), ("n",), ("s",), ("s", "n"), ("w",)], ids=",".join)
@with_arrow
def test_all_aggregates_as_duckdb_has_them(library, random, names, closed):
    def table(rows):
        holes = [random.random(rows) < 0.1 for _ in range(3)]
        return pa.table({
            "t": pa.array(random.integers(-50, 200, rows), pa.int64(), mask=holes[0]),
            "n": pa.array(random.integers(0, 5, rows).astype("int32"), mask=holes[1]),
            "s": pa.array([f"{i:05d} of many" for i in random.integers(0, 4, rows)]),
            "w": pa.array(random.choice([-2**63, 5, 2**63 - 1], rows)),
            "v": pa.array(random.integers(0 if kind == "uint64" else -100, 100, rows).astype(kind), mask=holes[2]),
        })

    for kind in random.permutation(["int32", "uint64", "float64", "float32"])[:2]:
        build, probe = table(300), table(200).drop_columns(["v"])
        by = ([build[name] for name in names], [probe[name] for name in names]) if names else None
        for before, after in ((0, 0), (20, 5)):
            found = library.join_window(build["t"], probe["t"], build["v"], before=before, after=after, by=by,
                                        aggregate=ALL, closed=closed)
            check(found, by_duckdb(build, probe, names, before, after, closed), np.empty(0, kind))


@pytest.mark.parametrize("closed", CLOSED)
def test_rolling_as_in_pandas(random, closed):
    rows = 400
    times = pd.Timestamp("2024-03-01", tz="Europe/Berlin") + pd.to_timedelta(random.permutation(3000)[:rows], "s")
    frame = pd.DataFrame({"k": random.choice(list("abc"), rows), "t": times, "v": random.integers(-9, 9, rows)})
    ordered = frame.sort_values("t")
    for name in ("sum", "mean", "count", "min", "max", "first", "last"):
        grouped = ordered.groupby("k").rolling("2min", on="t", closed=closed, min_periods=0)["v"]
        if not hasattr(grouped, name):  # older ones have no first and last
            continue
        wanted = getattr(grouped, name)()
        rows_of = np.concatenate([ordered.index[ordered["k"] == key] for key in sorted(set(frame["k"]))])
        expected = pd.Series(wanted.to_numpy(), rows_of).sort_index().to_numpy()
        for window in (pd.Timedelta("2min"), datetime.timedelta(minutes=2), np.timedelta64(2, "m")):
            found = raydex.rolling(frame["t"], frame["v"], window=window, aggregate=name, by=frame["k"], closed=closed)
            there = ~np.isnan(expected)
            np.testing.assert_allclose(found[there], expected[there], rtol=1e-14, err_msg=name)
        counts = raydex.rolling(frame["t"], frame["v"], window=window, aggregate="count", by=frame["k"], closed=closed)
        assert ((counts == 0) <= (~there | (expected == 0))).all()


@pytest.mark.parametrize("closed", ["both", "left", "right", "none"])
def test_rolling_with_ties_as_in_polars(random, closed):
    frame = pl.DataFrame({
        "row": np.arange(500), "k": random.integers(0, 6, 500), "t": random.integers(0, 300, 500),
        "v": np.where(random.random(500) < 0.1, None, random.integers(0, 1000, 500) / 4).tolist(),
    }).with_columns(pl.col("v").cast(pl.Float64))  # fmt: skip
    value = pl.col("v")
    expected = (
        frame.sort("k", "t", maintain_order=True).rolling("t", period="25i", closed=closed, group_by="k")
        .agg(value.sum().alias("sum"), value.mean().alias("mean"), value.count().alias("count"),
             value.min().alias("min"), value.max().alias("max"), value.drop_nulls().first().alias("first"),
             value.drop_nulls().last().alias("last"))
    )  # fmt: skip
    rows = frame.sort("k", "t", maintain_order=True)["row"].to_numpy()
    names = ["sum", "mean", "count", "min", "max", "first", "last"]
    found = raydex.rolling(frame["t"], frame["v"], window=25, aggregate=names, by=frame["k"],
                           closed="neither" if closed == "none" else closed)
    for name in names:
        wanted = expected[name].cast(pl.Float64).fill_null(np.nan).to_numpy()
        np.testing.assert_allclose(found[name][rows], wanted, rtol=1e-14, err_msg=name)


def test_one_aggregate_is_an_array_and_several_are_a_dict(library):
    times, probes, values = np.array([1, 2, 4, 7]), np.array([2, 7, 100]), np.array([10, 20, 30, 40])
    assert library.join_window(times, probes, values, before=1, after=2).tolist() == [60, 40, 0]
    found = library.join_window(times, probes, values, before=1, after=2, aggregate=["argmax", "count"])
    assert {name: one.tolist() for name, one in found.items()} == {"argmax": [2, 3, -1], "count": [3, 1, 0]}
    assert library.join_window(times, probes, before=np.inf, aggregate="count").tolist() == [2, 4, 4]
    assert library.join_window(times[:0], probes, values[:0], before=5, aggregate="min").tolist() == [2**63 - 1] * 3
    assert library.join_window(times, probes[:0], values, before=5).tolist() == []
    assert library.rolling(times, values, window=2).tolist() == [10, 30, 30, 40]


def test_sums_of_integers_are_modulo_2_64(library):
    most = np.array([2**63 - 1, 2**63 - 1, 5])
    assert library.join_window(np.arange(3), np.array([2]), most, before=2).tolist() == [3]
    means = library.join_window(np.arange(3), np.array([2]), most, before=2, aggregate="mean")
    assert means.tolist() == [(2**64 + 3) / 3]


def test_times_of_several_units():
    build = np.array(["2024-01-01T00:00:00.000000001", "2024-01-01T00:00:01", "NaT"], "M8[ns]")
    probe = np.array(["2024-01-01T00:00:00", "2024-01-01T00:00:01"], "M8[s]")
    values = [1, 2, 4]
    second = np.timedelta64(1, "s")
    assert raydex.join_window(build, probe, values, before=0, after=second).tolist() == [3, 2]
    assert raydex.join_window(build, probe, values, before=0, after=second, closed="left").tolist() == [1, 2]
    assert raydex.join_window(build, probe, values, before=999_999_999).tolist() == [0, 3]
    assert raydex.join_window(build, probe, values, before=999_999_998).tolist() == [0, 2]


@pytest.mark.parametrize("closed", CLOSED)
def test_times_that_64_bits_do_not_hold_in_one_unit(random, closed):
    seconds = np.concatenate([random.integers(-5, 5, 40), random.integers(-2**62, 2**62, 40), [2**63 - 1, -2**63 + 1]])
    build, probe = seconds.astype("M8[s]"), random.integers(-5 * 10**9, 5 * 10**9, 60).astype("M8[ns]")
    exact = [10**9 * one for one in seconds.tolist()]
    for before, after in ((0, 10**9), (3 * 10**9, 10**9), (2 * 10**9 + 1, 2**90), (np.inf, 0)):
        expected = []
        for one in probe.astype("i8").tolist():
            lower, upper = CLOSED[closed]
            expected.append(sum(
                row for row, time in enumerate(exact)
                if (time > one - before or (lower == ">=" and time == one - before))
                and (time < one + after or (upper == "<=" and time == one + after))))  # fmt: skip
        found = raydex.join_window(build, probe, np.arange(82), before=before, after=after, closed=closed)
        assert found.tolist() == expected


def test_values_that_are_times():
    days = np.array(["2024-01-03", "2024-01-01", "NaT", "2024-01-02"], "M8[D]")
    found = raydex.join_window([1, 2, 3, 4], [2, 4, 9], days, before=1, aggregate=["min", "max", "last", "count"])
    assert found["min"].tolist() == [datetime.date(2024, 1, 1), datetime.date(2024, 1, 2), None]
    assert found["max"].tolist() == [datetime.date(2024, 1, 3), datetime.date(2024, 1, 2), None]
    assert found["last"].tolist() == [datetime.date(2024, 1, 1), datetime.date(2024, 1, 2), None]
    assert found["count"].tolist() == [2, 1, 0]


def test_nan_is_a_value_unless_it_is_masked():
    values = np.array([1.0, np.nan, 3.0])
    found = raydex.join_window([1, 2, 3], [3], values, before=5, aggregate=["sum", "min", "max"])
    assert np.isnan(found["sum"][0]) and found["min"][0] == 1 and np.isnan(found["max"][0])
    there = np.ma.masked_invalid(values)
    assert raydex.join_window([1, 2, 3], [3], there, before=5).tolist() == [4]


def test_nan_is_missing_in_a_series_of_pandas(random):
    pd = pytest.importorskip("pandas")
    times = pd.Series(np.sort(random.choice(10_000, 500, replace=False)))
    values = pd.Series(np.where(random.random(500) < 0.2, np.nan, random.integers(0, 9, 500)))
    frame = pd.DataFrame({"v": values.to_numpy()}, pd.to_datetime(times, unit="s"))
    for aggregate in ("count", "mean", "sum", "min", "max"):
        ours = raydex.rolling(times, values, window=60, aggregate=aggregate).astype("f8")
        theirs = getattr(frame.rolling("60s", min_periods=0 if aggregate in ("count", "sum") else 1), aggregate)()
        np.testing.assert_allclose(ours, theirs["v"].to_numpy())
    index = raydex.build([1, 2, 3])
    assert index.sum([1], [3], values=pd.Series([1.0, np.nan, 3.0])).tolist() == [4]
    assert np.isnan(index.sum([1], [3], values=np.array([1.0, np.nan, 3.0]))).tolist() == [True]
    assert raydex.aggregate(index, pd.Series([1.0, np.nan, 3.0])).mean([1], [3]).tolist() == [2]


def test_answers_of_a_series_have_its_labels_and_missing_cells():
    pd = pytest.importorskip("pandas")
    names = ["min", "argmax", "mean", "sum", "count"]
    probe = pd.Series([1, 100], index=[7, 9])
    found = raydex.join_window(pd.Series([1, 5]), probe, pd.Series([3, 4], name="v"), before=0, aggregate=names)
    assert all(one.index.equals(probe.index) and one.name == "v" for one in found.values())
    assert {name: one.fillna(-5).tolist() for name, one in found.items()} == {
        "min": [3, -5], "argmax": [0, -5], "mean": [3, -5], "sum": [3, 0], "count": [1, 0]
    }  # fmt: skip
    assert (found["min"].dtype, found["sum"].dtype) == ("Int64", "int64")
    counts = raydex.rolling(probe, window=1, aggregate="count")
    assert counts.name is None and counts.to_dict() == {7: 1, 9: 1}


def test_answers_of_a_series_of_polars():
    pl = pytest.importorskip("polars")
    values = pl.Series("v", [datetime.datetime(2024, 1, 1), datetime.datetime(2024, 1, 2)])
    found = raydex.join_window(pl.Series([1, 5]), pl.Series([1, 100]), values, before=0, aggregate=["max", "argmin"])
    assert found["max"].to_list() == [values[0], None] and found["max"].name == "v"
    assert found["argmin"].to_list() == [0, None]
    mean = raydex.join_window(pl.Series([1, 5]), pl.Series("t", [1, 100]), [3, 4], before=0, aggregate="mean")
    assert mean.to_list() == [3, None] and mean.name == "t"


def test_refusals():
    with pytest.raises(raydex.InvalidType, match=r"by: 'g' is a text; give columns, as frame\['g'\]"):
        raydex.rolling([1], [1], window=1, by="g")

    def refused(match, *arguments, error=raydex.InvalidArgument, before=1, **options):
        with pytest.raises(error, match=match):
            raydex.join_window(*arguments, before=before, **options)

    refused("aggregate: 'median' is none of sum", [1], [1], [1], aggregate="median")
    refused("closed: 'open' is none of both", [1], [1], [1], closed="open")
    refused("values: none are given", [1], [1])
    refused("values: 2 rows, but there are 1 times", [1], [1], [1, 2])
    refused("by: give", [1], [1], [1], by=[1])
    refused("build_by: it is given with probe_by", [1], [1], [1], probe_by=[1])
    refused("before: -1", [1], [1], [1], before=-1)
    refused("after: -3", [1], [1], [1], after=-3)
    refused("before: 0.5", [1], [1], [1], before=0.5)
    refused("before: 'far' is no distance", [1], [1], [1], before="far", error=raydex.InvalidType)
    refused("after: None", [1], [1], [1], after=None, error=raydex.InvalidType)
    refused("values: they are", [1], [1], ["a"], error=raydex.InvalidType)
    days = np.array(["2024-01-01"], "M8[D]")
    refused("sums and means are of numbers", [1], [1], days, error=raydex.InvalidType)
    wide = [np.array([2**62], "M8[s]"), np.array([1], "M8[ns]")]
    refused("before: -1", *wide, [1], before=-1)
