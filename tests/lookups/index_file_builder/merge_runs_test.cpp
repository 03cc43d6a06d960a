// SPDX-License-Identifier: Apache-2.0
// A merge of sorted runs agrees with std::sort.
#include "src/machines/cpu/keys/merge_runs.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "tests/support/random.hpp"

namespace raydex::cpu {
namespace {

template <class Key, class Row, class OutRow>
void check(std::size_t runs, std::uint64_t size, std::uint64_t key_mask) {
  auto random = test::generator(runs + size);
  struct run {
    std::vector<Key> keys;
    std::vector<Row> rows;
  };
  std::vector<run> all(runs);
  std::vector<std::pair<Key, OutRow>> oracle;
  std::vector<run_piece<Key, Row, OutRow>> pieces;
  std::vector<std::uint64_t> sizes;
  std::uint64_t base = 0;
  for (run& one : all) {
    std::vector<std::pair<Key, Row>> entries(test::below(random, 2 * size + 1));
    for (std::size_t i = 0; i < entries.size(); ++i)
      entries[i] = {static_cast<Key>(random() & key_mask), static_cast<Row>(i)};
    std::sort(entries.begin(), entries.end());
    for (const auto& [key, row] : entries) {
      one.keys.push_back(key);
      one.rows.push_back(row);
      oracle.emplace_back(key, static_cast<OutRow>(base + row));
    }
    pieces.push_back({one.keys.data(), one.rows.data(), entries.size(), base});
    sizes.push_back(entries.size());
    base += entries.size();
  }
  std::sort(oracle.begin(), oracle.end());
  std::vector<Key> keys(oracle.size());
  std::vector<OutRow> rows(oracle.size());
  merge_pieces(pieces, sizes, keys.data(), rows.data());
  for (std::size_t i = 0; i < oracle.size(); ++i) {
    ASSERT_EQ(keys[i], oracle[i].first) << i << " of " << runs << " runs";
    ASSERT_EQ(rows[i], oracle[i].second) << i << " of " << runs << " runs";
  }
}

TEST(merge_runs, is_a_sort) {
  for (const std::size_t runs : {1u, 2u, 3u, 7u, 8u, 33u}) {
    for (const std::uint64_t size : {0u, 1u, 5u, 20'000u}) {
      for (const std::uint64_t mask : {~std::uint64_t{0}, std::uint64_t{3}, std::uint64_t{0}}) {
        check<std::uint32_t, std::uint32_t, std::uint32_t>(runs, size, mask);
        check<std::uint64_t, std::uint32_t, std::uint32_t>(runs, size, mask);
        check<std::uint32_t, std::uint32_t, std::uint64_t>(runs, size, mask);
        check<std::uint64_t, std::uint64_t, std::uint64_t>(runs, size, mask);
      }
    }
  }
}

TEST(merge_runs, keys_may_be_the_largest_ones) {
  const std::vector<std::uint32_t> keys{7, 0xffff'ffff, 0xffff'ffff};
  const std::vector<std::uint32_t> rows{0, 1, 2};
  using piece = run_piece<std::uint32_t, std::uint32_t, std::uint32_t>;
  const std::vector<piece> pieces{{keys.data(), rows.data(), 3, 0},
                                  {keys.data(), rows.data(), 3, 3}};
  std::vector<std::uint32_t> merged_keys(6);
  std::vector<std::uint32_t> merged_rows(6);
  merge_pieces(pieces, {3, 3}, merged_keys.data(), merged_rows.data());
  const std::uint32_t most = 0xffff'ffff;
  EXPECT_EQ(merged_keys, (std::vector<std::uint32_t>{7, 7, most, most, most, most}));
  EXPECT_EQ(merged_rows, (std::vector<std::uint32_t>{0, 3, 1, 2, 4, 5}));
}

}  // namespace
}  // namespace raydex::cpu
