# SPDX-License-Identifier: Apache-2.0
"""Lists, columns of objects and of Arrow's extension types, and names of columns, against Python's own equality: no
two cells match that Python holds for unequal, and what raydex refuses it says."""

import datetime
import decimal
import uuid

import numpy as np
import pytest
import raydex
from hypothesis import given
from hypothesis import strategies as st

pa = pytest.importorskip("pyarrow")
pd = pytest.importorskip("pandas")
pl = pytest.importorskip("polars")

UTC = datetime.timezone.utc
DAY = datetime.datetime(2020, 1, 2, 3, 4, 5, 6)
EDGES = [0, 1, -1, 2**24, 2**24 + 1, 2**31, 2**32, 2**53, 2**53 + 1, -(2**53) - 1, 2**63 - 1, 2**63, 2**63 + 1,
         -(2**63), 2**64 - 1, 2**64, 2**70]
WORDS = [b"", b"a", b"a\0", b"a\0\0", b"\0", b"abcdefgh", b"abcdefg\0", b"abcdefghi", bytes(16)]

numbers = st.sampled_from([*EDGES, True, False, 0.5, -0.0, 1.0, 2.0**53, 2.0**63, float("inf"), 1e300])
KINDS = {
    "integers": st.sampled_from(EDGES),
    "numbers": numbers,
    "numbers of NumPy": st.sampled_from(
        [np.int8(1), np.uint64(2**63 + 1), np.int64(-1), np.int64(2**53 + 1), np.float32(0.5), np.float64(2.0**53),
         np.bool_(True), np.array(3), np.array(2.0**53)]),
    "decimals": st.sampled_from(
        [*map(decimal.Decimal, ["0", "1", "1.0", "-0.5", "1e19"]), *map(decimal.Decimal, EDGES), 1, 0.5]),
    "bytes": st.one_of(st.sampled_from(WORDS), st.binary(max_size=3), st.sampled_from([b"", b"\0"]).map(bytes)),
    "str": st.sampled_from(["", "a", "a\0", "ä", "ääääh", "a longer word than a key", "a longer word than a key\0"]),
    "dates": st.sampled_from([datetime.date(1, 1, 1), datetime.date(2020, 1, 2), datetime.date(9999, 12, 31)]),
    "datetimes": st.sampled_from([DAY, DAY.replace(microsecond=7), datetime.datetime(1, 1, 1)]),
    "zoned datetimes": st.sampled_from(
        [DAY.replace(tzinfo=UTC), DAY.astimezone(UTC), DAY.astimezone(datetime.timezone(datetime.timedelta(hours=1)))]),
    "timestamps": st.sampled_from([pd.Timestamp("2020-01-02 03:04:05.000006007"), pd.Timestamp(DAY), DAY]),
    "durations": st.sampled_from([datetime.timedelta(days=1), datetime.timedelta(0, 0, 1), pd.Timedelta(1, "ns")]),
    "times of day": st.sampled_from([datetime.time(1, 2), datetime.time(23, 59, 59, 999999)]),
    "uuids": st.sampled_from([uuid.UUID(int=0), uuid.UUID(int=1), uuid.UUID(int=2**120)]),
}
NUMBERS = ("integers", "numbers", "decimals", "numbers of NumPy", "timestamps", "durations")  # not all are of one type
missing = st.sampled_from([None, None, pd.NA, pd.NaT, np.ma.masked])


def lists_of(cells):
    return st.lists(st.one_of(cells, cells, cells, missing), max_size=8)


def is_there(x):
    return not (x is None or x is pd.NA or x is pd.NaT or x is np.ma.masked)


def own(x):
    """A cell as Python's own value, since NumPy compares integers with floating numbers in float64."""
    if isinstance(x, decimal.Decimal):
        return int(x) if x == x.to_integral_value() else float(x)
    return x.item() if isinstance(x, np.ndarray) or (isinstance(x, np.generic) and x.dtype.kind in "biuf") else x


def are_equal(x, y):
    return is_there(x) and is_there(y) and bool(own(x) == own(y))


def pairs_of(build, probe):
    return sorted((p, b) for p, x in enumerate(probe) for b, y in enumerate(build) if are_equal(x, y))


def pairs(found):
    return sorted(zip(found.probe.tolist(), found.build.tolist()))


def has(dtype, x):
    """Whether a number is one of a dtype."""
    x = own(x)
    if dtype == "f8":
        return isinstance(x, float) or (abs(x) < 2**1000 and float(x) == x)
    return x == x // 1 and np.iinfo(dtype).min <= x <= np.iinfo(dtype).max


