# SPDX-License-Identifier: Apache-2.0
"""`raydex.merge_range` and `raydex.merge_intervals` on frames of pandas, Polars and pyarrow against DuckDB."""

import datetime

import numpy as np
import pytest
import raydex

duckdb = pytest.importorskip("duckdb")
pd = pytest.importorskip("pandas")
pl = pytest.importorskip("polars")
pa = pytest.importorskip("pyarrow")

HOWS = ("inner", "left", "right", "outer", "semi", "anti")
NAN = float("nan")
CONNECTION = duckdb.connect(config={"threads": 1})


def frame_of(random, rows, name, kind):
    """Points `t`, intervals `low` to `high` and groups, some of them missing; each row has a number of its own."""
    def column(spread):
        cells = pd.Series(random.integers(0, spread, rows), dtype="Int64").mask(random.random(rows) < 0.1)
        if kind == "floats":
            return (cells / 2).astype("float64")
        return pd.to_datetime(cells, unit="s") if kind == "times" else cells

    return pd.DataFrame({
        "t": column(40), "low": column(40), "high": column(50), "x": 1,
        "g": pd.Series(random.choice(["a", "a longer name", "c"], rows), dtype="str").mask(random.random(rows) < 0.1),
        f"{name}_row": np.arange(rows),
    })


def rows_of(how, condition, left, right):
    """The rows that DuckDB joins, -1 for none. In Arrow missing cells of floating numbers are null, not NaN."""
    tables = {name: pl.from_pandas(one, nan_to_null=True).to_arrow() for name, one in (("l", left), ("r", right))}
    for name, table in tables.items():
        CONNECTION.register(name, table)
    shown = "l_row, -1" if how in ("semi", "anti") else "coalesce(l_row, -1), coalesce(r_row, -1)"
    kind = "full" if how == "outer" else how
    found = CONNECTION.sql(f"select {shown} from l {kind} join r on {condition}").fetchall()
    return sorted(found)


def check(how, condition, left, right, merge, **words):
    expected = rows_of(how, condition, left, right)
    in_polars = [pl.from_pandas(one, nan_to_null=True) for one in (left, right)]
    sides = {"pandas": (left, right)}
    if len(condition + how) % 2:  # one of the others in turn
        sides["Polars"] = in_polars
    else:
        sides["pyarrow"] = [one.to_arrow() for one in in_polars]
    for name, (one, other) in sides.items():
        found = merge(one, other, how, **words)
        assert type(found) is type(one), name
        table = found if name == "pandas" else found.to_pandas()
        if how in ("semi", "anti"):
            assert list(table.columns) == list(left.columns)
            rows = [(row, -1) for row in table["l_row"]]
            assert rows == expected
            continue
        rows = list(zip(table["l_row"].fillna(-1).astype(int), table["r_row"].fillna(-1).astype(int)))
        assert sorted(rows) == expected
        order = [one[1] if how == "right" else one[0] if one[0] >= 0 else len(left) for one in rows]
        assert order == sorted(order)
        if how in ("right", "outer"):  # columns that are there once
            by = words.get("by")
            whole = {"g": left["g"].reindex([row for row, _ in rows]).where([row >= 0 for row, _ in rows], None)}
            lone = [row < 0 for row, _ in rows]
            of_right = right["g"].reindex([row for _, row in rows]).to_numpy()
            if by and any(lone):
                cells = np.where(lone, of_right, whole["g"].to_numpy())
                assert [one is None or one != one for one in cells] == list(table["g"].isna())
                assert [one for one in cells if one == one and one is not None] == list(table["g"].dropna())


@pytest.mark.parametrize("how", HOWS)
@pytest.mark.parametrize("kind", ["integers", "floats", "times"])
def test_ranges(random, kind, how):
    span = {"integers": "3", "floats": "3", "times": "interval 3 second"}[kind]
    distance = datetime.timedelta(seconds=3) if kind == "times" else 3
    for sizes in ((30, 25), (0, 3), (3, 0)):
        left, right = (frame_of(random, size, name, kind) for size, name in zip(sizes, "lr"))
        near = f"l.t between r.t - {span} and r.t + {span}"
        check(how, near, left, right, raydex.merge_range, on="t", distance=distance)
        if 0 in sizes:
            continue
        check(how, f"{near} and l.g = r.g", left, right, raydex.merge_range, on="t", distance=distance, by="g")
        check(how, "l.t < r.low", left, right, raydex.merge_range, left_on="t", right_on="low", compare="<")
        check(how, "l.t >= r.low and l.g = r.g", left, right, raydex.merge_range, left_on="t", right_on="low",
              compare="greater_equal", left_by=["g"], right_by=["g"])
        check(how, "l.low <= r.high and l.t > r.t and l.g = r.g", left, right, raydex.merge_range, by="g",
              left_on=["low", "t"], right_on=["high", "t"], compare=("<=", ">"))
        ends = {"both": ("<=", "<="), "left": ("<=", "<"), "right": ("<", "<="), "neither": ("<", "<")}
        for closed, (lower, upper) in ends.items():
            within = f"r.low {lower} l.t and l.t {upper} r.high"
            check(how, within, left, right, raydex.merge_range, left_on="t", right_on=["low", "high"], closed=closed)
            within = f"l.low {lower} r.t and r.t {upper} l.high and l.g = r.g"
            check(how, within, left, right, raydex.merge_range, left_on=("low", "high"), right_on="t", closed=closed,
                  by="g")


