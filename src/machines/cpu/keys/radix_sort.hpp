// SPDX-License-Identifier: Apache-2.0
// A stable radix sort of (key, value) pairs, least significant byte first, over oneTBB.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <utility>

#include "raydex/memory.hpp"
#include "src/machines/cpu/parallel.hpp"
#include "src/operations/lookups/sorted_column.hpp"

namespace raydex::cpu {

// Pairs in two arrays.
template <class Key, class Value>
struct pairs {
  buffer<Key> keys;
  buffer<Value> values;

  pairs() = default;
  pairs(buffer<Key> k, buffer<Value> v) : keys(std::move(k)), values(std::move(v)) {}
  pairs(const context& on, std::uint64_t size) : keys(on, size), values(on, size) {}
};

// Sorts the first `size` pairs of `input` by these bits of the keys; pairs in which they are equal
// stay in their order. `other` is as large and ends up with arbitrary contents. Cost: a pass over
// the pairs for each byte in which the keys differ, and 2 KB for each 2^16 pairs, 2 MB at most.
template <class Key, class Value>
void radix_sort(const context& on, pairs<Key, Value>& input, pairs<Key, Value>& other,
                bit_range bits, std::uint64_t size) {
  constexpr std::size_t digits = 256;
  using histogram = std::array<std::uint64_t, digits>;

  // Blocks follow from the size alone; each counts, then scatters, its own part.
  const std::uint64_t block = std::max<std::uint64_t>(1 << 16, (size + 1023) / 1024);
  const std::uint64_t blocks = (size + block - 1) / block;
  buffer<histogram> counts(on, blocks);
  const auto for_each_block = [&](auto&& body) {
    for_each_part(blocks, [&](std::uint64_t b) {
      body(counts.data()[b], b * block, std::min(size, (b + 1) * block));
    });
  };

  const int last = std::min(bits.last, int{8 * sizeof(Key)});
  for (int shift = bits.first; shift < last; shift += 8) {
    watch::tell("sorting", static_cast<unsigned>(shift - bits.first) / 8 + 1,
                static_cast<unsigned>(last - bits.first + 7) / 8);
    const auto digit = [shift](Key key) { return static_cast<std::size_t>((key >> shift) & 0xff); };
    const Key* keys = input.keys.data();
    const Value* values = input.values.data();
    for_each_block([&](histogram& count, std::uint64_t begin, std::uint64_t end) {
      count.fill(0);
      for (std::uint64_t i = begin; i < end; ++i)
        ++count[digit(keys[i])];
    });

    // From counts to where each block writes its first pair of each digit.
    std::uint64_t next = 0;
    bool sorted = false;  // whether one digit holds all
    for (std::size_t d = 0; d < digits; ++d) {
      const std::uint64_t first = next;
      for (std::uint64_t b = 0; b < blocks; ++b) {
        std::uint64_t& count = counts.data()[b][d];
        next += std::exchange(count, next);
      }
      sorted = sorted || next - first == size;
    }
    if (sorted) continue;

    Key* sorted_keys = other.keys.data();
    Value* sorted_values = other.values.data();
    for_each_block([&](histogram& to, std::uint64_t begin, std::uint64_t end) {
      for (std::uint64_t i = begin; i < end; ++i) {
        const std::uint64_t place = to[digit(keys[i])]++;
        sorted_keys[place] = keys[i];
        sorted_values[place] = values[i];
      }
    });
    std::swap(input, other);
  }
  watch::tell("", 0, 0);
}

// Sorts all of them.
template <class Key, class Value>
void radix_sort(const context& on, pairs<Key, Value>& input, pairs<Key, Value>& other,
                bit_range bits = {}) {
  radix_sort(on, input, other, bits, input.keys.size());
}

// Whether the first `size` entries ascend, by key and, if `rows` are given, then by row.
template <class Key, class RowId>
bool ascend(const Key* keys, const RowId* rows, std::uint64_t size) {
  constexpr std::uint64_t block = 1 << 16;
  std::atomic<bool> descends = false;
  for_each_part((size + block - 1) / block, [&](std::uint64_t b) {
    if (descends) return;
    const std::uint64_t begin = b * block;
    // With the next block's first.
    const std::uint64_t end = std::min(size, begin + block + 1);
    bool ascending = std::is_sorted(keys + begin, keys + end);
    for (std::uint64_t i = begin + 1; rows != nullptr && i < end && ascending; ++i)
      ascending = keys[i - 1] != keys[i] || rows[i - 1] <= rows[i];
    if (!ascending) descends = true;
  });
  return !descends;
}

// Sorts the first `size` entries by row: before a sort by key, which is stable, so that equal keys
// lie by row id. `scratch` as for `radix_sort`.
template <class Key, class RowId>
void sort_by_row(const context& on, pairs<Key, RowId>& entries, pairs<Key, RowId>& scratch,
                 std::uint64_t size) {
  pairs<RowId, Key> by_row{std::move(entries.values), std::move(entries.keys)};
  pairs<RowId, Key> by_row_scratch{std::move(scratch.values), std::move(scratch.keys)};
  radix_sort(on, by_row, by_row_scratch, {}, size);
  entries = {std::move(by_row.values), std::move(by_row.keys)};
  scratch = {std::move(by_row_scratch.values), std::move(by_row_scratch.keys)};
}

}  // namespace raydex::cpu
