# SPDX-License-Identifier: Apache-2.0
"""Pictures of how structures and joins work; those of structures from one column of 16 keys.

`{picture} NAME` puts the drawing of that name into the page itself, where its colours are those of the
page, in light and in dark. What they show is computed: a search visits what it would visit.
"""

import bisect
from pathlib import Path

from docutils import nodes
from drawing import CELL, COLUMN, ENTRIES, HIGH, KEYS, LEFT, WIDTH, Drawing, middle
from join_pictures import JOINS
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

VALUES = [7, 5, 9, 6, 8, 3, 7, 2, 9, 4, 6, 8, 5, 7, 1, 6]


def column() -> Drawing:
    """The column, and what an index makes of it."""
    drawn = Drawing(
        210,
        "A column of 16 keys, and the same keys in order with their row ids. The point 20 "
        "matches two neighbours, rows 1 and 3, the range from 40 to 64 matches six.",
    )
    drawn.text(LEFT, 16, "the column; a key's row id is its position")
    drawn.numbers(LEFT, 36, range(len(COLUMN)))
    drawn.cells(LEFT, 42, COLUMN)
    drawn.text(LEFT, 102, "in order: keys with their row ids")
    begin, end = bisect.bisect_left(KEYS, 20), bisect.bisect_right(KEYS, 20)
    first, last = bisect.bisect_left(KEYS, 40), bisect.bisect_right(KEYS, 64)
    drawn.cells(LEFT, 112, KEYS, {*range(begin, end), *range(first, last)})
    drawn.cells(
        LEFT, 112 + HIGH, [row for _, row in ENTRIES], {*range(begin, end), *range(first, last)}, "second"
    )
    drawn.bracket(LEFT + begin * CELL, LEFT + end * CELL, 166, "point 20", "strong")
    drawn.bracket(LEFT + first * CELL, LEFT + last * CELL, 166, "range [40, 64]", "strong")
    rows = sorted(row for _, row in ENTRIES[begin:end])
    drawn.text(LEFT, 206, f"first = {rows[0]}, count = {len(rows)}", "small code")
    found = sorted(row for _, row in ENTRIES[first:last])
    drawn.text(middle(first) - CELL / 2, 206, f"first = {found[0]}, count = {len(found)}", "small code")
    return drawn


def sorted_array() -> Drawing:
    """The steps of a binary search."""
    wanted = 64
    drawn = Drawing(
        150, f"A binary search for {wanted} among 16 sorted keys reads four of them, far from each other."
    )
    begin, end, visited = 0, len(KEYS), []
    while begin < end:
        half = (begin + end) // 2
        visited.append(half)
        begin, end = (half + 1, end) if KEYS[half] < wanted else (begin, half)
    drawn.text(LEFT, 16, f"looking for {wanted}: each step halves what is left")
    drawn.cells(LEFT, 84, KEYS, {begin})
    drawn.cells(LEFT, 84 + HIGH, [row for _, row in ENTRIES], {begin}, "second")
    for one, other in zip(visited, visited[1:]):
        drawn.hop(middle(one), middle(other), 80, "strong")
    for step, at in enumerate(visited, 1):
        drawn.text(middle(at), 147, str(step), "small strong", "middle")
    return drawn


def pivot_tree() -> Drawing:
    """A search from the root to a leaf."""
    wanted, leaf, fan_out = 64, 2, 4
    leaves = [ENTRIES[i : i + leaf] for i in range(0, len(ENTRIES), leaf)]
    nodes_of = [leaves[i : i + fan_out] for i in range(0, len(leaves), fan_out)]
    pivots = [[below[-1][0] for below in node[:-1]] for node in nodes_of]
    root = [node[-1][-1][0] for node in nodes_of[:-1]]
    drawn = Drawing(
        216,
        f"A pivot tree: a root, nodes of three pivots, and leaves of two entries. The search for "
        f"{wanted} reads one line of each level.",
    )
    at_node = bisect.bisect_left(root, wanted)
    at_leaf = bisect.bisect_left(pivots[at_node], wanted)
    chosen = at_node * fan_out + at_leaf

    step = WIDTH / len(leaves)
    drawn.text(0, 30, "root: in fast memory", "small")
    drawn.cells(WIDTH / 2 - CELL / 2, 14, root, {0})
    for number, own in enumerate(pivots):
        x = (number + 0.5) * WIDTH / 2 - len(own) * CELL / 2
        drawn.line(
            WIDTH / 2, 14 + HIGH, x + len(own) * CELL / 2, 80, "strong" if number == at_node else "faint"
        )
        drawn.box(x - 4, 76, len(own) * CELL + 8, HIGH + 8, "frame")
        drawn.cells(x, 80, own, {i for i, pivot in enumerate(own) if number == at_node and i <= at_leaf})
        for child in range(fan_out):
            which = number * fan_out + child
            drawn.line(
                x + child * CELL,
                80 + HIGH + 4,
                (which + 0.5) * step,
                150,
                "strong" if which == chosen else "faint",
            )
    drawn.text(0, 96, "nodes", "small")
    for number, entries in enumerate(leaves):
        x = (number + 0.5) * step - CELL
        drawn.box(x - 2, 148, 2 * CELL + 4, 2 * HIGH + 4, "frame")
        hits = {i for i, (key, _) in enumerate(entries) if number == chosen and key == wanted}
        drawn.cells(x, 150, [key for key, _ in entries], hits)
        drawn.cells(x, 150 + HIGH, [row for _, row in entries], hits, "second")
    drawn.text(0, 214, "leaves: keys and row ids in one cache line", "small")
    return drawn


