# SPDX-License-Identifier: Apache-2.0
"""raydex.dask: workers that die, clusters that go, shards that are sent elsewhere."""

import os
import pickle
import signal
import time

import numpy as np
import pytest
import raydex

dask = pytest.importorskip("dask", reason="Dask is missing")
dd = pytest.importorskip("dask.dataframe", reason="Dask's data frames are missing")
distributed = pytest.importorskip("distributed", reason="distributed is missing")
pd = pytest.importorskip("pandas")
rd = pytest.importorskip("raydex.dask")

from raydex.dask import _graphs, _shards  # noqa: E402

equal = np.testing.assert_array_equal


def column(keys):
    return dd.from_pandas(pd.Series(keys, name="key"), npartitions=4)


@pytest.fixture
def cluster():
    with distributed.LocalCluster(
        n_workers=3, threads_per_worker=1, dashboard_address=":0", silence_logs=50) as cluster:
        yield cluster


@pytest.fixture
def threads():
    with distributed.LocalCluster(
        n_workers=3, threads_per_worker=1, processes=False, dashboard_address=":0", silence_logs=50) as cluster:
        yield cluster


def kill(client, address):
    os.kill(client.run(os.getpid, workers=[address])[address], signal.SIGKILL)


def test_shards_of_a_dead_worker_are_made_again(cluster, random):
    keys, points = random.integers(0, 1000, 5000), np.arange(1000)
    with distributed.Client(cluster) as client:
        index, one = rd.build(column(keys)), raydex.build(keys)
        index.insert([3, 4], [6000, 6001])
        one.insert([3, 4], [6000, 6001])
        lazy = index.count(column(points), column(points) + 3)
        kill(client, index.info.workers[1][0])
        equal(index.count(points), one.count(points))
        kill(client, index.info.workers[0][0])
        equal(lazy.compute(), one.count(points, points + 3))
        assert all(index.info.workers) and index.info.entries == 5002


def test_a_worker_that_dies_just_before_it_is_called(cluster, random, monkeypatch):
    keys, points = random.integers(0, 1000, 5000), np.arange(1000)
    with distributed.Client(cluster) as client:
        index, one = rd.build(column(keys)), raydex.build(keys)
        ask = client.who_has

        def places(futures):
            found = ask(futures)
            monkeypatch.undo()
            dead = index.info.workers[1][0]
            kill(client, dead)
            while dead in client.nthreads():
                pass
            return found

        monkeypatch.setattr(client, "who_has", places)
        begin = time.monotonic()
        equal(index.count(points), one.count(points))
        assert time.monotonic() - begin < 15  # the scheduler alone would try for 30 s
        equal(index.count(points), one.count(points))


def test_tasks_answer_what_workers_do_not(threads, random, monkeypatch):
    keys, points = random.integers(0, 1000, 5000), np.arange(1000)
    with distributed.Client(threads) as client:
        index, one = rd.build(column(keys)), raydex.build(keys)
        # Shards are where they were not a moment ago.
        one_place = dict.fromkeys(index._state.shards.keys, index.info.workers[0])
        monkeypatch.setattr(client, "who_has", lambda _: one_place)
        equal(index.first(points), one.first(points))
        monkeypatch.undo()
        # Workers know nothing of such calls.
        client.unregister_worker_plugin("raydex")
        equal(index.count(points), one.count(points))
        again = rd.build(column(keys))
        monkeypatch.setattr(again._engine, "get", None)
        equal(again.count(points), one.count(points))


def fails(*_):
    raise raydex.OutOfMemory("no shard", 5)


def test_an_error_of_a_shard_is_raised_as_it_is(threads, random, monkeypatch):
    with distributed.Client(threads):
        index = rd.build(column(random.integers(0, 1000, 500)))
        monkeypatch.setattr(_shards, "answer", fails)
        with pytest.raises(raydex.OutOfMemory, match="no shard"):
            index.count([1])


def test_a_join_goes_on_where_a_worker_dies(cluster, random):
    one = pd.DataFrame({"k": random.integers(0, 500, 3000), "v": np.arange(3000)})
    with distributed.Client(cluster) as client:
        left = dd.from_pandas(one, npartitions=4)
        joined = rd.join(left, left, on="k", shards=6, broadcast=False).persist()
        distributed.wait(joined)
        kill(client, next(iter(client.nthreads())))
        assert len(joined.compute()) == len(one.merge(one, on="k"))


