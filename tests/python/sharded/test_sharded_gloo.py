# SPDX-License-Identifier: Apache-2.0
"""Sharded indexes over processes that exchange by gloo, faults included."""

import pytest
import sharded_processes

torch = pytest.importorskip("torch", reason="PyTorch is not installed")
if not (torch.distributed.is_available() and torch.distributed.is_gloo_available()):
    pytest.skip("this PyTorch has no gloo", allow_module_level=True)


def run(name, processes, folder, *arguments, **options):
    return sharded_processes.run(f"process_cases:{name}", processes, str(folder), *arguments, **options)


@pytest.mark.parametrize("processes,peers", [(1, True), (2, True), (3, True), (4, True), (5, True), (3, False)])
def test_as_one_index(processes, peers, tmp_path):
    assert run("answers", processes, tmp_path, peers=peers) == ["done"] * processes


@pytest.mark.parametrize("peers", [True, False])
def test_messages(peers, tmp_path):
    assert run("messages", 3, tmp_path, peers=peers) == [peers] * 3


@pytest.mark.parametrize("processes,subranges", [(1, 4), (2, 8), (3, 4)])
def test_as_one_index_in_slices(processes, subranges, tmp_path):
    assert run("slices", processes, tmp_path, subranges, "answers") == ["done"] * processes


def test_a_process_that_leaves_with_a_fork_of_it_alive(tmp_path):
    for failed, seconds in run("forked", 3, tmp_path, timeout=20.0)[:2]:
        assert failed and seconds < 2


@pytest.mark.parametrize("processes,subranges", [(2, 0), (3, 0), (2, 4), (3, 4)])
def test_where_things_are_sent(processes, subranges, tmp_path):
    assert all(one > 20 for one in run("positions", processes, tmp_path, subranges))


@pytest.mark.parametrize("processes", [1, 2, 3])
def test_few_and_many_probes(processes, tmp_path):
    assert run("few_and_many", processes, tmp_path) == ["done"] * processes


@pytest.mark.parametrize("processes", [2, 4])
def test_joins(processes, tmp_path):
    assert run("joins", processes, tmp_path) == ["done"] * processes


@pytest.mark.parametrize("processes,subranges", [(2, 0), (3, 8)])
def test_cases_that_are_drawn(processes, subranges, tmp_path):
    seeds = (sharded_processes.SEED, sharded_processes.SEEDS)
    assert run("seeds", processes, tmp_path, *seeds, subranges) == ["done"] * processes


def test_tensors(tmp_path):
    assert run("tensors", 2, tmp_path) == ["done"] * 2


def test_an_error_of_one_process_is_known_to_all(tmp_path):
    found = run("wrong_arguments", 3, tmp_path)
    own = {
        "dtype": "InvalidType", "sizes": "InvalidArgument", "complex": "InvalidType", "rows": "InvalidArgument",
        "most": "InvalidArgument", "structure": "InvalidArgument", "join": "InvalidArgument",
        "any length": "Unsupported", "join types": "InvalidType",
    }
    for name in ("dtype", "sizes", "complex", "rows", "any length"):
        assert found[1][name][0] == own[name]
        for other in (0, 2):
            kind, message = found[other][name]
            assert kind == "ShardError" and message == f"process 1: {own[name]}: {found[1][name][1]}"
    for name in ("values", "value types", "calls", "side", "build", "structure", "join types"):
        assert found[0][name] == found[1][name] == found[2][name]
        assert found[0][name][0] in ("InvalidArgument", "InvalidType")
    assert "process 0 count of points, process 1 first of points" in found[0]["calls"][1]
    assert "of int64 on process 0, but of int32 on process 1" in found[0]["build"][1]
    for name in ("most", "join"):
        assert found[1][name][0] == "InvalidArgument" and found[0][name][0] == "ShardError"


@pytest.mark.parametrize("subranges", [0, 1, 4])
def test_batches_too_large_for_a_shard(subranges, tmp_path):
    found = run("out_of_memory", 3, tmp_path, subranges)
    assert [one[0] > 0 for one in found] == [False, True, False]
    assert found[1][1][0] == "OutOfMemory"
    for at in (0, 2):
        assert found[at][1][0] == "ShardError" and found[at][1][1].startswith("process 1: OutOfMemory: no memory")


@pytest.mark.parametrize("subranges", [1, 4])
def test_no_room_for_what_comes(subranges, tmp_path):
    (of_probes, of_rows), others = run("no_room", 2, tmp_path, subranges)
    assert of_probes > 0 and of_rows > 0 and others == (0, 0)


