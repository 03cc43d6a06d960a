# SPDX-License-Identifier: Apache-2.0
"""What all tests of the program share: running it, files for it, random numbers."""

import collections
import os
import pathlib
import random
import resource
import secrets
import subprocess

import numpy as np
import pytest

BINARY = os.environ["RAYDEX_BINARY"]
BACKEND = os.environ.get("RAYDEX_TEST_BACKEND", "cpu")
STRUCTURE = os.environ.get("RAYDEX_TEST_STRUCTURE", "auto")
RMQ_STRUCTURE = os.environ.get("RAYDEX_TEST_RMQ_STRUCTURE", "auto")
SEED = int(os.environ.get("RAYDEX_TEST_SEED", secrets.randbits(32)))
DRAW = random.Random(SEED)


def drawn(cases):
    """What a run draws of many cases: the share RAYDEX_TEST_SHARE, three of few, and three at small scale."""
    share = int(os.environ.get("RAYDEX_TEST_SHARE", "1/1").removeprefix("1/"))
    small = os.environ.get("RAYDEX_TEST_SCALE") == "small"
    if share == 1 and not small:
        return cases
    return DRAW.sample(cases, min(len(cases), 3 if small else max(3, len(cases) // share)))


def pytest_collection_modifyitems(items):
    """Of the cases of a test some are drawn."""
    tests = collections.defaultdict(list)
    for item in items:
        tests[item.function].append(item)
    items[:] = [case for cases in tests.values() for case in drawn(cases)]


def limit(kind, size):
    """For a child process: a limit."""
    return {"preexec_fn": lambda: resource.setrlimit(kind, (size, size))}


class Program:
    """The program, run in a folder of its own."""

    def __init__(self, folder: pathlib.Path):
        self.folder = folder

    def file(self, name, content):
        """Writes an array, a text or bytes; returns the file's name."""
        path = self.folder / name
        if isinstance(content, np.ndarray):
            np.save(path, content)
        elif isinstance(content, str):
            path.write_text(content, encoding="utf-8")
        else:
            path.write_bytes(content)
        return name

    def run(self, *arguments, **settings):
        """Runs it with these arguments."""
        settings.setdefault("stdout", subprocess.PIPE)
        settings.setdefault("stderr", subprocess.PIPE)
        settings.setdefault("text", True)
        settings.setdefault("timeout", 300)
        return subprocess.run([BINARY, *arguments], cwd=self.folder, check=False, **settings)

    def load(self, out, *arguments):
        """Runs it; returns what it wrote into the file `out`."""
        done = self.run(*arguments)
        assert done.returncode == 0, done.stderr
        assert done.stderr == ""
        return np.load(self.folder / out)

    def query(self, **options):
        """Runs `raydex query`; `row_ids="I.npy"` is --row-ids I.npy. Returns the answer."""
        rows = options["result"] == "rows"
        out = "out.npz" if rows else "out.npy"
        answer = self.load(out, *query_arguments(out=out, **options))
        return (answer["offsets"], answer["rows"]) if rows else answer

    def rmq(self, *flags, **options):
        """The same for `raydex rmq`."""
        return self.load("out.npy", *rmq_arguments(**options), *flags)

    def join(self, *flags, **options):
        """The same for `raydex join`."""
        return self.load("out.npy", *join_arguments(**options), *flags)

    def refuse(self, *arguments, **settings):
        """Runs it; expects one line on stderr, a failure, and no file that was not there."""
        before = sorted(self.folder.iterdir())
        done = self.run(*arguments, **settings)
        assert done.returncode in (1, 2), (done.returncode, done.stderr)
        assert done.stderr.startswith("raydex: "), done.stderr
        assert done.stderr.count("\n") == 1 and done.stderr.endswith("\n"), done.stderr
        assert done.stdout == ""
        assert sorted(self.folder.iterdir()) == before
        return done.stderr

    def refuse_query(self, **options):
        """The same for `raydex query`."""
        return self.refuse(*query_arguments(**options))

    def refuse_rmq(self, *flags, **options):
        """The same for `raydex rmq`."""
        return self.refuse(*rmq_arguments(**options), *flags)

    def refuse_join(self, *flags, **options):
        """The same for `raydex join`."""
        return self.refuse(*join_arguments(**options), *flags)


def arguments(command, options):
    """`row_ids="I.npy"` becomes --row-ids I.npy."""
    words = [command]
    for name, value in {"backend": BACKEND, "out": "out.npy", **options}.items():
        words += ["--" + name.replace("_", "-"), value]
    return words


def query_arguments(**options):
    """The command line of `raydex query`."""
    return arguments("query", {"structure": STRUCTURE, **options})


def rmq_arguments(**options):
    """The command line of `raydex rmq`."""
    return arguments("rmq", {"structure": RMQ_STRUCTURE, **options})


def join_arguments(**options):
    """The command line of `raydex join`."""
    return arguments("join", options)


@pytest.fixture
def program(tmp_path):
    """The program in an empty folder."""
    return Program(tmp_path)


@pytest.fixture
def rng(request):
    """Random numbers, new ones in every run; a failure shows the seed to set."""
    print(f"RAYDEX_TEST_SEED={SEED}")
    return np.random.default_rng([SEED, *request.node.name.encode()])
