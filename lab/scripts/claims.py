# SPDX-License-Identifier: Apache-2.0
"""What papers say of their figures, and whether docs/results agrees: docs/results/claims.toml, judged by numbers.

A claim compares the row of `of` with that of `to`, once for each value of the fields in `each`. Both are of the
experiment `figure`, or of the one that `rows` names, where that shows the figure, or of the figure's `table`; the
latter may be of `beside`. The ratio of a `quantity` [lookup_ms], a field or a sum of some, and of `to` of another one
if `to_quantity` names it, is to be `less` than 1, `more`, `no more`, or `alike`; or, in its place, so many `times` [1].
`ms_per_lookup` is for batches that differ, `bytes_per_rate` is what an index takes for each lookup per second,
`bytes_with_array` what minima take with the values that they are of.

A side is one workload and one method: a structure with its options, and `method` names one of those above the claims;
of a list of them each is judged. A list of another field has the values that `each` of it may have. A side whose rows are of several methods is refused, unless it says `best` and why the best one counts.
A method that has one of `ours` is judged by itself; what ours takes instead stands beside it. One that is ours, but whose kind
the papers have as a `published` structure, is judged by both, each with a word of its own. The published one is that of the papers.

Rays are traced in software here, which is taken to be no faster than RT cores. So times of rays beside those of something else say only
what RT cores cannot change: that rays are faster. All else is not judged here, nor what contradicts a claim that `needs` RT cores, by
what these do or by what a scene for them is.

Rows of the newest commit count. Where it measured a workload several times and these differ by more than what the
claim turns on, nothing is told apart.

Both rows are of one card, and a claim is judged on each card that has both. Only where `of` and `to` name a `device`
each are cards compared with each other. Rows of a CPU count only where its `device` is named.
"""

import dataclasses
import tomllib

import cost_model
import published
import results

CLAIMS = results.RESULTS / "claims.toml"
FIGURES = results.RESULTS / "figures.toml"
NOISE = 0.02  # measurements differ by as much
ALIKE = (0.8, 1.25)
MOST_PLACES = 4  # of a verdict that has the ratio of each
WORDS = ["agrees", "agrees in part", "contradicts", "not told apart", "not judged here"]
TIMES = {"lookup_ms", "lookup_with_sort_ms", "rebuilt_lookup_ms", "ms_per_lookup", "bytes_per_rate"}  # the more, the slower


@dataclasses.dataclass
class Verdict:
    """Of one claim."""

    says: str
    """The paper's sentence."""
    ratios: dict
    """By the card, and the values of `each`."""
    word: str
    """One of WORDS."""
    why: str
    """What explains it; not empty if it contradicts, if only in part."""
    ours: dict
    """The ratios with our method in place of the paper's, likewise."""
    best: str
    """Why the best of several methods counts; empty unless it does."""
    published: "Published | None"
    """The same with a published structure in place of ours; None if it did not run such a workload."""

    def by_paper(self):
        """The word by what the paper itself has, as far as there are rows."""
        return self.published.word if self.published else self.word

    def lines(self):
        """By whose structures, the ratios, and the word; what raydex does by default has none, as it does not count."""
        found = [("raydex, as the paper describes it" if self.ours else "raydex", _several(self.ratios), self.word)]
        if self.published:
            found.append((f"{self.published.name}, as published", _several(self.published.ratios), self.published.word))
        if self.ours:
            found.append(("raydex by default", _several(self.ours), ""))
        return found

    def remarks(self):
        """What explains it."""
        best = f"The best counts: {self.best}" if self.best else ""
        return " ".join(filter(None, [best, self.why]))


@dataclasses.dataclass
class Published:
    """What a claim comes to with a published structure."""

    name: str
    ratios: dict
    word: str


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


def _size(axis):
    """A large power of two as one."""
    is_large_power = isinstance(axis, int) and axis > 1024 and axis & (axis - 1) == 0
    return f"2^{axis.bit_length() - 1}" if is_large_power else axis


