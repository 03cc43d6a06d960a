// SPDX-License-Identifier: Apache-2.0
// What is advised, given what was measured.
#include "raydex/advise.hpp"

#include <gtest/gtest.h>

#include "tests/choice/offers.hpp"

namespace raydex {
namespace {

using test::expect_error;
using test::offer;
using test::row;
using test::table_of;

constexpr std::uint64_t two_to(int power) {
  return std::uint64_t{1} << power;
}

bool mentions(const advice& advised, const std::string& text) {
  return advised.reason.find(text) != std::string::npos;
}

// --- The built-in measurements lead to the same advice as section 6.1 of the lightweight paper.

class built_in_advice : public testing::Test {
 protected:
  std::string structure(use_case what) const {
    what.where = backend::cuda;
    return advise(what, speed_table::built_in(), lightweight).structure;
  }
  const std::vector<capability> lightweight{offer("sorted_array", backend::cuda),
                                            offer("eytzinger", backend::cuda),
                                            offer("pivot_tree", backend::cuda)};
};

TEST_F(built_in_advice, takes_a_tree_over_sorted_entries_for_large_columns) {
  for (const int power : {24, 26, 28, 31}) {
    EXPECT_EQ(structure({.n = two_to(power)}), "pivot_tree") << power;
    EXPECT_EQ(structure({.n = two_to(power), .ordered = true}), "pivot_tree") << power;
    EXPECT_EQ(structure({.n = two_to(power), .range_hits = 16}), "pivot_tree") << power;
  }
}

TEST_F(built_in_advice, takes_keys_as_a_tree_for_large_columns_where_memory_allows_no_other) {
  EXPECT_EQ(structure({.n = two_to(28), .memory_limit = 8 * two_to(28)}), "eytzinger");
  EXPECT_EQ(structure({.n = two_to(24), .memory_limit = 8 * two_to(24)}), "sorted_array");
}

TEST_F(built_in_advice, takes_sorted_entries_for_small_ranges_in_little_memory) {
  EXPECT_EQ(structure({.n = two_to(26), .range_hits = 4, .memory_limit = 8 * two_to(26)}),
            "sorted_array");
}

// --- That section's tree itself, for an L2 of 72 MB.

advice by_paper(const use_case& what) {
  return lightweight_advice(what, 72'000'000);
}

TEST(lightweight_advice, takes_eytzingers_order_unless_something_asks_for_the_ascending_one) {
  EXPECT_EQ(by_paper({.n = 9'000'000}).structure, "eytzinger");
  EXPECT_EQ(by_paper({.n = two_to(28)}).structure, "eytzinger");
  EXPECT_EQ(by_paper({.n = two_to(28), .memory_limit = 1}).structure, "eytzinger");
  EXPECT_EQ(by_paper({.n = 1000, .ordered = true}).structure, "sorted_array");
  EXPECT_EQ(by_paper({.n = 1000, .range_hits = 16}).structure, "sorted_array");
  EXPECT_EQ(by_paper({.n = 1000, .updates = true}).structure, "sorted_array");
}

TEST(lightweight_advice, takes_nodes_of_eight_keys_beyond_the_l2) {
  EXPECT_EQ(by_paper({.n = 9'000'000}).options.at("k"), "2");
  EXPECT_EQ(by_paper({.n = 9'000'001}).options.at("k"), "9");
  const auto k_of_doubles = [](std::uint64_t n) {
    return by_paper({.n = n, .key = format_of<double>}).options.at("k");
  };
  EXPECT_EQ(k_of_doubles(6'000'000), "2");
  EXPECT_EQ(k_of_doubles(6'000'001), "9");
}

TEST(lightweight_advice, takes_pivots_beyond_the_l2_never_with_binary_search) {
  for (const use_case& what :
       {use_case{.n = two_to(28), .ordered = true}, use_case{.n = two_to(28), .range_hits = 16},
        use_case{.n = two_to(28), .updates = true}}) {
    const advice advised = by_paper(what);
    EXPECT_EQ(advised.structure, "pivot_tree");
    EXPECT_EQ(advised.options.at("search"), "groups");
    EXPECT_EQ(advised.options.at("k"), "9");
  }
}

TEST(lightweight_advice, takes_no_pivots_in_the_least_memory) {
  EXPECT_EQ(by_paper({.n = two_to(28), .ordered = true, .memory_limit = 1}).structure,
            "sorted_array");
  // What only gains from ascending order gives it up.
  for (const use_case& what : {use_case{.n = two_to(28), .range_hits = 16, .memory_limit = 1},
                               use_case{.n = two_to(28), .updates = true, .memory_limit = 1}}) {
    EXPECT_EQ(by_paper(what).structure, "eytzinger");
  }
}

TEST(lightweight_advice, keeps_keys_beside_row_ids_for_ranges_and_nodes) {
  const auto layout = [](const use_case& what) { return by_paper(what).options.at("layout"); };
  EXPECT_EQ(layout({.n = 1000}), "column");
  EXPECT_EQ(layout({.n = 1000, .ordered = true}), "column");
  EXPECT_EQ(layout({.n = 1000, .range_hits = 1}), "row");
  EXPECT_EQ(layout({.n = two_to(28)}), "row");
  EXPECT_EQ(layout({.n = two_to(28), .range_hits = 1}), "row");
}

TEST(lightweight_advice, says_why) {
  const advice advised = by_paper({.n = two_to(28), .ordered = true});
  EXPECT_TRUE(mentions(advised, "ascending order is needed")) << advised.reason;
  EXPECT_TRUE(mentions(advised, "exceed the L2")) << advised.reason;
  EXPECT_EQ(advised.lookups_per_s, 0);
  EXPECT_EQ(advised.resident_bytes, 0);
}

// --- Decisions by a table made here.

const std::vector<capability> both{offer("a", backend::cpu), offer("b", backend::cpu)};

TEST(advise, interpolates_the_time_of_a_lookup_over_log2_n) {
  const speed_table table = table_of({row("a", two_to(20), 100), row("a", two_to(24), 50)});
  const auto seconds = [&](std::uint64_t n) {
    return 1 / advise({.n = n}, table, both).lookups_per_s;
  };
  EXPECT_NEAR(seconds(two_to(20)), 0.010, 1e-12);
  EXPECT_NEAR(seconds(two_to(21)), 0.0125, 1e-12);
  EXPECT_NEAR(seconds(two_to(22)), 0.015, 1e-12);
  EXPECT_NEAR(seconds(two_to(24)), 0.020, 1e-12);
  // Beyond what was measured, the nearest size counts.
  EXPECT_NEAR(seconds(0), 0.010, 1e-12);
  EXPECT_NEAR(seconds(1), 0.010, 1e-12);
  EXPECT_NEAR(seconds(two_to(40)), 0.020, 1e-12);
}

TEST(advise, changes_where_the_curves_cross) {
  const speed_table table = table_of({row("a", two_to(10), 400), row("a", two_to(20), 100),
                                      row("b", two_to(10), 200), row("b", two_to(20), 200)});
  EXPECT_EQ(advise({.n = two_to(12)}, table, both).structure, "a");
  EXPECT_EQ(advise({.n = two_to(18)}, table, both).structure, "b");
  const advice advised = advise({.n = two_to(20)}, table, both);
  EXPECT_TRUE(mentions(advised, "fastest of 2, 2.00 times a")) << advised.reason;
  EXPECT_TRUE(mentions(advised, "unsorted points on 2^20 uint32 keys")) << advised.reason;
  EXPECT_TRUE(mentions(advised, "200 lookups/s by measurements on test")) << advised.reason;
}

TEST(advise, takes_the_smaller_of_equally_fast_ones) {
  const auto advised = [](double speed_of_b) {
    return advise({.n = 1000}, table_of({row("a", 1000, 104, 10), row("b", 1000, speed_of_b, 8)}),
                  both)
        .structure;
  };
  EXPECT_EQ(advised(110), "b");
  EXPECT_EQ(advised(100), "b");
  EXPECT_EQ(advised(98), "a");
  // Equal in everything: the one listed first.
  EXPECT_EQ(advise({.n = 1000}, table_of({row("b", 1000, 1), row("a", 1000, 1)}), both).structure,
            "b");
}

TEST(advise, weighs_options_against_each_other) {
  measured_speed tuned = row("a", 1000, 300);
  tuned.options = {{"fanout", "9"}};
  const advice advised = advise({.n = 1000}, table_of({row("a", 1000, 100), tuned}), both);
  EXPECT_EQ(advised.structure, "a");
  EXPECT_EQ(advised.options, tuned.options);
  EXPECT_TRUE(mentions(advised, "3.00 times a")) << advised.reason;
}

TEST(advise, tells_points_from_sorted_probes_and_ranges) {
  std::vector<measured_speed> rows{row("a", 1000, 100), row("b", 1000, 200)};
  rows.push_back(row("a", 1000, 400));
  rows.push_back(row("b", 1000, 300));
  rows[2].sorted_probes = rows[3].sorted_probes = true;
  for (const double speed : {80., 40.}) {  // ranges of 1 and of 16 rows
    rows.push_back(row("a", 1000, speed));
    rows.back().range_hits = speed == 80 ? 1 : 16;
  }
  const speed_table table = table_of(rows);
  EXPECT_EQ(advise({.n = 1000}, table, both).structure, "b");
  EXPECT_EQ(advise({.n = 1000, .sorted_probes = true}, table, both).structure, "a");
  // Structures are not judged by measurements of something else: b's points say nothing about
  // ranges.
  const auto ranges = [&](std::uint64_t hits) {
    return advise({.n = 1000, .range_hits = hits}, table, both);
  };
  EXPECT_EQ(ranges(4).structure, "a");
  EXPECT_NEAR(ranges(1).lookups_per_s, 80, 1e-9);
  EXPECT_NEAR(1 / ranges(4).lookups_per_s, 1 / 80. + 3 / 15. * (1 / 40. - 1 / 80.), 1e-12);
  // Beyond what was measured the time is that of so many more matches.
  EXPECT_NEAR(ranges(1000).lookups_per_s, 40 * 16 / 1000., 1e-9);
}

TEST(advise, says_when_other_measurements_stand_in) {
  const speed_table table = table_of({row("a", 1000, 100)});
  for (const use_case& what :
       {use_case{.n = 1000, .key = format_of<double>}, use_case{.n = 1000, .range_hits = 10},
        use_case{.n = 1000, .sorted_probes = true}}) {
    const advice advised = advise(what, table, both);
    EXPECT_EQ(advised.structure, "a");
    EXPECT_TRUE(mentions(advised, "measurements of other keys or probes")) << advised.reason;
  }
  EXPECT_FALSE(mentions(advise({.n = 1000, .ordered = true}, table, both), "other"));
}

TEST(advise, keeps_to_the_memory_limit) {
  const speed_table table = table_of({row("a", 1000, 300, 10), row("b", 1000, 100, 8)});
  const auto advised = [&](std::uint64_t limit) {
    return advise({.n = 1000, .memory_limit = limit}, table, both);
  };
  EXPECT_EQ(advised(0).structure, "a");
  EXPECT_EQ(advised(10'000).structure, "a");
  EXPECT_EQ(advised(10'000).resident_bytes, 10'000);
  EXPECT_EQ(advised(9'999).structure, "b");
  EXPECT_TRUE(mentions(advised(9'999), "a is faster, but holds 10000 bytes"));
  EXPECT_EQ(advised(8'000).resident_bytes, 8'000);
  expect_error<invalid_argument>([&] { advised(7'999); }, {"memory limit", "7999", "b", "8000"});
}

TEST(advise, knows_how_bytes_grow_with_keys_and_row_ids) {
  const speed_table table = table_of({row("a", 1000, 1, 8.8)});
  EXPECT_EQ(advise({.n = 1000, .key = format_of<std::int64_t>}, table, both).resident_bytes,
            13'200);
  // Row ids of 64 bits.
  const speed_table exact = table_of({row("a", 1000, 1)});
  EXPECT_EQ(advise({.n = two_to(33)}, exact, both).resident_bytes, 12 * two_to(33));
  EXPECT_EQ(advise({.n = ~std::uint64_t{0}}, exact, both).resident_bytes, ~std::uint64_t{0});
  EXPECT_EQ(advise({.n = 0, .memory_limit = 1}, exact, both).resident_bytes, 0);
}

TEST(advise, names_what_is_missing) {
  const speed_table table = table_of({row("a", 1000, 1)});
  std::vector<capability> offered{offer("a", backend::cpu)};
  const auto ask = [&](const use_case& what) { advise(what, table, offered); };
  expect_error<unsupported>([&] { ask({.n = 1, .updates = true}); }, {"cpu", "updates", "anew"});
  offered[0].ranges = false;
  EXPECT_NO_THROW(ask({.n = 1}));
  expect_error<unsupported>([&] { ask({.n = 1, .ordered = true}); }, {"cpu", "ranges"});
  expect_error<unsupported>([&] { ask({.n = 1, .range_hits = 7}); }, {"cpu", "ranges"});
  offered[0].keys = {key_type::uint32};
  expect_error<unsupported>([&] { ask({.n = 1, .key = format_of<double>}); }, {"double"});
  expect_error<unsupported>([&] { ask({.n = 1, .where = backend::optix}); },
                            {"optix", "a does on cpu"});
  offered.push_back(offer("c", backend::cuda));
  expect_error<unsupported>([&] { ask({.n = 1, .ordered = true}); }, {"c does on cuda"});
  offered.push_back(offer("d", backend::cuda));
  expect_error<unsupported>([&] { ask({.n = 1, .where = backend::cuda}); },
                            {"cuda", "measured", "by name (c, d)"});
}

TEST(advise, needs_no_measurement_of_the_only_one_that_can_do_it) {
  std::vector<capability> offered = both;
  offered.push_back(offer("c", backend::cpu));
  offered.back().updates = true;
  const speed_table table = table_of({row("a", 1000, 1), row("b", 1000, 2)});
  const advice advised = advise({.n = 1000, .updates = true}, table, offered);
  EXPECT_EQ(advised.structure, "c");
  EXPECT_TRUE(mentions(advised, "the only one that takes uint32 keys and updates"));
  EXPECT_TRUE(mentions(advised, "not measured"));
  EXPECT_EQ(advised.lookups_per_s, 0);
  EXPECT_EQ(advised.resident_bytes, 0);
  // Nobody knows whether it fits.
  expect_error<unsupported>(
      [&] { advise({.n = 1000, .updates = true, .memory_limit = 1 << 20}, table, offered); },
      {"measured", "by name (c)"});
}

TEST(advise, prefers_no_structure_that_cannot_do_it) {
  std::vector<capability> offered = both;
  offered[1].duplicates = false;
  const speed_table table = table_of({row("a", 1000, 1), row("b", 1000, 2), row("c", 1000, 3)});
  EXPECT_EQ(advise({.n = 1000}, table, offered).structure, "a");
  offered[1] = offer("b", backend::cpu);
  offered[1].updates = true;
  const advice advised = advise({.n = 1000, .updates = true}, table, offered);
  EXPECT_EQ(advised.structure, "b");
  EXPECT_TRUE(mentions(advised, "only one measured that takes uint32 keys and updates"));
}

// --- Structures with a place for each key.

class advise_dense : public testing::Test {
 protected:
  advise_dense() { offered[1].sparse = false; }
  advice ask(const use_case& what) const { return advise(what, table, offered); }

  std::vector<capability> offered = both;
  speed_table table = table_of({row("a", 1000, 100), row("b", 1000, 200, 4)});
};

TEST_F(advise_dense, takes_them_where_the_keys_fit) {
  for (const std::uint64_t span : {1u, 999u, 1000u, 1001u, 4000u}) {
    for (const key_format key : {format_of<std::uint32_t>, format_of<std::int32_t>,
                                 format_of<std::uint64_t>, format_of<std::int64_t>}) {
      EXPECT_EQ(ask({.n = 1000, .key = key, .span = span}).structure, "b") << span;
    }
  }
  EXPECT_TRUE(mentions(ask({.n = 1000, .span = 1000}), "fastest of 2, 2.00 times a"));
  EXPECT_EQ(ask({.n = two_to(63), .span = ~std::uint64_t{0}}).structure, "b");
}

TEST_F(advise_dense, leaves_them_out_where_keys_lie_apart_or_may_come_to) {
  EXPECT_EQ(ask({.n = 1000}).structure, "a");  // nobody knows
  EXPECT_EQ(ask({.n = 1000, .span = 4001}).structure, "a");
  EXPECT_EQ(ask({.n = 1000, .span = ~std::uint64_t{0}}).structure, "a");
  EXPECT_EQ(ask({.n = 0, .span = 1}).structure, "a");
  EXPECT_EQ(ask({.n = 1000, .key = format_of<float>, .span = 1000}).structure, "a");
  EXPECT_EQ(ask({.n = 1000, .key = format_of<double>, .span = 1000}).structure, "a");
  EXPECT_EQ(ask({.n = 1000, .key = key_format::bytes(2), .span = 1000}).structure, "a");
  offered[0].updates = offered[1].updates = true;
  EXPECT_EQ(ask({.n = 1000, .span = 1000}).structure, "b");
  EXPECT_EQ(ask({.n = 1000, .updates = true, .span = 1000}).structure, "a");
}

TEST_F(advise_dense, counts_the_places) {
  EXPECT_EQ(ask({.n = 1000, .span = 1000}).resident_bytes, 4000);
  EXPECT_EQ(ask({.n = 1000, .key = format_of<std::int64_t>, .span = 1000}).resident_bytes, 4000);
  EXPECT_EQ(ask({.n = 1000, .span = 3000}).resident_bytes, 28'000);
  EXPECT_EQ(ask({.n = 1000, .memory_limit = 27'999, .span = 3000}).structure, "a");
  // A lookup among as many places takes as long as one among as many keys.
  table.add(row("b", 4000, 50, 4));
  EXPECT_EQ(ask({.n = 1000, .span = 1000}).structure, "b");
  EXPECT_EQ(ask({.n = 1000, .span = 4000}).structure, "a");
}

}  // namespace
}  // namespace raydex
