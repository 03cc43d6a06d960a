// SPDX-License-Identifier: Apache-2.0
/// @file
/// Strings of any length, and other keys, as words of 8 bytes, and how these put them in order:
/// what `key_dictionary.hpp` sorts by.
#pragma once

#include <cstddef>
#include <cstdint>

#include "raydex/core/atomic.hpp"
#include "raydex/core/bits.hpp"
#include "raydex/core/config.hpp"
#include "raydex/core/joins/key_cells.hpp"

namespace raydex::core {

/// Where two keys differ first: a byte, or one of these.
inline constexpr std::uint64_t differs_nowhere = ~std::uint64_t{0};
inline constexpr std::uint64_t differs_in_size =
    differs_nowhere - 1;  ///< in NUL bytes at their end

/// A byte behind those of all strings.
inline constexpr std::uint64_t behind_all_bytes = std::uint64_t{1} << 62;

/// The keys of a column as words in their order. Numbers have one word. Strings have as many as
/// their bytes take, without the first `skipped` ones, and their size comes behind all words.
struct key_words {
  key_cells of;               ///< the column
  std::uint64_t skipped = 0;  ///< bytes of each string
  std::uint64_t width = 0;    ///< of each string, if all have that size; 0: they may differ
  std::uint64_t begin = 0;    ///< where the first of these is among the column's bytes

  /// Whether key `i` is there.
  RAYDEX_HD bool valid(std::uint64_t i) const { return of.fixed.valid(i); }
  /// String `i`; where all have one size, without a look at where it begins.
  RAYDEX_HD string_cell string(std::uint64_t i) const {
    if (width == 0) return {of, i};
    const char* const first = of.bytes + begin;
    return {first + i * width, width, first + of.size * width};
  }
  /// The first word of a key.
  RAYDEX_HD std::uint64_t first(std::uint64_t i) const {
    return of.is_strings ? string(i).word(skipped) : of.code(i) << (64 - of.bits());
  }
  /// The word of a string from a byte on, or its size; of numbers 0.
  RAYDEX_HD std::uint64_t word(std::uint64_t i, std::uint64_t at) const {
    if (!of.is_strings) return 0;
    const string_cell own = string(i);
    return at == differs_in_size ? own.size : own.word(skipped + at);
  }
  /// Whether two keys of the column are equal.
  RAYDEX_HD bool equal(std::uint64_t i, std::uint64_t j) const {
    return of.is_strings ? first_difference(i, j, 0) == differs_nowhere : first(i) == first(j);
  }
  /// Where two keys of the column differ, from a byte on; up to there they are equal. Bytes from
  /// `end` on are not looked at.
  RAYDEX_HD std::uint64_t first_difference(std::uint64_t i, std::uint64_t j, std::uint64_t from,
                                           std::uint64_t end = differs_nowhere) const {
    if (!of.is_strings) return differs_nowhere;
    const string_cell a = string(i);
    const string_cell b = string(j);
    const std::uint64_t most = a.size < b.size ? b.size : a.size;
    for (std::uint64_t at = skipped + from; at < most; at += 8) {
      if (at - skipped >= end) return differs_nowhere;
      const std::uint64_t apart = a.word(at) ^ b.word(at);
      if (apart != 0) return at - skipped + (63 - floor_log2(apart)) / 8;
    }
    return a.size == b.size ? differs_nowhere : differs_in_size;
  }
};

/// Writes the codes of numbers, which their first words begin with.
struct put_codes_of_words {
  const std::uint64_t* words;  ///< a word each
  unsigned bits;               ///< of a code
  std::uint64_t* codes;        ///< a code each

  /// Writes one.
  RAYDEX_HD void operator()(std::uint64_t i) const { codes[i] = words[i] >> (64 - bits); }
};

/// Finds the first row that has a value.
struct find_first_valid {
  cells of;            ///< the column
  std::uint64_t* row;  ///< the largest number at first

  /// Looks at a row.
  RAYDEX_HD void operator()(std::uint64_t i) const {
    if (of.valid(i) && i < load_atomically(row)) keep_smallest(row, i);
  }
};

/// What all strings of a column have in common, and their sizes.
struct common_bytes {
  std::uint64_t prefix;    ///< bytes that all begin with
  std::uint64_t shortest;  ///< the bytes of the shortest one
  std::uint64_t longest;   ///< of the longest one
  std::uint64_t begin;     ///< where the first one is among the column's bytes
};

/// Finds what strings have in common.
struct find_common_bytes {
  static constexpr std::uint64_t chunk = 1 << 12;       ///< strings that a group looks at
  static constexpr std::size_t most_scratch_bytes = 0;  ///< none is needed
  /// Likewise.
  RAYDEX_HD static std::size_t scratch_bytes() { return 0; }

