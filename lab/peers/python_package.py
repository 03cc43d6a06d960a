#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Times whole calls of the Python package beside those that users would make instead.

    lab/peers/python_package.py searchsorted --device cpu    # NumPy, Polars, pandas
    lab/peers/python_package.py searchsorted --device cuda   # PyTorch, CuPy, JAX
    lab/peers/python_package.py isin                         # NumPy, Polars, pandas; --device cuda: PyTorch, CuPy, JAX
    lab/peers/python_package.py join_asof                    # Polars, DuckDB, pandas, on the CPU, with `by` and without
    lab/peers/python_package.py torch                        # PyTorch, compiled; --device cuda, too
    lab/peers/python_package.py jax                          # JAX, compiled; --device cuda, too
    lab/peers/python_package.py cudf --device cuda           # cuDF (pylibcudf): merges, and rows by their keys
    lab/peers/python_package.py bitset                       # NumPy; --device cuda: CuPy

What kernels take by themselves is in `searchsorted.py`, what whole processes take in `columns.py`.

`searchsorted`: `raydex.searchsorted(a, v)` and the same of the others, with as many values as elements, or `--values`
of them; `a` is sorted, `v` is not (`--order ascending`: it is). `index` is `raydex.build(a).rank(v)` with the index at
hand, which is what many calls with one `a` pay. Up to 2^16 values each call has values of its own: those of a call
before, a processor has learned by heart. `isin`: `raydex.isin(v, a)`; `index` is `raydex.build(a).isin(v)`. JAX's are
compiled; its `searchsorted` goes by `scan`, or by what `method` says, its `isin` by `sort`, since its own way compares
all pairs. Joins by equal keys are in `joins.py`.

`join_asof`: `raydex.join_asof(quotes, trades)` by times in nanoseconds of five days, both sides sorted by time or
neither (`--order`), and by symbols as well: numbers, or strings of six letters. `--sizes` are quotes, trades and
symbols, 800000x200000x500. What needs sorted sides sorts them first, and puts the trades back in order.

`torch`, `jax`: `searchsorted` and `isin` of `raydex.torch` and `raydex.jax` within a function that was compiled, of the
same columns, with as many values as elements, and `lookup`, which has an index at hand, beside `isin`. `lookup` by
itself: rows of keys in no order; half of the values have one. The others search in sorted keys, which they have at
hand, too. `join` of the same columns, of PyTorch alone: both sort and search in the call; `index` has an index at hand.
`--calls` are some of these.

`cudf`: tables of a key and a number in, a table out, by gather maps. `merge`: an inner join. `take`: the numbers of the
first row of each key, null where there is none, with an index at hand, beside a left join, since pylibcudf keeps no hash
table. Half of the keys are there, none twice; the order of rows is not compared. cuDF allocates from a pool of rmm.

`bitset`:
`index.bitset(lower, upper)` of ranges that hold a tenth, a hundredth and a thousandth of the rows (`order`), and two
comparisons and `packbits` of NumPy or CuPy.

