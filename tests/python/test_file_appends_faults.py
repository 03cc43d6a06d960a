# SPDX-License-Identifier: Apache-2.0
"""Files with runs when something goes wrong: other files in their place, damage, processes that end, full disks, and
others who append, merge and read."""

import contextlib
import errno
import json
import multiprocessing
import os
import resource
import shutil
import signal
import struct
import warnings

import numpy as np
import pytest
import raydex
from growing_files import content, runs_in, with_runs
from raydex import _appending, _runs

# Other files in the place of one with runs


def test_a_file_in_the_place_of_one_with_runs(path, own_runs):
    before = with_runs(path)
    other = path.with_name("other")
    raydex.build([7]).save(other)
    shutil.copy(path, path.with_name("kept"))
    os.replace(other, path)
    for call in (lambda: raydex.load(path), lambda: raydex.append_file(path, [1]), lambda: raydex.merge_file(path),
                 lambda: raydex.build([8]).save(path), lambda: raydex.rmq([8]).save(path),
                 lambda: raydex.build_file([[8]], path)):  # fmt: skip
        with pytest.raises(raydex.InvalidArgument, match="an.index.run-1: facts: .*another file.*put that one back"):
            call()
    os.replace(path.with_name("kept"), path)
    assert content(path) == before
    raydex.append_file(path, [7])
    assert content(path)[7] == [5]


OTHERS = {
    "minima": lambda: raydex.rmq([4, 3]),
    "aggregate": lambda: raydex.aggregate(raydex.build([4]), [3]),
    "asof": lambda: raydex.AsofIndex([4, 3]),
}


@pytest.mark.parametrize("kind", ["index", "built", "file", *OTHERS])
def test_a_save_takes_the_place_of_runs(kind, path, own_runs):
    before = with_runs(path)
    if kind == "index":
        with raydex.load(path) as index:
            index.save(path)
            index.append([7])
            index.save(path)
        before[7] = [5]
    elif kind in OTHERS:
        OTHERS[kind]().save(path)
    else:
        raydex.build([4]).save(path) if kind == "built" else raydex.build_file([[4]], path).close()
        before = [[0] if i == 4 else [] for i in range(100)]
    assert os.listdir(path.parent) == ["an.index"]
    if kind in OTHERS:
        assert type(raydex.load(path)) is type(OTHERS[kind]())
    else:
        assert content(path) == before
        end = sum(map(len, before))
        assert raydex.append_file(path, [9], share=None) == range(end, end + 1)


@pytest.mark.parametrize("merges", [False, True])
def test_rows_that_others_append_are_not_lost(merges, path, own_runs):
    with_runs(path)
    with raydex.load(path) as index, index.snapshot() as twin:
        raydex.append_file(path, [8], share=0 if merges else None)
        for one in (index, twin):
            with pytest.raises(raydex.InvalidArgument, match="an.index: rows were appended to it since"):
                one.save(path)
        index.save(path.with_name("other"))
        index.save(path.with_name("other"))
    assert content(path)[8] == [5]
    with raydex.load(path) as index:
        index.save(path)
    assert content(path)[8] == [5] and content(path.with_name("other"))[8] == []


def test_two_that_loaded_a_file_save_it(path):
    """As ever, the last one wins, if nobody appends to the file."""
    with_runs(path)
    with raydex.load(path) as one, raydex.load(path) as other:
        one.append([8])
        one.save(path)
        other.append([9])
        other.save(path)
    assert content(path)[8] == [] and content(path)[9] == [5]


def test_runs_that_were_merged_are_left(path, own_runs):
    """As by a process that ended before it removed them."""
    before = with_runs(path)
    kept = {name: (path.parent / name).read_bytes() for name in runs_in(path.parent)}
    raydex.merge_file(path)

    def leave(*names):
        for name in names:
            (path.parent / name).write_bytes(kept[name])

    for names in (kept, list(kept)[:1], list(kept)[1:]):
        leave(*names)
        assert content(path) == before
        assert raydex.append_file(path, [7], share=None).start == 5 and runs_in(path.parent) == ["an.index.run-1"]
        os.remove(path.parent / "an.index.run-1")
        leave(*names)
        raydex.merge_file(path)
        assert runs_in(path.parent) == [] and content(path) == before
    leave(*kept)
    with raydex.load(path) as index:
        index.save(path)
    assert runs_in(path.parent) == [] and content(path) == before
    leave(*kept)  # too late: the file is another one, and does not say that it has them
    with pytest.raises(raydex.InvalidArgument, match="another file"):
        raydex.load(path)


