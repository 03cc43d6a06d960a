# SPDX-License-Identifier: Apache-2.0
"""Joins by order over shards against pandas and DuckDB on the whole columns. As in `sharded_cases` each process draws
the same data and gives its own part; what all of them got is checked by the first one."""

import numpy as np
import raydex.sharded
from sharded_cases import _with_missing, host

# How times lie.
KINDS = ["plain", "equal", "one key", "apart", "few", "no left", "no right", "whole numbers", "times"]
KEYS = ["none", "int", "two", "floats"]
HOWS = ("inner", "left", "semi", "anti")


class Table:
    """Times, a second column, and keys."""

    def __init__(self, times, second, keys):
        self.times, self.second, self.keys = times, second, keys

    def cells(self):
        return [self.times, self.second, *self.keys]


def _keys(random, keys, group):
    if keys == "none":
        return []
    if keys == "int":
        return [group * 10**17 - 3]
    if keys == "floats":
        return [np.where((group == 0) & (random.random(len(group)) < 0.5), -0.0, group / 4)]
    return [(group % 2).astype("int32"), np.array([b"a", b"long key", b"c"])[group // 2 % 3]]


def tables(random, kind, keys, whole=False):
    """The left and the right table; `whole` leaves out missing cells and keys that are strings."""
    sizes = {"few": (6, 3), "no left": (0, 90), "no right": (90, 0)}.get(kind, random.integers(150, 300, 2))
    found = []
    for side, size in enumerate(sizes):
        most = {"equal": 5, "few": 9}.get(kind, 400)
        times = random.integers(0, most, size)
        group = random.integers(0, 4, size)
        if kind == "one key":
            group = np.full(size, 2)
        if kind == "apart":  # what is asked is far from what there is, on both sides of it
            times = np.where(side == 0, np.where(random.random(size) < 0.5, times - 9000, times + 9000), times)
        if kind == "plain" and side == 0:
            times = times.astype("int32")
        if kind == "whole numbers":
            times = times.astype("float64") - 100
        second = times + random.integers(-1, 60, size)
        if kind == "times":
            unit = "s" if side == 0 and not whole else "ns"
            scale = 1 if unit == "s" else 10**9
            times, second = ((one * scale).view(f"M8[{unit}]") for one in (times, second))
        if keys == "two" and whole:
            by = [group % 2, group // 2]
        else:
            by = _keys(random, keys, group)
        cells = [times, second, *by]
        if not whole:
            cells = [_with_missing(one.copy(), random) for one in cells]
        found.append(Table(cells[0], cells[1], cells[2:]))
    return found


def own(party, random, table, convert):
    """This process's part."""
    first = party.part(table.times, random)
    rest = [one[party.begin:party.end] for one in table.cells()[1:]]
    cells = [convert(one.view("int64") if one.dtype.kind == "M" else one) if convert else one for one in [first, *rest]]
    return Table(cells[0], cells[1], cells[2:])


def _by(left, right):
    return {"by": (left.keys, right.keys)} if left.keys else {}


def _engine(party, random):
    """Who takes part, and what is sent."""
    return {**party.engine, "exchange": ("shuffle", "shuffle", "broadcast", None)[random.integers(4)]}


def _frame(table):
    pd = __import__("pandas")
    cells = {f"k{at}": one for at, one in enumerate(table.keys)} | {"a": table.times, "b": table.second}
    there = np.ones(len(table.times), bool)
    for one in cells.values():
        there &= ~np.isnat(one) if one.dtype.kind == "M" else ~np.ma.getmaskarray(one)
    plain = {name: np.ma.getdata(one) for name, one in cells.items()}
    for name, one in plain.items():
        if one.dtype.kind == "S":
            plain[name] = one.astype("U")
        if one.dtype.kind == "f":
            plain[name] = one + 0.0
    return pd.DataFrame(plain), there


def _asof_by_pandas(left, right, direction, exact, tolerance):
    pd = __import__("pandas")
    sides = []
    for name, table in (("p", left), ("b", right)):
        frame, _ = _frame(Table(table.times, table.times, table.keys))
        cells = [table.times, *table.keys]
        there = np.ones(len(frame), bool)
        for one in cells:
            there &= ~np.isnat(one) if one.dtype.kind == "M" else ~np.ma.getmaskarray(one)
        frame[name] = np.arange(len(frame))
        if frame["a"].dtype.kind in "iM":
            frame["a"] = frame["a"].astype("M8[ns]" if frame["a"].dtype.kind == "M" else "int64")
        sides.append(frame[there].drop(columns="b" if name == "p" else []).sort_values("a", kind="stable"))
    names = [f"k{at}" for at in range(len(left.keys))]
    found = pd.merge_asof(
        sides[0], sides[1][["a", "b", *names]], on="a", by=names or None, direction=direction,
        allow_exact_matches=exact, tolerance=tolerance)
    rows = np.full(len(left.times), -1)
    rows[found["p"]] = found["b"].fillna(-1)
    return rows


def check_asof(party, gather, seed, kind, keys, convert=None):
    random = np.random.default_rng(seed)
    left, right = tables(random, kind, keys, convert is not None)
    parts = [own(party, random, one, convert) for one in (left, right)]
    for direction in ("backward", "forward", "nearest"):
        exact = bool(random.integers(2))
        tolerance = [None, 0, 3, 9500][random.integers(4)]
        span = tolerance
        if kind == "times" and tolerance is not None:
            span = np.timedelta64(tolerance, "s")
            tolerance = span if convert is None else tolerance * 10**9
        found = raydex.sharded.join_asof(
            parts[0].times, parts[1].times, direction=direction, allow_exact_matches=exact, tolerance=tolerance,
            **_by(*parts), **_engine(party, random))
        whole = gather(host(found))
        assert len(found) == len(parts[0].times)
        if party.process == 0:
            if span is not None and left.times.dtype.kind == "f":
                span = float(span)
            if kind == "times" and span is not None:
                span = __import__("pandas").Timedelta(span)
            wanted = _asof_by_pandas(left, right, direction, exact, span)
            np.testing.assert_array_equal(np.concatenate(whole), wanted, f"{seed} {kind} {direction} {exact} {span}")


def _arrow(table):
    pa = __import__("pyarrow")
    frame, _ = _frame(table)
    columns = {}
    for (name, plain), one in zip(frame.items(), [*table.keys, table.times, table.second]):
        gone = np.isnat(one) if one.dtype.kind == "M" else np.ma.getmaskarray(one)
        if plain.dtype.kind == "M":
            plain = plain.astype("M8[ns]")
        columns[name] = pa.array(plain.to_numpy(), mask=gone)
    return pa.table(columns)


SIGNS = ("<", "<=", ">", ">=")


def _closed(closed):
    return tuple("<=" if closed in ("both", side) else "<" for side in ("left", "right"))


def _intervals(relation, closed):
    """A condition of DuckDB, and of intervals that are none if an end is above the other."""
    if relation == "overlaps":
        sign = "<=" if closed == "both" else "<"
        return f"b.a {sign} p.b and p.a {sign} b.b"
    return "b.a >= p.a and b.b <= p.b" if relation == "within" else "p.a >= b.a and p.b <= b.b"


def check_pairs(party, gather, seed, kind, keys, convert=None):
    """Joins that make pairs, each of one drawn kind."""
    from join_oracle import by_duckdb

    random = np.random.default_rng(seed)
    left, right = tables(random, kind, keys, convert is not None)
    parts = [own(party, random, one, convert) for one in (left, right)]
    mine, other = parts
    keyed = _by(*parts)
    build, probe = (_arrow(one) for one in (right, left)) if party.process == 0 else (None, None)
    equal = "".join(f" and b.k{at} = p.k{at}" for at in range(len(left.keys)))
    valid = "b.a <= b.b and p.a <= p.b and "

    def check(how, call, condition):
        found = call(how, **keyed, **_engine(party, random))
        every = gather([host(found.left), None if found.right is None else host(found.right)])
        assert (found.right is None) == (how in ("semi", "anti"))
        if party.process == 0:
            got = np.concatenate([one[0] for one in every])
            rights = np.full(len(got), -2) if how in ("semi", "anti") else np.concatenate([one[1] for one in every])
            wanted = by_duckdb(build, probe, how, condition + equal)
            assert sorted(zip(got.tolist(), rights.tolist())) == wanted, (seed, kind, keys, how, condition)

    def drawn(*words):
        return words[random.integers(len(words))]

    sharded = raydex.sharded
    if kind != "times":
        distance = drawn(0, 2, 50)
        check(drawn(*HOWS), lambda how, **given: sharded.join_range(
            mine.times, other.times, how, distance=distance, **given), f"abs(b.a - p.a) <= {distance}")
        if convert is None:
            before, after = drawn((2, 5), (-1, 40), (40, -2))
            check(drawn(*HOWS), lambda how, **given: sharded.join_range(
                mine.times, other.times, how, distance=(before, after), **given),
                f"b.a between p.a - {before} and p.a + {after}")
    sign = drawn(*SIGNS)
    check(drawn(*HOWS), lambda how, **given: sharded.join_range(
        mine.times, other.times, how, compare=sign, **given), f"b.a {sign} p.a")
    check(drawn(*HOWS), lambda how, **given: sharded.join_range(
        mine.times, other.times, how, left_upper=mine.second, **given), "b.a between p.a and p.b")
    closed = drawn("both", "left", "right", "neither")
    lower, upper = _closed(closed)
    inside = f"b.a {lower} p.a and p.a {upper} b.b"
    check(drawn(*HOWS), lambda how, **given: sharded.join_range(
        mine.times, other.times, how, right_upper=other.second, closed=closed, **given), inside)
    check(drawn(*HOWS), lambda how, **given: sharded.join_intervals(
        mine.times, (other.times, other.second), how, closed=closed, **given), inside)
    for how in HOWS:
        relation, ends = drawn(("overlaps", closed), ("within", "both"), ("encloses", "both"))
        lie = {"relation": relation, "closed": ends}
        check(how, lambda how, lie=lie, **given: sharded.join_intervals(
            (mine.times, mine.second), (other.times, other.second), how, **lie, **given),
            valid + _intervals(relation, ends))
    signs = drawn(*SIGNS), drawn(*SIGNS)
    check(drawn(*HOWS), lambda how, **given: sharded.join_where(
        (mine.times, mine.second), (other.times, other.second), signs, how, **given),
        f"b.a {signs[0]} p.a and b.b {signs[1]} p.b")


AGGREGATES = ("sum", "mean", "count", "min", "max", "first", "last", "argmin", "argmax")


def _windowed(left, right, before, after, closed):
    """Count, sum, and rows by time, by NumPy, for each left row."""
    there = ~np.ma.getmaskarray(right.times) & ~np.ma.getmaskarray(right.second)
    for one in right.keys:
        there &= ~np.ma.getmaskarray(one)
    times, values = np.ma.getdata(right.times), np.ma.getdata(right.second)
    for at, time in enumerate(np.ma.getdata(left.times)):
        far = np.full(len(times), -np.inf) if len(times) == 0 else times - time
        inside = (far >= -before if closed in ("both", "left") else far > -before) & there
        inside &= far <= after if closed in ("both", "right") else far < after
        for one, other in zip(left.keys, right.keys):
            inside &= np.ma.getdata(other) == np.ma.getdata(one)[at]
        if any(np.ma.getmaskarray(one)[at] for one in (left.times, *left.keys)):
            inside[:] = False
        rows = np.flatnonzero(inside)
        yield rows[np.argsort(times[rows], kind="stable")], values


def check_windows(party, gather, seed, kind, keys, convert=None):
    random = np.random.default_rng(seed)
    left, right = tables(random, kind, keys, convert is not None)
    parts = [own(party, random, one, convert) for one in (left, right)]
    before, after = [(0, 0), (3, 20), (9500, 1), (400, 400)][random.integers(4)]
    closed = ("both", "left", "right", "neither")[random.integers(4)]
    found = raydex.sharded.join_window(
        parts[0].times, parts[1].times, parts[1].second, before=before, after=after, aggregate=AGGREGATES,
        closed=closed, **_by(*parts), **_engine(party, random))
    every = gather({name: host(one) for name, one in found.items()})
    if party.process:
        return
    found = {name: np.concatenate([one[name] for one in every]) for name in AGGREGATES}
    assert len(found["sum"]) == len(left.times)
    for at, (rows, values) in enumerate(_windowed(left, right, before, after, closed)):
        got = {name: one[at] for name, one in found.items()}
        some = values[rows]
        assert got["count"] == len(rows) and got["sum"] == some.sum(), (seed, kind, keys, at)
        if len(rows) == 0:
            assert got["argmin"] == got["argmax"] == -1 and np.isnan(got["mean"])
            continue
        assert got["mean"] == some.sum() / len(some)
        assert (got["min"], got["max"], got["first"], got["last"]) == (some.min(), some.max(), some[0], some[-1])
        assert (got["argmin"], got["argmax"]) == (rows[some.argmin()], rows[some.argmax()])
