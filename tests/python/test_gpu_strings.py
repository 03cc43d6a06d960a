# SPDX-License-Identifier: Apache-2.0
"""Strings of any length in the memory of a GPU, and columns there that are numbered: the answers of the same columns in
host memory.

Skipped without a GPU, or without CuPy or pyarrow."""

import numpy as np
import pytest
import raydex
from array_libraries import HAS_GPU, Cupy
from arrow_device import OnDevice

pa = pytest.importorskip("pyarrow")

if not HAS_GPU:
    pytest.skip("no GPU, or a raydex without CUDA", allow_module_level=True)

URL = "https://www.example.com/a/path/that/all/of/them/have/in/common/?"
STRUCTURES = [one.name for one in raydex.structures()
              if one.points and one.ranges and one.updates and one.backend == "cuda" and one.available]


class Device:
    """Columns of pyarrow and NumPy on the GPU, and answers from there."""

    def __init__(self):
        self.gpu = Cupy()

    def _put(self, buffer):
        there = self.gpu.module.asarray(np.frombuffer(buffer, "u1"))
        return there, there.data.ptr

    def __call__(self, column):
        if isinstance(column, np.ndarray):
            return self.gpu.put(column)
        return OnDevice(column, number=0, put=self._put)

    def back(self, found):
        return self.gpu.module.asnumpy(self.gpu.module.asarray(found))


@pytest.fixture
def device():
    return Device()


def words_of(kind, count, random, missing=0.2):
    """Texts that repeat, some of them missing; `kind`: short ones, of any length, with 64 bytes in common, of 16."""
    begin = {"short": "", "any": "word " * 3, "common": URL, "whole": "0" * 16}[kind]
    cells = [begin[: 5 * (one % 4)] + str(one) if kind == "any" else begin + str(one)
             for one in random.integers(0, 300, count)]
    if kind == "whole":
        cells = [one[-16:] for one in cells]
    return pa.array([None if random.random() < missing else one for one in cells], pa.string())


def same(device, found, expected):
    np.testing.assert_array_equal(device.back(found), np.asarray(expected))


def ask_all(device, index, on_host, points, lower, upper):
    """Every query of an index, beside the same in host memory."""
    for method in ("first", "count", "contains", "isin"):
        same(device, getattr(index, method)(device(points)), getattr(on_host, method)(points))
    for side in ("left", "right"):
        same(device, index.rank(device(points), side), on_host.rank(points, side))
    for strict in (False, True):
        same(device, index.predecessor(device(points), strict), on_host.predecessor(points, strict))
        same(device, index.successor(device(points), strict), on_host.successor(points, strict))
    for method in ("first", "count"):
        same(device, getattr(index, method)(device(lower), device(upper)), getattr(on_host, method)(lower, upper))
    found, expected = index.rows(device(lower), device(upper)), on_host.rows(lower, upper)
    same(device, found.offsets, expected.offsets)
    same(device, found.rows, expected.rows)
    found, expected = raydex.join(index, device(points)), raydex.join(on_host, points)
    same(device, found.probe, expected.probe)
    same(device, found.build, expected.build)


@pytest.mark.parametrize("structure", ["auto", *STRUCTURES])
@pytest.mark.parametrize("kind", ["short", "any", "common"])
def test_strings(device, random, kind, structure):
    keys, points = words_of(kind, 3000, random), words_of(kind, 500, random)
    points = pa.concat_arrays([points, pa.array(["", "zz" * 40, URL, "wor", None])])
    lower, upper = words_of(kind, 200, random), words_of(kind, 200, random)
    with raydex.build(device(keys), structure) as index:
        assert index.info.device == "cuda:0" and len(index) == len(keys) - keys.null_count
        ask_all(device, index, raydex.build(keys), points, lower, upper)


@pytest.mark.parametrize("text", [pa.string(), pa.large_string(), pa.binary()])
def test_layouts(device, random, text):
    keys, points = words_of("any", 700, random).cast(text), words_of("any", 90, random).cast(text)
    for cut in (0, 16, 21, 699, 700):
        on_host, index = raydex.build(keys.slice(cut)), raydex.build(device(keys.slice(cut)))
        same(device, index.first(device(points)), on_host.first(points))
        same(device, index.first(device(points.slice(3))), on_host.first(points.slice(3)))
        same(device, index.count(device(points.slice(90))), on_host.count(points.slice(90)))


