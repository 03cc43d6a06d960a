# SPDX-License-Identifier: Apache-2.0
"""`searchsorted` and `isin` against NumPy's: drawn dtypes, values, sides and sorters."""

import mmap
import resource
from bisect import bisect_left, bisect_right

import hypothesis.extra.numpy as hnp
import numpy as np
import pytest
import raydex
import raydex._searching
from array_libraries import NUMBERS
from hypothesis import given
from hypothesis import strategies as st


@pytest.fixture(autouse=True, scope="module")
def always_an_index():
    """NumPy's own search, which answers small calls, would be compared with itself."""
    of, names = raydex._searching, ("_least_cells", "_least_values", "_span_of_a_table")
    before = [getattr(of, name) for name in names]
    for name in names:
        setattr(of, name, 0)
    of._span_of_a_table = -1
    yield
    for name, value in zip(names, before):
        setattr(of, name, value)


def cells(dtype):
    kind = np.dtype(dtype).kind
    if kind == "f":
        few = st.sampled_from([0.0, -0.0, 1.0, -1.5, np.inf, -np.inf, np.nan])
        return st.one_of(few, hnp.from_dtype(np.dtype(dtype)))
    if kind in "iu":
        info = np.iinfo(dtype)
        few = [x for x in (0, 1, 2, 127, -1, -128, 255, 1 << 24, (1 << 53) + 1, 1 << 53, info.min, info.max)
               if info.min <= x <= info.max]
        return st.one_of(st.sampled_from(few), hnp.from_dtype(np.dtype(dtype)))
    return hnp.from_dtype(np.dtype(dtype))


def arrays(dtype, dimensions=1):
    shapes = hnp.array_shapes(min_dims=1, max_dims=dimensions, min_side=0, max_side=30)
    return hnp.arrays(np.dtype(dtype), shapes, elements=cells(dtype))


def check_search(a, v, side, sorter=None, library=raydex):
    expected = np.searchsorted(a, v, side=side, sorter=sorter)
    found = library.searchsorted(a, v, side=side, sorter=sorter)
    np.testing.assert_array_equal(found, expected)
    assert found.dtype == expected.dtype and type(found) is type(expected) and np.shape(found) == np.shape(expected)


sides = st.sampled_from(["left", "right"])
numbers = st.sampled_from(NUMBERS)


@given(st.data(), numbers, numbers, sides)
def test_searchsorted_of_two_dtypes(library, data, one, other, side):
    a = np.sort(data.draw(arrays(one)))
    if np.promote_types(one, other) != np.dtype(one):  # sorted still where the promotion rounds
        a = np.sort(a.astype(np.promote_types(one, other))).astype(a.dtype) if np.dtype(one).kind == "f" else a
    check_search(a, data.draw(arrays(other, library.dimensions)), side, library=library)


@given(st.data(), numbers, sides)
def test_searchsorted_with_a_sorter(library, data, dtype, side):
    a = data.draw(arrays(dtype))
    check_search(a, data.draw(arrays(dtype)), side, np.argsort(a, kind="stable"), library)


@given(st.data(), st.sampled_from(["datetime64[D]", "datetime64[ns]", "timedelta64[s]"]), sides)
def test_searchsorted_of_times(data, dtype, side):
    whole = st.one_of(st.just(np.iinfo("int64").min), st.integers(-40, 40),
                      st.sampled_from([np.iinfo("int64").min + 1, np.iinfo("int64").max]))
    draw = lambda: np.array(data.draw(st.lists(whole, max_size=30)), "int64").view(dtype)  # noqa: E731
    check_search(np.sort(draw()), draw(), side)


@given(st.data(), st.sampled_from(["S1", "S3", "S8"]), st.sampled_from(["S1", "S4"]), sides)
def test_searchsorted_of_strings(data, one, other, side):
    check_search(np.sort(data.draw(arrays(one))), data.draw(arrays(other)), side)


