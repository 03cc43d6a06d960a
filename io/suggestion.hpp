// SPDX-License-Identifier: Apache-2.0
// What somebody may have meant.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace raydex::io {

// The known word that takes the fewest changes of a character (one more, one less, another one, two
// swapped) to make of `word`, whatever the case; of equally near ones the first. Empty where all
// take more than a third of its characters. Of `gpu` it is `cuda`, of `outer` `full`.
std::string nearest(std::string_view word, std::span<const std::string> known);

// `; did you mean 'pivot_tree'?`, or nothing.
std::string suggestion(std::string_view word, std::span<const std::string> known);

}  // namespace raydex::io
