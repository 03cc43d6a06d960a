// SPDX-License-Identifier: Apache-2.0
#include "src/interface/builders.hpp"

#include <memory>
#include <string>

#include "src/machines/optix/engine/driver.hpp"

namespace raydex::optix {

namespace {

// The same device, memory and stream as without rays.
class ray_gpu final : public platform {
 public:
  memory_resource& memory() noexcept override { return gpu_->memory(); }
  stream_t stream() const noexcept override { return gpu_->stream(); }
  device_info device() const override {
    device_info info = gpu_->device();
    info.rt_core_version = current_device().rt_core_version;
    return info;
  }
  void copy_in(void* to, const void* from, std::size_t bytes) const override {
    gpu_->copy_in(to, from, bytes);
  }
  void copy_out(void* to, const void* from, std::size_t bytes) const override {
    gpu_->copy_out(to, from, bytes);
  }
  void synchronize() const override { gpu_->synchronize(); }

 private:
  std::unique_ptr<platform> gpu_ = cuda::open_platform();
};

}  // namespace

std::unique_ptr<platform> open_platform() {
  return std::make_unique<ray_gpu>();
}

std::string why_unavailable() {
  std::string reason = cuda::why_unavailable();
  return reason.empty() ? driver_problem() : reason;
}

extern const backend_table table{.where = backend::optix,
                                 .why_unavailable = why_unavailable,
                                 .open_platform = open_platform,
                                 .operations = &cuda::operations,
                                 .structures = &main_builders,
                                 .events = &cuda::events};

}  // namespace raydex::optix
