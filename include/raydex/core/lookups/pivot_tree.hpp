// SPDX-License-Identifier: Apache-2.0
/// @file
/// `pivot_tree` inside kernels: its two trees over ascending entries.
#pragma once

#include <cstddef>
#include <cstdint>

#include "raydex/core/config.hpp"
#include "raydex/core/keys/entries.hpp"
#include "raydex/core/lookups/ordered_view.hpp"
#include "raydex/core/lookups/team.hpp"
#include "raydex/core/lookups/tree_nodes.hpp"

namespace raydex::core {

/// The paper's pivot tree (AO + PB + BS for a fan-out of 2, AO + PB + KS above): all levels up to a
/// single root, or only the topmost ones of them. A lookup costs a node a level and a leaf.
template <class Entries>
class pivot_tree_view : public view_of_entries<pivot_tree_view<Entries>, Entries> {
  using base = typename pivot_tree_view::view_of_entries;

 public:
  using typename base::key_type;           ///< an encoded key
  using typename base::row_id_type;        ///< a row id
  using found = found_entry<row_id_type>;  ///< what a search finds

  /// A view of `size` entries and the pivots above them.
  RAYDEX_HD pivot_tree_view(Entries entries, row_id_type size, const pivot_levels& levels,
                            const key_type* pivots)
      : base(entries, size), levels_(levels), pivot_at_{pivots} {}

  /// Children of a node.
  RAYDEX_HD unsigned fan_out_of_nodes() const { return levels_.fan_out(); }

  /// @name The parts of a search; see `ordered_view`
  /// @{

  /// Takes the lookups of a team from there to their entries.
  template <class Team, std::size_t M, std::size_t N>
  RAYDEX_HD void descend(Team& team, const key_type (&wanted)[M], row_id_type (&nodes)[M],
                         found (&at)[N]) const {
    const unsigned width = levels_.fan_out() - 1;
    unsigned ranks[M];
    for (unsigned level = levels_.count(); level > 0; --level) {
      const std::uint64_t begin = levels_.begin(level - 1);
      team.rank(width,
                node_keys{[&](std::size_t m, unsigned i) {
                            return pinned_or<key_type>(team.pinned,
                                                       begin + std::uint64_t{nodes[m]} * width + i,
                                                       pivot_at_);
                          },
                          [&](std::size_t m) {
                            return run_of(
                                pivot_at_.pivots + begin + std::uint64_t{nodes[m]} * width, width);
                          }},
                wanted, ranks);
      RAYDEX_UNROLL
      for (std::size_t m = 0; m < M; ++m)
        nodes[m] = nodes[m] * levels_.fan_out() + ranks[m];
    }
    row_id_type rank[M];
    RAYDEX_UNROLL
    for (std::size_t m = 0; m < M; ++m)
      rank[m] = narrow(wanted[m], nodes[m], width);
    // What is left of a leaf fits the team.
    team.rank(width,
              node_keys{[&](std::size_t m, unsigned i) {
                          return i < this->size_ - rank[m] ? this->entries_.key(rank[m] + i)
                                                           : static_cast<key_type>(-1);
                        },
                        [&](std::size_t m) {
                          const row_id_type left = this->size_ - rank[m];
                          return this->entries_.run(rank[m], left < width ? left : width);
                        }},
              wanted, ranks);
    RAYDEX_UNROLL
    for (std::size_t m = 0; m < M; ++m)
      rank[m] = rank[m] + ranks[m];
    row_id_type own[N];
    key_type own_wanted[N];
    team.keep(rank, own);
    team.keep(wanted, own_wanted);
    RAYDEX_UNROLL
    for (std::size_t j = 0; j < N; ++j) {
      at[j] = {own[j], false, 0};
      if (own[j] == this->size_ || this->entries_.key(own[j]) != own_wanted[j]) continue;
      at[j].hit = true;
      at[j].row = this->entries_.row_id(own[j]);
    }
  }
  /// @}

  /// @name Pinning the topmost pivots (lightweight paper, section 4.2)
  /// @{

