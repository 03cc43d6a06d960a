// SPDX-License-Identifier: Apache-2.0
/// @file
/// `hash_open`: a hash table with open addressing over cache lines.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>

#include "raydex/core/lookups/hash_open.hpp"
#include "raydex/index.hpp"
#include "raydex/options.hpp"

namespace raydex {

/// Options of `hash_open`; by name as `options_of` and `raydex structures hash_open` list them.
struct hash_open_options {
  unsigned load = 80;                      ///< percent of the slots that a build fills: 10 to 95
  unsigned bucket = 64;                    ///< bytes of a bucket: 64, or 128 by libraydex_papers
  core::hash_placement placement = {};     ///< where a key goes whose bucket is full
  repetition repeats = {};                 ///< whether keys may repeat
  bucket_reading reading = {};             ///< who reads a bucket, on `cuda`
  std::optional<std::uint32_t> seed = {};  ///< of the hash function; none: another one each time
};

/// A hash table with open addressing. Buckets are cache lines of 8 entries with 32-bit keys and row
/// ids, 5 where one of the two has 64 bits, 4 where both have. The table holds keys by a hash that
/// can be inverted, so that no key is reserved. If keys repeat, each is in the
/// table once, with its smallest row id and the place of all its rows in a list: a key of half of
/// all rows takes no longer than others to find. Each table draws a hash function of its own, so
/// that whoever chooses keys cannot choose which share a bucket. Where entries lie further from
/// their first buckets than in one of 10^9 tables, as they may by the `seed` that somebody knows,
/// the build takes another function.
///
/// Answers points: `first`, `count`, `sum`, `rows`. Ranges, ranks and neighbours throw
/// `unsupported`.
///
/// *Cost*: build: the sort of `sorted_array`, of hashes, then a pass over them and a write of the
/// table in order; other placements than `linear` put each key into its bucket, a random access
/// each. A point: one cache line, and at the usual load one more for one of 12, whether it is found
/// or not; where keys repeat, for all but `first` a read beside the table, and the rows.
/// *Memory*: resident: buckets for entries / load; where keys repeat, a row id for each row and two
/// for each slot beside that. Peak of the build: that of `sorted_array`, or what it sorted and the
/// table. *Stream*: the build synchronises.
///
/// *Edits*: keys that are not there yet are put into free slots of a copy of the table, and those
/// that are erased leave theirs, a random access each, while the table has room for its load and
/// half of the rest, and has at most twice the buckets of a new one; otherwise, and where keys
/// repeat, the entries are merged with the batch and the table is made anew. After insertions into
/// a copy, a key that is not there takes a look at more buckets than after a build.
class RAYDEX_EXPORT hash_open : public index {
 public:
  ~hash_open() override;

  /// A view to look keys up from the user's own code, inside a kernel on `cuda`. It stays valid as
  /// long as the index is not edited. Keys go in encoded (`raydex::encode`).
  ///
  /// @tparam Key `encoded_t` of the column's key type
  /// @tparam RowId the type that `info().row_ids` names
  /// @tparam Bytes those of a bucket
  ///
  /// Throws `invalid_argument` if these are not the index's own.
  template <class Key, class RowId, unsigned Bytes = 64>
  auto view() const {
    check_view(8 * sizeof(Key), sizeof(RowId) == 4 ? row_id_type::uint32 : row_id_type::uint64,
               Bytes);
    core::hash_open_view<Key, RowId, Bytes> made;
    made.table.first = table_.words;
    made.sequence = table_.sequence;
    made.ascending = table_.ascending;
    made.hasher = core::hash_by<Key>(table_.seed);
    made.entries = info().entries;
    made.runs = static_cast<const core::row_run<RowId>*>(table_.runs);
    made.rows = static_cast<const RowId*>(table_.rows);
    return made;
  }

 protected:
  /// For implementations.
  explicit hash_open(memory_resource& upstream);

  /// Where the table is.
  struct table_storage {
    std::uint32_t* words = nullptr;  ///< the buckets
    unsigned bytes = 64;             ///< of a bucket
    core::bucket_sequence sequence;  ///< which of them a key may be in
    bool ascending = true;           ///< whether hashes ascend over the table
    const void* runs = nullptr;      ///< the run of each slot, where keys repeat
    const void* rows = nullptr;      ///< the rows of the runs
    std::uint64_t seed = 0;          ///< of the hash function
  };
  /// Set by the build.
  table_storage table_;

 private:
  void check_view(std::size_t key_bits, row_id_type row_ids, unsigned bytes) const;
  void check_kind(const probes& batch) const final;
};

/// Builds a `hash_open`; arguments and errors as for `build`. Throws `unsupported` where slots do
/// not fit row ids of their width; `invalid_argument` for repeated keys that are refused.
RAYDEX_EXPORT std::unique_ptr<hash_open> build_hash_open(
    backend where, const context& on, const column& keys,
    const std::optional<column>& row_ids = std::nullopt, const hash_open_options& options = {});

}  // namespace raydex
