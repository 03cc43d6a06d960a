// SPDX-License-Identifier: Apache-2.0
// Probes: the share of hits and the size of ranges are as promised, and misses are where they
// should be.
#include "bench/workloads/keys/probe_set.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <vector>

#include "raydex/error.hpp"
#include "tests/workloads/samples.hpp"

namespace raydex::bench {
namespace {

constexpr std::uint64_t draws = 40000;

struct tally {
  std::uint64_t hits = 0;
  std::uint64_t smallest_miss = none;
  std::uint64_t largest_miss = 0;
};

tally draw(const workload& what) {
  const zipf_table table = make_zipf_table(what);
  const key_set keys = make_key_set(what);
  const probe_set probes = make_probe_set(what, keys, table.view());
  tally found;
  for (std::uint64_t j = 0; j < draws; ++j) {
    const std::uint64_t key = probes.lower(j);
    EXPECT_TRUE(what.key_bits == 64 || key >> 32 == 0);
    if (keys.index_of(key) != none) {
      ++found.hits;
    } else {
      found.smallest_miss = std::min(found.smallest_miss, key);
      found.largest_miss = std::max(found.largest_miss, key);
    }
  }
  return found;
}

TEST(probe_set, hit_rate) {
  for (const double rate : {100.0, 99.0, 90.0, 70.0, 50.0, 30.0, 10.0, 1.0, 0.0}) {
    workload what = test::sized(5000, draws);
    what.hit_rate = rate;
    const double share = rate / 100;
    const double deviation = std::sqrt(static_cast<double>(draws) * share * (1 - share));
    EXPECT_NEAR(static_cast<double>(draw(what).hits), static_cast<double>(draws) * share,
                6 * deviation);
  }
}

TEST(probe_set, misses_inside_lie_between_the_keys) {
  workload what = test::sized(5000, draws);
  what.hit_rate = 0;
  what.value_bits = 20;
  what.uniformity = 50;
  tally found = draw(what);
  EXPECT_EQ(found.hits, 0u);
  EXPECT_GE(found.smallest_miss, 2500u);
  EXPECT_LT(found.largest_miss, 1u << 20);

  what.uniformity = 0;
  what.stride = 2;
  found = draw(what);
  EXPECT_EQ(found.hits, 0u);
  EXPECT_LT(found.largest_miss, 10000u);
}

TEST(probe_set, misses_outside_lie_beyond_the_keys) {
  workload what = test::sized(5000, draws);
  what.hit_rate = 0;
  what.misses = miss::outside;
  what.value_bits = 31;
  tally found = draw(what);
  EXPECT_EQ(found.hits, 0u);
  EXPECT_GE(found.smallest_miss, std::uint64_t{1} << 31);
  EXPECT_GT(found.largest_miss, (std::uint64_t{1} << 32) - 1000000);

  what.uniformity = 0;
  what.value_bits = 0;
  found = draw(what);
  EXPECT_EQ(found.hits, 0u);
  EXPECT_GE(found.smallest_miss, 5000u);
}

TEST(probe_set, hits_reach_all_keys) {
  const workload what = test::sized(1000, draws);
  const key_set keys = make_key_set(what);
  const probe_set probes = make_probe_set(what, keys, {});
  std::set<std::uint64_t> seen;
  for (std::uint64_t j = 0; j < draws; ++j)
    seen.insert(probes.lower(j));
  EXPECT_EQ(seen.size(), 1000u);
}

TEST(probe_set, popular_keys_are_scattered) {
  workload what = test::sized(1000, draws);
  what.uniformity = 0;
  what.zipf = 1;
  const zipf_table table = make_zipf_table(what);
  const probe_set probes = make_probe_set(what, make_key_set(what), table.view());
  std::vector<std::uint64_t> counts(1000);
  for (std::uint64_t j = 0; j < draws; ++j)
    ++counts.at(probes.lower(j));
  std::vector<std::size_t> by_popularity(1000);
  for (std::size_t i = 0; i < 1000; ++i)
    by_popularity[i] = i;
  std::sort(by_popularity.begin(), by_popularity.end(),
            [&](std::size_t a, std::size_t b) { return counts[a] > counts[b]; });
  const auto top = static_cast<double>(counts[by_popularity[0]]);
  EXPECT_NEAR(top, static_cast<double>(draws) / 7.485,
              6 * std::sqrt(static_cast<double>(draws) / 7.485));
  std::uint64_t near = 0;
  for (std::size_t i = 0; i < 20; ++i)
    near += by_popularity[i] < 100;
  EXPECT_LT(near, 12u);
}

TEST(probe_set, ranges_hold_the_promised_rows) {
  for (const std::uint64_t hits : {1u, 4u, 1024u}) {
    for (const std::uint64_t multiplicity : {1u, 4u}) {
      if (hits < multiplicity) continue;
      workload what = test::sized(8192, 2000);
      what.uniformity = 0;
      what.stride = 5;
      what.range_hits = hits;
      what.multiplicity = multiplicity;
      const key_set keys = make_key_set(what);
      const probe_set probes = make_probe_set(what, keys, {});
      for (std::uint64_t j = 0; j < what.probes; ++j) {
        const std::uint64_t lower = probes.lower(j);
        ASSERT_EQ(keys.expected_count(lower, lower + probes.span), hits);
      }
    }
  }
}

TEST(probe_set, refuses_what_cannot_be_made) {
  const auto refused = [](auto change, const std::string& reason) {
    workload what = test::sized(1000, 10);
    change(what);
    try {
      check(what);
      ADD_FAILURE() << "not refused: " << reason;
    } catch (const invalid_argument& refusal) {
      EXPECT_NE(std::string(refusal.what()).find(reason), std::string::npos) << refusal.what();
    }
  };
  refused([](workload& w) { w.uniformity = 0, w.hit_rate = 99; }, "leave no gaps");
  refused([](workload& w) { w.keys = 1024, w.value_bits = 10, w.hit_rate = 50; }, "fill it");
  refused([](workload& w) { w.misses = miss::outside, w.hit_rate = 50; }, "fewer value bits");
  refused([](workload& w) { w.keys = 0; }, "without keys");
  refused([](workload& w) { w.keys = 0, w.hit_rate = 0; }, "use outside");
  refused([](workload& w) { w.hit_rate = 101; }, "hit rate");
  refused([](workload& w) { w.zipf = -1; }, "zipf");
  refused([](workload& w) { w.zipf = std::nan(""); }, "zipf");
  refused([](workload& w) { w.batches = 0; }, "batches");
  refused([](workload& w) { w.batches = 11; }, "batches");
  refused([](workload& w) { w.probes = (std::uint64_t{1} << 48) + 1; }, "at most 2^48");
  refused([](workload& w) { w.probes = ~std::uint64_t{0}; }, "at most 2^48");
  refused([](workload& w) { w.key_bits = 64, w.keys = std::uint64_t{1} << 62; }, "at most 2^48");
  refused([](workload& w) { w.range_hits = 4; }, "uniformity");
  refused([](workload& w) { w.range_hits = 5, w.uniformity = 0, w.multiplicity = 2; }, "multiple");
  refused([](workload& w) { w.range_hits = 1001, w.uniformity = 0; }, "at most");
  refused([](workload& w) { w.range_hits = 4, w.uniformity = 0, w.hit_rate = 50, w.stride = 2; },
          "must be 100");
}

}  // namespace
}  // namespace raydex::bench
