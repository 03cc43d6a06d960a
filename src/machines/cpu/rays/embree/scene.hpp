// SPDX-License-Identifier: Apache-2.0
// Scenes of keys in Embree, the only place that sees it (with scene.cpp).
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "raydex/core/rays/key_scene.hpp"
#include "raydex/export.hpp"
#include "raydex/memory.hpp"

namespace raydex::embree {

// Where primitives are, by part and number within it: triangles, or, of others, the key that stands
// at their centre.
struct shapes {
  core::key_grid grid;
  std::function<void(std::size_t, std::uint64_t, core::point3 (&)[3])> triangle;
  std::function<std::uint64_t(std::size_t, std::uint64_t)> key_of;
};

// What a scene is made of. Primitives of part p are those from `begins[p]` to
// `begins[p + 1]`.
struct scene_parts {
  core::primitive_kind primitive;
  std::vector<std::uint64_t> begins;
};

// Scenes of primitives that stand for keys, a scene a part.
class RAYDEX_INTERNAL scene {
 public:
  // Shapes are asked for as long as the scene lives. What Embree allocates is counted in `memory`.
  // Throws `unavailable` where Embree cannot be used, and `out_of_memory`.
  scene(const context& on, memory_resource& memory, const scene_parts& parts, shapes places);
  ~scene();
  scene(const scene&) = delete;
  scene& operator=(const scene&) = delete;

  // The first primitive of a part that a ray meets, counted within the part, and whether a triangle
  // is met from behind, where its corners turn clockwise; false if there is none.
  bool closest(unsigned part, const core::axis_ray& ray, std::uint64_t& primitive,
               bool& from_behind) const;
  // Calls tell(visitor, primitive) for each primitive of a part that a ray meets, in any order.
  void visit(unsigned part, const core::axis_ray& ray, void (*tell)(void*, std::uint64_t),
             void* visitor) const;

 private:
  struct state;
  std::unique_ptr<state> state_;
};

}  // namespace raydex::embree
