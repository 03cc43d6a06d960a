# SPDX-License-Identifier: Apache-2.0
"""`raydex.merge` on frames of pandas, Polars and pyarrow against the merges of pandas and Polars."""

import doctest
import importlib

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
    if kind == "nullable floats":
        return pd.Series(at / 2, dtype="Float32").mask(gone)
    texts = pd.Series(np.array(TEXTS)[at], dtype="str").mask(gone)
    if kind == "objects":
        return texts.astype(object)
    if kind == "categories":
        return texts.astype(pd.CategoricalDtype(TEXTS[::-1]))
    times = pd.Series(np.array([0, 1, 86400, -5])[at].astype("M8[s]")).mask(gone)
    return {"texts": texts, "times": times, "zones": times.dt.tz_localize("Europe/Berlin")}[kind]


KINDS = ("integers", "nullable", "floats", "nullable floats", "texts", "objects", "categories", "times", "zones")


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


@pytest.mark.parametrize("how", HOWS)
@pytest.mark.parametrize("kind", KINDS)
def test_a_frame_of_no_rows_and_no_types(random, kind, how):
    """`pd.DataFrame({"key": []})` has floats, whatever was meant."""
    some, none = frame_of(random, kind, 30, "a"), pd.DataFrame({"key": [], "place": [], "b": []})
    for left, right in ((some, none), (none, some)):
        for on in ("key", ["place", "key"]):
            found, expected = raydex.merge(left, right, how, on=on), by_pandas(left, right, how, on=on)
            pd.testing.assert_frame_equal(found, expected, check_dtype=False)


@pytest.mark.parametrize("how", ["right", "outer"])
def test_types_of_an_empty_left_side(how):
    """They are those of a left side with rows."""
    times = [pl.Datetime("us", zone) for zone in ("UTC", "Europe/Berlin")]
    for value, types in ((1, (pl.Int64, pl.Int32)), (1, times), ("a", (pl.String, pl.Categorical))):
        left, right = (pl.DataFrame({"k": pl.Series([value]).cast(one)}) for one in types)
        for of in (lambda frame: frame, pl.DataFrame.to_arrow):
            some, none = (raydex.merge(of(one), of(right), how, on="k") for one in (left, left.clear()))
            assert some.schema == none.schema


@pytest.mark.parametrize("how", HOWS)
@pytest.mark.parametrize("kind", KINDS)
def test_sorted_as_in_pandas(random, kind, how):
    for rows, others in ((40, 30), (30, 0), (0, 30)):
        left, right = frame_of(random, kind, rows, "a"), frame_of(random, kind, others, "b")
        left.index = random.permutation(rows) + 5
        for words in ({"on": "key"}, {"on": ["place", "key"]}, {"left_on": "key", "right_on": "key"}):
            found = raydex.merge(left, right, how, sort=True, **words)
            plain = raydex.merge(left, right, how, **words)
            if how in ("semi", "anti"):
                names = words.get("on", "key")
                pd.testing.assert_frame_equal(found, plain.sort_values(names, kind="stable"))
                continue
            expected = left.merge(right, how=how, sort=True, **words)
            keys = ["place", "key"] if isinstance(words.get("on"), list) else ["key"]
            of_found, of_expected = found[keys], expected[keys]
            if kind in ("times", "zones", "categories"):  # pandas has missing ones first
                assert keys != ["key"] or found["key"].isna().is_monotonic_increasing
                of_found, of_expected = (one.dropna(ignore_index=True) for one in (of_found, of_expected))
            pd.testing.assert_frame_equal(of_found, of_expected, check_dtype=rows * others > 1)
            # Rows of one key: pandas keeps the order of left, or of right in right joins.
            order = ["b", "a"] if how == "right" else ["a", "b"]
            found, expected = (
                one.sort_values([*keys, *order], kind="stable", ignore_index=True) for one in (found, expected)
            )
            pd.testing.assert_frame_equal(found, expected, check_dtype=rows * others > 1)


