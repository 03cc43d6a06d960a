// SPDX-License-Identifier: Apache-2.0
// The teams of core/lookups/team.hpp that a GPU has: a thread, a group of threads for each lookup,
// and four threads that read the lines of their four lookups together. A warp's threads call them
// together.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "raydex/core/config.hpp"
#include "raydex/core/lookups/btree.hpp"
#include "raydex/core/lookups/eytzinger.hpp"
#include "raydex/core/lookups/lookup.hpp"
#include "raydex/core/lookups/pivot_tree.hpp"
#include "raydex/core/lookups/sorted_array.hpp"
#include "raydex/core/lookups/team.hpp"
#include "raydex/core/rays/cgrx_node_lists.hpp"
#include "src/machines/cuda/lookups/long_ranges.cuh"
#include "src/machines/cuda/warp.cuh"

namespace raydex::cuda {

// Reads what will not be read again soon without taking the place of anything in the L1.
__device__ inline uint2 load_past_l1(const uint2* from) {
#if defined(__CUDA_ARCH__)
  uint2 v;
  asm("ld.global.nc.L1::no_allocate.v2.u32 {%0, %1}, [%2];" : "=r"(v.x), "=r"(v.y) : "l"(from));
  return v;
#else
  return *from;
#endif
}
__device__ inline uint4 load_past_l1(const uint4* from) {
#if defined(__CUDA_ARCH__)
  uint4 v;
  asm("ld.global.nc.L1::no_allocate.v4.u32 {%0, %1, %2, %3}, [%4];"
      : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w)
      : "l"(from));
  return v;
#else
  return *from;
#endif
}
__device__ inline ulonglong2 load_past_l1(const ulonglong2* from) {
  const uint4 words = load_past_l1(reinterpret_cast<const uint4*>(from));
  ulonglong2 v;
  std::memcpy(&v, &words, sizeof v);
  return v;
}

// An address that the compiler adds to as it is, so that what lies a multiple further costs one
// multiplication.
template <class T>
__device__ const T* fixed(const T* address) {
#if defined(__CUDA_ARCH__)
  asm("" : "+l"(address));
#endif
  return address;
}

// What every team of a warp's threads has: ranges are scanned by as many lanes as their length
// deserves.
struct warp_team {
  core::pinned_memory pinned;
  bool cooperative_scan = true;
  bool stream_leaves = false;  // whether leaves leave the caches first
  long_ranges longer;          // for those that are too long for a warp
  // Whether probes are read one turn before they are answered: worth its registers where a block
  // that pins much is alone on its multiprocessor.
  static constexpr bool looks_ahead = false;

  __device__ static bool any(bool flag) { return __any_sync(all_lanes, flag ? 1 : 0) != 0; }
  __device__ static bool many(bool flag) {
    return static_cast<unsigned>(__popc(__ballot_sync(all_lanes, flag ? 1 : 0))) > warp / 4;
  }

 protected:
  // Ranges of a warp, one a lane; `mine` tells whether this lane has one.
  template <class Operation, class Rank, class Out>
  __device__ void scan_ranges(const Operation& operation, const core::ticket& lookup, bool mine,
                              Rank begin, Rank end, Out* out) const {
    using partial = typename Operation::partial;
    Rank length = mine ? end - begin : 0;
    if constexpr (divisible<Operation>) {
      if (longer.take(lookup.probe, begin, length)) {
        mine = false;
        length = 0;
      }
    }
    if constexpr (copies_rows<Operation>) {
      if (cooperative_scan) {
        copy_ranges(operation, lookup, begin, length, out);
        return;
      }
    }
    const unsigned width = cooperative_scan ? lanes_for(length) : 1;
    const unsigned lane = lane_of_warp() % width;
    partial own;
    if (width == 1) {
      operation.view.scan(begin, begin + length, 0, 1, [&](std::uint64_t k, auto row) {
        operation.add(own, lookup, k, row, out);
      });
      if (mine) operation.finish(lookup, own, out);
      return;
    }
    for (unsigned turn = 0; turn < width; ++turn) {
      const Rank first = from_lane(begin, turn, width);
      const Rank last = first + from_lane(length, turn, width);
      const core::ticket whose = from_lane(lookup, turn, width);
      partial part;
      operation.view.scan(first, last, lane, width, [&](std::uint64_t k, auto row) {
        operation.add(part, whose, k, row, out);
      });
      for (unsigned distance = width / 2; distance > 0; distance /= 2)
        part.merge(from_partner(part, distance));
      if (lane == turn) own = part;
    }
    if (mine) operation.finish(lookup, own, out);
  }

