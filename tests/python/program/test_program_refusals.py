# SPDX-License-Identifier: Apache-2.0
"""What `python -m raydex` refuses: one line that tells why, and no file."""

from running import JOIN, QUERY, RMQ, words_of, write_inputs

# fmt: off
WRONG = [
    ("query", {"result": "cuont"}, "result: 'cuont' is not one of first, count, sum, rows, rank"),
    ("query", {"result": "cuont"}, "did you mean 'count'?"),
    ("query", {"points": None}, "give either --points or --ranges"),
    ("query", {"ranges": "r.npy"}, "give either --points or --ranges"),
    ("query", {"points": None, "ranges": "k.npy"},
     "k.npy: its shape is (4,); n x 2, lower and upper ends, is needed"),
    ("query", {"points": None, "ranges": "t.csv:n"}, "ranges have two columns: t.csv:lower,upper"),
    ("query", {"points": None, "ranges": "r.npy", "result": "rank"},
     "--result rank is of --points, not --ranges"),
    ("query", {"strict": True}, "--strict goes with --result predecessor or successor, not count"),
    ("query", {"values": "k.npy"}, "--values goes with --result sum, not count"),
    ("query", {"values": "t.csv:name", "result": "sum"}, "values t.csv:name: "),
    ("query", {"values": "few.npy", "result": "sum"}, "values few.npy: 2 cells, but the largest row id is 3"),
    ("query", {"insert": "k.npy"}, "--insert and --insert-rows go together"),
    ("query", {"erase_rows": "k.npy"}, "--erase-rows goes with --erase"),
    ("query", {"row_ids": "t.csv:gaps"}, "row ids t.csv:gaps: some are missing"),
    ("query", {"row_ids": "half.npy"}, "row ids half.npy are double; row ids are integers"),
    ("query", {"row_ids": "negative.npy"}, "row ids negative.npy: they go from -3 to 0"),
    ("query", {"row_ids": "few.npy"}, "row ids: there are 2, but 4 keys"),
    ("query", {"keys": "none.npy"}, "none.npy: cannot be read: No such file or directory"),
    ("query", {"keys": "."}, ".: cannot be read: not a regular file"),
    ("query", {"keys": "none.parquet:n"}, "none.parquet: cannot be read: No such file or directory"),
    ("query", {"keys": "t.csv"}, "t.csv: which column? name it: t.csv:column"),
    ("query", {"keys": "t.parquet"}, "t.parquet: which column? name it: t.parquet:column"),
    ("query", {"keys": "k.npy:n"}, "k.npy:n: columns are named of tables"),
    ("query", {"keys": "t.csv:name_"},
     "t.csv: no column 'name_'; there are n, name, gaps, n2; did you mean 'name'?"),
    ("query", {"keys": "t.parquet:m"}, "t.parquet: no column 'm'; there are n"),
    ("query", {"keys": "twice.csv:a"}, "twice.csv: 2 columns are called 'a'"),
    ("query", {"keys": "uneven.csv:a"}, "uneven.csv: CSV parse error: "),
    ("query", {"keys": "empty.csv:a"}, "empty.csv: it is empty"),
    ("query", {"keys": "broken.parquet:n"}, "broken.parquet: "),
    ("query", {"keys": "broken.arrow:n"}, "broken.arrow: "),
    ("query", {"keys": "broken.csv.gz:n"}, "broken.csv.gz: "),
    ("query", {"keys": "table.npy"},
     "table.npy: it is not an .npy file but a table of Parquet; let its name"),
    ("query", {"keys": "text.npy"},
     "text.npy: it is not an .npy file; columns of tables are named so: file.csv"),
    ("query", {"keys": "cut.npy"}, "cut.npy: it is damaged or truncated"),
    ("query", {"keys": "long.npy"}, "long.npy: 3 bytes follow the 32 bytes of its cells"),
    ("query", {"keys": "letters.npy"},
     "letters.npy: its dtype is '<U1'; numbers, booleans, times and byte strings"),
    ("query", {"keys": "fields.npy"}, "fields.npy: its dtype is a structure; save one field"),
    ("query", {"keys": "r.npy"}, "r.npy: its shape is (2, 2); one dimension is needed"),
    ("query", {"points": "half.npy", "keys": "far.npy"},
     "points half.npy are double, but keys far.npy are int64\n"),
    ("query", {"structure": "pivot_teee"}, "did you mean 'pivot_tree'?"),
    ("query", {"structure": "rmq_scan"}, "structure: 'rmq_scan' is not one of auto, sorted_array"),
    ("query", {"structure": "sorted_array", "option": "layout=rows"},
     "option layout: 'rows' is not one of column, row"),
    ("query", {"option": "layout"}, "option: 'layout' is not of the form name=value"),
    ("query", {"structure": "hash_open", "result": "rank"}, "hash_open"),
    ("query", {"backend": "tpu"}, "backend: 'tpu' is not one of auto, cpu, cuda, optix"),
    ("query", {"out": "k.npy"}, "--keys k.npy and --out k.npy are the same file"),
    ("query", {"out": "o.txt"}, "--out o.txt: files that end in .txt are not written here; let it end in .npy, .csv"),
    ("query", {"out": "o.npz"}, "files that end in .npz are not written here"),
    ("query", {"out": "o.npy", "result": "rows"}, "let it end in .npz, .csv"),
    ("join", {"out": "o.tsv"}, "files that end in .tsv"),
    ("rmq", {"out": "o.json"}, "files that end in .json"),
    ("query", {"points": "inexact.csv:a"}, "row 1: '9007199254740993' in column a is a whole number that no double is"),
    ("join", {"build": "inexact.csv:a"}, "to read it rounded: inexact.csv:a:double"),
    ("query", {"points": "half.csv:a:int64"}, "invalid value '5.5'"),
    ("query", {"out": "none/o.npy"}, "none/o.npy: cannot be written: No such file or directory"),
    ("query", {"out": "folder"}, "folder: cannot be written: not a regular file"),
    ("query", {"out": "locked.npy"}, "locked.npy: cannot be written: it is read-only"),
    ("query", {"out": ""}, "cannot be written"),
    ("query", {"report": "r.json"}, "'--report' is not an option of raydex query; the C++ program has it"),
    ("query", {"pointz": "k.npy"}, "'--pointz' is not an option of raydex query; did you mean '--points'?"),
    ("join", {"kind": "outer"}, "kind: 'outer' is not one of inner, left, semi, anti, asof, band"),
    ("join", {"direction": "forward"}, "--direction goes with --kind asof, not inner"),
    ("join", {"strict": True}, "--strict goes with --kind asof, not inner"),
    ("join", {"build_by": "k.npy", "kind": "less"}, "--build-by goes with --kind asof, not less"),
    ("join", {"distance": "1"}, "--distance goes with --kind band, not inner"),
    ("join", {"build_upper": "k.npy"}, "--build-upper goes with --kind contains, not inner"),
    ("join", {"kind": "asof", "missing_equal": True},
     "--missing-equal goes with --kind inner, left, semi or anti"),
    ("join", {"kind": "band"}, "--kind band needs --distance"),
    ("join", {"kind": "contains"}, "--kind contains needs --build-upper"),
    ("join", {"kind": "contains", "build_upper": "k.npy,k.npy"}, "--build-upper is one column, but names 2"),
    ("join", {"kind": "asof", "build_by": "k.npy"}, "--build-by and --probe-by go together"),
    ("join", {"kind": "asof", "structure": "btree"}, "--structure does not go with --kind asof"),
    ("join", {"kind": "asof", "direction": "sideways"}, "direction: 'sideways' is not one of backward"),
    ("join", {"kind": "asof", "tolerance": "-1"},
     "--tolerance: '-1' is not a distance, a number of at least 0"),
    ("join", {"kind": "band", "distance": "nan"}, "--distance: 'nan' is not a distance"),
    ("join", {"kind": "band", "distance": "5", "build": "day.npy", "probe": "day.npy"},
     "--distance: '5' is not a distance of datetime64[D], a number with a unit such as 90s"),
    ("join", {"kind": "band", "distance": "1d", "build": "year.npy", "probe": "year.npy"},
     "which have no distance"),
    ("join", {"kind": "left", "side": "probe"}, "--side probe goes with --kind inner, not left"),
    ("join", {"side": "left"}, "side: 'left' is not one of auto, build, probe"),
    ("join", {"side": "probe", "ordered": True}, "--ordered does not go with --side probe"),
    ("join", {"build": "k.npy,k.npy"}, "--build names 2 columns, but --probe 1"),
    ("join", {"build": "k.npy,"}, "--build k.npy,: a name in the list is empty"),
    ("join", {"build": "k.npy,k.npy", "probe": "k.npy,k.npy", "kind": "less"},
     "--kind less is of one column"),
    ("join", {"build": ",".join(["k.npy"] * 17), "probe": ",".join(["k.npy"] * 17)}, "a key has at most 16"),
    ("join", {"build": "t.csv:n,k.npy", "probe": "k.npy,k.npy"},
     "build k.npy: it has 4 rows, but t.csv:n has 2"),
    ("join", {"build": "t.csv:n", "probe": "t.csv:name"},
     "build keys t.csv:n are int64, but probe keys t.csv:name are strings; name the type: t.csv:n:string"),
    ("join", {"build": "t.csv:name", "probe": "t.csv:name", "kind": "less"}, "has 13 bytes, more than 8"),
    ("join", {"columns": "t.csv:n"}, "--columns is written as a table: --out name.csv, name.parquet"),
    ("join", {"columns": "t.csv:n", "out": "o.csv"},
     "--columns t.csv:n: its file is not one that --build or --probe"),
    ("join", {"columns": "build:t.csv:n", "probe": "t.csv:n", "out": "o.csv"},
     "is not one that --build names"),
    ("join", {"columns": "t.csv:n", "build": "t.csv:n", "probe": "t.csv:n", "out": "o.csv"},
     "say which: build:t.csv:n or probe:t.csv:n"),
    ("join", {"columns": "build:t.csv:n,n", "build": "t.csv:n", "probe": "t.csv:n", "out": "o.csv"},
     "two columns are called 'build.t.n'"),
    ("join", {"columns": "t.csv:n", "build": "t.csv:n", "kind": "semi", "out": "o.csv"}, "has no build rows"),
    ("join", {"columns": "t.csv:none", "build": "t.csv:n", "out": "o.csv"}, "no column 'none'"),
    ("join", {"structure": "hash_open", "kind": "less"}, "hash_open answers points, not ranges"),
    ("rmq", {"result": "mean"}, "result: 'mean' is not one of min, argmin, max, argmax"),
    ("rmq", {"values": "t.csv:name"}, "values t.csv:name are strings; minima are of numbers"),
    ("rmq", {"values": "t.csv:gaps"}, "values t.csv:gaps: some are missing"),
    ("rmq", {"ranges": "t.csv:n,name"}, "ranges t.csv:n,name are strings; positions are integers"),
    ("rmq", {"set": "k.npy"}, "--set and --set-values go together"),
    ("rmq", {"set": "few.npy", "set_values": "k.npy"}, "set values k.npy: there are 4, but 2 positions"),
    ("rmq", {"set": "negative.npy", "set_values": "k.npy"}, "position 0 is -3; the array has 4 values"),
    ("rmq", {"set": "few.npy", "set_values": "half.npy"},
     "set values half.npy are double, but values k.npy are int64"),
    ("rmq", {"set": "few.npy", "set_values": "few.npy", "structure": "rmq_lca"},
     "rmq_lca takes no changed values"),
    ("rmq", {"structure": "sorted_array"}, "structure: 'sorted_array' is not one of auto, rmq_cover"),
]
# fmt: on


