# SPDX-License-Identifier: Apache-2.0
"""Joins: the pairs of rows of two tables whose keys match."""

from __future__ import annotations

import operator
from collections.abc import Mapping, Sequence
from typing import Any, Literal, NamedTuple, get_args, overload

import numpy as np

from raydex import _lists, _raydex
from raydex._arguments import check_words, flag, option_texts
from raydex._array_libraries import HOST, ArrayLibrary, bare_library, is_of
from raydex._arrow import Cells, DeviceCells, HostCells, StringCells, Table, is_arrow, is_arrow_alone, take_arrow
from raydex._columns import Column, column_of, dtype_of, is_none, key_of, read_as, role_of, takes
from raydex._errors import InvalidArgument, InvalidType, Unsupported
from raydex._frames import check_one_table
from raydex._index import Index
from raydex._joined import Joined, JoinRows, row_dtype, rows_of
from raydex._keys import TEXTS, Key, converts, plain_key
from raydex._lazy import Call
from raydex._plain import OWN, plain_columns
from raydex._sources import Source, look, ready, same_device
from raydex._times import OF_TIMES, Order, Time, are_compared, common, in_one_unit
from raydex.typing import DeviceLike, How, JoinOptions, KeyColumns, RowType, StreamLike, StructureName, Unpack

_KINDS = get_args(How)
_HASH_TABLES = ("hash_open", "hash_bucket")
OF_BUILD_ROWS = ("right", "full", "outer")  # which give build rows without a match


def key_columns(argument: str, x: Any) -> tuple[list[str] | None, list[Source]]:
    """The columns of a key, with names where they have some."""
    if type(x) is np.ndarray:
        return (None, [look(argument, x)])
    if isinstance(x, (list, tuple)) and x and not any(map(_lists.is_value, x)):
        check_one_table(argument, x)
        return (None, [look(f"{argument}[{i}]", one) for i, one in enumerate(x)])
    if is_arrow_alone(x):
        return _columns_of_arrow(argument, x)
    if is_of("pandas", x, "DataFrame"):
        names = _distinct(argument, list(x.columns))
        return (names, [look(f"{argument}[{name!r}]", x.iloc[:, i]) for i, name in enumerate(x.columns)])
    if is_of("polars", x, "DataFrame") or is_of("cudf", x, "DataFrame"):
        x = {name: x[name] for name in x.columns}
    if isinstance(x, Mapping):
        names = _distinct(argument, list(x))
        check_one_table(argument, x.values())
        return (names, [look(f"{argument}[{name!r}]", one) for name, one in x.items()])
    is_column = any(
        is_of(module, x, name) for module in ("pandas", "polars", "cudf") for name in ("Series", "Index")
    )
    if is_arrow(x) and not is_column:
        return _columns_of_arrow(argument, x)
    return (None, [look(argument, x)])


def _columns_of_arrow(argument: str, x: Any) -> tuple[list[str] | None, list[Source]]:
    taken, device = take_arrow(argument, x)
    library = bare_library(device)
    if not isinstance(taken, Table):
        return (None, [Source(argument, x, library, taken)])
    if not any(taken.names):  # of pylibcudf
        return (None, [Source(f"{argument}[{i}]", x, library, one) for i, one in enumerate(taken.columns)])
    sources = [
        Source(f"{argument}[{name!r}]", x, library, cells)
        for name, cells in zip(taken.names, taken.columns)
    ]
    return (_distinct(argument, taken.names), sources)


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
    names, built = key_columns("build", build)
    other_names, probed = key_columns("probe", probe)
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


def plain_keys(
    build: Any, probe: Any, stream: Any
) -> tuple[ArrayLibrary, int, list[Any], list[Any], Any] | None:
    """Both sides if all their columns are plain, see `plain_columns`: the library, how many build rows, what the module
    takes of either side, and what has to live as long as the join."""
    several = type(build) in (tuple, list)
    if several and (type(probe) not in (tuple, list) or len(build) != len(probe)):
        return None
    build_key, probe_key = [], []
    library, rows = None, 0
    for one, other in zip(build, probe) if several else [(build, probe)]:
        columns = plain_columns(one, other, stream, OWN)
        if columns is None or columns[0] is not (library or columns[0]):
            return None
        if library is None:
            library, _, (_, rows, _, _), _ = columns
        build_key.append(columns[2][0])
        probe_key.append(columns[3][0])
    if library is None:
        return None
    return (library, rows, build_key, probe_key, tuple(build) if several else build)


