// SPDX-License-Identifier: Apache-2.0
// The root leads where std::lower_bound over its pivots does, however keys are spread.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <vector>

#include "raydex/core/keys/entries.hpp"
#include "raydex/core/lookups/tree_nodes.hpp"
#include "tests/lookups/pivot_tree/hard_keys.hpp"

namespace raydex::core {
namespace {

template <class Key>
class root : public testing::Test {};
using widths = testing::Types<std::uint32_t, std::uint64_t>;
TYPED_TEST_SUITE(root, widths);

// Memory of a root, filled with garbage at first.
using root_memory = std::vector<std::uint64_t>;

// `in_one_pass`: whether the table is written so.
template <class Key>
root_memory grow(const std::vector<Key>& keys, std::uint64_t per_child, std::uint32_t pivots,
                 std::mt19937_64& random, bool in_one_pass) {
  using entries = column_entries<Key, std::uint32_t>;
  root_memory memory(root_node<Key>::bytes(pivots) / 8 + 1);
  for (auto& word : memory)
    word = random();
  auto* bytes = reinterpret_cast<std::byte*>(memory.data());
  const entries all{keys.data(), nullptr};
  const typename root_node<Key>::template fill_scale<entries> fill_scale{all, keys.size(), bytes};
  fill_scale(0);
  const typename root_node<Key>::template fill<entries> fill{all, keys.size(), per_child, pivots,
                                                             bytes};
  for (std::uint64_t i = in_one_pass ? pivots : fill.items(); i > 0; --i)
    fill(i - 1);
  if (in_one_pass) fill.write_table();
  return memory;
}

template <class Key>
void check(const std::vector<Key>& keys, std::uint64_t per_child, std::mt19937_64& random) {
  SCOPED_TRACE(std::to_string(keys.size()) + " keys, " + std::to_string(per_child) + " a child");
  const auto pivots = static_cast<std::uint32_t>((keys.size() - 1) / per_child);
  if (pivots == 0 || pivots > root_node<Key>::most_pivots) return;
  std::vector<Key> expected;
  for (std::uint64_t i = 1; i <= pivots; ++i)
    expected.push_back(keys[i * per_child - 1]);
  const root_memory memory = grow(keys, per_child, pivots, random, false);
  const root_memory written = grow(keys, per_child, pivots, random, true);
  ASSERT_EQ(std::memcmp(memory.data(), written.data(), root_node<Key>::bytes(pivots)), 0);
  const root_node<Key> tested(memory.data(), pivots);
  // Copied word by word to another place, as when it is pinned.
  const std::size_t words = tested.bytes() / 4;
  ASSERT_EQ(tested.bytes() % 4, 0U);
  root_memory elsewhere(memory.size());
  for (std::size_t i = 0; i < words; ++i) {
    const std::uint32_t word = tested.words()(i);
    std::memcpy(reinterpret_cast<std::byte*>(elsewhere.data()) + 4 * i, &word, 4);
  }
  const root_node<Key> copy = tested.at(elsewhere.data());
  for (const Key wanted : test::hard_probes(keys, 200, random)) {
    const auto child =
        std::lower_bound(expected.begin(), expected.end(), wanted) - expected.begin();
    ASSERT_EQ(tested.child(wanted), child) << "of " << wanted;
    ASSERT_EQ(copy.child(wanted), child) << "of " << wanted;
  }
  for (const Key wanted : expected)
    ASSERT_EQ(tested.child(wanted),
              std::lower_bound(expected.begin(), expected.end(), wanted) - expected.begin());
}

TYPED_TEST(root, leads_where_lower_bound_does) {
  auto random = test::generator();
  for (const std::size_t size : {2UL, 3UL, 100UL, 4097UL, 9001UL}) {
    for (const auto& [name, keys] : test::hard_keys<TypeParam>(size, random)) {
      SCOPED_TRACE(name);
      check<TypeParam>(keys, 1, random);
      check<TypeParam>(keys, 8, random);
      check<TypeParam>(keys, 1 + test::below(random, size), random);
      if (this->HasFatalFailure()) return;
    }
  }
}

TYPED_TEST(root, has_as_many_pivots_as_its_table_counts) {
  if (test::small_scale()) GTEST_SKIP() << "a large column";
  auto random = test::generator();
  for (const auto& [name, keys] : test::hard_keys<TypeParam>(0x1'0000, random)) {
    SCOPED_TRACE(name);
    check<TypeParam>(keys, 1, random);
    if (this->HasFatalFailure()) return;
  }
}

TYPED_TEST(root, without_pivots_has_one_child_and_no_bytes) {
  const root_node<TypeParam> nothing;
  EXPECT_EQ(nothing.bytes(), 0U);
  EXPECT_EQ(nothing.child(0), 0U);
  EXPECT_EQ(nothing.child(static_cast<TypeParam>(-1)), 0U);
}

}  // namespace
}  // namespace raydex::core
