# SPDX-License-Identifier: Apache-2.0
"""NumPy's own tests of `searchsorted` and `isin`, of the NumPy that is installed, with raydex's in their place.

They call functions of the module and methods of arrays, which cannot be replaced: what names one of the two is
rewritten when the tests are loaded."""

import ast
import functools
import importlib.util
import pathlib
import types

import numpy as np
import pytest
import raydex
import raydex._searching

OURS = {"searchsorted": raydex.searchsorted, "isin": raydex.isin}


class Rewritten(ast.NodeTransformer):
    """`np.isin` and `isin` as `ours["isin"]`, `a.searchsorted` as `bound(ours["searchsorted"], a)`."""

    def ours(self, name):
        return ast.Subscript(ast.Name("ours", ast.Load()), ast.Constant(name), ast.Load())

    def visit_Attribute(self, node):
        self.generic_visit(node)
        if node.attr not in OURS:
            return node
        if isinstance(node.value, ast.Name) and node.value.id == "np":
            return self.ours(node.attr)
        return ast.Call(ast.Name("bound", ast.Load()), [self.ours(node.attr), node.value], [])

    def visit_Name(self, node):
        return self.ours(node.id) if node.id in OURS and isinstance(node.ctx, ast.Load) else node


def rewritten(name):
    spec = importlib.util.find_spec(name)
    if spec is None or spec.origin is None:
        pytest.skip(f"an installation of NumPy without {name}", allow_module_level=True)
    tree = Rewritten().visit(ast.parse(pathlib.Path(spec.origin).read_text(encoding="utf-8")))
    module = types.ModuleType(name)
    module.__file__ = spec.origin
    module.__dict__.update(ours=OURS, bound=functools.partial)
    exec(compile(ast.fix_missing_locations(tree), spec.origin, "exec"), module.__dict__)
    return module


def tests_of(module, about):
    """The classes of a module, with the tests alone whose names have `about` in them."""
    for name, kind in vars(module).items():
        if isinstance(kind, type) and name.startswith("Test"):
            tests = {test: value for test, value in vars(kind).items() if about in test}
            if tests:
                yield f"{name}_{module.__name__.rpartition('.')[2]}", type(name, (), tests)


for file, about in (("numpy.lib.tests.test_arraysetops", "isin"), ("numpy._core.tests.test_multiarray", "searchsorted"),
                    ("numpy._core.tests.test_regression", "searchsorted"),
                    ("numpy._core.tests.test_numeric", "searchsorted")):
    globals().update(tests_of(rewritten(file), about))


@pytest.fixture(autouse=True)
def always_an_index(monkeypatch):
    """NumPy's own search, which answers small calls, would be tested with itself."""
    monkeypatch.setattr(raydex._searching, "_least_cells", 0)
    monkeypatch.setattr(raydex._searching, "_rows_a_probe", 1 << 60)
