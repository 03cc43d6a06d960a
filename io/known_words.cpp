// SPDX-License-Identifier: Apache-2.0
#include "io/known_words.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <sstream>
#include <vector>

#include "io/quoted.hpp"
#include "io/suggestion.hpp"
#include "raydex/capability.hpp"
#include "raydex/error.hpp"

namespace raydex::io {

namespace {

// Of `auto|1..4096` the words: what is no number.
std::vector<std::string> words_of(const option_info& option) {
  std::vector<std::string> words;
  std::istringstream values(option.values);
  for (std::string value; std::getline(values, value, '|');) {
    if (std::isalpha(static_cast<unsigned char>(value.front())) != 0) words.push_back(value);
  }
  return words;
}

}  // namespace

void refuse_word(std::string_view argument, std::string_view word,
                 std::span<const std::string> known) {
  throw invalid_argument(fmt::format("{}: {} is not one of {}{}", argument, in_quotes(word),
                                     fmt::join(known, ", "), suggestion(word, known)));
}

void check_word(std::string_view argument, std::string_view word,
                std::span<const std::string> known) {
  if (std::ranges::find(known, word) == known.end()) refuse_word(argument, word, known);
}

void check_structure_name(std::string_view name, std::span<const std::string> known) {
  if (std::ranges::find(known, name) != known.end()) return;
  try {
    options_of(name);
  } catch (const invalid_argument&) {
    // It is misspelt, or another word where names are expected: said below, with what was meant.
  }
  refuse_word("structure", name, known);
}

void check_spelling(const std::string& structure, const option_map& options) {
  if (structure == "auto") return;
  const std::vector<option_info> all = options_of(structure);
  std::vector<std::string> names;
  for (const option_info& option : all)
    names.push_back(option.name);
  for (const auto& [name, value] : options) {
    const auto found = std::ranges::find(all, name, &option_info::name);
    if (found == all.end()) {
      if (!nearest(name, names).empty()) refuse_word(structure + " option", name, names);
      continue;
    }
    const std::vector<std::string> words = words_of(*found);
    if (std::ranges::find(words, value) != words.end() || nearest(value, words).empty()) continue;
    throw invalid_argument(fmt::format("option {}: {} is not one of {}{}", name, in_quotes(value),
                                       found->values, suggestion(value, words)));
  }
}

}  // namespace raydex::io
