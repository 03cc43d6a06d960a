# SPDX-License-Identifier: Apache-2.0
"""How the program refuses, and what its messages are made of."""

from __future__ import annotations

import difflib
import importlib
from collections.abc import Sequence
from typing import Any

_OLDEST = 16  # version of pyarrow that has all that is asked of it


class Refused(Exception):
    """What was given is wrong: exit status 2."""


class Failed(Exception):
    """This machine cannot do it: exit status 1."""


def printable(text: str, most: int = 2000) -> str:
    """A text on one line, shortened where it is longer than that."""
    line = "".join(f"\\x{ord(c):02x}" if c < " " or c == "\x7f" else c for c in text[: most + 1])
    return line if len(line) <= most else line[:most] + "..."


def quoted(text: str) -> str:
    return f"'{printable(text, 300)}'"


def suggestion(word: str, known: Sequence[str]) -> str:
    """What a mistyped word may have meant; empty where nothing is near."""
    near = difflib.get_close_matches(word, known, 1)
    return f"; did you mean {quoted(near[0])}?" if near else ""


def check_word(what: str, word: str, known: Sequence[str]) -> None:
    if word not in known:
        legal = ", ".join(known)
        raise Refused(f"{what}: {quoted(word)} is not one of {legal}{suggestion(word, known)}")


def arrow(path: str, module: str = "pyarrow") -> Any:
    """pyarrow, or a module of it, for a file that only it reads or writes."""
    what = "standard output" if path == "-" else path
    try:
        version = importlib.import_module("pyarrow").__version__
        if int(version.partition(".")[0]) >= _OLDEST:
            return importlib.import_module(module)
    except ImportError:
        raise Failed(
            f"{what}: tables are read and written by pyarrow, which is not installed: pip install pyarrow; "
            "without it, columns are .npy files"
        ) from None
    raise Failed(
        f"{what}: tables are read and written by pyarrow {_OLDEST} or newer, and here is {version}: "
        "pip install --upgrade pyarrow"
    )
