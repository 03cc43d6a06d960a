# SPDX-License-Identifier: Apache-2.0
"""Range minima and maxima against NumPy."""

import gc

import numpy as np
import pytest
import raydex

STRUCTURES = [one.name for one in raydex.structures() if one.minima and one.backend == "cpu"]


@pytest.mark.parametrize("structure", ["auto", *STRUCTURES])
@pytest.mark.parametrize("dtype", ["int32", "int64", "uint32", "uint64", "float32", "float64", "int8", "uint16",
                                   "float16", "bool", "datetime64[s]"])
def test_minima(library, structure, dtype, random):
    if dtype == "datetime64[s]" and library.name != "numpy":
        pytest.skip("minima of times are of NumPy")
    library.needs(structure)
    values = random.integers(0, 100, 500).astype("int64")
    values = (values % 2 if dtype == "bool" else values).astype(dtype)
    low = random.integers(0, 500, 200)
    high = np.minimum(low + random.integers(0, 90, 200), 499)
    of = library.rmq(values, structure, extremes="both")
    expected = np.array([values[a:b + 1].min() for a, b in zip(low, high)])
    found = of.min(low, high)
    np.testing.assert_array_equal(found, expected.astype(found.dtype))
    assert found.dtype == raydex._keys.natural("array", values.dtype)
    where = np.array([a + values[a:b + 1].argmin() for a, b in zip(low, high)])
    np.testing.assert_array_equal(of.argmin(low, high), where)
    np.testing.assert_array_equal(of.argmin(low.astype("uint16"), high.astype("int32")), where)
    largest = np.array([values[a:b + 1].max() for a, b in zip(low, high)])
    found = of.max(low, high)
    np.testing.assert_array_equal(found, largest.astype(found.dtype))
    where = np.array([a + values[a:b + 1].argmax() for a, b in zip(low, high)])
    np.testing.assert_array_equal(of.argmax(low, high), where)


def test_ends_and_empty_ranges(library):
    of = library.rmq(np.array([3.0, np.nan, 1.0]))
    ends = np.array([0, -5, 1, 2]), np.array([1, 99, 1, 1])
    np.testing.assert_array_equal(of.min(*ends), [3, 1, np.nan, np.nan])
    np.testing.assert_array_equal(of.argmin(*ends), [0, 2, 1, -1])
    first, second, third = (np.array(one) for one in range(3))
    assert of.min(first, third) == 1 and of.argmin(first, third) == 2
    nothing = np.empty(0, "int64")
    assert len(of.min(nothing, nothing)) == 0
    ties = library.rmq(np.array([1, 1]), ties="rightmost")
    assert ties.argmin(first, second) == 1 and ties.info.options["ties"] == "rightmost"


def test_single_numbers_and_lists():
    of = raydex.rmq(np.array([3.0, np.nan, 1.0]))
    assert of.min(0, 2) == 1 and of.argmin(0, 2) == 2
    np.testing.assert_array_equal(of.argmin([0, 1], [1, 2]), [0, 2])
    assert len(of.min([], [])) == 0


def test_maxima_have_nan_and_empty_ranges(library):
    of = library.rmq(np.array([3.0, np.nan, 1.0, -0.0]), extremes="max")
    ends = np.array([0, -5, 2, 2]), np.array([0, 99, 3, 1])
    np.testing.assert_array_equal(of.max(*ends), [3, np.nan, 1, np.nan])
    np.testing.assert_array_equal(of.argmax(*ends), [0, 1, 2, -1])
    assert not np.signbit(of.max(np.array(3), np.array(3)))
    whole = library.rmq(np.array([3, 1], "uint32"), extremes="max")
    assert whole.max(np.array(1), np.array(0)) == 0 and whole.info.extremes == "max"
    assert "extreme" not in whole.info.options


def test_one_structure_an_extreme():
    values = np.arange(10_000, dtype="float32")
    one, both = raydex.rmq(values), raydex.rmq(values, extremes="both")
    assert both.info.resident_bytes == 2 * one.info.resident_bytes
    assert (one.info.extremes, both.info.extremes) == ("min", "both")
    values[7] = 1e9
    both.refresh([7])
    assert both.argmax(0, 9999) == 7 and both.min(0, 9999) == 0
    with pytest.raises(raydex.Unsupported, match="extremes='both' or 'max'"):
        one.max(0, 1)
    with pytest.raises(raydex.Unsupported, match="built for max"):
        raydex.rmq(values, extremes="max").argmin(0, 1)
    both.close()
    with pytest.raises(ValueError, match="closed"):
        both.max(0, 1)


def test_the_array_is_kept_and_may_change():
    values = np.arange(10_000)[::-1].copy()
    of = raydex.rmq(values)
    values[5] = -1
    of.refresh([5])
    assert of.argmin(0, 9999) == 5
    del values
    gc.collect()
    assert of.min(0, 9999) == -1
    of.close()
    of.close()
    assert repr(of) == "raydex.Rmq(closed)"
    with pytest.raises(ValueError, match="rmq: it is closed"):
        of.min(0, 1)
    with raydex.rmq(np.arange(3)) as other:
        assert len(other) == 3 and other.info.n == 3 and "rmq_cover" in repr(other)


def test_refusals():
    with pytest.raises(TypeError, match="minima are of numbers"):
        raydex.rmq(np.array([b"a"]))
    with pytest.raises(ValueError, match="array: some cells are missing; fill them"):
        raydex.rmq(np.ma.array([1, 2], mask=[0, 1]))
    with pytest.raises(ValueError, match="array: its cells are 16 bytes apart; give numpy.ascontiguousarray"):
        raydex.rmq(np.arange(10)[::2])
    with pytest.raises(TypeError, match="positions are integers"):
        raydex.rmq(np.arange(3)).min([0.5], [1.0])
    with pytest.raises(ValueError, match="structure"):
        raydex.rmq(np.arange(3), "pivot_tree")
    with pytest.raises(ValueError, match="extremes"):
        raydex.rmq(np.arange(3), extremes="largest")
    with pytest.raises(ValueError, match="extremes='min'"):
        raydex.rmq(np.arange(3), extreme="maximum")
    with pytest.raises(ValueError, match="widened copy"):
        raydex.rmq(np.arange(3, dtype="int8")).refresh([1])


@pytest.mark.parametrize("dtype", ["M8[s]", "m8[ns]"])
def test_times_of_empty_ranges_are_none(dtype):
    times = np.array([5, np.iinfo("int64").max, 3], "int64").view(dtype)
    with raydex.rmq(times, extremes="both") as both:
        for extreme in (both.min, both.max):
            assert np.isnat(extreme([1, 1], [0, 1])).tolist() == [True, False]
            assert np.isnat(extreme(2, 1))
        assert both.min([0, 1], [2, 1]).tolist() == times[[2, 1]].tolist()
