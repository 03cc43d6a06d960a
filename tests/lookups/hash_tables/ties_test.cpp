// SPDX-License-Identifier: Apache-2.0
// Hashes that are sorted by their highest bits, and those that share them put in order.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <vector>

#include "src/operations/lookups/hash_ties.hpp"
#include "tests/support/random.hpp"

namespace raydex {
namespace {

using ties = order_ties<std::uint32_t>;

// Orders entries that ascend by what is above the lowest bits; their row ids are their numbers.
std::vector<std::uint32_t> order(std::vector<std::uint64_t>& hashes, int below) {
  std::vector<std::uint32_t> rows(hashes.size());
  std::iota(rows.begin(), rows.end(), 0);
  const ties by{hashes.data(), rows.data(), hashes.size(), below};
  for (std::size_t i = 0; i < hashes.size(); ++i)
    by(i);
  return rows;
}

TEST(hash_ties, are_put_in_order_and_equal_ones_stay) {
  auto random = test::generator();
  for (const std::uint64_t size : {1U, 2U, 3U, 1000U}) {
    for (const std::uint64_t shared : {std::uint64_t{1}, size / 2 + 1, 4 * size}) {
      std::vector<std::uint64_t> hashes(size);
      for (auto& hash : hashes)
        hash = test::below(random, shared) << 8 | test::below(random, 3);
      const auto highest = [](std::uint64_t hash) { return hash >> 8; };
      std::ranges::stable_sort(hashes, {}, highest);
      const std::vector<std::uint64_t> before = hashes;
      std::vector<std::uint32_t> wanted(size);
      std::iota(wanted.begin(), wanted.end(), 0);
      // Of more than `most`, the first are ordered.
      for (std::size_t i = 0; i < size;) {
        std::size_t end = i;
        while (end < size && highest(before[end]) == highest(before[i]))
          ++end;
        const auto from = wanted.begin() + static_cast<std::ptrdiff_t>(i);
        std::ranges::stable_sort(
            from, from + static_cast<std::ptrdiff_t>(std::min<std::uint64_t>(end - i, ties::most)),
            {}, [&](std::uint32_t row) { return before[row]; });
        i = end;
      }
      ASSERT_EQ(order(hashes, 8), wanted);
      for (std::size_t i = 0; i < size; ++i)
        ASSERT_EQ(hashes[i], before[wanted[i]]);
    }
  }
}

TEST(hash_ties, bits_that_tell_most_of_them_apart) {
  const auto bits = [](std::uint64_t size) { return telling_bits({.seed = 1}, 64, size).first; };
  EXPECT_EQ(bits((1U << 16) - 1), 0);
  EXPECT_EQ(bits(1U << 16), 64 - 32);
  EXPECT_EQ(bits(1U << 22), 64 - 32);
  EXPECT_EQ(bits((1U << 22) + 1), 64 - 40);
  EXPECT_EQ(bits((std::uint64_t{1} << 38) + 1), 0);
  EXPECT_EQ(telling_bits({.seed = 1}, 32, 1U << 16).first, 0);
  EXPECT_EQ(telling_bits({}, 64, 1U << 20).first, 0);
}

}  // namespace
}  // namespace raydex
