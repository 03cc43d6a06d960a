# SPDX-License-Identifier: Apache-2.0
"""`raydex.merge_asof` against that of pandas."""

import datetime

import numpy as np
import pytest
import raydex

pd = pytest.importorskip("pandas")
pl = pytest.importorskip("polars")
pa = pytest.importorskip("pyarrow")


def frames(random, kind):
    """Two frames, sorted by time, no two rows of a key and a time."""
    made = []
    for rows, other in ((120, "bid"), (150, "price")):
        times = np.sort(random.permutation(400)[:rows]) * 10**9
        made.append(pd.DataFrame({
            "t": times.astype("datetime64[ns]") if kind == "times" else times / 4 if kind == "floats" else times,
            "symbol": pd.Categorical(random.choice(["MSFT", "AAPL", "A name that is long"], rows),
                                     ["AAPL", "A name that is long", "MSFT", "XYZ"]),
            "venue": random.integers(0, 3, rows),
            "size": random.integers(0, 100, rows).astype("int32"),
            other: random.random(rows),
            f"{other} is": random.random(rows) < 0.5,
            f"{other} at": pd.Series(times + 5).astype("datetime64[ns]"),
            f"{other} of": random.choice(["a", "b"], rows),
        }))
    return made[1], made[0]


DIRECTIONS = ("backward", "forward", "nearest")
ASKED = [
    {"on": "t"},
    {"on": "t", "by": "symbol"},
    {"on": "t", "by": ["symbol", "venue"]},
    {"on": "t", "left_by": ["symbol"], "right_by": ["symbol"], "suffixes": ("_left", None)},
    {"on": "t", "by": "venue", "allow_exact_matches": False},
    {"on": "t", "left_by": "venue", "right_by": "size"},
    {"left_on": "t", "right_on": "t", "tolerance": 3},
]


def tolerance_of(asked, kind):
    tolerance = asked.get("tolerance")
    if tolerance is None:
        return asked
    return {**asked, "tolerance": pd.Timedelta(seconds=tolerance) if kind == "times" else tolerance * 10**9}


@pytest.mark.parametrize("direction", DIRECTIONS)
@pytest.mark.parametrize("asked", ASKED, ids=str)
@pytest.mark.parametrize("kind", ["times", "numbers", "floats"])
def test_as_in_pandas(random, kind, asked, direction):
    left, right = frames(random, kind)
    right["size"] = right["size"].astype("int64") % 3
    asked = {**tolerance_of(asked, kind), "direction": direction}
    if kind == "floats" and "tolerance" in asked:
        asked["tolerance"] = 0.75e9
    expected = pd.merge_asof(left, right, **asked)
    pd.testing.assert_frame_equal(raydex.merge_asof(left, right, **asked), expected)
    # Sides in any order: the result has that of the left one.
    at = random.permutation(len(left))
    found = raydex.merge_asof(left.iloc[at], right.sample(frac=1, random_state=5), **asked)
    pd.testing.assert_frame_equal(found, expected.iloc[at].reset_index(drop=True))


@pytest.mark.parametrize("asked", ASKED, ids=str)
def test_frames_of_polars(random, asked):
    left, right = frames(random, "times")
    right["size"] = right["size"].astype("int64") % 3
    asked = tolerance_of(asked, "times")
    found = raydex.merge_asof(pl.from_pandas(left), pl.from_pandas(right), **asked)
    expected = pl.from_pandas(pd.merge_asof(left, right, **asked))
    assert found.columns == expected.columns
    assert found.schema["price"] == pl.Float64
    # In pandas, integers that may be missing are floating numbers, which from_pandas makes nulls of.
    for name in found.columns:
        if found[name].dtype == pl.Boolean:
            assert found[name].to_list() == expected[name].to_list()
        else:
            assert found[name].cast(expected[name].dtype).equals(expected[name], null_equal=True)
    tables = [pl.from_pandas(one).to_arrow() for one in (left, right)]
    of_arrow = raydex.merge_asof(*tables, **asked)
    assert isinstance(of_arrow, pa.Table) and pl.from_arrow(of_arrow).equals(found, null_equal=True)
    own = right.dtypes
    assert all(found[name].dtype == pl.from_pandas(right)[name].dtype for name in own.index if name in found.columns)


