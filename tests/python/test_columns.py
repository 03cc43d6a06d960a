# SPDX-License-Identifier: Apache-2.0
"""Columns as users have them: each protocol, and what is missing in them."""

import array
import datetime
import sys

import numpy as np
import pytest
import raydex

pa = pytest.importorskip("pyarrow")
pd = pytest.importorskip("pandas")
pl = pytest.importorskip("polars")
duckdb = pytest.importorskip("duckdb")


def check(column, expected):
    """`expected`: a list with None where a value is missing."""
    index = raydex.build(column)
    there = [row for row, value in enumerate(expected) if value is not None]
    assert len(index) == len(there)
    seen = {}
    for row in there:
        seen.setdefault(expected[row], row)
    first = [-1 if value is None else seen[value] for value in expected]
    np.testing.assert_array_equal(index.first(column), first)
    return index


ARROW = [
    (pa.int8(), [3, None, -3, 3]),
    (pa.int16(), [3, None, -3, 3]),
    (pa.int32(), [3, None, -3, 3]),
    (pa.int64(), [1 << 40, None, -3, 1 << 40]),
    (pa.uint8(), [3, None, 250]),
    (pa.uint16(), [3, None, 65000]),
    (pa.uint32(), [3, None, 1 << 31]),
    (pa.uint64(), [3, None, 1 << 63]),
    (pa.float16(), [np.float16(0.5), None, np.float16(-1)]),
    (pa.float32(), [0.5, None, -1.0]),
    (pa.float64(), [0.1, None, -1.0, 0.1]),
    (pa.bool_(), [True, None, False, True] * 5),
    (pa.date32(), [datetime.date(2020, 1, 2), None, datetime.date(1960, 1, 1)]),
    (pa.date64(), [datetime.date(2020, 1, 2), None, datetime.date(1960, 1, 1)]),
    (pa.time32("s"), [datetime.time(1, 2), None]),
    (pa.time32("ms"), [datetime.time(1, 2), None]),
    (pa.time64("us"), [datetime.time(1, 2), None]),
    (pa.time64("ns"), [datetime.time(1, 2), None]),
    (pa.timestamp("s"), [datetime.datetime(2020, 1, 2), None]),
    (pa.timestamp("ms"), [datetime.datetime(2020, 1, 2), None]),
    (pa.timestamp("us"), [datetime.datetime(2020, 1, 2), None]),
    (pa.timestamp("ns"), [datetime.datetime(2020, 1, 2), None]),
    (pa.timestamp("ns", "UTC"), [datetime.datetime(2020, 1, 2), None]),
    (pa.duration("ms"), [datetime.timedelta(seconds=2), None]),
    (pa.binary(3), [b"abc", None, b"abd", b"abc"]),
]


@pytest.mark.parametrize("kind,values", ARROW, ids=lambda one: str(one) if isinstance(one, pa.DataType) else "")
def test_every_type_of_arrow(kind, values):
    check(pa.array(values, kind), values)
    check(pa.chunked_array([values[:1], values[1:]], kind), values)
    check(pa.chunked_array([values], kind), values)
    check(pa.array(values, kind).slice(1), values[1:])
    assert len(raydex.build(pa.array([], kind))) == 0
    assert len(raydex.build(pa.chunked_array([], kind))) == 0
    assert len(raydex.build(pa.array([None, None], kind))) == 0


@pytest.mark.parametrize("offset", range(20))
def test_validity_at_any_bit(offset, random):
    values = [None if random.random() < 0.4 else int(random.integers(0, 9)) for _ in range(60)]
    whole = pa.array(values, pa.int32())
    for length in (0, 1, 7, 8, 9, 33, 60 - offset):
        check(whole.slice(offset, length), values[offset:offset + length])
    check(pa.chunked_array([whole.slice(offset, 9), whole.slice(3, 17), whole.slice(offset)]),
          values[offset:offset + 9] + values[3:20] + values[offset:])
    flags = [None if value is None else value > 4 for value in values]
    check(pa.array(flags).slice(offset), flags[offset:])


def test_zero_copy_of_arrow(random):
    numbers = pa.array(random.integers(0, 1 << 30, 1000))
    cells = raydex._sources.look("column", numbers).cells
    assert cells.array.__array_interface__["data"][0] == numbers.buffers()[1].address


@pytest.mark.parametrize("column", [pa.array([None, 1, 2] * 20), pa.array([None, "a", "bcd"] * 20)])
def test_zero_copy_of_bitmaps(column):
    """At any bit, of numbers and of strings."""
    cells = raydex._sources.look("column", column.slice(21)).cells
    bitmap = cells.validity if isinstance(cells, raydex._arrow.HostCells) else cells.bits
    assert (bitmap.address, bitmap.first_bit) == (column.buffers()[0].address + 2, 5)
    assert bitmap.there(39).tolist() == column.slice(21).is_valid().tolist()


