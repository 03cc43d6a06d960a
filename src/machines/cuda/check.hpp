// SPDX-License-Identifier: Apache-2.0
// Every call of the CUDA runtime goes through check.
#pragma once

#include <cuda_runtime.h>

#include "raydex/error.hpp"

namespace raydex::cuda {

inline void check(cudaError_t code, const char* call) {
  if (code == cudaSuccess) return;
  cudaGetLastError();  // takes back the error, so that the next call does not report it again
  if (code == cudaErrorMemoryAllocation) throw out_of_memory(0, 0);
  throw cuda_error(call, static_cast<int>(code), cudaGetErrorString(code));
}

}  // namespace raydex::cuda
