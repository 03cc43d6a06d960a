# SPDX-License-Identifier: Apache-2.0
"""Columns of PyTorch, CuPy and others on a GPU: answers, types of results, streams, several devices.

Skipped without a GPU, or without one of the libraries."""

import gc
import os
import subprocess
import sys
import threading

import in_threads
import numpy as np
import pytest
import raydex
from array_libraries import HAS_GPU, Cupy, Torch
from arrow_device import OnDevice
from raydex import _sources

if not HAS_GPU:
    pytest.skip("no GPU, or a raydex without CUDA", allow_module_level=True)

DTYPES = ["int8", "int16", "int32", "int64", "uint8", "float16", "float32", "float64", "bool"]


@pytest.fixture(params=[Torch, Cupy], ids=lambda one: one.name)
def gpu(request):
    return request.param()


def same(gpu, found, expected, dtype=None):
    host = gpu.get(found)
    np.testing.assert_array_equal(host, np.asarray(expected))
    assert dtype is None or host.dtype == dtype


@pytest.mark.parametrize("dtype", DTYPES)
def test_every_dtype(gpu, dtype, random):
    keys = random.integers(0, 2 if dtype == "bool" else 100, 3000).astype(dtype)
    points = random.integers(0, 2 if dtype == "bool" else 120, 700).astype(dtype)
    on_host = raydex.build(keys)
    index = raydex.build(gpu.put(keys))
    assert index.info.device == "cuda:0" and len(index) == 3000
    given = gpu.put(points)
    same(gpu, index.first(given), on_host.first(points), "int64")
    same(gpu, index.count(given), on_host.count(points), "int64")
    numbers = np.arange(3000)
    same(gpu, index.sum(given, values=gpu.put(numbers)), on_host.sum(points, values=numbers), "int64")
    same(gpu, index.contains(given), on_host.contains(points), "bool")
    same(gpu, index.isin(given, invert=True), on_host.isin(points, invert=True), "bool")
    for side in ("left", "right"):
        same(gpu, index.rank(given, side), on_host.rank(points, side), "int64")
    for strict in (False, True):
        same(gpu, index.predecessor(given, strict), on_host.predecessor(points, strict), "int64")
        same(gpu, index.successor(given, strict), on_host.successor(points, strict), "int64")
    offsets, rows = index.rows(given)
    expected = on_host.rows(points)
    same(gpu, offsets, expected.offsets, "int64")
    same(gpu, rows, expected.rows, "int64")
    with pytest.raises(raydex.InvalidArgument, match="offsets: in cuda:0, and Arrow's arrays are in host memory; copy"):
        index.rows(given).to_arrow()


@pytest.mark.parametrize("structure", [one.name for one in raydex.structures()
                                       if one.points and one.backend == "cuda" and one.available])
def test_every_structure(gpu, structure, random):
    keys = random.permutation(20_000).astype("int32")[:10_000]
    points = random.integers(0, 20_000, 3_000).astype("int32")
    where = np.full(20_000, -1)
    where[keys] = np.arange(10_000)
    with raydex.build(gpu.put(keys), structure) as index:
        same(gpu, index.first(gpu.put(points)), where[points])
        with index.snapshot() as before:
            more = np.array([20_400, 20_401], "int32")
            assert index.append(gpu.put(more)) == range(10_000, 10_002)
            same(gpu, index.first(gpu.put(more)), [10_000, 10_001])
            same(gpu, before.first(gpu.put(more)), [-1, -1])
        index.insert(gpu.put(np.array([20_500], "int32")), gpu.put(np.array([77_777])))
        same(gpu, index.first(gpu.put(np.array([20_500, 20_501], "int32"))), [77_777, -1])
        index.erase(gpu.put(np.concatenate([keys, more])))
        same(gpu, index.count(gpu.put(points)), np.zeros(3_000))


@pytest.mark.parametrize("structure", [one.name for one in raydex.structures()
                                       if one.points and one.updates and one.backend == "cuda" and one.available])
