// SPDX-License-Identifier: Apache-2.0
// Groups of threads, as core asks for them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "raydex/core/atomic.hpp"
#include "raydex/core/group.hpp"
#include "raydex/core/keys/column.hpp"
#include "src/machines/cuda/launch.cuh"
#include "src/machines/cuda/warp.cuh"

namespace raydex::cuda {

struct group_policy {
  static constexpr unsigned lanes = 16;  // as many as a bucket has entries
  static constexpr unsigned threads = 256;
};

// Adjacent threads of a warp that merge together.
class lane_group {
 public:
  __device__ static unsigned lane() { return lane_of_warp() % group_policy::lanes; }
  __device__ static constexpr unsigned lanes() { return group_policy::lanes; }
  __device__ static void sync() { __syncwarp(mask()); }
  __device__ static unsigned count_before(bool flag, unsigned& total) {
    const unsigned flags = __ballot_sync(mask(), flag ? 1 : 0) & mask();
    total = static_cast<unsigned>(__popc(flags));
    return static_cast<unsigned>(__popc(flags & ((1U << lane_of_warp()) - 1)));
  }

 private:
  __device__ static unsigned mask() {
    constexpr unsigned own = (1U << group_policy::lanes) - 1;
    return own << (lane_of_warp() - lane());
  }
};
static_assert(core::merging_group<lane_group>, "groups must merge the nodes of a bucket");

// Adjacent threads of a warp that scan together.
class scan_group {
 public:
  __device__ explicit scan_group(unsigned bits) : lanes_(1U << bits) {}

  __device__ unsigned lane() const { return threadIdx.x & (lanes_ - 1); }
  __device__ unsigned lanes() const { return lanes_; }
  __device__ void sync() const { __syncwarp(mask()); }

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
static_assert(core::reducing_group<scan_group>, "groups must scan chunks");

// The threads of a warp.
class warp_group {
 public:
  __device__ static unsigned lane() { return lane_of_warp(); }
  __device__ static constexpr unsigned lanes() { return warp; }
  __device__ static void sync() { __syncwarp(); }
  __device__ static unsigned count_before(bool flag, unsigned number, unsigned& total) {
    constexpr unsigned none = ~0U;
    const unsigned same = __match_any_sync(all_lanes, flag ? number : none);
    total = static_cast<unsigned>(__popc(same));
    return static_cast<unsigned>(__popc(same & ((1U << lane()) - 1)));
  }
  // Counts each thread whose flag is set at a counter; the number of those counted there before it.
  // One thread adds for all of the warp.
  __device__ static std::uint32_t count_at(bool flag, unsigned counter, std::uint32_t* counters) {
    constexpr unsigned none = ~0U;
    const unsigned same = __match_any_sync(all_lanes, flag ? counter : none);
    const auto first = static_cast<unsigned>(__ffs(static_cast<int>(same)) - 1);
    std::uint32_t counted = 0;
    if (flag && lane() == first)
      counted = core::add_atomically(counters + counter, static_cast<std::uint32_t>(__popc(same)));
    return from_lane(counted, first) +
           static_cast<std::uint32_t>(__popc(same & ((1U << lane()) - 1)));
  }
  __device__ static std::uint32_t vote(bool flag) { return __ballot_sync(all_lanes, flag ? 1 : 0); }
  // What the thread of this lane has. All threads ask together.
  template <class T>
  __device__ static T from(const T& x, unsigned lane) {
    return from_lane(x, lane);
  }
  static constexpr unsigned compared = warp;
  template <class Number>
  __device__ static std::uint32_t at_least(const Number* numbers, Number least) {
    return vote(core::load(numbers + lane()) >= least);
  }
  template <class T, class Combine>
  __device__ static T reduce(T x, const Combine& combine) {
    for (unsigned distance = 1; distance < warp; distance *= 2)
      x = combine(x, from_partner(x, distance));
    return x;
  }
};
static_assert(core::partitioning_group<warp_group>, "warps must divide probes among shards");

// The threads of a warp. Each four of them read their lines together, 16 bytes each at a time:
// what one thread reads in four pieces keeps the L1 four times as busy.
class line_group : public warp_group {
 public:
  __device__ static void read_line(const std::uint64_t* line, bool wanted,
                                   std::uint64_t (&words)[8]) {
    std::uint32_t pieces[four][four] = {};
    RAYDEX_UNROLL
    for (unsigned r = 0; r < four; ++r) {
      const auto* const from = line_of(wanted ? line : nullptr, r);
      if (from == nullptr) continue;
      const uint4 read = core::load(reinterpret_cast<const uint4*>(from) + own());
      pieces[r][0] = read.x;
      pieces[r][1] = read.y;
      pieces[r][2] = read.z;
      pieces[r][3] = read.w;
    }
    transpose(pieces);
    RAYDEX_UNROLL
    for (unsigned w = 0; w < 8; ++w)
      words[w] = pieces[w / 2][w % 2 * 2] | std::uint64_t{pieces[w / 2][w % 2 * 2 + 1]} << 32;
  }
  __device__ static void write_line(std::uint64_t* line, bool wanted,
                                    const std::uint64_t (&words)[8]) {
    std::uint32_t pieces[four][four];
    RAYDEX_UNROLL
    for (unsigned w = 0; w < 8; ++w) {
      pieces[w / 2][w % 2 * 2] = static_cast<std::uint32_t>(words[w]);
      pieces[w / 2][w % 2 * 2 + 1] = static_cast<std::uint32_t>(words[w] >> 32);
    }
    transpose(pieces);
    RAYDEX_UNROLL
    for (unsigned r = 0; r < four; ++r) {
      auto* const to = line_of(wanted ? line : nullptr, r);
      if (to == nullptr) continue;
      reinterpret_cast<uint4*>(to)[own()] =
          uint4{pieces[r][0], pieces[r][1], pieces[r][2], pieces[r][3]};
    }
  }
  __device__ static bool any(bool flag) { return vote(flag) != 0; }

