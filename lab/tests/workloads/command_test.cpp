// SPDX-License-Identifier: Apache-2.0
// The command from its options to its file.
#include "lab/command.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "io/npy.hpp"
#include "io/output_file.hpp"
#include "lab/papers/experiments.hpp"
#include "raydex/error.hpp"

namespace raydex::bench {
namespace {

class folder {
 public:
  folder() { std::filesystem::create_directories(path_); }
  folder(const folder&) = delete;
  folder& operator=(const folder&) = delete;
  ~folder() { std::filesystem::remove_all(path_); }
  std::filesystem::path operator/(const char* name) const { return path_ / name; }
  bool empty() const { return std::filesystem::is_empty(path_); }

 private:
  std::filesystem::path path_ =
      std::filesystem::temp_directory_path() / ("raydex_report_test." + std::to_string(getpid()));
};

// Runs `raydex bench arguments` and keeps its table out of the test's output.
std::string run(const std::string& arguments) {
  CLI::App app;
  add_bench_command(app);
  testing::internal::CaptureStdout();
  try {
    app.parse("bench --backend cpu " + arguments);
  } catch (...) {
    testing::internal::GetCapturedStdout();
    throw;
  }
  return testing::internal::GetCapturedStdout();
}

TEST(bench_command, writes_a_row_for_every_combination) {
  const folder dir;
  const auto path = dir / "out.json";
  const std::string table = run(
      "--structure sorted_array --keys 2^10,999 --probes 500 --batches 3 --probe-order sorted "
      "--result first,count,sum,rows --option layout=row --hit-rate 70 --repetitions 1 --json " +
      path.string());
  const auto rows = nlohmann::json::parse(std::ifstream(path));
  ASSERT_EQ(rows.size(), 8u);
  for (const auto& row : rows) {
    EXPECT_EQ(row["experiment"], nullptr);
    EXPECT_EQ(row["structure"], "sorted_array");
    EXPECT_EQ(row["options"], "layout=row");
    EXPECT_EQ(row["backend"], "cpu");
    EXPECT_EQ(row["key"], "uint32");
    EXPECT_EQ(row["probes"], 500);
    EXPECT_EQ(row["batches"], 3);
    EXPECT_EQ(row["workload_axes"]["hit_rate"], 70);
    EXPECT_EQ(row["correct"], true);
    EXPECT_EQ(row["wrong"], 0);
    EXPECT_EQ(row["repairs"], 0);
    EXPECT_GE(row["lookup_peak_bytes"], 0);
    for (const char* positive :
         {"n", "build_ms", "lookup_ms", "lookups_per_s", "floor_per_s", "ratio", "sort_floor_ms",
          "build_ratio", "copy_bytes_per_s", "resident_bytes", "build_peak_bytes", "sort_probes_ms",
          "lookup_with_sort_ms", "std_lower_bound_per_s", "std_lower_bound_ratio"}) {
      EXPECT_GT(row[positive], 0) << positive;
    }
    for (const char* text : {"device", "workload", "floor", "commit", "date", "command"}) {
      EXPECT_FALSE(row[text].get<std::string>().empty()) << text;
    }
  }
  EXPECT_EQ(std::count(table.begin(), table.end(), '\n'), 11);

  // The command of a row measures that row again.
  const auto again = dir / "again.json";
  const std::string prefix = "raydex bench --structure sorted_array --backend cpu ";
  const std::string command = rows[5]["command"];
  ASSERT_EQ(command.substr(0, prefix.size()), prefix);
  run("--structure sorted_array " + command.substr(prefix.size()) + " --json " + again.string());
  const auto repeated = nlohmann::json::parse(std::ifstream(again));
  ASSERT_EQ(repeated.size(), 1u);
  for (const char* same : {"n", "result", "workload", "workload_axes", "seed", "options"}) {
    EXPECT_EQ(repeated[0][same], rows[5][same]) << same;
  }
}

TEST(bench_command, sweeps_options) {
  const folder dir;
  const auto path = dir / "out.json";
  run("--structure sorted_array --keys 1000 --probes 100 --option layout=column,row "
      "--distribution uniform,steps --repetitions 1 --json " +
      path.string());
  const auto rows = nlohmann::json::parse(std::ifstream(path));
  ASSERT_EQ(rows.size(), 4u);
  EXPECT_EQ(rows[0]["options"], "layout=column");
  EXPECT_EQ(rows[1]["options"], "layout=row");
  EXPECT_EQ(rows[1]["workload_axes"]["distribution"], "uniform");
  EXPECT_EQ(rows[2]["workload_axes"]["distribution"], "steps");
}

TEST(bench_command, waves) {
  const folder dir;
  const auto path = dir / "out.json";
  const std::string table =
      run("--structure cgrx --keys 1000 --probes 100 --waves 3 --growth 1.6 --key-bits 32,64 "
          "--option rebuild=2,never --hit-rate 60 --result rows --repetitions 2 --json " +
          path.string());
  const auto rows = nlohmann::json::parse(std::ifstream(path));
  ASSERT_EQ(rows.size(), 4u * 6);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const auto& row = rows[i];
    EXPECT_EQ(row["correct"], true);
    EXPECT_EQ(row["wave"], i % 6 + 1);
    EXPECT_EQ(row["n"], (std::vector{1200, 1400, 1600, 1400, 1200, 1000}[i % 6]));
    EXPECT_EQ(row["workload_axes"]["keys"], 1000);
    EXPECT_EQ(row["workload_axes"]["waves"], 3);
    EXPECT_EQ(row["workload_axes"]["growth"], 1.6);
    for (const char* positive : {"build_ms", "edit_ms", "rebuild_ms", "lookup_ms",
                                 "rebuilt_lookup_ms", "resident_bytes", "floor_per_s"}) {
      EXPECT_GT(row[positive], 0) << positive;
    }
    EXPECT_FALSE(row.contains("std_lower_bound_per_s"));
    EXPECT_NE(row["command"].get<std::string>().find("--waves 3 --growth 1.6"), std::string::npos);
  }
  EXPECT_NE(table.find("; wave 6: edit "), std::string::npos);
}

TEST(bench_command, runs_experiments) {
  const folder dir;
  const auto path = dir / "out.json";
  // 1a has one size after --keys, 1b two orders of probes; what both need is measured once.
  const std::string table =
      run("--experiment lightweight/1a,lightweight/1b --structure sorted_array --keys 2^10 "
          "--probes 100 "
          "--repetitions 1 --json " +
          path.string());
  EXPECT_EQ(std::count(table.begin(), table.end(), '\n'), 5);
  const auto rows = nlohmann::json::parse(std::ifstream(path));
  std::multiset<std::string> names;
  for (const auto& row : rows) {
    EXPECT_EQ(row["structure"], "sorted_array");
    EXPECT_EQ(row["n"], 1024);
    EXPECT_EQ(row["probes"], 100);
    EXPECT_EQ(row["correct"], true);
    EXPECT_EQ(row["command"].get<std::string>().find("--experiment"), std::string::npos);
    names.insert(row["experiment"]);
  }
  EXPECT_EQ(names,
            (std::multiset<std::string>{"lightweight/1a", "lightweight/1b", "lightweight/1b"}));
}

TEST(bench_command, lists_experiments) {
  const std::string list = run("--list-experiments");
  EXPECT_NE(list.find("lightweight/14a"), std::string::npos);
  EXPECT_EQ(static_cast<std::size_t>(std::count(list.begin(), list.end(), '\n')),
            experiments().size());
}

TEST(bench_command, minima) {
  const folder dir;
  const auto path = dir / "out.json";
  const std::string table = run(
      "--structure rmq_scan --keys 2^10,999 --probes 500 --array random,few --period 7 "
      "--values double,uint32 --ranges small,mixed --result min,argmin --repetitions 1 --json " +
      path.string());
  EXPECT_EQ(std::count(table.begin(), table.end(), '\n'), 3 + 32);
  const auto rows = nlohmann::json::parse(std::ifstream(path));
  ASSERT_EQ(rows.size(), 32u);
  for (const auto& row : rows) {
    EXPECT_EQ(row["experiment"], nullptr);
    EXPECT_EQ(row["structure"], "rmq_scan");
    EXPECT_EQ(row["backend"], "cpu");
    EXPECT_EQ(row["probes"], 500);
    EXPECT_EQ(row["correct"], true);
    EXPECT_EQ(row["wrong"], 0);
    EXPECT_EQ(row["repairs"], 0);
    EXPECT_EQ(row["resident_bytes"], 0);
    EXPECT_EQ(row["bytes_per_value"], 0);
    EXPECT_EQ(row["workload_axes"]["position_bits"], 32);
    EXPECT_EQ(row["workload_axes"]["changes"], 0);
    EXPECT_FALSE(row.contains("refresh_ms"));
    for (const char* positive : {"n", "lookup_ms", "lookups_per_s", "floor_per_s", "ratio",
                                 "gather_per_s", "read_floor_ms", "copy_bytes_per_s"}) {
      EXPECT_GT(row[positive], 0) << positive;
    }
    for (const char* text : {"device", "workload", "floor", "commit", "date", "command"}) {
      EXPECT_FALSE(row[text].get<std::string>().empty()) << text;
    }
    // Two ends, and a value or a position.
    const int moved = 8 + (row["result"] == "argmin" || row["key"] == "double" ? 8 : 4);
    EXPECT_NEAR(row["floor_per_s"].get<double>() * moved / row["copy_bytes_per_s"].get<double>(), 1,
                1e-9);
  }
  EXPECT_EQ(rows[0]["key"], "double");
  EXPECT_EQ(rows[31]["key"], "uint32");
  EXPECT_EQ(rows[31]["result"], "argmin");
}

TEST(bench_command, changed_values_of_minima) {
  const folder dir;
  const auto path = dir / "out.json";
  run("--structure rmq_cover,rmq_hierarchy --keys 2^12 --probes 500 --changes 1,500 "
      "--repetitions 1 --json " +
      path.string());
  const auto rows = nlohmann::json::parse(std::ifstream(path));
  ASSERT_EQ(rows.size(), 4u);
  for (const auto& row : rows) {
    EXPECT_EQ(row["correct"], true);
    EXPECT_GT(row["refresh_ms"], 0);
    EXPECT_GT(row["workload_axes"]["changes"], 0);
    EXPECT_NE(row["command"].get<std::string>().find("--changes "), std::string::npos);
  }
  EXPECT_THROW(run("--structure rmq_lca --keys 2^12 --probes 500 --changes 1"), unsupported);
}

TEST(bench_command, minima_of_a_file) {
  const folder dir;
  const auto array = dir / "array.npy";
  const auto path = dir / "out.json";
  {
    const std::vector<std::int64_t> values{3, 1, 2, -1, 5, 0, 7};
    io::output_file file(array.string());
    io::write_npy(file, format_of<std::int64_t>, std::as_bytes(std::span(values)));
    file.commit();
  }
  run("--structure rmq_scan --array-file " + array.string() +
      " --probes 50 --result min,argmin --repetitions 1 --json " + path.string());
  const auto rows = nlohmann::json::parse(std::ifstream(path));
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[0]["n"], 7);
  EXPECT_EQ(rows[0]["key"], "int64");
  EXPECT_EQ(rows[0]["workload_axes"]["array"], array.string());
  const std::string arguments = "--structure rmq_scan --probes 5 --array-file " + array.string();
  run(arguments + " --keys 6");
  EXPECT_THROW(run(arguments + " --keys 8"), invalid_argument);
  EXPECT_THROW(run(arguments + " --array few"), invalid_argument);
  EXPECT_THROW(run(arguments + " --values float"), invalid_argument);
}