@pytest.mark.parametrize("how", ["inner", "left", "right", "full", "semi", "anti"])
@pytest.mark.parametrize("kind", KINDS)
def test_sorted_in_polars_and_arrow(random, kind, how):
    left, right = (pl.from_pandas(frame_of(random, kind, 40, other)) for other in ("a", "b"))
    words = {"on": ["place", "key"]}
    expected = raydex.merge(left, right, how, **words).sort("place", "key", nulls_last=True, maintain_order=True)
    assert raydex.merge(left, right, how, sort=True, **words).equals(expected, null_equal=True)
    of_arrow = pl.from_arrow(raydex.merge(left.to_arrow(), right.to_arrow(), how, sort=True, **words))
    if kind == "categories":  # Arrow sorts texts, Polars categories
        expected = expected.sort("place", pl.col("key").cast(str), nulls_last=True, maintain_order=True)
    assert of_arrow.equals(expected, null_equal=True)


def test_sorted_by_an_index(random):
    left, right = (frame_of(random, "texts", 40, other).set_index("key") for other in ("a", "b"))
    words = {"left_index": True, "right_index": True, "how": "left", "sort": True}
    pd.testing.assert_frame_equal(raydex.merge(left, right, **words), left.merge(right, **words))
    with pytest.raises(raydex.InvalidType, match="sort: 1 is neither True nor False"):
        raydex.merge(left, right, sort=1)


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
    for dtype in ("Float64", "double[pyarrow]"):
        assert raydex.merge(left.astype({"id": dtype}), right, on="id")["b"].tolist() == [2, 1]
    assert len(raydex.merge(left.assign(id=0.5), right, on="id")) == 0


def test_types_of_both_sides():
    early, late = np.array(["2024-01-01", "2024-01-02"], "M8[s]"), np.array(["2024-01-02", "2024-01-03"], "M8[ns]")
    zoned = [pd.DatetimeIndex(one, tz=zone) for one, zone in ((early, "UTC"), (late, "Etc/GMT-1"))]
    zoned[1] += pd.Timedelta("1h")
    categories = pd.Categorical(["a", "b"]), pd.Categorical(["b", "c"])
    pairs = (([1, 2], np.array([2, 3], "int8")), (early, late), zoned, (["a", "b"], categories[1]), categories)
    for one, other in pairs:
        left, right = pd.DataFrame({"k": one, "a": [1, 2]}), pd.DataFrame({"k": other, "b": [3, 4]})
        frames = [(left, right), (pl.from_pandas(left), pl.from_pandas(right))]
        frames.append(tuple(one.to_arrow() for one in frames[1]))
        for sides in frames:
            found = raydex.merge(*sides, "full", on="k")
            assert type(found) is type(sides[0]) and len(found) == 3
            keys = found["k"].to_pylist() if isinstance(found, pa.Table) else list(found["k"])
            lefts = sides[0]["k"].to_pylist() if isinstance(found, pa.Table) else list(sides[0]["k"])
            assert keys[:2] == lefts and type(keys[2]) is type(keys[0])
            if hasattr(keys[2], "tzinfo") and keys[2].tzinfo:
                assert str(keys[2].tzinfo) == str(keys[0].tzinfo)
            assert len(raydex.merge(*sides, on="k")) == 1
    polars = [pl.from_pandas(pd.DataFrame({"k": one})) for one in categories]
    enum = polars[1].with_columns(pl.col("k").cast(pl.Enum(["b", "c"])))
    assert raydex.merge(polars[0], enum, "full", on="k")["k"].to_list() == ["a", "b", "c"]


