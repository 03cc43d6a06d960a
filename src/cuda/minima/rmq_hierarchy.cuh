// SPDX-License-Identifier: Apache-2.0
// The kernels of `rmq_hierarchy`.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "src/cuda/launch.cuh"
#include "src/cuda/lookups/teams.cuh"
#include "src/cuda/minima/rmq_executor.cuh"
#include "src/minima/rmq_hierarchy.hpp"

namespace raydex::cuda {

// Adjacent threads of a warp that scan together.
class scan_group {
 public:
  __device__ explicit scan_group(unsigned bits) : lanes_(1U << bits) {}

  __device__ unsigned lane() const { return threadIdx.x & (lanes_ - 1); }
  __device__ unsigned lanes() const { return lanes_; }

  template <class T, class Combine>
  __device__ T reduce(T x, const Combine& combine) const {
    for (unsigned distance = 1; distance < lanes_; distance *= 2) {
      x = combine(x, exchange_words(x, [&](std::uint32_t word) {
                    return __shfl_xor_sync(mask(), word, static_cast<int>(distance));
                  }));
    }
    return x;
  }
  // What the thread of this lane has. All threads of the warp ask together.
  template <class T>
  __device__ T from(const T& x, unsigned lane) const {
    return from_lane(x, lane, lanes_);
  }

 private:
  __device__ unsigned mask() const {
    return (all_lanes >> (warp - lanes_)) << (lane_of_warp() - lane());
  }
  unsigned lanes_;
};

template <class View>
struct group_minimum {
  using view_type = View;
  using result = typename View::value_type;

  View view;
  core::range_source ranges;
  result* out;

  template <class Place>
  __device__ result operator()(const scan_group& group, Place first, Place last) const {
    return view.minimum(group, first, last);
  }
  __device__ void store(std::uint64_t i, bool is_any, result found) const {
    core::store_once(out + i, view.array.original(is_any ? found : core::last_value<result>()));
  }
};

template <class View>
struct group_position {
  using view_type = View;
  using result = typename View::place_type;

  View view;
  core::range_source ranges;
  std::uint64_t* out;

  template <class Place>
  __device__ result operator()(const scan_group& group, Place first, Place last) const {
    return view.find(group, first, last).place;
  }
  __device__ void store(std::uint64_t i, bool is_any, result found) const {
    core::store_once(out + i, is_any ? found - view.array.first() : no_position);
  }
};

// Groups answer ranges: with a queue those that its threads have read, one after the other,
// otherwise one that all of them have read.
template <class Answer>
__global__ void __launch_bounds__(rmq_policy::threads)
    answer_in_groups(const __grid_constant__ Answer answer, std::uint64_t size, unsigned group_bits,
                     bool queue) {
  using place = typename Answer::view_type::place_type;
  const scan_group group(group_bits);
  const std::uint64_t i = queue ? global_thread() : global_thread() >> group_bits;
  place first = 0;
  place last = 0;
  const bool is_any = i < size && answer.ranges.read(i, answer.view.array, first, last);
  if (!is_any) {
    first = 1;
    last = 0;
  }
  typename Answer::result own{};
  const unsigned rounds = queue ? group.lanes() : 1;
  for (unsigned lane = 0; lane < rounds; ++lane) {
    const auto found = answer(group, group.from(first, lane), group.from(last, lane));
    if (group.lane() == lane) own = found;
  }
  if (i < size && (queue || group.lane() == 0)) answer.store(i, is_any, own);
}

template <class Function>
__global__ void __launch_bounds__(rmq_policy::threads)
    run_groups(const __grid_constant__ Function f, std::uint64_t size, unsigned group_bits) {
  const std::uint64_t i = global_thread() >> group_bits;
  if (i < size) f(scan_group(group_bits), i);
}

struct hierarchy_executor : rmq_executor {
  template <class Function>
  static void for_each_group(const context& where, unsigned group_bits, const Function& f,
                             std::uint64_t size) {
    launch(where.stream, blocks_for(size, rmq_policy::threads >> group_bits), rmq_policy::threads,
           0, run_groups<Function>, f, size, group_bits);
  }

  template <class Value, class Place>
  static void minimum(const context& where, const planned_hierarchy<Value, Place>& view,
                      const core::range_source& ranges, Value* out, std::uint64_t size) {
    if (view.plan.coalesced) {
      answer<group_minimum>(where, view, ranges, out, size);
    } else {
      rmq_executor::minimum(where, view.of_core(), ranges, out, size);
    }
  }
  template <class Value, class Place>
  static void position(const context& where, const planned_hierarchy<Value, Place>& view,
                       const core::range_source& ranges, std::uint64_t* out, std::uint64_t size) {
    if (view.plan.coalesced) {
      answer<group_position>(where, view, ranges, out, size);
    } else {
      rmq_executor::position(where, view.of_core(), ranges, out, size);
    }
  }

 private:
  template <template <class> class Answer, class Value, class Place, class Out>
  static void answer(const context& where, const planned_hierarchy<Value, Place>& view,
                     const core::range_source& ranges, Out* out, std::uint64_t size) {
    using answer = Answer<core::rmq_hierarchy_view<Value, Place>>;
    const hierarchy_plan& plan = view.plan;
    const unsigned per_block =
        plan.queue ? rmq_policy::threads : rmq_policy::threads >> plan.group_bits;
    launch(where.stream, blocks_for(size, per_block), rmq_policy::threads, 0,
           answer_in_groups<answer>, answer{view, ranges, out}, size, plan.group_bits, plan.queue);
  }
};

}  // namespace raydex::cuda
