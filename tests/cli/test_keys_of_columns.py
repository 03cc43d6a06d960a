# SPDX-License-Identifier: Apache-2.0
"""`raydex query` with keys of several columns and strings of any length, against tuples and bytes of Python, and
DuckDB."""

import csv
import datetime
import io
import json
import math
import subprocess
import sys
import uuid

import numpy as np
import pytest
from conftest import BACKEND, BINARY, query_arguments

AUTO = {"structure": "auto"}  # some structures answer points alone
KINDS = ["small", "wide", "double", "date", "text", "string", "uuid"]
STEMS = ["https://example.org/", "https://example.org/a", 'a "quoted", one', "ümlaut", "x"]


def draw(rng, kind):
    """A value of a column, as CSV has it."""
    if kind == "small":
        return str(rng.integers(-3, 4))
    if kind == "wide":
        extremes = [-(2**63), 2**63 - 1, 0, -1]
        return str(rng.choice(extremes) if rng.random() < 0.3 else rng.integers(-(2**62), 2**62))
    if kind == "double":
        return str(rng.choice([-0.0, 0.0, 0.5, -1.25, 1e300, -1e300, 5e-324, math.inf, -math.inf, math.nan, 0.1]))
    if kind == "date":
        return (datetime.date(2024, 2, 27) + datetime.timedelta(int(rng.integers(0, 5)))).isoformat()
    if kind == "text":
        return str(rng.choice(["a", "ab", "abc", "b", "zz-zz-zz"]))
    if kind == "uuid":
        return str(uuid.UUID(int=int(rng.integers(0, 4)) << 90 | int(rng.integers(0, 3))))
    return str(rng.choice(STEMS)) + "ab"[: rng.integers(0, 3)] * int(rng.integers(0, 9))


def comparable(kind, cell):
    """A cell as Python compares it; None is missing."""
    if cell == "":
        return None
    if kind in ("small", "wide"):
        return int(cell)
    if kind == "double":
        return (math.isnan(float(cell)), 0 if math.isnan(float(cell)) else float(cell))
    return cell.encode()


class Table:
    """Columns of a CSV file."""

    def __init__(self, program, name, kinds, rows):
        self.kinds, self.cells = kinds, rows
        self.columns = [f"c{p}" for p in range(len(kinds))]
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerows([["n", *self.columns], *([i, *row] for i, row in enumerate(rows))])
        self.text = text.getvalue()
        self.name = program.file(name, self.text)
        self.rows = [tuple(map(comparable, kinds, row)) for row in rows]

    def named(self):
        """As the program takes them; parts of a UUID may be numbers."""
        types = {"double": ":double", "uuid": ":string"}
        typed = (name + types.get(kind, "") for name, kind in zip(self.columns, self.kinds, strict=True))
        return f"{self.name}:" + ",".join(typed)


def random_table(program, rng, name, kinds, n, missing=0.05):
    rows = [["" if rng.random() < missing else draw(rng, kind) for kind in kinds] for _ in range(n)]
    return Table(program, name, kinds, rows)


def probes_near(program, rng, name, keys, kinds, n):
    """Half of them begin as rows of the keys do."""
    table = random_table(program, rng, name, kinds, n)
    rows = [list(row) for row in table.cells]
    for row in rows:
        if keys.cells and rng.random() < 0.5:
            own = keys.cells[rng.integers(0, len(keys.cells))]
            for p, (cell, kind) in enumerate(zip(own, keys.kinds, strict=True)):
                if p < len(row) and kinds[p] == kind:
                    row[p] = cell
    return Table(program, name, kinds, rows)


def is_whole(row):
    return None not in row


def run(program, result, *flags, **options):
    words = query_arguments(**{**AUTO, "out": "-", "result": result, **options})
    done = program.run(*words, *flags)
    assert done.returncode == 0, done.stderr
    return done.stdout


def answer(program, result, *flags, **options):
    """What is written, as numbers; None is nothing."""
    lines = run(program, result, *flags, **options).splitlines()
    if result == "rows":
        return [tuple(map(int, line.split(","))) for line in lines[1:]]
    return [None if line == "" else int(line) for line in lines[1:]]