 private:
  // Lanes for each range of a warp, a power of two: a lane reads four entries at a time.
  template <class Rank>
  __device__ static unsigned lanes_for(Rank length) {
    constexpr unsigned most = 1U << 16;  // so that 32 of them add up in 32 bits
    const unsigned sum = sum_of_warp(length < most ? static_cast<unsigned>(length) : most);
    unsigned width = 1;
    while (width < warp && 4 * width * warp < sum)
      width *= 2;
    return width;
  }

  // Row ids of the ranges of a warp: neighbouring lanes write neighbouring results.
  template <class Operation, class Rank, class Out>
  __device__ static void copy_ranges(const Operation& operation, const core::ticket& lookup,
                                     Rank begin, Rank length, Out* out) {
    constexpr Rank wide = long_policy::least;  // of those that are copied one after the other
    std::uint64_t to = length != 0 ? core::load(operation.offsets + lookup.probe) : 0;
    unsigned left = __ballot_sync(all_lanes, length >= wide ? 1 : 0);
    while (left != 0) {
      const auto lane = static_cast<unsigned>(__ffs(static_cast<int>(left)) - 1);
      left &= left - 1;
      copy_rows(operation.view, from_lane(begin, lane), from_lane(length, lane),
                out + from_lane(to, lane));
    }
    if (length >= wide) length = 0;
    if (!any(length > 1)) {
      if (length != 0) core::store_once(out + to, operation.view.row_id(begin));
      return;
    }
    // The others as if they were one.
    const auto up_to = static_cast<unsigned>(sum_up_to_lane(length));
    const unsigned before = up_to - static_cast<unsigned>(length);
    const unsigned all = from_lane(up_to, warp - 1);
    begin -= before;
    to -= before;
    constexpr unsigned at_once = 4;  // reads of a lane
    for (unsigned first = 0; first < all; first += at_once * warp) {
      typename decltype(Operation::view)::row_id_type rows[at_once] = {};
      unsigned owners[at_once] = {};  // lanes whose ranges the rows are of
      RAYDEX_UNROLL
      for (unsigned j = 0; j < at_once; ++j) {
        if (first + j * warp >= all) continue;
        const unsigned k = first + j * warp + lane_of_warp();
        RAYDEX_UNROLL
        for (unsigned step = warp / 2; step > 0; step /= 2)
          owners[j] += from_lane(before, owners[j] + step) <= k ? step : 0;
        const Rank rank = from_lane(begin, owners[j]) + k;
        if (k < all) rows[j] = operation.view.row_id(rank);
      }
      RAYDEX_UNROLL
      for (unsigned j = 0; j < at_once; ++j) {
        if (first + j * warp >= all) continue;
        const unsigned k = first + j * warp + lane_of_warp();
        const std::uint64_t place = from_lane(to, owners[j]) + k;
        if (k < all) core::store_once(out + place, rows[j]);
      }
    }
  }
};

// A thread has a lookup by itself.
struct thread_team : warp_team {
  static constexpr std::size_t lanes = 1;
  static constexpr std::size_t in_step = 1;  // lookups of a lane at a time

  // Probes that a block answers at once, and which of them is this thread's.
  static unsigned at_once(unsigned threads, unsigned /*group*/) { return threads; }
  __device__ std::uint64_t slot() const { return threadIdx.x; }

