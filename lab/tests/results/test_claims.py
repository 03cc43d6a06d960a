# SPDX-License-Identifier: Apache-2.0
"""What papers say is judged by what was measured, and each of their figures has a verdict."""

import pathlib
import sys
import tomllib

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "lab/scripts"))

import claims  # noqa: E402
import results  # noqa: E402


def rows_of(card="H200", **times):
    """A row for each layout, of an experiment."""
    return [
        {"experiment": "a/1", "options": f"layout={layout}", "command": f"raydex bench --option layout={layout}",
         "workload_axes": {"keys": 8}, "backend": "cuda", "probes": 4, "lookup_ms": ms, "device": f"NVIDIA {card} 80GB"}
        for layout, ms in times.items()
    ]


def claim(expects, **more):
    return {"figure": "a/1", "says": "So it is.", "of": {"layout": "row"}, "to": {"layout": "column"},
            "expects": expects, **more}


def line_of(verdict):
    """A verdict in a line."""
    named = {"raydex": "", "raydex, as the paper describes it": "", "raydex by default": "Ours: "}
    lines = [f"{named.get(by, f'By {by}: ')}{ratios}{f': {word}' if word else ''}." for by, ratios, word in verdict.lines()]
    return " ".join(filter(None, [*lines, verdict.remarks()]))


# All that show measurements, t for tables. What else there is are drawings, and listings of options and machines.
PAPERS = {
    "rx": "3a 3b 6 7 8 9 10a 10b 10c 11 12 13 14 15 16 17 18 t3 t4 t5 t6 t7 t8",
    "cgrx": "1 8a 8b 10 11 12 13 14 15 t1",
    "lightweight": "1a 1b 7 14a 14b 14c 15 16 17a 17b 18a 18b 19 20 21 22",
    "gpu-rmq": "1 4 12 13 14 15 16 17 18",
    "thesis": "5.5 5.6 5.7 5.8 5.9 5.10 5.11 5.12 5.13 5.14 5.15 5.16 5.17 5.18 5.19 5.20 5.21 5.22 5.23 5.24 5.25",
}


@pytest.fixture(name="rows", scope="module")
def fixture_rows():
    return claims.evidence()


@pytest.fixture(name="verdicts", scope="module")
def fixture_verdicts(rows):
    return claims.verdicts(rows)


def test_every_figure_is_shown_or_says_why_not(rows):
    figures = claims.figures()
    assert set(figures) == {f"{paper}/{name}" for paper, names in PAPERS.items() for name in names.split()}
    measured = {row["experiment"] for row in rows}
    for one in figures.values():
        if one.by:
            assert set(one.by) <= measured and one.shows, one.name
        else:
            assert one.name in measured or one.tables() or one.lacks, one.name


def test_every_figure_has_a_verdict(rows, verdicts):
    judged = set(verdicts)
    figures = claims.figures()
    tables = {one.table for one in figures.values()}
    measured = {row["experiment"] for row in rows if row["experiment"] and row["experiment"] not in tables}
    assert measured | {one.name for one in figures.values() if one.by} <= judged
    assert judged <= measured | set(figures)
    with open(claims.CLAIMS, "rb") as text:
        for one in tomllib.load(text)["claims"]:
            if "rows" in one:
                figure = figures[one["figure"]]
                assert one["rows"] in (figure.table, *figure.by), one["says"]


def test_what_was_published_has_rows_and_is_used(verdicts):
    with open(claims.CLAIMS, "rb") as text:
        told = tomllib.load(text)
    named = {method["published"] for method in told["methods"].values() if "published" in method}
    assert named == set(told["published"])
    used = {verdict.published.name for of_figure in verdicts.values() for verdict in of_figure if verdict.published}
    assert named <= used


@pytest.mark.parametrize("expects, row, word", [
    ("less", 0.5, "agrees"), ("less", 0.99, "not told apart"), ("less", 2, "contradicts"),
    ("more", 2, "agrees"), ("more", 1.01, "not told apart"), ("more", 0.5, "contradicts"),
    ("alike", 1.2, "agrees"), ("alike", 0.7, "contradicts"), ("alike", 1.3, "contradicts"),
])
def test_verdicts_follow_from_times(expects, row, word):
    found = claims.judged(claim(expects, why="Who knows."), rows_of(row=row, column=1))
    assert found.word == word
    assert line_of(found) == f"{row:.2f} (H200): {word}. Who knows."


