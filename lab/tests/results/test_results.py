# SPDX-License-Identifier: Apache-2.0
"""Tables of results: what is packed is read again, and what is written from them follows them."""

import json
import pathlib
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "lab/scripts"))

import results  # noqa: E402


@pytest.fixture(name="measured", scope="module")
def fixture_measured(tmp_path_factory, program):
    """Rows of `raydex bench`, on keys and on minima."""
    path = tmp_path_factory.mktemp("results") / "rows.json"
    command = [program, "bench", "--backend", "cpu", "--repetitions", "1", "--json", str(path)]
    keys = ["--keys", "2^10,2^11", "--probes", "2^10"]
    rows = []
    for more in (["--structure", "sorted_array,pivot_tree", *keys, "--probe-order", "unsorted,sorted",
                  "--option", "layout=row"],
                 ["--structure", "cgrx", "--keys", "2^10", "--probes", "2^10", "--waves", "1",
                  "--option", "bucket=4", "--option", "node=8"],
                 ["--structure", "pivot_tree", *keys, "--range-hits", "8", "--range-lengths", "even,zipf",
                  "--giant-range", "25", "--heavy-key", "10", "--batches", "4", "--threads", "0,2"],
                 ["--structure", "rmq_cover", *keys, "--ranges", "small", "--result", "min,argmin"],
                 ["--structure", "pivot_tree", *keys, "--multiplicity", "3", "--result", "count,pairs"],
                 ["--structure", "hash_open", *keys, "--result", "pairs"]):
        subprocess.run(command + more, check=True, stdout=subprocess.DEVNULL)
        rows.append(json.loads(path.read_text(encoding="utf-8")))
    return rows


def test_minima_before_there_were_maxima(measured, tmp_path):
    """Rows of older tables do not say which extreme they looked for: they are of the same workloads."""
    rows = next(rows for rows in measured if rows[0]["structure"] == "rmq_cover")
    older = [{**row, "options": row["options"].replace(" extreme=minimum", "")} for row in rows]
    assert older != rows
    table = tmp_path / "rows.csv"
    table.write_text(results.pack(older), encoding="utf-8")
    assert [row["options"] for row in results.read(table)] == [row["options"] for row in rows]


def test_what_is_packed_is_read_again(measured, tmp_path):
    """All fields but the sentence that describes the workload; figures to six digits."""
    for rows in measured:
        table = tmp_path / "rows.csv"
        table.write_text(results.pack(rows), encoding="utf-8")
        again = results.read(table)
        assert len(again) == len(rows)
        for before, after in zip(rows, again):
            before = {name: field for name, field in before.items() if name != "workload"}
            assert before.keys() == after.keys()
            for name, field in before.items():
                if name == "workload_axes":
                    assert field.keys() == after[name].keys()
                    assert all(results.same(after[name][axis], given) for axis, given in field.items())
                else:
                    assert results.same(after[name], field), name


def test_options_that_most_rows_have_stand_once(measured, tmp_path):
    """Above the table, for each structure; what a command asks for is said there. All of them come back as they were,
    in their order, and a table that is packed again stays the same."""
    usual = "layout=row fill=80 seed=3"
    row = {**measured[0][0], "structure": "btree"}
    command = row["command"].replace("--structure sorted_array", "--structure btree").replace("layout=row", "fill=90")
    assert command != row["command"]
    rows = [{**row, "command": command.replace("fill=90", f"fill={given}"), "options": options}
            for given, options in ((80, usual), (80, usual), (90, "layout=row fill=90 seed=3"),
                                   (90, "layout=row fill=80 seed=3"), (80, "layout=column fill=80 seed=4"),
                                   (80, "fill=80 layout=row seed=3"), (80, "layout=row fill=80"), (80, usual + " new=1"))]
    text = results.pack(rows)
    table = tmp_path / "rows.csv"
    table.write_text(text, encoding="utf-8")
    assert [row["options"] for row in results.read(table)] == [row["options"] for row in rows]
    assert text.count(usual) == 2  # above, and of the row that has one more
    assert results.pack(results.read(table)) == text
    subprocess.run([sys.executable, ROOT / "lab/scripts/results.py", "pack", "--out", tmp_path], check=True)
    assert table.read_text(encoding="utf-8") == text


def test_rows_of_other_programs(measured, tmp_path):
    """Programs of lab/peers print such rows, too; commands of others are refused."""
    rows = next(rows for rows in measured if rows[0]["structure"] == "rmq_cover")
    command = rows[0]["command"]
    table = tmp_path / "rows.csv"
    for program in results.PEERS:
        theirs = [{**row, "command": row["command"].replace("raydex bench", program)} for row in rows]
        table.write_text(results.pack(theirs), encoding="utf-8")
        assert results.read(table)[0]["command"] == theirs[0]["command"] != command
    with pytest.raises(ValueError, match="no command of raydex bench"):
        results.pack([{**rows[0], "command": command.replace("raydex bench", "sort")}])


