# SPDX-License-Identifier: Apache-2.0
"""Where nothing can be fetched, the demo takes the flights of January that are in the repository."""

import os
import pathlib
import shutil
import subprocess

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent


def run(*command, **settings):
    return subprocess.run(
        command, capture_output=True, text=True, timeout=300, check=False, **settings)


def test_without_a_registry(tmp_path):
    (tmp_path / "scripts").mkdir()
    shutil.copy(ROOT / "scripts/fetch-flights", tmp_path / "scripts")
    shutil.copytree(ROOT / "apps/demo/data", tmp_path / "apps/demo/data")
    nowhere = {"PATH": os.environ["PATH"], "PIP_CONFIG_FILE": os.devnull, "PIP_NO_INDEX": "1"}

    fetched = run(tmp_path / "scripts/fetch-flights", env=nowhere)
    assert fetched.returncode == 0, fetched.stderr
    assert fetched.stdout == f"{tmp_path}/.data/january\n"
    assert "those of January are taken" in fetched.stderr

    demo = run(os.environ["RAYDEX_DEMO"], fetched.stdout.strip())
    assert demo.returncode == 0, demo.stderr
    assert demo.stdout.startswith("27004 flights that left New York City in 2013")
    assert "Every answer equals that of a plain scan." in demo.stdout
    assert "WRONG" not in demo.stdout

    # Not taken for the whole year: the next run tries to fetch that.
    assert "fetching" in run(tmp_path / "scripts/fetch-flights", env=nowhere).stderr