# What is damaged


def test_a_bit_that_flips_and_a_run_that_is_cut(path):
    raydex.build((["a", "b"], [5, 3])).save(path)
    raydex.append_file(path, (["a", "somebody else", None], [5, 4, None]), share=None)
    run = path.with_name("an.index.run-1")
    whole = run.read_bytes()
    damaged = [whole[:i] + bytes([whole[i] ^ 1 << i % 8]) + whole[i + 1 :] for i in range(len(whole))]
    damaged += [whole[:i] for i in range(len(whole))] + [whole + b"x", whole + bytes(8)]
    base = _runs.base_of(os.fsencode(path))
    for number, one in enumerate(damaged):
        run.write_bytes(one)
        with pytest.raises(raydex.InvalidArgument, match="an.index.run-1: (header|facts|cells): "):
            _runs.runs_of(os.fsencode(path), base, _runs.Said(), True)
        if number % 50 == 0:
            with pytest.raises(raydex.InvalidArgument, match="an.index.run-1: (header|facts|cells): "):
                raydex.load(path, verify=False)
    run.write_bytes(whole)
    with raydex.load(path) as index:
        assert index.first((["somebody else"], [4])).tolist() == [3]


def rewritten(run, change):
    """A run with other facts, and the checksum of these."""
    whole = run.read_bytes()
    count = struct.unpack_from("<I", whole, 12)[0]
    facts = json.loads(whole[32 : 32 + count])
    change(facts)
    text = json.dumps(facts).encode()
    text += b" " * (-len(text) % 8)
    head = _runs._HEAD.pack(_runs._MAGIC, 1, len(text), _runs._sum_of_facts(text))
    run.write_bytes(head + text + whole[32 + count :])


@pytest.mark.parametrize("change", [
    lambda facts: facts.clear(),
    lambda facts: facts.update(first_row=3),
    lambda facts: facts.update(first_row=-1),
    lambda facts: facts.update(first_row=0.5),
    lambda facts: facts.update(rows=2),
    lambda facts: facts.update(rows=2**62),
    lambda facts: facts.update(rows=0),
    lambda facts: facts.update(base=""),
    lambda facts: facts.update(base=None),
    lambda facts: facts.update(columns=[]),
    lambda facts: facts.update(columns=[5]),
    lambda facts: facts.update(columns=facts["columns"] * 2),
    lambda facts: facts.update(bytes=0),
    lambda facts: facts.update(sum="x"),
    lambda facts: facts["columns"][0].clear(),
    lambda facts: facts["columns"][0].update(key={}),
    lambda facts: facts["columns"][0].update(key=5),
    lambda facts: facts["columns"][0].update(letters=2),
    lambda facts: facts["columns"][0].update(letters=-1),
    lambda facts: facts["columns"][0].update(letters="x"),
    lambda facts: facts["columns"][0].update(letters=None),
    lambda facts: facts["columns"][0].update(missing=False),
    lambda facts: facts["columns"][0]["key"].update(unit="uuid"),
    lambda facts: facts["columns"][0]["key"].update(dtype="<i8"),
])  # fmt: skip
def test_facts_of_no_run(change, path):
    raydex.build(["a"]).save(path)
    raydex.append_file(path, ["somebody else", None, "b"], share=None)
    rewritten(path.with_name("an.index.run-1"), change)
    with pytest.raises(raydex.InvalidArgument, match="an.index.run-1: (facts|cells): "):
        raydex.load(path)


