// SPDX-License-Identifier: Apache-2.0
/// @file
/// The one way in which the benchmarks summarise repeated measurements.
#pragma once

#include <algorithm>
#include <vector>

namespace raydex::bench {

/// The median of `repetitions` calls of `measure`, after one call whose result is dropped: it warms
/// caches, memory pools and clocks up.
template <class Measure>
double median_of(int repetitions, Measure&& measure) {
  measure();
  std::vector<double> samples;
  for (int i = 0; i < repetitions; ++i)
    samples.push_back(measure());
  const auto middle = samples.begin() + static_cast<std::ptrdiff_t>(samples.size() / 2);
  std::nth_element(samples.begin(), middle, samples.end());
  return *middle;
}

}  // namespace raydex::bench
