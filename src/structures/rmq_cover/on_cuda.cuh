// SPDX-License-Identifier: Apache-2.0
// The kernels of `rmq_cover`.
//
// A warp answers ranges from the tables, each of its threads some at once. Ranges that these do not
// answer wait in a queue of the warp until each of its threads has one to look for in the levels.
// Of these, the ones for which values of the array have to be read wait in a second queue, for the
// same reason: the threads of a warp always do the same thing.
#pragma once

#include <cuda_runtime.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "raydex/core/minima/rmq_cover.hpp"
#include "src/machines/cuda/executor.cuh"
#include "src/machines/cuda/launch.cuh"
#include "src/structures/rmq_cover/rmq_cover.hpp"

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

// A range that waits, and its number in the batch.
template <class Place>
struct rmq_range {
  Place first;
  Place last;
  std::uint32_t number;
};

// Room in shared memory for ranges of a warp that wait.
template <class Place, unsigned Size>
struct rmq_queue_memory {
  Place first[Size];
  Place last[Size];
  std::uint32_t number[Size];
};

// Ranges that wait.
template <class Memory>
class rmq_queue {
 public:
  using range = rmq_range<std::remove_reference_t<decltype(Memory::first[0])>>;

  __device__ explicit rmq_queue(Memory& room) : room_(room) {}

  __device__ unsigned size() const { return size_; }

  // Adds the ranges of the threads that say so. Where this thread's is.
  __device__ unsigned add(bool waits, const range& added) {
    const unsigned who = __ballot_sync(all, waits ? 1 : 0);
    const unsigned before = who & ((1U << threadIdx.x % 32) - 1);
    const unsigned at = size_ + static_cast<unsigned>(__popc(before));
    if (waits) {
      room_.first[at] = added.first;
      room_.last[at] = added.last;
      room_.number[at] = added.number;
    }
    size_ += static_cast<unsigned>(__popc(who));
    return at;
  }

  // Takes up to 32 ranges, one for each thread: whether there is one for this, and where.
  __device__ bool take(unsigned& at) {
    __syncwarp();
    const unsigned taken = size_ < 32 ? size_ : 32;
    size_ -= taken;
    at = size_ + threadIdx.x % 32;
    return threadIdx.x % 32 < taken;
  }
  __device__ range operator[](unsigned at) const {
    return {room_.first[at], room_.last[at], room_.number[at]};
  }

 private:
  static constexpr unsigned all = 0xffff'ffff;

  Memory& room_;
  unsigned size_ = 0;
};

// What a warp keeps in shared memory.
template <bool Placed, class Value, class Place>
struct rmq_warp_memory {
  // Fewer than 32 are left in a queue before more are added.
  using above_memory = rmq_queue_memory<Place, 31 + 32 * rmq_cover_policy::ahead>;
  static constexpr unsigned ends_size = 31 + 32;
  using ends_memory = rmq_queue_memory<Place, ends_size>;

  above_memory above;
  ends_memory ends;
  // Of those that wait for values at their ends.
  core::found_minimum<Placed, Value, Place> found[ends_size];
  Value left[ends_size];
  Value right[ends_size];
};

// A warp as it looks for ranges in the levels.
template <class View, class Wanted>
class rmq_warp {
  using value = typename View::value_type;
  using place = typename View::place_type;
  using found_type = core::found_minimum<Wanted::placed, value, place>;
  using memory_type = rmq_warp_memory<Wanted::placed, value, place>;

 public:
  __device__ rmq_warp(const answer_range<View, Wanted>& answer, memory_type& memory)
      : view_(answer.view),
        answer_(answer),
        memory_(memory),
        above_(memory.above),
        ends_(memory.ends) {}

  // Ranges that wait for the levels.
  __device__ unsigned waiting() const { return above_.size(); }

  // Lets the ranges of the threads that say so wait for the levels.
  __device__ void wait(bool waits, const rmq_range<place>& range) { above_.add(waits, range); }

