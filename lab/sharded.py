#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Times sharded indexes and joins on some numbers of GPUs, or of processes without one, in one call.

    lab/sharded.py                            # 1, 2, 4, 8 GPUs, as many as there are; else 1 and 2 processes, by gloo
    lab/sharded.py --processes 1,4 --lookups 2^28x2^27x32 --joins ""
    torchrun --nnodes 2 --nproc-per-node 8 ... lab/sharded.py --processes 1,8,16

`--lookups` are keys of each process, probes of each, and bits of both; `--joins` the rows of the right and of the left
table of each process, and bits of their keys. Keys are all different and in random order. Of the probes, and of the
left rows, half have a key of some process, any of them; of a `skewed join` half of the left rows have one key. Every
answer is compared with what the rows of the keys say, and with joins every pair.

The steps of `first` are timed one by one, with all processes waiting for each other before each: `route` divides
probes among the subranges of all shards, `exchange` sends keys, `lookup` asks the local shard, `back` sends rows,
`undo` puts them in the order of the probes. `first` is the whole call, in which what is sent and what is looked up
overlap, with the agreements between the steps; `gather` is one. Of smaller batches there are three lines: all
probes go `to all` shards, they are `divided`, or the library chooses. `one index` is the same batch on an index of the
process alone, of as many keys, for which nothing is sent. Steps of a join are `join: route`, of both tables,
`join: exchange`, of keys and rows, and `join: match`, the local join; `join` is the whole call with
`exchange="shuffle"`, `join, as chosen` without it, and `one join` a join of the process's own rows. `exchange` and
`back` are by NCCL or gloo.

