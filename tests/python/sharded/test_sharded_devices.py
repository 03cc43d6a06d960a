# SPDX-License-Identifier: Apache-2.0
"""Sharded indexes in one process: several shards on the CPU."""

import gc
import pickle
import weakref

import numpy as np
import pytest
import raydex
import raydex.sharded
import sharded_cases as cases
from raydex.sharded import _hot_keys, _joins
from raydex.sharded._shard import Shard

SHARDS = [1, 2, 3, 5, 8]


def party(shards):
    return cases.Party(0, 1, devices=["cpu"] * shards)


@pytest.mark.parametrize("kind", cases.KINDS)
@pytest.mark.parametrize("dtype", cases.DTYPES)
def test_as_one_index(dtype, kind):
    seed = 100 * cases.DTYPES.index(dtype) + cases.KINDS.index(kind)
    for shards in SHARDS:
        cases.check_index(party(shards), dtype, kind, seed + shards)


@pytest.mark.parametrize("dtype", ["int32", "int64", "uint64", "float32", "float64"])
def test_tensors(dtype):
    torch = pytest.importorskip("torch")
    torch.set_num_threads(1)  # its threads wait busily for each other

    def convert(x):
        return torch.as_tensor(np.array(x))

    for kind in ("plain", "duplicates", "extremes", "empty"):
        for shards in (1, 3, 8):
            cases.check_index(party(shards), dtype, kind, shards, convert=convert)


@pytest.mark.parametrize("dtype", ["int32", "float64", "S8"])
def test_hot_keys(dtype):
    for shards in (1, 4):
        cases.check_hot(party(shards), dtype, shards)


@pytest.mark.parametrize("how", ["inner", "left", "right", "full", "semi", "anti"])
@pytest.mark.parametrize("exchange", [None, "shuffle", "broadcast", "index"])
def test_joins(how, exchange):
    for shards in SHARDS:
        for sizes in ((300, 200), (20, 400), (400, 20), (0, 30), (30, 0), (0, 0)):
            for columns in (1, 2):
                cases.check_join(party(shards), lambda x: [x], shards, sizes, how, exchange, columns)


@pytest.mark.parametrize("how", ["right", "full", "outer"])
def test_joins_that_are_refused(how):
    index = raydex.sharded.build(np.arange(3), devices=["cpu"] * 2)
    with pytest.raises(raydex.Unsupported, match=f"how: '{how}'; here joins are inner, left, semi or anti"):
        raydex.sharded.join(np.arange(4), index, how)


@pytest.mark.parametrize("how", ["inner", "right", "full"])
def test_seeds_of_hashes(how):
    left, right = (np.arange(60) % 7, np.arange(60) % 3), (np.arange(40) % 9, np.arange(40) % 4)
    two = {"devices": ["cpu"] * 2}
    expected = sorted(zip(*raydex.sharded.join(left, right, how, **two)))
    assert sorted(zip(*raydex.sharded.join(left, right, how, structure="hash_open", seed=5, **two))) == expected
    for seed, error in ((-1, "legal are 0 to"), ("5", "is no whole number")):
        with pytest.raises(raydex.InvalidArgument, match=error):
            raydex.sharded.join(left, right, how, seed=seed, **two)
    with pytest.raises(raydex.InvalidArgument, match="seed: 0, but right is an index"):
        raydex.sharded.join(left[0], raydex.sharded.build(right[0], **two), seed=0)


@pytest.mark.parametrize("how", ["inner", "left", "right", "outer", "semi", "anti"])
@pytest.mark.parametrize("hot", cases.HOT)
def test_joins_with_hot_keys(how, hot):
    for shards, dtype in zip([1, 2, 2, 3, 5, 8, 8], cases.DTYPES):
        for columns in (1, 2):
            cases.check_hot_join(party(shards), lambda x: [x], shards, dtype, hot, how, columns)


