# SPDX-License-Identifier: Apache-2.0
"""Texts of the repository on the site: each stands in one file, and its links lead to pages of the site.

Where a page has the line `<!-- text: FILE -->`, the text of that file below its title is read, and of
`<!-- text: FILE, SECTION -->` what stands below that heading. Links in it, and in pages, are as in the
repository: one to what a page shows leads to that page, by its title if its text is the name of the file; one to
another file is a download, and of one to a folder its text is left.
"""

import re
from pathlib import Path

import results
from sphinx.application import Sphinx
from sphinx.errors import ExtensionError

TEXT = re.compile(r"^<!-- text: (?P<file>[^\s,]+)(?:, (?P<section>.+))? -->$", flags=re.MULTILINE)
FILE = re.compile(r"`?(?:\.\./)*[\w.-]*(?:/[\w./-]+|\.md)`?")  # of the repository, as a text
LINK = re.compile(r"\[(?P<label>[^\[\]]*)\]\((?P<path>[^)#\s:]+)(?P<anchor>#[^)\s]*)?\)")


def source_of(app: Sphinx, docname: str) -> Path:
    """Where the text of a page stands in the repository; scripts/docs made a copy of it."""
    path = Path(app.env.doc2path(docname)).relative_to(app.srcdir)
    return results.ROOT / "docs" / ("" if docname.startswith("performance/") else "site") / path


def pages(app: Sphinx) -> dict[Path, str]:
    """The page that shows a file or a folder, by the path of that."""
    shown = {source_of(app, name): name for name in app.env.found_docs}
    shown |= {results.ROOT / path: name for path, name in app.config.repository_pages.items()}
    return {path: app.env.doc2path(name, base=False) for path, name in shown.items()}


def relink(text: str, folder: Path, shown: dict[Path, str]) -> str:
    """The text of a file of this folder, with links as they are on the site."""

    def anew(link: re.Match[str]) -> str:
        path = (folder / link["path"]).resolve()
        if path in shown:
            label = "" if FILE.fullmatch(link["label"]) else link["label"]
            return f"[{label}](/{shown[path]}{link['anchor'] or ''})"
        if path.is_dir():
            return link["label"]
        return f"[{link['label']}](/repository/{path.relative_to(results.ROOT)})"

    return LINK.sub(anew, text)


def section_of(path: Path, name: str) -> str:
    """What stands below the heading of that name, up to the next one of its level; headings below it as those
    of a page."""
    text = path.read_text(encoding="utf-8")
    found = re.search(rf"^(#+) {re.escape(name)}\n", text, flags=re.MULTILINE)
    if found is None:
        raise ExtensionError(f"{path} has no section {name!r}")
    rest = text[found.end() :]
    end = re.search(rf"^#{{1,{len(found[1])}}} ", rest, flags=re.MULTILINE)
    above = "#" * (len(found[1]) - 1)
    return re.sub(rf"^{above}(#+ )", r"\1", rest[: end.start()] if end else rest, flags=re.MULTILINE)


def on_source_read(app: Sphinx, docname: str, content: list[str]) -> None:
    """Brings in what a page asks for."""
    own = source_of(app, docname)
    shown = pages(app)

    def text(asked: re.Match[str]) -> str:
        path = results.ROOT / asked["file"]
        app.env.note_dependency(path)
        if asked["section"]:
            part = section_of(path, asked["section"])
        else:
            part = path.read_text(encoding="utf-8").partition("\n")[2]
        return relink(part, path.parent, shown)

    if own.suffix == ".md":
        content[0] = TEXT.sub(text, relink(content[0], own.parent, shown))


def setup(app: Sphinx) -> dict[str, bool]:
    """Called by Sphinx."""
    app.add_config_value("repository_pages", {}, "env")
    app.connect("source-read", on_source_read)
    return {"parallel_read_safe": True}
