# SPDX-License-Identifier: Apache-2.0
"""Where probes go and how answers come back, against loops; the shards of one process."""

import functools
import subprocess
import sys

import numpy as np
import pytest
import raydex
import sharded_cases as cases
from hypothesis import given, settings
from hypothesis import strategies as st
from raydex.sharded import _routing
from raydex.sharded._hot_keys import merge
from raydex.sharded._routing import route, sample, splitters_from, undo, undo_rows
from raydex.sharded._shard import Shard, Summary, complete

try:
    import torch
except ImportError:
    torch = None

DTYPES = [*cases.DTYPES, "uint32"]
LIBRARIES = ["numpy", pytest.param("torch", marks=pytest.mark.skipif(torch is None, reason="no PyTorch"))]


def to(library, array):
    return array if library == "numpy" else torch.as_tensor(array)


def is_less(one, other):
    """NaN comes last."""
    if one != one or other != other:
        return one == one and other != other
    return one < other


def owner_of(key, splitters):
    return sum(not is_less(key, one) for one in splitters)


def case(dtype, shards, size, seed):
    random = np.random.default_rng(seed)
    splitters = np.sort(cases.column(dtype, shards - 1, random.choice(["plain", "few", "extremes"]), random))
    lower, upper = (cases.column(dtype, size, "extremes", random) for _ in range(2))
    if random.random() < 0.5 and shards > 1:
        lower[::2] = random.choice(splitters, len(lower[::2]))
    there = random.random(size) < 0.8 if random.random() < 0.5 else None
    return (splitters, lower, upper, there)


@pytest.mark.parametrize("library", LIBRARIES)
@given(st.data())
@settings(max_examples=60)
def test_pieces(library, data):
    dtype = data.draw(st.sampled_from([one for one in DTYPES if library == "numpy" or one[0] not in "Sd"]))
    shards = data.draw(st.sampled_from([1, 2, 3, 7, 300, 1024, 1025, 2048, 3000]))
    size = data.draw(st.sampled_from([0, 1, 40]))
    ranges = data.draw(st.booleans())
    splitters, lower, upper, there = case(dtype, shards, size, data.draw(st.integers(0, 1 << 30)))
    given_there = None if there is None else to(library, there)
    unit = 1 if ranges else data.draw(st.sampled_from([1, 16]))
    found = route(to(library, lower), to(library, upper) if ranges else None, splitters, given_there, unit)

    pieces = []
    for at in range(size):
        if there is not None and not there[at]:
            continue
        first = owner_of(lower[at], splitters)
        if not ranges:
            pieces.append((first, at))
        elif not is_less(upper[at], lower[at]):
            pieces += [(shard, at) for shard in range(first, owner_of(upper[at], splitters) + 1)]
    pieces.sort()
    of_shard = [[piece for piece in pieces if piece[0] == shard] for shard in range(shards)]
    # The last one of a shard is repeated.
    pieces = [piece for own in of_shard for piece in own + own[-1:] * (-len(own) % unit)]
    sources = [at for _, at in pieces]
    assert found.size == size and len(found.counts) == shards
    cases.equal(found.counts, np.bincount([shard for shard, _ in pieces], minlength=shards))
    cases.equal(found.sources, np.array(sources, "int64"))
    cases.equal(found.lower, lower[sources])
    if ranges:
        cases.equal(found.upper, upper[sources])
    else:
        assert found.upper is None
    assert [len(part) for part in found.split(found.lower)] == found.counts.tolist()


