// SPDX-License-Identifier: Apache-2.0
/// @file
/// The keys of a workload as a function: slot to key, slot to row, and, independent of any search
/// structure, key or range to expected results.
///
/// A set has `distinct` keys, numbered by *index*. Its n rows come from n *slots*: slot s holds the
/// key of index s mod distinct, so that every key comes equally often, give or take one. The last
/// `heavy` slots may hold one key more often than all others. Rows that are inserted after the
/// build have the numbers of their slots.
#pragma once

#include <cstdint>

#include "lab/workloads/bijection.hpp"
#include "raydex/core/config.hpp"

namespace raydex::bench {

/// The value that is no index and no row.
inline constexpr std::uint64_t none = ~std::uint64_t{0};

/// What a probe must be answered with.
struct answer {
  std::uint64_t first = none;  ///< smallest matching row id
  std::uint64_t count = 0;     ///< number of matching rows
  std::uint64_t sum = 0;       ///< sum of the matching row ids modulo 2^64

  /// Takes a matching row in.
  RAYDEX_HD void add(std::uint64_t row) {
    first = row < first ? row : first;
    sum += row;
    ++count;
  }

  friend bool operator==(const answer&, const answer&) = default;
};

/// A slice of the value range, and the indices whose values are drawn from it.
struct key_part {
  std::uint64_t first_index = 0;  ///< its smallest index
  std::uint64_t keys = 0;         ///< how many indices; at most half as many as values
  std::uint64_t first_value = 0;  ///< its smallest value
  std::uint64_t last = 0;         ///< its largest value less its smallest
  bijection draw;                 ///< from index to value, both counted from the first
};

/// Trivially copyable; kernels take it by value. Made by `make_key_set`.
struct key_set {
  std::uint64_t n = 0;                      ///< rows
  std::uint64_t distinct = 0;               ///< different keys
  std::uint64_t heavy = 0;                  ///< slots, the last ones, that all hold one key
  std::uint64_t heavy_index = 0;            ///< the index of that key
  std::uint64_t dense = 0;                  ///< indices below this one have the values 0, 1, 2, ...
  std::uint64_t stride = 1;                 ///< a key is its value times this
  std::uint64_t last_value = 0;             ///< values are drawn from [dense, last_value]
  bijection values;                         ///< draws the values of the other indices
  int clump_bits = 0;                       ///< values are drawn in runs of 2 to this power
  const key_part* parts = nullptr;          ///< by ascending index and value: draws instead
  std::uint64_t part_count = 0;             ///< how many
  std::uint64_t built = none;               ///< slots from this one on are inserted later
  bijection shuffle;                        ///< unsorted inserts: slot to row
  const std::uint64_t* position = nullptr;  ///< sorted inserts: slot to row, else null

  /// Whether the values have no gaps.
  RAYDEX_HD bool is_dense() const { return dense == distinct; }

  /// The key of an index.
  RAYDEX_HD std::uint64_t key(std::uint64_t index) const { return value(index) * stride; }

  /// A key within the value range that is not in the set, out of two random numbers; spread as the
  /// keys are. Precondition: the stride is 1 and the values have gaps.
  RAYDEX_HD std::uint64_t absent(std::uint64_t which, std::uint64_t within) const {
    if (part_count == 0) return value(distinct + scale_to(which, last_value - distinct));
    const key_part& part = part_of(&key_part::first_index, scale(which, distinct));
    return part.first_value + part.draw(part.keys + scale_to(within, part.last - part.keys));
  }

  /// The key in a slot.
  RAYDEX_HD std::uint64_t key_in(std::uint64_t slot) const {
    return key(slot < n - heavy ? slot % distinct : heavy_index);
  }

  /// The row of a slot.
  RAYDEX_HD std::uint64_t row(std::uint64_t slot) const {
    if (slot >= built) return slot;
    return position != nullptr ? position[slot] : shuffle(slot);
  }

  /// The set with more or fewer keys, which begins as this one. Precondition: every key comes once,
  /// there are no parts, and all keys are dense or none.
  key_set resized(std::uint64_t keys) const {
    key_set other = *this;
    other.n = other.distinct = keys;
    if (is_dense()) other.dense = keys;
    return other;
  }

