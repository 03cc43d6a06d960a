# SPDX-License-Identifier: Apache-2.0
"""`raydex rmq` against NumPy: right answers, values that change, and clear refusals."""

import json
import os
import resource

import numpy as np
import pytest
from conftest import BACKEND, limit, rmq_arguments
from oracle import assert_equal, extremes, random_bits, random_keys

SMALL = os.environ.get("RAYDEX_TEST_SCALE") == "small"

VALUE_TYPES = ["<u4", "<u8", "<i4", "<i8", "<f4", "<f8"]
POSITION_TYPES = ["<u4", "<u8", "<i4", "<i8"]
NO_POSITION = 2**64 - 1

NUMBERS = np.array([5, 3, 4, 3, 9], "<i4")
RANGES = np.array([[0, 4], [2, 2], [2, 4]], "<u4")


@pytest.fixture
def offers(program):
    """The structures for minima on this backend, as `raydex structures` lists them."""
    listed = json.loads(program.run("structures", "--json").stdout)
    return [entry for entry in listed if entry["minima"] and entry["backend"] == BACKEND]


@pytest.fixture(autouse=True)
def answered_here(offers):
    """Skips where there are none."""
    if not offers:
        pytest.skip(f"nothing answers minima on {BACKEND}")


def updatable(offers):
    """The structures that take changed values."""
    return sorted({entry["structure"] for entry in offers if entry["updates"]})


def value_of_none(dtype, largest):
    """What an empty range has."""
    if np.dtype(dtype).kind == "f":
        return np.nan
    return np.iinfo(dtype).min if largest else np.iinfo(dtype).max


def extremes_of(values, ranges, largest=False, rightmost=False):
    """The smallest or largest value of each range, and its position. NaN is larger than all."""
    nan = np.isnan(values) if values.dtype.kind == "f" else np.zeros(len(values), bool)
    found = np.full(len(ranges), value_of_none(values.dtype, largest), values.dtype)
    positions = np.full(len(ranges), NO_POSITION, "<u8")
    for i, (lower, upper) in enumerate(ranges.tolist()):
        if lower > upper:
            continue
        at = np.arange(max(lower, 0), min(upper, len(values) - 1) + 1)
        if len(at) == 0:
            continue
        numbers = at[~nan[at]]
        if largest and len(numbers) != len(at):
            at = at[nan[at]]
            found[i] = np.nan
        elif len(numbers) != 0:
            best = values[numbers].max() if largest else values[numbers].min()
            at = numbers[values[numbers] == best]
            found[i] = values[at[0]] + values.dtype.type(0)
        positions[i] = at[-1] if rightmost else at[0]
    return found, positions


def random_ranges(rng, dtype, n, count):
    """Ranges of all lengths; one in a few is empty, or reaches beyond n values."""
    lower = rng.integers(0, n, count)
    upper = lower + (n - lower) * rng.random(count) ** 3
    ranges = np.stack([lower, upper.astype(np.int64)], axis=1)
    odd = rng.random(count) < 0.2
    ranges[odd] = rng.integers(0, 2 * n, (odd.sum(), 2))
    ranges = ranges.astype(dtype)
    if dtype[1] == "i":
        ranges[rng.random(ranges.shape) < 0.02] *= -1
    return ranges


def check_both_results(program, array, pairs, rightmost=False, **options):
    """Asks for minima and for maxima, and where they are, and compares them."""
    if rightmost:
        options["option"] = "ties=rightmost"
    for result in ("min", "max"):
        values, positions = extremes_of(array, pairs, result == "max", rightmost)
        answer = program.rmq(result=result, **options)
        assert_equal(answer, values)
        if array.dtype.kind == "f":
            assert not np.signbit(answer[answer == 0]).any()
        assert_equal(program.rmq(result=f"arg{result}", **options), positions)


@pytest.mark.parametrize("position_type", POSITION_TYPES)
@pytest.mark.parametrize("dtype", VALUE_TYPES)
def test_every_type(program, rng, dtype, position_type):
    n = int(rng.integers(200, 2000))
    values = rng.choice([random_bits, random_keys])(rng, dtype, n)
    if rng.random() < 0.5:  # equal values
        values = rng.choice(np.concatenate([values[:3], extremes(dtype)]), n)
    ranges = random_ranges(rng, position_type, n, 500)
    check_both_results(
        program, values, ranges, rightmost=rng.random() < 0.5,
        values=program.file("V.npy", values), ranges=program.file("R.npy", ranges),
    )


