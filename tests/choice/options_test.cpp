// SPDX-License-Identifier: Apache-2.0
// Options of all structures by name, as users ask for them.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <set>
#include <span>
#include <string>

#include "raydex/raydex.hpp"
#include "tests/support/expect_error.hpp"

namespace raydex {
namespace {

std::set<std::string> all_structures() {
  std::set<std::string> all;
  for (const capability& what : capabilities())
    all.insert(what.structure);
  for (const rmq_capability& what : rmq_capabilities())
    all.insert(what.structure);
  return all;
}

// The options in force of a structure built with these.
std::string built_with(const std::string& structure, const option_map& options) {
  const session cpu(backend::cpu);
  static constexpr std::array<std::uint32_t, 4> cells{4, 3, 2, 1};
  const column data(std::span(cells.data(), cells.size()));
  if (structure.starts_with("rmq_"))
    return build_rmq(structure, backend::cpu, cpu, data, options)->info().options;
  return build(structure, backend::cpu, cpu, data, {}, options)->info().options;
}

TEST(options, each_says_what_it_means_and_takes_its_usual_value) {
  for (const std::string& structure : all_structures()) {
    std::set<std::string> names;
    for (const option_info& option : options_of(structure)) {
      SCOPED_TRACE(structure + " " + option.name);
      EXPECT_TRUE(names.insert(option.name).second) << "listed twice";
      EXPECT_FALSE(option.values.empty());
      EXPECT_FALSE(option.meaning.empty());
      if (option.usual.empty()) continue;
      option_map given{{option.name, option.usual}};
      if (!option.with.empty()) {
        const std::size_t middle = option.with.find('=');
        EXPECT_TRUE(names.contains(option.with.substr(0, middle))) << "belongs to what comes later";
        given.emplace(option.with.substr(0, middle), option.with.substr(middle + 1));
      }
      EXPECT_NE(built_with(structure, given).find(option.name + '='), std::string::npos);
    }
  }
}

// What an index says of its options builds the same one.
TEST(options, what_is_told_can_be_given) {
  for (const std::string& structure : all_structures()) {
    const std::string told = built_with(structure, {});
    option_map given;
    for (std::size_t at = 0; at < told.size();) {
      const std::size_t end = std::min(told.find(' ', at), told.size());
      const std::string word = told.substr(at, end - at);
      given.emplace(word.substr(0, word.find('=')), word.substr(word.find('=') + 1));
      at = end + 1;
    }
    EXPECT_EQ(built_with(structure, given), told) << structure;
  }
}

// `raydex tune` gives them one at a time.
TEST(options, values_worth_trying_are_unusual_and_can_be_given_alone) {
  for (const std::string& structure : all_structures()) {
    for (const option_info& option : options_of(structure)) {
      if (option.worth_trying.empty()) continue;
      SCOPED_TRACE(structure + " " + option.name);
      EXPECT_NE(option.worth_trying, option.usual);
      const std::string told = built_with(structure, {{option.name, option.worth_trying}});
      EXPECT_NE((' ' + told + ' ').find(' ' + option.name + '=' + option.worth_trying + ' '),
                std::string::npos)
          << told;
    }
  }
}

TEST(options, of_no_structure_are_refused) {
  test::expect_error<invalid_argument>([] { options_of("trie"); }, {"'trie'"});
}

}  // namespace
}  // namespace raydex
