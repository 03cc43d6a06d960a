// SPDX-License-Identifier: Apache-2.0
// The names of the choices of options.
#pragma once

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <cstddef>

#include "raydex/error.hpp"

namespace raydex {

// The name of a choice, of words in the order of its enumerators. Throws `invalid_argument` for a
// number that is none of them.
template <class Choice, std::size_t N>
const char* choice_name(const char* option, Choice choice,
                        const std::array<const char*, N>& words) {
  const auto number = static_cast<std::size_t>(choice);
  if (number < N) return words[number];
  throw invalid_argument(fmt::format("option {}: choice {} is not one of the {}: {}", option,
                                     number, N, fmt::join(words, ", ")));
}

}  // namespace raydex
