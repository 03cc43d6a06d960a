// SPDX-License-Identifier: Apache-2.0
// The kernels of `rmq_cover`.
//
// A warp answers ranges from the tables, each of its threads some at once. Ranges that these do not
// answer wait in a queue of the warp until each of its threads has one to look for in the levels.
// Of these, the ones for which a block of the array has to be read wait in a second queue, for the
// same reason: the threads of a warp always do the same thing.
#pragma once

#include <cuda_runtime.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "cuda/launch.cuh"
#include "cuda/rmq_executor.cuh"
#include "cuda/shared_memory.cuh"
#include "raydex/core/rmq_cover.hpp"

namespace raydex::cuda {

struct rmq_cover_policy {
  static constexpr unsigned threads = 256;  // per block
  static constexpr unsigned warps = threads / 32;
  static constexpr unsigned ahead = 2;  // ranges that a thread reads at once
  // Where tables answer fewer than one in `rare` of a warp's ranges, it asks them no more for the
  // next `patience` turns.
  static constexpr unsigned rare = 8;
  static constexpr unsigned patience = 16;
  // Of the build: packs that a thread reads at once.
  static constexpr unsigned packs = 4;
};

// What a warp keeps in shared memory: ranges that wait.
template <class Value, class Place>
struct rmq_warp_memory {
  static constexpr unsigned room = 31 + 32 * rmq_cover_policy::ahead;
  static constexpr unsigned ends_room = 31 + 32;

  // For the levels.
  Place first[room];
  Place last[room];
  std::uint32_t number[room];
  // For blocks of the array.
  core::found_minimum<Value, Place> found[ends_room];
  Value left[ends_room];
  Value right[ends_room];
  Place ends_first[ends_room];
  Place ends_last[ends_room];
  std::uint32_t ends_number[ends_room];
};

// Where answers go.
template <class View>
struct rmq_minima_out {
  using value = typename View::value_type;
  using place = typename View::place_type;
  static constexpr bool where = false;

  value* out;
  __device__ void put(const View& view, const core::found_minimum<value, place>& found,
                      std::uint32_t i) const {
    put(view, found.value, i);
  }
  __device__ void put(const View& view, const core::placed_minimum<value, place>& found,
                      std::uint32_t i) const {
    put(view, found.value, i);
  }
  __device__ void put_none(const View& view, std::uint32_t i) const {
    put(view, core::last_value<value>(), i);
  }

 private:
  __device__ void put(const View& view, value found, std::uint32_t i) const {
    core::store_once(out + i, view.array.original(found));
  }
};

template <class View>
struct rmq_positions_out {
  using value = typename View::value_type;
  using place = typename View::place_type;
  static constexpr bool where = true;

  std::uint64_t* out;
  __device__ void put(const View& view, const core::found_minimum<value, place>& found,
                      std::uint32_t i) const {
    put(view, view.place_of(found), i);
  }
  __device__ void put(const View& view, const core::placed_minimum<value, place>& found,
                      std::uint32_t i) const {
    put(view, found.place, i);
  }
  __device__ void put_none(const View& /*view*/, std::uint32_t i) const {
    core::store_once(out + i, no_position);
  }

 private:
  __device__ void put(const View& view, place found, std::uint32_t i) const {
    core::store_once(out + i, std::uint64_t{found} - view.array.first());
  }
};

// The queues of a warp.
template <class View, class Out>
class rmq_warp {
  using value = typename View::value_type;
  using place = typename View::place_type;
  using memory_type = rmq_warp_memory<value, place>;
  static constexpr unsigned all = 0xffff'ffff;

 public:
  __device__ rmq_warp(const View& view, const Out& out, memory_type& memory)
      : view_(view), out_(out), memory_(memory), lane_(threadIdx.x % 32) {}

  // Ranges that wait for the levels.
  __device__ unsigned waiting() const { return waiting_; }

