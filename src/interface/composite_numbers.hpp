// SPDX-License-Identifier: Apache-2.0
// The numbers that the columns of a composite key become: how many bits they take, and whether one
// is left.
#pragma once

#include <cstdint>
#include <span>

#include "raydex/composite_keys.hpp"
#include "raydex/core/lookups/composite_keys.hpp"

namespace raydex {

// A column of a key, without cells.
inline core::numbered_column numbered(const composite_part& part) {
  core::numbered_column made;
  made.has_values = part.first <= part.last;
  made.has_missing = part.missing != missing_cells::unmatched;
  made.shift = part.missing == missing_cells::first ? 1 : 0;
  if (made.has_values) {
    made.flip = part.descending ? ~std::uint64_t{0} : 0;
    made.low = part.descending ? ~part.last : part.first;
    made.span = part.last - part.first;
    made.step = part.step;
    if (part.missing == missing_cells::last) made.missing = made.largest();
  }
  made.bits = static_cast<std::uint8_t>(part.bits);
  return made;
}

// Of all columns.
inline unsigned bits_of(std::span<const composite_part> parts) {
  unsigned bits = 0;
  for (const composite_part& part : parts)
    bits += part.bits;
  return bits;
}

inline key_format packed_format(std::span<const composite_part> parts) {
  return key_format(bits_of(parts) <= 32 ? key_type::uint32 : key_type::uint64);
}

// Whether ones in all bits of that format are a number of a key.
inline bool is_full(std::span<const composite_part> parts) {
  std::uint64_t largest = 0;
  for (const composite_part& part : parts) {
    const core::numbered_column column = numbered(part);
    largest = column.below(largest, column.largest());
  }
  return largest == (packed_format(parts).width == 4 ? ~std::uint32_t{0} : ~std::uint64_t{0});
}

}  // namespace raydex
