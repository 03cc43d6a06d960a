# SPDX-License-Identifier: Apache-2.0
"""Each bad input gets one clear line on stderr, a failure, and no output file."""

import io
import os
import resource

import numpy as np
import pytest
from conftest import BACKEND, limit, query_arguments

LEGAL = "uint32, uint64, int32, int64, float, double, bytes1 .. bytes8 are read"


def npy(array):
    """The bytes of an .npy file."""
    buffer = io.BytesIO()
    np.save(buffer, array)
    return buffer.getvalue()


def npy_with(dictionary, cells=b""):
    """An .npy file with this header."""
    text = dictionary.encode()
    return b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text + cells


NUMBERS = np.arange(4, dtype="<u4")
STRUCTURE_DTYPE = np.zeros(2, [("a", "<u4"), ("b", "<u4")])
SHAPE = "{'descr': '<u4', 'fortran_order': False, 'shape': %s, }"

BAD_ARRAYS = {
    "text": (b"1\n2\n3\n", ["not an .npy file"]),
    "nothing": (b"", ["not an .npy file"]),
    "cells truncated": (npy(NUMBERS)[:-3], ["truncated", "16 bytes", "13 found"]),
    "header truncated": (npy(NUMBERS)[:50], ["truncated", "header"]),
    "trailing bytes": (npy(NUMBERS) + b"xx", ["2 bytes follow"]),
    "version": (b"\x93NUMPY\x09\x00" + npy(NUMBERS)[8:], ["version 9.0"]),
    "big-endian": (npy(NUMBERS.astype(">u4")), [">u4", LEGAL, "a.astype('<u4')"]),
    "float16": (npy(NUMBERS.astype("<f2")), ["<f2", LEGAL, "a.astype('f4')"]),
    "bytes": (npy(NUMBERS.astype("|u1")), ["|u1", LEGAL, "a.astype('u4')"]),
    "bool": (npy(NUMBERS.astype(bool)), ["|b1", LEGAL, "a.astype('uint32')"]),
    "dates": (npy(np.array(["2020-01-01"], "M8[D]")), ["<M8[D]", LEGAL, "a.view('int64')"]),
    "Parquet": (b"PAR1\x15\x04\x15\x10", ["not an .npy file", "Parquet", "to_csv"]),
    "gzip": (b"\x1f\x8b\x08\x00\x00\x00\x00", ["not an .npy file", "gzip", "gunzip"]),
    "archive": (b"PK\x03\x04\x14\x00\x00\x00", ["not an .npy file", ".npz", "numpy.save"]),
    "unicode": (npy(np.array(["a", "b"])), ["<U1", LEGAL, "numpy.char.encode(a)"]),
    "long text": (npy(np.array([b"123456789"])), ["|S9", LEGAL]),
    "structure": (npy(STRUCTURE_DTYPE), ["structure", "a['field']"]),
    "two dimensions": (npy(NUMBERS.reshape(2, 2)), ["(2, 2)", "one dimension"]),
    "no dimension": (npy(NUMBERS[0]), ["()", "one dimension"]),
    "Fortran order": (npy(np.asfortranarray(np.zeros((2, 3), "<u4"))), ["Fortran order"]),
    "no dictionary": (npy_with("hello"), ["header is damaged"]),
    "negative length": (npy_with(SHAPE % "(-1,)"), ["header is damaged"]),
    "huge length": (npy_with(SHAPE % "(4611686018427387905,)"), ["2^64"]),
    "larger than the file": (npy_with(SHAPE % "(1000000000000,)"), ["truncated", "4000000000000"]),
    "length of 65 bits": (npy_with(SHAPE % "(18446744073709551616,)"), ["header is damaged"]),
}

OPTIONS = ["keys", "points", "row_ids", "values"]


@pytest.mark.parametrize("option", OPTIONS)
@pytest.mark.parametrize("case", BAD_ARRAYS)
def test_bad_arrays(program, case, option):
    content, parts = BAD_ARRAYS[case]
    good = program.file("good.npy", NUMBERS)
    options = {"keys": good, "points": good, "values": good, "result": "sum"}
    options[option] = program.file("bad.npy", content)
    line = program.refuse_query(**options)
    assert line.startswith("raydex: bad.npy: ")
    for part in parts:
        assert part in line


