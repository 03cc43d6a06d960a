// SPDX-License-Identifier: Apache-2.0
// The levels of a tree of groups, for its build and for the estimate of its bytes.
#pragma once

#include <cstdint>

#include "raydex/core/lookups/tree_nodes.hpp"
#include "raydex/pivot_tree.hpp"

namespace raydex {

inline core::pivot_levels group_levels(std::uint64_t size, const pivot_tree_options& options) {
  if (size == 0) return {};
  const unsigned most = options.levels.value_or(core::pivot_levels::most);
  // Without the lowest levels a leaf holds what their nodes would have divided.
  std::uint64_t leaf = options.k - 1;
  core::pivot_levels levels{size, leaf, options.k, 1};
  while (levels.count() > most) {
    leaf *= options.k;
    levels = {size, leaf, options.k, 1};
  }
  return levels;
}

}  // namespace raydex
