# SPDX-License-Identifier: Apache-2.0
"""What papers say of their figures, and whether docs/results agrees: docs/results/claims.toml, judged by numbers.

A claim compares the row of `of` with that of `to`, once for each value of the fields in `each`. Both are of the
experiment `figure`, or of the one that `rows` names, where that shows the figure, or of the figure's `table`; the
latter may be of `beside`. The ratio of a `quantity` [lookup_ms], a field or a sum of some, and of `to` of another one
if `to_quantity` names it, is to be `less` than 1, `more`, `no more`, or `alike`; or, in its place, so many `times` [1].
`ms_per_lookup` is for batches that differ, `bytes_per_rate` is what an index takes for each lookup per second.

A side is one workload and one method: a structure with its options, and `method` names one of those above the claims;
of a list of them each is judged. A side whose rows are of several methods is refused, unless it says `best` and why the best one counts.
A method that has one of `ours` is judged by itself; what ours takes instead stands beside it.

Rows of the newest commit count. Where it measured a workload several times and these differ by more than what the
claim turns on, nothing is told apart.

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
    """agrees, agrees in part, contradicts, or not told apart."""
    why: str
    """What explains it; not empty if it contradicts, if only in part."""
    ours: dict
    """The ratios with our method in place of the paper's, likewise."""
    best: str
    """Why the best of several methods counts; empty unless it does."""

    def text(self):
        """The verdict as a sentence."""
        more = [f"Ours: {_several(self.ours)}."] if self.ours else []
        more += [f"The best counts: {self.best}"] if self.best else []
        return " ".join([f"{_several(self.ratios)}: {self.word}.", *more, *([self.why] if self.why else [])])


def _several(ratios):
    """Ratios by place: each, or of many the ends by card."""
    if len(ratios) <= MOST_PLACES:
        return ", ".join(f"{_text(ratio)} ({', '.join(filter(None, place))})" for place, ratio in ratios.items())
    found = []
    for card in dict.fromkeys(card for card, _ in ratios):
        of_card = [ratio for place, ratio in ratios.items() if place[0] == card]
        ends = dict.fromkeys(map(_text, (min(of_card), max(of_card))))
        found.append(f"{' to '.join(ends)} ({card})")
    return ", ".join(found)


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
    """Whether a ratio is as expected; None if that is within what measurements differ by."""
    if expects in ("less", "more"):
        held = ratio < 1 if expects == "less" else ratio > 1
        return held if abs(ratio - 1) > NOISE else None
    if expects == "no more":
        return ratio <= 1 + NOISE
    if expects == "alike":
        return ALIKE[0] <= ratio <= ALIKE[1]
    raise SystemExit(f"claims: expects = {expects!r} is none of less, more, no more, alike")


def _method_of(row):
    """A structure and the options that it was asked for."""
    return row.get("structure"), tuple(sorted(results.asked(row).items()))


@dataclasses.dataclass
class _Values:
    """What one side of a claim is at one place: values of the newest commit, by method and workload."""

    by_method: dict = dataclasses.field(default_factory=dict)

    def add(self, row, value):
        """A row that is not older than those before it."""
        workloads = self.by_method.setdefault(_method_of(row), {})
        # Tables that are older than an axis lack it.
        axes = tuple(sorted((name, str(axis)) for name, axis in row["workload_axes"].items() if axis != 0))
        if axes not in workloads or workloads[axes][0] != row.get("commit"):
            workloads[axes] = row.get("commit"), []
        workloads[axes][1].append(value)

    def several(self):
        """What the rows differ in that are of one method; empty if nothing."""
        axes = [dict(workload) for workloads in self.by_method.values() if len(workloads) > 1 for workload in workloads]
        return sorted({name for one in axes for name in one if len({other.get(name) for other in axes}) > 1})

    def ends(self):
        """The least and the largest value of the method that took least."""
        return min(((min(values), max(values)) for workloads in self.by_method.values()
                    for _, values in workloads.values()), key=lambda ends: ends[0])


