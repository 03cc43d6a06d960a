# SPDX-License-Identifier: Apache-2.0
"""Indexes over several columns, which are packed into one."""

from __future__ import annotations

import copy
import operator
from collections.abc import Mapping
from typing import Any, Callable

import numpy as np
import numpy.typing as npt

from raydex import _raydex
from raydex._arguments import flag
from raydex._array_libraries import is_of
from raydex._arrow import Bitmap, HostCells, StringCells, is_arrow, is_arrow_alone, repeated_string, view
from raydex._batches import AnyBatch, Points
from raydex._columns import Column, column_of, longer_texts, read_as, role_of, says_nothing, short_texts
from raydex._devices import Device
from raydex._dictionaries import ends_of_prefixes
from raydex._errors import InvalidArgument, Unsupported
from raydex._frames import check_labels, check_one_table, is_series, series_like
from raydex._index import Index
from raydex._joins import key_columns, natives
from raydex._kept import NO_FACTS, facts_of, note_of
from raydex._keys import TEXTS, Key, facts_of_key, format_of, key_of_facts
from raydex._prefixes import NO_PREFIXES, Prefixes, strings_of
from raydex._sources import Source, look, same_device

_MISSING = ("unmatched", "first", "last")
_MOST = 16


def columns_of_build(x: Any) -> tuple[list[str] | None, list[Source], bool]:
    """The columns that an index is built over, their names, and whether they make a key of several: a tuple or list of
    columns, a list of tuples, a dict, a frame or a table of several columns, an array of NumPy with fields."""
    several = _has_fields(x) or isinstance(x, Mapping) or is_of("pandas", x, "MultiIndex")
    if isinstance(x, (list, tuple)):
        several = bool(x) and all(map(is_column, x))
    if isinstance(x, np.ndarray) or not (several or is_arrow(x) or is_arrow_alone(x) or _is_frame(x)):
        if not several:
            return (None, [look("column", x)], False)
    names, sources = _columns("column", x)
    if not several and len(sources) == 1:
        sources[0].argument = "column"
    return (names, sources, several or len(sources) != 1)


def is_column(x: Any) -> bool:
    """Whether what a list has is a column, not a cell."""
    return isinstance(x, (list, tuple, range)) or len(getattr(x, "shape", ())) > 0 or is_arrow(x)


def _is_frame(x: Any) -> bool:
    return any(is_of(module, x, "DataFrame") for module in ("pandas", "polars", "cudf"))


def _has_fields(x: Any) -> bool:
    return isinstance(x, (np.ndarray, np.void)) and x.dtype.names is not None


def _columns(argument: str, x: Any) -> tuple[list[str] | None, list[Source]]:
    if _has_fields(x):
        return (list(x.dtype.names), [look(f"{argument}[{name!r}]", x[name]) for name in x.dtype.names])
    if is_of("pandas", x, "MultiIndex"):
        levels = [look(f"{argument}[{i}]", x.get_level_values(i)) for i in range(x.nlevels)]
        named = len(set(x.names) - {None}) == x.nlevels
        return (list(map(str, x.names)) if named else None, levels)
    if _is_list_of_keys(x):
        x = _transposed(argument, x)
    return key_columns(argument, x)


def _is_list_of_keys(x: Any) -> bool:
    return isinstance(x, list) and bool(x) and all(isinstance(one, tuple) for one in x)


def _transposed(argument: str, keys: list[tuple[Any, ...]]) -> tuple[list[Any], ...]:
    if len(set(map(len, keys))) > 1:
        raise InvalidArgument(f"{argument}: tuples of several lengths; each has a value for each column")
    return tuple(map(list, zip(*keys)))


def check_columns(sources: list[Source]) -> None:
    """Refuses what are no columns of one key."""
    if not 1 <= len(sources) <= _MOST:
        raise InvalidArgument(f"column: {len(sources)} columns; a key has 1 to {_MOST}")
    same_device(*sources)


