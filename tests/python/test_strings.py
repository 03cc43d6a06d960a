# SPDX-License-Identifier: Apache-2.0
"""Indexes over strings of any length, against a walk over all of them."""

import bisect
import gc
import sys
import threading
import types
import uuid
import weakref

import numpy as np
import pytest
import raydex
from arrow_device import OnDevice
from hypothesis import given
from hypothesis import strategies as st
from raydex import _joins

pa = pytest.importorskip("pyarrow")

STRUCTURES = [one.name for one in raydex.structures() if one.points and one.backend == "cpu"]


def check(index, words, points, given=None):
    """`words`, `points`: with None where one is missing. `given`: the points as they are asked."""
    rows = [[i for i, word in enumerate(words) if word is not None and word == point] for point in points]
    given = pa.array(points, pa.string()) if given is None else given
    np.testing.assert_array_equal(index.first(given), [one[0] if one else -1 for one in rows])
    np.testing.assert_array_equal(index.count(given), [len(one) for one in rows])
    np.testing.assert_array_equal(index.contains(given), [bool(one) for one in rows])
    np.testing.assert_array_equal(index.isin(given, invert=True), [not one for one in rows])
    found = index.rows(given)
    np.testing.assert_array_equal(found.offsets, np.cumsum([0] + [len(one) for one in rows]))
    np.testing.assert_array_equal(found.rows, [row for one in rows for row in one])


FEW = ["", "a", "ab", "abcdefgh", "abcdefghi", "a\0b", "ä" * 40]
words = st.lists(st.one_of(st.none(), st.sampled_from(FEW), st.text(max_size=20)))


@given(words, words)
def test_drawn_strings(keys, points):
    check(raydex.build(pa.array(keys, pa.string())), keys, points)


@pytest.mark.parametrize("structure", ["auto", *STRUCTURES])
def test_every_structure(structure, random):
    keys = [f"a long common begin {one}" for one in random.integers(0, 400, 1000)]
    points = [f"a long common begin {one}" for one in random.integers(0, 500, 300)]
    with raydex.build(pa.array(keys), structure) as index:
        assert structure in ("auto", index.info.structure)
        check(index, keys, points)


LAYOUTS = ["string", "large_string", "binary", "large_binary", "string_view", "dictionary"]


def laid_out(words, kind):
    array = pa.array(words, pa.string())
    return array.dictionary_encode() if kind == "dictionary" else array.cast(kind)


@pytest.mark.parametrize("kind", LAYOUTS)
def test_every_layout(kind, random):
    keys = [None if one == 0 else "word " * int(one) for one in random.integers(0, 9, 200)]
    array = laid_out(keys, kind)
    for of in (array, pa.chunked_array([array.slice(0, 70), array.slice(70)])):
        check(raydex.build(of), keys, keys[:50], of.slice(0, 50))


def forms(array):
    """An array as users may have it: of pyarrow, cut out of a longer one, in chunks, and of others through each of
    Arrow's interfaces."""
    before = array[:3]
    cut = pa.concat_arrays([before, array, array[:2]]).slice(len(before), len(array))
    chunks = pa.chunked_array([array[:1], array[1:1], array[1:]])
    of_others = [
        types.SimpleNamespace(**{name: getattr(of, name)})
        for of, name in (
            (array, "__arrow_c_array__"), (array, "__arrow_c_device_array__"), (chunks, "__arrow_c_stream__"),
        )
    ]  # fmt: skip
    return [array, cut, pa.chunked_array([array]), chunks, *of_others, OnDevice(array, kind=1, number=-1)]


