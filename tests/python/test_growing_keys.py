# SPDX-License-Identifier: Apache-2.0
"""Keys that an index has no place for: it grows, and answers as one that was built over all rows at once."""

import copy
import datetime
import pickle
import threading

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
import raydex
from hypothesis import given
from hypothesis import strategies as st

STRUCTURES = sorted({one.name for one in raydex.structures() if one.backend == "cpu" and "rmq" not in one.name})
ORDERED = [one for one in STRUCTURES if not one.startswith("hash_")]


def rows_of(index, points):
    found = index.rows(points)
    return [sorted(found.rows[a:b].tolist()) for a, b in zip(found.offsets[:-1], found.offsets[1:])]


def matching(keys, wanted):
    """The rows of each wanted key, by a look at all."""
    return [[row for row, key in enumerate(keys) if key == one] for one in wanted]


def columns_of(keys):
    return tuple(map(list, zip(*keys)))


@pytest.mark.parametrize("structure", STRUCTURES)
def test_new_days(structure):
    """The columns are packed anew as often as days have doubled, not each day."""
    rng = np.random.default_rng(3)
    first = datetime.date(2026, 1, 1)
    keys, index, structures_seen = [], None, []
    for day in range(120):
        new = [(int(customer), first + datetime.timedelta(day)) for customer in rng.integers(0, 50, 40)]
        if index is None:
            index = raydex.build(columns_of(new), structure=structure)
        else:
            assert index.append(columns_of(new)) == range(len(keys), len(keys) + len(new))
        keys += new
        if not any(index._native is one for one in structures_seen):
            structures_seen.append(index._native)
    assert len(structures_seen) < 12 or structure == "direct"  # which leaves no room
    wanted = [*keys[::97], (7, first - datetime.timedelta(1)), (51, first), (3, first + datetime.timedelta(200))]
    assert rows_of(index, columns_of(wanted)) == matching(keys, wanted)
    assert len(index) == len(keys) and index.info.structure == structure and index.info.n == len(keys)
    if structure in ORDERED:
        assert index.count(list(range(-1, 52))).tolist() == [sum(key[0] == c for key in keys) for c in range(-1, 52)]
        last = first + datetime.timedelta(119)
        assert index.count((7, first + datetime.timedelta(60)), (7, last)) == sum(
            key[0] == 7 and key[1] >= first + datetime.timedelta(60) for key in keys
        )


VALUES = {
    "int": st.one_of(st.integers(-3, 3), st.integers(-1000, 1000), st.integers(-(2**63), 2**63 - 1)),
    "uint8": st.integers(0, 255),
    "day": st.dates(datetime.date(2026, 1, 1), datetime.date(2027, 1, 1)),
    "float": st.sampled_from([0.0, -0.0, 1.0, 2.0, -7.5, 1e300, float("inf")]),
    "short": st.text("ab", max_size=3),
    "text": st.sampled_from(["", "a", "abcdefgh", "abcdefghi", "a long one of a shop", "é" * 9]),
}
ARROW = {"int": pa.int64(), "uint8": pa.uint8(), "day": pa.date32(), "float": pa.float64(), "short": pa.string(),
         "text": pa.string()}


@st.composite
def tables(draw):
    """A structure, the kinds of columns, and batches of keys of them; None is a missing value."""
    kinds = draw(st.lists(st.sampled_from(list(VALUES)), min_size=1, max_size=4))
    cells = st.tuples(*(st.one_of(st.none(), VALUES[kind]) for kind in kinds))
    batches = draw(st.lists(st.lists(cells, max_size=6), min_size=2, max_size=6))
    return (draw(st.sampled_from([one for one in STRUCTURES if one != "direct"])), kinds, batches)


def in_columns(kinds, keys):
    return tuple(pa.array([key[p] for key in keys], ARROW[kind]) for p, kind in enumerate(kinds))


def ordered(key, descending):
    """What Python compares in the order of an index: missing values first; bytes of texts."""
    parts = []
    for value, down in zip(key, descending):
        code = value.encode() if isinstance(value, str) else value.toordinal() if hasattr(value, "year") else value
        parts.append((value is not None, Reversed(code) if down and value is not None else code))
    return parts


class Reversed:
    def __init__(self, value):
        self.value = value

    def __eq__(self, other):
        return self.value == other.value

    def __lt__(self, other):
        return other.value < self.value


