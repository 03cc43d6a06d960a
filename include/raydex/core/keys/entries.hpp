// SPDX-License-Identifier: Apache-2.0
/// @file
/// How keys and their row ids lie in memory: in an array each, or as entries of both.
#pragma once

#include <cstddef>
#include <cstdint>

#include "raydex/core/config.hpp"
#include "raydex/core/keys/column.hpp"

namespace raydex::core {

/// Keys of consecutive entries as they lie in memory, for code that reads several at once: each
/// begins `Words` 32-bit words after the one before it.
template <int Words>
struct key_run {
  const std::uint32_t* words;  ///< the first key
  std::uint32_t count;         ///< how many
};

/// Keys in an array of their own.
template <class Key>
RAYDEX_HD inline key_run<sizeof(Key) / 4> run_of(const Key* keys, std::uint64_t count) {
  return {reinterpret_cast<const std::uint32_t*>(keys), static_cast<std::uint32_t>(count)};
}

/// Numbers that lie some bytes apart, a multiple of 4 that is known at run time only.
template <class T>
struct strided {
  const void* first = nullptr;     ///< the first one
  std::uint32_t step = sizeof(T);  ///< bytes from one to the next

  /// Number `i`. Where 64-bit numbers are not aligned to 8 bytes, it is read in halves.
  RAYDEX_HD T operator()(std::uint64_t i) const {
    const std::byte* const at = address(i);
    if constexpr (sizeof(T) == 8) {
      if (step % 8 != 0) {
        const auto* const words = reinterpret_cast<const std::uint32_t*>(at);
        return load(words) | T{load(words + 1)} << 32;
      }
    }
    return load(reinterpret_cast<const T*>(at));
  }
  /// The numbers from number `i` on.
  RAYDEX_HD strided from(std::uint64_t i) const { return {address(i), step}; }

 private:
  RAYDEX_HD const std::byte* address(std::uint64_t i) const {
    return static_cast<const std::byte*>(first) + i * step;
  }
};

/// Number `i` of an array.
template <class T>
RAYDEX_HD inline T load_at(const T* array, std::uint64_t i) {
  return load(array + i);
}
/// Number `i` of those that lie some bytes apart.
template <class T>
RAYDEX_HD inline T load_at(const strided<T>& numbers, std::uint64_t i) {
  return numbers(i);
}

/// Four words of memory, which a device reads at once.
struct alignas(16) four_words {
  std::uint32_t word[4];  ///< in their order
};

/// Reads `Words` words, a multiple of 4, from an address that is a multiple of 16 bytes.
template <std::size_t Words>
RAYDEX_HD inline void load_words(const void* address, std::uint32_t (&words)[Words]) {
  const auto* const fours = static_cast<const four_words*>(address);
  RAYDEX_UNROLL
  for (std::size_t f = 0; f < Words / 4; ++f) {
    const four_words four = fours[f];
    RAYDEX_UNROLL
    for (std::size_t w = 0; w < 4; ++w)
      words[4 * f + w] = four.word[w];
  }
}
/// The number whose words begin at `words`.
template <class T>
RAYDEX_HD inline T number_of(const std::uint32_t* words) {
  if constexpr (sizeof(T) == 4) {
    return words[0];
  } else {
    return words[0] | T{words[1]} << 32;
  }
}

/// Keys and row ids in an array each.
template <class Key, class RowId>
struct column_entries {
  using key_type = Key;       ///< an encoded key
  using row_id_type = RowId;  ///< a row id

  /// Words that are read for a row id.
  static constexpr std::size_t words_of_row = sizeof(RowId) / 4;
  static constexpr bool are_ranked = false;  ///< whether row ids are ranks

  const Key* keys = nullptr;       ///< keys
  const RowId* row_ids = nullptr;  ///< their rows

