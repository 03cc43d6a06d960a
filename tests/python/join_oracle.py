# SPDX-License-Identifier: Apache-2.0
"""Joins by DuckDB."""

import numpy as np
import pytest

duckdb = pytest.importorskip("duckdb")

KINDS = ("inner", "left", "semi", "anti")


def pairs(found):
    build = np.full(len(found.probe), -2) if found.build is None else found.build
    assert np.asarray(found.probe).dtype == np.int64
    return sorted(zip(np.asarray(found.probe).tolist(), np.asarray(build).tolist()))


_asked = [None, None, None]  # the last tables, and a connection that has them


def by_duckdb(build, probe, how, condition):
    """The same pairs, of tables that pandas or Arrow holds."""
    if _asked[0] is not build or _asked[1] is not probe:
        con = duckdb.connect(config={"threads": 1})
        con.register("build_table", build)
        con.register("probe_table", probe)
        con.execute("create table b as select *, row_number() over () - 1 as br from build_table")
        con.execute("create table p as select *, row_number() over () - 1 as pr from probe_table")
        _asked[:] = build, probe, con
    if how in ("semi", "anti"):
        query = f"select pr, -2 from p {how} join b on {condition}"
    else:
        query = f"select coalesce(pr, -1), coalesce(br, -1) from p {how} join b on {condition}"
    return sorted(_asked[2].execute(query).fetchall())
