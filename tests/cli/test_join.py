# SPDX-License-Identifier: Apache-2.0
"""`raydex join` against a plain comparison of every probe row with every build row."""

import csv
import io
import json
import math
import os

import numpy as np
import pytest
from conftest import BACKEND, STRUCTURE, join_arguments

SMALL = os.environ.get("RAYDEX_TEST_SCALE") == "small"
NONE = 2**64 - 1
COMPARISONS = ["less", "less_equal", "greater", "greater_equal"]
TEXTS = ["x", "New York", "Newark, New Jersey", 'a "quoted" text', "two\nlines", "Å", None]


def order(value):
    """What keys are compared by: NaN equals NaN and follows all others."""
    if isinstance(value, float):
        return (1, 0.0) if math.isnan(value) else (0, value)
    return (0, value)


def random_values(rng, kind, n):
    """A column as a list; None is missing."""
    if kind == "ints":
        return rng.integers(-4, 4, n).tolist()
    if kind == "floats":
        return rng.choice([np.nan, -np.nan, 0.0, -0.0, 1.5, -2.5, np.inf, -np.inf], n).tolist()
    if kind == "bytes":
        return rng.choice(np.array([b"a", b"ab", b"abc", b"b"]), n).tolist()
    if kind == "texts":
        return [TEXTS[i] for i in rng.integers(0, len(TEXTS), n)]
    assert kind == "missing"
    return [None if x == 0 else int(x) for x in rng.integers(0, 5, n)]


def write_table(program, name, kinds, columns):
    """Arrays where nothing is missing, else columns of one CSV file; the list that names them."""
    names, fields = [], {}
    for i, (kind, values) in enumerate(zip(kinds, columns)):
        if kind in ("texts", "missing"):
            fields[f"c{i}"] = values
            follows = names and not names[-1].endswith(".npy")
            names.append(f"c{i}" if follows else f"{name}.csv:c{i}")
        else:
            dtype = {"ints": "<i4", "floats": "<f8", "bytes": "|S3"}[kind]
            names.append(program.file(f"{name}{i}.npy", np.array(values, dtype)))
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["row", *fields])
    for row, values in enumerate(zip(*fields.values())):
        writer.writerow([row, *("" if value is None else value for value in values)])
    program.file(f"{name}.csv", text.getvalue())
    return ",".join(names)


def equal_pairs(build, probe, missing_equal=False):
    """Pairs of rows whose keys are equal, by columns."""
    build = [tuple(map(order, key)) for key in zip(*build)]
    probe = [tuple(map(order, key)) for key in zip(*probe)]
    found = []
    for p, wanted in enumerate(probe):
        may_match = missing_equal or (0, None) not in wanted
        found += [(p, b) for b, key in enumerate(build) if may_match and key == wanted]
    return found


def rows_of(kind, pairs, probes, builds=0):
    """What a join of that kind writes, in the order of the probe rows."""
    matched, found = {p for p, _ in pairs}, {b for _, b in pairs}
    if kind == "semi":
        return np.array(sorted(matched), "<u8")
    if kind == "anti":
        return np.array([p for p in range(probes) if p not in matched], "<u8")
    if kind in ("left", "full"):
        pairs = sorted(pairs + [(p, NONE) for p in range(probes) if p not in matched])
    if kind in ("right", "full"):
        pairs = pairs + [(NONE, b) for b in range(builds) if b not in found]
    return np.array(pairs, "<u8").reshape(-1, 2)


def assert_same_rows(answer, expected, ordered=True):
    """Equal rows of equal type, in any order if not `ordered`."""
    assert answer.dtype == np.dtype("<u8")
    if not ordered:
        answer = answer[np.lexsort((answer[:, 1], answer[:, 0]))]
    np.testing.assert_array_equal(answer, expected)


def assert_same_pairs(answer, pairs):
    """The same where rows of one probe are in the order of their keys."""
    assert (np.diff(answer[:, 0].astype("<i8")) >= 0).all()
    assert_same_rows(answer, rows_of("inner", sorted(pairs), 0), ordered=False)


KEYS = [
    ["ints"], ["floats"], ["bytes"], ["texts"], ["missing"], ["ints", "bytes"],
    ["texts", "missing"], ["missing", "texts"], ["floats", "ints", "texts"],
]


