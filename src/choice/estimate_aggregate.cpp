// SPDX-License-Identifier: Apache-2.0
// Bytes of aggregates, in the order in which their build takes them.
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <optional>

#include "raydex/core/aggregates/prefix_sums.hpp"
#include "raydex/error.hpp"
#include "raydex/estimate.hpp"
#include "src/interface/checks.hpp"

namespace raydex {

namespace {

bool are_floating(key_format values) {
  return values.type == key_type::float32 || values.type == key_type::float64;
}

// What holds sums, and what their build takes besides.
struct bytes_of_sums {
  std::uint64_t resident;
  std::uint64_t scratch;
};
bytes_of_sums sums_over(std::uint64_t n, const value_facts& values) {
  const std::uint64_t prefix = (n + 1) * sizeof(std::uint64_t);
  if (!are_floating(values.format)) return {values.format.width == 8 ? 2 * prefix : prefix, 0};
  const std::uint64_t finite =
      n * sizeof(double) + core::sum_tree::all_sums(n) * sizeof(core::double_sum);
  const std::uint64_t unusual = n == 0 ? 0 : 3 * prefix;  // NaN, infinity, negative infinity
  return values.finite ? bytes_of_sums{finite, unusual} : bytes_of_sums{finite + unusual, 0};
}

// Numbers by rank, and what finds their minima.
std::uint64_t extremes_over(backend where, std::uint64_t n, std::uint64_t width) {
  const key_format code = width == 8 ? format_of<std::uint64_t> : format_of<std::uint32_t>;
  const backend searched = where == backend::optix ? backend::cuda : where;
  return n * width + estimate_rmq("rmq_cover", searched, n, code).resident_bytes;
}

void check_values(key_format values) {
  check_format("values", values);
  if (values.type == key_type::bytes) {
    throw invalid_argument(
        fmt::format("values: they are {}; aggregates are of numbers", to_string(values)));
  }
}

}  // namespace

aggregate_estimate estimate_aggregate(backend where, const column_facts& keys,
                                      const std::optional<value_facts>& values,
                                      const aggregate_options& options) try {
  to_string(where);  // refuses what is no backend
  if (values) check_values(values->format);
  const std::uint64_t n = keys.n;
  const bool narrow = keys.row_ids == row_id_type::uint32 && n < not_found<std::uint32_t>;
  const std::uint64_t row = narrow ? 4 : 8;
  const std::uint64_t rows_by_key = n * row;
  const std::uint64_t first_rows = extremes_over(where, n, row) - rows_by_key;
  const std::uint64_t ranks = 2 * row;
  aggregate_estimate made;
  if (values) {
    if (values->missing) {
      made.resident_bytes += (n + 1) * sizeof(std::uint64_t);
      made.per_probe.count_values = ranks;
    }
    if (options.sums) {
      const bytes_of_sums sums = sums_over(n, *values);
      made.resident_bytes += sums.resident;
      made.build_peak_bytes = rows_by_key + made.resident_bytes + sums.scratch;
      made.per_probe.sum = ranks;
    }
    for (const bool wanted : {options.minima, options.maxima}) {
      if (!wanted) continue;
      made.resident_bytes += extremes_over(where, n, values->format.width);
      made.per_probe.extreme = 2 * ranks;
    }
  }
  if (options.first_rows) {
    made.resident_bytes += first_rows;
    made.per_probe.first = 2 * ranks;
  }
  made.build_peak_bytes = std::max(made.build_peak_bytes, rows_by_key + made.resident_bytes);
  if (options.first_rows) made.resident_bytes += rows_by_key;
  return made;
} catch (...) {
  rethrow_as_error();
}

}  // namespace raydex