  __device__ thread_team(const warp_team& common, unsigned /*group*/) : warp_team(common) {}

  template <class T, std::size_t N>
  __device__ static void share(const T (&own)[N], T (&all)[N]) {
    core::alone::share(own, all);
  }
  template <class T, std::size_t N>
  __device__ static void keep(const T (&all)[N], T (&own)[N]) {
    core::alone::keep(all, own);
  }
  __device__ static bool owns_lookups() { return true; }

  template <std::size_t N, class Operation, class Rank, class Out>
  __device__ void scan(const Operation& operation, const core::ticket (&tickets)[N],
                       const Rank (&begin)[N], const Rank (&end)[N], Out* out) const {
    for (std::size_t j = 0; j < N; ++j)
      scan_ranges(operation, tickets[j], true, begin[j], end[j], out);
  }
};

// A group of threads has a lookup: each compares one key of a node (lightweight paper, section
// 3.4). Groups need not divide the warp; lanes that are left over have no lookup.
class group_team : public warp_team {
 public:
  static constexpr std::size_t lanes = 1;    // a lookup is in every thread of the group already
  static constexpr std::size_t in_step = 4;  // few groups fit a multiprocessor

  static unsigned at_once(unsigned threads, unsigned group) {
    return threads / warp * (warp / group);
  }
  __device__ std::uint64_t slot() const {
    if (!has_lookup()) return ~std::uint64_t{0};
    return threadIdx.x / warp * (warp / group_) + lane_of_warp() / group_;
  }

  __device__ group_team(const warp_team& common, unsigned group)
      : warp_team(common), group_(group) {}

  template <class T, std::size_t N>
  __device__ static void share(const T (&own)[N], T (&all)[N]) {
    core::alone::share(own, all);
  }
  template <class T, std::size_t N>
  __device__ static void keep(const T (&all)[N], T (&own)[N]) {
    core::alone::keep(all, own);
  }
  __device__ bool owns_lookups() const { return has_lookup() && lane_of_warp() % group_ == 0; }

  template <class Key, std::size_t M, class KeyAt>
  __device__ void rank(unsigned width, const KeyAt& key_at, const Key (&wanted)[M],
                       unsigned (&ranks)[M]) const {
    const unsigned lane = lane_of_warp() % group_;
    const unsigned first = lane_of_warp() - lane;
    const unsigned own = group_ == warp ? all_lanes : ((1U << group_) - 1) << first;
    Key keys[M];
    RAYDEX_UNROLL
    for (std::size_t m = 0; m < M; ++m)
      keys[m] = has_lookup() && lane < width ? key_at(m, lane) : static_cast<Key>(-1);
    RAYDEX_UNROLL
    for (std::size_t m = 0; m < M; ++m) {
      const unsigned below = __ballot_sync(all_lanes, keys[m] < wanted[m] ? 1 : 0);
      ranks[m] = static_cast<unsigned>(__popc(below & own));
    }
  }

  template <std::size_t N, class Operation, class Rank, class Out>
  __device__ void scan(const Operation& operation, const core::ticket (&tickets)[N],
                       const Rank (&begin)[N], const Rank (&end)[N], Out* out) const {
    for (std::size_t j = 0; j < N; ++j)
      scan_ranges(operation, tickets[j], owns_lookups(), begin[j], end[j], out);
  }

 private:
  __device__ bool has_lookup() const { return lane_of_warp() / group_ < warp / group_; }

  unsigned group_;
};

// Four threads have four lookups and read the lines of each together, 16 bytes a thread, so that a
// line costs the L1 one access instead of four. Counts of the four are packed in a word, a byte
// each, and added over the threads in two steps.
class line_team : public warp_team {
 public:
  static constexpr std::size_t lanes = 4;
  static constexpr std::size_t in_step = 1;
  static constexpr bool looks_ahead = true;

  static unsigned at_once(unsigned threads, unsigned /*group*/) { return threads; }
  __device__ std::uint64_t slot() const { return threadIdx.x; }

