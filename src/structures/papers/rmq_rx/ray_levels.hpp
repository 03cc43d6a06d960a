// SPDX-License-Identifier: Apache-2.0
// The levels that rays meet, by which they are built and their bytes are said before.
#pragma once

#include <cstdint>

#include "raydex/core/bits.hpp"
#include "raydex/core/minima/rmq_rx.hpp"
#include "raydex/estimate.hpp"
#include "raydex/rmq_rx.hpp"
#include "src/structures/shared/scene_bytes.hpp"

namespace raydex {

// How many groups of 2^bits elements make.
inline std::uint64_t ray_groups(std::uint64_t size, unsigned bits) {
  return (size + (std::uint64_t{1} << bits) - 1) >> bits;
}

// Divides an array, not empty, into the levels of a scene whose blocks are known.
inline void lay_out_ray_levels(std::uint64_t size, core::rmq_ray_scene& scene) {
  core::rmq_ray_level level;
  for (level.size = size;; level.size = ray_groups(level.size, scene.block_bits)) {
    scene.levels[scene.level_count++] = level;
    if (level.size <= scene.block()) return;
    if (scene.level_count > 1) level.stored += level.size;
    level.first_chunk += ray_groups(level.size, core::rmq_ray_scene::chunk_bits);
    level.first_part +=
        static_cast<unsigned>(ray_groups(level.size, core::rmq_ray_scene::part_bits));
  }
}

// Positions of minima that a scene keeps, and those that its build needs.
inline std::uint64_t ray_positions(const core::rmq_ray_scene& scene) {
  if (scene.level_count < 2) return 0;
  const core::rmq_ray_level& top = scene.levels[scene.level_count - 1];
  return top.stored + top.size;
}
inline std::uint64_t ray_chunks(const core::rmq_ray_scene& scene) {
  if (scene.level_count == 0) return 0;
  const core::rmq_ray_level& top = scene.levels[scene.level_count - 1];
  return top.first_chunk + ray_groups(top.size, core::rmq_ray_scene::chunk_bits);
}

// Bytes of minima by rays, at most; a counter of repairs is among them.
inline rmq_estimate estimate_minima_by_rays(backend where, std::uint64_t n,
                                            const rmq_rx_options& options) {
  core::rmq_ray_scene scene;
  scene.block_bits = core::floor_log2(options.block);
  if (n != 0) lay_out_ray_levels(n, scene);
  const std::uint64_t positions = ray_positions(scene);
  const scene_bytes shapes = bytes_of_scene(where, n + positions, false);
  constexpr std::uint64_t each = sizeof(std::uint64_t);
  return {.structure = {},
          .resident_bytes = (positions + 1) * each + shapes.resident,
          .build_peak_bytes = (positions + ray_chunks(scene) + 1) * each + shapes.peak,
          .per_probe = {.extreme = each}};
}

}  // namespace raydex
