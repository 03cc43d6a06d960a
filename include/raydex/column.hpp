// SPDX-License-Identifier: Apache-2.0
/// @file
/// Columns: what an index is built over, probed with, and sums up.
#pragma once

#include <cstddef>
#include <cstdint>
#include <ranges>
#include <string>

#include "raydex/core/keys/key.hpp"
#include "raydex/export.hpp"
#include "raydex/memory.hpp"

namespace raydex {

/// The name of a key format: `uint32 uint64 int32 int64 float double bytes1 .. bytes8`.
RAYDEX_EXPORT std::string to_string(key_format format);

/// Which cells of a column are there: a bitmap as Arrow has it, which may begin at any bit, so that
/// a slice of a column needs no bitmap of its own. Does not own it. A pointer is one whose first
/// bit is that of the first cell.
struct validity_bitmap {
  const std::uint8_t* bits = nullptr;  ///< bit b is bit b % 8 of byte b / 8; null: all are there
  std::uint64_t offset = 0;            ///< the bit of the first cell

  /// All cells are there.
  validity_bitmap() = default;
  /// The cell i is there if bit `first + i` is 1.
  validity_bitmap(const std::uint8_t* bytes,  // NOLINT(google-explicit-constructor)
                  std::uint64_t first = 0)
      : bits(bytes), offset(first) {}

  /// That of the cells from number `first` on.
  validity_bitmap from(std::uint64_t first) const {
    return bits == nullptr ? *this : validity_bitmap(bits, offset + first);
  }
  /// The byte that has the bit of the first cell; null where all are there.
  const std::uint8_t* first_byte() const { return bits == nullptr ? nullptr : bits + offset / 8; }
  /// Which bit of that byte it is, below 8.
  std::uint8_t first_bit() const { return static_cast<std::uint8_t>(offset % 8); }
  /// Whether there is none, so that all cells are there.
  friend bool operator==(const validity_bitmap& bitmap, std::nullptr_t) noexcept {
    return bitmap.bits == nullptr;
  }
};

/// A column of keys or values in memory that the backend can read: host memory for `cpu`, device
/// memory for `cuda` and `optix`. It does not own its cells.
///
/// Rows are numbered from 0; a row's number is its row id unless row ids are given explicitly.
/// Numeric cells are aligned to their width. A cell whose validity bit is 0 is *missing*: as a key
/// it is never matched, as a probe it matches nothing, as a value it adds nothing.
struct column {
  key_format format;           ///< what a cell holds
  const void* data = nullptr;  ///< the first cell
  std::uint64_t size = 0;      ///< number of cells
  std::uint64_t stride = 0;    ///< bytes from one cell to the next; 0: cells are adjacent
  validity_bitmap validity;    ///< which cells are there; an Arrow bitmap, or a pointer to one

  /// No cells.
  column() = default;

  /// Cells of a format known at run time.
  column(key_format cell_format, const void* cells, std::uint64_t count,
         const validity_bitmap& validity_bits = {})
      : format(cell_format), data(cells), size(count), validity(validity_bits) {}

  /// All cells of a `std::vector`, `std::span`, `buffer` or the like. They are integers, `float`,
  /// `double`, or `std::array<char, N>`. What owns them must outlive the column.
  template <std::ranges::contiguous_range Cells>
  explicit column(const Cells& cells, const validity_bitmap& validity_bits = {})
      : column(format_of<std::ranges::range_value_t<Cells>>, std::ranges::data(cells),
               std::ranges::size(cells), validity_bits) {}

  /// Bytes from one cell to the next.
  std::uint64_t step() const noexcept { return stride != 0 ? stride : format.width; }
};

/// A batch of probes: points, or inclusive ranges of keys.
struct probes {
  column lower;           ///< a point, or the lower end of a range
  column upper;           ///< the upper end of a range; equals `lower` for points
  bool is_points = true;  ///< whether these are points

  /// Number of probes.
  std::uint64_t size() const noexcept { return lower.size; }
};

/// Probes for single keys.
inline probes points(const column& keys) {
  return {keys, keys, true};
}

/// Probes for all keys k with lower <= k <= upper; where lower > upper the range is empty.
/// Precondition, checked by every query: equal sizes and formats.
inline probes ranges(const column& lower, const column& upper) {
  return {lower, upper, false};
}

}  // namespace raydex
