# SPDX-License-Identifier: Apache-2.0
"""`raydex join` by equal keys, and what all joins write and refuse, against a plain comparison of every probe row with
every build row."""

import json

import numpy as np
import pytest
from conftest import BACKEND, STRUCTURE
from join_tables import (
    NONE, SMALL, assert_same_rows, equal_pairs, random_values, rows_of, text_of, write_table,
)

KEYS = [
    ["ints"], ["floats"], ["bytes"], ["texts"], ["missing"], ["ints", "bytes"],
    ["texts", "missing"], ["missing", "texts"], ["floats", "ints", "texts"],
]


@pytest.mark.parametrize("missing_equal", [False, True])
@pytest.mark.parametrize("kind", ["inner", "left", "right", "full", "semi", "anti"])
@pytest.mark.parametrize("key", KEYS, ids="+".join)
def test_equal_keys(program, rng, key, kind, missing_equal):
    sizes = rng.integers(1, 80, 2)
    build, probe = ([random_values(rng, part, n) for part in key] for n in sizes)
    flags = ["--missing-equal"] if missing_equal else []
    answer = program.join(
        "--ordered", *flags, kind=kind, structure=STRUCTURE,
        build=write_table(program, "b", key, build), probe=write_table(program, "p", key, probe),
    )
    pairs = equal_pairs(build, probe, missing_equal)
    assert_same_rows(answer, rows_of(kind, pairs, len(probe[0]), len(build[0])))


@pytest.mark.parametrize("structure", ["auto", "hash_open"])
def test_seeds_of_hashes(program, rng, structure):
    build, probe = ([random_values(rng, "texts", n), random_values(rng, "ints", n)] for n in (40, 60))
    tables = {
        "build": write_table(program, "b", ["texts", "ints"], build),
        "probe": write_table(program, "p", ["texts", "ints"], probe),
    }
    for seed in (0, 2**32 - 1):
        answer = program.join("--ordered", kind="inner", structure=structure, seed=str(seed), **tables)
        assert_same_rows(answer, rows_of("inner", equal_pairs(build, probe), 0))
    assert "--seed" in program.refuse_join(kind="inner", seed=str(2**32), **tables)
    assert "seed" in program.refuse_join("--option", "seed=x", kind="inner", structure="hash_open", **tables)


@pytest.mark.parametrize("side", ["auto", "build", "probe"])
@pytest.mark.parametrize("sizes", [(10, 90), (90, 10)])
def test_sides(program, rng, sizes, side):
    build, probe = ([random_values(rng, "ints", n)] for n in sizes)
    asked = {
        "build": write_table(program, "b", ["ints"], build), "kind": "inner", "side": side,
        "probe": write_table(program, "p", ["ints"], probe), "report": "r.json",
    }
    answer = program.join(**asked)
    assert_same_rows(answer, rows_of("inner", equal_pairs(build, probe), 0), ordered=False)
    report = json.loads((program.folder / "r.json").read_text())
    smaller = "build" if sizes[0] < sizes[1] else "probe"
    assert report["side"] == (smaller if side == "auto" else side)
    by = 1 if report["side"] == "probe" else 0
    assert (np.diff(answer[:, by].astype("<i8")) >= 0).all()


@pytest.mark.parametrize("kind", ["inner", "left", "right", "full", "semi", "anti", "band", "asof",
                                  "contains", "less"])
@pytest.mark.parametrize("sizes", [(0, 0), (0, 5), (5, 0)])
def test_empty_tables(program, sizes, kind):
    build, probe = (program.file(f"{name}.npy", np.arange(n)) for name, n in zip("bp", sizes))
    more = {"band": {"distance": "1"}, "contains": {"build_upper": build}}.get(kind, {})
    answer = program.join(build=build, probe=probe, kind=kind, **more)
    if kind in ("left", "asof"):
        assert answer.tolist() == [[p, NONE] for p in range(sizes[1])]
    elif kind in ("right", "full"):
        assert_same_rows(answer, rows_of(kind, [], *reversed(sizes)))
    elif kind == "anti":
        assert answer.tolist() == list(range(sizes[1]))
    else:
        assert answer.shape == ((0,) if kind == "semi" else (0, 2))


