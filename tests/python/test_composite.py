# SPDX-License-Identifier: Apache-2.0
"""Indexes over several columns, compared with a look at all rows, and with what pandas and DuckDB say."""

import bisect
import datetime
import itertools

import numpy as np
import pytest
import raydex

pd = pytest.importorskip("pandas")

EARLY = datetime.date(2026, 1, 5)


def cells_of(kind, rng, size, few, missing):
    """A column of a kind as NumPy has it, with its cells as Python's own, None where one is missing."""
    numbers = rng.integers(-few, few, size)
    made = {
        "int64": numbers, "int32": numbers.astype("int32"), "int8": numbers.astype("int8"),
        "uint32": (numbers + few).astype("uint32"), "uint64": (numbers + few).astype("uint64") + 2**63,
        "float32": (numbers / 4).astype("float32"), "float64": numbers / 8, "bool": numbers > 0,
        "days": np.datetime64(EARLY) + numbers, "times": np.datetime64("2026-01-05T10:00", "s") + numbers,
        "spans": numbers.astype("m8[ms]"), "bytes": np.char.mod(b"%d", numbers),
    }[kind]  # fmt: skip
    if missing == 0:
        return (made, made.tolist())
    gone = rng.random(size) < missing
    array = np.ma.MaskedArray(made, gone)
    return (array, [None if absent else cell for absent, cell in zip(gone, made.tolist())])


KINDS = ["int64", "int32", "int8", "uint32", "uint64", "float32", "bool", "days", "times", "spans", "bytes"]


def oracle(rows, wanted, missing, bounds=None):
    """For each probe the rows whose first cells are equal, and whose next one is within bounds."""
    for i, probe in enumerate(wanted):
        found = []
        for number, row in enumerate(rows):
            there = all(cell is not None or how != "unmatched" for cell, how in zip(row, missing))
            there &= all(
                cell == other and (cell is not None or how != "unmatched")
                for cell, other, how in zip(row, probe, missing)
            )
            if there and bounds is not None:
                cell, low, high = row[len(probe)], *(end and end[i] for end in bounds)
                there = cell is not None
                there = there and all(end is None or end[i] is not None for end in bounds)
                there = there and (bounds[0] is None or low <= cell) and (bounds[1] is None or cell <= high)
            if there:
                found.append(number)
        yield found


def lists(found):
    return [sorted(one.tolist()) for one in np.split(found.rows, found.offsets[1:-1])][: len(found.offsets) - 1]


def draws():
    rng = np.random.default_rng(7)
    for number in range(40):
        count = int(rng.integers(2, 5))
        kinds = [str(kind) for kind in rng.choice(KINDS, count, replace=False)]
        missing = [str(how) for how in rng.choice(["unmatched", "first", "last"], count)]
        descending = [bool(one) for one in rng.random(count) < 0.5]
        yield pytest.param(number, kinds, missing, descending, id="-".join(kinds))


