# SPDX-License-Identifier: Apache-2.0
"""Runs `python -m raydex` in this process, and writes and reads the files that it takes and makes."""

import decimal
import importlib
import os
import sys

import numpy as np
import pytest
from raydex._program.main import main

pa = pytest.importorskip("pyarrow")

for module in ["csv", "compute", "feather", "parquet"]:
    importlib.import_module(f"pyarrow.{module}")

BINARY = os.environ.get("RAYDEX_BINARY")
ENDINGS = ("csv", "csv.gz", "csv.bz2", "csv.zst", "csv.lz4", "parquet", "arrow", "feather", "ipc")
PRICES = [decimal.Decimal("1.50"), decimal.Decimal("2.75")]
TEXTS = ["{:02}, of many", 'no "{}"', " a{}", "a{}\t", "line {}\nof text"]
COMMAND = [sys.executable, "-m", "raydex"]
QUERY = {"keys": "k.npy", "points": "k.npy", "result": "count", "out": "o.npy"}
JOIN = {"build": "k.npy", "probe": "k.npy", "kind": "inner", "out": "o.npy"}
RMQ = {"values": "k.npy", "ranges": "r.npy", "result": "min", "out": "o.npy"}


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


def masked(column):
    """A column as an array, and which cells are missing."""
    return column.fill_null(0).to_numpy(), column.is_null().to_numpy()


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
    program.file("inexact.csv", "a\n0.5\n9007199254740993\n")
    program.file("half.csv", "a\n5.5\n")
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


def words_of(options):
    """Options as words: `row_ids="I.npy"` is --row-ids I.npy."""
    return [word for name, value in options.items() for word in ("--" + name.replace("_", "-"), value)]
