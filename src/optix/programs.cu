// SPDX-License-Identifier: Apache-2.0
// What OptiX runs on the device for RX: a thread a lookup generates rays, and programs are called
// for what they meet. Compiled to PTX for each RAYDEX_KEY_BITS and RAYDEX_ROW_ID_BITS, and
// embedded.
#include <cstdint>
#include <type_traits>

#include "optix/device_calls.cuh"
#include "optix/launch.hpp"

namespace {

using namespace raydex;
using namespace raydex::optix;

using key = std::conditional_t<RAYDEX_KEY_BITS == 64, std::uint64_t, std::uint32_t>;
using row_id = std::conditional_t<RAYDEX_ROW_ID_BITS == 64, std::uint64_t, std::uint32_t>;
constexpr unsigned none = ~0U;

}  // namespace

// Bytes, since a variable of constant memory must not need to be initialised.
extern "C" {
alignas(16) __constant__ unsigned char parameters[sizeof(launch_parameters<key, row_id>)];
}

namespace {

__device__ const launch_parameters<key, row_id>& launched() {
  return *reinterpret_cast<const launch_parameters<key, row_id>*>(parameters);
}

// Payload: the primitive (closest) or the smallest one (any), how many were met, and the part of
// the primitive: it is known beforehand unless parts are joined.
struct tracer {
  __device__ bool closest(unsigned part, const core::axis_ray& ray, row_id& primitive) const {
    unsigned words[payload_words] = {none, 0, part};
    // All that a point's ray may meet has the point's key.
    const unsigned stop = launched().is_points ? stop_at_first_hit : 0U;
    trace(launched().parts[part], ray, skip_any_hit | stop, words);
    if (words[0] == none) return false;
    primitive = words[0];
    if (launched().scene.joined) primitive += launched().scene.part_begin(words[2]);
    return true;
  }
  __device__ void visit(unsigned part, const core::axis_ray& ray, row_id part_begin,
                        core::met_primitives<row_id>& met) const {
    unsigned words[payload_words] = {none, 0, launched().scene.joined ? none : part};
    trace(launched().parts[part], ray, force_any_hit | skip_closest_hit, words);
    if (words[1] == 0) return;
    if (launched().scene.joined) part_begin = launched().scene.part_begin(words[2]);
    const row_id first = part_begin + words[0];
    met.first = first < met.first ? first : met.first;
    met.count += words[1];
  }
};

// The part of the primitive that a program is called for.
__device__ unsigned part_of_hit() {
  return launched().scene.joined ? instance_id() : payload<2>();
}

}  // namespace

extern "C" __global__ void __raygen__trace() {
  launched().job.run(tracer{}, launch_index());
}

extern "C" __global__ void __raygen__trace_inverse() {
  launched().inverse.run(tracer{}, launch_index());
}

extern "C" __global__ void __miss__nothing() {}

extern "C" __global__ void __closesthit__take() {
  set_payload<0>(primitive_index());
  set_payload<2>(part_of_hit());
}

extern "C" __global__ void __anyhit__count() {
  const unsigned primitive = primitive_index();
  const unsigned part = part_of_hit();
  const unsigned first_part = payload<2>();
  if (part < first_part || (part == first_part && primitive < payload<0>())) {
    set_payload<0>(primitive);
    set_payload<2>(part);
  }
  set_payload<1>(payload<1>() + 1);
  ignore_hit();
}

// Boxes are met where the ray passes through the point of their key.
extern "C" __global__ void __intersection__box() {
  const auto& scene = launched().scene;
  const row_id primitive = scene.part_begin(part_of_hit()) + primitive_index();
  const float3 from = ray_origin();
  const core::axis_ray ray = {
      {from.x, from.y, from.z}, ray_direction_x() != 0 ? 0U : 2U, ray_begin(), ray_end()};
  const float distance = scene.grid.distance(ray, scene.key_of(primitive));
  if (distance >= 0) report_hit(distance);
}