def hash_of(key: int) -> int:
    """As core/lookups/hashing.hpp."""
    key ^= key >> 16
    key = key * 0x85EBCA6B % 2**32
    key ^= key >> 13
    key = key * 0xC2B2AE35 % 2**32
    return key ^ key >> 16


def hash_open() -> Drawing:
    """Buckets that are filled in the order of hashes."""
    wanted, slots, homes = 64, 4, 5
    different = sorted({key: hash_of(key) for key in KEYS}.items(), key=lambda pair: pair[1])
    buckets = [[] for _ in range(homes + 1)]
    at = 0
    for key, hashed in different:
        at = max(at, hashed * homes >> 32)
        at += len(buckets[at]) == slots
        buckets[at].append(key)
    while not buckets[-1]:
        buckets.pop()
    drawn = Drawing(
        212,
        f"A hash table of buckets with four slots. The hash of {wanted} names its bucket, which is read "
        "at once. A key whose bucket is full lies in the next one. Key 20 is there once, and leads "
        "to a list of its rows, 1 and 3.",
    )
    home = hash_of(wanted) * homes >> 32
    right = 250
    drawn.text(0, 30, f"key {wanted}", "code")
    drawn.text(0, 50, f"hash {hash_of(wanted) / 2**32:.2f}", "code")
    drawn.text(0, 70, f"of {homes} buckets: {home}", "small")
    for number, own in enumerate(buckets):
        y = 8 + number * 36
        drawn.box(right - 4, y - 4, slots * CELL + 8, HIGH + 8, "frame")
        drawn.cells(
            right, y, own + [None] * (slots - len(own)), {i for i, key in enumerate(own) if key == wanted}
        )
        drawn.text(right - 12, y + 17, str(number), "small code", "end")
        for i, key in enumerate(own):
            if hash_of(key) * homes >> 32 != number:
                drawn.text(
                    right + slots * CELL + 12,
                    y + 17,
                    f"{key}: from bucket {hash_of(key) * homes >> 32}",
                    "small",
                )
            if key == 20:
                repeated = (right + (i + 0.5) * CELL, y + HIGH)
    drawn.arrow(110, 45, right - 24, 8 + home * 36 + 12, "strong")
    bottom = 8 + len(buckets) * 36
    drawn.text(0, bottom + 17, "rows of repeated keys", "small")
    drawn.cells(right, bottom, [row for key, row in ENTRIES if key == 20], (), "second")
    drawn.arrow(*repeated, right + CELL, bottom, "faint")
    return drawn


