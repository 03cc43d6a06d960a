// SPDX-License-Identifier: Apache-2.0
// The one way to launch a kernel: on a stream, checked. Kernels are launched by a function call
// rather than by <<<>>>, so that tests can compile the same sources as plain C++ and run them on
// the CPU.
#pragma once

#include <cuda_runtime.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <tuple>
#include <utility>

#include "raydex/memory.hpp"
#include "src/interface/watch.hpp"
#include "src/machines/cuda/check.hpp"

namespace raydex::cuda {

// Launches a grid of `blocks` blocks of `threads` threads each; an empty grid is not launched.
template <class... Parameters, class... Arguments>
void launch(stream_t stream, std::uint64_t blocks, unsigned threads, std::size_t shared_bytes,
            void (*kernel)(Parameters...), Arguments&&... arguments) {
  if (blocks == 0) return;
  watch::look();
  cudaLaunchConfig_t config{};
  config.gridDim = dim3(static_cast<unsigned>(blocks));
  config.blockDim = dim3(threads);
  config.dynamicSmemBytes = shared_bytes;
  config.stream = stream;
  check(cudaLaunchKernelEx(&config, kernel, std::forward<Arguments>(arguments)...),
        "kernel launch");
}

// A number that describes the current device.
inline int device_number(cudaDeviceAttr attribute) {
  int device = 0;
  int value = 0;
  check(cudaGetDevice(&device), "cudaGetDevice");
  check(cudaDeviceGetAttribute(&value, attribute, device), "cudaDeviceGetAttribute");
  return value;
}

// Bytes that the memory of the current device can give a second, which no program reaches. Where a
// driver does not know, a terabyte.
inline double memory_bandwidth() {
  int device = 0;
  check(cudaGetDevice(&device), "cudaGetDevice");
  // A driver takes 0.6 ms to look up a clock.
  static std::mutex one_at_a_time;
  static std::map<int, double> known;
  const std::lock_guard lock(one_at_a_time);
  const auto found = known.find(device);
  if (found != known.end()) return found->second;
  const double clock = 1e3 * device_number(cudaDevAttrMemoryClockRate);  // it gives twice a cycle
  const double all = clock * 2 * device_number(cudaDevAttrGlobalMemoryBusWidth) / 8;
  return known[device] = all != 0 ? all : 1e12;
}

// Lets the blocks of a kernel have so many bytes of dynamic shared memory, or more: the limit is
// one for all threads of the host, so that it must not shrink before another one's launch.
inline void allow_shared_memory(const void* kernel, std::size_t bytes) {
  constexpr std::size_t always_allowed = 32 * 1024;  // beside what a kernel itself declares
  if (bytes <= always_allowed) return;
  int device = 0;
  check(cudaGetDevice(&device), "cudaGetDevice");
  static std::mutex one_at_a_time;
  static std::map<std::pair<const void*, int>, std::size_t> limits;
  const std::lock_guard lock(one_at_a_time);
  std::size_t& limit = limits[{kernel, device}];
  const std::size_t more = std::max(limit, bytes);
  check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                             static_cast<int>(more)),
        "cudaFuncSetAttribute");
  limit = more;
}
template <class... Parameters>
void allow_shared_memory(void (*kernel)(Parameters...), std::size_t bytes) {
  allow_shared_memory(reinterpret_cast<const void*>(kernel), bytes);
}

// How many blocks of a kernel a multiprocessor has at once, 1 at least. Asking takes as long as a
// small launch, so each thread keeps some answers.
template <class... Parameters>
std::uint64_t blocks_on_each(void (*kernel)(Parameters...), unsigned threads,
                             std::size_t shared_bytes) {
  allow_shared_memory(kernel, shared_bytes);
  const auto* const function = reinterpret_cast<const void*>(kernel);
  thread_local std::map<std::tuple<const void*, unsigned, std::size_t, int>, int> answers;
  if (answers.size() > 1000) answers.clear();
  const auto [at, is_new] =
      answers.try_emplace({function, threads, shared_bytes,
                           device_number(cudaDevAttrMaxSharedMemoryPerMultiprocessor)});
  if (is_new) {
    const cudaError_t code = cudaOccupancyMaxActiveBlocksPerMultiprocessor(
        &at->second, function, static_cast<int>(threads), shared_bytes);
    if (code != cudaSuccess) answers.erase(at);
    check(code, "cudaOccupancyMaxActiveBlocksPerMultiprocessor");
  }
  return static_cast<std::uint64_t>(std::max(at->second, 1));
}

inline std::uint64_t multiprocessors() {
  return static_cast<std::uint64_t>(device_number(cudaDevAttrMultiProcessorCount));
}

// How many blocks of a kernel the device runs at once.
template <class... Parameters>
std::uint64_t resident_blocks(void (*kernel)(Parameters...), unsigned threads,
                              std::size_t shared_bytes) {
  return blocks_on_each(kernel, threads, shared_bytes) * multiprocessors();
}

// Of the memory that shared memory and the L1 divide, has a kernel take what its blocks need, with
// `reserved` bytes each beside their own, and leave the rest to the L1, where reads that are under
// way need room as well. Holds for the launches that follow, so it goes before every one.
template <class... Parameters>
void leave_l1(void (*kernel)(Parameters...), unsigned threads, std::size_t shared_bytes,
              std::size_t reserved) {
  const auto all =
      static_cast<std::size_t>(device_number(cudaDevAttrMaxSharedMemoryPerMultiprocessor));
  const std::size_t needed =
      blocks_on_each(kernel, threads, shared_bytes) * (shared_bytes + reserved);
  const std::size_t percent = std::min<std::size_t>((100 * needed + all - 1) / all, 100);
  check(cudaFuncSetAttribute(reinterpret_cast<const void*>(kernel),
                             cudaFuncAttributePreferredSharedMemoryCarveout,
                             static_cast<int>(percent)),
        "cudaFuncSetAttribute");
}

// Blocks of `per_block` items that hold `size` items.
constexpr std::uint64_t blocks_for(std::uint64_t size, std::uint64_t per_block) {
  return (size + per_block - 1) / per_block;
}

// This thread's number in a one-dimensional grid.
__device__ inline std::uint64_t global_thread() {
  return std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x;
}

// A block's dynamic shared memory. The one place where kernels compiled by nvcc and kernels that
// tests compile as plain C++ differ: only CUDA can declare an array whose size the launch gives.
// As many bytes as the launch asked for, aligned to 16.
__device__ inline std::byte* shared_memory() {
#if defined(__CUDACC__)
  extern __shared__ uint4 raydex_shared_memory[];
  return reinterpret_cast<std::byte*>(raydex_shared_memory);
#else
  return static_cast<std::byte*>(emulation::dynamic_shared_memory());
#endif
}

// The next multiple of 16 bytes.
constexpr std::size_t padded(std::size_t bytes) {
  return (bytes + 15) / 16 * 16;
}

}  // namespace raydex::cuda
