// SPDX-License-Identifier: Apache-2.0
// Lists of values become all their combinations; bad values, and those of keys, are named.
#include "lab/minima/family.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "lab/lookups/family.hpp"
#include "raydex/error.hpp"

namespace raydex::bench {
namespace {

TEST(rmq_sweep, nothing_given_is_the_default_workload) {
  const auto all = minima_family::sweep({});
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(all[0], rmq_workload{});
  EXPECT_EQ(describe(all[0]), "2^26 mixed ranges on 2^26 random float");
}

TEST(rmq_sweep, all_axes) {
  axes swept;
  swept.keys = {"2^10", "1000"};
  swept.probes = {"7"};
  swept.array = {"sawtooth", "lcp"};
  swept.period = {"10"};
  swept.values = {"float", "double", "int32", "uint32", "int64", "uint64"};
  swept.ranges = {"large", "medium", "small", "mixed"};
  swept.position_bits = {"64"};
  swept.changes = {"5"};
  swept.seed = {"9"};
  const auto all = minima_family::sweep(swept);
  ASSERT_EQ(all.size(), 2u * 2 * 6 * 4);
  EXPECT_EQ(describe(all[0]),
            "7 large ranges on 2^10 sawtooth float, period 10, 64-bit positions, 5 changes");
  EXPECT_EQ(describe(all.back()), "7 mixed ranges on 1000 lcp uint64, 64-bit positions, 5 changes");
  EXPECT_EQ(all.back().seed, 9u);
}

TEST(rmq_sweep, positions_are_as_wide_as_the_paper_has_them) {
  axes swept;
  swept.keys = {"2^30", "2147483647", "2^31"};
  const auto all = minima_family::sweep(swept);
  ASSERT_EQ(all.size(), 3u);
  EXPECT_EQ(all[0].position_bits, 32);
  EXPECT_EQ(all[1].position_bits, 32);
  EXPECT_EQ(all[2].position_bits, 64);
}

TEST(rmq_sweep, names_the_bad_value) {
  const auto refused = [](std::vector<std::string> axes::*axis, const char* value,
                          const std::string& reason) {
    axes swept;
    swept.*axis = {value};
    try {
      minima_family::sweep(swept);
      ADD_FAILURE() << "not refused: " << value;
    } catch (const invalid_argument& refusal) {
      EXPECT_NE(std::string(refusal.what()).find(reason), std::string::npos) << refusal.what();
    }
  };
  refused(&axes::keys, "many", "--keys");
  refused(&axes::keys, "0", "without values");
  refused(&axes::keys, "2^40", "2^38");
  refused(&axes::array, "file", "random, distinct");
  refused(&axes::array_file, "missing.npy", "missing.npy");
  refused(&axes::period, "0", "period");
  refused(&axes::values, "bytes4", "float, double, int32, uint32, int64, uint64");
  refused(&axes::ranges, "tiny", "large, medium, small, mixed");
  refused(&axes::position_bits, "16", "32 or 64");
  refused(&axes::changes, "2^27", "at most as many as ranges");
  refused(&axes::zipf, "1", "--zipf");
  refused(&axes::batches, "2", "--batches");
  EXPECT_THROW(minima_family::parse_results({"min", "sum"}), invalid_argument);
  EXPECT_EQ(minima_family::parse_results({"argmin", "min"}),
            (std::vector{rmq_result::argmin, rmq_result::min}));
}

TEST(rmq_sweep, keys_have_other_axes) {
  for (const auto axis : {&axes::array, &axes::array_file, &axes::period, &axes::values,
                          &axes::ranges, &axes::position_bits, &axes::changes}) {
    axes swept;
    swept.*axis = {"1"};
    EXPECT_THROW(lookup_family::sweep(swept), invalid_argument);
  }
}

}  // namespace
}  // namespace raydex::bench
