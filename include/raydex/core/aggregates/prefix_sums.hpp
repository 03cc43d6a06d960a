// SPDX-License-Identifier: Apache-2.0
/// @file
/// Sums over ranks: of integers from prefix sums, the k-th of what is before rank k;
/// of floating values from sums of neighbours.
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
    sums[rank + 1] = values.valid(row) ? number_in(row) : 0;
  }

 private:
  RAYDEX_HD std::uint64_t number_in(std::uint64_t row) const {
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
  double* finite;        ///< by rank

  /// Writes one.
  RAYDEX_HD void operator()(std::uint64_t rank) const {
    const std::uint64_t row = row_ids[rank];
    const double value = values.valid(row) ? values.floating(row) : 0;
    finite[rank] = value - value == 0 ? value : 0;
  }
};

/// Doubles, sums of eight neighbours each, of eight of these, and so on to a single one. A sum over
/// ranks is made of values within them alone: what lies elsewhere takes nothing of its precision.
struct sum_tree {
  static constexpr std::uint64_t fan_out = 8;  ///< neighbours that are added up

  const double* values = nullptr;    ///< by rank
  const double_sum* sums = nullptr;  ///< level by level
  std::uint64_t size = 0;            ///< of the values

  /// Sums of the level above one of so many numbers.
  RAYDEX_HD static constexpr std::uint64_t above(std::uint64_t numbers) {
    return (numbers + fan_out - 1) / fan_out;
  }
  /// Sums of all levels.
  static constexpr std::uint64_t all_sums(std::uint64_t size) {
    std::uint64_t all = 0;
    while (size > 1)
      all += size = above(size);
    return all;
  }

  /// The sum over ranks.
  RAYDEX_HD double_sum over(std::uint64_t begin, std::uint64_t end) const {
    double_sum all;
    take_ends(begin, end, all, [this](std::uint64_t i) { return double_sum{load(values + i), 0}; });
    const double_sum* level = sums;
    std::uint64_t numbers = size;
    while (begin < end) {
      begin /= fan_out;
      end /= fan_out;
      take_ends(begin, end, all, [level](std::uint64_t i) {
        return double_sum{load(&level[i].high), load(&level[i].low)};
      });
      numbers = above(numbers);
      level += numbers;
    }
    return all;
  }

 private:
  // Adds numbers of a level to a sum until the rest is whole groups of neighbours.
  template <class Number>
  RAYDEX_HD static void take_ends(std::uint64_t& begin, std::uint64_t& end, double_sum& to,
                                  const Number& number) {
    for (; begin < end && begin % fan_out != 0; ++begin)
      to.merge(number(begin));
    while (begin < end && end % fan_out != 0)
      to.merge(number(--end));
  }
};

/// Writes the sums of a level.
struct add_neighbours {
  const double* values;     ///< those below the first level; null for others
  const double_sum* below;  ///< the level below others
  std::uint64_t size;       ///< how many there are
  double_sum* sums;         ///< the level

  /// Writes one.
  RAYDEX_HD void operator()(std::uint64_t i) const {
    const std::uint64_t begin = i * sum_tree::fan_out;
    const std::uint64_t left = size - begin;
    const std::uint64_t end = begin + (left < sum_tree::fan_out ? left : sum_tree::fan_out);
    double_sum all;
    for (std::uint64_t k = begin; k < end; ++k)
      all.merge(values != nullptr ? double_sum{values[k], 0} : below[k]);
    sums[i] = all;
  }
};

/// The matches of a batch, in ranks.
template <class RowId>
struct found_ranks {
  const RowId* begins;           ///< of each probe, the first
  const RowId* counts;           ///< and how many there are
  const RowId* places{nullptr};  ///< where the answer of each belongs; null: in their order

  /// Where the answer of a probe belongs.
  RAYDEX_HD std::uint64_t place(std::uint64_t probe) const {
    return places == nullptr ? probe : load(places + probe);
  }
  /// What a prefix sum says of a probe.
  RAYDEX_HD std::uint64_t sum(const std::uint64_t* sums, std::uint64_t probe) const {
    const std::uint64_t begin = load(begins + probe);
    return load(sums + begin + load(counts + probe)) - load(sums + begin);
  }
  /// The same of floating values.
  RAYDEX_HD double_sum sum(const sum_tree& tree, std::uint64_t probe) const {
    const std::uint64_t begin = load(begins + probe);
    return tree.over(begin, begin + load(counts + probe));
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

/// Writes integers that prefix sums add up to, or how many there are.
template <class RowId>
struct answer_integer_sum {
  found_ranks<RowId> found;   ///< the matches
  const std::uint64_t* sums;  ///< of the values; null: counts are wanted
  std::uint64_t* out;         ///< one a probe

  /// Answers one.
  RAYDEX_HD void operator()(std::uint64_t probe) const {
    out[found.place(probe)] =
        sums != nullptr ? found.sum(sums, probe) : std::uint64_t{load(found.counts + probe)};
  }
};

/// Writes sums of floating values.
template <class RowId>
struct answer_floating_sum {
  found_ranks<RowId> found;  ///< the matches
  sum_tree sums;             ///< of finite values
  unusual_values unusual;    ///< of the others
  double* out;               ///< one a probe

  /// The sum of a probe.
  RAYDEX_HD double operator[](std::uint64_t probe) const {
    return unusual.sum(found, probe, found.sum(sums, probe).get());
  }
  /// Answers one.
  RAYDEX_HD void operator()(std::uint64_t probe) const { out[found.place(probe)] = (*this)[probe]; }
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
    // The lower halves add up to less than 2^64. Their upper half goes to the other sum.
    std::uint64_t upper = found.sum(upper_halves, probe);
    const std::uint64_t lower = all - (upper << 32);
    upper += lower >> 32;
    // Numbers of 32 bits: two doubles hold their sum exactly.
    const std::uint64_t top =
        is_signed && upper >> 63 != 0 ? upper >> 32 | ~std::uint64_t{0} << 32 : upper >> 32;
    double_sum both{as_double(top) * 0x1p64, 0};
    both.merge({static_cast<double>(upper & 0xffff'ffff) * 0x1p32, 0});
    both.merge({static_cast<double>(lower & 0xffff'ffff), 0});
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
    out[sums.found.place(probe)] = count != 0 ? sums[probe] / static_cast<double>(count)
                                              : std::numeric_limits<double>::quiet_NaN();
  }
};

}  // namespace raydex::core
