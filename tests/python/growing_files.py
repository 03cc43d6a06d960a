# SPDX-License-Identifier: Apache-2.0
"""What tests of files with runs share."""

import os

import numpy as np
import raydex


def rows_of(index, points):
    found = index.rows(points)
    return [sorted(found.rows[a:b].tolist()) for a, b in zip(found.offsets[:-1], found.offsets[1:])]


def content(path, **options):
    """The rows of all integers that tests append, by the file."""
    with raydex.load(path, **options) as index:
        return rows_of(index, np.arange(100))


def runs_in(folder):
    return sorted(name for name in os.listdir(folder) if name != "an.index")


def with_runs(path, cells=((5, 3), (5,), (3, 5))):
    """A file with runs; the rows that it has."""
    raydex.build(cells[0]).save(path)
    for batch in cells[1:]:
        raydex.append_file(path, batch, share=None)
    return content(path)
