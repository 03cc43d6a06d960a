// SPDX-License-Identifier: Apache-2.0
// What an engine is to build for a scene of core.
#pragma once

#include <cstdint>
#include <vector>

#include "raydex/core/key_scene.hpp"

namespace raydex {

// Part p has the primitives that `scene` numbers from 0, from place `part_begins[p]` on among all.
template <class Scene>
struct scene_plan {
  Scene scene{};
  std::vector<std::uint64_t> part_begins{};  // of each part, and of the one after the last
  core::primitive_kind primitive = core::primitive_kind::triangle;
  bool compact = false;
  bool fast_build = true;
  bool refittable = false;
};

}  // namespace raydex
