// SPDX-License-Identifier: Apache-2.0
/// @file
/// `hash_open` inside kernels.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>

#include "raydex/core/config.hpp"
#include "raydex/core/keys/entries.hpp"
#include "raydex/core/keys/interval.hpp"
#include "raydex/core/lookups/hash_buckets.hpp"
#include "raydex/core/lookups/team.hpp"

namespace raydex::core {

/// Where the rows of a key lie that are in a list beside the table.
template <class RowId>
struct row_run {
  RowId begin;  ///< the first one
  RowId size;   ///< how many
};

/// A trivially copyable view of a `hash_open`, for lookups inside the user's own code. Keys are
/// encoded. A lookup reads a bucket, seldom more.
///
/// A *position* is a slot of the table, or, where keys may repeat, a place in the list of all row
/// ids, in which those of a key lie together, ascending.
template <class Key, class RowId, unsigned Bytes = 64>
class hash_open_view {
 public:
  using key_type = Key;                              ///< an encoded key
  using row_id_type = RowId;                         ///< a row id
  using found = found_entry<RowId>;                  ///< what a lookup finds
  using buckets = hash_buckets<Key, RowId, Bytes>;   ///< the table's
  static constexpr unsigned slots = buckets::slots;  ///< slots of a bucket
  static constexpr bool side_by_side = true;         ///< see `addressed`

  buckets table;                         ///< the buckets
  bucket_sequence sequence;              ///< which of them a key may be in
  bool ascending = true;                 ///< whether hashes ascend over the table, gaps left out
  std::uint64_t entries = 0;             ///< how many
  const row_run<RowId>* runs = nullptr;  ///< a run a slot; null where keys are different
  const RowId* rows = nullptr;           ///< all row ids, by key; null likewise

  /// Number of entries.
  RAYDEX_HD std::uint64_t size() const { return entries; }

  /// The smallest row id of `key`, or the largest value of its type.
  RAYDEX_HD RowId find(Key key) const { return look_up(hash_of(key)).row; }
  /// The number of rows of `key`.
  RAYDEX_HD std::uint64_t count(Key key) const { return run_of(look_up(hash_of(key))).size; }
  /// Calls `visit(row_id)` for every row of `key`, in ascending order.
  template <class Visit>
  RAYDEX_HD void for_each(Key key, Visit&& visit) const {
    const row_run<RowId> run = run_of(look_up(hash_of(key)));
    for (RowId k = 0; k < run.size; ++k)
      visit(row_id(run.begin + k));
  }

  /// @name What the operations of `lookup.hpp` ask for
  /// @{

  /// The row id at a position.
  RAYDEX_HD RowId row_id(RowId position) const {
    if (rows != nullptr) return load(rows + position);
    return *table.row(static_cast<std::uint32_t>(position / slots),
                      static_cast<unsigned>(position % slots));
  }

  /// The smallest row ids of N keys, or the largest value of their type.
  template <std::size_t N, class Team>
  RAYDEX_HD void find_rows(const Team& /*team*/, const Key (&keys)[N], RowId (&out)[N]) const {
    place at[N];
    look_up_all(keys, at);
    RAYDEX_UNROLL
    for (std::size_t j = 0; j < N; ++j)
      out[j] = at[j].row;
  }

  /// Where the rows of N keys begin.
  template <std::size_t N, class Team>
  RAYDEX_HD void locate(const Team& /*team*/, const Key (&keys)[N], found (&at)[N]) const {
    place places[N];
    look_up_all(keys, places);
    RAYDEX_UNROLL
    for (std::size_t j = 0; j < N; ++j)
      at[j] = {run_of(places[j]).begin, places[j].row != buckets::none, places[j].row};
  }

  /// The positions [begin, end) of the rows of N keys, the lower ends of ranges of one key each.
  template <std::size_t N, class Team>
  RAYDEX_HD void locate_matches(const Team& /*team*/, const interval<Key> (&keys)[N],
                                RowId (&begin)[N], RowId (&end)[N]) const {
    Key lower[N];
    RAYDEX_UNROLL
    for (std::size_t j = 0; j < N; ++j)
      lower[j] = keys[j].lower;
    place places[N];
    look_up_all(lower, places);
    RAYDEX_UNROLL
    for (std::size_t j = 0; j < N; ++j) {
      const row_run<RowId> run = run_of(places[j]);
      begin[j] = run.begin;
      end[j] = run.begin + run.size;
    }
  }

  /// Calls `visit(k, row_id)` for a lane's share of the positions `[begin, end)`, k counting from
  /// `begin`.
  template <class Visit>
  RAYDEX_HD void scan(RowId begin, RowId end, unsigned lane, unsigned lanes, Visit&& visit) const {
    if (rows == nullptr) {
      if (lane == 0 && begin != end) visit(0, row_id(begin));
      return;
    }
    scan_ranks(column_entries<Key, RowId>{nullptr, rows}, static_cast<RowId>(entries), begin, end,
               lane, lanes, visit);
  }
  /// @}

  /// Where the entry of a hash is.
  struct place {
    RowId row;             ///< its row id, the smallest one; the largest number: there is none
    std::uint32_t bucket;  ///< its bucket, or that after which there is none
    unsigned slot;         ///< its slot
  };

  /// Looks a hash up, from a step of its sequence of buckets on.
  RAYDEX_HD place look_up(Key hash) const { return go_on(hash, sequence.home(hash), 0, false); }

  /// The same from a step of its sequence on; `room_before` tells whether a bucket before had room.
  RAYDEX_HD place go_on(Key hash, std::uint32_t bucket, std::uint32_t step,
                        bool room_before) const {
    for (;; ++step) {
      const bucket_copy<Key, RowId, Bytes> copy(table.at(bucket));
      const bucket_answer<RowId> answer = copy.find(hash);
      room_before = room_before || copy.has_room();
      if (answer.row != buckets::none || ends(hash, step, copy.last(), room_before))
        return {answer.row, bucket, answer.slot};
      bucket = sequence.after(bucket, step, hash);
    }
  }

  /// Whether a hash that the bucket of a step does not hold is in none after it. `last` is the last
  /// hash there.
  RAYDEX_HD bool ends(Key hash, std::uint32_t step, Key last, bool room) const {
    if (ascending) return last >= hash;
    const bool must_go_on = sequence.placement == hash_placement::choices && step == 0;
    return (room && !must_go_on) || step >= sequence.count;
  }

 private:
  template <std::size_t N>
  RAYDEX_HD void look_up_all(const Key (&keys)[N], place (&at)[N]) const {
    Key hashes[N];
    std::uint32_t homes[N];
    RAYDEX_UNROLL
    for (std::size_t j = 0; j < N; ++j) {
      hashes[j] = hash_of(keys[j]);
      homes[j] = sequence.home(hashes[j]);
      prefetch(table.at(homes[j]));
    }
    RAYDEX_UNROLL
    for (std::size_t j = 0; j < N; ++j)
      at[j] = go_on(hashes[j], homes[j], 0, false);
  }

  // The positions of the rows of what was looked up.
  RAYDEX_HD row_run<RowId> run_of(const place& at) const {
    if (at.row == buckets::none) return {0, 0};
    const std::uint64_t slot = std::uint64_t{at.bucket} * slots + at.slot;
    if (runs == nullptr) return {static_cast<RowId>(slot), 1};
    return {load(&runs[slot].begin), load(&runs[slot].size)};
  }
};

}  // namespace raydex::core