  __device__ line_team(const warp_team& common, unsigned /*group*/) : warp_team(common) {}

  template <class T>
  __device__ static void share(const T (&own)[1], T (&all)[lanes]) {
    RAYDEX_UNROLL
    for (unsigned m = 0; m < lanes; ++m)
      all[m] = from_lane(own[0], m, lanes);
  }
  template <class T>
  __device__ static void keep(const T (&all)[lanes], T (&own)[1]) {
    own[0] = all[0];
    RAYDEX_UNROLL
    for (unsigned m = 1; m < lanes; ++m)
      own[0] = lane() == m ? all[m] : own[0];
  }
  __device__ static bool owns_lookups() { return true; }

  template <class Key, class Position>
  __device__ static void rank_in_lines(const Key* pivots, const Position (&nodes)[lanes],
                                       const Key (&wanted)[lanes], unsigned (&ranks)[lanes]) {
    constexpr unsigned each = 16 / sizeof(Key);
    const uint4* first = fixed(reinterpret_cast<const uint4*>(pivots) + lane());
    uint4 part[lanes];
    RAYDEX_UNROLL
    for (unsigned m = 0; m < lanes; ++m)
      part[m] = __ldg(first + std::uint64_t{nodes[m]} * lanes);
    std::uint32_t counts = 0;
    RAYDEX_UNROLL
    for (unsigned m = 0; m < lanes; ++m) {
      Key keys[each];
      std::memcpy(keys, &part[m], sizeof keys);
      RAYDEX_UNROLL
      for (unsigned i = 0; i < each; ++i)
        counts += (keys[i] < wanted[m] ? 1U : 0U) << (8 * m);
    }
    unpack(add_up(counts), ranks);
  }

  template <class Key, class Position>
  __device__ static void rank_quantised(const core::quantised_node<Key>* nodes,
                                        const Position (&node)[lanes], const Key (&wanted)[lanes],
                                        unsigned (&ranks)[lanes]) {
    using quantised = core::quantised_node<Key>;
    static_assert(sizeof(quantised) == lanes * sizeof(uint4) && quantised::mark == 0x8000);
    const uint4* first = fixed(reinterpret_cast<const uint4*>(nodes) + lane());
    uint4 part[lanes];
    RAYDEX_UNROLL
    for (unsigned m = 0; m < lanes; ++m)
      part[m] = __ldg(first + std::uint64_t{node[m]} * lanes);
    // The marks of four words' separators come to the upper bits of eight half bytes. The first
    // thread's part begins with the base, whose bits do not count.
    constexpr std::uint32_t marks = 0x8080'8080;
    const std::uint32_t counted =
        lane() == 0 ? static_cast<std::uint32_t>(std::uint64_t{marks} << (4 * sizeof(Key))) : marks;
    std::uint32_t counts = 0;
    RAYDEX_UNROLL
    for (unsigned m = 0; m < lanes; ++m) {
      Key base;
      std::memcpy(&base, &part[m], sizeof base);
      const std::uint32_t steps =
          quantised::quantise(from_lane(base, 0, lanes), wanted[m]) * 0x1'0001U;
      const std::uint32_t left = __byte_perm(part[m].x - steps, part[m].y - steps, 0x7531);
      const std::uint32_t right = __byte_perm(part[m].z - steps, part[m].w - steps, 0x7531);
      const std::uint32_t not_below = (left & counted) + ((right & marks) >> 4);
      counts += static_cast<std::uint32_t>(__popc(not_below)) << (8 * m);
    }
    unpack(add_up(counts), ranks);
    RAYDEX_UNROLL
    for (unsigned m = 0; m < lanes; ++m)
      ranks[m] = quantised::separators - ranks[m];
  }

