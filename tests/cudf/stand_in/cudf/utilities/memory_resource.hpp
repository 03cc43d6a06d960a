// SPDX-License-Identifier: Apache-2.0
// Stands in for the header of cuDF, as far as raydex/cudf.hpp uses it.
#pragma once

#include "rmm/resource_ref.hpp"

namespace cudf {

// Which one is set by the test.
inline raydex::memory_resource* current_device_resource = nullptr;

inline rmm::device_async_resource_ref get_current_device_resource_ref() {
  return *current_device_resource;
}

}  // namespace cudf
