# SPDX-License-Identifier: Apache-2.0
"""`raydex join` by order against a plain comparison of every probe row with every build row."""

import math

import numpy as np
import pytest
from join_tables import (
    COMPARISONS, NONE, assert_same_pairs, assert_same_rows, order, random_values, text_of, write_table,
)


def closest(times, keys, time, key, direction, strict, tolerance):
    """The build row that an as-of join takes."""
    if None in key:
        return NONE

    def is_on_side(other, before):
        if order(other) == order(time):
            return not strict
        return (order(other) < order(time)) == before

    def best(before):
        rows = [
            (order(t), row) for row, t in enumerate(times)
            if keys[row] == key and is_on_side(t, before)
        ]
        if not rows:
            return None
        end = (max if before else min)(t for t, _ in rows)
        return (max if before else min)(row for t, row in rows if t == end)

    found = {"backward": [best(True)], "forward": [best(False)],
             "nearest": [best(True), best(False)]}[direction]
    found = [row for row in found if row is not None]
    if tolerance is not None:
        found = [row for row in found if abs(times[row] - time) <= tolerance]
    if direction == "nearest":
        found.sort(key=lambda row: abs(times[row] - time))
    return found[0] if found else NONE


@pytest.mark.parametrize("by", [[], ["ints"], ["texts"], ["missing", "bytes"]],
                         ids=lambda by: "+".join(by) or "all")
@pytest.mark.parametrize("strict", [False, True])
@pytest.mark.parametrize("direction", ["backward", "forward", "nearest"])
def test_asof(program, rng, direction, strict, by):
    sizes = rng.integers(1, 100, 2)
    keys = [[random_values(rng, part, n) for part in by] for n in sizes]
    asked = {"kind": "asof", "direction": direction}
    if by:
        asked["build_by"] = write_table(program, "b", by, keys[0])
        asked["probe_by"] = write_table(program, "p", by, keys[1])
    tuples = [list(zip(*columns)) if by else [()] * n for columns, n in zip(keys, sizes)]
    for tolerance in [None, 1.5, 3]:
        floats = tolerance != 3
        steps = [rng.integers(-20, 20, n) / (4 if floats else 1) for n in sizes]
        if floats and tolerance is None and direction != "nearest":
            for times in steps:
                times[rng.random(len(times)) < 0.1] = np.nan
        if not floats:
            steps = [times.astype("<i4") for times in steps]
        asked["build"] = program.file("bt.npy", steps[0])
        asked["probe"] = program.file("pt.npy", steps[1])
        if tolerance is not None:
            asked["tolerance"] = str(tolerance)
        answer = program.join(*(["--strict"] if strict else []), **asked)
        times = steps[0].tolist()
        expected = [
            (p, closest(times, tuples[0], time, tuples[1][p], direction, strict, tolerance))
            for p, time in enumerate(steps[1].tolist())
        ]
        assert_same_rows(answer, np.array(expected, "<u8"))


def test_asof_with_missing_times(program):
    program.file("b.csv", "t,g\n1,a\n,a\n3,\n4,b\n")
    program.file("p.csv", "t,g\n5,a\n,a\n5,\n3,b\n9,b\n")
    answer = program.join(kind="asof", build="b.csv:t", probe="p.csv:t", build_by="b.csv:g",
                          probe_by="p.csv:g")
    assert answer[:, 1].tolist() == [0, NONE, NONE, NONE, 3]


@pytest.mark.parametrize("direction", ["backward", "forward", "nearest"])
@pytest.mark.parametrize("dtype", ["<i8", "<f8"])
def test_asof_with_neighbours(program, rng, direction, dtype):
    times = [rng.integers(-40, 40, n).astype(dtype) for n in rng.integers(1, 100, 2)]
    answer = program.join(
        kind="asof", direction=direction, neighbours="3", relative_tolerance="0.25",
        build=program.file("b.npy", times[0]), probe=program.file("p.npy", times[1]),
    )
    expected = []
    for p, time in enumerate(times[1].tolist()):
        rows = {}
        for b, other in enumerate(times[0].tolist()):
            is_after = other > time or (direction == "forward" and other == time)
            if direction != ("backward" if is_after else "forward") and abs(other - time) <= abs(time) / 4:
                rows[b] = (abs(other - time), is_after, b if is_after else -b)
        expected += [(p, b) for b in sorted(rows, key=rows.get)[:3]]
    assert_same_rows(answer, np.array(expected, "<u8").reshape(-1, 2))


