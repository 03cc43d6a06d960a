# SPDX-License-Identifier: Apache-2.0
"""Joins by order: ranges, intervals, and two inequalities."""

from __future__ import annotations

from typing import Any, Literal, overload

from raydex import _raydex
from raydex._arguments import flag, option_texts
from raydex._errors import InvalidArgument
from raydex._joined import Joined, JoinRows, row_dtype, rows_of
from raydex._joins import OF_BUILD_ROWS, check_kind, natives
from raydex._lazy import Call
from raydex._ordered_columns import (
    MISSING,
    RELATIONS,
    bands_about,
    by_columns,
    check_comparison,
    check_reach,
    compared,
    in_one_order,
    is_pair,
    keys_of,
    pair_of,
    reach_of,
    span_of,
    unbounded,
    within_64_bits,
)
from raydex._sources import Source, look, same_device
from raydex.typing import (
    Closed,
    ColumnLike,
    Comparison,
    DeviceLike,
    Distance,
    How,
    JoinOptions,
    KeyColumns,
    MissingEnd,
    Pair,
    Relation,
    RowType,
    StreamLike,
    StructureName,
    Unpack,
)


@overload
def join_range(
    build: ColumnLike, probe: ColumnLike, how: How = ..., *,
    distance: Distance | tuple[Distance, Distance] | None = ..., compare: Comparison | None = ...,
    build_upper: ColumnLike = ..., probe_upper: ColumnLike = ..., closed: Closed = ...,
    by: tuple[KeyColumns, KeyColumns] | None = ..., build_by: KeyColumns = ..., probe_by: KeyColumns = ...,
    structure: StructureName = ..., lazy: Literal[False] = ..., dtype: RowType = ..., device: DeviceLike = ...,
    stream: StreamLike = ..., **options: Unpack[JoinOptions],
) -> JoinRows: ...
@overload
def join_range(
    build: ColumnLike, probe: ColumnLike, how: How = ..., *,
    distance: Distance | tuple[Distance, Distance] | None = ..., compare: Comparison | None = ...,
    build_upper: ColumnLike = ..., probe_upper: ColumnLike = ..., closed: Closed = ...,
    by: tuple[KeyColumns, KeyColumns] | None = ..., build_by: KeyColumns = ..., probe_by: KeyColumns = ...,
    structure: StructureName = ..., lazy: Literal[True], dtype: RowType = ..., device: DeviceLike = ...,
    stream: StreamLike = ..., **options: Unpack[JoinOptions],
) -> Joined: ...
@overload
def join_range(
    build: ColumnLike, probe: ColumnLike, how: How = ..., *,
    distance: Distance | tuple[Distance, Distance] | None = ..., compare: Comparison | None = ...,
    build_upper: ColumnLike = ..., probe_upper: ColumnLike = ..., closed: Closed = ...,
    by: tuple[KeyColumns, KeyColumns] | None = ..., build_by: KeyColumns = ..., probe_by: KeyColumns = ...,
    structure: StructureName = ..., lazy: bool, dtype: RowType = ..., device: DeviceLike = ...,
    stream: StreamLike = ..., **options: Unpack[JoinOptions],
) -> JoinRows | Joined: ...  # fmt: skip
def join_range(
    build: ColumnLike,
    probe: ColumnLike,
    how: How = "inner",
    *,
    distance: Distance | tuple[Distance, Distance] | None = None,
    compare: Comparison | None = None,
    build_upper: ColumnLike = None,
    probe_upper: ColumnLike = None,
    closed: Closed = "both",
    by: tuple[KeyColumns, KeyColumns] | None = None,
    build_by: KeyColumns = None,
    probe_by: KeyColumns = None,
    structure: StructureName = "auto",
    lazy: bool = False,
    dtype: RowType = "int64",
    device: DeviceLike = None,
    stream: StreamLike = None,
    **options: Unpack[JoinOptions],
) -> JoinRows | Joined:
    """Joins rows whose keys are near each other, compare so, or lie in a range: `distance`, `compare`, `build_upper` or
    `probe_upper` says which.

        >>> import raydex
        >>> raydex.join_range([10, 20, 30], [11, 29], distance=2)
        JoinRows(probe=array([0, 1]), build=array([0, 2]))

    Parameters
    ----------
    build, probe
        A column each, of numbers, times of any unit and zone, or strings of up to 8 bytes.
    how
        As of `join`.
    distance
        Band: `abs(build - probe) <= distance`, a number, or for times a `timedelta` or a text as `"90s"`;
        exactly for integers and times, and with the difference as the type of floating numbers rounds it. Or
        a pair of both sides, in host memory: `probe - distance[0] <= build <= probe + distance[1]`; both may be
        negative. NaN is near nothing.
    compare
        `"<"`, `"<="`, `">"` or `">="`: how the build key compares with the probe, as in
        `build < probe`.
    build_upper
        Build rows are intervals from `build` to `build_upper` that contain the probe; `closed` says which ends
        belong to them, as in `join_intervals`.
    probe_upper
        Probe rows are intervals `[probe, probe_upper]` that contain the build key.
    build_by, probe_by
        Columns of a key, as of `join`, which has to be equal, too; or `by`, a pair of both.
    lazy, dtype, structure, device, stream, options
        As of `join`. Structures and options are for joins without `build_upper` and `by` that are neither right nor
        full.

    Returns
    -------
    JoinRows, or Joined if lazy
        In the order of the probe rows; those of one by build key, then by build row.

    Raises
    ------
    InvalidArgument, InvalidType, Unsupported, OutOfMemory, CudaError
        As of `raydex.build`.

    Cost
    ----
    The build of an index, two searches a probe row, a write a row of the result, which may be far larger than both
    tables: `lazy=True` writes it in parts. A key costs little, as in `join_asof`.
    """
    check_kind(
        how,
        "if that are the upper ends of build or probe, give join_range(build, probe, build_upper=x) or "
        "join_range(build, probe, probe_upper=x)",
    )
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
    check_comparison(compare)
    texts = option_texts(options, structure, join_range)
    lazy, row_type = flag("lazy", lazy), row_dtype(dtype)
    build_by, probe_by = keys_of(by, build_by, probe_by)
    of_order = build_by is not None or how in OF_BUILD_ROWS
    if (build_upper is not None or of_order) and (structure != "auto" or options):
        raise InvalidArgument(
            "structure: intervals have one of their own, and so have right and full joins and those by a key; leave "
            "it and options out"
        )
    if build_upper is not None:
        return _join_ends(
            [look("build", build), look("build_upper", build_upper)], [look("probe", probe)], how, None, closed,
            "unmatched", build_by, probe_by, lazy, row_type, device, stream,
        )  # fmt: skip
    if closed != "both":
        raise InvalidArgument("closed: it goes with build_upper, whose intervals it is of")
    sources = [look("build", build), look("probe", probe)]
    if probe_upper is not None:
        sources.append(look("probe_upper", probe_upper))
    same_device(*sources)
    call = Call(sources[0].library, device, stream, structure)
    context, run = call.context, call.device.run
    word = ""
    if compare is not None:
        pair, word = compared(sources[0], sources[1], compare, call.stream)
    else:
        # Distances are of one type.
        pair = in_one_order(sources, call.stream, ["at_least", "at_most"] if probe_upper is not None else None)
    columns = natives(pair.columns)
    build_key, probe_key = by_columns(sources[0], build_by, probe_by, call.stream)
    side: Any
    keyed: list[Any] = []
    if of_order:
        side = run(_raydex.RangeJoin, call.device.backend, *context, columns[0], natives(build_key))
        keyed = [natives(probe_key)]
    else:
        side = run(_raydex.Join, call.device.backend, *context, columns[:1], structure, texts, False)
    ends = pair.columns[1:]
    if distance is not None:
        if isinstance(distance, tuple) and len(distance) == 2:
            ends = bands_about(pair, [span_of(one, pair.key) for one in distance], call)
        else:
            reach = reach_of("distance", distance, pair.key)
            if pair.order is None:
                found = run(side.match_band, *context, columns[1], within_64_bits(reach), *keyed, how)
            else:
                check_reach("distance", reach)
                ends = bands_about(pair, [reach, reach], call)
    if word:
        found = run(side.match_compared, *context, columns[1], word, *keyed, how)
    elif len(ends) == 2:
        found = run(side.match_ranges, *context, *natives(ends), *keyed, how)
    return rows_of(Joined(found, call, how, row_type, pair.columns[0].size, build_key), lazy)


