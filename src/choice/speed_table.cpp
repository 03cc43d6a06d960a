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
constexpr std::string_view cpu_device = "AMD EPYC";

// Lookups of rx and cgrx are traced in the order of their keys, as they are by default in batches
// of 2^17 and more: the batch is sorted first. Probes that are sorted already were measured with
// order=batch, which leaves them as they are, and are so of a structure with that option.
constexpr std::array built_in_series{
#include "src/choice/built_in_speeds.inc"
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
