// SPDX-License-Identifier: Apache-2.0
// The keys of a build side as numbers of few bits, and those of probes as the same ones.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <vector>

#include "raydex/core/joins/key_numbers.hpp"
#include "raydex/join.hpp"
#include "src/interface/checks.hpp"
#include "src/operations/joins/slices.hpp"
#include "src/operations/machine.hpp"

namespace raydex {

// The spans of columns of one size, none of strings, and whether those behind the first `keys` ones
// descend. Waits for the stream.
template <executor Executor>
std::vector<core::code_span> spans_of(const context& on, const core::composite_cells& columns,
                                      std::uint64_t size, std::uint64_t keys) {
  constexpr std::uint64_t chunk = core::find_code_span::chunk;
  constexpr std::uint64_t numbers = sizeof(core::code_span) / sizeof(std::uint64_t);
  buffer<std::uint64_t> found(on, columns.count * numbers);
  Executor::clear(on, found.data(), found.size());
  for (unsigned p = 0; p < columns.count; ++p) {
    auto* const out = reinterpret_cast<core::code_span*>(found.data() + p * numbers);
    Executor::for_each_in_warps(on, core::find_code_span{columns.parts[p], size, p >= keys, out},
                                (size + chunk - 1) / chunk);
  }
  std::vector<core::code_span> spans(columns.count);
  Executor::copy_out(on, spans.data(), found.data(), found.bytes());
  return spans;
}

template <executor Executor>
class numbered_keys {
 public:
  // By the spans of their columns: side by side, and nothing is looked up.
  numbered_keys(const key_parts& keys, bool missing_equal,
                const std::vector<core::code_span>& spans) {
    numbers_.keys = composite_of(keys, missing_equal);
    for (unsigned p = 0; p < numbers_.keys.count; ++p) {
      if (spans[p].any()) {
        numbers_.first[p] = spans[p].first();
        numbers_.size[p] = spans[p].size();
      }
      // A missing value has the number behind the last one.
      const std::uint64_t last = numbers_.size[p];
      const bool has_more = missing_equal && last != ~std::uint64_t{0};
      numbers_.bits[p] = static_cast<std::uint8_t>(std::bit_width(has_more ? last + 1 : last));
      bits_ += numbers_.bits[p];
    }
  }
  // By a table of the different keys, which outlive it; there are fewer than 2^32 - 1. Without a
  // table if there are more than `most_keys`. Waits for the stream.
  numbered_keys(const context& on, const key_parts& keys, bool missing_equal,
                std::uint32_t most_keys = not_found<std::uint32_t>)
      : table_{.keys = composite_of(keys, missing_equal),
               .mix = core::hash_by<std::uint64_t>(random_seed())} {
    const std::uint64_t size = size_of(keys);
    buffer<std::uint32_t> count(on, 1);
    table_.count = count.data();
    slots_ = {on, size};
    // One that stays in fast memory, then a larger one as long as there are too many keys.
    constexpr std::uint64_t least = 1 << 15;
    constexpr std::uint64_t larger = 16;
    constexpr std::uint64_t most = std::uint64_t{1} << 32;
    const std::uint64_t enough = std::min(most, std::bit_ceil(2 * size + 1));
    std::uint32_t found = 0;
    for (std::uint64_t slots = std::min(least, enough);; slots = std::min(larger * slots, enough)) {
      rows_ = {on, slots};
      of_slots_ = {on, slots};
      Executor::clear(on, rows_.data(), slots);
      Executor::clear(on, count.data());
      table_.rows = rows_.data();
      table_.numbers = of_slots_.data();
      table_.last = static_cast<std::uint32_t>(slots - 1);
      table_.most =
          std::min(most_keys, static_cast<std::uint32_t>(slots == enough ? size : slots / 2));
      Executor::for_each(on, core::find_slots{table_.keys, table_, true, slots_.data()}, size);
      Executor::copy_out(on, &found, count.data(), sizeof found);
      if (found <= table_.most) break;
      if (table_.most == most_keys) {
        table_.rows = nullptr;
        return;
      }
    }
    table_.count = nullptr;
    bits_ = static_cast<unsigned>(std::bit_width(found == 0 ? 0 : found - 1));
  }

  // Of a number.
  unsigned bits() const { return bits_; }
  bool by_table() const { return table_.rows != nullptr; }

  // The numbers of the build side's own keys, until their slots are dropped.
  core::key_numbers own() const {
    core::key_numbers all = numbers_;
    all.slots = slots_.data();
    all.numbers = of_slots_.data();
    return all;
  }
  void drop_own() { slots_ = {}; }
  // Those of other keys, whose slots lie in `slots`.
  core::key_numbers numbers_of(const context& on, const key_parts& keys,
                               buffer<std::uint32_t>& slots) const {
    core::key_numbers all = numbers_;
    all.keys =
        composite_of(keys, by_table() ? table_.keys.missing_equal : numbers_.keys.missing_equal);
    if (!by_table()) return all;
    slots = {on, size_of(keys)};
    Executor::for_each(on, core::find_slots{all.keys, table_, false, slots.data()}, slots.size());
    all.slots = slots.data();
    all.numbers = of_slots_.data();
    return all;
  }

 private:
  unsigned bits_ = 0;
  core::key_numbers numbers_;
  core::key_table table_;           // without rows: by spans
  buffer<std::uint32_t> rows_;      // of slots
  buffer<std::uint32_t> of_slots_;  // their numbers
  buffer<std::uint32_t> slots_;     // of own keys
};

}  // namespace raydex
