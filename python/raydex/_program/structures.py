# SPDX-License-Identifier: Apache-2.0
"""`structures`: what this build and this machine can do."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

import raydex
from raydex._program.messages import check_word
from raydex._program.outputs import write_text

_ABILITIES = ("available", "points", "ranges", "minima", "duplicates", "updates")


def structures(given: argparse.Namespace) -> None:
    """Prints what there is, as a table."""
    all_of_them = raydex.structures()
    if given.structure is None:
        lines = _offers(all_of_them)
    else:
        check_word("structure", given.structure, list(dict.fromkeys(one.name for one in all_of_them)))
        lines = _options(next(one for one in all_of_them if one.name == given.structure))
    write_text("".join(f"{line}\n" for line in lines))


def _offers(all_of_them: Sequence[raydex.Structure]) -> list[str]:
    table = [["structure", "backend", *_ABILITIES, "keys"]]
    for one in all_of_them:
        words = ["yes" if getattr(one, ability) else "no" for ability in _ABILITIES]
        table.append([one.name, one.backend, *words, " ".join(one.keys)])
    widths = [*(max(map(len, cells)) for cells in list(zip(*table))[:-1]), 0]
    lines = ["  ".join(f"{cell:{width}}" for cell, width in zip(row, widths)) for row in table]
    reasons = {one.backend: one.reason for one in all_of_them if not one.available}
    for backend, reason in sorted(reasons.items()):
        lines += ["", f"{backend} is not available: {reason}"]
    return lines


def _options(structure: raydex.Structure) -> list[str]:
    """The options of a structure; those that only experiments of papers ask for stand apart."""
    options = sorted(structure.options, key=lambda one: one.of_a_paper)
    widest = max((len(one.name) + 1 + len(one.values) for one in options), default=0)
    lines = []
    for i, one in enumerate(options):
        if one.of_a_paper and not (i and options[i - 1].of_a_paper):
            lines += ["", "For experiments of papers:"]
        usual = f" [{one.usual}]" if one.usual else ""
        belongs = f", with {one.belongs_to}" if one.belongs_to else ""
        lines.append(f"{f'{one.name}={one.values}':{widest}}  {one.meaning}{usual}{belongs}")
    return lines
