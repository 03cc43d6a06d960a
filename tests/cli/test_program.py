# SPDX-License-Identifier: Apache-2.0
"""The program apart from queries: lists, help, completion, progress."""

import json
import os
import pty
import re
import shutil
import subprocess

import numpy as np
import pytest
from conftest import BACKEND, BINARY, query_arguments

FIELDS = [
    "structure", "backend", "available", "reason", "points", "ranges", "minima", "duplicates",
    "updates", "keys",
]
RESULTS = {"first", "count", "sum", "mean", "min", "max", "rows", "rank", "rank_right",
           "predecessor", "successor"}


def output(program, *arguments):
    done = program.run(*arguments)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    return done.stdout


def test_structures_as_json(program):
    structures = json.loads(output(program, "structures", "--json"))
    for entry in structures:
        assert list(entry) == FIELDS
        assert entry["available"] == (entry["reason"] == "")
    cpu = next(
        e for e in structures if (e["structure"], e["backend"]) == ("sorted_array", "cpu")
    )
    assert cpu["available"] and cpu["points"] and cpu["ranges"] and cpu["duplicates"]
    assert not cpu["minima"]
    assert cpu["keys"] == ["uint32", "uint64", "int32", "int64", "float", "double", "bytes"]
    scan = next(e for e in structures if (e["structure"], e["backend"]) == ("rmq_scan", "cpu"))
    assert scan["available"] and scan["minima"] and scan["duplicates"] and scan["updates"]
    assert not scan["points"] and not scan["ranges"]
    assert scan["keys"] == ["uint32", "uint64", "int32", "int64", "float", "double"]


def test_structures_as_a_table(program):
    lines = output(program, "structures").splitlines()
    assert lines[0].split() == [field for field in FIELDS if field != "reason"]
    for entry in json.loads(output(program, "structures", "--json")):
        assert any(line.split()[:2] == [entry["structure"], entry["backend"]] for line in lines)
        if not entry["available"]:
            assert f"{entry['backend']} is not available: {entry['reason']}" in lines


def test_what_a_structure_takes(program):
    """As docs/structures.md has it, which a test of the Python package compares with the library."""
    text = output(program, "structures", "sorted_array")
    assert re.search(r"^resident +8\.0 +12\.0$", text, re.MULTILINE)
    assert re.search(r"^at the build's peak +16\.0 +24\.0$", text, re.MULTILINE)
    assert "for each probe: first 0, contains 4, count 0, sum 0, rows 8 and 4 a match, rank 0, " in text
    assert text.endswith(" predecessor and successor 8\n")
    assert "predecessor" not in output(program, "structures", "hash_open")
    minima = output(program, "structures", "rmq_lca")
    assert re.search(r"^resident +12\.00 +20\.00$", minima, re.MULTILINE)
    assert minima.endswith("for each range: minimum and maximum 0, position 0\n")
    assert output(program, "structures", "rmq_rx").endswith("minimum and maximum 8, position 0\n")


def test_the_options_of_a_structure(program):
    """Those of experiments stand apart, each with what it means and its usual value."""
    everyday, _, paper = output(program, "structures", "pivot_tree").partition("For experiments of papers:")
    assert re.search(r"^nodes=auto\|exact\|quantised\|narrow +[a-z].* \[auto\], with search=lines$", everyday, re.MULTILINE)
    assert re.search(r"^search=lines\|groups +[a-z].* \[lines\]$", paper, re.MULTILINE)
    assert re.search(r"^levels=all\|1\.\.40 .* \[all\], with search=groups$", paper, re.MULTILINE)
    assert "'trie'" in program.refuse("structures", "trie")
    as_json = json.loads(output(program, "structures", "pivot_tree", "--json"))
    assert {
        "option": "levels", "values": "all|1..40", "usual": "all", "with": "search=groups",
        "meaning": "levels of pivots above the leaves", "of_a_paper": True, "worth_trying": "",
    } in as_json


