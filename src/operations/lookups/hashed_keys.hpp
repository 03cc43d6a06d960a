// SPDX-License-Identifier: Apache-2.0
// The different keys of a column by their hashes, numbered as rows follow.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <memory>
#include <utility>
#include <variant>

#include "raydex/core/lookups/key_table.hpp"
#include "raydex/error.hpp"
#include "raydex/key_dictionary.hpp"
#include "src/interface/checks.hpp"
#include "src/interface/searchable.hpp"
#include "src/operations/lookups/dictionary_columns.hpp"
#include "src/operations/lookups/spread_counts.hpp"
#include "src/operations/machine.hpp"

namespace raydex {

template <executor Executor>
class hashed_dictionary final : public held_dictionary {
 public:
  hashed_dictionary(const context& on, const key_part& keys, const row_numbers& numbers) {
    const std::uint64_t size = size_of({keys});
    if (size >= std::numeric_limits<std::uint32_t>::max())
      throw unsupported("keys: at most 2^32 - 2 rows are numbered by_row; by_order takes more");
    core::key_words words{key_cells_of(keys)};
    core::whole_key_slots whole;
    bool is_whole = true;
    if (words.of.is_strings) {
      const core::common_bytes common = find_common_bytes<Executor>(on, words.of, size);
      is_whole = common.shortest == common.longest && common.longest <= 16;
      whole.bytes = common.longest;
      words.begin = common.begin;
      if (common.shortest == common.longest && validity_of(keys) == nullptr)
        words.width = common.longest;
    }
    if (is_whole) {
      slots_ = whole;
    } else {
      slots_ = core::string_slots{};
    }
    std::visit([&](auto& how) { hold(on, words, size, how); }, slots_);
    resident_bytes_ = buckets_.bytes() + strings_.offsets.bytes() + strings_.bytes.bytes();
    if (numbers.of_rows != nullptr) *numbers.of_rows = numbers_of_rows(on, keys, size);
    Executor::synchronise(on);
  }

  packed_keys numbers(const context& on, const key_part& keys) const override {
    const std::uint64_t size = size_of({keys});
    packed_keys made = room_for_numbers(on, size_, size);
    std::visit(
        [&]<class Slots, class Number>(const Slots& how, Number* out) {
          Executor::for_each_by_lines(
              on,
              core::look_up_numbers<Slots, Number>{
                  {key_cells_of(keys)}, how, table_, static_cast<Number>(size_), out},
              size);
        },
        slots_, at(made, 0));
    put_missing<Executor>(on, keys, made);
    return made;
  }

  owned_strings keys(const context& on) const override {
    owned_strings made;
    made.offsets = {on, size_ + 1};
    if (const auto* const whole = std::get_if<core::whole_key_slots>(&slots_)) {
      made.bytes = {on, size_ * whole->bytes};
      Executor::for_each(on, core::put_multiples{whole->bytes, made.offsets.data()}, size_ + 1);
      Executor::for_each(on, core::put_strings_of_table{table_, whole->bytes, made.bytes.data()},
                         table_.count);
      return made;
    }
    made.bytes = {on, strings_.bytes.size()};
    Executor::copy(on, made.bytes.data(), strings_.bytes.data(), strings_.bytes.size());
    Executor::copy(on, made.offsets.data(), strings_.offsets.data(), strings_.offsets.size());
    return made;
  }

  buffer<std::uint64_t> codes(const context& on, unsigned bits) const override {
    buffer<std::uint64_t> made(on, size_);
    Executor::for_each(on, core::put_codes_of_table{table_, bits, made.data()}, table_.count);
    return made;
  }

  packed_ranges ranges_of_prefixes(const context& /*on*/,
                                   const string_column& /*strings*/) const override {
    throw unsupported("prefixes: numbers by_row are in no order of keys; number them by_order");
  }

