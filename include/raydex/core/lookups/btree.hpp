// SPDX-License-Identifier: Apache-2.0
/// @file
/// `btree` inside kernels: a B+-tree whose leaves lie side by side below their node.
///
/// A leaf has 8 entries: 64 bytes for 32-bit keys and row ids. A *page* is a node of the lowest
/// level, a 64-byte line of pivots, with its leaves, which have one number (as in CSB+-trees: Rao
/// and Ross, "Making B+-trees cache conscious in main memory", 2000). Entries fill the leaves of a
/// page from the first one on without a gap; what is free is at its end. So an entry's rank is that
/// of its page and its place there, and pages, not leaves, are split and put together.
///
/// Pages lie anywhere in memory; a directory has them in the order of their keys, each followed by
/// the next one. The levels above the pages are an implicit tree over the directory.
#pragma once

#include <cstddef>
#include <cstdint>

#include "raydex/core/config.hpp"
#include "raydex/core/keys/edits.hpp"
#include "raydex/core/keys/entries.hpp"
#include "raydex/core/lookups/ordered_view.hpp"
#include "raydex/core/lookups/search.hpp"
#include "raydex/core/lookups/team.hpp"
#include "raydex/core/lookups/tree_nodes.hpp"

namespace raydex::core {

/// Leaves of a page, and children of a node above: 17 for 32-bit keys, 9 for 64-bit keys.
template <class Key>
inline constexpr unsigned btree_fan_out = line_pivots<Key> + 1;

/// Entries that a page has room for.
template <class Key>
inline constexpr unsigned page_capacity = btree_fan_out<Key>* line_entries;

/// Pages as searches see them. It does not own them.
template <class Key, class RowId>
struct btree_pages {
  using key_type = Key;       ///< an encoded key
  using row_id_type = RowId;  ///< a row id

  const Key* pivots = nullptr;         ///< a line of each page
  row_entries<Key, RowId> entries;     ///< room for `page_capacity` of each page
  const RowId* order = nullptr;        ///< the pages by their keys; null: as they lie in memory
  const RowId* first_ranks = nullptr;  ///< the rank of each page's first entry, and of the end
  RowId count = 0;                     ///< how many are in use

  /// Where page `i`, in the order of keys, is in memory.
  RAYDEX_HD RowId place(RowId i) const { return order == nullptr ? i : load(order + i); }
  /// The rank of its first entry.
  RAYDEX_HD RowId first_rank(RowId i) const { return load(first_ranks + i); }
  /// Its entries.
  RAYDEX_HD RowId size(RowId i) const { return first_rank(i + 1) - first_rank(i); }
  /// An entry of it.
  RAYDEX_HD entry<Key, RowId> at(RowId i, RowId slot) const {
    const RowId to = place(i) * page_capacity<Key> + slot;
    return {entries.key(to), entries.row_id(to)};
  }
  /// Its last key.
  RAYDEX_HD Key key(RowId i) const {
    return entries.key(place(i) * page_capacity<Key> + (size(i) - 1));
  }
};

/// A trivially copyable view of a `btree`, for searches inside the user's own code. Keys are
/// encoded. A lookup costs a search in the root, a line a level, and one leaf.
template <class Key, class RowId>
class btree_view : public ordered_view<btree_view<Key, RowId>, Key, RowId> {
  using base = typename btree_view::ordered_view;

 public:
  using key_type = Key;              ///< an encoded key
  using row_id_type = RowId;         ///< a row id
  using found = found_entry<RowId>;  ///< what a search finds

  /// Children of a node.
  static constexpr unsigned fan_out = btree_fan_out<Key>;

  /// Where the parts of the tree lie.
  struct parts {
    root_node<Key> root;            ///< the root
    pivot_levels levels;            ///< levels below it; their leaves are the pages
    const Key* pivots = nullptr;    ///< those of these levels
    btree_pages<Key, RowId> pages;  ///< what is below them
  };

  /// A view of `size` entries and the tree above them.
  RAYDEX_HD btree_view(const parts& tree, RowId size)
      : tree_(tree),
        size_(size),
        pages_per_entry_(
            size == 0 ? 0.0 : static_cast<double>(tree.pages.count) / static_cast<double>(size)) {}

  /// Number of entries.
  RAYDEX_HD RowId size() const { return size_; }
  /// The key of the entry at a rank.
  RAYDEX_HD Key key(RowId rank) const { return tree_.pages.entries.key(slot_of(rank)); }
  /// The row id of the entry at a rank.
  RAYDEX_HD RowId row_id(RowId rank) const { return tree_.pages.entries.row_id(slot_of(rank)); }

