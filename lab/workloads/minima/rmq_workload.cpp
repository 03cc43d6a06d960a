// SPDX-License-Identifier: Apache-2.0
// From the axes of a workload on minima to its generating functions.
#include "lab/workloads/minima/rmq_workload.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "io/sizes.hpp"
#include "lab/workloads/keys/workload.hpp"
#include "lab/workloads/require.hpp"
#include "raydex/column.hpp"
#include "raydex/error.hpp"

namespace raydex::bench {
namespace {

// Encoded values of a type, and the one that ranks begin with where it leaves room. Of floats those
// from 0 on, since -0.0 is no value of its own.
struct code_range {
  std::uint64_t first;
  std::uint64_t usual;
  std::uint64_t last;
};

code_range codes_of(key_type type) {
  code_range found{};
  with_value(type, [&found](auto zero) {
    using value = decltype(zero);
    using limits = std::numeric_limits<value>;
    found = {.first = encode(limits::is_integer ? limits::lowest() : zero),
             .usual = encode(limits::is_integer ? zero : value{1}),
             .last = encode(limits::max())};
  });
  return found;
}

// How many values the array has at most that differ; 0 where they are drawn from all.
std::uint64_t different_values(const rmq_workload& spec) {
  switch (spec.shape) {
    case array_shape::random:
    case array_shape::file:
      return 0;
    case array_shape::sawtooth:
      return std::min(spec.period, spec.keys);
    case array_shape::constant:
      return 1;
    case array_shape::few:
      return 4;
    case array_shape::lcp:
      return 20;  // half of 38 bits, and none
    default:
      return spec.keys;
  }
}

// Where the standard normal distribution reaches a probability.
double normal_quantile(double probability) {
  double below = -8;
  double above = 8;
  for (int step = 0; step < 64; ++step) {
    const double middle = (below + above) / 2;
    (std::erfc(-middle / std::numbers::sqrt2) / 2 < probability ? below : above) = middle;
  }
  return above;
}

}  // namespace

std::vector<std::uint64_t> length_quantiles(range_kind kind, std::uint64_t n) {
  constexpr double outermost = 0x1p-16;
  constexpr double sigma = 0.3;
  const double mu = (kind == range_kind::medium ? 0.6 : 0.3) * std::log(static_cast<double>(n));
  constexpr int last = 1 << quantile_bits;
  std::vector<std::uint64_t> lengths;
  for (int i = 0; i <= last; ++i) {
    const double share = std::clamp(static_cast<double>(i) / last, outermost, 1 - outermost);
    const double length = std::exp(mu + sigma * normal_quantile(share));
    lengths.push_back(std::clamp<std::uint64_t>(static_cast<std::uint64_t>(length), 1, n));
  }
  return lengths;
}

void check(const rmq_workload& spec) {
  require(spec.value.type != key_type::bytes, "values {}: must be numbers",
          raydex::to_string(spec.value));
  require(spec.probes == 0 || spec.keys != 0, "{} ranges of an array without values: must be 0",
          spec.probes);
  require(spec.probes <= most_cells, "{} ranges: must be at most 2^48", spec.probes);
  require(spec.keys < std::uint64_t{1} << 38, "{} values: must be fewer than 2^38", spec.keys);
  require(spec.period != 0, "period 0: must be at least 1");
  require(spec.position_bits == 32 || spec.position_bits == 64,
          "position bits {}: must be 32 or 64", spec.position_bits);
  require(spec.position_bits != 32 || spec.keys <= std::uint64_t{1} << 32,
          "positions of 32 bits in {} values: must be at most 2^32, or positions of 64 bits",
          spec.keys);
  require(!spec.file || spec.keys <= spec.file->size, "{} values: {} has {}", spec.keys,
          spec.file ? spec.file->name : "", spec.file ? spec.file->size : 0);
  require(spec.changes <= spec.probes, "{} changes: must be at most as many as ranges, {}",
          spec.changes, spec.probes);
  const std::uint64_t different = different_values(spec);
  const auto [first, usual, last] = codes_of(spec.value.type);
  require(different == 0 || different - 1 <= last - first,
          "{} different values of {}: there are {}; use fewer, or a wider type", different,
          raydex::to_string(spec.value), last - first + 1);
}

int usual_position_bits(std::uint64_t keys) {
  return keys < std::uint64_t{1} << 31 ? 32 : 64;
}

value_set make_value_set(const rmq_workload& spec) {
  check(spec);
  value_set set;
  set.shape = spec.shape;
  set.n = spec.keys;
  set.period = spec.period;
  set.seed = spec.seed;
  const std::uint64_t different = different_values(spec);
  const auto [first, usual, last] = codes_of(spec.value.type);
  set.first_code = different == 0 ? first : std::min(usual, last - (different - 1));
  while (std::uint64_t{4} << (2 * set.lcp_levels) < spec.keys)
    ++set.lcp_levels;
  if (spec.keys != 0) {
    set.shuffle = bijection(spec.keys - 1, stream_key(spec.seed, stream::shuffle));
  }
  return set;
}

std::string describe(const rmq_workload& spec) {
  using io::size_text;
  std::string text =
      fmt::format("{} {} ranges on {} {} {}", size_text(spec.probes), to_string(spec.ranges),
                  size_text(spec.keys), spec.file ? spec.file->name : to_string(spec.shape),
                  raydex::to_string(spec.value));
  const rmq_workload usual;
  if (spec.shape == array_shape::sawtooth && spec.period != usual.period) {
    text += fmt::format(", period {}", spec.period);
  }
  if (spec.position_bits != usual_position_bits(spec.keys))
    text += fmt::format(", {}-bit positions", spec.position_bits);
  if (spec.changes != 0) text += fmt::format(", {} changes", size_text(spec.changes));
  return text;
}

}  // namespace raydex::bench
