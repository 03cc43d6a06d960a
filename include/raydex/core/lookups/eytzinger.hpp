// SPDX-License-Identifier: Apache-2.0
/// @file
/// `eytzinger` inside kernels: a complete K-ary search tree in an array (lightweight paper,
/// sections 3.2, 3.4 and 3.5).
#pragma once

#include <cstddef>
#include <cstdint>

#include "raydex/core/config.hpp"
#include "raydex/core/keys/entries.hpp"
#include "raydex/core/lookups/ordered_view.hpp"
#include "raydex/core/lookups/team.hpp"

namespace raydex::core {

/// The arithmetic of the layout: which slot holds which rank, as closed formulas (paper, section
/// 3.5). Slots are filled level by level from the root; node j has the slots from j (K - 1) on, and
/// its children are the nodes j K + 1 to j K + K. All levels are full but the last, which is filled
/// from the left.
template <class Position>
class eytzinger_order {
 public:
  /// The order of `size` slots with nodes of `fan_out` - 1 slots.
  RAYDEX_HD eytzinger_order(Position size, unsigned fan_out) : size_(size), fan_out_(fan_out) {
    // Levels that are full: while K^(d + 1) - 1 <= size.
    while (size_ - inner_ >= (std::uint64_t{inner_} + 1) * (fan_out - 1)) {
      inner_ = static_cast<Position>(inner_ + (inner_ + 1) * (fan_out - 1));
      ++inner_levels_;
    }
    last_ = size_ - inner_;
  }

  /// Number of slots.
  RAYDEX_HD Position size() const { return size_; }
  /// Children of a node.
  RAYDEX_HD unsigned fan_out() const { return fan_out_; }
  /// Number of levels, the last one included if it has slots.
  RAYDEX_HD unsigned levels() const { return inner_levels_ + (last_ != 0 ? 1 : 0); }

  /// The rank of slot `i` of a level, counted from the level's first slot. The formula for inner
  /// levels is q = K^l (1 + i + floor(i / (K - 1))) - 1, moved by the slots of the last level that
  /// come before it.
  RAYDEX_HD Position rank_of(unsigned level, Position i) const {
    const Position width = fan_out_ - 1;
    if (level == inner_levels_) return i + i / width;
    const Position q = power(inner_levels_ - 1 - level) * (1 + i + i / width) - 1;
    const std::uint64_t before = (std::uint64_t{q} + 1) * width;
    return q + (before < last_ ? static_cast<Position>(before) : last_);
  }

  /// The first slot of a level: K^level - 1.
  RAYDEX_HD Position begin(unsigned level) const { return power(level) - 1; }

  /// The slot of a rank.
  RAYDEX_HD Position slot_of(Position rank) const {
    const Position width = fan_out_ - 1;
    const Position full = last_ / width;  // full nodes of the last level, each before an inner slot
    if (rank / fan_out_ < full) {
      if (rank % fan_out_ != width) return inner_ + rank / fan_out_ * width + rank % fan_out_;
      return inner_slot(rank / fan_out_);
    }
    const Position after = rank - full * fan_out_;
    if (after < last_ - full * width) return inner_ + full * width + after;
    return inner_slot(rank - last_);
  }

  /// How many slots of a level have a rank below `rank`.
  RAYDEX_HD Position slots_before(unsigned level, Position rank) const {
    const Position inner = inner_before(rank);
    if (level == inner_levels_) return rank - inner;
    const Position u = inner / power(inner_levels_ - 1 - level);
    return u - u / fan_out_;
  }

 private:
  // Inner slots among the first ranks.
  RAYDEX_HD Position inner_before(Position rank) const {
    const Position full = last_ / (fan_out_ - 1);
    if (rank / fan_out_ < full) return rank / fan_out_;
    return rank < full + last_ ? full : rank - last_;
  }
  // The slot of the q-th inner key in ascending order.
  RAYDEX_HD Position inner_slot(Position q) const {
    Position u = q + 1;
    unsigned above = 0;  // levels between it and the lowest inner one
    while (u % fan_out_ == 0) {
      u /= fan_out_;
      ++above;
    }
    return begin(inner_levels_ - 1 - above) + u - 1 - u / fan_out_;
  }
  RAYDEX_HD Position power(unsigned exponent) const {
    Position p = 1;
    for (unsigned e = 0; e < exponent; ++e)
      p *= fan_out_;
    return p;
  }

  Position size_;
  unsigned fan_out_;
  unsigned inner_levels_ = 0;
  Position inner_ = 0;  // slots of the full levels
  Position last_ = 0;   // slots of the last level
};

/// Writes entries in Eytzinger order: one read and one write a slot, in any order.
template <class Sorted, class Put>
struct place_eytzinger {
  using position = typename Sorted::row_id_type;  ///< a slot or a rank

  eytzinger_order<position> order;  ///< which rank goes where
  Sorted sorted;                    ///< entries in ascending order
  Put put;                          ///< `put(slot, key, row_id)`

