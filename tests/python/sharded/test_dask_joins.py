# SPDX-License-Identifier: Apache-2.0
"""raydex.dask.join against the merges of pandas and Dask."""

import hypothesis
import hypothesis.strategies as st
import numpy as np
import pytest
import raydex

dask = pytest.importorskip("dask", reason="Dask is missing")
dd = pytest.importorskip("dask.dataframe", reason="Dask's data frames are missing")
distributed = pytest.importorskip("distributed", reason="distributed is missing")
pd = pytest.importorskip("pandas")
pa = pytest.importorskip("pyarrow")
rd = pytest.importorskip("raydex.dask")

from raydex.dask import _cells, _joins  # noqa: E402


def parted(frame, parts):
    pieces = [frame.iloc[begin:end] for begin, end in zip([0, *parts], [*parts, len(frame)])]
    return dd.from_delayed([dask.delayed(piece) for piece in pieces], meta=frame.iloc[:0], verify_meta=False)


def same_rows(found, expected):
    """Equal as sets of rows, with the same columns and dtypes."""
    assert list(found.columns) == list(expected.columns)
    order = list(expected.columns)
    found, expected = (x.sort_values(order, ignore_index=True) for x in (found, expected))
    pd.testing.assert_frame_equal(found, expected)


def as_left(joined, columns):
    """A left join of pandas as one of raydex.dask, whose integers are floating ones in any case."""
    return joined.astype(dict.fromkeys(columns, "float64"))


def tables(random, left=700, right=500):
    one = pd.DataFrame({"k": random.integers(0, 150, left), "v": np.arange(left), "w": random.random(left)})
    other = pd.DataFrame({"k": random.integers(0, 180, right), "v": np.arange(right), "z": random.random(right)})
    return one, other


@pytest.mark.parametrize("broadcast", [False, True])
@pytest.mark.parametrize("how", ["inner", "left"])
def test_as_merge(how, broadcast, random):
    one, other = tables(random)
    left, right = parted(one, [50, 50, 300]), parted(other, [499])
    joined = rd.join(left, right, on="k", how=how, broadcast=broadcast)
    same_rows(joined.compute(), one.merge(other, on="k", how=how))
    same_rows(joined.compute(), left.merge(right, on="k", how=how).compute())
    assert (joined.dtypes == joined.compute().dtypes).all()
    assert joined.npartitions == 4
    joined = rd.join(right, left, left_on="v", right_on="k", how=how, broadcast=broadcast, suffixes=("", "_r"))
    same_rows(joined.compute(), other.merge(one, left_on="v", right_on="k", how=how, suffixes=("", "_r")))


@pytest.mark.parametrize("broadcast", [False, True])
@pytest.mark.parametrize("types", [("int64", "float64"), ("float64", "int64"), ("int64", "uint64")])
def test_keys_of_two_types(broadcast, types, random):
    """Of equal keys, whatever their types, both rows are sent to one shard."""
    one, other = tables(random)
    keys = [frame.k / (1 + (dtype == "float64")) for frame, dtype in zip((one, other), types)]
    one, other = (frame.assign(k=key.astype(dtype)) for frame, key, dtype in zip((one, other), keys, types))
    joined = rd.join(parted(one, [50, 300]), parted(other, [499]), on="k", broadcast=broadcast)
    found = raydex.merge(one, other, on="k")
    assert len(found) > 0
    same_rows(joined.compute(), found)


@pytest.mark.parametrize("broadcast", [False, True])
@pytest.mark.parametrize("how", ["right", "full", "outer"])
def test_rows_of_the_right_side_alone(how, broadcast, random):
    one, other = tables(random)
    one["k"] = one["k"].where(one["k"] > 20, 2**62 + one["k"])  # no floating number
    left, right = parted(one, [50, 50, 300]), parted(other, [499])
    broadcast = broadcast and how == "right"
    merged = "outer" if how == "full" else how
    lacked = ["v_x"] if how == "right" else ["v_x", "v_y"]
    joined = rd.join(left, right, on="k", how=how, broadcast=broadcast)
    assert (joined.dtypes == joined.compute().dtypes).all() and joined.dtypes["k"] == "int64"
    same_rows(joined.compute(), as_left(one.merge(other, on="k", how=merged), lacked))
    other = other.rename(columns={"k": "q"}).assign(q=pd.array(other["k"], "Int64"))
    other.loc[random.random(len(other)) < 0.1, "q"] = pd.NA
    joined = rd.join(left, parted(other, [100]), left_on="k", right_on="q", how=how, broadcast=broadcast)
    expected = one.merge(other, left_on="k", right_on="q", how=merged)
    lacked = ["k", *lacked]
    same_rows(joined.compute(), as_left(expected, lacked))


