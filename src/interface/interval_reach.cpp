// SPDX-License-Identifier: Apache-2.0
// The checks that every call about nearest intervals and coverage goes through.
#include <fmt/format.h>

#include "raydex/error.hpp"
#include "raydex/interval_coverage.hpp"
#include "raydex/nearest_join.hpp"
#include "src/interface/builders.hpp"
#include "src/interface/checks.hpp"

namespace raydex {

namespace {

// Checks the intervals of a build side.
void check_ends(const column& lower, const column& upper) {
  check_column("lower", lower);
  check_column("upper", upper);
  check_sizes("intervals", ranges(lower, upper), lower.size);
}

// Checks those of a batch.
void check_ends(const column& lower, const column& upper, key_format needed) {
  check_ends(lower, upper);
  check_same_format("lower", lower.format, needed, "those of the build side");
}

}  // namespace

nearest_join::~nearest_join() = default;
interval_coverage::~interval_coverage() = default;

void nearest_join::check(const context& on, const column& lower, const column& upper,
                         const key_parts& by, const nearest_options& how) const {
  check_space(on, info_.where);
  check_ends(lower, upper, format_);
  check_by(info_.where, by, by_, lower.size);
  if (how.count == 0) throw invalid_argument("count: 0; it must be 1 or more");
}

template <class Distance>
void nearest_join::checked_match(const context& on, const column& lower, const column& upper,
                                 const key_parts& by, const nearest_options& how,
                                 const row_id_span& rows, std::span<Distance> distances) const {
  check(on, lower, upper, by, how);
  check_row_ids(rows, row_ids_, "the build side");
  if (rows.size % how.count != 0 || rows.size / how.count != lower.size) {
    throw invalid_argument(fmt::format("rows: room for {}, but there are {} probe rows of {} each",
                                       rows.size, lower.size, how.count));
  }
  if (!distances.empty()) {
    const bool is_floating = format_.type == key_type::float32 || format_.type == key_type::float64;
    if (is_floating != std::is_floating_point_v<Distance>) {
      throw invalid_argument(fmt::format("distances: of {} they are {}", to_string(format_),
                                         is_floating ? "double" : "uint64"));
    }
    if (distances.size() != rows.size) {
      throw invalid_argument(fmt::format("distances: room for {}, but there are {} rows",
                                         distances.size(), rows.size));
    }
    check_array("distances", distances);
  }
  if (rows.size == 0) return;
  write_row_ids(on, info_.where, row_ids_, rows,
                [&](void* own) { do_match(on, lower, upper, by, how, own, distances.data()); });
}

void nearest_join::match(const context& on, const column& lower, const column& upper,
                         const key_parts& by, const nearest_options& how, const row_id_span& rows,
                         std::span<std::uint64_t> distances) const try {
  checked_match(on, lower, upper, by, how, rows, distances);
} catch (...) {
  rethrow_as_error();
}

void nearest_join::match(const context& on, const column& lower, const column& upper,
                         const key_parts& by, const nearest_options& how, const row_id_span& rows,
                         std::span<double> distances) const try {
  checked_match(on, lower, upper, by, how, rows, distances);
} catch (...) {
  rethrow_as_error();
}

std::unique_ptr<joined> nearest_join::match_ties(const context& on, const column& lower,
                                                 const column& upper, const key_parts& by,
                                                 const nearest_options& how, join_kind kind) const
    try {
  check(on, lower, upper, by, how);
  check_kind(kind);
  if (!how.overlaps)
    throw unsupported("overlaps: ties are found with those at a distance of 0 alone");
  return do_match_ties(on, lower, upper, by, how, kind);
} catch (...) {
  rethrow_as_error();
}

std::unique_ptr<nearest_join> build_nearest_join(backend where, const context& on,
                                                 const column& lower, const column& upper,
                                                 const key_parts& by) try {
  check_ends(lower, upper);
  check_numbers("lower", lower.format);
  check_build_side(where, on, lower.size, by);
  return operation_on(where, &operation_table::build_nearest_join)(where, on, lower, upper, by);
} catch (...) {
  rethrow_as_error();
}

void interval_coverage::match(const context& on, const column& lower, const column& upper,
                              const key_parts& by, std::span<std::uint64_t> out) const try {
  check_space(on, info_.where);
  check_ends(lower, upper, format_);
  check_by(info_.where, by, by_, lower.size);
  if (out.size() != lower.size) {
    throw invalid_argument(fmt::format("out: room for {} results, but there are {} probe rows",
                                       out.size(), lower.size));
  }
  check_array("out", out);
  if (lower.size != 0) do_match(on, lower, upper, by, out.data());
} catch (...) {
  rethrow_as_error();
}

std::unique_ptr<interval_coverage> build_interval_coverage(backend where, const context& on,
                                                           const column& lower, const column& upper,
                                                           const key_parts& by) try {
  check_ends(lower, upper);
  if (lower.size >= std::uint64_t{1} << 31)
    throw unsupported(fmt::format("intervals: {}; there may be fewer than 2^31", lower.size));
  for (const key_type type : integer_keys) {
    if (type != lower.format.type) continue;
    check_build_side(where, on, lower.size, by);
    return operation_on(where, &operation_table::build_interval_coverage)(where, on, lower, upper,
                                                                          by);
  }
  throw unsupported(
      fmt::format("lower: of {}; lengths are summed of integers alone", to_string(lower.format)));
} catch (...) {
  rethrow_as_error();
}

}  // namespace raydex
