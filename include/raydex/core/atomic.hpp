// SPDX-License-Identifier: Apache-2.0
/// @file
/// Numbers that several threads change.
#pragma once

#include <cstdint>

#include "raydex/core/config.hpp"

#if !defined(__CUDA_ARCH__)
#include <atomic>
#endif

namespace raydex::core {

/// Adds to a number, and returns what it was before; orders nothing else.
RAYDEX_HD inline std::uint64_t add_atomically(std::uint64_t* number, std::uint64_t addend) {
#if defined(__CUDA_ARCH__)
  return atomicAdd(reinterpret_cast<unsigned long long*>(number), addend);
#else
  return std::atomic_ref(*number).fetch_add(addend, std::memory_order_relaxed);
#endif
}

/// The same for 32 bits.
RAYDEX_HD inline std::uint32_t add_atomically(std::uint32_t* number, std::uint32_t addend) {
#if defined(__CUDA_ARCH__)
  return atomicAdd(number, addend);
#else
  return std::atomic_ref(*number).fetch_add(addend, std::memory_order_relaxed);
#endif
}

/// Sets bits of a number; orders nothing else.
RAYDEX_HD inline void set_bits_atomically(std::uint32_t* number, std::uint32_t bits) {
#if defined(__CUDA_ARCH__)
  atomicOr(number, bits);
#else
  std::atomic_ref(*number).fetch_or(bits, std::memory_order_relaxed);
#endif
}

/// Makes a number another one if that is smaller; orders nothing else.
RAYDEX_HD inline void keep_smallest(std::uint64_t* number, std::uint64_t other) {
#if defined(__CUDA_ARCH__)
  atomicMin(reinterpret_cast<unsigned long long*>(number), other);
#else
  std::atomic_ref kept(*number);
  std::uint64_t before = kept.load(std::memory_order_relaxed);
  while (other < before && !kept.compare_exchange_weak(before, other, std::memory_order_relaxed)) {
  }
#endif
}

/// Makes a number another one if that is larger; orders nothing else.
RAYDEX_HD inline void keep_largest(std::uint64_t* number, std::uint64_t other) {
#if defined(__CUDA_ARCH__)
  atomicMax(reinterpret_cast<unsigned long long*>(number), other);
#else
  std::atomic_ref kept(*number);
  std::uint64_t before = kept.load(std::memory_order_relaxed);
  while (other > before && !kept.compare_exchange_weak(before, other, std::memory_order_relaxed)) {
  }
#endif
}

/// Reads what other threads may replace.
template <class T>
RAYDEX_HD inline T load_atomically(T* address) {
#if defined(__CUDA_ARCH__)
  return *static_cast<volatile T*>(address);
#else
  return std::atomic_ref(*address).load(std::memory_order_relaxed);
#endif
}

/// Writes another number in the place of one, unless another thread was first; orders nothing else.
RAYDEX_HD inline bool replace_atomically(std::uint32_t* number, std::uint32_t from,
                                         std::uint32_t to) {
#if defined(__CUDA_ARCH__)
  return atomicCAS(number, from, to) == from;
#else
  return std::atomic_ref(*number).compare_exchange_strong(from, to, std::memory_order_relaxed);
#endif
}
/// The same for 64 bits.
RAYDEX_HD inline bool replace_atomically(std::uint64_t* number, std::uint64_t from,
                                         std::uint64_t to) {
#if defined(__CUDA_ARCH__)
  return atomicCAS(reinterpret_cast<unsigned long long*>(number), from, to) == from;
#else
  return std::atomic_ref(*number).compare_exchange_strong(from, to, std::memory_order_relaxed);
#endif
}

/// Writes what several threads may write at once, all of them the same; orders nothing else.
template <class T>
RAYDEX_HD inline void store_atomically(T* address, T value) {
#if defined(__CUDA_ARCH__)
  *static_cast<volatile T*>(address) = value;
#else
  std::atomic_ref(*address).store(value, std::memory_order_relaxed);
#endif
}

}  // namespace raydex::core
