// SPDX-License-Identifier: Apache-2.0
// Sums of floating values do not depend on the order of their terms.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

#include "raydex/core/keys/sum.hpp"
#include "tests/support/random.hpp"

namespace raydex::core {
namespace {

__extension__ using int128 = __int128;

double sum(const std::vector<double>& terms) {
  floating_sum total;
  for (const double term : terms)
    total.add(term);
  return total.get();
}

TEST(floating_sum, is_the_rounded_exact_sum_in_any_order) {
  auto random = test::generator();
  for (int round = 0; round < 50; ++round) {
    // Terms share a scale, so that a wide integer holds the exact sum.
    std::vector<double> terms(1000);
    int128 exact = 0;
    for (double& term : terms) {
      const auto mantissa = static_cast<std::int64_t>(random() >> 11) - (std::int64_t{1} << 52);
      const int shift = static_cast<int>(test::below(random, 30));
      term = std::ldexp(static_cast<double>(mantissa), shift);
      exact += static_cast<int128>(mantissa) << shift;
    }
    for (int order = 0; order < 5; ++order) {
      ASSERT_EQ(sum(terms), static_cast<double>(exact));
      std::shuffle(terms.begin(), terms.end(), random);
    }
  }
}

TEST(floating_sum, keeps_small_terms_beside_large_ones) {
  EXPECT_EQ(sum({1e30, 1.0, -1e30}), 1.0);
  EXPECT_EQ(sum({}), 0.0);
}

TEST(floating_sum, infinities_and_nan_behave_as_in_plain_addition) {
  const double infinity = std::numeric_limits<double>::infinity();
  EXPECT_EQ(sum({1.0, infinity, 2.0}), infinity);
  EXPECT_EQ(sum({-infinity, 5.0}), -infinity);
  EXPECT_TRUE(std::isnan(sum({infinity, -infinity})));
  EXPECT_TRUE(std::isnan(sum({1.0, std::nan("")})));
}

}  // namespace
}  // namespace raydex::core
