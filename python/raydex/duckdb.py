# SPDX-License-Identifier: Apache-2.0
"""Joins of raydex on relations of DuckDB: relations in, a relation out, through Arrow.

    >>> import duckdb, raydex.duckdb
    >>> con = duckdb.connect()
    >>> quotes = con.sql("from (values (31, 10.1), (30, 10.0)) quotes(time, bid)")
    >>> trades = "from (values (30, 100), (35, 50)) trades(time, shares)"
    >>> raydex.duckdb.join_asof(con, trades, quotes, on="time").project("time, bid").fetchall()
    [(30, Decimal('10.0')), (35, Decimal('10.1'))]

In all calls `con` is a connection, or the module `duckdb` itself for its default one. `left` and `right` are relations
of it, texts of queries, or names of tables and views. Both are run by the call and held in memory as tables of Arrow.
The result is a relation over another one, which DuckDB filters, joins and writes as any other; it has what was there
at the call.

`on` names columns of both sides, `left_on` and `right_on` those of each; `by`, `left_by` and `right_by` name columns
that have to be equal, too. `suffixes` are of names that both sides have. A missing value matches nothing; NaN equals
NaN and comes after all other numbers, as in DuckDB. Needs DuckDB 1.0 or later, and pyarrow. Errors are those of
`raydex.join_range`, and DuckDB's own of what it runs."""

from __future__ import annotations

from typing import Any, cast

import duckdb

from raydex._errors import InvalidArgument, InvalidType
from raydex._merged import Sides, names_of
from raydex._merging import merge_asof
from raydex._range_merging import merge_intervals
from raydex.typing import Closed, ColumnNames, Direction, Distance, How, MissingEnd, Relation, Suffixes

__all__ = ["join_asof", "lookup", "overlap"]

_SUFFIXES: Suffixes = ("", "_right")


def join_asof(
    con: Any,
    left: Any,
    right: Any,
    on: ColumnNames = None,
    *,
    left_on: ColumnNames = None,
    right_on: ColumnNames = None,
    by: ColumnNames = None,
    left_by: ColumnNames = None,
    right_by: ColumnNames = None,
    direction: Direction = "backward",
    tolerance: Distance | None = None,
    allow_exact_matches: bool = True,
    suffixes: Suffixes = _SUFFIXES,
) -> duckdb.DuckDBPyRelation:
    """Each row of `left` beside the row of `right` with the closest time: DuckDB's `asof left join`.

    Parameters
    ----------
    on, left_on, right_on
        The column of times, or of other numbers.
    direction, tolerance, allow_exact_matches
        As of `raydex.join_asof`.

    Returns
    -------
    relation
        All rows of `left` in their order, with null where there is no row of `right`. Columns of `on` and `by` of one
        name are there once.

    Cost
    ----
    As of `raydex.join_asof`, and copies of both sides and of the rows.
    """
    found = merge_asof(
        _table("left", con, left), _table("right", con, right), on, left_on, right_on, by=by, left_by=left_by,
        right_by=right_by, suffixes=suffixes, tolerance=tolerance, allow_exact_matches=allow_exact_matches,
        direction=direction,
    )  # fmt: skip
    return _relation(con, found)


def overlap(
    con: Any,
    left: Any,
    right: Any,
    on: ColumnNames = None,
    *,
    left_on: ColumnNames = None,
    right_on: ColumnNames = None,
    how: How = "inner",
    relation: Relation = "overlaps",
    closed: Closed = "both",
    missing: MissingEnd = "unmatched",
    by: ColumnNames = None,
    left_by: ColumnNames = None,
    right_by: ColumnNames = None,
    suffixes: Suffixes = _SUFFIXES,
) -> duckdb.DuckDBPyRelation:
    """Pairs of rows whose intervals overlap, or lie within each other.

    Parameters
    ----------
    on, left_on, right_on
        Two columns: the lower and the upper ends.
    how, relation, closed, missing
        As of `raydex.merge_intervals`.

    Returns
    -------
    relation
        The columns of both, in the order of the rows of `left`; those of `by` of one name are there once.

    Cost
    ----
    As of `raydex.join_intervals`, and copies of both sides and of the rows.
    """
    found = merge_intervals(
        _table("left", con, left), _table("right", con, right), how, on, left_on, right_on, relation=relation,
        closed=closed, missing=missing, by=by, left_by=left_by, right_by=right_by, suffixes=suffixes,
    )  # fmt: skip
    return _relation(con, found)


def lookup(
    con: Any,
    left: Any,
    right: Any,
    on: ColumnNames = None,
    *,
    left_on: ColumnNames = None,
    right_on: ColumnNames = None,
    suffixes: Suffixes = _SUFFIXES,
) -> duckdb.DuckDBPyRelation:
    """Each row of `left` beside the first row of `right` with an equal key: a left join that never repeats a row.

    Parameters
    ----------
    on, left_on, right_on
        The column of the key.

    Returns
    -------
    relation
        All rows of `left` in their order, with null where there is no row of `right`, whose column of the key is left
        out.

    Cost
    ----
    As of `raydex.build` over the key of `right` and of `first`, and copies of both sides and of the rows.
    """
    sides = Sides(_table("left", con, left), _table("right", con, right))
    return _relation(con, sides.looked_up(names_of("on", on, left_on, right_on), suffixes))


def _table(argument: str, con: Any, source: Any) -> Any:
    """The rows of a relation, a query or a named table, as a table of pyarrow."""
    if isinstance(source, str):
        source = con.sql(_query(con, source))
        if source is None:
            raise InvalidArgument(f"{argument}: a statement that gives no rows")
    if not isinstance(source, duckdb.DuckDBPyRelation):
        raise InvalidType(
            f"{argument}: a {type(source).__module__}.{type(source).__qualname__} is no relation of DuckDB, query or "
            "name of a table; give con.from_df(x), or con.from_arrow(x)"
        )
    return source.to_arrow_table()


def _relation(con: Any, table: Any) -> duckdb.DuckDBPyRelation:
    return cast(duckdb.DuckDBPyRelation, con.from_arrow(table))


def _query(con: Any, text: str) -> str:
    """A query as it is; of a name, the query for all rows of the table."""
    try:
        con.extract_statements(text)
    except duckdb.ParserException as error:
        named = f"from {text}"
        try:
            con.extract_statements(named)
        except duckdb.ParserException:
            raise error from None
        return named
    return text
