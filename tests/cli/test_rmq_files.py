# SPDX-License-Identifier: Apache-2.0
"""`raydex rmq --save-index` and `--index`, and `raydex info` of such files."""

import json
import resource

import numpy as np
import pytest
from conftest import BACKEND, limit, rmq_arguments
from oracle import assert_equal
from test_rmq import VALUE_TYPES, answered_here, extremes_of, offers, random_bits, random_ranges  # noqa: F401


def save(program, *flags, to="an.index", structure="auto", **options):
    """Writes a file alone; returns its name."""
    words = ["rmq", "--backend", BACKEND, "--structure", structure, "--save-index", to, *flags]
    for name, value in options.items():
        words += ["--" + name.replace("_", "-"), value]
    done = program.run(*words)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    return to


def ask(program, index, *flags, **options):
    """What a file answers, which has a structure."""
    return program.rmq(*flags, structure="auto", index=index, **options)


@pytest.mark.parametrize("n", [0, 1, 16, 17, 1500])
@pytest.mark.parametrize("dtype", VALUE_TYPES)
def test_every_type(program, rng, dtype, n):
    values = random_bits(rng, dtype, n)
    pairs = random_ranges(rng, "<i8", max(n, 1), 200)
    array, ranges = program.file("V.npy", values), program.file("R.npy", pairs)
    lows = save(program, values=array)
    highs = save(program, to="highs", values=array, option="extreme=maximum")
    for index, extreme in [(lows, "min"), (highs, "max")]:
        expected, positions = extremes_of(values, pairs, extreme == "max")
        assert_equal(ask(program, index, ranges=ranges, result=extreme), expected)
        assert_equal(ask(program, index, "--no-verify", ranges=ranges, result=f"arg{extreme}"), positions)


def test_every_structure(program, rng, offers):  # noqa: F811
    values, pairs = rng.integers(0, 50, 700), random_ranges(rng, "<u4", 700, 200)
    array, ranges = program.file("V.npy", values), program.file("R.npy", pairs)
    for structure in sorted({one["structure"] for one in offers}):
        index = save(program, structure=structure, values=array, option="ties=rightmost")
        _, positions = extremes_of(values, pairs, rightmost=True)
        assert_equal(ask(program, index, ranges=ranges, result="argmin"), positions)


def test_changed_values_beside_answers(program, rng):
    values = rng.integers(0, 50, 300)
    program.file("V.npy", values)
    changed = values.copy()
    changed[7] = -1
    program.file("P.npy", np.array([7], "<u4"))
    program.file("N.npy", np.array([-1]))
    pairs = random_ranges(rng, "<u4", 300, 100)
    ranges = program.file("R.npy", pairs)
    expected, _ = extremes_of(changed, pairs)
    options = {"values": "V.npy", "set": "P.npy", "set_values": "N.npy", "ranges": ranges, "result": "min"}
    assert_equal(program.rmq(**options, save_index="an.index"), expected)
    assert_equal(ask(program, "an.index", ranges=ranges, result="min", save_index="an.index"), expected)
    assert_equal(ask(program, "an.index", ranges=ranges, result="min"), expected)


def test_times(program):
    program.file("v.csv", "t\n2024-03-01T09:30:00\n2024-02-01\n2024-05-01\n")
    index = save(program, values="v.csv:t")
    ranges = program.file("R.npy", np.array([[0, 2], [2, 2]]))
    times = np.array(["2024-02-01", "2024-05-01"], "M8[ns]").astype("i8")
    assert_equal(ask(program, index, ranges=ranges, result="min"), times)


def test_report(program):
    values = program.file("V.npy", np.arange(100.0))
    save(program, values=values, report="r.json")
    made = json.loads((program.folder / "r.json").read_text())
    assert made["save_ms"] > 0 and made["build_ms"] > 0 and made["probes"] == 0 and "result" not in made
    ranges = program.file("R.npy", np.array([[3, 7]]))
    ask(program, "an.index", ranges=ranges, result="min", report="r.json")
    opened = json.loads((program.folder / "r.json").read_text())
    assert opened["load_ms"] > 0 and opened["build_ms"] == 0 and "save_ms" not in opened
    for name in ("structure", "options", "key", "n"):
        assert opened[name] == made[name]


