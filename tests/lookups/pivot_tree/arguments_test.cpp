// SPDX-License-Identifier: Apache-2.0
// Bad options are refused by name, before anything is done.
#include <gtest/gtest.h>

#include <array>

#include "raydex/raydex.hpp"
#include "tests/support/expect_error.hpp"

namespace raydex {
namespace {

class pivot_tree_arguments : public testing::Test {
 protected:
  void refused(const option_map& options, const std::vector<std::string>& words) const {
    test::expect_error<invalid_argument>([&] { built(options); }, words);
  }
  std::unique_ptr<index> built(const option_map& options) const {
    return build("pivot_tree", backend::cpu, cpu_, keys_, {}, options);
  }

  const session cpu_{backend::cpu};
  const std::array<std::uint32_t, 4> cells_{4, 3, 2, 1};
  const column keys_{std::span<const std::uint32_t>(cells_)};
};

TEST_F(pivot_tree_arguments, k_is_from_2_to_33) {
  for (const unsigned k : {0U, 1U, 34U}) {
    refused({{"search", "groups"}, {"k", std::to_string(k)}},
            {"option k", std::to_string(k), "2 to 33"});
  }
  refused({{"search", "groups"}, {"k", "nine"}}, {"option k", "'nine'", "number"});
}

TEST_F(pivot_tree_arguments, levels_are_all_or_from_1_to_40) {
  for (const char* levels : {"0", "41"})
    refused({{"search", "groups"}, {"levels", levels}}, {"option levels", levels, "1 to 40"});
  for (const char* levels : {"", "ALL", "few", "-1"})
    refused({{"search", "groups"}, {"levels", levels}}, {"option levels", test::quoted(levels)});
  EXPECT_EQ(built({{"search", "groups"}, {"levels", "all"}})->info().options,
            "layout=row search=groups k=9 levels=all");
  EXPECT_EQ(built({{"search", "groups"}, {"levels", "40"}})->info().options,
            "layout=row search=groups k=9 levels=40");
}

TEST_F(pivot_tree_arguments, words_are_listed) {
  refused({{"layout", "tree"}}, {"option layout", "'tree'", "column", "row", "keys"});
  refused({{"search", "warps"}}, {"option search", "'warps'", "lines", "groups"});
  refused({{"nodes", "rounded"}}, {"option nodes", "'rounded'", "auto", "exact", "quantised"});
}

TEST_F(pivot_tree_arguments, numbers_of_a_schedule_have_limits) {
  for (const char* search : {"lines", "groups"}) {
    refused({{"search", search}, {"threads", "100"}},
            {"option threads", "100", "128, 256, 512, 1024"});
    refused({{"search", search}, {"lookups", "17"}}, {"option lookups", "17", "1 to 16"});
  }
}

TEST_F(pivot_tree_arguments, options_of_the_other_search_are_refused) {
  for (const char* option : {"k", "levels"}) {
    refused({{option, "9"}}, {test::quoted(option), "for groups"});
    refused({{"search", "lines"}, {option, "9"}}, {test::quoted(option), "for groups"});
  }
  refused({{"search", "groups"}, {"nodes", "exact"}}, {"'nodes'", "for lines"});
}

TEST_F(pivot_tree_arguments, unknown_options_are_answered_with_the_known_ones) {
  refused({{"leaf", "9"}},
          {"'leaf'", "pivot_tree", "layout=column|row|keys", "search=lines|groups",
           "nodes=auto|exact|quantised", "k=2..33", "levels=all|1..40", "pin=none|steps|full"});
}

TEST_F(pivot_tree_arguments, leaves_of_lines_are_entries) {
  for (const option_map& options :
       {option_map{{"layout", "column"}}, option_map{{"search", "lines"}, {"layout", "column"}}}) {
    test::expect_error<unsupported>([&] { built(options); },
                                    {"option layout", "column goes with search=groups"});
  }
  EXPECT_EQ(built({{"search", "groups"}, {"layout", "column"}})->info().options,
            "layout=column search=groups k=9 levels=all");
}

TEST_F(pivot_tree_arguments, choices_are_told_again) {
  EXPECT_EQ(built({})->info().options, "layout=row search=lines nodes=auto");
  EXPECT_EQ(built({{"nodes", "quantised"}, {"layout", "row"}, {"pin", "none"}})->info().options,
            "layout=row search=lines nodes=quantised pin=none");
}

}  // namespace
}  // namespace raydex