def test_asof_with_missing_keys_that_are_equal(program):
    program.file("b.csv", "t,g,n\n1,a,\n2,,7\n3,,\n4,b,7\n")
    program.file("p.csv", "t,g,n\n5,a,\n5,,7\n2,,\n9,,\n9,b,\n")
    asked = {"kind": "asof", "build": "b.csv:t", "probe": "p.csv:t", "build_by": "b.csv:g,n", "probe_by": "p.csv:g,n"}
    assert program.join(**asked)[:, 1].tolist() == [NONE] * 5
    assert program.join("--missing-equal", **asked)[:, 1].tolist() == [0, 1, NONE, 2, NONE]


@pytest.mark.parametrize("dtype", ["<u4", "<i4", "<i8", "<f4", "<f8"])
def test_bands(program, rng, dtype):
    n, probes = rng.integers(1, 80, 2)
    distance = int(rng.integers(0, 4))
    how = str(rng.choice(["inner", "left", "right", "full"]))
    if dtype[1] == "f":
        special = np.array([np.nan, 0.0, -0.0, 0.25, 0.5, 3.25, -7.5], dtype)
    else:
        info = np.iinfo(dtype)
        special = np.array([info.min, info.min + 2, info.max, info.max - 1, 0, 1, 3, 9], dtype)
    build, probe = rng.choice(special, n), rng.choice(special, probes)
    answer = program.join(
        "--ordered", kind="band", build=program.file("b.npy", build), distance=str(distance),
        probe=program.file("p.npy", probe), how=how,
    )
    build, probe = build.tolist(), probe.tolist()
    assert_same_pairs(answer, rows_of_kind(lambda p, b: abs(probe[p] - build[b]) <= distance, probes, n, how))


@pytest.mark.parametrize("dtype", ["<i8", "<u8"])
def test_distances_of_64_bits(program, dtype):
    far = 2**53 + 1
    build = program.file("b.npy", np.array([0], dtype))
    probe = program.file("p.npy", np.array([far - 1, far, far + 1], dtype))
    for distance, found in ((far, [0, 1]), (far - 1, [0])):
        answer = program.join(kind="band", build=build, probe=probe, distance=str(distance))
        assert answer[:, 0].tolist() == found
        answer = program.join(kind="asof", build=build, probe=probe, tolerance=str(distance))
        assert np.flatnonzero(answer[:, 1] != NONE).tolist() == found


def test_bands_of_fractions(program):
    keys = program.file("k.npy", np.array([0.0, 0.5, 1.0, 2.0]))
    answer = program.join("--ordered", kind="band", build=keys, probe=keys, distance="0.5")
    assert answer.tolist() == [[0, 0], [0, 1], [1, 0], [1, 1], [1, 2], [2, 1], [2, 2], [3, 3]]
    # As the type computes the difference: 3.9 - 3.8 is more than 0.1.
    grid = np.arange(50) / 10
    answer = program.join(kind="band", build=program.file("g.npy", grid), probe="g.npy", distance="0.1")
    assert_same_pairs(answer, list(zip(*np.nonzero(abs(grid - grid[:, None]) <= 0.1))))
    whole = program.file("w.npy", np.arange(3))
    line = program.refuse_join(kind="band", build=whole, probe=whole, distance="0.5")
    assert "0.5" in line and "whole number" in line


@pytest.mark.parametrize("kind", ["ints", "floats", "missing", "bytes"])
def test_intervals(program, rng, kind):
    n, probes = rng.integers(1, 80, 2)
    lower, upper = (random_values(rng, kind, n) for _ in range(2))
    points = random_values(rng, kind, probes)
    answer = program.join(
        "--ordered", kind="contains", build=write_table(program, "l", [kind], [lower]),
        build_upper=write_table(program, "u", [kind], [upper]),
        probe=write_table(program, "p", [kind], [points]),
    )
    assert_same_pairs(answer, [
        (p, b) for p, x in enumerate(points) for b, (low, high) in enumerate(zip(lower, upper))
        if None not in (x, low, high) and order(low) <= order(x) <= order(high)
    ])


def rows_of_kind(matches, probes, builds, how):
    """What a kind of join writes, of a function of a probe row and a build row."""
    pairs = [[(p, b) for b in range(builds) if matches(p, b)] for p in range(probes)]
    if how in ("semi", "anti"):
        return [p for p, rows in enumerate(pairs) if bool(rows) == (how == "semi")]
    alone = how in ("left", "full")
    matched = {b for rows in pairs for _, b in rows}
    lone = [(NONE, b) for b in range(builds) if b not in matched] if how in ("right", "full") else []
    return [pair for p, rows in enumerate(pairs) for pair in rows or [(p, NONE)] * alone] + lone


# How intervals of the build side lie to those of the probe side.
RELATIONS = {
    "overlaps": lambda a, b, x, y, closed: (a <= y and x <= b) if closed == "both" else (a < y and x < b),
    "within": lambda a, b, x, y, _: x <= a and b <= y,
    "encloses": lambda a, b, x, y, _: a <= x and y <= b,
}


