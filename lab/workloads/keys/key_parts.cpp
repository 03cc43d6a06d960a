// SPDX-License-Identifier: Apache-2.0
// Shares of keys, from densities to whole numbers.
#include "lab/workloads/keys/key_parts.hpp"

#include <algorithm>
#include <cmath>

namespace raydex::bench {

std::vector<value_slice> skewed_slices(std::uint64_t keys, std::uint64_t last) {
  const std::uint64_t rest = keys / 10;
  const std::uint64_t end = std::max(last / 100, 2 * (keys - rest));
  return {{0, static_cast<double>(keys - rest)}, {end, static_cast<double>(rest)}};
}

std::vector<value_slice> lognormal_slices(std::uint64_t last) {
  constexpr double lowest = -5;  // in sigmas; what lies below is in the first slice
  constexpr double highest = 3;
  constexpr int per_sigma = 32;
  constexpr std::uint64_t narrowest = 64;  // shares of fewer values would be coarse
  const auto below = [](double sigmas) { return std::erfc(-sigmas / std::sqrt(2.0)) / 2; };

  std::vector<value_slice> all;
  double begun = 0;
  std::uint64_t first = 0;
  for (int i = 1; i < static_cast<int>(highest - lowest) * per_sigma; ++i) {
    const double sigmas = lowest + static_cast<double>(i) / per_sigma;
    const auto end =
        static_cast<std::uint64_t>(static_cast<double>(last) * std::exp(sigmas - highest));
    if (end - first < narrowest || last - end < narrowest) continue;
    all.push_back({first, below(sigmas) - begun});
    begun = below(sigmas);
    first = end;
  }
  all.push_back({first, below(highest) - begun});
  return all;
}

std::vector<value_slice> step_slices(std::uint64_t keys, std::uint64_t last) {
  const auto width = [keys](int steps) {  // of the first
    const auto count = static_cast<std::uint64_t>(steps);
    return 2 * ((keys + count - 1) / count);
  };
  int steps = 1;
  while (steps < 62 && width(steps + 1) <= last / ((std::uint64_t{2} << steps) - 1))
    ++steps;
  std::vector<value_slice> all;
  for (int i = 0; i < steps; ++i) {
    all.push_back({width(steps) * ((std::uint64_t{1} << i) - 1), 1});
  }
  return all;
}

std::vector<key_part> fill_parts(const std::vector<value_slice>& slices, const key_set& set,
                                 std::uint64_t seed) {
  double whole = 0;
  for (const value_slice& slice : slices)
    whole += slice.weight;
  std::vector<key_part> parts;
  double weight = 0;
  std::uint64_t wanted = 0;  // by the slices so far
  std::uint64_t taken = 0;   // to them
  const auto room = [](const key_part& part) { return part.last / 2 + part.last % 2; };
  for (std::size_t i = 0; i < slices.size(); ++i) {
    const bool is_last = i + 1 == slices.size();
    weight += slices[i].weight;
    const auto share = static_cast<double>(set.distinct) * (weight / whole);
    wanted =
        is_last ? set.distinct
                : std::clamp(static_cast<std::uint64_t>(std::llround(share)), wanted, set.distinct);
    key_part part;
    part.first_value = slices[i].first;
    part.last = (is_last ? set.last_value : slices[i + 1].first - 1) - part.first_value;
    part.keys = std::min(wanted - taken, room(part));
    part.draw = bijection(part.last, random(seed, stream::values, i));
    taken += part.keys;
    parts.push_back(part);
  }
  // What found no room above goes below.
  for (auto part = parts.rbegin(); part != parts.rend() && taken != set.distinct; ++part) {
    const std::uint64_t more = std::min(set.distinct - taken, room(*part) - part->keys);
    part->keys += more;
    taken += more;
  }
  std::uint64_t index = 0;
  for (key_part& part : parts) {
    part.first_index = index;
    index += part.keys;
  }
  return parts;
}

}  // namespace raydex::bench
