// SPDX-License-Identifier: Apache-2.0
// Tables that are full, skewed, or edited without a build; what they refuse, and the memory they
// hold.
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <numeric>
#include <vector>

#include "raydex/raydex.hpp"
#include "tests/support/answers.hpp"
#include "tests/support/expect_error.hpp"
#include "tests/support/limited_resource.hpp"
#include "tests/support/random.hpp"
#include "tests/support/tested_backend.hpp"

namespace raydex {
namespace {

class hash_open_table : public test::backend_test {
 protected:
  std::unique_ptr<hash_open> build(const std::vector<std::uint32_t>& keys,
                                   const hash_open_options& options = {}) const {
    const auto cells = at().upload(keys);
    return build_hash_open(at().where(), at(), column(cells), {}, options);
  }

  // Compares with a sorted array.
  void expect_same(const index& tested, const index& other,
                   const std::vector<std::uint32_t>& asked) const {
    const auto cells = at().upload(asked);
    const probes batch = points(column(cells));
    EXPECT_EQ(test::ask(at(), tested, batch), test::ask(at(), other, batch));
  }
  std::unique_ptr<index> sorted(const std::vector<std::uint32_t>& keys) const {
    const auto cells = at().upload(keys);
    return build_sorted_array(at().where(), at(), column(cells));
  }

