// SPDX-License-Identifier: Apache-2.0
/// @file
/// The array of a workload on minima as a function: position to value.
#pragma once

#include <array>
#include <bit>
#include <cstdint>

#include "lab/workloads/bijection.hpp"
#include "raydex/core/config.hpp"
#include "raydex/core/keys/key.hpp"

namespace raydex::bench {

/// How the values of an array lie.
enum class array_shape : std::uint8_t {
  random,      ///< drawn: floats from [0, 1), integers from all
  distinct,    ///< a permutation
  ascending,   ///< no value twice
  descending,  ///< no value twice
  sawtooth,    ///< ascending, again and again
  constant,    ///< all equal
  few,         ///< drawn from four
  mountain,    ///< ascending to the middle, then descending
  /// Longest common prefixes of neighbours among the sorted suffixes of a text over four letters in
  /// which every word of some length comes once.
  lcp,
  file  ///< somebody's; goes by the name of that
};
constexpr auto names_of(array_shape) {
  return std::array{"random",   "distinct", "ascending", "descending", "sawtooth",
                    "constant", "few",      "mountain",  "lcp"};
}

/// Calls `work` with a zero of a type of numbers. Precondition: `type` is none of strings.
template <class Work>
RAYDEX_HD void with_value(key_type type, const Work& work) {
  switch (type) {
    case key_type::uint32:
      return work(std::uint32_t{0});
    case key_type::uint64:
      return work(std::uint64_t{0});
    case key_type::int32:
      return work(std::int32_t{0});
    case key_type::int64:
      return work(std::int64_t{0});
    case key_type::float32:
      return work(float{0});
    default:
      return work(double{0});
  }
}

/// A value out of 64 random bits: a multiple of 2^-24 (`float`) or 2^-53 (`double`) in [0, 1), or
/// any integer.
template <class Value>
RAYDEX_HD Value drawn_value(std::uint64_t bits) {
  if constexpr (format_of<Value>.type == key_type::float32) {
    return static_cast<float>(bits >> 40) * 0x1p-24F;
  } else if constexpr (format_of<Value>.type == key_type::float64) {
    return static_cast<double>(bits >> 11) * 0x1p-53;
  } else {
    return static_cast<Value>(bits >> (64 - 8 * sizeof(Value)));
  }
}

/// Trivially copyable; kernels take it by value. Made by `make_value_set`. Values that are not
/// drawn have a rank, and adjacent ranks adjacent values.
struct value_set {
  array_shape shape = array_shape::random;
  std::uint64_t n = 0;           ///< values
  std::uint64_t period = 0;      ///< of a sawtooth
  std::uint64_t seed = 0;        ///< of those that are drawn
  std::uint64_t first_code = 0;  ///< the encoded value of rank 0
  int lcp_levels = 0;            ///< the longest common prefix
  bijection shuffle;             ///< a permutation's

  /// The value at position i. Precondition: the array is not somebody's.
  template <class Value>
  RAYDEX_HD Value value(std::uint64_t i) const {
    if (shape == array_shape::random) return drawn_value<Value>(random(seed, stream::values, i));
    return decode<Value>(static_cast<encoded_t<Value>>(first_code + rank(i)));
  }

  /// The rank at position i. Precondition: the values are not drawn from all.
  RAYDEX_HD std::uint64_t rank(std::uint64_t i) const {
    switch (shape) {
      case array_shape::distinct:
        return shuffle(i);
      case array_shape::ascending:
        return i;
      case array_shape::descending:
        return n - 1 - i;
      case array_shape::sawtooth:
        return i % period;
      case array_shape::few:
        return scale(random(seed, stream::values, i), 4);
      case array_shape::mountain:
        return i < n - 1 - i ? i : n - 1 - i;
      case array_shape::lcp:
        return common_prefix(i);
      default:
        return 0;
    }
  }

 private:
  // The sorted suffixes begin with the words in order, so that neighbours share the leading digits
  // of two adjacent numbers of base 4.
  RAYDEX_HD std::uint64_t common_prefix(std::uint64_t i) const {
    if (i == 0) return 0;
    int prefix = lcp_levels;
    for (; i % 4 == 0; i /= 4)
      --prefix;
    return static_cast<std::uint64_t>(prefix);
  }
};

/// Writes the value of a position.
struct write_value {
  value_set values;
  key_type type;
  void* out;
  RAYDEX_HD void operator()(std::uint64_t i) const {
    with_value(type, [this, i](auto zero) {
      using value = decltype(zero);
      static_cast<value*>(out)[i] = values.value<value>(i);
    });
  }
};

}  // namespace raydex::bench
