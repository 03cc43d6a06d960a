# SPDX-License-Identifier: Apache-2.0
"""`join`: the rows of two tables that match, by columns in files."""

from __future__ import annotations

import argparse
import contextlib
import dataclasses
import re
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

import raydex
from raydex._program.arguments import naming, structure_options
from raydex._program.keys import Column, column, converted, make_alike, plain
from raydex._program.messages import Refused, arrow, check_word, quoted
from raydex._program.outputs import (
    STRETCH,
    Output,
    check_ending,
    is_csv,
    is_same_file,
    is_table,
    opened,
    write_rows,
    writing_table,
)
from raydex._program.tables import VERBATIM, Name, parse, read, split_list, stem_of

EQUAL = ("inner", "left", "semi", "anti")
KINDS = (*EQUAL, "asof", "band", "contains", "less", "less_equal", "greater", "greater_equal")
SIDES = ("auto", "build", "probe")
DIRECTIONS = ("backward", "forward", "nearest")

_BUILD = ("--build", "--build-by", "--build-upper")  # columns of the build table
_PROBE = ("--probe", "--probe-by")
_MOST_COLUMNS = 16  # of a key
_UNITS = {"d": "D", "h": "h", "min": "m", "s": "s", "ms": "ms", "us": "us", "ns": "ns"}

_Asked = dict[str, list[Name]]  # by option
_Rows = npt.NDArray[Any]


@dataclasses.dataclass
class _Shown:
    """A column that --columns names."""

    name: Name
    of_build: bool
    in_both: bool  # whether its file is one of both tables
    cells: Any = None


def join(given: argparse.Namespace) -> None:
    """The rows of two tables that match."""
    check_word("kind", given.kind, KINDS)
    _check(given)
    check_ending(given.out, ".npy")
    options = structure_options(given, minima=False)
    asked = {option: _parse(given, option) for option in (*_BUILD, *_PROBE)}
    _check_counts(given, asked)
    inputs = [(option, name.path) for option, names in asked.items() for name in names]
    with opened(given.out, inputs) as output:
        shown = _shown(given, asked)
        titles = _titles(shown)
        raw = read([*_table(asked, _BUILD), *_table(asked, _PROBE), *(one.name for one in shown)])
        probe, build = _match(given, asked, raw, options)
        if given.columns is None:
            columns = (probe,) if build is None else (probe, build)
            names = ("probe", "build")[: len(columns)]
            write_rows(output, names, [columns], len(probe), "<u8", raydex.not_found)
        else:
            _write_columns(output, titles, shown, raw, probe, build)
        output.commit()


def _parse(given: argparse.Namespace, option: str) -> list[Name]:
    text = getattr(given, option.removeprefix("--").replace("-", "_"))
    return [] if text is None else [parse(one) for one in split_list(option, text)]


def _table(asked: _Asked, options: tuple[str, ...]) -> list[Name]:
    """All columns of a table that are compared."""
    return [name for option in options for name in asked[option]]


def _check(given: argparse.Namespace) -> None:
    kind = given.kind

    def goes(is_given: bool, option: str, *kinds: str) -> None:
        if is_given and kind not in kinds:
            *others, last = kinds
            listed = f"{', '.join(others)} or {last}" if others else last
            raise Refused(f"{option} goes with --kind {listed}, not {kind}")

    for name in ("direction", "tolerance", "build_by", "probe_by"):
        goes(getattr(given, name) is not None, f"--{name.replace('_', '-')}", "asof")
    goes(given.strict, "--strict", "asof")
    goes(given.distance is not None, "--distance", "band")
    goes(given.build_upper is not None, "--build-upper", "contains")
    goes(given.missing_equal, "--missing-equal", *EQUAL)
    check_word("side", given.side, SIDES)
    goes(given.side == "probe", "--side probe", "inner")
    if kind == "band" and given.distance is None:
        raise Refused("--kind band needs --distance")
    if kind == "contains" and given.build_upper is None:
        raise Refused("--kind contains needs --build-upper")
    if (given.build_by is None) != (given.probe_by is None):
        raise Refused("--build-by and --probe-by go together: keys of both tables")
    if kind in ("asof", "contains") and (given.structure != "auto" or given.option):
        option = "--structure" if given.structure != "auto" else "--option"
        raise Refused(f"{option} does not go with --kind {kind}, which has a structure of its own")
    if given.side == "probe" and given.ordered:
        raise Refused("--ordered does not go with --side probe: then rows are in the order of build rows")
    if given.direction is not None:
        check_word("direction", given.direction, DIRECTIONS)
    if given.columns is not None and not is_table(given.out):
        raise Refused(
            f"--columns is written as a table: --out name.csv, name.parquet, name.arrow or -, not {given.out}"
        )


