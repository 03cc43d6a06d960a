# SPDX-License-Identifier: Apache-2.0
"""What the tests of the Python package share. They run against an installed `raydex`, or one that
PYTHONPATH names."""

import os
import tempfile

import hypothesis
import numpy as np
import pytest
import worlds
from hypothesis.configuration import set_hypothesis_home_dir

set_hypothesis_home_dir(os.path.join(tempfile.gettempdir(), "raydex-hypothesis"))  # not in the repository

EXAMPLES = 50 if worlds.HAS_GPU else 200  # CuPy compiles what converts one dtype to another
hypothesis.settings.register_profile(
    "ci", deadline=None, database=None, max_examples=int(os.environ.get("RAYDEX_EXAMPLES", EXAMPLES)))
hypothesis.settings.load_profile("ci")


@pytest.fixture(scope="module", params=worlds.WORLDS, ids=lambda one: one.name)
def world(request):
    return request.param()


@pytest.fixture
def random():
    return np.random.default_rng(20131)
