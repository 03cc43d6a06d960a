# SPDX-License-Identifier: Apache-2.0
"""`python -m raydex join` against pandas and DuckDB."""

import numpy as np
import pytest
from running import PRICES

pa = pytest.importorskip("pyarrow")
pd = pytest.importorskip("pandas")
duckdb = pytest.importorskip("duckdb")


def by_duckdb(text):
    """An answer of DuckDB over files of the folder."""
    with duckdb.connect() as connection:
        return [tuple(row) for row in connection.execute(text).fetchall()]


def rows_of(answer):
    """Pairs of rows, or rows, in an order; -1 where there is no build row."""
    signed = answer.astype("i8")
    return (
        sorted(map(tuple, signed.tolist())) if signed.ndim == 2 else sorted((row,) for row in signed.tolist())
    )


@pytest.mark.parametrize("kind", ["inner", "left", "semi", "anti"])
@pytest.mark.parametrize(
    "keys", ["number", "short", "text", "day", "float", "text,day", "number,float,short"]
)
def test_joins(program, tables, kind, keys):
    for name, table in zip("bp", tables):
        row = pa.array(range(len(table)))
        program.file(f"{name}.parquet", table.append_column("row", row))
        program.file(f"{name}.csv.gz", table)
        program.file(f"{name}.feather", table)
    condition = " and ".join(f"b.{key} = p.{key}" for key in keys.split(","))
    what = "p.row" if kind in ("semi", "anti") else "p.row, coalesce(b.row, -1)"
    expected = sorted(by_duckdb(f"select {what} from 'p.parquet' p {kind} join 'b.parquet' b on {condition}"))
    for build, probe in [("parquet", "parquet"), ("csv.gz", "feather"), ("feather", "csv.gz")]:
        files = {"build": f"b.{build}:{keys}", "probe": f"p.{probe}:{keys}"}
        assert rows_of(program.load("join", **files, kind=kind)) == expected
        found = program.load("join", **files, kind=kind, out="o.parquet")
        assert all(field.type == pa.int64() for field in found.schema)
        columns = [column.fill_null(-1).to_pylist() for column in found.columns]
        assert sorted(zip(*columns)) == expected
    if kind == "inner":
        found = program.load("join", **files, kind=kind, side="probe")
        assert rows_of(found) == expected and (np.diff(found[:, 1].astype("i8")) >= 0).all()
        found = program.load("join", "--ordered", **files, kind=kind)
        assert rows_of(found) == expected and (np.diff(found[:, 0].astype("i8")) >= 0).all()


@pytest.mark.parametrize("ending", ["parquet", "csv", "arrow", "csv.zst"])
def test_columns_of_joins(program, tables, ending):
    build, probe = (table.append_column("row", pa.array(range(len(table)))) for table in tables)
    files = {
        "build": program.file("b.parquet", build) + ":number",
        "probe": program.file("p.feather", probe) + ":number",
    }
    program.file("p.parquet", probe)
    names = "p.feather:row,text,time,b.parquet:text,row,low"
    found = program.load("join", **files, kind="left", columns=names, out=f"o.{ending}")
    titles = ["p.row", "p.text", "time", "b.text", "b.row", "low"]
    assert found.column_names == titles
    expected = by_duckdb(
        "select p.row, p.text, p.time, b.text, b.row, b.low from 'p.parquet' p left join "
        "'b.parquet' b on b.number = p.number order by p.row, b.row"
    )
    rows = list(zip(*(column.to_pylist() for column in found.columns)))
    if ending.startswith("csv"):  # which has no missing texts
        expected = [
            tuple("" if cell is None and i in (1, 3) else cell for i, cell in enumerate(row))
            for row in expected
        ]
    assert sorted(rows, key=lambda row: (row[0], -1 if row[4] is None else row[4])) == expected


def test_columns_keep_their_types(program):
    table = pa.table(
        {
            "key": [1, 2],
            "list": [[1], [2, 3]],
            "kind": pa.array(["a", "b"]).dictionary_encode(),
            "price": pa.array(PRICES, pa.decimal128(5, 2)),
            "code": pa.array([b"1", b"2"]),
        }
    )
    program.file("t.parquet", table)
    program.file("u.csv", "key,code\n2,007\n3,008\n")
    files = {"build": "t.parquet:key", "probe": "u.csv:key", "kind": "inner"}
    names = "t.parquet:list,kind,price,code,u.csv:code,key"
    found = program.load("join", **files, columns=names, out="o.parquet")
    assert found.column("list").to_pylist() == [[2, 3]] and found.column("price").type == pa.decimal128(5, 2)
    assert found.column("u.code").to_pylist() == [7] and found.column("kind").to_pylist() == ["b"]
    found = program.load("join", **files, columns="u.csv:code:string", out="o.arrow")
    assert found.column("code").to_pylist() == ["007"] and pa.types.is_large_string(found.column("code").type)
    text = program.text("join", **files, columns=names.replace("list,", ""))
    assert text == "kind,price,t.code,u.code,key\nb,2.75,2,007,2\n"
    error = program.refuse("join", **files, columns=names, out="o.csv")
    assert "column list is of list" in error and "write .parquet or .arrow" in error


