// SPDX-License-Identifier: Apache-2.0
// Sorts what a block has in shared memory.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "raydex/core/config.hpp"
#include "src/machines/cuda/warp.cuh"

namespace raydex::cuda {

// A bitonic sort of keys and the numbers that go with them; equal keys by number. Keys that are
// near each other are compared in the registers of a warp, without a barrier.
template <class Key>
class block_sorter {
 public:
  // Of `size` keys, a power of two.
  __device__ block_sorter(Key* keys, std::uint32_t* numbers, unsigned size)
      : keys_(keys), numbers_(numbers), size_(size) {}

  // By all threads of the block, whole warps. Begins and ends with a barrier. Compiled once and not
  // for every kernel.
  __device__ __noinline__ void sort() const {
    const unsigned in_registers = size_ < held_by_warp ? 1 : held_by_warp;
    __syncthreads();
    if (in_registers != 1) sort_in_registers(2, held_by_warp);
    for (unsigned run = 2 * in_registers; run <= size_; run *= 2) {
      for (unsigned distance = run / 2; distance >= in_registers; distance /= 2) {
        __syncthreads();
        for (unsigned pair = threadIdx.x; pair < size_ / 2; pair += blockDim.x)
          put_in_order(pair / distance * 2 * distance + pair % distance, distance, run);
      }
      if (in_registers == 1) continue;
      __syncthreads();
      sort_in_registers(run, run);
    }
    __syncthreads();
  }

 private:
  static constexpr unsigned held = 8;  // keys of a thread
  static constexpr unsigned held_by_warp = held * warp;

  struct numbered_key {
    Key key;
    std::uint32_t number;
    __device__ bool follows(const numbered_key& other) const {
      return key != other.key ? key > other.key : number > other.number;
    }
  };

  // Whether keys ascend around a place.
  __device__ static bool ascends(unsigned place, unsigned run) { return (place & run) == 0; }

  __device__ numbered_key at(unsigned place) const { return {keys_[place], numbers_[place]}; }
  __device__ void put(unsigned place, const numbered_key& one) const {
    keys_[place] = one.key;
    numbers_[place] = one.number;
  }

  __device__ void put_in_order(unsigned low, unsigned distance, unsigned run) const {
    const numbered_key first = at(low);
    const numbered_key second = at(low + distance);
    if (first.follows(second) != ascends(low, run)) return;
    put(low, second);
    put(low + distance, first);
  }

  // The steps of the runs from `first` to `last` whose distances are within what a warp holds: key
  // `j` of a thread is `j` times the threads of a warp after its first.
  __device__ void sort_in_registers(unsigned first, unsigned last) const {
    const unsigned lane = lane_of_warp();
    for (unsigned begin = threadIdx.x / warp * held_by_warp; begin < size_;
         begin += blockDim.x / warp * held_by_warp) {
      numbered_key own[held];
      RAYDEX_UNROLL
      for (unsigned j = 0; j < held; ++j)
        own[j] = at(begin + j * warp + lane);
      RAYDEX_KEEP_LOOP
      for (unsigned run = first; run <= last; run *= 2) {
        RAYDEX_UNROLL
        for (unsigned apart = held / 2; apart > 0; apart /= 2)
          if (apart * warp < run) exchange_own(own, apart, begin, run);
        RAYDEX_KEEP_LOOP
        for (unsigned apart = run / 2 < warp ? run / 2 : warp / 2; apart > 0; apart /= 2)
          exchange_between_lanes(own, apart, begin + lane, run);
      }
      RAYDEX_UNROLL
      for (unsigned j = 0; j < held; ++j)
        put(begin + j * warp + lane, own[j]);
    }
  }
  __device__ static void exchange_own(numbered_key (&own)[held], unsigned apart, unsigned begin,
                                      unsigned run) {
    RAYDEX_UNROLL
    for (unsigned j = 0; j < held; ++j) {
      if ((j & apart) != 0) continue;
      numbered_key& other = own[j + apart];
      if (own[j].follows(other) != ascends(begin + j * warp, run)) continue;
      const numbered_key former = own[j];
      own[j] = other;
      other = former;
    }
  }
  __device__ static void exchange_between_lanes(numbered_key (&own)[held], unsigned apart,
                                                unsigned first_place, unsigned run) {
    RAYDEX_UNROLL
    for (unsigned j = 0; j < held; ++j) {
      const numbered_key other{from_partner(own[j].key, apart), from_partner(own[j].number, apart)};
      const unsigned place = first_place + j * warp;
      const bool keeps_smaller = ((place & apart) == 0) == ascends(place, run);
      if (own[j].follows(other) == keeps_smaller) own[j] = other;
    }
  }

  Key* keys_;
  std::uint32_t* numbers_;
  unsigned size_;
};

}  // namespace raydex::cuda