All have the same threads (`OMP_NUM_THREADS`, `POLARS_MAX_THREADS` and DuckDB's `threads` are set to the CPUs of
this process). Answers are compared. Prints CSV: the median of `--repeats` calls in milliseconds after one that is
not counted, with the least and the most; `ratio` is the peer's median over that of raydex in the same run.
"""

import argparse
import csv
import functools
import itertools
import os
import statistics
import sys
import time

THREADS = len(os.sched_getaffinity(0))
os.environ.setdefault("POLARS_MAX_THREADS", str(THREADS))
os.environ.setdefault("OMP_NUM_THREADS", str(THREADS))

import numpy as np  # noqa: E402 - what follows reads the environment
import raydex  # noqa: E402

FIELDS = [
    "call", "device", "dtype", "size", "order", "peer", "version", "median_ms", "least_ms", "most_ms", "ratio",
]


def number(text):
    base, _, exponent = text.partition("^")
    return int(base) ** int(exponent) if exponent else int(text)


def sizes_from(text):
    return [number(one) for one in text.split(",")]


class Clock:
    def __init__(self, repeats, wait):
        self.repeats = repeats
        self.wait = wait

    def __call__(self, call):
        """Milliseconds of each call but the first, and what the last one returned."""
        times, found = [], None
        for _ in range(1 + self.repeats):
            del found
            self.wait()
            begin = time.perf_counter()
            found = call()
            self.wait()
            times.append(1000 * (time.perf_counter() - begin))
        return times[1:], found


def version_of(name):
    return sys.modules[name].__version__


def on_each(batches, call):
    """Calls with one batch after the other."""
    each = itertools.cycle(batches)
    return lambda: call(next(each))


def searchsorted_on_cpu(a, batches):
    """By name: the library's module, and its call."""
    import pandas
    import polars

    series, index = polars.Series(a), pandas.Index(a)
    return {
        "numpy": ("numpy", on_each(batches, lambda v: np.searchsorted(a, v))),
        "polars": ("polars", on_each(list(map(polars.Series, batches)), series.search_sorted)),
        "pandas": ("pandas", on_each(batches, index.searchsorted)),
    }


def isin_on_cpu(a, batches):
    import pandas
    import polars

    series = polars.Series(a)
    return {
        "numpy": ("numpy", on_each(batches, lambda v: np.isin(v, a))),
        "polars": ("polars", on_each(list(map(polars.Series, batches)), lambda v: v.is_in(series.implode()))),
        "pandas": ("pandas", on_each(list(map(pandas.Series, batches)), lambda v: v.isin(a))),
    }


def searchsorted_on_gpu(a, batches):
    import cupy
    import torch

    of_cupy = cupy.from_dlpack(a)
    return {
        "torch": ("torch", on_each(batches, lambda v: torch.searchsorted(a, v))),
        "torch int32": ("torch", on_each(batches, lambda v: torch.searchsorted(a, v, out_int32=True))),
        "cupy": ("cupy", on_each(list(map(cupy.from_dlpack, batches)), lambda v: cupy.searchsorted(of_cupy, v))),
        **{
            name: jax_call(a, batches, lambda a, v, how=how: jax_numpy().searchsorted(a, v, method=how))
            for name, how in (("jax", "scan"), ("jax sort", "sort"))
        },
    }


def isin_on_gpu(a, batches):
    import cupy
    import torch

    of_cupy = cupy.from_dlpack(a)
    return {
        "torch": ("torch", on_each(batches, lambda v: torch.isin(v, a))),
        "cupy": ("cupy", on_each(list(map(cupy.from_dlpack, batches)), lambda v: cupy.isin(v, of_cupy))),
        "jax": jax_call(a, batches, lambda a, v: jax_numpy().isin(v, a, method="sort")),
    }


def jax_numpy():
    os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")
    import jax

    jax.config.update("jax_enable_x64", True)
    return jax.numpy


def jax_call(a, batches, call):
    """The library and a compiled call with columns of PyTorch, which JAX takes as they lie."""
    jax_numpy()
    import jax

    compiled, of_jax = jax.jit(call), jax.dlpack.from_dlpack(a)
    batches = list(map(jax.dlpack.from_dlpack, batches))
    return "jax", on_each(batches, lambda v: compiled(of_jax, v).block_until_ready())


def host(x):
    if type(x).__module__.startswith("cupy"):
        return x.get()
    return x.cpu().numpy() if hasattr(x, "cpu") else np.asarray(x)