@pytest.mark.parametrize("missing_equal", [False, True])
@pytest.mark.parametrize("kind", ["inner", "left", "right", "full", "semi", "anti"])
@pytest.mark.parametrize("key", KEYS, ids="+".join)
def test_equal_keys(program, rng, key, kind, missing_equal):
    sizes = rng.integers(1, 80, 2)
    build, probe = ([random_values(rng, part, n) for part in key] for n in sizes)
    flags = ["--missing-equal"] if missing_equal else []
    answer = program.join(
        "--ordered", *flags, kind=kind, structure=STRUCTURE,
        build=write_table(program, "b", key, build), probe=write_table(program, "p", key, probe),
    )
    pairs = equal_pairs(build, probe, missing_equal)
    assert_same_rows(answer, rows_of(kind, pairs, len(probe[0]), len(build[0])))


@pytest.mark.parametrize("structure", ["auto", "hash_open"])
def test_seeds_of_hashes(program, rng, structure):
    build, probe = ([random_values(rng, "texts", n), random_values(rng, "ints", n)] for n in (40, 60))
    tables = {
        "build": write_table(program, "b", ["texts", "ints"], build),
        "probe": write_table(program, "p", ["texts", "ints"], probe),
    }
    for seed in (0, 2**32 - 1):
        answer = program.join("--ordered", kind="inner", structure=structure, seed=str(seed), **tables)
        assert_same_rows(answer, rows_of("inner", equal_pairs(build, probe), 0))
    assert "--seed" in program.refuse_join(kind="inner", seed=str(2**32), **tables)
    assert "seed" in program.refuse_join("--option", "seed=x", kind="inner", structure="hash_open", **tables)


@pytest.mark.parametrize("side", ["auto", "build", "probe"])
@pytest.mark.parametrize("sizes", [(10, 90), (90, 10)])
def test_sides(program, rng, sizes, side):
    build, probe = ([random_values(rng, "ints", n)] for n in sizes)
    asked = {
        "build": write_table(program, "b", ["ints"], build), "kind": "inner", "side": side,
        "probe": write_table(program, "p", ["ints"], probe), "report": "r.json",
    }
    answer = program.join(**asked)
    assert_same_rows(answer, rows_of("inner", equal_pairs(build, probe), 0), ordered=False)
    report = json.loads((program.folder / "r.json").read_text())
    smaller = "build" if sizes[0] < sizes[1] else "probe"
    assert report["side"] == (smaller if side == "auto" else side)
    by = 1 if report["side"] == "probe" else 0
    assert (np.diff(answer[:, by].astype("<i8")) >= 0).all()


@pytest.mark.parametrize("kind", ["inner", "left", "right", "full", "semi", "anti", "band", "asof",
                                  "contains", "less"])
@pytest.mark.parametrize("sizes", [(0, 0), (0, 5), (5, 0)])
def test_empty_tables(program, sizes, kind):
    build, probe = (program.file(f"{name}.npy", np.arange(n)) for name, n in zip("bp", sizes))
    more = {"band": {"distance": "1"}, "contains": {"build_upper": build}}.get(kind, {})
    answer = program.join(build=build, probe=probe, kind=kind, **more)
    if kind in ("left", "asof"):
        assert answer.tolist() == [[p, NONE] for p in range(sizes[1])]
    elif kind in ("right", "full"):
        assert_same_rows(answer, rows_of(kind, [], *reversed(sizes)))
    elif kind == "anti":
        assert answer.tolist() == list(range(sizes[1]))
    else:
        assert answer.shape == ((0,) if kind == "semi" else (0, 2))