@pytest.mark.parametrize("kind", LAYOUTS)
@pytest.mark.parametrize("size", [0, 1, 13, 200])
@pytest.mark.parametrize("missing", [False, True])
def test_joins_of_every_form(kind, size, missing, random, monkeypatch):
    monkeypatch.setitem(sys.modules, "pylibcudf", types.SimpleNamespace(Column=OnDevice))
    words = [f"word {one} of several" if one or not missing else None for one in random.integers(0, size + 1, size)]
    points = [words[one] for one in random.permutation(size)] + ["none of them", ""]
    expected = {
        how: [(at, row) for at, point in enumerate(points) for row in matches(words, point, how)]
        for how in ("inner", "left")
    }
    probes = laid_out(points, kind)
    for build, probe in zip(forms(laid_out(words, kind)), forms(probes)):
        for sides in ((build, probe), ((build,), [probe]), ({"a": build}, {"a": probe}), (build, probes)):
            for how, pairs in expected.items():
                found = raydex.join(*sides, how)
                assert list(zip(found.probe.tolist(), found.build.tolist())) == pairs


def matches(words, point, how):
    rows = [row for row, word in enumerate(words) if word is not None and word == point]
    return rows or ([-1] if how == "left" else [])


def test_joins_of_several_layouts():
    words, points = ["a longer text", "another one", None], ["another one", None, "a longer text"]
    each = [*(laid_out(words, kind) for kind in LAYOUTS), words]
    others = [*(laid_out(points, kind) for kind in LAYOUTS), points]
    for build in each:
        for probe in others:
            assert raydex.join(build, probe).build.tolist() == [1, 0]
            assert raydex.join((build, [1, 2, 3]), (probe, [2, 2, 1])).build.tolist() == [1, 0]


def test_joins_of_strings_compare_no_types(monkeypatch):
    """They are the same of all, so that nothing is asked again and again, of the columns of several keys too."""
    asked = []
    own = _joins.key_of
    monkeypatch.setattr(_joins, "key_of", lambda *of: asked.append(of) or own(*of))
    texts, large, numbers = pa.array(["a", "b"]), pa.array(["b", "c"], pa.large_string()), np.arange(2)
    assert raydex.join(texts, large).build.tolist() == [1]
    assert raydex.join((texts, numbers), (large, np.array([1, 0]))).build.tolist() == [1]
    assert not asked
    assert raydex.join(texts, large.dictionary_encode()).build.tolist() == [1]
    assert raydex.join(["a", "b"], large).build.tolist() == [1]
    assert asked


def test_joins_with_what_is_no_text():
    texts, uuids = pa.array(["a longer text"]), pa.array([b"0123456789abcdef"], pa.uuid())
    for other, name in ((pa.array([1]), "int64"), (np.array([1.5]), "float64"), (uuids, "uuid")):
        with pytest.raises(raydex.InvalidType, match=f"probe: it is of {name}, but build of strings; these are not"):
            raydex.join(texts, other)
        with pytest.raises(raydex.InvalidType, match=f"probe: it is of strings, but build of {name}; these are not"):
            raydex.join(other, texts)
    assert raydex.join(uuids, uuids).build.tolist() == [0]
    assert raydex.join(pa.chunked_array([], pa.string()), texts, "left").build.tolist() == [-1]
    assert raydex.join(texts, pa.nulls(2), "left").build.tolist() == [-1, -1]
    assert raydex.join(pa.nulls(2), texts, "left").build.tolist() == [-1]
    with pytest.raises(raydex.InvalidArgument, match="in host memory, but build in cuda:3"):
        raydex.join(OnDevice(texts), texts)
    with pytest.raises(raydex.InvalidArgument, match=r"build: no columns; a key has 1 to 16"):
        raydex.join(pa.StructArray.from_arrays([], names=[]), texts)


