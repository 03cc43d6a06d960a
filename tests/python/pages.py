# SPDX-License-Identifier: Apache-2.0
"""Examples of pages of the site that other libraries are needed for, so that the site does not run them."""

import pathlib
import re

SITE = pathlib.Path(__file__).parents[2] / "docs/site"


def run(page):
    """Runs the examples of a page, each by itself; what the last line says is its answer."""
    blocks = re.findall(r"^```py\n(.*?)^```$", (SITE / page).read_text(encoding="utf-8"), re.M | re.S)
    assert blocks
    for block in blocks:
        *lines, last = block.rstrip().split("\n")
        names = {}
        exec("\n".join(lines), names)
        call, _, said = last.partition("  # ")
        assert repr(eval(call, names)) == said
