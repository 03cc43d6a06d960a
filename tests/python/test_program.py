# SPDX-License-Identifier: Apache-2.0
"""`python -m raydex` against NumPy, pandas and DuckDB, and against the C++ program, which RAYDEX_BINARY
names."""

import decimal
import importlib
import io
import os
import pathlib
import resource
import signal
import stat
import subprocess
import sys
import time

import numpy as np
import oracle
import pytest
import raydex
from raydex._program.main import main

pa = pytest.importorskip("pyarrow")
pd = pytest.importorskip("pandas")
duckdb = pytest.importorskip("duckdb")

for module in ["csv", "compute", "feather", "parquet"]:
    importlib.import_module(f"pyarrow.{module}")

BINARY = os.environ.get("RAYDEX_BINARY")
ENDINGS = ("csv", "csv.gz", "csv.bz2", "csv.zst", "csv.lz4", "parquet", "arrow", "feather", "ipc")
PRICES = [decimal.Decimal("1.50"), decimal.Decimal("2.75")]
TEXTS = ["{:02}, of many", 'no "{}"', " a{}", "a{}\t", "line {}\nof text"]
COMMAND = [sys.executable, "-m", "raydex"]


def write(path, table):
    """Writes a table of Arrow in the format that a name tells."""
    name = str(path).lower()
    if name.endswith(".parquet"):
        pa.parquet.write_table(table, path, row_group_size=100)
    elif name.endswith(".arrow"):
        with pa.ipc.new_file(path, table.schema) as file:
            file.write_table(table, max_chunksize=70)
    elif name.endswith(".ipc"):
        with pa.ipc.new_stream(path, table.schema) as file:
            file.write_table(table, max_chunksize=70)
    elif name.endswith(".feather"):
        pa.feather.write_feather(table, path)
    else:
        with pa.output_stream(path, compression="detect") as stream:
            pa.csv.write_csv(table, stream)


def load(path):
    """A table, or what an .npy file holds."""
    name = str(path)
    if name.endswith((".npy", ".npz")):
        return np.load(path)
    if name.endswith(".parquet"):
        return pa.parquet.read_table(path)
    if name.endswith((".arrow", ".feather", ".ipc")):
        return pa.feather.read_table(path, memory_map=False)
    with pa.input_stream(path, compression="detect") as stream:
        return pa.csv.read_csv(stream, parse_options=pa.csv.ParseOptions(ignore_empty_lines=False))


class Program:
    """The program in a folder of its own, within this process."""

    def __init__(self, folder, captured):
        self.folder = folder
        self._captured = captured

    def file(self, name, content):
        """Writes an array, a table, a text or bytes; returns the name."""
        path = self.folder / name
        if isinstance(content, np.ndarray):
            np.save(path, content)
        elif isinstance(content, pa.Table):
            write(path, content)
        elif isinstance(content, str):
            path.write_text(content, encoding="utf-8")
        else:
            path.write_bytes(content)
        return name

    def run(self, *words, **options):
        """Exit status, standard output, standard error. `row_ids="I.npy"` is --row-ids I.npy."""
        words = [*words]
        for name, value in options.items():
            words += ["--" + name.replace("_", "-"), *([] if value is True else [value])]
        self._captured.readouterr()
        status = main(words)
        return (status, *self._captured.readouterr())

    def load(self, *words, out="out.npy", **options):
        """Runs it; returns what it has written into `out`."""
        assert self.run(*words, out=out, **options) == (0, "", "")
        return load(self.folder / out)

    def count(self, keys, points):
        """How many rows match each point."""
        return self.load("query", keys=keys, points=points, result="count").tolist()

    def first(self, keys, points):
        """The first row that matches each point."""
        return self.load("query", keys=keys, points=points, result="first").tolist()

    def text(self, *words, **options):
        """Runs it; returns what it has written to standard output."""
        status, text, error = self.run(*words, out="-", **options)
        assert (status, error) == (0, "")
        return text

    def refuse(self, *words, status=2, **options):
        """Runs it; expects one line on standard error, and no file that was not there."""
        before = {path: path.read_bytes() for path in self.folder.iterdir() if path.is_file()}
        found, text, error = self.run(*words, **options)
        assert (found, text) == (status, ""), error
        assert error.startswith("raydex: ") and error.count("\n") == 1 and error.endswith("\n")
        assert {path: path.read_bytes() for path in self.folder.iterdir() if path.is_file()} == before
        return error


@pytest.fixture
def program(tmp_path, monkeypatch, capfd):
    monkeypatch.chdir(tmp_path)
    return Program(tmp_path, capfd)


@pytest.fixture
def tables(random):
    """Two tables with all kinds of columns."""

    def table(rows):
        holes = random.random(rows) < 0.1
        days = pa.array(random.integers(0, 40, rows).astype("int32")).cast(pa.date32())
        return pa.table(
            {
                "number": pa.array(random.integers(-30, 30, rows), mask=holes),
                "float": random.integers(0, 50, rows) / 4,
                "short": pa.array([f"N{i}" for i in random.integers(0, 60, rows)], mask=holes),
                "text": pa.array([TEXTS[i % 5].format(i) for i in random.integers(0, 60, rows)], mask=holes),
                "day": days,
                "time": days.cast(pa.timestamp("s")),
                "low": random.integers(0, 300, rows),
                "high": random.integers(0, 300, rows),
            }
        )

    return table(300), table(400)


def masked(column):
    """A column as an array, and which cells are missing."""
    return column.fill_null(0).to_numpy(), column.is_null().to_numpy()


# Queries.


@pytest.mark.parametrize("ending", ENDINGS)
def test_results(program, tables, ending):
    build, probe = tables
    program.file(f"b.{ending}", build)
    program.file(f"p.{ending}", probe)
    keys, missing = masked(build["number"])
    points, unasked = masked(probe["number"])
    first, count, rows_sum, offsets, rows = oracle.answers(keys, points, points, missing)
    first[unasked], count[unasked], rows_sum[unasked] = -1, 0, 0
    query = {"keys": f"b.{ending}:number", "points": f"p.{ending}:number"}

    assert (program.load("query", **query, result="count") == count).all()
    found = program.load("query", **query, result="first")
    assert found.dtype == np.uint32 and (found.astype("i4") == first).all()
    assert (program.load("query", **query, result="sum") == rows_sum).all()
    found = program.load("query", **query, result="sum", values=f"b.{ending}:float", out=f"o.{ending}")
    values = build["float"].to_numpy()
    sums = [
        0 if skip else values[oracle.rows_between(keys, point, point, missing)].sum()
        for point, skip in zip(points, unasked)
    ]
    assert found["sum"].to_pylist() == sums
    archive = program.load("query", **query, result="rows", out="out.npz")
    assert (np.diff(archive["offsets"].astype("i8")) == count).all() and archive["rows"].dtype == np.uint32
    kept = np.repeat(~unasked, np.diff(offsets))
    assert (archive["rows"] == rows[kept]).all()
    table = program.load("query", **query, result="rows", out=f"o.{ending}")
    assert (table["probe"].to_numpy() == np.repeat(np.arange(len(points)), count)).all()
    assert (table["row"].to_numpy() == rows[kept]).all()

    order = np.sort(keys[~missing])
    for result, side in [("rank", "left"), ("rank_right", "right")]:
        table = program.load("query", **query, result=result, out=f"o.{ending}")
        expected = np.searchsorted(order, points, side).tolist()
        assert table[result].to_pylist() == [None if skip else one for one, skip in zip(expected, unasked)]
    keys = np.where(missing, 10**9, keys)
    for strict in [False, True]:
        flags = ["--strict"] if strict else []
        table = program.load("query", *flags, **query, result="predecessor", out=f"o.{ending}")
        expected = np.where(unasked, -1, oracle.closest(keys, points, True, strict)).tolist()
        assert [-1 if one is None else one for one in table["predecessor"].to_pylist()] == expected
        found = program.load("query", *flags, **query, result="successor").astype("i4")
        expected = oracle.closest(keys, points, False, strict)
        expected[unasked | (missing[expected])] = -1
        assert found.tolist() == expected.tolist()


