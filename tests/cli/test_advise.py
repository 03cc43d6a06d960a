# SPDX-License-Identifier: Apache-2.0
"""`raydex advise`, `raydex tune`, and what `--structure auto` chooses by the measurements."""

import json
import os
import pathlib
import subprocess

import numpy as np
import pytest
from conftest import BACKEND, BINARY, query_arguments

KEYS = ["--keys-count", "2^20", "--key", "uint32", "--backend", BACKEND]
FASTEST = "cgrx" if BACKEND == "optix" else "pivot_tree"  # of 2^20 keys, as built in
FIELDS = [
    "structure", "options", "backend", "reason", "lookups_per_s", "resident_bytes", "measurements",
]


def environment(folder, **variables):
    """The environment with a cache of its own, or with these variables instead."""
    ours = {"RAYDEX_CACHE_DIR", "XDG_CACHE_HOME", "HOME"}
    kept = {name: value for name, value in os.environ.items() if name not in ours}
    return {**kept, **(variables or {"RAYDEX_CACHE_DIR": str(folder)})}


@pytest.fixture(scope="module", name="tuned")
def tuned_once(tmp_path_factory):
    """The file that a quick run of `raydex tune` leaves."""
    folder = tmp_path_factory.mktemp("tuned") / "made" / "here"
    done = subprocess.run(
        [BINARY, "tune", "--quick", "--backend", BACKEND], env=environment(folder),
        capture_output=True, text=True, timeout=300, check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    (path,) = folder.iterdir()
    assert done.stdout.startswith(f"{path}: ")
    return path


@pytest.fixture(name="cache")
def fresh_cache(tmp_path_factory, tuned):
    """A place for a file of measurements: its contents, a writer, and the environment."""

    class Cache:
        def __init__(self):
            self.folder = tmp_path_factory.mktemp("cache")
            self.path = self.folder / tuned.name
            self.env = environment(self.folder)
            self.content = json.loads(tuned.read_text())

        def write(self, content=None):
            text = content if isinstance(content, str) else json.dumps(content or self.content)
            self.path.write_text(text, encoding="utf-8")

        def prefer(self, **options):
            """Measurements by which sorted_array with these options is the best."""
            best = {"structure": "sorted_array", "options": options, "key_bits": 32, "n": 1000,
                    "range_hits": 0, "sorted_probes": False, "lookups_per_s": 1e15,
                    "bytes_per_key": 8}
            self.content["rows"] += [{**best, "range_hits": hits} for hits in (0, 16)]
            self.write()

        def prefer_direct(self):
            """Measurements by which direct is the best."""
            self.prefer()
            for row in self.content["rows"][-2:]:
                row.update(structure="direct", bytes_per_key=4)
            self.write()

    return Cache()


def advise(program, env, *arguments):
    done = program.run("advise", *arguments, "--json", env=env)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    return json.loads(done.stdout)


def test_json(program, tmp_path):
    advised = advise(program, environment(tmp_path), *KEYS)
    assert list(advised) == FIELDS
    assert advised["backend"] == BACKEND
    assert advised["measurements"] == "built-in"
    assert advised["resident_bytes"] >= 8 << 20
    assert advised["lookups_per_s"] > 0
    assert "unsorted points on 2^20 uint32 keys" in advised["reason"]


def test_text(program, tmp_path):
    env = environment(tmp_path)
    advised = advise(program, env, *KEYS)
    done = program.run("advise", *KEYS, env=env)
    assert done.returncode == 0 and done.stderr == ""
    choice, why, measurements = done.stdout.splitlines()
    assert choice.startswith(f"--structure {advised['structure']} ")
    assert choice.endswith(f" --backend {BACKEND}")
    assert why == "why: " + advised["reason"]
    assert f"raydex tune --backend {BACKEND}" in measurements


@pytest.mark.parametrize("key", ["uint64", "int32", "int64", "float", "double", "bytes1", "bytes8"])
def test_key_types(program, tmp_path, key):
    arguments = ["--keys-count", "1000", "--key", key, "--backend", BACKEND]
    advised = advise(program, environment(tmp_path), *arguments, "--ordered")
    wide = key in ("uint64", "int64", "double", "bytes8")
    assert advised["resident_bytes"] >= (12000 if wide else 8000)


def test_advice_for_a_backend_that_is_not_here(program, tmp_path):
    structures = json.loads(program.run("structures", "--json").stdout)
    for backend in {entry["backend"] for entry in structures}:
        arguments = ["--keys-count", "2^26", "--key", "double", "--backend", backend]
        assert advise(program, environment(tmp_path), *arguments)["backend"] == backend


@pytest.mark.parametrize(
    ("arguments", "parts"),
    [
        (["--memory-limit", "1000"], ["memory limit", "1000 bytes", "fewest"]),
        (["--memory-limit", "0"], ["--memory-limit", "at least 1"]),
        (["--ranges", "0"], ["--ranges", "at least 1"]),
        (["--ranges", "few"], ["--ranges", "'few'", "2^26"]),
        (["--frob"], ["--frob"]),
    ],
)
def test_what_cannot_be_advised(program, tmp_path, arguments, parts):
    line = program.refuse("advise", *KEYS, *arguments, env=environment(tmp_path))
    for part in parts:
        assert part in line


def test_updates(program, tmp_path):
    advised = advise(program, environment(tmp_path), *KEYS, "--updates")
    assert advised["structure"] == FASTEST
    words = ["--keys-count", "2^20", "--key", "uint32", "--updates"]
    assert advise(program, environment(tmp_path), *words)["structure"] == FASTEST


def test_auto_takes_updates_on_a_tuned_machine(program, tuned):
    column = program.file("K.npy", np.arange(10, dtype="<u4"))
    words = query_arguments(
        structure="auto", keys=column, points=column, result="count", erase=column, report="r.json"
    )
    done = program.run(*words, env=environment(tuned.parent))
    assert (done.returncode, done.stderr) == (0, "")
    taken = json.loads((program.folder / "r.json").read_text())["structure"]
    # Any that `tune` measures, but `direct`, which is for columns that nobody edits.
    assert taken in {
        "sorted_array", "eytzinger", "pivot_tree", "btree", "hash_open", "hash_bucket", "rx", "cgrx",
    }


def test_bad_keys(program):
    assert "--keys-count" in program.refuse("advise", "--key", "uint32")
    assert "--key " in program.refuse("advise", "--keys-count", "5")
    line = program.refuse("advise", "--keys-count", "-5", "--key", "uint32")
    assert "--keys-count" in line and "-5" in line
    line = program.refuse("advise", "--keys-count", "5", "--key", "int8")
    assert "int8" in line and "uint32" in line and "bytes1, bytes2" in line
    line = program.refuse("advise", "--keys-count", "5", "--key", "float", "--backend", "tpu")
    assert "tpu" in line


def test_tune(program, tuned):
    content = json.loads(tuned.read_text())
    assert list(content) == ["raydex", "backend", "device", "rows"]
    assert content["backend"] == BACKEND
    assert tuned.name.startswith(f"tune-{BACKEND}-") and tuned.suffix == ".json"
    assert {"sorted_array"} <= {row["structure"] for row in content["rows"]}
    for row in content["rows"]:
        assert row["lookups_per_s"] > 0 and row["bytes_per_key"] >= 4
    # Every workload with all structures that answer it: hash tables take points alone.
    asked = ["range_hits", "key_bits", "n", "sorted_probes"]
    workloads = [tuple(row[name] for name in asked) for row in content["rows"]]
    for of_points in (True, False):
        alike = [workload for workload in workloads if (workload[0] == 0) == of_points]
        assert len({workloads.count(workload) for workload in alike}) == 1
    # Each structure with its options that are worth a try.
    measured = [(row["structure"], row["options"]) for row in content["rows"]]
    for structure in {structure for structure, _ in measured}:
        for option in json.loads(program.run("structures", structure, "--json").stdout):
            if option["worth_trying"]:
                assert (structure, {option["option"]: option["worth_trying"]}) in measured
    # On a slow machine only small sizes are measured.
    points = [
        row for row in content["rows"]
        if (row["key_bits"], row["range_hits"], row["sorted_probes"]) == (32, 0, False)
    ]
    n = max(row["n"] for row in points)
    keys = ["--keys-count", str(n), "--key", "uint32", "--backend", BACKEND]
    advised = advise(program, environment(tuned.parent), *keys)
    assert advised["measurements"] == str(tuned)
    # `direct` is for dense keys alone, which nobody said that these are.
    sparse = [row for row in points if row["n"] == n and row["structure"] != "direct"]
    best = max(row["lookups_per_s"] for row in sparse)
    assert advised["lookups_per_s"] == pytest.approx(best, rel=0.06)


def test_query_and_bench_take_what_is_measured_best(program, cache):
    column = program.file("K.npy", np.arange(1000, dtype="<u4"))
    ranges = program.file("R.npy", np.zeros((5, 2), "<u4"))
    for layout in ("row", "column"):
        cache.prefer(layout=layout)
        for probes in ({"points": column}, {"ranges": ranges}):
            words = query_arguments(
                structure="auto", keys=column, result="count", report="r.json", **probes
            )
            done = program.run(*words, env=cache.env)
            assert (done.returncode, done.stderr) == (0, "")
            report = json.loads((program.folder / "r.json").read_text())
            assert report["structure"] == "sorted_array"
            assert report["options"]["layout"] == layout
        done = program.run(
            "bench", "--structure", "auto", "--backend", BACKEND, "--keys", "1000", "--probes",
            "1000", "--repetitions", "1", "--json", "b.json", env=cache.env,
        )
        assert (done.returncode, done.stderr) == (0, "")
        (row,) = json.loads((program.folder / "b.json").read_text())
        assert f"layout={layout}" in row["options"]
        assert f"--structure sorted_array --backend {BACKEND}" in row["command"]
        assert f"--option layout={layout}" in row["command"]
        cache.content["rows"] = cache.content["rows"][:-2]


def answer(program, env, **options):
    """What `raydex query` finds by `auto`, and the structure that it took."""
    done = program.run(*query_arguments(structure="auto", report="r.json", **options), env=env)
    assert (done.returncode, done.stderr) == (0, "")
    report = json.loads((program.folder / "r.json").read_text())
    return np.load(program.folder / "out.npy"), report["structure"]


NO_DIRECT = pytest.mark.skipif(BACKEND == "optix", reason="direct is on cpu and cuda")


@NO_DIRECT
def test_dense_keys_are_advised_places(program, cache):
    cache.prefer_direct()
    keys = ["--keys-count", "1000", "--backend", BACKEND]
    for key in ("uint32", "int64"):
        dense = advise(program, cache.env, *keys, "--key", key, "--span", "4k")
        assert dense["structure"] == "direct"
        for more in ([], ["--span", "4001"], ["--span", "4000", "--updates"]):
            assert advise(program, cache.env, *keys, "--key", key, *more)["structure"] != "direct"
    others = advise(program, cache.env, *keys, "--key", "double", "--span", "1000")
    assert others["structure"] != "direct"
    line = program.refuse("advise", *keys, "--key", "uint32", "--span", "0", env=cache.env)
    assert "--span" in line and "at least 1" in line


@NO_DIRECT
@pytest.mark.parametrize("dtype", ["<u4", "<i4", "<u8", "<i8"])
def test_queries_of_dense_keys_take_places(program, cache, rng, dtype):
    cache.prefer_direct()
    offset = 10 if dtype[1] == "u" else -1500
    values = rng.permutation(3000)[:1000] + offset
    values[:2] = [offset, offset + 3999]
    keys = program.file("K.npy", values.astype(dtype))
    points = np.concatenate([values, rng.integers(5000, 6000, 100)]).astype(dtype)
    files = {"keys": keys, "points": program.file("P.npy", points), "result": "first"}
    found, taken = answer(program, cache.env, **files)
    first = {int(key): row for row, key in reversed(list(enumerate(values)))}
    assert found.tolist() == [first.get(int(point), 2**32 - 1) for point in points]
    assert taken == "direct"
    wide = program.file("W.npy", np.append(values[2:], [offset, offset + 4000]).astype(dtype))
    assert answer(program, cache.env, **{**files, "keys": wide})[1] != "direct"
    new = program.file("N.npy", points[:1])
    one = program.file("I.npy", np.array([1000], "<u4"))
    assert answer(program, cache.env, insert=new, insert_rows=one, **files)[1] != "direct"


@NO_DIRECT
def test_missing_keys_have_no_places(program, cache):
    cache.prefer_direct()
    probes = program.file("P.npy", np.array([7, 0, 39], "<i8"))
    for present, taken in ((range(0, 40, 4), True), (range(0, 50, 5), False)):
        rows = [str(key) for key in present] + ["NA"] * 90
        table = program.file("t.csv", "key\n" + "\n".join(rows) + "\n")
        column = f"{table}:key:i8"
        found, one = answer(program, cache.env, keys=column, points=probes, result="count")
        assert found.tolist() == [0, 1, 0]
        assert (one == "direct") == taken


@NO_DIRECT
def test_benchmarks_of_dense_keys_take_places(program, cache):
    cache.prefer_direct()
    for more, taken in ([], False), (["--uniformity", "0"], True), (["--range-hits", "16"], True):
        done = program.run(
            "bench", "--structure", "auto", "--backend", BACKEND, "--keys", "1000", "--probes",
            "100", "--repetitions", "1", "--json", "b.json", *more, env=cache.env,
        )
        assert (done.returncode, done.stderr) == (0, "")
        (row,) = json.loads((program.folder / "b.json").read_text())
        assert (row["structure"] == "direct") == taken


def test_options_beside_auto(program, cache):
    cache.prefer(layout="row")
    column = program.file("K.npy", np.arange(100, dtype="<u4"))
    options = {"structure": "auto", "keys": column, "points": column, "result": "count"}
    words = query_arguments(**options, report="r.json", option="layout=column")
    assert program.run(*words, env=cache.env).returncode == 0
    report = json.loads((program.folder / "r.json").read_text())
    assert report["options"]["layout"] == "column"
    line = program.refuse(*query_arguments(**options, option="colour=red"), env=cache.env)
    assert "colour" in line and "sorted_array" in line


@pytest.mark.parametrize(("field", "value"), [("raydex", "0.0.0"), ("device", "another")])
def test_measurements_of_another_version_or_device(program, cache, field, value):
    cache.content[field] = value
    cache.prefer(layout="row")
    assert advise(program, cache.env, *KEYS)["measurements"] == "built-in"


def without(row, field):
    return {name: value for name, value in row.items() if name != field}


BROKEN = {
    "nothing": lambda content: "",
    "no JSON": lambda content: "{\"raydex\": \n",
    "a list": lambda content: "[]",
    "no rows": lambda content: {**content, "rows": []},
    "a version of another type": lambda content: {**content, "raydex": 1},
    "no structure": lambda content: {**content, "rows": [without(content["rows"][0], "structure")]},
    "a text for a number": lambda content: {**content, "rows": [{**content["rows"][0], "n": "x"}]},
    "a fraction": lambda content: {**content, "rows": [{**content["rows"][0], "n": 1.5}]},
    "a negative size": lambda content: {**content, "rows": [{**content["rows"][0], "n": -1}]},
    "keys of 16 bits": lambda content: {**content, "rows": [{**content["rows"][0], "key_bits": 16}]},
    "no speed": lambda content: {**content, "rows": [{**content["rows"][0], "lookups_per_s": 0}]},
    "too large": lambda content: " " * (16 * 2**20 + 1),
}


@pytest.mark.parametrize("case", BROKEN)
def test_a_broken_file_is_said_and_not_used(program, cache, case):
    broken = BROKEN[case](cache.content)
    cache.path.write_text(broken if isinstance(broken, str) else json.dumps(broken))
    column = program.file("K.npy", np.arange(100, dtype="<u4"))
    query = query_arguments(structure="auto", keys=column, points=column, result="count")
    for words in (["advise", *KEYS, "--json"], query):
        done = program.run(*words, env=cache.env)
        assert done.returncode == 0
        assert done.stderr.startswith(f"raydex: warning: {cache.path}: ")
        assert "raydex tune" in done.stderr
        assert done.stderr.count("\n") == 1
        if words is not query:
            assert json.loads(done.stdout)["measurements"] == "built-in"
    # A named structure needs no measurements.
    named = query_arguments(structure="sorted_array", keys=column, points=column, result="count")
    assert program.run(*named, env=cache.env).stderr == ""


@pytest.mark.parametrize(
    ("structure", "options", "named"),
    [
        ("trie", {}, "'trie'"),
        ("rmq_scan", {}, "'rmq_scan'"),
        ("sorted_array", {"colour": "red"}, "'sorted_array colour=red'"),
        ("sorted_array", {"layout": "red"}, "'sorted_array layout=red'"),
        ("sorted_array", {"threads": "3"}, "'sorted_array threads=3'"),
        pytest.param("\x1b[31mred\n" + "d" * 1000, {}, r"'\x1b[31mred", id="control characters"),
    ],
)
def test_measurements_of_what_is_not_known_are_left_out(program, cache, structure, options, named):
    cache.prefer(layout="row")
    before = advise(program, cache.env, *KEYS)
    for row in cache.content["rows"][-2:]:
        cache.content["rows"].append(
            {**row, "structure": structure, "options": options, "lookups_per_s": 1e17}
        )
    cache.write()
    column = program.file("K.npy", np.arange(100, dtype="<u4"))
    query = query_arguments(structure="auto", keys=column, points=column, result="count")
    for words in (["advise", *KEYS, "--json"], query):
        done = program.run(*words, env=cache.env)
        assert done.returncode == 0
        assert done.stderr.startswith(f"raydex: warning: {cache.path}: 2 measurements")
        assert named in done.stderr and "raydex tune" in done.stderr
        assert done.stderr.count("\n") == 1 and "\x1b" not in done.stderr
        assert len(done.stderr) < 500 + len(str(cache.path))
        if words is not query:
            assert json.loads(done.stdout) == before


def test_what_is_wrong_with_a_file_is_escaped_and_cut(program, cache):
    cache.path.write_text('{"raydex": \x1b' + "x" * 5000)
    done = program.run("advise", *KEYS, env=cache.env)
    assert done.returncode == 0 and done.stderr.count("\n") == 1
    assert "\x1b" not in done.stderr and len(done.stderr) < 500 + len(str(cache.path))


@pytest.mark.parametrize(
    ("text", "n"),
    [("1000", 1000), ("1e6", 10**6), ("2^20", 2**20), ("64k", 64000), ("1.5M", 1500000),
     ("2Ki", 2048), ("2KiB", 2048), ("1GiB", 2**30), ("3MB", 3 * 10**6), ("0.5Ki", 512)],
)
def test_sizes(program, tmp_path, text, n):
    key = ["--key", "uint32", "--backend", BACKEND]
    env = environment(tmp_path)
    expected = advise(program, env, "--keys-count", str(n), *key)["resident_bytes"]
    assert advise(program, env, "--keys-count", text, *key)["resident_bytes"] == expected


@pytest.mark.parametrize(
    "text", ["", "k", "1.5", "1e-3", "-1k", "1 k", "1KiBs", "2^64", "20E", "1e20", "16777216Ti", "nan", "inf"]
)
def test_no_sizes(program, text):
    line = program.refuse("advise", "--keys-count", text, "--key", "uint32")
    assert "--keys-count" in line and ("16Mi" in line or not text)


def test_a_folder_for_a_file(program, cache):
    cache.path.mkdir()
    done = program.run("advise", *KEYS, env=cache.env)
    assert done.returncode == 0
    assert "not a regular file" in done.stderr
    line = program.refuse("tune", "--quick", "--backend", BACKEND, env=cache.env)
    assert str(cache.path) in line and "not a regular file" in line


def test_where_measurements_are_kept(program, tuned, tmp_path):
    for number, (variables, folder) in enumerate([
        ({"RAYDEX_CACHE_DIR": "own", "XDG_CACHE_HOME": "/no", "HOME": "/no"}, "own"),
        ({"XDG_CACHE_HOME": "{}/xdg", "HOME": "/no"}, "xdg/raydex"),
        ({"RAYDEX_CACHE_DIR": "", "XDG_CACHE_HOME": "relative", "HOME": "{}"}, ".cache/raydex"),
        ({"HOME": "{}"}, ".cache/raydex"),
    ]):
        root = tmp_path / str(number)
        place = (program.folder if folder == "own" else root) / folder
        place.mkdir(parents=True)
        (place / tuned.name).write_text(tuned.read_text())
        env = environment(None, **{name: text.format(root) for name, text in variables.items()})
        kept = pathlib.Path(advise(program, env, *KEYS)["measurements"])
        assert (program.folder / kept).samefile(place / tuned.name)


def test_nowhere_to_keep_measurements(program):
    env = environment(None, HOME="")
    assert advise(program, env, *KEYS)["measurements"] == "built-in"
    line = program.refuse("tune", "--quick", "--backend", BACKEND, env=env)
    assert "RAYDEX_CACHE_DIR" in line


def test_a_cache_that_cannot_be_made(program):
    file = program.file("file", "")
    env = environment(program.folder / file / "cache")
    line = program.refuse("tune", "--quick", "--backend", BACKEND, env=env)
    assert "cannot be made" in line


def test_tune_on_a_backend_that_is_not_here(program, tmp_path):
    structures = json.loads(program.run("structures", "--json").stdout)
    for backend in {entry["backend"] for entry in structures if not entry["available"]}:
        line = program.refuse(
            "tune", "--quick", "--backend", backend, env=environment(tmp_path / "c")
        )
        assert backend in line or "CUDA" in line
