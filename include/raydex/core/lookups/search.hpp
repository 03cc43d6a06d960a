// SPDX-License-Identifier: Apache-2.0
/// @file
/// Searches over ascending keys. `keys(i)` is the key at position i.
#pragma once

#include <cstddef>

#include "raydex/core/config.hpp"

namespace raydex::core {

/// One of two positions, without a branch: on a host by arithmetic, on a device as the compiler
/// does by itself.
template <class Position>
RAYDEX_HD constexpr Position choose(bool first, Position a, Position b) {
#if defined(__CUDA_ARCH__)
  return first ? a : b;
#else
  return b + ((a - b) & (Position{0} - static_cast<Position>(first)));
#endif
}

/// Binary search without branches for N keys at once: writes to `found[j]` the first position whose
/// key is not below `wanted[j]`, or `size`. The N searches advance step by step together, so that
/// their reads overlap. Cost: ceil(log2 size) + 1 reads a key.
template <std::size_t N, class Position, class Keys, class Key>
RAYDEX_HD inline void lower_bounds(const Keys& keys, Position size, const Key (&wanted)[N],
                                   Position (&found)[N]) {
  RAYDEX_UNROLL
  for (std::size_t j = 0; j < N; ++j)
    found[j] = 0;
  if (size == 0) return;
  for (Position length = size; length > 1;) {
    const Position half = length / 2;
    RAYDEX_UNROLL
    for (std::size_t j = 0; j < N; ++j) {
      const Position middle = found[j] + half;
      found[j] = choose(keys(middle - 1) < wanted[j], middle, found[j]);
    }
    length -= half;
  }
  RAYDEX_UNROLL
  for (std::size_t j = 0; j < N; ++j)
    found[j] += keys(found[j]) < wanted[j] ? Position{1} : Position{0};
}

/// The first position past `begin` whose key is above `last`, or `size`: doubling steps, then
/// binary search between the last two. Cost: 2 log2 of the distance, so a run of h equal keys
/// costs O(log h). Precondition: begin <= size.
template <class Position, class Keys, class Key>
RAYDEX_HD inline Position gallop_past(const Keys& keys, Position begin, Position size, Key last) {
  Position step = 1;
  Position low = begin;  // keys before low are not above last
  while (size - low >= step && !(last < keys(low + step - 1))) {
    low += step;
    step *= 2;
  }
  Position high = size - low < step ? size : low + step - 1;  // at high: above last, or the end
  while (low < high) {
    const Position middle = low + (high - low) / 2;
    if (last < keys(middle)) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  return low;
}

/// The first position whose key is not below `wanted`, or `size`, looked for around a guess:
/// doubling steps from it, the first of them `step`, then binary search between the last two. Cost:
/// 2 log2 of how many steps the guess is off. Precondition: size and step are not 0.
template <class Position, class Keys, class Key>
RAYDEX_HD inline Position lower_bound_near(const Keys& keys, Position size, Position guess,
                                           Position step, Key wanted) {
  if (guess >= size) guess = size - 1;
  Position low = 0;      // keys before low are below
  Position high = size;  // at high: not below, or the end
  if (keys(guess) < wanted) {
    low = guess + 1;
    while (size - low >= step && keys(low + step - 1) < wanted) {
      low += step;
      step *= 2;
    }
    if (size - low >= step) high = low + step - 1;
  } else {
    high = guess;
    while (high >= step && !(keys(high - step) < wanted)) {
      high -= step;
      step *= 2;
    }
    if (high >= step) low = high - step + 1;
  }
  while (low < high) {
    const Position middle = low + (high - low) / 2;
    if (keys(middle) < wanted) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

}  // namespace raydex::core
