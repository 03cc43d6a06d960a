# SPDX-License-Identifier: Apache-2.0
"""Searches and lookups of JAX, as they are, compiled and mapped. The oracles are `jax.numpy` and NumPy."""

import functools
import gc
import importlib
import itertools
import os
import pathlib
import shutil
import subprocess
import types
import weakref

import in_threads
import numpy as np
import pages
import pytest
import raydex

os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")  # where there is a GPU
jax = pytest.importorskip("jax")

import jax.numpy as jnp  # noqa: E402
import raydex.jax  # noqa: E402

DTYPES = ["bool", "int8", "uint16", "int32", "uint32", "bfloat16", "float16", "float32"]
WIDE = ["int64", "uint64", "float64"]
SHAPES = [(7, 3), (3000,), ()]
ENABLE_X64 = (jax if hasattr(jax, "enable_x64") else importlib.import_module("jax.experimental")).enable_x64
HOW = pytest.mark.parametrize("how", [lambda function: function, jax.jit], ids=["as_it_is", "jit"])


@pytest.fixture(autouse=True)
def on_the_cpu():
    with jax.default_device(jax.devices("cpu")[0]):
        yield


@pytest.fixture(params=[False, True], ids=["32 bits", "64 bits"])
def wide(request):
    with ENABLE_X64(request.param):
        yield request.param


def drawn(random, dtype, shape):
    found = random.integers(0, 50, shape)
    if "float" in dtype:
        found = np.where(found == 12, np.nan, found / 4)
    return jnp.asarray(found).astype(dtype)


def same(found, expected):
    assert isinstance(found, jax.Array) and found.dtype == expected.dtype
    np.testing.assert_array_equal(found, expected)


def in_numpy(array):
    """A copy of a type that NumPy compares."""
    return np.asarray(array.astype("float32") if array.dtype == "bfloat16" else array)


def test_searchsorted(random, wide):
    for dtype, shape in zip(DTYPES + WIDE * wide, itertools.cycle(SHAPES)):
        a, v = jnp.sort(drawn(random, dtype, 300)), drawn(random, dtype, shape)
        for side in ("left", "right"):
            found = jax.jit(functools.partial(raydex.jax.searchsorted, side=side))(a, v)
            same(found, np.asarray(np.searchsorted(in_numpy(a), in_numpy(v), side)).astype("int32"))


@HOW
def test_searchsorted_as_jax_has_it(random, how):
    a, v = drawn(random, "float32", 300), drawn(random, "int8", 40)
    order = jnp.argsort(a)
    search = how(raydex.jax.searchsorted)
    same(search(a, v, sorter=order), jnp.searchsorted(a, v, sorter=order))
    same(search(a[order], 3), jnp.searchsorted(a[order], 3))
    same(search(jnp.zeros(0), v), jnp.zeros(40, "int32"))


def test_isin(random, wide):
    for dtype, shape in zip(DTYPES + WIDE * wide, itertools.cycle(SHAPES)):
        element, tests = drawn(random, dtype, shape), drawn(random, dtype, (3, 5))
        for invert in (False, True):
            found = jax.jit(functools.partial(raydex.jax.isin, invert=invert))(element, tests)
            same(found, np.asarray(np.isin(in_numpy(element), in_numpy(tests), invert=invert)))


@HOW
def test_isin_as_jax_has_it(random, how):
    element, tests = drawn(random, "int16", (7, 3)), drawn(random, "float32", 15)
    find = how(raydex.jax.isin)
    same(find(element, tests), jnp.isin(element, tests))
    same(find(element, tests[:0]), jnp.zeros((7, 3), bool))
    same(find(4, tests), jnp.isin(4, tests))


@pytest.mark.parametrize("axes", [(None, 0), (0, None), (0, 0), (1, 2)])
def test_a_batch(random, axes):
    a, v = jnp.sort(drawn(random, "int32", (6, 6)), axis=0 if axes[0] == 1 else 1), drawn(random, "int32", (6, 6, 6))
    a = a[0] if axes[0] is None else a
    for own, oracle in ((raydex.jax.searchsorted, jnp.searchsorted),
                        (lambda a, v: raydex.jax.isin(v, a), lambda a, v: jnp.isin(v, a))):
        expected = jax.vmap(oracle, axes)(a, v)
        same(jax.vmap(own, axes)(a, v), expected)
        same(jax.jit(jax.vmap(own, axes))(a, v), expected)