def test_runs_that_are_none(path, own_runs):
    with_runs(path)
    first, second = path.with_name("an.index.run-1"), path.with_name("an.index.run-2")
    os.rename(first, path.with_name("kept"))
    with pytest.raises(raydex.InvalidArgument, match="an.index.run-1: it is missing, and .*run-2 is there"):
        raydex.append_file(path, [1])
    shutil.copy(second, first)
    with pytest.raises(raydex.InvalidArgument, match="run-2: facts: it does not follow .*run-1"):
        raydex.load(path)
    os.remove(second)
    with pytest.raises(raydex.InvalidArgument, match="run-1: facts: its rows begin at 3, but .* end before 2"):
        raydex.load(path)
    os.remove(first)
    os.symlink("nowhere", first)
    with pytest.raises(raydex.InvalidArgument, match="run-1: it cannot be read: "):
        raydex.load(path)
    os.remove(first)
    first.mkdir()
    with pytest.raises(raydex.InvalidArgument, match="run-1: it cannot be read: Is a directory"):
        raydex.load(path)
    first.rmdir()
    os.mkfifo(first)
    with pytest.raises(raydex.InvalidArgument, match="run-1: header: the file is too short"):
        raydex.load(path)


def test_a_folder_that_may_not_be_read(path, monkeypatch):
    with_runs(path)

    def refused(*_):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))

    monkeypatch.setattr(os, "listdir", refused)
    for call in (raydex.load, raydex.merge_file):
        with pytest.raises(raydex.InvalidArgument, match="an.index: the folder with its runs cannot be read"):
            call(path)


def test_runs_beside_minima(path):
    raydex.rmq([1, 2]).save(path)
    cells = _runs.Cells(raydex._keys.Key(np.dtype("i8")), np.arange(3), None, None)
    _runs.write_run(os.fsencode(path), 1, _runs.base_of(os.fsencode(path)), 2, [cells])
    with pytest.raises(raydex.InvalidArgument, match="run-1: it is beside a file that takes no rows"):
        raydex.load(path)


# The end of a process, and a full disk

STEPS = ("open", "write", "fsync", "rename", "unlink", "close")


