# SPDX-License-Identifier: Apache-2.0
"""Modules of the package import each other one way, also within functions and for types alone; and one of them decides
which arrays take the fast path."""

import ast
import graphlib
import pathlib

import raydex

PACKAGE = pathlib.Path(raydex.__file__).parent


def modules():
    """The files of the package by the names of their modules."""
    found = {}
    for path in (*PACKAGE.rglob("*.py"), *PACKAGE.rglob("*.pyi")):  # the latter of the extension
        parts = [PACKAGE.name, *path.relative_to(PACKAGE).with_suffix("").parts]
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


def imported(path):
    """Every name that a file imports, wherever it does, of modules and what they define alike."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: a relative import"
            for alias in node.names:
                yield f"{node.module}.{alias.name}"
        elif isinstance(node, ast.Call) and ast.unparse(node.func).endswith("import_module"):
            yield from (word.value for word in node.args[:1] if isinstance(word, ast.Constant))


def test_no_module_imports_itself_by_way_of_others():
    files = modules()
    assert {"raydex", "raydex._index", "raydex.sharded._index", "raydex.dask._index"} <= files.keys()
    imports = {
        module: {name if name in files else name.rpartition(".")[0] for name in imported(path)} & files.keys()
        for module, path in files.items()
    }
    assert "raydex.dask._calls" in imports["raydex.dask._graphs"]  # which is imported within a function
    graphlib.TopologicalSorter(imports).prepare()  # raises CycleError, which names the modules


def test_one_module_decides_between_the_fast_path_and_any():
    calls = {
        (node.func.attr, module) for module, path in modules().items() for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)
    }
    assert {module for name, module in calls if name == "plain"} == {"raydex._plain"}


def test_modules_that_are_named():
    assert raydex.genomics.overlap and raydex.sharded.join
    assert not hasattr(raydex, "genomic")
