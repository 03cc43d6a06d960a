# SPDX-License-Identifier: Apache-2.0
"""Bits of rows, as filters of cuVS and FAISS take them. The oracles are NumPy's comparisons and packbits, and FAISS."""

import array_libraries
import numpy as np
import pages
import pytest
import raydex


def packed(chosen):
    """A bit for each row, in whole words of 32, the first one the lowest."""
    padded = np.zeros((len(chosen) + 31) // 32 * 32, bool)
    padded[: len(chosen)] = chosen
    return np.packbits(padded, bitorder="little").view("<u4")


@pytest.mark.parametrize("size", [0, 1, 31, 32, 33, 1000])
@pytest.mark.parametrize("dtype", ["int64", "uint32", "float32"])
def test_rows_of_a_range(random, size, dtype):
    keys = random.integers(0, 100, size).astype(dtype)
    bits = raydex.build(keys).bitset(20, 60)
    assert bits.dtype == np.uint32
    np.testing.assert_array_equal(bits, packed((keys >= 20) & (keys <= 60)))


def test_ranges_that_overlap_and_points(random):
    keys = random.integers(0, 100, 500)
    index = raydex.build(keys)
    both = ((keys >= 10) & (keys <= 30)) | ((keys >= 25) & (keys <= 40))
    np.testing.assert_array_equal(index.bitset([10, 25, 9], [30, 40, 3]), packed(both))
    np.testing.assert_array_equal(index.bitset([7, 7, 101]), packed(keys == 7))
    assert not index.bitset(np.array([], "int64"), np.array([], "int64")).any()


def test_missing_keys_match_nothing_and_have_a_bit():
    keys = np.ma.MaskedArray([5] * 33 + [6] * 32, [False] * 33 + [True] * 32)
    bits = raydex.build(keys).bitset(0, 9)
    np.testing.assert_array_equal(bits, packed([True] * 33 + [False] * 32))
    assert len(bits) == 3


def test_explicit_rows_edits_and_sizes():
    index = raydex.build(np.array([1, 2, 3]), rows=np.array([40, 7, 0]))
    chosen = np.zeros(41, bool)
    chosen[[40, 7]] = True
    np.testing.assert_array_equal(index.bitset(1, 2), packed(chosen))
    assert len(index.bitset(1, 2, size=1000)) == 32
    np.testing.assert_array_equal(index.bitset(3, size=1), [1])
    with pytest.raises(raydex.InvalidArgument, match="size: 40, but the index has rows up to 40"):
        index.bitset(1, size=40)
    with pytest.raises(raydex.InvalidArgument, match="size"):
        index.bitset(99, size=-1)
    index.insert(np.array([1]), np.array([64]))
    assert len(index.bitset(1)) == 3


@pytest.mark.parametrize("of", [["ann", "a name of more than eight letters"], [b"ann", b"bob"], [2.5, np.nan]])
def test_keys_of_all_kinds(of):
    np.testing.assert_array_equal(raydex.build(of * 20).bitset(of[1:]), packed([False, True] * 20))


def test_times():
    times = np.array(["2026-01-05", "2026-02-01", "NaT"], "M8[s]")
    np.testing.assert_array_equal(raydex.build(times).bitset("2026-01-01", "2026-01-31"), [1])


def test_tensors():
    torch = pytest.importorskip("torch")
    bits = raydex.build(torch.tensor([50, 20, 40, 20, 30])).bitset(torch.tensor([20]), torch.tensor([35]))
    assert isinstance(bits, torch.Tensor) and bits.dtype == torch.uint32
    np.testing.assert_array_equal(bits.numpy(), [0b11010])


def test_faiss_takes_it(random):
    faiss = pytest.importorskip("faiss")
    vectors, prices = random.random((1000, 8), "float32"), random.integers(0, 100, 1000)
    search = faiss.IndexFlatL2(8)
    search.add(vectors)
    bits = raydex.build(prices).bitset(20, 40)
    chosen = faiss.SearchParameters(sel=faiss.IDSelectorBitmap(bits.view("uint8")))
    _, found = search.search(vectors[:50], 10, params=chosen)
    allowed = np.flatnonzero((prices >= 20) & (prices <= 40))
    distances = ((vectors[:50, None] - vectors[allowed]) ** 2).sum(2)
    np.testing.assert_array_equal(found, allowed[np.argsort(distances, axis=1)[:, :10]])
    pages.run("filters.md")


@pytest.mark.skipif(not array_libraries.HAS_GPU, reason="no GPU")
def test_an_index_on_a_gpu_is_refused():
    library = array_libraries.Torch()
    index = raydex.build(library.put(np.arange(5)))
    with pytest.raises(raydex.Unsupported, match="rows"):
        index.bitset(library.put(np.arange(2)))
