// SPDX-License-Identifier: Apache-2.0
#include "src/structures/shared/scene_options.hpp"

#include <fmt/format.h>

#include "raydex/error.hpp"

namespace raydex {

void check_bits(const rx_bits& bits, const rx_scale& scale) {
  const auto& [x, y, z] = bits;
  for (const unsigned each : {x, y, z}) {
    if (each > 23) {
      throw invalid_argument(
          fmt::format("option bits: {}/{}/{}: a coordinate has at most 23 bits", x, y, z));
    }
  }
  if (scale.y > rx_scale::most - y || scale.z > rx_scale::most - z) {
    throw invalid_argument(
        fmt::format("option scale: {}/{}: with bits={}/{}/{} it is at most {}/{}", scale.y, scale.z,
                    x, y, z, rx_scale::most - y, rx_scale::most - z));
  }
}

void check_places(std::uint64_t largest_key, std::uint64_t largest_place, const char* remedy) {
  if (largest_key <= largest_place) return;
  throw unsupported(
      fmt::format("the largest key has the code {}, but there are places up to {}; "
                  "take {}",
                  largest_key, largest_place, remedy));
}

}  // namespace raydex