@pytest.mark.parametrize(("n", "count"), [(0, 0), (0, 5), (5, 0), (1, 1)])
@pytest.mark.parametrize("dtype", VALUE_TYPES)
def test_few_values_and_ranges(program, rng, dtype, n, count):
    values = random_bits(rng, dtype, n)
    ranges = rng.integers(0, 2, (count, 2)).astype("<u8")
    check_both_results(
        program, values, ranges,
        values=program.file("V.npy", values), ranges=program.file("R.npy", ranges),
    )


def test_nan_and_negative_zero(program):
    values = program.file("V.npy", np.array([np.nan, 0.0, -0.0, 1.0, -np.nan, np.nan], "<f8"))
    ranges = program.file("R.npy", np.array([[0, 5], [0, 0], [4, 5], [2, 3], [3, 4]], "<i4"))
    smallest = program.rmq(values=values, ranges=ranges, result="min")
    assert_equal(smallest, np.array([0, np.nan, np.nan, 0, 1], "<f8"))
    assert not np.signbit(smallest[[0, 3]]).any()
    positions = program.rmq(values=values, ranges=ranges, result="argmin")
    assert positions.tolist() == [1, 0, 4, 2, 3]
    rightmost = program.rmq(values=values, ranges=ranges, result="argmin", option="ties=rightmost")
    assert rightmost.tolist() == [2, 0, 5, 2, 3]
    largest = program.rmq(values=values, ranges=ranges, result="max")
    assert_equal(largest, np.array([np.nan, np.nan, np.nan, 1, np.nan], "<f8"))
    positions = program.rmq(values=values, ranges=ranges, result="argmax")
    assert positions.tolist() == [0, 0, 4, 3, 4]


@pytest.mark.parametrize("dtype", ["<i4", "<i8"])
def test_ranges_are_cut_on_both_sides(program, offers, dtype):
    ranges = np.array(
        [[-4, 2], [0, -1], [-4, -1], [-1, -4], [-9, 99], [3, 99], [5, 99], [4, 3], [-1, 0]], dtype
    )
    files = {"values": program.file("V.npy", NUMBERS), "ranges": program.file("R.npy", ranges)}
    for structure in {offer["structure"] for offer in offers if offer["available"]}:
        answer = program.rmq(result="argmin", structure=structure, **files)
        none = NO_POSITION
        assert answer.tolist() == [1, none, none, none, 1, 3, none, none, 0]
        last = 2**31 - 1
        answer = program.rmq(result="min", structure=structure, **files)
        assert answer.tolist() == [3, last, last, last, 3, 3, last, last, 5]
        answer = program.rmq(result="max", structure=structure, **files)
        first = -(2**31)
        assert answer.tolist() == [5, first, first, first, 9, 9, first, first, 5]


def test_csv_columns(program):
    program.file("t.csv", "low,from,to\n7,0,2\n5,1,\n6,NA,2\n4,3,9\n")
    files = {"values": "t.csv:low:i4", "ranges": "t.csv:from,to"}
    assert_equal(program.rmq(result="min", **files), np.array([5, 2**31 - 1, 2**31 - 1, 4], "<i4"))
    assert program.rmq(result="argmin", **files).tolist() == [1, NO_POSITION, NO_POSITION, 3]


@pytest.mark.parametrize("result", ["min", "argmin"])
@pytest.mark.parametrize("position_type", POSITION_TYPES)
@pytest.mark.parametrize("dtype", VALUE_TYPES)
def test_values_that_change(program, rng, offers, dtype, position_type, result):
    if not updatable(offers):
        pytest.skip(f"nothing takes changed values on {BACKEND}")
    n, changes = int(rng.integers(100, 1000)), int(rng.integers(1, 100))
    values = random_bits(rng, dtype, n)
    positions = rng.integers(0, n, changes).astype(position_type)
    new = random_keys(rng, dtype, changes)
    ranges = random_ranges(rng, "<u4", n, 300)
    answer = program.rmq(
        values=program.file("V.npy", values), ranges=program.file("R.npy", ranges), result=result,
        set=program.file("P.npy", positions), set_values=program.file("W.npy", new),
        structure=rng.choice(updatable(offers)), report="report.json",
    )
    changed = values.copy()
    for position, value in zip(positions.tolist(), new):  # of equal positions the last counts
        changed[position] = value
    assert_equal(answer, extremes_of(changed, ranges)[result == "argmin"])
    assert json.loads((program.folder / "report.json").read_text())["edit_ms"] > 0