def killed_at(step, call):
    """Calls in a process that is killed at a step of its own: whether it came to its end before."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # of threads, which nobody waits for here
        child = os.fork()
    if child == 0:
        left = step

        def counted(name):
            own = getattr(os, name)

            def counts(*arguments, **named):
                nonlocal left
                left -= 1
                if left < 0:
                    if name == "write":
                        own(arguments[0], arguments[1][: len(arguments[1]) // 2])
                    os.kill(os.getpid(), signal.SIGKILL)
                return own(*arguments, **named)

            return counts

        for name in STEPS:
            setattr(os, name, counted(name))
        try:
            call()
        finally:
            os._exit(0)
    _, status = os.waitpid(child, 0)
    return os.WIFEXITED(status)


def at_each_step(path, call):
    """What a file with runs has after its process was killed at each step of a call."""
    files = {name: (path.parent / name).read_bytes() for name in os.listdir(path.parent)}
    step, ended = 0, False
    while not ended:
        for name in os.listdir(path.parent):
            os.remove(path.parent / name)
        for name, whole in files.items():
            (path.parent / name).write_bytes(whole)
        ended = killed_at(step, call)
        step += 1
        yield content(path, verify=False)
    assert step > 5


@pytest.mark.parametrize("share", [None, 0])
@pytest.mark.parametrize("small", [0, 1 << 20])
def test_a_process_that_is_killed_while_it_appends(share, small, path, monkeypatch):
    monkeypatch.setattr(_appending, "_SMALL", small)
    before = with_runs(path)
    after = [[*rows, *([5, 6] if key == 7 else [])] for key, rows in enumerate(before)]
    seen = []
    for found in at_each_step(path, lambda: raydex.append_file(path, [7, 7], share=share)):
        assert found in (before, after)
        seen.append(found == after)
        first = raydex.append_file(path, [8], share=None).start
        assert first == (7 if found == after else 5)
        assert content(path) == [[*rows, *([first] if key == 8 else [])] for key, rows in enumerate(found)]
        assert "an.index.run-new" not in os.listdir(path.parent)
    assert seen == sorted(seen) and seen[-1] and not seen[0]


def test_a_process_that_is_killed_while_it_merges(path, own_runs):
    expected = with_runs(path)
    for found in at_each_step(path, lambda: raydex.merge_file(path)):
        assert found == expected
        assert raydex.append_file(path, [8], share=0) == range(5, 6)
        assert os.listdir(path.parent) == ["an.index"] and content(path)[8] == [5]


def test_a_run_is_on_the_disk_before_it_has_its_name(path, monkeypatch):
    """And the name before the rows are said to be there: what a loss of power needs, which no test makes."""
    raydex.build([5]).save(path)
    calls = []

    def noted(name):
        call = getattr(os, name)

        def instead(*arguments):
            file = arguments[0]
            is_folder = isinstance(file, int) and os.path.isdir(f"/proc/self/fd/{file}")
            calls.append(f"{name} of the folder" if is_folder else name)
            return call(*arguments)

        return instead

    for name in ("write", "fsync", "rename"):
        monkeypatch.setattr(os, name, noted(name))
    raydex.append_file(path, [3], share=None)
    monkeypatch.undo()
    assert calls.count("write") >= 3
    assert [one for one in calls if one != "write"] == ["fsync", "rename", "fsync of the folder"]
    assert calls[-4] == "write"


@contextlib.contextmanager
def full_disk(size):
    """No file grows beyond that. Python has ignored the signal from its start."""
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, limits[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)


@pytest.mark.parametrize("share", [None, 0])
@pytest.mark.parametrize("ends", [False, True])
def test_a_full_disk(share, ends, path, own_runs):
    """Or a process that a write ends, at some of its bytes."""
    before = with_runs(path)
    files = sorted(os.listdir(path.parent))
    for size in range(0, 700 if share is None else 2000, 100):
        if ends:
            child = os.fork()
            if child == 0:
                signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
                resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
                with full_disk(size):
                    with contextlib.suppress(raydex.Error):
                        raydex.append_file(path, [7], share=share)
                os._exit(0)
            _, status = os.waitpid(child, 0)
            is_full = os.WIFSIGNALED(status)
        else:
            with full_disk(size):
                try:
                    raydex.append_file(path, [7], share=share)
                    is_full = False
                except raydex.Error as problem:
                    assert "an.index" in str(problem) and "write: File too large" in str(problem)
                    is_full = True
        if not is_full:
            break
        assert content(path) == before
        assert ends or sorted(os.listdir(path.parent)) == files
    assert size > 100 and content(path)[7] == [5]


def test_a_full_disk_at_a_merge(path, own_runs):
    before = with_runs(path)
    with full_disk(100), pytest.raises(raydex.Error, match="an.index: write: File too large"):
        raydex.merge_file(path)
    assert content(path) == before and len(runs_in(path.parent)) == 2


# Several at a time


def append_some(path, own, begin):
    begin.wait(20)
    for number in range(12):
        size = 1 + (own + number) % 3
        rows = raydex.append_file(path, np.full(size, own * 12 + number), share=0.5)
        assert len(rows) == size


def test_processes_that_append_at_a_time(path):
    raydex.build(np.full(8, 99)).save(path)
    fork = multiprocessing.get_context("fork")
    begin = fork.Event()
    children = [fork.Process(target=append_some, args=(path, own, begin)) for own in range(3)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        for child in children:
            child.start()
    begin.set()
    expected = {own * 12 + number: 1 + (own + number) % 3 for own in range(3) for number in range(12)}
    counts = [0] * 36
    while any(child.is_alive() for child in children):
        rows = content(path, verify=False)
        found = [len(rows[key]) for key in range(36)]
        # Batches are there whole, none that was there is gone, and the rows are all those behind the first ones.
        assert all(size in (0, expected[key]) and size >= counts[key] for key, size in enumerate(found))
        assert sorted(row for some in rows for row in some) == list(range(8 + sum(found)))
        counts = found
    for child in children:
        child.join()
        assert child.exitcode == 0
    rows = content(path)
    assert [len(rows[key]) for key in range(36)] == [expected[key] for key in range(36)]
    assert sorted(row for some in rows for row in some) == list(range(8 + sum(expected.values())))
    for some in rows:
        assert some == list(range(some[0], some[0] + len(some))) if some else True


def test_a_reader_that_meets_a_merge(path, own_runs, monkeypatch):
    """Between its read of the file and that of the runs."""
    expected = with_runs(path)
    own = raydex._loading.runs_of
    calls = []

    def slow(*arguments):
        if not calls:
            calls.append(arguments)
            raydex.merge_file(path)
        return own(*arguments)

    monkeypatch.setattr(raydex._loading, "runs_of", slow)
    assert content(path) == expected and calls and runs_in(path.parent) == []
