// SPDX-License-Identifier: Apache-2.0
/// @file
/// `hash_open` inside kernels.
#pragma once

#include <cstdint>

#include "raydex/core/config.hpp"
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

}  // namespace raydex::core