@pytest.mark.parametrize(
    ("array", "part"),
    [
        (np.zeros(4, "<u4"), "n x 2"),
        (np.zeros((4, 3), "<u4"), "n x 2"),
        (np.zeros((2, 2, 2), "<u4"), "n x 2"),
        (np.zeros((2, 4), "<u4").T, "Fortran order"),
        (np.zeros((4, 2), ">u4"), "a.astype('<u4')"),
        (np.zeros((4, 2), "<i8"), "int64, but keys good.npy are uint32"),
    ],
)
def test_bad_ranges(program, array, part):
    good = program.file("good.npy", NUMBERS)
    bad = program.file("bad.npy", array)
    line = program.refuse_query(keys=good, ranges=bad, result="count")
    assert "bad.npy" in line and part in line


BAD_TABLES = {
    "no such column": ("b,c\n1,2\n", ["no column 'a'", "b, c"]),
    "nothing": ("", ["empty"]),
    "text among numbers": ("a\n1\n2\nfoo\n", ["line 4", "'foo'", "t.csv:a:string"]),
    "number among texts": ("a\nfoo\n2\n", ["line 2", "'foo'", "t.csv:a:string"]),
    "too few fields": ("a,b\n1,2\n3\n", ["line 3", "1 fields", "2 columns"]),
    "too many fields": ("a,b\n1,2,3\n", ["line 2", "3 fields", "2 columns"]),
    "unterminated quote": ('a,b\n1,2\n3,"4\n5,6\n', ["quote", "line 3"]),
    "out of range": ("a\n1\n9223372036854775808\n", ["line 3", "out of the range", "t.csv:a:uint64"]),
    "text with a line break": ('a\n1\n"x\ny"\n', [r"'x\x0ay'"]),
    "columns of one name": ("a,a\n1,2\n", ["2 columns"]),
}


@pytest.mark.parametrize("case", BAD_TABLES)
def test_bad_tables(program, case):
    content, parts = BAD_TABLES[case]
    program.file("t.csv", content)
    good = program.file("good.npy", NUMBERS.astype("<i8"))
    line = program.refuse_query(keys="t.csv:a", points=good, result="count")
    assert line.startswith("raydex: t.csv: ")
    for part in parts:
        assert part in line
    assert program.refuse_query(keys=good, points="t.csv:a", result="count") == line


def test_endings_of_outputs(program):
    good = program.file("good.npy", NUMBERS)
    query = {"keys": good, "points": good}
    for out, result in [("o.parquet", "first"), ("o.txt", "first"), ("o.tsv", "count"), ("o.csv.gz", "first"),
                        ("o.npz", "first"), ("o.npy", "rows"), ("o.json", "rows")]:
        line = program.refuse_query(**query, result=result, out=out)
        assert f"--out {out}: files that end in" in line and ".csv" in line
    assert "files that end in .tsv" in program.refuse_join(build=good, probe=good, kind="inner", out="o.tsv")
    for out in ["o.CSV", "o.Csv"]:
        assert program.run(*query_arguments(**query, result="count", out=out)).returncode == 0
        assert (program.folder / out).read_text() == "count\n" + "1\n" * 4
    for out in ["o.NPY", "o", "-dash.npy"]:
        assert program.run(*query_arguments(**query, result="count", out=out)).returncode == 0
        assert np.load(program.folder / out).tolist() == [1] * 4


def test_whole_numbers_that_no_double_is(program):
    program.file("t.csv", "a\n9007199254740993\n1.5\n")
    program.file("k.csv", "a\n9007199254740992\n")
    line = program.refuse_join(build="t.csv:a", probe="k.csv:a", kind="inner")
    assert "line 2: '9007199254740993' in column a is a whole number that no double is" in line
    assert line.endswith("to read it rounded: t.csv:a:double\n")
    for number in ["9007199254740993.0", "-9007199254740993", "+36893488147419103233", "009007199254740993"]:
        program.file("t.csv", f"a\n0.5\n{number}\n")
        assert f"line 3: '{number}' in column a is a whole" in program.refuse_join(
            build="t.csv:a", probe="k.csv:a", kind="inner")
    program.file("t.csv", "a\n0.5\n9007199254740994\n36893488147419103232\n1e300\n")
    assert program.query(keys="t.csv:a", points="t.csv:a", result="count").tolist() == [1] * 4


