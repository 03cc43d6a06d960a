// SPDX-License-Identifier: Apache-2.0
/// @file
/// The root of a tree as one wide node.
#pragma once

#include <cstddef>
#include <cstdint>

#include "raydex/core/bits.hpp"
#include "raydex/core/config.hpp"
#include "raydex/core/keys/column.hpp"

namespace raydex::core {

/// Up to 2^16 - 1 pivots in ascending order, with a table over the leading bits of the keys that
/// says among which of them to search. Evenly spread keys leave two or three steps; where keys
/// clump, a binary search over what the table leaves.
template <class Key>
class root_node {
 public:
  /// Cells of the table, 2^table_bits.
  static constexpr unsigned table_bits = 12;
  /// Most pivots: as far as the table's 16 bits count.
  static constexpr std::uint64_t most_pivots = 0xffff;

  /// No pivots: one child.
  root_node() = default;
  /// A root of `pivots` pivots at `memory`, of `bytes(pivots)` bytes.
  RAYDEX_HD root_node(const void* memory, std::uint32_t pivots)
      : memory_(static_cast<const std::byte*>(memory)), pivots_(pivots) {}

  /// Bytes of a root; none without pivots.
  RAYDEX_HD static constexpr std::size_t bytes(std::uint32_t pivots) {
    return pivots == 0 ? 0 : keys_begin + std::size_t{pivots} * sizeof(Key);
  }
  /// Bytes of this root.
  RAYDEX_HD std::size_t bytes() const { return bytes(pivots_); }

  /// The number of pivots below a key: the child to go on with.
  RAYDEX_HD std::uint32_t child(Key wanted) const {
    if (pivots_ == 0) return 0;
    const std::uint32_t cell = table()[cell_of(scale(), wanted)];
    std::uint32_t low = cell & 0xffff;
    std::uint32_t length = cell >> 16;
    if (length == 0) return low;
    // Half of what is left each time, whatever the keys: lanes of a warp go in step.
    while (length > 1) {
      const std::uint32_t half = length / 2;
      low += keys()[low + half - 1] < wanted ? half : 0;
      length -= half;
    }
    return low + (keys()[low] < wanted ? 1 : 0);
  }

  /// Reads the root's words, of 32 bits.
  struct word_at {
    const std::uint32_t* first;  ///< where they begin
    /// Word `i`.
    RAYDEX_HD std::uint32_t operator()(std::uint64_t i) const { return load(first + i); }
  };
  /// The words that a copy of the root is made of.
  RAYDEX_HD word_at words() const { return {reinterpret_cast<const std::uint32_t*>(memory_)}; }
  /// The same root, copied to `memory`.
  RAYDEX_HD root_node at(const void* memory) const { return {memory, pivots_}; }

  /// Writes the scale of the table over ascending entries, before `fill` writes the rest.
  template <class Entries>
  struct fill_scale {
    Entries entries;     ///< ascending
    std::uint64_t size;  ///< number of entries, not 0
    std::byte* memory;   ///< the root's

    /// Writes it; there is one item.
    RAYDEX_HD void operator()(std::uint64_t /*i*/) const {
      using row_id = typename Entries::row_id_type;
      const Key first = entries.key(0);
      const Key last = entries.key(static_cast<row_id>(size - 1));
      const Key span = last - first;
      const Key shift = span >> table_bits == 0 ? 0 : floor_log2(span) - (table_bits - 1);
      auto* to = reinterpret_cast<Key*>(memory);
      to[0] = first;
      to[1] = shift;
    }
  };

  /// Writes pivots and table, in any order.
  template <class Entries>
  struct fill {
    Entries entries;                  ///< ascending
    std::uint64_t size;               ///< number of entries
    std::uint64_t entries_per_child;  ///< entries below a child
    std::uint32_t pivots;             ///< number of pivots
    std::byte* memory;                ///< the root's

    /// Writes pivot `i`, or, beyond them, a cell of the table.
    RAYDEX_HD void operator()(std::uint64_t i) const {
      if (i < pivots) {
        reinterpret_cast<Key*>(memory + keys_begin)[i] = pivot(i);
        return;
      }
      const auto cell = static_cast<std::uint32_t>(i - pivots);
      const std::uint32_t first = first_of(cell);
      reinterpret_cast<std::uint32_t*>(memory + table_begin)[cell] =
          first | (first_of(cell + 1) - first) << 16;
    }
    /// Items to write.
    RAYDEX_HD std::uint64_t items() const { return std::uint64_t{pivots} + cells; }

   private:
    RAYDEX_HD Key pivot(std::uint64_t i) const {
      using row_id = typename Entries::row_id_type;
      const std::uint64_t entry = (i + 1) * entries_per_child - 1;
      return entries.key(static_cast<row_id>(entry < size ? entry : size - 1));
    }
    // The pivots below the first key of a cell; of the cell after the last, all.
    RAYDEX_HD std::uint32_t first_of(std::uint32_t cell) const {
      if (cell == cells) return pivots;
      const Key* scale = reinterpret_cast<const Key*>(memory);
      const auto begin = static_cast<Key>(static_cast<Key>(cell) << scale[1]);
      std::uint32_t low = 0;
      std::uint32_t length = pivots;
      while (length > 0) {
        const std::uint32_t half = length / 2;
        const bool below = pivot(low + half) - scale[0] < begin;
        low = below ? low + half + 1 : low;
        length = below ? length - half - 1 : half;
      }
      return low;
    }
  };

 private:
  static constexpr std::size_t cells = std::size_t{1} << table_bits;
  static constexpr std::size_t table_begin = 2 * sizeof(Key);
  static constexpr std::size_t keys_begin = table_begin + 4 * cells;

  RAYDEX_HD const Key* scale() const { return reinterpret_cast<const Key*>(memory_); }
  // A cell's first pivot in the low half, and how many there are in the high one.
  RAYDEX_HD const std::uint32_t* table() const {
    return reinterpret_cast<const std::uint32_t*>(memory_ + table_begin);
  }
  RAYDEX_HD const Key* keys() const { return reinterpret_cast<const Key*>(memory_ + keys_begin); }

  // The table's cell for a key; keys outside of the column's range belong to the outermost ones.
  RAYDEX_HD static std::uint32_t cell_of(const Key* scale, Key wanted) {
    if (wanted < scale[0]) return 0;
    const Key cell = (wanted - scale[0]) >> scale[1];
    return static_cast<std::uint32_t>(cell < cells ? cell : cells - 1);
  }

  const std::byte* memory_ = nullptr;
  std::uint32_t pivots_ = 0;
};

}  // namespace raydex::core
