# SPDX-License-Identifier: Apache-2.0
"""The namespace `raydex` of frames of Polars, against Polars' own joins."""

import datetime
import subprocess
import sys
import warnings

import numpy as np
import pytest
import raydex

pl = pytest.importorskip("polars")
import raydex.polars  # noqa: E402

VERSION = tuple(map(int, pl.__version__.split(".")[:2]))
c = pl.col


def frames(random, kind="integers", rows=(150, 120)):
    """Two frames with times `t` and `u`, and `s` and `t`, keys `g` and `h`, and columns of one name; some times and
    keys are missing. No two times of a column are equal."""
    made = []
    for size, key, names in zip(rows, "gh", ("tu", "st")):
        times = {}
        for name in names:
            cells = pl.Series(random.choice(2**20, size, replace=False)).cast(pl.Int64)
            cells = cells.set(pl.Series(random.random(size) < 0.1), None)
            times[name] = cells / 4 if kind == "floats" else cells
            if kind == "times":
                times[name] = (cells * 1000).cast(pl.Datetime("us"))
        keys = pl.Series(random.choice(["a", "a longer name", "c"], size))
        keys = keys.set(pl.Series(random.random(size) < 0.1), None)
        made.append(pl.DataFrame({
            **times, key: keys, "both": keys,
            "n": random.integers(0, 9, size).astype("int32"), "row": np.arange(size),
        }))  # fmt: skip
    return made


def own_asof(left, right, time, other, **words):
    """Polars' own join, which needs sorted rows, in the order of the left rows."""
    left = left.with_row_index("#").filter(c(time).is_not_null()).sort(time)
    right = right.filter(c(other).is_not_null()).sort(other)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that it cannot tell whether groups are sorted
        return left.join_asof(right, **words).sort("#").drop("#")


ASKED = [
    {"left_on": "t", "right_on": "s"},
    {"left_on": c("t"), "right_on": c("s"), "by_left": "g", "by_right": "h"},
    {"on": "t"},
    {"on": "t", "coalesce": False, "suffix": "_of"},
    {"on": "t", "by": "both"},
    {"on": "t", "by": ["both", "n"], "allow_exact_matches": False},
    {"left_on": "t", "right_on": "s", "by_left": ["g", "n"], "by_right": ["h", "n"], "coalesce": False},
]


@pytest.mark.parametrize("strategy", ["backward", "forward", "nearest"])
@pytest.mark.parametrize("kind", ["integers", "floats", "times"])
@pytest.mark.parametrize("asked", ASKED, ids=str)
def test_join_asof(random, asked, kind, strategy):
    left, right = frames(random, kind)
    other = "t" if "on" in asked else "s"
    for tolerance in (None, {"times": "3s", "floats": 2000.5, "integers": 9000}[kind]):
        words = {**asked, "strategy": strategy, "tolerance": tolerance}
        expected = own_asof(left, right, "t", other, **words)
        found = left.raydex.join_asof(right, **words)
        assert found.columns == expected.columns and found.schema == expected.schema
        assert found["row"].equals(left["row"])
        assert found.filter(c("t").is_not_null()).equals(expected, null_equal=True)
    lazy = left.lazy().raydex.join_asof(right.lazy(), **words)
    assert isinstance(lazy, pl.LazyFrame) and lazy.collect().equals(found, null_equal=True)


def test_join_asof_of_missing_times_and_of_spans(random):
    left = pl.DataFrame({"t": [datetime.datetime(2024, 1, 1), None]})
    right = pl.DataFrame({"t": [None, datetime.datetime(2023, 12, 31, 23)], "v": [1, 2]})
    for tolerance, expected in (("59m", None), ("1h", 2), (datetime.timedelta(hours=1), 2)):
        found = left.raydex.join_asof(right, on="t", tolerance=tolerance)
        assert found["v"].to_list() == [expected, None]
    both = pl.DataFrame({"t": [6, 4], "v": [6, 4]})
    near = pl.DataFrame({"t": [5]}).raydex.join_asof(both, on="t", strategy="nearest")
    assert near["v"].to_list() == [4]
    with pytest.raises(raydex.Error, match="1mo"):
        left.raydex.join_asof(right, on="t", tolerance="1mo")


