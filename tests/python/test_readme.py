# SPDX-License-Identifier: Apache-2.0
"""The examples of the README run as they stand."""

import pathlib
import re

import pytest

EXAMPLES = re.findall(
    r"^```py\n(.*?)^```$", (pathlib.Path(__file__).parents[2] / "README.md").read_text(encoding="utf-8"), re.M | re.S)


@pytest.mark.parametrize("example", EXAMPLES)
def test_examples(example):
    pytest.importorskip("pandas")
    lines = example.rstrip().split("\n")
    names = {}
    exec("\n".join(lines[:-1]), names)
    last, _, said = lines[-1].partition("#")
    answer = eval(last, names)
    assert len(answer)
    if said:
        assert repr(answer) == said.strip()


def test_there_are_some():
    assert len(EXAMPLES) == 2