def test_empty_csv_tables(program):
    """A column without values goes with any other."""
    program.file("empty.csv", "a,b\n")
    program.file("t.csv", "name,n,x\na much longer text,1,0.5\nshort,2,1\n")
    for key in ["name", "n", "x", "n:u4", "name:string"]:
        asked = {"build": "empty.csv:a", "probe": f"t.csv:{key}"}
        assert program.join(**asked, kind="anti").tolist() == [0, 1]
        assert program.join(build=f"t.csv:{key}", probe="empty.csv:a", kind="anti").tolist() == []


def test_texts_of_different_lengths(program):
    program.file("b.csv", "short,long\nEWR,EWR\nJFK,John F. Kennedy\nL,L\n")
    program.file("p.csv", "name\nNewark\nEWR\nL\n")
    array = program.file("s.npy", np.array([b"L", b"EWR", b"John"], "|S5"))
    wide = program.file("w.npy", np.array([b"EWR", b"L"], "|S8"))

    def pairs(build, probe):
        return program.join("--ordered", kind="inner", build=build, probe=probe).tolist()

    assert pairs("b.csv:short", "p.csv:name") == [[1, 0], [2, 2]]
    assert pairs("p.csv:name", "b.csv:short") == [[0, 1], [2, 2]]
    assert pairs("b.csv:long", "p.csv:name") == [[1, 0], [2, 2]]
    assert pairs("b.csv:long", array) == [[0, 2], [1, 0]]
    assert pairs(array, wide) == [[0, 1], [1, 0]]
    assert pairs("b.csv:short:string", "p.csv:name:S8") == [[1, 0], [2, 2]]
    program.file("codes.csv", "code\nL\nEWRX\n")
    answer = program.join(kind="less", build="b.csv:short", probe="codes.csv:code")
    assert sorted(answer.tolist()) == [[0, 0], [0, 1], [1, 0]]


def test_numbers_whose_types_are_found(program):
    program.file("b.csv", "n,large\n1,9007199254740993\n2,1\n")
    program.file("p.csv", "x\n2\n0.5\n1\n")
    answer = program.join("--ordered", kind="inner", build="b.csv:n", probe="p.csv:x")
    assert answer.tolist() == [[0, 1], [2, 0]]
    line = program.refuse_join(kind="inner", build="b.csv:large", probe="p.csv:x")
    assert "probe keys p.csv:x are double, but build keys b.csv:large are int64; name the" in line
    line = program.refuse_join(kind="inner", build="b.csv:n:i8", probe="p.csv:x")
    assert "are double" in line


# Outputs.


@pytest.fixture
def flights(program):
    """Two small tables with all that is special."""
    program.file("planes.csv", 'tail,maker,seats\nN1,"Boeing, Inc.",NA\nN22,"say ""hi""",55\n'
                               'N333, Cessna ,\n')
    program.file("flights.csv", "tail,miles\nN22,100\nN9,2.50\nN1,\nNA,7\nN22,x\n")
    return {"build": "planes.csv:tail", "probe": "flights.csv:tail"}


def test_rows_as_csv(program, flights):
    inner = text_of(program, "--ordered", kind="inner", **flights)
    assert inner == "probe,build\n0,1\n2,0\n4,1\n"
    assert text_of(program, kind="left", **flights) == "probe,build\n0,1\n1,\n2,0\n3,\n4,1\n"
    right = text_of(program, kind="right", **flights)
    assert right == "probe,build\n0,1\n2,0\n4,1\n,2\n"
    full = text_of(program, kind="full", **flights)
    assert full == "probe,build\n0,1\n1,\n2,0\n3,\n4,1\n,2\n"
    assert text_of(program, kind="semi", **flights) == "probe\n0\n2\n4\n"
    assert text_of(program, kind="anti", **flights) == "probe\n1\n3\n"
    asof = text_of(program, kind="asof", build=program.file("b.npy", np.array([2, 5])),
                   probe=program.file("p.npy", np.array([6, 1])))
    assert asof == "probe,build\n0,1\n1,\n"


