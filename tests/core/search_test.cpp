// SPDX-License-Identifier: Apache-2.0
// The searches agree with std::lower_bound and std::upper_bound.
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "raydex/core/lookups/search.hpp"
#include "tests/support/random.hpp"

namespace raydex::core {
namespace {

std::vector<std::uint32_t> sorted_keys(std::size_t size, std::uint64_t distinct,
                                       std::mt19937_64& random) {
  std::vector<std::uint32_t> keys(size);
  for (auto& key : keys)
    key = static_cast<std::uint32_t>(1 + test::below(random, distinct));
  std::sort(keys.begin(), keys.end());
  return keys;
}

TEST(search, agrees_with_std_for_all_small_sizes) {
  auto random = test::generator();
  for (std::size_t size = 0; size < 200; ++size) {
    for (const std::uint64_t distinct : {std::uint64_t{1}, std::uint64_t{5}, std::uint64_t{300}}) {
      const auto keys = sorted_keys(size, distinct, random);
      const auto at = [&](std::uint32_t i) {
        EXPECT_LT(i, keys.size());
        return keys[i];
      };
      const auto all = static_cast<std::uint32_t>(size);
      for (std::uint32_t wanted = 0; wanted < 303; wanted += 3) {
        const std::uint32_t three[3] = {wanted, wanted + 1, wanted + 2};
        std::uint32_t found[3];
        lower_bounds(at, all, three, found);
        for (int j = 0; j < 3; ++j) {
          const auto lower = std::lower_bound(keys.begin(), keys.end(), three[j]);
          ASSERT_EQ(found[j], lower - keys.begin());
          const auto upper = std::upper_bound(lower, keys.end(), three[j]);
          ASSERT_EQ(gallop_past(at, found[j], all, three[j]), upper - keys.begin());
        }
      }
    }
  }
}

TEST(search, finds_the_ends_of_the_key_range) {
  const std::vector<std::uint32_t> keys{0, 0, 7, 0xffff'ffff, 0xffff'ffff};
  const auto at = [&](std::uint64_t i) { return keys[i]; };
  const std::uint32_t wanted[2] = {0, 0xffff'ffff};
  std::uint64_t found[2];
  lower_bounds(at, std::uint64_t{5}, wanted, found);
  EXPECT_EQ(found[0], 0);
  EXPECT_EQ(found[1], 3);
  EXPECT_EQ(gallop_past(at, found[0], std::uint64_t{5}, wanted[0]), 2);
  EXPECT_EQ(gallop_past(at, found[1], std::uint64_t{5}, wanted[1]), 5);
}

TEST(search, positions_do_not_overflow_near_their_maximum) {
  // 2^32 - 2 keys that no memory has to hold: key i is i.
  const std::uint32_t size = 0xffff'fffe;
  const auto at = [](std::uint32_t i) { return i; };
  const std::uint32_t wanted[2] = {0xffff'fffd, 0xffff'ffff};
  std::uint32_t found[2];
  lower_bounds(at, size, wanted, found);
  EXPECT_EQ(found[0], 0xffff'fffd);
  EXPECT_EQ(found[1], size);
  EXPECT_EQ(gallop_past(at, std::uint32_t{0}, size, std::uint32_t{0xffff'ffff}), size);
  EXPECT_EQ(gallop_past(at, std::uint32_t{0}, size, std::uint32_t{0xffff'fff0}), 0xffff'fff1);
}

}  // namespace
}  // namespace raydex::core