  /// The bytes of fast memory to pin, at most `room`: whole levels, or as many pivots as fit.
  RAYDEX_HD std::size_t pinned_bytes(std::size_t room, bool in_full) const {
    const std::uint64_t fit = room / sizeof(key_type);
    if (fit >= levels_.size()) return static_cast<std::size_t>(levels_.size()) * sizeof(key_type);
    std::uint64_t pivots = in_full ? fit : 0;
    for (unsigned level = 0; level < levels_.count() && !in_full; ++level) {
      if (levels_.begin(level) > fit) continue;  // the levels above this one do not fit
      pivots = levels_.begin(level);
      break;
    }
    return static_cast<std::size_t>(pivots) * sizeof(key_type);
  }
  /// Pins into `memory`; every one of `threads` threads copies its share.
  RAYDEX_HD void pin(void* memory, std::size_t bytes, unsigned thread, unsigned threads) const {
    pin_first(pivot_at_, static_cast<key_type*>(memory), bytes, thread, threads);
  }
  /// @}

 private:
  // Halves a leaf that is longer than a node until it is not; the wanted key's rank is then among
  // the `width` entries from the rank returned on, or right after them.
  RAYDEX_HD row_id_type narrow(key_type wanted, row_id_type leaf, unsigned width) const {
    auto begin = static_cast<row_id_type>(leaf * levels_.leaf());
    std::uint64_t length =
        this->size_ - begin < levels_.leaf() ? this->size_ - begin : levels_.leaf();
    while (length > width) {
      const auto half = static_cast<row_id_type>(length / 2);
      const bool above = this->entries_.key(begin + half - 1) < wanted;
      begin = above ? begin + half : begin;
      length = above ? length - half : half;
    }
    return begin;
  }

  pivot_levels levels_;
  struct pivot_at {
    const key_type* pivots;
    RAYDEX_HD key_type operator()(std::uint64_t i) const { return load(pivots + i); }
  };
  pivot_at pivot_at_;
};

/// The tree that goes beyond the paper, made of cache lines: a wide root meant for fast memory,
/// levels of nodes with a 64-byte line of pivots each, below them levels of quantised nodes, a
/// level of narrow nodes, and leaves of 8 entries. Each kind of level may be missing. A lookup in
/// 2^26 entries reads two lines of separators and one of entries.
template <class Entries>
class line_tree_view : public view_of_entries<line_tree_view<Entries>, Entries> {
  using base = typename line_tree_view::view_of_entries;

 public:
  using typename base::key_type;               ///< an encoded key
  using typename base::row_id_type;            ///< a row id
  using found = found_entry<row_id_type>;      ///< what a search finds
  using quantised = quantised_node<key_type>;  ///< a node of the lower levels
  using narrow = narrow_node<key_type>;        ///< a node of the lowest one, if that is narrow

  /// Children of a node of pivots.
  static constexpr unsigned fan_out = line_pivots<key_type> + 1;

  /// Where the parts of the tree lie.
  struct parts {
    root_node<key_type> root;  ///< the root
    pivot_levels exact;        ///< levels of pivots below it, their leaves being what is below a
                               ///< topmost node that rounds if there are any
    const key_type* pivots;    ///< those of these levels
    pivot_levels rounded;      ///< levels of quantised nodes below these, likewise
    const quantised* nodes;    ///< those of these levels
    const narrow* lowest;      ///< narrow nodes right above the leaves; null if there are none
  };

  /// A view of `size` entries and the tree above them. Entries must be readable up to the end of
  /// the last leaf.
  RAYDEX_HD line_tree_view(Entries entries, row_id_type size, const parts& tree)
      : base(entries, size), tree_(tree) {}

  /// @name The parts of a search; see `ordered_view`
  /// @{

  /// The child of the root.
  template <class Team>
  RAYDEX_HD row_id_type enter(const Team& team, key_type wanted) const {
    // Two calls, so that the compiler knows which memory each of them reads.
    if (team.pinned.bytes == 0) return static_cast<row_id_type>(tree_.root.child(wanted));
    return static_cast<row_id_type>(tree_.root.at(team.pinned.data).child(wanted));
  }

