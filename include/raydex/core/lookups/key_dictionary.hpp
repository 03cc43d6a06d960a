// SPDX-License-Identifier: Apache-2.0
/// @file
/// Dictionaries in the order of keys: strings of any length, and numbers, as words of 8 bytes.
#pragma once

#include <cstddef>
#include <cstdint>

#include "raydex/core/atomic.hpp"
#include "raydex/core/bits.hpp"
#include "raydex/core/config.hpp"
#include "raydex/core/joins/key_cells.hpp"
#include "raydex/core/lookups/lookup.hpp"

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

/// Writes the number of each row that has a value: of the r-th key, from 0 on, it is 2 r + 1.
template <class RowId, class Number>
struct put_row_numbers {
  const RowId* rows;           ///< in the order of keys; null: numbers are written in that order
  const std::uint64_t* ranks;  ///< how many keys there are up to each one; null: all differ
  Number* out;                 ///< a number a row

  /// Writes one.
  RAYDEX_HD void operator()(std::uint64_t e) const {
    const std::uint64_t rank = ranks == nullptr ? e + 1 : ranks[e];
    out[rows == nullptr ? e : rows[e]] = static_cast<Number>(2 * rank - 1);
  }
};

/// Writes different keys, once each.
template <class RowId>
struct put_distinct_keys {
  const std::uint64_t* words;  ///< as of `mark_first_of_equal`
  const RowId* rows;           ///< likewise
  const std::uint64_t* ranks;  ///< as of `put_row_numbers`
  std::uint64_t* firsts;       ///< the first word of each
  RowId* key_rows;             ///< a row of each; null: nobody asks

  /// Writes one.
  RAYDEX_HD void operator()(std::uint64_t e) const {
    const std::uint64_t before = e == 0 ? 0 : ranks[e - 1];
    if (ranks[e] == before) return;
    firsts[before] = words[e];
    if (key_rows != nullptr) key_rows[before] = rows[e];
  }
};

/// Behind the last of the keys that have the first word of key `e`.
RAYDEX_HD inline std::uint64_t end_of_group(const std::uint64_t* firsts, std::uint64_t e,
                                            std::uint64_t size) {
  const std::uint64_t first = load(firsts + e);
  std::uint64_t begin = e;
  std::uint64_t end = e + 1;
  for (std::uint64_t step = 1; end < size && load(firsts + end) == first; step *= 2) {
    begin = end;
    end = size - end < step ? size : end + step;
  }
  while (end - begin > 1) {
    const std::uint64_t middle = begin + (end - begin) / 2;
    (load(firsts + middle) == first ? begin : end) = middle;
  }
  return end;
}

/// The first of the keys that have the first word of key `e`.
RAYDEX_HD inline std::uint64_t begin_of_group(const std::uint64_t* firsts, std::uint64_t e) {
  const std::uint64_t first = load(firsts + e);
  std::uint64_t begin = e;
  std::uint64_t before = 0;  // how many keys are known to be before the group
  for (std::uint64_t step = 1; begin != 0; step *= 2) {
    const std::uint64_t next = begin < step ? 0 : begin - step;
    if (load(firsts + next) != first) {
      before = next + 1;
      break;
    }
    begin = next;
  }
  while (before < begin) {
    const std::uint64_t middle = before + (begin - before) / 2;
    if (load(firsts + middle) == first) {
      begin = middle;
    } else {
      before = middle + 1;
    }
  }
  return begin;
}

/// Writes where the second words of groups begin: behind the first one, if those differ, else at
/// the first byte in which the keys of a group differ.
template <class RowId>
struct put_second_begins {
  key_words keys;               ///< the column
  const std::uint64_t* firsts;  ///< the first words, ascending
  const RowId* rows;            ///< a row of each key
  std::uint64_t size;           ///< different keys
  std::uint32_t* out;           ///< a byte for the first key of each group
  std::uint64_t* any;           ///< 1 if one of them is not 8; 0 at first

  /// Writes that of a group by its first key.
  RAYDEX_HD void operator()(std::uint64_t e) const {
    if (e != 0 && firsts[e - 1] == firsts[e]) return;
    const std::uint64_t last = end_of_group(firsts, e, size) - 1;
    std::uint64_t byte = e == last ? 8 : keys.first_difference(rows[e], rows[last], 8);
    if (byte < 16 || byte > ~std::uint32_t{0}) byte = 8;
    if (byte != 8 && load_atomically(any) == 0) keep_largest(any, 1);
    out[e] = static_cast<std::uint32_t>(byte);
  }
};

