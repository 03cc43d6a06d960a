# SPDX-License-Identifier: Apache-2.0
"""What joins by order take: columns in one order, the keys beside them, distances and intervals."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, get_args

import numpy as np

from raydex import _lists
from raydex._array_libraries import HOST
from raydex._arrow import DeviceCells, HostCells
from raydex._columns import Column, and_validity, column_of, host_cells
from raydex._errors import InvalidArgument, InvalidType
from raydex._frames import check_one_table
from raydex._joins import Together, both_keys, pair_columns, together
from raydex._keys import Key
from raydex._lazy import Call
from raydex._sources import Source, look, same_device
from raydex._times import OF_TIMES, distance_in, is_span, shifted, whole
from raydex.typing import Comparison, Direction, MissingEnd

DIRECTIONS = get_args(Direction)
COMPARISONS = {
    "<": "less", "<=": "less_equal", ">": "greater", ">=": "greater_equal",
    "less": "less", "less_equal": "less_equal", "greater": "greater", "greater_equal": "greater_equal",
}  # fmt: skip

def compared(build: Source, probe: Source, compare: Comparison, stream: int) -> tuple[Together, str]:
    """A column of either side, and how the library compares them. A probe that no type has together with build keys
    stands for the closest one of these that compares so, and is compared with an equal one, too."""
    word = COMPARISONS[compare]
    role = {"less": "below", "less_equal": "at_most", "greater": "above", "greater_equal": "at_least"}[word]
    pair = in_one_order([build, probe], stream, [role])
    return (pair, f"{word.removesuffix('_equal')}_equal" if pair.role else word)


def _no_distance(argument: str, distance: Any, key: Key) -> InvalidType:
    hint = "" if key.time is None else "; write '90s', '1h30min' or a timedelta"
    if key.scale is not None:
        hint = "; give integers of the last digit, which have distances"
    return InvalidType(f"{argument}: {distance!r} is no distance of {key}{hint}")


def reach_of(argument: str, distance: Any, key: Key) -> int | float | None:
    """A distance as the library takes it: a whole number of integers and times, exactly."""
    if distance is None:
        return None
    if key.scale is not None:
        raise _no_distance(argument, distance, key)
    try:
        if key.is_void and is_span(distance):
            return 0.0  # of no cells, which are near nothing
        if key.time is not None:
            reach: int | float = distance_in(distance, key.time)
        else:
            reach = whole(distance) if key.is_integer else float(whole(distance))
    except (TypeError, ValueError):
        raise _no_distance(argument, distance, key) from None
    return reach


def within_64_bits(reach: int | float | None) -> int | float | None:
    """The same for the library, whose keys of 64 bits are no farther apart."""
    return min(reach, 2**64 - 1) if isinstance(reach, int) else reach


def check_reach(argument: str, reach: int | float | None) -> None:
    """As the library does, for what is not asked of it."""
    if reach is not None and not reach >= 0:
        raise InvalidArgument(f"{argument}: {reach}; it must be 0 or more")
    if isinstance(reach, float) and reach < np.inf and not reach.is_integer():
        raise InvalidArgument(f"{argument}: {reach}; of integers it must be a whole number")


def span_of(distance: Any, key: Key) -> int | float:
    """One of a pair of distances."""
    if distance is None or not (key.is_number or key.time):
        raise _no_distance("distance", distance, key)
    reach = reach_of("distance", distance, key)
    assert reach is not None
    if isinstance(reach, float) and key.dtype is not None and key.dtype.kind != "f":
        if not np.isinf(reach):
            raise InvalidArgument(f"distance: {reach}; of integers it must be a whole number")
        return 2**64 if reach > 0 else -(2**64)
    if reach != reach:
        raise InvalidArgument("distance: NaN is none")
    return reach


def bands_about(pair: Together, spans: list[Any], call: Call) -> list[Column]:
    """The ends of what is from one span before each probe to another one after it."""
    if call.library.device is not None:
        raise InvalidArgument("distance: a pair, on a GPU; give the ends of ranges as probe and probe_upper")
    before, after = spans
    key, order = pair.key, pair.order
    array, validity, _ = pair.columns[1].kept
    if order is not None:
        ends = [order.bounds(1, -before, "left"), order.bounds(1, after, "right")]
    elif array.dtype.kind == "f":
        with np.errstate(all="ignore"):
            before, after = array.dtype.type(before), array.dtype.type(after)
            ends = [array - before, array + after]
        for end, span, all_there in ((ends[0], before, -np.inf), (ends[1], after, np.inf)):
            if np.isinf(span):
                end[...] = all_there if span > 0 else -all_there
        there = ~np.isnan(array)  # which is near nothing
        validity = and_validity(there, validity)
    else:
        cells = array if key.is_number else array.view(f"i{array.itemsize}")
        (lower, low), (upper, high) = shifted(cells, -before), shifted(cells, after)
        nothing = (low > 0) | (high < 0)
        lower[nothing], upper[nothing] = np.iinfo(cells.dtype).max, np.iinfo(cells.dtype).min
        ends = [lower, upper]
    return [column_of(Source("probe", end, HOST, HostCells(end, validity)), call.stream) for end in ends]


def keys_of(by: Any, build_by: Any, probe_by: Any) -> tuple[Any, Any]:
    """The keys of both sides, however they are given."""
    if by is not None:
        if build_by is not None or probe_by is not None or not isinstance(by, tuple) or len(by) != 2:
            raise InvalidArgument("by: give (build_by, probe_by), or these two by name")
        return by
    if (build_by is None) != (probe_by is None):
        raise InvalidArgument("build_by: it is given with probe_by, or neither is")
    return (build_by, probe_by)


def by_columns(
    beside: Source, build_by: Any, probe_by: Any, stream: int, missing_equal: bool = False
) -> tuple[list[Column], list[Column]]:
    """The columns of the keys of both sides; none if there is no key."""
    if build_by is None:
        return ([], [])
    built, probed = pair_columns(build_by, probe_by)
    same_device(beside, *built)
    return both_keys(built, probed, stream, missing_equal)


def in_one_order(sources: list[Source], stream: int, roles: Sequence[str] | None = None) -> Together:
    """Columns in one type, which has an order; `roles` are as of `together`."""
    found = together(sources, stream, roles)
    if found.key.dtype is None:
        hint = f"give ones of up to 8 bytes, or {OF_TIMES} if they are such"
        if found.key.scale is not None:
            hint = "give ones of up to 64 bits"
        kind = found.key.unit or "strings of any length"
        raise InvalidType(f"{sources[0].argument}: {kind} have no order here; {hint}")
    return found


def check_comparison(compare: str | None) -> None:
    if compare is not None and compare not in list(COMPARISONS):
        raise InvalidArgument(f"compare: {compare!r} is none of {', '.join(COMPARISONS)}")


RELATIONS = {"overlaps": "overlaps", "within": "within", "encloses": "encloses", "contains": "encloses"}
MISSING = get_args(MissingEnd)


def is_pair(x: Any) -> bool:
    """Whether it is two columns, not a column of two cells."""
    return isinstance(x, (tuple, list)) and len(x) == 2 and not any(map(_lists.is_value, x))


def pair_of(argument: str, x: Any, words: tuple[str, str]) -> list[Source]:
    if not is_pair(x):
        raise InvalidArgument(f"{argument}: give a pair of columns, ({', '.join(words)})")
    check_one_table(argument, x)
    return [look(f"{argument}[{at}]", one) for at, one in enumerate(x)]


def unbounded(column: Column, is_upper: bool, stream: int) -> Column:
    """An end of intervals, with the extreme of its type if it is missing."""
    source = column.source
    if isinstance(source.cells, DeviceCells):
        if source.cells.validity:
            raise InvalidArgument(f"{source.argument}: missing ends on a GPU; fill them in")
        return column
    array, there = host_cells(column)
    if there is None:
        return column
    if array.dtype.kind == "S":
        extreme: Any = b"\xff" * array.itemsize if is_upper else b""
    elif array.dtype.kind == "f":
        extreme = np.inf if is_upper else -np.inf
    else:
        array = array.view(f"{'u' if array.dtype.kind == 'u' else 'i'}{array.itemsize}")
        extreme = np.iinfo(array.dtype).max if is_upper else np.iinfo(array.dtype).min
    filled = np.where(there, array, np.array(extreme, array.dtype))
    return column_of(Source(source.argument, filled, HOST, HostCells(filled)), stream)