def test_points_as_users_have_them():
    keys = ["alpha", "a longer word than a key", "alpha", "", None]
    index = raydex.build(pa.array(keys))
    points = ["alpha", "beta", "", "a longer word than a key"]
    check(index, keys, points, points)
    check(index, keys, points, [one.encode() for one in points])
    check(index, keys, points, np.array([one.encode() for one in points]))
    check(index, keys, points, np.array([one.encode() for one in points for _ in range(2)], "S30")[::2])
    masked = np.ma.array([b"alpha", b"alpha", b"beta"], mask=[True, False, False])
    check(index, keys, [None, "alpha", "beta"], masked)
    assert index.count("alpha") == 2 and np.ndim(index.count("alpha")) == 0
    assert index.first("beta") == -1 and bool(index.contains(""))
    assert index.rows("alpha").rows.tolist() == [0, 2]
    np.testing.assert_array_equal(index.isin(np.array([[b"alpha", b"x"]])), [[True, False]])
    pl, pd = pytest.importorskip("polars"), pytest.importorskip("pandas")
    for of in (pl.Series(points), pd.Series(points), pd.Series(points, dtype="category")):
        check(index, keys, points, of)
    for of in (pl.Series(keys), pd.Series(keys), pl.DataFrame({"a": keys})):
        check(raydex.build(of), keys, points)
    with pytest.raises(TypeError, match=r"they are int64, but strings are asked for"):
        index.first(np.array([1]))
    check(index, keys, points, np.array(points))
    check(index, keys, ["alpha", None], np.ma.array(["alpha", "beta"], mask=[False, True]))
    check(raydex.build(np.array(points)), points, points)
    assert index.first(np.str_("alpha")) == 0 and index.count(np.array("alpha")) == 2
    with pytest.raises(ValueError, match="2 dimensions"):
        index.first(np.array([[b"alpha"]]))
    with pytest.raises(TypeError, match="strings of any length, but int64 are asked for"):
        raydex.build([1]).first(pa.array(["a"]))


SHORT = ["", "a", "ab", "abcdefgh", "ä", "a\0b", "b"]


@given(st.lists(st.one_of(st.none(), st.sampled_from(SHORT))), words)
def test_short_strings_have_an_order(keys, points):
    """As those of a list have."""
    pl, pd = pytest.importorskip("polars"), pytest.importorskip("pandas")
    there = [one.encode() for one in keys if one is not None]
    ranks = [sum(key < point.encode() for key in there) for point in points if point is not None]
    array = pa.array(keys, pa.string())
    for column in (array, array.dictionary_encode(), array.cast("string_view"), pl.Series(keys, dtype=pl.String),
                   pd.Series(keys, dtype="string"), pd.Series(keys, dtype=pd.CategoricalDtype(SHORT))):
        index = raydex.build(column)
        check(index, keys, points)
        assert index.rank(pa.array([one for one in points if one is not None], pa.string())).tolist() == ranks
        assert index.count(["a"], ["b"]).tolist() == [sum(b"a" <= one <= b"b" for one in there)]


@pytest.mark.parametrize("of", [list, lambda keys: np.array(keys, "S"), lambda keys: pa.array(keys, pa.binary())])
def test_nul_at_the_end_is_no_padding(of):
    """Of probes that are as long as the longest key, too."""
    index = raydex.build(of([b"a", b"ab"]))
    assert index.count([b"a\0", b"a", b"\0", b"ab\0"]).tolist() == [0, 1, 0, 0]
    assert index.rank([b"a\0"]).tolist() == [1] and index.count([b"a\0"], [b"b"]).tolist() == [1]
    assert raydex.join(index, [b"a\0", b"a"]).probe.tolist() == [1]
    both = raydex.build((of([b"a", b"ab"]), [1, 2]))
    assert both.first(([b"a\0", b"a"], [1, 1])).tolist() == [-1, 0] and both.count((b"a\0",), (b"b",)) == 1
    for grown in (index, both):
        grown.insert([b"a\0"] if grown is index else ([b"a\0"], [1]), [7])
    assert index.first([b"a\0", b"a"]).tolist() == [7, 0]
    assert both.first(([b"a\0", b"a"], [1, 1])).tolist() == [7, 0]


