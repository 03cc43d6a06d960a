// SPDX-License-Identifier: Apache-2.0
// Runs what structures for minima need on this machine's cores.
#pragma once

#include <tbb/blocked_range.h>
#include <tbb/parallel_for.h>

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "raydex/memory.hpp"
#include "src/minima/built_rmq.hpp"

namespace raydex::cpu {

struct rmq_executor {
  // A level with fewer entries for a changed value is written anew: measured on two cores with 2^20
  // and 2^24 values, chunks of 16 and 64, floats and doubles.
  static constexpr std::uint64_t entries_per_change = 4;

  template <class Function>
  static void for_each(const context& /*where*/, const Function& f, std::uint64_t size) {
    tbb::parallel_for(tbb::blocked_range<std::uint64_t>(0, size, 256), [&](const auto& range) {
      for (std::uint64_t i = range.begin(); i < range.end(); ++i)
        f(i);
    });
  }

  template <class View>
  static void minimum(const context& where, const View& view, const core::range_source& ranges,
                      typename View::value_type* out, std::uint64_t size) {
    for_each(where, range_minimum<View>{view, ranges, out}, size);
  }
  template <class View>
  static void position(const context& where, const View& view, const core::range_source& ranges,
                       std::uint64_t* out, std::uint64_t size) {
    for_each(where, range_position<View>{view, ranges, out}, size);
  }

  // Writes a level of block minima, by a functor that writes an entry.
  template <class Put>
  static void put_level(const context& where, const Put& put) {
    for_each(where, put, put.below.layout.padded_entries(put.level));
  }

  // Writes what the entries of a level tell of those beside them, by a functor that does it for a
  // block.
  template <class Put>
  static void put_parts(const context& where, const Put& put) {
    for_each(where, put, put.levels.layout.padded_entries(put.level) / Put::block);
  }

  // Writes the first table of covers, by a functor that writes an entry.
  template <class Put>
  static void put_first_cover(const context& where, const Put& put) {
    for_each(where, put, put.distances());
  }

  static void set(const context& /*where*/, std::uint64_t* number, std::uint64_t value) {
    *number = value;
  }
  static std::uint64_t read(const context& /*where*/, const std::uint64_t* number) {
    return *number;
  }
  static void copy_out(const context& /*where*/, void* to, const void* from, std::size_t bytes) {
    std::memcpy(to, from, bytes);
  }
};

}  // namespace raydex::cpu
