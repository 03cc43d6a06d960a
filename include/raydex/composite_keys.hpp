// SPDX-License-Identifier: Apache-2.0
/// @file
/// Composite keys: several columns as one, for an index over all of them.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <vector>

#include "raydex/capability.hpp"
#include "raydex/column.hpp"
#include "raydex/export.hpp"
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
  column cells;                                      ///< one for each row
  bool descending = false;                           ///< whether larger values come first
  missing_cells missing = missing_cells::unmatched;  ///< what those without a value are
  /// What its values are known to be multiples of it apart by: 2 for the numbers of a
  /// `key_dictionary`.
  std::uint64_t step = 1;

  /// No cells.
  composite_column() = default;
  /// A column, in ascending order by default.
  composite_column(const column& of,  // NOLINT(google-explicit-constructor)
                   bool descends = false, missing_cells are = missing_cells::unmatched,
                   std::uint64_t apart = 1)
      : cells(of), descending(descends), missing(are), step(apart) {}
};

/// What became of a column: which codes have a number of how many bits.
struct composite_part {
  key_format format;                                 ///< of its cells
  bool descending = false;                           ///< as it was given
  missing_cells missing = missing_cells::unmatched;  ///< likewise
  std::uint64_t first = 1;                           ///< the smallest code, see `encode`
  std::uint64_t last = 0;  ///< the largest one; less than `first` where no cell has a value
  std::uint64_t step = 1;  ///< what codes are apart is a multiple of it
  unsigned bits = 0;       ///< of a number
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

/// Packs the columns of a key into one, in their order: an index that any structure builds over the
/// packed column finds rows by all columns, by the first ones, and by the first ones and a range of
/// the next one.
///
/// A column takes the bits of its span, from the smallest value to the largest one, whatever its
/// type is; one whose missing cells have a place takes those of a number more. All of them together
/// take 32 bits or 64. Where spans take more, columns are counted in steps, the largest ones that
/// all values are apart by: days that times of microseconds are given in, whole numbers among
/// floating ones. What takes more than 64 bits even so is `unsupported`. Byte strings span what
/// lies between them in their order, floating numbers what lies between their bits: of such
/// columns, and of strings of any length, give the numbers of a `key_dictionary` instead.
///
///     const composite_keys keys(where, session, {column(customers), column(days)});
///     const auto index = build("auto", where, session, keys.pack_rows(session, columns).view());
///     index->first(session, points(keys.pack_points(session, wanted).view()), rows);
///
/// *Cost*: to make it, a pass over the columns, and another one where steps are needed; to pack,
/// another one, which writes 4 or 8 bytes a key. *Streams*: making it and
/// `holds` synchronise; all else is queued. *Threads*: several may pack at a time. Calls throw
/// `invalid_argument`, `unavailable`, `out_of_memory`, `cuda_error`.
class RAYDEX_EXPORT composite_keys {
 public:
  /// Finds what columns span.
  ///
  /// @param where the backend; `optix` does it as `cuda`
  /// @param on scratch of the backend's memory, and a stream
  /// @param columns 1 to 16 of equal sizes, the most significant one first
  ///
  /// Throws `unsupported` where they span more than 64 bits, and says how many each takes.
  composite_keys(backend where, const context& on, std::span<const composite_column> columns);
  /// The same of columns in braces.
  composite_keys(backend where, const context& on, std::initializer_list<composite_column> columns)
      : composite_keys(where, on, std::span(columns.begin(), columns.size())) {}

  /// How many bits columns take, be they too many or not: as the constructor finds them.
  static std::vector<unsigned> bits_of_columns(backend where, const context& on,
                                               std::span<const composite_column> columns);

  /// What became of each column.
  const std::vector<composite_part>& parts() const noexcept { return parts_; }
  /// Of packed keys: uint32 if all columns take up to 32 bits, else uint64.
  key_format format() const noexcept;

  /// Packs the keys of rows, to build an index over them or to insert them. A row with a missing
  /// cell that is `unmatched` is missing.
  ///
  /// @param on memory and a stream, which must both outlive the result
  /// @param columns those that this was made of, or others that it `holds`: of values outside of
  ///        the spans the numbers are any, and nobody looks
  packed_keys pack_rows(const context& on, std::span<const column> columns) const;

  /// Packs points. One with a value outside of the spans or between steps, or with a missing cell
  /// that is `unmatched`, becomes a number that no key has; it is missing if keys have all numbers.
  ///
  /// @param on memory and a stream, which must both outlive the result
  /// @param columns as many as the key has, in its formats and of equal sizes
  packed_keys pack_points(const context& on, std::span<const column> columns) const;

  /// Packs ranges: all keys whose first columns equal those of a probe, and, if there are bounds,
  /// whose next column has a value within them, both included, be it ascending or descending.
  /// Bounds may lie outside of the span.
  ///
  /// @param on memory and a stream, which must both outlive the result
  /// @param equal the first columns of each probe, perhaps none; in the formats of the key
  /// @param lower lower bounds of the next column; nothing: it has none
  /// @param upper upper bounds; with neither, missing cells of that column are in the range
  packed_ranges pack_ranges(const context& on, std::span<const column> equal,
                            const std::optional<column>& lower = std::nullopt,
                            const std::optional<column>& upper = std::nullopt) const;

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
  packed_keys pack_closest(const context& on, std::span<const column> columns,
                           closest_number which) const;

  /// Whether the largest number of the packed type is a key's, so that what is greater than all
  /// keys has no number: where spans fill all bits.
  bool is_full() const noexcept;

  /// Whether all values of more rows lie within the spans, and as many steps apart, so that they
  /// can be inserted.
  bool holds(const context& on, std::span<const column> columns) const;

 private:
  void check(const context& on, std::span<const column> columns) const;
  void check_all(const context& on, std::span<const column> columns) const;
  packed_keys pack(const context& on, std::span<const column> columns, bool are_rows) const;

  backend where_;
  std::vector<composite_part> parts_;
};

}  // namespace raydex
