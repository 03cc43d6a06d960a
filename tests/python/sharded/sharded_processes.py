# SPDX-License-Identifier: Apache-2.0
"""Starts processes that exchange by gloo or NCCL, and ends them if they do not end by themselves."""

import importlib
import multiprocessing
import os
import sys
import time
import traceback

# Of cases that are drawn: the first seed, and how many.
SEED = int(os.environ.get("RAYDEX_TEST_SEED", "1"))
SEEDS = max(1, 10 // int(os.environ.get("RAYDEX_TEST_SHARE", "1/1").removeprefix("1/")))


def _main(name, backend, process, processes, store, engine_options, results, arguments):
    import torch
    import torch.distributed as dist
    from raydex.sharded import TorchExchange

    torch.set_num_threads(1)
    if backend == "nccl":
        torch.cuda.set_device(process)
    dist.init_process_group(backend, init_method=f"file://{store}", rank=process, world_size=processes)
    try:
        module, _, function = name.partition(":")
        engine = TorchExchange(**engine_options)
        answer = getattr(importlib.import_module(module), function)(engine, *arguments)
        results.put((process, None, answer))
    except BaseException:
        results.put((process, traceback.format_exc(), None))
    results.close()
    results.join_thread()
    # Others may be gone: nothing is to wait for them.
    os._exit(0)


def run(name, processes, folder, *arguments, backend="gloo", timeout=30.0, limit=120.0, dies=(), **engine_options):
    """What a function "module:name" returns on each process, called with its engine and the arguments; None for
    those that die. `engine_options` are of `TorchExchange`. Fails if one raises, or if they take longer than
    `limit` seconds."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["numpy", "torch", "torch.distributed", "raydex", "raydex.sharded"])
    results = context.Queue()
    store = os.path.join(folder, f"store-{name.rpartition(':')[2]}-{processes}-{time.monotonic_ns()}")
    sys.path.insert(0, os.path.dirname(__file__))
    started = [
        context.Process(
            target=_main, daemon=True,
            args=(name, backend, at, processes, store, {"timeout": timeout, **engine_options}, results, arguments))
        for at in range(processes)
    ]
    for one in started:
        one.start()
    found = [None] * processes
    try:
        end = time.monotonic() + limit
        for _ in range(processes - len(dies)):
            process, error, answer = results.get(timeout=max(0.1, end - time.monotonic()))
            assert error is None, f"process {process}: {error}"
            found[process] = answer
        return found
    finally:
        for one in started:
            one.join(0.1)
            if one.is_alive():
                one.kill()
            one.join()
        sys.path.pop(0)
