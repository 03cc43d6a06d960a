// SPDX-License-Identifier: Apache-2.0
// Distributions of keys: each has its shape, repeats no key, and knows every key's index.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "lab/tests/workloads/samples.hpp"
#include "lab/workloads/keys/probe_set.hpp"
#include "raydex/error.hpp"

namespace raydex::bench {
namespace {

constexpr distribution shapes[] = {distribution::clumped, distribution::skewed,
                                   distribution::lognormal, distribution::steps};

workload shaped(distribution shape, std::uint64_t keys, int bits = 32) {
  workload spec = test::sized(keys, 10);
  spec.shape = shape;
  spec.key_bits = bits;
  return spec;
}

// A key set with its parts.
struct drawn_keys {
  explicit drawn_keys(const workload& spec) : parts(make_key_parts(spec)), set(make_key_set(spec)) {
    set.parts = parts.data();
    set.part_count = parts.size();
  }
  drawn_keys(const drawn_keys&) = delete;
  drawn_keys& operator=(const drawn_keys&) = delete;
  ~drawn_keys() = default;

  std::vector<std::uint64_t> sorted() const {
    std::vector<std::uint64_t> all;
    for (std::uint64_t i = 0; i < set.distinct; ++i)
      all.push_back(set.key(i));
    std::sort(all.begin(), all.end());
    return all;
  }

