// SPDX-License-Identifier: Apache-2.0
// What the threads of a warp do together.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "raydex/core/config.hpp"

namespace raydex::cuda {

inline constexpr unsigned warp = 32;
inline constexpr unsigned all_lanes = 0xffff'ffff;

__device__ inline unsigned lane_of_warp() {
  return threadIdx.x % warp;
}

// Exchanges values of any trivial type between the lanes of a warp, in 32-bit words.
template <class T, class Exchange>
__device__ T exchange_words(const T& value, Exchange&& exchange) {
  static_assert(std::is_trivially_copyable_v<T>);
  constexpr std::size_t words = (sizeof(T) + 3) / 4;
  std::uint32_t from[words] = {};
  std::uint32_t to[words];
  std::memcpy(from, &value, sizeof(T));
  RAYDEX_UNROLL
  for (std::size_t w = 0; w < words; ++w)
    to[w] = exchange(from[w]);
  T received;
  std::memcpy(&received, to, sizeof(T));
  return received;
}
template <class T>
__device__ T from_lane(const T& value, unsigned lane, unsigned width = warp) {
  return exchange_words(value, [&](std::uint32_t word) {
    return __shfl_sync(all_lanes, word, static_cast<int>(lane), static_cast<int>(width));
  });
}
template <class T>
__device__ T from_partner(const T& value, unsigned distance) {
  return exchange_words(value, [&](std::uint32_t word) {
    return __shfl_xor_sync(all_lanes, word, static_cast<int>(distance));
  });
}

__device__ inline unsigned sum_of_warp(unsigned number) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800
  for (unsigned distance = warp / 2; distance > 0; distance /= 2)
    number += from_partner(number, distance);
  return number;
#else
  return __reduce_add_sync(all_lanes, number);
#endif
}

}  // namespace raydex::cuda
