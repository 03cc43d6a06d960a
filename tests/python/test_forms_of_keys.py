# SPDX-License-Identifier: Apache-2.0
"""Keys and probes as people write them: times as texts, dates, `Timestamp`; decimals, UUIDs. Each is exactly the key
that it becomes, or is refused with what to do; against pandas."""

import datetime
import decimal
import uuid

import numpy as np
import pytest
import raydex

pd = pytest.importorskip("pandas")
pl = pytest.importorskip("polars")
pa = pytest.importorskip("pyarrow")

TEXTS = ["1677-12-31", "2024-01-01", "2024-01-02", "2024-01-02T00:00:01", "2024-01-02 00:00:01.5", "9999-12-31"]
PROBES = ["2024-01-02", "2024-01-02T00:00", "2024-01-02T00:00:00.000000", "2024-01-02 00:00:01.500", "2024-01-03"]
MORE = [["0001-01-01", "9999-12-31T23:59:59"], ["2024-01-02T00:00:00.000000001", "2024-01-02T00:00:01.000000000"]]


def columns(zone):
    """The same moments as columns of every kind."""
    moments = [datetime.datetime.fromisoformat(text) for text in TEXTS]
    yield np.array(TEXTS, "M8[us]") if zone is None else pa.array(
        moments, pa.timestamp("us", zone))
    zoned = [one.replace(tzinfo=zone and datetime.timezone.utc) for one in moments]
    yield zoned
    yield pl.Series(zoned)
    yield pd.Series(pd.DatetimeIndex(np.array(TEXTS, "M8[us]"), tz=zone))
    if zone is None:
        yield pd.Series([pd.Timestamp(text) for text in TEXTS], dtype=object)


@pytest.mark.parametrize("more", MORE, ids=["years", "nanoseconds"])  # which are in no unit together
@pytest.mark.parametrize("zone", [None, "UTC"])
def test_texts_are_the_times_that_they_are_written_for(zone, more):
    keys = np.array(TEXTS, "M8[us]").astype(object)
    texts = PROBES + more
    probes = [text if zone is None else f"{text if len(text) > 10 else text + 'T00:00'}Z" for text in texts]
    moments = [(datetime.datetime.fromisoformat(text[:26]), int(text[26:] or 0)) for text in texts]  # and nanoseconds
    less = [sum((key, 0) < moment for key in keys) for moment in moments]
    equal = [sum((key, 0) == moment for key in keys) for moment in moments]
    for column in columns(zone):
        index = raydex.build(column)
        assert list(index.count(probes)) == equal
        assert list(index.rank(probes)) == less
        assert list(index.count(probes, probes)) == equal
        assert index.count(probes[0], probes[3]) == 3
        assert list(index.count([probes[0]], probes[3])) == list(index.count(probes[0], [probes[3]])) == [3]
        assert [index.count(one) for one in probes] == equal
        assert list(index.count(probes + [None])) == [*equal, 0]
        found = raydex.join(column, probes)
        assert found.probe.tolist() == [row for row, count in enumerate(equal) if count]
        assert raydex.join(probes, column).build.tolist() == sorted(
            (found.probe.tolist()), key=lambda row: (moments[row][0], row))


def test_offsets():
    index = raydex.build(pd.Series(pd.to_datetime(["2024-03-31T01:30Z", "2024-03-31T02:30Z"])))
    for text in ("2024-03-31T03:30+02:00", "2024-03-31 03:30:00+0200", "2024-03-30T20:30-05:00", "2024-03-31T01:30Z"):
        assert index.first(text) == 0 and index.first([text, text]).tolist() == [0, 0]
        assert index.first(pd.Timestamp(text)) == index.first(pd.Timestamp(text).to_pydatetime()) == 0


def test_dates_and_times_of_day():
    for column in ([datetime.date(2024, 1, 1), datetime.date(2024, 1, 2)], pa.array([19723, 19724], pa.date32()),
                   pl.Series([datetime.date(2024, 1, 1), datetime.date(2024, 1, 2)])):
        index = raydex.build(column)
        for probe in ("2024-01-02", datetime.date(2024, 1, 2), datetime.datetime(2024, 1, 2),
                      pd.Timestamp("2024-01-02"), np.datetime64("2024-01-02"), "2024-01-02T00:00"):
            assert index.first(probe) == 1 and index.count("2024-01-01", probe) == 2
        assert index.first("2024-01-02T00:00:01") == -1 and index.rank("2024-01-02T00:00:01") == 2
        assert index.first(pd.NaT) == -1
    index = raydex.build([datetime.time(9, 30), datetime.time(16)])
    assert index.first(["16:00", "09:30:00", "09:30:00.000001"]).tolist() == [1, 0, -1]