def test_rows_while_another_thread_edits(structure):
    """Each thread on a stream of its own: with many more rows, or without them, and nothing between."""
    torch = pytest.importorskip("torch")
    streams = threading.local()
    n, more = 500, 8
    keys, added = torch.arange(n, device="cuda"), torch.arange(n, device="cuda").repeat(more)
    added_rows = torch.arange(n, n * (more + 1), device="cuda")
    few = np.arange(n)
    many = np.concatenate([few[:, np.newaxis], few[:, np.newaxis] + n * np.arange(1, more + 1)], axis=1).reshape(-1)
    index = raydex.build(keys, structure)
    torch.cuda.synchronize()

    def own_stream():
        if not hasattr(streams, "own"):
            streams.own = torch.cuda.Stream()
        return torch.cuda.stream(streams.own)

    def change():
        with own_stream():
            index.insert(added, added_rows)
            index.erase(added, added_rows)

    def ask():
        with own_stream():
            found = index.rows(keys)
            found = raydex.Matches(found.offsets.cpu().numpy(), found.rows.cpu().numpy())
        assert len(found.rows) in (len(few), len(many))
        np.testing.assert_array_equal(in_threads.rows_by_probe(found), few if len(found.rows) == n else many)

    in_threads.while_changing(change, ask)
    index.close()


@pytest.mark.parametrize("structure", ["rx", "cgrx"])
def test_optix(gpu, structure, random):
    [one] = [one for one in raydex.structures() if (one.name, one.backend) == (structure, "optix")]
    if not one.available:
        pytest.skip(one.reason)
    keys = random.permutation(5_000).astype("int32")
    index = raydex.build(gpu.put(keys), structure)
    assert index.info.device == "optix:0"
    same(gpu, index.first(gpu.put(keys)), np.arange(5_000))
    assert raydex.build(gpu.put(keys), structure, device="optix").info.backend == "optix"


def test_ranges_and_sums(gpu, random):
    keys, values = random.integers(0, 500, 5_000), random.integers(-9, 9, 5_000)
    lower = random.integers(0, 500, 400)
    upper = lower + random.integers(-3, 30, 400)
    on_host, index = raydex.build(keys), raydex.build(gpu.put(keys))
    ends = gpu.put(lower), gpu.put(upper)
    same(gpu, index.count(*ends), on_host.count(lower, upper))
    same(gpu, index.rows(*ends).rows, on_host.rows(lower, upper).rows)
    for dtype in ("int64", "float32", "int16"):
        cells = values.astype(dtype)
        expected = on_host.sum(lower, upper, values=cells)
        same(gpu, index.sum(*ends, values=gpu.put(cells)), expected, expected.dtype)


@pytest.mark.parametrize("dtype", ["int8", "int32", "int64", "uint8", "float32", "float64"])
def test_aggregates(gpu, dtype, random):
    keys, values = random.integers(0, 500, 5_000), random.integers(0, 100, 5_000).astype(dtype)
    lower = random.integers(-5, 500, 400)
    upper = lower + random.integers(-3, 30, 400)
    on_host = raydex.aggregate(raydex.build(keys), values)
    index = raydex.build(gpu.put(keys))
    of = raydex.aggregate(index, gpu.put(values))
    assert of.info.device == "cuda:0" and len(of) == 5_000
    for batch in ((lower,), (lower, upper)):
        given = tuple(map(gpu.put, batch))
        for name in ("count", "count_values", "sum", "mean", "min", "max", "first"):
            expected = getattr(on_host, name)(*batch)
            same(gpu, getattr(of, name)(*given), expected, expected.dtype)
    bare = raydex.aggregate(index)
    same(gpu, bare.first(gpu.put(lower)), on_host.first(lower), "int64")
    stream = gpu.stream()
    gpu.synchronize()
    elsewhere = raydex.aggregate(index, gpu.put(values), stream=stream)
    found = elsewhere.sum(gpu.put(lower), stream=stream)
    gpu.synchronize()
    same(gpu, found, on_host.sum(lower))
    with pytest.raises(raydex.InvalidArgument, match="values: in host memory, but the index is on cuda:0"):
        raydex.aggregate(index, values)
    elsewhere.close()
    index.close()
    with pytest.raises(raydex.InvalidArgument, match="index: it is closed"):
        of.sum(gpu.put(lower))


