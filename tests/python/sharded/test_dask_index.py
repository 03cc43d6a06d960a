# SPDX-License-Identifier: Apache-2.0
"""raydex.dask: indexes against the one index, in this process and on clusters."""

import hypothesis
import hypothesis.strategies as st
import numpy as np
import pytest
import raydex

dask = pytest.importorskip("dask", reason="Dask is missing")
dd = pytest.importorskip("dask.dataframe", reason="Dask's data frames are missing")
distributed = pytest.importorskip("distributed", reason="distributed is missing")
da = pytest.importorskip("dask.array")
pd = pytest.importorskip("pandas")
rd = pytest.importorskip("raydex.dask")

from dask.task_spec import Task, TaskRef  # noqa: E402
from raydex.dask import _graphs  # noqa: E402

equal = np.testing.assert_array_equal
POINT_CALLS = ["first", "count", "contains", "isin", "rank", "predecessor", "successor"]
RANGE_CALLS = ["first", "count"]


def series(values, parts, labels=None):
    """A Series of Dask whose partitions end at `parts`, without divisions."""
    whole = pd.Series(values, name="key")
    if labels is not None:
        whole = whole.set_axis(labels)
    pieces = [whole.iloc[begin:end] for begin, end in zip([0, *parts], [*parts, len(whole)])]
    return dd.from_delayed([dask.delayed(piece) for piece in pieces], meta=whole.iloc[:0], verify_meta=False)


def array(values, chunks):
    return da.from_array(np.asarray(values), chunks=chunks)


