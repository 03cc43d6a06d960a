# SPDX-License-Identifier: Apache-2.0
"""lab/scripts/counters, on what Nsight Compute prints, and with programs in its place that print the same."""

import argparse
import importlib.machinery
import importlib.util
import os
import pathlib
import subprocess
import sys
import time

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "lab/scripts"))

import results  # noqa: E402

loader = importlib.machinery.SourceFileLoader("counters", str(ROOT / "lab/scripts/counters"))
counters = importlib.util.module_from_spec(importlib.util.spec_from_loader("counters", loader))
sys.modules["counters"] = counters  # where dataclasses look their module up
loader.exec_module(counters)

BEGIN = """\
==PROF== Connected to process 4711 (/build/bin/raydex)
==PROF== Profiling "run_ahead": 0%....50%....100% - 3 passes
==PROF== Disconnected from process 4711
"""
HEAD = ('"ID","Process ID","Process Name","Host Name","Kernel Name","Context","Stream","Block Size","Grid Size","Device",'
        '"CC","Section Name","Metric Name","Metric Unit","Metric Value"\n')


def line(name, unit, value):
    return (f'"0","4711","raydex","127.0.0.1","void raydex::cuda::run_ahead<a, b>(T1, batch_layout)","1","13",'
            f'"(256, 1, 1)","(4096, 1, 1)","0","9.0","Command line profiler metrics","{name}","{unit}","{value}"\n')


SKEW = (BEGIN + HEAD + line("dram__bytes_read.sum", "byte", "41,320,123,456")
        + line("l1tex__t_sector_hit_rate.pct", "%", "39.05") + line("lts__t_sector_hit_rate.pct", "%", "55.5")
        + line("smsp__inst_executed.sum", "inst", "22,012,345,678"))


def test_counters_are_read():
    """Whatever order they come in; digits come in groups of three."""
    assert counters.cells_of(SKEW, counters.TABLES["rx-t7-counters"]) == {
        "l1_hits_percent": "39.05", "l2_hits_percent": "55.5", "gigabytes_read": "41.32",
        "million_instructions": "22010"}


@pytest.mark.parametrize("text, why", [
    (BEGIN + "==WARNING== No kernels were profiled.\n", "No kernels were profiled"),
    ("==ERROR== ERR_NVGPUCTRPERM - The user does not have permission\n", "ERR_NVGPUCTRPERM"),
    ("", "ncu printed no metrics"),
    (BEGIN + HEAD, "ncu printed no metrics"),
    (SKEW.replace("lts__t_sector_hit_rate.pct", "lts__other"), "no lts__t_sector_hit_rate.pct"),
    (SKEW.replace('"39.05"', '"n/a"'), "l1tex__t_sector_hit_rate.pct is 'n/a'"),
    (SKEW.replace('"byte"', '"Gbyte"'), "in 'Gbyte', not in 'byte'"),
])
def test_what_is_not_there_is_said(text, why):
    with pytest.raises(counters.Failed, match=why):
        counters.cells_of(text, counters.TABLES["rx-t7-counters"])


SORT = ["void cuda::run_items<4, cuda::gather_entry<unsigned int>>", "void cuda::find_descent<unsigned int>",
        "void radix_sort::DeviceRadixSortHistogramKernel<a>", "void radix_sort::DeviceRadixSortOnesweepKernel<a>"]
SCENE = ["void cuda::run_items<4, raydex::put_cgrx_part<a>>", "void cuda::run_items<4, optix::put_primitive<a>>",
         "optixAccelBuild", "void cuda::run_items<4, optix::put_primitive<a>>", "optixAccelBuild", "optixAccelCompact"]
