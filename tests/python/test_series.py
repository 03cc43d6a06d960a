# SPDX-License-Identifier: Apache-2.0
"""Series as probes give Series, rows become frames, and points are looked up in frames, against pandas."""

import numpy as np
import pytest
import raydex

pd = pytest.importorskip("pandas")
pl = pytest.importorskip("polars")
pa = pytest.importorskip("pyarrow")

CALLS = ("first", "count", "contains", "isin", "rank", "predecessor", "successor")


@pytest.mark.parametrize("call", CALLS)
def test_a_series_gives_a_series(random, call):
    keys = random.integers(0, 20, 30)
    index, cells = raydex.build(keys), random.integers(0, 25, 12)
    expected = getattr(index, call)(cells)
    points = pd.Series(cells, index=random.permutation(12), name="price")
    pd.testing.assert_series_equal(getattr(index, call)(points), pd.Series(expected, points.index, name="price"))
    found = getattr(index, call)(pl.Series("price", cells))
    assert isinstance(found, pl.Series) and found.name == "price" and found.to_list() == expected.tolist()
    for others in (cells, cells.tolist(), pd.Index(cells), pa.array(cells)):
        assert type(getattr(index, call)(others)) is np.ndarray
    nullable = points.astype("Int64").mask(points > 10)
    pd.testing.assert_index_equal(getattr(index, call)(nullable).index, points.index)
    pd.testing.assert_series_equal(getattr(index, call)(points[:0]), pd.Series(expected[:0], points[:0].index,
                                                                               name="price"))


@pytest.mark.parametrize("dtype", ["int32", "uint32", "int64", "uint64", "float32", "float64"])
def test_extremes_of_nothing_are_missing_in_a_series(dtype):
    ends = np.finfo(dtype) if dtype[0] == "f" else np.iinfo(dtype)
    values = np.array([ends.max, 5, ends.min, ends.max], dtype)
    lower, upper = np.array([0, 1, 3, 2, 9, 2]), np.array([0, 2, 2, 3, 9, 2])
    lows, keys = raydex.rmq(values, extremes="both"), raydex.build(np.arange(4))
    of_keys = raydex.aggregate(keys, values)
    for name in ("min", "max"):
        wanted = [None if not 0 <= a <= b < 4 else getattr(values[a : b + 1], name)() for a, b in zip(lower, upper)]
        for answers in (getattr(lows, name), getattr(of_keys, name)):
            found = answers(pl.Series("low", lower), pl.Series(upper))
            assert found.to_list() == wanted and str(found.dtype).lower() == dtype
            found = answers(pd.Series(lower, index=list("abcdef"), name="low"), pd.Series(upper, index=list("abcdef")))
            assert found.isna().tolist() == [one is None for one in wanted] and found.name == "low"
            assert str(found.dtype).lower() == dtype
            assert list(found.dropna()) == [one for one in wanted if one is not None]
            assert list(found.index) == list("abcdef")
            found = answers(pd.Series(lower[:2]), pd.Series(upper[:2]))
            assert found.dtype == dtype and list(found) == wanted[:2]
            none = np.nan if dtype[0] == "f" else ends.max if name == "min" else ends.min
            np.testing.assert_array_equal(answers(lower, upper), [none if one is None else one for one in wanted])
    assert of_keys.mean(pl.Series([1, 9])).to_list() == [5.0, None]
    assert raydex.rmq(np.array([np.nan])).min(pl.Series([0, 1]), pl.Series([0, 0])).is_null().to_list() == [False, True]