def test_no_value_that_changes(program, offers):
    files = {"values": program.file("V.npy", NUMBERS), "ranges": program.file("R.npy", RANGES)}
    files["set"] = program.file("P.npy", np.empty(0, "<u4"))
    files["set_values"] = program.file("W.npy", np.empty(0, "<i4"))
    for structure in updatable(offers):
        answer = program.rmq(result="min", structure=structure, **files)
        assert answer.tolist() == [3, 4, 3]


def test_reports(program, offers):
    values = program.file("V.npy", np.arange(1000, dtype="<f4"))
    ranges = program.file("R.npy", RANGES)
    for offer in offers:
        if not offer["available"]:
            continue
        program.rmq(
            values=values, ranges=ranges, result="min", structure=offer["structure"],
            report="report.json",
        )
        report = json.loads((program.folder / "report.json").read_text())
        assert list(report) == [
            "structure", "options", "backend", "device", "rt_core_version", "key", "n", "probes",
            "result", "build_ms", "lookup_ms", "resident_bytes", "build_peak_bytes", "repairs",
        ]
        assert report["structure"] == offer["structure"]
        assert report["options"]["ties"] == "leftmost"
        assert report["backend"] == BACKEND
        assert report["device"]
        assert report["rt_core_version"] == 0 or BACKEND == "optix"
        assert (report["key"], report["n"], report["probes"]) == ("float", 1000, 3)
        assert report["build_ms"] > 0 and report["lookup_ms"] > 0
        assert report["build_peak_bytes"] >= report["resident_bytes"]
        assert report["repairs"] == 0
        assert report["result"] == "min"
    program.rmq(values=values, ranges=ranges, result="argmin", report="report.json")
    assert json.loads((program.folder / "report.json").read_text())["no_match"] == NO_POSITION


def test_checked_ranges(program):
    files = {"values": program.file("V.npy", NUMBERS), "ranges": program.file("R.npy", RANGES)}
    assert program.rmq("--check", result="min", **files).tolist() == [3, 4, 3]
    program.file("t.csv", "from,to\n0,4\n1,\n3,3\n")
    files["ranges"] = "t.csv:from,to"
    assert program.rmq("--check", result="argmin", **files).tolist() == [1, NO_POSITION, 3]
    none = program.file("none.npy", np.empty((0, 2), "<u4"))
    assert len(program.rmq("--check", result="min", values=files["values"], ranges=none)) == 0


@pytest.mark.parametrize("dtype", POSITION_TYPES)
@pytest.mark.parametrize(
    ("bad", "text"),
    [
        ((3, 2), "[3, 2]"), ((4, 5), "[4, 5]"), ((5, 5), "[5, 5]"), ((-1, 2), "[-1, 2]"),
        ((-3, -1), "[-3, -1]"), ((0, -1), "[0, -1]"),
    ],
)
def test_ranges_that_a_check_refuses(program, dtype, bad, text):
    if min(bad) < 0 and dtype[1] == "u":
        pytest.skip("it has no negative numbers")
    values = program.file("V.npy", NUMBERS)
    ranges = program.file("R.npy", np.array([[0, 4], [1, 1], bad, [9, 0]]).astype(dtype))
    for result in ["min", "argmin"]:
        line = program.refuse_rmq(
            "--check", values=values, ranges=ranges, result=result, report="report.json"
        )
        assert f"range 2 is {text}; legal: 0 <= lower <= upper <= 4" in line
        # On standard output nothing precedes the first answers, a header neither.
        assert program.refuse_rmq("--check", values=values, ranges=ranges, result=result, out="-") == line


def test_a_check_refuses_ranges_of_an_empty_array(program):
    values = program.file("V.npy", np.empty(0, "<f4"))
    ranges = program.file("R.npy", RANGES)
    line = program.refuse_rmq("--check", values=values, ranges=ranges, result="min")
    assert "range 0 is [0, 4]; the array is empty" in line


