// SPDX-License-Identifier: Apache-2.0
/// @file
/// The build row with the closest time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>

#include "raydex/core/config.hpp"
#include "raydex/core/keys/column.hpp"
#include "raydex/core/keys/key.hpp"

namespace raydex::core {

/// A column of times, and how far two of them are apart.
struct time_cells {
  value_column values;  ///< numbers

  /// The distance of two times, as their type rounds it, as a code: a larger one is farther. NaN is
  /// far from all but NaN.
  RAYDEX_HD std::uint64_t distance(std::uint64_t i, const time_cells& others,
                                   std::uint64_t other) const {
    const key_type type = values.format.type;
    if (type == key_type::float32 || type == key_type::float64) {
      const double a = values.floating(i);
      const double b = others.values.floating(other);
      if (a == b || (a != a && b != b)) return encode(0.0);
      // Double has the bits for rounding twice to be as rounding once.
      const double apart = a < b ? b - a : a - b;
      return encode(type == key_type::float64 ? apart : double{static_cast<float>(apart)});
    }
    const std::uint64_t a = values.integer(i);
    const std::uint64_t b = others.values.integer(other);
    const bool is_signed = type == key_type::int32 || type == key_type::int64;
    const bool less =
        is_signed ? static_cast<std::int64_t>(a) < static_cast<std::int64_t>(b) : a < b;
    return less ? b - a : a - b;
  }
};

/// The build rows in the order of keys and times.
template <class RowId>
struct timed_rows {
  static constexpr RowId none = std::numeric_limits<RowId>::max();  ///< no row

  const void* keys;    ///< what `put_keyed_values` wrote of each, ascending
  const void* probes;  ///< and of each probe
  bool wide;           ///< whether these numbers have 64 bits
  unsigned time_bits;  ///< of a time in them
  std::uint64_t size;  ///< how many rows
  const RowId* rows;   ///< the rows

  /// The row at a rank, if it has the key of probe `i`.
  RAYDEX_HD RowId row(std::uint64_t i, std::uint64_t rank) const {
    if (rank >= size) return none;
    const std::uint64_t probe = number(probes, i);
    const std::uint64_t times = (std::uint64_t{1} << time_bits) - 1;
    if ((probe & times) == times) return none;  // no time has this number
    return number(keys, rank) >> time_bits == probe >> time_bits ? load(rows + rank) : none;
  }

  /// Has a core fetch what `row` will read.
  RAYDEX_HD void fetch(std::uint64_t rank) const {
    if (rank >= size) return;
    prefetch(static_cast<const std::byte*>(keys) + rank * (wide ? 8 : 4));
    prefetch(rows + rank);
  }

 private:
  RAYDEX_HD std::uint64_t number(const void* all, std::uint64_t i) const {
    return wide ? load(static_cast<const std::uint64_t*>(all) + i)
                : load(static_cast<const std::uint32_t*>(all) + i);
  }
};

/// Takes, of the rows before and after each probe, the closer one that is near enough.
template <class RowId>
struct take_closest {
  static constexpr RowId none = std::numeric_limits<RowId>::max();  ///< no row

  /// What was found on one side of each probe.
  struct found {
    const RowId* rows = nullptr;           ///< a row or none; null: see `ranks`
    const std::uint64_t* ranks = nullptr;  ///< how many build rows are before it; null: nothing
    bool before = false;                   ///< whether the last of these is meant, or the next one
  };

  time_cells probe_times;   ///< of the probes
  time_cells build_times;   ///< of the build rows
  timed_rows<RowId> build;  ///< where there are keys, what ranks are of
  found sides[2];           ///< the one before comes first
  std::uint64_t size;       ///< how many probes
  std::uint64_t tolerance;  ///< the largest distance, as a code; the largest number: any
  RowId* out;               ///< a row for each probe

  /// Takes that of one.
  RAYDEX_HD void operator()(std::uint64_t i) const {
    const RowId first = row(i, sides[0]);
    const RowId second = row(i, sides[1]);
    if (tolerance == ~std::uint64_t{0} && (first == none || second == none)) {
      out[i] = first == none ? second : first;
      return;
    }
    RowId taken = none;
    std::uint64_t nearest = 0;
    for (const RowId row : {first, second}) {
      if (row == none) continue;
      const std::uint64_t distance = probe_times.distance(i, build_times, row);
      if (distance > tolerance || (taken != none && distance >= nearest)) continue;
      taken = row;
      nearest = distance;
    }
    out[i] = taken;
  }

 private:
  RAYDEX_HD RowId row(std::uint64_t i, const found& side) const {
    if (side.rows != nullptr) return side.rows[i];
    if (side.ranks == nullptr) return none;
    // Before rank 0 there is none.
    const std::uint64_t less = side.before ? 1 : 0;
#if !defined(__CUDA_ARCH__)
    constexpr std::uint64_t ahead = 16;
    if (i + ahead < size) build.fetch(side.ranks[i + ahead] - less);
#endif
    return build.row(i, side.ranks[i] - less);
  }
};

}  // namespace raydex::core
