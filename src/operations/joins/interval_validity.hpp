// SPDX-License-Identifier: Apache-2.0
// Which intervals match anything.
#pragma once

#include <cstdint>

#include "raydex/core/joins/interval_validity.hpp"
#include "src/interface/dispatch.hpp"
#include "src/operations/joins/slices.hpp"

namespace raydex {

// Which of them have a key and both ends, and the upper end is not less; and whether the ends of
// one are equal, if `empty` was 0.
template <executor Executor>
buffer<std::uint8_t> validity_of_intervals(const context& on, const column& lower,
                                           const column& upper, const key_parts& by,
                                           std::uint64_t* empty) {
  buffer<std::uint8_t> bits(on, (lower.size + 7) / 8);
  dispatch_key(lower.format, [&]<class Key>() {
    Executor::for_each(on,
                       core::put_interval_validity<Key>{{cells_of(lower)},
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
