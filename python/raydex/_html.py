# SPDX-License-Identifier: Apache-2.0
"""Tables of HTML, as notebooks show indexes and results."""

from __future__ import annotations

import html
from collections.abc import Mapping, Sequence
from typing import Any

_SHOWN = 10  # rows of a result
_CAPTION = "<caption style='text-align: left; white-space: nowrap'>"  # the table may be narrower


def _row(cells: Sequence[object], tag: str) -> str:
    return "<tr>" + "".join(f"<{tag}>{html.escape(str(cell))}</{tag}>" for cell in cells) + "</tr>"


def facts(name: str, values: Mapping[str, object]) -> str:
    """What something is: a line for each fact."""
    body = "".join(_row(one, "td") for one in values.items())
    return f"<table>{_CAPTION}{html.escape(name)}</caption><tbody>{body}</tbody></table>"


def columns(name: str, values: Mapping[str, Any]) -> str:
    """The first rows of columns of one size, with their numbers."""
    if not all(hasattr(one, "__getitem__") for one in values.values()):  # a `DeviceArray`
        return facts(name, values)
    size = len(next(iter(values.values())))
    rows = zip(*(one[:_SHOWN].tolist() for one in values.values()))
    return _table(name, size, list(values), [[at, *cells] for at, cells in enumerate(rows)])


def lists(name: str, offsets: Any, rows: Any) -> str:
    """The first lists of a column of them, each with its first cells."""
    if not (hasattr(offsets, "__getitem__") and hasattr(rows, "__getitem__")):
        return facts(name, {"offsets": offsets, "rows": rows})
    ends = offsets[: _SHOWN + 1].tolist()
    shown = []
    for at, (begin, end) in enumerate(zip(ends, ends[1:])):
        cells = rows[begin : min(end, begin + _SHOWN)].tolist()
        shown.append([at, end - begin, ", ".join(map(str, cells)) + (", …" if end - begin > _SHOWN else "")])
    return _table(name, len(offsets) - 1, ["matches", "rows"], shown)


def _table(name: str, size: int, names: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    left = f", the first {len(rows)} of {size}" if len(rows) < size else f", {size} in all"
    body = "".join(_row(one, "td") for one in rows)
    return (
        f"<table>{_CAPTION}{html.escape(name + left)}</caption><thead>{_row(['', *names], 'th')}</thead>"
        f"<tbody>{body}</tbody></table>"
    )
