// SPDX-License-Identifier: Apache-2.0
// The rows of a build side in the order of a key and a value, and ranks of probes among them.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "raydex/core/joins/key_numbers.hpp"
#include "raydex/error.hpp"
#include "raydex/join.hpp"
#include "raydex/pivot_tree.hpp"
#include "src/interface/builders.hpp"
#include "src/interface/dispatch.hpp"
#include "src/interface/searchable.hpp"
#include "src/operations/joins/key_index.hpp"
#include "src/operations/joins/key_ranges.hpp"
#include "src/operations/joins/numbered_keys.hpp"
#include "src/operations/joins/slices.hpp"
#include "src/operations/lookups/sorted_column.hpp"

namespace raydex {

// So many build rows have no numbers of 32 bits.
[[noreturn]] inline void refuse_ranked_values(std::uint64_t rows) {
  throw unsupported("by: " + std::to_string(rows) +
                    " rows are too many for keys that do not fit 64 bits beside the value; up to " +
                    std::to_string(not_found<std::uint32_t> - 1) + " are not");
}

// Which rows have a key and a value, and another one if `more` is given. A key with missing values
// is one if these are equal.
template <executor Executor>
buffer<std::uint8_t> validity_beside(const context& on, const column& values, const column* more,
                                     const key_parts& by, bool missing_equal = false) {
  key_parts all = missing_equal ? key_parts{} : by;
  all.emplace_back(values);
  if (more != nullptr) all.emplace_back(*more);
  return validity_of<Executor>(on, composite_of(all, false), values.size);
}

// A column to be ordered.
struct ordered_column {
  column values;
  bool descending = false;
};

// How a value is written below a key.
struct number_span {
  std::uint64_t first = 0;   // the smallest code, or the smallest complement of one
  std::uint64_t behind = 2;  // see `core::value_numbers`
  unsigned bits = 2;
  bool ascends = false;  // whether values do as they are given
  bool ranked = false;   // whether ranks stand in the place of values