@pytest.mark.parametrize("broadcast", [False, True])
@pytest.mark.parametrize("of_dates", [False, True])
def test_times_of_two_units(broadcast, of_dates, random):
    days = np.array([*random.integers(-50, 50, 100), 10**6, -(10**6)])  # the last ones beyond nanoseconds
    seconds = (days * 86400).view("M8[s]")
    dates = pd.array(pa.array(days.astype("int32")).cast(pa.date32()), pd.ArrowDtype(pa.date32()))
    one = pd.DataFrame({"k": dates if of_dates else seconds, "v": np.arange(102)})
    other = pd.DataFrame({"k": seconds.astype("M8[ns]"), "w": np.arange(102)})
    left, right = parted(one, [20, 50]), parted(other, [60])
    found = rd.join(left, right, on="k", broadcast=broadcast, shards=3).compute()
    wanted = raydex.join(other["k"], one["k"])
    assert sorted(zip(found["v"], found["w"])) == sorted(zip(wanted.probe, wanted.build))


@pytest.mark.parametrize("broadcast", [False, True])
def test_semi_and_anti(broadcast, random):
    one, other = tables(random)
    one.index = random.permutation(len(one))
    left, right = parted(one, [50, 300]), parted(other, [10])
    there = one["k"].isin(other["k"])
    for how, expected in (("semi", one[there]), ("anti", one[~there])):
        found = rd.join(left, right, on="k", how=how, broadcast=broadcast).compute()
        pd.testing.assert_frame_equal(found.sort_index(), expected.sort_index())


def test_shards_are_even(random):
    one, other = tables(random, 20_000, 3000)
    joined = rd.join(parted(one, [9000]), parted(other, [100]), on="k", how="semi", shards=5, broadcast=False)
    sizes = joined.map_partitions(len).compute()
    assert len(sizes) == 5 and max(sizes) < 1.5 * np.mean(sizes)
    keys = [part["k"].compute() for part in joined.partitions]
    assert all(one.max() < other.min() for one, other in zip(keys, keys[1:]))


@pytest.mark.parametrize("missing_equal", [False, True])
@pytest.mark.parametrize("dtype", ["Int64", "datetime64[ns]", "str"])
def test_missing_keys_match_nothing(dtype, missing_equal, random):
    one, other = tables(random, 200, 100)
    for frame in (one, other):
        frame["k"] = frame["k"].astype("int64" if dtype == "str" else dtype)
        if dtype == "str":
            frame["k"] = frame["k"].map("a long key, number {:04}".format)
        frame["k"] = frame["k"].mask(random.random(len(frame)) < 0.1)
    left, right = parted(one, [0, 50]), parted(other, [40])
    for how in ("inner", "left"):
        expected = left.merge(right if missing_equal else right[right["k"].notnull()], on="k", how=how).compute()
        for broadcast in (False, True):
            found = rd.join(left, right, on="k", how=how, broadcast=broadcast, missing_equal=missing_equal)
            same_rows(found.compute(), expected)
    found = rd.join(left, right, on="k", how="anti", shards=3, broadcast=False).compute()
    assert len(found) == (~one["k"].isin(other["k"].dropna())).sum()


def test_nan_equals_nan():
    one = pd.DataFrame({"k": [1.0, np.nan, -0.0]})
    left, right = parted(one, [1]), parted(pd.DataFrame({"k": [np.nan, 0.0], "x": [1, 2]}), [1])
    assert sorted(rd.join(left, right, on="k", shards=3, broadcast=False)["x"].compute()) == [1, 2]


def test_keys_of_several_columns(random):
    one, other = tables(random)
    for frame in (one, other):
        frame["k"] = frame["k"] % 7
        frame["c"] = random.choice(["x", "yy", "zzz"], len(frame))
    left, right = parted(one, [300]), parted(other, [100, 200])
    for how in ("inner", "left"):
        found = rd.join(left, right, on=["k", "c"], how=how, broadcast=False).compute()
        expected = left.merge(right, on=["k", "c"], how=how).compute()
        same_rows(found, as_left(expected, ["v_y"] if how == "left" else []))


def test_keys_of_two_dtypes(random):
    one, other = tables(random)
    one["k"] = one["k"].astype("int32")
    found = rd.join(parted(one, [10]), parted(other, [10]), on="k", how="semi", broadcast=False).compute()
    assert len(found) == one["k"].isin(other["k"]).sum()


def test_empty_sides(random):
    one, other = tables(random)
    for left, right in ((one, other[:0]), (one[:0], other), (one[:0], other[:0])):
        for how in ("inner", "left"):
            found = rd.join(parted(left, [0]), parted(right, [0, 0]), on="k", how=how, broadcast=False).compute()
            expected = left.merge(right, on="k", how=how)
            assert len(found) == len(expected) and list(found.columns) == list(expected.columns)