def test_nul_at_the_end_of_fixed_bytes():
    """It is of the key, as in Arrow."""
    keys = pa.array([b"a\0", b"ab", b"\0\0"], pa.binary(2))
    index = raydex.build(keys)
    assert index.first(keys).tolist() == [0, 1, 2] and index.first([b"a\0", b"\0\0"]).tolist() == [0, 2]
    assert index.count([b"a", b""]).tolist() == [0, 0] and index.rank([b"a", b""], "right").tolist() == [1, 0]
    assert index.count([b"a"], [b"b"]).tolist() == [2] and index.count(pa.array([b"a"], pa.binary(1))) == 0
    assert index.count(raydex.starts_with([b"a\0", b"a", b"\0"])).tolist() == [1, 2, 1]
    with pytest.raises(raydex.InvalidArgument):
        index.insert([b"a"], [7])
    # As probes of keys that are padded.
    texts = raydex.build([b"a", b"ab", b""])
    assert texts.count(keys).tolist() == [0, 1, 0] and texts.rank(keys).tolist() == [2, 2, 1]
    assert raydex.join([b"a", b"ab", b""], keys).build.tolist() == [1]
    assert raydex.join(keys, [b"a", b"ab"]).build.tolist() == [1]
    assert raydex.join(keys, keys).build.tolist() == [0, 1, 2]
    one = pa.array([b"a", b"\0"], pa.binary(1))
    assert raydex.build(one).count([b"", b"a", b"\0"]).tolist() == [0, 1, 1]


def test_what_makes_strings_short():
    pd = pytest.importorskip("pandas")
    assert raydex.build(pd.Series(["b", "a"])).count(["b"], ["c"]).tolist() == [1]
    assert raydex.build(np.array([b"ab", b"c"], "S20")).rank([b"b"]).tolist() == [1]
    assert raydex.build(pa.array(["c", "a"]), rows=[7, 3]).first(["c"]).tolist() == [7]
    for cells in (["a\0", "b"], ["a", "of nine bytes"], [b"abcdefg\0"]):
        index = raydex.build(pa.array(cells))
        assert index.info.key == "strings" and index.first(cells).tolist() == list(range(len(cells)))


def test_many_rows_of_a_key(random):
    """More than are at hand at a time."""
    keys = np.array(["one", "two", "three"])[random.choice(3, 100_000, p=[0.9, 0.09, 0.01])]
    index = raydex.build(pa.array(keys))
    points = ["three", "one", "zero", "one", "two"]
    rows = [np.flatnonzero(keys == one) for one in points]
    np.testing.assert_array_equal(index.first(points), [one[0] if len(one) else -1 for one in rows])
    found = index.rows(points)
    np.testing.assert_array_equal(found.offsets, np.cumsum([0] + [len(one) for one in rows]))
    np.testing.assert_array_equal(found.rows, np.concatenate(rows))


def test_empty_columns_and_batches():
    nothing = pa.array([], pa.string())
    empty, full = raydex.build(nothing), raydex.build(pa.array(["a", "b"]))
    check(empty, [], ["a", None])
    for index in (empty, full):
        check(index, [], [])
    assert len(empty) == 0 and len(full) == 2
    assert len(raydex.build(pa.array([None, None], pa.string()))) == 0


def test_what_it_says_and_keeps():
    column = pa.array(["a long word %d" % one for one in range(1000)])
    index = raydex.build(column)
    info = index.info
    assert (info.key, info.n, info.entries, info.max_row_id) == ("strings", 1000, 1000, 999)
    assert info.resident_bytes > 0 and info.options
    assert "1000 rows of strings" in repr(index)
    del column
    gc.collect()
    assert index.first("a long word 7") == 7
    index.close()
    assert repr(index) == "raydex.Index(closed)"
    for call in (index.first, index.count, index.rows, index.contains):
        with pytest.raises(raydex.InvalidArgument, match="index: it is closed"):
            call("a long word 7")


def test_joins_over_it():
    keys, probe = pa.array(["b", "a", None, "b"]), pa.array(["b", "x", None])
    index = raydex.build(keys)
    for how in ("inner", "left", "semi", "anti"):
        found, expected = raydex.join(index, probe, how), raydex.join(keys, probe, how)
        assert found.to_arrow().equals(expected.to_arrow())


