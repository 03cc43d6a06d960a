// SPDX-License-Identifier: Apache-2.0
// The program that draws cases: it draws everything there is, and finds, shrinks and names
// failures.
#include <gtest/gtest.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <map>
#include <regex>
#include <set>
#include <sstream>
#include <thread>

#include "tests/random/draw.hpp"
#include "tests/random/options.hpp"
#include "tests/random/search.hpp"
#include "tests/random/trial.hpp"
#include "tests/support/random.hpp"

namespace raydex::test {
namespace {

using options_and_values = std::map<std::string, std::set<std::string>>;

// The options of a structure and their words; for a range of numbers, its ends. Numbers with
// slashes are examples.
options_and_values listed_options(const std::string& structure) {
  options_and_values options;
  for (const option_info& option : options_of(structure)) {
    std::set<std::string>& values = options[option.name];
    const std::regex value("[^|.]+");
    for (std::sregex_iterator at(option.values.begin(), option.values.end(), value), end; at != end;
         ++at) {
      if (const std::string text = at->str(); text.find('/') == text.npos) values.insert(text);
    }
  }
  return options;
}

options_and_values options_in_table(const std::string& structure) {
  options_and_values options;
  for (const drawn_structure& one : drawn_structures()) {
    if (one.name != structure) continue;
    for (const drawn_option& option : one.options)
      options[option.name].insert(option.values.begin(), option.values.end());
  }
  return options;
}

TEST(random_cases, draw_every_structure_and_option_of_the_registry) {
  std::set<std::string> structures;
  for (const capability& one : capabilities())
    structures.insert(one.structure);
  for (const rmq_capability& one : rmq_capabilities())
    structures.insert(one.structure);
  for (const std::string& structure : structures) {
    const options_and_values drawn = options_in_table(structure);
    const options_and_values listed = listed_options(structure);
    ASSERT_FALSE(listed.empty()) << structure;
    for (const auto& [option, values] : listed) {
      const auto own = drawn.find(option);
      ASSERT_NE(own, drawn.end()) << structure << " " << option << "= is not drawn";
      for (const std::string& value : values)
        EXPECT_TRUE(own->second.contains(value))
            << structure << " " << option << "=" << value << " is not drawn";
    }
    for (const auto& [option, values] : drawn)
      EXPECT_TRUE(listed.contains(option)) << structure << " has no " << option << "=";
  }
}

TEST(random_cases, draw_every_value_of_the_table) {
  auto random = generator();
  for (const drawn_structure& structure : drawn_structures()) {
    options_and_values left = options_in_table(structure.name);
    for (int i = 0; i < 20'000; ++i) {
      for (const auto& [option, value] : draw_options(structure, backend::cpu, random))
        left[option].erase(value);
    }
    for (const auto& [option, values] : left)
      EXPECT_TRUE(values.empty()) << structure.name << " " << option << "=" << *values.begin();
  }
}

TEST(random_cases, follow_from_their_seed) {
  const subject cpu{backend::cpu, false};
  for (std::uint64_t seed = 0; seed < 200; ++seed)
    EXPECT_EQ(draw_case(seed, cpu), draw_case(seed, cpu));
}

// Searches with a check until a case fails; returns what was printed.
std::string search_failing(const std::string& only, const check& differs) {
  std::ostringstream out;
  const search_limits limits{.seed = generator()()};
  EXPECT_FALSE(search({backend::cpu, false}, only, limits, "program", differs, out));
  // The seed that is printed leads to a case that fails.
  const std::string text = out.str();
  std::smatch seed;
  EXPECT_TRUE(std::regex_search(text, seed, std::regex("program --seed ([0-9]+) --cases 1\n")));
  EXPECT_TRUE(differs(draw_case(std::stoull(seed[1]), {backend::cpu, false}, only)));
  return text;
}

TEST(random_cases, a_wrong_answer_is_found_shrunk_and_printed) {
  // A library for which no key is missing.
  const place where({backend::cpu, false},
                    [](std::string_view structure, backend on, const context& with, column keys,
                       const std::optional<column>& rows, const option_map& options) {
                      keys.validity = nullptr;
                      return build(structure, on, with, keys, rows, options);
                    });
  const std::string text = search_failing("sorted_array", [&](test_case tried) {
    tried.build_fails = {};
    for (step& one : tried.steps)
      one.fails = {};
    return try_case(where, tried);
  });
  EXPECT_NE(text.find("Shrinking ...\n"
                      "  sorted_array\n"
                      "  1 keys of uint32, row ids are their positions: missing(0)\n"
                      "build: count of [0, 4294967295]: 1, expected 0\n"),
            text.npos)
      << text;
}

TEST(random_cases, a_failing_sequence_of_edits_is_shrunk) {
  // An edit after another one pretends to fail if it erases a pair that the column holds twice.
  const auto differs = [](const test_case& tried) -> std::optional<std::string> {
    bool is_edited = false;
    for (const step& one : tried.steps) {
      for (const cell& erased : one.erase_pairs&& is_edited ? one.erase : std::vector<cell>{}) {
        if (std::count(tried.keys.begin(), tried.keys.end(), erased) == 2) return "pretended";
      }
      is_edited = is_edited || one.what == action::edit;
    }
    return std::nullopt;
  };
  const std::string text = search_failing("cgrx", differs);
  const std::regex least(
      "Shrinking ...\n"
      "  cgrx\n"
      "  2 keys of uint32, row ids are their positions: 0\\*2\n"
      "  step 1: edit\n    insert: none\n    erase keys: none\n"
      "  step 2: edit\n    insert: none\n    erase pairs: 0/0\n"
      "pretended\n");
  EXPECT_TRUE(std::regex_search(text, least)) << text;
}

TEST(random_cases, draw_every_join_and_all_that_is_asked_of_it) {
  std::map<std::string, std::set<std::string>> asked;
  for (std::uint64_t seed = 0; seed < 3000; ++seed) {
    const test_case drawn = draw_case(seed, {backend::cpu, false});
    if (!drawn.joins) continue;
    auto& of = asked[drawn.structure];
    for (const join_question& one : drawn.joins->questions) {
      of.insert("how " + std::to_string(static_cast<int>(one.how)));
      of.insert("kind " + std::to_string(static_cast<int>(one.kind)));
      for (const aggregated which : one.aggregates)
        of.insert("aggregate " + std::to_string(static_cast<int>(which)));
    }
    if (drawn.structure == "inequality_join")
      of.insert("pair " + std::to_string(4 * static_cast<int>(drawn.joins->first) +
                                         static_cast<int>(drawn.joins->other)));
  }
  std::map<std::string, std::size_t> sizes;
  for (const auto& [join, all] : asked)
    sizes[join] = all.size();
  // Ways, kinds, and 11 aggregates, or 16 pairs of comparisons.
  const std::map<std::string, std::size_t> expected{{"asof_join", 1 + 4},
                                                    {"equi_join", 5 + 6},
                                                    {"interval_join", 2 + 6},
                                                    {"range_join", 4 + 6},
                                                    {"nearest_join", 2 + 4},
                                                    {"interval_coverage", 1 + 4},
                                                    {"inequality_join", 1 + 6 + 16},
                                                    {"window_join", 3 + 4 + 11}};
  EXPECT_EQ(sizes, expected);
}

TEST(random_cases, a_failing_join_is_shrunk) {
  // Intervals pretend to fail if a row of the build side begins where one of the probe side does.
  const auto differs = [](const test_case& tried) -> std::optional<std::string> {
    for (const join_question& one : tried.joins->questions) {
      for (const table_row& probe : one.probes) {
        for (const table_row& build : tried.joins->build) {
          if (probe.first.bits == build.first.bits) return "pretended";
        }
      }
    }
    return std::nullopt;
  };
  const std::string text = search_failing("interval_join", differs);
  const std::regex least(
      "Shrinking ...\n"
      "  interval_join, closed [a-z]+\n"
      "  1 rows of [a-z0-9]+ and [a-z0-9]+: \\(.+, .+\\)\n"
      "  question 1: (points|relation [a-z]+), inner, part 0: \\(.+, .+\\)\n"
      "pretended\n");
  EXPECT_TRUE(std::regex_search(text, least)) << text;
}

TEST(random_cases, a_crash_names_its_case) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const auto crash = [](const test_case& /*tried*/) -> std::optional<std::string> { std::abort(); };
  EXPECT_EXIT(search({backend::cpu, false}, "", {.seed = 17}, "program", crash, std::cout),
              testing::KilledBySignal(SIGABRT), "in flight: program --seed 17 --cases 1");
}

TEST(random_cases, a_case_that_does_not_end_is_named) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const auto hang = [](const test_case& /*tried*/) -> std::optional<std::string> {
    for (;;)
      std::this_thread::sleep_for(std::chrono::seconds(1));
  };
  const search_limits limits{.seed = 18, .seconds_a_case = 1};
  EXPECT_EXIT(search({backend::cpu, false}, "", limits, "program", hang, std::cout),
              testing::KilledBySignal(SIGABRT),
              "does not end\n.*in flight: program --seed 18 --cases 1");
}

}  // namespace
}  // namespace raydex::test
