// SPDX-License-Identifier: Apache-2.0
// The suffixes of a text in alphabetical order.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace raydex::examples {

// A suffix is named by the position where it begins, and its rank is its number in the order.
struct sorted_suffixes {
  // Throws `invalid_argument` for texts of 2^31 letters or more.
  explicit sorted_suffixes(std::string_view text);

  std::vector<std::int32_t> positions;  // by rank: the suffix array
  std::vector<std::uint32_t> ranks;     // by position: its inverse
  std::vector<std::uint32_t> common;    // by rank: how many letters a suffix has in common with the
                                        // one before it, 0 for the first: the LCP array
};

}  // namespace raydex::examples