class Packing:
    """How columns are packed: their types, their order, the dictionaries of those that are numbered."""

    def __init__(
        self, names: list[str] | None, sources: list[Source], stream: int, device: Device, descending: Any, missing: Any
    ) -> None:
        self.names = names
        self.device = device
        self._descending = [flag("descending", one) for one in _of_each("descending", descending, sources)]
        self._missing = _of_each("missing", missing, sources)
        for one in self._missing:
            if one not in _MISSING:
                raise InvalidArgument(f"missing: {one!r} is none of {', '.join(_MISSING)}")
        columns = [self._column(one, stream) for one in sources]
        self.keys = [one.key for one in columns]
        self.size = columns[0].size
        native, rows = device.run(
            _raydex.CompositeKeys.of, device.backend, device.session(), stream, natives(columns), self._descending,
            self._missing,
        )  # fmt: skip
        self._native: _raydex.CompositeKeys | None = native
        self.rows: _raydex.PackedKeys | None = rows
        """What an index is built over, until it is."""

    def _column(self, source: Source, stream: int) -> Column:
        column = column_of(source, stream, copies=True)  # packed, it is one in any case
        if column.key.dtype is not None:
            return column
        return short_texts(source, stream) or column

    def kept(self) -> tuple[dict[str, Any], bytes]:
        """What it is made of, for a file; bytes where columns are numbered."""
        facts = {
            "names": self.names, "descending": self._descending, "missing": self._missing,
            "keys": [facts_of_key(one) for one in self.keys],
        }  # fmt: skip
        if not self.native.is_numbered:
            return (facts | {"spans": self.native.spans()}, b"")
        own: bytes = self.device.run(self.native.to_bytes, self.device.session())
        return (facts | {"bytes": len(own)}, own)

    @classmethod
    def of_kept(cls, facts: dict[str, Any], own: bytes, device: Device, stream: int) -> Packing:
        """The same of a file. Raises ValueError, TypeError or KeyError for what is none."""
        made = cls.described(facts, device)
        if "spans" in facts:
            spans = [tuple(map(operator.index, one)) for one in facts["spans"]]
            if len(spans) != len(made.keys) or any(one.dtype is None for one in made.keys):
                raise ValueError("columns without their spans")
            made._native = _raydex.CompositeKeys.of_spans(
                device.backend, [one.native for one in made.keys], made._descending, made._missing, spans
            )
            return made
        if operator.index(facts["bytes"]) != len(own):
            raise ValueError("dictionaries that are not all there")
        made._native = device.run(_raydex.CompositeKeys.of_bytes, device.backend, device.session(), stream, own)
        formats = [None if one.dtype is None else format_of(one) for one in made.keys]
        if made._native.columns() != list(zip(formats, made._descending, made._missing)):
            raise ValueError("other columns than their dictionaries have")
        return made

    @classmethod
    def described(cls, facts: dict[str, Any], device: Device) -> Packing:
        """What a file says of its columns, without what packs them. Raises as `of_kept`."""
        made = cls.__new__(cls)
        made.device = device
        made.size = 0
        made.rows = None
        made._native = None
        made.names = None if facts["names"] is None else [str(one) for one in facts["names"]]
        made._descending = [bool(one) for one in facts["descending"]]
        made._missing = list(facts["missing"])
        made.keys = [key_of_facts(one) for one in facts["keys"]]
        counts = {len(one) for one in (made._descending, made._missing, made.keys)}
        if counts != {len(made.names or made.keys)} or any(one not in _MISSING for one in made._missing):
            raise ValueError("columns without all that they are")
        return made

    @property
    def native(self) -> _raydex.CompositeKeys:
        if self._native is None:
            raise InvalidArgument("index: it is closed; build another one")
        return self._native

    def column(self, p: int, source: Source, stream: int, role: str = "") -> Column:
        """A column of probes as one of the key. `role`: see `column_of`."""
        key = self.keys[p]
        source = read_as(source, key)
        return column_of(source, stream, key, True, role and role_of(source, key, role, stream))

    def close(self) -> None:
        """Frees the dictionaries."""
        self._native = None

    def descends(self, p: int) -> bool:
        return self._descending[p]

    def there(self, p: int, column: Column) -> npt.NDArray[np.bool_] | None:
        """Which cells of a column in host memory do not make their keys match nothing; None: all."""
        validity: Bitmap | None = column.kept[1]
        if validity is None or self._missing[p] != "unmatched":
            return None
        return validity.there(column.size)

    def has_short_texts(self, p: int) -> bool:
        """Whether a column is of texts of up to 8 bytes, so that longer ones are between two keys."""
        key = self.keys[p]
        return key.dtype is not None and key.dtype.kind == "S" and not key.is_whole and self.device.number is None

    def with_keys(self, native: _raydex.CompositeKeys, keys: list[Key]) -> Packing:
        """The same of columns that have grown."""
        made = copy.copy(self)
        made._native, made.keys = native, keys
        return made

    @property
    def key(self) -> Key:
        """What an index has as its key."""
        return Key(np.dtype("uint64"), str(self))

    @property
    def resident_bytes(self) -> int:
        """Bytes of the dictionaries."""
        return self.native.resident_bytes

    def __str__(self) -> str:
        return f"({', '.join(map(str, self.keys))})"