WHERE = [
    [c("t") < c("s")],
    [c("s") <= c("t"), c("n") == c("n_right")],
    [c("t") > c("s"), c("u") <= c("t_right")],
    [(c("t") >= c("s")) & (c("n") < c("n_right")) & (c("g") == c("h"))],
    [c("both") == c("both_right")],
    [c("t").is_between(c("s") - 9000, c("s") + c("n_right") * 1000, closed="left")],
    [c("t").is_between(c("s"), c("t_right"), closed="none")],
    [c("s").is_between(c("t") - 5000, c("t") + 5000)],
    [c("t") - 7000 < c("s"), c("t") + 7000 > c("s"), c("n") != c("n_right")],
    [c("t") < c("s"), c("n") > c("n_right"), c("u") < c("t_right"), c("g") == c("h"), c("n") + c("n_right") > 3],
]


@pytest.mark.parametrize("predicates", WHERE, ids=lambda one: " and ".join(map(str, one)))
@pytest.mark.parametrize("kind", ["integers", "floats"])
def test_join_where(random, kind, predicates):
    left, right = frames(random, kind)
    expected = left.join_where(right, *predicates)
    found = left.raydex.join_where(right, *predicates)
    assert found.columns == expected.columns and found.schema == expected.schema
    assert found["row"].is_sorted()
    order = ["row", "row_right"]
    assert found.sort(order).equals(expected.sort(order), null_equal=True)
    assert expected.height
    lazy = left.lazy().raydex.join_where(right, *predicates)
    assert isinstance(lazy, pl.LazyFrame) and lazy.collect().equals(found, null_equal=True)


@pytest.mark.skipif(VERSION < (2, 1), reason="Polars' own has only inner joins")
@pytest.mark.parametrize("how", ["left", "right", "full"])
@pytest.mark.parametrize("predicates", WHERE[:8], ids=lambda one: " and ".join(map(str, one)))
def test_join_where_with_rows_without_a_match(random, predicates, how):
    left, right = frames(random, rows=(40, 30))
    expected = left.join_where(right, *predicates, how=how)
    found = left.raydex.join_where(right, *predicates, how=how)
    assert found.columns == expected.columns
    order = ["row", "row_right"]
    assert found.sort(order).equals(expected.sort(order), null_equal=True)


def test_join_where_suffix_and_what_it_cannot(random):
    left, right = frames(random)
    found = left.raydex.join_where(right, c("n") > c("n_of"), suffix="_of")
    usual = left.raydex.join_where(right, [c("n") > c("n_right")])
    assert found.equals(usual.rename(lambda name: name.replace("_right", "_of")), null_equal=True)
    for predicates in ([c("t") > 5], [c("n") != c("n_right")], [c("t") + c("s") > 5], []):
        with pytest.raises(raydex.InvalidArgument, match="predicates"):
            left.raydex.join_where(right, *predicates)
    with pytest.raises(raydex.InvalidArgument, match="how"):
        left.raydex.join_where(right, c("t") > c("s"), c("n") != c("n_right"), how="left")
    with pytest.raises(raydex.InvalidType, match="predicates"):
        left.raydex.join_where(right, "t > s")


@pytest.mark.parametrize("how", ["inner", "left", "semi", "anti"])
def test_overlap(random, how):
    def intervals(size):
        begins = random.integers(0, 500, size)
        return pl.DataFrame({"begin": begins, "end": begins + random.integers(0, 20, size),
                             "key": random.integers(0, 3, size), "row": np.arange(size)})  # fmt: skip

    left, right = intervals(90), intervals(80)
    pairs = left.join_where(
        right, c("begin") < c("end_right"), c("begin_right") < c("end"), c("key") == c("key_right"))
    found = left.raydex.overlap(right, on=["begin", "end"], by="key", closed="left", how=how)
    if how in ("semi", "anti"):
        expected = left.join(pairs, on="row", how=how, maintain_order="left")
        assert found.equals(expected)
        return
    pairs = pairs.drop("key_right")
    lone = left.join(pairs, on="row", how="anti") if how == "left" else left.clear()
    expected = pl.concat([pairs, lone], how="diagonal")
    assert found.columns == expected.columns and found["row"].is_sorted()
    order = ["row", "row_right"]
    assert found.sort(order).equals(expected.sort(order), null_equal=True)
    assert left.lazy().raydex.overlap(right.lazy(), on=["begin", "end"], by_left="key", by_right="key", closed="left",
                                      how=how).collect().equals(found, null_equal=True)


