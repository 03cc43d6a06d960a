# SPDX-License-Identifier: Apache-2.0
"""`raydex.duckdb` against DuckDB's own joins."""

import subprocess
import sys

import pytest
import raydex

duckdb = pytest.importorskip("duckdb")
pytest.importorskip("pyarrow")
import raydex.duckdb  # noqa: E402


@pytest.fixture
def con():
    with duckdb.connect(config={"threads": 1}) as connection:
        connection.execute("select setseed(0.5)")
        yield connection


def make(con, name, rows, kind="bigint"):
    """A table with distinct times, keys and intervals, some of them missing, whose rows have numbers."""
    time = {"bigint": "x", "double": "x / 4", "timestamp": "timestamp '2024-01-01' + to_microseconds(x * 1000)",
            "timestamptz": "timestamptz '2024-01-01' + to_milliseconds(x)"}[kind]  # fmt: skip
    con.execute(f"""
        create table {name} as
        select x // 10 as row, if(random() < 0.1, null, {time}) as t, if(random() < 0.1, null, x % 400) as low,
          if(random() < 0.1, null, x % 400 + (random() * 30)::int) as high, if(random() < 0.1, null,
          ['a', 'a longer name', 'c'][1 + (random() * 3)::int % 3]) as g, (random() * 9)::int as n
        from (select i * 10 + (random() * 9)::int as x from range({rows}) rows(i)) order by random()
    """)


def rows_of(relation):
    return sorted(relation.fetchall(), key=repr)


KINDS = ("bigint", "double", "timestamp", "timestamptz")


@pytest.mark.parametrize("by", [None, "g", ["g", "n"]], ids=str)
@pytest.mark.parametrize("kind", KINDS)
def test_join_asof(con, kind, by):
    make(con, "l", 150, kind)
    make(con, "r", 120, kind)
    keys = [] if by is None else [by] if isinstance(by, str) else by
    for direction, compare in (("backward", ">="), ("forward", "<=")):
        for exact in (True, False):
            compared = compare if exact else compare[0]
            condition = " and ".join([f"l.t {compared} r.t", *(f"l.{name} = r.{name}" for name in keys)])
            expected = con.sql(f"select l.row, r.row as row_1, l.t from l asof left join r on {condition}")
            found = raydex.duckdb.join_asof(
                con, "l", con.table("r"), on="t", by=by, direction=direction, allow_exact_matches=exact)
            assert isinstance(found, duckdb.DuckDBPyRelation)
            assert "t_right" not in found.columns and found.columns[:6] == con.table("l").columns
            # DuckDB before 2.0 matches missing times if there are keys.
            there = expected.filter("t is not null").project("row, row_1")
            assert rows_of(found.filter("t is not null").project("row, row_right")) == rows_of(there)
            assert found.filter("t is null").project("row_right").distinct().fetchall() == [(None,)]
            assert found.project("row").fetchall() == con.sql("select row from l").fetchall()


def test_join_asof_with_names_of_their_own(con):
    make(con, "l", 90)
    make(con, "r", 80)
    found = raydex.duckdb.join_asof(
        con, "select row as a, t as time, g as kind, n from l", "from r", left_on="time", right_on="t", left_by="kind",
        right_by="g", tolerance=40, suffixes=("_l", "_r"))
    assert found.columns == ["a", "time", "kind", "n_l", "row", "t", "low", "high", "g", "n_r"]
    unlimited = "l asof left join r on l.t >= r.t and l.g = r.g"
    expected = con.sql(f"select l.row, if(l.t - r.t <= 40, r.row, null) from {unlimited}")
    assert rows_of(found.project("a, row")) == rows_of(expected)


@pytest.mark.parametrize("how", ["inner", "left", "right", "full", "semi", "anti"])
@pytest.mark.parametrize("by", [None, "g"], ids=str)
def test_overlap(con, by, how):
    make(con, "l", 150)
    make(con, "r", 120)
    for closed in ("both", "left"):
        compare = "<=" if closed == "both" else "<"
        condition = f"l.low {compare} r.high and r.low {compare} l.high" + (" and l.g = r.g" if by else "")
        shown = "l.row" if how in ("semi", "anti") else "l.row, r.row"
        expected = con.sql(f"select {shown} from l {how} join r on {condition}")
        found = raydex.duckdb.overlap(con, "l", "r", on=["low", "high"], by=by, closed=closed, how=how)
        assert rows_of(found.project("row" if how in ("semi", "anti") else "row, row_right")) == rows_of(expected)
        assert len(rows_of(expected)) > 5