@pytest.mark.parametrize("ending", ["csv", "parquet", "arrow"])
def test_ranges(program, tables, ending):
    build, probe = tables
    keys, lower, upper = (build["low"].to_numpy(), probe["low"].to_numpy(), probe["high"].to_numpy())
    first, count, total, _, _ = oracle.answers(keys, lower, upper)
    query = {
        "keys": program.file(f"b.{ending}", build) + ":low",
        "ranges": program.file(f"p.{ending}", probe) + ":low,high",
    }
    assert (program.load("query", **query, result="count") == count).all()
    table = program.load("query", **query, result="first", out="o.parquet")
    assert table["first"].type == pa.int64()
    assert table["first"].to_pylist() == [None if one < 0 else one for one in first.tolist()]
    query["ranges"] = program.file("r.npy", np.stack([lower, upper], axis=1))
    assert (program.load("query", **query, result="sum") == total).all()


# fmt: off
VALUES = [
    pa.array([True, False, None, True]),
    pa.array([1, -2, None, 100], pa.int8()),
    pa.array([1, 2, None, 2**64 - 1], pa.uint64()),
    pa.array([1.5, float("nan"), None, -0.0], pa.float32()),
    pa.array([1.5, float("nan"), None, -0.0], pa.float16()),
    pa.array([3, 7, None, 5], pa.int32()).cast(pa.date32()),
    pa.array([3, 7, None, 5]).cast(pa.timestamp("ms")),
    pa.array([3, 7, None, 5]).cast(pa.timestamp("ns", "Europe/Berlin")),
    pa.array([3, 7, None, 5], pa.int32()).cast(pa.time32("s")),
    pa.array([3, 7, None, 5]).cast(pa.time64("us")),
    pa.array([3, 7, None, 5]).cast(pa.duration("s")),
    pa.array(["ab", "", None, "abcdefgh"]),
    pa.array(["ab", "", None, "abcdefgh"], pa.string_view()),
    pa.array([b"ab", b"\xff", None, b"abcdefgh"], pa.large_binary()),
    pa.array([b"ab", b"cd", None, b"ef"], pa.binary(2)),
    pa.array(["b", "a", None, "c"]).dictionary_encode(),
    pa.array([1, 2, None, 3], pa.int16()).dictionary_encode(),
]
# fmt: on


@pytest.mark.parametrize("values", VALUES, ids=lambda values: str(values.type).replace(" ", ""))
@pytest.mark.parametrize("ending", ["parquet", "arrow"])
def test_types_of_columns(program, values, ending):
    column = pa.chunked_array([values, values[1:], values[:0]])
    name = program.file(f"t.{ending}", pa.table({"key": column})) + ":key"
    cells = ["NaN" if cell != cell else cell for cell in column.to_pylist()]
    expected = [0 if cell is None else cells.count(cell) for cell in cells]
    assert program.count(name, name) == expected
    missing = [i for i, cell in enumerate(cells) if cell is None]
    assert program.load("join", build=name, probe=name, kind="anti").tolist() == missing
    assert program.load("join", "--missing-equal", build=name, probe=name, kind="anti").tolist() == []


def test_types_that_are_compared(program):
    """Columns become of one type that has all values of both, or are refused."""
    days = pa.array([3, 7], pa.int32()).cast(pa.date32())
    zoned = pa.array([3 * 86400, 5]).cast(pa.timestamp("s", "UTC"))
    table = pa.table(
        {
            "i4": pa.array([1, 2], pa.int32()),
            "i8": [2, 2**40],
            "u8": pa.array([2, 2**63], pa.uint64()),
            "f8": [2.0, 0.5],
            "large": [2**53 + 1, 0],
            "day": days,
            "time": pa.array([3 * 86400, 5]).cast(pa.timestamp("s")),
            "ns": pa.array([2**62, 7 * 86400 * 10**9]).cast(pa.timestamp("ns")),
            "far": pa.array([2**60, 1]).cast(pa.timestamp("s")),
            "zoned": zoned,
            "short": ["ab", "c"],
            "long": ["ab", "long texts"],
            "none": pa.nulls(2),
        }
    )
    program.file("t.arrow", table)

    def count(keys, points):
        found = program.load("query", keys=f"t.arrow:{keys}", points=f"t.arrow:{points}", result="count")
        pairs = program.load("join", build=f"t.arrow:{keys}", probe=f"t.arrow:{points}", kind="semi")
        assert pairs.tolist() == np.flatnonzero(found).tolist()
        return found.tolist()

    assert count("i4", "i8") == [1, 0] and count("i8", "i4") == [0, 1]
    assert count("i4", "f8") == [1, 0] and count("f8", "i8") == [1, 0]
    assert count("day", "time") == [1, 0] and count("time", "day") == [1, 0] and count("ns", "day") == [0, 1]
    for column in set(table.column_names) - {"long"}:
        assert count("none", column) == [0, 0] and count(column, "none") == [0, 0]
    for keys, points, hint in [
        (
            "f8",
            "large",
            "points t.arrow:large are int64, but keys t.arrow:f8 are double; "
            "name the type: t.arrow:large:double",
        ),
        ("i8", "u8", "t.arrow:u8:int64"),
        ("far", "ns", "datetime64"),
        ("zoned", "time", "times with a zone"),
        ("day", "i4", "datetime64[D]"),
        ("i4", "short", "t.arrow:i4:string"),
        ("short", "i4", "t.arrow:i4:string"),
    ]:
        options = {"keys": f"t.arrow:{keys}", "points": f"t.arrow:{points}"}
        assert hint in program.refuse("query", **options, result="count", out="o.npy"), (keys, points)
    options = {"build": "t.arrow:short", "probe": "t.arrow:long"}
    assert program.load("join", **options, kind="semi").tolist() == [0]
    program.file("s.npy", np.array([b"long texts", b"x"]))
    assert program.load("join", build="s.npy", probe="t.arrow:long", kind="semi").tolist() == [1]
    error = program.refuse("query", keys="t.arrow:short", points="t.arrow:long", result="count", out="o.npy")
    assert error == (
        "raydex: t.arrow: row 1: 'long texts' in column long has 10 bytes, more than 8; longer texts are "
        "keys of joins by equal keys only\n"
    )


def test_types_that_are_named(program):
    table = pa.table({"price": pa.array(PRICES, pa.decimal128(5, 2)), "id": [7, 12], "text": ["7", "300"]})
    program.file("t.parquet", table)
    program.file("t.csv", "id,text\n007,7\n12,x\n")
    numbers = program.file("n.npy", np.array([12, 300]))
    for name, expected in [
        ("t.parquet:id:uint32", [1, 0]),
        ("t.parquet:id:f8", [1, 0]),
        ("t.parquet:text:i8", [0, 1]),
        ("t.csv:id:u4", [1, 0]),
        ("t.csv:id:<i8", [1, 0]),
        ("t.csv:id:float", [1, 0]),
    ]:
        assert program.count(name, numbers) == expected
    assert program.count("t.csv:id:string", "t.csv:id:bytes8") == [1, 1]
    assert program.count("t.parquet:id:string", "t.csv:text:string") == [1, 0]
    prices = program.file("p.npy", np.array([2.75]))
    assert program.first("t.parquet:price:double", prices) == [1]
    for name, part in [
        ("t.parquet:price", "t.parquet:price:double"),
        ("t.parquet:text:u4:x", "no column 'text:u4:x'"),
        ("t.csv:id:bytes2", "row 0: '007' in column id has 3 bytes, more than 2\n"),
        ("t.csv:text:i8", "t.csv: column text: CSV conversion error to int64: invalid value 'x'"),
        ("t.parquet:text:double", None),
        ("t.parquet:price:i4:i4", "no column"),
    ]:
        status, _, error = program.run("query", keys=name, points=numbers, result="count", out="o.npy")
        assert (status, part in error) == (2, True) if part else status == 0
    lists = program.file("l.parquet", pa.table({"key": [[1], [2]]}))
    assert "l.parquet:key: it is of list" in program.refuse(
        "query", keys=f"{lists}:key", points=numbers, result="count", out="o.npy"
    )


