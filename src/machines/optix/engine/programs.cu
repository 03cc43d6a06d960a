// SPDX-License-Identifier: Apache-2.0
// What OptiX runs on the device: a thread a lookup generates rays, and programs are called for what
// they meet. Compiled to PTX for each scene (RAYDEX_SCENE) and RAYDEX_KEY_BITS, and embedded.
#include <cstdint>
#include <type_traits>

#include "raydex/core/rays/cgrx.hpp"
#include "raydex/core/rays/rx.hpp"
#include "src/machines/optix/engine/device_calls.cuh"
#include "src/machines/optix/engine/launch.hpp"

namespace {

using namespace raydex;
using namespace raydex::optix;

using key = std::conditional_t<RAYDEX_KEY_BITS == 64, std::uint64_t, std::uint32_t>;
using row_id = std::uint32_t;
using scene = core::RAYDEX_SCENE<key, row_id>;
using parameters_type = launch_parameters<scene>;
constexpr unsigned none = ~0U;

}  // namespace

// Bytes, since a variable of constant memory must not need to be initialised.
extern "C" {
alignas(16) __constant__ unsigned char parameters[sizeof(parameters_type)];
}

namespace {

__device__ const parameters_type& launched() {
  return *reinterpret_cast<const parameters_type*>(parameters);
}

// Payload: the primitive (closest) or the smallest one (any); whether it was met from behind, or
// how many were met; and the part. A template, since not all scenes visit.
template <class Scene>
struct tracer {
  __device__ bool closest(unsigned part, const core::axis_ray& ray, row_id& primitive,
                          bool& from_behind) const {
    unsigned words[payload_words] = {none, 0, part};
    const unsigned stop = launched().any_will_do ? stop_at_first_hit : 0U;
    trace(launched().parts[part], ray, skip_any_hit | stop, words);
    if (words[0] == none) return false;
    primitive = words[0];
    from_behind = words[1] != 0;
    return true;
  }
  __device__ bool closest(unsigned part, const core::axis_ray& ray, row_id& primitive) const {
    bool from_behind = false;
    return closest(part, ray, primitive, from_behind);
  }
  __device__ void visit(unsigned part, const core::axis_ray& ray, row_id part_begin,
                        core::met_primitives<row_id>& met) const {
    unsigned words[payload_words] = {none, 0, part};
    trace(launched().parts[part], ray, force_any_hit | skip_closest_hit, words);
    if (words[1] == 0) return;
    const row_id first = part_begin + words[0];
    met.first = first < met.first ? first : met.first;
    met.count += words[1];
  }
};

static_assert(core::tracer<tracer<scene>, row_id>, "programs must trace what scenes ask for");

}  // namespace

extern "C" __global__ void __raygen__trace() {
  launched().job.run(tracer<scene>{}, launch_index());
}

extern "C" __global__ void __raygen__trace_inverse() {
  launched().inverse.run(tracer<scene>{}, launch_index());
}

extern "C" __global__ void __miss__nothing() {}

extern "C" __global__ void __closesthit__take() {
  set_payload<0>(primitive_index());
  set_payload<1>(met_from_behind() ? 1 : 0);
}

extern "C" __global__ void __anyhit__count() {
  const unsigned primitive = primitive_index();
  if (primitive < payload<0>()) set_payload<0>(primitive);
  set_payload<1>(payload<1>() + 1);
  ignore_hit();
}

// Boxes are met where the ray passes through the point of their key.
template <class Scene>
__device__ void meet_box(const Scene& in) {
  if constexpr (requires { in.key_in(0, 0); }) {
    const float3 from = ray_origin();
    const core::axis_ray ray = {
        {from.x, from.y, from.z}, ray_direction_x() != 0 ? 0U : 2U, ray_begin(), ray_end()};
    const float distance = in.grid.distance(ray, in.key_in(payload<2>(), primitive_index()));
    if (distance >= 0) report_hit(distance);
  }
}

extern "C" __global__ void __intersection__box() {
  meet_box(launched().scene);
}
