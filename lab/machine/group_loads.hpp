// SPDX-License-Identifier: Apache-2.0
/// @file
/// The micro-benchmark of coalesced loads: figure 7 of the lightweight paper, figure 4 of GPU-RMQ.
#pragma once

#include <cstdint>

#include "lab/workloads/random.hpp"
#include "raydex/memory.hpp"

namespace raydex::bench {

/// What the threads of a group load in a step.
enum class group_reads : std::uint8_t {
  neighbours,  ///< the values from a random place on, one each
  one,         ///< all of them the value at a random place
};

/// Groups of neighbouring threads that load from an array. The number of loads is that of threads
/// and steps, whatever the groups are.
struct group_loads {
  std::uint32_t threads;     ///< in all
  std::uint32_t steps;       ///< loads of each thread
  std::uint32_t array_bits;  ///< the array has 2^array_bits values, which fit 32 bits
  std::uint32_t group_bits;  ///< a group has 2^group_bits threads
  group_reads reads;

  /// Where a thread loads from in a step. Neighbours of the last values are the first.
  RAYDEX_HD std::uint32_t place(std::uint32_t thread, std::uint32_t step) const {
    const std::uint32_t group = thread >> group_bits;
    const std::uint32_t own = thread - (group << group_bits);
    const std::uint32_t first = mix(group * steps + step);
    const std::uint64_t values = std::uint64_t{1} << array_bits;
    return static_cast<std::uint32_t>((first + (reads == group_reads::neighbours ? own : 0)) &
                                      (values - 1));
  }
};

/// Writes for each thread the sum of what it loads, on the context's stream.
void load_in_groups(const context& on, const group_loads& loads, const std::uint32_t* values,
                    std::uint32_t* sums);

}  // namespace raydex::bench