@pytest.mark.parametrize("dtype", ["int32", "int64", "float32", "float64"])
def test_plain_columns(gpu, dtype, random, monkeypatch):
    """Arrays of the keys' type go a shorter way, which must answer as the general one."""
    keys, points = (random.integers(0, 500, size).astype(dtype) for size in (5_000, 700))
    index, on_host = raydex.build(gpu.put(keys)), raydex.build(keys)
    lower, upper, table = gpu.put(points), gpu.put(points + 9), gpu.put(np.stack([points, points], 1))
    gpu.synchronize()
    stream = gpu.stream()
    calls = [lambda **on: index.first(lower, **on), lambda **on: index.count(lower, upper, **on),
             lambda **on: index.contains(lower, **on),
             lambda **on: index.rank(lower, **on), lambda **on: index.count(table[:, 1], **on),
             lambda **on: index.successor(lower, True, **on)]
    general = [call(stream=stream) for call in calls]
    gpu.synchronize()
    sorted_keys = gpu.put(np.sort(keys))
    looks = []
    for name in ("raydex._index", "raydex._searching"):
        monkeypatch.setattr(sys.modules[name], "look", lambda *of: looks.append(of) or _sources.look(*of))
    short = [gpu.get(call()) for call in calls]
    found = raydex.searchsorted(sorted_keys, lower, "right")
    has_functions = gpu.name != "torch-cuda" or hasattr(gpu.module.Tensor, "__dlpack_c_exchange_api__")
    assert (looks == []) == has_functions
    for one, other in zip(short, general):
        same(gpu, other, one, one.dtype)
    same(gpu, found, np.searchsorted(np.sort(keys), points, "right"), "int64")
    with gpu.on(stream):
        there = index.rank(lower)
    stream.synchronize()
    assert looks == [] or not has_functions
    same(gpu, there, on_host.rank(points))


@pytest.mark.parametrize("structure", [one.name for one in raydex.structures()
                                       if one.points and one.backend in ("cuda", "optix") and one.available])
def test_bitsets(gpu, structure, random):
    """On a stream of its own, after what is queued there; test_bitset.py has more cases."""
    keys = random.permutation(1 << 20).astype("int32")[:10**6]
    points = random.integers(0, 1 << 20, 1000).astype("int32")
    chosen = np.zeros(31_251 * 32, bool)
    chosen[: 10**6] = np.isin(keys, points)
    index = raydex.build(gpu.put(keys), structure)
    gpu.synchronize()
    stream = gpu.stream()
    with gpu.on(stream):
        asked = gpu.put(points)
        for _ in range(20):  # what has to be done before
            asked = asked + 1
        asked = asked - 20
    try:
        bits = index.bitset(asked, size=10**6 + 1, stream=stream)
    except raydex.Unsupported as refused:  # as `rows` is
        pytest.skip(str(refused))
    stream.synchronize()
    same(gpu, bits, np.packbits(chosen, bitorder="little").view("uint32"), "uint32")
    with pytest.raises(raydex.InvalidArgument, match="host memory"):
        index.bitset(points)


def test_columns_that_are_not_contiguous(gpu, random):
    table = gpu.put(random.integers(0, 100, (4_000, 3)))
    host = gpu.get(table)
    index = raydex.build(table[:, 1])
    same(gpu, index.count(table[::2, 2]), raydex.build(host[:, 1]).count(host[::2, 2]))
    with pytest.raises(raydex.InvalidArgument, match="2 dimensions"):
        raydex.build(table)
    with pytest.raises(raydex.InvalidArgument, match="one cell, repeated"):
        raydex.build(gpu.module.broadcast_to(table[:1, 0], (5,)))


def test_single_numbers_and_empty_batches(gpu):
    index = raydex.build(gpu.put(np.array([5, 6, 7])))
    one = gpu.put(np.array([6]))[0]
    found = index.first(one)
    assert found.ndim == 0 and int(found) == 1
    nothing = gpu.put(np.empty(0, "int64"))
    assert len(index.first(nothing)) == 0 and len(index.rows(nothing).rows) == 0
    empty = raydex.build(nothing)
    same(gpu, empty.first(gpu.put(np.array([1]))), [-1])


def test_explicit_rows(gpu):
    keys = gpu.put(np.array([5, 6]))
    wide = raydex.build(keys, rows=gpu.put(np.array([1 << 40, 3])))
    same(gpu, wide.first(gpu.put(np.array([5, 6, 7]))), [1 << 40, 3, -1])
    narrow = raydex.build(keys, rows=gpu.put(np.array([9, 3], "int32")))
    same(gpu, narrow.first(keys), [9, 3])
    with pytest.raises(raydex.InvalidArgument, match="rows: some are not within 0 to"):
        narrow.insert(keys, gpu.put(np.array([-1, 3])))


def test_large_row_ids_of_32_bits():
    gpu = Cupy()
    rows = np.array([3_000_000_000, 2], "uint32")
    index = raydex.build(gpu.put(np.array([5, 6])), rows=gpu.put(rows))
    same(gpu, index.first(gpu.put(np.array([5, 6, 7]))), [3_000_000_000, 2, -1])


