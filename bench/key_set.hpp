// SPDX-License-Identifier: Apache-2.0
/// @file
/// The keys of a workload as a function: slot to key, slot to row, and, independent of any search
/// structure, key or range to expected results.
///
/// A set has `distinct` keys, numbered by *index*. Its n rows come from n *slots*: slot s holds the
/// key of index s mod distinct, so that every key comes equally often, give or take one.
#pragma once

#include <cstdint>

#include "bench/bijection.hpp"
#include "raydex/core/config.hpp"

namespace raydex::bench {

/// The value that is no index and no row.
inline constexpr std::uint64_t none = ~std::uint64_t{0};

/// What a probe must be answered with.
struct answer {
  std::uint64_t first = none;  ///< smallest matching row id
  std::uint64_t count = 0;     ///< number of matching rows
  std::uint64_t sum = 0;       ///< sum of the matching row ids modulo 2^64

  friend bool operator==(const answer&, const answer&) = default;
};

/// Trivially copyable; kernels take it by value. Made by `make_key_set`.
struct key_set {
  std::uint64_t n = 0;                      ///< rows
  std::uint64_t distinct = 0;               ///< different keys
  std::uint64_t dense = 0;                  ///< indices below this one have the values 0, 1, 2, ...
  std::uint64_t stride = 1;                 ///< a key is its value times this
  std::uint64_t last_value = 0;             ///< values are drawn from [dense, last_value]
  bijection values;                         ///< draws the values of the other indices
  bijection shuffle;                        ///< unsorted inserts: slot to row
  const std::uint64_t* position = nullptr;  ///< sorted inserts: slot to row, else null

  /// Whether the values have no gaps.
  RAYDEX_HD bool is_dense() const { return dense == distinct; }

  /// The key of an index; indices from `distinct` to `last_value` give keys that are not in the
  /// set.
  RAYDEX_HD std::uint64_t key(std::uint64_t index) const {
    return (index < dense ? index : dense + values(index - dense)) * stride;
  }

  /// The key in a slot.
  RAYDEX_HD std::uint64_t key_in(std::uint64_t slot) const { return key(slot % distinct); }

  /// The row of a slot.
  RAYDEX_HD std::uint64_t row(std::uint64_t slot) const {
    return position != nullptr ? position[slot] : shuffle(slot);
  }

  /// The index of a key, or `none`.
  RAYDEX_HD std::uint64_t index_of(std::uint64_t wanted) const {
    const std::uint64_t value = wanted / stride;
    if (value * stride != wanted) return none;
    if (value < dense) return value;
    if (is_dense() || value > last_value) return none;
    const std::uint64_t index = dense + values.inverse(value - dense);
    return index < distinct ? index : none;
  }

  /// How many rows have a key of an index below `end`.
  RAYDEX_HD std::uint64_t rows_below(std::uint64_t end) const {
    if (distinct == 0) return 0;
    const std::uint64_t rest = n % distinct;
    return n / distinct * end + (rest < end ? rest : end);
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

  /// The number of rows in [lower, upper]; cheaper than the whole answer.
  RAYDEX_HD std::uint64_t expected_count(std::uint64_t lower, std::uint64_t upper) const {
    const indices found = find(lower, upper);
    return rows_below(found.end) - rows_below(found.begin);
  }

  /// The results for [lower, upper], by a walk over all matching slots.
  RAYDEX_HD answer expected(std::uint64_t lower, std::uint64_t upper) const {
    const indices found = find(lower, upper);
    answer all;
    for (std::uint64_t index = found.begin; index < found.end; ++index) {
      for (std::uint64_t slot = index; slot < n; slot += distinct) {
        const std::uint64_t id = row(slot);
        all.first = id < all.first ? id : all.first;
        all.sum += id;
        ++all.count;
      }
    }
    return all;
  }
};

}  // namespace raydex::bench