  // Values take the bits of a span and of three numbers more: one for what is before them, one for
  // what is behind, and ones in all bits, which none has.
  void give(std::uint64_t span) {
    behind = span + 2;
    bits = span < ~std::uint64_t{0} - 3 ? static_cast<unsigned>(std::bit_width(span + 3)) : 64;
  }
  bool fits_below(unsigned key_bits) const { return bits < 64 && bits + key_bits <= 64; }
};

// The numbers of keys, and how values are written below them. Keys have one number in all orders.
template <executor Executor>
struct keyed_values {
  numbered_keys<Executor> keys;
  std::vector<number_span> values;  // of each column
};

// Finds how keys fit above each of some columns: by the spans of both; else by a table of the keys,
// and then by ranks of the values. `by` is not empty and outlives it. A table is also tried where
// the first column ascends and spans of keys take more than `few_bits`, for as many keys as these
// number. Waits for the stream.
template <executor Executor>
keyed_values<Executor> number_above(const context& own, const key_parts& by, bool missing_equal,
                                    std::span<const ordered_column> columns, unsigned few_bits) {
  const std::uint64_t size = size_of(by);
  const bool strings = std::ranges::any_of(
      by, [](const key_part& part) { return std::holds_alternative<string_column>(part); });
  key_parts measured = strings ? key_parts{} : by;
  const std::uint64_t keys = measured.size();
  for (const ordered_column& one : columns)
    measured.emplace_back(one.values);
  const auto spans = spans_of<Executor>(own, composite_of(measured, false), size, keys);
  std::vector<number_span> values;
  for (std::size_t c = 0; c < columns.size(); ++c) {
    const core::code_span& found = spans[keys + c];
    number_span span;
    span.ascends =
        columns[c].values.validity == nullptr && found.descends == 0 && !columns[c].descending;
    if (found.any()) span.first = columns[c].descending ? ~found.above : found.first();
    span.give(found.any() ? found.size() : 0);
    values.push_back(span);
  }
  const auto fit = [&](const numbered_keys<Executor>& numbers) {
    return std::ranges::all_of(
        values, [&](const number_span& span) { return span.fits_below(numbers.bits()); });
  };
  if (!strings) {
    numbered_keys<Executor> numbers(by, missing_equal, spans);
    if (fit(numbers)) {
      if (numbers.bits() > few_bits && values.front().ascends) {
        numbered_keys<Executor> few(own, by, missing_equal, std::uint32_t{1} << few_bits);
        if (few.by_table()) return {std::move(few), std::move(values)};
      }
      return {std::move(numbers), std::move(values)};
    }
  }
  if (size >= not_found<std::uint32_t>) refuse_ranked_values(size);
  numbered_keys<Executor> numbers(own, by, missing_equal);
  for (std::size_t c = 0; c < columns.size(); ++c) {
    if (values[c].fits_below(numbers.bits())) continue;
    values[c].ranked = true;
    values[c].first = columns[c].descending ? ~size : 0;
    values[c].give(size);
  }
  if (!fit(numbers)) refuse_ranked_values(size);
  return {std::move(numbers), std::move(values)};
}

// Numbers of one width.
using keyed_numbers = std::variant<buffer<std::uint32_t>, buffer<std::uint64_t>>;

inline column column_of(const keyed_numbers& keyed, const validity_bitmap& validity = {}) {
  return std::visit([&](const auto& numbers) { return column(numbers, validity); }, keyed);
}

template <executor Executor>
class value_order {
 public:
  // Of the rows that `validity` marks, by value alone.
  value_order(const context& own, backend where, const ordered_column& ordered,
              const std::uint8_t* validity)
      : where_(where), descending_(ordered.descending), is_whole_(is_whole(ordered.values.format)) {
    column values = ordered.values;
    keyed_numbers turned;
    if (descending_) {
      turned = complement(own, values);
      values = column_of(turned);
    }
    values.validity = validity;
    order(own, values, {});
  }
  // Of these, by the number of their key among `keys`, of `key_bits` bits, then by value. If values
  // ascend, only the numbers of keys have to be sorted.
  value_order(const context& own, backend where, const ordered_column& ordered,
              const number_span& span, const core::key_numbers& keys, unsigned key_bits,
              const std::uint8_t* validity)
      : where_(where),
        descending_(ordered.descending),
        is_whole_(is_whole(ordered.values.format)),
        span_(span),
        key_bits_(key_bits) {
    if (span.ranked) ranked_ = build_pivot_tree(where, own, ordered.values);
    const keyed_numbers numbers = numbers_of(own, keys, ordered.values, descending_);
    order(own, column_of(numbers, validity),
          {.bits = {.first = span.ascends ? static_cast<int>(span.bits) : 0,
                    .last = static_cast<int>(bits())}});
  }

  std::uint64_t size() const { return size_; }
  // Their rows, in order.
  template <class RowId>
  const RowId* rows() const {
    return std::get<buffer<RowId>>(rows_).data();
  }
  // What they are in order of.
  const void* numbers() const { return ordered_->codes(); }
  // Bits of a value in a number.
  unsigned value_bits() const { return span_.bits; }
  bool is_ranked() const { return ranked_ != nullptr; }

