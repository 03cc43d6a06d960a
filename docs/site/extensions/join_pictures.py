# SPDX-License-Identifier: Apache-2.0
"""Pictures of joins: what each kind looks up, and what it reads."""

import bisect

from drawing import CELL, ENTRIES, HIGH, KEYS, LEFT, WIDTH, Drawing, middle

# Quotes of two symbols, with a time and a value each; also the rows of ranges and windows.
QUOTES = [(*"A2", 4), (*"A5", 1), (*"A6", 3), (*"A9", 2), (*"B1", 5), (*"B4", 2), (*"B5", 6), (*"B7", 1), (*"B9", 3)]
ORDER = [(symbol, int(time)) for symbol, time, _ in QUOTES]
WIDE = 44
BEGIN = (WIDTH - len(QUOTES) * WIDE) / 2

# Intervals by their lower ends.
INTERVALS = [(1, 4), (2, 11), (3, 6), (5, 9), (6, 14), (8, 10), (11, 13), (12, 15)]


def join() -> Drawing:
    """Counts, offsets and the rows of a join."""
    probes = [20, 33, 86, 48]
    found = [[row for key, row in ENTRIES if key == probe] for probe in probes]
    drawn = Drawing(
        226,
        "Four probe rows are looked up in the index over the column. They have 2, 0, 1 and 1 matches, "
        "which begin at 0, 2, 2 and 3. The rows of the join are written there.",
    )
    names = ["probe row", "key", "matches", "begins at"]
    begins = [sum(map(len, found[:i])) for i in range(len(found))]
    columns = [range(len(probes)), probes, [len(rows) for rows in found], begins]
    x, wide = 0, 68
    for name, values in zip(names, columns):
        drawn.text(x + wide / 2, 34, name, "small", "middle")
        for i, value in enumerate(values):
            drawn.cells(x, 42 + i * 30, [value], (), "second" if name == "probe row" else "", wide - 10)
        x += wide
    drawn.text(x + 130, 16, "rows of the join", "", "middle")
    drawn.text(x + 96, 34, "probe", "small", "middle")
    drawn.text(x + 164, 34, "build", "small", "middle")
    at = 0
    for i, rows in enumerate(found):
        for row in rows:
            drawn.cells(x + 66, 42 + at * 30, [i], (), "second", 60)
            drawn.cells(x + 134, 42 + at * 30, [row], {0}, "second", 60)
            drawn.arrow(x - 8, 54 + i * 30, x + 62, 54 + at * 30, "strong")
            at += 1
    drawn.text(
        0, 190, "1. a lookup for each probe row: where its matches begin, and how many they are", "small"
    )
    drawn.text(0, 206, "2. prefix sums: where its rows of the join begin", "small")
    drawn.text(0, 222, "3. every thread writes equally many rows, whatever row they belong to", "small")
    return drawn


def right_join() -> Drawing:
    """Which build rows no probe row matches."""
    probes = [20, 33, 86, 48]
    matched: set[int] = set()
    marks: dict[int, str] = {}
    for probe in probes:
        begin, end = bisect.bisect_left(KEYS, probe), bisect.bisect_right(KEYS, probe)
        matched.update(range(begin, end))
        if end - begin > 1:
            marks.update({begin: "+1", end - 1: "-1"})
        elif begin < end:
            marks[begin] = "1"
    drawn = Drawing(
        206,
        "The keys in order. Each probe row marks its match, or the first and the last one of several; sums of the "
        "marks tell what lies between these. Build rows that are not marked follow the rows of the inner join.",
    )
    drawn.text(LEFT, 16, f"probes {', '.join(map(str, probes))} mark their matches")
    drawn.cells(LEFT, 26, KEYS, matched)
    drawn.cells(LEFT, 26 + HIGH, [row for _, row in ENTRIES], matched, "second")
    for i, mark in marks.items():
        drawn.text(middle(i), 94, mark, "small code strong", "middle")
    drawn.text(LEFT, 122, "whether a build row is matched, with sums of +1 and -1", "small")
    drawn.cells(LEFT, 130, [int(i in matched) for i in range(len(KEYS))], matched)
    lone = sorted(row for i, (_, row) in enumerate(ENTRIES) if i not in matched)
    drawn.text(LEFT, 180, "written last, beside no probe row: build rows", "small")
    drawn.text(LEFT, 200, ", ".join(map(str, lone)), "small code")
    return drawn


def quotes(drawn: Drawing, y: float, hits: set[int]) -> None:
    """The quotes in the order of symbol and time."""
    drawn.cells(BEGIN, y, [f"{symbol} {time}" for symbol, time in ORDER], hits, "", WIDE)


def at(place: int) -> float:
    """Where a place among the quotes begins."""
    return BEGIN + place * WIDE


