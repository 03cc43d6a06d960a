# SPDX-License-Identifier: Apache-2.0
"""Keys of each kind, type and layout, and probes of every other one, against Python's own comparisons, DuckDB and
pandas: answered exactly, or refused with what to do."""

import bisect
import datetime
import decimal
import fractions
import ipaddress
import itertools
import math
import random
import re
import uuid

import numpy as np
import pytest
import raydex

pa = pytest.importorskip("pyarrow")
pd = pytest.importorskip("pandas")
pl = pytest.importorskip("polars")
duckdb = pytest.importorskip("duckdb")
compute = pytest.importorskip("pyarrow.compute")

from drawn_kinds import (  # noqa: E402
    COPIED,
    LAYOUTS,
    LOOSE,
    NUMBERS,
    TIME_FORMS,
    NotMade,
    drawn,
    numbers,
    place,
    places,
    unaligned,
)

STRUCTURES = [one for one in raydex.structures() if one.points and one.backend == "cpu"]
COPY = r"give numpy.array\(x\), a copy|its bytes are swapped; give x.astype"


def ints(found):
    return [int(one) for one in found]


def pairs(found):
    return sorted(zip(ints(found.probe), ints(found.build)))


def check(index, keys, given, points, form="", ends=None, is_ordered=True, nan_is_in=False):
    """An index against its keys' places. `given` are the points, whose places are `points`; `ends` are lower and upper
    ends, and their places."""
    equal = [[row for row, key in enumerate(keys) if key is not None and key == point] for point in points]
    assert len(index) == sum(key is not None for key in keys)
    assert ints(index.count(given)) == list(map(len, equal))
    assert ints(index.first(given)) == [min(rows, default=-1) for rows in equal]
    assert list(map(bool, index.contains(given))) == list(map(bool, equal))
    assert list(map(bool, index.isin(given))) == [
        bool(rows) and (nan_is_in or point != (True, 0)) for rows, point in zip(equal, points)]
    assert ints(index.rows(given).rows) == [row for rows in equal for row in rows]
    if form not in COPIED:
        assert pairs(raydex.join(index, given, "left")) == sorted(
            (p, b) for p, rows in enumerate(equal) for b in rows or [-1])
    if not is_ordered:
        return
    there = sorted(key for key in keys if key is not None)
    for side, place_of in (("left", bisect.bisect_left), ("right", bisect.bisect_right)):
        assert ints(index.rank(given, side)) == [-1 if one is None else place_of(there, one) for one in points]

    def closest(point, step):
        at = None if point is None else step(point)
        return keys.index(there[at]) if at is not None and 0 <= at < len(there) else -1
    for strict, less, more in ((False, bisect.bisect_right, bisect.bisect_left),
                               (True, bisect.bisect_left, bisect.bisect_right)):
        before = [closest(one, lambda point, less=less: less(there, point) - 1) for one in points]
        assert ints(index.predecessor(given, strict)) == before
        behind = [closest(one, lambda point, more=more: more(there, point)) for one in points]
        assert ints(index.successor(given, strict)) == behind
    if ends is None:
        return
    lower, upper, lows, highs = ends
    within = [
        sorted((row for row, key in enumerate(keys) if None not in (key, low, high) and low <= key <= high),
               key=lambda row: (keys[row], row)) for low, high in zip(lows, highs)]
    assert ints(index.count(lower, upper)) == list(map(len, within))
    assert ints(index.first(lower, upper)) == [min(rows, default=-1) for rows in within]
    assert ints(index.rows(lower, upper).rows) == [row for rows in within for row in rows]
    values = np.arange(len(keys)) * 3 + 1
    sums = [sum(3 * row + 1 for row in rows) for rows in within]
    assert ints(index.sum(lower, upper, values=values)) == sums
    assert ints(raydex.aggregate(index, values).sum(lower, upper)) == sums


def check_joins(build, keys, probe, points, rng):
    """Joins of columns, which read neither swapped nor unaligned ones."""
    equal = [[row for row, key in enumerate(keys) if key is not None and key == point] for point in points]
    hit = {row for rows in equal for row in rows}
    assert pairs(raydex.join(build, probe, "full")) == sorted(
        [(p, b) for p, rows in enumerate(equal) for b in rows or [-1]]
        + [(-1, b) for b in range(len(keys)) if b not in hit])
    sides = [[rng.randrange(4) for _ in side] for side in (keys, points)]
    last = [max((b for b in rows if sides[0][b] <= time), key=lambda b: (sides[0][b], b), default=-1)
            for rows, time in zip(equal, sides[1])]
    both = np.array(sides[0], "i4"), np.array(sides[1])
    assert ints(raydex.join_asof(*both, by=(build, probe))) == last
    assert ints(raydex.AsofIndex(both[0], by=build).join(both[1], by=probe)) == last


