// SPDX-License-Identifier: Apache-2.0
// What is checked before columns of a key are packed, and how many bits they take.
#include "raydex/composite_keys.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <numeric>
#include <string>

#include "raydex/error.hpp"
#include "src/interface/builders.hpp"
#include "src/interface/checks.hpp"
#include "src/interface/composite_numbers.hpp"

namespace raydex {

namespace {

std::vector<column> cells_of_all(std::span<const composite_column> columns) {
  std::vector<column> all;
  for (const composite_column& one : columns)
    all.push_back(one.cells);
  return all;
}

key_parts key_of(std::span<const column> columns) {
  return {columns.begin(), columns.end()};
}

// Of the numbers of a column; 65 where they have more than 64.
unsigned bits_of_column(const composite_part& part) {
  const std::uint64_t last = numbered(part).largest();
  const bool is_beyond = last == 0 && part.first < part.last;
  return is_beyond ? 65 : static_cast<unsigned>(std::bit_width(last));
}

// Fills in those of each column, and counts them.
unsigned count_bits(std::vector<composite_part>& parts) {
  for (composite_part& part : parts)
    part.bits = bits_of_column(part);
  return bits_of(parts);
}

composite_part described(const composite_column& one) {
  if (one.missing > missing_cells::last)
    throw invalid_argument(fmt::format("missing: {} is none of unmatched, first and last",
                                       static_cast<int>(one.missing)));
  if (one.step == 0) throw invalid_argument("step: 0; it must be 1 or more");
  composite_part part;
  part.format = one.cells.format;
  part.descending = one.descending;
  part.missing = one.missing;
  part.step = one.step;
  return part;
}

// What becomes of columns, which may take more than 64 bits.
std::vector<composite_part> parts_of(backend where, const context& on,
                                     std::span<const composite_column> columns) {
  check_available(where);
  check_space(on, where);
  const std::vector<column> cells = cells_of_all(columns);
  check_key(where, "columns", key_of(cells));
  std::vector<composite_part> parts;
  for (const composite_column& one : columns)
    parts.push_back(described(one));
  operation_on(where, &operation_table::find_composite_spans)(on, cells, parts);
  unsigned bits = count_bits(parts);
  // Those that take most are counted in steps first.
  std::vector<std::size_t> order(parts.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return parts[a].bits > parts[b].bits; });
  for (const std::size_t p : order) {
    if (bits <= 64) break;
    composite_part& part = parts[p];
    operation_on(where, &operation_table::find_composite_steps)(on, {&cells[p], 1}, {&part, 1});
    part.step = std::max(part.step, std::uint64_t{1});
    bits = count_bits(parts);
  }
  return parts;
}

[[noreturn]] void refuse_bits(const std::vector<composite_part>& parts, unsigned bits) {
  std::string each;
  for (const composite_part& part : parts)
    each += fmt::format("{}{}", each.empty() ? "" : " + ", part.bits);
  throw unsupported(fmt::format(
      "columns: from their smallest values to their largest ones, in steps, they take {} = {} "
      "bits, but a key has 64; give numbers of a key_dictionary in place of columns whose "
      "values are far apart, coarser times, or fewer columns",
      each, bits));
}

}  // namespace

composite_keys::composite_keys(backend where, const context& on,
                               std::span<const composite_column> columns) try
    : where_(where), parts_(parts_of(where, on, columns)) {
  if (const unsigned bits = bits_of(parts_); bits > 64) refuse_bits(parts_, bits);
} catch (...) {
  rethrow_as_error();
}

std::vector<unsigned> composite_keys::bits_of_columns(
    backend where, const context& on, std::span<const composite_column> columns) try {
  std::vector<unsigned> all;
  for (const composite_part& part : parts_of(where, on, columns))
    all.push_back(part.bits);
  return all;
} catch (...) {
  rethrow_as_error();
}