@given(st.data(), numbers, sides, st.one_of(st.integers(-(1 << 62), 1 << 62), st.floats(), st.booleans()))
def test_searchsorted_of_a_number(library, data, dtype, side, number):
    a = np.sort(data.draw(arrays(dtype)))
    if library.name != "numpy":
        check_search(a, np.array(number), side, library=library)
    elif type(number) is not int:
        check_search(a, number, side)
    elif a.dtype.kind != "f":  # exact, as NumPy is not beside uint64
        bisect = {"left": bisect_left, "right": bisect_right}[side]
        assert raydex.searchsorted(a, number, side=side) == bisect(a.tolist(), number)
    elif float(number) == number:
        check_search(a, number, side)
    else:
        with pytest.raises(raydex.InvalidArgument, match="is no float64"):
            raydex.searchsorted(a, number, side=side)


@given(st.data(), st.lists(st.one_of(st.integers(-3, 3), st.integers(-(1 << 63), (1 << 63) - 1)), min_size=1), sides)
def test_searchsorted_of_signed_lists_and_uint64(data, own, side):
    bisect = {"left": bisect_left, "right": bisect_right}[side]
    column = np.sort(data.draw(arrays("uint64")))
    for a, v in ((column, own), (sorted(own), column)):
        expected = [bisect(list(map(int, a)), int(x)) for x in v]
        assert raydex.searchsorted(a, v, side=side).tolist() == expected


@given(st.lists(st.integers(-5, 5)), st.lists(st.one_of(st.integers(-5, 5), st.floats())), sides)
def test_searchsorted_of_lists(a, v, side):
    check_search(sorted(a), v, side)


@given(st.data(), numbers, numbers, st.booleans())
def test_isin_of_two_dtypes(library, data, one, other, invert):
    element, tests = data.draw(arrays(one, library.dimensions)), data.draw(arrays(other, library.dimensions))
    kinds = np.dtype(one).kind + np.dtype(other).kind
    if set(kinds) == {"i", "u"} and "uint64" in (one, other):  # NumPy rounds on one of its ways
        expected = np.array([any(int(x) == int(y) for y in tests.flat) for x in element.flat], bool) ^ invert
        expected = expected.reshape(element.shape)
    elif "f" in kinds and kinds != "ff":  # and takes integers that are rounded to one number for equal ones
        both = np.promote_types(one, other)
        equal = element.astype(both)[..., None] == tests.astype(both).reshape(-1)
        expected = equal.any(axis=-1) ^ invert
    else:
        expected = np.isin(element, tests, invert=invert)
    found = library.isin(element, tests, invert=invert)
    np.testing.assert_array_equal(found, expected)
    assert found.dtype == bool and found.shape == expected.shape


@pytest.mark.parametrize("signed", ["int8", "int64"])
def test_isin_of_signed_and_unsigned_numbers_is_exact(library, signed):
    low, large = np.array([-1, 5, np.iinfo(signed).min, np.iinfo(signed).max], signed), 1 << 53
    high = np.array([(1 << 64) - 1, 5, 1 << 63, 127, large], "uint64")
    odd = np.array([large + 1, large, -large - 1]).astype(signed)
    for one in (low, odd):
        for element, tests in ((one, high), (high, one), (one[:0], high), (high, one[:0])):
            expected = np.array([int(x) in map(int, tests) for x in element], bool)
            for invert in (False, True):
                np.testing.assert_array_equal(library.isin(element, tests, invert=invert), expected ^ invert)


@given(st.data(), st.sampled_from(["datetime64[ns]", "timedelta64[s]", "S3"]), st.booleans())
def test_isin_of_times_and_strings(data, dtype, invert):
    element, tests = data.draw(arrays(dtype)), data.draw(arrays(dtype))
    np.testing.assert_array_equal(
        raydex.isin(element, tests, invert=invert), np.isin(element, tests, invert=invert))


