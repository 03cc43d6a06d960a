# SPDX-License-Identifier: Apache-2.0
"""The options of each structure through `raydex query`: right answers, and clear refusals."""

import json

import numpy as np
import pytest
from conftest import BACKEND
from oracle import Oracle, assert_equal, random_keys, random_points

ORDERED = {
    "eytzinger": [
        "layout=column", "k=2", "k=3 layout=column", "k=9", "k=17", "k=33",
    ],
    "pivot_tree": [
        "layout=row", "nodes=exact", "nodes=quantised", "nodes=narrow", "search=lines nodes=auto",
        "search=groups", "search=groups k=2 layout=column", "search=groups k=2 levels=1",
        "search=groups k=5 levels=2", "search=groups k=33 levels=all", "search=groups levels=40",
    ],
}
SCHEDULES = [
    "schedule=dynamic", "schedule=static threads=128", "threads=1024 lookups=16 pin=steps",
    "lookups=3 pin=full", "scan=single", "scan=multi",
]
# Of structures that papers search in groups of threads, or with blocks that sort their probes.
PAPER_SCHEDULES = [
    "reorder=single lookups=5", "reorder=double threads=256 pin=none", "group=exact scan=single", "group=power scan=multi",
]

CASES = [(s, o) for s, options in ORDERED.items() for o in ["", *options]]
CASES += [(s, o) for s in ["sorted_array", "btree", *ORDERED] for o in SCHEDULES]
CASES += [(s, o) for s in ["sorted_array", "eytzinger"] for o in PAPER_SCHEDULES]
CASES += [("pivot_tree", f"search=groups {o}") for o in PAPER_SCHEDULES]
CASES += [("btree", o) for o in ["", "fill=50", "fill=100"]]

LEGAL = {
    "layout": ["row", "column"],
    "schedule": ["dynamic", "static", "one"],
    "pin": ["none", "steps", "full"],
    "reorder": ["none", "single", "double"],
    "group": ["exact", "power"],
    "scan": ["multi", "single"],
    "search": ["lines", "groups"],
    "nodes": ["auto", "exact", "quantised", "narrow"],
}


def with_options(text):
    """`--option` takes one or more; here all of them, or none."""
    return {"option": text.split()} if text else {}


def query(program, result, option=(), **options):
    """As `program.query`, with any number of options."""
    words = []
    for word in option:
        words += ["--option", word]
    out = "out.npz" if result == "rows" else "out.npy"
    arguments = ["query", "--backend", BACKEND, "--result", result, "--out", out, *words]
    for name, value in options.items():
        arguments += ["--" + name.replace("_", "-"), value]
    done = program.run(*arguments)
    assert (done.returncode, done.stderr) == (0, "")
    answer = np.load(program.folder / out)
    return (answer["offsets"], answer["rows"]) if result == "rows" else answer


def refusal(program, structure, option):
    """The one line of error that a query with this option prints."""
    column = program.file("K.npy", np.arange(10, dtype="<u4"))
    words = []
    for word in option.split():
        words += ["--option", word]
    return program.refuse(
        "query", "--structure", structure, "--backend", BACKEND, "--keys", column,
        "--points", column, "--result", "first", "--out", "out.npy", *words,
    )


@pytest.mark.parametrize(("structure", "option"), CASES)
def test_answers(program, rng, structure, option):
    dtype = rng.choice(["<u4", "<i8", "<f4", "<f8", "|S5"])
    n, probes = int(rng.integers(1, 700)), int(rng.integers(1, 200))
    keys = random_keys(rng, dtype, n)
    lower, upper = random_points(rng, keys, probes), random_points(rng, keys, probes)
    files = {"keys": program.file("K.npy", keys), "structure": structure, **with_options(option)}
    points = {"points": program.file("P.npy", lower), **files}
    ranges = {"ranges": program.file("R.npy", np.stack([lower, upper], axis=1)), **files}
    oracles = Oracle(keys, lower, lower), Oracle(keys, lower, upper)
    values = rng.integers(0, 1000, n).astype("<u4")
    for asked, oracle in zip([points, ranges], oracles):
        assert_equal(query(program, "first", **asked), oracle.first())
        assert_equal(query(program, "count", **asked), oracle.count())
        summed = {"values": program.file("V.npy", values), **asked}
        assert_equal(query(program, "sum", **summed), oracle.sum(values))
        assert_equal(query(program, "rows", **asked), oracle.rows())


@pytest.mark.parametrize("structure", [*ORDERED])
@pytest.mark.parametrize("dtype", ["<u4", "<f8"])
def test_ascending_points(program, rng, structure, dtype):
    n, probes = int(rng.integers(5_000, 30_000)), 20_000
    keys = rng.permutation(np.arange(n)).astype(dtype)
    points = np.sort(rng.integers(-5 if dtype == "<f8" else 0, n + 5, probes)).astype(dtype)
    row_of = np.full(n + 10, 2**32 - 1, "<u4")
    row_of[keys.astype(int)] = np.arange(n, dtype="<u4")
    # Points below all keys take the place of key n, which no row has.
    expected = row_of[np.where(points < 0, n, points).astype(int)]
    for _ in range(2):  # ascending, then in no order
        asked = query(
            program, "first", structure=structure,
            keys=program.file("K.npy", keys), points=program.file("P.npy", points),
        )
        assert_equal(asked, expected)
        order = rng.permutation(probes)
        points, expected = points[order], expected[order]


