// SPDX-License-Identifier: Apache-2.0
/// @file
/// Hash tables of keys that are wider than a word: what `key_dictionary` finds keys by if their
/// numbers follow rows.
#pragma once

#include <cstddef>
#include <cstdint>

#include "raydex/core/atomic.hpp"
#include "raydex/core/config.hpp"
#include "raydex/core/group.hpp"
#include "raydex/core/keys/edits.hpp"
#include "raydex/core/lookups/hashing.hpp"
#include "raydex/core/lookups/key_words.hpp"

namespace raydex::core {

/// Buckets of 64 bytes. A key is in the one that its hash belongs to, or, if that is full, in the
/// first one after it that has room. Slots are used from the first one on, and one of the table is
/// not used.
struct key_buckets {
  static constexpr unsigned words = 8;  ///< of a bucket, of 64 bits

  std::uint64_t* first = nullptr;    ///< the first bucket, aligned to 64 bytes
  std::uint32_t count = 1;           ///< how many
  hash_function<std::uint64_t> mix;  ///< what keys are hashed by

  /// The bucket that a hash belongs to.
  RAYDEX_HD std::uint32_t home(std::uint64_t hash) const { return home_of(hash, count); }
  /// The bucket after one.
  RAYDEX_HD std::uint32_t after(std::uint32_t bucket) const {
    return bucket + 1 == count ? 0 : bucket + 1;
  }
  /// A bucket.
  RAYDEX_HD std::uint64_t* at(std::uint32_t bucket) const {
    return first + std::uint64_t{bucket} * words;
  }
};

/// A bucket that was read.
using bucket_words = std::uint64_t[key_buckets::words];

/// What a table found: the number of a key and 1, or 0.
using found_number = std::uint32_t;

/// While a table is filled a slot has a *claim*: 32 bits of a hash, and the number of a row and 1;
/// 0 if it is not used.
RAYDEX_HD constexpr std::uint64_t claim_of(std::uint64_t hash, std::uint64_t row) {
  return hash << 32 | (row + 1);
}
/// The row of a claim.
RAYDEX_HD constexpr std::uint64_t row_of_claim(std::uint64_t claim) {
  return (claim & 0xffff'ffff) - 1;
}
/// The number of the key of a claim and 1, or 0. `ranks`: how many rows up to each one are the
/// first of their key; null: all are.
RAYDEX_HD inline std::uint64_t number_of_claim(std::uint64_t claim, const std::uint64_t* ranks) {
  if (claim == 0) return 0;
  const std::uint64_t row = row_of_claim(claim);
  return ranks == nullptr ? row + 1 : load(ranks + row);
}

/// Three slots a bucket, of keys of two words: numbers, and strings of one size of up to 16 bytes.
/// Words lie side by side, and then come numbers and 1.
struct whole_key_slots {
  static constexpr unsigned slots = 3;       ///< of a bucket
  static constexpr unsigned per_thread = 4;  ///< keys that a thread of a device looks up at a time

  /// A key that is looked for.
  struct wanted {
    std::uint64_t words[2];  ///< all of it
    bool has_size;           ///< false if it has another size than those of the table
  };

  static constexpr std::size_t number_words = 6;  ///< the word where numbers begin

  std::uint64_t bytes = 0;  ///< of each string

  /// The word of a bucket that a claim is in.
  RAYDEX_HD static constexpr std::size_t claim_word(std::size_t slot) { return 2 * slot; }

  /// Reads a key, and returns its hash.
  RAYDEX_HD std::uint64_t read(const key_words& keys, std::uint64_t i,
                               const hash_function<std::uint64_t>& mix, wanted& key) const {
    if (keys.of.is_strings) {
      const string_cell own = keys.string(i);
      key = {{own.word(0), own.word(8)}, own.size == bytes};
    } else {
      key = {{keys.first(i), 0}, true};
    }
    return mix(mix(key.words[0] + mix.first) ^ key.words[1]);
  }

  /// Whether a bucket has the answer, which is written to `number`.
  RAYDEX_HD static bool settles(const bucket_words& bucket, const key_words& /*keys*/,
                                std::uint64_t /*i*/, std::uint64_t /*hash*/, const wanted& key,
                                found_number& number) {
    number = 0;
    RAYDEX_UNROLL
    for (std::size_t s = 0; s < slots; ++s) {
      const bool same =
          key.has_size && bucket[2 * s] == key.words[0] && bucket[2 * s + 1] == key.words[1];
      // 0 of a slot that is not used, whatever its words are.
      number |= same ? number_in(bucket, s) : 0;
    }
    return number != 0 || number_in(bucket, slots - 1) == 0;
  }

  /// Puts keys and numbers in the place of the claims of a bucket. `ranks` as of `number_of_claim`.
  RAYDEX_HD void finish(bucket_words& bucket, const key_words& keys,
                        const std::uint64_t* ranks) const {
    std::uint64_t numbers[slots];
    RAYDEX_UNROLL
    for (std::size_t s = 0; s < slots; ++s) {
      const std::uint64_t claim = bucket[claim_word(s)];
      numbers[s] = number_of_claim(claim, ranks);
      const std::uint64_t row = row_of_claim(claim);
      bucket[2 * s] = claim == 0 ? 0 : keys.first(row);
      bucket[2 * s + 1] = claim == 0 ? 0 : keys.word(row, 8);
    }
    bucket[number_words] = numbers[0] | numbers[1] << 32;
    bucket[number_words + 1] = numbers[2];
  }

  /// The number of the key in a slot and 1, or 0.
  RAYDEX_HD static found_number number_in(const std::uint64_t* bucket, std::size_t slot) {
    return static_cast<found_number>(bucket[number_words + slot / 2] >> 32 * (slot % 2));
  }
};

/// Four slots a bucket, of strings of any length: claims, in which rows have become numbers, and
/// then where each string is among those that the dictionary has, and its size.
struct string_slots {
  static constexpr unsigned slots = 4;       ///< of a bucket
  static constexpr unsigned per_thread = 1;  ///< keys that a thread of a device looks up at a time
  static constexpr unsigned size_bits = 20;  ///< of a size; longer strings have all of them set
  static constexpr std::uint64_t most_bytes = std::uint64_t{1} << (64 - size_bits);  ///< of all

  /// A key that is looked for: the column has it.
  struct wanted {};

  const char* bytes = nullptr;             ///< of all strings, by number
  const char* end = nullptr;               ///< behind the last one
  const std::uint64_t* offsets = nullptr;  ///< where each begins, and the last one ends

  /// The word of a bucket that a claim is in.
  RAYDEX_HD static constexpr std::size_t claim_word(std::size_t slot) { return slot; }

  /// Returns the hash of a key.
  RAYDEX_HD static std::uint64_t read(const key_words& keys, std::uint64_t i,
                                      const hash_function<std::uint64_t>& mix, wanted& /*key*/) {
    const string_cell own = keys.string(i);
    std::uint64_t all = mix(own.size + mix.first);
    for (std::uint64_t at = 0; at < own.size; at += 8)
      all = mix(all ^ own.up_to_8_bytes(at));
    return all;
  }

  /// Whether a bucket has the answer, which is written to `number`.
  RAYDEX_HD bool settles(const bucket_words& bucket, const key_words& keys, std::uint64_t i,
                         std::uint64_t hash, const wanted& /*key*/, found_number& number) const {
    // Nearly always one slot at most has the bits of the hash, so that threads compare together.
    for (unsigned from = 0; from < slots;) {
      std::uint64_t claim = 0;
      std::uint64_t place = 0;
      unsigned next = slots;
      RAYDEX_UNROLL
      for (unsigned s = slots; s-- != 0;) {
        const bool same = s >= from && static_cast<found_number>(bucket[s]) != 0 &&
                          bucket[s] >> 32 == hash << 32 >> 32;
        claim = same ? bucket[s] : claim;
        place = same ? bucket[slots + s] : place;
        next = same ? s : next;
      }
      number = static_cast<found_number>(claim);
      if (number != 0 && is_string(keys, i, number - 1, place)) return true;
      from = next + 1;
    }
    number = 0;
    return static_cast<found_number>(bucket[slots - 1]) == 0;
  }

  /// Puts numbers into the claims of a bucket, and where strings are behind them.
  RAYDEX_HD void finish(bucket_words& bucket, const key_words& /*keys*/,
                        const std::uint64_t* ranks) const {
    RAYDEX_UNROLL
    for (unsigned s = 0; s < slots; ++s) {
      const std::uint64_t claim = bucket[s];
      const std::uint64_t number = number_of_claim(claim, ranks);
      bucket[s] = claim >> 32 << 32 | number;
      if (number == 0) continue;
      const std::uint64_t begin = offsets[number - 1];
      const std::uint64_t size = offsets[number] - begin;
      bucket[slots + s] = begin << size_bits | (size < long_size ? size : long_size);
    }
  }

 private:
  static constexpr std::uint64_t long_size = (std::uint64_t{1} << size_bits) - 1;

  // Whether a key is the string of a number, which lies at a place.
  RAYDEX_HD bool is_string(const key_words& keys, std::uint64_t i, std::uint64_t number,
                           std::uint64_t place) const {
    const string_cell own = keys.string(i);
    std::uint64_t size = place & long_size;
    if (size == long_size) size = load(offsets + number + 1) - load(offsets + number);
    if (own.size != size) return false;
    const string_cell other(bytes + (place >> size_bits), size, end);
    // A few words at a time, so that their reads are under way together.
    constexpr std::uint64_t together = 4;
    for (std::uint64_t at = 0; at < size; at += 8 * together) {
      std::uint64_t differences = 0;
      RAYDEX_UNROLL
      for (std::uint64_t w = 0; w < together; ++w)
        if (at + 8 * w < size)
          differences |= own.up_to_8_bytes(at + 8 * w) ^ other.up_to_8_bytes(at + 8 * w);
      if (differences != 0) return false;
    }
    return true;
  }
};

/// Gives each different key of a column a slot, whose claim is the first of its rows.
template <class Slots>
struct claim_slots {
  key_words keys;         ///< the column
  Slots how;              ///< how keys are read
  key_buckets table;      ///< without claims at first
  spread_count repeated;  ///< rows whose key has a slot already; 0 at first
  spread_count missing;   ///< rows without a key; 0 at first

  /// That of a row.
  RAYDEX_HD void operator()(std::uint64_t i) const { some<1>(i, 1, i + 1); }
  /// Those of N rows `step` apart, but none from `end` on.
  template <std::size_t N>
  RAYDEX_HD void some(std::uint64_t begin, std::uint64_t step, std::uint64_t end) const {
    std::uint64_t hashes[N]{};
    bool valid[N];
    RAYDEX_UNROLL
    for (std::size_t j = 0; j < N; ++j) {
      const std::uint64_t i = begin + j * step;
      valid[j] = i < end && keys.valid(i);
      if (!valid[j]) continue;
      typename Slots::wanted key;
      hashes[j] = how.read(keys, i, table.mix, key);
      prefetch(table.at(table.home(hashes[j])));
    }
    RAYDEX_UNROLL
    for (std::size_t j = 0; j < N; ++j) {
      const std::uint64_t i = begin + j * step;
      if (valid[j]) {
        claim(i, hashes[j]);
      } else if (i < end) {
        missing.add(i, 1);
      }
    }
  }

 private:
  RAYDEX_HD void claim(std::uint64_t i, std::uint64_t hash) const {
    const std::uint64_t own = claim_of(hash, i);
    for (std::uint32_t bucket = table.home(hash);; bucket = table.after(bucket)) {
      for (unsigned s = 0; s < Slots::slots; ++s) {
        std::uint64_t* const claim = table.at(bucket) + Slots::claim_word(s);
        std::uint64_t had = load_atomically(claim);
        if (had == 0) {
          if (replace_atomically(claim, 0, own)) return;
          had = load_atomically(claim);
        }
        if (had >> 32 != own >> 32 || !keys.equal(row_of_claim(had), i)) continue;
        keep_smallest(claim, own);
        return repeated.add(i, 1);
      }
    }
  }
};

/// Marks the rows that have a slot.
template <class Slots>
struct mark_claims {
  key_buckets table;     ///< with claims
  std::uint64_t* marks;  ///< a number a row; 0 at first

  /// Those of a bucket.
  RAYDEX_HD void operator()(std::uint64_t bucket) const {
    const std::uint64_t* const own = table.at(static_cast<std::uint32_t>(bucket));
    for (unsigned s = 0; s < Slots::slots; ++s)
      if (const std::uint64_t claim = own[Slots::claim_word(s)]; claim != 0)
        marks[row_of_claim(claim)] = 1;
  }
};

/// Writes the row of each number.
struct put_rows_of_numbers {
  const std::uint64_t* ranks;  ///< of marks
  std::uint32_t* rows;         ///< where to

  /// That of a row, if it has one.
  RAYDEX_HD void operator()(std::uint64_t row) const {
    const std::uint64_t before = row == 0 ? 0 : ranks[row - 1];
    if (ranks[row] != before) rows[before] = static_cast<std::uint32_t>(row);
  }
};

/// Writes where the strings of a column begin if the first one begins at 0, and where the last one
/// ends.
struct put_begins {
  key_cells of;        ///< the strings
  std::uint64_t* out;  ///< one more than there are

  /// Writes one.
  RAYDEX_HD void operator()(std::uint64_t i) const { out[i] = of.begin(i) - of.begin(0); }
};

/// Puts keys into the slots that are claimed.
template <class Slots>
struct finish_slots {
  static constexpr unsigned per_thread = 1;  ///< buckets that a thread has at a time

  key_words keys;              ///< the column
  Slots how;                   ///< how keys lie in slots
  key_buckets table;           ///< with claims
  const std::uint64_t* ranks;  ///< as of `number_of_claim`

  /// Those of N buckets `step` apart, but none from `end` on.
  template <std::size_t N, line_group Group>
  RAYDEX_HD void some(const Group& group, std::uint64_t begin, std::uint64_t step,
                      std::uint64_t end) const {
    for (std::size_t j = 0; j < N; ++j) {
      const std::uint64_t b = begin + j * step;
      std::uint64_t* const line = table.at(static_cast<std::uint32_t>(b));
      bucket_words words = {};
      group.read_line(line, b < end, words);
      if (b < end) how.finish(words, keys, ranks);
      group.write_line(line, b < end, words);
    }
  }
};

/// Writes the numbers of keys; of one that the table has not, or that is missing, another number.
template <class Slots, class Number>
struct look_up_numbers {
  static constexpr unsigned per_thread =
      Slots::per_thread;  ///< keys that a thread looks up at a time

  key_words keys;     ///< what is looked for
  Slots how;          ///< how keys lie in slots
  key_buckets table;  ///< the table
  Number none;        ///< of a key that it has not
  Number* out;        ///< a number a key

  /// Writes N of them `step` apart, but none from `end` on.
  template <std::size_t N, line_group Group>
  RAYDEX_HD void some(const Group& group, std::uint64_t begin, std::uint64_t step,
                      std::uint64_t end) const {
    typename Slots::wanted wanted[N];
    std::uint64_t hashes[N];
    bool exists[N];
    RAYDEX_UNROLL
    for (std::size_t j = 0; j < N; ++j) {
      const std::uint64_t i = begin + j * step;
      exists[j] = i < end && keys.valid(i);
      hashes[j] = 0;
      if (!exists[j]) continue;
      hashes[j] = how.read(keys, i, table.mix, wanted[j]);
      prefetch(table.at(table.home(hashes[j])));
    }
    std::uint32_t at[N];
    found_number numbers[N] = {};
    bool is_open[N];
    RAYDEX_UNROLL
    for (std::size_t j = 0; j < N; ++j) {
      at[j] = table.home(hashes[j]);
      is_open[j] = exists[j];
    }
    for (bool any = true; any;) {
      bucket_words buckets[N];
      RAYDEX_UNROLL
      for (std::size_t j = 0; j < N; ++j)
        group.read_line(table.at(at[j]), is_open[j], buckets[j]);
      any = false;
      RAYDEX_UNROLL
      for (std::size_t j = 0; j < N; ++j) {
        if (!is_open[j]) continue;
        is_open[j] =
            !how.settles(buckets[j], keys, begin + j * step, hashes[j], wanted[j], numbers[j]);
        at[j] = table.after(at[j]);
        any = any || is_open[j];
      }
      any = group.any(any);
    }
    RAYDEX_UNROLL
    for (std::size_t j = 0; j < N; ++j) {
      const std::uint64_t i = begin + j * step;
      if (i < end) out[i] = numbers[j] == 0 ? none : static_cast<Number>(numbers[j] - 1);
    }
  }
};

/// Writes the numbers of all rows, which are their own.
template <class Number>
struct put_own_numbers {
  Number* out;  ///< a number a row

  /// Writes one.
  RAYDEX_HD void operator()(std::uint64_t i) const { out[i] = static_cast<Number>(i); }
};

/// Writes the strings of a table, which have one size.
struct put_strings_of_table {
  key_buckets table;    ///< of `whole_key_slots`
  std::uint64_t bytes;  ///< of each string
  char* out;            ///< the strings by number, one after the other

  /// Those of a bucket.
  RAYDEX_HD void operator()(std::uint64_t bucket) const {
    const std::uint64_t* const own = table.at(static_cast<std::uint32_t>(bucket));
    for (std::size_t s = 0; s < whole_key_slots::slots; ++s) {
      const found_number number = whole_key_slots::number_in(own, s);
      if (number == 0) continue;
      char* const to = out + (number - 1) * bytes;
      for (std::uint64_t b = 0; b < bytes; ++b)
        to[b] = static_cast<char>(own[2 * s + b / 8] >> (56 - 8 * (b % 8)));
    }
  }
};

/// Writes the codes of the numbers of a table, which their first words begin with.
struct put_codes_of_table {
  key_buckets table;     ///< of `whole_key_slots`
  unsigned bits;         ///< of a code
  std::uint64_t* codes;  ///< by number

  /// Those of a bucket.
  RAYDEX_HD void operator()(std::uint64_t bucket) const {
    const std::uint64_t* const own = table.at(static_cast<std::uint32_t>(bucket));
    for (std::size_t s = 0; s < whole_key_slots::slots; ++s)
      if (const found_number number = whole_key_slots::number_in(own, s); number != 0)
        codes[number - 1] = own[2 * s] >> (64 - bits);
  }
};

/// Writes multiples of a number.
struct put_multiples {
  std::uint64_t of;    ///< the number
  std::uint64_t* out;  ///< 0, the number, twice the number ..

  /// Writes one.
  RAYDEX_HD void operator()(std::uint64_t i) const { out[i] = i * of; }
};

}  // namespace raydex::core