def test_a_room_that_cannot_be_made(tmp_path):
    (own, _), (kind, message) = run("no_room_at_all", 2, tmp_path)
    assert own == "OutOfMemory" and kind == "ShardError" and "no room" in message


@pytest.mark.parametrize("subranges", [0, 1])
def test_answers_are_not_lost_where_memory_is_short(subranges, tmp_path):
    assert run("no_memory_to_put_in_order", 2, tmp_path, subranges) == [0, 1]


@pytest.mark.parametrize("when,subranges,peers", [
    ("before", 0, True), ("answering", 0, True), ("exchanging", 0, True), ("returning", 0, True),
    ("answering", 1, True), ("answering", 4, True), ("exchanging", 4, True), ("returning", 4, True),
    ("before", 1, False), ("answering", 4, False),
])
def test_a_process_that_dies(when, subranges, peers, tmp_path):
    found = run(
        "dies", 4, tmp_path, when, subranges, str(tmp_path), timeout=60.0, limit=90.0, dies=[3], peers=peers)
    for error, seconds, later, info in found[:3]:
        assert error[0] == "ExchangeError" and "build it again" in error[1]
        assert seconds < 10  # no process waits for the timeout
        assert later[0] == info[0] == "ExchangeError" and "it was lost" in later[1]


@pytest.mark.parametrize("peers", [True, False])
def test_an_exchange_that_times_out(peers, tmp_path):
    found = run("straggles", 3, tmp_path, 6.0, timeout=2.0, limit=60.0, peers=peers)
    for error, seconds, later in found:
        assert error[0] == later[0] == "ExchangeError"
        assert seconds < 8


@pytest.mark.parametrize("processes", [2, 3])
def test_builds_again_and_again(processes, tmp_path):
    """Of all processes, and of all but the last or the first."""
    found = run("again", processes, tmp_path)
    assert found == [15] + [20] * (processes - 2) + [15]


@pytest.mark.parametrize("peers", [True, False])
@pytest.mark.parametrize("when", ["before", "answering", "exchanging", "returning", "putting in order", "editing"])
def test_an_interrupt_of_one_process(when, peers, tmp_path):
    for error, info, seconds in run("interrupted", 3, tmp_path, when, timeout=20.0, peers=peers):
        assert error[0] == info[0] == "ExchangeError" and "build it again" in error[1]
        assert seconds < 10


def test_processes_out_of_step(tmp_path):
    for error, *later in run("out_of_step", 3, tmp_path):
        assert error[0] == "ExchangeError" and "not at the same step" in error[1]
        assert "count of points, process 1 count of points" in error[1]
        assert {one[0] for one in later} == {"ExchangeError"}


def test_arguments_that_cannot_be_sent(tmp_path):
    found = run("unsendable", 2, tmp_path)
    for _, of_all, _ in found:
        assert of_all[0] == "InvalidType" and "a Odd cannot be sent to the other processes" in of_all[1]
    for at in (0, 2):
        assert found[1][at][0] == "InvalidType" and found[0][at][0] == "ShardError"
        assert found[0][at][1] == f"process 1: InvalidType: {found[1][at][1]}"


@pytest.mark.parametrize("with_index", [False, True])
@pytest.mark.parametrize("how", ["inner", "left"])
def test_what_a_join_holds(how, with_index, tmp_path):
    """Of a key that all rows have: what is returned, and little beside it, also at the owner of the key."""
    found = run("memory_of_a_join", 2, tmp_path, how, with_index)
    assert sum(pairs for pairs, _ in found) == 4_000_000
    assert all(pairs == 2_000_000 and 2 <= most < 2.15 for pairs, most in found)


def test_no_memory_for_the_pairs_of_a_join(tmp_path):
    found = run("no_memory_for_pairs", 3, tmp_path)
    for at, (errors, _, with_index) in enumerate(found):
        message = "OutOfMemory: Unable to allocate"
        assert errors == [("OutOfMemory", message[13:]) if at == 1 else ("ShardError", f"process 1: {message}")] * 5
        assert with_index == 3 * 15
    assert sum(pairs for _, pairs, _ in found) == 9 * 15


@pytest.mark.parametrize("with_index", [False, True])
def test_too_little_memory_for_the_pairs_of_a_join(with_index, tmp_path):
    for at, (error, pairs) in enumerate(run("little_memory", 2, tmp_path, with_index)):
        assert error[0] == ("OutOfMemory" if at == 1 else "ShardError")
        assert pairs == 8_000_000