@pytest.mark.parametrize("inner", [(None, 0), (0, None), (0, 0)])
@pytest.mark.parametrize("outer", [(None, 0), (0, None), (0, 0)])
def test_batches_of_batches(random, inner, outer):
    """Arguments that are the same along one dimension or the other."""
    shapes = [sum(((size,) for size, axes in ((2, outer), (3, inner)) if axes[i] == 0), ()) for i in (0, 1)]
    a, v = jnp.sort(drawn(random, "float32", (*shapes[0], 40))), drawn(random, "float32", (*shapes[1], 5))
    found = jax.vmap(jax.vmap(raydex.jax.searchsorted, inner), outer)(a, v)
    same(found, jax.vmap(jax.vmap(jnp.searchsorted, inner), outer)(a, v))


@pytest.mark.parametrize("keys", ["int32", "int64", "uint32", "uint64", "float32", "float64", "int16"])
def test_lookup(random, wide, keys):
    column, expected = random.permutation(100).astype(keys), np.full(120, -1, "int32")
    expected[column.astype(int)] = np.arange(100)
    index = raydex.build(column)
    look = jax.jit(lambda points: raydex.jax.lookup(index, points))
    for dtype in ("int16", "int32", "uint8", "float32", keys):
        if not wide and keys in WIDE and dtype == keys:
            continue
        points = jnp.asarray(random.integers(0, 120, (5, 7))).astype(dtype)
        if not raydex._keys.converts(np.dtype(dtype), index._key.dtype):
            with pytest.raises(raydex.InvalidType, match="points: of"):
                look(points)
            continue
        same(look(points), expected[np.asarray(points).astype(int)])
    same(look(jnp.asarray(3, "uint8")), expected[3])
    same(raydex.jax.lookup(index, jnp.arange(120, dtype="uint8")), expected)


@HOW
@pytest.mark.parametrize("cell", [(), (3,)])
def test_cells_of_a_lookup_have_gradients(random, how, cell):
    keys = random.permutation(10)
    index, at = raydex.build(keys), np.argsort(keys)
    points, values = jnp.array([[3, 12], [3, 0]]), jnp.asarray(random.random((10, *cell)), "float32")
    look = how(lambda values: raydex.jax.lookup(index, points, values, 7))
    expected = np.asarray(values)[at[np.minimum(points, 9)]]
    expected[0, 1] = 7
    same(look(values), expected)
    gradient = np.zeros((10, *cell), "float32")
    gradient[at[3]], gradient[at[0]] = 2, 1
    same(jax.grad(lambda values: look(values).sum())(values), gradient)
    with pytest.raises(raydex.InvalidArgument, match="values: 9 rows, but the index has rows up to 9"):
        look(values[:9])


def test_nothing_is_differentiated_by_positions(random):
    a, v = jnp.sort(drawn(random, "float32", 30)), drawn(random, "float32", 5)
    slope = jax.grad(lambda a, v: (a[raydex.jax.searchsorted(a, v) - 1] * v).sum(), (0, 1))(a, v)
    for own, expected in zip(slope, jax.grad(lambda a, v: (a[jnp.searchsorted(a, v) - 1] * v).sum(), (0, 1))(a, v)):
        same(own, expected)