def _sides(claim, methods, ours):
    """For `of` and `to` what their rows have to be, by the name of a method where there are several."""
    found = {}
    for side in ("of", "to"):
        where = {name: value for name, value in claim[side].items() if name not in ("method", "best")}
        named = claim[side].get("method", [])
        several = isinstance(named, list)
        found[side] = {}
        for name in named if several else [named]:
            is_swapped = ours and "ours" in methods[name]
            if ours and several and not is_swapped:
                continue
            method = methods[methods[name]["ours"] if is_swapped else name]
            own = {field: value for field, value in method.items() if field != "ours"}
            found[side][name if several and not is_swapped else ""] = {**own, **where}
        if not named:
            found[side][""] = where
    return found


def _ratios(claim, rows, methods, ours=False):
    """What a claim compares: the least and the largest ratio, by the card, and the values of `each`."""
    quantity = claim.get("quantity", "lookup_ms")
    quantities = {"of": quantity, "to": claim.get("to_quantity", quantity)}
    own = claim.get("rows", claim["figure"])
    experiments = {"of": own, "to": claim.get("beside", own)}
    between = [claim[side]["device"] for side in ("of", "to") if "device" in claim[side]]
    sides = _sides(claim, methods, ours)
    found = {"of": {}, "to": {}}
    for row in rows:
        for side, names in sides.items():
            if row["experiment"] != experiments[side]:
                continue
            for name, where in names.items():
                if _counts(row, where) and results.matches(row, where):
                    card = " beside ".join(map(card_of, between or [row["device"]]))
                    each = ", ".join(f"{field} {_field(row, field)}" for field in claim.get("each", []))
                    value = sum(_value(row, field) for field in quantities[side].split(" + "))
                    found[side].setdefault((card, each, name), _Values()).add(row, value)
    ratios = {}
    for (card, each, name), values in found["of"].items():
        for (to_card, to_each, to_name), to_values in found["to"].items():
            if (card, each) != (to_card, to_each) or (name and to_name and name != to_name):
                continue
            for side, one in (("of", values), ("to", to_values)):
                if len(one.by_method) > 1 and "best" not in claim[side]:
                    several = "; ".join(f"{structure} {dict(options)}" for structure, options in one.by_method)
                    raise SystemExit(
                        f"claims: {claim['figure']}: {claim['says']} `{side}` is of several methods: {several}")
                if one.several():
                    raise SystemExit(
                        f"claims: {claim['figure']}: {claim['says']} `{side}` is of several: {', '.join(one.several())}")
            (low, high), (to_low, to_high) = values.ends(), to_values.ends()
            place = card, ", ".join(dict.fromkeys(filter(None, (each, name, to_name))))
            ratios[place] = low / to_high, low / to_low, high / to_low
    return ratios


def judged(claim, rows, methods=None):
    """The verdict of a claim, by the rows of all tables, and methods by their names."""
    methods = methods or {}
    ratios = _ratios(claim, rows, methods)
    if not ratios:
        raise SystemExit(f"claims: no rows of {claim['figure']} for: {claim['says']}")
    times = claim.get("times", 1)
    held = set()
    for ends in ratios.values():
        each = {_holds(ratio / times, claim["expects"]) for ratio in ends}
        held.add(each.pop() if len(each) == 1 else None)
    word = ("agrees" if held == {True} else "agrees in part" if True in held
            else "contradicts" if False in held else "not told apart")
    if word in ("agrees in part", "contradicts") and not claim.get("why"):
        raise SystemExit(f"claims: {claim['figure']} {word}, and nothing says why: {claim['says']}")
    used = [method for side in ("of", "to") for method in _names(claim[side])]
    ours = _ratios(claim, rows, methods, ours=True) if any("ours" in methods[name] for name in used) else {}
    best = " ".join(dict.fromkeys(claim[side]["best"] for side in ("of", "to") if "best" in claim[side]))
    return Verdict(claim["says"], _middles(ratios), word, claim.get("why", ""), _middles(ours), best)


def _middles(ratios):
    return {place: middle for place, (_, middle, _) in ratios.items()}


def _names(side):
    named = side.get("method", [])
    return named if isinstance(named, list) else [named]


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
        told = tomllib.load(text)
    methods = told.get("methods", {})
    for claim in told["claims"]:
        if not claim.get("rows", "").endswith(".csv") or _ratios(claim, rows, methods):
            found.setdefault(claim["figure"], []).append(judged(claim, rows, methods))
    return found