@pytest.mark.parametrize("seed,kinds,missing,descending", list(draws()))
def test_against_all_rows(seed, kinds, missing, descending):
    rng = np.random.default_rng(seed)
    size, few = int(rng.integers(0, 300)), int(rng.integers(1, 5))
    gone = rng.choice([0, 0.2], len(kinds))
    columns, rows = zip(*(cells_of(kind, rng, size, few, share) for kind, share in zip(kinds, gone)))
    probes, wanted = zip(*(cells_of(kind, rng, 30, few + 2, share) for kind, share in zip(kinds, gone)))
    index = raydex.build(columns, descending=descending, missing=missing)
    rows, wanted = list(zip(*rows)), list(zip(*wanted))
    found = list(oracle(rows, wanted, missing))
    assert lists(index.rows(probes)) == found
    assert index.first(probes).tolist() == [min(one, default=-1) for one in found]
    assert index.count(probes).tolist() == list(map(len, found))
    assert index.contains(probes).tolist() == [bool(one) for one in found]
    assert raydex.join(index, probes, "left").build.tolist() == list(
        itertools.chain.from_iterable(one or [-1] for one in found)
    )
    for k in range(1, len(kinds)):
        found = list(oracle(rows, [one[:k] for one in wanted], missing))
        assert lists(index.rows(probes[:k])) == found
        assert index.first(probes[:k]).tolist() == [min(one, default=-1) for one in found]
        assert index.contains(probes[:k]).tolist() == [bool(one) for one in found]
    for k, kind in enumerate(kinds):
        upper, ends = cells_of(kind, rng, 30, few + 2, gone[k])
        lows = [one[k] for one in wanted]
        first = [one[:k] for one in wanted]
        ranges = probes[: k + 1]
        assert lists(index.rows(ranges, (*probes[:k], upper))) == list(oracle(rows, first, missing, (lows, ends)))
        assert lists(index.rows(ranges, upper)) == list(oracle(rows, first, missing, (lows, ends)))
        open_end = index.rows(ranges, (*probes[:k], None))
        assert lists(open_end) == list(oracle(rows, first, missing, (lows, None)))
        open_begin = index.rows((*probes[:k], None), upper)
        assert lists(open_begin) == list(oracle(rows, first, missing, (None, ends)))


@pytest.mark.parametrize("seed", range(8))
def test_places_in_the_order_of_tuples(seed):
    rng = np.random.default_rng(seed)
    rows = [tuple(row) for row in rng.integers(0, 4, (int(rng.integers(0, 60)), 3)).tolist()]
    points = [tuple(row) for row in rng.integers(-1, 6, (50, 3)).tolist()]
    index = raydex.build(np.array(rows, "i8,i4,i8"))
    for k in (1, 2, 3):
        keys = [row[:k] for row in rows]
        wanted = tuple(map(list, zip(*[point[:k] for point in points])))
        places = [point[:k] for point in points]
        assert index.rank(wanted).tolist() == [sum(key < point for key in keys) for point in places]
        assert index.rank(wanted, "right").tolist() == [sum(key <= point for key in keys) for point in places]
        for strict in (False, True):
            before = [[r for r in rows if r[:k] < p or (r[:k] == p and not strict)] for p in places]
            behind = [[r for r in rows if r[:k] > p or (r[:k] == p and not strict)] for p in places]
            expected = [rows.index(max(one)) if one else -1 for one in before]
            assert index.predecessor(wanted, strict).tolist() == expected
            expected = [rows.index(min(one)) if one else -1 for one in behind]
            assert index.successor(wanted, strict).tolist() == expected
    assert index.rank((None, 1, 1)) == -1 and index.predecessor((None, 1, 1)) == -1


FORMS = {
    "a tuple": lambda a, b: (a, b),
    "a list": lambda a, b: [a, b],
    "lists": lambda a, b: (a.tolist(), b.tolist()),
    "keys": lambda a, b: list(zip(a.tolist(), b.tolist())),
    "a dict": lambda a, b: {"a": a, "b": b},
    "pandas": lambda a, b: pd.DataFrame({"a": a, "b": b}),
    "a MultiIndex": lambda a, b: pd.MultiIndex.from_arrays([a, b]),
    "Series": lambda a, b: (pd.Series(a), pd.Series(b)),
    "fields": lambda a, b: np.rec.fromarrays([a, b], names="a,b"),
    "Polars": lambda a, b: pytest.importorskip("polars").DataFrame({"a": a, "b": b}),
    "a table": lambda a, b: pytest.importorskip("pyarrow").table({"a": a, "b": b}),
    "a batch": lambda a, b: pytest.importorskip("pyarrow").record_batch({"a": a, "b": b}),
    "tensors": lambda a, b: tuple(map(pytest.importorskip("torch").tensor, (a, b))),
    "a stream": lambda a, b: Stream(pytest.importorskip("pyarrow").table({"a": a, "b": b})),
}


class Stream:
    """What has Arrow's interface and nothing else."""

    def __init__(self, table):
        self.table = table

    def __arrow_c_stream__(self, requested_schema=None):
        return self.table.__arrow_c_stream__(requested_schema)


