# SPDX-License-Identifier: Apache-2.0
"""Decimals of every scale, of 64 bits and of 128, among each other and among numbers: as fractions of Python say."""

import bisect
import decimal
import ipaddress
import uuid
from fractions import Fraction

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pytest
import raydex

pa = pytest.importorskip("pyarrow")

BIG = decimal.Decimal("12345678901234567890123.45")


def decimals(*texts):
    return [None if one is None else decimal.Decimal(one) for one in texts]


def draw(random, size, scale, wide):
    """Numbers of last digits; None in a tenth of the cells."""
    edges = [2**63 - 1, 2**63, -(2**63), -(2**63) - 1, 2**64]
    found = []
    for _ in range(size):
        count = int(random.integers(-30, 30)) * 10 ** int(random.integers(0, scale + 1))
        if wide and random.random() < 0.4:
            count = edges[random.integers(5)] if random.random() < 0.3 else int(random.integers(-(2**62), 2**62)) << 40
        found.append(None if random.random() < 0.1 else Fraction(count, 10**scale))
    return found


def column(values, scale, kind=pa.decimal128, digits=38):
    with decimal.localcontext() as exact:
        exact.prec = 80
        cells = [None if one is None else decimal.Decimal(one.numerator) / one.denominator for one in values]
    return pa.array(cells, kind(digits, scale))


def probes_of(random, values, scale, form):
    """Probes in one of the forms that people have, and what they are."""
    if form == "integers":
        values = [None if one is None else Fraction(int(one) % 2**62) for one in values]
        return (values, pa.array([None if one is None else int(one) for one in values], "int64"))
    if form == "floats":
        values = [Fraction(0.0 if one is None else float(one)) for one in values]
        return (values, np.array([float(one) for one in values]))
    if form == "list":
        return (values, column(values, scale).to_pylist())
    if form == "decimal256":
        return (values, column(values, scale, pa.decimal256, 60))
    if form == "decimal32":
        values = [None if one is None else Fraction(int(one * 10**scale) % 10**9, 10**scale) for one in values]
        return (values, column(values, scale, pa.decimal32, 9))
    return (values, column(values, scale))


@pytest.mark.parametrize("form", ["decimals", "integers", "floats", "list", "decimal256", "decimal32"])
@pytest.mark.parametrize("wide", [False, True])
def test_among_each_other_and_among_numbers(random, form, wide):
    for _ in range(8):
        scale, other = (int(one) for one in random.integers(0, 7, 2))
        keys = draw(random, 60, scale, wide)
        values, probes = probes_of(random, draw(random, 40, other, random.random() < 0.5), other, form)
        index = raydex.build(column(keys, scale), str(random.choice(["auto", "sorted_array", "btree"])))
        there = sorted(one for one in keys if one is not None)
        left = [-1 if one is None else bisect.bisect_left(there, one) for one in values]
        right = [-1 if one is None else bisect.bisect_right(there, one) for one in values]
        first = [-1 if one is None or one not in keys else keys.index(one) for one in values]
        assert index.first(probes).tolist() == first
        assert index.rank(probes).tolist() == left and index.rank(probes, "right").tolist() == right
        before = [-1 if at <= 0 else keys.index(there[at - 1]) for at in left]
        assert index.predecessor(probes, True).tolist() == before
        after = [-1 if at in (-1, len(there)) else keys.index(there[at]) for at in right]
        assert index.successor(probes, True).tolist() == after
        ends = probes[::-1]
        counts = [0 if -1 in (a, b) else max(0, b - a) for a, b in zip(left, right[::-1])]
        assert index.count(probes, ends).tolist() == counts
        several = raydex.build((column(keys, scale), [i % 3 for i in range(60)]))
        same = [sum(key is not None and key == one for key in keys[1::3]) for one in values]
        assert several.count((probes, [1] * 40)).tolist() == same
        found = raydex.join(column(keys, scale), probes)
        pairs = [(i, k) for i, one in enumerate(values) for k, key in enumerate(keys) if one is not None and one == key]
        assert sorted(zip(found.probe.tolist(), found.build.tolist())) == pairs


def test_as_libraries_have_them(random):
    cells = decimals("1.25", "3.50", None, "1.25", "-7.00")
    wanted = decimals("3.5", "1.250", "7")
    arrow = pa.array(cells, pa.decimal128(9, 2))
    columns = [
        pl.Series(cells), pd.Series(cells, dtype=object), pd.Series(pd.array(cells, pd.ArrowDtype(arrow.type))),
        pa.array(cells, pa.decimal64(12, 2)), arrow.dictionary_encode(), pa.chunked_array([arrow[:2], arrow[2:]]),
        cells,
    ]  # fmt: skip
    for one in columns:
        index = raydex.build(one)
        assert index.first(wanted).tolist() == [1, 0, -1] and index.count(-7, 3) == 3
    wide = [*cells, BIG]
    arrow = pa.array(wide, pa.decimal128(30, 2))
    for one in (pl.Series(wide), arrow, arrow.dictionary_encode(), arrow.slice(0, 6), wide):
        for structure in ("auto", "hash_open"):
            assert raydex.build(one, structure).first([BIG, decimal.Decimal("1.25"), None]).tolist() == [5, 0, -1]
    rows = duckdb.sql("select (i * 7 % 50)::decimal(12, 3) / 8 as price, i from range(300) r(i)").to_arrow_table()
    counts = duckdb.sql("select price, count(*) from rows group by price").fetchall()
    assert raydex.build(rows["price"]).count([price for price, _ in counts]).tolist() == [count for _, count in counts]
    left, right = (pl.DataFrame({"price": random.permutation(40)[:30].tolist(), name: range(30)}).with_columns(
        pl.col("price").cast(pl.Decimal(20, 2)) / 4) for name in ("a", "b"))  # fmt: skip
    both = raydex.merge(left, right, on="price").sort("price")
    assert both.equals(left.join(right, on="price").sort("price").select(both.columns))


