#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Keeps what `raydex bench` measured, and what is written from it.

  results.py pack JSON... --out FOLDER   a table NAME.csv from each NAME.json; rows of a table that is
                                         there already stay. Without JSON: all tables of the folder
                                         as they are kept now
  results.py generate                    writes src/choice/built_in_speeds.inc and the tables of docs/
  results.py check                       fails, with the difference, where these are out of date

A table is CSV after lines `# field: value` for what all its rows share. Figures are rounded to six
digits. What follows from other fields is left out, and `read` gives it back: rows have all fields of
the JSON but `workload`, a sentence. Options in force stand above the table for each structure, in a
line `# options of STRUCTURE: value`, and in a row those that are neither so nor as its command asks;
where a row has others, or in another order, all of them behind `all: `.
"""

import argparse
import collections
import csv
import functools
import difflib
import io
import json
import pathlib
import re
import sys
import tomllib

ROOT = pathlib.Path(__file__).resolve().parents[2]
RESULTS = ROOT / "docs/results"
MOST_BYTES = 3_200_000
SPEEDS = ROOT / "src/choice/built_in_speeds.inc"
TABLES = RESULTS / "tables.toml"
DOCUMENTS = [ROOT / "README.md", *sorted((ROOT / "docs").glob("**/*.md"))]
CARD = "NVIDIA H200"  # of the built-in speeds, and of all tables that name no device

# Cells of these fields are texts even if they look like numbers; flags of commands are, too.
TEXTS = {"experiment", "structure", "options", "backend", "device", "driver", "key", "result",
         "floor", "commit", "date"}

FLAGS = """--structure --backend --result --keys --probes --array-file --array --values --period --ranges
--position-bits --batches --key-bits --uniformity --distribution --stride --multiplicity --insert-order
--probe-order --hit-rate --miss --zipf --value-bits --heavy-key --range-hits --range-lengths --giant-range
--aggregate --threads --waves --growth --changes --seed --option --repetitions""".split()

BENCH = "raydex bench"
# Of older rows: what structures do now without being asked.
FORMER_OPTIONS = {"rx": {"points=perpendicular", "top=table", "top=instances", "update=rebuild"},
                  "rmq_hierarchy": {"kernel=own"}}
PEERS = ["raydex_rmq_sdsl"]  # programs of lab/peers that print rows as well

# What other fields say, to be left out where it holds for all rows of a table.
DERIVED = {
    "n": lambda row: row["workload_axes"]["keys"],
    "probes": lambda row: row["workload_axes"]["probes"],
    "batches": lambda row: row["workload_axes"]["batches"],
    "lookups_per_s": lambda row: row["probes"] / row["lookup_ms"] * 1e3,
    "ratio": lambda row: row["lookups_per_s"] / row["floor_per_s"],
    "build_ratio": lambda row: row["build_ms"] / row.get("sort_floor_ms", row.get("read_floor_ms")),
    "bytes_per_value": lambda row: row["read_floor_ms"] and row["resident_bytes"] / row["n"],
    "correct": lambda row: row["wrong"] == 0,
    "join_ms": lambda row: row["build_ms"] + row["join_build_ms"] + row["lookup_ms"],
    "join_floor_ms": lambda row: row["join_build_ms"] and (
        row["sort_floor_ms"] + row["probes"] / row["floor_per_s"] * 1e3),
    "output_rows_per_s": lambda row: row["join_build_ms"] and row["matches"] / row["lookup_ms"] * 1e3,
    "std_lower_bound_ratio": lambda row: row["lookups_per_s"] / row["std_lower_bound_per_s"],
}


@functools.lru_cache(maxsize=None)
def number(text):
    """A number as it stands in a command, such as 2^20; or the text, where it is none."""
    if re.fullmatch(r"\d+\^\d+", text):
        base, exponent = text.split("^")
        return int(base) ** int(exponent)
    return value(text)


def plain(what):
    """A number for the text of one, such as an option's; all else as it is."""
    return number(what) if isinstance(what, str) else what


def value(text):
    """A cell as the JSON had it."""
    try:
        return json.loads(text)
    except json.JSONDecodeError:
        return text