  // A part of a node a thread.
  template <class Key, class Position>
  __device__ static void rank_narrow(const core::narrow_node<Key>* nodes,
                                     const Position (&node)[lanes], const Key (&wanted)[lanes],
                                     unsigned (&ranks)[lanes]) {
    using narrow = core::narrow_node<Key>;
    static_assert(sizeof(narrow) == lanes * sizeof(uint4) && narrow::parts == lanes);
    const uint4* first = fixed(reinterpret_cast<const uint4*>(nodes) + lane());
    uint4 part[lanes];
    RAYDEX_UNROLL
    for (unsigned m = 0; m < lanes; ++m)
      part[m] = __ldg(first + std::uint64_t{node[m]} * lanes);
    std::uint32_t counts = 0;
    RAYDEX_UNROLL
    for (unsigned m = 0; m < lanes; ++m) {
      Key scale;
      std::memcpy(&scale, &part[m], sizeof scale);
      std::uint32_t words[4];
      std::memcpy(words, &part[m], sizeof words);
      counts += narrow::below_in(lane(), words, from_lane(scale, 0, lanes), wanted[m]) << (8 * m);
    }
    unpack(add_up(counts), ranks);
  }

  template <class Entries>
  __device__ void search_leaf(const Entries& entries,
                              const typename Entries::row_id_type (&leaves)[lanes],
                              const typename Entries::key_type (&wanted)[lanes],
                              unsigned (&ranks)[lanes],
                              core::found_entry<typename Entries::row_id_type> (&own)[1]) const {
    using row_id = typename Entries::row_id_type;
    constexpr std::uint32_t hit = 0x10;  // eight of them and 8 entries fit a byte
    entry_pair<Entries> part[lanes];
    read_leaves(entries, leaves, part);
    std::uint32_t counts = 0;
    RAYDEX_UNROLL
    for (unsigned m = 0; m < lanes; ++m) {
      std::uint32_t count = 0;
      bool equal = false;
      RAYDEX_UNROLL
      for (unsigned i = 0; i < each; ++i) {
        count += part[m].key(i) < wanted[m] ? 1U : 0U;
        equal = equal || part[m].key(i) == wanted[m];
      }
      counts += (count + (equal ? hit : 0)) << (8 * m);
    }
    counts = add_up(counts);
    row_id rows[lanes];
    RAYDEX_UNROLL
    for (unsigned m = 0; m < lanes; ++m) {
      ranks[m] = (counts >> (8 * m)) % hit;
      // The entry at the rank is in one of the threads.
      if constexpr (entry_pair<Entries>::with_rows)
        rows[m] = from_lane(part[m].row(ranks[m] % each), ranks[m] / each % lanes, lanes);
    }
    const std::uint32_t mine = (counts >> (8 * lane())) & 0xff;
    own[0].hit = mine >= hit;
    if constexpr (entry_pair<Entries>::with_rows) {
      row_id row[1];
      keep(rows, row);
      own[0].row = row[0];
    } else if (own[0].hit) {
      row_id leaf[1];
      keep(leaves, leaf);
      own[0].row = entries.row_id(leaf[0] * core::line_entries + mine % hit);
    }
  }

  template <class Entries>
  __device__ void count_in_leaf(const Entries& entries,
                                const typename Entries::row_id_type (&leaves)[lanes],
                                const typename Entries::key_type (&lower)[lanes],
                                const typename Entries::key_type (&upper)[lanes],
                                unsigned (&below)[lanes], unsigned (&not_above)[lanes]) const {
    entry_pair<Entries> part[lanes];
    read_leaves(entries, leaves, part, true);
    std::uint32_t counts = 0;  // four bits for either: there are 8 entries
    RAYDEX_UNROLL
    for (unsigned m = 0; m < lanes; ++m) {
      RAYDEX_UNROLL
      for (unsigned i = 0; i < each; ++i) {
        counts += (part[m].key(i) < lower[m] ? 0x01U : 0U) << (8 * m);
        counts += (part[m].key(i) <= upper[m] ? 0x10U : 0U) << (8 * m);
      }
    }
    unpack(add_up(counts), below);
    RAYDEX_UNROLL
    for (unsigned m = 0; m < lanes; ++m) {
      not_above[m] = below[m] >> 4;
      below[m] %= 0x10;
    }
  }

