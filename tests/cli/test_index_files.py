# SPDX-License-Identifier: Apache-2.0
"""`raydex query --save-index` and `--index`, and `raydex info`: files of indexes. What Python makes of them is in
tests/python/test_files_of_program.py."""

import bisect
import json
import resource
import signal
import subprocess
import time

import numpy as np
import pytest
from conftest import BACKEND, BINARY, STRUCTURE, limit, query_arguments
from oracle import KEY_TYPES, Oracle, assert_equal, random_bits, random_keys, random_points
from test_query import check_all_results

STRUCTURES = {
    "cpu": ["cgrx", "rx", "sorted_array", "eytzinger", "pivot_tree", "btree", "direct", "hash_open", "hash_bucket"],
    "cuda": ["sorted_array", "eytzinger", "pivot_tree", "hash_open", "hash_bucket"],
    "optix": ["cgrx", "rx"],
}[BACKEND]
HASH_TABLES = ["hash_open", "hash_bucket"]


def save(program, to="an.index", structure=STRUCTURE, **options):
    """Writes a file alone; returns its name."""
    words = ["query", "--backend", BACKEND, "--structure", structure, "--save-index", to]
    for name, value in options.items():
        words += ["--" + name.replace("_", "-"), value]
    done = program.run(*words)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    return to


def kept(index, **options):
    """The options of a query of a file, which has no structure."""
    return {"structure": "auto", "index": index, **options}


def answers(program, *flags, **options):
    """The column that a query of a file prints, without its name."""
    done = program.run(*query_arguments(**kept(**options), out="-"), *flags)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout.split("\n")[1:-1]


@pytest.mark.parametrize("row_id_type", [None, "<u8"])
@pytest.mark.parametrize("kind", ["points", "ranges"])
@pytest.mark.parametrize("dtype", KEY_TYPES)
def test_every_key_type(program, rng, dtype, kind, row_id_type):
    n = int(rng.integers(100, 400))
    keys = random_keys(rng, dtype, n)
    options = {"keys": program.file("K.npy", keys)}
    row_ids = None
    if row_id_type:
        row_ids = rng.permutation(2 * n)[:n].astype(row_id_type)
        options["row_ids"] = program.file("I.npy", row_ids)
    index = save(program, **options)
    lower = upper = random_points(rng, keys, 100)
    if kind == "points":
        asked = {"points": program.file("P.npy", lower)}
    else:
        upper = random_points(rng, keys, 100)
        asked = {"ranges": program.file("R.npy", np.stack([lower, upper], axis=1))}
    oracle = Oracle(keys, lower, upper, row_ids)
    check_all_results(program, oracle, rng.integers(0, 2**40, 2 * n), **kept(index, **asked))


@pytest.mark.parametrize("structure", STRUCTURES)
@pytest.mark.parametrize("keys", [[], [7], [7] * 300, list(range(300))], ids=["none", "one", "equal", "dense"])
def test_every_structure(program, structure, keys):
    keys = np.array(keys, "<u4")
    index = save(program, structure=structure, keys=program.file("K.npy", keys))
    points = np.array([0, 6, 7, 8, 299, 2**32 - 1], "<u4")
    asked = kept(index, points=program.file("P.npy", points))
    check_all_results(program, Oracle(keys, points, points), **asked)
    done = program.run(*query_arguments(**asked, result="count", out="fast.npy"), "--no-verify")
    assert done.returncode == 0, done.stderr
    assert_equal(np.load(program.folder / "fast.npy"), Oracle(keys, points, points).count())


def test_answers_while_it_is_saved(program, rng):
    keys = rng.integers(0, 50, 200)
    files = {"keys": program.file("K.npy", keys), "points": program.file("P.npy", np.arange(50))}
    counts = np.bincount(keys, minlength=50).astype("<u8")
    assert_equal(program.query(result="count", save_index="an.index", **files), counts)
    assert_equal(program.query(**kept("an.index", points="P.npy", result="count")), counts)