def may_be_refused(*lists):
    """Whether numbers of lists have no type by themselves, or none together."""
    there = [[one for one in cells if is_there(one)] for cells in lists]
    if any(isinstance(one, (datetime.datetime, datetime.timedelta)) for cells in there for one in cells):
        return True  # of two units

    def own_type(cells):
        if any(isinstance(own(one), float) for one in cells):
            return "f8"
        return "i8" if all(has("i8", one) for one in cells) else "u8"

    alone = all(has(own_type(cells), one) for cells in there for one in cells)
    both = [one for cells in there for one in cells]
    return not alone or not any(all(has(own_type(cells), one) for one in both) for cells in there)


@st.composite
def two_lists(draw):
    kind = draw(st.sampled_from(sorted(KINDS)))
    cells = KINDS[kind]
    return (kind, draw(lists_of(cells)), draw(lists_of(cells)))


@given(two_lists())
def test_drawn_lists(lists):
    kind, build, probe = lists
    try:
        found = raydex.join(build, probe)
    except raydex.InvalidArgument:
        assert kind in NUMBERS and may_be_refused(build, probe)
        return
    assert pairs(found) == pairs_of(build, probe)


@given(two_lists())
def test_drawn_lists_as_probes(lists):
    kind, build, probe = lists
    try:
        index = raydex.build(build)
        counts, first = index.count(probe), index.first(probe)
    except raydex.InvalidArgument:
        assert kind in NUMBERS
        return
    rows = [[b for b, y in enumerate(build) if are_equal(x, y)] for x in probe]
    assert counts.tolist() == [len(one) for one in rows]
    assert first.tolist() == [one[0] if one else -1 for one in rows]


@given(two_lists())
def test_drawn_objects_of_pandas_and_polars(lists):
    kind, build, probe = lists
    build = [one for one in build if one is not np.ma.masked and not isinstance(one, np.ndarray)]
    for of in (pd.Series(build, dtype=object), pl.Series(build, dtype=pl.Object)):
        try:
            found = raydex.join(of, probe)
        except raydex.InvalidArgument:
            assert kind in NUMBERS and may_be_refused(build, probe)
            continue
        assert pairs(found) == pairs_of(build, probe)


def test_digests_in_lists(random):
    digests = [random.bytes(16) for _ in range(3000)]
    assert sum(one.endswith(b"\0") for one in digests) > 3
    index = raydex.build(digests)
    assert index.first(digests).tolist() == list(range(3000))
    assert index.first(pa.array(digests, pa.binary())).tolist() == list(range(3000))
    assert raydex.build(pa.array(digests, pa.binary(16))).first(digests).tolist() == list(range(3000))
    short = [one[:4] for one in digests]
    assert raydex.build(pa.array(short, pa.binary(4))).contains(short).all()


def test_numbers_of_lists_are_exact():
    with pytest.raises(ValueError, match=f"no key type has all of its numbers, from -1 to {2**127}"):
        raydex.build([2**127, -1])
    with pytest.raises(ValueError, match="beside floating numbers"):
        raydex.build([2**53 + 1, 1.0])
    index = raydex.build(np.array([2**53, 2**53 + 1, 1]))
    assert index.count([2**53 + 1, 1.0]).tolist() == [1, 1]
    assert raydex.build(np.array([2.0**53])).first([2**53 + 1, 2**53]).tolist() == [-1, 0]
    assert raydex.build(np.array([np.inf], "f4")).first([1e300, np.inf]).tolist() == [-1, 0]
    with pytest.raises(TypeError, match="decimal.0. are keys of raydex.build and of joins only"):
        raydex.isin([2**63 + 1, -1], [1])
    for call in (raydex.isin, raydex.searchsorted):
        with pytest.raises(ValueError, match="9007199254740993 is no float64"):
            call(np.array([2.0**53]), [2**53 + 1])
        with pytest.raises(ValueError, match="9007199254740993 is no float64"):
            call([2**53 + 1], np.array([2.0**53]))
    assert raydex.isin([[1, 2], [3, 4]], [4, 1]).tolist() == [[True, False], [False, True]]
    assert raydex.build(np.array([0.1], "f4")).first([0.1]).tolist() == [0]  # as in NumPy


def test_lists_of_arrays_without_dimensions():
    cells = [np.array(3), np.array(4)]
    assert pairs(raydex.join([4, 3], cells)) == [(0, 1), (1, 0)]
    assert raydex.build(cells).first([4]).tolist() == [1]
    with pytest.raises(ValueError, match="its lists have no common length"):
        raydex.build([1, 2]).first([[1, 2], [3]])


