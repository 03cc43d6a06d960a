// SPDX-License-Identifier: Apache-2.0
// Minima and maxima by an algorithm that shares nothing with raydex: a sparse table over
// std::vector.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <numeric>
#include <optional>
#include <vector>

#include "raydex/rmq.hpp"
#include "tests/support/keys.hpp"

namespace raydex::test {

template <class T>
class rmq_oracle {
 public:
  rmq_oracle(const std::vector<T>& values, rmq_ties ties,
             rmq_extreme extreme = rmq_extreme::minimum)
      : values_(values), ties_(ties), extreme_(extreme) {
    std::vector<std::uint64_t> row(values.size());
    std::iota(row.begin(), row.end(), 0);
    while (!row.empty()) {
      rows_.push_back(row);
      const std::size_t step = std::size_t{1} << (rows_.size() - 1);
      if (row.size() <= step) break;
      for (std::size_t i = 0; i + step < row.size(); ++i)
        row[i] = better(row[i], row[i + step]);
      row.resize(row.size() - step);
    }
  }

  // The position of the minimum or maximum in [lower, upper], or nothing if there is none.
  std::optional<std::uint64_t> position(std::uint64_t lower, std::uint64_t upper) const {
    if (values_.empty()) return std::nullopt;
    upper = std::min<std::uint64_t>(upper, values_.size() - 1);
    if (lower > upper) return std::nullopt;
    const std::uint64_t size = upper - lower + 1;
    const auto k = static_cast<std::size_t>(std::bit_width(size)) - 1;
    return better(rows_[k][lower], rows_[k][upper + 1 - (std::uint64_t{1} << k)]);
  }

 private:
  std::uint64_t better(std::uint64_t a, std::uint64_t b) const {
    const bool largest = extreme_ == rmq_extreme::maximum;
    if (key_less{}(values_[a], values_[b])) return largest ? b : a;
    if (key_less{}(values_[b], values_[a])) return largest ? a : b;
    return ties_ == rmq_ties::leftmost ? std::min(a, b) : std::max(a, b);
  }

  const std::vector<T>& values_;
  rmq_ties ties_;
  rmq_extreme extreme_;
  std::vector<std::vector<std::uint64_t>> rows_;
};

}  // namespace raydex::test
