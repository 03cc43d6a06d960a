// SPDX-License-Identifier: Apache-2.0
/// @file
/// What the views of all ordered structures have in common.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>

#include "raydex/core/config.hpp"
#include "raydex/core/keys/entries.hpp"
#include "raydex/core/keys/key.hpp"
#include "raydex/core/lookups/team.hpp"

namespace raydex::core {

/// The searches that a user's own code calls, on top of what a layout brings:
///
/// - `size()`, the number of entries;
/// - `descend(team, wanted, nodes, found)`, which takes searches to their end for all lookups of a
///   team; where teams of several lanes search it, also `descend_to_rows`, which finds row ids
///   only; and `enter(team, key)`, where a search begins if that is not the root;
/// - `end_of(range, begin)`, the rank after the last match of a range that begins there, or
///   `locate_ends` for several at once;
/// - `key(rank)`, `row_id(rank)`, and `scan(begin, end, lane, lanes, visit)`, which calls `visit(k,
/// row_id)` for
///   this lane's share of the entries of ranks `[begin, end)`, k being the rank less `begin`.
template <class View, class Key, class RowId>
class ordered_view {
 public:
  using key_type = Key;              ///< an encoded key
  using row_id_type = RowId;         ///< a row id
  using position_type = RowId;       ///< a rank
  using found = found_entry<RowId>;  ///< what a search finds

  /// The smallest row id of `key`, or the largest value of its type.
  RAYDEX_HD RowId find(Key key) const {
    const found at = locate(key);
    return at.hit ? at.row : std::numeric_limits<RowId>::max();
  }
  /// The number of rows of `key`.
  RAYDEX_HD std::uint64_t count(Key key) const { return count(interval<Key>{key, key}); }
  /// The number of rows whose key lies in `range`.
  RAYDEX_HD std::uint64_t count(interval<Key> range) const {
    if (range.empty()) return 0;
    const RowId begin = locate(range.lower).rank;
    return end_of(range, begin) - begin;
  }
  /// Calls `visit(row_id)` for every row of `key`, in ascending order.
  template <class Visit>
  RAYDEX_HD void for_each(Key key, Visit&& visit) const {
    for_each(interval<Key>{key, key}, visit);
  }
  /// Calls `visit(row_id)` for every row whose key lies in `range`, by key, then by row id.
  template <class Visit>
  RAYDEX_HD void for_each(interval<Key> range, Visit&& visit) const {
    if (range.empty()) return;
    const RowId begin = locate(range.lower).rank;
    const RowId end = end_of(range, begin);
    for (RowId rank = begin; rank < end; ++rank)
      visit(self().row_id(rank));
  }

  /// The first entry whose key is not below `lower`.
  RAYDEX_HD found locate(Key lower) const {
    alone team;
    const Key wanted[1] = {lower};
    found at[1] = {};
    locate(team, wanted, at);
    return at[0];
  }

  /// The same for N keys a lane of a team.
  template <std::size_t N, class Team>
  RAYDEX_HD void locate(Team& team, const Key (&lower)[N], found (&at)[N]) const {
    if (self().size() == 0) {
      RAYDEX_UNROLL
      for (std::size_t j = 0; j < N; ++j)
        at[j] = {0, false, 0};
      return;
    }
    enter_all(team, lower,
              [&](const auto& wanted, auto& nodes) { self().descend(team, wanted, nodes, at); });
  }

  /// The smallest row ids of N keys a lane of a team, or the largest value of their type.
  template <std::size_t N, class Team>
  RAYDEX_HD void find_rows(Team& team, const Key (&keys)[N], RowId (&rows)[N]) const {
    if constexpr (Team::lanes > 1) {
      RAYDEX_UNROLL
      for (std::size_t j = 0; j < N; ++j)
        rows[j] = std::numeric_limits<RowId>::max();
      if (self().size() == 0) return;
      enter_all(team, keys, [&](const auto& wanted, auto& nodes) {
        self().descend_to_rows(team, wanted, nodes, rows);
      });
    } else {
      found at[N];
      locate(team, keys, at);
      RAYDEX_UNROLL
      for (std::size_t j = 0; j < N; ++j)
        rows[j] = at[j].hit ? at[j].row : std::numeric_limits<RowId>::max();
    }
  }

