// SPDX-License-Identifier: Apache-2.0
// Runs operations of core as kernels.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>
#include <optional>

#include "src/machines/cuda/check.hpp"
#include "src/machines/cuda/groups.cuh"
#include "src/machines/cuda/keys/primitives.hpp"
#include "src/machines/cuda/launch.cuh"
#include "src/operations/joins/equal_rows.hpp"
#include "src/operations/lookups/edited.hpp"
#include "src/operations/machine.hpp"

namespace raydex::cuda {

struct item_policy {
  static constexpr unsigned threads = 256;   // per block
  static constexpr unsigned per_thread = 4;  // a few reads under way at a time
};

template <unsigned PerThread, class Function>
__global__ void __launch_bounds__(item_policy::threads)
    run_items(const __grid_constant__ Function f, std::uint64_t size) {
  const std::uint64_t begin =
      std::uint64_t{blockIdx.x} * item_policy::threads * PerThread + threadIdx.x;
  if constexpr (requires { f.template some<PerThread>(begin, item_policy::threads, size); }) {
    f.template some<PerThread>(begin, item_policy::threads, size);
  } else {
#pragma unroll
    for (unsigned j = 0; j < PerThread; ++j) {
      const std::uint64_t i = begin + j * item_policy::threads;
      if (i < size) f(i);
    }
  }
}

struct executor {
  // So many entries are written in order in the time of one change, whose reads are scattered.
  // `rmq_cover` has a number of its own.
  static constexpr std::uint64_t entries_per_change = 8;

  static constexpr bool hides_latency_by_threads = true;
  static constexpr bool walks_along = false;
  static constexpr bool writes_in_tiles = true;

  // The most shared memory that a block may have.
  static std::size_t fast_memory() {
    return static_cast<std::size_t>(device_number(cudaDevAttrMaxSharedMemoryPerBlockOptin));
  }

  // Both halves of the L2 may hold a copy of a line.
  static std::size_t node_cache() {
    return static_cast<std::size_t>(device_number(cudaDevAttrL2CacheSize)) / 2;
  }

  // Is in lookups/run.cuh.
  template <class Operation>
  static void run(const context& on, const batch_plan& plan, const Operation& operation);

  template <class Key, class RowId>
  static sorted_column<Key, RowId> sort_column(const context& on, const column& keys,
                                               const std::optional<column>& row_ids,
                                               const entry_order& order = {}) {
    return cuda::sort_column<Key, RowId>(on, keys, row_ids, order);
  }
  template <class Key, class RowId>
  static constexpr bool sorts_rows = sizeof(Key) == 4 && sizeof(RowId) == 4;
  static auto sort_rows(const context& on, const column& keys, const std::optional<column>& row_ids,
                        std::uint64_t multiple) {
    return cuda::sort_rows(on, keys, row_ids, multiple);
  }
  template <class Key, class RowId>
  static std::optional<equal_rows<RowId>> find_equal_rows(const context& on, const column& build,
                                                          const column& probe,
                                                          const equality& how) {
    return cuda::find_equal_rows<Key, RowId>(on, build, probe, how);
  }
  template <class Key, class RowId>
  static sorted_edits<Key, RowId> sort_edits(const context& on, const edits& batch,
                                             const entry_order& order = {}) {
    return cuda::sort_edits<Key, RowId>(on, batch, order);
  }
  template <class Key, class RowId>
  static auto edited(const context& on, const core::strided_list<Key, RowId>& entries,
                     const sorted_edits<Key, RowId>& batch) {
    return cuda::edited(on, entries, batch);
  }

  template <class Function>
  static void for_each(const context& on, const Function& f, std::uint64_t size) {
    launch_items<item_policy::per_thread>(on, f, size);
  }
  template <class Function>
  static void for_each_alone(const context& on, const Function& f, std::uint64_t size) {
    launch_items<1>(on, f, size);
  }
  template <class Function>
  static void for_each_in_groups(const context& on, const Function& f, std::uint64_t size) {
    cuda::for_each_in_groups<lane_group>(on, f, size);
  }
  template <class Function>
  static void for_each_in_warps(const context& on, const Function& f, std::uint64_t size) {
    cuda::for_each_in_groups<warp_group>(on, f, size);
  }
  template <class Function>
  static void for_each_by_lines(const context& on, const Function& f, std::uint64_t size) {
    cuda::for_each_by_lines(on, f, size);
  }
  template <class Function>
  static void for_each_in_blocks(const context& on, const Function& f, std::uint64_t size) {
    cuda::for_each_in_blocks(on, f, size);
  }

  template <class Number>
  static void inclusive_sum(const context& on, Number* numbers, std::uint64_t size) {
    cuda::inclusive_sum(on, numbers, size);
  }

  static void inclusive_minimum(const context& on, std::uint64_t* numbers, std::uint64_t size) {
    cuda::inclusive_minimum(on, numbers, size);
  }

  template <class T>
  static void clear(const context& on, T* numbers, std::uint64_t size = 1) {
    check(cudaMemsetAsync(numbers, 0, size * sizeof(T), on.stream), "cudaMemsetAsync");
  }
  template <class T>
  static void copy(const context& on, T* to, const T* from, std::uint64_t size) {
    check(cudaMemcpyAsync(to, from, size * sizeof(T), cudaMemcpyDeviceToDevice, on.stream),
          "cudaMemcpyAsync");
  }
  template <class T>
  static void set(const context& on, T* number, T value) {
    check(cudaMemcpyAsync(number, &value, sizeof value, cudaMemcpyHostToDevice, on.stream),
          "cudaMemcpyAsync");
  }

  static std::uint64_t read(const context& on, const std::uint64_t* number) {
    std::uint64_t host = 0;
    copy_out(on, &host, number, sizeof host);
    return host;
  }
  static void copy_in(const context& on, void* to, const void* from, std::size_t bytes) {
    check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyHostToDevice, on.stream), "cudaMemcpyAsync");
    synchronise(on);
  }
  static void copy_out(const context& on, void* to, const void* from, std::size_t bytes) {
    check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToHost, on.stream), "cudaMemcpyAsync");
    synchronise(on);
  }

  static void synchronise(const context& on) {
    check(cudaStreamSynchronize(on.stream), "cudaStreamSynchronize");
  }

 private:
  template <unsigned PerThread, class Function>
  static void launch_items(const context& on, const Function& f, std::uint64_t size) {
    // A grid has fewer than 2^31 blocks.
    launch(on.stream, blocks_for(size, item_policy::threads * PerThread), item_policy::threads, 0,
           run_items<PerThread, Function>, f, size);
  }
};
static_assert(raydex::executor<executor>, "the cuda backend must run all that structures ask for");

}  // namespace raydex::cuda
