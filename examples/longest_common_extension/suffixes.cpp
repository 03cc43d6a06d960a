// SPDX-License-Identifier: Apache-2.0
// The suffix array by libdivsufsort; the LCP array by the algorithm of Kasai et al. (2001).
#include "examples/longest_common_extension/suffixes.hpp"

#include <divsufsort.h>
#include <fmt/format.h>

#include <cstddef>
#include <limits>
#include <new>

#include "raydex/error.hpp"

namespace raydex::examples {

sorted_suffixes::sorted_suffixes(std::string_view text)
    : positions(text.size()), ranks(text.size()), common(text.size()) {
  const std::size_t n = text.size();
  if (n > std::numeric_limits<std::int32_t>::max()) {
    throw invalid_argument(fmt::format("text: it has {} letters; fewer than 2^31 are legal", n));
  }
  const auto* const letters = reinterpret_cast<const sauchar_t*>(text.data());
  if (n != 0 && divsufsort(letters, positions.data(), static_cast<saidx_t>(n)) != 0) {
    throw std::bad_alloc();
  }
  for (std::size_t rank = 0; rank < n; ++rank)
    ranks[static_cast<std::size_t>(positions[rank])] = static_cast<std::uint32_t>(rank);
  // If a suffix shares h letters with its predecessor in the order, the suffix that begins one
  // letter later shares at least h - 1 with its own.
  std::uint32_t length = 0;
  for (std::size_t position = 0; position < n; ++position) {
    const std::uint32_t rank = ranks[position];
    if (rank == 0) {
      length = 0;
      continue;
    }
    const auto before = static_cast<std::size_t>(positions[rank - 1]);
    while (position + length < n && before + length < n &&
           text[position + length] == text[before + length])
      ++length;
    common[rank] = length;
    if (length != 0) --length;
  }
}

}  // namespace raydex::examples