@given(tables(), st.sampled_from(["unmatched", "first"]), st.booleans())
def test_a_model_of_any_batches(table, missing, descends):
    structure, kinds, batches = table
    options = {"missing": missing, "descending": descends}
    index = raydex.build(in_columns(kinds, batches[0]), structure=structure, **options)
    keys = list(batches[0])
    for number, batch in enumerate(batches[1:]):
        rows = range(len(keys), len(keys) + len(batch))
        if number % 2:
            index.insert(in_columns(kinds, batch), np.array(rows, "u4"))
        else:
            assert index.append(in_columns(kinds, batch)) == rows
        keys += batch
    whole = raydex.build(in_columns(kinds, keys), structure=structure, **options)
    there = [key for key in keys if missing == "first" or None not in key]
    wanted = [*keys, *(key[:-1] + keys[0][-1:] for key in keys[1:])]
    if wanted:
        points = in_columns(kinds, wanted)
        found = rows_of(index, points)
        assert found == rows_of(whole, points)
        assert found == matching([key if key in there else () for key in keys], wanted)
    assert len(index) == len(there)
    if structure in ORDERED and wanted and not index._packing.native.is_full():
        ranked = sorted(ordered(key, [descends] * len(kinds)) for key in there)
        is_asked = [missing == "first" or None not in key for key in wanted]
        less = [sum(one < ordered(key, [descends] * len(kinds)) for one in ranked) for key in wanted]
        ranks = index.rank(in_columns(kinds, wanted)).tolist()
        assert [rank for rank, is_one in zip(ranks, is_asked) if is_one] == [
            rank for rank, is_one in zip(less, is_asked) if is_one
        ]
        for k in range(1, len(kinds)):
            points = in_columns(kinds[:k], [key[:k] for key in wanted])
            assert index.count(points).tolist() == whole.count(points).tolist()
    assert index.append(in_columns(kinds, keys[:1])) == range(len(keys), len(keys) + len(keys[:1]))


@pytest.mark.parametrize("structure", [one for one in STRUCTURES if one != "direct"])  # which has no texts
def test_longer_texts(structure):
    """Texts of up to 8 bytes become those of any length, with the type that a build over all has."""
    cells = ["a", "bb", None, "bb"]
    index = raydex.build(pa.array(cells), structure=structure)
    for new, key in (["dddd", None], "bytes4"), (["eight by", "a"], "bytes8"), (["longer than eight", "bb"], "strings"):
        assert index.append(pa.array(new)) == range(len(cells), len(cells) + 2)
        cells += new
        assert index.info.key == key
        wanted = [*filter(None, cells), "b", "longer"]
        assert rows_of(index, wanted) == matching(cells, wanted)
        assert len(index) == sum(cell is not None for cell in cells)
    index.insert([b"\0"], [100])  # which NUL pads
    assert index.first([b"\0", b""]).tolist() == [100, -1]
    if structure in ORDERED:
        there = sorted(cell for cell in cells if cell)
        assert index.count(["a"], ["bz"]).tolist() == [sum("a" <= cell <= "bz" for cell in there)]
        assert index.count(raydex.starts_with(["b", "long"])).tolist() == [3, 1]


def test_snapshots_see_the_old_version():
    days = np.arange("2026-01-01", "2026-01-05", dtype="M8[D]")
    index = raydex.build({"name": ["a", "b", "a", "c"], "day": days})
    with index.snapshot() as before:
        index.append({"name": ["a much longer name"], "day": days[:1] + 400})
        assert index.count(["a", "a much longer name"]).tolist() == [2, 1]
        assert before.count(["a", "a much longer name"]).tolist() == [2, 0]
        assert before.append({"name": ["d"], "day": days[:1] - 1}) == range(4, 5)
        assert (len(index), len(before)) == (5, 5)
    assert index.first({"name": ["d", "a much longer name"], "day": [days[0] - 1, days[0] + 400]}).tolist() == [-1, 4]
    texts = raydex.build(["a", "b"])
    with texts.snapshot() as before:
        texts.append(["of many letters"])
        assert (texts.count("of many letters"), before.count("of many letters"), before.count("b")) == (1, 0, 1)


@pytest.mark.parametrize("structure", STRUCTURES)
def test_files_and_copies(tmp_path, structure):
    options = {"limit": 64} if structure == "direct" else {}
    index = raydex.build(([5, 6, 7], [1, 1, 2]), structure=structure, **options)
    index.append(([8, 4], [3, 0]))
    index.save(tmp_path / "an.index")
    keys = [(5, 1), (6, 1), (7, 2), (8, 3), (4, 0)]
    for again in (raydex.load(tmp_path / "an.index"), copy.copy(index), pickle.loads(pickle.dumps(index))):
        assert rows_of(again, columns_of(keys)) == [[0], [1], [2], [3], [4]]
        assert again.append(([9], [5])) == range(5, 6)
        assert rows_of(again, ([9, 5], [5, 1])) == [[5], [0]]
        again.close()
    if structure != "direct":
        texts = raydex.build(["a", "bb"], structure=structure)
        texts.append(["longer than eight"])
        again = pickle.loads(pickle.dumps(texts))
        assert again.first(["longer than eight", "bb", "b"]).tolist() == [2, 1, -1]