  key_cells of;        ///< the column
  std::uint64_t row;   ///< the first one that has a value
  std::uint64_t size;  ///< rows
  common_bytes* out;   ///< at first the largest numbers, and zeros

  /// Looks at a chunk.
  template <class Group>
  RAYDEX_HD void operator()(const Group& group, std::byte* /*scratch*/, std::uint64_t c) const {
    const std::uint64_t begin = c * chunk;
    const std::uint64_t end = size - begin < chunk ? size : begin + chunk;
    common_bytes all{~std::uint64_t{0}, ~std::uint64_t{0}, 0, 0};
    const string_cell model(of, row);
    for (std::uint64_t i = begin + group.lane(); i < end; i += group.lanes()) {
      if (!of.fixed.valid(i)) continue;
      const string_cell own(of, i);
      all.shortest = own.size < all.shortest ? own.size : all.shortest;
      all.longest = own.size > all.longest ? own.size : all.longest;
      const std::uint64_t common = bytes_in_common(model, own, all.prefix);
      all.prefix = common < all.prefix ? common : all.prefix;
    }
    const auto smaller = [](std::uint64_t a, std::uint64_t b) { return a < b ? a : b; };
    const auto larger = [](std::uint64_t a, std::uint64_t b) { return a < b ? b : a; };
    all.prefix = group.reduce(all.prefix, smaller);
    all.shortest = group.reduce(all.shortest, smaller);
    all.longest = group.reduce(all.longest, larger);
    if (group.lane() != 0) return;
    keep_smallest(&out->prefix, all.prefix);
    keep_smallest(&out->shortest, all.shortest);
    keep_largest(&out->longest, all.longest);
    if (c == 0) out->begin = of.begin(0);
  }

 private:
  // Bytes that two strings begin with, or `enough` of them.
  RAYDEX_HD static std::uint64_t bytes_in_common(const string_cell& a, const string_cell& b,
                                                 std::uint64_t enough) {
    std::uint64_t most = a.size < b.size ? a.size : b.size;
    most = most < enough ? most : enough;
    for (std::uint64_t at = 0; at < most; at += 8) {
      const std::uint64_t apart = a.word(at) ^ b.word(at);
      if (apart == 0) continue;
      const std::uint64_t common = at + (63 - floor_log2(apart)) / 8;
      return common < most ? common : most;
    }
    return most;
  }
};

/// Writes the first words of keys.
struct put_first_words {
  key_words from;      ///< the column
  std::uint64_t* out;  ///< a word a key; 0 of a missing one

  /// Writes one.
  RAYDEX_HD void operator()(std::uint64_t i) const { out[i] = from.valid(i) ? from.first(i) : 0; }
};

// Keys are sorted by their first words, then those whose words are equal by the words that they
// differ in. A *group* is keys that are equal so far, side by side; *tied* keys are those of groups
// of several.

/// Marks keys whose first word another one has.
struct mark_tied {
  const std::uint64_t* words;  ///< ascending
  std::uint64_t size;          ///< of them
  std::uint64_t* out;          ///< 1 or 0 a key

  /// Marks one.
  RAYDEX_HD void operator()(std::uint64_t e) const {
    const bool before = e != 0 && words[e] == words[e - 1];
    const bool behind = e + 1 != size && words[e] == words[e + 1];
    out[e] = before || behind ? 1 : 0;
  }
};

/// Tied keys.
struct tied_keys {
  std::uint64_t* places;  ///< where each is among all keys, ascending
  std::uint64_t* groups;  ///< the number of its group, from 1 on, ascending
  std::uint64_t* from;    ///< the first byte that its group may differ in
};

/// Writes the keys that were marked, and which of them begins a group.
struct put_tied {
  const std::uint64_t* words;  ///< as of `mark_tied`
  const std::uint64_t* ranks;  ///< how many are marked up to each one
  tied_keys out;               ///< `groups` is 1 or 0

  /// Writes one.
  RAYDEX_HD void operator()(std::uint64_t e) const {
    const std::uint64_t before = e == 0 ? 0 : ranks[e - 1];
    if (ranks[e] == before) return;
    out.places[before] = e;
    out.groups[before] = e == 0 || words[e] != words[e - 1] ? 1 : 0;
    out.from[before] = 8;
  }
};

/// Finds the first byte that keys of each group differ in.
template <class RowId>
struct find_differences {
  key_words keys;           ///< the column
  const RowId* rows;        ///< in the order of keys
  tied_keys tied;           ///< whose groups these are
  std::uint64_t* distance;  ///< of each group, `differs_nowhere` less the byte; 0 at first