/// Writes the second words of strings.
template <class RowId>
struct put_second_words {
  key_words keys;                  ///< the column
  const std::uint64_t* firsts;     ///< the first words, ascending
  const RowId* rows;               ///< a row of each key
  const std::uint32_t* second_at;  ///< of the first key of each group where they begin; null: at 8
  std::uint64_t* out;              ///< a word a key

  /// Writes one.
  RAYDEX_HD void operator()(std::uint64_t e) const {
    const std::uint32_t at = second_at == nullptr ? 8 : second_at[begin_of_group(firsts, e)];
    out[e] = keys.word(rows[e], at);
  }
};

/// Writes how many bytes strings have.
template <class RowId>
struct put_string_sizes {
  key_cells of;        ///< the column
  const RowId* rows;   ///< of the strings
  std::uint64_t* out;  ///< a size each

  /// Writes one.
  RAYDEX_HD void operator()(std::uint64_t i) const { out[i] = string_cell(of, rows[i]).size; }
};

/// Copies strings.
template <class RowId>
struct copy_strings {
  static constexpr std::size_t most_scratch_bytes = 0;  ///< none is needed
  /// Likewise.
  RAYDEX_HD static std::size_t scratch_bytes() { return 0; }

  key_cells of;                  ///< the column
  const RowId* rows;             ///< of the strings
  const std::uint64_t* offsets;  ///< where each begins among the copies
  char* out;                     ///< the copies

  /// Copies one.
  template <class Group>
  RAYDEX_HD void operator()(const Group& group, std::byte* /*scratch*/, std::uint64_t i) const {
    const string_cell own(of, rows[i]);
    char* const to = out + offsets[i];
    for (std::uint64_t b = group.lane(); b < own.size; b += group.lanes())
      to[b] = own.bytes[b];
  }
};

/// Writes strings of one size, for which two words have all that is behind what they begin with.
struct put_whole_strings {
  const char* model;             ///< one of them
  std::uint64_t skipped;         ///< bytes that all begin with
  std::uint64_t bytes;           ///< of each
  const std::uint64_t* firsts;   ///< the first word of each
  const std::uint64_t* seconds;  ///< the second one; null: zeros
  char* out;                     ///< the strings, one after the other
  std::uint64_t* offsets;        ///< where each begins, and the last one ends
  std::uint64_t size;            ///< how many

  /// Writes one, or the end of the last one.
  RAYDEX_HD void operator()(std::uint64_t i) const {
    offsets[i] = i * bytes;
    if (i == size) return;
    char* const to = out + i * bytes;
    for (std::uint64_t b = 0; b < bytes; ++b) {
      if (b < skipped) {
        to[b] = model[b];
        continue;
      }
      const std::uint64_t at = b - skipped;
      const std::uint64_t word = at < 8 ? firsts[i] : seconds[i];
      to[b] = static_cast<char>(word >> (56 - 8 * (at % 8)));
    }
  }
};

/// Writes the first words of strings that begin with others, at their greatest: of a string of
/// fewer bytes ones behind it.
struct put_greatest_words {
  key_words from;      ///< the others
  std::uint64_t* out;  ///< a word each; 0 of a missing one

  /// Writes one.
  RAYDEX_HD void operator()(std::uint64_t i) const {
    if (!from.valid(i)) {
      out[i] = 0;
      return;
    }
    const std::uint64_t size = string_cell(from.of, i).size;
    const std::uint64_t left = size < from.skipped ? 0 : size - from.skipped;
    out[i] = from.first(i) | (left < 8 ? ~std::uint64_t{0} >> 8 * left : 0);
  }
};

/// What a dictionary has, and keys that are looked for.
struct dictionary_view {
  key_words probes;                ///< the keys, as words behind as many bytes as those held
  key_words held;                  ///< the strings of the dictionary, or only the first one
  bool are_whole;                  ///< whether two words have all that is behind these bytes
  std::uint64_t bytes;             ///< of each string, if they are whole
  const std::uint64_t* firsts;     ///< the first word of each key, ascending
  const std::uint64_t* seconds;    ///< the second one; null: zeros
  const std::uint32_t* second_at;  ///< the byte where that begins; null: 8
  std::uint64_t size;              ///< different keys

  /// Whether a probe comes before all keys, behind them, or may be among them. Of one that
  /// `is_prefix` and shorter than what they have in common only its own bytes count.
  RAYDEX_HD int side_of(std::uint64_t i, bool is_prefix = false) const {
    if (probes.skipped == 0 || size == 0) return 0;
    const string_cell own(probes.of, i);
    const string_cell model(held.of, 0);
    const bool is_short = is_prefix && own.size < probes.skipped;
    const std::uint64_t end = is_short ? own.size : probes.skipped;
    for (std::uint64_t at = 0; at < end; at += 8) {
      const std::uint64_t drop = end - at < 8 ? 64 - 8 * (end - at) : 0;
      const std::uint64_t a = own.word(at) >> drop;
      const std::uint64_t b = model.word(at) >> drop;
      if (a != b) return a < b ? -1 : 1;
    }
    return 0;
  }