def check(index, one, points, upper=None):
    """All answers of an index as those of another one, for points in host memory and of Dask."""
    size = len(points)
    labels = np.arange(size) * 3
    cuts = sorted({0, size // 3, size // 2})
    lazy = series(points, cuts, labels)
    for call in POINT_CALLS:
        expected = getattr(one, call)(points)
        now = getattr(index, call)(points)
        equal(now, expected)
        assert now.dtype == expected.dtype
        asked = getattr(index, call)(lazy)
        found = asked.compute()
        equal(found, expected)
        equal(found.index, labels)
        assert asked.npartitions == lazy.npartitions and found.dtype == asked.dtype == expected.dtype
    equal(index.isin(points, True), one.isin(points, True))
    equal(index.rank(points, "right"), one.rank(points, "right"))
    equal(index.predecessor(points, True), one.predecessor(points, True))
    equal(index.successor(lazy, True), one.successor(points, True))
    check_rows(index.rows(points), index.rows(lazy).compute(), one.rows(points), labels)
    if upper is None:
        return
    lazy_upper = series(upper, cuts, labels)
    for call in RANGE_CALLS:
        expected = getattr(one, call)(points, upper)
        equal(getattr(index, call)(points, upper), expected)
        equal(getattr(index, call)(lazy, lazy_upper), expected)
    check_rows(index.rows(points, upper), index.rows(lazy, lazy_upper).compute(), one.rows(points, upper), labels)


def check_rows(now, lines, expected, labels):
    equal(now.offsets, expected.offsets)
    equal(now.rows, expected.rows)
    equal(lines["row"], expected.rows)
    equal(lines.index, np.repeat(labels, np.diff(expected.offsets)))


def keys_of(kind, size, random):
    numbers = random.integers(-50, 50, size)
    if kind == "str":
        return pd.Series([f"k{number}ü"[:7] for number in numbers])
    if kind == "float64":
        return np.where(random.random(size) < 0.1, np.nan, numbers / 4)
    if kind == "datetime64[ns]":
        return (numbers * 10**9).astype("datetime64[ns]")
    if kind == "Int64":
        return pd.Series(numbers, dtype="Int64").mask(random.random(size) < 0.2)
    if kind == "NaT":
        return pd.Series(pd.to_datetime(numbers, unit="s")).mask(random.random(size) < 0.2)
    if kind == "UTC":
        return pd.Series(pd.to_datetime(numbers, unit="s", utc=True)).mask(random.random(size) < 0.2)
    if kind == "bool":
        return numbers > 0
    return np.abs(numbers).astype(kind) if kind[0] == "u" else numbers.astype(kind)


KINDS = ["int8", "int32", "int64", "uint16", "uint64", "float64", "datetime64[ns]", "timedelta64[us]", "bool",
         "Int64", "NaT", "UTC"]


@pytest.mark.parametrize("kind", KINDS)
def test_dtypes(kind, random):
    keys, points, upper = (keys_of(kind, size, random) for size in (400, 60, 60))
    one = raydex.build(keys)
    index = rd.build(series(keys, [10, 10, 300]), shards=3)
    assert len(index) == len(one) and index.info.n == 400
    check(index, one, points, upper)


def test_times_of_other_units(random):
    far = [-(2**63) + 1, -(2**62), 2**62, 2**63 - 1]
    keys = np.array([*far, *(n * 10**9 // 2 for n in range(-30, 30))]).view("M8[ns]")
    one = raydex.build(keys)
    index = rd.build(series(keys, [10, 10, 30]), shards=3)
    for unit in ("us", "s"):
        points = np.array([*far, *random.integers(-20, 20, 60), 2**63 // 10**9, -(2**63)]).view(f"M8[{unit}]")
        check(index, one, points, points[::-1].copy())


def test_strings(random):
    keys, points = (keys_of("str", size, random) for size in (400, 60))
    points.iloc[5] = None
    one = raydex.build(keys)
    index = rd.build(series(keys, [100]), shards=4)
    lazy = series(points, [20])
    for call in ("first", "count", "contains"):
        equal(getattr(index, call)(lazy), getattr(one, call)(points))
        equal(getattr(index, call)(points), getattr(one, call)(points))
    ordered = np.sort([key.encode() for key in keys])
    there = points.notna()
    ends = [key.encode() for key in points[there]]
    equal(index.rank(points)[there], np.searchsorted(ordered, ends))
    assert index.count("nothing") == 0 and index.count(keys[0]) == one.count(pd.Series([keys[0]]))[0]
    with pytest.raises(raydex.Unsupported, match="of 9 bytes"):
        index.count(pd.Series(["123456789"]))
    with pytest.raises(raydex.InvalidArgument, match="NUL"):
        index.count(pd.Series(["1\0"]))


def test_arrays(random):
    keys, points, upper = random.integers(0, 90, 500), random.integers(-5, 95, 70), random.integers(-5, 95, 70)
    one = raydex.build(keys)
    index = rd.build(array(keys, (7, 293, 200)), shards=5)
    check(index, one, points, upper)
    lazy, ends = array(points, 30), array(upper, 30)
    for call in POINT_CALLS:
        asked = getattr(index, call)(lazy)
        assert asked.chunks == lazy.chunks
        equal(asked.compute(), getattr(one, call)(points))
    lines, expected = index.rows(lazy, ends).compute(), one.rows(points, upper)
    equal(lines["row"], expected.rows)
    equal(lines.index, np.repeat(np.arange(70), np.diff(expected.offsets)))
    some = lazy[lazy > 20]  # of unknown chunks
    equal(index.count(some).compute(), one.count(points[points > 20]))
    expected = one.rows(points[points > 20])
    equal(index.rows(some).compute().index, np.repeat(np.arange(len(expected.offsets) - 1), np.diff(expected.offsets)))


def test_shards_on_a_device_by_its_name(random):
    keys = random.integers(0, 90, 300)
    index = rd.build(array(keys, 100), 3, device="cpu")
    check(index, raydex.build(keys), keys[:50], keys[:50] + 5)
    with pytest.raises(raydex.InvalidArgument, match="device"):
        rd.build(array(keys, 100), device="abacus")


def test_byte_strings_in_arrays(random):
    keys = random.integers(97, 100, (300, 3), dtype=np.uint8).view("S3").reshape(-1)
    check(rd.build(array(keys, 100), shards=3), raydex.build(keys), keys[:50], keys[50:100])


def test_indexes_of_frames_are_columns(random):
    keys = np.sort(random.integers(0, 1000, 300))
    frame = dd.from_pandas(pd.DataFrame({"x": 1}, index=keys), npartitions=3)
    index, one = rd.build(frame.index, shards=2), raydex.build(keys)
    equal(index.count(frame.index).compute(), one.count(keys))
    equal(index.first(frame.index).compute().index, keys)


def test_partitions_and_labels_are_those_of_the_probes(random):
    keys = random.integers(0, 50, 200)
    frame = dd.from_pandas(pd.DataFrame({"a": keys, "b": keys + 3}, index=np.arange(200) * 2), npartitions=4)
    index = rd.build(frame["a"], shards=3)
    for asked in (index.count(frame["a"]), index.count(frame["a"], frame["b"]), index.rows(frame["a"])):
        assert asked.divisions == frame.divisions
        assert asked.partitions[1].compute().index.isin(frame.partitions[1].index.compute()).all()
    assert index.count(frame["a"]).name == "a"
    # As a column of the same table, and computed together with others of it.
    both = frame.assign(count=index.count(frame["a"]), first=index.first(frame["a"])).compute()
    one = raydex.build(keys)
    equal(both["count"], one.count(keys))
    equal(both["first"], one.first(keys))


def test_one_end_may_be_a_number(random):
    keys, points = random.integers(0, 50, 200), np.arange(50)
    index, one = rd.build(series(keys, [70]), shards=3), raydex.build(keys)
    equal(index.count(series(points, [3]), 30), one.count(points, 30))
    equal(index.count(4, series(points, [3])), one.count(4, points))
    assert index.count(7) == one.count(7) and np.ndim(index.count(7)) == 0
    assert index.count(3, 9) == one.count(3, 9) and index.contains(7) == one.contains(7)
    found, expected = index.rows(7), one.rows(7)
    equal(found.rows, expected.rows)
    assert np.ndim(index.count([7])) == 1


@pytest.mark.parametrize("size", [0, 1, 2])
def test_few_rows(size):
    keys = np.arange(size, dtype=np.int32) * 5
    index = rd.build(series(keys, [0, size]), shards=3)
    check(index, raydex.build(keys), np.array([-1, 0, 3, 5, 9], np.int32), np.array([0, 7, 2, 5, 9], np.int32))
    assert len(index) == size and index.info.imbalance >= 1
    assert index.count(series(np.empty(0, np.int32), [])).compute().shape == (0,)


def test_a_hot_key(random):
    keys = np.where(random.random(1000) < 0.5, 77, random.integers(0, 1000, 1000))
    index = rd.build(series(keys, [400]), shards=4)
    check(index, raydex.build(keys), np.arange(70, 90), np.arange(70, 90) + 5)
    assert sum(index.info.entries_per_shard) == 1000 and len(index.info.entries_per_shard) == 4
    assert index.info.imbalance == pytest.approx(max(index.info.entries_per_shard) / 250) and index.info.imbalance > 2


@pytest.mark.parametrize("shards", [1, 2, 7, 40])
def test_numbers_of_shards(shards, random):
    keys, points = random.integers(0, 200, 600), random.integers(0, 200, 40)
    check(rd.build(series(keys, [100, 300]), shards=shards), raydex.build(keys), points, points + 20)


def test_rows_of_its_own(random):
    keys, rows = random.integers(0, 40, 300), random.permutation(2**40 + np.arange(300))
    index, one = rd.build(series(keys, [50]), 3, rows=series(rows, [50])), raydex.build(keys, rows=rows)
    check(index, one, np.arange(40), np.arange(40) + 3)
    assert index.info.row_id_bits == 64
    with pytest.raises(raydex.InvalidArgument, match="rows: a partition of"):
        rd.build(series(keys, [50]), 3, rows=series(rows, [60]))
    with pytest.raises(raydex.InvalidArgument, match="rows: 3 partitions"):
        rd.build(series(keys, [50]), 3, rows=series(rows, [60, 70]))
    with pytest.raises(raydex.InvalidArgument, match="rows: they go from -1"):
        rd.build(series(keys, [50]), 3, rows=series(rows - rows.min() - 1, [50]))


@pytest.mark.parametrize("dtype", ["int32", "uint8", "float32", "Int64"])
def test_sums_of_values(dtype, random):
    keys, numbers = random.integers(0, 40, 300), random.integers(0, 100, 300)
    values = pd.Series(numbers).astype(dtype)
    if dtype == "Int64":
        values = values.mask(random.random(300) < 0.2)
    cuts = [50, 50, 200]
    index, one = rd.build(series(keys, cuts), 3), raydex.build(keys)
    lower, upper = np.arange(-5, 45), np.arange(-5, 45) + 4
    expected = one.sum(lower, upper, values=values)
    found = index.sum(lower, upper, values=series(values, cuts))
    equal(found, expected)
    assert found.dtype == expected.dtype
    asked = index.sum(series(lower, [20]), series(upper, [20]), values=series(values, cuts))
    equal(asked.compute(), expected)
    assert asked.dtype == asked.compute().dtype == expected.dtype
    assert index.sum(3, values=series(values, cuts)) == one.sum(3, values=values)
    with pytest.raises(raydex.InvalidArgument, match="values: which column"):
        index.sum(lower)
    with pytest.raises(raydex.InvalidArgument, match="values: 1 partitions"):
        index.sum(lower, values=series(values, []))
    with pytest.raises(raydex.InvalidArgument, match="values: a partition of"):
        index.sum(lower, values=series(values, [60, 60, 200]))


def test_edits(random):
    keys = random.integers(0, 100, 500)
    index, one = rd.build(series(keys, [200]), 4), raydex.build(keys)
    before = index.count(series(np.arange(100), [50]))
    counts = one.count(np.arange(100))
    more, rows = random.integers(0, 120, 90), np.arange(500, 590)
    index.insert(more[:50], rows[:50])
    one.insert(more[:50], rows[:50])
    check(index, one, np.arange(110), np.arange(110) + 7)
    index.insert(series(more[50:], [10]), series(rows[50:], [10]))
    one.insert(more[50:], rows[50:])
    check(index, one, np.arange(110), np.arange(110) + 7)
    index.erase(keys[:30], np.arange(30))
    one.erase(keys[:30], np.arange(30))
    check(index, one, np.arange(110), np.arange(110) + 7)
    index.erase(series([5, 6, 99], [1]))
    one.erase([5, 6, 99])
    index.erase(7)
    one.erase(7)
    check(index, one, np.arange(110), np.arange(110) + 7)
    assert len(index) == len(one)
    equal(before.compute(), counts)  # of what it was asked of
    with pytest.raises(raydex.InvalidArgument, match="rows"):
        index.insert([1, 2], [1])
    with pytest.raises(raydex.InvalidArgument):
        index.insert([1], [2**40])
    check(index, one, np.arange(110), np.arange(110) + 7)


@hypothesis.settings(max_examples=10)
@hypothesis.given(st.data())
def test_any_columns(data):
    numbers = st.integers(-20, 20) if data.draw(st.booleans()) else st.sampled_from([np.nan, -0.0, 0.0, 1.5, np.inf])
    keys = np.array(data.draw(st.lists(numbers, min_size=1, max_size=40)))
    points = np.array(data.draw(st.lists(numbers, min_size=1, max_size=15))).astype(keys.dtype)
    upper = np.array(data.draw(st.lists(numbers, min_size=len(points), max_size=len(points)))).astype(keys.dtype)
    cuts = sorted(data.draw(st.lists(st.integers(0, len(keys)), max_size=3)))
    index = rd.build(series(keys, cuts), data.draw(st.integers(1, 5)))
    check(index, raydex.build(keys), points, upper)


def test_structures(random):
    keys = random.permutation(1000)[:300]
    index = rd.build(series(keys, [100]), 3, "hash_bucket")
    one = raydex.build(keys)
    assert set(index.info.structures) == {"hash_bucket"}
    for call in ("first", "count", "contains"):
        equal(getattr(index, call)(np.arange(1000)), getattr(one, call)(np.arange(1000)))
    for ask in (lambda: index.rank([1]), lambda: index.count([1], [2]), lambda: index.successor(series([1], []))):
        with pytest.raises(raydex.Unsupported, match="hash_bucket answers points only"):
            ask()
    with pytest.raises(raydex.InvalidArgument, match="load"):
        rd.build(series(keys, [100]), 3, "hash_bucket", load="much")


def test_a_partition_of_missing_cells_alone():
    """It says no type, and is of that of the others."""
    partitions = [pd.Series([5, 3, 5]), pd.Series([None, None], dtype=object), pd.Series([7])]
    column = dd.from_delayed([dask.delayed(one) for one in partitions], meta=partitions[0][:0], verify_meta=False)
    index = rd.build(column, 2)
    assert index.count([3, 5, 7]).tolist() == [1, 2, 1] and index.first([7]).tolist() == [5]


def test_errors(random):
    frame = dd.from_pandas(pd.DataFrame({"a": [1, 2], "b": [3.0, 4.0], "s": ["x", "123456789"]}), npartitions=1)
    with pytest.raises(raydex.InvalidType, match="DataFrame of 3 columns"):
        rd.build(frame)
    with pytest.raises(raydex.InvalidType, match="from_pandas"):
        rd.build(np.arange(3))
    with pytest.raises(raydex.InvalidArgument, match="2 dimensions"):
        rd.build(da.ones((2, 2)))
    with pytest.raises(raydex.InvalidArgument, match="shards: 0"):
        rd.build(frame["a"], 0)
    with pytest.raises(raydex.Unsupported, match="of 9 bytes"):
        rd.build(frame["s"])
    with pytest.raises(raydex.InvalidType, match="complex"):
        rd.build(da.ones(3, dtype=complex))
    mixed = dd.from_delayed([dask.delayed(pd.Series([1])), dask.delayed(pd.Series([1.5]))],
                            meta=pd.Series([], dtype=float), verify_meta=False)
    with pytest.raises(raydex.InvalidType, match="of int64 in partition 0, but of float64 in partition 1"):
        rd.build(mixed)
    index = rd.build(frame["a"], 2)
    assert index.count(frame["b"]).compute().tolist() == [0, 0]
    assert index.count(series([0.5, 1.5], []), series([1.5, 9e99], [])).compute().tolist() == [1, 1]
    with pytest.raises(raydex.InvalidArgument, match="points: 0.5 is no int64, as the keys are"):
        index.rank(series([0.5], [])).compute()
    with pytest.raises(raydex.InvalidArgument, match="side"):
        index.rank([1], "middle")
    with pytest.raises(raydex.InvalidArgument, match="host memory"):
        index.count(frame["a"], np.array([1, 2]))
    with pytest.raises(raydex.InvalidArgument, match="upper: 2 partitions"):
        index.count(frame["a"], series([1, 2], [1]))
    with pytest.raises(raydex.InvalidType, match="Array"):
        index.count(frame["a"], da.ones(2, dtype=int))
    with pytest.raises(raydex.InvalidArgument, match="upper: 3 probes, but lower has 2"):
        index.count(series([1, 2], []), series([1, 2, 3], [])).compute()
    repr(index)
    index.close()
    assert repr(index) == "raydex.dask.Index(closed)"
    with pytest.raises(raydex.InvalidArgument, match="closed"):
        index.count([1])


@pytest.fixture(scope="module", params=["2 processes", "4 processes", "threads"])
def client(request):
    workers = {"2 processes": 2, "4 processes": 4, "threads": 2}[request.param]
    with distributed.LocalCluster(
        n_workers=workers, threads_per_worker=1, processes=request.param != "threads", dashboard_address=":0",
        silence_logs=50) as cluster:
        with distributed.Client(cluster) as client:
            yield client


def check_a_few(index, one, points, upper):
    """As `check`, of few calls, which take a while on a cluster."""
    lazy, ends = series(points, [200, 200]), series(upper, [200, 200])
    expected = one.rows(points, upper)
    found = dask.compute(
        index.count(lazy, ends), index.first(lazy), index.rank(lazy), index.predecessor(lazy), index.isin(lazy),
        index.rows(lazy, ends)["row"],
    )
    equal(found[0], one.count(points, upper))
    for answers, call in zip(found[1:5], ("first", "rank", "predecessor", "isin")):
        equal(answers, getattr(one, call)(points))
    equal(found[5], expected.rows)
    for call in ("successor", "contains"):
        equal(getattr(index, call)(points), getattr(one, call)(points))
    equal(index.rows(points, upper).rows, expected.rows)


def test_on_a_cluster(client, random):
    keys, points = random.integers(0, 3000, 20_000), random.integers(-9, 3010, 500)
    cuts = [9000, 9000, 12_000]
    one, index = raydex.build(keys), rd.build(series(keys, cuts))
    assert index.info.shards == len(client.nthreads())
    workers = index.info.workers
    # Dask may have had another worker build a shard, but it is on one.
    assert all(len(some) == 1 for some in workers)
    check_a_few(index, one, points, points + 20)
    values = random.integers(0, 9, 20_000)
    equal(index.sum(points, points + 2, values=series(values, cuts)), one.sum(points, points + 2, values=values))
    index.insert([5, 2000], [20_001, 20_002])
    one.insert([5, 2000], [20_001, 20_002])
    index.erase(series(points[:10], [5]))
    one.erase(points[:10])
    check_a_few(index, one, points, points + 20)
    # A batch that is sent to workers rather than through the scheduler.
    many = random.integers(0, 3000, 400_000)
    equal(index.count(many), one.count(many))
    assert index.info.workers == workers


def test_small_batches_need_no_tasks(client, random, monkeypatch):
    keys, points = random.integers(0, 3000, 20_000), random.integers(-9, 3010, 500)
    one, index = raydex.build(keys), rd.build(series(keys, [9000]), shards=5)
    monkeypatch.setattr(index._engine, "get", None)
    for call in POINT_CALLS:
        equal(getattr(index, call)(points), getattr(one, call)(points))
    for call in RANGE_CALLS:
        equal(getattr(index, call)(points, points + 20), getattr(one, call)(points, points + 20))
    equal(index.rows(points, points + 20).rows, one.rows(points, points + 20).rows)
    assert index.count(7) == one.count(7)
    with pytest.raises(TypeError):
        index.count(random.integers(0, 3000, 100_000))  # a large one does


def test_tasks_of_a_batch(client, random):
    keys = random.integers(0, 50, 300)
    index, one = rd.build(series(keys, [100]), shards=3), raydex.build(keys)
    frame = dd.from_pandas(pd.DataFrame({"a": keys, "b": keys + 3}), npartitions=2).persist()
    for asked, expected in (
        (index.count(frame["a"] + 1), one.count(keys + 1)),
        (index.count(frame["a"], frame["b"]), one.count(keys, keys + 3)),
    ):
        graph = asked.optimize().__dask_graph__()
        tasks = [key for key, task in graph.items() if not isinstance(task, distributed.Future)]
        names = dask.core.flatten(asked.optimize().__dask_keys__())
        assert len(set(tasks) - set(names)) == 2 * (2 * 3 + 2)
        equal(asked.compute(), expected)
    # Questions of one batch send its probes once.
    both = [index.count(frame["a"]).optimize(), index.first(frame["a"]).optimize()]
    shared = set.intersection(*(set(one.__dask_graph__()) for one in both))
    assert sum("raydex-ends" in str(key) for key in shared) == 2 * 3
    counts, firsts = dask.compute(*both)
    equal(counts, one.count(keys))
    equal(firsts, one.first(keys))


def test_merged_tasks():
    def add(*numbers):
        return sum(numbers)

    def task(key, *needs, more=0):
        return Task(key, add, *(TaskRef(one) for one in needs), more)

    graph = {
        task.key: task
        for task in (
            task("source", more=1), task("shared", "source"), task("left", "shared", more=1), task("right", "shared"),
            task("many", "left", "right"), task("alone", more=3), task("last", "many", "alone"),
            task("other", "left"),
        )
    }
    graph["named"] = graph["alone"]
    graph["also"] = task("also", "named")
    found = _graphs.merged(graph, ["last", "other", "also"])
    # What several need is left as it is, and what needs several is the first of a merged task.
    assert set(found) == {"shared", "source", "left", "right", "last", "other", "also", "named"}
    names = ["last", "other", "also"]
    assert dask.get(found, names) == dask.get(graph, names)


def test_types_on_a_cluster(client, random):
    keys = keys_of("str", 300, random)
    equal(rd.build(series(keys, [100])).count(series(keys, [7])), raydex.build(keys).count(keys))
    keys = keys_of("NaT", 300, random)
    index, one = rd.build(series(keys, [100, 200]).persist()), raydex.build(keys)
    equal(index.first(series(keys, [100, 200]).persist()), one.first(keys))
    keys = random.integers(0, 50, 300)
    column = array(keys, 100).persist()
    index = rd.build(column)
    one_of_floats = raydex.build(keys.astype("f8"))
    equal(index.count(column).compute(), one_of_floats.count(keys))
    equal(index.count(series([1.5, 2.0], [])), one_of_floats.count([1.5, 2.0]))
    with pytest.raises(raydex.Unsupported):
        rd.build(series(["123456789"], []))


def test_shards_stay_where_they_are_placed(random):
    with dask.config.set({"distributed.scheduler.work-stealing": False}), distributed.LocalCluster(
        n_workers=3, threads_per_worker=1, processes=False, dashboard_address=":0", silence_logs=50) as cluster:
        with distributed.Client(cluster) as client:
            keys = random.integers(0, 3000, 3000)
            index = rd.build(series(keys, [100]), shards=6)
            workers = sorted(client.nthreads())
            assert index.info.workers == tuple((worker,) for worker in workers * 2)
            index.insert([1], [3000])
            index.count(series(keys, [2000])).compute()
            index.count(keys)
            assert index.info.workers == tuple((worker,) for worker in workers * 2)
