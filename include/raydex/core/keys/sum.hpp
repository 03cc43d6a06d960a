// SPDX-License-Identifier: Apache-2.0
/// @file
/// Accumulators for `sum`.
#pragma once

#include <cstdint>

#include "raydex/core/config.hpp"
#include "raydex/core/keys/column.hpp"

namespace raydex::core {

/// Adds integers modulo 2^64, signed ones in two's complement; without values, the row ids.
class integer_sum {
 public:
  using result = std::uint64_t;  ///< what `get` returns
  /// Adds a row's value, if it has one.
  RAYDEX_HD void add(const value_column& values, std::uint64_t row) {
    if (values.data == nullptr) {
      total_ += row;
    } else if (values.valid(row)) {
      total_ += values.integer(row);
    }
  }
  /// Takes over the sum of other rows.
  RAYDEX_HD void merge(const integer_sum& other) { total_ += other.total_; }
  /// The sum.
  RAYDEX_HD result get() const { return total_; }

 private:
  std::uint64_t total_ = 0;
};

/// The rounded sum of a and b; what was rounded off goes to `rest` (Knuth's TwoSum).
RAYDEX_HD inline double two_sum(double a, double b, double& rest) {
  const double sum = a + b;
  const double b_seen = sum - a;
  rest = (a - (sum - b_seen)) + (b - b_seen);
  return sum;
}

/// A sum of finite numbers in two doubles, of about 106 bits.
struct double_sum {
  double high = 0;  ///< the sum as it is rounded
  double low = 0;   ///< what was rounded off

  /// Adds another one.
  RAYDEX_HD void merge(const double_sum& other) {
    double rest = 0;
    const double sum = two_sum(high, other.high, rest);
    if (!(sum - sum == 0)) {  // beyond the largest double
      high = sum;
      low = 0;
      return;
    }
    rest += low + other.low;
    high = two_sum(sum, rest, low);
  }
  /// The sum, rounded.
  RAYDEX_HD double get() const { return high + low; }
};

/// Adds doubles, keeping what each addition rounds off in a second double. With about 106 bits, the
/// rounded sum does not depend on the order of the rows.
class floating_sum {
 public:
  using result = double;  ///< what `get` returns
  /// Adds the value of a row, if it has one.
  RAYDEX_HD void add(const value_column& values, std::uint64_t row) {
    if (values.valid(row)) add(values.floating(row));
  }
  /// Adds a number.
  RAYDEX_HD void add(double value) {
    plain_ += value;
    const double sum = two_sum(high_, value, value);
    low_ += value;
    high_ = two_sum(sum, low_, low_);
  }
  /// Takes over the sum of other rows.
  RAYDEX_HD void merge(const floating_sum& other) {
    const double plain = plain_ + other.plain_;
    const double low = other.low_;
    add(other.high_);
    low_ += low;
    plain_ = plain;
  }
  /// The sum; as plain addition gives it where infinities or NaN take part.
  RAYDEX_HD result get() const { return plain_ - plain_ == 0 ? high_ + low_ : plain_; }

 private:
  double high_ = 0;
  double low_ = 0;
  double plain_ = 0;
};

}  // namespace raydex::core
