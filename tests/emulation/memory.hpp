// SPDX-License-Identifier: Apache-2.0
//
// Who may touch device memory.
#pragma once

#include <cstddef>

#include "tests/emulation/device.hpp"

namespace emulation {

// Device memory is open to everybody while one of these lives.
class device_memory_access {
 public:
  explicit device_memory_access(const device_state& owner);
  ~device_memory_access();
  device_memory_access(const device_memory_access&) = delete;
  device_memory_access& operator=(const device_memory_access&) = delete;

 private:
  void for_each(void (*change)(const void*, std::size_t)) const;

  const device_state& owner_;
};

}  // namespace emulation
