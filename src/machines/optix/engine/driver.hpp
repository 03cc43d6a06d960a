// SPDX-License-Identifier: Apache-2.0
// The driver's ray tracing: loaded at run time, a context for each device that is used.
#pragma once

#include <cstdint>
#include <string>

#include "raydex/export.hpp"
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

}  // namespace raydex::optix