def _check_counts(given: argparse.Namespace, asked: _Asked) -> None:
    for build, probe in zip(_BUILD, _PROBE):
        count, other = len(asked[build]), len(asked[probe])
        if count != other:
            raise Refused(f"{build} names {count} columns, but {probe} {other}")
        if count > _MOST_COLUMNS:
            raise Refused(f"{build} names {count} columns; a key has at most {_MOST_COLUMNS}")
    if given.kind not in EQUAL and len(asked["--build"]) != 1:
        raise Refused(f"--kind {given.kind} is of one column, but --build names {len(asked['--build'])}")
    if len(asked["--build-upper"]) > 1:
        raise Refused(f"--build-upper is one column, but names {len(asked['--build-upper'])}")


def _shown(given: argparse.Namespace, asked: _Asked) -> list[_Shown]:
    """The columns that --columns names, in the files where their tables are."""
    if given.columns is None:
        return []
    shown = []
    for text in split_list("--columns", given.columns):
        said = text[:5] if text.startswith(("build:", "probe:")) else ""
        name = parse(text[6:] if said else text)
        in_build, in_probe = (_file_of(_table(asked, options), name) for options in (_BUILD, _PROBE))
        if in_build and in_probe and not said:
            raise Refused(
                f"--columns {text}: its file is of both tables; say which: build:{text} or probe:{text}"
            )
        of_build = said == "build" or (not said and in_build != "")
        path = in_build if of_build else in_probe
        if not path:
            tables = f"--{said}" if said else "--build or --probe"
            raise Refused(f"--columns {name.text}: its file is not one that {tables} names")
        if of_build and given.kind in ("semi", "anti"):
            raise Refused(
                f"--columns {name.text}: --kind {given.kind} has no build rows, so no columns of theirs"
            )
        # Under one path, so that the file is read once; into CSV texts go as they stand.
        kind = VERBATIM if name.is_csv and is_csv(given.out) else name.type
        name = dataclasses.replace(name, path=path, type=kind)
        shown.append(_Shown(name, of_build, in_both=bool(in_build and in_probe)))
    return shown


def _file_of(table: list[Name], name: Name) -> str:
    """The file among those of a table that is the one of a column; empty if there is none."""
    for own in table:
        if (own.column == "") == (name.column == "") and is_same_file(own.path, name.path):
            return own.path
    return ""


def _match(
    given: argparse.Namespace, asked: _Asked, raw: dict[Name, Any], options: dict[str, str]
) -> tuple[_Rows, _Rows | None]:
    """The probe rows and the build rows that match; no build rows for semi and anti."""
    _check_rows("build", _table(asked, _BUILD), raw)
    _check_rows("probe", _table(asked, _PROBE), raw)

    def read_as(label: str, option: str) -> list[Column]:
        return [column(label, name, raw[name]) for name in asked[option]]

    intervals = given.kind == "contains"
    build = read_as("lower ends" if intervals else "build keys", "--build")
    probe = read_as("probe keys", "--probe")
    upper = read_as("upper ends", "--build-upper")
    build_by, probe_by = read_as("build keys", "--build-by"), read_as("probe keys", "--probe-by")
    equal = given.kind in EQUAL
    for one, other in zip(build, probe):
        make_alike([one, other, *upper], only_short=not equal)
    for one, other in zip(build_by, probe_by):
        make_alike([one, other], only_short=False)
    with naming(build=build[0], probe=probe[0], build_upper=upper[0] if upper else None):
        if equal:
            return _match_keys(given, build, probe, options)
        if given.kind == "asof":
            by = ([one.cells for one in build_by], [one.cells for one in probe_by]) if build_by else None
            closest = raydex.join_asof(
                build[0].cells,
                probe[0].cells,
                by=by,
                direction=given.direction or "backward",
                allow_exact_matches=not given.strict,
                tolerance=_distance("--tolerance", given.tolerance, build[0], probe[0]),
            )
            return np.arange(len(closest)), closest
        if given.kind == "band":
            how: dict[str, Any] = {"distance": _distance("--distance", given.distance, build[0], probe[0])}
        elif intervals:
            how = {"build_upper": upper[0].cells}
        else:
            how = {"compare": given.kind}
        if not intervals:
            how |= {"structure": given.structure, **options}
        rows = raydex.join_range(build[0].cells, probe[0].cells, **how)
        return rows.probe, rows.build


