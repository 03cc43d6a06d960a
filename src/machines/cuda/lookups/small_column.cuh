// SPDX-License-Identifier: Apache-2.0
// Points in a column that fits shared memory: each block makes a binary tree of it there, level by
// level, for its threads to search, whatever the structure has above its entries. Searched in
// order, sizes that are powers of two had the threads of a warp meet in few banks: 50 G lookups/s
// instead of 200.
#pragma once

#include <cuda_runtime.h>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "raydex/core/config.hpp"
#include "raydex/core/lookups/lookup.hpp"
#include "src/machines/cuda/launch.cuh"
#include "src/machines/cuda/lookups/merge.cuh"

namespace raydex::cuda {

struct small_policy {
  static constexpr unsigned threads = 1024;    // per block, at most
  static constexpr unsigned in_step = 4;       // lookups of a thread at a time
  static constexpr std::size_t bytes = 49152;  // of tree and row ids, so that two blocks fit
  // At once on a multiprocessor: those of A100, H100 and B100 hold 2048 threads, others fewer.
#if defined(__CUDA_ARCH__) && (__CUDA_ARCH__ % 100 != 0 || __CUDA_ARCH__ >= 1200)
  static constexpr unsigned blocks = 1;
#else
  static constexpr unsigned blocks = 2;
#endif
};

// A complete binary tree of `levels` levels in an array: the children of node i are 2 i and 2 i
// + 1.
struct small_tree {
  unsigned levels;

  RAYDEX_HD unsigned nodes() const { return 1U << levels; }  // with number 0, which is none
  // The node of the key of a rank.
  __device__ unsigned node(unsigned rank) const {
    const auto last_zeros = static_cast<unsigned>(__ffs(static_cast<int>(rank + 1)) - 1);
    return (1U << (levels - 1 - last_zeros)) + ((rank + 1) >> (last_zeros + 1));
  }
};

template <class Operation>
__global__ void __launch_bounds__(small_policy::threads, small_policy::blocks)
    search_small(const __grid_constant__ Operation operation, small_tree tree) {
  using entries_type = std::remove_cvref_t<decltype(operation.view.entries())>;
  using key = typename entries_type::key_type;
  using row_id = typename entries_type::row_id_type;
  constexpr unsigned in_step = small_policy::in_step;

  const entries_type entries = operation.view.entries();
  const auto size = static_cast<unsigned>(operation.view.size());
  auto* const keys = reinterpret_cast<key*>(shared_memory());
  auto* const rows = reinterpret_cast<row_id*>(keys + tree.nodes());
  for (unsigned i = threadIdx.x; i + 1 < tree.nodes(); i += blockDim.x) {
    keys[tree.node(i)] = i < size ? entries.key(i) : static_cast<key>(-1);
    if (i < size) rows[i] = entries.row_id(i);
  }
  __syncthreads();

  const std::uint64_t probes = operation.probes.size;
  const std::uint64_t step = std::uint64_t{gridDim.x} * blockDim.x;
  for (std::uint64_t first = global_thread(); first < probes; first += in_step * step) {
    core::ticket tickets[in_step];
    unsigned nodes[in_step];
    RAYDEX_UNROLL
    for (unsigned j = 0; j < in_step; ++j) {
      tickets[j] = {first + j * step, first + j * step};
      nodes[j] = 1;
    }
    auto fetched = operation.probes.fetch(tickets);
    operation.probes.lower.encode_all(fetched.lower);
    for (unsigned level = 0; level < tree.levels; ++level) {
      RAYDEX_UNROLL
      for (unsigned j = 0; j < in_step; ++j)
        nodes[j] = 2 * nodes[j] + (keys[nodes[j]] < fetched.lower[j] ? 1 : 0);
    }
    RAYDEX_UNROLL
    for (unsigned j = 0; j < in_step; ++j) {
      if (tickets[j].probe >= probes) continue;
      const unsigned rank = nodes[j] - tree.nodes();
      const bool hit =
          fetched.exists[j] && rank < size && keys[tree.node(rank)] == fetched.lower[j];
      core::store_once(operation.out + tickets[j].result,
                       hit ? rows[rank] : static_cast<row_id>(-1));
    }
  }
}

// Whether it answered the batch: not, if the column is too large.
template <class Operation>
bool answer_small(const context& on, const Operation& operation) {
  if constexpr (finding_rows<Operation>) {
    using view = std::remove_const_t<decltype(operation.view)>;
    using policy = small_policy;
    const std::uint64_t size = operation.view.size();
    if (size > policy::bytes / sizeof(typename view::key_type)) return false;
    const small_tree tree{static_cast<unsigned>(std::bit_width(size))};
    const std::size_t bytes =
        tree.nodes() * sizeof(typename view::key_type) + size * sizeof(typename view::row_id_type);
    if (bytes > policy::bytes) return false;
    const std::uint64_t probes = operation.probes.size;
    // A batch that does not fill the device is spread over it.
    const auto all = multiprocessors();
    const auto threads = static_cast<unsigned>(std::clamp<std::uint64_t>(
        std::bit_ceil(blocks_for(probes, all * policy::in_step)), 128, policy::threads));
    const auto start = [&](const auto kernel, const auto& call) {
      allow_shared_memory(kernel, bytes);
      const std::uint64_t blocks = std::min(blocks_for(probes, threads * policy::in_step), 2 * all);
      launch(on.stream, blocks, threads, bytes, kernel, call, tree);
    };
    if (operation.probes.are_plain()) {
      const auto plain = operation.plain();
      start(search_small<std::remove_const_t<decltype(plain)>>, plain);
    } else {
      start(search_small<Operation>, operation);
    }
    return true;
  } else {
    return false;
  }
}

}  // namespace raydex::cuda
