# SPDX-License-Identifier: Apache-2.0
"""Probes for all strings that begin with others."""

from __future__ import annotations

from typing import Any

from raydex.typing import ColumnLike


class Prefixes:
    """What `raydex.starts_with` makes."""

    __slots__ = ("strings",)

    def __init__(self, strings: Any) -> None:
        self.strings = strings

    def __repr__(self) -> str:
        return f"raydex.starts_with({self.strings!r})"


def starts_with(strings: ColumnLike) -> Prefixes:
    """Probes for all keys that begin with a string each, in place of points or ranges.

        >>> import raydex
        >>> index = raydex.build(["https://a.org/x", "https://b.org", "ftp://a.org", "https://a.org"])
        >>> index.count(raydex.starts_with(["https://", "https://a", "gopher"]))
        array([3, 2, 0])

    An index over texts or bytes takes them: `first`, `count`, `contains`, `isin`, `bitset`, `rows`, `lookup`, `sum`,
    and those of `raydex.aggregate`. One over several columns takes them at last, `(a, raydex.starts_with(b))`. All keys
    begin with the empty string; a missing one matches nothing. Bytes are compared, so that a prefix of text is one of
    whole characters. Cost: that of a range."""
    return Prefixes(strings)


NO_PREFIXES = "{}: starts_with is a range of keys; give it alone, in place of points, where ranges are taken"


def strings_of(probes: Any) -> Any:
    """The strings of prefixes; other probes as they are."""
    return probes.strings if isinstance(probes, Prefixes) else probes
