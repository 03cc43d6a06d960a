# SPDX-License-Identifier: Apache-2.0
"""Nearest intervals and coverage against DuckDB."""

import datetime
import pickle

import array_libraries
import numpy as np
import pytest
import raydex

pd = pytest.importorskip("pandas")
duckdb = pytest.importorskip("duckdb")
pl = pytest.importorskip("polars")
pa = pytest.importorskip("pyarrow")

KEYS = ([], ["g"], ["g", "s"])
DIRECTIONS = {"nearest": "true", "backward": "(b.v < p.l or d = 0)", "forward": "(b.w > p.u or d = 0)"}


@pytest.fixture(params=range(4))
def random(request, pytestconfig):
    return np.random.default_rng(request.param)


def table(random, rows, missing=0.1):
    lower = random.integers(0, 60, rows)
    made = pd.DataFrame({"w": lower, "v": lower + random.integers(-1, 12, rows), "g": random.integers(0, 3, rows),
                         "s": random.choice(["a", "bb", "c" * 30], rows)}).astype({"w": "Int64", "v": "Int64"})
    made.loc[random.random(rows) < missing, "w"] = pd.NA
    made.loc[random.random(rows) < missing, "s"] = None
    return made


def connected(build, probe, names):
    con = duckdb.connect()
    for name, of, ends in (("b", build, "w, v"), ("p", probe, "w as l, v as u")):
        con.register("given", of.reset_index(names="r"))
        con.execute(f"create table {name} as select r, {ends}, g, s from given where w <= v")
    on = "".join(f" and b.{name} = p.{name}" for name in names)
    con.execute(
        "create table near as select p.r as pr, b.r as br, b.w, b.v, p.l, p.u, greatest(b.w - p.u, p.l - b.v, 0) as d, "
        f"greatest(least(b.v, p.u) - greatest(b.w, p.l), 0) as shared from p join b on true{on}"
    )
    return con


def ends(of):
    return (of["w"], of["v"])


def keys(build, probe, names):
    return {"by": ([build[name] for name in names], [probe[name] for name in names])} if names else {}


@pytest.mark.parametrize("names", KEYS, ids=lambda names: "-".join(names) or "all")
def test_nearest(random, names):
    build, probe = table(random, int(random.integers(0, 80))), table(random, 40)
    con = connected(build, probe, names)
    for direction, sides in DIRECTIONS.items():
        for overlaps in (True, False):
            some = f"{sides.replace('b.', '').replace('p.', '')} and (d > 0 or {overlaps})"
            # Those at a distance of 0 come by lower end, others by row.
            ranked = con.execute(
                "select pr, br, d, row_number() over "
                "(partition by pr order by d, case when d = 0 then w end, br) as k, "
                f"rank() over (partition by pr order by d) as tied from near where {some} order by pr, k"
            ).fetchall()
            for k in (1, 3):
                found = raydex.join_nearest(
                    ends(build), ends(probe), k=k, direction=direction, overlaps=overlaps, **keys(build, probe, names)
                )
                rows, apart = np.full((2, 40, k), -1)
                for pr, br, d, at, _ in ranked:
                    if at <= k:
                        rows[pr, at - 1], apart[pr, at - 1] = br, d
                assert found.build.tolist() == (rows[:, 0] if k == 1 else rows).tolist()
                assert found.distance.tolist() == (apart[:, 0] if k == 1 else apart).tolist()
                if not overlaps:
                    continue
                tied = raydex.join_nearest(
                    ends(build), ends(probe), k=k, ties="all", direction=direction, **keys(build, probe, names)
                )
                assert sorted(zip(tied.probe.tolist(), tied.build.tolist())) == sorted(
                    (pr, br) for pr, br, _, _, rank in ranked if rank <= k)


@pytest.mark.parametrize("names", KEYS, ids=lambda names: "-".join(names) or "all")
def test_coverage(random, names):
    build, probe = table(random, int(random.integers(0, 80))), table(random, 40)
    expected = dict(connected(build, probe, names).execute("select pr, sum(shared) from near group by pr").fetchall())
    found = raydex.interval_coverage(ends(build), ends(probe), **keys(build, probe, names))
    assert found.tolist() == [int(expected.get(row, 0)) for row in range(40)]