LOOKUPS = ({"on": "n"}, {"on": "g"}, {"left_on": "row", "right_on": "n"}, {"left_on": "n", "right_on": "row"})


@pytest.mark.parametrize("words", LOOKUPS, ids=str)
def test_lookup(con, words):
    make(con, "l", 90)
    make(con, "r", 80)
    con.execute("create table numbered as select *, row_number() over () as place from r")
    key, other = words.get("left_on", words.get("on")), words.get("right_on", words.get("on"))
    expected = con.sql(f"""
        select l.row, first.place from l left join
          (select {other} as key, min(place) as place from numbered group by 1) first on l.{key} = first.key
    """)
    found = raydex.duckdb.lookup(con, "l", "numbered", **words)
    assert rows_of(found.project("row, place")) == rows_of(expected)
    assert other not in found.columns[len(con.table("l").columns):]


def test_what_a_side_may_be(con):
    con.execute('create table "two words" as from range(5) t(t)')
    con.execute("create schema s; create view s.v as select 2 * t as t, t as v from \"two words\"")
    relation = con.sql("select 2 * t as t, t as v from range(5) t(t)")
    expected = [(0, 0), (1, 0), (2, 1), (3, 1), (4, 2)]
    lefts = ('"two words"', 'from "two words"',
             con.table("two words"), "(select t from range(5) t(t))", "range(5) t(t)")
    for left in lefts:
        for right in ("s.v", "select * from s.v", relation):
            assert raydex.duckdb.join_asof(con, left, right, on="t").fetchall() == expected
    chained = raydex.duckdb.join_asof(con, raydex.duckdb.lookup(con, '"two words"', "s.v", on="t"), "s.v", on="t")
    assert chained.columns == ["t", "v", "v_right"] and chained.filter("t > 3").fetchall() == [(4, 2, 2)]
    of_module = raydex.duckdb.join_asof(duckdb, "from range(3) t(t)", "from range(2) t(t)", on="t")
    assert of_module.fetchall() == [(0,), (1,), (2,)]
    found = raydex.duckdb.join_asof(con, "from range(3) t(t)", "from range(0) t(t)", on="t")
    assert found.fetchall() == [(0,), (1,), (2,)]


def test_other_types_come_along(con):
    """Columns that are not compared, of types that are not keys."""
    con.execute("""
        create table odd as select 1 as t, [1, 2] as l, {'a': 1} as s, 1::hugeint as h, interval 1 month as i,
          uuid() as u, 'x'::enum('x', 'y') as e, 1.25::decimal(9, 2) as d, time '01:02:03' as at, 'y'::blob as b
    """)
    found = raydex.duckdb.join_asof(con, "values (1), (2), (0)", "odd", left_on="col0", right_on="t")
    some = con.sql("select * from odd").fetchall()[0]
    rows = found.fetchall()
    assert [row[2:4] for row in rows] == [some[1:3], some[1:3], (None, None)]
    assert [str(cell) for cell in rows[0][4:]] == [str(cell) for cell in some[3:]]


def test_refusals(con):
    con.execute("create table a as from range(3) t(t)")
    with pytest.raises(raydex.InvalidType, match="left: a builtins.list is no relation"):
        raydex.duckdb.join_asof(con, [1], "a", on="t")
    with pytest.raises(raydex.InvalidArgument, match="right: it has no column 'x'"):
        raydex.duckdb.lookup(con, "a", "a", left_on="t", right_on="x")
    with pytest.raises(duckdb.CatalogException, match="does not exist"):
        raydex.duckdb.join_asof(con, "a", "absent", on="t")
    with pytest.raises(duckdb.ParserException, match="selec"):
        raydex.duckdb.join_asof(con, "selec * from a", "a", on="t")
    with pytest.raises(raydex.InvalidArgument, match="right: a statement that gives no rows"):
        raydex.duckdb.join_asof(con, "a", "", on="t")


def test_raydex_alone_does_not_import_duckdb():
    code = "import sys, raydex; assert 'duckdb' not in sys.modules; raydex.duckdb; assert 'duckdb' in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)
