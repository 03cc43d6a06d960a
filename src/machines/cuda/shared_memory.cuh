// SPDX-License-Identifier: Apache-2.0
// A block's dynamic shared memory. The one place where kernels compiled by nvcc and kernels that
// tests compile as plain C++ differ: only CUDA can declare an array whose size the launch gives.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>

namespace raydex::cuda {

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
