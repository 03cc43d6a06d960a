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
  std::string_view order = {};  // the option that lookups are traced by; empty: the default
};

constexpr std::array log2_sizes{20, 24, 26, 28};
constexpr std::string_view cuda_device = "NVIDIA H200";
constexpr std::string_view cpu_device = "Intel Xeon";

// From docs/results: of nvidia-h200 points.json, keys64.json, sorted64.json and ranges.json
// (`sum`), and rx-*.json and cgrx-*.json for optix; of intel-xeon-2-cores points.json, keys64.json
// and ranges.json. A new structure is a few more lines, in all sizes that the others have.
//
// Lookups of rx and cgrx are traced in the order of their keys, as they are by default in batches
// of 2^17 and more: the batch is sorted first, order=auto or order=sorted. Probes that are sorted
// already were measured with order=batch, which leaves them as they are, and are so of a structure
// with that option.
constexpr std::array built_in_series{
    series{"sorted_array", backend::cuda, 32, 0, false, 8, {13, 8.6, 5.74, 2.72}},
    series{"sorted_array", backend::cuda, 32, 0, true, 8, {267, 224, 172, 94.7}},
    series{"sorted_array", backend::cuda, 64, 0, false, 12, {11.6, 7.28, 3.48, 0}},
    series{"sorted_array", backend::cuda, 64, 0, true, 12, {0, 0, 143, 0}},
    series{"sorted_array", backend::cuda, 32, 1, false, 8, {0, 0, 5.13, 0}},
    series{"sorted_array", backend::cuda, 32, 16, false, 8, {0, 0, 4.05, 0}},
    series{"sorted_array", backend::cuda, 32, 256, false, 8, {0, 0, 1.51, 0}},
    series{"sorted_array", backend::cuda, 32, 1024, false, 8, {0, 0, 0.677, 0}},
    series{"eytzinger", backend::cuda, 32, 0, false, 8, {6.63, 5.93, 5.38, 5.38}},
    series{"eytzinger", backend::cuda, 32, 0, true, 8, {6.8, 6.2, 5.75, 5.66}},
    series{"eytzinger", backend::cuda, 64, 0, false, 12, {6.45, 5.72, 5.18, 0}},
    series{"eytzinger", backend::cuda, 32, 1, false, 8, {0, 0, 1.24, 0}},
    series{"eytzinger", backend::cuda, 32, 16, false, 8, {0, 0, 0.984, 0}},
    series{"eytzinger", backend::cuda, 32, 256, false, 8, {0, 0, 0.412, 0}},
    series{"eytzinger", backend::cuda, 32, 1024, false, 8, {0, 0, 0.176, 0}},
    series{"pivot_tree", backend::cuda, 32, 0, false, 8.5, {81.4, 39.6, 32.7, 20.3}},
    series{"pivot_tree", backend::cuda, 32, 0, true, 8.5, {353, 280, 215, 106}},
    series{"pivot_tree", backend::cuda, 64, 0, false, 13, {44.5, 26.8, 23.5, 0}},
    series{"pivot_tree", backend::cuda, 64, 0, true, 13, {0, 0, 176, 0}},
    series{"pivot_tree", backend::cuda, 32, 1, false, 8.5, {0, 0, 18.6, 0}},
    series{"pivot_tree", backend::cuda, 32, 16, false, 8.5, {0, 0, 8.06, 0}},
    series{"pivot_tree", backend::cuda, 32, 256, false, 8.5, {0, 0, 1.72, 0}},
    series{"pivot_tree", backend::cuda, 32, 1024, false, 8.5, {0, 0, 0.514, 0}},
    series{"rx", backend::optix, 32, 0, false, 84, {0, 4.35, 3.96, 0}},
    series{"rx", backend::optix, 32, 0, true, 84, {0, 0, 4.83, 0}, "batch"},
    series{"rx", backend::optix, 64, 0, false, 88, {0, 4.27, 3.87, 0}},
    series{"rx", backend::optix, 64, 0, true, 88, {0, 0, 4.86, 0}, "batch"},
    series{"rx", backend::optix, 32, 16, false, 84, {0, 0, 1.85, 0}},
    series{"rx", backend::optix, 32, 256, false, 84, {0, 0, 1.33, 0}},
    series{"rx", backend::optix, 32, 1024, false, 84, {0, 0, 0.804, 0}},
    series{"cgrx", backend::optix, 32, 0, false, 15, {0, 5.41, 4.95, 0}},
    series{"cgrx", backend::optix, 32, 0, true, 15, {0, 0, 5.88, 0}, "batch"},
    series{"cgrx", backend::optix, 64, 0, false, 19, {0, 5.09, 4.68, 0}},
    series{"cgrx", backend::optix, 64, 0, true, 19, {0, 0, 5.66, 0}, "batch"},
    series{"cgrx", backend::optix, 32, 16, false, 15, {0, 0, 2.6, 0}},
    series{"cgrx", backend::optix, 32, 256, false, 15, {0, 0, 1.65, 0}},
    series{"cgrx", backend::optix, 32, 1024, false, 15, {0, 0, 0.848, 0}},
    series{"sorted_array", backend::cpu, 32, 0, false, 8, {0.0559, 0.0146, 0.00667, 0}},
    series{"sorted_array", backend::cpu, 32, 0, true, 8, {0.142, 0.118, 0.0866, 0}},
    series{"sorted_array", backend::cpu, 64, 0, false, 12, {0.0371, 0.00929, 0.00648, 0}},
    series{"sorted_array", backend::cpu, 32, 1, false, 8, {0, 0.013, 0, 0}},
    series{"sorted_array", backend::cpu, 32, 16, false, 8, {0, 0.00798, 0, 0}},
    series{"sorted_array", backend::cpu, 32, 256, false, 8, {0, 0.00282, 0, 0}},
    series{"sorted_array", backend::cpu, 32, 1024, false, 8, {0, 0.00174, 0, 0}},
    series{"eytzinger", backend::cpu, 32, 0, false, 8, {0.0366, 0.0291, 0.0222, 0}},
    series{"eytzinger", backend::cpu, 32, 0, true, 8, {0.0638, 0.0523, 0.0439, 0}},
    series{"eytzinger", backend::cpu, 64, 0, false, 12, {0.0224, 0.022, 0.0171, 0}},
    series{"eytzinger", backend::cpu, 32, 1, false, 8, {0, 0.011, 0, 0}},
    series{"eytzinger", backend::cpu, 32, 16, false, 8, {0, 0.00662, 0, 0}},
    series{"eytzinger", backend::cpu, 32, 256, false, 8, {0, 0.00278, 0, 0}},
    series{"eytzinger", backend::cpu, 32, 1024, false, 8, {0, 0.00133, 0, 0}},
    series{"pivot_tree", backend::cpu, 32, 0, false, 8.5, {0.109, 0.0517, 0.0439, 0}},
    series{"pivot_tree", backend::cpu, 32, 0, true, 8.5, {0.183, 0.137, 0.106, 0}},
    series{"pivot_tree", backend::cpu, 64, 0, false, 13, {0.0871, 0.0431, 0.0359, 0}},
    series{"pivot_tree", backend::cpu, 32, 1, false, 8.5, {0, 0.032, 0, 0}},
    series{"pivot_tree", backend::cpu, 32, 16, false, 8.5, {0, 0.0164, 0, 0}},
    series{"pivot_tree", backend::cpu, 32, 256, false, 8.5, {0, 0.0042, 0, 0}},
    series{"pivot_tree", backend::cpu, 32, 1024, false, 8.5, {0, 0.00156, 0, 0}},
};

speed_table make_built_in() {
  speed_table table;
  for (const series& s : built_in_series) {
    for (std::size_t i = 0; i < log2_sizes.size(); ++i) {
      if (s.giga_per_s.at(i) == 0) continue;
      option_map options;
      if (!s.order.empty()) options.emplace("order", s.order);
      table.add({.structure = std::string(s.structure),
                 .options = options,
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

const speed_table& speed_table::built_in() try {
  static const speed_table table = make_built_in();
  return table;
} catch (...) {
  rethrow_as_error();
}

void speed_table::add(measured_speed row) try {
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
} catch (...) {
  rethrow_as_error();
}

}  // namespace raydex
