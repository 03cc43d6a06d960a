// SPDX-License-Identifier: Apache-2.0
// The closed formulas for pivots, compared with a tree built node by node from the leaves up.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

#include "raydex/core/keys/entries.hpp"
#include "raydex/core/lookups/tree_nodes.hpp"
#include "tests/support/random.hpp"

namespace raydex::core {
namespace {

constexpr unsigned most_fan_out = 33;

// What the levels are asked for.
struct shape {
  std::uint64_t entries;
  std::uint64_t leaf;
  unsigned fan_out;
  std::uint64_t most_roots;
  unsigned most_levels;

  pivot_levels levels() const { return {entries, leaf, fan_out, most_roots, most_levels}; }
  std::string text() const {
    return std::to_string(entries) + " entries, leaves of " + std::to_string(leaf) +
           ", K = " + std::to_string(fan_out) + ", at most " + std::to_string(most_roots) +
           " roots and " + std::to_string(most_levels) + " levels";
  }
};

// The tree itself. A pivot is the last entry below a child, for every child of a node but the last.
struct tree {
  using pivot = std::optional<std::uint64_t>;

  std::vector<std::vector<pivot>> levels;  // from the lowest up
  std::uint64_t roots = 0;

  explicit tree(const shape& of) {
    std::vector<std::uint64_t> last;  // the last entry below each node of the topmost level so far
    for (std::uint64_t entry = 0; entry < of.entries; ++entry) {
      if (entry % of.leaf == 0) last.push_back(entry);
      last.back() = entry;
    }
    while (last.size() > of.most_roots && levels.size() < of.most_levels) {
      std::vector<pivot> pivots;
      std::vector<std::uint64_t> parents;
      for (std::size_t child = 0; child < last.size(); child += of.fan_out) {
        for (std::size_t c = child; c + 1 < child + of.fan_out; ++c)
          pivots.push_back(c + 1 < last.size() ? pivot(last[c]) : std::nullopt);
        parents.push_back(last[std::min<std::size_t>(child + of.fan_out, last.size()) - 1]);
      }
      levels.push_back(pivots);
      last = parents;
    }
    roots = last.size();
  }
};

void check(const shape& of) {
  SCOPED_TRACE(of.text());
  const tree expected(of);
  const pivot_levels levels = of.levels();
  ASSERT_EQ(levels.count(), expected.levels.size());
  ASSERT_EQ(levels.roots(), expected.roots);
  ASSERT_EQ(levels.fan_out(), of.fan_out);
  ASSERT_EQ(levels.leaf(), of.leaf);
  std::uint64_t slot = 0;
  for (std::size_t level = expected.levels.size(); level > 0; --level) {
    ASSERT_EQ(levels.begin(static_cast<unsigned>(level - 1)), slot);
    for (const tree::pivot& pivot : expected.levels[level - 1]) {
      const std::uint64_t entry = levels.entry_of(slot);
      // Not ASSERT_EQ, which takes longer than the formula.
      if (pivot ? entry != *pivot : entry + 1 < of.entries) {
        FAIL() << "pivot " << slot << " of level " << level - 1 << " is entry " << entry;
      }
      ++slot;
    }
  }
  ASSERT_EQ(levels.size(), slot);
  std::uint64_t per_root = of.leaf;
  for (std::size_t level = 0; level < expected.levels.size(); ++level)
    per_root *= of.fan_out;
  ASSERT_EQ(levels.entries_per_root(), per_root);
}

// Sizes up to 4096, all of them or, in small runs, some.
template <class Check>
void for_all_sizes_and_fan_outs(Check&& check_one) {
  auto random = test::generator();
  const std::uint64_t stride = test::small_scale() ? 61 : 1;
  for (unsigned fan_out = 2; fan_out <= most_fan_out; ++fan_out) {
    for (std::uint64_t size = 0; size <= 4096; size += 1 + test::below(random, 2 * stride - 1)) {
      check_one(size, fan_out, random);
      if (testing::Test::HasFatalFailure()) return;
    }
  }
}

TEST(pivot_levels, are_the_papers_for_all_sizes_up_to_4096_and_all_fan_outs) {
  for_all_sizes_and_fan_outs([](std::uint64_t size, unsigned fan_out, auto&) {
    check({size, fan_out - 1, fan_out, 1, pivot_levels::most});
  });
}

TEST(pivot_levels, keep_to_their_limits_over_leaves_of_any_size) {
  for_all_sizes_and_fan_outs([](std::uint64_t size, unsigned fan_out, auto& random) {
    const std::uint64_t leaf = 1 + test::below(random, test::below(random, 2) == 0 ? 20 : 300);
    const std::uint64_t roots = 1 + test::below(random, test::below(random, 2) == 0 ? 3 : 200);
    const auto most = static_cast<unsigned>(test::below(random, 8));
    check({size, leaf, fan_out, roots, pivot_levels::most});
    check({size, leaf, fan_out, 1, most});
    check({size, leaf, fan_out, roots, most});
  });
}

TEST(pivot_levels, are_none_without_entries_or_before_anything_is_said) {
  const pivot_levels nothing;
  EXPECT_EQ(nothing.count(), 0U);
  EXPECT_EQ(nothing.size(), 0U);
  check({0, 8, 9, 1, pivot_levels::most});
  check({1, 8, 9, 1, pivot_levels::most});
}

// The last entry below node `node` of the level above `levels` others, found by going down its last
// children.
std::uint64_t last_entry(const shape& of, unsigned levels, std::uint64_t node) {
  for (; levels > 0; --levels)
    node = node * of.fan_out + of.fan_out - 1;
  return node * of.leaf + of.leaf - 1;
}

void check_large(const shape& of, std::mt19937_64& random) {
  SCOPED_TRACE(of.text());
  const pivot_levels levels = of.levels();
  std::vector<std::uint64_t> nodes{of.entries / of.leaf + (of.entries % of.leaf != 0 ? 1 : 0)};
  while (nodes.back() > of.most_roots && nodes.size() <= of.most_levels)
    nodes.push_back(nodes.back() / of.fan_out + (nodes.back() % of.fan_out != 0 ? 1 : 0));
  ASSERT_EQ(levels.count() + 1, nodes.size());
  ASSERT_EQ(levels.roots(), nodes.back());
  std::uint64_t begin = 0;
  for (unsigned level = levels.count(); level > 0; --level) {
    ASSERT_EQ(levels.begin(level - 1), begin);
    const std::uint64_t pivots = nodes[level] * (of.fan_out - 1);
    std::vector<std::uint64_t> chosen{0, pivots - 1};
    for (int more = 0; more < 10; ++more)
      chosen.push_back(test::below(random, pivots));
    for (const std::uint64_t i : chosen) {
      const std::uint64_t child = i / (of.fan_out - 1) * of.fan_out + i % (of.fan_out - 1);
      const std::uint64_t entry = levels.entry_of(begin + i);
      ASSERT_EQ(entry, last_entry(of, level - 1, child)) << "pivot " << i << ", level " << level;
      ASSERT_EQ(entry + 1 < of.entries, child + 1 < nodes[level - 1]);
    }
    begin += pivots;
  }
  ASSERT_EQ(levels.size(), begin);
}

TEST(pivot_levels, are_right_for_large_sizes) {
  auto random = test::generator();
  for (int i = 0; i < 3000; ++i) {
    const std::uint64_t entries =
        1 + test::below(random, std::uint64_t{1} << (12 + test::below(random, 29)));
    const auto fan_out = static_cast<unsigned>(2 + test::below(random, most_fan_out - 1));
    const bool papers = test::below(random, 2) == 0;
    check_large({entries, papers ? fan_out - 1 : 1 + test::below(random, 300), fan_out,
                 papers ? 1 : 1 + test::below(random, 70'000), pivot_levels::most},
                random);
    if (testing::Test::HasFatalFailure()) return;
  }
}

TEST(pivot_levels, have_room_for_all_levels_of_2_to_the_40_entries) {
  auto random = test::generator();
  const shape largest{std::uint64_t{1} << 40, 1, 2, 1, pivot_levels::most};
  EXPECT_EQ(largest.levels().count(), pivot_levels::most);
  check_large(largest, random);
}

template <class Key>
void check_placed(const shape& of) {
  SCOPED_TRACE(of.text());
  std::vector<Key> keys(of.entries);
  std::iota(keys.begin(), keys.end(), Key{100});
  const std::vector<std::uint32_t> rows(of.entries);
  const pivot_levels levels = of.levels();
  std::vector<Key> pivots(levels.size(), Key{1});
  const place_pivots<column_entries<Key, std::uint32_t>> place{
      levels, {keys.data(), rows.data()}, of.entries, pivots.data()};
  for (std::uint64_t i = 0; i < levels.size(); ++i)
    place(i);
  const tree expected(of);
  std::uint64_t slot = 0;
  for (auto level = expected.levels.rbegin(); level != expected.levels.rend(); ++level) {
    for (const tree::pivot& pivot : *level) {
      ASSERT_EQ(pivots[slot], pivot ? keys[*pivot] : static_cast<Key>(-1)) << "pivot " << slot;
      ++slot;
    }
  }
}

TEST(place_pivots, writes_keys_and_where_no_child_follows_the_largest_key) {
  auto random = test::generator();
  for (std::uint64_t size = 0; size <= 600; ++size) {
    for (const unsigned fan_out : {2U, 3U, 9U, 17U, 33U}) {
      check_placed<std::uint32_t>({size, fan_out - 1, fan_out, 1, pivot_levels::most});
      check_placed<std::uint64_t>({size, 1 + test::below(random, 40), fan_out,
                                   1 + test::below(random, 10), pivot_levels::most});
      if (HasFatalFailure()) return;
    }
  }
}

}  // namespace
}  // namespace raydex::core
