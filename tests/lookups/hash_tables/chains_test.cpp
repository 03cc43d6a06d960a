// SPDX-License-Identifier: Apache-2.0
// Chains of nodes: how many there are, long ones, and those that edits make longer.
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <vector>

#include "tests/lookups/hash_tables/tables.hpp"
#include "tests/support/random.hpp"

namespace raydex {
namespace {

class hash_chains : public test::hash_table_test {
 protected:
  std::unique_ptr<hash_bucket> build(const std::vector<std::uint32_t>& keys,
                                     const hash_bucket_options& options = {}) const {
    const auto cells = at().upload(keys);
    return build_hash_bucket(at().where(), at(), column(cells), {}, options);
  }
  void insert(index& into, const std::vector<std::uint32_t>& keys,
              const std::vector<std::uint32_t>& rows) const {
    const auto cells = at().upload(keys);
    const auto row_cells = at().upload(rows);
    into.edit(context(at()).stream, {.insert = column(cells), .insert_rows = column(row_cells)});
  }
  void erase(index& from, const std::vector<std::uint32_t>& keys) const {
    const auto cells = at().upload(keys);
    from.edit(context(at()).stream, {.erase = column(cells)});
  }
  static std::uint32_t chains_of(const hash_bucket& built) {
    return built.view<std::uint32_t, std::uint32_t>().chains;
  }
};

TEST_F(hash_chains, are_as_many_as_the_occupancy_asks) {
  const auto keys = numbers(0, 6000);
  EXPECT_EQ(chains_of(*build(keys)), 400);
  EXPECT_EQ(chains_of(*build(keys, {.occupancy = 150})), 267);
  EXPECT_EQ(chains_of(*build(keys, {.occupancy = 25})), 1600);
  EXPECT_EQ(chains_of(*build(keys, {.occupancy = 400})), 100);
  EXPECT_EQ(chains_of(*build({})), 1);
  // 1.43 nodes each by the Poisson distribution of mean 15.
  const auto bytes = static_cast<double>(build(keys)->info().resident_bytes);
  EXPECT_NEAR(bytes / (128 * 400), 1.43, 0.1);
}

// All keys in one chain of a few nodes, with none, some or all slots of the last node in use.
TEST_F(hash_chains, of_many_nodes) {
  const auto all = of_one_home(100, 7);
  for (const std::size_t size : {14U, 15U, 16U, 30U, 31U, 75U}) {
    SCOPED_TRACE(size);
    const std::vector<std::uint32_t> keys(all.begin(),
                                          all.begin() + static_cast<std::ptrdiff_t>(size));
    const auto tested =
        build(keys, {.occupancy = 400, .reading = bucket_reading::shared, .seed = 7});
    expect_answers_of(keys, *tested, all);
    expect_answers_of(
        keys, *build(keys, {.occupancy = 400, .reading = bucket_reading::single, .seed = 7}), all);
  }
}

// Slots of erased entries are used again.
TEST_F(hash_chains, change_in_their_own_nodes) {
  const auto all = of_one_home(120, 7);
  const std::vector<std::uint32_t> first(all.begin(), all.begin() + 60);
  const std::vector<std::uint32_t> gone(all.begin() + 10, all.begin() + 40);
  const std::vector<std::uint32_t> more(all.begin() + 60, all.begin() + 90);
  const auto tested = build(first, {.occupancy = 400, .seed = 7});
  const std::uint64_t bytes = tested->info().resident_bytes;
  erase(*tested, gone);
  EXPECT_EQ(tested->info().resident_bytes, bytes);
  insert(*tested, more, numbers(60, 90));
  EXPECT_EQ(tested->info().resident_bytes, bytes);
  EXPECT_EQ(tested->info().entries, 60);
  const auto cells = at().upload(all);
  const auto got = test::ask(at(), *tested, points(column(cells)));
  for (std::uint32_t i = 0; i < 120; ++i) {
    const bool is_there = i < 10 || (i >= 40 && i < 90);
    ASSERT_EQ(got.first[i], is_there ? i : not_found<std::uint32_t>) << i;
  }
  erase(*tested, all);
  EXPECT_EQ(tested->info().entries, 0);
  EXPECT_EQ(tested->info().resident_bytes, 128);  // made anew
  insert(*tested, {all[3]}, {7});
  EXPECT_EQ(test::ask(at(), *tested, points(column(cells))).first[3], 7);
}

// Keys are rows, which are drawn again and again; `there` says which are in the table.
TEST_F(hash_chains, grow_up_to_twice_their_keys) {
  auto random = test::generator();
  auto keys = numbers(0, 3000);
  std::shuffle(keys.begin(), keys.end(), random);
  const std::vector<std::uint32_t> first(keys.begin(), keys.begin() + 1000);
  const auto tested = build(first);
  std::vector<std::uint32_t> there = first;
  std::vector<bool> in(3000);
  // Row ids of the build are positions.
  std::vector<std::uint32_t> row_of(3000);
  for (std::uint32_t i = 0; i < 1000; ++i) {
    in[first[i]] = true;
    row_of[first[i]] = i;
  }
  const std::uint32_t chains = chains_of(*tested);
  for (const unsigned size : {1100U, 1500U, 1999U, 2100U}) {
    SCOPED_TRACE(size);
    const std::vector<std::uint32_t> more(keys.begin() + static_cast<std::ptrdiff_t>(there.size()),
                                          keys.begin() + static_cast<std::ptrdiff_t>(size));
    insert(*tested, more, more);
    for (const std::uint32_t key : more) {
      in[key] = true;
      row_of[key] = key;
    }
    there.insert(there.end(), more.begin(), more.end());
    EXPECT_EQ(chains_of(*tested) == chains, size <= 2 * chains * 15);
    const auto cells = at().upload(numbers(0, 3000));
    const auto got = test::ask(at(), *tested, points(column(cells)));
    for (std::uint32_t key = 0; key < 3000; ++key)
      ASSERT_EQ(got.first[key], in[key] ? row_of[key] : not_found<std::uint32_t>) << key;
  }
}

}  // namespace
}  // namespace raydex