@pytest.mark.parametrize("form", FORMS)
def test_forms_of_columns(form):
    a, b = np.array([7, 7, 9, 7]), np.array([1, 2, 1, 31])
    index = raydex.build(FORMS[form](a, b))
    assert isinstance(index, raydex.CompositeIndex) and len(index) == 4
    wanted = np.array([7, 9, 9]), np.array([31, 1, 2])
    for other in FORMS.values():
        assert list(index.first(other(*wanted))) == [3, 2, -1]
    assert index.first((7, 2)) == 1 and index.first((7, 3)) == -1
    assert index.count((7, None), (7, 2)) == 2


def test_columns_are_matched_by_their_names():
    index = raydex.build({"a": [1, 2], "b": [3, 4]})
    assert index.first({"b": [4], "a": [2]}).tolist() == [1]
    assert index.count({"a": [2]}).tolist() == [1]
    for names in ("b", "ac"):
        with pytest.raises(raydex.InvalidArgument, match="points: its columns are .*, but the first ones of the key a"):
            index.first(dict.fromkeys(names, [1]))
    assert index.first(([2], [4])).tolist() == [1]


def test_answers_are_series_of_what_is_asked():
    frame = pd.DataFrame({"a": [1, 2], "b": [3, 4]}, index=["x", "y"])
    found = raydex.build(frame).count(frame)
    assert found.to_dict() == {"x": 1, "y": 1} and found.name is None
    polars = pytest.importorskip("polars")
    assert raydex.build(frame).first(polars.DataFrame(frame)).to_list() == [0, 1]
    looked_up = raydex.build(frame).lookup([(2, 4), (2, 5)], frame)
    assert looked_up["b"].isna().tolist() == [False, True]


def test_values_beside_columns():
    index = raydex.build(([7, 7, 9, 7], [1, 2, 1, 31]))
    assert index.first((7, [31, 1, 5])).tolist() == [3, 0, -1]
    assert index.count((7, [1, 30]), 40).tolist() == [3, 1]
    assert index.first((None, 1)) == -1
    last = raydex.build(([7, None, 9], [1, 2, 1]), missing="last")
    assert last.first((None, 2)) == 1 and last.count((None,)) == 1
    assert last.count(0, 10) == 2


def test_values_of_other_types():
    index = raydex.build((np.array([1, 2, 3], "int8"), np.array(["2026-01-05", "2026-01-06", "NaT"], "M8[D]")),
                         missing=["unmatched", "last"])
    assert index.first((1.0, "2026-01-05")) == 0
    assert index.first((1.5, "2026-01-05")) == -1
    assert index.first((1, np.datetime64("2026-01-05T00:00:01"))) == -1
    assert index.first((3, np.datetime64("2026-01-05T00:00:01"))) == -1  # which is no missing time
    assert index.first((3, None)) == 2
    assert index.count((3, np.datetime64("2026-01-05T00:00:01")), (3, None)) == 0
    assert index.count((1, "2026-01-04T10:00"), (1, "2026-01-05T10:00")) == 1
    assert index.count((1, "2026-01-05T10:00"), (1, "2027-01-05T10:00")) == 0
    assert index.count(0.5, 2.5) == 2
    assert index.count((1.5,)) == 0 and index.contains((2**40,)) == np.False_
    with pytest.raises(raydex.InvalidType, match=r"points\[1\]"):
        index.first((1, 5))


