// SPDX-License-Identifier: Apache-2.0
/// @file
/// `pivot_tree` inside kernels: its two trees over ascending entries.
#pragma once

#include <cstddef>
#include <cstdint>

#include "raydex/core/config.hpp"
#include "raydex/core/entries.hpp"
#include "raydex/core/ordered_view.hpp"
#include "raydex/core/pinned.hpp"
#include "raydex/core/pivot_levels.hpp"
#include "raydex/core/quantised_node.hpp"
#include "raydex/core/root_node.hpp"

namespace raydex::core {

/// What both trees have in common: ascending entries below them.
template <class View, class Entries>
class tree_over_entries
    : public ordered_view<View, typename Entries::key_type, typename Entries::row_id_type> {
 public:
  using key_type = typename Entries::key_type;        ///< an encoded key
  using row_id_type = typename Entries::row_id_type;  ///< a row id

  /// Number of entries.
  RAYDEX_HD row_id_type size() const { return size_; }
  /// The row id of the entry at a rank.
  RAYDEX_HD row_id_type row_id(row_id_type rank) const { return entries_.row_id(rank); }
  /// The entries themselves, in ascending order.
  RAYDEX_HD const Entries& entries() const { return entries_; }

  /// Visits a lane's share of a range; see `ordered_view`.
  template <class Visit>
  RAYDEX_HD void scan(row_id_type begin, row_id_type end, unsigned lane, unsigned lanes,
                      Visit&& visit) const {
    scan_ranks(entries_, begin, end, lane, lanes, visit);
  }

 protected:
  /// A view of `size` entries.
  RAYDEX_HD tree_over_entries(Entries entries, row_id_type size) : entries_(entries), size_(size) {}

  Entries entries_;   ///< ascending
  row_id_type size_;  ///< how many
};

/// The paper's pivot tree (AO + PB + BS for a fan-out of 2, AO + PB + KS above): all levels up to a
/// single root, or only the topmost ones of them. A lookup costs a node a level and a leaf.
template <class Entries>
class pivot_tree_view : public tree_over_entries<pivot_tree_view<Entries>, Entries> {
  using base = typename pivot_tree_view::tree_over_entries;

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

  /// Searches begin at the root.
  template <class Team>
  RAYDEX_HD row_id_type enter(const Team& /*team*/, key_type /*wanted*/) const {
    return 0;
  }

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
/// nodes of a 64-byte line of pivots, a level of quantised nodes if the column is large, and leaves
/// of one or two lines of 8 entries. A lookup in 2^26 entries reads one line of pivots, half a line
/// of separators, and one line of entries.
template <class Entries>
class line_tree_view : public tree_over_entries<line_tree_view<Entries>, Entries> {
  using base = typename line_tree_view::tree_over_entries;

 public:
  using typename base::key_type;               ///< an encoded key
  using typename base::row_id_type;            ///< a row id
  using found = found_entry<row_id_type>;      ///< what a search finds
  using quantised = quantised_node<key_type>;  ///< a node of the lowest level

  /// Children of a node of pivots.
  static constexpr unsigned fan_out = line_pivots<key_type> + 1;

  /// Where the parts of the tree lie.
  struct parts {
    root_node<key_type> root;     ///< the root
    pivot_levels levels;          ///< levels of nodes below it, their leaves being
                                  ///< quantised nodes if there are any
    const key_type* pivots;       ///< those of the levels
    const quantised* separators;  ///< quantised nodes, or null
    unsigned leaf_lines;          ///< lines of a leaf, 1 or 2
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
    unsigned ranks[M];
    for (unsigned level = tree_.levels.count(); level > 0; --level) {
      team.rank_in_lines(tree_.pivots + tree_.levels.begin(level - 1), nodes, wanted, ranks);
      RAYDEX_UNROLL
      for (std::size_t m = 0; m < M; ++m)
        nodes[m] = nodes[m] * fan_out + ranks[m];
    }
    if (tree_.separators != nullptr) {
      team.rank_quantised(tree_.separators, nodes, wanted, ranks);
      RAYDEX_UNROLL
      for (std::size_t m = 0; m < M; ++m)
        nodes[m] = nodes[m] * quantised::fan_out + ranks[m];
    }
    if (tree_.leaf_lines == 1) {
      search_leaves<1>(team, wanted, nodes, at);
    } else {
      search_leaves<2>(team, wanted, nodes, at);
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
  template <unsigned Lines, class Team, std::size_t M, std::size_t N>
  RAYDEX_HD void search_leaves(Team& team, const key_type (&wanted)[M], row_id_type (&leaves)[M],
                               found (&at)[N]) const {
    constexpr unsigned leaf = Lines * line_entries;
    row_id_type first[M];
    unsigned ranks[M];
    for (;;) {
      RAYDEX_UNROLL
      for (std::size_t m = 0; m < M; ++m)
        first[m] = leaves[m] * leaf;
      team.template search_leaf<Lines>(this->entries_, first, wanted, ranks, at);
      if (tree_.separators == nullptr) break;
      bool go_on = false;
      RAYDEX_UNROLL
      for (std::size_t m = 0; m < M; ++m) {
        // All below: separators that rounded to the same led here too early.
        const bool next = ranks[m] == leaf && this->size_ - first[m] > leaf;
        leaves[m] += next ? 1U : 0U;
        go_on = go_on || next;
      }
      if (!team.any(go_on)) break;
    }
    row_id_type own_first[N];
    unsigned own_ranks[N];
    team.keep(first, own_first);
    team.keep(ranks, own_ranks);
    RAYDEX_UNROLL
    for (std::size_t j = 0; j < N; ++j) {
      const row_id_type rank = own_first[j] + own_ranks[j];
      at[j].rank = rank < this->size_ ? rank : this->size_;
    }
  }

  parts tree_;
};

/// Writes the quantised nodes over leaves of `leaf` entries, and how many of their separators round
/// to the same as the key after them.
template <class Entries>
struct place_separators {
  using node = quantised_node<typename Entries::key_type>;  ///< what is written

  Entries entries;         ///< ascending
  std::uint64_t size;      ///< number of entries
  std::uint64_t leaf;      ///< entries of a leaf
  node* nodes;             ///< where to, or null
  std::uint64_t every;     ///< nodes from one that is looked at to the next
  std::uint64_t* rounded;  ///< how many separators round, a number per node looked at; or null

  /// Writes or looks at node `i * every`.
  RAYDEX_HD void operator()(std::uint64_t i) const {
    const std::uint64_t first = i * every * node::fan_out * leaf;
    const std::uint64_t children = node::fan_out * leaf;
    const std::uint64_t end = size - first < children ? size : first + children;
    node built;
    built.base_and_shift = node::scale(key(first), key(end - 1));
    std::uint64_t lost = 0;
    for (unsigned c = 0; c < node::separators; ++c) {
      const std::uint64_t next = first + (c + 1) * leaf;  // where the child after this one begins
      built.separator[c] = node::none;
      if (next >= end) continue;
      built.separator[c] = node::quantise(built.base_and_shift, key(next - 1));
      const bool same = built.separator[c] == node::quantise(built.base_and_shift, key(next));
      lost += same && key(next - 1) != key(next) ? 1U : 0U;
    }
    if (nodes != nullptr) nodes[i * every] = built;
    if (rounded != nullptr) rounded[i] = lost;
  }

 private:
  RAYDEX_HD auto key(std::uint64_t i) const {
    return entries.key(static_cast<typename Entries::row_id_type>(i));
  }
};

}  // namespace raydex::core
