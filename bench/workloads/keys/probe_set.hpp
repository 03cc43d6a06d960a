// SPDX-License-Identifier: Apache-2.0
/// @file
/// The probes of a workload as a function: number to key. What they must be answered with, the key
/// set says.
#pragma once

#include <cstdint>

#include "bench/workloads/keys/key_set.hpp"
#include "bench/workloads/zipf.hpp"
#include "raydex/core/config.hpp"

namespace raydex::bench {

/// Trivially copyable; kernels take it by value. Made by `make_probe_set`.
struct probe_set {
  key_set keys;
  std::uint64_t seed = 0;
  std::uint64_t starts = 0;         ///< indices that a point or a range may start at
  std::uint64_t span = 0;           ///< a range's upper key less its lower one; 0 for points
  std::uint64_t hits_in_2_32 = 0;   ///< hits in 2^32 probes
  bool misses_inside = true;        ///< misses within the keys' value range, or outside
  std::uint64_t outside_first = 0;  ///< the smallest key outside the value range
  std::uint64_t outside_last = 0;   ///< the largest one
  zipf_view zipf;                   ///< skew of the popularity of hits
  bijection popularity;             ///< scatters the popular ranks over the keys

  /// The point, or lower key, of probe j.
  RAYDEX_HD std::uint64_t lower(std::uint64_t j) const {
    const std::uint64_t which = random(seed, stream::which, j);
    if ((random(seed, stream::hit, j) >> 32) < hits_in_2_32) {
      if (zipf.buckets == 0) return keys.key(scale(which, starts));
      return keys.key(popularity(zipf.rank(which, random(seed, stream::within, j))));
    }
    if (!misses_inside) return outside_first + scale_to(which, outside_last - outside_first);
    const std::uint64_t within = random(seed, stream::within, j);
    if (keys.stride > 1) {  // between a key and the next multiple of the stride
      return keys.key(scale(which, keys.distinct)) + 1 + scale(within, keys.stride - 1);
    }
    return keys.absent(which, within);
  }
};

}  // namespace raydex::bench