def check_kind(kind, rng, key=None, probe=None):
    """One drawn column of a kind, and probes."""
    size, asked = rng.randint(1, 9), rng.randint(1, 9)
    build, values, (form, dtype) = key or drawn(rng, kind, size)
    try:
        index = raydex.build(build)
    except raydex.InvalidArgument as error:
        assert form in COPIED and re.search(COPY, str(error))
        build = np.array(build).astype(build.dtype.newbyteorder("="))
        index = raydex.build(build)
    three = [probe(asked) if probe else drawn(rng, kind, asked, True, values) for _ in range(3)]
    (given, asked_for, (probe_form, _)), *ends = three
    of = [places(cells, what[0], index.info.key) for _, cells, what in three]
    keys = places(values)
    check(index, keys, given, of[0], probe_form, (ends[0][0], ends[1][0], of[1], of[2]), nan_is_in=kind != "number")
    if not {form, probe_form} & {*COPIED, *LOOSE}:  # a list joins as the type that has all of its numbers
        check_joins(build, keys, given, of[0], rng)
    if kind == "text":
        prefixes = raydex.starts_with(given)
        assert ints(index.count(prefixes)) == [
            0 if word is None else sum(key is not None and key.startswith(word) for key in keys) for word in asked_for]


@pytest.mark.parametrize("probe", NUMBERS)
@pytest.mark.parametrize("key", NUMBERS)
def test_numbers(key, probe):
    rng = random.Random(f"{key} {probe}")
    for _ in range(4):
        try:
            build = numbers(rng, rng.randint(1, 9), key)
            check_kind("number", rng, build, lambda size: numbers(rng, size, probe, large=True))
        except NotMade:
            pass


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("kind", list(TIME_FORMS))
def test_times(kind, seed):
    rng = random.Random(seed)
    for _ in range(6):
        check_kind(kind, rng)


@pytest.mark.parametrize("seed", range(40))
def test_texts(seed):
    rng = random.Random(seed)
    for _ in range(8):
        check_kind("text", rng)


@pytest.mark.parametrize("structure", STRUCTURES, ids=lambda one: one.name)
def test_structures(structure):
    rng = random.Random(7)
    for kind in ["number"] * 30 + ["text"] * 10 + [*TIME_FORMS]:
        build, values, (form, _) = drawn(rng, kind, rng.randint(1, 9))
        if form in COPIED:
            continue
        try:
            index = raydex.build(build, structure.name)
        except raydex.Unsupported:
            assert structure.name == "direct"  # which has a place for each key in a span
            continue
        given, points, (probe_form, _) = drawn(rng, kind, rng.randint(1, 9), True, values)
        points = places(points, probe_form, index.info.key)
        check(index, places(values), given, points, probe_form, is_ordered=structure.ranges, nan_is_in=kind != "number")


class Descending:
    def __init__(self, place):
        self.place = place

    def __eq__(self, other):
        return self.place == other.place

    def __lt__(self, other):
        return other.place < self.place


def masked(values, dtype):
    return np.ma.array([0 if one is None else one for one in values], mask=[one is None for one in values], dtype=dtype)


