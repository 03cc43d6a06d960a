# SPDX-License-Identifier: Apache-2.0
"""A line that says how far a long build is."""

from __future__ import annotations

import contextlib
import sys
import time
from collections.abc import Iterator

from raydex import _raydex

_FIRST = 0.5  # seconds, before which nothing is shown
_EACH = 0.2


@contextlib.contextmanager
def shown(call: str, rows: int, wanted: bool) -> Iterator[None]:
    """Has calls of this thread show on stderr how far they are, if it is a terminal or a notebook's; nothing of
    it stays there."""
    to = sys.stderr
    if not wanted or to is None or not (to.isatty() or type(to).__module__.startswith("ipykernel")):
        yield
        return
    begin = time.monotonic()
    next_time, width = begin + _FIRST, 0

    def show(stage: str, step: int, steps: int) -> None:
        nonlocal next_time, width
        now = time.monotonic()
        if now < next_time:
            return
        next_time = now + _EACH
        at_stage = f", {stage} {step} of {steps}" if stage else ""
        text = f"raydex.{call}: {rows:,} rows{at_stage}, {now - begin:.1f} s"
        to.write("\r" + text.ljust(width))
        to.flush()
        width = max(width, len(text))

    _raydex.show_progress(show)
    try:
        yield
    finally:
        _raydex.show_progress(None)
        if width:
            to.write("\r" + " " * width + "\r")
            to.flush()