  /// Compares a key with the one before.
  RAYDEX_HD void operator()(std::uint64_t k) const {
    const std::uint64_t group = tied.groups[k];
    if (k == 0 || tied.groups[k - 1] != group) return;
    const std::uint64_t known = differs_nowhere - load_atomically(distance + group);
    const std::uint64_t byte = keys.first_difference(
        static_cast<std::uint64_t>(rows[tied.places[k - 1]]),
        static_cast<std::uint64_t>(rows[tied.places[k]]), tied.from[k], known);
    if (byte < known) keep_largest(distance + group, differs_nowhere - byte);
  }
};

/// Marks the keys of groups that differ.
struct mark_unsettled {
  const std::uint64_t* groups;    ///< as of `tied_keys`
  const std::uint64_t* distance;  ///< as of `find_differences`
  std::uint64_t* out;             ///< 1 or 0 a key

  /// Marks one.
  RAYDEX_HD void operator()(std::uint64_t k) const { out[k] = distance[groups[k]] != 0 ? 1 : 0; }
};

/// Writes those keys, and what they are sorted by: the number of their group, and as many bits as
/// are left of what follows from the first byte on in which the group differs, or sizes.
template <class RowId>
struct put_unsettled {
  key_words keys;                 ///< the column
  const RowId* rows;              ///< in the order of keys
  tied_keys tied;                 ///< as of `find_differences`
  const std::uint64_t* distance;  ///< likewise
  const std::uint64_t* ranks;     ///< how many are marked up to each one
  unsigned bits;                  ///< of the numbers of groups; those left hold sizes
  tied_keys out;                  ///< those that are marked; without groups
  std::uint64_t* sorted_by;       ///< a number each

  /// Writes one.
  RAYDEX_HD void operator()(std::uint64_t k) const {
    const std::uint64_t before = k == 0 ? 0 : ranks[k - 1];
    if (ranks[k] == before) return;
    const std::uint64_t group = tied.groups[k];
    const std::uint64_t byte = differs_nowhere - distance[group];
    const std::uint64_t word = keys.word(static_cast<std::uint64_t>(rows[tied.places[k]]), byte);
    out.places[before] = tied.places[k];
    out.from[before] = byte == differs_in_size ? behind_all_bytes : byte + (64 - bits) / 8;
    sorted_by[before] = group << (64 - bits) | (byte == differs_in_size ? word : word >> bits);
  }
};

/// Writes the rows of tied keys in their new order, and which of them begins a group.
template <class RowId, class Place>
struct put_in_order {
  const RowId* rows;               ///< of all keys
  const std::uint64_t* places;     ///< of the tied keys
  const std::uint64_t* sorted_by;  ///< what these are sorted by, ascending
  const Place* order;              ///< which of them it is of
  RowId* out;                      ///< their rows, in order
  std::uint64_t* begins;           ///< 1 or 0 a key

  /// Writes one.
  RAYDEX_HD void operator()(std::uint64_t y) const {
    out[y] = rows[places[order[y]]];
    begins[y] = y == 0 || sorted_by[y] != sorted_by[y - 1] ? 1 : 0;
  }
};

/// Writes rows to their places.
template <class RowId>
struct scatter_rows {
  const RowId* from;            ///< the rows
  const std::uint64_t* places;  ///< a place for each
  RowId* out;                   ///< all rows

  /// Writes one.
  RAYDEX_HD void operator()(std::uint64_t y) const { out[places[y]] = from[y]; }
};

/// Marks the keys that differ from the one before.
template <class RowId>
struct mark_first_of_equal {
  key_words keys;              ///< the column
  const std::uint64_t* words;  ///< the first words, in the order of keys
  const RowId* rows;           ///< the rows, in that order
  std::uint64_t* out;          ///< 1 or 0 a key

  /// Marks one.
  RAYDEX_HD void operator()(std::uint64_t e) const {
    const bool same =
        e != 0 && words[e] == words[e - 1] &&
        keys.first_difference(static_cast<std::uint64_t>(rows[e - 1]),
                              static_cast<std::uint64_t>(rows[e]), 8) == differs_nowhere;
    out[e] = same ? 0 : 1;
  }
};

}  // namespace raydex::core
