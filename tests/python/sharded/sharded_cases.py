# SPDX-License-Identifier: Apache-2.0
"""Random cases of sharded indexes and joins, compared with one index over the whole column. They run in one
process with several shards, and in several processes alike: each process draws the same data, and gives and
checks its own part."""

import numpy as np
import raydex
import raydex.sharded
from raydex.sharded._shard import ends_of

DTYPES = ["int32", "int64", "uint64", "float32", "float64", "S8", "datetime64[s]"]
KINDS = ["plain", "duplicates", "equal", "missing", "few", "extremes", "empty"]


class Party:
    """Who takes part, and which part of a whole array is this process's."""

    def __init__(self, process, processes, **engine):
        self.process = process
        self.processes = processes
        self.engine = engine

    def part(self, whole, random):
        """Cuts at random; some parts are empty."""
        cuts = np.sort(random.integers(0, len(whole) + 1, self.processes - 1))
        if self.processes > 2:
            cuts[1] = cuts[0]
        ends = np.concatenate([[0], cuts, [len(whole)]])
        self.begin, self.end = int(ends[self.process]), int(ends[self.process + 1])
        return whole[self.begin:self.end]


def _extremes(dtype):
    dtype = np.dtype(dtype)
    if dtype.kind in "iu":
        ends = np.iinfo(dtype)
        return np.array([ends.min, ends.min + 1, ends.max - 1, ends.max], dtype)
    if dtype.kind == "f":
        return np.array([-np.inf, np.finfo(dtype).min, -0.0, 0.0, np.finfo(dtype).max, np.inf, np.nan], dtype)
    if dtype.kind == "S":
        return np.array([b"", b"\x01", b"\xff" * 8, b"\xff" * 7], dtype)
    ends = np.iinfo("int64")
    return np.array([ends.min + 1, ends.max]).view(dtype)


def _cells(dtype, size, most, random):
    dtype = np.dtype(dtype)
    if dtype.kind == "u":
        return random.integers(0, 2 * most, size).astype(dtype)
    if dtype.kind == "S":
        return np.array([b"%d" % cell for cell in random.integers(0, 2 * most, size)], dtype)
    if dtype.kind == "f":
        cells = np.round(random.normal(0, most / 2, size)).astype(dtype)
        cells[random.random(size) < 0.05] = np.nan
        return cells
    cells = random.integers(-most, most, size)
    return cells.view(dtype) if dtype.kind == "M" else cells.astype(dtype)


def column(dtype, size, kind, random):
    if kind == "empty":
        return np.empty(0, dtype)
    if kind == "equal":
        return np.repeat(_cells(dtype, 1, 100, random), size)
    most = {"duplicates": 20, "few": 2}.get(kind, 4000)
    cells = _cells(dtype, size, most, random)
    if kind == "extremes":
        cells[::3] = random.choice(_extremes(dtype), len(cells[::3]))
    return _with_missing(cells, random) if kind == "missing" else cells


def _with_missing(cells, random):
    missing = random.random(len(cells)) < 0.2
    if cells.dtype.kind != "M":
        return np.ma.array(cells, mask=missing)
    cells[missing] = "NaT"
    return cells