def test_places(program, rng):
    keys = rng.integers(-50, 50, 300)
    points = np.arange(-60, 60)
    index = save(program, keys=program.file("K.npy", keys))
    asked = kept(index, points=program.file("P.npy", points))
    for result, side in [("rank", "left"), ("rank_right", "right")]:
        expected = np.searchsorted(np.sort(keys), points, side).astype("<u8")
        np.testing.assert_array_equal(program.query(result=result, **asked), expected)


def test_aggregates(program, rng):
    keys, values = rng.integers(0, 20, 300), rng.normal(0, 1, 300)
    index = save(program, keys=program.file("K.npy", keys))
    ends = np.stack([np.arange(20), np.arange(20) + 3], axis=1)
    asked = kept(index, ranges=program.file("R.npy", ends), values=program.file("V.npy", values))
    found = [values[(keys >= lower) & (keys <= upper)] for lower, upper in ends]
    for result, of in [("min", np.min), ("max", np.max), ("mean", np.mean)]:
        np.testing.assert_allclose(program.query(result=result, **asked), [of(one) for one in found], rtol=1e-12)


@pytest.mark.parametrize("structure", STRUCTURES)
def test_edits_in_place(program, rng, structure):
    keys, new = rng.integers(0, 99, 200), rng.integers(0, 99, 50)
    rows = np.arange(200, 250, dtype="<u4")
    gone = np.arange(10)
    index = save(program, structure=structure, keys=program.file("K.npy", keys))
    before = (program.folder / index).read_bytes()
    edits = {"insert": program.file("K2.npy", new), "insert_rows": program.file("I2.npy", rows),
             "erase": program.file("K3.npy", gone)}
    points = np.arange(100)
    held = np.concatenate([np.where(keys < 10, 1000, keys), new])
    counts = Oracle(held, points, points).count()
    asked = {"points": program.file("P.npy", points), "result": "count"}
    assert_equal(program.query(**kept(index, **edits, **asked)), counts)
    assert (program.folder / index).read_bytes() == before
    assert_equal(program.query(**kept(index, **edits, **asked), save_index=index), counts)
    assert_equal(program.query(**kept(index, **asked)), counts)
    # The old file is one again, as a copy.
    save(program, "two.index", "auto", index=index)
    assert_equal(program.query(**kept("two.index", **asked)), counts)


def test_other_rows_than_those_of_the_file(program):
    index = save(program, keys=program.file("K.npy", np.arange(5)))
    few = program.file("V.npy", np.arange(4))
    line = program.refuse_query(**kept(index, points="K.npy", values=few, result="sum"))
    assert "4 cells" in line


TEXTS = ["", "a", "ab", "abc", "abcdefgh", "abcdefghi", "abcdefghij", "b", "zzzzzzzz", "zzzzzzzzz", "ünß", "ab"]


def table(name, cells):
    return name + "\n" + "".join(f'"{cell}"\n' for cell in cells)


@pytest.mark.parametrize("keys", [TEXTS, [one for one in TEXTS if len(one) <= 3], ["abc"], ["of more than 8", "x"]],
                         ids=["any", "short", "one", "two"])
def test_texts_of_any_length(program, keys):
    """Of those that were short when the index was built, too."""
    keys = [one for one in keys if one]
    program.file("k.csv", table("key", keys))
    program.file("p.csv", table("point", [one for one in TEXTS if one]))
    index = save(program, keys="k.csv:key")
    ordered = sorted(one.encode() for one in keys)
    points = [one.encode() for one in TEXTS if one]
    asked = {"index": index, "points": "p.csv:point"}
    assert answers(program, **asked, result="count") == [str(ordered.count(one)) for one in points]
    left = [bisect.bisect_left(ordered, one) for one in points]
    right = [bisect.bisect_right(ordered, one) for one in points]
    assert answers(program, **asked, result="rank") == [str(one) for one in left]
    assert answers(program, **asked, result="rank_right") == [str(one) for one in right]

    def row(at):
        return str(min(i for i, one in enumerate(keys) if one.encode() == ordered[at])) if 0 <= at < len(keys) else ""

    assert answers(program, **asked, result="predecessor") == [row(at - 1) for at in right]
    assert answers(program, **asked, result="successor") == [row(at) for at in left]
    assert answers(program, "--strict", **asked, result="predecessor") == [row(at - 1) for at in left]
    assert answers(program, "--strict", **asked, result="successor") == [row(at) for at in right]
    prefixed = [str(sum(one.startswith(point) for one in ordered)) for point in points]
    assert answers(program, index=index, prefixes="p.csv:point", result="count") == prefixed
    pairs = [(low, high) for low in points for high in points]
    ends = "lower,upper\n" + "".join(f"{low.decode()},{high.decode()}\n" for low, high in pairs)
    within = [str(sum(low <= one <= high for one in ordered)) for low, high in pairs]
    program.file("r.csv", ends)
    assert answers(program, index=index, ranges="r.csv:lower,upper", result="count") == within
    stream = program.run(*query_arguments(**kept(index, points="-:point", result="count", out="-")),
                         input=table("point", [one for one in TEXTS if one]))
    assert (stream.returncode, stream.stdout.split()[1:]) == (0, [str(ordered.count(one)) for one in points])


