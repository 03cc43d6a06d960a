// SPDX-License-Identifier: Apache-2.0
//
// Launches, and queries about kernels. A launch has run when the call returns.
#include "emulation/launch.hpp"

#include <algorithm>
#include <climits>
#include <cstddef>

#include "emulation/fibers.hpp"
#include "tests/emulation/device.hpp"
#include "tests/emulation/memory.hpp"

namespace emulation {
namespace {

cudaError_t check_launch(const device_state& owner, const cudaLaunchConfig_t& config,
                         const void* function) {
  const dim3 block = config.blockDim;
  const dim3 grid = config.gridDim;
  if (function == nullptr) return cudaErrorInvalidDeviceFunction;
  if (!valid(owner, config.stream)) return cudaErrorInvalidResourceHandle;
  const auto too_many = [](unsigned int size) { return size == 0 || size > max_block_threads; };
  if (too_many(block.x) || too_many(block.y) || block.z == 0 || block.z > max_block_z) {
    return cudaErrorInvalidConfiguration;
  }
  if (too_many(block.x * block.y * block.z)) return cudaErrorInvalidConfiguration;
  if (grid.x == 0 || grid.x > static_cast<unsigned int>(INT_MAX) || grid.y == 0 ||
      grid.y > max_grid_yz || grid.z == 0 || grid.z > max_grid_yz) {
    return cudaErrorInvalidConfiguration;
  }
  const auto set = owner.shared_limits.find(function);
  const std::size_t limit =
      set == owner.shared_limits.end()
          ? default_shared_bytes
          : std::max(default_shared_bytes, static_cast<std::size_t>(set->second));
  if (config.dynamicSmemBytes > limit) return cudaErrorInvalidValue;
  if (config.numAttrs != 0 && config.attrs == nullptr) return cudaErrorInvalidValue;
  for (unsigned int i = 0; i < config.numAttrs; ++i) {
    const cudaLaunchAttribute& attribute = config.attrs[i];
    const auto& cluster = attribute.val.clusterDim;
    if (attribute.id == cudaLaunchAttributeCooperative && attribute.val.cooperative != 0) {
      return cudaErrorNotSupported;
    }
    if (attribute.id == cudaLaunchAttributeClusterDimension &&
        cluster.x * cluster.y * cluster.z != 1) {
      return cudaErrorNotSupported;
    }
  }
  return cudaSuccess;
}

}  // namespace

namespace detail {

cudaError_t launch(const cudaLaunchConfig_t* config, const void* function, kernel_body body,
                   const void* arguments) {
  return call([&](device_state& owner) {
    if (config == nullptr) return cudaErrorInvalidValue;
    const cudaError_t error = check_launch(owner, *config, function);
    if (error != cudaSuccess) return error;
    if (owner.launch_failure.has_value()) {
      const cudaError_t failure = *owner.launch_failure;
      owner.launch_failure.reset();
      return failure;
    }
    ++owner.launches;
    const device_memory_access access(owner);
    run_grid(config->gridDim, config->blockDim, config->dynamicSmemBytes, body, arguments);
    return cudaSuccess;
  });
}

}  // namespace detail

}  // namespace emulation

using emulation::call;
using emulation::device_state;

cudaError_t cudaFuncSetAttribute(const void* function, cudaFuncAttribute attribute, int value) {
  return call([&](device_state& owner) {
    if (function == nullptr) return cudaErrorInvalidDeviceFunction;
    if (attribute == cudaFuncAttributePreferredSharedMemoryCarveout) return cudaSuccess;
    if (attribute != cudaFuncAttributeMaxDynamicSharedMemorySize || value < 0 ||
        static_cast<std::size_t>(value) > owner.block_shared_bytes) {
      return cudaErrorInvalidValue;
    }
    owner.shared_limits[function] = value;
    return cudaSuccess;
  });
}

cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* attributes, const void* function) {
  return call([&](device_state& owner) {
    if (attributes == nullptr) return cudaErrorInvalidValue;
    if (function == nullptr) return cudaErrorInvalidDeviceFunction;
    const auto set = owner.shared_limits.find(function);
    *attributes = {};
    attributes->maxThreadsPerBlock = emulation::max_block_threads;
    attributes->numRegs = 32;
    attributes->maxDynamicSharedSizeBytes = set == owner.shared_limits.end()
                                                ? static_cast<int>(emulation::default_shared_bytes)
                                                : set->second;
    return cudaSuccess;
  });
}

cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, const void* function,
                                                          int block_size,
                                                          std::size_t dynamic_shared_bytes) {
  return call([&](device_state& owner) {
    if (blocks == nullptr || block_size < 1) return cudaErrorInvalidValue;
    if (function == nullptr) return cudaErrorInvalidDeviceFunction;
    if (block_size > emulation::max_block_threads ||
        dynamic_shared_bytes > owner.block_shared_bytes) {
      *blocks = 0;
      return cudaSuccess;
    }
    const int threads = (block_size + warpSize - 1) / warpSize * warpSize;
    const std::size_t shared = dynamic_shared_bytes + emulation::reserved_shared_bytes;
    const std::size_t all = owner.block_shared_bytes + emulation::reserved_shared_bytes;
    *blocks =
        std::min({emulation::multiprocessor_blocks, emulation::multiprocessor_threads / threads,
                  static_cast<int>(all / shared)});
    return cudaSuccess;
  });
}
