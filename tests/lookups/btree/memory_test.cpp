// SPDX-License-Identifier: Apache-2.0
// What an index holds, what its build and its edits need, and that a failed build leaks nothing.
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "raydex/raydex.hpp"
#include "tests/support/limited_resource.hpp"
#include "tests/support/random.hpp"
#include "tests/support/tested_backend.hpp"

namespace raydex {
namespace {

class btree_memory : public test::backend_test {
 protected:
  template <class T>
  buffer<T> random_cells(std::size_t n) const {
    auto random = test::generator();
    std::vector<T> cells(n);
    for (T& cell : cells)
      cell = static_cast<T>(random());
    return at().upload(cells);
  }
  std::unique_ptr<btree> build(const column& keys, const std::optional<column>& row_ids,
                               unsigned fill) const {
    return build_btree(at().where(), at(), keys, row_ids, {.fill = fill});
  }

  void check(const column& keys, const std::optional<column>& row_ids,
             std::size_t entry_bytes) const {
    const auto sorted = build_sorted_array(at().where(), at(), keys, row_ids);
    for (const unsigned fill : {50U, 80U, 100U}) {
      SCOPED_TRACE(std::to_string(entry_bytes) + " bytes an entry, fill=" + std::to_string(fill));
      const auto built = build(keys, row_ids, fill);
      const std::size_t filled = keys.size * entry_bytes * 100 / fill;
      // A root has a table of 16 KiB.
      EXPECT_GE(built->info().resident_bytes, filled);
      EXPECT_LE(built->info().resident_bytes, filled + filled * 15 / 100 + (16 << 10));
      EXPECT_LE(built->info().build_peak_bytes,
                std::max(sorted->info().build_peak_bytes, 3 * built->info().resident_bytes));
    }
  }
};

TEST_F(btree_memory, is_that_of_pages_filled_as_asked) {
  const std::size_t n = 100'003;
  const auto narrow = random_cells<std::uint32_t>(n);
  const auto wide = random_cells<std::uint64_t>(n);
  check(column(narrow), std::nullopt, 8);
  check(column(wide), std::nullopt, 12);
  check(column(wide), column(narrow), 12);
}

TEST_F(btree_memory, of_few_entries_is_a_page) {
  for (const std::size_t n : {0u, 1u, 100u}) {
    const auto keys = random_cells<std::uint32_t>(n);
    EXPECT_LE(build(column(keys), {}, 80)->info().resident_bytes, n == 0 ? 0 : 1200) << n;
  }
}

TEST_F(btree_memory, what_is_erased_is_given_back) {
  const std::size_t n = 100'000;
  std::vector<std::uint32_t> cells(n);
  for (std::size_t i = 0; i < n; ++i)
    cells[i] = static_cast<std::uint32_t>(i);
  const auto keys = at().upload(cells);
  const auto built = build(column(keys), {}, 80);
  const std::size_t before = built->info().resident_bytes;
  cells.resize(n - n / 10);
  const auto most = at().upload(cells);
  built->edit(context(at()).stream, {.insert = {}, .insert_rows = {}, .erase = column(most)});
  // What is left takes few pages; those that have become free are kept for what comes.
  EXPECT_LE(built->info().resident_bytes, 2 * before);
  built->edit(context(at()).stream, {.insert = {}, .insert_rows = {}, .erase = column(keys)});
  EXPECT_EQ(built->info().resident_bytes, 0);
  EXPECT_EQ(built->info().entries, 0);
}

TEST_F(btree_memory, a_build_that_runs_out_leaks_nothing_and_says_what_it_asked) {
  const auto keys = random_cells<std::uint32_t>(10'001);
  test::check_memory_of_build(
      at(), [&](const context& on) { return build_btree(at().where(), on, column(keys)); });
}

}  // namespace
}  // namespace raydex
