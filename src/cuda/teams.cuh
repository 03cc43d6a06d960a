// SPDX-License-Identifier: Apache-2.0
// The teams of core/team.hpp that a GPU has: a thread, a group of threads for each lookup, and four
// threads that read the lines of their four lookups together. A warp's threads call them together.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "raydex/core/config.hpp"
#include "raydex/core/eytzinger.hpp"
#include "raydex/core/lookup.hpp"
#include "raydex/core/pivot_tree.hpp"
#include "raydex/core/sorted_array.hpp"
#include "raydex/core/team.hpp"

namespace raydex::cuda {

inline constexpr unsigned warp = 32;
inline constexpr unsigned all_lanes = 0xffff'ffff;

__device__ inline unsigned lane_of_warp() {
  return threadIdx.x % warp;
}

// Exchanges values of any trivial type between the lanes of a warp, in 32-bit words.
template <class T, class Exchange>
__device__ T exchange_words(const T& value, Exchange&& exchange) {
  static_assert(std::is_trivially_copyable_v<T>);
  constexpr std::size_t words = (sizeof(T) + 3) / 4;
  std::uint32_t from[words] = {};
  std::uint32_t to[words];
  std::memcpy(from, &value, sizeof(T));
  RAYDEX_UNROLL
  for (std::size_t w = 0; w < words; ++w)
    to[w] = exchange(from[w]);
  T received;
  std::memcpy(&received, to, sizeof(T));
  return received;
}
template <class T>
__device__ T from_lane(const T& value, unsigned lane, unsigned width = warp) {
  return exchange_words(value, [&](std::uint32_t word) {
    return __shfl_sync(all_lanes, word, static_cast<int>(lane), static_cast<int>(width));
  });
}
template <class T>
__device__ T from_partner(const T& value, unsigned distance) {
  return exchange_words(value, [&](std::uint32_t word) {
    return __shfl_xor_sync(all_lanes, word, static_cast<int>(distance));
  });
}

__device__ inline unsigned sum_of_warp(unsigned number) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800
  for (unsigned distance = warp / 2; distance > 0; distance /= 2)
    number += from_partner(number, distance);
  return number;
#else
  return __reduce_add_sync(all_lanes, number);
#endif
}

// What every team of a warp's threads has: ranges are scanned by as many lanes as their length
// deserves.
struct warp_team {
  core::pinned_memory pinned;
  bool cooperative_scan = true;
  bool stream_leaves = false;  // whether leaves leave the caches first

  __device__ static bool any(bool flag) { return __any_sync(all_lanes, flag ? 1 : 0) != 0; }

 protected:
  // Ranges of a warp, one a lane; `mine` tells whether this lane has one.
  template <class Operation, class Rank, class Out>
  __device__ void scan_ranges(const Operation& operation, const core::ticket& of, bool mine,
                              Rank begin, Rank end, Out* out) const {
    using partial = typename Operation::partial;
    const Rank length = mine ? end - begin : 0;
    const unsigned width = cooperative_scan ? lanes_for(length) : 1;
    const unsigned lane = lane_of_warp() % width;
    partial own;
    for (unsigned turn = 0; turn < width; ++turn) {
      const Rank first = from_lane(begin, turn, width);
      const Rank last = first + from_lane(length, turn, width);
      const core::ticket whose = from_lane(of, turn, width);
      partial part;
      operation.view.scan(first, last, lane, width, [&](std::uint64_t k, auto row) {
        operation.add(part, whose, k, row, out);
      });
      for (unsigned distance = width / 2; distance > 0; distance /= 2)
        part.merge(from_partner(part, distance));
      if (lane == turn) own = part;
    }
    if (mine) operation.finish(of, own, out);
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
    uint4 part[lanes];
    RAYDEX_UNROLL
    for (unsigned m = 0; m < lanes; ++m)
      part[m] =
          __ldg(reinterpret_cast<const uint4*>(pivots) + std::uint64_t{nodes[m]} * lanes + lane());
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
    uint2 part[lanes];
    RAYDEX_UNROLL
    for (unsigned m = 0; m < lanes; ++m)
      part[m] = __ldg(reinterpret_cast<const uint2*>(nodes + node[m]) + lane());
    std::uint32_t counts = 0;
    RAYDEX_UNROLL
    for (unsigned m = 0; m < lanes; ++m) {
      // The first thread's part begins with the base.
      Key base;
      std::memcpy(&base, &part[m], sizeof base);
      const std::uint32_t steps = quantised::quantise(from_lane(base, 0, lanes), wanted[m]);
      const bool has_base = lane() == 0;
      const std::uint32_t low = sizeof(Key) == 4 || !has_base ? below(part[m].y, steps) : 0;
      const std::uint32_t high = has_base ? 0 : below(part[m].x, steps);
      counts += (low + high) << (8 * m);
    }
    unpack(add_up(counts), ranks);
  }