def test_refusals():
    """Of those that are found by a hash."""
    index = raydex.build(pa.array(["a", "b", "of nine bytes"]), "hash_open")
    calls = {
        "upper": lambda: index.count(["a"], ["b"]),
        "rank": lambda: index.rank(["a"]), "index": lambda: raydex.aggregate(index),
        "predecessor": lambda: index.predecessor(["a"]), "successor": lambda: index.successor(["a"]),
    }
    for name, call in calls.items():
        with pytest.raises(NotImplementedError, match=f"{name}: strings of any length are found by a hash here"):
            call()
    with pytest.raises(raydex.InvalidArgument, match="structure: 'tree'"):
        raydex.build(pa.array(["a"]), "tree")
    check(raydex.build(["a longer word than a key"]), ["a longer word than a key"], ["a"])


ORDERED = ["auto", *(one.name for one in raydex.structures() if one.ranges and one.backend == "cpu")]


def check_order(index, keys, points, ends):
    """Of bytes, with None where one is missing."""
    there = sorted((key, row) for row, key in enumerate(keys) if key is not None)
    in_order = [key for key, _ in there]

    def row_at(place):
        return there[place][1] if 0 <= place < len(there) else -1

    left = [bisect.bisect_left(in_order, one) for one in points]
    right = [bisect.bisect_right(in_order, one) for one in points]
    given = pa.array(points, pa.binary())
    assert index.rank(given).tolist() == left and index.rank(given, "right").tolist() == right
    for strict, before, behind in ((False, right, left), (True, left, right)):
        found = [None if row < 0 else keys[row] for row in index.predecessor(given, strict).tolist()]
        assert found == [None if one == 0 else in_order[one - 1] for one in before]
        assert index.successor(given, strict).tolist() == [row_at(one) for one in behind]
    within = [[row for key, row in there if low <= key <= high] for low, high in zip(points, ends)]
    uppers = pa.array(ends, pa.binary())
    assert index.count(given, uppers).tolist() == list(map(len, within))
    assert index.first(given, uppers).tolist() == [min(one, default=-1) for one in within]
    found = index.rows(given, uppers)
    parts = [found.rows[a:b].tolist() for a, b in zip(found.offsets, found.offsets[1:])]
    assert parts == within


letters = st.sampled_from([b"", b"\0", b"a", b"b", b"\xff", b"a long word", b"of eight", b"https://example.org/"])
long_words = st.lists(letters, max_size=8).map(b"".join)


@given(st.lists(st.one_of(st.none(), long_words), max_size=40), st.lists(st.tuples(long_words, long_words)))
def test_drawn_strings_have_an_order(keys, ranges):
    keys = [*keys, b"at least one of them is long"]
    check_order(raydex.build(pa.array(keys, pa.binary())), keys, [a for a, _ in ranges], [b for _, b in ranges])


@pytest.mark.parametrize("structure", ORDERED)
def test_every_structure_in_order(structure, random):
    keys = [f"of more than eight {one}".encode() for one in random.integers(0, 300, 500)]
    points = [f"of more than eight {one}".encode() for one in random.integers(0, 400, 100)]
    check_order(raydex.build(pa.array(keys), structure), keys, points, points[::-1])


def check_prefixes(index, keys, prefixes, of=lambda one: one):
    """`of`: puts the strings that begin keys in their place."""
    rows = [[row for row, key in enumerate(keys) if key is not None and one is not None and key.startswith(one)]
            for one in prefixes]  # fmt: skip
    given = of(raydex.starts_with(pa.array(prefixes, pa.binary())))
    assert index.count(given).tolist() == list(map(len, rows))
    assert index.first(given).tolist() == [min(one, default=-1) for one in rows]
    assert index.contains(given).tolist() == list(map(bool, rows))
    found = index.rows(given)
    parts = [sorted(found.rows[a:b].tolist()) for a, b in zip(found.offsets, found.offsets[1:])]
    assert parts == rows
    of_rows = raydex.aggregate(index, np.arange(len(keys)))
    assert of_rows.sum(given).tolist() == list(map(sum, rows))


short_words = st.lists(st.sampled_from([b"", b"\0", b"a", b"b", b"\xff"]), max_size=5).map(b"".join)


