#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Times the steps of lookups in a sharded index: of one process, of several on this host, or of a GPU each.

    lab/sharded.py --processes 2                                        # gloo, on the CPU
    torchrun --nproc-per-node 2 lab/sharded.py --keys 2^28 --probes 2^27  # a GPU a process

Each process has random keys and random probes, half of which are keys of some process. The steps of `first` are
timed one by one, with all processes waiting for each other before each: `route` divides probes among the subranges of
all shards, `exchange` sends keys, `lookup` asks the local shard, `back` sends rows, `undo` puts them in the order of
the probes; `exchange` and `back` are by NCCL or gloo. `first` is the whole call, in which what is sent and what is
looked up overlap, with the agreements between the steps and several rounds where a batch is larger than
`--most-probes`. Of smaller batches there are two lines: in one all probes go `to all` shards, in the other they are
`divided`, whichever the library does. `one index` is the same batch on an index of the process alone, of as many keys,
for which nothing is sent. `build` and `join` are of the whole, once.

Prints CSV, a row a step: milliseconds are those of the slowest process, the median of `--repeats`; `rate` is 10^9
probes a second of all processes together, `sent_bytes` what a process sends to others in that step.
"""

import argparse
import csv
import functools
import multiprocessing
import os
import statistics
import sys
import tempfile
import time

import numpy as np
import raydex
from raydex import sharded
from raydex.sharded import _call
from raydex.sharded._exchange import by_process
from raydex.sharded._routing import route, undo

FIELDS = ["device", "exchange", "processes", "keys", "probes", "key_bits", "step", "milliseconds", "rate", "sent_bytes"]


def number(text):
    base, _, exponent = text.partition("^")
    return int(base) ** int(exponent) if exponent else int(text)


class Clock:
    """Times a step of all processes."""

    def __init__(self, engine, wait, repeats):
        self.engine = engine
        self.wait = wait
        self.repeats = repeats

    def __call__(self, call, repeats=None):
        """The median of the slowest process's milliseconds, and what the last call returned."""
        times = []
        for _ in range(1 + (repeats or self.repeats)):
            self.wait()
            self.engine.gather(None)
            begin = time.perf_counter()
            found = call()
            self.wait()
            times.append(max(self.engine.gather(time.perf_counter() - begin)))
        return (1000 * statistics.median(times[1:] or times), found)


def once(clock, call):
    clock.wait()
    clock.engine.gather(None)
    begin = time.perf_counter()
    found = call()
    clock.wait()
    return (1000 * max(clock.engine.gather(time.perf_counter() - begin)), found)


