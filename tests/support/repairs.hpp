// SPDX-License-Identifier: Apache-2.0
// How many lookups rays may fail to answer rightly.
#pragma once

#include <cstdint>
#include <limits>
#include <string>

#include "raydex/index.hpp"

namespace raydex::test {

// On the CPU none, since Embree computes the distances of all layouts well enough; but half of them
// where floats have no room: between stretched keys, and for spheres that are met from zero, the
// squares of whose distances are subtracted. Of these OptiX may meet none, as on an H200. RT cores
// may round more: one in 1000 at the ends of long ranges, where half a step is four floats, and
// half of them along any ray from zero, where it is one.
inline std::uint64_t most_repairs(const index& of, std::uint64_t lookups) {
  const auto has = [&](const char* option) {
    return of.info().options.find(option) != std::string::npos;
  };
  const bool by_embree = of.info().where != backend::optix;
  const bool from_zero = has("points=zero") || has("ranges=zero");
  const bool spheres_from_zero = from_zero && has("primitive=sphere");
  if (spheres_from_zero && !by_embree) return std::numeric_limits<std::uint64_t>::max();
  if (has("mode=extended") || spheres_from_zero || (from_zero && !by_embree)) return lookups / 2;
  return by_embree ? 0 : lookups / 1000;
}

}  // namespace raydex::test
