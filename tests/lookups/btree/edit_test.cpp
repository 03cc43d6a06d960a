// SPDX-License-Identifier: Apache-2.0
// Pages that are split, put together, freed and used again.
#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "tests/lookups/btree/edited_btree.hpp"
#include "tests/support/random.hpp"
#include "tests/support/tested_backend.hpp"

namespace raydex {
namespace {

template <class Entry>
class btree_edits : public test::backend_test {
 protected:
  using key = typename Entry::first_type;
  using row = typename Entry::second_type;
  using tree_type = test::edited_btree<key, row>;
  using entries = typename tree_type::entries;

  // Keys `step` apart, from `first` on.
  entries even(std::size_t count, key first, key step) {
    entries all;
    for (std::size_t i = 0; i < count; ++i)
      all.emplace_back(static_cast<key>(first + i * step), next_row_++);
    return all;
  }
  entries random_ones(std::size_t count, std::uint64_t bound) {
    entries all;
    for (std::size_t i = 0; i < count; ++i)
      all.emplace_back(static_cast<key>(test::below(random_, bound)), next_row_++);
    return all;
  }
  // Every `step`-th of what an index holds, of ranks [begin, end).
  static entries some_of(const tree_type& of, std::size_t begin, std::size_t end,
                         std::size_t step) {
    entries all;
    for (std::size_t i = begin; i < end && i < of.held().size(); i += step)
      all.push_back(of.held()[i]);
    return all;
  }
  void check(const tree_type& of) { of.check(random_, 300); }

  std::mt19937_64 random_ = test::generator();
  row next_row_ = 0;
};

using entry_types = testing::Types<std::pair<std::uint32_t, std::uint32_t>,
                                   std::pair<std::uint64_t, std::uint32_t>>;
TYPED_TEST_SUITE(btree_edits, entry_types);

TYPED_TEST(btree_edits, one_place_takes_all) {
  for (const unsigned fill : {50U, 100U}) {
    typename TestFixture::tree_type tree(this->at(), this->even(1000, 10'000, 10), fill);
    tree.edit(this->even(1500, 30'000, 1), {}, false);  // behind all
    this->check(tree);
    tree.edit(this->even(1500, 0, 2), {}, false);  // before all
    this->check(tree);
    tree.edit(this->even(700, 15'001, 0), {}, false);  // between two, of one key
    this->check(tree);
  }
}

TYPED_TEST(btree_edits, free_pages_are_used_again) {
  typename TestFixture::tree_type tree(this->at(), this->random_ones(5000, 100'000), 80);
  for (unsigned wave = 0; wave < 8; ++wave) {
    SCOPED_TRACE(wave);
    tree.edit(this->random_ones(20, 100'000), this->random_ones(20, 100'000), false);
    this->check(tree);
  }
  // Batches of the same size need no more memory once there are free pages.
  const auto before = tree.built().info().resident_bytes;
  for (unsigned wave = 0; wave < 4; ++wave) {
    tree.edit(this->random_ones(20, 100'000), TestFixture::some_of(tree, wave, 5000, 250), true);
    this->check(tree);
  }
  EXPECT_LE(tree.built().info().resident_bytes, before + before / 50);
}

// Smaller batches leave some of the free pages, for later ones.
TYPED_TEST(btree_edits, some_of_the_free_pages_are_used) {
  typename TestFixture::tree_type tree(this->at(), this->random_ones(5000, 100'000), 80);
  for (const std::size_t size : {1U, 12U, 5U, 2U, 1U, 1U, 7U, 3U, 1U, 1U}) {
    SCOPED_TRACE(size);
    tree.edit(this->random_ones(size, 100'000), {}, false);
    this->check(tree);
  }
}

TYPED_TEST(btree_edits, pages_that_empty_are_put_together) {
  typename TestFixture::tree_type tree(this->at(), this->random_ones(5000, 100'000), 80);
  tree.edit({}, TestFixture::some_of(tree, 1000, 4000, 1), true);  // whole pages
  this->check(tree);
  for (const std::size_t step : {2u, 3u, 2u, 5u}) {
    tree.edit({}, TestFixture::some_of(tree, 0, 5000, step), true);
    this->check(tree);
  }
  tree.edit(this->random_ones(300, 100'000), {}, false);
  this->check(tree);
  tree.edit({}, tree.held(), false);
  this->check(tree);
  tree.edit({}, this->random_ones(10, 100), true);  // there is nothing to erase
  this->check(tree);
  tree.edit(this->random_ones(600, 1000), {}, false);
  this->check(tree);
}

TYPED_TEST(btree_edits, equal_keys_and_the_largest_one) {
  constexpr auto largest = static_cast<typename TestFixture::key>(-1);
  typename TestFixture::tree_type tree(this->at(), this->even(700, largest, 0), 80);
  this->check(tree);
  tree.edit(this->even(700, largest, 0), TestFixture::some_of(tree, 0, 700, 2), true);
  this->check(tree);
  tree.edit(this->even(700, largest - 1, 0), {}, false);
  this->check(tree);
  tree.edit(this->even(3, 0, 0), this->even(1, largest, 0), false);
  this->check(tree);
  tree.edit(TestFixture::some_of(tree, 0, 700, 1), {}, false);  // entries that are there already
  this->check(tree);
}

TYPED_TEST(btree_edits, batches_larger_than_the_index) {
  typename TestFixture::tree_type tree(this->at(), this->random_ones(10, 50'000), 80);
  tree.edit(this->random_ones(3000, 50'000), this->random_ones(10, 50'000), false);
  this->check(tree);
  tree.edit(this->random_ones(6000, 50'000), TestFixture::some_of(tree, 0, 9000, 2), true);
  this->check(tree);
}

TYPED_TEST(btree_edits, what_changes_nothing_changes_nothing) {
  typename TestFixture::tree_type tree(this->at(), this->even(1000, 0, 2), 80);
  const auto bytes = tree.built().info().resident_bytes;
  tree.edit({}, this->even(1000, 1, 2), false);
  this->check(tree);
  tree.edit({}, this->even(1000, 0, 2), true);  // other row ids
  this->check(tree);
  EXPECT_EQ(tree.built().info().resident_bytes, bytes);
}

}  // namespace
}  // namespace raydex