def test_csv_fields(program):
    program.file(
        "t.csv",
        "\ufeffid,name,big,day,one\n1,NA,18446744073709551615,2024-02-29,\n"
        ',"x\ny",9223372036854775808,2024-03-01,\n\nN/A, sp ace,0,NULL,\n',
    )
    program.file("p.npy", np.array([1, 0]))
    assert program.count("t.csv:id", "p.npy") == [1, 0]
    assert program.count("t.csv:one", "p.npy") == [0, 0]
    program.file("n.csv", 'name,day\n"x\ny",2024-03-01\n sp ace,2024-02-29\nNA,null\n')
    assert program.first("t.csv:name", "n.csv:name") == [1, 2, 2**32 - 1]
    assert program.first("t.csv:day", "n.csv:day") == [1, 0, 2**32 - 1]
    big = program.file("big.npy", np.array([2**63, 2**64 - 1], np.uint64))
    assert program.first("t.csv:big:uint64", big) == [1, 0]
    error = program.refuse("query", keys="t.csv:big", points=big, result="first", out="o.npy")
    assert (
        "out of the range of int64; to read it as another type: t.csv:big:uint64 or t.csv:big:double" in error
    )
    mixed = program.file("m.csv", "code\nA1\n\n12\nB2\n") + ":code"
    error = program.refuse("query", keys=mixed, points=mixed, result="count", out="o.npy")
    assert error == (
        "raydex: m.csv: row 0: 'A1' in column code is not a number, '12' in row 2 is one; to read the "
        "column as text: m.csv:code:string\n"
    )
    assert program.load("join", build=mixed + ":string", probe=mixed + ":string", kind="semi").tolist() == [
        0,
        2,
        3,
    ]


def test_quoted_lines_of_a_large_file(program):
    """Wherever a block of the file ends."""
    rows = 200_000
    program.file("t.csv", "key,text\n" + "".join(f'{i},"a\n{i}\nb"\n' for i in range(rows)))
    keys = program.file("k.npy", np.arange(rows))
    assert (program.load("query", keys="t.csv:key", points=keys, result="first") == np.arange(rows)).all()


def test_one_column_keeps_its_blank_lines(program):
    """What was written as missing is read as missing."""
    program.file("k.csv", "id\n1\n\n3\n\n")
    text = program.text("query", keys="k.csv:id", points="k.csv:id", result="first")
    assert text == "first\n0\n\n2\n\n"
    program.file("o.csv", text)
    assert program.count("o.csv:first", "o.csv:first") == [1, 0, 1, 0]


def test_only_named_columns_are_read(program):
    marks = "spoiled" * 1000
    table = pa.table({"key": [1, 2, 3], "other": [marks, marks[1:], marks[2:]]})
    pa.parquet.write_table(table, program.folder / "t.parquet", compression="none", use_dictionary=False)
    content = (program.folder / "t.parquet").read_bytes()
    header = content.index(b"spoiledspoiled") - 40
    program.file("t.parquet", content[:header] + b"\xff" * 200 + content[header + 200 :])
    assert program.count("t.parquet:key", "t.parquet:key") == [1, 1, 1]
    assert "t.parquet: " in program.refuse(
        "query", keys="t.parquet:other", points="t.parquet:key", result="count", out="o.npy"
    )


def test_edits(program, random):
    program.file("t.parquet", pa.table({"key": pa.array([5, 6, 7, None]), "id": [50, 60, 70, 80]}))
    program.file("new.csv", "key,id\n6,61\n8,80\nNA,90\n5,50\n")
    program.file("old.csv", "key,id\n6,60\n7,1\n5,50\n")
    edited = {
        "keys": "t.parquet:key",
        "row_ids": "t.parquet:id",
        "insert": "new.csv:key",
        "insert_rows": "new.csv:id",
        "points": program.file("p.npy", np.arange(4, 9)),
        "result": "rows",
        "out": "o.parquet",
    }
    found = program.load("query", **edited)
    assert found.to_pydict() == {"probe": [1, 1, 2, 2, 3, 4], "row": [50, 50, 60, 61, 70, 80]}
    found = program.load("query", **edited, erase="old.csv:key")
    assert found.to_pydict() == {"probe": [1, 2, 4], "row": [50, 61, 80]}
    # A pair that is both inserted and erased cancels.
    found = program.load("query", **edited, erase="old.csv:key", erase_rows="old.csv:id")
    assert found.to_pydict() == {"probe": [1, 2, 3, 4], "row": [50, 61, 70, 80]}


# Joins.


def by_duckdb(text):
    """An answer of DuckDB over files of the folder."""
    with duckdb.connect() as connection:
        return [tuple(row) for row in connection.execute(text).fetchall()]


def rows_of(answer):
    """Pairs of rows, or rows, in an order; -1 where there is no build row."""
    signed = answer.astype("i8")
    return (
        sorted(map(tuple, signed.tolist())) if signed.ndim == 2 else sorted((row,) for row in signed.tolist())
    )


@pytest.mark.parametrize("kind", ["inner", "left", "semi", "anti"])
@pytest.mark.parametrize(
    "keys", ["number", "short", "text", "day", "float", "text,day", "number,float,short"]
)
def test_joins(program, tables, kind, keys):
    for name, table in zip("bp", tables):
        row = pa.array(range(len(table)))
        program.file(f"{name}.parquet", table.append_column("row", row))
        program.file(f"{name}.csv.gz", table)
        program.file(f"{name}.feather", table)
    condition = " and ".join(f"b.{key} = p.{key}" for key in keys.split(","))
    what = "p.row" if kind in ("semi", "anti") else "p.row, coalesce(b.row, -1)"
    expected = sorted(by_duckdb(f"select {what} from 'p.parquet' p {kind} join 'b.parquet' b on {condition}"))
    for build, probe in [("parquet", "parquet"), ("csv.gz", "feather"), ("feather", "csv.gz")]:
        files = {"build": f"b.{build}:{keys}", "probe": f"p.{probe}:{keys}"}
        assert rows_of(program.load("join", **files, kind=kind)) == expected
        found = program.load("join", **files, kind=kind, out="o.parquet")
        assert all(field.type == pa.int64() for field in found.schema)
        columns = [column.fill_null(-1).to_pylist() for column in found.columns]
        assert sorted(zip(*columns)) == expected
    if kind == "inner":
        found = program.load("join", **files, kind=kind, side="probe")
        assert rows_of(found) == expected and (np.diff(found[:, 1].astype("i8")) >= 0).all()
        found = program.load("join", "--ordered", **files, kind=kind)
        assert rows_of(found) == expected and (np.diff(found[:, 0].astype("i8")) >= 0).all()


@pytest.mark.parametrize("ending", ["parquet", "csv", "arrow", "csv.zst"])
def test_columns_of_joins(program, tables, ending):
    build, probe = (table.append_column("row", pa.array(range(len(table)))) for table in tables)
    files = {
        "build": program.file("b.parquet", build) + ":number",
        "probe": program.file("p.feather", probe) + ":number",
    }
    program.file("p.parquet", probe)
    names = "p.feather:row,text,time,b.parquet:text,row,low"
    found = program.load("join", **files, kind="left", columns=names, out=f"o.{ending}")
    titles = ["p.row", "p.text", "time", "b.text", "b.row", "low"]
    assert found.column_names == titles
    expected = by_duckdb(
        "select p.row, p.text, p.time, b.text, b.row, b.low from 'p.parquet' p left join "
        "'b.parquet' b on b.number = p.number order by p.row, b.row"
    )
    rows = list(zip(*(column.to_pylist() for column in found.columns)))
    if ending.startswith("csv"):  # which has no missing texts
        expected = [
            tuple("" if cell is None and i in (1, 3) else cell for i, cell in enumerate(row))
            for row in expected
        ]
    assert sorted(rows, key=lambda row: (row[0], -1 if row[4] is None else row[4])) == expected


