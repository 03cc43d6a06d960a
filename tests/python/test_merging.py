# SPDX-License-Identifier: Apache-2.0
"""`raydex.merge` on frames of pandas, Polars and pyarrow against the merges of pandas and Polars."""

import numpy as np
import pytest
import raydex

pd = pytest.importorskip("pandas")
pl = pytest.importorskip("polars")
pa = pytest.importorskip("pyarrow")

HOWS = ("inner", "left", "right", "outer", "semi", "anti")
TEXTS = ["AAPL", "a name of more than eight bytes", "MSFT", ""]
NAN = float("nan")


def keys_of(random, kind, rows):
    """A column of keys of few values, as pandas has it; in all but one some are missing."""
    at = random.integers(0, 4, rows)
    gone = random.random(rows) < 0.2
    if kind == "integers":
        return pd.Series(at - 2, dtype="int32")
    if kind == "nullable":
        return pd.Series(at, dtype="Int64").mask(gone)
    if kind == "floats":
        return pd.Series(np.where(gone, NAN, np.array([-0.0, 0.0, 1.5, np.inf])[at]))
    texts = pd.Series(np.array(TEXTS)[at], dtype="str").mask(gone)
    if kind == "objects":
        return texts.astype(object)
    if kind == "categories":
        return texts.astype(pd.CategoricalDtype(TEXTS[::-1]))
    times = pd.Series(np.array([0, 1, 86400, -5])[at].astype("M8[s]")).mask(gone)
    return {"texts": texts, "times": times, "zones": times.dt.tz_localize("Europe/Berlin")}[kind]


KINDS = ("integers", "nullable", "floats", "texts", "objects", "categories", "times", "zones")


def frame_of(random, kind, rows, other):
    return pd.DataFrame({
        "key": keys_of(random, kind, rows),
        "place": random.integers(0, 2, rows),
        "both": random.integers(0, 9, rows),
        other: np.arange(rows),
        f"{other} at": np.arange(rows).astype("M8[s]"),
        f"{other} is": random.random(rows) < 0.5,
    })


def by_pandas(left, right, how, **words):
    """What pandas merges, rows in the order that raydex has."""
    if how in ("semi", "anti"):
        marked = left.assign(row=np.arange(len(left))).merge(right, **words)["row"]
        is_in = np.isin(np.arange(len(left)), marked)
        return left[is_in if how == "semi" else ~is_in]
    if how != "outer":
        return left.merge(right, how=how, **words)
    sides = left.assign(left_row=np.arange(len(left))), right.assign(right_row=np.arange(len(right)))
    found = sides[0].merge(sides[1], how="outer", **words).sort_values(["left_row", "right_row"])
    return found.drop(columns=["left_row", "right_row"]).reset_index(drop=True)


@pytest.mark.parametrize("how", HOWS)
@pytest.mark.parametrize("kind", KINDS)
def test_as_in_pandas(random, kind, how):
    for rows, others in ((40, 30), (30, 0), (0, 30), (0, 0), (1, 1)):
        left, right = frame_of(random, kind, rows, "a"), frame_of(random, kind, others, "b")
        left.index = random.permutation(rows) + 5
        for words in ({"on": "key"}, {"on": ["key", "place"]}, {"left_on": "key", "right_on": "key"},
                      {"left_on": ["place", "key"], "right_on": ["both", "key"], "suffixes": ("", "_of")}):
            found, expected = raydex.merge(left, right, how, **words), by_pandas(left, right, how, **words)
            pd.testing.assert_frame_equal(found, expected, check_dtype=rows * others > 1)


