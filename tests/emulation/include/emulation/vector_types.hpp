// SPDX-License-Identifier: Apache-2.0
//
// CUDA's short vectors with their alignments, and dim3.
#pragma once

#include <concepts>
#include <type_traits>

namespace emulation::detail {

// What CUDA's load and store intrinsics have overloads for: numbers and short vectors.
template <typename Type>
inline constexpr bool is_short_vector = false;

template <typename Type>
concept loadable =
    (std::is_arithmetic_v<Type> && !std::same_as<Type, bool>) || is_short_vector<Type>;

}  // namespace emulation::detail

#define EMULATION_VECTOR2(name, scalar)                      \
  struct __attribute__((aligned(2 * sizeof(scalar)))) name { \
    scalar x, y;                                             \
  };                                                         \
  constexpr name make_##name(scalar x, scalar y) {           \
    return {x, y};                                           \
  }                                                          \
  template <>                                                \
  inline constexpr bool emulation::detail::is_short_vector<name> = true

// A vector of three has its scalar's alignment, as in CUDA, and no load or store intrinsics.
#define EMULATION_VECTOR3(name, scalar)                      \
  struct name {                                              \
    scalar x, y, z;                                          \
  };                                                         \
  constexpr name make_##name(scalar x, scalar y, scalar z) { \
    return {x, y, z};                                        \
  }                                                          \
  static_assert(alignof(name) == alignof(scalar))

#define EMULATION_VECTOR4(name, scalar)                                \
  struct __attribute__((aligned(4 * sizeof(scalar)))) name {           \
    scalar x, y, z, w;                                                 \
  };                                                                   \
  constexpr name make_##name(scalar x, scalar y, scalar z, scalar w) { \
    return {x, y, z, w};                                               \
  }                                                                    \
  template <>                                                          \
  inline constexpr bool emulation::detail::is_short_vector<name> = true

EMULATION_VECTOR2(uchar2, unsigned char);
EMULATION_VECTOR4(uchar4, unsigned char);
EMULATION_VECTOR2(ushort2, unsigned short);
EMULATION_VECTOR4(ushort4, unsigned short);
EMULATION_VECTOR2(int2, int);
EMULATION_VECTOR3(int3, int);
EMULATION_VECTOR4(int4, int);
EMULATION_VECTOR2(uint2, unsigned int);
EMULATION_VECTOR3(uint3, unsigned int);
EMULATION_VECTOR4(uint4, unsigned int);
EMULATION_VECTOR2(float2, float);
EMULATION_VECTOR3(float3, float);
EMULATION_VECTOR4(float4, float);
EMULATION_VECTOR2(double2, double);
EMULATION_VECTOR2(longlong2, long long);
EMULATION_VECTOR2(ulonglong2, unsigned long long);

#undef EMULATION_VECTOR2
#undef EMULATION_VECTOR3
#undef EMULATION_VECTOR4

// NOLINTBEGIN(google-explicit-constructor): as in CUDA
struct dim3 {
  unsigned int x, y, z;

  constexpr dim3(unsigned int x_size = 1, unsigned int y_size = 1, unsigned int z_size = 1)
      : x(x_size), y(y_size), z(z_size) {}
  constexpr dim3(uint3 sizes) : x(sizes.x), y(sizes.y), z(sizes.z) {}
  constexpr operator uint3() const { return {x, y, z}; }
};
// NOLINTEND(google-explicit-constructor)
