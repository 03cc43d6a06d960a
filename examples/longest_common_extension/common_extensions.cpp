// SPDX-License-Identifier: Apache-2.0
// How far a text reads the same from two of its positions.
#include "examples/longest_common_extension/common_extensions.hpp"

#include <algorithm>
#include <chrono>

namespace raydex::examples {

namespace {

// Milliseconds that the work takes, including what it queues on the session's stream.
template <class Work>
double milliseconds(const session& on, Work&& work) {
  const auto begin = std::chrono::steady_clock::now();
  work();
  on.synchronize();
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin)
      .count();
}

}  // namespace

common_extensions::common_extensions(const session& on, const sorted_suffixes& suffixes,
                                     const std::string& structure)
    : on_(on), suffixes_(suffixes), common_(on.upload(suffixes.common)) {
  build_ms_ =
      milliseconds(on, [&] { minima_ = build_rmq(structure, on.where(), on, column(common_)); });
}

std::vector<std::uint32_t> common_extensions::lengths(std::span<const position_pair> pairs) {
  const auto end = static_cast<std::uint32_t>(suffixes_.ranks.size());
  std::vector<std::uint32_t> lower(pairs.size());
  std::vector<std::uint32_t> upper(pairs.size());
  const auto is_range = [&](const position_pair& pair) {
    return pair.a != pair.b && pair.a < end && pair.b < end;
  };
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    lower[i] = 1;  // to 0: an empty range
    if (!is_range(pairs[i])) continue;
    const auto [first, last] =
        std::minmax(suffixes_.ranks[pairs[i].a], suffixes_.ranks[pairs[i].b]);
    lower[i] = first + 1;
    upper[i] = last;
  }

  const auto lower_ends = on_.upload(lower);
  const auto upper_ends = on_.upload(upper);
  buffer<std::uint32_t> minima(on_, pairs.size());
  query_ms_ += milliseconds(on_, [&] {
    minima_->minimum(on_, ranges(column(lower_ends), column(upper_ends)), value_span(minima));
  });

  std::vector<std::uint32_t> lengths = on_.download(minima);
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    if (!is_range(pairs[i])) lengths[i] = end - std::max(pairs[i].a, pairs[i].b);
  }
  return lengths;
}

std::vector<std::uint32_t> common_extensions::lengths(std::span<const position_pair> pairs,
                                                      unsigned mismatches) {
  const auto end = static_cast<std::uint32_t>(suffixes_.ranks.size());
  std::vector<std::uint32_t> total = lengths(pairs);
  std::vector<position_pair> rest(pairs.size());
  for (unsigned jump = 0; jump < mismatches; ++jump) {
    // A position that has reached the end of the text stays there.
    const auto beyond = [&](std::size_t i) {
      const std::uint32_t left = end - std::max(pairs[i].a, pairs[i].b);
      return std::min(total[i] + 1, left);
    };
    for (std::size_t i = 0; i < pairs.size(); ++i)
      rest[i] = {pairs[i].a + beyond(i), pairs[i].b + beyond(i)};
    const std::vector<std::uint32_t> more = lengths(rest);
    for (std::size_t i = 0; i < pairs.size(); ++i)
      total[i] = beyond(i) + more[i];
  }
  return total;
}

}  // namespace raydex::examples
