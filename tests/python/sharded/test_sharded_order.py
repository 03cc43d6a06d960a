# SPDX-License-Identifier: Apache-2.0
"""Joins by order over shards: several in one process, and in processes that exchange by gloo."""

import os

import numpy as np
import order_cases as cases
import pytest
import raydex
import raydex.sharded
import sharded_processes
from raydex.sharded import _order
from sharded_cases import Party

pytest.importorskip("pandas")
pytest.importorskip("pyarrow")
pytest.importorskip("duckdb")

SHARDS = [1, 2, 3, 5, 8]
SEED = int(os.environ.get("RAYDEX_TEST_SEED", "1"))


def party(shards):
    return Party(0, 1, devices=["cpu"] * shards)


@pytest.mark.parametrize("keys", cases.KEYS)
@pytest.mark.parametrize("kind", cases.KINDS)
def test_asof(kind, keys):
    for shards in SHARDS:
        cases.check_asof(party(shards), lambda x: [x], SEED + shards, kind, keys)


@pytest.mark.parametrize("keys", cases.KEYS)
@pytest.mark.parametrize("kind", cases.KINDS)
def test_pairs(kind, keys):
    shards = SHARDS[(cases.KINDS.index(kind) + cases.KEYS.index(keys)) % len(SHARDS)]
    cases.check_pairs(party(shards), lambda x: [x], SEED + shards, kind, keys)


@pytest.mark.parametrize("keys", cases.KEYS)
@pytest.mark.parametrize("kind", cases.KINDS[:-1])
def test_windows(kind, keys):
    for shards in SHARDS[1:4]:
        cases.check_windows(party(shards), lambda x: [x], SEED + shards, kind, keys)


@pytest.mark.parametrize("kind", cases.KINDS)
def test_tensors(kind):
    torch = pytest.importorskip("torch")
    torch.set_num_threads(1)  # its threads wait busily for each other
    keys = cases.KEYS[cases.KINDS.index(kind) % len(cases.KEYS)]
    for check in (cases.check_asof, cases.check_pairs, *[cases.check_windows][: kind != "times"]):
        check(party(4), lambda x: [x], SEED, kind, keys, lambda x: torch.as_tensor(np.array(x)))


@pytest.mark.parametrize("processes", [2, 4])
def test_between_processes(processes, tmp_path):
    pytest.importorskip("torch")
    found = sharded_processes.run("order_processes:joins", processes, str(tmp_path), SEED)
    assert found == ["done"] * processes


def test_an_error_of_one_process_is_known_to_all(tmp_path):
    pytest.importorskip("torch")
    of_all = sharded_processes.run("order_processes:wrong_arguments", 2, str(tmp_path))
    for name in ("direction", "type", "how"):
        assert of_all[1][name][0] in ("InvalidArgument", "InvalidType", "Unsupported")
        assert of_all[0][name][0] in ("ShardError", of_all[1][name][0])
    assert all(one["a column"][0] == "Unsupported" for one in of_all)
    assert of_all[0]["tolerance"] == of_all[1]["tolerance"] and "differ in what they call" in of_all[0]["tolerance"][1]


def counted(monkeypatch, name):
    """How many rows of both sides each shard joins."""
    local, rows = getattr(_order, name), []

    def noted(right, left, *arguments, **named):
        rows.append((len(left), len(right)))
        return local(right, left, *arguments, **named)

    monkeypatch.setattr(_order, name, noted)
    return lambda: np.array(rows[1:])  # the first one was of no rows


def test_rows_of_one_key_are_divided(monkeypatch, random):
    rows = counted(monkeypatch, "join_asof")
    times, quotes = random.integers(0, 10**9, (2, 20000))
    key = np.full(20000, 7)
    found = raydex.sharded.join_asof(times, quotes, by=(key, key), devices=["cpu"] * 4)
    np.testing.assert_array_equal(found, raydex.join_asof(quotes, times))
    each = rows()
    assert each.sum(axis=0).tolist() == [20000, 20003]  # a row before each shard but the first
    assert (each.max(axis=0) < 1.2 * 5000).all()


