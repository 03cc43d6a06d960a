# SPDX-License-Identifier: Apache-2.0
"""Joins: the pairs of rows of two tables whose keys match."""

from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from raydex import _lists, _raydex
from raydex._arrow import HostCells, StringCells, Table, is_arrow, take_arrow
from raydex._columns import (
    Column,
    Key,
    Source,
    column,
    converts,
    dtype_of,
    key_of,
    look,
    on_gpu,
    refuse_strings,
    same_place,
    stream_of,
    takes,
)
from raydex._errors import InvalidArgument, InvalidType, flag
from raydex._exports import pairs_to_arrow, take
from raydex._index import Index, check_words, option_texts
from raydex._places import Place, place_for
from raydex._structures import known
from raydex._worlds import HOST, BareWorld, World, is_of

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


def _parts(argument: str, x: Any) -> tuple[list[str] | None, list[Source]]:
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
        world = HOST if device is None else BareWorld(device)
        if isinstance(taken, Table):
            sources = [
                Source(f"{argument}[{name!r}]", x, world, cells)
                for name, cells in zip(taken.names, taken.columns)
            ]
            return (_distinct(argument, taken.names), sources)
        return (None, [Source(argument, x, world, taken)])
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


def _pair(build: Any, probe: Any) -> tuple[list[Source], list[Source]]:
    """The columns of both sides, in one order."""
    names, built = _parts("build", build)
    other_names, probed = _parts("probe", probe)
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
    same_place(*built, *probed)
    return (built, probed)


def _common(build: Source, probe: Source, stream: int) -> Key:
    """The type that both columns are compared in, which has all values of both."""
    left, right = key_of(build, stream), key_of(probe, stream)
    if left == right or right.is_void:
        return left
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


def _are_whole(*sources: Source) -> bool:
    return all(isinstance(one.cells, HostCells) and one.cells.is_whole for one in sources)


def _both(built: list[Source], probed: list[Source], stream: int) -> tuple[list[Column], list[Column]]:
    keys = [_common(one, other, stream) for one, other in zip(built, probed)]
    return (
        [column(one, stream, key) for one, key in zip(built, keys)],
        [column(one, stream, key) for one, key in zip(probed, keys)],
    )


def _natives(columns: list[Column]) -> list[Any]:
    return [one.native for one in columns]


def _check_how(how: str) -> None:
    if how not in _KINDS:
        raise InvalidArgument(f"how: {how!r} is none of {', '.join(_KINDS)}")


class _Call:
    """Where a join runs, and on which stream."""

    def __init__(self, source: Source, device: Any, stream: Any, structure: str = "auto") -> None:
        self.world: World = source.world
        self.place: Place = place_for(source.world, device, structure, known)
        self.stream, self._kept = stream_of(source, stream)

    @property
    def on(self) -> tuple[Any, int]:
        return (self.place.session(), self.stream)

    def rows(self, found: _raydex.Joined, how: str) -> JoinRows:
        size = found.size
        probe = self.world.empty(size, "int64", self.stream)
        build = self.world.empty(size, "int64", self.stream) if how in ("inner", "left") else None
        at = 0 if build is None else self.world.address(build)
        self.place.run(found.rows, *self.on, 0, self.world.address(probe), at, size)
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
        Arrow has them. Dtypes of a pair need not be equal if one type has the values of both. `build`
        is indexed; it may be an `Index`, which is used as it is.
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
    _check_how(how)
    missing_equal = flag("missing_equal", missing_equal)
    if isinstance(build, Index):
        _check_words_for(build, structure, missing_equal, device, options)
        return _join_index(build, probe, how, stream)
    texts = option_texts(options, structure, join)
    built, probed = _pair(build, probe)
    call = _Call(built[0], device, stream, structure)
    build_key, probe_key = _both(built, probed, call.stream)
    side = call.place.run(
        _raydex.Join, call.place.backend, *call.on, _natives(build_key), structure, texts, missing_equal,
    )  # fmt: skip
    return call.rows(call.place.run(side.match, *call.on, _natives(probe_key), how), how)


def _check_words_for(
    index: Index, structure: Any, missing_equal: bool, device: Any, options: dict[str, Any]
) -> None:
    """Refuses what would be said of an index that is there already."""
    index._check_open()
    check_words(options, structure, join)
    said = {
        **options, "structure": structure != "auto" and structure != index.info.structure and structure,
        "device": device is not None and str(device) not in (str(index._place), index._place.backend) and device,
        "missing_equal": missing_equal,
    }  # fmt: skip
    for name, value in said.items():
        if value is not False or name in options:
            raise InvalidArgument(
                f"{name}: {value!r}, but build is an index, which has a structure and a place and holds no missing "
                "keys; give its column"
            )