  /// Visits a lane's share of a range, page by page; see `ordered_view`.
  template <class Visit>
  RAYDEX_HD void scan(RowId begin, RowId end, unsigned lane, unsigned lanes, Visit&& visit) const {
    if (begin >= end) return;
    RowId page = page_of(begin);
    RowId first = tree_.pages.first_rank(page);
    for (RowId rank = begin; rank < end;) {
      const RowId next = tree_.pages.first_rank(page + 1);
      const RowId stop = next < end ? next : end;
      const RowId done = rank - begin;
      scan_ranks(page_entries(page), RowId{page_capacity<Key>}, rank - first, stop - first, lane,
                 lanes, [&](RowId k, RowId row) { visit(done + k, row); });
      rank = stop;
      first = next;
      ++page;
    }
  }

  /// @name The parts of a search; see `ordered_view`
  /// @{

  /// The child of the root.
  template <class Team>
  RAYDEX_HD RowId enter(const Team& team, Key wanted) const {
    // Two calls, so that the compiler knows which memory each of them reads.
    if (team.pinned.bytes == 0) return static_cast<RowId>(tree_.root.child(wanted));
    return static_cast<RowId>(tree_.root.at(team.pinned.data).child(wanted));
  }

  /// Takes the lookups of a team from there to their entries.
  template <class Team, std::size_t M, std::size_t N>
  RAYDEX_HD void descend(Team& team, const Key (&wanted)[M], RowId (&nodes)[M],
                         found (&at)[N]) const {
    unsigned slots[M];
    RowId leaves[M];
    to_leaves(team, wanted, nodes, slots, leaves);
    unsigned ranks[M];
    team.search_leaf(tree_.pages.entries, leaves, wanted, ranks, at);
    RAYDEX_UNROLL
    for (std::size_t m = 0; m < M; ++m)
      slots[m] += ranks[m];
    RowId page[N];
    unsigned slot[N];
    team.keep(nodes, page);
    team.keep(slots, slot);
    RAYDEX_UNROLL
    for (std::size_t j = 0; j < N; ++j)
      at[j].rank = tree_.pages.first_rank(page[j]) + slot[j];
  }

  /// The same for the row ids of the matches alone, without ranks.
  template <class Team, std::size_t M, std::size_t N>
  RAYDEX_HD void descend_to_rows(Team& team, const Key (&wanted)[M], RowId (&nodes)[M],
                                 RowId (&rows)[N]) const {
    unsigned slots[M];
    RowId leaves[M];
    to_leaves(team, wanted, nodes, slots, leaves);
    bool beyond = false;  // the wanted key is never beyond its leaf, unless it is beyond all
    team.match_in_leaf(tree_.pages.entries, leaves, wanted, rows, beyond);
  }

  /// The ranks of the matches of N ranges a lane. Most short ranges end in the leaf where they
  /// begin, or right after it; only the others cost teams of several lanes a second search.
  template <std::size_t N, class Team>
  RAYDEX_HD void locate_matches(Team& team, const interval<Key> (&ranges)[N], RowId (&begin)[N],
                                RowId (&end)[N]) const {
    if constexpr (Team::lanes == 1) {
      base::locate_matches(team, ranges, begin, end);
    } else {
      if (size_ == 0) return base::locate_matches(team, ranges, begin, end);
      bool ended[N];
      match_in_leaves(team, ranges, begin, end, ended);
      // A look at the next leaf is worth it for the few short ranges that end with theirs.
      if (!team.many(!all_of(ended))) {
        RAYDEX_UNROLL
        for (std::size_t j = 0; j < N; ++j)
          ended[j] = ended[j] || key(end[j]) > ranges[j].upper;
      }
      if (!team.any(!all_of(ended))) return;
      RowId ends[N];
      const found unused[N] = {};
      this->locate_ends(team, ranges, unused, ends);
      RAYDEX_UNROLL
      for (std::size_t j = 0; j < N; ++j)
        end[j] = ended[j] ? end[j] : ends[j];
    }
  }
  /// @}

  /// @name Pinning the root
  /// @{

  /// The bytes of the root; it is pinned as a whole or not at all.
  RAYDEX_HD std::size_t pinned_bytes(std::size_t room, bool /*in_full*/) const {
    return tree_.root.bytes() <= room ? tree_.root.bytes() : 0;
  }
  /// Pins the root into `memory`; every one of `threads` threads copies its share.
  RAYDEX_HD void pin(void* memory, std::size_t bytes, unsigned thread, unsigned threads) const {
    pin_first(tree_.root.words(), static_cast<std::uint32_t*>(memory), bytes, thread, threads);
  }
  /// @}

