# SPDX-License-Identifier: Apache-2.0
"""What these tests share."""

import os
import pathlib

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[3]


@pytest.fixture(name="program", scope="session")
def fixture_program():
    """The program under test."""
    return os.environ.get("RAYDEX_BINARY", str(ROOT / "build/release/bin/raydex"))
