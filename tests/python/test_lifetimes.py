# SPDX-License-Identifier: Apache-2.0
"""What an index keeps and what it lets go, threads, and forked processes."""

import gc
import os
import threading
import weakref

import numpy as np
import pytest
import raydex
from in_threads import run
from raydex import _devices, _held


class Counted(np.ndarray):
    """An array that tells when it goes."""


def test_a_column_is_let_go():
    keys = np.arange(1000).view(Counted)
    gone = weakref.ref(keys)
    index = raydex.build(keys)
    del keys
    gc.collect()
    assert gone() is None
    assert index.first([999])[0] == 999


def test_an_array_of_minima_is_kept():
    values = np.arange(1000).view(Counted)
    alive = weakref.ref(values)
    of = raydex.rmq(values)
    del values
    gc.collect()
    assert alive() is not None and of.min(5, 10) == 5
    of.close()
    gc.collect()
    assert alive() is None


def test_results_outlive_an_index(random):
    index = raydex.build(random.integers(0, 9, 1000))
    found = index.rows([3])
    copy = found.rows.copy()
    del index
    gc.collect()
    np.testing.assert_array_equal(found.rows, copy)


def test_a_stream_outlives_an_index_in_garbage():
    """The stream may be older or younger than what waits for it."""
    order = []

    class Stream:
        def __del__(self):
            order.append("stream")

    class Native:
        def close(self, before):
            order.append("index")

    for older in (False, True):
        stream = Stream() if older else None
        index = _held.Held(Native(), _devices.Device("cpu", None), None, 0)
        stream = stream or Stream()
        index._streams[7] = stream
        cycle = [index, stream]
        cycle.append(cycle)
        del cycle, index, stream
        gc.collect()
        assert order == ["index", "stream"]
        order.clear()


def test_temporaries_of_arrow_and_dlpack():
    pa = pytest.importorskip("pyarrow")
    index = raydex.build(pa.array(list(range(1000)) + [None]))
    for _ in range(20):
        gc.collect()
        assert index.first(pa.array([5, None, 999]).slice(1)).tolist() == [-1, 999]
        assert raydex.join(pa.array(["a" * 20, "b"]), pa.array(["b"])).build.tolist() == [1]


def test_memory_comes_back():
    resource = pytest.importorskip("resource")
    keys = np.arange(1 << 19)
    for _ in range(3):
        raydex.build(keys).close()
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for _ in range(60):
        index = raydex.build(keys)
        index.first(keys)
        raydex.join(keys[:1000], keys)
        del index
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    assert grown < 60 * keys.nbytes / 1024 / 3


def test_threads_ask_one_index(random):
    keys = random.permutation(50_000)
    index = raydex.build(keys)
    where = np.argsort(keys)

    def ask():
        for _ in range(20):
            points = np.random.default_rng().integers(0, 50_000, 2_000)
            np.testing.assert_array_equal(index.first(points), where[points])
            np.testing.assert_array_equal(index.rows(points).rows, where[points])

    run([ask] * 6)


def test_threads_edit_while_others_ask():
    index = raydex.build(np.arange(10_000))
    done = threading.Event()

    def edit():
        for i in range(50):
            index.insert([20_000 + i], [20_000 + i])
        done.set()

    def ask():
        while not done.is_set():
            assert index.first([5, 9_999]).tolist() == [5, 9_999]
            assert raydex.join(index, np.array([7])).build.tolist() == [7]

    run([edit, ask, ask])
    assert len(index) == 10_050


def test_a_close_while_others_ask():
    for _ in range(10):
        index = raydex.build(np.arange(100_000))
        points = np.arange(100_000)

        def ask(index=index, points=points):
            try:
                for _ in range(50):
                    assert index.first(points)[-1] == 99_999
            except raydex.InvalidArgument as error:
                assert "it is closed" in str(error)

        run([ask, ask, index.close])


def test_the_interpreter_runs_on_meanwhile():
    """A thread counts while another one builds."""
    keys = np.random.default_rng(1).integers(0, 1 << 60, 1 << 22)
    counted = []
    done = threading.Event()

    def count():
        n = 0
        while not done.is_set():
            n += 1
        counted.append(n)

    counter = threading.Thread(target=count)
    counter.start()
    raydex.build(keys)
    done.set()
    counter.join()
    assert counted[0] > 1000


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_forked_process():
    index = raydex.build(np.arange(1000))
    child = os.fork()
    if child == 0:
        try:
            same = index.first(np.arange(1000)).tolist() == list(range(1000))
            other = raydex.build(np.arange(10)).first([3])[0] == 3
            index.close()
            os._exit(0 if same and other else 1)
        except BaseException:  # noqa: BLE001, the parent sees the status
            os._exit(2)
    _, status = os.waitpid(child, 0)
    assert os.waitstatus_to_exitcode(status) == 0