@pytest.mark.parametrize("even", cases.EVEN)
@pytest.mark.parametrize("dtype", ["int64", "float64"])
def test_a_hot_key_is_joined_by_all_shards(monkeypatch, random, dtype, even):
    matched, pairs = _joins.match_columns, []

    def counted(*arguments):
        found = matched(*arguments)
        pairs.append(found.size)
        return found

    monkeypatch.setattr(_joins, "match_columns", counted)
    how, *sides = cases.EVEN[even]
    columns = [cases.hot_column(dtype, *side, random) for side in sides]
    raydex.sharded.join(*columns, how, exchange="shuffle", devices=["cpu"] * 4)
    shards = np.reshape(pairs, (-1, 4)).sum(axis=0)
    assert shards.max() < 1.2 * shards.mean()


def test_which_keys_are_hot():
    half = np.concatenate([np.full(3000, 7), np.arange(10, 3010)])

    def found(kept, spread, shards=4, stands_for=1, pairs=False):
        return _hot_keys.hot_keys([(kept, len(kept))], [(spread, len(spread) * stands_for)], shards, pairs).tolist()

    assert found(half, half[:0]) == found(half, half[:999]) == [7]
    assert found(half, half[:1000]) == []  # as much is sent so
    assert found(half, half, pairs=True) == [7] and found(half, np.full(3001, 7), pairs=True) == []
    assert found(half, np.arange(8, 10), stands_for=999) == [7]
    assert found(half, np.arange(8, 10), stands_for=1000) == []  # some may have the key
    assert found(half, half[:1], shards=1) == found(half[:0], half) == []
    assert found(half[:4095], half[:1]) == [] and found(half[:4096], half[:1]) == [7]
    few = np.repeat(np.arange(64), 100)
    assert found(few, few[:0]) == [] and found(few, few[:0], shards=65) == list(range(64))
    halves = [(half[:3000], 3000), (half[3000:], 1000000)]
    assert _hot_keys.hot_keys(halves, [(half[:1], 1)], 4, False).tolist() == []


def test_rows_of_64_bits():
    rows = np.array([1 << 40, 2, 1 << 41, 3])
    index = raydex.sharded.build([5, 6, 5, 7], rows=rows, devices=["cpu"] * 3)
    np.testing.assert_array_equal(index.first([5, 6, 7, 8]), [1 << 40, 2, 3, -1])
    # Also on a shard that has had small rows alone.
    index.insert([7], [1 << 50])
    np.testing.assert_array_equal(index.rows([7]).rows, [3, 1 << 50])
    assert index.info.row_id_bits == 64 and index.info.max_row_id == 1 << 50
    # Which is in no shard: the row of a missing key, or one that is gone.
    missing = np.ma.array([1, 2, 3], mask=[0, 0, 1])
    one = raydex.sharded.build(missing, rows=[4, 5, 1 << 40], devices=["cpu"] * 2)
    np.testing.assert_array_equal(one.first([1, 2, 3]), [4, 5, -1])
    index.erase([5, 7])
    assert index.rebalance(1.0)
    np.testing.assert_array_equal(index.first([5, 6, 7]), [-1, 2, -1])
    small = raydex.sharded.build([5, 6], devices=["cpu"] * 2)
    with pytest.raises(raydex.InvalidArgument, match="rows: they go from 1 to 1099511627776"):
        small.insert([1, 2], [1, 1 << 40])


def test_single_numbers_lists_and_shapes():
    index = raydex.sharded.build([3, 1, 3], devices=["cpu"] * 2)
    assert index.count(3) == 2 and np.ndim(index.count(3)) == 0
    assert index.count(1, 3) == 3
    np.testing.assert_array_equal(index.count(1, [1, 2, 3]), [1, 1, 3])
    np.testing.assert_array_equal(index.first([]), [])
    np.testing.assert_array_equal(index.isin([[1, 2], [3, 4]]), [[True, False], [True, False]])
    np.testing.assert_array_equal(index.count(np.array([1, 3], "int8")), [1, 2])
    masked = np.ma.array([3, 1], mask=[True, False])
    np.testing.assert_array_equal(index.rank(masked), [-1, 0])


