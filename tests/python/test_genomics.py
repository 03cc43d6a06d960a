# SPDX-License-Identifier: Apache-2.0
"""`raydex.genomics` against bioframe, on frames with chromosomes that one side lacks, intervals without a length,
nested and equal ones, and missing rows."""

import doctest
import os

import numpy as np
import pytest
import raydex

pd = pytest.importorskip("pandas")
pl = pytest.importorskip("polars")
pytest.importorskip("pyarrow")
bioframe = pytest.importorskip("bioframe")

from raydex import genomics  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore")  # of bioframe, from pandas
SEEDS = range(12 // int(os.environ.get("RAYDEX_TEST_SHARE", "1/1").removeprefix("1/")) or 1)


@pytest.fixture(params=SEEDS)
def drawn(request):
    return np.random.default_rng([request.param, int(os.environ.get("RAYDEX_TEST_SEED", "1"))])


def frame(random, rows=None, missing=0.1, names=("chrom", "start", "end"), categorical=True):
    """Intervals of few chromosomes; many are equal, nested, or empty."""
    rows = int(random.integers(0, 60)) if rows is None else rows
    span = int(random.choice([8, 40, 200]))
    start = random.integers(0, span, rows)
    chroms = random.choice(["chr1", "chr10", "chr2", "chrX"], rows, p=random.dirichlet([1] * 4))
    made = pd.DataFrame({
        names[0]: chroms.astype(object), names[1]: start,
        names[2]: start + random.integers(0, int(random.choice([2, 8, 40])), rows),
        "strand": random.choice(["+", "-", "."], rows).astype(object), "score": random.integers(0, 99, rows),
    })
    made.index = np.sort(random.permutation(3 * rows)[:rows])  # bioframe orders rows by these
    if missing and random.random() < 0.6:
        made = made.astype({names[1]: "Int64", names[2]: "Int64"})
        made.loc[random.random(rows) < missing, list(names)] = pd.NA
        made.loc[random.random(rows) < missing, "strand"] = None
    if made[names[0]].notna().all() and categorical is not False and random.random() < 0.3:
        # Of categories that are missing bioframe leaves the rows out.
        made[names[0]] = pd.Categorical(made[names[0]], ["chr1", "chr10", "chr2", "chrX"])
    return made


def two_frames(random):
    """Of which one may have missing rows: bioframe lets some of two frames overlap, and stumbles over a last one."""
    df1, df2 = frame(random), frame(random, missing=0)
    if random.random() < 0.5 and len(df1) and df1["start"].isna().iloc[-1] != True:  # noqa: E712
        return df2, df1
    return df1, df2


def plain(table):
    """A frame as rows of Python's values, None where missing."""
    if isinstance(table, pl.DataFrame):
        return table.columns, [tuple(row) for row in table.rows()]
    def cell(x):
        if x is None or x is pd.NA or x is pd.NaT or (isinstance(x, float) and np.isnan(x)):
            return None
        x = x.item() if isinstance(x, np.generic) else x
        return int(x) if isinstance(x, float) and x == int(x) else x
    return list(table.columns), [tuple(map(cell, row)) for row in table.astype(object).itertuples(index=False)]


def in_any_order(rows):
    return sorted(rows, key=lambda row: [(one is not None, str(type(one)), one) if one is not None else (False, "", 0)
                                         for one in row])


def same(found, expected, ordered=True):
    (names, rows), (other_names, other_rows) = plain(found), plain(expected)
    assert list(names) == list(other_names)
    assert (rows if ordered else in_any_order(rows)) == (other_rows if ordered else in_any_order(other_rows))


def polars(table):
    return pl.from_pandas(table.reset_index(drop=True))


def both(function, *frames, **said):
    """The answers on frames of pandas and of Polars, which are the same but for what an index calls rows."""
    before = [one.copy() for one in frames]
    found = getattr(genomics, function)(*frames, **said)
    for one, other in zip(frames, before):
        pd.testing.assert_frame_equal(one, other)
    if not said.get("return_index"):
        same(getattr(genomics, function)(*map(polars, frames), **said), found)
    return found


@pytest.mark.parametrize("how", ["left", "inner", "right", "outer"])
@pytest.mark.parametrize("on", [None, ["strand"]])
def test_overlap(drawn, how, on):
    df1, df2 = two_frames(drawn)
    if not len(df1) or not len(df2):  # bioframe takes their last row
        return
    for said in ({}, {"return_index": True, "return_overlap": True}, {"return_input": False, "return_index": "row",
                 "return_overlap": "both", "suffixes": ("_a", "_b")}):
        found = both("overlap", df1, df2, how=how, on=on, **said)
        expected = bioframe.overlap(df1, df2, how=how, on=on, **said)
        same(found, expected, ordered=how == "left")
        if how == "left":
            for name in expected.columns:
                if name.startswith(("start", "end", "index")):
                    assert found.dtypes[name] == expected.dtypes[name], name


def test_overlap_is_ordered(drawn):
    df1, df2 = frame(drawn, missing=0), frame(drawn, missing=0)
    df1, df2 = (one.reset_index(drop=True) for one in (df1, df2))
    found = genomics.overlap(df1, df2, "inner", return_index=True)
    rows = list(zip(found["index"], found["index_"]))
    assert rows == sorted(rows)
    found = genomics.overlap(df1, df2, "right", return_index=True)
    rows = list(zip(found["index_"], found["index"].fillna(-1)))
    assert rows == sorted(rows) and set(found["index_"]) == set(range(len(df2)))


def test_counts_and_coverage(drawn):
    df1, df2 = two_frames(drawn)
    if not len(df1) or not len(df2):
        return  # bioframe takes their last row
    for on in (None, ["strand"]):
        found = both("count_overlaps", df1, df2, on=on)
        same(found, bioframe.count_overlaps(df1.copy(), df2.copy(), on=on))
    found = both("coverage", df1, df2)
    same(found, bioframe.coverage(df1.copy(), df2.copy()))
    same(both("coverage", df1, df2, return_input=False), found[["coverage"]])


def test_setdiff(drawn):
    df1, df2 = two_frames(drawn)
    for on in (None, ["strand"]):
        pd.testing.assert_frame_equal(both("setdiff", df1, df2, on=on), bioframe.setdiff(df1, df2, on=on))


@pytest.mark.parametrize("min_dist", [0, None, 3])
def test_cluster_and_merge(drawn, min_dist):
    df = frame(drawn, rows=int(drawn.integers(1, 60)))
    for on in (None, ["strand"]):
        found = both("cluster", df, min_dist=min_dist, on=on)
        expected = bioframe.cluster(df, min_dist, on=on)
        same(found, expected)
        assert found.dtypes["cluster_end"] == expected.dtypes["cluster_end"]
        expected = bioframe.merge(df, min_dist, on=on)
        names = ["chrom", "start", "end", *(on or []), "n_intervals"]
        same(both("merge", df, min_dist=min_dist, on=on), expected[names])
    same(both("cluster", df, min_dist=min_dist, return_input=False, return_cluster_intervals=False),
         bioframe.cluster(df, min_dist, return_input=False, return_cluster_intervals=False))


def test_complement(drawn):
    df = frame(drawn, categorical=False, rows=int(drawn.integers(1, 60)))
    same(both("complement", df), bioframe.complement(df))
    sizes = {"chr1": 50, "chr2": 30, "chr3": 9}
    same(both("complement", df, view_df=sizes), bioframe.complement(df, sizes))
    same(genomics.complement(df, pd.Series(sizes)), bioframe.complement(df, pd.Series(sizes)))
    view = pd.DataFrame({"chrom": ["chr1", "chr1", "chr10", "chrX", "chr2"], "start": [0, 20, 5, 0, 3],
                         "end": [20, 60, 8, 100, 9], "name": ["p", "q", "b", "x", "a"]})
    found = genomics.complement(df, view)
    same(found, bioframe.complement(df, view))
    same(genomics.complement(polars(df), polars(view)), found)


def test_subtract(drawn):
    df1, df2 = frame(drawn, rows=int(drawn.integers(1, 60)), missing=0), frame(drawn)
    for said in ({}, {"return_index": True}):
        found = both("subtract", df1, df2, **said)
        expected = bioframe.subtract(df1, df2, **said)
        same(found, expected)
        assert list(found.dtypes.astype(str))[:3] == list(expected.dtypes.astype(str))[:3]


def listed_once(table):
    """Without pairs that bioframe lists twice: intervals without a length are overlaps and neighbours."""
    return not table.duplicated(["index", "index_"]).any()


@pytest.mark.parametrize("said", [
    {}, {"k": 3}, {"ignore_overlaps": True}, {"ignore_upstream": True, "k": 2}, {"ignore_downstream": True},
    {"direction_col": "strand", "ignore_upstream": True},
    {"direction_col": "strand", "ignore_downstream": True, "k": 4},
    {"ignore_overlaps": True, "ignore_upstream": True, "k": 2},
], ids=str)
def test_closest(drawn, said):
    df1, df2 = two_frames(drawn)
    found = both("closest", df1, df2, **said)
    if not len(df1) or not len(df2):  # bioframe takes their last row
        return
    asked = {**said, "return_index": True, "return_overlap": True}
    found = genomics.closest(df1, df2, **asked)
    expected = bioframe.closest(df1, df2, **asked)
    assert list(found.columns) == list(expected.columns)
    assert listed_once(found)
    # Of equally close ones which is not promised, so that distances are compared.
    if not listed_once(expected):
        return
    distances = [sorted((int(i), -1 if d is pd.NA else int(d)) for i, d in zip(one["index"], one["distance"]))
                 for one in (found, expected)]
    assert distances[0] == distances[1]
    for name in ("start_", "end_", "distance", "have_overlap", "overlap_start", "index_"):
        assert str(found.dtypes[name]) == ("boolean" if name == "have_overlap" else "Int64")


def by_hand(df, k, ignore_overlaps):
    """Distances to the closest other intervals."""
    rows = list(df[["chrom", "start", "end"]].itertuples(index=False))
    found = []
    for at, (chrom, start, end) in enumerate(rows):
        apart = []
        for other_at, (other, begin, stop) in enumerate(rows):
            if other == chrom and other_at != at:
                overlaps = start < max(stop, begin + 1) and begin < max(end, start + 1)
                beside = stop <= start or end <= begin
                if beside or (overlaps and not ignore_overlaps):
                    apart.append(max(0, begin - end, start - stop))
        found += [(at, one) for one in sorted(apart)[:k] or [None]]
    return found


def test_closest_of_one_set(drawn):
    df = frame(drawn, missing=0, rows=int(drawn.integers(1, 40))).reset_index(drop=True)
    for k in (1, 3):
        for ignore_overlaps in (False, True):
            found = genomics.closest(df, k=k, ignore_overlaps=ignore_overlaps, return_index=True)
            assert (found["index"] != found["index_"]).fillna(True).all()
            assert plain(found[["index", "distance"]])[1] == by_hand(df, k, ignore_overlaps)


def test_names_of_columns(drawn):
    own, other = ("chromosome", "begin", "stop"), ("c", "s", "e")
    df1, df2 = frame(drawn, rows=20, names=own), frame(drawn, rows=20, names=other, missing=0)
    same(both("overlap", df1, df2, cols1=own, cols2=other, return_overlap=True),
         bioframe.overlap(df1, df2, cols1=own, cols2=other, return_overlap=True))
    same(both("merge", df1, cols=own), bioframe.merge(df1, cols=own)[[*own, "n_intervals"]])
    same(both("count_overlaps", df1, df2, cols1=own, cols2=other),
         bioframe.count_overlaps(df1.copy(), df2, cols1=own, cols2=other))
    same(both("coverage", df1, df2, cols1=own, cols2=other), bioframe.coverage(df1.copy(), df2, cols1=own, cols2=other))


def test_empty_frames():
    empty, some = (pd.DataFrame({"chrom": pd.Series(chroms, dtype=object), "start": np.zeros(len(chroms), "int64"),
                                 "end": np.full(len(chroms), 9)}) for chroms in ([], ["chr1", "chr2"]))
    for df1, df2 in ((empty, some), (some, empty), (empty, empty.copy())):
        for name in ("overlap", "count_overlaps", "coverage", "setdiff", "closest"):
            assert len(both(name, df1, df2)) == len(df1)
        if len(df1) or len(df2):
            assert len(both("subtract", df1, df2)) == len(df1)
    for name in ("cluster", "merge", "complement"):
        assert len(both(name, empty)) == 0
    assert both("complement", empty, view_df={"chr1": 5})["end"].tolist() == [5]


def test_refusals():
    df = pd.DataFrame({"chrom": ["chr1"], "start": [1], "end": [2], "strand": ["+"]})
    for call, text in (
        (lambda: genomics.overlap(df, df, how="both"), "how: 'both' is none of left, right, outer, inner"),
        (lambda: genomics.overlap(df, df, how="inner", keep_order=True), "keep_order: True goes with how='left'"),
        (lambda: genomics.overlap(df, df, on="strand"), "on: 'strand' is no list"),
        (lambda: genomics.overlap(df, df, on=["chrom"]), "on: the chromosome is one of them"),
        (lambda: genomics.overlap(df, df, on=["name"]), "df1: it has no column 'name'"),
        (lambda: genomics.overlap(df, df, cols2=("c", "start", "end")), "df2: it has no column 'c'"),
        (lambda: genomics.overlap(df, df, suffixes="_x"), "suffixes: '_x' are no two"),
        (lambda: genomics.overlap(df, df.assign(end=[0])), "df2: starts exceed ends, first in row 0"),
        (lambda: genomics.merge(df.assign(chrom=[None])), "df: of some rows not all of chrom, start, end are missing"),
        (lambda: genomics.merge(df, min_dist=-1), "min_dist: -1; it must be 0 or more"),
        (lambda: genomics.merge(df, cols=("chrom", "start")), "are no three columns"),
        (lambda: genomics.closest(df, df), "df2: it is df1"),
        (lambda: genomics.closest(df, k=0), "k: 0; it must be a number of 1 or more"),
        (lambda: genomics.closest(df, direction_col="up"), "df1: it has no column 'up'"),
        (lambda: genomics.complement(df, df.assign(name=["a"]).iloc[[0, 0]]), "view_df: two regions have one name"),
        (lambda: genomics.subtract(df.iloc[:0], df.iloc[:0]), "df1: no chromosomes remain"),
    ):
        with pytest.raises(ValueError, match=text):
            call()
    for call, text in (
        (lambda: genomics.overlap(df, polars(df)), "df2: a frame of polars, but df1 is one of pandas"),
        (lambda: genomics.overlap([], df), "df1: a builtins.list is no data frame"),
        (lambda: genomics.merge(df.assign(start=[0.5])), "start.*some cells are no integers"),
        (lambda: genomics.merge(df.assign(start=["a"])), "start.*some cells are no integers"),
    ):
        with pytest.raises(TypeError, match=text):
            call()


def test_examples_and_words():
    assert doctest.testmod(genomics).failed == 0
    for name in genomics.__all__:
        assert getattr(genomics, name).__doc__ and hasattr(bioframe, name)
    assert raydex.genomics is genomics
