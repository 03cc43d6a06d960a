// SPDX-License-Identifier: Apache-2.0
#include "src/machines/optix/engine/driver.hpp"

#include <cuda_runtime.h>
#include <dlfcn.h>
#include <fmt/format.h>

#include <map>
#include <mutex>
#include <string>

#include "raydex/error.hpp"
#include "src/machines/cuda/check.hpp"

namespace raydex::optix {

namespace {

struct loaded {
  abi::functions functions{};
  std::string problem;

  loaded() {
    void* library = dlopen("libnvoptix.so.1", RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) {
      problem = fmt::format(
          "the NVIDIA driver's libnvoptix.so.1 is not on this machine; install a driver with "
          "OptiX (in containers, the driver capability `graphics`). {} is needed",
          abi::client);
      return;
    }
    const auto query =
        reinterpret_cast<abi::query_function>(dlsym(library, "optixQueryFunctionTable"));
    abi::result code = -1;
    if (query != nullptr) {
      code = query(abi::version, 0, nullptr, nullptr, &functions, sizeof functions);
    }
    if (code == abi::success) return;
    int driver = 0;
    cudaDriverGetVersion(&driver);
    problem = fmt::format(
        "the NVIDIA driver (of CUDA {}.{}) refuses {} with error {}; install a driver that has it",
        driver / 1000, driver % 1000 / 10, abi::client, code);
  }
};

const loaded& load() {
  static const loaded once;
  return once;
}

device open() {
  cuda::check(cudaFree(nullptr), "cudaFree");  // the runtime's context must be there
  device opened{};
  const abi::context_options options{};
  check(driver().create_context(nullptr, &options, &opened.context), "optixDeviceContextCreate");
  const auto number = [&](abi::property property) {
    unsigned value = 0;
    check(driver().get_property(opened.context, property, &value, sizeof value),
          "optixDeviceContextGetProperty");
    return value;
  };
  opened.most_primitives = number(abi::property::most_primitives);
  opened.rt_core_version = static_cast<int>(number(abi::property::rt_core_version));
  return opened;
}

}  // namespace

const std::string& driver_problem() {
  return load().problem;
}

const abi::functions& driver() {
  return load().functions;
}

void check(abi::result code, const char* call) {
  if (code == abi::success) return;
  if (code == abi::out_of_device_memory) {
    std::size_t free = 0;
    std::size_t total = 0;
    cudaMemGetInfo(&free, &total);
    throw out_of_memory(0, free);
  }
  throw optix_error(call, code, driver().error_text(code));
}

const device& current_device() {
  static std::mutex lock;
  static std::map<int, device> devices;
  int number = 0;
  cuda::check(cudaGetDevice(&number), "cudaGetDevice");
  const std::lock_guard guard(lock);
  auto found = devices.find(number);
  if (found == devices.end()) found = devices.emplace(number, open()).first;
  return found->second;
}

}  // namespace raydex::optix
