// SPDX-License-Identifier: Apache-2.0
// The calls by which programs on the device talk to OptiX, which puts its own code in their place
// when it compiles them. Each is a call of an undeclared function in PTX.
#pragma once

#include <cstdint>

#include "raydex/core/rays/key_scene.hpp"
#include "src/machines/optix/engine/launch.hpp"

namespace raydex::optix {

__device__ inline unsigned launch_index() {
  unsigned index;
  asm("call (%0), _optix_get_launch_index_x, ();" : "=r"(index));
  return index;
}
// Of the hit that a program is called for, within its structure.
__device__ inline unsigned primitive_index() {
  unsigned index;
  asm("call (%0), _optix_read_primitive_idx, ();" : "=r"(index));
  return index;
}
// Whether the ray meets a triangle from where its corners turn clockwise.
__device__ inline bool met_from_behind() {
  constexpr unsigned triangle_from_behind = 0xFF;
  unsigned kind;
  asm("call (%0), _optix_get_hit_kind, ();" : "=r"(kind));
  return kind == triangle_from_behind;
}
template <int Word>
__device__ void set_payload(unsigned value) {
  asm volatile("call _optix_set_payload, (%0, %1);" ::"r"(Word), "r"(value));
}
template <int Word>
__device__ unsigned payload() {
  unsigned value;
  asm volatile("call (%0), _optix_get_payload, (%1);" : "=r"(value) : "r"(Word));
  return value;
}
// What was written before is written, and what is read after is read anew: other programs read and
// write what the payload points to.
__device__ inline void share_memory() {
  asm volatile("" ::: "memory");
}
// In a program for any hit: the ray goes on as if it had met nothing.
__device__ inline void ignore_hit() {
  asm volatile("call _optix_ignore_intersection, ();");
}
// In a program for intersections: the ray meets the primitive at a distance. Returns whether that
// was taken for its hit.
__device__ inline bool report_hit(float distance) {
  int accepted;
  asm volatile("call (%0), _optix_report_intersection_0, (%1, %2);"
               : "=r"(accepted)
               : "f"(distance), "r"(0));
  return accepted != 0;
}
// In a program for intersections: the ray.
__device__ inline float3 ray_origin() {
  float3 at;
  asm("call (%0), _optix_get_world_ray_origin_x, ();" : "=f"(at.x));
  asm("call (%0), _optix_get_world_ray_origin_y, ();" : "=f"(at.y));
  asm("call (%0), _optix_get_world_ray_origin_z, ();" : "=f"(at.z));
  return at;
}
__device__ inline float ray_direction_x() {
  float x;
  asm("call (%0), _optix_get_world_ray_direction_x, ();" : "=f"(x));
  return x;
}
__device__ inline float ray_begin() {
  float t;
  asm("call (%0), _optix_get_ray_tmin, ();" : "=f"(t));
  return t;
}
__device__ inline float ray_end() {
  float t;
  asm("call (%0), _optix_get_ray_tmax, ();" : "=f"(t));
  return t;
}

enum ray_flags : unsigned {
  skip_any_hit = 1U << 0,
  force_any_hit = 1U << 1,
  stop_at_first_hit = 1U << 2,
  skip_closest_hit = 1U << 3
};

// Traces a ray. The call takes and returns 32 words of payload; the first three are used.
__device__ inline void trace(unsigned long long scene, const core::axis_ray& ray, unsigned flags,
                             unsigned (&words)[payload_words]) {
  const float x = ray.axis == 0 ? 1.0F : 0.0F;
  const float y = ray.axis == 1 ? 1.0F : 0.0F;
  const float z = ray.axis == 2 ? 1.0F : 0.0F;
  unsigned r[32];
  asm volatile(
      "call (%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, "
      "%18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31), "
      "_optix_trace_typed_32, (%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, "
      "%44, %45, %46, %47, %48, %49, %50, %51, %52, %52, %52, %52, %52, %52, %52, %52, %52, "
      "%52, %52, %52, %52, %52, %52, %52, %52, %52, %52, %52, %52, %52, %52, %52, %52, %52, "
      "%52, %52, %52);"
      : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]), "=r"(r[4]), "=r"(r[5]), "=r"(r[6]),
        "=r"(r[7]), "=r"(r[8]), "=r"(r[9]), "=r"(r[10]), "=r"(r[11]), "=r"(r[12]), "=r"(r[13]),
        "=r"(r[14]), "=r"(r[15]), "=r"(r[16]), "=r"(r[17]), "=r"(r[18]), "=r"(r[19]), "=r"(r[20]),
        "=r"(r[21]), "=r"(r[22]), "=r"(r[23]), "=r"(r[24]), "=r"(r[25]), "=r"(r[26]), "=r"(r[27]),
        "=r"(r[28]), "=r"(r[29]), "=r"(r[30]), "=r"(r[31])
      : "r"(0), "l"(scene), "f"(ray.origin.x), "f"(ray.origin.y), "f"(ray.origin.z), "f"(x), "f"(y),
        "f"(z), "f"(ray.begin), "f"(ray.end), "f"(0.0F), "r"(255), "r"(flags), "r"(0), "r"(1),
        "r"(0), "r"(payload_words), "r"(words[0]), "r"(words[1]), "r"(words[2]), "r"(0));
  for (int i = 0; i < payload_words; ++i)
    words[i] = r[i];
}

}  // namespace raydex::optix
