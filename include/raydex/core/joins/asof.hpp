// SPDX-License-Identifier: Apache-2.0
/// @file
/// The build rows with the closest times.
#pragma once

#include <cstddef>
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
    if (is_floating()) {
      const double a = values.floating(i);
      const double b = others.values.floating(other);
      if (a == b || (a != a && b != b)) return encode(0.0);
      return rounded(a < b ? b - a : a - b);
    }
    const std::uint64_t a = values.integer(i);
    const std::uint64_t b = others.values.integer(other);
    const bool less =
        is_signed() ? static_cast<std::int64_t>(a) < static_cast<std::int64_t>(b) : a < b;
    return less ? b - a : a - b;
  }

  /// A time in the order of keys.
  RAYDEX_HD std::uint64_t code(std::uint64_t i) const { return key_cells{values}.code(i); }

  /// Whether they are floating numbers.
  RAYDEX_HD bool is_floating() const {
    return values.format.type == key_type::float32 || values.format.type == key_type::float64;
  }
  /// Whether they are integers with a sign.
  RAYDEX_HD bool is_signed() const {
    return values.format.type == key_type::int32 || values.format.type == key_type::int64;
  }
  /// The code of a distance of floating times, rounded to their type: double has the bits for
  /// rounding twice to be as rounding once.
  RAYDEX_HD std::uint64_t rounded(double distance) const {
    return encode(values.format.type == key_type::float64 ? distance
                                                          : double{static_cast<float>(distance)});
  }
};

/// The largest distance of a build row from a probe: the same for all, a number each, or a share of
/// the probe.
struct tolerances {
  static constexpr std::uint64_t any = ~std::uint64_t{0};  ///< any distance

  std::uint64_t same = any;  ///< the largest distance, as a code
  value_column each{};       ///< of each probe the largest distance; without cells: see the others
  bool is_share = false;     ///< whether the next ones are meant
  double share = 0;          ///< of floating times: what part of the probe
  std::uint64_t factor = 0;  ///< of integers: the probe times this,
  unsigned shift = 0;        ///< without so many of the lower bits of the product

  /// Whether any distance will do.
  bool takes_any() const { return same == any && each.data == nullptr && !is_share; }
  /// The largest distance from a probe, as a code in `most`; false if there is none.
  RAYDEX_HD bool find(std::uint64_t i, const time_cells& probes, std::uint64_t& most) const {
    most = same;
    if (each.data != nullptr) {
      if (!each.valid(i)) return false;
      const time_cells own{each};
      if (probes.is_floating()) {
        const double distance = each.floating(i);
        most = probes.rounded(distance);
        return distance >= 0;
      }
      most = each.integer(i);
      return !own.is_signed() || static_cast<std::int64_t>(most) >= 0;
    }
    if (!is_share) return true;
    if (probes.is_floating()) {
      const double time = probes.values.floating(i);
      const double distance = share * (time < 0 ? -time : time);
      most = probes.rounded(distance == distance ? distance : 0);
    } else {
      const std::uint64_t time = probes.values.integer(i);
      const bool below = probes.is_signed() && static_cast<std::int64_t>(time) < 0;
      most = part(below ? 0 - time : time);
    }
    return true;
  }

 private:
  // Its product with `factor`, of 128 bits, without the lower ones.
  RAYDEX_HD std::uint64_t part(std::uint64_t number) const {
    constexpr std::uint64_t low_bits = 0xffffffff;
    const std::uint64_t a = number >> 32;
    const std::uint64_t b = number & low_bits;
    const std::uint64_t c = factor >> 32;
    const std::uint64_t d = factor & low_bits;
    const std::uint64_t middle = (b * d >> 32) + (a * d & low_bits) + (b * c & low_bits);
    const std::uint64_t low = number * factor;
    const std::uint64_t high = a * c + (a * d >> 32) + (b * c >> 32) + (middle >> 32);
    if (shift >= 128) return 0;
    if (shift >= 64) return high >> (shift - 64);
    if (high >> shift != 0) return any;
    return shift == 0 ? low : high << (64 - shift) | low >> shift;
  }
};

/// The build rows in the order of keys and times.
template <class RowId>
struct timed_rows {
  static constexpr RowId none = std::numeric_limits<RowId>::max();  ///< no row

  const void* keys;  ///< what `put_keyed_values` wrote of each, ascending; null: there are no keys
  const void* probes;  ///< and of each probe
  bool wide;           ///< whether these numbers have 64 bits
  unsigned time_bits;  ///< of a time in them
  std::uint64_t size;  ///< how many rows
  const RowId* rows;   ///< the rows

  /// The row at a rank, if it has the key of probe `i`.
  RAYDEX_HD RowId row(std::uint64_t i, std::uint64_t rank) const {
    if (rank >= size) return none;
    if (keys == nullptr) return load(rows + rank);
    const std::uint64_t probe = number(probes, i);
    const std::uint64_t times = (std::uint64_t{1} << time_bits) - 1;
    if ((probe & times) == times) return none;  // no time has this number
    return number(keys, rank) >> time_bits == probe >> time_bits ? load(rows + rank) : none;
  }

  /// Has a core fetch what `row` will read.
  RAYDEX_HD void fetch(std::uint64_t rank) const {
    if (rank >= size) return;
    if (keys != nullptr) prefetch(static_cast<const std::byte*>(keys) + rank * (wide ? 8 : 4));
    prefetch(rows + rank);
  }