@pytest.mark.parametrize("explicit", [False, True])
def test_streams(gpu, explicit, random):
    """Work on another stream sees what was queued there before, and nothing waits for the default one."""
    keys = random.permutation(1 << 20)
    points = random.integers(0, 1 << 20, 1 << 20)
    expected = raydex.build(keys).first(points)
    for _ in range(5):
        stream = gpu.stream()
        with gpu.on(stream):
            given, asked = gpu.put(keys), gpu.put(points)
            for _ in range(20):  # what has to be done before
                asked = asked + 1
            asked = asked - 20
        if explicit:
            index = raydex.build(given, stream=stream)
            found = index.first(asked, stream=stream)
            handle = getattr(stream, "cuda_stream", None) or stream.ptr
            again = index.first(asked, stream=handle)
        else:
            with gpu.on(stream):
                index = raydex.build(given)
                found, again = index.first(asked), index.first(asked)
        stream.synchronize()
        same(gpu, found, expected)
        same(gpu, again, expected)
        index.close()


def test_an_index_is_closed_after_other_streams(gpu, random):
    keys = gpu.put(random.permutation(1 << 20))
    gpu.synchronize()
    expected = None
    for _ in range(5):
        index = raydex.build(keys)
        gpu.synchronize()
        streams = [gpu.stream() for _ in range(3)]
        found = []
        for stream in streams:
            with gpu.on(stream):
                found.append(index.first(keys))
        del index
        gc.collect()
        filler = raydex.build(keys)  # may take the memory
        gpu.synchronize()
        expected = np.arange(1 << 20)[np.argsort(gpu.get(keys))][gpu.get(keys)] if expected is None else expected
        for one in found:
            same(gpu, one, expected)
        filler.close()


def test_joins(gpu, random):
    build, probe = random.integers(0, 900, 1_000), random.integers(0, 1_000, 2_000)
    more = random.integers(0, 3, 1_000).astype("float32"), random.integers(0, 3, 2_000).astype("float32")
    for how in ("inner", "left", "right", "full", "semi", "anti"):
        for sides, given in [
            ((build, probe), (gpu.put(build), gpu.put(probe))),
            (([build, more[0]], [probe, more[1]]),
             ([gpu.put(build), gpu.put(more[0])], [gpu.put(probe), gpu.put(more[1])])),
        ]:
            expected, found = raydex.join(*sides, how), raydex.join(*given, how)
            same(gpu, found.probe, expected.probe, "int64")
            if expected.build is None:
                assert found.build is None
            else:
                same(gpu, found.build, expected.build, "int64")
    index = raydex.build(gpu.put(build))
    same(gpu, raydex.join(index, gpu.put(probe)).build, raydex.join(build, probe).build)
    for direction in ("backward", "forward", "nearest"):
        same(gpu, raydex.join_asof(gpu.put(build), gpu.put(probe), direction=direction),
             raydex.join_asof(build, probe, direction=direction), "int64")
        by = (more[0], more[1])
        same(gpu, raydex.join_asof(gpu.put(build), gpu.put(probe), by=tuple(map(gpu.put, by)), direction=direction),
             raydex.join_asof(build, probe, by=by, direction=direction))
    for how in ({"distance": 2}, {"compare": "<"}):
        same(gpu, raydex.join_range(gpu.put(build[:200]), gpu.put(probe[:200]), **how).build,
             raydex.join_range(build[:200], probe[:200], **how).build)
    found = raydex.join_range(gpu.put(build), gpu.put(probe), build_upper=gpu.put(build + 5))
    same(gpu, found.build, raydex.join_range(build, probe, build_upper=build + 5).build)


def test_the_closest_rows(gpu, random):
    build, probe = random.integers(-900, 900, 1_000), random.integers(-1_000, 1_000, 2_000)
    by = random.integers(0, 4, 1_000), random.integers(0, 5, 2_000)
    each = random.integers(0, 9, 2_000).astype("int32")
    keys = tuple(map(gpu.put, by))
    index = raydex.AsofIndex(gpu.put(build[:300]), by=keys[0][:300])
    for begin, end in ((300, 310), (310, 700), (700, 1_000)):
        index.append(gpu.put(build[begin:end]), by=keys[0][begin:end])
    assert len(index) == 1_000
    for direction in ("backward", "forward", "nearest"):
        for asked in ({}, {"relative_tolerance": 0.01}, {"tolerance": each}, {"allow_exact_matches": False}):
            asked = {**asked, "direction": direction}
            given = {**asked, "tolerance": gpu.put(each)} if "tolerance" in asked else asked
            expected = raydex.join_asof(build, probe, by=by, k=3, **asked)
            for found in (raydex.join_asof(gpu.put(build), gpu.put(probe), by=keys, k=3, **given),
                          index.join(gpu.put(probe), by=keys[1], k=3, **given)):
                same(gpu, found.probe, expected.probe, "int64")
                same(gpu, found.build, expected.build, "int64")
            same(gpu, index.join(gpu.put(probe), by=keys[1], **given), raydex.join_asof(build, probe, by=by, **asked))
    with pytest.raises(raydex.InvalidType, match="on a GPU, are no distances of int64"):
        index.join(gpu.put(probe), by=keys[1], tolerance=gpu.put(each.astype("float64")))
    with pytest.raises(raydex.InvalidArgument, match="tolerance: it is not where the probe rows are"):
        index.join(gpu.put(probe), by=keys[1], tolerance=each)


