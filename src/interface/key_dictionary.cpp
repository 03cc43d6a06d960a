// SPDX-License-Identifier: Apache-2.0
// What is checked before the keys of a column are put in order.
#include "raydex/key_dictionary.hpp"

#include <fmt/format.h>

#include "raydex/error.hpp"
#include "src/interface/builders.hpp"
#include "src/interface/checks.hpp"

namespace raydex {

key_dictionary::key_dictionary(backend where, const context& on, const key_part& keys,
                               packed_keys* numbers_of_rows, packed_keys* rows,
                               key_numbering numbering) try
    : where_(where), numbering_(numbering), format_(format_of_part(keys)) {
  check_available(where);
  check_space(on, where);
  check_key(where, "keys", {keys});
  if (rows != nullptr && numbers_of_rows == nullptr)
    throw invalid_argument("rows: they are those of numbers; give numbers_of_rows, too");
  if (rows != nullptr && numbering == key_numbering::by_row)
    throw invalid_argument("rows: numbers by_row are in no order of keys; number them by_order");
  const auto make = numbering == key_numbering::by_order ? &operation_table::order_keys
                                                         : &operation_table::hash_keys;
  held_ = operation_on(where, make)(on, keys, {numbers_of_rows, rows});
} catch (...) {
  rethrow_as_error();
}

key_dictionary::key_dictionary(key_dictionary&&) noexcept = default;
key_dictionary& key_dictionary::operator=(key_dictionary&&) noexcept = default;
key_dictionary::~key_dictionary() = default;

std::uint64_t key_dictionary::size() const noexcept {
  return held_->size();
}

std::uint64_t key_dictionary::resident_bytes() const noexcept {
  return held_->resident_bytes();
}

void key_dictionary::check_format(const key_part& keys) const {
  const auto own = format_of_part(keys);
  if (own == format_) return;
  throw invalid_argument(fmt::format("keys: they are {}, but those of the dictionary are {}",
                                     text_of(own), text_of(format_)));
}

key_format key_dictionary::format_of_numbers() const {
  return key_format(size() < std::uint64_t{1} << 31 ? key_type::uint32 : key_type::uint64);
}

packed_keys key_dictionary::numbers(const context& on, const key_part& keys) const try {
  check_space(on, where_);
  check_key(where_, "keys", {keys});
  check_format(keys);
  return held_->numbers(on, keys);
} catch (...) {
  rethrow_as_error();
}

bool key_dictionary::holds(const context& on, const key_part& keys) const try {
  const packed_keys numbers = this->numbers(on, keys);
  const column cells = numbers.view();
  if (cells.size == 0) return true;
  composite_part part;
  if (numbering_ == key_numbering::by_row) {
    operation_on(where_, &operation_table::find_composite_spans)(on, {&cells, 1}, {&part, 1});
    return part.first > part.last || part.last < size();
  }
  // Those of keys are odd, so that their distances from 1 are even.
  operation_on(where_, &operation_table::find_composite_steps)(on, {&cells, 1}, {&part, 1});
  return part.step % 2 == 0;
} catch (...) {
  rethrow_as_error();
}

owned_strings key_dictionary::keys(const context& on) const try {
  check_space(on, where_);
  if (format_) throw invalid_argument("keys: the dictionary is of no strings");
  return held_->keys(on);
} catch (...) {
  rethrow_as_error();
}

buffer<std::uint64_t> key_dictionary::codes(const context& on) const try {
  check_space(on, where_);
  if (!format_) throw invalid_argument("codes: the dictionary is of strings");
  return held_->codes(on, 8U * format_->width);
} catch (...) {
  rethrow_as_error();
}

packed_ranges key_dictionary::ranges_of_prefixes(const context& on,
                                                 const string_column& prefixes) const try {
  check_space(on, where_);
  check_key(where_, "prefixes", {prefixes});
  if (format_) throw invalid_argument("prefixes: the dictionary is of no strings");
  return held_->ranges_of_prefixes(on, prefixes);
} catch (...) {
  rethrow_as_error();
}

}  // namespace raydex