def common_key(build: Source, probe: Source, stream: int, of_build: bool = False) -> Key:
    """The type that both columns are compared in, which has all values of both but of times: see `together`.

    `of_build`: whether, where no type has those of two numbers, that of the build side does."""
    left, right = key_of(build, stream), key_of(probe, stream)
    of_bytes = all(one.dtype is not None and one.dtype.kind == "S" for one in (left, right))
    if of_bytes and _are_whole(build) != _are_whole(probe):
        return TEXTS  # NUL bytes at the end are of the cells on one side, and padding on the other
    if left == right or right.is_void:
        return left
    if left.time is not None and right.time is not None and are_compared(left.time, right.time):
        return _key_of_unit(common([left.time, right.time]))
    if left.is_void:
        return right
    if TEXTS in (left, right) and all(
        one == TEXTS or (one.dtype is not None and one.dtype.kind == "S") for one in (left, right)
    ):
        return TEXTS
    if _are_whole(build, probe) and left != right:  # of two widths, so that none equals one of the other
        return TEXTS
    if any(one.scale is not None for one in (left, right)) and all(
        one.scale is not None or one.is_number for one in (left, right)
    ):
        if left.scale == right.scale:
            return Key(None, left.unit)
        if of_build:
            return left
        raise InvalidType(
            f"{probe.argument}: it is of {right}, but {build.argument} of {left}; give both as many digits behind the "
            "point"
        )
    if left.dtype is None or right.dtype is None or left.unit or right.unit:
        are_texts = TEXTS in (left, right) and (left.time or right.time) is not None
        hint = f"; {OF_TIMES} of the texts" if are_texts else ""
        raise InvalidType(
            f"{probe.argument}: it is of {right}, but {build.argument} of {left}; these are not compared{hint}"
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
        if of_build and left.is_number and right.is_number and build.library.device is None:
            return left
        raise InvalidType(
            f"{probe.argument}: it is of {right}, but {build.argument} of {left}, and no key type has the "
            "values of both; convert one"
        )
    return Key(both)


def _key_of_all(sources: list[Source], stream: int, of_build: bool = False) -> Key:
    first, second, *others = sources
    key = common_key(first, second, stream, of_build)
    for at, one in enumerate(others):
        seen = sources[: at + 2]
        cells = HostCells(np.empty(0, key.dtype or "S9"), None, key.unit, None, key.is_void, _are_whole(*seen))
        known = Source(first.argument, None, HOST, cells, loose=all(other.loose for other in seen), shape=(0,))
        key = common_key(known, one, stream, of_build)
    return key


def _key_of_unit(time: Time) -> Key:
    return Key(time.dtype) if time.kind in "mM" else Key(np.dtype("int64"), str(time))


class Together(NamedTuple):
    """Columns that are compared."""

    columns: list[Column]
    key: Key
    order: Order | None
    """Of times that 64 bits in one unit do not hold: the columns are numbers in their order."""
    role: str = ""
    """What probes are that no type has together with the build side's, see `column_of`."""


def together(sources: list[Source], stream: int, roles: Sequence[str] | None = None) -> Together:
    """Columns in one type, which has the values of all but of times. Lists of texts are read as what the others are.

    `roles`: of all but the first column, which numbers of another type have if no type has the values of both; by
    default they are refused."""
    alike = _alike(sources, stream)
    if alike is not None:
        return alike
    if not all(key_of(one, stream).is_number for one in sources):
        for one in sources:
            given = ready(one, stream)
            if isinstance(given, HostCells):
                given.is_void = given.is_void or is_none(one, given)
    for other in [key_of(one, stream) for one in sources]:
        sources = [read_as(one, other) for one in sources]
    key = _key_of_all(sources, stream, roles is not None)
    found = [key_of(one, stream) for one in sources]
    own = [key if own_key.is_void else own_key for own_key in found]  # which match nothing
    if key.time is None or all(one == key for one in own):
        taken = [role_of(one, key, role, stream) for one, role in zip(sources, ["", *(roles or [""] * len(sources))])]
        columns = [column_of(one, stream, key, role=role) for one, role in zip(sources, taken)]
        return Together(columns, key, None, taken[1])
    for one, own_key in zip(sources, own):
        if own_key.time is None or not are_compared(own_key.time, key.time):
            raise InvalidType(f"{one.argument}: it is of {own_key}, but {sources[0].argument} of {own[0]}")
    if any(not isinstance(one.cells, HostCells) for one in sources):
        return Together([column_of(one, stream, key) for one in sources], key, None)
    columns_of_times, missing, validities = [], [], []
    for one, own_key in zip(sources, own):
        of_one = column_of(one, stream, own_key, copies=True)
        array, validity, _ = of_one.kept
        assert own_key.time is not None
        columns_of_times.append((array.astype("i8") if array.itemsize < 8 else array.view("i8"), own_key.time))
        missing.append(None if validity is None else ~validity.there(len(array)))
        validities.append(validity)
    counts, unit, order = in_one_unit(columns_of_times, missing)
    key = _key_of_unit(unit)
    columns = []
    for one, cells, validity in zip(sources, counts, validities):
        whole = HostCells(cells, validity)
        plain = Source(one.argument, one.value, one.library, whole, one.scalar)
        columns.append(column_of(plain, stream))
    return Together(columns, key, order)


def _alike(sources: list[Source], stream: int) -> Together | None:
    """The same of columns that are of one type as they lie, as nearly all are."""
    first, *others = sources
    key = _usual_key(first.cells)
    if key is None or any(_usual_key(one.cells) is not key for one in others):
        return None
    return Together([column_of(one, stream) for one in sources], key, None)


def _usual_key(cells: Cells | None) -> Key | None:
    """What cells are as they lie: strings of any length, and numbers of most arrays; None of others."""
    if isinstance(cells, StringCells):
        return None if cells.unit else TEXTS
    if isinstance(cells, DeviceCells):
        return None if cells.unit else plain_key(cells.dtype)
    if isinstance(cells, HostCells) and type(cells.array) is np.ndarray and not cells.unit and not cells.is_void:
        return plain_key(cells.array.dtype)
    return None


def _are_whole(*sources: Source) -> bool:
    return all(isinstance(one.cells, HostCells) and one.cells.is_whole for one in sources)


def both_keys(
    built: list[Source], probed: list[Source], stream: int, missing_equal: bool = False
) -> tuple[list[Column], list[Column]]:
    """Columns that are compared for equality; with `missing_equal` perhaps more of them, which differ where a probe has
    a number that is none of the build side's type, so that it equals no missing one."""
    pairs = [together([one, other], stream, [""]).columns for one, other in zip(built, probed)]
    for one, other in list(pairs):
        if missing_equal and other.no_key is not None:
            flags = (np.zeros(one.size, "u4"), other.no_key.astype("u4"))
            pairs.append([column_of(look("probe", each), stream) for each in flags])
    return ([one for one, _ in pairs], [other for _, other in pairs])


def natives(columns: list[Column]) -> list[Any]:
    return [one.native for one in columns]


def check_how(how: str) -> None:
    """Refuses what is no kind of a join that gives no build rows without a match: by order, or with an index."""
    check_kind(how)
    if how in OF_BUILD_ROWS:
        raise Unsupported(
            f"how: {how!r}; here joins are inner, left, semi or anti. A right join is a left one of the tables the "
            "other way round"
        )


def check_kind(how: str, third: str = "") -> None:
    """Refuses what is no kind of a join. `third`: how a column is given that comes third."""
    if third and how is not None and not isinstance(how, str):
        raise InvalidType(f"how: a {type(how).__qualname__} is none of {', '.join(_KINDS)}; {third}")
    if how not in _KINDS:
        raise InvalidArgument(f"how: {how!r} is none of {', '.join(_KINDS)}")


@overload
def join(
    build: KeyColumns, probe: KeyColumns, how: How = ..., *, structure: StructureName = ...,
    missing_equal: bool = ..., seed: int | None = ..., maintain_order: bool = ..., lazy: Literal[False] = ...,
    dtype: RowType = ..., device: DeviceLike = ..., stream: StreamLike = ..., **options: Unpack[JoinOptions],
) -> JoinRows: ...
@overload
def join(
    build: KeyColumns, probe: KeyColumns, how: How = ..., *, structure: StructureName = ...,
    missing_equal: bool = ..., seed: int | None = ..., maintain_order: bool = ..., lazy: Literal[True],
    dtype: RowType = ..., device: DeviceLike = ..., stream: StreamLike = ..., **options: Unpack[JoinOptions],
) -> Joined: ...
@overload
def join(
    build: KeyColumns, probe: KeyColumns, how: How = ..., *, structure: StructureName = ...,
    missing_equal: bool = ..., seed: int | None = ..., maintain_order: bool = ..., lazy: bool, dtype: RowType = ...,
    device: DeviceLike = ..., stream: StreamLike = ..., **options: Unpack[JoinOptions],
) -> JoinRows | Joined: ...  # fmt: skip
def join(
    build: KeyColumns,
    probe: KeyColumns,
    how: How = "inner",
    *,
    structure: StructureName = "auto",
    missing_equal: bool = False,
    seed: int | None = None,
    maintain_order: bool = True,
    lazy: bool = False,
    dtype: RowType = "int64",
    device: DeviceLike = None,
    stream: StreamLike = None,
    **options: Unpack[JoinOptions],
) -> JoinRows | Joined:
    """Joins two tables by equal keys.

        >>> import raydex
        >>> raydex.join(["ann", "bob", "cyd"], ["bob", "eve", "ann"])
        JoinRows(probe=array([0, 2]), build=array([1, 0]))

    Parameters
    ----------
    build, probe
        A column each (see `raydex.build`), or up to 16 of them as a tuple, a list, a dict or a data frame;
        where both sides have names, columns are matched by these. Strings of any length are taken, as
        Arrow has them. Numbers of two types and times of two units are compared exactly. On a GPU one type has to have
        the values of both; of times CuPy has to be imported, since Arrow's columns alone have a unit there, and the
        finer unit has to hold all of them. `build` may be an `Index`, which is used as it is.
    how
        `inner`: each pair of rows that match. `left`: the same, and probe rows without a match, with -1 (see
        `JoinRows.take`). `right`: as inner, and after them build rows without a match, in their order, also those
        with a missing key, with -1 in place of a probe row; `full`, or `outer`: as left, and then these. Not if
        `build` is an `Index`, which does not hold rows with a missing key. `semi`: probe rows with a match, once
        each. `anti`: probe rows without one.
    missing_equal
        Whether a missing value equals another one; else it matches nothing. NaN equals NaN.
    seed
        Of the hash of keys that are hashed, as texts and long keys are, and of a hash table: a number of 32 bits
        that gives the same one each time. By default each join draws its own. Answers do not depend on it.
    maintain_order
        Whether rows are in the order of the probe rows. If not, not even those of one of them lie side by side, and
        joins on a GPU take less time. A join with an `Index` has that order in any case.
    lazy
        Whether rows are written when they are asked for, see `Joined`.
    dtype
        Of row numbers: `int64`, or `int32`, which is refused if a table has too many rows for it.
    structure, device, stream, options
        As of `raydex.build`.

    Returns
    -------
    JoinRows, or Joined if lazy
        `probe` and `build`, in the order of the probe rows by default; see `Index` for their library. Rows are places
        from 0 on, also of Series, whose indexes play no part: `frame.iloc[found.build]` has them, or `merge` in their
        place. The columns of one side are of one table: Series with different indexes are refused.

    Raises
    ------
    InvalidArgument, InvalidType, Unsupported, Unavailable, OutOfMemory, CudaError
        As of `raydex.build`.

    Cost
    ----
    If no structure is named, a few passes over the keys of both sides, which are divided by a hash until parts of them
    fit the processor's caches; on a GPU, of large tables, its shared memory. Else the build of an index over `build`,
    and one lookup a probe row. Then a write a row of the result. Waits for the stream: sizes are known when it returns.
    """
    check_kind(how)
    missing_equal, lazy, row_type = flag("missing_equal", missing_equal), flag("lazy", lazy), row_dtype(dtype)
    any_order = not flag("maintain_order", maintain_order)
    if isinstance(build, Index):
        _check_words_for(build, structure, missing_equal, seed, device, options)
        return _join_index(build, probe, how, stream, row_type, lazy)
    found = match_columns(
        build, probe, how, structure, missing_equal, seed, device, stream, options, row_type, any_order
    )
    return rows_of(found, lazy)


def match_columns(
    build: Any,
    probe: Any,
    how: str,
    structure: str,
    missing_equal: bool,
    seed: int | None,
    device: Any,
    stream: Any,
    options: Mapping[str, object],
    dtype: str = "int64",
    any_order: bool = False,
) -> Joined:
    """A join whose rows are yet to be written."""
    texts = option_texts(options, structure, join)
    seed = check_seed(seed)
    if seed is not None and structure in _HASH_TABLES:
        texts["seed"] = str(seed)
    plain = plain_keys(build, probe, stream)
    if plain is not None:
        library, rows, build_key, probe_key, kept = plain
        call = Call(library, device, stream, structure)
    else:
        built, probed = pair_columns(build, probe)
        call = Call(built[0].library, device, stream, structure)
        kept, probes = both_keys(built, probed, call.stream, missing_equal)
        build_key, probe_key, rows = natives(kept), natives(probes), kept[0].size
    found = call.device.run(
        _raydex.match_tables, call.device.backend, *call.context, build_key, structure, texts, missing_equal, seed,
        probe_key, how, any_order,
    )  # fmt: skip
    return Joined(found, call, how, dtype, rows, kept)


def check_seed(seed: object) -> int | None:
    """A seed of a hash, if it is one."""
    if seed is None:
        return None
    try:
        number = operator.index(seed)  # type: ignore[arg-type]
    except TypeError:
        raise InvalidType(f"seed: {seed!r} is no whole number") from None
    if not 0 <= number < 2**32:
        raise InvalidArgument(f"seed: {number}; legal are 0 to {2**32 - 1}")
    return number


def _check_words_for(
    index: Index, structure: Any, missing_equal: bool, seed: int | None, device: Any, options: Mapping[str, object]
) -> None:
    """Refuses what would be said of an index that is there already."""
    index._check_open()
    check_words(options, structure, join)
    arguments = {
        **options, "structure": structure != "auto" and structure != index.info.structure and structure,
        "device": device is not None and str(device) not in (str(index._device), index._device.backend) and device,
        "missing_equal": missing_equal, "seed": seed is not None and seed,
    }  # fmt: skip
    for name, value in arguments.items():
        if value is not False or name in options:
            raise InvalidArgument(
                f"{name}: {value!r}, but build is an index, which has a structure and a place and holds no missing "
                "keys; give its column"
            )


def _join_index(index: Index, probe: Any, how: str, stream: Any, dtype: str, lazy: bool) -> JoinRows | Joined:
    if how in OF_BUILD_ROWS:
        raise Unsupported(
            f"how: {how!r}, but build is an index, which does not hold rows with a missing key; give its column"
        )
    with index._changes:
        points = index._points("probe", probe)
        index._check_open()
        index._check_device("probe", points.source.library)
        call = Call(points.source.library, str(index._device), stream)
        key = points.native(call.stream)
        index._streams[call.stream] = call.kept
        side = call.device.run(_raydex.Join.over, *call.context, index._native)
        found = call.device.run(side.match, *call.context, [key], how)
        build_rows = max(index.info.n, index.info.max_row_id + 1)
        return rows_of(Joined(found, call, how, dtype, build_rows, None, index), lazy)
