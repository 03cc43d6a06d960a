# SPDX-License-Identifier: Apache-2.0
"""Figures of docs/results on the site: tables that a page describes, and what lab/scripts/plot drew."""

import functools
import importlib.machinery
import importlib.util
import shutil
from pathlib import Path
from typing import Any

import claims
import cost_model
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
    return claims.verdicts(claims.evidence())


@functools.cache
def plot() -> Any:
    """lab/scripts/plot, as a module."""
    path = str(results.ROOT / "lab/scripts/plot")
    loader = importlib.machinery.SourceFileLoader("plot", path)
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("plot", loader))
    loader.exec_module(module)
    return module


# The cards whose plots are shown: the folders of docs/results, and how figures are called.
CARDS = {"nvidia-h200": "H200", "nvidia-h100-80gb-hbm3": "H100"}


@functools.cache
def shown() -> dict[str, list[str]]:
    """The cards whose plot of an experiment is shown, by its name. A card is left out if another one measured all of
    its structures and more, or the same ones later. A plot that compares cards is one for all."""
    found: dict[str, dict[str, tuple[set[str], str]]] = {}
    for card in CARDS:
        for name, rows_of_it in plot().read([results.RESULTS / card]).items():
            structures = {row["structure"] for row in rows_of_it}
            found.setdefault(name, {})[card] = structures, max(row["date"] for row in rows_of_it)
    return {
        name: list(of)[:1] if name in plot().PLOTS and plot().compares_cards(plot().PLOTS[name]) else [
            card for card, (structures, date) in of.items()
            if not any(structures < others or structures == others and date < later
                       for other, (others, later) in of.items() if other != card)
        ]
        for name, of in found.items()
    }


def draw(app: Sphinx) -> None:
    """The plots that are shown, in a folder for each card beside the sources: drawn where anything is newer, or
    where scripts/docs drew them, taken from there."""
    module = plot()
    module.matplotlib.rcParams["svg.hashsalt"] = "raydex"
    module.matplotlib.rcParams["font.size"] = 9
    drawn = Path(app.srcdir) / "plots"
    for card, short in CARDS.items():
        kept = results.ROOT / "build/plots" / f"site-{short.lower()}"
        tables = [path for folder in (results.RESULTS / card, module.CPUS) for path in folder.glob("*.csv")]
        sources = [*tables, results.ROOT / "lab/scripts/plot", Path(__file__)]
        newest = max(path.stat().st_mtime for path in sources)
        if not kept.exists() or kept.stat().st_mtime < newest:
            shutil.rmtree(kept, ignore_errors=True)
            kept.mkdir(parents=True)
            of_all = module.read([results.RESULTS / one for one in CARDS])
            for name, rows_of_it in module.with_cpus(module.read([results.RESULTS / card])).items():
                if card in shown()[name] and name in module.PLOTS:
                    before = drawn / (name.replace("/", "-") + ".svg")
                    if module.compares_cards(module.PLOTS[name]):
                        module.draw(name, of_all[name], kept / file_of(name, short))
                    elif drawn.resolve().name == card and before.exists():
                        shutil.copyfile(before, kept / file_of(name, short))
                    else:
                        module.draw(name, rows_of_it, kept / file_of(name, short))
            kept.touch()
        folder = Path(app.srcdir) / f"plots-{short.lower()}"
        if not folder.exists():
            folder.symlink_to(kept)