NOON = datetime.datetime(2024, 1, 1, 12)
TUPLES = {  # by kind: values, of a random generator, and forms
    "int64": (lambda rng: [-(2**63), 2**63 - 1, 0, *(rng.getrandbits(64) - 2**63 for _ in range(5))],
              [lambda v: masked(v, "i8"), lambda v: pa.array(v, pa.int64()), lambda v: pd.Series(v, dtype="Int64")]),
    "uint64": (lambda rng: [0, 2**64 - 1, *(rng.getrandbits(64) for _ in range(5))],
               [lambda v: masked(v, "u8"), lambda v: pl.Series(v, dtype=pl.UInt64)]),
    "int8": (lambda rng: [-128, 127, 0, 1, 2], [lambda v: masked(v, ">i1"), lambda v: pa.array(v, pa.int8())]),
    "bool": (lambda rng: [False, True], [lambda v: masked(v, "?"), lambda v: pd.Series(v, dtype="boolean")]),
    "float64": (lambda rng: [math.inf, -math.inf, math.nan, -0.0, 0.0, rng.gauss(0, 1) * 10.0**rng.randint(-300, 300)],
                [lambda v: masked(v, ">f8"), lambda v: pl.Series(v, dtype=pl.Float64)]),
    "text": (lambda rng: ["", "a", "ab", "é", "a\0", "😀" * 20, "p" * 64 + "1", "p" * 64 + "2"],
             [lambda v: pa.array(v, pa.string_view()), lambda v: pl.Series(v, dtype=pl.Categorical),
              lambda v: pd.Series(v, dtype="string"), lambda v: pa.array(v, pa.string()).dictionary_encode()]),
    "symbol": (lambda rng: ["", "a", "ab", "zz", "é", "a long symbol"],
               [lambda v: pa.array(v, pa.string()), lambda v: pd.Series(v, dtype=object)]),
    "uuid": (lambda rng: [uuid.UUID(int=n) for n in (0, 2**128 - 1, *(rng.getrandbits(128) for _ in range(4)))],
             [lambda v: pa.array([one and one.bytes for one in v], pa.uuid()), lambda v: pd.Series(v, dtype=object)]),
    "address": (lambda rng: [b"\0" * 16, b"\xff" * 16, b"\xff" * 15 + b"\0", *(rng.randbytes(16) for _ in range(3))],
                [lambda v: pa.array(v, pa.binary(16)), lambda v: pl.Series(v, dtype=pl.Binary)]),
    "code": (lambda rng: [b"\0\0\0", b"ab\0", b"abc", b"\xff\xff\xff"], [lambda v: pa.array(v, pa.binary(3))]),
    "date": (lambda rng: [datetime.date(*day) for day in ((2024, 1, 1), (2024, 1, 2), (1, 1, 1), (9999, 12, 31))],
             [lambda v: pa.array(v, pa.date32()), lambda v: pl.Series(v, dtype=pl.Date),
              lambda v: np.array(v, ">M8[D]")]),
    "moment": (lambda rng: [NOON, *(NOON + datetime.timedelta(microseconds=rng.getrandbits(50)) for _ in range(4))],
               [lambda v: pa.array(v, pa.timestamp("us")), lambda v: np.array(v, "M8[us]")]),
    "zoned": (lambda rng: [datetime.datetime(2024, 1, 1, 12, n, tzinfo=datetime.timezone.utc) for n in (0, 1, 9)],
              [lambda v, zone=zone: pa.array(v, pa.timestamp("us", zone)) for zone in ("UTC", "Asia/Tokyo")]),
    "span": (lambda rng: [datetime.timedelta(seconds=n) for n in (0, 1, -1, 10**6)],
             [lambda v: pa.array(v, pa.duration("us")), lambda v: pl.Series(v, dtype=pl.Duration("us"))]),
}  # fmt: skip
PEOPLE = [["text", "date"], ["symbol", "moment"], ["uuid", "moment"], ["int64", "text", "float64"],
          ["int64", "uint64"], ["address", "int64"]]


@pytest.mark.parametrize("seed", range(200))
def test_tuples(seed):
    """With missing cells first, last and unmatched, in either direction: each answer is that of sorted tuples."""
    rng = random.Random(seed)
    kinds = PEOPLE[seed % 6] if seed < 60 else rng.choices(list(TUPLES), k=rng.randint(1, 4))
    missing = [rng.choice(["unmatched", "first", "last"]) for _ in kinds]
    descending = [rng.random() < 0.4 for _ in kinds]
    pools = [TUPLES[kind][0](rng) for kind in kinds]
    few = [rng.sample(pool, min(len(pool), 4)) for pool in pools]
    share = rng.choice([0, 0.2])

    def draw(pool, size):
        return [None if rng.random() < share else rng.choice(pool) for _ in range(size)]

    def columns(values):
        return tuple(rng.choice(TUPLES[kind][1])(column) for kind, column in zip(kinds, values))

    def tuple_of(row):
        if any(one is None and how == "unmatched" for one, how in zip(row, missing)):
            return None
        return tuple(
            ((0,) if how == "first" else (2,)) if one is None else (1, Descending(place(one)) if down else place(one))
            for one, how, down in zip(row, missing, descending))
    size, asked = rng.randint(1, 25), rng.randint(1, 12)
    values, points = [draw(pool, size) for pool in few], [draw(pool, asked) for pool in pools]
    for p in range(asked):  # half of them are keys
        if rng.random() < 0.5:
            row = rng.randrange(size)
            for column, own in zip(points, values):
                column[p] = own[row]
    given = columns(points)
    index = raydex.build(columns(values), descending=descending, missing=missing)
    keys = [tuple_of(row) for row in zip(*values)]

    def in_order(rows):
        return sorted(rows, key=lambda row: (keys[row], row))
    for k in range(1, len(kinds) + 1):
        there = sorted(key[:k] for key in keys if key is not None)
        first = [tuple_of(row) for row in zip(*points[:k])]
        equal = [in_order(row for row, key in enumerate(keys) if key and key[:k] == one) for one in first]
        assert ints(index.count(given[:k])) == list(map(len, equal))
        assert ints(index.first(given[:k])) == [min(rows, default=-1) for rows in equal]
        assert ints(index.rows(given[:k]).rows) == [row for rows in equal for row in rows]
        values_of = np.arange(size) + 1
        aggregate = raydex.aggregate(index, values_of)
        assert ints(aggregate.sum(given[:k])) == [sum(row + 1 for row in rows) for rows in equal]
        for side, place_of in (("left", bisect.bisect_left), ("right", bisect.bisect_right)):
            try:
                ranks = ints(index.rank(given[:k], side))
            except raydex.Unsupported as error:
                assert "take each number" in str(error)
                break
            assert ranks == [-1 if one is None else place_of(there, one) for one in first]
        else:
            for strict, is_before in itertools.product((False, True), (True, False)):
                step = bisect.bisect_left if strict == is_before else bisect.bisect_right
                closest = index.predecessor if is_before else index.successor
                for row, one in zip(ints(closest(given[:k], strict)), first):
                    at = -1 if one is None else step(there, one) - is_before
                    if not 0 <= at < len(there):
                        assert row == -1
                    else:
                        assert row in [r for r, key in enumerate(keys) if key and key[:k] == there[at]]
        ends = draw(pools[k - 1], asked)
        upper = rng.choice(TUPLES[kinds[k - 1]][1])(ends)
        for is_open in (False, True):
            lower = (*given[: k - 1], None) if is_open else given[:k]
            within = []
            cells = places(values[k - 1])
            for p, (begin, end) in enumerate(zip(places(points[k - 1]), places(ends))):
                before = tuple_of([column[p] for column in points[: k - 1]])
                within.append([] if end is None or (begin is None and not is_open) else in_order(
                    row for row, key in enumerate(keys) if key and key[: k - 1] == before and cells[row] is not None
                    and (is_open or begin <= cells[row]) and cells[row] <= end))
            assert ints(index.rows(lower, upper).rows) == [row for rows in within for row in rows]
    some = [row for row, key in enumerate(keys) if key is not None][:3]
    if some:
        edited = columns([[column[row] for row in some] for column in values])
        index.erase(edited)
        gone = [keys[row] for row in some]
        left = [key for key in keys if key is not None and key not in gone]
        assert len(index) == len(left)
        index.insert(edited, np.arange(len(some)) + 100)
        assert ints(index.count(given)) == [0 if one is None else (left + gone).count(one) for one in first]


