# SPDX-License-Identifier: Apache-2.0
"""Refusals, and exceptions as kinds of Python's own."""

import os
import pathlib
import subprocess
import sys

import numpy as np
import pytest
import raydex


def test_the_hierarchy():
    kinds = {
        "InvalidArgument": ValueError, "InvalidType": TypeError, "Unsupported": NotImplementedError,
        "Unavailable": RuntimeError, "OutOfMemory": MemoryError, "CudaError": RuntimeError,
        "OptixError": RuntimeError,
    }
    for name, base in kinds.items():
        kind = getattr(raydex, name)
        assert issubclass(kind, raydex.Error) and issubclass(kind, base) and kind.__module__ == "raydex"
    assert issubclass(raydex.InvalidType, ValueError)


def test_errors_of_the_library_arrive():
    with pytest.raises(raydex.InvalidArgument, match="structure: 'tree' is not one of auto"):
        raydex.build([1], "tree")
    with pytest.raises(raydex.InvalidArgument, match="bucket"):
        raydex.build([1], "cgrx", bucket=1)
    with pytest.raises(raydex.InvalidArgument, match="color"):
        raydex.build([1], color="red")
    with pytest.raises(raydex.Unsupported):
        raydex.build(np.array([1.5]), "direct")
    with pytest.raises(raydex.Unsupported, match="does not know|ranges|rank"):
        raydex.build([1], "hash_open").rank([1])
    with pytest.raises(raydex.InvalidArgument, match="values: 1 cells, but the largest row id is 1"):
        raydex.build([1, 2]).sum([1], values=[5])
    with pytest.raises(raydex.InvalidArgument, match="upper: 2 ends, but lower has 3"):
        raydex.build([1, 2]).count([1, 2, 3], [1, 2])
    with pytest.raises(raydex.InvalidArgument, match="row ids"):
        raydex.build([1, 2], rows=[1])


@pytest.mark.parametrize("call,likely", [
    (lambda: raydex.build([1], structures="btree"), "structures: build has no such argument.*do you mean structure?"),
    (lambda: raydex.build([1], searchh="lines"), "do you mean search?"),
    (lambda: raydex.join([1], [1], on="a"), "on: join has no such argument.*it has build, probe, how"),
    (lambda: raydex.join([1], [1], missing_equals=True), "do you mean missing_equal?"),
    (lambda: raydex.join(raydex.build([1]), [1], by="a"), "by: join has no such argument"),
    (lambda: raydex.join_range([1], [1], compare="<", distances=1), "do you mean distance?"),
    (lambda: raydex.join_range([1], [1], build_upper=[1], structures="btree"), "do you mean structure?"),
    (lambda: raydex.rmq([1], extreme_="max"), "do you mean extreme"),
    (lambda: raydex.build([1], "hash_open", search="lines"), "no hash_open such an option"),
])
def test_words_that_nobody_knows(call, likely):
    with pytest.raises(raydex.InvalidArgument, match=likely):
        call()


def test_flags_and_names_of_another_type():
    calls = {
        "missing_equal": lambda: raydex.join([1], [1], missing_equal="no"),
        "allow_exact_matches": lambda: raydex.join_asof([1], [1], allow_exact_matches=2),
        "strict": lambda: raydex.build([1]).predecessor([1], "yes"),
        "sums": lambda: raydex.aggregate(raydex.build([1]), [1], sums=1),
        "structure": lambda: raydex.build([1], ["btree"]),
        "extremes": lambda: raydex.rmq([1], extremes=["min"]),
        "direction": lambda: raydex.join_asof([1], [1], direction=["backward"]),
        "compare": lambda: raydex.join_range([1], [1], compare=["<"]),
        "points": lambda: raydex.build(["a longer word than a key"]).first(np.array([1.5])),
    }
    for name, call in calls.items():
        with pytest.raises(raydex.InvalidArgument, match=f"{name}: "):
            call()


def test_messages_with_nul_bytes_go_on():
    with pytest.raises(ValueError, match=r"'a\\0b' is not one of auto, sorted_array"):
        raydex.build([1], "a\0b")
    with pytest.raises(ValueError, match=r"x\\0y.*: 'a' is"):
        raydex.build([1], "btree", fill="x\0y: 'a' is")


