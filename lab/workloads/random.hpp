// SPDX-License-Identifier: Apache-2.0
/// @file
/// Counter-based random numbers: element j of a stream is a function of (seed, stream, j), in
/// integer arithmetic only, so that every element can be computed alone and is the same on host and
/// device.
#pragma once

#include <cstdint>

#include "raydex/core/config.hpp"

namespace raydex::bench {

/// What a random number is used for: streams of one seed are independent.
enum class stream : std::uint64_t {
  values,
  shuffle,
  popularity,
  hit,
  which,
  within,
  floor,
  kind,
  length
};

/// Mixes 64 bits (the finaliser of splitmix64).
RAYDEX_HD inline constexpr std::uint64_t mix(std::uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58'476d'1ce4'e5b9u;
  x = (x ^ (x >> 27)) * 0x94d0'49bb'1331'11ebu;
  return x ^ (x >> 31);
}

/// Mixes 32 bits (the finaliser of MurmurHash3).
RAYDEX_HD inline constexpr std::uint32_t mix(std::uint32_t x) {
  x = (x ^ (x >> 16)) * 0x85eb'ca6bu;
  x = (x ^ (x >> 13)) * 0xc2b2'ae35u;
  return x ^ (x >> 16);
}

/// The key of a stream of a seed.
RAYDEX_HD inline constexpr std::uint64_t stream_key(std::uint64_t seed, stream use) {
  return mix(mix(seed + 0x9e37'79b9'7f4a'7c15u) ^ (static_cast<std::uint64_t>(use) + 1));
}

/// Element j of a stream: 64 random bits.
RAYDEX_HD inline constexpr std::uint64_t random(std::uint64_t seed, stream use, std::uint64_t j) {
  return mix(stream_key(seed, use) + j * 0x9e37'79b9'7f4a'7c15u);
}

/// Maps 64 random bits to [0, size): the upper half of their product.
RAYDEX_HD inline constexpr std::uint64_t scale(std::uint64_t bits, std::uint64_t size) {
  const std::uint64_t low_low = (bits & 0xffff'ffffu) * (size & 0xffff'ffffu);
  const std::uint64_t high_low = (bits >> 32) * (size & 0xffff'ffffu);
  const std::uint64_t low_high = (bits & 0xffff'ffffu) * (size >> 32);
  const std::uint64_t middle = (low_low >> 32) + (high_low & 0xffff'ffffu) + low_high;
  return (bits >> 32) * (size >> 32) + (high_low >> 32) + (middle >> 32);
}

/// Maps 64 random bits to [0, last].
RAYDEX_HD inline constexpr std::uint64_t scale_to(std::uint64_t bits, std::uint64_t last) {
  return last == ~std::uint64_t{0} ? bits : scale(bits, last + 1);
}

}  // namespace raydex::bench