def check_matches(program, matches, values, **options):
    """`matches`: of each probe the rows, in any order."""
    assert answer(program, "count", **options) == list(map(len, matches))
    assert answer(program, "first", **options) == [min(rows, default=None) for rows in matches]
    rows = answer(program, "rows", **options)
    assert sorted(rows) == sorted((i, row) for i, found in enumerate(matches) for row in found)
    assert rows == sorted(rows, key=lambda pair: pair[0])
    sums = answer(program, "sum", values=f"{values}:n", **options)
    assert sums == [sum(found) for found in matches]
    assert answer(program, "max", values=f"{values}:n", **options) == [max(rows, default=None) for rows in matches]
    assert answer(program, "count", "--aggregate", **options) == list(map(len, matches))


def some_kinds(rng, most):
    return [str(rng.choice(KINDS)) for _ in range(rng.integers(1, most + 1))]


@pytest.mark.parametrize("case", range(6))
def test_points_and_first_columns(program, rng, case):
    kinds = [*(some_kinds(rng, 3)), ["string", "small", "date", "wide", "double", "uuid"][case]]
    keys = random_table(program, rng, "t.csv", kinds, int(rng.integers(1, 200)))
    for used in range(1, len(kinds) + 1):
        points = probes_near(program, rng, "p.csv", keys, kinds[:used], 60)
        matches = [
            [i for i, row in enumerate(keys.rows) if is_whole(row) and is_whole(point) and row[:used] == point]
            for point in points.rows
        ]
        check_matches(program, matches, keys.name, keys=keys.named(), points=points.named())


@pytest.mark.parametrize("kind", KINDS)
def test_ranges(program, rng, kind):
    before = some_kinds(rng, 2)[: rng.integers(0, 3)]
    behind = some_kinds(rng, 1)[: rng.integers(0, 2)]
    kinds = [*before, kind, *behind]
    keys = random_table(program, rng, "t.csv", kinds, 150)
    asked = probes_near(program, rng, "p.csv", keys, [*before, kind, kind], 60)
    at = len(before)
    matches = [
        [i for i, row in enumerate(keys.rows)
         if is_whole(row) and is_whole(ends) and row[:at] == ends[:at] and ends[at] <= row[at] <= ends[at + 1]]
        for ends in asked.rows
    ]  # fmt: skip
    check_matches(program, matches, keys.name, keys=keys.named(), ranges=asked.named())


@pytest.mark.parametrize("kind", ["text", "string", "uuid"])
def test_prefixes(program, rng, kind):
    before = some_kinds(rng, 2)[: rng.integers(0, 3)]
    kinds = [*before, kind, *some_kinds(rng, 1)[: rng.integers(0, 2)]]
    keys = random_table(program, rng, "t.csv", kinds, 150)
    asked = probes_near(program, rng, "p.csv", keys, [*before, kind], 60)
    rows = [[*row[:-1], row[-1][: rng.integers(0, 30)]] for row in asked.cells]
    asked = Table(program, "p.csv", asked.kinds, rows)
    at = len(before)
    matches = [
        [i for i, row in enumerate(keys.rows)
         if is_whole(row) and is_whole(begin) and row[:at] == begin[:at] and row[at].startswith(begin[at])]
        for begin in asked.rows
    ]  # fmt: skip
    check_matches(program, matches, keys.name, keys=keys.named(), prefixes=asked.named())


