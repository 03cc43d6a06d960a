// SPDX-License-Identifier: Apache-2.0
/// @file
/// What the views of hash tables have in common.
#pragma once

#include <cstddef>
#include <cstdint>

#include "raydex/core/config.hpp"
#include "raydex/core/keys/entries.hpp"
#include "raydex/core/keys/key.hpp"
#include "raydex/core/lookups/hashing.hpp"
#include "raydex/core/lookups/team.hpp"

namespace raydex::core {

/// Where the rows of a key lie that are in a list beside the table.
template <class RowId>
struct row_run {
  RowId begin;  ///< the first one
  RowId size;   ///< how many
};

/// Lookups by hash, on top of what a table brings:
///
/// - `homes()`, how many buckets a lookup may begin in;
/// - `look_up_from(bucket, hash, step)`, which goes on from there to its end, where `step` is the
///   number of buckets before it, by default 0;
/// - `ends(hash, step, last, room)`, whether a hash that the bucket of a step does not hold is in
///   none after it, where `last` is the last hash there; `room` tells whether that bucket or one
///   before it has slots that were never used;
/// - `find_next(bucket, step, hash, next)`, which finds the bucket after that of a step, or returns
///   false;
/// - `ascending`, whether hashes ascend over the table, gaps left out, if one reads it by
///   `for_each_entry(i, visit)` for all i below `parts()`, which calls `visit(hash, row_id, slot)`
///   for the entries of part i.
///
/// A *position* is a slot of the table, or, where keys may repeat, a place in the list of all row
/// ids, in which those of a key lie together, ascending.
template <class View, class Buckets>
class hashed_view {
 public:
  using buckets = Buckets;                            ///< the table's
  using key_type = typename buckets::key_type;        ///< an encoded key
  using row_id_type = typename buckets::row_id_type;  ///< a row id
  using position_type = row_id_type;                  ///< where an entry is
  using found = found_entry<row_id_type>;             ///< what a lookup finds
  static constexpr unsigned slots = buckets::slots;   ///< slots of a bucket
  static constexpr bool side_by_side = true;          ///< see `addressed`

  buckets table;                               ///< the buckets
  hash_function<key_type> hasher;              ///< of keys
  std::uint64_t entries = 0;                   ///< how many
  const row_run<row_id_type>* runs = nullptr;  ///< a run a slot; null where keys are different
  const row_id_type* rows = nullptr;           ///< all row ids, by key; null likewise

  /// Number of entries.
  RAYDEX_HD std::uint64_t size() const { return entries; }

  /// The smallest row id of `key`, or the largest value of its type.
  RAYDEX_HD row_id_type find(key_type key) const { return look_up(hasher(key)).row; }
  /// The number of rows of `key`.
  RAYDEX_HD std::uint64_t count(key_type key) const { return run_of(look_up(hasher(key))).size; }
  /// Calls `visit(row_id)` for every row of `key`, in ascending order.
  template <class Visit>
  RAYDEX_HD void for_each(key_type key, Visit&& visit) const {
    const row_run<row_id_type> run = run_of(look_up(hasher(key)));
    for (row_id_type k = 0; k < run.size; ++k)
      visit(row_id(run.begin + k));
  }

  /// @name What the operations of `lookup.hpp` ask for
  /// @{

  /// The row id at a position.
  RAYDEX_HD row_id_type row_id(row_id_type position) const {
    if (rows != nullptr) return load(rows + position);
    return *table.row(static_cast<std::uint32_t>(position / slots),
                      static_cast<unsigned>(position % slots));
  }

  /// The smallest row ids of N keys, or the largest value of their type.
  template <std::size_t N, class Team>
  RAYDEX_HD void find_rows(const Team& team, const key_type (&keys)[N],
                           row_id_type (&out)[N]) const {
    if constexpr (bucket_team<Team>) {
      std::uint32_t bucket[N];
      unsigned slot[N];
      look_up_together(team, keys, out, bucket, slot);
    } else {
      place at[N];
      look_up_all(team, keys, at);
      RAYDEX_UNROLL
      for (std::size_t j = 0; j < N; ++j)
        out[j] = at[j].row;
    }
  }

  /// Where the rows of N keys begin.
  template <std::size_t N, class Team>
  RAYDEX_HD void locate(const Team& team, const key_type (&keys)[N], found (&at)[N]) const {
    place places[N];
    look_up_all(team, keys, places);
    RAYDEX_UNROLL
    for (std::size_t j = 0; j < N; ++j)
      at[j] = {run_of(places[j]).begin, places[j].row != buckets::none, places[j].row};
  }

  /// The positions [begin, end) of the rows of N keys, the lower ends of ranges of one key each.
  template <std::size_t N, class Team>
  RAYDEX_HD void locate_matches(const Team& team, const interval<key_type> (&keys)[N],
                                row_id_type (&begin)[N], row_id_type (&end)[N]) const {
    key_type lower[N];
    RAYDEX_UNROLL
    for (std::size_t j = 0; j < N; ++j)
      lower[j] = keys[j].lower;
    place places[N];
    look_up_all(team, lower, places);
    RAYDEX_UNROLL
    for (std::size_t j = 0; j < N; ++j) {
      const row_run<row_id_type> run = run_of(places[j]);
      begin[j] = run.begin;
      end[j] = run.begin + run.size;
    }
  }

