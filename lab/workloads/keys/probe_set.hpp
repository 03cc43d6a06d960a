// SPDX-License-Identifier: Apache-2.0
/// @file
/// The probes of a workload as a function: number to key. What they must be answered with, the key
/// set says.
#pragma once

#include <cstdint>

#include "lab/workloads/keys/key_set.hpp"
#include "lab/workloads/zipf.hpp"
#include "raydex/core/config.hpp"

namespace raydex::bench {

/// Trivially copyable; kernels take it by value. Made by `make_probe_set`.
struct probe_set {
  key_set keys;
  std::uint64_t seed = 0;
  std::uint64_t taken = 1;          ///< different keys in a probe, where all have as many
  std::uint64_t longest = 0;        ///< else of the r-th longest r times as many; 0: even lengths
  bijection rank;                   ///< of a probe among these, from 0
  std::uint64_t chosen = none;      ///< the probe that has `giant` keys, or the heavy one
  std::uint64_t giant = 0;          ///< its keys; 0: as many as the others have
  std::uint64_t hits_in_2_32 = 0;   ///< hits in 2^32 probes
  bool misses_inside = true;        ///< misses within the keys' value range, or outside
  std::uint64_t outside_first = 0;  ///< the smallest key outside the value range
  std::uint64_t outside_last = 0;   ///< the largest one
  zipf_view zipf;                   ///< skew of the popularity of hits
  bijection popularity;             ///< scatters the popular ranks over the keys

  /// How many different keys lie in probe j, if it hits.
  RAYDEX_HD std::uint64_t keys_of(std::uint64_t j) const {
    if (giant != 0 && j == chosen) return giant;
    return longest == 0 ? taken : cut(longest / (rank(j) + 1));
  }

  /// A length that is at least one key and at most all.
  RAYDEX_HD std::uint64_t cut(std::uint64_t length) const {
    if (length == 0) return 1;
    return length < keys.distinct ? length : keys.distinct;
  }

  /// The upper key of probe j less its lower one; 0 for points.
  RAYDEX_HD std::uint64_t span(std::uint64_t j) const { return (keys_of(j) - 1) * keys.stride; }

  /// The point, or lower key, of probe j.
  RAYDEX_HD std::uint64_t lower(std::uint64_t j) const {
    const std::uint64_t which = random(seed, stream::which, j);
    if (j == chosen || (random(seed, stream::hit, j) >> 32) < hits_in_2_32) {
      const std::uint64_t last = keys.distinct - keys_of(j);  // enough keys follow
      std::uint64_t index = 0;
      if (keys.heavy != 0 && j == chosen) {
        index = keys.heavy_index;
      } else if (zipf.buckets == 0) {
        index = scale(which, last + 1);
      } else {
        index = popularity(zipf.rank(which, random(seed, stream::within, j)));
      }
      return keys.key(index < last ? index : last);
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