  // Lets the ranges of the threads that say so wait for the levels.
  __device__ void wait(bool waits, place first, place last, std::uint32_t number) {
    const unsigned who = __ballot_sync(all, waits ? 1 : 0);
    if (waits) {
      const unsigned at = waiting_ + before_this(who);
      memory_.first[at] = first;
      memory_.last[at] = last;
      memory_.number[at] = number;
    }
    waiting_ += static_cast<unsigned>(__popc(who));
  }

  // Answers ranges until fewer than 32 wait in each queue; all if `finish`.
  __device__ void answer(bool finish) {
    while (waiting_ >= (finish ? 1U : 32U)) {
      look_above();
      while (ends_ >= 32)
        look_below();
    }
    while (finish && ends_ != 0)
      look_below();
  }

 private:
  // Threads of a set before this one.
  __device__ unsigned before_this(unsigned set) const {
    return static_cast<unsigned>(__popc(set & ((1U << lane_) - 1)));
  }

  // Looks for up to 32 ranges in the levels.
  __device__ void look_above() {
    __syncwarp();
    const unsigned taken = waiting_ < 32 ? waiting_ : 32;
    waiting_ -= taken;
    core::found_minimum<value, place> found;
    value left{};
    value right{};
    place first = 0;
    place last = 0;
    std::uint32_t number = 0;
    bool waits = false;
    if (lane_ < taken) {
      first = memory_.first[waiting_ + lane_];
      last = memory_.last[waiting_ + lane_];
      number = memory_.number[waiting_ + lane_];
      waits = view_.template look_above<Out::where>(first, last, found, left, right) &&
              (found.template could_improve<Out::where>(left, !view_.rightmost) ||
               found.template could_improve<Out::where>(right, view_.rightmost));
      if (!waits) out_.put(view_, found, number);
    }
    const unsigned who = __ballot_sync(all, waits ? 1 : 0);
    if (waits) {
      const unsigned at = ends_ + before_this(who);
      memory_.found[at] = found;
      memory_.left[at] = left;
      memory_.right[at] = right;
      memory_.ends_first[at] = first;
      memory_.ends_last[at] = last;
      memory_.ends_number[at] = number;
    }
    ends_ += static_cast<unsigned>(__popc(who));
  }

  // Looks for up to 32 ranges in the blocks at their ends.
  __device__ void look_below() {
    __syncwarp();
    const unsigned taken = ends_ < 32 ? ends_ : 32;
    ends_ -= taken;
    if (lane_ < taken) {
      const unsigned at = ends_ + lane_;
      core::found_minimum<value, place> found = memory_.found[at];
      view_.template look_below<Out::where>(memory_.ends_first[at], memory_.ends_last[at],
                                            memory_.left[at], memory_.right[at], found);
      out_.put(view_, found, memory_.ends_number[at]);
    }
    __syncwarp();
  }

  const View& view_;
  const Out& out_;
  memory_type& memory_;
  unsigned lane_;
  unsigned waiting_ = 0;
  unsigned ends_ = 0;
};

// What a block keeps in shared memory.
template <class View>
struct rmq_block_memory {
  using layout = core::cover_layout<typename View::place_type>;

