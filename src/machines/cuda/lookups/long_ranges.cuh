// SPDX-License-Identifier: Apache-2.0
// Batches whose matches are spread unevenly. The kernel that finds a range too long for a warp puts
// it on a list; a second one divides the matches of all listed ranges evenly among its warps.
// Nothing is asked of the host. A batch without long ranges pays for the clearing of a few counters
// and for a launch whose blocks read these and end.
#pragma once

#include <cuda_runtime.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "raydex/core/keys/sum.hpp"
#include "raydex/core/lookups/lookup.hpp"
#include "raydex/core/lookups/ordered_view.hpp"
#include "raydex/core/lookups/sorted_array.hpp"
#include "src/machines/cuda/launch.cuh"
#include "src/machines/cuda/warp.cuh"

namespace raydex::cuda {

struct long_policy {
  static constexpr unsigned threads = 1024;  // a block on each multiprocessor
  static constexpr unsigned warps = threads / warp;
  // Ranges are listed by their length, each class being eight times as long as the one before. A
  // class that is full is more work for the device than any other range of it is for a warp. A
  // batch all of whose ranges find room in one class has no other.
  static constexpr unsigned classes = 7;
  static constexpr unsigned class_bits = 3;
  static constexpr std::uint64_t capacity = 1 << 14;       // ranges of a class
  static constexpr std::uint64_t only_capacity = 1 << 16;  // of the only one
  static constexpr unsigned unit = 64;                     // matches, in which work is counted
  static constexpr unsigned uncut = 32;       // units of the longest range that is never cut
  static constexpr unsigned least_units = 4;  // of a warp
  // Matches of the shortest range that is listed. Batches of few probes, which leave threads of the
  // device idle, have more listed.
  static constexpr std::uint32_t least = 2048;
  static constexpr std::uint64_t few = 1 << 14;
  static constexpr std::uint32_t least_of_few = 64;
};

struct long_range {
  std::uint64_t probe;
  std::uint64_t first;  // the first of its units among those of its class
  std::uint64_t begin;  // rank
  std::uint64_t length;

  RAYDEX_HD std::uint64_t units() const {
    return (length + (long_policy::unit - 1)) / long_policy::unit;
  }
};

// Adds up over the lanes up to this one.
__device__ inline std::uint64_t sum_up_to_lane(std::uint64_t number) {
  for (unsigned distance = 1; distance < warp; distance *= 2) {
    const bool has = lane_of_warp() >= distance;
    const std::uint64_t other = from_lane(number, lane_of_warp() - (has ? distance : 0));
    number += has ? other : 0;
  }
  return number;
}

// The list, in device memory.
struct long_ranges {
  // How many ranges were put into a class, and above these bits how many units they have. It may
  // be more than there is room for; what is before a range that found room is right even then.
  static constexpr unsigned count_bits = 20;
  static constexpr std::uint64_t count_mask = (std::uint64_t{1} << count_bits) - 1;

  unsigned long long* counters = nullptr;  // one a class; null: nothing is listed
  long_range* ranges = nullptr;            // `capacity` of each class
  std::uint32_t capacity = 0;
  std::uint32_t least = 0;
  std::uint32_t classes = long_policy::classes;

  // Lists ranges that are too long for a warp; whether this lane's was. All lanes of a warp ask.
  template <class Rank>
  __device__ bool take(std::uint64_t probe, Rank begin, Rank length) const {
    if (counters == nullptr) return false;
    const unsigned longer = __ballot_sync(all_lanes, length >= least ? 1 : 0);
    return longer != 0 && put(longer, probe, begin, length);
  }

  // How many ranges of a class found room.
  __device__ std::uint32_t count(unsigned number) const {
    const std::uint64_t put = counters[number] & count_mask;
    return put < capacity ? static_cast<std::uint32_t>(put) : capacity;
  }
  // Their units.
  __device__ std::uint64_t units(unsigned number) const {
    const std::uint64_t counter = counters[number];
    if ((counter & count_mask) <= capacity) return counter >> count_bits;
    const long_range& last = ranges[std::uint64_t{number} * capacity + (capacity - 1)];
    return last.first + last.units();
  }

