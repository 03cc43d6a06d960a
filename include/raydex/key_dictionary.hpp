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

class ordered_dictionary;

/// The different keys of a column in their order, and numbers that have the same order: those of
/// an order-preserving dictionary encoding.
///
/// The number of the r-th key, from 0 on, is 2 r + 1. A key that is none of the dictionary's has
/// the number between those of its neighbours: 0 before all of them, 2 `size()` behind them. So an
/// index over the numbers of a column answers points, ranges, ranks and closest keys as one over
/// the column would, and a column of numbers is one of a composite key like others.
///
///     const string_column names = ...;
///     packed_keys numbers;
///     const key_dictionary words(where, session, names, &numbers);
///     const auto index = build("auto", where, session, numbers.view());
///     index->first(session, points(words.numbers(session, wanted).view()), rows);
///
/// Strings are compared byte by byte, as UTF-8 and UUIDs of 16 bytes are in order; of two strings
/// where one begins with the other, the shorter one comes first. Bytes that all strings begin with
/// are compared once.
///
/// *Cost*: to make it, a radix sort of the first 8 bytes in which not all strings are the same, and
/// sorts of those among them that are equal, until they differ or end; for numbers, a search in a
/// tree and a comparison a key, for prefixes twice that. Where many keys share these bytes,
/// as many comparisons more as the logarithm of how many. *Memory*: 8.6 bytes a different key, and
/// 8 more of strings of more than 8 bytes; of strings that are not all of the same size, up to 16
/// bytes behind what they have in common, a copy, 8 bytes, and 4 more if some of them are the same
/// in 16 bytes behind that. To make it, up to 60 bytes a row more, and 100 where all share their
/// first 8 bytes. *Streams*: making it synchronises; numbers are queued. *Threads*: several may ask
/// at a time. Calls throw `invalid_argument`, `unavailable`, `out_of_memory`, `cuda_error`.
class RAYDEX_EXPORT key_dictionary {
 public:
  /// Of the keys of a column, which may be gone afterwards.
  ///
  /// @param where the backend; `optix` does it as `cuda`
  /// @param on memory that outlives it, and a stream
  /// @param keys the column; missing keys are none of the dictionary's
  /// @param numbers_of_rows if not null, gets the numbers of the column's rows
  key_dictionary(backend where, const context& on, const key_part& keys,
                 packed_keys* numbers_of_rows = nullptr);
  /// Takes over another one.
  key_dictionary(key_dictionary&&) noexcept;
  /// Takes over another one, in place of its own keys.
  key_dictionary& operator=(key_dictionary&&) noexcept;
  ~key_dictionary();

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

  /// Ranges of numbers: for each string those of all keys that begin with it. Missing ones are
  /// missing. Throws `invalid_argument` if the column was of no strings.
  ///
  /// @param on memory and a stream, which must both outlive the result
  /// @param prefixes the strings
  packed_ranges ranges_of_prefixes(const context& on, const string_column& prefixes) const;

 private:
  backend where_;
  std::optional<key_format> format_;  // of the column; nothing for strings
  std::unique_ptr<ordered_dictionary> held_;
};

}  // namespace raydex
