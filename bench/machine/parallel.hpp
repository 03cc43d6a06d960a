// SPDX-License-Identifier: Apache-2.0
/// @file
/// The loop that all host code of the benchmarks runs in.
#pragma once

#include <tbb/blocked_range.h>
#include <tbb/parallel_for.h>

#include <cstdint>

namespace raydex::bench {

/// Calls `work(i)` for every i below `size`, on all cores.
template <class Work>
void parallel_for(std::uint64_t size, const Work& work) {
  constexpr std::uint64_t grain = 4096;  // far above the cost of a task
  tbb::parallel_for(tbb::blocked_range<std::uint64_t>(0, size, grain),
                    [&work](const tbb::blocked_range<std::uint64_t>& part) {
                      for (std::uint64_t i = part.begin(); i != part.end(); ++i)
                        work(i);
                    });
}

}  // namespace raydex::bench
