// SPDX-License-Identifier: Apache-2.0
// Runs operations of core as kernels.
#pragma once

#include <cstdint>

#include "cuda/launch.cuh"
#include "cuda/primitives.hpp"

namespace raydex::cuda {

// How batches are laid over threads.
struct batch_policy {
  static constexpr unsigned threads = 256;             // per block
  static constexpr std::size_t probes_per_thread = 1;  // advanced together; see docs/performance.md
};

template <class Policy, class Operation>
__global__ void __launch_bounds__(Policy::threads) run_batch(Operation operation) {
  constexpr std::uint64_t per_block = Policy::threads * Policy::probes_per_thread;
  operation.template run<Policy::probes_per_thread>(blockIdx.x * per_block + threadIdx.x,
                                                    Policy::threads);
}

struct executor {
  template <class Operation>
  static void run(const context& where, const Operation& operation, std::uint64_t size) {
    using policy = batch_policy;
    launch(where.stream, blocks_for(size, policy::threads * policy::probes_per_thread),
           policy::threads, 0, run_batch<policy, Operation>, operation);
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
