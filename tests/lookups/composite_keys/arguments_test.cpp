// SPDX-License-Identifier: Apache-2.0
// What composite keys refuse.
#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "raydex/raydex.hpp"
#include "tests/support/expect_error.hpp"

namespace raydex::test {
namespace {

class composite_arguments : public testing::Test {
 protected:
  composite_keys made() const { return {backend::cpu, at_, {column(signed_), column(unsigned_)}}; }

  const session at_{backend::cpu};
  const std::vector<std::int32_t> signed_{1, 2, 3};
  const std::vector<std::uint32_t> unsigned_{1, 2, 3};
  const std::vector<std::int32_t> few_{1, 2};
};

TEST_F(composite_arguments, no_columns_and_too_many) {
  expect_error<invalid_argument>([&] { composite_keys(backend::cpu, at_, {}); },
                                 {"columns: 0 columns", "1 to 16"});
  const std::vector<composite_column> many(17, column(signed_));
  expect_error<invalid_argument>([&] { composite_keys(backend::cpu, at_, many); },
                                 {"columns: 17 columns"});
}

TEST_F(composite_arguments, columns_of_other_sizes) {
  expect_error<invalid_argument>(
      [&] {
        composite_keys(backend::cpu, at_, {column(signed_), column(few_)});
      },
      {"columns", "3", "2"});
}

TEST_F(composite_arguments, what_missing_cells_are_not) {
  expect_error<invalid_argument>(
      [&] {
        composite_keys(backend::cpu, at_, {{column(signed_), false, missing_cells{3}}});
      },
      {"missing: 3"});
}

TEST_F(composite_arguments, probes_of_other_columns) {
  const composite_keys keys = made();
  expect_error<invalid_argument>([&] { keys.pack_points(at_, key_parts{column(signed_)}); },
                                 {"columns: 1", "2", "ranges"});
  expect_error<invalid_argument>([&] { keys.holds(at_, key_parts{column(signed_)}); },
                                 {"columns: 1", "2"});
  expect_error<invalid_argument>(
      [&] {
        keys.pack_rows(at_, key_parts{column(unsigned_), column(unsigned_)});
      },
      {"columns: column 1 is uint32", "int32"});
  expect_error<invalid_argument>(
      [&] {
        keys.pack_ranges(at_, key_parts{column(signed_), column(unsigned_)}, column(signed_));
      },
      {"columns: 3", "2"});
  expect_error<invalid_argument>(
      [&] { keys.pack_ranges(at_, key_parts{column(signed_)}, column(signed_)); },
      {"columns: column 2 is int32", "uint32"});
  expect_error<invalid_argument>(
      [&] { keys.pack_closest(at_, key_parts{column(signed_)}, closest_number{4}); }, {"which: 4"});
  expect_error<invalid_argument>([&] { keys.pack_ranges(at_, {}); }, {"columns: 0 columns"});
  expect_error<invalid_argument>([&] { keys.pack_ranges(at_, {}, column(signed_), column(few_)); },
                                 {"upper: 2", "3"});
}

TEST_F(composite_arguments, prefixes_of_what_is_no_string) {
  const composite_keys keys = made();
  const std::uint32_t offsets[] = {0, 1};
  const string_column one{"a", offsets, false, 1, {}};
  expect_error<invalid_argument>([&] { keys.pack_prefixes(at_, {}, one); },
                                 {"columns: column 1 is strings", "int32"});
  expect_error<invalid_argument>(
      [&] {
        keys.pack_points(at_, key_parts{one, one});
      },
      {"columns: column 1 is strings", "int32"});
  const composite_keys strings(backend::cpu, at_, {key_part(one)});
  expect_error<invalid_argument>([&] { strings.pack_points(at_, key_parts{column(signed_)}); },
                                 {"columns: column 1 is int32", "strings"});
}

}  // namespace
}  // namespace raydex::test