@pytest.mark.parametrize("cells", [
    [1, "a"], ["a", b"a"], [DAY, DAY.date()], [DAY, DAY.replace(tzinfo=UTC)], [1, DAY], [decimal.Decimal("0.1"), 0.5],
    [decimal.Decimal(1), DAY], [decimal.Decimal("1e400")],
    [pd.Period("2020-01", "M")], [object()], [np.datetime64(1, "s"), np.timedelta64(1, "s")], ["\ud800"],
    [datetime.time(1, tzinfo=UTC)], [datetime.timedelta.max],
], ids=str)
def test_lists_that_are_refused(cells):
    with pytest.raises(raydex.InvalidArgument, match="column: "):
        raydex.build(cells)
    with pytest.raises(raydex.InvalidArgument):
        raydex.join(cells, cells)


# Empty columns and ones of nothing but missing cells

NOTHING = {
    "list": lambda size: [None] * size,
    "null": lambda size: pa.nulls(size),
    "chunks of null": lambda size: pa.chunked_array([pa.nulls(size)]),
    "a dictionary of null": lambda size: pa.DictionaryArray.from_arrays(pa.nulls(size, pa.int8()), pa.nulls(0)),
    "pandas": lambda size: pd.DataFrame({"a": [None] * size}, columns=["a"], dtype=object)["a"],
    "polars": lambda size: pl.Series([None] * size),
}
TYPED = {
    "int64": np.array([0, 1]), "uint64": np.array([0, 1], "u8"), "float64": np.array([0.0, np.nan]),
    "S3": np.array([b"", b"abc"]), "strings": pa.array(["", "a longer word than a key"]),
    "datetime64": np.array([0, 1], "M8[ns]"), "zoned": pa.array([0, 1], pa.timestamp("us", "UTC")),
    "date32": pa.array([0, 1], pa.date32()), "uuid": [uuid.UUID(int=0)] * 2, "list": [0, 1],
}


@pytest.mark.parametrize("size", [0, 2])
@pytest.mark.parametrize("typed", TYPED)
@pytest.mark.parametrize("nothing", NOTHING)
def test_columns_of_no_type(nothing, typed, size):
    none, some = NOTHING[nothing](size), TYPED[typed]
    for how, rows in (("inner", []), ("left", [0, 1]), ("semi", []), ("anti", [0, 1])):
        assert raydex.join(none, some, how).probe.tolist() == rows
        assert raydex.join(raydex.build(none), some, how).probe.tolist() == rows
        rows = rows and list(range(size))
        assert raydex.join(some, none, how).probe.tolist() == rows
        assert raydex.join(raydex.build(some), none, how).probe.tolist() == rows
    for how in ("right", "full"):
        alone = [(-1, row) for row in range(size)]
        left = [(row, -1) for row in range(2)] if how == "full" else []
        found = raydex.join(none, some, how)
        assert list(zip(found.probe.tolist(), found.build.tolist())) == left + alone
    assert len(raydex.join([none, none], [none, some]).probe if size == 2 else []) == 0
    index = raydex.build(none)
    assert len(index) == 0 and index.count(some).tolist() == [0, 0] and index.first(some).tolist() == [-1, -1]
    assert index.contains(some).tolist() == [False, False] and index.rows(some).offsets.tolist() == [0, 0, 0]
    with pytest.raises(ValueError, match="was built of no keys that say what they are of"):
        index.insert(some, [0, 1])
    if typed not in ("strings", "uuid"):
        assert index.rank(some).tolist() == [0, 0] and index.count(some, some).tolist() == [0, 0]
        if typed != "S3":
            assert raydex.join_asof(none, some).tolist() == [-1, -1]
            assert raydex.join_asof(some, none).tolist() == [-1] * size
        assert len(raydex.join_range(none, some, compare="<").probe) == 0
        assert len(raydex.join_range(some, none, build_upper=some).probe) == 0


def test_probes_of_no_keys_may_be_missing():
    index = raydex.build([])
    for probes in ([None, 1], pa.array([None, "a longer word than a key"]), np.ma.array([1, 2], mask=[True, False]),
                   np.ma.array([b"a longer word"] * 2, mask=[True, False]), np.array(["NaT", "2020-01-01"], "M8[D]")):
        assert index.rank(probes).tolist() == [-1, 0] and index.first(probes).tolist() == [-1, -1]
    assert index.count([1], [2.5]).tolist() == [0] and index.rank(5) == 0


