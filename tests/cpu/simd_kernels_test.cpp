// SPDX-License-Identifier: Apache-2.0
// The vector kernels of every instruction set that this machine has.
#include "src/cpu/lookups/simd_kernels.hpp"

#include <gtest/gtest.h>
#include <hwy/targets.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <limits>
#include <random>
#include <string>
#include <type_traits>
#include <vector>

#include "raydex/core/lookups/pivot_tree.hpp"
#include "tests/support/random.hpp"

namespace raydex::cpu {
namespace {

// Calls `check` for each instruction set, with that one as the best.
template <class Check>
void with_every_target(const Check& check) {
  // Asked before the first is chosen; afterwards only the chosen one is reported as supported.
  hwy::SetSupportedTargetsForTest(0);
  for (std::int64_t left = hwy::SupportedTargets(); left != 0; left &= left - 1) {
    const std::int64_t target = left & -left;
    SCOPED_TRACE(hwy::TargetName(target));
    hwy::SetSupportedTargetsForTest(target);
    hwy::GetChosenTarget().Update(target);
    check();
  }
  hwy::SetSupportedTargetsForTest(0);
  hwy::GetChosenTarget().Update(hwy::SupportedTargets());
}

// Keys that differ in their upper halves, their lower halves, or not at all; 0 and the largest too.
template <class Key>
std::vector<Key> mixed_keys(std::size_t size, std::mt19937_64& random) {
  std::vector<Key> keys(size);
  for (Key& key : keys) {
    const auto drawn = static_cast<Key>(random());
    switch (test::below(random, 5)) {
      case 0:
        key = static_cast<Key>(drawn % 16);
        break;
      case 1:
        key = static_cast<Key>(drawn << (4 * sizeof(Key)));
        break;
      case 2:
        key = static_cast<Key>(Key{1} << (8 * sizeof(Key) - 1) | drawn % 16);
        break;
      case 3:
        key = static_cast<Key>(0) - static_cast<Key>(drawn % 3);
        break;
      default:
        key = drawn;
    }
  }
  std::sort(keys.begin(), keys.end());
  return keys;
}

template <class Entries>
void check_runs(const Entries& entries, const std::vector<typename Entries::key_type>& keys,
                std::mt19937_64& random) {
  using key = typename Entries::key_type;
  using run = decltype(entries.run(0, 0));
  constexpr std::size_t lookups = 37;
  for (std::uint32_t width = 0; width <= 33; ++width) {
    std::vector<run> runs(lookups);
    std::vector<key> wanted(lookups);
    std::vector<unsigned> expected(lookups);
    for (std::size_t m = 0; m < lookups; ++m) {
      const auto first =
          static_cast<typename Entries::row_id_type>(test::below(random, keys.size() - width + 1));
      runs[m] = entries.run(first, width);
      wanted[m] = keys[test::below(random, keys.size())];
      if (width != 0 && m % 2 == 0) wanted[m] = keys[first + test::below(random, width)];
      if (m % 3 == 0) ++wanted[m];
      const auto begin = keys.begin() + static_cast<std::ptrdiff_t>(first);
      expected[m] =
          static_cast<unsigned>(std::lower_bound(begin, begin + width, wanted[m]) - begin);
    }
    std::vector<unsigned> ranks(lookups, 77);
    const auto ranked = [&]<int Words>(const core::key_run<Words>*) {
      best_kernels<key>().template of_runs<Words>()(runs.data(), wanted.data(), ranks.data(),
                                                    lookups);
    };
    ranked(runs.data());
    ASSERT_EQ(ranks, expected) << "in runs of " << width;
  }
}

// Keys in any order, each `Words` words after the one before; some are there twice, some are not.
template <class Key, int Words>
void check_equal(std::mt19937_64& random) {
  constexpr std::size_t lookups = 37;
  for (std::uint32_t width = 0; width <= 33; ++width) {
    // Not a word more than needed, so that a sanitizer sees a read beyond the last key's entry.
    std::vector<std::uint32_t> words(lookups * width * Words);
    std::vector<core::key_run<Words>> runs(lookups);
    std::vector<Key> wanted(lookups);
    std::vector<unsigned> expected(lookups, width);
    for (std::size_t m = 0; m < lookups; ++m) {
      std::uint32_t* const begin = words.data() + m * width * Words;
      runs[m] = {begin, width};
      wanted[m] = mixed_keys<Key>(1, random)[0];
      for (std::uint32_t i = width; i-- > 0;) {
        Key stored = mixed_keys<Key>(1, random)[0];
        if (test::below(random, 20) == 0) stored = wanted[m];
        std::memcpy(begin + i * Words, &stored, sizeof stored);
        // What stands beside a key must not be taken for one.
        if constexpr (Words * 4 > sizeof stored)
          std::memcpy(begin + i * Words + sizeof(Key) / 4, &wanted[m], sizeof(Key));
        if (stored == wanted[m]) expected[m] = i;
      }
    }
    std::vector<unsigned> slots(lookups, 77);
    best_kernels<Key>().template equal<Words>()(runs.data(), wanted.data(), slots.data(), lookups);
    ASSERT_EQ(slots, expected) << "in runs of " << width;
  }
}

template <class Types>
class simd : public testing::Test {};
template <class Key, class RowId>
struct widths {
  using key = Key;
  using row_id = RowId;
};
using all_widths =
    testing::Types<widths<std::uint32_t, std::uint32_t>, widths<std::uint32_t, std::uint64_t>,
                   widths<std::uint64_t, std::uint32_t>, widths<std::uint64_t, std::uint64_t>>;
TYPED_TEST_SUITE(simd, all_widths);

TYPED_TEST(simd, ranks_keys_in_runs) {
  using key = typename TypeParam::key;
  using row_id = typename TypeParam::row_id;
  using rows = core::row_entries<key, row_id>;
  with_every_target([] {
    auto random = test::generator();
    for (const std::size_t size : {33U, 34U, 300U}) {
      const std::vector<key> keys = mixed_keys<key>(size, random);
      check_runs(core::column_entries<key, row_id>{keys.data(), nullptr}, keys, random);
      // Not a word more than needed, so that a sanitizer sees a read beyond the last entry.
      std::vector<std::uint32_t> words(size * rows::words_per_entry);
      for (std::size_t i = 0; i < size; ++i)
        rows::put(words.data(), i, keys[i], static_cast<row_id>(random()));
      check_runs(rows{words.data()}, keys, random);
    }
  });
}

TYPED_TEST(simd, finds_keys_in_runs) {
  using key = typename TypeParam::key;
  with_every_target([] {
    auto random = test::generator();
    check_equal<key, sizeof(key) / 4>(random);
    check_equal<key, sizeof(key) / 2>(random);
  });
}

TYPED_TEST(simd, ranks_keys_in_quantised_nodes) {
  using key = typename TypeParam::key;
  using node = core::quantised_node<key>;
  with_every_target([] {
    auto random = test::generator();
    const std::vector<key> keys = mixed_keys<key>(50 * node::fan_out * 8 - 5, random);
    const core::pivot_levels levels(keys.size(), 8, node::fan_out, 1, 1);
    std::vector<node> nodes(levels.nodes());
    const core::place_nodes<core::column_entries<key, std::uint32_t>> place{
        levels, {keys.data(), nullptr}, keys.size(), nodes.data()};
    for (std::uint64_t i = 0; i < place.items(); ++i)
      place(i);
    std::vector<const node*> asked;
    std::vector<key> wanted;
    std::vector<unsigned> expected;
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      for (const key one : mixed_keys<key>(40, random)) {
        asked.push_back(&nodes[i]);
        wanted.push_back(asked.size() % 2 == 0 ? one : keys[test::below(random, keys.size())]);
        expected.push_back(nodes[i].rank(wanted.back()));
      }
    }
    std::vector<unsigned> ranks(asked.size(), 77);
    best_kernels<key>().separators(asked.data(), wanted.data(), ranks.data(), asked.size());
    ASSERT_EQ(ranks, expected);
  });
}

}  // namespace
}  // namespace raydex::cpu