def _of_each(argument: str, value: Any, columns: list[Source]) -> list[Any]:
    if not isinstance(value, (list, tuple)):
        return [value] * len(columns)
    if len(value) != len(columns):
        raise InvalidArgument(f"{argument}: {len(value)} values, but there are {len(columns)} columns")
    return list(value)


class Probe:
    """The columns of probes."""

    def __init__(self, argument: str, x: Any, packing: Packing, is_end: bool = False) -> None:
        """`is_end`: whether None at last stands for no end."""
        self.argument = argument
        self.like: Any = None  # a Series, as answers are to be
        names: list[str] | None = None
        if _is_list_of_keys(x):
            x = _transposed(argument, x)
        if isinstance(x, Prefixes):
            x = (x,)
        if isinstance(x, tuple):
            check_one_table(argument, x)
            self.given = x
            label = argument if len(x) == 1 else argument + "[{}]"
            sources = [_look(label.format(i), one) for i, one in enumerate(x)]
            self.like = next(filter(is_series, map(strings_of, x)), None)
            if any(isinstance(one, Prefixes) for one in x[:-1]):
                raise InvalidArgument(f"{argument}: starts_with is of the last column that is given")
        else:
            names, sources = _columns(argument, x)
            self.given = (x,) if len(sources) == 1 else (None,) * len(sources)
            self.like = _series_of(x)
        most = len(packing.keys)
        if names is not None and packing.names is not None and len(names) > most and set(packing.names) <= set(names):
            names, sources = packing.names, [sources[names.index(name)] for name in packing.names]
        if not 1 <= len(sources) <= most:
            raise InvalidArgument(f"{argument}: {len(sources)} columns, but the key has {most}")
        if names is not None and packing.names is not None:
            own = packing.names[: len(names)]
            if set(names) != set(own):
                raise InvalidArgument(
                    f"{argument}: its columns are {', '.join(names)}, but the first ones of the key {', '.join(own)}; "
                    "give a tuple of columns to take them by their places"
                )
            sources = [sources[names.index(name)] for name in own]
        self.is_open = is_end and isinstance(x, tuple) and x[-1] is None
        self.is_prefix = isinstance(self.given[-1], Prefixes)
        self.size = len(sources)  # of columns
        self.sources = sources[:-1] if self.is_open else sources
        self.scalar = all(one.scalar for one in self.sources)


def _look(argument: str, x: Any) -> Source:
    """A column or a value; None is a missing one."""
    if x is not None:
        return look(argument, strings_of(x))
    source = look(argument, [None])
    source.scalar = True
    return source


def _series_of(x: Any) -> Any:
    """A column of what is a Series or has some."""
    if is_of("pandas", x, "DataFrame") and x.shape[1]:
        return x.iloc[:, 0]
    if is_of("polars", x, "DataFrame") and x.width:
        return x.to_series()
    cells = x.values() if isinstance(x, Mapping) else x if isinstance(x, list) else [x]
    return next(filter(is_series, cells), None)


def _in_step(columns: list[Column], sources: list[Source]) -> list[Column]:
    """Columns of one size: single values are repeated."""
    sizes = [one.size for one, source in zip(columns, sources) if not source.scalar]
    return [
        _repeated(one, source, sizes[0]) if sizes and source.scalar else one for one, source in zip(columns, sources)
    ]


def _repeated(column: Column, source: Source, size: int) -> Column:
    if source.library.device is not None:
        raise InvalidArgument(f"{source.argument}: a single value beside columns of a GPU; give a column of them")
    cells = column.kept[0]
    validity: Bitmap | None = column.kept[1]
    there = validity is None or bool(validity.there(1)[0])
    missing = None if there else Bitmap.of(np.zeros(size, bool))
    if isinstance(cells, StringCells):
        cells = repeated_string(cells, size, missing)
    else:
        cells = HostCells(np.repeat(cells, size), missing, column.key.unit)
    made = column_of(Source(source.argument, None, source.library, cells), 0, column.key)
    made.no_key = None if column.no_key is None else np.repeat(column.no_key, size)
    return made