def test_out_of_memory():
    memory = raydex._raydex
    session = memory.Session("cpu")
    with pytest.raises(MemoryError) as refused:
        memory.Bytes(session, 0, 1 << 62)
    assert isinstance(refused.value, raydex.OutOfMemory) and refused.value.asked == 1 << 62


@pytest.mark.parametrize("column,match", [
    (np.zeros((2, 3)), r"2 dimensions, \(2, 3\); a column has one"),
    (np.stack([[1, 2], [3, 4]]), r"column: .*2 dimensions.*an index over several takes a tuple of them"),
    (5, "column: 5 is a single number"),
    (np.array([1j]), "complex numbers have no order"),
    (np.array([object()]), "cells of object are no keys"),
    (np.zeros(2, np.longdouble), "floating numbers of up to 64 bits are"),
    (None, "builtins.NoneType is no column"),
    ({1, 2}, r"builtins.set is no column.*list\(x\) makes one"),
    (iter([1, 2]), r"list_iterator is no column.*list\(x\) makes one"),
    (pathlib.Path("x.csv"), "is no column.*read the file, as pandas.read_csv"),
    (object(), "builtins.object is no column"),
    ([1, "a", None], "a list of int and str, which are not compared"),
])
def test_columns_that_are_none(column, match):
    with pytest.raises(raydex.InvalidArgument, match=match):
        raydex.build(column)
    with pytest.raises(ValueError):
        raydex.build([1]).first(column if not isinstance(column, int) else "x" * 9)


@pytest.mark.parametrize("column,match", [
    (np.arange(6)[::-1], "its cells run backwards; give numpy.array"),
    (np.broadcast_to(np.array(3), (5,)), "its cells are one cell, repeated; give numpy.array"),
    (np.arange(3).astype(">i8"), "its bytes are swapped; give x.astype"),
    (np.frombuffer(bytes(17), "u1")[1:].view("i8"), "are not aligned; give numpy.array"),
])
def test_cells_that_the_library_does_not_read(column, match):
    """Refused with what copies them; as probes they are copied."""
    with pytest.raises(raydex.InvalidArgument, match=f"column: .*{match}"):
        raydex.build(column)
    with pytest.raises(raydex.InvalidArgument, match=f"probe: .*{match}"):
        raydex.join(np.arange(3), column)
    index, copy = raydex.build(np.arange(9)), np.array(column, "int64")
    for ask in (index.first, index.count, index.rank, index.contains, index.isin, index.successor):
        np.testing.assert_array_equal(ask(column), ask(copy))
    np.testing.assert_array_equal(index.count(column, copy), index.count(copy, copy))
    np.testing.assert_array_equal(raydex.build(np.arange(9, dtype="f4")).count(copy, column), index.count(copy, copy))


def test_strings_and_other_types_of_arrow():
    pa = pytest.importorskip("pyarrow")
    words = pa.array(["a", "b"])
    for of in (words, words.dictionary_encode()):
        with pytest.raises(TypeError, match="strings of any length are keys of raydex.build and raydex.join only"):
            raydex.searchsorted(of, of)
    for kind in (pa.list_(pa.int32()), pa.month_day_nano_interval()):
        with pytest.raises(TypeError, match="is no key"):
            raydex.build(pa.array([None], kind))


def test_probes_of_another_dtype():
    index = raydex.build(np.array([1, 2], "int32"))
    with pytest.raises(TypeError, match="they are S1, but int32 are asked for; a list of values is taken if each"):
        index.first([b"a"])
    with pytest.raises(TypeError, match="they are datetime64.s., but int32"):
        index.first(np.array([1], "datetime64[s]"))
    with pytest.raises(TypeError, match="they are int64, but S1 are asked for"):
        raydex.build([b"a"]).first([1])
    for keys in ([1.5], np.array([1.5]), [1 << 32], [1 << 70]):
        with pytest.raises(ValueError, match=f"keys: {keys[0]} is no int32, as the keys are"):
            index.insert(keys, [7])


