# SPDX-License-Identifier: Apache-2.0
"""`python -m raydex` is the program, which reads tables by the same Python."""

import subprocess
import sys

import numpy as np
import raydex


def run(*words, cwd=None):
    command = [sys.executable, "-m", "raydex", *words]
    done = subprocess.run(command, cwd=cwd, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout, done.stderr


def test_it_is_the_program(tmp_path):
    status, text, error = run("--version")
    assert (status, error) == (0, "") and text.startswith(f"raydex {raydex.__version__}\nbackends: ")
    names = {line.split()[0] for line in run("structures")[1].splitlines() if " cpu " in line}
    assert names >= {one.name for one in raydex.structures()}
    np.save(tmp_path / "k.npy", np.array([3, 4, 3]))
    query = ["query", "--keys", "k.npy", "--points", "k.npy", "--out", "-", "--result"]
    assert run(*query, "count", cwd=tmp_path) == (0, "count\n2\n1\n2\n", "")
    assert run(*query, "none", cwd=tmp_path)[0] == 2
    query[6] = "/dev/full"
    assert run(*query, "count", cwd=tmp_path)[0] == 1


def test_which_python_reads_tables(tmp_path, monkeypatch):
    """This one, unless another one is named."""
    (tmp_path / "t.parquet").touch()
    query = ["query", "--keys", "t.parquet:a", "--points", "t.parquet:a", "--result", "count", "--out", "-"]
    monkeypatch.delenv("RAYDEX_PYTHON", raising=False)
    monkeypatch.setenv("PATH", "/none")
    error = run(*query, cwd=tmp_path)[2]
    assert f"{sys.executable} -m pip install pyarrow" in error or "Parquet" in error
    monkeypatch.setenv("RAYDEX_PYTHON", "/none/python3")
    status, text, error = run(*query, cwd=tmp_path)
    assert (status, text) == (1, "")
    assert error.startswith("raydex: t.parquet: it is read by pyarrow, and /none/python3 cannot be run")