  // Answers ranges until fewer than 32 wait in each queue; all if `finish`.
  __device__ void answer(bool finish) {
    const unsigned enough = finish ? 1 : 32;
    while (true) {
      if (ends_.size() >= 32) {
        look_below();
      } else if (above_.size() >= enough) {
        look_above();
      } else if (ends_.size() >= enough) {
        look_below();
      } else {
        break;
      }
    }
  }

 private:
  // Looks for ranges in the levels.
  __device__ void look_above() {
    unsigned at = 0;
    const bool has_one = above_.take(at);
    found_type found;
    value left{};
    value right{};
    rmq_range<place> range{};
    bool waits = false;
    if (has_one) {
      range = above_[at];
      waits = view_.look_above(range.first, range.last, found, left, right);
      if (!waits) put(range.number, found);
    }
    const unsigned to = ends_.add(waits, range);
    if (!waits) return;
    memory_.found[to] = found;
    memory_.left[to] = left;
    memory_.right[to] = right;
  }

  // Looks for ranges in the blocks at their ends.
  __device__ void look_below() {
    unsigned at = 0;
    if (ends_.take(at)) {
      const rmq_range<place> range = ends_[at];
      found_type found = memory_.found[at];
      view_.look_below(range.first, range.last, memory_.left[at], memory_.right[at], found);
      put(range.number, found);
    }
    __syncwarp();
  }

  __device__ void put(std::uint32_t number, const found_type& found) const {
    answer_.put(number, true, Wanted::taken_from(view_.placed(found)));
  }

  const View& view_;
  const answer_range<View, Wanted>& answer_;
  memory_type& memory_;
  rmq_queue<typename memory_type::above_memory> above_;
  rmq_queue<typename memory_type::ends_memory> ends_;
};

// What a block keeps in shared memory.
template <bool Placed, class View>
struct rmq_block_memory {
  using layout = core::cover_layout<typename View::place_type>;

  typename layout::table tables[layout::room];
  rmq_warp_memory<Placed, typename View::value_type, typename View::place_type>
      warps[rmq_cover_policy::warps];
};