def test_missing_values_add_nothing():
    index = raydex.sharded.build([1, 1, 2], devices=["cpu"] * 2)
    values = np.ma.array([10, 20, 30], mask=[False, True, False])
    np.testing.assert_array_equal(index.sum([1, 2], values=values), [10, 30])


def test_columns_of_other_libraries():
    arrays = pytest.importorskip("pyarrow")
    index = raydex.sharded.build(arrays.array([5, None, 7, 5]), devices=["cpu"] * 2)
    np.testing.assert_array_equal(index.rows(arrays.array([None, 5])).rows, [0, 3])
    days = arrays.array([1, 2, 2], arrays.date32())
    found = raydex.sharded.build(days, devices=["cpu"] * 2)
    np.testing.assert_array_equal(found.count(days), [1, 2, 2])
    with pytest.raises(raydex.InvalidType):
        found.count(np.array([1, 2]))
    with pytest.raises(raydex.Unsupported, match="strings of any length have no order"):
        raydex.sharded.build(arrays.array(["a", "b"]), devices=["cpu"])


def test_structures_without_order():
    index = raydex.sharded.build(np.arange(50), "hash_open", devices=["cpu"] * 3)
    np.testing.assert_array_equal(index.first([7, 49, 50]), [7, 49, -1])
    np.testing.assert_array_equal(index.rows([7]).rows, [7])
    for call in (index.rank, index.predecessor):
        with pytest.raises(raydex.Unsupported):
            call([1])
    with pytest.raises(raydex.Unsupported):
        index.count([1], [2])
    np.testing.assert_array_equal(index.first([7]), [7])


def test_what_it_says():
    with raydex.sharded.build(np.arange(100, dtype="int32"), "cgrx", bucket=8, devices=["cpu"] * 4) as index:
        info = index.info
        assert (info.structure, info.key, info.shards, info.processes) == ("cgrx", "int32", 4, 1)
        assert info.options["bucket"] == "8" and info.entries == len(index) == 100 and info.max_row_id == 99
        assert info.resident_bytes > 400
        assert repr(index).startswith("raydex.sharded.ShardedIndex(cgrx on cpu, one process: 100 rows of int32 on 4")
        index.count([0, 50], [99, 50])
        balance = index.balance
        assert sum(balance.rows) == 100 and sum(balance.last) == 5 and balance.total == balance.last
        assert balance.imbalance == max(balance.rows) / 25 and balance.probe_imbalance == 8 / 5
        index.count([0])
        assert sum(index.balance.last) == 1 and sum(index.balance.total) == 6
    assert repr(index) == "raydex.sharded.ShardedIndex(closed)"
    for call in (index.close, index.__exit__):
        call(*([None] * 3 if call != index.close else []))
    with pytest.raises(raydex.InvalidArgument, match="it is closed"):
        index.first([1])


@pytest.mark.parametrize("engine,match", [
    ({"devices": "cpu"}, "devices: 'cpu' is no list"),
    ({"devices": []}, "is no list"),
    ({"devices": ["cpu"], "group": 1}, "group: it is given with devices"),
    ({"devices": ["cpu"], "most_probes": 0}, "most_probes: 0"),
    ({"devices": ["tpu:0"]}, "devices: 'tpu:0'"),
])
def test_wrong_engines(engine, match):
    with pytest.raises(raydex.InvalidArgument, match=match):
        raydex.sharded.build(np.arange(3), **engine)


def test_torch_that_is_not_initialized():
    pytest.importorskip("torch")
    with pytest.raises(raydex.InvalidArgument, match="call torch.distributed.init_process_group first"):
        raydex.sharded.build(np.arange(3))


class Scarce(raydex.sharded._shard_set.Shard):
    """A shard with memory for a few probes at a time."""

    most = 0

    def answer(self, operation, lower, upper=None, **arguments):
        if len(lower) > self.most:
            raise raydex.OutOfMemory(f"no memory for {len(lower)} probes")
        return super().answer(operation, lower, upper, **arguments)