def test_texts_beyond_all_of_their_width(program):
    index = save(program, keys=program.file("K.npy", np.array([b"\xff\xff", b"a"], "|S2")))
    points = program.file("P.npy", np.array([b"\xff\xff", b"\xff\xff\xff"], "|S3"))
    assert program.query(**kept(index, points=points, result="count")).tolist() == [1, 0]
    assert "row 2 lies between" in program.refuse_query(**kept(index, points=points, result="rank"))


def test_new_strings(program):
    program.file("k.csv", table("key", ["somebody else", "nobody in sight"]))
    program.file("n.csv", "key,row\nsomebody else,2\nsomebody new,3\n")
    index = save(program, keys="k.csv:key")
    asked = kept(index, points="k.csv:key", result="count")
    inserted = {"insert": "n.csv:key", "insert_rows": "n.csv:row:u4"}
    assert program.query(**asked, **inserted, save_index="b.index").tolist() == [2, 1]
    assert program.query(**asked).tolist() == [1, 1]
    more = kept("b.index", points="n.csv:key", result="count")
    assert program.query(**more).tolist() == [2, 1]
    line = program.refuse_query(**asked, **inserted, erase="k.csv:key", erase_rows="n.csv:row:u4")
    assert line.startswith("raydex: --erase-rows: some values of --insert have no place in the key")
    program.file("n.csv", "key,row\nsomebody else,2\n")
    assert program.query(**asked, **inserted).tolist() == [2, 1]
    assert program.query(**asked, erase="n.csv:key").tolist() == [0, 1]


def test_short_keys_that_are_edited(program):
    program.file("k.csv", table("key", ["a", "bb"]))
    index = save(program, keys="k.csv:key")
    asked = kept(index, points="k.csv:key", result="count")
    program.file("n.csv", "key,row\nlonger,2\n")
    line = program.refuse_query(**asked, insert="n.csv:key", insert_rows="n.csv:row:u4")
    assert "inserted keys n.csv:key: the value in row 1 lies between two values" in line
    assert program.query(**asked, erase="n.csv:key").tolist() == [1, 1]


@pytest.mark.parametrize(("zone", "other", "kind"), [("", "Z", "without"), ("+01:00", "", "with")])
def test_times(program, zone, other, kind):
    cells = ["2024-03-01T09:30:00", "2024-03-01T09:30:00.000000001", "1969-12-31T23:59:59"]
    program.file("k.csv", table("t", [one + zone for one in cells] + [""]))
    program.file("p.csv", table("t", [one + zone for one in reversed(cells)]))
    index = save(program, keys="k.csv:t")
    assert answers(program, index=index, points="p.csv:t", result="first") == ["2", "1", "0"]
    program.file("p.csv", table("t", [one + other for one in cells]))
    line = program.refuse_query(**kept(index, points="p.csv:t", result="count"))
    assert f"but the keys of an.index are times {kind} a zone" in line
    points = program.file("P.npy", np.arange(3))
    assert "points P.npy are int64, but" in program.refuse_query(**kept(index, points=points, result="count"))


