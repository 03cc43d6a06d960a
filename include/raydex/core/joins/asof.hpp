// SPDX-License-Identifier: Apache-2.0
/// @file
/// The build row with the closest time.
#pragma once

#include <cstdint>
#include <limits>

#include "raydex/core/config.hpp"
#include "raydex/core/joins/key_cells.hpp"
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

/// Writes, as numbers, the first row of each key above the rank of each time.
template <class RowId>
struct put_ranked_times {
  const RowId* firsts;         ///< rows of keys, or the largest number
  const std::uint64_t* ranks;  ///< of times; the largest number of a missing one
  std::uint64_t before;        ///< to be taken from the ranks
  std::uint64_t* out;          ///< the numbers
  /// Writes one.
  RAYDEX_HD void operator()(std::uint64_t i) const {
    out[i] = std::uint64_t{firsts[i]} << 32 | ((ranks[i] - before) & 0xffff'ffffU);
  }
};

/// Writes which of these numbers there are, eight a byte.
template <class RowId>
struct put_ranked_validity {
  put_ranked_times<RowId> from;  ///< the numbers
  std::uint64_t size;            ///< how many
  std::uint8_t* out;             ///< a bit each
  /// Writes byte `byte`.
  RAYDEX_HD void operator()(std::uint64_t byte) const {
    unsigned bits = 0;
    for (unsigned bit = 0; bit < 8 && byte * 8 + bit < size; ++bit) {
      const std::uint64_t i = byte * 8 + bit;
      const bool found = from.firsts[i] != static_cast<RowId>(-1);
      const bool ranked = from.ranks[i] != ~std::uint64_t{0} && from.ranks[i] >= from.before;
      if (found && ranked) bits |= 1U << bit;
    }
    out[byte] = static_cast<std::uint8_t>(bits);
  }
};

/// Takes, of the rows before and after each probe, the closer one that has its key and is near
/// enough.
template <class RowId>
struct take_closest {
  static constexpr RowId none = std::numeric_limits<RowId>::max();  ///< no row

  time_cells probe_times;      ///< of the probes
  time_cells build_times;      ///< of the build rows
  composite_cells probe_keys;  ///< of the probes; none: all keys are equal
  composite_cells build_keys;  ///< of the build rows
  const RowId* before;         ///< a row a probe; null: not asked for
  const RowId* after;          ///< likewise
  std::uint64_t tolerance;     ///< the largest distance, as a code
  RowId* out;                  ///< a row a probe

  /// Takes that of one.
  RAYDEX_HD void operator()(std::uint64_t i) const {
    RowId taken = none;
    std::uint64_t nearest = 0;
    for (const RowId* const rows : {before, after}) {
      if (rows == nullptr || rows[i] == none) continue;
      const RowId row = rows[i];
      if (probe_keys.count != 0 && !probe_keys.equal(i, build_keys, row)) continue;
      const std::uint64_t distance = probe_times.distance(i, build_times, row);
      if (distance > tolerance || (taken != none && distance >= nearest)) continue;
      taken = row;
      nearest = distance;
    }
    out[i] = taken;
  }
};

}  // namespace raydex::core