def measure(arguments, engine, device):
    """The rows of the report, the same on each process."""
    random = np.random.default_rng(engine.process)
    dtype = np.dtype(f"int{arguments.key_bits}")
    most = 1 << min(arguments.key_bits - 1, 40)
    keys = random.integers(0, most, arguments.keys).astype(dtype)
    others = [np.random.default_rng(at).integers(0, most, 1 << 16) for at in range(engine.processes)]
    probes = random.integers(0, most, arguments.probes).astype(dtype)
    probes[::2] = random.choice(np.concatenate(others), len(probes[::2]))
    wait = functools.partial(bool)  # nothing to wait for
    if device is not None:
        import torch

        keys, probes = (torch.as_tensor(one, device=device) for one in (keys, probes))
        wait = functools.partial(torch.cuda.synchronize, device)
    clock = Clock(engine, wait, arguments.repeats)
    rows = []

    exchange = "none" if engine.processes == 1 else "gloo" if device is None else arguments.exchange

    def say(step, milliseconds, count, sent=0):
        rows.append({
            "device": "cpu" if device is None else torch.cuda.get_device_name(device),
            "exchange": exchange,
            "processes": engine.processes, "keys": arguments.keys, "probes": arguments.probes,
            "key_bits": arguments.key_bits, "step": step, "milliseconds": f"{milliseconds:.4g}",
            "rate": f"{count * engine.processes / milliseconds / 1e6:.4g}", "sent_bytes": sent,
        })

    alone = raydex.build(keys, arguments.structure)
    milliseconds, _ = clock(lambda: alone.first(probes))
    say("one index", milliseconds, arguments.probes)
    alone.close()

    milliseconds, index = once(clock, lambda: sharded.build(
        keys, arguments.structure, engine=engine, most_probes=arguments.most_probes))
    say("build", milliseconds, arguments.keys)

    milliseconds, routes = clock(lambda: route(probes, None, index._shards.subrange_splitters, None, engine.unit))
    say("route", milliseconds, arguments.probes)
    table = by_process(np.stack(engine.gather(routes.counts)))
    sent, received = table[engine.process].tolist(), table[:, engine.process].tolist()
    away = sum(sent) - sent[engine.process]
    milliseconds, arrived = clock(lambda: engine.exchange(routes.lower, sent, received))
    say("exchange", milliseconds, arguments.probes, away * dtype.itemsize)
    narrow = index._shards.narrow("first")
    milliseconds, found = clock(lambda: index._shards.local("first", [arrived], np.array([len(arrived)]), {}))
    say("lookup", milliseconds, arguments.probes)
    milliseconds, answers = clock(lambda: engine.exchange(found, received, sent))
    say("back", milliseconds, arguments.probes, (sum(received) - received[engine.process]) * np.dtype(narrow).itemsize)
    milliseconds, stepwise = clock(lambda: undo(routes, answers, "single", widen=True))
    say("undo", milliseconds, arguments.probes)
    milliseconds, whole = clock(lambda: index.first(probes))
    say("first", milliseconds, arguments.probes, away * (dtype.itemsize + np.dtype(narrow).itemsize))
    if not bool((whole == stepwise).all()):
        raise AssertionError("the steps and the call differ")
    chosen = _call.most_for
    for exponent in [one for one in range(10, 27, 2) if 2**one <= len(probes)]:
        few = probes[:2**exponent]
        for how, most in (("to all", len(few) * engine.processes), ("divided", -1)):
            _call.most_for = lambda _: most
            milliseconds, _ = clock(lambda: index.first(few), 20)
            say(f"first of 2^{exponent}, {how}", milliseconds, len(few))
    _call.most_for = chosen
    imbalance = (index.balance.imbalance, index.balance.probe_imbalance)
    index.close()
    milliseconds, _ = once(clock, lambda: sharded.join(probes, keys, exchange="shuffle", engine=engine))
    say("join", milliseconds, arguments.probes)
    if engine.process == 0:
        print(f"imbalance of rows {imbalance[0]:.3f}, of probes {imbalance[1]:.3f}", file=sys.stderr)
    return rows


def write(rows):
    writer = csv.DictWriter(sys.stdout, FIELDS)
    writer.writeheader()
    writer.writerows(rows)


def local(process, arguments, store):
    """A process that exchanges by gloo with others of this host."""
    import torch
    import torch.distributed as dist

    torch.set_num_threads(max(1, (os.cpu_count() or 1) // arguments.processes))
    dist.init_process_group(
        "gloo", init_method=f"file://{store}", rank=process, world_size=arguments.processes)
    rows = measure(arguments, sharded.TorchExchange(), None)
    if process == 0:
        write(rows)
    dist.barrier()
    dist.destroy_process_group()


def launched(arguments):
    """A process that torchrun started."""
    import torch
    import torch.distributed as dist

    if torch.cuda.is_available():
        torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
    dist.init_process_group("nccl" if torch.cuda.is_available() else "gloo")
    engine = sharded.TorchExchange(peers=arguments.exchange == "peers")
    if arguments.exchange == "peers" and engine.device is not None and engine._peers is None:
        raise SystemExit("the GPUs do not reach each other's memory; give --exchange nccl")
    rows = measure(arguments, engine, engine.device)
    if engine.process == 0:
        write(rows)
    dist.barrier()
    dist.destroy_process_group()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--processes", type=int, default=2, help="of this host, with gloo; not with torchrun")
    parser.add_argument("--keys", type=number, default=1 << 22, help="of each process; %(default)s")
    parser.add_argument("--probes", type=number, default=1 << 22, help="of each process; %(default)s")
    parser.add_argument("--key-bits", type=int, choices=[32, 64], default=32)
    parser.add_argument("--most-probes", type=number, help="of a round; by default as `raydex.sharded.build`")
    parser.add_argument("--structure", default="auto")
    parser.add_argument(
        "--exchange", choices=["peers", "nccl"], default="peers", help="of lookups between GPUs; %(default)s")
    parser.add_argument("--repeats", type=int, default=5)
    arguments = parser.parse_args()
    if "RANK" in os.environ and "WORLD_SIZE" in os.environ:
        launched(arguments)
        return
    context = multiprocessing.get_context("spawn")
    with tempfile.TemporaryDirectory() as folder:
        started = [
            context.Process(target=local, args=(at, arguments, os.path.join(folder, "store")))
            for at in range(arguments.processes)
        ]
        for one in started:
            one.start()
        for one in started:
            one.join()
    sys.exit(any(one.exitcode for one in started))


if __name__ == "__main__":
    main()
