// SPDX-License-Identifier: Apache-2.0
/// @file
/// The loops that all host code of the benchmarks runs in.
#pragma once

#include <tbb/blocked_range.h>
#include <tbb/parallel_for.h>
#include <tbb/parallel_reduce.h>

#include <cstdint>
#include <functional>

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

/// The sum of `number(i)` for every i below `size`, on all cores.
template <class Number>
std::uint64_t parallel_sum(std::uint64_t size, const Number& number) {
  using range = tbb::blocked_range<std::uint64_t>;
  return tbb::parallel_reduce(
      range(0, size), std::uint64_t{0},
      [&](const range& part, std::uint64_t sum) {
        for (std::uint64_t i = part.begin(); i != part.end(); ++i)
          sum += number(i);
        return sum;
      },
      std::plus<>());
}

/// Of how many i below `size` `holds(i)` is true, on all cores.
template <class Holds>
std::uint64_t parallel_count(std::uint64_t size, const Holds& holds) {
  return parallel_sum(size, [&](std::uint64_t i) { return std::uint64_t{holds(i)}; });
}

}  // namespace raydex::bench
