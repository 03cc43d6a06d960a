// SPDX-License-Identifier: Apache-2.0
/// @file
/// Which intervals contain a point.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>

#include "raydex/core/config.hpp"
#include "raydex/core/joins/pairs.hpp"
#include "raydex/core/keys/column.hpp"

namespace raydex::core {

/// Writes which intervals contain anything, eight a byte.
template <class Key>
struct put_interval_validity {
  encoded_column<Key> lower;  ///< their ends
  encoded_column<Key> upper;  ///< likewise
  std::uint64_t size;         ///< how many
  std::uint8_t* out;          ///< a bit each
  /// Writes byte `byte`.
  RAYDEX_HD void operator()(std::uint64_t byte) const {
    unsigned bits = 0;
    for (unsigned bit = 0; bit < 8 && byte * 8 + bit < size; ++bit) {
      const std::uint64_t i = byte * 8 + bit;
      if (lower.valid(i) && upper.valid(i) && lower[i] <= upper[i]) bits |= 1U << bit;
    }
    out[byte] = static_cast<std::uint8_t>(bits);
  }
};

/// Upper ends in the order of lower ends, below levels that have the largest of `fan_out` entries
/// of the level before each. A row id is that of an interval.
template <class Key, class RowId>
struct interval_tree {
  static constexpr unsigned fan_out = 16;      ///< entries below one
  static constexpr unsigned most_levels = 16;  ///< above the ends

  const Key* ends;                        ///< upper ends
  const RowId* rows;                      ///< the row of each
  const Key* largest;                     ///< all levels, the lowest one first
  std::uint64_t size;                     ///< intervals
  unsigned levels;                        ///< how many
  std::uint64_t begins[most_levels + 1];  ///< where each level begins in `largest`

  /// Entries of a level; level 0 are the ends.
  static constexpr std::uint64_t size_of(std::uint64_t size, unsigned level) {
    for (unsigned l = 0; l < level; ++l)
      size = (size + fan_out - 1) / fan_out;
    return size;
  }
  /// How many levels so many intervals take: the last one has at most `fan_out` entries.
  static constexpr unsigned levels_of(std::uint64_t size) {
    unsigned levels = 0;
    while (size_of(size, levels) > fan_out)
      ++levels;
    return levels;
  }

  /// Calls `visit(row)` for the intervals among the first `count` ones that end at `point` or after
  /// it, until it returns false.
  template <class Visit>
  RAYDEX_HD void for_each_containing(Key point, std::uint64_t count, const Visit& visit) const {
    unsigned level = levels;
    std::uint64_t at = 0;  // the entry of the level
    while (true) {
      const std::uint64_t first = at << (4 * level);  // the first interval below it
      if (first >= count) return;
      const bool any = (level == 0 ? load(ends + at) : load(largest + begins[level] + at)) >= point;
      if (any && level != 0) {
        --level;
        at *= fan_out;
        continue;
      }
      if (any && !visit(load(rows + at))) return;
      ++at;
      while (level < levels && at % fan_out == 0) {
        ++level;
        at /= fan_out;
      }
    }
  }
};
static_assert(interval_tree<std::uint32_t, std::uint32_t>::fan_out == 1U << 4,
              "a level shifts by four bits");

/// Writes the upper ends in the order of the lower ends.
template <class Key, class RowId>
struct put_ordered_ends {
  encoded_column<Key> upper;  ///< by row
  const RowId* rows;          ///< in order
  Key* out;                   ///< in order
  /// Writes one.
  RAYDEX_HD void operator()(std::uint64_t i) const { out[i] = upper[rows[i]]; }
};

/// Writes the largest of `fan_out` entries of a level.
template <class Key>
struct put_largest {
  static constexpr unsigned fan_out = interval_tree<Key, Key>::fan_out;  ///< entries below one
  const Key* below;                                                      ///< the level below
  std::uint64_t size;                                                    ///< its entries
  Key* out;                                                              ///< the level
  /// Writes one.
  RAYDEX_HD void operator()(std::uint64_t i) const {
    Key largest = 0;
    for (std::uint64_t j = i * fan_out; j < (i + 1) * fan_out && j < size; ++j)
      largest = below[j] < largest ? largest : below[j];
    out[i] = largest;
  }
};

/// Turns ranks into what points found: of how many intervals that begin at the point or before it
/// how many end there or later.
template <class RowId>
struct count_containing {
  const std::uint64_t*
      begun;  ///< intervals that begin at each point or before; of a missing one ~0
  const std::uint64_t* ended;  ///< intervals that end before it
  RowId* begins;               ///< the former
  RowId* counts;               ///< their difference
  /// Turns one.
  RAYDEX_HD void operator()(std::uint64_t i) const {
    const bool missing = begun[i] == ~std::uint64_t{0};
    begins[i] = missing ? RowId{0} : static_cast<RowId>(begun[i]);
    counts[i] = missing ? RowId{0} : static_cast<RowId>(begun[i] - ended[i]);
  }
};

/// Points and how many intervals contain each: of those that begin at it or before, `begins` many.
template <class Key, class RowId>
struct contained_points {
  using row_id = RowId;                                             ///< a build row
  static constexpr RowId none = std::numeric_limits<RowId>::max();  ///< no row

