// SPDX-License-Identifier: Apache-2.0
#include "src/aggregates/built_aggregate.hpp"
#include "src/cuda/executor.cuh"

namespace raydex::cuda {

std::unique_ptr<aggregate> build_aggregate(const context& on, const index& over,
                                           const std::optional<column>& values,
                                           const aggregate_options& options) {
  return make_aggregate<executor>(on, over, values, options);
}

}  // namespace raydex::cuda
