// SPDX-License-Identifier: Apache-2.0
// Intervals in the order of keys and lower ends, and in that of keys and upper ends.
#pragma once

#include <array>
#include <cstdint>
#include <memory>

#include "raydex/join.hpp"

namespace raydex {

class ordered_intervals {
 public:
  // Ranks of the ends of probes in both orders: how many ends of rows of lesser keys, or of the
  // same key and less, there are.
  struct end_ranks {
    buffer<std::uint64_t> of_lower;
    buffer<std::uint64_t> of_upper;
  };
  struct found {
    buffer<std::uint8_t> valid;       // a bit a probe
    std::array<end_ranks, 2> orders;  // by lower ends, and by upper ends
  };

  ordered_intervals(const ordered_intervals&) = delete;
  ordered_intervals& operator=(const ordered_intervals&) = delete;
  virtual ~ordered_intervals() = default;

  std::uint64_t size() const noexcept { return size_; }
  key_comparison comparison() const noexcept { return comparison_; }
  // The rows, by lower or by upper ends: numbers of 32 bits.
  const void* rows(bool by_upper) const noexcept { return rows_[by_upper ? 1 : 0]; }
  // Ranks of some probes.
  virtual found find(const context& on, const column& lower, const column& upper,
                     const key_parts& by) const = 0;

 protected:
  ordered_intervals() = default;
  std::uint64_t size_ = 0;
  key_comparison comparison_ = key_comparison::column;
  std::array<const void*, 2> rows_{};
};

// Of valid intervals, of fewer than 2^31 rows. `own.memory` and `by` outlive it.
using ordered_intervals_builder = std::unique_ptr<ordered_intervals>(backend where,
                                                                     const context& own,
                                                                     const column& lower,
                                                                     const column& upper,
                                                                     const key_parts& by);

}  // namespace raydex
