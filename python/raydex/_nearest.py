# SPDX-License-Identifier: Apache-2.0
"""Nearest intervals, and the length of what intervals share."""

from __future__ import annotations

from typing import Any, Literal, overload

import numpy as np

from raydex import _raydex
from raydex._arguments import flag
from raydex._array_libraries import as_times
from raydex._errors import InvalidArgument, InvalidType
from raydex._exports import nearest_to_table, rows_on_host
from raydex._frames import PANDAS, POLARS
from raydex._html import columns
from raydex._joined import Joined, JoinRows, row_dtype, rows_of
from raydex._joins import Together, check_how, natives
from raydex._lazy import Call
from raydex._ordered_columns import DIRECTIONS, by_columns, in_one_order, keys_of, pair_of
from raydex._results import TwoArrays
from raydex._sources import same_device
from raydex._times import Time
from raydex.typing import DeviceLike, Direction, KeyColumns, OrderedHow, Pair, RowType, StreamLike


class NearestRows(TwoArrays):
    """The nearest intervals of each probe row: an array of a cell each, or of `k` of them, the nearest one first.

    It is a table to what takes tables, as `JoinRows` is, of the columns `probe`, `build` and `distance`: `k` lines a
    probe row, with null for the build row and the distance where there is none."""

    __slots__ = ("build", "distance")
    __match_args__ = ("build", "distance")
    __module__ = "raydex"

    build: Any
    """Build rows, int64; -1 behind the last one."""
    distance: Any
    """How far away they are: int64, for floating ends float64, for times their differences, on a GPU as int64. Of no
    row -1, NaN or NaT. An int64 counts modulo 2^64."""

    def __init__(self, build: Any, distance: Any) -> None:
        self.build, self.distance = build, distance

    def _columns(self, results: str) -> list[Any]:
        """The columns of its table in host memory."""
        build = rows_on_host("build", self.build, results)
        probes = np.arange(len(build)).repeat(1 if build.ndim == 1 else build.shape[1])
        return [probes, build.reshape(-1), np.asarray(self.distance).reshape(-1)]

    def _lines(self) -> list[Any]:
        return self._columns("arrays of NumPy")

    def _table(self) -> Any:
        return self.to_arrow()

    def _repr_html_(self) -> str:
        return columns("Nearest rows", {"build": self.build, "distance": self.distance})

    def to_arrow(self) -> Any:
        """A `pyarrow.Table` of the columns `probe`, `build` and `distance`. What is on a GPU is refused with what
        copies it."""
        return nearest_to_table(*self._columns("Arrow's arrays"))

    def to_pandas(self) -> Any:
        """A `pandas.DataFrame` of the same columns; integers are nullable (`Int64`)."""
        probe, build, distance = self._columns("frames of pandas")
        none = build < 0
        return PANDAS.from_columns({
            "probe": PANDAS.integers(probe),
            "build": PANDAS.integers(build, none),
            "distance": PANDAS.integers(distance, none) if distance.dtype.kind == "i" else distance,
        })

    def to_polars(self) -> Any:
        """A `polars.DataFrame` of the same columns. Needs pyarrow."""
        return POLARS.library.DataFrame(self.to_arrow())


def _intervals(
    build: Any, probe: Any, device: Any, stream: Any, by: tuple[Any, Any]
) -> tuple[Call, Together, Any, Any]:
    """The ends of both sides in one type, and the columns of their keys."""
    sources = [*pair_of("build", build, ("lower", "upper")), *pair_of("probe", probe, ("lower", "upper"))]
    same_device(*sources)
    call = Call(sources[0].library, device, stream)
    ends = in_one_order(sources, call.stream)
    if ends.key.scale is not None:
        raise InvalidType(f"build: {ends.key} have no distances; give integers of the last digit")
    if ends.order is not None:
        raise InvalidType("build: times of several units, and 64 bits do not hold all of them in one; convert them")
    return (call, ends, *by_columns(sources[0], *by, call.stream))


def _differences(of: Time) -> np.dtype[Any]:
    """The dtype of how far times are apart."""
    unit, step = np.datetime_data(of.dtype)
    return np.dtype("m8" if unit == "generic" else f"m8[{step}{unit}]")


