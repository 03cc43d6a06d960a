// SPDX-License-Identifier: Apache-2.0
// What a search relies on in nodes that round separators to 15 or 8 bits: they err only on the low
// side.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <numeric>
#include <type_traits>
#include <vector>

#include "raydex/core/keys/entries.hpp"
#include "raydex/core/lookups/tree_build.hpp"
#include "tests/lookups/pivot_tree/hard_keys.hpp"
#include "tests/support/random.hpp"

namespace raydex::core {
namespace {

template <class Key>
class quantised : public testing::Test {};
using widths = testing::Types<std::uint32_t, std::uint64_t>;
TYPED_TEST_SUITE(quantised, widths);

// A key of any magnitude.
template <class Key>
Key any_key(std::mt19937_64& random) {
  return static_cast<Key>(random() >>
                          (64 - 8 * sizeof(Key) + test::below(random, 8 * sizeof(Key))));
}

// A key and those around it, without wrapping around.
template <class Key>
std::vector<Key> around(Key key) {
  std::vector<Key> all{key};
  if (key != 0) all.push_back(static_cast<Key>(key - 1));
  if (key != std::numeric_limits<Key>::max()) all.push_back(static_cast<Key>(key + 1));
  return all;
}

template <class Key>
void check_scale(Key first, Key last, std::mt19937_64& random) {
  using node = quantised_node<Key>;
  const Key scale = node::scale(first, last);
  std::vector<Key> keys{0, std::numeric_limits<Key>::max()};
  for (const Key key : {first, last}) {
    const auto near = around(key);
    keys.insert(keys.end(), near.begin(), near.end());
  }
  for (int more = 0; more < 20; ++more) {
    const Key span = last - first;
    keys.push_back(static_cast<Key>(first + (span == std::numeric_limits<Key>::max()
                                                 ? random()
                                                 : test::below(random, span + 1ULL))));
    keys.push_back(any_key<Key>(random));
  }
  std::sort(keys.begin(), keys.end());
  std::uint16_t before = 0;
  for (const Key key : keys) {
    const std::uint16_t steps = node::quantise(scale, key);
    ASSERT_GE(steps, before) << "of " << key << " in a node from " << first << " to " << last;
    if (key <= last) {
      ASSERT_LT(steps, node::none) << "of " << key << " in a node from " << first << " to " << last;
    }
    before = steps;
  }
  // No bit is wasted: a step half as large would be too small.
  const auto shift = static_cast<unsigned>(scale % (8 * sizeof(Key)));
  if (shift != 0) {
    const Key base = scale - static_cast<Key>(shift);
    ASSERT_GE((last - base) >> (shift - 1), node::none);
  }
}

TYPED_TEST(quantised, keys_ascend_and_stay_below_a_missing_separator) {
  using limits = std::numeric_limits<TypeParam>;
  auto random = test::generator();
  for (const TypeParam first :
       {TypeParam{0}, TypeParam{1}, TypeParam{31}, TypeParam{63}, TypeParam{64}, limits::max()}) {
    for (const TypeParam last :
         {first, TypeParam{64}, TypeParam{0x7ffe}, TypeParam{0x7fff}, TypeParam{0x8000},
          static_cast<TypeParam>(limits::max() - 1), limits::max()}) {
      if (last >= first) check_scale<TypeParam>(first, last, random);
    }
  }
  for (int i = 0; i < 20'000; ++i) {
    const TypeParam a = any_key<TypeParam>(random);
    const TypeParam b = any_key<TypeParam>(random);
    check_scale<TypeParam>(std::min(a, b), std::max(a, b), random);
    if (this->HasFatalFailure()) return;
  }
}

TYPED_TEST(quantised, span_of_2_to_the_15_is_exact) {
  using node = quantised_node<TypeParam>;
  const auto base = static_cast<TypeParam>(0x1234'5600U);
  const TypeParam scale = node::scale(base, base + 0x7ffe);
  for (TypeParam i = 0; i <= 0x7ffe; ++i)
    ASSERT_EQ(node::quantise(scale, base + i), i);
  EXPECT_EQ(node::quantise(scale, base + 0x7fff), node::none);
  EXPECT_EQ(node::quantise(scale, base - 1), 0);
}

// One node over a column. It never leads a search beyond the child that holds the wanted key. It
// leads every search for a key of the column to exactly that child, except those counted as misled;
// of a narrow node, except those and some more that another part misleads.
template <class Node, class Key>
void check_node(const Node& tested, const std::vector<Key>& keys, const pivot_levels::span& below,
                std::uint64_t misled, std::mt19937_64& random) {
  const std::uint64_t end =
      std::min<std::uint64_t>(below.first + Node::fan_out * below.child, keys.size());
  std::vector<Key> separators;
  for (std::uint64_t next = below.first + below.child; next < end; next += below.child)
    separators.push_back(keys[next - 1]);
  const auto exact = [&](Key key) {
    return static_cast<std::uint64_t>(std::lower_bound(separators.begin(), separators.end(), key) -
                                      separators.begin());
  };
  std::vector<Key> wanted{0, std::numeric_limits<Key>::max()};
  for (const Key separator : separators) {
    const auto near = around(separator);
    wanted.insert(wanted.end(), near.begin(), near.end());
  }
  for (int more = 0; more < 10; ++more)
    wanted.push_back(static_cast<Key>(random()));
  for (const Key key : wanted)
    ASSERT_LE(tested.rank(key), exact(key)) << "of " << key;
  std::uint64_t too_early = 0;
  for (std::uint64_t i = below.first; i < end; ++i) {
    const unsigned rank = tested.rank(keys[i]);
    ASSERT_LE(rank, exact(keys[i])) << "of " << keys[i];
    too_early += rank < exact(keys[i]) ? 1U : 0U;
  }
  ASSERT_LE(misled, too_early);
  if (std::adjacent_find(keys.begin(), keys.end()) != keys.end()) return;
  if (std::is_same_v<Node, quantised_node<Key>>) {
    ASSERT_EQ(misled, too_early);
  } else if (too_early != 0) {
    ASSERT_NE(misled, 0U);
  }
}

// All nodes of some levels over a column.
template <template <class> class Place, class Key>
void check_nodes(const std::vector<Key>& keys, unsigned most_levels, std::mt19937_64& random) {
  using entries = column_entries<Key, std::uint32_t>;
  using place = Place<entries>;
  using node = typename place::node;
  const entries all{keys.data(), nullptr};
  const pivot_levels levels(keys.size(), 8, node::fan_out, 1, most_levels);
  std::vector<node> nodes(levels.nodes());
  const place place_nodes{levels, all, keys.size(), nodes.data()};
  for (std::uint64_t i = place_nodes.items(); i > 0; --i)
    place_nodes(i - 1);
  std::uint64_t children = 8;
  for (unsigned level = 0; level < levels.count(); ++level) {
    const std::uint64_t begin = levels.first_node(level);
    const std::uint64_t end = level == 0 ? nodes.size() : levels.first_node(level - 1);
    // What it adds for a separator, looking at every node or at some.
    const auto misled_by = [&](std::uint64_t every, std::uint64_t separator) {
      std::uint64_t misled = 1000;
      count_misled<typename place::separators>{children, all, keys.size(), every,
                                               &misled}(separator);
      return misled - 1000;
    };
    std::vector<std::uint64_t> misled((end - begin) * node::separators);
    for (std::uint64_t i = 0; i < misled.size(); ++i)
      misled[i] = misled_by(1, i);
    for (std::uint64_t i = begin; i < end; ++i) {
      SCOPED_TRACE("node " + std::to_string(i - begin) + " of level " + std::to_string(level));
      ASSERT_EQ(levels.span_of(i).child, children);
      const auto* of_node = misled.data() + (i - begin) * node::separators;
      check_node(nodes[i], keys, levels.span_of(i),
                 std::accumulate(of_node, of_node + node::separators, std::uint64_t{0}), random);
      if (testing::Test::HasFatalFailure()) return;
    }
    for (std::uint64_t i = 0; i < (end - begin + 2) / 3 * node::separators; ++i) {
      ASSERT_EQ(misled_by(3, i),
                misled[i / node::separators * 3 * node::separators + i % node::separators]);
    }
    children *= node::fan_out;
  }
}

TYPED_TEST(quantised, nodes_never_lead_too_far) {
  auto random = test::generator();
  for (const std::size_t size : {1UL, 7UL, 8UL, 9UL, 231UL, 232UL, 233UL, 247UL, 248UL, 249UL,
                                 416UL, 417UL, 448UL, 449UL, 1000UL, 8000UL}) {
    for (const auto& [name, keys] : test::hard_keys<TypeParam>(size, random)) {
      SCOPED_TRACE(name + ", " + std::to_string(size));
      check_nodes<place_nodes>(keys, pivot_levels::most, random);
      check_nodes<place_narrow_nodes>(keys, 1, random);
      if (this->HasFatalFailure()) return;
    }
  }
}

TYPED_TEST(quantised, separators_that_do_not_exist_are_above_all_keys) {
  using node = quantised_node<TypeParam>;
  const std::vector<TypeParam> keys{1, 2, 3, 4, 5, 6, 7, 8, 9};
  const pivot_levels levels(keys.size(), 8, node::fan_out, 1);
  node made;
  const place_nodes<column_entries<TypeParam, std::uint32_t>> place{
      levels, {keys.data(), nullptr}, keys.size(), &made};
  for (std::uint64_t i = 0; i < place.items(); ++i)
    place(i);
  for (std::size_t c = 1; c < node::separators; ++c)
    ASSERT_EQ(made.separator[c], node::mark | node::none);
}

// Few searches of keys that lie evenly need a second look; that is what narrow nodes are for.
TYPED_TEST(quantised, narrow_nodes_mislead_few_searches_of_even_keys) {
  using entries = column_entries<TypeParam, std::uint32_t>;
  using node = narrow_node<TypeParam>;
  auto random = test::generator();
  std::vector<TypeParam> keys(100 * 8 * node::fan_out);
  for (auto& key : keys)
    key = static_cast<TypeParam>(random());
  std::sort(keys.begin(), keys.end());
  std::uint64_t misled = 0;
  const count_misled<narrow_separators<entries>> count{
      8, {keys.data(), nullptr}, keys.size(), 1, &misled};
  for (std::uint64_t i = 0; i < 100 * node::separators; ++i)
    count(i);
  EXPECT_LT(misled, keys.size() / 25);
}

TEST(quantised_node, is_a_line) {
  EXPECT_EQ(sizeof(quantised_node<std::uint32_t>), 64U);
  EXPECT_EQ(sizeof(quantised_node<std::uint64_t>), 64U);
  EXPECT_EQ(quantised_node<std::uint32_t>::fan_out, 31U);
  EXPECT_EQ(quantised_node<std::uint64_t>::fan_out, 29U);
  EXPECT_EQ(sizeof(narrow_node<std::uint32_t>), 64U);
  EXPECT_EQ(sizeof(narrow_node<std::uint64_t>), 64U);
  EXPECT_EQ(narrow_node<std::uint32_t>::fan_out, 56U);
  EXPECT_EQ(narrow_node<std::uint64_t>::fan_out, 52U);
}

}  // namespace
}  // namespace raydex::core
