// SPDX-License-Identifier: Apache-2.0
// Each figure of the built-in table comes from docs/results, measured with the options that the
// table states.
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "raydex/raydex.hpp"

namespace raydex {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

// All measurements of structures for keys, the oldest files first.
std::vector<json> results() {
  std::vector<json> all;
  for (const auto& file : fs::recursive_directory_iterator(RAYDEX_RESULTS_DIR)) {
    if (file.path().extension() != ".json") continue;
    std::ifstream stream(file.path());
    for (const json& row : json::parse(stream)) {
      if (row.contains("workload_axes") && row["workload_axes"].contains("range_hits"))
        all.push_back(row);
    }
  }
  return all;
}

// The workload of a measurement that the table may have: the axes that are not at their defaults.
json axes_of(const measured_speed& row) {
  const bool ranges = row.range_hits != 0;
  return {{"keys", row.n},
          {"batches", 1},
          {"key_bits", row.key_bits},
          {"uniformity", ranges ? 0. : 100.},
          {"distribution", "uniform"},
          {"stride", 1},
          {"value_bits", row.key_bits},
          {"multiplicity", 1},
          {"insert_order", "unsorted"},
          {"probe_order", row.sorted_probes ? "sorted" : "unsorted"},
          {"hit_rate", 100.},
          {"zipf", 0.},
          {"range_hits", row.range_hits},
          {"updated_from", "none"},
          {"waves", 0}};
}

bool is_of(const json& measured, const json& axes) {
  const json& found = measured["workload_axes"];
  for (const auto& [name, value] : axes.items()) {
    // Files older than an axis lack it.
    if (found.contains(name) && found[name] != value) return false;
  }
  return true;
}

// All options in force, as reports write them; of two names for the same choice, only one.
std::set<std::string> options_of(const std::string& text) {
  std::istringstream words(text);
  std::set<std::string> all;
  for (std::string word; words >> word;)
    all.insert(word == "order=sorted" ? "order=auto" : word);
  return all;
}

TEST(built_in_speeds, are_results_of_the_options_that_are_stated) {
  const std::vector<json> all = results();
  ASSERT_FALSE(all.empty());
  const session cpu(backend::cpu);
  const std::array<std::uint64_t, 4> cells{4, 3, 2, 1};
  for (const measured_speed& row : speed_table::built_in().rows()) {
    const key_format key(row.key_bits == 32 ? key_type::uint32 : key_type::uint64);
    // Options do not depend on the backend.
    const auto built =
        build(row.structure, backend::cpu, cpu, {key, cells.data(), 4}, {}, row.options);
    const std::set<std::string> options = options_of(built->info().options);
    const json axes = axes_of(row);
    std::string nearest = "nothing";
    bool found = false;
    for (const json& measured : all) {
      if (measured["structure"] != row.structure || measured["backend"] != to_string(row.where) ||
          measured["result"] != (row.range_hits == 0 ? "first" : "sum") || !is_of(measured, axes) ||
          options_of(measured["options"]) != options) {
        continue;
      }
      const auto speed = measured["lookups_per_s"].get<double>();
      const double bytes = measured["resident_bytes"].get<double>() / static_cast<double>(row.n);
      const bool is_it = std::abs(speed / row.lookups_per_s - 1) < 0.006 &&
                         std::abs(bytes / row.bytes_per_key - 1) < 0.06;
      found = found || is_it;
      nearest = measured.dump();
    }
    EXPECT_TRUE(found) << row.structure << " on " << to_string(row.where) << ", " << row.n
                       << " keys of " << row.key_bits << " bits, " << row.range_hits << " hits, "
                       << (row.sorted_probes ? "sorted" : "unsorted") << ", " << row.lookups_per_s
                       << " lookups per second; there is " << nearest;
  }
}

// A structure is judged by one order of probes; with another order it is another candidate.
TEST(built_in_speeds, of_rays_on_sorted_probes_are_all_of_batches_as_they_are) {
  for (const measured_speed& row : speed_table::built_in().rows()) {
    if (row.where != backend::optix) continue;
    EXPECT_EQ(row.options, row.sorted_probes ? (option_map{{"order", "batch"}}) : option_map{})
        << row.structure;
  }
}

}  // namespace
}  // namespace raydex
