# SPDX-License-Identifier: Apache-2.0
"""raydex.dask's joins by order against DuckDB and pandas."""

import numpy as np
import pytest
import raydex

dask = pytest.importorskip("dask", reason="Dask is missing")
dd = pytest.importorskip("dask.dataframe", reason="Dask's data frames are missing")
duckdb = pytest.importorskip("duckdb")
pd = pytest.importorskip("pandas")
pytest.importorskip("distributed", reason="distributed is missing")
rd = pytest.importorskip("raydex.dask")

from test_dask_joins import parted  # noqa: E402

HOWS = ("inner", "left", "semi", "anti")
KINDS = ["plain", "one key", "equal", "missing", "empty left", "empty right", "times"]


def tables(random, kind, rows=(160, 130)):
    """Columns a and b of numbers, the second one mostly greater, a key k, and the number of a row."""
    found = []
    for side, size in enumerate(rows):
        size = 0 if kind == f"empty {('left', 'right')[side]}" else size
        a = random.integers(0, 6 if kind == "equal" else 300, size)
        b = a + random.integers(-1, 40, size)
        k = np.full(size, 1) if kind == "one key" else random.integers(0, 3, size)
        names = pd.array([f"a long name {one}" for one in k], "str")
        frame = pd.DataFrame({"a": a, "b": b, "k": names, ("p", "r")[side]: np.arange(size)})
        if kind == "times":
            unit = "s" if side == 0 else "ms"
            for name in "ab":
                frame[name] = (frame[name].to_numpy() * (1 if side == 0 else 1000)).view(f"M8[{unit}]")
        if kind == "missing":
            frame = frame.astype({"a": "Int64", "b": "Int64"})
            for name in "abk":
                frame[name] = frame[name].mask(random.random(size) < 0.15)
        found.append(frame)
    return found


def check(call, frames, how, condition):
    left, right = frames
    found = call(how).compute()
    con = duckdb.connect(config={"threads": 1})
    con.register("l", left)
    con.register("t", right)
    if how in ("semi", "anti"):
        wanted = con.execute(f"select p, -1 from l p {how} join t b on {condition}").fetchall()
        got = [(one, -1) for one in found["p"]]
        assert list(found.columns) == list(left.columns)
    else:
        wanted = con.execute(f"select p, coalesce(r, -1) from l p {how} join t b on {condition}").fetchall()
        got = list(zip(found["p"], found["r"].fillna(-1).astype("int64")))
    assert sorted(got) == sorted(wanted), (how, condition)


@pytest.mark.parametrize("broadcast", [False, True])
@pytest.mark.parametrize("kind", KINDS)
def test_pairs(kind, broadcast, random):
    frames = tables(random, kind)
    left, right = parted(frames[0], [30, 30, 100]), parted(frames[1], [0, 70])
    by = {"by": "k"} if random.random() < 0.8 else {}
    equal = " and p.k = b.k" if by else ""
    given = {**by, "broadcast": broadcast, "shards": int(random.choice([1, 4, 7]))}

    def drawn(*words):
        return words[random.integers(len(words))]

    if kind != "times":
        check(lambda how: rd.join_range(left, right, "a", distance=2, how=how, **given), frames, drawn(*HOWS),
              "abs(b.a - p.a) <= 2" + equal)
        check(lambda how: rd.join_range(left, right, "a", distance=(-1, 5), how=how, **given), frames, drawn(*HOWS),
              "b.a between p.a + 1 and p.a + 5" + equal)
    check(lambda how: rd.join_range(left, right, "a", compare="<", how=how, **given), frames, drawn(*HOWS),
          "b.a < p.a" + equal)
    check(lambda how: rd.join_range(left, right, "a", right_upper="b", closed="left", how=how, **given), frames,
          drawn(*HOWS), "p.a >= b.a and p.a < b.b" + equal)
    check(lambda how: rd.join_intervals(left, right, left_on="a", right_on=["a", "b"], how=how, **given), frames,
          drawn(*HOWS), "p.a >= b.a and p.a <= b.b" + equal)
    for how in HOWS:
        check(lambda how: rd.join_range(left, right, "a", left_upper="b", how=how, **given), frames, how,
              "b.a between p.a and p.b" + equal)
        check(lambda how: rd.join_intervals(left, right, ("a", "b"), how=how, **given), frames, how,
              "b.a <= b.b and p.a <= p.b and b.a <= p.b and p.a <= b.b" + equal)
    check(lambda how: rd.join_where(left, right, ("<", ">="), ["a", "b"], how=how, **given), frames, drawn(*HOWS),
          "b.a < p.a and b.b >= p.b" + equal)


