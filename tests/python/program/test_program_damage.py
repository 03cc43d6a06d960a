# SPDX-License-Identifier: Apache-2.0
"""Damaged files of every format, drawn at random: answers or one line, never a traceback or the end of the process."""

import os
import pathlib
import secrets
import subprocess
import sys

import pytest

pytest.importorskip("pyarrow")

SHARE = int(os.environ.get("RAYDEX_TEST_SHARE", "1/1").removeprefix("1/"))
SEED = int(os.environ.get("RAYDEX_TEST_SEED", secrets.randbits(30)))


def test_drawn_damage(tmp_path):
    script = pathlib.Path(__file__).parent / "damaged_files.py"
    done = subprocess.run([sys.executable, script, str(SEED), str(800 // SHARE)], cwd=tmp_path, text=True,
                          capture_output=True, check=False)
    assert (done.returncode, done.stdout) == (0, ""), done.stderr[-200:]
