// SPDX-License-Identifier: Apache-2.0
/// @file
/// The ranges of a workload on minima as a function: number to positions.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "lab/workloads/random.hpp"
#include "raydex/core/config.hpp"

namespace raydex::bench {

/// How long ranges are, of an array of n values (GPU-RMQ paper, section 5.1).
enum class range_kind : std::uint8_t {
  large,   ///< uniform in [1, n]
  medium,  ///< log-normal around n^0.6, sigma 0.3
  small,   ///< log-normal around n^0.3, sigma 0.3
  mixed    ///< a third of each
};
constexpr auto names_of(range_kind) {
  return std::array{"large", "medium", "small", "mixed"};
}

/// Lengths, ascending: the probability that a range is shorter rises evenly from one to the next.
/// They are computed once on the host and interpolated with integers, so that host and device
/// agree.
inline constexpr int quantile_bits = 12;

/// The quantiles of the log-normal lengths of a kind, 2^quantile_bits + 1 of them; the outermost
/// are those of 2^-16. Precondition: the kind is `medium` or `small`.
std::vector<std::uint64_t> length_quantiles(range_kind kind, std::uint64_t n);

/// Trivially copyable; kernels take it by value.
struct range_set {
  range_kind kind = range_kind::mixed;
  std::uint64_t n = 0;                    ///< values of the array
  std::uint64_t seed = 0;                 ///< of what is drawn
  const std::uint64_t* medium = nullptr;  ///< quantiles of medium lengths
  const std::uint64_t* small = nullptr;   ///< quantiles of small lengths

  /// How many values range j has: 1 to n.
  RAYDEX_HD std::uint64_t length(std::uint64_t j) const {
    const std::uint64_t drawn = random(seed, stream::length, j);
    const range_kind own = kind == range_kind::mixed
                               ? static_cast<range_kind>(scale(random(seed, stream::kind, j), 3))
                               : kind;
    if (own == range_kind::large) return 1 + scale(drawn, n);
    const std::uint64_t* below =
        (own == range_kind::medium ? medium : small) + (drawn >> (64 - quantile_bits));
    return below[0] + scale(drawn << quantile_bits, below[1] - below[0]);
  }

  /// The first position of range j, which has so many values: any at which it fits.
  RAYDEX_HD std::uint64_t lower(std::uint64_t j, std::uint64_t length) const {
    return scale(random(seed, stream::which, j), n - length + 1);
  }
};

/// Writes the ends of a range, one after the other.
template <class Position>
struct write_range {
  range_set ranges;
  Position* out;
  RAYDEX_HD void operator()(std::uint64_t j) const {
    const std::uint64_t length = ranges.length(j);
    const std::uint64_t lower = ranges.lower(j, length);
    out[2 * j] = static_cast<Position>(lower);
    out[2 * j + 1] = static_cast<Position>(lower + length - 1);
  }
};

}  // namespace raydex::bench