def test_a_backend_that_is_not_there_says_why(program):
    column = program.file("K.npy", np.arange(3, dtype="<u4"))
    for entry in json.loads(output(program, "structures", "--json")):
        if not entry["available"]:
            line = program.refuse_query(
                keys=column, points=column, result="first", backend=entry["backend"]
            )
            assert entry["reason"] in line
            ranges = program.file("R.npy", np.zeros((1, 2), "<u4"))
            line = program.refuse_rmq(
                values=column, ranges=ranges, result="min", backend=entry["backend"]
            )
            assert entry["reason"] in line


def test_version(program):
    """What the build has in it follows the first line."""
    first, backends, compiler, vectors = output(program, "--version").splitlines()
    assert re.fullmatch(r"raydex \d+\.\d+\.\d+", first)
    assert re.match(r"backends: cpu \(Embree [34]\.\d+\.\d+, Highway \d+\.\d+\.\d+\), ", backends)
    structures = json.loads(output(program, "structures", "--json"))
    reasons = {e["reason"] for e in structures if e["backend"] == "cuda"}
    without = any("built without CUDA" in reason for reason in reasons)
    assert ("built without cuda and optix" in backends) == without
    assert ("architectures" in backends) == (not without)
    assert re.match(r"compiler: \w+ \d+\.\d+\.\d+, \w+$", compiler)
    assert re.match(r"vectors here: \w+$", vectors)


@pytest.mark.parametrize(
    "command", ["structures", "query", "info", "join", "rmq", "advise", "tune", "completion"]
)
def test_help_has_examples(program, command):
    text = output(program, command, "--help")
    assert "Examples:\n  " in text and f"raydex {command}" in text
    assert command in output(program, "--help")


@pytest.mark.parametrize(
    "words", ["structures", "structures --json", "--help", "--version", "query --help"]
)
def test_full_standard_output(program, words):
    with open("/dev/full", "w", encoding="utf-8") as full:
        done = program.run(*words.split(), stdout=full)
    assert done.returncode == 1
    assert re.match(r"raydex: standard output:? cannot be written.*\n$", done.stderr)


@pytest.mark.parametrize(
    ("words", "line"),
    [
        ("qurey --keys k.npy", "'qurey' is not a subcommand of raydex; did you mean 'query'?"),
        ("nothing", "'nothing' is not a subcommand of raydex (see"),
        ("query --keyz=k.npy", "'--keyz' is not an option of raydex query; did you mean '--keys'?"),
        ("query --frobnicate 3", "'--frobnicate' is not an option of raydex query (see"),
        ("join --probee p.npy", "'--probee' is not an option of raydex join; did you mean '--probe'?"),
        ("rmq --vlaues v.npy", "'--vlaues' is not an option of raydex rmq; did you mean '--values'?"),
        ("tune now", "'now' is not for raydex tune (see"),
        ("query a.csv b.csv", "'a.csv' is not for raydex query: a file goes with an option, as raydex query --keys "
         "FILE:COLUMN --points FILE:COLUMN --result first --out FILE (see"),
        ("join a.csv b.csv", "as raydex join --build FILE:COLUMN --probe FILE:COLUMN --kind inner --out FILE (see"),
        ("rmq a.csv", "as raydex rmq --values FILE:COLUMN --ranges FILE:LOWER,UPPER --result min --out FILE (see"),
        ("--verison", "'--verison' is not an option of raydex; did you mean '--version'?"),
        ("structures pivot_teee", "structure: 'pivot_teee' is not one of"),
        ("structures pivot_teee", "did you mean 'pivot_tree'?"),
        ("completion basj", "did you mean 'bash'?"),
        ("tune --quick --backend cudda", "did you mean 'cuda'?"),
        ("tune --quick --backend gpu", "did you mean 'cuda'?"),
        ("join --build b.npy --probe p.npy --kind outer --out o.npy", "did you mean 'full'?"),
        ("advise --keys-count 5 --key unit32", "did you mean 'uint32'?"),
        ("bench --structure sorted_array,pivot_teee", "did you mean 'pivot_tree'?"),
        ("bench --structure sorted_array --option layuot=row", "did you mean 'layout'?"),
        ("bench --result firzt", "did you mean 'first'?"),
        ("bench --distribution uniforn", "did you mean 'uniform'?"),
        ("bench --experiment lightweight/1b9", "did you mean 'lightweight/1"),
    ],
)
def test_misspelt_words(program, words, line):
    assert line in program.refuse(*words.split())


