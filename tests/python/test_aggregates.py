# SPDX-License-Identifier: Apache-2.0
"""Aggregates against NumPy and pandas."""

import gc
import math
import threading
from fractions import Fraction

import hypothesis.extra.numpy as hnp
import numpy as np
import pytest
import raydex
from hypothesis import given
from hypothesis import strategies as st

CPU = [one for one in raydex.structures() if one.backend == "cpu" and one.points]
ORDERED = [one.name for one in CPU if one.ranges]
UNORDERED = [one.name for one in CPU if not one.ranges]


def extreme_of_none(dtype, largest):
    """What a minimum or maximum of no value is."""
    if dtype.kind == "f":
        return np.nan
    return np.iinfo(dtype).min if largest else np.iinfo(dtype).max


def check(of, keys, values, lower, upper, missing=None):
    """All answers against a walk over all rows; `values` have no NaN, sums of floats none that round."""
    there = np.ones(len(keys), bool) if missing is None else ~missing
    hits = [(keys >= a) & (keys <= b) for a, b in zip(lower, upper)]
    each = [values[hit & there] for hit in hits]
    batch = (lower,) if lower is upper else (lower, upper)
    np.testing.assert_array_equal(of.count(*batch), [hit.sum() for hit in hits])
    np.testing.assert_array_equal(of.count_values(*batch), [len(one) for one in each])
    np.testing.assert_array_equal(of.first(*batch), [np.argmax(hit) if hit.any() else -1 for hit in hits])
    kind = {"i": "int64", "u": "uint64", "f": "float64", "b": "uint64"}[values.dtype.kind]
    sums = of.sum(*batch)
    assert sums.dtype == kind
    np.testing.assert_array_equal(sums, [one.astype(kind).sum() for one in each])
    means = of.mean(*batch)
    assert means.dtype == "float64"
    exact = [sum(map(Fraction, one.tolist()), Fraction()) / len(one) if len(one) else np.nan for one in each]
    np.testing.assert_allclose(means, np.array(exact, "float64"), rtol=1e-15)
    low, high = of.min(*batch), of.max(*batch)
    assert low.dtype == high.dtype == raydex._keys.natural("values", values.dtype)
    np.testing.assert_array_equal(
        low, [one.min() if len(one) else extreme_of_none(low.dtype, False) for one in each])
    np.testing.assert_array_equal(
        high, [one.max() if len(one) else extreme_of_none(high.dtype, True) for one in each])


@pytest.mark.parametrize("dtype", ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64",
                                   "float16", "float32", "float64", "bool"])
def test_every_dtype_of_values(library, dtype, random):
    keys = random.integers(0, 60, 500)
    least, end = 0 if dtype[0] in "ub" else -100, 2 if dtype == "bool" else 100
    values = random.integers(least, end, 500).astype(dtype)
    of = library.aggregate(library.build(keys), values)
    points = np.arange(-3, 70)
    check(of, keys, values, points, points)
    check(of, keys, values, points, points + random.integers(-2, 30, len(points)))
    if library.has_missing(dtype):
        missing = random.random(500) < 0.3
        masked = library.aggregate(library.build(keys), np.ma.array(values, mask=missing))
        check(masked, keys, values, points, points + 2, missing)


@pytest.mark.parametrize("structure", ORDERED)
def test_every_structure(library, structure, random):
    library.needs(structure)
    keys = random.permutation(900).astype("int32")[:700]
    values = random.integers(-1000, 1000, 700)
    lower = random.integers(-10, 900, 300).astype("int32")
    index = library.build(keys, structure)
    of = library.aggregate(index, values)
    check(of, keys, values, lower, lower)
    check(of, keys, values, lower, lower + np.int32(40))
    assert of.info.structure == structure


@pytest.mark.parametrize("structure", UNORDERED)
def test_structures_without_an_order(library, structure):
    with pytest.raises(raydex.Unsupported):
        library.aggregate(library.build(np.array([1, 2]), structure), np.array([1, 2]))