 private:
  // Puts the ranges of some lanes; whether this lane's found room.
  __device__ bool put(unsigned left, std::uint64_t probe, std::uint64_t begin,
                      std::uint64_t length) const {
    bool taken = false;
    while (left != 0) {  // a class at a time
      const long_range own{probe, 0, begin, length};
      const unsigned own_class = class_of(length);
      const auto leader = static_cast<unsigned>(__ffs(static_cast<int>(left)) - 1);
      const unsigned listed = from_lane(own_class, leader);
      const bool joins = (left >> lane_of_warp() & 1) != 0 && own_class == listed;
      const unsigned joining = __ballot_sync(all_lanes, joins ? 1 : 0);
      left &= ~joining;
      const std::uint64_t units = joins ? own.units() : 0;
      const std::uint64_t up_to = sum_up_to_lane(units);
      const std::uint64_t all = from_lane(up_to, warp - 1);
      std::uint64_t before = 0;
      if (lane_of_warp() == leader) {
        // What is full is left alone, lest the count overflow.
        before = *static_cast<volatile unsigned long long*>(counters + listed);
        if ((before & count_mask) < capacity) {
          before = atomicAdd(counters + listed,
                             static_cast<unsigned long long>(
                                 all << count_bits | static_cast<unsigned>(__popc(joining))));
        }
      }
      before = from_lane(before, leader);
      const std::uint64_t place =
          (before & count_mask) +
          static_cast<unsigned>(__popc(joining & ((1U << lane_of_warp()) - 1)));
      if (joins && place < capacity) {
        ranges[std::uint64_t{listed} * capacity + place] = {
            probe, (before >> count_bits) + (up_to - units), begin, length};
        taken = true;
      }
    }
    return taken;
  }

  __device__ unsigned class_of(std::uint64_t length) const {
    unsigned found = 0;
    for (std::uint64_t most = std::uint64_t{least} << long_policy::class_bits;
         found + 1 < classes && length >= most; most <<= long_policy::class_bits)
      ++found;
    return found;
  }
};

// Goes from a unit of the list on, from range to range. A warp's lanes move together; each knows
// one of the classes.
class long_cursor {
 public:
  __device__ explicit long_cursor(const long_ranges& list) : list_(&list) {
    if (lane_of_warp() < list.classes) {
      own_count_ = list.count(lane_of_warp());
      own_units_ = list.units(lane_of_warp());
    }
    own_end_ = sum_up_to_lane(own_units_);
  }
  // Units of all ranges.
  __device__ std::uint64_t units() const { return from_lane(own_end_, warp - 1); }

  // Goes to the range that has a unit.
  __device__ void go_to(std::uint64_t unit) {
    enter(lane_of(unit < own_end_ && unit >= own_end_ - own_units_));
    // The last range that begins at the unit or before it: a 32nd of what is left at a time.
    std::uint32_t end = count_;
    while (end - place_ > 1) {
      const std::uint32_t step = (end - place_ + (warp - 1)) / warp;
      const std::uint32_t own = place_ + lane_of_warp() * step;
      const bool begun = own < end && before_ + at(own).first <= unit;
      const auto last =
          static_cast<std::uint32_t>(__popc(__ballot_sync(all_lanes, begun ? 1 : 0)) - 1);
      place_ += last * step;
      end = place_ + step < end ? place_ + step : end;
    }
  }
  // To the next range, which must exist.
  __device__ void operator++() {
    if (++place_ == count_) enter(lane_of(lane_of_warp() > class_ && own_count_ != 0));
  }
  __device__ const long_range& operator*() const { return at(place_); }
  // The first unit of its range, of all units.
  __device__ std::uint64_t first_unit() const { return before_ + at(place_).first; }

 private:
  // The first lane with a flag; there is one.
  __device__ static unsigned lane_of(bool flag) {
    return static_cast<unsigned>(__ffs(static_cast<int>(__ballot_sync(all_lanes, flag ? 1 : 0))) -
                                 1);
  }
  __device__ void enter(unsigned number) {
    class_ = number;
    place_ = 0;
    count_ = from_lane(own_count_, number);
    before_ = from_lane(own_end_ - own_units_, number);
  }
  __device__ const long_range& at(std::uint32_t place) const {
    return list_->ranges[std::uint64_t{class_} * list_->capacity + place];
  }

