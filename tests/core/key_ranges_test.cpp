// SPDX-License-Identifier: Apache-2.0
// The keys within a distance are those whose difference, as their type rounds it, is not more.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "raydex/core/joins/key_ranges.hpp"
#include "tests/support/random.hpp"

namespace raydex::core {
namespace {

template <class T>
bool is_near(T key, T probe, T distance) {
  return key == probe || std::abs(key - probe) <= distance;
}

template <class T>
class band : public testing::Test {
 protected:
  using code = encoded_t<T>;

  // Both ends are near, and the keys beyond them are not.
  static void check(T probe, T distance) {
    SCOPED_TRACE(testing::Message() << std::hexfloat << probe << ", " << distance);
    const interval<code> found = band_about<code>{0, 0, distance, distance, true}(encode(probe));
    const auto near = [&](code of) { return is_near(decode<T>(of), probe, distance); };
    ASSERT_LE(found.lower, found.upper);
    ASSERT_TRUE(near(found.lower) && near(found.upper));
    // Nothing is beyond an infinity but NaN, to which all compare as false.
    const code first = encode(-std::numeric_limits<T>::infinity());
    const bool is_zero = decode<T>(found.lower) == 0;  // before it comes the code that -0.0 has not
    ASSERT_TRUE(found.lower == first || !near(found.lower - (is_zero ? 2 : 1)));
    ASSERT_FALSE(near(found.upper + 1));
    // Each side has a distance of its own.
    const auto none = band_about<code>{0, 0, distance, 0, true}(encode(probe));
    ASSERT_EQ(none.lower, found.lower);
    ASSERT_EQ(none.upper, encode(probe));
  }
};

using floating_types = testing::Types<float, double>;
TYPED_TEST_SUITE(band, floating_types);

TYPED_TEST(band, of_special_numbers) {
  using limits = std::numeric_limits<TypeParam>;
  const std::vector<TypeParam> numbers{0,
                                       1,
                                       static_cast<TypeParam>(0.1),
                                       3,
                                       static_cast<TypeParam>(3.9),
                                       limits::epsilon(),
                                       limits::min(),
                                       limits::denorm_min(),
                                       limits::max(),
                                       limits::infinity()};
  for (const TypeParam probe : numbers)
    for (const TypeParam distance : numbers)
      for (const TypeParam sign : {TypeParam{1}, TypeParam{-1}})
        this->check(sign * probe, distance);
  const auto of_nan =
      band_about<encoded_t<TypeParam>>{0, 0, 1, 1, true}(encode(limits::quiet_NaN()));
  EXPECT_GT(of_nan.lower, of_nan.upper);
}

TYPED_TEST(band, of_any_bits) {
  auto random = test::generator();
  const auto number = [&] {
    return std::bit_cast<TypeParam>(static_cast<encoded_t<TypeParam>>(random()));
  };
  for (int i = 0; i < 20'000; ++i) {
    const TypeParam probe = number();
    // Nearly as large as the probe, so that what is near begins close to 0; or any.
    const auto off = static_cast<encoded_t<TypeParam>>(test::below(random, 5));
    const TypeParam distance = std::abs(
        i % 2 == 0 ? number()
                   : std::bit_cast<TypeParam>(std::bit_cast<encoded_t<TypeParam>>(probe) + off));
    if (!std::isnan(probe) && !std::isnan(distance)) this->check(probe, distance);
    if (this->HasFatalFailure()) return;
  }
}

}  // namespace
}  // namespace raydex::core