  /// How key `e` lies to a probe that is equal up to the second word.
  RAYDEX_HD int compare(std::uint64_t e, std::uint64_t i, std::uint64_t from,
                        std::uint64_t second) const {
    const std::uint64_t own = second_of(e);
    if (own != second) return own < second ? -1 : 1;
    if (!probes.of.is_strings) return 0;
    const std::uint64_t probe_size = string_cell(probes.of, i).size;
    if (are_whole) return bytes < probe_size ? -1 : bytes > probe_size ? 1 : 0;
    return compare_words(e, i, from + 8, differs_nowhere);
  }
  /// How the words of key `e` lie to those of a probe, from a byte on, up to another one, or also
  /// their sizes.
  RAYDEX_HD int compare_words(std::uint64_t e, std::uint64_t i, std::uint64_t from,
                              std::uint64_t end) const {
    const string_cell key(held.of, e);
    const string_cell probe(probes.of, i);
    const std::uint64_t most = key.size < probe.size ? probe.size : key.size;
    for (std::uint64_t at = from; at < end && held.skipped + at < most; at += 8) {
      const std::uint64_t drop = end - at < 8 ? 64 - 8 * (end - at) : 0;
      const std::uint64_t a = key.word(held.skipped + at) >> drop;
      const std::uint64_t b = probe.word(held.skipped + at) >> drop;
      if (a != b) return a < b ? -1 : 1;
    }
    if (end != differs_nowhere) return 0;
    return key.size < probe.size ? -1 : key.size > probe.size ? 1 : 0;
  }
  /// The number of a probe, see `put_key_numbers`: `at` first words are less than its own, and
  /// `has_first` says whether the next one equals that.
  RAYDEX_HD std::uint64_t number(std::uint64_t i, std::uint64_t at, bool has_first) const {
    const int side = side_of(i);
    if (side != 0) return side < 0 ? 0 : 2 * size;
    if (!has_first) return 2 * at;
    const std::uint64_t from = second_at == nullptr ? 8 : load(second_at + at);
    // As most keys are that are alone with their first word.
    if (from == 8 && compare(at, i, from, probes.word(i, from)) == 0) return 2 * at + 1;
    return number_in_group(i, at, from);
  }
  /// Whether key `e`, whose first word is that of a probe, comes behind all that begin with it.
  RAYDEX_HD bool is_behind_prefix(std::uint64_t e, std::uint64_t i) const {
    const string_cell probe(probes.of, i);
    for (std::uint64_t at = held.skipped + 8; at < probe.size; at += 8) {
      const std::uint64_t drop = probe.size - at < 8 ? 64 - 8 * (probe.size - at) : 0;
      const std::uint64_t a = (are_whole ? second_of(e) : string_cell(held.of, e).word(at)) >> drop;
      const std::uint64_t b = probe.word(at) >> drop;
      if (a != b) return a > b;
      // What is whole has no more words; it ends with zeros, as the probe may.
      if (are_whole) return false;
    }
    return false;
  }
  /// The second word of key `e`.
  RAYDEX_HD std::uint64_t second_of(std::uint64_t e) const {
    return seconds == nullptr ? 0 : load(seconds + e);
  }
  /// The number of a probe that has the first word of the group from key `at` on. No part of what
  /// calls it, which has registers enough without it.
  [[gnu::noinline]] RAYDEX_HD std::uint64_t number_in_group(std::uint64_t i, std::uint64_t at,
                                                            std::uint64_t from) const {
    std::uint64_t end = end_of_group(firsts, at, size);
    if (from != 8) {
      const int common = compare_words(at, i, 8, from);
      if (common != 0) return 2 * (common < 0 ? end : at);
    }
    // The first key of the group that is not less.
    const std::uint64_t second = probes.word(i, from);
    while (at < end) {
      const std::uint64_t middle = at + (end - at) / 2;
      const int order = compare(middle, i, from, second);
      if (order == 0) return 2 * middle + 1;
      if (order < 0) {
        at = middle + 1;
      } else {
        end = middle;
      }
    }
    return 2 * at;
  }
};

