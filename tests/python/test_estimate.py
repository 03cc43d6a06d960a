# SPDX-License-Identifier: Apache-2.0
"""What an index will take, beside what it takes; and the tables of the documentation."""

import pathlib

import numpy as np
import pytest
import raydex

STRUCTURES = [one.name for one in raydex.structures() if one.points and one.backend == "cpu"]
MINIMA = [one.name for one in raydex.structures() if one.minima and one.backend == "cpu"]
PAGE = pathlib.Path(__file__).parents[2] / "docs" / "structures.md"


def facts_of(keys):
    """Of integers, by NumPy."""
    different = len(np.unique(keys))
    return {
        "ascending": bool(np.all(keys[:-1] <= keys[1:])), "different": different,
        "span": int(keys.max()) - int(keys.min()) + 1 if different else 0,
    }  # fmt: skip


@pytest.mark.parametrize("structure", STRUCTURES)
@pytest.mark.parametrize("dtype", ["int16", "uint32", "int64", "datetime64[s]"])
def test_an_index_takes_what_was_estimated(structure, dtype):
    for keys in np.arange(30_000)[::-1], np.arange(30_000) // 7, np.zeros(1000, int), np.zeros(0, int):
        column = keys.astype(dtype)
        if structure == "direct" and dtype == "datetime64[s]":
            column = column.astype("int64")
        info = raydex.build(column, structure).info
        known = raydex.estimate(column, structure, **facts_of(keys))
        bound = raydex.estimate(len(column), structure, dtype=column.dtype)
        assert (known.structure, known.n) == (structure, len(column))
        slack = 2**15
        for measured, exact, most in (
            (info.resident_bytes, known.resident_bytes, bound.resident_bytes),
            (info.build_peak_bytes, known.build_peak_bytes, bound.build_peak_bytes),
        ):
            assert measured <= exact + slack and measured <= most + slack
            assert exact <= most + slack
            if structure not in ("cgrx", "rx", "pivot_tree"):
                assert exact - measured <= max(exact / 100, slack)


def test_row_ids_of_64_bits_and_options():
    keys = np.arange(50_000)
    wide = raydex.build(keys, "btree", rows=keys + 2**40, fill=50).info
    told = raydex.estimate(len(keys), "btree", row_id_bits=64, ascending=True, fill=50)
    assert wide.resident_bytes == pytest.approx(told.resident_bytes, rel=0.01)
    assert told.resident_bytes > raydex.estimate(len(keys), "btree", row_id_bits=64, fill=100).resident_bytes
    assert told.probe_bytes["match"] == 8


@pytest.mark.parametrize("structure", MINIMA)
@pytest.mark.parametrize("dtype", ["int16", "uint32", "int64", "float32", "float64", "datetime64[s]"])
@pytest.mark.parametrize("extremes", ["min", "max", "both"])
def test_minima_take_what_was_estimated(structure, dtype, extremes):
    for n in 0, 1, 1000, 30_001:
        array = (np.arange(n) * 7919 % 1009).astype(dtype)
        info = raydex.rmq(array, structure, extremes=extremes).info
        told = raydex.estimate(array, structure, extremes=extremes)
        assert (told.structure, told.n) == (structure, n)
        assert told == raydex.estimate(n, structure, "cpu", dtype=dtype, extremes=extremes)
        slack = max(told.resident_bytes / 100, 2**15)
        for measured, exact in (
            (info.resident_bytes, told.resident_bytes), (info.build_peak_bytes, told.build_peak_bytes),
        ):  # fmt: skip
            assert measured <= exact + slack
            if structure != "rmq_rx":
                assert exact <= measured + slack
        calls = {"min": ("min", "argmin"), "max": ("max", "argmax"), "both": ("min", "argmin", "max", "argmax")}
        assert tuple(told.probe_bytes) == calls[extremes]