def test_lookups_are_mapped_and_scanned(random):
    index = raydex.build(np.arange(0, 100, 2))
    points = jnp.asarray(random.integers(0, 100, (4, 50)))
    expected = np.where(points % 2 == 0, points // 2, -1).astype("int32")
    look = functools.partial(raydex.jax.lookup, index)
    same(jax.vmap(look)(points), expected)
    same(jax.jit(jax.vmap(jax.vmap(look)))(points), expected)
    same(jax.lax.map(look, points), expected)


def test_an_index_is_an_argument():
    look = jax.jit(raydex.jax.lookup)
    for row in range(3):
        assert look(raydex.build([7 - row, 8 - row, 9 - row]), jnp.array([7])).tolist() == [row]


def test_an_edit_is_seen_and_a_close_too():
    index = raydex.build(np.array([5, 6], "int32"))
    look = jax.jit(lambda points: raydex.jax.lookup(index, points))
    points = jnp.array([6, 7])
    assert look(points).tolist() == [1, -1]
    index.insert(np.array([7], "int32"), [2])
    assert look(points).tolist() == [1, 2]
    index.close()
    with pytest.raises(Exception, match="index: it is closed"):
        look(points).block_until_ready()
    with pytest.raises(raydex.InvalidArgument, match="closed"):
        raydex.jax.lookup(index, points)


def test_a_close_that_is_interrupted():
    """What was compiled knows that the index is gone."""
    index = raydex.build(np.array([5, 6], "int32"))
    look = jax.jit(lambda points: raydex.jax.lookup(index, points))
    points = jnp.array([6, 7])
    assert look(points).tolist() == [1, -1]
    index._native = types.SimpleNamespace(close=lambda before: 1 // 0)
    with pytest.raises(ZeroDivisionError):
        index.close()
    with pytest.raises(Exception, match="index: it is closed"):
        look(points).block_until_ready()


def test_who_keeps_an_index():
    """What was compiled, as long as it is there; no call outside of compiled functions."""
    index = raydex.build(np.array([5, 6], "int32"))
    there = weakref.ref(index)
    look = jax.jit(functools.partial(raydex.jax.lookup, index))
    assert look(jnp.array([6])).tolist() == [1]
    del index
    gc.collect()
    assert look(jnp.array([6])).tolist() == [1]
    del look
    jax.clear_caches()
    gc.collect()
    assert there() is None
    index = raydex.build(np.array([5, 6], "int32"))
    there = weakref.ref(index)
    assert raydex.jax.lookup(index, jnp.array([6])).tolist() == [1]
    del index
    gc.collect()
    assert there() is None


def test_compiled_functions_in_threads(random):
    a = jnp.sort(jnp.asarray(random.integers(0, 10**6, 50_000), "int32"))
    index, search = raydex.build(np.asarray(a)), jax.jit(raydex.jax.searchsorted)
    look = jax.jit(lambda points: raydex.jax.lookup(index, points))
    expected = np.searchsorted(a, a)

    def ask():
        for _ in range(10):
            np.testing.assert_array_equal(search(a, a), expected)
            np.testing.assert_array_equal(look(a), expected)

    in_threads.run([ask] * 4)


def test_what_is_wrong():
    x = jnp.arange(5)
    with pytest.raises(raydex.InvalidArgument, match="side"):
        raydex.jax.searchsorted(x, x, "middle")
    with pytest.raises(raydex.InvalidArgument, match="2 dimensions"):
        raydex.jax.searchsorted(jnp.zeros((2, 2)), x)
    with pytest.raises(raydex.InvalidType, match="complex64"):
        raydex.jax.isin(x, x * 1j)
    with pytest.raises(raydex.InvalidType, match="keys are"):
        raydex.jax.lookup(raydex.build(["ann"]), x)


def test_the_page():
    pages.run("jax.md")


def test_declarations_are_those_of_jaxlib(tmp_path):
    """A program that compares ours with the header of jaxlib is compiled."""
    compiler = shutil.which("c++")
    header = pathlib.Path(__file__).parents[2] / "python/bindings/xla.hpp"
    if compiler is None or not header.exists():
        pytest.skip("no compiler, or no sources")
    program = tmp_path / "check.cpp"
    program.write_text(CHECK)
    done = subprocess.run(
        [compiler, "-std=c++20", "-fsyntax-only", "-Wno-invalid-offsetof", f"-I{jax.ffi.include_dir()}",
         f"-I{header.parent}", program], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


CHECK = r"""
#include "xla/ffi/api/c_api.h"
#include "xla.hpp"

namespace own = raydex::python::xla;

#define SAME(ours, field, theirs, other) \
  static_assert(offsetof(own::ours, field) == offsetof(theirs, other)); \
  static_assert(sizeof(own::ours::field) == sizeof(theirs::other))
#define EQUAL(ours, theirs) static_assert(static_cast<int>(own::ours) == static_cast<int>(theirs))

SAME(extension, struct_size, XLA_FFI_Extension_Base, struct_size);
SAME(extension, type, XLA_FFI_Extension_Base, type);
SAME(extension, next, XLA_FFI_Extension_Base, next);
SAME(version, struct_size, XLA_FFI_Api_Version, struct_size);
SAME(version, extensions, XLA_FFI_Api_Version, extension_start);
SAME(version, major, XLA_FFI_Api_Version, major_version);
SAME(version, minor, XLA_FFI_Api_Version, minor_version);
SAME(error_description, struct_size, XLA_FFI_Error_Create_Args, struct_size);
SAME(error_description, extensions, XLA_FFI_Error_Create_Args, extension_start);
SAME(error_description, message, XLA_FFI_Error_Create_Args, message);
SAME(error_description, code, XLA_FFI_Error_Create_Args, errc);
static_assert(sizeof(own::error_description) >= XLA_FFI_Error_Create_Args_STRUCT_SIZE);
SAME(buffer, type, XLA_FFI_Buffer, dtype);
SAME(buffer, data, XLA_FFI_Buffer, data);
SAME(buffer, dimensions, XLA_FFI_Buffer, rank);
SAME(buffer, sizes, XLA_FFI_Buffer, dims);
SAME(scalar, type, XLA_FFI_Scalar, dtype);
SAME(scalar, value, XLA_FFI_Scalar, value);
SAME(values, size, XLA_FFI_Args, size);
SAME(values, types, XLA_FFI_Args, types);
SAME(values, at, XLA_FFI_Args, args);
SAME(values, size, XLA_FFI_Rets, size);
SAME(values, types, XLA_FFI_Rets, types);
SAME(values, at, XLA_FFI_Rets, rets);
SAME(attributes, size, XLA_FFI_Attrs, size);
SAME(attributes, types, XLA_FFI_Attrs, types);
SAME(attributes, names, XLA_FFI_Attrs, names);
SAME(attributes, at, XLA_FFI_Attrs, attrs);
SAME(functions, version, XLA_FFI_Api, api_version);
SAME(functions, internal, XLA_FFI_Api, internal_api);
SAME(functions, create_error, XLA_FFI_Api, XLA_FFI_Error_Create);
static_assert(offsetof(own::functions, of_errors) == offsetof(XLA_FFI_Api, XLA_FFI_Error_GetMessage));
SAME(functions, register_handler, XLA_FFI_Api, XLA_FFI_Handler_Register);
SAME(functions, get_stream, XLA_FFI_Api, XLA_FFI_Stream_Get);
SAME(stream_request, struct_size, XLA_FFI_Stream_Get_Args, struct_size);
SAME(stream_request, extensions, XLA_FFI_Stream_Get_Args, extension_start);
SAME(stream_request, context, XLA_FFI_Stream_Get_Args, ctx);
SAME(stream_request, stream, XLA_FFI_Stream_Get_Args, stream);
static_assert(sizeof(own::stream_request) >= XLA_FFI_Stream_Get_Args_STRUCT_SIZE);
SAME(call, extensions, XLA_FFI_CallFrame, extension_start);
SAME(call, functions, XLA_FFI_CallFrame, api);
SAME(call, context, XLA_FFI_CallFrame, ctx);
SAME(call, stage, XLA_FFI_CallFrame, stage);
SAME(call, arguments, XLA_FFI_CallFrame, args);
SAME(call, results, XLA_FFI_CallFrame, rets);
SAME(call, attributes, XLA_FFI_CallFrame, attrs);
SAME(metadata, struct_size, XLA_FFI_Metadata, struct_size);
SAME(metadata, version, XLA_FFI_Metadata, api_version);
SAME(metadata, traits, XLA_FFI_Metadata, traits);
SAME(metadata_extension, base, XLA_FFI_Metadata_Extension, extension_base);
SAME(metadata_extension, metadata, XLA_FFI_Metadata_Extension, metadata);

EQUAL(metadata_type, XLA_FFI_Extension_Metadata);
EQUAL(buffer_value, XLA_FFI_ArgType_BUFFER);
EQUAL(buffer_value, XLA_FFI_RetType_BUFFER);
EQUAL(scalar_attribute, XLA_FFI_AttrType_SCALAR);
EQUAL(type::int32, XLA_FFI_DataType_S32);
EQUAL(type::int64, XLA_FFI_DataType_S64);
EQUAL(type::uint32, XLA_FFI_DataType_U32);
EQUAL(type::uint64, XLA_FFI_DataType_U64);
EQUAL(type::float32, XLA_FFI_DataType_F32);
EQUAL(type::float64, XLA_FFI_DataType_F64);
EQUAL(error_code::invalid_argument, XLA_FFI_Error_Code_INVALID_ARGUMENT);
EQUAL(error_code::resource_exhausted, XLA_FFI_Error_Code_RESOURCE_EXHAUSTED);
EQUAL(error_code::internal, XLA_FFI_Error_Code_INTERNAL);
static_assert(XLA_FFI_API_MAJOR == 0);
"""