def test_window_joins(gpu, random):
    names = ["sum", "mean", "count", "min", "max", "first", "last", "argmin", "argmax"]
    times = random.integers(0, 2_000, 1_000), random.integers(-100, 2_100, 1_500)
    by = random.integers(0, 5, 1_000), random.integers(0, 6, 1_500)
    for values in (random.integers(-50, 50, 1_000), (random.integers(0, 50, 1_000) / 4).astype("float32")):
        for closed in ("both", "right"):
            asked = {"before": 20, "after": 3, "aggregate": names, "closed": closed}
            expected = raydex.join_window(*times, values, by=by, **asked)
            found = raydex.join_window(*map(gpu.put, times), gpu.put(values), by=tuple(map(gpu.put, by)), **asked)
            for name in names:
                same(gpu, found[name], expected[name], expected[name].dtype)
        expected = raydex.rolling(times[0], values, window=50, by=by[0], aggregate=names)
        found = raydex.rolling(gpu.put(times[0]), gpu.put(values), window=50, by=gpu.put(by[0]), aggregate=names)
        for name in names:
            same(gpu, found[name], expected[name])
    assert gpu.get(raydex.join_window(*map(gpu.put, times), before=np.inf, aggregate="count")).sum() > 0


def test_joins_by_order(gpu, random):
    sides = [[random.integers(0, 900, rows), random.integers(50, 950, rows)] for rows in (600, 700)]
    by = [random.integers(0, 4, rows) for rows in (600, 700)]
    put = [tuple(map(gpu.put, one)) for one in sides]
    keys, put_keys = tuple(by), tuple(map(gpu.put, by))
    for call in (
        lambda build, probe, by: raydex.join_range(build[0], probe[0], distance=3, by=by, lazy=True),
        lambda build, probe, by: raydex.join_range(build[0], probe[0], compare="<", by=by, lazy=True),
        lambda build, probe, by: raydex.join_range(build[0], probe[0], probe_upper=probe[1], by=by, lazy=True),
        lambda build, probe, by: raydex.join_intervals(build, probe, closed="left", by=by, lazy=True),
        lambda build, probe, by: raydex.join_intervals(build, probe, "left", relation="within", by=by, lazy=True),
        lambda build, probe, by: raydex.join_intervals(build, probe[0], by=by, lazy=True),
        lambda build, probe, by: raydex.join_where(build, probe, ("<", ">="), by=by, lazy=True),
    ):
        expected, found = call(*sides, keys), call(*put, put_keys)
        same(gpu, found.counts(), expected.counts(), "int64")
        for dtype in ("int32", "int64"):
            for chunk, whole in zip(found.chunks(1_000, dtype), expected.chunks(1_000), strict=True):
                same(gpu, chunk.probe, whole.probe, dtype)
                same(gpu, chunk.build, whole.build, dtype)
        found.close()
        with pytest.raises(raydex.InvalidArgument, match="join: it is closed"):
            found.rows()
    with pytest.raises(raydex.InvalidArgument, match="distance: a pair, on a GPU"):
        raydex.join_range(put[0][0], put[1][0], distance=(1, 2))


def test_an_index_that_ends_while_rows_are_written(gpu):
    """Its end waits for the stream of the join."""
    keys = np.arange(1 << 20)
    stream = gpu.stream()
    for _ in range(5):
        index = raydex.build(gpu.put(keys))
        probe = gpu.put(keys)
        gpu.synchronize()
        with gpu.on(stream):
            rows = raydex.join(index, probe, lazy=True).rows()
        index.close()
        other = raydex.build(gpu.put(keys[::-1].copy()))
        gpu.synchronize()
        same(gpu, rows.build, keys)
        other.close()


@pytest.mark.parametrize("types", [("int64", "int64"), ("float32", "float32"), ("int64", "float64"),
                                   ("int32", "int64"), ("int64", "float32")])
