// SPDX-License-Identifier: Apache-2.0
/// @file
/// Dictionaries in the order of keys: strings of any length, and other keys, as numbers.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "raydex/capability.hpp"
#include "raydex/composite_keys.hpp"
#include "raydex/export.hpp"
#include "raydex/join.hpp"
#include "raydex/memory.hpp"

namespace raydex {

class held_dictionary;
struct grown_dictionary;

/// Strings, which it owns.
struct owned_strings {
  buffer<char> bytes;             ///< all of them, one after the other
  buffer<std::uint64_t> offsets;  ///< where each begins, and where the last one ends

  /// The same as a column.
  string_column view() const {
    return {bytes.data(), offsets.data(), true, offsets.size() == 0 ? 0 : offsets.size() - 1, {}};
  }
};

/// Which numbers the keys of a dictionary have.
enum class key_numbering : std::uint8_t {
  by_order,  ///< those of an order-preserving dictionary encoding; keys are found by a search
  by_row     ///< as the rows follow that keys are in first; keys are found by a hash
};

/// The different keys of a column, and numbers of them.
///
/// *By order*, numbers have the order of keys: that of the r-th key, from 0 on, is 2 r + 1. A key
/// that is none of the dictionary's has the number between those of its neighbours: 0 before all of
/// them, 2 `size()` behind them. So an index over the numbers of a column answers points, ranges,
/// ranks and closest keys as one over the column would, and a column of numbers is one of a
/// composite key like others.
///
/// *By row*, the r-th key that a column has first, from 0 on, has the number r, and what is none of
/// the dictionary's has the number `size()`. An index over such numbers answers points alone. They
/// are dense, so `direct` has a place for each; and where no key repeats or is missing they are the
/// rows themselves.
///
///     const string_column names = ...;
///     packed_keys numbers, rows;
///     const key_dictionary words(where, session, names, &numbers, &rows);
///     const auto index = build("auto", where, session, numbers.view(), rows.view());
///     index->first(session, points(words.numbers(session, wanted).view()), rows);
///
/// Strings are compared byte by byte, which is the order of UTF-8 text and of UUIDs; of two strings
/// where one begins with the other, the shorter one comes first. The bytes that all strings begin
/// with are compared once; the first word of a string is the 8 bytes behind them.
///
/// *Cost*, by order: to make it, a radix sort of first words, and of strings that share theirs,
/// another one a round, by where they differ next, until they differ or end; a pair of strings is
/// compared by one thread. For numbers a search in a tree and a comparison a key, for prefixes two
/// searches; where many keys share a first word, as many comparisons more as the logarithm of how
/// many. By row: to make it, an insertion a row into a table, and a pass over its buckets; if keys
/// repeat, a lookup a row. For numbers one bucket of 64 bytes, and in one of six lookups another
/// one, which has keys of up to 16 bytes, if all have one size; else it says where the string is,
/// which is compared.
///
/// *Memory*, bytes for each different key, by order:
/// - 8.6 for its first word;
/// - 8 more if strings go beyond that;
/// - 8 more and a copy of it, unless all strings have the same size, of up to 16 bytes behind those
///   that all begin with;
/// - 4 more of strings that are copied, if some that share their first word share 8 bytes more.
///
/// To make it, up to 60 bytes a row more, and 100 where all share their first word.
///
/// By row: 43 if all have one size, of up to 16 bytes; else 32, 8 for where its string begins, and
/// a copy of it. To make it, if keys repeat or are missing, 12 a row more, and the table has room
/// for as many keys as rows, unless those that differ are less than a fourth.
///
/// *Streams*: making it synchronises; numbers are queued, and are to be done before it is
/// destroyed. *Threads*: several may look up numbers at a time. Calls throw `invalid_argument`,
/// `unavailable`, `unsupported` (strings of more than 2^31 bytes among 2^32 that differ late; 2^32
/// - 1 rows by row, and ranges of prefixes), `out_of_memory`, `cuda_error`.
class RAYDEX_EXPORT key_dictionary {
 public:
  /// Of the keys of a column, which may be gone afterwards.
  ///
  /// @param where the backend; `optix` does it as `cuda`
  /// @param on memory and a stream, which must both outlive it
  /// @param keys the column; missing keys are none of the dictionary's
  /// @param numbers_of_rows if not null, gets the numbers of the column's rows
  /// @param rows if not null, gets the rows whose key is not missing, as uint32 or uint64, in the
  /// order of their numbers, and `numbers_of_rows` has these in that order, too: what an index is
  /// built over without a sort. Only by order
  /// @param numbering which numbers keys have
  key_dictionary(backend where, const context& on, const key_part& keys,
                 packed_keys* numbers_of_rows = nullptr, packed_keys* rows = nullptr,
                 key_numbering numbering = key_numbering::by_order);
  /// Takes over another one, which can only be assigned to or destroyed afterwards.
  key_dictionary(key_dictionary&&) noexcept;
  /// The same, in place of its own keys.
  key_dictionary& operator=(key_dictionary&&) noexcept;
  ~key_dictionary();

