// SPDX-License-Identifier: Apache-2.0
// The plan of an `rmq_cover`'s memory, by which it is built and its bytes are said before.
#pragma once

#include <cstdint>

#include "raydex/core/minima/rmq_cover.hpp"
#include "raydex/rmq_cover.hpp"

namespace raydex {

// The layouts of an array, as its size and the memory it may take have them.
template <class Value, class Place>
struct rmq_cover_plan {
  core::level_layout levels;
  core::cover_layout<Place> tables;

  rmq_cover_plan(std::uint64_t places, rmq_memory memory) {
    // Blocks are short, so that few values are read, but the longer the more of them there are: so
    // level 1 stays in a GPU's L2 cache.
    const bool is_small = memory == rmq_memory::small;
    const std::uint64_t bytes = places * sizeof(Value);
    const unsigned shift = is_small ? 6 : bytes <= (std::uint64_t{1} << 28) ? 4 : 5;
    const std::uint64_t all = bytes / (is_small ? 25 : 4);
    levels = core::level_layout::over(places, shift);
    const std::uint64_t used = bytes_of_levels();
    // The more tables, the fewer searches.
    for (unsigned least = shift + core::cover_layout<Place>::overlap;; ++least) {
      tables = core::cover_layout<Place>::over(places, least, shift);
      if (least > tables.most) break;
      if (used + tables.size * sizeof(core::cover_entry<Value, Place>) <= all) break;
    }
  }

  // What all of it takes.
  std::uint64_t bytes() const {
    return bytes_of_levels() + tables.size * sizeof(core::cover_entry<Value, Place>);
  }

 private:
  std::uint64_t bytes_of_levels() const {
    return levels.first_entries() * (sizeof(Value) + 3) +
           levels.later_entries() * (sizeof(Value) + sizeof(Place) + sizeof(std::uint32_t) +
                                     2 * sizeof(core::end_entry<Value>));
  }
};

}  // namespace raydex
