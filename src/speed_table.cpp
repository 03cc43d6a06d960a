// SPDX-License-Identifier: Apache-2.0
// The built-in measurements, and what a measurement must be.
#include "raydex/speed_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>
#include <utility>

#include "raydex/error.hpp"

namespace raydex {

namespace {

// The same figures at every size would be repeated a row, so a row here has all sizes.
struct series {
  std::string_view structure;
  backend where;
  int key_bits;
  std::uint64_t range_hits;
  bool sorted_probes;
  double bytes_per_key;
  // Lookups per second in units of 10^9 at 2^20, 2^24, 2^26 and 2^28 rows; 0: not measured.
  std::array<double, 4> giga_per_s;
};

constexpr std::array log2_sizes{20, 24, 26, 28};
constexpr std::string_view cuda_device = "NVIDIA H200";
constexpr std::string_view cpu_device = "Intel Xeon";

// From docs/results: of nvidia-h200 points.json, keys64.json, sorted64.json and ranges.json
// (`sum`), of intel-xeon-2-cores points.json, keys64.json and ranges.json. A new structure is a few
// more lines, in all sizes that the others have.
constexpr std::array built_in_series{
    series{"sorted_array", backend::cuda, 32, 0, false, 8, {13.3, 8.66, 5.75, 2.81}},
    series{"sorted_array", backend::cuda, 32, 0, true, 8, {269, 225, 174, 96.8}},
    series{"sorted_array", backend::cuda, 64, 0, false, 12, {12.0, 7.26, 3.57, 0}},
    series{"sorted_array", backend::cuda, 64, 0, true, 12, {0, 0, 143, 0}},
    series{"sorted_array", backend::cuda, 32, 1, false, 8, {0, 0, 4.72, 0}},
    series{"sorted_array", backend::cuda, 32, 16, false, 8, {0, 0, 3.84, 0}},
    series{"sorted_array", backend::cuda, 32, 256, false, 8, {0, 0, 1.40, 0}},
    series{"sorted_array", backend::cuda, 32, 1024, false, 8, {0, 0, 0.59, 0}},
    series{"eytzinger", backend::cuda, 32, 0, false, 8, {6.73, 6.01, 5.44, 5.46}},
    series{"eytzinger", backend::cuda, 32, 0, true, 8, {6.91, 6.28, 5.83, 5.73}},
    series{"eytzinger", backend::cuda, 64, 0, false, 12, {6.50, 5.75, 5.22, 0}},
    series{"eytzinger", backend::cuda, 32, 1, false, 8, {0, 0, 1.12, 0}},
    series{"eytzinger", backend::cuda, 32, 16, false, 8, {0, 0, 0.85, 0}},
    series{"eytzinger", backend::cuda, 32, 256, false, 8, {0, 0, 0.42, 0}},
    series{"eytzinger", backend::cuda, 32, 1024, false, 8, {0, 0, 0.18, 0}},
    series{"pivot_tree", backend::cuda, 32, 0, false, 8.5, {61.3, 33.2, 30.1, 20.4}},
    series{"pivot_tree", backend::cuda, 32, 0, true, 8.5, {356, 279, 217, 108}},
    series{"pivot_tree", backend::cuda, 64, 0, false, 13, {36.7, 21.5, 18.9, 0}},
    series{"pivot_tree", backend::cuda, 64, 0, true, 13, {0, 0, 177, 0}},
    series{"pivot_tree", backend::cuda, 32, 1, false, 8.5, {0, 0, 9.92, 0}},
    series{"pivot_tree", backend::cuda, 32, 16, false, 8.5, {0, 0, 7.58, 0}},
    series{"pivot_tree", backend::cuda, 32, 256, false, 8.5, {0, 0, 1.70, 0}},
    series{"pivot_tree", backend::cuda, 32, 1024, false, 8.5, {0, 0, 0.51, 0}},
    series{"sorted_array", backend::cpu, 32, 0, false, 8, {0.0453, 0.0142, 0.00664, 0}},
    series{"sorted_array", backend::cpu, 32, 0, true, 8, {0.130, 0.101, 0.0775, 0}},
    series{"sorted_array", backend::cpu, 64, 0, false, 12, {0.0367, 0.00972, 0.00607, 0}},
    series{"sorted_array", backend::cpu, 32, 1, false, 8, {0, 0.00954, 0, 0}},
    series{"sorted_array", backend::cpu, 32, 16, false, 8, {0, 0.00643, 0, 0}},
    series{"sorted_array", backend::cpu, 32, 256, false, 8, {0, 0.00278, 0, 0}},
    series{"sorted_array", backend::cpu, 32, 1024, false, 8, {0, 0.00150, 0, 0}},
    series{"eytzinger", backend::cpu, 32, 0, false, 8, {0.0318, 0.0256, 0.0199, 0}},
    series{"eytzinger", backend::cpu, 32, 0, true, 8, {0.0599, 0.0499, 0.0423, 0}},
    series{"eytzinger", backend::cpu, 64, 0, false, 12, {0.0295, 0.02, 0.0156, 0}},
    series{"eytzinger", backend::cpu, 32, 1, false, 8, {0, 0.00851, 0, 0}},
    series{"eytzinger", backend::cpu, 32, 16, false, 8, {0, 0.00588, 0, 0}},
    series{"eytzinger", backend::cpu, 32, 256, false, 8, {0, 0.00264, 0, 0}},
    series{"eytzinger", backend::cpu, 32, 1024, false, 8, {0, 0.00128, 0, 0}},
    series{"pivot_tree", backend::cpu, 32, 0, false, 8.5, {0.0888, 0.0469, 0.0322, 0}},
    series{"pivot_tree", backend::cpu, 32, 0, true, 8.5, {0.150, 0.120, 0.0983, 0}},
    series{"pivot_tree", backend::cpu, 64, 0, false, 13, {0.0669, 0.0346, 0.0269, 0}},
    series{"pivot_tree", backend::cpu, 32, 1, false, 8.5, {0, 0.0243, 0, 0}},
    series{"pivot_tree", backend::cpu, 32, 16, false, 8.5, {0, 0.0140, 0, 0}},
    series{"pivot_tree", backend::cpu, 32, 256, false, 8.5, {0, 0.00356, 0, 0}},
    series{"pivot_tree", backend::cpu, 32, 1024, false, 8.5, {0, 0.00144, 0, 0}},
};

speed_table make_built_in() {
  speed_table table;
  for (const series& s : built_in_series) {
    for (std::size_t i = 0; i < log2_sizes.size(); ++i) {
      if (s.giga_per_s.at(i) == 0) continue;
      table.add({.structure = std::string(s.structure),
                 .options = {},
                 .where = s.where,
                 .device = std::string(s.where == backend::cpu ? cpu_device : cuda_device),
                 .key_bits = s.key_bits,
                 .n = std::uint64_t{1} << log2_sizes.at(i),
                 .range_hits = s.range_hits,
                 .sorted_probes = s.sorted_probes,
                 .lookups_per_s = 1e9 * s.giga_per_s.at(i),
                 .bytes_per_key = s.bytes_per_key});
    }
  }
  return table;
}

void require(bool holds, const char* field, const std::string& value, const char* legal) {
  if (!holds) throw invalid_argument(fmt::format("{}: {}: must be {}", field, value, legal));
}

}  // namespace

const speed_table& speed_table::built_in() {
  static const speed_table table = make_built_in();
  return table;
}

void speed_table::add(measured_speed row) {
  const auto positive = [](double number) { return std::isfinite(number) && number > 0; };
  require(!row.structure.empty(), "structure", "''", "a name");
  require(row.key_bits == 32 || row.key_bits == 64, "key bits", fmt::format("{}", row.key_bits),
          "32 or 64");
  require(row.n > 0, "n", "0", "at least 1");
  require(positive(row.lookups_per_s), "lookups per second", fmt::format("{}", row.lookups_per_s),
          "a positive number");
  require(positive(row.bytes_per_key), "bytes per key", fmt::format("{}", row.bytes_per_key),
          "a positive number");
  const auto other = std::ranges::find(rows_, row.where, &measured_speed::where);
  if (other != rows_.end() && other->device != row.device) {
    throw invalid_argument(
        fmt::format("device: '{}': the measurements on {} are of '{}', and must be of one device",
                    row.device, to_string(row.where), other->device));
  }
  rows_.push_back(std::move(row));
}

}  // namespace raydex
