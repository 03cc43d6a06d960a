// SPDX-License-Identifier: Apache-2.0
// Bad arguments are refused by name, before anything is done.
#include <gtest/gtest.h>

#include <array>

#include "raydex/raydex.hpp"
#include "tests/support/expect_error.hpp"

namespace raydex {
namespace {

using test::expect_error;

class sorted_array_arguments : public testing::Test {
 protected:
  const session cpu{backend::cpu};
  const std::array<std::uint32_t, 4> keys{4, 3, 2, 1};
  const std::array<std::int64_t, 4> wrong_type{4, 3, 2, 1};
  const column key_column{std::span<const std::uint32_t>(keys)};
  const std::unique_ptr<index> built = build("sorted_array", backend::cpu, cpu, key_column);
  std::array<std::uint32_t, 4> first{};
  std::array<std::uint64_t, 4> out{};
};

TEST_F(sorted_array_arguments, unknown_names_list_the_legal_ones) {
  expect_error<invalid_argument>([&] { build("sorted", backend::cpu, cpu, key_column); },
                                 {"sorted", "sorted_array"});
  expect_error<invalid_argument>([&] { parse_backend("gpu"); }, {"gpu", "cpu", "cuda", "optix"});
  expect_error<invalid_argument>(
      [&] {
        build("sorted_array", backend::cpu, cpu, key_column, {}, {{"lay", "row"}});
      },
      {"lay", "layout=column|row"});
  expect_error<invalid_argument>(
      [&] {
        build("sorted_array", backend::cpu, cpu, key_column, {}, {{"layout", "tree"}});
      },
      {"tree", "column", "row"});
  expect_error<unsupported>([&] { build("sorted_array", backend::optix, cpu, key_column); },
                            {"optix", "cpu"});
}

TEST_F(sorted_array_arguments, auto_picks_a_structure) {
  EXPECT_EQ(build("auto", backend::cpu, cpu, key_column)->info().structure, "pivot_tree");
}

TEST_F(sorted_array_arguments, probes_must_have_the_keys_format) {
  const column wrong{std::span<const std::int64_t>(wrong_type)};
  expect_error<invalid_argument>([&] { built->first(cpu, points(wrong), std::span(first)); },
                                 {"int64", "uint32"});
  expect_error<invalid_argument>([&] { built->count(cpu, ranges(key_column, wrong), out); },
                                 {"int64", "uint32"});
}

TEST_F(sorted_array_arguments, lengths_must_agree) {
  const column fewer{std::span<const std::uint32_t>(keys).first(3)};
  expect_error<invalid_argument>([&] { built->count(cpu, points(fewer), out); }, {"4", "3"});
  expect_error<invalid_argument>([&] { built->count(cpu, ranges(key_column, fewer), out); },
                                 {"4", "3"});
  expect_error<invalid_argument>([&] { built->offsets(cpu, points(key_column), out); }, {"3", "4"});
  expect_error<invalid_argument>([&] { built->offsets(cpu, points(key_column), {}); }, {"offsets"});
  expect_error<invalid_argument>(
      [&] { build("sorted_array", backend::cpu, cpu, key_column, fewer); }, {"3", "4"});
}

TEST_F(sorted_array_arguments, outputs_must_have_the_right_type) {
  const std::array<std::uint64_t, 4> ids{7, 0, 1, 2};
  const auto wide = build("sorted_array", backend::cpu, cpu, key_column,
                          column(std::span<const std::uint64_t>(ids)));
  std::array<std::uint32_t, 4> narrow{};
  expect_error<invalid_argument>([&] { wide->first(cpu, points(key_column), std::span(narrow)); },
                                 {"uint64", "uint32"});
  std::array<double, 4> sums{};
  expect_error<invalid_argument>(
      [&] { built->sum(cpu, points(key_column), key_column, std::span(sums)); },
      {"uint32", "double"});
}

TEST_F(sorted_array_arguments, values_must_cover_all_rows) {
  const column fewer{std::span<const std::uint32_t>(keys).first(3)};
  expect_error<invalid_argument>(
      [&] { built->sum(cpu, points(key_column), fewer, std::span(out)); }, {"3 cells"});
  const std::array<std::uint32_t, 4> ids{7, 0, 1, 2};
  const auto sparse = build("sorted_array", backend::cpu, cpu, key_column,
                            column(std::span<const std::uint32_t>(ids)));
  expect_error<invalid_argument>(
      [&] { sparse->sum(cpu, points(key_column), key_column, std::span(out)); }, {"4 cells", "7"});
}

TEST_F(sorted_array_arguments, row_ids_must_be_legal) {
  const std::array<std::uint32_t, 4> ids{0, not_found<std::uint32_t>, 1, 2};
  expect_error<invalid_argument>(
      [&] {
        build("sorted_array", backend::cpu, cpu, key_column,
              column(std::span<const std::uint32_t>(ids)));
      },
      {"4294967295"});
  expect_error<invalid_argument>(
      [&] {
        build("sorted_array", backend::cpu, cpu, key_column,
              column(std::span<const std::int64_t>(wrong_type)));
      },
      {"int64"});
  const std::array<std::uint32_t, 4> legal{3, 0, 1, 2};
  const std::uint8_t all_but_one = 0b1011;
  column missing{std::span<const std::uint32_t>(legal)};
  missing.validity = &all_but_one;
  expect_error<invalid_argument>(
      [&] { build("sorted_array", backend::cpu, cpu, key_column, missing); },
      {"row ids", "uint32 with missing ones"});
}

TEST_F(sorted_array_arguments, more_rows_than_32_bits_number_need_64_bit_row_ids) {
  // Refused before any cell is read.
  column many = key_column;
  many.size = not_found<std::uint32_t>;
  expect_error<invalid_argument>([&] { build("sorted_array", backend::cpu, cpu, many, many); },
                                 {"uint64"});
}

TEST_F(sorted_array_arguments, columns_must_be_aligned_and_present) {
  column crooked = key_column;
  crooked.data = reinterpret_cast<const char*>(keys.data()) + 1;
  crooked.size = 3;
  expect_error<invalid_argument>([&] { build("sorted_array", backend::cpu, cpu, crooked); },
                                 {"keys", "aligned"});
  column apart = key_column;
  apart.stride = 6;
  apart.size = 2;
  expect_error<invalid_argument>([&] { build("sorted_array", backend::cpu, cpu, apart); },
                                 {"keys", "aligned"});
  column none = key_column;
  none.data = nullptr;
  expect_error<invalid_argument>([&] { build("sorted_array", backend::cpu, cpu, none); },
                                 {"keys", "null"});
}

}  // namespace
}  // namespace raydex