/// Writes the numbers of keys: of the r-th key of a dictionary 2 r + 1, of one that lies between
/// two keys the number between theirs. So numbers are in the order of keys, and only numbers of
/// keys are odd. Of a missing key it writes 0.
template <class Number>
struct put_key_numbers {
  dictionary_view in;           ///< the dictionary and the keys
  const std::uint64_t* places;  ///< how many first words are less than that of each probe
  Number* out;                  ///< a number a probe

  /// Writes one.
  RAYDEX_HD void operator()(std::uint64_t i) const {
    out[i] = 0;
    if (!in.probes.valid(i)) return;
    const std::uint64_t at = places[i];
    const bool has_first = at < in.size && load(in.firsts + at) == in.probes.first(i);
    out[i] = static_cast<Number>(in.number(i, at, has_first));
  }
};

/// N keys that are looked for, as they are read.
template <std::size_t N>
struct fetched_words {
  std::uint64_t first[N];   ///< their first words
  std::uint64_t second[N];  ///< the words behind these; 0 of numbers
  std::uint64_t bytes[N];   ///< of each string; 0 of numbers
  bool exists[N];           ///< false if a key is missing
};

/// Keys that are looked for by their first words, as `probe_set` has others.
struct word_probes {
  key_words from;      ///< the keys
  std::uint64_t size;  ///< how many

  /// Reads the keys of N tickets.
  template <std::size_t N>
  RAYDEX_HD fetched_words<N> fetch(const ticket (&tickets)[N]) const {
    fetched_words<N> words{};
    RAYDEX_UNROLL
    for (std::size_t j = 0; j < N; ++j) {
      const std::uint64_t i = tickets[j].probe;
      words.exists[j] = i < size && from.valid(i);
      if (!words.exists[j]) continue;
      if (!from.of.is_strings) {
        words.first[j] = from.first(i);
        continue;
      }
      const string_cell own = from.string(i);
      words.first[j] = own.word(from.skipped);
      words.second[j] = own.word(from.skipped + 8);
      words.bytes[j] = own.size;
    }
    return words;
  }
};

/// The same as `put_key_numbers` with the search, of a dictionary of fewer than 2^31 numbers, or
/// whole strings that have no bytes in common: nearly all of them are known by two words. Of other
/// strings the comparison needs registers that searches have none left of.
template <class View>
struct number_whole_keys {
  using result = std::uint32_t;  ///< what is written a probe

  View view;           ///< the first words
  word_probes probes;  ///< the keys
  dictionary_view in;  ///< the dictionary, and the keys again
  result* out;         ///< a number a probe

  /// Answers N tickets.
  template <std::size_t N, class Team>
  RAYDEX_HD void run(Team& team, const ticket (&tickets)[N], const fetched_words<N>& fetched,
                     result* to) const {
    typename View::found at[N];
    view.locate(team, fetched.first, at);
    RAYDEX_UNROLL
    for (std::size_t j = 0; j < N; ++j) {
      const std::uint64_t i = tickets[j].probe;
      if (!team.owns_lookups() || i >= probes.size) continue;
      const std::uint64_t rank = at[j].rank;
      std::uint64_t number = 0;
      if (fetched.exists[j]) {
        number = 2 * rank;
        if (at[j].hit) {
          const bool same = fetched.bytes[j] == in.bytes && in.second_of(rank) == fetched.second[j];
          number = same ? number + 1 : in.number_in_group(i, rank, 8);
        }
      }
      to[tickets[j].result] = static_cast<result>(number);
    }
  }
};

/// Writes the numbers behind all keys that begin with strings: even ones. Of a missing one it
/// writes 0.
template <class Number>
struct put_prefix_ends {
  dictionary_view in;           ///< the dictionary and the strings
  const std::uint64_t* begins;  ///< how many first words are less than that of each string
  const std::uint64_t* ends;    ///< how many are not greater than its greatest one
  Number* out;                  ///< a number a string

  /// Writes one.
  RAYDEX_HD void operator()(std::uint64_t i) const {
    out[i] = in.probes.valid(i) ? static_cast<Number>(2 * end(i)) : 0;
  }

 private:
  RAYDEX_HD std::uint64_t end(std::uint64_t i) const {
    const int side = in.side_of(i, true);
    if (side != 0) return side < 0 ? 0 : in.size;
    const std::uint64_t size = string_cell(in.probes.of, i).size;
    if (size <= in.probes.skipped) return in.size;
    std::uint64_t at = ends[i];
    if (size <= in.probes.skipped + 8) return at;
    std::uint64_t first = begins[i];
    while (first < at) {
      const std::uint64_t middle = first + (at - first) / 2;
      if (in.is_behind_prefix(middle, i)) {
        at = middle;
      } else {
        first = middle + 1;
      }
    }
    return at;
  }
};

}  // namespace raydex::core
