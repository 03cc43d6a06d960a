// SPDX-License-Identifier: Apache-2.0
// What an index holds, what its build needs, and that a failed build leaks nothing.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "raydex/raydex.hpp"
#include "tests/support/limited_resource.hpp"
#include "tests/support/random.hpp"
#include "tests/support/tested_backend.hpp"

namespace raydex {
namespace {

const std::vector<option_map>& tested_options() {
  static const std::vector<option_map> all{
      {},
      {{"nodes", "exact"}},
      {{"nodes", "quantised"}},
      {{"nodes", "narrow"}},
      {{"search", "groups"}, {"k", "9"}},
      {{"search", "groups"}, {"k", "9"}, {"layout", "column"}}};
  return all;
}

std::string describe(const option_map& options) {
  std::string text;
  for (const auto& [name, value] : options)
    text.append(" ").append(name).append("=").append(value);
  return text;
}

class pivot_tree_memory : public test::backend_test {
 protected:
  template <class T>
  buffer<T> random_cells(std::size_t n) const {
    auto random = test::generator();
    std::vector<T> cells(n);
    for (T& cell : cells)
      cell = static_cast<T>(random());
    return at().upload(cells);
  }
  std::unique_ptr<index> build(const context& on, const column& keys,
                               const std::optional<column>& row_ids,
                               const option_map& options) const {
    return raydex::build("pivot_tree", at().where(), on, keys, row_ids, options);
  }

  // The tree takes at most a tenth of the entries' bytes, and the build needs what is documented.
  void check(const column& keys, const std::optional<column>& row_ids,
             std::size_t entry_bytes) const {
    const std::size_t entries = keys.size * entry_bytes;
    for (const option_map& options : tested_options()) {
      SCOPED_TRACE(std::to_string(entry_bytes) + " bytes an entry" + describe(options));
      const auto built = build(at(), keys, row_ids, options);
      EXPECT_GE(built->info().resident_bytes, entries);
      EXPECT_LE(built->info().resident_bytes, entries + entries / 10);
      // Twice the entries, and what a sort counts with. Trees of groups lie beside both.
      const std::size_t most = 2 * entries + entries / 32 + (keys.size / 65'536 + 1) * 2048;
      const bool groups = options.contains("search");
      EXPECT_LE(built->info().build_peak_bytes,
                groups ? std::max(most, 3 * built->info().resident_bytes) : most);
    }
  }
};

TEST_F(pivot_tree_memory, a_tree_holds_a_tenth_of_its_entries_at_most) {
  const std::size_t n = test::small_scale() ? 300'000 : 1'000'000;
  const auto narrow = random_cells<std::uint32_t>(n);
  const auto wide = random_cells<std::uint64_t>(n);
  check(column(narrow), std::nullopt, 8);
  check(column(wide), std::nullopt, 12);
}

TEST_F(pivot_tree_memory, of_explicit_row_ids_it_holds_no_more) {
  const auto narrow = random_cells<std::uint32_t>(100'003);
  const auto wide = random_cells<std::uint64_t>(100'003);
  check(column(narrow), column(narrow), 8);
  check(column(wide), column(narrow), 12);
}

TEST_F(pivot_tree_memory, of_few_entries_it_holds_a_line_more) {
  for (const std::size_t n : {0u, 1u, 2u, 8u}) {
    const auto keys = random_cells<std::uint32_t>(n);
    // Leaves end with a whole line.
    EXPECT_LE(build(at(), column(keys), {}, {})->info().resident_bytes, n == 0 ? 0 : 64) << n;
    EXPECT_LE(build(at(), column(keys), {}, {{"search", "groups"}})->info().resident_bytes,
              n == 0 ? 0 : 8 * n + 32)
        << n;
  }
}

TEST_F(pivot_tree_memory, fewer_levels_hold_less) {
  const auto keys = random_cells<std::uint32_t>(20'000);
  std::size_t before = 0;
  for (const char* levels : {"1", "2", "3", "all"}) {
    const auto built = build(at(), column(keys), {}, {{"search", "groups"}, {"levels", levels}});
    EXPECT_GT(built->info().resident_bytes, before);
    before = built->info().resident_bytes;
  }
  const auto binary = build(at(), column(keys), {}, {{"search", "groups"}, {"k", "2"}});
  EXPECT_GT(binary->info().resident_bytes, before);
  EXPECT_LE(binary->info().resident_bytes, 2 * 8 * keys.size());
}

TEST_F(pivot_tree_memory, a_build_that_runs_out_leaks_nothing_and_says_what_it_asked) {
  const auto keys = random_cells<std::uint32_t>(10'001);
  for (const option_map& options : tested_options()) {
    SCOPED_TRACE(describe(options));
    test::check_memory_of_build(
        at(), [&](const context& on) { return build(on, column(keys), {}, options); });
  }
}

}  // namespace
}  // namespace raydex