def test_some_of_several():
    rows = [*rows_of(row=1, column=2), *rows_of(row=3, column=2)]
    for row in rows[2:]:
        row["workload_axes"] = {"keys": 16}
    found = claims.judged(claim("less", each=["keys"], why="Who knows."), rows)
    assert line_of(found) == "0.50 (H200, keys 8), 1.50 (H200, keys 16): agrees in part. Who knows."


def test_a_list_has_the_values_of_each():
    """And no others."""
    rows = []
    for keys, ms in ((8, 1), (16, 2), (32, 9)):
        rows += [{**row, "workload_axes": {"keys": keys}} for row in rows_of(row=ms, column=4)]
    found = claims.judged(claim("less", of={"layout": "row", "keys": ["8", "16"]}, each=["keys"]), rows)
    assert line_of(found) == "0.25 (H200, keys 8), 0.50 (H200, keys 16): agrees."


def test_cards_are_judged_apart():
    """Each is compared with itself, unless a claim names two."""
    rows = [*rows_of(row=1, column=2), *rows_of(card="H100", row=6, column=4)]
    found = claims.judged(claim("less", why="Who knows."), rows)
    assert line_of(found) == "0.50 (H200), 1.50 (H100): agrees in part. Who knows."
    only = claims.judged(claim("less"), [*rows[:2], *rows_of(card="A10", row=0.1)])
    assert line_of(only) == "0.50 (H200): agrees."
    with pytest.raises(SystemExit, match="no rows of a/1"):
        claims.judged(claim("less"), [rows[0], rows[3]])
    both = claim("less", of={"layout": "row", "device": "NVIDIA H200 80GB"},
                 to={"layout": "column", "device": "NVIDIA H100 80GB"})
    assert line_of(claims.judged(both, rows)) == "0.25 (H200 beside H100): agrees."


def test_cpus_count_where_they_are_named():
    """Beside cards, also of batches of another size."""
    rows = [*rows_of(row=2, column=4), *rows_of(row=600)]
    rows[2].update(backend="cpu", device="AMD EPYC", probes=2)
    assert line_of(claims.judged(claim("less"), rows)) == "0.50 (H200): agrees."
    both = claim("more", of={"layout": "row", "device": "AMD EPYC"},
                 to={"layout": "column", "device": "NVIDIA H200 80GB"}, quantity="ms_per_lookup", times=100)
    assert line_of(claims.judged(both, rows)) == "300 (EPYC beside H200): agrees."
    rows[2]["lookup_ms"] = 100
    found = claims.judged({**both, "why": "Who knows."}, rows)
    assert line_of(found) == "50.00 (EPYC beside H200): contradicts. Who knows."


def test_many_are_told_by_their_ends():
    rows = []
    for keys in (8, 16, 32):
        for card, ms in (("H200", 1), ("H100", 4)):
            more = rows_of(card=card, row=ms * keys, column=8)
            rows += [{**row, "workload_axes": {"keys": keys}} for row in more]
    assert line_of(claims.judged(claim("more", each=["keys"], why="Who knows."), rows)) == (
        "1.00 to 4.00 (H200), 4.00 to 16.00 (H100): agrees in part. Who knows.")


def test_a_claim_is_of_one_method():
    """That it names, or it says why the best of several counts."""
    rows = rows_of(row=1, column=2, packed=3)
    several = claim("less", of={}, to={"layout": "packed"})
    with pytest.raises(SystemExit, match="`of` is of several methods: .*row.*column.*packed"):
        claims.judged(several, rows)
    best = claims.judged({**several, "of": {"best": "of all layouts."}}, rows)
    assert line_of(best) == "0.33 (H200): agrees. The best counts: of all layouts."
    methods = {"R": {"layout": "row"}, "C": {"layout": "column"}}
    one = claims.judged({**several, "of": {"method": "R"}}, rows, {"methods": methods})
    assert line_of(one) == "0.33 (H200): agrees."
    each = claims.judged({**several, "of": {"method": ["R", "C"]}}, rows, {"methods": methods})
    assert line_of(each) == "0.33 (H200, R), 0.67 (H200, C): agrees."
    with_itself = {"of": {"method": ["R", "C"]}, "to": {"method": ["R", "C"]}, "why": "As is."}
    both = claims.judged({**several, **with_itself}, rows, {"methods": methods})
    assert line_of(both) == "1.00 (H200, R), 1.00 (H200, C): not told apart. As is."