  interval_tree<Key, RowId> tree;  ///< the intervals
  encoded_column<Key> points;      ///< the points
  const RowId* begins;             ///< a number a point
  const RowId* counts;             ///< intervals that contain it
  std::uint64_t size;              ///< points
  joining kind;                    ///< which rows of the join they have

  /// How many rows of the join a point has.
  RAYDEX_HD std::uint64_t rows(std::uint64_t point) const {
    return rows_of_join(kind, counts[point]);
  }
};

/// Writes a slice of the rows of a join with intervals, those of a point by one thread.
template <class Key, class RowId, class Out>
struct write_contained_rows {
  static constexpr std::size_t most_scratch_bytes = tile_ends::scratch_bytes;  ///< of a group

  contained_points<Key, RowId> found;  ///< the points
  const std::uint64_t* ends;           ///< where the rows of each tile end
  row_slice<Out> slice;                ///< the slice

  /// See `most_scratch_bytes`.
  RAYDEX_HD static std::size_t scratch_bytes() { return most_scratch_bytes; }

  /// Writes those of a tile.
  template <summing_group Group>
  RAYDEX_HD void operator()(const Group& group, std::byte* scratch, std::uint64_t tile) const {
    const std::uint64_t first_row = tile == 0 ? 0 : load(ends + tile - 1);
    if (load(ends + tile) <= slice.begin || first_row >= slice.end) return;
    const tile_ends of_tile(scratch);
    const std::uint64_t first = tile * tile_probes;
    const unsigned probes = probes_of_tile(tile, found.size);
    of_tile.add_up(group, probes, [&](unsigned i) { return found.rows(first + i); });
    for (unsigned i = group.lane(); i < probes; i += group.lanes())
      write_point(first + i, first_row + of_tile.begin(i));
    group.sync();
  }

 private:
  // Writes the rows of a point, from this one on.
  RAYDEX_HD void write_point(std::uint64_t point, std::uint64_t row) const {
    const std::uint64_t rows = found.rows(point);
    if (row >= slice.end || row + rows <= slice.begin) return;
    const RowId matches = found.counts[point];
    const auto put = [&](std::uint64_t at, Out build) {
      if (at < slice.begin || at >= slice.end) return;
      slice.probe_rows[at - slice.begin] = static_cast<Out>(point);
      if (slice.build_rows != nullptr) slice.build_rows[at - slice.begin] = build;
    };
    if (matches == 0 || slice.build_rows == nullptr) {
      for (std::uint64_t k = 0; k < rows; ++k)
        put(row + k, std::numeric_limits<Out>::max());
      return;
    }
    std::uint64_t at = row;
    found.tree.for_each_containing(found.points[point], found.begins[point], [&](RowId build) {
      put(at, static_cast<Out>(build));
      ++at;
      return at < slice.end;
    });
  }
};

}  // namespace raydex::core
