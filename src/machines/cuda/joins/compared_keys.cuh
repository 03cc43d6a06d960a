// SPDX-License-Identifier: Apache-2.0
// Comparison of keys whose hashes are equal.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>

#include "raydex/core/atomic.hpp"
#include "raydex/core/config.hpp"
#include "raydex/core/joins/key_cells.hpp"
#include "raydex/core/keys/column.hpp"

namespace raydex::cuda {

// Keys that are no hashes: there is nothing to compare.
struct plain_keys {
  template <std::size_t N>
  RAYDEX_HD void compare(const std::uint64_t (&)[N], const std::uint32_t (&)[N]) const {}
};

// Keys and those of the rows that were found by their hashes.
struct hashed_keys {
  static constexpr std::uint32_t none = std::numeric_limits<std::uint32_t>::max();

  core::composite_cells keys;
  core::composite_cells others;
  std::uint64_t* equal;  // set to 0 if a key differs

  // Compares some with those of the rows beside them, if there are any.
  template <std::size_t N>
  RAYDEX_HD void compare(const std::uint64_t (&own)[N], const std::uint32_t (&rows)[N]) const {
    std::uint64_t others_rows[N];
    bool are_equal[N];
    RAYDEX_UNROLL
    for (std::size_t j = 0; j < N; ++j) {
      others_rows[j] = rows[j];
      are_equal[j] = rows[j] != none;
    }
    keys.compare(own, others, others_rows, are_equal);
    RAYDEX_UNROLL
    for (std::size_t j = 0; j < N; ++j)
      if (rows[j] != none && !are_equal[j]) core::store_atomically(equal, std::uint64_t{0});
  }
};

// Compares keys with those of what they found; all rows of a hash have one key.
struct compare_found {
  hashed_keys keys;
  const std::uint32_t* begins;  // as of `core::located_probes`, as the next three
  const std::uint32_t* counts;
  const std::uint32_t* list;  // null: `begins` has rows, whatever the counts
  const std::uint32_t* key_rows;

  RAYDEX_HD void operator()(std::uint64_t i) const { some<1>(i, 1, i + 1); }
  // N of them `step` apart, but none from `end` on.
  template <std::size_t N>
  RAYDEX_HD void some(std::uint64_t begin, std::uint64_t step, std::uint64_t end) const {
    std::uint32_t rows[N];
    RAYDEX_UNROLL
    for (std::size_t j = 0; j < N; ++j)
      rows[j] = begin + j * step < end ? core::load(begins + begin + j * step) : keys.none;
    if (list != nullptr) {
      RAYDEX_UNROLL
      for (std::size_t j = 0; j < N; ++j)
        if (rows[j] != keys.none && core::load(counts + begin + j * step) > 1)
          rows[j] = core::load(list + rows[j]);
    }
    std::uint64_t own[N];
    RAYDEX_UNROLL
    for (std::size_t j = 0; j < N; ++j) {
      own[j] = begin + j * step;
      if (rows[j] != keys.none && key_rows != nullptr) own[j] = core::load(key_rows + own[j]);
    }
    keys.compare(own, rows);
  }
};

}  // namespace raydex::cuda
