# SPDX-License-Identifier: Apache-2.0
"""`raydex query` after insertions and deletions: right answers, and clear refusals."""

import json

import numpy as np
import pytest
from conftest import BACKEND, query_arguments
from oracle import KEY_TYPES, Oracle, assert_equal, random_bits, random_keys, random_points
from test_query import check_all_results

# Those that take keys of every type.
STRUCTURES = {
    "cpu": ["cgrx", "rx", "sorted_array", "eytzinger", "pivot_tree", "hash_open", "hash_bucket"],
    "cuda": ["sorted_array", "eytzinger", "pivot_tree", "hash_open", "hash_bucket"],
    "optix": ["cgrx", "rx"],
}[BACKEND]
ONE = STRUCTURES[0]

NUMBERS = np.arange(4, dtype="<u4")
ROWS = np.arange(10, 14, dtype="<u4")


def bits_of(keys):
    """The keys as the index tells them apart: all NaNs are one key, and so are both zeros."""
    if keys.dtype.kind == "f":
        keys = np.where(np.isnan(keys), np.nan, keys) + keys.dtype.type(0)
    return [key.tobytes() for key in keys]


def edited(held, insert, erase, erase_rows):
    """The pairs of key and row id that are left, and the inserted pairs that are there."""
    if erase_rows is None:
        return [pair[0] not in set(erase) for pair in held], [True] * len(insert)
    named = set(zip(erase, erase_rows))
    both = named & set(insert)
    return [pair not in named - both for pair in held], [pair not in both for pair in insert]


