// SPDX-License-Identifier: Apache-2.0
// What edits do with sorted lists of entries on cuda. A merge gives each block a tile of the
// output, each thread a few entries of it, found by searches along the diagonals of the merge
// ("Merge Path", Green et al. 2012).
#pragma once

#include <algorithm>
#include <cstdint>

#include "raydex/core/keys/edits.hpp"
#include "src/machines/cuda/executor.cuh"

namespace raydex::cuda {

struct list_merge_policy {
  static constexpr unsigned threads = 256;
  static constexpr unsigned per_thread = 8;
  static constexpr unsigned tile = threads * per_thread;
};

// How many of the first `taken` merged entries are of the first list.
template <class Position, class A, class B>
__device__ Position taken_of_first(const A& a, Position a_size, const B& b, Position b_size,
                                   Position taken) {
  Position low = taken > b_size ? taken - b_size : 0;
  Position high = taken < a_size ? taken : a_size;
  while (low < high) {
    const Position middle = low + (high - low) / 2;
    if (b(taken - 1 - middle) < a(middle)) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  return low;
}

// Where the tiles of the output begin in the first list.
template <class Key, class RowId>
struct put_tile_begin {
  core::strided_list<Key, RowId> a;
  core::entry_list<Key, RowId> b;
  std::uint64_t* begins;
  __device__ void operator()(std::uint64_t tile) const {
    const std::uint64_t begin = tile * list_merge_policy::tile;
    const std::uint64_t all = a.size + b.size;
    begins[tile] =
        taken_of_first([this](std::uint64_t i) { return a[i]; }, a.size,
                       [this](std::uint64_t j) { return b[j]; }, b.size, begin < all ? begin : all);
  }
};

template <class Key, class RowId>
__global__ void __launch_bounds__(list_merge_policy::threads)
    merge_tiles(core::strided_list<Key, RowId> a, core::entry_list<Key, RowId> b,
                const std::uint64_t* begins, Key* keys, RowId* row_ids) {
  using policy = list_merge_policy;
  using entry = core::entry<Key, RowId>;
  __shared__ Key tile_keys[policy::tile];
  __shared__ RowId tile_rows[policy::tile];

  const std::uint64_t begin = std::uint64_t{blockIdx.x} * policy::tile;
  const std::uint64_t left = a.size + b.size - begin;
  const auto size = static_cast<unsigned>(left < policy::tile ? left : policy::tile);
  const std::uint64_t a_begin = begins[blockIdx.x];
  const std::uint64_t b_begin = begin - a_begin;
  const auto a_size = static_cast<unsigned>(begins[blockIdx.x + 1] - a_begin);
  for (unsigned i = threadIdx.x; i < size; i += policy::threads) {
    const entry one = i < a_size ? a[a_begin + i] : b[b_begin + (i - a_size)];
    tile_keys[i] = one.key;
    tile_rows[i] = one.row;
  }
  __syncthreads();

  const auto at = [&](unsigned i) { return entry{tile_keys[i], tile_rows[i]}; };
  const auto in_b = [&](unsigned j) { return at(a_size + j); };
  const unsigned b_size = size - a_size;
  const unsigned first = min(threadIdx.x * policy::per_thread, size);
  unsigned i = taken_of_first(at, a_size, in_b, b_size, first);
  unsigned j = first - i;
  entry merged[policy::per_thread];
#pragma unroll
  for (unsigned k = 0; k < policy::per_thread; ++k) {
    if (first + k >= size) break;
    const bool from_a = j == b_size || (i < a_size && !(in_b(j) < at(i)));
    merged[k] = from_a ? at(i++) : in_b(j++);
  }
  __syncthreads();
#pragma unroll
  for (unsigned k = 0; k < policy::per_thread; ++k) {
    if (first + k >= size) break;
    tile_keys[first + k] = merged[k].key;
    tile_rows[first + k] = merged[k].row;
  }
  __syncthreads();
  for (unsigned k = threadIdx.x; k < size; k += policy::threads) {
    keys[begin + k] = tile_keys[k];
    row_ids[begin + k] = tile_rows[k];
  }
}

struct entry_lists : executor {
  // Copies the entries without a mark; `to` has room for just these.
  template <class Key, class RowId>
  static void select_unmarked(const context& on, const core::strided_list<Key, RowId>& list,
                              const std::uint8_t* marks, sorted_column<Key, RowId>& to) {
    // One after the other is faster than both at once.
    cuda::select_unmarked(on, list.keys, marks, list.size, to.keys.data());
    cuda::select_unmarked(on, list.row_ids, marks, list.size, to.row_ids.data());
  }
  // Merges two lists into `to`, which has room for both.
  template <class Key, class RowId>
  static void merge(const context& on, const core::strided_list<Key, RowId>& a,
                    const core::entry_list<Key, RowId>& b, sorted_column<Key, RowId>& to) {
    const std::uint64_t tiles = blocks_for(a.size + b.size, list_merge_policy::tile);
    buffer<std::uint64_t> begins(on, tiles + 1);
    for_each(on, put_tile_begin<Key, RowId>{a, b, begins.data()}, tiles + 1);
    launch(on.stream, tiles, list_merge_policy::threads, 0, merge_tiles<Key, RowId>, a, b,
           std::as_const(begins).data(), to.keys.data(), to.row_ids.data());
  }
};

}  // namespace raydex::cuda
