// SPDX-License-Identifier: Apache-2.0
// What the backends' searches in sorted columns have in common.
#pragma once

#include <cstdint>
#include <limits>

#include "raydex/core/lookups/sorted_keys.hpp"
#include "src/interface/dispatch.hpp"
#include "src/operations/lookups/built_index.hpp"
#include "src/operations/lookups/line_tree.hpp"

namespace raydex {

// A search per thread: with few registers for each, more reads are under way on a GPU than with
// several searches per thread.
template <class Key, class Rank>
struct rank_one {
  core::sorted_keys_view<Key, Rank> in;
  core::encoded_column<Key> wanted;
  bool past;
  std::uint64_t* out;

  RAYDEX_HD void operator()(std::uint64_t i) const {
    const auto from = static_cast<Key>(wanted[i] + (past ? 1 : 0));
    std::uint64_t rank = in.locate(from).rank;
    if (past && from == 0) rank = in.size();  // nothing is above the last key
    out[i] = wanted.valid(i) ? rank : std::numeric_limits<std::uint64_t>::max();
  }
};

template <class Executor>
void search_sorted(const context& on, const column& sorted, const column& wanted, bool past,
                   std::uint64_t* out) {
  const row_id_type ranks =
      sorted.size < not_found<std::uint32_t> ? row_id_type::uint32 : row_id_type::uint64;
  dispatch(sorted.format, ranks, [&]<class Key, class Rank>() {
    using view = core::sorted_keys_view<Key, Rank>;
    const view in(cells_of(sorted), static_cast<Rank>(sorted.size));
    if constexpr (Executor::hides_latency_by_threads) {
      Executor::for_each_alone(on, rank_one<Key, Rank>{in, {cells_of(wanted)}, past, out},
                               wanted.size);
    } else {
      Executor::run(on, {}, core::rank_points<view>{in, probes_of<Key>(points(wanted)), past, out});
    }
  });
}

// Writes the codes of a sorted column, and behind them the largest one up to the end of a leaf.
template <class Key>
struct put_leaves {
  core::encoded_column<Key> from;
  std::uint64_t size;
  Key* out;
  RAYDEX_HD void operator()(std::uint64_t i) const {
    out[i] = i < size ? from[i] : static_cast<Key>(-1);
  }
};

// From so many cells on, nodes are quantised where the keys allow it, which takes a wait for the
// stream.
inline constexpr std::uint64_t least_quantised = std::uint64_t{1} << 22;

// Searches by a tree that is made for the call. Ranks have 32 bits.
template <class Executor>
void search_by_tree(const context& on, const column& sorted, const column& wanted, bool past,
                    std::uint64_t* out) {
  dispatch(sorted.format, [&]<class Key, class Rank>() {
    using entries = core::ranked_entries<Key, Rank>;
    using view = core::line_tree_view<entries>;
    constexpr std::uint64_t leaf = core::line_entries;
    buffer<Key> codes(on, (sorted.size + leaf - 1) / leaf * leaf);
    Executor::for_each(on, put_leaves<Key>{{cells_of(sorted)}, sorted.size, codes.data()},
                       codes.size());
    const entries all(codes.data());
    const auto tree = grow_line_tree<Executor>(
        on, all, sorted.size,
        sorted.size < least_quantised ? tree_nodes::exact : tree_nodes::automatic);
    const view in(all, static_cast<Rank>(sorted.size), tree.template parts<view>());
    Executor::run(
        on,
        plan_of(
            {},
            {.schedule = scheduling::fixed, .threads = 1024, .lookups = 4, .pin = pinning::full}),
        core::rank_points<view>{in, probes_of<Key>(points(wanted)), past, out});
  });
}

}  // namespace raydex
