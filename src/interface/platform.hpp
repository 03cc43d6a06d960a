// SPDX-License-Identifier: Apache-2.0
// What a session needs of a backend. Each backend that is built offers `open_platform`.
#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include "raydex/memory.hpp"
#include "raydex/session.hpp"

namespace raydex {

class platform {
 public:
  platform() = default;
  platform(const platform&) = delete;
  platform& operator=(const platform&) = delete;
  virtual ~platform() = default;

  virtual memory_resource& memory() noexcept = 0;
  virtual stream_t stream() const noexcept = 0;
  virtual device_info device() const = 0;
  virtual void copy_in(void* to, const void* from, std::size_t bytes) const = 0;
  virtual void copy_out(void* to, const void* from, std::size_t bytes) const = 0;
  virtual void synchronize() const = 0;
};

namespace cpu {
std::unique_ptr<platform> open_platform();
}
namespace cuda {
std::unique_ptr<platform> open_platform();
std::string why_unavailable();  // empty if a device can be used
}  // namespace cuda
namespace optix {
std::unique_ptr<platform> open_platform();
std::string why_unavailable();  // empty if a device and its driver can be used
}  // namespace optix

}  // namespace raydex