def text(what):
    """A cell; numbers with six digits."""
    if isinstance(what, str):
        return what
    if isinstance(what, float):
        what = float(f"{what:.6g}")
        what = int(what) if what == int(what) and abs(what) < 1e6 else what
    return json.dumps(what)


def same(a, b):
    """Equal, or numbers that are but for what rounding took."""
    if isinstance(a, (int, float)) and isinstance(b, (int, float)):
        return abs(a - b) <= 2e-5 * max(abs(a), abs(b))
    return a == b


def program_of(command):
    """The program of a row's command."""
    for program in [BENCH, *PEERS]:
        if command.startswith(program + " "):
            return program
    raise ValueError(f"no command of {BENCH}: {command}")


def flags_of(command):
    """The flags of a row's command, by name; of one that comes several times all values."""
    words = command.removeprefix(program_of(command)).split()
    flags = {}
    for name, given in zip(words[::2], words[1::2]):
        flags.setdefault(name, []).append(given)
    return {name: " ".join(given) for name, given in flags.items()}


def command_of(program, flags):
    """The other way round; in the order in which the program writes them."""
    words = [program]
    for name in sorted(flags, key=FLAGS.index):
        for each in flags[name].split():
            words += [name, each]
    return " ".join(words)


def axis_of_flag(name):
    """The axis of a workload that a flag of this name sets."""
    return name.removeprefix("--").replace("-", "_")


def derived(row, name):
    """What other fields say of this one, or None."""
    try:
        return DERIVED[name](row)
    except (KeyError, TypeError, ZeroDivisionError):
        return None


def flat(row):
    """A row of JSON as cells: flags of the command, axes that it does not name, and the fields."""
    flags = flags_of(row["command"])
    program = program_of(row["command"])
    cells = {**({} if program == BENCH else {"program": program}), **flags}
    named = {axis_of_flag(name): number(given) for name, given in flags.items()}
    for name, axis in row["workload_axes"].items():
        if not same(named.get(name), axis):
            cells["axis " + name] = text(axis)
    for name, field in row.items():
        if name not in ("workload", "workload_axes", "command") and field is not None:
            cells[name] = text(field)
    return cells


OPTIONS_OF = "options of "  # above a table
ALL_OPTIONS = "all: "  # in a cell


def expected_options(usual_ones, command_asks):
    """Options in force by name, if all but those that a command asks for are the usual ones."""
    usual_ones = named(usual_ones)
    return {**usual_ones, **{name: given for name, given in named(command_asks).items() if name in usual_ones}}


def usual_options(rows):
    """By structure the options in force of most of its rows."""
    counts = {}
    for row in rows:
        counts.setdefault(row["structure"], collections.Counter())[row["options"]] += 1
    return {structure: of.most_common(1)[0][0] for structure, of in counts.items()}


def short_options(options, expected):
    """A cell of options, if these are expected."""
    if list(named(options)) != list(expected):
        return ALL_OPTIONS + options
    return " ".join(f"{name}={given}" for name, given in named(options).items() if given != expected[name])


def whole_options(cell, expected):
    """The other way round."""
    if cell.startswith(ALL_OPTIONS):
        return cell.removeprefix(ALL_OPTIONS)
    return " ".join(f"{name}={given}" for name, given in {**expected, **named(cell)}.items())


def pack(rows):
    """The text of a table."""
    cells = [flat(row) for row in rows]
    usual_ones = usual_options(rows)
    for row in cells:
        expected = expected_options(usual_ones[row["structure"]], row.get("--option", ""))
        row["options"] = short_options(row["options"], expected)
    for name in reversed(DERIVED):
        if all(name not in row or same(derived(row, name), row[name]) for row in rows):
            present = {name in row for row in rows}
            if len(present) == 1:
                for row in cells:
                    row.pop(name, None)
    for row in cells:  # said by the command
        for name in ("structure", "backend", "result"):
            if row.get("--" + name) == row.get(name):
                row.pop(name, None)
    names = list(dict.fromkeys(name for row in cells for name in row))
    shared = [name for name in names if len({row.get(name) for row in cells}) == 1]
    out = io.StringIO()
    for name in shared:
        if name != "options" or cells[0][name]:
            out.write(f"# {name}: {cells[0][name]}\n")
    for structure, options in usual_ones.items():
        out.write(f"# {OPTIONS_OF}{structure}: {options}\n")
    varied = [name for name in names if name not in shared]
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(varied)
    writer.writerows([row.get(name, "") for name in varied] for row in cells)
    return out.getvalue()