  /// The entries at two addresses.
  RAYDEX_HD static column_entries at(const void* keys, const void* row_ids) {
    return {static_cast<const Key*>(keys), static_cast<const RowId*>(row_ids)};
  }
  /// The key of entry `i`.
  RAYDEX_HD Key key(RowId i) const { return load(keys + i); }
  /// The row id of entry `i`.
  RAYDEX_HD RowId row_id(RowId i) const { return load(row_ids + i); }
  /// The row ids of four entries from `first` on, a multiple of 4.
  RAYDEX_HD void four_row_ids(std::uint64_t first, RowId (&rows)[4]) const {
    std::uint32_t words[4 * words_of_row];
    load_words(row_ids + first, words);
    RAYDEX_UNROLL
    for (std::size_t i = 0; i < 4; ++i)
      rows[i] = number_of<RowId>(words + i * words_of_row);
  }
  /// The keys of `count` entries from `first` on.
  RAYDEX_HD auto run(RowId first, std::uint64_t count) const { return run_of(keys + first, count); }
  /// The same for who reads no keys.
  column_entries<std::uint32_t, RowId> without_keys() const { return {nullptr, row_ids}; }
};

/// Keys in an array, whose row ids are their ranks.
template <class Key, class RowId>
struct ranked_entries : column_entries<Key, RowId> {
  static constexpr bool are_ranked = true;  ///< whether row ids are ranks

  /// The keys at an address.
  RAYDEX_HD explicit ranked_entries(const Key* first)
      : column_entries<Key, RowId>{first, nullptr} {}
  /// The keys at an address; there is no other.
  RAYDEX_HD static ranked_entries at(const void* keys, const void* /*none*/) {
    return ranked_entries(static_cast<const Key*>(keys));
  }
  /// The rank of entry `i`.
  RAYDEX_HD RowId row_id(RowId i) const { return i; }
  /// The ranks of four entries from `first` on.
  RAYDEX_HD void four_row_ids(std::uint64_t first, RowId (&rows)[4]) const {
    RAYDEX_UNROLL
    for (std::size_t i = 0; i < 4; ++i)
      rows[i] = static_cast<RowId>(first + i);
  }
  /// The same for who reads no keys.
  ranked_entries<std::uint32_t, RowId> without_keys() const {
    return ranked_entries<std::uint32_t, RowId>(nullptr);
  }
};

/// Entries of a key followed by its row id, packed: 8, 12 or 16 bytes each.
template <class Key, class RowId>
struct row_entries {
  using key_type = Key;       ///< an encoded key
  using row_id_type = RowId;  ///< a row id

  /// Entries are made of 32-bit words, because those of 12 bytes align 64-bit members to 4 only.
  static constexpr int words_per_entry = (sizeof(Key) + sizeof(RowId)) / 4;
  /// Words that are read for a row id, as keys lie between them.
  static constexpr std::size_t words_of_row = (sizeof(Key) + sizeof(RowId)) / 4;
  static constexpr bool are_ranked = false;  ///< whether row ids are ranks

  const std::uint32_t* words = nullptr;  ///< the entries

  /// The entries at an address; there is no other.
  RAYDEX_HD static row_entries at(const void* entries, const void* /*none*/) {
    return {static_cast<const std::uint32_t*>(entries)};
  }
  /// The key of entry `i`.
  RAYDEX_HD Key key(RowId i) const { return get<Key>(i, 0); }
  /// The row id of entry `i`.
  RAYDEX_HD RowId row_id(RowId i) const { return get<RowId>(i, sizeof(Key) / 4); }
  /// The row ids of four entries from `first` on, a multiple of 4.
  RAYDEX_HD void four_row_ids(std::uint64_t first, RowId (&rows)[4]) const {
    std::uint32_t all[4 * words_of_row];
    load_words(words + first * words_of_row, all);
    RAYDEX_UNROLL
    for (std::size_t i = 0; i < 4; ++i)
      rows[i] = number_of<RowId>(all + i * words_of_row + sizeof(Key) / 4);
  }
  /// The keys of `count` entries from `first` on.
  RAYDEX_HD auto run(RowId first, std::uint64_t count) const {
    return key_run<words_per_entry>{words + std::uint64_t{first} * words_per_entry,
                                    static_cast<std::uint32_t>(count)};
  }

  /// The same: keys lie between row ids.
  row_entries without_keys() const { return *this; }

