// SPDX-License-Identifier: Apache-2.0
/// @file
/// The pivots above an ascending array, level by level (lightweight paper, sections 3.3 to 3.5).
#pragma once

#include <cstdint>

#include "raydex/core/config.hpp"

namespace raydex::core {

/// Which pivots there are and where they lie: a formula of the number of entries, with nothing to
/// store but where each level begins. The entries are cut into leaves of `leaf` entries. A node has
/// `fan_out` children and `fan_out - 1` pivots, the last keys of all its children but the last. The
/// nodes of a level are the children of the one above; level 0 is right above the leaves. Nodes are
/// full: where no child comes after a pivot, it holds the largest key, which no search passes.
class pivot_levels {
 public:
  /// Most levels: 2^40 entries have so many with a fan-out of 2.
  static constexpr unsigned most = 40;

  /// No level: the search begins at the leaves.
  pivot_levels() = default;

  /// Levels from the leaves up, until at most `most_roots` nodes are left, or `most_levels` are
  /// there. Preconditions: fan_out >= 2, leaf >= 1, most_roots >= 1.
  RAYDEX_HD pivot_levels(std::uint64_t entries, std::uint64_t leaf, unsigned fan_out,
                         std::uint64_t most_roots, unsigned most_levels = most)
      : leaf_(leaf), fan_out_(fan_out), roots_((entries + leaf - 1) / leaf) {
    while (roots_ > most_roots && count_ < most_levels) {
      roots_ = (roots_ + fan_out - 1) / fan_out;
      first_node_[count_++] = roots_;
    }
    for (unsigned level = count_; level > 0; --level) {
      const std::uint64_t nodes = first_node_[level - 1];
      first_node_[level - 1] = nodes_;
      nodes_ += nodes;
    }
  }

  /// Number of levels.
  RAYDEX_HD unsigned count() const { return count_; }
  /// Children of a node.
  RAYDEX_HD unsigned fan_out() const { return fan_out_; }
  /// Entries of a leaf.
  RAYDEX_HD std::uint64_t leaf() const { return leaf_; }
  /// Nodes of the topmost level; leaves if there is none.
  RAYDEX_HD std::uint64_t roots() const { return roots_; }
  /// Nodes in all; the topmost level comes first.
  RAYDEX_HD std::uint64_t nodes() const { return nodes_; }
  /// Where the nodes of a level begin.
  RAYDEX_HD std::uint64_t first_node(unsigned level) const { return first_node_[level]; }
  /// Pivots in all; the topmost level comes first.
  RAYDEX_HD std::uint64_t size() const { return nodes_ * (fan_out_ - 1); }
  /// Where the pivots of a level begin.
  RAYDEX_HD std::uint64_t begin(unsigned level) const {
    return first_node_[level] * (fan_out_ - 1);
  }
  /// Entries below a node of the topmost level; of a leaf if there is none.
  RAYDEX_HD std::uint64_t entries_per_root() const {
    std::uint64_t entries = leaf_;
    for (unsigned level = 0; level < count_; ++level)
      entries *= fan_out_;
    return entries;
  }

  /// The entries below a node.
  struct span {
    std::uint64_t first;  ///< the first of them
    std::uint64_t child;  ///< how many below each child, as far as there are entries
  };
  /// The span of node `i`, counting the nodes of all levels, the topmost level first.
  RAYDEX_HD span span_of(std::uint64_t i) const {
    unsigned level = 0;
    std::uint64_t child = leaf_;
    while (i < first_node_[level]) {
      ++level;
      child *= fan_out_;
    }
    return {(i - first_node_[level]) * fan_out_ * child, child};
  }

  /// The entry whose key is the pivot in slot `i` of all: the paper's p(l, i) = K^l (K - 1) (1 + i
  /// + floor(i / (K - 1))) - 1, for leaves of any size. It may lie beyond the last entry.
  RAYDEX_HD std::uint64_t entry_of(std::uint64_t i) const {
    const span below = span_of(i / (fan_out_ - 1));
    return below.first + (1 + i % (fan_out_ - 1)) * below.child - 1;
  }

 private:
  std::uint64_t leaf_ = 1;
  unsigned fan_out_ = 2;
  unsigned count_ = 0;
  std::uint64_t roots_ = 0;
  std::uint64_t nodes_ = 0;
  std::uint64_t first_node_[most] = {};
};

/// Writes the pivots: one read and one write for each, in any order.
template <class Entries>
struct place_pivots {
  using key = typename Entries::key_type;  ///< an encoded key

  pivot_levels levels;  ///< which pivots
  Entries entries;      ///< ascending
  std::uint64_t size;   ///< number of entries
  key* pivots;          ///< where to

  /// Writes pivot `i`.
  RAYDEX_HD void operator()(std::uint64_t i) const {
    const std::uint64_t entry = levels.entry_of(i);
    pivots[i] = entry + 1 < size ? entries.key(static_cast<typename Entries::row_id_type>(entry))
                                 : static_cast<key>(-1);
  }
};

}  // namespace raydex::core