def _join_ends(
    built: list[Source], probed: list[Source], how: str, relation: str | None, closed: str, missing: str,
    build_by: Any, probe_by: Any, lazy: bool, dtype: str, device: Any, stream: Any, first: bool = False,
) -> JoinRows | Joined:  # fmt: skip
    """Intervals with intervals or, of one column of the probe side, with points."""
    same_device(*built, *probed)
    call = Call(built[0].library, device, stream)
    context, run = call.context, call.device.run
    columns = in_one_order([*built, *probed], call.stream).columns
    ends, probes = columns[:2], columns[2:]
    if missing == "unbounded":
        ends = [unbounded(one, at == 1, call.stream) for at, one in enumerate(ends)]
        if relation is not None:
            probes = [unbounded(one, at == 1, call.stream) for at, one in enumerate(probes)]
    build_key, probe_key = by_columns(built[0], build_by, probe_by, call.stream)
    side = run(
        _raydex.IntervalJoin, call.device.backend, *context, *natives(ends), natives(build_key), closed
    )
    if relation is None:
        found = run(side.match_points, *context, *natives(probes), natives(probe_key), how, first)
    else:
        found = run(side.match, *context, *natives(probes), natives(probe_key), relation, how, first)
    return rows_of(Joined(found, call, how, dtype, ends[0].size, build_key), lazy)