def test_searchsorted_and_isin(gpu, types, random):
    a = np.sort(random.integers(0, 1 << 20, 100_000)).astype(types[0])
    v = random.integers(0, 1 << 20, 200_000).astype(types[1])
    for values in (a, v):
        if values.dtype.kind == "f":
            values[-5:] = np.nan
    for side in ("left", "right"):
        same(gpu, raydex.searchsorted(gpu.put(a), gpu.put(v), side=side), np.searchsorted(a, v, side=side), "int64")
    order = random.permutation(len(a))
    sorter = np.argsort(a[order], kind="stable")
    found = raydex.searchsorted(gpu.put(a[order]), gpu.put(v), sorter=gpu.put(sorter))
    same(gpu, found, np.searchsorted(a[order], v, sorter=sorter))
    for invert in (False, True):
        same(gpu, raydex.isin(gpu.put(v), gpu.put(a), invert=invert), np.isin(v, a, invert=invert), "bool")


@pytest.mark.parametrize("dtype", ["int32", "int64", "float32", "float64", "int8"])
def test_minima(gpu, dtype, random):
    values = random.integers(-100, 100, 10_000).astype(dtype)
    low = random.integers(0, 10_000, 2_000)
    high = low + random.integers(-2, 400, 2_000)
    on_host, of = raydex.rmq(values), raydex.rmq(gpu.put(values))
    same(gpu, of.min(gpu.put(low), gpu.put(high)), on_host.min(low, high))
    same(gpu, of.argmin(gpu.put(low), gpu.put(high)), on_host.argmin(low, high), "int64")
    array = gpu.put(values.astype("int64"))
    kept = raydex.rmq(array)
    array[77] = -1_000
    kept.refresh(gpu.put(np.array([77])))
    same(gpu, kept.argmin(gpu.put(np.array([0])), gpu.put(np.array([9_999]))), [77])
    del array
    gc.collect()
    same(gpu, kept.min(gpu.put(np.array([0])), gpu.put(np.array([9_999]))), [-1_000])


class Bare:
    """An array of a library that raydex does not know."""

    def __init__(self, array):
        self.array = array
        self.__cuda_array_interface__ = array.__cuda_array_interface__


def test_arrays_of_strangers(random):
    gpu = Cupy()
    keys = random.permutation(1_000)
    index = raydex.build(Bare(gpu.put(keys)))
    found = index.first(Bare(gpu.put(np.array([5, 1_001]))))
    assert isinstance(found, raydex.DeviceArray) and len(found) == 2 and found.device == "cuda:0"
    assert repr(found) == "raydex.DeviceArray(2 of int64 on cuda:0)"
    expected = [np.flatnonzero(keys == 5)[0], -1]
    same(gpu, gpu.module.asarray(found), expected)
    same(gpu, gpu.module.from_dlpack(found), expected)
    torch = pytest.importorskip("torch")
    taken = torch.from_dlpack(found)
    del found, index
    gc.collect()
    assert taken.cpu().tolist() == expected
    again = raydex.build(Bare(gpu.put(keys)))
    offsets, rows = again.rows(Bare(gpu.put(np.array([5, 6]))))
    same(gpu, gpu.module.asarray(offsets), [0, 1, 2])
    assert len(rows) == 2
    with pytest.raises(raydex.Unsupported, match="on cuda:0, and Arrow's arrays are in host memory; pass"):
        rows.to_arrow()
    asked = Bare(gpu.put(np.array([5, 1_001])))
    same(gpu, gpu.module.asarray(again.contains(asked)), [True, False])
    bits = np.packbits(np.append(keys == 5, [False] * 24), bitorder="little").view("uint32")
    same(gpu, gpu.module.asarray(again.bitset(asked)), bits, "uint32")
    same(gpu, gpu.module.from_dlpack(again.contains(asked)), [True, False])
    same(gpu, gpu.module.asarray(again.isin(asked)), [True, False])
    with pytest.raises(raydex.Unsupported, match="needs PyTorch or CuPy"):
        again.isin(asked, invert=True)
    floating = Bare(gpu.put(np.array([0.5, np.nan])))
    with pytest.raises(raydex.Unsupported, match="needs PyTorch or CuPy"):
        raydex.build(floating).isin(floating)
    with pytest.raises(TypeError, match="widened to uint32, for which PyTorch or CuPy is needed"):
        raydex.build(Bare(gpu.put(keys.astype("uint8"))))