def test_empty_csv_tables(program):
    """A column without values goes with any other."""
    program.file("empty.csv", "a,b\n")
    program.file("t.csv", "name,n,x\na much longer text,1,0.5\nshort,2,1\n")
    for key in ["name", "n", "x", "n:u4", "name:string"]:
        asked = {"build": "empty.csv:a", "probe": f"t.csv:{key}"}
        assert program.join(**asked, kind="anti").tolist() == [0, 1]
        assert program.join(build=f"t.csv:{key}", probe="empty.csv:a", kind="anti").tolist() == []


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
    if dtype[1] == "f":
        special = np.array([np.nan, 0.0, -0.0, 0.25, 0.5, 3.25, -7.5], dtype)
    else:
        info = np.iinfo(dtype)
        special = np.array([info.min, info.min + 2, info.max, info.max - 1, 0, 1, 3, 9], dtype)
    build, probe = rng.choice(special, n), rng.choice(special, probes)
    answer = program.join(
        "--ordered", kind="band", build=program.file("b.npy", build), distance=str(distance),
        probe=program.file("p.npy", probe),
    )
    assert_same_pairs(answer, [
        (p, b) for p, x in enumerate(probe.tolist()) for b, y in enumerate(build.tolist())
        if abs(x - y) <= distance
    ])


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
    return [pair for p, rows in enumerate(pairs) for pair in rows or ([(p, NONE)] if how == "left" else [])]


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
    how = str(rng.choice(["inner", "left", "semi", "anti"]))
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


def test_texts_of_different_lengths(program):
    program.file("b.csv", "short,long\nEWR,EWR\nJFK,John F. Kennedy\nL,L\n")
    program.file("p.csv", "name\nNewark\nEWR\nL\n")
    array = program.file("s.npy", np.array([b"L", b"EWR", b"John"], "|S5"))
    wide = program.file("w.npy", np.array([b"EWR", b"L"], "|S8"))

    def pairs(build, probe):
        return program.join("--ordered", kind="inner", build=build, probe=probe).tolist()

    assert pairs("b.csv:short", "p.csv:name") == [[1, 0], [2, 2]]
    assert pairs("p.csv:name", "b.csv:short") == [[0, 1], [2, 2]]
    assert pairs("b.csv:long", "p.csv:name") == [[1, 0], [2, 2]]
    assert pairs("b.csv:long", array) == [[0, 2], [1, 0]]
    assert pairs(array, wide) == [[0, 1], [1, 0]]
    assert pairs("b.csv:short:string", "p.csv:name:S8") == [[1, 0], [2, 2]]
    program.file("codes.csv", "code\nL\nEWRX\n")
    answer = program.join(kind="less", build="b.csv:short", probe="codes.csv:code")
    assert sorted(answer.tolist()) == [[0, 0], [0, 1], [1, 0]]


def test_numbers_whose_types_are_found(program):
    program.file("b.csv", "n,large\n1,9007199254740993\n2,1\n")
    program.file("p.csv", "x\n2\n0.5\n1\n")
    answer = program.join("--ordered", kind="inner", build="b.csv:n", probe="p.csv:x")
    assert answer.tolist() == [[0, 1], [2, 0]]
    line = program.refuse_join(kind="inner", build="b.csv:large", probe="p.csv:x")
    assert "probe keys p.csv:x are double, but build keys b.csv:large are int64; name the" in line
    line = program.refuse_join(kind="inner", build="b.csv:n:i8", probe="p.csv:x")
    assert "are double" in line


# Outputs.


@pytest.fixture
def flights(program):
    """Two small tables with all that is special."""
    program.file("planes.csv", 'tail,maker,seats\nN1,"Boeing, Inc.",NA\nN22,"say ""hi""",55\n'
                               'N333, Cessna ,\n')
    program.file("flights.csv", "tail,miles\nN22,100\nN9,2.50\nN1,\nNA,7\nN22,x\n")
    return {"build": "planes.csv:tail", "probe": "flights.csv:tail"}


def text_of(program, *flags, **options):
    done = program.run(*join_arguments(out="-", **options), *flags)
    assert (done.returncode, done.stderr) == (0, "")
    program.run(*join_arguments(out="out.csv", **options), *flags)
    assert (program.folder / "out.csv").read_text() == done.stdout
    return done.stdout


