# SPDX-License-Identifier: Apache-2.0
"""The closest rows of as-of joins, and a build side that is kept, against DuckDB, pandas, Polars and NumPy."""

import datetime
import threading
from fractions import Fraction

import array_libraries
import numpy as np
import pytest
import raydex

pa = pytest.importorskip("pyarrow")
pd = pytest.importorskip("pandas")
pl = pytest.importorskip("polars")
duckdb = pytest.importorskip("duckdb")

DIRECTIONS = ["backward", "forward", "nearest"]
with_arrow = pytest.mark.parametrize("library", array_libraries.WITH_ARROW, indirect=True, ids=lambda one: one.name)


def table(random, rows, missing=0.1, times=40, keys=4):
    holes = [random.random(rows) < missing for _ in "tgs"]
    numbers = random.integers(0, keys, rows)
    return pa.table({
        "i": np.arange(rows),
        "t": pa.array(random.integers(-times, times, rows), mask=holes[0]),
        "g": pa.array(numbers, mask=holes[1]),
        "s": pa.array([f"key {n}" * (n % 3) for n in numbers], mask=holes[2]),
    })


def by_duckdb(build, probe, k, direction, exact=True, keys=(), missing_equal=False, within=None):
    """The pairs of each probe and its k closest rows, the closest one first."""
    equals = "is not distinct from" if missing_equal else "="
    side = {"backward": "b.t <= p.t", "forward": "b.t >= p.t", "nearest": "true"}[direction]
    conditions = ["b.t is not null", "p.t is not null", side, *(f"b.{key} {equals} p.{key}" for key in keys)]
    if not exact:
        conditions.append("b.t <> p.t")
    if within is not None:
        conditions.append(f"abs(b.t - p.t) <= {within}")
    is_after = "b.t >= p.t" if direction == "forward" else "b.t > p.t"
    order = f"abs(b.t - p.t), {is_after}, case when {is_after} then b.i else -b.i end"
    return duckdb.sql(
        f"select p.i, b.i from probe p join build b on {' and '.join(conditions)} "
        f"qualify row_number() over (partition by p.i order by {order}) <= {k} order by p.i, {order}").fetchall()


def pairs(rows):
    return list(zip(rows.probe.tolist(), rows.build.tolist()))


def part(table, keys):
    return {key: table[key] for key in keys} or None


@pytest.mark.parametrize("direction", DIRECTIONS)
@pytest.mark.parametrize("keys", [(), ("g",), ("s", "g")])
@with_arrow
def test_the_k_closest(library, random, direction, keys):
    build, probe = table(random, 150), table(random, 90)
    by = (part(build, keys), part(probe, keys)) if keys else None
    for k in (1, 3, 1000):
        for asked in ({}, {"allow_exact_matches": False}, {"tolerance": 2}):
            found = library.join_asof(build["t"], probe["t"], by=by, direction=direction, k=k, **asked)
            expected = by_duckdb(build, probe, k, direction, asked.get("allow_exact_matches", True), keys,
                                 within=asked.get("tolerance"))
            assert expected
            assert pairs(found) == expected
            if k == 1:
                alone = library.join_asof(build["t"], probe["t"], by=by, direction=direction, **asked)
                assert [(p, b) for p, b in enumerate(alone.tolist()) if b >= 0] == expected


@pytest.mark.parametrize("keys", [("g",), ("s",), ("s", "g")])
@with_arrow
def test_missing_keys_that_are_equal(library, random, keys):
    build, probe = table(random, 150, 0.3), table(random, 90, 0.3)
    by = (part(build, keys), part(probe, keys))
    for direction in DIRECTIONS:
        found = library.join_asof(build["t"], probe["t"], by=by, direction=direction, k=2, missing_equal=True)
        expected = by_duckdb(build, probe, 2, direction, keys=keys, missing_equal=True)
        assert expected != by_duckdb(build, probe, 2, direction, keys=keys)
        assert pairs(found) == expected
    with raydex.AsofIndex(build["t"].slice(0, 100), by=part(build.slice(0, 100), keys), missing_equal=True) as index:
        index.append(build["t"].slice(100), by=part(build.slice(100), keys))
        assert pairs(index.join(probe["t"], by=part(probe, keys), direction="nearest", k=2)) == expected