def test_strings_of_any_length():
    names = ["a long name of a shop", "", "zz", "another one, longer still", "zz"]
    index = raydex.build((names, [1, 2, 3, 4, 5]))
    assert index.first((names, [1, 2, 3, 4, 6])).tolist() == [0, 1, 2, 3, -1]
    assert index.rows((["zz", "none", None],)).rows.tolist() == [2, 4]
    assert index.count("a", "b") == 2 and index.count("", "") == 1 and index.count("zzz", "zzzz") == 0
    assert index.count("b", "a") == 0 and index.count("another one, longer still", "zz") == 3
    index.insert((["zz"], [1]), [9])
    assert index.rows(("zz",)).rows.tolist() == [9, 2, 4]
    index.insert((["new"], [1]), [10])
    assert index.rows((["new", "zz"],)).rows.tolist() == [10, 9, 2, 4]
    pa = pytest.importorskip("pyarrow")
    words = pa.array([None, "b" * 20, "a" * 20, None])
    table = pa.table({"word": words, "number": [1, 2, 3, 4]})
    assert raydex.build(table).first(table).tolist() == [-1, 1, 2, -1]
    first = raydex.build(table, missing="first")
    assert first.first(table).tolist() == [0, 1, 2, 3]
    assert first.first(("x" * 20, 1)) == -1  # which is no missing one


def test_short_strings_are_ranked_where_they_take_too_many_bits():
    symbols = np.array([b"", b"AAPL", b"zzzzzzzz", b"MSFT"])
    index = raydex.build((symbols, np.array([0, 2**40, 5, 5])))
    assert index.first((symbols, [0, 2**40, 5, 6])).tolist() == [0, 1, 2, -1]
    assert index.count("A", "N") == 2


def test_ranks_of_texts_that_are_longer_than_all_keys(random):
    letters = ["", "a", "b", "c", "bb", "a\0"]
    names = [letters[i].rstrip("\0") for i in random.integers(0, 6, 60)]
    numbers = random.integers(0, 4, 60).tolist()
    index = raydex.build((names, numbers))
    keys = sorted(zip((one.encode() for one in names), numbers))
    texts = [a + b for a in letters for b in ("", "\0", "a", "banana", "zzzzzzzzzzzzz")]
    points = [(one.encode(), i % 5) for i, one in enumerate(texts)]
    given = (texts, [number for _, number in points])
    assert index.rank(given).tolist() == [bisect.bisect_left(keys, one) for one in points]
    assert index.rank(given, "right").tolist() == [bisect.bisect_right(keys, one) for one in points]
    before = [bisect.bisect_left(keys, one) for one in points]
    rows = index.predecessor(given, True).tolist()
    found = [None if row < 0 else (names[row].encode(), numbers[row]) for row in rows]
    assert found == [keys[one - 1] if one else None for one in before]
    of_first = [key for key, _ in keys]
    assert index.rank((texts,)).tolist() == [bisect.bisect_left(of_first, one) for one, _ in points]
    # Missing ones match nothing, whatever they follow.
    gone = [None if i % 3 == 0 else number for i, number in enumerate(given[1])]
    expected = [-1 if i % 3 == 0 else row for i, row in enumerate(index.successor(given).tolist())]
    assert index.successor((texts, gone)).tolist() == expected

    def places(names):
        """In descending order, by what `names` are among all of them."""
        every = sorted({*letters, *texts}, key=str.encode)
        return [-every.index(one) for one in names]

    down = raydex.build((names, numbers), descending=[True, False])
    ranked = sorted(zip(places(names), numbers))
    asked = list(zip(places(texts), given[1]))
    assert down.rank(given).tolist() == [bisect.bisect_left(ranked, one) for one in asked]
    assert down.rank(given, "right").tolist() == [bisect.bisect_right(ranked, one) for one in asked]