def test_indexes(random):
    left, right = frames(random, "times")
    indexed = left.set_index("t"), right.set_index("t")
    for sides, asked in (
        (indexed, {"left_index": True, "right_index": True}),
        ((left.set_index(np.arange(len(left)) * 2), indexed[1]), {"left_on": "t", "right_index": True}),
    ):
        pd.testing.assert_frame_equal(
            raydex.merge_asof(*sides, by="symbol", **asked), pd.merge_asof(*sides, by="symbol", **asked))


@pytest.mark.parametrize("sides", [(0, 0), (0, 5), (5, 0), (1, 1)])
def test_few_rows(random, sides):
    left, right = (one.iloc[:rows] for one, rows in zip(frames(random, "times"), sides))
    expected = pd.merge_asof(left, right, on="t", by="venue")
    found = raydex.merge_asof(left, right, on="t", by="venue")
    pd.testing.assert_frame_equal(found, expected, check_dtype=sides[0] > 0 and sides[1] > 0)
    polars = raydex.merge_asof(pl.from_pandas(left), pl.from_pandas(right), on="t", by="venue")
    assert polars.shape == expected.shape and polars.columns == list(expected.columns)


def test_equal_times_and_missing_ones(random):
    left = pd.DataFrame({"t": np.sort(random.integers(0, 30, 60)), "g": random.integers(0, 3, 60)})
    right = pd.DataFrame({"t": np.sort(random.integers(0, 30, 60)), "g": random.integers(0, 3, 60), "v": range(60)})
    for direction in DIRECTIONS:
        for exact in (True, False):
            asked = {"on": "t", "by": "g", "direction": direction, "allow_exact_matches": exact}
            pd.testing.assert_frame_equal(raydex.merge_asof(left, right, **asked), pd.merge_asof(left, right, **asked))
    holes = left.assign(t=left["t"].astype("Int64").mask(random.random(60) < 0.3))
    found = raydex.merge_asof(holes, right, on="t")
    there = holes["t"].notna()
    assert found["v"][~there].isna().all()
    expected = pd.merge_asof(left[there].reset_index(drop=True), right, on="t")
    np.testing.assert_array_equal(found["v"][there], expected["v"])


def test_nan_is_missing_in_pandas():
    nan = float("nan")
    left, right = pd.DataFrame({"t": [1.0, nan]}), pd.DataFrame({"t": [0.5, nan], "v": [1, 2]})
    assert raydex.merge_asof(left, right, on="t")["v"].tolist()[0] == 1
    assert raydex.merge_asof(left, right, on="t")["v"].isna().tolist() == [False, True]
    polars = [pl.DataFrame({name: one[name].to_list() for name in one}) for one in (left, right)]
    assert raydex.merge_asof(*polars, on="t")["v"].to_list() == [1, 2]  # there NaN is a number, and equals itself


@pytest.mark.parametrize("symbols", [[None, "a"], [np.nan, "a"], pd.array([None, 3], "Int64"), [np.nan, 3.0]])
def test_missing_keys_match_as_in_the_frames_own_library(symbols):
    left = pd.DataFrame({"t": [5, 6], "s": symbols})
    right = pd.DataFrame({"t": [1, 1], "s": symbols, "v": [1, 2]})
    pd.testing.assert_frame_equal(
        raydex.merge_asof(left, right, on="t", by="s"), pd.merge_asof(left, right, on="t", by="s")
    )
    assert raydex.merge_asof(left, right, on="t", by="s", missing_equal=False)["v"].isna().tolist() == [True, False]
    polars = [pl.from_pandas(one.astype({"s": "Float64"}) if symbols[1] == 3.0 else one) for one in (left, right)]
    ours = raydex.merge_asof(*polars, on="t", by="s")
    theirs = polars[0].join_asof(polars[1], on="t", by="s", check_sortedness=False)
    assert ours["v"].to_list() == theirs["v"].to_list() == [None, 2]
    assert raydex.merge_asof(*polars, on="t", by="s", missing_equal=True)["v"].to_list() == [1, 2]


