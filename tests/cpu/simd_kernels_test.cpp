// SPDX-License-Identifier: Apache-2.0
// The vector kernels of every instruction set that this machine has.
#include "src/machines/cpu/lookups/simd_kernels.hpp"

#include <gtest/gtest.h>
#include <hwy/targets.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <random>
#include <string>
#include <type_traits>
#include <vector>

#include "raydex/core/lookups/tree_build.hpp"
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

// Buckets of few different hashes, in some slots more than once. What stands beside hashes looks
// like one of them.
template <class Buckets>
void check_buckets(std::mt19937_64& random) {
  using key = typename Buckets::key_type;
  using row_id = typename Buckets::row_id_type;
  struct alignas(4 * Buckets::words) bucket_words {
    std::uint32_t word[Buckets::words];
  };
  constexpr std::uint32_t count = 40;
  constexpr std::size_t lookups = 61;
  std::vector<bucket_words> memory(count);
  const Buckets table{memory[0].word};
  std::vector<key> keys(lookups);
  for (key& wanted : keys)
    wanted = mixed_keys<key>(1, random)[0];
  const auto hasher = core::hash_by<key>(random());
  const auto any_hash = [&] { return hasher(keys[test::below(random, lookups)]); };
  for (std::uint32_t bucket = 0; bucket < count; ++bucket) {
    for (unsigned word = 0; word < Buckets::words; ++word)
      table.at(bucket)[word] = static_cast<std::uint32_t>(any_hash());
    for (unsigned slot = 0; slot < Buckets::slots; ++slot) {
      const bool is_empty = test::below(random, 5) == 0;
      table.put_key(bucket, slot, any_hash());
      *table.row(bucket, slot) = is_empty ? Buckets::none : static_cast<row_id>(any_hash());
    }
  }
  std::vector<key> hashes(lookups);
  std::vector<std::uint32_t> homes(lookups);
  std::vector<unsigned> slots(lookups, 77);
  std::vector<row_id> rows(lookups, 77);
  const auto check_found = [&] {
    for (std::size_t m = 0; m < lookups; ++m) {
      unsigned slot = 0;
      while (slot < Buckets::slots && table.key(homes[m], slot) != hashes[m])
        ++slot;
      ASSERT_EQ(slots[m], slot) << m;
      ASSERT_EQ(rows[m], slot == Buckets::slots ? Buckets::none : *table.row(homes[m], slot)) << m;
    }
  };
  const auto best = table_kernels<key, row_id>::best().kernels_for(table);
  best.in_homes(table, hasher, count, keys.data(), hashes.data(), homes.data(), slots.data(),
                rows.data(), lookups);
  for (std::size_t m = 0; m < lookups; ++m) {
    ASSERT_EQ(hashes[m], hasher(keys[m]));
    ASSERT_EQ(homes[m], core::home_of(hashes[m], count));
  }
  check_found();
  for (std::uint32_t& bucket : homes)
    bucket = static_cast<std::uint32_t>(test::below(random, count));
  best.in_buckets(table, homes.data(), hashes.data(), slots.data(), rows.data(), lookups);
  check_found();
}

template <class Types>
class simd : public testing::Test {};
template <class Key, class RowId>
struct widths {
  using key = Key;
  using row_id = RowId;
};
using all_widths =
    testing::Types<widths<std::uint32_t, std::uint32_t>, widths<std::uint64_t, std::uint32_t>>;
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

TYPED_TEST(simd, hashes_numbers) {
  using key = typename TypeParam::key;
  with_every_target([] {
    auto random = test::generator();
    for (const std::size_t size : {0U, 1U, 7U, 16U, 513U}) {
      const std::vector<key> keys = mixed_keys<key>(size, random);
      const auto flipped = static_cast<key>(random());
      const auto mix = core::hash_by<key>(random());
      std::vector<key> hashes(size + 1, 77);
      best_kernels<key>().hash(keys.data(), flipped, mix, hashes.data(), size);
      for (std::size_t i = 0; i < size; ++i)
        ASSERT_EQ(hashes[i], mix(keys[i] ^ flipped));
      ASSERT_EQ(hashes[size], 77);
    }
  });
}

TYPED_TEST(simd, finds_hashes_in_buckets) {
  using all = table_kernels<typename TypeParam::key, typename TypeParam::row_id>;
  with_every_target([] {
    auto random = test::generator();
    for (int i = 0; i < 20; ++i) {
      check_buckets<typename all::line>(random);
      check_buckets<typename all::two_lines>(random);
      check_buckets<typename all::node>(random);
    }
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
