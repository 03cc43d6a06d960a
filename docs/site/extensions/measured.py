# SPDX-License-Identifier: Apache-2.0
"""Figures of docs/results on the site: tables that a page describes, and what scripts/plot drew."""

import functools
import importlib.machinery
import importlib.util
from pathlib import Path
from typing import Any

import claims
import results
import tomllib
from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective


@functools.cache
def rows() -> list[dict[str, Any]]:
    """The rows of all tables of docs/results."""
    return results.everything()


@functools.cache
def verdicts() -> dict[str, list[claims.Verdict]]:
    """What papers say of their figures, judged, by the name of the experiment."""
    return claims.verdicts(rows())


@functools.cache
def plots() -> dict[str, Any]:
    """What scripts/plot draws, by the name of the experiment."""
    path = str(results.ROOT / "scripts/plot")
    loader = importlib.machinery.SourceFileLoader("plot", path)
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("plot", loader))
    loader.exec_module(module)
    return module.PLOTS


class Measured(SphinxDirective):
    """`{measured}`: a table with a line for each use and a column for each figure, described in TOML.

    texts: the titles of the first columns. columns: each with a title, a `cell` and a `where`, as in
    docs/results/tables.toml. rows: each with its own texts and `where`, which adds to those of the columns,
    and, `without`, the titles of columns that it has no figure for.
    """

    has_content = True

    def run(self) -> list[nodes.Node]:
        for path in results.RESULTS.glob("*/*.csv"):
            self.env.note_dependency(path)
        spec = tomllib.loads("\n".join(self.content))
        titles = spec["texts"] + [column["title"] for column in spec["columns"]]
        lines = ["| " + " | ".join(titles) + " |", "| --- " * len(titles) + "|"]
        for row in spec["rows"]:
            cells = list(row["texts"])
            for column in spec["columns"]:
                where = {**spec.get("where", {}), **column.get("where", {}), **row["where"]}
                found = results.cell(rows(), column, where)
                if not found and column["title"] not in row.get("without", []):
                    raise self.error(f"no row of docs/results is {where}")
                cells.append(found)
            lines.append("| " + " | ".join(cells) + " |")
        return self.parse_text_to_nodes("\n".join(lines))


class Plots(SphinxDirective):
    """`{plots} PAPER`: what scripts/plot drew of a paper's experiments, and whether what the paper says of
    them holds here."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        self.env.note_dependency(results.ROOT / "scripts/plot")
        self.env.note_dependency(claims.CLAIMS)
        folder = Path(self.env.srcdir) / "plots"
        drawn = {}
        for name, plot in plots().items():
            if name.startswith(self.arguments[0] + "/"):
                file = name.replace("/", "-") + ".svg"
                if (folder / file).exists():
                    drawn[name] = (file, plot.title)
        if not drawn:
            raise self.error(f"{folder} has no plots of {self.arguments[0]}")
        lines = []
        for name, (file, title) in drawn.items():
            lines += [
                f":::{{figure}} /plots/{file}",
                f":alt: {name}: {title}",
                ":class: plot",
                ":loading: lazy",
                f":target: ../_images/{file}",
                f":name: plot-{file.removesuffix('.svg').replace('.', '-')}",
                "",
                f"`{name}`: {title}",
                ":::",
                "",
            ]
            lines += [f"- *{verdict.says}* Here {verdict.text()}" for verdict in verdicts().get(name, [])]
            lines.append("")
        return self.parse_text_to_nodes("\n".join(lines))


class Verdicts(SphinxDirective):
    """`{verdicts}`: how often what a paper says of its figures holds here, a line for each paper that is a
    document beside this one."""

    def run(self) -> list[nodes.Node]:
        self.env.note_dependency(claims.CLAIMS)
        words = ["agrees", "agrees in part", "contradicts"]
        lines = ["| claims of | " + " | ".join(words) + " |", "| --- " * 4 + "|"]
        for paper in dict.fromkeys(name.split("/")[0] for name in verdicts()):
            found = [one.word for name, all_of in verdicts().items() for one in all_of
                     if name.split("/")[0] == paper]
            lines.append(f"| [{paper}]({paper}.md) | " + " | ".join(str(found.count(word)) for word in words) + " |")
        return self.parse_text_to_nodes("\n".join(lines))


def setup(app: Sphinx) -> dict[str, bool]:
    """Called by Sphinx."""
    app.add_directive("measured", Measured)
    app.add_directive("plots", Plots)
    app.add_directive("verdicts", Verdicts)
    return {"parallel_read_safe": True}