  /// Calls `visit(k, row_id)` for a lane's share of the positions `[begin, end)`, k counting from
  /// `begin`.
  template <class Visit>
  RAYDEX_HD void scan(row_id_type begin, row_id_type end, unsigned lane, unsigned lanes,
                      Visit&& visit) const {
    if (rows == nullptr) {
      if (lane == 0 && begin != end) visit(0, row_id(begin));
      return;
    }
    scan_ranks(column_entries<key_type, row_id_type>{nullptr, rows},
               static_cast<row_id_type>(entries), begin, end, lane, lanes, visit);
  }
  /// @}

  /// Where the entry of a hash is.
  struct place {
    row_id_type row;       ///< its row id, the smallest one; the largest number: there is none
    std::uint32_t bucket;  ///< its bucket, or that after which there is none
    unsigned slot;         ///< its slot
  };

  /// The first bucket that a hash may be in.
  RAYDEX_HD std::uint32_t home(key_type hash) const { return home_of(hash, self().homes()); }

  /// Looks a hash up.
  RAYDEX_HD place look_up(key_type hash) const { return self().look_up_from(home(hash), hash); }

  /// The same in the buckets after its home.
  RAYDEX_HD place look_up_past(std::uint32_t home, key_type hash) const {
    std::uint32_t next = 0;
    if (!self().find_next(home, 0, hash, next)) return {buckets::none, home, 0};
    return self().look_up_from(next, hash, 1);
  }

 private:
  RAYDEX_HD const View& self() const { return static_cast<const View&>(*this); }

  template <std::size_t N, class Team>
  RAYDEX_HD void look_up_all([[maybe_unused]] const Team& team, const key_type (&keys)[N],
                             place (&at)[N]) const {
    if constexpr (bucket_team<Team>) {
      row_id_type row[N];
      std::uint32_t bucket[N];
      unsigned slot[N];
      look_up_together(team, keys, row, bucket, slot);
      for (std::size_t j = 0; j < N; ++j)
        at[j] = {row[j], bucket[j], slot[j]};
    } else {
      key_type hashes[N];
      std::uint32_t homes[N];
      RAYDEX_UNROLL
      for (std::size_t j = 0; j < N; ++j) {
        hashes[j] = hasher(keys[j]);
        homes[j] = home(hashes[j]);
        prefetch(table.at(homes[j]));
      }
      RAYDEX_UNROLL
      for (std::size_t j = 0; j < N; ++j)
        at[j] = self().look_up_from(homes[j], hashes[j]);
    }
  }

  // The same where a team compares all hashes of a bucket at once: in all homes, then in all
  // buckets after these where lookups go on, and so forth. What goes on is listed without branches.
  template <std::size_t N, class Team>
  RAYDEX_HD void look_up_together(const Team& team, const key_type (&keys)[N],
                                  row_id_type (&row)[N], std::uint32_t (&bucket)[N],
                                  unsigned (&slot)[N]) const {
    key_type hashes[N];
    team.find_in_homes(table, hasher, self().homes(), keys, hashes, bucket, slot, row);
    unsigned left[N];  // lookups without a row
    std::size_t left_size = 0;
    for (std::size_t j = 0; j < N; ++j) {
      left[left_size] = static_cast<unsigned>(j);
      left_size += row[j] == buckets::none ? 1U : 0U;
    }
    for (std::uint32_t step = 0; left_size != 0; ++step) {
      std::uint32_t next[N];
      key_type wanted[N];
      std::size_t next_size = 0;
      for (std::size_t i = 0; i < left_size; ++i) {
        const unsigned j = left[i];
        if (slot[j] < slots) {  // one without an entry, maybe before one with it
          const place at = self().look_up_from(bucket[j], hashes[j], step);
          row[j] = at.row;
          bucket[j] = at.bucket;
          slot[j] = at.slot;
          continue;
        }
        left[next_size] = j;
        wanted[next_size] = hashes[j];
        next_size += goes_on(bucket[j], step, hashes[j], next[next_size]) ? 1U : 0U;
      }
      for (std::size_t i = 0; i < next_size; ++i)
        prefetch(table.at(next[i]));
      row_id_type next_row[N];
      unsigned next_slot[N];
      team.find_in_buckets(table, next, wanted, next_slot, next_row, next_size);
      left_size = 0;
      for (std::size_t i = 0; i < next_size; ++i) {
        const unsigned j = left[i];
        row[j] = next_row[i];
        bucket[j] = next[i];
        slot[j] = next_slot[i];
        left[left_size] = j;
        left_size += next_row[i] == buckets::none ? 1U : 0U;
      }
    }
  }

  // Whether a hash that the bucket of a step does not hold may be in one after it, and in which.
  RAYDEX_HD bool goes_on(std::uint32_t bucket, std::uint32_t step, key_type hash,
                         std::uint32_t& next) const {
    const key_type last = table.key(bucket, slots - 1);
    const row_id_type last_row = *table.row(bucket, slots - 1);
    const bool room = last == buckets::never && last_row == buckets::none;
    const bool exists = self().find_next(bucket, step, hash, next);
    return exists && !self().ends(hash, step, last, room);
  }

  // The positions of the rows of what was looked up.
  RAYDEX_HD row_run<row_id_type> run_of(const place& at) const {
    if (at.row == buckets::none) return {0, 0};
    const std::uint64_t slot = std::uint64_t{at.bucket} * slots + at.slot;
    if (runs == nullptr) return {static_cast<row_id_type>(slot), 1};
    return {load(&runs[slot].begin), load(&runs[slot].size)};
  }
};

}  // namespace raydex::core
