// SPDX-License-Identifier: Apache-2.0
// Ranges lie in the array, are as long as their kind says, and begin anywhere.
#include "lab/workloads/minima/rmq_ranges.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "lab/tests/workloads/rmq_samples.hpp"

namespace raydex::bench {
namespace {

class rmq_ranges : public testing::Test {
 protected:
  range_set ranges(range_kind kind, std::uint64_t n) {
    medium_ = length_quantiles(range_kind::medium, n);
    small_ = length_quantiles(range_kind::small, n);
    return {kind, n, 1, medium_.data(), small_.data()};
  }

  static std::vector<double> lengths(const range_set& set, std::uint64_t count) {
    std::vector<double> all;
    for (std::uint64_t j = 0; j < count; ++j)
      all.push_back(static_cast<double>(set.length(j)));
    std::ranges::sort(all);
    return all;
  }

 private:
  std::vector<std::uint64_t> medium_;
  std::vector<std::uint64_t> small_;
};

TEST_F(rmq_ranges, lie_in_the_array) {
  for (const std::uint64_t n : {1u, 2u, 3u, 10u, 1000u, 1u << 20}) {
    for (const range_kind kind : test::range_kinds) {
      const range_set set = ranges(kind, n);
      for (std::uint64_t j = 0; j < 2000; ++j) {
        const std::uint64_t length = set.length(j);
        ASSERT_GE(length, 1u);
        ASSERT_LE(length, n);
        ASSERT_LE(set.lower(j, length) + length, n);
      }
    }
  }
}

TEST_F(rmq_ranges, large_ones_are_uniform) {
  const std::vector<double> all = lengths(ranges(range_kind::large, 1 << 20), 100'000);
  for (const std::size_t tenth : {1u, 5u, 9u}) {
    EXPECT_NEAR(all[tenth * 10'000] / (1 << 20), static_cast<double>(tenth) / 10, 0.01);
  }
}

TEST_F(rmq_ranges, medium_and_small_ones_are_log_normal) {
  constexpr std::uint64_t n = 1 << 28;
  for (const range_kind kind : {range_kind::medium, range_kind::small}) {
    const double median = std::pow(n, kind == range_kind::medium ? 0.6 : 0.3);
    const std::vector<double> all = lengths(ranges(kind, n), 100'000);
    const auto sigmas = [&](double share) {
      return std::log(all[static_cast<std::size_t>(100'000 * share)] / median) / 0.3;
    };
    EXPECT_NEAR(sigmas(0.5), 0, 0.03);
    EXPECT_NEAR(sigmas(0.8413), 1, 0.03);
    EXPECT_NEAR(sigmas(0.1587), -1, 0.03);
    EXPECT_NEAR(sigmas(0.9987), 3, 0.15);
  }
}

TEST_F(rmq_ranges, mixed_ones_are_a_third_of_each) {
  constexpr std::uint64_t n = 1 << 28;  // small: up to 1200; medium: up to 400'000
  const std::vector<double> all = lengths(ranges(range_kind::mixed, n), 90'000);
  const auto up_to = [&](double length) {
    return std::ranges::upper_bound(all, length) - all.begin();
  };
  EXPECT_NEAR(static_cast<double>(up_to(5000)), 30'000, 600);
  EXPECT_NEAR(static_cast<double>(up_to(450'000)), 60'000, 600);
}

TEST_F(rmq_ranges, begin_anywhere) {
  const range_set set = ranges(range_kind::small, 1 << 20);
  std::vector<double> lower;
  for (std::uint64_t j = 0; j < 100'000; ++j)
    lower.push_back(static_cast<double>(set.lower(j, set.length(j))) / (1 << 20));
  std::ranges::sort(lower);
  EXPECT_NEAR(lower[10'000], 0.1, 0.01);
  EXPECT_NEAR(lower[50'000], 0.5, 0.01);
  EXPECT_NEAR(lower[90'000], 0.9, 0.01);
}

}  // namespace
}  // namespace raydex::bench
