// SPDX-License-Identifier: Apache-2.0
// Bytes of hash tables.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string_view>

#include "raydex/options.hpp"
#include "src/structures/shared/bytes.hpp"

namespace raydex {

// Keys that a table holds.
inline std::uint64_t hashed_keys(const column_facts& keys, repetition repeats) {
  return repeats == repetition::refused ? keys.n : most_different(keys);
}

struct table_size {
  std::uint64_t buckets;
  std::uint64_t slots;  // of a bucket
  std::uint64_t bytes;  // of a bucket
};

// A table that a build makes of sorted hashes, with so much scratch. Where keys repeat, each slot
// has a run, two row ids, and the hashes that differ are listed first: each with two row ids.
inline memory_estimate estimate_table(std::string_view structure, backend where,
                                      const column_facts& keys, repetition repeats,
                                      const table_size& table, std::uint64_t scratch) {
  const std::uint64_t hashed = hashed_keys(keys, repeats);
  const bool repeat = hashed < keys.n;
  const std::uint64_t runs = repeat ? table.buckets * table.slots * 2 * row_bytes : 0;
  const std::uint64_t listed = repeat ? hashed * (key_bytes(keys) + 2 * row_bytes) : 0;
  const std::uint64_t words = table.buckets * table.bytes;
  const std::uint64_t entries = entry_bytes(keys);
  return {.structure = std::string(structure),
          .resident_bytes = words + runs + (repeat ? keys.n * row_bytes : 0),
          .build_peak_bytes = std::max(sort_bytes(where, keys.n, entries),
                                       entries + listed + scratch + words + runs),
          .per_probe = {.closest = 0}};
}

}  // namespace raydex
