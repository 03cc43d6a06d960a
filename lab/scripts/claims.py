# SPDX-License-Identifier: Apache-2.0
"""What papers say of their figures, and whether docs/results agrees: docs/results/claims.toml, judged by numbers.

A claim compares the best row of `of` with the best one of `to`, once for each value of the fields in `each`. Both are of
the experiment `figure`, or of the one that `rows` names, where that shows the figure, or of the figure's `table`; the
latter may be of `beside`. The ratio of a `quantity` [lookup_ms], a field or a sum of some, and of `to` of another one if
`to_quantity` names it, is to be `less` than 1, `more`, `no more`, or `alike`; or, in its place, so many `times` [1].
`ms_per_lookup` is for batches that differ, `bytes_per_rate` is what an index takes for each lookup per second.

Both rows are of one card, and a claim is judged on each card that has both. Only where `of` and `to` name a `device`
each are cards compared with each other. Rows of a CPU count only where its `device` is named.
"""

import dataclasses
import tomllib

import cost_model
import results

CLAIMS = results.RESULTS / "claims.toml"
FIGURES = results.RESULTS / "figures.toml"
NOISE = 0.02  # measurements differ by as much
ALIKE = (0.8, 1.25)
MOST_PLACES = 4  # of a verdict that has the ratio of each


@dataclasses.dataclass
class Verdict:
    """Of one claim."""

    says: str
    """The paper's sentence."""
    ratios: dict
    """By the card, and the values of `each`."""
    word: str
    """agrees, agrees in part, or contradicts."""
    why: str
    """What explains it; not empty unless it agrees."""

    def text(self):
        """The verdict as a sentence."""
        if len(self.ratios) <= MOST_PLACES:
            found = [f"{_text(ratio)} ({', '.join(filter(None, place))})" for place, ratio in self.ratios.items()]
        else:
            found = []
            for card in dict.fromkeys(card for card, _ in self.ratios):
                of_card = [ratio for place, ratio in self.ratios.items() if place[0] == card]
                ends = dict.fromkeys(map(_text, (min(of_card), max(of_card))))
                found.append(f"{' to '.join(ends)} ({card})")
        return f"{', '.join(found)}: {self.word}." + (f" {self.why}" if self.why else "")


@dataclasses.dataclass
class Figure:
    """One of a paper, as figures.toml describes it."""

    name: str
    by: list
    """The experiments that show it, besides one of its own name."""
    table: str
    shows: str
    lacks: str

    def tables(self):
        """What another program printed of it, by the folder of the card."""
        return {path.parent.parent.name: path for path in sorted(results.RESULTS.glob(f"*/peers/{self.table}"))
                } if self.table else {}


def figures():
    """All figures, by name."""
    with open(FIGURES, "rb") as text:
        return {name: Figure(name, entry.get("by", []), entry.get("table", ""), entry.get("shows", ""), entry.get("lacks", ""))
                for entry in tomllib.load(text)["figures"] for name in entry["names"]}


def _text(ratio):
    return f"{ratio:.0f}" if ratio >= 100 else f"{ratio:.2f}" if ratio >= 0.1 else f"{ratio:.2g}"


def _field(row, name):
    options = {**results.named(row["options"]), **results.asked(row)}
    return {**row, **row["workload_axes"], **options}[name]


def card_of(device):
    """The short name of a card, such as H200, or of a CPU."""
    return device.removeprefix("NVIDIA ").removeprefix("AMD ").split(" ")[0]


def _value(row, quantity):
    if quantity == "ms_per_lookup":
        return row["lookup_ms"] / row["probes"]
    if quantity == "bytes_per_rate":
        return row["resident_bytes"] / row["lookups_per_s"]
    return row[quantity]


def _counts(row, side):
    return row["backend"] != "cpu" or row["device"] == side.get("device")


def _holds(ratio, expects):
    if expects == "less":
        return ratio < 1 - NOISE
    if expects == "more":
        return ratio > 1 + NOISE
    if expects == "no more":
        return ratio <= 1 + NOISE
    if expects == "alike":
        return ALIKE[0] <= ratio <= ALIKE[1]
    raise SystemExit(f"claims: expects = {expects!r} is none of less, more, no more, alike")


def _ratios(claim, rows):
    """What a claim compares, by the card, and the values of `each`."""
    quantity = claim.get("quantity", "lookup_ms")
    quantities = {"of": quantity, "to": claim.get("to_quantity", quantity)}
    own = claim.get("rows", claim["figure"])
    experiments = {"of": own, "to": claim.get("beside", own)}
    between = [claim[side]["device"] for side in ("of", "to") if "device" in claim[side]]
    best = {"of": {}, "to": {}}
    for row in rows:
        for side, found in best.items():
            if row["experiment"] == experiments[side] and _counts(row, claim[side]) and results.matches(row, claim[side]):
                card = " beside ".join(map(card_of, between or [row["device"]]))
                place = (card, ", ".join(f"{name} {_field(row, name)}" for name in claim.get("each", [])))
                value = sum(_value(row, name) for name in quantities[side].split(" + "))
                found[place] = min(value, found.get(place, value))
    return {place: value / best["to"][place] for place, value in best["of"].items() if place in best["to"]}


def judged(claim, rows):
    """The verdict of a claim, by the rows of all tables."""
    ratios = _ratios(claim, rows)
    if not ratios:
        raise SystemExit(f"claims: no rows of {claim['figure']} for: {claim['says']}")
    held = [_holds(ratio / claim.get("times", 1), claim["expects"]) for ratio in ratios.values()]
    word = "agrees" if all(held) else "agrees in part" if any(held) else "contradicts"
    if word != "agrees" and not claim.get("why"):
        raise SystemExit(f"claims: {claim['figure']} {word}, and nothing says why: {claim['says']}")
    return Verdict(claim["says"], ratios, word, claim.get("why", ""))


def printed():
    """Rows of the tables of figures. The name of the table is their experiment."""
    rows = []
    for table in dict.fromkeys(one.table for one in figures().values() if one.table):
        for path in sorted(results.RESULTS.glob(f"*/peers/{table}")):
            same = {"experiment": table, "device": results.heads_of_peer(path)["device"][0], "backend": "cuda", "options": "",
                    "workload_axes": {}}
            rows += [{**same, **{name: results.number(cell) for name, cell in row.items()}}
                     for row in results.rows_of_peer(path)]
    return rows


def evidence():
    """The rows that claims are judged by: those of all tables, and costs that are fitted to them."""
    rows = results.everything()
    return rows + cost_model.rows_of(cost_model.fits(rows)) + printed()


def verdicts(rows):
    """The verdicts of all claims, by the figure; but for those of a figure's table that has no such rows yet."""
    found = {}
    with open(CLAIMS, "rb") as text:
        for claim in tomllib.load(text)["claims"]:
            if not claim.get("rows", "").endswith(".csv") or _ratios(claim, rows):
                found.setdefault(claim["figure"], []).append(judged(claim, rows))
    return found