def test_missing_cells_and_types_that_were_found(program):
    program.file("k.csv", "key,frac\n1,0.5\n,2\n3,NA\n")
    program.file("p.csv", "key,none\n3,\n,\n2,\n1,\n")
    whole, parts = save(program, "a.index", keys="k.csv:key"), save(program, "b.index", keys="k.csv:frac")
    assert answers(program, index=whole, points="p.csv:key", result="count") == ["1", "0", "0", "1"]
    assert answers(program, index=whole, points="p.csv:none", result="count") == ["0"] * 4
    # Whole numbers beside fractions.
    assert answers(program, index=parts, points="p.csv:key", result="count") == ["0", "0", "1", "0"]
    assert "but the keys of a.index are int64" in program.refuse_query(
        **kept(whole, points="k.csv:frac", result="count"))


def test_several_columns(program, rng):
    def name(store):
        return "s" + chr(ord("a") + store)

    n = 300
    stores, days = rng.integers(0, 9, n), rng.integers(-30, 30, n)
    lines = [f"{name(store)},{day},{row}" for row, (store, day) in enumerate(zip(stores, days))]
    program.file("k.csv", "store,day,row\n" + "\n".join(lines) + "\n")
    index = save(program, keys="k.csv:store,day", row_ids="k.csv:row:u4")
    points = [(store, day) for store in (0, 4, 11) for day in (-31, -30, 0, 29)]
    program.file("p.csv", "store,day,long\n" + "".join(f"{name(s)},{d},{name(s)} and more\n" for s, d in points))
    held = sorted(zip(stores, days))
    asked = {"index": index, "points": "p.csv:store,day"}
    assert answers(program, **asked, result="count") == [str(held.count(one)) for one in points]
    places = sorted((name(s), d) for s, d in held)
    rank = [bisect.bisect_left(places, (name(s), d)) for s, d in points]
    assert answers(program, **asked, result="rank") == [str(one) for one in rank]
    by_store = [str(sum(s == store for s, _ in held)) for store, _ in points]
    assert answers(program, index=index, points="p.csv:store", result="count") == by_store
    assert answers(program, index=index, prefixes="p.csv:store", result="count") == by_store
    # What no key can be equals none, and has no place.
    assert answers(program, index=index, points="p.csv:long,day", result="count") == ["0"] * len(points)
    line = program.refuse_query(**kept(index, points="p.csv:long,day", result="rank"))
    assert "row 1 lies between two values of the index's type, bytes2" in line
    program.file("r.csv", "store,low,high\nse,-5,5\nse,5,-5\nsl,0,9\n")
    within = [sum(s == 4 and -5 <= d <= 5 for s, d in held), 0, 0]
    found = answers(program, index=index, ranges="r.csv:store,low,high", result="count")
    assert found == [str(one) for one in within]
    line = program.refuse_query(**kept(index, points="p.csv:store,day,long", result="count"))
    assert "--points names 3 columns; an.index has 2 columns" in line
    edits = {"insert": "p.csv:store,day", "insert_rows": program.file("I2.npy", np.arange(12, dtype="<u4") + n)}
    more = [str(sum(s == store for s, _ in [*held, *points])) for store, _ in points]
    assert answers(program, index=index, points="p.csv:store", result="count", **edits) == more
    store, day = held[0]
    program.file("n.csv", f"store,day,row\n{name(store)},{day},{n}\n")
    more = {"index": index, "points": "n.csv:store,day", "result": "count"}
    inserted = {"insert": "n.csv:store,day", "insert_rows": "n.csv:row:u4"}
    assert answers(program, **more, **inserted) == [str(held.count((store, day)) + 1)]
    assert answers(program, **more, erase="n.csv:store,day") == ["0"]


def test_columns_that_a_dictionary_numbers(program):
    program.file("k.csv", "a,b\nsomebody else,1\nx,2\n")
    line = program.refuse("query", "--keys", "k.csv:a,b", "--save-index", "an.index")
    assert line.startswith("raydex: --save-index: a dictionary numbers columns")