def test_a_claim_is_of_one_workload():
    rows = [*rows_of(row=1, column=2), *rows_of(row=1, column=3)]
    for row in rows[2:]:
        row["workload_axes"] = {"keys": 8, "probe_order": "sorted"}
    with pytest.raises(SystemExit, match="is of several: probe_order"):
        claims.judged(claim("less"), rows)


def test_ours_stands_beside_and_does_not_count():
    methods = {"R": {"layout": "row", "ours": "our R"}, "our R": {"layout": "packed"}}
    of_paper = claim("less", of={"method": "R"}, why="Who knows.")
    assert line_of(claims.judged(of_paper, rows_of(row=3, column=2, packed=1), {"methods": methods})) == (
        "1.50 (H200): contradicts. Ours: 0.50 (H200). Who knows.")
    assert line_of(claims.judged(of_paper, rows_of(row=3, column=2), {"methods": methods})) == "1.50 (H200): contradicts. Who knows."


@pytest.mark.parametrize("expects, rays, other, word", [
    ("less", 1, 2, "agrees"), ("less", 2, 1, "not judged here"), ("more", 2, 1, "not judged here"), ("more", 1, 2, "contradicts"),
    ("no more", 1, 2, "agrees"), ("no more", 2, 1, "not judged here"), ("alike", 1, 2, "contradicts"),
    ("alike", 1, 1, "not judged here"), ("alike", 2, 1, "not judged here"), ("less", 1, 1, "not told apart"),
])
def test_rays_in_software_tell_what_rt_cores_cannot_change(expects, rays, other, word):
    """They are no faster than RT cores. What takes no time of theirs is judged as it is."""
    rows = rows_of(row=rays, column=other)
    rows[0]["backend"] = "optix"
    told = claim(expects, why="Who knows.")
    assert claims.judged(told, rows).word == word
    mirrored = {"less": "more", "more": "less"}.get(expects)
    if mirrored:
        assert claims.judged({**told, "of": told["to"], "to": told["of"], "expects": mirrored}, rows).word == word
    for row in rows:
        row["build_ms"] = row["lookup_ms"]
    assert claims.judged({**told, "quantity": "build_ms"}, rows).word != "not judged here"


def test_what_rt_cores_decide_contradicts_nothing():
    needs = {"needs": "RT cores"}
    assert claims.judged(claim("less", **needs), rows_of(row=2, column=1)).word == "not judged here"
    assert claims.judged(claim("less", **needs), rows_of(row=1, column=2)).word == "agrees"
    both = [*rows_of(row=2, column=1), *rows_of(card="H100", row=1, column=2)]
    assert claims.judged(claim("less", why="Who knows.", **needs), both).word == "agrees in part"


TOLD = {"methods": {"tree": {"structure": "ours", "published": "theirs"}, "rays": {"structure": "scene", "published": "their rays"}},
        "published": {"theirs": {"table": "theirs.csv", "by": "bulk"}, "their rays": {"table": "rays.csv", "backend": "optix"}}}


def usual_rows(card, structure, ms, **more):
    """A row of points on 2^20 keys, of an experiment."""
    axes = {**results.USUAL_POINTS, "keys": 2**20, "key_bits": 32, "value_bits": 32, **more}
    return [{"experiment": "a/1", "options": "", "command": f"raydex bench --structure {structure}", "workload_axes": axes, "backend": "cuda",
             "structure": structure, "result": "first", "probes": 2**20, "lookup_ms": ms, "device": f"NVIDIA {card}"}]


