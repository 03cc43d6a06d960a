# SPDX-License-Identifier: Apache-2.0
"""`query`: an index over a column of a file, and its answers in a file."""

from __future__ import annotations

import argparse

import numpy as np

import raydex
from raydex._program.arguments import Files, naming, structure_options
from raydex._program.keys import Column, column, make_alike, ranges
from raydex._program.messages import Refused, check_word
from raydex._program.outputs import Output, check_ending, is_table, opened, write_archive, write_rows
from raydex._program.tables import read

RESULTS = ("first", "count", "sum", "rows", "rank", "rank_right", "predecessor", "successor")
_OF_POINTS = RESULTS[4:]
_FILES = (
    "--keys", "--row-ids", "--points", "--ranges", "--values", "--insert", "--insert-rows", "--erase",
    "--erase-rows",
)  # fmt: skip


def query(given: argparse.Namespace) -> None:
    """An index over a column, and its answers."""
    options = structure_options(given, minima=False)
    _check(given)
    check_ending(given.out, ".npz" if given.result == "rows" else ".npy")
    files = Files(given, *_FILES)
    with opened(given.out, files.paths()) as output:
        raw = read(files.names())

        def read_as(label: str, option: str) -> Column | None:
            return column(label, files[option][0], raw[files[option][0]]) if option in files else None

        keys = column("keys", files["--keys"][0], raw[files["--keys"][0]])
        points = read_as("points", "--points")
        probes = [points] if points is not None else ranges(files["--ranges"], raw)
        insert, erase = read_as("inserted keys", "--insert"), read_as("erased keys", "--erase")
        make_alike([one for one in (keys, *probes, insert, erase) if one is not None], only_short=True)
        rows, insert_rows, erase_rows = (
            _row_ids(read_as("row ids", option)) for option in ("--row-ids", "--insert-rows", "--erase-rows")
        )
        values = read_as("values", "--values")

        with naming(column=keys, rows=rows):
            row_ids = None if rows is None else rows.cells
            index = raydex.build(keys.cells, given.structure, rows=row_ids, progress=True, **options)
        _edit(index, insert, insert_rows, erase, erase_rows)
        ends = dict(zip(("lower", "upper") if len(probes) == 2 else ("points",), probes))
        wide = rows.values.dtype.itemsize == 8 if rows is not None else len(keys) >= 2**32 - 1
        with naming(values=values, **ends):
            _answer(given, output, index, probes, values, "<u8" if wide else "<u4")
        output.commit()


def _check(given: argparse.Namespace) -> None:
    check_word("result", given.result, RESULTS)
    if (given.points is None) == (given.ranges is None):
        raise Refused("give either --points or --ranges")
    if given.values is not None and given.result != "sum":
        raise Refused(f"--values goes with --result sum, not {given.result}")
    if given.result in _OF_POINTS and given.points is None:
        raise Refused(f"--result {given.result} is of --points, not --ranges")
    if given.strict and given.result not in ("predecessor", "successor"):
        raise Refused(f"--strict goes with --result predecessor or successor, not {given.result}")
    if (given.insert is None) != (given.insert_rows is None):
        raise Refused("--insert and --insert-rows go together: keys and their row ids")
    if given.erase_rows is not None and given.erase is None:
        raise Refused("--erase-rows goes with --erase, the keys of these row ids")


def _row_ids(of: Column | None) -> Column | None:
    if of is None:
        return None
    if of.kind not in ("i", "u"):
        raise Refused(f"{of} are {of.type}; row ids are integers")
    of.check_complete()
    return of


def _edit(
    index: raydex.Index,
    insert: Column | None,
    insert_rows: Column | None,
    erase: Column | None,
    erase_rows: Column | None,
) -> None:
    """Erases, then inserts. Of pairs of a key and a row id that are in both, neither is done."""
    inserted = slice(None) if insert is None else np.arange(len(insert))
    erased = slice(None) if erase is None else np.arange(len(erase))
    if insert is not None and insert_rows is not None and erase is not None and erase_rows is not None:
        make_alike([insert_rows, erase_rows], only_short=True)
        new, old = [insert.cells, insert_rows.cells], [erase.cells, erase_rows.cells]
        inserted = raydex.join(old, new, "anti").probe
        erased = raydex.join(new, old, "anti").probe
    if erase is not None:
        with naming(keys=erase, rows=erase_rows):
            index.erase(erase.cells[erased], None if erase_rows is None else erase_rows.cells[erased])
    if insert is not None and insert_rows is not None:
        with naming(keys=insert, rows=insert_rows):
            index.insert(insert.cells[inserted], insert_rows.cells[inserted])


def _answer(
    given: argparse.Namespace,
    output: Output,
    index: raydex.Index,
    probes: list[Column],
    values: Column | None,
    row_dtype: str,
) -> None:
    """Asks the index, and writes what it answers."""
    ends = [one.cells for one in probes]
    result, size = given.result, len(probes[0])
    if result == "rows":
        found = index.rows(*ends)
        if is_table(output.path):
            numbers = np.repeat(np.arange(size), np.diff(found.offsets))
            write_rows(output, ["probe", "row"], [(numbers, found.rows)], len(found.rows), "<u8")
        else:
            arrays = {"offsets": found.offsets.astype("<u8"), "rows": found.rows.astype(row_dtype)}
            write_archive(output, arrays)
        return
    if result == "sum":
        cells = index.sum(*ends, values=None if values is None else values.cells)
        write_rows(output, [result], [(cells,)], size, cells.dtype)
        return
    if result == "count":
        write_rows(output, [result], [(index.count(*ends),)], size, "<u8")
        return
    if result == "first":
        cells = index.first(*ends)
    elif result in ("rank", "rank_right"):
        cells, row_dtype = index.rank(ends[0], "left" if result == "rank" else "right"), "<u8"
    else:
        closest = index.predecessor if result == "predecessor" else index.successor
        cells = closest(ends[0], given.strict)
    write_rows(output, [result], [(cells,)], size, row_dtype, none=raydex.not_found)
