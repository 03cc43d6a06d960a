// SPDX-License-Identifier: Apache-2.0
// The codec keeps order and equality, and decodes what it encodes.
#include <gtest/gtest.h>

#include "raydex/core/keys/column.hpp"
#include "tests/support/keys.hpp"

namespace raydex {
namespace {

template <class T>
class codec : public testing::Test {};
using key_types = testing::Types<std::uint32_t, std::uint64_t, std::int32_t, std::int64_t, float,
                                 double, std::array<char, 1>, std::array<char, 2>,
                                 std::array<char, 3>, std::array<char, 4>, std::array<char, 5>,
                                 std::array<char, 6>, std::array<char, 7>, std::array<char, 8>>;
TYPED_TEST_SUITE(codec, key_types);

// Extremes, their neighbours, and random bit patterns.
template <class T>
std::vector<T> samples() {
  std::vector<T> keys = test::extreme_keys<T>();
  for (const T& key : test::extreme_keys<T>()) {
    keys.push_back(test::neighbour(key, true));
    keys.push_back(test::neighbour(key, false));
  }
  auto random = test::generator();
  for (int i = 0; i < 400; ++i)
    keys.push_back(test::random_key<T>(random));
  return keys;
}

TYPED_TEST(codec, keeps_order_and_equality) {
  const auto keys = samples<TypeParam>();
  for (const auto& a : keys) {
    for (const auto& b : keys) {
      ASSERT_EQ(encode(a) < encode(b), test::key_less{}(a, b));
    }
  }
}

TYPED_TEST(codec, round_trip) {
  for (const auto& key : samples<TypeParam>()) {
    const TypeParam back = decode<TypeParam>(encode(key));
    ASSERT_EQ(encode(back), encode(key));
    ASSERT_FALSE(test::key_less{}(key, back) || test::key_less{}(back, key));
  }
}

TYPED_TEST(codec, column_reads_codes_at_any_stride) {
  constexpr std::size_t cells = 3;  // the middle one is read
  auto random = test::generator(1);
  for (int i = 0; i < 100; ++i) {
    std::array<TypeParam, 3 * cells> keys;
    for (auto& key : keys)
      key = test::random_key<TypeParam>(random);
    core::encoded_column<encoded_t<TypeParam>> column;
    column.format = format_of<TypeParam>;
    for (std::size_t step = 1; step <= 3; ++step) {
      column.data = reinterpret_cast<const std::byte*>(keys.data());
      column.stride = step * sizeof(TypeParam);
      for (std::size_t c = 0; c < cells; ++c)
        ASSERT_EQ(column[c], encode(keys[c * step]));
    }
  }
}

TEST(codec_floats, zero_and_nan) {
  EXPECT_EQ(encode(-0.0F), encode(0.0F));
  EXPECT_EQ(encode(-0.0), encode(0.0));
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(encode(nan), encode(-nan));
  EXPECT_EQ(encode(nan), ~std::uint64_t{0});
  EXPECT_GT(encode(nan), encode(std::numeric_limits<double>::infinity()));
}

TEST(cells, validity_bits_are_read_least_significant_first) {
  const std::array<std::uint8_t, 2> bits{0b1000'0001, 0b0000'0010};
  core::cells cells;
  EXPECT_TRUE(cells.valid(5));
  cells.validity = bits.data();
  const std::array<bool, 10> valid{true,  false, false, false, false,
                                   false, false, true,  false, true};
  for (std::size_t i = 0; i < valid.size(); ++i)
    EXPECT_EQ(cells.valid(i), valid[i]) << i;
  cells.first_bit = 7;
  for (std::size_t i = 0; i < 3; ++i)
    EXPECT_EQ(cells.valid(i), valid[i + 7]) << i;
}

// Of eight cells at a time, where the bitmap begins at any bit; the byte behind its last one is not
// read.
TEST(cells, validity_bits_are_read_by_bytes) {
  std::mt19937_64 random = test::generator();
  for (std::uint64_t size = 1; size < 40; ++size) {
    for (std::uint8_t first = 0; first < 8; ++first) {
      std::vector<std::uint8_t> bits((first + size + 7) / 8);
      for (std::uint8_t& byte : bits)
        byte = static_cast<std::uint8_t>(random());
      core::cells cells;
      cells.validity = bits.data();
      cells.first_bit = first;
      for (std::uint64_t i = 0; i < size; ++i) {
        const unsigned byte = cells.valid_bits(i / 8 * 8, size);
        ASSERT_EQ((byte >> i % 8 & 1) != 0, cells.valid(i)) << i << " of " << size;
      }
    }
  }
}

}  // namespace
}  // namespace raydex