def _match_keys(
    given: argparse.Namespace, build: list[Column], probe: list[Column], options: dict[str, str]
) -> tuple[_Rows, _Rows | None]:
    """An inner join indexes the smaller table, unless something else is said."""
    free = given.kind == "inner" and given.side == "auto" and not given.ordered
    swaps = given.side == "probe" or (free and len(probe[0]) < len(build[0]))
    if swaps:
        build, probe = probe, build
    rows = raydex.join(
        [one.cells for one in build],
        [one.cells for one in probe],
        given.kind,
        structure=given.structure,
        missing_equal=given.missing_equal,
        **options,
    )
    return (rows.build, rows.probe) if swaps else (rows.probe, rows.build)


def _distance(option: str, text: str | None, *of: Column) -> Any:
    """A distance of keys, exactly; of times one with a unit."""
    if text is None:
        return None
    if of[0].kind in ("M", "m"):
        return _duration(option, text, of)
    for number in (int, float):
        with contextlib.suppress(ValueError):
            if number(text) >= 0:
                return number(text)
    raise Refused(f"{option}: {quoted(text)} is not a distance, a number of at least 0")


def _duration(option: str, text: str, of: Sequence[Column]) -> np.timedelta64:
    found = re.fullmatch(rf"([0-9]+) *({'|'.join(_UNITS)})", text)
    if found is None:
        raise Refused(
            f"{option}: {quoted(text)} is not a distance of {of[0].type}, a number with a unit such as 90s, "
            "15min, 2h or 1d"
        )
    if all(np.datetime_data(one.values.dtype)[0] in ("Y", "M") for one in of):
        raise Refused(
            f"{option}: {of[0]} are {of[0].type}, which have no distance; in NumPy: a.astype('M8[D]')"
        )
    unit: Any = _UNITS[found[2]]
    return np.timedelta64(min(int(found[1]), 2**63 - 1), unit)


def _check_rows(table: str, names: list[Name], raw: dict[Name, Any]) -> None:
    """Refuses columns of one table that have not as many rows."""
    first = names[0]
    for name in names[1:]:
        if len(raw[name]) != len(raw[first]):
            raise Refused(
                f"{table} {name.text}: it has {len(raw[name])} rows, but {first.text} has {len(raw[first])}"
            )


def _write_columns(
    output: Output,
    titles: list[str],
    shown: list[_Shown],
    raw: dict[Name, Any],
    probe: _Rows,
    build: _Rows | None,
) -> None:
    """Writes what stands in the rows, and nothing where there is no build row."""
    pa = arrow(output.path)
    for one in shown:
        one.cells = _whole(pa, one.name, raw[one.name])
    with output.writing(), writing_table(output, titles, [one.cells.type for one in shown]) as writer:
        for begin in range(0, len(probe), STRETCH):
            columns = []
            for one in shown:
                rows = build if one.of_build and build is not None else probe
                part = rows[begin : begin + STRETCH]
                columns.append(one.cells.take(pa.array(part, mask=part == raydex.not_found)))
            writer.write(columns)


def _whole(pa: Any, name: Name, raw: Any) -> Any:
    """A column as one array of Arrow, from which rows are taken."""
    if isinstance(raw, np.ndarray):
        return pa.array(raw)
    cells = raw if name.type in ("", VERBATIM) else converted(name, plain(name, raw))
    if pa.types.is_string(cells.type):
        cells = cells.cast(pa.large_string())  # there may be more than 2 GiB of them
    elif pa.types.is_binary(cells.type):
        cells = cells.cast(pa.large_binary())
    if name.type == "string":
        with contextlib.suppress(pa.ArrowInvalid):  # of another encoding than UTF-8
            cells = cells.cast(pa.large_string())
    return cells.combine_chunks()


def _titles(shown: list[_Shown]) -> list[str]:
    """The names of columns, with files or tables before those that are not the only ones."""
    levels = [0] * len(shown)
    for _ in range(3):
        titles = [_title(one, level) for one, level in zip(shown, levels)]
        levels = [level + (titles.count(title) > 1) for title, level in zip(titles, levels)]
        if len(set(titles)) == len(titles):
            return titles
    twice = next(title for title in titles if titles.count(title) > 1)
    raise Refused(f"--columns: two columns are called {quoted(twice)}")


def _title(one: _Shown, level: int) -> str:
    stem = stem_of(one.name.path)
    own = one.name.column or stem
    table = "build" if one.of_build else "probe"
    if level == 0:
        return own
    if level == 1:
        return f"{table if one.in_both or not one.name.column else stem}.{own}"
    return f"{table}.{stem}.{own}"