def test_batches_are_split_where_memory_lacks(monkeypatch, random):
    monkeypatch.setattr(raydex.sharded._shard_set, "Shard", Scarce)
    keys = random.permutation(20000)
    whole = raydex.build(keys)
    index = raydex.sharded.build(keys, devices=["cpu"] * 2)
    points = random.integers(0, 25000, 30000)
    monkeypatch.setattr(Scarce, "most", 3000)
    cases.check_points(index, whole, points)
    cases.check_ranges(index, whole, points, points + 5)
    assert sum(index.balance.last) >= 30000
    monkeypatch.setattr(Scarce, "most", 400)
    with pytest.raises(raydex.OutOfMemory, match="no memory for"):
        index.first(points)
    np.testing.assert_array_equal(index.first(points[:500]), whole.first(points[:500]))


def test_want_of_memory_of_pytorch_counts_as_well(monkeypatch):
    torch = pytest.importorskip("torch")
    index = raydex.sharded.build(np.arange(5000), devices=["cpu"])
    shard, sizes = index._shards.own[0], []
    answer = shard.answer

    def scarce(operation, lower, *arguments, **options):
        sizes.append(len(lower))
        if len(lower) > 2000:
            raise torch.cuda.OutOfMemoryError("no memory")
        return answer(operation, lower, *arguments, **options)

    monkeypatch.setattr(shard, "answer", scarce)
    np.testing.assert_array_equal(index.first(np.arange(5000)), np.arange(5000))
    assert sizes == [5000, 2500, 1250, 1250, 1250, 1250]


def test_rebalancing_that_fails_leaves_the_index_as_it_was(monkeypatch, random):
    keys = random.integers(0, 1000, 5000)
    whole, index = raydex.build(keys), raydex.sharded.build(keys, devices=["cpu"] * 3)
    added = np.arange(9000)
    for one in (whole, index):
        one.insert(added + 5000, added + 5000)
    assert index.balance.imbalance > 2

    def fail(*arguments, **options):
        raise raydex.OutOfMemory("no memory for another shard")

    with monkeypatch.context() as patch:
        patch.setattr(raydex.sharded._shard_set, "Shard", fail)
        with pytest.raises(raydex.OutOfMemory):
            index.rebalance()
    cases.check_points(index, whole, np.arange(0, 14000, 7))
    assert index.rebalance() and index.balance.imbalance < 1.2
    cases.check_points(index, whole, np.arange(0, 14000, 7))


def test_what_failed_is_freed_before_the_next_try(monkeypatch, random):
    index = raydex.sharded.build(np.arange(8000), devices=["cpu"] * 2)
    answer, failed, kept = Shard.answer, [], []

    def little(self, operation, lower, *more, **others):
        kept.extend(one for one in failed if one() is not None)
        if len(lower) > 1500:
            failed.append(weakref.ref(lower))
            raise MemoryError("no memory")
        return answer(self, operation, lower, *more, **others)

    monkeypatch.setattr(Shard, "answer", little)
    points = random.permutation(8000)
    gc.disable()  # as where memory lacks that it does not know of
    try:
        np.testing.assert_array_equal(index.first(points), points)
    finally:
        gc.enable()
    assert len(failed) == 2 and not kept


class Broken(raydex.sharded.DeviceExchange):
    """An engine of one's own, which can fail."""

    error = None
    abandoned = closed = 0

    def gather(self, what):
        if self.error:
            raise self.error
        return super().gather(what)

    def abandon(self):
        self.abandoned += 1

    def close(self):
        self.closed += 1


@pytest.mark.parametrize("error", [RuntimeError, KeyboardInterrupt])
def test_an_exchange_that_fails_ends_the_index(error):
    engine = Broken(["cpu", "cpu"])
    index = raydex.sharded.build(np.arange(10), engine=engine)
    assert index.count([1]) == 1
    engine.error = error("connection closed by peer")
    kind = raydex.ExchangeError if error is RuntimeError else KeyboardInterrupt
    with pytest.raises(kind):
        index.count([1])
    engine.error = None
    for call in (index.count, index.erase, lambda x: index.info, lambda x: raydex.sharded.join(x, index)):
        with pytest.raises(raydex.ExchangeError, match="it was lost when an exchange failed.*; build it again"):
            call([1])
    assert len(index) == 10 and "10 rows" in repr(index)
    index.close()
    assert engine.abandoned == 1 and engine.closed == 0  # it is not the index's own


