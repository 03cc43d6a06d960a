# SPDX-License-Identifier: Apache-2.0
"""How the host waits for what NCCL sends, with a stand-in of the work, and hears that another process has gone."""

import threading
import time

import pytest
from raydex.sharded._sockets import HostSockets
from raydex.sharded._torch import _ByNccl


class Work:
    """Completes after some seconds; counts who waits for it as a stream does."""

    def __init__(self, seconds):
        self._end = time.monotonic() + seconds
        self.waits = 0

    def is_completed(self):
        return time.monotonic() >= self._end

    def wait(self):
        self.waits += 1


def gone():
    raise ConnectionError("another process has given up")


@pytest.mark.parametrize("known", [True, False])
@pytest.mark.parametrize("check", [lambda: None, gone])  # what one that has gone sent before may still come
def test_what_comes_is_waited_for(known, check):
    work = Work(0.2)
    _ByNccl(work, check, known, 60.0).wait()
    assert work.is_completed() and work.waits == 1


@pytest.mark.parametrize("known", [True, False])
def test_a_process_that_has_gone_ends_the_wait(known):
    work, begin = Work(60.0), time.monotonic()
    with pytest.raises(ConnectionError, match="given up"):
        _ByNccl(work, gone, known, 60.0).wait()
    assert time.monotonic() - begin < 5 and work.waits == 0


def test_the_wait_ends_before_that_of_nccl():
    work = Work(60.0)
    with pytest.raises(TimeoutError, match="has sent nothing"):
        _ByNccl(work, lambda: None, True, 0.5).wait()
    assert work.waits == 0


def test_the_stream_waits_if_a_process_may_go_unseen():
    work, begin = Work(60.0), time.monotonic()
    _ByNccl(work, lambda: None, False, 60.0).wait()
    assert time.monotonic() - begin < 5 and work.waits == 1


def test_sockets_tell_of_one_that_has_closed():
    two = [HostSockets(at, 2, 5.0) for at in range(2)]
    threads = [threading.Thread(target=one.connect, args=([it.address for it in two],)) for one in two]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    two[0].check()
    sender = threading.Thread(target=two[1].gather, args=(b"ahead",))
    sender.start()
    time.sleep(0.1)
    two[0].check()  # a message that waits to be read is no end
    assert two[0].gather(b"here") == [b"here", b"ahead"]
    sender.join()
    two[1].close()
    with pytest.raises(ConnectionError, match="closed"):
        two[0].check()
    two[0].close()
