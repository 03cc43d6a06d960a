// SPDX-License-Identifier: Apache-2.0
#include "src/machines/optix/engine/ray_engine.cuh"
#include "src/structures/papers/rmq_hierarchy/rmq_hybrid.hpp"
#include "src/structures/structure_builders.hpp"

namespace raydex::optix {

namespace {

std::unique_ptr<rmq_hierarchy> build_by_kernels(const rmq_info& info, const context& on,
                                                const column& values,
                                                const rmq_hierarchy_options& options) {
  rmq_info of_levels = info;
  of_levels.where = backend::cuda;
  return cuda::papers_builders.build_rmq_hierarchy(of_levels, on, values, options);
}

}  // namespace

std::unique_ptr<rmq_hierarchy> build_rmq_hierarchy(const rmq_info& info, const context& on,
                                                   const column& values,
                                                   const rmq_hierarchy_options& options) {
  return make_rmq_hybrid<ray_engine>(info, on, values, options, build_by_kernels);
}

}  // namespace raydex::optix