def intervals_with_keys(program, rng, kind):
    """Two tables of intervals and keys: their rows, and what names them."""
    tables, names = [], {}
    for side, size in zip(("build", "probe"), rng.integers(1, 60, 2)):
        lower = rng.integers(0, 60, size)
        upper = lower + rng.integers(-1, 9, size)
        keys = rng.choice(["x", "y", "a longer key"], size)
        rows = [(int(a), int(b), str(key)) for a, b, key in zip(lower, upper, keys)]
        if kind == "missing":
            rows = [(None if rng.random() < 0.1 else a, b, key) for a, b, key in rows]
        dtype = {"ints": "ints", "floats": "floats", "missing": "missing"}[kind]
        for option, column, of in (("", 0, dtype), ("_upper", 1, dtype), ("_by", 2, "texts")):
            names[side + option] = write_table(program, f"{side}{column}", [of], [[row[column] for row in rows]])
        tables.append(rows)
    return (*tables, names)


@pytest.mark.parametrize("kind", ["ints", "floats", "missing"])
@pytest.mark.parametrize("direction", [None, "backward", "forward"])
def test_nearest(program, rng, kind, direction):
    build, probe, names = intervals_with_keys(program, rng, kind)
    count, overlaps = int(rng.integers(1, 4)), bool(rng.integers(0, 2))
    expected = []
    for p, (x, y, key) in enumerate(probe):
        found = []
        for b, (low, high, own) in enumerate(build):
            if own != key or None in (x, low) or x > y or low > high:
                continue
            apart = max(low - y, x - high, 0)
            side = "backward" if high < x else "forward" if low > y else None
            if (apart == 0 and overlaps) or (apart and direction in (None, side)):
                found.append((apart, low if apart == 0 else b, b))
        expected += [(p, b, apart) for apart, _, b in sorted(found)[:count]] or [(p, NONE, None)]
    flags = [] if overlaps else ["--no-overlaps"]
    more = {} if direction is None else {"direction": direction}
    asked = {"kind": "nearest", "count": str(count), **names, **more}
    assert program.join(*flags, **asked).tolist() == [[p, b] for p, b, _ in expected]
    lines = text_of(program, *flags, **asked).splitlines()
    assert lines == ["probe,build,distance"] + [
        f"{p},{'' if b == NONE else b},{'' if apart is None else apart}" for p, b, apart in expected]


@pytest.mark.parametrize("kind", ["ints", "missing"])
def test_coverage(program, rng, kind):
    build, probe, names = intervals_with_keys(program, rng, kind)
    expected = [
        0 if x is None or x > y else sum(
            max(0, min(y, high) - max(x, low)) for low, high, own in build if own == key and low is not None)
        for x, y, key in probe
    ]
    assert program.join(kind="coverage", **names).tolist() == expected
    assert text_of(program, kind="coverage", **names).split() == ["coverage", *map(str, expected)]


AGGREGATES = {
    "sum": sum, "count": len, "min": min, "max": max, "first": lambda found: found[0], "last": lambda found: found[-1],
    "mean": lambda found: sum(found) / len(found),
}


@pytest.mark.parametrize("aggregate", [*AGGREGATES, "argmin", "argmax"])
def test_windows(program, rng, aggregate):
    n, probes = (int(one) for one in rng.integers(1, 60, 2))
    times, values = rng.integers(0, 40, n), rng.integers(-50, 50, n)
    asked = rng.integers(0, 40, probes)
    keys = [[str(one) for one in rng.choice(["x", "y", "a longer key"], size)] for size in (n, probes)]
    before, after = (int(one) for one in rng.integers(0, 9, 2))
    closed = str(rng.choice(["both", "left", "right", "neither"]))
    low, high = closed in ("both", "left"), closed in ("both", "right")
    found = program.join(
        kind="window", build=program.file("t.npy", times), values=program.file("v.npy", values),
        probe=program.file("p.npy", asked), before=str(before), after=str(after), aggregate=aggregate, closed=closed,
        build_by=write_table(program, "bk", ["texts"], keys[:1]), probe_by=write_table(program, "pk", ["texts"], keys[1:]),
    )
    order = np.lexsort((np.arange(n), times))
    for at, key, answer in zip(asked, keys[1], found):
        rows = [row for row in order if keys[0][row] == key and (
            at - before < times[row] < at + after or (low and times[row] == at - before and before + after > 0)
            or (high and times[row] == at + after and before + after > 0)
            or (closed == "both" and times[row] == at))]
        if closed != "both" and before == after == 0:
            rows = []
        if aggregate in ("argmin", "argmax"):
            best = {"argmin": min, "argmax": max}[aggregate]
            wanted = best((values[row] for row in rows), default=None)
            assert answer == (NONE if not rows else next(row for row in rows if values[row] == wanted))
        elif rows or aggregate in ("sum", "count"):
            assert answer == pytest.approx(AGGREGATES[aggregate]([values[row] for row in rows]), rel=1e-12)
        else:
            ends = np.iinfo(values.dtype)
            assert math.isnan(answer) if aggregate == "mean" else answer == (ends.min if aggregate == "max" else ends.max)


