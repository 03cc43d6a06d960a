// SPDX-License-Identifier: Apache-2.0
#include "src/minima/rmq_lca.hpp"

#include "src/cuda/executor.cuh"

namespace raydex::cuda {

std::unique_ptr<rmq> build(const rmq_info& info, const context& on, const column& values,
                           const rmq_lca_options& options) {
  return make_rmq_lca<executor>(info, on, values, options);
}

}  // namespace raydex::cuda