@pytest.mark.parametrize("library", LIBRARIES)
def test_answers_are_put_together(monkeypatch, library, random):
    splitters = np.array([10, 20, 20, 30])
    lower = random.integers(0, 40, 200)
    upper = lower + random.integers(-3, 25, 200)
    routes = route(to(library, lower), to(library, upper), splitters)
    sources = np.asarray(routes.sources)
    answers = random.integers(-1, 50, len(sources))
    each = [answers[sources == at] for at in range(200)]
    least = [min((one for one in of if one >= 0), default=-1) for of in each]
    cases.equal(undo(routes, to(library, answers), "first"), least)
    cases.equal(undo(routes, to(library, answers), "sum"), [of.sum() for of in each])
    large = np.full(len(sources), 2**62)
    cases.equal(undo(routes, to(library, large), "sum"), [(len(of) * 2**62 + 2**63) % 2**64 - 2**63 for of in each])
    counts = random.integers(0, 4, len(sources))
    counts[len(counts) // 2] = 100
    rows = random.integers(0, 1000, counts.sum()).astype("int32")
    begins = np.concatenate([[0], np.cumsum(counts)])
    for size in (1 << 22, 40, 3, 1):
        monkeypatch.setattr(_routing, "SLICE", size)
        offsets, found = undo_rows(routes, to(library, counts), to(library, rows))
        assert np.asarray(found).dtype == np.int32
        for at in range(200):
            wanted = [rows[begins[piece]:begins[piece + 1]] for piece in np.flatnonzero(sources == at)]
            cases.equal(found[offsets[at]:offsets[at + 1]], np.concatenate([np.empty(0), *wanted]))
    points = route(to(library, lower), None, splitters, to(library, lower % 2 == 0))
    cases.equal(undo(points, points.lower, "single"), np.where(lower % 2 == 0, lower, -1))
    cases.equal(undo(points, points.lower, "first", -7), np.where(lower % 2 == 0, lower, -7))
    for some in (None, to(library, lower % 2 == 0)):
        points = route(to(library, lower), None, splitters, some, 16)
        narrow = to(library, np.asarray(points.lower).astype("int32"))
        found = undo(points, narrow, "single", widen=True)
        assert np.asarray(found).dtype == np.int64
        cases.equal(found, lower if some is None else np.where(lower % 2 == 0, lower, -1))


def test_splitters_are_even(random):
    for dtype in DTYPES:
        keys = cases.column(dtype, 20000, "plain", random)
        parts = np.split(keys, [100, 15000])
        samples = [sample(part, None, 4096, seed) for seed, part in enumerate(parts)]
        assert [len(one) for one in samples] == [100, 4096, 4096]
        splitters = splitters_from(samples, 5, [len(part) for part in parts])
        assert splitters.dtype == keys.dtype and (np.sort(splitters) == splitters).all()
        counts = route(keys, None, splitters).counts
        assert counts.max() < 1.2 * counts.mean()
    # A part of few keys with a large weight is all that counts.
    assert (splitters_from([np.zeros(9), np.ones(1)], 3, [1.0, 1000.0]) == 1).all()
    cases.equal(splitters_from([np.arange(8)], 4), [2, 4, 6])
    cases.equal(splitters_from([np.empty(0, "S3")], 3), np.zeros(2, "S3"))
    assert len(splitters_from([np.arange(2)], 9)) == 8


def test_samples():
    keys = np.arange(10000)
    there = keys % 2 == 0
    drawn = sample(keys, there, 1000)
    assert (drawn % 2 == 0).all() and 400 < len(drawn) < 600
    cases.equal(sample(keys, there, 10000), keys[there])
    cases.equal(sample(keys, None, 1000, 3), sample(keys, None, 1000, 3))
    assert drawn.min() < 1000 and drawn.max() > 9000


@pytest.mark.parametrize("library", LIBRARIES)
def test_hot_keys_are_sent_once(library, random):
    points = random.integers(0, 1 << 30, 20000)
    assert merge(to(library, points), None) is None
    points[random.random(20000) < 0.3] = 7
    points[random.random(20000) < 0.3] = 9
    there = random.random(20000) < 0.9
    for given_there in (None, there):
        merged = merge(to(library, points), None if given_there is None else to(library, given_there))
        sent = np.asarray(merged.points)
        if given_there is None:
            assert (sent == 7).sum() == (sent == 9).sum() == 1
            assert merged.saved == 20000 - len(sent) > 9000
            cases.equal(merged.spread(merged.points), points)
        else:
            assert len(merged.there) == len(sent)
            answers = np.where(np.asarray(merged.there), sent, -1)
            cases.equal(merged.spread(to(library, answers)), np.where(there, points, -1))
    assert merge(to(library, points[:4000]), None) is None


@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize("dtype", ["int32", "uint64", "float32"])
def test_a_shard_gives_its_entries_back(dtype, library, random):
    keys = cases.column(dtype, 500, "extremes", random)
    rows = random.permutation(1 << 20)[:500]
    shard = Shard(to(library, keys), to(library, rows), 32)
    held = dict(zip(rows.tolist(), keys))
    for turn in range(3):
        more = cases.column(dtype, 60000, "few", random)
        ids = np.arange(60000) + (turn + 2 << 20)
        shard.insert(to(library, more), to(library, ids))
        shard.erase(to(library, more[:50000]), to(library, ids[:50000]))
        held.update(zip(ids[50000:].tolist(), more[50000:]))
    assert sum(map(len, shard._held)) <= 2 * shard.entries + (1 << 16)
    found, ids = (np.asarray(one) for one in shard.take())
    assert len(ids) == shard.entries == len(held)
    order = np.argsort(ids)
    cases.equal(ids[order], sorted(held))
    cases.equal(found[order], np.array([held[at] for at in sorted(held)], dtype))
    assert shard.summary().max_row == ids.max()
    shard.close()


def test_shards_without_answers_ask_their_neighbours():
    of = functools.partial(Summary, max_row=0, resident_bytes=0)
    summaries = [of(2, 10, 11), of(0, -1, -1), of(3, 20, 21), of(0, -1, -1)]
    answers = np.array([5, -1])
    cases.equal(complete("rank", answers, 2, summaries), [7, 1])
    cases.equal(complete("predecessor", answers, 2, summaries), [5, 11])
    cases.equal(complete("predecessor", answers, 0, summaries), [5, -1])
    cases.equal(complete("successor", answers, 1, summaries), [5, 20])
    cases.equal(complete("successor", answers, 3, summaries), [5, -1])
    cases.equal(complete("first", answers, 1, summaries), answers)


def test_an_unknown_operation_is_refused():
    with pytest.raises(raydex.InvalidArgument, match="operation: 'median' is none of contains, count"):
        Shard(np.arange(3), np.arange(3), 32).answer("median", np.arange(3))


def test_no_engine_is_imported():
    code = "import sys, raydex.sharded; sys.exit('torch' in sys.modules or 'dask' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0
