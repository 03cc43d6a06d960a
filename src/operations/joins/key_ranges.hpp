// SPDX-License-Identifier: Apache-2.0
// Ranges of keys about probes.
#pragma once

#include <cstdint>
#include <limits>

#include "raydex/core/joins/key_ranges.hpp"
#include "raydex/join.hpp"
#include "src/operations/lookups/built_index.hpp"
#include "src/operations/machine.hpp"

namespace raydex {

// What makes of a probe the range of keys that are near it.
template <class Key>
core::band_about<Key> band_of(key_type type, const key_distance& distance) {
  using floating = typename core::band_about<Key>::floating;
  if (type == key_type::float32 || type == key_type::float64)
    return {0, static_cast<floating>(distance.real()), true};
  constexpr Key most = std::numeric_limits<Key>::max();
  const std::uint64_t whole = distance.whole();
  return {whole > most ? most : static_cast<Key>(whole), 0, false};
}

// Writes the codes of the ends of what `range` makes of each probe.
template <executor Executor, class Key, class Range>
void put_ranges(const context& on, const column& probes, const Range& range, buffer<Key>& lower,
                buffer<Key>& upper) {
  Executor::for_each(
      on, core::put_ranges<Key, Range>{{cells_of(probes)}, range, lower.data(), upper.data()},
      probes.size);
}

}  // namespace raydex
