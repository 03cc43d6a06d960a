// SPDX-License-Identifier: Apache-2.0
// layout=keys: row ids that are ranks are not stored. What it answers is tested by conformance.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <optional>
#include <vector>

#include "raydex/raydex.hpp"
#include "tests/support/expect_error.hpp"
#include "tests/support/limited_resource.hpp"
#include "tests/support/random.hpp"
#include "tests/support/tested_backend.hpp"

namespace raydex {
namespace {

class pivot_tree_of_keys_alone : public test::backend_test {
 protected:
  std::unique_ptr<index> build(const context& on, const column& keys,
                               const std::optional<column>& row_ids = std::nullopt) const {
    return raydex::build("pivot_tree", at().where(), on, keys, row_ids, {{"layout", "keys"}});
  }
  std::vector<std::uint32_t> first(const index& of,
                                   const std::vector<std::uint32_t>& wanted) const {
    const auto there = at().upload(wanted);
    buffer<std::uint32_t> rows(at(), wanted.size());
    of.first(at(), points(column(there)), rows);
    return at().download(rows);
  }
};

// Ascending, with copies.
template <class Key>
std::vector<Key> ascending(std::size_t size) {
  auto random = test::generator();
  std::vector<Key> keys(size);
  for (Key& key : keys)
    key = static_cast<Key>(random() >> (sizeof(Key) == 8 ? 20 : 40));
  std::sort(keys.begin(), keys.end());
  return keys;
}

TEST_F(pivot_tree_of_keys_alone, holds_little_but_the_keys_and_builds_in_as_much) {
  const std::size_t n = test::small_scale() ? 300'000 : 1'000'000;
  const auto check = [&](const column& keys, std::size_t width) {
    const auto built = build(at(), keys);
    const std::size_t bytes = n * width;
    // The root of few keys has one of each leaf, beside 16 KiB.
    const std::size_t tree = test::small_scale() ? bytes / 8 + 17'000 : bytes / 12;
    EXPECT_GE(built->info().resident_bytes, bytes);
    EXPECT_LE(built->info().resident_bytes, bytes + tree);
    EXPECT_LE(built->info().build_peak_bytes, bytes + tree + (1 << 14));
  };
  const auto narrow = at().upload(ascending<std::uint32_t>(n));
  const auto wide = at().upload(ascending<std::uint64_t>(n));
  check(column(narrow), 4);
  check(column(wide), 8);
}

TEST_F(pivot_tree_of_keys_alone, refuses_columns_whose_row_ids_are_no_ranks) {
  const auto refused = [&](const column& keys, const std::optional<column>& row_ids) {
    test::expect_error<unsupported>([&] { build(at(), keys, row_ids); }, {"option layout", "keys"});
  };
  auto keys = ascending<std::uint32_t>(70'001);
  const auto good = at().upload(keys);
  const auto bits = at().upload(std::vector<std::uint8_t>(70'001 / 8 + 1, 0xff));
  refused(column(good), column(good));
  refused(column(good, bits.data()), std::nullopt);
  for (const std::size_t place : {std::size_t{0}, std::size_t{35'000}, keys.size() - 2}) {
    std::vector<std::uint32_t> descends = keys;
    descends[place] = descends[place + 1] + 1;
    const auto bad = at().upload(descends);
    refused(column(bad), std::nullopt);
  }
}

TEST_F(pivot_tree_of_keys_alone, takes_edits_after_which_row_ids_are_ranks) {
  const stream_t stream = context(at()).stream;
  auto keys = ascending<std::uint32_t>(5'000);
  const auto there = at().upload(keys);
  const auto built = build(at(), column(there));

  // Rows behind the last one, whose keys are not smaller.
  const std::vector<std::uint32_t> more{keys.back(), keys.back() + 1, keys.back() + 9};
  const std::vector<std::uint32_t> rows{5'000, 5'001, 5'002};
  const auto more_there = at().upload(more);
  const auto rows_there = at().upload(rows);
  built->edit(stream, {.insert = column(more_there), .insert_rows = column(rows_there)});
  keys.insert(keys.end(), more.begin(), more.end());
  EXPECT_EQ(built->info().entries, 5'003);

  std::vector<std::uint32_t> expected;
  for (const std::uint32_t key : keys)
    expected.push_back(
        static_cast<std::uint32_t>(std::lower_bound(keys.begin(), keys.end(), key) - keys.begin()));
  EXPECT_EQ(first(*built, keys), expected);

  // Of others it keeps what it had.
  const auto refused = [&](const auto& edit) {
    test::expect_error<unsupported>(edit, {"edit", "layout=keys"});
    EXPECT_EQ(built->info().entries, 5'003);
    EXPECT_EQ(first(*built, keys), expected);
  };
  const auto early = at().upload(std::vector<std::uint32_t>{0});
  const auto row = at().upload(std::vector<std::uint32_t>{5'003});
  refused([&] { built->edit(stream, {.insert = column(early), .insert_rows = column(row)}); });
  const auto gone = at().upload(std::vector<std::uint32_t>{keys[7]});
  refused([&] { built->edit(stream, {.erase = column(gone)}); });

  // The last rows can go.
  const auto last = at().upload(std::vector<std::uint32_t>{keys.back()});
  built->edit(stream, {.erase = column(last)});
  EXPECT_EQ(built->info().entries, 5'002);
}

TEST_F(pivot_tree_of_keys_alone, a_build_that_runs_out_leaks_nothing_and_says_what_it_asked) {
  const auto keys = at().upload(ascending<std::uint32_t>(10'001));
  test::check_memory_of_build(at(), [&](const context& on) { return build(on, column(keys)); });
}

}  // namespace
}  // namespace raydex