  template <unsigned Lines, class Entries>
  __device__ void search_leaf(const Entries& entries,
                              const typename Entries::row_id_type (&first)[lanes],
                              const typename Entries::key_type (&wanted)[lanes],
                              unsigned (&ranks)[lanes],
                              core::found_entry<typename Entries::row_id_type> (&own)[1]) const {
    using row_id = typename Entries::row_id_type;
    constexpr unsigned each = core::line_entries / lanes;  // entries of a line in a thread
    constexpr std::uint32_t hit = 0x20;                    // four of them and 16 entries fit a byte
    entry_pair<Entries> part[lanes][Lines];
    const auto read_all = [&](auto read) {
      RAYDEX_UNROLL
      for (unsigned m = 0; m < lanes; ++m) {
        RAYDEX_UNROLL
        for (unsigned l = 0; l < Lines; ++l)
          part[m][l].read(entries, first[m] + l * core::line_entries, lane(), read);
      }
    };
    if (stream_leaves) {
      read_all([](const auto* from) { return __ldcs(from); });
    } else {
      read_all([](const auto* from) { return __ldg(from); });
    }
    std::uint32_t counts = 0;
    RAYDEX_UNROLL
    for (unsigned m = 0; m < lanes; ++m) {
      std::uint32_t count = 0;
      bool equal = false;
      RAYDEX_UNROLL
      for (unsigned l = 0; l < Lines; ++l) {
        RAYDEX_UNROLL
        for (unsigned i = 0; i < each; ++i) {
          count += part[m][l].key(i) < wanted[m] ? 1U : 0U;
          equal = equal || part[m][l].key(i) == wanted[m];
        }
      }
      counts += (count + (equal ? hit : 0)) << (8 * m);
    }
    counts = add_up(counts);
    row_id rows[lanes];
    RAYDEX_UNROLL
    for (unsigned m = 0; m < lanes; ++m) {
      const std::uint32_t found = (counts >> (8 * m)) & 0xff;
      ranks[m] = found % hit;
      if constexpr (entry_pair<Entries>::with_rows) {
        // The entry at the rank is in one of the threads.
        row_id row = part[m][0].row(ranks[m] % each);
        if (Lines == 2 && ranks[m] >= core::line_entries) row = part[m][1].row(ranks[m] % each);
        rows[m] = from_lane(row, ranks[m] / each % lanes, lanes);
      }
    }
    const std::uint32_t mine = (counts >> (8 * lane())) & 0xff;
    own[0].hit = mine >= hit;
    if constexpr (entry_pair<Entries>::with_rows) {
      row_id row[1];
      keep(rows, row);
      own[0].row = row[0];
    } else if (own[0].hit) {
      row_id begin[1];
      keep(first, begin);
      own[0].row = entries.row_id(begin[0] + mine % hit);
    }
  }

  template <std::size_t N, class Operation, class Rank, class Out>
  __device__ void scan(const Operation& operation, const core::ticket (&tickets)[N],
                       const Rank (&begin)[N], const Rank (&end)[N], Out* out) const {
    for (std::size_t j = 0; j < N; ++j)
      scan_ranges(operation, tickets[j], true, begin[j], end[j], out);
  }

 private:
  // Two entries of a line, as a thread reads them.
  template <class Entries>
  struct entry_pair;

  template <class Key, class RowId>
  struct entry_pair<core::column_entries<Key, RowId>> {
    static constexpr bool with_rows = false;
    using pair = std::conditional_t<sizeof(Key) == 4, uint2, ulonglong2>;
    pair keys;

    template <class Read>
    __device__ void read(const core::column_entries<Key, RowId>& entries, RowId first,
                         unsigned lane, const Read& read_one) {
      keys = read_one(reinterpret_cast<const pair*>(entries.keys + first) + lane);
    }
    __device__ Key key(unsigned i) const { return i == 0 ? keys.x : keys.y; }
  };

  template <class Key, class RowId>
  struct entry_pair<core::row_entries<Key, RowId>> {
    static constexpr bool with_rows = true;
    static constexpr unsigned words = core::row_entries<Key, RowId>::words_per_entry;
    std::uint32_t word[2 * words];

    template <class Read>
    __device__ void read(const core::row_entries<Key, RowId>& entries, RowId first, unsigned lane,
                         const Read& read_one) {
      // 16, 24 or 32 bytes.
      using vector = std::conditional_t<words % 2 == 0, uint4, uint2>;
      constexpr unsigned vectors = 2 * words * 4 / sizeof(vector);
      const auto* from =
          reinterpret_cast<const vector*>(entries.words + std::uint64_t{first} * words);
      vector parts[vectors];
      RAYDEX_UNROLL
      for (unsigned v = 0; v < vectors; ++v)
        parts[v] = read_one(from + lane * vectors + v);
      std::memcpy(word, parts, sizeof word);
    }
    __device__ Key key(unsigned i) const { return get<Key>(i == 0 ? 0 : words, i); }
    __device__ RowId row(unsigned i) const {
      constexpr unsigned at = sizeof(Key) / 4;
      return i == 0 ? get<RowId>(at, 0) : get<RowId>(words + at, 0);
    }

   private:
    template <class T>
    __device__ T get(unsigned at, unsigned) const {
      if constexpr (sizeof(T) == 4) {
        return word[at];
      } else {
        return word[at] | T{word[at + 1]} << 32;
      }
    }
  };

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
  // Of the two separators in a word, how many are below.
  __device__ static std::uint32_t below(std::uint32_t two, std::uint32_t steps) {
    return ((two & 0xffff) < steps ? 1U : 0U) + ((two >> 16) < steps ? 1U : 0U);
  }
};

// Which team searches a view.
template <class View>
struct team_of;
template <class Entries>
struct team_of<core::sorted_array_view<Entries>> {
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

}  // namespace raydex::cuda
