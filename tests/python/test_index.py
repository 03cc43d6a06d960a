# SPDX-License-Identifier: Apache-2.0
"""All methods of an index against NumPy, for every dtype and structure."""

import functools

import numpy as np
import oracle
import pytest
import raydex
import raydex.sharded

NUMBERS = ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16", "float32",
           "float64"]
OTHERS = ["bool", "datetime64[ns]", "datetime64[D]", "timedelta64[s]", "S1", "S3", "S8"]
CPU = [one for one in raydex.structures() if one.backend == "cpu"]
ORDERED = [one.name for one in CPU if one.ranges]
FOR_KEYS = [one.name for one in CPU if one.points]


def column_of(dtype, size, random):
    dtype = np.dtype(dtype)
    if dtype.kind in "iu":
        most = min(np.iinfo(dtype).max, 300)
        return random.integers(max(np.iinfo(dtype).min, -most), most, size).astype(dtype)
    if dtype.kind == "f":
        values = np.round(random.normal(0, 40, size)).astype(dtype)
        values[random.random(size) < 0.05] = np.nan
        return values
    if dtype.kind == "b":
        return random.integers(0, 2, size).astype(bool)
    if dtype.kind == "S":
        letters = random.integers(97, 100, (size, dtype.itemsize), dtype=np.uint8)
        return letters.view(dtype).reshape(-1)
    return random.integers(-300, 300, size).astype("int64").view(dtype)


def check_all(index, keys, points, upper, missing=None):
    first, count, total, offsets, rows = oracle.answers(keys, points, points, missing)
    np.testing.assert_array_equal(index.first(points), first)
    np.testing.assert_array_equal(index.count(points), count)
    np.testing.assert_array_equal(index.sum(points, values=np.arange(len(keys))), total)
    np.testing.assert_array_equal(index.contains(points), count > 0)
    found = index.rows(points)
    np.testing.assert_array_equal(found.offsets, offsets)
    for i in range(len(points)):
        a, b = offsets[i], offsets[i + 1]
        np.testing.assert_array_equal(np.sort(found.rows[a:b]), np.sort(rows[a:b]))
    if upper is None:
        return
    first, count, total, offsets, rows = oracle.answers(keys, points, upper, missing)
    np.testing.assert_array_equal(index.first(points, upper), first)
    np.testing.assert_array_equal(index.count(points, upper), count)
    np.testing.assert_array_equal(index.sum(points, upper, values=np.arange(len(keys))), total)
    found = index.rows(points, upper)
    np.testing.assert_array_equal(found.offsets, offsets)
    np.testing.assert_array_equal(found.rows, rows)


@pytest.mark.parametrize("dtype", NUMBERS + OTHERS)
def test_every_dtype(library, dtype, random):
    keys, points, upper = (column_of(dtype, size, random) for size in (700, 150, 150))
    index = library.build(keys)
    check_all(index, keys, points, upper)
    ordered = np.sort(keys)
    np.testing.assert_array_equal(index.rank(points), np.searchsorted(ordered, points))
    np.testing.assert_array_equal(index.rank(points, "right"), np.searchsorted(ordered, points, "right"))
    if np.dtype(dtype).kind not in "f":
        for strict in (False, True):
            np.testing.assert_array_equal(
                index.predecessor(points, strict), oracle.closest(keys, points, True, strict))
            np.testing.assert_array_equal(
                index.successor(points, strict), oracle.closest(keys, points, False, strict))


@pytest.mark.parametrize("dtype", NUMBERS + OTHERS)
def test_dtypes_of_results(library, dtype, random):
    keys = column_of(dtype, 50, random)
    index = library.build(keys)
    assert {index.first(keys).dtype, index.count(keys).dtype, index.rank(keys).dtype} == {np.dtype("int64")}
    assert index.rows(keys).offsets.dtype == index.rows(keys).rows.dtype == np.int64
    assert index.contains(keys).dtype == index.isin(keys).dtype == bool


@pytest.mark.parametrize("structure", FOR_KEYS)
def test_every_structure(library, structure, random):
    library.needs(structure)
    keys = random.permutation(3000).astype("uint32")[:2000]
    points = random.integers(0, 3000, 500).astype("uint32")
    upper = points + random.integers(0, 20, 500).astype("uint32")
    with library.build(keys, structure) as index:
        assert index.info.structure == structure
        check_all(index, keys, points, upper if structure in ORDERED else None)
        if structure in ORDERED:
            np.testing.assert_array_equal(index.rank(points), np.searchsorted(np.sort(keys), points))
        else:
            with pytest.raises(raydex.Unsupported):
                index.rank(points)
            with pytest.raises(NotImplementedError):
                index.count(points, upper)


@pytest.mark.parametrize("value_type", ["int8", "int32", "int64", "uint16", "uint64", "float16", "float32",
                                        "float64"])