def test_prefixes(device, random):
    for kind in ("short", "any", "common"):
        keys = words_of(kind, 3000, random)
        on_host, index = raydex.build(keys), raydex.build(device(keys))
        prefixes = pa.array(["", "1", "w", "word 1", URL, URL + "2", "word word", "none", None])
        for method in ("first", "count"):
            same(device, getattr(index, method)(raydex.starts_with(device(prefixes))),
                 getattr(on_host, method)(raydex.starts_with(prefixes)))


def test_hash_tables(device, random):
    keys, points = words_of("any", 3000, random), words_of("any", 500, random)
    on_host = raydex.build(keys)
    for structure in ("hash_open", "hash_bucket"):
        index = raydex.build(device(keys), structure)
        same(device, index.first(device(points)), on_host.first(points))
        same(device, index.count(device(points)), on_host.count(points))
        found, expected = index.rows(device(points)), on_host.rows(points)
        same(device, found.rows, expected.rows)


@pytest.mark.parametrize("kind", ["any", "common", "whole"])
def test_found_by_a_hash(device, kind, random, tmp_path):
    keys, more = words_of(kind, 3000, random), words_of(kind, 500, random)
    index, on_host = raydex.build(device(keys), "hash_open"), raydex.build(keys, "hash_open")
    for one, there in ((index, device(more)), (on_host, more)):
        one.append(there)
    on_host.save(tmp_path / "x")
    index.save(tmp_path / "y")
    for one in (index, raydex.load(tmp_path / "x", device="cuda"), raydex.load(tmp_path / "y", device="cuda")):
        assert one.info.structure == "hash_open" and len(one) == len(on_host)
        same(device, one.rows(device(more)).rows, on_host.rows(more).rows)
    for one, there in ((index, device(keys)), (on_host, keys)):
        one.erase(there)
    same(device, index.first(device(more)), on_host.first(more))
    with pytest.raises(raydex.Unsupported, match="upper: strings of any length are found by a hash"):
        index.count(device(keys), device(keys))


def test_edits(device, random):
    keys = words_of("any", 2000, random, missing=0)
    index, on_host = raydex.build(device(keys)), raydex.build(keys)
    some, rows = keys.slice(100, 50), np.arange(5000, 5050)
    for one, there, ids in ((index, device(some), device(rows)), (on_host, some, rows)):
        one.insert(there, ids)
    same(device, index.count(device(keys)), on_host.count(keys))
    for one, there in ((index, device(some)), (on_host, some)):
        one.erase(there)
    same(device, index.first(device(keys)), on_host.first(keys))


def test_new_strings(device, random):
    """The dictionary and the index are made anew, of what they have and what comes."""
    keys, more = words_of("any", 2000, random), words_of("any", 700, random)
    index, on_host = raydex.build(device(keys)), raydex.build(keys)
    for one, to in ((index, device), (on_host, lambda x: x)):
        assert one.append(to(more)) == range(2000, 2700)
        one.insert(to(pa.array(["a new one", None, "b"])), to(np.array([5, 6, 70_000])))
    assert len(index) == len(on_host) and index.info.n == on_host.info.n
    asked = pa.concat_arrays([keys, more, pa.array(["a new one", "b", "none"])])
    same(device, index.first(device(asked)), on_host.first(asked))
    same(device, index.count(device(asked)), on_host.count(asked))
    same(device, index.rank(device(asked)), on_host.rank(asked))


def test_columns_that_grow(device, random):
    """Days that come one by one, beside strings and numbers."""
    index = on_host = None
    for day in range(40):
        words = words_of("any", 30, random)
        new = (words, np.full(30, 20_000 + day), random.integers(0, 9, 30).astype("int32"))
        if index is None:
            index, on_host = raydex.build(tuple(map(device, new))), raydex.build(new)
        else:
            assert index.append(tuple(map(device, new))) == on_host.append(new)
        for points in (new, (new[0], new[1] + 1, new[2])):
            there = tuple(map(device, points))
            same(device, index.first(there), on_host.first(points))
            same(device, index.count(there[:2]), on_host.count(points[:2]))
    assert len(index) == len(on_host)
    pairs = raydex.build((device(np.arange(50)), device(np.arange(50) % 7)))
    pairs.append((device(np.array([2**40, -1])), device(np.array([3, 2**50]))))
    asked = (np.array([2**40, -1, 8]), np.array([3, 2**50, 1]))
    assert device.back(pairs.first(tuple(map(device, asked)))).tolist() == [50, 51, 8]


