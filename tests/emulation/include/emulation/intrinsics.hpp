// SPDX-License-Identifier: Apache-2.0
//
// Intrinsics and device functions of a single thread: bits, products, cached loads and stores,
// rounded arithmetic, min and max.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <type_traits>

#include "emulation/fibers.hpp"
#include "emulation/vector_types.hpp"

namespace emulation::detail {

__extension__ using wide_signed = __int128;
__extension__ using wide_unsigned = unsigned __int128;

}  // namespace emulation::detail

// NOLINTBEGIN(readability-identifier-naming, bugprone-reserved-identifier): the names are CUDA's
// Picks bytes of two words by the lower digits of a selector.
inline unsigned int __byte_perm(unsigned int low, unsigned int high, unsigned int selector) {
  const unsigned long long bytes = low | static_cast<unsigned long long>(high) << 32;
  unsigned int picked = 0;
  for (unsigned int i = 0; i < 4; ++i)
    picked |= static_cast<unsigned int>(bytes >> (8 * ((selector >> (4 * i)) & 7)) & 0xff)
              << (8 * i);
  return picked;
}
inline int __popc(unsigned int bits) {
  return std::popcount(bits);
}
inline int __popcll(unsigned long long bits) {
  return std::popcount(bits);
}
inline int __clz(int bits) {
  return std::countl_zero(static_cast<unsigned int>(bits));
}
inline int __clzll(long long bits) {
  return std::countl_zero(static_cast<unsigned long long>(bits));
}
inline int __ffs(int bits) {
  return __builtin_ffs(bits);
}
inline int __ffsll(long long bits) {
  return __builtin_ffsll(bits);
}

inline unsigned long long __brevll(unsigned long long bits) {
  unsigned long long reversed = 0;
  for (int i = 0; i < 64; ++i)
    reversed |= ((bits >> i) & 1U) << (63 - i);
  return reversed;
}
inline unsigned int __brev(unsigned int bits) {
  return static_cast<unsigned int>(__brevll(bits) >> 32);
}

inline unsigned int __umulhi(unsigned int left, unsigned int right) {
  return static_cast<unsigned int>((static_cast<unsigned long long>(left) * right) >> 32);
}
inline int __mulhi(int left, int right) {
  return static_cast<int>((static_cast<long long>(left) * right) >> 32);
}
inline unsigned long long __umul64hi(unsigned long long left, unsigned long long right) {
  using emulation::detail::wide_unsigned;
  return static_cast<unsigned long long>((static_cast<wide_unsigned>(left) * right) >> 64);
}
inline long long __mul64hi(long long left, long long right) {
  return static_cast<long long>((static_cast<emulation::detail::wide_signed>(left) * right) >> 64);
}

inline unsigned int __funnelshift_l(unsigned int low, unsigned int high, unsigned int shift) {
  const std::uint64_t both = (static_cast<std::uint64_t>(high) << 32) | low;
  return static_cast<unsigned int>((both << (shift & 31U)) >> 32);
}
inline unsigned int __funnelshift_r(unsigned int low, unsigned int high, unsigned int shift) {
  const std::uint64_t both = (static_cast<std::uint64_t>(high) << 32) | low;
  return static_cast<unsigned int>(both >> (shift & 31U));
}

inline unsigned int __float_as_uint(float value) {
  return std::bit_cast<unsigned int>(value);
}
inline float __uint_as_float(unsigned int bits) {
  return std::bit_cast<float>(bits);
}
inline int __float_as_int(float value) {
  return std::bit_cast<int>(value);
}
inline float __int_as_float(int bits) {
  return std::bit_cast<float>(bits);
}
inline long long __double_as_longlong(double value) {
  return std::bit_cast<long long>(value);
}
inline double __longlong_as_double(long long bits) {
  return std::bit_cast<double>(bits);
}

#define EMULATION_LOAD(name)                  \
  template <emulation::detail::loadable Type> \
  Type name(const Type* address) {            \
    return *address;                          \
  }
EMULATION_LOAD(__ldg)
EMULATION_LOAD(__ldca)
EMULATION_LOAD(__ldcg)
EMULATION_LOAD(__ldcs)
EMULATION_LOAD(__ldcv)
EMULATION_LOAD(__ldlu)
#undef EMULATION_LOAD

// The value converts to the type that the address points to, as with CUDA's overloads.
#define EMULATION_STORE(name)                                  \
  template <emulation::detail::loadable Type>                  \
  void name(Type* address, std::type_identity_t<Type> value) { \
    *address = value;                                          \
  }
EMULATION_STORE(__stcg)
EMULATION_STORE(__stcs)
EMULATION_STORE(__stwb)
EMULATION_STORE(__stwt)
#undef EMULATION_STORE

// Threads run on one core, so everything is in order already and fences do nothing.
inline void __threadfence() {}
inline void __threadfence_block() {}
inline void __threadfence_system() {}

// A thread that sleeps lets the others of its block go on, so that waiting loops end.
inline void __nanosleep(unsigned int) {
  emulation::detail::yield();
}

// The compiler must not contract these, which is why emulated sources need -ffp-contract=off.
inline float __fadd_rn(float left, float right) {
  return left + right;
}
inline float __fsub_rn(float left, float right) {
  return left - right;
}
inline float __fmul_rn(float left, float right) {
  return left * right;
}
inline float __fdiv_rn(float left, float right) {
  return left / right;
}
inline float __fsqrt_rn(float value) {
  return std::sqrt(value);
}
inline float __fmaf_rn(float left, float right, float addend) {
  return std::fma(left, right, addend);
}
inline double __dadd_rn(double left, double right) {
  return left + right;
}
inline double __dsub_rn(double left, double right) {
  return left - right;
}
inline double __dmul_rn(double left, double right) {
  return left * right;
}
inline double __ddiv_rn(double left, double right) {
  return left / right;
}
inline double __dsqrt_rn(double value) {
  return std::sqrt(value);
}
inline double __fma_rn(double left, double right, double addend) {
  return std::fma(left, right, addend);
}

#define EMULATION_MIN_MAX(type)               \
  constexpr type min(type left, type right) { \
    return right < left ? right : left;       \
  }                                           \
  constexpr type max(type left, type right) { \
    return left < right ? right : left;       \
  }
EMULATION_MIN_MAX(int)
EMULATION_MIN_MAX(unsigned int)
EMULATION_MIN_MAX(long)
EMULATION_MIN_MAX(unsigned long)
EMULATION_MIN_MAX(long long)
EMULATION_MIN_MAX(unsigned long long)
#undef EMULATION_MIN_MAX

// Floating-point minima ignore a NaN, as on the device.
inline float min(float left, float right) {
  return std::fmin(left, right);
}
inline float max(float left, float right) {
  return std::fmax(left, right);
}
inline double min(double left, double right) {
  return std::fmin(left, right);
}
inline double max(double left, double right) {
  return std::fmax(left, right);
}

inline float rsqrtf(float value) {
  return 1.0F / std::sqrt(value);
}
inline double rsqrt(double value) {
  return 1.0 / std::sqrt(value);
}
// NOLINTEND(readability-identifier-naming, bugprone-reserved-identifier)
