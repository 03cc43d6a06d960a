// SPDX-License-Identifier: Apache-2.0
// Answers as CSV are read back as the same numbers.
#include "io/column_writer.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "io/npy.hpp"
#include "io/read.hpp"
#include "tests/support/temporary_folder.hpp"

namespace raydex::io {
namespace {

using test::read_file;
using test::temporary_folder;

template <class T>
std::string write(const temporary_folder& folder, const char* name, const std::vector<T>& cells,
                  std::optional<std::uint64_t> none = std::nullopt) {
  const std::string path = folder.path(name);
  output_file file(path);
  column_writer writer(file, "title", format_of<T>, cells.size(), none);
  const auto all = std::as_bytes(std::span(cells));
  const std::size_t half = cells.size() / 2 * sizeof(T);
  writer.write(all.first(half));
  writer.write(all.subspan(half));
  file.commit();
  return path;
}

TEST(ColumnWriter, NamesTellTheKind) {
  EXPECT_TRUE(is_csv_output("-"));
  EXPECT_TRUE(is_csv_output("a/o.csv"));
  EXPECT_FALSE(is_csv_output("o.npy"));
  EXPECT_FALSE(is_csv_output("/dev/stdout"));
  const temporary_folder folder;
  const std::vector<std::uint32_t> cells{1, 2, 3};
  EXPECT_EQ(read_npy(write(folder, "o.npy", cells)).shape, std::vector<std::uint64_t>{3});
}

TEST(ColumnWriter, NothingIsAnEmptyField) {
  const temporary_folder folder;
  const auto none = ~std::uint64_t{0};
  EXPECT_EQ(read_file(write<std::uint32_t>(folder, "a.csv", {7, 0xffffffff, 0}, none)),
            "title\n7\n\n0\n");
  EXPECT_EQ(read_file(write<std::uint64_t>(folder, "b.csv", {none, 5}, none)), "title\n\n5\n");
  EXPECT_EQ(read_file(write<std::uint64_t>(folder, "c.csv", {none})),
            "title\n18446744073709551615\n");
  EXPECT_EQ(read_file(write<std::int64_t>(folder, "d.csv", {})), "title\n");
}

TEST(ColumnWriter, NumbersAreReadBack) {
  const temporary_folder folder;
  std::vector<double> doubles{0.1,
                              -0.0,
                              1e300,
                              5e-324,
                              std::numeric_limits<double>::infinity(),
                              -std::numeric_limits<double>::infinity()};
  for (int i = 0; i < 20'000; ++i)
    doubles.push_back(1.0 / (i + 3));
  const host_column back = read_column(write(folder, "o.csv", doubles) + ":title:double");
  ASSERT_EQ(back.size, doubles.size());
  EXPECT_EQ(std::memcmp(back.cells.get(), doubles.data(), back.size * sizeof(double)), 0);
}

TEST(ColumnWriter, MatchesAreLinesOfProbeAndRow) {
  const temporary_folder folder;
  const std::string path = folder.path("o.csv");
  output_file file(path);
  const std::vector<std::uint64_t> offsets{0, 0, 2, 2, 3};
  const std::vector<std::uint32_t> rows{8, 9, 4};
  match_writer writer(file);
  writer.write(offsets, format_of<std::uint32_t>, std::as_bytes(std::span(rows)));
  writer.write(offsets, format_of<std::uint32_t>, std::as_bytes(std::span(rows)));
  file.commit();
  EXPECT_EQ(read_file(path), "probe,row\n1,8\n1,9\n3,4\n5,8\n5,9\n7,4\n");
}

}  // namespace
}  // namespace raydex::io