@overload
def join_intervals(
    build: Pair, probe: ColumnLike, how: How = ..., *, relation: Relation | None = ..., closed: Closed = ...,
    missing: MissingEnd = ..., matches: Literal["all", "first"] = ..., by: tuple[KeyColumns, KeyColumns] | None = ...,
    build_by: KeyColumns = ..., probe_by: KeyColumns = ..., lazy: Literal[False] = ..., dtype: RowType = ...,
    device: DeviceLike = ..., stream: StreamLike = ...,
) -> JoinRows: ...
@overload
def join_intervals(
    build: Pair, probe: ColumnLike, how: How = ..., *, relation: Relation | None = ..., closed: Closed = ...,
    missing: MissingEnd = ..., matches: Literal["all", "first"] = ..., by: tuple[KeyColumns, KeyColumns] | None = ...,
    build_by: KeyColumns = ..., probe_by: KeyColumns = ..., lazy: Literal[True], dtype: RowType = ...,
    device: DeviceLike = ..., stream: StreamLike = ...,
) -> Joined: ...
@overload
def join_intervals(
    build: Pair, probe: ColumnLike, how: How = ..., *, relation: Relation | None = ..., closed: Closed = ...,
    missing: MissingEnd = ..., matches: Literal["all", "first"] = ..., by: tuple[KeyColumns, KeyColumns] | None = ...,
    build_by: KeyColumns = ..., probe_by: KeyColumns = ..., lazy: bool, dtype: RowType = ...,
    device: DeviceLike = ..., stream: StreamLike = ...,
) -> JoinRows | Joined: ...  # fmt: skip
def join_intervals(
    build: Pair,
    probe: ColumnLike,
    how: How = "inner",
    *,
    relation: Relation | None = None,
    closed: Closed = "both",
    missing: MissingEnd = "unmatched",
    matches: Literal["all", "first"] = "all",
    by: tuple[KeyColumns, KeyColumns] | None = None,
    build_by: KeyColumns = None,
    probe_by: KeyColumns = None,
    lazy: bool = False,
    dtype: RowType = "int64",
    device: DeviceLike = None,
    stream: StreamLike = None,
) -> JoinRows | Joined:
    """Joins intervals that overlap, or lie in each other, or points with the intervals that contain them.

        >>> import raydex
        >>> raydex.join_intervals(([8, 16, 9], [16, 24, 17]), ([16], [18]), closed="left")
        JoinRows(probe=array([0, 0]), build=array([2, 1]))

    Parameters
    ----------
    build, probe
        Pairs of columns `(lower, upper)`, of numbers, times of any unit and zone, or strings of up to 8 bytes. Or
        `probe` is one column, of points.
    relation
        How an interval of the build side lies to one of the probe side. `overlaps`, which is the default: each
        begins before the other one ends or, if both ends are closed, where it ends. `within`: it begins where
        the other one does or later, and ends where it does or before. `encloses`, or `contains`: the other way
        round. Of points it is `contains`.
    closed
        Which ends belong to the intervals of both sides: `both`, `left`, `right` or `neither`. Ends are compared, not
        counted: with open ends `(1, 2)` overlaps itself, though no integer is in it.
    missing
        What an interval is that lacks an end: `unmatched`, or `unbounded` on that side, for which the extreme of the
        type stands: the least or the largest integer or time, an infinity, of strings the empty one or bytes of
        255. An open end leaves that out, too. In host memory.
    matches
        `all`; or `first`: of each probe row only the first one in the order of the result, at the cost of one. So
        `how="left"` gives each probe row once.
    build_by, probe_by
        Columns of a key, as of `join`, which has to be equal, too; or `by`, a pair of both.
    how, lazy, dtype, device, stream
        As of `join`.

    Returns
    -------
    JoinRows, or Joined if lazy
        In the order of the probe rows; those of one by lower end, `within` by upper end, then by build row.

    Raises
    ------
    InvalidArgument, InvalidType, Unsupported, OutOfMemory, CudaError
        As of `raydex.build`.

    Cost
    ----
    Two sorts of the build side, two searches a probe row, a few reads and a write a row of the result, in whatever way
    these are spread over the probe rows.

    Notes
    -----
    An interval whose lower end is above the upper one matches nothing. One of equal ends contains its point if both
    ends are closed, and none if one is open; it overlaps what it lies strictly inside. NaN comes after all other
    numbers.
    """
    check_kind(how, "ends come in pairs: join_intervals((lower, upper), (lower, upper)), or points second")
    lazy, row_type = flag("lazy", lazy), row_dtype(dtype)
    build_by, probe_by = keys_of(by, build_by, probe_by)
    if relation is not None and relation not in list(RELATIONS):
        raise InvalidArgument(f"relation: {relation!r} is none of {', '.join(RELATIONS)}")
    if missing not in MISSING:
        raise InvalidArgument(f"missing: {missing!r} is none of {', '.join(MISSING)}")
    if matches not in ("all", "first"):
        raise InvalidArgument(f"matches: {matches!r} is none of all, first")
    built = pair_of("build", build, ("lower", "upper"))
    if is_pair(probe):
        probed = pair_of("probe", probe, ("lower", "upper"))
        lies: str | None = RELATIONS[relation or "overlaps"]
    else:
        probed, lies = [look("probe", probe)], None
        if relation not in (None, "contains", "encloses"):
            raise InvalidArgument(f"relation: {relation!r} is of intervals, and probe are points")
    return _join_ends(
        built, probed, how, lies, closed, missing, build_by, probe_by, lazy, row_type, device, stream,
        matches == "first",
    )  # fmt: skip