BATCH = ["void cuda::run_items<4, raydex::put_probe<a>>", "void radix_sort::DeviceRadixSortHistogramKernel<a>",
         "void radix_sort::DeviceRadixSortOnesweepKernel<a>", "optixLaunch",
         "void cuda::run_items<4, raydex::put_found_row<a>>", "void radix_sort::DeviceRadixSortHistogramKernel<a>",
         "void radix_sort::DeviceRadixSortOnesweepKernel<a>", "void cuda::run_items<4, raydex::put_row<unsigned int>>"]


def run_of(*kernels):
    """What ncu prints of kernels; the i-th takes 2^i ms."""
    text = BEGIN + HEAD
    for i, name in enumerate(kernels):
        text += line("gpu__time_duration.sum", "ns", f"{2**i * 10**6:,}").replace(
            "void raydex::cuda::run_ahead<a, b>(T1, batch_layout)", name)
    return text


def milliseconds(*places):
    return f"{float(f'{sum(2**i for i in places):.4g}'):g}"


def test_steps_are_summed_up():
    """Of the second build, since the first one warms up, and of all batches; not those of the benchmark itself."""
    before = ["void bench::write_key", *SORT[2:], *SORT, *SCENE]
    cells = counters.cells_of(run_of(*before, *SORT, *SCENE, "void bench::count_wrong", *BATCH),
                              counters.TABLES["cgrx-10-steps"])
    begin = len(before)
    assert cells == {"sort_ms": milliseconds(*range(begin, begin + 4)),
                     "scene_ms": milliseconds(begin + 4, begin + 5, begin + 7),
                     "bvh_ms": milliseconds(begin + 6, begin + 8), "compact_ms": milliseconds(begin + 9),
                     "sort_lookups_ms": "0", "rays_ms": "0", "search_ms": "0", "write_ms": "0"}
    cells = counters.cells_of(run_of(*SORT, *SCENE, *SORT, *SCENE, *BATCH, *BATCH, "void bench::count_wrong", *BATCH),
                              counters.TABLES["cgrx-10-steps"])
    begin = 2 * (len(SORT) + len(SCENE))
    both = [begin - 1, begin + len(BATCH) - 1]  # half of two numbers, each twice as large as the one before it
    assert [cells[name] for name in ("sort_lookups_ms", "rays_ms", "search_ms", "write_ms")] == [
        milliseconds(*(place + i for place in both for i in step)) for step in ((0, 1, 2), (3,), (4,), (5, 6, 7))]


@pytest.mark.parametrize("kernels, why", [
    (["void bench::write_key"], "did not see two builds"),
    ([*SORT, *SCENE], "did not see two builds"),
    ([*SCENE, *SORT, *SORT], "did not see two builds"),
    ([*SORT, *SCENE, "void cuda::other", *SORT, *SCENE], "no step begins with void cuda::other"),
])
def test_builds_that_cannot_be_told_apart_are_left_out(kernels, why):
    with pytest.raises(counters.Failed, match=why):
        counters.cells_of(run_of(*kernels), counters.TABLES["thesis-5.11-steps"])


@pytest.mark.parametrize("name, structure", [(name, one) for name, table in counters.TABLES.items()
                                             for one in table.structures])
def test_commands_are_known_to_the_program(name, structure, program):
    """What stands after the program is a command of `raydex bench`, but for sizes and the backend that runs here."""
    table = counters.TABLES[name]
    options = argparse.Namespace(keys="2^10", probes="2^10")
    command = counters.profiled(table, structure, table.rows()[0], options, program=program)
    command = command[command.index(program):]
    command[command.index("--backend") + 1] = "cpu"
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)


