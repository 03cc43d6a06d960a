// SPDX-License-Identifier: Apache-2.0
/// @file
/// Teams: lanes that search together. A layout's search is written once, for a team; what a team is
/// made of is the backend's: a thread by itself, threads of a warp that share their lookups, or a
/// core with vector registers.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>

#include "raydex/core/config.hpp"
#include "raydex/core/keys/column.hpp"
#include "raydex/core/keys/entries.hpp"
#include "raydex/core/lookups/hashing.hpp"
#include "raydex/core/lookups/lookup.hpp"
#include "raydex/core/lookups/tree_nodes.hpp"

namespace raydex::core {

/// What a search has found: the first entry whose key is not below the one wanted.
template <class RowId>
struct found_entry {
  RowId rank;  ///< its place in ascending order; the number of entries if there is none
  bool hit;    ///< whether there is one and its key is the one wanted
  RowId row;   ///< its row id if it is a hit; an entry that only pads a leaf has the largest one
};

/// Fast memory that holds what a view pinned there.
struct pinned_memory {
  const void* data = nullptr;  ///< where it begins
  std::uint32_t bytes = 0;     ///< 0: nothing is pinned
};

/// Copies the first elements of an array, as many as `bytes` hold; every one of `threads` threads
/// copies its share.
template <class At, class T>
RAYDEX_HD inline void pin_first(const At& element, T* memory, std::size_t bytes, unsigned thread,
                                unsigned threads) {
  for (std::size_t i = thread; i < bytes / sizeof(T); i += threads)
    memory[i] = element(i);
}

/// Element i of an array, from pinned memory if it is there (lightweight paper, section 4.2).
template <class T, class At>
RAYDEX_HD inline T pinned_or(const pinned_memory& pinned, std::uint64_t i, const At& element) {
  return i < pinned.bytes / sizeof(T) ? static_cast<const T*>(pinned.data)[i] : element(i);
}

/// Pivots in a node of one line: 16 of 32 bits, 8 of 64 bits.
template <class Key>
inline constexpr unsigned line_pivots = 64 / sizeof(Key);

/// Entries in a line of a leaf, 8 whatever their width.
inline constexpr unsigned line_entries = 8;

/// The keys of a node for each of several lookups: `(m, i)` is key i of lookup m, the largest key
/// if it does not exist, and `run(m)` those that exist, as they lie in memory.
template <class KeyAt, class RunAt>
struct node_keys {
  KeyAt key_at;  ///< `key_at(m, i)`
  RunAt run_at;  ///< `run_at(m)`, a `key_run`; for teams of the host