def test_columns_keep_their_types(program):
    table = pa.table(
        {
            "key": [1, 2],
            "list": [[1], [2, 3]],
            "kind": pa.array(["a", "b"]).dictionary_encode(),
            "price": pa.array(PRICES, pa.decimal128(5, 2)),
            "code": pa.array([b"1", b"2"]),
        }
    )
    program.file("t.parquet", table)
    program.file("u.csv", "key,code\n2,007\n3,008\n")
    files = {"build": "t.parquet:key", "probe": "u.csv:key", "kind": "inner"}
    names = "t.parquet:list,kind,price,code,u.csv:code,key"
    found = program.load("join", **files, columns=names, out="o.parquet")
    assert found.column("list").to_pylist() == [[2, 3]] and found.column("price").type == pa.decimal128(5, 2)
    assert found.column("u.code").to_pylist() == [7] and found.column("kind").to_pylist() == ["b"]
    found = program.load("join", **files, columns="u.csv:code:string", out="o.arrow")
    assert found.column("code").to_pylist() == ["007"] and pa.types.is_large_string(found.column("code").type)
    text = program.text("join", **files, columns=names.replace("list,", ""))
    assert text == "kind,price,t.code,u.code,key\nb,2.75,2,007,2\n"
    error = program.refuse("join", **files, columns=names, out="o.csv")
    assert "column list is of list" in error and "write .parquet or .arrow" in error


@pytest.mark.parametrize("direction", ["backward", "forward", "nearest"])
@pytest.mark.parametrize("strict", [False, True])
@pytest.mark.parametrize("tolerance", [None, "36h", "0d"])
def test_asof_joins(program, tables, direction, strict, tolerance):
    build, probe = (table.drop_columns(["day"]).to_pandas() for table in tables)
    for table in (build, probe):
        table["row"] = np.arange(len(table))
        table["time"] = table["time"].astype("datetime64[ms]")
    build = build.drop_duplicates(["time", "low"])
    build["low"], probe["low"] = build["low"] % 5, probe["low"] % 5
    build = build.drop_duplicates(["time", "low"]).reset_index(drop=True)
    build["row"] = np.arange(len(build))
    merged = pd.merge_asof(
        probe.sort_values("time"),
        build.sort_values("time"),
        on="time",
        by="low",
        direction=direction,
        allow_exact_matches=not strict,
        tolerance=tolerance and pd.Timedelta(tolerance.replace("d", "D")),
    )
    expected = merged.sort_values("row_x")["row_y"].fillna(-1).astype("i8").tolist()
    program.file("b.parquet", pa.Table.from_pandas(build))
    program.file("p.csv", pa.Table.from_pandas(probe[["time", "low"]]))
    more = {} if tolerance is None else {"tolerance": tolerance}
    found = program.load(
        "join",
        *(["--strict"] if strict else []),
        build="b.parquet:time",
        probe="p.csv:time",
        kind="asof",
        build_by="b.parquet:low",
        probe_by="p.csv:low",
        direction=direction,
        out="o.parquet",
        **more,
    )
    assert found["probe"].to_pylist() == list(range(len(probe)))
    assert found["build"].fill_null(-1).to_pylist() == expected


def test_joins_by_order(program, tables):
    for name, table in zip("bp", tables):
        table = table.set_column(
            table.column_names.index("high"),
            "high",
            pa.compute.add(table["low"], pa.array(range(len(table)))),
        )
        program.file(f"{name}.parquet", table.append_column("row", pa.array(range(len(table)))))
    cases = [
        ({"kind": "band", "distance": "3"}, "low", "abs(b.low - p.low) <= 3"),
        ({"kind": "band", "distance": "30h"}, "time", "abs(epoch(b.time) - epoch(p.time)) <= 108000"),
        ({"kind": "band", "distance": "1d"}, "day", "abs(b.day - p.day) <= 1"),
        ({"kind": "less"}, "low", "b.low < p.low"),
        ({"kind": "greater_equal"}, "time", "b.time >= p.time"),
        ({"kind": "less_equal"}, "short", "b.short <= p.short"),
        ({"kind": "contains", "build_upper": "b.parquet:high"}, "low", "p.low between b.low and b.high"),
    ]
    for how, key, condition in cases:
        expected = by_duckdb(f"select p.row, b.row from 'p.parquet' p join 'b.parquet' b on {condition}")
        found = program.load("join", build=f"b.parquet:{key}", probe=f"p.parquet:{key}", **how)
        assert rows_of(found) == sorted(expected), how


# Range minima.


@pytest.mark.parametrize("ending", ["csv", "parquet", "arrow", "npy"])
def test_minima(program, random, ending):
    values, lower = random.integers(-50, 50, 500), random.integers(0, 500, 300)
    upper = np.minimum(lower + random.integers(0, 100, 300), 499)
    expected = [values[a : b + 1].min() for a, b in zip(lower, upper)]
    places = [a + values[a : b + 1].argmin() for a, b in zip(lower, upper)]
    if ending == "npy":
        files = {
            "values": program.file("v.npy", values),
            "ranges": program.file("r.npy", np.stack([lower, upper], 1)),
        }
    else:
        files = {
            "values": program.file(f"v.{ending}", pa.table({"low": values})) + ":low",
            "ranges": program.file(f"r.{ending}", pa.table({"from": lower, "to": upper})) + ":from,to",
        }
    assert program.load("rmq", "--check", **files, result="min").tolist() == expected
    assert program.load("rmq", **files, result="argmin").tolist() == places
    assert program.load("rmq", **files, result="argmin", out="o.parquet")["argmin"].to_pylist() == places
    largest = [values[a : b + 1].max() for a, b in zip(lower, upper)]
    assert program.load("rmq", **files, result="max").tolist() == largest
    places = [a + values[a : b + 1].argmax() for a, b in zip(lower, upper)]
    assert program.load("rmq", **files, result="argmax").tolist() == places
    assert program.text("rmq", **files, result="min") == "min\n" + "".join(f"{one}\n" for one in expected)
    # Changed values, of equal positions the last.
    positions, new = random.integers(0, 500, 100), random.integers(-99, 0, 100)
    values[positions] = new
    files["set"] = program.file("set.parquet", pa.table({"at": positions})) + ":at"
    files["set_values"] = program.file("new.csv", pa.table({"value": new})) + ":value"
    expected = [values[a : b + 1].min() for a, b in zip(lower, upper)]
    assert program.load("rmq", **files, result="min").tolist() == expected


def test_minima_of_other_types(program):
    ranges = program.file("r.csv", "a,b\n0,2\n1,1\n2,1\n1,\n")
    days = pa.array([9, 3, 5], pa.int32()).cast(pa.date32())
    times = pa.array([9, 3, 5]).cast(pa.time64("us"))
    zoned = pa.array([9, 3, 5]).cast(pa.timestamp("ms", "UTC"))
    table = pa.table({"day": days, "time": times, "zoned": zoned, "small": pa.array([9, 3, 5], pa.int8())})
    program.file("v.parquet", table)
    for name in ["day", "time", "zoned"]:
        found = program.load(
            "rmq", values=f"v.parquet:{name}", ranges=f"{ranges}:a,b", result="min", out="o.parquet"
        )
        assert found["min"].type == table[name].type
        assert found["min"][:2].to_pylist() == [table[name][1].as_py()] * 2
    found = program.load(
        "rmq", values="v.parquet:small", ranges="r.csv:a,b", result="argmin", out="o.feather"
    )
    assert found["argmin"].to_pylist() == [1, 1, None, None]
    new = program.file("n.npy", np.array([1], np.int8))
    found = program.load(
        "rmq",
        values="v.parquet:small",
        ranges="r.csv:a,b",
        set=program.file("s.npy", np.array([2])),
        set_values=new,
        result="min",
    )
    assert found.tolist() == [1, 3, 2**31 - 1, 2**31 - 1]


