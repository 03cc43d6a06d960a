// SPDX-License-Identifier: Apache-2.0
// The weights of Zipf's law, summed into a table.
#include "lab/workloads/zipf.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace raydex::bench {
namespace {

constexpr std::uint64_t exact_ranks = 1024;
constexpr std::uint64_t buckets_per_octave = 128;  // a bucket's width is its first rank over this

// The sum of 1 / (k + 1)^coefficient over ranks [first, end) as an integral, off by less than 1e-6
// of itself from rank 1024 on. expm1 keeps it precise for coefficients near 1.
double tail_weight(std::uint64_t first, std::uint64_t end, double coefficient) {
  const double from = static_cast<double>(first) + 0.5;
  const double to = static_cast<double>(end) + 0.5;
  const double power = 1 - coefficient;
  const double log_ratio = std::log(to / from);
  const double integral = power == 0 ? log_ratio : std::expm1(power * log_ratio) / power;
  return std::pow(from, power) * integral;
}

std::uint64_t to_fixed_point(double share) {
  constexpr double one = 18446744073709551616.0;  // 2^64
  return share >= 1 ? std::numeric_limits<std::uint64_t>::max()
                    : static_cast<std::uint64_t>(share * one);
}

}  // namespace

zipf_table make_zipf_table(std::uint64_t ranks, double coefficient) {
  zipf_table table;
  if (ranks == 0 || coefficient == 0) return table;
  std::vector<double> sums;
  double sum = 0;
  for (std::uint64_t rank = 0; rank < ranks;) {
    const bool exact = rank < exact_ranks;
    const std::uint64_t width = exact ? 1 : std::min(rank / buckets_per_octave, ranks - rank);
    sum += exact ? std::pow(static_cast<double>(rank + 1), -coefficient)
                 : tail_weight(rank, rank + width, coefficient);
    sums.push_back(sum);
    table.first.push_back(rank);
    rank += width;
  }
  table.first.push_back(ranks);
  for (const double partial : sums)
    table.cumulative.push_back(to_fixed_point(partial / sum));
  return table;
}

}  // namespace raydex::bench
