// SPDX-License-Identifier: Apache-2.0
// Acceleration structures: what the driver builds over primitives.
#pragma once

#include <cstddef>
#include <cstdint>

#include "raydex/core/rays/key_scene.hpp"
#include "raydex/export.hpp"
#include "raydex/memory.hpp"
#include "src/machines/optix/abi.hpp"

namespace raydex::optix {

// Primitives in device memory; they are read by the build only.
struct primitives {
  core::primitive_kind kind;
  const void* data;    // three corners a triangle, a centre a sphere, a box3 a box
  const void* radius;  // of all spheres
  std::uint64_t size;
  unsigned flags;  // of abi::geometry_flags
};

class RAYDEX_INTERNAL structure {
 public:
  structure() = default;
  // Builds over primitives, with `build_flags`. Synchronises if it is to be compacted.
  structure(const context& on, const primitives& shapes, unsigned flags);

  // What rays are traced against; 0, which they never meet, for no primitives.
  abi::traversable handle() const { return handle_; }

 private:
  buffer<std::byte> memory_;
  abi::traversable handle_ = 0;
};

}  // namespace raydex::optix