  template <class Entries>
  __device__ void match_in_leaf(const Entries& entries,
                                const typename Entries::row_id_type (&leaves)[lanes],
                                const typename Entries::key_type (&wanted)[lanes],
                                typename Entries::row_id_type (&rows)[1], bool& beyond) const {
    using row_id = typename Entries::row_id_type;
    constexpr auto none = static_cast<row_id>(-1);
    entry_pair<Entries> part[lanes];
    read_leaves(entries, leaves, part);
    // Rows of a key ascend, so that the first match is the smallest: what each thread has of all
    // four lookups becomes their smallest ones, one a thread, in two exchanges.
    row_id smallest[lanes];
    RAYDEX_UNROLL
    for (unsigned m = 0; m < lanes; ++m) {
      smallest[m] = none;
      RAYDEX_UNROLL
      for (unsigned i = each; i-- > 0;) {
        if constexpr (entry_pair<Entries>::with_rows) {
          smallest[m] = part[m].key(i) == wanted[m] ? part[m].row(i) : smallest[m];
        } else {
          smallest[m] = part[m].key(i) == wanted[m] ? lane() * each + i : smallest[m];
        }
      }
      beyond |= part[m].key(each - 1) < wanted[m];
    }
    beyond &= lane() == lanes - 1;
    const bool upper = (lane() & 2U) != 0;
    const row_id even = merged(upper, smallest[0], smallest[2], 2);
    const row_id odd = merged(upper, smallest[1], smallest[3], 2);
    const row_id found = merged((lane() & 1U) != 0, even, odd, 1);
    rows[0] = found;
    if constexpr (!entry_pair<Entries>::with_rows) {
      row_id leaf[1];
      keep(leaves, leaf);
      if (found != none) rows[0] = entries.row_id(leaf[0] * core::line_entries + found);
    }
  }

  template <std::size_t N, class Operation, class Rank, class Out>
  __device__ void scan(const Operation& operation, const core::ticket (&tickets)[N],
                       const Rank (&begin)[N], const Rank (&end)[N], Out* out) const {
    for (std::size_t j = 0; j < N; ++j)
      scan_ranges(operation, tickets[j], true, begin[j], end[j], out);
  }

 private:
  static constexpr unsigned each = core::line_entries / lanes;  // entries of a leaf in a thread

  // Two entries of a leaf, as a thread reads them.
  template <class Entries>
  struct entry_pair;

  template <class Key, class RowId>
  struct entry_pair<core::column_entries<Key, RowId>> {
    static constexpr bool with_rows = false;
    static constexpr unsigned vectors = 1;  // that a thread reads
    using pair = std::conditional_t<sizeof(Key) == 4, uint2, ulonglong2>;
    pair keys;

    // Where a thread's part of the first leaf is.
    __device__ static const pair* origin(const core::column_entries<Key, RowId>& entries) {
      return fixed(reinterpret_cast<const pair*>(entries.keys) + lane());
    }
    template <class Read>
    __device__ void read(const pair* origin, RowId leaf, const Read& read_one) {
      keys = read_one(origin + std::uint64_t{leaf} * lanes);
    }
    __device__ Key key(unsigned i) const { return i == 0 ? keys.x : keys.y; }
  };

  template <class Key, class RowId>
  struct entry_pair<core::ranked_entries<Key, RowId>>
      : entry_pair<core::column_entries<Key, RowId>> {};

  template <class Key, class RowId>
  struct entry_pair<core::row_entries<Key, RowId>> {
    static constexpr bool with_rows = true;
    static constexpr unsigned words = core::row_entries<Key, RowId>::words_per_entry;
    std::uint32_t word[2 * words];

    // 16, 24 or 32 bytes.
    using vector = std::conditional_t<words % 2 == 0, uint4, uint2>;
    static constexpr unsigned vectors = 2 * words * 4 / sizeof(vector);