def test_columns(program, flights):
    text = text_of(program, "--ordered", kind="inner", **flights,
                   columns="flights.csv:miles,tail,planes.csv:maker,seats")
    assert text == ('miles,tail,maker,seats\n100,N22,"say ""hi""",55\n,N1,"Boeing, Inc.",NA\n'
                    'x,N22,"say ""hi""",55\n')
    text = text_of(program, kind="left", **flights, columns="planes.csv:maker,flights.csv:tail")
    assert text == ('maker,tail\n"say ""hi""",N22\n,N9\n"Boeing, Inc.",N1\n,NA\n'
                    '"say ""hi""",N22\n')
    text = text_of(program, kind="full", **flights, columns="planes.csv:tail,flights.csv:tail,miles")
    assert text.splitlines()[1:] == ["N22,N22,100", ",N9,2.50", "N1,N1,", ",NA,7", "N22,N22,x", "N333,,"]
    text = text_of(program, kind="anti", **flights, columns="./flights.csv:miles:f8")
    assert text == "miles\n2.50\n7\n"
    text = text_of(program, "--ordered", kind="inner", **flights,
                   columns="flights.csv:tail,planes.csv:tail")
    assert text.splitlines()[:2] == ["flights.tail,planes.tail", "N22,N22"]
    (program.folder / "flights.csv").write_text("tail,miles\n")
    assert text_of(program, kind="inner", **flights, columns="planes.csv:maker") == "maker\n"


def test_columns_of_one_file(program, flights):
    both = {"build": "planes.csv:tail", "probe": "planes.csv:tail", "kind": "inner"}
    text = text_of(program, "--ordered", **both,
                   columns="build:planes.csv:tail,probe:planes.csv:tail,seats")
    assert text == "build.tail,probe.tail,seats\nN1,N1,NA\nN22,N22,55\nN333,N333,\n"
    line = program.refuse_join(**both, out="o.csv", columns="planes.csv:tail")
    assert "build:planes.csv:tail or probe:planes.csv:tail" in line
    line = program.refuse_join(**both, out="o.csv", columns="build:planes.csv:tail,tail")
    assert "two columns are called 'build.planes.tail'" in line


def test_columns_of_arrays(program):
    build = program.file("b.npy", np.array([1.5, np.nan, 0.1]))
    probe = program.file("p.npy", np.array([0.1, 7.0, np.nan]))
    name = program.file("name.npy", np.array([b"a", b"b,c", b""]))
    text = text_of(program, kind="left", build=f"{build},{name}", probe=f"{probe},{name}",
                   columns="build:name.npy,b.npy,p.npy,probe:name.npy")
    assert text == "build.name,b,p,probe.name\n,,0.1,a\n,,7,\"b,c\"\n,,nan,\n"
    text = text_of(program, "--ordered", kind="inner", build=build, probe=probe,
                   columns="p.npy,b.npy")
    assert text == "p,b\n0.1,0.1\nnan,nan\n"


@pytest.mark.parametrize("kind", ["inner", "left", "right", "full", "semi", "asof", "band"])
def test_report(program, kind):
    build = program.file("b.npy", np.arange(1000, dtype="<i4")[::-1])  # times that ascend need no order
    probe = program.file("p.npy", np.arange(990, 1010, dtype="<i4"))
    more = {"distance": "0"} if kind == "band" else {}
    answer = program.join(
        build=build, probe=probe, kind=kind, side="build", report="r.json", **more
    )
    report = json.loads((program.folder / "r.json").read_text())
    fields = [
        "structure", "options", "backend", "device", "rt_core_version", "key", "keys", "n",
        "probes", "kind", "side", "build_rows", "probe_rows", "rows", "build_ms", "lookup_ms",
        "match_ms", "rows_ms", "write_ms", "resident_bytes", "build_peak_bytes",
        "lookup_peak_bytes",
    ]
    assert list(report) == fields + (["no_match"] if kind in ("left", "right", "full", "asof") else [])
    assert report["backend"] == BACKEND
    assert (report["kind"], report["side"], report["key"]) == (kind, "build", "int32")
    assert (report["n"], report["build_rows"]) == (1000, 1000)
    assert (report["probes"], report["probe_rows"], report["rows"]) == (20, 20, len(answer))
    assert report["build_ms"] > 0 and report["match_ms"] > 0
    assert report["lookup_ms"] >= report["match_ms"]
    assert report["build_peak_bytes"] >= report["resident_bytes"] > 0