@pytest.fixture(name="theirs")
def fixture_theirs(tmp_path, monkeypatch):
    """A table of a published structure, on one card, of batches that are twice as large."""
    monkeypatch.setattr(results, "RESULTS", tmp_path)
    table = tmp_path / "card/peers/theirs.csv"
    table.parent.mkdir(parents=True)
    head = "by,result,keys,key_bits,probes,hit_rate,range_hits,build_ms,ms,bytes_per_key"
    lines = ["bulk,first,2^20,32,2^21,100,0,1,8,16", "bulk,first,2^20,32,2^21,0,0,1,12,16", "one by one,first,2^20,32,2^21,100,0,9,1,8"]
    table.write_text("\n".join(["# device: NVIDIA H200", head, *lines, ""]), encoding="utf-8")
    head = "result,keys,key_bits,probes,probe_order,range_hits,build_ms,lookup_ms,resident_bytes,peak_bytes,error"
    lines = [f"first,2^20,32,2^20,{order},0,1,{ms},1,{peak},{error}"
             for order, ms, peak, error in (("unsorted", 6, 9, ""), ("sorted", 3, 9, ""), ("unsorted", "", "", "not run"))]
    (table.parent / "rays.csv").write_text("\n".join(["# device: NVIDIA H200", head, *lines, ""]), encoding="utf-8")


def test_a_published_rival_is_judged_beside_ours(theirs):
    """On its own card if the other side has rows there, on the same workload; the summary counts it."""
    told = {"figure": "a/1", "says": "So it is.", "of": {"structure": "array"}, "to": {"method": "tree"}, "expects": "less",
            "why": "Who knows."}
    rows = [row for card in ("H100", "H200") for row in usual_rows(card, "array", 2)] + usual_rows("H100", "ours", 1)
    found = claims.judged(told, rows, TOLD)
    assert line_of(found) == "2.00 (H100): contradicts. By theirs, as published: 0.50 (H200): agrees. Who knows."
    assert (found.word, found.by_paper()) == ("contradicts", "agrees")
    assert claims.counted({"a/1": [found], "b/2": [found]}) == {"a": [1, 0, 0, 0, 0], "b": [1, 0, 0, 0, 0]}
    only = [row for row in rows if row["device"] == "NVIDIA H100"]
    assert claims.judged(told, only, TOLD).published.ratios == {("H100 beside H200", ""): 0.5}
    swapped = claims.judged({**told, "of": told["to"], "to": told["of"]}, rows, TOLD)
    assert swapped.published.ratios == {("H200", ""): 2}
    bytes_of_both = [{**row, "resident_bytes": 2**23} for row in rows]
    assert claims.judged({**told, "quantity": "resident_bytes"}, bytes_of_both, TOLD).published.ratios == {("H200", ""): 0.5}


@pytest.mark.parametrize("other", [
    {"zipf": 1}, {"probe_order": "sorted"}, {"uniformity": 0}, {"keys": 2**21}, {"hit_rate": 50}, {"key_bits": 64, "value_bits": 64},
])
def test_a_published_rival_counts_on_its_own_workload_alone(theirs, other):
    told = {"figure": "a/1", "says": "So it is.", "of": {"structure": "array"}, "to": {"method": "tree"}, "expects": "less"}
    rows = usual_rows("H200", "array", 1, **other) + usual_rows("H200", "ours", 2, **other)
    assert claims.judged(told, rows, TOLD).published is None
    small = [{**row, "probes": 2**10} for row in usual_rows("H200", "array", 1) + usual_rows("H200", "ours", 2)]
    assert claims.judged(told, small, TOLD).published is None
    peak = [{**row, "build_peak_bytes": size} for row, size in zip(usual_rows("H200", "array", 1) + usual_rows("H200", "ours", 2), (1, 2))]
    assert claims.judged({**told, "quantity": "build_peak_bytes"}, peak, TOLD).published is None