def test_join_range(random):
    left, right = frames(random)
    expected = left.join_where(right, (c("t") - c("t_right")).abs() <= 4000, c("both") == c("both_right"))
    found = left.raydex.join_range(right, on="t", distance=4000, by="both")
    assert found.sort("row", "row_right").equals(
        expected.drop("both_right").sort("row", "row_right"), null_equal=True)
    points = left.raydex.join_range(right, left_on="t", right_on=["s", "t"], closed="left", suffix="_of")
    assert points.columns[-1] == "row_of"


def test_lookup(random):
    left, right = frames(random)
    for words in ({"on": "n"}, {"left_on": "g", "right_on": "h"}, {"left_on": c("row"), "right_on": "n"}):
        names = {name: one.meta.output_name() if isinstance(one, pl.Expr) else one for name, one in words.items()}
        first = right.unique(subset=names.get("on", names.get("right_on")), keep="first", maintain_order=True)
        expected = left.join(first, **names, how="left", maintain_order="left")
        found = left.raydex.lookup(right, **words)
        assert found.equals(expected, null_equal=True)
        assert left.lazy().raydex.lookup(right, **words).collect().equals(found, null_equal=True)


def test_empty_frames():
    left, right = pl.DataFrame({"t": [1, 2], "l": "x"}), pl.DataFrame({"t": [1], "r": 2})
    for one, other in ((left, right.clear()), (left.clear(), right), (left.clear(), right.clear())):
        for name, words in (("join_asof", {"on": "t"}), ("lookup", {"on": "t"})):
            found = getattr(one.raydex, name)(other, **words)
            assert found.height == one.height and found.columns == ["t", "l", "r"]
        assert one.raydex.join_where(other, c("t") < c("t_right")).columns == ["t", "l", "t_right", "r"]


def test_refusals():
    frame = pl.DataFrame({"t": [1, 2]})
    with pytest.raises(raydex.InvalidType, match="other"):
        frame.raydex.join_asof({"t": [1]}, on="t")
    with pytest.raises(raydex.InvalidArgument, match="no column 'x'"):
        frame.raydex.join_asof(frame, on="x")
    with pytest.raises(raydex.InvalidArgument, match="on"):
        frame.raydex.join_asof(frame, on=["t", "t"])
    with pytest.raises(raydex.InvalidArgument, match="is no column"):
        frame.raydex.join_asof(frame, on=c("t") + 1)
    with pytest.raises(raydex.InvalidArgument, match="a key to look up is one"):
        frame.raydex.lookup(frame, on=["t", "t"])
    with pytest.raises(raydex.InvalidArgument, match="on: give it alone"):
        frame.raydex.join_range(frame, on="t", left_on="t", distance=1)


def test_raydex_alone_does_not_import_polars():
    code = "import sys, raydex; assert 'polars' not in sys.modules; raydex.polars; assert 'polars' in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_what_the_namespace_has_not():
    frame = pl.DataFrame({"t": [5]})
    with pytest.raises(AttributeError, match=r"no attribute 'join'; raydex.merge\(left, right"):
        frame.raydex.join(frame, on="t")
    with pytest.raises(AttributeError, match=r"no attribute 'rolling'; raydex.rolling\(times"):
        frame.raydex.rolling("t")
    with pytest.raises(raydex.InvalidArgument, match="strategy: 'backwrd' is none of backward, forward, nearest"):
        frame.raydex.join_asof(frame, on="t", strategy="backwrd")