def test_report_of_keys(program, flights):
    program.join(kind="inner", structure="sorted_array", option="layout=row", report="r.json",
                 side="build", **flights)
    report = json.loads((program.folder / "r.json").read_text())
    assert (report["structure"], report["options"]) == ("sorted_array", {"layout": "row"})
    assert report["keys"] == "column"
    flights = {"build": "planes.csv:tail,maker", "probe": "flights.csv:tail,miles:string"}
    program.join(kind="inner", report="r.json", **flights)
    report = json.loads((program.folder / "r.json").read_text())
    assert (report["keys"], report["key"].split(",")[-1]) == ("hashed", "string")


@pytest.mark.skipif(SMALL, reason="a large join")
def test_more_rows_than_a_stretch(program):
    build, probe = 2100, 2200
    answer = program.join(
        "--ordered", kind="inner", build=program.file("b.npy", np.zeros(build, "<u4")),
        probe=program.file("p.npy", np.zeros(probe, "<u4")),
    )
    assert len(answer) == build * probe > 2**22
    assert_same_rows(answer[:, 0], np.repeat(np.arange(probe, dtype="<u8"), build))
    assert_same_rows(answer[:, 1], np.tile(np.arange(build, dtype="<u8"), probe))


@pytest.mark.skipif(SMALL, reason="many probes")
def test_build_rows_without_a_match_in_any_batch(program):
    """Probes are looked up 2^24 at a time."""
    batch = 2**24
    keys = np.full(batch + 2, 100, "<u4")
    keys[[3, 4, batch, batch + 1]] = [5, 2, 9, 5]
    asked = {"build": program.file("b.npy", np.array([1, 5, 2, 9, 5, 7], "<u4")),
             "probe": program.file("p.npy", keys)}
    pairs = [[3, 1], [3, 4], [4, 2], [batch, 3], [batch + 1, 1], [batch + 1, 4]]
    assert program.join(kind="right", **asked).tolist() == [*pairs, [NONE, 0], [NONE, 5]]
    full = program.join(kind="full", **asked)
    assert len(full) == batch + 6
    assert full[-4:].tolist() == [*pairs[-2:], [NONE, 0], [NONE, 5]]


# What is refused.

