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


def test_the_options_of_a_structure(program):
    """Those of experiments stand apart, each with what it means and its usual value."""
    everyday, _, paper = output(program, "structures", "pivot_tree").partition("For experiments of papers:")
    assert re.search(r"^search=lines\|groups +[a-z].* \[lines\]$", everyday, re.MULTILINE)
    assert re.search(r"^levels=all\|1\.\.40 .* \[all\], with search=groups$", paper, re.MULTILINE)
    assert "'btree'" in program.refuse("structures", "btree")
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
    assert re.fullmatch(r"raydex \d+\.\d+\.\d+\n", output(program, "--version"))


@pytest.mark.parametrize("command", ["structures", "query", "rmq", "advise", "tune", "completion"])
def test_help_has_examples(program, command):
    text = output(program, command, "--help")
    assert "Examples:\n  " in text and f"raydex {command}" in text
    assert command in output(program, "--help")


def test_full_standard_output(program):
    with open("/dev/full", "w", encoding="utf-8") as full:
        done = program.run("structures", stdout=full)
    assert done.returncode == 1
    assert done.stderr == "raydex: standard output cannot be written\n"


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
    results = complete(script, "raydex", "query", "--result", "")
    assert results == {"first", "count", "sum", "rows"}
    assert options_in_help(program, "rmq") <= complete(script, "raydex", "rmq", "--")
    assert complete(script, "raydex", "rmq", "--result", "") == {"min", "argmin"}
    backends = complete(script, "raydex", "query", "--backend", "c")
    assert backends == {"cpu", "cuda"}
    # No completions, so that bash falls back to files.
    assert complete(script, "raydex", "query", "--keys", "") == set()
    assert complete(script, "raydex", "completion", "z") == {"zsh"}


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