def test_sums_of_values(library, value_type, random):
    keys = random.integers(0, 50, 400)
    values = random.integers(0, 100, 400).astype(value_type)
    index = library.build(keys)
    lower = np.arange(50)
    sums = index.sum(lower, lower + 3, values=values)
    expected = [values[(keys >= a) & (keys <= a + 3)].astype("float64").sum() for a in lower]
    np.testing.assert_array_equal(sums, expected)
    assert sums.dtype == {"i": "int64", "u": "uint64", "f": "float64"}[np.dtype(value_type).kind]


def test_a_sum_is_of_values(library):
    index = library.build(np.array([1, 1, 2]))
    for ends in ([1], ([1], [2])):
        with pytest.raises(raydex.InvalidArgument, match="values: which column.*values=column"):
            index.sum(*ends)
        with pytest.raises(raydex.InvalidArgument, match="values: which column"):
            index.sum(*ends, values=None)


def test_sums_leave_missing_values_out(library):
    index = library.build(np.array([1, 1, 2]))
    values = np.ma.array([10, 20, 30], mask=[False, True, False])
    np.testing.assert_array_equal(index.sum(np.array([1, 2]), values=values), [10, 30])


def test_missing_keys_and_probes(library, random):
    keys = np.ma.array(random.integers(0, 20, 300), mask=random.random(300) < 0.2)
    index = library.build(keys)
    assert len(index) == keys.count()
    points = np.arange(20)
    check_all(index, keys.data, points, points + 2, np.ma.getmaskarray(keys))
    probes = np.ma.array([3, 4], mask=[True, False])
    assert index.count(probes)[0] == 0 and index.count(probes)[1] > 0
    assert index.rank(probes)[0] == -1 and index.first(probes)[0] == -1


def test_not_a_time_is_missing(library):
    times = np.array(["2020-01-02", "NaT", "2020-01-01"], "datetime64[s]")
    index = library.build(times)
    assert len(index) == 2
    np.testing.assert_array_equal(index.first(times), [0, -1, 2])
    np.testing.assert_array_equal(index.rank(times), [1, -1, 0])
    assert index.count(times[1:2], times[:1])[0] == 0
    assert index.info.key == "int64" and "datetime64[s]" in repr(index)


def test_strided_columns_stay_where_they_are(random):
    table = random.integers(0, 100, (500, 3))
    keys, points = table[:, 1], table[::4, 2]
    assert not keys.flags.c_contiguous
    check_all(raydex.build(keys), keys, points, points + 5)
    records = np.zeros(100, np.dtype([("a", "i8"), ("b", "f4"), ("c", "S3"), ("d", "i4")], align=True))
    records["b"] = random.permutation(100)
    np.testing.assert_array_equal(raydex.build(records["b"]).first(records["b"]), np.arange(100))
    records["c"] = [b"%03d" % i for i in range(100)]
    np.testing.assert_array_equal(raydex.build(records["c"]).first(records["c"]), np.arange(100))


def test_nothing_is_copied(random):
    """An index over an array that changes later keeps what it was built over; a build of 8 bytes a cell
    reads the array itself."""
    keys = random.integers(0, 1 << 40, 1 << 16)
    source = raydex._sources.look("keys", keys[::2])
    native = raydex._columns.column_of(source, 0)
    assert native.kept[0].base is keys


def test_single_numbers_and_lists():
    index = raydex.build(np.array([3, 1, 3], "uint32"))
    assert index.count(3) == 2 and np.ndim(index.count(3)) == 0
    assert index.first(7) == -1
    assert index.count(1, 3) == 3
    np.testing.assert_array_equal(index.count([1, 2, 3]), [1, 0, 2])
    np.testing.assert_array_equal(index.count(1, [1, 2, 3]), [1, 1, 3])
    np.testing.assert_array_equal(index.count([1, 2], 3), [3, 2])
    np.testing.assert_array_equal(index.count([]), [])
    assert raydex.build(np.array([0.5, 0.1], "float32")).first(0.1) == 1
    assert raydex.build(np.array([b"ab", b"c"])).first(b"c") == 1
    assert raydex.build(np.array([b"ab", b"c"])).first("c") == 1


def test_narrower_probes_are_converted(library):
    index = library.build(np.array([3, -1, 7], "int64"))
    for dtype in ("int8", "int16", "int32", "uint8", "uint16", "uint32"):
        np.testing.assert_array_equal(index.first(np.array([7, 3], dtype)), [2, 0])
    doubles = library.build(np.array([0.5, 2.0]))
    np.testing.assert_array_equal(doubles.first(np.array([2, 0], "int32")), [1, -1])
    np.testing.assert_array_equal(doubles.first(np.array([0.5], "float16")), [0])


