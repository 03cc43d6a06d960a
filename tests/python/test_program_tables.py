# SPDX-License-Identifier: Apache-2.0
"""The tables that the program reads by this Python's pyarrow, against NumPy and DuckDB."""

import datetime
import decimal
import gzip
import os
import random as draws
import secrets
import subprocess
import sys

import numpy as np
import pytest
import raydex

pa = pytest.importorskip("pyarrow")
for module in ["csv", "compute", "feather", "parquet"]:
    pytest.importorskip(f"pyarrow.{module}")

PROGRAM = os.path.join(os.path.dirname(raydex.__file__), "bin", "raydex")
ENDINGS = ["csv", "tsv", "tsv.zst", "csv.gz", "csv.bz2", "csv.zst", "csv.lz4", "parquet", "arrow", "feather", "ipc"]
TEXTS = ["{:02}, of many", 'no "{}"', " a{}", "a{}\t", "line {}\nof text"]
SHARE = int(os.environ.get("RAYDEX_TEST_SHARE", "1/1").removeprefix("1/"))
SEED = int(os.environ.get("RAYDEX_TEST_SEED", secrets.randbits(30)))


def write(table, path):
    """Writes a table in the format that a name tells."""
    if path.endswith(".parquet"):
        pa.parquet.write_table(table, path, row_group_size=100)
    elif path.endswith((".arrow", ".ipc")):
        opens = pa.ipc.new_file if path.endswith(".arrow") else pa.ipc.new_stream
        with opens(path, table.schema) as file:
            file.write_table(table, max_chunksize=70)
    elif path.endswith(".feather"):
        pa.feather.write_feather(table, path)
    else:
        with pa.output_stream(path, compression="detect") as stream:
            separator = "\t" if ".tsv" in path else ","
            pa.csv.write_csv(table, stream, pa.csv.WriteOptions(delimiter=separator))
    return path


def run(*words, **options):
    """`raydex WORDS`, with `row_ids="I.npy"` as --row-ids I.npy."""
    options = [word for name, value in options.items() for word in ("--" + name.replace("_", "-"), value)]
    return subprocess.run([PROGRAM, *words, *options], capture_output=True, text=True, check=False)


def load(*words, **options):
    done = run(*words, out="o.npy", **options)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    return np.load("o.npy")


def count(keys, points):
    """How many rows match each point."""
    return load("query", keys=keys, points=points, result="count").tolist()


def refuse(*words, status=2, **options):
    """The one line in which it refuses."""
    done = run(*words, **{"out": "o.npy", **options})
    assert (done.returncode, done.stdout) == (status, ""), done.stderr
    assert done.stderr.startswith("raydex: ") and done.stderr.count("\n") == 1
    assert not os.path.exists("o.npy")
    return done.stderr


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("RAYDEX_PYTHON", sys.executable)


def drawn_table(random, rows):
    """A table with all kinds of columns that have no order of their own."""
    holes = random.random(rows) < 0.1
    number = pa.array(random.integers(-30, 30, rows), mask=holes)
    days = pa.array(random.integers(0, 40, rows).astype("int32")).cast(pa.date32())
    return pa.table({
        "row": np.arange(rows),
        "number": number,
        "small": number.cast(pa.int8()),
        "float": random.integers(0, 50, rows) / 4,
        "short": pa.array([f"N{i}" for i in random.integers(0, 60, rows)], mask=holes),
        "text": pa.array([TEXTS[i % 5].format(i) for i in random.integers(0, 60, rows)], mask=holes),
        "day": days,
        "time": days.cast(pa.timestamp("s")),
        "flag": random.random(rows) < 0.5,
    })


@pytest.mark.parametrize("ending", ENDINGS)
def test_formats(random, ending):
    table = drawn_table(random, 300)
    name = write(table, f"t.{ending}")
    keys = table["number"].to_pylist()
    points = np.arange(-31, 31)
    np.save("p.npy", points)
    expected = [keys.count(point) for point in points.tolist()]
    assert count(f"{name}:number", "p.npy") == count(f"{name}:small", "p.npy") == expected
    valid = [(key, row) for row, key in enumerate(keys) if key is not None]
    first = load("query", keys=f"{name}:number", points="p.npy", result="first").astype("i4")
    assert first.tolist() == [min((row for key, row in valid if key == point), default=-1) for point in points]
    sums = load("query", keys=f"{name}:number", points="p.npy", result="sum", values=f"{name}:float")
    values = table["float"].to_pylist()
    assert sums.tolist() == [sum(values[row] for key, row in valid if key == point) for point in points]
    if ending == "parquet":
        least = load("rmq", values=f"{name}:float", ranges=f"{name}:row,row", result="min")
        assert least.tolist() == values


