# SPDX-License-Identifier: Apache-2.0
"""Rows, some of them none, and what is taken by them, against pandas and Arrow."""

import pickle

import numpy as np
import pytest
import raydex
from hypothesis import given
from hypothesis import strategies as st

pa = pytest.importorskip("pyarrow")
pd = pytest.importorskip("pandas")
pl = pytest.importorskip("polars")

CELLS = [2**53 + 1, 7, -1, 0]


def expected(values, rows):
    return [None if row < 0 else values[row] for row in rows]


def forms(rows):
    """The same rows as they may be given."""
    array = np.array(rows, "int64")
    polars = pl.Series(rows, dtype=pl.Int64)
    return [array, array.astype("int32"), rows, raydex.masked(array), raydex.to_arrow(array), polars]


@given(st.lists(st.integers(-1, 3), max_size=12))
def test_drawn_rows(rows):
    wanted = expected(CELLS, rows)
    for of in forms(rows):
        found = raydex.take(np.array(CELLS), of)
        assert isinstance(found, np.ma.MaskedArray) and found.dtype == np.int64 and found.tolist() == wanted
        for values in (pa.array(CELLS), pa.chunked_array([CELLS[:1], CELLS[1:]])):
            found = raydex.take(values, of)
            assert found.type == pa.int64() and found.to_pylist() == wanted
        assert raydex.take(pa.table({"a": CELLS}), of).to_pydict() == {"a": wanted}
        assert raydex.take(pl.Series("a", CELLS), of).equals(pl.Series("a", wanted, pl.Int64), check_names=True)
        assert raydex.take(pl.DataFrame({"a": CELLS}), of).equals(pl.DataFrame({"a": wanted}, {"a": pl.Int64}))
        column = pd.Series(CELLS, name="a", dtype="Int64", index=list("wxyz"))
        labels = expected(list("wxyz"), rows)
        for found in (raydex.take(column, of), raydex.take(column.to_frame(), of)["a"]):
            assert found.name == "a" and found.dtype == "Int64"
            assert [None if one is pd.NA else one for one in found] == wanted
            assert [one if isinstance(one, str) else None for one in found.index] == labels
    by_pandas = pd.api.extensions.take(pd.array(CELLS, dtype="Int64"), np.array(rows, "int64"), allow_fill=True)
    assert [None if one is pd.NA else one for one in by_pandas] == wanted  # as `not_found` says


@pytest.mark.parametrize("dtype", ["f4", "S3", "U3", "M8[ns]", "?", "i1", "O", [("a", "i4"), ("b", "f8")]], ids=str)
def test_every_dtype_of_numpy(dtype):
    values = np.arange(4).astype(dtype)
    found = raydex.take(values, [2, -1])
    assert found.dtype == values.dtype and found[0] == values[2]
    assert np.all(found.mask.tolist()[1]) and not np.any(found.mask.tolist()[0])
    assert len(raydex.take(values[:0], [-1, -1])) == 2
    square = np.arange(6).reshape(3, 2)
    assert raydex.take(square, [1, -1]).tolist() == [[2, 3], [None, None]]
    assert raydex.take(np.ma.array([1, 2], mask=[True, False]), [0, 1, -1]).tolist() == [None, 2, None]


@given(st.lists(st.lists(st.integers(0, 3), max_size=4), max_size=6))
def test_matches_as_a_table(lists):
    """What takes tables has a line a match: the number of its probe, and the row."""
    offsets = np.cumsum([0, *map(len, lists)])
    rows = np.array([row for one in lists for row in one], "int64")
    found = raydex.Matches(offsets, rows)
    assert [one is other for one, other in zip(found, (offsets, rows))] == [True, True]
    lines = [(probe, row) for probe, one in enumerate(lists) for row in one]
    assert [tuple(line) for line in np.array(found).tolist()] == lines and np.array(found).shape == (len(lines), 2)
    assert pl.DataFrame(found).rows() == lines and pl.DataFrame(found).columns == ["probe", "row"]
    assert pa.table(found).to_pydict() == {"probe": [one for one, _ in lines], "row": [one for _, one in lines]}
    assert list(pd.DataFrame(found).itertuples(index=False, name=None)) == lines
    assert pd.DataFrame(found, columns=["probe", "row"])["row"].tolist() == rows.tolist()
    assert found.to_arrow().to_pylist() == lists


def test_unpacking_of_matches():
    offsets, rows = found = raydex.build([5, 7, 5]).rows([5, 9, 7])
    assert offsets.tolist() == [0, 2, 2, 3] and rows.tolist() == [0, 2, 1] and found[1] is rows and len(found) == 2
    assert pickle.loads(pickle.dumps(found)).rows.tolist() == rows.tolist()
    assert repr(found).startswith("Matches(offsets=array([0, 2, 2, 3]), rows=")
    match found:
        case raydex.Matches(first, second):
            assert first is offsets and second is rows
    with pytest.raises(ValueError, match="copy: the columns lie apart"):
        found.__array__(copy=False)


def test_masked_rows_are_no_index():
    rows = raydex.build([5, 6]).first([6, 9])
    hidden = raydex.masked(rows)
    assert hidden.tolist() == [1, None] and hidden.filled().tolist() == [1, -1]
    with pytest.raises(IndexError):
        np.array([1.0, 2.0])[hidden]
    assert raydex.to_arrow(rows).to_pylist() == [1, None]