@pytest.mark.parametrize("seed", range(100))
def test_tuples_of_other_types(seed):
    """Probes of any type and form for each column, also of first ones and for ranges."""
    rng = random.Random(seed)
    kinds = rng.choices(["number", "number", "M", "tz", "m", "time", "text"], k=rng.randint(1, 3))
    size, asked = rng.randint(1, 12), rng.randint(1, 8)
    builds = [drawn(rng, kind, size) for kind in kinds]
    index = raydex.build(tuple(column for column, _, _ in builds))
    packed = [str(key).replace("float32", "float") for key in index._packing.keys]

    def probes():
        found = [drawn(rng, kind, asked, True, values) for kind, (_, values, _) in zip(kinds, builds)]
        return ([column for column, _, _ in found],
                [places(cells, form, own) for (_, cells, (form, _)), own in zip(found, packed)])
    (given, points), (upper, ends) = probes(), probes()
    keys = [None if None in row else row for row in zip(*(places(cells) for _, cells, _ in builds))]
    for k in range(1, len(kinds) + 1):
        first = list(zip(*points[:k]))
        equal = [[row for row, key in enumerate(keys) if key and key[:k] == one and None not in one] for one in first]
        assert ints(index.count(tuple(given[:k]))) == list(map(len, equal))
        assert list(map(bool, index.isin(tuple(given[:k])))) == list(map(bool, equal))
        within = [[row for row, key in enumerate(keys) if key and None not in (*one, end) and key[: k - 1] == one[:-1]
                   and one[-1] <= key[k - 1] <= end] for one, end in zip(first, ends[k - 1])]
        assert ints(index.count(tuple(given[:k]), (*given[: k - 1], upper[k - 1]))) == list(map(len, within))
        if kinds[k - 1] == "text":
            begin = [sum(key is not None and None not in one and key[: k - 1] == one[:-1]
                         and key[k - 1].startswith(one[-1]) for key in keys) for one in first]
            assert ints(index.count((*given[: k - 1], raydex.starts_with(given[k - 1])))) == begin


CELLS = {"int32": np.array([3, 1, 2, 3], "i4"), "float64": np.array([3.5, np.nan, -0.0, 3.5]),
         "times": np.array(["2024-01-03", "2024-01-01", "NaT", "2024-01-03"], "M8[ns]"),
         "texts": np.array(["c", "a", "éb", "c"], "U5"), "bytes": np.array([b"c", b"a", b"", b"c"], "S3")}
COLUMNS = {
    "column": lambda x, own: raydex.build(x).rows(own).rows,
    "points": lambda x, own: raydex.build(own).rows(x).rows,
    "lower": lambda x, own: raydex.build(own).count(x, own),
    "build": lambda x, own: raydex.join(x, own).build,
    "probe": lambda x, own: raydex.join(own, x).build,
    "probe of an index": lambda x, own: raydex.join(raydex.build(own), x).build,
    "by": lambda x, own: raydex.AsofIndex([1, 2, 3, 4], by=x).join([9] * 4, by=own),
    "column[0]": lambda x, own: raydex.build((x, [1, 1, 1, 1])).first((own, [1] * 4)),
    "points[0]": lambda x, own: raydex.build((own, [1, 1, 1, 1])).rank((x, [1] * 4)),
    "keys": lambda x, own: edited(own, x),
    "values": lambda x, own: raydex.aggregate(raydex.build([1, 2, 1, 1]), x).max([1, 2]),
    "looked up": lambda x, own: list(map(repr, raydex.build([1, 2, 3, 4]).lookup([4, 9, 2], x).tolist())),
}