def write_text(path, text):
    """A file of a text; one that is compressed has two parts, as bgzip makes them."""
    content = text.encode()
    if path.endswith(".gz"):
        half = len(content) // 2
        content = gzip.compress(content[:half]) + gzip.compress(content[half:])
    with open(path, "wb") as file:
        file.write(content)
    return path


@pytest.mark.parametrize("packed", ["", ".gz"])
def test_genomes(random, packed):
    """Intervals of BED and places of VCF, against what DuckDB finds among the same."""
    duckdb = pytest.importorskip("duckdb")

    def bed(name, rows):
        begin = random.integers(0, 500, rows)
        chrom = [f"chr{one}" for one in random.integers(1, 4, rows)]
        table = pa.table({
            "chrom": chrom, "begin": begin, "finish": begin + random.integers(1, 30, rows),
            "name": [f'{name} "{row}' for row in range(rows)],
        })
        lines = ["\t".join(map(str, line)) + "\t.\t+\n" for line in zip(*table.to_pydict().values())]
        lines.insert(rows // 3, "# half of them\n")
        path = write_text(f"{name}.bed{packed}", "track name=x\n#chrom\tstart\n" + "".join(lines))
        return table, path

    database = duckdb.connect()
    (reads, read_file), (genes, gene_file) = bed("reads", 200), bed("genes", 90)
    chrom = [f"chr{one}" for one in random.integers(1, 4, 150)]
    places = pa.table({"chrom": chrom, "pos": random.integers(1, 520, 150)})
    for name, table in (("reads", reads), ("genes", genes), ("places", places)):
        database.register(name, table)
    lines = [f"{chrom}\t{pos}\t.\tA\tG\n" for chrom, pos in zip(*places.to_pydict().values())]
    vcf_file = write_text(f"calls.vcf{packed}", "##fileformat=VCFv4.3\n#CHROM\tPOS\tID\tREF\tALT\n" + "".join(lines))
    build = {"build": f"{gene_file}:start", "build_upper": f"{gene_file}:end", "build_by": f"{gene_file}:chrom"}
    found = load("join", kind="overlaps", closed="left", **build, probe=f"{read_file}:start",
                 probe_upper=f"{read_file}:end", probe_by=f"{read_file}:chrom")
    numbered = "(select *, row_number() over () - 1 as row from {})"
    on_reads = f"{numbered.format('reads')} p join {numbered.format('genes')} b on p.chrom = b.chrom"
    expected = database.sql(f"select p.row, b.row from {on_reads} and p.begin < b.finish and b.begin < p.finish")
    assert sorted(map(tuple, found.tolist())) == sorted(expected.fetchall()) and len(found) > 50
    found = load("join", kind="contains", closed="right", **build, probe=f"{vcf_file}:POS",
                 probe_by=f"{vcf_file}:CHROM")
    on_places = f"{numbered.format('places')} p join {numbered.format('genes')} b on p.chrom = b.chrom"
    expected = database.sql(f"select p.row, b.row from {on_places} and b.begin <= p.pos - 1 and p.pos - 1 < b.finish")
    assert sorted(map(tuple, found.tolist())) == sorted(expected.fetchall()) and len(found) > 50
    done = run("join", kind="inner", build=f"{gene_file}:chrom", probe=f"{vcf_file}:CHROM", out="o.csv",
               columns=f"{vcf_file}:ID,POS,{gene_file}:name,score")
    assert (done.returncode, done.stderr) == (0, "")
    with open("o.csv") as file:
        assert file.readline() == "ID,POS,name,score\n"
        first = file.readline()
    assert first.startswith(".,") and '""' in first and first.endswith(",.\n")


@pytest.mark.parametrize("keys", ["number", "short", "text", "day", "time", "float", "text,day", "number,float,short"])
def test_joins(random, keys):
    duckdb = pytest.importorskip("duckdb")
    for name, rows in [("b", 300), ("p", 400)]:
        table = drawn_table(random, rows)
        for ending in ["parquet", "csv.gz", "feather"]:
            write(table, f"{name}.{ending}")
    condition = " and ".join(f"b.{key} = p.{key}" for key in keys.split(","))
    query = f"select p.row, coalesce(b.row, -1) from 'p.parquet' p left join 'b.parquet' b on {condition}"
    expected = sorted(duckdb.sql(query).fetchall())
    for build, probe in [("parquet", "parquet"), ("csv.gz", "feather"), ("feather", "csv.gz")]:
        found = load("join", build=f"b.{build}:{keys}", probe=f"p.{probe}:{keys}", kind="left").astype("i8")
        assert sorted(map(tuple, found.tolist())) == expected


def test_columns_of_joins(random):
    """Numbers and times are written so that they are read as they were, and fields of CSV as they stand."""
    write(drawn_table(random, 40).append_column("price", pa.array([decimal.Decimal("1.50")] * 40)), "t.parquet")
    write(drawn_table(random, 40), "u.csv.gz")
    names = "row,number,small,float,text,day,time,flag,price"
    done = run("join", build="u.csv.gz:row", probe="t.parquet:row", kind="inner", out="o.csv",
               columns=f"t.parquet:{names},u.csv.gz:text,day")
    assert (done.returncode, done.stderr) == (0, "")
    options = pa.csv.ConvertOptions(strings_can_be_null=True)
    found = pa.csv.read_csv("o.csv", pa.csv.ReadOptions(), pa.csv.ParseOptions(newlines_in_values=True), options)
    table = pa.parquet.read_table("t.parquet")
    assert found.column_names[4:6] == ["t.text", "t.day"]
    for one, name in zip(found.column_names, names.split(",")):
        assert found[one].cast(table[name].type).equals(table[name]), name
    with pa.input_stream("u.csv.gz") as stream:
        other = pa.csv.read_csv(stream, None, pa.csv.ParseOptions(newlines_in_values=True), options)
    assert found["u.text"].equals(other["text"]) and found["u.day"].equals(other["day"])


def test_types():
    times = [datetime.datetime(2024, 3, 1, hour) for hour in range(4)]
    write(pa.table({
        "u": pa.array([2**63, 1, 2, 3], pa.uint64()), "half": pa.array(np.arange(4, dtype="f2")),
        "kind": pa.array(list("abab")).dictionary_encode(), "view": pa.array(list("abab"), pa.string_view()),
        "fixed": pa.array([b"a", b"b"] * 2, pa.binary(1)), "uuid": pa.array([bytes(16), b"x" * 16] * 2, pa.uuid()),
        "none": pa.nulls(4), "zoned": pa.array(times, pa.timestamp("ms", "Europe/Berlin")),
        "span": pa.array([datetime.timedelta(hours=hour) for hour in range(4)]), "long": ["a longer text"] * 4,
        "clock": pa.array([datetime.time(hour) for hour in range(4)]), "code": ["7", "8", "9", None],
        "price": pa.array([decimal.Decimal("1.50")] * 4), "list": [[1]] * 4, "nul": [b"a", b"a\0", b"b", b"c"],
        "far": pa.array([datetime.date(1, 1, 1)] * 4)}), "t.arrow")
    for name in ["u", "half", "zoned", "span", "clock"]:
        assert count(f"t.arrow:{name}", f"t.arrow:{name}") == [1] * 4, name
    for name in ["kind", "view", "fixed"]:
        assert count(f"t.arrow:{name}", f"t.arrow:{name}") == [2] * 4, name
    for name, counted in [("uuid", 2), ("nul", 1), ("long", 4)]:
        assert count(f"t.arrow:{name}", f"t.arrow:{name}") == [counted] * 4, name
    assert count("t.arrow:none", "t.arrow:none") == [0] * 4
    assert count("t.arrow:code:int64", "t.arrow:code:i8") == [1, 1, 1, 0]
    assert count("t.arrow:price:double", "t.arrow:price:f8") == [4] * 4
    for name, pairs in [("uuid", 8), ("nul", 4), ("long", 16), ("u:string", 4), ("far:string", 16)]:
        assert len(load("join", build=f"t.arrow:{name}", probe=f"t.arrow:{name}", kind="inner")) == pairs, name
    with open("z.csv", "w", encoding="utf-8") as file:
        file.write("t\n2024-03-01T01:00+01:00\n2024-03-01 02:30:00.5Z\n")
    found = load("join", build="t.arrow:zoned", probe="z.csv:t", kind="asof", tolerance="45min")
    assert found.astype("i8").tolist() == [[0, 0], [1, 2]]
    os.remove("o.npy")
    for name, part in [
        ("long:bytes8", "t.arrow: row 0: 'a longer text' in column long has 13 bytes, more than 8"),
        ("long:bytes4", "row 0: 'a longer text' in column long has 13 bytes, more than 4"),
        ("price", "column price is of decimal128(3, 2): columns are of numbers"),
        ("list", "column list is of list<item: int64>: columns are of numbers"),
        ("far", "column far is of date32[day]: Casting from date32[day] to timestamp[ns] would result in out of"),
        ("long:int64", "column long is of string: Failed to parse string"),
        ("spam", "no column 'spam'; there are u, half, kind, view"),
        ("spam", "did you mean 'span'?"),
    ]:
        assert part in refuse("query", keys=f"t.arrow:{name}", points=f"t.arrow:{name}", result="count")
    line = refuse("query", keys="t.arrow:u", points="t.arrow:u", result="sum", values="t.arrow:nul")
    assert "row 1: 'a\\x00' in column nul ends in a NUL byte" in line


def test_refusals():
    pa.parquet.write_table(pa.table({"n": [1, 2]}), "t.parquet")
    with open("t.parquet", "rb") as file:
        content = file.read()
    twice = pa.Table.from_arrays([pa.array([1]), pa.array([2])], ["a", "a"])
    write(twice, "twice.arrow")
    for name, damaged in [("cut.parquet", content[:-9]), ("x.arrow", content), ("x.csv.gz", b"\x1f\x8b\x08\0damaged")]:
        with open(name, "wb") as file:
            file.write(damaged)
    for name, part in [("cut.parquet:n", "cut.parquet: "), ("x.arrow:n", "x.arrow: "), ("x.csv.gz:n", "x.csv.gz: "),
                       ("twice.arrow:a", "twice.arrow: 2 columns are called 'a'")]:
        assert part in refuse("query", keys=name, points=name, result="count")


def test_only_named_columns_are_read():
    marks = "spoiled" * 1000
    table = pa.table({"key": [1, 2, 3], "other": [marks, marks[1:], marks[2:]]})
    pa.parquet.write_table(table, "t.parquet", compression="none", use_dictionary=False)
    with open("t.parquet", "r+b") as file:
        file.seek(file.read().index(b"spoiledspoiled") - 40)
        file.write(b"\xff" * 200)
    assert count("t.parquet:key", "t.parquet:key") == [1, 1, 1]


def damaged(content, draw):
    content = bytearray(content)
    for _ in range(draw.choice([1, 1, 1, 2, 4, 8])):
        at, how = draw.randrange(len(content)), draw.random()
        if how < 0.7:
            content[at] = draw.choice([0, 1, 127, 128, 255, draw.randrange(256)])
        elif how < 0.8:
            content = content[:at] or bytearray(1)
        elif how < 0.9:
            content[at:at] = bytes([draw.randrange(256)]) * draw.choice([1, 4, 8])
        else:
            content[at:at + 8] = b"\xff" * 8
    return bytes(content)


def test_names_that_are_no_utf8():
    with pa.output_stream("t.csv.lz4", compression="detect") as stream:
        stream.write(b'row,tex\xfft\x1b[2J\n1,a\n')
    assert r"tex\xfft\x1b[2J" in refuse("query", keys="t.csv.lz4:text", points="t.csv.lz4:row", result="first")


@pytest.mark.parametrize("seed", range(SEED, SEED + max(4, 40 // SHARE)))
def test_drawn_damage(random, seed):
    """Answers, or a line."""
    draw = draws.Random(seed)
    name = write(drawn_table(random, 9), f"t.{draw.choice(ENDINGS[1:])}")
    with open(name, "r+b") as file:
        content = file.read()
        file.seek(0)
        file.truncate()
        file.write(damaged(content, draw))
    column = draw.choice(["number", "text", "day", "flag"])
    done = run("join", build=f"{name}:{column}", probe=f"{name}:{column}", kind="inner", out="o.csv",
               columns=f"probe:{name}:text,number")
    assert done.stderr.count("\n") == (done.returncode != 0) and done.returncode in (0, 1, 2), done.stderr