def test_of_nothing():
    for some in (["a", "b"], np.array(["2020-01-01", "2020-01-02"], "M8[D]"), np.array([1, 2], "u8"), [-1, 2]):
        for nothing in ([], np.array([])):
            assert raydex.isin(nothing, some).tolist() == [] == raydex.searchsorted(some, nothing).tolist()
            assert raydex.isin(some, nothing).tolist() == [False, False]
            assert raydex.searchsorted(nothing, some).tolist() == [0, 0]
    assert raydex.isin(np.zeros((0, 3)), ["a"]).shape == (0, 3)
    for one in (np.array([], "M8[D]"), np.array([], "S3"), np.array([], "i8"), np.array([])):
        for other in (np.array([], "M8[ns]"), np.array([], "U3"), np.array([], "c16"), []):
            assert raydex.isin(one, other).tolist() == [] == raydex.searchsorted(other, one).tolist()


def test_isin_of_numbers_and_lists():
    for element in (3, [3, 4], np.float32(2)):
        expected = np.isin(element, [3, 2, 2])
        found = raydex.isin(element, [3, 2, 2])
        np.testing.assert_array_equal(found, expected)
        assert type(found) is type(expected) and found.shape == expected.shape


def test_isin_is_called_as_of_numpy():
    element, tests = np.arange(5), np.array([3, 9])
    for unique in (False, True):
        np.testing.assert_array_equal(raydex.isin(element, tests, unique, True), np.isin(element, tests, unique, True))
    for kind in (None, "sort", "table"):
        np.testing.assert_array_equal(raydex.isin(element, tests, kind=kind), np.isin(element, tests, kind=kind))
    with pytest.raises(ValueError, match="kind: 'hash' is none of None, 'sort' and 'table'"):
        raydex.isin(element, tests, kind="hash")


def test_cells_that_are_not_aligned():
    keys = np.frombuffer(bytes(1) + np.arange(9).tobytes(), "u1")[1:].view("i8")
    for a, v in ((keys, keys), (keys, np.arange(9)), (np.arange(9), keys)):
        check_search(a, v, "left")
        np.testing.assert_array_equal(raydex.isin(v, a), np.ones(9))


@pytest.mark.parametrize("side", ["left", "right"])
def test_larger_columns(library, random, side):
    a = np.sort(random.integers(0, 1 << 40, 200_000))
    v = np.concatenate([random.integers(0, 1 << 40, 50_000), a[::7]])
    check_search(a, v, side, library=library)
    np.testing.assert_array_equal(library.isin(v, a), np.isin(v, a))


@pytest.mark.parametrize("side", ["left", "right"])
def test_cells_in_other_orders(random, side):
    a, v = np.sort(random.integers(0, 1 << 40, 20_000)), random.integers(0, 1 << 40, 5_000)
    check_search(a[::-1][::-1], v[::-1], side)
    check_search(a.astype(">i8"), v, side)


@pytest.fixture
def usual_ways(monkeypatch):
    for name, value in (("_least_cells", 1 << 8), ("_least_values", 1 << 8), ("_span_of_a_table", 6)):
        monkeypatch.setattr(raydex._searching, name, value)


def test_small_calls_are_answered_as_well(random, usual_ways):
    a = np.sort(random.integers(0, 100, 50))
    check_search(a, a + 1, "left")
    check_search(a, (a + 1).reshape(2, 25), "left")
    check_search(np.arange(100_000), np.array([5, 7]), "right")
    check_search(np.arange(100_000), np.arange(0, 100_000, 3), "right")
    check_search(np.sort(random.random(9)), random.random(9), "right")
    for cells in (9, 1000):
        for most in (2000, 1 << 60):
            element, tests = (random.integers(0, most, cells) for _ in range(2))
            tests[::3] = element[::3]
            np.testing.assert_array_equal(raydex.isin(element, tests), np.isin(element, tests))
            np.testing.assert_array_equal(raydex.isin(element, tests, invert=True), ~np.isin(element, tests))
    assert raydex.isin(np.arange(600), np.arange(0)).sum() == 0


def test_few_values_do_not_read_a_large_column(usual_ways):
    """Pages of a large column are there once they are read: there are few of them afterwards."""
    try:
        pages = mmap.mmap(-1, 1 << 33, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | 0x4000)  # MAP_NORESERVE
    except OSError:
        pytest.skip("not so much memory can be named")
    rows = np.frombuffer(pages, "int64")
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    for count in (1, 100, 1000):
        assert (raydex.searchsorted(rows, np.full(count, -1)) == 0).all()
        assert (raydex.searchsorted(rows, np.zeros(count, "int64"), "right") == len(rows)).all()
    assert resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before < 2000


