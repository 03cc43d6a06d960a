// SPDX-License-Identifier: Apache-2.0
// The driver's ray tracing: loaded at run time, a context for each device that is used; and the
// acceleration structures that it builds over primitives.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "raydex/core/rays/key_scene.hpp"
#include "raydex/export.hpp"
#include "raydex/memory.hpp"
#include "src/machines/optix/abi.hpp"

namespace raydex::optix {

// Why the driver does not offer the interface; empty if it does.
const std::string& driver_problem();

// The driver's functions. Precondition: there is no problem.
const abi::functions& driver();

// Throws `optix_error`, or `out_of_memory`, unless a call succeeded.
void check(abi::result code, const char* call);

// A device as the driver sees it. Lives as long as the process.
struct device {
  abi::context_handle context;
  std::uint64_t most_primitives;  // of one structure
  int rt_core_version;            // times 10; 0: rays are traversed in software
};

// The current device.
RAYDEX_INTERNAL const device& current_device();

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
