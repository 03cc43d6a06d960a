// SPDX-License-Identifier: Apache-2.0
#include "src/options/ray_options.hpp"

#include <fmt/format.h>

#include <array>

#include "raydex/error.hpp"
#include "src/options/choice_name.hpp"

namespace raydex {

void check_bits(unsigned x, unsigned y, unsigned z, const rx_scale& scale) {
  for (const unsigned bits : {x, y, z}) {
    if (bits > 23) {
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

void check_parts(unsigned parts) {
  if (parts <= 4096) return;
  throw invalid_argument(fmt::format("option parts: {} is not auto, nor from 1 to 4096", parts));
}

void check_places(std::uint64_t largest_key, std::uint64_t largest_place, const char* remedy) {
  if (largest_key <= largest_place) return;
  throw unsupported(
      fmt::format("the largest key has the code {}, but there are places up to {}; "
                  "take {}",
                  largest_key, largest_place, remedy));
}

std::string describe_build(const std::optional<bool>& compact, bool fast_build, unsigned parts) {
  return fmt::format("compact={} build={} parts={}",
                     !compact   ? "auto"
                     : *compact ? "on"
                                : "off",
                     fast_build ? "fast" : "trace", parts == 0 ? "auto" : fmt::format("{}", parts));
}

std::string describe(rx_order order) {
  return fmt::format("order={}",
                     choice_name("order", order, std::array{"auto", "batch", "tiles", "sorted"}));
}

}  // namespace raydex
