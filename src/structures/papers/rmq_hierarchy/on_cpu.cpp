// SPDX-License-Identifier: Apache-2.0
#include "src/machines/cpu/executor.hpp"
#include "src/machines/cpu/rays/ray_engine.hpp"
#include "src/structures/papers/rmq_hierarchy/rmq_hierarchy.hpp"
#include "src/structures/papers/rmq_hierarchy/rmq_hybrid.hpp"
#include "src/structures/structure_builders.hpp"

namespace raydex::cpu {

namespace {

struct rmq_hierarchy_executor : executor {
  template <class Function>
  static void for_each_group(const context& on, unsigned /*group_bits*/, const Function& f,
                             std::uint64_t size) {
    for_each(
        on, [&](std::uint64_t i) { f(core::group_of_one{}, i); }, size);
  }
};

}  // namespace

std::unique_ptr<rmq_hierarchy> build_rmq_hierarchy(const rmq_info& info, const context& on,
                                                   const column& values,
                                                   const rmq_hierarchy_options& options) {
  if (options.top == hierarchy_top::rays)
    return make_rmq_hybrid<ray_engine>(info, on, values, options,
                                       make_rmq_hierarchy<rmq_hierarchy_executor>);
  return make_rmq_hierarchy<rmq_hierarchy_executor>(info, on, values, options);
}

}  // namespace raydex::cpu