@given(st.lists(st.one_of(st.none(), long_words), max_size=40), st.lists(st.one_of(st.none(), long_words)))
def test_drawn_prefixes(keys, prefixes):
    keys = [*keys, b"at least one of them is long"]
    check_prefixes(raydex.build(pa.array(keys, pa.binary())), keys, prefixes)
    index = raydex.build((np.full(len(keys), 5), pa.array(keys, pa.binary())), descending=[False, len(keys) % 2 == 0])
    check_prefixes(index, keys, prefixes, lambda one: (np.full(len(prefixes), 5), one))


@given(st.lists(st.one_of(st.none(), short_words), max_size=40), st.lists(st.one_of(st.none(), long_words)))
def test_drawn_prefixes_of_short_strings(keys, prefixes):
    keys = [one if one is None else one.rstrip(b"\0") for one in keys]
    if any(keys):
        check_prefixes(raydex.build(pa.array(keys, pa.binary())), keys, prefixes)


def test_prefixes_as_users_have_them():
    pd, pl = pytest.importorskip("pandas"), pytest.importorskip("polars")
    urls = ["https://a.org/x", "https://b.org", "ftp://a.org", None, "https://a.org"]
    for column in (urls, pd.Series(urls), pl.Series(urls), pa.array(urls).dictionary_encode()):
        index = raydex.build(column)
        assert index.count(raydex.starts_with("https://a")) == 2 and index.count(raydex.starts_with("")) == 4
        assert sorted(index.rows(raydex.starts_with("https://a")).rows.tolist()) == [0, 4]
    labelled = index.count(raydex.starts_with(pd.Series(["ftp", "h"], index=["x", "y"])))
    assert labelled.to_dict() == {"x": 1, "y": 3}
    assert index.isin(raydex.starts_with(["ftp", "z"])).tolist() == [True, False]
    symbols = raydex.build(["AAPL", "AMZN", "MSFT"])
    assert symbols.count(raydex.starts_with(["A", "AM", "AMZN", "AMZNX", "of nine bytes"])).tolist() == [2, 1, 1, 0, 0]
    padded = raydex.build(["a", "abc"])  # by NUL bytes, which are none of them
    assert padded.count(raydex.starts_with(["a\0", "a"])).tolist() == [0, 2]
    assert repr(raydex.starts_with("a")) == "raydex.starts_with('a')"
    two = raydex.build({"kind": [1, 1, 2], "url": ["https://a.org", "https://b.org", "https://a.org"]})
    assert two.count((1, raydex.starts_with("https"))) == 2
    for call in (lambda: index.rank(raydex.starts_with("a")), lambda: index.count(raydex.starts_with("a"), "b"),
                 lambda: two.rank((1, raydex.starts_with("a")))):
        with pytest.raises(raydex.InvalidArgument, match="points: starts_with is a range of keys"):
            call()
    begin_with = raydex.starts_with(["a"])
    for call in (lambda: index.insert(begin_with, [1]), lambda: two.erase((1, begin_with)),
                 lambda: raydex.join(two, ([1], begin_with)), lambda: raydex.build(begin_with),
                 lambda: index.count("a", begin_with)):
        with pytest.raises(raydex.InvalidArgument, match="starts_with is a range of keys"):
            call()
    for nothing in ([], [None], np.array([], "U"), pd.Series([None], dtype=object), pa.nulls(1)):
        assert not np.any(symbols.count(raydex.starts_with(nothing)))
    assert raydex.build([]).count(raydex.starts_with("a")) == 0
    for of in (symbols, index):
        with pytest.raises(raydex.InvalidType, match="they are int64, but strings are asked for"):
            of.count(raydex.starts_with([1]))
    closed = raydex.build(urls)
    closed.close()
    with pytest.raises(raydex.InvalidArgument, match="index: it is closed"):
        closed.count(raydex.starts_with("a"))
    with pytest.raises(raydex.InvalidArgument, match="starts_with is of the last column"):
        two.count((raydex.starts_with("a"), "b"))
    with pytest.raises(raydex.InvalidType, match="starts_with is of texts and bytes, and the keys are int64"):
        raydex.build([1]).count(raydex.starts_with("a"))
    with pytest.raises(raydex.InvalidType, match="the keys are uuid"):
        raydex.build([uuid.uuid4()]).count(raydex.starts_with("a"))
    with pytest.raises(raydex.Unsupported, match="starts_with: strings of any length are found by a hash"):
        raydex.build(pa.array(urls), "hash_open").count(raydex.starts_with("a"))