  /// Which numbers its keys have.
  key_numbering numbering() const noexcept { return numbering_; }
  /// How many different keys there are.
  std::uint64_t size() const noexcept;
  /// Bytes of memory that it has.
  std::uint64_t resident_bytes() const noexcept;

  /// The numbers of keys, be they the dictionary's or not; missing ones are missing. They are
  /// uint32 if there are fewer than 2^31 different keys, else uint64.
  ///
  /// @param on memory and a stream, which must both outlive the result
  /// @param keys as the column was: of strings, or of the same format
  packed_keys numbers(const context& on, const key_part& keys) const;

  /// Whether all keys are the dictionary's; missing ones do not matter. Waits for the stream.
  ///
  /// @param on scratch and a stream
  /// @param keys as the column was: of strings, or of the same format
  bool holds(const context& on, const key_part& keys) const;

  /// The different strings as their numbers follow, by a copy: string r is that of number 2 r + 1
  /// by order, of number r by row. Throws
  /// `invalid_argument` if the column was of no strings.
  ///
  /// @param on memory and a stream, which must both outlive the result
  owned_strings keys(const context& on) const;

  /// The codes of the different keys as their numbers follow, by a copy: what `encode` makes of
  /// them, and of byte strings their bytes as a number, the first one highest. Throws
  /// `invalid_argument` if the column was of strings.
  ///
  /// @param on memory and a stream, which must both outlive the result
  buffer<std::uint64_t> codes(const context& on) const;

  /// Ranges of numbers: for each string those of all keys that begin with it. Missing ones are
  /// missing. Throws `invalid_argument` if the column was of no strings, and `unsupported` if
  /// numbers are by row.
  ///
  /// @param on memory and a stream, which must both outlive the result
  /// @param prefixes the strings
  packed_ranges ranges_of_prefixes(const context& on, const string_column& prefixes) const;

  /// Inserts rows of any keys: makes a dictionary anew of those that an index has and these, and
  /// an index over their numbers like that one. Rows of keys that the dictionary `holds` are
  /// inserted by `index::edit`, which costs less.
  ///
  /// @param on memory and a stream, which must both outlive the result
  /// @param over an index over numbers of this dictionary; it stays as it is
  /// @param keys of the new rows: as the column was
  /// @param rows their row ids, of the type of the index's
  ///
  /// *Cost*: of a build over all rows; on a GPU its entries go through host memory, where one
  /// thread puts them together. *Memory*: of the new index, and meanwhile of the host 17 bytes a
  /// row and all keys, and of a GPU 16 bytes a row and all keys. Waits for the stream. Throws
  /// `unsupported` if the index keeps no keys.
  grown_dictionary grown(const context& on, const index& over, const key_part& keys,
                         const column& rows) const;

 private:
  void check_format(const key_part& keys) const;
  // uint32 if there are fewer than 2^31 keys, else uint64.
  key_format format_of_numbers() const;

  // The place among the keys of one that has a number.
  std::uint64_t place_of(std::uint64_t number) const {
    return numbering_ == key_numbering::by_order ? number / 2 : number;
  }

  backend where_;
  key_numbering numbering_;
  std::optional<key_format> format_;  // of the column; nothing for strings
  std::unique_ptr<held_dictionary> held_;
};

/// What `key_dictionary::grown` makes.
struct grown_dictionary {
  key_dictionary words;         ///< the dictionary with all keys
  std::unique_ptr<index> over;  ///< the index over its numbers
};

}  // namespace raydex
