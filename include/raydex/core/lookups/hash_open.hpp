// SPDX-License-Identifier: Apache-2.0
/// @file
/// `hash_open` inside kernels: lookups, how entries come into its buckets, and how edits change
/// them.
#pragma once

#include <cstdint>

#include "raydex/core/atomic.hpp"
#include "raydex/core/config.hpp"
#include "raydex/core/keys/edits.hpp"
#include "raydex/core/lookups/hash_build.hpp"
#include "raydex/core/lookups/hashed_view.hpp"
#include "raydex/core/lookups/hashing.hpp"

namespace raydex::core {

/// A trivially copyable view of a `hash_open`, for lookups inside the user's own code. Keys are
/// encoded. A lookup reads a bucket, seldom more.
template <class Key, class RowId, unsigned Bytes = 64>
class hash_open_view
    : public hashed_view<hash_open_view<Key, RowId, Bytes>, hash_buckets<Key, RowId, Bytes>> {
  using base = typename hash_open_view::hashed_view;

 public:
  using buckets = typename base::buckets;  ///< the table's
  using place = typename base::place;      ///< where an entry is

  bucket_sequence sequence;  ///< which buckets a key may be in
  bool ascending = true;     ///< whether hashes ascend over the table, gaps left out

  /// @name What `hashed_view` asks for
  /// @{

  /// How many buckets a hash may be in first.
  RAYDEX_HD std::uint32_t homes() const { return sequence.homes; }

  /// Looks a hash up in its buckets, one after the other.
  RAYDEX_HD place look_up_from(std::uint32_t bucket, Key hash, std::uint32_t step = 0) const {
    bool room_before = false;
    for (;; ++step) {
      const bucket_copy<buckets> copy(this->table.at(bucket));
      const bucket_answer<RowId> answer = copy.find(hash);
      room_before = room_before || copy.has_room();
      if (answer.row != buckets::none || ends(hash, step, copy.last(), room_before))
        return {answer.row, bucket, answer.slot};
      bucket = sequence.after(bucket, step, hash);
    }
  }

  /// Finds the bucket after that of a step.
  RAYDEX_HD bool find_next(std::uint32_t bucket, std::uint32_t step, Key hash,
                           std::uint32_t& next) const {
    next = sequence.after(bucket, step, hash);
    return true;
  }

  /// Whether a hash that the bucket of a step does not hold is in none after it. `last` is the last
  /// hash there; `room` tells whether that bucket or one before it has slots that were never used.
  RAYDEX_HD bool ends(Key hash, std::uint32_t step, Key last, bool room) const {
    if (ascending) return last >= hash;
    const bool must_go_on = sequence.placement == hash_placement::choices && step == 0;
    return (room && !must_go_on) || step >= sequence.farthest;
  }

  /// Parts that all entries are read in: buckets.
  RAYDEX_HD std::uint64_t parts() const { return sequence.count; }

  /// Calls `visit(hash, row_id, slot)` for the entries of a bucket.
  template <class Visit>
  RAYDEX_HD void for_each_entry(std::uint64_t part, Visit&& visit) const {
    const auto bucket = static_cast<std::uint32_t>(part);
    for (unsigned slot = 0; slot < buckets::slots; ++slot) {
      const RowId row = *this->table.row(bucket, slot);
      if (row != buckets::none)
        visit(this->table.key(bucket, slot), row, part * buckets::slots + slot);
    }
  }
  /// @}
};

/// @name Placing ascending hashes in ascending buckets. Bucket b begins with the entry of number
/// min over j <= b of (entries with a home before j) + (b - j) slots, since a bucket that
/// overflows pushes what it has too much into the next. To have only sums of positive numbers, it
/// is written as a minimum of (entries with a home before j) + (homes - j) slots.
/// @{

/// Writes these numbers for all buckets that are a home, and for one more. A thread an entry, and
/// one after the last.
template <class Key, class RowId>
struct put_home_begins {
  placed_entries<Key, RowId> from;  ///< the entries
  bucket_sequence sequence;         ///< the buckets
  unsigned slots;                   ///< of a bucket
  std::uint64_t* numbers;           ///< homes + 1 of them

