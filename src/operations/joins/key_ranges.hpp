// SPDX-License-Identifier: Apache-2.0
// Ranges of keys about probes.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>

#include "raydex/core/joins/key_ranges.hpp"
#include "raydex/join.hpp"
#include "src/operations/lookups/built_index.hpp"
#include "src/operations/machine.hpp"

namespace raydex {

// How far to one side of a probe keys are near: at most a distance, or less than it.
struct key_reach {
  key_distance distance;
  bool open = false;

  // Whether it leaves out the keys that equal the probe; else there is a distance that it includes.
  bool leaves_out_equal() const { return open && distance.real() == 0; }

  template <class Key>
  Key whole() const {
    constexpr Key most = std::numeric_limits<Key>::max();
    std::uint64_t all = distance.whole();
    if (open && all != 0 && std::isfinite(distance.real())) --all;
    return all > most ? most : static_cast<Key>(all);
  }
  template <class Real>
  Real real() const {
    const auto all = static_cast<Real>(distance.real());
    return open && std::isfinite(all) ? std::nextafter(all, Real{0}) : all;
  }
};

// What makes of a probe the range of keys that are near it; those that equal it are.
template <class Key>
core::band_about<Key> band_of(key_type type, const key_reach& before, const key_reach& after) {
  using floating = typename core::band_about<Key>::floating;
  if (type == key_type::float32 || type == key_type::float64)
    return {0, 0, before.template real<floating>(), after.template real<floating>(), true};
  return {before.template whole<Key>(), after.template whole<Key>(), 0, 0, false};
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
