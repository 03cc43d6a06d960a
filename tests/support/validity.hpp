// SPDX-License-Identifier: Apache-2.0
// Bitmaps of the cells of a column that are there.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace raydex::test {

// Of so many cells, in which the first one and then one in `every` is missing.
inline std::vector<std::uint8_t> bits_without(std::size_t size, std::size_t every) {
  std::vector<std::uint8_t> bits(size / 8 + 1);
  for (std::size_t i = 0; i < size; ++i)
    if (i % every != 0) bits[i / 8] |= static_cast<std::uint8_t>(1U << (i % 8));
  return bits;
}

}  // namespace raydex::test
