// SPDX-License-Identifier: Apache-2.0
// Probes: the share of hits and the size of ranges are as promised, and misses are where they
// should be.
#include "lab/workloads/keys/probe_set.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <set>
#include <vector>

#include "lab/tests/workloads/samples.hpp"
#include "raydex/error.hpp"

namespace raydex::bench {
namespace {

constexpr std::uint64_t draws = 40000;

struct tally {
  std::uint64_t hits = 0;
  std::uint64_t smallest_miss = none;
  std::uint64_t largest_miss = 0;
};

tally draw(const workload& spec) {
  const zipf_table table = make_zipf_table(spec);
  const key_set keys = make_key_set(spec);
  const probe_set probes = make_probe_set(spec, keys, table.view());
  tally found;
  for (std::uint64_t j = 0; j < draws; ++j) {
    const std::uint64_t key = probes.lower(j);
    EXPECT_TRUE(spec.key_bits == 64 || key >> 32 == 0);
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
    workload spec = test::sized(5000, draws);
    spec.hit_rate = rate;
    const double share = rate / 100;
    const double deviation = std::sqrt(static_cast<double>(draws) * share * (1 - share));
    EXPECT_NEAR(static_cast<double>(draw(spec).hits), static_cast<double>(draws) * share,
                6 * deviation);
  }
}

TEST(probe_set, misses_inside_lie_between_the_keys) {
  workload spec = test::sized(5000, draws);
  spec.hit_rate = 0;
  spec.value_bits = 20;
  spec.uniformity = 50;
  tally found = draw(spec);
  EXPECT_EQ(found.hits, 0u);
  EXPECT_GE(found.smallest_miss, 2500u);
  EXPECT_LT(found.largest_miss, 1u << 20);

  spec.uniformity = 0;
  spec.stride = 2;
  found = draw(spec);
  EXPECT_EQ(found.hits, 0u);
  EXPECT_LT(found.largest_miss, 10000u);
}

TEST(probe_set, misses_outside_lie_beyond_the_keys) {
  workload spec = test::sized(5000, draws);
  spec.hit_rate = 0;
  spec.misses = miss::outside;
  spec.value_bits = 31;
  tally found = draw(spec);
  EXPECT_EQ(found.hits, 0u);
  EXPECT_GE(found.smallest_miss, std::uint64_t{1} << 31);
  EXPECT_GT(found.largest_miss, (std::uint64_t{1} << 32) - 1000000);

  spec.uniformity = 0;
  spec.value_bits = 0;
  found = draw(spec);
  EXPECT_EQ(found.hits, 0u);
  EXPECT_GE(found.smallest_miss, 5000u);
}

TEST(probe_set, hits_reach_all_keys) {
  const workload spec = test::sized(1000, draws);
  const key_set keys = make_key_set(spec);
  const probe_set probes = make_probe_set(spec, keys, {});
  std::set<std::uint64_t> seen;
  for (std::uint64_t j = 0; j < draws; ++j)
    seen.insert(probes.lower(j));
  EXPECT_EQ(seen.size(), 1000u);
}

TEST(probe_set, popular_keys_are_scattered) {
  workload spec = test::sized(1000, draws);
  spec.uniformity = 0;
  spec.zipf = 1;
  const zipf_table table = make_zipf_table(spec);
  const probe_set probes = make_probe_set(spec, make_key_set(spec), table.view());
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
      workload spec = test::sized(8192, 2000);
      spec.uniformity = 0;
      spec.stride = 5;
      spec.range_hits = hits;
      spec.multiplicity = multiplicity;
      const key_set keys = make_key_set(spec);
      const probe_set probes = make_probe_set(spec, keys, {});
      for (std::uint64_t j = 0; j < spec.probes; ++j) {
        const std::uint64_t lower = probes.lower(j);
        ASSERT_EQ(keys.expected_count(lower, lower + probes.span(j)), hits);
      }
    }
  }
}

// The rows of every range, the most first.
std::vector<std::uint64_t> range_sizes(const workload& spec) {
  const key_set keys = make_key_set(spec);
  const zipf_table table = make_zipf_table(spec);
  const probe_set probes = make_probe_set(spec, keys, table.view());
  std::vector<std::uint64_t> sizes;
  for (std::uint64_t j = 0; j < spec.probes; ++j) {
    const std::uint64_t lower = probes.lower(j);
    sizes.push_back(keys.expected_count(lower, lower + probes.span(j)));
  }
  std::ranges::sort(sizes, std::greater<>());
  return sizes;
}

