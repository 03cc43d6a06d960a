// SPDX-License-Identifier: Apache-2.0
#include "cuda/rmq_executor.cuh"
#include "optix/ray_engine.cuh"
#include "rmq_hierarchy.hpp"
#include "rmq_hybrid.hpp"

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
