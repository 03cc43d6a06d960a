# SPDX-License-Identifier: Apache-2.0
"""Bits of rows, as filters of cuVS and FAISS take them. The oracles are NumPy's comparisons and packbits, and FAISS."""

import numpy as np
import pages
import pytest
import raydex


def packed(chosen):
    """A bit for each row, in whole words of 32, the first one the lowest."""
    padded = np.zeros((len(chosen) + 31) // 32 * 32, bool)
    padded[: len(chosen)] = chosen
    return np.packbits(padded, bitorder="little").view("<u4")


@pytest.mark.parametrize("size", [0, 1, 31, 32, 33, 1000, 10**6])
@pytest.mark.parametrize("dtype", ["int64", "uint32", "float32"])
def test_rows_of_a_range(library, random, size, dtype):
    keys = random.integers(0, 100, size).astype(dtype)
    expected = packed((keys >= 20) & (keys <= 60))
    lower, upper = np.array([20], dtype), np.array([60], dtype)
    index = library.build(keys)
    bits = index.bitset(lower, upper)
    assert bits.dtype == np.uint32
    np.testing.assert_array_equal(bits, expected)
    longer = index.bitset(lower, upper, size=size + 100)
    np.testing.assert_array_equal(longer, np.pad(expected, (0, (size + 131) // 32 - len(expected))))


def test_ranges_that_overlap_and_points(library, random):
    keys = random.integers(0, 100, 500)
    index = library.build(keys)
    both = ((keys >= 10) & (keys <= 30)) | ((keys >= 25) & (keys <= 40))
    np.testing.assert_array_equal(index.bitset(np.array([10, 25, 9]), np.array([30, 40, 3])), packed(both))
    np.testing.assert_array_equal(index.bitset(np.array([7, 7, 101])), packed(keys == 7))
    assert not index.bitset(np.array([], "int64"), np.array([], "int64")).any()


@pytest.mark.parametrize("structure", ["auto", "hash_open"])
def test_many_probes_of_the_same_rows(library, structure, random):
    """More matches than an index has rows, and than 2^20: they are found by parts."""
    keys = random.integers(0, 3, 3000)
    index = library.build(keys, structure)
    np.testing.assert_array_equal(index.bitset(np.array([1, 7] * 1501)), packed(keys == 1))
    if structure == "auto":
        lower = np.full(1001, 1)
        lower[500] = 0
        np.testing.assert_array_equal(index.bitset(lower, lower), packed(keys <= 1))


def test_missing_keys_match_nothing_and_have_a_bit():
    keys = np.ma.MaskedArray([5] * 33 + [6] * 32, [False] * 33 + [True] * 32)
    bits = raydex.build(keys).bitset(0, 9)
    np.testing.assert_array_equal(bits, packed([True] * 33 + [False] * 32))
    assert len(bits) == 3


def test_explicit_rows_edits_and_sizes(library):
    index = library.build(np.array([1, 2, 3]), rows=np.array([40, 7, 0]))
    chosen = np.zeros(41, bool)
    chosen[[40, 7]] = True
    one, two, three = (np.array([key]) for key in (1, 2, 3))
    np.testing.assert_array_equal(index.bitset(one, two), packed(chosen))
    assert len(index.bitset(one, two, size=1000)) == 32
    np.testing.assert_array_equal(index.bitset(three, size=1), [1])
    for size in (40, 33, 0):
        with pytest.raises(raydex.InvalidArgument, match=f"size: {size}, but the index has rows up to 40"):
            index.bitset(one, size=size)
    with pytest.raises(raydex.InvalidArgument, match="size: -1, but the index has rows up to 40"):
        index.bitset(np.array([99]), size=-1)
    index.insert(one, np.array([64]))
    assert len(index.bitset(one)) == 3
    index.erase(np.array([1, 2, 3]))
    np.testing.assert_array_equal(index.bitset(one, three), [0, 0, 0])


def test_strings_of_any_length(random):
    keys = random.choice(["ann", "bob", "a name of more than eight letters"], 200_000)
    index = raydex.build(keys.tolist())
    bits = index.bitset(["bob", "bob", "a name of more than eight letters", "none"])
    np.testing.assert_array_equal(bits, packed(keys != "ann"))
    last = int(np.flatnonzero(keys == "bob")[-1])
    assert len(index.bitset(["bob"], size=last + 1)) == last // 32 + 1
    with pytest.raises(raydex.InvalidArgument, match=f"size: {last}, but the index has rows up to 199999"):
        index.bitset(["bob"], size=last)
    assert len(raydex.build(["ann of more than eight letters"]).bitset([], size=0)) == 0


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