def measure_searchsorted(arguments):
    random = np.random.default_rng(7)
    put, wait = (lambda x: x), (lambda: None)
    if arguments.device == "cuda":
        import torch

        put, wait = (lambda x: torch.as_tensor(x, device="cuda")), torch.cuda.synchronize
    clock = Clock(arguments.repeats, wait)
    for dtype in arguments.dtypes.split(","):
        for size in sizes_from(arguments.sizes):
            most = np.iinfo(dtype).max
            a = np.sort(random.integers(0, most, size, dtype))
            values = number(arguments.values) if arguments.values else size
            batches = [random.integers(0, most, values, dtype) for _ in range(16 if values <= 2**16 else 1)]
            for v in batches:
                v[::2] = a[random.integers(0, size, len(v[::2]))]
                if arguments.order == "ascending":
                    v.sort()
            a, batches = put(a), list(map(put, batches))
            index = raydex.build(a)
            if arguments.call == "isin":
                own, asked = (lambda v, a=a: raydex.isin(v, a)), index.isin
                others = isin_on_cpu if arguments.device == "cpu" else isin_on_gpu
            else:
                own, asked = (lambda v, a=a: raydex.searchsorted(a, v)), index.rank
                others = searchsorted_on_cpu if arguments.device == "cpu" else searchsorted_on_gpu
            calls = {
                "raydex": ("raydex", on_each(batches, own)),
                "index": ("raydex", on_each(batches, asked)),
                **others(a, batches),
            }
            yield from compare(
                clock, calls, equal_columns, call=arguments.call,
                device=arguments.device, dtype=dtype, size=size if values == size else f"{values} in {size}",
                order=arguments.order,
            )


def measure_join_asof(arguments):
    import duckdb
    import polars

    random = np.random.default_rng(7)
    clock = Clock(arguments.repeats, lambda: None)
    for size in arguments.sizes.split(","):
        quotes, trades, symbols = map(int, size.split("x"))
        times = [random.integers(0, 5 * 86400 * 10**9, rows) for rows in (quotes, trades)]
        if arguments.order == "ascending":
            times = [np.sort(one) for one in times]
        numbers = [random.integers(0, symbols, rows).astype("int32") for rows in (quotes, trades)]
        names = np.array([f"S{number:05d}" for number in range(symbols)])
        strings = [polars.Series(names[one]) for one in numbers]
        for dtype, by in (("none", None), ("int32", numbers), ("string", strings)):
            columns = [{"t": one} for one in times]
            if by is not None:
                for each, key in zip(columns, by):
                    each["s"] = key
            columns[0]["row"], columns[1]["i"] = np.arange(quotes), np.arange(trades)
            polars_of = [polars.DataFrame(each) for each in columns]
            pandas_of = [one.to_pandas() for one in polars_of]
            database = duckdb.connect()
            database.execute(f"set threads = {THREADS}")
            for name, frame in zip(("quotes", "trades"), pandas_of):
                database.execute(f"create table {name} as select * from frame")
                del frame
            calls = {
                "raydex": ("raydex", lambda times=times, by=by: raydex.join_asof(*times, by=by and tuple(by))),
                "polars": ("polars", lambda x=polars_of, by=by: asof_by_polars(*x, by, arguments.order)),
                "duckdb": ("duckdb", lambda x=database, by=by: asof_by_duckdb(x, by)),
                "pandas": ("pandas", lambda x=pandas_of, by=by: asof_by_pandas(*x, by, arguments.order)),
            }
            yield from compare(
                clock, calls, lambda x, y: np.array_equal(asof_rows(x), asof_rows(y)), call="join_asof", device="cpu",
                dtype=dtype, size=size, order=arguments.order,
            )


def asof_by_polars(quotes, trades, by, order):
    key = None if by is None else "s"
    if order == "ascending":
        return trades.join_asof(quotes, on="t", by=key, check_sortedness=False)
    found = trades.sort("t").join_asof(quotes.sort("t"), on="t", by=key, check_sortedness=False)
    return found.sort("i")


def asof_by_pandas(quotes, trades, by, order):
    import pandas

    key = None if by is None else "s"
    if order == "ascending":
        return pandas.merge_asof(trades, quotes, on="t", by=key)
    return pandas.merge_asof(trades.sort_values("t"), quotes.sort_values("t"), on="t", by=key).sort_values("i")


