// SPDX-License-Identifier: Apache-2.0
#include "src/minima/rmq_hierarchy.hpp"

#include "src/cpu/executor.hpp"
#include "src/cpu/rays/ray_engine.hpp"
#include "src/minima/rmq_hybrid.hpp"

namespace raydex::cpu {

namespace {

struct hierarchy_executor : executor {
  template <class Function>
  static void for_each_group(const context& on, unsigned /*group_bits*/, const Function& f,
                             std::uint64_t size) {
    for_each(
        on, [&](std::uint64_t i) { f(core::group_of_one{}, i); }, size);
  }
};

}  // namespace

std::unique_ptr<rmq_hierarchy> build(const rmq_info& info, const context& on, const column& values,
                                     const rmq_hierarchy_options& options) {
  if (options.top == hierarchy_top::rays)
    return make_rmq_hybrid<ray_engine>(info, on, values, options,
                                       make_rmq_hierarchy<hierarchy_executor>);
  return make_rmq_hierarchy<hierarchy_executor>(info, on, values, options);
}

}  // namespace raydex::cpu