def test_rows_that_are_none():
    index = raydex.build([1, 2])
    with pytest.raises(ValueError, match="rows: they go from -1 to -1"):
        index.insert([3], [-1])
    with pytest.raises(ValueError, match="4294967295"):
        index.insert([3], [2**32 - 1])
    with pytest.raises(TypeError, match="row ids are integers"):
        index.insert([3], [0.5])
    with pytest.raises(ValueError, match="there are 2, but 1 keys"):
        index.insert([3], [1, 2])
    with pytest.raises(ValueError):
        raydex.build([1], rows=[-1])


def test_devices_and_streams():
    for device in ("gpu", "cuda:x", "tpu:0", True, ""):
        with pytest.raises(ValueError, match="device"):
            raydex.build([1], device=device)
    assert raydex.build([1], device="cpu").info.device == "cpu"
    there = any(one.backend == "cuda" and one.available for one in raydex.structures())
    reason = "the column is in host memory; copy it there first, with torch" if there else "device: cuda: "
    with pytest.raises(raydex.Error, match=reason):
        raydex.build([1], device="cuda:0")
    with pytest.raises(ValueError, match="in host memory have none"):
        raydex.build([1], stream=3)
    with pytest.raises(ValueError, match="in host memory have none"):
        raydex.build([1]).first([1], stream=3)


class OnAnotherDevice:
    def __init__(self, kind):
        self.kind = kind

    def __dlpack_device__(self):
        return (self.kind, 0)

    def __dlpack__(self, **_):
        raise BufferError("it cannot be exported")


def test_devices_that_are_unknown():
    with pytest.raises(TypeError, match="DLPack's kind 10; copy it to the CPU or to CUDA"):
        raydex.build(OnAnotherDevice(10))
    with pytest.raises(ValueError, match="does not give its memory: it cannot be exported"):
        raydex.build(OnAnotherDevice(1))


def test_a_device_array_without_a_driver():
    if any(one.backend == "cuda" and one.available for one in raydex.structures()):
        pytest.skip("there is a GPU")
    class DeviceMemory:
        __cuda_array_interface__ = {"shape": (2,), "typestr": "<i4", "data": (1 << 20, False), "version": 3}

    with pytest.raises(raydex.Unavailable, match="no NVIDIA driver"):
        raydex.build(DeviceMemory())


def test_closed_indexes():
    index = raydex.build([1, 2])
    index.close()
    index.close()
    assert repr(index) == "raydex.Index(closed)"
    calls = (lambda: index.first([1]), lambda: index.count([1], [2]), lambda: index.rows([1]), lambda: len(index),
             lambda: index.info, lambda: index.insert([1], [1]), lambda: index.erase([1]), lambda: index.rank([1]),
             lambda: index.sum([1], values=[1, 2]), lambda: index.contains([1]), lambda: index.successor([1]))
    for call in calls:
        with pytest.raises(raydex.InvalidArgument, match="index: it is closed; build another one"):
            call()


def test_a_capsule_that_was_used():
    pa = pytest.importorskip("pyarrow")
    capsules = pa.array([1, 2]).__arrow_c_array__()

    class Twice:
        def __arrow_c_array__(self):
            return capsules

    assert len(raydex.build(Twice())) == 2
    with pytest.raises(raydex.InvalidArgument, match="was taken by somebody else"):
        raydex.build(Twice())


def test_a_stream_that_fails():
    pa = pytest.importorskip("pyarrow")

    def batches():
        yield pa.record_batch({"a": [1]})
        raise RuntimeError("the disk is gone")

    reader = pa.RecordBatchReader.from_batches(pa.schema([("a", pa.int64())]), batches())
    with pytest.raises(raydex.InvalidArgument, match="its Arrow stream failed: .*the disk is gone"):
        raydex.build(reader)


def test_the_end_of_the_interpreter():
    """Indexes that are alive at the end, and names that nobody freed, leave no trace."""
    code = "import raydex, numpy; i = raydex.build(numpy.arange(9)); r = raydex.rmq(numpy.arange(9)); i.first([1])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=os.environ)
    assert (done.returncode, done.stderr, done.stdout) == (0, "", "")


