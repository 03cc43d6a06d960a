// SPDX-License-Identifier: Apache-2.0
// The one way to launch a kernel: on a stream, checked. Kernels are launched by a function call
// rather than by <<<>>>, so that tests can compile the same sources as plain C++ and run them on
// the CPU.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>
#include <utility>

#include "cuda/check.hpp"
#include "raydex/memory.hpp"

namespace raydex::cuda {

// Launches a grid of `blocks` blocks of `threads` threads each; an empty grid is not launched.
template <class... Parameters, class... Arguments>
void launch(stream_t stream, std::uint64_t blocks, unsigned threads, std::size_t shared_bytes,
            void (*kernel)(Parameters...), Arguments&&... arguments) {
  if (blocks == 0) return;
  cudaLaunchConfig_t config{};
  config.gridDim = dim3(static_cast<unsigned>(blocks));
  config.blockDim = dim3(threads);
  config.dynamicSmemBytes = shared_bytes;
  config.stream = stream;
  check(cudaLaunchKernelEx(&config, kernel, std::forward<Arguments>(arguments)...),
        "kernel launch");
}

// Blocks of `per_block` items that hold `size` items.
constexpr std::uint64_t blocks_for(std::uint64_t size, std::uint64_t per_block) {
  return (size + per_block - 1) / per_block;
}

// This thread's number in a one-dimensional grid.
__device__ inline std::uint64_t global_thread() {
  return std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x;
}

}  // namespace raydex::cuda