def test_columns_of_one_name():
    frame = pd.DataFrame({"k": [1, 2], "l": [3, 4], "v": [5, 6]})
    for names in (frame.columns[:2], np.array(["k", "l"]), ("k", "l")):
        pd.testing.assert_frame_equal(raydex.merge(frame, frame, on=names), frame.merge(frame, on=["k", "l"]))
    left = pd.DataFrame([[1, 2, 3]], columns=["k", "v", "v"])
    right = pd.DataFrame([[1, 4, 5], [2, 6, 7]], columns=["k", "w", "w"])
    pd.testing.assert_frame_equal(raydex.merge(left, right, "right", on="k"), left.merge(right, "right", on="k"))
    with pytest.raises(ValueError, match="left: two columns are called 'v'; rename one"):
        raydex.merge(left, right, left_on="v", right_on="w")
    only_keys = pd.DataFrame({"k": [1, 2]}), pd.DataFrame({"k": [2, 3]})
    assert raydex.merge(*only_keys, "outer")["k"].tolist() == [1, 2, 3]
    for kind in (pl.from_pandas, pa.table):
        found = raydex.merge(*map(kind, only_keys), "outer", on="k")
        assert (found["k"].to_list() if kind is pl.from_pandas else found["k"].to_pylist()) == [1, 2, 3]
        assert len(raydex.merge(*map(kind, only_keys), on="k")) == 1
    labels = pd.DataFrame({0: [1, 2], 1: [3, 4]})
    pd.testing.assert_frame_equal(raydex.merge(labels, labels, "outer", on=0), labels.merge(labels, "outer", on=0))


@pytest.mark.parametrize("how", ["inner", "left", "right", "outer"])
@pytest.mark.parametrize("kind", ["integers", "floats", "texts", "categories"])
def test_where_rows_are_from(random, kind, how):
    left, right = frame_of(random, kind, 40, "a"), frame_of(random, kind, 30, "b")
    for words in ({"on": ["key", "place"]}, {"left_on": "a", "right_index": True},
                  {"left_index": True, "right_on": "b"}, {"left_index": True, "right_index": True}):
        for indicator in (True, "where from"):
            name = "_merge" if indicator is True else indicator
            found = raydex.merge(left, right, how, indicator=indicator, **words)
            if how == "outer" and "on" not in words:
                rows = found["a at"].notna() + 2 * found["b at"].notna()
                assert found[name].tolist() == [["left_only", "right_only", "both"][one - 1] for one in rows]
            else:
                expected = by_pandas(left, right, how, indicator=indicator, **words)
                if "on" not in words:
                    order = ["a", "b"]
                    found, expected = (one.sort_values(order) for one in (found, expected))
                pd.testing.assert_series_equal(found[name], expected[name])
            assert found.columns[-1] == name


def test_where_rows_are_from_in_other_libraries():
    left, right = pl.DataFrame({"k": [1, 2, 3], "a": [1, 2, 3]}), pl.DataFrame({"k": [3, 4, 1], "b": [1, 2, 3]})
    expected = {
        "inner": ["both"] * 2, "left": ["both", "left_only", "both"], "semi": ["both"] * 2, "anti": ["left_only"],
        "full": ["both", "left_only", "both", "right_only"], "right": ["both", "right_only", "both"],
    }
    for how, words in expected.items():
        found = raydex.merge(left, right, how, indicator=True)
        assert found["_merge"].to_list() == words
        assert found["_merge"].dtype == pl.Enum(["left_only", "right_only", "both"])
        table = raydex.merge(left.to_arrow(), right.to_arrow(), how, indicator="of")
        assert table.column_names[-1] == "of" and table["of"].to_pylist() == words
        frame = raydex.merge(left.to_pandas(), right.to_pandas(), how, indicator=True)
        assert frame["_merge"].tolist() == words and frame["_merge"].cat.categories.tolist() == [
            "left_only", "right_only", "both"]
    empty = left.clear()
    for one in (empty, empty.to_arrow(), empty.to_pandas()):
        for how in expected:
            assert len(raydex.merge(one, one, how, on="k", indicator=True)) == 0


VALIDATED = ("one_to_one", "one_to_many", "many_to_one", "many_to_many", "1:1", "1:m", "m:1", "m:m")