@pytest.mark.parametrize("broadcast", [False, True])
@pytest.mark.parametrize("kind", KINDS)
def test_asof(kind, broadcast, random):
    one, other = tables(random, kind)
    left, right = parted(one, [30, 30, 100]), parted(other, [0, 70])
    for direction in ("backward", "forward", "nearest"):
        for by in ({}, {"by": "k"}):
            exact = bool(random.integers(2))
            tolerance = None if random.random() < 0.5 else pd.Timedelta("3s") if kind == "times" else 3
            joined = rd.join_asof(
                left, right, "a", direction=direction, allow_exact_matches=exact, tolerance=tolerance, shards=5,
                broadcast=broadcast, **by)
            found = joined.compute()
            assert (found.dtypes == joined.dtypes).all()
            sides = [frame.dropna(subset=["a", *by.values()]).sort_values("a", kind="stable") for frame in (one, other)]
            if kind == "times":
                sides = [frame.astype({"a": "M8[ns]"}) for frame in sides]
            wanted = pd.merge_asof(
                *sides, on="a", direction=direction, allow_exact_matches=exact, tolerance=tolerance, **by)
            assert len(found) == len(one) and list(found.columns) == list(wanted.columns)
            got = found.set_index("p")["r"].astype("float64")
            if by or kind != "missing":  # else rows without a key count, too
                expected = wanted.set_index("p")["r"].astype("float64").reindex(got.index)
                pd.testing.assert_series_equal(got, expected)


def test_rows_of_one_key_are_divided(random):
    frames = tables(random, "one key", (20000, 20000))
    for frame in frames:
        frame["a"] = random.integers(0, 10**9, 20000)
    left, right = (parted(frame, [9000]) for frame in frames)
    sizes = rd.join_asof(left, right, "a", by="k", shards=4, broadcast=False).map_partitions(len).compute()
    assert len(sizes) == 4 and max(sizes) < 1.2 * 5000


def test_missing_ends_without_bounds(random):
    frames = tables(random, "missing")
    left, right = (parted(frame, [50]) for frame in frames)
    found = rd.join_intervals(left, right, ("a", "b"), missing="unbounded", shards=4, broadcast=False).compute()
    ends = [(frame["a"], frame["b"]) for frame in frames]
    wanted = raydex.join_intervals(ends[1], ends[0], missing="unbounded")
    assert sorted(zip(found["p"], found["r"])) == sorted(zip(wanted.probe, wanted.build))


