# SPDX-License-Identifier: Apache-2.0
"""Answers by plain comparison of every probe with every key, and columns to try them on."""

import math

import numpy as np

KEY_TYPES = ["<u4", "<u8", "<i4", "<i8", "<f4", "<f8", "|S1", "|S3", "|S4", "|S5", "|S8"]


def sortable(keys):
    """Two arrays whose lexical order is that of the keys."""
    keys = np.ascontiguousarray(keys)
    if keys.dtype.kind == "S":
        width = keys.dtype.itemsize
        padded = np.zeros((len(keys), 8), np.uint8)
        padded[:, :width] = keys.view(np.uint8).reshape(len(keys), width)
        return np.zeros(len(keys), bool), padded.view(">u8").ravel().astype(np.uint64)
    if keys.dtype.kind == "f":
        nan = np.isnan(keys)
        return nan, np.where(nan, keys.dtype.type(0), keys)
    return np.zeros(len(keys), bool), keys


def at_most(a, b):
    """A matrix: whether a[i] <= b[j]."""
    (a_nan, a), (b_nan, b) = sortable(a), sortable(b)
    a_nan, a, b_nan, b = a_nan[:, None], a[:, None], b_nan[None, :], b[None, :]
    return np.where(a_nan | b_nan, b_nan, a <= b)


class Oracle:
    """The answers to ranges over a column; a point is a range of one key."""

    def __init__(self, keys, lower, upper, row_ids=None, present=None, asked=None):
        self.row_ids = np.arange(len(keys), dtype=np.uint32) if row_ids is None else row_ids
        match = at_most(lower, keys) & at_most(keys, upper).T
        if present is not None:
            match &= present[None, :]
        if asked is not None:
            match &= asked[:, None]
        nan, value = sortable(keys)
        order = np.lexsort((self.row_ids, value, nan))
        self.matches = [self.row_ids[order[row[order]]] for row in match]

    def first(self):
        missing = np.iinfo(self.row_ids.dtype).max
        found = [rows.min() if len(rows) else missing for rows in self.matches]
        return np.array(found, self.row_ids.dtype)

    def count(self):
        return np.array([len(rows) for rows in self.matches], np.uint64)

    def sum(self, values):
        parts = [values[rows.astype(np.int64)] for rows in self.matches]
        if values.dtype.kind == "f":
            return np.array([math.fsum(part.tolist()) for part in parts], np.float64)
        wide = np.dtype(values.dtype.kind + "8")
        return np.array([part.astype(wide).sum(dtype=wide) for part in parts], wide)

    def rows(self):
        offsets = np.concatenate([[0], np.cumsum(self.count())]).astype(np.uint64)
        return offsets, np.concatenate([*self.matches, np.empty(0, self.row_ids.dtype)])


def assert_equal(answer, expected):
    """Equal cells of equal dtype."""
    if isinstance(expected, tuple):
        for a, e in zip(answer, expected, strict=True):
            assert_equal(a, e)
        return
    assert answer.dtype == expected.dtype
    np.testing.assert_array_equal(answer, expected)


def extremes(dtype):
    """The keys that break things."""
    dtype = np.dtype(dtype)
    if dtype.kind == "f":
        info = np.finfo(dtype)
        quiet = np.array([np.nan, -np.nan], dtype)
        return np.concatenate(
            [np.array([0.0, -0.0, np.inf, -np.inf, info.max, info.min, info.tiny], dtype),
             np.array([info.smallest_subnormal, -info.smallest_subnormal], dtype), quiet]
        )
    if dtype.kind == "S":
        width = dtype.itemsize
        raw = [b"\0" * width, b"\xff" * width, b"\x80", b"\x7f", b"\0" * (width - 1) + b"\1"]
        return np.array(raw, dtype)
    info = np.iinfo(dtype)
    return np.array([info.min, info.max, info.min + 1, info.max - 1, 0, 1], dtype)


def random_bits(rng, dtype, n):
    """Keys of any bit pattern."""
    return np.frombuffer(rng.bytes(n * np.dtype(dtype).itemsize), dtype)


def random_keys(rng, dtype, n):
    """Few distinct keys, so that there are duplicates; the extremes among them."""
    if n == 0:
        return np.empty(0, dtype)
    distinct = np.concatenate([random_bits(rng, dtype, max(n // 3, 1)), extremes(dtype)])
    return rng.choice(distinct, n)


def random_points(rng, keys, n):
    """Hits, and other bit patterns, which are misses for the most part."""
    misses = np.concatenate([random_bits(rng, keys.dtype, n), extremes(keys.dtype)])
    return rng.choice(np.concatenate([keys, rng.choice(misses, n)]), n)
