// SPDX-License-Identifier: Apache-2.0
// The bijection is one, for any size.
#include "lab/workloads/bijection.hpp"

#include <gtest/gtest.h>

#include <array>
#include <vector>

#include "tests/support/random.hpp"

namespace raydex::bench {
namespace {

TEST(bijection, visits_every_element_once) {
  for (std::uint64_t size = 1; size <= 600; ++size) {
    for (std::uint64_t key = 0; key < 5; ++key) {
      const bijection shuffle(size - 1, key);
      std::vector<bool> seen(size);
      for (std::uint64_t x = 0; x < size; ++x) {
        const std::uint64_t y = shuffle(x);
        ASSERT_LT(y, size);
        ASSERT_FALSE(seen[y]) << size;
        seen[y] = true;
        ASSERT_EQ(shuffle.inverse(y), x);
      }
    }
  }
}

TEST(bijection, has_an_inverse_at_any_size) {
  auto generate = test::generator();
  for (int i = 0; i < 2000; ++i) {
    const std::uint64_t last = generate() >> test::below(generate, 64);
    const bijection shuffle(last, generate());
    for (const std::uint64_t x : {std::uint64_t{0}, last, scale_to(generate(), last)}) {
      const std::uint64_t y = shuffle(x);
      ASSERT_LE(y, last);
      ASSERT_EQ(shuffle.inverse(y), x) << last;
      ASSERT_EQ(shuffle(shuffle.inverse(x)), x) << last;
    }
  }
}

TEST(bijection, takes_all_64_bit_numbers) {
  constexpr std::uint64_t last = ~std::uint64_t{0};
  const bijection shuffle(last, 42);
  for (const std::uint64_t x : {std::uint64_t{0}, std::uint64_t{1}, last, last / 2}) {
    EXPECT_EQ(shuffle.inverse(shuffle(x)), x);
  }
}

// Over many keys, every element goes everywhere equally often, and so do pairs of neighbours.
TEST(bijection, is_even_over_keys) {
  constexpr std::uint64_t size = 11;
  constexpr double draws = 11000;
  std::array<double, size> counts{};
  std::array<double, size> steps{};
  for (std::uint64_t key = 0; key < static_cast<std::uint64_t>(draws); ++key) {
    const bijection shuffle(size - 1, mix(key));
    ++counts[shuffle(5)];
    ++steps[(shuffle(6) + size - shuffle(5)) % size];
  }
  double chi_square = 0;
  double step_chi_square = 0;
  for (std::size_t i = 0; i < size; ++i) {
    chi_square += (counts[i] - 1000) * (counts[i] - 1000) / 1000;
    if (i != 0) step_chi_square += (steps[i] - 1100) * (steps[i] - 1100) / 1100;
  }
  EXPECT_LT(chi_square, 10 + 6 * 4.5);
  EXPECT_LT(step_chi_square, 9 + 6 * 4.3);
  EXPECT_EQ(steps[0], 0);
}

}  // namespace
}  // namespace raydex::bench