def test_checked_ranges(program):
    program.file("v.npy", np.arange(5))
    program.file("r.csv", "a,b\n0,4\n,9\n3,2\n")
    error = program.refuse("rmq", "--check", values="v.npy", ranges="r.csv:a,b", result="min", out="o.npy")
    assert error == "raydex: ranges: range 2 is [3, 2]; legal: 0 <= lower <= upper <= 4\n"
    for bad in [(-1, 2), (4, 5), (0, -1)]:
        program.file("r.npy", np.array([bad]))
        assert f"range 0 is {list(bad)}" in program.refuse(
            "rmq", "--check", values="v.npy", ranges="r.npy", result="argmin", out="o.npy"
        )
    none = program.file("none.npy", np.empty(0))
    assert "the array is empty" in program.refuse(
        "rmq", "--check", values=none, ranges="r.npy", result="min", out="o.npy"
    )


# The C++ program.

# fmt: off
SAME = [
    "query --keys t.csv:number --points p.csv:number --result first --out out.npy",
    "query --keys t.csv:number --points p.csv:number --result count --out out.npy",
    "query --keys t.csv:short --points p.csv:short --result count --out out.csv",
    "query --keys t.csv:number --points p.csv:number --result first --out -",
    "query --keys t.csv:number --points p.csv:number --result rows --out -",
    "query --keys t.csv:number --points p.csv:number --result rows --out out.npz",
    "query --keys t.csv:number --points p.csv:number --result sum --values t.csv:any --out -",
    "query --keys t.csv:number --points p.csv:number --result sum --values t.csv:low --out out.npy",
    "query --keys t.csv:number --ranges p.csv:number,low --result sum --out out.npy",
    "query --keys t.csv:any --ranges p.csv:any,float:f8 --result count --out out.csv",
    "query --keys t.csv:number --points p.csv:number --result rank --out -",
    "query --keys t.csv:number --points p.csv:number --result rank_right --out out.npy",
    "query --keys t.csv:any --points p.csv:any --result predecessor --strict --out -",
    "query --keys t.csv:any --points p.csv:any --result successor --out out.npy",
    "query --keys t.csv:number --row-ids wide.npy --points p.csv:number --result first --out out.npy",
    "query --keys t.csv:number --row-ids wide.npy --points p.csv:number --result rows --out out.npz",
    "query --keys t.csv:low --points p.csv:low --insert p.csv:low --insert-rows rows.npy --erase p.csv:high "
    "--result rows --out -",
    "query --keys t.csv:low --points p.csv:low --insert p.csv:low --insert-rows rows.npy --erase p.csv:low "
    "--erase-rows rows.npy --result count --out -",
    "query --structure sorted_array --option layout=row --keys t.csv:number --ranges r.npy --result count "
    "--out out.npy",
    "join --build t.csv:number --probe p.csv:number --kind inner --out out.npy",
    "join --build p.csv:number --probe t.csv:number --kind inner --out out.csv",
    "join --build p.csv:number --probe t.csv:number --kind inner --ordered --out -",
    "join --build t.csv:number --probe p.csv:number --kind inner --side probe --out -",
    "join --build t.csv:text --probe p.csv:text --kind left --out -",
    "join --build t.csv:text,low --probe p.csv:text,low --kind left --missing-equal --out out.npy",
    "join --build t.csv:short --probe p.csv:short --kind semi --out out.npy",
    "join --build t.csv:short --probe p.csv:text --kind anti --out -",
    "join --build t.csv:number --probe p.csv:number --kind left --columns p.csv:text,any,t.csv:text,number "
    "--out -",
    "join --build t.csv:any --probe p.csv:any --kind asof --direction nearest --tolerance 1e3 --out out.csv",
    "join --build t.csv:low --probe p.csv:low --kind asof --strict --build-by t.csv:text "
    "--probe-by p.csv:text --out out.npy",
    "join --build t.csv:low --probe p.csv:low --kind band --distance 2 --out out.csv",
    "join --build t.csv:low --build-upper t.csv:high --probe p.csv:low --kind contains --out out.csv",
    "join --build t.csv:any --probe p.csv:any --kind less_equal --out out.npy",
    "rmq --values t.csv:any --ranges p.csv:low,high --result min --out -",
    "rmq --values t.csv:any --ranges p.csv:low,number --result argmin --out -",
    "rmq --values t.csv:any --ranges p.csv:low,high --result argmin --option ties=rightmost --out out.npy",
    "rmq --values t.csv:low:i4 --ranges r.npy --result min --out out.npy",
    "rmq --values t.csv:any --ranges p.csv:low,high --result max --out -",
    "rmq --values t.csv:low --ranges r.npy --result argmax --option ties=rightmost --out out.npy",
    "rmq --values t.csv:low --ranges r.npy --set rows.npy --set-values p.csv:high --result min --out out.csv",
    "structures pivot_tree",
    "structures rmq_cover",
]
# fmt: on


@pytest.mark.skipif(BINARY is None, reason="RAYDEX_BINARY names no program")
@pytest.mark.parametrize("line", SAME)
def test_the_same_bytes(program, tables, random, line):
    for name, table in zip("tp", tables):
        rows = len(table)
        numbers = 10.0 ** random.uniform(-8, 20, rows) * random.choice([-1, 1], rows)
        numbers[::7] = np.round(numbers[::7])
        program.file(
            f"{name}.csv", table.drop_columns(["day", "time"]).append_column("any", pa.array(numbers))
        )
    program.file("wide.npy", random.permutation(300).astype(np.uint64) + 7)
    program.file("rows.npy", random.permutation(400).astype(np.uint32)[:400] % 300)
    program.file("r.npy", random.integers(-50, 350, (500, 2)))
    words = line.split()
    done = subprocess.run([BINARY, *words], capture_output=True, check=False)
    assert (done.returncode, done.stderr) == (0, b"")
    out = next((word for word in words if word.startswith("out.")), None)
    expected = load("out.npz") if out == "out.npz" else out and pathlib.Path(out).read_bytes()
    assert program.run(*words) == (0, done.stdout.decode(), "")
    if out == "out.npz":
        found = load("out.npz")
        for name in ["offsets", "rows"]:
            assert found[name].dtype == expected[name].dtype and (found[name] == expected[name]).all()
    elif out:
        assert pathlib.Path(out).read_bytes() == expected


@pytest.mark.parametrize("dtype", ["f4", "f8"])
def test_numbers_as_text(program, random, dtype):
    """The shortest digits that are read as the same number."""
    cells = np.frombuffer(random.bytes(4000 * np.dtype(dtype).itemsize), dtype)
    with np.errstate(over="ignore"):
        cells = np.concatenate(
            [
                cells,
                np.round(10.0 ** random.uniform(-8, 20, 2000)).astype(dtype),
                np.array([0, -0.0, 1e-4, 1e9, 1e16, 999999999.5, 9e15], dtype),
            ]
        )
    name = program.file("c.npy", cells)
    text = program.text("join", build=name, probe=name, kind="semi", columns=f"probe:{name}")
    lines = text.splitlines()[1:]
    read = np.array(lines, "f8").astype(dtype)
    assert ((read == cells) | (np.isnan(read) & np.isnan(cells))).all()
    digits = [len(line.partition("e")[0].replace(".", "").replace("-", "").strip("0")) for line in lines]
    for cell, line, count in zip(cells, lines, digits):
        if np.isfinite(cell):
            shortest = np.format_float_scientific(cell, unique=True, trim="-").partition("e")[0]
            assert count == len(shortest.replace(".", "").replace("-", "").strip("0")), (cell, line)
            assert ("e" in line) == (cell != 0 and not 1e-4 <= abs(float(line)) < 1e16)


# What is refused.