 private:
  // From children of the root to leaves: the page of each lookup, where its leaf begins in the
  // page, and the leaf's number in memory.
  template <class Team, std::size_t M>
  RAYDEX_HD void to_leaves(Team& team, const Key (&wanted)[M], RowId (&nodes)[M],
                           unsigned (&slots)[M], RowId (&leaves)[M]) const {
    unsigned ranks[M];
    for (unsigned level = tree_.levels.count(); level > 0; --level) {
      team.rank_in_lines(tree_.pivots + tree_.levels.begin(level - 1), nodes, wanted, ranks);
      RAYDEX_UNROLL
      for (std::size_t m = 0; m < M; ++m)
        nodes[m] = nodes[m] * fan_out + ranks[m];
    }
    RowId places[M];
    RAYDEX_UNROLL
    for (std::size_t m = 0; m < M; ++m)
      places[m] = tree_.pages.place(nodes[m]);
    team.rank_in_lines(tree_.pages.pivots, places, wanted, ranks);
    RAYDEX_UNROLL
    for (std::size_t m = 0; m < M; ++m) {
      slots[m] = ranks[m] * line_entries;
      leaves[m] = places[m] * fan_out + ranks[m];
    }
  }

  // The ranks of the matches of ranges in the leaf where they begin, and whether they end there:
  // the others may go on in the next one.
  template <std::size_t N, class Team>
  RAYDEX_HD void match_in_leaves(Team& team, const interval<Key> (&ranges)[N], RowId (&begin)[N],
                                 RowId (&end)[N], bool (&ended)[N]) const {
    constexpr std::size_t all = N * Team::lanes;
    Key lower[N];
    Key upper[N];
    RAYDEX_UNROLL
    for (std::size_t j = 0; j < N; ++j) {
      lower[j] = ranges[j].lower;
      upper[j] = ranges[j].upper;
    }
    RowId page[N];
    unsigned slot[N];
    unsigned below[N];
    unsigned not_above[N];
    this->enter_all(team, lower, [&](const auto& lowers, auto& nodes) {
      Key uppers[all];
      team.share(upper, uppers);
      unsigned slots[all];
      RowId leaves[all];
      to_leaves(team, lowers, nodes, slots, leaves);
      unsigned all_below[all];
      unsigned all_not_above[all];
      team.count_in_leaf(tree_.pages.entries, leaves, lowers, uppers, all_below, all_not_above);
      team.keep(nodes, page);
      team.keep(slots, slot);
      team.keep(all_below, below);
      team.keep(all_not_above, not_above);
    });
    RAYDEX_UNROLL
    for (std::size_t j = 0; j < N; ++j) {
      const RowId first = tree_.pages.first_rank(page[j]);
      const RowId next = tree_.pages.first_rank(page[j] + 1);
      begin[j] = first + slot[j] + below[j];
      const RowId stop = first + slot[j] + not_above[j];
      end[j] = stop < next ? stop : next;  // what pads a leaf is above none but the largest key
      // Before the end of its leaf and of its page there is an entry above the range.
      ended[j] = (not_above[j] < line_entries && stop < next) || end[j] == size_;
    }
  }
  template <std::size_t N>
  RAYDEX_HD static bool all_of(const bool (&flags)[N]) {
    bool all = true;
    RAYDEX_UNROLL
    for (std::size_t j = 0; j < N; ++j)
      all = all && flags[j];
    return all;
  }

  // The page that has a rank: pages are about equally full, so that it is near where it would be if
  // they were.
  RAYDEX_HD RowId page_of(RowId rank) const {
    const auto guess = static_cast<RowId>(static_cast<double>(rank) * pages_per_entry_);
    return lower_bound_near([this](RowId i) { return tree_.pages.first_rank(i + 1); },
                            tree_.pages.count, guess, RowId{1}, rank + 1);
  }
  // Where the entry at a rank is in memory.
  RAYDEX_HD RowId slot_of(RowId rank) const {
    const RowId page = page_of(rank);
    return tree_.pages.place(page) * page_capacity<Key> + (rank - tree_.pages.first_rank(page));
  }
  RAYDEX_HD row_entries<Key, RowId> page_entries(RowId page) const {
    constexpr std::uint64_t words = page_capacity<Key> * row_entries<Key, RowId>::words_per_entry;
    return {tree_.pages.entries.words + tree_.pages.place(page) * words};
  }

  parts tree_;
  RowId size_;
  double pages_per_entry_;
};

}  // namespace raydex::core