def test_rows_as_csv(program, flights):
    inner = text_of(program, "--ordered", kind="inner", **flights)
    assert inner == "probe,build\n0,1\n2,0\n4,1\n"
    assert text_of(program, kind="left", **flights) == "probe,build\n0,1\n1,\n2,0\n3,\n4,1\n"
    right = text_of(program, kind="right", **flights)
    assert right == "probe,build\n0,1\n2,0\n4,1\n,2\n"
    full = text_of(program, kind="full", **flights)
    assert full == "probe,build\n0,1\n1,\n2,0\n3,\n4,1\n,2\n"
    assert text_of(program, kind="semi", **flights) == "probe\n0\n2\n4\n"
    assert text_of(program, kind="anti", **flights) == "probe\n1\n3\n"
    asof = text_of(program, kind="asof", build=program.file("b.npy", np.array([2, 5])),
                   probe=program.file("p.npy", np.array([6, 1])))
    assert asof == "probe,build\n0,1\n1,\n"


def test_columns(program, flights):
    text = text_of(program, "--ordered", kind="inner", **flights,
                   columns="flights.csv:miles,tail,planes.csv:maker,seats")
    assert text == ('miles,tail,maker,seats\n100,N22,"say ""hi""",55\n,N1,"Boeing, Inc.",NA\n'
                    'x,N22,"say ""hi""",55\n')
    text = text_of(program, kind="left", **flights, columns="planes.csv:maker,flights.csv:tail")
    assert text == ('maker,tail\n"say ""hi""",N22\n,N9\n"Boeing, Inc.",N1\n,NA\n'
                    '"say ""hi""",N22\n')
    text = text_of(program, kind="full", **flights, columns="planes.csv:tail,flights.csv:tail,miles")
    assert text.splitlines()[1:] == ["N22,N22,100", ",N9,2.50", "N1,N1,", ",NA,7", "N22,N22,x", "N333,,"]
    text = text_of(program, kind="anti", **flights, columns="./flights.csv:miles:f8")
    assert text == "miles\n2.50\n7\n"
    text = text_of(program, "--ordered", kind="inner", **flights,
                   columns="flights.csv:tail,planes.csv:tail")
    assert text.splitlines()[:2] == ["flights.tail,planes.tail", "N22,N22"]
    (program.folder / "flights.csv").write_text("tail,miles\n")
    assert text_of(program, kind="inner", **flights, columns="planes.csv:maker") == "maker\n"


def test_columns_of_one_file(program, flights):
    both = {"build": "planes.csv:tail", "probe": "planes.csv:tail", "kind": "inner"}
    text = text_of(program, "--ordered", **both,
                   columns="build:planes.csv:tail,probe:planes.csv:tail,seats")
    assert text == "build.tail,probe.tail,seats\nN1,N1,NA\nN22,N22,55\nN333,N333,\n"
    line = program.refuse_join(**both, out="o.csv", columns="planes.csv:tail")
    assert "build:planes.csv:tail or probe:planes.csv:tail" in line
    line = program.refuse_join(**both, out="o.csv", columns="build:planes.csv:tail,tail")
    assert "two columns are called 'build.planes.tail'" in line


def test_columns_of_arrays(program):
    build = program.file("b.npy", np.array([1.5, np.nan, 0.1]))
    probe = program.file("p.npy", np.array([0.1, 7.0, np.nan]))
    name = program.file("name.npy", np.array([b"a", b"b,c", b""]))
    text = text_of(program, kind="left", build=f"{build},{name}", probe=f"{probe},{name}",
                   columns="build:name.npy,b.npy,p.npy,probe:name.npy")
    assert text == "build.name,b,p,probe.name\n,,0.1,a\n,,7,\"b,c\"\n,,nan,\n"
    text = text_of(program, "--ordered", kind="inner", build=build, probe=probe,
                   columns="p.npy,b.npy")
    assert text == "p,b\n0.1,0.1\nnan,nan\n"


@pytest.mark.parametrize("kind", ["inner", "left", "right", "full", "semi", "asof", "band"])
def test_report(program, kind):
    build = program.file("b.npy", np.arange(1000, dtype="<i4")[::-1])  # times that ascend need no order
    probe = program.file("p.npy", np.arange(990, 1010, dtype="<i4"))
    more = {"distance": "0"} if kind == "band" else {}
    answer = program.join(
        build=build, probe=probe, kind=kind, side="build", report="r.json", **more
    )
    report = json.loads((program.folder / "r.json").read_text())
    fields = [
        "structure", "options", "backend", "device", "rt_core_version", "key", "keys", "n",
        "probes", "kind", "side", "build_rows", "probe_rows", "rows", "build_ms", "lookup_ms",
        "match_ms", "rows_ms", "write_ms", "resident_bytes", "build_peak_bytes",
        "lookup_peak_bytes",
    ]
    assert list(report) == fields + (["no_match"] if kind in ("left", "right", "full", "asof") else [])
    assert report["backend"] == BACKEND
    assert (report["kind"], report["side"], report["key"]) == (kind, "build", "int32")
    assert (report["n"], report["build_rows"]) == (1000, 1000)
    assert (report["probes"], report["probe_rows"], report["rows"]) == (20, 20, len(answer))
    assert report["build_ms"] > 0 and report["match_ms"] > 0
    assert report["lookup_ms"] >= report["match_ms"]
    assert report["build_peak_bytes"] >= report["resident_bytes"] > 0


