# SPDX-License-Identifier: Apache-2.0
"""How the notebooks of this folder measure: the same cores for all, and the median of five runs."""

import os
import statistics
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any


def keep_to(cores: int) -> int:
    """Keeps this process to so many cores, or fewer where there are fewer, and returns how many.

    Comes before other libraries are imported: they start as many threads as they find cores."""
    kept = sorted(os.sched_getaffinity(0))[:cores]
    os.sched_setaffinity(0, kept)
    os.environ["POLARS_MAX_THREADS"] = str(len(kept))
    return len(kept)


def processor() -> str:
    """What this machine calls its processor."""
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        name, _, value = line.partition(":")
        if name.strip() == "model name":
            return value.strip()
    return "a processor without a name"


def milliseconds(calls: Mapping[str, Callable[[], Any]], runs: int = 5) -> dict[str, float]:
    """The median of the runs of each call, after one that is not counted. The calls take turns, so that
    what else the machine does meets all of them."""
    times: dict[str, list[float]] = {name: [] for name in calls}
    for run in range(1 + runs):
        for name, call in calls.items():
            begin = time.perf_counter()
            call()
            if run > 0:
                times[name].append(1e3 * (time.perf_counter() - begin))
    return {name: statistics.median(of) for name, of in times.items()}


def median(call: Callable[[], Any]) -> float:
    """`milliseconds` of one call."""
    return milliseconds({"": call})[""]


def report(measured: Mapping[str, float]) -> None:
    """Prints what `milliseconds` returned, and where."""
    width = max(map(len, measured))
    for name, time_of in measured.items():
        print(f"{name:{width}} {time_of:10.3f} ms")
    print(f"median of 5 runs, {len(os.sched_getaffinity(0))} cores of {processor()}")