def test_forms_of_decimals():
    index = raydex.build(decimals("0.1", "0.25", "7"))
    assert index.info.key == "decimal(2)"
    assert index.first(["0.10", "7", None]).tolist() == [0, 2, -1]
    assert index.first([0.25, 0.1, 7]).tolist() == [1, -1, 2]  # 0.1 is no tenth
    assert index.count([float("-inf")], [float("nan")]).tolist() == [3]
    assert index.first(decimal.Decimal("0.1")) == 0
    assert raydex.build([1, 2]).count(decimals("0.1"), decimals("1.9")).tolist() == [1]
    negative = raydex.build(pa.array(decimals("1200", "300"), pa.decimal128(5, -2)))
    assert negative.first([1200, 300, 301]).tolist() == [0, 1, -1]
    assert raydex.build(pa.array([None, None], pa.decimal128(9, 2))).first(decimals("1.0")).tolist() == [-1]
    assert raydex.build(pa.array([], pa.decimal128(30, 2))).count([BIG]).tolist() == [0]
    many = decimals("1.2345678901234567890123456789012345", "1.5")
    assert raydex.build(many).first(many[::-1]).tolist() == [1, 0]


def test_probes_beyond_all_keys():
    """Each is compared exactly, whatever is beside it."""
    asked = decimals("0.1", "1e38", "0." + "3" * 50, "1E+500", "-1E+999999999", "1E-999999999", "-0", "NaN", "Infinity")
    for keys in (["-2", "0", "0.1", "5"], ["-2", "0", "0.1", str(10**37)]):
        index = raydex.build(decimals(*keys))
        assert index.first(asked).tolist() == [2, -1, -1, -1, -1, -1, 1, -1, -1]
        assert index.rank(asked).tolist() == [2, 4, 3, 4, 0, 2, 1, 4, 4]
        assert index.rank([1.5, decimal.Decimal("0.05"), 2**130, None]).tolist() == [3, 2, 4, -1]
        assert index.rank(["1E+5000000", "NaN"]).tolist() == [4, 4]
    numbers = raydex.build([1, 5])
    assert numbers.rank(asked[:6]).tolist() == [0, 2, 0, 2, 0, 0]
    with pytest.raises(ValueError, match="the decimal 0.1 is no floating number, as the keys are"):
        raydex.build([0.5]).first([decimal.Decimal("0.1"), 0.5])
    mixed = raydex.build([decimal.Decimal("0.1"), np.int64(1), 2])
    assert mixed.info.key == "decimal(1)" and mixed.first([1, np.int32(2)]).tolist() == [1, 2]
    assert raydex.build([2**100, np.int64(5)]).info.key == "decimal(0) of 128 bits"


def test_integers_of_more_than_64_bits():
    numbers = [2**100, 5, -3, 2**64, -(2**90)]
    index = raydex.build(numbers)
    assert index.rank([5, 2**100, 2**99, -(2**101), 2**126]).tolist() == [2, 4, 4, 0, 5]
    assert index.first([2**64, 5, 6, 2**300]).tolist() == [3, 1, -1, -1]
    assert raydex.build([5, -3]).rank([5, 2**100, -(2**100)]).tolist() == [1, 2, 0]
    assert raydex.build([5.0, 2.0**100]).first([5, 2**100, 2**99]).tolist() == [0, 1, -1]


def test_addresses():
    four = [ipaddress.ip_address(one) for one in ("10.0.0.7", "10.0.0.9", "192.168.0.1")]
    network = ipaddress.ip_network("10.0.0.0/24")
    index = raydex.build(four)
    assert index.count([network[0]], [network[-1]]).tolist() == [2]
    assert index.first(np.array([int(four[1])], "u4")).tolist() == [1]
    six = [ipaddress.ip_address(one) for one in ("2001:db8::1", "::1", "2001:db8:1::")]
    network = ipaddress.ip_network("2001:db8::/32")
    index = raydex.build(six)
    assert index.rows([network[0]], [network[-1]]).rows.tolist() == [0, 2]
    assert index.first(["::1", "2001:DB8:1:0::", None]).tolist() == [1, 2, -1] and index.first("::2") == -1
    assert raydex.build((six, [1, 2, 3])).count(("::1", 2)) == 1
    assert raydex.join(six, ["::1"]).build.tolist() == [1]
    with pytest.raises(raydex.InvalidArgument, match="b'hello' is no IPv6 address, and the keys are such"):
        index.first("hello")
    with pytest.raises(raydex.InvalidArgument, match="fe80::1%eth0 has a scope"):
        raydex.build([ipaddress.ip_address("fe80::1%eth0")])
    stored = raydex.build(pa.array([one.packed for one in six], pa.binary(16)))
    assert stored.count([network[0].packed], [network[-1].packed]).tolist() == [2]
    with pytest.raises(raydex.InvalidType, match="they are ipv6, but strings are asked for; .* x.packed"):
        stored.first(six)
    with pytest.raises(TypeError, match="IPv4Address and IPv6Address, which are not compared"):
        raydex.build([four[0], six[0]])