 private:
  static constexpr unsigned four = 4;
  __device__ static unsigned own() { return lane() % four; }

  // What thread r of the four has. Shuffles are called here without `exchange_words`, which takes
  // local memory, and so the L2, where there are many of them.
  template <class Word>
  __device__ static Word* line_of(Word* line, unsigned r) {
    const auto address = static_cast<unsigned long long>(reinterpret_cast<std::uintptr_t>(line));
    return reinterpret_cast<Word*>(static_cast<std::uintptr_t>(
        __shfl_sync(all_lanes, address, static_cast<int>(r), static_cast<int>(four))));
  }

  // Piece t of thread r becomes piece r of thread t. By words, so that all stay in registers.
  __device__ static void transpose(std::uint32_t (&pieces)[four][four]) {
    RAYDEX_UNROLL
    for (unsigned distance = 1; distance < four; distance *= 2) {
      const bool is_upper = (own() & distance) != 0;
      RAYDEX_UNROLL
      for (unsigned r = 0; r < four; ++r) {
        if ((r & distance) != 0) continue;
        RAYDEX_UNROLL
        for (unsigned w = 0; w < four; ++w) {
          const std::uint32_t lower = pieces[r][w];
          const std::uint32_t upper = pieces[r | distance][w];
          const std::uint32_t received =
              __shfl_xor_sync(all_lanes, is_upper ? lower : upper, static_cast<int>(distance));
          pieces[r][w] = is_upper ? received : lower;
          pieces[r | distance][w] = is_upper ? upper : received;
        }
      }
    }
  }
};
static_assert(core::line_group<line_group>, "groups must read buckets of keys");

// A thread by itself, which reads 16 bytes at a time.
struct thread_group : core::group_of_one {
  template <class Number>
  __device__ static std::uint32_t at_least(const Number* numbers, Number least) {
    constexpr unsigned each = sizeof(uint4) / sizeof(Number);
    std::uint32_t flags = 0;
    RAYDEX_UNROLL
    for (unsigned i = 0; i < compared; i += each) {
      const uint4 read = core::load(reinterpret_cast<const uint4*>(numbers + i));
      Number loaded[each];
      std::memcpy(loaded, &read, sizeof read);
      RAYDEX_UNROLL
      for (unsigned j = 0; j < each; ++j)
        flags |= (loaded[j] >= least ? 1U : 0U) << (i + j);
    }
    return flags;
  }
};

// All threads of a block.
template <unsigned Threads>
struct block_group {
  __device__ static thread_group thread() { return {}; }
  __device__ static unsigned lane() { return threadIdx.x; }
  __device__ static constexpr unsigned lanes() { return Threads; }
  __device__ static void sync() { __syncthreads(); }
  __device__ static warp_group team() { return {}; }
  __device__ static unsigned team_number() { return threadIdx.x / warp; }
  __device__ static constexpr unsigned teams() { return Threads / warp; }