@pytest.mark.parametrize("case", range(6))
def test_places(program, rng, case):
    kinds = [["string", "small", "date", "wide", "double", "text"][case], *some_kinds(rng, 2)]
    keys = random_table(program, rng, "t.csv", kinds, int(rng.integers(1, 150)))
    whole = [row for row in keys.rows if is_whole(row)]

    def at(key):
        return None if key is None else keys.rows.index(key)

    for used in range(1, len(kinds) + 1):
        points = probes_near(program, rng, "p.csv", keys, kinds[:used], 40)
        ask = {"keys": keys.named(), "points": points.named()}
        expected = {"rank": [], "rank_right": [], "predecessor": [], "successor": [], "below": [], "above": []}
        for point in points.rows:
            if not is_whole(point):
                for found in expected.values():
                    found.append(None)
                continue
            less = [row for row in whole if row[:used] < point]
            at_most = [row for row in whole if row[:used] <= point]
            expected["rank"].append(len(less))
            expected["rank_right"].append(len(at_most))
            expected["predecessor"].append(at(max(at_most, default=None)))
            expected["below"].append(at(max(less, default=None)))
            expected["successor"].append(at(min((row for row in whole if row[:used] >= point), default=None)))
            expected["above"].append(at(min((row for row in whole if row[:used] > point), default=None)))
        for result in ("rank", "rank_right", "predecessor", "successor"):
            assert answer(program, result, **ask) == expected[result]
        assert answer(program, "predecessor", "--strict", **ask) == expected["below"]
        assert answer(program, "successor", "--strict", **ask) == expected["above"]


@pytest.mark.parametrize(
    "kinds", [["string"], ["small", "string"], ["wide", "double", "wide"], ["date", "text", "small"]]
)
def test_edits(program, rng, kinds):
    """What is inserted need not be among the keys that there were."""
    keys = random_table(program, rng, "t.csv", kinds, 80)
    more = random_table(program, rng, "more.csv", kinds, 70)
    gone = probes_near(program, rng, "gone.csv", keys, kinds, 30)
    rows = rng.permutation(np.arange(1000, 1070, dtype="<u4"))
    held = {i: row for i, row in enumerate(keys.rows) if is_whole(row)}
    held.update((int(i), row) for i, row in zip(rows, more.rows, strict=True) if is_whole(row))
    points = Table(program, "p.csv", kinds, keys.cells + more.cells + gone.cells)
    edits = {"insert": more.named(), "insert_rows": program.file("ids.npy", rows)}
    ask = {"keys": keys.named(), "points": points.named(), **edits}

    def counts():
        return [sum(row == point for row in held.values()) for point in points.rows]

    assert answer(program, "count", **ask) == counts()
    of_both = {i: row for i, row in held.items() if i >= 1000 or row not in gone.rows}
    ask = {"keys": keys.named(), "points": points.named(), "erase": gone.named()}
    held = {i: row for i, row in enumerate(keys.rows) if is_whole(row) and row not in gone.rows}
    assert answer(program, "count", **ask) == counts()
    ask |= edits
    held |= {i: row for i, row in of_both.items() if i >= 1000}
    assert answer(program, "count", **ask) == counts()
    assert answer(program, "first", **ask) == [
        min((i for i, row in held.items() if row == point), default=None) for point in points.rows
    ]


def test_sums_as_of_duckdb(program, rng):
    duckdb = pytest.importorskip("duckdb")
    keys = random_table(program, rng, "t.csv", ["string", "date", "small"], 2000)
    asked = probes_near(program, rng, "p.csv", keys, ["string", "date", "date"], 300)
    database = duckdb.connect()
    for name, types in (("t", ["VARCHAR", "DATE", "BIGINT"]), ("p", ["VARCHAR", "DATE", "DATE"])):
        given = {"n": "BIGINT", **{f"c{p}": one for p, one in enumerate(types)}}
        path = program.folder / f"{name}.csv"
        database.execute(f"CREATE TABLE {name} AS FROM read_csv('{path}', columns={given}, header=true)")
    for condition, option in [
        ("t.c1 BETWEEN p.c1 AND p.c2", {"ranges": asked.named()}),
        ("t.c1 = p.c1", {"points": "p.csv:c0,c1"}),
    ]:
        expected = database.execute(
            "SELECT count(t.n), sum(t.n), min(t.n), max(t.n), avg(t.n) FROM p LEFT JOIN t "
            f"ON t.c0 = p.c0 AND {condition} AND t.c2 IS NOT NULL GROUP BY p.n ORDER BY p.n").fetchall()
        ask = {"keys": keys.named(), **option}
        assert answer(program, "count", **ask) == [row[0] for row in expected]
        for at, result in ((1, "sum"), (2, "min"), (3, "max")):
            found = answer(program, result, values="t.csv:n", **ask)
            assert found == [row[at] if row[at] is not None or result != "sum" else 0 for row in expected]
        means = [float(line or "nan") for line in run(program, "mean", values="t.csv:n", **ask).splitlines()[1:]]
        np.testing.assert_allclose(means, [math.nan if row[4] is None else row[4] for row in expected])
    begins = [row[0] for row in database.execute(
        "SELECT count(t.n) FROM p LEFT JOIN t ON starts_with(t.c0, p.c0) GROUP BY p.n ORDER BY p.n").fetchall()]
    assert answer(program, "count", keys="t.csv:c0", prefixes="p.csv:c0") == begins