def read(path):
    """The rows of a table, with the fields that they had as JSON."""
    lines = path.read_text(encoding="utf-8").splitlines()
    head = [line for line in lines if line.startswith("# ")]
    shared = dict(line[2:].split(": ", 1) for line in head)
    usual_ones = {name.removeprefix(OPTIONS_OF): shared.pop(name) for name in list(shared) if name.startswith(OPTIONS_OF)}
    rows = []
    for cells in csv.DictReader(lines[len(head):]):
        cells = {**shared, **{name: cell for name, cell in cells.items() if cell != ""}}
        program = cells.pop("program", BENCH)
        flags = {name: cell for name, cell in cells.items() if name.startswith("--")}
        axes = {axis_of_flag(name): number(given) for name, given in flags.items()}
        for name in ("structure", "backend", "result", "seed", "repetitions", "option", "experiment",
                     "array_file"):
            axes.pop(name, None)
        row = {"workload_axes": axes, "command": command_of(program, flags), "experiment": None}
        for name in ("structure", "backend", "result"):
            row[name] = flags.get("--" + name)
        for name, cell in cells.items():
            if name.startswith("axis "):
                axes[name.removeprefix("axis ")] = value(cell)
            elif not name.startswith("--"):
                row[name] = cell if name in TEXTS else value(cell)
        if usual_ones:
            expected = expected_options(usual_ones[row["structure"]], flags.get("--option", ""))
            row["options"] = whole_options(row.get("options", ""), expected)
        former = FORMER_OPTIONS.get(row["structure"], set())
        row["options"] = " ".join(word for word in row["options"].split() if word not in former)
        if row["structure"].startswith("rmq_") and "extreme=" not in row["options"]:
            row["options"] += " extreme=minimum"  # all there was before maxima
        for name in DERIVED:
            if name not in row and (found := derived(row, name)) is not None:
                row[name] = found
        rows.append(row)
    return rows


def everything():
    """The rows of all tables, the oldest first."""
    rows = [row for path in sorted(RESULTS.glob("*/*.csv")) for row in read(path)
            if "lookup_ms" in row]
    for row in rows:
        if not row["correct"]:
            raise SystemExit(f"results: wrong answers of {row['command']}")
    return sorted(rows, key=lambda row: row["date"])


def of_card(row):
    """Whether a row is of the card that tables are of, or of a CPU."""
    return row["backend"] == "cpu" or row["device"] == CARD


def named(options):
    """Options by name, from `name=value` separated by spaces."""
    return dict(word.split("=", 1) for word in options.split())


@functools.lru_cache(maxsize=None)
def asked_by(command):
    """The options that a command names; the others are defaults. Not to be changed."""
    return named(flags_of(command).get("--option", ""))


def asked(row):
    """Those of a row's command. Rows of other programs may have none."""
    return asked_by(row["command"]) if "command" in row else {}


def of_structure(row, where):
    """Whether a row is of the structure that `where` names, if it does: most rows are not, and the rest takes a
    while."""
    return "structure" not in where or where["structure"] == row.get("structure")


def matches(row, where):
    """Whether a row has these values, among its fields, axes and options. `options` stands for those
    that its command asks for, as `name=value` separated by spaces."""
    if not of_structure(row, where):
        return False
    options = asked(row)
    in_force = named(row["options"])
    whole = {**row["workload_axes"], **in_force, **options, **row,
             "options": " ".join(f"{name}={given}" for name, given in sorted(options.items()))}
    return all(same(plain(whole.get(name, "")), plain(wanted)) for name, wanted in where.items())