def test_uuids_have_an_order(random):
    keys = [uuid.UUID(bytes=one.tobytes()) for one in random.integers(0, 256, (300, 16), dtype=np.uint8)]
    index = raydex.build(keys)
    assert index.info.key == "uuid" and index.first(keys).tolist() == list(range(300))
    assert index.rank(keys).tolist() == [sum(one < key for one in keys) for key in keys]
    assert index.count(keys[0], keys[1]) == sum(keys[0] <= one <= keys[1] for one in keys)
    assert index.first([str(one) for one in keys[:3]]).tolist() == [0, 1, 2]
    many = random.integers(0, 256, (20_000, 16), dtype=np.uint8).tobytes()
    fixed = pa.FixedSizeBinaryArray.from_buffers(pa.binary(16), 20_000, [None, pa.py_buffer(many)])
    assert raydex.build(fixed).info.resident_bytes < 26 * 20_000 + 2**16  # with the roots of two trees


def test_a_single_end_of_many_ranges():
    index = raydex.build(["a" * 9, "b" * 9])
    assert index.count(["a" * 9, "b" * 9], "b" * 9).tolist() == [2, 1]
    assert index.count("a" * 9, pa.array(["b" * 9, "a" * 9, None])).tolist() == [2, 1, 0]


def test_edits_of_strings():
    words = ["a word of many", "another word of many", "the last word of many"]
    index = raydex.build(words)
    index.insert(words[:1], [7])
    assert index.rows(words[0]).rows.tolist() == [0, 7]
    index.erase(["no word of them", *words[1:2]])
    assert index.first(words).tolist() == [0, -1, 2] and index.rank(["b"]).tolist() == [2]
    index.insert(["no word of them"], [8])
    assert index.first(["no word of them", *words]).tolist() == [8, 0, -1, 2]
    index.close()
    for call in (index.first, index.rank, index.erase):
        with pytest.raises(raydex.InvalidArgument, match="it is closed"):
            call(words)


def test_a_closed_index_frees_its_dictionary():
    one, several = raydex.build(["of nine bytes"]), raydex.build((["of nine bytes"], [1]))
    words = weakref.ref(one._words)
    for index in (one, several):
        index.close()
    assert words() is None and several._packing._native is None


@pytest.mark.parametrize("structure", ["auto", "sorted_array", "btree", "eytzinger"])
def test_new_strings_are_inserted(random, structure):
    words = [f"a text of many letters {i:03}"[: 20 + i % 7] + "x" * (i % 3) for i in range(300)]
    rows = {(words[one], row) for row, one in enumerate(random.integers(0, 60, 40).tolist())}
    index = raydex.build([key for key, _ in sorted(rows, key=lambda one: one[1])], structure)
    summed = raydex.aggregate(index, [1] * 40)
    for step in range(6):
        keys = [words[one] for one in random.integers(0, 60 + 40 * step, 20).tolist()]
        ids = random.integers(0, 200, 20).tolist()
        index.insert([None if one == 3 else key for one, key in enumerate(keys)], ids)
        rows = sorted([*rows, *(pair for one, pair in enumerate(zip(keys, ids)) if one != 3)])
        gone = words[int(random.integers(0, 300))]
        index.erase([gone, "is not there"])
        rows = [one for one in rows if one[0] != gone]
        assert len(index) == len(rows) and index.info.max_row_id >= max(row for _, row in rows)
        asked = [*words, "a text", "", "zz", "a text of many letters 05"]
        of_key = [sorted(row for key, row in rows if key == one) for one in asked]
        found = index.rows(asked)
        assert [sorted(one) for one in np.split(found.rows, found.offsets[1:-1])] == of_key
        ordered = sorted(key for key, _ in rows)
        assert index.rank(asked).tolist() == [bisect.bisect_left(ordered, one) for one in asked]
        assert index.count(raydex.starts_with("a text of many letters 0")) == sum(
            one.startswith("a text of many letters 0") for one in ordered)
        assert index.info.structure == structure or structure == "auto"
    with pytest.raises(raydex.InvalidArgument, match="its index was edited after it was built"):
        summed.count(asked)
    ended = raydex.build(["a text of some letters", None, None], structure)  # its last rows have no key
    ended.insert(["another one of some letters"], [0])
    assert ended.info.max_row_id == 2 and len(ended.bitset(["another one of some letters"])) == 1
    with pytest.raises(raydex.InvalidArgument, match="rows: 1 of them for 2 keys"):
        index.insert(["new", "newer"], [1])
    assert index.first("new") == -1