def stream(program, given, **options):
    """A query that reads this on standard input."""
    return subprocess.run(
        [BINARY, *query_arguments(**{**AUTO, "out": "-", **options})], cwd=program.folder, input=given,
        capture_output=True, text=isinstance(given, str), timeout=60, check=False)


def printed(done):
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


@pytest.mark.parametrize("asks", ["points", "first", "ranges", "prefixes"])
def test_streams(program, rng, asks):
    kinds = ["small", "string", "date"] if asks != "prefixes" else ["date", "text", "small"]
    keys = random_table(program, rng, "t.csv", kinds, 100)
    of_asked = {"points": kinds, "first": kinds[:2], "ranges": [*kinds[:2], kinds[1]], "prefixes": kinds[:2]}[asks]
    asked = probes_near(program, rng, "p.csv", keys, of_asked, 80)
    option = "points" if asks == "first" else asks
    columns = ",".join(asked.columns)
    for result in ("count", "first", "rows"):
        expected = run(program, result, keys=keys.named(), **{option: asked.named()})
        done = stream(program, asked.text, result=result, keys=keys.named(), **{option: f"-:{columns}"})
        assert printed(done) == expected
    # `-` is as many columns as are needed.
    whole = {"points": kinds, "ranges": [*kinds, kinds[-1]]}.get(asks)
    if whole is None:
        return
    asked = probes_near(program, rng, "p.csv", keys, whole, 80)
    text = "".join(line.partition(",")[2] + "\n" for line in asked.text.splitlines())
    expected = run(program, "count", keys=keys.named(), **{option: asked.named()})
    ask = {"result": "count", "keys": keys.named(), option: "-"}
    assert printed(stream(program, text, **ask)) == expected
    assert printed(stream(program, text.splitlines()[0] + "\n", **ask)) == "count\n"


def test_streams_of_places_and_other_types(program):
    program.file("t.csv", "city,day\nBerlin,2024-03-01\nParis,2024-03-02\nParis,2024-03-04\n")

    def ask(text, result, points="-:city,day"):
        done = stream(program, text, result=result, keys="t.csv:city,day", points=points)
        return done.stdout if done.returncode == 0 else done.stderr

    text = "day,city\n2024-03-03,Paris\n2024-03-01,A city with a long name\n,Paris\n2024-03-09,Rome\n"
    assert ask(text, "rank") == "rank\n2\n0\n\n3\n"
    assert ask(text, "predecessor") == "predecessor\n1\n\n\n2\n"
    assert "points -:city,day are int64, but keys t.csv:day are times" in ask("city,day\nRome,5\n", "count")
    line = ask("a,b,c\n1,2,3\n", "count", "-")
    assert "standard input: which column? there are a, b, c; name them behind a colon" in line


def test_streams_of_arrow(program, monkeypatch):
    pa = pytest.importorskip("pyarrow")
    monkeypatch.setenv("RAYDEX_PYTHON", sys.executable)
    program.file("t.csv", "url,day\nhttps://example.org/a,1\nhttps://example.org/b,2\nhttps://example.org/a,3\n")
    sink = pa.BufferOutputStream()
    table = pa.table({"begin": ["https://example.org/", "https://example.org/a", None, "x"]})
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table, max_chunksize=3)
    given = sink.getvalue().to_pybytes()
    done = stream(program, given, result="count", keys="t.csv:url,day", prefixes="-:begin")
    assert done.returncode == 0, done.stderr
    assert pa.ipc.open_stream(done.stdout).read_all()["count"].to_pylist() == [3, 2, 0, 0]