WRONG = [
    ({"kind": "outer"}, "kind: 'outer' is not one of inner, left, right, full, semi, anti"),
    ({"kind": "innr"}, "did you mean 'inner'?"),
    ({"kind": "inner", "direction": "forward"}, "--direction goes with --kind asof or nearest, not inner"),
    ({"kind": "band", "tolerance": "1", "distance": "1"}, "--tolerance goes with --kind asof"),
    ({"kind": "left", "strict": None}, "--strict goes with --kind asof, not left"),
    ({"kind": "left", "build_by": "k.npy"}, "--build-by goes with --kind asof and others by order, not"),
    ({"kind": "inner", "probe_by": "k.npy"}, "--probe-by goes with --kind asof and others by order"),
    ({"kind": "less", "build_by": "k.npy"}, "--build-by and --probe-by go together"),
    ({"kind": "less", "build_by": "k.npy", "probe_by": "k.npy", "structure": "btree"},
     "--structure does not go with --kind less and --build-by, which has a structure of its own"),
    ({"kind": "asof", "how": "left"}, "--how goes with --kind band and others by order but asof"),
    ({"kind": "band", "distance": "1", "how": "outer"}, "how: 'outer' is not one of inner, left"),
    ({"kind": "band", "distance": "1", "closed": "left"}, "--closed goes with --kind contains, overlaps"),
    ({"kind": "contains", "build_upper": "k.npy", "closed": "open"}, "closed: 'open' is not one of both"),
    ({"kind": "contains", "build_upper": "k.npy", "probe_upper": "k.npy"},
     "--probe-upper goes with --kind overlaps, within, encloses, nearest or coverage, not contains"),
    ({"kind": "nearest", "build_upper": "k.npy"}, "--kind nearest needs --probe-upper"),
    ({"kind": "coverage", "probe_upper": "k.npy"}, "--kind coverage needs --build-upper"),
    ({"kind": "nearest", "build_upper": "k.npy", "probe_upper": "k.npy", "count": "0"},
     "--count: '0' is not a number of at least 1"),
    ({"kind": "nearest", "build_upper": "k.npy", "probe_upper": "k.npy", "how": "left"},
     "--how goes with --kind band and others by order but asof, nearest"),
    ({"kind": "overlaps", "count": "2"}, "--count goes with --kind nearest, not overlaps"),
    ({"kind": "asof", "no_overlaps": None}, "--no-overlaps goes with --kind nearest, not asof"),
    ({"kind": "band", "distance": "1", "before": "1"}, "--before goes with --kind window, not band"),
    ({"kind": "inner", "aggregate": "sum"}, "--aggregate goes with --kind window, not inner"),
    ({"kind": "window", "values": "k.npy"}, "--kind window needs --before, --after, or both"),
    ({"kind": "window", "before": "1"}, "--kind window needs --values, unless --aggregate is count"),
    ({"kind": "window", "before": "1", "values": "t.csv:n"}, "build t.csv:n: it has 2 rows, but k.npy has 4"),
    ({"kind": "window", "before": "1", "aggregate": "count", "columns": "k.npy", "out": "o.csv"}, "--columns goes with"),
    ({"kind": "window", "before": "far", "values": "k.npy"}, "--before: 'far' is not a distance"),
    ({"kind": "window", "before": "1", "values": "k.npy", "aggregate": "median"}, "'median' is not one of sum"),
    ({"kind": "overlaps", "build_upper": "k.npy"}, "--kind overlaps needs --probe-upper"),
    ({"kind": "within", "probe_upper": "k.npy"}, "--kind within needs --build-upper"),
    ({"kind": "less,asof"}, "--kind less,asof: a list is of two comparisons, such as less,greater_equal"),
    ({"kind": "less,less,less"}, "a list is of two comparisons"),
    ({"kind": "less,greter"}, "did you mean 'greater'?"),
    ({"kind": "less,greater"}, "--kind less,greater is of two columns, but --build names 1"),
    ({"kind": "overlaps", "build_upper": "t.csv:n", "probe_upper": "k.npy"},
     "build t.csv:n: it has 2 rows, but k.npy has 4"),
    ({"kind": "overlaps", "build_upper": "k.npy", "probe_upper": "t.csv:n"},
     "probe t.csv:n: it has 2 rows, but k.npy has 4"),
    ({"kind": "inner", "distance": "1"}, "--distance goes with --kind band, not inner"),
    ({"kind": "inner", "build_upper": "k.npy"}, "--build-upper goes with --kind contains"),
    ({"kind": "band", "distance": "1", "missing_equal": None}, "--missing-equal goes with --kind inner, left"),
    ({"kind": "inner", "neighbours": "2"}, "--neighbours goes with --kind asof, not inner"),
    ({"kind": "asof", "neighbours": "0"}, "--neighbours: '0' is not a whole number of at least 1"),
    ({"kind": "band", "distance": "1", "relative_tolerance": "1"}, "--relative-tolerance goes with --kind asof"),
    ({"kind": "asof", "relative_tolerance": "-1"}, "--relative-tolerance: '-1' is not a share of the probe"),
    ({"kind": "asof", "relative_tolerance": "1", "tolerance": "1"}, "--relative-tolerance do not go together"),
    ({"kind": "asof", "seed": "1"}, "--seed goes with --kind inner, left"),
    ({"kind": "band"}, "--kind band needs --distance"),
    ({"kind": "contains"}, "--kind contains needs --build-upper"),
    ({"kind": "asof", "build_by": "k.npy"}, "--build-by and --probe-by go together"),
    ({"kind": "asof", "structure": "btree"}, "--structure does not go with --kind asof"),
    ({"kind": "asof", "direction": "sideways"}, "direction: 'sideways' is not one of backward"),
    ({"kind": "asof", "tolerance": "-1"}, "--tolerance: '-1' is not a distance"),
    ({"kind": "band", "distance": "far"}, "--distance: 'far' is not a distance"),
    ({"kind": "band", "distance": "nan"}, "--distance: 'nan' is not a distance"),
    ({"kind": "left", "side": "probe"}, "--side probe goes with --kind inner, not left"),
    ({"kind": "inner", "side": "left"}, "side: 'left' is not one of auto, build, probe"),
    ({"kind": "inner", "side": "probe", "ordered": None}, "--ordered does not go with --side"),
    ({"kind": "inner", "build": "k.npy,k.npy"}, "--build names 2 columns, but --probe 1"),
    ({"kind": "inner", "build": "k.npy,"}, "--build k.npy,: a name in the list is empty"),
    ({"kind": "band", "distance": "1", "build": "k.npy,k.npy", "probe": "k.npy,k.npy"},
     "--kind band is of one column, but --build names 2"),
    ({"kind": "inner", "build": ",".join(["k.npy"] * 17), "probe": ",".join(["k.npy"] * 17)},
     "17 columns; a key has at most 16"),
    ({"kind": "inner", "columns": "t.csv:n"}, "--columns is written as CSV"),
    ({"kind": "inner", "columns": "t.csv:n", "out": "o.csv"}, "is not one that --build or --probe"),
    ({"kind": "inner", "columns": "build:t.csv:n", "probe": "t.csv:n", "out": "o.csv"},
     "is not one that --build names"),
    ({"kind": "semi", "columns": "t.csv:n", "build": "t.csv:n", "out": "o.csv"},
     "--kind semi has no build rows"),
    ({"kind": "inner", "columns": "t.csv:none", "build": "t.csv:n", "out": "o.csv"},
     "no column 'none'"),
    ({"kind": "inner", "build": "t.csv:n,k.npy", "probe": "k.npy,k.npy"},
     "build k.npy: it has 4 rows, but t.csv:n has 2"),
    ({"kind": "inner", "build": "t.csv:name"},
     "probe keys k.npy are int64, but build keys t.csv:name are strings"),
    ({"kind": "inner", "build": "t.csv:n", "probe": "t.csv:name"},
     "but probe keys t.csv:name are strings; name the type: t.csv:n:string"),
    ({"kind": "inner", "build": "t.csv:short"}, "are int64, but build keys t.csv:short are bytes2"),
    ({"kind": "less", "build": "t.csv:name", "probe": "t.csv:name"}, "bytes, more than 8"),
    ({"kind": "inner", "columns": "t.csv", "build": "t.csv:n", "out": "o.csv"},
     "--columns t.csv: which column? name it: t.csv:column"),
    ({"kind": "asof", "build": "t.csv:when", "probe": "t.csv:when"},
     "'11/27/2026' in column when is a text; dates and times are written as 2026-01-31 or 2026-01-31T09:30:00"),
    ({"kind": "asof", "build": "t.csv:version", "probe": "t.csv:version"},
     "'1.2.3 beta' in column version has 10 bytes, more than 8"),
    ({"kind": "asof", "build": "t.csv:short", "probe": "t.csv:short"},
     "build keys t.csv:short are bytes2; --kind asof is of numbers and times, which are written as 2026-01-31"),
    ({"kind": "less", "build": "t.csv:n:string"}, "joins by equal keys only"),
    ({"kind": "band", "distance": "1", "build": "t.csv:short", "probe": "t.csv:short"}, "bytes2"),
    ({"kind": "inner", "build": "t.csv:mixed"}, "t.csv:mixed:string"),
    ({"kind": "inner", "build": "none.npy"}, "none.npy: cannot be read: No such file"),
    ({"kind": "inner", "probe": "-", "out": "-"}, "-: standard input is read as points and ranges of `raydex query` alone"),
    ({"kind": "inner", "build": "-:k"}, "-:k: standard input is read as points and ranges of `raydex query` alone"),
    ({"kind": "inner", "structure": "pivot_teee"}, "did you mean 'pivot_tree'?"),
    ({"kind": "inner", "structure": "sorted_array", "option": "layuot=row"}, "'layout'?"),
    ({"kind": "inner", "backend": "tpu"}, "tpu"),
    ({"kind": "inner", "out": "k.npy"}, "same file"),
    ({"kind": "inner", "out": "none/o.npy"}, "none/o.npy: cannot be written"),
]


