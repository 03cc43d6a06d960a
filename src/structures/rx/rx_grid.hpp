// SPDX-License-Identifier: Apache-2.0
// Where the options of RX put keys.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>

#include "raydex/core/rays/key_scene.hpp"
#include "raydex/rx.hpp"
#include "src/structures/shared/scene_options.hpp"

namespace raydex {

// The grid that the options ask for. Throws `unsupported` where it has no place for the largest
// key.
inline core::key_grid rx_bits_grid(const rx_options& options, std::uint64_t largest) {
  core::key_grid grid;
  if (options.mode == rx_mode::extended) {
    grid = core::key_grid::stretch(largest);
  } else if (options.mode == rx_mode::naive) {
    grid = {.x_bits = 23, .y_bits = 0, .z_bits = 0};
  } else {
    grid = {.x_bits = static_cast<std::uint8_t>(options.bits.x),
            .y_bits = static_cast<std::uint8_t>(options.bits.y),
            .z_bits = static_cast<std::uint8_t>(options.bits.z)};
  }
  check_places(largest, grid.largest(), "mode=3d with more bits");
  return grid;
}

inline void check_rx_places(const rx_options& options, std::uint64_t largest) {
  rx_bits_grid(options, largest);
}

// The same, no wider than its keys, and with its steps.
template <class Engine>
core::key_grid rx_grid(const rx_options& options, std::uint64_t largest) {
  core::key_grid grid = rx_bits_grid(options, largest);
  if (options.mode != rx_mode::grid) return grid;

  // Bits that no key has only move the scene away from 0, where floats are finest.
  const auto used = static_cast<unsigned>(std::bit_width(largest));
  const unsigned y_bits = std::min(used - std::min(used, options.bits.x), options.bits.y);
  const unsigned z_bits = used - std::min(used, options.bits.x + y_bits);
  rx_scale scale;
  if (options.scale) {
    scale = *options.scale;
  } else if (options.primitive != rx_primitive::sphere) {
    scale = Engine::best_scale(z_bits != 0);
    scale.y = std::min(scale.y, rx_scale::most - y_bits);
    scale.z = std::min(scale.z, rx_scale::most - z_bits);
  }
  const auto step = [](unsigned power) { return static_cast<float>(std::uint64_t{1} << power); };
  grid.y_bits = static_cast<std::uint8_t>(y_bits);
  grid.z_bits = static_cast<std::uint8_t>(z_bits);
  grid.y_step = step(scale.y);
  grid.z_step = step(scale.z);
  return grid;
}

}  // namespace raydex
