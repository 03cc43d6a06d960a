// SPDX-License-Identifier: Apache-2.0
#include "src/cuda/minima/rmq_executor.cuh"
#include "src/minima/rmq_hierarchy.hpp"
#include "src/minima/rmq_hybrid.hpp"
#include "src/optix/engine/ray_engine.cuh"

namespace raydex::optix {

namespace {

struct hybrid_engine : ray_engine {
  using executor = cuda::rmq_executor;

  static std::unique_ptr<rmq_hierarchy> build_levels(rmq_info info, const context& where_to,
                                                     const column& values,
                                                     const rmq_hierarchy_options& options) {
    info.where = backend::cuda;
    return cuda::build(info, where_to, values, options);
  }
};

}  // namespace

std::unique_ptr<rmq_hierarchy> build(const rmq_info& info, const context& where_to,
                                     const column& values, const rmq_hierarchy_options& options) {
  return make_rmq_hybrid<hybrid_engine>(info, where_to, values, options);
}

}  // namespace raydex::optix
