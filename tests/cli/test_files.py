# SPDX-License-Identifier: Apache-2.0
"""What happens to files: to inputs, to outputs, and to other people's files."""

import contextlib
import itertools
import io
import json
import os
import re
import resource
import signal
import stat
import subprocess
import time
import zipfile

import numpy as np
import pytest
from conftest import BACKEND, BINARY, limit, query_arguments, rmq_arguments

NUMBERS = np.arange(1000, dtype="<u4")
ENDING = ["SIGHUP", "SIGINT", "SIGQUIT", "SIGPIPE", "SIGTERM", "SIGXCPU"]


def zeros(program, name, *shape):
    """A large array of zeros that takes no space on the disk."""
    program.file(name, np.zeros((0, *shape[1:]), "<u4"))
    path = program.folder / name
    header = path.read_bytes()
    size = int(np.prod(shape))
    text = f"{{'descr': '<u4', 'fortran_order': False, 'shape': {shape}, }}"
    path.write_bytes(header[:10] + text.ljust(len(header) - 11).encode() + b"\n")
    os.truncate(path, len(header) + 4 * size)
    return name


def long_query(program, **options):
    """A query that takes a while."""
    keys = zeros(program, "K.npy", 1 << 24)
    return query_arguments(keys=keys, points=keys, result="count", **options)


def long_rmq(program, **options):
    """The same for minima."""
    values = zeros(program, "V.npy", 1 << 24)
    ranges = zeros(program, "R.npy", 1 << 24, 2)
    return rmq_arguments(values=values, ranges=ranges, result="min", **options)


def start(program, arguments, **settings):
    """Starts a run and waits until it has a temporary file."""
    process = subprocess.Popen(
        [BINARY, *arguments], cwd=program.folder, stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE, text=True, **settings,
    )
    while not list(program.folder.glob("*.tmp")):
        assert process.poll() is None, process.stderr.read()
        time.sleep(0.001)
    return process


def no_core():
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


# Standard descriptors.


def closing(descriptors):
    """For a child process: these are closed."""

    def close():
        for descriptor in descriptors:
            os.close(descriptor)

    return {"preexec_fn": close}


CLOSED = [c for count in range(4) for c in itertools.combinations(range(3), count)]


OWN_CACHE = {**os.environ, "RAYDEX_CACHE_DIR": "."}


def query_by_measurements(column):
    """A query that reads the measurements of `raydex tune`."""
    return query_arguments(
        structure="auto", keys=column, points=column, result="first", report="report.json"
    )


def damage_measurements(program, column):
    """Makes the query print a warning."""
    assert program.run(*query_by_measurements(column)).returncode == 0
    device = json.loads((program.folder / "report.json").read_text(encoding="utf-8"))["device"]
    device = re.sub("[^0-9A-Za-z]", "-", device)
    return program.file(f"tune-{BACKEND}-{device}.json", "damaged")


@pytest.mark.parametrize("closed", CLOSED)
def test_warnings_get_into_no_file(program, closed):
    column = program.file("K.npy", NUMBERS)
    cache = damage_measurements(program, column)
    done = program.run(*query_by_measurements(column), env=OWN_CACHE, **closing(closed))
    assert done.returncode == 0
    assert ("warning" in done.stderr) == (2 not in closed)
    assert (program.folder / cache).read_text() == "damaged"
    assert (np.load(program.folder / "out.npy") == NUMBERS).all()
    assert json.loads((program.folder / "report.json").read_text(encoding="utf-8"))["n"] == 1000


@pytest.mark.parametrize("closed", CLOSED)
def test_no_file_has_a_standard_descriptor(program, closed):
    process = start(program, long_query(program, report="r.json"), **closing(closed))
    opened = {}
    for link in os.scandir(f"/proc/{process.pid}/fd"):
        with contextlib.suppress(FileNotFoundError):  # closed meanwhile
            opened[int(link.name)] = os.readlink(link)
    process.kill()
    process.communicate()
    assert any(path.endswith(".tmp") for path in opened.values())
    for standard in range(3):
        assert opened[standard].startswith("/dev/") or not opened[standard].startswith(
            str(program.folder)
        )


def test_warnings_that_cannot_be_printed(program):
    column = program.file("K.npy", NUMBERS)
    damage_measurements(program, column)
    with open("/dev/full", "w", encoding="utf-8") as full:
        done = program.run(*query_by_measurements(column), stderr=full, env=OWN_CACHE)
    assert done.returncode == 0
    assert (np.load(program.folder / "out.npy") == NUMBERS).all()