def test_misspelt_words_of_queries(program):
    column = program.file("K.npy", np.arange(3, dtype="<u4"))
    apart = program.file("A.npy", np.array([0, 10**6], "<u4"))
    ranges = program.file("R.npy", np.zeros((1, 2), "<u4"))
    query = {"keys": column, "points": column, "result": "count", "structure": "pivot_tree"}
    rmq = {"values": column, "ranges": ranges, "result": "min", "structure": "rmq_cover"}
    for asked, refuse, meant in [
        ({**query, "result": "coumt"}, program.refuse_query, "count"),
        ({**query, "structure": "pviot_tree"}, program.refuse_query, "pivot_tree"),
        ({**query, "backend": "cup"}, program.refuse_query, "cpu"),
        ({**query, "option": "zearch=lines"}, program.refuse_query, "search"),
        ({**query, "option": "search=liens"}, program.refuse_query, "lines"),
        ({**query, "keys": apart, "structure": "auto", "option": "layuot=row"}, program.refuse_query,
         "layout"),
        ({**rmq, "result": "agrmin"}, program.refuse_rmq, "argmin"),
        ({**rmq, "structure": "rmq_cver"}, program.refuse_rmq, "rmq_cover"),
        ({**rmq, "option": "memory=smail"}, program.refuse_rmq, "small"),
    ]:
        assert f"did you mean '{meant}'?" in refuse(**asked)


def status(program, *arguments):
    return program.run(*arguments).returncode


def test_exit_status(program):
    """As the help has it: 1 for what cannot be done here, 2 for what was given."""
    column = program.file("K.npy", np.arange(3, dtype="<u4"))
    query = {"keys": column, "points": column, "result": "count"}
    assert status(program, *query_arguments(**query)) == 0
    for wrong in [
        {"result": "median"}, {"structure": "trie"}, {"backend": "tpu"}, {"option": "layout"},
        {"option": "colour=red"}, {"structure": "sorted_array", "option": "layout=red"},
        {"keys": "none.npy"}, {"values": column}, {"frob": "1"}, {"out": "none/out.npy"},
    ]:
        assert status(program, *query_arguments(**{**query, **wrong})) == 2, wrong
    assert status(program) == status(program, "frob") == 2
    assert status(program, "advise", "--keys-count", "5", "--key", "int8") == 2
    assert status(program, "bench", "--keys", "many") == 2
    for entry in json.loads(output(program, "structures", "--json")):
        if not entry["available"]:
            missing = {**query, "backend": entry["backend"]}
            assert status(program, *query_arguments(**missing)) == 1
    for code in ("0", "1", "2"):
        assert re.search(rf"^  {code}  [a-z]", output(program, "--help"), re.MULTILINE)


BENCH = ["bench", "--structure", "sorted_array", "--backend", BACKEND, "--keys", "1k", "--probes",
         "1Ki", "--repetitions", "1"]


@pytest.mark.parametrize(
    "words",
    [["structures"], ["structures", "pivot_tree"], ["advise", "--keys-count", "9", "--key", "float"]],
)
def test_json_is_a_file_or_standard_output(program, words):
    printed = output(program, *words, "--json")
    assert output(program, *words, "--json", "-") == printed
    assert output(program, *words, "--json", "t.json") == ""
    assert (program.folder / "t.json").read_text() == printed
    json.loads(printed)


def test_json_of_benchmarks(program):
    for last in (["--json"], ["--json", "-"]):
        done = program.run(*BENCH, *last)
        assert done.returncode == 0, done.stderr
        (row,) = json.loads(done.stdout)
        assert (row["n"], row["probes"]) == (1000, 1024)
        assert "structure" in done.stderr and "sorted_array" in done.stderr
    assert "sorted_array" in output(program, *BENCH, "--json", "b.json")
    assert json.loads((program.folder / "b.json").read_text())[0]["n"] == 1000


