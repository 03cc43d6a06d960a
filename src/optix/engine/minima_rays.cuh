// SPDX-License-Identifier: Apache-2.0
// Rays for range minima: how a program traces them, and the programs that are called for what they
// meet.
#pragma once

#include <cstdint>

#include "raydex/core/rays/traced.hpp"
#include "src/optix/engine/device_calls.cuh"
#include "src/optix/engine/launch.hpp"

namespace {

constexpr unsigned no_primitive = ~0U;

// Payload: the primitive.
struct tracer {
  const unsigned long long* parts;  // of the launch

  __device__ bool closest(unsigned part, const raydex::core::axis_ray& ray,
                          std::uint64_t& primitive) const {
    unsigned words[raydex::optix::payload_words] = {no_primitive};
    raydex::optix::trace(parts[part], ray, raydex::optix::skip_any_hit, words);
    primitive = words[0];
    return words[0] != no_primitive;
  }
};
static_assert(raydex::core::closest_tracer<tracer, std::uint64_t>,
              "programs must find the closest hit");

}  // namespace

extern "C" __global__ void __miss__nothing() {}

extern "C" __global__ void __closesthit__take() {
  raydex::optix::set_payload<0>(raydex::optix::primitive_index());
}
