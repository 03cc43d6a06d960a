// SPDX-License-Identifier: Apache-2.0
// Counting, finding and hashing keys with the widest vectors of the machine that runs us: compiled
// for several instruction sets, chosen when first called.
#pragma once

#include <cstddef>
#include <cstdint>

#include "raydex/core/keys/entries.hpp"
#include "raydex/core/lookups/hashing.hpp"
#include "raydex/core/lookups/tree_nodes.hpp"
#include "raydex/export.hpp"

namespace raydex::cpu {

// ranks[m] = how many keys of runs[m] are below wanted[m], for m < count.
template <class Key, int Words>
using rank_runs = void (*)(const core::key_run<Words>* runs, const Key* wanted, unsigned* ranks,
                           std::size_t count);
// ranks[m] = how many separators of *nodes[m] are below wanted[m], for m < count.
template <class Key>
using rank_nodes = void (*)(const core::quantised_node<Key>* const* nodes, const Key* wanted,
                            unsigned* ranks, std::size_t count);

// A bit for each of 32 numbers: whether it is not below `least`.
template <class Key>
using compare_numbers = std::uint32_t (*)(const Key* numbers, Key least);

// hashes[i] = hash(numbers[i] ^ flipped), for i < count.
template <class Key>
using hash_numbers = void (*)(const Key* numbers, Key flipped, const core::hash_function<Key>& hash,
                              Key* hashes, std::size_t count);

// One instruction set's. `Width` is a key's words: runs are of keys by themselves, or of keys with
// a row id of 32 or 64 bits after each.
template <class Key, int Width = sizeof(Key) / 4>
struct simd_kernels {
  rank_runs<Key, Width> keys;
  rank_runs<Key, Width + 1> keys_and_row32;
  rank_runs<Key, Width + 2> keys_and_row64;
  rank_nodes<Key> separators;
  compare_numbers<Key> at_least;
  hash_numbers<Key> hash;

  // Those for runs of so many words a key.
  template <int Words>
  auto of_runs() const {
    if constexpr (Words == Width) {
      return keys;
    } else if constexpr (Words == Width + 1) {
      return keys_and_row32;
    } else {
      return keys_and_row64;
    }
  }
};

// One instruction set's for the buckets of a hash table.
template <class Buckets>
struct bucket_kernels {
  using key = typename Buckets::key_type;
  using row_id = typename Buckets::row_id_type;

  // slots[m] = the first slot of buckets[m] with hashes[m], or their number, for m < count; and
  // rows[m] its row id, or the largest one.
  void (*in_buckets)(const Buckets& table, const std::uint32_t* buckets, const key* hashes,
                     unsigned* slots, row_id* rows, std::size_t count);
  // The same of keys[m] in their homes; and hashes[m] and homes[m].
  void (*in_homes)(const Buckets& table, const core::hash_function<key>& hash,
                   std::uint32_t homes_count, const key* keys, key* hashes, std::uint32_t* homes,
                   unsigned* slots, row_id* rows, std::size_t count);
};

// Those for all tables of these types.
template <class Key, class RowId>
struct table_kernels {
  using line = core::hash_buckets<Key, RowId, 64>;
  using two_lines = core::hash_buckets<Key, RowId, 128>;
  using node = core::hash_buckets<Key, RowId, 128, true>;

  bucket_kernels<line> of_lines;
  bucket_kernels<two_lines> of_two_lines;
  bucket_kernels<node> of_nodes;

  const bucket_kernels<line>& kernels_for(const line& /*table*/) const { return of_lines; }
  const bucket_kernels<two_lines>& kernels_for(const two_lines& /*table*/) const {
    return of_two_lines;
  }
  const bucket_kernels<node>& kernels_for(const node& /*table*/) const { return of_nodes; }

  // The best instruction set's.
  RAYDEX_INTERNAL static table_kernels best();
};

// The best instruction set's.
template <class Key>
RAYDEX_INTERNAL simd_kernels<Key> best_kernels();
template <>
RAYDEX_INTERNAL simd_kernels<std::uint32_t> best_kernels();
template <>
RAYDEX_INTERNAL simd_kernels<std::uint64_t> best_kernels();

}  // namespace raydex::cpu