class CompositePoints(Points):
    """Keys of all columns that are joined, inserted or erased."""

    def __init__(self, packing: Packing, probe: Probe, inserts: bool) -> None:
        super().__init__(probe.sources[0], packing.keys[0], inserts)
        if probe.size != len(packing.keys):
            raise InvalidArgument(f"{probe.argument}: {probe.size} columns, but the key has {len(packing.keys)}")
        same_device(*probe.sources)
        self._packing, self._probe = packing, probe

    def read(self, column: Callable[[int, Source], Column]) -> list[Column]:
        """The columns, each as a call reads it."""
        packing, sources = self._packing, self._probe.sources
        for p, one in enumerate(sources):
            if packing.keys[p].is_void and not says_nothing(one):
                raise InvalidArgument(
                    f"keys: the index was built of a column {p + 1} without a cell that says what it is of; build it "
                    "again over these rows, too, or over numpy.array([], dtype)"
                )
        return _in_step([column(p, one) for p, one in enumerate(sources)], sources)

    def fit(self, stream: int) -> bool:
        packing = self._packing
        self._columns = self.read(
            lambda p, one: longer_texts(one, packing.keys[p], stream) or packing.column(p, one, stream, "kept")
        )
        self.column = self._columns[0]
        if [one.key for one in self._columns] != packing.keys:
            return False
        return packing.device.run(packing.native.holds, packing.device.session(), stream, natives(self._columns))

    def grown(self, over: _raydex.Index, rows: Column, stream: int) -> tuple[_raydex.Index, Packing]:
        """An index in the place of one that has no place for them, with these, and how its columns are packed."""
        packing, device = self._packing, self._packing.device
        cells = natives(self._columns)
        native, made = device.run(packing.native.grown, device.session(), stream, over, cells, rows.native)
        return (made, packing.with_keys(native, [one.key for one in self._columns]))

    def native(self, stream: int) -> Any:
        packing, sources = self._packing, self._probe.sources
        if self._inserts:
            columns = self._columns
            pack = packing.native.pack_rows
            packed = packing.device.run(pack, packing.device.session(), stream, natives(columns))
        else:
            columns = _in_step([packing.column(p, one, stream) for p, one in enumerate(sources)], sources)
            packed = _packed_points(packing, columns, stream)
        self.kept = (columns, packed)
        return packed.column