def test_integers_with_a_point(program):
    program.file("t.csv", "a\n5.0\n\n7.\n+8.00\n")
    keys = program.file("k.npy", np.array([5, 7, 8], "<i8"))
    line = program.refuse_query(keys=keys, points="t.csv:a", result="first")
    assert line.endswith("name the type: t.csv:a:int64\n")
    assert program.query(keys=keys, points="t.csv:a:int64", result="first").tolist()[2:] == [1, 2]
    program.file("t.csv", "a\n5.5\n")
    assert "'5.5' in column a is not of type int64" in program.refuse_query(
        keys=keys, points="t.csv:a:int64", result="first")


def test_csv_names(program):
    program.file("t.csv", "a\n1\n")
    good = program.file("good.npy", NUMBERS)
    assert "which column" in program.refuse_query(keys="t.csv", points=good, result="count")
    assert "lower,upper" in program.refuse_query(keys="t.csv:a", ranges="t.csv:a", result="count")
    line = program.refuse_query(keys="t.csv:a", points=good, result="count")
    assert "points good.npy are uint32, but keys t.csv:a are int64; in NumPy: a.ast" in line
    wide = program.file("wide.npy", NUMBERS.astype("<u8"))
    line = program.refuse_query(keys=good, points=wide, result="count")
    assert line.endswith("in NumPy: a.astype('<u8') of good.npy\n")
    line = program.refuse_query(keys=good, points="t.csv:a", result="count")
    assert line.endswith("name the type: t.csv:a:uint32\n")
    for name in ["uint32", "u4", "<u4"]:
        assert program.query(keys=good, points=f"t.csv:a:{name}", result="count") == [1]
    program.file("T.CSV", "a\n1\n")
    assert program.query(keys="T.CSV:a", points="t.csv:a", result="count") == [1]


def test_columns_of_other_files(program):
    good = program.file("good.npy", NUMBERS)
    for name, content in [("t.txt", "a\n1\n"), ("t.psv", "a\n1\n"), ("other.npy", NUMBERS)]:
        program.file(name, content)
        line = program.refuse_query(keys=f"{name}:a", points=good, result="count")
        assert line.startswith(f"raydex: {name}:a: columns are named of tables")
    line = program.refuse_query(keys="t.txt", points=good, result="count")
    assert "not an .npy file" in line and "file.csv:column" in line


def test_files_that_are_not_there(program):
    good = program.file("good.npy", NUMBERS)
    for name in ["none.npy", "none.csv:a", "none/k.npy"]:
        line = program.refuse_query(keys=good, points=name, result="first")
        assert "cannot be read: No such file" in line
    line = program.refuse_query(keys="-", points=good, result="first")
    assert line.startswith("raydex: -: standard input is read as points and ranges of `raydex query` alone")
    assert "not a regular file" in program.refuse_query(keys=".", points=good, result="first")


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads everything")
def test_files_that_may_not_be_read(program):
    good = program.file("good.npy", NUMBERS)
    bad = program.file("bad.npy", NUMBERS)
    (program.folder / bad).chmod(0)
    assert "Permission denied" in program.refuse_query(keys=bad, points=good, result="first")


@pytest.mark.parametrize("dtype", ["<u8", "<i4", "<f4", "|S4"])
def test_different_types(program, dtype):
    keys = program.file("K.npy", NUMBERS)
    points = program.file("P.npy", NUMBERS.astype(dtype))
    line = program.refuse_query(keys=keys, points=points, result="first")
    name = {"<u8": "uint64", "<i4": "int32", "<f4": "float", "|S4": "bytes4"}[dtype]
    assert f"points P.npy are {name}, but keys K.npy are uint32" in line
    # Advised is only what keeps all values.
    assert line.endswith("in NumPy: a.astype('<u8') of K.npy\n" if dtype == "<u8" else "uint32\n")


