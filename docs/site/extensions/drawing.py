# SPDX-License-Identifier: Apache-2.0
"""What pictures are drawn with, and the column that most of them show."""

import html
from collections.abc import Container, Iterable, Sequence
from typing import Any

COLUMN = [50, 20, 40, 20, 30, 72, 11, 64, 86, 36, 56, 16, 28, 48, 53, 32]
ENTRIES = sorted((key, row) for row, key in enumerate(COLUMN))
KEYS = [key for key, _ in ENTRIES]

WIDTH = 520
CELL = 28  # of a cell with two digits
HIGH = 24
LEFT = (WIDTH - len(KEYS) * CELL) / 2


def middle(i: int) -> float:
    """Where the middle of a cell is, in a row of all."""
    return LEFT + (i + 0.5) * CELL


class Drawing:
    """A drawing, from left to right and from top to bottom; sizes are in the pixels of a phone."""

    def __init__(self, height: int, says: str) -> None:
        self.height = height
        self.says = says
        self.parts: list[str] = []

    def add(self, tag: str, text: str = "", **attributes: Any) -> None:
        """An element; of names that end in an underscore, such as `class_`, that is left out."""
        given = "".join(
            f' {name.rstrip("_").replace("_", "-")}="{html.escape(str(value))}"'
            for name, value in attributes.items()
        )
        self.parts.append(f"<{tag}{given}>{html.escape(text)}</{tag}>")

    def text(self, x: float, y: float, text: str, kind: str = "", anchor: str = "start") -> None:
        """A line of text, whose base line is at y."""
        self.add("text", text, x=x, y=y, class_=kind, text_anchor=anchor)

    def box(self, x: float, y: float, width: float, height: float, kind: str = "") -> None:
        """A rectangle."""
        self.add("rect", x=x, y=y, width=width, height=height, rx=3, class_=kind)

    def cells(
        self,
        x: float,
        y: float,
        values: Sequence[int | None],
        hits: Container[int] = (),
        kind: str = "",
        width: float = CELL,
    ) -> None:
        """A row of cells; those at `hits` stand out, and None is a free one."""
        for i, value in enumerate(values):
            free = "free" if value is None else ""
            self.box(x + i * width, y, width, HIGH, f"cell {kind} {'hit' if i in hits else free}")
            if value is not None:
                self.text(x + (i + 0.5) * width, y + 17, str(value), "code", "middle")

    def numbers(self, x: float, y: float, values: Iterable[int], width: float = CELL) -> None:
        """Small numbers above or below cells."""
        for i, value in enumerate(values):
            self.text(x + (i + 0.5) * width, y, str(value), "small code", "middle")

    def arrow(self, x1: float, y1: float, x2: float, y2: float, kind: str = "") -> None:
        """A straight arrow."""
        length = max(((x2 - x1) ** 2 + (y2 - y1) ** 2) ** 0.5, 1)
        dx, dy = (x2 - x1) / length, (y2 - y1) / length
        self.add("path", d=f"M{x1:.1f} {y1:.1f}L{x2 - 5 * dx:.1f} {y2 - 5 * dy:.1f}", class_=f"line {kind}")
        left, right = (
            (x2 - 8 * dx - 4 * dy, y2 - 8 * dy + 4 * dx),
            (x2 - 8 * dx + 4 * dy, y2 - 8 * dy - 4 * dx),
        )
        self.add(
            "path",
            d=f"M{x2:.1f} {y2:.1f}L{left[0]:.1f} {left[1]:.1f}L{right[0]:.1f} {right[1]:.1f}Z",
            class_=f"head {kind}",
        )

    def line(self, x1: float, y1: float, x2: float, y2: float, kind: str = "") -> None:
        """A line without a head."""
        self.add("path", d=f"M{x1:.1f} {y1:.1f}L{x2:.1f} {y2:.1f}", class_=f"line {kind}")

    def hop(self, x1: float, x2: float, y: float, kind: str = "") -> None:
        """An arrow in a bow above a row of cells."""
        top = y - 8 - abs(x2 - x1) * 0.14
        self.add(
            "path",
            d=f"M{x1:.1f} {y}Q{(x1 + x2) / 2:.1f} {2 * top - y:.1f} {x2:.1f} {y - 5}",
            class_=f"line {kind}",
        )
        self.add("path", d=f"M{x2:.1f} {y}l-4 -8h8Z", class_=f"head {kind}")

    def bracket(self, x1: float, x2: float, y: float, text: str, kind: str = "") -> None:
        """What several cells are together, below them."""
        self.add("path", d=f"M{x1 + 2} {y}v5H{x2 - 2}v-5", class_=f"line {kind}")
        self.text((x1 + x2) / 2, y + 19, text, f"small {kind}", "middle")

    def triangle(self, x: float, y: float, kind: str = "") -> None:
        """One that stands for a key, around its place."""
        self.add("path", d=f"M{x - 9} {y + 8}H{x + 9}L{x} {y - 8}Z", class_=f"shape {kind}")

    def svg(self) -> str:
        """The drawing as an element of HTML."""
        says = html.escape(self.says)
        return (
            f'<svg viewBox="0 0 {WIDTH} {self.height}" role="img" aria-label="{says}">'
            + "".join(self.parts)
            + "</svg>"
        )
