// SPDX-License-Identifier: Apache-2.0
#include "src/minima/rmq_hierarchy.hpp"

#include "src/cuda/minima/rmq_hierarchy.cuh"

namespace raydex::cuda {

std::unique_ptr<rmq_hierarchy> build(const rmq_info& info, const context& on, const column& values,
                                     const rmq_hierarchy_options& options) {
  return make_rmq_hierarchy<hierarchy_executor>(info, on, values, options);
}

}  // namespace raydex::cuda