def probes(keys, dtype, size, kind, random):
    """Half of them keys of the column, the rest near."""
    found = column(dtype, size, "plain" if kind in ("empty", "equal") else kind, random)
    if len(keys):
        places = random.integers(0, len(keys), size // 2)
        np.ma.getdata(found)[:size // 2] = np.ma.getdata(keys)[places]
    return found


def host(x):
    """An array of NumPy, of one of NumPy or PyTorch in any memory."""
    return x.cpu().numpy() if hasattr(x, "cpu") else x if np.ma.isMaskedArray(x) else np.asarray(x)


def equal(found, wanted):
    np.testing.assert_array_equal(np.asarray(host(found)), np.asarray(wanted))


def check_points(index, whole, points, calls=None):
    """All calls of points, or those that are named, of this process's probes; the whole is on the host."""
    there = host(points)
    for name in calls or ("first", "count", "contains", "isin"):
        found, wanted = getattr(index, name)(points), getattr(whole, name)(there)
        equal(found, wanted)
        assert host(found).dtype == np.asarray(wanted).dtype
    if calls is None:
        found, wanted = index.rows(points), whole.rows(there)
        equal(found.offsets, wanted.offsets)
        equal(found.rows, wanted.rows)
        for side in ("left", "right"):
            equal(index.rank(points, side), whole.rank(there, side))
        for strict in (False, True):
            equal(index.predecessor(points, strict), whole.predecessor(there, strict))
            equal(index.successor(points, strict), whole.successor(there, strict))


def check_ranges(index, whole, lower, upper):
    ends = host(lower), host(upper)
    for name in ("first", "count"):
        equal(getattr(index, name)(lower, upper), getattr(whole, name)(*ends))
    found, wanted = index.rows(lower, upper), whole.rows(*ends)
    equal(found.offsets, wanted.offsets)
    equal(found.rows, wanted.rows)


def check_values(index, whole, lower, upper, values, part):
    found = host(index.sum(lower, upper, values=part))
    wanted = whole.sum(host(lower), None if upper is None else host(upper), values=values)
    assert found.dtype == wanted.dtype
    np.testing.assert_allclose(found, wanted, rtol=1e-12)


def check_index(party, dtype, kind, seed, size=700, convert=lambda x: x):
    """A column, its probes, edits, and shards that drift apart and are evened."""
    random = np.random.default_rng(seed)
    keys = column(dtype, size, kind, random)
    explicit = seed % 3 == 0
    rows = random.permutation(3 * len(keys))[:len(keys)] if explicit else None
    whole = raydex.build(keys, rows=rows)
    part = party.part(keys, random)
    own_rows = None if rows is None else convert(rows[party.begin:party.end])
    most = int(random.choice([100, 1 << 24]))
    index = raydex.sharded.build(convert(part), rows=own_rows, most_probes=most, **party.engine)
    assert len(index) == len(whole)

    def ask():
        lower, upper = (probes(keys, dtype, 300, kind, random) for _ in range(2))
        points = party.part(lower, random)
        check_points(index, whole, convert(points))
        ends = upper[party.begin:party.end]
        check_ranges(index, whole, convert(points), convert(ends))
        if not np.ma.isMaskedArray(lower):
            low, high = (np.repeat(one, 3) for one in ends_of(np.dtype(dtype)))
            check_ranges(index, whole, convert(low), convert(high))

    ask()
    cells = 3 * len(keys) + 5000
    values = _cells(["int32", "int64", "uint64", "float32", "float64"][seed % 5], cells, 50, random)
    values = np.where(values == values, values, values.dtype.type(0.3))
    share = party.part(values, random)
    lower = party.part(probes(keys, dtype, 60, kind, random), random)
    check_values(index, whole, convert(lower), None, values, convert(share))
    check_values(index, whole, convert(lower), convert(lower), values, convert(share))

    # Entries at one end of the keys: shards drift apart.
    added = _cells(dtype, 900, 4000, random)
    if added.dtype.kind in "iuf":
        added += added.dtype.type(5000)
    ids = random.permutation(len(added)) + 3 * len(keys)
    whole.insert(added, ids)
    mine = party.part(added, random)
    index.insert(convert(mine), convert(ids[party.begin:party.end]))
    gone = probes(keys, dtype, 40, kind, random)
    whole.erase(gone)
    index.erase(convert(party.part(gone, random)))
    pairs = np.arange(0, len(added), 3)
    whole.erase(added[pairs], ids[pairs])
    mine = party.part(pairs, random)
    index.erase(convert(added[mine]), convert(ids[mine]))
    assert len(index) == len(whole)
    ask()
    before = index.balance.imbalance
    assert index.rebalance(1.2) == (before > 1.2)
    assert index.balance.imbalance <= before
    assert len(index) == len(whole) == sum(index.balance.rows)
    assert not index.rebalance(before + 1)
    ask()
    index.close()


def check_hot(party, dtype, seed, convert=lambda x: x):
    """One key in half of all probes; some of these are missing unless they are converted."""
    random = np.random.default_rng(seed)
    keys = column(dtype, 3000, "plain", random)
    if keys.dtype.kind == "f":
        keys[keys != keys] = 1
    whole = raydex.build(keys)
    index = raydex.sharded.build(convert(party.part(keys, random)), **party.engine)
    points = probes(keys, dtype, 30000, "missing", random)
    hot = random.random(len(points)) < 0.5
    np.ma.getdata(points)[hot] = keys[5]
    own = party.part(points, random)
    check_points(index, whole, convert(own))
    assert index.balance.merged > 9 * 1000
    if party.processes == 1:
        assert index.balance.merged > 9 * 12000  # all calls but rows
        assert sum(index.balance.last) < 17000
    if keys.dtype.kind == "f":
        own = np.where(random.random(len(own)) < 0.5, np.array(np.nan, dtype), keys[3])
        check_points(index, whole, convert(own))
    index.close()


def pairs_of(left, right):
    left = np.asarray(left)
    right = np.zeros_like(left) if right is None else np.asarray(right)
    order = np.lexsort([right, left])
    return np.stack([left[order], right[order]])


def check_join(party, gather, seed, sizes, how, exchange, columns=1, convert=None):
    """Pairs of all processes, against the pairs of one join; some keys are missing unless they are converted."""
    random = np.random.default_rng(seed)
    left, right = ([np.ma.array(random.integers(0, 90, size), mask=random.random(size) < 0.1)] for size in sizes)
    left[0] = left[0].astype("int32")
    if convert is not None:
        left, right = [np.asarray(left[0])], [np.asarray(right[0])]
    convert = convert or (lambda x: x)
    if columns == 2:
        left.append(random.integers(0, 3, sizes[0]))
        right.append(random.integers(0, 3, sizes[1]))
    wanted = pairs_of(*raydex.join(tuple(right), tuple(left), how))
    own = []
    for side in (left, right):
        first = party.part(side[0], random)
        own.append([convert(first), *(convert(one[party.begin:party.end]) for one in side[1:])])
    if exchange == "index":
        if columns == 2 or how in ("right", "full"):
            return
        right[0] = right[0].astype("int32")
        index = raydex.sharded.build(convert(right[0][party.begin:party.end]), **party.engine)
        found = raydex.sharded.join(own[0][0], index, how)
        index.close()
    else:
        found = raydex.sharded.join(*own, how, exchange=exchange, **party.engine)
    check_pairs(gather, found, wanted)


def check_pairs(gather, found, wanted):
    """The pairs of all processes together."""
    parts = gather([host(found.left), None if found.right is None else host(found.right)])
    rights = None if found.right is None else np.concatenate([one[1] for one in parts])
    np.testing.assert_array_equal(pairs_of(np.concatenate([one[0] for one in parts]), rights), wanted)


# How many rows both tables have, and how many of them some keys, of floats NaN as the first.
HOT = {
    "left": ((6000, 300), [(3000, 2)]),
    "left alone": ((6000, 300), [(3000, 0)]),
    "right": ((300, 6000), [(2, 3000)]),
    "both": ((6000, 1000), [(3000, 60)]),
    "both alike": ((5000, 5000), [(100, 100)]),
    "several": ((6000, 7000), [(1500, 3), (2, 2000), (1500, 20), (90, 120)]),
    "nothing else": ((5000, 20), [(5000, 20)]),
    "nothing right": ((5000, 0), [(2500, 0)]),
}


def hot_column(dtype, size, counts, random):
    """One with keys that are in so many rows, anywhere."""
    cells = _cells(dtype, size, 2000, random)
    keys = np.arange(5000, 5000 + len(counts)).astype(dtype)
    if keys.dtype.kind == "f":
        keys[0] = np.nan
    cells[random.permutation(size)[:sum(counts)]] = np.repeat(keys, counts)
    return cells


def check_hot_join(party, gather, seed, dtype, hot, how, columns=1, convert=None):
    """As `check_join`, with one of `HOT` in the first column."""
    random = np.random.default_rng(seed)
    sizes, counts = HOT[hot]
    sides = []
    for at, of in enumerate((dtype, "int64" if dtype == "int32" else dtype)):
        side = [hot_column(of, sizes[at], [one[at] for one in counts], random)]
        side += [random.integers(0, 3, sizes[at]) for _ in range(1, columns)]
        sides.append(side if convert else [_with_missing(one, random) for one in side])
    wanted = pairs_of(*raydex.join(tuple(sides[1]), tuple(sides[0]), how))
    convert = convert or (lambda x: x)
    own = []
    for first, *rest in sides:
        part = party.part(first, random)
        own.append([convert(part), *(convert(one[party.begin:party.end]) for one in rest)])
    check_pairs(gather, raydex.sharded.join(*own, how, exchange="shuffle", **party.engine), wanted)


# Joins that mostly are of one key, with the arguments of `hot_column` for both sides.
EVEN = {
    "left": ("left", (8000, [4000]), (1000, [1])),
    "right": ("inner", (1000, [1]), (8000, [4000])),
    "both": ("inner", (5000, [500]), (6000, [500])),
}


def check_even_join(party, gather, dtype, even, convert):
    """Processes with as many rows each make about as many pairs, of the hot key and of others."""
    random = np.random.default_rng(7)
    how, *sides = EVEN[even]
    own = [
        convert(np.array_split(hot_column(dtype, *side, random), party.processes)[party.process])
        for side in sides
    ]
    pairs = gather(len(raydex.sharded.join(*own, how, exchange="shuffle", **party.engine).left))
    assert max(pairs) * party.processes < 1.2 * sum(pairs)


def replaced(of, name, by):
    """Puts something in place of an attribute. Returns what puts it back."""
    was, own = getattr(of, name), name in vars(of)
    setattr(of, name, by)
    return lambda: setattr(of, name, was) if own else delattr(of, name)
