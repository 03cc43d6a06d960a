# SPDX-License-Identifier: Apache-2.0
"""The references: names in Python's docstrings, and whether the C++ pages have every public name."""

import functools
import inspect
import re
from collections.abc import Callable, Container
from pathlib import Path
from typing import Any, NamedTuple
from xml.etree import ElementTree

import raydex
from breathe.parser import DoxSectionKind
from breathe.renderer.sphinxrenderer import SphinxRenderer
from docutils import nodes
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.config import Config
from sphinx.environment import BuildEnvironment
from sphinx.ext.napoleon import NumpyDocstring
from sphinx.pycode import ModuleAnalyzer
from sphinx.util import logging
from sphinx.util.docutils import SphinxDirective

log = logging.getLogger(__name__)

# Classes that call themselves members of the package are read where they are written.
for one in filter(inspect.isclass, (getattr(raydex, name) for name in raydex.__all__)):
    methods = [each for each in vars(one).values() if inspect.isfunction(each)]
    if methods and one.__module__ == "raydex":
        one.__module__ = methods[0].__module__


def name_or_code(found: re.Match[str], arguments: Container[str]) -> str:
    """A reference where the text is a name of the package, and not that of an argument beside it, else code."""
    text = found[1]
    name = text.removeprefix("raydex.")
    owner, _, member = name.partition(".")
    if text not in arguments and owner in raydex.__all__ and (not member or hasattr(getattr(raydex, owner), member)):
        return f":py:obj:`raydex.{name}`"
    return f"``{text}``"


def on_signature(
    app: Sphinx, what: str, name: str, thing: Any, options: Any, signature: str, returned: str
) -> tuple[str, None] | None:
    """Classes are made by functions, not by calls of their names."""
    return ("", None) if what in ("class", "exception") and signature else None


def on_docstring(app: Sphinx, what: str, name: str, thing: Any, options: Any, lines: list[str]) -> None:
    """Text between single backticks, which reStructuredText leaves to us."""
    arguments = inspect.signature(thing).parameters if inspect.isroutine(thing) else ()
    named = functools.partial(name_or_code, arguments=arguments)
    lines[:] = re.sub(r"(?<![`:\w])`([^`\n]+)`(?!`)", named, "\n".join(lines)).split("\n")


def without_overloads(analyze: Callable[[ModuleAnalyzer], None]) -> Callable[[ModuleAnalyzer], None]:
    """The signature of a function with overloads is its own: these only say more to type checkers."""

    def analyzed(self: ModuleAnalyzer) -> None:
        analyze(self)
        self.overloads = {}

    return analyzed


def whole_comment(self: NumpyDocstring) -> tuple[str, list[str]]:
    """The comment of an attribute, which says no type before a colon."""
    lines = [self._lines.next(), *self._dedent(self._consume_to_end())]
    return ("", NumpyDocstring(lines, self._config).lines())


def on_missing(app: Sphinx, env: BuildEnvironment, node: addnodes.pending_xref, text: nodes.Node) -> nodes.Node | None:
    """The types of arguments, which annotations name as classes."""
    target = node.get("reftarget", "")
    if node.get("refdomain") != "py" or not target.startswith("raydex.typing."):
        return None
    return env.get_domain("py").resolve_xref(env, node["refdoc"], app.builder, "obj", target, node, text)


class Documented(NamedTuple):
    """A name of namespace raydex that Doxygen found a comment of."""

    header: str
    line: int
    name: str
    directive: str
    signature: str


@functools.cache
def documented(xml: Path) -> list[Documented]:
    """All of them, in the order of the headers. Members of classes come with these."""
    whole = [ElementTree.parse(path).getroot()[0] for path in xml.glob("*raydex*.xml")]
    found = []
    for one in whole:
        name = one.findtext("compoundname")
        if one.get("kind") in ("class", "struct"):
            found.append((name, name, one))
        if name == "raydex":
            for each in one.iter("memberdef"):
                own = f"{name}::{each.findtext('name')}"
                arguments = each.findtext("argsstring", "") if each.get("kind") == "function" else ""
                found.append((own, own + arguments, each))
    return sorted(
        Documented(place.get("file"), int(place.get("line")), name, one.get("kind"), signature)
        for name, signature, one in found
        if (place := one.find("location")) is not None and re.fullmatch(r"raydex::\w+", name)
    )


class Header(SphinxDirective):
    """`header`: the reference of what a public header declares, by its path below include/raydex."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        whole = documented(xml_of(self.config))
        lines = []
        for one in whole:
            if one.header != f"include/raydex/{self.arguments[0]}":
                continue
            alone = sum(other.name == one.name for other in whole) == 1
            lines.append(f".. doxygen{one.directive}:: {one.name if alone else one.signature}")
            lines += ["   :members:"] if one.directive in ("class", "struct") else []
        if not lines:
            raise self.error(f"include/raydex/{self.arguments[0]} declares nothing")
        return self.parse_text_to_nodes("\n".join(lines))


def xml_of(config: Config) -> Path:
    """Where Doxygen wrote its XML."""
    return Path(config.breathe_projects[config.breathe_default_project])


def on_page(app: Sphinx, doctree: nodes.document) -> None:
    """A heading of members without any: they are not public."""
    for section in list(doctree.findall(nodes.container)):
        if "breathe-sectiondef" in section["classes"] and section.next_node(addnodes.desc) is None:
            section.parent.remove(section)


def on_read(app: Sphinx, env: BuildEnvironment) -> None:
    """A public name that no page shows, in either language, is an error."""
    shown = {name for name, *_ in env.get_domain("cpp").get_objects()}
    for name in sorted({one.name for one in documented(xml_of(app.config))} - shown):
        log.warning("no page of the C++ reference shows %s", name)
    shown = {name for name, *_ in env.get_domain("py").get_objects()}
    for name in sorted({f"raydex.{name}" for name in raydex.__all__} - shown):
        log.warning("no page of the Python reference shows %s", name)


def setup(app: Sphinx) -> dict[str, bool]:
    """Called by Sphinx."""
    # Groups of members come after what is in none.
    SphinxRenderer.sections.sort(key=lambda section: section[0] == DoxSectionKind.user_defined)
    ModuleAnalyzer.analyze = without_overloads(ModuleAnalyzer.analyze)
    NumpyDocstring._consume_inline_attribute = whole_comment
    app.add_directive("header", Header)
    app.connect("missing-reference", on_missing)
    app.connect("autodoc-process-docstring", on_docstring)
    app.connect("autodoc-process-signature", on_signature)
    app.connect("doctree-read", on_page)
    app.connect("env-updated", on_read)
    return {"parallel_read_safe": True}