  /// Takes the lookups of a team from there to their entries.
  template <class Team, std::size_t M, std::size_t N>
  RAYDEX_HD void descend(Team& team, const key_type (&wanted)[M], row_id_type (&nodes)[M],
                         found (&at)[N]) const {
    to_leaves(team, wanted, nodes);
    unsigned ranks[M];
    do {
      team.search_leaf(this->entries_, nodes, wanted, ranks, at);
    } while (step_on(team, wanted, ranks, nodes));
    row_id_type own_leaf[N];
    unsigned own_rank[N];
    team.keep(nodes, own_leaf);
    team.keep(ranks, own_rank);
    RAYDEX_UNROLL
    for (std::size_t j = 0; j < N; ++j) {
      at[j].rank = in_column(own_leaf[j] * line_entries + own_rank[j]);
      // What pads the last leaf has ranks, too.
      if constexpr (Entries::are_ranked) at[j].hit = at[j].hit && at[j].rank < this->size_;
    }
  }

  /// The ranks of the matches of N ranges a lane. Most short ranges end in the leaf where they
  /// begin, or right after it; only the others cost teams of several lanes a second search.
  template <std::size_t N, class Team>
  RAYDEX_HD void locate_matches(Team& team, const interval<key_type> (&ranges)[N],
                                row_id_type (&begin)[N], row_id_type (&end)[N]) const {
    if constexpr (Team::lanes == 1) {
      base::locate_matches(team, ranges, begin, end);
    } else {
      if (this->size_ == 0) return base::locate_matches(team, ranges, begin, end);
      bool ended[N];
      match_in_leaves(team, ranges, begin, end, ended);
      // A look at the next leaf is worth it for the few short ranges that end with theirs.
      if (!team.many(!all_of(ended))) {
        RAYDEX_UNROLL
        for (std::size_t j = 0; j < N; ++j)
          ended[j] = ended[j] || this->entries_.key(end[j]) > ranges[j].upper;
      }
      if (!team.any(!all_of(ended))) return;
      row_id_type ends[N];
      const found unused[N] = {};
      this->locate_ends(team, ranges, unused, ends);
      RAYDEX_UNROLL
      for (std::size_t j = 0; j < N; ++j)
        end[j] = ended[j] ? end[j] : ends[j];
    }
  }

  /// The same for the row ids of the matches alone.
  template <class Team, std::size_t M, std::size_t N>
  RAYDEX_HD void descend_to_rows(Team& team, const key_type (&wanted)[M], row_id_type (&nodes)[M],
                                 row_id_type (&rows)[N]) const {
    to_leaves(team, wanted, nodes);
    bool beyond = false;
    team.match_in_leaf(this->entries_, nodes, wanted, rows, beyond);
    if constexpr (Entries::are_ranked) {
      RAYDEX_UNROLL
      for (std::size_t j = 0; j < N; ++j)
        rows[j] = rows[j] < this->size_ ? rows[j] : static_cast<row_id_type>(-1);
    }
    if (!may_mislead() || !team.any(beyond)) return;
    row_id_type leaf[N];
    key_type own[N];
    team.keep(nodes, leaf);
    team.keep(wanted, own);
    RAYDEX_UNROLL
    for (std::size_t j = 0; j < N; ++j) {
      // What was found needs no look at its leaf.
      const bool found_it = rows[j] != static_cast<row_id_type>(-1);
      if (found_it || leaf[j] == last_leaf() || last_key(leaf[j]) >= own[j]) continue;
      rows[j] = row_in(leaf_after(leaf[j], own[j]), own[j]);
    }
  }
  /// @}

  /// Whether nodes of 8 bits lie above the leaves.
  RAYDEX_HD bool has_narrow_nodes() const { return tree_.lowest != nullptr; }

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
  // From children of the root to leaves.
  template <class Team, std::size_t M>
  RAYDEX_HD void to_leaves(Team& team, const key_type (&wanted)[M], row_id_type (&nodes)[M]) const {
    unsigned ranks[M];
    for (unsigned level = tree_.exact.count(); level > 0; --level) {
      team.rank_in_lines(tree_.pivots + tree_.exact.begin(level - 1), nodes, wanted, ranks);
      RAYDEX_UNROLL
      for (std::size_t m = 0; m < M; ++m)
        nodes[m] = nodes[m] * fan_out + ranks[m];
    }
    for (unsigned level = tree_.rounded.count(); level > 0; --level) {
      team.rank_quantised(tree_.nodes + tree_.rounded.first_node(level - 1), nodes, wanted, ranks);
      RAYDEX_UNROLL
      for (std::size_t m = 0; m < M; ++m)
        nodes[m] = nodes[m] * quantised::fan_out + ranks[m];
    }
    if (!has_narrow_nodes()) return;
    team.rank_narrow(tree_.lowest, nodes, wanted, ranks);
    RAYDEX_UNROLL
    for (std::size_t m = 0; m < M; ++m)
      nodes[m] = nodes[m] * narrow::fan_out + ranks[m];
  }
  // Whether a search may come to a leaf before its own.
  RAYDEX_HD bool may_mislead() const { return tree_.rounded.count() != 0 || has_narrow_nodes(); }

