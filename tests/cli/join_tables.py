# SPDX-License-Identifier: Apache-2.0
"""Tables to be joined, and the rows that a plain comparison gives."""

import csv
import io
import math
import os

import numpy as np
from conftest import join_arguments

SMALL = os.environ.get("RAYDEX_TEST_SCALE") == "small"
NONE = 2**64 - 1
COMPARISONS = ["less", "less_equal", "greater", "greater_equal"]
TEXTS = ["x", "New York", "Newark, New Jersey", 'a "quoted" text', "two\nlines", "Å", None]


def order(value):
    """What keys are compared by: NaN equals NaN and follows all others."""
    if isinstance(value, float):
        return (1, 0.0) if math.isnan(value) else (0, value)
    return (0, value)


def random_values(rng, kind, n):
    """A column as a list; None is missing."""
    if kind == "ints":
        return rng.integers(-4, 4, n).tolist()
    if kind == "floats":
        return rng.choice([np.nan, -np.nan, 0.0, -0.0, 1.5, -2.5, np.inf, -np.inf], n).tolist()
    if kind == "bytes":
        return rng.choice(np.array([b"a", b"ab", b"abc", b"b"]), n).tolist()
    if kind == "texts":
        return [TEXTS[i] for i in rng.integers(0, len(TEXTS), n)]
    assert kind == "missing"
    return [None if x == 0 else int(x) for x in rng.integers(0, 5, n)]


def write_table(program, name, kinds, columns):
    """Arrays where nothing is missing, else columns of one CSV file; the list that names them."""
    names, fields = [], {}
    for i, (kind, values) in enumerate(zip(kinds, columns)):
        if kind in ("texts", "missing"):
            fields[f"c{i}"] = values
            follows = names and not names[-1].endswith(".npy")
            names.append(f"c{i}" if follows else f"{name}.csv:c{i}")
        else:
            dtype = {"ints": "<i4", "floats": "<f8", "bytes": "|S3"}[kind]
            names.append(program.file(f"{name}{i}.npy", np.array(values, dtype)))
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["row", *fields])
    for row, values in enumerate(zip(*fields.values())):
        writer.writerow([row, *("" if value is None else value for value in values)])
    program.file(f"{name}.csv", text.getvalue())
    return ",".join(names)


def equal_pairs(build, probe, missing_equal=False):
    """Pairs of rows whose keys are equal, by columns."""
    build = [tuple(map(order, key)) for key in zip(*build)]
    probe = [tuple(map(order, key)) for key in zip(*probe)]
    found = []
    for p, wanted in enumerate(probe):
        may_match = missing_equal or (0, None) not in wanted
        found += [(p, b) for b, key in enumerate(build) if may_match and key == wanted]
    return found


def rows_of(kind, pairs, probes, builds=0):
    """What a join of that kind writes, in the order of the probe rows."""
    matched, found = {p for p, _ in pairs}, {b for _, b in pairs}
    if kind == "semi":
        return np.array(sorted(matched), "<u8")
    if kind == "anti":
        return np.array([p for p in range(probes) if p not in matched], "<u8")
    if kind in ("left", "full"):
        pairs = sorted(pairs + [(p, NONE) for p in range(probes) if p not in matched])
    if kind in ("right", "full"):
        pairs = pairs + [(NONE, b) for b in range(builds) if b not in found]
    return np.array(pairs, "<u8").reshape(-1, 2)


def assert_same_rows(answer, expected, ordered=True):
    """Equal rows of equal type, in any order if not `ordered`."""
    assert answer.dtype == np.dtype("<u8")
    if not ordered:
        answer = answer[np.lexsort((answer[:, 1], answer[:, 0]))]
    np.testing.assert_array_equal(answer, expected)


def assert_same_pairs(answer, pairs):
    """The same where rows of one probe are in the order of their keys; those of none come last."""
    assert (answer[1:, 0] >= answer[:-1, 0]).all()
    assert_same_rows(answer, rows_of("inner", sorted(pairs), 0), ordered=False)


def text_of(program, *flags, **options):
    done = program.run(*join_arguments(out="-", **options), *flags)
    assert (done.returncode, done.stderr) == (0, "")
    program.run(*join_arguments(out="out.csv", **options), *flags)
    assert (program.folder / "out.csv").read_text() == done.stdout
    return done.stdout