@pytest.fixture(name="machine")
def fixture_machine(tmp_path):
    """A place where ncu and nvidia-smi are scripts; ncu sees no launch of OptiX, and fails with 2^21 probes."""
    bin_folder = tmp_path / "bin"
    bin_folder.mkdir()
    programs = {
        "nvidia-smi": 'echo "NVIDIA H100 80GB HBM3, 550.1"\n',
        "ncu": '''\
while [[ $1 != --log-file ]]; do shift; done
log=$2
case "$*" in
  *"--backend optix"*) echo "==WARNING== No kernels were profiled." >"$log" ;;
  *2^21*) echo "raydex: out of memory" >&2 && exit 2 ;;
  *warps_active*) cat >"$log" <<END
{warps}END
  ;;
  *) cat >"$log" <<END
{skew}END
  ;;
esac
'''.format(skew=SKEW, warps=BEGIN + HEAD + line("sm__warps_active.avg.pct_of_peak_sustained_active", "%", "87.25")
           + line("dram__throughput.avg.pct_of_peak_sustained_elapsed", "%", "61")),
    }
    for name, text in programs.items():
        path = bin_folder / name
        path.write_text("#!/usr/bin/env bash\n" + text, encoding="utf-8")
        path.chmod(0o755)
    return tmp_path


def run(machine, *arguments):
    return subprocess.run([sys.executable, ROOT / "lab/scripts/counters", "--out", machine, *arguments], text=True,
                          capture_output=True, env={"PATH": f"{machine}/bin:/usr/bin:/bin", "RAYDEX_COMMIT": "abc"})


def test_tables_are_written_without_what_failed(machine):
    done = run(machine)
    assert done.returncode == 0, done.stderr
    warps = machine / "rx-t5-counters.csv"
    rows = results.rows_of_peer(warps)
    assert [row["probes"] for row in rows if row["structure"] == "btree"] == ["2^13", "2^15", "2^17", "2^27"]
    assert rows[0] == {"structure": "btree", "probes": "2^13", "active_warps_percent": "87.25",
                       "memory_bandwidth_percent": "61"}
    heads = results.heads_of_peer(warps)
    assert heads["device"] == ["NVIDIA H100 80GB HBM3"] and heads["commit"] == ["abc"]
    assert "rx, probes 2^13: No kernels were profiled" in heads["left out"]
    assert "rx, probes 2^27: as the runs before it" in heads["left out"]
    assert "btree, probes 2^21: raydex: out of memory" in heads["left out"]
    assert "left out: btree, probes 2^21: raydex: out of memory" in done.stderr
    skew = results.rows_of_peer(machine / "rx-t7-counters.csv")
    assert [row["zipf"] for row in skew if row["structure"] == "hash_open"] == counters.TABLES["rx-t7-counters"].axes["zipf"]


def test_no_table_where_time_is_up(machine):
    done = run(machine, "--seconds", "-1", "--tables", "rx-t5-counters", "--structures", "btree")
    assert done.returncode == 0 and "btree, probes 2^13: time was up" in done.stderr
    assert not (machine / "rx-t5-counters.csv").exists()


def test_a_run_that_takes_long_is_ended_with_what_it_started(tmp_path, monkeypatch):
    monkeypatch.setattr(counters, "LONGEST", 1)
    started = tmp_path / "started"
    with pytest.raises(counters.Failed, match="it took longer than 1 s"):
        counters.measure(["bash", "-c", f"sleep 300 & echo $! >{started}; wait"], tmp_path / "log",
                         counters.TABLES["rx-t5-counters"], tmp_path)
    process = int(started.read_text())
    for _ in range(100):
        try:
            os.kill(process, 0)
        except ProcessLookupError:
            break
        if pathlib.Path(f"/proc/{process}/stat").read_text().split()[2] == "Z":
            break
        time.sleep(0.05)
    else:
        pytest.fail("what it started goes on")


@pytest.mark.parametrize("missing, why", [("ncu", "there is no ncu here"), ("nvidia-smi", "shows no GPU here")])
def test_what_a_machine_lacks_is_said(machine, missing, why):
    (machine / "bin" / missing).unlink()
    done = run(machine)
    assert done.returncode == 1 and why in done.stderr


def test_unknown_words_are_refused(machine):
    done = run(machine, "--tables", "t6")
    assert done.returncode == 2 and "there is no t6, but rx-t7-counters, rx-t5-counters" in done.stderr