def file_of(name: str, short: str) -> str:
    """The file of a plot."""
    return f"{name.replace('/', '-')}-{short.lower()}.svg"


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
    """`{plots} PAPER`: each figure of a paper, as lab/scripts/plot drew it of each card that has more structures than
    another or newer rows, or as a table, and whether what the paper says of it holds here; then experiments that
    are no figures."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        paper = self.arguments[0] + "/"
        figures = {name: one for name, one in claims.figures().items() if name.startswith(paper)}
        # A table that is not there yet is read as soon as it is.
        tables = [results.RESULTS / card / "peers" / one.table
                  for one in figures.values() if one.table for card in CARDS]
        sources = [results.ROOT / "lab/scripts/plot", claims.CLAIMS, claims.FIGURES, *results.RESULTS.glob("*/*.csv")]
        for path in sources + tables:
            self.env.note_dependency(path)
        plotted = [name for name in plot().PLOTS if name.startswith(paper) and name in shown()]
        if not plotted:
            raise self.error(f"nothing was drawn of {self.arguments[0]}")
        lines = []
        for name in dict.fromkeys([*figures, *plotted]):
            if name in plotted:
                lines += plots_of(name)
            if name in figures:
                lines += about(figures[name])
            lines += said(name)
        return self.parse_text_to_nodes("\n".join(lines))


def plots_of(name: str) -> list[str]:
    """The plots of an experiment."""
    lines = []
    for card in shown()[name]:
        short = CARDS[card]
        file = file_of(name, short)
        of_card = "" if plot().compares_cards(plot().PLOTS[name]) else f" ({short})"
        lines += [
            f":::{{figure}} /plots-{short.lower()}/{file}",
            f":alt: {name}: {plot().PLOTS[name].title}",
            ":class: plot",
            ":loading: lazy",
            f":target: ../_images/{file}",
            f":name: {anchor(name, short)}",
            "",
            f"`{name}`: {plot().PLOTS[name].title}{of_card}",
            ":::",
            "",
        ]
    return lines


def anchor(name: str, short: str) -> str:
    """Where a plot stands on its page."""
    return "plot-" + file_of(name, short).removesuffix(".svg").replace(".", "-")


def about(figure: claims.Figure) -> list[str]:
    """What shows a figure that has no plot of its own, and what is not shown, and why."""
    lines = []
    if figure.by:
        links = [f"[`{name}`](#{anchor(name, CARDS[shown()[name][0]])})" for name in figure.by]
        lines += [f"`{figure.name}`: {figure.shows}, by the rows of {', '.join(links)}.", ""]
    for card, path in figure.tables().items():
        lines += printed(figure, card, path)
    if figure.lacks and not figure.tables():
        own = f"`{figure.name}`: {figure.shows}. " if figure.shows and not figure.by else ""
        lines += [f"{own}Not here: {figure.lacks}", ""]
    return lines


def printed(figure: claims.Figure, card: str, path: Path) -> list[str]:
    """A table that another program printed."""
    head, *rest = results.rows_of_peer(path)
    lines = [f"`{figure.name}`: {figure.shows} ({CARDS.get(card, card)})", ""]
    lines += ["| " + " | ".join(name.replace("_", " ") for name in head) + " |", "| --- " * len(head) + "|"]
    lines += ["| " + " | ".join(row.values()) + " |" for row in [head, *rest]]
    left_out = results.heads_of_peer(path).get("left out", [])
    return [*lines, "", *([f"Left out: {'; '.join(left_out)}."] if left_out else []), ""]


def said(name: str) -> list[str]:
    """What the paper says of a figure, and whether that holds here: a table, with a line for each method and rival."""
    found = verdicts().get(name, [])
    if not found:
        return []
    lines = ["| The paper says | by | here | |", "| --- " * 4 + "|"]
    for verdict in found:
        first = f"*{verdict.says}* {verdict.remarks()}"
        for by, ratios, word in verdict.lines():
            lines.append(f"| {first} | {by} | {ratios} | {word} |")
            first = ""
    return [*lines, ""]


class Costs(SphinxDirective):
    """`{costs}`: what lab/scripts/cost_model.py fitted, a line for each structure and card."""

    def run(self) -> list[nodes.Node]:
        lines = ["| | card | traversal, ms | intersection, ms | error at most |", "| --- " * 5 + "|"]
        for fit in cost_model.fits(rows()):
            cells = [plot().flat(fit.row)["method"], claims.card_of(fit.row["device"]), f"{fit.traversal_ms:.2g}",
                     f"{fit.intersection_ms:.2g}", f"{fit.error * 100:.0f} %"]
            lines.append("| " + " | ".join(cells) + " |")
        return self.parse_text_to_nodes("\n".join(lines))


class Verdict(SphinxDirective):
    """`{verdict} EXPERIMENT`: what the paper says of one, without its plot."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        self.env.note_dependency(claims.CLAIMS)
        if self.arguments[0] not in verdicts():
            raise self.error(f"claims.toml says nothing of {self.arguments[0]}")
        return self.parse_text_to_nodes("\n".join(said(self.arguments[0])))


class Verdicts(SphinxDirective):
    """`{verdicts}`: how often what a paper says of its figures holds here, a line for each paper that is a
    document beside this one. The paper's own method counts, and its own rival if that has rows."""

    def run(self) -> list[nodes.Node]:
        self.env.note_dependency(claims.CLAIMS)
        lines = ["| claims of | " + " | ".join(claims.WORDS) + " |", "| --- " * (1 + len(claims.WORDS)) + "|"]
        for paper, found in claims.counted(verdicts()).items():
            lines.append(f"| [{paper}]({paper}.md) | " + " | ".join(map(str, found)) + " |")
        return self.parse_text_to_nodes("\n".join(lines))


def setup(app: Sphinx) -> dict[str, bool]:
    """Called by Sphinx."""
    app.connect("builder-inited", draw)
    app.add_directive("costs", Costs)
    app.add_directive("measured", Measured)
    app.add_directive("plots", Plots)
    app.add_directive("verdict", Verdict)
    app.add_directive("verdicts", Verdicts)
    return {"parallel_read_safe": True}