def test_report_of_keys(program, flights):
    program.join(kind="inner", structure="sorted_array", option="layout=row", report="r.json",
                 side="build", **flights)
    report = json.loads((program.folder / "r.json").read_text())
    assert (report["structure"], report["options"]) == ("sorted_array", {"layout": "row"})
    assert report["keys"] == "column"
    flights = {"build": "planes.csv:tail,maker", "probe": "flights.csv:tail,miles:string"}
    program.join(kind="inner", report="r.json", **flights)
    report = json.loads((program.folder / "r.json").read_text())
    assert (report["keys"], report["key"].split(",")[-1]) == ("hashed", "string")


@pytest.mark.skipif(SMALL, reason="a large join")
def test_more_rows_than_a_stretch(program):
    build, probe = 2100, 2200
    answer = program.join(
        "--ordered", kind="inner", build=program.file("b.npy", np.zeros(build, "<u4")),
        probe=program.file("p.npy", np.zeros(probe, "<u4")),
    )
    assert len(answer) == build * probe > 2**22
    assert_same_rows(answer[:, 0], np.repeat(np.arange(probe, dtype="<u8"), build))
    assert_same_rows(answer[:, 1], np.tile(np.arange(build, dtype="<u8"), probe))


@pytest.mark.skipif(SMALL, reason="many probes")
def test_build_rows_without_a_match_in_any_batch(program):
    """Probes are looked up 2^24 at a time."""
    batch = 2**24
    keys = np.full(batch + 2, 100, "<u4")
    keys[[3, 4, batch, batch + 1]] = [5, 2, 9, 5]
    asked = {"build": program.file("b.npy", np.array([1, 5, 2, 9, 5, 7], "<u4")),
             "probe": program.file("p.npy", keys)}
    pairs = [[3, 1], [3, 4], [4, 2], [batch, 3], [batch + 1, 1], [batch + 1, 4]]
    assert program.join(kind="right", **asked).tolist() == [*pairs, [NONE, 0], [NONE, 5]]
    full = program.join(kind="full", **asked)
    assert len(full) == batch + 6
    assert full[-4:].tolist() == [*pairs[-2:], [NONE, 0], [NONE, 5]]


# What is refused.

