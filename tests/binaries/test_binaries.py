# SPDX-License-Identifier: Apache-2.0
"""Programs and libraries look for others in fixed places only, and are hardened."""

import os
import pathlib
import platform
import re
import shutil
import subprocess

import pytest

BUILD = pathlib.Path(os.environ["RAYDEX_BUILD_DIR"])
SOURCE = pathlib.Path(__file__).parents[2]
FORTIFIED = os.environ["RAYDEX_FORTIFIED"] == "1"


def binaries(*folders):
    """The programs and shared libraries in folders."""
    found = []
    for path in sorted(path for folder in folders for path in folder.rglob("*")):
        if path.is_file() and not path.is_symlink():
            with open(path, "rb") as file:
                if file.read(4) == b"\x7fELF":
                    found.append(path)
    assert "raydex" in [path.name for path in found]
    return found


def read_elf(path, *options):
    """The output of readelf."""
    command = ["readelf", "--wide", *options, path]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def built():
    """The output of this build."""
    return binaries(BUILD / "bin", BUILD / "lib")


@pytest.fixture(scope="module", name="installed")
def install(tmp_path_factory):
    """Where this build is installed."""
    prefix = tmp_path_factory.mktemp("prefix")
    command = ["cmake", "--install", BUILD, "--prefix", prefix]
    subprocess.run(command, capture_output=True, check=True)
    return prefix


def assert_fixed_places(paths):
    """An empty place, or one without a leading slash, is relative to the current folder."""
    for path in paths:
        for places in re.findall(r"\((?:RPATH|RUNPATH)\).*\[(.*)\]", read_elf(path, "--dynamic")):
            for place in places.split(":"):
                assert re.match(r"/|\$ORIGIN(/|$)", place), (path, places)


def test_places_of_libraries():
    assert_fixed_places(built())


def test_places_of_installed_libraries(installed):
    assert_fixed_places(binaries(installed))


def test_what_is_installed_finds_its_library(installed):
    subprocess.run([installed / "bin" / "raydex", "structures"], check=True)


def test_a_build_of_the_library_alone_is_installed(tmp_path):
    """What was not built is left out: the program and the completion that it writes."""
    build, prefix = tmp_path / "build", tmp_path / "prefix"
    configure = ["cmake", "-S", SOURCE, "-B", build, "-G", "Ninja", "-DRAYDEX_CUDA=OFF"]
    subprocess.run([*configure, "-DRAYDEX_BUILD_TESTS=OFF"], capture_output=True, check=True)
    libraries = sorted((BUILD / "lib").glob("libraydex.*"))
    for library in libraries:
        shutil.copy(library, build / "lib", follow_symlinks=False)
    install = ["cmake", "--install", build, "--prefix", prefix]
    subprocess.run(install, capture_output=True, check=True)
    assert {path.name for path in libraries} <= {path.name for path in prefix.rglob("lib*/*")}
    assert (prefix / "include" / "raydex" / "raydex.hpp").exists()
    assert not (prefix / "bin" / "raydex").exists()
    assert not list(prefix.rglob("libraydex_papers*"))


def test_relocations_are_read_only():
    for path in built():
        assert "GNU_RELRO" in read_elf(path, "--segments"), path
        assert re.search(r"\(FLAGS_1\).*\bNOW\b", read_elf(path, "--dynamic")), path


@pytest.mark.parametrize("name", ["bin/raydex", "bin/raydex_demo", "bin/longest_common_extension"])
def test_checks_of_the_stack_and_of_copies(name):
    symbols = read_elf(BUILD / name, "--dyn-syms")
    assert "__stack_chk_fail" in symbols
    assert ("__memcpy_chk" in symbols) == FORTIFIED


def test_checks_of_the_libraries():
    for path in built():
        if re.match(r"libraydex(_papers)?\.so", path.name):
            assert "__stack_chk_fail" in read_elf(path, "--dyn-syms")


def test_libraydex_papers_is_loaded_when_it_is_asked_for():
    """Neither the library nor the program is linked to it, and once it is there it stays."""
    dynamic = {path.name: read_elf(path, "--dynamic") for path in built()}
    papers = [text for name, text in dynamic.items() if name.startswith("libraydex_papers.so")]
    if not papers:
        pytest.skip("a static library holds it")
    (text,) = papers
    assert re.search(r"\(NEEDED\).*\[libraydex\.so", text)
    assert re.search(r"\(FLAGS_1\).*\bNODELETE\b", text)
    for name, text in dynamic.items():
        if name in ("raydex", "raydex_demo") or name.startswith("libraydex.so"):
            assert "libraydex_papers" not in text, name


@pytest.mark.skipif(not FORTIFIED or platform.machine() != "x86_64", reason="of an optimised build, as x86 has it")
def test_rows_that_are_compared_are_fetched_before():
    """GCC took functions that only prefetch for ones without effects, and dropped their calls."""
    libraries = [path for path in built() if path.name.startswith("libraydex.so")]
    if not libraries:
        pytest.skip("a static library holds it")
    command = ["objdump", "--disassemble", "--no-show-raw-insn", libraries[0]]
    code = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    functions = [one for one in code.split("\n\n") if re.match(r".*for_each_fetched", one)]
    assert functions
    assert all("prefetch" in one for one in functions)