def btree() -> Drawing:
    """Pages that lie anywhere; one takes an insertion."""
    inserted, fill = 61, 6
    pages = [KEYS[i : i + fill] for i in range(0, len(KEYS), fill)]
    order = [1, 2, 0]  # where they lie
    at = next(i for i, page in enumerate(pages) if inserted <= page[-1])
    drawn = Drawing(
        214,
        f"Three pages with room for eight keys each, in any order in memory, and a directory in the "
        f"order of keys. The insertion of {inserted} writes one page.",
    )
    room, page_width = 8, 8 * 20
    drawn.text(0, 16, "directory: pages in the order of their keys, by the last one", "small")
    x0 = WIDTH / 2 - len(pages) * CELL
    drawn.cells(x0, 26, [page[-1] for page in pages], {at}, width=2 * CELL)
    for number, page in enumerate(pages):
        x = order[number] * (page_width + 20)
        own = sorted(page + [inserted]) if number == at else page
        kind = "strong" if number == at else "faint"
        drawn.arrow(x0 + (2 * number + 1) * CELL, 26 + HIGH, x + page_width / 2, 108, kind)
        drawn.box(x, 108, page_width, 3 * HIGH + 4, "frame" + (" hit" if number == at else ""))
        drawn.cells(
            x + page_width / 2 - 1.5 * CELL, 112, [own[i] for i in (1, 3, 5) if i + 1 < len(own)], (), "pivot"
        )
        for i in range(room):
            leaf, slot = divmod(i, 2)
            drawn.cells(
                x + 6 + leaf * 38,
                112 + (1 + slot) * HIGH,
                [own[i] if i < len(own) else None],
                {0} if own[i : i + 1] == [inserted] else (),
                width=34,
            )
    drawn.text(
        0, 210, "a page: a line of pivots, and its leaves side by side, with free places at the end", "small"
    )
    return drawn


def rx() -> Drawing:
    """Triangles on a plane, a ray for a point and one for a range."""
    drawn = Drawing(
        268,
        "Keys as triangles on a plane: the low bits of a key are x, those above are y. A ray meets "
        "the triangle of 36 from the front, and a ray along a row finds the first key from 66 on, 72.",
    )
    bits = 4
    left, top, dx, dy = 64, 34, 28, 34
    rows = sorted({key >> bits for key in KEYS})

    def place(key: int) -> tuple[float, float]:
        return left + (key & 15) * dx + dx / 2, top + (rows[-1] - (key >> bits)) * dy + 14

    drawn.text(0, 16, "y: the bits above", "small")
    for row in rows:
        _, y = place(row << bits)
        drawn.text(left - 12, y + 5, str(row), "small code", "end")
        drawn.line(left, y + 10, left + 16 * dx, y + 10, "faint")
    for key in sorted(set(KEYS)):
        x, y = place(key)
        drawn.triangle(x, y, "hit" if key in (36, 72) else "")
        drawn.text(x, y + 24, str(key), "small code", "middle")
    drawn.numbers(left, top + (len(rows)) * dy + 22, range(16), dx)
    drawn.text(WIDTH, top + len(rows) * dy + 40, "x: the lowest bits", "small", "end")
    x, y = place(36)
    drawn.arrow(x - 46, y + 30, x - 2, y + 2, "strong")
    drawn.text(x - 50, y + 34, "36", "small strong", "end")
    x, y = place(66)
    drawn.arrow(x - dx / 2, y, place(72)[0] - 4, y, "strong")
    drawn.text(x - dx / 2, y + 24, "[66, 79]", "small strong")
    return drawn


def cgrx() -> Drawing:
    """Triangles that span the places of their buckets."""
    size, wanted = 4, 64
    buckets = [ENTRIES[i : i + size] for i in range(0, len(ENTRIES), size)]
    last = [bucket[-1][0] for bucket in buckets]
    drawn = Drawing(
        214,
        f"Four buckets of four entries. Each has a triangle that spans the keys up to its largest one. "
        f"A ray at {wanted} meets the triangle of the bucket that has it, which is then searched.",
    )
    low, high = KEYS[0], KEYS[-1]

    def place(key: int) -> float:
        return LEFT + (key - low) / (high - low) * len(KEYS) * CELL

    chosen = bisect.bisect_left(last, wanted)
    drawn.text(LEFT, 16, "the scene: a triangle for each bucket", "small")
    begin = place(low)
    for number, key in enumerate(last):
        end = place(key)
        drawn.add(
            "path",
            d=f"M{begin + 1:.1f} 80L{begin + 1:.1f} 54L{end:.1f} 80Z",
            class_="shape" + (" hit" if number == chosen else ""),
        )
        drawn.text(end, 96, str(key), "small code", "middle")
        begin = end
    drawn.text(place(wanted), 36, str(wanted), "small strong", "middle")
    drawn.arrow(place(wanted), 40, place(wanted), 74, "strong")
    drawn.text(LEFT, 134, "the column, in buckets", "small")
    for number, bucket in enumerate(buckets):
        hits = {i for i, (key, _) in enumerate(bucket) if number == chosen and key == wanted}
        x = LEFT + number * size * CELL
        drawn.cells(x, 146, [key for key, _ in bucket], hits)
        drawn.cells(x, 146 + HIGH, [row for _, row in bucket], hits, "second")
        drawn.box(
            x + 1, 145, size * CELL - 2, 2 * HIGH + 2, "outline" + (" strong" if number == chosen else "")
        )
        middle_of = (place(last[number - 1] if number else low) + place(last[number])) / 2
        drawn.line(middle_of, 100, x + size * CELL / 2, 143, "strong" if number == chosen else "faint")
    return drawn


