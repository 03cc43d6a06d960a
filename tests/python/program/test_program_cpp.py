# SPDX-License-Identifier: Apache-2.0
"""The same command given to the C++ program, which RAYDEX_BINARY names, writes the same bytes."""

import pathlib
import subprocess

import numpy as np
import pytest
from running import BINARY, load

pa = pytest.importorskip("pyarrow")


# fmt: off
SAME = [
    "query --keys t.csv:number --points p.csv:number --result first --out out.npy",
    "query --keys t.csv:number --points p.csv:number --result count --out out.npy",
    "query --keys t.csv:short --points p.csv:short --result count --out out.csv",
    "query --keys t.csv:number --points p.csv:number --result first --out -",
    "query --keys t.csv:number --points p.csv:number --result rows --out -",
    "query --keys t.csv:number --points p.csv:number --result rows --out out.npz",
    "query --keys t.csv:number --points p.csv:number --result sum --values t.csv:any --out -",
    "query --keys t.csv:number --points p.csv:number --result sum --values t.csv:low --out out.npy",
    "query --keys t.csv:number --ranges p.csv:number,low --result sum --out out.npy",
    "query --keys t.csv:any --ranges p.csv:any,float:f8 --result count --out out.csv",
    "query --keys t.csv:number --points p.csv:number --result rank --out -",
    "query --keys t.csv:number --points p.csv:number --result rank_right --out out.npy",
    "query --keys t.csv:any --points p.csv:any --result predecessor --strict --out -",
    "query --keys t.csv:any --points p.csv:any --result successor --out out.npy",
    "query --keys t.csv:number --row-ids wide.npy --points p.csv:number --result first --out out.npy",
    "query --keys t.csv:number --row-ids wide.npy --points p.csv:number --result rows --out out.npz",
    "query --keys t.csv:low --points p.csv:low --insert p.csv:low --insert-rows rows.npy --erase p.csv:high "
    "--result rows --out -",
    "query --keys t.csv:low --points p.csv:low --insert p.csv:low --insert-rows rows.npy --erase p.csv:low "
    "--erase-rows rows.npy --result count --out -",
    "query --structure sorted_array --option layout=row --keys t.csv:number --ranges r.npy --result count "
    "--out out.npy",
    "join --build t.csv:number --probe p.csv:number --kind inner --out out.npy",
    "join --build p.csv:number --probe t.csv:number --kind inner --out out.csv",
    "join --build p.csv:number --probe t.csv:number --kind inner --ordered --out -",
    "join --build t.csv:number --probe p.csv:number --kind inner --side probe --out -",
    "join --build t.csv:text --probe p.csv:text --kind left --out -",
    "join --build t.csv:text,low --probe p.csv:text,low --kind left --missing-equal --out out.npy",
    "join --build t.csv:short --probe p.csv:short --kind semi --out out.npy",
    "join --build t.csv:short --probe p.csv:text --kind anti --out -",
    "join --build t.csv:number --probe p.csv:number --kind left --columns p.csv:text,any,t.csv:text,number "
    "--out -",
    "join --build t.csv:any --probe p.csv:any --kind asof --direction nearest --tolerance 1e3 --out out.csv",
    "join --build t.csv:low --probe p.csv:low --kind asof --strict --build-by t.csv:text "
    "--probe-by p.csv:text --out out.npy",
    "join --build t.csv:low --probe p.csv:low --kind band --distance 2 --out out.csv",
    "join --build t.csv:low --build-upper t.csv:high --probe p.csv:low --kind contains --out out.csv",
    "join --build t.csv:any --probe p.csv:any --kind less_equal --out out.npy",
    "rmq --values t.csv:any --ranges p.csv:low,high --result min --out -",
    "rmq --values t.csv:any --ranges p.csv:low,number --result argmin --out -",
    "rmq --values t.csv:any --ranges p.csv:low,high --result argmin --option ties=rightmost --out out.npy",
    "rmq --values t.csv:low:i4 --ranges r.npy --result min --out out.npy",
    "rmq --values t.csv:any --ranges p.csv:low,high --result max --out -",
    "rmq --values t.csv:low --ranges r.npy --result argmax --option ties=rightmost --out out.npy",
    "rmq --values t.csv:low --ranges r.npy --set rows.npy --set-values p.csv:high --result min --out out.csv",
    "structures pivot_tree",
    "structures rmq_cover",
]
# fmt: on


@pytest.mark.skipif(BINARY is None, reason="RAYDEX_BINARY names no program")
@pytest.mark.parametrize("line", SAME)
def test_the_same_bytes(program, tables, random, line):
    for name, table in zip("tp", tables):
        rows = len(table)
        numbers = 10.0 ** random.uniform(-8, 20, rows) * random.choice([-1, 1], rows)
        numbers[::7] = np.round(numbers[::7])
        program.file(
            f"{name}.csv", table.drop_columns(["day", "time"]).append_column("any", pa.array(numbers))
        )
    program.file("wide.npy", random.permutation(300).astype(np.uint64) + 7)
    program.file("rows.npy", random.permutation(400).astype(np.uint32)[:400] % 300)
    program.file("r.npy", random.integers(-50, 350, (500, 2)))
    words = line.split()
    done = subprocess.run([BINARY, *words], capture_output=True, check=False)
    assert (done.returncode, done.stderr) == (0, b"")
    out = next((word for word in words if word.startswith("out.")), None)
    expected = load("out.npz") if out == "out.npz" else out and pathlib.Path(out).read_bytes()
    assert program.run(*words) == (0, done.stdout.decode(), "")
    if out == "out.npz":
        found = load("out.npz")
        for name in ["offsets", "rows"]:
            assert found[name].dtype == expected[name].dtype and (found[name] == expected[name]).all()
    elif out:
        assert pathlib.Path(out).read_bytes() == expected


@pytest.mark.parametrize("dtype", ["f4", "f8"])
def test_numbers_as_text(program, random, dtype):
    """The shortest digits that are read as the same number."""
    cells = np.frombuffer(random.bytes(4000 * np.dtype(dtype).itemsize), dtype)
    with np.errstate(over="ignore"):
        cells = np.concatenate(
            [
                cells,
                np.round(10.0 ** random.uniform(-8, 20, 2000)).astype(dtype),
                np.array([0, -0.0, 1e-4, 1e9, 1e16, 999999999.5, 9e15], dtype),
            ]
        )
    name = program.file("c.npy", cells)
    text = program.text("join", build=name, probe=name, kind="semi", columns=f"probe:{name}")
    lines = text.splitlines()[1:]
    read = np.array(lines, "f8").astype(dtype)
    assert ((read == cells) | (np.isnan(read) & np.isnan(cells))).all()
    digits = [len(line.partition("e")[0].replace(".", "").replace("-", "").strip("0")) for line in lines]
    for cell, line, count in zip(cells, lines, digits):
        if np.isfinite(cell):
            shortest = np.format_float_scientific(cell, unique=True, trim="-").partition("e")[0]
            assert count == len(shortest.replace(".", "").replace("-", "").strip("0")), (cell, line)
            assert ("e" in line) == (cell != 0 and not 1e-4 <= abs(float(line)) < 1e16)
