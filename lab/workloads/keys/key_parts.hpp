// SPDX-License-Identifier: Apache-2.0
/// @file
/// Distributions of keys as slices of the value range with a share of the keys each. The shares
/// become whole numbers once, on the host, so that host and device agree on every key.
#pragma once

#include <cstdint>
#include <vector>

#include "lab/workloads/keys/key_set.hpp"

namespace raydex::bench {

/// The values from `first` up to the next slice.
struct value_slice {
  std::uint64_t first;  ///< its smallest value
  double weight;        ///< its share of the keys, in any unit
};

/// 90 % of the keys in the lowest 1 % of [0, last], or where they fill half of more, in that; the
/// others above.
std::vector<value_slice> skewed_slices(std::uint64_t keys, std::uint64_t last);

/// Logarithms of values spread by the normal law, with sigma 1 and 3 sigma below log(last).
std::vector<value_slice> lognormal_slices(std::uint64_t last);

/// As many slices as fit, each twice as wide as the one before and with as many keys, the first
/// filled by half; the last one goes on to `last`.
std::vector<value_slice> step_slices(std::uint64_t keys, std::uint64_t last);

/// Gives each slice its share of the set's indices, and what would fill more than half of its
/// values to the next one. Precondition: there are at most a quarter as many keys as values, and
/// the first slice begins at 0.
std::vector<key_part> fill_parts(const std::vector<value_slice>& slices, const key_set& set,
                                 std::uint64_t seed);

}  // namespace raydex::bench
