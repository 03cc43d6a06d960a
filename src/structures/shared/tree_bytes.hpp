// SPDX-License-Identifier: Apache-2.0
// Bytes of the pivots above leaves or pages.
#pragma once

#include <algorithm>
#include <cstdint>

#include "raydex/core/lookups/tree_nodes.hpp"

namespace raydex {

// Children of a root on `cpu`, see `most_roots_of`. A GPU's root may be larger by some 200 KB, and
// has fewer pivots below it.
template <class Key>
inline constexpr std::uint64_t most_roots = 1 + (std::uint64_t{1} << 15) * 2 / 3 / sizeof(Key);

// Levels of pivots, and their root.
template <class Key>
std::uint64_t bytes_of(const core::pivot_levels& levels) {
  return levels.size() * sizeof(Key) +
         core::root_node<Key>::bytes(static_cast<std::uint32_t>(levels.roots() - 1));
}

}  // namespace raydex