# The workload of a measurement that is not about another one. Tables that are older than an axis
# lack it.
USUAL_POINTS = {"batches": 1, "uniformity": 100, "distribution": "uniform", "stride": 1,
                "multiplicity": 1, "insert_order": "unsorted", "probe_order": "unsorted",
                "hit_rate": 100, "zipf": 0, "range_hits": 0, "waves": 0,
                "heavy_key": 0, "range_lengths": "even", "giant_range": 0, "aggregate": 0, "threads": 0}
LATER_AXES = {"waves", "value_bits", "miss", "heavy_key", "range_lengths", "giant_range", "aggregate", "threads"}


def usual(row, where):
    """Whether a row is of the usual workload but for what `where` says."""
    if not of_structure(row, where):
        return False
    axes = row["workload_axes"]
    wanted = {name: given for name, given in {**USUAL_POINTS, **where}.items()
              if name in axes or name not in LATER_AXES}
    others = set(USUAL_POINTS) - set(where)
    whole_range = "value_bits" in where or axes.get("value_bits") in (None, axes.get("key_bits"))
    return (whole_range and all(same(axes.get(name), wanted[name]) for name in others & wanted.keys()) and
            matches(row, {name: given for name, given in wanted.items() if name not in others}))


# The built-in speeds are of defaults, as `info().options` has them. Rays are traced in the order of
# their keys by default, which `order=sorted` says too; probes that are sorted already were measured
# as they come.
SIZES = [20, 24, 26, 28]
DEFAULTS = {
    "sorted_array": "layout=column",
    "eytzinger": "layout=row k=9",
    "pivot_tree": "layout=row search=lines nodes=auto",
    "btree": "fill=80",
    "direct": "limit=4",
    "hash_open": "load=80 bucket=64 placement=linear repeats=allowed reading=shared seed=random",
    "hash_bucket": "occupancy=100 repeats=allowed reading=shared seed=random",
    "rx": "mode=3d bits=23/23/18 scale=auto primitive=auto primitives=sorted "
          "ranges=offset hits=closest duplicates=compress compact=auto build=fast parts=auto order=auto "
          "inverse=off",
    "cgrx": "bucket=16 node=off layout=column scene=auto mapping=fit search=auto scan=multi "
            "compact=auto build=fast parts=auto order=auto rebuild=32",
}
LATER_OPTIONS = {"rx": {"primitives": "sorted"}, "hash_open": {"seed": "random"},
                 "hash_bucket": {"seed": "random"}}  # of tables that are older than an option
JUDGED = [("sorted_array", "cuda"), ("eytzinger", "cuda"), ("pivot_tree", "cuda"), ("btree", "cuda"),
          ("direct", "cuda"), ("hash_open", "cuda"), ("hash_bucket", "cuda"), ("rx", "optix"),
          ("cgrx", "optix"), ("sorted_array", "cpu"), ("eytzinger", "cpu"), ("pivot_tree", "cpu"), ("btree", "cpu"),
          ("direct", "cpu"), ("hash_open", "cpu"), ("hash_bucket", "cpu")]


def speeds():
    """The text of the table of built-in speeds."""
    rows = [row for row in everything() if row["experiment"] is None and of_card(row)]
    lines = ["// Written by lab/scripts/results.py from docs/results; not to be edited.\n"]
    for structure, backend in JUDGED:
        for key_bits, hits, is_sorted in ((32, 0, False), (32, 0, True), (64, 0, False), (64, 0, True),
                                          (32, 1, False), (32, 16, False), (32, 256, False),
                                          (32, 1024, False), (32, 2**14, False),
                                          (32, 2**18, False)):
            order = "batch" if is_sorted and backend == "optix" else ""
            options = named(DEFAULTS[structure])
            if order:
                options["order"] = order
            where = {"structure": structure, "backend": backend, "key_bits": key_bits,
                     "range_hits": hits, "result": "sum" if hits else "first",
                     "probe_order": "sorted" if is_sorted else "unsorted"}
            if hits or structure == "direct":
                where["uniformity"] = 0
            found = {}
            for row in rows:
                if not usual(row, where):
                    continue
                in_force = {**LATER_OPTIONS.get(row["structure"], {}),
                            **named(row["options"].replace("order=sorted", "order=auto"))}
                if in_force == options:
                    # Large batches count, whatever was measured with smaller ones later.
                    if row["probes"] >= found.get(row["n"], row)["probes"]:
                        found[row["n"]] = row
            cells = [found.get(2**size) for size in SIZES]
            if not any(cells):
                continue
            figures = ", ".join(f"{cell['lookups_per_s'] / 1e9:.3g}" if cell else "0" for cell in cells)
            newest = [cell for cell in cells if cell][-1]
            tail = f', "{order}"' if order else ""
            lines.append(f'series{{"{structure}", backend::{backend}, {key_bits}, {hits}, '
                         f"{str(is_sorted).lower()}, {newest['resident_bytes'] / newest['n']:.3g}, "
                         f"{{{figures}}}{tail}}},\n")
    return "".join(lines)