def test_files(device, random, tmp_path):
    """Indexes come back on either."""
    words = words_of("any", 100, random)
    path = tmp_path / "words.index"
    for own in (words, device(words)):
        raydex.build(own).save(path)
        for where, asked in (("cuda", device(words)), ("cpu", words)):
            index, expected = raydex.load(path, where), raydex.build(words).first(words)
            found = index.first(asked)
            np.testing.assert_array_equal(device.back(found) if where == "cuda" else found, expected)
            assert index.append(asked) == range(100, 200)
            assert len(index) == 2 * (100 - words.null_count)
        assert raydex.append_file(path, words, share=None) == range(100, 200)
        grown = raydex.load(path, "cuda")
        np.testing.assert_array_equal(device.back(grown.first(device(words))), raydex.build(words).first(words))
        assert grown.append(device(words)) == range(200, 300)
    far = random.integers(-(2**62), 2**62, 100)
    expected = raydex.build((words, far)).first((words, far))
    for own in ((words, far), (device(words), device(far))):
        raydex.build(own).save(path)
        same(device, raydex.load(path, "cuda").first((device(words), device(far))), expected)
        np.testing.assert_array_equal(raydex.load(path, "cpu").first((words, far)), expected)
    keys = random.integers(0, 5000, 3000)
    for structure in STRUCTURES:
        on_host = raydex.build(keys)
        raydex.build(device(keys), structure).save(path)
        for verify in (True, False):
            for where in ("cuda", "cpu"):
                index = raydex.load(path, where, verify=verify)
                asked = device(keys) if where == "cuda" else keys
                found = index.first(asked), index.count(asked, asked)
                for one, other in zip(found, (on_host.first(keys), on_host.count(keys, keys))):
                    np.testing.assert_array_equal(device.back(one) if where == "cuda" else one, other)


@pytest.mark.parametrize("descending", [False, True])
def test_composite_keys(device, random, descending):
    """A column of texts beside numbers, and numbers of more than 64 bits."""
    words, probes = words_of("any", 2000, random), words_of("any", 300, random)
    far = random.integers(-(2**62), 2**62, 40)
    for first in (words, far[random.integers(0, 40, 2000)]):
        asked = probes if first is words else far[random.integers(0, 40, 300)]
        second, other = far[random.integers(0, 40, 2000)], far[random.integers(0, 40, 300)]
        third, last = (random.integers(0, 5, count).astype("int32") for count in (2000, 300))
        options = {"descending": descending, "missing": ["last", "first", "unmatched"]}
        on_host = raydex.build((first, second, third), **options)
        index = raydex.build((device(first), device(second), device(third)), **options)
        points = (asked, other, last)
        there = tuple(map(device, points))
        same(device, index.first(there), on_host.first(points))
        same(device, index.count(there), on_host.count(points))
        same(device, index.count(there[:2]), on_host.count(points[:2]))
        same(device, index.count(there[:1]), on_host.count(points[:1]))
        same(device, index.rank(there), on_host.rank(points))
        same(device, index.predecessor(there), on_host.predecessor(points))
        upper = (last + 2).astype("int32")
        same(device, index.count(there, device(upper)), on_host.count(points, upper))
        found, expected = raydex.join(index, there), raydex.join(on_host, points)
        same(device, found.probe, expected.probe)
        same(device, found.build, expected.build)


def test_sizes(device):
    for size in (0, 1, 2, 31, 32, 33):
        keys = pa.array([URL + str(one % 7) for one in range(size)], pa.string())
        points = pa.array([URL + "3", URL, None], pa.string())
        on_host, index = raydex.build(keys), raydex.build(device(keys))
        same(device, index.first(device(points)), on_host.first(points))
        same(device, index.count(device(points), device(points)), on_host.count(points, points))
        same(device, index.rank(device(points)), on_host.rank(points))
