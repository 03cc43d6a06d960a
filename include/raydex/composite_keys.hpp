// SPDX-License-Identifier: Apache-2.0
/// @file
/// Composite keys: several columns as one, for an index over all of them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "raydex/capability.hpp"
#include "raydex/column.hpp"
#include "raydex/export.hpp"
#include "raydex/index.hpp"
#include "raydex/join.hpp"
#include "raydex/memory.hpp"

namespace raydex {

/// What missing cells are in a column of a composite key.
enum class missing_cells : std::uint8_t {
  unmatched,  ///< a key that has one equals no other, and is in no range
  first,      ///< equal to each other, before all values
  last        ///< equal to each other, behind all values
};

/// A column of a composite key.
struct composite_column {
  key_part cells;                                    ///< one for each row
  bool descending = false;                           ///< whether larger values come first
  missing_cells missing = missing_cells::unmatched;  ///< what those without a value are

  /// No cells.
  composite_column() = default;
  /// A column, in ascending order by default.
  composite_column(const key_part& of,  // NOLINT(google-explicit-constructor)
                   bool descends = false, missing_cells are = missing_cells::unmatched)
      : cells(of), descending(descends), missing(are) {}
  /// The same of cells of one size.
  composite_column(const column& of,  // NOLINT(google-explicit-constructor)
                   bool descends = false, missing_cells are = missing_cells::unmatched)
      : cells(of), descending(descends), missing(are) {}
};

/// What became of a column: which codes have a number of how many bits. Of one that is numbered,
/// codes are its numbers. Bits of all columns may be more than a key has, where the first columns
/// are numbered together.
struct composite_part {
  std::optional<key_format> format;                  ///< of its cells; nothing for strings
  bool descending = false;                           ///< as it was given
  missing_cells missing = missing_cells::unmatched;  ///< likewise
  bool numbered = false;    ///< whether its codes are the numbers of a `key_dictionary` of it
  std::uint64_t first = 1;  ///< the smallest code, see `encode`, or number
  std::uint64_t last = 0;   ///< the largest one; less than `first` where no cell has a value
  std::uint64_t step = 1;   ///< what codes are apart is a multiple of it
  unsigned bits = 0;        ///< of a number
};

/// Which number is taken for a key among others: the closest one that is
enum class closest_number : std::uint8_t {
  at_most,   ///< not greater
  below,     ///< less
  at_least,  ///< not less
  above      ///< greater
};

/// Numbers of composite keys, which it owns: a column to build an index over, or points.
struct packed_keys {
  key_format format;              ///< uint32 or uint64
  buffer<std::uint32_t> narrow;   ///< the numbers, if they have 32 bits
  buffer<std::uint64_t> wide;     ///< the numbers, if they have 64
  buffer<std::uint8_t> validity;  ///< a bit each; empty where each key has a number

  /// The same as a column.
  column view() const {
    return format.width == 4 ? column(narrow, validity.data()) : column(wide, validity.data());
  }
};

/// Ranges of such numbers.
struct packed_ranges {
  packed_keys lower;  ///< the smallest number of each
  packed_keys upper;  ///< the largest one; less than that where a range is empty

