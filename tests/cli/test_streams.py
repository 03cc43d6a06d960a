# SPDX-License-Identifier: Apache-2.0
"""Points and ranges that come on standard input as CSV, and answers that go to standard output."""

import itertools
import json
import resource
import subprocess
import threading

import numpy as np
import pytest
from conftest import BACKEND, BINARY, STRUCTURE, limit, query_arguments

RESULTS = ["first", "count", "sum", "rows"]
PLACES = ["rank", "rank_right", "predecessor", "successor"]


def start(program, **options):
    """A query that reads what is written to its `stdin`."""
    words = query_arguments(**{"out": "-", **options})
    return subprocess.Popen([BINARY, *words], cwd=program.folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                            stderr=subprocess.PIPE)


def answer(program, text, **options):
    """What it writes on a text, all at once or in pieces."""
    pieces = [text] if isinstance(text, (bytes, str)) else text
    process = start(program, **options)
    got = []
    reader = threading.Thread(target=lambda: got.append(process.stdout.read()))
    reader.start()
    for piece in pieces:
        process.stdin.write(piece.encode() if isinstance(piece, str) else piece)
        process.stdin.flush()
    process.stdin.close()
    reader.join()
    assert process.wait(60) == 0, process.stderr.read()
    assert process.stderr.read() == b""
    return got[0].decode()


def refuse(program, text, **options):
    """The line in which it refuses a text, and what it wrote before."""
    done = subprocess.run([BINARY, *query_arguments(**{"out": "-", **options})], cwd=program.folder, input=text.encode(),
                          capture_output=True, timeout=60, check=False)
    line = done.stderr.decode()
    assert done.returncode == 2 and line.startswith("raydex: ") and line.count("\n") == 1, line
    return line, done.stdout.decode()


def words_for(result):
    """What a result is asked with, of a table with these columns."""
    return {"keys": "t.csv:key", "result": result, **({"values": "t.csv:value"} if result == "sum" else {})}


def table(keys):
    return "key,value\n" + "".join(f"{key},{i * 7 % 100}\n" for i, key in enumerate(keys))


def test_answers_are_there_before_more_is_asked(program):
    program.file("t.csv", "key,value\n10,1\n20,2\n20,3\n30,4\n")
    process = start(program, keys="t.csv:key", points="-", result="count", report="report.json")
    process.stdin.write(b"point\n20\n10\n3")
    process.stdin.flush()
    assert [process.stdout.readline() for _ in range(3)] == [b"count\n", b"2\n", b"1\n"]
    process.stdin.write(b"0\n\n7\n")  # which ends the third line
    process.stdin.flush()
    assert [process.stdout.readline() for _ in range(3)] == [b"1\n", b"0\n", b"0\n"]
    process.stdin.write(b"20")
    process.stdin.close()
    assert process.stdout.read() == b"2\n" and process.wait(60) == 0
    report = json.loads((program.folder / "report.json").read_text())
    assert report["probes"] == 6 and report["n"] == 4


@pytest.mark.parametrize("result", RESULTS + PLACES)
def test_points_as_those_of_a_file(program, rng, result):
    if result in PLACES and STRUCTURE in ("hash_open", "hash_bucket"):
        pytest.skip("it has no order")
    keys, points = rng.integers(0, 300, 500), rng.integers(-20, 320, 400)
    program.file("t.csv", table(keys))
    lines = ["note,point\n", *(f'"a, {i}\n",{point if i % 9 else "NA"}\n' for i, point in enumerate(points))]
    program.file("p.csv", "".join(lines))
    words = words_for(result)
    of_file = program.run(*query_arguments(points="p.csv:point", out="-", **words))
    assert of_file.returncode == 0
    text = "".join(lines)
    assert answer(program, text, points="-:point", **words) == of_file.stdout
    cuts = sorted(rng.integers(0, len(text), 40))
    pieces = [text[begin:end] for begin, end in itertools.pairwise([0, *cuts, len(text)])]
    assert answer(program, pieces, points="/dev/stdin:point", **words) == of_file.stdout
    if result == "count":  # NumPy's
        there = [point for i, point in enumerate(points) if i % 9]
        lines = of_file.stdout.splitlines()[1:]
        assert [int(line) for i, line in enumerate(lines) if i % 9] == [int((keys == one).sum()) for one in there]
    (program.folder / "out.csv").unlink(missing_ok=True)
    assert answer(program, text, points="-:point", **{**words, "out": "out.csv"}) == ""
    assert (program.folder / "out.csv").read_text() == of_file.stdout


@pytest.mark.parametrize("result", RESULTS)
def test_ranges(program, rng, result):
    if STRUCTURE in ("hash_open", "hash_bucket"):
        pytest.skip("it has no ranges")
    keys = rng.integers(0, 300, 200)
    program.file("t.csv", table(keys))
    lower = rng.integers(-20, 320, 100)
    text = "high,low\n" + "".join(f"{low + i % 30},{low}\n" for i, low in enumerate(lower))
    program.file("r.csv", text)
    words = words_for(result)
    of_file = program.run(*query_arguments(ranges="r.csv:low,high", out="-", **words)).stdout
    assert answer(program, text, ranges="-:low,high", **words) == of_file
    swapped = "low,high\n" + "".join(f"{low},{low + i % 30}\n" for i, low in enumerate(lower))
    assert answer(program, swapped, ranges="-", **words) == of_file


