# SPDX-License-Identifier: Apache-2.0
"""Answers by NumPy alone, row after row."""

import numpy as np

NONE = -1


def rows_between(keys, lower, upper, missing=None):
    """The rows with lower <= key <= upper, by key, then by row."""
    hit = (keys >= lower) & (keys <= upper)
    if keys.dtype.kind == "f" and np.isnan(upper):
        hit = (np.isnan(keys)) if np.isnan(lower) else (keys >= lower) | np.isnan(keys)
    if missing is not None:
        hit &= ~missing
    rows = np.flatnonzero(hit)
    return rows[np.argsort(keys[rows], kind="stable")]


def answers(keys, lower, upper, missing=None):
    """first, count, sum of rows, and rows of each range."""
    each = [rows_between(keys, a, b, missing) for a, b in zip(lower, upper)]
    first = np.array([rows.min() if len(rows) else NONE for rows in each], np.int64)
    count = np.array([len(rows) for rows in each], np.int64)
    total = np.array([rows.sum() for rows in each], np.uint64)
    offsets = np.concatenate([[0], np.cumsum(count)]).astype(np.int64)
    rows = np.concatenate(each).astype(np.int64) if len(each) else np.empty(0, np.int64)
    return first, count, total, offsets, rows


def closest(keys, points, before, strict):
    """The smallest row of the closest key on one side of each point."""
    found = []
    for point in points:
        if before:
            fits = keys < point if strict else keys <= point
        else:
            fits = keys > point if strict else keys >= point
        rows = np.flatnonzero(fits)
        if len(rows) == 0:
            found.append(NONE)
            continue
        key = np.sort(keys[rows])[-1 if before else 0]
        found.append(int(rows[keys[rows] == key].min()))
    return np.array(found, np.int64)