def test_row_ids_and_options_stay():
    index = raydex.build(([5, 6], [1, 2]), "hash_open", rows=np.array([2**40, 7], "u8"), seed=5)
    assert index.append(([9, 5], [9, 1])) == range(2**40 + 1, 2**40 + 3)
    assert rows_of(index, ([5, 9], [1, 9])) == [[2**40, 2**40 + 2], [2**40 + 1]]
    assert (index.info.row_id_bits, index.info.options["seed"]) == (64, "5")
    index = raydex.build(([5, 6], [1, 2]))
    index.erase(([6], [2]))
    index.append((np.ma.array([0], mask=True), [3]))  # a row without a key
    assert index.append(([7], [7])) == range(3, 4)
    assert index.info.max_row_id == 3
    index.erase(([7], [7]))
    assert index.append(([8], [8])) == range(4, 5)
    index = raydex.build(([5, 6], [1, 2]), "btree")
    index.erase(([5, 6], [1, 2]))
    index.insert(([100], [100]), [1])
    assert index.info.max_row_id == 1 and index.append(([1], [1])) == range(2, 3)
    nothing = raydex.build((np.empty(0, "i8"), np.empty(0, "M8[D]")))
    assert nothing.append(([3], np.array(["2026-01-01"], "M8[D]"))) == range(1)
    assert nothing.append(([4], np.array(["2025-01-01"], "M8[D]"))) == range(1, 2)
    assert nothing.first(([4, 3], np.array(["2025-01-01", "2026-01-01"], "M8[D]"))).tolist() == [1, 0]


def test_rows_without_a_key_and_rows_that_are_gone():
    """They count after a growth as before."""
    for keys, more in ((([1, 2, 3, 4], [1, 2, 3, 4]), ([1000], [1])), (["a", "b", "c", "d"], ["longer than eight"])):
        index = raydex.build(keys)
        index.erase(keys)
        index.insert(more, [0])
        assert (index.info.max_row_id, len(index), index.append(more)) == (3, 1, range(4, 5))
    texts = raydex.build(["a", None, None, "b"])
    texts.append(["longer than eight"])
    columns = raydex.build((np.ma.array([1, 2, 3], mask=[0, 1, 1]), [1, 2, 3]))
    columns.append(([1000], [4]))
    assert (texts.info.n, columns.info.n, len(texts), len(columns)) == (5, 4, 3, 2)


@pytest.mark.parametrize("empty", [
    ([], []), ([1, 2], [None, None]), pd.DataFrame(columns=["a", "b"]), pa.table({"a": pa.nulls(0), "b": pa.nulls(0)}),
    (np.array([], int), []),
])  # fmt: skip
def test_columns_that_say_nothing(empty):
    """They take more that say nothing; of others nobody knows how they would compare."""
    index = raydex.build(empty, missing="last")
    size = len(index)
    for one in (index, pickle.loads(pickle.dumps(index))):
        for more in (([7, 9], np.array(["2026-01-05", "2026-01-06"], "M8[D]")), ([7], ["text"]), ([7], [2.5])):
            with pytest.raises(raydex.InvalidArgument, match="without a cell that says what it is of; build it again"):
                one.append(more)
        assert len(one) == size
    if size:
        assert index.append(([3], [None])) == range(2, 3) and len(index) == 3


def test_keys_whose_rows_are_their_places():
    index = raydex.build(([1, 2, 3], [1, 2, 3]), "pivot_tree", layout="keys")
    assert index.append(([1000], [1])) == range(3, 4)
    assert index.info.options["layout"] == "keys" and rows_of(index, ([3, 1000], [3, 1])) == [[2], [3]]
    texts = raydex.build(["a", "b"], "pivot_tree", layout="keys")
    assert texts.append(["longer than eight"]) == range(2, 3)
    assert texts.first(["longer than eight", "a"]).tolist() == [2, 0]


