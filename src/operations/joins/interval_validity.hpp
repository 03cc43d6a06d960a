// SPDX-License-Identifier: Apache-2.0
// Which intervals match anything.
#pragma once

#include <cstdint>

#include "raydex/core/atomic.hpp"
#include "raydex/core/joins/key_cells.hpp"
#include "raydex/core/keys/column.hpp"
#include "src/interface/dispatch.hpp"
#include "src/operations/joins/slices.hpp"

namespace raydex {

// Writes a bit for each valid interval, eight a byte: one that has its ends and a key, and does
// not end before it begins.
template <class Key>
struct put_interval_validity {
  core::encoded_column<Key> lower;  // their ends
  core::encoded_column<Key> upper;  // likewise
  core::composite_cells keys;       // their keys, or none
  std::uint64_t size;               // how many
  std::uint8_t* out;                // a bit each
  std::uint64_t* empty;             // becomes 1 if the ends of one are equal; 0 at first
  // Writes byte `byte`.
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
    if (equal && core::load_atomically(empty) == 0) core::keep_largest(empty, 1);
  }
};

// Which of them have a key and both ends, and the upper end is not less; and whether the ends of
// one are equal, if `empty` was 0.
template <executor Executor>
buffer<std::uint8_t> validity_of_intervals(const context& on, const column& lower,
                                           const column& upper, const key_parts& by,
                                           std::uint64_t* empty) {
  buffer<std::uint8_t> bits(on, (lower.size + 7) / 8);
  dispatch_key(lower.format, [&]<class Key>() {
    Executor::for_each(on,
                       put_interval_validity<Key>{{cells_of(lower)},
                                                  {cells_of(upper)},
                                                  composite_of(by, false),
                                                  lower.size,
                                                  bits.data(),
                                                  empty},
                       bits.size());
  });
  return bits;
}
template <executor Executor>
buffer<std::uint8_t> validity_of_intervals(const context& on, const column& lower,
                                           const column& upper, const key_parts& by) {
  buffer<std::uint64_t> empty(on, 1);
  Executor::clear(on, empty.data());
  return validity_of_intervals<Executor>(on, lower, upper, by, empty.data());
}

}  // namespace raydex