  /// The same as probes.
  probes view() const { return ranges(lower.view(), upper.view()); }
};

struct packed_columns;
struct grown_index;

/// Packs the columns of a key into one, in their order: an index that any structure builds over the
/// packed column finds rows by all columns, by the first ones, and by the first ones and a range of
/// the next one.
///
/// A column takes the bits of its span, from the smallest value to the largest one, whatever its
/// type is; one whose missing cells have a place takes those of a number more. All of them together
/// take 32 bits or 64. Where spans take more, columns are counted in steps, the largest ones that
/// all values are apart by: days that times of microseconds are given in, whole numbers among
/// floating ones. Where that does not suffice, columns are numbered by a `key_dictionary` of their
/// values, those that take most bits first; strings always are. And where even numbers take more
/// than 64 bits, so are the different keys of the first columns together.
///
///     const key_parts columns = {column(customers), column(days)};
///     packed_keys rows;
///     const composite_keys keys(where, session, {columns[0], columns[1]}, &rows);
///     const auto index = build("auto", where, session, rows.view());
///     index->first(session, points(keys.pack_points(session, wanted).view()), found);
///
/// *Cost*: to make it, a pass over the columns, and another one where steps are needed; to pack,
/// another one, which writes 4 or 8 bytes a key. A dictionary costs a sort to make, and a search a
/// key to pack. *Memory*: of dictionaries, see there; to make them, their cost and up to 8 bytes a
/// row for each column that is numbered. *Streams*: making it and `holds` synchronise, but for
/// `rows`; all else is queued, and is to be done before it is destroyed. *Threads*: several may
/// pack at a time. Calls throw `invalid_argument`, `unavailable`, `unsupported`, `out_of_memory`,
/// `cuda_error`.
class RAYDEX_EXPORT composite_keys {
 public:
  /// Finds what columns span, and numbers those that it has to.
  ///
  /// @param where the backend; `optix` does it as `cuda`
  /// @param on memory of dictionaries and a stream, which must both outlive it
  /// @param columns 1 to 16 of equal sizes, the most significant one first
  /// @param rows if not null, gets what `pack_rows` makes of them, at less cost
  ///
  /// Throws `unsupported` if the different keys of the first columns and the values of the next one
  /// take more than 64 bits together, which takes 2^32 rows or more.
  composite_keys(backend where, const context& on, std::span<const composite_column> columns,
                 packed_keys* rows = nullptr);
  /// The same of columns in braces.
  composite_keys(backend where, const context& on, std::initializer_list<composite_column> columns,
                 packed_keys* rows = nullptr)
      : composite_keys(where, on, std::span(columns.begin(), columns.size()), rows) {}
  /// The same as one that had these parts, without dictionaries: for an index over its keys that
  /// comes from a file. Throws `invalid_argument` if parts are numbered, or no columns make them.
  composite_keys(backend where, std::vector<composite_part> parts);
  /// What `to_bytes` wrote, on any backend. Throws `invalid_argument` for bytes that are none.
  ///
  /// @param where the backend
  /// @param on memory of dictionaries and a stream, which must both outlive it
  /// @param bytes all of them
  static composite_keys from_bytes(backend where, const context& on,
                                   std::span<const std::byte> bytes);
  /// Takes over another one, which can only be assigned to or destroyed afterwards.
  composite_keys(composite_keys&&) noexcept;
  /// The same, in place of its own columns.
  composite_keys& operator=(composite_keys&&) noexcept;
  ~composite_keys();

  /// What became of each column.
  const std::vector<composite_part>& parts() const noexcept { return parts_; }
  /// Of packed keys: uint32 if 32 bits suffice, else uint64.
  key_format format() const noexcept;
  /// Bytes of memory of its dictionaries.
  std::uint64_t resident_bytes() const noexcept;

  /// Packs the keys of rows, to build an index over them or to insert them. A row with a missing
  /// cell that is `unmatched` is missing.
  ///
  /// @param on memory and a stream, which must both outlive the result
  /// @param columns those that this was made of, or others that it `holds`: of values outside of
  ///        the spans the numbers are any, and nobody looks
  packed_keys pack_rows(const context& on, std::span<const key_part> columns) const;

  /// Packs points. One with a value outside of the spans or between steps, or with a missing cell
  /// that is `unmatched`, becomes a number that no key has; it is missing if keys have all numbers.
  ///
  /// @param on memory and a stream, which must both outlive the result
  /// @param columns as many as the key has, in its formats and of equal sizes
  packed_keys pack_points(const context& on, std::span<const key_part> columns) const;

  /// Packs ranges: all keys whose first columns equal those of a probe, and, if there are bounds,
  /// whose next column has a value within them, both included, be it ascending or descending.
  /// Bounds may lie outside of the span.
  ///
  /// @param on memory and a stream, which must both outlive the result
  /// @param equal the first columns of each probe, perhaps none; in the formats of the key
  /// @param lower lower bounds of the next column; nothing: it has none
  /// @param upper upper bounds; with neither, missing cells of that column are in the range
  packed_ranges pack_ranges(const context& on, std::span<const key_part> equal,
                            const std::optional<key_part>& lower = std::nullopt,
                            const std::optional<key_part>& upper = std::nullopt) const;