TEST(probe_set, zipf_lengths_keep_their_average) {
  for (const std::uint64_t hits : {4u, 16u, 256u}) {
    workload spec = test::sized(std::uint64_t{1} << 20, 5000);
    spec.uniformity = 0;
    spec.range_hits = hits;
    spec.range_lengths = lengths::zipf;
    const std::vector<std::uint64_t> sizes = range_sizes(spec);
    for (std::size_t r = 1; r <= sizes.size(); ++r) {
      const std::uint64_t longest = sizes.front();
      ASSERT_EQ(sizes[r - 1], std::max<std::uint64_t>(longest / r, 1)) << r;
    }
    const auto total = static_cast<double>(std::reduce(sizes.begin(), sizes.end()));
    const auto wanted = static_cast<double>(hits * spec.probes);
    EXPECT_LE(total, wanted);
    EXPECT_GT(total, wanted * 0.99);
    spec.multiplicity = 4;
    std::vector<std::uint64_t> whole = range_sizes(spec);
    EXPECT_TRUE(std::ranges::all_of(whole, [](std::uint64_t size) { return size % 4 == 0; }));
  }
}

TEST(probe_set, zipf_lengths_end_at_the_column) {
  workload spec = test::sized(1000, 3);
  spec.uniformity = 0;
  spec.range_hits = 700;
  spec.range_lengths = lengths::zipf;
  const std::vector<std::uint64_t> sizes = range_sizes(spec);
  EXPECT_EQ(sizes[0], 1000u);
  EXPECT_EQ(sizes[1] + sizes[2], 1100u);  // 660 and 440 of 1321
}

TEST(probe_set, one_range_is_a_giant) {
  workload spec = test::sized(8192, 300);
  spec.uniformity = 0;
  spec.range_hits = 4;
  spec.giant_range = 50;
  std::vector<std::uint64_t> sizes = range_sizes(spec);
  EXPECT_EQ(sizes[0], 4096u);
  EXPECT_EQ(sizes[1], 4u);
  EXPECT_EQ(sizes.back(), 4u);
  spec.giant_range = 100;
  EXPECT_EQ(range_sizes(spec).front(), 8192u);
  spec.giant_range = 1e-9;
  EXPECT_EQ(range_sizes(spec).back(), 1u);
}

TEST(probe_set, one_point_asks_for_the_heavy_key) {
  for (const double hit_rate : {100.0, 1.0}) {
    workload spec = test::sized(100000, 50);
    spec.heavy_key = 50;
    spec.hit_rate = hit_rate;
    const std::vector<std::uint64_t> sizes = range_sizes(spec);
    EXPECT_EQ(sizes[0], 50001u);  // and once as all keys
    EXPECT_LE(sizes[1], 1u);
  }
}

TEST(probe_set, refuses_what_cannot_be_made) {
  const auto refused = [](auto change, const std::string& reason) {
    workload spec = test::sized(1000, 10);
    change(spec);
    try {
      check(spec);
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
  refused([](workload& w) { w.range_lengths = lengths::zipf; }, "without ranges");
  refused([](workload& w) { w.giant_range = 50; }, "without ranges");
  const auto uneven = [&](auto change, const std::string& reason) {
    refused([&](workload& w) { w.range_hits = 4, w.uniformity = 0, change(w); }, reason);
  };
  uneven([](workload& w) { w.giant_range = 101; }, "0 to 100");
  uneven([](workload& w) { w.giant_range = -1; }, "0 to 100");
  uneven([](workload& w) { w.giant_range = 5, w.probe_order = order::sorted; }, "must be unsorted");
  uneven([](workload& w) { w.range_lengths = lengths::zipf, w.probe_order = order::sorted; },
         "must be unsorted");
  refused([](workload& w) { w.heavy_key = 101; }, "heavy key");
  refused([](workload& w) { w.heavy_key = std::nan(""); }, "heavy key");
  refused([](workload& w) { w.threads = 1025; }, "threads");
  refused([](workload& w) { w.range_hits = 5, w.uniformity = 0, w.multiplicity = 2; }, "multiple");
  refused([](workload& w) { w.range_hits = 1001, w.uniformity = 0; }, "at most");
  refused([](workload& w) { w.range_hits = 4, w.uniformity = 0, w.hit_rate = 50, w.stride = 2; },
          "must be 100");
}

}  // namespace
}  // namespace raydex::bench