def edited(own, keys):
    index = raydex.build(own)
    index.insert(keys, [7, 8, 9, 10])
    index.erase(keys[:1])
    return index.rows(own).rows


@pytest.mark.parametrize("layout", [*LAYOUTS, "repeated"])
@pytest.mark.parametrize("argument", COLUMNS)
@pytest.mark.parametrize("cells", CELLS)
def test_layouts(cells, argument, layout):
    """Each is taken as a copy of it is, or refused by name."""
    own = CELLS[cells]
    array = np.broadcast_to(own[:1], 4) if layout == "repeated" else LAYOUTS[layout](own)
    copy = np.array(array).astype(own.dtype)
    call = COLUMNS[argument]
    try:
        expected = call(copy, own)
    except raydex.Error:
        with pytest.raises(raydex.Error):
            call(array, own)
        return
    try:
        found = call(array, own)
    except raydex.InvalidArgument as error:
        assert layout in (*COPIED, "repeated")
        assert re.match(rf"{re.escape(argument.split(' ')[0])}: .*({COPY})", str(error))
        return
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("name", ["column", "points", "rows", "values"])
@pytest.mark.parametrize("shape", [(3, 1), (1, 3), (1, 3, 1)])
def test_dimensions(name, shape):
    array = np.asfortranarray(np.arange(3).reshape(shape))
    calls = {
        "column": lambda: raydex.build(array), "points": lambda: raydex.build([1]).first(array),
        "rows": lambda: raydex.build([1, 2, 3], rows=array),
        "values": lambda: raydex.build([1, 2, 3]).sum([1], values=array),
    }
    with pytest.raises(raydex.InvalidArgument, match=rf"{name}: it has {len(shape)} dimensions, .*; a column has one"):
        calls[name]()
    assert raydex.build([1, 2]).isin(array).tolist() == np.isin(array, [1, 2]).tolist()
    assert raydex.build([1, 2]).isin(array[::-1, ::-1]).tolist() == np.isin(array[::-1, ::-1], [1, 2]).tolist()
    assert raydex.build([1, 2]).first(np.array(2)) == 1


@pytest.mark.parametrize("rows", [
    np.array([9, 8, 7], ">i8"), np.array([7, 8, 9])[::-1], unaligned(np.array([9, 8, 7])), np.array([9, 8, 7], ">u4"),
    np.ma.array([9, 8, 7]), pd.Series([9, 8, 7], dtype="Int64"), pl.Series([9, 8, 7], dtype=pl.UInt8), [9, 8, 7],
    pa.chunked_array([[9], [8, 7]]), pa.array([9, 8, 7]).dictionary_encode(), [decimal.Decimal(n) for n in (9, 8, 7)],
], ids=lambda rows: f"{type(rows).__name__} {getattr(rows, 'dtype', '')}")
def test_rows(rows):
    assert raydex.build([1, 2, 3], rows=rows).first([1, 2, 3]).tolist() == [9, 8, 7]
    assert raydex.build(([1, 2, 3], "abc".split() * 3), rows=rows).first(([3], ["abc"])).tolist() == [7]
    index = raydex.build([0])
    index.insert([1, 2, 3], rows)
    assert index.first([1, 2, 3]).tolist() == [9, 8, 7]
    assert raydex.take(np.arange(10), rows).tolist() == [9, 8, 7]


def test_packed_records():
    """Fields of any place and byte order are columns of a key."""
    records = np.array([(1, b"ab", 2.5), (1, b"zz", 1.0), (2, b"ab", 2.5)], [("a", "i1"), ("b", "S3"), ("c", "f8")])
    other = records.astype([("a", ">i2"), ("b", "S9"), ("c", ">f4")])
    for build in (records, other, records.view(np.recarray)):
        index = raydex.build(build)
        for probe in (records, other, records.view(np.recarray)):
            assert index.first(probe).tolist() == [0, 1, 2] and index.first(probe[::-1]).tolist() == [2, 1, 0]
            assert index.rank(probe).tolist() == [0, 1, 2]
        assert index.first(records[1]) == 1 and index.count((1,)) == 2
    gone = np.ma.array(records, mask=[(0, 0, 0), (1, 0, 0), (0, 0, 0)])
    assert raydex.build(gone).first(gone).tolist() == [0, -1, 2]


