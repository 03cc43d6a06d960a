// SPDX-License-Identifier: Apache-2.0
/// @file
/// Sums over ranks from prefix sums, of which number k adds up what is before rank k.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>

#include "raydex/core/config.hpp"
#include "raydex/core/keys/column.hpp"
#include "raydex/core/keys/sum.hpp"

namespace raydex::core {

/// A cell of a column of values, by type: what of it a prefix sum adds up.
enum class value_part : std::uint8_t {
  whole,              ///< an integer, modulo 2^64
  upper_half,         ///< its upper 32 of 64 bits, with their sign
  presence,           ///< 1 unless it is missing
  not_a_number,       ///< 1 for NaN
  positive_infinity,  ///< 1 for infinity
  negative_infinity   ///< 1 for negative infinity
};

/// Writes a part of the value of the row at each rank, to be summed up.
template <class RowId>
struct put_value_part {
  const RowId* row_ids;  ///< by rank
  value_column values;   ///< by row
  value_part part;       ///< what of them
  std::uint64_t* sums;   ///< by rank, from 1 on

  /// Writes one.
  RAYDEX_HD void operator()(std::uint64_t rank) const {
    const std::uint64_t row = row_ids[rank];
    sums[rank + 1] = values.valid(row) ? of(row) : 0;
  }

 private:
  RAYDEX_HD std::uint64_t of(std::uint64_t row) const {
    constexpr double infinity = std::numeric_limits<double>::infinity();
    switch (part) {
      case value_part::whole:
        return values.integer(row);
      case value_part::upper_half: {
        const std::uint64_t value = values.integer(row);
        const bool negative = values.format.type == key_type::int64 && value >> 63 != 0;
        return value >> 32 | (negative ? ~std::uint64_t{0} << 32 : 0);
      }
      case value_part::not_a_number:
        return values.floating(row) != values.floating(row) ? 1 : 0;
      case value_part::positive_infinity:
        return values.floating(row) == infinity ? 1 : 0;
      case value_part::negative_infinity:
        return values.floating(row) == -infinity ? 1 : 0;
      default:
        return 1;
    }
  }
};

/// Writes the finite value of the row at each rank, 0 for others.
template <class RowId>
struct put_finite_value {
  const RowId* row_ids;  ///< by rank
  value_column values;   ///< by row
  double_sum* sums;      ///< by rank, from 1 on

  /// Writes one.
  RAYDEX_HD void operator()(std::uint64_t rank) const {
    const std::uint64_t row = row_ids[rank];
    const double value = values.valid(row) ? values.floating(row) : 0;
    sums[rank + 1] = {value - value == 0 ? value : 0, 0};
  }
};

/// The matches of a batch, in ranks.
template <class RowId>
struct found_ranks {
  const RowId* begins;  ///< of each probe, the first
  const RowId* counts;  ///< and how many there are

  /// What a prefix sum says of a probe.
  RAYDEX_HD std::uint64_t sum(const std::uint64_t* sums, std::uint64_t probe) const {
    const std::uint64_t begin = load(begins + probe);
    return load(sums + begin + load(counts + probe)) - load(sums + begin);
  }
  /// The same in two doubles.
  RAYDEX_HD double_sum sum(const double_sum* sums, std::uint64_t probe) const {
    const double_sum* const before = sums + load(begins + probe);
    const double_sum* const after = before + load(counts + probe);
    double_sum all{load(&after->high), load(&after->low)};
    all.merge({-load(&before->high), -load(&before->low)});
    return all;
  }
};

/// How often values are not finite, in prefix sums; null where all of them are.
struct unusual_values {
  const std::uint64_t* nan = nullptr;       ///< NaN
  const std::uint64_t* positive = nullptr;  ///< infinity
  const std::uint64_t* negative = nullptr;  ///< negative infinity

  /// The sum of a probe, given that of its finite values.
  template <class RowId>
  RAYDEX_HD double sum(const found_ranks<RowId>& found, std::uint64_t probe, double finite) const {
    if (nan == nullptr) return finite;
    const bool up = found.sum(positive, probe) != 0;
    const bool down = found.sum(negative, probe) != 0;
    if (found.sum(nan, probe) != 0 || (up && down)) return std::numeric_limits<double>::quiet_NaN();
    const double infinity = std::numeric_limits<double>::infinity();
    return up ? infinity : down ? -infinity : finite;
  }
};

/// Writes integers that prefix sums add up to.
template <class RowId>
struct answer_integer_sum {
  found_ranks<RowId> found;   ///< the matches
  const std::uint64_t* sums;  ///< of the values
  std::uint64_t* out;         ///< one a probe

  /// Answers one.
  RAYDEX_HD void operator()(std::uint64_t probe) const { out[probe] = found.sum(sums, probe); }
};

/// Writes sums of floating values.
template <class RowId>
struct answer_floating_sum {
  found_ranks<RowId> found;  ///< the matches
  const double_sum* sums;    ///< of finite values
  unusual_values unusual;    ///< of the others
  double* out;               ///< one a probe

  /// The sum of a probe.
  RAYDEX_HD double operator[](std::uint64_t probe) const {
    return unusual.sum(found, probe, found.sum(sums, probe).get());
  }
  /// Answers one.
  RAYDEX_HD void operator()(std::uint64_t probe) const { out[probe] = (*this)[probe]; }
};

/// The sum of integers as a double: exactly, then rounded.
template <class RowId>
struct integer_sum_as_double {
  found_ranks<RowId> found;           ///< the matches
  const std::uint64_t* sums;          ///< of the values, modulo 2^64
  const std::uint64_t* upper_halves;  ///< of 64-bit values; else null
  bool is_signed;                     ///< the values

  /// The sum of a probe.
  RAYDEX_HD double operator[](std::uint64_t probe) const {
    const std::uint64_t all = found.sum(sums, probe);
    if (upper_halves == nullptr) return as_double(all);
    // The lower halves add up to less than 2^64.
    const std::uint64_t upper = found.sum(upper_halves, probe);
    double_sum both{as_double(upper) * 0x1p32, 0};
    both.merge({static_cast<double>(all - (upper << 32)), 0});
    return both.get();
  }

 private:
  RAYDEX_HD double as_double(std::uint64_t number) const {
    return is_signed ? static_cast<double>(static_cast<std::int64_t>(number))
                     : static_cast<double>(number);
  }
};

/// Writes means: sums divided by how many values there are.
template <class Sums>
struct answer_mean {
  Sums sums;                     ///< by probe
  const std::uint64_t* present;  ///< in prefix sums; null: all
  double* out;                   ///< one a probe

  /// Answers one.
  RAYDEX_HD void operator()(std::uint64_t probe) const {
    const std::uint64_t count =
        present != nullptr ? sums.found.sum(present, probe) : sums.found.counts[probe];
    out[probe] = count != 0 ? sums[probe] / static_cast<double>(count)
                            : std::numeric_limits<double>::quiet_NaN();
  }
};

}  // namespace raydex::core
