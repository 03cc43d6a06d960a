// SPDX-License-Identifier: Apache-2.0
// What is checked before columns of a key are packed.
#include "raydex/composite_keys.hpp"

#include <fmt/format.h>

#include "raydex/error.hpp"
#include "src/interface/checks.hpp"
#include "src/interface/composite_numbers.hpp"
#include "src/interface/packed_columns.hpp"

namespace raydex {

namespace {

void check_columns(backend where, const context& on, std::span<const composite_column> columns) {
  check_available(where);
  check_space(on, where);
  key_parts cells;
  for (const composite_column& one : columns)
    cells.push_back(one.cells);
  check_key(where, "columns", cells);
  for (const composite_column& one : columns)
    if (one.missing > missing_cells::last)
      throw invalid_argument(fmt::format("missing: {} is none of unmatched, first and last",
                                         static_cast<int>(one.missing)));
}

}  // namespace

composite_keys::composite_keys(backend where, const context& on,
                               std::span<const composite_column> columns, packed_keys* rows)
    : composite_keys(where, on, columns, rows, {}) {}

composite_keys::composite_keys(backend where, const context& on,
                               std::span<const composite_column> columns, packed_keys* rows,
                               std::span<const composite_part> before) try
    : where_(where) {
  check_columns(where, on, columns);
  packed_ = pack_columns(where, on, columns, parts_, rows, before);
} catch (...) {
  rethrow_as_error();
}

composite_keys::composite_keys(backend where, std::vector<composite_part> parts) try
    : where_(where), parts_(std::move(parts)) {
  check_available(where);
  packed_ = columns_of_parts(parts_);
} catch (...) {
  rethrow_as_error();
}

composite_keys::composite_keys(composite_keys&&) noexcept = default;
composite_keys& composite_keys::operator=(composite_keys&&) noexcept = default;
composite_keys::~composite_keys() = default;

std::uint64_t composite_keys::check(const context& on, std::span<const key_part> columns) const {
  check_space(on, where_);
  const std::uint64_t rows =
      check_key(where_, "columns", key_parts(columns.begin(), columns.end()));
  if (columns.size() > parts_.size())
    throw invalid_argument(
        fmt::format("columns: {}, but the key has {}", columns.size(), parts_.size()));
  for (std::size_t p = 0; p < columns.size(); ++p) {
    const auto own = format_of_part(columns[p]);
    if (own == parts_[p].format) continue;
    throw invalid_argument(fmt::format("columns: column {} is {}, but that of the key is {}", p + 1,
                                       text_of(own), text_of(parts_[p].format)));
  }
  return rows;
}

key_format composite_keys::format() const noexcept {
  return packed_format(packed_->parts);
}

std::uint64_t composite_keys::resident_bytes() const noexcept {
  return packed_->resident_bytes();
}

void composite_keys::check_all(const context& on, std::span<const key_part> columns) const {
  check(on, columns);
  if (columns.size() == parts_.size()) return;
  throw invalid_argument(
      fmt::format("columns: {}, but the key has {}; the first ones alone are packed as ranges",
                  columns.size(), parts_.size()));
}

packed_keys composite_keys::pack_rows(const context& on, std::span<const key_part> columns) const
    try {
  check_all(on, columns);
  return packed_->pack(where_, on, columns, true);
} catch (...) {
  rethrow_as_error();
}

packed_keys composite_keys::pack_points(const context& on, std::span<const key_part> columns) const
    try {
  check_all(on, columns);
  return packed_->pack(where_, on, columns, false);
} catch (...) {
  rethrow_as_error();
}

packed_ranges composite_keys::pack_ranges(const context& on, std::span<const key_part> equal,
                                          const std::optional<key_part>& lower,
                                          const std::optional<key_part>& upper) const try {
  key_parts all(equal.begin(), equal.end());
  if (!lower && !upper) check(on, all);
  std::vector<std::uint64_t> sizes;
  for (const auto& bounds : {lower, upper}) {
    if (!bounds) continue;
    all.push_back(*bounds);
    sizes.push_back(check(on, all));
    all.pop_back();
  }
  if (sizes.size() == 2 && sizes[0] != sizes[1])
    throw invalid_argument(fmt::format("upper: {} bounds, but {} lower ones", sizes[1], sizes[0]));
  return packed_->pack_ranges(where_, on, equal, {lower, upper});
} catch (...) {
  rethrow_as_error();
}

packed_ranges composite_keys::pack_prefixes(const context& on, std::span<const key_part> equal,
                                            const string_column& prefixes) const try {
  key_parts all(equal.begin(), equal.end());
  all.emplace_back(prefixes);
  check(on, all);
  return packed_->pack_ranges(where_, on, equal, {.prefixes = prefixes});
} catch (...) {
  rethrow_as_error();
}

packed_keys composite_keys::pack_closest(const context& on, std::span<const key_part> columns,
                                         closest_number which) const try {
  check(on, columns);
  if (which > closest_number::above)
    throw invalid_argument(fmt::format("which: {} is none of at_most, below, at_least and above",
                                       static_cast<int>(which)));
  return packed_->pack_closest(where_, on, columns, which);
} catch (...) {
  rethrow_as_error();
}

bool composite_keys::is_full() const noexcept {
  return raydex::is_full(packed_->parts);
}

bool composite_keys::holds(const context& on, std::span<const key_part> columns) const try {
  check_all(on, columns);
  return packed_->holds(where_, on, columns);
} catch (...) {
  rethrow_as_error();
}

}  // namespace raydex
