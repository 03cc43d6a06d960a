# SPDX-License-Identifier: Apache-2.0
"""Annotations, the extension's stub, and the examples of docstrings."""

import doctest
import pathlib
import subprocess
import sys

import pytest
import raydex

PACKAGE = pathlib.Path(raydex.__file__).parent


def run(*command, folder=None):
    done = subprocess.run([sys.executable, "-m", *map(str, command)], capture_output=True, text=True, cwd=folder)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_the_package(tmp_path):
    pytest.importorskip("mypy")
    assert (PACKAGE / "py.typed").exists()
    run("mypy", "--strict", "--cache-dir", tmp_path / "cache", "-p", "raydex", folder=tmp_path)


def test_what_users_write(tmp_path):
    pytest.importorskip("mypy")
    program = tmp_path / "program.py"
    program.write_text(
        "import numpy as np\n"
        "import raydex\n"
        "with raydex.build(np.arange(3), structure='pivot_tree', device='cpu') as index:\n"
        "    size: int = len(index) + index.info.resident_bytes\n"
        "    rows = index.rows([1]).rows\n"
        "pairs: raydex.JoinRows = raydex.join([1], [1], how='left')\n"
        "with raydex.join_range([1], [1], distance=1, lazy=True) as found:\n"
        "    sizes: list[int] = [len(rows.probe) for rows in found.chunks(10)] + [len(found)]\n"
        "names: list[str] = [one.name for one in raydex.structures() if one.minima]\n"
        "cells = raydex.take(np.arange(3), pairs.build), pairs.take(probe=np.arange(3))\n"
        "low = raydex.rmq([1, 2]).argmin([0], [1])\n"
    )
    run("mypy", "--strict", "--cache-dir", tmp_path / "cache", program)
    program.write_text("import raydex\nraydex.join_range([1], [1], compare=5)\n")
    with pytest.raises(AssertionError, match="compare"):
        run("mypy", "--strict", "--cache-dir", tmp_path / "cache", program)


def test_the_stub_is_what_the_extension_has(tmp_path):
    pytest.importorskip("nanobind")
    run("nanobind.stubgen", "-q", "-m", "raydex._raydex", "-o", tmp_path / "stub.pyi")
    head = "# SPDX-License-Identifier: Apache-2.0\n# Written by `python -m nanobind.stubgen -m raydex._raydex`.\n"
    assert (PACKAGE / "_raydex.pyi").read_text() == head + (tmp_path / "stub.pyi").read_text()


def test_examples():
    assert doctest.testmod(raydex).failed == 0


def test_everything_public_is_documented():
    for name in raydex.__all__:
        public = getattr(raydex, name)
        if name == "not_found":
            continue
        assert public.__doc__, name
        if isinstance(public, type):
            for method, value in vars(public).items():
                assert method.startswith("_") or not callable(value) or value.__doc__, f"{name}.{method}"