@pytest.mark.parametrize("closed", [c for c in CLOSED if 1 in c])
def test_closed_standard_output(program, closed):
    done = program.run("structures", **closing(closed))
    assert done.returncode == 1
    assert done.stderr == ("" if 2 in closed else "raydex: standard output cannot be written\n")


# Signals.


@pytest.mark.parametrize("name", ENDING)
@pytest.mark.parametrize("command", [long_query, long_rmq])
def test_signals_leave_nothing(program, command, name):
    arguments = command(program, report="report.json")
    program.file("out.npy", "precious")
    before = sorted(program.folder.iterdir())
    process = start(program, arguments, preexec_fn=no_core)
    process.send_signal(getattr(signal, name))
    process.communicate(timeout=60)
    assert process.returncode == -getattr(signal, name)
    assert sorted(program.folder.iterdir()) == before
    assert (program.folder / "out.npy").read_text() == "precious"


def test_ignored_signals_stay_ignored(program):
    def ignore():
        signal.signal(signal.SIGHUP, signal.SIG_IGN)

    process = start(program, long_query(program), preexec_fn=ignore)
    process.send_signal(signal.SIGHUP)
    assert process.wait(timeout=300) == 0
    assert np.load(program.folder / "out.npy").shape == (1 << 24,)


def test_what_a_killed_run_left_blocks_no_other(program):
    column = program.file("K.npy", NUMBERS)

    def leave():
        for name in ["out.npy", "report.json"]:
            with open(program.folder / f"{name}.{os.getpid()}.tmp", "x", encoding="utf-8"):
                pass

    query = query_arguments(keys=column, points=column, result="first", report="report.json")
    done = program.run(*query, preexec_fn=leave)
    assert done.returncode == 0, done.stderr
    for path in program.folder.glob("*.tmp"):
        path.unlink()
    process = start(program, long_query(program))
    process.kill()
    process.communicate()
    assert list(program.folder.glob("raydex-*.tmp"))
    assert program.run(*query).returncode == 0


def rows_on_disk(program):
    path = program.folder / "out.json"
    return json.loads(path.read_text(encoding="utf-8")) if path.exists() else []


@pytest.mark.parametrize("ending", ["SIGINT", "SIGTERM", "SIGKILL"])
def test_an_interrupted_benchmark_keeps_its_rows(program, ending):
    process = subprocess.Popen(
        [BINARY, "bench", "--backend", BACKEND, "--structure", "sorted_array", "--keys",
         "2^10,2^11,2^12,2^24", "--probes", "2^10", "--repetitions", "101", "--json", "out.json"],
        cwd=program.folder, stdout=subprocess.DEVNULL,
    )
    deadline = time.monotonic() + 120
    while len(rows_on_disk(program)) < 3 and time.monotonic() < deadline:
        assert process.poll() is None
        time.sleep(0.001)
    process.send_signal(getattr(signal, ending))
    assert process.wait(timeout=60) == -getattr(signal, ending)
    rows = rows_on_disk(program)
    assert [row["n"] for row in rows] == [1 << 10, 1 << 11, 1 << 12]
    assert all(row["correct"] for row in rows)
    assert [path.name for path in program.folder.iterdir()] == ["out.json"]


# Limits.


def test_minima_that_become_too_large(program):
    column = program.file("K.npy", NUMBERS)
    ranges = program.file("R.npy", np.zeros((1000, 2), "<u4"))
    query = rmq_arguments(values=column, ranges=ranges, result="min", report="r.json")
    line = program.refuse(*query, **limit(resource.RLIMIT_FSIZE, 1024))
    assert line == "raydex: out.npy: cannot be written: File too large\n"