  /// The index of a key, or `none`.
  RAYDEX_HD std::uint64_t index_of(std::uint64_t wanted) const {
    const std::uint64_t value = wanted / stride;
    if (value * stride != wanted) return none;
    if (value < dense) return value;
    if (is_dense() || value > last_value) return none;
    if (part_count != 0) {
      const key_part& part = part_of(&key_part::first_value, value);
      const std::uint64_t drawn = part.draw.inverse(value - part.first_value);
      return drawn < part.keys ? part.first_index + drawn : none;
    }
    const std::uint64_t drawn = value - dense;
    const std::uint64_t index =
        dense + ((values.inverse(drawn >> clump_bits) << clump_bits) | in_clump(drawn));
    return index < distinct ? index : none;
  }

  /// How many rows have a key of an index below `end`.
  RAYDEX_HD std::uint64_t rows_below(std::uint64_t end) const {
    if (distinct == 0) return 0;
    const std::uint64_t rest = (n - heavy) % distinct;
    return (n - heavy) / distinct * end + (rest < end ? rest : end) +
           (heavy_index < end ? heavy : 0);
  }

  /// A run of indices [begin, end).
  struct indices {
    std::uint64_t begin;
    std::uint64_t end;
  };

  /// The indices whose keys lie in [lower, upper]. Precondition: the set is dense unless
  /// lower == upper.
  RAYDEX_HD indices find(std::uint64_t lower, std::uint64_t upper) const {
    if (lower == upper) {
      const std::uint64_t index = index_of(lower);
      return index == none ? indices{0, 0} : indices{index, index + 1};
    }
    const std::uint64_t begin = lower / stride + (lower % stride != 0 ? 1 : 0);
    const std::uint64_t last = upper / stride;
    const std::uint64_t end = last < distinct ? last + 1 : distinct;
    return lower > upper || begin >= end ? indices{0, 0} : indices{begin, end};
  }

  /// The number of rows with a smaller key. Precondition: the set is dense.
  RAYDEX_HD std::uint64_t rank(std::uint64_t wanted) const {
    const std::uint64_t index = wanted / stride + (wanted % stride != 0 ? 1 : 0);
    return rows_below(index < distinct ? index : distinct);
  }

  /// The number of rows in [lower, upper]; cheaper than the whole answer.
  RAYDEX_HD std::uint64_t expected_count(std::uint64_t lower, std::uint64_t upper) const {
    const indices found = find(lower, upper);
    return rows_below(found.end) - rows_below(found.begin);
  }

  /// The results for [lower, upper], by a walk over all matching slots; or what one of `shares`
  /// that walk a part each finds, all of them together everything.
  RAYDEX_HD answer expected(std::uint64_t lower, std::uint64_t upper, std::uint64_t share = 0,
                            std::uint64_t shares = 1) const {
    const indices found = find(lower, upper);
    // They share the keys, or the rows of each key where the keys are few.
    const bool many = found.end - found.begin >= shares;
    const std::uint64_t light = n - heavy;
    answer all;
    for (std::uint64_t index = found.begin + (many ? share : 0); index < found.end;
         index += many ? shares : 1) {
      for (std::uint64_t slot = index + (many ? 0 : share * distinct); slot < light;
           slot += many ? distinct : shares * distinct)
        all.add(row(slot));
    }
    if (found.begin <= heavy_index && heavy_index < found.end) {
      for (std::uint64_t slot = light + share; slot < n; slot += shares)
        all.add(row(slot));
    }
    return all;
  }

 private:
  RAYDEX_HD std::uint64_t in_clump(std::uint64_t drawn) const {
    return drawn & ((std::uint64_t{1} << clump_bits) - 1);
  }

  // The last part that begins at `wanted` or before, by index or by value; the first begins at 0.
  RAYDEX_HD const key_part& part_of(std::uint64_t key_part::*first, std::uint64_t wanted) const {
    std::uint64_t begin = 0;
    std::uint64_t end = part_count;
    while (end - begin > 1) {
      const std::uint64_t middle = begin + (end - begin) / 2;
      if (parts[middle].*first <= wanted) {
        begin = middle;
      } else {
        end = middle;
      }
    }
    return parts[begin];
  }

  // Indices from `distinct` to `last_value` give, without parts, the values that are not in the
  // set.
  RAYDEX_HD std::uint64_t value(std::uint64_t index) const {
    if (index < dense) return index;
    if (part_count != 0) {
      const key_part& part = part_of(&key_part::first_index, index);
      return part.first_value + part.draw(index - part.first_index);
    }
    const std::uint64_t drawn = index - dense;
    return dense + ((values(drawn >> clump_bits) << clump_bits) | in_clump(drawn));
  }
};

}  // namespace raydex::bench