@pytest.mark.parametrize("how", ["inner", "left", "right", "full", "semi", "anti"])
@pytest.mark.parametrize("missing_equal", [False, True])
@pytest.mark.parametrize("kind", KINDS)
def test_as_in_polars(random, kind, how, missing_equal):
    for rows, others in ((40, 30), (30, 0), (0, 30)):
        left, right = frame_of(random, kind, rows, "a"), frame_of(random, kind, others, "b")
        nan = [pl.when(pl.col("place") == 1).then(NAN).otherwise("key").alias("key")] if kind == "floats" else []
        left, right = (pl.from_pandas(one).with_columns(nan) for one in (left, right))
        expected = left.join(
            right, on=["key", "place"], how=how, nulls_equal=missing_equal, coalesce=True,
            maintain_order={"inner": "left_right", "right": "right_left"}.get(how, "left_right"),
        )  # fmt: skip
        words = {"on": ["key", "place"], "suffixes": ("", "_right"), "missing_equal": missing_equal}
        found = raydex.merge(left, right, how, **words)
        order = ["a", "b"] if how == "full" else []  # which is of the rows without a match in raydex alone
        if order:
            expected, found = (one.sort(order, nulls_last=True) for one in (expected, found))
        assert found.equals(expected.select(found.columns), null_equal=True) and found.schema == {
            name: expected.schema[name] for name in found.columns}
        tables = [one.to_arrow() for one in (left, right)]
        of_arrow = raydex.merge(*tables, how, **words)
        assert isinstance(of_arrow, pa.Table)
        of_arrow = pl.from_arrow(of_arrow)
        assert (of_arrow.sort(order, nulls_last=True) if order else of_arrow).equals(found, null_equal=True)


@pytest.mark.parametrize("how", HOWS)
def test_keys_in_an_index(random, how):
    left, right = frame_of(random, "texts", 40, "a"), frame_of(random, "texts", 30, "b")
    left, right = (one.drop(columns="both").dropna() for one in (left, right))
    by_key = left.set_index("key"), right.set_index("key")
    by_both = left.set_index(["key", "place"]), right.set_index(["key", "place"])
    both = {"left_index": True, "right_index": True}
    for sides, words in (
        (by_key, both), (by_both, both), ((by_key[0].rename_axis("k"), by_key[1]), both),
        ((left, by_key[1]), {"left_on": "key", "right_index": True}),
        ((by_key[0], right), {"left_index": True, "right_on": "key"}),
        ((left, by_both[1]), {"left_on": ["key", "place"], "right_index": True}),
    ):
        found = raydex.merge(*sides, how, **words)
        if how in ("semi", "anti"):
            rows = raydex.merge(left, right, how, on=["key", "place"] if by_both[1] is sides[1] else "key").index
            pd.testing.assert_frame_equal(found, sides[0][left.index.isin(rows)])
            continue
        expected = sides[0].merge(sides[1], how=how, **words)
        if how == "outer":  # pandas sorts the keys
            found, expected = (one.sort_values(["a", "b"]) for one in (found, expected))
        pd.testing.assert_frame_equal(found, expected)


def test_integers_that_pandas_made_floating_numbers():
    left = pd.DataFrame({"id": [5.0, NAN, 2.0**53], "a": [1, 2, 3]})
    right = pd.DataFrame({"id": [2**53, 5, 2**53 + 1], "b": [1, 2, 3]})
    assert raydex.merge(left, right, "left", on="id")["b"].tolist()[::2] == [2, 1]
    assert raydex.merge(right, left, on="id").to_dict("list") == {"id": [2**53, 5], "b": [1, 2], "a": [3, 1]}
    nullable = right.assign(id=right["id"].astype("Int64").mask(right["b"] == 3))
    assert raydex.merge(left, nullable, on="id")["b"].tolist() == [2, 3, 1]
    assert raydex.merge(left, nullable, on="id", missing_equal=False)["b"].tolist() == [2, 1]
    with pytest.raises(TypeError, match=r"left\['id'\]: it is of float64, but right\['id'\] of int64"):
        raydex.merge(left.assign(id=0.5), right, on="id")


def test_types_of_both_sides():
    early, late = np.array(["2024-01-01", "2024-01-02"], "M8[s]"), np.array(["2024-01-02", "2024-01-03"], "M8[ns]")
    for one, other in (([1, 2], np.array([2, 3], "int8")), (early, late), (["a", "b"], pd.Categorical(["b", "c"]))):
        left, right = pd.DataFrame({"k": one, "a": [1, 2]}), pd.DataFrame({"k": other, "b": [3, 4]})
        frames = [(left, right), (pl.from_pandas(left), pl.from_pandas(right))]
        frames.append(tuple(one.to_arrow() for one in frames[1]))
        for sides in frames:
            found = raydex.merge(*sides, "full", on="k")
            assert type(found) is type(sides[0]) and len(found) == 3
            assert len(raydex.merge(*sides, on="k")) == 1