def test_benchmarks_that_become_too_large(program):
    def measure(keys, **settings):
        return program.run(
            "bench", "--backend", BACKEND, "--structure", "sorted_array", "--keys", keys,
            "--probes", "2^10", "--json", "out.json", **settings,
        )

    assert measure("2^10").returncode == 0
    size = (program.folder / "out.json").stat().st_size
    done = measure("2^10,2^11", **limit(resource.RLIMIT_FSIZE, size * 3 // 2))
    assert done.returncode == 1
    assert done.stderr == "raydex: out.json: cannot be written: File too large\n"
    assert [row["n"] for row in rows_on_disk(program)] == [1 << 10]
    assert len(list(program.folder.iterdir())) == 1


def test_standard_output_that_becomes_too_large(program):
    with open(program.folder / "list", "w", encoding="utf-8") as file:
        done = program.run("structures", stdout=file, **limit(resource.RLIMIT_FSIZE, 100))
    assert done.returncode == 1
    assert done.stderr == "raydex: standard output cannot be written\n"


# Outputs that are there already.


def query_into(program, out, **options):
    column = program.file("K.npy", NUMBERS)
    return program.run(
        *query_arguments(keys=column, points=column, result="first", out=out, **options)
    )


def is_answer(path):
    return (np.load(path) == NUMBERS).all()


def test_links_stay(program):
    (program.folder / "folder").mkdir()
    (program.folder / "folder" / "there.npy").write_text("before")
    links = {
        "link.npy": "folder/there.npy",
        "chain.npy": "link.npy",
        "dangling.npy": "folder/new.npy",
        "absolute.npy": str(program.folder / "folder" / "absolute.npy"),
    }
    for name, target in links.items():
        (program.folder / name).symlink_to(target)
        done = query_into(program, name, report="folder/report.json")
        assert done.returncode == 0, done.stderr
        assert os.readlink(program.folder / name) == target
        assert is_answer(program.folder / name)
    files = {"there.npy", "new.npy", "absolute.npy", "report.json"}
    assert {path.name for path in (program.folder / "folder").iterdir()} == files


def test_links_that_lead_nowhere(program):
    (program.folder / "loop.npy").symlink_to("loop.npy")
    (program.folder / "none.npy").symlink_to("none/there.npy")
    column = program.file("K.npy", NUMBERS)
    query = {"keys": column, "points": column, "result": "first"}
    assert "levels of symbolic links" in program.refuse_query(**query, out="loop.npy")
    assert "No such file" in program.refuse_query(**query, out="none.npy")


@pytest.mark.parametrize("mode", [0o600, 0o640, 0o606, 0o755, 0o200])
@pytest.mark.parametrize("result", ["first", "rows"])
def test_modes_stay(program, mode, result):
    column = program.file("K.npy", NUMBERS)
    out = "out.npz" if result == "rows" else "out.npy"
    for name in [out, "report.json"]:
        program.file(name, "before")
        (program.folder / name).chmod(mode)
    done = program.run(
        *query_arguments(keys=column, points=column, result=result, report="report.json", out=out)
    )
    assert done.returncode == 0, done.stderr
    for name in [out, "report.json"]:
        found = (program.folder / name).stat()
        assert stat.S_IMODE(found.st_mode) == mode
        assert found.st_size > len("before")


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files away")
def test_owners_stay(program):
    program.file("out.npy", "before")
    os.chown(program.folder / "out.npy", 12345, 23456)
    (program.folder / "out.npy").chmod(0o640)
    assert query_into(program, "out.npy").returncode == 0
    found = (program.folder / "out.npy").stat()
    assert (found.st_uid, found.st_gid) == (12345, 23456)
    assert stat.S_IMODE(found.st_mode) == 0o640
    assert is_answer(program.folder / "out.npy")


@pytest.mark.parametrize("mask", [0o022, 0o077, 0o002])
def test_new_files_have_the_usual_mode(program, mask):
    column = program.file("K.npy", NUMBERS)
    query = query_arguments(keys=column, points=column, result="first")
    assert program.run(*query, umask=mask).returncode == 0
    assert stat.S_IMODE((program.folder / "out.npy").stat().st_mode) == 0o666 & ~mask


@pytest.mark.parametrize("option", ["out", "report"])
def test_read_only_files_are_refused(program, option):
    column = program.file("K.npy", NUMBERS)
    program.file("precious", "precious")
    (program.folder / "precious").chmod(0o444)
    (program.folder / "link").symlink_to("precious")
    for name in ["precious", "link"]:
        line = program.refuse_query(
            keys=column, points=column, result="first", **{option: name}
        )
        assert line == f"raydex: {name}: cannot be written: it is read-only\n"
    assert (program.folder / "precious").read_text() == "precious"


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write it")
def test_files_that_others_may_write_are_refused(program):
    column = program.file("K.npy", NUMBERS)
    program.file("out.npy", "precious")
    (program.folder / "out.npy").chmod(0o022)
    line = program.refuse_query(keys=column, points=column, result="first")
    assert line == "raydex: out.npy: cannot be written: Permission denied\n"


@pytest.mark.parametrize("command", [long_query, long_rmq])
def test_no_report_without_its_answers(program, command):
    process = start(program, command(program, report="report.json"))
    (program.folder / "out.npy").mkdir()
    error = process.communicate(timeout=300)[1]
    assert process.returncode == 1
    assert error == "raydex: out.npy: cannot be written: Is a directory\n"
    assert not (program.folder / "report.json").exists()
    assert not list(program.folder.glob("*.tmp"))


def test_help_says_what_happens_to_outputs(program):
    for command in ["query", "rmq"]:
        assert "refused, even to root" in program.run(command, "--help").stdout


# Outputs that are inputs.


def file_options(program, command):
    """The options that name files that are read, from --help."""
    text = program.run(command, "--help").stdout
    found = re.findall(r"^  --([\w-]+) FILE", text, re.M)
    return [name for name in (one.replace("-", "_") for one in found) if name not in ("out", "report", "save_index")]


def names_of(program, path):
    """All names of a file in the folder, for which links are made."""
    os.link(program.folder / path, program.folder / "hard")
    (program.folder / "soft").symlink_to(path)
    (program.folder / "folder").symlink_to(".")
    return [path, f"./{path}", f"folder/{path}", str(program.folder / path), "hard", "soft"]


def refuse_inputs(program, refuse, options, outputs=("out", "report")):
    """Expects each input to be refused as each output, by each name."""
    contents = {}
    for option in options:
        path = program.file(f"{option}.npy", NUMBERS)
        contents[path] = (program.folder / path).read_bytes()
    for option in options:
        path = f"{option}.npy"
        for output, name in itertools.product(outputs, names_of(program, path)):
            line = refuse(**{output: name}, **{each: f"{each}.npy" for each in options})
            given, written = ("--" + each.replace("_", "-") for each in (option, output))
            assert line == f"raydex: {given} {path} and {written} {name} are the same file\n"
        for name in ["hard", "soft", "folder"]:
            (program.folder / name).unlink()
        assert (program.folder / path).read_bytes() == contents[path]


def test_no_input_of_a_query_is_an_output(program):
    options = file_options(program, "query")
    assert {"keys", "erase_rows"} < set(options)

    def refuse(**given):
        return program.refuse_query(structure="cgrx", result="sum", **given)

    asked = {"points", "ranges", "prefixes"}
    for one in asked:
        others = {*(asked - {one}), "index"}
        refuse_inputs(program, refuse, [name for name in options if name not in others],
                      ["out", "report", "save_index"])


def test_no_index_that_is_read_is_another_output(program):
    keys = program.file("K.npy", NUMBERS)
    assert program.run("query", "--keys", keys, "--save-index", "i.npy").returncode == 0
    content = (program.folder / "i.npy").read_bytes()
    for output, name in itertools.product(["out", "report"], names_of(program, "i.npy")):
        given = {"index": "i.npy", "points": keys, "result": "first", output: name}
        line = program.refuse_query(**{"structure": "auto", **given})
        assert line == f"raydex: --index i.npy and --{output} {name} are the same file\n"
        # Nor are two outputs one, if one of them takes the place of the index that is read.
        line = program.refuse_query(**{"structure": "auto", **given, "save_index": "i.npy"})
        assert line.startswith("raydex: --") and line.endswith(" are the same file\n")
    assert (program.folder / "i.npy").read_bytes() == content


def test_no_input_of_minima_is_an_output(program):
    def refuse(**given):
        return program.refuse_rmq(structure="rmq_scan", result="min", **given)

    options = [name for name in file_options(program, "rmq") if name != "index"]
    refuse_inputs(program, refuse, options, ["out", "report", "save_index"])


def test_no_table_is_an_output(program):
    table = "a,b\n1,2\n"
    program.file("t.csv", table)
    for name in names_of(program, "t.csv"):
        line = program.refuse_query(
            keys="t.csv:a", ranges="t.csv:a,b:i8", result="count", out=name
        )
        assert line == f"raydex: --keys t.csv:a and --out {name} are the same file\n"
    assert (program.folder / "t.csv").read_text() == table


def test_no_array_of_a_benchmark_is_its_output(program):
    path = program.file("a.npy", NUMBERS)
    for name in names_of(program, path):
        line = program.refuse(
            "bench", "--backend", BACKEND, "--structure", "rmq_scan", "--probes", "2^10",
            "--array-file", path, "--json", name,
        )
        assert line == f"raydex: --array-file {path} and --json {name} are the same file\n"
    assert (np.load(program.folder / path) == NUMBERS).all()


def test_outputs_are_two_files(program):
    column = program.file("K.npy", NUMBERS)
    query = {"keys": column, "points": column, "result": "first", "out": "x.npy"}
    (program.folder / "soft").symlink_to("x.npy")
    (program.folder / "folder").symlink_to(".")
    for name in ["x.npy", "./x.npy", "folder/x.npy", str(program.folder / "x.npy"), "soft"]:
        line = program.refuse_query(**query, report=name)
        assert line == f"raydex: --out x.npy and --report {name} are the same file\n"
    program.file("x.npy", "before")
    os.link(program.folder / "x.npy", program.folder / "hard")
    assert "same file" in program.refuse_query(**query, report="hard")


# Answers as CSV, and to where there is no file.


TABLE = "key,weight\n5,1.5\n3,2.5\n5,\n"


def csv_query(program, result, out, **options):
    """The words of a query of a small table."""
    program.file("t.csv", TABLE)
    program.file("p.csv", "point\n5\n4\n3\n")
    return query_arguments(keys="t.csv:key", points="p.csv:point", result=result, out=out, **options)


@pytest.mark.parametrize(
    ("result", "text"),
    [
        ("first", "first\n0\n\n1\n"),
        ("count", "count\n2\n0\n1\n"),
        ("rows", "probe,row\n0,0\n0,2\n2,1\n"),
    ],
)
def test_answers_as_csv(program, result, text):
    words = csv_query(program, result, "-")
    done = program.run(*words)
    assert (done.returncode, done.stderr, done.stdout) == (0, "", text)
    assert program.run(*csv_query(program, result, "o.csv")).returncode == 0
    assert (program.folder / "o.csv").read_text() == text
    # What was written is an input.
    if result != "rows":
        name = f"o.csv:{result}:i8"
        words = query_arguments(keys="t.csv:key", points=name, result="count", out="-")
        assert program.run(*words).returncode == 0


def test_sums_of_floats_as_csv(program):
    done = program.run(*csv_query(program, "sum", "-", values="t.csv:weight"))
    assert done.stdout == "sum\n1.5\n0\n2.5\n"


def test_minima_as_csv(program):
    program.file("r.csv", "from,to\n0,2\n1,0\n2,2\n")
    program.file("v.csv", "v,n\n0.5,3\n0.25,2147483647\n8,2147483647\n")
    for column, result, text in [
        ("v", "min", "min\n0.25\n\n8\n"), ("v", "argmin", "argmin\n1\n\n2\n"), ("v", "max", "max\n8\n\n8\n"),
        ("n:i4", "min", "min\n3\n\n2147483647\n"), ("n:i4", "max", "max\n2147483647\n\n2147483647\n"),
    ]:
        words = rmq_arguments(values=f"v.csv:{column}", ranges="r.csv:from,to", result=result, out="-")
        done = program.run(*words)
        assert (done.returncode, done.stderr, done.stdout) == (0, "", text)


def test_answers_to_streams(program):
    done = program.run(*csv_query(program, "count", "/dev/stdout"), text=False)
    assert (np.load(io.BytesIO(done.stdout)) == [2, 0, 1]).all()
    assert program.run(*csv_query(program, "count", "/dev/null")).returncode == 0
    done = program.run(*csv_query(program, "rows", "/dev/stdout"), text=False)
    archive = zipfile.ZipFile(io.BytesIO(done.stdout))
    assert archive.namelist() == ["offsets.npy", "rows.npy"] and archive.testzip() is None
    assert (np.load(io.BytesIO(done.stdout))["offsets"] == [0, 2, 2, 3]).all()
    line = program.refuse(*csv_query(program, "count", "/dev/full"))
    assert line == "raydex: /dev/full: cannot be written: No space left on device\n"
    with open("/dev/full", "w", encoding="utf-8") as full:
        done = program.run(*csv_query(program, "count", "-"), stdout=full)
    assert done.returncode == 1
    assert done.stderr == "raydex: standard output: cannot be written: No space left on device\n"
    line = program.refuse(*csv_query(program, "count", "-", report="-"))
    assert "are the same file" in line
