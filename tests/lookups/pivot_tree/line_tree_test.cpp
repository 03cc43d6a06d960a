// SPDX-License-Identifier: Apache-2.0
// The tree of lines in all its shapes, also those of the largest columns: a small root makes many
// levels, and any number of them is quantised.
#include "tests/lookups/pivot_tree/line_tree.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "tests/lookups/pivot_tree/hard_keys.hpp"
#include "tests/support/random.hpp"

namespace raydex::core {
namespace {

// The most levels of narrow nodes and of quantised ones.
constexpr std::pair<unsigned, unsigned> shapes[] = {
    {0, 0}, {0, 1}, {0, 2}, {0, pivot_levels::most}, {1, 0}, {1, 1}, {1, pivot_levels::most}};

template <class Key>
void check(const std::vector<Key>& keys, std::mt19937_64& random) {
  const auto probes = test::hard_probes(keys, 400, random);
  for (const auto& [narrow, rounded] : shapes) {
    for (const std::uint64_t most_roots : {1UL, 5UL, 0x1'0000UL}) {
      SCOPED_TRACE(std::to_string(narrow) + " narrow and " + std::to_string(rounded) +
                   " quantised levels, " + std::to_string(most_roots) + " roots");
      const test::line_tree<column_entries<Key, std::uint32_t>> tree(keys, narrow, rounded,
                                                                     most_roots);
      const auto view = tree.view();
      for (std::size_t i = 0; i < probes.size(); ++i) {
        const Key wanted = probes[i];
        const auto lower = std::lower_bound(keys.begin(), keys.end(), wanted);
        const auto rank = static_cast<std::uint32_t>(lower - keys.begin());
        const auto found = view.locate(wanted);
        ASSERT_EQ(found.rank, rank) << "of " << wanted;
        const bool hit = lower != keys.end() && *lower == wanted;
        ASSERT_EQ(found.rank < keys.size() && found.hit, hit) << "of " << wanted;
        ASSERT_EQ(view.find(wanted), hit ? tree.row_of(rank) : 0xffff'ffff) << "of " << wanted;
        const Key other = probes[(i + 7) % probes.size()];
        const auto upper = std::upper_bound(keys.begin(), keys.end(), other);
        ASSERT_EQ(view.count({wanted, other}), other < wanted ? 0 : upper - lower)
            << "from " << wanted << " to " << other;
      }
    }
  }
}

template <class Key>
class line_trees : public testing::Test {};
using widths = testing::Types<std::uint32_t, std::uint64_t>;
TYPED_TEST_SUITE(line_trees, widths);

TYPED_TEST(line_trees, find_what_lower_bound_does) {
  auto random = test::generator();
  // Sizes around full leaves and full nodes of both kinds.
  for (const std::size_t size :
       {1UL,   8UL,   9UL,   16UL,  17UL,   231UL,  232UL,  233UL,  247UL,  248UL,  249UL,
        416UL, 417UL, 448UL, 449UL, 1768UL, 2040UL, 5003UL, 6729UL, 7689UL, 13889UL}) {
    for (const auto& [name, keys] : test::hard_keys<TypeParam>(size, random)) {
      SCOPED_TRACE(name + ", " + std::to_string(size) + " keys");
      check<TypeParam>(keys, random);
      if (this->HasFatalFailure()) return;
    }
  }
}

TYPED_TEST(line_trees, find_what_lower_bound_does_among_many_keys) {
  if (test::small_scale()) GTEST_SKIP() << "a large column";
  auto random = test::generator();
  for (const auto& [name, keys] : test::hard_keys<TypeParam>(300'000, random)) {
    SCOPED_TRACE(name);
    check<TypeParam>(keys, random);
    if (this->HasFatalFailure()) return;
  }
}

}  // namespace
}  // namespace raydex::core