def test_rows_are_added_to_a_table(measured, tmp_path):
    """What was measured before stays."""
    path = tmp_path / "points.json"
    path.write_text(json.dumps(measured[0]), encoding="utf-8")
    for times in (1, 2):
        subprocess.run([sys.executable, ROOT / "lab/scripts/results.py", "pack", path, "--out", tmp_path],
                       check=True)
        assert len(results.read(tmp_path / "points.csv")) == times * len(measured[0])


def test_a_table_of_a_document_is_written_anew(measured, tmp_path):
    """The newest row counts; a cell without one is empty, a line without any refused."""
    table = tmp_path / "rows.csv"
    table.write_text(results.pack(measured[0]), encoding="utf-8")
    rows = results.read(table)
    spec = {"columns": {"keys": ["2^10", "2^20"]}, "cell": "{n}",
            "rows": [{"name": "here", "where": {"structure": "pivot_tree"}},
                     {"name": "goal", "text": ["1", ""]}]}
    old = "Before.\n\n<!-- results: t -->\n| old |\n<!-- end -->\n\nAfter.\n"
    new = results.document(old, {"t": spec}, rows)
    assert new == ("Before.\n\n<!-- results: t -->\n| | 2^10 | 2^20 |\n| --- | --- | --- |\n"
                   "| here | 1024 | |\n| goal | 1 | |\n<!-- end -->\n\nAfter.\n")
    spec["rows"][0]["where"]["structure"] = "rx"
    with pytest.raises(SystemExit):
        results.document(old, {"t": spec}, rows)


def test_tables_are_of_one_card(measured):
    """Later rows of another card do not come in, but where it is named; nor do they into the built-in speeds."""
    here = next(row for row in measured[0] if row["structure"] == "pivot_tree")
    ours = {**here, "experiment": None, "backend": "cuda", "device": results.CARD, "date": "1"}
    later = {**ours, "device": "Another", "n": 7, "date": "2"}
    experiment = {**later, "experiment": "a/1", "n": 8}
    rows = [ours, later, experiment]
    spec = {"columns": {"structure": ["pivot_tree"]}, "cell": "{n}", "rows": [{"name": "it", "where": {}}],
            "where": {"probe_order": here["workload_axes"]["probe_order"]}}
    specs = {"usual": spec, "other": {"like": "usual", "where": {"device": "Another"}},
             "figure": {"like": "other", "where": {"experiment": "a/1"}}}
    cells = [results.table(results.described(specs, name), rows).splitlines()[-1] for name in specs]
    assert cells == [f"| it | {here['n']} |", "| it | 7 |", "| it | 8 |"]
    assert [results.of_card(row) for row in rows] == [True, False, False]


def test_cells_are_of_what_peers_printed(tmp_path, monkeypatch):
    """One row of their table; none or several are refused."""
    monkeypatch.setattr(results, "RESULTS", tmp_path)
    (tmp_path / "peers.csv").write_text("peer,keys,lookups_per_s\na,1024,2.5e9\na,2048,3e9\nb,1024,1e9\n",
                                        encoding="utf-8")
    spec = {"columns": {"keys": ["2^10", "2^11"]}, "file": "peers.csv", "cell": "{g:.2g}",
            "rows": [{"name": "there", "where": {"peer": "a"}}]}
    assert results.table(spec, []).endswith("| there | 2.5 | 3 |")
    spec["rows"][0]["where"] = {"peer": "b"}
    with pytest.raises(SystemExit):
        results.table(spec, [])
    spec["rows"][0]["without"] = ["2^11"]
    assert results.table({**spec, "heads": {"2^11": "more"}}, []) == (
        "|  | 2^10 | more |\n| --- | --- | --- |\n| there | 1 | |".replace("|  |", "| |"))
    of_peers = {**spec, "columns": {"peer": ["a", "b"]}, "where": {"keys": 1024}, "best": "least",
                "rows": [{"name": "the least", "where": {}}]}
    assert results.table(of_peers, []).endswith("| the least | 2.5 | **1** |")
    spec = {**spec, "columns": {"keys": ["2^10"]}, "rows": [{"name": "any", "where": {}}]}
    with pytest.raises(SystemExit):
        results.table(spec, [])


def test_options_that_are_numbers_are_found(measured):
    """A description may give them as numbers or as texts; the defaults of others are found, too."""
    rows = measured[1]
    assert rows and all(results.matches(row, {"bucket": 4, "node": "8", "mapping": "fit"}) for row in rows)
    assert not any(results.matches(row, {"bucket": 16}) for row in rows)


@pytest.mark.parametrize("structure", results.DEFAULTS)
def test_speeds_are_of_the_defaults(structure, program, tmp_path):
    """Built-in speeds are those of structures as they are built without options."""
    numpy = pytest.importorskip("numpy")
    numpy.save(tmp_path / "keys.npy", numpy.arange(4, dtype=numpy.uint32))
    subprocess.run([program, "query", "--backend", "cpu", "--structure", structure, "--keys",
                    tmp_path / "keys.npy", "--points", tmp_path / "keys.npy", "--result", "first",
                    "--out", tmp_path / "out.npy", "--report", tmp_path / "report.json"], check=True)
    report = json.loads((tmp_path / "report.json").read_text(encoding="utf-8"))
    assert report["options"] == results.named(results.DEFAULTS[structure])
