# SPDX-License-Identifier: Apache-2.0
"""What lab/scripts/plot makes of a row."""

import importlib.machinery
import importlib.util
import pathlib
import sys

import pytest

pytest.importorskip("matplotlib")
ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "lab/scripts"))


@pytest.fixture(name="plot", scope="module")
def fixture_plot():
    loader = importlib.machinery.SourceFileLoader("plot", str(ROOT / "lab/scripts/plot"))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("plot", loader))
    loader.exec_module(module)
    return module


@pytest.mark.parametrize("structure, options, commit, run", [
    ("eytzinger", "k=9 lookups=1", "f00", "4"), ("eytzinger", "k=9 lookups=4", "f00", "4"), ("eytzinger", "k=9 lookups=5", "f00", "8"),
    ("eytzinger", "k=9 lookups=2", "8a25ec7", "8"), ("eytzinger", "k=2 lookups=1", "f00", "1"), ("sorted_array", "lookups=1", "f00", "1"),
    ("pivot_tree", "search=groups k=3 lookups=2", "f00", "4"), ("pivot_tree", "search=groups k=2 lookups=2", "f00", "2"),
])
def test_groups_answer_lookups_by_the_four(plot, structure, options, commit, run):
    """So that one run has one name. An early table counts the fours."""
    asked = " ".join(f"--option {option}" for option in options.split())
    row = {"structure": structure, "options": options, "command": f"raydex bench {asked}", "commit": commit, "workload_axes": {},
           "backend": "cuda"}
    assert plot.flat(row)["lookups"] == run
