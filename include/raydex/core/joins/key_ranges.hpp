// SPDX-License-Identifier: Apache-2.0
/// @file
/// Ranges of keys about a probe, as codes.
#pragma once

#include <bit>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "raydex/core/config.hpp"
#include "raydex/core/keys/column.hpp"
#include "raydex/core/keys/key.hpp"
#include "raydex/core/lookups/search.hpp"

namespace raydex::core {

/// No key is in it.
template <class Key>
RAYDEX_HD constexpr interval<Key> empty_range() {
  return {1, 0};
}

/// Makes of each probe the range of keys that are at most a distance before or after it: those
/// whose difference from it, as their type rounds it, is not more.
template <class Key>
struct band_about {
  using floating = std::conditional_t<sizeof(Key) == 8, double, float>;  ///< of as many bits

  Key before;            ///< of integers
  Key after;             ///< and to the other side
  floating real_before;  ///< of floating keys
  floating real_after;   ///< and to the other side
  bool is_floating;      ///< which of them

  /// The range of a probe.
  RAYDEX_HD interval<Key> operator()(Key code) const {
    constexpr Key most = std::numeric_limits<Key>::max();
    if (!is_floating) {
      return {code < before ? Key{0} : static_cast<Key>(code - before),
              code > most - after ? most : static_cast<Key>(code + after)};
    }
    if (code == most) return empty_range<Key>();  // NaN
    const auto at = decode<floating>(code);
    return {encode(-decode<floating>(last_near(-at, real_before))), last_near(at, real_after)};
  }

 private:
  /// The last code whose key is near a probe. What is near depends on how the difference is
  /// rounded: it is one of the codes about the sum of probe and distance, or, where these nearly
  /// cancel out, many away from it.
  RAYDEX_HD static Key last_near(floating at, floating real) {
    const Key end = encode(std::numeric_limits<floating>::infinity());
    Key near = encode(at);
    Key far = static_cast<Key>(end + 1);
    Key tried = encode(at + real);  // NaN of infinities
    if (tried > end) tried = end;
    for (Key step = 1; far - near > 1;) {
      const auto key = decode<floating>(tried);
      if (key == at || key - at <= real) {
        near = tried;
      } else {
        far = tried;
      }
      const Key half = static_cast<Key>((far - near) / 2);
      const Key next = step < half ? step : half;
      if (step < half) step = static_cast<Key>(step * 2);
      tried = static_cast<Key>(near == tried ? near + next : far - next);
    }
    return near;
  }
};

/// Makes of numbers that have a key above an integer the range of those of their key that are near.
template <class Key>
struct near_number {
  Key mask;    ///< the bits of an integer
  Key before;  ///< the largest distance to one side
  Key after;   ///< and to the other one

  /// The range of a number.
  RAYDEX_HD interval<Key> operator()(Key number) const {
    const Key low = number & mask;
    const Key key = number - low;
    return {low < before ? key : static_cast<Key>(number - before),
            mask - low < after ? static_cast<Key>(key | mask) : static_cast<Key>(number + after)};
  }
};

/// Writes where the numbers near each of some ascending numbers begin, and how many they are: none
/// if both ends are left out and equal. Reads 4 log2 as many, which neighbours read, too.
template <class Number>
struct put_own_windows {
  const Number* numbers;     ///< they ascend
  std::uint64_t size;        ///< how many, less than 2^32
  near_number<Number> near;  ///< what is near
  bool past_lower;           ///< whether numbers that equal the lower end are left out
  bool past_upper;           ///< whether those that equal the upper end are not
  std::uint32_t* begins;     ///< of each number
  std::uint32_t* counts;     ///< likewise

  /// Writes those of one.
  RAYDEX_HD void operator()(std::uint64_t i) const {
    const interval<Number> window = near(load(numbers + i));
    const std::uint64_t begin = rank_of(i, window.lower, past_lower);
    const std::uint64_t end = rank_of(i, window.upper, past_upper);
    begins[i] = static_cast<std::uint32_t>(begin);
    counts[i] = end < begin ? 0 : static_cast<std::uint32_t>(end - begin);
  }

 private:
  // How many numbers are less, or with `past` not greater; `i` is near.
  RAYDEX_HD std::uint64_t rank_of(std::uint64_t i, Number number, bool past) const {
    if (past && number == std::numeric_limits<Number>::max()) return size;
    const auto at = [&](std::uint64_t rank) { return load(numbers + rank); };
    return lower_bound_near(at, size, i, std::uint64_t{1},
                            static_cast<Number>(number + (past ? 1 : 0)));
  }
};

/// Which keys compare so with a probe.
enum class side_of_probe : std::uint8_t {
  below,      ///< less
  not_above,  ///< less or equal
  above,      ///< greater
  not_below   ///< greater or equal
};

/// Makes of each probe the range of keys on one side of it.
template <class Key>
struct side_range {
  side_of_probe side;  ///< which one
  /// The range of a probe.
  RAYDEX_HD interval<Key> operator()(Key code) const {
    constexpr Key most = std::numeric_limits<Key>::max();
    switch (side) {
      case side_of_probe::below:
        return code == 0 ? empty_range<Key>() : interval<Key>{0, static_cast<Key>(code - 1)};
      case side_of_probe::not_above:
        return {0, code};
      case side_of_probe::above:
        return code == most ? empty_range<Key>() : interval<Key>{static_cast<Key>(code + 1), most};
      case side_of_probe::not_below:
        return {code, most};
    }
    return empty_range<Key>();
  }
};

/// Writes the ranges of probes.
template <class Key, class Range>
struct put_ranges {
  encoded_column<Key> probes;  ///< the probes
  Range range;                 ///< makes a range of one
  Key* lower;                  ///< the lower ends
  Key* upper;                  ///< the upper ends
  /// Writes one.
  RAYDEX_HD void operator()(std::uint64_t i) const {
    const interval<Key> made = range(probes[i]);
    lower[i] = made.lower;
    upper[i] = made.upper;
  }
};

}  // namespace raydex::core
