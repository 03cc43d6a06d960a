// SPDX-License-Identifier: Apache-2.0
/// @file
/// `direct` inside kernels.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>

#include "raydex/core/config.hpp"
#include "raydex/core/keys/edits.hpp"
#include "raydex/core/keys/entries.hpp"
#include "raydex/core/keys/key.hpp"
#include "raydex/core/lookups/search.hpp"
#include "raydex/core/lookups/team.hpp"

namespace raydex::core {

/// A trivially copyable view of a `direct`, for lookups inside the user's own code. Keys are
/// encoded. There is a place for each key from the smallest to the largest one, with its smallest
/// row id; and, unless each of these keys is there once, the rank of its first entry and all row
/// ids by rank. Cost of `find`: one read; of a range: two, and its row ids.
template <class Key, class RowId>
class direct_view {
 public:
  using key_type = Key;              ///< an encoded key
  using row_id_type = RowId;         ///< a row id
  using position_type = RowId;       ///< a rank
  using found = found_entry<RowId>;  ///< what a lookup finds
  /// Whether counts have an operation of their own, see `count_rows`: 4 % of their time on an H100.
  static constexpr bool counts_alone = true;

  Key smallest = 0;               ///< the smallest key
  std::uint64_t places = 0;       ///< how many
  RowId entries = 0;              ///< how many
  const RowId* firsts = nullptr;  ///< by place: the smallest row id, or the largest number
  const RowId* ranks = nullptr;   ///< by place, and one more; null: each place has one entry
  const RowId* rows = nullptr;    ///< by rank; null likewise
  bool different = true;          ///< whether no two keys are equal
  bool are_rows = false;          ///< whether the row id of each place is its number

  /// Number of entries.
  RAYDEX_HD RowId size() const { return entries; }

  /// The smallest row id of `key`, or the largest value of its type.
  RAYDEX_HD RowId find(Key key) const {
    const Key place = static_cast<Key>(key - smallest);  // wraps around below the smallest
    if (place >= places) return std::numeric_limits<RowId>::max();
    return are_rows ? static_cast<RowId>(place) : load(firsts + place);
  }
  /// The number of rows of `key`.
  RAYDEX_HD std::uint64_t count(Key key) const { return count(interval<Key>{key, key}); }
  /// The number of rows whose key lies in `range`.
  RAYDEX_HD std::uint64_t count(interval<Key> range) const {
    return range.empty() ? 0 : rank_after(range.upper) - rank_of(range.lower);
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
    const RowId end = rank_after(range.upper);
    for (RowId rank = rank_of(range.lower); rank < end; ++rank)
      visit(row_id(rank));
  }

  /// @name What the operations of `lookup.hpp` ask for
  /// @{

  /// The row id of the entry at a rank.
  RAYDEX_HD RowId row_id(RowId rank) const {
    return load((rows != nullptr ? rows : firsts) + rank);
  }
  /// The key of the entry at a rank. Where some keys are missing, a search.
  RAYDEX_HD Key key(RowId rank) const {
    if (ranks == nullptr) return static_cast<Key>(smallest + rank);
    // The place before the first one that begins after it.
    const RowId after[1] = {static_cast<RowId>(rank + 1)};
    std::uint64_t place[1];
    lower_bounds([this](std::uint64_t i) { return load(ranks + i); }, places, after, place);
    return static_cast<Key>(smallest + (place[0] - 1));
  }
  /// Whether the entry before a rank, which is not 0, has the same key.
  RAYDEX_HD bool repeats(RowId rank) const {
    return !different && key(static_cast<RowId>(rank - 1)) == key(rank);
  }