 private:
  RAYDEX_HD std::uint64_t number(const void* all, std::uint64_t i) const {
    return wide ? load(static_cast<const std::uint64_t*>(all) + i)
                : load(static_cast<const std::uint32_t*>(all) + i);
  }
};

/// By what the closer one of two build rows is known.
enum class closeness_rule : std::uint8_t {
  distance,  ///< a smaller distance from the probe; of equal ones the row of the first list
  later,     ///< a later time; of equal ones the row of the second list
  earlier    ///< an earlier time; of equal ones the row of the first list
};

/// Takes the closest rows of two lists for each probe, which are in the order of closeness, as long
/// as they are near enough: those before and those after it, or those of two parts of the build
/// side.
template <class RowId>
struct take_closest {
  static constexpr RowId none = std::numeric_limits<RowId>::max();  ///< no row

  /// A list for each probe.
  struct found {
    const RowId* rows = nullptr;           ///< `neighbours` rows, then none; null: see `ranks`
    const std::uint64_t* ranks = nullptr;  ///< how many build rows are before it; null: nothing
    bool before = false;  ///< whether the last ones of these are meant, or the next ones
    RowId first = 0;      ///< what is added to `rows`
  };

  time_cells probe_times;    ///< of the probes
  time_cells build_times;    ///< of the build rows
  timed_rows<RowId> build;   ///< what ranks are of
  found lists[2];            ///< those before come first
  closeness_rule rule;       ///< by what rows are compared
  std::uint64_t size;        ///< how many probes
  std::uint64_t neighbours;  ///< how many rows are taken for each
  tolerances near;           ///< how far they may be from the probe
  RowId* out;                ///< `neighbours` rows for each probe, none where there are fewer
  RowId* begins = nullptr;   ///< as of `located_probes`, whose list is `out`; null if not wanted
  RowId* counts = nullptr;   ///< likewise
  std::uint64_t begin = 0;   ///< where `out` is in that list

  /// Takes those of one.
  RAYDEX_HD void operator()(std::uint64_t i) const {
    std::uint64_t most = tolerances::any;
    const bool any = probe_times.values.valid(i) && near.find(i, probe_times, most);
    const RowId first = any ? row(i, lists[0], 0) : none;
    const RowId second = any ? row(i, lists[1], 0) : none;
    const RowId taken = closer(i, first, second, most);
    // Without a branch on what is taken, so that a core reads on for the next probes.
    out[i * neighbours] = taken;
    if (neighbours != 1) {
      take_others(i, first, second, most);
    } else if (counts != nullptr) {
      counts[i] = taken == none ? 0 : 1;
      begins[i] = taken;
    }
  }

 private:
  // Takes all but the first one.
  RAYDEX_HD void take_others(std::uint64_t i, RowId first, RowId second, std::uint64_t most) const {
    RowId* const own = out + i * neighbours;
    std::uint64_t count = 0;
    std::uint64_t of_first = 0;
    for (RowId taken = own[0]; taken != none;) {
      if (++count == neighbours) break;
      if (taken == first) {
        first = row(i, lists[0], ++of_first);
      } else {
        second = row(i, lists[1], count - of_first);
      }
      taken = closer(i, first, second, most);
      own[count] = taken;
    }
    for (std::uint64_t rest = count; rest < neighbours; ++rest)
      own[rest] = none;
    if (counts == nullptr) return;
    counts[i] = static_cast<RowId>(count);
    begins[i] = count == 1 ? own[0] : static_cast<RowId>(begin + i * neighbours);
  }

  // The closer one of two rows, if it is near enough.
  RAYDEX_HD RowId closer(std::uint64_t i, RowId first, RowId second, std::uint64_t most) const {
    if (most == tolerances::any && (first == none || second == none))
      return first == none ? second : first;
    if (rule != closeness_rule::distance) {
      const std::uint64_t a = build_times.code(first);
      const std::uint64_t b = build_times.code(second);
      return (rule == closeness_rule::later ? b >= a : b < a) ? second : first;
    }
    RowId taken = none;
    std::uint64_t nearest = 0;
    for (const RowId row : {first, second}) {
      if (row == none) continue;
      const std::uint64_t distance = probe_times.distance(i, build_times, row);
      if (distance > most || (taken != none && distance >= nearest)) continue;
      taken = row;
      nearest = distance;
    }
    return taken;
  }

  // The row at a place of a list.
  RAYDEX_HD RowId row(std::uint64_t i, const found& list, std::uint64_t place) const {
    if (list.rows != nullptr) {
      if (place == neighbours) return none;
      const RowId row = list.rows[i * neighbours + place];
      return row == none ? none : static_cast<RowId>(list.first + row);
    }
    if (list.ranks == nullptr) return none;
#if !defined(__CUDA_ARCH__)
    constexpr std::uint64_t ahead = 16;
    if (place == 0 && i + ahead < size) build.fetch(list.ranks[i + ahead] - (list.before ? 1 : 0));
#endif
    const std::uint64_t rank = list.ranks[i];
    // Before rank 0 there is none.
    if (list.before) return place < rank ? build.row(i, rank - 1 - place) : none;
    return build.row(i, rank + place);
  }
};

}  // namespace raydex::core
