// SPDX-License-Identifier: Apache-2.0
// Ranks and neighbours: what calls refuse, and what an empty column answers.
#include <gtest/gtest.h>

#include <vector>

#include "raydex/raydex.hpp"
#include "tests/support/expect_error.hpp"

namespace raydex {
namespace {

using test::expect_error;
using numbers = std::vector<std::uint64_t>;
using rows = std::vector<std::uint32_t>;

class places : public testing::TestWithParam<const char*> {
 protected:
  std::unique_ptr<index> build(const std::vector<std::uint32_t>& keys) const {
    return raydex::build(GetParam(), backend::cpu, cpu, column(keys));
  }
  const session cpu{backend::cpu};
  const std::vector<std::uint32_t> asked{0, 5, 0xffff'ffff};
};

INSTANTIATE_TEST_SUITE_P(structures, places,
                         testing::Values("sorted_array", "eytzinger", "pivot_tree", "direct", "rx",
                                         "cgrx"));

TEST_P(places, of_a_column_without_keys) {
  const auto tested = build({});
  numbers ranks(3, 7);
  tested->rank(cpu, points(column(asked)), ranks);
  EXPECT_EQ(ranks, (numbers{0, 0, 0}));
  tested->rank_right(cpu, points(column(asked)), ranks);
  EXPECT_EQ(ranks, (numbers{0, 0, 0}));
  constexpr std::uint32_t none = not_found<std::uint32_t>;
  rows closest(3, 7);
  tested->predecessor(cpu, points(column(asked)), closest);
  EXPECT_EQ(closest, (rows{none, none, none}));
  closest = {7, 7, 7};
  tested->successor(cpu, points(column(asked)), closest, closeness::strict);
  EXPECT_EQ(closest, (rows{none, none, none}));
}

TEST_P(places, beside_the_largest_key) {
  const auto tested = build({0xffff'ffff, 0xffff'fffe, 0xffff'ffff});
  const std::vector<std::uint32_t> last{0xffff'ffff};
  const probes batch = points(column(last));
  numbers ranks(1);
  tested->rank_right(cpu, batch, ranks);
  EXPECT_EQ(ranks, (numbers{3}));
  rows closest(1);
  tested->successor(cpu, batch, closest, closeness::strict);
  EXPECT_EQ(closest, rows{not_found<std::uint32_t>});
  tested->predecessor(cpu, batch, closest);
  EXPECT_EQ(closest, rows{0});
  tested->predecessor(cpu, batch, closest, closeness::strict);
  EXPECT_EQ(closest, rows{1});
}

TEST_P(places, refuse_what_does_not_fit) {
  const auto tested = build({1, 2, 3});
  numbers ranks(3);
  const column keys(asked);
  expect_error<invalid_argument>([&] { tested->rank(cpu, ranges(keys, keys), ranks); },
                                 {"probes", "ranges", "points"});
  numbers too_short(2);
  EXPECT_THROW(tested->rank(cpu, points(keys), too_short), invalid_argument);
  rows closest(2);
  EXPECT_THROW(tested->predecessor(cpu, points(keys), closest), invalid_argument);
  numbers nothing;
  tested->rank(cpu, points(column(std::vector<std::uint32_t>{})), nothing);
}

}  // namespace
}  // namespace raydex