def test_an_edit_that_fails_changes_nothing():
    index = raydex.build(([5, 6], ["a", "b"]))
    for keys, rows in (
        (([7], ["longer than eight"]), [1, 2]),
        (([7, 8], ["c"]), [1]),
        (([7.5], ["c"]), [1]),
        (([7], ["c"]), [-1]),
        (([7], [5]), [1]),
    ):
        with pytest.raises(raydex.Error):
            index.insert(keys, rows)
        assert (len(index), index.info.n, str(index._key)) == (2, 2, "(int64, S1)")
        assert index.first(([5, 6], ["a", "b"])).tolist() == [0, 1]
    far = raydex.build(([0, 1], [0, 1]), "direct")
    with pytest.raises(raydex.Unsupported):
        far.append(([2**40], [2**20]))
    assert far.first(([0, 1], [0, 1])).tolist() == [0, 1] and len(far) == 2
    texts = raydex.build(["a", "b"])
    with pytest.raises(raydex.InvalidArgument, match="rows: 2 of them for 1 keys"):
        texts.insert(["longer than eight"], [3, 4])
    assert (len(texts), texts.info.key) == (2, "bytes1")
    with pytest.raises(raydex.InvalidArgument, match="is no S2, as the keys are"):
        raydex.build(pa.array([b"ab"], pa.binary(2))).append(pa.array([b"abc"]))


def test_queries_of_other_threads():
    """Each is answered by one version, whose columns are packed in its own way."""
    shops = np.zeros(50, "i8")
    composite = raydex.build((shops, np.arange(50)))
    texts = raydex.build(["a"] * 50)
    seen, done = [], threading.Event()

    def ask():
        while not done.is_set():
            seen.append((composite.count([0, 1]).tolist(), texts.count(["a", "b"]).tolist()))

    threads = [threading.Thread(target=ask) for _ in range(3)]
    for one in threads:
        one.start()
    for size in range(2, 60):
        composite.append(([0, 5 * size], [50 * size, -size]))
        texts.append(["a", "c" * size])
    done.set()
    for one in threads:
        one.join()
    assert len(seen) > 3 and {cells[1] for answer in seen for cells in answer} == {0}
    assert all(50 <= cells[0] <= 108 for answer in seen for cells in answer)
    assert composite.count([0]).tolist() == texts.count(["a"]).tolist() == [108]


def test_what_was_found_before_is_refused():
    values = np.arange(10.0)
    index = raydex.build(([5, 6, 5], [1, 2, 3]))
    aggregate = raydex.aggregate(index, values)
    lazy = index.rows([5], lazy=True)
    index.append(([50], [20]))
    with pytest.raises(raydex.InvalidArgument, match="edited"):
        aggregate.sum([5])
    with pytest.raises(raydex.InvalidArgument, match="edited"):
        next(iter(lazy.chunks(1)))
    assert raydex.aggregate(index, values).sum([5, 50]).tolist() == [2.0, 3.0]


def test_days_that_are_given_in_nanoseconds():
    """Steps stay, and give way where a value lies between them."""
    rng = np.random.default_rng(2)
    frame = pd.DataFrame({"store": rng.integers(0, 2**40, 300), "day": pd.date_range("2020-01-01", periods=300)})
    index = raydex.build(frame)
    days = pd.to_datetime(["2021-01-01", "2021-01-02", "2019-06-01"])
    more = pd.DataFrame({"store": frame["store"][:3], "day": days})
    index.append(more)
    assert index.first(more).tolist() == [300, 301, 302] and index.first(frame).tolist() == list(range(300))
    index.append(more.assign(day=more["day"] + pd.Timedelta("1h")))
    assert index.first(more.assign(day=more["day"] + pd.Timedelta("1h"))).tolist() == [303, 304, 305]
    assert index.first(frame).tolist() == list(range(300))


def test_many_columns_that_are_far_apart():
    """Numbered one by one and together, and numbered anew."""
    rng = np.random.default_rng(5)
    words = [f"https://raydex.example/{i:030}" for i in range(50)]
    keys = [(*rng.integers(-(2**62), 2**62, 9).tolist(), words[i % 40], float(rng.random())) for i in range(60)]
    index = raydex.build(columns_of(keys[:20]))
    index.append(columns_of(keys[20:21]))
    index.append(columns_of(keys[21:]))
    index.append(columns_of([(*keys[0][:9], words[45], keys[1][10])]))
    keys.append((*keys[0][:9], words[45], keys[1][10]))
    wanted = [*keys, (*keys[0][:9], words[44], 0.5)]
    assert rows_of(index, columns_of(wanted)) == matching(keys, wanted)
    for k in (1, 4, 9, 10):
        points = columns_of([key[:k] for key in keys])
        assert index.count(points).tolist() == [sum(key[:k] == one[:k] for key in keys) for one in keys]