@pytest.mark.parametrize(("wrong", "part"), WRONG)
def test_refusals(program, wrong, part):
    program.file("k.npy", np.arange(4))
    program.file(
        "t.csv",
        "n,name,short,mixed,when,version\n"
        "1,a longer text,ab,1,11/27/2026,1.2.3 beta\n"
        "2,b,c,x,11/28/2026,1.2.4\n",
    )
    options = {"build": "k.npy", "probe": "k.npy", **wrong}
    flags = ["--" + name.replace("_", "-") for name, value in options.items() if value is None]
    options = {name: value for name, value in options.items() if value is not None}
    assert part in program.refuse_join(*flags, report="r.json", **options)


def test_usage(program):
    keys = program.file("k.npy", np.arange(4))
    assert "--build is required" in program.refuse("join", "--probe", keys)
    assert "--kind is required" in program.refuse_join(build=keys, probe=keys)
    line = program.refuse_join(build=keys, probe=keys, kind="less", structure="hash_open")
    assert "hash_open" in line


def test_times_of_csv(program):
    times = ["2024-03-01 12:30:05.250000", "2024-03-01T12:30:06", "", "2024-03-02"]
    program.file("q.csv", "t\n" + "\n".join(times) + "\n")
    program.file("p.csv", "t,g\n2024-03-01 12:30:05.250001,1\n2024-03-01,1\n,1\n2024-03-05T00:00,1\n")
    asof = {"build": "q.csv:t", "probe": "p.csv:t", "kind": "asof"}
    assert program.join(**asof)[:, 1].tolist() == [0, NONE, NONE, 3]
    assert program.join(**asof, tolerance="1000")[:, 1].tolist() == [0, NONE, NONE, NONE]  # nanoseconds
    found = program.join(build="q.csv:t", probe="p.csv:t", kind="greater")
    assert sorted(found.tolist()) == [[0, 1], [0, 3], [1, 0], [1, 1], [1, 3]]
    assert program.join(**asof, tolerance="1us")[:, 1].tolist() == [0, NONE, NONE, NONE]
    for unit in ["10d", "200h", "99999999999999d"]:
        assert program.join(**asof, tolerance=unit)[:, 1].tolist() == [0, NONE, NONE, 3]
    for distance, expected in [("750min", []), ("751min", [[1, 0], [1, 1]])]:
        found = program.join(build="q.csv:t", probe="p.csv:t", kind="band", distance=distance)
        assert sorted(found.tolist()) == [[0, 0], [0, 1], [0, 3], *expected]
    program.file("z.csv", "t\n2024-03-01T12:30:05Z\n")
    line = program.refuse_join(**{**asof, "probe": "z.csv:t"})
    assert "probe keys z.csv:t are times with a zone, but build keys q.csv:t are times without a zone" in line
    line = program.refuse_join(**{**asof, "probe": program.file("n.npy", np.arange(3))})
    assert "probe keys n.npy are int64, but build keys q.csv:t are times without a zone" in line
    program.file("n.csv", "t\n0.5\n")
    assert "are double, but build keys q.csv:t are times" in program.refuse_join(**{**asof, "probe": "n.csv:t"})
    line = program.refuse_join(build="n.csv:t", probe="n.csv:t", kind="band", distance="5s")
    assert "--distance 5s: build keys n.csv:t are double, whose distances have no unit" in line


