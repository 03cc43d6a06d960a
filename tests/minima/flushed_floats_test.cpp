// SPDX-License-Identifier: Apache-2.0
// Floats as programs of OptiX order them, where arithmetic takes the smallest for zero. A program
// of its own, compiled with RAYDEX_FLUSHES_FLOATS.
#include <gtest/gtest.h>

#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "raydex/core/minima/rmq.hpp"

#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

namespace raydex::core {
namespace {

using limits = std::numeric_limits<float>;

// Has arithmetic take denormal floats for zero, on processors where it can.
class flushed_floats : public testing::Test {
 protected:
#if defined(__x86_64__)
  void SetUp() override {
    constexpr unsigned flush_to_zero_and_denormals_are_zero = 0x8040;
    _mm_setcsr(before_ | flush_to_zero_and_denormals_are_zero);
  }
  void TearDown() override {
    _mm_setcsr(before_);
  }

 private:
  unsigned before_ = _mm_getcsr();
#endif
};

// In order, each before all that follow.
const std::vector<float> ascending{-limits::infinity(),   limits::lowest(),
                                   -limits::min(),        -2 * limits::denorm_min(),
                                   -limits::denorm_min(), 0,
                                   limits::denorm_min(),  2 * limits::denorm_min(),
                                   limits::min(),         limits::max(),
                                   limits::infinity(),    limits::quiet_NaN()};

TEST_F(flushed_floats, are_told_apart) {
  for (std::size_t i = 0; i < ascending.size(); ++i) {
    for (std::size_t j = 0; j < ascending.size(); ++j) {
      EXPECT_EQ(less(ascending[i], ascending[j]), i < j) << i << " and " << j;
      const std::size_t first = i < j ? i : j;
      EXPECT_EQ(std::bit_cast<std::uint32_t>(smaller(ascending[i], ascending[j])),
                std::bit_cast<std::uint32_t>(ascending[first]))
          << i << " and " << j;
    }
  }
}

TEST_F(flushed_floats, zeros_are_one_and_so_are_nan) {
  EXPECT_FALSE(less(-0.0F, 0.0F) || less(0.0F, -0.0F));
  EXPECT_FALSE(less(-limits::quiet_NaN(), limits::quiet_NaN()));
  EXPECT_FALSE(less(-limits::quiet_NaN(), limits::infinity()));
}

TEST_F(flushed_floats, are_answered_as_they_were) {
  const value_array<float> array;
  for (const float value : ascending) {
    EXPECT_EQ(std::bit_cast<std::uint32_t>(array.original(value)),
              std::bit_cast<std::uint32_t>(value));
  }
  EXPECT_EQ(std::bit_cast<std::uint32_t>(array.original(-0.0F)), 0U);
  EXPECT_EQ(std::bit_cast<std::uint32_t>(array.original(-limits::quiet_NaN())),
            std::bit_cast<std::uint32_t>(limits::quiet_NaN()));
}

}  // namespace
}  // namespace raydex::core