    __device__ static const vector* origin(const core::row_entries<Key, RowId>& entries) {
      return fixed(reinterpret_cast<const vector*>(entries.words) + lane() * vectors);
    }
    template <class Read>
    __device__ void read(const vector* origin, RowId leaf, const Read& read_one) {
      vector parts[vectors];
      RAYDEX_UNROLL
      for (unsigned v = 0; v < vectors; ++v)
        parts[v] = read_one(origin + std::uint64_t{leaf} * (lanes * vectors) + v);
      std::memcpy(word, parts, sizeof word);
    }
    __device__ Key key(unsigned i) const { return get<Key>(i == 0 ? 0 : words); }
    __device__ RowId row(unsigned i) const {
      constexpr unsigned at = sizeof(Key) / 4;
      return i == 0 ? get<RowId>(at) : get<RowId>(words + at);  // by a known index: registers
    }

   private:
    template <class T>
    __device__ T get(unsigned at) const {
      if constexpr (sizeof(T) == 4) {
        return word[at];
      } else {
        return word[at] | T{word[at + 1]} << 32;
      }
    }
  };

  // `again`: whether some of their entries will be read again, by one thread.
  template <class Entries>
  __device__ void read_leaves(const Entries& entries,
                              const typename Entries::row_id_type (&leaves)[lanes],
                              entry_pair<Entries> (&part)[lanes], bool again = false) const {
    const auto* origin = entry_pair<Entries>::origin(entries);
    const auto read_all = [&](auto read) {
      RAYDEX_UNROLL
      for (unsigned m = 0; m < lanes; ++m)
        part[m].read(origin, leaves[m], read);
    };
    // Otherwise no leaf is worth keeping in the L1, where the nodes are; but where a thread needs
    // several reads, the later ones are to meet what the first one brought.
    if (again) {
      read_all([](const auto* from) { return __ldg(from); });
    } else if (stream_leaves) {
      read_all([](const auto* from) { return __ldcs(from); });
    } else if constexpr (entry_pair<Entries>::vectors == 1) {
      read_all([](const auto* from) { return load_past_l1(from); });
    } else {
      read_all([](const auto* from) { return __ldg(from); });
    }
  }

  // The smaller of a value of this thread and one of the thread at a distance, which gets another:
  // `second` stays in the upper one of the two, `first` in the lower one.
  template <class T>
  __device__ static T merged(bool upper, T first, T second, unsigned distance) {
    const T kept = upper ? second : first;
    const T received = from_partner(upper ? first : second, distance);
    return received < kept ? received : kept;
  }

  __device__ static unsigned lane() { return threadIdx.x % lanes; }
  __device__ static std::uint32_t add_up(std::uint32_t counts) {
    counts += __shfl_xor_sync(all_lanes, counts, 1);
    counts += __shfl_xor_sync(all_lanes, counts, 2);
    return counts;
  }
  __device__ static void unpack(std::uint32_t counts, unsigned (&ranks)[lanes]) {
    RAYDEX_UNROLL
    for (unsigned m = 0; m < lanes; ++m)
      ranks[m] = (counts >> (8 * m)) & 0xff;
  }
};

static_assert(core::team<thread_team>, "threads must search sorted columns");
static_assert(core::node_team<group_team>, "groups must search nodes");
static_assert(core::shared_line_team<line_team>, "four threads must search trees of lines");

// Which team searches a view: a thread by itself, or as follows.
template <class View>
struct team_of {
  using type = thread_team;
};
template <class Entries>
struct team_of<core::eytzinger_view<Entries>> {
  using type = group_team;
};
template <class Entries>
struct team_of<core::pivot_tree_view<Entries>> {
  using type = group_team;
};
template <class Entries>
struct team_of<core::line_tree_view<Entries>> {
  using type = line_team;
};
template <class Key, class RowId>
struct team_of<core::btree_view<Key, RowId>> {
  using type = line_team;
};

}  // namespace raydex::cuda