def test_it_is_left_as_it_was(program):
    """Of a disk that is full, and if the answers cannot be made."""
    keys = program.file("K.npy", np.arange(100000))
    index = save(program, keys=program.file("few.npy", np.arange(3)))
    before = (program.folder / index).read_bytes()
    words = ["query", "--keys", keys, "--save-index", index]
    line = program.refuse(*words, **limit(resource.RLIMIT_FSIZE, 100000))
    assert line.startswith(f"raydex: {index}: write")
    # Nor are there answers then.
    asked = query_arguments(keys=keys, points="few.npy", result="count", save_index=index)
    assert program.refuse(*asked, **limit(resource.RLIMIT_FSIZE, 100000)) == line
    program.refuse_query(keys=keys, points=keys, result="sum", values="few.npy", save_index=index)
    assert (program.folder / index).read_bytes() == before


def test_interrupt(program):
    """While a file is written; nothing is left of it."""
    keys = program.file("K.npy", np.random.default_rng(1).integers(0, 2**62, 2**22))
    before = sorted(program.folder.iterdir())
    for delay in [0.3, 0.5, 0.7, 0.9]:
        process = subprocess.Popen([BINARY, "query", "--backend", "cpu", "--structure", "sorted_array", "--keys", keys,
                                    "--save-index", "an.index"], cwd=program.folder, stderr=subprocess.PIPE)
        deadline = time.monotonic() + 30
        while not list(program.folder.glob(".raydex-*")) and time.monotonic() < deadline and process.poll() is None:
            time.sleep(delay / 1000)
        process.send_signal(signal.SIGINT)
        assert process.stderr.read() == b""
        if process.wait(60) == 0:  # it was done before
            (program.folder / "an.index").unlink()
        else:
            assert process.returncode == -signal.SIGINT
        (program.folder / "an.index").unlink(missing_ok=True)
        assert sorted(program.folder.iterdir()) == before


def test_report(program):
    keys = program.file("K.npy", np.arange(100))
    words = ["query", "--keys", keys, "--save-index", "an.index", "--report", "r.json"]
    assert program.run(*words).returncode == 0
    made = json.loads((program.folder / "r.json").read_text())
    assert made["save_ms"] > 0 and made["build_ms"] > 0 and made["probes"] == 0 and "result" not in made
    program.query(**kept("an.index", points=keys, result="count"), report="r.json")
    opened = json.loads((program.folder / "r.json").read_text())
    assert opened["load_ms"] > 0 and opened["build_ms"] == 0 and "save_ms" not in opened
    for name in ("structure", "options", "key", "n"):
        assert opened[name] == made[name]


def test_info(program):
    keys = np.array([5, 3, 9], "<u4")
    rows = program.file("I.npy", np.array([7, 70, 700], "<u8"))
    index = save(program, structure=STRUCTURES[0], keys=program.file("K.npy", keys), row_ids=rows)
    done = program.run("info", index, "--json")
    assert (done.returncode, done.stderr) == (0, "")
    facts = json.loads(done.stdout)
    size = (program.folder / index).stat().st_size
    assert {**facts, "options": ""} == {
        "structure": STRUCTURES[0], "options": "", "key": "uint32", "rows": 3, "entries": 3, "max_row_id": 700,
        "row_id_bits": 64, "bytes": size, "version": 1, "verified": True}
    text = program.run("info", index).stdout
    assert [line.split()[0] for line in text.splitlines()] == list(facts)
    assert text.endswith(f"bytes        {size}\nversion      1\nverified     yes\n")
    assert program.run("info", "--no-verify", index).stdout == text.replace("yes", "no")


def test_damaged_files(program, rng):
    index = save(program, structure=STRUCTURES[0], keys=program.file("K.npy", rng.integers(0, 2**40, 500)))
    whole = (program.folder / index).read_bytes()
    asked = kept("bad.index", points="K.npy", result="count")
    cases = {"empty": (b"", "header"), "text": (b"key\n" + b"1\n" * 100, "it is no index file"),
             "cut": (whole[:-1], "cut off"), "longer": (whole + b"x", "appended"),
             "version": (whole[:12] + b"\2" + whole[13:], "version 2"),
             "directory": (whole[:-1] + bytes([whole[-1] ^ 1]), "directory"),
             "entries": (whole[:300] + bytes([whole[300] ^ 1]) + whole[301:], "checksum")}
    for content, part in cases.values():
        program.file("bad.index", content)
        for line in (program.refuse_query(**asked), program.refuse("info", "bad.index")):
            assert line.startswith("raydex: bad.index: ") and part in line
    # Without a look at them, entries are taken for what they were.
    assert program.run("info", "--no-verify", "bad.index").returncode == 0


