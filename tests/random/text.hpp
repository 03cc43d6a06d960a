// SPDX-License-Identifier: Apache-2.0
// Parts of the text of a case.
#pragma once

#include <fmt/format.h>

#include <array>
#include <cstddef>
#include <string>

#include "tests/random/case.hpp"

namespace raydex::test {

template <std::size_t N, class Enum>
const char* word(const std::array<const char*, N>& words, Enum which) {
  return words.at(static_cast<std::size_t>(which));
}

// Elements with spaces between them; equal neighbours once, with their number.
template <class List, class Text>
std::string listed(const List& all, Text&& text) {
  std::string line;
  for (std::size_t i = 0; i < all.size();) {
    const std::size_t begin = i;
    while (i < all.size() && all[i] == all[begin])
      ++i;
    line.append(" ").append(text(all[begin]));
    if (i - begin > 1) line += fmt::format("*{}", i - begin);
  }
  return line.empty() ? " none" : line;
}

// Where the cells of columns lie, unless side by side; what fails, after a comma.
std::string to_text(const char* what, const placing& lie);
std::string to_text(const fault& fails);
// A join.
std::string to_text(const test_case& of, const join_case& join);

}  // namespace raydex::test
