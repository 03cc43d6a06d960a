// SPDX-License-Identifier: Apache-2.0
// Bad options are refused by name, before anything is done.
#include <gtest/gtest.h>

#include <array>

#include "raydex/raydex.hpp"
#include "tests/support/expect_error.hpp"

namespace raydex {
namespace {

class eytzinger_arguments : public testing::Test {
 protected:
  void refused(const option_map& options, const std::vector<std::string>& words) const {
    test::expect_error<invalid_argument>([&] { built(options); }, words);
  }
  std::unique_ptr<index> built(const option_map& options) const {
    return build("eytzinger", backend::cpu, cpu_, keys_, {}, options);
  }

  const session cpu_{backend::cpu};
  const std::array<std::uint32_t, 4> cells_{4, 3, 2, 1};
  const column keys_{std::span<const std::uint32_t>(cells_)};
};

TEST_F(eytzinger_arguments, k_is_from_2_to_33) {
  for (const unsigned k : {0U, 1U, 34U, 0xffff'ffffU}) {
    refused({{"k", std::to_string(k)}}, {"option k", std::to_string(k), "2 to 33"});
    test::expect_error<invalid_argument>(
        [&] { build_eytzinger(backend::cpu, cpu_, keys_, {}, {.k = k}); },
        {"option k", std::to_string(k), "2 to 33"});
  }
  for (const char* k : {"", "nine", "9x", " 9", "-9", "9.0", "99999999999999999999"})
    refused({{"k", k}}, {"option k", test::quoted(k), "number"});
  EXPECT_EQ(built({{"k", "2"}})->info().options, "layout=row k=2");
  EXPECT_EQ(built({{"k", "33"}})->info().options, "layout=row k=33");
}

TEST_F(eytzinger_arguments, words_are_listed) {
  refused({{"layout", "tree"}}, {"option layout", "'tree'", "column", "row"});
  refused({{"schedule", "fixed"}}, {"option schedule", "'fixed'", "dynamic", "static"});
  refused({{"pin", "all"}}, {"option pin", "'all'", "none", "steps", "full"});
  refused({{"reorder", "twice"}}, {"option reorder", "'twice'", "none", "single", "double"});
  refused({{"group", "8"}}, {"option group", "'8'", "exact", "power"});
  refused({{"scan", "none"}}, {"option scan", "'none'", "multi", "single"});
}

TEST_F(eytzinger_arguments, numbers_of_a_schedule_have_limits) {
  for (const char* threads : {"0", "32", "127", "129", "2048"})
    refused({{"threads", threads}}, {"option threads", threads, "128, 256, 512, 1024"});
  for (const char* lookups : {"0", "17", "4294967295"})
    refused({{"lookups", lookups}}, {"option lookups", lookups, "1 to 16"});
  refused({{"threads", "many"}}, {"option threads", "'many'", "number"});
  refused({{"lookups", "4294967296"}}, {"option lookups", "'4294967296'", "number"});
}

TEST_F(eytzinger_arguments, unknown_options_are_answered_with_the_known_ones) {
  for (const char* option : {"K", "search", "levels", "nodes", "fan_out", ""}) {
    refused({{option, "9"}}, {test::quoted(option), "eytzinger", "layout=column|row", "k=2..33",
                              "threads=128|256|512|1024", "lookups=1..16"});
  }
  // Also among known ones.
  refused({{"k", "9"}, {"levels", "2"}}, {"'levels'", "k=2..33"});
}

TEST_F(eytzinger_arguments, what_is_left_of_former_options_is_taken) {
  EXPECT_EQ(built({{"ranges", "ranks"}})->info().options, built({})->info().options);
  refused({{"ranges", "path"}}, {"option ranges", "'path'", "ranks"});
  for (const option_info& each : options_of("eytzinger"))
    EXPECT_NE(each.name, "ranges");
}

TEST_F(eytzinger_arguments, every_choice_is_told_again) {
  const option_map all{{"layout", "column"},  {"k", "5"},         {"schedule", "static"},
                       {"threads", "512"},    {"lookups", "16"},  {"pin", "steps"},
                       {"reorder", "double"}, {"group", "exact"}, {"scan", "single"}};
  const std::string told = built(all)->info().options;
  for (const auto& [name, value] : all) {
    EXPECT_NE((" " + told + " ").find(" " + name + "=" + value + " "), std::string::npos) << told;
  }
}

}  // namespace
}  // namespace raydex
