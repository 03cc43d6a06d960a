// SPDX-License-Identifier: Apache-2.0
// The kernels of `rmq_hierarchy`.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>
#include <cstring>
#include <type_traits>

#include "src/cuda/check.hpp"
#include "src/cuda/executor.cuh"
#include "src/cuda/groups.cuh"
#include "src/cuda/launch.cuh"
#include "src/minima/rmq_hierarchy.hpp"

namespace raydex::cuda {

struct hierarchy_policy {
  static constexpr unsigned threads = 256;  // per block
};

// Groups answer ranges: with a queue those that its threads have read, one after the other,
// otherwise one that all of them have read.
template <class View, class Asked>
__global__ void __launch_bounds__(hierarchy_policy::threads)
    answer_in_groups(const __grid_constant__ answer_range<View, Asked> answer, std::uint64_t size,
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
  typename Asked::found own{};
  const unsigned rounds = queue ? group.lanes() : 1;
  for (unsigned lane = 0; lane < rounds; ++lane) {
    const auto found =
        Asked::search(answer.view, group, group.from(first, lane), group.from(last, lane));
    if (group.lane() == lane) own = found;
  }
  if (i < size && (queue || group.lane() == 0)) answer.put(i, is_any, own);
}

// A thread of a group that keeps to itself what it has found.
struct apart_group : scan_group {
  using scan_group::scan_group;

  template <class T, class Combine>
  __device__ T reduce(const T& x, const Combine& /*combine*/) const {
    return x;
  }
};

// Where a range's answer will be, as a number that atomics change: the code of the smallest value
// so far, or its place. All bits are set where there is none.
template <class View, class Asked>
struct aggregated_range {
  using value = typename View::value_type;
  using place = typename View::place_type;
  using word =
      std::conditional_t<sizeof(typename Asked::result) == 4, unsigned, unsigned long long>;
  static constexpr auto none = static_cast<word>(-1);

  answer_range<View, Asked> answer;

  __device__ word* at(std::uint64_t i) const { return reinterpret_cast<word*>(answer.out + i); }

  // Takes in what a thread found of range `i`.
  __device__ void add(std::uint64_t i, typename Asked::found found) const {
    if constexpr (Asked::placed) {
      for (word before = none; precedes(found, before);) {
        const word seen = atomicCAS(at(i), before, word{found});
        if (seen == before) break;
        before = seen;
      }
    } else {
      atomicMin(at(i), code_of(found));
    }
  }
  // Makes it an answer.
  __device__ void operator()(std::uint64_t i) const {
    const word least = *at(i);
    if constexpr (Asked::placed) {
      answer.put(i, least != none, static_cast<place>(least));
    } else {
      answer.put(i, least != none, value_of(least));
    }
  }

 private:
  __device__ bool precedes(place one, word before) const {
    if (before == none) return true;
    const View& view = answer.view;
    const value a = view.array[one];
    const value b = view.array[before];
    if (core::less(a, b) || core::less(b, a)) return core::less(a, b);
    return view.rightmost ? one > before : one < before;
  }

  // Unsigned integers of the order of values; the last value has the largest one.
  __device__ static word code_of(value least) {
    word bits;
    std::memcpy(&bits, &least, sizeof bits);
    if constexpr (std::is_floating_point_v<value>) bits = core::order_of_bits(bits);
    return bits ^ core::sign_bit<word>;
  }
  __device__ static value value_of(word code) {
    word bits = code ^ core::sign_bit<word>;
    if constexpr (std::is_floating_point_v<value>) bits = core::bits_of_order(bits);
    value least;
    std::memcpy(&least, &bits, sizeof least);
    return least;
  }
};

// Groups answer the ranges of a queue without exchanging anything: all threads read each of them.
template <class View, class Asked>
__global__ void __launch_bounds__(hierarchy_policy::threads)
    aggregate_in_groups(const __grid_constant__ aggregated_range<View, Asked> all,
                        std::uint64_t size, unsigned group_bits) {
  using place = typename View::place_type;
  const apart_group group(group_bits);
  const std::uint64_t begin = global_thread() - group.lane();
  const std::uint64_t end = begin + group.lanes() < size ? begin + group.lanes() : size;
  const auto& answer = all.answer;
  for (std::uint64_t i = begin; i < end; ++i) {
    place first = 0;
    place last = 0;
    if (answer.ranges.read(i, answer.view.array, first, last))
      all.add(i, Asked::search(answer.view, group, first, last));
  }
}

template <class Function>
__global__ void __launch_bounds__(hierarchy_policy::threads)
    run_groups(const __grid_constant__ Function f, std::uint64_t size, unsigned group_bits) {
  const std::uint64_t i = global_thread() >> group_bits;
  if (i < size) f(scan_group(group_bits), i);
}

struct hierarchy_executor : executor {
  template <class Function>
  static void for_each_group(const context& on, unsigned group_bits, const Function& f,
                             std::uint64_t size) {
    launch(on.stream, blocks_for(size, hierarchy_policy::threads >> group_bits),
           hierarchy_policy::threads, 0, run_groups<Function>, f, size, group_bits);
  }

  template <class Asked, class Value, class Place>
  static void answer(const context& on, const planned_hierarchy<Value, Place>& view,
                     const core::range_source& ranges, typename Asked::result* out,
                     std::uint64_t size) {
    using view_type = core::rmq_hierarchy_view<Value, Place>;
    const answer_range<view_type, Asked> answer{view, ranges, out};
    const hierarchy_plan& plan = view.plan;
    if (!plan.coalesced) return for_each_alone(on, answer, size);
    if (plan.assign == hierarchy_assign::atomic)
      return aggregate(on, answer, size, plan.group_bits);
    const bool queue = plan.assign == hierarchy_assign::queue;
    const unsigned per_block =
        queue ? hierarchy_policy::threads : hierarchy_policy::threads >> plan.group_bits;
    launch(on.stream, blocks_for(size, per_block), hierarchy_policy::threads, 0,
           answer_in_groups<view_type, Asked>, answer, size, plan.group_bits, queue);
  }

 private:
  template <class View, class Asked>
  static void aggregate(const context& on, const answer_range<View, Asked>& answer,
                        std::uint64_t size, unsigned group_bits) {
    using range = aggregated_range<View, Asked>;
    constexpr int none = 0xff;  // in each byte
    check(cudaMemsetAsync(answer.out, none, size * sizeof *answer.out, on.stream),
          "cudaMemsetAsync");
    launch(on.stream, blocks_for(size, hierarchy_policy::threads), hierarchy_policy::threads, 0,
           aggregate_in_groups<View, Asked>, range{answer}, size, group_bits);
    for_each_alone(on, range{answer}, size);
  }
};
static_assert(raydex::hierarchy_executor<hierarchy_executor>, "kernels must make all levels");

}  // namespace raydex::cuda
