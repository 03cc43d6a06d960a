// SPDX-License-Identifier: Apache-2.0
// Arrays are what their names say, in every type of values.
#include "lab/workloads/minima/rmq_values.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <string>
#include <type_traits>
#include <vector>

#include "lab/workloads/minima/rmq_workload.hpp"
#include "raydex/error.hpp"

namespace raydex::bench {
namespace {

template <class Value>
class rmq_values : public testing::Test {
 protected:
  static rmq_workload workload_of(array_shape shape, std::uint64_t n) {
    rmq_workload spec;
    spec.shape = shape;
    spec.keys = n;
    spec.period = 100;
    spec.value = format_of<Value>;
    return spec;
  }

  static std::vector<Value> values(const rmq_workload& spec) {
    const value_set set = make_value_set(spec);
    std::vector<Value> all(spec.keys);
    for (std::uint64_t i = 0; i < all.size(); ++i)
      all[i] = set.template value<Value>(i);
    return all;
  }
  static std::vector<Value> values(array_shape shape, std::uint64_t n) {
    return values(workload_of(shape, n));
  }
};

using value_types =
    testing::Types<float, double, std::int32_t, std::uint32_t, std::int64_t, std::uint64_t>;
TYPED_TEST_SUITE(rmq_values, value_types, );

TYPED_TEST(rmq_values, random_ones_are_even_and_seeded) {
  rmq_workload spec = this->workload_of(array_shape::random, 100'000);
  const std::vector<TypeParam> all = this->values(spec);
  std::vector<TypeParam> sorted = all;
  std::ranges::sort(sorted);
  if constexpr (std::is_floating_point_v<TypeParam>) {
    EXPECT_GE(sorted.front(), 0);
    EXPECT_LT(sorted.back(), 1);
    EXPECT_NEAR(static_cast<double>(sorted[50'000]), 0.5, 0.01);
    const auto grid = static_cast<TypeParam>(std::is_same_v<TypeParam, float> ? 0x1p24 : 0x1p53);
    for (const TypeParam value : all)
      ASSERT_EQ(std::floor(value * grid), value * grid);
  } else {
    const auto all_values = static_cast<double>(std::numeric_limits<TypeParam>::max()) -
                            static_cast<double>(std::numeric_limits<TypeParam>::min());
    EXPECT_NEAR((static_cast<double>(sorted[50'000]) -
                 static_cast<double>(std::numeric_limits<TypeParam>::min())) /
                    all_values,
                0.5, 0.01);
  }
  EXPECT_EQ(this->values(spec), all);
  ++spec.seed;
  EXPECT_NE(this->values(spec), all);
}

TYPED_TEST(rmq_values, shapes) {
  for (const std::uint64_t n : {1u, 2u, 5u, 1000u, 1001u}) {
    const auto ascending = this->values(array_shape::ascending, n);
    EXPECT_TRUE(std::ranges::is_sorted(ascending, std::ranges::less_equal())) << n;
    EXPECT_EQ(std::set(ascending.begin(), ascending.end()).size(), n);

    auto descending = this->values(array_shape::descending, n);
    std::ranges::reverse(descending);
    EXPECT_EQ(descending, ascending);

    auto distinct = this->values(array_shape::distinct, n);
    if (n >= 1000) {
      EXPECT_FALSE(std::ranges::is_sorted(distinct));
    }
    std::ranges::sort(distinct);
    EXPECT_EQ(distinct, ascending);

    const auto constant = this->values(array_shape::constant, n);
    EXPECT_EQ(constant, std::vector<TypeParam>(n, constant.front()));

    const auto sawtooth = this->values(array_shape::sawtooth, n);
    for (std::uint64_t i = 0; i < n; ++i)
      ASSERT_EQ(sawtooth[i], ascending[i % 100]);

    const auto mountain = this->values(array_shape::mountain, n);
    for (std::uint64_t i = 0; i < n; ++i)
      ASSERT_EQ(mountain[i], ascending[std::min(i, n - 1 - i)]);
  }
  const auto few = this->values(array_shape::few, 1000);
  EXPECT_EQ(std::set(few.begin(), few.end()).size(), 4u);
}

TYPED_TEST(rmq_values, files_are_not_checked_for_room) {
  rmq_workload spec = this->workload_of(array_shape::file, 10);
  spec.file = array_file{.name = "f", .value = spec.value, .size = 10, .cells = nullptr};
  check(spec);
  spec.keys = 11;
  EXPECT_THROW(check(spec), invalid_argument);
}

// The longest common prefixes of neighbouring sorted suffixes, for a cyclic text in which every
// word of three letters occurs once.
TEST(rmq_shapes, lcp_is_that_of_a_text) {
  constexpr std::size_t letters = 3;
  // The greedy sequence: the largest letter that does not repeat a word.
  std::string text(letters - 1, 'a');
  std::set<std::string> seen;
  for (bool grown = true; grown;) {
    grown = false;
    for (const char next : {'d', 'c', 'b', 'a'}) {
      const std::string word = text.substr(text.size() - (letters - 1)) + next;
      if (!seen.insert(word).second) continue;
      text += next;
      grown = true;
      break;
    }
  }
  ASSERT_EQ(seen.size(), 64u);
  std::vector<std::string> suffixes;
  for (std::size_t i = 0; i + letters <= text.size(); ++i)
    suffixes.push_back(text.substr(i));
  std::ranges::sort(suffixes);
  rmq_workload spec;
  spec.shape = array_shape::lcp;
  spec.keys = 64;
  spec.value = format_of<std::int32_t>;
  const value_set set = make_value_set(spec);
  EXPECT_EQ(set.value<std::int32_t>(0), 0);
  for (std::size_t i = 1; i < 64; ++i) {
    const auto differs = std::ranges::mismatch(suffixes[i - 1], suffixes[i]);
    ASSERT_EQ(set.value<std::int32_t>(i), differs.in1 - suffixes[i - 1].begin()) << i;
  }
}

TEST(rmq_shapes, many_floats_differ) {
  rmq_workload spec;
  spec.shape = array_shape::ascending;
  const auto ends = [&](std::uint64_t n) {
    spec.keys = n;
    const value_set set = make_value_set(spec);
    return std::pair(set.value<float>(0), set.value<float>(n - 1));
  };
  constexpr float largest = std::numeric_limits<float>::max();
  EXPECT_EQ(ends(1 << 10).first, 1);
  EXPECT_EQ(ends(1 << 30), std::pair(1.0F, largest));
  EXPECT_EQ(ends(0x7f80'0000), std::pair(0.0F, largest));
  EXPECT_THROW(ends(0x7f80'0001), invalid_argument);
  spec.position_bits = 64;
  spec.value = format_of<std::uint32_t>;
  ends(std::uint64_t{1} << 32);
  EXPECT_THROW(ends((std::uint64_t{1} << 32) + 1), invalid_argument);
}

}  // namespace
}  // namespace raydex::bench
