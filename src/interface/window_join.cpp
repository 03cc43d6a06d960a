// SPDX-License-Identifier: Apache-2.0
// The checks that every call of a window join goes through.
#include "raydex/window_join.hpp"

#include <fmt/format.h>

#include "raydex/error.hpp"
#include "src/interface/builders.hpp"
#include "src/interface/checks.hpp"

namespace raydex {

windowed::~windowed() = default;
window_join::~window_join() = default;

void windowed::check(const context& on, std::uint64_t out_size) const {
  check_space(on, facts_.where);
  if (out_size == size_) return;
  throw invalid_argument(
      fmt::format("out: room for {} results, but there are {} probe rows", out_size, size_));
}

void windowed::check_part(bool built, const char* option) const {
  if (!facts_.value) throw unsupported("window_join: it was built without values");
  if (!built) throw unsupported(fmt::format("window_join: it was built without {}", option));
}

void windowed::count(const context& on, std::span<std::uint64_t> out) const try {
  check(on, out.size());
  check_array("out", out);
  if (size_ != 0) do_count(on, out.data());
} catch (...) {
  rethrow_as_error();
}

template <class T>
void windowed::checked_sum(const context& on, std::span<T> out, bool fits,
                           const char* legal) const {
  check_part(facts_.built.sums, "sums");
  if (!fits) {
    throw invalid_argument(fmt::format("out: the values are {}; this output takes sums of {}",
                                       to_string(*facts_.value), legal));
  }
  check(on, out.size());
  check_array("out", out);
  if (size_ != 0) do_sum(on, out.data());
}

void windowed::sum(const context& on, std::span<std::uint64_t> out) const try {
  const key_type type = facts_.value ? facts_.value->type : key_type::bytes;
  checked_sum(on, out, type == key_type::uint32 || type == key_type::uint64, "uint32 or uint64");
} catch (...) {
  rethrow_as_error();
}

void windowed::sum(const context& on, std::span<std::int64_t> out) const try {
  const key_type type = facts_.value ? facts_.value->type : key_type::bytes;
  checked_sum(on, out, type == key_type::int32 || type == key_type::int64, "int32 or int64");
} catch (...) {
  rethrow_as_error();
}

void windowed::sum(const context& on, std::span<double> out) const try {
  const key_type type = facts_.value ? facts_.value->type : key_type::bytes;
  checked_sum(on, out, type == key_type::float32 || type == key_type::float64, "float or double");
} catch (...) {
  rethrow_as_error();
}

void windowed::mean(const context& on, std::span<double> out) const try {
  check_part(facts_.built.sums, "sums");
  check(on, out.size());
  check_array("out", out);
  if (size_ != 0) do_mean(on, out.data());
} catch (...) {
  rethrow_as_error();
}

void windowed::checked_value(const context& on, const value_span& out, bool built,
                             const char* option) const {
  check_part(built, option);
  check(on, out.size);
  check_same_format("out", out.format, *facts_.value, "the values of the join");
  check_array("out", out.data, out.size, out.format.width);
}

void windowed::minimum(const context& on, const value_span& out) const try {
  checked_value(on, out, facts_.built.minima, "minima");
  if (size_ != 0) do_extreme(on, false, out.data);
} catch (...) {
  rethrow_as_error();
}

void windowed::maximum(const context& on, const value_span& out) const try {
  checked_value(on, out, facts_.built.maxima, "maxima");
  if (size_ != 0) do_extreme(on, true, out.data);
} catch (...) {
  rethrow_as_error();
}

void windowed::first(const context& on, const value_span& out) const try {
  checked_value(on, out, facts_.built.minima, "minima");
  if (size_ != 0) do_end(on, false, out.data);
} catch (...) {
  rethrow_as_error();
}

void windowed::last(const context& on, const value_span& out) const try {
  checked_value(on, out, facts_.built.minima, "minima");
  if (size_ != 0) do_end(on, true, out.data);
} catch (...) {
  rethrow_as_error();
}

template <class Write>
void windowed::write_rows(const context& on, const row_id_span& out, const Write& write) const {
  check(on, out.size);
  check_row_ids(out, facts_.row_ids, "the build side");
  if (size_ != 0) write_row_ids(on, facts_.where, facts_.row_ids, out, write);
}

void windowed::argmin(const context& on, const row_id_span& out) const try {
  check_part(facts_.built.minima, "minima");
  write_rows(on, out, [&](void* rows) { do_row_of_extreme(on, false, rows); });
} catch (...) {
  rethrow_as_error();
}

void windowed::argmax(const context& on, const row_id_span& out) const try {
  check_part(facts_.built.maxima, "maxima");
  write_rows(on, out, [&](void* rows) { do_row_of_extreme(on, true, rows); });
} catch (...) {
  rethrow_as_error();
}

void windowed::first_row(const context& on, const row_id_span& out) const try {
  write_rows(on, out, [&](void* rows) { do_row_of_end(on, false, rows); });
} catch (...) {
  rethrow_as_error();
}

void windowed::last_row(const context& on, const row_id_span& out) const try {
  write_rows(on, out, [&](void* rows) { do_row_of_end(on, true, rows); });
} catch (...) {
  rethrow_as_error();
}

void window_join::check_times(const context& on, const column& times, const key_parts& by,
                              const time_window& window) const {
  check_space(on, info_.where);
  check_column("times", times);
  check_same_format("times", times.format, time_, "those of the build side");
  check_distance("before", time_.type, window.before);
  check_distance("after", time_.type, window.after);
  check_closed(window.closed);
  check_by(info_.where, by, by_, times.size);
}

std::unique_ptr<windowed> window_join::match(const context& on, const column& times,
                                             const key_parts& by, const time_window& window) const
    try {
  check_times(on, times, by, window);
  return do_match(on, points(times), by, window, false);
} catch (...) {
  rethrow_as_error();
}

std::unique_ptr<windowed> window_join::match_own(const context& on, const column& times,
                                                 const key_parts& by,
                                                 const time_window& window) const try {
  check_times(on, times, by, window);
  if (times.size != size_) {
    throw invalid_argument(
        fmt::format("times: {} rows, but the build side has {}", times.size, size_));
  }
  return do_match(on, points(times), by, window, true);
} catch (...) {
  rethrow_as_error();
}

std::unique_ptr<windowed> window_join::match(const context& on, const probes& ranges,
                                             const key_parts& by) const try {
  check_space(on, info_.where);
  if (ranges.is_points)
    throw invalid_argument("ranges: they are points; windows are ranges(lower, upper)");
  for (const column& ends : {ranges.lower, ranges.upper}) {
    check_column("ranges", ends);
    check_same_format("ranges", ends.format, time_, "the times of the build side");
  }
  check_sizes("ranges", ranges, ranges.size());
  check_by(info_.where, by, by_, ranges.size());
  return do_match(on, ranges, by, {}, false);
} catch (...) {
  rethrow_as_error();
}

std::unique_ptr<window_join> build_window_join(backend where, const context& on,
                                               const column& times, const key_parts& by,
                                               const std::optional<column>& values,
                                               const window_options& options) try {
  check_column("times", times);
  check_numbers("times", times.format);
  check_build_side(where, on, times.size, by);
  if (values) {
    check_column("values", *values);
    check_numbers("values", values->format);
    if (values->size != times.size) {
      throw invalid_argument(
          fmt::format("values: {} rows, but there are {} times", values->size, times.size));
    }
  }
  return operation_on(where, &operation_table::build_window_join)(where, on, times, by, values,
                                                                  options);
} catch (...) {
  rethrow_as_error();
}

}  // namespace raydex