def test_row_ids(program):
    good = program.file("good.npy", NUMBERS)
    program.file("t.csv", "a,b\n1,\n2,\n3,\n,\n")

    def refuse(row_ids):
        if isinstance(row_ids, np.ndarray):
            row_ids = program.file("I.npy", row_ids)
        return program.refuse_query(keys=good, points=good, row_ids=row_ids, result="first")

    assert "3" in refuse(NUMBERS[:3]) and "4" in refuse(NUMBERS[:3])
    line = refuse(NUMBERS.astype("<i4"))
    assert "row ids I.npy are int32; they must be uint32 or uint64" in line
    assert "NumPy" not in line  # they may be negative
    assert "t.csv:a are int64; " in refuse("t.csv:a")
    assert "name the type: t.csv:a:uint64" in refuse("t.csv:a")
    assert "missing" in refuse("t.csv:a:u4")
    for dtype in ["<u4", "<u8"]:
        row_ids = NUMBERS.astype(dtype)
        row_ids[2] = np.iinfo(dtype).max
        assert str(np.iinfo(dtype).max) in refuse(row_ids)


def test_values(program):
    good = program.file("good.npy", NUMBERS)
    few = program.file("few.npy", NUMBERS[:3])
    text = program.file("text.npy", NUMBERS.astype("|S4"))
    query = {"keys": good, "points": good}
    assert "3" in program.refuse_query(**query, values=few, result="sum")
    assert "bytes4" in program.refuse_query(**query, values=text, result="sum")
    assert "--result sum" in program.refuse_query(**query, values=good, result="count")


def test_unknown_words(program):
    good = program.file("good.npy", NUMBERS)
    query = {"keys": good, "points": good}
    line = program.refuse_query(**query, result="median")
    assert "median" in line and "first, count, sum, mean, min, max, rows" in line
    query["result"] = "first"
    line = program.refuse_query(**query, structure="b_tree")
    assert "b_tree" in line and "auto, sorted_array" in line
    line = program.refuse_query(**query, backend="tpu")
    assert "tpu" in line and "auto, cpu, cuda, optix" in line
    line = program.refuse_query(**query, structure="sorted_array", option="colour=red")
    assert "colour" in line and "layout=column|row" in line
    line = program.refuse_query(**query, structure="sorted_array", option="layout=red")
    assert "red" in line and "column, row" in line
    assert "name=value" in program.refuse_query(**query, option="layout")
    twice = query_arguments(**query, option="layout=row") + ["--option", "layout=column"]
    assert "twice" in program.refuse(*twice)


def test_usage(program):
    good = program.file("good.npy", NUMBERS)
    query = {"keys": good, "points": good, "result": "first"}
    assert "--keys is required" in program.refuse("query")
    assert "subcommand" in program.refuse()
    assert "frobnicate" in program.refuse("frobnicate")
    assert "--frob" in program.refuse(*query_arguments(**query), "--frob")
    assert "--keys" in program.refuse(*query_arguments(**query), "--keys", good)
    assert "--points" in program.refuse_query(keys=good, result="first")
    assert "--ranges" in program.refuse_query(**query, ranges=good)
    assert "tcsh" in program.refuse("completion", "tcsh")
    for arguments in ["query"], ["frobnicate"], [], ["structures", "rx", "extra"]:
        assert program.run(*arguments).returncode == 2


def test_outputs_that_cannot_be_written(program):
    good = program.file("good.npy", NUMBERS)
    (program.folder / "folder").mkdir()
    query = {"keys": good, "points": good, "result": "first"}
    for bad in ["none/o.npy", "folder", "good.npy/o.npy"]:
        for option in ["out", "report"]:
            line = program.refuse_query(**query, **{option: bad})
            assert line.startswith(f"raydex: {bad}: cannot be written: ")
    assert "same file" in program.refuse_query(**query, out="x.npy", report="x.npy")


@pytest.mark.parametrize("result", ["first", "rows"])
def test_full_disk(program, result):
    column = program.file("K.npy", np.arange(10000, dtype="<u4"))
    out = "out.npz" if result == "rows" else "out.npy"
    query = query_arguments(keys=column, points=column, result=result, report="report.json", out=out)
    line = program.refuse(*query, **limit(resource.RLIMIT_FSIZE, 4096))
    assert line == f"raydex: {out}: cannot be written: File too large\n"