def asof_join() -> Drawing:
    """One search a trade; what is before its place is the answer."""
    trades = [("A", 8), ("B", 0), ("B", 6)]
    places = [bisect.bisect_right(ORDER, trade) for trade in trades]
    found = {place - 1 for place, trade in zip(places, trades) if place and ORDER[place - 1][0] == trade[0]}
    drawn = Drawing(
        146,
        "Quotes in the order of symbol and time. The trade of A at 8 comes behind the quote of A at 6, the trade of B "
        "at 6 behind the quote of B at 5. Before the trade of B at 0 is a quote of A, so it has none.",
    )
    drawn.text(BEGIN, 16, "trades: which quote is before the place of each?")
    quotes(drawn, 74, found)
    for trade, place in zip(trades, places):
        drawn.text(at(place), 40, f"{trade[0]} {trade[1]}", "small code strong", "middle")
        drawn.arrow(at(place), 46, at(place), 72, "strong")
        if place - 1 in found:
            drawn.bracket(at(place - 1), at(place), 104, "match", "strong")
        else:
            drawn.bracket(at(place - 1), at(place), 104, "none")
    drawn.text(BEGIN, 143, "quotes in the order of symbol and time", "small")
    return drawn


def range_join() -> Drawing:
    """Two searches; what is between them matches."""
    symbol, time, distance = "B", 5, 2
    begin = bisect.bisect_left(ORDER, (symbol, time - distance))
    end = bisect.bisect_right(ORDER, (symbol, time + distance))
    drawn = Drawing(
        136,
        f"The same quotes. Those of {symbol} within {distance} of {time} lie between the places of "
        f"{symbol} {time - distance} and {symbol} {time + distance}.",
    )
    drawn.text(BEGIN, 16, f"{symbol} {time}, distance {distance}: where {time - distance} and {time + distance} lie")
    quotes(drawn, 74, set(range(begin, end)))
    for place, end_time in ((begin, time - distance), (end, time + distance)):
        drawn.text(at(place), 40, f"{symbol} {end_time}", "small code strong", "middle")
        drawn.arrow(at(place), 46, at(place), 72, "strong")
    drawn.bracket(at(begin), at(end), 104, f"{end} - {begin} = {end - begin} matches, side by side", "strong")
    return drawn


def contains() -> Drawing:
    """Intervals at a point: those that have begun, but those that have ended."""
    point = 7
    begun = sum(lower <= point for lower, _ in INTERVALS)
    ended = sum(upper < point for _, upper in INTERVALS)
    drawn = Drawing(
        262,
        f"Eight intervals, by their lower ends. {begun} of them have begun at {point}, {ended} have ended before it, "
        f"so that {begun - ended} contain it.",
    )
    left, unit, step, top = 62, 20, 26, 34
    drawn.text(0, 16, "intervals by their lower ends")
    for row, (lower, upper) in enumerate(INTERVALS):
        hit = lower <= point <= upper
        drawn.box(left + lower * unit, top + row * step, (upper - lower) * unit, 16, "cell " + ("hit" if hit else ""))
        drawn.text(0, top + row * step + 13, f"[{lower}, {upper}]", "small code")
    drawn.line(left + point * unit, top - 8, left + point * unit, top + len(INTERVALS) * step, "strong")
    drawn.text(left + point * unit, top + len(INTERVALS) * step + 16, f"point {point}", "small strong", "middle")
    x = left + 15 * unit
    drawn.line(0, top + begun * step - 5, x + 24, top + begun * step - 5, "faint")
    drawn.text(x + 30, top + begun * step / 2, f"{begun} have begun,", "small")
    drawn.text(x + 30, top + begun * step / 2 + 18, f"{ended} have ended:", "small")
    drawn.text(x + 30, top + begun * step / 2 + 36, f"{begun} - {ended} = {begun - ended}", "small strong")
    drawn.text(x + 30, top + (begun + len(INTERVALS)) * step / 2 + 4, "not yet begun", "small")
    return drawn


def overlaps() -> Drawing:
    """Intervals of two chromosomes by their places in both orders, and a probe's corner."""
    rows = [(1, lower, upper) for lower, upper in INTERVALS[:5]] + [
        (2, lower, upper) for lower, upper in INTERVALS
    ]  # by chromosome and lower end
    by_upper = sorted((chromosome, upper, place) for place, (chromosome, _, upper) in enumerate(rows))
    ranks = {place: rank for rank, (_, _, place) in enumerate(by_upper)}
    chromosome, lower, upper = 2, 7, 10
    begun = sum(row[:2] <= (chromosome, upper) for row in rows)
    ended = sum(one[:2] < (chromosome, lower) for one in by_upper)
    drawn = Drawing(
        322,
        f"Intervals of two chromosomes as points: across, their place by lower end, upwards, their rank by upper end. "
        f"Those of a chromosome fill a square of the diagonal. The {begun - ended} intervals that overlap the probe "
        "are those to the left of one line and above another one; the first chromosome lies below.",
    )
    left, bottom, unit = 96, 288, 20
    right = left + len(rows) * unit
    for first, last, name in ((0, 5, "chr1"), (5, len(rows), "chr2")):
        drawn.box(left + first * unit, bottom - last * unit, (last - first) * unit, (last - first) * unit, "frame")
        drawn.text(left + first * unit + 6, bottom - last * unit + 16, name, "small")
    drawn.box(left, bottom - len(rows) * unit, begun * unit, (len(rows) - ended) * unit, "outline strong")
    for place in range(len(rows)):
        hit = place < begun and ranks[place] >= ended
        drawn.box(
            left + place * unit + 5, bottom - (ranks[place] + 1) * unit + 5, unit - 10, unit - 10,
            "cell " + ("hit" if hit else "second"),
        )  # fmt: skip
    drawn.line(left + begun * unit, bottom, left + begun * unit, bottom - len(rows) * unit, "strong")
    drawn.line(left, bottom - ended * unit, right, bottom - ended * unit, "strong")
    drawn.text(left, 18, f"probe chr{chromosome} [{lower}, {upper}]")
    drawn.text(right + 10, bottom - ended * unit + 4, f"{ended}: chr1, or have", "small strong")
    drawn.text(right + 10, bottom - ended * unit + 20, f"ended before {lower}", "small strong")
    drawn.text(
        left + begun * unit, bottom + 16, f"{begun}: chr1, or have begun at {upper} or before", "small strong", "middle"
    )
    drawn.text(left - 8, bottom - len(rows) * unit + 14, "upper end", "small", "end")
    drawn.text(left, bottom + 32, "place by lower end", "small")
    drawn.text(right + 10, bottom - len(rows) * unit + 40, f"{begun} - {ended} = {begun - ended}", "small strong")
    return drawn


