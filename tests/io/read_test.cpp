// SPDX-License-Identifier: Apache-2.0
// Columns and ranges by the names that a command line gives them.
#include "io/read.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <span>

#include "expect_error.hpp"
#include "io/npy_header.hpp"
#include "temporary_folder.hpp"

namespace raydex::io {
namespace {

using test::expect_error;
using test::temporary_folder;

// Writes an array of numbers from 0 on.
std::string write_array(const temporary_folder& folder, std::vector<std::uint64_t> shape) {
  std::uint64_t size = 1;
  for (const std::uint64_t length : shape)
    size *= length;
  std::string content = npy_preamble(format_of<std::uint32_t>, shape);
  for (std::uint32_t i = 0; i < size; ++i)
    content.append(reinterpret_cast<const char*>(&i), sizeof i);
  return folder.write("k.npy", content);
}

std::uint32_t cell(const column& cells, std::uint64_t i) {
  std::uint32_t value = 0;
  std::memcpy(&value, static_cast<const std::byte*>(cells.data) + i * cells.step(), sizeof value);
  return value;
}

TEST(Read, Column) {
  const temporary_folder folder;
  const host_column column = read_column(write_array(folder, {5}));
  EXPECT_EQ(column.size, 5U);
  EXPECT_EQ(cell(column.view(), 4), 4U);
  expect_error(
      [&] {
        read_column(write_array(folder, {2, 3}));
      },
      "shape is (2, 3)", "one dimension");
  expect_error([&] { read_column(write_array(folder, {})); }, "shape is ()", "one dimension");
}

TEST(Read, RangesAreTheTwoColumnsOfAnArray) {
  const temporary_folder folder;
  host_ranges ranges = read_ranges(write_array(folder, {3, 2}));
  const host_column upper = std::move(ranges.upper);
  ranges.upper = {};
  EXPECT_EQ(upper.size, 3U);
  for (std::uint32_t i = 0; i < 3; ++i) {
    EXPECT_EQ(cell(ranges.lower.view(), i), 2 * i);
    EXPECT_EQ(cell(upper.view(), i), 2 * i + 1);
  }
  EXPECT_EQ(read_ranges(write_array(folder, {0, 2})).lower.size, 0U);
  for (const std::vector<std::uint64_t>& shape :
       {std::vector<std::uint64_t>{6}, {2, 3}, {2, 1}, {2, 2, 2}})
    expect_error([&] { read_ranges(write_array(folder, shape)); }, "n x 2");
}

TEST(Read, CsvColumns) {
  const temporary_folder folder;
  const std::string csv = folder.write("t.csv", "a,b:c,d\n1,2,0.5\n3,4,1.5\n");
  EXPECT_TRUE(is_csv(csv + ":a"));
  EXPECT_FALSE(is_csv(csv));
  EXPECT_EQ(read_column(csv + ":a").format, format_of<std::int64_t>);
  EXPECT_EQ(read_column(csv + ":a:u4").format, format_of<std::uint32_t>);
  EXPECT_EQ(read_column(csv + ":b:c").size, 2U);
  EXPECT_EQ(read_column(csv + ":b:c:S3").format.width, 3);
  const host_ranges ranges = read_ranges(csv + ":a,b:c:u4");
  EXPECT_EQ(cell(ranges.lower.view(), 1), 3U);
  EXPECT_EQ(cell(ranges.upper.view(), 1), 4U);
  expect_error([&] { read_column(csv); }, "which column?");
  expect_error([&] { read_column(csv + ":"); }, "no column ''", "a, b:c, d");
  expect_error([&] { read_column(csv + ":a:i16"); }, "no column 'a:i16'");
  expect_error([&] { read_ranges(csv + ":a"); }, ":lower,upper");
  expect_error([&] { read_ranges(csv + ":a,d"); }, "a is <i8 and d is <f8");
  expect_error([&] { read_column(folder.path("none.csv:a")); }, "none.csv: cannot be read");
}

}  // namespace
}  // namespace raydex::io