TEST(bench_command, ranges) {
  run("--structure sorted_array --keys 1000 --probes 100 --range-hits 1,8 --multiplicity 1 "
      "--result first,count,sum,rows --batches 7 --key-bits 32,64 "
      "--repetitions 1");
}

TEST(bench_command, ranges_of_different_lengths) {
  const folder dir;
  const auto path = dir / "out.json";
  run("--structure pivot_tree --keys 1000 --probes 100 --range-hits 16 --range-lengths even,zipf "
      "--giant-range 0,50 --result rows,sum,first --repetitions 1 --json " +
      path.string());
  const auto rows = nlohmann::json::parse(std::ifstream(path));
  ASSERT_EQ(rows.size(), 12u);
  for (const auto& row : rows) {
    const auto& axes = row["workload_axes"];
    std::uint64_t matches = row["matches"];
    if (axes["giant_range"] == 50) matches -= 500;
    const double wanted = 1600;
    EXPECT_NEAR(static_cast<double>(matches), wanted, axes["range_lengths"] == "even" ? 16 : 400);
    EXPECT_EQ(row["floor"], "streamed gather and copy");
  }
}

TEST(bench_command, one_key_or_one_probe) {
  run("--structure sorted_array,pivot_tree,eytzinger --keys 1,2 --probes 1,2 --repetitions 1 "
      "--result first,count,sum,rows");
  run("--structure sorted_array,pivot_tree --keys 1000 --probes 1 --range-hits 1000 "
      "--repetitions 1 --result first,count,sum,rows");
  run("--structure sorted_array,pivot_tree --keys 1000 --probes 7 --multiplicity 500,1000,2000 "
      "--repetitions 1 --result first,count,sum,rows");
  run("--structure sorted_array,pivot_tree --keys 2,1000 --probes 7 --heavy-key 50 "
      "--repetitions 1 --result first,count,sum,rows");
}