def test_rows_of_joins():
    rows = raydex.join([5, 6], [6, 9, 5], "left")
    assert rows.take(build=np.array([1.5, 2.5])).tolist() == [2.5, None, 1.5]
    assert rows.take(probe=pa.array(["a", "b", "c"])).to_pylist() == ["a", "b", "c"]
    rows = raydex.join([5, 6, 4], [6, 9, 5], "full")
    assert rows.take(build=np.array([1.5, 2.5, 3.5])).tolist() == [2.5, None, 1.5, 3.5]
    assert rows.take(probe=pa.array(["a", "b", "c"])).to_pylist() == ["a", "b", "c", None]
    with pytest.raises(ValueError, match="take: give build or probe"):
        rows.take()
    with pytest.raises(ValueError, match="semi and anti joins have no build rows"):
        raydex.join([5], [5], "semi").take(build=np.array([1]))
    assert raydex.take(np.array([1.0]), raydex.join_asof([5], [4, 5])).tolist() == [None, 1.0]


@pytest.mark.parametrize("values,rows,match", [
    (np.arange(3), [3], "rows: 3 is none of 3 rows, 0 to 2"),
    (np.arange(3), [-2], "rows: -2 is none of 3 rows"),
    (np.arange(3), [0.5], "rows are integers"),
    (pa.array([1]), [1], "rows: 1 is none of 1 rows"),
    ([1, 2], [1], "of a builtins.list no rows are taken"),
    (np.array(3), [0], "without dimensions"),
])
def test_refusals(values, rows, match):
    with pytest.raises(raydex.InvalidArgument, match=match):
        raydex.take(values, rows)


def test_rows_of_texts_of_polars():
    frame = pl.DataFrame({"n": ["a", "b"], "v": [1, 2]})
    assert raydex.take(frame, np.array([1, -1])).rows() == [("b", 2), (None, None)]
    assert raydex.take(frame["n"], np.array([-1, 0])).to_list() == [None, "a"]


def test_labels_of_pandas():
    """Of rows that are there, they are those of pandas' own `take`."""
    times = pd.to_datetime(["2026-01-05", "2026-01-06", "2026-01-07"])
    pairs = pd.MultiIndex.from_tuples([("a", 1), ("a", 2), ("b", 1)], names=["x", "y"])
    for index in (None, [2**53 + 1, 7, 7], [True, False, True], times, pairs, pd.Categorical(["u", "v", "u"])):
        frame = pd.DataFrame({"n": ["a", "b", "c"], "v": [1, 2, 3]}, index=index)
        frame.index.names = [f"level {at}" for at in range(frame.index.nlevels)]
        pd.testing.assert_frame_equal(raydex.take(frame, [2, 0, 2]), frame.take([2, 0, 2]))
        pd.testing.assert_series_equal(raydex.take(frame["v"], [2, 0, 2]), frame["v"].take([2, 0, 2]))
        found = raydex.take(frame, [1, -1])
        assert found.index.names == frame.index.names and found.index[0] == frame.index[1]
        assert found["n"].iloc[0] == "b" and found.iloc[1].isna().all()
        last = found.index[1]
        assert all(map(pd.isna, last)) if isinstance(last, tuple) else pd.isna(last)
        with pytest.raises(raydex.InvalidArgument, match="rows: 3 is none of 3 rows"):
            raydex.take(frame, [3])
    assert len(raydex.take(frame[:0], [-1, -1])) == 2


def test_whole_numbers_of_pandas_stay_whole():
    large = 2**53 + 1  # no double
    frame = pd.DataFrame({"a": [large], "b": [True], "c": np.array([200], "uint8"), "d": [1.5], "e": ["x"]})
    found = raydex.take(frame, [0, -1])
    assert found.dtypes.tolist()[:4] == ["Int64", "boolean", "UInt8", "float64"]
    assert found.iloc[0].tolist() == [large, True, 200, 1.5, "x"] and found.iloc[1].isna().all()
    assert raydex.take(frame, [0, 0]).dtypes.equals(frame.dtypes)
    twice = pd.DataFrame([[large, large]], columns=["a", "a"])
    assert raydex.take(twice, [-1, 0]).iloc[1].tolist() == [large, large]
    assert raydex.join([1], [1, 2], "left").take(build=frame["a"]).tolist() == [large, pd.NA]
    index = pd.MultiIndex.from_arrays([[large, 1], [2, 3]], names=["x", "y"])
    found = raydex.take(pd.Series([1, 2], index=index), [0, -1])
    assert found.index[0] == (large, 2) and found.index.names == ["x", "y"]
    assert found.index.get_level_values(0).dtype == "Int64" and int(found.index.get_level_values(0)[0]) == large


@pytest.mark.parametrize("values", [pd.Series([1, 2]), pd.DataFrame({"a": [1]}), pl.Series([1, 2]), pa.array([1, 2])])
def test_rows_of_several_dimensions(values):
    with pytest.raises(raydex.InvalidArgument, match="rows: an array of 2 dimensions"):
        raydex.take(values, np.array([[0, 1]]))
    assert raydex.take(np.array([5, 6]), np.array([[0, 1]])).tolist() == [[5, 6]]


def test_both_sides_of_a_join_are_beside_each_other():
    build, probe = (pd.DataFrame({name: [1, 2, 3]}, index=[7, 8, 9]) for name in "bp")
    rows = raydex.join(["a", "b", "c"], ["c", "d", "b"], "left")
    found = pd.concat([rows.take(probe=probe), rows.take(build=build["b"])], axis=1)
    assert found["p"].tolist() == [1, 2, 3] and found["b"].fillna(0).tolist() == [3, 0, 2]
    assert list(found.index) == [0, 1, 2]
    with pytest.raises(raydex.InvalidArgument, match="rows: 2 is none of 2 rows"):
        rows.take(build=build[:2])
