// SPDX-License-Identifier: Apache-2.0
// How kernels answer batches of probes.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>

#include "src/machines/cuda/executor.cuh"
#include "src/machines/cuda/launch.cuh"
#include "src/machines/cuda/lookups/block_sort.cuh"
#include "src/machines/cuda/lookups/find_in_buckets.cuh"
#include "src/machines/cuda/lookups/merge.cuh"
#include "src/machines/cuda/lookups/small_column.cuh"
#include "src/machines/cuda/lookups/teams.cuh"
#include "src/operations/lookups/batch_plan.hpp"
#include "src/operations/lookups/repeated_keys.hpp"

namespace raydex::core {
template <class View>
struct number_whole_keys;
}  // namespace raydex::core

namespace raydex::cuda {

// How a kernel divides a batch. A block answers `rounds` times as many probes as its threads can at
// once, then goes on to the next slice that no other block has.
struct batch_layout {
  std::uint64_t slices;        // of the batch
  std::uint32_t at_once;       // probes that a block answers at once
  std::uint32_t rounds;        // one after the other
  std::uint32_t group;         // threads that share a lookup
  std::uint32_t pinned_bytes;  // shared memory of the view, at its beginning
  std::uint32_t sorted;        // keys to sort, a power of two; 0: none
  bool restore_order;          // bring sorted results back into the order of the batch
  bool cooperative_scan;
  bool stream_leaves;  // let leaves leave the caches first
};

inline constexpr std::uint32_t none = 0xffff'ffff;  // the number of no probe

// Puts the keys of `count` probes from `begin` on, and the numbers of these, into ascending order
// in shared memory.
template <class Operation, class Key>
__device__ void sort_probes(const Operation& operation, std::uint64_t begin, std::uint32_t count,
                            Key* keys, std::uint32_t* numbers, std::uint32_t size) {
  for (std::uint32_t s = threadIdx.x; s < size; s += blockDim.x) {
    core::interval<Key> probe{};
    const bool exists = s < count && begin + s < operation.probes.size;
    const bool matches = exists && operation.probes.read(begin + s, probe);
    keys[s] = matches ? probe.lower : static_cast<Key>(-1);
    numbers[s] = exists ? s : none;
  }
  block_sorter(keys, numbers, size).sort();
}

// Whether a view can keep something in shared memory.
template <class View>
concept pins = requires(const View& view) {
  view.pinned_bytes(std::size_t{}, false);
};

// A block's team, once what it pins is in shared memory.
template <class Operation>
__device__ auto begin_batch(const Operation& operation, const batch_layout& layout,
                            std::byte* shared, const long_ranges& longer) {
  using team = typename team_of<std::remove_const_t<decltype(operation.view)>>::type;
  if constexpr (pins<std::remove_const_t<decltype(operation.view)>>) {
    if (layout.pinned_bytes != 0) {
      operation.view.pin(shared, layout.pinned_bytes, threadIdx.x, blockDim.x);
      __syncthreads();
    }
  }
  return team(
      {{shared, layout.pinned_bytes}, layout.cooperative_scan, layout.stream_leaves, longer},
      layout.group);
}

template <class Operation>
__global__ void __launch_bounds__(1024, 1)
    run_batch(const __grid_constant__ Operation operation, batch_layout layout,
              merge_progress merged, long_ranges longer) {
  using view = std::remove_const_t<decltype(operation.view)>;
  using key = typename view::key_type;
  using result = typename Operation::result;
  constexpr bool restorable = !std::is_same_v<Operation, core::list_rows<view>>;

  const answered_share answered = merged.share_answered();
  if (answered == answered_share::all) return;
  std::byte* shared = shared_memory();
  auto team = begin_batch(operation, layout, shared, longer);
  constexpr std::uint32_t in_step = decltype(team)::in_step;
  auto* keys = reinterpret_cast<key*>(shared + padded(layout.pinned_bytes));
  auto* numbers = reinterpret_cast<std::uint32_t*>(keys + layout.sorted);
  auto* results = reinterpret_cast<result*>(numbers + layout.sorted);
  const bool restore = restorable && layout.restore_order && operation.out != nullptr;

  const std::uint32_t per_slice = layout.at_once * in_step * layout.rounds;
  for (std::uint64_t slice = blockIdx.x; slice < layout.slices; slice += gridDim.x) {
    const std::uint64_t begin = slice * per_slice;
    if (answered == answered_share::some && merged.has(begin, per_slice)) continue;
    if (layout.sorted != 0) {
      sort_probes(operation, begin, per_slice, keys, numbers, layout.sorted);
    }
    for (std::uint32_t round = 0; round < layout.rounds; ++round) {
      const std::uint64_t slot = team.slot();
      core::ticket tickets[in_step];
      RAYDEX_UNROLL
      for (std::uint32_t j = 0; j < in_step; ++j) {
        tickets[j] = {~std::uint64_t{0}, 0};
        if (slot >= layout.at_once) continue;
        auto local = static_cast<std::uint32_t>((round * in_step + j) * layout.at_once + slot);
        if (layout.sorted != 0) local = numbers[local];
        if (local != none) tickets[j] = {begin + local, restore ? local : begin + local};
      }
      core::answer_probes(operation, team, tickets, operation.probes.fetch(tickets),
                          restore ? results : operation.out);
    }
    if (layout.sorted == 0) continue;
    __syncthreads();
    if (restore) {
      for (std::uint32_t s = threadIdx.x; s < per_slice; s += blockDim.x)
        if (begin + s < operation.probes.size) operation.out[begin + s] = results[s];
      __syncthreads();
    }
  }
}

// Threads of a block at most: fewer have more registers each.
template <class Operation>
inline constexpr unsigned most_threads = 1024;
template <class View>
inline constexpr unsigned most_threads<core::number_whole_keys<View>> = 768;

// The same in the order of the batch, for teams that have a probe a thread: each is read while the
// one before it is answered.
template <class Operation>
__global__ void __launch_bounds__(most_threads<Operation>, 1)
    run_ahead(const __grid_constant__ Operation operation, batch_layout layout,
              merge_progress merged, long_ranges longer) {
  const answered_share answered = merged.share_answered();
  if (answered == answered_share::all) return;
  auto team = begin_batch(operation, layout, shared_memory(), longer);

  const std::uint32_t per_slice = layout.at_once * layout.rounds;
  // From the last probe of a thread in a slice to its first in the next.
  const std::uint64_t jump = gridDim.x * std::uint64_t{per_slice} - (per_slice - layout.at_once);
  core::ticket now[1];
  now[0].probe = now[0].result = blockIdx.x * std::uint64_t{per_slice} + threadIdx.x;
  auto probes = operation.probes.fetch(now);
  for (std::uint64_t slice = blockIdx.x; slice < layout.slices; slice += gridDim.x) {
    const bool skip = answered == answered_share::some && merged.has(slice * per_slice, per_slice);
    for (std::uint32_t round = 1; round <= layout.rounds; ++round) {
      core::ticket next[1];
      next[0].probe = next[0].result =
          now[0].probe + (round < layout.rounds ? layout.at_once : jump);
      const auto ahead = operation.probes.fetch(next);
      if (!skip) core::answer_probes(operation, team, now, probes, operation.out);
      now[0] = next[0];
      probes = ahead;
    }
  }
}

inline constexpr std::size_t reserved_bytes = 1024;  // CUDA's own, for every block

// Probes that it takes for pinning to gain what filling shared memory costs: measured, less than 3
// % either way from 2^20 to 2^22 probes.
inline constexpr std::uint64_t least_pinned = std::uint64_t{1} << 22;

// Threads of a block: fewer where a small batch would leave multiprocessors without a block.
inline unsigned threads_for(std::uint64_t size, unsigned most) {
  constexpr std::uint64_t least = 128;
  const std::uint64_t all = multiprocessors();
  const std::uint64_t each = std::max(least, std::bit_ceil(blocks_for(size, all)));
  return each < most ? static_cast<unsigned>(each) : most;
}

// Turns of a block, likewise.
inline std::uint32_t rounds_for(std::uint64_t size, std::uint64_t each, unsigned most) {
  const std::uint64_t all = multiprocessors();
  return static_cast<std::uint32_t>(std::clamp<std::uint64_t>(size / (all * each), 1, most));
}

// Whether the leaves of a tree are too large for the L2 cache, so that they had better not push
// the nodes out of it.
template <class View>
bool outgrows_cache(const View& view) {
  constexpr std::uint64_t entry =
      sizeof(typename View::key_type) + sizeof(typename View::row_id_type);
  return view.size() * entry > static_cast<std::uint64_t>(device_number(cudaDevAttrL2CacheSize));
}

// Threads that share a lookup in a view with nodes.
template <class View>
unsigned group_of(const View& view, grouping choice) {
  if constexpr (requires { view.fan_out_of_nodes(); }) {
    const unsigned pivots = view.fan_out_of_nodes() - 1;
    return choice == grouping::exact ? pivots : std::bit_ceil(pivots);
  } else {
    return 1;
  }
}

// How a kernel is started for a batch.
struct batch_launch {
  batch_layout layout{};
  unsigned threads = 0;   // of a block
  std::size_t bytes = 0;  // of shared memory
  scheduling schedule{};