def test_zones_and_units():
    left = pd.DataFrame({"t": pd.to_datetime(["2024-03-01 15:00", "2024-03-01 15:30"]).tz_localize("Europe/Berlin")})
    right = pd.DataFrame({"t": pd.to_datetime(["2024-03-01 09:10"]).tz_localize("America/New_York").as_unit("us"),
                          "v": [1]})
    asked = {"on": "t", "tolerance": datetime.timedelta(minutes=20)}
    assert raydex.merge_asof(left, right, **asked)["v"].tolist()[1] == 1
    assert raydex.merge_asof(left, right, **asked)["v"].isna().tolist() == [True, False]


@pytest.mark.parametrize("of", [lambda frame: frame, pl.from_pandas, pa.Table.from_pandas])
def test_a_tolerance_of_times_has_a_unit(of):
    """pandas refuses a number, too; here it is one of the finer unit elsewhere, which nobody means in a frame."""
    frame = pd.DataFrame({"t": pd.to_datetime(["2024-03-01 15:00"]), "v": [1]})
    for tolerance in (10, np.int64(10), 1.5):
        with pytest.raises(raydex.InvalidType, match=r"tolerance: .* is a number, but left\['t'\] has times"):
            raydex.merge_asof(of(frame), of(frame), on="t", tolerance=tolerance)
    for tolerance in ("10s", np.timedelta64(10, "s"), datetime.timedelta(seconds=10), pd.Timedelta("10s")):
        assert len(raydex.merge_asof(of(frame), of(frame), on="t", tolerance=tolerance)) == 1


def test_refusals():
    left, right = pd.DataFrame({"t": [1], "g": [1], "v": [1]}), pd.DataFrame({"t": [1], "g": [1], "v": [1]})
    for asked, error in (
        ({}, "on: 0 columns are named"),
        ({"on": "t", "left_on": "t"}, "on: give it alone, or left_on and right_on"),
        ({"on": ["t", "g"]}, "on: 2 columns are named"),
        ({"on": "u"}, "left: it has no column 'u', only t, g, v"),
        ({"on": "t", "by": "h"}, "left: it has no column 'h'"),
        ({"on": "t", "left_by": "g"}, "left_by: give right_by, too"),
        ({"on": "t", "left_by": "g", "right_by": ["g", "v"]}, "left_by: 1 columns, but right_by has 2"),
        ({"on": "t", "suffixes": (None, None)}, "suffixes: with .* both frames have a column g, v"),
        ({"on": "t", "suffixes": ("_x",)}, "suffixes: .* are no two"),
        ({"on": "t", "direction": "near"}, "direction: 'near' is none of"),
        ({"on": "t", "right_index": True}, "on: the times are in an index"),
        ({"left_index": True, "right_on": "t"}, "on: the times are in an index"),
        ({"left_index": True}, "left_index: give right_index, too"),
        ({"right_index": True}, "right_index: give left_index or left_on"),
    ):
        with pytest.raises(ValueError, match=error):
            raydex.merge_asof(left, right, **asked)
    with pytest.raises(ValueError, match="frames of Polars have no index"):
        raydex.merge_asof(pl.from_pandas(left), pl.from_pandas(right), left_index=True, right_index=True)
    with pytest.raises(TypeError, match="right: a frame of polars, but left is one of pandas"):
        raydex.merge_asof(left, pl.from_pandas(right), on="t")
    with pytest.raises(TypeError, match="left: a builtins.dict is no data frame"):
        raydex.merge_asof({"t": [1]}, right, on="t")