def test_a_published_rival_stands_on_both_sides(theirs):
    told = {"figure": "a/1", "says": "So it is.", "of": {"method": "tree", "hit_rate": 0}, "to": {"method": "tree", "hit_rate": 100},
            "expects": "more", "why": "Who knows."}
    rows = [row for rate in (0, 100) for row in usual_rows("H100", "ours", 1, hit_rate=rate)]
    found = claims.judged(told, rows, TOLD)
    assert line_of(found) == "1.00 (H100): not told apart. By theirs, as published: 1.50 (H200): agrees. Who knows."


def test_both_sides_are_published_if_both_ran_the_workload(theirs):
    """Else one of them. Rays in software decide no less."""
    told = {"figure": "a/1", "says": "So it is.", "of": {"method": "tree"}, "to": {"method": "rays"}, "expects": "more"}
    of_scene = {"backend": "optix"}
    rows = usual_rows("H200", "ours", 9) + [{**row, **of_scene} for row in usual_rows("H200", "scene", 1)]
    found = claims.judged(told, rows, TOLD).published
    assert (found.name, found.ratios, found.word) == ("theirs and their rays", {("H200", ""): pytest.approx(4 / 6)}, "not judged here")
    in_order = {"probe_order": "sorted"}
    rows = usual_rows("H200", "ours", 9, **in_order) + [{**row, **of_scene} for row in usual_rows("H200", "scene", 1, **in_order)]
    found = claims.judged(told, rows, TOLD).published
    assert (found.name, found.ratios, found.word) == ("their rays", {("H200", ""): 3}, "agrees")
    rows = [{**row, "build_peak_bytes": size} for row, size in zip(rows, (3, 1))]
    assert claims.judged({**told, "quantity": "build_peak_bytes", "why": "Who knows."}, rows, TOLD).published.ratios == {
        ("H200", ""): pytest.approx(1 / 3)}


def test_bytes_of_minima_with_their_array():
    rows = [{**row, "resident_bytes": size, "n": 8, "key": "double"} for row, size in zip(rows_of(row=1, column=1), (32, 64))]
    assert line_of(claims.judged(claim("less", quantity="bytes_with_array"), rows)) == "0.75 (H200): agrees."


def test_the_newest_commit_counts():
    """And where it measured a workload twice, both values do."""
    old, new = rows_of(row=1, column=2), rows_of(row=4, column=2)
    for rows, commit in ((old, "a"), (new, "b")):
        for row in rows:
            row["commit"] = commit
    assert line_of(claims.judged(claim("more"), old + new)) == "2.00 (H200): agrees."
    again = [{**new[0], "lookup_ms": 1.5}]
    found = claims.judged(claim("more", why="Who knows."), old + new + again)
    assert line_of(found) == "0.75 (H200): not told apart. Who knows."


def test_claims_of_a_printed_table_wait_for_it(tmp_path, monkeypatch):
    """A figure whose table another program prints says why it is not there until it is, and is then judged."""
    monkeypatch.setattr(results, "RESULTS", tmp_path)
    for name, text in {
        "FIGURES": '[[figures]]\nnames = ["a/1"]\ntable = "loads.csv"\nshows = "Loads"\nlacks = "Time."\n',
        "CLAIMS": '[[claims]]\nfigure = "a/1"\nrows = "loads.csv"\nsays = "So it is."\nquantity = "ms"\n'
                  'of = { group = "2^1" }\nto = { group = 1 }\nexpects = "less"\n',
    }.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
        monkeypatch.setattr(claims, name, tmp_path / name)
    assert claims.printed() == [] and claims.verdicts([]) == {}
    assert not claims.figures()["a/1"].tables()
    table = tmp_path / "card/peers/loads.csv"
    table.parent.mkdir(parents=True)
    table.write_text("# device: NVIDIA H100 80GB\ngroup,ms\n1,4\n2,1\n", encoding="utf-8")
    assert claims.figures()["a/1"].tables() == {"card": table}
    verdict, = claims.verdicts(claims.printed())["a/1"]
    assert line_of(verdict) == "0.25 (H100): agrees."


def test_what_contradicts_needs_a_reason():
    with pytest.raises(SystemExit, match="nothing says why: So it is."):
        claims.judged(claim("more"), rows_of(row=1, column=2))
    with pytest.raises(SystemExit, match="no rows of a/1"):
        claims.judged(claim("more"), rows_of(row=1))