@pytest.mark.parametrize("validate", VALIDATED)
def test_how_often_keys_are_there(random, validate):
    """As in pandas, of keys that are missing, too; of columns, of several, and of an index."""
    refused = 0
    for _ in range(25):
        rows = random.integers(0, 7, 2)
        sides = [
            pd.DataFrame({"key": random.choice([*range(9), NAN], size, replace=random.random() < 0.3),
                          "more": random.integers(0, 2, size)}, index=random.integers(0, 40, size))
            for size in rows
        ]
        for words in ({"on": "key"}, {"on": ["key", "more"]}, {"left_index": True, "right_index": True},
                      {"left_on": "more", "right_index": True}):
            how = random.choice(["inner", "left", "right", "outer"])
            try:
                expected = by_pandas(*sides, how, validate=validate, **words)
            except pd.errors.MergeError:
                refused += 1
                with pytest.raises(pd.errors.MergeError, match="keys are not unique in (left|right)") as error:
                    raydex.merge(*sides, how, validate=validate, **words)
                assert isinstance(error.value, raydex.InvalidArgument)
                continue
            assert len(raydex.merge(*sides, how, validate=validate, **words)) == len(expected)
    assert (refused > 0) == (validate not in ("many_to_many", "m:m"))


@pytest.mark.parametrize("missing_equal", [False, True])
@pytest.mark.parametrize("validate", ["1:1", "1:m", "m:1", "m:m"])
def test_how_often_keys_are_there_in_polars(random, validate, missing_equal):
    refused = 0
    for _ in range(40):
        left, right = (
            pl.DataFrame({"k": random.choice(9, size, replace=False), "row": np.arange(size)}).with_columns(
                pl.when(pl.col("k") < random.integers(0, 4)).then(None).otherwise(pl.col("k")).alias("k"))
            for size in random.integers(0, 6, 2)
        )
        if random.random() < 0.4:
            right = pl.concat([right, right[:1]])
        try:
            expected = left.join(right, on="k", how="left", validate=validate, nulls_equal=missing_equal)
        except pl.exceptions.ComputeError:
            refused += 1
            for one, other in ((left, right), (left.to_arrow(), right.to_arrow())):
                with pytest.raises(ValueError, match=f"so this is no {validate} merge; that of row"):
                    raydex.merge(one, other, "left", on="k", validate=validate, missing_equal=missing_equal)
            continue
        found = raydex.merge(left, right, "left", on="k", validate=validate, missing_equal=missing_equal)
        assert len(found) == len(expected)
    assert refused > 0 or validate in ("1:m", "m:m")


def test_words_of_a_merge_that_are_refused():
    frame = pd.DataFrame({"k": [1, 1], "_merge": [0, 0]})
    for words, said in [
        ({"validate": "1-1"}, "validate: '1-1' is none of one_to_one"),
        ({"validate": ["1:1"]}, "validate: .* is none of"),
        ({"indicator": 3}, "indicator: 3 is neither True, False nor a name"),
        ({"indicator": True}, "indicator: left has a column '_merge'; give another name"),
        ({"indicator": "k"}, "indicator: left has a column 'k'"),
    ]:
        with pytest.raises(raydex.InvalidArgument, match=said):
            raydex.merge(frame, frame, on="k", **words)
    with pytest.raises(raydex.Error, match="not unique in right, so this is no m:1 merge; that of row 0 is there 2 t"):
        raydex.merge(frame, frame, on="k", validate="m:1", suffixes=("", "_r"))


