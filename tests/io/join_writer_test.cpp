// SPDX-License-Identifier: Apache-2.0
// Rows of joins in files.
#include "io/join_writer.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "io/npy.hpp"
#include "io/read.hpp"
#include "raydex/index.hpp"
#include "tests/support/temporary_folder.hpp"

namespace raydex::io {
namespace {

using test::read_file;
using test::temporary_folder;
using rows = std::vector<std::uint64_t>;

constexpr auto none = not_found<std::uint64_t>;

std::string write_numbers(const temporary_folder& folder, const char* name, bool pairs) {
  const std::string path = folder.path(name);
  output_file file(path);
  row_number_writer writer(file, 3, pairs);
  writer.write(rows{0, 0}, pairs ? rows{7, none} : rows{});
  writer.write(rows{5}, pairs ? rows{0} : rows{});
  file.commit();
  return path;
}

TEST(JoinWriter, NumbersOfRows) {
  const temporary_folder folder;
  EXPECT_EQ(read_file(write_numbers(folder, "p.csv", true)), "probe,build\n0,7\n0,\n5,0\n");
  EXPECT_EQ(read_file(write_numbers(folder, "q.csv", false)), "probe\n0\n0\n5\n");
  const npy_array pairs = read_npy(write_numbers(folder, "p.npy", true));
  EXPECT_EQ(pairs.shape, (rows{3, 2}));
  const rows expected{0, 7, 0, none, 5, 0};
  EXPECT_EQ(std::memcmp(pairs.cells.get(), expected.data(), 48), 0);
  EXPECT_EQ(read_npy(write_numbers(folder, "q.npy", false)).shape, rows{3});
}

TEST(JoinWriter, WhatStandsInTheRows) {
  const temporary_folder folder;
  const std::string csv =
      folder.write("t.csv", "a,n\nplain,1\n\"a,\"\"b\",NA\n\" space\",\n\"x\ny\",4\n");
  std::vector<output_column> columns(3);
  columns[0] = {"text", true, {}};
  columns[1] = {"n, read", false, {}};
  columns[2] = {"short", false, host_column()};
  column_reading reading;
  reading.add_texts(csv + ":a", columns[0].cells);
  reading.add_texts(csv + ":n", columns[1].cells);
  reading.add(csv + ":n:double", std::get<host_column>(columns[2].cells));
  reading.read();
  const std::string path = folder.path("o.csv");
  output_file file(path);
  joined_row_writer writer(file, columns);
  writer.write(rows{0, 3}, rows{1, none});
  writer.write(rows{3, 0, 0}, rows{2, 3, 0});
  file.commit();
  EXPECT_EQ(
      read_file(path),
      "text,\"n, read\",short\n\"a,\"\"b\",1,1\n,4,4\n\" space\",4,4\n\"x\ny\",1,1\nplain,1,1\n");
}

}  // namespace
}  // namespace raydex::io
