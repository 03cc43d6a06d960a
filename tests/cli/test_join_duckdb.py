# SPDX-License-Identifier: Apache-2.0
"""`raydex join` against DuckDB, on the flights that left New York City in January 2013. What the
repository's tables lack is drawn at random: airports, minutes, planes and the weather."""

import csv
import gzip
import pathlib

import numpy as np
import pytest
from conftest import join_arguments

duckdb = pytest.importorskip("duckdb")

DATA = pathlib.Path(__file__).parents[2] / "apps" / "demo" / "data"
NONE = 2**64 - 1
MAKERS = ["BOEING", "AIRBUS INDUSTRIE", "EMBRAER", "MCDONNELL DOUGLAS, INC.", 'so-called "other"']
ORIGINS = ["EWR", "JFK", "LGA"]


def write(program, name, columns):
    """A CSV file with the number of each row in front; None is a missing value."""
    with open(program.folder / f"{name}.csv", "w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["row", *columns])
        for row, values in enumerate(zip(*columns.values(), strict=True)):
            writer.writerow([row, *("" if value is None else value for value in values)])


@pytest.fixture
def tables(program, rng):
    """Flights, planes and weather, as CSV files and in DuckDB."""
    with gzip.open(DATA / "flights.csv.gz", "rt", encoding="utf-8") as file:
        january = list(csv.DictReader(file))
    tails = [None if row["tailnum"] in ("", "NA") else row["tailnum"] for row in january]
    minutes = np.sort(rng.integers(0, 31 * 24 * 60, len(january)))
    write(program, "flights", {
        "tailnum": tails, "origin": rng.choice(ORIGINS, len(january)), "minute": minutes,
        "hour": minutes // 60, "distance": [int(row["distance"]) for row in january],
    })
    known = sorted({tail for tail in tails if tail is not None})
    known = [known[i] for i in rng.permutation(len(known))[: len(known) * 9 // 10]]
    write(program, "planes", {
        "tailnum": known, "maker": rng.choice(MAKERS, len(known)),
        "range": rng.integers(80, 5000, len(known)),
    })
    hours = [(origin, hour) for origin in ORIGINS for hour in range(31 * 24) if rng.random() < 0.9]
    hours = [hours[i] for i in rng.permutation(len(hours))]
    write(program, "weather", {
        "origin": [None if rng.random() < 0.01 else origin for origin, _ in hours],
        "hour": [hour for _, hour in hours],
        "minute": [60 * hour + int(rng.integers(0, 60)) for _, hour in hours],
        "temp": np.round(rng.normal(2, 6, len(hours)), 1),
    })
    database = duckdb.connect()
    types = {"row": "BIGINT", "minute": "BIGINT", "hour": "BIGINT", "distance": "BIGINT",
             "range": "BIGINT"}
    for name in ("flights", "planes", "weather"):
        path = program.folder / f"{name}.csv"
        with open(path, encoding="utf-8") as file:
            columns = {c: types.get(c, "VARCHAR") for c in next(csv.reader(file))}
        database.execute(
            f"CREATE TABLE {name} AS SELECT * FROM read_csv(?, header=true, columns=?)",
            [str(path), columns],
        )
    return database


def pairs_of(database, query):
    """The answer as pairs of a probe and a build row, in order."""
    answer = database.sql(query).fetchall()
    return np.array([[NONE if x is None else x for x in pair] for pair in answer], "<u8").reshape(-1, 2)


def in_order(pairs):
    return pairs[np.lexsort((pairs[:, 1], pairs[:, 0]))]


@pytest.mark.parametrize("kind", ["inner", "left", "right", "full", "semi", "anti"])
def test_flights_with_planes(program, tables, kind):
    answer = program.join(kind=kind, build="planes.csv:tailnum", probe="flights.csv:tailnum")
    if kind in ("semi", "anti"):
        rows = tables.sql(f"SELECT f.row FROM flights f {kind} JOIN planes p "
                          "ON f.tailnum = p.tailnum ORDER BY 1").fetchall()
        assert len(rows) > 1000
        np.testing.assert_array_equal(answer, [row for row, in rows])
        return
    expected = pairs_of(tables, f"SELECT f.row, p.row FROM flights f {kind} JOIN planes p "
                                "ON f.tailnum = p.tailnum ORDER BY 1, 2")
    assert len(expected) > 10000
    np.testing.assert_array_equal(in_order(answer), expected)


def test_planes_with_flights(program, tables):
    """Many build rows of a key."""
    answer = program.join("--ordered", kind="left", build="flights.csv:tailnum",
                          probe="planes.csv:tailnum")
    expected = pairs_of(tables, "SELECT p.row, f.row FROM planes p LEFT JOIN flights f "
                                "ON f.tailnum = p.tailnum ORDER BY 1, 2")
    np.testing.assert_array_equal(answer, expected)


@pytest.mark.parametrize("kind", ["inner", "left"])
def test_flights_with_the_weather_of_their_hour(program, tables, kind):
    answer = program.join(kind=kind, build="weather.csv:origin,hour",
                          probe="flights.csv:origin,hour")
    expected = pairs_of(tables, f"SELECT f.row, w.row FROM flights f {kind} JOIN weather w "
                                "ON f.origin = w.origin AND f.hour = w.hour ORDER BY 1, 2")
    assert len(expected) > 10000
    np.testing.assert_array_equal(in_order(answer), expected)


def test_flights_with_the_latest_weather(program, tables):
    for flags, comparison in [([], ">="), (["--strict"], ">")]:
        answer = program.join(
            *flags, kind="asof", build="weather.csv:minute", probe="flights.csv:minute",
            build_by="weather.csv:origin", probe_by="flights.csv:origin",
        )
        expected = pairs_of(tables, "SELECT f.row, w.row FROM flights f ASOF LEFT JOIN weather w "
                                    "ON f.origin = w.origin AND "
                                    f"f.minute {comparison} w.minute ORDER BY 1")
        np.testing.assert_array_equal(answer, expected)
    answer = program.join(
        kind="asof", direction="forward", build="weather.csv:minute", probe="flights.csv:minute",
        build_by="weather.csv:origin", probe_by="flights.csv:origin", tolerance="45",
    )
    expected = pairs_of(tables, """
        SELECT f.row, CASE WHEN w.minute - f.minute <= 45 THEN w.row END FROM flights f
        ASOF LEFT JOIN weather w ON f.origin = w.origin AND f.minute <= w.minute ORDER BY 1""")
    np.testing.assert_array_equal(answer, expected)


def test_planes_whose_range_is_close_to_a_distance(program, tables):
    answer = program.join(kind="band", build="planes.csv:range", probe="flights.csv:distance",
                          distance="2")
    expected = pairs_of(tables, "SELECT f.row, p.row FROM flights f JOIN planes p "
                                "ON abs(p.range - f.distance) <= 2 ORDER BY 1, 2")
    assert len(expected) > 10000
    np.testing.assert_array_equal(in_order(answer), expected)


@pytest.mark.parametrize(("kind", "comparison"), [("less", "<"), ("greater_equal", ">=")])
def test_planes_whose_range_compares_with_a_distance(program, tables, kind, comparison):
    """Of some of the flights: there are millions of pairs."""
    tables.sql("SELECT row, distance FROM flights WHERE row % 40 = 0 ORDER BY row").write_csv(
        str(program.folder / "some.csv"))
    answer = program.join(kind=kind, build="planes.csv:range", probe="some.csv:distance")
    expected = pairs_of(tables, "SELECT f.row // 40, p.row FROM flights f JOIN planes p "
                                f"ON p.range {comparison} f.distance WHERE f.row % 40 = 0 "
                                "ORDER BY 1, 2")
    np.testing.assert_array_equal(in_order(answer), expected)


def test_columns(program, tables):
    """What a person reads: the same fields."""
    done = program.run(*join_arguments(
        kind="left", build="planes.csv:tailnum", probe="flights.csv:tailnum", out="-",
        columns="flights.csv:row,tailnum,planes.csv:maker,range",
    ))
    assert done.returncode == 0, done.stderr
    header, *rows = csv.reader(done.stdout.splitlines())
    assert header == ["row", "tailnum", "maker", "range"]
    expected = tables.sql("SELECT f.row, f.tailnum, p.maker, p.range FROM flights f "
                          "LEFT JOIN planes p ON f.tailnum = p.tailnum ORDER BY 1").fetchall()
    assert rows == [["" if field is None else str(field) for field in row] for row in expected]