def test_tables_of_parquet(program, monkeypatch):
    pa = pytest.importorskip("pyarrow")
    import pyarrow.parquet

    monkeypatch.setenv("RAYDEX_PYTHON", sys.executable)
    words = ["a rather long text", None, "b", "a rather long one"]
    days = [datetime.date(2024, 3, 1), datetime.date(2024, 3, 2), None, datetime.date(1969, 12, 31)]
    pyarrow.parquet.write_table(pa.table({"word": words, "day": days}), program.folder / "t.parquet")
    program.file("p.csv", "begin,day\na rather,2024-03-01\na rather long o,2024-03-01\n")
    assert answer(program, "rows", keys="t.parquet:word,day", prefixes="p.csv:begin") == [(0, 3), (0, 0), (1, 3)]
    assert answer(program, "first", keys="t.parquet:day,word", points="p.csv:day") == [0, 0]


def test_arrays(program):
    city, day = np.array([3, 1, 3, 3], "<u4"), np.array([-5, 2, -5, 7], "<i8")
    names = [program.file("city.npy", city), program.file("day.npy", day)]
    program.file("p.npy", np.array([3, 3, 1], "<u4")), program.file("q.npy", np.array([-5, 6, 2], "<i8"))
    keys = ",".join(names)
    assert answer(program, "count", keys=keys, points="p.npy,q.npy") == [2, 0, 1]
    assert answer(program, "count", keys=keys, points="p.npy") == [3, 3, 1]
    assert answer(program, "count", keys=keys, ranges="p.npy,q.npy,q.npy") == [2, 0, 1]
    program.file("both.npy", np.array([[1, 2], [3, 9]], "<u4"))
    assert answer(program, "count", keys=keys, ranges="both.npy") == [1, 3]
    assert answer(program, "count", keys="day.npy", ranges="q.npy,q.npy") == [2, 0, 1]


def test_the_type_of_both_ends(program):
    program.file("k.npy", np.array([1, 2, 5], "<f4"))
    program.file("p.csv", "city,low,high\n7,1,2\n8,3,9\n")
    assert answer(program, "count", keys="k.npy", ranges="p.csv:low,high:float") == [2, 1]
    program.file("c.npy", np.array([7, 7, 8], "<i8"))
    assert answer(program, "count", keys="c.npy,k.npy", ranges="p.csv:city,low,high:f4") == [2, 1]
    assert answer(program, "count", keys="k.npy", ranges="p.csv:low:f4,high:f4") == [2, 1]


def test_texts_of_other_lengths(program):
    """The widths that texts happen to have are no types, and one of them may be longer than 8 bytes."""
    program.file("t.csv", "a,b\nabc,1\nab,2\n")
    program.file("p.csv", "short,long,none,low,high\nab,a long text,,a,abc\nab,ab,,abc,a text that ends\n")
    assert answer(program, "count", keys="t.csv:a", points="p.csv:short") == [1, 1]
    assert answer(program, "count", keys="t.csv:a", points="p.csv:long") == [0, 1]
    assert answer(program, "count", keys="t.csv:a", points="p.csv:none") == [0, 0]
    assert answer(program, "count", keys="t.csv:a", ranges="p.csv:low,high") == [2, 0]
    assert answer(program, "count", keys="t.csv:a", ranges="p.csv:none,high") == [0, 0]
    assert answer(program, "count", keys="t.csv:a,b", ranges="p.csv:low,high") == [2, 0]
    assert answer(program, "count", keys="t.csv:b:string", prefixes="p.csv:none") == [0, 0]


