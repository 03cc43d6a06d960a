#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What a traversal and a row cost in range lookups: the cost model of RX (section 4.9), fitted to docs/results.

A lookup of a range with so many rows is taken to cost one traversal, and an intersection for each row, which for other
structures is a search, and a row of its scan. Each number of rows in the experiment rx/17 is an equation; both costs are
fitted by non-negative least squares.
"""

import dataclasses
import itertools

import numpy

import results

EXPERIMENT = "rx/17"
FITTED = "rx/4.9"  # what rows of the costs have as their experiment


@dataclasses.dataclass
class Fit:
    """Of one structure with its options on one card."""

    row: dict
    """One of those that were fitted."""
    traversal_ms: float
    """Of all lookups of the batch."""
    intersection_ms: float
    """Of a row of each."""
    error: float
    """The largest difference from a measured time, in parts of that."""


def non_negative_least_squares(matrix, wanted):
    """The x of no negative numbers with the smallest |matrix x - wanted|. Tries all sets of columns: for few."""
    best, least = numpy.zeros(matrix.shape[1]), numpy.linalg.norm(wanted)
    for size in range(1, matrix.shape[1] + 1):
        for columns in itertools.combinations(range(matrix.shape[1]), size):
            x = numpy.zeros(matrix.shape[1])
            x[list(columns)] = numpy.linalg.lstsq(matrix[:, columns], wanted, rcond=None)[0]
            distance = numpy.linalg.norm(matrix @ x - wanted)
            if (x >= 0).all() and distance < least:
                best, least = x, distance
    return best


def fits(rows):
    """Of each structure and card that has rows of the experiment, in their order."""
    newest = {}
    for row in rows:
        if row["experiment"] == EXPERIMENT:
            of_ranges = newest.setdefault((row["device"], row["structure"], row["options"]), {})
            of_ranges[row["workload_axes"]["range_hits"]] = row
    found = []
    for of_ranges in newest.values():
        hits = numpy.array(list(of_ranges), dtype=float)
        measured = numpy.array([row["lookup_ms"] for row in of_ranges.values()])
        equations = numpy.column_stack([numpy.ones_like(hits), hits])
        costs = non_negative_least_squares(equations, measured)
        error = numpy.abs(equations @ costs / measured - 1).max()
        found.append(Fit(next(iter(of_ranges.values())), *map(float, costs), float(error)))
    return found


def rows_of(fitted):
    """The costs as rows that claims are judged by."""
    return [{**fit.row, "experiment": FITTED, "traversal_ms": fit.traversal_ms, "intersection_ms": fit.intersection_ms}
            for fit in fitted]


def main():
    """Prints all fits."""
    print("device,structure,options,traversal_ms,intersection_ms,error")
    for fit in fits(results.everything()):
        print(f"{fit.row['device']},{fit.row['structure']},{fit.row['options']},{fit.traversal_ms:.4g},"
              f"{fit.intersection_ms:.4g},{fit.error:.3f}")


if __name__ == "__main__":
    main()
