// SPDX-License-Identifier: Apache-2.0
/// @file
/// How fast structures were, as measured: what `advise` decides by.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "raydex/capability.hpp"
#include "raydex/export.hpp"
#include "raydex/index.hpp"

namespace raydex {

/// One measurement: a structure, a workload, and its speed.
struct measured_speed {
  std::string structure = {};    ///< the structure's name
  option_map options = {};       ///< its options, beside the defaults
  backend where = backend::cpu;  ///< the backend
  std::string device = {};       ///< the device that it was measured on
  int key_bits = 32;             ///< bits of an encoded key, 32 or 64
  std::uint64_t n = 0;           ///< rows of the column
  std::uint64_t range_hits = 0;  ///< rows that a range matches; 0: the probes are points
  bool sorted_probes = false;    ///< whether the probes ascend
  double lookups_per_s = 0;      ///< probes answered per second: `first` of points, `sum` of ranges
  double bytes_per_key = 0;      ///< resident bytes per row, with 32-bit row ids
};

/// Measurements on one device per backend. Structures are compared fairly if all were measured at
/// the same sizes: between two sizes the time of a lookup is interpolated over log2 n, outside of
/// them the nearest size counts.
class RAYDEX_EXPORT speed_table {
 public:
  /// The measurements that come with raydex, from docs/results.
  static const speed_table& built_in();

  /// Adds a measurement. Throws `invalid_argument` for one that cannot be: no name, an `n`, a speed
  /// or a size that is not positive, a key of neither 32 nor 64 bits, or a second device for its
  /// backend.
  void add(measured_speed row);

  /// All measurements, in the order in which they were added.
  const std::vector<measured_speed>& rows() const noexcept { return rows_; }

 private:
  std::vector<measured_speed> rows_;
};

}  // namespace raydex