def test_what_stands_for_minima():
    assert raydex.estimate(1000, "rmq_scan").probe_bytes == {"min": 0, "argmin": 0}
    both = raydex.estimate(10**6, extremes="both")
    assert both.structure == "rmq_cover"
    assert both.resident_bytes == 2 * raydex.estimate(10**6, "rmq_cover").resident_bytes
    small = raydex.estimate(10**6, "rmq_cover", memory="small")
    assert small.resident_bytes < raydex.estimate(10**6, "rmq_cover").resident_bytes
    assert raydex.estimate(10**6, "rmq_hierarchy", top="rays").probe_bytes == {"min": 8, "argmin": 8}
    assert raydex.estimate([2, 1], "rmq_lca").n == 2


@pytest.mark.parametrize("dtype", ["int16", "uint32", "int64", "float32", "float64"])
def test_aggregates_take_what_was_estimated(dtype):
    for n in 0, 1, 30_001:
        index = raydex.build(np.arange(n) // 3)
        values = (np.arange(n) % 1009).astype(dtype)
        for parts in (
            {}, {"sums": False}, {"minima": False, "maxima": False, "first_rows": False}, {"first_rows": False},
        ):  # fmt: skip
            info = raydex.aggregate(index, values, **parts).info
            told = raydex.estimate_aggregate(index, values, finite=True, **parts)
            assert told == raydex.estimate_aggregate(n, dtype, missing=False, finite=True, **parts)
            most = raydex.estimate_aggregate(n, values.dtype, **parts)
            slack = 2**15 + told.resident_bytes // 100
            for measured, exact, bound in (
                (info.resident_bytes, told.resident_bytes, most.resident_bytes),
                (info.build_peak_bytes, told.build_peak_bytes, most.build_peak_bytes),
            ):
                assert abs(measured - exact) <= slack
                assert measured <= bound + slack
            assert info.probe_bytes == most.probe_bytes
            calls = {"count", "count_values", *(name for part, names in {
                "sums": ["sum", "mean"], "minima": ["min"], "maxima": ["max"], "first_rows": ["first"],
            }.items() if parts.get(part, True) for name in names)}  # fmt: skip
            assert set(told.probe_bytes) == calls


def test_aggregates_with_missing_values_and_without_values():
    index = raydex.build(np.arange(10_000), rows=np.arange(10_000) + 2**33)
    assert raydex.estimate_aggregate(index).probe_bytes == {"count": 0, "first": 36}
    index = raydex.build(np.arange(10_000))
    masked = np.ma.MaskedArray(np.arange(10_000.0), np.arange(10_000) % 7 == 0)
    told = raydex.estimate_aggregate(index, masked, finite=True)
    assert raydex.aggregate(index, masked).info.resident_bytes == pytest.approx(told.resident_bytes, rel=0.01)
    assert told.probe_bytes["count_values"] == 8
    assert told == raydex.estimate_aggregate(index, masked, finite=True, missing=True)
    times = raydex.estimate_aggregate(index, "datetime64[s]", sums=False, missing=False)
    assert times.resident_bytes == raydex.estimate_aggregate(10_000, "int64", sums=False, missing=False).resident_bytes
    assert raydex.estimate_aggregate([1, 2, 3]).n == 3
    wide = raydex.estimate_aggregate(10**5, row_id_bits=64)
    assert wide.resident_bytes > raydex.estimate_aggregate(10**5).resident_bytes
    assert raydex.estimate_aggregate(10**9, "float64", "optix") == raydex.estimate_aggregate(10**9, float, "cuda")
    rays = raydex.build(np.arange(100), "rx")
    assert raydex.estimate_aggregate(rays, "int32").probe_bytes["sum"] == 12


@pytest.mark.parametrize(("arguments", "error", "words"), [
    ({"index": -1}, raydex.InvalidArgument, "index: -1"),
    ({"index": "five"}, raydex.InvalidType, "index: 'five'"),
    ({"index": 2**46}, raydex.InvalidArgument, "n: "),
    ({"index": 5, "values": "number"}, raydex.InvalidType, "values: 'number'"),
    ({"index": 5, "values": "S4"}, raydex.InvalidType, "values: .* numbers and times"),
    ({"index": 5, "values": ["ann"]}, raydex.InvalidType, "values: "),
    ({"index": 5, "row_id_bits": 16}, raydex.InvalidArgument, "row_id_bits: 16"),
    ({"index": 5, "missing": 1}, raydex.InvalidType, "missing: 1"),
    ({"index": 5, "finite": 1}, raydex.InvalidType, "finite: 1"),
    ({"index": 5, "sums": 1}, raydex.InvalidType, "sums: 1"),
    ({"index": 5, "device": "tpu"}, raydex.InvalidArgument, "tpu"),
])  # fmt: skip
def test_aggregates_that_are_refused(arguments, error, words):
    with pytest.raises(error, match=words):
        raydex.estimate_aggregate(**arguments)


def test_an_aggregate_over_no_ranks_is_refused():
    with pytest.raises(raydex.Unsupported, match="hash_open"):
        raydex.estimate_aggregate(raydex.build([1, 2], "hash_open"), "int32")
    with pytest.raises(raydex.Unsupported, match="cgrx"):
        raydex.estimate_aggregate(raydex.build([1, 2], "cgrx", node=32), "int32")
    with pytest.raises(raydex.Unsupported, match="give 'S8'"):
        raydex.estimate_aggregate(5, str)
    with pytest.raises(raydex.InvalidArgument, match="the index is on cpu"):
        raydex.estimate_aggregate(raydex.build([1, 2]), "int32", "cuda")


OPTIONS = [
    ("sorted_array", {"layout": "row"}), ("pivot_tree", {"nodes": "exact"}), ("pivot_tree", {"layout": "keys"}),
    ("pivot_tree", {"search": "groups", "k": 5}), ("btree", {"fill": 60}), ("eytzinger", {"k": 5}),
    ("direct", {"limit": 9}), ("hash_open", {"load": 50, "seed": 7}), ("hash_bucket", {"occupancy": 50}),
    ("cgrx", {"node": 32}),
    ("cgrx", {"order": "sorted", "mapping": "bits"}), ("rx", {"hits": "any"}), ("rx", {"duplicates": "keep"}),
]  # fmt: skip


@pytest.mark.parametrize(("structure", "options"), [*((name, {}) for name in STRUCTURES), *OPTIONS])
def test_an_index_says_what_its_calls_take(structure, options, tmp_path):
    index = raydex.build(np.arange(1000), structure, **options)
    told = raydex.estimate(1000, structure, different=1000, span=1000, **options).probe_bytes
    assert index.info.probe_bytes == told
    index.save(tmp_path / "index")
    with raydex.load(tmp_path / "index") as loaded:
        assert loaded.info.probe_bytes == told


def test_what_nobody_says_of_calls():
    assert raydex.build(["a", "some text"]).info.probe_bytes is None
    assert raydex.build(["a", "some text"], "hash_open").info.probe_bytes is None
    assert raydex.build(([1, 2], [3, 4])).info.probe_bytes is None
    assert raydex.build([1, 2], "rx", primitives="rows").info.probe_bytes is None
    texts = raydex.build(["a", "some text"])
    assert raydex.aggregate(texts, [1, 2]).info.probe_bytes is None
    assert raydex.estimate_aggregate(texts, [1, 2]).probe_bytes is None


@pytest.mark.parametrize(("structure", "options"), [
    *((name, {}) for name in MINIMA), ("rmq_cover", {"memory": "small", "ties": "rightmost"}),
    ("rmq_hierarchy", {"top": "rays", "cutoff": 10}), ("rmq_hierarchy", {"load": "coalesced"}),
    ("rmq_rx", {"block": 64}),
])  # fmt: skip
def test_minima_say_what_their_calls_take(structure, options):
    lows = raydex.rmq(np.arange(1000, dtype="float32"), structure, extremes="both", **options)
    assert lows.info.probe_bytes == raydex.estimate(1000, structure, extremes="both", **options).probe_bytes


def test_auto_is_what_a_build_takes():
    for keys in np.arange(1000), np.arange(1000, dtype="float32"):
        assert raydex.estimate(keys).structure == raydex.build(keys).info.structure


def test_its_text():
    text = "raydex.Estimate(btree of 1000000 rows: 15.74 MiB, 16.51 a row; 27.19 MiB at the peak of its build)"
    assert repr(raydex.estimate(10**6, "btree")) == text
    assert raydex.estimate(1e6, "hash_open", different=1e6) == raydex.estimate(10**6, "hash_open", different=10**6)
    nothing = "raydex.Estimate(btree of 0 rows: 0 bytes; 0 bytes at the peak of its build)"
    assert repr(raydex.estimate(0, "btree")) == nothing
    minima = "raydex.Estimate(rmq_lca of 1000000 values: 11.44 MiB, 12 a value; 11.44 MiB at the peak of its build)"
    assert repr(raydex.estimate(10**6, "rmq_lca", dtype="float32")) == minima


@pytest.mark.parametrize(("arguments", "error", "words"), [
    ({"column": -1}, raydex.InvalidArgument, "column: -1"),
    ({"column": 2**49}, raydex.InvalidArgument, "at most"),
    ({"column": 5.5}, raydex.InvalidType, "column: 5.5"),
    ({"column": True}, raydex.InvalidType, "column: True"),
    ({"column": 5, "dtype": "O"}, raydex.InvalidType, "dtype: "),
    ({"column": 5, "dtype": "number"}, raydex.InvalidType, "dtype: 'number'"),
    ({"column": ["a text of many bytes"]}, raydex.Unsupported, "give 'S8'"),
    ({"column": 5, "dtype": str}, raydex.Unsupported, "give 'S8'"),
    ({"column": 5, "dtype": "U20"}, raydex.Unsupported, "give 'S8'"),
    ({"column": 5, "dtype": "S"}, raydex.Unsupported, "give 'S8'"),
    ({"column": ([1], [2])}, raydex.Unsupported, "several columns"),
    ({"column": 5, "different": 6}, raydex.InvalidArgument, "different: 6 of 5"),
    ({"column": 5, "different": -1}, raydex.InvalidArgument, "different: -1"),
    ({"column": 5, "different": "4"}, raydex.InvalidType, "different: '4'"),
    ({"column": 5, "span": 1.5}, raydex.InvalidType, "span: 1.5"),
    ({"column": 5, "ascending": 1}, raydex.InvalidType, "ascending: 1"),
    ({"column": 5, "row_id_bits": 16}, raydex.InvalidArgument, "row_id_bits: 16"),
    ({"column": 5, "structure": "tree"}, raydex.InvalidArgument, "'tree'"),
    ({"column": 5, "structure": "btree", "fil": 50}, raydex.InvalidArgument, "fill"),
    ({"column": 5, "structure": "rx", "device": "optix"}, raydex.Unsupported, "build the index"),
    ({"column": 5, "structure": "rmq_rx", "device": "optix"}, raydex.Unsupported, "the driver decides"),
    ({"column": 5, "structure": "rmq_cover", "extremes": "mean"}, raydex.InvalidArgument, "'both'"),
    ({"column": 5, "structure": "rmq_cover", "extreme": "minimum"}, raydex.InvalidArgument, "extremes='min'"),
    ({"column": 5, "structure": "rmq_cover", "memory": "much"}, raydex.InvalidArgument, "memory"),
    ({"column": 5, "structure": "rmq_cover", "memry": "small"}, raydex.InvalidArgument, "do you mean memory"),
    ({"column": 5, "structure": "rmq_cover", "different": 5}, raydex.InvalidArgument, "different: it is of keys"),
    ({"column": 5, "structure": "rmq_cover", "row_id_bits": 64}, raydex.InvalidArgument, "row_id_bits: it is of keys"),
    ({"column": 5, "structure": "rmq_cover", "dtype": "S4"}, raydex.InvalidType, "dtype: .* numbers and times"),
    ({"column": 5, "structure": "btree", "extremes": "min"}, raydex.InvalidArgument, "'btree' is not one of"),
])  # fmt: skip
def test_what_is_refused(arguments, error, words):
    with pytest.raises(error, match=words):
        raydex.estimate(**arguments)


def test_a_gpu_need_not_be_here():
    assert raydex.estimate(10**9, "sorted_array", "cuda").resident_bytes == 12 * 10**9


def test_a_build_without_room_is_refused_at_once(tmp_path):
    """Of a file without pages: nothing of it is read, and nothing is allocated."""
    n = 2**39
    try:
        keys = np.memmap(tmp_path / "keys", np.int64, "w+", shape=n)
    except OSError as problem:
        pytest.skip(f"no such file: {problem}")
    for structure in "auto", "btree", "hash_open", "rx":
        with pytest.raises(raydex.OutOfMemory, match=f"{n} keys takes at least 8192.00 GiB.*raydex.build_file"):
            raydex.build(keys, structure)


def table_of_bytes():
    """As `docs/structures.md` has it: of 10^7 keys that differ, and are dense for `direct`."""
    n = 10**7
    columns = ("structure", "resident", "at the build's peak", "of keys that ascend", "first", "count", "sum", "rows",
               "neighbours")
    lines = [f"| {' | '.join(columns)} |", "| " + " | ".join(["---"] * len(columns)) + " |"]
    for name in STRUCTURES:
        facts = {"different": n, "span": n if name == "direct" else 0}
        both = [raydex.estimate(n, name, dtype=dtype, **facts) for dtype in ("uint32", "uint64")]
        ascending = [raydex.estimate(n, name, dtype=dtype, ascending=True, **facts) for dtype in ("uint32", "uint64")]
        calls = both[0].probe_bytes
        cells = [
            *(" / ".join(f"{number / n:.1f}" for number in numbers) for numbers in (
                [one.resident_bytes for one in both],
                [one.build_peak_bytes for one in both],
                [one.build_peak_bytes for one in ascending],
            )),
            *(str(calls[call]) for call in ("first", "count", "sum")),
            f"{calls['rows']} + {calls['match']} a match",
            str(calls["closest"]) if calls["closest"] else "",
        ]  # fmt: skip
        lines.append(f"| `{name}` | {' | '.join(cells)} |")
    return "\n".join(lines)


def test_the_table_of_the_documentation():
    assert table_of_bytes() in PAGE.read_text()


def table_of_minima():
    """As `docs/structures.md` has it: of 10^7 values."""
    n = 10**7
    columns = ("structure", "resident", "at the build's peak", "min, max", "argmin, argmax")
    lines = [f"| {' | '.join(columns)} |", "| " + " | ".join(["---"] * len(columns)) + " |"]
    variants = {"rmq_cover": [{"memory": "small"}], "rmq_hierarchy": [{"top": "rays"}]}
    for name in MINIMA:
        for options in [{}, *variants.get(name, [])]:
            both = [raydex.estimate(n, name, dtype=dtype, **options) for dtype in ("uint32", "uint64")]
            words = "".join(f", `{option}={value}`" for option, value in options.items())
            cells = [
                f"`{name}`{words}",
                *(" / ".join(f"{number / n:.2f}" for number in numbers) for numbers in (
                    [one.resident_bytes for one in both], [one.build_peak_bytes for one in both],
                )),
                *map(str, both[0].probe_bytes.values()),
            ]  # fmt: skip
            lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def test_the_table_of_minima():
    assert table_of_minima() in PAGE.read_text()