def test_a_cluster_that_is_gone(random):
    keys = random.integers(0, 1000, 500)
    cluster = distributed.LocalCluster(
        n_workers=1, threads_per_worker=1, processes=False, dashboard_address=":0", silence_logs=50)
    with distributed.Client(cluster):
        index = rd.build(column(keys))
        cluster.close()
        for ask in (lambda: index.count([1]), lambda: index.info, lambda: index.insert([1], [1000])):
            with pytest.raises(raydex.ExchangeError, match="the cluster does not answer"):
                ask()
    with pytest.raises(raydex.ExchangeError, match="build again with another one"):
        index.count([1])


def test_a_cluster_without_workers(monkeypatch, random):
    monkeypatch.setattr(_graphs, "patience", 0.5)
    with distributed.LocalCluster(
        n_workers=1, threads_per_worker=1, processes=False, dashboard_address=":0", silence_logs=50) as cluster:
        with distributed.Client(cluster) as client:
            index = rd.build(column(random.integers(0, 1000, 500)))
            cluster.scale(0)
            while client.nthreads():
                pass
            with pytest.raises(raydex.ExchangeError, match="no worker for 0.5 s"):
                index.count([1])
            cluster.scale(1)
            client.wait_for_workers(1)
            assert index.count([1], [1000]) > 0


def test_a_worker_that_dies_over_and_over(cluster):
    def dies(part):
        if len(part):
            os._exit(1)
        return part

    with distributed.Client(cluster):
        cluster.scheduler.allowed_failures = 0
        source = column(np.arange(10)).map_partitions(dies, meta=pd.Series([], dtype="int64"))
        with pytest.raises(raydex.ExchangeError, match="KilledWorker"):
            rd.build(source)


def test_an_error_in_a_partition_is_raised_as_it_is(threads):
    def fails(part):
        if len(part):
            raise OSError("the file is not there")
        return part

    with distributed.Client(threads):
        source = column(np.arange(10)).map_partitions(fails, meta=pd.Series([], dtype="int64"))
        with pytest.raises(OSError, match="the file is not there"):
            rd.build(source)


def test_an_asynchronous_client_is_refused():
    async def ask():
        async with distributed.Client(processes=False, dashboard_address=":0", asynchronous=True, n_workers=1):
            with pytest.raises(RuntimeError, match="asynchronous"):
                rd.build(column(np.arange(5)))

    distributed.utils.asyncio.run(ask())


def test_a_shard_that_is_sent_is_equal_to_the_one_it_was(random, caplog):
    keys, rows = random.integers(0, 50, 300), random.permutation(300)
    part = _shards.TaskShard(keys, rows, 32, "btree", None, {})
    part.insert(np.array([3, 77]), np.array([1000, 1001]))
    part.erase(np.array([5]))
    other = pickle.loads(pickle.dumps(part))
    assert "built anew" in caplog.text
    points = np.arange(-1, 80)
    for call in ("count", "first", "rank", "predecessor"):
        equal(part.answer(call, points), other.answer(call, points))
    assert other.index.info.structure == "btree" and other.index.info.row_id_bits == 32
    nothing = pickle.loads(pickle.dumps(_shards.TaskShard(keys[:0], rows[:0], 32, "auto", None, {})))
    assert nothing.entries == 0


def test_sizes_that_dask_is_told(threads, random):
    with distributed.Client(threads) as client:
        index = rd.build(column(random.integers(0, 1000, 500)))
        truth = index.info.resident_bytes / 3

        def sizes(dask_scheduler):
            return [task.nbytes for key, task in dask_scheduler.tasks.items() if "raydex-shard" in str(key)]

        planned = client.run_on_scheduler(sizes)
        assert len(planned) == 3 and min(planned) > 1000 * truth
        held = client.run(lambda dask_worker: dask_worker.data.fast.total_weight)
        assert 0 < sum(held.values()) < 10_000 * truth
        assert sum(held.values()) < min(planned)


def test_a_worker_that_retires_gives_its_shards_away(threads, random):
    keys = random.integers(0, 1000, 5000)
    with distributed.Client(threads) as client:
        index, one = rd.build(column(keys)), raydex.build(keys)
        [retired] = index.info.workers[0]
        client.retire_workers([retired])
        equal(index.count(np.arange(1000)), one.count(np.arange(1000)))
        assert retired not in sum(index.info.workers, ())
