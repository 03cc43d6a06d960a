// SPDX-License-Identifier: Apache-2.0
// What the bits of a cell mean, without the library's codec.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "raydex/column.hpp"

namespace raydex::test {

// Every key is a number that this type holds exactly.
using number = long double;
static_assert(std::numeric_limits<number>::digits >= 64);

// The number in a cell of a format; a byte string is a number in base 256.
number number_of(key_format format, std::uint64_t bits);

// The order of keys: NaN comes after everything and equals itself.
inline bool is_less(number a, number b) {
  return a < b || (std::isnan(b) && !std::isnan(a));
}
inline bool is_equal(number a, number b) {
  return !is_less(a, b) && !is_less(b, a);
}

// All formats of keys, and those of numbers only.
const std::vector<key_format>& all_formats();
const std::vector<key_format>& number_formats();
key_format format_of_type(key_type number);

// The bits of a whole number in a format: the i-th of neighbouring or evenly spaced keys. If the
// format cannot hold that number, the bits of another one.
std::uint64_t bits_of(key_format format, std::uint64_t i);
// The bits of the i-th smallest key; for integers and byte strings.
std::uint64_t bits_of_rank(key_format format, std::uint64_t i);
// The key before or after, for most keys.
std::uint64_t neighbour_of(key_format format, std::uint64_t bits, bool up);
// The keys that break things; the first one is the smallest, the last one the largest.
std::vector<std::uint64_t> extremes_of(key_format format);
// The bits that a cell has.
std::uint64_t mask_of(key_format format);

}  // namespace raydex::test
