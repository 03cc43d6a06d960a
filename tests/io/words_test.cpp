// SPDX-License-Identifier: Apache-2.0
// Texts in messages: quoted, and what may have been meant.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "io/quoted.hpp"
#include "io/suggestion.hpp"

namespace raydex::io {
namespace {

TEST(words, are_quoted_on_one_short_line) {
  EXPECT_EQ(in_quotes("tailnum"), "'tailnum'");
  EXPECT_EQ(in_quotes("a\x1b[31m\nb\x7f"), "'a\\x1b[31m\\x0ab\\x7f'");
  EXPECT_EQ(printable("Zürich"), "Zürich");
  EXPECT_EQ(printable(std::string(80, 'x')), std::string(80, 'x'));
  EXPECT_EQ(printable(std::string(81, 'x')), std::string(80, 'x') + "...");
  EXPECT_EQ(printable(std::string(1 << 24, '\n')).size(), 80U + 3);
}

// What has several bytes is left out as a whole.
TEST(words, are_not_cut_within_a_character) {
  EXPECT_EQ(printable("123ü", 4), "123...");
  EXPECT_EQ(printable("12\xe2\x82\xac", 3), "12...");
  EXPECT_EQ(printable("12\xe2\x82\xac", 4), "12...");
  EXPECT_EQ(printable("12\xe2\x82\xac", 5), "12\xe2\x82\xac");
  EXPECT_EQ(printable("1ü2", 3), "1ü...");
}

TEST(words, suggest_what_was_meant) {
  const std::vector<std::string> known{"sorted_array", "pivot_tree", "rx", "cgrx", "first", "rows"};
  EXPECT_EQ(nearest("pivot_tre", known), "pivot_tree");
  EXPECT_EQ(nearest("Pivot-Tree", known), "pivot_tree");
  EXPECT_EQ(nearest("sortedarray", known), "sorted_array");
  EXPECT_EQ(nearest("fisrst", known), "first");
  EXPECT_EQ(nearest("row", known), "rows");
  EXPECT_EQ(nearest("xr", known), "rx");
  EXPECT_EQ(nearest("btree", known), "");
  EXPECT_EQ(nearest("", known), "");
  EXPECT_EQ(nearest(std::string(1 << 20, 'x'), known), "");
  EXPECT_EQ(nearest("rx", {}), "");
  EXPECT_EQ(suggestion("cgxr", known), "; did you mean 'cgrx'?");
  EXPECT_EQ(suggestion("hash", known), "");
}

}  // namespace
}  // namespace raydex::io
