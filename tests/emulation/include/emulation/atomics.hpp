// SPDX-License-Identifier: Apache-2.0
//
// Atomics, with exactly the overloads that CUDA has. All threads share one core, so plain loads and
// stores suffice; the interleavings come from the schedule (see maybe_yield).
#pragma once

#include <type_traits>

#include "emulation/fibers.hpp"

namespace emulation::detail {

template <typename Type, typename Update>
Type atomic_update(Type* address, Update update) {
  if (shuffled_schedule) maybe_yield();
  const Type old = *address;
  *address = update(old);
  return old;
}

// Integers wrap around, signed ones too.
template <typename Type>
constexpr Type wrapping_add(Type left, Type right) {
  if constexpr (std::is_integral_v<Type>) {
    using unsigned_type = std::make_unsigned_t<Type>;
    return static_cast<Type>(static_cast<unsigned_type>(left) + static_cast<unsigned_type>(right));
  } else {
    return left + right;
  }
}

template <typename Type>
constexpr Type wrapping_subtract(Type left, Type right) {
  using unsigned_type = std::make_unsigned_t<Type>;
  return static_cast<Type>(static_cast<unsigned_type>(left) - static_cast<unsigned_type>(right));
}

}  // namespace emulation::detail

// NOLINTBEGIN(readability-identifier-naming): the names are CUDA's
#define EMULATION_ATOMIC(name, type, expression)                                                \
  inline type name(type* address, type value) {                                                 \
    return emulation::detail::atomic_update(address, [value](type old) { return expression; }); \
  }

#define EMULATION_ATOMIC_BITS(type)                              \
  EMULATION_ATOMIC(atomicMin, type, (value < old ? value : old)) \
  EMULATION_ATOMIC(atomicMax, type, (value > old ? value : old)) \
  EMULATION_ATOMIC(atomicAnd, type, (old & value))               \
  EMULATION_ATOMIC(atomicOr, type, (old | value))                \
  EMULATION_ATOMIC(atomicXor, type, (old ^ value))

#define EMULATION_ATOMIC_ADD(type) \
  EMULATION_ATOMIC(atomicAdd, type, emulation::detail::wrapping_add(old, value))

#define EMULATION_ATOMIC_SUB(type) \
  EMULATION_ATOMIC(atomicSub, type, emulation::detail::wrapping_subtract(old, value))

// An exchange does not look at the old value.
#define EMULATION_ATOMIC_EXCH(type) EMULATION_ATOMIC(atomicExch, type, ((void)old, value))

#define EMULATION_ATOMIC_CAS(type)                                                           \
  inline type atomicCAS(type* address, type expected, type desired) {                        \
    return emulation::detail::atomic_update(                                                 \
        address, [expected, desired](type old) { return old == expected ? desired : old; }); \
  }

EMULATION_ATOMIC_BITS(int)
EMULATION_ATOMIC_BITS(unsigned int)
EMULATION_ATOMIC_BITS(long long)
EMULATION_ATOMIC_BITS(unsigned long long)

EMULATION_ATOMIC_ADD(int)
EMULATION_ATOMIC_ADD(unsigned int)
EMULATION_ATOMIC_ADD(unsigned long long)
EMULATION_ATOMIC_ADD(float)
EMULATION_ATOMIC_ADD(double)

EMULATION_ATOMIC_SUB(int)
EMULATION_ATOMIC_SUB(unsigned int)

EMULATION_ATOMIC_EXCH(int)
EMULATION_ATOMIC_EXCH(unsigned int)
EMULATION_ATOMIC_EXCH(unsigned long long)
EMULATION_ATOMIC_EXCH(float)

EMULATION_ATOMIC_CAS(unsigned short)
EMULATION_ATOMIC_CAS(int)
EMULATION_ATOMIC_CAS(unsigned int)
EMULATION_ATOMIC_CAS(unsigned long long)

EMULATION_ATOMIC(atomicInc, unsigned int, (old >= value ? 0U : old + 1U))
EMULATION_ATOMIC(atomicDec, unsigned int, (old == 0U || old > value ? value : old - 1U))

#undef EMULATION_ATOMIC
#undef EMULATION_ATOMIC_BITS
#undef EMULATION_ATOMIC_ADD
#undef EMULATION_ATOMIC_SUB
#undef EMULATION_ATOMIC_EXCH
#undef EMULATION_ATOMIC_CAS
// NOLINTEND(readability-identifier-naming)
