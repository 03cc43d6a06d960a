// SPDX-License-Identifier: Apache-2.0
// Scaling of random numbers, compared with wide arithmetic, and their distribution.
#include "lab/workloads/random.hpp"

#include <gtest/gtest.h>

#include <array>

#include "tests/support/random.hpp"

namespace raydex::bench {
namespace {

__extension__ using wide = unsigned __int128;

TEST(random, scale_is_the_upper_half_of_the_product) {
  auto generate = test::generator();
  for (int i = 0; i < 10000; ++i) {
    const std::uint64_t bits = generate() >> test::below(generate, 64);
    const std::uint64_t size = generate() >> test::below(generate, 64);
    EXPECT_EQ(scale(bits, size), static_cast<std::uint64_t>((wide{bits} * size) >> 64));
  }
  constexpr std::uint64_t most = ~std::uint64_t{0};
  EXPECT_EQ(scale(most, most), most - 1);
  EXPECT_EQ(scale(most, 1), 0u);
  EXPECT_EQ(scale_to(most, most), most);
  EXPECT_EQ(scale_to(most, 0), 0u);
  EXPECT_EQ(scale_to(most, 9), 9u);
}

TEST(random, streams_and_seeds_differ) {
  EXPECT_NE(random(1, stream::hit, 0), random(1, stream::which, 0));
  EXPECT_NE(random(1, stream::hit, 0), random(2, stream::hit, 0));
  EXPECT_NE(random(1, stream::hit, 0), random(1, stream::hit, 1));
}

TEST(random, is_even) {
  std::array<double, 64> counts{};
  constexpr int draws = 64000;
  for (std::uint64_t j = 0; j < draws; ++j)
    ++counts[scale(random(3, stream::which, j), 64)];
  double chi_square = 0;
  for (const double count : counts)
    chi_square += (count - 1000) * (count - 1000) / 1000;
  EXPECT_LT(chi_square, 63 + 6 * 11.3);  // mean and standard deviation of the law: 63 and 11.2
}

}  // namespace
}  // namespace raydex::bench