def test_arrow_on_a_gpu(random):
    """As cuDF gives its columns: numbers, times and strings, with what is missing."""
    pa, gpu = pytest.importorskip("pyarrow"), Cupy()

    def put(buffer):
        there = gpu.module.asarray(np.frombuffer(buffer, "u1"))
        return there, there.data.ptr

    def on_gpu(array):
        return OnDevice(array, number=0, put=put)

    def answer(found):
        return gpu.module.asnumpy(gpu.module.asarray(found))

    missing = random.random(500) < 0.3
    keys = pa.array(random.integers(0, 90, 500), mask=missing)
    points = pa.array(random.integers(0, 100, 200), mask=random.random(200) < 0.3)
    for kind in (pa.int64(), pa.uint32(), pa.float64(), pa.timestamp("ms"), pa.timestamp("s", "UTC")):
        a, b = keys.cast(kind), points.cast(kind)
        for cut in (0, 16, 21):
            on_host, index = raydex.build(a.slice(cut)), raydex.build(on_gpu(a.slice(cut)))
            assert len(index) == len(on_host) and index.info.device == "cuda:0"
            np.testing.assert_array_equal(answer(index.first(on_gpu(b))), on_host.first(b))
            np.testing.assert_array_equal(answer(index.count(on_gpu(b))), on_host.count(b))
    with pytest.raises(TypeError, match="int64, but datetime64"):
        index.first(on_gpu(keys))
    # Times of two units
    days, zoned = pa.date32(), [pa.timestamp(unit, "UTC") for unit in ("s", "ms", "ns")]
    for one, other in ((days, pa.timestamp("ns")), (pa.timestamp("us"), days), (zoned[0], zoned[2]), zoned[1::-1]):
        a, b = (array.cast(pa.int32() if kind == days else pa.int64()).cast(kind) for array, kind in (
            (keys, one), (points, other)))
        b = pa.concat_arrays([b, a.cast(other, safe=False)])
        found, expected = raydex.join(on_gpu(a), on_gpu(b)), raydex.join(a, b)
        np.testing.assert_array_equal(answer(found.probe), expected.probe)
        np.testing.assert_array_equal(answer(found.build), expected.build)
        for direction in ("backward", "forward", "nearest"):
            np.testing.assert_array_equal(
                answer(raydex.join_asof(on_gpu(a), on_gpu(b), direction=direction)),
                raydex.join_asof(a, b, direction=direction))
        fine, coarse = (b, a) if other in (pa.timestamp("ns"), zoned[2]) else (a, b)
        on_host, index = raydex.build(fine), raydex.build(on_gpu(fine))
        for ask in (lambda of, x: of.count(x), lambda of, x: of.rank(x), lambda of, x: of.rank(x, "right"),
                    lambda of, x: of.predecessor(x, True), lambda of, x: of.successor(x, True),
                    lambda of, x: of.count(x, x)):
            np.testing.assert_array_equal(answer(ask(index, on_gpu(coarse))), ask(on_host, coarse))
        with pytest.raises(TypeError, match="on a GPU; convert the keys to the finer unit"):
            raydex.build(on_gpu(coarse)).count(on_gpu(fine))
    far = pa.array([None, 253402214400], pa.timestamp("s"))
    with pytest.raises(ValueError, match="some of them are beyond what datetime64.ns. holds"):
        raydex.join(on_gpu(far), on_gpu(far.cast(pa.timestamp("us")).slice(0, 1).cast(pa.timestamp("ns"))))
    found = raydex.join(on_gpu(far.slice(0, 1)), on_gpu(pa.array([1], pa.timestamp("ns"))))
    assert len(answer(found.probe)) == 0
    words = pa.array([None if one is None else "word " * (one % 7) + str(one) for one in keys.to_pylist()])
    probe = pa.array([None if one is None else "word " * (one % 7) + str(one) for one in points.to_pylist()])
    for text in (pa.string(), pa.large_string()):
        expected = raydex.join(words, probe)
        found = raydex.join(on_gpu(words.cast(text)), on_gpu(probe.cast(text)))
        np.testing.assert_array_equal(answer(found.probe), expected.probe)
        np.testing.assert_array_equal(answer(found.build), expected.build)
    stream, event = gpu.stream(), gpu.module.cuda.Event()
    busy = gpu.put(np.zeros(1 << 22))
    gpu.synchronize()
    with gpu.on(stream):
        for _ in range(50):
            busy = busy + 1
        buffers = iter([put(buffer) for buffer in keys.buffers()])
        event.record(stream)
    index = raydex.build(OnDevice(keys, number=0, put=lambda _: next(buffers), event=event.ptr))
    np.testing.assert_array_equal(answer(index.first(on_gpu(points))), raydex.build(keys).first(points))


