# SPDX-License-Identifier: Apache-2.0
"""Calls of several threads, whose failures are those of the test."""

import threading


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
