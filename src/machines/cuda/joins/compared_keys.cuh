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

// Compares keys with those of the rows that were found by their hashes.
struct compare_found {
  core::composite_cells keys;
  core::composite_cells others;  // of the rows that were found
  const std::uint32_t* begins;   // as of `core::located_probes`, as the next three
  const std::uint32_t* counts;   // all rows of a hash have one key
  const std::uint32_t* list;     // null: `begins` has rows, whatever the counts
  const std::uint32_t* key_rows;
  const std::uint64_t* usable;  // if it is 0 nothing was found; null: something was
  std::uint64_t* equal;         // set to 0 if a key differs

  RAYDEX_HD void operator()(std::uint64_t i) const { some<1>(i, 1, i + 1); }
  // N of them `step` apart, but none from `end` on.
  template <std::size_t N>
  RAYDEX_HD void some(std::uint64_t begin, std::uint64_t step, std::uint64_t end) const {
    constexpr auto none = std::numeric_limits<std::uint32_t>::max();
    if (usable != nullptr && core::load(usable) == 0) return;
    std::uint64_t rows[N];
    bool are_equal[N];
    RAYDEX_UNROLL
    for (std::size_t j = 0; j < N; ++j) {
      const std::uint64_t i = begin + j * step;
      rows[j] = i < end ? core::load(begins + i) : none;
      are_equal[j] = rows[j] != none;
    }
    if (list != nullptr) {
      RAYDEX_UNROLL
      for (std::size_t j = 0; j < N; ++j)
        if (are_equal[j] && core::load(counts + begin + j * step) > 1)
          rows[j] = core::load(list + rows[j]);
    }
    std::uint64_t compared[N];
    bool found[N];
    RAYDEX_UNROLL
    for (std::size_t j = 0; j < N; ++j) {
      found[j] = are_equal[j];
      const std::uint64_t i = begin + j * step;
      compared[j] = found[j] && key_rows != nullptr ? core::load(key_rows + i) : i;
    }
    keys.compare(compared, others, rows, are_equal);
    RAYDEX_UNROLL
    for (std::size_t j = 0; j < N; ++j)
      if (found[j] && !are_equal[j]) core::store_atomically(equal, std::uint64_t{0});
  }
};

}  // namespace raydex::cuda
