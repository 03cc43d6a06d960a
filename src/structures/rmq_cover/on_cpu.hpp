// SPDX-License-Identifier: Apache-2.0
// What `rmq_cover` does on cpu.
#pragma once

#include <tbb/parallel_sort.h>

#include <algorithm>
#include <cstdint>

#include "src/machines/cpu/executor.hpp"
#include "src/structures/rmq_cover/rmq_cover.hpp"

namespace raydex::cpu {

struct rmq_cover_executor : executor {
  template <class Put>
  static void put_level(const context& on, const Put& put) {
    for_each(on, put, put.below.layout.padded_entries(put.level));
  }
  template <class Put>
  static void put_parts(const context& on, const Put& put) {
    for_each(on, put, put.levels.layout.padded_entries(put.level) / Put::block);
  }
  template <class Put>
  static void put_first_cover(const context& on, const Put& put) {
    for_each_in_groups(on, put, put.tiles());
  }

  // Calls f for each block once: the first of its places does.
  class changed_blocks {
   public:
    changed_blocks(const context& on, const changed_places& changed) : places_(on, changed.size) {
      std::uint64_t* const places = places_.data();
      executor::for_each(
          on, [&](std::uint64_t i) { places[i] = changed(i); }, changed.size);
      tbb::parallel_sort(places, places + changed.size);
      in_array_ = static_cast<std::uint64_t>(
          std::lower_bound(places, places + changed.size, changed_places::none) - places);
    }

    template <class Function>
    void for_each(const context& on, unsigned shift, const Function& f) const {
      const std::uint64_t* const places = places_.data();
      executor::for_each(
          on,
          [&](std::uint64_t i) {
            const std::uint64_t block = places[i] >> shift;
            if (i == 0 || places[i - 1] >> shift != block) f(block);
          },
          in_array_);
    }

   private:
    buffer<std::uint64_t> places_;  // in order
    std::uint64_t in_array_;        // of them
  };
};

}  // namespace raydex::cpu