def test_plain_arrays_and_others_are_answered_alike(random):
    """Arrays that are read as they lie go another way than those that are looked at."""
    a, v = np.sort(random.integers(0, 1000, 5000)), random.integers(0, 1100, 3000)
    forms = [(a, v), (a[::2], v[::3]), (a, np.ma.array(v)), (a, v.astype(">i8")), (a, v[::-1]), (list(a), v)]
    for one, other in forms:
        index = raydex.build(np.asarray(one))
        other = other if isinstance(other, np.ndarray) else np.asarray(other)
        check_search(np.asarray(one), np.asarray(other), "right")
        points = np.ascontiguousarray(np.asarray(other).astype("i8"))
        np.testing.assert_array_equal(index.rank(points), np.searchsorted(np.asarray(one), points))
        np.testing.assert_array_equal(index.count(points), index.count(points.tolist()))
        np.testing.assert_array_equal(index.count(points, points + 9), index.count(points.tolist(), points + 9))
        np.testing.assert_array_equal(raydex.isin(points, np.asarray(one)), np.isin(points, np.asarray(one)))
    floats = np.array([np.nan, 1.0, -0.0])
    assert raydex.build(floats).isin(floats).tolist() == [False, True, True]
    with pytest.raises(raydex.InvalidArgument, match="2 dimensions"):
        raydex.build(a).count(v.reshape(-1, 2))
    np.testing.assert_array_equal(raydex.build(a).count(v[::-1]), raydex.build(a).count(v)[::-1])


def test_pytorch_on_the_cpu():
    torch = pytest.importorskip("torch")
    a, v = torch.tensor([1.0, 2.0, 2.0, 5.0]), torch.tensor([2, 9])
    found = raydex.searchsorted(a, v, side="right")
    assert isinstance(found, torch.Tensor) and found.dtype == torch.int64 and found.tolist() == [3, 4]
    assert torch.equal(found, torch.searchsorted(a, v.to(a.dtype), right=True))
    assert raydex.isin(v, a).tolist() == [True, False] and raydex.isin(v, a).dtype == torch.bool


@pytest.mark.parametrize("dtype", ["int8", "int16", "int64", "uint8", "uint32"])
def test_sorters_of_every_dtype(library, dtype):
    check_search(np.array([30, 10, 20]), np.array([20, 31]), "left", np.array([1, 2, 0], dtype), library)


@pytest.mark.parametrize("sorter,error,match", [
    (np.array([0, 1]), ValueError, r"sorter: it has the shape \(2,\), but there are 3 elements"),
    (np.array([0.0, 1.0, 2.0]), TypeError, "sorter: it is of float64"),
    (np.array([0, 1, 3]), ValueError, "sorter: .*there are 3 elements"),
    (np.array([0, 1, -1]), ValueError, "sorter: .*there are 3 elements"),
])
def test_refusals_of_sorters(library, sorter, error, match):
    with pytest.raises(error, match=match):
        library.searchsorted(np.array([1, 2, 3]), np.array([1]), sorter=sorter)


def test_refusals():
    with pytest.raises(ValueError, match="side: 'middle' is neither 'left' nor 'right'"):
        raydex.searchsorted([1], [1], side="middle")
    with pytest.raises(ValueError, match="a: it has 2 dimensions"):
        raydex.searchsorted([[1]], [1])
    with pytest.raises(TypeError, match="complex numbers have no order"):
        raydex.searchsorted([1j], [1])
    with pytest.raises(TypeError, match="are not compared; convert one of them"):
        raydex.searchsorted(np.array([1], "datetime64[s]"), np.array([1.5]))
    with pytest.raises(ValueError, match="some cells are missing"):
        raydex.searchsorted(np.ma.array([1, 2], mask=[0, 1]), [1])
