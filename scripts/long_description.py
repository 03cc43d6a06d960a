# SPDX-License-Identifier: Apache-2.0
"""README.md as a page of PyPI: links to files of the repository have its address, which `[project.urls]` in
pyproject.toml says. scikit-build-core asks for it when it makes a wheel or an sdist."""

from __future__ import annotations

import pathlib
import re
from collections.abc import Mapping

ROOT = pathlib.Path(__file__).resolve().parents[1]


def _found(name: str, pattern: str) -> str:
    found = re.search(pattern, (ROOT / name).read_text(encoding="utf-8"), re.MULTILINE)
    if found is None:
        raise RuntimeError(f"{name}: nothing in it is {pattern}")
    return found[1]


def absolute(text: str, source: str, tag: str) -> str:
    """A page of Markdown whose links to files of the repository are those of a tag; code is as it was."""

    def link(found: re.Match[str]) -> str:
        kind = "raw" if found[1] else "blob"
        return f"{found[0][: -len(found[2]) - 1]}{source}/{kind}/{tag}/{found[2]})"

    parts = text.split("```")
    parts[::2] = [re.sub(r"(!?)\[[^]]*\]\((?!#|[a-z]+:)([^)\s]+)\)", link, part) for part in parts[::2]]
    return "```".join(parts)


def dynamic_metadata(field: str, settings: Mapping[str, object]) -> dict[str, str]:
    """What scikit-build-core asks for."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    source = _found("pyproject.toml", r'^Source = "(.*)"')
    tag = "v" + _found("CMakeLists.txt", r"^project\(raydex VERSION ([0-9.]+)")
    return {"content-type": "text/markdown", "text": absolute(text, source, tag)}
