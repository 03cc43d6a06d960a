// SPDX-License-Identifier: Apache-2.0
// Frequencies against the true law.
#include "lab/workloads/zipf.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

namespace raydex::bench {
namespace {

// The true probability of every rank.
std::vector<double> law(std::uint64_t ranks, double coefficient) {
  std::vector<double> shares(ranks);
  double sum = 0;
  for (std::uint64_t k = 0; k < ranks; ++k) {
    shares[k] = std::pow(static_cast<double>(k + 1), -coefficient);
    sum += shares[k];
  }
  for (double& share : shares)
    share /= sum;
  return shares;
}

TEST(zipf, frequencies_follow_the_law) {
  constexpr std::uint64_t ranks = 300000;
  constexpr std::uint64_t draws = 400000;
  for (const double coefficient : {0.25, 0.5, 0.75, 1.0, 1.25, 1.5, 1.75, 2.0, 5.0}) {
    const zipf_table table = make_zipf_table(ranks, coefficient);
    std::vector<std::uint64_t> counts(ranks);
    for (std::uint64_t j = 0; j < draws; ++j) {
      ++counts.at(table.view().rank(random(9, stream::which, j), random(9, stream::within, j)));
    }
    // Cells of at least 20 expected draws; popular ranks have a cell of their own.
    const std::vector<double> shares = law(ranks, coefficient);
    double chi_square = 0;
    double cells = 0;
    double expected = 0;
    double drawn = 0;
    for (std::uint64_t k = 0; k < ranks; ++k) {
      expected += shares[k] * static_cast<double>(draws);
      drawn += static_cast<double>(counts[k]);
      if (expected < 20) continue;
      chi_square += (drawn - expected) * (drawn - expected) / expected;
      ++cells;
      expected = drawn = 0;
    }
    EXPECT_LT(chi_square, cells + 6 * std::sqrt(2 * cells)) << coefficient;
    EXPECT_GT(cells, 5);
  }
}

TEST(zipf, table_weights_are_those_of_the_law) {
  for (const double coefficient : {0.25, 0.999999, 1.0, 1.000001, 2.0, 5.0}) {
    constexpr std::uint64_t ranks = 100000;
    const zipf_table table = make_zipf_table(ranks, coefficient);
    const std::vector<double> shares = law(ranks, coefficient);
    double sum = 0;
    std::uint64_t rank = 0;
    for (std::size_t bucket = 0; bucket < table.cumulative.size(); ++bucket) {
      for (; rank < table.first[bucket + 1]; ++rank)
        sum += shares[rank];
      ASSERT_NEAR(static_cast<double>(table.cumulative[bucket]) / 0x1p64, sum, 1e-6);
    }
    EXPECT_EQ(rank, ranks);
  }
}

TEST(zipf, extreme_draws_stay_in_range) {
  constexpr std::uint64_t most = ~std::uint64_t{0};
  for (const std::uint64_t ranks : {1u, 2u, 1023u, 1024u, 1025u, 1031u, 1032u, 1033u, 99999u}) {
    for (const double coefficient : {0.25, 1.0, 5.0, 64.0}) {
      const zipf_table table = make_zipf_table(ranks, coefficient);
      EXPECT_TRUE(std::is_sorted(table.cumulative.begin(), table.cumulative.end()));
      EXPECT_EQ(table.first.back(), ranks);
      EXPECT_EQ(table.view().rank(0, 0), 0u);
      EXPECT_LT(table.view().rank(most, most), ranks);
    }
  }
}

TEST(zipf, is_small_for_many_ranks) {
  EXPECT_LT(make_zipf_table(std::uint64_t{1} << 40, 1).cumulative.size(), 8192u);
}

TEST(zipf, no_skew_needs_no_table) {
  EXPECT_EQ(make_zipf_table(1000, 0).view().buckets, 0u);
  EXPECT_EQ(make_zipf_table(std::uint64_t{0}, 1).view().buckets, 0u);
}

}  // namespace
}  // namespace raydex::bench