@given(st.data())
def test_drawn_columns(library, data):
    size = data.draw(st.integers(1, 40))
    keys = data.draw(hnp.arrays("float32", size, elements=st.sampled_from([-1.5, 0, 1, 2, np.inf])))
    values = data.draw(hnp.arrays("int64", size, elements=st.integers(-(2**62), 2**62)))
    missing = data.draw(hnp.arrays(bool, size)) & library.has_missing("int64")
    lower = data.draw(hnp.arrays("float32", 5, elements=st.sampled_from([-2, -1.5, 0, 1, np.inf])))
    upper = data.draw(hnp.arrays("float32", 5, elements=st.sampled_from([-2, -1.5, 0, 1, np.inf])))
    of = library.aggregate(library.build(keys), np.ma.array(values, mask=missing))
    check(of, keys, values, lower, upper, missing)


def test_groups_of_pandas(library, random):
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame({"key": random.integers(0, 40, 2000), "value": random.normal(0, 1e6, 2000)})
    if library.has_missing("float64"):
        frame.loc[random.random(2000) < 0.1, "value"] = np.nan
    of = library.aggregate(library.build(frame["key"]), np.ma.masked_invalid(frame["value"]))
    groups = frame.groupby("key")["value"]
    points = np.arange(40)
    np.testing.assert_array_equal(of.count(points), groups.size())
    np.testing.assert_array_equal(of.count_values(points), groups.count())
    np.testing.assert_array_equal(of.min(points), groups.min())
    np.testing.assert_array_equal(of.max(points), groups.max())
    np.testing.assert_allclose(of.sum(points), groups.sum(), rtol=1e-9)
    np.testing.assert_allclose(of.mean(points), groups.mean(), rtol=1e-9)
    whole = [math.fsum(one.dropna()) for _, one in groups]
    np.testing.assert_array_equal(of.sum(points), whole)