def test_a_distance_that_is_short_is_asked_of_few_shards(monkeypatch, random):
    rows = counted(monkeypatch, "join_range")
    left, right = random.integers(0, 10**9, (2, 20000))
    found = raydex.sharded.join_range(left, right, distance=10**5, devices=["cpu"] * 4)
    assert len(found.left) == len(raydex.join_range(right, left, distance=10**5).probe)
    lefts, rights = rows().sum(axis=0)
    assert lefts == 20000 and 20000 <= rights < 20050


def test_few_right_rows_go_to_all(monkeypatch, random):
    rows = counted(monkeypatch, "join_asof")
    times, quotes = random.integers(0, 1000, 2000), random.integers(0, 1000, 50)
    found = raydex.sharded.join_asof(times, quotes, devices=["cpu"] * 4)
    np.testing.assert_array_equal(found, raydex.join_asof(quotes, times))
    assert rows().tolist() == [[500, 50]] * 4


def test_the_closest_row_of_all_shards_between(random):
    """Of a right row at each end, with left rows on all shards between."""
    left = np.arange(1, 1000)
    for direction in ("backward", "forward", "nearest"):
        found = raydex.sharded.join_asof(
            left, [0, 1000], direction=direction, exchange="shuffle", devices=["cpu"] * 7)
        np.testing.assert_array_equal(found, raydex.join_asof([0, 1000], left, direction=direction))


def test_missing_ends_without_bounds(random):
    ends = []
    for rows in (150, 200):
        lower = random.integers(0, 300, rows)
        upper = lower + random.integers(0, 20, rows)
        ends.append([np.ma.array(one, mask=random.random(rows) < 0.2) for one in (lower, upper)])
    left, right = ends
    for how in cases.HOWS:
        found = raydex.sharded.join_intervals(left, right, how, missing="unbounded", devices=["cpu"] * 3)
        wanted = raydex.join_intervals(right, left, how, missing="unbounded")
        rights = found.right if found.right is not None else found.left
        builds = wanted.build if wanted.build is not None else wanted.probe
        assert sorted(zip(found.left, rights)) == sorted(zip(wanted.probe, builds))


