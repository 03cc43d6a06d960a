// SPDX-License-Identifier: Apache-2.0
// The checks that every call of a join goes through.
#include "raydex/join.hpp"

#include <fmt/format.h>

#include <cmath>
#include <limits>

#include "raydex/error.hpp"
#include "src/interface/builders.hpp"
#include "src/interface/checks.hpp"

namespace raydex {

namespace {

void check_strings(const char* argument, const string_column& strings) {
  if (strings.size == 0) return;
  if (strings.offsets == nullptr)
    throw invalid_argument(fmt::format("{}: {} strings without offsets", argument, strings.size));
  check_validity(argument, strings.validity);
  check_array(argument, strings.offsets, strings.size + 1, strings.wide_offsets ? 8 : 4);
}

// Whether strings in host memory have bytes, but nobody said which. In a device's memory nobody
// looks.
bool lacks_bytes(const string_column& strings) {
  if (strings.size == 0 || strings.bytes != nullptr) return false;
  const auto differ = [&](const auto* offsets) { return offsets[0] != offsets[strings.size]; };
  return strings.wide_offsets ? differ(static_cast<const std::uint64_t*>(strings.offsets))
                              : differ(static_cast<const std::uint32_t*>(strings.offsets));
}

std::string neighbours_text(const asof_options& how) {
  return how.neighbours == 1 ? "" : fmt::format(" with {} neighbours each", how.neighbours);
}

void check_tolerances(const column& times, const asof_options& how) {
  if ((how.tolerance ? 1 : 0) + (how.relative_tolerance ? 1 : 0) + (how.tolerances ? 1 : 0) > 1)
    throw invalid_argument("tolerance: several are given; give one for all, a share, or a column");
  if (how.tolerance) check_distance("tolerance", times.format.type, *how.tolerance);
  if (how.relative_tolerance && !(*how.relative_tolerance >= 0)) {
    throw invalid_argument(
        fmt::format("relative_tolerance: {}; it must be 0 or more", *how.relative_tolerance));
  }
  if (!how.tolerances) return;
  const key_type own = how.tolerances->format.type;
  const auto is_floating = [](key_type type) {
    return type == key_type::float32 || type == key_type::float64;
  };
  check_column("tolerances", *how.tolerances);
  if (own == key_type::bytes || is_floating(own) != is_floating(times.format.type)) {
    throw invalid_argument(fmt::format("tolerances: they are {}, but the times {}",
                                       to_string(how.tolerances->format), to_string(times.format)));
  }
  if (how.tolerances->size == times.size) return;
  throw invalid_argument(fmt::format("tolerances: {} of them, but there are {} times",
                                     how.tolerances->size, times.size));
}

}  // namespace

std::string_view to_string(join_kind kind) try {
  switch (kind) {
    case join_kind::inner:
      return "inner";
    case join_kind::left:
      return "left";
    case join_kind::right:
      return "right";
    case join_kind::full:
      return "full";
    case join_kind::semi:
      return "semi";
    case join_kind::anti:
      return "anti";
  }
  throw invalid_argument(fmt::format("kind: {} is none of inner, left, right, full, semi, anti",
                                     static_cast<int>(kind)));
} catch (...) {
  rethrow_as_error();
}

void check_kind(join_kind kind) {
  const std::string_view name = to_string(kind);
  if (kind != join_kind::right && kind != join_kind::full) return;
  throw unsupported(
      fmt::format("kind: {} joins are of equal keys, and by `range_join`, `interval_join` and "
                  "`inequality_join`; this one can be inner, left, semi or anti",
                  name));
}

void check_comparison(comparison how) {
  if (how <= comparison::greater_equal) return;
  throw invalid_argument(fmt::format("comparison: {} is none", static_cast<int>(how)));
}

void check_distance(const char* argument, key_type type, const key_distance& distance) {
  const bool floating = type == key_type::float32 || type == key_type::float64;
  const double real = distance.real();
  if (!(real >= 0)) {
    throw invalid_argument(fmt::format("{}: {}; it must be 0 or more", argument, real));
  }
  if (!floating && real != std::floor(real)) {
    throw invalid_argument(
        fmt::format("{}: {}; of integers it must be a whole number", argument, real));
  }
}

void check_numbers(const char* argument, key_format format) {
  if (format.type != key_type::bytes) return;
  throw invalid_argument(
      fmt::format("{}: they are {}; distances are of numbers", argument, to_string(format)));
}

void check_same_format(const char* argument, key_format own, key_format needed, const char* owner) {
  if (own == needed) return;
  throw invalid_argument(fmt::format("{}: they are {}, but {} are {}", argument, to_string(own),
                                     owner, to_string(needed)));
}

std::optional<key_format> format_of_part(const key_part& part) {
  const auto* const cells = std::get_if<column>(&part);
  return cells == nullptr ? std::nullopt : std::optional(cells->format);
}

std::string text_of(const std::optional<key_format>& format) {
  return format ? to_string(*format) : "strings";
}

std::uint64_t check_key(backend where, const char* argument, const key_parts& keys) {
  if (keys.empty() || keys.size() > most_key_parts) {
    throw invalid_argument(
        fmt::format("{}: {} columns; a key has 1 to {}", argument, keys.size(), most_key_parts));
  }
  const auto rows = [](const key_part& part) {
    return std::visit([](const auto& cells) { return cells.size; }, part);
  };
  for (const key_part& part : keys) {
    if (const auto* const cells = std::get_if<column>(&part)) {
      check_column(argument, *cells);
    } else {
      const auto& strings = std::get<string_column>(part);
      check_strings(argument, strings);
      if (where == backend::cpu && lacks_bytes(strings))
        throw invalid_argument(fmt::format("{}: {} strings without bytes", argument, strings.size));
    }
    if (rows(part) != rows(keys.front())) {
      throw invalid_argument(fmt::format("{}: columns of {} and of {} rows; they must agree",
                                         argument, rows(keys.front()), rows(part)));
    }
  }
  return rows(keys.front());
}

void check_same_key(const char* argument, const key_parts& keys,
                    const std::vector<std::optional<key_format>>& formats) {
  if (keys.size() != formats.size()) {
    throw invalid_argument(fmt::format("{}: {} columns, but the key of the build side has {}",
                                       argument, keys.size(), formats.size()));
  }
  for (std::size_t p = 0; p < keys.size(); ++p) {
    const auto own = format_of_part(keys[p]);
    if (own == formats[p]) continue;
    throw invalid_argument(fmt::format("{}: column {} is {}, but that of the build side is {}",
                                       argument, p + 1, text_of(own), text_of(formats[p])));
  }
}

void check_by(backend where, const key_parts& by,
              const std::vector<std::optional<key_format>>& formats, std::uint64_t size) {
  if (by.empty() && formats.empty()) return;
  const std::uint64_t rows = check_key(where, "by", by);
  check_same_key("by", by, formats);
  if (rows == size) return;
  throw invalid_argument(fmt::format("by: {} rows, but the columns beside it have {}", rows, size));
}

joined::~joined() = default;
join::~join() = default;
asof_join::~asof_join() = default;

void joined::counts(const context& on, std::span<std::uint64_t> out) const try {
  check_space(on, where_);
  check_array("out", out);
  if (out.size() != probes_) {
    throw invalid_argument(
        fmt::format("out: room for {} counts, but there are {} probe rows", out.size(), probes_));
  }
  if (probes_ != 0) do_counts(on, out.data());
} catch (...) {
  rethrow_as_error();
}

void joined::rows(const context& on, std::uint64_t first, const gather_maps& out) const try {
  check_space(on, where_);
  if (first > size_ || out.size > size_ - first) {
    throw invalid_argument(
        fmt::format("rows: {} from number {} on, but the join has {}", out.size, first, size_));
  }
  check_array("probe rows", out.probe_rows, out.size, row_id_bytes(out.type));
  const bool has_build_rows = kind_ != join_kind::semi && kind_ != join_kind::anti;
  gather_maps written = out;
  if (has_build_rows) {
    check_array("build rows", out.build_rows, out.size, row_id_bytes(out.type));
  } else {
    written.build_rows = nullptr;
  }
  constexpr std::uint64_t most = not_found<std::uint32_t>;
  const std::uint64_t last_probe = probes_ == 0 ? 0 : probes_ - 1;
  if (out.type == row_id_type::uint32 &&
      (last_probe >= most || (has_build_rows && max_build_row_ >= most))) {
    throw invalid_argument(
        fmt::format("rows: uint32 is too narrow for {} probe rows and build "
                    "rows up to {}; give uint64",
                    probes_, max_build_row_));
  }
  if (out.size != 0) do_rows(on, first, written);
} catch (...) {
  rethrow_as_error();
}

void joined::rows(const context& on, const gather_maps& out) const try {
  if (out.size != size_) {
    throw invalid_argument(fmt::format("rows: room for {}, but the join has {}", out.size, size_));
  }
  rows(on, 0, out);
} catch (...) {
  rethrow_as_error();
}

void replace_not_found(backend where, const context& on, const row_id_span& rows,
                       std::uint64_t number) try {
  check_available(where);
  check_space(on, where);
  check_array("rows", rows.data, rows.size, row_id_bytes(rows.type));
  if (rows.type == row_id_type::uint32 && number > not_found<std::uint32_t>)
    throw invalid_argument(fmt::format("number: {} has more bits than the rows, uint32", number));
  if (rows.size != 0) operation_on(where, &operation_table::replace_not_found)(on, rows, number);
} catch (...) {
  rethrow_as_error();
}

std::unique_ptr<joined> join::checked_match(const context& on, const request& wanted) const {
  check_space(on, info_.where);
  if (wanted.parts != nullptr || (wanted.batch && wanted.batch->is_points)) {
    to_string(wanted.kind);  // which knows all kinds
  } else {
    check_kind(wanted.kind);
  }
  return do_match(on, wanted);
}

void join::check_one_column(const column& probe) const {
  if (info_.keys != key_comparison::column) {
    throw unsupported("probe: points and ranges are of joins whose key is one column");
  }
  check_column("probe", probe);
  check_same_format("probe", probe.format, *formats().front(), "the keys of the build side");
}

std::unique_ptr<joined> join::match(const context& on, const key_parts& probe, join_kind kind) const
    try {
  check_key(info_.where, "probe", probe);
  check_same_key("probe", probe, formats());
  return checked_match(on, {.kind = kind, .parts = &probe});
} catch (...) {
  rethrow_as_error();
}

std::unique_ptr<joined> join::match_probes(const context& on, const probes& batch,
                                           join_kind kind) const try {
  check_one_column(batch.lower);
  if (!batch.is_points) check_one_column(batch.upper);
  check_sizes("probes", batch, batch.size());
  return checked_match(on, {.kind = kind, .batch = batch});
} catch (...) {
  rethrow_as_error();
}

std::unique_ptr<joined> join::match_band(const context& on, const column& probe,
                                         key_distance distance, join_kind kind) const try {
  check_one_column(probe);
  check_numbers("probe", probe.format);
  check_distance("distance", probe.format.type, distance);
  return checked_match(on, {.kind = kind, .from = &probe, .distance = distance});
} catch (...) {
  rethrow_as_error();
}

std::unique_ptr<joined> join::match_compared(const context& on, const column& probe, comparison how,
                                             join_kind kind) const try {
  check_one_column(probe);
  check_comparison(how);
  return checked_match(on, {.kind = kind, .from = &probe, .how = how});
} catch (...) {
  rethrow_as_error();
}

std::unique_ptr<join> build_join(const context& on, const index& over) try {
  check_space(on, over.info().where);
  return operation_on(over.info().where, &operation_table::build_index_join)(on, over);
} catch (...) {
  rethrow_as_error();
}

void asof_join::check(const context& on, const column& times, const key_parts& by,
                      const asof_options& how) const {
  check_space(on, info_.where);
  check_column("times", times);
  check_same_format("times", times.format, time_format(), "those of the build side");
  check_by(info_.where, by, formats(), times.size);
  check_tolerances(times, how);
  if (how.neighbours == 0) throw invalid_argument("neighbours: 0; it must be 1 or more");
}

void asof_join::match(const context& on, const column& times, const key_parts& by,
                      const asof_options& how, const row_id_span& out) const try {
  check(on, times, by, how);
  check_row_ids(out, row_ids(), "the build side");
  if (out.size != saturated_product(times.size, how.neighbours)) {
    throw invalid_argument(fmt::format("out: room for {} rows, but there are {} times{}", out.size,
                                       times.size, neighbours_text(how)));
  }
  if (times.size == 0) return;
  write_row_ids(on, info_.where, row_ids(), out,
                [&](void* rows) { do_match(on, times, by, how, rows); });
} catch (...) {
  rethrow_as_error();
}

std::unique_ptr<joined> asof_join::match(const context& on, const column& times,
                                         const key_parts& by, const asof_options& how,
                                         join_kind kind) const try {
  check(on, times, by, how);
  check_kind(kind);
  if (row_ids() == row_id_type::uint32 &&
      saturated_product(times.size, how.neighbours) >= not_found<std::uint32_t>) {
    throw unsupported(fmt::format("times: {}{} are too many at once; match some at a time",
                                  times.size, neighbours_text(how)));
  }
  return do_match(on, times, by, how, kind);
} catch (...) {
  rethrow_as_error();
}

void asof_join::append(stream_t stream, const column& times, const key_parts& by) try {
  check_column("times", times);
  check_same_format("times", times.format, time_format(), "those of the build side");
  check_by(info_.where, by, formats(), times.size);
  if (times.size != 0) do_append(stream, times, by);
} catch (...) {
  rethrow_as_error();
}

}  // namespace raydex