WRONG = [
    ({"kind": "outer"}, "kind: 'outer' is not one of inner, left, right, full, semi, anti"),
    ({"kind": "innr"}, "did you mean 'inner'?"),
    ({"kind": "inner", "direction": "forward"}, "--direction goes with --kind asof or nearest, not inner"),
    ({"kind": "band", "tolerance": "1", "distance": "1"}, "--tolerance goes with --kind asof"),
    ({"kind": "left", "strict": None}, "--strict goes with --kind asof, not left"),
    ({"kind": "left", "build_by": "k.npy"}, "--build-by goes with --kind asof and others by order, not"),
    ({"kind": "inner", "probe_by": "k.npy"}, "--probe-by goes with --kind asof and others by order"),
    ({"kind": "less", "build_by": "k.npy"}, "--build-by and --probe-by go together"),
    ({"kind": "less", "build_by": "k.npy", "probe_by": "k.npy", "structure": "btree"},
     "--structure does not go with --kind less and --build-by, which has a structure of its own"),
    ({"kind": "asof", "how": "left"}, "--how goes with --kind band and others by order but asof"),
    ({"kind": "band", "distance": "1", "how": "outer"}, "how: 'outer' is not one of inner, left"),
    ({"kind": "band", "distance": "1", "closed": "left"}, "--closed goes with --kind contains, overlaps"),
    ({"kind": "contains", "build_upper": "k.npy", "closed": "open"}, "closed: 'open' is not one of both"),
    ({"kind": "contains", "build_upper": "k.npy", "probe_upper": "k.npy"},
     "--probe-upper goes with --kind overlaps, within, encloses, nearest or coverage, not contains"),
    ({"kind": "nearest", "build_upper": "k.npy"}, "--kind nearest needs --probe-upper"),
    ({"kind": "coverage", "probe_upper": "k.npy"}, "--kind coverage needs --build-upper"),
    ({"kind": "nearest", "build_upper": "k.npy", "probe_upper": "k.npy", "count": "0"},
     "--count: '0' is not a number of at least 1"),
    ({"kind": "nearest", "build_upper": "k.npy", "probe_upper": "k.npy", "how": "left"},
     "--how goes with --kind band and others by order but asof, nearest"),
    ({"kind": "overlaps", "count": "2"}, "--count goes with --kind nearest, not overlaps"),
    ({"kind": "asof", "no_overlaps": None}, "--no-overlaps goes with --kind nearest, not asof"),
    ({"kind": "band", "distance": "1", "before": "1"}, "--before goes with --kind window, not band"),
    ({"kind": "inner", "aggregate": "sum"}, "--aggregate goes with --kind window, not inner"),
    ({"kind": "window", "values": "k.npy"}, "--kind window needs --before, --after, or both"),
    ({"kind": "window", "before": "1"}, "--kind window needs --values, unless --aggregate is count"),
    ({"kind": "window", "before": "1", "values": "t.csv:n"}, "build t.csv:n: it has 2 rows, but k.npy has 4"),
    ({"kind": "window", "before": "1", "aggregate": "count", "columns": "k.npy", "out": "o.csv"}, "--columns goes with"),
    ({"kind": "window", "before": "far", "values": "k.npy"}, "--before: 'far' is not a distance"),
    ({"kind": "window", "before": "1", "values": "k.npy", "aggregate": "median"}, "'median' is not one of sum"),
    ({"kind": "overlaps", "build_upper": "k.npy"}, "--kind overlaps needs --probe-upper"),
    ({"kind": "within", "probe_upper": "k.npy"}, "--kind within needs --build-upper"),
    ({"kind": "less,asof"}, "--kind less,asof: a list is of two comparisons, such as less,greater_equal"),
    ({"kind": "less,less,less"}, "a list is of two comparisons"),
    ({"kind": "less,greter"}, "did you mean 'greater'?"),
    ({"kind": "less,greater"}, "--kind less,greater is of two columns, but --build names 1"),
    ({"kind": "overlaps", "build_upper": "t.csv:n", "probe_upper": "k.npy"},
     "build t.csv:n: it has 2 rows, but k.npy has 4"),
    ({"kind": "overlaps", "build_upper": "k.npy", "probe_upper": "t.csv:n"},
     "probe t.csv:n: it has 2 rows, but k.npy has 4"),
    ({"kind": "inner", "distance": "1"}, "--distance goes with --kind band, not inner"),
    ({"kind": "inner", "build_upper": "k.npy"}, "--build-upper goes with --kind contains"),
    ({"kind": "band", "distance": "1", "missing_equal": None}, "--missing-equal goes with --kind inner, left"),
    ({"kind": "inner", "neighbours": "2"}, "--neighbours goes with --kind asof, not inner"),
    ({"kind": "asof", "neighbours": "0"}, "--neighbours: '0' is not a whole number of at least 1"),
    ({"kind": "band", "distance": "1", "relative_tolerance": "1"}, "--relative-tolerance goes with --kind asof"),
    ({"kind": "asof", "relative_tolerance": "-1"}, "--relative-tolerance: '-1' is not a share of the probe"),
    ({"kind": "asof", "relative_tolerance": "1", "tolerance": "1"}, "--relative-tolerance do not go together"),
    ({"kind": "asof", "seed": "1"}, "--seed goes with --kind inner, left"),
    ({"kind": "band"}, "--kind band needs --distance"),
    ({"kind": "contains"}, "--kind contains needs --build-upper"),
    ({"kind": "asof", "build_by": "k.npy"}, "--build-by and --probe-by go together"),
    ({"kind": "asof", "structure": "btree"}, "--structure does not go with --kind asof"),
    ({"kind": "asof", "direction": "sideways"}, "direction: 'sideways' is not one of backward"),
    ({"kind": "asof", "tolerance": "-1"}, "--tolerance: '-1' is not a distance"),
    ({"kind": "band", "distance": "far"}, "--distance: 'far' is not a distance"),
    ({"kind": "band", "distance": "nan"}, "--distance: 'nan' is not a distance"),
    ({"kind": "left", "side": "probe"}, "--side probe goes with --kind inner, not left"),
    ({"kind": "inner", "side": "left"}, "side: 'left' is not one of auto, build, probe"),
    ({"kind": "inner", "side": "probe", "ordered": None}, "--ordered does not go with --side"),
    ({"kind": "inner", "build": "k.npy,k.npy"}, "--build names 2 columns, but --probe 1"),
    ({"kind": "inner", "build": "k.npy,"}, "--build k.npy,: a name in the list is empty"),
    ({"kind": "band", "distance": "1", "build": "k.npy,k.npy", "probe": "k.npy,k.npy"},
     "--kind band is of one column, but --build names 2"),
    ({"kind": "inner", "build": ",".join(["k.npy"] * 17), "probe": ",".join(["k.npy"] * 17)},
     "17 columns; a key has at most 16"),
    ({"kind": "inner", "columns": "t.csv:n"}, "--columns is written as CSV"),
    ({"kind": "inner", "columns": "t.csv:n", "out": "o.csv"}, "is not one that --build or --probe"),
    ({"kind": "inner", "columns": "build:t.csv:n", "probe": "t.csv:n", "out": "o.csv"},
     "is not one that --build names"),
    ({"kind": "semi", "columns": "t.csv:n", "build": "t.csv:n", "out": "o.csv"},
     "--kind semi has no build rows"),
    ({"kind": "inner", "columns": "t.csv:none", "build": "t.csv:n", "out": "o.csv"},
     "no column 'none'"),
    ({"kind": "inner", "build": "t.csv:n,k.npy", "probe": "k.npy,k.npy"},
     "build k.npy: it has 4 rows, but t.csv:n has 2"),
    ({"kind": "inner", "build": "t.csv:name"},
     "probe keys k.npy are int64, but build keys t.csv:name are strings"),
    ({"kind": "inner", "build": "t.csv:n", "probe": "t.csv:name"},
     "but probe keys t.csv:name are strings; name the type: t.csv:n:string"),
    ({"kind": "inner", "build": "t.csv:short"}, "are int64, but build keys t.csv:short are bytes2"),
    ({"kind": "less", "build": "t.csv:name", "probe": "t.csv:name"}, "bytes, more than 8"),
    ({"kind": "less", "build": "t.csv:n:string"}, "joins by equal keys only"),
    ({"kind": "band", "distance": "1", "build": "t.csv:short", "probe": "t.csv:short"}, "bytes2"),
    ({"kind": "inner", "build": "t.csv:mixed"}, "t.csv:mixed:string"),
    ({"kind": "inner", "build": "none.npy"}, "none.npy: cannot be read: No such file"),
    ({"kind": "inner", "structure": "pivot_teee"}, "did you mean 'pivot_tree'?"),
    ({"kind": "inner", "structure": "sorted_array", "option": "layuot=row"}, "'layout'?"),
    ({"kind": "inner", "backend": "tpu"}, "tpu"),
    ({"kind": "inner", "out": "k.npy"}, "same file"),
    ({"kind": "inner", "out": "none/o.npy"}, "none/o.npy: cannot be written"),
]