  typename layout::table tables[layout::room];
  rmq_warp_memory<typename View::value_type, typename View::place_type>
      warps[rmq_cover_policy::warps];
};

template <class View, class Out>
__global__ void __launch_bounds__(rmq_cover_policy::threads, 4)
    run_rmq_cover(const __grid_constant__ View view,
                  const __grid_constant__ core::range_source ranges, Out out, std::uint32_t size) {
  using value = typename View::value_type;
  using place = typename View::place_type;
  constexpr unsigned ahead = rmq_cover_policy::ahead;
  auto& shared = *reinterpret_cast<rmq_block_memory<View>*>(shared_memory());
  for (unsigned j = threadIdx.x; j < rmq_block_memory<View>::layout::room; j += blockDim.x)
    shared.tables[j] = view.tables.tables[j];
  __syncthreads();

  rmq_warp<View, Out> warp(view, out, shared.warps[threadIdx.x / 32]);
  const unsigned lane = threadIdx.x % 32;
  const std::uint32_t step = gridDim.x * rmq_cover_policy::threads * ahead;
  unsigned rest = 0;  // turns until tables are asked again
  for (std::uint32_t tile = (blockIdx.x * rmq_cover_policy::threads + threadIdx.x - lane) * ahead;
       tile < size; tile += step) {
    const std::uint32_t number = tile + lane;
    place first[ahead];
    place last[ahead];
    bool waits[ahead];
#pragma unroll
    for (unsigned i = 0; i < ahead; ++i) {
      first[i] = last[i] = 0;
      const bool exists = number + i * 32 < size;
      waits[i] = exists && ranges.read(number + i * 32, view.array, first[i], last[i]);
      if (exists && !waits[i]) out.put_none(view, number + i * 32);
    }
    if (rest == 0) {
      core::cover_entry<value, place> one[ahead];
      core::cover_entry<value, place> other[ahead];
      bool covered[ahead];
#pragma unroll
      for (unsigned i = 0; i < ahead; ++i) {
        covered[i] = waits[i] && view.cover.has(first[i], last[i]);
        if (!covered[i]) continue;
        place one_at = 0;
        place other_at = 0;
        view.cover.locate(shared.tables, first[i], last[i], one_at, other_at);
        one[i] = core::load_entry(view.cover.entries + one_at);
        other[i] = core::load_entry(view.cover.entries + other_at);
      }
#pragma unroll
      for (unsigned i = 0; i < ahead; ++i) {
        core::placed_minimum<value, place> found;
        if (!covered[i] || !core::is_inside<Out::where>(one[i], other[i], view.rightmost, first[i],
                                                        last[i], found))
          continue;
        out.put(view, found, number + i * 32);
        waits[i] = false;
      }
    }
    const unsigned before = warp.waiting();
#pragma unroll
    for (unsigned i = 0; i < ahead; ++i)
      warp.wait(waits[i], first[i], last[i], number + i * 32);
    if (rest != 0) {
      --rest;
    } else if ((32 * ahead + before - warp.waiting()) * rmq_cover_policy::rare < 32 * ahead) {
      rest = rmq_cover_policy::patience;
    }
    warp.answer(false);
  }
  warp.answer(true);
}

template <class Value, class Place, class Out>
void answer_by_covers(const context& where, const core::rmq_cover_view<Value, Place>& view,
                      const core::range_source& ranges, const Out& out, std::uint64_t size) {
  using view_type = core::rmq_cover_view<Value, Place>;
  const auto kernel = run_rmq_cover<view_type, Out>;
  constexpr std::size_t bytes = sizeof(rmq_block_memory<view_type>);
  constexpr std::uint64_t per_block =
      std::uint64_t{rmq_cover_policy::threads} * rmq_cover_policy::ahead;
  const std::uint64_t resident = resident_blocks(kernel, rmq_cover_policy::threads, bytes);
  leave_l1(kernel, rmq_cover_policy::threads, bytes, 1024);
  constexpr std::uint64_t most = std::uint64_t{1} << 30;  // numbers have 32 bits in a launch
  for (std::uint64_t begin = 0; begin < size; begin += most) {
    const std::uint64_t count = std::min(most, size - begin);
    launch(where.stream, std::min(blocks_for(count, per_block), resident),
           rmq_cover_policy::threads, bytes, kernel, view, ranges.from(begin), Out{out.out + begin},
           static_cast<std::uint32_t>(count));
  }
}

// Writes a level from the packs of the level below: neighbouring threads read neighbouring packs,
// and those of a block reduce what they read.
template <class Value, class Place>
__global__ void __launch_bounds__(rmq_cover_policy::threads)
    run_put_level(const __grid_constant__ core::put_block_minimum<Value, Place> put,
                  std::uint64_t packs, std::uint64_t readable, unsigned lane_bits) {
  using pack = core::value_pack<Value>;
  constexpr unsigned each = rmq_cover_policy::packs;
  const std::uint64_t begin =
      std::uint64_t{blockIdx.x} * rmq_cover_policy::threads * each + threadIdx.x;
  pack read[each];
#pragma unroll
  for (unsigned j = 0; j < each; ++j) {
    const std::uint64_t number = begin + j * rmq_cover_policy::threads;
    if (number < readable) {
      read[j] = put.read(number);
    } else {
#pragma unroll
      for (unsigned i = 0; i < pack::size; ++i)
        read[j].at[i] = core::last_value<Value>();
    }
  }
  const unsigned lanes = 1U << lane_bits;
  const unsigned lane = threadIdx.x % 32;
  const unsigned group = lane & ~(lanes - 1);  // its first lane
#pragma unroll
  for (unsigned j = 0; j < each; ++j) {
    Value least = read[j].at[0];
#pragma unroll
    for (unsigned i = 1; i < pack::size; ++i)
      least = core::smaller(least, read[j].at[i]);
    for (unsigned step = 1; step < lanes; step *= 2)
      least = core::smaller(least, __shfl_xor_sync(0xffff'ffff, least, static_cast<int>(step)));
    // Which of the block's values it is: the first or last one that is equal.
    unsigned equal = 0;
#pragma unroll
    for (unsigned i = 0; i < pack::size; ++i) {
      const bool is_it = read[j].at[i] <= least || core::is_nan(least);
      equal |= is_it ? 1U << i : 0;
    }
    const unsigned have =
        __ballot_sync(0xffff'ffff, equal != 0 ? 1 : 0) >> group & (0xffff'ffff >> (32 - lanes));
    const bool rightmost = put.below.rightmost;
    const unsigned who = group + (rightmost ? core::floor_log2(have) : core::first_bit(have));
    const std::uint64_t number = begin + j * rmq_cover_policy::threads;
    if (lane == who && number < packs) {
      const unsigned i = rightmost ? core::floor_log2(equal) : core::first_bit(equal);
      put.put(number >> lane_bits, least, number * pack::size + i);
    }
  }
}

// What `rmq_cover` does in kernels of its own.
struct rmq_cover_executor : rmq_executor {
  template <class Value, class Place>
  static void minimum(const context& where, const core::rmq_cover_view<Value, Place>& view,
                      const core::range_source& ranges, Value* out, std::uint64_t size) {
    using out_type = rmq_minima_out<core::rmq_cover_view<Value, Place>>;
    answer_by_covers(where, view, ranges, out_type{out}, size);
  }
  template <class Value, class Place>
  static void position(const context& where, const core::rmq_cover_view<Value, Place>& view,
                       const core::range_source& ranges, std::uint64_t* out, std::uint64_t size) {
    using out_type = rmq_positions_out<core::rmq_cover_view<Value, Place>>;
    answer_by_covers(where, view, ranges, out_type{out}, size);
  }

  template <class Value, class Place>
  static void put_level(const context& where, const core::put_block_minimum<Value, Place>& put) {
    constexpr unsigned size = core::value_pack<Value>::size;
    const core::level_layout& layout = put.below.layout;
    const unsigned lane_bits = layout.shift(put.level) - layout.shift(put.level - 1) -
                               core::floor_log2(std::uint32_t{size});
    const std::uint64_t packs = layout.padded_entries(put.level) << lane_bits;
    const std::uint64_t readable =
        put.level == 1 ? packs : layout.padded_entries(put.level - 1) / size;
    launch(where.stream, blocks_for(packs, rmq_cover_policy::threads * rmq_cover_policy::packs),
           rmq_cover_policy::threads, 0, run_put_level<Value, Place>, put, packs, readable,
           lane_bits);
  }
};

}  // namespace raydex::cuda
