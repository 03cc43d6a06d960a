// SPDX-License-Identifier: Apache-2.0
// What an index holds, what its build needs, and that a failed build leaks nothing.
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "raydex/raydex.hpp"
#include "tests/support/limited_resource.hpp"
#include "tests/support/tested_backend.hpp"

namespace raydex {
namespace {

class eytzinger_memory : public test::backend_test {
 protected:
  template <class T>
  buffer<T> cells(std::size_t n) const {
    return at().upload(std::vector<T>(n, 7));
  }
  std::unique_ptr<eytzinger> build(const context& on, const column& keys,
                                   const std::optional<column>& row_ids,
                                   const eytzinger_options& options) const {
    return build_eytzinger(at().where(), on, keys, row_ids, options);
  }
};

TEST_F(eytzinger_memory, holds_keys_and_row_ids_and_nothing_more) {
  for (const layout entries : {layout::column, layout::row}) {
    for (const unsigned k : {2U, 9U, 33U}) {
      for (const std::size_t n : {0u, 1u, 1000u, 100'003u}) {
        const auto narrow = cells<std::uint32_t>(n);
        const auto wide = cells<std::uint64_t>(n);
        const auto bytes = [&](const column& keys, const std::optional<column>& row_ids) {
          const auto built = build(at(), keys, row_ids, {.layout = entries, .k = k});
          return built->info().resident_bytes;
        };
        EXPECT_EQ(bytes(column(narrow), std::nullopt), 8 * n);
        EXPECT_EQ(bytes(column(wide), std::nullopt), 12 * n);
        EXPECT_EQ(bytes(column(wide), column(narrow)), 12 * n);
      }
    }
  }
}

TEST_F(eytzinger_memory, needs_what_a_sorted_array_does_or_twice_what_it_holds) {
  const auto check = [&](const column& keys, const std::optional<column>& row_ids) {
    const auto sorted = build_sorted_array(at().where(), at(), keys, row_ids);
    for (const layout entries : {layout::column, layout::row}) {
      const auto built = build(at(), keys, row_ids, {.layout = entries});
      EXPECT_LE(built->info().build_peak_bytes,
                std::max(sorted->info().build_peak_bytes, 2 * built->info().resident_bytes));
    }
  };
  const auto narrow = cells<std::uint32_t>(100'003);
  const auto wide = cells<std::uint64_t>(100'003);
  check(column(narrow), std::nullopt);
  check(column(wide), std::nullopt);
  check(column(wide), column(narrow));
}

TEST_F(eytzinger_memory, a_build_that_runs_out_leaks_nothing_and_says_what_it_asked) {
  const auto keys = cells<std::uint32_t>(10'000);
  for (const layout entries : {layout::column, layout::row}) {
    test::check_memory_of_build(
        at(), [&](const context& on) { return build(on, column(keys), {}, {.layout = entries}); });
  }
}

}  // namespace
}  // namespace raydex