def test_columns_without_any_type():
    assert len(raydex.join([], []).probe) == 0 == len(raydex.join([None], [None]).probe)
    assert pairs(raydex.join([None, None], [None], missing_equal=True)) == [(0, 0), (0, 1)]
    assert len(raydex.join(pd.DataFrame(columns=["a"]), pd.DataFrame({"a": [1]})).probe) == 0
    assert raydex.join_asof([], [None]).tolist() == [-1]
    day = np.timedelta64(1, "D")
    for none in ([], [None]):
        for tolerance in (day, datetime.timedelta(1), [day] * len(none), 1):
            assert raydex.join_asof(none, none, tolerance=tolerance).tolist() == [-1] * len(none)
        for distance in (day, (day, -day), 5, (1, 2)):
            assert len(raydex.join_range(none, none, distance=distance).probe) == 0
        assert raydex.rolling(none, window=day, aggregate="count").tolist() == [0] * len(none)
        assert len(raydex.join_intervals((none, none), (none, none)).probe) == 0
        assert len(raydex.join_where((none, none), (none, none), ("<", ">")).probe) == 0
    assert raydex.isin(np.array([b"a"]), []).tolist() == [False]


# Names


def frames(names, columns):
    arrays = [pa.array(one) for one in columns]
    frame = pd.DataFrame(dict(enumerate(columns)))
    frame.columns = pd.Index(names, dtype=object)
    if not all(isinstance(one, str) for one in names):
        return [frame]
    return [frame, pa.Table.from_arrays(arrays, names=names)]


@given(st.lists(st.sampled_from(["x", "y", "1", 1, 2]), min_size=1, max_size=3), st.randoms(use_true_random=False))
def test_drawn_names(names, random):
    build, probe = ([[random.randrange(2) for _ in range(6)] for _ in names] for _ in range(2))
    order = random.sample(range(len(names)), len(names))
    others = [names[i] for i in order]
    for one in frames(names, build):
        for other in frames(others, [probe[i] for i in order]):
            if len(set(map(str, names))) < len(names):
                with pytest.raises(ValueError, match="build: two columns are called"):
                    raydex.join(one, other)
                continue
            expected = [(p, b) for p in range(6) for b in range(6) if all(x[b] == y[p] for x, y in zip(build, probe))]
            assert pairs(raydex.join(one, other)) == expected


def test_equal_names_are_refused():
    twice = pa.Table.from_arrays([pa.array([1, 2]), pa.array([3, 4])], names=["x", "x"])
    with pytest.raises(ValueError, match="build: two columns are called 'x' and 'x'"):
        raydex.join(twice, twice)
    with pytest.raises(ValueError, match="probe: two columns are called 1 and '1'"):
        raydex.join([[1], [2]], {1: [1], "1": [2]})


# Extension types of Arrow

JSON = ['{"a": 1}', '{"a":1}', "1", None]
UUIDS = [uuid.UUID(int=3).bytes, bytes(16), uuid.UUID(int=3).bytes, None]
KNOWN = {
    "uuid": (pa.array(UUIDS, pa.uuid()), UUIDS),
    "a dictionary of uuid": (
        pa.DictionaryArray.from_arrays(pa.array([0, 1, 0, None], "i4"), pa.array(UUIDS[:2], pa.uuid())), UUIDS),
    "json": (pa.array(JSON, pa.json_()), JSON),
    "long binary": (pa.array(UUIDS, pa.binary(16)), UUIDS),
    "a dictionary of long binary": (pa.array(UUIDS, pa.binary(16)).dictionary_encode(), UUIDS),
}
UNKNOWN = {
    "pandas.period": lambda: pd.Series(pd.period_range("2020-01", periods=2, freq="M")),
    "pandas.interval": lambda: pd.Series(pd.interval_range(0, 2)),
    "arrow.bool8": lambda: pa.array([1, 2], pa.bool8()),
    "arrow.opaque": lambda: pa.ExtensionArray.from_storage(pa.opaque(pa.int64(), "a", "b"), pa.array([1, 2])),
}


@pytest.mark.parametrize("name", KNOWN)
def test_extension_types_that_are_known(name):
    column, values = KNOWN[name]
    for build, of_build in ((column, values), (column.slice(1), values[1:])):
        for probe, of_probe in ((column, values), (pa.chunked_array([column.slice(2), column]), values[2:] + values)):
            assert pairs(raydex.join(build, probe)) == pairs_of(of_build, of_probe)
            assert raydex.build(build).count(probe).tolist() == [
                sum(one is not None and one == other for other in of_build) for one in of_probe]


