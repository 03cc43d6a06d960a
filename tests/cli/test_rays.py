# SPDX-License-Identifier: Apache-2.0
"""`raydex query` by rays: right answers with the options of `rx` and `cgrx`, and clear refusals."""

import json

import numpy as np
import pytest
from conftest import BACKEND
from oracle import Oracle, assert_equal, random_keys, random_points

pytestmark = pytest.mark.skipif(BACKEND == "cuda", reason="rays are traced on cpu and optix")

CASES = [
    "", "primitive=triangle ranges=zero parts=3", "primitive=sphere hits=any",
    "primitive=box parts=5 duplicates=keep", "bits=20/22/22 scale=3/9 order=tiles",
    "inverse=on compact=on", "inverse=auto order=sorted build=trace",
]


CGRX_CASES = [
    "", "bucket=2 search=linear parts=3 layout=aligned",
    "scene=naive mapping=bits bucket=5 order=tiles scan=single",
    "mapping=bits bits=20/22/22 scale=3/9 compact=on build=trace layout=packed",
]


def ask(program, result, files, option, structure="rx"):
    """Asks one question; returns the answer."""
    words = []
    for word in option.split():
        words += ["--option", word]
    out = "out.npz" if result == "rows" else "out.npy"
    done = program.run(
        "query", "--structure", structure, "--backend", BACKEND, "--result", result, "--out", out,
        "--report", "report.json", *files, *words,
    )
    assert (done.returncode, done.stderr) == (0, "")
    answer = np.load(program.folder / out)
    return (answer["offsets"], answer["rows"]) if result == "rows" else answer


@pytest.mark.parametrize(
    ("structure", "option"), [("rx", o) for o in CASES] + [("cgrx", o) for o in CGRX_CASES]
)
def test_answers(program, rng, structure, option):
    dtype = rng.choice(["<u4", "<i8", "<f4", "<f8", "|S5"])
    keys = random_keys(rng, dtype, int(rng.integers(1, 700)))
    lower, upper = random_points(rng, keys, 200), random_points(rng, keys, 200)
    files = ["--keys", program.file("K.npy", keys)]
    points = ["--points", program.file("P.npy", lower)]
    ranges = ["--ranges", program.file("R.npy", np.stack([lower, upper], axis=1))]
    for asked, oracle in [(points, Oracle(keys, lower, lower)), (ranges, Oracle(keys, lower, upper))]:
        assert_equal(ask(program, "first", files + asked, option, structure), oracle.first())
        assert_equal(ask(program, "rows", files + asked, option, structure), oracle.rows())
    report = json.loads((program.folder / "report.json").read_text())
    assert report["backend"] == BACKEND
    assert dict(word.split("=") for word in option.split()).items() <= report["options"].items()
    assert report["rt_core_version"] >= 0
    assert report["repairs"] == 0 or BACKEND == "optix"


@pytest.mark.parametrize("option", ["", "primitive=sphere parts=3"])
def test_primitives_in_the_order_of_rows(program, rng, option):
    dtype = rng.choice(["<u4", "<f4", "|S3"])
    keys = random_keys(rng, dtype, int(rng.integers(1, 700)))
    lower, upper = random_points(rng, keys, 200), random_points(rng, keys, 200)
    values = rng.integers(0, 1000, len(keys)).astype("<u4")
    files = ["--keys", program.file("K.npy", keys)]
    points = ["--points", program.file("P.npy", lower)]
    ranges = ["--ranges", program.file("R.npy", np.stack([lower, upper], axis=1))]
    option = f"primitives=rows {option}"
    for asked, oracle in [(points, Oracle(keys, lower, lower)), (ranges, Oracle(keys, lower, upper))]:
        assert_equal(ask(program, "first", files + asked, option), oracle.first())
        assert_equal(ask(program, "count", files + asked, option), oracle.count())
        summed = ["--values", program.file("V.npy", values)]
        assert_equal(ask(program, "sum", files + asked + summed, option), oracle.sum(values))
    line = program.refuse(
        "query", "--structure", "rx", "--backend", BACKEND, "--result", "rows", "--out", "out.npz",
        *files, *points, "--option", "primitives=rows",
    )
    assert "rows" in line and "primitives=sorted" in line


def test_the_scene_of_a_batch_is_reported(program):
    keys = program.file("K.npy", np.arange(10_000, dtype="<u4"))
    files = ["--keys", keys, "--points", keys]
    reports = []
    for option in ["inverse=off", "inverse=on"]:
        ask(program, "count", files, option)
        reports.append(json.loads((program.folder / "report.json").read_text()))
    kept, none = reports
    scene = kept["resident_bytes"] - none["resident_bytes"]
    assert none["lookup_peak_bytes"] - kept["lookup_peak_bytes"] > 0.9 * scene


@pytest.mark.parametrize("mode", ["naive", "extended"])
def test_modes_without_a_place_for_a_key(program, mode):
    largest = 2**23 if mode == "naive" else 2**29
    fits = program.file("K.npy", np.array([0, 7, largest - 1], "<u4"))
    files = ["--keys", fits, "--points", fits]
    assert_equal(ask(program, "first", files, f"mode={mode}"), np.arange(3, dtype="<u4"))
    fails = program.file("F.npy", np.array([0, largest], "<u4"))
    for more in [[], ["--option", "inverse=on"]]:
        line = program.refuse(
            "query", "--structure", "rx", "--backend", BACKEND, "--keys", fails, "--points", fits,
            "--result", "first", "--out", "out.npy", "--option", f"mode={mode}", *more,
        )
        assert str(largest) in line and f"up to {largest - 1}" in line and "mode=3d" in line


@pytest.mark.parametrize(
    ("option", "parts"),
    [
        ("bucket=1", ["option bucket: 1", "2 to 65536"]),
        ("scene=best", ["option scene: 'best'", "optimised", "naive"]),
        ("bits=23/23/18", ["'bits'", "cgrx", "for bits"]),
        ("scan=many", ["option scan: 'many'", "multi", "single"]),
        ("layout=row", ["option layout: 'row'", "column", "aligned", "packed"]),
    ],
)
def test_wrong_options_of_buckets(program, option, parts):
    column = program.file("K.npy", np.arange(10, dtype="<u4"))
    line = program.refuse_query(
        structure="cgrx", keys=column, points=column, result="first", option=option
    )
    for part in parts:
        assert part in line


@pytest.mark.parametrize(
    ("option", "parts"),
    [
        ("mode=2d", ["option mode: '2d'", "3d", "naive", "extended"]),
        ("bits=24/23/17", ["option bits: 24/23/17", "23 bits"]),
        ("bits=some", ["option bits: 'some'", "23/23/18"]),
        ("scale=17/0", ["option scale: 17/0", "16/21"]),
        ("scale=most", ["option scale: 'most'", "15/20"]),
        ("parts=5000", ["option parts: 5000", "1 to 4096"]),
        ("threads=128", ["'threads'", "primitive=auto|triangle|sphere|box"]),
        ("primitives=keys", ["option primitives: 'keys'", "sorted", "rows"]),
    ],
)
def test_wrong_options(program, option, parts):
    column = program.file("K.npy", np.arange(10, dtype="<u4"))
    line = program.refuse_query(
        structure="rx", keys=column, points=column, result="first", option=option
    )
    for part in parts:
        assert part in line