  /// Writes slot `i`.
  RAYDEX_HD void operator()(std::uint64_t i) const {
    unsigned level = 0;
    std::uint64_t begin = 0;  // of the level
    for (std::uint64_t next = order.fan_out() - 1; next <= i;
         next = next * order.fan_out() + order.fan_out() - 1) {
      begin = next;
      ++level;
    }
    const position rank = order.rank_of(level, static_cast<position>(i - begin));
    put(static_cast<position>(i), sorted.key(rank), sorted.row_id(rank));
  }
};

/// A trivially copyable view of an `eytzinger`, for searches inside the user's own code. A search
/// reads a node a level.
template <class Entries>
class eytzinger_view : public ordered_view<eytzinger_view<Entries>, typename Entries::key_type,
                                           typename Entries::row_id_type> {
  using base = typename eytzinger_view::ordered_view;

 public:
  using typename base::found;        ///< what a search finds
  using typename base::key_type;     ///< an encoded key
  using typename base::row_id_type;  ///< a row id

  /// A view of entries that lie in this order.
  RAYDEX_HD eytzinger_view(Entries entries, const eytzinger_order<row_id_type>& order)
      : entries_(entries), order_(order) {}

  /// Number of entries.
  RAYDEX_HD row_id_type size() const { return order_.size(); }
  /// The key of the entry at a rank.
  RAYDEX_HD key_type key(row_id_type rank) const { return entries_.key(order_.slot_of(rank)); }
  /// The row id of the entry at a rank.
  RAYDEX_HD row_id_type row_id(row_id_type rank) const {
    return entries_.row_id(order_.slot_of(rank));
  }

  /// Children of a node.
  RAYDEX_HD unsigned fan_out_of_nodes() const { return order_.fan_out(); }

  /// @name The parts of a search; see `ordered_view`
  /// @{

  /// Descends to the last level; the answer is the lowest slot on the path whose key is not below
  /// the wanted one. With equal keys it must be the lowest, so no search ends early.
  template <class Team, std::size_t M, std::size_t N>
  RAYDEX_HD void descend(Team& team, const key_type (&wanted)[M], row_id_type (&nodes)[M],
                         found (&at)[N]) const {
    const unsigned width = order_.fan_out() - 1;
    place lowest[M];
    unsigned below[M];
    std::uint64_t begin = 0;  // of the level; beyond 32 bits the slots after it do not exist
    for (unsigned level = 0; level < order_.levels(); ++level) {
      team.rank(width,
                node_keys{[&](std::size_t m, unsigned i) {
                            const std::uint64_t slot = begin + std::uint64_t{nodes[m]} * width + i;
                            return slot < size() ? pinned_or<key_type>(team.pinned, slot,
                                                                       key_at_slot{entries_})
                                                 : static_cast<key_type>(-1);
                          },
                          [&](std::size_t m) {
                            const std::uint64_t slot = begin + std::uint64_t{nodes[m]} * width;
                            const std::uint64_t left = slot < size() ? size() - slot : 0;
                            return entries_.run(static_cast<row_id_type>(left != 0 ? slot : 0),
                                                left < width ? left : width);
                          }},
                wanted, below);
      RAYDEX_UNROLL
      for (std::size_t m = 0; m < M; ++m) {
        const std::uint64_t within = std::uint64_t{nodes[m]} * width + below[m];
        if (below[m] < width && begin + within < size()) {
          lowest[m] = {true, level, static_cast<row_id_type>(within)};
        }
        nodes[m] = nodes[m] * order_.fan_out() + below[m];
      }
      begin = begin * order_.fan_out() + width;
    }
    place own[N];
    key_type own_wanted[N];
    team.keep(lowest, own);
    team.keep(wanted, own_wanted);
    RAYDEX_UNROLL
    for (std::size_t j = 0; j < N; ++j) {
      at[j] = {size(), false, 0};
      if (!own[j].exists) continue;
      const row_id_type slot = order_.begin(own[j].level) + own[j].within;
      at[j].rank = order_.rank_of(own[j].level, own[j].within);
      at[j].hit = entries_.key(slot) == own_wanted[j];
      if (at[j].hit) at[j].row = entries_.row_id(slot);
    }
  }

  /// Level by level (paper, section 3.2): what is in range is a run of slots on each, and the
  /// formulas say where among the matches each belongs.
  template <class Visit>
  RAYDEX_HD void scan(row_id_type begin, row_id_type end, unsigned lane, unsigned lanes,
                      Visit&& visit) const {
    if (begin >= end) return;
    for (unsigned level = 0; level < order_.levels(); ++level) {
      const row_id_type last = order_.slots_before(level, end);
      const row_id_type first = order_.begin(level);
      for (row_id_type i = order_.slots_before(level, begin) + lane; i < last; i += lanes)
        visit(std::uint64_t{order_.rank_of(level, i)} - begin, entries_.row_id(first + i));
    }
  }
  /// @}

  /// @name Pinning the first slots (lightweight paper, section 4.2)
  /// @{

  /// The bytes of fast memory to pin, at most `room`: the keys of whole levels, or as many as fit.
  RAYDEX_HD std::size_t pinned_bytes(std::size_t room, bool in_full) const {
    const std::uint64_t fit = room / sizeof(key_type);
    std::uint64_t slots = fit < size() ? fit : size();
    if (!in_full && slots < size()) {
      unsigned level = 0;
      while (level + 1 < order_.levels() && order_.begin(level + 1) <= slots)
        ++level;
      slots = order_.begin(level);
    }
    return static_cast<std::size_t>(slots) * sizeof(key_type);
  }
  /// Pins into `memory`; every one of `threads` threads copies its share.
  RAYDEX_HD void pin(void* memory, std::size_t bytes, unsigned thread, unsigned threads) const {
    pin_first(key_at_slot{entries_}, static_cast<key_type*>(memory), bytes, thread, threads);
  }
  /// @}

 private:
  struct key_at_slot {
    Entries entries;
    RAYDEX_HD key_type operator()(std::uint64_t slot) const {
      return entries.key(static_cast<row_id_type>(slot));
    }
  };
  // A slot by its level, if there is one.
  struct place {
    bool exists = false;
    unsigned level = 0;
    row_id_type within = 0;
  };

  Entries entries_;
  eytzinger_order<row_id_type> order_;
};

}  // namespace raydex::core