def test_ranges_and_aggregates(random):
    keys, values = random.integers(0, 20, 30), random.integers(0, 9, 30)
    lower = pd.Series([0, 5, 19], index=["a", "b", "c"], name="low")
    upper = pd.Series([3, 9, 25], index=["a", "b", "c"], name="high")
    with raydex.build(keys) as index, raydex.aggregate(index, values) as sums:
        expected = [int(((keys >= a) & (keys <= b)).sum()) for a, b in zip(lower, upper)]
        assert index.count(lower, upper).to_dict() == dict(zip("abc", expected))
        assert index.count(lower, 30).name == "low" and index.count(0, upper).name == "high"
        assert type(index.count(0, 30)) is not pd.Series
        assert sums.sum(lower, upper).to_dict() == {
            name: int(values[(keys >= a) & (keys <= b)].sum()) for name, a, b in zip("abc", lower, upper)}
        for call in ("count", "count_values", "mean", "min", "max", "first"):
            assert getattr(sums, call)(lower, upper).index.tolist() == ["a", "b", "c"]
    times = values.astype("M8[s]")
    with raydex.build(keys) as index, raydex.aggregate(index, times) as extremes:
        found = extremes.min(pl.Series("low", lower), pl.Series([-1, 9, 25]))
        expected = extremes.min(lower.to_numpy(), np.array([-1, 9, 25]))
        assert found.is_null().to_list() == [True, False, False]
        assert found[1:].to_list() == expected[1:].tolist()
    with raydex.rmq(values, extremes="both") as minima:
        for call in ("min", "max", "argmin", "argmax"):
            found = getattr(minima, call)(lower, upper)
            assert found.tolist() == getattr(minima, call)(lower.to_numpy(), upper.to_numpy()).tolist()
            assert found.name == "low" and found.index.tolist() == ["a", "b", "c"]


def looked_up(frame, points):
    """The rows of first keys, by pandas."""
    return frame.drop_duplicates("key").set_index("key", drop=False).reindex(points)


@pytest.mark.parametrize("texts", [False, True])
def test_lookup(random, texts):
    keys = random.integers(0, 20, 40)
    names = np.array([f"the name of {key}" for key in range(30)])
    frame = pd.DataFrame({"key": names[keys] if texts else keys, "v": np.arange(40), "w": random.random(40)})
    cells = random.integers(0, 25, 15)
    cells = names[cells] if texts else cells
    index = raydex.build(frame["key"])
    expected = looked_up(frame, cells)
    points = pd.Series(cells, index=random.permutation(15))
    pd.testing.assert_frame_equal(index.lookup(points, frame), expected.set_axis(points.index))
    pd.testing.assert_frame_equal(index.lookup(cells.tolist(), frame), expected.reset_index(drop=True))
    pd.testing.assert_series_equal(index.lookup(points, frame["v"]), expected["v"].set_axis(points.index))
    polars, table = pl.from_pandas(frame), pl.from_pandas(frame).to_arrow()
    wanted = pl.from_pandas(expected.reset_index(drop=True))
    assert index.lookup(points, polars).select("key", "w").equals(wanted.select("key", "w"))
    assert index.lookup(points, polars["v"]).to_list() == wanted["v"].cast(pl.Int64).to_list()
    assert pl.from_arrow(index.lookup(points, table)).equals(index.lookup(points, polars))
    assert index.lookup(points, table["w"]).to_pylist() == wanted["w"].to_list()
    found = index.lookup(points, frame["w"].to_numpy())
    assert isinstance(found, np.ma.MaskedArray) and found.tolist() == wanted["w"].to_list()
    one = index.lookup(frame["key"][0], frame)
    pd.testing.assert_frame_equal(one, frame[:1])
    assert len(index.lookup([], frame)) == 0


def test_refusals_of_lookup():
    index = raydex.build([5, 6, 7])
    with pytest.raises(ValueError, match="values: 2 rows, but the index has rows up to 2"):
        index.lookup([5], pd.DataFrame({"a": [1, 2]}))
    with pytest.raises(TypeError, match="values: of a builtins.int no rows are taken"):
        index.lookup([5], 3)


def test_rows_of_joins_as_frames():
    rows = raydex.join([5, 6, 4], [6, 9, 5], "full")
    expected = pd.DataFrame({"probe": [0, 1, 2, None], "build": [1, None, 0, 2]}, dtype="Int64")
    pd.testing.assert_frame_equal(rows.to_pandas(), expected)
    assert rows.to_polars().equals(pl.from_pandas(expected)) and rows.to_polars().schema["build"] == pl.Int64
    semi = raydex.join([5], [5, 6], "semi", dtype="int32")
    assert semi.to_pandas().to_dict("list") == {"probe": [0]} and semi.to_polars().to_dict(as_series=False) == {
        "probe": [0]}