template <class View, class Wanted>
__global__ void __launch_bounds__(rmq_cover_policy::threads, 4)
    run_rmq_cover(const __grid_constant__ answer_range<View, Wanted> answer, std::uint32_t size) {
  const View& view = answer.view;
  using value = typename View::value_type;
  using place = typename View::place_type;
  constexpr unsigned ahead = rmq_cover_policy::ahead;
  using memory_type = rmq_block_memory<Wanted::placed, View>;
  auto& shared = *reinterpret_cast<memory_type*>(shared_memory());
  for (unsigned j = threadIdx.x; j < memory_type::layout::room; j += blockDim.x)
    shared.tables[j] = view.tables.tables[j];
  __syncthreads();

  rmq_warp<View, Wanted> queues(answer, shared.warps[threadIdx.x / 32]);
  const unsigned lane = threadIdx.x % 32;
  const std::uint32_t step = gridDim.x * rmq_cover_policy::threads * ahead;
  unsigned rest = 0;  // rounds until tables are read again
  for (std::uint32_t tile = (blockIdx.x * rmq_cover_policy::threads + threadIdx.x - lane) * ahead;
       tile < size; tile += step) {
    rmq_range<place> range[ahead];
    bool waits[ahead];
#pragma unroll
    for (unsigned i = 0; i < ahead; ++i) {
      range[i] = {0, 0, tile + lane + i * 32};
      const bool exists = range[i].number < size;
      waits[i] =
          exists && answer.ranges.read(range[i].number, view.array, range[i].first, range[i].last);
      if (exists && !waits[i]) answer.put(range[i].number, false, {});
    }
    if (rest == 0) {
      core::cover_entry<value, place> one[ahead];
      core::cover_entry<value, place> other[ahead];
      bool covered[ahead];
#pragma unroll
      for (unsigned i = 0; i < ahead; ++i) {
        covered[i] = waits[i] && view.cover.has(range[i].first, range[i].last);
        if (!covered[i]) continue;
        place one_at = 0;
        place other_at = 0;
        view.cover.locate(shared.tables, range[i].first, range[i].last, one_at, other_at);
        one[i] = core::load_whole(view.cover.entries + one_at);
        other[i] = core::load_whole(view.cover.entries + other_at);
      }
#pragma unroll
      for (unsigned i = 0; i < ahead; ++i) {
        core::placed_minimum<value, place> found;
        if (!covered[i] || !core::is_inside<Wanted::placed>(one[i], other[i], view.rightmost,
                                                            range[i].first, range[i].last, found))
          continue;
        answer.put(range[i].number, true, Wanted::taken_from(found));
        waits[i] = false;
      }
    }
    const unsigned before = queues.waiting();
#pragma unroll
    for (unsigned i = 0; i < ahead; ++i)
      queues.wait(waits[i], range[i]);
    if (rest != 0) {
      --rest;
    } else if ((32 * ahead + before - queues.waiting()) * rmq_cover_policy::rare < 32 * ahead) {
      rest = rmq_cover_policy::patience;
    }
    queues.answer(false);
  }
  queues.answer(true);
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

// Writes what the entries of a level tell of those beside them: a warp takes a block, each of its
// threads an entry.
template <class Value, class Place>
__global__ void __launch_bounds__(rmq_cover_policy::threads)
    run_put_parts(const __grid_constant__ core::put_parts<Value, Place> put, std::uint64_t size) {
  constexpr unsigned all = 0xffff'ffff;
  const std::uint64_t e = global_thread();
  if (e >= size) return;
  const core::minima_levels<Value, Place>& levels = put.levels;
  const Value own = core::load(levels.minima + levels.layout.begin[put.level] + e);
  const unsigned lane = threadIdx.x % 32;
  // The least of this entry and those on one side of it, then that of its neighbour.
  for (unsigned side = 0; side < 2; ++side) {
    Value value = own;
    unsigned least = lane;
    for (unsigned step = 1; step < 32; step *= 2) {
      const unsigned from = side == 0 ? lane + step : lane - step;
      const Value other = __shfl_sync(all, value, static_cast<int>(from));
      const unsigned which = __shfl_sync(all, least, static_cast<int>(from));
      if (from >= 32) continue;
      const bool is_better = side == 0 ? put.is_better(other, value) : !put.is_better(value, other);
      if (is_better) {
        value = other;
        least = which;
      }
    }
    const unsigned beside = side == 0 ? lane + 1 : lane - 1;
    value = __shfl_sync(all, value, static_cast<int>(beside));
    least = __shfl_sync(all, least, static_cast<int>(beside));
    put.put_side(side, e, own, least, value, beside < 32);
  }
  if (put.level == 1) return;
  // The first entry after this one that is better.
  unsigned better = 32;
  for (unsigned i = 32; i-- > 0;) {
    const Value other = __shfl_sync(all, own, static_cast<int>(i));
    if (i > lane && put.is_better(other, own)) better = i;
  }
  std::uint32_t mask = 0;
  for (unsigned i = 0; i < 32; ++i) {
    const unsigned open = __ballot_sync(all, lane <= i && better > i ? 1 : 0);
    if (i == lane) mask = open;
  }
  put.put_mask(e, mask);
}

template <class Value, class Place>
__global__ void __launch_bounds__(rmq_cover_policy::threads)
    run_put_first_cover(const __grid_constant__ core::put_first_cover<Value, Place> put) {
  put(block_group<rmq_cover_policy::threads>{}, shared_memory(), blockIdx.x);
}

// Calls f for the block of 2^shift places that a changed one is in, if that is in the array.
template <class Function>
struct rmq_block_call {
  changed_places changed;
  unsigned shift;
  Function f;
  __device__ void operator()(std::uint64_t i) const {
    const std::uint64_t place = changed(i);
    if (place != changed_places::none) f(place >> shift);
  }
};

// What `rmq_cover` does in kernels of its own.
struct rmq_cover_executor : executor {
  template <class Wanted, class Value, class Place>
  static void answer(const context& on, const core::rmq_cover_view<Value, Place>& view,
                     const core::range_source& ranges, typename Wanted::result* out,
                     std::uint64_t size) {
    using view_type = core::rmq_cover_view<Value, Place>;
    constexpr unsigned threads = rmq_cover_policy::threads;
    constexpr std::size_t bytes = sizeof(rmq_block_memory<Wanted::placed, view_type>);
    constexpr std::uint64_t per_block = std::uint64_t{threads} * rmq_cover_policy::ahead;
    constexpr std::uint64_t most = std::uint64_t{1} << 30;  // numbers have 32 bits in a launch
    const auto kernel = run_rmq_cover<view_type, Wanted>;
    const std::uint64_t resident = resident_blocks(kernel, threads, bytes);
    leave_l1(kernel, threads, bytes, 1024);
    for (std::uint64_t begin = 0; begin < size; begin += most) {
      const std::uint64_t count = std::min(most, size - begin);
      launch(on.stream, std::min(blocks_for(count, per_block), resident), threads, bytes, kernel,
             answer_range<view_type, Wanted>{view, ranges.from(begin), out + begin},
             static_cast<std::uint32_t>(count));
    }
  }

  // A change reads a block of the array and writes its minimum, and then the same a level higher,
  // all out of order: on an H200 this takes the time of 38 entries that are written in order.
  static constexpr std::uint64_t entries_per_change = 32;

  // Calls f for each place: all that are in a block write the same.
  class changed_blocks {
   public:
    changed_blocks(const context& /*on*/, const changed_places& changed) : changed_(changed) {}

    template <class Function>
    void for_each(const context& on, unsigned shift, const Function& f) const {
      executor::for_each_alone(on, rmq_block_call<Function>{changed_, shift, f}, changed_.size);
    }

   private:
    changed_places changed_;
  };

  template <class Value, class Place>
  static void put_parts(const context& on, const core::put_parts<Value, Place>& put) {
    const std::uint64_t size = put.levels.layout.padded_entries(put.level);
    launch(on.stream, blocks_for(size, rmq_cover_policy::threads), rmq_cover_policy::threads, 0,
           run_put_parts<Value, Place>, put, size);
  }
  template <class Value, class Place>
  static void put_first_cover(const context& on, const core::put_first_cover<Value, Place>& put) {
    static_assert(core::put_first_cover<Value, Place>::tile == rmq_cover_policy::threads);
    launch(on.stream, put.tiles(), rmq_cover_policy::threads, put.scratch_bytes(),
           run_put_first_cover<Value, Place>, put);
  }
  template <class Value, class Place>
  static void put_level(const context& on, const core::put_block_minimum<Value, Place>& put) {
    constexpr unsigned size = core::value_pack<Value>::size;
    const core::level_layout& layout = put.below.layout;
    const unsigned lane_bits = layout.shift(put.level) - layout.shift(put.level - 1) -
                               core::floor_log2(std::uint32_t{size});
    const std::uint64_t packs = layout.padded_entries(put.level) << lane_bits;
    const std::uint64_t readable =
        put.level == 1 ? packs : layout.padded_entries(put.level - 1) / size;
    launch(on.stream, blocks_for(packs, rmq_cover_policy::threads * rmq_cover_policy::packs),
           rmq_cover_policy::threads, 0, run_put_level<Value, Place>, put, packs, readable,
           lane_bits);
  }
};
static_assert(raydex::cover_executor<rmq_cover_executor>, "kernels must make levels and tables");

}  // namespace raydex::cuda