def extended(kind, storage, values):
    array = pa.array(values, storage)
    return array if kind == storage else pa.ExtensionArray.from_storage(kind, array)


EXTENDED = {  # a type, its storage, values of it, and whether it is known
    "uuid": (pa.uuid(), pa.binary(16), [bytes(16), b"\1" * 16, b"\1" * 15 + b"\0"], True),
    "json": (pa.json_(), pa.string(), ["1", "1.0", '{"a": 1}', ""], True),
    "bool8": (pa.bool8(), pa.int8(), [0, 1, 2], False),
    "opaque": (pa.opaque(pa.int64(), "a", "b"), pa.int64(), [1, 2, 3], False),
    "none": (pa.binary(12), pa.binary(12), [bytes(12), b"a" * 12, b"a" * 11 + b"\0"], True),
}


@st.composite
def extension_columns(draw, kind):
    of, storage, values, _ = EXTENDED[kind]
    cells = draw(st.lists(st.sampled_from([*values, None]), max_size=8))
    array = extended(of, storage, cells)
    if kind in ("uuid", "none") and draw(st.booleans()):
        places = [None if one is None else values.index(one) for one in cells]
        array = pa.DictionaryArray.from_arrays(pa.array(places, pa.int8()), extended(of, storage, values))
    cut = draw(st.integers(0, len(cells)))
    if draw(st.booleans()):
        array = pa.chunked_array([array.slice(0, cut), array.slice(cut)])
    elif draw(st.booleans()):
        return array.slice(cut), cells[cut:]
    return array, cells


@given(st.sampled_from(sorted(EXTENDED)).flatmap(
    lambda kind: st.tuples(st.just(kind), extension_columns(kind), extension_columns(kind))))
def test_drawn_extension_types(drawn):
    kind, (build, of_build), (probe, of_probe) = drawn
    if not EXTENDED[kind][3]:
        with pytest.raises(TypeError, match=f"the extension 'arrow.{kind}' of Arrow"):
            raydex.join(build, probe)
        return
    assert pairs(raydex.join(build, probe)) == pairs_of(of_build, of_probe)
    assert raydex.build(build).count(probe).tolist() == [
        sum(one is not None and one == other for other in of_build) for one in of_probe]


def test_uuids_are_no_texts():
    with pytest.raises(TypeError, match="it is of strings, but build of uuid"):
        raydex.join(pa.array(UUIDS, pa.uuid()), pa.array([str(uuid.UUID(int=3))]))
    assert raydex.build(pa.array(UUIDS, pa.uuid())).first([uuid.UUID(int=3)]).tolist() == [0]


@pytest.mark.parametrize("name", UNKNOWN)
def test_extension_types_that_are_not(name):
    column = UNKNOWN[name]()
    calls = [lambda: raydex.build(column), lambda: raydex.join(column, column), lambda: raydex.build([1]).first(column),
             lambda: raydex.join(pa.table({"a": pa.array(column)}), pa.table({"a": pa.array(column)}))]
    for call in calls:
        with pytest.raises(TypeError, match=f"the extension '{name}' of Arrow|they are {name[7:]}.*; give "):
            call()


class Stranger:
    pass


def test_objects_of_polars():
    same = Stranger()
    for of in (pl.Series([same, same], dtype=pl.Object), pl.DataFrame({"a": pl.Series([same], dtype=pl.Object)})):
        with pytest.raises(TypeError, match="Stranger is no key"):
            raydex.join(of, of)
        with pytest.raises(TypeError, match="Stranger is no key"):
            raydex.build(of)


# Texts of two layouts


def test_texts_of_one_width_and_of_any(random):
    words = [random.bytes(int(size)) for size in random.integers(0, 4, 200)]
    some = [one.rstrip(b"\0") for one in words[:80]]
    for build in (some, np.array(some, "S3"), np.array(some, "S12")):
        assert pairs(raydex.join(build, pa.array(words, pa.binary()))) == pairs_of(some, words)
    whole = [one.ljust(3, b"\0") for one in words]
    longer = [one + b"\0" for one in whole]
    assert len(raydex.join(pa.array(whole, pa.binary(3)), pa.array(longer, pa.binary(4))).probe) == 0
    for probe in (words, whole):
        found = raydex.join(pa.array(whole, pa.binary(3)), pa.array(probe, pa.binary()))
        assert pairs(found) == pairs_of(whole, probe)
        assert raydex.build(pa.array(probe, pa.binary())).count(pa.array(whole, pa.binary(3))).tolist() == [
            probe.count(one) for one in whole]