def test_sixteen_columns_that_are_far_apart(random):
    """Their numbers take 128 bits, so that the first columns are numbered together."""
    words = [f"https://raydex.example/{i:030}" for i in range(200)]
    columns = [random.integers(-(2**62), 2**62, 200).tolist() for _ in range(15)]
    columns.insert(3, [words[i] for i in random.integers(0, 200, 200)])
    index = raydex.build(tuple(columns))
    keys = list(zip(*columns))
    ordered = sorted(keys)
    asked = [list(key) for key in random.permutation(np.array(keys, object))[:60].tolist()]
    for i, one in enumerate(asked):  # beside a key in one of its columns
        at = i % 20
        if at < 16:
            one[at] = one[at] + "a" if at == 3 else one[at] + int(random.integers(-1, 2))
    points = tuple(map(list, zip(*asked)))
    asked = [tuple(one) for one in asked]
    assert index.first(points).tolist() == [keys.index(one) if one in keys else -1 for one in asked]
    assert index.rank(points).tolist() == [bisect.bisect_left(ordered, one) for one in asked]
    assert index.rank(points, "right").tolist() == [bisect.bisect_right(ordered, one) for one in asked]
    after = [bisect.bisect_right(ordered, one) for one in asked]
    found = index.successor(points, True).tolist()
    assert [keys[row] if row >= 0 else None for row in found] == [(*ordered, None)[at] for at in after]
    for k in (1, 3, 4, 9, 15):
        first = [one[:k] for one in asked]
        assert index.count(points[:k]).tolist() == [sum(key[:k] == one for key in keys) for one in first]
        assert index.rank(points[:k]).tolist() == [bisect.bisect_left(ordered, one) for one in first]
    same = [[one] * 3 for one in asked[7][:2]]
    ends = [columns[2][0], min(columns[2]), asked[7][2]]
    counts = [sum(key[:2] == asked[7][:2] and key[2] <= end for key in keys) for end in ends]
    assert index.count((*same, [-(2**62)] * 3), ends).tolist() == counts
    starts = ["https://raydex.example/", words[9], "x"]
    begun = [sum(key[:3] == asked[19][:3] and key[3].startswith(one) for key in keys) for one in starts]
    assert index.count((*asked[19][:3], raydex.starts_with(starts))).tolist() == begun and sum(begun) > 0
    index.insert(tuple(zip(*keys[:2])), [900, 901])
    assert index.count(tuple(zip(*keys[:3]))).tolist() == [2, 2, 1]
    index.insert((keys[0][0], *keys[1][1:]), [902])  # none of the combinations that there were
    assert index.first((keys[0][0], *keys[1][1:])) == 902


def test_as_many_bits_as_there_are():
    ends = np.array([-(2**31), -1, 2**31 - 1], "int32")
    index = raydex.build((ends, ends))
    assert index.first((ends, ends)).tolist() == [0, 1, 2] and index.count((0,)) == 0
    both = raydex.build((ends, ends), missing=["unmatched", "last"])  # 65 bits: one is numbered
    assert both.first((ends, ends)).tolist() == [0, 1, 2] and both.rank((ends, ends)).tolist() == [0, 1, 2]
    four = [np.array([0, 15])] * 16
    assert raydex.build(four).first(four).tolist() == [0, 1]
    with pytest.raises(raydex.InvalidArgument, match="column: 17 columns; a key has 1 to 16"):
        raydex.build([*four, four[0]])


def test_columns_that_are_far_apart(random):
    """They are numbered, in their order."""
    big = random.integers(-(2**63), 2**63 - 1, 300)
    real = random.normal(size=300) * 10.0 ** random.integers(-300, 300, 300)
    when = random.integers(0, 2**62, 300).astype("datetime64[ns]")
    table = {"big": random.choice(big, 2000), "real": random.choice(real, 2000), "when": random.choice(when, 2000)}
    for descending in (False, [True, False, True]):
        index = raydex.build(table, descending=descending)
        keys = list(zip(*(one.tolist() for one in table.values())))
        flags = [descending] * 3 if descending is False else descending
        order = [tuple(-one if flag else one for one, flag in zip(key, flags)) for key in keys]
        assert index.first(table).tolist() == [keys.index(key) for key in keys]
        ranked = sorted(order)
        assert index.rank(table).tolist() == [bisect.bisect_left(ranked, key) for key in order]
        assert index.count(table["big"]).tolist() == [(table["big"] == one).sum() for one in table["big"]]
        # Ends that are none of the column's.
        least, most = np.nextafter(table["real"], -np.inf), table["real"] + 1e-3
        assert index.count((table["big"], least), most).tolist() == [
            ((table["big"] == key) & (table["real"] >= a) & (table["real"] <= b)).sum()
            for key, a, b in zip(table["big"], least, most)
        ]
    assert index.first((table["big"] ^ 1, table["real"], table["when"])).max() == -1
    one = tuple(cells[:1] for cells in table.values())
    index.erase(one)
    index.insert(one, [5000])
    assert index.first(one) == 5000
    index.insert((one[0] ^ 1, *one[1:]), [5001])
    assert index.first((one[0] ^ 1, *one[1:])) == 5001