TEST(bench_command, calls_from_threads) {
  const folder dir;
  const auto path = dir / "out.json";
  run("--structure pivot_tree --keys 1000 --probes 990 --batches 9 --threads 0,1,8 --result "
      "first,rows "
      "--repetitions 1 --json " +
      path.string());
  const auto rows = nlohmann::json::parse(std::ifstream(path));
  ASSERT_EQ(rows.size(), 6u);
  for (const auto& row : rows) {
    const double threads = row["workload_axes"]["threads"];
    EXPECT_EQ(row.contains("calls_per_s"), threads != 0);
    if (threads == 0) continue;
    const double seconds = row["lookup_ms"].get<double>() / 1e3;
    EXPECT_NEAR(row["calls_per_s"], 9 / seconds, 1e-6 * 9 / seconds);
    EXPECT_NEAR(row["call_us"], threads * seconds / 9 * 1e6, 1e-3);
  }
}

TEST(bench_command, joins) {
  const folder dir;
  const auto path = dir / "out.json";
  const std::string out = " --repetitions 1 --result pairs --json " + path.string();
  for (const char* arguments :
       {"--structure sorted_array,pivot_tree,eytzinger,btree,hash_open,hash_bucket,rx,cgrx --keys "
        "1,1000 --probes 0,1,700 --key-bits 32,64",
        "--structure pivot_tree,hash_open,rx,cgrx --keys 1000 --probes 700 --multiplicity 7,1000",
        "--structure pivot_tree,hash_open --keys 1000 --probes 700 --heavy-key 50 --zipf 1",
        "--structure direct --keys 1000 --probes 700 --uniformity 0 --multiplicity 1,3",
        "--structure pivot_tree,hash_open --keys 1000 --probes 700 --hit-rate 0,1,50",
        "--structure pivot_tree,hash_open --keys 1000 --probes 700 --batches 9 --threads 0,1,8",
        "--structure sorted_array,direct,rx,cgrx --keys 1000 --probes 70 --range-hits 1,16",
        "--structure pivot_tree --keys 1000 --probes 70 --range-hits 16 --giant-range 50",
        "--structure rx --keys 1000 --probes 700 --multiplicity 1,3 --option inverse=on,off"}) {
    SCOPED_TRACE(arguments);
    run(arguments + out);
    const auto rows = nlohmann::json::parse(std::ifstream(path));
    ASSERT_FALSE(rows.empty());
    for (const auto& row : rows) {
      EXPECT_EQ(row["result"], "pairs");
      EXPECT_EQ(row["correct"], true);
      const double build_ms = row["build_ms"].get<double>() + row["join_build_ms"].get<double>();
      EXPECT_NEAR(row["join_ms"], build_ms + row["lookup_ms"].get<double>(), 1e-9);
      EXPECT_GE(row["join_floor_ms"], row["sort_floor_ms"]);
      EXPECT_GE(row["join_bytes"], 0);
      EXPECT_EQ(row["output_rows_per_s"] > 0, row["matches"] > 0);
    }
  }
}

