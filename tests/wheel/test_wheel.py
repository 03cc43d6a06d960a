# SPDX-License-Identifier: Apache-2.0
"""A wheel in an environment with nothing but what it asks for: it works, brings the libraries that it loads,
and their licences. Run by scripts/wheel."""

import importlib.metadata
import pathlib
import re
import subprocess
import sys

import numpy as np
import pytest
import raydex

FILES = [pathlib.Path(path.locate()) for path in importlib.metadata.files("raydex")]
LIBRARIES = [path for path in FILES if path.parent.name == "raydex.libs"]
ON_CPU = [one for one in raydex.structures() if one.backend == "cpu"]


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


def test_the_program():
    done = subprocess.run([sys.executable, "-m", "raydex", "structures"], capture_output=True, text=True)
    assert done.returncode == 0 and "pivot_tree" in done.stdout, done.stderr


def test_without_a_gpu():
    """The driver is loaded when it is asked for: a wheel with CUDA is imported without one, and says so."""
    for one in raydex.structures():
        assert one.available or one.reason


def test_libraries_are_its_own():
    test_lookups("rx")
    mapped = set(re.findall(r"/\S*\.so\S*", pathlib.Path("/proc/self/maps").read_text()))
    loaded = {path for path in map(pathlib.Path, mapped) if re.match("lib(raydex|tbb|embree|fmt|hwy)", path.name)}
    assert loaded >= set(LIBRARIES) and loaded <= set(FILES)
    assert not [name for name in mapped if "libcudart" in name]
    assert not [path for path in LIBRARIES if "cuda" in path.name]


def test_licences():
    licences = {path.name for path in FILES if path.parent.name == "licenses"}
    assert licences == set(importlib.metadata.metadata("raydex").get_all("License-File"))
    assert {"LICENSE", "nanobind.txt"} < licences
    assert ("cuda.txt" in licences) == ("cuda" in {one.backend for one in raydex.structures()})
    for library in LIBRARIES:
        name = library.name.split("-")[0]
        assert [one for one in licences if one.startswith(name)], name
