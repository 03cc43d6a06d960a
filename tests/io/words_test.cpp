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

// A message is UTF-8 whatever it quotes, and holds nothing that a terminal obeys.
TEST(words, are_utf8) {
  for (const char* const shown :
       {"\u00a0", "\u07ff", "\u0800", "\ud7ff", "\ue000", "\uffff", "\U00010000", "\U0010ffff"})
    EXPECT_EQ(printable(shown), shown);
  EXPECT_EQ(printable("tex\xfft"), "tex\\xfft");
  EXPECT_EQ(printable("\x80"), "\\x80");
  EXPECT_EQ(printable("\u009b"), "\\xc2\\x9b");                      // C1, as ESC [
  EXPECT_EQ(printable("\xc3(\xe2\x82"), "\\xc3(\\xe2\\x82");         // cut short
  EXPECT_EQ(printable("\xc0\xaf"), "\\xc0\\xaf");                    // too long for '/'
  EXPECT_EQ(printable("\xe0\x9f\xbf"), "\\xe0\\x9f\\xbf");           // too long
  EXPECT_EQ(printable("\xed\xa0\x80"), "\\xed\\xa0\\x80");           // a surrogate
  EXPECT_EQ(printable("\xf4\x90\x80\x80"), "\\xf4\\x90\\x80\\x80");  // beyond U+10FFFF
  EXPECT_EQ(printable("\xff\xff", 4), "\\xff...");
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