BAD = {
    "neither": ([], "--keys is required, the column to index, or --index, a file of one"),
    "both": (["--index", "an.index", "--keys", "K.npy"], "--keys is of an index that is built"),
    "structure": (["--index", "an.index", "--structure", "btree"], "--structure is of an index that is built"),
    "option": (["--index", "an.index", "--option", "layout=row"], "--option is of an index that is built"),
    "row ids": (["--index", "an.index", "--row-ids", "K.npy"], "--row-ids is of an index that is built"),
    "no verify": (["--keys", "K.npy", "--no-verify"], "--no-verify goes with --index"),
    "nothing to do": (["--index", "an.index"], "give one of --points, --ranges and --prefixes, or --save-index"),
    "two": (["--index", "an.index", "--points", "K.npy", "--ranges", "K.npy"], "give one of --points, --ranges and"),
    "no result": (["--index", "an.index", "--points", "K.npy", "--out", "o.npy"], "--result is required"),
    "no out": (["--index", "an.index", "--points", "K.npy", "--result", "first"], "--out is required"),
    "result": (["--keys", "K.npy", "--save-index", "b", "--result", "first"], "--result is of answers; give one of"),
    "out": (["--keys", "K.npy", "--save-index", "b", "--out", "o.npy"], "--out is of answers; give one of"),
    "values": (["--keys", "K.npy", "--save-index", "b", "--values", "K.npy"], "--values is of answers; give one of"),
    "standard output": (["--keys", "K.npy", "--save-index", "-"], "--save-index -: an index is written to a file"),
    "device": (["--keys", "K.npy", "--save-index", "/dev/null"], "an index is written to a file"),
    "folder": (["--keys", "K.npy", "--save-index", "."], "an index is written to a file"),
    "no folder": (["--keys", "K.npy", "--save-index", "none/x"], "none/x: cannot be written: No such file"),
    "keys": (["--keys", "K.npy", "--save-index", "K.npy"], "--keys K.npy and --save-index K.npy are the same file"),
    "report": (["--keys", "K.npy", "--save-index", "r", "--report", "r"], "are the same file"),
    "no file": (["--index", "none.index", "--save-index", "b"], "none.index: it cannot be read: No such file"),
    "column": (["--index", "K.npy", "--save-index", "b"], "K.npy: header: it is no index file of raydex"),
    "output": (["--index", "an.index", "--points", "K.npy", "--result", "first", "--out", "an.index"], "files that end"),
}


@pytest.mark.parametrize("case", BAD)
def test_what_does_not_go_together(program, case):
    words, part = BAD[case]
    keys = program.file("K.npy", np.arange(5))
    save(program, keys=keys)
    assert part in program.refuse("query", *words)


def test_hash_tables_have_no_order(program):
    keys = program.file("K.npy", np.arange(5))
    index = save(program, structure=HASH_TABLES[0], keys=keys) if HASH_TABLES[0] in STRUCTURES else None
    if index:
        ranges = program.file("R.npy", np.array([[2, 4]]))
        assert "hash_open" in program.refuse_query(**kept(index, points=keys, result="rank"))
        assert program.query(**kept(index, points=keys, result="count")).tolist() == [1] * 5
        assert "hash_open" in program.refuse_query(**kept(index, ranges=ranges, result="count"))
    # What is kept may be asked anything, so `auto` takes none.
    save(program, structure="auto", keys=keys)
    assert program.query(**kept("an.index", points=keys, result="rank")).tolist() == list(range(5))


def test_random_bits(program, rng):
    """Points of any bits, of a file of random keys."""
    keys = random_bits(rng, "<u8", 200)
    index = save(program, keys=program.file("K.npy", keys))
    points = np.concatenate([keys[:50], random_bits(rng, "<u8", 50)])
    asked = kept(index, points=program.file("P.npy", points))
    check_all_results(program, Oracle(keys, points, points), **asked)