def test_an_interrupt_of_the_only_process(monkeypatch):
    """It asks again, unless it was in an edit."""
    index = raydex.sharded.build(np.arange(10), devices=["cpu", "cpu"])

    def interrupt(*_, **__):
        raise KeyboardInterrupt

    for name, call in (("answer", index.count), ("insert", lambda x: index.insert(x, [10]))):
        with monkeypatch.context() as patched, pytest.raises(KeyboardInterrupt):
            patched.setattr(index._shards.own[1], name, interrupt)
            call([9])
        if name == "answer":
            assert index.count([9]) == 1
    with pytest.raises(raydex.ExchangeError, match="KeyboardInterrupt.*; build it again"):
        index.count([9])


def test_errors_travel():
    error = pickle.loads(pickle.dumps(raydex.ShardError(3, "OutOfMemory: none")))
    assert (error.process, error.message, str(error)) == (3, "OutOfMemory: none", "process 3: OutOfMemory: none")
    assert isinstance(error, raydex.Error)
    assert issubclass(raydex.ExchangeError, raydex.Error) and issubclass(raydex.ExchangeError, RuntimeError)


@pytest.mark.parametrize("shards", [1, 3])
def test_times_of_other_units(shards):
    far = [-(2**63) + 1, -(2**62), 2**62, 2**63 - 1]
    keys = np.array([*far, -1500, 0, 1, 1000, 1500, *(n * 10**9 for n in range(-3, 3))]).view("M8[ns]")
    engine = party(shards).engine
    for unit in ("ps", "us", "s", "D"):
        points = np.array([*far, 2**63 // 10**9, -2, -1, 0, 1, 2, 1500, -(2**63)]).view(f"M8[{unit}]")
        for how in ("inner", "left", "semi", "anti"):
            found = raydex.sharded.join(points, keys, how, **engine)
            cases.check_pairs(lambda x: [x], found, cases.pairs_of(*raydex.join(keys, points, how)))
        whole = raydex.build(keys)
        with raydex.sharded.build(keys, **engine) as index:
            cases.check_points(index, whole, points)
            cases.check_ranges(index, whole, points, points[::-1])
            with pytest.raises(raydex.InvalidArgument, match="as the keys are"):
                index.insert(points, np.arange(len(points)))
            index.erase(points)
            whole.erase(points)
            assert len(index) == len(whole)


@pytest.mark.parametrize("how", ["inner", "left", "right", "full", "semi", "anti"])
@pytest.mark.parametrize("sizes", [(0, 3), (3, 0), (0, 0)])
def test_tensors_without_cells_give_tensors(how, sizes):
    torch = pytest.importorskip("torch")
    left, right = (torch.arange(size, dtype=torch.int32) for size in sizes)
    found = [*raydex.sharded.join(left, right, how, devices=["cpu", "cpu"])]
    if how not in ("right", "full"):
        found += raydex.sharded.join_range(left, right, how, distance=1, devices=["cpu", "cpu"])
    found.append(raydex.sharded.join_asof(left, right, devices=["cpu", "cpu"]))
    assert all(isinstance(one, torch.Tensor) for one in found if one is not None)


def test_ends_of_other_labels_are_refused():
    pandas = pytest.importorskip("pandas")
    index = raydex.sharded.build([50, 20, 40, 20, 30], devices=["cpu", "cpu"])
    lower, upper = pandas.Series([20, 30], index=["x", "y"]), pandas.Series([30, 50], index=["y", "x"])
    with pytest.raises(raydex.InvalidArgument, match="upper.reindex"):
        index.count(lower, upper)
    assert index.count(lower, upper.reindex(["x", "y"])).tolist() == [5, 1]
