// SPDX-License-Identifier: Apache-2.0
// Columns and ranges by the names that a command line gives them.
#include "io/read.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <initializer_list>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "io/npy_header.hpp"
#include "tests/io/expect_error.hpp"
#include "tests/support/temporary_folder.hpp"

namespace raydex::io {
namespace {

using test::expect_error;
using test::temporary_folder;

// Writes an array of the numbers 0, 1, 2, ..
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

host_ranges read_ranges(const std::string& name) {
  host_ranges read;
  column_reading reading;
  reading.add(name, read);
  reading.read();
  return read;
}

TEST(Read, RangesInBatches) {
  const temporary_folder folder;
  std::string table = "lower,upper\n";
  for (int i = 0; i < 11; ++i)
    table += i == 9 ? "18,\n" : std::to_string(2 * i) + "," + std::to_string(2 * i + 1) + "\n";
  const std::string columns = folder.write("t.csv", table) + ":lower,upper:u4";
  for (const std::string& name : {write_array(folder, {11, 2}), columns}) {
    range_reader reader = names_column(name) ? range_reader(read_ranges(name)) : range_reader(name);
    EXPECT_EQ(reader.format(), format_of<std::uint32_t>);
    ASSERT_EQ(reader.size(), 11U);
    EXPECT_EQ(reader.next(0).lower.size, 0U);
    const host_ranges head = reader.next(8);
    const host_ranges tail = reader.next(3);
    ASSERT_EQ(head.upper.size, 8U);
    ASSERT_EQ(tail.upper.size, 3U);
    EXPECT_EQ(cell(head.lower.view(), 0), 0U);
    EXPECT_EQ(cell(head.upper.view(), 7), 15U);
    EXPECT_EQ(cell(tail.lower.view(), 0), 16U);
    EXPECT_EQ(cell(tail.upper.view(), 2), 21U);
    if (name == columns) {
      ASSERT_EQ(tail.upper.validity.size(), 1U);
      EXPECT_EQ(tail.upper.validity[0] & 7, 5);
      EXPECT_TRUE(tail.lower.validity.empty());
    }
  }
}

TEST(Read, RangesThatEndBeforeTheirFile) {
  const temporary_folder folder;
  const std::string name = write_array(folder, {1 << 16, 2});
  range_reader reader(name);
  reader.next(8);
  std::filesystem::resize_file(name, 1000);
  expect_error([&] { reader.next(1 << 15); }, name, "truncated");
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
  EXPECT_TRUE(names_column(csv + ":a"));
  EXPECT_FALSE(names_column(csv));
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
  expect_error([&] { read_ranges(csv + ":a,d"); },
               "the lower ends are int64 and the upper ends are double");
  expect_error([&] { read_column(folder.path("none.csv:a")); }, "none.csv: cannot be read");
}

TEST(Read, ListsOfColumns) {
  using names = std::vector<std::string>;
  EXPECT_EQ(split_list("--build", "k.npy"), names{"k.npy"});
  EXPECT_EQ(split_list("--build", "t.csv:a,b:int64,k.npy,u.csv:c:d,e"),
            (names{"t.csv:a", "t.csv:b:int64", "k.npy", "u.csv:c:d", "u.csv:e"}));
  EXPECT_EQ(split_list("--build", "k,t.csv:a,k.npy,l"), (names{"k", "t.csv:a", "k.npy", "l"}));
  for (const char* const list : {"", ",", "t.csv:a,", ",t.csv:a", "t.csv:a,,b"})
    expect_error([&] { split_list("--build", list); }, "--build", "is empty");
  EXPECT_EQ(column_of("t.csv:b:c:int64"), "b:c");
  EXPECT_EQ(column_of("t.csv:name:string"), "name");
  EXPECT_EQ(split_list("--build", "t.parquet:a,b,U.CSV.GZ:c,d"),
            (names{"t.parquet:a", "t.parquet:b", "U.CSV.GZ:c", "U.CSV.GZ:d"}));
  EXPECT_EQ(path_of("a:b.feather:c:d"), "a:b.feather");
  EXPECT_EQ(path_of("t.csv.gz.npy:a"), "t.csv.gz.npy:a");
  EXPECT_TRUE(finds_type("t.csv:a"));
  for (const char* const name : {"t.csv:a:int64", "t.csv:a:string", "k.npy"})
    EXPECT_FALSE(finds_type(name));
}

TEST(Read, KeysMayBeStrings) {
  const temporary_folder folder;
  const std::string csv = folder.write("t.csv", "short,long,n\nab,NA,1\nc,a long text,2\n");
  host_key_part short_texts;
  host_key_part long_texts;
  host_key_part numbers;
  host_key_part named;
  host_key_part verbatim;
  column_reading reading;
  reading.add(csv + ":short", short_texts);
  reading.add(csv + ":long", long_texts);
  reading.add(csv + ":n", numbers);
  reading.add(csv + ":n:string", named);
  reading.add_texts(csv + ":long", verbatim);
  reading.read();
  EXPECT_EQ(std::get<host_column>(short_texts).format, key_format::bytes(2));
  EXPECT_EQ(std::get<host_strings>(long_texts).at(1), "a long text");
  EXPECT_EQ(std::get<host_strings>(long_texts).validity.front() & 3, 2);
  EXPECT_EQ(std::get<host_column>(numbers).format, format_of<std::int64_t>);
  EXPECT_EQ(std::get<host_strings>(named).at(0), "1");
  EXPECT_EQ(std::get<host_strings>(verbatim).at(0), "NA");
  EXPECT_EQ(size_of(long_texts), 2U);
  EXPECT_TRUE(std::holds_alternative<string_column>(view_of(long_texts)));
  expect_error([&] { read_column(csv + ":n:string"); }, "joins by equal keys only", ":n:bytes8");
}

// A file as pyarrow_table.py hands it over, by a program that stands in for Python.
class handed_over {
 public:
  handed_over(const temporary_folder& folder, const std::string& content, int status = 0) {
    const std::string handed = folder.write("handed", content);
    const std::string python = folder.write(
        "python", "#!/bin/sh\ncat '" + handed + "'; exit " + std::to_string(status) + "\n");
    std::filesystem::permissions(python, std::filesystem::perms::owner_all);
    ::setenv("RAYDEX_PYTHON", python.c_str(), 1);
  }
  handed_over(const handed_over&) = delete;
  handed_over& operator=(const handed_over&) = delete;
  ~handed_over() { ::unsetenv("RAYDEX_PYTHON"); }
};

std::string eight_bytes(std::initializer_list<std::uint64_t> numbers) {
  return {reinterpret_cast<const char*>(std::data(numbers)), 8 * numbers.size()};
}

TEST(Read, ColumnsThatPythonHandsOver) {
  const temporary_folder folder;
  const std::string table = folder.write("t.parquet", "any");
  const std::string present("\1\0\1", 3);
  {
    const handed_over times(folder, "zoned 3 1 0\n" + present + eight_bytes({5, 0, 7}));
    const host_column column = read_column(table + ":a");
    EXPECT_EQ(column.times, time_kind::zoned);
    EXPECT_EQ(column.validity.front() & 7, 5);
    EXPECT_EQ(cell(column.view(), 2), 7U);
  }
  const std::string texts = eight_bytes({2, 0, 9}) + "ab123456789";
  const handed_over strings(folder, "strings 3 1 11\n" + present + texts);
  host_key_part key;
  column_reading reading;
  reading.add(table + ":a", key);
  reading.read();
  EXPECT_EQ(std::get<host_strings>(key).at(2), "123456789");
  EXPECT_EQ(std::get<host_strings>(key).validity.front() & 7, 5);
  expect_error([&] { read_column(table + ":a"); },
               "t.parquet: row 2: '123456789' in column a has 9");
  expect_error([&] { read_column(folder.write("t.csv.gz", "any") + ":a"); },
               "t.csv.gz: no column 'a'");
}

TEST(Read, WhatPythonRefuses) {
  const temporary_folder folder;
  const std::string column = folder.write("t.parquet", "any") + ":a";
  const handed_over refused(folder, "t.parquet: it is wrong", 2);
  expect_error([&] { read_column(column); }, "t.parquet: it is wrong");
  {
    const handed_over nothing(folder, "", 1);
    EXPECT_THROW(read_column(column), error);
  }
  const handed_over few(folder, "int64 3 0 0\n" + eight_bytes({1, 2}));
  EXPECT_THROW(read_column(column), error);
}

TEST(Read, ColumnsOfOneFileAreReadTogether) {
  const temporary_folder folder;
  const std::string csv = folder.write("t.csv", "a,b,c\n1,2,0.5\n3,4,1.5\n");
  const std::string array = write_array(folder, {5});
  host_column a;
  host_column again;
  host_column numbers;
  host_ranges ranges;
  column_reading reading;
  reading.add(csv + ":a", a);
  reading.add(array, numbers);
  reading.add(csv + ":a,b:u4", ranges);
  reading.add(csv + ":a:double", again);
  reading.read();
  EXPECT_EQ(a.format, format_of<std::int64_t>);
  EXPECT_EQ(again.format, format_of<double>);
  EXPECT_EQ(numbers.size, 5U);
  EXPECT_EQ(cell(ranges.lower.view(), 1), 3U);
  EXPECT_EQ(cell(ranges.upper.view(), 1), 4U);
}

}  // namespace
}  // namespace raydex::io
