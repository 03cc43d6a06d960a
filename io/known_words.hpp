// SPDX-License-Identifier: Apache-2.0
// Words of a command line that are not among those known, and which of them may have been meant.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "raydex/index.hpp"

namespace raydex::io {

// Throws `invalid_argument`: `result: 'cound' is not one of first, count; did you mean 'count'?`.
[[noreturn]] void refuse_word(std::string_view argument, std::string_view word,
                              std::span<const std::string> known);

// The same if the word is not among those known.
void check_word(std::string_view argument, std::string_view word,
                std::span<const std::string> known);

// The same for the name of a structure. Throws `unavailable` for one that is not installed.
void check_structure_name(std::string_view name, std::span<const std::string> known);

// Refuses names and words of a structure's options that are misspelt. All else that is not legal is
// left to the build, which knows what is, and so is `auto`.
void check_spelling(const std::string& structure, const option_map& options);

}  // namespace raydex::io