def test_addresses():
    """As bytes, as text, and those of 32 bits as numbers."""
    rng = random.Random(5)
    addresses = [ipaddress.ip_address(rng.getrandbits(128)) for _ in range(300)]
    addresses += [ipaddress.ip_address(int(one) ^ 1) for one in addresses[:50]]
    packed = [one.packed for one in addresses]
    index = raydex.build(pa.array(packed, pa.binary(16)))
    nets = [ipaddress.ip_network((int(one) >> 120 << 120, 8)) for one in addresses[:40]]
    inside = [sum(one in net for one in addresses) for net in nets]
    assert index.count([net[0].packed for net in nets], [net[-1].packed for net in nets]).tolist() == inside
    assert index.count(raydex.starts_with([net[0].packed[:1] for net in nets])).tolist() == inside
    order = sorted(range(len(packed)), key=lambda row: addresses[row])
    assert index.successor(b"\0" * 16) == order[0] and index.predecessor(b"\xff" * 16) == order[-1]
    assert index.rows(b"\0" * 16, b"\xff" * 16).rows.tolist() == order
    words = raydex.build([str(one) for one in addresses])
    assert words.first([str(one) for one in addresses]).tolist() == list(range(len(addresses)))
    small = raydex.build([int(ipaddress.ip_address(f"10.0.0.{n}")) for n in (1, 9)])
    net = ipaddress.ip_network("10.0.0.0/29")
    assert small.count(int(net[0]), int(net[-1])) == 1
    for given in (addresses, pd.Series(addresses)):
        try:
            index = raydex.build(given)
        except raydex.InvalidType:
            continue
        assert ints(index.first(given)) == list(range(len(addresses)))
        assert ints(index.rank(given)) == [bisect.bisect_left(sorted(packed), one) for one in packed]


@pytest.mark.parametrize("keys,probe", [
    ([ipaddress.ip_address("::1")], "::1"), (["::1"], ipaddress.ip_address("::1")),
    ([ipaddress.ip_address("10.0.0.1")], "10.0.0.1"), (["10.0.0.1"], ipaddress.ip_address("10.0.0.1")),
])
def test_texts_of_addresses(keys, probe):
    """They are the addresses that they are written for, or are refused: not found nowhere."""
    try:
        assert raydex.build(keys).first(probe) == 0
        assert raydex.join(keys, [probe]).build.tolist() == [0]
    except raydex.InvalidType:
        pass


PRICES = ["0", "1", "-1", "1.2", "0.1", "0.05", "-0.05", "1.5", "2.5", "99999999.99", "-99999999.99", "1E+20",
          "0.000001", "12345678901234567890.12", "9223372036854775808", "-9223372036854775809", str(2**126),
          str(-(2**126))]
DECIMALS = {
    "Arrow": lambda v, scale: pa.array(v, pa.decimal128(38, scale)),
    "256 bits": lambda v, scale: pa.array(v, pa.decimal256(60, scale)),
    "dictionary": lambda v, scale: pa.array(v, pa.decimal128(38, scale)).dictionary_encode(),
    "chunks": lambda v, scale: pa.chunked_array([v[:1], v[1:]], pa.decimal128(38, scale)),
    "Polars": lambda v, scale: pl.Series(v, dtype=pl.Decimal(38, scale)),
    "pandas": lambda v, scale: pd.Series(
        pa.array(v, pa.decimal128(38, scale)), dtype=pd.ArrowDtype(pa.decimal128(38, scale))),
}


def of_scale(rng, size, scale):
    """Some cells at least as fine as the scale, of up to 38 digits."""
    def cell():
        text = rng.choice(PRICES)
        with decimal.localcontext(decimal.Context(prec=80, rounding=decimal.ROUND_FLOOR)):
            found = decimal.Decimal(text).quantize(decimal.Decimal(1).scaleb(-scale))
        return found if len(found.as_tuple().digits) <= 38 else decimal.Decimal(3)
    return [cell(), *(None if rng.random() < 0.1 else cell() for _ in range(size - 1))]


def exact(values):
    return [None if one is None else (True, 0) if one != one else
            (False, one if one in (math.inf, -math.inf) else fractions.Fraction(one)) for one in values]


@pytest.mark.parametrize("seed", range(80))
def test_decimals_of_a_scale(seed):
    """Probes of any other scale, integers of any size, and floating numbers are compared as the numbers that they
    are."""
    rng = random.Random(seed)
    scale = rng.choice([0, 2, 4])
    values = of_scale(rng, rng.randint(1, 9), scale)
    build = rng.choice(list(DECIMALS.values()))(values, scale)
    try:
        index = raydex.build(build)
    except raydex.InvalidType as error:
        pytest.skip(str(error))
    asked, kind = rng.randint(1, 9), rng.choice([*DECIMALS, "list", "int", "float", "int64"])

    def probes():
        if kind in DECIMALS or kind == "list":
            other = rng.choice([0, 1, 2, 3, 6])
            cells = of_scale(rng, asked, other)
            return (cells if kind == "list" else DECIMALS[kind](cells, other), cells)
        pool = {"int": [0, 1, -1, 3, 2**63, 10**20, 2**126, -(2**126), 2**130, -(10**60)], "int64": [0, 1, -1, 2**62],
                "float": [0.0, -0.0, 0.1, 1.2, 0.5, 1.5, math.nan, math.inf, -math.inf, 1e300, 5e-324, 1e20]}[kind]
        cells = [rng.choice(pool) for _ in range(asked)]
        return (np.array(cells) if kind == "int64" else cells, cells)
    (given, points), (lower, lows), (upper, highs) = probes(), probes(), probes()
    ends = (lower, upper, exact(lows), exact(highs))
    check(index, exact(values), given, exact(points), ends=ends, nan_is_in=True)
    if kind in DECIMALS:
        check_joins(build, exact(values), given, exact(points), rng)
    pairs_of = raydex.build((np.zeros(len(values), "i4"), build))
    assert ints(pairs_of.count((np.zeros(asked, int), lower), upper)) == ints(index.count(lower, upper))


