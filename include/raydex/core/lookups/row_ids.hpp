// SPDX-License-Identifier: Apache-2.0
/// @file
/// Row ids made into what a caller wants.
#pragma once

#include <cstdint>
#include <limits>

#include "raydex/core/config.hpp"

namespace raydex::core {

/// Writes row ids of 32 bits as ones of 64 bits.
struct widen_row_ids {
  const std::uint32_t* from;   ///< narrow
  const std::uint64_t* count;  ///< how many there are, if the caller does not know; or null
  std::uint64_t* to;           ///< wide
  /// Writes one.
  RAYDEX_HD void operator()(std::uint64_t i) const {
    if (count != nullptr && i >= *count) return;
    constexpr auto none = std::numeric_limits<std::uint32_t>::max();
    to[i] = from[i] == none ? std::numeric_limits<std::uint64_t>::max() : from[i];
  }
};

/// Writes whether there is a row.
template <class RowId>
struct put_found {
  const RowId* rows;  ///< the largest number of the type where there is none
  bool* out;          ///< a byte each
  /// Writes one.
  RAYDEX_HD void operator()(std::uint64_t i) const {
    out[i] = rows[i] != std::numeric_limits<RowId>::max();
  }
};

}  // namespace raydex::core
