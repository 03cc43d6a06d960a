# SPDX-License-Identifier: Apache-2.0
"""As-of indexes in files and pickles."""

import datetime
import decimal
import ipaddress
import uuid

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import raydex
from test_kept import expect_damage_refused, ways

N = 200
RANDOM = np.random.default_rng(5)
NUMBERS = RANDOM.integers(0, 50, N)
TIMES = np.datetime64("2024-01-01T00:00:00", "ms") + RANDOM.integers(0, 10**6, N)

KINDS_OF_TIMES = {
    "ints": NUMBERS,
    "narrow": NUMBERS.astype("i2"),
    "floats": NUMBERS / 4,
    "times": TIMES,
    "ascending": np.sort(TIMES),
    "durations": NUMBERS.astype("m8[s]"),
    "zoned": pd.Series(TIMES).dt.tz_localize("America/New_York"),
    "missing": np.ma.masked_array(NUMBERS, NUMBERS > 40),
    "nothing": np.array([], "M8[ns]"),
}
KINDS_OF_KEYS = {
    "none": None,
    "ints": NUMBERS % 7,
    "words": [f"a word, number {one}" for one in NUMBERS % 7],
    "missing words": [None if one == 3 else f"word {one}" for one in NUMBERS % 7],
    "short": np.array([f"{one}" for one in NUMBERS % 7]),
    "days": TIMES.astype("M8[D]"),
    "frame": pd.DataFrame({"symbol": [f"symbol {one}" for one in NUMBERS % 3], "venue": NUMBERS % 5}),
    "polars": pl.DataFrame({"symbol": [f"symbol {one}" for one in NUMBERS % 3], "venue": NUMBERS % 5}),
    "two": (NUMBERS % 3, [f"{one}" for one in NUMBERS % 5]),
    "bytes": pa.array([bytes([one]) * 3 for one in NUMBERS % 7]),
}


def same(one, other, times, by):
    assert type(other) is raydex.AsofIndex
    assert len(one) == len(other)
    assert repr(one).split(" rows")[0] == repr(other).split(" rows")[0]
    for direction in ("backward", "forward", "nearest"):
        np.testing.assert_array_equal(
            one.join(times, by=by, direction=direction), other.join(times, by=by, direction=direction)
        )


@pytest.mark.parametrize("kind", KINDS_OF_TIMES)
def test_all_kinds_of_times(kind, tmp_path):
    times = KINDS_OF_TIMES[kind]
    with raydex.AsofIndex(times) as quotes:
        for other in ways(quotes, tmp_path):
            same(quotes, other, times, None)
            other.close()
            with pytest.raises(raydex.InvalidArgument, match="closed"):
                other.save(tmp_path / "x")


@pytest.mark.parametrize("missing_equal", [False, True])
@pytest.mark.parametrize("kind", KINDS_OF_KEYS)
def test_all_kinds_of_keys(kind, missing_equal, tmp_path):
    by = KINDS_OF_KEYS[kind]
    quotes = raydex.AsofIndex(TIMES, by=by, missing_equal=missing_equal)
    for other in ways(quotes, tmp_path):
        same(quotes, other, TIMES, by)
    quotes.append(TIMES, by=by)
    for other in ways(quotes, tmp_path):
        same(quotes, other, TIMES, by)
        other.append(TIMES[:1], by=None if by is None else _first(by))
        assert len(other) == 2 * N + 1


def _first(by):
    return tuple(one[:1] for one in by) if isinstance(by, tuple) else by[:1]


def test_columns_of_a_key_are_known_by_their_names(tmp_path):
    quotes = raydex.AsofIndex([5, 7], by={"a": [1, 2], "b": [2, 1]})
    for other in ways(quotes, tmp_path):
        assert other.join([8], by={"b": [2], "a": [1]}).tolist() == [0]
        with pytest.raises(raydex.InvalidArgument, match="those of the index a, b"):
            other.join([8], by={"a": [1], "c": [2]})


@pytest.mark.parametrize("key", [
    [decimal.Decimal("1.50"), decimal.Decimal("2.25")], [uuid.UUID(int=5), uuid.UUID(int=7)],
    [ipaddress.ip_address("10.0.0.1"), ipaddress.ip_address("10.0.0.2")], [datetime.date(2024, 1, 31)] * 2,
])  # fmt: skip
def test_keys_of_lists(key, tmp_path):
    quotes = raydex.AsofIndex([5, 7], by=key)
    for other in ways(quotes, tmp_path):
        same(quotes, other, [6, 8], key)


def test_beside_pandas_after_a_restart(tmp_path):
    """Quotes of a day are kept, and those of the next one appended."""
    path = tmp_path / "quotes.index"
    quotes = pd.DataFrame({"time": np.sort(TIMES), "symbol": [f"symbol {one}" for one in NUMBERS % 5]})
    trades = pd.DataFrame({"time": np.sort(RANDOM.choice(TIMES, 80) + 3), "symbol": quotes["symbol"][:80]})
    half = N // 2
    raydex.AsofIndex(quotes["time"][:half], by=quotes[["symbol"]][:half]).save(path)
    with raydex.load(path) as kept:
        kept.append(quotes["time"][half:], by=quotes[["symbol"]][half:])
        kept.save(path)  # over itself
    with raydex.load(path, verify=False) as kept:
        found = np.asarray(kept.join(trades["time"], by=trades[["symbol"]]))
    expected = pd.merge_asof(trades, quotes.assign(row=np.arange(N)), on="time", by="symbol")["row"]
    np.testing.assert_array_equal(found, expected.fillna(-1).astype(int))


def test_damaged_and_strange_files(tmp_path):
    path = tmp_path / "quotes.index"
    by = KINDS_OF_KEYS["words"]
    quotes = raydex.AsofIndex(TIMES, by=by)
    quotes.save(path)
    expect_damage_refused(path, 61, lambda other: same(quotes, other, TIMES, by))
    native = quotes._native
    facts = quotes._keep(lambda session, stream, note: note)
    for changed in (b"", b"of a program", facts[:-9], facts.replace(b'"by": [', b'"by": 7, "x": ['),
                    facts.replace(b"<M8[ms]", b"<M8[s]"), facts.replace(b"<M8[ms]", b"<f4"),
                    facts.replace(b'"unit": ""', b'"unit": "nothing at all"')):  # fmt: skip
        path.write_bytes(native.to_bytes(quotes._device.session(), 0, changed))
        if changed == facts.replace(b"<M8[ms]", b"<M8[s]"):
            raydex.load(path).close()  # as good a type
            continue
        with pytest.raises(raydex.InvalidArgument, match="section 'note': it is none of an as-of index"):
            raydex.load(path)