@pytest.mark.parametrize(("keys", "points", "expected"), [
    ("1.5\n2\nNaN", "2\nnan\n1.50\n3", [1, 1, 1, 0]),
    ("ab\nabc", "ab\nabcdefgh\nabc\na", [1, 0, 1, 0]),
    ("2024-03-01\n2024-03-02 12:00", "2024-03-01T00:00:00\nNA\n2024-03-02 12:00:00.0", [1, 0, 1]),
    ("2024-03-01T00:00Z", "2024-03-01 01:00+01:00\n\n2024-03-01T00:00+01:00", [1, 0, 0]),
    ("5\n7", "5.0\n 7 \n6", [1, 1, 0]),
])  # fmt: skip
def test_points_are_read_as_the_keys_are(program, keys, points, expected):
    if STRUCTURE == "direct" and not keys[0].isdigit():
        pytest.skip("it has only integers")
    program.file("t.csv", f"key\n{keys}\n")
    text = f"\ufeffpoint\r\n{points}\n".replace("\n", "\r\n").replace("\r\r", "\r")
    for pieces in (text, list(text)):
        found = answer(program, pieces, keys="t.csv:key", points="-", result="count")
        assert found.split() == ["count", *map(str, expected)]


def test_no_points(program):
    program.file("t.csv", "key\n1\n")
    for text in ("point\n", "point", "\n\npoint"):
        assert answer(program, text, keys="t.csv:key", points="-", result="first") == "first\n"


def test_what_is_refused(program):
    program.file("t.csv", "key\n1\n2\n")
    words = {"keys": "t.csv:key", "points": "-", "result": "count"}
    for text, line in (
        ("", "it is empty"),
        ("a,b\n1,2\n", "which column? there are a, b; name it behind a colon"),
        ("\na\nx\n", "line 3: 'x' in column a is not of type int64"), ('a\n"2\n', "a quote that does not end"),
        ("PAR1", "it is a Parquet file"), ("ARROW1\0\0", "it is an Arrow file, which is no stream"),
    ):  # fmt: skip
        said, printed = refuse(program, text, **words)
        assert "standard input: " in said and line in said and printed == ""
    said, _ = refuse(program, "a,b\n1,2\n", **{**words, "points": "-:c"})
    assert "no column 'c'; there are a, b" in said
    said, _ = refuse(program, "a,b\n1,2\n1\n", **{**words, "points": "-:a"})
    assert "line 3: 1 fields, but there are 2 columns" in said
    said, _ = refuse(program, "a\n2024-01-01\n", **words)
    assert "line 2: '2024-01-01' in column a is not of type int64" in said
    said, _ = refuse(program, "a\n1\n", **{**words, "out": "o.npy"})
    assert "--out o.npy: answers to standard input are not counted before they are written" in said
    said, _ = refuse(program, "a\n1\n", keys="t.csv:key", ranges="-:a", result="count")
    assert "ranges have two columns: -:lower,upper" in said


def test_a_fault_behind_good_lines(program):
    """What was answered stays, and the line is counted from the first one."""
    program.file("t.csv", "key\n1\n2\n")
    process = start(program, keys="t.csv:key", points="-", result="count")
    process.stdin.write(b"a\n1\n\n")
    process.stdin.flush()
    assert [process.stdout.readline() for _ in range(3)] == [b"count\n", b"1\n", b"0\n"]
    process.stdin.write(b"2\nx\n")
    process.stdin.close()
    assert process.stdout.read() == b"" and process.wait(60) == 2
    assert b"standard input: line 5: 'x' in column a" in process.stderr.read()


def test_more_points_than_memory(program):
    """Some 400 MB of points within 1 GB of address space."""
    limits = limit(resource.RLIMIT_AS, 1 << 30)
    if BACKEND != "cpu" or program.run("--version", **limits).returncode != 0:
        pytest.skip("the program needs address space for other things")
    program.file("t.csv", "key\n1\n2\n2\n")
    block, blocks = b"12345678,2\n" * (1 << 17), 300
    words = query_arguments(keys="t.csv:key", points="-:key", result="count", out="out.csv")
    with subprocess.Popen([BINARY, *words], cwd=program.folder, stdin=subprocess.PIPE, **limits) as process:
        process.stdin.write(b"other,key\n")
        for _ in range(blocks):
            process.stdin.write(block)
        process.stdin.close()
        assert process.wait(300) == 0
    with open(program.folder / "out.csv", "rb") as file:
        assert file.readline() == b"count\n"
        assert sum(part.count(b"2\n") for part in iter(lambda: file.read(1 << 20), b"")) == blocks << 17
