// SPDX-License-Identifier: Apache-2.0
// How many lookups rays may fail to answer rightly.
#pragma once

#include <cstdint>
#include <string>

#include "raydex/index.hpp"

namespace raydex::test {

// None of Embree, which computes the distances of all layouts exactly, as OptiX does in software.
// RT cores may round where half a step is a few floats, at the end of a long range: a lookup in
// 1000. It is a single float along rays from zero and between stretched keys: one in four.
inline std::uint64_t most_repairs(const index& of, std::uint64_t lookups) {
  if (of.info().where != backend::optix) return 0;
  for (const char* near : {"points=zero", "ranges=zero", "mode=extended"}) {
    if (of.info().options.find(near) != std::string::npos) return lookups / 4;
  }
  return lookups / 1000;
}

}  // namespace raydex::test
