# SPDX-License-Identifier: Apache-2.0
"""Sharded indexes on GPUs: several in one process, and in processes that exchange by NCCL. Skipped without a GPU."""

import numpy as np
import order_cases
import pytest
import raydex
import raydex.sharded
import sharded_cases as cases
import sharded_processes

torch = pytest.importorskip("torch", reason="PyTorch is not installed")
if not torch.cuda.is_available() or not any(
        one.backend == "cuda" and one.available for one in raydex.structures()):
    pytest.skip("no GPU, or a raydex or a PyTorch without CUDA", allow_module_level=True)

GPUS = torch.cuda.device_count()
PLACES = [["cuda:0"], ["cuda:0"] * 3, ["cpu", "cuda:0"]]
if GPUS > 1:
    PLACES.append([f"cuda:{at}" for at in range(GPUS)])
PROCESSES = sorted({1, min(2, GPUS), GPUS})


def on(device):
    return lambda x: torch.as_tensor(np.array(x), device=device)


def run(name, processes, folder, *arguments, **options):
    return sharded_processes.run(
        f"process_cases:{name}", processes, str(folder), *arguments, backend="nccl", **options)


def swapped(found):
    """What process 1 returned, then what the others did."""
    return [found[1], found[0], *found[2:]]


@pytest.mark.parametrize("places", PLACES, ids="+".join)
@pytest.mark.parametrize("dtype", ["int32", "int64", "uint64", "float32", "float64"])
def test_as_one_index(places, dtype):
    mine = cases.Party(0, 1, devices=places)
    for kind in ("plain", "duplicates", "equal", "few", "extremes", "empty"):
        cases.check_index(mine, dtype, kind, 7, convert=on(f"cuda:{GPUS - 1}"))
    cases.check_hot(mine, dtype, 7, convert=on("cuda:0"))


@pytest.mark.parametrize("places", PLACES, ids="+".join)
def test_probes_of_the_host(places):
    mine = cases.Party(0, 1, devices=places)
    for kind in ("plain", "missing", "extremes"):
        cases.check_index(mine, "int64", kind, 3)


@pytest.mark.parametrize("places", PLACES, ids="+".join)
@pytest.mark.parametrize("exchange", [None, "shuffle", "broadcast", "index"])
def test_joins(places, exchange):
    mine = cases.Party(0, 1, devices=places)
    for how in ("inner", "left", "right", "full", "semi", "anti"):
        for sizes in ((300, 200), (20, 400), (0, 30), (30, 0), (0, 0)):
            cases.check_join(mine, lambda x: [x], 5, sizes, how, exchange, 1, on("cuda:0"))
        cases.check_join(mine, lambda x: [x], 5, (400, 20), how, exchange, 2, on("cuda:0"))
        if exchange == "shuffle":
            for hot in cases.HOT:
                cases.check_hot_join(mine, lambda x: [x], 5, "int64", hot, how, 1, on("cuda:0"))


@pytest.mark.parametrize("places", PLACES, ids="+".join)
@pytest.mark.parametrize("kind", order_cases.KINDS)
def test_joins_by_order(places, kind):
    mine = cases.Party(0, 1, devices=places)
    for at, keys in enumerate(order_cases.KEYS):
        windows = [order_cases.check_windows] if kind != "times" else []
        for check in (order_cases.check_asof, order_cases.check_pairs, *windows):
            check(mine, lambda x: [x], at, kind, keys, on("cuda:0"))


@pytest.mark.parametrize("processes", PROCESSES)
def test_joins_by_order_between_processes(processes, tmp_path):
    found = sharded_processes.run("order_processes:joins", processes, str(tmp_path), 3, backend="nccl")
    assert found == ["done"] * processes


@pytest.mark.parametrize("peers", [True, False], ids=["peers", "nccl"])
@pytest.mark.parametrize("processes", PROCESSES)
def test_as_one_index_between_processes(processes, peers, tmp_path):
    assert run("on_gpus", processes, tmp_path, peers=peers) == ["done"] * processes


@pytest.mark.parametrize("peers", [True, False], ids=["peers", "nccl"])
@pytest.mark.parametrize("processes", PROCESSES)
def test_as_one_index_in_slices(processes, peers, tmp_path):
    assert run("slices", processes, tmp_path, 8, "on_gpus", peers=peers) == ["done"] * processes


@pytest.mark.parametrize("peers", [True, False], ids=["peers", "nccl"])
@pytest.mark.parametrize("processes", PROCESSES)
def test_few_and_many_probes(processes, peers, tmp_path):
    assert run("few_and_many", processes, tmp_path, peers=peers) == ["done"] * processes


@pytest.mark.parametrize("processes", PROCESSES)
def test_joins_between_processes(processes, tmp_path):
    assert run("joins", processes, tmp_path) == ["done"] * processes


@pytest.mark.skipif(GPUS < 2, reason="one GPU")
@pytest.mark.parametrize("subranges,peers", [(0, True), (8, True), (8, False)])
def test_cases_that_are_drawn(subranges, peers, tmp_path):
    seeds = (sharded_processes.SEED, sharded_processes.SEEDS)
    assert run("seeds", GPUS, tmp_path, *seeds, subranges, peers=peers) == ["done"] * GPUS


@pytest.mark.skipif(GPUS < 2, reason="one GPU")
@pytest.mark.parametrize("peers", [True, False], ids=["peers", "nccl"])
def test_memory_that_peers_write_to(peers, tmp_path):
    for given_back in run("peers", 2, tmp_path, peers=peers):
        # 4 * 10^6 answers come back, and half as many keys come.
        assert given_back >= 20_000_000 if peers else given_back is None


