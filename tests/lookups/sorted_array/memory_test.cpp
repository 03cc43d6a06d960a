// SPDX-License-Identifier: Apache-2.0
// What an index holds, what its build needs, and that a failed build leaks nothing.
#include <gtest/gtest.h>

#include <vector>

#include "raydex/raydex.hpp"
#include "tests/support/limited_resource.hpp"
#include "tests/support/random.hpp"
#include "tests/support/tested_backend.hpp"

namespace raydex {
namespace {

using test::limited_resource;

class sorted_array_memory : public test::backend_test {
 protected:
  template <class T>
  buffer<T> equal_cells(std::size_t n) const {
    return at().upload(std::vector<T>(n, 7));
  }
  std::unique_ptr<sorted_array> build(const context& on, const column& keys,
                                      const std::optional<column>& row_ids, layout entries) const {
    return build_sorted_array(at().where(), on, keys, row_ids, {.layout = entries});
  }
};

TEST_F(sorted_array_memory, holds_keys_and_row_ids_and_nothing_more) {
  for (const layout entries : {layout::column, layout::row}) {
    for (const std::size_t n : {0u, 1u, 1000u, 100'003u}) {
      const auto narrow = equal_cells<std::uint32_t>(n);
      const auto wide = equal_cells<std::uint64_t>(n);
      const auto bytes = [&](const column& keys, const std::optional<column>& row_ids) {
        return build(at(), keys, row_ids, entries)->info().resident_bytes;
      };
      EXPECT_EQ(bytes(column(narrow), std::nullopt), 8 * n);
      EXPECT_EQ(bytes(column(wide), std::nullopt), 12 * n);
      EXPECT_EQ(bytes(column(wide), column(narrow)), 12 * n);
    }
  }
}

TEST_F(sorted_array_memory, a_build_takes_twice_the_entries_at_most) {
  auto random = test::generator();
  for (const std::size_t n : {1000u, 300'003u}) {
    std::vector<std::uint32_t> narrow(n);
    std::vector<std::uint64_t> wide(n);
    for (auto& key : narrow)
      key = static_cast<std::uint32_t>(random());
    for (auto& key : wide)
      key = random();
    const auto narrow_there = at().upload(narrow);
    const auto wide_there = at().upload(wide);
    const auto check = [&](const column& keys, const std::optional<column>& row_ids,
                           std::size_t bytes) {
      // What a sort counts with comes on top.
      EXPECT_LE(build(at(), keys, row_ids, layout::column)->info().build_peak_bytes,
                2 * bytes * n + bytes * n / 32 + (n / 65'536 + 1) * 2048);
    };
    check(column(narrow_there), std::nullopt, 8);
    check(column(narrow_there), column(narrow_there), 8);
    check(column(wide_there), std::nullopt, 12);
  }
}

TEST_F(sorted_array_memory, a_build_that_runs_out_leaks_nothing_and_says_what_it_asked) {
  const auto keys = equal_cells<std::uint32_t>(10'000);
  const context plain = at();
  for (const layout entries : {layout::column, layout::row}) {
    test::check_memory_of_build(
        plain, [&](const context& on) { return build(on, column(keys), {}, entries); });
  }
}

TEST_F(sorted_array_memory, a_query_that_runs_out_leaves_the_index_as_it_was) {
  const context plain = at();
  const auto keys = equal_cells<std::uint32_t>(1000);
  const auto built = build(plain, column(keys), {}, layout::column);
  limited_resource scarce(plain.memory, 100'000);
  EXPECT_THROW(built->rows({scarce, plain.stream}, points(column(keys))), out_of_memory);
  EXPECT_EQ(scarce.held(), 0);
  EXPECT_EQ(built->rows(plain, points(column(keys))).total, 1'000'000);
}

TEST_F(sorted_array_memory, memory_of_the_wrong_space_is_refused) {
  const auto keys = equal_cells<std::uint32_t>(10);
  host_memory_resource host;
  if (at().where() == backend::cpu) GTEST_SKIP() << "there is no device memory to be wrong";
  EXPECT_THROW(build({host}, column(keys), {}, layout::column), invalid_argument);
}

TEST_F(sorted_array_memory, more_than_the_device_has_is_refused) {
  if (at().where() == backend::cpu) GTEST_SKIP() << "a host may promise memory it does not have";
  const std::size_t too_much = 2 * at().device().total_bytes;
  try {
    const buffer<std::byte> all(at(), too_much);
    FAIL() << too_much << " bytes allocated";
  } catch (const out_of_memory& e) {
    EXPECT_EQ(e.asked(), too_much);
    EXPECT_LT(e.free(), too_much);
  }
  EXPECT_NO_THROW(equal_cells<std::uint32_t>(1000));
}

}  // namespace
}  // namespace raydex
