# SPDX-License-Identifier: Apache-2.0
"""Joins: the pairs of rows of two tables whose keys match."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from raydex import _lists, _raydex
from raydex._arguments import check_words, flag, option_texts
from raydex._array_libraries import HOST, ArrayLibrary, bare_library, is_of
from raydex._arrow import HostCells, StringCells, Table, is_arrow, take_arrow
from raydex._columns import (
    Column,
    Source,
    column_of,
    dtype_of,
    key_of,
    look,
    on_gpu,
    refuse_strings,
    same_device,
    takes,
)
from raydex._devices import Device
from raydex._errors import InvalidArgument, InvalidType
from raydex._exports import pairs_to_arrow, take
from raydex._index import Index
from raydex._keys import Key, converts
from raydex._times import Order, Time, are_compared, common, distance_in, in_one_unit, whole

_KINDS = ("inner", "left", "semi", "anti")
_DIRECTIONS = ("backward", "forward", "nearest")
_COMPARISONS = {
    "<": "less", "<=": "less_equal", ">": "greater", ">=": "greater_equal",
    "less": "less", "less_equal": "less_equal", "greater": "greater", "greater_equal": "greater_equal",
}  # fmt: skip


class JoinRows(NamedTuple):
    """The rows of a join, which gather the rows of the two tables; int64."""

    probe: Any
    """A probe row for each row of the join."""
    build: Any
    """Its build row, -1 where a left join has none; None for semi and anti joins. As an index -1 is the last
    row: `take` gives missing cells there."""

    def take(self, *, build: Any = None, probe: Any = None) -> Any:
        """The cells of a column, or the rows of a table, of one side of the join, as `raydex.take` has them:
        with missing ones where a left join has no build row.

        `build`: a column or table of the build side; or `probe`: of the probe side. In host memory."""
        if (build is None) == (probe is None):
            raise InvalidArgument("take: give build or probe, the columns of that side")
        if build is None:
            return take(probe, self.probe)
        if self.build is None:
            raise InvalidArgument("build: semi and anti joins have no build rows")
        return take(build, self.build)

    def to_arrow(self) -> Any:
        """A `pyarrow.Table` of the columns `probe` and `build`, or of `probe` alone for semi and anti joins;
        of the same memory, with null for a left join's -1. What is on a GPU is refused with what copies
        it."""
        return pairs_to_arrow(self.probe, self.build)


def _key_columns(argument: str, x: Any) -> tuple[list[str] | None, list[Source]]:
    """The columns of a key, with names where they have some."""
    if is_of("pandas", x, "DataFrame"):
        names = _distinct(argument, list(x.columns))
        return (names, [look(f"{argument}[{name!r}]", x.iloc[:, i]) for i, name in enumerate(x.columns)])
    if is_of("polars", x, "DataFrame"):
        x = {name: x[name] for name in x.columns}
    if isinstance(x, Mapping):
        names = _distinct(argument, list(x))
        return (names, [look(f"{argument}[{name!r}]", one) for name, one in x.items()])
    if isinstance(x, (list, tuple)) and x and not any(map(_lists.is_value, x)):
        return (None, [look(f"{argument}[{i}]", one) for i, one in enumerate(x)])
    x = on_gpu(x)
    is_column = any(is_of(*one) for one in (("pandas", x, "Series"), ("pandas", x, "Index"), ("polars", x, "Series")))
    if is_arrow(x) and not is_column:
        taken, device = take_arrow(argument, x)
        library = bare_library(device)
        if isinstance(taken, Table):
            sources = [
                Source(f"{argument}[{name!r}]", x, library, cells)
                for name, cells in zip(taken.names, taken.columns)
            ]
            return (_distinct(argument, taken.names), sources)
        return (None, [Source(argument, x, library, taken)])
    return (None, [look(argument, x)])


def _distinct(argument: str, names: list[Any]) -> list[str]:
    """The names of columns as texts, by which those of both sides are matched."""
    texts = [str(name) for name in names]
    for at, text in enumerate(texts):
        first = texts.index(text)
        if first != at:
            raise InvalidArgument(
                f"{argument}: two columns are called {names[first]!r} and {names[at]!r}; give columns of different "
                "names, or a list of them, which are matched by their places"
            )
    return texts


def pair_columns(build: Any, probe: Any) -> tuple[list[Source], list[Source]]:
    """The columns of both sides, in one order."""
    names, built = _key_columns("build", build)
    other_names, probed = _key_columns("probe", probe)
    if not built or not probed:
        raise InvalidArgument("build: no columns; a key has 1 to 16")
    if len(built) != len(probed):
        raise InvalidArgument(
            f"probe: {len(probed)} columns, but the key of the build side has {len(built)}"
        )
    if names is not None and other_names is not None:
        if set(names) != set(other_names):
            raise InvalidArgument(
                f"probe: its columns are {', '.join(other_names)}, but those of the build side "
                f"{', '.join(names)}; give lists of columns to join them by their places"
            )
        by_name = dict(zip(other_names, probed))
        probed = [by_name[name] for name in names]
    same_device(*built, *probed)
    return (built, probed)


def common_key(build: Source, probe: Source, stream: int) -> Key:
    """The type that both columns are compared in, which has all values of both but of times: see
    `_together`."""
    left, right = key_of(build, stream), key_of(probe, stream)
    if left == right or right.is_void:
        return left
    if left.time is not None and right.time is not None and are_compared(left.time, right.time):
        return _key_of_unit(common([left.time, right.time]))
    if left.is_void:
        return right
    if Key(None) in (left, right) and all(
        one == Key(None) or (one.dtype is not None and one.dtype.kind == "S") for one in (left, right)
    ):
        return Key(None)
    if _are_whole(build, probe) and left != right:  # of two widths, so that none equals one of the other
        return Key(None)
    if left.dtype is None or right.dtype is None or left.unit or right.unit:
        raise InvalidType(
            f"{probe.argument}: it is of {right}, but {build.argument} of {left}; these are not compared"
        )
    own, other = dtype_of(build, stream), dtype_of(probe, stream)
    if converts(own, right.dtype):
        return right
    if converts(other, left.dtype):
        return left
    for source, key in ((probe, left), (build, right)):
        if source.loose and takes(source, key):
            return key
    try:
        both = np.promote_types(own, other)
    except TypeError:
        both = np.dtype("O")
    if both.kind in "OV" or not (converts(own, both) and converts(other, both)):
        raise InvalidType(
            f"{probe.argument}: it is of {right}, but {build.argument} of {left}, and no key type has the "
            "values of both"
        )
    return Key(both)


def _key_of_unit(time: Time) -> Key:
    return Key(time.dtype) if time.kind in "mM" else Key(np.dtype("int64"), str(time))


class _Together(NamedTuple):
    """Columns that are compared."""

    columns: list[Column]
    key: Key
    order: Order | None
    """Of times of which 64 bits in one unit do not hold all: the columns are numbers in their order."""


def _together(sources: list[Source], stream: int) -> _Together:
    """Columns in one type. The first two say which; a third is converted to it, or of times says it, too."""
    key = common_key(sources[0], sources[1], stream)
    found = [key_of(one, stream) for one in sources]
    own = [key if own_key.is_void else own_key for own_key in found]  # which match nothing
    if key.time is None or all(one == key for one in own):
        return _Together([column_of(one, stream, key) for one in sources], key, None)
    for one, own_key in zip(sources, own):
        if own_key.time is None or not are_compared(own_key.time, key.time):
            raise InvalidType(f"{one.argument}: it is of {own_key}, but {sources[0].argument} of {own[0]}")
    if any(not isinstance(one.cells, HostCells) for one in sources):
        units = ", ".join(map(str, dict.fromkeys(own)))
        raise InvalidType(f"{sources[1].argument}: times of several units, {units}, on a GPU; convert them")
    columns_of_times, missing, validities = [], [], []
    for one, own_key in zip(sources, own):
        of_one = column_of(one, stream, own_key, copies=True)
        array, validity, _ = of_one.kept
        assert own_key.time is not None
        columns_of_times.append((array.astype("i8") if array.itemsize < 8 else array.view("i8"), own_key.time))
        missing.append(np.isnat(array) if array.dtype.kind in "mM" else None)
        validities.append(validity)
    counts, unit, order = in_one_unit(columns_of_times, missing)
    key = _key_of_unit(unit)
    columns = []
    for one, cells, validity in zip(sources, counts, validities):
        whole = HostCells(cells, validity)
        plain = Source(one.argument, one.value, one.library, whole, one.scalar)
        columns.append(column_of(plain, stream))
    return _Together(columns, key, order)


def _are_whole(*sources: Source) -> bool:
    return all(isinstance(one.cells, HostCells) and one.cells.is_whole for one in sources)


def _both(built: list[Source], probed: list[Source], stream: int) -> tuple[list[Column], list[Column]]:
    pairs = [_together([one, other], stream).columns for one, other in zip(built, probed)]
    return ([one for one, _ in pairs], [other for _, other in pairs])


def _natives(columns: list[Column]) -> list[Any]:
    return [one.native for one in columns]


def check_how(how: str) -> None:
    if how not in _KINDS:
        raise InvalidArgument(f"how: {how!r} is none of {', '.join(_KINDS)}")


class _Call:
    """Where a join runs, and on which stream."""

    def __init__(self, source: Source, device: Any, stream: Any, structure: str = "auto") -> None:
        self.library: ArrayLibrary = source.library
        self.device: Device = source.library.device_for(device, structure)
        self.stream, self._kept = source.library.stream_for(stream)

    @property
    def context(self) -> tuple[Any, int]:
        return (self.device.session(), self.stream)

    def rows(self, found: _raydex.Joined, how: str, first: int = 0, most: int | None = None) -> JoinRows:
        """The rows from `first` on, `most` of them or all."""
        size = found.size - first if most is None else min(most, found.size - first)
        probe = self.library.empty(size, "int64", self.stream)
        build = self.library.empty(size, "int64", self.stream) if how in ("inner", "left") else None
        at = 0 if build is None else self.library.address(build)
        self.device.run(found.rows, *self.context, first, self.library.address(probe), at, size)
        return JoinRows(probe, build)


def join(
    build: Any,
    probe: Any,
    how: str = "inner",
    *,
    structure: str = "auto",
    missing_equal: bool = False,
    device: Any = None,
    stream: Any = None,
    **options: Any,
) -> JoinRows:
    """Joins two tables by equal keys.

    Parameters
    ----------
    build, probe
        A column each (see `raydex.build`), or up to 16 of them as a tuple, a list, a dict or a data frame;
        where both sides have names, columns are matched by these. Strings of any length are taken, as
        Arrow has them. Dtypes of a pair need not be equal if one type has the values of both. Times of
        two units are compared exactly, in host memory. `build` is indexed; it may be an `Index`, which is
        used as it is.
    how
        `inner`: each pair of rows that match. `left`: the same, and probe rows without a match, with -1 (see
        `JoinRows.take`). `semi`: probe rows with a match, once each. `anti`: probe rows without one.
    missing_equal
        Whether a missing value equals another one; else it matches nothing. NaN equals NaN.
    structure, device, stream, options
        As of `raydex.build`.

    Returns
    -------
    JoinRows
        `probe` and `build`, int64, in the order of the probe rows; see `Index` for their library.

    Cost: the build of an index, one lookup a probe row, a write a row of the result. Waits for the stream:
    sizes are known when it returns. Raises as `raydex.build`.
    """
    check_how(how)
    missing_equal = flag("missing_equal", missing_equal)
    if isinstance(build, Index):
        _check_words_for(build, structure, missing_equal, device, options)
        return _join_index(build, probe, how, stream)
    call, found, _kept = match_columns(build, probe, how, structure, missing_equal, device, stream, options)
    return call.rows(found, how)


def match_columns(
    build: Any,
    probe: Any,
    how: str,
    structure: str,
    missing_equal: bool,
    device: Any,
    stream: Any,
    options: dict[str, Any],
) -> tuple[_Call, _raydex.Joined, Any]:
    """A join whose rows are yet to be written, and what is kept until then."""
    texts = option_texts(options, structure, join)
    built, probed = pair_columns(build, probe)
    call = _Call(built[0], device, stream, structure)
    build_key, probe_key = _both(built, probed, call.stream)
    side = call.device.run(
        _raydex.Join, call.device.backend, *call.context, _natives(build_key), structure, texts, missing_equal,
    )  # fmt: skip
    return (call, call.device.run(side.match, *call.context, _natives(probe_key), how), (build_key, probe_key))


def _check_words_for(index: Index, structure: Any, missing_equal: bool, device: Any, options: dict[str, Any]) -> None:
    """Refuses what would be said of an index that is there already."""
    index._check_open()
    check_words(options, structure, join)
    arguments = {
        **options, "structure": structure != "auto" and structure != index.info.structure and structure,
        "device": device is not None and str(device) not in (str(index._device), index._device.backend) and device,
        "missing_equal": missing_equal,
    }  # fmt: skip
    for name, value in arguments.items():
        if value is not False or name in options:
            raise InvalidArgument(
                f"{name}: {value!r}, but build is an index, which has a structure and a place and holds no missing "
                "keys; give its column"
            )


def _join_index(index: Index, probe: Any, how: str, stream: Any) -> JoinRows:
    source = look("probe", probe)
    index._check_open()
    index._check_device(source.argument, source.library)
    call = _Call(source, str(index._device), stream)
    key = column_of(source, call.stream, index._key)
    with index._changes:
        index._check_open()
        if index._key.dtype is None:
            return call.rows(index._native.match(*call.context, key.native, how), how)
        side = call.device.run(_raydex.Join.over, *call.context, index._native)
        return call.rows(call.device.run(side.match, *call.context, [key.native], how), how)


def _reach(argument: str, distance: Any, key: Key) -> int | float | None:
    """A distance as the library takes it: a whole number of integers and times, exactly."""
    if distance is None:
        return None
    try:
        if key.time is not None:
            reach: int | float = distance_in(distance, key.time)
        else:
            reach = whole(distance) if key.is_integer else float(distance)
    except (TypeError, ValueError):
        raise InvalidType(f"{argument}: {distance!r} is no distance of {key}") from None
    return reach


def _within_64_bits(reach: int | float | None) -> int | float | None:
    """The same for the library, whose keys of 64 bits are no farther apart."""
    return min(reach, 2**64 - 1) if isinstance(reach, int) else reach


def _check_reach(argument: str, reach: int | float | None) -> None:
    """As the library does, for what is not asked of it."""
    if reach is not None and not reach >= 0:
        raise InvalidArgument(f"{argument}: {reach}; it must be 0 or more")
    if isinstance(reach, float) and reach < np.inf and not reach.is_integer():
        raise InvalidArgument(f"{argument}: {reach}; of integers it must be a whole number")


def _band(column: Column, order: Order, reach: int | float, stream: int) -> list[Column]:
    """The ends of the numbers that are near each probe."""
    _check_reach("distance", reach)
    probes = order.counts(1)
    ends = [order.positions(probes - reach, "left"), order.positions(probes + reach, "right") - 1]
    sources = [Source("probe", end, HOST, HostCells(end, column.kept[1])) for end in ends]
    return [column_of(one, stream) for one in sources]


def join_asof(
    build: Any,
    probe: Any,
    *,
    by: Any = None,
    build_by: Any = None,
    probe_by: Any = None,
    direction: str = "backward",
    allow_exact_matches: bool = True,
    tolerance: Any = None,
    device: Any = None,
    stream: Any = None,
) -> Any:
    """For each probe row the build row with the closest time.

    Parameters
    ----------
    build, probe
        Columns of times, or of other numbers; neither need be sorted.
    build_by, probe_by
        Columns of a key, as of `join`, which has to be equal; or `by`, a pair of both.
    direction
        `backward`: the last time that is not after the probe's. `forward`: the first that is not before
        it. `nearest`: the closer one of the two, of equally close ones that before.
    allow_exact_matches
        Whether a row of the same time is taken, as in `pandas.merge_asof`.
    tolerance
        The largest distance, taken exactly: a number, or for times a `timedelta`, or a number of the finer
        one of their units, as NumPy counts it. Of floating numbers as for the `distance` of `join_range`.

    Returns
    -------
    array of int64
        A build row for each probe row; -1 where there is none, which is the last row if it is used as an
        index: `raydex.take(values, rows)` gives missing cells there. Of rows with that time `backward` takes
        the last one, `forward` the first one, as pandas and Polars do, and `nearest` the last one, or the
        first one if it is after the probe, as pandas does.

    Cost: the build of an index, one or two searches a probe row. A key costs little beside a time where both
    fit 64 bits by what they span, as days in nanoseconds and thousands of symbols do. Where `build` ascends,
    less is sorted.
    """
    if by is not None:
        if build_by is not None or probe_by is not None or not isinstance(by, tuple) or len(by) != 2:
            raise InvalidArgument("by: give (build_by, probe_by), or these two by name")
        build_by, probe_by = by
    if (build_by is None) != (probe_by is None):
        raise InvalidArgument("build_by: it is given with probe_by, or neither is")
    allow_exact_matches = flag("allow_exact_matches", allow_exact_matches)
    if direction not in list(_DIRECTIONS):
        raise InvalidArgument(f"direction: {direction!r} is none of {', '.join(_DIRECTIONS)}")
    times, probe_times = look("build", build), look("probe", probe)
    same_device(times, probe_times)
    call = _Call(times, device, stream)
    pair = _together([times, probe_times], call.stream)
    build_time, probe_time = pair.columns
    refuse_strings(build_time)
    build_key: list[Column] = []
    probe_key: list[Column] = []
    if build_by is not None:
        built, probed = pair_columns(build_by, probe_by)
        same_device(times, *built)
        build_key, probe_key = _both(built, probed, call.stream)
    reach = _reach("tolerance", tolerance, pair.key)
    side = call.device.run(
        _raydex.AsofJoin, call.device.backend, *call.context, build_time.native, _natives(build_key)
    )
    size = probe_time.size

    def closest(towards: str, within: int | float | None) -> Any:
        out = call.library.empty(size, "int64", call.stream)
        call.device.run(
            side.match, *call.context, probe_time.native, _natives(probe_key), towards, not allow_exact_matches,
            _within_64_bits(within), call.library.address(out), size,
        )  # fmt: skip
        return out

    if pair.order is None or (reach is None and direction != "nearest"):
        return closest(direction, reach)
    _check_reach("tolerance", reach)
    sides = ("backward", "forward") if direction == "nearest" else (direction,)
    return _nearest([closest(one, None) for one in sides], pair.order, reach)


def _nearest(candidates: list[Any], order: Order, reach: int | float | None) -> Any:
    """For each probe the closest of its candidates that is near enough, by integers of Python."""
    build, probe = order.counts(0), order.counts(1)
    taken, nearest = np.full(len(probe), -1, "int64"), np.zeros(len(probe), object)
    for rows in candidates:
        at = np.flatnonzero(rows >= 0)
        apart = abs(build[rows[at]] - probe[at])
        closer = (taken[at] < 0) | (apart < nearest[at])
        if reach is not None:
            closer &= apart <= reach
        at, apart = at[closer], apart[closer]
        taken[at], nearest[at] = rows[at], apart
    return taken


def join_range(
    build: Any,
    probe: Any,
    how: str = "inner",
    *,
    distance: Any = None,
    compare: str | None = None,
    build_upper: Any = None,
    probe_upper: Any = None,
    structure: str = "auto",
    device: Any = None,
    stream: Any = None,
    **options: Any,
) -> JoinRows:
    """Joins two tables by order: one of these says how.

    Parameters
    ----------
    distance
        Band: `abs(build - probe) <= distance`, a number, or for times a `timedelta`; exactly for integers
        and times, and with the difference as the type of floating numbers rounds it.
    compare
        `"<"`, `"<="`, `">"` or `">="`: how the build key compares with the probe, as in
        `build < probe`.
    build_upper
        Build rows are intervals `[build, build_upper]`, both ends included, that contain the probe.
    probe_upper
        Probe rows are intervals `[probe, probe_upper]` that contain the build key.
    build, probe, how, structure, device, stream, options
        As of `join`, of one column each.

    Returns
    -------
    JoinRows
        In the order of the probe rows; those of one by build key, then by build row.

    Cost: the build of an index (two with `build_upper`), two searches a probe row, a write a row of the
    result, which may be far larger than both tables.
    """
    check_how(how)
    named = [
        name
        for name, value in (
            ("distance", distance), ("compare", compare), ("build_upper", build_upper),
            ("probe_upper", probe_upper),
        )
        if value is not None
    ]  # fmt: skip
    if len(named) != 1:
        raise InvalidArgument(
            f"join_range: {', '.join(named) or 'nothing'} is given; give one of distance, compare, "
            "build_upper and probe_upper"
        )
    if compare is not None and compare not in list(_COMPARISONS):
        raise InvalidArgument(f"compare: {compare!r} is none of {', '.join(_COMPARISONS)}")
    texts = option_texts(options, structure, join_range)
    sources = [look("build", build), look("probe", probe)]
    if build_upper is not None:
        sources.append(look("build_upper", build_upper))
    if probe_upper is not None:
        sources.append(look("probe_upper", probe_upper))
    same_device(*sources)
    call = _Call(sources[0], device, stream, structure)
    context, run = call.context, call.device.run
    if any(isinstance(one.cells, StringCells) for one in sources):
        raise InvalidType("build: strings of any length have no order here; give ones of up to 8 bytes")
    pair = _together(sources, call.stream)
    columns = pair.columns
    natives = _natives(columns)
    if build_upper is not None:
        if structure != "auto" or options:
            raise InvalidArgument("structure: intervals have one of their own; leave it and options out")
        intervals = run(_raydex.IntervalJoin, call.device.backend, *context, natives[0], natives[2])
        return call.rows(run(intervals.match, *context, natives[1], how), how)
    side = run(_raydex.Join, call.device.backend, *context, natives[:1], structure, texts, False)
    if probe_upper is not None:
        found = run(side.match_ranges, *context, natives[1], natives[2], how)
    elif distance is not None:
        reach = _reach("distance", distance, pair.key)
        assert reach is not None
        if pair.order is None:
            found = run(side.match_band, *context, natives[1], _within_64_bits(reach), how)
        else:
            ends = _band(columns[1], pair.order, reach, call.stream)  # which keep what is read
            found = run(side.match_ranges, *context, *_natives(ends), how)
    else:
        assert compare is not None
        found = run(side.match_compared, *context, natives[1], _COMPARISONS[compare], how)
    return call.rows(found, how)
