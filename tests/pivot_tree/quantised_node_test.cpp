// SPDX-License-Identifier: Apache-2.0
// What a search relies on in nodes of 16 bits a separator: they err on the low side only.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

#include "pivot_tree/hard_keys.hpp"
#include "raydex/core/entries.hpp"
#include "raydex/core/pivot_tree.hpp"
#include "support/random.hpp"

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

// Keys around one, without wrapping around.
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
  // No bit is given away: half as coarse would not do.
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
         {first, TypeParam{64}, TypeParam{0xfffe}, TypeParam{0xffff}, TypeParam{0x1'0000},
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

TYPED_TEST(quantised, span_of_2_to_the_16_is_exact) {
  using node = quantised_node<TypeParam>;
  const auto base = static_cast<TypeParam>(0x1234'5600U);
  const TypeParam scale = node::scale(base, base + 0xfffe);
  for (TypeParam i = 0; i <= 0xfffe; ++i)
    ASSERT_EQ(node::quantise(scale, base + i), i);
  EXPECT_EQ(node::quantise(scale, base + 0xffff), node::none);
  EXPECT_EQ(node::quantise(scale, base - 1), 0);
}

// The nodes over a column: none leads beyond the child that holds a wanted key, and those where
// nothing was rounded lead right there.
template <class Key>
void check_nodes(const std::vector<Key>& keys, std::uint64_t leaf, std::mt19937_64& random) {
  using node = quantised_node<Key>;
  using entries = column_entries<Key, std::uint32_t>;
  const std::uint64_t size = keys.size();
  const std::uint64_t below = node::fan_out * leaf;
  const std::uint64_t count = (size + below - 1) / below;
  std::vector<node> nodes(count);
  std::vector<std::uint64_t> rounded(count);
  const place_separators<entries> place{{keys.data(), nullptr}, size, leaf,
                                        nodes.data(),           1,    rounded.data()};
  for (std::uint64_t i = 0; i < count; ++i)
    place(i);
  const place_separators<entries> look{{keys.data(), nullptr}, size, leaf, nullptr, 3,
                                       rounded.data()};
  for (std::uint64_t i = 0; i < count; ++i) {
    const std::uint64_t first = i * below;
    const std::uint64_t end = std::min(first + below, size);
    std::vector<Key> separators;
    std::uint64_t lost = 0;
    for (std::uint64_t next = first + leaf; next < end; next += leaf) {
      const Key scale = nodes[i].base_and_shift;
      separators.push_back(keys[next - 1]);
      lost += keys[next - 1] != keys[next] &&
                      node::quantise(scale, keys[next - 1]) == node::quantise(scale, keys[next])
                  ? 1U
                  : 0U;
    }
    ASSERT_EQ(rounded[i], lost);
    for (std::size_t c = separators.size(); c < node::separators; ++c)
      ASSERT_EQ(nodes[i].separator[c], node::none);
    std::vector<Key> wanted{0, keys[first], keys[end - 1], std::numeric_limits<Key>::max()};
    for (const Key separator : separators) {
      const auto near = around(separator);
      wanted.insert(wanted.end(), near.begin(), near.end());
    }
    for (int more = 0; more < 10; ++more)
      wanted.push_back(keys[first + test::below(random, end - first)]);
    for (const Key key : wanted) {
      const auto exact = static_cast<std::uint64_t>(
          std::lower_bound(separators.begin(), separators.end(), key) - separators.begin());
      const unsigned rank = nodes[i].rank(key);
      ASSERT_LE(rank, exact) << "of " << key << " in node " << i;
      // Of the column's keys the next child's first are above a separator that was not rounded.
      const bool in_column =
          std::binary_search(keys.begin() + static_cast<std::ptrdiff_t>(first),
                             keys.begin() + static_cast<std::ptrdiff_t>(end), key);
      if (lost == 0 && in_column) {
        ASSERT_EQ(rank, exact) << "of " << key << " in node " << i;
      }
    }
  }
  std::vector<std::uint64_t> all = rounded;
  std::fill(rounded.begin(), rounded.end(), 0);
  for (std::uint64_t i = 0; i < (count + 2) / 3; ++i) {
    look(i);
    ASSERT_EQ(rounded[i], all[3 * i]) << "of node " << 3 * i << ", looked at";
  }
}

TYPED_TEST(quantised, nodes_never_lead_too_far) {
  auto random = test::generator();
  for (const std::size_t size : {1UL, 7UL, 8UL, 9UL, 103UL, 104UL, 105UL, 1000UL, 5000UL}) {
    for (const auto& [name, keys] : test::hard_keys<TypeParam>(size, random)) {
      SCOPED_TRACE(name + ", " + std::to_string(size));
      check_nodes<TypeParam>(keys, 8, random);
      check_nodes<TypeParam>(keys, 16, random);
      if (this->HasFatalFailure()) return;
    }
  }
}

TEST(quantised_node, is_half_a_line) {
  EXPECT_EQ(sizeof(quantised_node<std::uint32_t>), 32U);
  EXPECT_EQ(sizeof(quantised_node<std::uint64_t>), 32U);
  EXPECT_EQ(quantised_node<std::uint32_t>::fan_out, 15U);
  EXPECT_EQ(quantised_node<std::uint64_t>::fan_out, 13U);
}

}  // namespace
}  // namespace raydex::core
