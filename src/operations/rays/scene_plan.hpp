// SPDX-License-Identifier: Apache-2.0
// What an engine is to build for a scene of core.
#pragma once

#include <cstdint>
#include <vector>

#include "raydex/core/config.hpp"
#include "raydex/core/rays/key_scene.hpp"

namespace raydex {

// Part p has the primitives that `scene` numbers from 0, from place `part_begins[p]` on among all.
template <class Scene>
struct scene_plan {
  Scene scene{};
  std::vector<std::uint64_t> part_begins{};  // of each part, and of the one after the last
  core::primitive_kind primitive = core::primitive_kind::triangle;
  bool compact = false;
  bool fast_build = true;
};

// Where a part begins, of parts as equal as they can be.
RAYDEX_HD inline std::uint64_t part_begin(std::uint64_t part, std::uint64_t parts,
                                          std::uint64_t all) {
  const std::uint64_t more = all % parts;
  return part * (all / parts) + (part < more ? part : more);
}

}  // namespace raydex
