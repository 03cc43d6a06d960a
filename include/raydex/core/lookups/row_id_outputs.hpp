// SPDX-License-Identifier: Apache-2.0
/// @file
/// Row ids made into what a caller wants.
#pragma once

#include <cstdint>
#include <limits>

#include "raydex/core/atomic.hpp"
#include "raydex/core/config.hpp"

namespace raydex::core {

/// Writes row ids of 32 bits as ones of 64 bits.
struct widen_row_ids {
  const std::uint32_t* from;   ///< narrow
  const std::uint64_t* count;  ///< how many there are, if the caller does not know; or null
  std::uint64_t* to;           ///< wide
  /// Writes one.
  RAYDEX_HD void operator()(std::uint64_t i) const {
    if (count != nullptr && i >= *count) return;
    constexpr auto none = std::numeric_limits<std::uint32_t>::max();
    to[i] = from[i] == none ? std::numeric_limits<std::uint64_t>::max() : from[i];
  }
};

/// Writes wide row ids in place of narrow positions, or positions of a slice as those of the whole.
/// Several slices write to one array, one after the other.
struct place_rows {
  const std::uint32_t* from;  ///< positions in the slice
  std::uint64_t begin;        ///< where the slice begins
  const std::uint64_t* rows;  ///< row ids by position in the whole; null: positions are written
  bool fresh;                 ///< whether nothing has been written yet
  bool last_wins;             ///< whether what is there already is replaced
  std::uint64_t* to;          ///< a row id or a position each
  /// Writes one.
  RAYDEX_HD void operator()(std::uint64_t i) const {
    constexpr auto none = std::numeric_limits<std::uint64_t>::max();
    const bool found = from[i] != std::numeric_limits<std::uint32_t>::max();
    const bool empty = fresh || to[i] == none;
    if (found && (empty || last_wins)) {
      const std::uint64_t position = begin + from[i];
      to[i] = rows != nullptr ? rows[position] : position;
    } else if (fresh) {
      to[i] = none;
    }
  }
};

/// Adds the numbers of another slice: counts, or ranks, which are the largest number of a missing
/// probe.
struct add_numbers {
  const std::uint64_t* from;  ///< of the slice
  std::uint64_t* to;          ///< of those before, and then of all
  /// Adds one.
  RAYDEX_HD void operator()(std::uint64_t i) const {
    constexpr auto none = std::numeric_limits<std::uint64_t>::max();
    if (to[i] != none) to[i] += from[i];
  }
};

/// Settles where the matches of each probe begin: at a place that exists, also of none; of a single
/// one, the row id can stand there.
struct settle_begins {
  const std::uint64_t* rows;    ///< row ids by position; null: not in place of a position
  const std::uint64_t* counts;  ///< matches of each probe
  std::uint64_t* begins;        ///< where they begin
  /// Settles one.
  RAYDEX_HD void operator()(std::uint64_t i) const {
    if (counts[i] == 0) begins[i] = 0;
    if (counts[i] == 1 && rows != nullptr) begins[i] = rows[begins[i]];
  }
};

/// Copies row ids.
struct copy_wide_rows {
  const std::uint64_t* from;  ///< row ids
  std::uint64_t* to;          ///< as many
  /// Copies one.
  RAYDEX_HD void operator()(std::uint64_t i) const { to[i] = from[i]; }
};

/// Finds where to cut ascending keys, near a place but not between equal ones.
template <class Key>
struct find_cut {
  const Key* keys;      ///< ascending
  std::uint64_t place;  ///< of a key
  std::uint64_t* out;   ///< the first place of a key equal to that one
  /// Writes it.
  RAYDEX_HD void operator()(std::uint64_t) const {
    std::uint64_t begin = 0;
    std::uint64_t size = place;
    while (size > 0) {
      const std::uint64_t half = size / 2;
      const bool below = keys[begin + half] < keys[place];
      begin = below ? begin + half + 1 : begin;
      size = below ? size - half - 1 : half;
    }
    *out = begin;
  }
};

/// Writes whether there is a row.
template <class RowId>
struct put_found {
  const RowId* rows;              ///< the largest number of the type where there is none
  bool* out;                      ///< a byte each
  const RowId* places = nullptr;  ///< of each in `out`; null: their numbers
  /// Writes one.
  RAYDEX_HD void operator()(std::uint64_t i) const {
    out[places == nullptr ? i : places[i]] = rows[i] != std::numeric_limits<RowId>::max();
  }
};

/// Writes another number where there is no row.
template <class RowId>
struct replace_not_found {
  RowId* rows;   ///< the largest number of the type where there is none
  RowId number;  ///< what stands there then
  /// Writes one.
  RAYDEX_HD void operator()(std::uint64_t i) const {
    if (rows[i] == std::numeric_limits<RowId>::max()) rows[i] = number;
  }
};

/// Sets a bit for each row; atomically if several threads do.
template <class RowId, bool IsAtomic>
struct set_row_bits {
  const RowId* rows;          ///< any rows, in any order
  std::uint64_t size;         ///< how many rows have a bit
  std::uint32_t* words;       ///< of 32 bits each, the first one the lowest
  std::uint64_t* is_outside;  ///< becomes 1 if a row has no bit
  /// Sets one.
  RAYDEX_HD void operator()(std::uint64_t i) const {
    const std::uint64_t row = rows[i];
    if (row >= size) return store_atomically(is_outside, std::uint64_t{1});
    const std::uint32_t bit = std::uint32_t{1} << row % 32;
    if constexpr (IsAtomic) {
      set_bits_atomically(words + row / 32, bit);
    } else {
      words[row / 32] |= bit;
    }
  }
};

}  // namespace raydex::core
