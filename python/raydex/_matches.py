# SPDX-License-Identifier: Apache-2.0
"""The rows that match: as a list for each probe of a batch, or a line for each match."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from raydex._exports import lists_to_arrow, lists_to_pandas, lists_to_polars, lists_to_rows, rows_on_host, rows_to_table
from raydex._html import columns, facts, lists
from raydex._lazy import Lazy
from raydex._results import TwoArrays


class Matches(TwoArrays):
    """All matching rows of a batch: probe i matches `rows[offsets[i]:offsets[i + 1]]`.

        >>> import polars, raydex
        >>> found = raydex.build([5, 7, 5]).rows([5, 9, 7])
        >>> offsets, rows = found
        >>> offsets
        array([0, 2, 2, 3])
        >>> polars.DataFrame(found).rows()
        [(0, 0), (0, 2), (2, 1)]

    It is a table with a line a match, of the columns `probe` and `row`, to what takes Arrow's streams
    (`polars.DataFrame`, `pyarrow.table`, `pandas.DataFrame.from_arrow`, DuckDB), and to NumPy an array of such
    lines. `pandas.DataFrame` takes it as that array, without names: give it `columns=["probe", "row"]`."""

    __slots__ = ("offsets", "rows")
    __match_args__ = ("offsets", "rows")
    __module__ = "raydex"

    offsets: Any
    """int64, one more than probes."""
    rows: Any
    """int64, `offsets[-1]` of them."""

    def __init__(self, offsets: Any, rows: Any) -> None:
        self.offsets, self.rows = offsets, rows

    def _lines(self) -> list[Any]:
        return lists_to_rows(self.offsets, self.rows)

    def _table(self) -> Any:
        return rows_to_table(dict(zip(("probe", "row"), self._lines())))

    def _repr_html_(self) -> str:
        return lists("Rows of probes", self.offsets, self.rows)

    def to_arrow(self) -> Any:
        """A `pyarrow.LargeListArray` with a list of rows a probe, of the same memory. What is on a GPU is
        refused with what copies it."""
        return lists_to_arrow(self.offsets, self.rows)

    def to_pandas(self) -> Any:
        """A `pandas.Series` with an array of rows a probe, views of `rows`; `explode` makes a row of each."""
        return lists_to_pandas(self.offsets, self.rows)

    def to_polars(self) -> Any:
        """A `polars.Series` with a list of rows a probe. Needs pyarrow."""
        return lists_to_polars(self.offsets, self.rows)


class MatchRows(TwoArrays):
    """Some of the matches of a batch, a line each; int64.

    It is a table to what takes Arrow's streams (`polars.DataFrame`, `pyarrow.table`, `pandas.DataFrame.from_arrow`,
    DuckDB), and to NumPy an array with a line a match."""

    __slots__ = ("probe", "row")
    __match_args__ = ("probe", "row")
    __module__ = "raydex"

    probe: Any
    """Which probe it is of, counted from 0."""
    row: Any
    """The row that matches."""

    def __init__(self, probe: Any, row: Any) -> None:
        self.probe, self.row = probe, row

    def _lines(self) -> list[Any]:
        return [rows_on_host(name, one, "arrays of NumPy") for name, one in zip(self.__match_args__, self)]

    def _table(self) -> Any:
        return rows_to_table({"probe": self.probe, "row": self.row})

    def _repr_html_(self) -> str:
        return columns("Rows of probes", {"probe": self.probe, "row": self.row})


class LazyMatches(Lazy):
    """The matches of a batch, from `index.rows(..., lazy=True)`: how many there are is known, and you
    have them written, all of them or some, any number of times. So there may be more of them than memory holds:

        >>> import raydex
        >>> index = raydex.build([50, 20, 40, 20, 30])
        >>> with index.rows([20, 60, 0], [40, 70, 25], lazy=True) as found:
        ...     for probe, row in found.chunks(4):
        ...         print(probe, row)
        [0 0 0 0] [1 3 4 2]
        [2 2] [1 3]

    Matches are those of `rows`, in the same order. To what takes Arrow's streams it is a table of the columns `probe`
    and `row` that is read batch by batch, without pyarrow: DuckDB runs a query over it, and never holds it whole.

    It holds 8 bytes a probe, and of ordered structures 4 an entry of the index; if row ids have 64 bits, 16 a probe
    alone. It frees them when it is closed, when a `with` ends, or with its last reference. The probes it does not hold.
    It reads the index, and refuses to answer once that is edited or closed; a snapshot of the index is not. On a GPU
    work goes to the stream of the call. Several threads may ask it."""

    __module__ = "raydex"
    _called = "lookup"
    _names = ("probe", "row")
    _again = "ask for the rows again"

    size: int
    """How many matches there are, which `len` says, too."""
    probes: int
    """How many probes there were."""

    def __repr__(self) -> str:
        if self._closed:
            return "raydex.LazyMatches(closed)"
        return f"raydex.LazyMatches(on {self._device}: {self.size} rows of {self.probes} probes)"

    def _repr_html_(self) -> str:
        if self._closed:
            return facts("raydex.LazyMatches, closed", {})
        return facts("raydex.LazyMatches", {"device": self._device, "rows": self.size, "probes": self.probes})

    def counts(self) -> Any:
        """How many rows match each probe, int64; what `Index.count` says. Cost: a read and a write a probe."""
        return super().counts()

    def rows(self, first: int = 0, size: int | None = None) -> MatchRows:
        """The matches from number `first` on: `size` of them or, if there are fewer, what is left; by default all.

        Cost: a write a match, a look at each 1024 probes. Memory: the arrays that it returns."""
        return MatchRows(*self._part(first, size, "int64"))

    def chunks(self, rows: int) -> Iterator[MatchRows]:
        """All matches, `rows` of them at a time, in their order; the last chunk has what is left, and a probe with more
        goes on in the next one.

        A chunk is written when it is its turn. Memory: the arrays of a chunk, twice 8 bytes a match; in a `for` those
        of two, since a loop lets go of a chunk when it has the next one."""
        return (MatchRows(*one) for one in self._chunks(rows, "int64"))
