// SPDX-License-Identifier: Apache-2.0
// Bytes that builds have in common, for the formulas that stand beside each structure's options.
// Row ids have 32 bits here: `estimate` adds what those of 64 bits take.
#pragma once

#include <algorithm>
#include <cstdint>

#include "raydex/core/lookups/tree_nodes.hpp"
#include "raydex/estimate.hpp"

namespace raydex {

inline constexpr std::uint64_t row_bytes = sizeof(std::uint32_t);

inline std::uint64_t key_bytes(const column_facts& of) {
  return static_cast<std::uint64_t>(of.key.encoded_bits()) / 8;
}

// Of keys and row ids.
inline std::uint64_t entry_bytes(const column_facts& of) {
  return of.n * (key_bytes(of) + row_bytes);
}

// What `sort_column` takes at its peak for entries that it has to sort: them twice, and what it
// counts with.
inline std::uint64_t sort_bytes(backend where, std::uint64_t n, std::uint64_t entries) {
  if (where != backend::cpu) return 2 * entries + n / 5;
  const std::uint64_t block = std::max<std::uint64_t>(1 << 16, (n + 1023) / 1024);
  return 2 * entries + (n + block - 1) / block * 2048;
}
// The same if entries that ascend are left as they are.
inline std::uint64_t sort_bytes(backend where, const column_facts& of) {
  const std::uint64_t entries = entry_bytes(of);
  return of.ascending ? entries : sort_bytes(where, of.n, entries);
}

// How many keys differ; at worst all but one, as lists of rows come on top then.
inline std::uint64_t most_different(const column_facts& of) {
  if (of.different != 0 || of.n < 2)
    return of.n == 0 ? 0 : std::max<std::uint64_t>(of.different, 1);
  return of.n - 1;
}

// Calls `f.operator()<Key>()` with the type of codes.
template <class F>
auto with_code(const column_facts& of, F&& f) {
  return key_bytes(of) == sizeof(std::uint32_t) ? f.template operator()<std::uint32_t>()
                                                : f.template operator()<std::uint64_t>();
}

// Children of a root on `cpu`, see `most_roots_of`. A GPU's root may be larger by some 200 KB, and
// has fewer pivots below it.
template <class Key>
inline constexpr std::uint64_t most_roots = 1 + (std::uint64_t{1} << 15) * 2 / 3 / sizeof(Key);

// Levels of pivots, and their root.
template <class Key>
std::uint64_t bytes_of(const core::pivot_levels& levels) {
  return levels.size() * sizeof(Key) +
         core::root_node<Key>::bytes(static_cast<std::uint32_t>(levels.roots() - 1));
}

}  // namespace raydex