def test_first_matches(random):
    build, probe = table(random, 80), table(random, 40)
    for asked in (ends(probe), probe["w"]):
        for how in ("inner", "left"):
            names = ["probe", "build"]
            whole = pd.DataFrame(raydex.join_intervals(ends(build), asked, how), columns=names)
            first = raydex.join_intervals(ends(build), asked, how, matches="first")
            assert pd.DataFrame(first, columns=names).equals(whole.drop_duplicates("probe", ignore_index=True))
    with pytest.raises(raydex.InvalidArgument, match="matches: 'any'"):
        raydex.join_intervals(ends(build), ends(probe), matches="any")


@pytest.mark.parametrize("dtype", ["int32", "uint32", "int64", "uint64", "float32", "float64"])
def test_types(dtype):
    lower, upper = np.array([10, 20, 60], dtype), np.array([12, 30, 90], dtype)
    points = np.array([15, 25, 50, 100], dtype)
    found = raydex.join_nearest((lower, upper), (points, points))
    assert found.build.tolist() == [0, 1, 2, 2] and found.distance.tolist() == [3, 0, 10, 10]
    assert found.distance.dtype == ("float64" if dtype.startswith("f") else "int64")
    nothing = raydex.join_nearest((lower[:0], upper[:0]), (points, points), k=2)
    assert nothing.build.shape == (4, 2) and (nothing.build == -1).all()
    if dtype.startswith("f"):
        assert np.isnan(nothing.distance).all()
        with pytest.raises(raydex.Unsupported, match="integers"):
            raydex.interval_coverage((lower, upper), (lower, upper))
    else:
        assert (nothing.distance == -1).all()
        assert raydex.interval_coverage((lower, upper), (lower, upper + 1)).tolist() == [2, 10, 30]


def test_times():
    day = np.datetime64("2026-01-01")
    begin, end = day + np.array([0, 5, 9]), day + np.array([2, 7, 20])
    asked = (np.array(["2026-01-04T12", "NaT"], "M8[h]"), np.array(["2026-01-04T18", "NaT"], "M8[h]"))
    found = raydex.join_nearest((begin, end), asked)
    assert found.build.tolist() == [1, -1] and found.distance[0] == np.timedelta64(30, "h")
    assert np.isnat(found.distance[1])
    covered = raydex.interval_coverage((begin, end), (begin[:1], begin[:1] + np.timedelta64(8, "D")))
    assert covered.tolist() == (np.array([4], "m8[D]")).tolist() and covered.dtype == "m8[D]"


def lines_of(found):
    """What takes tables has of a result, None for what is missing."""
    assert duckdb.sql("select * from found").fetchall() == pl.DataFrame(found).rows()
    assert pa.table(found).to_pylist() == pl.DataFrame(found).to_dicts()
    assert found.to_polars().equals(pl.DataFrame(found))
    return pl.DataFrame(found).rows()


def test_as_a_table():
    """What takes tables has a line for each probe row and each of its k."""
    lower, upper = np.array([1, 10, 40]), np.array([5, 20, 50])
    points = np.array([6, 12])
    found = raydex.join_nearest((lower, upper), (points, points), k=2, direction="forward")
    build, distance = found
    assert build is found.build is found[0] and distance is found.distance and len(found) == 2
    lines = [(0, 1, 4), (0, 2, 34), (1, 1, 0), (1, 2, 28)]
    assert lines_of(found) == lines and [tuple(line) for line in np.array(found).tolist()] == lines
    assert list(pd.DataFrame(found).itertuples(index=False, name=None)) == lines
    assert pl.DataFrame(found).columns == found.to_pandas().columns.tolist() == ["probe", "build", "distance"]
    found = raydex.join_nearest((lower[:1], upper[:1]), (points, points), direction="forward")
    assert lines_of(found) == [(0, None, None), (1, None, None)]
    assert np.array(found).tolist() == [[0, -1, -1], [1, -1, -1]]
    frame = found.to_pandas()
    assert frame.dtypes.tolist() == ["int64", "Int64", "Int64"] and frame.isna().sum().tolist() == [0, 2, 2]
    found = raydex.join_nearest((lower[:2] / 4, upper[:2] / 4), (points / 4, points / 4), direction="backward")
    assert lines_of(found) == [(0, 0, 0.25), (1, 1, 0.0)]
    assert np.array(found).tolist() == [[0, 0, 0.25], [1, 1, 0]]
    assert pickle.loads(pickle.dumps(found)).build.tolist() == [0, 1]
    assert repr(found).startswith("NearestRows(build=array([0, 1])") and "distance" in found._repr_html_()


