# SPDX-License-Identifier: Apache-2.0
"""Annotations, the extension's stub, and the examples of docstrings."""

import doctest
import importlib
import inspect
import pathlib
import pkgutil
import re
import subprocess
import sys
import types
import typing
from importlib.util import find_spec

import pytest
import raydex
import raydex.typing

TYPED = pathlib.Path(__file__).parent / "typed"
PACKAGE = pathlib.Path(raydex.__file__).parent


def run(*command, folder=None):
    done = subprocess.run([sys.executable, "-m", *map(str, command)], capture_output=True, text=True, cwd=folder)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def cache(tmp_path_factory):
    """What mypy knows of libraries, which takes it most of its time."""
    return str(tmp_path_factory.mktemp("mypy"))


def test_the_package(tmp_path, cache):
    pytest.importorskip("mypy")
    assert (PACKAGE / "py.typed").exists()
    run("mypy", "--strict", "--cache-dir", cache, "-p", "raydex", folder=tmp_path)


def test_what_users_write(tmp_path, cache):
    """A program without faults passes, and runs; of one with a fault in each line each is found."""
    for library in ("duckdb", "mypy", "pandas", "polars", "pyarrow", "torch"):
        pytest.importorskip(library)
    accepted, refused = TYPED / "accepted.py", TYPED / "refused.py"
    subprocess.run([sys.executable, accepted], check=True)
    command = [sys.executable, "-m", "mypy", "--strict", "--cache-dir", cache, accepted, refused]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path)
    assert "accepted.py" not in done.stdout, done.stdout
    found = {int(line.split(":")[1]) for line in done.stdout.splitlines() if ": error: " in line}
    lines = refused.read_text().splitlines()
    assert sorted(found) == [number for number, line in enumerate(lines, 1) if line.startswith("raydex.")], done.stdout


def test_words_and_options_are_those_of_the_library():
    """Each structure, and each option with its words, has a type; and no other."""
    structures = raydex.structures()
    assert set(typing.get_args(raydex.typing.StructureName)) == {"auto", *(one.name for one in structures)}
    for options, is_of_minima, others in (
        (raydex.typing.KeyOptions, False, set()),
        (raydex.typing.MinimaOptions, True, {"extreme"}),  # which is `extremes` of `raydex.rmq`
    ):
        words: dict[str, set[str]] = {}
        for one in structures:
            for option in one.options if one.minima == is_of_minima else ():
                words.setdefault(option.name, set()).update(option.values.split("|"))
        hints = typing.get_type_hints(options)
        assert set(hints) == set(words) - others
        for name, hint in hints.items():
            literals = set()
            for part in (hint, *typing.get_args(hint)):
                literals.update(typing.get_args(part) if typing.get_origin(part) is typing.Literal else ())
            if hint is not str:
                numbers = {word for word in words[name] if word[0].isdigit() and word != "3d"}
                assert literals == words[name] - numbers, name
                assert bool(numbers) == (int in (hint, *typing.get_args(hint))), name


def test_the_stub_is_what_the_extension_has(tmp_path):
    pytest.importorskip("nanobind")
    run("nanobind.stubgen", "-q", "-m", "raydex._raydex", "-o", tmp_path / "stub.pyi")
    head = "# SPDX-License-Identifier: Apache-2.0\n# Written by `python -m nanobind.stubgen -m raydex._raydex`.\n"
    assert (PACKAGE / "_raydex.pyi").read_text() == head + (tmp_path / "stub.pyi").read_text()


def test_examples():
    """Of all modules but those for Dask, whose examples need a cluster, and those for libraries that are not there."""
    names = [one.name for one in pkgutil.walk_packages([str(PACKAGE)], "raydex.")]
    doors = [one for one in ("duckdb", "jax", "polars", "torch") if not find_spec(one)]
    absent = "|".join(rf"raydex\.{one}$" for one in doors) or "$^"
    names = [name for name in names if not re.search(rf"dask|__main__|\._raydex$|{absent}", name)]
    modules = [importlib.import_module(name) for name in names]
    examples = [doctest.testmod(one) for one in (raydex, *modules)]
    assert sum(one.failed for one in examples) == 0
    assert sum(one.attempted for one in examples) > 20


def public_docstrings():
    optional = {"dask": "distributed", "duckdb": "duckdb", "jax": "jax", "polars": "polars", "torch": "torch"}
    there = [f"raydex.{module}" for module, needed in optional.items() if find_spec(needed)]
    for module in ("raydex", "raydex.genomics", "raydex.sharded", *there):
        for name, value in vars(importlib.import_module(module)).items():
            if not name.startswith("_") and getattr(value, "__module__", "").startswith("raydex"):
                members = vars(value).items() if inspect.isclass(value) else ()
                for member, one in [(name, value), *((f"{name}.{each}", one) for each, one in members)]:
                    if isinstance(one, (type, types.FunctionType)) and one.__doc__ and "._" not in member:
                        yield f"{module}.{member}", inspect.cleandoc(one.__doc__)


def test_sections_of_docstrings():
    """Each has its heading, and each entry of what goes in, comes back or is raised its description: text that follows
    the entries would be shown as another one."""
    found = [(name, text) for name, text in public_docstrings() if "\n----" in text]
    assert len(found) > 25
    for name, text in found:
        assert not re.search(r"\bCost: |\bRaises [`a-z]", text), name
        _, *sections = re.split(r"^(\w+)\n-{4,}\n", text, flags=re.MULTILINE)
        for title, body in zip(sections[::2], sections[1::2]):
            assert title in ("Parameters", "Returns", "Raises", "Cost", "Notes"), f"{name}: {title}"
            if title in ("Parameters", "Returns", "Raises"):
                lines = [*body.rstrip().splitlines(), ""]
                entries = [at for at, line in enumerate(lines) if line and not line.startswith(" ")]
                assert all(lines[at + 1].startswith("    ") for at in entries), f"{name}: {title}"


def test_everything_public_is_documented():
    for name in raydex.__all__:
        public = getattr(raydex, name)
        if name == "not_found":
            continue
        assert public.__doc__, name
        if isinstance(public, type):
            for method, value in vars(public).items():
                assert method.startswith("_") or not callable(value) or value.__doc__, f"{name}.{method}"
