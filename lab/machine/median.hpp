// SPDX-License-Identifier: Apache-2.0
/// @file
/// The one way in which the benchmarks summarise repeated measurements.
#pragma once

#include <algorithm>
#include <utility>
#include <vector>

namespace raydex::bench {

/// The median; the upper one of an even number of samples. Precondition: there is one.
inline double median(std::vector<double> samples) {
  const auto middle = samples.begin() + static_cast<std::ptrdiff_t>(samples.size() / 2);
  std::nth_element(samples.begin(), middle, samples.end());
  return *middle;
}

/// The median of `repetitions` calls of `measure`, after one call whose result is dropped: it warms
/// caches, memory pools and clocks up.
template <class Measure>
double median_of(int repetitions, Measure&& measure) {
  measure();
  std::vector<double> samples;
  for (int i = 0; i < repetitions; ++i)
    samples.push_back(measure());
  return median(std::move(samples));
}

/// The same of a call that may be short. `measure` returns milliseconds; it is measured on until
/// these are 10 in all, at most 101 times: a launch takes longer now and then, and five of them say
/// little.
template <class Measure>
double median_call_of(int repetitions, Measure&& measure) {
  measure();
  std::vector<double> samples;
  double sum = 0;
  for (int i = 0; i < repetitions || (sum < 10 && i < 101); ++i) {
    samples.push_back(measure());
    sum += samples.back();
  }
  return median(std::move(samples));
}

}  // namespace raydex::bench
