// SPDX-License-Identifier: Apache-2.0
// How many lookups rays may get wrong.
#pragma once

#include <cstdint>
#include <limits>
#include <string>

#include "raydex/index.hpp"

namespace raydex::test {

// On the CPU none, since Embree computes distances well enough in all layouts. The exceptions are
// cases where floats have no room, half of which may fail: stretched keys, and spheres met from
// zero, since the squares of their distances are subtracted. OptiX may miss all of these spheres,
// as on an H200. RT cores may round more: one in 1000 lookups may fail at the ends of long ranges,
// where half a step is four floats, and half of those along rays from zero, where it is one.
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
