// SPDX-License-Identifier: Apache-2.0
#include "src/minima/rmq_cover.hpp"

#include "src/cuda/minima/rmq_cover.cuh"

namespace raydex::cuda {

std::unique_ptr<rmq_cover> build(const rmq_info& info, const context& on, const column& values,
                                 const rmq_cover_options& options) {
  return make_rmq_cover<cover_executor>(info, on, values, options);
}

}  // namespace raydex::cuda
