// SPDX-License-Identifier: Apache-2.0
/// @file
/// The one-thread-per-element kernel that generation runs in.
#pragma once

#include <cstdint>

#include "raydex/memory.hpp"
#include "src/machines/cuda/launch.cuh"

namespace raydex::bench {

/// Threads per block of all kernels here.
inline constexpr unsigned block_threads = 256;

/// Calls `work(i)` for one i below `size`.
template <class Work>
__global__ void __launch_bounds__(block_threads) for_each_kernel(std::uint64_t size, Work work) {
  const std::uint64_t i = cuda::global_thread();
  if (i < size) work(i);
}

/// Calls `work(i)` for every i below `size`, on the context's stream.
template <class Work>
void for_each(const context& on, std::uint64_t size, const Work& work) {
  cuda::launch(on.stream, cuda::blocks_for(size, block_threads), block_threads, 0,
               for_each_kernel<Work>, size, work);
}

}  // namespace raydex::bench