Prints CSV, a row a step: milliseconds are those of the slowest process, the median of `--repeats`; `rate` is 10^9
probes or left rows a second of all processes together, `sent_bytes` what a process sends to others in that step.
`linear` is the rate as a part of as many times that of `one index`, or `one join`, on the fewest processes of the call.
"""

import argparse
import csv
import functools
import multiprocessing
import os
import statistics
import subprocess
import sys
import tempfile
import time
from typing import NamedTuple

import numpy as np
import raydex
import torch
import torch.distributed as dist
from raydex import sharded
from raydex.sharded import _call
from raydex.sharded._exchange import by_process
from raydex.sharded._routing import route, splitters_from, undo

FIELDS = ["device", "exchange", "processes", "keys", "probes", "key_bits", "step", "milliseconds", "rate", "linear",
          "sent_bytes"]
FEW = [1 << 10, 1 << 16, 10**6, 1 << 22, 1 << 24]
LOOKUPS = "2^28x2^27x32,2^28x2^27x64,150000000x50000000x32"
JOINS = "2^26x2^26x32,2^26x2^26x64"
BLOCK = 1 << 24  # cells that are made at a time


def number(text):
    base, _, exponent = text.partition("^")
    return int(base) ** int(exponent) if exponent else int(text)


def named(count):
    """As people write it."""
    exponent = count.bit_length() - 1
    return f"2^{exponent}" if count == 1 << exponent else f"10^{len(str(count)) - 1}" if count == 10**6 else str(count)


class Case(NamedTuple):
    """What each process has."""

    keys: int
    probes: int
    bits: int


def cases(text):
    return [Case(*map(number, one.split("x"))) for one in text.split(",") if one]


def mixed(numbers, bits):
    """A permutation of the integers below 2^bits, as a hash has it; in place, of int64."""
    mask = (1 << bits) - 1
    for shift, factor in ((bits // 2, 0x7FEB352D), (bits // 2 - 1, 0x846CA68B)):
        numbers ^= numbers >> shift
        numbers *= factor
        numbers &= mask
    numbers ^= numbers >> (bits // 2)
    return numbers


class Data:
    """Columns of a case, made where they are used. The key of a row is known by its number."""

    def __init__(self, case, process, processes, device):
        self.case = case
        self.device = device
        self.total = case.keys * processes
        self.begin = case.probes * process
        self.keys = self.keys_of(torch.arange(case.keys * process, case.keys * (process + 1), device=device))
        self.probes = self.wanted = None

    def keys_of(self, rows):
        """The keys of rows; rows of no process have keys, too."""
        bits = 32 if self.case.bits == 32 else 40
        found = torch.empty(len(rows), dtype=torch.int32 if bits == 32 else torch.int64, device=self.device)
        for at in range(0, len(rows), BLOCK):
            some = mixed(rows[at:at + BLOCK].clone(), bits)
            found[at:at + BLOCK] = some - (1 << 31) if bits == 32 else some
        return found

    def rows_of(self, probes, skewed=False):
        """The row whose key each probe has, by the probe's number; half of them are of no process."""
        found = torch.empty_like(probes)
        for at in range(0, len(probes), BLOCK):
            drawn = mixed(probes[at:at + BLOCK] + (1 << 38), 40)
            hot = drawn & 1 == 0 if skewed else torch.zeros_like(drawn, dtype=torch.bool)
            found[at:at + BLOCK] = torch.where(hot, self.total // 3, (drawn >> 1) % (2 * self.total))
        return found

    def ask(self, skewed=False):
        """Makes probes, and the rows that they are to find."""
        rows = self.rows_of(torch.arange(self.begin, self.begin + self.case.probes, device=self.device), skewed)
        self.probes = self.keys_of(rows)
        self.wanted = torch.where(rows < self.total, rows, -1)

    def check(self, answers):
        if not torch.equal(torch.as_tensor(answers), self.wanted[:len(answers)]):
            raise AssertionError("wrong answers")

    def check_pairs(self, engine, pairs, skewed):
        """Those of all processes: each left row that has a key of the right table is there, once, with its row."""
        left, right = map(torch.as_tensor, pairs)
        if not torch.equal(self.rows_of(left, skewed), right):
            raise AssertionError("pairs that do not match")
        there = self.wanted >= 0
        numbers = torch.nonzero(there).reshape(-1) + self.begin
        found = np.array(engine.gather((len(left), int(left.sum()), len(numbers), int(numbers.sum()))))
        if (found[:, :2].sum(axis=0) != found[:, 2:].sum(axis=0)).any():
            raise AssertionError("pairs that are missing, or there twice")


class Clock:
    """Times a step of all processes."""

    def __init__(self, engine, wait, repeats):
        self.engine = engine
        self.wait = wait
        self.repeats = repeats

    def __call__(self, call, *arguments, repeats=None, **named):
        """The median of the slowest process's milliseconds, after one to warm up, and what the last call returned."""
        times = []
        for _ in range(1 + (repeats or self.repeats)):
            found = None  # its memory is for the next one
            milliseconds, found = self.once(call, *arguments, **named)
            times.append(milliseconds)
        return (statistics.median(times[1:]), found)

    def once(self, call, *arguments, **named):
        self.wait()
        self.engine.gather(None)
        begin = time.perf_counter()
        found = call(*arguments, **named)
        self.wait()
        return (1000 * max(self.engine.gather(time.perf_counter() - begin)), found)


class Report:
    """The rows of one engine."""

    def __init__(self, engine, device, arguments):
        self.engine = engine
        self.arguments = arguments
        self.device = device
        wait = (lambda: None) if device is None else functools.partial(torch.cuda.synchronize, device)
        self.clock = Clock(engine, wait, arguments.repeats)
        self.name = "cpu" if device is None else torch.cuda.get_device_name(device)
        self.exchange = "none" if engine.processes == 1 else "gloo" if device is None else arguments.exchange
        self.rows = []

    def say(self, case, step, milliseconds, count, sent=0):
        self.rows.append({
            "device": self.name, "exchange": self.exchange, "processes": self.engine.processes, "keys": case.keys,
            "probes": case.probes, "key_bits": case.bits, "step": step, "milliseconds": f"{milliseconds:.4g}",
            "rate": f"{count * self.engine.processes / milliseconds / 1e6:.4g}", "linear": "", "sent_bytes": sent,
        })
        if self.engine.process == 0:
            print(f"{self.engine.processes} x {case.keys} x {case.probes} x {case.bits}: {step} {milliseconds:.4g}",
                  file=sys.stderr, flush=True)

    def data(self, case):
        return Data(case, self.engine.process, self.engine.processes, self.device or "cpu")

    def given(self, tensor):
        """A column as raydex is given it: gloo exchanges what is of NumPy, too."""
        return tensor.numpy() if self.device is None else tensor

    def lookups(self, case):
        engine, clock, structure = self.engine, self.clock, self.arguments.structure
        say = functools.partial(self.say, case)
        data = self.data(case)
        keys = self.given(data.keys)
        data.ask()
        probes = self.given(data.probes)
        few = [count for count in FEW if count <= case.probes]

        alone = raydex.build(keys, structure)
        milliseconds, _ = clock(alone.first, probes)
        say("one index", milliseconds, case.probes)
        for count in few:
            milliseconds, _ = clock(alone.first, probes[:count], repeats=20)
            say(f"one index of {named(count)}", milliseconds, count)
        alone.close()

        milliseconds, index = clock.once(
            sharded.build, keys, structure, engine=engine, most_probes=self.arguments.most_probes)
        say("build", milliseconds, case.keys)
        milliseconds, _ = clock(engine.gather, ("first", "of", "points", {"size": case.probes}), repeats=200)
        say("gather", milliseconds, 1)

        shards = index._shards
        milliseconds, routes = clock(route, probes, None, shards.subrange_splitters, None, engine.unit)
        say("route", milliseconds, case.probes)
        table = by_process(np.stack(engine.gather(routes.counts)))
        sent, received = table[engine.process].tolist(), table[:, engine.process].tolist()
        away = sum(sent) - sent[engine.process]
        width, narrow = case.bits // 8, np.dtype(shards.narrow("first")).itemsize
        arrived = routes.lower
        if engine.processes > 1:
            milliseconds, arrived = clock(engine.exchange, routes.lower, sent, received)
            say("exchange", milliseconds, case.probes, away * width)
        milliseconds, found = clock(shards.local, "first", [arrived], np.array([len(arrived)]), {})
        say("lookup", milliseconds, case.probes)
        answers = found
        if engine.processes > 1:
            milliseconds, answers = clock(engine.exchange, found, received, sent)
            say("back", milliseconds, case.probes, (sum(received) - received[engine.process]) * narrow)
        milliseconds, stepwise = clock(undo, routes, answers, "single", widen=True)
        say("undo", milliseconds, case.probes)
        data.check(stepwise)
        del routes, arrived, found, answers, stepwise
        milliseconds, whole = clock(index.first, probes)
        say("first", milliseconds, case.probes, away * (width + narrow))
        data.check(whole)
        del whole

        chosen = _call.most_for
        for count in few:
            ways = {"": chosen, ", divided": lambda _: -1}
            if engine.processes > 1:
                ways[", to all"] = lambda _, most=count * engine.processes: most
            for how, most in ways.items():
                _call.most_for = most
                milliseconds, whole = clock(index.first, probes[:count], repeats=20)
                say(f"first of {named(count)}{how}", milliseconds, count)
                data.check(whole)
        _call.most_for = chosen
        if engine.process == 0:
            print(f"imbalance of rows {index.balance.imbalance:.3f}, of probes {index.balance.probe_imbalance:.3f}",
                  file=sys.stderr, flush=True)
        index.close()

    def joins(self, case):
        engine, clock, structure = self.engine, self.clock, self.arguments.structure
        say = functools.partial(self.say, case)
        data = self.data(case)
        right = self.given(data.keys)
        for skewed in (False, True):
            data.ask(skewed)
            left = self.given(data.probes)
            prefix = "skewed " if skewed else ""
            milliseconds, pairs = clock(raydex.join, right, left, structure=structure, repeats=3)
            say(f"{prefix}one join", milliseconds, case.probes)
            del pairs
            if not skewed:
                self.join_by_step(case, left, right)
            for how, exchange in (("", "shuffle"), (", as chosen", None)):
                milliseconds, pairs = clock(
                    sharded.join, left, right, exchange=exchange, structure=structure, engine=engine, repeats=3)
                say(f"{prefix}join{how}", milliseconds, case.probes)
                data.check_pairs(engine, pairs, skewed)
                del pairs

    def join_by_step(self, case, left, right):
        engine, clock = self.engine, self.clock
        samples = engine.gather(right[:4096].copy() if self.device is None else right[:4096].cpu().numpy())
        splitters = splitters_from(samples, engine.processes)

        def divide():
            return [route(side, None, splitters) for side in (left, right)]

        def move():
            if engine.processes == 1:
                return [x for one, row in zip(routes, rows) for x in (one.lower, self.given(row))]
            return [engine.exchange(x, to, of) for one, row, to, of in zip(routes, rows, sent, received)
                    for x in (one.lower, self.given(row))]

        milliseconds, routes = clock(divide, repeats=3)
        self.say(case, "join: route", milliseconds, case.probes)
        tables = [by_process(np.stack(engine.gather(one.counts))) for one in routes]
        sent = [one[engine.process].tolist() for one in tables]
        received = [one[:, engine.process].tolist() for one in tables]
        narrow = max(case.keys, case.probes) * engine.processes < 1 << 31
        rows = [torch.arange(len(side), dtype=torch.int32 if narrow else torch.int64, device=self.device or "cpu")
                for side in (left, right)]
        milliseconds, moved = clock(move, repeats=3)
        away = sum(sum(one) - one[engine.process] for one in sent)
        if engine.processes > 1:
            self.say(case, "join: exchange", milliseconds, case.probes, away * (case.bits // 8 + (4 if narrow else 8)))
        milliseconds, _ = clock(raydex.join, moved[2], moved[0], structure=self.arguments.structure, repeats=3)
        self.say(case, "join: match", milliseconds, case.probes)


def fill_in_linear(rows):
    """The rates as parts of as many times that of one process alone."""
    def base_of(step):
        alone = step.replace("first", "one index").replace("join", "one join").partition(",")[0]
        return None if ":" in step or alone == step or "one" in step else alone

    def workload(row):
        return (row["keys"], row["probes"], row["key_bits"])

    least = min(row["processes"] for row in rows)
    alone = {(*workload(row), row["step"]): float(row["milliseconds"]) for row in rows if row["processes"] == least}
    for row in rows:
        base = alone.get((*workload(row), base_of(row["step"])))
        if base is not None:
            row["linear"] = f"{base / float(row['milliseconds']):.3g}"


def commit():
    """Where this file is from, if git knows."""
    found = subprocess.run(["git", "-C", os.path.dirname(os.path.abspath(__file__)), "rev-parse", "--short", "HEAD"],
                           capture_output=True, text=True, check=False)
    return found.stdout.strip() or os.environ.get("RAYDEX_COMMIT", "a commit that git does not know here")


def measure(process, processes, device, arguments):
    """All of it, as one of so many processes. Prints the rows on process 0."""
    waiting = dist.new_group(backend="gloo")
    counts = sorted({one for one in arguments.processes if one <= processes})
    groups = [dist.new_group(list(range(count))) for count in counts]
    rows, writer = [], csv.DictWriter(sys.stdout, FIELDS, lineterminator="\n")
    if process == 0:
        print(f"# {' '.join(['lab/sharded.py', *sys.argv[1:]])}, at {commit()}")
        writer.writeheader()
    for count, group in zip(counts, groups):
        if process < count:
            engine = sharded.TorchExchange(group, peers=arguments.exchange == "peers")
            if arguments.exchange == "peers" and device is not None and count > 1 and engine._peers is None:
                raise SystemExit("the GPUs do not reach each other's memory; give --exchange nccl")
            report = Report(engine, device, arguments)
            warm_up(report)
            for case in arguments.lookups:
                report.lookups(case)
            for case in arguments.joins:
                report.joins(case)
            engine.close()
            rows += report.rows
            fill_in_linear(rows)
            if process == 0:
                writer.writerows(report.rows)
                sys.stdout.flush()
        dist.barrier(group=waiting)


def warm_up(report):
    """Connections and kernels, which the first exchange waits for."""
    for bits in (32, 64):
        data = report.data(Case(1 << 16, 1 << 16, bits))
        data.ask()
        keys, probes = report.given(data.keys), report.given(data.probes)
        with sharded.build(keys, engine=report.engine) as index:
            index.first(probes)
        for exchange in ("shuffle", "broadcast"):
            sharded.join(probes, keys, exchange=exchange, engine=report.engine)


def started(process, processes, arguments, store):
    """One of the processes, on a GPU if there are any."""
    device = None
    if arguments.device == "cuda":
        device = torch.device("cuda", int(os.environ.get("LOCAL_RANK", process)))
        torch.cuda.set_device(device)
    else:
        torch.set_num_threads(max(1, (os.cpu_count() or 1) // processes))
    dist.init_process_group("gloo" if device is None else "nccl", init_method=store, rank=process, world_size=processes)
    try:
        measure(process, processes, device, arguments)
    finally:
        dist.destroy_process_group()


def main():
    on_gpu = torch.cuda.is_available()
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", choices=["cuda", "cpu"], default="cuda" if on_gpu else "cpu")
    parser.add_argument(
        "--processes", type=lambda text: [*map(int, text.split(","))], help="numbers of them; by default as above")
    parser.add_argument("--lookups", type=cases, help=f"on GPUs by default {LOOKUPS}")
    parser.add_argument("--joins", type=cases, help=f"on GPUs by default {JOINS}")
    parser.add_argument("--most-probes", type=number, help="of a round; by default as `raydex.sharded.build`")
    parser.add_argument("--structure", default="auto")
    parser.add_argument(
        "--exchange", choices=["peers", "nccl"], default="peers", help="of lookups between GPUs; %(default)s")
    parser.add_argument("--repeats", type=int, default=5)
    arguments = parser.parse_args()
    cuda = arguments.device == "cuda"
    if arguments.lookups is None:
        arguments.lookups = cases(LOOKUPS if cuda else "2^22x2^22x32")
    if arguments.joins is None:
        arguments.joins = cases(JOINS if cuda else "2^20x2^20x32")
    if "RANK" in os.environ and "WORLD_SIZE" in os.environ:  # by torchrun
        processes = int(os.environ["WORLD_SIZE"])
        arguments.processes = arguments.processes or [processes]
        started(int(os.environ["RANK"]), processes, arguments, "env://")
        return
    if arguments.processes is None:
        arguments.processes = [one for one in (1, 2, 4, 8) if one <= (torch.cuda.device_count() if cuda else 2)]
    processes = max(arguments.processes)
    context = multiprocessing.get_context("spawn")
    with tempfile.TemporaryDirectory() as folder:
        store = f"file://{os.path.join(folder, 'store')}"
        each = [context.Process(target=started, args=(at, processes, arguments, store)) for at in range(processes)]
        for one in each:
            one.start()
        while any(one.is_alive() for one in each):
            if any(one.exitcode for one in each):  # the others wait for it
                for one in each:
                    one.terminate()
            time.sleep(0.1)
    sys.exit(any(one.exitcode for one in each))


if __name__ == "__main__":
    main()