@pytest.mark.parametrize(
    ("structure", "options"),
    [
        ("eytzinger", {"layout": "row", "k": "9"}),
        ("eytzinger", {"layout": "column", "k": "4", "group": "exact"}),
        ("pivot_tree", {"layout": "row", "search": "lines", "nodes": "exact"}),
        ("pivot_tree", {"layout": "row", "search": "groups", "k": "5", "levels": "2"}),
        ("pivot_tree", {"layout": "row", "search": "groups", "k": "5", "levels": "all"}),
    ],
)
def test_report(program, structure, options):
    column = program.file("K.npy", np.arange(1000, dtype="<i4"))
    query(
        program, "count", keys=column, points=column, report="report.json", structure=structure,
        option=[f"{name}={value}" for name, value in options.items()],
    )
    report = json.loads((program.folder / "report.json").read_text())
    assert report["structure"] == structure
    assert report["options"] == options
    least = 8 * 1000
    # In addition to pivots, a root has a table of 16 KiB.
    most = least if structure == "eytzinger" else least + least // 4 + (16 << 10)
    assert least <= report["resident_bytes"] <= most


@pytest.mark.parametrize("structure", ["sorted_array", *ORDERED])
@pytest.mark.parametrize("option", ["layout", "schedule", "pin", "reorder", "group", "scan"])
def test_wrong_words(program, structure, option):
    search = "search=groups " if structure == "pivot_tree" else ""
    line = refusal(program, structure, f"{search}{option}=other")
    assert f"option {option}: 'other'" in line
    for word in LEGAL[option]:
        assert word in line


@pytest.mark.parametrize(
    ("structure", "option", "parts"),
    [
        ("eytzinger", "k=1", ["option k: 1", "2 to 33"]),
        ("eytzinger", "k=34", ["option k: 34", "2 to 33"]),
        ("eytzinger", "k=many", ["option k: 'many'", "number", "2 to 33"]),
        ("eytzinger", "k=", ["option k: ''", "number"]),
        ("eytzinger", "k=-2", ["option k: '-2'", "number"]),
        ("eytzinger", "ranges=path", ["option ranges: 'path'", "ranks"]),
        ("eytzinger", "levels=2", ["'levels'", "k=2..33", "layout=column|row"]),
        ("eytzinger", "search=lines", ["'search'", "k=2..33"]),
        ("eytzinger", "threads=100", ["option threads: 100", "128, 256, 512, 1024"]),
        ("eytzinger", "lookups=17", ["option lookups: 17", "1 to 16"]),
        ("eytzinger", "lookups=0", ["option lookups: 0", "1 to 16"]),
        ("btree", "fill=49", ["option fill: 49", "50 to 100"]),
        ("btree", "fill=half", ["option fill: 'half'", "number"]),
        ("btree", "layout=row", ["'layout'", "fill=50..100"]),
        ("btree", "reorder=double", ["'reorder'", "schedule=dynamic"]),
        ("direct", "group=exact", ["'group'", "schedule=dynamic"]),
        ("pivot_tree", "reorder=double", ["'reorder'", "for groups"]),
        ("pivot_tree", "group=power", ["'group'", "for groups"]),
        ("pivot_tree", "search=other", ["option search: 'other'", *LEGAL["search"]]),
        ("pivot_tree", "nodes=other", ["option nodes: 'other'", *LEGAL["nodes"]]),
        ("pivot_tree", "k=9", ["'k'", "for groups"]),
        ("pivot_tree", "levels=2", ["'levels'", "for groups"]),
        ("pivot_tree", "search=groups nodes=exact", ["'nodes'", "for lines"]),
        ("pivot_tree", "layout=column", ["option layout", "column goes with search=groups"]),
        ("pivot_tree", "search=groups k=1", ["option k: 1", "2 to 33"]),
        ("pivot_tree", "search=groups levels=0", ["option levels: 0", "1 to 40"]),
        ("pivot_tree", "search=groups levels=41", ["option levels: 41", "1 to 40"]),
        ("pivot_tree", "search=groups levels=some", ["option levels: 'some'", "all, 1 to 40"]),
        ("pivot_tree", "leaf=9", ["'leaf'", "search=lines|groups", "levels=all|1..40"]),
        ("sorted_array", "k=9", ["'k'", "layout=column|row"]),
    ],
)
def test_wrong_options(program, structure, option, parts):
    line = refusal(program, structure, option)
    for part in parts:
        assert part in line