def test_errors(random):
    one, other = tables(random, "plain")
    left, right = parted(one, [10]), parted(other, [10])
    for call, error, match in (
        (lambda: rd.join_asof(left, one, "a"), raydex.InvalidType, "right: a pandas.*is no Dask DataFrame"),
        (lambda: rd.join_asof(left, right), raydex.InvalidArgument, "on: give on, or left_on and right_on"),
        (lambda: rd.join_asof(left, right, "q"), raydex.InvalidArgument, "left: it has no column 'q'"),
        (lambda: rd.join_asof(left, right, ["a", "b"]), raydex.InvalidArgument, "left_on: 2 columns; give one"),
        (lambda: rd.join_asof(left, right, "a", left_by="k"), raydex.InvalidArgument, "by: give by, or left_by"),
        (lambda: rd.join_asof(left, right, "a", direction="up"), raydex.InvalidArgument, "direction: 'up'"),
        (lambda: rd.join_asof(left, right, "a", tolerance=-2), raydex.InvalidArgument, "tolerance: -2"),
        (lambda: rd.join_asof(left, right, "a", tolerance=[1, 2]), raydex.Unsupported, "tolerance: a column of them"),
        (lambda: rd.join_asof(left, right, "k"), raydex.Unsupported, "left: strings of any length have no order here"),
        (lambda: rd.join_range(left, right, "a"), raydex.InvalidArgument, "join_range: nothing is given"),
        (lambda: rd.join_range(left, right, "a", how="full", compare="<"), raydex.Unsupported, "how: 'full'"),
        (lambda: rd.join_intervals(left, right, "a"), raydex.InvalidArgument, "right_on: 1 columns"),
        (lambda: rd.join_intervals(left, right, ("a", "b"), closed="up"), raydex.InvalidArgument, "closed: 'up'"),
        (lambda: rd.join_where(left, right, ("<", "!"), ("a", "b")), raydex.InvalidArgument, "compare: '!'"),
        (lambda: rd.join_where(left, right, "<", "a"), raydex.InvalidArgument, "on: 1 and 1 columns"),
    ):
        with pytest.raises(error, match=match):
            call()


def test_on_a_cluster(random):
    distributed = pytest.importorskip("distributed")
    frames = tables(random, "plain", (2000, 1500))
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, dashboard_address=":0", silence_logs=50) as cluster:
        with distributed.Client(cluster):
            left, right = parted(frames[0], [900, 900]), parted(frames[1], [100, 700])
            check(lambda how: rd.join_intervals(left, right, ("a", "b"), by="k", how=how, broadcast=False), frames,
                  "left", "b.a <= b.b and p.a <= p.b and b.a <= p.b and p.a <= b.b and p.k = b.k")
            found = rd.join_asof(left, right, "a", by="k", broadcast=False).compute()
            wanted = raydex.merge_asof(*frames, on="a", by="k")
            pd.testing.assert_series_equal(
                found.set_index("p")["r"].sort_index(), wanted.set_index("p")["r"].astype("float64"))


@pytest.mark.parametrize("broadcast", [False, True])
@pytest.mark.parametrize("kind", KINDS[:-1])
def test_windows(kind, broadcast, random):
    frames = tables(random, kind)
    left, right = parted(frames[0], [30, 30, 100]), parted(frames[1], [0, 70])
    con = duckdb.connect(config={"threads": 1})
    con.register("l", frames[0])
    con.register("t", frames[1])
    for before, after in ((0, 0), (5, 2), (50, 300)):
        joined = rd.join_window(
            left, right, "b", "a", before=before, after=after, aggregate=["count", "sum", "max"], by="k", shards=4,
            broadcast=broadcast)
        found = joined.compute()
        assert (found.dtypes == joined.dtypes).all()
        assert list(found.columns) == [*frames[0].columns, "b_count", "b_sum", "b_max"]
        wanted = con.execute(
            f"select p, count(b.b), coalesce(sum(b.b), 0), coalesce(max(b.b), {-2**63}) from l left join t b on "
            f"b.a between l.a - {before} and l.a + {after} and b.k = l.k group by p").fetchall()
        assert sorted(zip(found["p"], found["b_count"], found["b_sum"], found["b_max"])) == sorted(wanted)
    counts = rd.join_window(left, right, on="a", before=5, aggregate="count", broadcast=broadcast).compute()
    assert "count" in counts.columns
    with pytest.raises(raydex.Unsupported, match="aggregate: 'argmin' is a row"):
        rd.join_window(left, right, "b", "a", before=5, aggregate="argmin")
