# SPDX-License-Identifier: Apache-2.0
"""How many bytes an index takes, before there is one."""

from __future__ import annotations

import operator
from dataclasses import dataclass
from typing import Any, Literal, cast

import numpy as np
import numpy.typing as npt

from raydex import _raydex
from raydex._arguments import flag, option_texts
from raydex._columns import column_of
from raydex._devices import parse_device
from raydex._errors import InvalidArgument, InvalidType, Unsupported
from raydex._infos import bytes_as_text
from raydex._sources import look
from raydex.typing import ColumnLike, DeviceLike, KeyOptions, StructureName, Unpack


@dataclass(frozen=True, repr=False)
class Estimate:
    """Bytes that an index will take."""

    structure: StructureName
    """The name of the structure."""
    n: int
    """Rows of the column."""
    resident_bytes: int
    """Bytes that it will hold, as `Index.info` measures them."""
    build_peak_bytes: int
    """The most bytes that its build will have allocated at once."""
    probe_bytes: dict[str, int]
    """Bytes that calls allocate for each probe at most, by their names. `closest` is of `predecessor` and `successor`;
    those of `rows` have its offsets among them, and `match` is for each match of it. They are of points; `first` of
    ranges may take what `sum` does."""

    def __repr__(self) -> str:
        each = f", {self.resident_bytes / self.n:.4g} a row" if self.n else ""
        return (
            f"raydex.Estimate({self.structure} of {self.n} rows: {bytes_as_text(self.resident_bytes)}{each}; "
            f"{bytes_as_text(self.build_peak_bytes)} at the peak of its build)"
        )


def estimate(
    column: int | ColumnLike,
    structure: StructureName = "auto",
    device: DeviceLike = None,
    *,
    dtype: npt.DTypeLike = "int64",
    row_id_bits: Literal[32, 64] = 32,
    ascending: bool = False,
    different: int = 0,
    span: int = 0,
    **options: Unpack[KeyOptions],
) -> Estimate:
    """Says how many bytes an index will take, by arithmetic, before anything is allocated.

        >>> import raydex
        >>> raydex.estimate(10**8, "sorted_array")
        raydex.Estimate(sorted_array of 100000000 rows: 1.118 GiB, 12 a row; 2.237 GiB at the peak of its build)

    Parameters
    ----------
    column
        How many rows have a key; or a column, whose length and type count.
    structure
        As for `raydex.build`, with `auto`.
    device
        `cpu` or `cuda`, which need not be on this machine; by default where the column is.
    dtype
        Of a number of rows: the type of their keys.
    row_id_bits
        Of row ids; 64 in any case from 2**32 - 1 rows on.
    ascending
        Whether the keys ascend.
    different
        How many keys differ, which `direct`, `rx` and hash tables need; 0: not known.
    span
        Of integers: the largest key less the smallest one, and 1, which `direct` needs; 0: not known.
    options
        Of the structure, by name.

    Returns
    -------
    Estimate
        The figures are right to 1 % or 1 MB where what they need is known. Otherwise an index takes them at most: a
        `pivot_tree` with `nodes="auto"` holds up to 9 % less, and the scene of `cgrx` and `rx` takes down to half.
        A few equal keys more than double a hash table, so that it pays to say how many differ.

    Raises
    ------
    InvalidArgument, InvalidType
        For facts that contradict each other, for what is no column, and for words and options that are not legal.
    Unsupported
        For strings of any length and keys of several columns, whose bytes depend on them; on `optix`, where the driver
        decides; and for `rx` with `primitives="rows"` or `inverse`.

    Cost
    ----
    Microseconds; of lists, and of columns that `raydex.build` copies, that copy.
    """
    if isinstance(column, tuple):
        raise Unsupported("column: what keys of several columns take depends on them; build the index and see its info")
    is_count = isinstance(column, (int, float, np.integer)) and not isinstance(column, bool)
    source = look("dtype", _no_cells(dtype)) if is_count else look("column", column)
    if source.scalar:
        raise InvalidType(f"column: {column!r} is none; give a column, or how many rows it has")
    keys = column_of(source, source.library.stream_for(None)[0])
    n = _whole("column", column) if is_count else keys.size
    if row_id_bits not in (32, 64):
        raise InvalidArgument(f"row_id_bits: {row_id_bits!r}; give 32 or 64")
    if keys.key.dtype is None:
        raise Unsupported(
            f"{source.argument}: what strings of any length take depends on them; give 'S8' for those of up to 8 "
            "bytes, or build the index and see its info"
        )
    if device is None:
        backend = source.library.device_for(None, structure).backend
    else:
        backend, _ = parse_device(device)
    name, resident, peak, calls = _raydex.estimate(
        structure, backend, keys.key.native, n, row_id_bits == 64, flag("ascending", ascending),
        _whole("different", different), _whole("span", span), option_texts(options, structure, estimate),
    )  # fmt: skip
    return Estimate(cast(StructureName, name), n, resident, peak, calls)


def _whole(name: str, number: Any) -> int:
    """A number as the library takes it; 1e8 is one, too."""
    whole = int(number) if isinstance(number, float) and number.is_integer() else number
    try:
        whole = operator.index(whole)
    except TypeError:
        raise InvalidType(f"{name}: {number!r} is no whole number") from None
    if not 0 <= whole < 2**64:
        raise InvalidArgument(f"{name}: {number}; give a number from 0 to 2**64 - 1")
    return whole


def _no_cells(dtype: npt.DTypeLike) -> npt.NDArray[Any]:
    try:
        own = np.dtype(dtype)
    except TypeError as problem:
        raise InvalidType(f"dtype: {dtype!r} is none of NumPy's; give 'int64' or its like") from problem
    if own.kind == "U" or own.itemsize == 0:
        raise Unsupported(f"dtype: {dtype!r} is of texts, whose bytes depend on them; give 'S8' for up to 8 bytes")
    return np.empty(0, own)
