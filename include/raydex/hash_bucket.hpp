// SPDX-License-Identifier: Apache-2.0
/// @file
/// `hash_bucket`: a hash table of chained nodes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>

#include "raydex/core/lookups/hash_bucket.hpp"
#include "raydex/index.hpp"
#include "raydex/options.hpp"

namespace raydex {

/// Options of `hash_bucket`; by name as `options_of` and `raydex structures hash_bucket` list them.
struct hash_bucket_options {
  unsigned occupancy = 100;  ///< percent of a node's slots that a build expects a bucket to fill:
                             ///< 25 to 400; with 150, 22 keys share a bucket with 15 slots a node
  repetition repeats = {};   ///< whether keys may repeat
  bucket_reading reading = {};             ///< who reads the first node of a bucket, on `cuda`
  std::optional<std::uint32_t> seed = {};  ///< of the hash function; none: another one each time
};

/// A hash table with chaining: buckets of nodes that are linked, in one slab of memory. A node is
/// 128 bytes: 15 entries of 32-bit keys, or 10 of 64-bit keys, and a link (SlabHash: Ashkiani,
/// Farach-Colton and Owens, "A dynamic hash table for the GPU", 2018; "HT (buckets)" of the
/// lightweight paper, section 5.1). Like `hash_open` it holds keys by a hash that can be inverted,
/// each once, with a list of its rows if keys repeat. Compared with that, insertions
/// slow down lookups in their own bucket alone, and the table need not be made anew until it
/// has twice its keys; lookups read 128 bytes where those of `hash_open` read 64. Hash functions
/// are chosen as there: a build or an edit that finds a chain longer than in one of 10^9 tables
/// takes another one.
///
/// Answers points: `first`, `count`, `sum`, `rows`. Ranges, ranks and neighbours throw
/// `unsupported`.
///
/// *Cost*: build: the sort of `sorted_array`, of hashes, then three passes over them and a write of
/// the nodes. A point: a node, and as many more as its bucket has before it; where keys repeat, for
/// all but `first` a read beside the table, and the rows. *Memory*: resident: 128 bytes a node, at
/// an occupancy of 100 % 12.2 for each entry of 32 bits; where keys repeat, a row id for each
/// row and two for each slot beside that. Peak of the build: that of `sorted_array`, or what it
/// sorted, two numbers a bucket and the table. *Stream*: the build synchronises.
///
/// *Edits*: the buckets of a batch are merged with it, each by one thread, in a copy of the slab
/// that has room for the nodes they need more, while there are at most twice the keys of a build,
/// and at most twice the nodes of a new one; otherwise, and where keys repeat, the entries are
/// merged with the batch and the table is made anew. Slots of erased entries are used again by
/// their bucket.
class RAYDEX_EXPORT hash_bucket : public index {
 public:
  ~hash_bucket() override;

  /// A view to look keys up from the user's own code, inside a kernel on `cuda`. It stays valid as
  /// long as the index is not edited. Keys go in encoded (`raydex::encode`).
  ///
  /// @tparam Key `encoded_t` of the column's key type
  /// @tparam RowId the type that `info().row_ids` names
  ///
  /// Throws `invalid_argument` if these are not the index's own.
  template <class Key, class RowId>
  auto view() const {
    check_view(8 * sizeof(Key), sizeof(RowId) == 4 ? row_id_type::uint32 : row_id_type::uint64);
    core::hash_bucket_view<Key, RowId> made;
    made.table.first = table_.words;
    made.chains = table_.chains;
    made.hasher = core::hash_by<Key>(table_.seed);
    made.entries = info().entries;
    made.runs = static_cast<const core::row_run<RowId>*>(table_.runs);
    made.rows = static_cast<const RowId*>(table_.rows);
    return made;
  }

 protected:
  /// For implementations.
  explicit hash_bucket(memory_resource& upstream);

  /// Where the table is.
  struct table_storage {
    std::uint32_t* words = nullptr;  ///< the nodes
    std::uint32_t nodes = 0;         ///< how many
    std::uint32_t chains = 1;        ///< buckets; each begins with the node of its number
    const void* runs = nullptr;      ///< the run of each slot, where keys repeat
    const void* rows = nullptr;      ///< the rows of the runs
    std::uint64_t seed = 0;          ///< of the hash function
  };
  /// Set by the build.
  table_storage table_;

 private:
  void check_view(std::size_t key_bits, row_id_type row_ids) const;
  void check_kind(const probes& batch) const final;
};

/// Builds a `hash_bucket`; arguments and errors as for `build`. Throws `unsupported` where slots do
/// not fit row ids of their width; `invalid_argument` for repeated keys that are refused.
RAYDEX_EXPORT std::unique_ptr<hash_bucket> build_hash_bucket(
    backend where, const context& on, const column& keys,
    const std::optional<column>& row_ids = std::nullopt, const hash_bucket_options& options = {});

}  // namespace raydex