def dominance() -> Drawing:
    """The walk by a tree of largest ranks."""
    ranks = [5, 2, 13, 0, 1, 4, 6, 3, 12, 7, 9, 15, 8, 14, 10, 11]
    places, least, fan_out = 11, 9, 4
    largest = [max(ranks[i : i + fan_out]) for i in range(0, len(ranks), fan_out)]
    hits = {i for i in range(places) if ranks[i] >= least}
    drawn = Drawing(
        202,
        f"Sixteen rows in the order of a, with their ranks by b, and the largest rank of each four above. Among the "
        f"first {places} rows the walk reads only fours whose largest rank is {least} or more.",
    )
    drawn.text(LEFT, 16, f"the first {places} by a, whose rank by b is {least} or more")
    opened = {i for i, one in enumerate(largest) if one >= least and i * fan_out < places}
    drawn.cells(LEFT, 32, largest, opened, "second", fan_out * CELL)
    for number in range(len(largest)):
        kind = "strong" if number in opened else "faint"
        for side in (0, fan_out):
            end = LEFT + (number * fan_out + side) * CELL
            drawn.line(LEFT + (number + 0.5) * fan_out * CELL, 32 + HIGH, end, 96, kind)
        if number not in opened:
            text = "none is large" if number * fan_out < places else "behind"
            drawn.text(LEFT + (number + 0.5) * fan_out * CELL, 90, text, "small", "middle")
    drawn.cells(LEFT, 98, ranks, hits)
    drawn.box(LEFT, 96, places * CELL, HIGH + 4, "outline strong")
    drawn.numbers(LEFT, 140, range(len(ranks)))
    drawn.text(LEFT, 164, "place by a; in the cells, ranks by b; above, the largest of each four", "small")
    drawn.text(LEFT, 186, f"matches: places {', '.join(map(str, sorted(hits)))}", "small code")
    return drawn


def window_join() -> Drawing:
    """Running sums: a window is the difference of two."""
    symbol, time, before = "B", 7, 3
    begin = bisect.bisect_left(ORDER, (symbol, time - before))
    end = bisect.bisect_right(ORDER, (symbol, time))
    values = [value for _, _, value in QUOTES]
    sums = [sum(values[:i]) for i in range(len(values) + 1)]
    drawn = Drawing(
        214,
        f"The same rows with values and sums of all values before each place. The sum of {symbol} from "
        f"{time - before} to {time} is the difference of two of these.",
    )
    drawn.text(BEGIN, 16, f"the window of {symbol} {time}: from {time - before} to {time}")
    quotes(drawn, 62, set(range(begin, end)))
    drawn.cells(BEGIN, 62 + HIGH, values, set(range(begin, end)), "second", WIDE)
    for place, end_time in ((begin, time - before), (end, time)):
        drawn.text(at(place), 38, f"{symbol} {end_time}", "small code strong", "middle")
        drawn.arrow(at(place), 42, at(place), 60, "strong")
        drawn.line(at(place), 62 + 2 * HIGH, at(place), 132, "strong")
    drawn.text(BEGIN - 6, 62 + HIGH + 17, "values", "small", "end")
    drawn.cells(at(0) - WIDE / 2, 134, sums, {begin, end}, "", WIDE)
    drawn.text(BEGIN, 182, "sums of all values before a place", "small")
    drawn.text(BEGIN, 206, f"sum {sums[end]} - {sums[begin]} = {sums[end] - sums[begin]}, ", "small strong")
    drawn.text(BEGIN + 130, 206, f"count {end} - {begin} = {end - begin}", "small strong")
    return drawn


JOINS = (join, right_join, asof_join, range_join, contains, overlaps, dominance, window_join)
