# SPDX-License-Identifier: Apache-2.0
"""NumPy's own tests of `searchsorted` and `isin`, of the NumPy that is installed, with raydex's in their place.

They call functions of the module and methods of arrays, which cannot be replaced: what names one of the two is
rewritten when the tests are loaded. In other libraries than NumPy they are called with columns of it."""

import ast
import functools
import importlib.util
import pathlib
import types
import warnings

import numpy as np
import pytest
import raydex
import raydex._searching
from array_libraries import NUMBERS

pytest.importorskip("numpy._core")  # of NumPy 2

OURS = {"searchsorted": raydex.searchsorted, "isin": raydex.isin}  # of the library of the test that runs

NO_KEYS = "cells of this dtype are no keys of raydex; it refuses them and says what to call: "
NO_TABLE = "raydex has no table, so that nothing exceeds it: `kind` changes nothing"
# What fails, on purpose, and has to.
DEVIATIONS = {
    "test_isin_both_arrays_are_object": NO_KEYS + "object",
    "test_isin_both_arrays_have_structured_dtype": NO_KEYS + "records",
    "test_isin_errors": NO_TABLE,
    "test_isin_first_array_is_object": NO_KEYS + "object",
    "test_isin_mixed_dtype[table-int16-int8]": NO_TABLE,
    "test_isin_second_array_is_object": NO_KEYS + "object",
    "test_isin_table_timedelta_fails": NO_TABLE,
    "test_isin_with_arrays_containing_tuples": NO_KEYS + "object",
    "test_searchsorted_complex": NO_KEYS + "complex",
    "test_searchsorted_structured": NO_KEYS + "records",
    "test_searchsorted_type_specific": NO_KEYS + "longdouble, among others",
    "test_searchsorted_unicode": NO_KEYS + "str of more than 8 bytes",
    "test_searchsorted_with_sorter": NO_KEYS + "longdouble, among others",
}


def elsewhere(library, name):
    """One of the two in another library, called as NumPy's: with lists, single numbers, and any shape."""
    names = {"searchsorted": ("a", "v", "side", "sorter"), "isin": ("element", "test_elements", "assume_unique")}[name]

    def call(*positional, **named):
        options = {**dict(zip(names, positional)), **named}
        columns = {one: np.asarray(options.pop(one)) for one in (*names[:2], "sorter") if options.get(one) is not None}
        for one in columns.values():
            if one.dtype not in NUMBERS:
                pytest.skip(f"{library.name} has no columns of {one.dtype}")
        values = "v" if name == "searchsorted" else "element"
        shape = columns[values].shape
        flat = {one: column if one == "a" else column.reshape(-1) for one, column in columns.items()}
        return getattr(library, name)(**flat, **options).reshape(shape)[()]

    return call


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
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", pytest.PytestUnknownMarkWarning)  # of NumPy's own marks
        exec(compile(ast.fix_missing_locations(tree), spec.origin, "exec"), module.__dict__)
    return module


def classes_of(module, about):
    """The classes of a module, with the tests alone whose names have `about` in them."""
    for name, kind in vars(module).items():
        if isinstance(kind, type) and name.startswith("Test"):
            tests = {test: value for test, value in vars(kind).items() if about in test}
            if tests:
                yield f"{name}_{module.__name__.rpartition('.')[2]}", type(name, (), tests)


for file, about in (
    ("numpy.lib.tests.test_arraysetops", "isin"),
    ("numpy._core.tests.test_multiarray", "searchsorted"),
    ("numpy._core.tests.test_numeric", "searchsorted"),
    ("numpy._core.tests.test_regression", "searchsorted"),
):
    globals().update(classes_of(rewritten(file), about))


@pytest.fixture(autouse=True)
def always_an_index(monkeypatch, request, library):
    """NumPy's own search, which answers small calls, would be tested with itself."""
    if library.name != "numpy":
        for name in OURS:
            monkeypatch.setitem(OURS, name, elsewhere(library, name))
    test = request.node.name.replace(f"[{library.name}]", "").replace(f"{library.name}-", "")
    if test in DEVIATIONS:
        request.applymarker(pytest.mark.xfail(reason=DEVIATIONS[test], strict=True))
    monkeypatch.setattr(raydex._searching, "_least_cells", 0)
    monkeypatch.setattr(raydex._searching, "_least_values", 0)
