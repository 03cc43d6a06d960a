# SPDX-License-Identifier: Apache-2.0
"""Runs the pages that need a GPU, and writes what they print into them: `python run_gpu.py PAGE...`

The `python` blocks of a page run one after the other, as one program. The `text` block behind each is what
it printed."""

import contextlib
import io
import re
import sys
from pathlib import Path
from typing import Any

BLOCK = re.compile(r"^```python\n(.*?)^```\n(?:\n```text\n.*?^```\n)?", re.DOTALL | re.MULTILINE)


def run(page: Path) -> None:
    """Leaves the page as it is where a block raises."""
    names: dict[str, Any] = {"__name__": "__main__"}

    def with_output(block: re.Match[str]) -> str:
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(compile(block[1], page, "exec"), names)  # noqa: S102 - the page is ours
        output = f"\n```text\n{printed.getvalue()}```\n" if printed.getvalue() else ""
        return f"```python\n{block[1]}```\n{output}"

    page.write_text(BLOCK.sub(with_output, page.read_text()))


for argument in sys.argv[1:]:
    run(Path(argument))
