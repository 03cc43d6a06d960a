// SPDX-License-Identifier: Apache-2.0
// A hash table of the rows of a column whose keys differ, filled without a sort.
#pragma once

#include <cstdint>
#include <limits>

#include "raydex/core/atomic.hpp"
#include "raydex/core/config.hpp"
#include "raydex/core/keys/column.hpp"
#include "raydex/core/lookups/hashing.hpp"

namespace raydex::cuda {

// Open addressing by lines: a slot has a row, and of the hash of its key 32 bits, which of keys of
// 32 bits are all.
template <class Key>
struct row_table {
  static constexpr std::uint64_t empty = std::numeric_limits<std::uint64_t>::max();
  static constexpr std::uint32_t none = std::numeric_limits<std::uint32_t>::max();

  core::encoded_column<Key> keys;
  core::hash_function<Key> mix;
  std::uint64_t* slots;
  std::uint32_t count;  // of slots

  // Puts a row in, unless another one has its key: then false.
  RAYDEX_HD bool put(std::uint32_t row) const {
    const Key code = keys[row];
    const Key hash = mix(code);
    for (std::uint32_t at = core::home_of(hash, count);; at = after(at)) {
      std::uint64_t word = core::load_atomically(slots + at);
      if (word == empty) {
        if (core::replace_atomically(slots + at, empty, word_of(hash, row))) return true;
        word = core::load_atomically(slots + at);
      }
      if (has(word, hash, code)) return false;
    }
  }

  // The row of a key, or none.
  RAYDEX_HD std::uint32_t find(Key code) const {
    const Key hash = mix(code);
    for (std::uint32_t at = core::home_of(hash, count);; at = after(at)) {
      const std::uint64_t word = core::load(slots + at);
      if (word == empty) return none;
      if (has(word, hash, code)) return row_of(word);
    }
  }

 private:
  RAYDEX_HD static std::uint64_t word_of(Key hash, std::uint32_t row) {
    return static_cast<std::uint64_t>(hash) << 32 | row;
  }
  RAYDEX_HD static std::uint32_t row_of(std::uint64_t word) {
    return static_cast<std::uint32_t>(word);
  }
  RAYDEX_HD bool has(std::uint64_t word, Key hash, Key code) const {
    if (word >> 32 != static_cast<std::uint32_t>(hash)) return false;
    if constexpr (sizeof(Key) == 4) return true;
    return keys[row_of(word)] == code;
  }
  RAYDEX_HD std::uint32_t after(std::uint32_t slot) const {
    return slot + 1 == count ? 0 : slot + 1;
  }
};

// Puts rows into a table.
template <class Key>
struct put_rows {
  row_table<Key> table;
  std::uint64_t first;    // row
  std::uint64_t* repeat;  // set to 0 if two rows have a key

  RAYDEX_HD void operator()(std::uint64_t i) const {
    const std::uint64_t row = first + i;
    if (table.keys.valid(row) && !table.put(static_cast<std::uint32_t>(row)))
      core::store_atomically(repeat, std::uint64_t{0});
  }
};

// Finds the rows of probes.
template <class Key>
struct find_rows {
  row_table<Key> table;
  core::encoded_column<Key> probes;
  std::uint32_t* rows;  // of each probe, or the largest number

  RAYDEX_HD void operator()(std::uint64_t i) const {
    core::store_once(rows + i, probes.valid(i) ? table.find(probes[i]) : row_table<Key>::none);
  }
};

}  // namespace raydex::cuda