  std::vector<key_part> parts;
  key_set set;
};

TEST(distribution, keys_do_not_repeat_and_are_found_again) {
  for (const distribution shape : shapes) {
    for (const int bits : {32, 64}) {
      for (const std::uint64_t stride : {1u, 2u, 513u}) {
        for (const std::uint64_t n : {1u, 2u, 63u, 64u, 65u, 20001u}) {
          workload spec = shaped(shape, n, bits);
          spec.stride = stride;
          SCOPED_TRACE(describe(spec));
          const drawn_keys keys(spec);
          std::set<std::uint64_t> seen;
          for (std::uint64_t i = 0; i < n; ++i) {
            const std::uint64_t key = keys.set.key(i);
            EXPECT_EQ(key % stride, 0u);
            EXPECT_TRUE(bits == 64 || key >> 32 == 0);
            ASSERT_EQ(keys.set.index_of(key), i);
            seen.insert(key);
          }
          EXPECT_EQ(seen.size(), n);
        }
      }
    }
  }
}

TEST(distribution, finds_its_keys_and_no_others) {
  for (const distribution shape : shapes) {
    for (const std::uint64_t stride : {1u, 3u}) {
      workload spec = shaped(shape, 300);
      spec.stride = stride;
      spec.value_bits = 12;
      SCOPED_TRACE(describe(spec));
      const drawn_keys keys(spec);
      std::map<std::uint64_t, std::uint64_t> index;
      for (std::uint64_t i = 0; i < keys.set.distinct; ++i)
        index[keys.set.key(i)] = i;
      ASSERT_EQ(index.size(), 300u);
      EXPECT_LT(index.rbegin()->first, 4096u);
      for (std::uint64_t key = 0; key < 5000; ++key) {
        const auto found = index.find(key);
        ASSERT_EQ(keys.set.index_of(key), found == index.end() ? none : found->second) << key;
        ASSERT_EQ(keys.set.expected_count(key, key), found == index.end() ? 0u : 1u);
      }
      EXPECT_EQ(keys.set.index_of(none), none);
    }
  }
}

TEST(distribution, parts_cover_the_range_and_are_at_most_half_full) {
  const auto expect_parts = [](const workload& spec) {
    SCOPED_TRACE(describe(spec));
    const drawn_keys keys(spec);
    std::uint64_t index = 0;
    std::uint64_t value = 0;
    for (const key_part& part : keys.parts) {
      ASSERT_EQ(part.first_index, index);
      ASSERT_EQ(part.first_value, value);
      ASSERT_LE(part.keys, part.last / 2 + part.last % 2);
      index += part.keys;
      value += part.last + 1;
    }
    if (keys.parts.empty()) return;
    EXPECT_EQ(index, spec.keys);
    EXPECT_EQ(value - 1, keys.set.last_value);
  };
  for (const distribution shape : shapes) {
    for (int bits = 8; bits <= 11; ++bits) {
      for (std::uint64_t n = 0; n < std::uint64_t{1} << (bits - 2); ++n) {
        workload spec = shaped(shape, n);
        spec.value_bits = bits;
        expect_parts(spec);
      }
    }
    for (const int bits : {32, 64}) {
      for (int power = 0; power <= bits - 3; ++power) {
        expect_parts(shaped(shape, std::uint64_t{1} << power, bits));
        expect_parts(shaped(shape, (std::uint64_t{1} << power) + 1, bits));
      }
    }
  }
}

TEST(distribution, clumps_are_runs_of_64_at_random_places) {
  const auto keys = drawn_keys(shaped(distribution::clumped, 64 * 1000)).sorted();
  std::uint64_t below_the_middle = 0;
  std::uint64_t wide = 0;
  for (std::size_t i = 0; i < keys.size(); i += 64) {
    for (std::size_t j = 1; j < 64; ++j)
      ASSERT_EQ(keys[i + j], keys[i] + j);
    below_the_middle += keys[i] >> 31 == 0;
    wide += i != 0 && keys[i] - keys[i - 1] > 100'000;  // the mean gap is 4 million
  }
  EXPECT_NEAR(static_cast<double>(below_the_middle), 500, 6 * std::sqrt(250));
  EXPECT_GT(wide, 900u);
}

TEST(distribution, skewed_keys_lie_in_a_hundredth_of_the_range) {
  for (const int bits : {32, 64}) {
    const drawn_keys made(shaped(distribution::skewed, 100'000, bits));
    const auto keys = made.sorted();
    const std::uint64_t last = ~std::uint64_t{0} >> (64 - bits);
    EXPECT_LT(keys[89'999], last / 100);
    EXPECT_GE(keys[90'000], last / 100);
    // Both parts are even: their medians are their middles, give or take six deviations.
    EXPECT_NEAR(static_cast<double>(keys[45'000]) / (static_cast<double>(last) / 100), 0.5, 0.01);
    EXPECT_NEAR(static_cast<double>(keys[95'000]) / static_cast<double>(last), 0.505, 0.03);
  }
  // If 1 % of the range would be more than half full, the keys lie as densely as allowed.
  const drawn_keys many(shaped(distribution::skewed, std::uint64_t{1} << 26));
  EXPECT_EQ(many.parts[0].keys, (std::uint64_t{1} << 26) - (std::uint64_t{1} << 26) / 10);
  EXPECT_EQ(many.parts[0].last + 1, 2 * many.parts[0].keys);
}

TEST(distribution, logarithms_of_lognormal_keys_are_normal) {
  for (const int bits : {32, 64}) {
    const auto keys = drawn_keys(shaped(distribution::lognormal, 200'000, bits)).sorted();
    const auto sigmas = [&](double share) {
      const auto key =
          static_cast<double>(keys[static_cast<std::size_t>(share * static_cast<double>(200'000))]);
      return std::log(key / std::pow(2.0, bits)) + 3;
    };
    EXPECT_NEAR(sigmas(0.0228), -2, 0.05);
    EXPECT_NEAR(sigmas(0.1587), -1, 0.03);
    EXPECT_NEAR(sigmas(0.5), 0, 0.03);
    EXPECT_NEAR(sigmas(0.8413), 1, 0.03);
    EXPECT_NEAR(sigmas(0.9772), 2, 0.05);
  }
}

TEST(distribution, steps_double) {
  for (const int bits : {32, 64}) {
    const std::uint64_t n = std::uint64_t{1} << 16;
    const drawn_keys made(shaped(distribution::steps, n, bits));
    const auto& parts = made.parts;
    ASSERT_GT(parts.size(), bits == 32 ? 15u : 45u);
    for (std::size_t i = 0; i < parts.size(); ++i) {
      EXPECT_NEAR(static_cast<double>(parts[i].keys),
                  static_cast<double>(n) / static_cast<double>(parts.size()), 1);
      if (i != 0 && i + 1 != parts.size()) {
        EXPECT_EQ(parts[i].last + 1, 2 * (parts[i - 1].last + 1));
      }
    }
    // A straight line through the range misses the median's rank by nearly half of all keys.
    const double line = static_cast<double>(made.sorted()[n / 2]) / std::pow(2.0, bits);
    EXPECT_LT(line, 0.01);
  }
}

TEST(distribution, misses_lie_as_the_keys_do) {
  for (const distribution shape : shapes) {
    for (const int bits : {32, 64}) {
      workload spec = shaped(shape, 5000, bits);
      spec.hit_rate = 0;
      SCOPED_TRACE(describe(spec));
      const drawn_keys keys(spec);
      const probe_set probes = make_probe_set(spec, keys.set, {});
      constexpr std::uint64_t draws = 20000;
      const std::uint64_t middle = keys.sorted()[2500];
      std::set<std::uint64_t> seen;
      std::uint64_t low = 0;
      for (std::uint64_t j = 0; j < draws; ++j) {
        const std::uint64_t key = probes.lower(j);
        ASSERT_EQ(keys.set.index_of(key), none);
        ASSERT_LE(key, keys.set.last_value);
        low += key < middle;
        seen.insert(key);
      }
      EXPECT_GT(seen.size(), draws / 4);
      // Half of the misses, give or take six deviations of the median of the drawn keys only.
      const double units = shape == distribution::clumped ? 5000.0 / 64 : 5000.0;
      EXPECT_NEAR(static_cast<double>(low) / draws, 0.5, 6 * 0.5 / std::sqrt(units) + 0.02);
    }
  }
}

TEST(distribution, hit_rates_and_skew_hold) {
  for (const distribution shape : shapes) {
    workload spec = shaped(shape, 5000);
    spec.hit_rate = 70;
    spec.zipf = 1;
    const zipf_table table = make_zipf_table(spec);
    const drawn_keys keys(spec);
    const probe_set probes = make_probe_set(spec, keys.set, table.view());
    std::uint64_t hits = 0;
    for (std::uint64_t j = 0; j < 40000; ++j)
      hits += keys.set.index_of(probes.lower(j)) != none;
    EXPECT_NEAR(static_cast<double>(hits), 28000, 6 * std::sqrt(8400));
  }
}

TEST(distribution, refuses_what_cannot_be_made) {
  const auto refused = [](auto change, const std::string& reason) {
    for (const distribution shape : shapes) {
      workload spec = shaped(shape, 1000);
      change(spec);
      try {
        check(spec);
        ADD_FAILURE() << "not refused: " << describe(spec);
      } catch (const invalid_argument& refusal) {
        EXPECT_NE(std::string(refusal.what()).find(reason), std::string::npos) << refusal.what();
      }
    }
  };
  refused([](workload& w) { w.uniformity = 50; }, "must be 100");
  refused([](workload& w) { w.uniformity = 0, w.range_hits = 4; }, "ranges need dense keys");
  refused([](workload& w) { w.value_bits = 11; }, "a quarter");
  refused([](workload& w) { w.keys = std::uint64_t{1} << 31; }, "a quarter");
  workload small = shaped(distribution::clumped, 1);
  small.value_bits = 5;
  EXPECT_THROW(check(small), invalid_argument);
}

}  // namespace
}  // namespace raydex::bench