def test_polars():
    check(pl.Series([3, None, 1, 3]), [3, None, 1, 3])
    check(pl.Series([1.5, None]), [1.5, None])
    check(pl.Series([True, None, False]), [True, None, False])
    check(pl.Series([datetime.date(2020, 1, 1), None]), [1, None])
    check(pl.Series([datetime.datetime(2020, 1, 1), None]), [1, None])
    check(pl.concat([pl.Series([1, 2]), pl.Series([2, None])], rechunk=False), [1, 2, 2, None])
    frame = pl.DataFrame({"a": [1, 2], "b": [3, 4]})
    assert raydex.build(frame["b"]).first([4])[0] == 1
    assert raydex.build(frame.select("b")).first([4])[0] == 1
    assert raydex.build(frame).first((2, 4)) == 1


def test_pandas():
    check(pd.Series([3, 1, 3]), [3, 1, 3])
    check(pd.Series([3, None, 3], dtype="Int64"), [3, None, 3])
    check(pd.Series([3, None, 3], dtype="int64[pyarrow]"), [3, None, 3])
    check(pd.Series([0.5, 1.0], dtype="float32"), [0.5, 1.0])
    check(pd.Series(pd.to_datetime(["2020-01-01", None, "2020-01-03"])), [1, None, 3])
    check(pd.Series(pd.to_datetime(["2020-01-01", None, "2020-01-03"], utc=True)), [1, None, 3])
    check(pd.Series([True, False]), [True, False])
    check(pd.Index([5, 6, 7]), [5, 6, 7])
    # Missing in pandas, a key in raydex: pandas joins NaN with NaN, too.
    assert raydex.build(pd.Series([1.0, None])).contains([np.nan])[0]
    frame = pd.DataFrame({"a": [1, 2], "b": [3.0, 4.0]})
    assert raydex.build(frame["b"]).first([4])[0] == 1


@pytest.mark.parametrize("column", [
    pd.Series(["b", None, "a", "b"]),
    pd.Series(["b", None, "a", "b"], dtype="category"),
    pd.Series([2**62 + 1, None, 3, 2**62 + 1], dtype="Int64"),
    pd.Series([0.5, None, 3.0, 0.5], dtype="Float64"),
    pd.Series([True, None, False, True], dtype="boolean"),
    pd.Series(["2026-03-29T01:30", None, "2026-03-29T00:30", "2026-03-29T01:30"]).astype("datetime64[ns, UTC]"),
    pd.Index(["b", "a", "b"]),
], ids=lambda column: f"{type(column).__name__}-{column.dtype}")
def test_pandas_without_pyarrow(column, monkeypatch):
    expected = raydex.join(column, column)
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    found = raydex.join(column, column)
    assert (found.probe.tolist(), found.build.tolist()) == (expected.probe.tolist(), expected.build.tolist())
    assert len(found.build) == 2 * 2 + 1


def test_duckdb():
    check(duckdb.sql("select unnest([3, null, 1]) as a"), [3, None, 1])
    many = duckdb.sql("select range * 7 as a from range(10000)")
    index = raydex.build(many)
    assert len(index) == 10000 and index.first([7 * 4321])[0] == 4321


def test_dlpack_on_the_cpu():
    torch = pytest.importorskip("torch")
    for dtype in ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16", "float32",
                  "float64", "bool"):
        tensor = torch.tensor([1, 0, 1]).to(getattr(torch, dtype))
        index = raydex.build(tensor)
        found = index.first(tensor)
        assert isinstance(found, torch.Tensor) and found.tolist() == [0, 1, 0]
        assert index.contains(tensor).dtype == torch.bool
        assert index.sum(tensor, values=torch.arange(3)).dtype == torch.int64
    strided = torch.arange(12).reshape(4, 3)[:, 1]
    assert raydex.build(strided).first(strided).tolist() == [0, 1, 2, 3]
    assert raydex.build(strided).first(np.array([4]))[0] == 1
    assert raydex.build(strided).count(torch.tensor(4)) == 1
    with pytest.raises(raydex.InvalidArgument, match=r"give x.detach\(\)"):
        raydex.build(torch.ones(3, requires_grad=True))
    with pytest.raises(TypeError, match="bfloat16 are no keys; float32 has each of them"):
        raydex.build(torch.ones(3, dtype=torch.bfloat16))
    with pytest.raises(ValueError, match="2 dimensions"):
        raydex.build(torch.ones(3, 2))
    with pytest.raises(TypeError, match="on no device that DLPack knows"):
        raydex.build(torch.ones(3, device="meta"))
    with pytest.raises(ValueError, match="does not give its memory"):
        raydex.build(torch.ones(3).to_sparse())
    with pytest.raises(TypeError, match="complex64 are no keys"):
        raydex.build(torch.ones(3, dtype=torch.complex64))
    negated = torch.tensor([1 + 2j, 3 - 4j]).conj().imag
    with pytest.raises(ValueError, match=r"give x.resolve_neg\(\)"):
        raydex.build(negated)
    assert raydex.build(negated.resolve_neg()).first(torch.tensor([4.0, -2.0])).tolist() == [1, 0]
    with pytest.raises(ValueError, match="a tensor does not give its memory"):
        torch.func.vmap(raydex.build(strided).first)(torch.ones(2, 3, dtype=torch.int64))


