# SPDX-License-Identifier: Apache-2.0
"""Streams in Arrow's IPC format that the program answers batch by batch, with this Python's pyarrow."""

import datetime
import os
import subprocess
import sys

import numpy as np
import pytest
import raydex

pa = pytest.importorskip("pyarrow")

PROGRAM = os.path.join(os.path.dirname(raydex.__file__), "bin", "raydex")


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("RAYDEX_PYTHON", sys.executable)


def start(**options):
    words = [word for name, value in {"out": "-", **options}.items() for word in (f"--{name}", value)]
    return subprocess.Popen(
        [PROGRAM, "query", *words], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def answers(batches, schema, **options):
    """The table of answers to some batches, which are given one after the other, each once that before is answered."""
    process = start(**options)
    found, reader = [], None
    with pa.ipc.new_stream(process.stdin, schema) as stream:
        for batch in batches:
            stream.write_batch(batch)
            process.stdin.flush()
            if batch.num_rows:
                reader = reader or pa.ipc.open_stream(process.stdout)
                found.append(reader.read_next_batch())
    process.stdin.close()
    reader = reader or pa.ipc.open_stream(process.stdout)
    found.extend(reader)
    assert process.wait(60) == 0 and process.stderr.read() == b""
    return pa.Table.from_batches(found, reader.schema)


def batches_of(random, column, other):
    table = pa.table({"other": other, "point": column})
    cuts = [0, 0, *sorted(random.integers(0, len(table), 5)), len(table)]
    return [
        pa.record_batch([one.combine_chunks() for one in table.slice(begin, end - begin).columns], schema=table.schema)
        for begin, end in zip(cuts, cuts[1:])
    ], table.schema  # fmt: skip


@pytest.mark.parametrize(("result", "dtype"), [
    ("first", "int64"), ("count", "int32"), ("rank", "uint16"), ("sum", "float64"), ("mean", "int8"), ("rows", "int64"),
])  # fmt: skip
def test_against_numpy(random, dtype, result):
    keys, points = random.integers(0, 90, 200), random.integers(0, 100, 150)
    values = random.integers(-5, 5, 200)
    np.save("k.npy", keys)
    np.save("v.npy", values)
    missing = random.random(150) < 0.2
    batches, schema = batches_of(random, pa.array(points, dtype, mask=missing), random.random(150))
    words = {"values": "v.npy"} if result in ("sum", "mean") else {}
    found = answers(batches, schema, keys="k.npy", points="-:point", result=result, **words)
    equal = (keys == points[:, None]) & ~missing[:, None]
    if result == "rows":
        pairs = sorted(zip(found["probe"].to_pylist(), found["row"].to_pylist()))
        assert pairs == list(zip(*map(np.ndarray.tolist, np.nonzero(equal))))
        return
    expected = {
        "first": np.where(equal.any(1), equal.argmax(1), -1), "count": equal.sum(1), "sum": (equal * values).sum(1),
        "rank": np.where(missing, -1, np.searchsorted(np.sort(keys), points)),
    }.get(result)  # fmt: skip
    cells = found[result].to_pylist()
    if result == "mean":
        sums, counts = (equal * values).sum(1), equal.sum(1)
        assert all(cell == a / b if b else cell != cell for cell, a, b in zip(cells, sums, counts))
    else:
        assert [-1 if cell is None else cell for cell in cells] == expected.tolist()


def test_texts_times_and_ranges(random):
    table = {"key": ["ab", "b", "abcdefgh"]}
    pa_table = pa.table(table)
    with pa.ipc.new_file("t.arrow", pa_table.schema) as file:
        file.write_table(pa_table)
    points = pa.array(["b", None, "abcdefgh", "zz"]).dictionary_encode()
    schema = pa.schema([("p", points.type)])
    found = answers([pa.record_batch([points], schema=schema)], schema, keys="t.arrow:key", points="-", result="first")
    assert found["first"].to_pylist() == [1, None, 2, None]

    days = pa.table({"key": [datetime.datetime(2024, 3, day) for day in (1, 2, 3)]})
    with pa.ipc.new_file("d.arrow", days.schema) as file:
        file.write_table(days)
    ends = [pa.array([datetime.date(2024, 3, 1), None, None]), pa.array([datetime.date(2024, 3, 2)] * 3)]
    schema = pa.schema([("low", pa.date32()), ("high", pa.date32())])
    batches = [pa.record_batch(ends, schema=schema), pa.record_batch([one[1:] for one in ends], schema=schema)]
    found = answers(batches, schema, keys="d.arrow:key", ranges="-", result="count")
    assert found["count"].to_pylist() == [2, 0, 0, 0, 0]


def test_no_batch_and_a_name_of_a_file(random):
    np.save("k.npy", np.arange(3))
    schema = pa.schema([("p", pa.int64())])
    found = answers([], schema, keys="k.npy", points="-", result="count")
    assert found.num_rows == 0 and found.schema.field("count").type == pa.uint64()
    process = start(keys="k.npy", points="-", result="count", out="o.csv")
    with pa.ipc.new_stream(process.stdin, schema) as stream:
        stream.write_batch(pa.record_batch([pa.array([1, 5])], schema=schema))
    out, error = process.communicate(timeout=60)
    assert (process.returncode, out, error) == (0, b"", b"")
    with open("o.csv") as file:
        assert file.read() == "count\n1\n0\n"


def said(stream, **options):
    process = start(**options)
    out, error = process.communicate(stream, timeout=60)
    assert out == b"" and error.startswith(b"raydex: ") and error.count(b"\n") == 1, (out, error)
    return process.returncode, error.decode()


def test_what_is_refused(monkeypatch):
    np.save("k.npy", np.arange(3))
    words = {"keys": "k.npy", "points": "-", "result": "count"}
    table = pa.table({"a": [1.5], "b": ["x"], "c": [datetime.datetime(2024, 1, 1)]})
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as stream:
        stream.write_table(table)
    whole = sink.getvalue().to_pybytes()
    assert said(whole, **words) == (
        2, "raydex: standard input: which column? there are a, b, c; name it behind a colon\n")
    status, line = said(whole, **{**words, "points": "-:d"})
    assert status == 2 and "standard input: no column 'd'; there are a, b, c" in line
    for column, text in (("a", "column a is of double: "), ("b", "column b is of string: "),
                         ("c", "column c is of timestamp[us], and keys are int64")):  # fmt: skip
        status, line = said(whole, **{**words, "points": f"-:{column}"})
        assert status == 2 and "standard input: " + text in line
    status, line = said(whole[:-200], **{**words, "points": "-:a"})
    assert status == 2 and "standard input: " in line
    monkeypatch.setenv("RAYDEX_PYTHON", "/none/python3")
    status, line = said(whole, **words)
    assert status == 1 and "/none/python3 cannot be run" in line