def rmq_cover() -> Drawing:
    """Two intervals of a table that cover a range."""
    lower, upper, shift, length = 3, 12, 1, 8
    starts = [lower >> shift << shift, (upper - length + (1 << shift)) >> shift << shift]
    least = min(range(lower, upper + 1), key=VALUES.__getitem__)
    drawn = Drawing(
        216,
        f"An array of 16 values and the range from {lower} to {upper}. Two intervals of eight values, "
        f"which begin at {starts[0]} and {starts[1]}, cover it. Both have the minimum "
        f"{VALUES[least]} at position {least}, which lies in the range.",
    )
    drawn.text(LEFT, 16, f"the smallest of positions {lower} to {upper}")
    drawn.numbers(LEFT, 36, range(len(VALUES)))
    drawn.cells(LEFT, 42, VALUES, {least})
    drawn.box(LEFT + lower * CELL, 40, (upper - lower + 1) * CELL, HIGH + 4, "outline strong")
    for step, start in enumerate(starts):
        own = min(range(start, start + length), key=VALUES.__getitem__)
        x, y = LEFT + start * CELL, 88 + step * 40
        drawn.box(x, y, length * CELL, HIGH, "cell second")
        drawn.text(x + length * CELL / 2, y + 17, f"{VALUES[own]} at {own}", "code", "middle")
        drawn.text(x - 8, y + 17, f"from {start}", "small", "end")
    drawn.text(
        LEFT, 182, "a table has the minimum of every interval of 8 values that begins at an even", "small"
    )
    drawn.text(LEFT, 198, "position; other tables have those of 2, 4, 16, ...", "small")
    return drawn


def rmq_levels() -> Drawing:
    """The search of block minima."""
    lower, upper, block = 1, 13, 4
    minima = [min(VALUES[i : i + block]) for i in range(0, len(VALUES), block)]
    first, last = -(-lower // block), (upper + 1) // block
    whole = range(first, last)
    drawn = Drawing(
        172,
        f"The same array in blocks of four with their minima above. Blocks {first} to {last - 1} lie in the "
        f"range from {lower} to {upper} as a whole; those at its ends are scanned.",
    )
    drawn.text(LEFT, 16, f"the smallest of positions {lower} to {upper}, by blocks")
    drawn.cells(LEFT, 32, minima, set(whole), "second", block * CELL)
    for number in range(len(minima)):
        kind = "strong" if number in whole else "faint"
        for side in (0, block):
            drawn.line(
                LEFT + (number + 0.5) * block * CELL,
                32 + HIGH,
                LEFT + (number * block + side) * CELL,
                96,
                kind,
            )
    scanned = {i for i in range(lower, upper + 1) if i // block not in whole}
    drawn.cells(LEFT, 98, VALUES, scanned)
    drawn.box(LEFT + lower * CELL, 96, (upper - lower + 1) * CELL, HIGH + 4, "outline strong")
    drawn.numbers(LEFT, 140, range(len(VALUES)))
    drawn.text(LEFT, 164, "read: the minima of whole blocks, and the values at both ends", "small")
    return drawn


PICTURES = {
    drawing.__name__: drawing
    for drawing in (column, sorted_array, pivot_tree, hash_open, btree, rx, cgrx, rmq_cover, rmq_levels, *JOINS)
}


class Picture(SphinxDirective):
    """`{picture} NAME`: a drawing of PICTURES, with the content as its caption."""

    required_arguments = 1
    has_content = True

    def run(self) -> list[nodes.Node]:
        if self.arguments[0] not in PICTURES:
            raise self.error(f"there is no picture {self.arguments[0]!r}")
        for name in ("pictures", "join_pictures", "drawing"):
            self.env.note_dependency(str(Path(__file__).with_name(f"{name}.py")))
        drawn = f'<div class="picture">{PICTURES[self.arguments[0]]().svg()}</div>'
        figure = nodes.figure("", nodes.raw("", drawn, format="html"), classes=["drawing"])
        if self.content:
            figure += nodes.caption("", "", *self.parse_inline("\n".join(self.content))[0])
        return [figure]


def setup(app: Sphinx) -> dict[str, bool]:
    """Called by Sphinx."""
    app.add_directive("picture", Picture)
    return {"parallel_read_safe": True}
