# SPDX-License-Identifier: Apache-2.0
"""A shortage of memory is reported as such, and ends no more than it must."""

import json
import os
import resource
import subprocess

import numpy as np
import pytest
from conftest import BACKEND, limit, query_arguments

pytestmark = pytest.mark.skipif(BACKEND != "cpu", reason="CUDA reserves more than any limit")

MEBIBYTE = 2**20
NO_THREADS = "raydex: pthread_create has failed: Resource temporarily unavailable\n"


@pytest.fixture(name="least")
def least_that_works(program):
    """The bytes of address space that a small query needs, to a mebibyte."""
    column = program.file("K.npy", np.arange(10, dtype="<u4"))
    words = query_arguments(structure="sorted_array", keys=column, points=column, result="count")

    def works(size):
        # oneTBB 2022 of Debian 13 spins for ever where it finds no memory for itself.
        try:
            done = program.run(*words, timeout=10, **limit(resource.RLIMIT_AS, size * MEBIBYTE))
        except subprocess.TimeoutExpired:
            return False
        return done.returncode == 0

    low, high = 0, 4096
    if not works(high):
        pytest.skip("a sanitizer reserves more")
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if works(middle) else (middle, high)
    return high * MEBIBYTE


def test_tune_goes_on_without_what_has_no_room(program, least):
    env = {**os.environ, "RAYDEX_CACHE_DIR": str(program.folder / "cache")}
    for more in range(1, 64):
        done = program.run(
            "tune", "--quick", "--backend", "cpu", env=env,
            **limit(resource.RLIMIT_AS, least + more * MEBIBYTE),
        )
        if done.returncode == 0:
            break
        assert "out of memory" in done.stderr or done.stderr == NO_THREADS, done.stderr
    assert done.returncode == 0, done.stderr
    shortages = [line for line in done.stdout.splitlines() if "out of memory" in line]
    assert shortages
    for line in shortages:
        assert line.startswith("left out: ") and " keys" in line and " bytes asked" in line
    (path,) = (program.folder / "cache").iterdir()
    rows = json.loads(path.read_text())["rows"]
    # If one structure has no room for a workload, none is measured on it.
    asked = ["key_bits", "n", "range_hits", "sorted_probes"]
    workloads = [tuple(row[name] for name in asked) for row in rows]
    assert rows and len({workloads.count(workload) for workload in workloads}) == 1


def test_bench_goes_on_without_what_has_no_room(program, least):
    """Of 2^28 keys there is no column, of 2^27 nothing beside it."""
    json_file = program.folder / "rows.json"
    done = program.run("bench", "--backend", "cpu", "--structure", "sorted_array,eytzinger", "--keys",
                       "2^10,2^27,2^28,2^12", "--probes", "2^10", "--repetitions", "1", "--json", json_file, timeout=100,
                       **limit(resource.RLIMIT_AS, least + 1024 * MEBIBYTE))
    assert done.returncode == 1
    assert done.stderr == "raydex: bench: 4 of 8 measurements were left out, for want of memory\n"
    left_out = [line for line in done.stdout.splitlines() if line.startswith("left out: ")]
    assert [line.split(":")[1] for line in left_out] == [" sorted_array", " eytzinger"] * 2
    assert ["2^27" in line for line in left_out] == [True, True, False, False]
    assert all("out of memory" in line for line in left_out)
    rows = json.loads(json_file.read_text())
    assert [row["n"] for row in rows] == [2**10, 2**10, 2**12, 2**12] and all(row["correct"] for row in rows)


@pytest.mark.parametrize("structure", ["rx", "cgrx"])
def test_a_scene_without_room(program, least, structure):
    column = program.file("K.npy", np.arange(2000, dtype="<u4"))
    words = query_arguments(structure=structure, keys=column, points=column, result="count")
    messages = set()
    for more in range(0, 300, 12):
        done = program.run(*words, **limit(resource.RLIMIT_AS, least + more * MEBIBYTE))
        if done.returncode == 0:
            break
        messages |= {done.stderr} - {NO_THREADS}
    assert done.returncode == 0, done.stderr
    assert messages, "it needs no more than another query"
    for message in messages:
        assert message.startswith("raydex: out of memory"), messages
