// SPDX-License-Identifier: Apache-2.0
//
// The device's properties, and the names of errors.
#include <climits>
#include <mutex>
#include <optional>
#include <utility>

#include "cuda_runtime_api.h"
#include "emulation/fibers.hpp"
#include "tests/emulation/device.hpp"

namespace emulation {
namespace {

std::optional<int> attribute_value(const device_state& owner, cudaDeviceAttr attribute) {
  switch (attribute) {
    case cudaDevAttrMaxThreadsPerBlock:
    case cudaDevAttrMaxBlockDimX:
    case cudaDevAttrMaxBlockDimY:
      return max_block_threads;
    case cudaDevAttrMaxBlockDimZ:
      return max_block_z;
    case cudaDevAttrMaxGridDimX:
      return INT_MAX;
    case cudaDevAttrMaxGridDimY:
    case cudaDevAttrMaxGridDimZ:
      return max_grid_yz;
    case cudaDevAttrMaxSharedMemoryPerBlock:
      return static_cast<int>(default_shared_bytes);
    case cudaDevAttrWarpSize:
      return warpSize;
    case cudaDevAttrMultiProcessorCount:
      return multiprocessors;
    case cudaDevAttrL2CacheSize:
      return l2_bytes;
    case cudaDevAttrMemoryClockRate:
      return memory_kilohertz;
    case cudaDevAttrGlobalMemoryBusWidth:
      return memory_bits;
    case cudaDevAttrMaxThreadsPerMultiProcessor:
      return multiprocessor_threads;
    case cudaDevAttrComputeCapabilityMajor:
      return compute_major;
    case cudaDevAttrComputeCapabilityMinor:
      return compute_minor;
    case cudaDevAttrMaxSharedMemoryPerMultiprocessor:
      return static_cast<int>(owner.block_shared_bytes + reserved_shared_bytes);
    case cudaDevAttrCooperativeLaunch:
      return 0;
    case cudaDevAttrMaxSharedMemoryPerBlockOptin:
      return static_cast<int>(owner.block_shared_bytes);
    case cudaDevAttrMaxBlocksPerMultiprocessor:
      return multiprocessor_blocks;
    case cudaDevAttrReservedSharedMemoryPerBlock:
      return static_cast<int>(reserved_shared_bytes);
    case cudaDevAttrMemoryPoolsSupported:
      return 1;
  }
  return std::nullopt;
}

}  // namespace
}  // namespace emulation

using emulation::call;
using emulation::device_state;
using emulation::give;

cudaError_t cudaGetLastError() {
  const std::lock_guard lock(emulation::device().mutex);
  return std::exchange(emulation::device().last_error, cudaSuccess);
}

cudaError_t cudaPeekAtLastError() {
  const std::lock_guard lock(emulation::device().mutex);
  return emulation::device().last_error;
}

#define EMULATION_ERRORS(item)                                                                     \
  item(cudaSuccess, "no error") item(cudaErrorInvalidValue, "invalid argument")                    \
      item(cudaErrorMemoryAllocation, "out of memory") item(cudaErrorInitializationError,          \
                                                            "initialization error")                \
          item(cudaErrorInvalidConfiguration, "invalid configuration argument") item(              \
              cudaErrorInvalidDevicePointer, "invalid device pointer")                             \
              item(cudaErrorInvalidMemcpyDirection, "invalid copy direction for memcpy") item(     \
                  cudaErrorInsufficientDriver,                                                     \
                  "CUDA driver version is insufficient for CUDA runtime version")                  \
                  item(cudaErrorInvalidDeviceFunction, "invalid device function") item(            \
                      cudaErrorNoDevice, "no CUDA-capable device is detected")                     \
                      item(cudaErrorInvalidDevice, "invalid device ordinal") item(                 \
                          cudaErrorInvalidResourceHandle, "invalid resource handle")               \
                          item(cudaErrorNotReady, "device not ready") item(                        \
                              cudaErrorIllegalAddress, "an illegal memory access was encountered") \
                              item(cudaErrorLaunchOutOfResources,                                  \
                                   "too many resources requested for launch")                      \
                                  item(cudaErrorLaunchFailure, "unspecified launch failure")       \
                                      item(cudaErrorNotSupported, "operation not supported")       \
                                          item(cudaErrorUnknown, "unknown error")

const char* cudaGetErrorName(cudaError_t error) {
#define EMULATION_NAME(name, text) \
  case name:                       \
    return #name;
  switch (error) { EMULATION_ERRORS(EMULATION_NAME) }
#undef EMULATION_NAME
  return "unrecognized error code";
}

const char* cudaGetErrorString(cudaError_t error) {
#define EMULATION_TEXT(name, text) \
  case name:                       \
    return text;
  switch (error) { EMULATION_ERRORS(EMULATION_TEXT) }
#undef EMULATION_TEXT
  return "unrecognized error code";
}

#undef EMULATION_ERRORS

cudaError_t cudaDriverGetVersion(int* version) {
  return give(version, CUDART_VERSION);
}
cudaError_t cudaRuntimeGetVersion(int* version) {
  return give(version, CUDART_VERSION);
}
cudaError_t cudaGetDeviceCount(int* count) {
  return give(count, 1);
}
cudaError_t cudaGetDevice(int* device) {
  return give(device, 0);
}

cudaError_t cudaSetDevice(int device) {
  return call([&](device_state&) { return device == 0 ? cudaSuccess : cudaErrorInvalidDevice; });
}

cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int device) {
  return call([&](device_state& owner) {
    const std::optional<int> known = emulation::attribute_value(owner, attribute);
    if (device != 0) return cudaErrorInvalidDevice;
    if (value == nullptr || !known.has_value()) return cudaErrorInvalidValue;
    *value = *known;
    return cudaSuccess;
  });
}

cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int device) {
  return call([&](device_state& owner) {
    if (device != 0) return cudaErrorInvalidDevice;
    if (properties == nullptr) return cudaErrorInvalidValue;
    *properties = {
        .name = "emulated",
        .totalGlobalMem = owner.memory,
        .sharedMemPerBlock = emulation::default_shared_bytes,
        .warpSize = warpSize,
        .maxThreadsPerBlock = emulation::max_block_threads,
        .maxThreadsDim = {emulation::max_block_threads, emulation::max_block_threads,
                          emulation::max_block_z},
        .maxGridSize = {INT_MAX, emulation::max_grid_yz, emulation::max_grid_yz},
        .major = emulation::compute_major,
        .minor = emulation::compute_minor,
        .multiProcessorCount = emulation::multiprocessors,
        .l2CacheSize = emulation::l2_bytes,
        .maxThreadsPerMultiProcessor = emulation::multiprocessor_threads,
        .sharedMemPerMultiprocessor = owner.block_shared_bytes + emulation::reserved_shared_bytes,
        .sharedMemPerBlockOptin = owner.block_shared_bytes,
        .maxBlocksPerMultiProcessor = emulation::multiprocessor_blocks,
        .memoryPoolsSupported = 1,
    };
    return cudaSuccess;
  });
}
