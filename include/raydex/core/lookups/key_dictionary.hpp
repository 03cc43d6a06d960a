// SPDX-License-Identifier: Apache-2.0
/// @file
/// Dictionaries of keys in their order: what they hold, and the numbers of keys.
#pragma once

#include <cstddef>
#include <cstdint>

#include "raydex/core/atomic.hpp"
#include "raydex/core/config.hpp"
#include "raydex/core/lookups/key_words.hpp"
#include "raydex/core/lookups/lookup.hpp"

namespace raydex::core {

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
