// SPDX-License-Identifier: Apache-2.0
// Counting and finding keys with the widest vectors of the machine that runs us: compiled for
// several instruction sets, chosen when first called.
#pragma once

#include <cstddef>

#include "raydex/core/keys/entries.hpp"
#include "raydex/core/lookups/quantised_node.hpp"

namespace raydex::cpu {

// ranks[m] = how many keys of runs[m] are below wanted[m], for m < count.
template <class Key, int Words>
using rank_runs = void (*)(const core::key_run<Words>* runs, const Key* wanted, unsigned* ranks,
                           std::size_t count);
// slots[m] = the first key of runs[m] that is equal to wanted[m], or their number, for m < count.
template <class Key, int Words>
using find_in_runs = void (*)(const core::key_run<Words>* runs, const Key* wanted, unsigned* slots,
                              std::size_t count);
// ranks[m] = how many separators of *nodes[m] are below wanted[m], for m < count.
template <class Key>
using rank_nodes = void (*)(const core::quantised_node<Key>* const* nodes, const Key* wanted,
                            unsigned* ranks, std::size_t count);

// One instruction set's. `Width` is a key's words: runs are of keys by themselves, or of keys with
// a row id of 32 or 64 bits after each.
template <class Key, int Width = sizeof(Key) / 4>
struct simd_kernels {
  rank_runs<Key, Width> keys;
  rank_runs<Key, Width + 1> keys_and_row32;
  rank_runs<Key, Width + 2> keys_and_row64;
  rank_nodes<Key> separators;
  find_in_runs<Key, Width> equal_keys;
  find_in_runs<Key, 2 * Width> equal_keys_and_rows;  // row ids as wide as keys

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
  template <int Words>
  auto equal() const {
    if constexpr (Words == Width) {
      return equal_keys;
    } else {
      return equal_keys_and_rows;
    }
  }
};

// The best instruction set's.
template <class Key>
simd_kernels<Key> best_kernels();
template <>
simd_kernels<std::uint32_t> best_kernels();
template <>
simd_kernels<std::uint64_t> best_kernels();

}  // namespace raydex::cpu