  std::uint32_t per_slice(std::uint32_t in_step) const {
    return layout.at_once * in_step * layout.rounds;
  }
};

// Gives blocks room to sort their probes in: fewer rounds, then fewer threads, if there is no room
// to sort what all of them answer.
template <class Operation>
void plan_sorting(batch_launch& planned, bool restore_order) {
  using view = std::remove_const_t<decltype(Operation::view)>;
  using team = typename team_of<view>::type;
  batch_layout& layout = planned.layout;
  layout.restore_order = restore_order;
  const std::size_t each = sizeof(typename view::key_type) + sizeof(std::uint32_t) +
                           (restore_order ? sizeof(typename Operation::result) : 0);
  const auto size = [&] { return std::bit_ceil(planned.per_slice(team::in_step)); };
  while (size() * each + reserved_bytes > executor::fast_memory()) {
    if (layout.rounds > 1) {
      layout.rounds /= 2;
    } else {
      planned.threads /= 2;
      layout.at_once = team::at_once(planned.threads, layout.group);
    }
  }
  layout.sorted = size();
  planned.bytes = size() * each;
}

template <class Operation>
batch_launch plan_batch(const batch_plan& plan, const Operation& operation) {
  using view = std::remove_const_t<decltype(operation.view)>;
  using team = typename team_of<view>::type;
  const std::uint64_t size = operation.probes.size;
  batch_launch planned;
  batch_layout& layout = planned.layout;
  planned.schedule = plan.schedule;
  planned.threads = threads_for(size, std::min(plan.threads, most_threads<Operation>));
  layout.group = group_of(operation.view, plan.group);
  layout.at_once = team::at_once(planned.threads, layout.group);
  layout.rounds = rounds_for(size, layout.at_once * team::in_step,
                             static_cast<unsigned>(blocks_for(plan.lookups, team::in_step)));
  layout.cooperative_scan = plan.scan == scanning::multi;
  layout.stream_leaves = outgrows_cache(operation.view);
  // Teams that look ahead answer in the order of the batch.
  if (!team::looks_ahead && plan.reorder != reordering::none)
    plan_sorting<Operation>(planned, plan.reorder == reordering::twice);
  layout.slices = blocks_for(size, planned.per_slice(team::in_step));
  if constexpr (pins<view>) {
    if (plan.pin != pinning::none && (plan.chosen || size >= least_pinned)) {
      const std::size_t room = executor::fast_memory() -
                               std::min(executor::fast_memory(), planned.bytes + reserved_bytes);
      layout.pinned_bytes =
          static_cast<std::uint32_t>(operation.view.pinned_bytes(room, plan.pin == pinning::full));
      planned.bytes += padded(layout.pinned_bytes);
    }
  }
  return planned;
}

template <class Kernel, class Operation>
void start(const context& on, const batch_launch& planned, const Kernel kernel,
           const Operation& operation, const merge_progress& merged, const long_ranges& longer) {
  allow_shared_memory(kernel, planned.bytes);
  std::uint64_t blocks = planned.layout.slices;
  if (planned.schedule == scheduling::fixed)
    blocks = std::min(blocks, resident_blocks(kernel, planned.threads, planned.bytes));
  if (planned.schedule == scheduling::one) blocks = std::min(blocks, multiprocessors());
  launch(on.stream, blocks, planned.threads, planned.bytes, kernel, operation, planned.layout,
         merged, longer);
}

template <class Operation>
void start_ahead(const context& on, const batch_launch& planned, const Operation& operation,
                 const merge_progress& merged, const long_ranges& longer) {
  const auto kernel = run_ahead<Operation>;
  if (planned.bytes != 0) leave_l1(kernel, planned.threads, planned.bytes, reserved_bytes);
  start(on, planned, kernel, operation, merged, longer);
}

// Picks the kernel by what the team can do and the probes are.
template <class Operation>
void start_best(const context& on, const batch_launch& planned, const Operation& operation,
                const merge_progress& merged, const long_ranges& longer) {
  if constexpr (!team_of<std::remove_const_t<decltype(operation.view)>>::type::looks_ahead) {
    start(on, planned, run_batch<Operation>, operation, merged, longer);
  } else {
    if constexpr (core::has_plain<Operation>) {
      if (operation.probes.are_plain())
        return start_ahead(on, planned, operation.plain(), merged, longer);
    }
    start_ahead(on, planned, operation, merged, longer);
  }
}

template <class Operation>
void executor::run(const context& on, const batch_plan& plan, const Operation& operation) {
  static_assert(core::operation<Operation>,
                "an operation has a result, a view, probes and an output");
  if (operation.probes.size == 0) return;
  if constexpr (finding_in_buckets<Operation>) {
    if (plan.share_buckets) return find_in_shared_buckets(on, operation);
  }
  if (!plan.chosen && answer_small(on, operation)) return;

  const batch_launch planned = plan_batch(plan, operation);
  const merged merge = merge_ascending(on, operation);
  const auto& visiting = core::visiting(operation);
  using visitor = std::remove_cvref_t<decltype(visiting)>;
  if constexpr (divisible<visitor>) {
    const long_work<visitor> longer(on, operation.probes.size, planned.layout.cooperative_scan);
    start_best(on, planned, operation, merge.progress(), longer.ranges());
    longer.answer(on, visiting);
  } else {
    start_best(on, planned, operation, merge.progress(), {});
  }
}

}  // namespace raydex::cuda

// Steps of builds that a library compiles once, in compiled_once.cu.
namespace raydex {

extern template std::uint64_t count_repeated<cuda::executor>(const context&, const std::uint32_t*,
                                                             std::uint64_t);
extern template std::uint64_t count_repeated<cuda::executor>(const context&, const std::uint64_t*,
                                                             std::uint64_t);
extern template different_hashes<std::uint32_t, std::uint32_t> list_different<cuda::executor>(
    const context&, const sorted_column<std::uint32_t, std::uint32_t>&, std::uint64_t);
extern template different_hashes<std::uint64_t, std::uint32_t> list_different<cuda::executor>(
    const context&, const sorted_column<std::uint64_t, std::uint32_t>&, std::uint64_t);
extern template buffer<std::uint32_t> repeat_hashes<cuda::executor>(
    const context&, const sorted_column<std::uint32_t, std::uint32_t>&, std::uint64_t);
extern template buffer<std::uint64_t> repeat_hashes<cuda::executor>(
    const context&, const sorted_column<std::uint64_t, std::uint32_t>&, std::uint64_t);

}  // namespace raydex