 private:
  packed_keys numbers_of_rows(const context& on, const key_part& keys, std::uint64_t size) const {
    if (size_ != size) return numbers(on, keys);
    packed_keys made = room_for_numbers(on, size_, size);
    std::visit(
        [&]<class Number>(Number* out) {
          Executor::for_each(on, core::put_own_numbers<Number>{out}, size);
        },
        at(made, 0));
    put_missing<Executor>(on, keys, made);
    return made;
  }

  template <class Slots>
  void hold(const context& on, const core::key_words& keys, std::uint64_t size, Slots& how) {
    table_.mix = core::hash_by<std::uint64_t>(random_seed());
    std::uint64_t different = size;
    // Once more for keys that repeat so often that the table is far too large.
    for (std::uint64_t room = size;; room = different) {
      different = claim(on, keys, size, room, how);
      if (different >= room / 4) break;
    }
    buffer<std::uint64_t> ranks;  // none if each row is the first of its key
    if (different != size) {
      ranks = {on, size};
      Executor::clear(on, ranks.data(), size);
      Executor::for_each(on, core::mark_claims<Slots>{table_, ranks.data()}, table_.count);
      Executor::inclusive_sum(on, ranks.data(), size);
    }
    size_ = different;
    if constexpr (std::is_same_v<Slots, core::string_slots>) hold_strings(on, keys, ranks, how);
    Executor::for_each_by_lines(on, core::finish_slots<Slots>{keys, how, table_, ranks.data()},
                                table_.count);
    Executor::synchronise(on);
  }

  // Makes a table for so many different keys, and returns how many there are.
  template <class Slots>
  std::uint64_t claim(const context& on, const core::key_words& keys, std::uint64_t size,
                      std::uint64_t room, const Slots& how) {
    const std::uint64_t slots = room * 100 / load + 1;
    buckets_ = {};
    table_.count = static_cast<std::uint32_t>((slots + Slots::slots - 1) / Slots::slots);
    buckets_ = {on, std::uint64_t{table_.count} * core::key_buckets::words};
    table_.first = buckets_.data();
    Executor::clear(on, buckets_.data(), buckets_.size());
    spread_counts<2, Executor> counts(on);
    Executor::for_each_alone(on, core::claim_slots<Slots>{keys, how, table_, counts[0], counts[1]},
                             size);
    const auto [repeated, missing] = counts.sums(on);
    return size - repeated - missing;
  }

  // Copies the strings of numbers.
  void hold_strings(const context& on, const core::key_words& from,
                    const buffer<std::uint64_t>& ranks, core::string_slots& how) {
    if (ranks.size() == 0) {
      strings_.offsets = {on, size_ + 1};
      Executor::for_each(on, core::put_begins{from.of, strings_.offsets.data()}, size_ + 1);
      strings_.bytes = {on, Executor::read(on, strings_.offsets.data() + size_)};
      Executor::copy(on, strings_.bytes.data(), from.of.bytes + from.begin, strings_.bytes.size());
    } else {
      buffer<std::uint32_t> rows(on, size_);
      Executor::for_each(on, core::put_rows_of_numbers{ranks.data(), rows.data()}, ranks.size());
      strings_ = copy_strings<Executor>(on, from.of, rows.data(), size_);
    }
    const buffer<char>& bytes = strings_.bytes;
    if (bytes.size() >= core::string_slots::most_bytes)
      throw unsupported("keys: strings of 2^44 bytes together; number them by_order");
    how = {bytes.data(), bytes.data() + bytes.size(), strings_.offsets.data()};
  }

  // Percent of the slots that are used if all keys differ. Of three a bucket so few that one lookup
  // in twenty reads a second one; the other threads of its warp wait for it.
  static constexpr std::uint64_t load = 50;

  std::variant<core::whole_key_slots, core::string_slots> slots_;
  core::key_buckets table_;
  buffer<std::uint64_t> buckets_;
  copied_strings strings_;  // by number, if slots do not have them
};

template <executor Executor>
std::unique_ptr<held_dictionary> hash_keys(const context& on, const key_part& keys,
                                           const row_numbers& numbers) {
  return std::make_unique<hashed_dictionary<Executor>>(on, keys, numbers);
}

}  // namespace raydex
