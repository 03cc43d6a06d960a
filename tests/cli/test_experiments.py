# SPDX-License-Identifier: Apache-2.0
"""`raydex bench` by experiment, and on distributions of keys."""

import json

import numpy as np
import pytest
from conftest import BACKEND, drawn


def bench(program, *arguments):
    """Measures once; returns the rows."""
    return rows_of(program, "--backend", BACKEND, "--repetitions", "1", *arguments)


def rows_of(program, *arguments):
    """Runs `raydex bench`; returns the rows."""
    return rows_written(program, program.run("bench", "--json", "out.json", *arguments))


def rows_written(program, done):
    """The rows of a run."""
    assert done.returncode == 0, done.stderr
    rows = json.loads((program.folder / "out.json").read_text(encoding="utf-8"))
    assert rows and all(row["correct"] for row in rows)
    return rows


def listed(program):
    """The names of all experiments."""
    done = program.run("bench", "--list-experiments")
    assert done.returncode == 0, done.stderr
    return [line.split()[0] for line in done.stdout.splitlines()]


def test_list(program):
    names = listed(program)
    assert len(names) == len(set(names))
    assert {"lightweight/1a", "lightweight/14c", "lightweight/22"} <= set(names)


def test_rows_name_their_experiment(program):
    rows = bench(
        program, "--experiment", "lightweight/1a,lightweight/1b", "--keys", "2^12",
        "--probes", "2^12", "--structure", "sorted_array",
    )
    assert [row["experiment"] for row in rows].count("lightweight/1a") == 1
    assert [row["experiment"] for row in rows].count("lightweight/1b") == 2
    assert {row["n"] for row in rows} == {4096} == {row["probes"] for row in rows}
    assert {row["workload_axes"]["probe_order"] for row in rows} == {"unsorted", "sorted"}


def test_every_experiment_runs(program):
    for name in drawn(listed(program)):
        ranges = ["--range-hits", "1,64"] if name in ("lightweight/19", "lightweight/22") else []
        done = program.run(
            "bench", "--json", "out.json", "--backend", BACKEND, "--repetitions", "1",
            "--experiment", name, "--keys", "2^12", "--probes", "2^10", *ranges,
        )
        if BACKEND == "cuda" and "the experiments measure others" in done.stderr:
            continue  # for rays only
        rows = rows_written(program, done)
        assert {row["experiment"] for row in rows} == {name}


def test_minima(program):
    rows = bench(
        program, "--structure", "rmq_scan", "--keys", "1,10007", "--probes", "503", "--array",
        "random,distinct,ascending,descending,sawtooth,constant,few,mountain,lcp", "--ranges",
        "large,medium,small,mixed", "--result", "min,argmin",
    )
    assert len(rows) == 2 * 9 * 4 * 2
    assert {row["key"] for row in rows} == {"float"}
    assert {row["n"] for row in rows} == {1, 10007}
    assert {row["floor"] for row in rows} == {"ends read and answers written at copy bandwidth"}


def test_types_of_minima(program):
    types = ["float", "double", "int32", "uint32", "int64", "uint64"]
    rows = bench(
        program, "--structure", "rmq_scan", "--keys", "10007", "--probes", "503", "--values",
        ",".join(types), "--position-bits", "32,64", "--result", "min,argmin",
    )
    assert len(rows) == len(types) * 2 * 2
    assert {row["key"] for row in rows} == set(types)


@pytest.mark.parametrize("dtype", ["<f4", "<f8", "<i4", "<u4", "<i8", "<u8"])
def test_minima_of_a_file(program, rng, dtype):
    values = rng.integers(0, 50, 5003).astype(dtype)
    if np.issubdtype(values.dtype, np.floating):
        values[rng.integers(0, 5003, 3000)] = np.nan
        values[rng.integers(0, 5003, 100)] = -0.0
    rows = bench(
        program, "--structure", "rmq_scan", "--array-file", program.file("array.npy", values),
        "--probes", "2003", "--ranges", "small,mixed", "--result", "min,argmin",
    )
    assert len(rows) == 2 * 2
    assert {row["n"] for row in rows} == {5003}
    assert {row["workload_axes"]["array"] for row in rows} == {"array.npy"}


