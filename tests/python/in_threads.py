# SPDX-License-Identifier: Apache-2.0
"""Calls of several threads, whose failures are those of the test."""

import threading
import time

import numpy as np


def run(calls):
    """Makes each call in a thread of its own, and waits for all."""
    failures = []

    def guarded(call):
        try:
            call()
        except BaseException as error:  # noqa: BLE001, what a thread raises is shown
            failures.append(error)

    started = [threading.Thread(target=guarded, args=(one,)) for one in calls]
    for one in started:
        one.start()
    for one in started:
        one.join()
    assert failures == []


def while_changing(change, ask, seconds=0.5):
    """Calls `change` in one thread and `ask` in two others for a while."""
    end = time.monotonic() + seconds
    stop = threading.Event()

    def again(call):
        def calls():
            try:
                while not stop.is_set() and time.monotonic() < end:
                    call()
            finally:
                stop.set()

        return calls

    run([again(change), again(ask), again(ask)])


def rows_by_probe(found):
    """Rows in the order of the probes, those of one ascending."""
    probes = np.repeat(np.arange(len(found.offsets) - 1), np.diff(found.offsets))
    return found.rows[np.lexsort((found.rows, probes))]