  /// Key i of lookup m.
  RAYDEX_HD auto operator()(std::size_t m, unsigned i) const { return key_at(m, i); }
  /// The keys of lookup m that exist.
  RAYDEX_HD auto run(std::size_t m) const { return run_at(m); }
};
/// Made of two functions.
template <class KeyAt, class RunAt>
node_keys(KeyAt, RunAt) -> node_keys<KeyAt, RunAt>;

/// @name What teams are tried with
/// @{
/// As the operations of lookup.hpp.
struct archetype_operation {};
/// As `node_keys`.
using archetype_keys =
    node_keys<std::uint32_t (*)(std::size_t, unsigned), key_run<1> (*)(std::size_t)>;
/// @}

/// @name A lane brings N lookups of its own. Between `share` and `keep` every lane does the same
/// arithmetic for the `N * lanes` lookups of the team, and reads are divided among lanes.
/// @{

/// What all teams have.
template <class T>
concept team = requires(T& team, const std::uint32_t (&own)[1], std::uint32_t (&all)[T::lanes],
                        const std::uint32_t (&made)[T::lanes], std::uint32_t (&kept)[1], bool flag,
                        const archetype_operation& operation, const ticket (&tickets)[1],
                        std::uint32_t* out) {
  { T::lanes } -> std::convertible_to<std::size_t>;  // that share their lookups
  team.share(own, all);   // what each lane has becomes the same in every lane
  team.keep(made, kept);  // picks a lane's own again
  // Whether the flag is set in any lane.
  { team.any(flag) } -> std::same_as<bool>;
  // Whether this lane writes the results of its lookups, or another one does.
  { team.owns_lookups() } -> std::same_as<bool>;
  // What the view has pinned in the team's fast memory.
  { team.pinned } -> std::convertible_to<pinned_memory>;
  // Hands the entries of ranks [begin[j], end[j]) to an operation of lookup.hpp.
  team.scan(operation, tickets, own, own, out);
};

/// Teams that search nodes of any width.
template <class T>
concept node_team = team<T> &&
    requires(T& team, unsigned width, const archetype_keys& keys,
             const std::uint32_t (&wanted)[T::lanes], unsigned (&ranks)[T::lanes]) {
  // For each lookup m, how many of the `width` ascending keys `keys(m, i)` are below
  // `wanted[m]`; `keys` is a `node_keys`.
  team.rank(width, keys, wanted, ranks);
};

/// Teams that search trees of lines.
template <class T>
concept line_team = team<T> &&
    requires(T& team, const std::uint32_t* pivots, const quantised_node<std::uint32_t>* quantised,
             const narrow_node<std::uint32_t>* narrow,
             const column_entries<std::uint32_t, std::uint32_t>& entries,
             const std::uint32_t (&nodes)[T::lanes], const std::uint32_t (&wanted)[T::lanes],
             unsigned (&ranks)[T::lanes], found_entry<std::uint32_t> (&own)[1]) {
  // The same as `rank` for nodes that are a 64-byte line of pivots each, or a `quantised_node`, or
  // a `narrow_node`.
  team.rank_in_lines(pivots, nodes, wanted, ranks);
  team.rank_quantised(quantised, nodes, wanted, ranks);
  team.rank_narrow(narrow, nodes, wanted, ranks);
  // The same for the 8 entries of leaf `nodes[m]`, and what each lane's own lookups found there.
  team.search_leaf(entries, nodes, wanted, ranks, own);
};

/// Such teams of several lanes.
template <class T>
concept shared_line_team = line_team<T> &&
    requires(T& team, bool flag, const column_entries<std::uint32_t, std::uint32_t>& entries,
             const std::uint32_t (&leaves)[T::lanes], const std::uint32_t (&wanted)[T::lanes],
             unsigned (&below)[T::lanes], unsigned (&not_above)[T::lanes], std::uint32_t (&rows)[1],
             bool& beyond) {
  requires(T::lanes > 1);
  // Whether the flag is set in a good part of the lanes.
  { team.many(flag) } -> std::same_as<bool>;
  // How many entries of leaf `leaves[m]` are below one key, and how many not above another.
  team.count_in_leaf(entries, leaves, wanted, wanted, below, not_above);
  // The row ids that each lane's own lookups found there, and whether all entries of some leaf
  // are below.
  team.match_in_leaf(entries, leaves, wanted, rows, beyond);
};
/// A team that compares all hashes of a bucket with one at once.
template <class T>
concept bucket_team = requires(const T& team,
                               const hash_buckets<std::uint32_t, std::uint32_t, 64>& table,
                               const hash_function<std::uint32_t>& hash, std::uint32_t count,
                               const std::uint32_t (&keys)[1], std::uint32_t (&hashes)[1],
                               std::uint32_t (&buckets)[1], unsigned (&slots)[1],
                               std::uint32_t (&rows)[1]) {
  // The first slot of each bucket with this hash and its row id; if there is none, how many slots
  // there are and the largest row id. Of the first `count` of these.
  team.find_in_buckets(table, buckets, hashes, slots, rows, count);
  // The same of `count` keys in their homes; and hashes and homes.
  team.find_in_homes(table, hash, count, keys, hashes, buckets, slots, rows);
};
/// @}

/// What teams of one lane have in common.
struct single_lane {
  static constexpr std::size_t lanes = 1;  ///< lanes that share their lookups

  /// Every lookup is the lane's own.
  template <class T, std::size_t N>
  RAYDEX_HD static void share(const T (&own)[N], T (&all)[N]) {
    RAYDEX_UNROLL
    for (std::size_t j = 0; j < N; ++j)
      all[j] = own[j];
  }
  /// Whether the flag is set.
  RAYDEX_HD static bool any(bool flag) { return flag; }

  /// Every lookup is the lane's own.
  template <class T, std::size_t N>
  RAYDEX_HD static void keep(const T (&all)[N], T (&own)[N]) {
    share(all, own);
  }
  /// The only lane owns all.
  RAYDEX_HD static bool owns_lookups() { return true; }