@pytest.mark.parametrize(("wrong", "part"), WRONG)
def test_refusals(program, wrong, part):
    program.file("k.npy", np.arange(4))
    program.file("t.csv", "n,name,short,mixed\n1,a longer text,ab,1\n2,b,c,x\n")
    options = {"build": "k.npy", "probe": "k.npy", **wrong}
    flags = ["--" + name.replace("_", "-") for name, value in options.items() if value is None]
    options = {name: value for name, value in options.items() if value is not None}
    assert part in program.refuse_join(*flags, report="r.json", **options)


def test_usage(program):
    keys = program.file("k.npy", np.arange(4))
    assert "--build is required" in program.refuse("join", "--probe", keys)
    assert "--kind is required" in program.refuse_join(build=keys, probe=keys)
    line = program.refuse_join(build=keys, probe=keys, kind="less", structure="hash_open")
    assert "hash_open" in line


def test_times_of_csv(program):
    times = ["2024-03-01 12:30:05.250000", "2024-03-01T12:30:06", "", "2024-03-02"]
    program.file("q.csv", "t\n" + "\n".join(times) + "\n")
    program.file("p.csv", "t,g\n2024-03-01 12:30:05.250001,1\n2024-03-01,1\n,1\n2024-03-05T00:00,1\n")
    asof = {"build": "q.csv:t", "probe": "p.csv:t", "kind": "asof"}
    assert program.join(**asof)[:, 1].tolist() == [0, NONE, NONE, 3]
    assert program.join(**asof, tolerance="1000")[:, 1].tolist() == [0, NONE, NONE, NONE]  # nanoseconds
    found = program.join(build="q.csv:t", probe="p.csv:t", kind="greater")
    assert sorted(found.tolist()) == [[0, 1], [0, 3], [1, 0], [1, 1], [1, 3]]
    assert program.join(**asof, tolerance="1us")[:, 1].tolist() == [0, NONE, NONE, NONE]
    for unit in ["10d", "200h", "99999999999999d"]:
        assert program.join(**asof, tolerance=unit)[:, 1].tolist() == [0, NONE, NONE, 3]
    for distance, expected in [("750min", []), ("751min", [[1, 0], [1, 1]])]:
        found = program.join(build="q.csv:t", probe="p.csv:t", kind="band", distance=distance)
        assert sorted(found.tolist()) == [[0, 0], [0, 1], [0, 3], *expected]
    program.file("z.csv", "t\n2024-03-01T12:30:05Z\n")
    line = program.refuse_join(**{**asof, "probe": "z.csv:t"})
    assert "probe keys z.csv:t are times with a zone, but build keys q.csv:t are times without a zone" in line
    line = program.refuse_join(**{**asof, "probe": program.file("n.npy", np.arange(3))})
    assert "probe keys n.npy are int64, but build keys q.csv:t are times without a zone" in line
    program.file("n.csv", "t\n0.5\n")
    assert "are double, but build keys q.csv:t are times" in program.refuse_join(**{**asof, "probe": "n.csv:t"})
    line = program.refuse_join(build="n.csv:t", probe="n.csv:t", kind="band", distance="5s")
    assert "--distance 5s: build keys n.csv:t are double, whose distances have no unit" in line