@pytest.mark.parametrize("direction", DIRECTIONS)
@pytest.mark.parametrize("dtype", ["float32", "float64", "int32", "int64", "uint64", "m8[s]"])
def test_shares_of_the_probe(random, dtype, direction):
    share = 20e-6 if dtype != "int32" else 0.003
    most = {"float32": 2000, "float64": 2000, "int32": 10**5, "uint64": 2**64 - 1}.get(dtype, 2**63 - 1)
    probe = random.integers(most // 2, most, 200, dtype="u8")
    # Up to the distance, and one more.
    far = [int(Fraction(share) * int(one)) + int(more) for one, more in zip(probe, random.integers(-1, 3, 200))]
    if dtype[0] == "f":
        probe = (random.random(200) * 2000 - 1000).astype(dtype)
        build = (probe * (1 + (random.random(200) - 0.5) * 80e-6)).astype(dtype)
        near = abs(build - probe) <= np.dtype(dtype).type(share) * abs(probe)
    else:
        build = [int(one) + (-1) ** at * f for at, (one, f) in enumerate(zip(probe, far))]
        sign = 1 if dtype[0] == "u" else -1
        held = np.array([most >= one >= 0 for one in build])
        build = np.array([sign * one if ok else sign * int(p) for one, ok, p in zip(build, held, probe)]).astype(dtype)
        probe = np.array([sign * int(one) for one in probe]).astype(dtype)
        counts = [[int(one) for one in column.astype("i8" if dtype[0] == "m" else dtype)] for column in (build, probe)]
        near = np.array([abs(b - p) <= Fraction(share) * abs(p) for b, p in zip(*counts)])
    assert 0 < near.sum() < 200
    by = np.arange(200)
    found = raydex.join_asof(build, probe, by=(by, by), direction=direction, relative_tolerance=share)
    side = {"backward": build <= probe, "forward": build >= probe, "nearest": True}[direction]
    np.testing.assert_array_equal(found, np.where(near & side, by, -1))


def test_shares_of_odd_numbers():
    values = np.array([np.nan, np.inf, 5.0, 0.0, -0.0])
    found = raydex.join_asof(values, values, direction="nearest", relative_tolerance=0.5)
    assert found.tolist() == [0, 1, 2, 4, 4]
    assert raydex.join_asof([np.nan], [5.0], direction="forward", relative_tolerance=np.inf).tolist() == [-1]
    assert raydex.join_asof([7.0], [5.0], direction="forward", relative_tolerance=np.inf).tolist() == [0]
    assert raydex.join_asof([7, 1], [5, 0], direction="forward", relative_tolerance=np.inf).tolist() == [0, -1]


@pytest.mark.parametrize("direction", DIRECTIONS)
def test_the_k_closest_of_times_that_64_bits_do_not_hold(random, direction):
    days = random.integers(-30, 30, 40) * 10**5
    build, probe = days.astype("M8[D]"), random.integers(-40, 40, 50).astype("M8[ns]")
    counts = [[int(one) for one in column.astype("i8")] for column in (build, probe)]
    day = 86400 * 10**9
    found = raydex.join_asof(build, probe, direction=direction, k=3, tolerance=np.timedelta64(4 * 10**5, "D"))
    expected = []
    for p, time in enumerate(counts[1]):
        rows = [b for b in range(40) if abs(counts[0][b] * day - time) <= 4 * 10**5 * day]
        after = [b for b in rows if counts[0][b] * day + (direction == "forward") > time]
        before = [b for b in rows if b not in after]
        allowed = {"backward": before, "forward": after, "nearest": rows}[direction]
        order = {b: (abs(counts[0][b] * day - time), b in after, b if b in after else -b) for b in allowed}
        expected += [(p, b) for b in sorted(allowed, key=order.get)[:3]]
    assert pairs(found) == expected
    one = raydex.join_asof(build, probe, direction=direction, tolerance=np.timedelta64(4 * 10**5, "D"))
    first = {}
    for p, b in expected:
        first.setdefault(p, b)
    assert one.tolist() == [first.get(p, -1) for p in range(50)]
    spans = [column.view("i8").astype(unit) for column, unit in ((build, "m8[D]"), (probe, "m8[ns]"))]
    shares = raydex.join_asof(*spans, direction=direction, relative_tolerance=0.25)
    assert shares.tolist() == [
        -1 if row < 0 or abs(counts[0][row] * day - time) > Fraction(0.25) * abs(time) else row
        for row, time in zip(raydex.join_asof(*spans, direction=direction).tolist(), counts[1])]


@pytest.mark.parametrize("direction", DIRECTIONS)
@pytest.mark.parametrize("keys", [(), ("g",), ("s", "g")])
@with_arrow
def test_an_index_that_grows(library, random, direction, keys):
    build, probe = table(random, 400), table(random, 90)
    sizes = [130, 1, 0, 17, 64, 3, 3, 1, 90, 91]
    ends = np.cumsum(sizes)
    with library.AsofIndex(build["t"].slice(0, ends[0]), by=part(build.slice(0, ends[0]), keys)) as index:
        for end, size in zip(ends[1:], sizes[1:]):
            some = build.slice(end - size, size)
            index.append(some["t"], by=part(some, keys))
            assert len(index) == end
            for asked in ({}, {"allow_exact_matches": False}, {"tolerance": 2}):
                found = index.join(probe["t"], by=part(probe, keys), direction=direction, k=3, **asked)
                there = build.slice(0, end)
                assert pairs(found) == by_duckdb(
                    there, probe, 3, direction, asked.get("allow_exact_matches", True), keys,
                    within=asked.get("tolerance"))
        one = index.join(probe["t"], by=part(probe, keys), direction=direction)
        by = (part(build, keys), part(probe, keys)) if keys else None
        np.testing.assert_array_equal(one, library.join_asof(build["t"], probe["t"], by=by, direction=direction))
        assert index.resident_bytes >= 400 * 8
        assert "400 rows" in repr(index)
    assert repr(index) == "raydex.AsofIndex(closed)"


@pytest.mark.parametrize("direction", ["backward", "forward"])
def test_quotes_as_they_come(random, direction):
    """Batches of quotes, and trades of each moment, as pandas and Polars have them."""
    symbols = np.array(["AAPL", "MSFT", "a long name of one"])
    start = np.datetime64("2024-05-03T09:30", "ns")
    quotes = pd.DataFrame({
        "time": start + np.sort(random.integers(0, 10**10, 900)).astype("m8[ns]"),
        "symbol": symbols[random.integers(0, 3, 900)]})
    quotes["time"] = quotes["time"].dt.tz_localize("America/New_York")
    trades = pd.DataFrame({
        "time": start + np.sort(random.integers(-10**8, 10**10, 400)).astype("m8[ns]"),
        "symbol": symbols[random.integers(0, 3, 400)]})
    trades["time"] = trades["time"].dt.tz_localize("America/New_York").dt.tz_convert("Europe/Berlin")
    index = raydex.AsofIndex(quotes["time"][:0], by=quotes["symbol"][:0])
    for begin in range(0, 900, 100):
        batch = quotes[begin:begin + 100]
        index.append(batch["time"], by=batch["symbol"])
        known = quotes[:begin + 100]
        merged = pd.merge_asof(
            trades.assign(time=trades["time"].dt.tz_convert("UTC")),
            known.assign(time=known["time"].dt.tz_convert("UTC"), row=np.arange(len(known))), on="time", by="symbol",
            direction=direction)
        found = index.join(trades["time"], by=trades["symbol"], direction=direction)
        np.testing.assert_array_equal(found, merged["row"].fillna(-1))
        frames = [pl.from_pandas(one.assign(time=one["time"].dt.tz_convert("UTC"))) for one in (trades, known)]
        joined = frames[0].join_asof(frames[1].with_row_index("row"), on="time", by="symbol", strategy=direction,
                                     check_sortedness=False)
        np.testing.assert_array_equal(found, joined["row"].cast(pl.Int64).fill_null(-1))


@pytest.mark.parametrize("exact", [True, False])
@pytest.mark.parametrize("direction", ["backward", "forward"])
def test_probes_of_other_units(random, direction, exact):
    times = random.integers(-50, 50, 60).astype("M8[s]")
    fine, coarse = random.integers(-60_000, 60_000, 200).astype("M8[ms]"), np.arange(-3, 3).astype("M8[m]")
    fine[:100] = fine[:100].astype("M8[s]")
    index = raydex.AsofIndex(times[:40])
    index.append(times[40:].astype("M8[ms]"))
    for probe in (fine, coarse):
        asked = {"direction": direction, "allow_exact_matches": exact}
        np.testing.assert_array_equal(index.join(probe, **asked), raydex.join_asof(times, probe, **asked))
    near = {"direction": "nearest", "tolerance": datetime.timedelta(seconds=2)}
    np.testing.assert_array_equal(index.join(fine[:100], **near), raydex.join_asof(times, fine[:100], **near))
    with pytest.raises(raydex.InvalidArgument, match=r"probe: .* is no datetime64\[s\]"):
        index.join(np.array([1500], "M8[ms]"), direction="nearest")
    with pytest.raises(raydex.InvalidArgument, match=r"times: .* is no datetime64\[s\]"):
        index.append(np.array([1500], "M8[ms]"))
    assert len(index) == 60


def test_an_index_asked_by_threads(random):
    times = random.integers(0, 10**6, 4000)
    index = raydex.AsofIndex(times[:1000])
    errors = []

    def ask():
        for _ in range(20):
            found = index.join(times[:1000])
            if not (times[found] == times[:1000]).all():
                errors.append(found)

    threads = [threading.Thread(target=ask) for _ in range(3)]
    for one in threads:
        one.start()
    for begin in range(1000, 4000, 100):
        index.append(times[begin:begin + 100])
    for one in threads:
        one.join()
    assert not errors
    np.testing.assert_array_equal(index.join(times), raydex.join_asof(times, times))


def test_refusals():
    index = raydex.AsofIndex([1, 2], by={"a": [1, 2], "b": ["x", "y"]})
    for call, error, text in (
        (lambda: raydex.join_asof([1], [1], k=0), raydex.InvalidArgument, "k: 0; it must be 1 or more"),
        (lambda: raydex.join_asof([1], [1], k=1.5), raydex.InvalidType, "k: 1.5 is no whole number"),
        (lambda: raydex.join_asof([1], [1], relative_tolerance=-1), raydex.InvalidArgument, "it must be 0 or more"),
        (lambda: raydex.join_asof([1], [1], relative_tolerance="x"), raydex.InvalidType, "'x' is no number"),
        (lambda: raydex.join_asof([1], [1], relative_tolerance=1, tolerance=1), raydex.InvalidArgument,
         "relative_tolerance: it is given without tolerance"),
        (lambda: raydex.join_asof(np.array([1], "M8[s]"), np.array([1], "M8[s]"), relative_tolerance=1),
         raydex.InvalidType, r"datetime64\[s\] has no shares"),
        (lambda: index.join([1]), raydex.InvalidArgument, "by: 0 columns, but the key of the index has 2"),
        (lambda: index.join([1], by={"a": [1], "c": ["x"]}), raydex.InvalidArgument,
         "by: its columns are a, c, but those of the index a, b"),
        (lambda: index.append([1.5], by=([1], ["x"])), raydex.InvalidArgument, "times"),
        (lambda: raydex.AsofIndex([]).append([1]), raydex.InvalidArgument, "built of no times"),
        (lambda: raydex.AsofIndex([1], by=[None]), raydex.InvalidType, "no cell says what they are"),
    ):
        with pytest.raises(error, match=text):
            call()
    assert index.join([5, 5], by=(np.array([2, 1]), ["y", "y"])).tolist() == [1, -1]
    index.close()
    with pytest.raises(raydex.InvalidArgument, match="closed"):
        index.join([1])
