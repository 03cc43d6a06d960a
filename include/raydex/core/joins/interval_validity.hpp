// SPDX-License-Identifier: Apache-2.0
/// @file
/// Which intervals match anything.
#pragma once

#include <cstdint>

#include "raydex/core/atomic.hpp"
#include "raydex/core/config.hpp"
#include "raydex/core/joins/key_cells.hpp"
#include "raydex/core/keys/column.hpp"

namespace raydex::core {

/// Writes a bit for each valid interval, eight a byte: one that has its ends and a key, and does
/// not end before it begins.
template <class Key>
struct put_interval_validity {
  encoded_column<Key> lower;  ///< their ends
  encoded_column<Key> upper;  ///< likewise
  composite_cells keys;       ///< their keys, or none
  std::uint64_t size;         ///< how many
  std::uint8_t* out;          ///< a bit each
  std::uint64_t* empty;       ///< becomes 1 if the ends of one are equal; 0 at first
  /// Writes byte `byte`.
  RAYDEX_HD void operator()(std::uint64_t byte) const {
    unsigned bits = 0;
    bool equal = false;
    for (unsigned bit = 0; bit < 8 && byte * 8 + bit < size; ++bit) {
      const std::uint64_t i = byte * 8 + bit;
      if (!lower.valid(i) || !upper.valid(i) || !keys.complete(i)) continue;
      const Key begin = lower[i];
      const Key end = upper[i];
      if (begin <= end) bits |= 1U << bit;
      equal |= begin == end;
    }
    out[byte] = static_cast<std::uint8_t>(bits);
    if (equal && load_atomically(empty) == 0) keep_largest(empty, 1);
  }
};

}  // namespace raydex::core
