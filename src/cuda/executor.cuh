// SPDX-License-Identifier: Apache-2.0
// Runs operations of core as kernels.
#pragma once

#include <cstdint>

#include "cuda/launch.cuh"
#include "cuda/primitives.hpp"

namespace raydex::cuda {

// How batches are laid over threads; docs/performance.md has the alternatives measured.
struct batch_policy {
  static constexpr unsigned threads = 512;             // per block
  static constexpr std::size_t probes_per_thread = 2;  // one after the other, or together
};

// Whether this warp's probes ascend. Then they share most of their reads, and a thread is better
// off with several at a time; others would only push each other's keys out of the L1.
template <class Policy, class Operation>
__device__ bool warp_ascends(const Operation& operation, std::uint64_t begin) {
  bool ascends = true;
  for (std::size_t j = 0; j < Policy::probes_per_thread; ++j) {
    ascends = ascends && operation.probes.ascends(begin + j * Policy::threads);
  }
  return __all_sync(0xffff'ffffu, ascends) != 0;
}

template <class Policy, class Operation>
__global__ void __launch_bounds__(Policy::threads) run_batch(Operation operation) {
  constexpr std::uint64_t per_block = Policy::threads * Policy::probes_per_thread;
  const std::uint64_t begin = blockIdx.x * per_block + threadIdx.x;
  if (warp_ascends<Policy>(operation, begin)) {
    operation.template run<Policy::probes_per_thread>(begin, Policy::threads);
  } else {
    for (std::size_t j = 0; j < Policy::probes_per_thread; ++j) {
      operation.template run<1>(begin + j * Policy::threads, 0);
    }
  }
}

// How items that know nothing of each other are laid over threads: a few reads under way at a time.
struct item_policy {
  static constexpr unsigned threads = 256;  // per block
  static constexpr unsigned per_thread = 4;
};

template <class Policy, class Function>
__global__ void __launch_bounds__(Policy::threads) run_items(Function f, std::uint64_t size) {
  const std::uint64_t begin =
      std::uint64_t{blockIdx.x} * Policy::threads * Policy::per_thread + threadIdx.x;
#pragma unroll
  for (unsigned j = 0; j < Policy::per_thread; ++j) {
    const std::uint64_t i = begin + j * Policy::threads;
    if (i < size) f(i);
  }
}

struct executor {
  template <class Operation>
  static void run(const context& where, const Operation& operation, std::uint64_t size) {
    using policy = batch_policy;
    launch(where.stream, blocks_for(size, policy::threads * policy::probes_per_thread),
           policy::threads, 0, run_batch<policy, Operation>, operation);
  }

  template <class Function>
  static void for_each(const context& where, const Function& f, std::uint64_t size) {
    using policy = item_policy;
    launch(where.stream, blocks_for(size, policy::threads * policy::per_thread), policy::threads, 0,
           run_items<policy, Function>, f, size);
  }

  static void inclusive_sum(const context& where, std::uint64_t* numbers, std::uint64_t size) {
    cuda::inclusive_sum(where, numbers, size);
  }

  static void clear(const context& where, std::uint64_t* number) {
    check(cudaMemsetAsync(number, 0, sizeof *number, where.stream), "cudaMemsetAsync");
  }

  static std::uint64_t read(const context& where, const std::uint64_t* number) {
    std::uint64_t host = 0;
    check(cudaMemcpyAsync(&host, number, sizeof host, cudaMemcpyDeviceToHost, where.stream),
          "cudaMemcpyAsync");
    check(cudaStreamSynchronize(where.stream), "cudaStreamSynchronize");
    return host;
  }
};

}  // namespace raydex::cuda