def test_columns_in_steps():
    """Days as times of nanoseconds, and whole numbers as floating ones, take the bits that days and integers do."""
    days = pd.date_range("1980-01-01", "2026-01-05", periods=None, freq="D")
    rng = np.random.default_rng(2)
    frame = pd.DataFrame({"store": rng.integers(0, 10**6, 2000), "price": rng.integers(0, 1000, 2000).astype(float),
                          "day": rng.choice(days, 2000)})
    index = raydex.build(frame)
    assert (index.first(frame) >= 0).all()
    frame["day"] += pd.Timedelta("1h")
    assert (index.first(frame) == -1).all()
    one = frame.iloc[0]
    assert index.count((one["store"], one["price"], one["day"]), (one["store"], one["price"], None)) == 0
    begin = one["day"] - pd.Timedelta("2h")
    assert index.count((one["store"], one["price"], begin), one["day"]) == 1
    index.insert(frame.head(1), [5001])
    assert index.first(frame.head(1)).tolist() == [5001]
    index.erase(frame.head(1))
    index.insert(([one["store"]], [one["price"]], [one["day"] - pd.Timedelta("1h")]), [5000])
    assert index.rows((one["store"], one["price"])).rows.tolist() == [0, 5000]


def test_edits():
    index = raydex.build(([7, 7, 9], [1, 31, 1]))
    index.insert(([7, 8], [1, 20]), [10, 11])
    assert index.rows((7, 1)).rows.tolist() == [0, 10] and index.first((8, 20)) == 11
    index.erase(([7, 99], [1, 1]))
    assert index.count((7,)) == 1
    index.insert(([10], [1]), [12])
    index.erase(([10], [1]))
    with pytest.raises(raydex.InvalidArgument, match="keys: 1 columns, but the key has 2"):
        index.erase(([7],))
    assert len(index) == 3


def test_what_is_refused():
    index = raydex.build(([7, 7, 9], [1, 31, 1]))
    for query in (index.rank, index.predecessor, index.successor):
        with pytest.raises(raydex.InvalidArgument, match=r"points\[1\]: 1.5 is no int64, as the keys are"):
            query((7, 1.5))
    ends = np.array([0, 2**32 - 1], "uint32")
    full = raydex.build((ends, ends))
    assert full.predecessor((5, 5)) == 0 and full.successor((ends[1], ends[1]), strict=True) == -1
    assert full.first(([ends[1], 5, 5.5, 2**40], [ends[1], 5, 5, 5])).tolist() == [1, -1, -1, -1]
    with pytest.raises(raydex.Unsupported, match="rank: the columns take each number of their bits"):
        full.rank((5, 5))
    with pytest.raises(raydex.InvalidArgument, match="upper: it differs from lower before the last column"):
        index.count(([7, 7], [1, 1]), ([7, 9], [2, 2]))
    with pytest.raises(raydex.InvalidArgument, match="upper: 2 columns, but lower has 1"):
        index.count([7], ([7], [1]))
    with pytest.raises(raydex.InvalidArgument, match="points: 3 columns, but the key has 2"):
        index.first((1, 2, 3))
    with pytest.raises(raydex.InvalidArgument, match="lower: neither end is given"):
        index.first((None,), (None,))
    with pytest.raises(raydex.InvalidArgument, match="tuples of several lengths"):
        index.first([(1, 2), (1,)])
    with pytest.raises(raydex.InvalidArgument, match="descending: 3 values, but there are 2 columns"):
        raydex.build(([1], [2]), descending=[True] * 3)
    with pytest.raises(raydex.InvalidArgument, match="missing: 'middle' is none of unmatched, first, last"):
        raydex.build(([1], [2]), missing="middle")
    with pytest.raises(raydex.InvalidType, match="descending: 1 is neither True nor False"):
        raydex.build(([1], [2]), descending=1)
    with pytest.raises(raydex.InvalidArgument, match=r"missing: 'last', but there is one column; give a tuple"):
        raydex.build([1], missing="last")
    with pytest.raises(raydex.InvalidArgument, match="columns of 2 and of 1 rows; they must agree"):
        raydex.build(([1, 2], [3]))