def test_minima_can_be_measured_again(program):
    rows = bench(
        program, "--structure", "rmq_scan", "--keys", "2^10", "--probes", "2^10", "--array",
        "random,sawtooth", "--period", "100", "--ranges", "small", "--result", "argmin",
    )
    for row in rows:
        again = rows_of(program, *row["command"].split()[2:])
        assert len(again) == 1
        for same in ("structure", "options", "workload", "workload_axes", "seed", "result", "n"):
            assert again[0][same] == row[same]


def test_a_row_can_be_measured_again(program):
    rows = bench(
        program, "--experiment", "lightweight/1b", "--keys", "2^10", "--probes", "2^10",
        "--structure", "sorted_array",
    )
    again = rows_of(program, *rows[1]["command"].split()[2:])
    assert len(again) == 1
    assert again[0]["experiment"] is None
    for same in ("structure", "options", "workload", "workload_axes", "seed", "result"):
        assert again[0][same] == rows[1][same]


def test_distributions(program):
    rows = bench(
        program, "--structure", "sorted_array", "--keys", "10007", "--probes", "5003",
        "--key-bits", "32,64", "--distribution", "uniform,clumped,skewed,lognormal,steps",
        "--hit-rate", "100,30", "--result", "first,count,sum,rows",
    )
    assert len(rows) == 2 * 5 * 2 * 4
    assert {row["workload_axes"]["distribution"] for row in rows} == {
        "uniform", "clumped", "skewed", "lognormal", "steps"
    }


@pytest.mark.parametrize(
    "arguments",
    [
        ["--key-bits", "32,64", "--multiplicity", "1,5", "--hit-rate", "100,30"],
        ["--heavy-key", "50", "--zipf", "0,1"],
        ["--range-hits", "4"],
        ["--batches", "7", "--threads", "0,2"],
    ],
)
def test_joins(program, arguments):
    structure = "cgrx" if BACKEND == "optix" else "pivot_tree,sorted_array"
    rows = bench(
        program, "--structure", structure, "--keys", "10007", "--probes", "5003", "--result",
        "pairs", *arguments,
    )
    assert {row["result"] for row in rows} == {"pairs"}
    for row in rows:
        assert row["join_ms"] == pytest.approx(
            row["build_ms"] + row["join_build_ms"] + row["lookup_ms"])
        assert row["join_floor_ms"] > row["sort_floor_ms"]
        assert row["output_rows_per_s"] == pytest.approx(row["matches"] / row["lookup_ms"] * 1e3)


@pytest.mark.skipif(BACKEND == "cuda", reason="cgrx is on cpu and optix")
def test_waves(program):
    rows = bench(
        program, "--structure", "cgrx", "--keys", "10007", "--probes", "5003", "--key-bits",
        "32,64", "--waves", "4", "--distribution", "uniform,clumped", "--result", "first,sum",
    )
    assert [row["wave"] for row in rows] == 2 * 2 * 2 * list(range(1, 9))
    for before, row in zip(rows, rows[1:]):
        if row["wave"] > 1:
            assert (row["n"] > before["n"]) == (row["wave"] <= 4)
    assert {row["n"] for row in rows if row["wave"] in (4, 8)} == {10007, 22015}
    assert all(row["edit_ms"] > 0 and row["rebuild_ms"] > 0 for row in rows)
    assert rows[3]["resident_bytes"] > rows[7]["resident_bytes"]


def test_what_a_backend_has_not_is_said(program):
    structures = json.loads(program.run("structures", "--json").stdout)
    here = {entry["structure"] for entry in structures if entry["backend"] == BACKEND}
    done = program.run(
        "bench", "--experiment", "rx/t7", "--backend", BACKEND, "--keys", "2^10", "--probes",
        "2^10", "--zipf", "0", "--repetitions", "1", "--json", "out.json",
    )
    assert (done.returncode, done.stderr) == (0, "")
    rows = json.loads((program.folder / "out.json").read_text())
    wanted = {"rx", "sorted_array", "pivot_tree", "btree", "hash_open"}
    assert {row["structure"] for row in rows} == wanted & here
    said = [line for line in done.stdout.splitlines() if line.startswith("left out")]
    missing = ", ".join(sorted(wanted - here))
    assert said == ([f"left out, as {BACKEND} has none: {missing}"] if missing else [])