@pytest.mark.parametrize("by_row", [False, True])
@pytest.mark.parametrize("row_id_type", [None, "<u8"])
@pytest.mark.parametrize("dtype", KEY_TYPES)
def test_every_key_type(program, rng, dtype, row_id_type, by_row):
    n, more = int(rng.integers(50, 300)), int(rng.integers(1, 200))
    width = row_id_type or "<u4"
    keys = random_keys(rng, dtype, n)
    rows = rng.permutation(n).astype(width) if row_id_type else np.arange(n, dtype=width)
    new = rng.choice(np.concatenate([keys, random_bits(rng, dtype, n)]), more)
    new_rows = rng.permutation(np.arange(n, n + 2 * more, dtype=width))[:more]
    # Old keys, inserted keys, and keys that are not there.
    gone = np.concatenate([rng.choice(keys, n // 4), new[: more // 3], random_bits(rng, dtype, 3)])
    gone_rows = np.concatenate(
        [rng.choice(rows, n // 4), new_rows[: more // 3], np.zeros(3, width)]
    )
    # Some erased rows are really there.
    at = rng.choice(n, n // 8)
    gone, gone_rows = np.concatenate([gone, keys[at]]), np.concatenate([gone_rows, rows[at]])

    left, there = edited(
        list(zip(bits_of(keys), rows.tolist())), list(zip(bits_of(new), new_rows.tolist())),
        bits_of(gone), gone_rows.tolist() if by_row else None,
    )
    held = np.concatenate([keys[left], new[there]])
    held_rows = np.concatenate([rows[left], new_rows[there]])

    options = {
        "structure": str(rng.choice(STRUCTURES)), "keys": program.file("K.npy", keys),
        "insert": program.file("K2.npy", new), "insert_rows": program.file("I2.npy", new_rows),
        "erase": program.file("K3.npy", gone),
    }
    if row_id_type:
        options["row_ids"] = program.file("I.npy", rows)
    if by_row:
        options["erase_rows"] = program.file("I3.npy", gone_rows)
    probed = np.concatenate([keys, new, gone])
    lower, upper = random_points(rng, probed, 100), random_points(rng, probed, 100)
    if options["structure"].startswith("hash_") or rng.random() < 0.5:
        upper = lower
        options["points"] = program.file("P.npy", lower)
    else:
        options["ranges"] = program.file("R.npy", np.stack([lower, upper], axis=1))
    values = rng.integers(-(2**40), 2**40, n + 2 * more)
    check_all_results(program, Oracle(held, lower, upper, held_rows), values, **options)


def test_insertions_or_deletions_alone(program):
    files = {"keys": program.file("K.npy", NUMBERS), "structure": ONE, "result": "count"}
    files["points"] = program.file("P.npy", np.arange(6, dtype="<u4"))
    more = program.file("K2.npy", np.array([3, 5], "<u4"))
    rows = program.file("I2.npy", np.array([7, 8], "<u4"))
    assert program.query(insert=more, insert_rows=rows, **files).tolist() == [1, 1, 1, 2, 0, 1]
    assert program.query(erase=more, **files).tolist() == [1, 1, 1, 0, 0, 0]
    assert program.query(erase=more, erase_rows=rows, **files).tolist() == [1, 1, 1, 1, 0, 0]
    none = program.file("none.npy", np.empty(0, "<u4"))
    assert program.query(insert=none, insert_rows=none, **files).tolist() == [1, 1, 1, 1, 0, 0]
    files["keys"] = none
    assert program.query(insert=more, insert_rows=rows, **files).tolist() == [0, 0, 0, 1, 0, 1]


def test_csv_columns_with_missing_keys(program):
    program.file("t.csv", "key,new,row,gone\n1,5,10,1\n2,,11,NA\n3,7,12,9\n3,,13,3\n,3,14,\n")
    files = {"keys": "t.csv:key", "insert": "t.csv:new", "insert_rows": "t.csv:row:u4"}
    points = np.array([0, 1, 2, 3, 5, 7], "<i8")
    # 2 and the new 3, 5 and 7 are left.
    oracle = Oracle(np.array([2, 3, 5, 7]), points, points, np.array([1, 14, 10, 12], "<u4"))
    check_all_results(
        program, oracle, structure=ONE, points=program.file("P.npy", points), **files,
        erase="t.csv:gone",
    )


def test_texts(program):
    program.file("t.csv", "tail,new,row,gone\nN1,N4,7,N1\nN2,N2,8,\nN3,N1,9,\n")
    first = program.query(
        structure=ONE, keys="t.csv:tail:S8", insert="t.csv:new:S8", insert_rows="t.csv:row:u4",
        erase="t.csv:gone:S8", result="first",
        points=program.file("P.npy", np.array([b"N1", b"N2", b"N3", b"N4", b"N5"], "|S8")),
    )
    assert_equal(first, np.array([9, 1, 2, 7, 2**32 - 1], "<u4"))


def test_values_are_for_the_rows_after_the_edit(program):
    keys = program.file("K.npy", NUMBERS)
    more = {"insert": keys, "insert_rows": program.file("I2.npy", ROWS), "structure": ONE}
    few = program.file("few.npy", np.arange(13, dtype="<u8"))
    line = program.refuse_query(keys=keys, points=keys, result="sum", values=few, **more)
    assert "13 cells" in line and "row id is 13" in line
    enough = program.file("enough.npy", np.arange(14, dtype="<u8"))
    total = program.query(keys=keys, points=keys, result="sum", values=enough, **more)
    assert_equal(total, np.array([10, 12, 14, 16], "<u8"))


def test_report(program):
    column = program.file("K.npy", NUMBERS)
    more = {"insert": column, "insert_rows": program.file("I2.npy", ROWS)}
    query = {"keys": column, "points": column, "result": "count", "structure": ONE}
    reports = []
    for edits in [{}, more]:
        program.query(report="report.json", **query, **edits)
        reports.append(json.loads((program.folder / "report.json").read_text()))
    before, after = reports
    assert list(after) == [*before, "edit_ms"]
    assert after["edit_ms"] > 0
    assert (before["n"], after["n"]) == (4, 8)
    assert after["resident_bytes"] > before["resident_bytes"]


@pytest.mark.parametrize("backend", [BACKEND, "auto"])
def test_auto_takes_what_takes_edits(program, backend):
    keys = program.file("K.npy", NUMBERS)
    gone = program.file("K3.npy", NUMBERS[1:3])
    more = {"insert": keys, "insert_rows": program.file("I2.npy", ROWS)}
    query = query_arguments(
        structure="auto", backend=backend, keys=keys, points=keys, result="count", erase=gone,
        report="r.json", **more
    )
    assert program.load("out.npy", *query).tolist() == [2, 1, 1, 2]
    report = json.loads((program.folder / "r.json").read_text())
    assert report["structure"] == ("cgrx" if backend == "optix" else "pivot_tree")


@pytest.mark.parametrize(
    ("options", "parts"),
    [
        ({"insert": "K.npy"}, ["--insert", "--insert-rows", "together"]),
        ({"insert_rows": "I.npy"}, ["--insert", "--insert-rows", "together"]),
        ({"erase_rows": "I.npy"}, ["--erase-rows goes with --erase"]),
        ({"erase": "none.npy"}, ["none.npy"]),
        ({"erase": "wide.npy"}, ["erased keys wide.npy are uint64, but keys K.npy are uint32"]),
        ({"erase": "t.csv:a"}, ["erased keys t.csv:a are int64, but keys K.npy are uint32", "t.csv:a:uint32"]),
        (
            {"insert": "wide.npy", "insert_rows": "I.npy"},
            ["inserted keys wide.npy are uint64, but keys K.npy are uint32"],
        ),
        ({"insert": "K.npy", "insert_rows": "wide.npy"}, ["insert rows", "uint64", "uint32"]),
        ({"insert": "K.npy", "insert_rows": "two.npy"}, ["insert rows", "2", "4 keys"]),
        ({"insert": "K.npy", "insert_rows": "t.csv:b:u4"}, ["insert rows", "missing"]),
        ({"insert": "K.npy", "insert_rows": "last.npy"}, ["row ids", str(2**32 - 1)]),
        ({"erase": "K.npy", "erase_rows": "wide.npy"}, ["erase rows", "uint64", "uint32"]),
        ({"erase": "K.npy", "erase_rows": "two.npy"}, ["erase rows", "2", "4 keys"]),
    ],
)
def test_refusals(program, options, parts):
    program.file("K.npy", NUMBERS)
    program.file("I.npy", ROWS)
    program.file("wide.npy", NUMBERS.astype("<u8"))
    program.file("two.npy", ROWS[:2])
    program.file("last.npy", np.array([4, 5, 6, 2**32 - 1], "<u4"))
    program.file("t.csv", "a,b\n1,1\n2,\n3,3\n4,4\n")
    line = program.refuse_query(
        structure=ONE, keys="K.npy", points="K.npy", result="first", **options
    )
    for part in parts:
        assert part in line
