# SPDX-License-Identifier: Apache-2.0
"""`python -m raydex query` against NumPy and pandas, on files of every format."""

import numpy as np
import oracle
import pytest
from running import ENDINGS, PRICES, masked

pa = pytest.importorskip("pyarrow")


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


def test_numbers_of_csv_as_they_are_written(program):
    program.file("t.csv", "a\n5.0\n\n7.\n+8.00\n")
    keys = program.file("k.npy", np.array([5, 7, 8], "i8"))
    assert program.count(keys, "t.csv:a:int64") == [1, 0, 1, 1]
    assert program.count("t.csv:a:int64", keys) == [1, 1, 1]
    program.file("u.csv", "a\n0.5\n9007199254740994\n36893488147419103232\n1e300\n")
    assert program.count("u.csv:a", "u.csv:a") == [1] * 4


def test_texts_that_end_in_nul(program):
    texts = pa.table({"a": pa.array([b"x", b"x\0", b"ab\0"], pa.binary())})
    name = program.file("t.parquet", texts) + ":a"
    assert program.load("join", build=name, probe=name, kind="inner", ordered=True).tolist() == [[0, 0], [1, 1], [2, 2]]
    line = program.refuse("query", keys=name, points=name, result="count", out="o.npy")
    assert "some texts end in a NUL byte" in line


def test_extension_types(program):
    uuids = pa.array([bytes(16), b"x" * 16], pa.uuid())
    name = program.file("u.parquet", pa.table({"a": uuids, "b": pa.array(["1", "2"], pa.json_())}))
    for column in ("a", "b"):
        key = f"{name}:{column}"
        assert program.load("join", build=key, probe=key, kind="inner", ordered=True).tolist() == [[0, 0], [1, 1]]
    program.file("o.arrow", pa.table({"a": pa.array([1, 2], pa.bool8())}))
    line = program.refuse("query", keys="o.arrow:a", points="o.arrow:a", result="count", out="o.npy")
    assert "o.arrow:a: its type is the extension 'arrow.bool8' of Arrow" in line


@pytest.mark.parametrize("out", ["o.NPY", "o", "-dash.npy"])
def test_names_of_outputs(program, out):
    keys = program.file("k.npy", np.arange(3))
    assert program.run("query", keys=keys, points=keys, result="count", out=out) == (0, "", "")
    assert np.load(program.folder / out).tolist() == [1] * 3


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
    assert count("far", "ns") == count("ns", "far") == [0, 0]
    for column in set(table.column_names) - {"long"}:
        assert count("none", column) == [0, 0] and count(column, "none") == [0, 0]
    for keys, points, hint in [
        (
            "f8",
            "large",
            "points t.arrow:large are int64, but keys t.arrow:f8 are double; "
            "name the type, to which numbers are rounded: t.arrow:large:double",
        ),
        ("i8", "u8", "t.arrow:u8:int64"),
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