@overload
def join_where(
    build: Pair, probe: Pair, compare: tuple[Comparison, Comparison], how: How = ..., *,
    by: tuple[KeyColumns, KeyColumns] | None = ..., build_by: KeyColumns = ..., probe_by: KeyColumns = ...,
    lazy: Literal[False] = ..., dtype: RowType = ..., device: DeviceLike = ..., stream: StreamLike = ...,
) -> JoinRows: ...
@overload
def join_where(
    build: Pair, probe: Pair, compare: tuple[Comparison, Comparison], how: How = ..., *,
    by: tuple[KeyColumns, KeyColumns] | None = ..., build_by: KeyColumns = ..., probe_by: KeyColumns = ...,
    lazy: Literal[True], dtype: RowType = ..., device: DeviceLike = ..., stream: StreamLike = ...,
) -> Joined: ...
@overload
def join_where(
    build: Pair, probe: Pair, compare: tuple[Comparison, Comparison], how: How = ..., *,
    by: tuple[KeyColumns, KeyColumns] | None = ..., build_by: KeyColumns = ..., probe_by: KeyColumns = ...,
    lazy: bool, dtype: RowType = ..., device: DeviceLike = ..., stream: StreamLike = ...,
) -> JoinRows | Joined: ...  # fmt: skip
def join_where(
    build: Pair,
    probe: Pair,
    compare: tuple[Comparison, Comparison],
    how: How = "inner",
    *,
    by: tuple[KeyColumns, KeyColumns] | None = None,
    build_by: KeyColumns = None,
    probe_by: KeyColumns = None,
    lazy: bool = False,
    dtype: RowType = "int64",
    device: DeviceLike = None,
    stream: StreamLike = None,
) -> JoinRows | Joined:
    """Joins two tables by two inequalities: with `compare=("<", ">=")` each probe row with the build rows that have
    `build[0] < probe[0]` and `build[1] >= probe[1]`.

        >>> import raydex
        >>> raydex.join_where(([1, 2, 3], [9, 5, 7]), ([3], [6]), ("<", ">="))
        JoinRows(probe=array([0]), build=array([0]))

    Parameters
    ----------
    build, probe
        Pairs of columns, of numbers, times of any unit and zone, or strings of up to 8 bytes. Those at one place are
        compared with each other, and need not be of the type of the others.
    compare
        Two of `"<"`, `"<="`, `">"` and `">="`: how the build columns compare with the probe columns.
    build_by, probe_by
        Columns of a key, as of `join`, which has to be equal, too; or `by`, a pair of both.
    how, lazy, dtype, device, stream
        As of `join`.

    Returns
    -------
    JoinRows, or Joined if lazy
        In the order of the probe rows; those of one by the first build column, descending if that is compared by
        `>` or `>=`, then by build row.

    Raises
    ------
    InvalidArgument, InvalidType, Unsupported, OutOfMemory, CudaError
        As of `raydex.build`.

    Cost
    ----
    As of `join_intervals`.

    Notes
    -----
    A missing value matches nothing, NaN comes after all other numbers. One inequality is
    `join_range(build, probe, compare="<")`.
    """
    check_kind(how)
    lazy, row_type = flag("lazy", lazy), row_dtype(dtype)
    build_by, probe_by = keys_of(by, build_by, probe_by)
    if not isinstance(compare, (tuple, list)) or len(compare) != 2:
        raise InvalidArgument(f"compare: {compare!r} are no two comparisons, as (\"<\", \">=\")")
    for one in compare:
        check_comparison(one)
    built, probed = pair_of("build", build, ("a", "b")), pair_of("probe", probe, ("x", "y"))
    same_device(*built, *probed)
    call = Call(built[0].library, device, stream)
    context, run = call.context, call.device.run
    pairs = [compared(one, other, word, call.stream) for one, other, word in zip(built, probed, compare)]
    build_key, probe_key = by_columns(built[0], build_by, probe_by, call.stream)
    words = [part for pair, word in pairs for part in (pair.columns[0].native, word)]
    side = run(_raydex.InequalityJoin, call.device.backend, *context, *words, natives(build_key))
    found = run(side.match, *context, *(pair.columns[1].native for pair, _ in pairs), natives(probe_key), how)
    return rows_of(Joined(found, call, how, row_type, pairs[0][0].columns[0].size, build_key), lazy)