@pytest.mark.skipif(GPUS < 2, reason="one GPU")
@pytest.mark.parametrize("processes", [one for one in PROCESSES if one > 1])
def test_builds_again_and_again(processes, tmp_path):
    """Of all processes, and of all but the last or the first."""
    assert run("again", processes, tmp_path) == [15] + [20] * (processes - 2) + [15]


@pytest.mark.skipif(GPUS < 2, reason="one GPU")
@pytest.mark.parametrize("with_index", [False, True])
@pytest.mark.parametrize("how", ["inner", "left"])
def test_what_a_join_holds(how, with_index, tmp_path):
    """Of a key that all rows have: what is returned, and little beside it, also at the owner of the key."""
    found = run("memory_of_a_join", 2, tmp_path, how, with_index)
    assert sum(pairs for pairs, _ in found) == 4_000_000
    assert all(pairs == 2_000_000 and 2 <= most < 2.15 for pairs, most in found)


@pytest.mark.skipif(GPUS < 2, reason="one GPU")
class TestFaults:
    """Of all GPUs."""

    @pytest.mark.parametrize("peers", [True, False], ids=["peers", "nccl"])
    @pytest.mark.parametrize("when", ["before", "answering", "exchanging", "returning", "putting in order", "editing"])
    def test_an_interrupt_of_one_process(self, when, peers, tmp_path):
        for error, info, seconds in run("interrupted", GPUS, tmp_path, when, timeout=20.0, peers=peers):
            assert error[0] == info[0] == "ExchangeError" and "build it again" in error[1]
            assert seconds < 10

    def test_no_memory_for_the_pairs_of_a_join(self, tmp_path):
        own, *others = swapped(run("no_memory_for_pairs", GPUS, tmp_path))
        assert own[0] == [("OutOfMemory", "Unable to allocate")] * 5
        for errors, _, _ in others:
            assert errors == [("ShardError", "process 1: OutOfMemory: Unable to allocate")] * 5

    @pytest.mark.parametrize("with_index", [False, True])
    def test_too_little_memory_for_the_pairs_of_a_join(self, with_index, tmp_path):
        own, *others = swapped(run("little_memory", GPUS, tmp_path, with_index))
        assert own[0][0] == "OutOfMemory" and {error[0] for error, _ in others} == {"ShardError"}
        assert own[1] == 4_000_000 * GPUS

    @pytest.mark.parametrize("peers", [True, False], ids=["peers", "nccl"])
    @pytest.mark.parametrize("subranges", [0, 4])
    def test_batches_too_large_for_a_shard(self, subranges, peers, tmp_path):
        own, *others = swapped(run("out_of_memory", GPUS, tmp_path, subranges, peers=peers))
        assert own[0] > 0 and own[1][0] == "OutOfMemory"
        for split, (kind, message) in others:
            assert split == 0 and kind == "ShardError" and message.startswith("process 1: OutOfMemory: no memory")

    @pytest.mark.parametrize("peers", [True, False], ids=["peers", "nccl"])
    def test_no_room_for_what_comes(self, peers, tmp_path):
        (of_probes, of_rows), *others = run("no_room", GPUS, tmp_path, 4, peers=peers)
        assert of_probes > 0 and of_rows > 0 and set(others) == {(0, 0)}

    @pytest.mark.parametrize("peers", [True, False], ids=["peers", "nccl"])
    def test_a_room_that_cannot_be_made(self, peers, tmp_path):
        (own, _), *others = run("no_room_at_all", GPUS, tmp_path, peers=peers)
        assert own == "OutOfMemory"
        assert all(kind == "ShardError" and "no room" in message for kind, message in others)

    @pytest.mark.parametrize("subranges", [0, 4])
    def test_answers_are_not_lost_where_memory_is_short(self, subranges, tmp_path):
        assert run("no_memory_to_put_in_order", GPUS, tmp_path, subranges) == [0, 1] + [0] * (GPUS - 2)

    # In the way back of NCCL it is PyTorch that notices, and ends the process.
    @pytest.mark.parametrize("when,subranges,peers", [
        ("before", 0, True), ("answering", 0, True), ("exchanging", 0, True), ("returning", 0, True),
        ("answering", 4, True), ("exchanging", 4, True), ("returning", 4, True),
        ("before", 4, False), ("answering", 4, False), ("exchanging", 4, False),
    ])
    def test_a_process_that_dies(self, when, subranges, peers, tmp_path):
        found = run(
            "dies", GPUS, tmp_path, when, subranges, str(tmp_path), timeout=60.0, limit=90.0, dies=[GPUS - 1],
            peers=peers)
        for error, seconds, later, info in found[:-1]:
            assert error[0] == "ExchangeError" and "build it again" in error[1]
            assert seconds < 10
            assert later[0] == info[0] == "ExchangeError" and "it was lost" in later[1]

    # NCCL takes seconds for its first exchange where others start processes, too.
    def test_an_exchange_that_times_out(self, tmp_path):
        for error, seconds, later in run("straggles", GPUS, tmp_path, 14.0, timeout=6.0, limit=90.0):
            assert error[0] == later[0] == "ExchangeError"
            assert seconds < 12

    def test_a_process_that_sends_nothing(self, tmp_path):
        for error, seconds, later in run("silent", GPUS, tmp_path, timeout=6.0, limit=90.0)[:-1]:
            assert error[0] == later[0] == "ExchangeError"
            # The silent one gives up if it sees first that it was sent what it did not ask for.
            assert "sent nothing for 6.0 seconds" in error[1] or "another process gave it up" in error[1]
            assert seconds < 10
