# SPDX-License-Identifier: Apache-2.0
"""What an index says of itself, and how such facts are shown."""

from __future__ import annotations

from dataclasses import dataclass

from raydex import _raydex
from raydex._errors import Unsupported
from raydex.typing import DeviceName, StructureName


@dataclass(frozen=True)
class IndexInfo:
    """What an index is and what it holds. `build_peak_bytes` leaves out what it took to sort or hash strings."""

    structure: StructureName
    """The name of the structure."""
    backend: str
    """`cpu`, `cuda` or `optix`."""
    device: DeviceName
    """The same with the number of a GPU: `cuda:0`."""
    key: str
    """The type of its keys."""
    row_id_bits: int
    """32 or 64."""
    n: int
    """Rows of the column."""
    entries: int
    """Rows that are not missing, and what edits have added."""
    max_row_id: int
    """The largest row that it was given, of missing keys and erased entries, too; 0 without any."""
    options: dict[str, str]
    """The options in force."""
    resident_bytes: int
    """Bytes held, measured."""
    build_peak_bytes: int
    """The most bytes allocated at once during the build, measured."""
    probe_bytes: dict[str, int] | None
    """Bytes that calls allocate for each probe at most, as `Estimate.probe_bytes` has them. None where nobody says so
    before: of strings of any length, of several columns, on `optix`, and of `rx` with `primitives="rows"` or
    `inverse`."""


def probe_bytes_of(
    structure: str, backend: str, key: str, entries: int, row_id_bits: int, options: dict[str, str]
) -> dict[str, int] | None:
    """What calls of an index take that is there."""
    try:
        return _raydex.estimate(
            structure, backend, _raydex.Format(key), entries, row_id_bits == 64, False, 0, 0, options
        )[3]
    except Unsupported:
        return None


def bytes_as_text(count: int) -> str:
    size = float(count)
    for unit in ("bytes", "KiB", "MiB"):
        if size < 1024:
            return f"{size:.4g} {unit}"
        size /= 1024
    return f"{size:.4g} GiB"


def options_of(text: str) -> dict[str, str]:
    pairs = (one.partition("=") for one in text.split())
    return {name: value for name, _, value in pairs}