@pytest.mark.parametrize("unit", ["D", "ns"])
def test_times_as_a_table(unit):
    day = np.array(["2026-01-01", "2026-01-05", "NaT"], f"M8[{unit}]")
    found = raydex.join_nearest((day[:1], day[:1]), (day, day))
    days = [datetime.timedelta(0), datetime.timedelta(4), None]
    assert lines_of(found) == list(zip([0, 1, 2], [0, 0, None], days))
    for frame in (pd.DataFrame(found, columns=["probe", "build", "distance"]), found.to_pandas()):
        assert frame["distance"].dropna().tolist() == days[:2]
        assert frame["distance"].isna().tolist() == [False, False, True]
        assert frame["probe"].tolist() == [0, 1, 2]
    far = np.array([-(2**61), 2**61], "M8[D]")
    found = raydex.join_nearest((far[:1], far[:1]), (far, far))
    with pytest.raises(raydex.InvalidArgument, match="distance: Arrow has no unit for some"):
        found.to_arrow()


def test_frames_and_ties():
    build = pl.DataFrame({"w": [0, 4, 4, 20], "v": [1, 5, 9, 30]})
    probe = pl.DataFrame({"w": [2, 10, 40], "v": [3, 12, 50]})
    pairs = raydex.join_nearest(
        (build["w"], build["v"]), (probe["w"], probe["v"]), ties="all", how="left", lazy=True
    )
    with pairs:
        assert len(pairs) == 5
        rows = pairs.rows(dtype="int32")
    assert rows.probe.tolist() == [0, 0, 0, 1, 2] and rows.build.tolist() == [0, 1, 2, 2, 3]


def test_far_ends():
    least, most = np.iinfo(np.int64).min, np.iinfo(np.int64).max
    far = (np.array([least, 0]), np.array([most, 5]))
    assert raydex.interval_coverage(far, (np.array([2]), np.array([9]))).tolist() == [7 + 3]
    with pytest.raises(raydex.InvalidArgument, match="probe row 0"):
        raydex.interval_coverage(far, far)


@pytest.mark.parametrize("library", array_libraries.WITH_ARROW, indirect=True, ids=lambda one: one.name)
def test_libraries(library):
    side, asked = (np.array([1, 10, 40]), np.array([5, 20, 50])), (np.array([6, 12]), np.array([8, 13]))
    found = library.join_nearest(side, asked, k=2)
    assert found.build.tolist() == [[0, 1], [1, 0]] and found.distance.tolist() == [[1, 2], [0, 7]]
    assert library.interval_coverage(side, asked).tolist() == [0, 1]


@pytest.mark.parametrize("said, message", [
    ({"k": 0}, "k: 0"), ({"k": True}, "k: True"), ({"ties": "some"}, "ties: 'some'"),
    ({"direction": "up"}, "direction: 'up'"), ({"how": "left"}, "ties='all'"), ({"lazy": True}, "ties='all'"),
    ({"how": "outer", "ties": "all"}, "how"),
])
def test_refusals(said, message):
    one = (np.array([1]), np.array([2]))
    with pytest.raises(raydex.Error, match=message):
        raydex.join_nearest(one, one, **said)
    with pytest.raises(raydex.Error, match="build"):
        raydex.join_nearest(one[0], one)
    with pytest.raises(raydex.Unsupported, match="overlaps"):
        raydex.join_nearest(one, one, ties="all", overlaps=False)