@pytest.mark.parametrize("how", HOWS)
@pytest.mark.parametrize("kind", ["integers", "times"])
def test_intervals(random, kind, how):
    left, right = (frame_of(random, size, name, kind) for size, name in ((30, "l"), (25, "r")))
    are = "l.low <= l.high and r.low <= r.high and"
    words = {"on": ["low", "high"], "by": "g"}
    for relation, condition in (
        ("overlaps", "l.low <= r.high and r.low <= l.high"),
        ("within", "r.low <= l.low and l.high <= r.high"),
        ("encloses", "l.low <= r.low and r.high <= l.high"),
    ):
        check(how, f"{are} {condition} and l.g = r.g", left, right, raydex.merge_intervals, relation=relation, **words)
    check(how, f"{are} l.low < r.high and r.low < l.high and l.low < l.high and r.low < r.high", *(
        one[one["low"].isna() | one["high"].isna() | (one["low"] < one["high"])].assign(
            **{f"{name}_row": lambda x: np.arange(len(x))}).reset_index(drop=True)
        for name, one in (("l", left), ("r", right))), raydex.merge_intervals, on=["low", "high"], closed="left")


def test_columns_and_order():
    left = pd.DataFrame({"t": [5, 1], "v": [1, 2]}, index=[7, 8])
    right = pd.DataFrame({"t": [4, 6, 2], "v": [3, 4, 5], "w": [NAN, 1, 2]})
    expected = pd.DataFrame({"t_x": [5, 5, 1], "v_x": [1, 1, 2], "t_y": [4, 6, 2], "v_y": [3, 4, 5],
                             "w": [NAN, 1, 2]})
    pd.testing.assert_frame_equal(raydex.merge_range(left, right, on="t", distance=1), expected)
    near = raydex.merge_range(left, right, on="t", distance=(1, 0), suffixes=("", "_of"))
    assert near["t_of"].tolist() == [4] and list(near.columns) == ["t", "v", "t_of", "v_of", "w"]
    assert raydex.merge_range(left, right, "semi", on="t", distance=(1, 0)).index.tolist() == [7]
    assert raydex.merge_range(left, right, "right", on="t", distance=(1, 0))["t_y"].tolist() == [4, 6, 2]


def test_refusals():
    frame = pd.DataFrame({"t": [1], "low": [1], "high": [2]})
    for words, error in (
        ({}, r"left_on: which columns\? give on=\[.begin., .end.\], or left_on and right_on"),
        ({"on": "t"}, "distance: give it or compare"),
        ({"on": "t", "distance": 1, "compare": "<"}, "distance: give it or compare"),
        ({"left_on": "t", "right_on": ["low", "high"], "distance": 1}, "distance: it goes with one column on each"),
        ({"on": ["low", "high"]}, "left_on: ranges on both sides; raydex.merge_intervals"),
        ({"on": ["t", "low", "high"]}, "left_on: 3 columns are named"),
        ({"on": "t", "left_on": "t", "distance": 1}, "on: give it alone"),
        ({"on": "u", "distance": 1}, "left: it has no column 'u', only t, low, high"),
        ({"on": ["low", "high"], "compare": "<"}, "left_on: ranges on both sides"),
        ({"on": "t", "compare": ("<", ">")}, r"compare: \('<', '>'\) goes with as many columns on each side"),
        ({"left_on": "t", "right_on": ["low", "high"], "compare": "<"}, "compare: '<' goes with as many columns"),
        ({"on": "t", "compare": "=="}, "compare: '==' is none of <, <=, >, >="),
        ({"on": "t", "distance": 1, "closed": "left"}, "closed: it goes with two columns"),
        ({"left_on": "t", "right_on": ["low", "high"], "closed": "all"}, "closed: 'all' is none of both"),
        ({"on": "t", "distance": 1, "how": "cross"}, "how: 'cross' is none of .*; all pairs of rows are left.merge"),
        ({"on": "t", "distance": 1, "by": ["low"], "left_by": "high"}, "by: give it alone"),
        ({"on": "t", "distance": -1}, "distance"),
    ):
        with pytest.raises(ValueError, match=error):
            raydex.merge_range(frame, frame, **words)
    with pytest.raises(ValueError, match="left_on: intervals have two columns on each side"):
        raydex.merge_intervals(frame, frame, left_on="t", right_on=["low", "high"])
    with pytest.raises(ValueError, match="relation: 'overlap' is none of overlaps, within, encloses, contains"):
        raydex.merge_intervals(frame, frame, on=["low", "high"], relation="overlap")
    with pytest.raises(TypeError, match=r"left\['t'\]: it is of int64, but right\['t'\] of strings"):
        raydex.merge_range(frame, frame.assign(t="a"), on="t", distance=1)