def asof_by_duckdb(database, by):
    and_key = "" if by is None else "and trades.s = quotes.s"
    return database.sql(
        f"select i, row from trades asof left join quotes on trades.t >= quotes.t {and_key}"
    ).fetchnumpy()


def asof_rows(found):
    """The quote of each trade, or -1."""
    if isinstance(found, np.ndarray):
        return found
    if isinstance(found, dict):
        out = np.empty(len(found["i"]), "int64")
        out[np.asarray(found["i"])] = np.ma.filled(found["row"], -1)
        return out
    return found["row"].fill_null(-1).to_numpy() if hasattr(found["row"], "fill_null") else found["row"].fillna(-1)


def searched_columns(random, dtype, size):
    most = np.iinfo(dtype).max
    a, v = (random.integers(0, most, size, dtype) for _ in range(2))
    a.sort()
    v[::2] = a[random.integers(0, size, len(v[::2]))]
    return a, v


def measure_torch(arguments):
    import torch
    import raydex.torch

    torch._dynamo.config.capture_dynamic_output_shape_ops = True  # PyTorch's own join asks for it
    yield from measure_compiled(
        arguments, lambda x: torch.as_tensor(x, device=arguments.device),
        lambda call: torch.compile(call, fullgraph=True), raydex.torch, torch, torch.isin, "torch",
        torch.cuda.synchronize if arguments.device == "cuda" else lambda: None,
    )


def measure_jax(arguments):
    jax_numpy()
    import jax
    import raydex.jax

    jax.config.update("jax_platforms", arguments.device)

    def jitted(call):
        compiled = jax.jit(call)
        return lambda *columns: compiled(*columns).block_until_ready()

    yield from measure_compiled(
        arguments, jax.numpy.asarray, jitted, raydex.jax, jax.numpy,
        functools.partial(jax.numpy.isin, method="sort"), "jax", lambda: None,
    )


def torch_join(build, probe):
    """Rows of the probe side in their order, and those of the build side, as PyTorch alone finds them."""
    import torch

    in_order, order = torch.sort(build, stable=True)
    begin = torch.searchsorted(in_order, probe)
    count = torch.searchsorted(in_order, probe, right=True) - begin
    rows = torch.repeat_interleave(count)
    since = torch.arange(rows.shape[0], device=probe.device) - (count.cumsum(0) - count)[rows]
    return rows, order[begin[rows] + since]


def measure_compiled(arguments, put, compiled, door, library, isin, peer, wait):
    random = np.random.default_rng(7)
    clock = Clock(arguments.repeats, wait)
    for dtype in arguments.dtypes.split(","):
        for size in sizes_from(arguments.sizes):
            columns = searched_columns(random, dtype, size)
            mixed = random.permutation(columns[0])
            order = np.argsort(mixed, kind="stable")
            a, v, keys, order = map(put, (*columns, mixed, order))
            index, of_mixed = (raydex.build(on_host if arguments.device == "cpu" else there)
                               for on_host, there in ((columns[0], a), (mixed, keys)))

            def lookup(v, a=a, order=order):
                place = library.searchsorted(a, v).clip(max=len(a) - 1)
                return library.where(a[place] == v, order[place], -1)

            calls = {
                "searchsorted": {
                    "raydex": ("raydex", compiled(door.searchsorted), (a, v)),
                    peer: (peer, compiled(library.searchsorted), (a, v)),
                },
                "isin": {
                    "raydex": ("raydex", compiled(door.isin), (v, a)),
                    "index": ("raydex", compiled(lambda v, index=index: door.lookup(index, v) >= 0), (v,)),
                    peer: (peer, compiled(isin), (v, a)),
                },
                "lookup": {
                    "raydex": ("raydex", compiled(lambda v, index=of_mixed: door.lookup(index, v)), (v,)),
                    peer: (peer, compiled(lookup), (v,)),
                },
            }
            if peer == "torch":
                calls["join"] = {
                    "raydex": ("raydex", compiled(lambda build, probe: tuple(door.join(build, probe))), (keys, v)),
                    "index": ("raydex", compiled(lambda v, index=of_mixed: tuple(door.join(index, v))), (v,)),
                    peer: (peer, compiled(torch_join), (keys, v)),
                }
            for call in arguments.calls.split(",") if arguments.calls else calls:
                made = {name: (of, lambda f=f, x=x: f(*x)) for name, (of, f, x) in calls[call].items()}
                yield from compare(
                    clock, made, equal_columns, call=f"{peer} {call}", device=arguments.device, dtype=dtype, size=size,
                    order="random",
                )


