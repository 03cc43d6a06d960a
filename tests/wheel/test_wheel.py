# SPDX-License-Identifier: Apache-2.0
"""A wheel in an environment with nothing but what it asks for: it works, brings the libraries that it loads,
and their licences. Run by scripts/wheel. On a machine with a GPU it is also asked there; run this file then,
once the wheel is installed."""

import ctypes
import importlib.metadata
import os
import pathlib
import re
import subprocess
import sys

import numpy as np
import pytest
import raydex
from raydex import _cuda

FILES = [pathlib.Path(path.locate()) for path in importlib.metadata.files("raydex")]
PROGRAM = next(path for path in FILES if path.match("raydex/bin/raydex"))
LIBRARIES = [path for path in FILES if path.parent.name == "raydex.libs"]
ON_CPU = [one for one in raydex.structures() if one.backend == "cpu"]
ON_GPU = [one for one in raydex.structures() if one.backend != "cpu"]


@pytest.mark.parametrize("structure", [one.name for one in ON_CPU if not one.minima])
def test_lookups(structure):
    random = np.random.default_rng(1)
    keys, points = random.integers(0, 1000, (2, 5000))
    assert (raydex.build(keys, structure).count(points) == np.bincount(keys, minlength=1000)[points]).all()


@pytest.mark.parametrize("structure", [one.name for one in ON_CPU if one.minima])
def test_minima(structure):
    random = np.random.default_rng(2)
    values = random.standard_normal(3000)
    lower, upper = np.sort(random.integers(0, values.size, (2, 50)), axis=0)
    expected = [values[a : b + 1].min() for a, b in zip(lower, upper)]
    assert (raydex.rmq(values, structure).min(lower, upper) == expected).all()


def test_functions():
    keys, points = np.array([2, 3, 3, 5]), np.array([3, 4])
    assert (raydex.searchsorted(keys, points) == np.searchsorted(keys, points)).all()
    assert (raydex.isin(points, keys) == np.isin(points, keys)).all()
    assert raydex.join(keys, points, how="left").build.tolist() == [1, 2, -1]


@pytest.mark.parametrize("how", ["module", "command"])
def test_the_program(how, tmp_path):
    python = pathlib.Path(sys.executable)
    command = [python, "-m", "raydex"] if how == "module" else [python.with_name("raydex")]
    np.save(tmp_path / "k.npy", np.array([2, 3, 3, 5]))
    words = ["query", "--keys", "k.npy", "--points", "k.npy", "--result", "count", "--out", "-"]
    done = subprocess.run([*command, *words], cwd=tmp_path, capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, "count\n1\n2\n2\n1\n"), done.stderr
    words[2] = "k.parquet:a"
    (tmp_path / "k.parquet").touch()
    done = subprocess.run([*command, *words], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 1
    assert re.search(rf"{python.parent}/python\S* -m pip install pyarrow\n", done.stderr)


def test_without_a_gpu():
    """The driver is loaded when it is asked for: a wheel with CUDA is imported without one, and says so."""
    for one in raydex.structures():
        assert one.available or one.reason


def test_libraries_are_its_own():
    test_lookups("rx")
    mapped = set(re.findall(r"/\S*\.so\S*", pathlib.Path("/proc/self/maps").read_text()))
    traced = subprocess.run([PROGRAM], env={"LD_TRACE_LOADED_OBJECTS": "1"}, capture_output=True, text=True).stdout
    mapped |= set(re.findall(r"/\S*\.so\S*", traced))
    own = re.compile("lib(raydex|tbb|embree|fmt|hwy|csv)")
    loaded = {path for path in (pathlib.Path(os.path.abspath(name)) for name in mapped) if own.match(path.name)}
    assert loaded >= set(LIBRARIES) and loaded <= set(FILES)
    assert not [name for name in mapped if "libcudart" in name]
    assert not [path for path in LIBRARIES if "cuda" in path.name]


def test_licences():
    licences = {path.name for path in FILES if path.parent.name == "licenses"}
    assert licences == set(importlib.metadata.metadata("raydex").get_all("License-File"))
    assert {"LICENSE", "nanobind.txt"} < licences
    assert ("cuda.txt" in licences) != any("built without CUDA" in one.reason for one in ON_GPU)
    for library in LIBRARIES:
        name = library.name.split("-")[0]
        assert [one for one in licences if one.startswith(name)], name


class OnGpu:
    """An array of NumPy in the memory of a GPU, by the driver alone."""

    def __init__(self, array):
        address, size = ctypes.c_uint64(), ctypes.c_size_t(array.nbytes)
        with _cuda.current(0):
            _cuda.driver().call("cuMemAlloc_v2", ctypes.byref(address), size)
            _cuda.driver().call("cuMemcpyHtoD_v2", address, ctypes.c_void_p(array.ctypes.data), size)
        self.__cuda_array_interface__ = {
            "data": (address.value, False), "shape": array.shape, "typestr": array.dtype.str, "version": 3}


def on_host(found):
    array = np.empty(found.shape, found.dtype)
    address, size = ctypes.c_uint64(found.__cuda_array_interface__["data"][0]), ctypes.c_size_t(array.nbytes)
    with _cuda.current(0):  # waits for what is queued on the default stream
        _cuda.driver().call("cuMemcpyDtoH_v2", ctypes.c_void_p(array.ctypes.data), address, size)
    return array


@pytest.mark.parametrize("one", ON_GPU, ids=lambda one: f"{one.name}-{one.backend}")
def test_on_a_gpu(one):
    if not one.available:
        pytest.skip(one.reason)
    random = np.random.default_rng(3)
    keys, points = random.integers(0, 1000, (2, 5000))
    if one.minima:
        ends = np.minimum(keys, points), np.maximum(keys, points)
        of = raydex.rmq(OnGpu(points), one.name, device=one.backend)
        expected = [points[a : b + 1].min() for a, b in zip(*ends)]
        assert (on_host(of.min(*map(OnGpu, ends))) == expected).all()
    else:
        index = raydex.build(OnGpu(keys), one.name, device=one.backend)
        assert (on_host(index.count(OnGpu(points))) == np.bincount(keys, minlength=1000)[points]).all()


@pytest.mark.parametrize("library", ["torch", "cupy"])
def test_libraries_on_a_gpu(library):
    """The last one: these load libraries of CUDA."""
    if not any(one.available for one in ON_GPU):
        pytest.skip("no GPU")
    arange = pytest.importorskip(library).arange
    keys = arange(1000, device="cuda") if library == "torch" else arange(1000)
    assert (raydex.build(keys).first(keys) == keys).all()