@hypothesis.settings(max_examples=15)
@hypothesis.given(st.data())
def test_any_tables(data):
    keys = st.lists(st.one_of(st.none(), st.integers(0, 8)), min_size=1, max_size=25)
    frames = [pd.DataFrame({"k": pd.array(data.draw(keys), dtype="Int64")}) for _ in range(2)]
    one, other = (frame.assign(**{name: np.arange(len(frame))}) for name, frame in zip("ab", frames))
    left, right = (parted(frame, sorted(data.draw(st.lists(st.integers(0, len(frame)), max_size=3))))
                   for frame in (one, other))
    how = data.draw(st.sampled_from(["inner", "left"]))
    shards, broadcast = data.draw(st.integers(1, 4)), data.draw(st.booleans())
    found = rd.join(left, right, on="k", how=how, shards=shards, broadcast=broadcast)
    expected = one.merge(other.dropna(), on="k", how=how)
    same_rows(found.compute(), expected.astype({"b": "float64"} if how == "left" else {}))


def off_by_a_byte(buffer):
    """The same bytes at an odd address, as where Dask has received them."""
    shifted = np.empty(buffer.size + 1, np.uint8)
    shifted[1:] = np.frombuffer(buffer, np.uint8)
    return pa.py_buffer(shifted).slice(1)


@pytest.mark.parametrize("of", ["numbers", "strings", "arrow"])
def test_columns_at_odd_addresses(of):
    if of == "numbers":
        column = np.ndarray(9, "int64", np.empty(73, np.uint8), 1)
        column[:] = np.arange(9) % 4
    elif of == "strings":
        given = pa.array([f"a long string {i % 4}" for i in range(9)])
        column = pa.Array.from_buffers(pa.string(), 9, [None, *map(off_by_a_byte, given.buffers()[1:])])
    else:
        column = pa.Array.from_buffers(pa.int64(), 9, [None, off_by_a_byte(pa.array(np.arange(9) % 4).buffers()[1])])
    key = column if of == "numbers" else pd.arrays.ArrowExtensionArray(column)
    plan = _joins.Plan(["k"], ["k"], "inner", ("_x", "_y"), False, {})
    frame = pd.DataFrame({"k": key}, copy=False)
    assert len(plan.join(frame, frame)) == 21
    if of != "strings":
        assert list(_cells.cells_of("x", frame["k"]).array) == list(np.arange(9) % 4)


def test_errors(random):
    one, other = tables(random)
    left, right = parted(one, [10]), parted(other, [10])
    with pytest.raises(raydex.InvalidType, match="right: a pandas.*is no Dask DataFrame"):
        rd.join(left, other, on="k")
    with pytest.raises(raydex.InvalidArgument, match="seed: -1; legal are 0 to"):
        rd.join(left, right, on="k", seed=-1)
    assert len(rd.join(left, right, on="k", seed=3)) == len(rd.join(left, right, on="k"))
    with pytest.raises(raydex.InvalidArgument, match="broadcast: True, but a full join has the rows of both sides"):
        rd.join(left, right, on="k", how="full", broadcast=True)
    with pytest.raises(raydex.InvalidArgument, match="how: 'cross'"):
        rd.join(left, right, on="k", how="cross")
    with pytest.raises(raydex.InvalidArgument, match="on: give on, or left_on and right_on"):
        rd.join(left, right)
    with pytest.raises(raydex.InvalidArgument, match="on: give"):
        rd.join(left, right, on="k", left_on="k")
    with pytest.raises(raydex.InvalidArgument, match="right_on: 1 columns"):
        rd.join(left, right, left_on=["k", "v"], right_on=["k"])
    with pytest.raises(raydex.InvalidArgument, match="left: it has no column 'q'; it has k, v, w"):
        rd.join(left, right, on="q")
    with pytest.raises(raydex.InvalidArgument, match="broadcasts: join has no such argument.*do you mean broadcast"):
        rd.join(left, right, on="k", broadcasts=True)
    twice = dd.from_pandas(pd.DataFrame([[1, 2]], columns=["k", "k"]), npartitions=1)
    with pytest.raises(raydex.InvalidArgument, match="left: two columns are called 'k'"):
        rd.join(twice, right, on="k")
    with pytest.raises(raydex.InvalidArgument, match="shards: -1"):
        rd.join(left, right, on="k", shards=-1)


def test_on_a_cluster(random):
    one, other = tables(random, 5000, 3000)
    names = pd.DataFrame({"k": np.arange(180), "name": [f"a long name, number {i:03}" for i in range(180)]})
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, dashboard_address=":0", silence_logs=50) as cluster:
        with distributed.Client(cluster):
            left, right = parted(one, [1000, 1000, 4000]), parted(other, [999, 2000])
            for how in ("inner", "left"):
                expected = as_left(one.merge(other, on="k", how=how), ["v_y"] if how == "left" else [])
                same_rows(rd.join(left, right, on="k", how=how).compute(), expected)
            # Strings go from worker to worker, too.
            named = left.merge(parted(names, []), on="k")
            found = rd.join(named, parted(names, [50]), on="name", broadcast=False).compute()
            same_rows(found, named.merge(parted(names, [50]), on="name").compute())
            # Of what workers have already.
            left = left.persist()
            same_rows(rd.join(left, right, on="k").compute(), one.merge(other, on="k"))