  // The numbers of values of probes below those of their keys, to be given to `rank` with the same
  // `past`; unless values are ranked, with any.
  keyed_numbers numbers_of(const context& on, const core::key_numbers& keys, const column& values,
                           bool past) const {
    buffer<std::uint64_t> ranks;
    core::value_numbers below{key_cells_of(values), descending_, span_.first, span_.behind,
                              span_.bits};
    if (ranked_) {
      // Values that precede others in a number have fewer before them, or, descending, more.
      ranks = {on, values.size};
      located_index(*ranked_).rank(on, points(values), past != descending_, ranks.data());
      below.values = key_cells_of(column(ranks, values.validity));
    }
    return put(on, keys, below, values.size);
  }
  // How many rows come before each of them: are less, or with `past` not greater. Of what is
  // missing or has no key, one number in any order of these keys, which is not less than `size`.
  void rank(const context& on, const keyed_numbers& numbers, bool past, std::uint64_t* out) const {
    ordered_->rank(on, column_of(numbers), ranked_ ? descending_ : past, out);
  }
  // The same from values; `keys` is of no meaning if rows are ordered by value alone.
  void rank(const context& on, const core::key_numbers& keys, const column& values, bool past,
            std::uint64_t* out) const {
    if (key_bits_) return rank(on, numbers_of(on, keys, values, past), past, out);
    if (!descending_) return ordered_->rank(on, values, past, out);
    ordered_->rank(on, column_of(complement(on, values), values.validity), past, out);
  }
  // Whether numbers are as far apart as the values of a key, which are integers.
  bool keeps_distances() const { return is_whole_ && !ranked_ && !descending_; }
  // Writes where the rows near each of them begin, in order, and how many they are. Numbers keep
  // distances, and row ids are of 32 bits.
  void find_near_own(const context& on, const key_reach& before, const key_reach& after,
                     std::uint32_t* begins, std::uint32_t* counts) const {
    dispatch_key(numbers_, [&]<class Number>() {
      constexpr unsigned all_bits = 8 * sizeof(Number);
      const unsigned value_bits = key_bits_ ? span_.bits : all_bits;
      const core::near_number<Number> near{
          static_cast<Number>(~Number{0} >> (all_bits - value_bits)),
          before.template whole<Number>(), after.template whole<Number>()};
      Executor::for_each(on,
                         core::put_own_windows<Number>{
                             static_cast<const Number*>(ordered_->codes()), size_, near,
                             before.leaves_out_equal(), !after.leaves_out_equal(), begins, counts},
                         size_);
    });
  }
  // How many rows come before those of each key, or before what follows them. Rows are in the order
  // of keys.
  void rank_of_keys(const context& on, const core::key_numbers& keys, std::uint64_t size, bool past,
                    std::uint64_t* out) const {
    // No row has these numbers, the first one and the last one below a key.
    core::value_numbers below;
    below.bits = span_.bits;
    below.fixed = past ? span_.behind : 0;
    ordered_->rank(on, column_of(put(on, keys, below, size)), past, out);
  }

 private:
  keyed_numbers put(const context& on, const core::key_numbers& keys,
                    const core::value_numbers& below, std::uint64_t size) const {
    buffer<std::uint32_t> narrow;
    buffer<std::uint64_t> wide;
    if (bits() <= 32) {
      narrow = {on, size};
    } else {
      wide = {on, size};
    }
    Executor::for_each(on, core::put_keyed_values{keys, below, narrow.data(), wide.data()}, size);
    return bits() <= 32 ? keyed_numbers(std::move(narrow)) : keyed_numbers(std::move(wide));
  }

  unsigned bits() const { return *key_bits_ + span_.bits; }
  static bool is_whole(key_format format) {
    return format.type != key_type::float32 && format.type != key_type::float64 &&
           format.type != key_type::bytes;
  }

  static keyed_numbers complement(const context& on, const column& values) {
    return dispatch_key(values.format, [&]<class Key>() -> keyed_numbers {
      buffer<Key> codes(on, values.size);
      Executor::for_each(on, core::put_complements<Key>{{cells_of(values)}, codes.data()},
                         values.size);
      return codes;
    });
  }

  void order(const context& own, const column& numbers, const entry_order& by) {
    numbers_ = numbers.format;
    dispatch(numbers.format, row_ids_of(numbers.size), [&]<class Key, class RowId>() {
      auto sorted = Executor::template sort_column<Key, RowId>(own, numbers, std::nullopt, by);
      size_ = sorted.keys.size();
      rows_ = std::move(sorted.row_ids);
      ordered_ = operation_on(where_, &operation_table::hold_ascending)(own, column(sorted.keys));
    });
  }