# fmt: off
QUERY = {"keys": "k.npy", "points": "k.npy", "result": "count", "out": "o.npy"}
JOIN = {"build": "k.npy", "probe": "k.npy", "kind": "inner", "out": "o.npy"}
RMQ = {"values": "k.npy", "ranges": "r.npy", "result": "min", "out": "o.npy"}
WRONG = [
    ("query", {"result": "cuont"}, "result: 'cuont' is not one of first, count, sum, rows, rank"),
    ("query", {"result": "cuont"}, "did you mean 'count'?"),
    ("query", {"points": None}, "give either --points or --ranges"),
    ("query", {"ranges": "r.npy"}, "give either --points or --ranges"),
    ("query", {"points": None, "ranges": "k.npy"},
     "k.npy: its shape is (4,); n x 2, lower and upper ends, is needed"),
    ("query", {"points": None, "ranges": "t.csv:n"}, "ranges have two columns: t.csv:lower,upper"),
    ("query", {"points": None, "ranges": "r.npy", "result": "rank"},
     "--result rank is of --points, not --ranges"),
    ("query", {"strict": True}, "--strict goes with --result predecessor or successor, not count"),
    ("query", {"values": "k.npy"}, "--values goes with --result sum, not count"),
    ("query", {"values": "t.csv:name", "result": "sum"}, "values t.csv:name: "),
    ("query", {"values": "few.npy", "result": "sum"}, "values few.npy: 2 cells, but the largest row id is 3"),
    ("query", {"insert": "k.npy"}, "--insert and --insert-rows go together"),
    ("query", {"erase_rows": "k.npy"}, "--erase-rows goes with --erase"),
    ("query", {"row_ids": "t.csv:gaps"}, "row ids t.csv:gaps: some are missing"),
    ("query", {"row_ids": "half.npy"}, "row ids half.npy are double; row ids are integers"),
    ("query", {"row_ids": "negative.npy"}, "row ids negative.npy: they go from -3 to 0"),
    ("query", {"row_ids": "few.npy"}, "row ids: there are 2, but 4 keys"),
    ("query", {"keys": "none.npy"}, "none.npy: cannot be read: No such file or directory"),
    ("query", {"keys": "."}, ".: cannot be read: not a regular file"),
    ("query", {"keys": "none.parquet:n"}, "none.parquet: cannot be read: No such file or directory"),
    ("query", {"keys": "t.csv"}, "t.csv: which column? name it: t.csv:column"),
    ("query", {"keys": "t.parquet"}, "t.parquet: which column? name it: t.parquet:column"),
    ("query", {"keys": "k.npy:n"}, "k.npy:n: columns are named of tables"),
    ("query", {"keys": "t.csv:name_"},
     "t.csv: no column 'name_'; there are n, name, gaps, n2; did you mean 'name'?"),
    ("query", {"keys": "t.parquet:m"}, "t.parquet: no column 'm'; there are n"),
    ("query", {"keys": "twice.csv:a"}, "twice.csv: 2 columns are called 'a'"),
    ("query", {"keys": "uneven.csv:a"}, "uneven.csv: CSV parse error: "),
    ("query", {"keys": "empty.csv:a"}, "empty.csv: it is empty"),
    ("query", {"keys": "broken.parquet:n"}, "broken.parquet: "),
    ("query", {"keys": "broken.arrow:n"}, "broken.arrow: "),
    ("query", {"keys": "broken.csv.gz:n"}, "broken.csv.gz: "),
    ("query", {"keys": "table.npy"},
     "table.npy: it is not an .npy file but a table of Parquet; let its name"),
    ("query", {"keys": "text.npy"},
     "text.npy: it is not an .npy file; columns of tables are named so: file.csv"),
    ("query", {"keys": "cut.npy"}, "cut.npy: it is damaged or truncated"),
    ("query", {"keys": "long.npy"}, "long.npy: 3 bytes follow the 32 bytes of its cells"),
    ("query", {"keys": "letters.npy"},
     "letters.npy: its dtype is '<U1'; numbers, booleans, times and byte strings"),
    ("query", {"keys": "fields.npy"}, "fields.npy: its dtype is a structure; save one field"),
    ("query", {"keys": "r.npy"}, "r.npy: its shape is (2, 2); one dimension is needed"),
    ("query", {"points": "half.npy", "keys": "far.npy"},
     "points half.npy are double, but keys far.npy are int64; in "
                                                         "NumPy: a.astype('<i8')"),
    ("query", {"structure": "pivot_teee"}, "did you mean 'pivot_tree'?"),
    ("query", {"structure": "rmq_scan"}, "structure: 'rmq_scan' is not one of auto, sorted_array"),
    ("query", {"structure": "sorted_array", "option": "layout=rows"},
     "option layout: 'rows' is not one of column, row"),
    ("query", {"option": "layout"}, "option: 'layout' is not of the form name=value"),
    ("query", {"structure": "hash_open", "result": "rank"}, "hash_open"),
    ("query", {"backend": "tpu"}, "backend: 'tpu' is not one of auto, cpu, cuda, optix"),
    ("query", {"out": "k.npy"}, "--keys k.npy and --out k.npy are the same file"),
    ("query", {"out": "none/o.npy"}, "none/o.npy: cannot be written: No such file or directory"),
    ("query", {"out": "folder"}, "folder: cannot be written: not a regular file"),
    ("query", {"out": "locked.npy"}, "locked.npy: cannot be written: it is read-only"),
    ("query", {"out": ""}, "cannot be written"),
    ("query", {"report": "r.json"}, "'--report' is not an option of raydex query; the C++ program has it"),
    ("query", {"pointz": "k.npy"}, "'--pointz' is not an option of raydex query; did you mean '--points'?"),
    ("join", {"kind": "outer"}, "kind: 'outer' is not one of inner, left, semi, anti, asof, band"),
    ("join", {"direction": "forward"}, "--direction goes with --kind asof, not inner"),
    ("join", {"strict": True}, "--strict goes with --kind asof, not inner"),
    ("join", {"build_by": "k.npy", "kind": "less"}, "--build-by goes with --kind asof, not less"),
    ("join", {"distance": "1"}, "--distance goes with --kind band, not inner"),
    ("join", {"build_upper": "k.npy"}, "--build-upper goes with --kind contains, not inner"),
    ("join", {"kind": "asof", "missing_equal": True},
     "--missing-equal goes with --kind inner, left, semi or anti"),
    ("join", {"kind": "band"}, "--kind band needs --distance"),
    ("join", {"kind": "contains"}, "--kind contains needs --build-upper"),
    ("join", {"kind": "contains", "build_upper": "k.npy,k.npy"}, "--build-upper is one column, but names 2"),
    ("join", {"kind": "asof", "build_by": "k.npy"}, "--build-by and --probe-by go together"),
    ("join", {"kind": "asof", "structure": "btree"}, "--structure does not go with --kind asof"),
    ("join", {"kind": "asof", "direction": "sideways"}, "direction: 'sideways' is not one of backward"),
    ("join", {"kind": "asof", "tolerance": "-1"},
     "--tolerance: '-1' is not a distance, a number of at least 0"),
    ("join", {"kind": "band", "distance": "nan"}, "--distance: 'nan' is not a distance"),
    ("join", {"kind": "band", "distance": "5", "build": "day.npy", "probe": "day.npy"},
     "--distance: '5' is not a distance of datetime64[D], a number with a unit such as 90s"),
    ("join", {"kind": "band", "distance": "1d", "build": "year.npy", "probe": "year.npy"},
     "which have no distance"),
    ("join", {"kind": "left", "side": "probe"}, "--side probe goes with --kind inner, not left"),
    ("join", {"side": "left"}, "side: 'left' is not one of auto, build, probe"),
    ("join", {"side": "probe", "ordered": True}, "--ordered does not go with --side probe"),
    ("join", {"build": "k.npy,k.npy"}, "--build names 2 columns, but --probe 1"),
    ("join", {"build": "k.npy,"}, "--build k.npy,: a name in the list is empty"),
    ("join", {"build": "k.npy,k.npy", "probe": "k.npy,k.npy", "kind": "less"},
     "--kind less is of one column"),
    ("join", {"build": ",".join(["k.npy"] * 17), "probe": ",".join(["k.npy"] * 17)}, "a key has at most 16"),
    ("join", {"build": "t.csv:n,k.npy", "probe": "k.npy,k.npy"},
     "build k.npy: it has 4 rows, but t.csv:n has 2"),
    ("join", {"build": "t.csv:n", "probe": "t.csv:name"},
     "build keys t.csv:n are int64, but probe keys t.csv:name are strings; name the type: t.csv:n:string"),
    ("join", {"build": "t.csv:name", "probe": "t.csv:name", "kind": "less"}, "has 13 bytes, more than 8"),
    ("join", {"columns": "t.csv:n"}, "--columns is written as a table: --out name.csv, name.parquet"),
    ("join", {"columns": "t.csv:n", "out": "o.csv"},
     "--columns t.csv:n: its file is not one that --build or --probe"),
    ("join", {"columns": "build:t.csv:n", "probe": "t.csv:n", "out": "o.csv"},
     "is not one that --build names"),
    ("join", {"columns": "t.csv:n", "build": "t.csv:n", "probe": "t.csv:n", "out": "o.csv"},
     "say which: build:t.csv:n or probe:t.csv:n"),
    ("join", {"columns": "build:t.csv:n,n", "build": "t.csv:n", "probe": "t.csv:n", "out": "o.csv"},
     "two columns are called 'build.t.n'"),
    ("join", {"columns": "t.csv:n", "build": "t.csv:n", "kind": "semi", "out": "o.csv"}, "has no build rows"),
    ("join", {"columns": "t.csv:none", "build": "t.csv:n", "out": "o.csv"}, "no column 'none'"),
    ("join", {"structure": "hash_open", "kind": "less"}, "hash_open answers points, not ranges"),
    ("rmq", {"result": "mean"}, "result: 'mean' is not one of min, argmin, max, argmax"),
    ("rmq", {"values": "t.csv:name"}, "values t.csv:name are strings; minima are of numbers"),
    ("rmq", {"values": "t.csv:gaps"}, "values t.csv:gaps: some are missing"),
    ("rmq", {"ranges": "t.csv:n,name"}, "ranges t.csv:n,name are strings; positions are integers"),
    ("rmq", {"set": "k.npy"}, "--set and --set-values go together"),
    ("rmq", {"set": "few.npy", "set_values": "k.npy"}, "set values k.npy: there are 4, but 2 positions"),
    ("rmq", {"set": "negative.npy", "set_values": "k.npy"}, "position 0 is -3; the array has 4 values"),
    ("rmq", {"set": "few.npy", "set_values": "half.npy"},
     "set values half.npy are double, but values k.npy are int64"),
    ("rmq", {"set": "few.npy", "set_values": "few.npy", "structure": "rmq_lca"},
     "rmq_lca takes no changed values"),
    ("rmq", {"structure": "sorted_array"}, "structure: 'sorted_array' is not one of auto, rmq_cover"),
]
# fmt: on