  /// The first entry whose key is not below `lower`.
  RAYDEX_HD found locate(Key lower) const {
    const RowId row = find(lower);
    return {rank_of(lower), row != std::numeric_limits<RowId>::max(), row};
  }
  /// The same for N keys.
  template <std::size_t N, class Team>
  RAYDEX_HD void locate(const Team& /*team*/, const Key (&lower)[N], found (&at)[N]) const {
    RAYDEX_UNROLL
    for (std::size_t j = 0; j < N; ++j)
      at[j] = locate(lower[j]);
  }
  /// The smallest row ids of N keys, or the largest value of their type.
  template <std::size_t N, class Team>
  RAYDEX_HD void find_rows(const Team& /*team*/, const Key (&keys)[N],
                           RowId (&found_rows)[N]) const {
    RAYDEX_UNROLL
    for (std::size_t j = 0; j < N; ++j)
      found_rows[j] = find(keys[j]);
  }
  /// The ranks [begin, end) of the matches of N ranges.
  template <std::size_t N, class Team>
  RAYDEX_HD void locate_matches(const Team& /*team*/, const interval<Key> (&ranges)[N],
                                RowId (&begin)[N], RowId (&end)[N]) const {
    RAYDEX_UNROLL
    for (std::size_t j = 0; j < N; ++j) {
      begin[j] = rank_of(ranges[j].lower);
      end[j] = rank_after(ranges[j].upper);
    }
  }
  /// Calls `visit(k, row_id)` for a lane's share of the entries of ranks `[begin, end)`, k counting
  /// from `begin`.
  template <class Visit>
  RAYDEX_HD void scan(RowId begin, RowId end, unsigned lane, unsigned lanes, Visit&& visit) const {
    scan_ranks(column_entries<Key, RowId>{nullptr, rows != nullptr ? rows : firsts}, entries, begin,
               end, lane, lanes, visit);
  }
  /// @}

 private:
  // How many entries have a smaller key.
  RAYDEX_HD RowId rank_of(Key key) const {
    if (key <= smallest || places == 0) return 0;
    const Key place = static_cast<Key>(key - smallest);
    return place < places ? rank_at(place) : entries;
  }
  // How many entries have no larger key.
  RAYDEX_HD RowId rank_after(Key key) const {
    if (key < smallest || places == 0) return 0;
    const Key place = static_cast<Key>(key - smallest);
    return place < places ? rank_at(std::uint64_t{place} + 1) : entries;
  }
  RAYDEX_HD RowId rank_at(std::uint64_t place) const {
    return ranks != nullptr ? load(ranks + place) : static_cast<RowId>(place);
  }
};

/// @name Placing ascending entries: each key's number of entries goes behind its place, sums of
/// these are the ranks, and these tell the first rows.
/// @{

/// Writes how many entries each key has. A thread an entry.
template <class Key, class RowId>
struct count_per_place {
  const Key* keys;     ///< ascending
  std::uint64_t size;  ///< how many
  Key smallest;        ///< the first key
  RowId* counts;       ///< that of place p is number p + 1; 0 at first

  /// Counts the entries of a key, if entry `i` is the first of them.
  RAYDEX_HD void operator()(std::uint64_t i) const {
    const Key key = keys[i];
    if (i != 0 && keys[i - 1] == key) return;
    const auto key_at = [this](std::uint64_t k) { return keys[k]; };
    counts[std::uint64_t{static_cast<Key>(key - smallest)} + 1] =
        static_cast<RowId>(gallop_past(key_at, i, size, key) - i);
  }
};

/// Writes the smallest row id of each place. A thread a place.
template <class RowId>
struct list_firsts {
  const RowId* ranks;    ///< by place, and one more
  const RowId* row_ids;  ///< by rank
  RowId* firsts;         ///< where to

  /// Writes that of a place.
  RAYDEX_HD void operator()(std::uint64_t place) const {
    const RowId rank = ranks[place];
    firsts[place] = rank < ranks[place + 1] ? row_ids[rank] : std::numeric_limits<RowId>::max();
  }
};
/// @}

/// Counts the places whose row id is another number than theirs.
template <class RowId>
struct count_other_rows {
  const RowId* firsts;  ///< of each place
  spread_count others;  ///< 0 at first

  /// Looks at a place.
  RAYDEX_HD void operator()(std::uint64_t place) const {
    others.add(place, firsts[place] == place ? 0 : 1);
  }
};

/// Writes the key of each rank.
template <class Key, class RowId>
struct list_keys {
  direct_view<Key, RowId> view;  ///< the places
  Key* keys;                     ///< where to

  /// Writes that of a rank.
  RAYDEX_HD void operator()(std::uint64_t rank) const {
    keys[rank] = view.key(static_cast<RowId>(rank));
  }
};

}  // namespace raydex::core