  /// Writes those between the homes of two entries.
  RAYDEX_HD void operator()(std::uint64_t i) const {
    const std::uint64_t begin = i == 0 ? 0 : std::uint64_t{sequence.home(from.hashes[i - 1])} + 1;
    const std::uint64_t end =
        i == from.size ? sequence.homes : std::uint64_t{sequence.home(from.hashes[i])};
    for (std::uint64_t bucket = begin; bucket <= end; ++bucket)
      numbers[bucket] = i + (sequence.homes - bucket) * slots;
  }
};

/// Writes all slots. A thread a slot.
template <class Key, class RowId, unsigned Bytes>
struct fill_slots {
  using buckets = hash_buckets<Key, RowId, Bytes>;  ///< of the table

  placed_entries<Key, RowId> from;  ///< the entries
  buckets table;                    ///< where to
  row_run<RowId>* runs;             ///< a run a slot, or null
  const std::uint64_t* numbers;     ///< as above, each the smallest so far
  std::uint64_t homes;              ///< buckets that they are of, but for one
  std::uint64_t farthest;           ///< steps from its first bucket that an entry should be at most
  spread_count too_far;             ///< entries that are further; 0 at first

  /// Writes slot `i`.
  RAYDEX_HD void operator()(std::uint64_t i) const {
    const std::uint64_t bucket = i / buckets::slots;
    const auto slot = static_cast<unsigned>(i % buckets::slots);
    const std::uint64_t entry = begin_of(bucket) + slot;
    const bool exists = entry < begin_of(bucket + 1);
    table.put(static_cast<std::uint32_t>(bucket), slot,
              exists ? from.hashes[entry] : buckets::never,
              exists ? from.rows[entry] : buckets::none);
    if (!exists) return;
    if (runs != nullptr) runs[i] = from.run(entry);
    const std::uint64_t home = home_of(from.hashes[entry], static_cast<std::uint32_t>(homes));
    too_far.add(i, bucket - home > farthest ? 1 : 0);
  }

 private:
  RAYDEX_HD std::uint64_t begin_of(std::uint64_t bucket) const {
    if (bucket <= homes) return numbers[bucket] - (homes - bucket) * buckets::slots;
    const std::uint64_t begin = numbers[homes] + (bucket - homes) * buckets::slots;
    return begin < from.size ? begin : from.size;
  }
};
/// @}

/// Puts entries, whose hashes differ from each other and from all in the table, into free slots, if
/// there are some in the buckets that lookups read. A thread an entry.
template <class Key, class RowId, unsigned Bytes>
struct insert_entries {
  using buckets = hash_buckets<Key, RowId, Bytes>;  ///< of the table

  placed_entries<Key, RowId> from;  ///< the entries
  buckets table;                    ///< where to; there are slots enough
  row_run<RowId>* runs;             ///< a run a slot, or null
  bucket_sequence sequence;         ///< where hashes may be
  spread_count too_far;             ///< entries that were not put anywhere; 0 at first

  /// Inserts entry `i`.
  RAYDEX_HD void operator()(std::uint64_t i) const {
    const Key hash = from.hashes[i];
    std::uint32_t bucket = sequence.home(hash);
    std::uint32_t step = 0;
    if (sequence.placement == hash_placement::choices) {
      const std::uint32_t other = sequence.after(bucket, 0, hash);
      // The emptier one first, then the other, then those after the second.
      const bool swap = free_slots(other) > free_slots(bucket);
      if (put(i, hash, swap ? other : bucket) || put(i, hash, swap ? bucket : other)) return;
      bucket = sequence.after(other, 1, hash);
      step = 2;
    }
    while (!put(i, hash, bucket)) {
      if (step >= sequence.farthest) return too_far.add(i, 1);
      bucket = sequence.after(bucket, step++, hash);
    }
  }

