// SPDX-License-Identifier: Apache-2.0
/// @file
/// Zipf's law by a table: rank k is drawn with a probability proportional to 1 / (k +
/// 1)^coefficient. The table is computed once on the host and searched with integers, so that host
/// and device agree.
#pragma once

#include <cstdint>
#include <vector>

#include "lab/workloads/random.hpp"
#include "raydex/core/config.hpp"

namespace raydex::bench {

/// Buckets of consecutive ranks: one rank each for the popular ones, then wider ones (under 1 % of
/// their first rank), inside which all ranks are equally likely. Trivially copyable.
struct zipf_view {
  const std::uint64_t* cumulative = nullptr;  ///< share of ranks up to this bucket, times 2^64
  const std::uint64_t* first = nullptr;       ///< first rank of each bucket; one element more
  std::uint64_t buckets = 0;                  ///< how many; 0 where there is no skew

  /// The rank that two random numbers stand for.
  RAYDEX_HD std::uint64_t rank(std::uint64_t which, std::uint64_t within) const {
    std::uint64_t begin = 0;
    std::uint64_t end = buckets - 1;  // the last bucket takes what rounding left
    while (begin < end) {
      const std::uint64_t middle = begin + (end - begin) / 2;
      if (cumulative[middle] > which) {
        end = middle;
      } else {
        begin = middle + 1;
      }
    }
    return first[begin] + scale(within, first[begin + 1] - first[begin]);
  }
};

/// The table behind a view.
struct zipf_table {
  std::vector<std::uint64_t> cumulative;
  std::vector<std::uint64_t> first;

  zipf_view view() const { return {cumulative.data(), first.data(), cumulative.size()}; }
};

/// The table for `ranks` ranks; empty for a coefficient of 0, which is no skew.
zipf_table make_zipf_table(std::uint64_t ranks, double coefficient);

}  // namespace raydex::bench