void composite_keys::check(const context& on, std::span<const column> columns) const {
  check_space(on, where_);
  check_key(where_, "columns", key_of(columns));
  if (columns.size() > parts_.size())
    throw invalid_argument(
        fmt::format("columns: {}, but the key has {}", columns.size(), parts_.size()));
  for (std::size_t p = 0; p < columns.size(); ++p) {
    if (columns[p].format == parts_[p].format) continue;
    throw invalid_argument(fmt::format("columns: column {} is {}, but that of the key is {}", p + 1,
                                       to_string(columns[p].format), to_string(parts_[p].format)));
  }
}

key_format composite_keys::format() const noexcept {
  return packed_format(parts_);
}

void composite_keys::check_all(const context& on, std::span<const column> columns) const {
  check(on, columns);
  if (columns.size() == parts_.size()) return;
  throw invalid_argument(
      fmt::format("columns: {}, but the key has {}; the first ones alone are packed as ranges",
                  columns.size(), parts_.size()));
}

packed_keys composite_keys::pack(const context& on, std::span<const column> columns,
                                 bool are_rows) const {
  check_all(on, columns);
  return operation_on(where_, &operation_table::pack_composite_keys)(on, parts_, columns, are_rows);
}

packed_keys composite_keys::pack_rows(const context& on, std::span<const column> columns) const
    try {
  return pack(on, columns, true);
} catch (...) {
  rethrow_as_error();
}

packed_keys composite_keys::pack_points(const context& on, std::span<const column> columns) const
    try {
  return pack(on, columns, false);
} catch (...) {
  rethrow_as_error();
}

packed_ranges composite_keys::pack_ranges(const context& on, std::span<const column> equal,
                                          const std::optional<column>& lower,
                                          const std::optional<column>& upper) const try {
  std::vector<column> all(equal.begin(), equal.end());
  if (!lower && !upper) check(on, all);
  for (const auto& bounds : {lower, upper}) {
    if (!bounds) continue;
    all.push_back(*bounds);
    check(on, all);
    all.pop_back();
  }
  if (lower && upper && lower->size != upper->size)
    throw invalid_argument(
        fmt::format("upper: {} bounds, but {} lower ones", upper->size, lower->size));
  return operation_on(where_, &operation_table::pack_composite_ranges)(on, parts_, equal, lower,
                                                                       upper);
} catch (...) {
  rethrow_as_error();
}

packed_keys composite_keys::pack_closest(const context& on, std::span<const column> columns,
                                         closest_number which) const try {
  check(on, columns);
  if (which > closest_number::above)
    throw invalid_argument(fmt::format("which: {} is none of at_most, below, at_least and above",
                                       static_cast<int>(which)));
  return operation_on(where_, &operation_table::pack_closest_numbers)(on, parts_, columns, which);
} catch (...) {
  rethrow_as_error();
}

bool composite_keys::is_full() const noexcept {
  return raydex::is_full(parts_);
}

bool composite_keys::holds(const context& on, std::span<const column> columns) const try {
  check_all(on, columns);
  std::vector<composite_part> others(parts_);
  for (composite_part& one : others) {
    one.first = 1;
    one.last = 0;
  }
  operation_on(where_, &operation_table::find_composite_spans)(on, columns, others);
  for (std::size_t p = 0; p < others.size(); ++p)
    if (others[p].first <= others[p].last &&
        (others[p].first < parts_[p].first || others[p].last > parts_[p].last))
      return false;
  const auto has_steps = [](const composite_part& part) { return part.step != 1; };
  if (std::none_of(parts_.begin(), parts_.end(), has_steps)) return true;
  others = parts_;
  operation_on(where_, &operation_table::find_composite_steps)(on, columns, others);
  for (std::size_t p = 0; p < others.size(); ++p)
    if (others[p].step % parts_[p].step != 0) return false;
  return true;
} catch (...) {
  rethrow_as_error();
}

}  // namespace raydex
