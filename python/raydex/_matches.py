# SPDX-License-Identifier: Apache-2.0
"""The rows that match, as a list for each probe of a batch."""

from __future__ import annotations

from typing import Any

from raydex._exports import lists_to_arrow, lists_to_pandas, lists_to_polars, lists_to_rows, rows_to_table
from raydex._html import lists
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
