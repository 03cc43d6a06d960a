// SPDX-License-Identifier: Apache-2.0
// Lists of values become all their combinations; bad values are named.
#include "lab/lookups/family.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "raydex/error.hpp"

namespace raydex::bench {
namespace {

TEST(sweep, nothing_given_is_the_default_workload) {
  const auto all = lookup_family::sweep({});
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(describe(all[0]), "2^27 points on 2^26 32-bit keys");
}

TEST(sweep, multiplies_lists) {
  axes swept;
  swept.keys = {"2^10", "1000"};
  swept.probes = {"7"};
  swept.key_bits = {"32", "64"};
  swept.zipf = {"0", "0.25", "1"};
  const auto all = lookup_family::sweep(swept);
  ASSERT_EQ(all.size(), 12u);
  EXPECT_EQ(all[0].keys, 1024u);
  EXPECT_EQ(all[1].keys, 1000u);
  EXPECT_EQ(all.back().key_bits, 64);
  EXPECT_EQ(all.back().zipf, 1);
}

TEST(sweep, ranges_are_on_dense_keys_unless_told_otherwise) {
  axes swept;
  swept.range_hits = {"0", "16"};
  const auto all = lookup_family::sweep(swept);
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(all[0].uniformity, 100);
  EXPECT_EQ(all[1].uniformity, 0);
  swept.uniformity = {"100"};
  EXPECT_THROW(lookup_family::sweep(swept), invalid_argument);
}

TEST(sweep, all_axes) {
  axes swept;
  swept.batches = {"4"};
  swept.uniformity = {"12.5"};
  swept.stride = {"2^3"};
  swept.value_bits = {"31"};
  swept.multiplicity = {"2"};
  swept.insert_order = {"sorted"};
  swept.probe_order = {"sorted"};
  swept.hit_rate = {"90"};
  swept.miss = {"outside"};
  swept.seed = {"99"};
  const auto all = lookup_family::sweep(swept);
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(describe(all[0]),
            "2^27 points on 2^26 32-bit keys, uniformity 12.5 %, stride 8, value bits 31, each 2 "
            "times, inserts sorted, probes sorted, hits 90 %, misses outside, 4 batches");
  EXPECT_EQ(all[0].seed, 99u);
}

TEST(sweep, lengths_of_ranges) {
  axes swept;
  swept.range_hits = {"16"};
  swept.range_lengths = {"even", "zipf"};
  swept.giant_range = {"0", "12.5"};
  swept.heavy_key = {"50"};
  swept.threads = {"8"};
  const auto all = lookup_family::sweep(swept);
  ASSERT_EQ(all.size(), 4u);
  EXPECT_EQ(
      describe(all[0]),
      "2^27 ranges of 16 rows on 2^26 32-bit keys, dense, one has 50 % of the rows, 8 threads");
  EXPECT_EQ(describe(all[3]),
            "2^27 ranges of 16 rows on 2^26 32-bit keys, dense, one has 50 % of the rows, zipf "
            "lengths, one range of 12.5 % of the rows, 8 threads");
  EXPECT_TRUE(
      to_options(all[3]).ends_with(" --heavy-key 50 --range-hits 16 --range-lengths zipf "
                                   "--giant-range 12.5 --threads 8 --seed 1"));
}

TEST(sweep, distributions) {
  axes swept;
  swept.distribution = {"uniform", "clumped", "skewed", "lognormal", "steps"};
  const auto all = lookup_family::sweep(swept);
  ASSERT_EQ(all.size(), 5u);
  EXPECT_EQ(describe(all[0]), describe(workload{}));
  EXPECT_EQ(describe(all[4]), "2^27 points on 2^26 32-bit keys, steps");
  EXPECT_FALSE(all[0] == all[1]);
}

TEST(sweep, waves) {
  axes swept;
  swept.keys = {"1000"};
  swept.waves = {"0", "7"};
  swept.growth = {"2.2", "1.5"};
  const auto all = lookup_family::sweep(swept);
  ASSERT_EQ(all.size(), 4u);
  EXPECT_EQ(describe(all[3]),
            "2^27 points on 1000 32-bit keys, 7 waves to 1.5 times as many and back");
  EXPECT_EQ(keys_after(all[0], 0), 1000u);
  std::vector<std::uint64_t> sizes;
  for (std::uint64_t wave = 0; wave <= 14; ++wave)
    sizes.push_back(keys_after(all[3], wave));
  EXPECT_EQ(sizes, (std::vector<std::uint64_t>{1000, 1071, 1142, 1214, 1285, 1357, 1428, 1500, 1428,
                                               1357, 1285, 1214, 1142, 1071, 1000}));

  swept.waves = {"2"};
  const auto refused = [&](std::vector<std::string> axes::*axis, const char* value) {
    axes bad = swept;
    bad.*axis = {value};
    EXPECT_THROW(lookup_family::sweep(bad), invalid_argument) << value;
  };
  refused(&axes::waves, "1025");
  refused(&axes::waves, "501");  // there are 500 keys to insert
  refused(&axes::growth, "1");
  refused(&axes::growth, "nan");
  refused(&axes::growth, "many");
  refused(&axes::keys, "2^31");  // row ids
  refused(&axes::multiplicity, "2");
  refused(&axes::heavy_key, "50");
  refused(&axes::uniformity, "50");
  refused(&axes::distribution, "skewed");
  refused(&axes::value_bits, "10");  // room for the first keys alone
}

TEST(sweep, given_axes_replace_others) {
  axes all;
  all.keys = {"10", "20"};
  all.zipf = {"1"};
  axes swept;
  swept.keys = {"30"};
  swept.probes = {"7"};
  replace(all, swept);
  EXPECT_EQ(all.keys, std::vector<std::string>{"30"});
  EXPECT_EQ(all.probes, std::vector<std::string>{"7"});
  EXPECT_EQ(all.zipf, std::vector<std::string>{"1"});
}

TEST(sweep, names_the_bad_value) {
  const auto refused = [](std::vector<std::string> axes::*axis, const char* value,
                          const std::string& reason) {
    axes swept;
    swept.*axis = {value};
    try {
      lookup_family::sweep(swept);
      ADD_FAILURE() << "not refused: " << value;
    } catch (const invalid_argument& refusal) {
      EXPECT_NE(std::string(refusal.what()).find(reason), std::string::npos) << refusal.what();
    }
  };
  for (const char* value :
       {"", "x", "-1", "1.5", "2^", "2^64", "2^-1", " 1", "1 ", "99999999999999999999"}) {
    refused(&axes::keys, value, "--keys");
  }
  refused(&axes::key_bits, "31", "key bits");
  refused(&axes::key_bits, "x", "--key-bits");
  refused(&axes::zipf, "1x", "--zipf");
  refused(&axes::zipf, "inf", "zipf");
  refused(&axes::insert_order, "random", "unsorted, sorted");
  refused(&axes::range_lengths, "odd", "even, zipf");
  refused(&axes::miss, "above", "inside, outside");
  refused(&axes::distribution, "normal", "uniform, clumped, skewed, lognormal, steps");
  EXPECT_THROW(lookup_family::parse_results({"sum", "max"}), invalid_argument);
  EXPECT_EQ(lookup_family::parse_results({"rows", "first"}),
            (std::vector{result::rows, result::first}));
}

}  // namespace
}  // namespace raydex::bench
