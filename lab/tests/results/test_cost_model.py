# SPDX-License-Identifier: Apache-2.0
"""The cost model of RX is fitted to rows as to equations that are known."""

import pathlib
import sys

import numpy
import pytest

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "lab/scripts"))

import cost_model  # noqa: E402


def rows_of(times, structure="rx", **more):
    return [{"experiment": "rx/17", "device": "a card", "structure": structure, "options": "hits=any",
             "workload_axes": {"range_hits": hits}, "probes": 8, "lookup_ms": ms, **more} for hits, ms in times.items()]


def test_costs_are_those_that_times_were_made_of():
    times = {hits: 3 + 0.25 * hits for hits in (1, 4, 16, 64, 256, 1024)}
    fit, = cost_model.fits(rows_of(times))
    assert (fit.traversal_ms, fit.intersection_ms) == pytest.approx((3, 0.25))
    assert fit.error == pytest.approx(0, abs=1e-9)
    row, = cost_model.rows_of([fit])
    assert row["experiment"] == "rx/4.9" and row["traversal_ms"] == fit.traversal_ms


def test_the_error_is_in_parts_of_what_was_measured():
    fit, = cost_model.fits(rows_of({1: 1, 2: 4, 3: 1}))
    assert (fit.traversal_ms, fit.intersection_ms) == pytest.approx((2, 0))
    assert fit.error == pytest.approx(1)


def test_structures_and_cards_are_fitted_apart_and_newer_rows_count():
    rows = [*rows_of({1: 9, 2: 9}), *rows_of({1: 2, 2: 3}), *rows_of({1: 1, 2: 3}, structure="btree"),
            *rows_of({1: 1, 2: 2}, device="another"), *rows_of({1: 1}, experiment="rx/16")]
    costs = [(fit.row["structure"], fit.row["device"], round(fit.traversal_ms, 6), round(fit.intersection_ms, 6))
             for fit in cost_model.fits(rows)]
    assert costs == [("rx", "a card", 1, 1), ("btree", "a card", 0, 1.4), ("rx", "another", 0, 1)]


@pytest.mark.parametrize("seed", range(20))
def test_no_numbers_that_are_not_negative_come_closer(seed):
    random = numpy.random.default_rng(seed)
    matrix, wanted = random.normal(size=(6, 2)), random.normal(size=6)
    found = cost_model.non_negative_least_squares(matrix, wanted)
    assert (found >= 0).all()
    least = numpy.linalg.norm(matrix @ found - wanted)
    steps = numpy.linspace(0, 3, 61)
    grid = numpy.array([(x, y) for x in steps for y in steps])
    assert least <= numpy.linalg.norm(grid @ matrix.T - wanted, axis=1).min() + 1e-12


def test_where_all_would_be_negative_costs_are_none():
    assert (cost_model.non_negative_least_squares(numpy.eye(2), numpy.array([-1.0, -2.0])) == 0).all()
