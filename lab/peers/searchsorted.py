#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Times searchsorted of PyTorch and CuPy on a GPU, on columns like those that `raydex bench` takes by
default: n distinct 32-bit keys, spread evenly, and probes drawn from them.

Times are CUDA events around a call, as those of `raydex bench` are, the median of some calls after a
warm-up. Answers are checked. Keys are int32, since PyTorch has no search in unsigned keys. Prints a CSV
table; beside it belongs

  raydex bench --structure pivot_tree --backend cuda --keys 2^20,2^24,2^26 --probes 2^26
"""

import argparse
import functools
import statistics


def size(text):
    base, _, exponent = text.partition("^")
    return int(base) ** int(exponent or 1)


def torch_peer():
    import torch

    def column(values):
        return torch.from_numpy(values).cuda()

    def search(keys, probes):
        return torch.searchsorted(keys, probes, out_int32=True)

    def timed(work):
        begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        begin.record()
        result = work()
        end.record()
        end.synchronize()
        return begin.elapsed_time(end), result

    return torch.__version__, column, search, timed, lambda result: result.cpu().numpy()


def cupy_peer():
    import cupy

    def timed(work):
        begin, end = cupy.cuda.Event(), cupy.cuda.Event()
        begin.record()
        result = work()
        end.record()
        end.synchronize()
        return cupy.cuda.get_elapsed_time(begin, end), result

    return cupy.__version__, cupy.asarray, cupy.searchsorted, timed, cupy.asnumpy


PEERS = {"torch": torch_peer, "cupy": cupy_peer}


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--keys", default="2^20,2^24,2^26")
    parser.add_argument("--probes", default="2^26")
    parser.add_argument("--repetitions", type=int, default=7)
    parser.add_argument("--peers", default="torch,cupy")
    arguments = parser.parse_args()

    import numpy as np

    draw = np.random.default_rng(1)
    print("peer,version,keys,probes,probe_order,ms,lookups_per_s")
    for n in map(size, arguments.keys.split(",")):
        # Gaps of all sizes up to twice the average: distinct, ascending, and as even as drawn keys.
        gaps = draw.integers(1, max(2, min(2**31, 2**33 // (n + n // 16 + 1))), n)
        keys = (np.cumsum(gaps) - 2**31).astype(np.int32)
        for count in map(size, arguments.probes.split(",")):
            probes = draw.choice(keys, count)
            for order in ("unsorted", "sorted"):
                if order == "sorted":
                    probes = np.sort(probes)
                measure(arguments, keys, probes, order)


def measure(arguments, keys, probes, order):
    import numpy as np

    expected = np.searchsorted(keys, probes[:100000])
    for peer in arguments.peers.split(","):
        version, column, search, timed, to_host = PEERS[peer]()
        on_device = column(keys), column(probes)
        once = functools.partial(search, *on_device)
        timed(once)
        runs = [timed(once) for _ in range(arguments.repetitions)]
        if not np.array_equal(expected, to_host(runs[-1][1][:100000])):
            raise SystemExit(f"{peer} answers in another way than NumPy")
        ms = statistics.median(run[0] for run in runs)
        print(peer, version, len(keys), len(probes), order, f"{ms:.4g}",
              f"{len(probes) / ms * 1000:.4g}", sep=",", flush=True)


if __name__ == "__main__":
    main()