def are_within_the_bound(sums, each):
    """Whether sums are off by less than 2^-90 of the sum of the absolute values, and rounded once."""
    for found, values in zip(sums.tolist(), each, strict=True):
        exact = list(map(Fraction, values.tolist()))
        reach = sum(map(abs, exact), Fraction()) / 2**90
        if not float(sum(exact, -reach)) <= found <= float(sum(exact, reach)):
            return False
    return True


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("widest", [0, 40, 60])
def test_sums_of_floating_values_are_within_the_bound(library, dtype, widest, random):
    """Of numbers of any size and sign that often cancel each other but for little, by sums without rounding."""
    size = 1500
    scale = 10 if dtype == "float64" else 2
    values = random.normal(size=size) * 2.0 ** (scale * random.integers(-widest, widest + 1, size))
    values[1::3] = -values[0::3] * (1 + 2.0 ** -random.integers(20, 60, size // 3))
    values = values.astype(dtype)
    keys = np.arange(size)
    lower = random.integers(0, size, 300)
    upper = np.minimum(lower + 2 ** random.integers(0, 12, 300), size - 1)
    of = library.aggregate(library.build(keys), values)
    each = [values[a : b + 1] for a, b in zip(lower, upper)]
    assert are_within_the_bound(of.sum(lower, upper), each)
    windows = library.join_window(keys, upper, values, before=50)
    assert not are_within_the_bound(np.array([one.sum() for one in each], "float64"), each)
    assert are_within_the_bound(windows, [values[max(0, b - 50) : b + 1] for b in upper])


def test_what_sums_do_at_their_ends(library):
    index = library.build(np.array([1, 1, 1]))

    def total(values, dtype):
        return library.aggregate(index, np.array(values, dtype)).sum(np.array(1))

    assert total([1e16, 1.0, -1e16], "float64") == 1
    assert total([2**63, 2**63, 5], "uint64") == 5
    assert total([2**62, 2**62, 0], "int64") == -(2**63)
    assert total([np.inf, 1, 2.0], "float64") == np.inf
    assert np.isnan(total([np.inf, -np.inf, 2.0], "float64"))


def test_nan_comes_after_everything(library):
    of = library.aggregate(library.build(np.array([1, 1, 2, 3])), np.array([np.nan, 5.0, np.nan, -0.0]))
    points = np.array([1, 2, 3, 4])
    np.testing.assert_array_equal(of.min(points), [5, np.nan, 0, np.nan])
    np.testing.assert_array_equal(of.max(points), [np.nan, np.nan, 0, np.nan])
    assert not np.signbit(of.min(np.array(3)))


@pytest.mark.parametrize("dtype", ["datetime64[ns]", "datetime64[D]", "timedelta64[s]"])
def test_times(dtype):
    times = np.array([5, np.iinfo("int64").min, 3, np.iinfo("int64").min], "int64").view(dtype)
    assert np.isnat(times[1])
    of = raydex.aggregate(raydex.build([1, 1, 1, 2]), times)
    nothing = np.array("NaT", dtype)
    np.testing.assert_array_equal(of.min([1, 2, 9]), np.array([times[2], nothing, nothing]))
    np.testing.assert_array_equal(of.max([1, 2, 9]), np.array([times[0], nothing, nothing]))
    assert of.min(1) == times[2] and of.min(1).dtype == dtype
    np.testing.assert_array_equal(of.count_values([1, 2]), [2, 0])
    for call in (of.sum, of.mean):
        with pytest.raises(TypeError, match="sums and means are of numbers"):
            call([1])


def test_missing_keys_and_probes(library):
    keys = np.ma.array([1, 1, 2], mask=[0, 1, 0])
    of = library.aggregate(library.build(keys), np.array([10, 20, 30]))
    np.testing.assert_array_equal(of.sum(np.array([1, 2])), [10, 30])
    np.testing.assert_array_equal(of.sum(np.ma.array([1, 2], mask=[1, 0])), [0, 30])
    assert len(of) == 2


def test_explicit_rows():
    index = raydex.build([7, 8], rows=[3, 1 << 33])
    of = raydex.aggregate(index, None)
    np.testing.assert_array_equal(of.first([7, 8, 9]), [3, 1 << 33, -1])
    narrow = raydex.aggregate(raydex.build([7, 8], rows=[2, 0]), [50, 60, 70])
    np.testing.assert_array_equal(narrow.sum([7, 8]), [70, 50])
    with pytest.raises(raydex.InvalidArgument, match="values: 2 cells, but the largest row id is 2"):
        raydex.aggregate(raydex.build([7, 8], rows=[2, 0]), [50, 60])


def test_results_are_of_the_library_of_the_probes():
    torch = pytest.importorskip("torch")
    values = torch.tensor([1.5, 2.5, 3.5], dtype=torch.float32)
    of = raydex.aggregate(raydex.build(torch.tensor([3, 1, 3])), values)
    probes = torch.tensor([3, 1])
    assert of.sum(probes).tolist() == [5, 2.5] and of.sum(probes).dtype == torch.float64
    assert of.min(probes).dtype == torch.float32 and of.max(probes).tolist() == [3.5, 2.5]
    assert of.first(probes).tolist() == [0, 1] and of.count(torch.tensor(3)).ndim == 0
    assert isinstance(of.sum(np.array([3])), np.ndarray)
    times = np.array([5, 3, 4], "datetime64[s]")
    of = raydex.aggregate(raydex.build([3, 1, 3]), times)
    with pytest.raises(raydex.InvalidType, match="answers are datetime64.s., which are of NumPy"):
        of.min(torch.tensor([3]))
    with pytest.raises(raydex.InvalidType, match="which are of NumPy"):
        raydex.rmq(times).min(torch.tensor([0]), torch.tensor([1]))



def test_single_numbers_and_empty_batches():
    of = raydex.aggregate(raydex.build([3, 1, 3]), [1, 2, 4])
    assert of.sum(3) == 5 and np.ndim(of.sum(3)) == 0 and of.mean(1, 3) == pytest.approx(7 / 3)
    for call in (of.sum, of.min, of.max, of.mean, of.count, of.count_values, of.first):
        assert len(call([])) == 0 and len(call([], [])) == 0
    empty = raydex.aggregate(raydex.build(np.empty(0, "int64")), np.empty(0, "int32"))
    np.testing.assert_array_equal(empty.sum([1]), [0])
    np.testing.assert_array_equal(empty.max([1]), [np.iinfo("int32").min])


def test_what_it_was_not_built_for():
    index = raydex.build([3, 1, 3])
    bare = raydex.aggregate(index)
    np.testing.assert_array_equal(bare.count([3]), [2])
    np.testing.assert_array_equal(bare.first([3]), [0])
    for call in (bare.sum, bare.mean, bare.min, bare.max, bare.count_values):
        with pytest.raises(raydex.Unsupported, match="built without values"):
            call([3])
    parts = {"sums": ["sum", "mean"], "minima": ["min"], "maxima": ["max"], "first_rows": ["first"]}
    for part, names in parts.items():
        less = raydex.aggregate(index, [1, 2, 3], **{part: False})
        for name in ("sum", "mean", "min", "max", "first", "count_values"):
            if name in names:
                with pytest.raises(raydex.Unsupported, match=f"built without {part}"):
                    getattr(less, name)([3])
            else:
                getattr(less, name)([3])


def test_what_it_says():
    index = raydex.build(np.array([3, 1, 3], "uint32"), "sorted_array")
    with raydex.aggregate(index, np.array([1, 2, 3], "float32")) as of:
        info = of.info
        assert (info.structure, info.backend, info.device) == ("sorted_array", "cpu", "cpu")
        assert (info.key, info.value, info.entries) == ("uint32", "float", 3)
        assert 0 < info.resident_bytes <= info.build_peak_bytes
        assert repr(of).startswith(
            "raydex.Aggregate(values of float32 over sorted_array on cpu: 3 rows of uint32, ")
    assert repr(of) == "raydex.Aggregate(closed)"
    bare = raydex.aggregate(index)
    assert bare.info.value is None and "no values" in repr(bare)
    assert bare.info.resident_bytes < info.resident_bytes


def test_closing_and_edits():
    index = raydex.build(np.arange(100))
    of, other = raydex.aggregate(index, np.arange(100)), raydex.aggregate(index, np.arange(100))
    other.close()
    other.close()
    for call in (other.sum, other.min, other.mean, other.count, other.count_values, other.first):
        with pytest.raises(raydex.InvalidArgument, match="aggregate: it is closed"):
            call([1])
    with pytest.raises(raydex.InvalidArgument, match="aggregate: it is closed"):
        len(other)
    index.insert([200], [200])
    with pytest.raises(raydex.InvalidArgument, match="its index was edited after it was built"):
        of.sum([1])
    again = raydex.aggregate(index, np.arange(201))
    assert again.sum(0, 500) == 4950 + 200
    index.close()
    calls = (lambda: again.sum([1]), lambda: raydex.aggregate(index, [1]), lambda: raydex.aggregate(index))
    for call in calls:
        with pytest.raises(raydex.InvalidArgument, match="index: it is closed"):
            call()
    again.close()


def test_the_index_is_kept_and_the_values_are_not():
    values = np.arange(10_000)
    of = raydex.aggregate(raydex.build(np.arange(10_000)), values)
    values[:] = 0
    del values
    gc.collect()
    assert of.sum(0, 9_999) == 9_999 * 5_000


def test_an_index_that_is_closed_while_others_ask():
    wrong = []
    for _ in range(10):
        index = raydex.build(np.arange(50_000))
        of = raydex.aggregate(index, np.ones(50_000))
        points = np.zeros(20_000, "int64")

        def ask(of=of, points=points):
            try:
                for _ in range(20):
                    assert of.sum(points, points + 49_999)[-1] == 50_000
            except raydex.InvalidArgument as error:
                assert "it is closed" in str(error)

        def checked(ask=ask):
            try:
                ask()
            except BaseException as error:  # of a thread, which would end in silence
                wrong.append(error)

        threads = [threading.Thread(target=one) for one in (checked, checked, index.close)]
        for one in threads:
            one.start()
        for one in threads:
            one.join()
    assert not wrong


def test_refusals():
    index = raydex.build([1, 2])
    with pytest.raises(TypeError, match=r"index: a list is none; give raydex.build\(column\)"):
        raydex.aggregate([1, 2], [1, 2])
    with pytest.raises(TypeError, match="values: they are S2; aggregates are of numbers and times"):
        raydex.aggregate(index, np.array([b"ab", b"c"]))
    with pytest.raises(TypeError, match="strings of any length"):
        raydex.aggregate(index, pytest.importorskip("pyarrow").array(["a", "b"]))
    with pytest.raises(ValueError, match="values: 1 cells, but the largest row id is 1"):
        raydex.aggregate(index, [1])
    with pytest.raises(ValueError, match="in host memory have none"):
        raydex.aggregate(index, [1, 2], stream=3)
    with pytest.raises(ValueError, match="in host memory have none"):
        raydex.aggregate(index, stream=3)
