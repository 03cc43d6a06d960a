// SPDX-License-Identifier: Apache-2.0
// Different strings with the same bits of their hashes, which no test meets by chance.
#include "raydex/core/lookups/key_table.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

namespace raydex::core {
namespace {

// Three strings of one size; the last two are equal.
class equal_hashes : public testing::Test {
 protected:
  static constexpr std::string_view bytes = "second strong, second string, second string, ";
  static constexpr std::array<std::uint64_t, 4> offsets{0, 15, 30, 45};

  key_words keys() const {
    key_cells all;
    all.bytes = bytes.data();
    all.offsets = offsets.data();
    all.wide_offsets = true;
    all.is_strings = true;
    all.size = offsets.size() - 1;
    return {all};
  }
  std::uint64_t hash(std::uint64_t i) const {
    string_slots::wanted none;
    return string_slots::read(keys(), i, mix_, none);
  }
  static std::uint64_t place(std::uint64_t i) {
    return offsets[i] << string_slots::size_bits | (offsets[i + 1] - offsets[i]);
  }
  // Looks for the second string.
  bool settles(const bucket_words& bucket, found_number& number) const {
    return slots_.settles(bucket, keys(), 1, hash(1), {}, number);
  }

  string_slots slots_{bytes.data(), bytes.data() + bytes.size(), offsets.data()};
  hash_function<std::uint64_t> mix_;
};

TEST_F(equal_hashes, are_no_equal_strings) {
  const std::uint64_t bits = hash(1) << 32;
  found_number number = 7;
  const bucket_words one{bits | 1, 0, 0, 0, place(0)};
  EXPECT_TRUE(settles(one, number));
  EXPECT_EQ(number, 0);
  const bucket_words two{bits | 1, bits | 2, 0, 0, place(0), place(1)};
  EXPECT_TRUE(settles(two, number));
  EXPECT_EQ(number, 2);
  const bucket_words full{bits | 1, bits | 1, bits | 1, bits | 1,
                          place(0), place(0), place(0), place(0)};
  EXPECT_FALSE(settles(full, number));
  EXPECT_EQ(number, 0);
}

TEST_F(equal_hashes, have_slots_of_their_own) {
  alignas(64) std::array<std::uint64_t, key_buckets::words> buckets{};
  std::vector<std::uint64_t> repeated(spread_count::size);
  std::vector<std::uint64_t> missing(spread_count::size);
  const claim_slots<string_slots> claims{
      keys(), {}, {buckets.data(), 1, mix_}, {repeated.data()}, {missing.data()}};
  buckets[0] = claim_of(hash(1), 0);  // as if the first string had that hash
  claims(2);
  EXPECT_EQ(buckets[1], claim_of(hash(1), 2));
  claims(1);
  EXPECT_EQ(buckets[0], claim_of(hash(1), 0));
  EXPECT_EQ(buckets[1], claim_of(hash(1), 1));
  EXPECT_EQ(buckets[2], 0);
  EXPECT_EQ(repeated[1], 1);
}

}  // namespace
}  // namespace raydex::core