def _join_index(index: Index, probe: Any, how: str, stream: Any) -> JoinRows:
    source = look("probe", probe)
    index._check_open()
    index._check_place(source.argument, source.world)
    call = _Call(source, str(index._place), stream)
    key = column(source, call.stream, index._key)
    with index._changes:
        index._check_open()
        if index._key.dtype is None:
            return call.rows(index._native.match(*call.on, key.native, how), how)
        side = call.place.run(_raydex.Join.over, *call.on, index._native)
        return call.rows(call.place.run(side.match, *call.on, [key.native], how), how)


def _reach(argument: str, given: Any, key: Key) -> float | None:
    """A distance as the library takes it: a number of the times' own units."""
    if given is None:
        return None
    try:
        if key.dtype is not None and key.dtype.kind in "mM":
            unit = np.datetime_data(key.dtype)[0]
            if isinstance(given, (np.timedelta64, datetime.timedelta)):
                # NumPy's conversion to a finer unit overflows silently.
                span: Any = np.timedelta64
                given = span(given)
                own, steps = np.datetime_data(given.dtype)
                factor = 1.0 if own == "generic" else float(span(steps, own) / span(1, unit))
                wide = float(given.astype("int64")) * factor
                if abs(wide) >= 2.0**62:
                    return wide
            return float(np.asarray(given, f"timedelta64[{unit}]").astype("int64"))
        return float(given)
    except (TypeError, ValueError):
        raise InvalidType(f"{argument}: {given!r} is no distance of {key}") from None


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
        The largest distance: a number, or for times a `timedelta`.

    Returns
    -------
    array of int64
        A build row for each probe row, of those with that time the last one, or the first one if it is
        after the probe; -1 where there is none, which is the last row if it is used as an index:
        `raydex.take(values, rows)` gives missing cells there.

    Cost: the build of an index, one or two searches a probe row, with a key two more.
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
    same_place(times, probe_times)
    call = _Call(times, device, stream)
    [build_time], [probe_time] = _both([times], [probe_times], call.stream)
    refuse_strings(build_time)
    build_key: list[Column] = []
    probe_key: list[Column] = []
    if build_by is not None:
        built, probed = _pair(build_by, probe_by)
        same_place(times, *built)
        build_key, probe_key = _both(built, probed, call.stream)
    distance = _reach("tolerance", tolerance, build_time.key)
    side = call.place.run(
        _raydex.AsofJoin, call.place.backend, *call.on, build_time.native, _natives(build_key)
    )
    size = probe_time.size
    out = call.world.empty(size, "int64", call.stream)
    call.place.run(
        side.match, *call.on, probe_time.native, _natives(probe_key), direction, not allow_exact_matches,
        distance, call.world.address(out), size,
    )  # fmt: skip
    return out


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
        Band: `abs(build - probe) <= distance`, a number, or for times a `timedelta`.
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
    _check_how(how)
    said = [
        name
        for name, value in (
            ("distance", distance), ("compare", compare), ("build_upper", build_upper),
            ("probe_upper", probe_upper),
        )
        if value is not None
    ]  # fmt: skip
    if len(said) != 1:
        raise InvalidArgument(
            f"join_range: {', '.join(said) or 'nothing'} is given; give one of distance, compare, "
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
    same_place(*sources)
    call = _Call(sources[0], device, stream, structure)
    on, run = call.on, call.place.run
    if any(isinstance(one.cells, StringCells) for one in sources):
        raise InvalidType("build: strings of any length have no order here; give ones of up to 8 bytes")
    if len(sources) == 3:
        # All three are compared: the third says nothing of a type of its own.
        key = _common(sources[0], sources[1], call.stream)
        columns = [column(one, call.stream, key) for one in sources]
    else:
        [one], [other] = _both(sources[:1], sources[1:], call.stream)
        columns = [one, other]
    natives = _natives(columns)
    if build_upper is not None:
        if structure != "auto" or options:
            raise InvalidArgument("structure: intervals have one of their own; leave it and options out")
        intervals = run(_raydex.IntervalJoin, call.place.backend, *on, natives[0], natives[2])
        return call.rows(run(intervals.match, *on, natives[1], how), how)
    side = run(_raydex.Join, call.place.backend, *on, natives[:1], structure, texts, False)
    if probe_upper is not None:
        found = run(side.match_ranges, *on, natives[1], natives[2], how)
    elif distance is not None:
        reach = _reach("distance", distance, columns[0].key)
        found = run(side.match_band, *on, natives[1], reach, how)
    else:
        assert compare is not None
        found = run(side.match_compared, *on, natives[1], _COMPARISONS[compare], how)
    return call.rows(found, how)