def test_numba():
    cuda = pytest.importorskip("numba.cuda")
    try:
        keys = cuda.to_device(np.array([4, 9, 2]))
    except Exception as error:  # noqa: BLE001, of a driver or toolkit that it does not know
        pytest.skip(str(error))
    found = raydex.build(keys).first(keys)
    np.testing.assert_array_equal(cuda.as_cuda_array(found).copy_to_host(), [0, 1, 2])


def test_mixed_devices(gpu):
    keys = np.arange(10)
    index = raydex.build(gpu.put(keys))
    with pytest.raises(raydex.InvalidArgument, match="in host memory, but the index is on cuda:0; copy it there first"):
        index.first(keys)
    with pytest.raises(raydex.InvalidArgument, match="in host memory"):
        index.first(5)
    with pytest.raises(raydex.InvalidArgument, match="in cuda:0, but the index is on cpu; copy it"):
        raydex.build(keys).first(gpu.put(keys))
    with pytest.raises(raydex.InvalidArgument, match="in cuda:0"):
        raydex.build(gpu.put(keys), device="cpu")
    with pytest.raises(raydex.InvalidArgument, match="probe: it is in host memory, but build in cuda:0"):
        raydex.join_range(gpu.put(keys), keys, distance=1)
    with pytest.raises(raydex.InvalidArgument, match="host memory"):
        raydex.searchsorted(gpu.put(keys), keys)
    assert raydex.build(gpu.put(keys), device="cuda:0").info.device == "cuda:0"
    with pytest.raises(raydex.InvalidType, match="stream: 'fast' is none"):
        index.first(gpu.put(keys), stream="fast")


def test_tensors_that_need_gradients():
    gpu = Torch()
    with pytest.raises(raydex.InvalidArgument, match=r"give x.detach\(\)"):
        raydex.build(gpu.module.ones(3, device="cuda", requires_grad=True))
    with pytest.raises(TypeError, match="bfloat16"):
        raydex.build(gpu.module.ones(3, device="cuda", dtype=gpu.module.bfloat16))


def test_several_devices(gpu, random):
    count = gpu.module.cuda.device_count() if gpu.name == "torch-cuda" else gpu.module.cuda.runtime.getDeviceCount()
    if count < 2:
        pytest.skip("one GPU")
    keys = random.permutation(1_000)
    indexes = [raydex.build(gpu.put(keys, device)) for device in range(2)]
    for device, index in enumerate(indexes):
        assert index.info.device == f"cuda:{device}"
        same(gpu, index.first(gpu.put(keys, device)), np.arange(1_000))
    with pytest.raises(raydex.InvalidArgument, match="in cuda:1, but the index is on cuda:0; copy it there first"):
        indexes[0].first(gpu.put(keys, 1))


def test_threads(gpu, random):
    keys = random.permutation(100_000)
    index = raydex.build(gpu.put(keys))
    gpu.synchronize()

    def ask():
        stream = gpu.stream()
        with gpu.on(stream):
            given = gpu.put(keys)
            for _ in range(20):
                found = index.first(given)
        stream.synchronize()
        same(gpu, found, np.arange(100_000))

    in_threads.run([ask] * 4)


def test_a_captured_graph(random):
    gpu = Torch()
    torch = gpu.module
    keys = gpu.put(random.permutation(10_000))
    index = raydex.build(keys)
    points = keys.clone()
    index.first(points)
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        found = index.first(points)
    points.copy_(keys.flip(0))
    graph.replay()
    torch.cuda.synchronize()
    same(gpu, found, np.arange(10_000)[::-1])


def test_a_forked_process():
    """In a process of its own, so that this one may have used CUDA or not."""
    code = """
import os, sys
import numpy as np, cupy, raydex
index = raydex.build(cupy.arange(10))
points = cupy.arange(3)
child = os.fork()
if child == 0:
    try:
        index.first(points)
    except raydex.Unavailable as error:
        assert "does not survive that" in str(error), error
        assert raydex.build(np.arange(5)).first([3])[0] == 3
        del index
        os._exit(0)
    os._exit(1)
sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""
    pytest.importorskip("cupy")
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=os.environ)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("library", ["torch", "cupy"])
def test_the_end_of_the_interpreter(library):
    pytest.importorskip(library)
    made = {"torch": "torch.arange(9, device='cuda')", "cupy": "cupy.arange(9)"}[library]
    code = f"import raydex, {library}; k = {made}; i = raydex.build(k); r = raydex.rmq(k); i.first(k)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=os.environ)
    assert (done.returncode, done.stdout) == (0, ""), done.stderr
    assert "nanobind" not in done.stderr and "CUDA" not in done.stderr
