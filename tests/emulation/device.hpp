// SPDX-License-Identifier: Apache-2.0
//
// The emulated device's state and limits, and what all calls of the runtime do: lock it, work,
// remember the error.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <unordered_map>

#include "cuda_runtime_api.h"
#include "emulation/control.hpp"

struct CUstream_st {};

struct CUevent_st {
  using clock = std::chrono::steady_clock;

  bool timed = true;
  std::optional<clock::time_point> recorded;
};

struct CUmemPoolHandle_st {
  std::size_t used = 0;
  std::size_t used_high = 0;
  std::size_t limit = SIZE_MAX;
  std::map<cudaMemPoolAttr, std::uint64_t> settings;
  bool destroyed = false;
};

namespace emulation {

inline constexpr int max_block_threads = 1024;
inline constexpr unsigned int max_block_z = 64;
inline constexpr unsigned int max_grid_yz = 65535;
inline constexpr std::size_t default_shared_bytes = std::size_t{48} << 10;
inline constexpr std::size_t reserved_shared_bytes = std::size_t{1} << 10;  // of every block
inline constexpr int multiprocessor_threads = 2048;
inline constexpr int multiprocessor_blocks = 32;
inline constexpr int multiprocessors = 2;
inline constexpr int l2_bytes = 4 << 20;
inline constexpr int memory_kilohertz = 2'619'000;  // an H100's
inline constexpr int memory_bits = 5120;
inline constexpr int compute_major = 9;
inline constexpr int compute_minor = 0;
enum class memory_place { device, host };

struct allocation_record {
  std::size_t bytes;
  memory_place place;
  cudaMemPool_t pool;
};

// Sorted so that what contains an address can be looked up.
using allocation_map = std::map<const std::byte*, allocation_record>;

struct device_state {
  std::recursive_mutex mutex;
  cudaError_t last_error = cudaSuccess;
  std::size_t memory = std::size_t{1} << 30;
  std::size_t used = 0;
  std::size_t block_shared_bytes = usual_shared_bytes;
  allocation_map allocations;
  std::set<cudaStream_t> streams;
  std::set<cudaEvent_t> events;
  std::set<cudaMemPool_t> pools;
  CUmemPoolHandle_st default_pool;
  std::unordered_map<const void*, int> shared_limits;
  std::optional<cudaError_t> launch_failure;
  std::optional<std::size_t> allocations_to_failure;
  std::size_t calls_to_failure = 0;  // if `failing_calls` is not 0
  std::size_t failing_calls = 0;     // how many are to fail
  bool has_failed_call = false;
  std::size_t calls = 0;
  std::size_t launches = 0;
};

device_state& device();

bool valid(const device_state& owner, cudaStream_t stream);
bool valid(const device_state& owner, cudaEvent_t event);
bool valid(const device_state& owner, cudaMemPool_t pool);

// Whether the current call is to fail.
bool is_to_fail(device_state& owner);

// Runs the work of a call that frees something, or cannot fail for another reason, on the locked
// device and remembers its error.
template <typename Work>
cudaError_t sure_call(Work work) {
  device_state& locked = device();
  const std::lock_guard lock(locked.mutex);
  const cudaError_t error = work(locked);
  if (error != cudaSuccess) locked.last_error = error;
  return error;
}

// The same for a call that fails at will.
template <typename Work>
cudaError_t call(Work work) {
  return sure_call(
      [&](device_state& owner) { return is_to_fail(owner) ? cudaErrorUnknown : work(owner); });
}

// Calls that have nothing to do but to check their handle.
template <typename Handle>
cudaError_t check(Handle handle) {
  return call([&](device_state& owner) {
    return valid(owner, handle) ? cudaSuccess : cudaErrorInvalidResourceHandle;
  });
}

template <typename Type>
cudaError_t give(Type* destination, Type value) {
  return call([&](device_state&) {
    if (destination == nullptr) return cudaErrorInvalidValue;
    *destination = value;
    return cudaSuccess;
  });
}

}  // namespace emulation