@pytest.mark.parametrize("probes", [[20, 60, 30], [60], [], [60, 60, 20, 50, 20]])
def test_lists_of_rows(probes):
    found = raydex.build([50, 20, 40, 20, 30]).rows(probes)
    expected = [found.rows[a:b].tolist() for a, b in zip(found.offsets, found.offsets[1:])]
    assert [one.tolist() for one in found.to_pandas()] == expected
    assert found.to_polars().to_list() == expected and found.to_polars().dtype == pl.List(pl.Int64)
    assert found.to_pandas().name == found.to_polars().name == "rows"


def test_ends_of_other_labels_are_refused():
    lower, upper = pd.Series([20, 30], index=["x", "y"]), pd.Series([30, 50], index=["y", "x"])
    index = raydex.build([50, 20, 40, 20, 30])
    with pytest.raises(raydex.InvalidArgument, match="upper.reindex"):
        index.count(lower, upper)
    assert index.count(lower, upper.reindex(["x", "y"])).tolist() == [5, 1]
    assert index.count(lower, upper.to_numpy()).tolist() == [3, 3]
    with pytest.raises(raydex.InvalidArgument, match="upper.reindex"):
        raydex.rmq(np.arange(60)).min(lower, upper)


def test_columns_of_one_side_are_of_one_table():
    """Rows of joins are places, whatever the index; columns that lie side by side have one index."""
    a, b = pd.Series([1, 2, 3], index=[7, 8, 9]), pd.Series([3, 1], index=["x", "y"], name="other")
    found = raydex.join(a, b)
    assert (found.probe.tolist(), found.build.tolist()) == ([0, 1], [2, 0])
    assert a.iloc[found.build].tolist() == b.iloc[found.probe].tolist()
    moved = pd.Series([1, 2, 3], index=[9, 8, 7])
    for call in (
        lambda: raydex.join((a, moved), (b, b)),
        lambda: raydex.join({"a": a, "b": moved}, {"a": b, "b": b}),
        lambda: raydex.join_intervals((a, moved), b),
        lambda: raydex.join_asof(a, b, by=([a, moved], [b, b])),
        lambda: raydex.join_where((a, moved), (b, b), ("<", ">")),
        lambda: raydex.join_nearest((a, moved), (b, b)),
    ):
        with pytest.raises(raydex.InvalidArgument, match="build: the indexes of its Series differ"):
            call()
    assert raydex.join((a, moved.to_numpy()), (b, b)).build.tolist() == [2, 0]


def test_types_of_pandas_that_are_made_of_others():
    """What to give for them."""
    months = pd.period_range("2026-01", periods=3, freq="M")
    for column, words in [
        (months, r"they are period\[M\]; give their begins, x.to_timestamp\(\) of an index"),
        (pd.Series(months), r"they are period\[M\]; give their begins, .*, x.dt.to_timestamp\(\) of a Series"),
        (pd.interval_range(0, 3), r"they are interval\[int64, right\]; give x.array.left or x.array.right"),
        (pd.Series(pd.interval_range(0, 3)), r"join_intervals takes both, \(x.array.left, x.array.right\)"),
    ]:
        with pytest.raises(raydex.InvalidType, match=f"column: {words}" if words.startswith("they") else words):
            raydex.build(column)
    assert raydex.build(months.to_timestamp()).count(["2026-02-01"]).tolist() == [1]
    assert raydex.build(pd.Series(months).dt.to_timestamp()).count(["2026-02-01"]).tolist() == [1]
    frame = pd.DataFrame({"month": months, "v": 1})
    with pytest.raises(raydex.InvalidType, match=r"left\['month'\]: they are period\[M\]; give"):
        raydex.merge(frame, frame, on="month")
