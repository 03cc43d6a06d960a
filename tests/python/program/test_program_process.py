# SPDX-License-Identifier: Apache-2.0
"""Outputs, and `python -m raydex` as a process: statuses, pipes, signals, full disks, other versions of
pyarrow."""

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
import pytest
import raydex
from raydex._program.main import main
from running import COMMAND, JOIN, QUERY, words_of, write_inputs

pa = pytest.importorskip("pyarrow")


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


def test_a_signal_is_answered_while_the_library_works(program):
    """It sorts some 10^7 rows then, twice, and searches."""
    program.file("k.npy", np.random.default_rng(1).integers(0, 1 << 60, 10_000_000))
    process = start(["join", *words_of({**JOIN, "build": "k.npy", "probe": "k.npy", "kind": "semi"})])
    time.sleep(1.0)
    if process.poll() is None:
        begin = time.monotonic()
        process.send_signal(signal.SIGINT)
        process.wait()
        assert time.monotonic() - begin < 0.8
    process.communicate()


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
