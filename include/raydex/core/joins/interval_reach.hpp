// SPDX-License-Identifier: Apache-2.0
/// @file
/// How far intervals are apart, and how long what they share is.
#pragma once

#include <cstdint>
#include <limits>

#include "raydex/core/config.hpp"
#include "raydex/core/joins/asof.hpp"
#include "raydex/core/joins/wavelet_matrix.hpp"
#include "raydex/core/keys/column.hpp"
#include "raydex/core/keys/key.hpp"

namespace raydex::core {

/// Writes the length of what each probe shares with all intervals of its key. Those that begin
/// before a place, less those that end before it, contain it: as often counts the place itself,
/// less the sum of the ends that were passed.
struct put_coverage {
  /// The ends of intervals, in order.
  struct ends {
    const std::uint64_t* before_lower;  ///< how many are less than the lower end of each probe
    const std::uint64_t* before_upper;  ///< how many are less than its upper end
    const std::uint64_t* sums;          ///< of the first ends, as many as a rank says, modulo 2^64
    const std::uint64_t* uppers;        ///< the same of their upper halves; null: of 32-bit ends
  };

  value_column lower;         ///< of the probes
  value_column upper;         ///< likewise
  const std::uint8_t* valid;  ///< a bit a probe
  ends begins;                ///< the lower ends of intervals
  ends stops;                 ///< their upper ends
  std::uint64_t size;         ///< how many; less than 2^31
  std::uint64_t* out;         ///< one a probe: the largest number for all that 64 bits do not hold

  /// Writes one.
  RAYDEX_HD void operator()(std::uint64_t i) const {
    std::uint64_t shared = 0;
    if ((load(valid + i / 8) >> (i % 8) & 1) != 0) {
      const length to = before(upper.integer(i), begins.before_upper[i], stops.before_upper[i]);
      const length from = before(lower.integer(i), begins.before_lower[i], stops.before_lower[i]);
      shared = to.whole - from.whole;
      // Doubles are off by far less than this.
      constexpr double most = 0x1p64 - 0x1p48;
      if (begins.uppers != nullptr && to.about - from.about >= most) shared = ~std::uint64_t{0};
    }
    out[i] = shared;
  }

 private:
  struct length {
    std::uint64_t whole;  // modulo 2^64
    double about;         // where ends have 64 bits
  };

  // The length of what lies before an end of a probe, given what began and ended before it.
  RAYDEX_HD length before(std::uint64_t end, std::uint64_t begun, std::uint64_t ended) const {
    // Those of a key that no interval has may be larger.
    begun = begun < size ? begun : size;
    ended = ended < size ? ended : size;
    const std::uint64_t within = begun - ended;
    const std::uint64_t sum = load(begins.sums + begun) - load(stops.sums + ended);
    length made{within * end - sum, 0};
    if (begins.uppers == nullptr) return made;
    const bool negative = upper.format.type == key_type::int64 && end >> 63 != 0;
    const std::uint64_t half = end >> 32 | (negative ? ~std::uint64_t{0} << 32 : 0);
    const std::uint64_t halves = load(begins.uppers + begun) - load(stops.uppers + ended);
    // Both are small: the upper one exact, the lower one less than 2^65.
    const auto high = static_cast<double>(static_cast<std::int64_t>(within * half - halves));
    const std::uint64_t begun_low = load(begins.sums + begun) - (load(begins.uppers + begun) << 32);
    const std::uint64_t ended_low = load(stops.sums + ended) - (load(stops.uppers + ended) << 32);
    const double low = static_cast<double>(within) * static_cast<double>(end & 0xffff'ffff) -
                       (static_cast<double>(begun_low) - static_cast<double>(ended_low));
    made.about = high * 0x1p32 + low;
    return made;
  }
};

/// The ends of intervals.
struct interval_cells {
  time_cells lower;  ///< where they begin
  time_cells upper;  ///< where they end
};

/// Takes the nearest intervals of each probe.
template <class RowId>
struct take_nearest {
  static constexpr RowId none = std::numeric_limits<RowId>::max();  ///< no row

  interval_cells probes;       ///< the probes
  interval_cells builds;       ///< the intervals, by row
  const std::uint8_t* valid;   ///< a bit a probe
  std::uint64_t size;          ///< intervals that match anything
  const RowId* by_lower;       ///< their rows by lower end
  const RowId* by_upper;       ///< by upper end, the largest one first
  const std::uint64_t* begun;  ///< for each probe the rank, by lower end, of what begins behind it
  const std::uint64_t* ended;  ///< by upper end, of what ends before it
  const std::uint64_t* key_end;  ///< where the rows of its key end in both orders; null: at `size`
  const std::uint64_t* least;    ///< the rank that what overlaps it has at least in the matrix
  wavelet_matrix<RowId> matrix;  ///< finds those; none: they are not wanted
  bool before;                   ///< whether those before a probe are
  bool after;                    ///< and those behind it
  std::uint64_t count;           ///< how many are taken at most
  RowId* rows;                   ///< so many for each probe; null: ties are wanted
  std::uint64_t* distances;      ///< of these, as numbers or bits of doubles; null: not wanted
  std::byte* reach_lower;        ///< for ties, a cell a probe: what they all end at or behind
  std::byte* reach_upper;        ///< and what they begin at or before