@pytest.mark.parametrize("direction", ["backward", "forward", "nearest"])
@pytest.mark.parametrize("strict", [False, True])
@pytest.mark.parametrize("tolerance", [None, "36h", "0d"])
def test_asof_joins(program, tables, direction, strict, tolerance):
    build, probe = (table.drop_columns(["day"]).to_pandas() for table in tables)
    for table in (build, probe):
        table["row"] = np.arange(len(table))
        table["time"] = table["time"].astype("datetime64[ms]")
    build = build.drop_duplicates(["time", "low"])
    build["low"], probe["low"] = build["low"] % 5, probe["low"] % 5
    build = build.drop_duplicates(["time", "low"]).reset_index(drop=True)
    build["row"] = np.arange(len(build))
    merged = pd.merge_asof(
        probe.sort_values("time"),
        build.sort_values("time"),
        on="time",
        by="low",
        direction=direction,
        allow_exact_matches=not strict,
        tolerance=tolerance and pd.Timedelta(tolerance.replace("d", "D")),
    )
    expected = merged.sort_values("row_x")["row_y"].fillna(-1).astype("i8").tolist()
    program.file("b.parquet", pa.Table.from_pandas(build))
    program.file("p.csv", pa.Table.from_pandas(probe[["time", "low"]]))
    more = {} if tolerance is None else {"tolerance": tolerance}
    found = program.load(
        "join",
        *(["--strict"] if strict else []),
        build="b.parquet:time",
        probe="p.csv:time",
        kind="asof",
        build_by="b.parquet:low",
        probe_by="p.csv:low",
        direction=direction,
        out="o.parquet",
        **more,
    )
    assert found["probe"].to_pylist() == list(range(len(probe)))
    assert found["build"].fill_null(-1).to_pylist() == expected


def test_distances_are_exact(program):
    far = 2**53 + 1
    program.file("b.npy", np.array([0]))
    program.file("p.npy", np.array([far, far + 1]))
    for how in ({"kind": "band", "distance": str(far)}, {"kind": "asof", "tolerance": str(far)}):
        found = program.load("join", build="b.npy", probe="p.npy", out="o.npy", **how)
        assert np.asarray(found)[:, 0][: 1 + (how["kind"] == "asof")].tolist() == [0, 1][: len(found)]
        assert len(found) == 1 or found[1, 1] != 0


@pytest.mark.parametrize("unit", ["15m", "10s", "3D"])
def test_distances_of_steps(program, unit):
    """Of times in steps, and beside times of another unit, some beyond it."""
    times = np.array([0, 1, 2, 3], f"M8[{unit}]")
    program.file("b.npy", times)
    program.file("p.npy", times.astype("M8[ns]"))
    program.file("far.npy", np.array(["9999-12-31", "1970-01-01"], "M8[D]"))
    span = f"{(times[1] - times[0]) // np.timedelta64(1, 's')}s"
    for probe in ("b.npy", "p.npy"):
        found = program.load("join", build="b.npy", probe=probe, kind="band", distance=span)
        assert rows_of(found) == [(p, b) for p in range(4) for b in range(4) if abs(p - b) <= 1]
    found = program.load("join", build="far.npy", probe="p.npy", kind="asof", tolerance=span)
    assert [row for row, one in rows_of(found) if one == 1] == [0, 1]
    assert program.load("join", build="far.npy", probe="p.npy", kind="semi").tolist() == [0]


def test_joins_by_order(program, tables):
    for name, table in zip("bp", tables):
        table = table.set_column(
            table.column_names.index("high"),
            "high",
            pa.compute.add(table["low"], pa.array(range(len(table)))),
        )
        program.file(f"{name}.parquet", table.append_column("row", pa.array(range(len(table)))))
    cases = [
        ({"kind": "band", "distance": "3"}, "low", "abs(b.low - p.low) <= 3"),
        ({"kind": "band", "distance": "30h"}, "time", "abs(epoch(b.time) - epoch(p.time)) <= 108000"),
        ({"kind": "band", "distance": "1d"}, "day", "abs(b.day - p.day) <= 1"),
        ({"kind": "less"}, "low", "b.low < p.low"),
        ({"kind": "greater_equal"}, "time", "b.time >= p.time"),
        ({"kind": "less_equal"}, "short", "b.short <= p.short"),
        ({"kind": "contains", "build_upper": "b.parquet:high"}, "low", "p.low between b.low and b.high"),
    ]
    for how, key, condition in cases:
        expected = by_duckdb(f"select p.row, b.row from 'p.parquet' p join 'b.parquet' b on {condition}")
        found = program.load("join", build=f"b.parquet:{key}", probe=f"p.parquet:{key}", **how)
        assert rows_of(found) == sorted(expected), how