@pytest.mark.parametrize("form", DECIMALS)
@pytest.mark.parametrize("dtype", NUMBERS)
def test_decimals_among_numbers(dtype, form):
    """As probes of keys of any other type they are compared exactly; of floating keys see test_decimals.py."""
    rng = random.Random(f"{dtype} {form}")
    for _ in range(4):
        build, values, _ = numbers(rng, rng.randint(1, 9), dtype, "Arrow")
        scale, index = 0 if "float" in dtype else rng.choice([0, 2]), raydex.build(build)
        points, lows, highs = (of_scale(rng, 4, scale) for _ in range(3))
        given, lower, upper = (DECIMALS[form](one, scale) for one in (points, lows, highs))
        ends = (lower, upper, exact(lows), exact(highs))
        check(index, exact(values), given, exact(points), ends=ends)
        check_joins(build, exact(values), given, exact(points), rng)


def test_decimals_as_integers_of_their_last_digit():
    prices = pa.array([decimal.Decimal("1.20"), decimal.Decimal("0.05"), None], pa.decimal128(10, 2))
    cents = compute.multiply(prices, pa.scalar(decimal.Decimal(100))).cast(pa.int64())
    assert raydex.build(cents).first([120, decimal.Decimal("5.00"), 5.5]).tolist() == [0, 1, -1]


def test_pairs_of_64_bits_against_duckdb_and_pandas():
    rng = np.random.default_rng(9)
    some = rng.integers(-(2**63), 2**63 - 1, (2, 60))
    frame = pd.DataFrame({"a": rng.choice(some[0], 500), "b": rng.choice(some[1], 500)}).assign(row=range(500))
    probes = pd.DataFrame({"a": rng.choice(some[0], 100), "b": rng.choice(some[1], 100)})
    index = raydex.build(frame[["a", "b"]])
    counts = duckdb.sql("select count(f.a) from (select *, row_number() over () r from probes) p left join frame f "
                        "on p.a = f.a and p.b = f.b group by r order by r").fetchall()
    assert list(index.count(probes)) == [one for one, in counts]
    ranges = duckdb.sql("select (select count(*) from frame f where f.a = p.a and f.b between p.b and 4e18::bigint) "
                        "from (select *, row_number() over () r from probes) p order by r").fetchall()
    assert list(index.count(probes, 4 * 10**18)) == [one for one, in ranges]
    joined = probes.merge(frame, on=["a", "b"])
    found = raydex.merge(probes, frame, on=["a", "b"])
    assert sorted(found.row) == sorted(joined.row)


def test_uuids_and_times_against_duckdb():
    rng = random.Random(4)
    some = [uuid.UUID(int=rng.getrandbits(128)) for _ in range(20)]
    frame = pd.DataFrame({
        "u": [str(rng.choice(some)) for _ in range(400)],
        "t": pd.to_datetime([rng.getrandbits(20) for _ in range(400)], unit="s")})
    index = raydex.build(([uuid.UUID(one) for one in frame["u"]], frame["t"]))
    for one in some:
        own = frame[frame["u"] == str(one)]
        found = index.rows((one, "1970-01-03"), "1970-01-09").rows.tolist()
        within = own[(own["t"] >= "1970-01-03") & (own["t"] <= "1970-01-09")].sort_values("t", kind="stable")
        assert found == list(within.index)
        [counted] = duckdb.sql(f"select count(*) from frame where u::uuid = '{one}'").fetchall()
        assert index.count((str(one),)) == counted[0]
        assert raydex.aggregate(index, frame["t"]).max((one,)) == own["t"].max()


