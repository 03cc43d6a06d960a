# SPDX-License-Identifier: Apache-2.0
"""Arguments that are of the right kind and still do not fit: the error names them and says what is legal."""

import numpy as np
import pyarrow as pa
import pytest
import raydex

KEYS = np.array([1, 2, 3])
DAYS = np.array(["2020-01-01"], "M8[D]")
MONTHS = np.array(["2020-01"], "M8[M]")


class OnAnotherDevice:
    """As DLPack shows an array of ROCm."""

    def __dlpack_device__(self):
        return (10, 0)

    def __dlpack__(self, **_):
        raise BufferError("not here")


def count(points, keys=KEYS):
    return raydex.build(keys, device="cpu").count(points)


REFUSED = {
    "side": (lambda: raydex.build(KEYS).rank(KEYS, side="middle"), "side: 'middle' is neither 'left' nor 'right'"),
    "no columns": (lambda: raydex.join({}, {}), "build: no columns; a key has 1 to 16"),
    "by": (lambda: raydex.join_asof(KEYS, KEYS, by=KEYS), "by: give (build_by, probe_by), or these two by name"),
    "structure of intervals": (
        lambda: raydex.join_range(KEYS, KEYS, build_upper=KEYS, structure="btree"),
        "structure: intervals have one of their own"),
    "negative tolerance": (lambda: raydex.join_asof(KEYS, KEYS, tolerance=-1), "tolerance: -1; it must be 0 or more"),
    "part of an integer": (
        lambda: raydex.join_asof(KEYS, KEYS, tolerance=1.5), "tolerance: 1.5; of integers it must be a whole number"),
    "days of months": (
        lambda: raydex.join_asof(MONTHS, MONTHS, tolerance=np.timedelta64(1, "D")),
        "tolerance: np.timedelta64(1,'D') is no distance of datetime64[M]"),
    "no time": (
        lambda: raydex.join_asof(DAYS, DAYS, tolerance=np.timedelta64("NaT")), "is no distance of datetime64[D]"),
    "text as a time": (
        lambda: raydex.join_asof(DAYS, DAYS, tolerance="1 Dec"), "'1 Dec' is no distance of datetime64[D]"),
    "device that is a bool": (lambda: raydex.build(KEYS, device=True), "device: True is none; give 'cpu', 'cuda'"),
    "device of DLPack": (lambda: count(OnAnotherDevice()), "points: it is on a device of DLPack's kind 10"),
    "integer beyond float64": (lambda: raydex.build(np.array([1.5])).insert([10**400], [3]), "keys: 1000"),
    "integer beyond int64": (lambda: raydex.build(KEYS).insert([10**400], [3]), "keys: 1000"),
    "beside a fraction": (lambda: raydex.build(KEYS).insert([10**400, 1.5], [3, 4]), "keys: 1000"),
    "float128": (lambda: count([np.longdouble(1), 2]), "points: cells of float128 are no keys"),
    "times that no unit has": (
        lambda: count([np.datetime64("9999-01-01", "s"), np.datetime64(1, "ns")], DAYS.astype("M8[ns]")),
        "points: 9999-01-01T00:00:00 and others are in no unit together"),
    "longer bytes of a fixed size": (
        lambda: raydex.build(pa.array([b"abc"], pa.binary(3))).insert(pa.array([b"abcdef"]), [3]),
        "keys: b'abcdef' is no S3"),
    "two dimensions of texts": (lambda: count([["a", "b"], ["c", "d"]]), "points: it has 2 dimensions, (2, 2)"),
    "swapped bytes": (
        lambda: raydex.build(KEYS.astype(">i8")), "column: its bytes are swapped; give x.astype('<i8')"),
    "fractions as rows": (lambda: raydex.build(KEYS, rows=np.array([0.5, 1, 2])), "row ids are integers"),
    "a third column of a range join": (
        lambda: raydex.join_range(KEYS, KEYS, KEYS),
        "how: a ndarray is none of inner, left, right, full, outer, semi, anti; if that are the upper ends of build or "
        "probe, give join_range(build, probe, build_upper=x) or join_range(build, probe, probe_upper=x)"),
    "a third column of intervals": (
        lambda: raydex.join_intervals([1], [2], [3]),
        "how: a list is none of inner, left, right, full, outer, semi, anti; ends come in pairs: "
        "join_intervals((lower, upper), (lower, upper))"),
    "values for upper ends": (
        lambda: raydex.build(KEYS).sum([1, 2], KEYS),
        "What comes second are the upper ends of ranges; if it is the values, give index.sum(points, values=column)"),
    "a name to add up": (
        lambda: raydex.build(KEYS).sum([1], values="paid"), "values: 'paid' is a text, not a column; give the column "
        "itself, as frame['paid']"),
    "a name to aggregate": (
        lambda: raydex.aggregate(raydex.build(KEYS), "paid"), "values: 'paid' is a text, not a column"),
    "a name for a window": (
        lambda: raydex.rolling(KEYS, "paid", window=2), "values: 'paid' is a text, not a column"),
    "a name to look up": (lambda: raydex.build(KEYS).lookup([1], "paid"), "values: 'paid' is a text, not a column"),
    "a name to take of": (lambda: raydex.take("paid", [1]), "values: 'paid' is a text, not a column"),
    "a name of an array": (lambda: raydex.rmq("paid"), "array: 'paid' is a text, not a column"),
    "fractions to take": (lambda: raydex.take(KEYS, np.array([0.5])), "rows are integers, and these are float64"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_arguments_that_do_not_fit(name):
    call, words = REFUSED[name]
    with pytest.raises(raydex.Error) as refusal:
        call()
    assert words in str(refusal.value)


def test_cells_of_a_tensor_are_taken_as_those_of_its_array():
    torch = pytest.importorskip("torch")
    values = np.array([1.5, 2.5, 3.5])
    rows = raydex.build(KEYS, device="cpu").first(np.array([3, 9, 1]))
    taken = raydex.take(torch.tensor(values), rows)
    assert taken.tolist() == raydex.take(values, rows).tolist() == [3.5, None, 1.5]