def write_inputs(program):
    """Files that are good or bad, depending on the option that names them."""
    numbers = np.arange(4)
    array = program.folder / program.file("k.npy", numbers)
    program.file("few.npy", numbers[:2])
    program.file("half.npy", numbers[:2] / 2)
    program.file("far.npy", np.array([2**60, 1]))
    program.file("negative.npy", numbers - 3)
    program.file("r.npy", np.array([[0, 1], [2, 3]]))
    program.file("day.npy", numbers.astype("M8[D]"))
    program.file("year.npy", numbers.astype("M8[Y]"))
    program.file("letters.npy", np.array(["a", "b"]))
    program.file("fields.npy", np.zeros(2, [("a", "i4"), ("b", "i4")]))
    program.file("cut.npy", array.read_bytes()[:-3])
    program.file("long.npy", array.read_bytes() + b"xxx")
    program.file("text.npy", "1\n2\n")
    program.file("t.csv", "n,name,gaps,n2\n1,a longer text,,1\n2,b,2,2\n")
    program.file("twice.csv", "a,a\n1,2\n")
    program.file("uneven.csv", "a,b\n1,2\n3\n")
    program.file("empty.csv", "")
    program.file("t.parquet", pa.table({"n": numbers}))
    content = (program.folder / "t.parquet").read_bytes()
    program.file("table.npy", content)
    program.file("broken.parquet", content[:-9])
    program.file("broken.arrow", content)
    program.file("broken.csv.gz", b"\x1f\x8b\x08\x00damaged")
    program.file("locked.npy", numbers)
    (program.folder / "locked.npy").chmod(0o444)
    (program.folder / "folder").mkdir()


def test_refusals(program):
    write_inputs(program)
    for command, wrong, part in WRONG:
        options = {**{"query": QUERY, "join": JOIN, "rmq": RMQ}[command], **wrong}
        options = {name: value for name, value in options.items() if value is not None}
        assert part in program.refuse(command, **options), (command, wrong)


def test_words_that_are_not_known(program):
    write_inputs(program)
    for words, part in [
        ([], "which command? (see --help)"),
        (["frobnicate"], "'frobnicate' is not a command of raydex (see --help)"),
        (["quer"], "did you mean 'query'?"),
        (["advise"], "'advise' is not a command of raydex; the C++ program has it"),
        (["query"], "--keys is required"),
        (["--frob"], "'--frob' is not an option of raydex"),
        (["join", "--build", "k.npy"], "--probe is required"),
        (["query", "--keys"], "--keys: expected one argument"),
        (["query", "--keys", "k.npy", "--keys", "k.npy"], "--keys is given twice"),
        (["structures", "rx", "extra"], "'extra' is not for raydex structures"),
        (["structures", "pivot"], "did you mean 'pivot_tree'?"),
        (
            ["query", *words_of(QUERY), "--option", "layout=row", "--option", "layout=row"],
            "'layout' is given twice",
        ),
    ]:
        assert part in program.refuse(*words), words


def words_of(options):
    return [word for name, value in options.items() for word in ("--" + name.replace("_", "-"), value)]


def test_what_this_machine_cannot(program):
    write_inputs(program)
    for backend in ["cuda", "optix"]:
        error = program.refuse("query", **{**QUERY, "backend": backend}, status=1)
        assert f"backend {backend}: columns of files are in host memory" in error
    error = program.refuse("query", **{**QUERY, "out": "/dev/full"}, status=1)
    assert error == "raydex: /dev/full: cannot be written: No space left on device\n"


# Outputs, and the process as a whole.


def start(words, **settings):
    settings = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True, **settings}
    return subprocess.Popen([*COMMAND, *words], **settings)


def test_help_and_versions(program, capfd):
    done = subprocess.run([*COMMAND, "--version"], capture_output=True, text=True, check=True)
    assert (
        done.stdout.startswith(f"raydex {raydex.__version__}\n")
        and f"pyarrow {pa.__version__}\n" in done.stdout
    )
    for words in [
        ["--help"],
        ["query", "--help"],
        ["join", "-h"],
        ["rmq", "--help"],
        ["structures", "--help"],
    ]:
        with pytest.raises(SystemExit) as ended:
            main(words)
        text = capfd.readouterr().out
        assert ended.value.code == 0 and "usage: python -m raydex" in text
        assert max(map(len, text.splitlines())) <= 110
    text = program.run("structures")[1]
    names = {line.split()[0] for line in text.splitlines()[1:] if line and " is not available" not in line}
    assert names == {one.name for one in raydex.structures()}


def test_statuses_of_a_process(program):
    write_inputs(program)
    for options, status in [(QUERY, 0), ({**QUERY, "out": "/dev/full"}, 1), ({**QUERY, "result": "none"}, 2)]:
        process = start(["query", *words_of(options)])
        text, error = process.communicate()
        assert (process.returncode, text, error.count("\n")) == (status, "", status != 0)