def test_new_uuids_are_inserted(random):
    ids = [uuid.UUID(bytes=random.bytes(16)) for _ in range(200)]
    index = raydex.build(ids[:50])
    for at in range(50, 200, 30):
        index.insert(ids[at : at + 30], list(range(at, at + 30)))
    assert index.first(ids).tolist() == list(range(200))
    assert index.rank(ids).tolist() == np.argsort(np.argsort([one.bytes for one in ids])).tolist()


def test_strings_are_inserted_beside_queries(random):
    """Each answer is that of one moment."""
    words = [f"a text of many letters {i:05}" for i in range(4000)]
    index = raydex.build(words[:100])
    done = threading.Event()
    wrong = []

    def ask():
        while not done.is_set():
            before = index.info.entries
            counts, after = index.count(words), index.info.entries
            found = int(counts.sum())
            if not before <= found <= after or counts[:100].sum() != 100 or (counts > 1).any():
                wrong.append((before, found, after))

    threads = [threading.Thread(target=ask) for _ in range(3)]
    for one in threads:
        one.start()
    for at in range(100, 4000, 130):
        index.insert(words[at : at + 130], range(at, at + 130))
    done.set()
    for one in threads:
        one.join()
    assert not wrong and index.first(words).tolist() == list(range(4000))


def test_aggregates_and_joins_over_strings(random):
    keys = [f"a key of many letters {one:04}" for one in random.integers(0, 500, 1000)]
    values = random.integers(0, 1000, 1000)
    index = raydex.build(pa.array(keys))
    low, high = (pa.array([f"a key of many letters {one:04}" for one in random.integers(0, 500, 50)]) for _ in range(2))
    least = [min((v for key, v in zip(keys, values) if a <= key <= b), default=2**63 - 1)
             for a, b in zip(low.to_pylist(), high.to_pylist())]  # fmt: skip
    sums = [sum(v for key, v in zip(keys, values) if a <= key <= b) for a, b in zip(low.to_pylist(), high.to_pylist())]
    of = raydex.aggregate(index, values)
    assert of.sum(low, high).tolist() == sums and index.sum(low, high, values=values).tolist() == sums
    assert of.min(low, high).tolist() == least
    pairs = raydex.join(index, low)
    assert pairs.to_arrow().equals(raydex.join(pa.array(keys), low).to_arrow())


def test_slices_of_short_texts():
    """They begin within the bytes of all."""
    index = raydex.build(pa.array(["zz", "b", "abc", "c"])[1:])
    assert index.rank(["bb"]).tolist() == [2]
    assert index.first(pa.array(["qqqq", "abc", "b", "x"])[1:]).tolist() == [1, 0, -1]


def test_texts_in_order_need_no_rows():
    """`layout=keys` takes no row ids; the dictionary has none then."""
    words = [f"a text of number {one:04}" for one in range(500)]
    index = raydex.build(words, "pivot_tree", layout="keys")
    np.testing.assert_array_equal(index.first(words[::-1]), np.arange(500)[::-1])