  /// Packs ranges: all keys whose first columns equal those of a probe, and whose next column, of
  /// strings, begins with one. A missing one is a beginning of none.
  ///
  /// @param on memory and a stream, which must both outlive the result
  /// @param equal the first columns of each probe, perhaps none; in the formats of the key
  /// @param prefixes what strings of the next column begin with
  packed_ranges pack_prefixes(const context& on, std::span<const key_part> equal,
                              const string_column& prefixes) const;

  /// Packs places among the keys, in their order: for each point the closest number on a side, be
  /// it a key's or not. Among fewer columns than the key has, all keys that begin with these are
  /// equal. So `index::rank` of `at_least` says how many keys are less than a point, of `above` how
  /// many are not greater; `index::predecessor` of `at_most` or `below` and `index::successor` of
  /// the others find the closest keys. A point is missing if a cell of it is missing and
  /// `unmatched`, or if there is no such number: see `is_full`.
  ///
  /// @param on memory and a stream, which must both outlive the result
  /// @param columns the first ones of each point; of values outside of the spans, too
  /// @param which on which side
  packed_keys pack_closest(const context& on, std::span<const key_part> columns,
                           closest_number which) const;

  /// Whether the largest number of the packed type is a key's, so that what is greater than all
  /// keys has no number: where spans fill all bits.
  bool is_full() const noexcept;

  /// Whether more rows can be inserted: all values lie within the spans, and as many steps apart,
  /// or are those that were numbered; so are the keys of columns that were numbered together.
  bool holds(const context& on, std::span<const key_part> columns) const;

  /// How columns are packed, with their dictionaries, for the file of an index over the keys. Waits
  /// for the stream.
  ///
  /// @param on scratch of as many bytes as dictionaries have, and a stream
  std::vector<std::byte> to_bytes(const context& on) const;

  /// Inserts rows of any values: builds an index anew over its entries and these, by columns that
  /// are packed as a build over all rows would pack them. Rows that the key `holds` are inserted by
  /// `index::edit`, which costs less.
  ///
  /// A column that goes beyond the span that it had gets room for as much again on that side, if
  /// bits are left. So where each batch is of another day, days are packed anew as often as they
  /// have doubled. Columns that are numbered get no room.
  ///
  /// @param on memory and a stream, which must both outlive the result
  /// @param over an index over numbers of this key; it stays as it is
  /// @param columns of the new rows: as many as the key has and in its formats, but that byte
  ///        strings may be longer ones, or strings, in which NUL bytes at the end of the key's own
  ///        are left out
  /// @param rows their row ids, of the type of the index's
  ///
  /// *Cost*: of a build over all rows; on a GPU its entries and columns go through host memory,
  /// where one thread puts them together. *Memory*: of the new index, and meanwhile of the host all
  /// columns, 16 bytes a row and 9 a cell, and of a GPU the columns and 16 bytes a row. Waits for
  /// the stream. Throws as a build does, and `unsupported` if the index keeps no keys.
  grown_index grown(const context& on, const index& over, std::span<const key_part> columns,
                    const column& rows) const;

 private:
  explicit composite_keys(backend where);
  // With room for columns that have outgrown what they were before.
  composite_keys(backend where, const context& on, std::span<const composite_column> columns,
                 packed_keys* rows, std::span<const composite_part> before);

  // Returns how many rows they have.
  std::uint64_t check(const context& on, std::span<const key_part> columns) const;
  void check_all(const context& on, std::span<const key_part> columns) const;

  backend where_;
  std::vector<composite_part> parts_;
  std::unique_ptr<packed_columns> packed_;
};

/// What `composite_keys::grown` makes.
struct grown_index {
  composite_keys keys;          ///< the key with a place for all rows
  std::unique_ptr<index> over;  ///< the index over its numbers
};

}  // namespace raydex
