// SPDX-License-Identifier: Apache-2.0
// The checks that every call of a join by order goes through.
#include "raydex/order_join.hpp"

#include <fmt/format.h>

#include "raydex/error.hpp"
#include "src/interface/builders.hpp"
#include "src/interface/checks.hpp"

namespace raydex {

namespace {

void check_match(const context& on, backend where, join_kind kind) {
  check_space(on, where);
  to_string(kind);  // which knows all kinds
}

void check_taken(matches_taken which) {
  if (which > matches_taken::first)
    throw invalid_argument(
        fmt::format("which: {} is no choice of matches", static_cast<int>(which)));
}

void check_sizes_agree(const column& first, const column& second) {
  if (first.size == second.size) return;
  throw invalid_argument(
      fmt::format("columns: of {} and of {} rows; they must agree", first.size, second.size));
}

void check_probe(const char* argument, const column& probe, key_format needed) {
  check_column(argument, probe);
  check_same_format(argument, probe.format, needed, "those of the build side");
}

}  // namespace

void check_build_side(backend where, const context& on, std::uint64_t size, const key_parts& by) {
  check_available(where);
  check_space(on, where);
  if (by.empty() || check_key(where, "by", by) == size) return;
  throw invalid_argument(
      fmt::format("by: its columns have another number of rows than the {} beside them", size));
}

void check_closed(closed_ends closed) {
  if (closed > closed_ends::neither)
    throw invalid_argument(fmt::format("closed: {} is none", static_cast<int>(closed)));
}

range_join::~range_join() = default;
interval_join::~interval_join() = default;
inequality_join::~inequality_join() = default;

void range_join::check(const context& on, const column& probe, const key_parts& by,
                       join_kind kind) const {
  check_match(on, info_.where, kind);
  check_probe("probe", probe, format_);
  check_by(info_.where, by, by_, probe.size);
}

std::unique_ptr<joined> range_join::match(const context& on, const probes& batch,
                                          const key_parts& by, join_kind kind) const try {
  check(on, batch.lower, by, kind);
  if (!batch.is_points) check_probe("probe", batch.upper, format_);
  check_sizes("probes", batch, batch.size());
  return do_match(on, {.kind = kind, .by = &by, .batch = batch});
} catch (...) {
  rethrow_as_error();
}

std::unique_ptr<joined> range_join::match_band(const context& on, const column& probe,
                                               key_distance distance, const key_parts& by,
                                               join_kind kind) const try {
  check(on, probe, by, kind);
  check_numbers("probe", probe.format);
  check_distance("distance", probe.format.type, distance);
  return do_match(on, {.kind = kind, .by = &by, .probe = &probe, .distance = distance});
} catch (...) {
  rethrow_as_error();
}

std::unique_ptr<joined> range_join::match_compared(const context& on, const column& probe,
                                                   comparison how, const key_parts& by,
                                                   join_kind kind) const try {
  check(on, probe, by, kind);
  check_comparison(how);
  return do_match(on, {.kind = kind, .by = &by, .probe = &probe, .how = how});
} catch (...) {
  rethrow_as_error();
}

std::unique_ptr<range_join> build_range_join(backend where, const context& on, const column& values,
                                             const key_parts& by) try {
  check_column("values", values);
  check_build_side(where, on, values.size, by);
  return operation_on(where, &operation_table::build_range_join)(where, on, values, by);
} catch (...) {
  rethrow_as_error();
}

std::unique_ptr<joined> interval_join::match(const context& on, const column& points,
                                             const key_parts& by, join_kind kind,
                                             matches_taken which) const try {
  check_match(on, info_.where, kind);
  check_taken(which);
  check_probe("points", points, format_);
  check_by(info_.where, by, by_, points.size);
  return do_match(on, points, nullptr, by, std::nullopt, kind, which);
} catch (...) {
  rethrow_as_error();
}

std::unique_ptr<joined> interval_join::match(const context& on, const column& lower,
                                             const column& upper, const key_parts& by,
                                             interval_relation how, join_kind kind,
                                             matches_taken which) const try {
  check_match(on, info_.where, kind);
  check_taken(which);
  check_probe("lower", lower, format_);
  check_probe("upper", upper, format_);
  check_sizes("intervals", ranges(lower, upper), lower.size);
  check_by(info_.where, by, by_, lower.size);
  if (how > interval_relation::encloses)
    throw invalid_argument(fmt::format("relation: {} is none", static_cast<int>(how)));
  return do_match(on, lower, &upper, by, how, kind, which);
} catch (...) {
  rethrow_as_error();
}

std::unique_ptr<interval_join> build_interval_join(backend where, const context& on,
                                                   const column& lower, const column& upper,
                                                   const key_parts& by, closed_ends closed) try {
  check_column("lower", lower);
  check_column("upper", upper);
  check_sizes("intervals", ranges(lower, upper), lower.size);
  check_build_side(where, on, lower.size, by);
  check_closed(closed);
  return operation_on(where, &operation_table::build_interval_join)(where, on, lower, upper, by,
                                                                    closed);
} catch (...) {
  rethrow_as_error();
}

std::unique_ptr<joined> inequality_join::match(const context& on, const column& first,
                                               const column& second, const key_parts& by,
                                               join_kind kind) const try {
  check_match(on, info_.where, kind);
  check_probe("first", first, first_);
  check_probe("second", second, second_);
  check_sizes_agree(first, second);
  check_by(info_.where, by, by_, first.size);
  return do_match(on, first, second, by, kind);
} catch (...) {
  rethrow_as_error();
}

std::unique_ptr<inequality_join> build_inequality_join(backend where, const context& on,
                                                       const compared_column& first,
                                                       const compared_column& second,
                                                       const key_parts& by) try {
  check_column("first", first.values);
  check_column("second", second.values);
  check_comparison(first.how);
  check_comparison(second.how);
  check_sizes_agree(first.values, second.values);
  check_build_side(where, on, first.values.size, by);
  return operation_on(where, &operation_table::build_inequality_join)(where, on, first, second, by);
} catch (...) {
  rethrow_as_error();
}

}  // namespace raydex