  static std::vector<std::uint32_t> numbers(std::uint32_t begin, std::uint32_t end,
                                            std::uint32_t step = 1) {
    std::vector<std::uint32_t> all;
    for (std::uint32_t i = begin; i < end; i += step)
      all.push_back(i);
    return all;
  }
};

// Hashes that all have the same home push each other through the table.
TEST_F(hash_open_table, keys_that_want_the_same_bucket) {
  const std::uint32_t count = test::small_scale() || test::tested_by_emulation() ? 200 : 3000;
  std::vector<std::uint32_t> keys;
  for (std::uint32_t key = 0; keys.size() < count; ++key)
    if (core::hash_of(key) >> 24 == 0xff) keys.push_back(key);
  auto asked = keys;
  for (std::uint32_t key = 1000; asked.size() < 2 * count; ++key)
    if (core::hash_of(key) >> 24 >= 0xfe) asked.push_back(key);
  const auto other = sorted(keys);
  for (const core::hash_placement placement :
       {core::hash_placement::linear, core::hash_placement::jumps, core::hash_placement::choices})
    expect_same(*build(keys, {.load = 95, .placement = placement}), *other, asked);
}

TEST_F(hash_open_table, a_key_of_half_of_all_rows) {
  std::vector<std::uint32_t> keys = numbers(0, 5000);
  for (std::size_t i = 0; i < keys.size(); i += 2)
    keys[i] = 77;
  expect_same(*build(keys), *sorted(keys), numbers(0, 100));
}

TEST_F(hash_open_table, no_key_is_reserved) {
  // Those whose hash marks slots that were never used, and slots that were erased.
  std::vector<std::uint32_t> keys{0, 0xffff'ffff};
  auto random = test::generator();
  for (int i = 0; i < 5000; ++i)
    keys.push_back(static_cast<std::uint32_t>(random()));
  const auto whole = build(keys);
  expect_same(*whole, *sorted(keys), keys);
  const std::vector<std::uint32_t> few{5};
  expect_same(*build(few), *sorted(few), {0, 5, 0xffff'ffff});
  EXPECT_EQ(core::hash_of(0U), 0);
}

TEST_F(hash_open_table, insertions_and_deletions_without_a_build) {
  std::vector<std::uint32_t> keys = numbers(0, 4000);
  const auto tested = build(keys);
  const std::uint64_t bytes = tested->info().resident_bytes;
  const stream_t stream = context(at()).stream;
  for (std::uint32_t wave = 0; wave < 4; ++wave) {
    SCOPED_TRACE(wave);
    const auto insert = numbers(4000 + 50 * wave, 4050 + 50 * wave);
    const auto erase = numbers(7 * wave, 4000, 41);
    const auto insert_cells = at().upload(insert);
    const auto erase_cells = at().upload(erase);
    tested->edit(stream, {.insert = column(insert_cells),
                          .insert_rows = column(insert_cells),
                          .erase = column(erase_cells)});
    keys.insert(keys.end(), insert.begin(), insert.end());
    std::erase_if(keys, [&](std::uint32_t key) {
      return std::binary_search(erase.begin(), erase.end(), key);
    });
    EXPECT_EQ(tested->info().resident_bytes, bytes);
    EXPECT_EQ(tested->info().entries, keys.size());
    // Rows are keys.
    const auto cells = at().upload(numbers(0, 4300));
    const auto got = test::ask(at(), *tested, points(column(cells)));
    for (std::uint32_t key = 0; key < 4300; ++key) {
      const bool is_there = std::find(keys.begin(), keys.end(), key) != keys.end();
      ASSERT_EQ(got.first[key], is_there ? key : not_found<std::uint32_t>) << key;
      ASSERT_EQ(got.counts[key], is_there ? 1 : 0) << key;
    }
  }
}

TEST_F(hash_open_table, more_insertions_than_there_is_room_for) {
  const auto tested = build(numbers(0, 1000));
  const std::uint64_t bytes = tested->info().resident_bytes;
  const auto more = numbers(1000, 3000);
  const auto cells = at().upload(more);
  tested->edit(context(at()).stream, {.insert = column(cells), .insert_rows = column(cells)});
  EXPECT_EQ(tested->info().entries, 3000);
  EXPECT_GT(tested->info().resident_bytes, 2 * bytes);
  expect_same(*tested, *sorted(numbers(0, 3000)), numbers(0, 4000));
}

TEST_F(hash_open_table, an_insertion_of_a_key_that_is_there) {
  const auto tested = build(numbers(0, 1000));
  const std::vector<std::uint32_t> again{7};
  const std::vector<std::uint32_t> row{5000};
  const auto cells = at().upload(again);
  const auto rows = at().upload(row);
  tested->edit(context(at()).stream, {.insert = column(cells), .insert_rows = column(rows)});
  const auto got = test::ask(at(), *tested, points(column(cells)));
  EXPECT_EQ(got.rows, (std::vector<std::uint64_t>{7, 5000}));
  EXPECT_EQ(got.first, (std::vector<std::uint64_t>{7}));
}

TEST_F(hash_open_table, repeated_keys_are_refused_where_that_is_asked) {
  test::expect_error<invalid_argument>(
      [&] {
        build({1, 2, 3, 2, 2}, {.repeats = repetition::refused});
      },
      {"2 of 5 repeat", "repeats=refused"});
  const auto tested = build({1, 2, 3}, {.repeats = repetition::refused});
  const std::vector<std::uint32_t> again{3};
  const auto cells = at().upload(again);
  EXPECT_THROW(
      tested->edit(context(at()).stream, {.insert = column(cells), .insert_rows = column(cells)}),
      invalid_argument);
  expect_same(*tested, *sorted({1, 2, 3}), {0, 1, 2, 3, 4});
}

TEST_F(hash_open_table, ranges_and_places_are_refused) {
  const auto tested = build({1, 2, 3});
  const auto cells = at().upload(std::vector<std::uint32_t>{1, 2});
  buffer<std::uint64_t> out(at(), 2);
  test::expect_error<unsupported>(
      [&] { tested->count(at(), ranges(column(cells), column(cells)), out); },
      {"hash_open", "pivot_tree"});
  test::expect_error<unsupported>([&] { tested->rank(at(), points(column(cells)), out); },
                                  {"rank", "hash_open", "pivot_tree"});
}

TEST_F(hash_open_table, holds_buckets_for_its_load) {
  for (const unsigned load : {10U, 50U, 80U, 95U}) {
    const std::uint64_t bytes = build(numbers(0, 10'000), {.load = load})->info().resident_bytes;
    const double wanted = 8. * 10'000 * 100 / load;
    EXPECT_GE(static_cast<double>(bytes), wanted);
    EXPECT_LE(static_cast<double>(bytes), 1.02 * wanted + 1000);
  }
}

TEST_F(hash_open_table, a_build_that_runs_out_leaks_nothing_and_says_what_it_asked) {
  const auto keys = at().upload(numbers(0, 10'000));
  test::check_memory_of_build(
      at(), [&](const context& on) { return build_hash_open(at().where(), on, column(keys)); });
}

}  // namespace
}  // namespace raydex