def test_aggregates_and_sums():
    index = raydex.build(([7, 7, 9], [1, 31, 1]))
    values = np.array([10, 20, 40])
    assert index.sum([7, 9, 8], values=values).tolist() == [30, 40, 0]
    assert raydex.aggregate(index, values).max((7, 1), (7, 30)) == 10
    assert index.bitset((7,)).tolist() == [3]
    assert index.isin([(7, 31), (9, 31)], invert=True).tolist() == [False, True]


def test_against_pandas_and_duckdb():
    rng = np.random.default_rng(3)
    times = pd.to_datetime("2026-01-05") + pd.to_timedelta(rng.integers(0, 99, 5000), "min")
    stores = rng.integers(0, 50, 5000).astype("int32")
    frame = pd.DataFrame({"store": stores, "sku": rng.integers(0, 20, 5000), "time": times})
    index = raydex.build(frame)
    wanted = frame.drop_duplicates().sample(frac=1, random_state=1)
    levels = pd.MultiIndex.from_frame(wanted)
    places = raydex.build(levels).first(frame)
    assert (places == levels.get_indexer(pd.MultiIndex.from_frame(frame))).all()
    assert index.count(wanted).tolist() == frame.value_counts().loc[list(wanted.itertuples(index=False))].tolist()
    duckdb = pytest.importorskip("duckdb")
    begin, end = frame["time"].min() + pd.Timedelta("20min"), pd.Timestamp("2026-01-05 01:00")
    expected = duckdb.sql(
        f"select count(*) from frame where store = 7 and sku between 3 and 9 union all select count(*) from frame "
        f"where store = 7 and sku = 3 and time between '{begin}' and '{end}'"
    ).fetchall()
    assert index.count((7, 3), (7, 9)) == expected[0][0]
    assert index.count((7, 3, begin), (7, 3, end)) == expected[1][0]


def test_names_and_labels_of_pandas():
    frame = pd.DataFrame({"a": [1, 2], "b": [2, 1], "text": ["x", "y"]}, index=["r", "s"])
    swapped = pd.DataFrame({"b": [2, 1], "a": [1, 1]}, index=["p", "q"])
    levels = pd.MultiIndex.from_frame(frame[["a", "b"]])
    for index in (raydex.build(frame[["a", "b"]]), raydex.build(levels)):
        assert list(index.first(swapped)) == [0, -1]
        assert list(index.first(pd.MultiIndex.from_frame(swapped))) == [0, -1]
        assert list(index.first(frame)) == [0, 1]  # whose other columns are no part of the key
    nameless = pd.MultiIndex.from_arrays([[2, 1], [1, 2]])
    assert list(raydex.build(levels).first(nameless)) == [1, 0]
    index = raydex.build(frame[["a", "b"]])
    for points in (swapped, (swapped["a"], swapped["b"])):
        found = index.lookup(points, frame["text"])
        assert list(found.index) == ["p", "q"]
        assert found.iloc[0] == "x" and pd.isna(found.iloc[1])
    begins, ends = pd.Series([1, 2], index=[4, 5]), pd.Series([1, 2], index=[5, 4])
    with pytest.raises(raydex.InvalidArgument, match="upper: its index is not that of lower"):
        index.count((begins, begins), (ends, ends))


def test_ends_of_several_sizes_are_refused():
    index = raydex.build(([7, 8], [1, 2]))
    with pytest.raises(raydex.InvalidArgument, match="upper: 3 keys, but lower has 2"):
        index.count(([7, 8], [1, 2]), ([7, 8, 9], [1, 2, 3]))
    assert index.count((7, None), (7, None)) == index.count((7,)) == 1