class cell_fields(dict):
    """What the format of a cell may name."""

    def __init__(self, row):
        super().__init__(row)
        self.update(g=row["lookups_per_s"] / 1e9, m=row["lookups_per_s"] / 1e6, ms=row["lookup_ms"],
                    bytes=row["resident_bytes"] / row["n"], gb=row["resident_bytes"] / 1e9,
                    floor_g=row["floor_per_s"] / 1e9)
        if "build_peak_bytes" in row:
            self["peak_gb"] = row["build_peak_bytes"] / 1e9
        if "calls_per_s" in row:
            self["calls_per_ms"] = row["calls_per_s"] / 1e3
        if "edit_ms" in row:
            self["times_build"] = row["rebuild_ms"] / row["edit_ms"]
        if "bytes_per_value" in row:
            self["of_array"] = row["bytes_per_value"] / (8 if row["key"].endswith(("64", "double")) else 4)


def cell(rows, spec, where):
    """One cell: the newest row that matches, for each value of the axis to join, if there is one."""
    axis, values = next(iter(spec.get("join", {"structure": [None]}).items()))
    texts = []
    for each in values:
        wanted = {**where, **({axis: each} if each is not None else {})}
        minima = "rmq_" in wanted.get("structure", "")
        experiment = wanted.pop("experiment", None)
        found = [row for row in rows if experiment in ("any", row["experiment"]) and
                 ("device" in wanted or of_card(row)) and
                 (matches(row, wanted) if minima else usual(row, wanted))]
        several = {f"{row['options']} {row['workload_axes'].get('probes')}" for row in found}
        if len(several) > 1:
            raise SystemExit(f"results: {wanted} are several: " + "; ".join(sorted(several)))
        texts.append(spec["cell"].format_map(cell_fields(found[-1])) if found else "")
    return " / ".join(texts) if any(texts) else ""


def rows_of_peer(name):
    """The rows, as texts, that a program of lab/peers printed into a file of docs/results."""
    with (RESULTS / name).open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(line for line in file if not line.startswith("#")))


def heads_of_peer(name):
    """What stands above them, `# field: value`; of a field that comes several times a list."""
    heads = {}
    with (RESULTS / name).open(encoding="utf-8") as file:
        for line in file:
            if line.startswith("# "):
                field, _, given = line[2:].rstrip("\n").partition(": ")
                heads.setdefault(field, []).append(given)
    return heads


def cell_of_peer(spec, where):
    """One cell of what a program of lab/peers printed: of the one row that matches, for each value of the axis to join."""
    axis, values = next(iter(spec.get("join", {None: [None]}).items()))
    texts = []
    for each in values:
        wanted = {**where, **({axis: each} if each is not None else {})}
        found = [row for row in rows_of_peer(spec["file"])
                 if all(same(plain(row[name]), plain(cell)) for name, cell in wanted.items())]
        if len(found) != 1:
            raise SystemExit(f"results: {len(found)} rows of {spec['file']} are {wanted}")
        fields = {name: value(cell) for name, cell in found[0].items()}
        if "lookups_per_s" in fields:
            fields["g"] = fields["lookups_per_s"] / 1e9
        texts.append(spec["cell"].format_map(fields))
    return " / ".join(texts)