  /// Writes entry `i` of an array of entries.
  RAYDEX_HD static void put(std::uint32_t* entries, std::uint64_t i, Key key, RowId row_id) {
    std::uint32_t* entry = entries + i * words_per_entry;
    if constexpr (words_per_entry == 2) {
      *reinterpret_cast<std::uint64_t*>(entry) = std::uint64_t{row_id} << 32 | key;
      return;
    }
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

/// Entries in a layout that is known at run time only.
template <class Key, class RowId>
struct strided_entries {
  using key_type = Key;       ///< an encoded key
  using row_id_type = RowId;  ///< a row id

  strided<Key> keys;       ///< keys
  strided<RowId> row_ids;  ///< their rows

  /// The key of entry `i`.
  RAYDEX_HD Key key(RowId i) const { return keys(i); }
  /// The row id of entry `i`.
  RAYDEX_HD RowId row_id(RowId i) const { return row_ids(i); }
  /// The same for who reads no keys.
  strided_entries<std::uint32_t, RowId> without_keys() const { return {{}, row_ids}; }
};

/// Calls `visit(k, row_id)` for a lane's share of the entries of ranks `[begin, end)`, of `size` in
/// all; k counts from `begin`. A lane reads four neighbours at once, and up to `Most` of these,
/// fewer of wide entries, before it looks at the first.
template <unsigned Most = 2, class Entries, class Visit>
RAYDEX_HD inline void scan_ranks(const Entries& entries, typename Entries::row_id_type size,
                                 typename Entries::row_id_type begin,
                                 typename Entries::row_id_type end, unsigned lane, unsigned lanes,
                                 Visit&& visit) {
  using row_id = typename Entries::row_id_type;
  constexpr auto fit = static_cast<unsigned>(4 / Entries::words_of_row);
  constexpr unsigned at_once = fit < Most ? fit : Most;
  const row_id base = begin / 4 * 4;
  const row_id skipped = begin - base;
  const row_id span = end - base;
  const unsigned step = 4 * lanes;
  for (row_id k = 4 * lane; k < span;) {
    const row_id left = span - k;
    row_id rows[at_once][4] = {};
    RAYDEX_UNROLL
    for (unsigned j = 0; j < at_once; ++j) {
      if (j * step >= left) continue;
      const row_id four = base + k + j * step;
      if (size - four >= 4) {
        entries.four_row_ids(four, rows[j]);
      } else {
        RAYDEX_UNROLL
        for (unsigned i = 0; i < 4; ++i)
          rows[j][i] = i < size - four ? entries.row_id(four + i) : 0;
      }
    }
    RAYDEX_UNROLL
    for (unsigned j = 0; j < at_once; ++j) {
      if (j * step >= left) continue;
      const row_id at = k + j * step;  // from `base`
      const bool whole = at >= skipped && left - j * step >= 4;
      RAYDEX_UNROLL
      for (unsigned i = 0; i < 4; ++i) {
        if (whole || (at + i >= skipped && i < left - j * step))
          visit(at + i - skipped, rows[j][i]);
      }
    }
    if (left <= at_once * step) break;
    k += at_once * step;
  }
}

/// The same for entries that lie some bytes apart, which are read one by one: every `lanes`-th of
/// them, without a product for each.
template <unsigned Most = 4, class Key, class RowId, class Visit>
RAYDEX_HD inline void scan_ranks(const strided_entries<Key, RowId>& entries, RowId /*size*/,
                                 RowId begin, RowId end, unsigned lane, unsigned lanes,
                                 Visit&& visit) {
  const strided<RowId> row_ids = entries.row_ids.from(begin);
  const std::uint64_t step = lanes;
  for (std::uint64_t k = lane; k < end - begin; k += Most * step) {
    RowId rows[Most] = {};
    RAYDEX_UNROLL
    for (std::uint64_t j = 0; j < Most; ++j)
      if (k + j * step < end - begin) rows[j] = row_ids(k + j * step);
    RAYDEX_UNROLL
    for (std::uint64_t j = 0; j < Most; ++j)
      if (k + j * step < end - begin) visit(k + j * step, rows[j]);
  }
}

/// Views of entries that lie side by side in the order of their keys.
template <class View>
concept over_entries = requires(const View& view) {
  view.entries();
};

}  // namespace raydex::core