def test_refusals(program):
    write_inputs(program)
    for command, wrong, part in WRONG:
        options = {**{"query": QUERY, "join": JOIN, "rmq": RMQ}[command], **wrong}
        options = {name: value for name, value in options.items() if value is not None}
        assert part in program.refuse(command, **options), (command, wrong)


def test_words_that_are_not_known(program):
    write_inputs(program)
    for words, part in [
        ([], "which command? (see --help)"),
        (["frobnicate"], "'frobnicate' is not a command of raydex (see --help)"),
        (["quer"], "did you mean 'query'?"),
        (["advise"], "'advise' is not a command of raydex; the C++ program has it"),
        (["query"], "--keys is required"),
        (["--frob"], "'--frob' is not an option of raydex"),
        (["join", "--build", "k.npy"], "--probe is required"),
        (["query", "--keys"], "--keys: expected one argument"),
        (["query", "--keys", "k.npy", "--keys", "k.npy"], "--keys is given twice"),
        (["structures", "rx", "extra"], "'extra' is not for raydex structures"),
        (["structures", "pivot"], "did you mean 'pivot_tree'?"),
        (
            ["query", *words_of(QUERY), "--option", "layout=row", "--option", "layout=row"],
            "'layout' is given twice",
        ),
    ]:
        assert part in program.refuse(*words), words


def test_what_this_machine_cannot(program):
    write_inputs(program)
    for backend in ["cuda", "optix"]:
        error = program.refuse("query", **{**QUERY, "backend": backend}, status=1)
        assert f"backend {backend}: columns of files are in host memory" in error
    error = program.refuse("query", **{**QUERY, "out": "/dev/full"}, status=1)
    assert error == "raydex: /dev/full: cannot be written: No space left on device\n"