  // The ranks of the matches of ranges in the leaf where they begin, and whether they end there:
  // the others may go on in the next one.
  template <std::size_t N, class Team>
  RAYDEX_HD void match_in_leaves(Team& team, const interval<key_type> (&ranges)[N],
                                 row_id_type (&begin)[N], row_id_type (&end)[N],
                                 bool (&ended)[N]) const {
    constexpr std::size_t all = N * Team::lanes;
    key_type lower[N];
    key_type upper[N];
    RAYDEX_UNROLL
    for (std::size_t j = 0; j < N; ++j) {
      lower[j] = ranges[j].lower;
      upper[j] = ranges[j].upper;
    }
    row_id_type leaf[N];
    unsigned below[N];
    unsigned not_above[N];
    this->enter_all(team, lower, [&](const auto& lowers, auto& nodes) {
      key_type uppers[all];
      team.share(upper, uppers);
      to_leaves(team, lowers, nodes);
      unsigned all_below[all];
      unsigned all_not_above[all];
      do {
        team.count_in_leaf(this->entries_, nodes, lowers, uppers, all_below, all_not_above);
      } while (step_on(team, lowers, all_below, nodes));
      team.keep(nodes, leaf);
      team.keep(all_below, below);
      team.keep(all_not_above, not_above);
    });
    RAYDEX_UNROLL
    for (std::size_t j = 0; j < N; ++j) {
      begin[j] = in_column(leaf[j] * line_entries + below[j]);
      end[j] = in_column(leaf[j] * line_entries + not_above[j]);
      ended[j] = not_above[j] < line_entries || leaf[j] == last_leaf();
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

  // Takes lookups on whose leaf turned out to end below the wanted key. Whether there are any.
  template <class Team, std::size_t M>
  RAYDEX_HD bool step_on(Team& team, const key_type (&wanted)[M], const unsigned (&ranks)[M],
                         row_id_type (&leaves)[M]) const {
    if (!may_mislead()) return false;
    bool any = false;
    RAYDEX_UNROLL
    for (std::size_t m = 0; m < M; ++m) {
      if (ranks[m] < line_entries || leaves[m] == last_leaf()) continue;
      leaves[m] = leaf_after(leaves[m], wanted[m]);
      any = true;
    }
    return team.any(any);
  }

  // Not beyond the end of the column, as the ranks of what pads a leaf are.
  RAYDEX_HD row_id_type in_column(row_id_type rank) const {
    return rank < this->size_ ? rank : this->size_;
  }
  RAYDEX_HD row_id_type last_leaf() const { return (this->size_ - 1) / line_entries; }
  RAYDEX_HD key_type last_key(row_id_type leaf) const {
    return this->entries_.key(leaf * line_entries + (line_entries - 1));
  }

  // The leaf with the first entry that is not below the wanted key, or the last leaf. All entries
  // of `leaf`, which is not the last one, are below: separators that rounded to the same led there.
  RAYDEX_HD row_id_type leaf_after(row_id_type leaf, key_type wanted) const {
    row_id_type low = leaf;
    row_id_type step = 1;
    while (last_leaf() - low > step && last_key(low + step) < wanted) {
      low += step;
      step *= 2;
    }
    row_id_type high = last_leaf() - low > step ? low + step : last_leaf();
    while (high - low > 1) {
      const row_id_type middle = low + (high - low) / 2;
      (last_key(middle) < wanted ? low : high) = middle;
    }
    return high;
  }
  // The row id of the first entry of a leaf whose key is the one wanted.
  RAYDEX_HD row_id_type row_in(row_id_type leaf, key_type wanted) const {
    for (unsigned i = 0; i < line_entries; ++i) {
      const row_id_type at = leaf * line_entries + i;
      if (at < this->size_ && this->entries_.key(at) == wanted) return this->entries_.row_id(at);
    }
    return static_cast<row_id_type>(-1);
  }

  parts tree_;
};

}  // namespace raydex::core