TEST(bench_command, joins_that_are_none) {
  const std::string some = "--keys 10 --probes 10 --result pairs ";
  EXPECT_THROW(run(some + "--structure cgrx --option bucket=4 --option node=8"), unsupported);
  EXPECT_THROW(run(some + "--structure hash_open --range-hits 2"), unsupported);
  for (const char* other : {"--structure pivot_tree --aggregate 1", "--structure cgrx --waves 1"})
    EXPECT_THROW(run(some + other), invalid_argument) << other;
  EXPECT_THROW(run("--structure rmq_scan --keys 10 --probes 10 --result pairs"), invalid_argument);
}

TEST(bench_command, bad_arguments_leave_no_file) {
  const folder dir;
  const std::string out = " --json " + (dir / "out.json").string();
  EXPECT_THROW(run("--structure nothing --keys 10 --probes 10" + out), invalid_argument);
  EXPECT_THROW(run("--option layout" + out), invalid_argument);
  EXPECT_THROW(run("--keys 10 --probes 10 --option layout=round" + out), invalid_argument);
  EXPECT_THROW(run("--result most" + out), invalid_argument);
  EXPECT_THROW(run("--repetitions 0" + out), invalid_argument);
  EXPECT_THROW(run("--experiment lightweight/99" + out), invalid_argument);
  EXPECT_THROW(run("--experiment lightweight/1a --option layout=row" + out), invalid_argument);
  EXPECT_THROW(run("--experiment lightweight/1a --structure trie" + out), invalid_argument);
  EXPECT_THROW(run("--keys many" + out), invalid_argument);
  EXPECT_THROW(run("--structure hash_open --keys 10 --probes 10 --range-hits 2" + out),
               unsupported);
  EXPECT_THROW(run("--structure rmq_nothing --keys 10 --probes 10" + out), invalid_argument);
  EXPECT_THROW(run("--structure rmq_scan --keys 10 --probes 10 --zipf 1" + out), invalid_argument);
  EXPECT_THROW(run("--structure rmq_scan --result sum" + out), invalid_argument);
  EXPECT_THROW(run("--structure rmq_scan --option ties=rightmost" + out), unsupported);
  EXPECT_THROW(run("--structure rmq_scan --option extreme=maximum" + out), unsupported);
  EXPECT_THROW(run("--structure sorted_array --array few" + out), invalid_argument);
  EXPECT_TRUE(dir.empty());
  EXPECT_THROW(run("--json " + (dir / "missing" / "out.json").string()), invalid_argument);
}

}  // namespace
}  // namespace raydex::bench
