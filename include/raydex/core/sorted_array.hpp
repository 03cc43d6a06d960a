// SPDX-License-Identifier: Apache-2.0
/// @file
/// `sorted_array` inside kernels: its two layouts and its view.
#pragma once

#include <cstdint>
#include <limits>

#include "raydex/core/column.hpp"
#include "raydex/core/config.hpp"
#include "raydex/core/lookup.hpp"
#include "raydex/core/search.hpp"

namespace raydex::core {

/// Keys and row ids in an array each.
template <class Key, class RowId>
struct column_entries {
  using key_type = Key;       ///< an encoded key
  using row_id_type = RowId;  ///< a row id

  const Key* keys = nullptr;       ///< ascending keys
  const RowId* row_ids = nullptr;  ///< their rows

  /// The key of entry `i`.
  RAYDEX_HD Key key(RowId i) const { return load(keys + i); }
  /// The row id of entry `i`.
  RAYDEX_HD RowId row_id(RowId i) const { return load(row_ids + i); }
};

/// Entries of a key followed by its row id, packed: 8, 12 or 16 bytes each.
template <class Key, class RowId>
struct row_entries {
  using key_type = Key;       ///< an encoded key
  using row_id_type = RowId;  ///< a row id

  /// Entries are made of 32-bit words, because those of 12 bytes align 64-bit members to 4 only.
  static constexpr int words_per_entry = (sizeof(Key) + sizeof(RowId)) / 4;

  const std::uint32_t* words = nullptr;  ///< the entries, ascending

  /// The key of entry `i`.
  RAYDEX_HD Key key(RowId i) const { return get<Key>(i, 0); }
  /// The row id of entry `i`.
  RAYDEX_HD RowId row_id(RowId i) const { return get<RowId>(i, sizeof(Key) / 4); }

  /// Writes entry `i` of an array of entries.
  RAYDEX_HD static void put(std::uint32_t* entries, std::uint64_t i, Key key, RowId row_id) {
    std::uint32_t* entry = entries + i * words_per_entry;
    put_words(entry, key);
    put_words(entry + sizeof(Key) / 4, row_id);
  }

 private:
  template <class T>
  RAYDEX_HD T get(RowId i, int first_word) const {
    const std::uint32_t* word = words + std::uint64_t{i} * words_per_entry + first_word;
    if constexpr (sizeof(T) == 4) {
      return load(word);
    } else if constexpr (words_per_entry % 2 == 0) {
      return load(reinterpret_cast<const T*>(word));
    } else {
      return load(word) | T{load(word + 1)} << 32;
    }
  }
  template <class T>
  RAYDEX_HD static void put_words(std::uint32_t* word, T value) {
    word[0] = static_cast<std::uint32_t>(value);
    if constexpr (sizeof(T) == 8) word[1] = static_cast<std::uint32_t>(value >> 32);
  }
};

/// A trivially copyable view of a `sorted_array`, for searches inside the user's own code. Keys are
/// encoded. `Entries` is `column_entries` or `row_entries`.
template <class Entries>
class sorted_array_view {
 public:
  using key_type = typename Entries::key_type;        ///< an encoded key
  using row_id_type = typename Entries::row_id_type;  ///< a row id
  using position = row_id_type;                       ///< a place among the entries

  /// A view of `size` entries.
  sorted_array_view(Entries entries, position size) : entries_(entries), size_(size) {}

  /// Number of entries.
  RAYDEX_HD position size() const { return size_; }
  /// The key at a position.
  RAYDEX_HD key_type key(position at) const { return entries_.key(at); }
  /// The row id at a position.
  RAYDEX_HD row_id_type row_id(position at) const { return entries_.row_id(at); }

  /// The smallest row id of `key`, or the largest value of its type. Cost: log2 n + 2 reads.
  RAYDEX_HD row_id_type find(key_type key) const { return first({key, key}, locate(key)); }
  /// The number of rows of `key`.
  RAYDEX_HD std::uint64_t count(key_type key) const { return count(interval<key_type>{key, key}); }
  /// The number of rows whose key lies in `range`.
  RAYDEX_HD std::uint64_t count(interval<key_type> range) const {
    return range.empty() ? 0 : count(range, locate(range.lower));
  }
  /// Calls `visit(row_id)` for every row of `key`, in ascending order.
  template <class Visit>
  RAYDEX_HD void for_each(key_type key, Visit&& visit) const {
    for_each(interval<key_type>{key, key}, visit);
  }
  /// Calls `visit(row_id)` for every row whose key lies in `range`, by key, then by row id.
  template <class Visit>
  RAYDEX_HD void for_each(interval<key_type> range, Visit&& visit) const {
    if (!range.empty()) for_each(range, locate(range.lower), visit);
  }

  /// @name In two steps, as batches are answered: find where the matches of a range begin, N ranges
  /// at once, then ask there. Precondition: the ranges are not empty.
  /// @{

  /// The position of the first key that is not below `lower`.
  RAYDEX_HD position locate(key_type lower) const {
    const key_type wanted[1] = {lower};
    position found[1];
    locate(wanted, found);
    return found[0];
  }
  /// The same for N keys.
  template <std::size_t N>
  RAYDEX_HD void locate(const key_type (&lower)[N], position (&found)[N]) const {
    lower_bounds(keys(), size_, lower, found);
  }
  /// The smallest row id in `range`, whose matches begin at `begin`.
  RAYDEX_HD row_id_type first(interval<key_type> range, position begin) const {
    auto smallest = std::numeric_limits<row_id_type>::max();
    if (begin == size_ || range.upper < key(begin)) return smallest;
    if (range.lower == range.upper) return row_id(begin);
    for_each(range, begin, [&](row_id_type id) { smallest = id < smallest ? id : smallest; });
    return smallest;
  }
  /// The number of rows in `range`, whose matches begin at `begin`.
  RAYDEX_HD std::uint64_t count(interval<key_type> range, position begin) const {
    return gallop_past(keys(), begin, size_, range.upper) - begin;
  }
  /// Calls `visit(row_id)` for the rows in `range`, whose matches begin at `begin`.
  template <class Visit>
  RAYDEX_HD void for_each(interval<key_type> range, position begin, Visit&& visit) const {
    const position end = gallop_past(keys(), begin, size_, range.upper);
    for (position at = begin; at < end; ++at)
      visit(row_id(at));
  }
  /// @}

 private:
  struct key_reader {
    Entries entries;
    RAYDEX_HD key_type operator()(position at) const { return entries.key(at); }
  };
  RAYDEX_HD key_reader keys() const { return {entries_}; }

  Entries entries_;
  position size_;
};

}  // namespace raydex::core