def test_a_structure_is_not_taken_for_a_file(program):
    line = program.refuse("structures", "--json", "pivot_tree")
    assert "raydex structures pivot_tree --json" in line


def test_the_table_of_benchmarks_explains_its_ratios(program):
    lines = output(program, *BENCH).splitlines()
    assert lines[1].startswith("structure ") and lines[2].startswith("sorted_array ")
    for title in ("ratio", "x sort"):
        assert title in lines[1] and f"{title}: " in lines[3]
    minima = ["rmq_scan" if word == "sorted_array" else word for word in BENCH]
    assert "x read: " in output(program, *minima).splitlines()[-1]


def test_no_table_before_an_error(program):
    # The build knows that the one option is not with the other.
    line = program.refuse(*BENCH, "--option", "layout=none")
    assert "layout" in line


def options_in_help(program, command):
    return set(re.findall(r"^  (?:-\w,)?(--[\w-]+)", output(program, command, "--help"), re.M))


def complete(script, *words):
    """The completions that bash offers for the last word; of `layout=row` only for `row`."""
    line = " ".join(words)
    code = f"""{script}
compopt() {{ :; }}
COMP_LINE='{line}'
COMP_POINT={len(line)}
_raydex raydex '{words[-1].rpartition("=")[2]}'
printf '%s\\n' "${{COMPREPLY[@]}}"
"""
    done = subprocess.run(["bash", "-c", code], capture_output=True, text=True, check=True)
    return set(done.stdout.split())


def test_bash_completion(program):
    script = output(program, "completion", "bash")
    assert {"query", "rmq", "structures", "completion", "--help"} <= complete(script, "raydex", "")
    assert complete(script, "raydex", "que") == {"query"}
    assert options_in_help(program, "query") <= complete(script, "raydex", "query", "--")
    assert options_in_help(program, "info") <= complete(script, "raydex", "info", "--")
    results = complete(script, "raydex", "query", "--result", "")
    assert results == RESULTS
    assert options_in_help(program, "join") <= complete(script, "raydex", "join", "--")
    assert {"inner", "anti", "asof", "less_equal"} <= complete(script, "raydex", "join", "--kind", "")
    assert complete(script, "raydex", "join", "--side", "") == {"auto", "build", "probe"}
    joins = complete(script, "raydex", "join", "--structure", "")
    assert {"auto", "pivot_tree"} <= joins and "rmq_cover" not in joins
    assert options_in_help(program, "rmq") <= complete(script, "raydex", "rmq", "--")
    assert complete(script, "raydex", "rmq", "--result", "") == {"min", "argmin", "max", "argmax"}
    backends = complete(script, "raydex", "query", "--backend", "c")
    assert backends == {"cpu", "cuda"}
    # No completions, so that bash falls back to files.
    assert complete(script, "raydex", "query", "--keys", "") == set()
    assert complete(script, "raydex", "query", "--index", "") == set()
    assert complete(script, "raydex", "completion", "z") == {"zsh"}
    keys, minima = structures(program)
    assert complete(script, "raydex", "query", "--structure", "") == {"auto", *keys}
    assert complete(script, "raydex", "rmq", "--structure", "") == {"auto", *minima}
    assert complete(script, "raydex", "bench", "--structure", "") == {"auto", *keys, *minima}
    assert keys | minima <= complete(script, "raydex", "structures", "")
    assert complete(script, "raydex", "bench", "--backend", "o") == {"optix"}


def structures(program):
    """The names of those for keys, and of those for minima."""
    entries = json.loads(output(program, "structures", "--json"))
    minima = {e["structure"] for e in entries if e["minima"]}
    return {e["structure"] for e in entries} - minima, minima


def option_words(program, structure):
    """What can follow --option, from the list of options: `name=word`, and `name=` for numbers."""
    words = set()
    for option in json.loads(output(program, "structures", structure, "--json")):
        for value in option["values"].split("|"):
            words.add(option["option"] + "=" + ("" if re.search(r"\.\.|/", value) else value))
    return words


