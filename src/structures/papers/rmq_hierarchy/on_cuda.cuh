// SPDX-License-Identifier: Apache-2.0
// The kernels of `rmq_hierarchy`.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "src/machines/cuda/executor.cuh"
#include "src/machines/cuda/groups.cuh"
#include "src/machines/cuda/launch.cuh"
#include "src/structures/papers/rmq_hierarchy/rmq_hierarchy.hpp"

namespace raydex::cuda {

struct hierarchy_policy {
  static constexpr unsigned threads = 256;  // per block
};

// Groups answer ranges: with a queue those that its threads have read, one after the other,
// otherwise one that all of them have read.
template <class View, class Wanted>
__global__ void __launch_bounds__(hierarchy_policy::threads)
    answer_in_groups(const __grid_constant__ answer_range<View, Wanted> answer, std::uint64_t size,
                     unsigned group_bits, bool queue) {
  using place = typename View::place_type;
  const scan_group group(group_bits);
  const std::uint64_t i = queue ? global_thread() : global_thread() >> group_bits;
  place first = 0;
  place last = 0;
  const bool is_any = i < size && answer.ranges.read(i, answer.view.array, first, last);
  if (!is_any) {
    first = 1;
    last = 0;
  }
  typename Wanted::found own{};
  const unsigned rounds = queue ? group.lanes() : 1;
  for (unsigned lane = 0; lane < rounds; ++lane) {
    const auto found =
        Wanted::search(answer.view, group, group.from(first, lane), group.from(last, lane));
    if (group.lane() == lane) own = found;
  }
  if (i < size && (queue || group.lane() == 0)) answer.put(i, is_any, own);
}

template <class Function>
__global__ void __launch_bounds__(hierarchy_policy::threads)
    run_groups(const __grid_constant__ Function f, std::uint64_t size, unsigned group_bits) {
  const std::uint64_t i = global_thread() >> group_bits;
  if (i < size) f(scan_group(group_bits), i);
}

struct rmq_hierarchy_executor : executor {
  template <class Function>
  static void for_each_group(const context& on, unsigned group_bits, const Function& f,
                             std::uint64_t size) {
    launch(on.stream, blocks_for(size, hierarchy_policy::threads >> group_bits),
           hierarchy_policy::threads, 0, run_groups<Function>, f, size, group_bits);
  }

  template <class Wanted, class Value, class Place>
  static void answer(const context& on, const planned_hierarchy<Value, Place>& view,
                     const core::range_source& ranges, typename Wanted::result* out,
                     std::uint64_t size) {
    using view_type = core::rmq_hierarchy_view<Value, Place>;
    const answer_range<view_type, Wanted> answer{view, ranges, out};
    const hierarchy_plan& plan = view.plan;
    if (!plan.coalesced) return for_each_alone(on, answer, size);
    const bool queue = plan.assign == hierarchy_assign::queue;
    const unsigned per_block =
        queue ? hierarchy_policy::threads : hierarchy_policy::threads >> plan.group_bits;
    launch(on.stream, blocks_for(size, per_block), hierarchy_policy::threads, 0,
           answer_in_groups<view_type, Wanted>, answer, size, plan.group_bits, queue);
  }
};
static_assert(raydex::hierarchy_executor<rmq_hierarchy_executor>, "kernels must make all levels");

}  // namespace raydex::cuda