@pytest.mark.parametrize("keys", ["t.csv:a", "t.csv:a,b", "t.csv:a:string,b:double", "t.csv:b:string"])
def test_no_rows(program, keys):
    """Without keys, without probes, and with nothing but missing ones."""
    count = keys.count(",") + 1
    asked = {"points": ",".join(["a", "b"][:count]), "prefixes": "a" if "string" in keys.split(",")[0] else None}
    for rows in ("", ",\n,\n"):
        program.file("t.csv", "a,b\n" + rows)
        for name, columns in asked.items():
            if columns is None:
                continue
            program.file("p.csv", "a,b\n")
            typed = columns if count == 1 else columns.replace("b", keys.split(",")[1])
            assert answer(program, "count", keys=keys, **{name: f"p.csv:{typed}"}) == []
            program.file("p.csv", "a,b\n,\n")
            assert answer(program, "count", keys=keys, **{name: f"p.csv:{typed}"}) == [0]
            assert answer(program, "first", keys=keys, **{name: f"p.csv:{typed}"}) == [None]


def test_sixteen_columns(program, rng):
    kinds = ["small"] * 16
    keys = Table(program, "t.csv", kinds, [[str(rng.integers(0, 2)) for _ in kinds] for _ in range(100)])
    expected = [keys.rows.count(row) for row in keys.rows]
    assert answer(program, "count", keys=keys.named(), points=keys.named()) == expected
    line = program.refuse_query(keys=keys.named() + ",n", points=keys.named(), result="count")
    assert "--keys names 17 columns; a key has at most 16" in line


def test_report(program):
    program.file("t.csv", "city,day,name\nBerlin,1,a long name\nParis,2,b\n")
    answer(program, "count", keys="t.csv:name,day", points="t.csv:name,day", report="r.json")
    report = json.loads((program.folder / "r.json").read_text())
    assert (report["key"], report["n"], report["probes"]) == ("string,int64", 2, 2)
    assert report["dictionary_bytes"] > 0
    answer(program, "count", keys="t.csv:city,day", points="t.csv:city", report="r.json")
    report = json.loads((program.folder / "r.json").read_text())
    assert (report["key"], report["dictionary_bytes"]) == ("bytes6,int64", 0)


def test_names_with_commas(program):
    program.file("a,b.npy", np.array([1, 2, 2], "<i8"))
    program.file("c,d.csv", "k\n1\n2\n2\n")
    assert answer(program, "count", keys="a,b.npy", points="c,d.csv:k") == [1, 2, 2]
    assert answer(program, "count", keys="c,d.csv:k", points="a,b.npy") == [1, 2, 2]