  const long_ranges* list_;
  std::uint32_t own_count_ = 0;
  std::uint64_t own_units_ = 0;
  std::uint64_t own_end_ = 0;  // units of the classes up to this lane's
  unsigned class_ = 0;
  std::uint64_t before_ = 0;  // units of the classes before
  std::uint32_t count_ = 0;
  std::uint32_t place_ = 0;
};

// What is left of a share of the work when its whole ranges are answered: the part of a range that
// began before it, and of one that goes on after it.
template <class Partial>
struct open_ends {
  Partial head;
  Partial tail;
  std::uint64_t head_probe = 0;
  bool has_head = false;
  bool head_ends = false;  // in this share
  bool has_tail = false;
};

// Puts the open ends of consecutive shares together, in their order, and finishes what both begins
// and ends in them. Returns what is open of them all. By one warp.
template <class Operation>
__device__ auto close_ends(const Operation& operation,
                           const open_ends<typename Operation::partial>* shares, unsigned count) {
  using partial = typename Operation::partial;
  using ends = open_ends<partial>;
  const unsigned lane = lane_of_warp();
  const auto joined = [](partial first, const partial& second) {
    first.merge(second);
    return first;
  };
  ends all;
  partial carried;
  bool begun = false;   // whether what is carried began in one of the shares
  bool passing = true;  // whether it is still what came from before them all
  for (unsigned base = 0; base < count; base += warp) {
    ends own;
    const bool exists = base + lane < count;
    if (exists) own = shares[base + lane];
    // What goes on after each share; `through` if it came from the one before.
    partial onward = own.has_tail ? own.tail : partial{};
    bool onward_begun = own.has_tail;
    bool through = !exists || (own.has_head && !own.head_ends);
    if (exists && through) onward = own.head;
    for (unsigned distance = 1; distance < warp; distance *= 2) {
      const unsigned from = lane >= distance ? lane - distance : lane;
      const partial other = from_lane(onward, from);
      const bool other_begun = from_lane(onward_begun, from);
      const bool other_through = from_lane(through, from);
      if (lane < distance || !through) continue;
      onward = joined(other, onward);
      onward_begun = other_begun;
      through = other_through;
    }
    if (through) {
      onward = joined(carried, onward);
      onward_begun = begun;
    }
    const unsigned before = lane == 0 ? 0 : lane - 1;
    partial came = from_lane(onward, before);
    bool came_begun = from_lane(onward_begun, before);
    if (lane == 0) {
      came = carried;
      came_begun = begun;
    }
    const bool closes = own.has_head && own.head_ends;
    if (closes) own.head = joined(came, own.head);
    if (closes && came_begun)
      operation.finish({own.head_probe, own.head_probe}, own.head, operation.out);
    const unsigned first = __ballot_sync(all_lanes, closes && !came_begun ? 1 : 0);
    if (first != 0) {
      const auto source = static_cast<unsigned>(__ffs(static_cast<int>(first)) - 1);
      all.head = from_lane(own.head, source);
      all.head_probe = from_lane(own.head_probe, source);
      all.has_head = all.head_ends = true;
    }
    carried = from_lane(onward, warp - 1);
    begun = from_lane(onward_begun, warp - 1);
    passing = passing && from_lane(through, warp - 1);
  }
  if (begun) {
    all.tail = carried;
    all.has_tail = true;
  } else if (passing) {
    all.head = carried;
    all.has_head = true;
  }
  return all;
}

// Whether an operation copies the row ids of matches that lie side by side.
template <class Operation>
concept copies_rows = requires(const Operation& operation, std::uint64_t probe) {
  operation.count(probe);
  operation.view.entries();
};

// Copies the row ids of ranks from `begin` on, by the lanes of a warp.
template <class View, class Rank, class Out>
__device__ void copy_rows(const View& view, Rank begin, std::uint64_t count, Out* out) {
  constexpr unsigned at_once = 4;  // reads of a lane
  for (std::uint64_t k = lane_of_warp(); k < count; k += at_once * warp) {
    typename View::row_id_type rows[at_once] = {};
    RAYDEX_UNROLL
    for (unsigned j = 0; j < at_once; ++j)
      if (k + j * warp < count) rows[j] = view.row_id(static_cast<Rank>(begin + k + j * warp));
    RAYDEX_UNROLL
    for (unsigned j = 0; j < at_once; ++j)
      if (k + j * warp < count) core::store_once(out + k + j * warp, rows[j]);
  }
}

// Part of a range, [from, to) of its matches, by the lanes of a warp. What it comes to is in lane
// 0.
template <class Operation>
__device__ auto scan_part(const Operation& operation, const long_range& range, std::uint64_t from,
                          std::uint64_t to) {
  using rank = typename decltype(Operation::view)::row_id_type;
  typename Operation::partial part;
  if constexpr (copies_rows<Operation>) {
    copy_rows(operation.view, static_cast<rank>(range.begin + from), to - from,
              operation.out + core::load(operation.offsets + range.probe) + from);
    return part;
  }
  const core::ticket own{range.probe, range.probe};
  const auto first = static_cast<rank>(range.begin + from);
  const auto last = static_cast<rank>(range.begin + to);
  const auto add = [&](std::uint64_t k, auto row) {
    operation.add(part, own, from + k, row, operation.out);
  };
  if constexpr (core::over_entries<decltype(operation.view)>) {
    core::scan_ranks<4>(operation.view.entries(), operation.view.size(), first, last,
                        lane_of_warp(), warp, add);
  } else {
    operation.view.scan(first, last, lane_of_warp(), warp, add);
  }
  if constexpr (!std::is_empty_v<decltype(part)>) {
    for (unsigned distance = warp / 2; distance > 0; distance /= 2)
      part.merge(from_partner(part, distance));
  }
  return part;
}

template <class Operation>
__global__ void __launch_bounds__(long_policy::threads, 1)
    answer_listed(const __grid_constant__ Operation operation, const long_ranges list,
                  open_ends<typename Operation::partial>* of_blocks, unsigned* blocks_done) {
  using policy = long_policy;
  using partial = typename Operation::partial;
  constexpr bool has_parts = !std::is_empty_v<partial>;
  long_cursor at(list);
  const std::uint64_t units = at.units();
  if (units == 0) return;
  const std::uint64_t shares = std::uint64_t{gridDim.x} * policy::warps;
  std::uint64_t share = (units + shares - 1) / shares;
  if (share < policy::least_units) share = policy::least_units;
  const std::uint64_t begin = global_thread() / warp * share;
  const std::uint64_t end = begin + share < units ? begin + share : units;

  auto* const of_warps = reinterpret_cast<open_ends<partial>*>(shared_memory());
  auto& open = of_warps[threadIdx.x / warp];
  if (has_parts && lane_of_warp() == 0) open = {};
  if (begin < end) {
    at.go_to(begin);
    for (std::uint64_t unit = begin;;) {
      const long_range range = *at;
      const std::uint64_t first = at.first_unit();
      const std::uint64_t last = first + range.units();
      // Short ones belong to whom they begin with.
      const bool whole = range.units() <= policy::uncut;
      if (!whole || unit == first) {
        const std::uint64_t from = (unit - first) * policy::unit;
        const std::uint64_t to = whole || last <= end ? range.length : (end - first) * policy::unit;
        const partial part = scan_part(operation, range, from, to);
        const bool ends = to == range.length;
        if (has_parts && lane_of_warp() == 0) {
          if (from != 0) {
            open.head = part;
            open.head_probe = range.probe;
            open.has_head = true;
            open.head_ends = ends;
          } else if (!ends) {
            open.tail = part;
            open.has_tail = true;
          } else {
            operation.finish({range.probe, range.probe}, part, operation.out);
          }
        }
      }
      unit = last;
      if (unit >= end) break;
      ++at;
    }
  }
  if constexpr (has_parts) {
    __syncthreads();
    if (threadIdx.x >= warp) return;
    const open_ends<partial> of_block = close_ends(operation, of_warps, policy::warps);
    unsigned done = 0;
    if (threadIdx.x == 0) {
      of_blocks[blockIdx.x] = of_block;
      __threadfence();
      done = atomicAdd(blocks_done, 1U);
    }
    // The last block has all before it.
    if (from_lane(done, 0) + 1 != gridDim.x) return;
    __threadfence();
    close_ends(operation, of_blocks, gridDim.x);
  }
}

// Whether matches of a batch may be divided: an operation visits them, and any part of a range can
// be visited by itself.
template <class Operation>
concept divisible = requires {
  typename Operation::partial;
  requires core::addressed<std::remove_const_t<decltype(Operation::view)>>;
};

// The memory of a list, and how many blocks answer what is on it.
struct long_list {
  long_ranges ranges;
  std::byte* of_blocks = nullptr;   // room for the open ends of each block
  unsigned* blocks_done = nullptr;  // 0 at first
  unsigned blocks = 0;
};

// Answers what is listed.
template <class Operation>
void answer_list(const context& on, const Operation& operation, const long_list& list) {
  using ends = open_ends<typename Operation::partial>;
  launch(on.stream, list.blocks, long_policy::threads, long_policy::warps * sizeof(ends),
         answer_listed<Operation>, operation, list.ranges, reinterpret_cast<ends*>(list.of_blocks),
         list.blocks_done);
}

// The same over entries that lie side by side, whatever is above them. Keys are not read, so that
// their width does not matter where they lie apart. Defined in compiled_once.cu, which
// instantiates it for a library.
template <class Entries>
struct listed_entries {
  using view = core::sorted_array_view<Entries>;
  static void answer(const context& on, const core::first_rows<view>& operation,
                     const long_list& list);
  static void answer(const context& on, const core::sum_rows<view, core::integer_sum>& operation,
                     const long_list& list);
  static void answer(const context& on, const core::sum_rows<view, core::floating_sum>& operation,
                     const long_list& list);
  static void answer(const context& on, const core::list_rows<view>& operation,
                     const long_list& list);
};

// What is listed while a batch is answered, and answered after it.
template <class Operation>
class long_work {
 public:
  long_work(const context& on, std::uint64_t probes, bool divided) {
    if (!divided) return;
    using policy = long_policy;
    long_ranges& ranges = list_.ranges;
    const bool one_class = probes <= policy::only_capacity;
    ranges.capacity = static_cast<std::uint32_t>(one_class ? probes : policy::capacity);
    ranges.classes = one_class ? 1 : policy::classes;
    ranges.least = probes <= policy::few ? policy::least_of_few : policy::least;
    list_.blocks = static_cast<unsigned>(multiprocessors());
    const std::size_t listed = std::size_t{ranges.classes} * ranges.capacity * sizeof(long_range);
    memory_ = {
        on, counter_bytes + listed + list_.blocks * sizeof(open_ends<typename Operation::partial>)};
    ranges.counters = reinterpret_cast<unsigned long long*>(memory_.data());
    ranges.ranges = reinterpret_cast<long_range*>(memory_.data() + counter_bytes);
    list_.blocks_done = reinterpret_cast<unsigned*>(ranges.counters + policy::classes);
    list_.of_blocks = memory_.data() + counter_bytes + listed;
    check(cudaMemsetAsync(memory_.data(), 0, counter_bytes, on.stream), "cudaMemsetAsync");
  }
  const long_ranges& ranges() const { return list_.ranges; }

  void answer(const context& on, const Operation& operation) const {
    if (list_.ranges.counters == nullptr) return;
    const auto rows = core::over_rows(operation);
    if constexpr (core::over_entries<decltype(rows.view)>) {
      listed_entries<std::remove_cvref_t<decltype(rows.view.entries())>>::answer(on, rows, list_);
    } else {
      answer_list(on, rows, list_);
    }
  }

 private:
  static constexpr std::size_t counter_bytes = (long_policy::classes + 1) * sizeof(std::uint64_t);

  long_list list_;
  buffer<std::byte> memory_;
};

}  // namespace raydex::cuda
