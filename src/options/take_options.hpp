// SPDX-License-Identifier: Apache-2.0
// Options given by name: each is taken out of the map, so that what is left is unknown.
#pragma once

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <charconv>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "raydex/error.hpp"
#include "raydex/index.hpp"

namespace raydex {

template <class Value>
using word = std::pair<std::string_view, Value>;

// An option that takes one of a few words. Removes it from `options`; nothing if it is not there.
template <class Value, std::size_t N>
std::optional<Value> take_choice(option_map& options, std::string_view option,
                                 const std::array<word<Value>, N>& choices) {
  const auto given = options.find(option);
  if (given == options.end()) return std::nullopt;
  std::vector<std::string_view> legal;
  for (const auto& [word, value] : choices) {
    if (word == given->second) {
      options.erase(given);
      return value;
    }
    legal.push_back(word);
  }
  throw invalid_argument(fmt::format("option {}: '{}' is not one of {}", option, given->second,
                                     fmt::join(legal, ", ")));
}

// An option that takes a number. Whether it is one of the `legal` ones, the build checks.
inline std::optional<unsigned> take_number(option_map& options, std::string_view option,
                                           std::string_view legal) {
  const auto given = options.find(option);
  if (given == options.end()) return std::nullopt;
  const std::string& text = given->second;
  unsigned number = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (problem != std::errc() || end != text.data() + text.size()) {
    throw invalid_argument(
        fmt::format("option {}: '{}' is not a number; legal: {}", option, text, legal));
  }
  options.erase(given);
  return number;
}

// Takes an option if it is this word, which stands for what is said by not giving it.
inline bool take_word(option_map& options, std::string_view option, std::string_view usual) {
  const auto given = options.find(option);
  if (given == options.end() || given->second != usual) return false;
  options.erase(given);
  return true;
}

// Takes a number of which 0 stands for a word; so it may be said by that only.
inline std::optional<unsigned> take_number_or(option_map& options, std::string_view option,
                                              std::string_view usual, std::string_view legal) {
  if (take_word(options, option, usual)) return std::nullopt;
  const std::string all = fmt::format("{}, {}", usual, legal);
  const std::optional<unsigned> number = take_number(options, option, all);
  if (number == 0U) {
    throw invalid_argument(fmt::format("option {}: 0 is not legal; legal: {}", option, all));
  }
  return number;
}

}  // namespace raydex