def test_what_is_refused(program):
    program.file("t.csv", "city,day,url,n\nBerlin,1,https://example.org,1\nParis,2,https://example.com,2\n")
    program.file("p.csv", "city,day,url,when,x\nBerlin,1,https,2024-03-01,0.5\n")
    program.file("few.npy", np.zeros(1, "<i8"))

    def refuse(*flags, **options):
        words = query_arguments(**{"keys": "t.csv:city,day", "result": "count", **AUTO, **options})
        return program.refuse(*words, *flags)

    for part, options in [
        ("--points names 3 columns; --keys names 2 columns; give as many, or the first ones",
         {"points": "p.csv:city,day,url"}),
        ("--points names 2 columns; --keys names 1 column; give as many",
         {"keys": "t.csv:n", "points": "p.csv:city,day"}),
        ("--prefixes names 3 columns; --keys names 2 columns", {"prefixes": "p.csv:city,day,url"}),
        ("--ranges names 4 columns; --keys names 2 columns, and a range has two ends",
         {"ranges": "p.csv:city,day,day,x"}),
        ("--ranges names 3 columns; --keys names 1 column, and", {"keys": "t.csv:n", "ranges": "p.csv:city,day,x"}),
        ("p.csv:city: ranges have two columns: p.csv:lower,upper", {"ranges": "p.csv:city"}),
        ("-:city: ranges have two columns: -:lower,upper", {"ranges": "-:city", "out": "-"}),
        ("--insert names 1 column; --keys names 2 columns",
         {"points": "p.csv:city", "insert": "p.csv:city", "insert_rows": "few.npy"}),
        ("--erase names 3 columns; --keys names 2 columns", {"points": "p.csv:city", "erase": "p.csv:city,day,x"}),
        ("points p.csv:day are int64, but keys t.csv:city are bytes6", {"points": "p.csv:day"}),
        ("points p.csv:day are int64, but keys t.csv:url are strings; name the type: p.csv:day:string",
         {"keys": "t.csv:url", "points": "p.csv:day"}),
        ("points p.csv:when are times without a zone, but keys t.csv:day are int64", {"points": "p.csv:city,when"}),
        ("keys few.npy: it has 1 rows, but t.csv:city has 2", {"keys": "t.csv:city,few.npy", "points": "p.csv:city"}),
        ("prefixes p.csv:day are int64, but prefixes are strings; name the type: p.csv:day:string",
         {"prefixes": "p.csv:city,day"}),
        ("keys t.csv:day are int64, but --prefixes asks for strings; name the type: t.csv:day:string",
         {"prefixes": "p.csv:city,url"}),
        ("give one of --points, --ranges and --prefixes", {}),
        ("give one of --points, --ranges and --prefixes", {"points": "p.csv:city", "prefixes": "p.csv:city"}),
        ("--result rank is of --points, not --prefixes", {"prefixes": "p.csv:city", "result": "rank"}),
        ("a name in the list is empty", {"points": "p.csv:city,"}),
        ("a name in the list is empty", {"points": "-:city,,day", "out": "-"}),
        ("answers points, not ranges", {"points": "p.csv:city", "structure": "hash_open"}),
        ("answers points, not ranges", {"prefixes": "p.csv:city", "structure": "hash_open"}),
        ("row ids", {"points": "p.csv:city,day", "row_ids": "few.npy"}),
        ("no column 'no'", {"points": "p.csv:city,no"}),
        ("texts have up to 8 bytes: t.csv:url:bytes8",
         {"points": "p.csv:city", "result": "sum", "values": "t.csv:url:string"}),
        ("line 2: 'https://example.org' in column url has 19 bytes, more than 8; keys of raydex query and",
         {"keys": "t.csv:url:bytes8", "points": "p.csv:url"}),
    ]:  # fmt: skip
        if BACKEND == "optix" and "structure" in options:
            continue
        line = refuse(**options)
        assert part in line, line
    line = refuse("--aggregate", points="p.csv:city,day", structure="hash_open", out="out.npy")
    assert "hash_open" in line
    keys = query_arguments(keys="t.csv:city,day", points="p.csv:city,day", result="count", out="t.csv")
    assert "same file" in program.refuse(*keys)


def test_columns_that_take_all_numbers(program):
    """What is greater than all keys has no number, so that ranks have none; all else has answers."""
    program.file("t.csv", f"a,b\n0,0\n{2**32 - 1},{2**32 - 1}\n5,7\n7,5\n")
    program.file("p.csv", f"a,b\n5,7\n6,0\n{2**32 - 1},{2**32 - 1}\n{2**32},0\n-1,3\n,1\n")
    ask = {"keys": "t.csv:a,b", "points": "p.csv:a,b"}
    assert answer(program, "first", **ask) == [2, None, 1, None, None, None]
    assert answer(program, "predecessor", **ask) == [2, 2, 1, 1, None, None]
    assert answer(program, "successor", "--strict", **ask) == [3, 3, None, None, 0, None]
    assert answer(program, "count", keys="t.csv:a,b", ranges="p.csv:a,b") == [2, 0, 1, 0, 1, 0]
    for result in ("rank", "rank_right"):
        line = program.refuse_query(result=result, **AUTO, **ask)
        assert f"--result {result}: the columns of --keys take each number of their bits" in line
        assert line.endswith("ask --result count of --ranges\n")


def test_columns_of_many_bits(program):
    """Sixteen columns of 17 values that are far apart take 80 bits even if they are numbered."""
    values = [str(7 ** (i + 2)) for i in range(17)]
    keys = Table(program, "t.csv", ["wide"] * 16, [[value] * 16 for value in values])
    assert answer(program, "count", keys=keys.named(), points=keys.named()) == [1] * 17
    assert answer(program, "rank", keys=keys.named(), points=keys.named()) == list(range(17))