 private:
  RAYDEX_HD unsigned free_slots(std::uint32_t bucket) const {
    unsigned free = 0;
    for (unsigned slot = 0; slot < buckets::slots; ++slot)
      free += load_atomically(table.row(bucket, slot)) == buckets::none ? 1U : 0U;
    return free;
  }
  // Whether there was a slot. Slots are taken from the front, by their row ids.
  RAYDEX_HD bool put(std::uint64_t i, Key hash, std::uint32_t bucket) const {
    for (unsigned slot = 0; slot < buckets::slots; ++slot) {
      RowId* const row = table.row(bucket, slot);
      if (load_atomically(row) != buckets::none ||
          !replace_atomically(row, buckets::none, from.rows[i]))
        continue;
      table.put_key(bucket, slot, hash);
      if (runs != nullptr) runs[std::uint64_t{bucket} * buckets::slots + slot] = from.run(i);
      return true;
    }
    return false;
  }
};

/// Counts what a batch of edits does to a table without repeated keys: the entries that it erases,
/// and the insertions of keys that are there still, or repeated. Writes down what is to be erased,
/// so that nothing is looked up while slots change.
template <class Key, class RowId, unsigned Bytes>
struct count_edits {
  static constexpr std::uint64_t no_slot = ~std::uint64_t{0};  ///< of names of nothing

  hash_open_view<Key, RowId, Bytes> view;  ///< the table
  entry_list<Key, RowId> insert;           ///< hashes in the place of keys
  entry_names<Key, RowId> erase;           ///< likewise
  spread_count conflicts;                  ///< 0 at first
  spread_count erased;                     ///< 0 at first
  std::uint64_t* erased_slots;             ///< a slot for each name, or `no_slot`

  /// Looks at insertion `i` and at name `i`.
  RAYDEX_HD void operator()(std::uint64_t i) const {
    if (i < insert.size) conflicts.add(i, is_conflict(i) ? 1 : 0);
    if (i < erase.list.size) {
      erased_slots[i] = slot_of_name(i);
      erased.add(i, erased_slots[i] != no_slot ? 1 : 0);
    }
  }

 private:
  RAYDEX_HD bool is_conflict(std::uint64_t i) const {
    const Key hash = insert.key(i);
    if (i != 0 && insert.key(i - 1) == hash) return true;
    const auto found = view.look_up(hash);
    return found.row != view.table.none && !erase.has({hash, found.row});
  }
  // Of copies of a name, the first one has it.
  RAYDEX_HD std::uint64_t slot_of_name(std::uint64_t i) const {
    const entry<Key, RowId> name = erase.list[i];
    if (i != 0 && erase.alike(erase.list[i - 1], name)) return no_slot;
    const auto found = view.look_up(name.key);
    if (found.row == view.table.none || !erase.alike({name.key, found.row}, name)) return no_slot;
    return std::uint64_t{found.bucket} * view.slots + found.slot;
  }
};

/// Erases the entries of slots. A thread a slot, or `no_slot`.
template <class Key, class RowId, unsigned Bytes>
struct erase_entries {
  using buckets = hash_buckets<Key, RowId, Bytes>;  ///< of the table

  buckets table;                      ///< where from
  const std::uint64_t* erased_slots;  ///< as `count_edits` wrote them

  /// Erases entry `i` of them.
  RAYDEX_HD void operator()(std::uint64_t i) const {
    const std::uint64_t slot = erased_slots[i];
    if (slot == count_edits<Key, RowId, Bytes>::no_slot) return;
    table.put(static_cast<std::uint32_t>(slot / buckets::slots),
              static_cast<unsigned>(slot % buckets::slots), 0, buckets::none);
  }
};

}  // namespace raydex::core