def test_a_failure_keeps_what_was_there(program):
    good = program.file("good.npy", NUMBERS)
    program.file("out.npy", "precious")
    program.refuse_query(keys=good, points="none.npy", result="first", report="report.json")
    assert (program.folder / "out.npy").read_text() == "precious"


def test_files_that_cannot_be_read_to_their_end(program):
    good = program.file("good.npy", NUMBERS)
    (program.folder / "t.csv").symlink_to("/proc/self/mem")  # nothing can be read at its beginning
    line = program.refuse_query(keys="t.csv:a", points=good, result="count")
    assert line == "raydex: t.csv: cannot be read to its end\n"


def test_lines_that_do_not_fit_into_memory(program):
    limits = limit(resource.RLIMIT_AS, 1 << 30)
    if BACKEND != "cpu" or program.run("--version", **limits).returncode != 0:
        pytest.skip("the program needs address space for other things")
    good = program.file("good.npy", NUMBERS)
    program.file("t.csv", "a\n1\n")
    os.truncate(program.folder / "t.csv", 1 << 30)
    query = query_arguments(keys="t.csv:a", points=good, result="count")
    assert program.refuse(*query, **limits) == "raydex: out of memory\n"


def test_exhausted_memory(program):
    limits = limit(resource.RLIMIT_AS, 1 << 30)
    if BACKEND != "cpu" or program.run("--version", **limits).returncode != 0:
        pytest.skip("the program needs address space for other things")
    points = program.file("P.npy", NUMBERS)
    size = 1 << 30
    header = npy_with(SHAPE % f"({size // 4},)")
    program.file("K.npy", header)
    os.truncate(program.folder / "K.npy", len(header) + size)
    query = query_arguments(keys="K.npy", points=points, result="first")
    assert "memory" in program.refuse(*query, **limits)
    # Here the keys fit, but the build's memory does not.
    size = 1 << 29
    header = npy_with(SHAPE % f"({size // 4},)")
    program.file("K.npy", header)
    os.truncate(program.folder / "K.npy", len(header) + size)
    assert "memory" in program.refuse(*query, **limits)


def test_tables_without_pyarrow(program, monkeypatch):
    """Other tables than .csv need Python and pyarrow; which of them is missing is said in a line."""
    program.file("t.parquet", b"PAR1")
    program.file("alone", '#!/bin/sh\nexec /usr/bin/env python3 -I -S "$@"\n')
    (program.folder / "alone").chmod(0o755)
    program.file("broken", "#!/bin/sh\nexit 7\n")
    (program.folder / "broken").chmod(0o755)
    for python, status, part in [
        ("/none/python3", 1, "it is read by pyarrow, and /none/python3 cannot be run: No such file or directory"),
        ("./alone", 1, "it is read by pyarrow, which is not installed: "),
        ("./broken", 1, "cannot be read: ./broken ended with status 7"),
    ]:
        monkeypatch.setenv("RAYDEX_PYTHON", python)
        for name in ["t.parquet", program.file("t.csv.gz", b"")]:
            done = program.run(*query_arguments(keys=f"{name}:a", points=f"{name}:a", result="count"))
            assert (done.returncode, done.stdout) == (status, "")
            assert done.stderr.startswith(f"raydex: {name}: {part}") and done.stderr.count("\n") == 1
    without = []
    for python in ("", "python3"):  # an empty name is none
        monkeypatch.setenv("RAYDEX_PYTHON", python)
        without.append(program.run(*query_arguments(keys="t.parquet:a", points="t.parquet:a", result="count")).stderr)
    assert without[0] == without[1] and "cannot be run" not in without[0]
    assert "install pyarrow" in program.run(
        *query_arguments(keys="t.parquet:a", points="t.parquet:a", result="count"),
        env={**os.environ, "RAYDEX_PYTHON": "./alone"}).stderr
    for name, part in [("none.parquet:a", "none.parquet: cannot be read: No such file or directory"),
                       ("t.parquet", "t.parquet: which column? name it: t.parquet:column")]:
        assert part in program.refuse_query(keys=name, points=name, result="count")