def test_refusals():
    frame = pd.DataFrame({"k": [1], "v": [1]})
    for words, error in (
        ({"how": "outr"}, "how: 'outr' is none of inner, left, right, outer, full, semi, anti"),
        ({"how": "cross"}, r"all pairs of rows are left.merge\(right, 'cross'\) in pandas"),
        ({"how": "left_anti"}, "it is 'anti' here"),
        ({"on": "u"}, "left: it has no column 'u', only k, v"),
        ({"left_on": "k"}, "left_on: give right_on, too"),
        ({"on": "k", "left_on": "k"}, "on: give it alone, or left_on and right_on"),
        ({"on": []}, "on: no name of a column is in both frames"),
        ({"on": "k", "suffixes": ("", None)}, "suffixes: with .* both frames have a column v"),
        ({"on": "k", "suffixes": "_x"}, "suffixes: '_x' are no two"),
        ({"left_index": True}, "left_on: the key of left has 1 columns, that of right 0"),
        ({"left_index": True, "left_on": "k"}, "on: the key of a side is its index, or columns"),
        ({"on": "k", "right_index": True}, "on: the key of a side is its index, or columns"),
    ):
        with pytest.raises(ValueError, match=error):
            raydex.merge(frame, frame, **words)
    with pytest.raises(ValueError, match="on: no name of a column is in both frames"):
        raydex.merge(frame, frame.rename(columns=str.upper))
    for kind, name in ((pl.from_pandas, "Polars"), (pa.table, "pyarrow")):
        with pytest.raises(ValueError, match=f"left_index: frames of {name} have no index; name columns"):
            raydex.merge(kind(frame), kind(frame), left_index=True, right_index=True)
    with pytest.raises(TypeError, match="right: a frame of pyarrow, but left is one of pandas"):
        raydex.merge(frame, pa.table(frame), on="k")
    with pytest.raises(TypeError, match="left_index: 1 is neither True nor False"):
        raydex.merge(frame, frame, left_index=1)


def class_of(module, name):
    return type(name, (), {"__module__": module})


@pytest.mark.parametrize("frame,advice", [
    (pl.LazyFrame({"k": [1]}), r"a polars.*LazyFrame is no data frame; give x.collect\(\)"),
    (pa.record_batch({"k": [1]}), r"RecordBatch is no data frame; give pyarrow.table\(x\)"),
    ({"k": [1]}, "a builtins.dict is no data frame; give one of pandas or Polars or pyarrow"),
    (class_of("dask.dataframe.dask_expr._collection", "DataFrame")(), "raydex.dask has joins of these"),
    (class_of("_duckdb", "DuckDBPyRelation")(), r"give x.df\(\), x.pl\(\) or x.to_arrow_table\(\)"),
])
def test_what_is_no_frame(frame, advice):
    merges = {raydex.merge: {"on": "k"}, raydex.merge_asof: {"on": "k"}, raydex.merge_range: {"on": "k", "distance": 1},
              raydex.merge_intervals: {"on": ["k", "k"]}}
    for merge, words in merges.items():
        with pytest.raises(TypeError, match=advice):
            merge(frame, frame, **words)


@pytest.mark.parametrize("module", ["_merging", "_range_merging"])
def test_examples(module):
    found = doctest.testmod(importlib.import_module(f"raydex.{module}"))
    assert found.attempted > 0 and found.failed == 0


def test_objects_with_nan_are_missing():
    """As pandas has them, in optional columns of texts and of whole numbers."""
    pd = pytest.importorskip("pandas")
    for left, right in (
        (["x", None], [None, np.nan]), (["x", np.nan], [np.nan, np.nan]), ([2**60 + 1, np.nan], [None, 2**60 + 1]),
    ):
        frames = pd.DataFrame({"k": pd.Series(left, dtype=object)}), pd.DataFrame({"k": pd.Series(right, dtype=object)})
        found = raydex.merge(frames[0].assign(a=[0, 1]), frames[1].assign(b=[0, 1]), on="k")
        theirs = frames[0].assign(a=[0, 1]).merge(frames[1].assign(b=[0, 1]), on="k")
        assert found[["a", "b"]].to_numpy().tolist() == theirs[["a", "b"]].to_numpy().tolist()


def test_names_that_are_missing_are_said():
    pd = pytest.importorskip("pandas")
    left, right = pd.DataFrame({"k": [1]}), pd.DataFrame({"k": [1], "v": [2]})
    for frames, asked, error in (
        ((left, right), {"left_on": "k"}, "left_on: give right_on, too"),
        ((left, right), {"right_on": "k"}, "right_on: give left_on, too"),
        ((pd.DataFrame(), right), {"on": "k"}, "left: it has no column 'k', nor any other"),
        ((left, right.set_index("k")), {"on": "k"}, "no column 'k', but an index of this name; give right.reset_in"),
    ):
        with pytest.raises(raydex.InvalidArgument, match=error):
            raydex.merge(*frames, **asked)