@pytest.mark.parametrize("dtype", ["<i4", "<u8", "<f8"])
def test_windows_of_no_row_as_csv(program, dtype):
    """An empty field, but of sums and counts."""
    largest = np.iinfo(dtype).max if dtype != "<f8" else np.finfo(dtype).max
    names = {
        "build": program.file("t.npy", np.array([0, 1, 9])), "values": program.file("v.npy", np.array([3, largest, 5], dtype)),
        "probe": program.file("p.npy", np.array([1, 5, 9])), "before": "0",
    }
    for aggregate in ("min", "max", "first", "last", "mean", "argmin", "sum", "count"):
        of_none = "0" if aggregate in ("sum", "count") else ""
        assert text_of(program, kind="window", aggregate=aggregate, **names).split("\n")[2] == of_none
    written = text_of(program, kind="window", aggregate="min", **names).split("\n")
    assert float(written[1]) == pytest.approx(float(largest)) and written[3] == "5"


@pytest.mark.parametrize("kind", ["ints", "floats", "missing", "bytes"])
@pytest.mark.parametrize("relation", [*RELATIONS, "contains", "band", "less", "greater_equal,less"])
def test_kinds_by_order_with_keys(program, rng, relation, kind):
    """Within equal keys, for every kind of rows."""
    n, probes = (int(one) for one in rng.integers(1, 60, 2))
    build, probe = ([random_values(rng, kind, size) for _ in "ab"] for size in (n, probes))
    keys = [[str(one) for one in rng.choice(["x", "y", "a longer key"], size)] for size in (n, probes)]
    names = [[write_table(program, f"{side}{end}", [kind], [values]) for end, values in zip("ab", both)]
             for side, both in (("l", build), ("p", probe))]
    closed = str(rng.choice(["both", "left", "right", "neither"]))
    how = str(rng.choice(["inner", "left", "right", "full", "semi", "anti"]))
    more = {"build_upper": names[0][1], "closed": closed}
    if relation in RELATIONS:
        more["probe_upper"] = names[1][1]
    elif relation == "band":
        if kind == "bytes":
            return
        more = {"distance": "1"}
    elif relation == "less":
        more = {}
    elif relation != "contains":
        names[0][0], names[1][0], more = ",".join(names[0]), ",".join(names[1]), {}

    def matches(p, b):
        values = [build[0][b], build[1][b], probe[0][p], probe[1][p]]
        if relation in ("band", "less"):
            values[1] = values[3] = values[0]
        if relation == "contains":
            values[3] = values[2]
        if None in values or keys[0][b] != keys[1][p]:
            return False
        low, high, x, y = map(order, values)
        if relation == "band":
            return values[0] == values[2] or abs(values[0] - values[2]) <= 1
        if relation == "less":
            return low < x
        if relation == "greater_equal,less":
            return low >= x and high < y
        if relation == "contains":
            return (low <= x if closed in ("both", "left") else low < x) and (
                x <= high if closed in ("both", "right") else x < high)
        return low <= high and x <= y and RELATIONS[relation](low, high, x, y, closed)

    program.file("lg.csv", "g\n" + "\n".join(keys[0]) + "\n")
    program.file("pg.csv", "g\n" + "\n".join(keys[1]) + "\n")
    answer = program.join("--ordered", kind=relation, build=names[0][0], probe=names[1][0], how=how,
                          build_by="lg.csv:g", probe_by="pg.csv:g", **more)
    expected = rows_of_kind(matches, probes, n, how)
    if how in ("semi", "anti"):
        assert answer.tolist() == expected
    else:
        assert_same_pairs(answer, expected)


@pytest.mark.parametrize("kind", ["ints", "floats", "missing", "bytes"])
@pytest.mark.parametrize("how", COMPARISONS)
def test_comparisons(program, rng, how, kind):
    n, probes = rng.integers(1, 60, 2)
    build, probe = random_values(rng, kind, n), random_values(rng, kind, probes)
    answer = program.join(
        kind=how, build=write_table(program, "b", [kind], [build]),
        probe=write_table(program, "p", [kind], [probe]),
    )

    def matches(b, p):
        b, p = order(b), order(p)
        return {"less": b < p, "less_equal": b <= p, "greater": b > p, "greater_equal": b >= p}[how]

    assert_same_pairs(answer, [
        (p, b) for p, x in enumerate(probe) for b, y in enumerate(build)
        if None not in (x, y) and matches(y, x)
    ])


# Columns that are not alike in their files.