def test_auto_is_where_rays_are(program):
    structures = json.loads(program.run("structures", "--json").stdout)
    there = {
        entry["backend"] for entry in structures
        if entry["available"] and entry["structure"] == "rx"
    }
    for words in (["--experiment", "rx/t5"], ["--structure", "rx"]):
        done = program.run(
            "bench", *words, "--keys", "2^10", "--probes", "2^10", "--repetitions", "1", "--json",
            "out.json",
        )
        assert (done.returncode, done.stderr) == (0, "")
        (row,) = json.loads((program.folder / "out.json").read_text())
        assert row["structure"] == "rx"
        assert row["backend"] == ("optix" if "optix" in there else "cpu")


@pytest.mark.parametrize("backend", ["auto", BACKEND])
def test_waves_on_auto(program, backend):
    done = program.run(
        "bench", "--backend", backend, "--keys", "1000", "--probes", "1000", "--waves", "2",
        "--repetitions", "1", "--json", "out.json",
    )
    assert (done.returncode, done.stderr) == (0, "")
    rows = json.loads((program.folder / "out.json").read_text())
    assert {row["structure"] for row in rows} <= {"cgrx", "pivot_tree", "sorted_array"}


@pytest.mark.parametrize(
    "arguments",
    [
        ["--experiment", "lightweight/99"],
        ["--experiment", ""],
        ["--experiment", "lightweight/1a", "--option", "layout=row"],
        ["--experiment", "lightweight/1a", "--structure", "nothing"],
        ["--experiment", "lightweight/1a", "--keys", "many"],
        ["--distribution", "normal"],
        ["--distribution", "steps", "--uniformity", "50"],
        ["--distribution", "steps", "--keys", "2^31"],
        ["--distribution", "skewed", "--range-hits", "16"],
        ["--structure", "cgrx", "--keys", "100", "--probes", "10", "--result", "pairs", "--option",
         "bucket=4", "--option", "node=8"],
        ["--structure", "hash_open", "--result", "pairs", "--range-hits", "2"],
        ["--structure", "rmq_scan", "--result", "pairs"],
        ["--waves", "2", "--structure", "cgrx", "--growth", "0.5"],
        ["--waves", "2", "--structure", "cgrx", "--multiplicity", "2"],
        ["--waves", "2", "--structure", "cgrx", "--distribution", "steps"],
        ["--keys", "2^10", "--probes", "2^62"],
        ["--keys", "2^10", "--probes", "18446744073709551615"],
        ["--keys", "2^10", "--probes", "2^62", "--batches", "2^62"],
        ["--keys", "2^62", "--key-bits", "64"],
        ["--keys", "2^10", "--probes", "2^61", "--structure", "rmq_scan"],
        ["--structure", "rmq_scan", "--zipf", "1"],
        ["--structure", "rmq_scan", "--array", "fractal"],
        ["--structure", "rmq_scan", "--array", "sawtooth", "--period", "0"],
        ["--structure", "rmq_scan", "--values", "bytes4"],
        ["--structure", "rmq_scan", "--ranges", "tiny"],
        ["--structure", "rmq_scan", "--keys", "0"],
        ["--structure", "rmq_scan", "--keys", "2^33", "--position-bits", "32"],
        ["--structure", "rmq_scan", "--keys", "2^31", "--array", "ascending"],
        ["--structure", "rmq_scan", "--array-file", "missing.npy"],
        ["--structure", "rmq_scan", "--result", "sum"],
        ["--structure", "rmq_scan", "--option", "ties=rightmost"],
        ["--structure", "sorted_array", "--ranges", "small"],
        ["--experiment", "lightweight/1a", "--array", "few"],
    ],
)
def test_refusals(program, arguments):
    program.refuse("bench", "--backend", BACKEND, "--json", "out.json", *arguments)


@pytest.mark.parametrize("structure", ["auto", "rmq_cover"])
def test_more_probes_than_memory_holds(program, structure):
    done = program.run("bench", "--backend", BACKEND, "--json", "out.json", "--structure",
                       structure, "--keys", "2^10", "--probes", "2^47")
    assert done.returncode == 1
    assert done.stderr == "raydex: bench: 1 of 1 measurements were left out, for want of memory\n"
    assert "left out: " in done.stdout and "out of memory: " in done.stdout