def test_times_as_equal_keys(program):
    """However they are written; beside texts a type says that they are texts, too."""
    program.file("b.csv", "t,g\n2024-03-01,1\n2024-03-01T12:30:05.25,1\n,1\n")
    program.file("p.csv", "t,g\n2024-03-01 12:30:05.250,1\n2024-03-01 00:00,1\n2024-03-02,1\n")
    for keys in ["t", "t,g"]:
        found = program.join(build=f"b.csv:{keys}", probe=f"p.csv:{keys}", kind="left")
        assert found.tolist() == [[0, 1], [1, 0], [2, NONE]]
    program.file("z.csv", "t\n2024-03-01T13:30:05.25+01:00\n")
    program.file("y.csv", "t\n2024-03-01 12:30:05.250000Z\n")
    assert program.join(build="z.csv:t", probe="y.csv:t", kind="inner").tolist() == [[0, 0]]
    line = program.refuse_join(build="b.csv:t", probe="y.csv:t", kind="inner")
    assert "probe keys y.csv:t are times with a zone, but build keys b.csv:t are times without a zone" in line
    program.file("x.csv", "t\n2024-03-01\nunknown\n")
    line = program.refuse_join(build="b.csv:t", probe="x.csv:t", kind="inner")
    assert "keys b.csv:t are times without a zone, but probe keys x.csv:t are strings; name the type: b.csv:t:string" in line
    assert program.join(build="b.csv:t:string", probe="x.csv:t", kind="inner").tolist() == [[0, 0]]
