// SPDX-License-Identifier: Apache-2.0
// Sorts what a block has in shared memory.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

namespace raydex::cuda {

// Bitonic sort of `size` keys, a power of two, and the numbers that go with them; equal keys by
// number. By all threads of the block. Begins and ends with a barrier.
template <class Key>
__device__ void sort_block(Key* keys, std::uint32_t* numbers, unsigned size) {
  for (unsigned run = 2; run <= size; run *= 2) {
    for (unsigned distance = run / 2; distance > 0; distance /= 2) {
      __syncthreads();
      for (unsigned pair = threadIdx.x; pair < size / 2; pair += blockDim.x) {
        const unsigned low = pair / distance * 2 * distance + pair % distance;
        const unsigned high = low + distance;
        const bool ascending = (low & run) == 0;
        const bool in_order =
            keys[low] < keys[high] || (keys[low] == keys[high] && numbers[low] <= numbers[high]);
        if (in_order == ascending) continue;
        const Key key = keys[low];
        const std::uint32_t number = numbers[low];
        keys[low] = keys[high];
        numbers[low] = numbers[high];
        keys[high] = key;
        numbers[high] = number;
      }
    }
  }
  __syncthreads();
}

}  // namespace raydex::cuda