@pytest.mark.parametrize("dtype", ["uint64", "int64", "float32", "float64"])
def test_distances_at_the_ends_of_types(dtype, random):
    if dtype[0] == "f":
        some = np.array([-np.inf, -np.finfo(dtype).max, -1, -0.0, 0.1, 0.3, np.finfo(dtype).max, np.inf, np.nan], dtype)
        distances = [0, 0.1, 0.2, 1e30, np.inf, (np.inf, 0.2), (0.2, np.inf), (-0.1, 0.3)]
    else:
        ends = np.iinfo(dtype)
        some = np.array([ends.min, ends.min + 1, ends.max // 2, ends.max - 1, ends.max], dtype)
        distances = [0, 1, 2**63, 2**64 - 1, 2**70, (2**63, -1), (-(2**63), 2**64), (-(2**64) + 1, 2**64)]
    left, right = random.choice(some, (2, 60))
    for distance in distances:
        found = raydex.sharded.join_range(left, right, distance=distance, devices=["cpu"] * 4)
        wanted = raydex.join_range(right, left, distance=distance)
        assert sorted(zip(found.left, found.right)) == sorted(zip(wanted.probe, wanted.build)), distance


def test_windows_that_end_between_two_counts():
    times = np.arange(4).view("M8[s]")
    for closed in ("both", "left", "right", "neither"):
        asked = {"before": np.timedelta64(1500, "ms"), "aggregate": "count", "closed": closed}
        found = raydex.sharded.join_window(times, times, devices=["cpu"] * 3, **asked)
        assert list(found) == raydex.join_window(times, times, **asked).tolist()
        own = closed in ("both", "right")
        assert list(found) == [own, own + 1, own + 1, own + 1]


def test_errors():
    two = {"devices": ["cpu"] * 2}
    for call, match in (
        (lambda: raydex.sharded.join_asof([1], [2], direction="up", **two), "direction: 'up' is none of"),
        (lambda: raydex.sharded.join_asof([1], [2], tolerance=-1, **two), "tolerance: -1"),
        (lambda: raydex.sharded.join_asof([1], [2], tolerance=[1], **two), "tolerance: a column of them; over shards"),
        (lambda: raydex.sharded.join_asof([1], [2], exchange="all", **two), "exchange: 'all' is none of shuffle"),
        (lambda: raydex.sharded.join_asof([1], [2], left_by=[1], **two), "left_by: it is given with right_by"),
        (lambda: raydex.sharded.join_asof([1, 2], [2], by=([1], [2]), **two), "left: its columns have 2, 1 cells"),
        (lambda: raydex.sharded.join_asof([1], ["a"], **two), "no key type|not compared"),
        (lambda: raydex.sharded.join_asof(np.array([1], "M8[ns]"), np.array([2**62], "M8[s]"), **two), "is no"),
        (lambda: raydex.sharded.join_range([1], [2], **two), "join_range: nothing is given; give one of distance"),
        (lambda: raydex.sharded.join_range([1], [2], distance=-1, **two), "distance: -1"),
        (lambda: raydex.sharded.join_range([1], [2], distance=0.5, **two), "must be a whole number"),
        (lambda: raydex.sharded.join_range([1], [2], "right", distance=1, **two), "here joins are inner"),
        (lambda: raydex.sharded.join_range([1], [2], closed="left", distance=1, **two), "closed: it goes with"),
        (lambda: raydex.sharded.join_intervals(([1], [2]), [2], **two), r"right: give a pair of columns"),
        (lambda: raydex.sharded.join_intervals([1], ([1], [2]), relation="within", **two), "relation: 'within'"),
        (lambda: raydex.sharded.join_where(([1], [2]), ([1], [2]), ("<", "=="), **two), "compare: '=='"),
        (lambda: raydex.sharded.join_window([1], [2], before=1, **two), "values: none are given"),
        (lambda: raydex.sharded.join_window([1], [2], [3], before=None, **two), "give a distance of int64 each"),
        (lambda: raydex.sharded.join_window([1], [2], [3], before=1, aggregate="q", **two), "aggregate: 'q'"),
        (lambda: raydex.sharded.join_window([1], [2], np.array([1], "M8[s]"), before=1, **two), "values: they are"),
        (lambda: raydex.sharded.join_asof(["a long string"], ["another one"], **two), "strings of any length"),
    ):
        with pytest.raises((raydex.InvalidArgument, raydex.InvalidType, raydex.Unsupported), match=match):
            call()


def test_tables_of_two_libraries(random):
    torch = pytest.importorskip("torch")
    times, quotes = random.integers(0, 50, (2, 80))
    found = raydex.sharded.join_asof(times, torch.as_tensor(quotes), devices=["cpu"] * 3)
    assert isinstance(found, np.ndarray)
    np.testing.assert_array_equal(found, raydex.join_asof(quotes, times))
    tensor, three = torch.as_tensor(times), {"devices": ["cpu"] * 3}
    for pairs, wanted in (
        (raydex.sharded.join_range(tensor, quotes, "left", distance=1, **three),
         raydex.join_range(quotes, times, "left", distance=1)),
        (raydex.sharded.join(tensor, quotes, "left", **three), raydex.join(quotes, times, "left")),
    ):
        assert isinstance(pairs.left, torch.Tensor)
        assert sorted(zip(pairs.left.tolist(), pairs.right.tolist())) == sorted(zip(wanted.probe, wanted.build))