@pytest.mark.skipif(SMALL, reason="a large batch")
def test_more_ranges_than_a_batch(program, rng):
    n, count = 1 << 10, (1 << 24) + 9
    values = rng.permutation(n).astype("<u4")
    lower = rng.integers(0, n - 1, count, dtype="<u4")
    ranges = np.stack([lower, lower + 1], axis=1)
    files = {"values": program.file("V.npy", values), "ranges": program.file("R.npy", ranges)}
    expected = np.minimum(values[lower], values[lower + 1])
    assert_equal(program.rmq("--check", result="min", **files), expected)
    # A check counts the ranges over all batches, and no earlier batch is written.
    ranges[-2] = (7, 6)
    files["ranges"] = program.file("R.npy", ranges)
    (program.folder / "out.npy").unlink()
    line = program.refuse_rmq("--check", result="min", **files)
    assert f"range {count - 2} is [7, 6]" in line


@pytest.mark.skipif(SMALL, reason="a large file")
def test_more_ranges_than_memory(program):
    limits = limit(resource.RLIMIT_AS, 1 << 30)
    if BACKEND != "cpu" or program.run("--version", **limits).returncode != 0:
        pytest.skip("the program needs address space for other things")
    count = 1 << 27
    program.file("V.npy", NUMBERS.astype("<u4"))
    ranges = np.lib.format.open_memmap(
        program.folder / "R.npy", mode="w+", dtype="<u4", shape=(count, 2)
    )
    ranges[-1] = (2, 4)  # the others are (0, 0)
    ranges.flush()
    words = rmq_arguments(values="V.npy", ranges="R.npy", result="min", structure="rmq_scan")
    done = program.run(*words, **limits)
    assert done.returncode == 0, done.stderr
    answer = np.load(program.folder / "out.npy", mmap_mode="r")
    assert answer.shape == (count,)
    assert answer[0] == answer[count // 2] == answer[-2] == 5 and answer[-1] == 3


def write_files(program):
    """Files that are good or bad depending on the option that names them."""
    program.file("V.npy", NUMBERS)
    program.file("R.npy", RANGES)
    program.file("P.npy", np.array([1, 4], "<u4"))
    program.file("W.npy", np.array([8, 1], "<i4"))
    program.file("wide.npy", np.array([8, 1], "<i8"))
    program.file("float.npy", RANGES.astype("<f4"))
    program.file("float1.npy", np.array([1, 4], "<f8"))
    program.file("text.npy", np.array([b"abc", b"d"], "|S3"))
    program.file("text2.npy", np.array([[b"a", b"d"]], "|S1"))
    program.file("three.npy", np.zeros((2, 3), "<u4"))
    program.file("half.npy", np.zeros(3, "<f2"))
    program.file("out_of.npy", np.array([1, 5], "<u4"))
    program.file("negative.npy", np.array([-1, 2], "<i8"))
    program.file("huge.npy", np.array([1, 2**64 - 1], "<u8"))
    program.file("t.csv", "a,b,c\n1,1,1.5\n2,,2\n")


@pytest.mark.parametrize(
    ("options", "parts"),
    [
        ({"values": "none.npy"}, ["none.npy: cannot be read: No such file"]),
        ({"values": "R.npy"}, ["R.npy: its shape is (3, 2); one dimension is needed"]),
        ({"values": "text.npy"}, ["values text.npy are bytes3; minima are of numbers"]),
        ({"values": "half.npy"}, ["half.npy", "<f2"]),
        ({"values": "t.csv:b"}, ["values t.csv:b: some are missing"]),
        ({"values": "t.csv"}, ["which column"]),
        ({"ranges": "none.npy"}, ["none.npy: cannot be read: No such file"]),
        ({"ranges": "V.npy"}, ["V.npy: its shape is (5,); n x 2"]),
        ({"ranges": "three.npy"}, ["three.npy: its shape is (2, 3); n x 2"]),
        ({"ranges": "float.npy"}, ["ranges float.npy are float; positions are integers\n"]),
        ({"ranges": "text2.npy"}, ["ranges text2.npy are bytes1; positions are integers\n"]),
        ({"ranges": "t.csv:a"}, ["lower,upper"]),
        ({"ranges": "t.csv:a,c"}, ["the lower ends are int64 and the upper ends are double"]),
        ({"result": "mean"}, ["result: 'mean' is not one of min, argmin, max, argmax"]),
        ({"structure": "rmq_rays"}, ["rmq_rays", "auto, ", "rmq_scan"]),
        ({"structure": "sorted_array"}, ["sorted_array", "auto, ", "rmq_scan"]),
        ({"backend": "tpu"}, ["tpu", "auto, cpu, cuda, optix"]),
        ({"structure": "rmq_scan", "option": "colour=red"}, ["colour", "ties=leftmost|rightmost"]),
        ({"option": "ties=red"}, ["red", "leftmost, rightmost"]),
        ({"option": "ties"}, ["name=value"]),
        ({"option": "extreme=maximum"}, ["extreme", "argmax"]),
        ({"out": "x.npy", "report": "x.npy"}, ["same file"]),
        ({"out": "none/o.npy"}, ["none/o.npy: cannot be written"]),
        ({"set": "P.npy"}, ["--set and --set-values go together"]),
        ({"set_values": "W.npy"}, ["--set and --set-values go together"]),
        ({"set": "float1.npy", "set_values": "W.npy"}, ["set positions float1.npy are double"]),
        ({"set": "t.csv:b", "set_values": "W.npy"}, ["set positions t.csv:b: some are missing"]),
        (
            {"set": "P.npy", "set_values": "wide.npy"},
            ["set values wide.npy are int64, but values V.npy are int32; in NumPy: a.astype('<i8') of V.npy"],
        ),
        ({"set": "P.npy", "set_values": "t.csv:b:i4"}, ["set values t.csv:b:i4: some are missing"]),
        ({"set": "P.npy", "set_values": "V.npy"}, ["set values V.npy", "5", "2 positions"]),
        (
            {"set": "out_of.npy", "set_values": "W.npy"},
            ["set positions out_of.npy: position 1 is 5; the array has 5 values"],
        ),
        ({"set": "negative.npy", "set_values": "W.npy"}, ["position 0 is -1;"]),
        ({"set": "huge.npy", "set_values": "W.npy"}, [f"position 1 is {2**64 - 1};"]),
    ],
)
def test_refusals(program, options, parts):
    write_files(program)
    line = program.refuse_rmq(
        **{"values": "V.npy", "ranges": "R.npy", "result": "min", "report": "r.json", **options}
    )
    for part in parts:
        assert part in line


def test_usage(program):
    write_files(program)
    assert "--values is required" in program.refuse("rmq")
    words = rmq_arguments(values="V.npy", ranges="R.npy", result="min")
    assert "--points" in program.refuse(*words, "--points", "P.npy")
    assert program.run("rmq").returncode == 2


def test_values_that_a_structure_cannot_change(program, offers):
    write_files(program)
    for offer in offers:
        if offer["updates"]:
            continue
        line = program.refuse_rmq(
            values="V.npy", ranges="R.npy", result="min", set="P.npy", set_values="W.npy",
            structure=offer["structure"],
        )
        assert f"structure {offer['structure']} takes no updates, so no --set; these do: " in line
        assert all(name in line for name in updatable(offers))


def test_a_failure_keeps_what_was_there(program):
    write_files(program)
    program.file("out.npy", "precious")
    program.refuse_rmq(values="V.npy", ranges="none.npy", result="min")
    assert (program.folder / "out.npy").read_text() == "precious"


def test_times_of_csv(program):
    program.file("v.csv", "t\n2024-03-02\n2024-03-01T12:30\n2024-03-05\n")
    ranges = program.file("r.npy", np.array([[0, 2], [2, 2]]))
    found = program.rmq(values="v.csv:t", ranges=ranges, result="min")
    assert found.view("M8[ns]").tolist() == np.array(["2024-03-01T12:30", "2024-03-05"], "M8[ns]").tolist()
    assert program.rmq(values="v.csv:t", ranges=ranges, result="argmax").tolist() == [2, 2]
    program.file("t.csv", "a,b\n2024-03-01,2024-03-02\n")
    line = program.refuse_rmq(values="v.csv:t", ranges="t.csv:a,b", result="min")
    assert "ranges t.csv:a,b are times without a zone; positions are integers" in line
