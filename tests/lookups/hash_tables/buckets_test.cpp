// SPDX-License-Identifier: Apache-2.0
// How entries lie in buckets, and which buckets a key may be in.
#include "raydex/core/lookups/hashing.hpp"

#include <gtest/gtest.h>

#include <set>
#include <unordered_set>

#include "src/structures/shared/hashed.hpp"
#include "tests/support/random.hpp"

namespace raydex::core {
namespace {

// No two slots share a word, and all words are those of the bucket.
template <class Key, class RowId, unsigned Bytes, bool Linked = false>
void check_layout(unsigned slots) {
  using buckets = hash_buckets<Key, RowId, Bytes, Linked>;
  EXPECT_EQ(buckets::slots, slots);
  std::set<unsigned> taken;
  for (unsigned slot = 0; slot < slots; ++slot) {
    EXPECT_EQ(buckets::key_word(slot) * 4 % sizeof(Key), 0);
    EXPECT_EQ(buckets::row_word(slot) * 4 % sizeof(RowId), 0);
    for (unsigned word = 0; word < sizeof(Key) / 4; ++word)
      EXPECT_TRUE(taken.insert(buckets::key_word(slot) + word).second);
    for (unsigned word = 0; word < sizeof(RowId) / 4; ++word)
      EXPECT_TRUE(taken.insert(buckets::row_word(slot) + word).second);
  }
  EXPECT_LT(*taken.rbegin(), Bytes / 4 - (Linked ? 1 : 0));
}

TEST(hash_buckets, have_a_place_for_each_slot) {
  check_layout<std::uint32_t, std::uint32_t, 64>(8);
  check_layout<std::uint64_t, std::uint32_t, 64>(5);
  check_layout<std::uint32_t, std::uint64_t, 64>(5);
  check_layout<std::uint64_t, std::uint64_t, 64>(4);
  check_layout<std::uint32_t, std::uint32_t, 128>(16);
  check_layout<std::uint64_t, std::uint32_t, 128>(10);
  check_layout<std::uint32_t, std::uint64_t, 128>(10);
  check_layout<std::uint64_t, std::uint64_t, 128>(8);
  check_layout<std::uint32_t, std::uint32_t, 128, true>(15);
  check_layout<std::uint64_t, std::uint32_t, 128, true>(10);
  check_layout<std::uint32_t, std::uint64_t, 128, true>(10);
  check_layout<std::uint64_t, std::uint64_t, 128, true>(7);
}

constexpr auto narrow_hash = hash_by<std::uint32_t>(3);
constexpr auto wide_hash = hash_by<std::uint64_t>(3);

TEST(hash_function, can_be_told_back) {
  auto random = test::generator();
  for (int i = 0; i < 1000; ++i) {
    const auto narrow = hash_by<std::uint32_t>(random());
    const auto wide = hash_by<std::uint64_t>(random());
    const std::uint64_t key = random();
    ASSERT_EQ(key_of(narrow, narrow(static_cast<std::uint32_t>(key))),
              static_cast<std::uint32_t>(key));
    ASSERT_EQ(key_of(wide, wide(key)), key);
  }
}

// Of 2^17 buckets, keys that share one by a function do not by another.
TEST(hash_function, crafted_keys_are_spread_by_others) {
  auto random = test::generator();
  constexpr std::uint32_t buckets = 1 << 17;
  for (int i = 0; i < 20; ++i) {
    const auto known = hash_by<std::uint64_t>(random());
    const auto other = hash_by<std::uint64_t>(random());
    std::unordered_set<std::uint32_t> met;
    for (std::uint64_t hash = 0; hash < 1000; ++hash)
      met.insert(home_of(other(key_of(known, hash)), buckets));
    EXPECT_GT(met.size(), 900);
  }
}

TEST(hash_function, gives_different_keys_different_numbers) {
  std::unordered_set<std::uint32_t> narrow;
  std::unordered_set<std::uint64_t> wide;
  for (std::uint32_t key = 0; key < 200'000; ++key) {
    narrow.insert(narrow_hash(key << 12 | key >> 20));
    wide.insert(wide_hash(std::uint64_t{key} << 40));
  }
  EXPECT_EQ(narrow.size(), 200'000);
  EXPECT_EQ(wide.size(), 200'000);
}

// Keys that lie in a pattern come into all buckets about equally often.
TEST(hash_function, spreads_patterns) {
  constexpr unsigned buckets = 1000;
  constexpr std::uint32_t keys = 100 * buckets;
  const bucket_sequence sequence{hash_placement::linear, buckets, buckets};
  for (const unsigned shift : {0U, 1U, 5U, 12U, 15U}) {
    std::vector<unsigned> narrow(buckets);
    std::vector<unsigned> wide(buckets);
    for (std::uint32_t key = 0; key < keys; ++key) {
      ++narrow[sequence.home(narrow_hash(key << shift))];
      ++wide[sequence.home(wide_hash(std::uint64_t{key} << 3 * shift))];
    }
    // Six standard deviations of 100 throws.
    EXPECT_GT(*std::min_element(narrow.begin(), narrow.end()), 40) << shift;
    EXPECT_LT(*std::max_element(narrow.begin(), narrow.end()), 160) << shift;
    EXPECT_GT(*std::min_element(wide.begin(), wide.end()), 40) << shift;
    EXPECT_LT(*std::max_element(wide.begin(), wide.end()), 160) << shift;
  }
}

// A sequence comes to every bucket within `count` steps, or one more.
TEST(bucket_sequence, comes_to_all_buckets) {
  auto random = test::generator();
  for (const hash_placement placement :
       {hash_placement::linear, hash_placement::jumps, hash_placement::choices}) {
    for (const std::uint32_t count : {1U, 2U, 3U, 7U, 101U}) {
      const bucket_sequence sequence{placement, count, count};
      for (int i = 0; i < 50; ++i) {
        const std::uint64_t hash = random();
        std::set<std::uint32_t> met;
        std::uint32_t bucket = sequence.home(hash);
        for (std::uint32_t step = 0; step <= count; ++step) {
          ASSERT_LT(bucket, count);
          met.insert(bucket);
          bucket = sequence.after(bucket, step, hash);
        }
        ASSERT_EQ(met.size(), count) << static_cast<int>(placement);
      }
    }
  }
}

TEST(prime, follows_a_number) {
  EXPECT_EQ(prime_from(0), 2);
  EXPECT_EQ(prime_from(2), 2);
  EXPECT_EQ(prime_from(8), 11);
  EXPECT_EQ(prime_from(121), 127);
  EXPECT_EQ(prime_from(4'294'967'000), 4'294'967'029);
}

}  // namespace
}  // namespace raydex::core