def test_narrower_times_and_strings_are_converted():
    times = raydex.build(np.array(["2020-01-01T00:00:01"], "datetime64[ms]"))
    np.testing.assert_array_equal(times.first(np.array(["2020-01-01T00:00:01"], "datetime64[s]")), [0])
    strings = raydex.build(np.array([b"abc", b"a"]))
    np.testing.assert_array_equal(strings.first(np.array([b"a"])), [1])


def test_isin_has_the_rules_of_numpy(library):
    keys = np.array([1.0, np.nan, 3.0])
    index = library.build(keys)
    points = library.shaped(np.array([[1.0, np.nan], [2.0, 3.0]]))
    for invert in (False, True):
        np.testing.assert_array_equal(index.isin(points, invert), np.isin(points, keys, invert=invert))
    assert index.contains(np.array([np.nan]))[0]


def test_explicit_rows():
    index = raydex.build([5, 6, 5], rows=[70, 80, 60])
    np.testing.assert_array_equal(index.first([5, 6]), [60, 80])
    assert index.info.max_row_id == 80 and index.info.row_id_bits == 32
    wide = raydex.build([5, 6], rows=[1 << 40, 2])
    np.testing.assert_array_equal(wide.first([5, 6, 7]), [1 << 40, 2, -1])
    np.testing.assert_array_equal(wide.rows([5]).rows, [1 << 40])
    assert wide.info.row_id_bits == 64
    large = raydex.build([5, 6], rows=np.array([3_000_000_000, 2], "uint32"))
    np.testing.assert_array_equal(large.first([5, 7]), [3_000_000_000, -1])


@pytest.mark.parametrize("structure", [one.name for one in CPU if one.points and one.updates])
def test_edits(library, structure, random):
    library.needs(structure)
    keys = random.permutation(1000).astype("int32")
    more = np.array([2000, 2001, 2002], "int32")
    index = library.build(keys, structure)
    index.insert(more[:2], np.array([5000, 5001]))
    np.testing.assert_array_equal(index.first(more), [5000, 5001, -1])
    assert len(index) == 1002
    index.erase(keys[:100])
    np.testing.assert_array_equal(index.count(keys[:100]), np.zeros(100))
    index.insert(more[:1], np.array([5002]))
    index.erase(more[:1], np.array([5000]))
    np.testing.assert_array_equal(index.first(more[:1]), [5002])
    np.testing.assert_array_equal(index.first(keys[100:]), np.arange(100, 1000))


def test_options_and_what_an_index_says():
    index = raydex.build(np.arange(100, dtype="int32"), "cgrx", bucket=8, scan="single")
    info = index.info
    assert (info.structure, info.backend, info.device, info.key) == ("cgrx", "cpu", "cpu", "int32")
    assert info.options["bucket"] == "8" and info.n == info.entries == len(index) == 100
    assert info.resident_bytes > 0 and info.build_peak_bytes >= info.resident_bytes
    assert repr(index).startswith("raydex.Index(cgrx on cpu: 100 rows of int32, ")


def test_empty_columns_and_batches(library):
    index = library.build(np.empty(0, "float32"))
    np.testing.assert_array_equal(index.first(np.array([1], "float32")), [-1])
    np.testing.assert_array_equal(index.rows(np.array([1], "float32")).offsets, [0, 0])
    full = library.build(np.arange(5))
    nothing = np.empty(0, "int64")
    for found in (full.first(nothing), full.count(nothing, nothing), full.rank(nothing), full.rows(nothing).rows,
                  full.predecessor(nothing), full.contains(nothing)):
        assert len(found) == 0
    np.testing.assert_array_equal(full.rows(nothing).offsets, [0])
    full.insert(nothing, nothing)
    full.erase(nothing)


def test_structures():
    every = raydex.structures()
    names = {one.name for one in every}
    assert {"pivot_tree", "hash_open", "rx", "cgrx", "rmq_cover"} <= names
    for one in every:
        assert one.available == (one.reason == "")
    [tree] = [one for one in every if (one.name, one.backend) == ("pivot_tree", "cpu")]
    assert tree.points and tree.ranges and not tree.minima and "bytes" in tree.keys
    assert "search" in {option.name for option in tree.options}


def test_version():
    assert raydex.__version__.count(".") == 2


@pytest.mark.parametrize("dtype", ["int64", "uint32", "uint64"])
def test_missing_row_ids_are_refused(dtype):
    rows = np.ma.array([1, 2, 3], mask=[0, 1, 0], dtype=dtype)
    with pytest.raises(ValueError, match="missing"):
        raydex.build(np.arange(3), rows=rows)


@pytest.mark.parametrize("build", [raydex.build, functools.partial(raydex.sharded.build, devices=["cpu"])])
def test_the_old_name_of_the_column(build):
    assert build(column_of=[5, 3, 5]).count([5]).tolist() == build(column=[5, 3, 5]).count([5]).tolist() == [2]
    with pytest.raises(TypeError, match="column"):
        build([5, 3], column_of=[5, 3])
    with pytest.raises(TypeError, match="column"):
        build()
