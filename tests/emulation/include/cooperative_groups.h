// SPDX-License-Identifier: Apache-2.0
//
// The cooperative groups that the emulation has: the block, and tiles of a warp.
#pragma once

#include <type_traits>

#include "emulation/fibers.hpp"
#include "emulation/synchronization.hpp"

namespace cooperative_groups {

class thread_block {
 public:
  void sync() const { __syncthreads(); }
  static unsigned int thread_rank() { return emulation::detail::current_rank(); }
  static unsigned int num_threads() { return blockDim.x * blockDim.y * blockDim.z; }
  static unsigned int size() { return num_threads(); }
  static dim3 group_index() { return blockIdx; }
  static dim3 thread_index() { return threadIdx; }
  static dim3 dim_threads() { return blockDim; }
  static dim3 group_dim() { return blockDim; }

 private:
  thread_block() = default;
  friend thread_block this_thread_block();
};

inline thread_block this_thread_block() {
  return {};
}

template <unsigned int Size, typename Parent = void>
class thread_block_tile {
  static_assert(Size >= 1 && Size <= 32 && (Size & (Size - 1)) == 0,
                "a tile's size is a power of two up to 32");

 public:
  void sync() const { __syncwarp(mask()); }
  unsigned int thread_rank() const { return emulation::detail::current_rank() % Size; }
  static constexpr unsigned int num_threads() { return Size; }
  static constexpr unsigned int size() { return Size; }
  unsigned int meta_group_rank() const {
    return emulation::detail::current_rank() % parent_threads() / Size;
  }
  unsigned int meta_group_size() const { return (parent_threads() + Size - 1) / Size; }

  template <typename Type>
  Type shfl(const Type& value, int source) const {
    return emulation::detail::shuffle_from(mask(), value, source, width);
  }
  template <typename Type>
  Type shfl_up(const Type& value, unsigned int delta) const {
    return emulation::detail::shuffle_from_below(mask(), value, delta, width);
  }
  template <typename Type>
  Type shfl_down(const Type& value, unsigned int delta) const {
    return emulation::detail::shuffle_from_above(mask(), value, delta, width);
  }
  template <typename Type>
  Type shfl_xor(const Type& value, unsigned int lane_mask) const {
    return emulation::detail::shuffle_across(mask(), value, static_cast<int>(lane_mask), width);
  }
  int any(int predicate) const { return __any_sync(mask(), predicate); }
  int all(int predicate) const { return __all_sync(mask(), predicate); }
  unsigned int ballot(int predicate) const {
    return __ballot_sync(mask(), predicate) >> first_lane();
  }
  template <typename Type>
  unsigned int match_any(Type value) const {
    return __match_any_sync(mask(), value) >> first_lane();
  }

 private:
  static constexpr int width = static_cast<int>(Size);

  thread_block_tile() = default;
  template <unsigned int TileSize>
  friend thread_block_tile<TileSize, thread_block> tiled_partition(const thread_block& block);
  template <unsigned int TileSize, unsigned int ParentSize, typename Grandparent>
  friend thread_block_tile<TileSize, thread_block_tile<ParentSize, Grandparent>> tiled_partition(
      const thread_block_tile<ParentSize, Grandparent>& tile);

  static unsigned int first_lane() { return emulation::detail::current_lane() / Size * Size; }
  static unsigned int mask() { return (0xFFFF'FFFFU >> (32 - Size)) << first_lane(); }
  static unsigned int parent_threads() {
    if constexpr (std::is_same_v<Parent, thread_block>) {
      return thread_block::size();
    } else {
      return Parent::size();
    }
  }
};

template <unsigned int TileSize>
thread_block_tile<TileSize, thread_block> tiled_partition(const thread_block&) {
  return {};
}

template <unsigned int TileSize, unsigned int ParentSize, typename Grandparent>
thread_block_tile<TileSize, thread_block_tile<ParentSize, Grandparent>> tiled_partition(
    const thread_block_tile<ParentSize, Grandparent>&) {
  static_assert(TileSize <= ParentSize, "a tile is no larger than what it is a part of");
  return {};
}

template <typename Group>
void sync(const Group& group) {
  group.sync();
}

}  // namespace cooperative_groups
