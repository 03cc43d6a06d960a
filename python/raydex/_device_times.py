# SPDX-License-Identifier: Apache-2.0
"""Times on a GPU in a finer unit. Of what is there Arrow's columns alone say a unit, such as cuDF's; CuPy, which is
beside cuDF, computes."""

from __future__ import annotations

import sys
from typing import Any

from raydex._array_libraries import CupyLibrary, cupy_library
from raydex._arrow import DeviceCells
from raydex._errors import InvalidArgument, InvalidType
from raydex._keys import Key
from raydex._times import Time

_MOST = 2**63 - 2  # and one more, for what is beside a key
_BESIDE = {"below": -1, "above": 1}


def in_unit(
    argument: str, cells: DeviceCells, own: Time, want: Time, key: Key, device: int, stream: int, role: str = ""
) -> DeviceCells:
    """Times in another unit, which those of `own` are multiples of, by a copy; `role` as of `column_of`. Waits for
    the stream, to refuse what the unit does not hold."""
    cupy = sys.modules.get("cupy")
    times, rest = divmod(own.size, want.size)
    if cupy is None or rest != 0 or own.is_calendar != want.is_calendar or key.dtype is None:
        need = "import cupy, which converts them" if rest == 0 else "convert the keys to the finer unit"
        raise InvalidType(f"{argument}: they are {own}, beside {want}, on a GPU; {need}, or copy them to the host")
    library = cupy_library(device)
    with library.on(stream):
        counts = library.over(cells.address, cells.size, f"<i{cells.dtype.itemsize}", cells.kept)
        counts = counts.astype("int64")
        made, is_beyond = scaled(counts, times, _there(cupy, library, cells), role)
    if is_beyond:
        raise InvalidArgument(
            f"{argument}: some of them are beyond what {want} holds, and on a GPU all are converted to it; copy the "
            "columns to the host, where they are compared exactly"
        )
    bits, kept = (cells.validity, cells.first_bit), (made, cells.kept)
    return DeviceCells(made, made.data.ptr, cells.size, 8, key.dtype, kept, None, 0, *bits, key.unit)


def _there(cupy: Any, library: CupyLibrary, cells: DeviceCells) -> Any:
    """Which cells are there; None for all."""
    if cells.validity == 0 or cells.size == 0:
        return None
    first, end = cells.first_bit, cells.first_bit + cells.size
    bits = library.over(cells.validity, (end + 7) // 8, "|u1", cells.kept)
    return cupy.unpackbits(bits, bitorder="little")[first:end].astype(bool)


def scaled(counts: Any, times: int, there: Any, role: str) -> tuple[Any, bool]:
    """Integers times a number, or what is beside that, and whether it is beyond 64 bits for one that is there."""
    most = _MOST // times
    beyond = (counts > most) | (counts < -most)
    if there is not None:
        beyond &= there
    return (counts * min(times, _MOST) + _BESIDE.get(role, 0), bool(beyond.any()))
