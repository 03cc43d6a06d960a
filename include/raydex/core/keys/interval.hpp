// SPDX-License-Identifier: Apache-2.0
/// @file
/// A range of keys.
#pragma once

#include "raydex/core/config.hpp"

namespace raydex::core {

/// All keys k with lower <= k <= upper.
template <class Key>
struct interval {
  Key lower;  ///< the smallest key
  Key upper;  ///< the largest key
  /// Whether it holds no key.
  RAYDEX_HD bool empty() const { return upper < lower; }
};

}  // namespace raydex::core