def table(spec, rows):
    """A table of Markdown as tables.toml describes it."""
    axis, values = next(iter(spec["columns"].items()))
    heads = [spec.get("heads", {}).get(each, each) for each in values]
    lines = [f"| {spec.get('title', '')} | " + " | ".join(heads) + " |", "| --- |" + " --- |" * len(values)]
    for line in spec["rows"]:
        if "text" in line:
            cells = line["text"]
        else:
            whole = {**spec, **line}
            if "file" in whole:
                shared = spec.get("where", {}) if "file" in spec else {}
                cells = ["" if each in line.get("without", []) else
                         cell_of_peer(whole, {**shared, **line["where"], axis: each}) for each in values]
            else:
                where = {**spec.get("where", {}), **line.get("where", {})}
                cells = [cell(rows, whole, {**where, axis: each}) for each in values]
            if not any(cells):
                raise SystemExit(f"results: no row of docs/results is {line}")
        if spec.get("best") == "least":
            least = min(float(each) for each in cells if each)
            cells = [f"**{each}**" if each and float(each) == least else each for each in cells]
        lines.append(f"| {line['name']} | " + " | ".join(cells) + " |")
    return "\n".join(line.replace("|  |", "| |").replace("|  |", "| |") for line in lines)


def described(specs, name):
    """A table's description, with what it has from the one that it is `like`."""
    spec = specs[name]
    if "like" not in spec:
        return spec
    other = described(specs, spec["like"])
    return {**other, **spec, "where": {**other.get("where", {}), **spec.get("where", {})}}


def document(text_of_it, specs, rows):
    """A document with its tables written anew."""
    def anew(match):
        if match["name"] not in specs:
            raise SystemExit(f"results: {TABLES} has no table {match['name']}")
        return f"{match['begin']}\n{table(described(specs, match['name']), rows)}\n{match['end']}"

    return re.sub(r"(?P<begin><!-- results: (?P<name>[\w-]+) -->)\n.*?(?P<end><!-- end -->)", anew,
                  text_of_it, flags=re.DOTALL)


def written():
    """What is written from the results: texts by path."""
    rows = everything()
    specs = tomllib.loads(TABLES.read_text(encoding="utf-8"))
    files = {SPEEDS: speeds()}
    for path in DOCUMENTS:
        old = path.read_text(encoding="utf-8")
        if "<!-- results: " in old:
            files[path] = document(old, specs, rows)
    return files


def main():
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="what", required=True)
    packing = commands.add_parser("pack", help="tables from JSON")
    packing.add_argument("json", nargs="*", type=pathlib.Path)
    packing.add_argument("--out", type=pathlib.Path, required=True, help="folder of the tables")
    commands.add_parser("generate", help="write what follows from the tables")
    commands.add_parser("check", help="see that it is current")
    options = parser.parse_args()
    if options.what == "pack":
        options.out.mkdir(parents=True, exist_ok=True)
        for path in options.json or sorted(options.out.glob("*.csv")):
            table_path = options.out / (path.stem + ".csv")
            before = read(table_path) if table_path.exists() else []
            rows = before + (json.loads(path.read_text(encoding="utf-8")) if options.json else [])
            if rows:
                table_path.write_text(pack(rows), encoding="utf-8")
        return 0
    size = sum(path.stat().st_size for path in RESULTS.rglob("*") if path.is_file())
    current = size < MOST_BYTES
    if not current:
        print(f"results: {RESULTS} has {size} bytes; it is to stay below {MOST_BYTES}", file=sys.stderr)
    for path, new in written().items():
        old = path.read_text(encoding="utf-8") if path.exists() else ""
        if old == new:
            continue
        if options.what == "generate":
            path.write_text(new, encoding="utf-8")
        else:
            name = str(path.relative_to(ROOT))
            sys.stderr.writelines(difflib.unified_diff(
                old.splitlines(True), new.splitlines(True), name, name + " as docs/results say"))
            current = False
    return 0 if current else 1


if __name__ == "__main__":
    sys.exit(main())