def card_of(device):
    """The short name of a card, such as H200, or of a CPU."""
    return device.removeprefix("NVIDIA ").removeprefix("AMD ").split(" ")[0]


def _value(row, quantity):
    if quantity == "ms_per_lookup":
        return row["lookup_ms"] / row["probes"]
    if quantity == "bytes_with_array" and quantity not in row:
        return row["resident_bytes"] + row["n"] * (8 if row["key"] in ("double", "int64", "uint64") else 4)
    if quantity == "bytes_per_rate":
        return row["resident_bytes"] / row["lookups_per_s"]
    return row[quantity]


def _is_of(row, side):
    """Whether a row is what a side says; of a list of values one is to be the row's."""
    if row["backend"] == "cpu" and row["device"] != side.get("device"):
        return False
    lists = {name: given for name, given in side.items() if isinstance(given, list)}
    single = {name: given for name, given in side.items() if name not in lists}
    return results.matches(row, single) and all(
        any(results.matches(row, {name: one}) for one in given) for name, given in lists.items())


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
    is_of_rays: bool = False

    def add(self, row, value):
        """A row that is not older than those before it."""
        self.is_of_rays = row["backend"] == "optix"
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
            own = {field: value for field, value in method.items() if field not in ("ours", "published")}
            found[side][name if several and not is_swapped else ""] = {**own, **where}
        if not named:
            found[side][""] = where
    return found


def _ratios(claim, rows, methods, ours=False):
    """What a claim compares, by the card and the values of `each`."""
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
                if _is_of(row, where):
                    card = " beside ".join(map(card_of, between or [row["device"]]))
                    each = ", ".join(f"{field} {_size(_field(row, field))}" for field in claim.get("each", []))
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
            ratios[place] = _Ratio(low / to_high, low / to_low, high / to_low, _bound(quantities, values, to_values))
    return ratios


@dataclasses.dataclass
class _Ratio:
    """Of two sides."""

    least: float
    middle: float
    most: float
    bound: str
    """What it is of the ratio with RT cores: an "upper" or a "lower" one; nothing if they change none or both sides."""

    def held(self, expects, times):
        """Whether it is as a claim expects: True or False, None if that is within what measurements differ by, and
        WORDS[-1] where RT cores might change it."""
        each = {_holds(ratio / times, expects) for ratio in (self.least, self.middle, self.most)}
        held = each.pop() if len(each) == 1 else None
        if not self.bound or held is None:
            return held
        low, high = ALIKE if expects == "alike" else (1 + NOISE, 1 + NOISE) if expects == "no more" else (1, 1)
        ratio = self.middle / times
        return held if (ratio < low if self.bound == "upper" else ratio > high) else WORDS[-1]


def _bound(quantities, values, to_values):
    """See `_Ratio.bound`."""
    of_time = all(quantity in TIMES for quantity in quantities.values())
    if not of_time or values.is_of_rays == to_values.is_of_rays:
        return ""
    return "upper" if values.is_of_rays else "lower"


def _word(claim, ratios):
    """The verdict on all of them."""
    held = {ratio.held(claim["expects"], claim.get("times", 1)) for ratio in ratios.values()}
    if held == {True}:
        return "agrees"
    if True in held:
        return "agrees in part"
    if False in held and "needs" not in claim:
        return "contradicts"
    return WORDS[-1] if held & {False, WORDS[-1]} else "not told apart"


def _by_published(claim, rows, told):
    """The claim with published structures in place of ours; None if there are none, or none that ran such a workload.
    With those of both sides if that can be, else with the one of either."""
    named = {side: told["methods"].get(claim[side].get("method"), {}) for side in ("of", "to")
             if not isinstance(claim[side].get("method"), list)}
    rivals = {side: method["published"] for side, method in named.items() if "published" in method}
    for sides in [rivals, *([{side: rival} for side, rival in rivals.items()] if len(rivals) == 2 else [])]:
        if sides and (ratios := _beside_published(claim, sides, rows, told)):
            return Published(" and ".join(dict.fromkeys(sides.values())), _middles(ratios), _word(claim, ratios))
    return None


