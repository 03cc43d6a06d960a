// SPDX-License-Identifier: Apache-2.0
// What a search relies on in nodes with 15 bits per separator: they err only on the low side.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <numeric>
#include <vector>

#include "raydex/core/keys/entries.hpp"
#include "raydex/core/lookups/pivot_tree.hpp"
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
// leads every search for a key of the column to exactly that child, except those counted as misled.
template <class Key>
void check_node(const quantised_node<Key>& tested, const std::vector<Key>& keys,
                const pivot_levels::span& below, std::uint64_t misled, std::mt19937_64& random) {
  using node = quantised_node<Key>;
  const std::uint64_t end =
      std::min<std::uint64_t>(below.first + node::fan_out * below.child, keys.size());
  std::vector<Key> separators;
  for (std::uint64_t next = below.first + below.child; next < end; next += below.child)
    separators.push_back(keys[next - 1]);
  const auto exact = [&](Key key) {
    return static_cast<std::uint64_t>(std::lower_bound(separators.begin(), separators.end(), key) -
                                      separators.begin());
  };
  for (std::size_t c = separators.size(); c < node::separators; ++c)
    ASSERT_EQ(tested.separator[c], node::mark | node::none);
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
  if (std::adjacent_find(keys.begin(), keys.end()) == keys.end()) {
    ASSERT_EQ(misled, too_early);
  }
}

// All nodes over a column.
template <class Key>
void check_nodes(const std::vector<Key>& keys, std::mt19937_64& random) {
  using node = quantised_node<Key>;
  using entries = column_entries<Key, std::uint32_t>;
  const entries all{keys.data(), nullptr};
  const pivot_levels levels(keys.size(), 8, node::fan_out, 1);
  std::vector<node> nodes(levels.nodes());
  const place_nodes<entries> place{levels, all, keys.size(), nodes.data()};
  for (std::uint64_t i = place.items(); i > 0; --i)
    place(i - 1);
  std::uint64_t children = 8;
  for (unsigned level = 0; level < levels.count(); ++level) {
    const std::uint64_t begin = levels.first_node(level);
    const std::uint64_t end = level == 0 ? nodes.size() : levels.first_node(level - 1);
    std::vector<std::uint64_t> misled((end - begin) * node::separators);
    const count_misled<entries> count{children, all, keys.size(), 1, misled.data()};
    for (std::uint64_t i = 0; i < misled.size(); ++i)
      count(i);
    for (std::uint64_t i = begin; i < end; ++i) {
      SCOPED_TRACE("node " + std::to_string(i - begin) + " of level " + std::to_string(level));
      ASSERT_EQ(levels.span_of(i).child, children);
      const auto* of_node = misled.data() + (i - begin) * node::separators;
      check_node<Key>(nodes[i], keys, levels.span_of(i),
                      std::accumulate(of_node, of_node + node::separators, std::uint64_t{0}),
                      random);
      if (testing::Test::HasFatalFailure()) return;
    }
    // Looking at every third.
    std::vector<std::uint64_t> some((end - begin + 2) / 3 * node::separators);
    const count_misled<entries> look{children, all, keys.size(), 3, some.data()};
    for (std::uint64_t i = 0; i < some.size(); ++i) {
      look(i);
      ASSERT_EQ(some[i],
                misled[i / node::separators * 3 * node::separators + i % node::separators]);
    }
    children *= node::fan_out;
  }
}

TYPED_TEST(quantised, nodes_never_lead_too_far) {
  auto random = test::generator();
  for (const std::size_t size :
       {1UL, 7UL, 8UL, 9UL, 231UL, 232UL, 233UL, 247UL, 248UL, 249UL, 1000UL, 8000UL}) {
    for (const auto& [name, keys] : test::hard_keys<TypeParam>(size, random)) {
      SCOPED_TRACE(name + ", " + std::to_string(size));
      check_nodes<TypeParam>(keys, random);
      if (this->HasFatalFailure()) return;
    }
  }
}

TEST(quantised_node, is_a_line) {
  EXPECT_EQ(sizeof(quantised_node<std::uint32_t>), 64U);
  EXPECT_EQ(sizeof(quantised_node<std::uint64_t>), 64U);
  EXPECT_EQ(quantised_node<std::uint32_t>::fan_out, 31U);
  EXPECT_EQ(quantised_node<std::uint64_t>::fan_out, 29U);
}

}  // namespace
}  // namespace raydex::core
