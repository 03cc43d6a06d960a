# SPDX-License-Identifier: Apache-2.0
"""Damages files of each format at random and has the program read them: `damaged_files.py SEED CASES`, in an empty
folder. Prints each case that does not end in answers or in one line. A process of its own, which may crash."""

import contextlib
import io
import random
import sys
import traceback

import numpy as np
import pyarrow as pa
import pyarrow.parquet
from raydex._program.main import main

TABLE = pa.table({
    "number": [1, 2, None, 4],
    "text": ["a", "bb", None, "a longer text than twelve"],
    "view": pa.array(["x", None, "y" * 30, "z"], pa.string_view()),
    "place": pa.array(["q", "r", "q", None]).dictionary_encode(),
    "flag": [True, False, None, True],
    "large": pa.array(["a", "bb", None, "c"], pa.large_string()),
    "time": pa.array([1, 2, 3, None], pa.timestamp("us")),
    "fixed": pa.array([b"abc"] * 4, pa.binary(3)),
    "bytes": pa.array([b"a", b"\xff", None, b"cc"]),
})
LINES = b'number,text,time,flag\n1,a,2020-01-01,true\n2,\xff,2020-01-02 00:00:00.5,NA\n1.5,"q""\n",,false\n'


def written(write):
    stream = io.BytesIO()
    write(stream)
    return stream.getvalue()


def ipc(opens):
    def write(stream):
        with opens(stream, TABLE.schema) as file:
            file.write_table(TABLE)

    return written(write)


FILES = {
    "arrow": ipc(pa.ipc.new_file),
    "ipc": ipc(pa.ipc.new_stream),
    "parquet": written(lambda stream: pa.parquet.write_table(TABLE, stream)),
    "npy": written(lambda stream: np.save(stream, np.arange(6))),
    "csv": LINES,
}


def damaged(content, draw):
    content = bytearray(content)
    for _ in range(draw.choice([1, 1, 1, 2, 4, 8])):
        at, how = draw.randrange(len(content)), draw.random()
        if how < 0.5:
            content[at] = draw.randrange(256)
        elif how < 0.7:
            content[at] = draw.choice([0, 1, 127, 128, 255])
        elif how < 0.8:
            content = content[:at] or bytearray(1)
        elif how < 0.9:
            content[at:at] = bytes([draw.randrange(256)]) * draw.choice([1, 4, 8])
        else:
            content[at:at + 8] = b"\xff" * 8
    return bytes(content)


def words(name, draw):
    return draw.choice([
        ["query", "--keys", name, "--points", name, "--result", "count", "--out", "o.csv"],
        ["join", "--build", name, "--probe", name, "--kind", "left", "--out", "o.npy"],
        ["join", "--build", name, "--probe", name, "--kind", "inner", "--columns", f"build:{name}", "--out", "o.csv"],
        ["rmq", "--values", name, "--ranges", name, "--result", "min", "--out", "o.npy"],
    ])


def run(seed):
    draw = random.Random(seed)
    form = draw.choice(sorted(FILES))
    with open(f"x.{form}", "wb") as file:
        file.write(damaged(FILES[form], draw))
    columns = TABLE.column_names if form != "csv" else ["number", "text", "time", "flag"]
    name = f"x.{form}" if form == "npy" else f"x.{form}:{draw.choice(columns)}"
    command, errors = words(name, draw), io.StringIO()
    try:
        with contextlib.redirect_stderr(errors):
            status = main(command)
    except Exception:  # noqa: BLE001, of any kind
        print(f"seed {seed}: {' '.join(command)}\n{traceback.format_exc()}")
        return
    if errors.getvalue().count("\n") != (status != 0):
        print(f"seed {seed}: {' '.join(command)}: status {status}, {errors.getvalue()!r}")


if __name__ == "__main__":
    first, cases = map(int, sys.argv[1:])
    for number in range(first, first + cases):
        print(number, file=sys.stderr, flush=True)  # the last one, where the process crashes
        run(number)
