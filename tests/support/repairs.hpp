// SPDX-License-Identifier: Apache-2.0
// How many lookups rays may get wrong.
#pragma once

#include <cstdint>
#include <limits>
#include <string>

#include "raydex/index.hpp"

namespace raydex::test {

// Whether distances along rays from zero keep all bits of a float. Those of Embree's kernels for
// AVX-512 did. On an EPYC without it Embree missed triangles from x = 2^22 on, as OptiX does; we
// suppose that its other kernels take shorter reciprocals.
inline bool keeps_all_bits(backend where) {
#if defined(__x86_64__)
  return where != backend::optix && __builtin_cpu_supports("avx512vl");
#else
  return false;
#endif
}

// On the CPU none, since Embree computes distances well enough in all layouts. The exceptions are
// cases where floats have no room, and half of these may fail: stretched keys, and spheres met from
// zero, since the squares of their distances are subtracted. Where distances do not keep all bits,
// all of these spheres may be missed, and half of other lookups along rays from zero, where half a
// step is one float. RT cores may round more: one in 1000 lookups may fail at the ends of long
// ranges, where half a step is four floats.
inline std::uint64_t most_repairs(const index& of, std::uint64_t lookups) {
  const auto has = [&](const char* option) {
    return of.info().options.find(option) != std::string::npos;
  };
  const bool by_embree = of.info().where != backend::optix;
  const bool from_zero = has("ranges=zero");
  const bool spheres_from_zero = from_zero && has("primitive=sphere");
  const bool exact = keeps_all_bits(of.info().where);
  if (spheres_from_zero && !exact) return std::numeric_limits<std::uint64_t>::max();
  if (has("mode=extended") || spheres_from_zero || (from_zero && !exact)) return lookups / 2;
  return by_embree ? 0 : lookups / 1000;
}

}  // namespace raydex::test