  /// Takes those of one.
  RAYDEX_HD void operator()(std::uint64_t i) const {
    const bool any = (load(valid + i / 8) >> (i % 8) & 1) != 0;
    std::uint64_t taken = 0;
    if (any && matrix.words != nullptr) taken = take_overlaps(i);
    sides at{size, size, size};
    if (any) at = sides_of(i);
    candidate next{none, 0, false};
    for (; taken < count && find(i, at, next); ++taken) {
      put(i, taken, next.row, next.distance);
      step(at, next);
    }
    if (rows == nullptr) return put_reach(i, at, next, taken);
    for (; taken < count; ++taken)
      put(i, taken, none, ~std::uint64_t{0});
  }

 private:
  // Ranks of the next intervals on both sides, and where the key ends.
  struct sides {
    std::uint64_t before;
    std::uint64_t after;
    std::uint64_t end;
  };
  // The nearer one of the next ones.
  struct candidate {
    RowId row;
    std::uint64_t distance;
    bool is_before;
  };

  RAYDEX_HD sides sides_of(std::uint64_t i) const {
    std::uint64_t end = key_end == nullptr ? size : load(key_end + i);
    if (end > size) end = size;
    return {before ? load(ended + i) : end, after ? load(begun + i) : end, end};
  }

  RAYDEX_HD std::uint64_t take_overlaps(std::uint64_t i) const {
    const auto lowest = static_cast<RowId>(load(least + i));
    const std::uint64_t all = matrix.count(lowest, static_cast<RowId>(load(begun + i)));
    const std::uint64_t taken = all < count ? all : count;
    for (std::uint64_t k = 0; k < taken && rows != nullptr; ++k) {
      const RowId place = matrix.place_of(lowest, static_cast<RowId>(k));
      put(i, k, load(by_lower + place), 0);
    }
    return taken;
  }

  RAYDEX_HD bool find(std::uint64_t i, const sides& at, candidate& next) const {
    const bool any_before = at.before < at.end;
    const bool any_after = at.after < at.end;
    if (!any_before && !any_after) return false;
    candidate last{none, 0, true};
    candidate first{none, 0, false};
    if (any_before) {
      last.row = load(by_upper + at.before);
      last.distance = probes.lower.distance(i, builds.upper, last.row);
    }
    if (any_after) {
      first.row = load(by_lower + at.after);
      first.distance = probes.upper.distance(i, builds.lower, first.row);
    }
    const bool is_nearer =
        last.distance < first.distance || (last.distance == first.distance && last.row < first.row);
    next = !any_after || (any_before && is_nearer) ? last : first;
    return true;
  }
  RAYDEX_HD static void step(sides& at, const candidate& taken) {
    taken.is_before ? ++at.before : ++at.after;
  }

  RAYDEX_HD bool is_floating() const {
    const key_type type = probes.lower.values.format.type;
    return type == key_type::float32 || type == key_type::float64;
  }

  RAYDEX_HD void put(std::uint64_t i, std::uint64_t k, RowId row, std::uint64_t distance) const {
    if (rows == nullptr) return;
    rows[i * count + k] = row;
    if (distances == nullptr) return;
    if (is_floating()) {
      // Codes of doubles; that of no row is NaN.
      const double apart = row == none     ? std::numeric_limits<double>::quiet_NaN()
                           : distance == 0 ? 0.0
                                           : decode<double>(distance);
      reinterpret_cast<double*>(distances)[i * count + k] = apart;
    } else {
      distances[i * count + k] = distance;
    }
  }

  // Passes what is as far away as the last one taken.
  RAYDEX_HD void put_reach(std::uint64_t i, sides at, const candidate& last,
                           std::uint64_t taken) const {
    RowId farthest_before = none;
    RowId farthest_after = none;
    if (last.row != none) {
      const sides begin = sides_of(i);
      if (at.before > begin.before) farthest_before = load(by_upper + at.before - 1);
      if (at.after > begin.after) farthest_after = load(by_lower + at.after - 1);
      candidate next{none, 0, false};
      while (taken == count && find(i, at, next) && next.distance == last.distance) {
        (next.is_before ? farthest_before : farthest_after) = next.row;
        step(at, next);
      }
    }
    copy(probes.lower, builds.upper, i, farthest_before, reach_lower);
    copy(probes.upper, builds.lower, i, farthest_after, reach_upper);
  }
  // The end of a row, or of the probe if there is none.
  RAYDEX_HD static void copy(const time_cells& own, const time_cells& others, std::uint64_t i,
                             RowId row, std::byte* out) {
    const value_column& from = row == none ? own.values : others.values;
    const std::uint64_t at = row == none ? i : row;
    if (from.format.width == 4) {
      reinterpret_cast<std::uint32_t*>(out)[i] = from.get<std::uint32_t>(at);
    } else {
      reinterpret_cast<std::uint64_t*>(out)[i] = from.get<std::uint64_t>(at);
    }
  }
};

}  // namespace raydex::core
