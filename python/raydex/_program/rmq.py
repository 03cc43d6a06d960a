# SPDX-License-Identifier: Apache-2.0
"""`rmq`: minima or maxima of ranges of an array in a file, and where they are."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

import raydex
from raydex._program.arguments import Files, naming, structure_options
from raydex._program.keys import Column, column, make_alike, make_like, ranges
from raydex._program.messages import Refused, check_word
from raydex._program.outputs import STRETCH, Output, check_ending, opened, write_rows
from raydex._program.tables import read

RESULTS = ("min", "argmin", "max", "argmax")


def rmq(given: argparse.Namespace) -> None:
    """Minima or maxima of ranges of an array, or where they are."""
    check_word("result", given.result, RESULTS)
    options = structure_options(given, minima=True)
    if "extreme" in options:
        told = "--result tells which it is: min, argmin, max or argmax"
        raise Refused(f"option extreme: {told}; leave it out")
    if (given.set is None) != (given.set_values is None):
        raise Refused("--set and --set-values go together: positions and their new values")
    check_ending(given.out, ".npy")
    files = Files(given, "--values", "--ranges", "--set", "--set-values")
    with opened(given.out, files.paths()) as output:
        raw = read(files.names())

        def read_as(label: str, option: str) -> Column:
            return column(label, files[option][0], raw[files[option][0]])

        values = read_as("values", "--values")
        if values.kind in ("", "S"):
            raise Refused(f"{values} are {values.type}; minima are of numbers")
        values.check_complete()
        ends = [_positions(one) for one in ranges(files["--ranges"], raw)]
        make_alike(ends, only_short=True)
        changes: tuple[Column, Column] | None = None
        array = values.values
        if "--set" in files:
            positions, new = read_as("set positions", "--set"), read_as("set values", "--set-values")
            changes = _changes(values, positions, new)
            # In memory that can be written, of the type that the structure holds.
            array = array.astype(raydex.rmq(array[:0]).min([], []).dtype)
        with naming(array=values, positions=changes and changes[0], lower=ends[0], upper=ends[1]):
            extreme = given.result.removeprefix("arg")
            built = raydex.rmq(array, given.structure, extremes=extreme, progress=True, **options)
            if changes:
                array[changes[0].values] = changes[1].values
                built.refresh(changes[0].values)
            _write_extremes(given, output, built, array, ends, values.written_as)
        output.commit()


def _positions(of: Column) -> Column:
    if of.kind not in ("i", "u") and not of.is_void:
        raise Refused(f"{of} are {of.type}; positions are integers")
    return of


def _changes(values: Column, positions: Column, new: Column) -> tuple[Column, Column]:
    """Positions and new values, which fit the array."""
    _positions(positions).check_complete()
    new.check_complete()
    make_like(new, values)
    if len(positions) != len(new):
        raise Refused(f"{new}: there are {len(new)}, but {len(positions)} positions")
    outside = (positions.values < 0) | (positions.values >= len(values))
    if outside.any():
        at = int(np.argmax(outside))
        there = f"the array has {len(values)} values"
        raise Refused(f"{positions}: position {at} is {positions.values[at]}; {there}")
    return positions, new


def _write_extremes(
    given: argparse.Namespace,
    output: Output,
    built: raydex.Rmq,
    array: npt.NDArray[Any],
    ends: Sequence[Column],
    written_as: Any,
) -> None:
    size = len(ends[0])
    is_place = given.result.startswith("arg")
    ask = getattr(built, given.result)

    def batches() -> Iterator[tuple[npt.NDArray[Any]]]:
        # Ranges may be mapped, and larger than memory.
        for begin in range(0, max(size, 1), STRETCH):
            lower, upper = (one.cells[begin : begin + STRETCH] for one in ends)
            if given.check:
                _check_ranges(lower, upper, begin, len(array))
            yield (ask(lower, upper),)

    dtype = "<u8" if is_place else ask([], []).dtype
    none = raydex.not_found if is_place else None
    write_rows(output, [given.result], batches(), size, dtype, none, None if is_place else written_as)


def _check_ranges(lower: Any, upper: Any, begin: int, n: int) -> None:
    """Refuses ranges that are empty or not wholly in the array; those without an end are passed over."""
    bad = np.ma.filled((lower < 0) | (lower > upper) | (upper >= n), False)
    if bad.any():
        at = int(np.argmax(bad))
        legal = f"legal: 0 <= lower <= upper <= {n - 1}" if n else "the array is empty"
        raise Refused(f"ranges: range {begin + at} is [{lower[at]}, {upper[at]}]; {legal}")