def _beside_published(claim, rivals, rows, told):
    """The ratios with these structures in place of ours, by the side. They are of the card that these ran on; if the
    other side has no rows of that, of theirs beside the other side's card."""
    own = claim.get("rows", claim["figure"])
    experiments = {"of": own, "to": claim.get("beside", own)}
    quantities = {"of": claim.get("quantity", "lookup_ms")}
    quantities["to"] = claim.get("to_quantity", quantities["of"])
    swapped = {**claim}
    twins, others = [], []
    for side, rival in rivals.items():
        # Rows of the other side tell which workloads to look for; if both are swapped, those of ours do.
        asked = side if len(rivals) == 2 else "to" if side == "of" else "of"
        wheres = _sides(claim, told["methods"], ours=False)[asked].values()
        found = [row for row in rows if row["experiment"] == experiments[asked] and
                 any(_is_of(row, where) for where in wheres)]
        of_rival = published.rows(told["published"][rival])
        cards = {one["device"] for one in of_rival}
        found = [row for row in found if row["device"] in cards] or found
        twins += [{**twin, "experiment": experiments[side]} for row in found
                  for twin in published.beside(row, rival, of_rival) if published.is_told(twin, quantities[side])]
        others += found if len(rivals) == 1 else []
        swapped[side] = {"structure": rival, **{
            field: given for field, given in claim[side].items() if field not in ("method", "best")}}
    ratios = _ratios(swapped, twins + others, told["methods"])
    if not ratios and others:
        side, = rivals
        for of_rival, card in sorted({(twin["device"], row["device"]) for twin in twins for row in others}):
            both = {one: {**swapped[one], "device": of_rival if one == side else card} for one in ("of", "to")}
            ratios.update(_ratios({**swapped, **both}, twins + others, told["methods"]))
    return ratios


def judged(claim, rows, told=None):
    """The verdict of a claim, by the rows of all tables. `told` are methods by their names, and published ones."""
    told = {"methods": {}, "published": {}, **(told or {})}
    methods = told["methods"]
    ratios = _ratios(claim, rows, methods)
    if not ratios:
        raise SystemExit(f"claims: no rows of {claim['figure']} for: {claim['says']}")
    word = _word(claim, ratios)
    by_published = _by_published(claim, rows, told)
    for one in (word, by_published.word if by_published else ""):
        if one in ("agrees in part", "contradicts") and not claim.get("why"):
            raise SystemExit(f"claims: {claim['figure']} {one}, and nothing says why: {claim['says']}")
    used = [method for side in ("of", "to") for method in _names(claim[side])]
    ours = _ratios(claim, rows, methods, ours=True) if any("ours" in methods[name] for name in used) else {}
    best = " ".join(dict.fromkeys(claim[side]["best"] for side in ("of", "to") if "best" in claim[side]))
    return Verdict(claim["says"], _middles(ratios), word, claim.get("why", ""), _middles(ours), best, by_published)


def _middles(ratios):
    return {place: ratio.middle for place, ratio in ratios.items()}


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
    for claim in told["claims"]:
        if not claim.get("rows", "").endswith(".csv") or _ratios(claim, rows, told.get("methods", {})):
            found.setdefault(claim["figure"], []).append(judged(claim, rows, told))
    return found


def counted(all_verdicts):
    """How many claims of a paper are of each of WORDS, by what the paper itself has."""
    found = {}
    for figure, of_figure in all_verdicts.items():
        counts = found.setdefault(figure.split("/")[0], [0] * len(WORDS))
        for verdict in of_figure:
            counts[WORDS.index(verdict.by_paper())] += 1
    return found