  __device__ static std::uint64_t sum_before(std::uint64_t x, std::uint64_t* scratch) {
    std::uint64_t sum = x;
    RAYDEX_UNROLL
    for (unsigned distance = 1; distance < warp; distance *= 2) {
      const std::uint64_t more = exchange_words(
          sum, [&](std::uint32_t word) { return __shfl_up_sync(all_lanes, word, distance); });
      if (lane_of_warp() >= distance) sum += more;
    }
    if (lane_of_warp() == warp - 1) scratch[threadIdx.x / warp] = sum;
    sync();
    for (unsigned before = 0; before < threadIdx.x / warp; ++before)
      sum += scratch[before];
    sync();
    return sum - x;
  }
};
static_assert(core::group_of_teams<block_group<256>>,
              "blocks must make tables and joins together, and divide probes among shards");

template <class Group, class Function>
__global__ void __launch_bounds__(group_policy::threads)
    run_in_groups(const __grid_constant__ Function f, std::uint64_t size) {
  const unsigned group = threadIdx.x / Group::lanes();
  const std::uint64_t i =
      std::uint64_t{blockIdx.x} * (group_policy::threads / Group::lanes()) + group;
  if (i < size) f(Group{}, shared_memory() + group * padded(f.scratch_bytes()), i);
}

// Calls f(group, scratch, i) for each i below `size`, a group each, with as much shared memory as
// `f.scratch_bytes()` says. The group is a `lane_group` or a `warp_group`.
template <class Group, class Function>
void for_each_in_groups(const context& on, const Function& f, std::uint64_t size) {
  constexpr unsigned groups = group_policy::threads / Group::lanes();
  const std::size_t bytes = groups * padded(f.scratch_bytes());
  const auto kernel = run_in_groups<Group, Function>;
  allow_shared_memory(kernel, bytes);
  launch(on.stream, blocks_for(size, groups), group_policy::threads, bytes, kernel, f, size);
}

template <class Function>
__global__ void __launch_bounds__(group_policy::threads)
    run_by_lines(const __grid_constant__ Function f, std::uint64_t size) {
  constexpr unsigned per_thread = Function::per_thread;
  f.template some<per_thread>(
      line_group{}, std::uint64_t{blockIdx.x} * group_policy::threads * per_thread + threadIdx.x,
      group_policy::threads, size);
}

// Calls f.some<f.per_thread>(group, begin, step, size) for all items below `size`, and those that
// are left of a block.
template <class Function>
void for_each_by_lines(const context& on, const Function& f, std::uint64_t size) {
  launch(on.stream, blocks_for(size, group_policy::threads * Function::per_thread),
         group_policy::threads, 0, run_by_lines<Function>, f, size);
}

template <class Function>
__global__ void __launch_bounds__(group_policy::threads)
    run_in_blocks(const __grid_constant__ Function f) {
  f(block_group<group_policy::threads>{}, shared_memory(), std::uint64_t{blockIdx.x});
}

// The same with a block each.
template <class Function>
void for_each_in_blocks(const context& on, const Function& f, std::uint64_t size) {
  const std::size_t bytes = f.scratch_bytes();
  const auto kernel = run_in_blocks<Function>;
  allow_shared_memory(kernel, bytes);
  launch(on.stream, size, group_policy::threads, bytes, kernel, f);
}

}  // namespace raydex::cuda
