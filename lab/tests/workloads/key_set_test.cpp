// SPDX-License-Identifier: Apache-2.0
// Key sets: no key repeats, the share of drawn keys is as promised, rows are a permutation.
#include "lab/workloads/keys/key_set.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <vector>

#include "lab/tests/workloads/samples.hpp"
#include "raydex/error.hpp"

namespace raydex::bench {
namespace {

TEST(key_set, keys_do_not_repeat_and_stay_in_range) {
  for (const int bits : {32, 64}) {
    for (const double uniformity : {0.0, 1.0, 50.0, 99.0, 100.0}) {
      for (const std::uint64_t stride : {1u, 2u, 513u}) {
        workload spec = test::sized(20001, 0);
        spec.key_bits = bits;
        spec.uniformity = uniformity;
        spec.stride = stride;
        spec.value_bits = 31;
        const key_set keys = make_key_set(spec);
        std::set<std::uint64_t> seen;
        for (std::uint64_t i = 0; i < keys.distinct; ++i) {
          const std::uint64_t key = keys.key(i);
          EXPECT_EQ(key % stride, 0u);
          EXPECT_LT(key, std::uint64_t{1} << 31);
          seen.insert(key);
          ASSERT_EQ(keys.index_of(key), i);
        }
        EXPECT_EQ(seen.size(), 20001u);
      }
    }
  }
}

TEST(key_set, uniformity_is_the_share_of_drawn_keys) {
  for (const double uniformity : {0.0, 25.0, 50.0, 90.0, 100.0}) {
    workload spec = test::sized(40000, 0);
    spec.uniformity = uniformity;
    const key_set keys = make_key_set(spec);
    std::vector<std::uint64_t> all;
    for (std::uint64_t i = 0; i < keys.distinct; ++i)
      all.push_back(keys.key(i));
    std::sort(all.begin(), all.end());
    const auto dense = static_cast<std::size_t>(40000 * (1 - uniformity / 100));
    for (std::size_t i = 0; i < dense; ++i)
      ASSERT_EQ(all[i], i);
    // The rest is even: its median is the middle of the range, give or take six deviations.
    if (dense < all.size()) {
      const auto drawn = static_cast<double>(all.size() - dense);
      const double middle = static_cast<double>(all[dense + (all.size() - dense) / 2]) / 0x1p32;
      EXPECT_NEAR(middle, 0.5, 6 * 0.5 / std::sqrt(drawn));
    }
  }
}

TEST(key_set, may_fill_its_range) {
  workload spec = test::sized(1 << 14, 0);
  spec.value_bits = 14;
  const key_set keys = make_key_set(spec);
  std::set<std::uint64_t> seen;
  for (std::uint64_t i = 0; i < keys.distinct; ++i)
    seen.insert(keys.key(i));
  EXPECT_EQ(seen.size(), 1u << 14);
  EXPECT_EQ(*seen.rbegin(), (1u << 14) - 1);
}

TEST(key_set, finds_its_keys_and_no_others) {
  for (const double uniformity : {0.0, 40.0, 100.0}) {
    for (const std::uint64_t stride : {1u, 3u}) {
      workload spec = test::sized(300, 0);
      spec.uniformity = uniformity;
      spec.stride = stride;
      spec.value_bits = 12;
      const key_set keys = make_key_set(spec);
      std::map<std::uint64_t, std::uint64_t> index;
      for (std::uint64_t i = 0; i < keys.distinct; ++i)
        index[keys.key(i)] = i;
      for (std::uint64_t key = 0; key < 5000; ++key) {
        const auto found = index.find(key);
        ASSERT_EQ(keys.index_of(key), found == index.end() ? none : found->second) << key;
      }
      EXPECT_EQ(keys.index_of(~std::uint64_t{0}), none);
    }
  }
}

TEST(key_set, every_key_comes_equally_often) {
  for (const std::uint64_t multiplicity : {1u, 2u, 7u, 1024u}) {
    for (const std::uint64_t n : {1u, 6u, 7u, 1000u, 4096u}) {
      workload spec = test::sized(n, 0);
      spec.multiplicity = multiplicity;
      const key_set keys = make_key_set(spec);
      EXPECT_EQ(keys.distinct, (n + multiplicity - 1) / multiplicity);
      std::map<std::uint64_t, std::uint64_t> counts;
      std::set<std::uint64_t> rows;
      for (std::uint64_t slot = 0; slot < n; ++slot) {
        ++counts[keys.key_in(slot)];
        rows.insert(keys.row(slot));
      }
      EXPECT_EQ(counts.size(), keys.distinct);
      for (const auto& [key, count] : counts) {
        EXPECT_LE(count, multiplicity);
        EXPECT_GE(count, n / keys.distinct);
        EXPECT_EQ(count, keys.expected_count(key, key));
      }
      EXPECT_EQ(rows.size(), n);
      EXPECT_EQ(*rows.rbegin(), n - 1);
    }
  }
}

TEST(key_set, is_shuffled) {
  const key_set keys = make_key_set(test::sized(10000, 0));
  std::uint64_t in_place = 0;
  std::uint64_t ascents = 0;
  for (std::uint64_t slot = 0; slot + 1 < keys.n; ++slot) {
    in_place += keys.row(slot) == slot;
    ascents += keys.row(slot) < keys.row(slot + 1);
  }
  EXPECT_LT(in_place, 10u);
  EXPECT_NEAR(static_cast<double>(ascents), 5000, 6 * 29);  // deviation: sqrt(n / 12)
}

TEST(key_set, refuses_what_cannot_be_made) {
  const auto refused = [](auto change) {
    workload spec = test::sized(1000, 10);
    change(spec);
    EXPECT_THROW(make_key_set(spec), invalid_argument) << describe(spec);
  };
  refused([](workload& w) { w.key_bits = 16; });
  refused([](workload& w) { w.value_bits = 33; });
  refused([](workload& w) { w.value_bits = -1; });
  refused([](workload& w) { w.value_bits = 9; });
  refused([](workload& w) { w.value_bits = 12, w.stride = 5; });
  refused([](workload& w) { w.stride = 0; });
  refused([](workload& w) { w.stride = std::uint64_t{1} << 33; });
  refused([](workload& w) { w.multiplicity = 0; });
  refused([](workload& w) { w.uniformity = 101; });
  refused([](workload& w) { w.uniformity = -1; });
  refused([](workload& w) { w.keys = (std::uint64_t{1} << 32) + 1; });
}

}  // namespace
}  // namespace raydex::bench