def test_info(program):
    index = save(program, values=program.file("V.npy", np.arange(100, dtype="<f4")))
    done = program.run("info", index, "--json")
    assert (done.returncode, done.stderr) == (0, "")
    facts = json.loads(done.stdout)
    size = (program.folder / index).stat().st_size
    assert {**facts, "options": ""} == {
        "structure": "rmq_cover", "options": "", "value": "float", "values": 100, "bytes": size, "version": 1,
        "verified": True}
    assert "extreme=minimum" in facts["options"]


def test_damaged_files(program):
    index = save(program, values=program.file("V.npy", np.arange(100.0)))
    whole = (program.folder / index).read_bytes()
    ranges = program.file("R.npy", np.array([[3, 7]]))
    cases = {"header": whole[:-1], "section 'values'": whole[:300] + bytes([whole[300] ^ 1]) + whole[301:],
             "directory": whole[:-1] + bytes([whole[-1] ^ 1])}
    for part, content in cases.items():
        program.file("bad.index", content)
        asked = rmq_arguments(structure="auto", index="bad.index", ranges=ranges, result="min")
        for line in (program.refuse(*asked), program.refuse("info", "bad.index")):
            assert line.startswith("raydex: bad.index: ") and part in line


def test_it_is_left_as_it_was(program):
    index = save(program, values=program.file("few.npy", np.arange(3)))
    before = (program.folder / index).read_bytes()
    values = program.file("V.npy", np.arange(100000))
    words = ["rmq", "--values", values, "--save-index", index]
    line = program.refuse(*words, **limit(resource.RLIMIT_FSIZE, 100000))
    assert line.startswith(f"raydex: {index}: write")
    assert (program.folder / index).read_bytes() == before


BAD = {
    "neither": ([], "--values is required, the array, or --index, a file that has one"),
    "both": (["--index", "an.index", "--values", "V.npy"], "--values is of an index that is built"),
    "structure": (["--index", "an.index", "--structure", "rmq_scan"], "--structure is of an index that is built"),
    "option": (["--index", "an.index", "--option", "ties=rightmost"], "--option is of an index that is built"),
    "set": (["--index", "an.index", "--set", "V.npy", "--set-values", "V.npy"], "--set is of an index that is built"),
    "no verify": (["--values", "V.npy", "--no-verify"], "--no-verify goes with --index"),
    "nothing to do": (["--index", "an.index"], "--ranges is required, or --save-index"),
    "no result": (["--index", "an.index", "--ranges", "V.npy", "--out", "o.npy"], "--result is required"),
    "no out": (["--index", "an.index", "--ranges", "V.npy", "--result", "min"], "--out is required"),
    "result": (["--values", "V.npy", "--save-index", "b", "--result", "min"], "--result is of answers; give --ranges"),
    "out": (["--values", "V.npy", "--save-index", "b", "--out", "o.npy"], "--out is of answers; give --ranges"),
    "place": (["--values", "V.npy", "--save-index", "."], "an index is written to a file"),
    "same": (["--values", "V.npy", "--save-index", "V.npy"], "--values V.npy and --save-index V.npy are the same file"),
    "report": (["--index", "an.index", "--save-index", "b", "--report", "an.index"],
               "--index an.index and --report an.index are the same file"),
    "no file": (["--index", "none", "--save-index", "b"], "none: it cannot be read: No such file"),
    "keys": (["--index", "keys.index", "--save-index", "b"], "keys.index has an index over keys; ask it by raydex que"),
    "other extreme": (["--index", "an.index", "--ranges", "R.npy", "--result", "argmax", "--out", "o.npy"],
                      "--result argmax: an.index has minima alone: min or argmin"),
}  # fmt: skip


@pytest.mark.parametrize("case", BAD)
def test_what_does_not_go_together(program, case):
    words, part = BAD[case]
    values = program.file("V.npy", np.arange(5))
    program.file("R.npy", np.array([[0, 4]]))
    save(program, values=values)
    assert program.run("query", "--keys", values, "--save-index", "keys.index").returncode == 0
    assert part in program.refuse("rmq", *words)
    assert "an.index has range minima" in program.refuse("query", "--index", "an.index", "--save-index", "b")
