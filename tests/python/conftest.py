# SPDX-License-Identifier: Apache-2.0
"""What the tests of the Python package share. They run against an installed `raydex`, or one that
PYTHONPATH names."""

import os
import tempfile

import array_libraries
import hypothesis
import numpy as np
import pytest
from hypothesis.configuration import set_hypothesis_home_dir
from raydex import _appending

set_hypothesis_home_dir(os.path.join(tempfile.gettempdir(), "raydex-hypothesis"))  # not in the repository

SHARE = int(os.environ.get("RAYDEX_TEST_SHARE", "1/1").removeprefix("1/"))  # of what is drawn, one of so many
EXAMPLES = 50 if array_libraries.HAS_GPU else 200  # CuPy compiles what converts one dtype to another
# A failure prints its example, as a decorator that repeats it.
hypothesis.settings.register_profile(
    "ci", deadline=None, database=None, max_examples=max(10, EXAMPLES // SHARE), print_blob=True)
hypothesis.settings.load_profile("ci")


@pytest.fixture(scope="module", params=array_libraries.LIBRARIES, ids=lambda one: one.name)
def library(request):
    return request.param()


@pytest.fixture
def random():
    return np.random.default_rng(20131)


@pytest.fixture
def path(tmp_path):
    """Of the file of an index."""
    return tmp_path / "an.index"


@pytest.fixture
def own_runs(monkeypatch):
    """Each batch that is appended to a file has a run of its own."""
    monkeypatch.setattr(_appending, "_SMALL", 0)