def test_bash_completes_options_of_structures(program):
    script = output(program, "completion", "bash")
    entries = json.loads(output(program, "structures", "--json"))
    words = {name: option_words(program, name) for name in {e["structure"] for e in entries}}
    assert {"layout=row", "bucket="} <= words["sorted_array"] | words["cgrx"]
    for command in ("query", "rmq", "bench"):
        start = ("raydex", command)
        for name, own in words.items():
            assert complete(script, *start, "--structure", name, "--option", "") == own
            assert complete(script, *start, f"--structure={name}", "--option", "") == own
        for other in ([], ["--structure", "auto"], ["--structure", "rx,cgrx"]):
            assert complete(script, *start, *other, "--option", "") == set().union(*words.values())
    start = ("raydex", "query", "--structure", "cgrx", "--option")
    assert complete(script, *start, "buck") == {"bucket="}
    assert complete(script, *start, "bucket=") == set()
    assert complete(script, *start, "layout=") == {"aligned", "column", "packed"}
    assert complete(script, *start, "node=8", "--option", "layout=c") == {"column"}
    assert "--keys" in complete(script, *start, "layout=packed", "")


def test_zsh_completion(program):
    script = output(program, "completion", "zsh")
    assert script.startswith("#compdef raydex\n")
    for option in options_in_help(program, "query"):
        assert re.search(rf"'\*?{option}\[", script)
    assert re.search(r"'\*--option\[.*:_raydex_option'", script)
    for entry in json.loads(output(program, "structures", "--json")):
        words = " ".join(sorted(option_words(program, entry["structure"])))
        assert rf"]{entry['structure']}\ *) echo '{words}' ;;" in script
    if shutil.which("zsh"):
        subprocess.run(["zsh", "-n"], input=script, text=True, check=True)


def complete_in_fish(script, line):
    """The completions that fish offers at the end of a line."""
    code = script + f"complete -C '{line}'"
    done = subprocess.run(["fish", "-c", code], capture_output=True, text=True, check=True)
    assert done.stderr == ""
    return {line.split("\t")[0] for line in done.stdout.splitlines()}


def test_fish_completion(program):
    script = output(program, "completion", "fish")
    for command in ("query", "rmq", "bench"):
        for option in options_in_help(program, command):
            assert f"'__fish_seen_subcommand_from {command}' -l {option[2:]}" in re.sub(
                r" -s \w", "", script
            )
    if not shutil.which("fish"):
        return
    column = program.file("column.npy", np.arange(3))
    keys, minima = structures(program)
    assert complete_in_fish(script, "raydex que") == {"query"}
    assert complete_in_fish(script, "raydex query --result ") == RESULTS
    assert complete_in_fish(script, "raydex query --structure ") == {"auto", *keys}
    assert complete_in_fish(script, "raydex structures ") == keys | minima
    assert complete_in_fish(script, "raydex completion ") == {"bash", "zsh", "fish"}
    file = f"{program.folder}/{column}"
    assert complete_in_fish(script, f"raydex query --keys {file[:-4]}") == {file}
    for given in ("--structure cgrx", "--structure=cgrx"):
        words = complete_in_fish(script, f"raydex query {given} --option ")
        assert words == option_words(program, "cgrx")


def test_progress_only_on_a_terminal_and_wiped_out(program):
    column = program.file("K.npy", np.random.default_rng().random(1 << 20))
    command = [BINARY, *query_arguments(keys=column, points=column, result="first")]
    ours, theirs = pty.openpty()
    with subprocess.Popen(command, cwd=program.folder, stderr=theirs) as process:
        os.close(theirs)
        shown = b""
        while True:
            try:
                piece = os.read(ours, 4096)
            except OSError:  # the terminal closes with the program
                break
            if not piece:
                break
            shown += piece
        os.close(ours)
    assert process.returncode == 0
    # It appears after half a second; BACKEND may be faster.
    assert not shown or shown.endswith(b"\r\x1b[K"), (BACKEND, shown)