@overload
def join_nearest(
    build: Pair, probe: Pair, *, k: int = ..., ties: Literal["first"] = ..., direction: Direction = ...,
    overlaps: bool = ..., by: tuple[KeyColumns, KeyColumns] | None = ..., build_by: KeyColumns = ...,
    probe_by: KeyColumns = ..., device: DeviceLike = ..., stream: StreamLike = ...,
) -> NearestRows: ...
@overload
def join_nearest(
    build: Pair, probe: Pair, *, k: int = ..., ties: Literal["all"], how: OrderedHow = ...,
    direction: Direction = ..., overlaps: bool = ..., by: tuple[KeyColumns, KeyColumns] | None = ...,
    build_by: KeyColumns = ..., probe_by: KeyColumns = ..., lazy: Literal[False] = ..., dtype: RowType = ...,
    device: DeviceLike = ..., stream: StreamLike = ...,
) -> JoinRows: ...
@overload
def join_nearest(
    build: Pair, probe: Pair, *, k: int = ..., ties: Literal["all"], how: OrderedHow = ...,
    direction: Direction = ..., overlaps: bool = ..., by: tuple[KeyColumns, KeyColumns] | None = ...,
    build_by: KeyColumns = ..., probe_by: KeyColumns = ..., lazy: Literal[True], dtype: RowType = ...,
    device: DeviceLike = ..., stream: StreamLike = ...,
) -> Joined: ...  # fmt: skip
def join_nearest(
    build: Pair,
    probe: Pair,
    *,
    k: int = 1,
    ties: str = "first",
    how: OrderedHow = "inner",
    direction: Direction = "nearest",
    overlaps: bool = True,
    by: tuple[KeyColumns, KeyColumns] | None = None,
    build_by: KeyColumns = None,
    probe_by: KeyColumns = None,
    lazy: bool = False,
    dtype: RowType = "int64",
    device: DeviceLike = None,
    stream: StreamLike = None,
) -> NearestRows | JoinRows | Joined:
    """For each interval of the probe side the nearest ones of the build side, and how far away they are.

        >>> import raydex
        >>> found = raydex.join_nearest(([1, 10, 40], [5, 20, 50]), ([6, 12, 100], [8, 13, 110]))
        >>> found.build, found.distance
        (array([0, 1, 2]), array([ 1,  0, 50]))

    Two intervals are 0 apart if they have a point in common, both ends included; else it is how far the end of one is
    from where the other one begins. So half-open intervals that touch are 0 apart, as those that overlap.

    Parameters
    ----------
    build, probe
        Pairs of columns `(lower, upper)`, of numbers or times. For points give a column twice.
    k
        How many for each probe row, at most.
    ties
        `first`: of intervals at a distance of 0 those that begin first, of others those of the first rows. `all`: also
        those that are as far away as the last one.
    direction
        `nearest`: on both sides. `backward`: those that end before the probe begins; `forward`: those that begin
        behind its end.
    overlaps
        Whether those at a distance of 0 are taken, too; `ties="all"` takes them.
    build_by, probe_by
        Columns of a key, as of `join`, which has to be equal, too; or `by`, a pair of both.
    how, lazy, dtype
        With `ties="all"`, as of `join`; `how` is `inner`, `left`, `semi` or `anti`.
    device, stream
        As of `join`.

    Returns
    -------
    NearestRows
        Arrays of a cell for each probe row or, with `k` above 1, of shape `(probe rows, k)`.
    JoinRows, or Joined if lazy
        With `ties="all"`: in the order of the probe rows; those of one by lower end, then by build row.

    Raises
    ------
    InvalidArgument, InvalidType, Unsupported, OutOfMemory, CudaError
        As of `raydex.build`.

    Cost
    ----
    Three sorts of the build side, four searches a probe row, a few reads for each row that is taken.

    Notes
    -----
    An interval whose lower end is above the upper one, or that lacks an end or a key, is near nothing.
    """
    check_how(how)
    if isinstance(k, bool) or not isinstance(k, (int, np.integer)) or k < 1:
        raise InvalidArgument(f"k: {k!r}; it must be a number of 1 or more")
    if ties not in ("first", "all"):
        raise InvalidArgument(f"ties: {ties!r} is none of first, all")
    if direction not in list(DIRECTIONS):
        raise InvalidArgument(f"direction: {direction!r} is none of {', '.join(DIRECTIONS)}")
    overlaps, lazy, row_type = flag("overlaps", overlaps), flag("lazy", lazy), row_dtype(dtype)
    if ties == "first" and (how != "inner" or lazy or row_type != "int64"):
        raise InvalidArgument("how: this, lazy and dtype go with ties='all'")
    keys = keys_of(by, build_by, probe_by)
    call, ends, build_key, probe_key = _intervals(build, probe, device, stream, keys)
    run, columns, asked = call.device.run, natives(ends.columns), (int(k), overlaps, direction)
    side = run(_raydex.NearestJoin, call.device.backend, *call.context, *columns[:2], natives(build_key))
    if ties == "all":
        found = run(side.match_ties, *call.context, *columns[2:], natives(probe_key), *asked, how)
        return rows_of(Joined(found, call, how, row_type, ends.columns[0].size, [build_key, ends]), lazy)
    key, size = ends.key, ends.columns[2].size * int(k)
    is_floating = key.time is None and not key.is_integer
    rows = call.library.empty(size, "int64", call.stream)
    distances = call.library.empty(size, "float64" if is_floating else "int64", call.stream)
    run(
        side.match, *call.context, *columns[2:], natives(probe_key), *asked, call.library.address(rows),
        call.library.address(distances), is_floating, size,
    )  # fmt: skip
    if key.time is not None and call.library.device is None:
        unit = _differences(key.time)
        distances = np.where(rows >= 0, as_times(distances, unit), np.array("NaT", unit))
    if k == 1:
        return NearestRows(rows, distances)
    shape = (ends.columns[2].size, int(k))
    return NearestRows(rows.reshape(shape), distances.reshape(shape))


