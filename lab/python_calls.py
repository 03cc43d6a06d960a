#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Times what a call of the Python package costs beside the library's own work.

For columns of NumPy, PyTorch and pyarrow in host memory, and on a GPU of PyTorch and CuPy, it times
`index.first`, `count`, `rank` and `contains` of a few probes over 1000 keys of int64, and on a GPU
`raydex.searchsorted`, as a user calls them, and the call of the extension that these make, with its columns, its
output and its stream at hand. The difference is the overhead: looking at the arguments, the current stream and
device, the result's memory, on a GPU also the conversions of row ids to int64 and of `contains` to bool.

Each figure is in microseconds a call, on the clock of the caller: the least of many short stretches of calls, in
turn of the one and the other, since whatever else the machine does only adds to it. On a GPU a stretch begins with
an idle device and is too short to fill its queue, so that the caller never waits for it. Prints JSON.
"""

import argparse
import functools
import json
import sys
import time

import numpy as np
import raydex
from raydex import _raydex

KEYS = 1000
CALLS = 20  # a stretch


def numpy_columns():
    return (lambda array: array), (lambda: None), np.__version__


def pyarrow_columns():
    import pyarrow

    return pyarrow.array, (lambda: None), pyarrow.__version__


def torch_columns(device):
    import torch

    if device == "cuda" and not torch.cuda.is_available():
        raise ImportError("no GPU")
    wait = torch.cuda.synchronize if device == "cuda" else lambda: None
    return (lambda array: torch.as_tensor(array, device=device)), wait, torch.__version__


def cupy_columns():
    import cupy

    cupy.cuda.runtime.getDeviceCount()
    return cupy.asarray, cupy.cuda.runtime.deviceSynchronize, cupy.__version__


KINDS = {
    "numpy": numpy_columns,
    "pyarrow": pyarrow_columns,
    "torch": functools.partial(torch_columns, "cpu"),
    "torch-cuda": functools.partial(torch_columns, "cuda"),
    "cupy": cupy_columns,
}


def least(calls, wait, stretches):
    """Microseconds of each of some calls."""
    best = [float("inf")] * len(calls)
    for _ in range(stretches):
        for i, call in enumerate(calls):
            wait()
            begin = time.perf_counter_ns()
            for _ in range(CALLS):
                call()
            best[i] = min(best[i], time.perf_counter_ns() - begin)
    wait()
    return [one / CALLS / 1000 for one in best]


def calls_of(index, keys, probes):
    """By name: what a user calls, and what of the extension is called then. The keys are sorted."""
    batch, rows = index._batch(probes, None, None), index._batch(keys, None, None)
    out = batch.library.empty(batch.size, "int64", batch.stream)
    native, to = index._native, batch.library.address(out)

    def run(call, arguments, *others):
        return lambda: call(*arguments, *others, to, batch.size)

    on_a_gpu = {} if batch.library.device is None else {
        "searchsorted": (
            lambda: raydex.searchsorted(keys, probes),
            run(_raydex.search_sorted, ("cuda", *rows.points), batch.points[2], False),
        ),
    }
    return {
        "first": (lambda: index.first(probes), run(native.first, batch.arguments)),
        "contains": (lambda: index.contains(probes), run(native.contains, batch.arguments)),
        "count": (lambda: index.count(probes), run(native.count, batch.arguments)),
        "rank": (lambda: index.rank(probes), run(native.rank, batch.points, False)),
        **on_a_gpu,
    }, (out, batch, rows)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kinds", default=",".join(KINDS), help="some of %(default)s")
    parser.add_argument("--probes", default="1,100")
    parser.add_argument("--stretches", type=int, default=1000)
    arguments = parser.parse_args()

    results = []
    for kind in arguments.kinds.split(","):
        try:
            put, wait, version = KINDS[kind]()
        except Exception as error:  # a library that is not there, or has no GPU
            print(f"{kind}: left out: {error}", file=sys.stderr)
            continue
        keys = put(np.arange(KEYS))
        index = raydex.build(keys)
        for count in map(int, arguments.probes.split(",")):
            probes = put(np.arange(count) % (2 * KEYS))
            calls, kept = calls_of(index, keys, probes)
            for name, pair in calls.items():
                whole, own = least(pair, wait, arguments.stretches)
                results.append({
                    "columns": kind, "version": version, "device": index.info.device, "call": name, "probes": count,
                    "call_us": round(whole, 2), "extension_us": round(own, 2), "overhead_us": round(whole - own, 2),
                })
            del kept
    head = {
        "raydex": raydex.__version__, "python": sys.version.split()[0], "numpy": np.__version__, "keys": KEYS,
        "calls_a_stretch": CALLS, "stretches": arguments.stretches,
    }
    print(json.dumps({**head, "results": results}, indent=1))


if __name__ == "__main__":
    main()