def _packed_points(packing: Packing, columns: list[Column], stream: int) -> _raydex.PackedKeys:
    session, cells = packing.device.session(), natives(columns)
    packed = packing.device.run(packing.native.pack_points, session, stream, cells)
    none = _no_keys(columns)
    if none is not None:
        [numbers] = _numbers(packing, [packed], len(none))
        numbers[none] = np.iinfo(numbers.dtype).max  # which no key has, unless there is a bitmap
        if packed.validity:
            bits = view(packed.validity, (len(none) + 7) // 8, np.uint8, packed)
            bits &= ~np.packbits(none, bitorder="little")
    return packed


def _no_keys(columns: list[Column]) -> npt.NDArray[np.bool_] | None:
    """Which probes have a value that is none of the keys' type. It is no missing one, which may match."""
    found = [one.no_key for one in columns if one.no_key is not None]
    return np.logical_or.reduce(found) if found else None


class CompositeBatch(AnyBatch):
    """Probes of a key of several columns."""

    __slots__ = ()

    def __init__(self, index: CompositeIndex, lower: Any, upper: Any, stream: Any, side: str = "") -> None:
        """`side`: that of the closest keys, as of `column_of`."""
        self.native, packing = index._version
        probe = Probe("points" if upper is None else "lower", lower, packing, upper is not None)
        end = None if upper is None else Probe("upper", upper, packing, True)
        sources = [*probe.sources, *(() if end is None else end.sources)]
        if not sources:
            raise InvalidArgument("lower: neither end is given")
        same_device(*sources)
        if end is not None:
            check_labels(probe.like, end.like)
        self.library = sources[0].library
        index._check_device(sources[0].argument, self.library)
        number, kept = self.library.stream_for(stream)
        index._streams[number] = kept
        self.stream = number
        self.shape, self._probes, self._source = None, lower, sources[0]
        self.is_aside, self.before = False, None
        self._index = index
        self._scalar = probe.scalar and (end is None or end.scalar)
        self._like = probe.like if end is None or probe.like is not None else end.like
        if probe.is_prefix or (end is not None and end.is_prefix):
            if side or end is not None:
                raise InvalidArgument(NO_PREFIXES.format("points"))
            self._columns, begin, last = self._of_prefixes(packing, probe)
        elif side:
            self._columns, begin, last = self._of_places(packing, probe, side)
        elif end is None:
            self._columns, begin, last = self._of_points(packing, probe)
        else:
            self._columns, begin, last = self._of_range(packing, probe, end)
        self.size = begin.size
        self.arguments = (index._session, number, begin, last)

    def _of_points(self, packing: Packing, probe: Probe) -> tuple[Any, Any, Any]:
        columns = [packing.column(p, one, self.stream) for p, one in enumerate(probe.sources)]
        columns = _in_step(columns, probe.sources)
        if probe.size < len(packing.keys):
            return self._ranges(packing, columns, None, None)
        packed = _packed_points(packing, columns, self.stream)
        return ((columns, packed), packed.column, None)

    def _of_places(self, packing: Packing, probe: Probe, side: str) -> tuple[Any, Any, Any]:
        # A value between two keys of its column would be on one side of all that follow it: texts are.
        texts = [packing.has_short_texts(p) for p in range(probe.size)]
        roles = ["at_most" if one else "kept" for one in texts]
        columns = [packing.column(p, one, self.stream, roles[p]) for p, one in enumerate(probe.sources)]
        columns = _in_step(columns, probe.sources)

        def pack(of: list[Column], which: str) -> _raydex.PackedKeys:
            return packing.device.run(
                packing.native.pack_closest, packing.device.session(), self.stream, natives(of), which
            )

        packed = pack(columns, side)
        # One that is no key lies behind the greatest string that is less, or before it where the column descends.
        for p in reversed([p for p, one in enumerate(texts) if one]):
            no_key = packing.column(p, probe.sources[p], self.stream).no_key
            if no_key is None:
                continue
            if packing.descends(p):
                which = "at_least" if side in ("at_least", "above") else "below"
            else:
                which = "above" if side in ("at_least", "above") else "at_most"
            where = np.array(np.broadcast_to(no_key, columns[0].size))
            for q in range(p + 1, len(columns)):
                there = packing.there(q, columns[q])
                where &= True if there is None else there
            _merge(packing, packed, pack(columns[: p + 1], which), where)
        return ((columns, packed), packed.column, None)

    def _of_range(self, packing: Packing, lower: Probe, upper: Probe) -> tuple[Any, Any, Any]:
        last = lower.size - 1
        if upper.size not in (1, lower.size):
            raise InvalidArgument(
                f"upper: {upper.size} columns, but lower has {lower.size}; give as many, or the ends alone"
            )
        if upper.size == lower.size:
            self._check_equal(packing, lower, upper)
        sources = lower.sources[:last]
        columns = [packing.column(p, one, self.stream) for p, one in enumerate(sources)]
        for probe, role in ((lower, "at_least"), (upper, "at_most")):
            if not probe.is_open:
                sources = [*sources, probe.sources[-1]]
                columns.append(packing.column(last, probe.sources[-1], self.stream, role))
        columns = _in_step(columns, sources)
        ends = iter(columns[last:])
        begin = None if lower.is_open else next(ends)
        return self._ranges(packing, columns[:last], begin, None if upper.is_open else next(ends))

    def _of_prefixes(self, packing: Packing, probe: Probe) -> tuple[Any, Any, Any]:
        last = probe.size - 1
        columns = [packing.column(p, one, self.stream) for p, one in enumerate(probe.sources[:last])]
        key, source = packing.keys[last], probe.sources[last]
        if key == TEXTS:
            columns = _in_step([*columns, packing.column(last, source, self.stream)], probe.sources)
            return self._packed(packing, columns, packing.native.pack_prefixes, columns[:last], columns[last].native)
        ends = ends_of_prefixes(source, key, None, self.stream)
        columns = _in_step([*columns, *ends], [*probe.sources, source])
        return self._ranges(packing, columns[:last], *columns[last:])

    def _ranges(
        self, packing: Packing, equal: list[Column], lower: Column | None, upper: Column | None
    ) -> tuple[Any, Any, Any]:
        return self._packed(
            packing, (equal, lower, upper), packing.native.pack_ranges, equal, lower and lower.native,
            upper and upper.native,
        )  # fmt: skip

    def _packed(
        self, packing: Packing, kept: Any, pack: Callable[..., Any], equal: list[Column], *bounds: Any
    ) -> tuple[Any, Any, Any]:
        begin, end = packing.device.run(pack, packing.device.session(), self.stream, natives(equal), *bounds)
        none = _no_keys(equal)
        if none is not None:
            for numbers, empty in zip(_numbers(packing, (begin, end), len(none)), (1, 0)):
                numbers[none] = empty
        return ((kept, begin, end), begin.column, end.column)

    def _check_equal(self, packing: Packing, lower: Probe, upper: Probe) -> None:
        """Refuses ends that differ before the last column."""
        last = lower.size - 1
        pairs = list(zip(lower.given, upper.given, lower.sources, upper.sources))[:last]
        if all(a is b and a is not None or (x.scalar and y.scalar and _same(a, b)) for a, b, x, y in pairs):
            return
        if self.library.device is not None:
            raise InvalidArgument("upper: of columns of a GPU give the ends of the last one alone, as (a, begin), end")
        found = []
        for probe in (lower, upper):
            sources = probe.sources[:last]
            columns = _in_step([packing.column(p, one, 0) for p, one in enumerate(sources)], sources)
            kept, _, _ = self._ranges(packing, columns, None, None)
            found.append(_numbers(packing, kept[1:], columns[0].size)[0])
        if len({1, *map(len, found)}) > 2:
            raise InvalidArgument(f"upper: {len(found[1])} keys, but lower has {len(found[0])}")
        if (found[0] != found[1]).any():
            raise InvalidArgument(
                "upper: it differs from lower before the last column; a range is of the last column that is given, and "
                "the columns before it are the same at both ends"
            )

    @property
    def is_series(self) -> bool:
        return self._like is not None and self.library.device is None

    def like_probes(self, found: Any, none: Any = None) -> Any:
        return found if self.library.device is not None else series_like(self._like, found, none, None)


def _merge(packing: Packing, into: _raydex.PackedKeys, of: _raydex.PackedKeys, where: npt.NDArray[np.bool_]) -> None:
    """Replaces some packed keys in host memory; both have a bitmap."""
    size = len(where)
    numbers, others = _numbers(packing, (into, of), size)
    numbers[where] = others[where]
    bits, other_bits = (view(one.validity, (size + 7) // 8, np.uint8, one) for one in (into, of))
    chosen = np.packbits(where, bitorder="little")
    bits[:] = (bits & ~chosen) | (other_bits & chosen)


def _same(a: Any, b: Any) -> bool:
    return bool(type(a) is type(b) and a == b)


def _numbers(packing: Packing, packed: Any, size: int) -> list[npt.NDArray[Any]]:
    """The numbers of packed keys in host memory."""
    return [view(one.data, size, "u4" if packing.native.is_narrow else "u8", one) for one in packed]


class CompositeIndex(Index):
    """An index over several columns, made by `raydex.build`. It answers what an `Index` does, of keys that have a value
    for each column.

        >>> import raydex
        >>> index = raydex.build(([7, 7, 9, 7], [1, 2, 1, 31]))
        >>> index.first(([7, 9], [31, 2]))
        array([ 3, -1])
        >>> index.count([7, 8])  # of the first column alone
        array([3, 0])
        >>> index.rows((7, 2), (7, 40)).rows
        array([1, 3])

    *Probes* are as many columns as the key has: a tuple or list of columns, a dict, a frame, a table. Columns that have
    names on both sides are matched by these, others by their places. A tuple of single values is one key, a list of
    tuples are several; beside columns a single value is that of each probe. *Fewer columns* are the first ones of the
    key: all rows with these values match. *Ranges* are of the last column that is given, both ends included:
    `rows((a, begin), (a, end))`, or shorter `rows((a, begin), end)`; the columns before it are the same at both ends.
    None in place of an end, `(a, None)`, leaves that side open; both ends open are the columns before alone. All
    strings that begin with others are `(a, raydex.starts_with(b))`.

    *Missing* values match nothing, and a row with one is not in the index; of a column built with `missing="first"` or
    `"last"` they equal each other, and are in no range of this column. A value less than all of its column, or greater,
    matches nothing. NaN equals NaN, in `isin`, too.

    *Edits*: `insert` and `append` take any values of the columns' types, and texts of any length. The index is built
    again where a value lies beyond those that its column had, or between their steps, or is a new one in a column that
    a dictionary numbers, as strings and values far apart; on a GPU its keys go through host memory for it. A column
    that grows gets room for as much again, if the bits suffice, so that days that come one by one have it built again
    as often as they have doubled.

    *Ranks*, predecessors and successors are in the order of all columns; to fewer columns all keys are equal that begin
    with these. Their points are of the keys' own types; texts may be any. Columns that take each number of 32 or 64
    bits have none. All else is as of `Index`; a frame is looked up with its labels.
    """

    __module__ = "raydex"

    def __init__(self, native: Any, packing: Packing, kept: Any, stream: int) -> None:
        self._packing = packing
        super().__init__(native, packing.device, packing.key, kept, stream)
        self._version = (native, packing)

    def _insert_new(self, keys: Any, rows: Column, stream: int) -> None:
        self._native, self._packing = self._version = keys.grown(self._native, rows, stream)
        self._key = self._packing.key

    def _probe_bytes(self, *native: Any) -> None:
        return None  # probes are packed first

    def _own_bytes(self) -> int:
        return self._packing.resident_bytes

    def _note(self, beside: Mapping[str, Any] = NO_FACTS) -> bytes:
        self._check_open()
        facts, own = self._packing.kept()
        return note_of({"composite": facts, "next_row": self._next_row, **beside}) + own

    @staticmethod
    def _made_note(note: bytes) -> bool:
        """Whether such an index made it."""
        try:
            found = facts_of(note)
        except (ValueError, TypeError, RecursionError):
            return False
        return found is not None and "composite" in found[0]

    @classmethod
    def _of_facts(
        cls, native: Any, facts: dict[str, Any], note: bytes, end: int, device: Device, stream: int, kept: Any
    ) -> Index:
        packing = Packing.of_kept(facts["composite"], note[end:], device, stream)
        if packing.native.format != native.info()[2]:
            raise ValueError("columns of other keys")
        return CompositeIndex(native, packing, kept, stream)

    def _batch(self, lower: Any, upper: Any, stream: Any, role: str = "", flat: bool = False) -> CompositeBatch:
        return CompositeBatch(self, lower, upper, stream, role)

    def _labelled(self, points: Any) -> Any:
        return _series_of(list(points) if isinstance(points, tuple) else points)

    def _rank(self, points: Any, behind: bool, stream: Any) -> Any:
        if self._packing.native.is_full():
            raise Unsupported(
                "rank: the columns take each number of their bits, so that what is greater than all keys has none; ask "
                "count of ranges"
            )
        batch = self._batch(points, None, stream, "above" if behind else "at_least")
        return batch.answer("int64", batch.native.rank, *batch.points, False)

    def _closest(self, points: Any, before: bool, strict: bool, stream: Any) -> Any:
        flag("strict", strict)
        side = ("below" if strict else "at_most") if before else ("above" if strict else "at_least")
        batch = self._batch(points, None, stream, side)
        return batch.answer("int64", batch.native.closest, *batch.points, before, False)

    def _over(self, native: Any, kept: Any) -> Index:
        return CompositeIndex(native, copy.copy(self._packing), kept, self._stream)

    def _free(self) -> None:
        try:
            if self._packing.native.is_numbered:  # by dictionaries, which go on the stream that they were made on
                self._synchronise()
            super()._free()
        finally:
            self._packing.close()
            self._version = (self._native, self._packing)

    def _points(self, argument: str, x: Any, inserts: bool = False) -> CompositePoints:
        probe = Probe(argument, x, self._packing)
        if probe.is_prefix:
            raise InvalidArgument(NO_PREFIXES.format(argument))
        return CompositePoints(self._packing, probe, inserts)


def index_of_note(native: Any, note: bytes, device: Device, stream: int, kept: Any) -> Index:
    """The index that was loaded with a note, be it over one column or several."""
    kind = CompositeIndex if CompositeIndex._made_note(note) else Index
    return kind._of_note(native, note, device, stream, kept)