def interval_coverage(
    build: Pair,
    probe: Pair,
    *,
    by: tuple[KeyColumns, KeyColumns] | None = None,
    build_by: KeyColumns = None,
    probe_by: KeyColumns = None,
    device: DeviceLike = None,
    stream: StreamLike = None,
) -> Any:
    """For each interval of the probe side the summed length of what it shares with those of the build side, in a time
    that does not depend on how many these are. What several of them share with it counts once for each.

        >>> import raydex
        >>> raydex.interval_coverage(([0, 5, 8], [10, 7, 20]), ([6, 9], [9, 30]))
        array([ 5, 12])

    Parameters
    ----------
    build, probe
        Pairs of columns `(lower, upper)`, of integers or times: a length is `upper - lower`, as of half-open intervals.
    build_by, probe_by
        Columns of a key, as of `join`, which has to be equal, too; or `by`, a pair of both.
    device, stream
        As of `join`.

    Returns
    -------
    array of int64, for times of their differences, on a GPU of int64
        One a probe row; 0 if an end or a key is missing, or the lower end is above the upper one. Exact.

    Raises
    ------
    InvalidArgument
        For a sum that int64 does not hold; and what `raydex.build` raises.

    Cost
    ----
    Two sorts of the build side, four searches a probe row.

    Notes
    -----
    Unite intervals that overlap, as `raydex.genomics.merge` does, to have what they share count once.
    """
    keys = keys_of(by, build_by, probe_by)
    call, ends, build_key, probe_key = _intervals(build, probe, device, stream, keys)
    columns, run = natives(ends.columns), call.device.run
    side = run(_raydex.IntervalCoverage, call.device.backend, *call.context, *columns[:2], natives(build_key))
    size = ends.columns[2].size
    out = call.library.empty(size, "int64", call.stream)
    run(side.match, *call.context, *columns[2:], natives(probe_key), call.library.address(out), size)
    if call.library.device is None and (out < 0).any():
        raise InvalidArgument(f"build: what is shared with probe row {int(np.argmax(out < 0))} exceeds 2^63 - 1")
    if ends.key.time is None or call.library.device is not None:
        return out
    return as_times(out, _differences(ends.key.time))