  /// The ranks [begin, end) of the matches of N ranges a lane. A view with a cheaper way than two
  /// searches hides this one.
  template <std::size_t N, class Team>
  RAYDEX_HD void locate_matches(Team& team, const interval<Key> (&ranges)[N], RowId (&begin)[N],
                                RowId (&end)[N]) const {
    Key lower[N];
    RAYDEX_UNROLL
    for (std::size_t j = 0; j < N; ++j)
      lower[j] = ranges[j].lower;
    found at[N];
    locate(team, lower, at);
    self().locate_ends(team, ranges, at, end);
    RAYDEX_UNROLL
    for (std::size_t j = 0; j < N; ++j)
      begin[j] = at[j].rank;
  }

  /// The ranks after the last matches of N ranges a lane, which begin at `begin`. Costs a second
  /// search; a view with a cheaper way hides this one.
  template <std::size_t N, class Team>
  RAYDEX_HD void locate_ends(Team& team, const interval<Key> (&ranges)[N],
                             const found (&/*begin*/)[N], RowId (&ends)[N]) const {
    Key after[N];
    found at[N];
    RAYDEX_UNROLL
    for (std::size_t j = 0; j < N; ++j)
      after[j] = static_cast<Key>(ranges[j].upper + 1);
    locate(team, after, at);
    RAYDEX_UNROLL
    for (std::size_t j = 0; j < N; ++j)
      ends[j] = after[j] == 0 ? self().size() : at[j].rank;  // 0: nothing is above the last key
  }

  /// Whether the entry before a rank, which is not 0, has the same key.
  RAYDEX_HD bool repeats(RowId rank) const {
    return self().key(static_cast<RowId>(rank - 1)) == self().key(rank);
  }

  /// Searches begin at the root.
  template <class Team>
  RAYDEX_HD RowId enter(const Team& /*team*/, Key /*wanted*/) const {
    return 0;
  }

 protected:
  /// Takes the lookups of all lanes to where they begin, and goes on from there.
  template <std::size_t N, class Team, class GoOn>
  RAYDEX_HD void enter_all(Team& team, const Key (&own)[N], GoOn&& go_on) const {
    RowId entered[N];
    RAYDEX_UNROLL
    for (std::size_t j = 0; j < N; ++j)
      entered[j] = self().enter(team, own[j]);
    Key wanted[N * Team::lanes];
    RowId nodes[N * Team::lanes];
    team.share(own, wanted);
    team.share(entered, nodes);
    go_on(wanted, nodes);
  }

 private:
  RAYDEX_HD const View& self() const { return static_cast<const View&>(*this); }
  RAYDEX_HD RowId end_of(interval<Key> range, RowId begin) const {
    alone team;
    const interval<Key> ranges[1] = {range};
    found at[1];
    at[0].rank = begin;
    RowId ends[1];
    self().locate_ends(team, ranges, at, ends);
    return ends[0];
  }
};

/// Views whose positions are ranks.
template <class View>
concept ranked = requires(const View& view, typename View::key_type key) {
  view.locate(key).rank;
};

/// Views in which what a probe matches lies side by side, so that any part of it can be visited by
/// itself.
template <class View>
concept addressed = ranked<View> || requires {
  requires View::side_by_side;
};

/// What views of ascending entries have in common.
template <class View, class Entries>
class view_of_entries
    : public ordered_view<View, typename Entries::key_type, typename Entries::row_id_type> {
 public:
  using key_type = typename Entries::key_type;        ///< an encoded key
  using row_id_type = typename Entries::row_id_type;  ///< a row id

  /// Number of entries.
  RAYDEX_HD row_id_type size() const { return size_; }
  /// The key of the entry at a rank.
  RAYDEX_HD key_type key(row_id_type rank) const { return entries_.key(rank); }
  /// The row id of the entry at a rank.
  RAYDEX_HD row_id_type row_id(row_id_type rank) const { return entries_.row_id(rank); }
  /// The entries themselves, in ascending order.
  RAYDEX_HD const Entries& entries() const { return entries_; }

  /// Visits a lane's share of a range; see `ordered_view`.
  template <class Visit>
  RAYDEX_HD void scan(row_id_type begin, row_id_type end, unsigned lane, unsigned lanes,
                      Visit&& visit) const {
    scan_ranks(entries_, size_, begin, end, lane, lanes, visit);
  }

 protected:
  /// A view of `size` entries.
  RAYDEX_HD view_of_entries(Entries entries, row_id_type size) : entries_(entries), size_(size) {}

  Entries entries_;   ///< ascending
  row_id_type size_;  ///< how many
};

}  // namespace raydex::core
