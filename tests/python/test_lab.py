# SPDX-License-Identifier: Apache-2.0
"""The script that times what our calls cost calls the package's own parts by their names."""

import json
import pathlib
import subprocess
import sys

SCRIPT = pathlib.Path(__file__).resolve().parents[2] / "lab/python_calls.py"


def test_times_of_calls():
    run = [sys.executable, SCRIPT, "--kinds", "numpy,pyarrow", "--probes", "3", "--stretches", "1"]
    printed = json.loads(subprocess.run(run, check=True, text=True, capture_output=True).stdout)
    assert [(row["columns"], row["call"]) for row in printed["results"]] == [
        (kind, call) for kind in ("numpy", "pyarrow") for call in ("first", "contains", "count", "rank")
    ]
    assert all(row["call_us"] > 0 and row["extension_us"] > 0 for row in printed["results"])