  /// Visits the matches of one lookup after the other.
  template <std::size_t N, class Operation, class Rank, class Ticket, class Out>
  RAYDEX_HD static void scan(const Operation& operation, const Ticket (&tickets)[N],
                             const Rank (&begin)[N], const Rank (&end)[N], Out* out) {
    RAYDEX_UNROLL
    for (std::size_t j = 0; j < N; ++j) {
      typename Operation::partial all;
      operation.view.scan(begin[j], end[j], 0, 1, [&](std::uint64_t k, auto row) {
        operation.add(all, tickets[j], k, row, out);
      });
      operation.finish(tickets[j], all, out);
    }
  }

  /// Counts separators below the wanted keys in narrow nodes.
  template <class Key, class Position, std::size_t M>
  RAYDEX_HD static void rank_narrow(const narrow_node<Key>* nodes, const Position (&node)[M],
                                    const Key (&wanted)[M], unsigned (&ranks)[M]) {
    RAYDEX_UNROLL
    for (std::size_t m = 0; m < M; ++m)
      ranks[m] = nodes[node[m]].rank(wanted[m]);
  }

  /// Reads what was found at `ranks` in leaves.
  template <class Entries, std::size_t M>
  RAYDEX_HD static void read_found(const Entries& entries,
                                   const typename Entries::row_id_type (&leaves)[M],
                                   const typename Entries::key_type (&wanted)[M],
                                   const unsigned (&ranks)[M],
                                   found_entry<typename Entries::row_id_type> (&own)[M]) {
    using position = typename Entries::row_id_type;
    RAYDEX_UNROLL
    for (std::size_t m = 0; m < M; ++m) {
      own[m].hit = false;
      if (ranks[m] == line_entries) continue;
      const position at = leaves[m] * line_entries + position{ranks[m]};
      own[m].hit = entries.key(at) == wanted[m];
      own[m].row = entries.row_id(at);
    }
  }
};

/// A team of one lane, for searches inside a user's own code.
struct alone : single_lane {
  pinned_memory pinned;  ///< nothing, unless its user pins something

  /// Counts keys below the wanted ones.
  template <class Key, std::size_t M, class KeyAt>
  RAYDEX_HD static void rank(unsigned width, const KeyAt& key_at, const Key (&wanted)[M],
                             unsigned (&ranks)[M]) {
    RAYDEX_UNROLL
    for (std::size_t m = 0; m < M; ++m) {
      ranks[m] = 0;
      for (unsigned i = 0; i < width; ++i)
        ranks[m] += key_at(m, i) < wanted[m] ? 1U : 0U;
    }
  }

  /// Counts pivots below the wanted keys in nodes of a line.
  template <class Key, class Position, std::size_t M>
  RAYDEX_HD static void rank_in_lines(const Key* pivots, const Position (&nodes)[M],
                                      const Key (&wanted)[M], unsigned (&ranks)[M]) {
    rank(
        line_pivots<Key>,
        [&](std::size_t m, unsigned i) {
          return load(pivots + std::uint64_t{nodes[m]} * line_pivots<Key> + i);
        },
        wanted, ranks);
  }

  /// Counts separators below the wanted keys.
  template <class Key, class Position, std::size_t M>
  RAYDEX_HD static void rank_quantised(const quantised_node<Key>* nodes, const Position (&node)[M],
                                       const Key (&wanted)[M], unsigned (&ranks)[M]) {
    RAYDEX_UNROLL
    for (std::size_t m = 0; m < M; ++m)
      ranks[m] = nodes[node[m]].rank(wanted[m]);
  }

  /// Searches leaves.
  template <class Entries, std::size_t M>
  RAYDEX_HD static void search_leaf(const Entries& entries,
                                    const typename Entries::row_id_type (&leaves)[M],
                                    const typename Entries::key_type (&wanted)[M],
                                    unsigned (&ranks)[M],
                                    found_entry<typename Entries::row_id_type> (&own)[M]) {
    using position = typename Entries::row_id_type;
    rank(
        line_entries,
        [&](std::size_t m, unsigned i) {
          return entries.key(leaves[m] * line_entries + position{i});
        },
        wanted, ranks);
    read_found(entries, leaves, wanted, ranks, own);
  }
};
static_assert(node_team<alone> && line_team<alone>, "a user searches whatever there is");

}  // namespace raydex::core