def test_what_is_called_otherwise():
    index, minima = raydex.build([3, 1, 2]), raydex.rmq([3, 1, 2])
    for of, name, said in [
        (index, "dump", r"save\(path\) writes it to a file"),
        (raydex.AsofIndex([1, 2]), "dump", r"save\(path\) writes it to a file"),
        (raydex.aggregate(index, [1, 2, 3]), "to_file", r"save\(path\) writes it to a file"),
        (index, "extend", r"append\(keys\) adds rows, insert\(keys, rows\) entries"),
        (index, "remove", r"erase\(keys\) takes entries out"),
        (index, "mean", r"raydex.aggregate\(index, values\) has it"),
        (index, "nsmallest", r"rows\(lower, upper\)"),
        (minima, "nsmallest", "the smallest or largest value alone: min, argmin"),
        (index, "head", r"numpy.partition has the smallest keys of a column, rows\(lower, upper\)"),
        (index, "groupby", r"sum\(groups, values=column\)"),
        (minima, "kth", "the smallest or largest value alone: min, argmin"),
        (raydex.aggregate(index, [1, 2, 3]), "smallest", "the smallest or largest value alone, min and max"),
    ]:
        assert not hasattr(of, name)
        with pytest.raises(AttributeError, match=f"'{type(of).__name__}' object has no attribute '{name}'.*{said}"):
            getattr(of, name)
    for name, said in [
        ("save", r"raydex.build\(column\).save\(path\)"),
        ("smallest", "numpy.partition has the smallest"), ("head", r"column\[:n\]"),
        ("kth", "its k-th one"), ("count", r"an index has it, raydex.build\(column\).count\(...\)"),
        ("sum", r"raydex.build\(keys\).sum\(points, values=column\)"), ("min", r"raydex.rmq\(array\)"),
        ("overlap", "raydex.genomics has it of data frames"), ("lookup", r"lookup\(points, frame\)"),
    ]:
        assert not hasattr(raydex, name)
        with pytest.raises(AttributeError, match=f"module 'raydex' has no attribute '{name}': .*{said}"):
            getattr(raydex, name)
    with pytest.raises(AttributeError, match="^module 'raydex' has no attribute 'built'$") as error:
        getattr(raydex, "built")  # noqa: B009
    assert (error.value.name, error.value.obj) == ("built", raydex)
    for of in (index, raydex.aggregate(index, [1, 2, 3])):
        with pytest.raises(TypeError, match=r"by: \w+.sum has no such argument; an index has the sums of groups"):
            of.sum([1], by=[2])
    with pytest.raises(AttributeError, match="^'Index' object has no attribute 'cuont'$") as error:
        index.cuont([1])
    assert (error.value.name, error.value.obj) == ("cuont", index)
    for of in (raydex.Index, raydex.Rmq):
        assert not any(hasattr(of, name) for name in of._instead)


def test_a_column_that_is_none():
    with pytest.raises(raydex.InvalidArgument, match=r"column: 'x.csv' is a single text; give.*; of a file"):
        raydex.build("x.csv")
    pl = pytest.importorskip("polars")
    with pytest.raises(raydex.InvalidType, match=r"column: a polars.LazyFrame is no column; give x.collect\(\)"):
        raydex.build(pl.LazyFrame({"a": [1]}))


def test_times_that_are_texts():
    pd, pl = pytest.importorskip("pandas"), pytest.importorskip("polars")
    texts = pd.DataFrame({"time": ["2026-01-05 09:30:20"]})
    times = texts.assign(time=pd.to_datetime(texts["time"]))
    said = r"pandas.to_datetime\(x\), or x.str.to_datetime\(\) of Polars"
    for left, right in ((texts, texts), (texts, times), (times, texts), (pl.from_pandas(texts), pl.from_pandas(times))):
        with pytest.raises(raydex.InvalidType, match=said):
            raydex.merge_asof(left, right, on="time")


def test_a_gpu_by_its_other_name():
    with pytest.raises(raydex.InvalidArgument, match="device: 'gpu' is none; .*; a GPU is 'cuda' here"):
        raydex.build([1], device="gpu")
