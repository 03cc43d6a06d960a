# SPDX-License-Identifier: Apache-2.0
"""Searches and lookups of JAX on a GPU, compiled and as they are. test_jax.py has those of the CPU.

Skipped without a GPU, or without JAX on it."""

import functools
import importlib

import numpy as np
import pytest
import raydex
from array_libraries import HAS_GPU

if not HAS_GPU:
    pytest.skip("no GPU, or a raydex without CUDA", allow_module_level=True)


def test_jax():
    jax = pytest.importorskip("jax")
    try:
        keys = jax.device_put(np.array([4, 9, 2], "int32"), jax.devices("gpu")[0])
    except RuntimeError as error:
        pytest.skip(str(error))
    found = raydex.build(keys).first(keys)
    np.testing.assert_array_equal(np.asarray(jax.dlpack.from_dlpack(found)), [0, 1, 2])


@pytest.fixture
def on_a_gpu_of_jax():
    jax = pytest.importorskip("jax")
    try:
        device = jax.devices("gpu")[0]
    except RuntimeError as error:
        pytest.skip(str(error))
    importlib.import_module("raydex.jax")
    with jax.default_device(device):
        yield jax


@pytest.mark.parametrize("dtype", ["int32", "uint32", "float32", "int16"])
def test_compiled_searches_of_jax(on_a_gpu_of_jax, dtype):
    jax, random = on_a_gpu_of_jax, np.random.default_rng(3)
    jnp = jax.numpy
    for size in (1, 1000, 2**21):
        most = min(2 * size, 30_000 if dtype == "int16" else 2**24)
        a = np.sort(random.integers(0, most, size)).astype(dtype)
        v = random.integers(0, most, (size + 1, 2)).astype(dtype)
        if dtype == "float32":
            v[0], a[-1] = np.nan, np.nan
        a, v = jnp.asarray(a), jnp.asarray(v)
        for side in ("left", "right"):
            own = jax.jit(functools.partial(raydex.jax.searchsorted, side=side))(a, v)
            assert own.dtype == "int32" and own.devices() == a.devices()
            np.testing.assert_array_equal(own, np.searchsorted(a, v, side))
        for invert in (False, True):
            own = jax.jit(functools.partial(raydex.jax.isin, invert=invert))(v, a)
            np.testing.assert_array_equal(own, np.isin(v, a, invert=invert))
        np.testing.assert_array_equal(raydex.jax.searchsorted(a, v), np.searchsorted(a, v))
    batches = jnp.sort(jnp.asarray(random.integers(0, 50, (3, 40)).astype(dtype)), 1)
    own = jax.jit(jax.vmap(raydex.jax.searchsorted))(batches, batches[:, ::4])
    np.testing.assert_array_equal(own, jax.vmap(jnp.searchsorted)(batches, batches[:, ::4]))


def test_compiled_lookups_of_jax(on_a_gpu_of_jax):
    jax, random = on_a_gpu_of_jax, np.random.default_rng(3)
    jnp = jax.numpy
    for keys in ("int32", "float32"):
        column = random.permutation(10**5).astype(keys)
        index = raydex.build(jnp.asarray(column))
        at = np.argsort(column)
        look = jax.jit(lambda points, of=index: raydex.jax.lookup(of, points) * 2)
        points = random.integers(0, 10**5, (100, 7))
        np.testing.assert_array_equal(look(jnp.asarray(points.astype(keys))), at[points] * 2)
        np.testing.assert_array_equal(raydex.jax.lookup(index, jnp.asarray(points.astype(keys))), at[points])
    index = raydex.build(jnp.array([5, 6], "int32"))
    look = jax.jit(lambda points: raydex.jax.lookup(index, points))
    points = jnp.array([6, 7], "int32")
    for _ in range(20):
        assert look(points).tolist() == [1, -1]
        index.insert(jnp.array([7], "int32"), jnp.array([2], "uint32"))
        found = look(points)
        index.erase(jnp.array([7], "int32"))
        assert found.tolist() == [1, 2]
    index.close()
    with pytest.raises(Exception, match="index: it is closed"):
        look(points).block_until_ready()
    of_host = raydex.build(np.array([5, 6], "int32"))
    with pytest.raises(Exception, match="index: it is elsewhere than the points"):
        jax.jit(lambda points: raydex.jax.lookup(of_host, points))(points).block_until_ready()
    with pytest.raises(raydex.InvalidArgument, match="points"):
        raydex.jax.lookup(of_host, points)


def test_wide_numbers_of_jax(on_a_gpu_of_jax):
    jax, random = on_a_gpu_of_jax, np.random.default_rng(3)
    enable_x64 = (jax if hasattr(jax, "enable_x64") else importlib.import_module("jax.experimental")).enable_x64
    column = random.permutation(1000) << 40
    with enable_x64(True):
        index = raydex.build(jax.numpy.asarray(column))
        look = jax.jit(lambda points: raydex.jax.lookup(index, points))
        np.testing.assert_array_equal(look(jax.numpy.asarray(column[::-1])), np.arange(1000)[::-1])
        np.testing.assert_array_equal(look(jax.numpy.arange(2, dtype="int32")), [np.argmin(column), -1])
    with enable_x64(False), pytest.raises(Exception, match="jax_enable_x64"):
        jax.jit(lambda points: raydex.jax.lookup(index, points))(jax.numpy.arange(2)).block_until_ready()