def test_times_as_equal_keys(program):
    """However they are written; beside texts a type says that they are texts, too."""
    program.file("b.csv", "t,g\n2024-03-01,1\n2024-03-01T12:30:05.25,1\n,1\n")
    program.file("p.csv", "t,g\n2024-03-01 12:30:05.250,1\n2024-03-01 00:00,1\n2024-03-02,1\n")
    for keys in ["t", "t,g"]:
        found = program.join(build=f"b.csv:{keys}", probe=f"p.csv:{keys}", kind="left")
        assert found.tolist() == [[0, 1], [1, 0], [2, NONE]]
    program.file("z.csv", "t\n2024-03-01T13:30:05.25+01:00\n")
    program.file("y.csv", "t\n2024-03-01 12:30:05.250000Z\n")
    assert program.join(build="z.csv:t", probe="y.csv:t", kind="inner").tolist() == [[0, 0]]
    line = program.refuse_join(build="b.csv:t", probe="y.csv:t", kind="inner")
    assert "probe keys y.csv:t are times with a zone, but build keys b.csv:t are times without a zone" in line
    program.file("x.csv", "t\n2024-03-01\nunknown\n")
    line = program.refuse_join(build="b.csv:t", probe="x.csv:t", kind="inner")
    assert "keys b.csv:t are times without a zone, but probe keys x.csv:t are strings; name the type: b.csv:t:string" in line
    assert program.join(build="b.csv:t:string", probe="x.csv:t", kind="inner").tolist() == [[0, 0]]
