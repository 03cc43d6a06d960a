# SPDX-License-Identifier: Apache-2.0
"""What Python raises while the library works, as after Ctrl-C, ends the call soon; and how far builds are."""

import io
import re
import signal
import sys
import threading
import time

import numpy as np
import pytest
import raydex
from in_threads import run

pytestmark = pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="no timers")
N = 1 << 23


class Stopped(BaseException):
    """What the handler of the signal raises."""


def seconds_until_stopped(call, after):
    """How long a call goes on after a signal, that comes `after` so many seconds; None if it ends before."""
    waits = True

    def stop(*_):
        if waits:
            raise Stopped

    before = signal.signal(signal.SIGALRM, stop)
    begin = time.monotonic()
    try:
        signal.setitimer(signal.ITIMER_REAL, after)
        call()
        waits = False
        return None
    except Stopped:
        return time.monotonic() - begin - after
    finally:
        waits = False
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


@pytest.fixture(scope="module")
def keys():
    return np.random.default_rng(1).integers(0, 1 << 60, N)


@pytest.fixture(scope="module")
def index(keys):
    return raydex.build(keys[: N // 4])


CALLS = {
    "build": lambda index, keys: raydex.build(keys, "sorted_array"),
    "hash table": lambda index, keys: raydex.build(keys, "hash_open"),
    "rays": lambda index, keys: raydex.build(keys[: N // 4], "rx"),
    "first": lambda index, keys: index.first(keys),
    "ranges": lambda index, keys: index.sum(keys, keys, values=keys),
    "rows": lambda index, keys: index.rows(keys, keys),
    "lazy rows": lambda index, keys: [index.rows(keys, keys, lazy=True).to_reader().read_all() for _ in range(20)],
    "aggregate": lambda index, keys: raydex.aggregate(index, keys),
    "minima": lambda index, keys: raydex.rmq(keys, "rmq_lca"),
    "join": lambda index, keys: raydex.join(keys, keys),
    "columns": lambda index, keys: raydex.join((keys, keys), (keys, keys)),
    "as-of": lambda index, keys: raydex.join_asof(keys, keys),
    "search": lambda index, keys: raydex.searchsorted(np.arange(N), keys),
}


@pytest.mark.parametrize("of", CALLS)
def test_a_signal_ends_a_call(of, index, keys):
    """The best of some tries, since other programs may have the processors. Many processors are through before."""
    found = []
    for after in (0.05, 0.08, 0.11, 0.14):
        found.append(seconds_until_stopped(lambda: CALLS[of](index, keys), after))
        if found[-1] is None or found[-1] < 0.2:
            break
    else:
        pytest.fail(f"stopped after {found} s")
    assert index.first(keys[:3]).tolist() == [0, 1, 2]


@pytest.mark.parametrize("primitive", ["triangle", "sphere", "box"])
def test_a_signal_ends_what_embree_builds(primitive, keys):
    """At any time of a build. Before Embree asks for the first time it touches all of its memory, 70 ns a key."""
    def build():
        raydex.build(keys[: N // 8], "rx", primitive=primitive).close()

    begin = time.monotonic()
    build()
    whole = time.monotonic() - begin
    for part in (0.3, 0.6, 0.8):
        found = []
        for _ in range(3):
            found.append(seconds_until_stopped(build, part * whole))
            if found[-1] is None or found[-1] < 0.2:
                break
        else:
            pytest.fail(f"stopped after {found} s at {part} of {whole} s")


def test_an_edit_comes_to_its_end(keys):
    index = raydex.build(keys[:1000])
    rows = np.arange(N, dtype="uint32")
    for after in (0.01, 0.06, 0.2):
        before = len(index)
        seconds_until_stopped(lambda: index.insert(keys, rows), after)
        assert len(index) in (before, before + N)
    assert len(index) > 1000


def test_waiting_for_another_thread(keys):
    """The main thread waits for an edit, which goes on."""
    index = raydex.build(keys[:1000])
    started = threading.Event()

    def edit():
        started.set()
        index.insert(keys, np.arange(N))

    other = threading.Thread(target=edit)
    other.start()
    started.wait()
    time.sleep(0.05)
    stopped = seconds_until_stopped(lambda: index.first(keys[:3]), 0.05)
    assert stopped is None or stopped < 0.3 or not other.is_alive()
    other.join()
    assert len(index) == 1000 + N


def test_other_threads_are_not_stopped(index, keys):
    expected = index.count(keys)

    def ask():
        np.testing.assert_array_equal(index.count(keys), expected)

    other = threading.Thread(target=run, args=([ask, ask],))
    other.start()
    seconds_until_stopped(lambda: index.count(keys), 0.06)
    other.join()


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.mark.parametrize("call", ["build", "rmq", "aggregate"])
def test_progress(monkeypatch, call, index, keys):
    monkeypatch.setattr("raydex._progress._FIRST", 0)
    monkeypatch.setattr("raydex._progress._EACH", 0)

    def make(progress):
        if call == "aggregate":
            return raydex.aggregate(index, keys, progress=progress)
        return {"build": raydex.build, "rmq": raydex.rmq}[call](
            keys, "sorted_array" if call == "build" else "rmq_lca", progress=progress)

    for to, wanted in ((Terminal(), False), (io.StringIO(), True)):
        monkeypatch.setattr(sys, "stderr", to)
        make(wanted)
        assert to.getvalue() == ""
    monkeypatch.setattr(sys, "stderr", Terminal())
    made = make(True)
    text = sys.stderr.getvalue()
    lines = [line.rstrip() for line in text.split("\r") if line.strip()]
    size = len(index) if call == "aggregate" else N
    if call == "aggregate" and not text:
        return  # many cores end it before it looks
    assert lines and all(
        re.fullmatch(rf"raydex\.{call}: {size:,} rows(, sorting [1-8] of 8)?, [0-9.]+ s", line) for line in lines)
    assert call != "build" or any("sorting" in line for line in lines)
    assert re.search(r"\r +\r$", text)  # nothing stays
    made.close()


def test_what_shows_progress_may_fail(monkeypatch, keys):
    class Full(Terminal):
        def write(self, text):
            raise OSError("no space")

    monkeypatch.setattr("raydex._progress._FIRST", 0)
    monkeypatch.setattr(sys, "stderr", Full())
    with pytest.raises(OSError, match="no space"):
        raydex.build(keys, "sorted_array", progress=True)
    raydex.build(keys[:9])