def equal_columns(x, y):
    """Of two columns, or two tuples of them."""
    if isinstance(x, tuple):
        return all(map(equal_columns, x, y))
    return np.array_equal(host(x), host(y))


def measure_cudf(arguments):
    import cupy
    import pylibcudf as plc
    import rmm

    pool = rmm.mr.PoolMemoryResource(rmm.mr.CudaMemoryResource(), initial_pool_size=24 << 30)
    rmm.mr.set_current_device_resource(pool)
    clock = Clock(arguments.repeats, cupy.cuda.Device().synchronize)
    policy, unequal = plc.copying.OutOfBoundsPolicy, plc.types.NullEquality.UNEQUAL
    random = np.random.default_rng(7)

    def column(array):
        return plc.Column.from_cuda_array_interface(cupy.asarray(array))

    def gather(of, rows, bounds=policy.DONT_CHECK):
        return plc.copying.gather(plc.Table(of), rows, bounds).columns()

    def array(of, memory, size, dtype):
        held = cupy.cuda.UnownedMemory(memory.ptr, size * np.dtype(dtype).itemsize, of)
        return cupy.ndarray(size, dtype, cupy.cuda.MemoryPointer(held, 0))

    def summary(columns):
        """What two tables of the same rows have in common, in whatever order they come: of each column how many cells
        are there, and the sum of them."""
        sums = []
        for one in columns:
            dtype = {plc.TypeId.INT32: "int32", plc.TypeId.INT64: "int64"}[one.type().id()]
            cells = array(one, one.data(), one.size(), dtype)
            if one.null_count() > 0:
                bits = cupy.unpackbits(array(one, one.null_mask(), (one.size() + 7) // 8, "u1"), bitorder="little")
                cells = cells[bits[:one.size()] == 1]
            sums.append((cells.size, int(cells.sum(dtype="int64"))))
        return sums

    for dtype in arguments.dtypes.split(","):
        for size in sizes_from(arguments.sizes):
            numbers = random.permutation(2 * size).astype(dtype)
            build = [column(numbers[:size]), column(np.arange(size))]
            asked = np.where(random.random(size) < 0.5, random.permutation(numbers[:size]), numbers[size:])
            probe = [column(asked), column(np.arange(size))]
            index = raydex.build(build[0])

            def merge(build=build, probe=probe):
                of_probe, of_build = raydex.join(build[0], probe[0], dtype="int32").to_pylibcudf()
                return gather(probe, of_probe) + gather(build[1:], of_build)

            def merge_by_cudf(build=build, probe=probe):
                of_probe, of_build = plc.join.inner_join(plc.Table(probe[:1]), plc.Table(build[:1]), unequal)
                return gather(probe, of_probe) + gather(build[1:], of_build)

            def take(build=build, probe=probe, index=index):
                return gather(build[1:], raydex.to_pylibcudf(index.first(probe[0])), policy.NULLIFY)

            def take_by_cudf(build=build, probe=probe):
                of_build = plc.join.left_join(plc.Table(probe[:1]), plc.Table(build[:1]), unequal)[1]
                return gather(build[1:], of_build, policy.NULLIFY)

            for call, ours, theirs in (("merge", merge, merge_by_cudf), ("take", take, take_by_cudf)):
                calls = {"raydex": ("raydex", ours), "cudf": ("rmm", theirs)}  # of one release; pylibcudf names none
                yield from compare(
                    clock, calls, lambda x, y: summary(x) == summary(y), call=f"cudf {call}", device="cuda",
                    dtype=dtype, size=size, order="random",
                )


def measure_bitset(arguments):
    random = np.random.default_rng(7)
    arrays, wait = np, (lambda: None)
    if arguments.device == "cuda":
        import cupy as arrays

        wait = arrays.cuda.Device().synchronize
    clock = Clock(arguments.repeats, wait)
    for dtype in arguments.dtypes.split(","):
        for size in sizes_from(arguments.sizes):
            keys = arrays.asarray(random.integers(0, 10**6, size, dtype))
            index = raydex.build(keys)
            for share in (10, 100, 1000):
                lower, upper = arrays.asarray([[200_000], [199_999 + 10**6 // share]], dtype)

                def by_arrays(keys=keys, lower=lower, upper=upper):
                    return arrays.packbits((keys >= lower) & (keys <= upper), bitorder="little")

                calls = {
                    "raydex": ("raydex", lambda ends=(lower, upper), of=index: of.bitset(*ends).view("u1")),
                    arrays.__name__: (arrays.__name__, by_arrays),
                }
                yield from compare(
                    clock, calls, equal_columns, call="bitset",
                    device=arguments.device, dtype=dtype, size=size, order=f"1 of {share}",
                )


def compare(clock, calls, equal, **what):
    own, answer = None, None
    for name, (library, call) in calls.items():
        times, found = clock(call)
        median = statistics.median(times)
        if own is None:
            own, answer = median, found
        elif not equal(found, answer):
            raise AssertionError(f"{name} and raydex differ: {what}")
        yield {
            **what, "peer": name, "version": version_of(library), "median_ms": f"{median:.4g}",
            "least_ms": f"{min(times):.4g}", "most_ms": f"{max(times):.4g}", "ratio": f"{median / own:.3g}",
        }


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    calls = ["searchsorted", "isin", "join_asof", "torch", "jax", "cudf", "bitset"]
    parser.add_argument("call", choices=calls)
    parser.add_argument("--device", choices=["cpu", "cuda"], default="cpu", help="not of join_asof and cudf")
    parser.add_argument("--dtypes", default="int32,int64")
    parser.add_argument("--sizes", help="elements, and values or rows; 2^10, 2^12 ... 2^28; see above")
    parser.add_argument("--calls", help="of torch and jax: some of searchsorted,isin,lookup,join")
    parser.add_argument("--values", help="of searchsorted and isin; as many as elements")
    parser.add_argument("--order", choices=["random", "ascending"], default="random", help="of the values or times")
    parser.add_argument("--repeats", type=int, default=5)
    arguments = parser.parse_args()
    measure, sizes = {
        "searchsorted": (measure_searchsorted, "2^10,2^12,2^14,2^16,2^18,2^20,2^22,2^24,2^26,2^28"),
        "isin": (measure_searchsorted, "2^6,2^8,2^10,2^12,2^14,2^16"),
        "join_asof": (measure_join_asof, "800000x200000x500,5000000x2000000x3000"),
        "torch": (measure_torch, "2^12,2^16,2^20,2^24"),
        "jax": (measure_jax, "2^12,2^16,2^20,2^24"),
        "cudf": (measure_cudf, "2^12,2^16,2^20,2^24"),
        "bitset": (measure_bitset, "2^20,2^24"),
    }[arguments.call]
    arguments.sizes = arguments.sizes or sizes
    writer = csv.DictWriter(sys.stdout, FIELDS)
    writer.writeheader()
    for row in measure(arguments):
        writer.writerow(row)
        sys.stdout.flush()


if __name__ == "__main__":
    main()
