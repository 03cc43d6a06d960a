// SPDX-License-Identifier: Apache-2.0
/// @file
/// Bits of numbers, on the host and on a device.
#pragma once

#include <bit>
#include <cstdint>

#include "raydex/core/config.hpp"

namespace raydex::core {

/// The largest e with 2^e <= number, which is not 0.
RAYDEX_HD constexpr unsigned floor_log2(std::uint64_t number) {
#if defined(__CUDA_ARCH__)
  return 63U - static_cast<unsigned>(__clzll(static_cast<long long>(number)));
#else
  return static_cast<unsigned>(std::bit_width(number)) - 1;
#endif
}
/// The same of 32 bits.
RAYDEX_HD constexpr unsigned floor_log2(std::uint32_t number) {
#if defined(__CUDA_ARCH__)
  return 31U - static_cast<unsigned>(__clz(static_cast<int>(number)));
#else
  return static_cast<unsigned>(std::bit_width(number)) - 1;
#endif
}

/// The number of the lowest bit that is set; one is.
RAYDEX_HD constexpr unsigned first_bit(std::uint32_t bits) {
#if defined(__CUDA_ARCH__)
  return static_cast<unsigned>(__ffs(static_cast<int>(bits))) - 1;
#else
  return static_cast<unsigned>(std::countr_zero(bits));
#endif
}

/// How many bits are set. Not `std::popcount`: without an instruction for it, which not all x86
/// processors have, that is a call of a function.
RAYDEX_HD constexpr unsigned count_bits(std::uint64_t bits) {
#if defined(__CUDA_ARCH__)
  return static_cast<unsigned>(__popcll(static_cast<long long>(bits)));
#else
  bits -= bits >> 1 & 0x5555'5555'5555'5555;
  bits = (bits & 0x3333'3333'3333'3333) + (bits >> 2 & 0x3333'3333'3333'3333);
  bits = (bits + (bits >> 4)) & 0x0f0f'0f0f'0f0f'0f0f;
  return static_cast<unsigned>(bits * 0x0101'0101'0101'0101 >> 56);
#endif
}
/// The same of 32 bits.
RAYDEX_HD constexpr unsigned count_bits(std::uint32_t bits) {
#if defined(__CUDA_ARCH__)
  return static_cast<unsigned>(__popc(static_cast<int>(bits)));
#else
  return count_bits(std::uint64_t{bits});
#endif
}

/// The bytes of a number the other way round.
RAYDEX_HD constexpr std::uint64_t reverse_bytes(std::uint64_t number) {
#if defined(__CUDA_ARCH__)
  const auto low = static_cast<unsigned>(number);
  const auto high = static_cast<unsigned>(number >> 32);
  return std::uint64_t{__byte_perm(low, 0, 0x0123)} << 32 | __byte_perm(high, 0, 0x0123);
#else
  return __builtin_bswap64(number);
#endif
}

}  // namespace raydex::core