def test_without_pyarrow(program):
    write_inputs(program)
    script = (
        "import runpy, sys; sys.modules['pyarrow'] = None; sys.argv = ['raydex', *sys.argv[1:]]; "
        "runpy.run_module('raydex', run_name='__main__')"
    )

    def run(**options):
        words = ["query", *words_of({**QUERY, **options})]
        done = subprocess.run(
            [sys.executable, "-c", script, *words], capture_output=True, text=True, check=False
        )
        return done.returncode, done.stdout, done.stderr

    assert run() == (0, "", "") and np.load("o.npy").tolist() == [1, 1, 1, 1]
    assert run(result="rows", out="o.npz") == (0, "", "")
    for options, file in [
        ({"keys": "t.csv:n"}, "t.csv"),
        ({"points": "t.parquet:n"}, "t.parquet"),
        ({"out": "o.parquet"}, "o.parquet"),
        ({"out": "-"}, "standard output"),
    ]:
        status, text, error = run(**options)
        assert (status, text) == (1, "")
        assert error == (
            f"raydex: {file}: tables are read and written by pyarrow, which is not installed: pip install "
            "pyarrow; without it, columns are .npy files\n"
        )
    assert not os.path.exists("o.parquet")


def test_an_old_pyarrow(program, monkeypatch):
    write_inputs(program)
    monkeypatch.setattr(pa, "__version__", "15.0.2")
    error = program.refuse("query", **{**QUERY, "keys": "t.csv:n"}, status=1)
    assert "t.csv: tables are read and written by pyarrow 16 or newer, and here is 15.0.2" in error


def test_tables_without_rows(program):
    for ending in ["csv", "parquet", "arrow"]:
        table = pa.table({"key": pa.array([], pa.int64()), "text": pa.array([], pa.string())})
        none = program.file(f"none.{ending}", table)
        some = program.file(f"some.{ending}", pa.table({"key": [1, 2], "text": ["a", "a longer text"]}))
        assert program.count(f"{none}:key", f"{some}:key") == [0, 0]
        assert program.count(f"{some}:key", f"{none}:key") == []
        for keys in ["key", "text", "text,key"]:
            files = {"build": f"{none}:{keys}", "probe": f"{some}:{keys}"}
            assert program.load("join", **files, kind="anti").tolist() == [0, 1]
            assert program.load("join", **files, kind="inner").shape == (0, 2)
            found = program.load("join", **files, kind="inner", columns=f"{some}:text", out=f"o.{ending}")
            assert found.column_names == ["text"] and len(found) == 0
        found = program.load(
            "query", keys=f"{some}:key", points=f"{none}:key", result="first", out=f"o.{ending}"
        )
        assert found.column_names == ["first"] and len(found) == 0
        ranges = program.file(
            f"r.{ending}", pa.table({"a": pa.array([], pa.int64()), "b": pa.array([], pa.int64())})
        )
        assert program.load("rmq", values=f"{some}:key", ranges=f"{ranges}:a,b", result="min").tolist() == []
        ranges = program.file("r.npy", np.array([[0, 1]]))
        assert program.text("rmq", values=f"{none}:key", ranges=ranges, result="argmin") == "argmin\n\n"


@pytest.mark.parametrize("out", ["o.npy", "o.csv", "o.csv.gz", "o.parquet", "o.arrow"])
def test_a_full_disk_keeps_what_was_there(program, out):
    program.file("k.npy", np.arange(100_000) * 7919 % 100_003)
    program.file(out, "precious")

    def limit():
        resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))

    before = sorted(os.listdir())
    process = start(["query", *words_of({**QUERY, "result": "first", "out": out})], preexec_fn=limit)
    assert process.communicate() == ("", f"raydex: {out}: cannot be written: File too large\n")
    assert process.returncode == 1
    assert sorted(os.listdir()) == before and pathlib.Path(out).read_text(encoding="utf-8") == "precious"


def test_replaced_files(program):
    write_inputs(program)
    program.file("private.npy", "old")
    (program.folder / "private.npy").chmod(0o640)
    (program.folder / "link.npy").symlink_to("private.npy")
    assert program.load(
        "query",
        **{**QUERY, "out": "link.npy"},
    ).tolist() == [1, 1, 1, 1]
    assert (program.folder / "link.npy").is_symlink()
    assert stat.S_IMODE((program.folder / "private.npy").stat().st_mode) == 0o640
    assert np.load("private.npy").tolist() == [1, 1, 1, 1]
    os.umask(before := os.umask(0o027))
    assert program.run("query", **QUERY)[0] == 0
    assert stat.S_IMODE(os.stat("o.npy").st_mode) == 0o666 & ~before
    assert "same file" in program.refuse("query", **{**QUERY, "keys": "link.npy", "out": "private.npy"})
    assert program.run("query", **{**QUERY, "out": "/dev/null"})[0] == 0


def test_pipes(program):
    program.file("k.npy", np.arange(500_000))
    words = ["query", *words_of({**QUERY, "result": "first", "out": "-"})]
    process = start(words)
    assert process.stdout.readline() == "first\n"
    process.stdout.close()
    assert process.wait() == -signal.SIGPIPE and process.stderr.read() == ""
    os.mkfifo("pipe")
    process = start([*words[:-1], "pipe"])
    with open("pipe", "rb") as pipe:
        assert np.load(io.BytesIO(pipe.read())).tolist() == list(range(500_000))
    assert process.communicate() == ("", "") and process.returncode == 0
    process = start(["query", *words_of({**QUERY, "result": "rows", "out": "/dev/stdout"})])
    text, error = process.communicate()
    assert (process.returncode, text) == (2, "") and "an .npz archive cannot go to a pipe" in error
    done = subprocess.run(
        [*COMMAND, *words],
        stdout=None,
        stderr=subprocess.PIPE,
        text=True,
        check=False,
        preexec_fn=lambda: os.close(1),
    )
    assert (done.returncode, done.stderr) == (
        1,
        "raydex: standard output: cannot be written: Bad file descriptor\n",
    )


@pytest.mark.parametrize("name", ["SIGHUP", "SIGINT", "SIGTERM"])
def test_signals_leave_nothing(program, name):
    rows = 1 << 22
    program.file("k.npy", np.arange(rows) * 7919 % 1_000_003)
    program.file("o.csv", "precious")
    before = sorted(os.listdir())
    process = start(
        ["join", *words_of({**JOIN, "kind": "band", "distance": "3", "out": "o.csv"})],
        preexec_fn=lambda: signal.signal(getattr(signal, name), signal.SIG_DFL),
    )
    while sorted(os.listdir()) == before:
        assert process.poll() is None, process.stderr.read()
        time.sleep(0.001)
    process.send_signal(getattr(signal, name))
    assert process.communicate() == ("", "")
    assert process.returncode == -getattr(signal, name)
    assert sorted(os.listdir()) == before and pathlib.Path("o.csv").read_text(encoding="utf-8") == "precious"


def test_more_rows_than_a_stretch(program):
    """Rows are read and written in parts."""
    rows = (1 << 20) + 3
    keys = np.arange(rows) * 2
    texts = pa.compute.binary_join_element_wise("N", pa.array(keys).cast(pa.string()), "")
    program.file("t.parquet", pa.table({"key": keys, "text": texts}))
    program.file("p.csv", pa.table({"key": np.arange(rows)}))
    expected = np.where(np.arange(rows) % 2, -1, np.arange(rows) // 2)
    for out in ["o.csv", "o.parquet", "o.feather", "o.csv.zst"]:
        found = program.load("query", keys="t.parquet:key", points="p.csv:key", result="first", out=out)
        assert (found["first"].fill_null(-1).to_numpy() == expected).all()
        found = program.load(
            "join",
            build="t.parquet:key",
            probe="p.csv:key",
            kind="left",
            out=out,
            columns="p.csv:key,t.parquet:text",
        )
        assert (found["key"].to_numpy() == np.arange(rows)).all()
        there = pa.array(np.arange(rows) % 2 == 0)
        assert found["text"].filter(there).to_pylist() == texts[: (rows + 1) // 2].to_pylist()
        assert set(found["text"].filter(pa.compute.invert(there)).to_pylist()) <= {None, ""}
    ranges = program.file("r.npy", np.stack([np.arange(rows), np.arange(rows)], axis=1))
    assert (program.load("rmq", "--check", values="t.parquet:key", ranges=ranges, result="min") == keys).all()