def test_edits():
    index = raydex.build(pa.array(decimals("1.25", "3.50"), pa.decimal128(38, 2)))
    index.insert([decimal.Decimal("2.5"), 4], [7, 8])
    assert index.rows([2.5, 4]).rows.tolist() == [7, 8]
    index.erase(decimals("1.250"))
    assert index.count(0, 9) == 3
    for key in ("2.255", BIG):
        with pytest.raises(ValueError, match="is no decimal.2., as the keys are"):
            index.insert(decimals(key), [9])


def test_what_is_refused():
    prices = pa.array(decimals("1.25", "3.50"), pa.decimal128(38, 2))
    wide = pa.array([BIG], pa.decimal128(38, 2))
    index = raydex.build([1, 2])
    calls = [
        lambda: index.sum([1], values=prices), lambda: raydex.aggregate(index, prices), lambda: raydex.rmq(prices),
        lambda: raydex.join_window([1], [1], before=1, after=1, values=prices),
        lambda: raydex.join_range(prices, prices, distance=1), lambda: raydex.searchsorted(prices, prices),
        lambda: raydex.join_asof(prices, prices, tolerance=1),
        lambda: raydex.join_nearest((prices, prices), (prices, prices)),
        lambda: raydex.join_asof(prices, prices, tolerance=[1, 1]), lambda: raydex.searchsorted(wide, wide),
        lambda: raydex.join_asof(wide, wide),
        lambda: raydex.build(prices).count(raydex.starts_with(["1"])),
        lambda: raydex.join_intervals((prices, prices), pa.array(decimals("1.5"), pa.decimal128(9, 1))),
    ]  # fmt: skip
    for call in calls:
        with pytest.raises(raydex.InvalidType, match="decimal"):
            call()
    floating = raydex.build([1.25, 2.0])
    assert floating.first(prices).tolist() == [0, -1]
    assert floating.first(pa.array(decimals("2"), pa.decimal128(5))).tolist() == [1]
    assert floating.isin(pl.Series(decimals("2", str(10**20)), dtype=pl.Decimal(38, 0))).to_list() == [True, False]
    with pytest.raises(ValueError, match="the decimal 0.1 is no float64, as the keys are"):
        floating.first(pa.array(decimals("1.2", "0.1")[1:], pa.decimal128(5, 1)))
    times = pa.array(decimals("1.249", "1.25", "1.3", "9.009"), pa.decimal128(9, 3))
    assert raydex.join_asof(prices, times).tolist() == [-1, 0, 0, 1]
    ends = pa.array(decimals("1.25", "1.26"), pa.decimal128(9, 2))
    assert raydex.join_intervals((prices, prices), ends).probe.tolist() == [0]
    for cells in (["0." + "1" * 50], [BIG * 10**20, "0.01"], ["1e400", "1"]):
        with pytest.raises(ValueError, match="column: (no key type has all|some) of its numbers"):
            raydex.build(decimals(*cells))
    with pytest.raises(raydex.InvalidType, match="take more than 128 bits"):
        raydex.build(pa.array(decimals("1e50"), pa.decimal256(60, 2)))
    with pytest.raises(raydex.InvalidArgument, match="points: b'x' is no decimal, and the keys are"):
        raydex.build(prices).first(["x"])
    rows = pa.array(decimals("1.00", "2.00"), pa.decimal128(10, 2))
    for call in (lambda: raydex.build([5, 6], rows=rows), lambda: raydex.build([5, 6]).insert([1, 2], rows),
                 lambda: raydex.build([5, 6], rows=decimals("0.1", "0.2")), lambda: raydex.take(np.arange(9), rows),
                 lambda: raydex.masked(rows), lambda: raydex.build([5], rows=pa.array([1], pa.date32())),
                 lambda: raydex.build([5], rows=np.array([1], "M8[D]"))):  # fmt: skip
        with pytest.raises(raydex.InvalidType, match="row(s| ids) are integers, and these are"):
            call()
    ids = [uuid.UUID(int=1), uuid.UUID(int=2)]
    for last in (wide, [2**100, 1], ids, [ipaddress.ip_address("::1")]):
        index = raydex.build(([1] * len(last), last))
        with pytest.raises(raydex.InvalidType, match="starts_with is of texts and bytes, and the keys are"):
            index.count((1, raydex.starts_with(["1"])))