@pytest.mark.parametrize("width", [1, 2, 7, 8, 9, 15, 16, 17, 31, 32, 33, 40])
def test_fixed_bytes(width):
    rng = random.Random(width)
    words = [bytes(rng.choice([0, 1, 97, 255]) for _ in range(width)) for _ in range(60)]
    ends = sorted(words)
    index = raydex.build(pa.array(words, pa.binary(width)))
    points = [*words[:9], b"", b"\0" * width, b"\xff" * width, b"\xff" * (width + 1),
              *(word + b"\0" for word in words[:5]), *(word[:-1] for word in words[:20])]
    short = [one for one in points if len(one) <= width and not one.endswith(b"\0")]
    assert ints(index.count(short)) == [words.count(one) for one in short]  # whose padding is no part of them
    for given in (points, pa.array(points, pa.binary()), pl.Series(points, dtype=pl.Binary)):
        assert ints(index.count(given)) == [words.count(one) for one in points]
        assert ints(index.rank(given)) == [bisect.bisect_left(ends, one) for one in points]
        assert ints(index.rank(given, "right")) == [bisect.bisect_right(ends, one) for one in points]
        assert ints(index.count(raydex.starts_with(given))) == [sum(one.startswith(p) for one in words) for p in points]
    index.erase(words[:1])
    assert len(index) == len(words) - words.count(words[0])
    index.insert(pa.array(words[:1], pa.binary(width)), [99])
    assert index.first(words[0]) == 99


@pytest.mark.parametrize("call", [
    lambda x: raydex.build([1.0]).first(x), lambda x: raydex.build(np.array([], "f8")).sum([1.0], values=x) - 1,
    lambda x: raydex.build((x, x)).first(([1.0], [1.0])), lambda x: raydex.join([1.0], x).probe,
    lambda x: raydex.rmq(x).argmin([], []),
], ids=["points", "values", "columns", "probe", "rmq"])
def test_packed_fields_without_rows(call):
    try:
        assert max(call(unaligned(np.ones(3))[:0]), default=-1) == -1
    except raydex.InvalidArgument as error:
        assert re.search(COPY, str(error))


@pytest.mark.parametrize("column", [
    pa.array(["a", "b"], pa.string_view()), pa.array([b"a", b"b"], pa.binary_view()),
    compute.run_end_encode(pa.array([1, 2])),
], ids=lambda column: str(column.type).partition("<")[0])
@pytest.mark.parametrize("call", [
    lambda x: raydex.build([1, 2]).lookup([2, 9], x).to_pylist(), lambda x: raydex.take(x, [1, -1]).to_pylist(),
    lambda x: raydex.merge(
        pa.table({"k": [2, 9]}), pa.table({"k": [1, 2], "v": x}), on="k", how="left")["v"].to_pylist(),
], ids=["lookup", "take", "merge"])
def test_rows_of_arrow(call, column):
    try:
        assert call(column) == [column.to_pylist()[1], None]
    except raydex.Error:
        pass


def test_no_dimension_is_looked_up():
    with pytest.raises(raydex.InvalidArgument, match="values"):
        raydex.build([1, 2]).lookup([1], np.array(5))


@pytest.mark.parametrize("array", [np.arange(9)[::3], np.ma.array([1, 2], mask=[0, 1])], ids=["in steps", "masked"])
def test_minima_name_their_array(array):
    with pytest.raises(raydex.InvalidArgument, match="array: .*; .*(give|drop|fill)"):
        raydex.rmq(array)


def test_joins_of_large_numbers():
    for found in (raydex.join([1, 2], [2**64, 1]), raydex.join(np.array([2**63], "u8"), [-1, 2**63])):
        assert found.probe.tolist() == [1]


HELP = {
    "array of pandas": (lambda: raydex.build(pd.array([1, None])), r"pandas\.Series|pyarrow"),
    "Categorical": (lambda: raydex.build(pd.Categorical(["a"])), r"pandas\.Series|pyarrow"),
    "DatetimeArray": (lambda: raydex.build(pd.date_range("2024", periods=2).array), r"pandas\.Series"),
    "sparse": (lambda: raydex.build(pd.Series(pd.arrays.SparseArray([0, 1]))), r"to_dense|numpy\.asarray"),
    "runs": (lambda: raydex.build(compute.run_end_encode(pa.array([1, 1]))), "run_end_decode"),
    "struct of Polars": (lambda: raydex.build(pl.Series([{"a": 1, "b": 2}])), "struct.field"),
    "Int128": (lambda: raydex.build(pl.Series([1], dtype=pl.Int128)), "cast"),
    "void": (lambda: raydex.build(np.zeros(2, "V16")), "binary|bytes"),
    "address": (lambda: raydex.build(["::1"]).first(ipaddress.ip_address("::1")), r"str\(x\)|packed"),
    "addresses": (lambda: raydex.build([ipaddress.ip_address("::1")]), r"str\(x\)|packed"),
    "records to join": (lambda: raydex.join(np.zeros(2, "i4,i4"), np.zeros(2, "i4,i4")), "give its fields"),
    "texts in time": (lambda: raydex.join_asof(["a"], ["b"]), "build: .*by times or numbers"),
}


@pytest.mark.parametrize("name", HELP)
def test_what_helps(name):
    call, words = HELP[name]
    try:
        call()
    except raydex.Error as error:
        assert re.search(words, str(error))