  backend where_;
  bool descending_;
  bool is_whole_;  // integers
  key_format numbers_;
  number_span span_;
  std::optional<unsigned> key_bits_;  // none: rows are ordered by value alone
  std::unique_ptr<index> ranked_;     // if ranks stand in the place of values
  std::unique_ptr<ascending_keys> ordered_;
  std::variant<buffer<std::uint32_t>, buffer<std::uint64_t>> rows_;
  std::uint64_t size_ = 0;
};

// Orders of the rows that `validity` marks by each of some columns, among rows of equal keys if
// there are any. These outlive it.
template <executor Executor>
class value_orders {
 public:
  // Waits for the stream.
  value_orders(const context& own, backend where, const key_parts& by,
               std::span<const ordered_column> columns, const std::uint8_t* validity)
      : value_orders(own, by, false, columns) {
    order(own, where, columns, validity);
    drop_own_keys();
  }
  // Only finds the numbers of keys, if there are any: `order` does the rest. Waits for the stream.
  value_orders(const context& own, const key_parts& by, bool missing_equal,
               std::span<const ordered_column> columns, unsigned few_bits = 64) {
    if (!by.empty()) keyed_ = number_above<Executor>(own, by, missing_equal, columns, few_bits);
  }

  // Once, for the same columns.
  void order(const context& own, backend where, std::span<const ordered_column> columns,
             const std::uint8_t* validity) {
    for (std::size_t c = 0; c < columns.size(); ++c) {
      if (keyed_) {
        orders_.emplace_back(own, where, columns[c], keyed_->values[c], keyed_->keys.own(),
                             keyed_->keys.bits(), validity);
      } else {
        orders_.emplace_back(own, where, columns[c], validity);
      }
    }
  }

  // What `order` needed. `keys` has no own ones then.
  void drop_own_keys() {
    if (keyed_) keyed_->keys.drop_own();
  }

  // How keys are numbered; there are some.
  const numbered_keys<Executor>& keys() const { return keyed_->keys; }
  // Whether the values of a column do as they are given; there are keys.
  bool ascends(std::size_t c) const { return keyed_->values[c].ascends; }
  const value_order<Executor>& operator[](std::size_t c) const { return orders_[c]; }
  key_comparison comparison() const {
    if (!keyed_) return key_comparison::column;
    return keyed_->keys.by_table() ? key_comparison::hashed : key_comparison::packed;
  }
  bool has_keys() const { return keyed_.has_value(); }
  // The numbers of keys of probes, if there are keys; their slots lie in `slots`.
  core::key_numbers numbers_of(const context& on, const key_parts& by,
                               buffer<std::uint32_t>& slots) const {
    return keyed_ ? keyed_->keys.numbers_of(on, by, slots) : core::key_numbers{};
  }

 private:
  std::optional<keyed_values<Executor>> keyed_;
  std::vector<value_order<Executor>> orders_;
};

// Writes how many rows come before those of each probe's key that are near it, and before what
// follows these: the range may be reversed where there are none.
template <executor Executor>
void rank_near(const context& on, const value_order<Executor>& order, const core::key_numbers& keys,
               const column& probes, const key_reach& before, const key_reach& after,
               std::uint64_t* begin, std::uint64_t* end) {
  dispatch_key(probes.format, [&]<class Key>() {
    buffer<Key> lower(on, probes.size);
    buffer<Key> upper(on, probes.size);
    put_ranges<Executor>(on, probes, band_of<Key>(probes.format.type, before, after), lower, upper);
    // Codes are their own codes.
    order.rank(on, keys, column(lower, probes.validity), before.leaves_out_equal(), begin);
    order.rank(on, keys, column(upper, probes.validity), !after.leaves_out_equal(), end);
  });
}

}  // namespace raydex