def test_edits_and_joins_by_order():
    times = pd.Series(pd.to_datetime(["2024-01-01", "2024-01-05"]))
    index = raydex.build(times)
    index.insert(["2024-01-03"], [2])
    assert index.first("2024-01-03") == 2
    index.erase("2024-01-03")
    assert index.first("2024-01-03") == -1
    assert raydex.join_asof(times, ["2024-01-04", "2023-01-01", "2024-01-05T00:00:01"]).tolist() == [0, -1, 1]
    near = raydex.join_range(times, ["2024-01-04"], distance=datetime.timedelta(days=1))
    assert near.build.tolist() == [1]
    assert raydex.join_intervals((["2024-01-01"], ["2024-01-31"]), times).probe.tolist() == [0, 1]


def test_decimals():
    two, half = decimal.Decimal("2.0"), decimal.Decimal("0.5")
    assert raydex.build([1, 2]).first([two, 2, 2.0]).tolist() == [1, 1, 1]
    assert raydex.build([0.5, 2.0]).first(half) == 0
    assert raydex.build([half, two]).first([2, 0.5]).tolist() == [1, 0]
    assert raydex.build(pd.Series([two, None])).first(2) == 0
    assert raydex.build([decimal.Decimal("NaN")]).first(float("nan")) == 0
    large = 2**53 + 1
    assert raydex.build([large - 1, large]).first(decimal.Decimal(large)) == 1
    with pytest.raises(ValueError, match="points: the decimal 0.1 is no float64, as the keys are; .*, which rounds"):
        raydex.build([0.1]).first(decimal.Decimal("0.1"))
    assert raydex.build([1, 2]).first(half) == -1
    assert raydex.build([1, 2]).first(decimal.Decimal("0.1")) == -1


def test_uuids():
    ids = [uuid.UUID(int=number) for number in (1, 2**127, 5)]
    for column in (ids, pd.Series(ids), pa.array([one.bytes for one in ids], pa.uuid())):
        index = raydex.build(column)
        for probe in (ids[1], str(ids[1]), ids[1].hex, str(ids[1]).upper()):
            assert index.first(probe) == 1 and index.first([probe]).tolist() == [1]
        assert raydex.join(column, [str(ids[2]), str(ids[0])]).build.tolist() == [2, 0]
        with pytest.raises(ValueError, match=r"b'five' is no text of a UUID, .* give uuid.UUID\(bytes=x\)"):
            index.first("five")
    with pytest.raises(TypeError, match=r"they are uuid, but strings are asked for; give texts, str\(x\)"):
        raydex.build([str(one) for one in ids]).first(ids[0])


@pytest.mark.parametrize("zone,probe,error", [
    (None, "hello", "'hello' is no time; write 2024-01-31, or 2024-01-31T09:30:00"),
    (None, "2024-01", "'2024-01' is no time"),
    (None, "20240102", "'20240102' is no time"),
    (None, "2024-02-30", "'2024-02-30' is no time"),
    (None, "2024-01-02T24:00", "is no time"),
    (None, "", "'' is no time"),
    (None, "NaT", "'NaT' is no time"),
    (None, "2024-01-02T00:00Z", "has a zone, and the keys have none"),
    ("UTC", "2024-01-02T00:00", "has no zone, and the keys have; write ...T09:30:00Z"),
    (None, "3000-01-01T00:00:00.123456789", "is beyond what 64 bits count in nanoseconds"),
    (None, pd.Timestamp("2024-01-02", tz="UTC"), "times with a zone and ones without are not compared"),
    ("UTC", datetime.date(2024, 1, 2), "times with a zone and ones without are not compared"),
    (None, pd.Series(["2024-01-02"]), r"as pandas.to_datetime\(x\) does; a list of ISO texts is taken"),
])
def test_times_that_are_refused(zone, probe, error):
    index = raydex.build(pd.Series(pd.DatetimeIndex(["2024-01-01"], tz=zone)))
    with pytest.raises(raydex.InvalidArgument, match=error):
        index.first(probe)


def test_durations():
    index = raydex.build([datetime.timedelta(seconds=2), datetime.timedelta(minutes=1)])
    for probe in ("1min", "60s", "1 m", pd.Timedelta("1min"), np.timedelta64(1, "m"), datetime.timedelta(minutes=1)):
        assert index.first(probe) == 1 and index.rank([probe]).tolist() == [1]
    assert index.count("1s", "1h") == 2
    with pytest.raises(ValueError, match="'2' is no numbers with units; write 90s or 1h30min"):
        index.first("2")
    with pytest.raises(ValueError, match="is no time of day, as 09:30:00"):
        raydex.build([datetime.time(2)]).first("noon")
