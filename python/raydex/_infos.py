# SPDX-License-Identifier: Apache-2.0
"""What an index says of itself, and how such facts are shown."""

from __future__ import annotations

from dataclasses import dataclass

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