def test_tensors_and_single_numbers():
    torch = pytest.importorskip("torch")
    keys = torch.tensor([1.0, float("nan"), 3.0])
    index = raydex.build(keys)
    points = torch.tensor([[1.0, float("nan")], [2.0, 3.0]])
    for invert in (False, True):
        found = index.isin(points, invert)
        assert isinstance(found, torch.Tensor)
        np.testing.assert_array_equal(found, np.isin(points.numpy(), keys.numpy(), invert=invert))
    assert index.isin(torch.tensor(3.0)).shape == () and bool(index.isin(torch.tensor(3.0)))
    found = index.count(torch.tensor(1.0), torch.tensor([1.0, 3.0]))
    assert isinstance(found, torch.Tensor) and found.tolist() == [1, 2]
    transposed = torch.arange(12.0).reshape(3, 4).T
    np.testing.assert_array_equal(index.isin(transposed), np.isin(transposed.numpy(), keys.numpy()))


def test_a_copy_lives_as_long_as_it_is_read(random):
    """Probes that are widened to the keys' type are so in memory that nobody else may take."""
    torch = pytest.importorskip("torch")
    keys = random.permutation(50_000)
    index = raydex.build(keys)
    for points in (keys.astype("int32"), torch.as_tensor(keys.astype("int32"))):
        for _ in range(20):
            np.testing.assert_array_equal(index.first(points), np.arange(50_000))
            np.testing.assert_array_equal(index.count(points, points), np.ones(50_000))


class WithDlpack:
    """An array of a library that raydex does not know."""

    def __init__(self, array, versioned=True):
        self.array = array
        self.versioned = versioned
        self.asked = []

    def __dlpack_device__(self):
        return (1, 0)

    def __dlpack__(self, *, stream=None, **more):
        self.asked.append((stream, more))
        if more and not self.versioned:
            raise TypeError("unexpected keyword argument 'max_version'")
        return self.array.__dlpack__(**more)


@pytest.mark.parametrize("versioned", [False, True])
def test_dlpack_of_strangers(versioned):
    keys = WithDlpack(np.array([4, 5, 6], "int16"), versioned)
    index = raydex.build(keys)
    assert keys.asked[0] == (None, {"max_version": (1, 0)})
    assert len(keys.asked) == (1 if versioned else 2)
    found = index.first(keys)
    assert isinstance(found, np.ndarray) and found.tolist() == [0, 1, 2]
    floats = WithDlpack(np.array([1.0, np.nan]), versioned)
    assert raydex.build(floats).isin(floats).tolist() == [True, False]


def test_read_only_arrays():
    keys = np.arange(5)
    keys.flags.writeable = False
    assert raydex.build(keys).first(keys).tolist() == [0, 1, 2, 3, 4]
    assert raydex.build(WithDlpack(keys)).first(keys).tolist() == [0, 1, 2, 3, 4]


def test_buffers_and_array_interfaces():
    assert raydex.build(array.array("i", [3, 4])).first([4])[0] == 1
    assert raydex.build(memoryview(np.array([3.5, 4.5]))).first([4.5])[0] == 1

    class Interface:
        kept = np.array([7, 8])
        __array_interface__ = kept.__array_interface__

    assert raydex.build(Interface()).first([8])[0] == 1
    assert raydex.build(range(5)).count([4])[0] == 1


def test_probes_of_another_library():
    index = raydex.build(np.array([3, 1, 2]))
    for probes in (pl.Series([2, None]), pa.array([2, None]), pd.Series([2, None], dtype="Int64")):
        assert list(index.first(probes)) == [2, -1]
    days = raydex.build(pa.array([1, 2], pa.date32()))
    with pytest.raises(TypeError, match="int32, but date32 are asked for"):
        days.first(np.array([1], "int32"))
    zoned = raydex.build(pa.array([1], pa.timestamp("ns", "UTC")))
    with pytest.raises(TypeError, match="tz"):
        zoned.first(np.array([1], "datetime64[ns]"))


@pytest.mark.parametrize("name", ["TorchLibrary", "CupyLibrary", "BareLibrary"])
@pytest.mark.parametrize("method", ["empty", "address", "from_host"])
def test_libraries_of_a_gpu_have_memory_there(name, method):
    """What they inherit of these is NumPy's, whose memory is the host's."""
    library = getattr(sys.modules["raydex._array_libraries"], name)
    assert getattr(library, method) is not getattr(library.__base__, method)
