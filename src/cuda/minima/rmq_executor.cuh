// SPDX-License-Identifier: Apache-2.0
// Runs what structures for minima need in kernels. By default a thread answers a range; a view that
// has a faster way brings an overload of `answer_minima` and `answer_positions`.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>

#include "raydex/memory.hpp"
#include "src/cuda/check.hpp"
#include "src/cuda/launch.cuh"
#include "src/minima/built_rmq.hpp"

namespace raydex::cuda {

struct rmq_policy {
  static constexpr unsigned threads = 256;  // per block
};

template <class Function>
__global__ void __launch_bounds__(rmq_policy::threads)
    run_each(const __grid_constant__ Function f, std::uint64_t size) {
  const std::uint64_t i = global_thread();
  if (i < size) f(i);
}

struct rmq_executor {
  // A level with fewer entries for a changed value is written anew, by reads next to one another:
  // of those all over the memory there are fewer in the same time.
  static constexpr std::uint64_t entries_per_change = 8;

  template <class Function>
  static void for_each(const context& where, const Function& f, std::uint64_t size) {
    // A grid has fewer than 2^31 blocks.
    launch(where.stream, blocks_for(size, rmq_policy::threads), rmq_policy::threads, 0,
           run_each<Function>, f, size);
  }

  template <class View>
  static void minimum(const context& where, const View& view, const core::range_source& ranges,
                      typename View::value_type* out, std::uint64_t size) {
    for_each(where, range_minimum<View>{view, ranges, out}, size);
  }
  template <class View>
  static void position(const context& where, const View& view, const core::range_source& ranges,
                       std::uint64_t* out, std::uint64_t size) {
    for_each(where, range_position<View>{view, ranges, out}, size);
  }

  static void set(const context& where, std::uint64_t* number, std::uint64_t value) {
    copy(where, number, &value, sizeof value, cudaMemcpyHostToDevice);
  }
  static std::uint64_t read(const context& where, const std::uint64_t* number) {
    std::uint64_t host = 0;
    copy_out(where, &host, number, sizeof host);
    return host;
  }
  static void copy_out(const context& where, void* to, const void* from, std::size_t bytes) {
    copy(where, to, from, bytes, cudaMemcpyDeviceToHost);
    check(cudaStreamSynchronize(where.stream), "cudaStreamSynchronize");
  }

 private:
  static void copy(const context& where, void* to, const void* from, std::size_t bytes,
                   cudaMemcpyKind kind) {
    check(cudaMemcpyAsync(to, from, bytes, kind, where.stream), "cudaMemcpyAsync");
  }
};

}  // namespace raydex::cuda
